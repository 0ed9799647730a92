"""Private selection and quantiles: refusals and their words, extreme numbers, and what a release says."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Loss, Pure
from sfumato.core.calibrate import calibrate
from sfumato.core.domains import Floats, Integers, Vector
from sfumato.core.metrics import L1, AddRemove, ChangeOne, LInf, Range
from sfumato.core.space import Space, frame, vector
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, NoProvenRoute, NotInDomain, UnboundedColumn
from sfumato.mechanisms.noisy_max import (
    laplace_noisy_max,
    laplace_noisy_max_with_lead,
    noisy_winner,
)
from sfumato.mechanisms.quantile import median, quantile, quantile_among
from sfumato.mechanisms.selection import (
    candidate_of,
    exponential,
    exponential_error,
    exponential_of,
    gumbel_noisy_max,
    largest,
    permute_and_flip,
    top_k,
)
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.transforms.scores import (
    accuracy_scores,
    as_range,
    mode_scores,
    quantile_scores,
    revenue_scores,
    threshold_accuracy_scores,
)

SCORES = vector(int, size=3, metric=LInf())
ROWS = vector(float)
TABLE = frame({"level": float, "ill": bool}, size=3)

REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: exponential(0), "temperature must be greater than 0; got 0."),
    (lambda: exponential(-1), "temperature must be greater than 0"),
    (lambda: exponential(math.nan), "temperature must be finite"),
    (lambda: exponential(1, measure=Approx), "the measure of exponential must be Pure or BoundedRange or ZCDP"),
    (lambda: permute_and_flip("much"), "scale must be a finite number"),
    (lambda: laplace_noisy_max(math.inf), "scale must be finite"),
    (lambda: top_k(0, temperature=1), "count must be a whole number of at least 1; got 0."),
    (lambda: top_k(1.0, temperature=1), "count must be a whole number"),  # type: ignore[arg-type]
    (lambda: top_k(2, temperature=1, measure=BoundedRange), "the measure of top_k must be Pure or ZCDP"),
    (lambda: SCORES >> top_k(4, temperature=1), "count must be at most the number of candidates, 3; got 4."),
    (lambda: ROWS >> exponential(1), "a vector of exact scores"),
    (lambda: vector(float, size=2, metric=LInf()) >> exponential(1), "integers, or whole multiples of a step"),
    (lambda: vector(int, size=2, metric=L1()) >> permute_and_flip(1), "under the L∞ or range distance"),
    (lambda: Space(Vector(Integers(), size=0), LInf()) >> exponential(1), "one to each of a public list of candidates"),
    (lambda: Space(Vector(Integers(), size=1), LInf()) >> laplace_noisy_max_with_lead(1), "one alone leads nobody"),
    (
        lambda: SCORES >> exponential_of(["a", "b"], temperature=1),
        "candidates must be one for each of the 3 scores; got 2.",
    ),
    (lambda: candidate_of([]), "candidates must be a list of at least one"),
    (lambda: largest(["a"])([1, 2]), "one for each of the 2 noisy scores"),
    (lambda: quantile_scores([1, 2], alpha=1.5), "alpha must be between 0 and 1; got 1.5."),
    (lambda: quantile_scores([], alpha=0.5), "candidates must be at least one number"),
    (
        lambda: quantile_scores([1, 1.0], alpha=0.5),
        "distinct: one that is listed twice is twice as likely to be chosen",
    ),
    (lambda: quantile_scores("12", alpha=0.5), "candidates must be a list of numbers"),
    (lambda: quantile_scores([math.nan], alpha=0.5), "each of the candidates must be finite"),
    (lambda: ROWS >> quantile_scores([1, 1 + Fraction(1, 10**30)], alpha=0.5), "distinct as floats"),
    (lambda: ROWS >> quantile_scores([10**400], alpha=0.5), "within the range of floats"),
    (lambda: vector(str) >> quantile_scores([1], alpha=0.5), "numbers without NaN"),
    (
        lambda: Space(Vector(Floats(nan=True)), AddRemove()) >> quantile_scores([1], alpha=0.5),
        "impute or drop NaN first",
    ),
    (lambda: SCORES >> quantile_scores([1], alpha=0.5), "under a distance that counts rows"),
    (lambda: ROWS >> quantile_scores([1], alpha=0.5, metric=L1()), "LInf(), LInf(monotonic=True) or Range()"),  # type: ignore[arg-type]
    (lambda: ROWS >> mode_scores(), "categories, or texts or integers and a list of categories"),
    (lambda: vector(str) >> mode_scores(["a", "a"]), "distinct"),
    (lambda: revenue_scores([1, -1]), "prices must be at least 0"),
    (lambda: accuracy_scores([], label="ill"), "a list of distinct column names"),
    (lambda: accuracy_scores("ill", label="ill"), "a list of distinct column names"),
    (lambda: TABLE >> accuracy_scores(["guess"], label="ill"), "column must be one of level, ill; got 'guess'."),
    (lambda: ROWS >> accuracy_scores(["guess"], label="ill"), "a table under a distance that counts rows"),
    (
        lambda: TABLE >> threshold_accuracy_scores([1], feature="level", label="sick"),
        "column must be one of level, ill; got 'sick'.",
    ),
    (lambda: ROWS >> as_range(), "a vector of scores under the L∞ distance"),
    (lambda: quantile(2, temperature=1), "alpha must be between 0 and 1"),
    (lambda: quantile(0.5, temperature=0), "temperature must be greater than 0"),
    (lambda: ROWS >> quantile(0.5, temperature=1, between=(1, 1)), "bounds must be apart"),
    (lambda: ROWS >> quantile(0.5, temperature=1, between=(2, 1)), "in order: the lower bound first"),
    (lambda: ROWS >> quantile(0.5, temperature=1, between=(0, 1), step=0.3), "step must be a power of two"),
    (
        lambda: vector(int) >> quantile(0.5, temperature=1, between=(0, 9), step=2),
        "left out for integers: they have a step of their own",
    ),
    (lambda: vector(int) >> quantile(0.5, temperature=1, between=(0, 2**70)), "fewer than 2**62 steps"),
    (lambda: exponential_error(0, temperature=1, beta=0.1), "candidates must be a whole number of at least 1"),
    (lambda: exponential_error(3, temperature=1, beta=0), "beta must be greater than 0 and at most 1"),
    (lambda: exponential_error(3, temperature=1, beta=0.1, best=4), "best must be at most the number of candidates, 3"),
]


@pytest.mark.parametrize(("build", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_refusals_say_what_and_why(build: Callable[[], object], words: str) -> None:
    with pytest.raises(BadArgument) as refusal:
        build()
    assert words in str(refusal.value)


def test_a_quantile_needs_bounds() -> None:
    with pytest.raises(UnboundedColumn, match=r"clamp\(lower, upper\)"):
        ROWS >> quantile(0.5, temperature=1)


def test_neighbours_without_limit_are_refused() -> None:
    with pytest.raises(NoProvenRoute, match="without limit"):
        (SCORES >> exponential(1)).map(math.inf)


@pytest.mark.parametrize("loss", [Pure(1), BoundedRange(1), ZCDP(Fraction(1, 8))], ids=str)
def test_calibration_finds_the_least_temperature(loss: Loss) -> None:
    found = calibrate(lambda heat: SCORES >> exponential(heat, measure=type(loss)), d_in=1, loss=loss)
    assert found.check(1, loss)
    assert dict(found.how.parameters)["temperature"] == "2"
    typical = calibrate(lambda heat: ROWS >> median(temperature=heat, between=(0, 1)), d_in=1, loss=Pure(0.1))
    assert dict(typical.how.parameters)["temperature"] == "10"


def test_losses_grow_with_distance_and_start_at_nothing() -> None:
    for measurement in (SCORES >> exponential(3), SCORES >> permute_and_flip(3), SCORES >> laplace_noisy_max(3)):
        assert [measurement.map(rows) for rows in (0, 1, 2)] == [Pure(0), Pure(Fraction(2, 3)), Pure(Fraction(4, 3))]
    assert (SCORES >> exponential(1, measure=ZCDP)).map(3) == ZCDP(Fraction(36, 8))


@pytest.mark.parametrize(
    "measurement",
    [
        SCORES >> exponential(1),
        SCORES >> gumbel_noisy_max(1),
        SCORES >> permute_and_flip(1),
        SCORES >> laplace_noisy_max(1),
        SCORES >> exponential_of(["a", "b", "c"], temperature=1),
    ],
)
def test_a_release_names_its_mechanism_and_proofs(measurement: object) -> None:
    release = measurement([5, 1, 400], entropy=ReplayEntropy(1))  # type: ignore[operator]  # a measurement
    assert release.value in (2, "c")
    assert release.half_width is None
    assert release.replayable
    assert "candidates 3" in str(release.how)
    assert all(proof.startswith("proofs/") for proof in release.how.proofs)


def test_scores_outside_the_domain_are_refused() -> None:
    with pytest.raises(NotInDomain):
        (SCORES >> exponential(1))([1, 2])
    with pytest.raises(NotInDomain):
        (SCORES >> exponential(1))([1.0, 2.0, 3.0])


@pytest.mark.parametrize("build", [exponential(1), permute_and_flip(1), laplace_noisy_max(1)], ids=repr)
def test_scores_of_any_size(build: object) -> None:
    """Beyond 64 bits nothing wraps or rounds: the best wins when it leads by far."""
    measurement = SCORES >> build  # type: ignore[operator]  # a partial measurement
    for data in (
        [2**80, 0, -(2**80)],
        [2**80 + 300, 2**80, 2**80],
        [2**63 - 1, 0, -(2**63)],
        [-(2**62), -(2**63), -(2**63)],
    ):
        assert {measurement.function(data, ReplayEntropy(seed)) for seed in range(20)} == {0}


def test_cold_and_hot() -> None:
    assert (SCORES >> exponential(Fraction(1, 10**15))).function([0, 1, 0], ReplayEntropy(3)) == 1
    seen = {(SCORES >> exponential(10**15)).function([0, 10**6, 0], ReplayEntropy(seed)) for seed in range(60)}
    assert seen == {0, 1, 2}


def test_a_single_candidate_is_chosen() -> None:
    one = vector(int, size=1, metric=Range())
    for build in (exponential(1), permute_and_flip(1), laplace_noisy_max(1)):
        assert (one >> build).function([7], ReplayEntropy(1)) == 0


def test_top_k_of_all_is_an_order() -> None:
    picked = (SCORES >> top_k(3, temperature=1) >> candidate_of("abc")).function([0, 900, 300], ReplayEntropy(1))
    assert picked == ("b", "c", "a")


def test_the_lead_counts_ties_by_place() -> None:
    """With noise of next to nothing: a tie is lost by the later and won by the earlier candidate."""
    noise = DiscreteLaplace(Fraction(1, 1000))
    for scores, expected in (
        ([5, 3, 1], (0, 2)),
        ([3, 5, 1], (1, 1)),
        ([3, 1, 5], (2, 1)),
        ([5, 5, 1], (0, 0)),
        ([1, 5, 5], (1, 0)),
        ([7], (0, 0)),
    ):
        assert noisy_winner(np.array(scores), noise, ReplayEntropy(1)) == expected


def test_the_lead_is_given_in_the_unit_of_the_scores() -> None:
    space = Space(Vector(Integers(step=Fraction(1, 4)), size=2), Range())
    measurement = space >> laplace_noisy_max_with_lead(Fraction(1, 1000))
    assert measurement.function([9, 3], ReplayEntropy(1)) == (0, 1.5)


def test_quantiles_of_every_kind_of_column() -> None:
    entropy = ReplayEntropy(2)
    many = list(range(101)) * 40
    assert abs((vector(int) >> median(between=(0, 100), temperature=1)).function(many, entropy) - 50) <= 2
    floats = vector(float, between=(0, 1), size=4040, metric=ChangeOne())
    found = (floats >> quantile(0.25, temperature=1)).function([x / 100 for x in many], entropy)
    assert isinstance(found, float)
    assert abs(found - 0.25) <= 0.02
    thirds = Space(Vector(Integers(between=(0, 10), step=Fraction(1, 3))), AddRemove())
    assert (thirds >> median(temperature=Fraction(1, 100))).function([6] * 9, entropy) == 2.0
    far = vector(float) >> median(between=(10**15, 10**15 + 1), temperature=Fraction(1, 100))
    assert 10**15 <= far.function([1e15 + 0.5] * 99, entropy) <= 10**15 + 1
    assert (vector(float) >> quantile_among([1, 2.5], alpha=1, temperature=0.1)).function([2.0] * 50, entropy) == 2.5


def test_the_empty_column_gives_any_point() -> None:
    measurement = vector(int, between=(0, 1)) >> median(temperature=1)
    assert {measurement.function([], ReplayEntropy(seed)) for seed in range(40)} == {0, 1}


def test_a_law_over_a_fine_grid_is_not_listed() -> None:
    measurement = ROWS >> median(between=(0, 1), temperature=1)
    assert measurement.law is not None
    with pytest.raises(BadArgument, match="coarse enough to list all points, at most 65536"):
        measurement.law([0.5])


def test_a_fine_level_and_a_fine_grid_together() -> None:
    """A level with a large denominator is taken as the nearest fraction of small numbers, and priced as that."""
    measurement = vector(int, between=(0, 9)) >> quantile("0.333333333333333333333", temperature=Fraction(1, 50))
    assert measurement.function([0, 1, 2, 3, 4, 5, 6, 7, 8], ReplayEntropy(1)) in (2, 3)
    assert measurement.map(1) == Pure(2 * (1 - Fraction(1, 3)) * 50)
    extreme = vector(int, between=(0, 9)) >> quantile(Fraction(1, 10**40), temperature=1)
    assert extreme.map(1) == Pure(2 * (1 - Fraction(1, 1 << 20)))


def test_thresholds_with_named_labels() -> None:
    space = frame({"level": int, "state": ["well", "ill"]}, size=4)
    scores = threshold_accuracy_scores([2, 3], feature="level", label="state", positive="ill")
    data = {"level": [1, 2, 3, 4], "state": ["well", "well", "ill", "ill"]}
    assert (space >> scores)(data).tolist() == [0.75, 1]


def test_a_lead_beyond_the_floats_is_the_largest_float() -> None:
    """No error may depend on the scores."""
    space = Space(Vector(Integers(step=Fraction(1, 2)), 2), LInf())
    winner, lead = (space >> laplace_noisy_max_with_lead(scale=1))([10**400, 0]).value
    assert winner == 0 and lead == math.nextafter(math.inf, 0)

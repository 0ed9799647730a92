"""Samples, the best of several runs, tuning: refusals, edge cases, draws."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.audit.brute_force import outcome_probabilities
from sfumato.combinators.best_of import FAILED, as_candidate
from sfumato.core.domains import Data
from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import BadArgument, CannotJoin, ClaimRequired, NoProvenRoute, UnknownSize
from sfumato.exact import Distance

VOUCHED = sf.claim("drawn by lot for this test")
counted = sf.count() >> sf.laplace(scale=1)
meant = sf.mean() >> sf.laplace(scale=1)


NO_SCORES = [
    *(math.nan, np.float32(math.nan), np.array(math.nan), np.longdouble(math.nan), Decimal("NaN"), Decimal("sNaN")),
    *(Decimal("1e99999999"), Decimal("1e-99999999"), "2", None, 2j, np.complex128(2), np.array([2]), np.array(None)),
]


def pair(outcome: Data) -> tuple[Data, str]:
    return outcome, "payload"


def gathered(space: sf.Space) -> sf.Measurement:
    """Gives the data itself: for looking at samples, not for privacy."""
    return sf.measurement(space, sf.Pure, function=lambda data, entropy: data, map=priced, claim=VOUCHED)


def priced(d_in: Distance) -> sf.Pure:
    return sf.Pure(0 if d_in == 0 else 1)


@pytest.mark.parametrize("rate", [0, -1, "1.01", math.nan, math.inf, None])
def test_rates_are_probabilities_above_0(rate: object) -> None:
    with pytest.raises(BadArgument, match="rate"):
        sf.on_poisson_sample(counted, rate)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "space",
    [
        sf.vector(int, size=5),
        sf.vector(int, size=5, metric=sf.AddRemove()),
        sf.vector(int, least=2),
        sf.scalar(int),
        sf.Space(sf.domains.Stream(sf.Integers()), sf.LInf()),
    ],
    ids=str,
)
def test_poisson_samples_are_of_rows_of_unknown_number(space: sf.Space) -> None:
    with pytest.raises(BadArgument, match="on_poisson_sample"):
        space >> sf.on_poisson_sample(counted, "0.1")


def wrapped_in(kind: Callable[[sf.Measurement], sf.Partial[sf.Measurement]], space: sf.Space) -> None:
    zcdp = space >> sf.count_by(["a", "b"], metric=sf.L2()) >> sf.gaussian(scale=1)
    with pytest.raises(NoProvenRoute, match=r"ZCDP.*sf\.convert_measure\(measurement, sf\.Renyi\)"):
        space >> kind(zcdp)
    space >> kind(sf.convert_measure(zcdp, sf.Renyi))
    assert isinstance((space >> kind(sf.convert_measure(zcdp, sf.Approx, delta="1e-6"))).map(1), sf.Approx)


def test_measures_without_a_theorem_are_refused_by_name_and_say_what_to_do() -> None:
    wrapped_in(lambda one: sf.on_poisson_sample(one, "0.1"), sf.vector(["a", "b"]))
    wrapped_in(lambda one: sf.best_of(one, stop="0.1"), sf.vector(["a", "b"]))
    wrapped_in(
        lambda one: sf.combinators.amplified_by_known_sample(one, population=50, claim=VOUCHED),
        sf.vector(["a", "b"], size=5),
    )


def test_fixed_samples_need_a_public_size_and_no_order() -> None:
    with pytest.raises(UnknownSize, match=r"on_fixed_sample.*on_poisson_sample"):
        sf.vector(float, between=(0, 1)) >> sf.on_fixed_sample(meant, 5)
    with pytest.raises(BadArgument, match="ChangeOne"):
        sf.vector(float, between=(0, 1), size=9, metric=sf.metrics.Hamming()) >> sf.on_fixed_sample(meant, 5)
    with pytest.raises(BadArgument, match="at most the 9 rows"):
        sf.vector(float, between=(0, 1), size=9) >> sf.on_fixed_sample(meant, 10)
    with pytest.raises(BadArgument, match="size"):
        sf.on_fixed_sample(meant, 0)
    with pytest.raises(CannotJoin):
        inner = sf.vector(float, between=(0, 1), size=4) >> meant
        sf.vector(float, between=(0, 1), size=9) >> sf.on_fixed_sample(inner, 5)


def test_known_samples_need_a_size_a_larger_population_and_a_claim() -> None:
    with pytest.raises(ClaimRequired, match="random sample"):
        sf.combinators.amplified_by_known_sample(meant, population=100)
    with pytest.raises(UnknownSize, match="amplified_by_known_sample"):
        sf.vector(float, between=(0, 1)) >> sf.combinators.amplified_by_known_sample(
            meant, population=100, claim=VOUCHED
        )
    with pytest.raises(BadArgument, match="at least the 10 rows"):
        sf.vector(float, between=(0, 1), size=10) >> sf.combinators.amplified_by_known_sample(
            meant, population=9, claim=VOUCHED
        )
    for wrong in (0, -3, "many", 10.5):
        with pytest.raises(BadArgument, match="population"):
            sf.combinators.amplified_by_known_sample(meant, population=wrong, claim=VOUCHED)  # type: ignore[arg-type]
    answer = sf.vector(float, between=(0, 1), size=10) >> sf.combinators.amplified_by_known_sample(
        meant, population=99, claim=VOUCHED
    )
    assert VOUCHED in answer.how.claims and "10 of at least 99" in str(answer.how)
    assert "drawn by lot" in str(answer([0.5] * 10, entropy=ReplayEntropy(1)))


def test_a_population_no_larger_than_the_sample_saves_nothing() -> None:
    space = sf.vector(float, between=(0, 1), size=10)
    answer = space >> sf.combinators.amplified_by_known_sample(meant, population=10, claim=VOUCHED)
    assert [answer.map(d) for d in range(4)] == [(space >> meant).map(d) for d in range(4)]


def test_maps_at_the_ends() -> None:
    free = sf.vector(int) >> sf.on_poisson_sample(counted, "0.1")
    assert free.map(0) == sf.Pure(0)
    with pytest.raises(NoProvenRoute, match="without limit"):
        free.map(math.inf)
    whole = sf.vector(int) >> sf.on_poisson_sample(counted, 1)
    assert [whole.map(d) for d in range(4)] == [sf.Pure(d) for d in range(4)]
    fixed = sf.vector(float, between=(0, 1), size=8) >> sf.on_fixed_sample(meant, 2)
    assert fixed.map(0) == sf.Pure(0)
    assert fixed.map(8) == fixed.map(9)


def test_a_loss_that_does_not_grow_with_the_rows_is_never_exceeded() -> None:
    flat = replace(sf.vector(int) >> counted, privacy_map=lambda d_in: sf.Pure(1 if d_in else 0))
    sampled = sf.vector(int) >> sf.on_poisson_sample(flat, "0.5")
    assert sampled.map(100) == sf.Pure(1)


@pytest.mark.parametrize(
    ("space", "data"),
    [
        (sf.vector(float), [0.5, -0.0, 1e300] * 50),
        (sf.vector(sf.Floats(nan=True, infinite=True)), [math.nan, math.inf, -math.inf] * 50),
        (sf.vector(int), [2**70, -(2**80), 0] * 50),
        (sf.vector(["a", "b", "c"]), ["a", "b", "c"] * 50),
        (sf.vector(bool), [True, False, True] * 50),
        (sf.matrix(2), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]] * 50),
        (sf.frame({"x": int, "y": ["u", "v"]}), {"x": [1, 2, 3] * 50, "y": ["u", "v", "v"] * 50}),
    ],
    ids=lambda value: str(value)[:30],
)
def test_samples_are_members_of_the_same_domain(space: sf.Space, data: Data) -> None:
    whole, domain = Counter(_rows(data)), space.domain
    assert isinstance(domain, sf.domains.Vector | sf.domains.Matrix | sf.domains.Frame)
    sampled = space >> sf.on_poisson_sample(gathered(space), "0.3")
    sizes = []
    for seed in range(20):
        rows = sampled(data, entropy=ReplayEntropy(seed)).value
        assert space.domain.member(rows)
        assert not Counter(_rows(rows)) - whole
        sizes.append(len(_rows(rows)))
    assert len(set(sizes)) > 5 and 30 < sum(sizes) / 20 < 60
    public = sf.Space(replace(domain, size=150), sf.ChangeOne())
    small = sf.Space(replace(domain, size=7), sf.ChangeOne())
    for seed in range(5):
        rows = (public >> sf.on_fixed_sample(gathered(small), 7))(data, entropy=ReplayEntropy(seed)).value
        assert small.domain.member(rows) and not Counter(_rows(rows)) - whole


def _rows(data: Data) -> list[str]:
    if isinstance(data, dict):
        return [repr(row) for row in zip(*(np.asarray(data[name]).tolist() for name in sorted(data)), strict=True)]
    return [repr(row) for row in (data.tolist() if isinstance(data, np.ndarray) else data)]


def test_empty_data_has_empty_samples() -> None:
    space = sf.vector(int)
    assert len((space >> sf.on_poisson_sample(gathered(space), "0.5"))([]).value) == 0


def test_every_row_is_kept_at_the_stated_rate_and_no_other() -> None:
    space, rate, rows = sf.vector(int), Fraction(3, 10), 200_000
    kept = (space >> sf.on_poisson_sample(gathered(space), rate))(range_of(rows), entropy=ReplayEntropy(8)).value
    spread = math.sqrt(rows * 0.3 * 0.7)
    assert abs(len(kept) - rows * 0.3) < 4 * spread < abs(len(kept) - rows * 0.3 * 0.95)
    assert abs(float(kept.mean()) - rows / 2) < 4 * rows / math.sqrt(12 * len(kept))


def range_of(rows: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.arange(rows, dtype=np.int64)


def test_every_subset_is_drawn_equally_often() -> None:
    space, small = sf.vector(int, size=5), sf.vector(int, size=2)
    drawing, entropy = space >> sf.on_fixed_sample(gathered(small), 2), ReplayEntropy(4)
    seen = Counter(tuple(sorted(drawing(range_of(5), entropy=entropy).value.tolist())) for _ in range(4000))
    assert set(seen) == set(itertools.combinations(range(5), 2))
    assert sum((count - 400) ** 2 / 400 for count in seen.values()) < 30


def test_laws_on_samples_are_written_out_for_few_rows_only() -> None:
    measurement = sf.vector(int) >> sf.on_poisson_sample(counted, "0.5")
    assert measurement.law is not None
    with pytest.raises(BadArgument, match="at most 12 rows"):
        measurement.law([0] * 13)


@pytest.mark.parametrize("stop", [0, 1, -1, "1.5", math.nan])
def test_stopping_has_a_chance_inside_0_and_1(stop: object) -> None:
    with pytest.raises(BadArgument, match="stop"):
        sf.best_of(counted, stop=stop)  # type: ignore[arg-type]


def test_how_often_is_said_once() -> None:
    for given in ({}, {"stop": "0.1", "runs": sf.events.PoissonRuns(3)}):
        with pytest.raises(BadArgument, match="how often to run"):
            sf.best_of(counted, **given)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="runs must be a law of runs"):
        sf.best_of(counted, runs=10)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="shape"):
        sf.best_of(counted, runs=sf.events.TruncatedNegativeBinomial(10**6, "0.5"))


def test_interactive_measurements_and_transformations_are_refused() -> None:
    space = sf.vector(int)
    asking = space >> sf.privacy_filter(sf.Pure(1))
    wrappers: list[Callable[[object], object]] = [
        lambda one: sf.on_poisson_sample(one, "0.1"),  # type: ignore[arg-type]
        lambda one: sf.best_of(one, stop="0.1"),  # type: ignore[arg-type]
        lambda one: sf.combinators.best_of_all([one]),  # type: ignore[list-item]
        lambda one: sf.combinators.random_candidate([one]),  # type: ignore[list-item]
    ]
    for wrap in wrappers:
        with pytest.raises(BadArgument, match="answers once"):
            space >> wrap(asking)  # type: ignore[operator]
        with pytest.raises(BadArgument, match="end the chain with a mechanism"):
            space >> wrap(sf.count())  # type: ignore[operator]


def test_only_the_winner_leaves() -> None:
    one = sf.scalar(int) >> sf.laplace(scale=1) >> pair
    release = (one.source >> sf.best_of(one, stop="0.01"))(5, entropy=ReplayEntropy(3))
    score, payload = release.value
    assert payload == "payload" and score > 5
    assert "best of a random number of runs(runs negative binomial, shape 1, stop 0.01" in str(release.how)
    other = (one.source >> sf.best_of(one, stop="0.01"))(5, entropy=ReplayEntropy(4))
    assert str(release.how) == str(other.how) and release.loss == other.loss


def test_no_runs_release_nothing() -> None:
    one = sf.scalar(int) >> sf.laplace(scale=1) >> pair
    measurement, entropy = one.source >> sf.best_of(one, runs=sf.events.PoissonRuns("0.5")), ReplayEntropy(1)
    drawn = [measurement(0, entropy=entropy).value for _ in range(400)]
    assert abs(drawn.count(None) - 400 * math.exp(-0.5)) < 40


def test_a_run_that_raises_loses_and_tells_nothing() -> None:
    def flaky(data: Data, entropy: Entropy) -> Data:
        if entropy.below(2):
            raise ZeroDivisionError(f"the data is {data}")
        return 1.5, "good"

    one = sf.measurement(sf.scalar(int), sf.Pure, function=flaky, map=priced, claim=VOUCHED)
    for build, share in ((sf.best_of(one, stop="0.5"), 1 / 3), (sf.combinators.best_of_all([one, one]), 1 / 4)):
        entropy = ReplayEntropy(6)
        drawn = [(one.source >> build)(7, entropy=entropy).value for _ in range(600)]
        failed = sum(value[0] == -math.inf for value in drawn)
        assert abs(failed / 600 - share) < 0.08
        assert "7" not in str(drawn)


@pytest.mark.parametrize(
    "score",
    [
        *(np.float64(2), np.int32(2), np.bool_(True), 2, 2.0, Fraction(2), True, math.inf),
        *(np.array(2.5), np.array(2), np.array(np.longdouble(2)), np.longdouble(2), np.longdouble(math.inf)),
        *(np.float32(math.inf), np.float16(0.5), Decimal("2.5"), Decimal("Infinity"), Decimal("0e99999999")),
    ],
)
def test_scores_are_numbers_of_any_kind(score: object) -> None:
    one = sf.scalar(int) >> sf.laplace(scale=1) >> (lambda outcome: (score, "good"))
    value = (one.source >> sf.best_of(one, stop="0.5"))(0).value
    assert value == (float(score), "good") and isinstance(value[0], int | float | Fraction)  # type: ignore[arg-type]


@pytest.mark.parametrize("score", NO_SCORES)
def test_what_is_no_score_is_the_worst(score: object) -> None:
    assert as_candidate((score, "payload")) == FAILED


def test_scores_that_no_float_holds_are_read_exactly() -> None:
    wide = np.nextafter(np.longdouble(1), np.longdouble(2))
    assert as_candidate((wide, 0))[0] == Fraction(*wide.as_integer_ratio())
    assert (
        as_candidate((Decimal("0.1"), 0))[0]
        == Fraction(1, 10)
        > as_candidate((Decimal("0.09999999999999999999999"), 0))[0]
    )
    assert as_candidate((Decimal("-Infinity"), 0)) == (-math.inf, 0) == as_candidate((np.longdouble(-math.inf), 0))


@pytest.mark.parametrize("outcome", [[2.5, 7], np.array([2.5, 7]), np.array([[2.5], [7]], dtype=object)[:, 0]])
def test_pairs_may_be_lists_and_arrays(outcome: Data) -> None:
    assert as_candidate(outcome) == (2.5, 7)


@pytest.mark.parametrize(
    "outcome", [None, 5, "ab", np.array(5), np.array(None), [], [1], (1, 2, 3), np.zeros(3), np.zeros((2, 2)), {1: 2}]
)
def test_what_is_no_pair_is_the_worst(outcome: Data) -> None:
    assert as_candidate(outcome) == FAILED


def test_large_whole_scores_and_floats_are_compared_exactly() -> None:
    close = sf.scalar(int) >> sf.laplace(scale=1) >> (lambda outcome: (np.int64(2**53), "less"))
    more = sf.scalar(int) >> sf.laplace(scale=1) >> (lambda outcome: (2**53 + 1, "more"))
    assert (close.source >> sf.combinators.best_of_all([close, more, close]))(0).value == (2**53 + 1, (1, "more"))


def test_draws_follow_the_law_of_the_best() -> None:
    one = sf.mechanisms.matrix_mechanism([["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"]]) >> pair
    other = sf.mechanisms.matrix_mechanism([["0.6", "0.3", "0.1"], ["0.2", "0.3", "0.5"]]) >> pair
    builds = [
        sf.best_of(one, stop="0.4"),
        sf.best_of(one, runs=sf.events.TruncatedNegativeBinomial(0, "0.2")),
        sf.best_of(one, runs=sf.events.PoissonRuns(2)),
        sf.combinators.best_of_all([one, other]),
        sf.combinators.random_candidate([one, other], weights=[1, 2]),
    ]
    for seed, build in enumerate(builds):
        measurement, entropy, draws = one.source >> build, ReplayEntropy(seed), 5000
        seen = Counter(measurement.function(0, entropy) for _ in range(draws))
        law = {outcome: float(mass) for outcome, mass in outcome_probabilities(measurement, 0).items()}
        wrong = {outcome: float(mass) for outcome, mass in outcome_probabilities(measurement, 1).items()}
        assert set(seen) <= set(law)
        assert far(seen, law, draws) < 25 + len(law)
        assert far(seen, wrong, draws) > 200


def far(seen: Counter[Data], law: dict[Data, float], draws: int) -> float:
    return sum((seen[outcome] - draws * mass) ** 2 / (draws * mass) for outcome, mass in law.items())


def test_lists_of_candidates_are_checked() -> None:
    with pytest.raises(BadArgument, match="one or more measurements"):
        sf.combinators.best_of_all([])
    with pytest.raises(BadArgument, match="one or more measurements"):
        sf.combinators.random_candidate(counted)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="one for each of the 2"):
        sf.combinators.random_candidate([counted, counted], weights=[1])
    with pytest.raises(BadArgument, match="not all 0"):
        sf.combinators.random_candidate([counted, counted], weights=[0, 0])
    with pytest.raises(BadArgument, match="each weight"):
        sf.combinators.random_candidate([counted, counted], weights=[1, -1])
    with pytest.raises(NoProvenRoute, match="convert_measure"):
        sf.vector(["a"]) >> sf.combinators.random_candidate(
            [counted, sf.count_by(["a"], metric=sf.L2()) >> sf.gaussian(scale=1)]
        )


def test_a_candidate_that_is_never_drawn_costs_nothing() -> None:
    dear, cheap = sf.count() >> sf.laplace(scale=1), sf.count() >> sf.laplace(scale=100)
    space = sf.vector(int)
    assert (space >> sf.combinators.random_candidate([dear, cheap], weights=[0, 1])).map(1) == sf.Pure("0.01")
    assert (space >> sf.combinators.random_candidate([dear, cheap])).map(1) == sf.Pure(1)

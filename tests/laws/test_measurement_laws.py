"""Laws that every mechanism must obey: a table of small examples, complete against what is exported."""

from __future__ import annotations

import itertools
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.accounting.divergence import hockey_stick, max_divergence, renyi
from sfumato.core.brute import neighbours, outcome_probabilities
from sfumato.core.partial import Partial
from sfumato.entropy import ReplayEntropy
from sfumato.exact import BITS, precision

VOUCHED = sf.claim("for this test")
TINY = Fraction(1, 10**15)
MISSED = Fraction(1, 10**6)

letters = ["a", "b"]
columns = [list(rows) for size in range(3) for rows in itertools.product("ab", repeat=size)]
pairs = [list(rows) for rows in itertools.product("ab", repeat=2)]
whole_columns = [list(rows) for size in range(3) for rows in itertools.product((0, 1, 2), repeat=size)]
scores = [list(row) for row in itertools.product((0, 1, 2), repeat=3)]
streams = [list(row) for row in itertools.product((0, 1, 2), repeat=2)]
score_space = sf.vector(int, size=3, metric=sf.Range())
linf_space = sf.vector(int, size=3, metric=sf.LInf())
stream_space = sf.Space(sf.Stream(sf.Integers()), sf.LInf())
monotonic_streams = sf.Space(sf.Stream(sf.Integers()), sf.LInf(monotonic=True))
small = sf.scalar(int)


@dataclass(frozen=True)
class Example:
    """Names an exported constructor, a small use of it, and members of its source to enumerate."""

    name: str
    build: Callable[[], sf.Measurement]
    members: Sequence[Any]


def gated() -> sf.Measurement:
    space = sf.vector(letters)
    release = space >> sf.count() >> sf.laplace(scale=2)
    return sf.propose_test_release(space >> sf.mode_gap(), release, scale=1, delta="0.1", claim=VOUCHED)


def asked_twice() -> sf.Measurement:
    """Randomized response, and once more as the first answer says."""

    def strategy(ask: sf.Queryable, entropy: sf.Entropy) -> tuple[bool, bool]:
        first = ask(sf.randomized_response(p="0.6"))
        return first, ask(sf.randomized_response(p="0.7" if first else "0.6"))

    return sf.asked_by(sf.scalar(bool) >> sf.filtered(sf.Pure(2), d_in=10), strategy)


def by_letter(size: int | None) -> sf.Transformation:
    return sf.vector(letters, size=size) >> sf.group_by()


def scored_answer() -> sf.Partial[sf.Measurement]:
    """Randomized response that scores a yes higher than a no."""
    return sf.randomized_response(p="0.6") >> (lambda answer: (int(answer), "told"))


EXAMPLES = [
    Example("laplace", lambda: small >> sf.laplace(scale=2), range(4)),
    Example("laplace", lambda: sf.vector(int, size=2, metric=sf.L1()) >> sf.laplace(scale=1), [(0, 0), (0, 1), (1, 1)]),
    Example("gaussian", lambda: small >> sf.gaussian(scale=2), range(3)),
    Example("censored_laplace", lambda: small >> sf.censored_laplace(scale=2, between=(0, 3)), range(4)),
    Example("staircase", lambda: small >> sf.staircase(epsilon=1, width=2), range(5)),
    Example("binomial", lambda: small >> sf.binomial(8, epsilon=1), range(4)),
    Example("truncated_laplace", lambda: small >> sf.truncated_laplace(scale=1, reach=4), range(4)),
    Example("upper_estimate", lambda: small >> sf.upper_estimate(scale=1, reach=4), range(4)),
    Example("lower_estimate", lambda: small >> sf.lower_estimate(scale=1, reach=4), range(4)),
    Example(
        "local_laplace",
        lambda: sf.scalar(int, between=(0, 3), metric=sf.Discrete()) >> sf.local_laplace(epsilon=1),
        range(4),
    ),
    Example(
        "local_mean_response",
        lambda: sf.scalar(int, between=(0, 3), metric=sf.Discrete()) >> sf.local_mean_response(epsilon=1),
        range(4),
    ),
    Example("randomized_response", lambda: sf.scalar(["a", "b", "c"]) >> sf.randomized_response(p="0.5"), "abc"),
    Example("randomized_response", lambda: sf.vector(letters, size=2) >> sf.randomized_response(epsilon=1), pairs),
    Example("randomized_response", lambda: sf.scalar(["a", "b", "c"]) >> sf.randomized_response(epsilon=0), "abc"),
    Example(
        "local_mean_response",
        lambda: sf.scalar(int, between=(0, 3), metric=sf.Discrete()) >> sf.local_mean_response(epsilon=0),
        range(4),
    ),
    Example("coin_flip_response", lambda: sf.scalar(bool) >> sf.coin_flip_response(), (False, True)),
    Example("matrix_mechanism", lambda: sf.matrix_mechanism([["0.5", "0.5"], ["0.2", "0.8"]]), (0, 1)),
    Example("name_and_shame", lambda: sf.vector(letters) >> sf.name_and_shame("0.1"), columns),
    Example("exponential", lambda: score_space >> sf.exponential(temperature=2), scores),
    Example("exponential", lambda: linf_space >> sf.exponential(temperature=2, measure=sf.ZCDP), scores),
    Example("exponential", lambda: linf_space >> sf.exponential(temperature=2, measure=sf.BoundedRange), scores),
    Example("exponential_of", lambda: score_space >> sf.exponential_of(["x", "y", "z"], temperature=1), scores),
    Example("gumbel_noisy_max", lambda: linf_space >> sf.gumbel_noisy_max(scale=2), scores),
    Example("permute_and_flip", lambda: linf_space >> sf.permute_and_flip(scale=2), scores),
    Example("laplace_noisy_max", lambda: linf_space >> sf.laplace_noisy_max(scale=2), scores[:9]),
    Example("laplace_noisy_max_with_lead", lambda: score_space >> sf.laplace_noisy_max_with_lead(scale=1), scores[:5]),
    Example("top_k", lambda: score_space >> sf.top_k(2, temperature=2), scores),
    Example("quantile", lambda: sf.vector(int) >> sf.quantile("0.3", temperature=1, between=(0, 2)), whole_columns),
    Example("median", lambda: sf.vector(int, size=2) >> sf.median(temperature=1, between=(0, 2)), whole_columns[4:]),
    Example(
        "quantile_among",
        lambda: sf.vector(int) >> sf.quantile_among([0, 1, 2], alpha="0.5", temperature=1),
        whole_columns,
    ),
    Example("stability_histogram", lambda: sf.vector(letters) >> sf.stability_histogram(scale=1, threshold=3), columns),
    Example("private_mode", lambda: sf.vector(letters) >> sf.private_mode(scale=1, delta="0.05"), columns),
    Example("private_mode", lambda: sf.vector(letters, size=2) >> sf.private_mode(scale=1, delta="0.05"), pairs),
    Example("propose_test_release", gated, columns),
    Example("parallel", lambda: by_letter(None) >> sf.parallel(sf.count() >> sf.laplace(scale="0.5")), columns),
    Example("parallel", lambda: by_letter(2) >> sf.parallel(sf.count() >> sf.gaussian(scale=1)), pairs),
    Example("above_threshold", lambda: stream_space >> sf.above_threshold(1, scale=1), streams),
    Example("above_threshold", lambda: monotonic_streams >> sf.above_threshold(1, scale=1), streams),
    Example("below_threshold", lambda: stream_space >> sf.below_threshold(1, scale=1), streams),
    Example("sparse_vector", lambda: stream_space >> sf.sparse_vector(1, count=2, scale=1), streams),
    Example("above_threshold", lambda: stream_space >> sf.above_threshold(1, scale=1, gap=True), streams[:5]),
    Example(
        "padded",
        lambda: sf.padded(
            sf.vector(letters) >> sf.count() >> sf.laplace(scale=1),
            sensitivity_seconds="0.001",
            scale_seconds="0.001",
            delta="1e-6",
            claim=VOUCHED,
        ),
        columns,
    ),
    Example(
        "composition",
        lambda: small >> sf.composition([sf.censored_laplace(scale=2, between=(0, 2)), sf.laplace(scale=3)]),
        range(3),
    ),
    Example("asked_by", asked_twice, (False, True)),
    Example("measured_in", lambda: sf.measured_in(small >> sf.laplace(scale=2), sf.ZCDP), range(3)),
    Example(
        "on_poisson_sample",
        lambda: sf.vector(letters) >> sf.on_poisson_sample(sf.count() >> sf.laplace(scale=1), "0.3"),
        columns,
    ),
    Example(
        "on_fixed_sample",
        lambda: sf.vector(letters, size=2) >> sf.on_fixed_sample(sf.randomized_response(epsilon=1), 1),
        pairs,
    ),
    Example("best_of", lambda: sf.scalar(bool) >> sf.best_of(scored_answer(), stop="0.1"), (False, True)),
    Example(
        "best_of",
        lambda: sf.scalar(bool) >> sf.best_of(scored_answer(), runs=sf.events.PoissonRuns(2)),
        (False, True),
    ),
    Example("best_of_all", lambda: sf.scalar(bool) >> sf.best_of_all([scored_answer()] * 3), (False, True)),
    Example("random_candidate", lambda: sf.scalar(bool) >> sf.random_candidate([scored_answer()] * 2), (False, True)),
]

INTERACTIVE = {"above_threshold", "below_threshold", "sparse_vector"}
DRAWN = [example for example in EXAMPLES if example.name not in INTERACTIVE]

every = pytest.mark.parametrize("example", EXAMPLES, ids=[f"{k}-{e.name}" for k, e in enumerate(EXAMPLES)])


def test_every_exported_mechanism_has_an_example() -> None:
    made = {sf.Measurement, Partial[sf.Measurement]}
    exported = {
        name
        for name in sf.__all__
        if callable(thing := getattr(sf, name))
        and not isinstance(thing, type)
        and typing.get_type_hints(thing).get("return") in made
    }
    builders = {"measurement", "calibrate", "calibrate_to_accuracy"}
    of_populations = {"known_sample"}  # tests/exact/test_sampling_wrappers.py
    compositors = {"adaptive_composition", "concurrent_composition", "filtered"}  # tests/exact/test_interaction.py
    assert exported - builders - compositors - of_populations == {example.name for example in EXAMPLES}


@every
def test_no_distance_costs_nothing_and_more_distance_never_costs_less(example: Example) -> None:
    measurement = example.build()
    losses = [measurement.map(distance) for distance in range(5)]
    assert losses[0] == measurement.measure.nothing()
    for less, more in itertools.pairwise(losses):
        assert less.within(more)


@every
def test_chaining_composes_the_maps(example: Example) -> None:
    measurement = example.build()
    space = measurement.source
    doubled = sf.transformation(space, space, function=lambda x: x, map=lambda d: 2 * d, claim=VOUCHED)
    chained = doubled >> measurement
    assert chained.map(1) == measurement.map(2)
    assert VOUCHED in chained.how.claims


@every
def test_postprocessing_costs_nothing(example: Example) -> None:
    measurement = example.build()
    assert (measurement >> str).map(1) == measurement.map(1)


@every
def test_a_release_states_its_terms_and_never_the_data(example: Example) -> None:
    measurement = example.build()
    release = measurement(next(iter(example.members)), entropy=ReplayEntropy(5))
    assert release.replayable and release.loss == measurement.map(1)
    assert release.how.proofs and all(proof.startswith("proofs/") for proof in release.how.proofs)


@every
def test_the_law_is_a_distribution(example: Example) -> None:
    measurement = example.build()
    for member in example.members:
        masses = outcome_probabilities(measurement, member, missed=MISSED)
        with precision(BITS):
            total = sum(masses.values())
        assert float(total.lower()) <= 1 + 1e-15
        assert float(total.upper()) >= 1 - MISSED - TINY


@every
@pytest.mark.parametrize("distance", [1, 2])
def test_the_true_loss_is_within_the_map(example: Example, distance: int) -> None:
    """The whole law on every pair of neighbours: what is claimed holds."""
    measurement = example.build()
    claimed = measurement.map(distance)
    laws = {repr(m): outcome_probabilities(measurement, m, missed=MISSED) for m in example.members}
    close = 0
    for left, right in neighbours(measurement.source, example.members, d_in=distance):
        here = laws[repr(left)]
        with precision(BITS):
            law = measurement.law(right)  # type: ignore[misc]
            there = {outcome: law.probability(outcome) for outcome in here}
        close += left is not right
        match claimed:
            case sf.Pure():
                assert max_divergence(here, there)[1] <= claimed.epsilon + TINY
            case sf.Approx():
                assert hockey_stick(here, there, claimed.epsilon)[1] <= claimed.delta + TINY
            case sf.ZCDP():
                for order in (Fraction(3, 2), Fraction(2), Fraction(5)):
                    assert renyi(here, there, order)[1] <= order * claimed.rho + TINY
            case sf.BoundedRange():
                spread = max_divergence(here, there)[1] + max_divergence(there, here)[1]
                assert spread <= claimed.eta + TINY
    assert close, "the example has neighbours"


@pytest.mark.parametrize("example", DRAWN, ids=[f"{k}-{e.name}" for k, e in enumerate(DRAWN)])
def test_what_is_drawn_is_possible(example: Example) -> None:
    """Draws are outcomes to which the law gives a positive probability."""
    measurement = example.build()
    member = list(example.members)[-1]
    law = measurement.law(member)  # type: ignore[misc]
    for _ in range(30):
        value = measurement(member).value
        outcome = tuple(value.tolist()) if hasattr(value, "tolist") and getattr(value, "ndim", 0) else value
        assert law.probability(outcome) > 0

"""Small uses of every exported mechanism, with members of their sources whose laws can be enumerated."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import arb

import sfumato as sf
from sfumato.audit.brute_force import outcome_probabilities
from sfumato.core.law import Law
from sfumato.exact import BITS, precision

VOUCHED = sf.claim("for this test")

MISSED = Fraction(1, 10**6)

letters = ["a", "b"]
columns = [list(rows) for size in range(3) for rows in itertools.product("ab", repeat=size)]
pairs = [list(rows) for rows in itertools.product("ab", repeat=2)]
whole_columns = [list(rows) for size in range(3) for rows in itertools.product((0, 1, 2), repeat=size)]
scores = [list(row) for row in itertools.product((0, 1, 2), repeat=3)]
streams = [list(row) for row in itertools.product((0, 1, 2), repeat=2)]
score_space = sf.vector(int, size=3, metric=sf.metrics.Range())
linf_space = sf.vector(int, size=3, metric=sf.LInf())
stream_space = sf.Space(sf.domains.Stream(sf.Integers()), sf.LInf())
monotonic_streams = sf.Space(sf.domains.Stream(sf.Integers()), sf.LInf(monotonic=True))
small = sf.scalar(int)


@dataclass(frozen=True, eq=False)
class Example:
    """Names an exported constructor, a small use of it, and members of its source to enumerate."""

    name: str
    build: Callable[[], sf.Measurement]
    members: Sequence[Any]

    @cached_property
    def made(self) -> sf.Measurement:
        """The measurement with a law that is worked out once for each member, whichever tests ask."""
        made, known = self.build(), dict[str, Law]()

        def law(member: Any) -> Law:
            if repr(member) not in known:
                with precision(BITS):
                    known[repr(member)] = made.law(member)  # type: ignore[misc]
            return known[repr(member)]

        return replace(made, law=law)

    @cached_property
    def chances(self) -> Chances:
        return Chances(self.made)


class Chances:
    """Are the probabilities of the outcomes of a measurement, each worked out once, whichever tests ask."""

    def __init__(self, made: sf.Measurement) -> None:
        self._made = made
        self._listed: dict[str, list[Any]] = {}
        self._known: dict[str, dict[Any, arb]] = {}

    def listed(self, member: Any) -> dict[Any, arb]:
        """Gives all outcomes on a member with their probabilities, but for those that are missed."""
        if repr(member) not in self._listed:
            found = outcome_probabilities(self._made, member, missed=MISSED)
            self._listed[repr(member)] = list(found)
            self._known.setdefault(repr(member), {}).update(found)
        return self.of(member, self._listed[repr(member)])

    def of(self, member: Any, outcomes: Iterable[Any]) -> dict[Any, arb]:
        """Gives the probabilities of some outcomes on a member."""
        known = self._known.setdefault(repr(member), {})
        with precision(BITS):
            law = self._made.law(member)  # type: ignore[misc]
            for outcome in outcomes:
                if outcome not in known:
                    known[outcome] = law.probability(outcome)
        return {outcome: known[outcome] for outcome in outcomes}


def gated() -> sf.Measurement:
    space = sf.vector(letters)
    release = space >> sf.count() >> sf.laplace(scale=2)
    return sf.propose_test_release(space >> sf.transforms.mode_gap(), release, scale=1, delta="0.1", claim=VOUCHED)


def asked_twice() -> sf.Measurement:
    """Randomized response, and once more as the first answer says."""

    def strategy(ask: sf.Queryable, entropy: sf.entropy.Entropy) -> tuple[bool, bool]:
        first = ask(sf.randomized_response(p="0.6"))
        return first, ask(sf.randomized_response(p="0.7" if first else "0.6"))

    return sf.analysis(sf.scalar(bool) >> sf.privacy_filter(sf.Pure(2), d_in=10), strategy)


def by_letter(size: int | None) -> sf.Transformation:
    return sf.vector(letters, size=size) >> sf.group_by()


def scored_answer() -> sf.Partial[sf.Measurement]:
    """Randomized response that scores a yes higher than a no."""
    return sf.randomized_response(p="0.6") >> (lambda answer: (int(answer), "told"))


EXAMPLES = [
    Example("laplace", lambda: small >> sf.laplace(scale=2), range(4)),
    Example("laplace", lambda: sf.vector(int, size=2, metric=sf.L1()) >> sf.laplace(scale=1), [(0, 0), (0, 1), (1, 1)]),
    Example("gaussian", lambda: small >> sf.gaussian(scale=2), range(3)),
    Example(
        "k_norm",
        lambda: sf.vector(int, size=2, metric=sf.LInf()) >> sf.mechanisms.k_norm(scale=1),
        [(0, 0), (0, 1), (1, 1), (-1, 1)],
    ),
    Example("censored_laplace", lambda: small >> sf.mechanisms.censored_laplace(scale=2, between=(0, 3)), range(4)),
    Example("staircase", lambda: small >> sf.mechanisms.staircase(epsilon=1, width=2), range(5)),
    Example("binomial", lambda: small >> sf.mechanisms.binomial(8, epsilon=1), range(4)),
    Example("truncated_laplace", lambda: small >> sf.mechanisms.truncated_laplace(scale=1, reach=4), range(4)),
    Example("upper_estimate", lambda: small >> sf.mechanisms.upper_estimate(scale=1, reach=4), range(4)),
    Example("lower_estimate", lambda: small >> sf.mechanisms.lower_estimate(scale=1, reach=4), range(4)),
    Example(
        "local_laplace",
        lambda: sf.scalar(int, between=(0, 3), metric=sf.metrics.Discrete()) >> sf.mechanisms.local_laplace(epsilon=1),
        range(4),
    ),
    Example(
        "local_mean_response",
        lambda: (
            sf.scalar(int, between=(0, 3), metric=sf.metrics.Discrete()) >> sf.mechanisms.local_mean_response(epsilon=1)
        ),
        range(4),
    ),
    Example("randomized_response", lambda: sf.scalar(["a", "b", "c"]) >> sf.randomized_response(p="0.5"), "abc"),
    Example("randomized_response", lambda: sf.vector(letters, size=2) >> sf.randomized_response(epsilon=1), pairs),
    Example("randomized_response", lambda: sf.scalar(["a", "b", "c"]) >> sf.randomized_response(epsilon=0), "abc"),
    Example(
        "local_mean_response",
        lambda: (
            sf.scalar(int, between=(0, 3), metric=sf.metrics.Discrete()) >> sf.mechanisms.local_mean_response(epsilon=0)
        ),
        range(4),
    ),
    Example("coin_flip_response", lambda: sf.scalar(bool) >> sf.mechanisms.coin_flip_response(), (False, True)),
    Example("matrix_mechanism", lambda: sf.mechanisms.matrix_mechanism([["0.5", "0.5"], ["0.2", "0.8"]]), (0, 1)),
    Example("name_and_shame", lambda: sf.vector(letters) >> sf.textbook.name_and_shame("0.1"), columns),
    Example("exponential", lambda: score_space >> sf.exponential(temperature=2), scores),
    Example("exponential", lambda: linf_space >> sf.exponential(temperature=2, measure=sf.ZCDP), scores),
    Example(
        "exponential", lambda: linf_space >> sf.exponential(temperature=2, measure=sf.accounting.BoundedRange), scores
    ),
    Example(
        "exponential_of", lambda: score_space >> sf.mechanisms.exponential_of(["x", "y", "z"], temperature=1), scores
    ),
    Example("gumbel_noisy_max", lambda: linf_space >> sf.mechanisms.gumbel_noisy_max(scale=2), scores),
    Example("permute_and_flip", lambda: linf_space >> sf.permute_and_flip(scale=2), scores),
    Example("laplace_noisy_max", lambda: linf_space >> sf.mechanisms.laplace_noisy_max(scale=2), scores[:9]),
    Example(
        "laplace_noisy_max_with_lead",
        lambda: score_space >> sf.mechanisms.laplace_noisy_max_with_lead(scale=1),
        scores[:5],
    ),
    Example("top_k", lambda: score_space >> sf.top_k(2, temperature=2), scores),
    Example("quantile", lambda: sf.vector(int) >> sf.quantile("0.3", temperature=1, between=(0, 2)), whole_columns),
    Example("median", lambda: sf.vector(int, size=2) >> sf.median(temperature=1, between=(0, 2)), whole_columns[4:]),
    Example(
        "quantile_among",
        lambda: sf.vector(int) >> sf.mechanisms.quantile_among([0, 1, 2], alpha="0.5", temperature=1),
        whole_columns,
    ),
    Example(
        "smooth_trimmed_mean",
        lambda: sf.vector(int, between=(0, 2), size=2) >> sf.mechanisms.smooth_trimmed_mean(0, scale=1, beta="0.5"),
        whole_columns[4:],
    ),
    Example("stability_histogram", lambda: sf.vector(letters) >> sf.stability_histogram(scale=1, threshold=3), columns),
    Example("private_mode", lambda: sf.vector(letters) >> sf.mechanisms.private_mode(scale=1, delta="0.05"), columns),
    Example(
        "private_mode", lambda: sf.vector(letters, size=2) >> sf.mechanisms.private_mode(scale=1, delta="0.05"), pairs
    ),
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
        lambda: sf.mechanisms.padded(
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
        lambda: small >> sf.composition([sf.mechanisms.censored_laplace(scale=2, between=(0, 2)), sf.laplace(scale=3)]),
        range(3),
    ),
    Example("analysis", asked_twice, (False, True)),
    Example("convert_measure", lambda: sf.convert_measure(small >> sf.laplace(scale=2), sf.ZCDP), range(3)),
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
    Example("best_of_all", lambda: sf.scalar(bool) >> sf.combinators.best_of_all([scored_answer()] * 3), (False, True)),
    Example(
        "random_candidate",
        lambda: sf.scalar(bool) >> sf.combinators.random_candidate([scored_answer()] * 2),
        (False, True),
    ),
]

INTERACTIVE = {"above_threshold", "below_threshold", "sparse_vector"}

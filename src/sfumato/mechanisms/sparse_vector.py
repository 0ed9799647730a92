"""The sparse vector technique: a stream is compared with a threshold, and only the rare hits are paid for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import final

from flint import arb

from sfumato.accounting.losses.measures import Pure
from sfumato.core.domains import Data, Integers
from sfumato.core.law import FiniteLaw, Law
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import LInf
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.queryable import Queryable
from sfumato.core.random_step import RandomStep
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Exhausted
from sfumato.exact import BITS, Distance, Number, ball, integer, positive, precision, rational, rational_up, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.gridding import nearest_float
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.record import How
from sfumato.transforms.streams import member, number_domain, reader

PROOF = "proofs/sparse_vector.md#map"

MISSED = Fraction(1, 1 << 200)
"""What the law of a transcript may leave uncertain."""

GAP_PROOF = "proofs/sparse_vector.md#gap"

Transcript = tuple[Data, ...]
"""What an observer sees: one answer for each element, up to the last hit or the end of the stream."""


@final
@dataclass(frozen=True)
class ThresholdRule:
    """The public facts of a noisy comparison, in whole steps of the stream's grid."""

    element: Integers
    threshold: int
    threshold_noise: DiscreteLaplace
    query_noise: DiscreteLaplace
    count: int
    gap: bool = False
    monotonic: bool = False

    def loss(self, d_in: Distance) -> Pure:
        """The loss between streams at a distance in values."""
        scale, query_scale = (noise.scale * self.element.step for noise in (self.threshold_noise, self.query_noise))
        return sparse_vector_loss(
            d_in, scale=scale, query_scale=query_scale, count=self.count, monotonic=self.monotonic
        )

    def distance(self, left: Sequence[int], right: Sequence[int]) -> Distance:
        """How far apart, in values, the elements are that were compared."""
        return LInf(self.monotonic).distance(left, right) * self.element.step

    def answer(self, above: int) -> Data:
        """What is said of a noisy value ``above`` steps above the noisy threshold: a hit, a gap or a miss."""
        if not self.gap:
            return above >= 0
        if above < 0:
            return None
        return above if self.element.step == 1 else nearest_float(above, self.element.step)


@guarantee(
    claim="epsilon = d_in / scale + count * d_in / query_scale, the second term doubled unless the stream is monotonic",
    proof=PROOF,
    reviewed="6a67ce29bf5a",
)
def sparse_vector_loss(d_in: Distance, *, scale: Fraction, query_scale: Fraction, count: int, monotonic: bool) -> Pure:
    """The loss of comparing a stream with a threshold until a number of hits, whatever the number of misses."""
    moved = rational_up(d_in)
    if moved == math.inf:
        return Pure(math.inf)
    return Pure(moved / scale + (1 if monotonic else 2) * count * moved / query_scale)


@constructor
def sparse_vector(
    threshold: Number, *, count: int, scale: Number, query_scale: Number | None = None, gap: bool = False
) -> Partial[Measurement]:
    """Tells for each element of a stream whether it is, about, at or above a threshold, until a number of hits.

    The noise on the threshold is drawn once, with ``scale``; every element gets fresh noise of ``query_scale``, which
    is 2 · count · scale unless given. After the last hit, `Exhausted` is raised. With ``gap`` a hit is answered by how
    far the noisy value is above the noisy threshold, at no further loss, and a miss by None.

    One threshold for all hits is cheaper than a new `above_threshold` after each: at equal scale and query scale,
    count · d_in / scale falls to d_in / scale.

    Takes:      a stream of numbers under the L∞ distance, monotonic or not
    Gives:      a queryable with answers true or false; with ``gap``, numbers of at least 0 or None
    Guarantee:  Pure(d_in / scale + 2 · count · d_in / query_scale); without the 2 where monotonic
                (proofs/sparse_vector.md#map, with gaps #gap)
    Cost:       one draw of noise an answer; misses are free

    >>> from sfumato.core.domains import Stream
    >>> stream = Space(Stream(Integers()), LInf())
    >>> (stream >> sparse_vector(100, count=3, scale=2)).map(1)
    Pure(epsilon=1.0)
    """
    level, hits = rational(threshold, "threshold"), integer(count, "count", least=1)
    size = positive(scale, "scale")
    query_size = 2 * hits * size if query_scale is None else positive(query_scale, "query_scale")
    name = "above threshold" if hits == 1 else "sparse vector"

    def build(space: Space) -> Measurement:
        element = number_domain(space, "sparse_vector")
        monotonic = isinstance(space.metric, LInf) and space.metric.monotonic
        rule = ThresholdRule(
            element,
            math.ceil(level / element.step),
            DiscreteLaplace(size / element.step),
            DiscreteLaplace(query_size / element.step),
            hits,
            gap,
            monotonic,
        )
        return Measurement(
            source=space,
            measure=Pure,
            function=lambda stream, entropy: compare(rule, stream, entropy),
            privacy_map=rule.loss,
            how=How(
                f"{name} with gaps" if gap else name,
                _parameters(level, size, query_size, hits),
                proofs=(GAP_PROOF if gap else PROOF,),
            ),
            law=lambda stream: GapLaw(rule, listed_elements(rule, stream)) if gap else transcript_law(rule, stream),
            interactive=True,
        )

    return Partial(f"sparse_vector({threshold}, count={count})", build)


def _parameters(level: Fraction, scale: Fraction, query_scale: Fraction, count: int) -> tuple[tuple[str, str], ...]:
    return (
        ("threshold", f"{up(level):.6g}"),
        ("scale", f"{up(scale):.6g}"),
        ("query scale", f"{up(query_scale):.6g}"),
        ("hits", str(count)),
    )


def compare(rule: ThresholdRule, stream: Data, entropy: Entropy) -> Queryable:
    """Draws the noisy threshold and opens the queryable that compares the stream with it."""
    opening = RandomStep(rule, [], rule.distance, rule.loss)
    level = entropy.perform(opening, lambda: rule.threshold + rule.threshold_noise.sample(entropy))
    following, left = reader(stream), rule.count

    def answer(query: Data) -> Data:
        nonlocal left
        if left == 0:
            raise Exhausted(
                "all the hits that were paid for have been given. Another look at the stream is a new measurement with "
                "its own price."
            )
        value = int(member(following(query), rule.element))
        reply = entropy.perform(
            opening.answer(value), lambda: rule.answer(value + rule.query_noise.sample(entropy) - level)
        )
        left -= reply is not None if rule.gap else bool(reply)
        return reply

    return Queryable(answer)


def listed_elements(rule: ThresholdRule, stream: Iterable[int]) -> list[int]:
    """Reads the elements of a stream that is listed; a function has no law of its own."""
    if callable(stream):
        raise BadArgument("the stream", "a list of numbers: the law depends on all that is asked", "a function")
    return [int(member(value, rule.element)) for value in stream]


@guarantee(
    claim="P(transcript) = sum over z of P(Z = z) times the chance of each answer, given a threshold moved by z",
    proof="proofs/sparse_vector.md#law",
    reviewed="8297cf1860b3",
)
def transcript_law(rule: ThresholdRule, stream: Iterable[int], *, missed: Fraction = MISSED) -> FiniteLaw:
    """The exact distribution of everything an observer sees, for a stream with listed elements."""
    values = listed_elements(rule, stream)
    reach = rule.threshold_noise.quantile(1 - missed / 2)
    chances: dict[Transcript, arb] = {}
    with precision(BITS):
        for shift in range(-reach, reach + 1):
            weight = rule.threshold_noise.pmf(shift)
            for transcript, chance in transcripts_at(rule, values, rule.threshold + shift):
                chances[transcript] = chances.get(transcript, ball(0)) + weight * chance
        unsure = rule.threshold_noise.tail(reach + 1).union(ball(0))
        return FiniteLaw({transcript: chance + unsure for transcript, chance in chances.items()})


def transcripts_at(rule: ThresholdRule, values: list[int], level: int) -> list[tuple[Transcript, arb]]:
    """Lists every transcript with its probability when the noisy threshold is known."""
    open_ends: list[tuple[Transcript, arb]] = [((), ball(1))]
    ended: list[tuple[Transcript, arb]] = []
    noise = rule.query_noise
    tails = {value: (noise.upper_tail(level - value), noise.cdf(level - value - 1)) for value in set(values)}
    for value in values:
        hit, miss = tails[value]
        grown: list[tuple[Transcript, arb]] = []
        for transcript, chance in open_ends:
            grown.append(((*transcript, False), chance * miss))
            stopped = sum(transcript) + 1 == rule.count
            (ended if stopped else grown).append(((*transcript, True), chance * hit))
        open_ends = grown
    return ended + open_ends


@final
class Masses:
    """Keeps the masses of a comparison's noise that were worked out before: each is needed for many transcripts."""

    def __init__(self, rule: ThresholdRule, missed: Fraction) -> None:
        reach = rule.threshold_noise.quantile(1 - missed / 2)
        self.shifts = {shift: rule.threshold_noise.pmf(shift) for shift in range(-reach, reach + 1)}
        self.beyond = rule.threshold_noise.tail(reach + 1).union(ball(0))
        self.exactly = cache(rule.query_noise.pmf)
        self.miss = cache(lambda level: rule.query_noise.cdf(level - 1))


@guarantee(
    claim="P(answers) = sum over z of P(Z = z) times the chance of each miss and of each gap, given a threshold moved "
    "by z; a None is a miss, a number of steps a hit",
    proof=GAP_PROOF,
    reviewed="dfcd919f8c4d",
)
def gaps_probability(rule: ThresholdRule, values: list[int], steps: Sequence[int | None], known: Masses) -> arb:
    """Encloses the probability of a row of answers with gaps, for the elements that were compared."""
    with precision(BITS):
        chance = known.beyond
        for shift, term in known.shifts.items():
            level = rule.threshold + shift
            for value, above in zip(values, steps, strict=False):
                term *= known.miss(level - value) if above is None else known.exactly(above + level - value)
            chance += term
        return chance


@final
@dataclass(frozen=True)
class GapLaw(Law):
    """The distribution of everything an observer sees where hits come with their gaps."""

    rule: ThresholdRule
    values: list[int]

    @cached_property
    def known(self) -> Masses:
        """The masses of the noise."""
        return Masses(self.rule, MISSED)

    def probability(self, outcome: Data) -> arb:
        hits = sum(answer is not None for answer in outcome)
        ended = hits == self.rule.count and outcome[-1] is not None
        if hits > self.rule.count or len(outcome) > len(self.values) or not (ended or len(outcome) == len(self.values)):
            return ball(0)
        steps = [None if answer is None else round(Fraction(answer) / self.rule.element.step) for answer in outcome]
        return gaps_probability(self.rule, self.values, steps, self.known)

    def outcomes(self, missed: Fraction) -> Iterable[Data]:
        """Lists answers with gaps up to where the noise on one of the comparisons is unlikely to go."""
        share = missed / (2 * max(1, len(self.values)))
        reach = self.rule.query_noise.quantile(1 - share) + self.rule.threshold_noise.quantile(1 - share)
        open_ends: list[Transcript] = [()]
        ended: list[Transcript] = []
        for value in self.values:
            most = max(0, value - self.rule.threshold) + reach
            grown: list[Transcript] = []
            for seen in open_ends:
                grown.append((*seen, None))
                last = sum(answer is not None for answer in seen) + 1 == self.rule.count
                (ended if last else grown).extend((*seen, self.rule.answer(above)) for above in range(most + 1))
            open_ends = grown
        return ended + open_ends

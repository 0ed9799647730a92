"""The sparse vector technique: a stream is compared with a threshold, and only the rare hits are paid for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from flint import arb

from sfumato.accounting.measures import Pure
from sfumato.core.domains import Data, Integers
from sfumato.core.law import FiniteLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import LInf
from sfumato.core.partial import Partial
from sfumato.core.queryable import Queryable
from sfumato.core.record import How
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Exhausted
from sfumato.exact import BITS, Distance, Number, ball, integer, positive, precision, rational, rational_up, up
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.transforms.streams import member, number_domain, reader

PROOF = "proofs/sparse_vector.md#map"

MISSED = Fraction(1, 1 << 200)
"""What the law of a transcript may leave uncertain."""

Transcript = tuple[bool, ...]
"""What an observer sees: one answer for each element, up to the last hit or the end of the stream."""


@final
@dataclass(frozen=True)
class Comparison:
    """Holds the public facts of a noisy comparison, in whole steps of the stream's grid."""

    element: Integers
    threshold: int
    threshold_noise: DiscreteLaplace
    query_noise: DiscreteLaplace
    count: int


@guarantee(
    claim="epsilon = d_in / scale + count * d_in / query_scale, the second term doubled unless the stream is monotonic",
    proof=PROOF,
    reviewed="6a67ce29bf5a",
)
def sparse_vector_loss(d_in: Distance, *, scale: Fraction, query_scale: Fraction, count: int, monotonic: bool) -> Pure:
    """Gives the loss of comparing a stream with a threshold until a number of hits, whatever the number of misses."""
    moved = rational_up(d_in)
    if moved == math.inf:
        return Pure(math.inf)
    return Pure(moved / scale + (1 if monotonic else 2) * count * moved / query_scale)


def sparse_vector(
    threshold: Number, *, count: int, scale: Number, query_scale: Number | None = None
) -> Partial[Measurement]:
    """Tells for each element of a stream whether it is, about, at or above a threshold, until a number of hits.

    The noise on the threshold is drawn once, with ``scale``; every element gets fresh noise of ``query_scale``, which
    is 2 · count · scale unless given. After the last hit, `Exhausted` is raised.

    Takes:      a stream of numbers under the L∞ distance, monotonic or not
    Gives:      a queryable whose answers are true or false
    Guarantee:  Pure(d_in / scale + 2 · count · d_in / query_scale); without the 2 where monotonic
                (proofs/sparse_vector.md#map)
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
        rule = Comparison(
            element,
            math.ceil(level / element.step),
            DiscreteLaplace(size / element.step),
            DiscreteLaplace(query_size / element.step),
            hits,
        )
        return Measurement(
            source=space,
            measure=Pure,
            function=lambda stream, entropy: compare(rule, stream, entropy),
            privacy=lambda d_in: sparse_vector_loss(
                d_in, scale=size, query_scale=query_size, count=hits, monotonic=monotonic
            ),
            how=How(name, _described(level, size, query_size, hits), proofs=(PROOF,)),
            law=lambda stream: transcript_law(rule, stream),
        )

    return Partial(f"sparse_vector({threshold}, count={count})", build)


def _described(level: Fraction, scale: Fraction, query_scale: Fraction, count: int) -> tuple[tuple[str, str], ...]:
    return (
        ("threshold", f"{up(level):.6g}"),
        ("scale", f"{up(scale):.6g}"),
        ("query scale", f"{up(query_scale):.6g}"),
        ("hits", str(count)),
    )


def compare(rule: Comparison, stream: Data, entropy: Entropy) -> Queryable:
    """Draws the noisy threshold and gives the queryable that compares the stream with it."""
    level = rule.threshold + rule.threshold_noise.sample(entropy)
    following, left = reader(stream), rule.count

    def answer(query: Data) -> bool:
        nonlocal left
        if left == 0:
            raise Exhausted(
                "all the hits that were paid for have been given. Another look at the stream is a new measurement with "
                "its own price."
            )
        value = int(member(following(query), rule.element))
        hit = value + rule.query_noise.sample(entropy) >= level
        left -= hit
        return hit

    return Queryable(answer)


@guarantee(
    claim="P(transcript) = sum over z of P(Z = z) times the chance of each answer, given a threshold moved by z",
    proof="proofs/sparse_vector.md#law",
    reviewed="8f64ac701f14",
)
def transcript_law(rule: Comparison, stream: Iterable[int], *, missed: Fraction = MISSED) -> FiniteLaw:
    """Gives the exact distribution of everything an observer sees, for a stream whose elements are listed."""
    if callable(stream):
        raise BadArgument("the stream", "a list of numbers: the law depends on all that is asked", "a function")
    values = [int(member(value, rule.element)) for value in stream]
    reach = rule.threshold_noise.quantile(1 - missed / 2)
    found: dict[Transcript, arb] = {}
    with precision(BITS):
        for shift in range(-reach, reach + 1):
            weight = rule.threshold_noise.pmf(shift)
            for transcript, chance in answers_given(rule, values, rule.threshold + shift):
                found[transcript] = found.get(transcript, ball(0)) + weight * chance
        unsure = rule.threshold_noise.tail(reach + 1).union(ball(0))
        return FiniteLaw({transcript: chance + unsure for transcript, chance in found.items()})


def answers_given(rule: Comparison, values: list[int], level: int) -> list[tuple[Transcript, arb]]:
    """Lists every transcript with its probability when the noisy threshold is known."""
    open_ends: list[tuple[Transcript, arb]] = [((), ball(1))]
    ended: list[tuple[Transcript, arb]] = []
    for value in values:
        hit = rule.query_noise.upper_tail(level - value)
        miss = rule.query_noise.cdf(level - value - 1)
        grown: list[tuple[Transcript, arb]] = []
        for transcript, chance in open_ends:
            grown.append(((*transcript, False), chance * miss))
            stopped = sum(transcript) + 1 == rule.count
            (ended if stopped else grown).append(((*transcript, True), chance * hit))
        open_ends = grown
    return ended + open_ends

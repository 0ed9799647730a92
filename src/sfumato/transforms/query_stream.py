"""Query streams: exact answers to stable queries about a data set, chosen one after another."""

from __future__ import annotations

import math
from fractions import Fraction

from sfumato.core.domains import Data, Domain, Frame, Integers, Matrix, Stream, Vector
from sfumato.core.metrics import Absolute, AddRemove, ChangeOne, Hamming, LInf
from sfumato.core.partial import Partial, start
from sfumato.core.plan import constructor
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, QueryRefused, SfumatoError
from sfumato.exact import Distance, Number, Root, nearest_whole, positive, power_of_two, rational_up
from sfumato.guarantee import guarantee
from sfumato.release.claim import Claim

QUERY_PROOF = "proofs/streams.md#query-stream"
GRID_PROOF = "proofs/streams.md#grid"

FINENESS = 20
"""Answers are rounded to 2⁻²⁰ of what one unit may move them by, unless a step is given."""


@guarantee(
    claim="answers rounded to a step are at most step * ceil(d / step) apart", proof=GRID_PROOF, reviewed="cf6851261f14"
)
def rounded_distance(distance: Distance, *, step: Fraction) -> Distance:
    """The farthest that numbers at some distance can be once both are rounded to whole steps, halves up."""
    return distance if distance == math.inf else step * math.ceil(rational_up(distance) / step)


@guarantee(
    claim="d_out = each_out * ceil(d_in / each_in) in links of the chain; each_out up to each_in where there is none",
    proof=QUERY_PROOF,
    reviewed="8edcae51cc1b",
)
def query_stream_map(d_in: Distance, *, each_in: Distance, each_out: Distance, link: int | None) -> Distance:
    """How far every answer moves, when each query moves by ``each_out`` between data sets ``each_in`` apart."""
    if d_in == 0:
        return Fraction(0)
    if d_in <= each_in:
        return each_out
    if link is None or isinstance(d_in, Root) or isinstance(each_in, Root) or d_in == math.inf:
        return math.inf
    covered = Fraction(each_in) // link
    return each_out * math.ceil(Fraction(Fraction(d_in) // link) / covered) if covered else math.inf


@guarantee(
    claim="members d apart are joined by members that are one link apart each",
    proof="proofs/streams.md#chains",
    reviewed="5fb38c70a5e3",
)
def chain_link(space: Space) -> int | None:
    """Length of the steps in which one can walk from member to member; None where no such walk is known."""
    if not isinstance(space.domain, Vector | Matrix | Frame):
        return None
    match space.metric:
        case AddRemove():
            return 1 if space.domain.size is None else 2
        case ChangeOne() | Hamming():
            return 1
        case _:
            return None


@constructor
def query_stream(
    d_in: Number = 1, *, d_out: Number = 1, step: Number | None = None, claim: Claim | None = None
) -> Partial[Transformation]:
    """Answers stable queries about a data set, chosen one after another, exactly.

    A query is a transformation (or one that waits for its space, such as ``count()``) from the same space to a number.
    One that may move by more than ``d_out`` between data sets ``d_in`` apart is refused, and the stream goes on.
    Answers are rounded to ``step``; unless given, a power of two so fine that whole numbers stay as they are. Queries
    that rest on a user's claim are answered only where ``claim`` vouches for them all.

    Takes:      any data set
    Gives:      a stream of numbers under the L∞ distance
    Guarantee:  d ↦ ⌈d / d_in⌉ · d_out, with d_out rounded up to whole steps  (proofs/streams.md#query-stream)
    Cost:       that of the queries

    >>> from sfumato.core.space import vector
    >>> (vector(int) >> query_stream(1, d_out=3)).map(2)
    Fraction(6, 1)
    """
    most = positive(d_out, "d_out")
    fine = grid_step(most) if step is None else positive(step, "step")

    def build(space: Space) -> Transformation:
        each_in, each_out, link = space.metric.read(d_in), rounded_distance(most, step=fine), chain_link(space)
        if each_in == 0 or each_in == math.inf:
            raise BadArgument("d_in", "greater than 0 and finite", d_in)

        def answers(data: Data, entropy: Entropy) -> Queryable:
            def answer(query: Data) -> int:
                asked = _checked_query(query, space, each_in, most, vouched=claim is not None)
                return nearest(asked.function(data, entropy), asked.target.domain, fine)

            return Queryable(answer)

        return Transformation(
            space,
            Space(Stream(Integers(step=fine)), LInf()),
            answers,
            lambda d: query_stream_map(d, each_in=each_in, each_out=each_out, link=link),
            (f"queries that move by up to {most} at distance {each_in}",),
            (QUERY_PROOF, GRID_PROOF),
            () if claim is None else (claim,),
        )

    return Partial(f"query_stream({d_in}, d_out={d_out})", build)


def grid_step(d_out: Fraction) -> Fraction:
    """A power of two, at most 1, that is some 2⁻²⁰ of a distance."""
    return power_of_two(min(Fraction(1), d_out)) / (1 << FINENESS)


def _checked_query(
    query: Data, space: Space, each_in: Distance, each_out: Distance, *, vouched: bool
) -> Transformation:
    """Completes a query that the stream may answer, or refuses it; decided from public facts alone."""
    try:
        asked = start(space, query)
    except SfumatoError as fault:
        raise QueryRefused(f"this is no query on {space}: {fault}") from None
    if not isinstance(asked, Transformation):
        raise QueryRefused("a query must be a transformation; a measurement has its own noise and its own price.")
    if not isinstance(asked.target.domain, Integers) or not isinstance(asked.target.metric, Absolute):
        raise QueryRefused(f"a query must give one exact number, such as a count or a sum; this gives {asked.target}.")
    if asked.claims and not vouched:
        raise QueryRefused(
            "this query rests on a claim, which must be printed with the release: open the stream with "
            "query_stream(…, claim=sf.claim('why such queries are stable'))."
        )
    moves = asked.map(rational_up(each_in))
    if moves > each_out:
        raise QueryRefused(
            f"this query can move by {moves} and the stream answers those that move by at most {each_out}. Tighten its "
            "bounds, or open a stream with a larger d_out."
        )
    return asked


def nearest(value: int, domain: Domain, step: Fraction) -> int:
    """Converts a whole number of a domain's steps to the nearest whole number of other steps, halves up."""
    if not isinstance(domain, Integers):
        raise BadArgument("the domain", "exact numbers", domain)
    return nearest_whole(int(value) * (domain.step / step))

"""Streams: elements that come one at a time, and stable ways to work on them.

A stream is a function that is asked for each next element (and may be told what to give), or anything that can be
iterated over. How many elements it has is public. The elements of a numeric stream are whole numbers of a public step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

from sfumato.core.domains import Bounds, Data, Domain, Integers, Stream, Vector
from sfumato.core.grouped_distance import DistanceLike
from sfumato.core.metrics import AddRemove, ChangeOne, LInf, Metric, Unit
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.queryable import Queryable
from sfumato.core.rows import records
from sfumato.core.space import Kind, Space, atom
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, Exhausted, NoDistance, NotInDomain, QueryRefused
from sfumato.exact import Distance, Number
from sfumato.guarantee import guarantee
from sfumato.transforms.aggregate import sum as total
from sfumato.transforms.rowwise import clamp

BATCH_PROOF = "proofs/streams.md#batches"
NEGATION_PROOF = "proofs/streams.md#negation"


@final
@dataclass(frozen=True)
class PerBatch(Metric):
    """Measures streams of batches by the batch that differs most: a unit with at most k rows in *every* batch is k.

    Under add/remove: the most rows added to any batch plus the most rows removed from any. Under change-one: the most
    rows replaced in any batch.

    >>> PerBatch().distance([[1], [2], [3]], [[1, 5], [2, 5], [3]])
    Fraction(1, 1)
    """

    rows: AddRemove | ChangeOne = field(default_factory=AddRemove)

    def distance(self, left: Data, right: Data) -> Distance:
        ours, theirs = list(left), list(right)
        if len(ours) != len(theirs):
            raise NoDistance(self, "the streams have different lengths.")
        pairs = list(zip(ours, theirs, strict=True))
        if isinstance(self.rows, ChangeOne):
            return max((self.rows.distance(a, b) for a, b in pairs), default=Fraction(0))
        added = max(((records(b) - records(a)).total() for a, b in pairs), default=0)
        removed = max(((records(a) - records(b)).total() for a, b in pairs), default=0)
        return Fraction(added + removed)

    def misfit(self, domain: Domain) -> str | None:
        return self.rows.misfit(domain.element) if isinstance(domain, Stream) else "it needs a stream of batches."

    def unit(self, distance: Distance) -> str:
        return f"{self.rows.unit(distance)} in every batch"

    def read(self, distance: DistanceLike | Unit) -> Distance:
        return self.rows.read(self._plain(distance))

    def __str__(self) -> str:
        return f"{self.rows} in every batch"


def batches(kind: Kind, *, between: tuple[Number, Number] | None = None, size: int | None = None) -> Space:
    """Declares a stream of batches of values, with at most one row of each unit in every batch.

    Where the size of every batch is public, neighbours change a row in each; where it is not, they add or remove one.

    >>> str(batches(float))
    'a stream of any number of floats under the add/remove distance in every batch'
    """
    rows = AddRemove() if size is None else ChangeOne()
    return Space(Stream(Vector(atom(kind, between=between), size)), PerBatch(rows))


def reader(stream: Data) -> Callable[[Data], Data]:
    """Wraps any kind of stream as a function from a query to the next element."""
    if callable(stream):
        asked: Callable[[Data], Data] = stream
        return asked
    entries = iter(stream)

    def following(query: Data) -> Data:
        if query is not None:
            raise QueryRefused("this stream gives its elements in order and takes no queries; call it without one.")
        for entry in entries:
            return entry
        raise Exhausted("the stream has ended; it gives no more elements.")

    return following


def map_stream(stream: Data, function: Callable[[Data], Data]) -> Queryable | Iterable[Data]:
    """Applies a function to each element of a stream, when it comes."""
    if callable(stream):
        ask = stream
        return Queryable(lambda query: function(ask(query)))
    return (function(element) for element in stream)


@guarantee(claim="d_out is what the map of one batch gives", proof=BATCH_PROOF, reviewed="6ea83bcc345b")
def per_batch_map(d_in: Distance, *, stability_map: Callable[[Distance], Distance]) -> Distance:
    """How far every element moves, when each batch goes through a stable transformation on its own."""
    return stability_map(d_in)


@guarantee(
    claim="sums of batches move in one direction along a chain of one-sided changes",
    proof="proofs/streams.md#monotonic",
    reviewed="38e70e37afbd",
)
def sums_are_monotonic(space: Space, *, lower: Fraction, upper: Fraction) -> bool:
    """Tells whether adding a unit's rows to batches moves all their sums in one direction."""
    domain, metric = space.domain, space.metric
    if not isinstance(domain, Vector) or domain.size is not None or not isinstance(metric, AddRemove):
        return False
    return lower >= 0 or upper <= 0


@constructor
def sum_stream(lower: Number, upper: Number) -> Partial[Transformation]:
    """Adds up every batch of a stream, after moving each value into [lower, upper].

    Takes:      a stream of batches of numbers without NaN (`batches`)
    Gives:      a stream of numbers under the L∞ distance, monotonic where it is
    Guarantee:  d · max(|lower|, |upper|) under add/remove, d · (upper - lower) under change-one; monotonic under
                add/remove when no value is below 0, or none is above  (proofs/streams.md#batches, #monotonic)
    Cost:       one pass over each batch when it comes

    >>> sums = batches(float) >> sum_stream(0, 10)
    >>> sums.map(1), str(sums.target.metric)
    (Fraction(10, 1), 'the monotonic L∞ distance')
    """

    def build(space: Space) -> Transformation:
        if not isinstance(space.domain, Stream) or not isinstance(space.metric, PerBatch):
            raise BadArgument("what sum_stream() works on", "a stream of batches, from batches(…)", str(space))
        batch = Space(space.domain.element, space.metric.rows)
        added = batch >> clamp(lower, upper) >> total()
        bounds = Bounds.read((lower, upper))
        monotonic = sums_are_monotonic(batch, lower=bounds.lower, upper=bounds.upper)
        return Transformation(
            space,
            Space(Stream(added.target.domain), LInf(monotonic=monotonic)),
            lambda data, entropy: map_stream(data, lambda rows: added.function(member(rows, batch.domain), entropy)),
            lambda d: per_batch_map(d, stability_map=added.stability_map),
            ("each batch", *added.steps),
            (BATCH_PROOF, "proofs/streams.md#monotonic", *added.proofs),
        )

    return Partial(f"sum_stream({lower}, {upper})", build)


def member(element: Data, domain: Domain) -> Data:
    """Returns an element of a stream unchanged, or refuses one that the stream was not declared to hold."""
    if not domain.member(element):
        raise NotInDomain(domain)
    return element


@guarantee(claim="d_out = d_in", proof=NEGATION_PROOF, reviewed="3e64ac376153")
def negation_map(d_in: Distance) -> Distance:
    """The distance between streams after every element has changed its sign."""
    return d_in


@constructor
def negated() -> Partial[Transformation]:
    """Changes the sign of every element of a stream, so that what was low is high.

    Takes:      a stream of numbers under an L∞ distance, monotonic or not
    Gives:      the same, with the other sign
    Guarantee:  d_out = d_in  (proofs/streams.md#negation)
    Cost:       nothing to speak of

    >>> (batches(float) >> sum_stream(0, 10) >> negated()).map(1)
    Fraction(10, 1)
    """

    def build(space: Space) -> Transformation:
        element = number_domain(space, "negated")
        return Transformation(
            space,
            Space(Stream(Integers(step=element.step)), space.metric),
            lambda data, _: map_stream(data, lambda value: -int(member(value, element))),
            negation_map,
            ("negate",),
            (NEGATION_PROOF,),
        )

    return Partial("negated()", build)


def number_domain(space: Space, verb: str) -> Integers:
    """The domain of the elements of a numeric stream; refuses any other space in the name of the verb."""
    domain = space.domain
    if isinstance(domain, Stream) and isinstance(domain.element, Integers) and isinstance(space.metric, LInf):
        return domain.element
    wanted = "a stream of exact numbers under the L∞ distance, such as query_stream(…) or sum_stream(…)"
    raise BadArgument(f"what {verb}() works on", wanted, str(space))

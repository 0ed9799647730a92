"""Partitions: a data set in parts, by public keys (see `groups`), at random, or in equal cuts.

Which part a row goes to depends on that row alone (by key), on that row and randomness of its own (or of its unit), or,
where the number of rows is public, on a shuffle. A part that depended on other rows would move when they do.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from sfumato.core.domains import Array, Data, Frame
from sfumato.core.grouped_distance import GroupedDistance, Whole
from sfumato.core.metrics import ChangeOne, DatasetMetric
from sfumato.core.partial import Partial
from sfumato.core.parts import PartDistance, Parts
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, UnknownSize
from sfumato.exact import Distance, integer, rational_up
from sfumato.guarantee import guarantee
from sfumato.noise.uniform import below_many, permutation
from sfumato.release.claim import Claim, required
from sfumato.transforms.distances import exchanged_rows
from sfumato.transforms.rows import Rows, count_rows, each_column, own_type, row_space, values_of


@guarantee(
    claim="rows added or removed: d of them on one side; with a public size as many leave as enter: the exchanged "
    "rows on two sides",
    proof="proofs/parts.md#moved",
    reviewed="ea934f35b0c6",
)
def moved_rows(d_in: Distance, *, metric: DatasetMetric, size: int | None) -> tuple[Whole, int]:
    """The most rows that differ on a side, and how many sides there are."""
    rows = rational_up(d_in) if size is None else exchanged_rows(d_in, metric=metric, size=size)
    return (math.inf if rows == math.inf else math.floor(rows)), 1 if size is None else 2


def split_rows(data: Data, domain: Rows, codes: Array, count: int, order: Array | None = None) -> tuple[Data, ...]:
    """Splits the rows by their codes below ``count``, in their order (or a given one)."""
    ranked = np.argsort(codes if order is None else codes[order], kind="stable")
    places = ranked if order is None else order[ranked]
    ends = np.searchsorted(codes[places], np.arange(count + 1)).tolist()
    rows = each_column(data, domain, lambda values: values[places])
    if isinstance(domain, Frame):
        return tuple(own_type({name: rows[name][a:b] for name in rows}, domain) for a, b in pairwise(ends))
    return tuple(own_type(rows[a:b], domain) for a, b in pairwise(ends))


def parts_space(keys: tuple[Hashable, ...], domain: Rows) -> Space:
    """The space of parts with these rows in any number."""
    return Space(Parts(keys, (replace(domain, size=None, least=0),) * len(keys)), PartDistance())


def times_sides(sides: int, rows: Whole) -> Whole:
    """Multiplies a number of rows that may be infinite by a number of sides."""
    return rows if rows == math.inf else sides * rows


@guarantee(
    claim="each row its own label: (d, s d, s d) for d rows on each of s sides; each identifier its own: (u, s d, s d) "
    "where the rows that differ have at most u identifiers; in no more parts than there are",
    proof="proofs/parts.md#labels",
    reviewed="ec9a17cd4175",
)
def labelled_distance(moved: Whole, *, sides: int, identifiers: int | None, parts: int) -> GroupedDistance:
    """How far apart randomly labelled parts can be, for some way to draw the labels of both sides together."""
    every = times_sides(sides, moved)
    return GroupedDistance(min(parts, moved if identifiers is None else min(every, identifiers)), every, every)


@constructor
def random_parts(
    count: int, *, by: str | None = None, units: int = 1, claim: Claim | None = None
) -> Partial[Transformation]:
    """Puts every row into one of ``count`` parts, drawn uniformly and independently for each row or identifier.

    Takes:      rows under any distance that counts rows. ``by`` names a column of a frame that identifies units: all
                rows with one identifier go to one part, and the claim says that the rows in which neighbours differ
                have at most ``units`` identifiers
    Gives:      ``count`` data sets in random order, under the grouped add/remove distance
    Guarantee:  b rows ↦ (b, b, b), with identifiers (units, b, b); e exchanged rows ↦ (e, 2e, 2e)
                (proofs/parts.md#labels)
    Cost:       one shuffle and one sort of the rows, and a hash a row for identifiers

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> random_parts(50)).map(3), (vector(float, size=100) >> random_parts(50)).map(1)
    (GroupedDistance(parts=3, rows=3, largest=3), GroupedDistance(parts=1, rows=2, largest=2))
    """
    parts = integer(count, "count", least=1)
    identifiers = None if by is None else integer(units, "units", least=1)
    vouched = () if by is None else (required(claim, "that the rows that differ have one identifier a unit"),)
    if by is None and units != 1:
        raise BadArgument("units", "given with by= only", units)

    def build(space: Space) -> Transformation:
        domain, metric = row_space(space, "random_parts")
        if by is not None:
            _frame_column(domain, by)

        def spread(d_in: Distance) -> GroupedDistance:
            moved, sides = moved_rows(d_in, metric=metric, size=domain.size)
            return labelled_distance(moved, sides=sides, identifiers=identifiers, parts=parts)

        return Transformation(
            space,
            parts_space(tuple(range(parts)), domain),
            lambda data, entropy: split_by_random_labels(data, domain, by, parts, entropy),
            spread,
            (f"{parts} random parts" + ("" if by is None else f" by {by}"),),
            ("proofs/parts.md#labels",),
            vouched,
            randomized=True,
        )

    return Partial(f"random_parts({count})", build)


def _frame_column(domain: Rows, name: str) -> None:
    if not isinstance(domain, Frame):
        raise BadArgument("by", "left out: only a frame has columns that identify units", name)
    domain[name]  # which refuses a column that is not there


@guarantee(
    claim="labels are independent and uniform, one for each row or for each identifier; given them, every order of the "
    "rows inside the parts is equally likely",
    proof="proofs/parts.md#labels",
    reviewed="438dc2bb30da",
)
def split_by_random_labels(data: Data, domain: Rows, by: str | None, count: int, entropy: Entropy) -> tuple[Data, ...]:
    """Draws a label for each row, or for each identifier, and shuffles the rows of each label."""
    rows = count_rows(data, domain)
    order = permutation(rows, entropy=entropy)
    if by is None:
        labels = below_many(count, count=rows, entropy=entropy)
    else:
        holders, many = number_values(values_of(data, domain, by))
        labels = below_many(count, count=many, entropy=entropy)[holders]
    return split_rows(data, domain, labels, count, order)


def number_values(values: Array) -> tuple[Array, int]:
    """Numbers the different values of a column, all NaN alike: the number of each row, and how many there are."""
    if values.dtype.kind in "fiu":
        distinct, holders = np.unique(values, return_inverse=True)
        return holders.reshape(-1), len(distinct)
    listed = values.tolist()
    places = {value: place for place, value in enumerate(dict.fromkeys(listed))}
    return np.fromiter(map(places.__getitem__, listed), dtype=np.int64, count=len(listed)), len(places)


@guarantee(
    claim="e exchanged rows of N, shuffled and cut into m: (min(e, m), e, min(e, ceil(N / m))) in exchanged rows",
    proof="proofs/parts.md#equal",
    reviewed="49a2c2ab69ee",
)
def equal_parts_distance(d_in: Distance, *, metric: DatasetMetric, size: int, parts: int) -> GroupedDistance:
    """How far apart equal cuts of shuffled rows can be, for some way to shuffle both sides together."""
    exchanged = math.floor(exchanged_rows(d_in, metric=metric, size=size))
    return GroupedDistance(min(exchanged, parts), exchanged, min(exchanged, -(-size // parts)))


@constructor
def equal_parts(count: int) -> Partial[Transformation]:
    """Shuffles the rows and cuts them into ``count`` parts of public sizes, as equal as can be.

    Takes:      rows of a public size, under any distance that counts rows
    Gives:      ``count`` data sets of public sizes, under the grouped change-one distance
    Guarantee:  e exchanged rows ↦ (e, e, e); nothing of the kind holds where rows are added or removed, for then the
                cuts move: use random_parts(…) there  (proofs/parts.md#equal)
    Cost:       one shuffle of the rows

    >>> from sfumato.core.space import vector
    >>> (vector(float, size=100) >> equal_parts(10)).map(2)
    GroupedDistance(parts=2, rows=2, largest=2)
    """
    parts = integer(count, "count", least=1)

    def build(space: Space) -> Transformation:
        domain, metric = row_space(space, "equal_parts")
        size = domain.size
        if size is None:
            raise UnknownSize(
                "equal_parts", "One row more moves all cuts: give size=…, or resize(…) first, or use random_parts(…)."
            )
        codes = np.repeat(np.arange(parts), sizes := [size // parts + (i < size % parts) for i in range(parts)])
        target = Parts(tuple(range(parts)), tuple(replace(domain, size=rows, least=0) for rows in sizes))
        return Transformation(
            space,
            Space(target, PartDistance(ChangeOne())),
            lambda data, entropy: split_rows(shuffle_rows(data, domain, entropy), domain, codes, parts),
            lambda d_in: equal_parts_distance(d_in, metric=metric, size=size, parts=parts),
            (f"{parts} equal parts",),
            ("proofs/parts.md#equal",),
            randomized=True,
        )

    return Partial(f"equal_parts({count})", build)


def shuffle_rows(data: Data, domain: Rows, entropy: Entropy) -> Data:
    """The rows in a uniformly random order."""
    order = permutation(count_rows(data, domain), entropy=entropy)
    return each_column(data, domain, lambda values: values[order])

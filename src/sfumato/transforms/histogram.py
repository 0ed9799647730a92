"""Counts for many keys or conditions at once, over keys that are public."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import TypeGuard

import numpy as np

from sfumato.core.domains import Array, Categories, Data, Frame, Integers, Matrix, Vector, categories
from sfumato.core.metrics import L1, L2, AddRemove, DatasetMetric, LInf, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, Several
from sfumato.exact import Distance, integer, rational_up, root
from sfumato.guarantee import guarantee
from sfumato.release.claim import Claim, required
from sfumato.transforms.conditions import Condition, read_condition
from sfumato.transforms.distances import exchanged_rows, times
from sfumato.transforms.rows import Rows, row_space, shown_of


@guarantee(
    claim="one row adds or removes 1 in one bin: L1 = L2 = L∞ = d_in; an exchanged row moves 1 from a bin to another: "
    "L1 = 2, L2 = √2, L∞ = 1 each; a single bin: 1",
    proof="proofs/histogram.md#map",
    reviewed="d3acf8cdaf3e",
)
def count_by_map(d_in: Distance, *, norm: VectorMetric, metric: DatasetMetric, size: int | None, bins: int) -> Distance:
    """How far the counts of disjoint bins can move."""
    if size is None:
        return d_in
    exchanged = exchanged_rows(d_in, metric=metric, size=size)
    if bins == 1 or isinstance(norm, LInf):
        return exchanged
    return times(exchanged, 2) if isinstance(norm, L1) else times(exchanged, root(2))


@guarantee(
    claim="rows of which at most kinf fall into one bin, in at most k0 bins: L1 = d, L∞ = min(d, kinf), L2 = "
    "√(q kinf² + r²) with d = q kinf + r; exchanged: L1 and L2² double; more than k0 kinf rows: as without bounds",
    proof="proofs/histogram.md#spread",
    reviewed="d9050f3402f3",
)
def spread_map(
    d_in: Distance, *, norm: VectorMetric, metric: DatasetMetric, size: int | None, bins: int, cells: int, each: int
) -> Distance:
    """How far the counts of disjoint bins can move when one unit's rows spread over bins."""
    rows = rational_up(d_in) if size is None else exchanged_rows(d_in, metric=metric, size=size)
    if rows > cells * each:
        return count_by_map(d_in, norm=norm, metric=metric, size=size, bins=bins)
    full, rest = divmod(Fraction(rows), each)
    sides = 1 if size is None else 2
    if isinstance(norm, LInf):
        return min(Fraction(rows), Fraction(each))
    return Fraction(rows) * sides if isinstance(norm, L1) else root((full * each**2 + rest**2) * sides)


@constructor
def count_by(
    keys: Sequence[Hashable] | None = None,
    *,
    other: bool = False,
    metric: VectorMetric | None = None,
    cells: int | None = None,
    each: int | None = None,
    claim: Claim | None = None,
) -> Partial[Transformation]:
    """Counts the rows of each public key, in the order of the keys; by default the categories of a column.

    Takes:      a column (keys are values) or a frame (keys are tuples of values), under any distance that counts rows;
                rows with another key are left out, or counted in one more bin at the end with ``other=True``. ``cells``
                and ``each`` claim into how many bins the rows of one unit fall at most, and how many into each
    Gives:      a vector of whole numbers under the L1 distance, or L2 or L∞ where asked
    Guarantee:  d_out = d_in from add/remove, in every norm; from change-one 2 d_in in L1, √2 d_in in L2, d_in in L∞
                (proofs/histogram.md#map); with claimed bounds and all their rows L1 = cells each, L2 = √cells each,
                L∞ = each  (proofs/histogram.md#spread)
    Cost:       one hash a row

    >>> from sfumato.core.space import vector
    >>> (vector(str) >> count_by(["a", "b"])).map(1), (vector(str, size=9) >> count_by(["a", "b"])).map(1)
    (Fraction(1, 1), Fraction(2, 1))
    """
    listed = None if keys is None else categories(keys).values
    norm = read_norm(metric, "count_by")
    bounds = _read_spread(cells, each, claim)

    def build(space: Space) -> Transformation:
        domain, rows = row_space(space, "count_by")
        if isinstance(domain, Matrix):
            raise BadArgument("what count_by() works on", "a column or a frame", str(space))
        public = _declared_keys(domain) if listed is None else listed
        bins = len(public) + other
        if isinstance(domain, Frame):
            _check_tuples(public, domain)

        def stability_map(d_in: Distance) -> Distance:
            if bounds is None:
                return count_by_map(d_in, norm=norm, metric=rows, size=domain.size, bins=bins)
            k0, kinf = bounds
            return spread_map(d_in, norm=norm, metric=rows, size=domain.size, bins=bins, cells=k0, each=kinf)

        return Transformation(
            space,
            Space(Vector(Integers(), bins), norm),
            lambda data, _: tally(data, domain, public, other=other),
            stability_map,
            (f"count rows by {len(public)} keys",),
            ("proofs/histogram.md#map" if bounds is None else "proofs/histogram.md#spread",),
            () if claim is None else (claim,),
        )

    return Partial("count_by()" if listed is None else f"count_by({len(listed)} keys)", build)


def _declared_keys(domain: Vector | Frame) -> tuple[Hashable, ...]:
    if isinstance(domain, Vector) and isinstance(domain.element, Categories):
        return domain.element.values
    raise BadArgument("the keys of count_by()", "listed, where the column has no declared categories", None)


def _check_tuples(keys: Sequence[Hashable], domain: Frame) -> None:
    width = len(domain.columns)
    for key in keys:
        if not isinstance(key, tuple) or len(key) != width:
            raise BadArgument("a key of a frame", f"a tuple of {width} values, one for each column in order", key)


def _read_spread(cells: int | None, each: int | None, claim: Claim | None) -> tuple[int, int] | None:
    if cells is None and each is None:
        return None
    required(claim, "how the rows of one unit spread over keys")
    if cells is None or each is None:
        raise BadArgument("cells and each", "given together", Several(cells, each))
    return integer(cells, "cells", least=1), integer(each, "each", least=1)


def read_norm(metric: VectorMetric | None, verb: str) -> VectorMetric:
    """Reads the distance on a vector of counts: L1 unless L2 or L∞ is asked for."""
    norm = L1() if metric is None else metric
    if not isinstance(norm, L1 | L2 | LInf) or getattr(norm, "monotonic", False):
        raise BadArgument(f"the metric of {verb}()", "L1(), L2() or LInf()", metric)
    return norm


def tally(data: Data, domain: Rows, keys: Sequence[Hashable], *, other: bool) -> Array:
    """Counts the rows of each key."""
    if isinstance(domain, Frame):
        columns = [shown_of(data, domain, name).tolist() for name, _ in domain.columns]
        counter: Counter[Hashable] = Counter(zip(*columns, strict=True))
    else:
        values = shown_of(data, domain, None)
        if values.dtype == np.int64 and _consecutive(keys):
            inside = values[(values >= keys[0]) & (values <= keys[-1])] - keys[0]
            tallied = np.bincount(inside, minlength=len(keys))
            return np.append(tallied, len(values) - len(inside)) if other else tallied
        counter = Counter(values.tolist())
    counts = [counter.get(key, 0) for key in keys]
    return np.array([*counts, counter.total() - sum(counts)] if other else counts, dtype=np.int64)


def _consecutive(keys: Sequence[Hashable]) -> TypeGuard[Sequence[int]]:
    first = keys[0]
    if not isinstance(first, int) or not -(2**63) <= first < 2**63 - len(keys):
        return False
    return tuple(keys) == tuple(range(first, first + len(keys)))


@guarantee(
    claim="a row meets at most k of m conditions: added or removed, L1 = k, L2 = √k, L∞ = 1 each; exchanged, the same "
    "with min(m, 2k)",
    proof="proofs/histogram.md#overlapping",
    reviewed="e6bcce414f95",
)
def count_each_map(
    d_in: Distance, *, norm: VectorMetric, metric: DatasetMetric, size: int | None, conditions: int, most: int
) -> Distance:
    """How far the counts of conditions that may overlap can move."""
    rows = d_in if size is None else exchanged_rows(d_in, metric=metric, size=size)
    touched = most if size is None else min(conditions, 2 * most)
    if isinstance(norm, LInf):
        return rows
    return times(rows, touched) if isinstance(norm, L1) else times(rows, root(touched))


@constructor
def count_each(
    conditions: Sequence[Condition],
    *,
    most: int | None = None,
    metric: VectorMetric | None = None,
    claim: Claim | None = None,
) -> Partial[Transformation]:
    """Counts the rows that meet each of several conditions, which may overlap.

    Takes:      rows under any distance that counts rows. ``most`` claims how many conditions a possible row meets at
                most (1: they are disjoint); without it a row may meet all
    Gives:      a vector of whole numbers under the L1 distance, or L2 or L∞ where asked
    Guarantee:  d_out = most d_in in L1, √most d_in in L2, d_in in L∞; from change-one with min(all, 2 most) for most
                (proofs/histogram.md#overlapping)
    Cost:       one pass a condition

    >>> from sfumato.core.space import frame
    >>> from sfumato.transforms.conditions import is_in
    >>> people = frame({"sex": ["f", "m"], "hair": str})
    >>> (people >> count_each([is_in(["m"], column="sex"), is_in(["blond"], column="hair")])).map(1)
    Fraction(2, 1)
    """
    wanted = tuple(read_condition(condition) for condition in conditions)
    if not wanted:
        raise BadArgument("conditions", "a list of at least one", conditions)
    norm = read_norm(metric, "count_each")
    overlap = len(wanted) if most is None else min(integer(most, "most", least=1), len(wanted))
    vouched = () if overlap == len(wanted) else (required(claim, "how many conditions one row can meet"),)

    def build(space: Space) -> Transformation:
        domain, rows = row_space(space, "count_each")
        for condition in wanted:
            condition.check(domain)

        def stability_map(d_in: Distance) -> Distance:
            return count_each_map(d_in, norm=norm, metric=rows, size=domain.size, conditions=len(wanted), most=overlap)

        return Transformation(
            space,
            Space(Vector(Integers(), len(wanted)), norm),
            lambda data, _: np.array([int(test.test(data, domain).sum()) for test in wanted], dtype=np.int64),
            stability_map,
            (f"count rows by {len(wanted)} conditions",),
            ("proofs/histogram.md#overlapping",),
            vouched + sum((condition.claims for condition in wanted), ()),
        )

    return Partial(f"count_each({len(wanted)} conditions)", build)


@guarantee(
    claim="counts at L1 distance d give data sets at add/remove distance at most floor(d)",
    proof="proofs/histogram.md#rows",
    reviewed="eb814a2da5ad",
)
def rows_from_counts_map(d_in: Distance) -> Distance:
    """The add/remove distance between the data sets that two histograms describe."""
    counts = rational_up(d_in)
    return math.inf if counts == math.inf else Fraction(math.floor(counts))


@constructor
def rows_from_counts(keys: Sequence[Hashable], *, most: int) -> Partial[Transformation]:
    """Builds a data set with as many rows of each key as its count says: the inverse of count_by.

    Takes:      a vector of one whole number a key, under the L1 distance; counts are clamped to 0 … ``most``, so that
                none can exhaust the memory
    Gives:      a column of keys under the add/remove distance
    Guarantee:  d_out = floor(d_in)  (proofs/histogram.md#rows)
    Cost:       one entry a row

    >>> from sfumato.core.space import vector
    >>> (vector(str) >> count_by(["a", "b"]) >> rows_from_counts(["a", "b"], most=1000)).map(1)
    Fraction(1, 1)
    """
    listed = categories(keys)
    cap = integer(most, "most", least=0)

    def build(space: Space) -> Transformation:
        if space.domain != Vector(Integers(), len(listed.values)) or space.metric != L1():
            raise BadArgument(
                "what rows_from_counts() works on", "one whole number a key under the L1 distance", str(space)
            )
        names = np.empty(len(listed.values), dtype=object)
        names[:] = listed.values
        return Transformation(
            space,
            Space(Vector(listed), AddRemove()),
            lambda data, _: np.repeat(names, [min(max(int(count), 0), cap) for count in data]),
            rows_from_counts_map,
            ("rows from counts",),
            ("proofs/histogram.md#rows",),
        )

    return Partial(f"rows_from_counts({len(listed.values)} keys)", build)

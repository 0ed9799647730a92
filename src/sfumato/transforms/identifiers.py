"""How many identifiers there are, in all or in each group, and one value for each of them: no truncation is needed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from sfumato.core.domains import Array, Atom, Data, Floats, Frame, Integers, Vector, categories
from sfumato.core.metrics import L2, Absolute, AddRemove, LInf, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, Several
from sfumato.exact import Distance, root
from sfumato.guarantee import guarantee
from sfumato.transforms.distances import times
from sfumato.transforms.grids import row_grid
from sfumato.transforms.groups import group_codes, group_keys
from sfumato.transforms.histogram import read_norm
from sfumato.transforms.rows import values_of
from sfumato.transforms.rowwise import collect
from sfumato.transforms.whose import Places, by_values, first_in, holders, owned_space, picked

Summary = Literal["rows", "sum", "first", "last", "min", "max"]


@guarantee(
    claim="one identifier moves each of m counts by at most 1: L1 = m d_in, L2 = √m d_in, L∞ = d_in",
    proof="proofs/identifiers.md#counts",
    reviewed="25abb20d3d2a",
)
def identifiers_map(d_in: Distance, *, norm: VectorMetric, groups: int) -> Distance:
    """Gives how far the numbers of identifiers in so many groups can move."""
    if isinstance(norm, LInf):
        return d_in
    return times(d_in, root(Fraction(groups)) if isinstance(norm, L2) else groups)


@constructor
def count_identifiers(
    *columns: str, keys: Sequence[Hashable] | None = None, metric: VectorMetric | None = None
) -> Partial[Transformation]:
    """Counts the different identifiers, however many rows each has: in all, or in each group by public keys.

    Takes:      a frame under the distance in identifiers; with columns, by group: for the listed keys, or for all
                declared categories
    Gives:      a whole number under the absolute distance; by group, a vector of them under the L1 distance, or L2 or
                L∞ where asked
    Guarantee:  d_out = d_in; for m groups m d_in in L1, √m d_in in L2, d_in in L∞  (proofs/identifiers.md#counts)
    Cost:       a sort of the rows

    An identifier that should count in fewer groups is cut with truncate_groups(…, groups=…, rows_each=1) >> sizes().

    >>> from sfumato.core.identifiers import Identifiers
    >>> from sfumato.core.space import frame
    >>> log = frame({"id": int, "site": ["bank", "games", "mail", "social"]}, metric=Identifiers("id"))
    >>> (log >> count_identifiers()).map(3), (log >> count_identifiers("site", metric=L2())).map(1)
    (Fraction(3, 1), Fraction(2, 1))
    """
    listed = None if keys is None else categories(keys).values
    norm = read_norm(metric, "count_identifiers")
    if not columns and (keys is not None or metric is not None):
        raise BadArgument("keys and metric", "left out: without columns there is one number", Several(keys, metric))

    def build(space: Space) -> Transformation:
        domain, unit = owned_space(space, "count_identifiers")
        public = group_keys(domain, columns, listed) if columns else ()

        def run(data: Data) -> Data:
            whose, many = holders(values_of(data, domain, unit.column))
            if not columns:
                return many
            codes = group_codes(data, domain, columns, public, other=False)
            pairs = np.unique((whose * len(public) + codes)[codes >= 0])
            return np.bincount(pairs % len(public), minlength=len(public)).astype(np.int64)

        target = Space(Vector(Integers(), len(public)), norm) if columns else Space(Integers(), Absolute())
        by = f" by {', '.join(columns)}" if columns else ""
        return Transformation(
            space,
            target,
            lambda data, _: run(data),
            lambda d_in: identifiers_map(d_in, norm=norm, groups=len(public) if columns else 1),
            (f"count each {unit.column}{by}",),
            ("proofs/identifiers.md#counts",),
        )

    return Partial(f"count_identifiers({', '.join(map(repr, columns))})", build)


@guarantee(
    claim="one row for each identifier, made of that identifier's rows alone: d_out = d_in",
    proof="proofs/identifiers.md#one-each",
    reviewed="0ea6208e99e6",
)
def one_each_map(d_in: Distance) -> Distance:
    """Gives the add/remove distance between tables of one row for each identifier."""
    return d_in


@constructor
def one_each(summary: Summary, column: str | None = None, *, by: str | None = None) -> Partial[Transformation]:
    """Gives one value for each identifier: how many rows it has, or a summary of one column of its rows.

    Takes:      a frame under the distance in identifiers. "rows" counts them; "sum" adds up a column, exactly (one of
                floats must have declared bounds); "first" and "last" take the value of the row that comes first or last
                by the column ``by``, "min" and "max" by the column itself; NaN only where there is nothing else
    Gives:      a column of so many values as there are identifiers, in no order, under the add/remove distance; a sum
                as whole numbers of steps
    Guarantee:  d_out = d_in  (proofs/identifiers.md#one-each)
    Cost:       a sort of the rows; for first, last, min and max one for each column

    Numbers of rows and sums have no bounds: clamp(…) them before they are added up or averaged.

    >>> from sfumato.core.identifiers import Identifiers
    >>> from sfumato.core.space import frame
    >>> log = frame({"id": int, "minutes": int}, metric=Identifiers("id"))
    >>> (log >> one_each("rows")).map(2), (log >> one_each("max", "minutes")).map(1)
    (Fraction(2, 1), Fraction(1, 1))
    """
    if summary not in get_args(Summary):
        raise BadArgument("summary", f"one of {', '.join(get_args(Summary))}", summary)
    if (column is None) != (summary == "rows"):
        raise BadArgument("column", "named, but for 'rows' only", column)
    if (by is not None) != (summary in ("first", "last")):
        raise BadArgument("by", "the column whose order counts, with 'first' or 'last' and only there", by)

    def build(space: Space) -> Transformation:
        domain, unit = owned_space(space, "one_each")
        element, run = _summarizer(domain, summary, column, by)

        def made(data: Data) -> Array:
            whose, many = holders(values_of(data, domain, unit.column))
            return run(data, whose, many)

        what = "rows" if column is None else f"{summary} {column}" + ("" if by is None else f" by {by}")
        return Transformation(
            space,
            Space(Vector(element), AddRemove()),
            lambda data, _: made(data),
            one_each_map,
            (f"{what} of each {unit.column}",),
            ("proofs/identifiers.md#one-each",),
        )

    return Partial(f"one_each({summary!r})", build)


Summarizer = Callable[[Data, Places, int], Array]
"""Gives a value for each of so many identifiers, from the data and the number of each row's identifier."""


def _summarizer(domain: Frame, summary: Summary, column: str | None, by: str | None) -> tuple[Atom, Summarizer]:
    if column is None:
        return Integers(), lambda data, whose, many: np.bincount(whose, minlength=many).astype(np.int64)
    element = domain[column]
    if summary == "sum":
        return _totals(element, column, domain)
    order = column if by is None else by
    domain[order]  # which refuses a column that is not there
    latest = summary in ("last", "max")

    def pick(data: Data, whose: Places, many: int) -> Array:
        chosen = first_in(by_values(data, domain, order, latest=latest), whose, 1)
        return values_of(picked(data, domain, chosen), domain, column)

    return element, pick


def _totals(element: Atom, column: str, domain: Frame) -> tuple[Atom, Summarizer]:
    """Adds up whole numbers: those of the column, or of the steps of a grid within the bounds of floats."""
    if isinstance(element, Integers):
        return replace(element, between=None), lambda data, whose, many: collect(
            totals(values_of(data, domain, column), whose, many), Integers()
        )
    if not isinstance(element, Floats) or element.between is None or element.nan:
        must = "whole numbers, or floats without NaN and with declared bounds: Floats((lower, upper))"
        raise BadArgument(f"the column {column!r} to add up", must, str(element))
    grid = row_grid(element, "one_each")

    def add(data: Data, whose: Places, many: int) -> Array:
        above = totals(grid.offsets(values_of(data, domain, column)), whose, many)
        rows = np.bincount(whose, minlength=many).tolist()
        return collect([total + count * grid.low for total, count in zip(above, rows, strict=True)], Integers())

    return Integers(None, grid.step), add


@guarantee(
    claim="the sum of the whole numbers of each identifier, as unbounded integers",
    proof="proofs/identifiers.md#one-each",
    reviewed="9546db12ff6f",
)
def totals(values: Array, whose: Places, many: int) -> list[int]:
    """Adds up whole numbers for each identifier, without overflow and in any order."""
    ends = np.cumsum(np.bincount(whose, minlength=many))[:-1]
    largest = max(abs(int(values.max())), abs(int(values.min()))) if len(values) else 0
    ordered = (values if largest * len(values) < 2**63 else values.astype(object))[np.argsort(whose, kind="stable")]
    return np.add.reduceat(ordered, np.r_[0, ends]).tolist() if many else []

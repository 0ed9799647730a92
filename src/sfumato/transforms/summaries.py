"""Summaries of one person's rows: what `one_each` gives for each identifier, and rows by a function of your own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from sfumato.core.domains import Array, Atom, Data, Floats, Frame, Integers
from sfumato.core.metrics import AddRemove
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Kind, Space, atom
from sfumato.core.steps import to_steps
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import integer, nearest_whole
from sfumato.guarantee import guarantee
from sfumato.release.claim import Claim, required
from sfumato.transforms.grids import row_grid
from sfumato.transforms.owners import Places, by_values, first_in, holders, owned_space, ranks
from sfumato.transforms.rows import select_rows, values_of
from sfumato.transforms.rowwise import collect, each_row
from sfumato.transforms.truncate import sampled_rows, truncate_map

MEAN_FINENESS = 20
"""Means of whole numbers are rounded to 2⁻²⁰ of their step."""

Summarizer: TypeAlias = Callable[[Data, Places, int, Entropy], Array]
"""One value for each of so many identifiers, from the data and the number of each row's identifier."""

Own: TypeAlias = Callable[[list[Mapping[str, Data]]], list[Mapping[str, Data]]]
"""From the rows of one person, in an order that depends on them alone, to the rows that stand for them."""


def totals_of(element: Atom, column: str, domain: Frame) -> tuple[Atom, Summarizer]:
    """Adds up whole numbers: those of the column, or of the steps of a grid within the bounds of floats."""
    if isinstance(element, Integers):
        return replace(element, between=None), lambda data, whose, many, _: collect(
            totals(values_of(data, domain, column), whose, many), Integers()
        )
    step, low, offsets = _float_grid(element, column)

    def add(data: Data, whose: Places, many: int, _: Entropy) -> Array:
        above = totals(offsets(values_of(data, domain, column)), whose, many)
        rows = np.bincount(whose, minlength=many).tolist()
        return collect([total + count * low for total, count in zip(above, rows, strict=True)], Integers())

    return Integers(None, step), add


def means_of(element: Atom, column: str, domain: Frame) -> tuple[Atom, Summarizer]:
    """Averages, rounded to a fine grid: halves up, and never out of the bounds of the column."""
    fine = 1 << MEAN_FINENESS if isinstance(element, Integers) else 1
    step, low, offsets = (
        (element.step, 0, np.asarray) if isinstance(element, Integers) else _float_grid(element, column)
    )

    def average(data: Data, whose: Places, many: int, _: Entropy) -> Array:
        above = totals(offsets(values_of(data, domain, column)), whose, many)
        rows = np.bincount(whose, minlength=many).tolist()
        means = [nearest_whole(Fraction(total * fine, n)) + low for total, n in zip(above, rows, strict=True)]
        return collect(means, Integers())

    bounds = element.between if isinstance(element, Integers | Floats) else None
    return Integers(bounds, step / fine), average


def _float_grid(element: Atom, column: str) -> tuple[Fraction, int, Callable[[Array], Array]]:
    if not isinstance(element, Floats) or element.between is None or element.nan:
        must = "whole numbers, or floats without NaN and with declared bounds: Floats((lower, upper))"
        raise BadArgument(f"the column {column!r} to add up", must, str(element))
    grid = row_grid(element, "one_each")
    return grid.step, grid.low, grid.offsets


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


def quantiles_of(domain: Frame, column: str, alpha: Fraction) -> Summarizer:
    """Takes, of n values in order, the one at place max(1, ⌈alpha n⌉)."""

    def pick(data: Data, whose: Places, many: int, _: Entropy) -> Array:
        order = by_values(data, domain, column, latest=False)
        order = order[np.argsort(whose[order], kind="stable")]
        rows = np.bincount(whose, minlength=many)
        places = np.array([max(1, -(-alpha.numerator * n // alpha.denominator)) for n in rows.tolist()], dtype=np.int64)
        chosen = order[np.cumsum(rows) - rows + places - 1] if many else order
        return values_of(select_rows(data, domain, chosen), domain, column)

    return pick


@guarantee(
    claim="of each identifier the most frequent value, the first of those that tie in a fixed order",
    proof="proofs/identifiers.md#one-each",
    reviewed="f1a6879dd3e6",
)
def most_frequent(whose: Places, rank: Places, order: Places) -> Places:
    """The places of rows with the most frequent value of each identifier; ``rank`` tells values apart."""
    order = order[np.argsort(whose[order], kind="stable")]
    pairs = np.stack([whose[order], rank[order]])
    begins = np.flatnonzero(np.r_[True, (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)]) if len(order) else order
    counts = np.diff(np.r_[begins, len(order)])
    best = np.lexsort((begins, -counts, pairs[0][begins]))
    firsts = np.unique(pairs[0][begins][best], return_index=True)[1]
    return order[begins[best[firsts]]]


def modes_of(domain: Frame, column: str) -> Summarizer:
    """Takes the most frequent value of each identifier; of those that tie the least."""

    def pick(data: Data, whose: Places, many: int, _: Entropy) -> Array:
        rank = ranks(values_of(data, domain, column), domain[column])
        chosen = most_frequent(whose, rank, by_values(data, domain, column, latest=False))
        return values_of(select_rows(data, domain, chosen), domain, column)

    return pick


def drawn_from(domain: Frame, column: str) -> Summarizer:
    """Draws one value of each identifier, each as likely as it is frequent."""

    def draw(data: Data, whose: Places, many: int, entropy: Entropy) -> Array:
        return values_of(select_rows(data, domain, sampled_rows(whose, 1, entropy)), domain, column)

    return draw


def chosen_by(domain: Frame, column: str, by: str, *, latest: bool) -> Summarizer:
    """Takes the value of the first or last row of each identifier in the order of a column."""

    def pick(data: Data, whose: Places, many: int, _: Entropy) -> Array:
        chosen = first_in(by_values(data, domain, by, latest=latest), whose, 1)
        return values_of(select_rows(data, domain, chosen), domain, column)

    return pick


@constructor
def summarize(
    function: Own, columns: Mapping[str, Kind], *, rows: int = 1, claim: Claim | None = None
) -> Partial[Transformation]:
    """Replaces the rows of each identifier by what a function of your own makes of them: at most so many rows.

    Takes:      a frame under the distance in identifiers; the function gets the rows of one of them, as mappings from
                names to values, in an order that depends on them alone, and gives rows of the stated columns
    Gives:      these rows, in any number, under the add/remove distance. More rows than stated are cut off, rows not
                of the stated kinds are left out, and a function that fails gives none
    Guarantee:  d_out = rows d_in, if the claim holds: the function depends on its rows and on nothing else, and keeps
                no state  (proofs/identifiers.md#summaries)
    Cost:       a sort of the rows for each column, and a call for each identifier

    >>> from sfumato.core.identifiers import Identifiers
    >>> from sfumato.core.space import frame
    >>> from sfumato.release.claim import claim
    >>> log = frame({"id": int, "site": str}, metric=Identifiers("id"))
    >>> widest = summarize(lambda rows: rows[:1], {"site": str}, claim=claim("a slice of its argument"))
    >>> (log >> widest).map(2)
    Fraction(2, 1)
    """
    vouched = required(claim, "that a function of your own looks at one identifier at a time")
    if not callable(function):
        raise BadArgument("the function", "callable", function)
    most = integer(rows, "rows", least=1)
    target = Frame(tuple((name, atom(kind)) for name, kind in columns.items()))

    def build(space: Space) -> Transformation:
        domain, unit = owned_space(space, "summarize")

        def run(data: Data) -> Data:
            made = [
                row for own in _persons(data, domain, unit.column) for row in summary_of(function, own, target, most)
            ]
            return {name: collect([row[name] for row in made], element) for name, element in target.columns}

        return Transformation(
            space,
            Space(target, AddRemove()),
            lambda data, _: run(data),
            lambda d_in: truncate_map(d_in, rows=most),
            (f"a function of the rows of each {unit.column}, at most {most} rows",),
            ("proofs/identifiers.md#summaries",),
            (vouched,),
        )

    return Partial(f"summarize(…, rows={rows})", build)


def _persons(data: Data, domain: Frame, column: str) -> Iterator[list[Mapping[str, Data]]]:
    whose, many = holders(values_of(data, domain, column))
    order = by_values(data, domain, column, latest=False)
    order = order[np.argsort(whose[order], kind="stable")]
    counts = np.bincount(whose, minlength=many)
    ends = np.cumsum(counts)
    for begin, end in zip((ends - counts).tolist(), ends.tolist(), strict=True):
        yield each_row(select_rows(data, domain, order[begin:end]), domain)


@guarantee(
    claim="at most so many rows of the stated kinds, whatever the function does; they depend on one identifier's rows",
    proof="proofs/identifiers.md#summaries",
    reviewed="56f0d8182faf",
)
def summary_of(function: Own, own: list[Mapping[str, Data]], target: Frame, rows: int) -> list[dict[str, Data]]:
    """The first so many rows that a function makes, without those that are none."""
    # Whether the function fails depends on private rows, so failing must look like any other outcome.
    try:
        made = list(function(own))[:rows]
    except (Exception, SystemExit):
        return []
    return [row for row in (_read(row, target) for row in made) if row is not None]


def _read(row: object, target: Frame) -> dict[str, Data] | None:
    try:
        values = {name: to_steps(element, row[name]) for name, element in target.columns}  # type: ignore[index]
        fits = all(element.member(values[name]) for name, element in target.columns)
    except Exception:
        return None
    return values if fits else None

"""Buys bounds that nobody knows: how much of each unit to keep, and where the values of a column lie.

Everything is asked through a session, one question for each bound, and charged like any other: noisy counts of units in
bands, each unit in one. What is made of the answers costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias, final

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument, QueryRefused
from sfumato.exact import Number, integer
from sfumato.query.build.relation import owner_of
from sfumato.query.frame import Expr, Frame, col, count_rows, when
from sfumato.query.nodes.catalog import column_named, names_of
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.keysets import KeySet
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Scan
from sfumato.release.answer import Answer
from sfumato.release.record import Release
from sfumato.stats.truncation import covering, read_share

FINEST, WIDEST = -20, 62
"""The bands next to 0 end at ±2⁻²⁰ for floats and ±1 for whole numbers; what is beyond ±2⁶² has no bounds."""

SURELY = Fraction(1, 10**6)
"""The chance, at most, that a band which nobody is in is taken for one that somebody is in."""

Edge: TypeAlias = int | Fraction


@final
@dataclass(frozen=True)
class ContributionBounds:
    """How much of each unit to keep, so that it is all of it for about the share of units asked for.

    Give it to a question: ``session.sql(…, **bought)``.
    """

    max_groups: int
    max_rows_per_group: int
    releases: tuple[Release, ...] = field(repr=False)

    def keys(self) -> tuple[str, ...]:
        """The names of the settings, so that ``**bought`` gives them."""
        return "max_groups", "max_rows_per_group"

    def __getitem__(self, name: str) -> int:
        return {"max_groups": self.max_groups, "max_rows_per_group": self.max_rows_per_group}[name]

    def __str__(self) -> str:
        return ", ".join(f"{name}={self[name]}" for name in self.keys())


@final
@dataclass(frozen=True)
class ValueBounds:
    """Public bounds on the values of a column, and the release that they are from."""

    lower: Edge
    upper: Edge
    release: Release = field(repr=False)

    @property
    def between(self) -> tuple[str, str, str]:
        """Both bounds as exact decimals, and the entry of the ledger that they are from: what a codebook states."""
        paid = self.release.receipt
        return decimal(self.lower), decimal(self.upper), "" if paid is None else f"entry {paid.entry} of {paid.account}"


def buy_contributions(
    table: Frame,
    *,
    by: str | Sequence[str] = (),
    upto: int,
    loss: Loss,
    share: Number = 0.95,
) -> ContributionBounds:
    """Finds how many groups (by columns) and how many rows in each cover a share of the units.

    ``upto`` is a public bound on both numbers: what lies beyond counts as that many.
    """
    covered, most = read_share(share), integer(upto, "upto", least=1)
    if _by_rows(table):
        raise QueryRefused(
            "rows are the units here, and none of them are cut: questions take no max_groups= and max_rows_per_group=, "
            "so there is nothing to buy. How many rows a unit has at most is stated in the codebook (contributions: …)."
        )
    columns = names_of(by)
    each = table.per_unit(by=columns, **{"rows of a unit": count_rows()})
    units = each.per_unit(groups=count_rows(), rows=col("rows of a unit").max())
    asked = ("groups", "rows") if columns else ("rows",)
    part, ends = loss.scaled(Fraction(1, len(asked))), bands(most)
    releases = tuple(_counted(units, _band(col(name), ends), ends, part) for name in asked)
    most_of = {name: _first(release, covered, most) for name, release in zip(asked, releases, strict=True)}
    return ContributionBounds(most_of.get("groups", 1), most_of["rows"], releases)


def bands(upto: int) -> list[int]:
    """The upper ends of bands of how much a unit has: 1, 2, 3, 5, 10, 20, 30, 50, 100, … and the last.

    >>> bands(60)
    [1, 2, 3, 5, 10, 20, 30, 50, 60]
    """
    steps = (first * 10**power for power in range(len(str(upto)) + 1) for first in (1, 2, 3, 5))
    return [*(end for end in steps if end < upto), upto]


def _band(number: Expr, ends: Sequence[int]) -> Expr:
    band = when(number <= ends[0]).then(ends[0])
    for end in ends[1:-1]:
        band = band.when(number <= end).then(end)
    return band.otherwise(ends[-1])


def _counted(units: Frame, band: Expr, ends: Sequence[int], loss: Loss) -> Release:
    asked = units.group_by(band=band).agg(units=count_rows())
    return asked.release(loss=loss, keys=KeySet.of(band=ends))


def _first(release: Release, share: Fraction, upto: int) -> int:
    """The first band up to which the noisy counts hold the share of all of them, within the public bound."""
    return min(upto, covering(release.value["band"].values, release.value["units"].values, share=share))


def buy_bounds(table: Frame, columns: Sequence[str] = (), *, loss: Loss) -> dict[str, ValueBounds]:
    """Finds bounds on the values of columns, an equal part of the loss for each; all columns of numbers, where none is
    named. Columns for which no bounds were found are left out: no band had surely anybody in it, or one beyond all had.
    """
    named = [column_named(name, table.relation.fields, "this table") for name in columns] or list(numeric(table))
    if not named:
        raise BadArgument("columns", "some of numbers: there are none to buy bounds for", None)
    part, bought = loss.scaled(Fraction(1, len(named))), dict[str, ValueBounds]()
    once = None if _by_rows(table) else 1  # a row is in one band anyhow
    for column in named:
        if column.kind not in (Kind.INT, Kind.FLOAT):
            raise BadArgument("a column to buy bounds for", "one of numbers", column.name)
        ends = edges(whole=column.kind is Kind.INT)
        number = col(column.name)
        asked = table.filter(~number.is_null()).group_by(band=_place(number, ends)).agg(people=count_rows())
        sure = 1 - SURELY / (len(ends) + 1)
        release = asked.release(loss=part, max_groups=once, max_rows_per_group=once, confidence=sure)
        bounds = bounds_in(release.value, ends)
        if bounds is not None:
            bought[column.name] = ValueBounds(*bounds, release)
    return bought


def _by_rows(table: Frame) -> bool:
    """Tells whether each row is a unit by itself."""
    owner = owner_of(table.relation)
    return owner is not None and not owner.id


def numeric(table: Frame) -> list[Column]:
    """The columns of numbers of a table, without the one that says to whom a row belongs."""
    relation = table.relation
    id = relation.owner.id if isinstance(relation, Scan) and relation.owner is not None else ""
    return [one for one in relation.fields if one.kind in (Kind.INT, Kind.FLOAT) and one.name != id]


def edges(*, whole: bool) -> list[Edge]:
    """The edges of the bands of values, from the lowest to the highest: 0, and powers of two of both signs.

    >>> edges(whole=True)[60:67]
    [-4, -2, -1, 0, 1, 2, 4]
    """
    powers = [Fraction(2) ** power for power in range(0 if whole else FINEST, WIDEST + 1)]
    ends = [*(-power for power in reversed(powers)), Fraction(0), *powers]
    return [int(edge) for edge in ends] if whole else list(ends)


def _place(number: Expr, ends: Sequence[Edge]) -> Expr:
    """Numbers the bands: 0 is below all edges. Powers of two are floats, so that no edge is rounded."""
    exact = [edge if isinstance(edge, int) else float(edge) for edge in ends]
    band = when(number < exact[0]).then(0)
    for place, edge in enumerate(exact[1:], start=1):
        band = band.when(number < edge).then(place)
    return band.otherwise(len(exact))


def bounds_in(answer: Answer, ends: Sequence[Edge]) -> tuple[Edge, Edge] | None:
    """The outer edges of the lowest and highest band surely not empty; None if there is none, or one is open."""
    people = answer["people"]
    low = () if people.low is None else people.low.tolist()
    sure = [
        int(band)
        for band, least in zip(answer["band"].values.tolist(), low, strict=True)
        if band is not None and least > 0
    ]
    if not sure or min(sure) == 0 or max(sure) == len(ends):
        return None
    return ends[min(sure) - 1], ends[max(sure)]


def decimal(edge: Edge) -> str:
    """Writes an edge exactly: halves of halves are decimals.

    >>> decimal(Fraction(-3, 4)), decimal(8)
    ('-0.75', '8')
    """
    if edge == int(edge):
        return str(int(edge))
    places = Fraction(edge).denominator.bit_length() - 1
    digits = f"{abs(int(edge * 10**places)):0{places + 1}d}"
    return f"{'-' * (edge < 0)}{digits[:-places]}.{digits[-places:]}"

"""Buys bounds on contribution: how many groups, and rows in each, most units have, found with a part of the loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.accounting.measures import Loss
from sfumato.accounting.shares import share_of
from sfumato.exact import Number, integer
from sfumato.query.catalog import names_of
from sfumato.query.frame import Expr, Frame, col, count_rows, when
from sfumato.query.keysets import KeySet
from sfumato.release.record import Release
from sfumato.stats.truncation import covering, read_share


@final
@dataclass(frozen=True)
class Bought:
    """Is how much of each unit to keep, so that it is all of it for about the share of units asked for.

    Give it to a question: ``session.sql(…, groups=bought.groups, rows_each=bought.rows_each)``.
    """

    groups: int
    rows_each: int
    releases: tuple[Release, ...]

    def __str__(self) -> str:
        return f"groups={self.groups}, rows_each={self.rows_each}"


def contributions(
    table: Frame,
    *,
    by: str | Sequence[str] = (),
    upto: int,
    loss: Loss,
    share: Number = 0.95,
) -> Bought:
    """Finds how many groups (by columns) and how many rows in each cover a share of the units.

    Each unit is counted once, in a band of how much it has; the bands' noisy counts are released, and the rest is
    post-processing. ``upto`` is a public bound on both numbers: what lies beyond counts as that many.
    """
    covered, most = read_share(share), integer(upto, "upto", least=1)
    columns = names_of(by)
    each = table.per_unit(by=columns, **{"rows of a unit": count_rows()})
    units = each.per_unit(groups=count_rows(), rows=col("rows of a unit").max())
    asked = ("groups", "rows") if columns else ("rows",)
    part = share_of(loss, Fraction(1, len(asked)))
    releases = tuple(_bands(units, name, bands(most), part) for name in asked)
    found = {name: _first(release, covered, most) for name, release in zip(asked, releases, strict=True)}
    return Bought(found.get("groups", 1), found["rows"], releases)


def bands(upto: int) -> list[int]:
    """Gives the upper ends of bands of how much a unit has: 1, 2, 3, 5, 10, 20, 30, 50, 100, … and the last.

    >>> bands(60)
    [1, 2, 3, 5, 10, 20, 30, 50, 60]
    """
    steps = (first * 10**power for power in range(len(str(upto)) + 1) for first in (1, 2, 3, 5))
    return [*(end for end in steps if end < upto), upto]


def _bands(units: Frame, name: str, ends: Sequence[int], loss: Loss) -> Release:
    band = _band(col(name), ends)
    asked = units.group_by(band=band).agg(units=count_rows())
    return asked.release(loss=loss, keys=KeySet.of(band=ends))


def _band(number: Expr, ends: Sequence[int]) -> Expr:
    made = when(number <= ends[0]).then(ends[0])
    for end in ends[1:-1]:
        made = made.when(number <= end).then(end)
    return made.otherwise(ends[-1])


def _first(release: Release, share: Fraction, upto: int) -> int:
    """Gives the first band up to which the noisy counts hold the share of all of them, within the public bound."""
    return min(upto, covering(release.value["band"].values, release.value["units"].values, share=share))

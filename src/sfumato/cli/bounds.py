"""Bounds of columns that nobody knows bounds for, bought: noisy counts of people in bands of doubling width.

Everything is one question a column through a session, charged like any other; what is made of its answer costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias

from sfumato.codebook.draft import kind_of
from sfumato.release.answer import Answer
from sfumato.release.record import Release
from sfumato.session.session import Session

FINEST, WIDEST = -20, 62
"""The bands next to 0 end at ±2⁻²⁰ for floats and ±1 for whole numbers; what is beyond ±2⁶² has no bounds."""

SURELY = Fraction(1, 10**6)
"""The chance, at most, that a band which nobody is in is taken for one that somebody is in."""

Edge: TypeAlias = int | Fraction
Bought: TypeAlias = Mapping[tuple[str, str], tuple[object, object, str]]
"""Lower and upper bound, and the release that they are from, by table and column."""


def numeric(schema: Mapping[str, Mapping[str, str]], *, id: str) -> Iterator[tuple[str, str, bool]]:
    """Gives the columns of numbers that bounds can be bought for, and whether they are of whole numbers."""
    for table, columns in schema.items():
        for column, engine in columns.items():
            kind = kind_of(engine)
            if column != id and kind in ("int", "float") and id in columns:
                yield table, column, kind == "int"


def edges(*, whole: bool) -> list[Edge]:
    """Gives the edges of the bands, from the lowest to the highest.

    >>> edges(whole=True)[60:67]
    [-4, -2, -1, 0, 1, 2, 4]
    """
    powers = [Fraction(2) ** power for power in range(0 if whole else FINEST, WIDEST + 1)]
    found = [*(-power for power in reversed(powers)), Fraction(0), *powers]
    return [int(edge) for edge in found] if whole else list(found)


def question(table: str, column: str, *, whole: bool) -> str:
    """Writes the question of a column: how many people have a number in each band, each of them counted in one."""
    name, ends = _quoted(column), edges(whole=whole)
    bands = " ".join(f"WHEN {name} < {_decimal(edge)} THEN {place}" for place, edge in enumerate(ends))
    return (
        f"SELECT CASE {bands} ELSE {len(ends)} END AS band, COUNT(*) AS people FROM {_quoted(table)} "
        f"WHERE {name} IS NOT NULL GROUP BY band"
    )


def bounds_in(answer: Answer, *, whole: bool) -> tuple[Edge, Edge] | None:
    """Gives the outer edges of the lowest and the highest band in which there is surely somebody; None if none is."""
    ends, people = edges(whole=whole), answer["people"]
    low = () if people.low is None else people.low.tolist()
    bands = answer["band"].values.tolist()
    sure = [int(band) for band, least in zip(bands, low, strict=True) if band is not None and least > 0]
    if not sure or min(sure) == 0 or max(sure) == len(ends):
        return None
    return ends[min(sure) - 1], ends[max(sure)]


def bought(session: Session, columns: list[tuple[str, str, bool]], losses: list[object]) -> Bought:
    """Buys bounds, a share of the loss for each column; columns for which none were found are left out."""
    found: dict[tuple[str, str], tuple[object, object, str]] = {}
    for (table, column, whole), loss in zip(columns, losses, strict=True):
        confidence = 1 - SURELY / (len(edges(whole=whole)) + 1)
        release: Release = session.sql(
            question(table, column, whole=whole), loss=loss, groups=1, rows_each=1, confidence=confidence
        )
        bounds = bounds_in(release.value, whole=whole)
        if bounds is not None and release.receipt is not None:
            low, high = map(_decimal, bounds)
            found[table, column] = (low, high, f"entry {release.receipt.entry} of {session.account.name}")
    return found


def _decimal(edge: Edge) -> str:
    """Writes an edge exactly: halves of halves are decimals."""
    if edge == int(edge):
        return str(int(edge))
    places = Fraction(edge).denominator.bit_length() - 1
    digits = f"{abs(int(edge * 10**places)):0{places + 1}d}"
    return f"{'-' * (edge < 0)}{digits[:-places]}.{digits[-places:]}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

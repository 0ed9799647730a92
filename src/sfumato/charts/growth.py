"""Charts of many uses: how a loss grows with them, and what noise each needs under one total."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.plans.account import CostReport
from sfumato.accounting.plans.comparison import AccountingComparison, Share
from sfumato.charts.canvas import (
    HEIGHT,
    WIDTH,
    Chart,
    across,
    altair,
    finished,
    series,
    table,
    titled,
    upward,
    upward_log,
)
from sfumato.charts.curves import Row
from sfumato.charts.readings import epsilon_of
from sfumato.errors import BadArgument
from sfumato.exact import Number, Root, down, integer, positive, up


def growth(
    ways: Mapping[str, Mapping[int, Number | Bracket | Pure | Approx | CostReport]],
    *,
    log: bool = False,
    title: str = "What many uses cost together",
    subtitle: str = "The same uses, added up in several ways; lower is better",
) -> Chart:
    """Draws ε against the number of uses, for several ways of adding losses up; brackets become bands.

    An ε is a number, a bracket, a loss, or what `sf.account` found; dots stand on the numbers of uses that are given.
    """
    alt = altair()
    if not isinstance(ways, Mapping) or not all(isinstance(costs, Mapping) for costs in ways.values()):
        raise BadArgument("ways", "for each way a mapping such as {1: 0.1, 10: 0.6}, from uses to ε", ways)
    rows = [row for way, costs in ways.items() for row in _rows(way, costs)]
    if not rows:
        raise BadArgument("ways", "for each way, a finite ε for some numbers of uses", list(ways))
    if log and any(row["x"] == 0 or row["low"] <= 0 for row in rows):
        raise BadArgument("ways", "greater than 0 on a logarithmic chart", list(ways))
    heights = [row[bound] for row in rows for bound in ("y", "low")]
    y = upward_log("ε in all", heights) if log else upward("ε in all", top=max(heights) or 1.0)
    x, encodings = _uses(rows, log=log), series(list(ways), dashed=True)
    source = alt.Chart(table("growth", rows))
    band = source.mark_area(opacity=0.25).encode(x=x, y=y, y2="low:Q", color=encodings["color"])
    lines = source.mark_line(strokeWidth=2.5).encode(x=x, y=y, **encodings)
    dots = source.mark_circle(size=45, opacity=1).encode(x=x, y=y, color=encodings["color"])
    # An empty stack of areas would still be drawn from the axis up.
    layers = [band, lines, dots] if any(row["low"] < row["y"] for row in rows) else [lines, dots]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return finished(titled(chart, title, subtitle=subtitle))


def _rows(way: str, costs: Mapping[int, object]) -> list[Row]:
    brackets = {integer(count, "number of uses", least=0): epsilon_of(epsilon) for count, epsilon in costs.items()}
    return [
        {"series": way, "x": count, "y": up(bracket.upper), "low": down(bracket.lower)}
        for count, bracket in sorted(brackets.items())
        if bracket.upper < math.inf
    ]


def _uses(rows: Sequence[Row], *, log: bool) -> Any:
    if log:
        return across("number of uses", type="log").axis(values=_counts(rows), labelOverlap=True, format="d")
    most = max(row["x"] for row in rows)
    return across("number of uses", domain=[0, most or 1]).axis(tickMinStep=1, format="d", labelOverlap=True)


def _counts(rows: Iterable[Row]) -> list[int]:
    return sorted({row["x"] for row in rows})


def scales(
    rows: AccountingComparison | Iterable[Share | tuple[int, str, Number | Root]],
    *,
    title: str = "The noise that each of k queries needs",
) -> Chart:
    """Draws the scale that each of k queries needs under one total: a comparison, or rows (k, way, scale)."""
    alt = altair()
    points = _scale_rows(rows.rows if isinstance(rows, AccountingComparison) else rows)
    if not points or any(not 0 < row["y"] < math.inf for row in points):
        raise BadArgument("rows", "rows (number of queries, way, scale) with positive finite scales", points[:3])
    names = list(dict.fromkeys(row["series"] for row in points))
    x = across("number of queries k", type="log").axis(values=_counts(points), labelOverlap=True, format="d")
    y = upward_log("noise scale σ", [row["y"] for row in points])
    source = alt.Chart(table("scales", points))
    encodings = series(names, dashed=True)
    lines = source.mark_line(strokeWidth=2.5).encode(x=x, y=y, **encodings)
    dots = source.mark_circle(size=45, opacity=1).encode(x=x, y=y, color=encodings["color"])
    chart = alt.layer(lines, dots).properties(width=WIDTH, height=HEIGHT)
    return finished(titled(chart, title, subtitle="Same total (ε, δ); lower is better"))


def _scale_rows(rows: object) -> list[Row]:
    must = "what sf.textbook.compare_accounting gives, or rows (number of queries, way, scale)"
    given = list(rows) if isinstance(rows, Iterable) and not isinstance(rows, str | bytes) else None
    if given is None:
        raise BadArgument("rows", must, rows)
    plain = [(row.count, row.way.value, row.scale) if isinstance(row, Share) else row for row in given]
    if any(not isinstance(row, Sequence) or len(row) != 3 for row in plain):
        raise BadArgument("rows", must, plain[:3])
    return [
        {"series": str(way), "x": integer(count, "number of queries", least=1), "y": _height(scale)}
        for count, way, scale in plain
    ]


def _height(scale: Number | Root) -> float:
    return up(scale if isinstance(scale, Root) else positive(scale, "each scale"))

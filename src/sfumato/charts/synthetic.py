"""The charts of synthetic data: errors of pairs of columns, values of each column beside noisy counts, error against ε.

They take numbers and not data, and say below the title where the numbers are from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from sfumato.charts.canvas import (
    BLUE,
    FAINT,
    HEIGHT,
    INK,
    ORANGE,
    PAPER,
    WIDTH,
    Chart,
    across,
    altair,
    finished,
    panel,
    series,
    table,
    titled,
    upward,
    upward_log,
)
from sfumato.charts.curves import Row
from sfumato.charts.one_release import wrapped
from sfumato.errors import BadArgument
from sfumato.release.render.words import clean

PER_ROW, SMALL, GAP = 3, 150, 34
"""How many small pictures stand in a row, how high each is, and the space between."""

MOST_COLUMNS, MOST_VALUES = 12, 24
"""So many columns, and values of one, are drawn; the caption says what is left out."""

READABLE = 34.0
"""Cells of a heat map from this many pixels on have their number written in them."""


@final
@dataclass(frozen=True)
class Shares:
    """The values of one column: their shares in synthetic rows and, where known, beside them with half of an error bar.

    ``reach`` is 0 where the other shares are exact, as those of a public table.
    """

    name: str
    values: tuple[str, ...]
    synthetic: tuple[float, ...]
    known: tuple[float, ...] | None = None
    reach: float = 0.0


def pair_errors(
    cells: Sequence[tuple[str, str, float | None]],
    *,
    said: Sequence[str] = (),
    measured: str = "total variation",
    title: str = "Errors of pairs of columns",
) -> Chart:
    """Draws the error of each pair of columns as a heat map; a pair without a number (None) stays grey."""
    if not cells:
        raise BadArgument("cells", "at least one pair of columns", 0)
    alt = altair()
    names = list(dict.fromkeys(clean(name, most=30) for pair in cells for name in pair[:2]))
    both = [*cells, *((right, left, value) for left, right, value in cells if left != right)]
    rows: list[Row] = [{"row": clean(a, most=30), "column": clean(b, most=30), "value": value} for a, b, value in both]
    known = [row for row in rows if row["value"] is not None]
    side = max(9.0, min(56.0, WIDTH / len(names)))
    look = {"domain": False, "ticks": False, "labelColor": INK, "labelLimit": 140, "labelOverlap": side < 11}
    level = 0 if side > 7 * max(map(len, names)) else -45 if side > 20 else -90
    x = alt.X("column:N", sort=names, title=None, axis=alt.Axis(**look, labelAngle=level))
    y = alt.Y("row:N", sort=names, title=None, axis=alt.Axis(**look))
    top = max([row["value"] for row in known], default=1.0) or 1.0
    scale = alt.Scale(domain=[0, top], range=[PAPER, ORANGE], interpolate="rgb")
    key = alt.Legend(title=measured, gradientLength=160, format=".2~g", tickCount=4)
    boxes = alt.Chart(table("pairs", known)).mark_rect(stroke=FAINT)
    empty = alt.Chart(table("unknown", [row for row in rows if row["value"] is None])).mark_rect(
        stroke=PAPER, color=FAINT
    )
    layers = [empty.encode(x=x, y=y), boxes.encode(x=x, y=y, color=alt.Color("value:Q", scale=scale, legend=key))]
    if side >= READABLE:
        ink = alt.condition(f"datum.value > {0.65 * top}", alt.value(PAPER), alt.value(INK))
        words = alt.Chart(table("pairs", known)).mark_text(fontSize=10.5)
        layers.append(words.encode(x=x, y=y, text=alt.Text("value:Q", format=".2~g"), color=ink))
    chart = alt.layer(*layers).properties(width=side * len(names), height=side * len(names))
    return finished(titled(chart, clean(title), subtitle=wrapped([clean(each) for each in said])))


def column_shares(
    columns: Sequence[Shares],
    *,
    other: str = "noisy counts",
    said: Sequence[str] = (),
    title: str = "Values of each column",
) -> Chart:
    """Draws the values of each column in synthetic rows as bars, and what is known of them as dots with error bars."""
    if not columns:
        raise BadArgument("columns", "at least one", 0)
    shown = columns[:MOST_COLUMNS]
    wide = (WIDTH + 160 - GAP * (PER_ROW - 1)) / PER_ROW if len(shown) > 1 else WIDTH
    parts = [
        panel(
            _shares(each, place, other),
            clean(each.name, most=40),
            width=wide,
            height=SMALL if len(shown) > 1 else HEIGHT,
        )
        for place, each in enumerate(shown)
    ]
    figure = altair().concat(*parts, columns=PER_ROW, spacing=GAP) if len(parts) > 1 else parts[0]
    left = len(columns) - len(shown)
    more = [f"{left} more columns are not drawn"] if left else []
    cut = [f"Of a column with more than {MOST_VALUES} values the commonest are drawn"]
    many = cut if any(len(each.values) > MOST_VALUES for each in shown) else []
    words = wrapped([clean(each) for each in (*said, *many, *more)])
    return finished(titled(figure, clean(title), subtitle=words))


def _shares(column: Shares, place: int, other: str) -> Any:
    """One column: bars of synthetic rows, dots of what is known."""
    alt = altair()
    order = list(range(len(column.values)))
    if len(column.values) > MOST_VALUES:
        order = sorted(sorted(order, key=lambda one: -column.synthetic[one])[:MOST_VALUES])
    names = [f"{clean(column.values[one], most=24)}" for one in order]
    if len(set(names)) < len(names):
        names = [f"{name} ({one})" for name, one in zip(names, order, strict=True)]
    bars: list[Row] = [
        {"series": "synthetic rows", "x": name, "y": column.synthetic[one]}
        for name, one in zip(names, order, strict=True)
    ]
    axis = alt.Axis(labelAngle=0 if sum(map(len, names)) < 30 else -45, labelLimit=80, labelOverlap=True)
    x = alt.X("x:N", sort=names, title=None, axis=axis)
    ends = _ends(column)
    words = "share of rows" if place % PER_ROW == 0 else ""
    y = upward(words, ticks=4, domain=ends).axis(format="~%", tickCount=4)
    low = upward(words, field="low", ticks=4, domain=ends).axis(format="~%", tickCount=4)
    looks = series(["synthetic rows", other])
    layers = [alt.Chart(table(f"bars_{place}", bars)).mark_bar(opacity=0.55).encode(x=x, y=y, **looks)]
    if column.known is not None:
        dots: list[Row] = [
            {"series": other, "x": name, "y": column.known[one], "low": column.known[one] - column.reach}
            | {"high": column.known[one] + column.reach}
            for name, one in zip(names, order, strict=True)
        ]
        data = alt.Chart(table(f"dots_{place}", dots))
        if column.reach > 0:
            layers.append(data.mark_rule(strokeWidth=2).encode(x=x, y=low, y2="high:Q", **looks))
        layers.append(data.mark_circle(size=32, opacity=1).encode(x=x, y=y, **looks))
    return alt.layer(*layers)


def _ends(column: Shares) -> list[float]:
    """The ends of the scale of one column: zero, all bars and all error bars, with a little air."""
    known = column.known or (0.0,)
    top = max(*column.synthetic, *(one + column.reach for one in known), 0.0)
    return [min(0.0, *(one - column.reach for one in known)), 1.06 * top or 1.0]


def errors_by_epsilon(
    points: Sequence[tuple[str, float, float]],
    *,
    said: Sequence[str] = (),
    measured: str = "mean total variation",
    title: str = "Error against ε",
) -> Chart:
    """Draws the error of each recipe against ε, both in powers of ten: points (recipe, ε, error)."""
    known = [point for point in points if 0 < point[1] < math.inf and 0 < point[2] < math.inf]
    if not known:
        raise BadArgument("points", "at least one of finite ε and positive error", len(points))
    alt = altair()
    rows: list[Row] = [{"series": clean(name, most=60), "x": epsilon, "y": error} for name, epsilon, error in known]
    names = list(dict.fromkeys(row["series"] for row in rows))
    places = sorted({row["x"] for row in rows})
    x = across("ε", type="log", padding=16).axis(values=places, format="~g", labelOverlap=True)
    y = upward_log(measured, [row["y"] for row in rows])
    looks: dict[str, Any] = series(names, dashed=True) if len(names) > 1 else {"color": alt.value(BLUE)}
    data = alt.Chart(table("errors", rows))
    layers = [
        data.mark_line(strokeWidth=2.4).encode(x=x, y=y, **looks),
        data.mark_circle(size=60, opacity=1).encode(x=x, y=y, color=looks["color"]),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return finished(titled(chart, clean(title), subtitle=wrapped([clean(each) for each in said])))

"""The charts of local privacy: estimates with intervals, and named lines for which protocol wins where.

They take plain numbers, so that whatever was estimated or planned can be drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from sfumato.charts.canvas import (
    BLUE,
    DASHES,
    HEIGHT,
    INK,
    MUTED,
    ORANGE,
    SERIES,
    WIDTH,
    Chart,
    across,
    altair,
    finished,
    table,
    titled,
    upward_log,
)
from sfumato.charts.curves import Row
from sfumato.charts.one_release import wrapped
from sfumato.errors import BadArgument
from sfumato.release.render.words import clean

Points: TypeAlias = Sequence[tuple[float, float]]

MOST_VALUES = 30
"""So many values are drawn one by one, those with the largest estimates; the caption says what is left out."""

LINE_HEIGHT = 15.0
"""How far names at the ends of lines stand apart, in pixels."""

ROOM = 1.12
"""Air above and below the values of a logarithmic axis, as a factor."""


@final
@dataclass(frozen=True)
class Estimated:
    """One value with its estimated share, the ends of its interval, and the true share where that is known."""

    name: str
    share: float
    low: float
    high: float
    truth: float | None = None


def estimated_shares(
    estimates: Sequence[Estimated],
    *,
    said: Sequence[str] = (),
    measured: str = "share of people",
    title: str = "Estimated shares",
) -> Chart:
    """Draws a dot on its interval for each value, in the order given; hollow marks are the truth, where it is known."""
    if not estimates:
        raise BadArgument("estimates", "at least one", 0)
    alt = altair()
    kept = set(sorted(range(len(estimates)), key=lambda place: -estimates[place].share)[:MOST_VALUES])
    rows = [_estimate_row(each) for place, each in enumerate(estimates) if place in kept]
    look = alt.Axis(domain=False, ticks=False, labelColor=INK, labelPadding=10, labelLimit=240, labelOverlap=False)
    names = alt.Y("name:N", sort=None, title=None, axis=look)
    x = across(measured, field="low", padding=10).axis(format="~%")
    bars = alt.Chart(table("intervals", rows)).mark_rule(strokeWidth=5, opacity=0.35, color=BLUE)
    dots = alt.Chart(table("estimates", rows)).mark_circle(size=60, opacity=1, color=BLUE)
    layers = [
        alt.Chart(table("zero", [{"x": 0.0}])).mark_rule(color=MUTED, strokeDash=[3, 3]).encode(x="x:Q"),
        bars.encode(x=x, x2="high:Q", y=names),
        dots.encode(x=alt.X("share:Q"), y=names),
    ]
    known = [row for row in rows if row["truth"] is not None]
    if known:
        marks = alt.Chart(table("truth", known)).mark_point(shape="diamond", size=70, filled=False, strokeWidth=1.8)
        layers.append(marks.encode(x=alt.X("truth:Q"), y=names, color=alt.value(ORANGE)))
    left = len(estimates) - len(rows)
    more = ["Diamonds are the truth"] * bool(known) + [f"{left:,} smaller estimates are not drawn"] * bool(left)
    chart = alt.layer(*layers).properties(width=WIDTH, height=max(60, 24 * len(rows)))
    return finished(titled(chart, clean(title), subtitle=wrapped([clean(words) for words in (*said, *more)])))


def _estimate_row(each: Estimated) -> Row:
    name = clean(each.name, most=40)
    return {"name": name, "share": each.share, "low": each.low, "high": each.high, "truth": each.truth}


def estimates_by_epsilon(
    points: Sequence[tuple[float, float, float, float]],
    *,
    truth: float | None = None,
    said: Sequence[str] = (),
    measured: str = "share of people",
    title: str = "More loss, less doubt",
) -> Chart:
    """Draws one estimate with its interval for each ε: (ε, share, lower end, upper end), and the truth as a line."""
    if not points or any(epsilon <= 0 for epsilon, *_ in points):
        raise BadArgument("points", "at least one (ε, share, low, high), with ε greater than 0", list(points)[:3])
    alt = altair()
    rows = [{"x": epsilon, "y": share, "low": low, "high": high} for epsilon, share, low, high in sorted(points)]
    x = _powers("ε of a report", [row["x"] for row in rows], ticks=sorted({row["x"] for row in rows}))
    y = alt.Y("low:Q", title=measured, scale=alt.Scale(nice=False, padding=8, zero=False), axis=alt.Axis(format="~%"))
    layers = [
        alt.Chart(table("intervals", rows))
        .mark_rule(strokeWidth=5, opacity=0.35, color=BLUE)
        .encode(x=x, y=y, y2="high:Q"),
        alt.Chart(table("estimates", rows)).mark_circle(size=60, opacity=1, color=BLUE).encode(x=x, y=alt.Y("y:Q")),
    ]
    if truth is not None:
        line = alt.Chart(table("truth", [{"y": truth}])).mark_rule(color=ORANGE, strokeDash=[5, 3], strokeWidth=1.8)
        layers.append(line.encode(y="y:Q"))
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    more = ["The dashed line is the truth"] * (truth is not None)
    return finished(titled(chart, clean(title), subtitle=wrapped([clean(words) for words in (*said, *more)])))


def labelled_lines(
    lines: Mapping[str, Points],
    *,
    across_title: str,
    upward_title: str,
    title: str,
    said: Sequence[str] = (),
    ticks: Sequence[float] | None = None,
    percent: bool = False,
) -> Chart:
    """Draws lines on two logarithmic axes, each with its name at its right end and in its colour."""
    rows: list[Row] = [
        {"series": name, "x": x, "y": y}
        for name, points in lines.items()
        for x, y in sorted(points)
        if 0 < x < math.inf and 0 < y < math.inf
    ]
    if not rows:
        raise BadArgument("lines", "at least one, with points of positive finite numbers", list(lines))
    alt = altair()
    names = list(dict.fromkeys(row["series"] for row in rows))
    heights = [row["y"] for row in rows]
    x = _powers(across_title, [row["x"] for row in rows], ticks=ticks)
    y = upward_log(upward_title, heights)
    if percent:
        y = y.axis(values=_round_ticks(heights), format="~%", labelExpr=alt.Undefined)
        y = y.scale(type="log", domain=[min(heights) / ROOM, max(heights) * ROOM], nice=False)
    colour = alt.Color("series:N", scale=alt.Scale(domain=names, range=_colours(len(names))), legend=None)
    dash = alt.StrokeDash("series:N", scale=alt.Scale(domain=names, range=_dashes(len(names))), legend=None)
    drawn = alt.Chart(table("lines", rows))
    layers: list[Any] = [
        drawn.mark_line(strokeWidth=2.5).encode(x=x, y=y, color=colour, strokeDash=dash),
        drawn.mark_circle(size=26, opacity=1).encode(x=x, y=y, color=colour),
        alt.Chart(table("names", _ends(rows, names)))
        .mark_text(align="left", baseline="middle", dx=9, fontSize=12)
        .encode(x=alt.X("x:Q"), y=alt.Y("at:Q"), text="series:N", color=colour),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return finished(titled(chart, clean(title), subtitle=wrapped([clean(words) for words in said])))


def _ends(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """Where the names of lines stand: beside their last points, moved apart where they would touch."""
    heights = [math.log(row["y"]) for row in rows]
    apart = LINE_HEIGHT / HEIGHT * max(max(heights) - min(heights), 1e-9)
    last = {row["series"]: row for row in rows}
    order = sorted(names, key=lambda name: float(last[name]["y"]))
    places = [math.log(last[name]["y"]) for name in order]
    for _ in range(200):
        for below in range(len(places) - 1):
            short = apart - (places[below + 1] - places[below])
            if short > 1e-9:
                places[below] -= short / 2
                places[below + 1] += short / 2
    far = max(row["x"] for row in rows)
    return [{"series": name, "x": far, "at": math.exp(place)} for name, place in zip(order, places, strict=True)]


def _colours(count: int) -> list[str]:
    return [SERIES[place % len(SERIES)] for place in range(count)]


def _dashes(count: int) -> list[list[int]]:
    return [DASHES[(place + place // len(SERIES)) % len(DASHES)] for place in range(count)]


def _powers(title: str, places: Sequence[float], *, ticks: Sequence[float] | None = None) -> Any:
    """A logarithmic axis from the first place to the last, with a tick at round numbers, or where it is said."""
    values = list(ticks) if ticks is not None else _round_ticks(places)
    words = "datum.value >= 10000 ? format(datum.value, '~s') : format(datum.value, '~g')"
    axis = across(title, type="log", domain=[min(places), max(places) * (1 + 1e-9)], padding=6)
    return axis.axis(values=values, labelExpr=words, labelOverlap=True, labelSeparation=6)


def _round_ticks(values: Sequence[float]) -> list[float]:
    """Ones, twos and fives of every power of ten within the values, or powers alone where they span much."""
    low, high = min(values) / ROOM, max(values) * ROOM
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if math.log10(high / low) < 3.5 else (1,)
    return [float(f"{digit}e{power}") for power in powers for digit in digits if low <= digit * 10.0**power <= high]

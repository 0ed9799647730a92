"""Charts of audits: what was claimed beside what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from sfumato.charts.canvas import (
    BLUE,
    HEIGHT,
    INK,
    ORANGE,
    WIDTH,
    Chart,
    across,
    altair,
    finished,
    series,
    table,
    titled,
    upward,
)
from sfumato.charts.curves import Row, short
from sfumato.errors import BadArgument
from sfumato.exact import Extended

Points: TypeAlias = Sequence[tuple[float, float]]
Measured: TypeAlias = tuple[str, Extended | None, Extended, Extended | None]
"""A name, what was claimed, and between which numbers the truth lies; the upper one may be unknown."""

NAMES = ("claimed", "measured")

MOST_DRAWN = 100
"""A claim that is broken by more than this factor is drawn as if without bound: the others could not be seen."""

LARGE = 1e300
"""Larger numbers are written as over this one."""


def claimed_and_measured(
    claimed: Points, measured: Points, *, across_title: str, upward_title: str, title: str
) -> Chart:
    """Draws two curves, one of what was claimed and one of what was measured."""
    alt = altair()
    if not claimed and not measured:
        raise BadArgument("the curves", "at least one point", [])
    rows: list[Row] = [
        {"series": name, "x": x, "y": y}
        for name, points in zip(NAMES, (claimed, measured), strict=True)
        for x, y in points
        if math.isfinite(x) and math.isfinite(y)
    ]
    x, y = across(across_title), upward(upward_title, top=max((row["y"] for row in rows), default=1.0) or 1.0)
    lines = alt.Chart(table("curves", rows)).mark_line(strokeWidth=2.5)
    chart = lines.encode(x=x, y=y, **series(NAMES, dashed=True)).properties(width=WIDTH, height=HEIGHT)
    return finished(titled(chart, title))


def measured_lines(lines: Sequence[Measured], *, title: str) -> Chart:
    """Draws what was measured as a multiple of what was claimed, where something was; beyond 1 a claim is broken."""
    alt = altair()
    rows = [_row(*line) for line in lines if line[1] is not None]
    if not rows:
        raise BadArgument("the lines of an audit", "at least one with a claim, to draw it", [line[0] for line in lines])
    top = max(1.25, 1.1 * max(row[end] for row in rows for end in ("low", "high") if row[end] < math.inf))
    for row in rows:
        row["low"], row["high"] = min(row["low"], top), min(row["high"], top)
    x = across("measured ÷ claimed", field="low", domain=[0, 1.5 * top])
    names = alt.Y("what:N", title=None, sort=None, axis=alt.Axis(labelLimit=260))
    drawn = alt.Chart(table("lines", rows))
    parts = ["kept", "broken"]
    colour = alt.Color("series:N", scale=alt.Scale(domain=parts, range=[BLUE, ORANGE]), legend=None)
    layers: list[Any] = [
        alt.Chart(table("claim", [{"x": 1}])).mark_rule(color=INK, strokeDash=[4, 3]).encode(x="x:Q"),
        drawn.mark_bar(opacity=0.3, height=12).encode(x=x, x2="high:Q", y=names, color=colour),
        drawn.mark_bar(height=12).encode(x=alt.X("zero:Q"), x2="low:Q", y=names, color=colour),
        drawn.mark_text(align="left", dx=8, color=INK).encode(x=alt.X("high:Q"), y=names, text="words:N"),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=max(60, 40 * len(rows)))
    return finished(titled(chart, title, subtitle="Full: at least this was measured. Pale: at most this"))


def _row(what: str, claimed: Extended | None, low: Extended, high: Extended | None) -> Row:
    """The data of one line, as multiples of its claim; an upper end that is not known is the lower one."""
    claim = Fraction(0) if claimed is None else claimed
    least, most = (_multiple(end, claim) for end in (low, low if high is None else high))
    measured = _words(low) if high == low else f"≥ {_words(low)}"
    words = f"{measured}, claimed {_words(claim)}"
    part = "broken" if low > claim else "kept"
    return {"what": what, "low": least, "high": most, "zero": 0.0, "words": words, "series": part}


def _multiple(end: Extended, claim: Extended) -> float:
    """How many times a claim fits; more than can be drawn is infinite."""
    if end == 0 or claim == math.inf:
        return 1.0 if end == claim else 0.0
    if end == math.inf or claim == 0:
        return math.inf
    ratio = Fraction(end) / Fraction(claim)
    return float(ratio) if ratio < MOST_DRAWN else math.inf


def _words(number: Extended) -> str:
    if number == math.inf:
        return "∞"
    return short(number) if number < LARGE else f"over {LARGE:g}"

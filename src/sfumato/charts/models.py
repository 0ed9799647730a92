"""The charts of models: coefficients, curves of a classifier, and what each column does to a prediction.

They take numbers, not models, so that whatever has coefficients, counts or effects can be drawn; the release that comes
with them says below the title what was paid and who is protected.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from sfumato.charts.canvas import (
    BLUE,
    FAINT,
    HEIGHT,
    INK,
    MUTED,
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
)
from sfumato.charts.curves import Row
from sfumato.charts.one_release import wrapped
from sfumato.errors import BadArgument
from sfumato.release.record import Release
from sfumato.release.render.words import clean

Points: TypeAlias = Sequence[tuple[float, float]]

LARGEST, SMALL, GAP = 330, 180, 30
"""The side of a square picture, the height of a small one, and the space between."""

PER_ROW = 3
"""How many small pictures stand in one row."""

MOST_EFFECTS, MOST_NAMES = 12, 30
"""How many columns, and how many names of one, are drawn; the caption says what is left out."""


@final
@dataclass(frozen=True)
class Effect:
    """What one column does: places (numbers or names), values by series, and a band around each where it is known."""

    name: str
    places: tuple[Any, ...]
    values: Mapping[str, Sequence[float]]
    bands: Mapping[str, Sequence[tuple[float, float]]]
    steps: bool = False


def caption(release: Release, *sentences: str) -> list[str]:
    """Says the loss, who is protected, whether it was charged, and more."""
    marks = ("" if release.charged else " [uncharged]") + (" REPLAYABLE: not private" if release.replayable else "")
    words = [f"{release.loss} for {release.unit}{marks}", *sentences]
    return wrapped([clean(sentence) for sentence in words if sentence])


def coefficients(
    rows: Sequence[tuple[str, str, float, float, float]],
    *,
    measured: str,
    release: Release,
    said: Sequence[str] = (),
    title: str = "Coefficients",
) -> Chart:
    """Draws coefficients as dots, largest first: a series, a name, the value, and an interval (NaN where none is)."""
    if not rows:
        raise BadArgument("coefficients", "at least one", 0)
    alt = altair()
    parts = list(dict.fromkeys(part for part, *_ in rows))
    sizes: dict[str, float] = {}
    for _, name, value, *_ in rows:
        sizes[name] = max(sizes.get(name, 0.0), abs(value))
    order = sorted(sizes, key=lambda name: -sizes[name])[:MOST_NAMES]
    left = len(sizes) - len(order)
    drawn: list[Row] = [
        {"series": part, "name": clean(name, most=60), "x": value, "low": low, "high": high}
        for part, name, value, low, high in rows
        if name in order
    ]
    look = alt.Axis(domain=False, ticks=False, labelColor=INK, labelPadding=10, labelLimit=260)
    names = alt.Y("name:N", sort=[clean(name, most=60) for name in order], title=None, axis=look)
    apart = {"yOffset": alt.YOffset("series:N", sort=parts)} if len(parts) > 1 else {}
    colours = series(parts) if len(parts) > 1 else {"color": alt.value(BLUE)}
    zero = alt.Chart(table("zero", [{"x": 0.0}])).mark_rule(color=MUTED, strokeDash=[3, 3]).encode(x="x:Q")
    known = [row for row in drawn if math.isfinite(row["low"]) and math.isfinite(row["high"])]
    bars = alt.Chart(table("intervals", known)).mark_rule(strokeWidth=5, opacity=0.35)
    dots = alt.Chart(table("coefficients", [{key: row[key] for key in ("series", "name", "x")} for row in drawn]))
    x = across(measured, zero=True, padding=16)
    layers = [
        zero,
        bars.encode(x=across(measured, field="low", zero=True, padding=16), x2="high:Q", y=names, **apart, **colours),
        dots.mark_circle(size=55, opacity=1).encode(x=x, y=names, **apart, **colours),
    ]
    height = max(60, (26 if len(parts) == 1 else 12 + 12 * len(parts)) * len(order))
    more = [f"{left} smaller ones are not drawn"] if left else []
    chart = alt.layer(*layers).properties(width=WIDTH, height=height)
    return finished(titled(chart, clean(title), subtitle=caption(release, *said, *more)))


def classifier_curves(
    roc: Points,
    calibration: Sequence[Mapping[str, float]],
    *,
    area: tuple[float, float, float],
    of: str,
    release: Release,
    title: str | None = None,
) -> Chart:
    """Draws a ROC curve from counts and, where there is one, the calibration beside it, with intervals."""
    auc, low, high = area
    parts = [panel(_roc(roc), "ROC", width=LARGEST, height=LARGEST)]
    if calibration:
        parts.append(panel(_calibration(calibration, of), "Calibration", width=LARGEST, height=LARGEST))
    said = [f"AUC {auc:.3f}, {low:.3f} to {high:.3f} with 95% confidence, noise and drawing of rows counted"]
    if calibration:
        said.append("Upright bars hold the share of the population, each with 95% confidence; the others are bins")
    headline = title or f"Telling {of} from the rest"
    figure = altair().hconcat(*parts, spacing=GAP + 20)
    return finished(titled(figure, clean(headline), subtitle=caption(release, *said)))


def _roc(points: Points) -> Any:
    alt = altair()
    x = across("false alarms: share of the rest", domain=[0, 1], padding=0).axis(format="~%", tickCount=5)
    y = upward("found: share of the class", domain=[0, 1], ticks=5).axis(format="~%", tickCount=5)
    chance = alt.Chart(table("guessing", [{"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 1.0}]))
    rows = [{"x": x, "y": y, "zero": 0.0} for x, y in points]
    curve = alt.Chart(table("roc", rows))
    return alt.layer(
        curve.mark_area(color=BLUE, opacity=0.1).encode(x=x, y=y, y2="zero:Q"),
        chance.mark_line(color=MUTED, strokeDash=[4, 4], strokeWidth=1.2).encode(x=x, y=y),
        curve.mark_line(color=BLUE, strokeWidth=2.5).encode(x=x, y=y, order="index:Q"),
        curve.mark_circle(color=BLUE, size=26, opacity=1, clip=False).encode(x=x, y=y),
    )


def _calibration(rows: Sequence[Mapping[str, float]], of: str) -> Any:
    alt = altair()
    x = across(f"predicted chance of {clean(of, most=40)}", field="middle", domain=[0, 1], padding=0)
    y = upward("share that has it", field="share", domain=[0, 1], ticks=5)
    x, y = x.axis(format="~%", tickCount=5), y.axis(format="~%", tickCount=5)
    ideal = alt.Chart(table("ideal", [{"middle": 0.0, "share": 0.0}, {"middle": 1.0, "share": 1.0}]))
    data = alt.Chart(table("calibration", [dict(row) for row in rows]))
    return alt.layer(
        ideal.mark_line(color=MUTED, strokeDash=[4, 4], strokeWidth=1.2).encode(x=x, y=y),
        data.mark_rule(color=ORANGE, opacity=0.35, strokeWidth=2).encode(x=x.copy(), y=alt.Y("least:Q"), y2="most:Q"),
        data.mark_rule(color=ORANGE, opacity=0.35, strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", y=y),
        data.mark_circle(color=ORANGE, size=60, opacity=1).encode(x=x, y=y),
    )


def effects(
    columns: Sequence[Effect],
    *,
    measured: str,
    release: Release,
    said: Sequence[str] = (),
    title: str = "What each column does",
) -> Chart:
    """Draws what each column does to a prediction, side by side on one scale, in bands where they are known."""
    if not columns:
        raise BadArgument("columns to draw", "at least one", 0)
    shown = columns[:MOST_EFFECTS]
    names = list(dict.fromkeys(name for effect in shown for name in effect.values))
    across_all = min(PER_ROW, len(shown))
    wide = (WIDTH + 160 - GAP * (across_all - 1)) / across_all if across_all > 1 else WIDTH
    ends = _ends(shown)
    parts = [
        panel(_effect(effect, place, names, measured, ends), "", width=wide, height=SMALL if across_all > 1 else HEIGHT)
        for place, effect in enumerate(shown)
    ]
    figure = altair().concat(*parts, columns=PER_ROW, spacing=GAP) if len(parts) > 1 else parts[0]
    more = [f"{len(columns) - len(shown)} more columns are not drawn"] if len(columns) > len(shown) else []
    return finished(titled(figure, clean(title), subtitle=caption(release, *said, *more)))


def _ends(columns: Sequence[Effect]) -> list[float]:
    """The lowest and the highest of all values and bands, with a little air; one scale for all pictures."""
    values = [float(one) for effect in columns for part in effect.values.values() for one in part]
    ends = [float(end) for effect in columns for part in effect.bands.values() for pair in part for end in pair]
    seen = [one for one in (*values, *ends) if math.isfinite(one)] or [0.0]
    low, high = min(seen), max(seen)
    air = 0.06 * (high - low) or 0.5
    return [low - air, high + air]


def _effect(effect: Effect, place: int, names: Sequence[str], measured: str, ends: list[float]) -> Any:
    """One picture: steps or a line over numbers, dots over names."""
    alt = altair()
    ordered = all(isinstance(one, int | float) for one in effect.places)
    rows: list[Row] = []
    for name, values in effect.values.items():
        bands = effect.bands.get(name) or [(math.nan, math.nan)] * len(values)
        for at, value, (low, high) in list(zip(effect.places, values, bands, strict=True))[
            : None if ordered else MOST_NAMES
        ]:
            row = {"series": name, "x": at if ordered else clean(at, most=30), "y": value}
            rows.append(row | ({"low": low, "high": high} if math.isfinite(low) and math.isfinite(high) else {}))
    data = alt.Chart(table(f"effect_{place}", rows))
    words = clean(effect.name, most=60)
    x = across(words) if ordered else alt.X("x:N", sort=None, title=words, axis=alt.Axis(labelAngle=0, labelLimit=90))
    if ordered:
        x = x.axis(labelOverlap=True, tickCount=5)
    y = upward(measured if place % PER_ROW == 0 else "", domain=ends, ticks=5)
    low = upward(measured if place % PER_ROW == 0 else "", field="low", domain=ends, ticks=5)
    colours: dict[str, Any] = series(names) if len(names) > 1 else {"color": alt.value(BLUE)}
    shape = {"interpolate": "step-after"} if effect.steps else {}
    banded = alt.Chart(table(f"band_{place}", [row for row in rows if "low" in row]))
    if ordered:
        return alt.layer(
            banded.mark_area(opacity=0.25, **shape).encode(x=x, y=low, y2="high:Q", **colours),
            data.mark_line(strokeWidth=1.7, **shape).encode(x=x, y=y, **colours),
        )
    return alt.layer(
        banded.mark_rule(strokeWidth=3, opacity=0.4).encode(x=x, y=low, y2="high:Q", **colours),
        data.mark_circle(size=80, opacity=1).encode(x=x, y=y, **colours),
    )


def matrix(
    cells: Sequence[tuple[str, str, float]],
    *,
    measured: str,
    release: Release,
    said: Sequence[str] = (),
    title: str,
) -> Chart:
    """Draws numbers between −1 and 1 by two names, such as correlations or the weights of components."""
    if not cells:
        raise BadArgument("cells", "at least one", 0)
    alt = altair()
    down = list(dict.fromkeys(clean(row, most=40) for row, _, _ in cells))
    right = list(dict.fromkeys(clean(column, most=40) for _, column, _ in cells))
    rows = [{"row": clean(row, most=40), "column": clean(one, most=40), "value": value} for row, one, value in cells]
    side = max(26.0, min(64.0, WIDTH / len(right)))
    level = 0 if side * len(right) > 8 * sum(len(name) for name in right) else -40
    look = {"domain": False, "ticks": False, "labelColor": INK, "labelLimit": 160}
    x = alt.X("column:N", sort=right, title=None, axis=alt.Axis(**look, labelAngle=level))
    y = alt.Y("row:N", sort=down, title=None, axis=alt.Axis(**look))
    scale = alt.Scale(domain=[-1, 0, 1], range=[ORANGE, PAPER, BLUE], interpolate="rgb")
    data = alt.Chart(table("matrix", rows))
    key = alt.Legend(title=measured, gradientLength=160, values=[-1, 0, 1])
    boxes = data.mark_rect(stroke=FAINT).encode(x=x, y=y, color=alt.Color("value:Q", scale=scale, legend=key))
    ink = alt.condition("abs(datum.value) > 0.6", alt.value(PAPER), alt.value(INK))
    numbers = data.mark_text(fontSize=11).encode(x=x, y=y, text=alt.Text("value:Q", format=".2f"), color=ink)
    shown = [boxes, numbers] if side >= 34 else [boxes]
    chart = alt.layer(*shown).properties(width=side * len(right), height=side * len(down))
    return finished(titled(chart, clean(title), subtitle=caption(release, *said)))

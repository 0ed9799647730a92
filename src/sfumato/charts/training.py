"""The charts of private training: a history of epochs, sweeps over settings, and batches against their noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.accounting.losses.bracket import Bracket
from sfumato.charts.canvas import (
    BLUE,
    GREEN,
    HEIGHT,
    MUTED,
    ORANGE,
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
from sfumato.errors import BadArgument
from sfumato.exact import Number, down, up
from sfumato.release.render.words import clean

LOW = 130
"""The height of each picture of a history."""

MOST_SERIES = 6
"""So many settings are told apart by colour; more of them are drawn alike."""


def history(
    epochs: Sequence[int],
    epsilons: Sequence[Bracket],
    *,
    scores: Sequence[float | None] = (),
    signals: Sequence[float | None] = (),
    delta: Number | None = None,
    title: str = "A private training, epoch by epoch",
) -> Chart:
    """Draws what was spent after each epoch, between its certified ends, and below it what was seen for nothing."""
    if not epochs or len(epochs) != len(epsilons):
        raise BadArgument("epochs", "at least one, each with its ε", len(epochs))
    spent: list[Row] = [
        {"x": epoch, "y": up(each.upper), "low": down(each.lower)} for epoch, each in zip(epochs, epsilons, strict=True)
    ]
    at = "" if delta is None else f" at δ = {float(delta):g}"
    seen = (("score of public rows", scores, ORANGE), ("signal over noise", signals, GREEN))
    below: list[tuple[str, list[Row], str]] = [
        (words, [{"x": x, "y": y} for x, y in zip(epochs, values, strict=False) if y is not None], colour)
        for words, values, colour in seen
    ]
    lines = [(f"ε so far{at}", spent, BLUE), *(part for part in below if part[1])]
    parts = [
        _line(words, rows, colour, named=place == len(lines) - 1, from_zero=place == 0)
        for place, (words, rows, colour) in enumerate(lines)
    ]
    figure = altair().vconcat(*parts, spacing=14)
    said = "What was spent lies in a band, as wide as the line or less; nothing else here costs anything"
    return finished(titled(figure, clean(title), subtitle=said))


def _line(words: str, rows: Sequence[Row], colour: str, *, named: bool, from_zero: bool) -> Any:
    alt = altair()
    last, top = max(row["x"] for row in rows), max(row["y"] for row in rows)
    x = across("epoch" if named else "", domain=[0, last]).axis(tickMinStep=1, format="d", labelOverlap=True)
    y = upward(words, top=top or 1.0, ticks=4) if from_zero else upward(words, ticks=4, zero=False, padding=8)
    data = alt.Chart(table(words.partition(" ")[0], rows))
    layers = [
        data.mark_line(color=colour, strokeWidth=2.5).encode(x=x, y=y),
        data.mark_circle(color=colour, size=45, opacity=1, clip=False).encode(x=x, y=y),
    ]
    if any("low" in row and row["low"] < row["y"] for row in rows):
        layers.insert(0, data.mark_area(color=colour, opacity=0.25).encode(x=x, y=y, y2="low:Q"))
    return panel(alt.layer(*layers), "", width=WIDTH, height=LOW)


def sweep_chart(
    points: Sequence[tuple[Mapping[str, Any], float, float | None, float | None]],
    *,
    delta: float,
    of: str = "",
    title: str | None = None,
) -> Chart:
    """Draws settings of a sweep: ε against the score, or against the noise multiplier where nothing was scored.

    A point is settings by name, ε, the score and how much better training without privacy is; both may be None.
    """
    known = [point for point in points if 0 < point[1] < math.inf]
    scored = bool(known) and all(point[2] is not None for point in known)
    if not known:
        raise BadArgument("points", "at least one of finite ε", len(points))
    varied = _varied([point[0] for point in known])
    rows: list[Row] = [
        {"series": _named(settings, varied), "epsilon": epsilon, "score": score}
        | {"multiplier": float(settings["noise_multiplier"])}
        for settings, epsilon, score, _ in known
    ]
    names = list(dict.fromkeys(row["series"] for row in rows))
    headline = title or ("Privacy against how good the model is" if scored else "What noise costs")
    chart = _scored(rows, names, known) if scored else _costs(rows, names)
    below = [f"Each setting at δ = {delta:g}" + (f"; scores of {of}" if of else "; by accounting alone")]
    sized = chart.properties(width=WIDTH, height=HEIGHT)
    return finished(titled(sized, clean(headline), subtitle=below))


def _scored(rows: Sequence[Row], names: Sequence[str], points: Sequence[Any]) -> Any:
    alt = altair()
    x = across("ε of one training", field="epsilon", type="log", padding=16)
    y = upward("score", field="score", zero=False, padding=12)
    data = alt.Chart(table("sweep", rows))
    looks: dict[str, Any] = series(names) if 1 < len(names) <= MOST_SERIES else {"color": alt.value(BLUE)}
    lines = data.mark_line(strokeWidth=1.5, opacity=0.6).encode(x=x, y=y, **looks)
    dots = data.mark_circle(size=70, opacity=1).encode(x=x, y=y, **looks)
    layers = [lines, dots] if len(names) <= MOST_SERIES else [dots]
    plain = [score + gap for _, _, score, gap in points if score is not None and gap is not None]
    if plain:
        best = max(plain)
        rule = alt.Chart(table("plain", [{"score": best}])).mark_rule(color=MUTED, strokeDash=[4, 4])
        said = [{"epsilon": max(row["epsilon"] for row in rows), "score": best, "text": "without privacy"}]
        words = alt.Chart(table("words", said)).mark_text(align="right", dy=-9, color=MUTED, fontSize=12)
        layers += [rule.encode(y=y), words.encode(x=x, y=y, text="text:N")]
    return alt.layer(*layers)


def _costs(rows: Sequence[Row], names: Sequence[str]) -> Any:
    alt = altair()
    values = sorted({row["multiplier"] for row in rows})
    x = across("noise multiplier", field="multiplier", type="log", padding=16).axis(values=values, format="~g")
    y = upward_log("ε", [row["epsilon"] for row in rows], field="epsilon")
    plain = [{key: row[key] for key in ("series", "epsilon", "multiplier")} for row in rows]
    data = alt.Chart(table("sweep", plain))
    looks: dict[str, Any] = series(names, dashed=True) if 1 < len(names) <= MOST_SERIES else {"color": alt.value(BLUE)}
    dots = data.mark_circle(size=60, opacity=1).encode(x=x, y=y, color=looks["color"])
    lines = data.mark_line(strokeWidth=2.2).encode(x=x, y=y, **looks)
    return alt.layer(lines, dots) if len(names) <= MOST_SERIES else dots


def _varied(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names that have several values, but for the noise."""
    names = [name for name in settings[0] if name != "noise_multiplier"]
    return [name for name in names if len({str(each[name]) for each in settings}) > 1]


def _named(settings: Mapping[str, Any], names: Sequence[str]) -> str:
    return clean(", ".join(f"{name} {settings[name]}" for name in names) or "all", most=60)


def batch_chart(
    rows: Sequence[tuple[int, float, float]], *, loss: str, size: int, title: str = "Larger batches hide better"
) -> Chart:
    """Draws the noise on a mean gradient against the batch, at one loss: rows (batch, epochs, noise)."""
    if not rows or any(not 0 < noise < math.inf for _, _, noise in rows):
        raise BadArgument("rows", "at least one (batch, epochs, noise), of positive noise", len(rows))
    alt = altair()
    points: list[Row] = [{"series": f"{epochs:g} epochs", "x": batch, "y": noise} for batch, epochs, noise in rows]
    names = list(dict.fromkeys(row["series"] for row in points))
    places = sorted({row["x"] for row in points})
    x = across("batch", type="log", padding=16).axis(values=places, format=",d", labelOverlap=True)
    y = upward_log("noise on a mean gradient, over the clip", [row["y"] for row in points])
    looks = series(names, dashed=True)
    data = alt.Chart(table("batches", points))
    lines = data.mark_line(strokeWidth=2.5).encode(x=x, y=y, **looks)
    dots = data.mark_circle(size=55, opacity=1).encode(x=x, y=y, color=looks["color"])
    chart = alt.layer(lines, dots).properties(width=WIDTH, height=HEIGHT)
    below = f"{size:,} units, {clean(loss, most=60)}: the same privacy everywhere; lower is better"
    return finished(titled(chart, title, subtitle=below))

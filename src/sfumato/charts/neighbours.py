"""Charts of two neighbours: what an outcome can and cannot tell about which of them it came from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sfumato.accounting.losses.measures import Pure
from sfumato.accounting.meaning.guidance import odds_factor
from sfumato.charts.canvas import (
    BLUE,
    HEIGHT,
    INK,
    MUTED,
    ORANGE,
    WIDTH,
    Chart,
    across,
    altair,
    finished,
    note,
    panel,
    series,
    table,
    titled,
    upward,
    upward_log,
)
from sfumato.charts.curves import (
    Shape,
    centres_of,
    curve,
    few,
    height,
    label,
    places,
    quantity,
    realised_loss,
    short,
    uncovered,
    window,
)
from sfumato.charts.noise import named_noises
from sfumato.errors import BadArgument
from sfumato.exact import Number, up

NOTHING = 1e-12
"""A δ below this is the rounding of a sum of floats."""


def odds(losses: Sequence[Pure], *, title: str = "Small ε keeps the odds near even; large ε does not") -> Chart:
    """Draws e^ε against ε, with the given losses marked: how much one release can change anyone's odds about a unit."""
    alt = altair()
    marked = [{"x": up(loss.epsilon), "y": up(odds_factor(loss))} for loss in losses]
    if not marked or any(math.isinf(row["y"]) for row in marked):
        raise BadArgument("losses", "one or more finite Pure losses", losses)
    last = 1.08 * max(row["x"] for row in marked) or 1.0
    rows = [{"x": last * step / 200, "y": math.exp(last * step / 200)} for step in range(201)]
    top = rows[-1]["y"]
    # Low points lie close together, so their words stand on stalks of different lengths, the first the longest.
    low = [row for row in marked if row["y"] < top / 4]
    lifts = {row["x"]: top * (0.07 + 0.09 * ((len(low) - 1 - place) % 3)) for place, row in enumerate(low)}
    tall = [{**row, "y2": row["y"] + lifts.get(row["x"], 0)} for row in marked]
    x, y = across("privacy loss ε", domain=[0, last]), upward("factor e^ε by which odds may grow", top=top)
    line = alt.Chart(table("curve", rows)).mark_line(color=BLUE, strokeWidth=2.5).encode(x=x, y=y)
    stalks = alt.Chart(table("stalks", tall)).mark_rule(color=MUTED).encode(x=x, y=y, y2="y2:Q")
    dots = alt.Chart(table("losses", marked)).mark_point(color=ORANGE, size=90, filled=True, opacity=1).encode(x=x, y=y)
    words = [
        note(
            f"ε = {short(row['x'])}: × {_plain(row['y'])}",
            x=row["x"],
            y=row["y2"],
            align="left" if row["x"] in lifts else "right",
            name=f"loss_{place}",
        )
        for place, row in enumerate(tall)
    ]
    chart = alt.layer(line, stalks, dots, *words).properties(width=WIDTH, height=HEIGHT)
    return finished(titled(chart, title, subtitle="Posterior odds are at most e^ε times the prior odds"))


def _plain(factor: float) -> str:
    return f"{factor:.4g}" if factor < 1000 else f"{factor:,.0f}"


def stroke(*, apart: bool) -> dict[str, Any]:
    """Draws a line, or points on a thin one, which say that the outcomes are whole numbers and nothing lies between."""
    return {"strokeWidth": 1.2, "point": {"size": 28}} if apart else {"strokeWidth": 2.5}


def neighbours(
    noise: Shape, *, centres: Sequence[Number], names: tuple[str, str] = ("x", "x′"), title: str | None = None
) -> Chart:
    """Draws the outcomes on two neighbours, on a linear and on a logarithmic scale; there, the gap is the loss."""
    alt = altair()
    pair = centres_of(centres)
    low, high = window([noise], pair)
    rows = [
        row
        for name, centre in zip(names, pair, strict=True)
        for row in curve(noise, low, high, series=f"data set {name}", centre=centre, also=pair)
    ]
    unit_of_height, x = quantity([noise]), across("outcome")
    encodings = series([f"data set {name}" for name in names], dashed=True, key="bottom")
    base = alt.Chart(table("outcomes", rows)).mark_line(**stroke(apart=few(noise, rows)))
    linear = base.encode(x=x, y=upward(unit_of_height, top=max(row["y"] for row in rows)), **encodings)
    y = upward_log(unit_of_height, [row["y"] for row in rows])
    logarithmic = base.transform_filter("datum.y > 0").encode(x=x, y=y, **encodings)
    gap = _gap(noise, low, high, pair, x=x, y=y)
    panels = alt.hconcat(
        panel(linear, "Linear scale", width=330, height=280),
        panel(alt.layer(logarithmic, *gap), "Logarithmic scale: the gap is the loss", width=330, height=280),
    )
    headline = title or "Two neighbours give nearly the same outcomes"
    return finished(
        titled(panels, headline, subtitle=f"Noise: {label(noise)}, exact answers {short(pair[0])} and {short(pair[1])}")
    )


def _gap(noise: Shape, low: Fraction, high: Fraction, pair: tuple[Fraction, Fraction], *, x: Any, y: Any) -> list[Any]:
    """Marks the gap between the two curves a quarter of the way in; for Laplace noise it has its full size there."""
    alt = altair()
    middle = (3 * low + min(pair)) / 4
    at = min(places(noise, low, high), key=lambda place: abs(place - middle))
    ends = [float(height(noise, at - centre)) for centre in pair]
    if min(ends) <= 0:
        return []
    loss = realised_loss(noise, at, centres=pair)
    row = {"x": float(at), "y": min(ends), "y2": max(ends)}
    rule = alt.Chart(table("gap", [row])).mark_rule(color=INK, strokeWidth=2).encode(x=x, y=y, y2="y2:Q")
    beside = float(at + abs(pair[0] - pair[1]) / 2)
    words = f"gap {short(abs(loss))}"
    return [rule, note(words, x=beside, y=math.sqrt(ends[0] * ends[1]), name="gap_size", aside=14)]


def delta_area(noise: Shape, *, centres: Sequence[Number], loss: Pure, title: str | None = None) -> Chart:
    """Shades δ: the part of one neighbour's outcomes that rises above e^ε times the other's."""
    alt = altair()
    pair = centres_of(centres)
    factor = math.exp(up(loss.epsilon))
    low, high = window([noise], pair)
    names = ["data set x", "data set x′", "e^ε × data set x′"]
    left, right = (
        curve(noise, low, high, series=name, centre=centre, also=pair)
        for name, centre in zip(names[:2], pair, strict=True)
    )
    raised = [{**row, "series": names[2], "y": factor * row["y"]} for row in right]
    above = [
        {"x": outcome["x"], "y": outcome["y"], "y2": min(outcome["y"], raised_outcome["y"])}
        for outcome, raised_outcome in zip(left, raised, strict=True)
    ]
    x, y = across("outcome"), upward(quantity([noise]), top=max(row["y"] for row in left + right))
    apart = few(noise, left)
    shaded = alt.Chart(table("above", above))
    area = (
        shaded.mark_bar(color=ORANGE, opacity=0.55, size=9) if apart else shaded.mark_area(color=ORANGE, opacity=0.55)
    )
    lines = alt.Chart(table("outcomes", left + right + raised)).mark_line(clip=True, **stroke(apart=apart))
    curves = lines.encode(x=x, y=y, **series(names, dashed=True))
    chart = alt.layer(area.encode(x=x, y=y, y2="y2:Q"), curves).properties(width=WIDTH, height=HEIGHT)
    delta = uncovered(noise, centres=pair, epsilon=up(loss.epsilon))
    share = f"a share δ = {delta:.3g} stays uncovered" if delta > NOTHING else "nothing stays uncovered: δ = 0"
    below = "" if delta <= NOTHING else ". The shaded bars add up to δ" if apart else ". The shaded area is δ"
    headline = title or f"At ε = {short(loss.epsilon)} {share}"
    return finished(titled(chart, headline, subtitle=f"Noise: {label(noise)}{below}"))


def realised_losses(
    noises: Sequence[Shape] | Mapping[str, Shape],
    *,
    centres: Sequence[Number],
    title: str = "What each outcome gives away",
) -> Chart:
    """Draws the realised privacy loss of every outcome: clipped for Laplace noise, without end for Gaussian noise."""
    alt = altair()
    named, pair = named_noises(noises), centres_of(centres)
    low, high = window(list(named.values()), pair)
    rows = [
        {"series": name, "x": float(at), "y": loss}
        for name, noise in named.items()
        for at in places(noise, low, high, also=(*pair, (pair[0] + pair[1]) / 2))
        if math.isfinite(loss := realised_loss(noise, at, centres=pair))
    ]
    zero = alt.Chart(table("zero", [{"y": 0}])).mark_rule(color=MUTED, strokeDash=[3, 3]).encode(y="y:Q")
    x, y = across("outcome"), alt.Y("y:Q", title="realised privacy loss", axis=alt.Axis(tickCount=7))
    lines = (
        alt.Chart(table("losses", rows)).mark_line(strokeWidth=2.5).encode(x=x, y=y, **series(list(named), dashed=True))
    )
    chart = alt.layer(zero, lines).properties(width=WIDTH, height=HEIGHT)
    below = (
        f"ln of how much likelier the outcome is when the exact answer is {short(pair[0])} rather than {short(pair[1])}"
    )
    return finished(titled(chart, title, subtitle=below))

"""Charts of noise: what it looks like, and how far it reaches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

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
    note,
    series,
    table,
    titled,
    upward,
    upward_log,
)
from sfumato.charts.curves import FEW, Row, Shape, curve, discrete, label, quantity, reach, short, window
from sfumato.errors import BadArgument
from sfumato.exact import Number, probability


def noise_densities(
    noises: Sequence[Shape] | Mapping[str, Shape], *, log: bool = False, title: str = "What the noise looks like"
) -> Chart:
    """Draws the masses or densities of several noises on top of each other.

    Noise on few integers is drawn as points on stems, anything else as a line; with ``log`` the tails become visible. A
    mapping gives the noises names of its own.
    """
    alt = altair()
    named = named_noises(noises)
    low, high = window(list(named.values()), [Fraction(0)])
    curves = {name: curve(noise, low, high, series=name, also=(Fraction(0),)) for name, noise in named.items()}
    stems = [name for name, noise in named.items() if discrete(noise) and len(curves[name]) <= FEW]
    points = [row for name in stems for row in curves[name]]
    lines = [row for name, rows in curves.items() if name not in stems for row in rows]
    unit_of_height = quantity(named.values())
    heights = [row["y"] for row in points + lines]
    y = upward_log(unit_of_height, heights) if log else upward(unit_of_height, top=max(heights))
    layers = _layers(lines, points, names=list(named), y=y, log=log)
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return finished(titled(chart, title, subtitle="On a logarithmic scale" if log else ()))


def _layers(lines: list[Row], points: list[Row], *, names: list[str], y: Any, log: bool) -> list[Any]:
    alt, x, layers = altair(), across("noise"), []
    if lines:
        encodings = series(names, dashed=not points)
        layers.append(alt.Chart(table("lines", lines)).mark_line(strokeWidth=2.5).encode(x=x, y=y, **encodings))
    if points:
        stems = alt.Chart(table("points", points))
        alone = len({row["series"] for row in points}) == 1 and not log
        # The stems of several noises would hide each other; thin lines from point to point do not.
        thin = stems.mark_rule(strokeWidth=1.5, opacity=0.45) if alone else stems.mark_line(strokeWidth=1, opacity=0.6)
        layers.append(thin.encode(x=x, y=y, **series(names)))
        layers.append(stems.mark_circle(size=60, opacity=1).encode(x=x, y=y, **series(names)))
    return layers


def accuracy(noise: Shape, *, confidence: Number = 0.95, title: str | None = None) -> Chart:
    """Draws a noise with its tails beyond ±α shaded: together they hold at most β = 1 − confidence of the mass."""
    alt = altair()
    sure = probability(confidence, "confidence")
    error = half_width(noise, sure)
    low, high = reach(noise, missed=min(Fraction(1, 500), (1 - sure) / 10))
    rows = curve(noise, low, high, series="noise", also=(-error, Fraction(0), error))
    top = max(row["y"] for row in rows)
    x, y = across("noise"), upward(quantity([noise]), top=top)
    body = _filled(noise, rows, x=x, y=y, error=float(error))
    # Between two whole numbers the rule cuts no bar in half.
    edge = float(error) + (0.5 if discrete(noise) else 0)
    rules = alt.Chart(table("limits", [{"x": -edge}, {"x": edge}])).mark_rule(color=INK, strokeDash=[4, 3])
    words = [
        note(f"−α = −{short(error)}", x=-edge, y=0.62 * top, align="right", name="left"),
        note(f"α = {short(error)}", x=edge, y=0.62 * top, name="right"),
    ]
    chart = alt.layer(*body, rules.encode(x=x), *words).properties(width=WIDTH, height=HEIGHT)
    headline = title or f"With {short(100 * sure)} % confidence the error is at most {short(error)}"
    below = f"Noise: {label(noise)}. The two shaded tails together hold at most β = {short(1 - sure)}"
    return finished(titled(chart, headline, subtitle=below))


def _filled(noise: Shape, rows: list[Row], *, x: Any, y: Any, error: float) -> list[Any]:
    alt = altair()
    parts = {
        "within": (BLUE, 0.18, [row for row in rows if abs(row["x"]) <= error]),
        "left_tail": (ORANGE, 0.8, [row for row in rows if row["x"] <= -error]),
        "right_tail": (ORANGE, 0.8, [row for row in rows if row["x"] >= error]),
    }
    if not (discrete(noise) and len(rows) <= 2 * FEW):
        areas = [
            alt.Chart(table(name, part)).mark_area(color=colour, opacity=opacity).encode(x=x, y=y)
            for name, (colour, opacity, part) in parts.items()
        ]
        return [*areas, alt.Chart(table("line", rows)).mark_line(color=BLUE, strokeWidth=2).encode(x=x, y=y)]
    size = min(12.0, 0.7 * WIDTH / len(rows))
    return [
        alt.Chart(table(name, [row for row in part if name == "within" or abs(row["x"]) > error]))
        .mark_bar(color=colour, size=size)
        .encode(x=x, y=y)
        for name, (colour, _, part) in parts.items()
    ]


def half_width(noise: Shape, confidence: Fraction) -> Fraction:
    """The error that a noise keeps with a confidence, from its own record where that states it."""
    stated = getattr(noise, "half_width", None)
    return Fraction(stated(confidence)) if stated else Fraction(float(noise.quantile(1 - (1 - confidence) / 2)))


def named_noises(noises: Sequence[Shape] | Mapping[str, Shape]) -> dict[str, Shape]:
    """Names every noise: by the mapping, or by its kind and parameters."""
    named = dict(noises) if isinstance(noises, Mapping) else {label(noise): noise for noise in noises}
    if not named:
        raise BadArgument("noises", "one or more noises", noises)
    return named

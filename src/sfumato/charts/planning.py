"""Charts of plans: errors to expect, shares of a limit, frequency pictures, other deployments, periods, bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

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
    series,
    table,
    titled,
    upward,
)
from sfumato.charts.curves import Row
from sfumato.errors import BadArgument

PEOPLE, LINE, DOT = 1000, 50, 11
"""How many people a frequency picture shows, how many of them in a line, and how far apart."""

ROW = 30
"""The height of one line of a chart with names."""

LONGEST = 34
"""Names with more letters are cut."""

STEEP = 5
"""Errors are drawn up to so many times the least: beyond, it does not matter how large they are."""

LEAST, MOST = 1e-4, 1.0
"""Errors are drawn as shares of the number between these: smaller ones could not be told apart."""


def planned_errors(
    rows: Sequence[tuple[str, float, float | None]], *, title: str = "How exact the numbers will be"
) -> Chart:
    """Draws for each number the error to expect, as a share of the number, and the share that is wanted."""
    alt = altair()
    if not rows:
        raise BadArgument("the numbers", "one or more with an error that can be foretold", "none")
    names = unlike([name for name, _, _ in rows])
    data: list[Row] = [
        {"name": name, "share": _within(share), "words": percent_of(share)}
        for name, (_, share, _) in zip(names, rows, strict=True)
    ]
    marks = [
        {"name": name, "wanted": _within(wanted)}
        for name, (_, _, wanted) in zip(names, rows, strict=True)
        if wanted is not None
    ]
    y = _names(names)
    scale = alt.Scale(type="log", domain=[min(1e-3, *(row["share"] for row in data)) / 1.5, 4], nice=False)
    words = "datum.value >= 0.01 ? format(datum.value, '.0%') : format(datum.value, '.1%')"
    axis = alt.Axis(values=[10.0**power for power in range(-4, 1)], labelExpr=words)
    x = alt.X("share:Q", title="half of the error bar, as a share of the number", scale=scale, axis=axis)
    source = alt.Chart(table("errors", data))
    layers = [
        source.mark_circle(size=130, color=BLUE, opacity=1).encode(x=x, y=y),
        source.mark_text(align="left", dx=10, color=INK).encode(x=x, y=y, text="words:N"),
    ]
    if marks:
        ticks = alt.Chart(table("wanted", marks)).mark_tick(color=ORANGE, thickness=3, size=18)
        layers.insert(0, ticks.encode(x=alt.X("wanted:Q", scale=scale), y=y))
    below = "Dots: what to expect, smaller is better." + (" Ticks: what is wanted" if marks else "")
    return finished(titled(_sized(alt.layer(*layers), len(names)), title, subtitle=below))


def planned_shares(shares: Sequence[tuple[str, float]], of: str, *, title: str = "What each statistic takes") -> Chart:
    """Draws what each statistic takes, as a share ``of`` something: of a limit, or of all that is spent."""
    alt = altair()
    names = unlike([name for name, _ in shares])
    taken = sum(share for _, share in shares)
    data: list[Row] = [
        {"name": name, "share": share, "words": percent_of(share)}
        for name, (_, share) in zip(names, shares, strict=True)
    ]
    y = _names(names)
    x = alt.X(
        "share:Q",
        title=of,
        axis=alt.Axis(format="%", tickCount=6),
        scale=alt.Scale(domain=[0, 1.15 * max(row["share"] for row in data)], nice=False),
    )
    source = alt.Chart(table("shares", data))
    layers = [
        source.mark_bar(color=BLUE, height=14).encode(x=x, y=y),
        source.mark_text(align="left", dx=6, color=INK).encode(x=x, y=y, text="words:N"),
    ]
    return finished(titled(_sized(alt.layer(*layers), len(names)), title, subtitle=f"{percent_of(taken)} in all"))


def people_of_thousand(right: int, *, title: str = "What the best attacker learns about 1,000 people") -> Chart:
    """Draws 1,000 people: of how many a coin guesses rightly whether they are in the data, and of how many an attacker.

    Half of them are in the data. ``right`` is of how many the best attacker guesses rightly, at most.
    """
    alt = altair()
    if not PEOPLE // 2 <= right <= PEOPLE:
        raise BadArgument("right", f"{PEOPLE // 2}, which a coin has, to {PEOPLE}", right)
    kinds = (
        ("guessed rightly by tossing a coin", PEOPLE // 2, MUTED, MUTED),
        ("guessed rightly because of the release, at most", right - PEOPLE // 2, ORANGE, ORANGE),
        ("guessed wrongly", PEOPLE - right, "transparent", MUTED),
    )
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-0.5, LINE - 0.5], nice=False, zero=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[PEOPLE // LINE - 0.5, -0.5], nice=False, zero=False))
    layers, place = list[Any](), 0
    for name, many, fill, line in kinds:
        rows = [{"x": one % LINE, "y": one // LINE} for one in range(place, place + many)]
        place += many
        if rows:
            dots = alt.Chart(table(name, rows)).mark_point(
                shape="circle", fill=fill, stroke=line, strokeWidth=1, size=52, opacity=1
            )
            layers.append(dots.encode(x=x, y=y))
    sized = alt.layer(*layers).properties(width=LINE * DOT, height=PEOPLE // LINE * DOT)
    below = [
        f"Grey: {PEOPLE // 2} guessed rightly by tossing a coin. Orange: {right - PEOPLE // 2} more because of the",
        f"release, at most. Empty: {PEOPLE - right} guessed wrongly. The attacker knows all about everybody else",
    ]
    return finished(titled(sized, title, subtitle=below))


def beside_deployments(
    others: Sequence[tuple[str, float]], own: float | None, *, title: str = "Beside what others have published"
) -> Chart:
    """Draws the ε of deployments on a logarithmic line, and where a plan is among them."""
    alt = altair()
    known = [(name, epsilon) for name, epsilon in others if epsilon > 0 and math.isfinite(epsilon)]
    if not known:
        raise BadArgument("the deployments", "one or more with an ε", "none")
    rows, heights = list[Row](), dict[int, int]()
    for name, epsilon in sorted(known, key=lambda one: one[1]):
        bin_of = round(math.log10(epsilon) * 9)
        heights[bin_of] = heights.get(bin_of, 0) + 1
        rows.append({"x": 10 ** (bin_of / 9), "y": heights[bin_of], "name": name})
    ends = [epsilon for _, epsilon in known] + ([own] if own else [])
    scale = alt.Scale(type="log", domain=[min(ends) / 1.8, max(ends) * 1.8], nice=False)
    powers = range(math.floor(math.log10(min(ends))), math.ceil(math.log10(max(ends))) + 1)
    axis = alt.Axis(values=[10.0**power for power in powers], labelExpr="format(datum.value, '~g')")
    x = alt.X("x:Q", title="ε, as it is stated; smaller protects more", scale=scale, axis=axis)
    top = max(heights.values()) + 1
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[0.3, top + 0.6], nice=False))
    dots = (
        alt.Chart(table("deployments", rows))
        .mark_circle(color=BLUE, size=95, opacity=0.8)
        .encode(x=x, y=y, tooltip="name:N")
    )
    layers: list[Any] = [dots]
    if own:
        mark = alt.Chart(table("plan", [{"x": own, "y": top, "words": f"this plan: ε = {own:.3g}"}]))
        layers.insert(0, mark.mark_rule(color=ORANGE, strokeWidth=2.5).encode(x=x))
        right = math.log(own) > (math.log(min(ends)) + math.log(max(ends))) / 2
        words = mark.mark_text(align="right" if right else "left", dx=-8 if right else 8, color=ORANGE, fontSize=13)
        layers.append(words.encode(x=x, y=y, text="words:N"))
    below = "Each dot is a deployment. What is protected differs: a person for ever, a person in a month, one event"
    chart = alt.layer(*layers).properties(width=WIDTH, height=max(110, 19 * (top + 1)))
    return finished(titled(chart, title, subtitle=below))


def over_periods(
    lines: Sequence[tuple[str, Sequence[tuple[int, float]]]],
    *,
    period: str,
    title: str = "What somebody loses over time",
) -> Chart:
    """Draws what a person who is there in several periods loses in all, by each way of counting."""
    alt = altair()
    rows: list[Row] = [
        {"x": many, "y": loss, "series": name} for name, points in lines for many, loss in points if math.isfinite(loss)
    ]
    names = [name for name, _ in lines]
    x = across(f"{period}s in which somebody is in the data", domain=[0, max(row["x"] for row in rows)])
    y = upward("ε in all", top=max(row["y"] for row in rows))
    source = alt.Chart(table("periods", rows))
    encodings = series(names, dashed=True)
    layers = [
        source.mark_line(strokeWidth=2.5).encode(x=x, y=y, **encodings),
        source.mark_circle(size=40, opacity=1).encode(x=x, y=y, color=encodings["color"]),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return finished(
        titled(chart, title, subtitle=f"The guarantee is for one {period}; for several it adds up like this")
    )


def foretold_and_measured(
    rows: Sequence[tuple[str, float, float]], *, title: str = "Errors: foretold, and measured in the dry run"
) -> Chart:
    """Draws for each number the error that came out in a dry run as a multiple of the one that was foretold."""
    alt = altair()
    drawn = [(name, measured / told) for name, told, measured in rows if told > 0 and math.isfinite(measured / told)]
    if not drawn:
        raise BadArgument("the numbers", "one or more with errors that were foretold and measured", "none")
    names = unlike([name for name, _ in drawn])
    data: list[Row] = [
        {"name": name, "x": ratio, "words": f"{ratio:.2f}"} for name, (_, ratio) in zip(names, drawn, strict=True)
    ]
    y, end = _names(names), max(1.4, 1.15 * max(ratio for _, ratio in drawn))
    x = across("measured ÷ foretold", domain=[0, end])
    source = alt.Chart(table("measured", data))
    layers = [
        alt.Chart(table("foretold", [{"x": 1}])).mark_rule(color=INK, strokeDash=[4, 3]).encode(x="x:Q"),
        source.mark_circle(size=130, color=BLUE, opacity=1).encode(x=x, y=y),
        source.mark_text(align="left", dx=10, color=INK).encode(x=x, y=y, text="words:N"),
    ]
    below = "At the line the errors came out as foretold; left of it they were smaller"
    return finished(titled(_sized(alt.layer(*layers), len(names)), title, subtitle=below))


def bias_and_noise(
    rows: Sequence[tuple[float, float, float]], best: float, *, across_title: str, title: str, unit: str = ""
) -> Chart:
    """Draws for candidate bounds what cutting adds to the error, what noise adds, and both together."""
    alt = altair()
    parts = ("what is cut away", "noise", "both together")
    data: list[Row] = [
        {"x": at, "y": height, "series": part}
        for at, bias, noise in rows
        for part, height in zip(parts, (bias, noise, bias + noise), strict=True)
    ]
    top = STEEP * min(bias + noise for _, bias, noise in rows)
    shown = [row for row in data if row["y"] <= top] or data
    x = across(across_title)
    y = upward(f"error{f' in {unit}' * bool(unit)}", top=max(row["y"] for row in shown) or 1.0)
    encodings = series(parts, dashed=True)
    source = alt.Chart(table("errors", shown))
    rule = alt.Chart(table("best", [{"x": best}])).mark_rule(color=MUTED, strokeDash=[4, 3]).encode(x="x:Q")
    layers = [
        rule,
        source.mark_line(strokeWidth=2.5).encode(x=x, y=y, **encodings),
        source.mark_circle(size=50, opacity=1).encode(x=x, y=y, color=encodings["color"]),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    return finished(
        titled(
            chart,
            title,
            subtitle="Narrow bounds cut more away, wide ones take more noise; the dashed line is the least of both",
        )
    )


def _sized(chart: Any, lines: int) -> Any:
    return chart.properties(width=WIDTH - 60, height=max(70, ROW * lines))


def _names(names: Sequence[str]) -> Any:
    alt = altair()
    axis = alt.Axis(domain=False, ticks=False, labelColor=INK, labelPadding=10, labelLimit=280)
    return alt.Y("name:N", sort=list(names), title=None, axis=axis)


def unlike(names: Sequence[str]) -> list[str]:
    """Shortens names, and makes them differ: a chart would put two of one name on one line.

    >>> unlike(["n", "n", "m"])
    ['n', 'n (2)', 'm']
    """
    seen, made = dict[str, int](), list[str]()
    for name in names:
        short = name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
        seen[short] = seen.get(short, 0) + 1
        made.append(short if seen[short] == 1 else f"{short} ({seen[short]})")
    return made


def percent_of(share: float) -> str:
    """A share in percent, with two digits.

    >>> percent_of(0.0312), percent_of(2.4), percent_of(0.00001)
    ('3.1 %', '240 %', 'under 0.01 %')
    """
    return "under 0.01 %" if share < LEAST else f"{100 * share:.0f} %" if share >= MOST else f"{100 * share:.2g} %"


def _within(share: float) -> float:
    return min(max(share, LEAST), 2 * MOST)

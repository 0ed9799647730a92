"""Charts of releases: their error bars, and what an attack on them finds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.accounting.losses.measures import Pure
from sfumato.charts.canvas import (
    BLUE,
    GREEN,
    HEIGHT,
    INK,
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
from sfumato.charts.curves import Row, short
from sfumato.errors import BadArgument
from sfumato.exact import up
from sfumato.release.record import Release

Errors = Mapping[str, Mapping[Pure, float]]
"""For each way of answering, the error at each loss."""


def error_bars(
    releases: Mapping[str, Release],
    *,
    measured: str = "released value",
    title: str = "Released values and their errors",
) -> Chart:
    """Draws single-number releases with the error bars that they carry."""
    rows = release_rows(releases)
    [confidence] = {release.confidence for release in releases.values()}
    chart = bars(rows, measured=measured).properties(width=WIDTH, height=52 * len(rows))
    below = [f"Bars hold the exact value with {short(100 * confidence)} % confidence"]
    below += dict.fromkeys(f"For some: {r.how.uncovered}" for r in releases.values() if r.how.uncovered)
    return finished(titled(chart, title, subtitle=below))


def release_rows(releases: Mapping[str, Release]) -> list[Row]:
    """Reads name, value, error bar and loss off releases of one number each."""
    rows = []
    for name, release in releases.items():
        if release.half_width is None or not isinstance(release.value, int | float):
            raise BadArgument("releases", "releases of single numbers that state their error", name)
        value, error = float(release.value), float(release.half_width)
        rows.append({"name": name, "x": value, "low": value - error, "high": value + error, "loss": str(release.loss)})
    if not rows or len({release.confidence for release in releases.values()}) != 1:
        raise BadArgument("releases", "one or more releases with errors at one confidence", list(releases))
    return rows


def bars(rows: Sequence[Row], *, measured: str, **scale: Any) -> Any:
    """Draws one bar with a dot for each row, in order."""
    alt = altair()
    order = [str(row["name"]) for row in rows]
    names = alt.Y(
        "name:N", sort=order, title=None, axis=alt.Axis(domain=False, ticks=False, labelColor=INK, labelPadding=10)
    )
    data = alt.Chart(table("releases", rows))
    line = data.mark_rule(color=BLUE, strokeWidth=3, opacity=0.45)
    dots = data.mark_circle(color=BLUE, size=110, opacity=1).encode(x=across(measured, **scale), y=names)
    return alt.layer(line.encode(x=across(measured, field="low", **scale), x2="high:Q", y=names), dots)


def guesses(
    values: Sequence[float],
    *,
    truth: float,
    possible: tuple[float, float],
    measured: str = "what the attack works out",
    title: str = "What the attack finds",
) -> Chart:
    """Draws how an attack's guesses spread around the secret, and the range that the secret was known to be in."""
    words = ("guesses", f"the truth: {short(truth)}", f"possible: {short(possible[0])} to {short(possible[1])}")
    drawn = spread(values, truth=truth, possible=possible, measured=measured, words=words)
    chart = drawn.properties(width=WIDTH, height=HEIGHT)
    share = sum(abs(guess - truth) <= (possible[1] - possible[0]) / 20 for guess in values) / len(values)
    below = f"{len(values)} attacks; {share:.1%} came within a twentieth of the possible range of the truth"
    return finished(titled(chart, title, subtitle=below))


def spread(
    values: Sequence[float],
    *,
    truth: float,
    possible: tuple[float, float],
    measured: str,
    words: tuple[str, str, str],
    bins: int = 48,
) -> Any:
    """Draws the histogram of the middle 98 % of guesses; the words name the guesses, the truth and what is possible."""
    alt = altair()
    low, high = middle_of(values)
    ends = [min(low, possible[0]), max(high, possible[1])]
    rows = histogram(values, bins=max(6, round(bins * (high - low) / (ends[1] - ends[0]))))
    left_out = 1 - sum(row["y"] for row in rows) / 100
    further = f" ({left_out:.0%} of them lie further out)" if left_out > 0.001 else ""
    x = across(measured + further, domain=ends, padding=0)
    y = upward("share of attacks, %", top=max(row["y"] for row in rows), ticks=5)
    guessed, true, known = words
    scale = alt.Scale(domain=list(words), range=[BLUE, ORANGE, GREEN])
    legend = alt.Legend(title=None, orient="top", symbolType="square", symbolSize=120)
    colour = alt.Color("series:N", scale=scale, legend=legend)
    band = alt.Chart(table("possible", [{"series": known, "x": possible[0], "x2": possible[1]}]))
    boxes = alt.Chart(table("guesses", [{"series": guessed, **row} for row in rows]))
    line = alt.Chart(table("truth", [{"series": true, "x": truth}]))
    return alt.layer(
        band.mark_rect(opacity=0.16).encode(x=x, x2="x2:Q", color=colour),
        boxes.mark_rect(opacity=0.72, stroke="white", strokeWidth=0.6).encode(
            x=x, x2="x2:Q", y=y, y2="y2:Q", color=colour
        ),
        line.mark_rule(strokeWidth=3).encode(x=x, color=colour),
    )


def middle_of(values: Sequence[float]) -> tuple[float, float]:
    """The ends of what is left without the outermost percent on each side."""
    if len(values) < 2:
        raise BadArgument("guesses", "at least two", len(values))
    ordered, cut = sorted(values), len(values) // 100
    return ordered[cut], ordered[-1 - cut]


def histogram(values: Sequence[float], *, bins: int) -> list[Row]:
    """Counts numbers in equal bins between their outermost percents, in per cent of all of them."""
    low, high = middle_of(values)
    width = (high - low) / bins or 1.0
    counts = [0] * bins
    cut = len(values) // 100
    for guess in sorted(values)[cut : len(values) - cut]:
        counts[min(bins - 1, math.floor((guess - low) / width))] += 1
    return [
        {"x": low + place * width, "x2": low + (place + 1) * width, "y": 100 * count / len(values), "y2": 0}
        for place, count in enumerate(counts)
    ]


def errors_by_loss(
    errors: Errors, *, measured: str = "error at 95 %", title: str = "More loss buys less error"
) -> Chart:
    """Draws error against ε for several ways of answering."""
    chart = error_lines(errors, measured=measured, legend=True).properties(width=WIDTH, height=HEIGHT)
    return finished(titled(chart, title))


def error_lines(errors: Errors, *, measured: str, legend: bool = False) -> Any:
    """Draws one line for each way of answering, on logarithmic scales, with its name on it or in a legend."""
    alt = altair()
    rows: list[Row] = [
        {"series": name, "x": up(loss.epsilon), "y": float(error)}
        for name, by_loss in errors.items()
        for loss, error in sorted(by_loss.items(), key=lambda item: item[0].epsilon)
    ]
    if not rows or any(not (0 < row["y"] < math.inf and 0 < row["x"] < math.inf) for row in rows):
        raise BadArgument("errors", "positive errors at positive losses", errors)
    x = across("privacy loss ε", type="log").axis(values=sorted({row["x"] for row in rows}), format="~g")
    y = upward_log(measured, [row["y"] for row in rows])
    encodings = series(list(errors), dashed=True)
    lines = alt.Chart(table("errors", rows)).mark_line(strokeWidth=2.5)
    if legend:
        return lines.encode(x=x, y=y, **encodings)
    encodings = {channel: encoding.legend(None) for channel, encoding in encodings.items()}
    starts = [next(row for row in rows if row["series"] == name) for name in errors]
    names = alt.Chart(table("names", starts)).mark_text(align="left", dx=14, dy=-3, fontSize=12)
    return alt.layer(
        lines.encode(x=x, y=y, **encodings), names.encode(x=x, y=y, text="series:N", color=encodings["color"])
    )


def classroom_figure(
    values: Sequence[float],
    *,
    truth: float,
    possible: tuple[float, float],
    releases: Mapping[str, Release],
    errors: Errors,
    caption: str,
) -> Chart:
    """Puts the classroom story in one figure: the attack, the private means, and what a larger class would gain."""
    alt = altair()
    ends = alt.Chart(table("limits", [{"x": end} for end in possible])).mark_rule(color=MUTED, strokeDash=[2, 3])
    means = alt.layer(ends.encode(x="x:Q"), bars(release_rows(releases), measured="mean score, points"))
    words = ("from private means", f"from exact means: {short(truth)}, every time", "scores that exist")
    attack = panel(
        spread(values, truth=truth, possible=possible, measured="score that the attack works out", words=words),
        "The attack: work out a score from the mean with it and the mean without it",
        width=830,
        height=230,
        subtitle=caption,
    )
    parts = [
        panel(means, "One private mean at each price, ± at 95 %", width=330, height=230),
        panel(error_lines(errors, measured="± at 95 %, points"), "A larger class pays less", width=386, height=230),
    ]
    figure = alt.vconcat(attack, alt.hconcat(*parts, spacing=48), spacing=30)
    figure = figure.resolve_scale(color="independent")
    headline = "Exact means give a grade away; private means do not"
    story = "A class of ten has a mean of 85. One student leaves and the mean becomes 87. What was their score?"
    return finished(titled(figure, headline, subtitle=story))

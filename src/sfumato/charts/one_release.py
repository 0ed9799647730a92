"""The chart of one release, for a report: its values with their error bars, its loss and who is protected."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sfumato.charts import answers
from sfumato.charts.canvas import (
    BLUE,
    HEIGHT,
    INK,
    WIDTH,
    Chart,
    across,
    altair,
    finished,
    table,
    titled,
    upward,
)
from sfumato.charts.curves import Row
from sfumato.charts.releases import bars
from sfumato.errors import BadArgument
from sfumato.release.answer import Answer
from sfumato.release.record import Cutting, Release
from sfumato.release.render.document import Entry, entries_of
from sfumato.release.render.sheet import headline
from sfumato.release.render.words import clean, exactly, finite, number, percent

MOST_BARS = 30
"""More values than this are drawn as a line, unless told otherwise."""

RANKS = {Cutting.UNITS: 0, Cutting.GROUPS: 1, Cutting.UNUSABLE: 2, Cutting.VALUES: 3}
MOST_CUTS, LONGEST = 4, 240
"""How many cuts, and how many letters of the question, a caption says."""

LETTERS = 92
"""How many letters of a caption stand on one line."""


def release(
    release: Release,
    *,
    names: Sequence[object] | None = None,
    measured: str = "released value",
    title: str | None = None,
    line: bool | None = None,
) -> Chart:
    """Draws what a release says: one number as a dot on its error bar, several as bars, a series as a line in a band.

    ``names`` are the public names of the values, where the release has none itself, such as the keys of a histogram.
    ``line`` says whether values follow each other, as running totals do; left out, more than 30 of them do.

    An answer that is a table has a panel for each column of values. Its first key of dates or numbers is the axis of a
    line, or else its first key names bars; further keys are told apart by colour, or in small parts.
    """
    if not isinstance(release, Release):
        raise BadArgument("release", "a release, such as what calling a measurement gives", release)
    if isinstance(release.value, Answer):
        return _draw_table(release, release.value, names, title=title, line=line)
    entries = _entries(release, names)
    rows = [row for row in (_row(entry) for entry in entries) if row is not None]
    if not rows:
        raise BadArgument("the value of a drawn release", "a number, or several", clean(release.value, most=80))
    several = release.value is not entries[0].value
    follows = several and (len(rows) > MOST_BARS if line is None else line)
    plot = (
        _series(rows, measured=measured)
        if follows
        else _bars(rows, measured=measured, whole=several and _counts(entries))
    )
    marks = "The band holds" if follows else "Error bars hold" if several else "The bar holds"
    below = [*_caption(release, marks, several=several), *_left_out(len(entries) - len(rows))]
    headline_text = title or (f"{len(rows)} released values" if several else headline(release))
    return finished(titled(plot, clean(headline_text), subtitle=below))


def _draw_table(
    release: Release, answer: Answer, names: Sequence[object] | None, *, title: str | None, line: bool | None
) -> Chart:
    if names is not None:
        raise BadArgument("names", "left out for an answer that is a table: its keys are its names", len(names))
    drawn, left_out = answers.draw_answer(answer, line=line)
    below = _sentences(release, [*_error_words(release, answer), *_record(release), *left_out])
    return finished(titled(drawn, clean(title or headline(release)), subtitle=below))


def _error_words(release: Release, answer: Answer) -> list[str]:
    """Says what error bars hold, and which columns have none."""
    bare = [clean(column.name, most=40) for column in answer.values if column.low is None]
    if len(bare) == len(answer.values):
        return ["No error is stated"]
    sure = f"with {percent(answer.confidence)} confidence, by itself"
    held = f"Each error bar or band holds its exact value {sure}"
    if release.how.cuts and release.how.uncovered:
        held = f"Each error bar or band covers the noise {sure}, and not what was cut"
    none = f"; {', '.join(bare)} {'have' if len(bare) > 1 else 'has'} no stated error"
    return [held + none if bare else held]


def _record(release: Release) -> list[str]:
    """Says what was asked and what was cut, in short; the release has all of it."""
    how = release.how
    ranked = sorted((cut for cut in how.cuts if cut.cutting is not Cutting.ROWS), key=lambda cut: RANKS[cut.cutting])
    said = [cut.what for cut in ranked[:MOST_CUTS]]
    if len(ranked) > MOST_CUTS:
        said.append(f"and {len(ranked) - MOST_CUTS} more that the release lists")
    cut = [f"Cut: {'; '.join(said)}"] if said else []
    if how.asked:
        return [f"Asked: {clean(how.asked, most=LONGEST)}", *cut]
    return [*cut, f"Before the noise: {' → '.join(how.steps)}"] if how.steps else cut


def _entries(release: Release, names: Sequence[object] | None) -> tuple[Entry, ...]:
    several = entries_of(release.value, release.half_width)
    if names is None:
        return several or (Entry("", release.value, release.half_width),)
    if len(names) != len(several):
        raise BadArgument("names", f"one for each of the {len(several)} values", len(names))
    return tuple(Entry(clean(name), entry.value, entry.half_width) for name, entry in zip(names, several, strict=True))


def _row(entry: Entry) -> Row | None:
    value, half = finite(entry.value), finite(entry.half_width)
    if value is None:
        return None
    return {"name": entry.name, "x": value, "low": value - (half or 0), "high": value + (half or 0)}


def _counts(entries: Sequence[Entry]) -> bool:
    return all((exact := exactly(entry.value)) is not None and exact.denominator == 1 for entry in entries)


def _bars(rows: Sequence[Row], *, measured: str, whole: bool) -> Any:
    """Draws counts as bars from zero, and other numbers as dots, with their error bars."""
    height = 60 if len(rows) == 1 else 26 * len(rows)
    if not whole:
        near_zero = {} if _near_zero(rows) else {"zero": False, "padding": 40}
        return bars(rows, measured=measured, **near_zero).properties(width=WIDTH, height=height)
    alt = altair()
    data = alt.Chart(table("releases", rows))
    look = alt.Axis(domain=False, ticks=False, labelColor=INK, labelPadding=10, labelLimit=260)
    names = alt.Y("name:N", sort=[str(row["name"]) for row in rows], title=None, axis=look)
    x = across(measured)
    drawn = [data.mark_bar(color=BLUE, opacity=0.55, height={"band": 0.62}).encode(x=x, y=names)]
    if any(row["low"] < row["high"] for row in rows):
        rule = data.mark_rule(color=INK, strokeWidth=1.6)
        drawn.append(rule.encode(x=across(measured, field="low"), x2="high:Q", y=names))
        for end in ("low", "high"):
            tick = data.mark_tick(color=INK, thickness=1.6, size=9, opacity=1)
            drawn.append(tick.encode(x=across(measured, field=end), y=names))
    return alt.layer(*drawn).properties(width=WIDTH, height=height)


def _near_zero(rows: Sequence[Row]) -> bool:
    """Tells whether the error bars can still be read on a scale that begins at zero."""
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    return bool(low <= 3 * (high - low) and -high <= 3 * (high - low))


def _series(rows: Sequence[Row], *, measured: str) -> Any:
    """Draws values that follow each other as a line, with a band that holds the exact ones."""
    alt = altair()
    places = [_place(row, place) for place, row in enumerate(rows, start=1)]
    ordered = all(before < after for before, after in pairwise(places))
    drawn = [
        {"place": place if ordered else index, "y": row["x"], "low": row["low"], "high": row["high"]}
        for index, (place, row) in enumerate(zip(places, rows, strict=True), start=1)
    ]
    data = alt.Chart(table("releases", drawn))
    x = across("", field="place").axis(labelOverlap=True, tickMinStep=1, format="~d" if ordered else "~g")
    y = upward(measured, zero=False, nice=True)
    band = data.mark_area(color=BLUE, opacity=0.22).encode(
        x=x, y=upward(measured, field="low", zero=False), y2="high:Q"
    )
    return alt.layer(band, data.mark_line(color=BLUE, strokeWidth=2).encode(x=x, y=y)).properties(
        width=WIDTH, height=HEIGHT
    )


def _place(row: Row, place: int) -> float:
    try:
        return float(str(row["name"]))
    except ValueError:
        return place


def _caption(release: Release, marks: str, *, several: bool) -> list[str]:
    """Says the loss, who is protected, and what the bars hold."""
    held = "all exact values at once" if several else "the exact value"
    error = f"{marks} {held}, with {percent(release.confidence)} confidence"
    if release.half_width is None:
        error = "No error is stated"
    if release.half_width is not None and release.how.uncovered:
        error += f"; {release.how.uncovered}"
    return _sentences(release, [error, *_record(release)])


def _sentences(release: Release, sentences: Sequence[str]) -> list[str]:
    words = [f"{release.loss} for {release.unit}", *sentences]
    if release.replayable:
        words.append("REPLAYABLE: not private")
    return wrapped([clean(sentence) for sentence in words])


def wrapped(sentences: Sequence[str]) -> list[str]:
    """Breaks sentences into lines that a chart is wide enough for."""
    lines = []
    for sentence in sentences:
        line = ""
        for word in sentence.split():
            if line and len(line) + 1 + len(word) > LETTERS:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}".strip()
        lines.append(line)
    return lines


def _left_out(count: int) -> list[str]:
    return [f"{number(count)} of the values are no finite numbers, and are not drawn"] if count else []

"""The charts of answers that are tables: one panel a value column, bars for names, lines for dates and numbers."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from sfumato.errors import BadArgument
from sfumato.release.answer import Answer, AnswerColumn, floats_of
from sfumato.release.charts.bins import bins_of, panels_of
from sfumato.release.charts.canvas import BLUE, HEIGHT, INK, SERIES, WIDTH, across, altair, panel, series, table, upward
from sfumato.release.charts.curves import Row
from sfumato.release.render.answers import key
from sfumato.release.render.words import clean

MOST_NAMES, MOST_POINTS, MOST_PARTS, MOST_PANELS = 40, 2000, 12, 4
"""How many names, points of a line, series and value columns are drawn, at most; the caption says what is left out."""

DENSE = 30
"""More points than this in a line are drawn with a band, and not with error bars."""

NARROW, BETWEEN = 180, 28
"""The width of one of several small parts, and the space between them."""


@final
@dataclass(frozen=True)
class Layout:
    """Is what is drawn where: the place of each row on the axis, the series it belongs to, and what is left out."""

    axis: str
    ordered: bool
    temporal: bool
    rows: tuple[int, ...]
    places: tuple[Any, ...]
    parts: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """Are the places, each once, in order."""
        return list(dict.fromkeys(self.places))

    @property
    def told(self) -> list[str]:
        """Are the series, each once, in order."""
        return list(dict.fromkeys(self.parts))


def drawn(answer: Answer, *, line: bool | None) -> tuple[Any, list[str]]:
    """Draws an answer, and says what is left out."""
    columns = [column for column in answer.values if not np.isnan(floats_of(column.values)).all()]
    if not columns:
        raise BadArgument(
            "the value of a drawn release", "an answer with numbers in a value column", list(answer.names)
        )
    found = panels_of(columns)
    more = sum(len(group) for group in found[MOST_PANELS:])
    said = [f"{more} more column{'s are' if more > 1 else ' is'} not drawn"] * (more > 0)
    found = found[:MOST_PANELS]
    if len(answer) == 1 and line is None:
        parts = [_alone(group, place) for place, group in enumerate(found)]
        return _stacked(parts), said
    layout = _layout(answer, line=line)
    panels, missing = [], 0
    for place, group in enumerate(found):
        if group[0].bin is not None:
            panels.append(_many_bins(group, answer, part=f"answer_{place}"))
            said += [f"{len(answer) - MOST_PARTS} more rows have bins that are not drawn"] * (len(answer) > MOST_PARTS)
            continue
        rows = _rows(group[0], layout)
        missing += len(layout.rows) - len(rows)
        panels.append(_panel(group[0], rows, layout, part=f"answer_{place}"))
    said += [f"{missing} cell{'s have' if missing > 1 else ' has'} no finite number, and nothing drawn"] * (missing > 0)
    plain = any(group[0].bin is None for group in found)
    return _stacked(panels), [*(layout.left_out if plain else ()), *said]


def _alone(group: Sequence[AnswerColumn], place: int) -> Any:
    """Draws what the only row of an answer has in one column, or in the bins of one histogram."""
    return _one(group[0], place) if group[0].bin is None else bins_of(group, [0], [""], part=f"answer_{place}")


def _many_bins(group: Sequence[AnswerColumn], answer: Answer, *, part: str) -> Any:
    rows = range(min(len(answer), MOST_PARTS))
    labels = [_labels(one.values[: len(rows)].tolist()) for one in answer.keys]
    names = [" · ".join(told) for told in zip(*labels, strict=True)] or [str(row + 1) for row in rows]
    return bins_of(group, rows, names, part=part)


def _stacked(panels: Sequence[Any]) -> Any:
    return panels[0] if len(panels) == 1 else altair().vconcat(*panels, spacing=BETWEEN)


def _rows(column: AnswerColumn, layout: Layout) -> list[Row]:
    """Reads a column; where an end is not on file, or infinite, the error bar has no length."""
    kept = np.array(layout.rows, dtype=np.intp)
    values = floats_of(column.values[kept])
    ends = [values if cells is None else floats_of(cells[kept]) for cells in (column.low, column.high)]
    low, high = (np.where(np.isfinite(end), end, values).tolist() for end in ends)
    found = zip(layout.places, layout.parts, values.tolist(), low, high, strict=True)
    return [
        {"place": place, "series": part, "value": value, "low": below, "high": above}
        for place, part, value, below, above in found
        if np.isfinite(value)
    ]


def _layout(answer: Answer, *, line: bool | None) -> Layout:
    keys = answer.keys
    axis = next((one for one in keys if _is_ordered(one)), None) if line is not False else None
    ordered = axis is not None or bool(line) or not keys
    axis = axis or (keys[0] if keys and not line else None)
    most = MOST_POINTS if ordered else MOST_NAMES * MOST_PARTS
    shown = min(len(answer), most)
    others = [_labels(one.values[:shown].tolist()) for one in keys if one is not axis]
    places = list(range(1, shown + 1)) if axis is None else _places(axis, shown, ordered=ordered)
    parts = [""] * shown if axis is None else [" · ".join(names) for names in zip(*others, strict=True)] or [""] * shown
    named = None if ordered else set(list(dict.fromkeys(places))[:MOST_NAMES])
    told = set(list(dict.fromkeys(parts))[:MOST_PARTS])
    kept = [
        row
        for row in range(shown)
        if places[row] is not None and (named is None or places[row] in named) and parts[row] in told
    ]
    left = len(answer) - len(kept)
    said = [f"{len(kept)} of {len(answer)} rows are drawn, the first that fit"] * (left > 0)
    return Layout(
        "" if axis is None else clean(axis.name, most=60),
        ordered,
        bool(ordered and axis is not None and axis.values.dtype.kind == "O" and _is_temporal(axis)),
        tuple(kept),
        tuple(places[row] for row in kept),
        tuple(parts[row] for row in kept),
        tuple(said),
    )


def _is_temporal(column: AnswerColumn) -> bool:
    return any(isinstance(cell, datetime.date) for cell in column.values[:MOST_POINTS].tolist())


def _is_ordered(column: AnswerColumn) -> bool:
    """Tells whether the keys of a column have places on an axis: dates, times, numbers."""
    return column.values.dtype.kind in "if" or (
        column.values.dtype.kind == "O"
        and any(
            type(cell) in (int, float) or isinstance(cell, datetime.date)
            for cell in column.values[:MOST_POINTS].tolist()
        )
    )


def _places(axis: AnswerColumn, shown: int, *, ordered: bool) -> list[Any]:
    cells = axis.values[:shown].tolist()
    if not ordered:
        return _labels(cells)
    if _is_temporal(axis):
        return [None if cell is None else _moment(cell) for cell in cells]
    floats = floats_of(axis.values[:shown])
    return [place if np.isfinite(place) else None for place in floats.tolist()]


def _moment(cell: datetime.date) -> str:
    """Writes a date or time for an axis that reads them all as UTC: the day that is drawn is the day that is meant."""
    if not isinstance(cell, datetime.datetime):
        return f"{cell.isoformat()}T00:00:00Z"
    there = cell if cell.tzinfo is None else cell.astimezone(datetime.UTC)
    return f"{there.replace(tzinfo=None).isoformat()}Z"


def _labels(cells: Iterable[Any]) -> list[str]:
    """Names keys; different ones that would read the same are numbered, so that no two are drawn as one."""
    found: dict[Any, str] = {}
    taken: set[str] = set()
    labels = []
    for cell in cells:
        if cell not in found:
            label, place = key(cell), 1
            while label in taken:
                place += 1
                label = f"{key(cell)} ({place})"
            taken.add(label)
            found[cell] = label
        labels.append(found[cell])
    return labels


def _panel(column: AnswerColumn, rows: list[Row], layout: Layout, *, part: str) -> Any:
    """Draws one column: in one part with colours, or, for more series than there are colours, in small parts."""
    name = clean(column.name, most=60)
    whole = column.values.dtype.kind == "i"
    if len(layout.told) <= len(SERIES):
        return _part(rows, layout, part=part, name=name, whole=whole, width=WIDTH)
    parts = []
    for place, told in enumerate(layout.told):
        found = [row for row in rows if row["series"] == told]
        small = _part(found, layout, part=f"{part}_{place}", name=name, whole=whole, width=NARROW, told=[told])
        height = 120 if layout.ordered else 26 * len(layout.names)
        parts.append(panel(small, told, width=NARROW, height=height))
    return altair().concat(*parts, columns=3, spacing=BETWEEN).resolve_scale(x="shared", y="shared")


def _part(
    rows: list[Row],
    layout: Layout,
    *,
    part: str,
    name: str,
    whole: bool,
    width: float,
    told: Sequence[str] | None = None,
) -> Any:
    told = layout.told if told is None else told
    colours = series(told, width=width)["color"] if len(told) > 1 else altair().value(BLUE)
    if layout.ordered:
        return _lines(rows, layout, part=part, name=name, colours=colours, whole=whole).properties(
            width=width, height=HEIGHT
        )
    height = len(layout.names) * (26 if len(told) == 1 else 14 * len(told) + 10)
    return _bars(rows, layout, part=part, name=name, colours=colours, whole=whole, several=len(told) > 1).properties(
        width=width, height=max(height, 50)
    )


def _lines(rows: list[Row], layout: Layout, *, part: str, name: str, colours: Any, whole: bool) -> Any:
    alt = altair()
    data = alt.Chart(table(part, rows))
    kind, scale = ("T", {"type": "utc"}) if layout.temporal else ("Q", {"zero": False, "nice": False})
    steps = not layout.temporal and all(float(place).is_integer() for place in layout.names)
    look = _whole(layout.names) if steps else _days(layout) if layout.temporal else {}
    axis = alt.Axis(labelOverlap=True, labelSeparation=8, grid=False, **look)
    x = alt.X(f"place:{kind}", title=layout.axis, scale=alt.Scale(padding=8, **scale), axis=axis)
    scales = {"zero": whole, "nice": True}
    y, low = upward(name, field="value", **scales), upward(name, field="low", **scales)
    dense = len(rows) > DENSE * len(layout.told)
    line = data.mark_line(strokeWidth=2 if dense else 1.5, opacity=1 if dense else 0.45).encode(x=x, y=y, color=colours)
    if dense:
        return alt.layer(data.mark_area(opacity=0.2).encode(x=x, y=low, y2="high:Q", color=colours), line)
    bars = data.mark_rule(strokeWidth=2, opacity=0.75).encode(x=x, y=low, y2="high:Q", color=colours)
    return alt.layer(line, bars, data.mark_circle(size=60, opacity=1).encode(x=x, y=y, color=colours))


def _whole(places: Sequence[Any]) -> dict[str, Any]:
    """Gives the form of whole numbers on an axis: where there are few, they are its ticks, and no halves."""
    return {"format": "~f", **({"values": sorted(places)} if len(places) <= DENSE else {"tickMinStep": 1})}


def _days(layout: Layout) -> dict[str, str]:
    """Gives the form of dates on an axis, where all are whole days: one form for all of them."""
    if not all(str(place).endswith("T00:00:00Z") for place in layout.names):
        return {}
    years = {str(place)[:4] for place in layout.names}
    return {"format": "%-d %b" if len(years) == 1 else "%-d %b %Y"}


def _bars(rows: list[Row], layout: Layout, *, part: str, name: str, colours: Any, whole: bool, several: bool) -> Any:
    """Draws whole numbers as bars from zero, and others as dots, each with its error bar."""
    alt = altair()
    data = alt.Chart(table(part, rows))
    look = alt.Axis(domain=False, ticks=False, labelColor=INK, labelPadding=10, labelLimit=260)
    apart = alt.Scale(paddingInner=0.3, paddingOuter=0.15) if several else alt.Undefined
    names = alt.Y("place:N", sort=layout.names, title=layout.axis or None, axis=look, scale=apart)
    places: dict[str, Any] = {"y": names}
    if several:
        within = alt.Scale(paddingInner=0.2) if whole else alt.Undefined
        places["yOffset"] = alt.YOffset("series:N", sort=layout.told, scale=within, bandPosition=0.5)
    scales: dict[str, Any] = {"zero": whole} if whole else {"zero": False, "padding": 24}
    x, low = across(name, field="value", **scales), across(name, field="low", **scales)
    if not whole:
        rule = data.mark_rule(strokeWidth=2.5, opacity=0.5).encode(x=low, x2="high:Q", color=colours, **places)
        return alt.layer(rule, data.mark_circle(size=70, opacity=1).encode(x=x, color=colours, **places))
    bars = data.mark_bar(opacity=0.55, **({} if several else {"height": {"band": 0.62}}))
    error = data.mark_rule(color=INK, strokeWidth=1.6).encode(x=low, x2="high:Q", **places)
    return alt.layer(bars.encode(x=x, color=colours, **places), error)


def _one(column: AnswerColumn, place: int) -> Any:
    """Draws the one number of a column as a dot on its error bar, on a scale of its own."""
    layout = Layout("", False, False, (0,), (clean(column.name, most=60),), ("",), ())
    rows = _rows(column, layout)
    return _bars(
        rows, layout, part=f"answer_{place}", name="", colours=altair().value(BLUE), whole=False, several=False
    ).properties(width=WIDTH, height=50)

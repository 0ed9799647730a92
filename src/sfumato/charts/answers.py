"""The charts of answers that are tables: one panel a value column, bars for names, lines for dates and numbers."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from sfumato.charts.bins import bins_of, panels_of
from sfumato.charts.canvas import BLUE, HEIGHT, INK, SERIES, WIDTH, across, altair, panel, series, table, upward
from sfumato.charts.curves import Row
from sfumato.errors import BadArgument
from sfumato.release.answer import Answer, AnswerColumn, floats_of
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
    """What is drawn where: the place of each row on the axis, the series it belongs to, and what is left out."""

    axis: str
    ordered: bool
    temporal: bool
    rows: tuple[int, ...]
    places: tuple[Any, ...]
    parts: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The distinct places, in order."""
        return list(dict.fromkeys(self.places))

    @property
    def series(self) -> list[str]:
        """The distinct series, in order."""
        return list(dict.fromkeys(self.parts))


def draw_answer(answer: Answer, *, line: bool | None) -> tuple[Any, list[str]]:
    """Draws an answer, with sentences on what is left out."""
    columns = [column for column in answer.values if not np.isnan(floats_of(column.values)).all()]
    if not columns:
        raise BadArgument(
            "the value of a drawn release", "an answer with numbers in a value column", list(answer.names)
        )
    groups = panels_of(columns)
    more = sum(len(group) for group in groups[MOST_PANELS:])
    said = [f"{more} more column{'s are' if more > 1 else ' is'} not drawn"] if more else []
    groups = groups[:MOST_PANELS]
    if len(answer) == 1 and line is None:
        parts = [_alone(group, place) for place, group in enumerate(groups)]
        return _stacked(parts), said
    layout = _layout(answer, line=line)
    panels, missing = [], 0
    for place, group in enumerate(groups):
        if group[0].bin is not None:
            panels.append(_many_bins(group, answer, part=f"answer_{place}"))
            if len(answer) > MOST_PARTS:
                said.append(f"{len(answer) - MOST_PARTS} more rows have bins that are not drawn")
            continue
        rows = _rows(group[0], layout)
        missing += len(layout.rows) - len(rows)
        panels.append(_panel(group[0], rows, layout, part=f"answer_{place}"))
    if missing:
        said.append(f"{missing} cell{'s have' if missing > 1 else ' has'} no finite number, and nothing drawn")
    plain = any(group[0].bin is None for group in groups)
    return _stacked(panels), [*(layout.left_out if plain else ()), *said]


def _alone(group: Sequence[AnswerColumn], place: int) -> Any:
    """Draws what the only row of an answer has in one column, or in the bins of one histogram."""
    return _one(group[0], place) if group[0].bin is None else bins_of(group, [0], [""], part=f"answer_{place}")


def _many_bins(group: Sequence[AnswerColumn], answer: Answer, *, part: str) -> Any:
    rows = range(min(len(answer), MOST_PARTS))
    labels = [_labels(column.values[: len(rows)].tolist()) for column in answer.keys]
    names = [" · ".join(label) for label in zip(*labels, strict=True)] or [str(row + 1) for row in rows]
    return bins_of(group, rows, names, part=part)


def _stacked(panels: Sequence[Any]) -> Any:
    return panels[0] if len(panels) == 1 else altair().vconcat(*panels, spacing=BETWEEN)


def _rows(column: AnswerColumn, layout: Layout) -> list[Row]:
    """Reads a column; where an end is unknown or infinite, the error bar has no length."""
    shown = np.array(layout.rows, dtype=np.intp)
    values = floats_of(column.values[shown])
    ends = [values if end_cells is None else floats_of(end_cells[shown]) for end_cells in (column.low, column.high)]
    low, high = (np.where(np.isfinite(end), end, values).tolist() for end in ends)
    cells = zip(layout.places, layout.parts, values.tolist(), low, high, strict=True)
    return [
        {"place": place, "series": part, "value": value, "low": below, "high": above}
        for place, part, value, below, above in cells
        if np.isfinite(value)
    ]


def _layout(answer: Answer, *, line: bool | None) -> Layout:
    keys = answer.keys
    axis = next((column for column in keys if _is_ordered(column)), None) if line is not False else None
    ordered = axis is not None or bool(line) or not keys
    axis = axis or (keys[0] if keys and not line else None)
    most = MOST_POINTS if ordered else MOST_NAMES * MOST_PARTS
    shown = min(len(answer), most)
    others = [_labels(column.values[:shown].tolist()) for column in keys if column is not axis]
    places = list(range(1, shown + 1)) if axis is None else _places(axis, shown, ordered=ordered)
    parts = [""] * shown if axis is None else [" · ".join(names) for names in zip(*others, strict=True)] or [""] * shown
    named = None if ordered else set(list(dict.fromkeys(places))[:MOST_NAMES])
    series = set(list(dict.fromkeys(parts))[:MOST_PARTS])
    drawn_rows = [
        row
        for row in range(shown)
        if places[row] is not None and (named is None or places[row] in named) and parts[row] in series
    ]
    left = len(answer) - len(drawn_rows)
    said = [f"{len(drawn_rows)} of {len(answer)} rows are drawn, the first that fit"] if left else []
    return Layout(
        "" if axis is None else clean(axis.name, most=60),
        ordered,
        bool(ordered and axis is not None and axis.values.dtype.kind == "O" and _is_temporal(axis)),
        tuple(drawn_rows),
        tuple(places[row] for row in drawn_rows),
        tuple(parts[row] for row in drawn_rows),
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
    label_of: dict[Any, str] = {}
    taken: set[str] = set()
    labels = []
    for cell in cells:
        if cell not in label_of:
            label, place = key(cell), 1
            while label in taken:
                place += 1
                label = f"{key(cell)} ({place})"
            taken.add(label)
            label_of[cell] = label
        labels.append(label_of[cell])
    return labels


def _panel(column: AnswerColumn, rows: list[Row], layout: Layout, *, part: str) -> Any:
    """Draws one column: in one part with colours, or, for more series than there are colours, in small parts."""
    name = clean(column.name, most=60)
    whole = column.values.dtype.kind == "i"
    if len(layout.series) <= len(SERIES):
        return _part(rows, layout, part=part, name=name, whole=whole, width=WIDTH)
    parts = []
    for place, own_name in enumerate(layout.series):
        own_rows = [row for row in rows if row["series"] == own_name]
        small = _part(own_rows, layout, part=f"{part}_{place}", name=name, whole=whole, width=NARROW, names=[own_name])
        height = 120 if layout.ordered else 26 * len(layout.names)
        parts.append(panel(small, own_name, width=NARROW, height=height))
    return altair().concat(*parts, columns=3, spacing=BETWEEN).resolve_scale(x="shared", y="shared")


def _part(
    rows: list[Row],
    layout: Layout,
    *,
    part: str,
    name: str,
    whole: bool,
    width: float,
    names: Sequence[str] | None = None,
) -> Any:
    names = layout.series if names is None else names
    colours = series(names, width=width)["color"] if len(names) > 1 else altair().value(BLUE)
    if layout.ordered:
        return _lines(rows, layout, part=part, name=name, colours=colours, whole=whole).properties(
            width=width, height=HEIGHT
        )
    height = len(layout.names) * (26 if len(names) == 1 else 14 * len(names) + 10)
    return _bars(rows, layout, part=part, name=name, colours=colours, whole=whole, several=len(names) > 1).properties(
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
    dense = len(rows) > DENSE * len(layout.series)
    line = data.mark_line(strokeWidth=2 if dense else 1.5, opacity=1 if dense else 0.45).encode(x=x, y=y, color=colours)
    if dense:
        return alt.layer(data.mark_area(opacity=0.2).encode(x=x, y=low, y2="high:Q", color=colours), line)
    bars = data.mark_rule(strokeWidth=2, opacity=0.75).encode(x=x, y=low, y2="high:Q", color=colours)
    return alt.layer(line, bars, data.mark_circle(size=60, opacity=1).encode(x=x, y=y, color=colours))


def _whole(places: Sequence[Any]) -> dict[str, Any]:
    """Axis settings for whole numbers: where there are few, they are its ticks, and no halves."""
    return {"format": "~f", **({"values": sorted(places)} if len(places) <= DENSE else {"tickMinStep": 1})}


def _days(layout: Layout) -> dict[str, str]:
    """Axis settings for dates that are all whole days: one format for all of them."""
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
        places["yOffset"] = alt.YOffset("series:N", sort=layout.series, scale=within, bandPosition=0.5)
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

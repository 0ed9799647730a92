"""The chart of a histogram in an answer: its bins side by side, one picture for each group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.charts.canvas import BLUE, HEIGHT, INK, WIDTH, across, altair, panel, table, upward
from sfumato.charts.curves import Row
from sfumato.release.answer import AnswerColumn, floats_of
from sfumato.release.render.words import clean

NARROW, LOW, BETWEEN = 180, 120, 28
"""The width and the height of one of several small pictures, and the space between them."""


def panels_of(columns: Sequence[AnswerColumn]) -> list[list[AnswerColumn]]:
    """Puts the bins of one histogram together; any other column stands by itself."""
    groups: dict[object, list[AnswerColumn]] = {}
    for place, column in enumerate(columns):
        groups.setdefault(place if column.bin is None else column.bin.histogram, []).append(column)
    return list(groups.values())


def bins_of(columns: Sequence[AnswerColumn], rows: Sequence[int], names: Sequence[str], *, part: str) -> Any:
    """Draws the bins of one histogram, for some rows of the answer under their names."""
    parts = [
        _draw_bins([_row(column, row) for column in columns], columns[0], part=f"{part}_{place}", small=len(rows) > 1)
        for place, row in enumerate(rows)
    ]
    if len(parts) == 1:
        return parts[0].properties(width=WIDTH, height=HEIGHT * 0.7)
    small = [panel(drawing, name, width=NARROW, height=LOW) for drawing, name in zip(parts, names, strict=True)]
    return altair().concat(*small, columns=3, spacing=BETWEEN).resolve_scale(x="shared", y="shared")


def _row(column: AnswerColumn, row: int) -> Row:
    """Reads one bin; where an end is unknown or infinite, the error bar has no length."""
    cells = (column.values, column.low, column.high)
    value, low, high = (
        np.nan if column_cells is None else float(floats_of(column_cells[row : row + 1])[0]) for column_cells in cells
    )
    low, high = (end if np.isfinite(end) else value for end in (low, high))
    edges = (0.0, 1.0) if column.bin is None else (float(column.bin.low), float(column.bin.high))
    return {
        "x": edges[0],
        "x2": edges[1],
        "middle": sum(edges) / 2,
        "value": value,
        "zero": 0,
        "low": low,
        "high": high,
    }


def _draw_bins(rows: Sequence[Row], first: AnswerColumn, *, part: str, small: bool) -> Any:
    alt = altair()
    data = alt.Chart(table(part, [row for row in rows if np.isfinite(row["value"])]))
    of = "" if first.bin is None else clean(first.bin.of, most=60)
    ends = [rows[0]["x"], rows[-1]["x2"]]
    edges = sorted({*(row["x"] for row in rows), ends[1]})
    look = alt.Axis(grid=False, labelOverlap=True, labelSeparation=4 if small else 8, values=edges)
    title = "rows" if small else f"rows with {of}"
    y, low = (upward(title, field=field, ticks=4, zero=True, nice=True) for field in ("value", "low"))
    boxes = data.mark_rect(color=BLUE, opacity=0.55, stroke="white", strokeWidth=1)
    boxes = boxes.encode(x=across(of, field="x", domain=ends, padding=0).axis(look), x2="x2:Q", y=y, y2="zero:Q")
    error = data.mark_rule(color=INK, strokeWidth=1.6).encode(x="middle:Q", y=low, y2="high:Q")
    return alt.layer(boxes, error)

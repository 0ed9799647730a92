"""Times one engine over sizes: rows, groups that are found, and sums of columns; people are the unit throughout."""

from __future__ import annotations

import sys
from pathlib import Path

import sfumato as sf
from contenders.engines.preparing import wide
from contenders.engines.sizes import Point, points
from contenders.engines.tables import BEHIND
from contenders.query.asking import LIMIT, losses
from contenders.query.cases import MOST_GROUPS, MOST_ROWS
from contenders.query.turns import Way, seconds
from side_by_side.stopwatch import report, report_version

ROUNDS = 2
"""The best of so many, after one that is not counted."""


def codebook(point: Point) -> dict[str, object]:
    """The public facts of the rows: nobody states which pages there are."""
    number: dict[str, object] = {"type": "int", "between": [0, 100], "nullable": False, "source": "the form"}
    columns: dict[str, object] = {
        "user_id": {"type": "int"},
        "page": {"type": "int", "nullable": False, "source": "the form"},
    }
    return {
        "codebook": 1,
        "title": "Pages",
        "unit": {"protects": "a person", "id": "user_id"},
        "tables": {"pages": {"columns": columns | {f"x{place}": number for place in range(point.columns)}}},
    }


def asked(data: object, point: Point, **engine: object) -> Way:
    """Sums of all columns by page."""
    data_set = sf.Dataset({"pages": data}, codebook=codebook(point), **engine)  # type: ignore[arg-type]
    session, loss = data_set.session(limit=LIMIT, ledger="memory:"), losses()
    sums = ", ".join(f"SUM(x{place})" for place in range(point.columns))
    text = f"SELECT page, {sums} FROM pages GROUP BY page"
    return lambda: session.sql(text, loss=loss(), max_groups=MOST_GROUPS, max_rows_per_group=MOST_ROWS)


def main(engine: str, folder: str) -> None:
    """Times every point that this engine is asked for."""
    report_version("sfumato")
    for point in points(engine):
        with BEHIND[engine](wide(Path(folder), point.groups, point.rows), "pages") as (data, chosen):
            way = asked(data, point, **chosen)
            way()
            best = min(seconds(way) for _ in range(ROUNDS))
        report(engine, kind="curve", rows=point.rows, groups=point.groups, columns=point.columns, seconds=best)


main(*sys.argv[1:])

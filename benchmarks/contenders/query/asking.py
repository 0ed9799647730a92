"""The question, asked in each of the ways that run in sfumato's own environment."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

import sfumato as sf
from contenders.query.by_hand import FIXED, PEOPLE, PLAIN
from contenders.query.cases import DELTA, EPSILON, LONGEST, MOST_GROUPS, MOST_ROWS, SHORTEST, SITES

QUESTION = (
    """SELECT site, COUNT(*) AS "count", SUM(minutes) AS "sum", AVG(minutes) AS "mean" FROM visits GROUP BY site"""
)
LIMIT = sf.Approx(100_000, 0.5)
"""Far more than a benchmark spends."""

COLUMNS: dict[str, object] = {
    "site": {"type": "int", "between": [0, SITES - 1], "nullable": False, "source": "the list of sites"},
    "minutes": {"type": "float", "between": [SHORTEST, LONGEST], "nullable": False, "source": "opening hours"},
}


def codebook(*, people: bool) -> dict[str, object]:
    """Gives the public facts of the visits, with people or rows as the unit."""
    columns: dict[str, object] = {"user_id": {"type": "int"}, **COLUMNS} if people else COLUMNS
    bounds: dict[str, object] = {} if people else {"contributions": {"rows": 1, "source": "a visit is one row"}}
    return {
        "codebook": 1,
        "title": "Visits to sites",
        "unit": {"protects": "a person", "id": "user_id"} if people else {"protects": "a visit"},
        "tables": {"visits": {"columns": columns, **bounds}},
    }


def losses() -> Callable[[], sf.Approx]:
    """Gives a loss that differs a little every time: a question that was answered before costs nothing and no time."""
    numbers = count()
    return lambda: sf.Approx(EPSILON + next(numbers) / 1_000_000, DELTA)


def ours(visits: Path, *, people: bool) -> Callable[[], Any]:
    """Gives the question as sfumato answers it."""
    session = sf.Dataset(visits, name="visits", codebook=codebook(people=people)).session(limit=LIMIT, ledger="memory:")
    loss = losses()
    if people:
        return lambda: session.sql(QUESTION, loss=loss(), max_groups=MOST_GROUPS, max_rows_per_group=MOST_ROWS)
    return lambda: session.sql(QUESTION, loss=loss())


def engine(visits: Path, question: str) -> Callable[[], Any]:
    """Gives the question as DuckDB answers it, from the same file."""
    connection = duckdb.connect()
    connection.read_parquet(str(visits)).create_view("visits")
    text = question.format(visits="visits")
    return lambda: connection.execute(text).fetchnumpy()


WAYS: dict[str, Callable[[Path], Callable[[], Any]]] = {
    "plain": lambda visits: engine(visits, PLAIN),
    "fixed": lambda visits: engine(visits, FIXED),
    "rows": lambda visits: ours(visits, people=False),
    "hand": lambda visits: engine(visits, PEOPLE),
    "people": lambda visits: ours(visits, people=True),
}
"""Two of them are sfumato's: with rows and with people as the unit."""

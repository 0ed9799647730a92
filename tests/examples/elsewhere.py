"""Questions in the SQL of other databases, and the files that hold what is written for them.

``python -m tests.examples.elsewhere`` writes these anew: read what changed before it is kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.errors import QueryRefused
from sfumato.query.engines.elsewhere.compiling import compile_sql
from sfumato.query.engines.elsewhere.databases import DATABASES

FOLDER = Path(__file__).parents[1] / "unit" / "golden" / "elsewhere"

BOOK: dict[str, Any] = {
    "codebook": 1,
    "title": "Visits",
    "unit": {"protects": "a person", "id": "user_id"},
    "tables": {
        "visits": {
            "columns": {
                "user_id": {"type": "int"},
                "day": {"type": "categories", "categories": ["Mon", "it's \\ Tue"], "source": "the calendar"},
                "note": {"type": "str"},
                "began": {"type": "date", "between": ["2026-01-01", "2026-03-31"], "source": "the calendar"},
                "age": {"type": "int", "between": [0, 120], "source": "biology"},
                "minutes": {"type": "float", "between": [0, 90.5], "source": "opening hours"},
            }
        }
    },
}

QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "count": ("SELECT COUNT(*) AS n FROM visits", {"max_rows": 3}),
    "averages": (
        "SELECT day, AVG(minutes) AS m FROM visits WHERE age >= 18 GROUP BY day",
        {"max_groups": 2, "max_rows_per_group": 3},
    ),
    "months": (
        "SELECT DATE_TRUNC('month', began) AS month, COUNT(*) FILTER (WHERE minutes > 30.5) AS long FROM visits "
        "GROUP BY month",
        {"max_groups": 1, "max_rows_per_group": 2},
    ),
    "people": (
        "SELECT COUNT(*) AS n FROM (SELECT user_id, SUM(minutes) AS s FROM visits GROUP BY user_id) WHERE s > 100",
        {"max_rows_per_group": 1},
    ),
    "notes": ("SELECT COUNT(DISTINCT note) AS n FROM visits", {"max_rows": 2}),
}


def written(dialect: str, name: str) -> str:
    """What is written for a question, or why it is refused."""
    question, settings = QUESTIONS[name]
    try:
        return compile_sql(question, BOOK, dialect=dialect, **settings) + "\n"
    except QueryRefused as refused:
        return f"-- refused: {refused}\n"


def golden(dialect: str, name: str) -> Path:
    """The file that holds it."""
    return FOLDER / f"{dialect}_{name}.sql"


if __name__ == "__main__":
    for database in DATABASES:
        for question in QUESTIONS:
            golden(database.name, question).write_text(written(database.name, question), encoding="utf-8")

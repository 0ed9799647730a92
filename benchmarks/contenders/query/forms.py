"""Times other forms of questions about bounded people: by sfumato, or by hand in DuckDB, in an interpreter of its own.

Times are of the processor, all threads together, so that what else the machine does counts little.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

import sfumato as sf
from contenders.query.asking import LIMIT, codebook, losses
from contenders.query.by_hand import COUNT, DAYS, DISTINCT, JOIN, MEDIAN
from contenders.query.cases import MILLION, MOST_GROUPS, MOST_ROWS
from contenders.query.preparing import forms
from side_by_side.stopwatch import report, report_version

ROUNDS = 9
FORMS = {
    "count": ("SELECT COUNT(*) AS n FROM visits", COUNT),
    "days": ("SELECT day, COUNT(*) AS n FROM visits GROUP BY day", DAYS),
    "median": ("SELECT MEDIAN(minutes) AS m FROM visits", MEDIAN),
    "distinct": ("SELECT COUNT(DISTINCT page) AS n FROM visits", DISTINCT),
    "join": ("SELECT region, COUNT(*) AS n FROM visits JOIN sites ON visits.site = sites.site GROUP BY region", JOIN),
}
"""Each form as sfumato is asked, and as it is written by hand."""


def ours(folder: Path) -> Callable[[str], Any]:
    """Gives what answers a question by sfumato."""
    visits, sites = forms(folder)
    book = codebook(people=True)
    days = {"type": "date", "between": ["2024-01-01", "2024-12-31"], "nullable": False, "source": "the year"}
    tables: Any = book["tables"]
    columns = {**tables["visits"]["columns"], "day": days, "page": {"type": "str", "nullable": True}}
    listed = {"public": True, "columns": {"site": {"type": "int"}, "region": {"type": "str"}}}
    facts = {**book, "tables": {"visits": {"columns": columns}, "sites": listed}}
    data = sf.Dataset({"visits": visits, "sites": sites}, name="forms", codebook=facts)
    session, loss = data.session(limit=LIMIT, ledger="memory:"), losses()

    def ask(question: str) -> Any:
        groups = MOST_GROUPS if "GROUP BY" in question else None
        return session.sql(question, loss=loss(), max_groups=groups, max_rows_per_group=MOST_ROWS)

    return ask


def by_hand(folder: Path) -> Callable[[str], Any]:
    """Gives what answers a question by DuckDB alone."""
    visits, sites = forms(folder)
    connection = duckdb.connect()
    connection.read_parquet(str(visits)).create_view("visits")
    connection.read_parquet(str(sites)).create_view("sites")
    return lambda question: connection.execute(question.format(visits="visits")).fetchnumpy()


def main(folder: str, way: str) -> None:
    """Asks every form several times and reports the least time."""
    report_version("sfumato")
    ask = (ours if way == "ours" else by_hand)(Path(folder))
    for name, texts in FORMS.items():
        spent = []
        for _ in range(ROUNDS + 1):
            begun = time.process_time()
            ask(texts[way == "hand"])
            spent.append(time.process_time() - begun)
        report(name, kind="form", size=MILLION.name, way=way, cpu=min(spent[1:]))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""What sfumato alone is measured by: its error, very many groups, and many small questions."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import sfumato as sf
from contenders.query.asking import LIMIT, codebook, engine, losses, ours
from contenders.query.cases import MEASURES, MILLION, SITES, SMALL, Array
from contenders.query.preparing import pages
from contenders.query.trials import report_errors
from contenders.query.turns import seconds
from side_by_side.stopwatch import report

QUESTIONS = 400
PER_PAGE = "SELECT page, COUNT(*) AS n FROM pages GROUP BY page"


def measured(visits: Path) -> dict[str, Array]:
    """Gives one answer, in the order of sites."""
    table = ours(visits, people=True)().value.to_dict()
    order = np.argsort(table["site"])
    if len(order) != SITES:
        raise ValueError("every site is a public key, so every site has a row")
    return {name: np.asarray(table[name], dtype=float)[order] for name in MEASURES}


def many_groups(folder: Path) -> None:
    """Times noise and selection over a million keys that nobody knew: the whole answer less the plain query."""
    facts = {
        **codebook(people=False),
        "tables": {
            "pages": {"contributions": {"rows": 1, "source": "a view is one row"}, "columns": {"page": {"type": "int"}}}
        },
    }
    session = sf.Dataset(pages(folder), name="pages", codebook=facts).session(limit=LIMIT, ledger="memory:")
    plain, loss = engine(pages(folder), PER_PAGE.replace("pages", "{visits}")), losses()
    pairs = [(seconds(plain), seconds(lambda: session.sql(PER_PAGE, loss=loss()))) for _ in range(4)][1:]
    whole, bare = min(answer for _, answer in pairs), min(query for query, _ in pairs)
    report("million groups", kind="groups", seconds=whole - bare, whole=whole)


def small_questions(visits: Path) -> None:
    """Counts how many different small questions one session answers in a second, its ledger synced to a disk."""
    with tempfile.TemporaryDirectory() as folder:
        data = sf.Dataset(visits, name="visits", codebook=codebook(people=False))
        session = data.session(limit=LIMIT, ledger=Path(folder) / "ledger.db")
        begun = time.perf_counter()
        for place in range(QUESTIONS):
            session.sql(f"SELECT COUNT(*) AS n FROM visits WHERE minutes > {place / 4}", loss=sf.Pure(1))
        report("small questions", kind="small", per_second=QUESTIONS / (time.perf_counter() - begun))


def main(folder: str) -> None:
    """Takes the measurements one after another."""
    report_errors(MILLION, Path(folder), lambda: measured(MILLION.visits(Path(folder))), times=5)
    many_groups(Path(folder))
    small_questions(SMALL.visits(Path(folder)))


main(*sys.argv[1:])

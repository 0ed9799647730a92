"""The classroom under a ledger that is kept: the same question twice, and one too many. Nothing here prints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.datasets import Classroom
from sfumato.errors import BadArgument, LimitReached
from sfumato.ledger.verify import Verdict
from sfumato.mechanisms.additive import laplace
from sfumato.release.record import Release
from sfumato.release.table import ReleaseTable
from sfumato.session.dataset import Dataset
from sfumato.transforms.aggregate import mean
from sfumato.transforms.columns import select

LIMIT = Pure(1)

SESSION = """\
data = sf.Dataset({"score": scores}, name="exam", codebook="classroom.yaml", version="autumn")
session = data.session(limit=sf.Pure(1), ledger="sqlite:///ledger.db")
mean = sf.select("score") >> sf.mean() >> sf.laplace(scale=20)
session.run(mean)          # charged first, then run, then stored
session.run(mean)          # the same question: the stored release"""


@final
@dataclass(frozen=True)
class AskedTwice:
    """The outcome of asking twice: both releases, what was spent at each step, a refusal, and what can be published."""

    known: bool
    first: Release
    second: Release
    before: Loss
    once: Loss
    twice: Loss
    limit: Loss
    refusal: str
    verdict: Verdict
    table: ReleaseTable
    written: tuple[Path, ...]


def ask_twice(classroom: Classroom, *, folder: Path) -> AskedTwice:
    """Asks for the mean twice, then for one that no longer fits; the ledger is kept in a folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise BadArgument("the output folder", "one that can be written to", str(folder)) from None
    data = Dataset({"score": list(classroom.scores)}, name="exam", codebook=classroom.codebook, version="autumn")
    session = data.session(limit=LIMIT, ledger=folder / "ledger.db")
    average = select("score") >> mean() >> laplace(scale=20)
    known, before = session.explain(average).known, session.spent
    first, once = session.run(average), session.spent
    second, twice = session.run(average), session.spent
    try:
        session.run(select("score") >> mean() >> laplace(scale=12))
        refusal = "nothing"
    except LimitReached as reached:
        refusal = str(reached)
    table, verdict = session.release_table(), session.ledger.verify()
    book, page = folder / "ledger.jsonl", folder / "release-table.md"
    session.ledger.export(book)
    page.write_text(table.to_markdown(steps=True), encoding="utf-8")
    session.ledger.close()
    written = (folder / "ledger.db", book, page)
    return AskedTwice(known, first, second, before, once, twice, LIMIT, refusal, verdict, table, written)

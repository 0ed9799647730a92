"""The visits in numbers: data that is made up, its codebook, three questions, and one too many. Nothing here prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, final

from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.codebook.draft import draft
from sfumato.datasets import MadeUp, visits
from sfumato.errors import BadArgument, LimitReached, MissingExtra
from sfumato.query.answer.explanation import Explanation
from sfumato.query.engines.registry import schema_of
from sfumato.query.nodes.keysets import KeySet
from sfumato.release.record import Release
from sfumato.session.dataset import Dataset
from sfumato.session.session import Session

ROWS, PEOPLE, SITES = 200_000, 40_000, 20
LIMIT = Approx("2", "1e-8")
VERSION = "made up"
"""The name under which the visits are published: with it, a second run of the story finds its answers in the ledger."""


@final
@dataclass(frozen=True)
class StoryQuestion:
    """A question of the story: what it shows, the text, what to pay and how much of each person to keep."""

    title: str
    sql: str
    loss: Loss
    max_groups: int
    max_rows_per_group: int
    keys: KeySet | None = None

    def settings(self) -> dict[str, Any]:
        return {
            "loss": self.loss,
            "max_groups": self.max_groups,
            "max_rows_per_group": self.max_rows_per_group,
            "keys": self.keys,
        }


BY_SITE = StoryQuestion(
    "Visits by site",
    "SELECT site, COUNT(*) AS visits\nFROM visits GROUP BY site ORDER BY site",
    Pure("0.2"),
    max_groups=3,
    max_rows_per_group=2,
    keys=KeySet.of(site=range(1, SITES + 1)),
)
BY_DAY = StoryQuestion(
    "Minutes by day",
    "SELECT day, AVG(minutes) AS minutes\nFROM visits GROUP BY day ORDER BY day",
    Pure(1),
    max_groups=3,
    max_rows_per_group=1,
)
PEOPLE_BY_SITE = StoryQuestion(
    "People at the busiest sites",
    "SELECT site, COUNT(DISTINCT user_id) AS people\nFROM visits GROUP BY site ORDER BY people DESC LIMIT 5",
    Approx("0.5", "1e-9"),
    max_groups=3,
    max_rows_per_group=1,
)
TOO_MANY = StoryQuestion(
    "Too much", "SELECT COUNT(*) AS visits FROM visits", Pure("0.6"), max_groups=1, max_rows_per_group=10
)


@final
@dataclass(frozen=True)
class VisitsFolder:
    """The folder of the story: its data, the draft of a codebook and the codebook that was filled in."""

    folder: Path
    draft: str
    codebook: str

    @property
    def data(self) -> Path:
        return self.folder / "visits.parquet"

    @property
    def book(self) -> Path:
        return self.folder / "visits.yaml"

    @property
    def ledger(self) -> Path:
        return self.folder / "visits-ledger.db"

    def session(self) -> Session:
        return Dataset(str(self.data), codebook=self.book, version=VERSION).session(limit=LIMIT, ledger=self.ledger)


def make_visits(folder: Path) -> VisitsFolder:
    """Makes up the visits, unless an earlier run did: the same file is the same version, and its answers are known."""
    table = visits(rows=ROWS, people=PEOPLE, groups=SITES)
    visits_folder = VisitsFolder(
        folder, "", files("sfumato.datasets").joinpath("visits.yaml").read_text(encoding="utf-8")
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not visits_folder.data.exists():
            write_parquet(table, visits_folder.data)
        visits_folder.book.write_text(visits_folder.codebook, encoding="utf-8")
    except OSError:
        raise BadArgument("the output folder", "one that can be written to", str(folder)) from None
    return replace(visits_folder, draft=draft(schema_of(str(visits_folder.data)), id="user_id"))


def write_parquet(table: MadeUp, path: Path) -> None:
    """Writes made-up data to a file, whole or not at all."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("writing Parquet files", "sql") from None
    part = path.with_suffix(".part")
    pyarrow.parquet.write_table(pyarrow.table(dict(table.columns)), part)
    part.replace(path)


def explain(session: Session, question: StoryQuestion) -> Explanation:
    """Explains a question; spends nothing."""
    return session.explain(question.sql, **question.settings())


def answer(session: Session, question: StoryQuestion) -> Release:
    """Asks a question, which is charged for."""
    return session.sql(question.sql, **question.settings())


def refusal_text(session: Session, question: StoryQuestion) -> str:
    """Asks a question that the limit does not allow, and returns the words of the refusal."""
    try:
        answer(session, question)
    except LimitReached as reached:
        return str(reached)
    return "nothing"


def draw_answers(releases: Sequence[tuple[StoryQuestion, Release]], *, folder: Path) -> list[Path]:
    """Draws answers into a folder."""
    from sfumato.charts import save

    paths = []
    for question, release in releases:
        name = question.title.lower().replace(" ", "-")
        chart = release.plot(title=question.title, line=False if question is BY_SITE else None)
        paths += [save(chart, folder / f"{name}{suffix}") for suffix in (".png", ".svg")]
    return paths

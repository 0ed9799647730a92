"""The visits in numbers: data that is made up, its codebook, three questions, and one too many. Nothing here prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, final

from sfumato.accounting.measures import Approx, Loss, Pure
from sfumato.codebook.draft import draft
from sfumato.datasets import MadeUp, visits
from sfumato.errors import BadArgument, LimitReached, MissingExtra
from sfumato.query.engines.schemas import schema_of
from sfumato.query.explain import Explanation
from sfumato.query.keysets import KeySet
from sfumato.release.record import Release
from sfumato.session.dataset import Dataset
from sfumato.session.session import Session

ROWS, PEOPLE, SITES = 200_000, 40_000, 20
LIMIT = Approx("2", "1e-8")
VERSION = "made up"
"""The name under which the visits are published: with it, a second run of the story finds its answers in the ledger."""


@final
@dataclass(frozen=True)
class Asked:
    """Is a question of the story: what it shows, the text, what to pay and how much of each person to keep."""

    title: str
    sql: str
    loss: Loss
    groups: int
    rows_each: int
    keys: KeySet | None = None

    def settings(self) -> dict[str, Any]:
        """Gives the settings, as sessions take them."""
        return {"loss": self.loss, "groups": self.groups, "rows_each": self.rows_each, "keys": self.keys}


BY_SITE = Asked(
    "Visits by site",
    "SELECT site, COUNT(*) AS visits\nFROM visits GROUP BY site ORDER BY site",
    Pure("0.2"),
    groups=3,
    rows_each=2,
    keys=KeySet.of(site=range(1, SITES + 1)),
)
BY_DAY = Asked(
    "Minutes by day",
    "SELECT day, AVG(minutes) AS minutes\nFROM visits GROUP BY day ORDER BY day",
    Pure(1),
    groups=3,
    rows_each=1,
)
PEOPLE_BY_SITE = Asked(
    "People at the busiest sites",
    "SELECT site, COUNT(DISTINCT user_id) AS people\nFROM visits GROUP BY site ORDER BY people DESC LIMIT 5",
    Approx("0.5", "1e-9"),
    groups=3,
    rows_each=1,
)
TOO_MANY = Asked("Too much", "SELECT COUNT(*) AS visits FROM visits", Pure("0.6"), groups=1, rows_each=10)


@final
@dataclass(frozen=True)
class Made:
    """Is the data of the story, in a folder, with the draft of its codebook and the codebook that was filled in."""

    folder: Path
    draft: str
    codebook: str

    @property
    def data(self) -> Path:
        """Is the file with the visits."""
        return self.folder / "visits.parquet"

    @property
    def book(self) -> Path:
        """Is the file with the codebook."""
        return self.folder / "visits.yaml"

    @property
    def ledger(self) -> Path:
        """Is the file with the ledger."""
        return self.folder / "visits-ledger.db"

    def session(self) -> Session:
        """Opens a session on the visits."""
        return Dataset(str(self.data), codebook=self.book, version=VERSION).session(limit=LIMIT, ledger=self.ledger)


def made(folder: Path) -> Made:
    """Makes the visits up, unless that was done before: the same file is the same version, whose answers are known."""
    found = visits(rows=ROWS, people=PEOPLE, groups=SITES)
    told = Made(folder, "", files("sfumato.datasets").joinpath("visits.yaml").read_text(encoding="utf-8"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not told.data.exists():
            write_parquet(found, told.data)
        told.book.write_text(told.codebook, encoding="utf-8")
    except OSError:
        raise BadArgument("the output folder", "one that can be written to", str(folder)) from None
    return replace(told, draft=draft(schema_of(str(told.data)), id="user_id"))


def write_parquet(found: MadeUp, path: Path) -> None:
    """Writes made-up data to a file, whole or not at all."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("writing Parquet files", "sql") from None
    part = path.with_suffix(".part")
    pyarrow.parquet.write_table(pyarrow.table(dict(found.columns)), part)
    part.replace(path)


def explained(session: Session, asked: Asked) -> Explanation:
    """Explains a question; spends nothing."""
    return session.explain_sql(asked.sql, **asked.settings())


def answered(session: Session, asked: Asked) -> Release:
    """Answers a question."""
    release: Release = session.sql(asked.sql, **asked.settings())
    return release


def refused(session: Session, asked: Asked) -> str:
    """Gives the refusal of a question that the limit does not allow."""
    try:
        answered(session, asked)
    except LimitReached as reached:
        return str(reached)
    return "nothing"


def drawn(releases: Sequence[tuple[Asked, Release]], *, folder: Path) -> list[Path]:
    """Draws answers into a folder."""
    from sfumato.release.charts import save

    found = []
    for asked, release in releases:
        name = asked.title.lower().replace(" ", "-")
        chart = release.plot(title=asked.title, line=False if asked is BY_SITE else None)
        found += [save(chart, folder / f"{name}{suffix}") for suffix in (".png", ".svg")]
    return found

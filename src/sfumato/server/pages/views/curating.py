"""Checklists, registrations and publications on pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final
from urllib.parse import urlencode

from sfumato.release.checklist import CLOSED, ITEMS, STEPS, Checklist, Item
from sfumato.release.registry import RegistryEntry
from sfumato.release.table import ReleaseTable
from sfumato.server.pages.shell import Link, address_of
from sfumato.server.pages.views.answers import AnswerRow, AnswerView
from sfumato.server.pages.views.cells import Cell, Listing

MOST_MOVES = 200


@final
@dataclass(frozen=True)
class ItemView:
    """One item of a checklist."""

    name: str
    what: str
    mandatory: bool
    closed: bool
    owner: str
    evidence: str
    date: str


@final
@dataclass(frozen=True)
class StepView:
    """One step with its items."""

    title: str
    items: tuple[ItemView, ...]

    @property
    def closed(self) -> int:
        """How many of its items are closed."""
        return sum(item.closed for item in self.items)

    @property
    def done(self) -> bool:
        """Tells whether all of them are."""
        return self.closed == len(self.items)


@final
@dataclass(frozen=True)
class ChecklistView:
    """The page of a checklist."""

    kept: bool
    steps: tuple[StepView, ...]
    blocking: tuple[ItemView, ...]
    history: tuple[str, ...]
    action: str
    begin: str
    may: bool = True

    @property
    def total(self) -> int:
        """How many items there are."""
        return len(ITEMS)

    @property
    def closed(self) -> int:
        """How many are closed."""
        return sum(step.closed for step in self.steps)


def checklist_view(kept: Checklist | None, data_set: str) -> ChecklistView:
    """Makes the page; without a checklist, of an empty one that is not in force."""
    checklist = Checklist() if kept is None else kept
    items = [_item(item) for item in checklist.items]
    numbers = [item.step for item in checklist.items]
    steps = tuple(
        StepView(title, tuple(item for item, step in zip(items, numbers, strict=True) if step == number))
        for number, (title, _) in enumerate(STEPS, 1)
    )
    blocking = tuple(item for item in items if item.name in checklist.blocking) if kept is not None else ()
    moves = tuple(str(move) for move in reversed(checklist.history[-MOST_MOVES:]))
    action, begin = address_of(data_set, "/checklist"), address_of(data_set, "/checklist/begin")
    return ChecklistView(kept is not None, steps, blocking, moves, action, begin, may=kept is not None)


def _item(item: Item) -> ItemView:
    return ItemView(
        item.name,
        item.what,
        item.mandatory,
        item.status == CLOSED,
        item.owner,
        item.evidence,
        "" if item.date is None else str(item.date),
    )


@final
@dataclass(frozen=True)
class PublishView:
    """The page from which answers are published."""

    missing: tuple[str, ...]
    table: Listing | None
    answers: tuple[AnswerRow, ...]
    action: str
    public: str
    registry: str
    downloads: tuple[Link, ...] = ()
    pages: tuple[Link, ...] = ()
    openly: bool = False


TABLE_FORMS: Mapping[str, tuple[str, str, str]] = {
    "csv": ("CSV", "text/csv", "csv"),
    "json": ("JSON", "application/json", "json"),
    "html": ("HTML", "text/html", "html"),
    "latex": ("LaTeX", "application/x-latex", "tex"),
}
"""The forms of a release table: what they are called, of which kind they are, and how a file of them ends."""

STATED: Mapping[str, tuple[str, str]] = {
    "curator": ("Who is responsible", "An organisation, and how it is reached."),
    "published": ("Published", "When, such as 2026, or November 2026."),
    "region": ("Region", "Where the people live."),
    "sector": ("Sector", "Such as health, education, statistics."),
    "product": ("Product", "What the releases are part of."),
    "source": ("Address", "Where readers find the releases."),
    "status": ("Status", "Draft, in use, or ended."),
    "use_cases": ("What it is used for", ""),
    "justification": ("Why this loss", "What speaks for this ε, and who decided on it."),
}
"""What the book does not know and a registry asks: the facts, what they are called, and hints."""


@final
@dataclass(frozen=True)
class RegistryView:
    """The page of an entry for a registry: what it says, and the fields of what must be stated."""

    entry: Listing
    fields: tuple[tuple[str, str, str, str], ...]
    downloads: tuple[Link, ...]
    action: str
    back: str


def registry_view(entry: RegistryEntry, stated: Mapping[str, str], data_set: str) -> RegistryView:
    """Makes the page; fields are filled with what was stated, or with what the book knows."""
    own = address_of(data_set, "/publish/registry")
    said = f"?{urlencode(stated)}" if stated else ""
    facts = entry.document().tables[0].rows
    return RegistryView(
        Listing(
            tuple((Cell(row[0].capitalize(), header=True), *(Cell(text) for text in row[1:])) for row in facts),
            (Cell("Fact"), Cell("What it says")),
        ),
        tuple((name, label, hint, stated.get(name) or getattr(entry, name)) for name, (label, hint) in STATED.items()),
        tuple(Link(label, f"{own}/{form}{said}") for form, label in (("csv", "CSV"), ("json", "JSON"))),
        own,
        address_of(data_set, "/publish"),
    )


@final
@dataclass(frozen=True)
class PublishedView:
    """The page that readers see."""

    title: str
    description: str
    answers: tuple[AnswerView, ...]
    promise: str = ""
    pages: tuple[Link, ...] = ()


def table_listing(table: ReleaseTable) -> Listing:
    """The release table as rows of a name and what it says."""
    facts = table.document().tables[0]
    head = (Cell("What"), *(Cell(text) for text in facts.head[1:]))
    return Listing(tuple((Cell(row[0], header=True), *(Cell(text) for text in row[1:])) for row in facts.rows), head)

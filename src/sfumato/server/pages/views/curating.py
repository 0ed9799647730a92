"""Checklists, registrations and publications on pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from sfumato.ledger.periods import Period
from sfumato.release.checklist import CLOSED, ITEMS, STEPS, Checklist, Item
from sfumato.release.table import ReleaseTable
from sfumato.server.pages.shell import Link, address_of
from sfumato.server.pages.views.amounts import LossForm
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
    downloads: tuple[Link, ...] = ()
    pages: tuple[Link, ...] = ()


@final
@dataclass(frozen=True)
class PublishedView:
    """The page that readers see."""

    title: str
    description: str
    answers: tuple[AnswerView, ...]
    promise: str = ""


def table_listing(table: ReleaseTable) -> Listing:
    """The release table as rows of a name and what it says."""
    facts = table.document().tables[0]
    head = (Cell("What"), *(Cell(text) for text in facts.head[1:]))
    return Listing(tuple((Cell(row[0], header=True), *(Cell(text) for text in row[1:])) for row in facts.rows), head)


@final
@dataclass(frozen=True)
class RegisterForm:
    """A registration as somebody filled it in."""

    loss: LossForm
    name: str = ""
    version: str = "1"
    source: str = ""
    codebook: str = ""
    period: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)


PERIODS: Sequence[tuple[str, str]] = (
    ("", "none: for good"),
    *((period.value, f"each {period.value}") for period in Period),
)
"""The periods of limits, as a page offers them."""


@final
@dataclass(frozen=True)
class RegisterView:
    """The page on which data is registered."""

    action: str
    form: RegisterForm
    periods: Sequence[tuple[str, str]] = PERIODS
    doubts: tuple[str, ...] = ()

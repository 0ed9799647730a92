"""The checklist of a deployment: what must be settled before anything is released, and who settled it, when and how."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import final

from sfumato.errors import BadArgument, UnknownFormat, elements
from sfumato.release.render.markdown import escaped, pipes

FORMAT = "sfumato checklist"
VERSION = 1

STEPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "Understand the data",
        (
            "structure and quality of the annotation",
            "sample frame, if the data was collected",
            "what may be public",
            "similar public sources",
        ),
    ),
    ("Other security practice", ("conformity with policies on storage, encrypted transport and access",)),
    ("Communication strategy", ("a plan for each stakeholder", "contacts to experts")),
    (
        "Individuals across releases",
        ("whether to keep a register of members, and of who accesses releases", "who keeps it up to date"),
    ),
    (
        "Stakeholders and audience",
        (
            "utility that is needed",
            "whether a release is worthwhile once it is private",
            "whether the risk is justified",
            "who sees it, and how it is delivered",
        ),
    ),
    ("Regulations", ("legal and regulatory partners consulted",)),
    (
        "Unit of privacy",
        ("what is protected", "whether a row is an individual, a group or an event; larger units if wanted"),
    ),
    (
        "Privacy risk",
        ("guideline or precedent of the organisation or field", "standard that the nature of the data asks for"),
    ),
    (
        "Plan the release",
        (
            "every public output that derives from private values",
            "outputs ranked by the utility they need",
            "public information: bounds, key sets, marginals, population size",
            "what is not protected",
        ),
    ),
    (
        "Create the query",
        (
            "mechanisms",
            "libraries",
            "no leaks, and parameters are met",
            "final limit",
            "pipeline built and tried on public data",
            "utility good enough, else go back",
        ),
    ),
    ("Release", ("run on private data and delivered", "register updated")),
)
"""The eleven steps and their thirty items."""

ALWAYS = frozenset({"7a", "7b"})
"""Nobody may leave the unit of privacy open: without it no loss means anything."""

MANDATORY = ALWAYS | {"1c", "2a", "5c", "6a", "9a", "9c", "9d", "10a", "10c", "10d"}
"""What blocks a release, unless said otherwise: items without which the privacy statement is empty, wrong or illegal.

The rest serves utility and conduct, or (step 11) can only follow the release."""

OPEN, CLOSED = "open", "closed"
ASSIGNED, CLOSING, REOPENED = "assigned", "closed", "reopened"


@final
@dataclass(frozen=True)
class Item:
    """One item as it stands: where, what, whether it blocks, its owner, and what settled it when."""

    name: str
    step: int
    title: str
    what: str
    mandatory: bool
    owner: str = ""
    status: str = OPEN
    evidence: str = ""
    date: datetime.date | None = None

    def __str__(self) -> str:
        settled = f" ({self.evidence}; {self.date})" if self.status == CLOSED else ""
        marks = "!" if self.mandatory and self.status == OPEN else " "
        owner = f" [{self.owner}]" if self.owner else ""
        return f"{'x' if self.status == CLOSED else marks} {self.name:>3}  {self.what}{owner}{settled}"


@final
@dataclass(frozen=True)
class Move:
    """One line of a checklist's history; lines are only ever added."""

    kind: str
    item: str
    by: str
    words: str
    date: datetime.date

    def __str__(self) -> str:
        return f"{self.date} {self.by} {self.kind} {self.item}: {self.words}"


@final
@dataclass(frozen=True)
class Checklist:
    """The checklist of a deployment: eleven steps, thirty items, and the history from which their state follows.

    Every change gives a new checklist with one more line of history. An item may be closed in any order, and closed
    again after it was reopened: going back to an earlier step is allowed, and stays on record.

    >>> plan = Checklist().close("7a", by="Ada", evidence="a student", date="2026-01-10")
    >>> plan["7a"].status, "7a" in plan.blocking, "7b" in plan.blocking
    ('closed', False, True)
    """

    mandatory: frozenset[str] = MANDATORY
    history: tuple[Move, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.mandatory, str) or not isinstance(self.mandatory, Iterable):
            raise BadArgument("mandatory", 'a set of items such as {"7a", "7b"}', self.mandatory)
        names = frozenset(self.mandatory) | ALWAYS
        with elements():
            for name in names:
                _check_name(name)
        object.__setattr__(self, "mandatory", names)
        object.__setattr__(self, "history", tuple(self.history))

    @property
    def items(self) -> tuple[Item, ...]:
        """All items as they stand, in order."""
        items = {name: replace(item, mandatory=name in self.mandatory) for name, item in ITEMS.items()}
        for move in self.history:
            items[move.item] = _apply_move(items[move.item], move)
        return tuple(items.values())

    def __getitem__(self, name: str) -> Item:
        _check_name(name)
        return next(item for item in self.items if item.name == name)

    @property
    def open_items(self) -> tuple[str, ...]:
        """The names of the items that are open."""
        return tuple(item.name for item in self.items if item.status == OPEN)

    @property
    def blocking(self) -> tuple[str, ...]:
        """The names of the mandatory items that are open; nothing may be released while there are any."""
        return tuple(item.name for item in self.items if item.status == OPEN and item.mandatory)

    def assign(self, item: str, *, to: str, by: str, date: datetime.date | str) -> Checklist:
        """Names the owner of an item."""
        return self._with(ASSIGNED, item, by, _words(to, "to", "a name"), date)

    def close(self, item: str, *, by: str, evidence: str, date: datetime.date | str) -> Checklist:
        """Closes an item, on evidence: a sentence, an address, a decision."""
        if self[item].status == CLOSED:
            raise BadArgument("item", "open: this one is closed; reopen it first, and say why", item)
        return self._with(CLOSING, item, by, _words(evidence, "evidence", "what settles it, in words"), date)

    def reopen(self, item: str, *, by: str, why: str, date: datetime.date | str) -> Checklist:
        """Opens a closed item again, such as when the utility was not good enough and the plan changes."""
        if self[item].status == OPEN:
            raise BadArgument("item", "closed: this one is open already", item)
        return self._with(REOPENED, item, by, _words(why, "why", "a reason, in words"), date)

    def _with(self, kind: str, item: str, by: str, words: str, date: datetime.date | str) -> Checklist:
        _check_name(item)
        day = _date(date)
        if self.history and day < self.history[-1].date:
            raise BadArgument("date", f"no earlier than the last change, {self.history[-1].date}", date)
        return replace(self, history=(*self.history, Move(kind, item, _words(by, "by", "a name"), words, day)))

    def to_plain(self) -> dict[str, object]:
        """The checklist as plain data: what is mandatory, and the history."""
        moves = [
            {"kind": m.kind, "item": m.item, "by": m.by, "words": m.words, "date": str(m.date)} for m in self.history
        ]
        mandatory = [name for name in ITEMS if name in self.mandatory]
        return {"format": FORMAT, "version": VERSION, "mandatory": mandatory, "history": moves}

    @staticmethod
    def from_plain(plain: object) -> Checklist:
        """Reads what `to_plain` gave, by making every move again."""
        match plain:
            case {"format": form, "version": version, "mandatory": list(names), "history": list(moves)} if (
                form == FORMAT and version == VERSION
            ):
                try:
                    rebuilt = Checklist(frozenset(names))
                    for move in moves:
                        rebuilt = _repeat_move(rebuilt, move)
                    return rebuilt
                except (BadArgument, TypeError) as refusal:
                    raise UnknownFormat("a checklist in it has a move that cannot be made") from refusal
        raise UnknownFormat(f"it is no {FORMAT} of version {VERSION}")

    def __str__(self) -> str:
        closed = len(ITEMS) - len(self.open_items)
        lines = [f"{closed} of {len(ITEMS)} items closed; " + _blocked(self.blocking)]
        for number, (title, _) in enumerate(STEPS, 1):
            lines += [f"{number} {title}", *(str(item) for item in self.items if item.step == number)]
        return "\n".join(lines)

    def to_markdown(self) -> str:
        """Writes the checklist as a table in Markdown, and its history after it."""
        head = ("item", "what", "blocks", "owner", "status", "evidence", "date")
        rows = [
            (
                i.name,
                f"{i.title}: {i.what}",
                "yes" if i.mandatory else "",
                i.owner,
                i.status,
                i.evidence,
                str(i.date or ""),
            )
            for i in self.items
        ]
        moves = [f"- {escaped(str(move))}" for move in self.history]
        return "\n".join([pipes(rows, head=head), *(["", *moves] if moves else [])])


ITEMS: dict[str, Item] = {
    f"{number}{letter}": Item(f"{number}{letter}", number, title, what, False)
    for number, (title, whats) in enumerate(STEPS, 1)
    for letter, what in zip("abcdef", whats, strict=False)
}
"""Every item by its name, as it stands in the beginning."""


def _apply_move(item: Item, move: Move) -> Item:
    if move.kind == ASSIGNED:
        return replace(item, owner=move.words)
    if move.kind == CLOSING:
        return replace(item, status=CLOSED, evidence=move.words, date=move.date, owner=item.owner or move.by)
    return replace(item, status=OPEN, evidence="", date=None)


def _repeat_move(before: Checklist, move: object) -> Checklist:
    match move:
        case {"kind": str(kind), "item": str(item), "by": str(by), "words": str(words), "date": str(date)}:
            if kind == ASSIGNED:
                return before.assign(item, to=words, by=by, date=date)
            if kind == CLOSING:
                return before.close(item, by=by, evidence=words, date=date)
            if kind == REOPENED:
                return before.reopen(item, by=by, why=words, date=date)
    raise UnknownFormat("a checklist in it has a move of an unknown kind")


def _check_name(name: object) -> None:
    if not isinstance(name, str) or name not in ITEMS:
        raise BadArgument("item", "one of 1a to 11b, such as '7a'", name)


def _words(value: str, name: str, must: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadArgument(name, must, value)
    return " ".join(value.split())


def _date(value: datetime.date | str) -> datetime.date:
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    try:
        if isinstance(value, str):
            return datetime.date.fromisoformat(value)
    except ValueError:
        pass
    raise BadArgument("date", "a date such as 2026-01-31", value)


def _blocked(names: tuple[str, ...]) -> str:
    return f"a release is blocked by {', '.join(names)}" if names else "nothing blocks a release"

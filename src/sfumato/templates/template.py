"""What templates have in common: the questions, their prices before anything is paid, and the product."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, final

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.plans.shares import split
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.query.nodes.keysets import KeySet
from sfumato.release.answer import Answer, Role
from sfumato.release.record import Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.release.render.words import number, numeric
from sfumato.release.table import ReleaseTable, composed
from sfumato.session.session import Session

if TYPE_CHECKING:
    import polars

    from sfumato.query.answer.explanation import Explanation

MOST_SHOWN = 20
"""Rows of a table that a product shows of itself."""

NO_BOUNDS: Mapping[str, int] = MappingProxyType({})


def quoted(name: str) -> str:
    """A name as SQL reads it, whatever is in it.

    >>> quoted("age now")
    '"age now"'
    """
    if not isinstance(name, str) or not name:
        raise BadArgument("a name of a table or column", "a text", name)
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def listed(names: Sequence[str]) -> str:
    """Names as SQL lists them."""
    return ", ".join(map(quoted, names))


@final
@dataclass(frozen=True)
class Asked:
    """One question of a template: its name in the product, its text, what it pays, and the groups it answers."""

    name: str
    text: str
    loss: Loss
    keys: KeySet | None = None
    bounds: Mapping[str, int] = field(default_factory=lambda: NO_BOUNDS)

    @property
    def settings(self) -> dict[str, Any]:
        """The question's settings, as `Session.sql` and `Session.explain` take them."""
        return {"loss": self.loss, "keys": self.keys, **self.bounds}


@final
@dataclass(frozen=True, eq=False)
class Product(Displayed):
    """Tables that fit together, the releases that they were made of, and what has to stand beside them."""

    title: str
    tables: Mapping[str, Answer]
    releases: tuple[Release, ...]
    notes: tuple[str, ...]

    @property
    def loss(self) -> Loss:
        """What all questions cost together."""
        return composed([release.loss for release in self.releases])

    @property
    def unit(self) -> str:
        """Who is protected."""
        return self.releases[0].unit

    def to_polars(self, name: str | None = None, *, intervals: bool = False) -> polars.DataFrame:
        """One of the tables as a data frame of Polars; the last one, which is the finest, unless named."""
        return self[name].to_polars(intervals=intervals)

    def __getitem__(self, name: str | None) -> Answer:
        chosen = list(self.tables)[-1] if name is None else name
        if chosen not in self.tables:
            raise BadArgument("the name of a table", "one of " + ", ".join(map(repr, self.tables)), chosen)
        return self.tables[chosen]

    def table(self, *, scope: str = "None", url: str = "None", delta: Number | None = None) -> ReleaseTable:
        """The release table, to be published with the product; ``delta`` where the loss has an ε for each δ."""
        return ReleaseTable.of(list(self.releases), scope=scope, url=url, delta=delta)

    def document(self) -> Document:
        """The tables, each with its first rows, the loss and the notes, for any form."""
        told = [("loss", f"{self.loss} for {self.unit}"), *(("note", note) for note in self.notes)]
        tables = [_shown(name, table) for name, table in self.tables.items()]
        return Document(self.title, self.title, tables=(*tables, Table(tuple(told))))

    __repr__ = Displayed.__str__


def _shown(name: str, answer: Answer) -> Table:
    cells = [[number(cell) if numeric(cell) else str(cell) for cell in one.values.tolist()] for one in answer.columns]
    rows = tuple(zip(*cells, strict=True))
    values = frozenset(place for place, column in enumerate(answer.columns) if column.role is Role.VALUE)
    return Table(rows[:MOST_SHOWN], answer.names, name, values, len(rows))


class Template(ABC):
    """A kind of product: which questions it asks, and how the answers become tables that fit together."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What the product is, on one line."""

    @abstractmethod
    def questions(self, loss: Loss) -> tuple[Asked, ...]:
        """The questions, which share a loss."""

    @abstractmethod
    def tables(self, answers: Mapping[str, Answer]) -> Mapping[str, Answer]:
        """The tables, from released answers alone: it costs nothing."""

    def notes(self, loss: Loss) -> tuple[str, ...]:
        """What a reader of the tables has to know."""
        return ()

    def explain(self, session: Session, *, loss: Loss) -> dict[str, Explanation]:
        """The plan, price and error of each question; nothing is spent, and no data is read."""
        return {asked.name: session.explain(asked.text, **asked.settings) for asked in self.questions(loss)}

    def release(self, session: Session, *, loss: Loss) -> Product:
        """Asks all questions, each charged before it is run, and makes the product.

        All are explained first, so that what is refused is refused before anything is paid. If the limit ends on the
        way, what was paid for stays in the book, and is free when the product is asked for again.
        """
        self.explain(session, loss=loss)
        releases = {asked.name: session.sql(asked.text, **asked.settings) for asked in self.questions(loss)}
        tables = self.tables({name: release.value for name, release in releases.items()})
        return Product(self.title, tables, tuple(releases.values()), self.notes(loss))


def shared(loss: Loss, names: Sequence[str], weights: Mapping[str, Number] | None) -> dict[str, Loss]:
    """A loss divided among questions: evenly, or by weights."""
    if weights is None:
        return split(loss, dict.fromkeys(names, 1))
    if set(weights) != set(names):
        raise BadArgument("weights", "given for " + ", ".join(map(repr, names)), sorted(weights))
    return split(loss, {name: weights[name] for name in names})


def spread(answer: Answer) -> float:
    """How far the noise of counts spreads, from their error bars: a fit looks only at how tables compare."""
    column = answer["n"]
    if column.low is None or column.high is None:
        return 1.0
    return max(1e-9, (float(column.high[0]) - float(column.low[0])) / 2) ** 2

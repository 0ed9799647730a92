"""The most frequent values, best first, as in lists of the employers who hire most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from sfumato.accounting.losses.measures import Loss
from sfumato.exact import integer
from sfumato.query.nodes.keysets import KeySet
from sfumato.release.answer import Answer
from sfumato.templates.template import NO_BOUNDS, Asked, Template, quoted


@final
@dataclass(frozen=True)
class TopList(Template):
    """The ``most`` values of a column that most rows have, with their counts.

    All values get a noisy count and the list is cut afterwards, which costs nothing: with ``max_groups`` values of a
    person the noise on each count is the same however many values there are. Values that nobody can list are shown if
    enough people have them, for a δ; give ``keys`` where the list is public. ``where`` is a condition in SQL.

    >>> from sfumato.accounting.losses.measures import Pure
    >>> TopList("hires", "employer", most=10).questions(Pure(1))[0].text
    'SELECT "employer", COUNT(*) AS n FROM "hires" GROUP BY "employer" ORDER BY n DESC LIMIT 10'
    """

    table: str
    by: str
    most: int = 10
    where: str = ""
    keys: KeySet | None = None
    bounds: Mapping[str, int] = field(default_factory=lambda: NO_BOUNDS)

    @property
    def title(self) -> str:
        """What the product is, on one line."""
        return f"The {self.most} most frequent values of {self.by} in {self.table}"

    def notes(self, loss: Loss) -> tuple[str, ...]:
        """What a reader of the list has to know."""
        order = "the order is that of noisy counts: neighbours in the list may have to change places"
        return (order, "values that are not in the list may be rare, or not occur at all")

    def questions(self, loss: Loss) -> tuple[Asked, ...]:
        """One question: all values with their counts, best first, cut off."""
        by, most = quoted(self.by), integer(self.most, "most", least=1)
        where = f" WHERE {self.where}" if self.where else ""
        text = f"SELECT {by}, COUNT(*) AS n FROM {quoted(self.table)}{where} GROUP BY {by} ORDER BY n DESC LIMIT {most}"
        return (Asked("list", text, loss, self.keys, self.bounds),)

    def tables(self, answers: Mapping[str, Answer]) -> Mapping[str, Answer]:
        """The list as it was answered."""
        return {"list": answers["list"]}

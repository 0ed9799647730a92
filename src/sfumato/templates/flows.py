"""Flows between places: who goes from where to where, as in tables of commuters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.query.nodes.keysets import KeySet
from sfumato.release.answer import Answer, AnswerColumn, Role
from sfumato.stats.histograms import consistent_counts
from sfumato.templates.template import NO_BOUNDS, Asked, Template, listed, quoted


@final
@dataclass(frozen=True)
class Flows(Template):
    """Counts from each origin to each destination: whole numbers, none below 0.

    Pairs with fewer than ``least`` are left out, by their noisy counts, and counted together as one number. Without
    ``keys`` (the pairs of public places) pairs are shown that enough people have, for a δ.
    """

    table: str
    origin: str
    destination: str
    least: int = 0
    keys: KeySet | None = None
    bounds: Mapping[str, int] = field(default_factory=lambda: NO_BOUNDS)

    def __post_init__(self) -> None:
        integer(self.least, "least", least=0)
        if self.origin == self.destination:
            raise BadArgument("destination", "another column than the origin", self.destination)

    @property
    def title(self) -> str:
        """What the product is, on one line."""
        return f"Flows of {self.table} from {self.origin} to {self.destination}"

    def notes(self, loss: Loss) -> tuple[str, ...]:
        """What a reader of the flows has to know."""
        fitted = "counts are noisy ones, of which those below 0 are 0: sums of many small flows are too large"
        return (fitted, f"pairs with a noisy count below {self.least} are in `rest`") if self.least else (fitted,)

    def questions(self, loss: Loss) -> tuple[Asked, ...]:
        """One question: the count of every pair."""
        pair = listed((self.origin, self.destination))
        text = f"SELECT {pair}, COUNT(*) AS n FROM {quoted(self.table)} GROUP BY {pair} ORDER BY {pair}"
        return (Asked("flows", text, loss, self.keys, self.bounds),)

    def tables(self, answers: Mapping[str, Answer]) -> Mapping[str, Answer]:
        """The pairs that are kept, and before them one row with what was left out."""
        answer = answers["flows"]
        counts = consistent_counts(answer["n"].values.tolist())
        shown = [place for place, count in enumerate(counts) if count >= self.least]
        keys = tuple(AnswerColumn(key.name, key.values[shown], Role.KEY) for key in answer.keys)
        flows = Answer((*keys, AnswerColumn("n", counts[shown], Role.VALUE)), answer.confidence)
        if not self.least:
            return {"flows": flows}
        rest = AnswerColumn("n", [int(sum(counts)) - int(sum(counts[shown]))], Role.VALUE)
        return {"rest": Answer((rest,), answer.confidence), "flows": flows}

"""Shares by place: how many have something, as in maps of households with broadband."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Loss
from sfumato.exact import Number, probability
from sfumato.query.nodes.keysets import KeySet
from sfumato.release.answer import Answer, AnswerColumn, Role
from sfumato.templates.template import NO_BOUNDS, Asked, Template, listed, quoted


@final
@dataclass(frozen=True)
class Shares(Template):
    """For each group how many rows there are, and the share of them that fulfils a condition in SQL.

    Shares are moved into [0, 1], and left out where their error bar is wider than ``widest``: such a share says
    nothing. Both look at released numbers only.
    """

    table: str
    by: Sequence[str]
    condition: str
    widest: Number = Fraction(1, 4)
    keys: KeySet | None = None
    bounds: Mapping[str, int] = field(default_factory=lambda: NO_BOUNDS)

    @property
    def title(self) -> str:
        """What the product is, on one line."""
        return f"Shares of {self.table} with {self.condition}, by {', '.join(self.by)}"

    def notes(self, loss: Loss) -> tuple[str, ...]:
        """What a reader of the shares has to know."""
        limit = float(probability(self.widest, "widest"))
        return (f"shares whose error bar is more than ± {limit:g} are left out; error bars cover the noise",)

    def questions(self, loss: Loss) -> tuple[Asked, ...]:
        """One question: counts and averages of 0 and 1."""
        by, table = listed(self.by), quoted(self.table)
        share = f"AVG(CASE WHEN {self.condition} THEN 1 ELSE 0 END) AS share"
        text = f"SELECT {by}, COUNT(*) AS n, {share} FROM {table} GROUP BY {by} ORDER BY {by}"
        return (Asked("shares", text, loss, self.keys, self.bounds),)

    def tables(self, answers: Mapping[str, Answer]) -> Mapping[str, Answer]:
        """The answer with shares in [0, 1], without those that say nothing."""
        answer = answers["shares"]
        share, limit = answer["share"], float(probability(self.widest, "widest"))
        value, low, high = (_floats(cells) for cells in (share.values, share.low, share.high))
        told = (high - low) / 2 <= limit  # a comparison with NaN is false
        kept = [
            [float(one) if said else None for one, said in zip(np.clip(ends, 0, 1), told, strict=True)]
            for ends in (value, low, high)
        ]
        tidy = AnswerColumn("share", kept[0], Role.VALUE, low=kept[1], high=kept[2])
        columns = tuple(tidy if column.name == "share" else column for column in answer.columns)
        return {"shares": Answer(columns, answer.confidence)}


def _floats(cells: object) -> NDArray[np.float64]:
    """Numbers as floats; NaN where there is no answer."""
    return np.array([np.nan if one is None else one for one in np.asarray(cells).tolist()], dtype=np.float64)

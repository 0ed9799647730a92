"""Counts by day, with totals that are better than sums of noisy days."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.release.answer import Answer, AnswerColumn, Role
from sfumato.release.consistency import Nesting
from sfumato.templates.template import Asked, Template, quoted, shared, spread

PERIODS = ("year", "quarter", "month", "week", "day")


@final
@dataclass(frozen=True)
class Series(Template):
    """Counts of a closed time, by day and by longer periods, which fit together; and running totals.

    ``when`` is a column of days with public bounds; ``periods`` those that are asked for besides the day, of which
    each is made of whole ones of the next: ("year", "month"), or ("week",). Running totals come from the settled
    counts, so that the noise of a whole month counts once. Of each person ``max_rows`` rows count in all, whatever the
    period: bounds by period would cut days and months differently, and they would not add up. For time that goes on,
    see `sf.stats.running_counts`.
    """

    table: str
    when: str
    periods: Sequence[str] = ("month",)
    weights: Mapping[str, Number] | None = None
    max_rows: int = 1

    def __post_init__(self) -> None:
        chosen = list(self.periods)
        order = [PERIODS.index(one) for one in chosen if one in PERIODS[:-1]]
        if len(order) != len(chosen) or order != sorted(set(order)) or ("week" in chosen and len(chosen) > 1):
            must = "of year, quarter, month, the longest first, or week alone, as weeks are cut by months"
            raise BadArgument("periods", must, chosen)

    @property
    def title(self) -> str:
        """What the product is, on one line."""
        return f"Rows of {self.table} by {', '.join((*self.periods, 'day'))}"

    def notes(self, loss: Loss) -> tuple[str, ...]:
        """What a reader of the series has to know."""
        return ("counts of days are fitted to noisy ones of all periods: they add up, and may be below 0",)

    def questions(self, loss: Loss) -> tuple[Asked, ...]:
        """One question a period, and one for the days."""
        losses = shared(loss, (*self.periods, "day"), self.weights)
        when, table = quoted(self.when), quoted(self.table)
        asked = []
        for name, part in losses.items():
            start = when if name == "day" else f"DATE_TRUNC('{name}', {when})"
            text = f"SELECT {start} AS start, COUNT(*) AS n FROM {table} GROUP BY {start} ORDER BY start"
            asked.append(Asked(name, text, part, None, {"max_rows": self.max_rows}))
        return tuple(asked)

    def tables(self, answers: Mapping[str, Answer]) -> Mapping[str, Answer]:
        """A table for each period, and the days with their running total."""
        names = (*self.periods, "day")
        starts = {name: np.array(answers[name]["start"].values.tolist(), dtype="datetime64[D]") for name in names}
        noisy = [np.array(answers[name]["n"].values.tolist(), dtype=np.float64) for name in names]
        above = list(pairwise(names))
        parents = tuple(np.searchsorted(starts[long], starts[short], side="right") - 1 for long, short in above)
        spreads = tuple(np.full(len(one), spread(answers[name])) for one, name in zip(noisy, names, strict=True))
        fitted = [Nesting(parents, spreads).settle(noisy)]
        for parent, longer in zip(reversed(parents), reversed(noisy[:-1]), strict=True):
            fitted.insert(0, np.bincount(parent, weights=fitted[0], minlength=len(longer)))
        tables = {}
        for name, counts in zip(names, fitted, strict=True):
            key = AnswerColumn("start", answers[name]["start"].values, Role.KEY)
            columns = [key, AnswerColumn("n", counts, Role.VALUE)]
            if name == "day":
                columns.append(AnswerColumn("so_far", np.cumsum(counts), Role.VALUE))
            tables[name] = Answer(tuple(columns), answers[name].confidence)
        return tables

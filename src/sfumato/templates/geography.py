"""Counts over a geography, from the country down: every part adds up, as in a census (TopDown).

The questions are asked level by level. Their answers are settled by weighted least squares (proofs/trees.md), and made
whole from the top down: the counts of the parts are the nearest whole numbers that are not negative and add up to
their sum (Abowd and others 2022, The 2020 Census Disclosure Avoidance System TopDown Algorithm).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.query.nodes.keysets import KeySet
from sfumato.release.answer import Answer, AnswerColumn, Role
from sfumato.release.claim import Claim
from sfumato.release.consistency import Nesting
from sfumato.stats.histograms import consistent_counts
from sfumato.templates.template import Asked, Template, listed, quoted, shared, spread

WHOLE = "total"
"""The level above all places."""

Row = tuple[object, ...]


@final
@dataclass(frozen=True)
class Geography(Template):
    """Counts of rows at each level of a geography, and by further columns: whole, none below 0, and adding up.

    ``places`` lists the public places, one row for each of the finest ones: a `KeySet` over ``levels``, the coarsest
    first. ``by`` lists the values of further columns, such as an age group. ``weights`` divide the loss among the
    levels (`total` is the one above all). Of each person ``max_rows`` rows count, at every level.

    ``invariants`` are numbers of rows that are published exactly elsewhere, by place of the level ``invariant``; they
    are read from nowhere but here, and ``vouched`` says who publishes them. The guarantee then holds *among data sets
    that have these numbers*. Two of them differ in at least two rows under adding and removing, so one changed row
    costs ``loss.group(2)``; what follows from the numbers is not hidden at all. The notes of the product say so.
    """

    table: str
    levels: Sequence[str]
    places: KeySet
    by: KeySet | None = None
    weights: Mapping[str, Number] | None = None
    invariant: str | None = None
    invariants: Mapping[object, int] | None = None
    vouched: Claim | None = None
    max_rows: int = 1

    def __post_init__(self) -> None:
        if not self.levels or set(self.places.names) != set(self.levels):
            raise BadArgument("places", f"a KeySet over {', '.join(self.levels)}", self.places.names)
        if self.by is not None and set(self.by.names) & set(self.levels):
            raise BadArgument("by", "over other columns than the levels", self.by.names)
        if (self.invariants is None) != (self.invariant is None) or (self.invariants is None) != (self.vouched is None):
            must = "given with the level that they belong to, and with a claim that says who publishes them"
            raise BadArgument("invariants", must, "one without the others")
        if self.invariant is not None and self.invariants is not None:
            if self.invariant not in (WHOLE, *self.levels):
                raise BadArgument("invariant", "one of " + ", ".join((WHOLE, *self.levels)), self.invariant)
            known = {self._place(row) for row in self._spine(self._depth(self.invariant))}
            if set(self.invariants) != known or any(type(n) is not int or n < 0 for n in self.invariants.values()):
                raise BadArgument("invariants", f"a whole number for every place of {self.invariant}", "others")

    @property
    def title(self) -> str:
        """What the product is, on one line."""
        further = f", by {', '.join(self.by.names)}" if self.by is not None else ""
        return f"Rows of {self.table} by {', '.join(self.levels)}{further}"

    def notes(self, loss: Loss) -> tuple[str, ...]:
        """What a reader of the counts has to know."""
        fitted = "counts are fitted to noisy ones: whole, not negative, and the parts of every place add up to it"
        if self.invariant is None:
            return (fitted,)
        return (
            fitted,
            f"the numbers of rows by {self.invariant} are exact, and published elsewhere ({self.vouched}). Among data "
            "that has these numbers nobody can be added or removed: what is protected is what else a row says, at "
            f"{loss.group(2)} for one row that says something else; nothing is hidden that follows from the numbers",
        )

    def questions(self, loss: Loss) -> tuple[Asked, ...]:
        """One question a level: its places, by the further columns."""
        names = (WHOLE, *self.levels)
        losses = shared(loss, names, self.weights)
        asked = []
        for depth, name in enumerate(names):
            columns = (*self.levels[:depth], *(self.by.names if self.by is not None else ()))
            grouped = f" GROUP BY {listed(columns)} ORDER BY {listed(columns)}" if columns else ""
            selected = f"{listed(columns)}, " if columns else ""
            text = f"SELECT {selected}COUNT(*) AS n FROM {quoted(self.table)}{grouped}"
            asked.append(Asked(name, text, losses[name], self._keys(depth), {"max_rows": self.max_rows}))
        return tuple(asked)

    def tables(self, answers: Mapping[str, Answer]) -> Mapping[str, Answer]:
        """A table for each level, whose counts are the sums of those of the next."""
        names = (WHOLE, *self.levels)
        rows = [self._rows(depth) for depth in range(len(names))]
        noisy = [self._counts(answers[name], rows[depth]) for depth, name in enumerate(names)]
        parents = [self._parents(rows[depth], rows[depth + 1]) for depth in range(len(self.levels))]
        variances = tuple(np.full(len(one), spread(answers[name])) for one, name in zip(noisy, names, strict=True))
        finest = Nesting(tuple(parents), variances).settle(noisy)
        fitted = [finest]
        for parent, above in zip(reversed(parents), reversed(rows[:-1]), strict=True):
            fitted.insert(0, np.bincount(parent, weights=fitted[0], minlength=len(above)))
        whole = self._whole(fitted, rows, parents)
        return {name: self._answer(rows[depth], whole[depth], depth, answers[name]) for depth, name in enumerate(names)}

    def _whole(self, fitted: list[Any], rows: list[list[Row]], parents: list[Any]) -> list[NDArray[np.int64]]:
        """Whole counts: first those of the level of the invariants, or of the top, then downwards; sums upwards."""
        start = 0 if self.invariant is None else self._depth(self.invariant)
        if self.invariants is None:
            first = consistent_counts(fitted[start].tolist())
        else:
            labels = [self._place(row[:start]) for row in rows[start]]
            first = consistent_counts(fitted[start].tolist(), dict(self.invariants), groups=labels)
        whole = [np.array(first, dtype=np.int64)]
        for depth in range(start, len(self.levels)):
            groups = parents[depth].tolist()
            totals: dict[Hashable, Number] = dict(enumerate(whole[-1].tolist()))
            below = consistent_counts(fitted[depth + 1].tolist(), totals, groups=groups)
            whole.append(np.array(below, dtype=np.int64))
        for depth in reversed(range(start)):
            sums = np.zeros(len(rows[depth]), dtype=np.int64)
            np.add.at(sums, parents[depth], whole[0])
            whole.insert(0, sums)
        return whole

    def _depth(self, name: str) -> int:
        return (WHOLE, *self.levels).index(name)

    def _place(self, row: Row) -> object:
        """A place as invariants name it: by itself on the first level, else with the places that it is in."""
        return WHOLE if not row else row[0] if len(row) == 1 else row

    def _spine(self, depth: int) -> list[Row]:
        """The places of a level, each once, in order."""
        order = [self.places.names.index(name) for name in self.levels[:depth]]
        return list(dict.fromkeys(tuple(row[place] for place in order) for row in self.places))

    def _cells(self) -> list[Row]:
        return [()] if self.by is None else [tuple(row) for row in self.by]

    def _rows(self, depth: int) -> list[Row]:
        return [place + cell for place in self._spine(depth) for cell in self._cells()]

    def _keys(self, depth: int) -> KeySet | None:
        columns = (*self.levels[:depth], *(self.by.names if self.by is not None else ()))
        return KeySet.rows(columns, self._rows(depth)) if columns else None

    def _parents(self, above: list[Row], below: list[Row]) -> NDArray[np.int64]:
        """For each row of a level the place of the row above: the same without its last place."""
        depth = len(below[0]) - len(above[0])
        cells = len(self._cells()[0])
        at = len(below[0]) - cells - depth
        places = {row: place for place, row in enumerate(above)}
        return np.array([places[row[:at] + row[at + depth :]] for row in below], dtype=np.int64)

    def _counts(self, answer: Answer, rows: list[Row]) -> NDArray[np.float64]:
        """The noisy counts of a level in the order of its rows."""
        names = [column.name for column in answer.keys]
        keys = zip(*(answer[name].values.tolist() for name in names), strict=True) if names else [()]
        counts = dict(zip(keys, answer["n"].values.tolist(), strict=True))
        return np.array([counts[row] for row in rows], dtype=np.float64)

    def _answer(self, rows: list[Row], counts: NDArray[np.int64], depth: int, answer: Answer) -> Answer:
        names = (*self.levels[:depth], *(self.by.names if self.by is not None else ()))
        keys = [AnswerColumn(name, [row[place] for row in rows], Role.KEY) for place, name in enumerate(names)]
        return Answer((*keys, AnswerColumn("n", counts, Role.VALUE)), answer.confidence)

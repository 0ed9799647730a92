"""Multiplicative weights: a table of expected counts, moved until it agrees with noisy answers about some of its cells.

Post-processing alone: it sees a table and numbers that were paid for. The book prints the loop with a table that is
compared with itself, so that it always stops after one sweep (erratum E3-09); here it is compared with a copy, and
stops after a stated number of sweeps in any case, since answers that contradict each other may go round for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias, final

import numpy as np

from sfumato.errors import BadArgument, Several
from sfumato.exact import integer
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Floats

MOST_SWEEPS = 1000
"""Answers are gone through at most so often, unless more is asked for."""


@final
@dataclass(frozen=True)
class Cell:
    """A counting query: the rows that have given codes in some columns.

    As a mask of the whole table it is 1 where those columns have those codes, and 0 elsewhere: its sensitivity is 1.
    """

    columns: tuple[str, ...]
    codes: tuple[int, ...]

    def within(self, domain: Domain) -> tuple[int | slice, ...]:
        """Where the query's cells are in a table of all columns."""
        axes, found = domain.axes(self.columns), [slice(None)] * len(domain.names)
        if len(axes) != len(self.codes) or len(set(axes)) < len(axes):
            raise BadArgument("codes", "one for each of some different columns", Several(len(axes), len(self.codes)))
        index: list[int | slice] = [*found]
        for axis, code in zip(axes, self.codes, strict=True):
            index[axis] = integer(code, "a code", least=0, most=domain.sizes[axis] - 1)
        return tuple(index)


def cells_of_marginals(domain: Domain, marginals: Sequence[Sequence[str]]) -> list[Cell]:
    """Every cell of some marginals, marginal after marginal and each with its last column running fastest.

    >>> len(cells_of_marginals(Domain(("C1", "C2"), (3, 2)), [("C1",), ("C2",), ("C1", "C2")]))
    11
    """
    listed: list[Cell] = []
    for columns in marginals:
        listed += [Cell(tuple(columns), codes) for codes in product(*map(range, domain.shape(columns)))]
    return listed


Place: TypeAlias = "tuple[int | slice, ...] | np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"
"""The cells of a query: an index of the table, or a mask of its shape."""


@final
@dataclass(frozen=True, eq=False)
class Swept:
    """A table after multiplicative weights: how often it went through all answers, and whether it had settled then."""

    table: Floats
    sweeps: int
    settled: bool


def multiplicative_weights(
    table: Floats, places: Sequence[Place], answers: Sequence[float], *, most_sweeps: int = MOST_SWEEPS
) -> Swept:
    """Moves a table towards noisy answers, each in turn, until a whole sweep leaves it as it is (numpy's ``allclose``).

    With n the sum of the table and q the sum of a query's cells, these cells are multiplied by exp((answer − q) / 2n)
    and the whole is scaled back to n. The table that is handed in stays as it is; cells above 0 stay so.

    >>> toy = np.full((3, 2), 2 / 3)
    >>> one = multiplicative_weights(toy, [(0,)], [3.0], most_sweeps=1).table
    >>> [round(float(count), 6) for count in (one[0, 0], one[1, 0])]
    [0.762232, 0.618884]
    >>> settled = multiplicative_weights(toy, [(0,)], [3.0])
    >>> settled.sweeps, round(float(settled.table[0, 0]), 3), round(float(settled.table[2, 1]), 3)
    (94, 1.5, 0.25)
    """
    limit, moved = integer(most_sweeps, "most_sweeps", least=1), np.array(table, dtype=np.float64)
    total = float(moved.sum())
    if len(places) != len(answers):
        raise BadArgument("answers", "one for each query", Several(len(places), len(answers)))
    if not (np.isfinite(moved).all() and (moved >= 0).all() and total > 0 and np.isfinite(answers).all()):
        raise BadArgument("the table and the answers", "finite; of the table none below 0 and some above", "others")
    for sweep in range(1, limit + 1):
        before = moved.copy()
        for place, answer in zip(places, answers, strict=True):
            error = answer - float(moved[place].sum())
            # Beyond ±60 the cells are all or nothing already, and would leave the range of floats if they went on.
            moved[place] *= np.exp(np.clip(error / (2 * total), -60.0, 60.0))
            moved *= total / moved.sum()
        np.maximum(moved, np.where(before > 0, np.finfo(np.float64).tiny, 0.0), out=moved)
        if np.allclose(moved, before):
            return Swept(moved, sweep, settled=True)
    return Swept(moved, limit, settled=not places)

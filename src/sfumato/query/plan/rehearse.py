"""Rehearses a question without data: whatever cannot run, whoever asks it and of whatever data, is refused unpaid."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sfumato.errors import QueryRefused
from sfumato.query.answer.assemble import Drawn, columns_of
from sfumato.query.answer.error_bars import width_of
from sfumato.query.answer.shape import ShapedColumn, shape_of
from sfumato.query.nodes.literals import halved
from sfumato.release.answer import Answer
from sfumato.release.vectors import Array

if TYPE_CHECKING:
    from sfumato.query.nodes.questions import Question
    from sfumato.query.plan.compiled_query import CompiledQuery
    from sfumato.query.plan.open_tables import OpenTables

SURE = Fraction(95, 100)
"""The answer that is made up on the way has intervals at some confidence; nobody sees it."""


def rehearse(ready: CompiledQuery, opened: OpenTables) -> None:
    """Runs every statement on tables without rows, and makes an answer of two groups: of zeros and of too much noise.

    What ran on no rows before runs so with other numbers in it (`Statement.shape`); what an answer was made of before
    makes one, whichever rows are asked about.
    """
    _check_names(ready.question)
    for level in ready.levels:
        if level.summed is None and level.cells.tallies:
            opened.engine.prepare(level.computed)
        for run in level.runs:
            opened.engine.prepare(run.cells)
    opened.worked.finished.get(ready.finishing, lambda: _finish(ready))


def _finish(ready: CompiledQuery) -> None:
    """Makes an answer of made-up numbers; refuses a question of which none can be made."""
    try:
        columns_of(ready, [made_up(ready)], SURE)
    except RecursionError:
        why = "what is made of the released numbers is nested too deeply: ask for its parts."
    except OverflowError:
        why = "so little loss buys noise beyond all numbers that a float can hold: pay more, or keep less of each unit."
    else:
        return
    raise QueryRefused(why)


def made_up_shape(ready: CompiledQuery) -> tuple[ShapedColumn, ...]:
    """The columns that an answer will have, read off one that is made up."""
    answer = Answer(columns_of(ready, [made_up(ready)], SURE), SURE)
    return shape_of(answer, {name: made.kind for name, made in ready.question.columns})


def _check_names(question: Question) -> None:
    """Refuses names that no file and no ledger can hold."""
    if any(halved(name) for name, _ in (*question.keys, *question.columns)):
        raise QueryRefused("the name of a column holds half a character (a lone surrogate): name it otherwise, AS.")


def made_up(ready: CompiledQuery) -> Drawn:
    """Makes up two groups of the first level, both with the first key, where keys are listed.

    The numbers of one are 0, those of the other as far out as noise will never be: a thousand half-widths.
    """
    level, noises = ready.levels[0], ready.noises[0]
    keys = () if level.listed is None or not len(level.listed) else tuple(column[0] for column in level.listed.columns)
    arrays = tuple(np.full(2, key, dtype=object) for key in keys or (None,) * len(level.places))
    far = {tally: 1000 * width_of(part.noise, SURE) for tally, part in noises.items()}
    numbers = {tally: _array(0, far.get(tally, 0)) for tally in level.cells.tallies}
    chosen = {one: np.zeros(2, dtype=np.int64) for run in level.runs for one in run.special.statistics}
    return Drawn(arrays, numbers, chosen=chosen)


def _array(*numbers: int) -> Array:
    return np.array(numbers, dtype=np.int64 if max(numbers) < 2**63 else object)

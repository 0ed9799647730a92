"""Rehearses a question without data: whatever cannot run, whoever asks it and of whatever data, is refused unpaid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sfumato.errors import QueryRefused
from sfumato.query.answer.assemble import Drawn, finished
from sfumato.query.answer.error_bars import width_of
from sfumato.query.engines.protocol import PublicTables
from sfumato.query.nodes.literals import halved
from sfumato.query.plan.engine_plan import ExactAggregate
from sfumato.query.plan.grouping_sets import Level
from sfumato.release.vectors import Array

if TYPE_CHECKING:
    from sfumato.query.nodes.questions import Question
    from sfumato.query.plan.compiled_query import CompiledQuery

SURE = Fraction(95, 100)
"""The answer that is made up on the way has intervals at some confidence; nobody sees it."""


def rehearse(ready: CompiledQuery, engine: PublicTables) -> None:
    """Runs every statement on tables without rows, and makes answers of one group: of zeros, and of too much noise."""
    _check_names(ready.question)
    for level in ready.levels:
        if level.summed is None and level.cells.tallies:
            engine.prepare(level.cells)
        for run in level.runs:
            engine.prepare(run.cells)
    alone = replace(ready, levels=ready.levels[:1])
    try:
        for numbers in (dict.fromkeys(ready.levels[0].cells.tallies, 0), _far(ready)):
            finished(alone, [_made_up(ready.levels[0], numbers)], SURE)
    except RecursionError:
        why = "what is made of the released numbers is nested too deeply: ask for its parts."
    except OverflowError:
        why = "so little loss buys noise beyond all numbers that a float can hold: pay more, or keep less of each unit."
    else:
        return
    raise QueryRefused(why)


def _far(ready: CompiledQuery) -> dict[ExactAggregate, int]:
    """Numbers as far out as noise will never be: a thousand half-widths."""
    return {tally: 1000 * width_of(part.noise, SURE) for tally, part in ready.noises[0].items()}


def _check_names(question: Question) -> None:
    """Refuses names that no file and no ledger can hold."""
    if any(halved(name) for name, _ in (*question.keys, *question.columns)):
        raise QueryRefused("the name of a column holds half a character (a lone surrogate): name it otherwise, AS.")


def _made_up(level: Level, numbers: Mapping[ExactAggregate, int]) -> Drawn:
    """Makes up one group with some numbers: that of the first key, where keys are listed."""
    keys = () if level.listed is None or not len(level.listed) else tuple(column[0] for column in level.listed.columns)
    shown = keys or (None,) * len(level.places)
    arrays = tuple(np.array([key], dtype=object) for key in shown)
    given = {tally: _array(numbers.get(tally, 0)) for tally in level.cells.tallies}
    chosen = {one: np.zeros(1, dtype=np.int64) for run in level.runs for one in run.special.statistics}
    return Drawn(arrays, given, chosen=chosen)


def _array(number: int) -> Array:
    return np.array([number], dtype=np.int64 if number < 2**63 else object)

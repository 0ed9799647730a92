"""Post-processing: what is computed from released numbers and public keys. It never sees data, and costs nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from sfumato.errors import QueryRefused
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.operators import OPERATORS
from sfumato.query.nodes.operators.released import Released, Rule, numbers_of, objects_of
from sfumato.query.nodes.questions import Statistic, StatisticValue
from sfumato.release.vectors import Array, Vector


@final
@dataclass(frozen=True, eq=False)
class Known:
    """What was released of each group: keys by their names, and statistics."""

    size: int
    keys: Mapping[str, Array]
    statistics: Mapping[Statistic, Released]


def evaluated(made: Expression, known: Known) -> Released:
    """Computes an expression over released numbers, for each group."""
    match made:
        case StatisticValue(statistic=statistic):
            return known.statistics[statistic]
        case Column(name=name, kind=kind):
            return numbers_of(known.keys[name]) if kind.numeric else known.keys[name]
        case Literal(value=value, kind=kind):
            cells = np.full(known.size, value, dtype=object)
            return numbers_of(cells) if kind.numeric and value is not None else cells
        case Call():
            return _rule(made)([evaluated(part, known) for part in made.parts])
    raise TypeError(type(made))


def check_released(made: Expression) -> None:
    """Refuses operations that have no rule for released numbers."""
    if isinstance(made, Call):
        _rule(made)
    for part in made.parts:
        check_released(part)


def _rule(made: Call) -> Rule:
    rule = OPERATORS[made.operator].released
    if rule is None:
        raise QueryRefused(
            f"{made.operator} cannot be applied to released numbers here: apply it to the answer, once you have it."
        )
    return rule


def true_in(condition: Released) -> Array:
    """Tells where a condition is true: neither false nor missing."""
    cells = condition.floats if isinstance(condition, Vector) else condition
    return np.array([cell is True or cell is np.True_ for cell in cells], dtype=bool)


def sorted_places(known: Known, order: Sequence[tuple[Expression, bool]]) -> Array:
    """Sorts the groups in the order asked for; ties keep their order, missing values come last."""
    places = list(range(known.size))
    for by, descending in reversed(order):
        cells = objects_of(evaluated(by, known))
        there = sorted((at for at in places if cells[at] is not None), key=lambda at: cells[at], reverse=descending)
        places = [*there, *(at for at in places if cells[at] is None)]
    return np.array(places, dtype=np.intp)

"""Post-processing: what is computed from released numbers and public keys. It never sees data, and costs nothing.

Numbers are `Vector`s, which carry intervals; truth values, texts and days are arrays of objects, None where missing.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from sfumato.errors import QueryRefused
from sfumato.query.expressions import Call, Column, Expression, Literal
from sfumato.query.questions import Answered, Statistic
from sfumato.query.vectors import Array, Vector

Released: TypeAlias = Vector | Array


@final
@dataclass(frozen=True, eq=False)
class Known:
    """Is what was released of each group: keys by their names, and statistics."""

    size: int
    keys: Mapping[str, Array]
    statistics: Mapping[Statistic, Released]


def evaluated(made: Expression, known: Known) -> Released:
    """Computes an expression over released numbers, for each group."""
    match made:
        case Answered(statistic=statistic):
            return known.statistics[statistic]
        case Column(name=name, kind=kind):
            return _numbers(known.keys[name]) if kind.numeric else known.keys[name]
        case Literal(value=value, kind=kind):
            cells = np.full(known.size, value, dtype=object)
            return _numbers(cells) if kind.numeric and value is not None else cells
        case Call():
            return RULES[made.operator]([evaluated(part, known) for part in made.parts])
    raise TypeError(type(made))


def check_released(made: Expression) -> None:
    """Refuses operations that are not on file for released numbers."""
    if isinstance(made, Call) and made.operator not in RULES:
        raise QueryRefused(
            f"{made.operator} cannot be applied to released numbers here: apply it to the answer, once you have it."
        )
    for part in made.parts:
        check_released(part)


def true_in(condition: Released) -> Array:
    """Tells where a condition is true: neither false nor missing."""
    cells = condition.floats if isinstance(condition, Vector) else condition
    return np.array([cell is True or cell is np.True_ for cell in cells], dtype=bool)


def _numbers(cells: Array) -> Vector:
    """Gives public numbers, missing ones as NaN."""
    if all(type(cell) is int for cell in cells):
        return Vector.exact(np.array(cells.tolist(), dtype=object if _large(cells) else np.int64), whole=True)
    return Vector.exact(np.array([np.nan if cell is None else float(cell) for cell in cells], dtype=np.float64))


def _large(cells: Array) -> bool:
    return any(abs(cell) >= 1 << 62 for cell in cells)


def _vector(part: Released) -> Vector:
    return part if isinstance(part, Vector) else _numbers(part)


def _objects(part: Released) -> Array:
    """Gives cells as objects, with None for what is missing."""
    if not isinstance(part, Vector):
        return part
    values = part.values.astype(object)
    values[np.isnan(part.floats)] = None
    return values


def _unbounded(values: Array) -> Vector:
    nowhere = np.full(len(values), np.inf)
    return Vector(values, -nowhere, nowhere)


def _arithmetic(operate: Callable[[Vector, Vector], Vector]) -> Callable[[Sequence[Released]], Released]:
    return lambda parts: operate(_vector(parts[0]), _vector(parts[1]))


def _monotonic(function: Callable[[Array], Array]) -> Callable[[Sequence[Released]], Released]:
    def apply(parts: Sequence[Released]) -> Released:
        found = _vector(parts[0]).monotonic(function)
        return Vector(np.where(np.isfinite(found.values), found.values, np.nan), found.low, found.high)

    return apply


def _absolute(parts: Sequence[Released]) -> Released:
    one = _vector(parts[0])
    across = (one.low <= 0) & (one.high >= 0)
    ends = np.abs(one.low), np.abs(one.high)
    return Vector(np.abs(one.values), np.where(across, 0.0, np.minimum(*ends)), np.maximum(*ends), one.whole)


def _extreme(pick: Any) -> Callable[[Sequence[Released]], Released]:
    def apply(parts: Sequence[Released]) -> Released:
        vectors = [_vector(part) for part in parts]
        return Vector(*(pick.reduce([get(one) for one in vectors]) for get in (_floats, _low, _high)))

    return apply


def _floats(one: Vector) -> Array:
    return one.floats


def _low(one: Vector) -> Array:
    return one.low


def _high(one: Vector) -> Array:
    return one.high


def _clamped(parts: Sequence[Released]) -> Released:
    return _vector(parts[0]).within(_vector(parts[1]).floats, _vector(parts[2]).floats)


def _compared(compare: Callable[[Any, Any], bool]) -> Callable[[Sequence[Released]], Released]:
    def apply(parts: Sequence[Released]) -> Released:
        left, right = map(_objects, parts)
        pairs = zip(left, right, strict=True)
        return _cells(None if a is None or b is None else bool(compare(a, b)) for a, b in pairs)

    return apply


def _cells(found: Any) -> Array:
    cells = list(found)
    made = np.empty(len(cells), dtype=object)
    made[:] = cells
    return made


def _and(parts: Sequence[Released]) -> Released:
    rows = zip(*map(_objects, parts), strict=True)
    return _cells(False if False in row else None if None in row else True for row in rows)


def _or(parts: Sequence[Released]) -> Released:
    rows = zip(*map(_objects, parts), strict=True)
    return _cells(True if True in row else None if None in row else False for row in rows)


def _not(parts: Sequence[Released]) -> Released:
    return _cells(None if cell is None else not cell for cell in _objects(parts[0]))


def _is_null(parts: Sequence[Released]) -> Released:
    return _cells(cell is None for cell in _objects(parts[0]))


def _in(parts: Sequence[Released]) -> Released:
    value, *constants = map(_objects, parts)
    return _cells(None if cell is None else cell in others for cell, *others in zip(value, *constants, strict=True))


def _chosen(parts: Sequence[Released], picks: Callable[[tuple[Any, ...]], Any]) -> Released:
    """Gives one of several values, cell by cell; which one hangs on noisy numbers, so nothing is said of its error."""
    cells = _cells(picks(row) for row in zip(*map(_objects, parts), strict=True))
    numeric = any(isinstance(part, Vector) for part in parts)
    return _unbounded(_numbers(cells).values) if numeric and not any(isinstance(c, str) for c in cells) else cells


def _case(parts: Sequence[Released]) -> Released:
    def pick(row: tuple[Any, ...]) -> Any:
        return next((row[at + 1] for at in range(0, len(row) - 1, 2) if row[at] is True), row[-1])

    return _chosen(parts, pick)


def _coalesce(parts: Sequence[Released]) -> Released:
    return _chosen(parts, lambda row: next((cell for cell in row if cell is not None), None))


def _nullif(parts: Sequence[Released]) -> Released:
    return _chosen(parts, lambda row: None if row[0] == row[1] else row[0])


RULES: dict[str, Callable[[Sequence[Released]], Released]] = {
    "neg": lambda parts: -_vector(parts[0]),
    "abs": _absolute,
    "add": _arithmetic(operator.add),
    "sub": _arithmetic(operator.sub),
    "mul": _arithmetic(operator.mul),
    "div": _arithmetic(operator.truediv),
    "floor": _monotonic(np.floor),
    "ceil": _monotonic(np.ceil),
    "round": _monotonic(np.rint),
    "to_int": _monotonic(np.rint),
    "to_float": _monotonic(lambda values: values),
    "sqrt": _monotonic(np.sqrt),
    "ln": _monotonic(np.log),
    "exp": _monotonic(np.exp),
    "least": _extreme(np.minimum),
    "greatest": _extreme(np.maximum),
    "clamp": _clamped,
    **{
        name: _compared(compare)
        for name, compare in {
            "eq": operator.eq,
            "ne": operator.ne,
            "lt": operator.lt,
            "le": operator.le,
            "gt": operator.gt,
            "ge": operator.ge,
        }.items()
    },
    "and": _and,
    "or": _or,
    "not": _not,
    "is_null": _is_null,
    "in": _in,
    "case": _case,
    "coalesce": _coalesce,
    "nullif": _nullif,
}
"""What each operator does to released numbers."""


def sorted_places(known: Known, order: Sequence[tuple[Expression, bool]]) -> Array:
    """Gives the places of the groups in the order asked for; ties keep their order, missing values come last."""
    places = list(range(known.size))
    for by, descending in reversed(order):
        cells = _objects(evaluated(by, known))
        there = sorted((at for at in places if cells[at] is not None), key=lambda at: cells[at], reverse=descending)
        places = [*there, *(at for at in places if cells[at] is None)]
    return np.array(places, dtype=np.intp)

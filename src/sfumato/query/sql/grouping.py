"""Grouping: what stands in GROUP BY, as keys and grouping sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import TypeAlias

from sqlglot import exp

from sfumato.query.build.question import MOST_SETS, cube, rollup
from sfumato.query.nodes.expressions import Expression
from sfumato.query.sql.refusals import only, refused

Resolve: TypeAlias = Callable[[exp.Expr], Expression]
"""Reads what is grouped by: a column, an alias or a position of SELECT, or an expression."""

MOST_KEYS = 64
"""A question has at most this many keys."""

Sets: TypeAlias = list[tuple[Expression, ...]]


def grouping(group: exp.Expr, resolve: Resolve) -> tuple[list[Expression], list[tuple[int, ...]]]:
    """The keys, each once, in order, and the grouping sets as places of keys."""
    only(group, "expressions")
    parts = [_sets(part, resolve) for part in group.expressions]
    many = 1
    for part in parts:
        many *= len(part)
    if many > MOST_SETS:
        raise refused(
            f"GROUP BY with {many} grouping sets", f"at most {MOST_SETS} are made. Name those that are needed"
        )
    made = [_flat(chosen) for chosen in product(*parts)]
    keys = list(dict.fromkeys(key for part in parts for key in _flat(part)))
    _check_many(len(keys))
    places = {key: place for place, key in enumerate(keys)}
    sets = [tuple(sorted({places[key] for key in one})) for one in made]
    return keys, list(dict.fromkeys(sets))


def _sets(node: exp.Expr, resolve: Resolve) -> Sets:
    match node:
        case exp.Rollup() | exp.Cube():
            only(node, "expressions")
            _check_many(len(node.expressions))
            parts = [_together(part, resolve) for part in node.expressions]
            places = rollup(len(parts)) if isinstance(node, exp.Rollup) else cube(len(parts))
            return [_flat(parts[place] for place in chosen) for chosen in places]
        case exp.GroupingSets():
            only(node, "expressions")
            return [one for part in node.expressions for one in _sets(part, resolve)]
    return [_together(node, resolve)]


def _check_many(keys: int) -> None:
    if keys > MOST_KEYS:
        raise refused(f"GROUP BY with {keys} keys", f"at most {MOST_KEYS} are known")


def _together(node: exp.Expr, resolve: Resolve) -> tuple[Expression, ...]:
    """Reads what is written together in parentheses."""
    match node:
        case exp.Tuple():
            return tuple(resolve(part) for part in node.expressions)
        case exp.Paren():
            return _together(node.this, resolve)
    return (resolve(node),)


def _flat(parts: Iterable[tuple[Expression, ...]]) -> tuple[Expression, ...]:
    return tuple(key for part in parts for key in part)

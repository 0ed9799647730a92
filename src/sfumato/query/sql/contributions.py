"""Contributions: questions whose aggregates bound what each unit has in a group.

``SUM(x, contribution_bounds_per_group => (0, 9))`` is the sum, over units, of the sum of each unit's rows in the group,
moved into bounds. So the rows of a unit are summed up within each group first, as an inner GROUP BY would do it.
"""

from __future__ import annotations

from dataclasses import replace

from sfumato.query.build.relation import folded, owner_of, per_unit, unused
from sfumato.query.nodes.expressions import Column, Expression, Literal
from sfumato.query.nodes.fields import renamed
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.questions import Count, CountUnits, Mean, Statistic, StatisticValue, Sum, statistics_in
from sfumato.query.nodes.relations import Fold, Folded
from sfumato.query.sql.aggregates import PerGroup
from sfumato.query.sql.blocks import Block, keyed
from sfumato.query.sql.options import PER_GROUP, PER_ROW
from sfumato.query.sql.refusals import refused


def summed_by_unit(block: Block) -> Block:
    """Sums up within each unit and group, where an aggregate asks for that; all others must then be of units too."""
    made = [*(item.made for item in block.items), *(one for one, _ in block.order)]
    made += [] if block.having is None else [block.having]
    asked = list(dict.fromkeys(one for expression in made for one in statistics_in(expression)))
    if not any(isinstance(one, PerGroup) for one in asked):
        return block
    source, taken = block.scope.relation, set[str]()
    by = [(unused(name, taken), key) for name, key in ((_unit(block).name, _unit(block)), *(block.keys or ()))]
    folds: dict[Statistic, Folded] = {
        one: _fold(one, unused("fold", taken)) for one in asked if isinstance(one, PerGroup)
    }
    replaced: dict[Expression, Expression] = {key: renamed(name, key) for name, key in by}
    replaced |= {StatisticValue(one): StatisticValue(_of_units(one, folds.get(one))) for one in asked}
    names = [name for name, _ in block.keys or ()]
    return replace(
        block,
        scope=block.scope.over(per_unit(source, by, list(folds.values()))),
        items=tuple(replace(item, made=keyed(item.made, replaced)) for item in block.items),
        keys=tuple((name, replaced[key]) for name, (_, key) in zip(names, by[1:], strict=True)),
        having=None if block.having is None else keyed(block.having, replaced),
        order=tuple((keyed(one, replaced), descending) for one, descending in block.order),
    )


def _unit(block: Block) -> Column:
    """The column that says whose a row is."""
    owner = owner_of(block.scope.relation)
    column = next((one for one in block.scope.relation.fields if one.unit == 0), None)
    if owner is None or column is None or owner.window is not None:
        raise refused(f"{PER_GROUP} here", f"no one column says whose a row is. Write {PER_ROW} => (low, high)")
    return column


def _fold(one: PerGroup, name: str) -> Folded:
    """How the rows of a unit in a group become one number; those that a condition leaves out are missing."""
    match one.of:
        case Count(of=None, where=None):
            return folded(Fold.COUNT, None, name)
        case Count(of=of):
            fold, value = Fold.COUNT, Literal(1, Kind.INT) if of is None else of
        case Sum(of=value):
            fold = Fold.SUM
        case Mean(of=value):
            fold = Fold.MEAN
        case _:
            raise refused(f"{PER_GROUP} of {one.of.name}", f"COUNT, SUM and AVG have it. Write {PER_ROW}")
    kept = value if one.where is None else call("case", one.where, value, Literal(None, value.kind))
    return folded(fold, kept, name)


def _of_units(one: Statistic, fold: Folded | None) -> Statistic:
    if isinstance(one, PerGroup) and fold is not None:
        bounded = call("clamp", fold.column, *one.between)
        return Mean(bounded) if isinstance(one.of, Mean) else Sum(bounded)
    if one == CountUnits():
        return one
    raise refused(
        f"{one.name} beside {PER_GROUP}",
        f"what units have in a group is summed up first, so give {PER_GROUP} for each. Or ask for it by itself",
    )

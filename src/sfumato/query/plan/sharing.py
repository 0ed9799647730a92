"""Sharing: of tallies that are the same number, however they were asked for, one is bought.

Two sums are the same number if the same terms are multiplied and the same rows are added up. Which rows these are is
said in several ways: an operand that must be there, a condition that says so, conditions in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar, assert_never

from sfumato.core.grouped_distance import GroupedDistance
from sfumato.query.nodes.expressions import Call, Expression
from sfumato.query.plan.decomposition import Recipe
from sfumato.query.plan.engine_plan import Bound, Distinct, ExactAggregate, Rows, Total, Units
from sfumato.query.plan.grounding import conjuncts

Key = TypeVar("Key", bound=Hashable)
Cells = TypeVar("Cells")


def shared(made: Mapping[Key, Recipe]) -> dict[Key, Recipe]:
    """Makes all recipes of one tally for each number: of several that are the same, the first one stands for all."""
    first: dict[Hashable, ExactAggregate] = {}
    standing = {tally: first.setdefault(meaning(tally), tally) for one in made.values() for tally in one.tallies}
    return {asked: instead(one, standing) for asked, one in made.items()}


def instead(recipe: Recipe, standing: Mapping[ExactAggregate, ExactAggregate]) -> Recipe:
    """Makes a recipe of other tallies that are the same numbers."""
    if all(standing.get(tally, tally) == tally for tally in recipe.tallies):
        return recipe

    def own(noisy: Mapping[ExactAggregate, Cells]) -> dict[ExactAggregate, Cells]:
        return {tally: noisy[standing.get(tally, tally)] for tally in recipe.tallies}

    tallies = tuple(dict.fromkeys(standing.get(tally, tally) for tally in recipe.tallies))
    sharp = recipe.sharp if len(tallies) == len(recipe.tallies) else None  # which takes noises for independent
    return Recipe(
        tallies=tallies,
        make=lambda noisy: recipe.make(own(noisy)),
        linear=None if recipe.linear is None else merged(recipe.linear, standing),
        sharp=None if sharp is None else lambda noisy, missed: sharp(own(noisy), missed),
    )


def merged(
    weights: Mapping[ExactAggregate, Fraction], standing: Mapping[ExactAggregate, ExactAggregate]
) -> dict[ExactAggregate, Fraction]:
    """Adds up the weights of tallies that one stands for."""
    together: dict[ExactAggregate, Fraction] = {}
    for tally, weight in weights.items():
        stands = standing.get(tally, tally)
        together[stands] = together.get(stands, Fraction(0)) + weight
    return {tally: weight for tally, weight in together.items() if weight}


def same_by_bounds(
    tallies: Sequence[ExactAggregate], bound: Bound, spread: GroupedDistance
) -> tuple[tuple[ExactAggregate, ExactAggregate], ...]:
    """Pairs counts of rows with the counts of units that they equal, because no unit has two rows in a group.

    Where further rows are scaled away, that holds for counts of all rows only: of a unit with one row of three for
    which a condition is true, a third of a row is counted.
    """
    if spread.largest > 1:
        return ()
    units = {meaning(tally)[1]: tally for tally in tallies if isinstance(tally, Units)}
    which = [(tally, meaning(tally)[-1]) for tally in tallies if isinstance(tally, Rows)]
    everywhere: frozenset[Hashable] = frozenset()
    same = [(tally, rows) for tally, rows in which if rows in units and (rows == everywhere or bound.rows is None)]
    return tuple((tally, units[rows]) for tally, rows in same)


def meaning(tally: ExactAggregate) -> tuple[Hashable, ...]:
    """Says which number a tally is: tallies that mean the same are equal in every table."""
    asked = met(tally.where)
    match tally:
        case Rows(of=of):
            held = () if of is None else (of,)
            return "rows", replace(tally, of=None, where=None), frozenset(asked | there(held))
        case Total(terms=terms):
            factors = frozenset(Counter(terms).items())
            return "total", factors, frozenset(asked | there(term.of for term in terms))
        case Units():
            return "units", frozenset(asked)
        case Distinct(grid=grid, summed=summed, operands=operands):
            return "distinct", frozenset(operands), grid, summed, frozenset(asked | there(operands))
    assert_never(tally)


def met(condition: Expression | None) -> set[Hashable]:
    """The conditions that must all be true for one to be, in a form where equal ones compare equal."""
    said: set[Hashable] = set()
    for part in () if condition is None else conjuncts(condition):
        match part:
            case Call(operator="not", parts=(Call(operator="is_null", parts=(of,)),)):
                said |= there((of,))
            case _:
                said.add(part)
    return said


def there(operands: Iterable[Expression]) -> set[Hashable]:
    """Says that operands are not missing; a whole number is there exactly where the float is that it becomes."""
    return {("there", of.parts[0] if isinstance(of, Call) and of.operator == "to_float" else of) for of in operands}

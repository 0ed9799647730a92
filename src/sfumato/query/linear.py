"""Linear columns: sums of noisy numbers with public weights, whose error bars follow from the noise itself."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

from sfumato.query.cells import Tally
from sfumato.query.expressions import Call, Expression, Literal
from sfumato.query.questions import Answered, Statistic
from sfumato.query.recipes import Recipe

Weights: TypeAlias = Mapping[Tally, Fraction]
"""How often each tally stands in a sum, in its own unit; besides, there may be a constant."""


def linear_form(made: Expression, recipes: Mapping[Statistic, Recipe]) -> Weights | None:
    """Gives the weights of a column that is a sum of noisy numbers with public weights; None for other columns."""
    match made:
        case Answered(statistic=statistic):
            return recipes[statistic].linear if statistic in recipes else None
        case Literal():
            return {} if _constant(made) is not None else None
        case Call(operator="neg", parts=(one,)):
            return _sum({}, linear_form(one, recipes), Fraction(-1))
        case Call(operator="add" | "sub" as operator, parts=(left, right)):
            sign = Fraction(1 if operator == "add" else -1)
            return _sum(linear_form(left, recipes), linear_form(right, recipes), sign)
        case Call(operator="mul", parts=(left, right)):
            factor, other = _constant(left), right
            if factor is None:
                factor, other = _constant(right), left
            return None if factor is None else _sum({}, linear_form(other, recipes), factor)
        case Call(operator="div", parts=(left, right)):
            divisor = _constant(right)
            return _sum({}, linear_form(left, recipes), 1 / divisor) if divisor else None
        case Call(operator="to_float", parts=(one,)):
            return linear_form(one, recipes)
    return None


def _constant(made: Expression) -> Fraction | None:
    return Fraction(made.value) if isinstance(made, Literal) and isinstance(made.value, int | float) else None


def _sum(left: Weights | None, right: Weights | None, times: Fraction) -> Weights | None:
    if left is None or right is None:
        return None
    found = dict(left)
    for tally, weight in right.items():
        found[tally] = found.get(tally, Fraction(0)) + times * weight
    return {tally: weight for tally, weight in found.items() if weight}

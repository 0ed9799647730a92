"""Columns that get their error bars from the noise itself: sums of noisy numbers with public weights, and ratios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias, final

from sfumato.query.nodes.expressions import Call, Expression, Literal
from sfumato.query.nodes.questions import Statistic, StatisticValue
from sfumato.query.plan.decomposition import Recipe
from sfumato.query.plan.engine_plan import ExactAggregate

Weights: TypeAlias = Mapping[ExactAggregate, Fraction]
"""How often each tally stands in a sum, in its own unit."""


@final
@dataclass(frozen=True)
class Linear:
    """A sum of tallies with public weights, plus a public constant."""

    weights: Weights = field(default_factory=dict)
    constant: Fraction = Fraction(0)

    def plus(self, other: Linear, times: Fraction) -> Linear:
        """Adds ``times`` another sum; tallies that cancel out are dropped."""
        weights = dict(self.weights)
        for tally, weight in other.weights.items():
            weights[tally] = weights.get(tally, Fraction(0)) + times * weight
        kept = {tally: weight for tally, weight in weights.items() if weight}
        return Linear(kept, self.constant + times * other.constant)


@final
@dataclass(frozen=True)
class Ratio:
    """The ratio factor · top / bottom + shift, with public factor and shift."""

    top: Linear
    bottom: Linear
    factor: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)


def linear_form(made: Expression, recipes: Mapping[Statistic, Recipe]) -> Linear | None:
    """Reads a column as a sum of noisy numbers with public weights; None where it is not one."""
    match made:
        case StatisticValue(statistic=statistic):
            weights = recipes[statistic].linear if statistic in recipes else None
            return None if weights is None else Linear(weights)
        case Literal():
            value = _constant(made)
            return None if value is None else Linear({}, value)
        case Call(operator="neg", parts=(one,)):
            return _sum(Linear(), linear_form(one, recipes), Fraction(-1))
        case Call(operator="add" | "sub" as operator, parts=(left, right)):
            sign = Fraction(1 if operator == "add" else -1)
            return _sum(linear_form(left, recipes), linear_form(right, recipes), sign)
        case Call(operator="mul", parts=(left, right)):
            factor, other = _constant(left), right
            if factor is None:
                factor, other = _constant(right), left
            return None if factor is None else _sum(Linear(), linear_form(other, recipes), factor)
        case Call(operator="div", parts=(left, right)):
            divisor = _constant(right)
            return _sum(Linear(), linear_form(left, recipes), 1 / divisor) if divisor else None
        case Call(operator="to_float", parts=(one,)):
            return linear_form(one, recipes)
    return None


def ratio_form(made: Expression, recipes: Mapping[Statistic, Recipe]) -> Ratio | None:
    """Reads a column as a ratio of two such sums, times and plus public numbers; None where it is not one.

    Where the divisor is 0, there is no ratio: NULLIF(divisor, 0) says the same.
    """
    match made:
        case Call(operator="to_float", parts=(one,)):
            return ratio_form(one, recipes)
        case Call(operator="neg", parts=(one,)):
            return _scaled(ratio_form(one, recipes), Fraction(-1), Fraction(0))
        case Call(operator="mul", parts=(left, right)) if (factor := _constant(left)) is not None:
            return _scaled(ratio_form(right, recipes), factor, Fraction(0))
        case Call(operator="mul" | "div" | "add" | "sub" as operator, parts=(left, right)) if (
            number := _constant(right)
        ) is not None:
            factor = {"mul": number, "div": 1 / number if number else Fraction(0)}.get(operator, Fraction(1))
            shift = {"add": number, "sub": -number}.get(operator, Fraction(0))
            return _scaled(ratio_form(left, recipes), factor, shift)
        case Call(operator="div", parts=(left, right)):
            match right:
                case Call(operator="nullif", parts=(divisor, Literal(value=0))):
                    right = divisor
            top, bottom = linear_form(left, recipes), linear_form(right, recipes)
            return None if top is None or bottom is None or not bottom.weights else Ratio(top, bottom)
    return None


def _scaled(ratio: Ratio | None, factor: Fraction, shift: Fraction) -> Ratio | None:
    if ratio is None or not factor:
        return None
    return replace(ratio, factor=ratio.factor * factor, shift=ratio.shift * factor + shift)


def _constant(made: Expression) -> Fraction | None:
    return Fraction(made.value) if isinstance(made, Literal) and isinstance(made.value, int | float) else None


def _sum(left: Linear | None, right: Linear | None, times: Fraction) -> Linear | None:
    return None if left is None or right is None else left.plus(right, times)

"""Recipes: which tallies a statistic is made of, and how their noisy values become its own. Nothing here sees data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from sfumato.errors import QueryRefused
from sfumato.query.answer.moments import Side, average_ends, correlation_ends, covariance_ends, variance_ends
from sfumato.query.answer.standardized import counted, falling, reach_of, standardized
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.questions import (
    Count,
    CountDistinct,
    CountUnits,
    Covariance,
    Mean,
    MeanDistinct,
    Moment,
    Statistic,
    Sum,
    SumDistinct,
    Variance,
)
from sfumato.query.plan.engine_plan import Distinct, ExactAggregate, Rows, Term, Total, Units
from sfumato.query.plan.grids import COUNT_BITS, FOURTH_BITS, SQUARE_BITS, SUM_BITS, Grid, float_grid, whole_grid
from sfumato.release.blurred import Blurred, Ends
from sfumato.release.vectors import Vector

Made: TypeAlias = Callable[[Mapping[ExactAggregate, Vector]], Vector]
"""From the noisy tallies, in their own units, to the statistic."""

Sharp: TypeAlias = Callable[[Mapping[ExactAggregate, Blurred], float], Ends]
"""From the tallies with the law of their noise, and the chance to miss, to where the statistic lies."""


@final
@dataclass(frozen=True)
class Recipe:
    """How a statistic is made: of which tallies, and how; ``linear`` are their weights, where it is their sum.

    ``sharp`` finds where a statistic that is no sum lies, by the noise of all tallies together; `make` finds it from
    where each tally lies.
    """

    tallies: tuple[ExactAggregate, ...]
    make: Made
    linear: Mapping[ExactAggregate, Fraction] | None = None
    sharp: Sharp | None = None

    @staticmethod
    def of(tally: ExactAggregate) -> Recipe:
        """The recipe of a statistic that is one tally."""
        return Recipe((tally,), lambda noisy: noisy[tally], {tally: Fraction(1)})


def recipes(statistics: Iterable[Statistic], *, alone: bool = False, fine: bool = False) -> dict[Statistic, Recipe]:
    """Finds the recipe of each statistic; where rows are counted anyway, sums are taken around the middle.

    With ``alone`` every sum is one noisy number, so that its error bar is that of one noise. With ``fine`` whole
    numbers, and counts of some of the rows, have a grid as fine as floats have: otherwise numbers of units that are
    scaled down would be cut to whole ones.
    """
    asked = tuple(statistics)
    if alone:
        return {one: recipe(one, centred=False, fine=fine) for one in asked}
    counted = {counts_of(one, fine=fine) for one in asked if not isinstance(one, Sum | CountUnits | CountDistinct)}
    return {one: recipe(one, centred=counts_of(one, fine=fine) in counted, fine=fine) for one in asked}


def recipe(statistic: Statistic, *, centred: bool, fine: bool = False) -> Recipe:
    """Finds the recipe of one statistic; ``centred`` sums are around the middle of the bounds."""
    match statistic:
        case Count():
            return _count(counts_of(statistic, fine=fine))
        case CountUnits(where=where):
            return Recipe.of(Units(where))
        case CountDistinct(of=of, where=where, others=others):
            return Recipe.of(Distinct(of, where, others))
        case SumDistinct(of=of, where=where):
            return _sum_different(of, where)
        case MeanDistinct(of=of, where=where):
            term = term_of(of, "mean", centred=True)
            return _averaged(_different(term, where), _different(term, where, summed=True), term.grid)
        case Sum():
            return _sum(statistic, centred=centred, fine=fine)
        case Mean():
            return _mean(statistic, fine=fine)
        case Variance():
            return _variance(statistic, fine=fine)
        case Covariance():
            return _covariance(statistic, fine=fine)
        case Moment():
            return _moment(statistic, fine=fine)
    raise QueryRefused(f"{statistic.name} is not made of sums.")


def counts_of(statistic: Statistic, *, fine: bool) -> Rows:
    """The count of the rows that a statistic is about; of some of the rows, on a ``fine`` grid, if asked to."""
    missing = [of for of in statistic.operands if of.facts.nullable]
    where = statistic.where
    for of in missing[1:]:
        there = call("not", call("is_null", of))
        where = there if where is None else call("and", where, there)
    some = bool(missing) or where is not None
    return Rows(missing[0] if missing else None, where, COUNT_BITS if fine and some else 0)


def _count(rows: Rows) -> Recipe:
    """Makes a count, rounded to whole rows after the noise is added."""
    if not rows.bits:
        return Recipe.of(rows)
    return Recipe((rows,), lambda noisy: noisy[rows].rounded(), {rows: Fraction(1)})


def _sum(statistic: Sum, *, centred: bool, fine: bool) -> Recipe:
    term = term_of(statistic.of, "sum", centred=centred, fine=fine)
    total = Total((term,), statistic.where)
    whole = statistic.of.kind is Kind.INT and term.of.kind is not Kind.INT
    rows, centre = counts_of(statistic, fine=fine), term.grid.centre

    def make(noisy: Mapping[ExactAggregate, Vector]) -> Vector:
        summed = noisy[total] + _times(noisy[rows], centre) if centre else noisy[total]
        return summed.rounded() if whole else summed

    weights: dict[ExactAggregate, Fraction] = {total: Fraction(1)}
    if centre:
        weights[rows] = Fraction(centre)
    return Recipe((rows, total) if centre else (total,), make, weights)


def _times(count: Vector, factor: float) -> Vector:
    """Multiplies a count by a constant; exactly, where both are whole numbers."""
    ends = count.low * factor, count.high * factor
    if isinstance(factor, int) and count.whole:
        return Vector(count.values.astype(object) * factor, np.minimum(*ends), np.maximum(*ends), whole=True)
    return Vector(count.floats * factor, np.minimum(*ends), np.maximum(*ends))


def _mean(statistic: Mean, *, fine: bool) -> Recipe:
    term = term_of(statistic.of, "mean", centred=True, fine=fine)
    return _averaged(counts_of(statistic, fine=fine), Total((term,), statistic.where), term.grid)


def _different(term: Term, where: Expression | None, *, summed: bool = False) -> Distinct:
    """Counts the different numbers of a term, or adds them up: both as steps of its grid, so that they agree."""
    return Distinct(term.of, where, grid=term.grid, summed=summed)


def _sum_different(of: Expression, where: Expression | None) -> Recipe:
    term = term_of(of, "sum", centred=False)
    total = _different(term, where, summed=True)
    if of.kind is term.of.kind:
        return Recipe.of(total)
    return Recipe((total,), lambda noisy: noisy[total].rounded(), {total: Fraction(1)})


def _averaged(rows: ExactAggregate, total: ExactAggregate, grid: Grid) -> Recipe:
    centre, ends = float(grid.centre), (float(grid.low), float(grid.high))

    def sharp(noisy: Mapping[ExactAggregate, Blurred], missed: float) -> Ends:
        low, high = average_ends(noisy[rows], Side(noisy[total], reach_of(grid)), missed)
        return np.clip(low + centre, *ends), np.clip(high + centre, *ends)

    return Recipe((rows, total), lambda noisy: _average(noisy[total], noisy[rows], grid), sharp=sharp)


def _side(noisy: Mapping[ExactAggregate, Blurred], total: Total, squares: Total | None, term: Term) -> Side:
    """What is known of one number of each row, of which there are products on the grid of ``term``."""
    plain = total.terms[0].grid
    shift = float(plain.centre) - float(term.grid.centre)
    held = None if squares is None else noisy[squares]
    return Side(noisy[total], reach_of(plain, term.grid) + abs(shift), shift, held)


def _average(total: Vector, rows: Vector, grid: Grid) -> Vector:
    """Makes an average of a centred sum and a count, which is taken to be at least 1: else nothing is averaged."""
    centre = Vector.exact(np.full(len(rows.values), float(grid.centre)))
    return (centre + total / counted(rows)).within(float(grid.low), float(grid.high))


def _variance(statistic: Variance, *, fine: bool) -> Recipe:
    plain, term = _terms(statistic.of, "variance", fine=fine)
    rows, total = counts_of(statistic, fine=fine), Total((plain,), statistic.where)
    squares = Total((term, term), statistic.where)
    radius = (float(term.grid.high) - float(term.grid.low)) / 2
    off = _off(term.grid, term.grid)

    def make(noisy: Mapping[ExactAggregate, Vector]) -> Vector:
        count = counted(noisy[rows])
        middle = _around(noisy[total] / count, plain.grid, term.grid)
        spread = (noisy[squares] / count - middle.squared()).widened(off).within(0.0, radius**2)
        spread = _of_sample(spread, count).within(0.0, 2 * radius**2) if statistic.sample else spread
        return spread.monotonic(np.sqrt) if statistic.root else spread

    def sharp(noisy: Mapping[ExactAggregate, Blurred], missed: float) -> Ends:
        side = _side(noisy, total, squares, term)
        low, high = variance_ends(noisy[rows], side, missed, sample=statistic.sample)
        most = (2 if statistic.sample else 1) * radius**2
        ends = np.clip(low - off, 0.0, most), np.clip(high + off, 0.0, most)
        return (np.sqrt(ends[0]), np.sqrt(ends[1])) if statistic.root else ends

    return Recipe((rows, total, squares), make, sharp=sharp)


def _terms(of: Expression, verb: str, *, fine: bool) -> tuple[Term, Term]:
    """An expression on the grid on which every sum of it is taken, and on that of a factor of a product.

    Products fit into 64 bits only on a coarser grid; a sum is the same number whatever asks for it, and bought once.
    """
    return term_of(of, verb, centred=True, fine=fine), term_of(of, verb, centred=True, bits=SQUARE_BITS, fine=fine)


def _around(average: Vector, centre: Grid, other: Grid) -> Vector:
    """Moves an average to another centre: that of large whole numbers is one, that of their squares need not be."""
    d_in = float(centre.centre) - float(other.centre)
    return average + Vector.exact(np.full(len(average.values), d_in)) if d_in else average


def _off(one: Grid, other: Grid) -> float:
    """How far grids may move a covariance: each number by up to half a step, and their averages too."""
    reach = [max(abs(float(grid.low - grid.centre)), abs(float(grid.high - grid.centre))) for grid in (one, other)]
    steps = [float(grid.step) for grid in (one, other)]
    return (
        reach[0] * steps[1] + reach[1] * steps[0] + steps[0] * steps[1] / 2 if one.exponent or other.exponent else 0.0
    )


def _of_sample(spread: Vector, count: Vector) -> Vector:
    """Turns a variance of all into that of a sample, times n / (n − 1); NaN where there is only one row."""
    return spread * falling(count, 1, lambda rows: rows / (rows - 1))


def _moment(statistic: Moment, *, fine: bool) -> Recipe:
    plain, square = _terms(statistic.of, statistic.name, fine=fine)
    fourth = term_of(statistic.of, statistic.name, centred=True, bits=FOURTH_BITS, fine=fine)
    terms = (plain, square, square, fourth)[: statistic.order]
    rows = counts_of(statistic, fine=fine)
    totals = [Total((term,) * power, statistic.where) for power, term in enumerate(terms, start=1)]

    def make(noisy: Mapping[ExactAggregate, Vector]) -> Vector:
        summed = [(noisy[total], total.terms[0].grid) for total in totals]
        return standardized(summed, counted(noisy[rows]), sample=statistic.sample)

    return Recipe((rows, *totals), make)


def _covariance(statistic: Covariance, *, fine: bool) -> Recipe:
    plains, (first, second) = zip(
        *(_terms(of, "covariance", fine=fine) for of in (statistic.of, statistic.other)), strict=True
    )
    rows = counts_of(statistic, fine=fine)
    both = _both(statistic)
    sums = [Total((plains[0],), both), Total((plains[1],), both), Total((first, second), statistic.where)]
    squares = [Total((first, first), both), Total((second, second), both)] if statistic.scaled else []
    sides = [(float(one.grid.high) - float(one.grid.low)) / 2 for one in (first, second)]

    def make(noisy: Mapping[ExactAggregate, Vector]) -> Vector:
        count = counted(noisy[rows])
        product = noisy[sums[2]] / count
        one, other = (
            _around(noisy[total] / count, total.terms[0].grid, term.grid)
            for total, term in zip(sums[:2], (first, second), strict=True)
        )
        shared = (product - one * other).widened(_off(first.grid, second.grid))
        shared = shared.within(-sides[0] * sides[1], sides[0] * sides[1])
        if not statistic.scaled:
            most = 2 * sides[0] * sides[1]  # n / (n − 1) is at most 2
            return _of_sample(shared, count).within(-most, most) if statistic.sample else shared
        spreads = [
            (noisy[square] / count - middle.squared()).widened(_off(term.grid, term.grid)).within(0.0, side**2)
            for square, middle, side, term in zip(squares, (one, other), sides, (first, second), strict=True)
        ]
        roots = [spread.monotonic(np.sqrt) for spread in spreads]
        return (shared / (roots[0] * roots[1])).within(-1.0, 1.0)

    return Recipe((rows, *sums, *squares), make, sharp=_sharp(statistic, rows, sums, squares))


def _sharp(statistic: Covariance, rows: Rows, sums: Sequence[Total], squares: Sequence[Total]) -> Sharp:
    """Builds the rule for where covariances and correlations lie, by the noise of all of their sums."""
    first, second = sums[2].terms
    held: Sequence[Total | None] = squares or (None, None)
    pairs = (first.grid, second.grid), (first.grid, first.grid), (second.grid, second.grid)
    off = [_off(*pair) for pair in pairs]

    def sharp(noisy: Mapping[ExactAggregate, Blurred], missed: float) -> Ends:
        sides = _side(noisy, sums[0], held[0], first), _side(noisy, sums[1], held[1], second)
        if statistic.scaled:
            return correlation_ends(noisy[rows], sides, noisy[sums[2]], missed, off)
        low, high = covariance_ends(noisy[rows], sides, noisy[sums[2]], missed, sample=statistic.sample)
        most = (2 if statistic.sample else 1) * sides[0].reach * sides[1].reach
        return np.clip(low - off[0], -most, most), np.clip(high + off[0], -most, most)

    return sharp


def _both(statistic: Covariance) -> Expression | None:
    """The condition under which a row has both numbers."""
    where = statistic.where
    for of in (statistic.of, statistic.other):
        if of.facts.nullable:
            there = call("not", call("is_null", of))
            where = there if where is None else call("and", where, there)
    return where


def term_of(of: Expression, verb: str, *, centred: bool, bits: int = SUM_BITS, fine: bool = False) -> Term:
    """Puts an expression on a grid, or says what bounds it needs; whole numbers on a ``fine`` one, if asked to."""
    between = of.facts.numbers
    if of.kind not in (Kind.INT, Kind.FLOAT):
        raise QueryRefused(f"{verb} takes numbers; got {of.kind.value}.")
    if between is None:
        raise QueryRefused(unbounded(verb, of))
    if of.kind is Kind.INT:
        grid = None if fine else whole_grid(between, centred=centred, bits=bits)
        return Term(of, grid) if grid is not None else term_of(call("to_float", of), verb, centred=centred, bits=bits)
    return Term(of, float_grid(between, centred=centred, bits=bits))


IN_SQL = {"mean": "AVG", "sum": "SUM", "variance": "VAR_SAMP", "covariance": "COVAR_SAMP", "quantile": "QUANTILE"}
"""What statistics are called in questions."""


def unbounded(verb: str, of: Expression) -> str:
    """Says what to do about numbers without bounds: what to paste into the codebook, or to write otherwise."""
    if of.kind.temporal:
        what = f"of {of.name} " if isinstance(of, Column) else ""
        return (
            f"the {verb} {what}needs the first and the last day there can be. State them in the codebook "
            "(between: [first, last], from public knowledge)."
        )
    asked, name = IN_SQL.get(verb, verb.upper()), of.name if isinstance(of, Column) else "…"
    entry = f"{name}: {{type: {of.kind.value}, between: [lower, upper], source: …}}"
    stated = (
        f"Add them to the column in the codebook, from public knowledge and never from the data: {entry}. Or say them "
        f"where the data is opened: between={{{name!r}: (lower, upper)}}. Or ask for "
        if isinstance(of, Column) and of.origin
        else "State them in the codebook for the columns in it, or ask for "
    )
    return (
        f"{asked}({name}) has no bounds on its values, so one unit could move it without limit. {stated}"
        f"{asked}(CLAMP({name}, lower, upper))."
    )


def step_of(tally: ExactAggregate) -> Fraction:
    """What one whole number of a tally stands for, in the unit of what is counted or added up."""
    if isinstance(tally, Rows):
        return Fraction(1, 1 << tally.bits)
    if isinstance(tally, Distinct) and tally.grid is not None and tally.summed:
        return tally.grid.step
    if not isinstance(tally, Total):
        return Fraction(1)
    step = Fraction(1)
    for term in tally.terms:
        step *= term.grid.step
    return step


def all_tallies(made: Iterable[Recipe]) -> Sequence[ExactAggregate]:
    """Every tally that recipes need, each once, in order."""
    return tuple(dict.fromkeys(tally for one in made for tally in one.tallies))

"""Finishing: from noisy whole numbers to the table that is released. Post-processing only: it sees nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, final

import numpy as np

from sfumato.query.answer.agreement import Laws
from sfumato.query.answer.error_bars import Bars, laws_at, variance
from sfumato.query.answer.linear import linear_form, ratio_form
from sfumato.query.answer.reconcile import Agreed, reconcile
from sfumato.query.answer.released_expressions import Known, evaluated, sorted_places, true_in
from sfumato.query.answer.spelled import plainly, spelled, statistic_text
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators.released import Released
from sfumato.query.nodes.questions import Histogram, Item, Question, Statistic, StatisticValue, statistics_in
from sfumato.query.plan.decomposition import Recipe
from sfumato.query.plan.engine_plan import ExactAggregate
from sfumato.query.plan.grouping_sets import Level, listed_keys
from sfumato.query.plan.parts import PricedCells, Selection
from sfumato.query.plan.selection_statistics import SpecialAt
from sfumato.release.answer import Answer, AnswerColumn, Bin, Role
from sfumato.release.vectors import Array, Vector

if TYPE_CHECKING:
    from sfumato.query.plan.compiled_query import CompiledQuery


@final
@dataclass(frozen=True, eq=False)
class Drawn:
    """What was drawn for one level: the keys of its groups, and noisy whole numbers of each.

    ``agreed`` are numbers near to these that add up to the totals of other levels, where there are several, and
    ``laws`` are the laws of the noise on them. ``chosen`` are the whole numbers that stand for statistics which are not
    made of sums.
    """

    keys: tuple[Array, ...]
    numbers: Mapping[ExactAggregate, Array]
    agreed: Mapping[ExactAggregate, Agreed] = field(default_factory=dict)
    laws: Mapping[ExactAggregate, Laws] = field(default_factory=dict)
    chosen: Mapping[Statistic, Array] = field(default_factory=dict)


@final
@dataclass(frozen=True, eq=False)
class LevelColumns:
    """How the columns of one grouping set are made of what was drawn for it: public facts, and no data.

    Row by row: what stands in a row is a function of what was drawn for that group. So the columns of some of the
    groups are the same, whether the others are there or not, and whoever has a part of the groups can make its rows.
    """

    question: Question
    level: Level
    recipes: Mapping[Statistic, Recipe]
    together: Mapping[Statistic, int]
    noises: Mapping[ExactAggregate, PricedCells]
    specials: tuple[SpecialAt, ...] = ()
    selection: Selection | None = None

    def made(self, drawn: Drawn, confidence: Fraction) -> dict[str, Released]:
        """Computes the columns, and leaves out groups that do not meet the condition."""
        question, bars = self.question, self._bars(drawn)
        known = self._known(drawn, bars, confidence)
        columns = {
            name: known.keys[made.name] if isinstance(made, Column) else self._made(made, known, bars, 1 - confidence)
            for name, made in question.columns
        }
        columns |= {_hidden(at): evaluated(one.by, known) for at, one in enumerate(question.order)}
        if question.having is None:
            return columns
        kept = np.flatnonzero(true_in(evaluated(question.having, known)))
        return {name: _taken(cells, kept) for name, cells in columns.items()}

    def _made(self, made: Expression, known: Known, bars: Bars, missed: Fraction) -> Released:
        """Computes a column; sums and ratios of noisy numbers have error bars from the noise of all of them."""
        cells, recipes = evaluated(made, known), self.recipes
        if isinstance(made, StatisticValue):
            recipe = recipes.get(made.statistic) if self.together[made.statistic] > 1 else None
            return cells if recipe is None else bars.made(recipe, missed)
        if not isinstance(cells, Vector):
            return cells
        ratio = ratio_form(made, recipes)
        if ratio is not None:
            return bars.ratio(cells, ratio, missed)
        form = linear_form(made, recipes)
        return cells if form is None else bars.linear(cells, form, missed)

    def _bars(self, drawn: Drawn) -> Bars:
        """What error bars are worked out from: the numbers, their noise, and how keys were chosen."""
        return Bars(drawn.numbers, self.noises, drawn.agreed, drawn.laws, self.selection)

    def _known(self, drawn: Drawn, bars: Bars, confidence: Fraction) -> Known:
        question = self.question
        size = len(next(iter((*drawn.numbers.values(), *drawn.chosen.values()))))
        keys = {name: np.full(size, None, dtype=object) for name, _ in question.keys}
        for at, cells in zip(self.level.places, drawn.keys, strict=True):
            keys[question.keys[at][0]] = cells
        statistics: dict[Statistic, Released] = {  # with intervals that hold together for all statistics of one column
            one: bars.made(recipe, (1 - confidence) / self.together.get(one, 1)) for one, recipe in self.recipes.items()
        }
        for run, special in zip(self.level.runs, self.specials, strict=True):
            statistics |= special.released([drawn.chosen[one] for one in run.special.statistics], confidence)
        return Known(size, keys, statistics)


def finished(compiled: CompiledQuery, drawn: Sequence[Drawn], confidence: Fraction) -> Answer:
    """Makes the table that is released."""
    return Answer(columns_of(compiled, _agreed(compiled, drawn), confidence), confidence, atoms_of(compiled, drawn))


def columns_of(compiled: CompiledQuery, drawn: Sequence[Drawn], confidence: Fraction) -> tuple[AnswerColumn, ...]:
    """The columns of the table, of what was drawn for its first levels, or for all."""
    with np.errstate(all="ignore"):  # what has no value is missing, and what is not known has infinite ends
        tables = [made.made(one, confidence) for made, one in zip(compiled.columns_at, drawn, strict=False)]
    order = _order(compiled, tables)
    return tuple(
        _binned(_column(name, made, _stacked([table[name] for table in tables]), order), made)
        for name, made in compiled.question.columns
    )


def _agreed(compiled: CompiledQuery, drawn: Sequence[Drawn]) -> list[Drawn]:
    """Adds numbers that agree with the totals of other grouping sets, where there are several sets."""
    if len(drawn) < 2:
        return list(drawn)
    variances = [{tally: variance(part.noise) for tally, part in noises.items()} for noises in compiled.noises]
    agreeing = reconcile(compiled.levels, [one.numbers for one in drawn], variances)
    laws = laws_at(compiled, tuple(agreeing[0]))
    both = zip(drawn, agreeing, laws, strict=True)
    return [replace(one, agreed=numbers, laws=here) for one, numbers, here in both]


def _hidden(at: int) -> str:
    """Names a column that the answer is only sorted by; no column of a question can have this name."""
    return f"\0{at}"


def _order(compiled: CompiledQuery, tables: Sequence[Mapping[str, Released]]) -> Array:
    """Sorts the rows of all levels together, by columns that are computed for this alone."""
    question = compiled.question
    size = sum(len(_cells(next(iter(table.values())))) for table in tables)
    named = {_hidden(at): _stacked([table[_hidden(at)] for table in tables]) for at in range(len(question.order))}
    known = Known(size, {name: _as_objects(cells) for name, cells in named.items()}, {})
    by = [(Column(_hidden(at), Kind.TEXT), one.descending) for at, one in enumerate(question.order)]
    places = sorted_places(known, by) if by else np.arange(size)
    return places if question.limit is None else places[: question.limit]


def _as_objects(cells: Released) -> Array:
    return _with_none(cells.values, np.isnan(cells.floats)) if isinstance(cells, Vector) else cells


def _cells(cells: Released) -> Array:
    return cells.values if isinstance(cells, Vector) else cells


def _taken(cells: Released, places: Array) -> Released:
    if isinstance(cells, Vector):
        return Vector(cells.values[places], cells.low[places], cells.high[places], cells.whole)
    return cells[places]


def _stacked(parts: Sequence[Released]) -> Released:
    """Puts the columns of all levels one below another."""
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(part, Vector) for part in parts):
        vectors = [part for part in parts if isinstance(part, Vector)]
        values, low, high = (np.concatenate([get(one) for one in vectors]) for get in (_values, _low, _high))
        return Vector(values, low, high, all(one.whole for one in vectors))
    return np.concatenate([_as_objects(part) for part in parts])


def _values(one: Vector) -> Array:
    return one.values


def _low(one: Vector) -> Array:
    return one.low


def _high(one: Vector) -> Array:
    return one.high


def _column(name: str, made: Expression, cells: Released, order: Array) -> AnswerColumn:
    taken = _taken(cells, order)
    if not any(True for _ in statistics_in(made)):
        return AnswerColumn(name, _as_objects(taken), Role.KEY)
    if not isinstance(taken, Vector):
        return AnswerColumn(name, taken, Role.VALUE)
    if len(taken.values) and not np.isfinite([taken.low, taken.high]).any():
        return AnswerColumn(name, _as_objects(taken), Role.VALUE)  # nothing is on file about any of them
    missing = np.isnan(taken.floats)
    if not missing.any():
        return AnswerColumn(name, taken.values, Role.VALUE, taken.low, taken.high)
    nowhere = missing & ~(np.isfinite(taken.low) & np.isfinite(taken.high))  # bounds may hold where there is no answer
    low, high = (_with_none(part, nowhere) for part in (taken.low, taken.high))
    return AnswerColumn(name, _with_none(taken.values, missing), Role.VALUE, low, high)


def _binned(column: AnswerColumn, made: Expression) -> AnswerColumn:
    """Says of a column that is a bin of a histogram which one it is."""
    match made:
        case StatisticValue(statistic=Item(of=Histogram(of=of, edges=edges) as whole, place=place)):
            told = Bin(statistic_text(whole, plainly), spelled(of).text, edges[place], edges[place + 1])
            return replace(column, bin=told)
    return column


def _with_none(cells: Array, missing: Array) -> Array:
    objects = cells.astype(object)
    objects[missing] = None
    return objects


def atoms_of(compiled: CompiledQuery, drawn: Sequence[Drawn]) -> tuple[tuple[str, Array], ...]:
    """The noisy numbers that the answer is made of, and keys that nobody listed, under fixed names."""
    atoms: list[tuple[str, Array]] = []
    for place, (level, one) in enumerate(zip(compiled.levels, drawn, strict=True)):
        if level.chooser is not None:
            atoms += [(f"{place} key {at}", cells) for at, cells in enumerate(one.keys)]
        atoms += [
            (f"{place} tally {at}", one.numbers[tally])
            for at, tally in enumerate(level.cells.tallies)
            if tally in one.numbers
        ]
        atoms += [(f"{place} chosen {at}", cells) for at, cells in enumerate(one.chosen.values())]
    return tuple(atoms)


def drawn_from(compiled: CompiledQuery, answer: Answer) -> tuple[Drawn, ...]:
    """Takes an answer apart into what it was made of, so that it can be made again at another confidence."""
    atoms = dict(answer.atoms)
    return tuple(_drawn(level, place, atoms) for place, level in enumerate(compiled.levels))


def _drawn(level: Level, place: int, atoms: Mapping[str, Array]) -> Drawn:
    names = {tally: f"{place} tally {at}" for at, tally in enumerate(level.cells.tallies)}
    numbers = {tally: atoms[name] for tally, name in names.items() if name in atoms}
    special = [one for run in level.runs for one in run.special.statistics]
    chosen = {one: atoms[f"{place} chosen {at}"] for at, one in enumerate(special)}
    if level.listed is not None:
        return Drawn(listed_keys(level.listed), numbers, chosen=chosen)
    return Drawn(tuple(atoms[f"{place} key {at}"] for at in range(len(level.places))), numbers, chosen=chosen)

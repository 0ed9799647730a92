"""Finishing: from noisy whole numbers to the table that is released. Post-processing only: it sees nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, final

import numpy as np

from sfumato.exact import up
from sfumato.mechanisms.gridding import nearest_floats
from sfumato.noise.distribution import Noise
from sfumato.query.cells import Tally
from sfumato.query.expressions import Column, Expression
from sfumato.query.kinds import Kind
from sfumato.query.levels import Level, listed_keys
from sfumato.query.linear import linear_form
from sfumato.query.post import Known, Released, evaluated, sorted_places, true_in
from sfumato.query.pricing import Selection
from sfumato.query.questions import Statistic, statistics_in
from sfumato.query.recipes import step_of
from sfumato.query.reconcile import reconcile
from sfumato.query.vectors import Array, Vector
from sfumato.release.answer import Answer, AnswerColumn, Role
from sfumato.release.sums import sum_above

if TYPE_CHECKING:
    from sfumato.query.lower import Lowered


@final
@dataclass(frozen=True, eq=False)
class Drawn:
    """Is what was drawn for one level: the keys of its groups, and noisy whole numbers of each.

    ``agreed`` are numbers near to these whose totals agree with those of other levels, where there are several.
    ``chosen`` are the whole numbers that stand for statistics which are not made of sums.
    """

    keys: tuple[Array, ...]
    numbers: Mapping[Tally, Array]
    agreed: Mapping[Tally, Array] = field(default_factory=dict)
    chosen: Mapping[Statistic, Array] = field(default_factory=dict)


def finished(lowered: Lowered, drawn: Sequence[Drawn], confidence: Fraction) -> Answer:
    """Makes the table that is released."""
    question = lowered.question
    agreed = _agreed(lowered, drawn)
    with np.errstate(all="ignore"):  # what has no value is missing, and what is not known has infinite ends
        tables = [_level(lowered, place, one, confidence) for place, one in enumerate(agreed)]
    columns = [_stacked([table[name] for table in tables]) for name, _ in question.columns]
    kinds = [made for _, made in question.columns]
    order = _order(lowered, tables)
    made = tuple(
        _column(name, expression, cells, order)
        for (name, _), expression, cells in zip(question.columns, kinds, columns, strict=True)
    )
    return Answer(made, confidence, atoms_of(lowered, drawn))


def _agreed(lowered: Lowered, drawn: Sequence[Drawn]) -> list[Drawn]:
    """Gives what was drawn with numbers whose totals agree, where there are several grouping sets."""
    if len(drawn) < 2:
        return list(drawn)
    variances = [{tally: _variance(part.noise) for tally, part in noises.items()} for noises in lowered.noises]
    found = reconcile(lowered.levels, [one.numbers for one in drawn], variances)
    return [replace(one, agreed=numbers) for one, numbers in zip(drawn, found, strict=True)]


def _variance(noise: Noise) -> float:
    return float(noise.variance().mid())


def _level(lowered: Lowered, place: int, drawn: Drawn, confidence: Fraction) -> dict[str, Released]:
    """Computes the columns of one level, and leaves out groups that do not meet the condition."""
    question = lowered.question
    known = _known(lowered, place, drawn, question.columns, confidence)
    found = {
        name: known.keys[made.name] if isinstance(made, Column) else _made(lowered, place, made, known, confidence)
        for name, made in question.columns
    }
    found |= {_hidden(at): evaluated(one.by, known) for at, one in enumerate(question.order)}
    if question.having is None:
        return found
    kept = np.flatnonzero(true_in(evaluated(question.having, known)))
    return {name: _taken(cells, kept) for name, cells in found.items()}


def _hidden(at: int) -> str:
    """Gives the name of a column that the answer is only sorted by; no column of a question has such a name."""
    return f"\0{at}"


def _made(lowered: Lowered, place: int, made: Expression, known: Known, confidence: Fraction) -> Released:
    """Computes a column; a sum of noisy numbers has the error bar of the sum, less than the sum of their error bars."""
    found = evaluated(made, known)
    weights, noises = linear_form(made, lowered.recipes_at[place]), lowered.noises[place]
    if not isinstance(found, Vector) or not weights or len(weights) < 2 or not all(one in noises for one in weights):
        return found
    terms = tuple((noises[tally].noise, weight * step_of(tally)) for tally, weight in weights.items())
    middle, width = (found.low + found.high) / 2, up(sum_above(terms, (1 - confidence) / 2))
    return Vector(found.values, middle - width, middle + width, found.whole)


def _known(
    lowered: Lowered, place: int, drawn: Drawn, columns: Sequence[tuple[str, Expression]], confidence: Fraction
) -> Known:
    question, level = lowered.question, lowered.levels[place]
    size = len(next(iter((*drawn.numbers.values(), *drawn.chosen.values()))))
    keys = {name: np.full(size, None, dtype=object) for name, _ in question.keys}
    for at, cells in zip(level.places, drawn.keys, strict=True):
        keys[question.keys[at][0]] = cells
    return Known(size, keys, _Statistics(lowered, place, drawn, columns, confidence).all())


@final
@dataclass(frozen=True, eq=False)
class _Statistics:
    """Makes statistics of noisy numbers, with intervals wide enough for all numbers of one column to hold together."""

    lowered: Lowered
    place: int
    drawn: Drawn
    columns: Sequence[tuple[str, Expression]]
    confidence: Fraction

    def all(self) -> dict[Statistic, Released]:
        found: dict[Statistic, Released] = {one: self._made(one) for one in self.lowered.recipes}
        for run, special in zip(self.lowered.levels[self.place].runs, self.lowered.specials[self.place], strict=True):
            drawn = [self.drawn.chosen[one] for one in run.special.statistics]
            found |= special.released(drawn, self.confidence)
        return found

    def _made(self, statistic: Statistic) -> Vector:
        recipe = self.lowered.recipes_at[self.place][statistic]
        missed = (1 - self.confidence) / self._beside(statistic)
        return recipe.make({tally: self._vector(tally, 1 - missed) for tally in recipe.tallies})

    def _beside(self, statistic: Statistic) -> int:
        """Gives with how many noisy numbers a statistic stands in one column, at most."""
        recipes = self.lowered.recipes_at[self.place]
        used = [
            {tally for one in statistics_in(made) if one in recipes for tally in recipes[one].tallies}
            for _, made in self.columns
            if statistic in statistics_in(made)
        ]
        return max(map(len, used), default=len(recipes[statistic].tallies))

    def _vector(self, tally: Tally, confidence: Fraction) -> Vector:
        numbers, step = self.drawn.numbers[tally], step_of(tally)
        part = self.lowered.noises[self.place].get(tally)
        if part is None:
            return _chosen(numbers, self._selection(), confidence)
        width = width_of(part.noise, confidence)  # type: ignore[arg-type]  # noises are records
        near = Vector.near(_in_unit(numbers, step), up(width * step), whole=step == 1)
        best = self.drawn.agreed.get(tally, numbers)  # the interval stays where the noise put it
        return near if best is numbers else replace(near, values=_in_unit(best, step))

    def _selection(self) -> Selection:
        chosen = [at for at, level in enumerate(self.lowered.levels) if level.chooser is not None]
        return self.lowered.pricing.selections[chosen.index(self.place)]


@lru_cache(maxsize=4096)
def width_of(noise: Any, confidence: Fraction) -> int:
    """Gives the error bar of noise, in whole steps."""
    return int(noise.half_width(confidence))


def _in_unit(numbers: Array, step: Fraction) -> Array:
    return numbers if step == 1 else nearest_floats(numbers, step)


def _chosen(numbers: Array, selection: Selection, confidence: Fraction) -> Vector:
    """Gives counts by which keys were chosen: within the noise's reach, for certain; where a key was sure to be shown,
    as near as the noise is with the confidence.
    """
    least, most = selection.noise.reach
    index, missed = selection.noise.index, 1 - confidence
    low, high = least + index.quantile(missed / 2), least + index.quantile(1 - missed / 2)
    sure = numbers - most > selection.noise.least_shown - 1 - least
    floats = np.asarray(numbers, dtype=np.float64)
    return Vector(numbers, floats - np.where(sure, high, most), floats - np.where(sure, low, least), whole=True)


def _order(lowered: Lowered, tables: Sequence[Mapping[str, Released]]) -> Array:
    """Gives the places of the rows of the answer, in order."""
    question = lowered.question
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


def _with_none(cells: Array, missing: Array) -> Array:
    found = cells.astype(object)
    found[missing] = None
    return found


def atoms_of(lowered: Lowered, drawn: Sequence[Drawn]) -> tuple[tuple[str, Array], ...]:
    """Gives the noisy numbers that everything was made of, and keys that nobody listed, under fixed names."""
    found: list[tuple[str, Array]] = []
    for place, (level, one) in enumerate(zip(lowered.levels, drawn, strict=True)):
        if level.chooser is not None:
            found += [(f"{place} key {at}", cells) for at, cells in enumerate(one.keys)]
        found += [
            (f"{place} tally {at}", one.numbers[tally])
            for at, tally in enumerate(level.cells.tallies)
            if tally in one.numbers
        ]
        found += [(f"{place} chosen {at}", cells) for at, cells in enumerate(one.chosen.values())]
    return tuple(found)


def drawn_from(lowered: Lowered, answer: Answer) -> tuple[Drawn, ...]:
    """Gives what an answer was made of, so that it can be made again at another confidence."""
    atoms = dict(answer.atoms)
    return tuple(_drawn(level, place, atoms) for place, level in enumerate(lowered.levels))


def _drawn(level: Level, place: int, atoms: Mapping[str, Array]) -> Drawn:
    names = {tally: f"{place} tally {at}" for at, tally in enumerate(level.cells.tallies)}
    numbers = {tally: atoms[name] for tally, name in names.items() if name in atoms}
    special = [one for run in level.runs for one in run.special.statistics]
    chosen = {one: atoms[f"{place} chosen {at}"] for at, one in enumerate(special)}
    if level.listed is not None:
        return Drawn(listed_keys(level.listed), numbers, chosen=chosen)
    return Drawn(tuple(atoms[f"{place} key {at}"] for at in range(len(level.places))), numbers, chosen=chosen)

"""Draws the noise of a question again and again on data that hides nobody, to see what errors come out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from sfumato.entropy import Entropy
from sfumato.query.answer.assemble import Drawn, columns_of, finished
from sfumato.query.nodes.questions import Quantile, Statistic, StatisticValue
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Computed
from sfumato.query.plan.grouping_sets import Exact, Level, added_up, drawn_of, laid_out
from sfumato.query.plan.open_tables import Unlocked
from sfumato.query.plan.selection_statistics import Counts, counted
from sfumato.release.answer import AnswerColumn
from sfumato.release.vectors import Array

if TYPE_CHECKING:
    from sfumato.query.engines.protocol import PrivateTables

FEW = 25
"""So often is a question with totals repeated, at most: its numbers are made to agree one repetition at a time."""

EXAMPLES = 6
"""So many outcomes are kept as examples."""

MOST_CHOICES = 2_000
"""So many private choices are made in all, at most: each takes a while."""

Errors: TypeAlias = "dict[str, Measured]"


@final
@dataclass(frozen=True, eq=False)
class Measured:
    """What came out for one number: how far off it was each time, and whether its interval held the exact value.

    ``examples`` are the first outcomes for one group, after the exact value there.
    """

    errors: Array
    held: Array
    examples: tuple[float, ...] = ()

    def half_width(self, confidence: Fraction) -> float:
        """What so many of the errors were within."""
        return float(np.quantile(self.errors, float(confidence))) if len(self.errors) else float("nan")

    @property
    def covered(self) -> float | None:
        """The share of intervals that held the exact value; None where there are none."""
        return float(self.held.mean()) if len(self.held) else None


def repeated(compiled: CompiledQuery, held: Unlocked, times: int, confidence: Fraction, entropy: Entropy) -> Errors:
    """Draws the noise of a question so often, and compares what is released each time with the exact values."""
    bare = replace(compiled, question=replace(compiled.question, having=None, order=(), limit=None))
    if len(bare.levels) > 1:
        return _with_totals(bare, held, min(times, FEW), confidence, entropy)
    level, engine = bare.levels[0], held.engine
    exact = laid_out(level, _run(level, engine))
    groups = _groups(level, exact)
    most = times if not level.runs else max(1, min(times, MOST_CHOICES // max(1, groups)))
    counts = {run: counted(run, engine.run(run.cells), exact.keys) for run in level.runs}
    drawn, places = _tiled(bare, exact, counts, groups, most, entropy)
    truth = {one.name: one for one in columns_of(bare, [_bare(bare, exact, counts, groups)], confidence)}
    errors: Errors = {}
    for column in columns_of(bare, [drawn], confidence):
        ranked = _ranked(bare, column.name, drawn, counts, places)
        measured = ranked if ranked is not None else _compared(column, truth[column.name], places)
        if measured is not None:
            errors[column.name] = measured
    return errors


def _run(level: Level, engine: PrivateTables) -> Computed:
    return engine.run(level.cells) if level.cells.tallies else Computed(())


def _groups(level: Level, exact: Exact) -> int:
    arrays = (*exact.numbers, *exact.keys)
    return len(arrays[0]) if arrays else 1 if level.listed is None else len(level.listed)


def _tiled(
    compiled: CompiledQuery, exact: Exact, counts: Mapping[Any, Counts], groups: int, times: int, entropy: Entropy
) -> tuple[Drawn, Array]:
    """Draws for all repetitions at once, as if each were further groups; and of which group each row is."""
    level, columns = compiled.levels[0], compiled.columns_at[0]
    marked = (*(np.tile(key, times) for key in exact.keys), np.tile(np.arange(groups), times))
    whole = Exact(marked, tuple(np.tile(one, times) for one in exact.numbers))
    noisy = drawn_of(whole, level, columns.noises, columns.selection, entropy)
    *keys, places = noisy.keys
    chosen: dict[Statistic, Array] = {}
    for run, special in zip(level.runs, columns.specials, strict=True):
        chosen |= zip(run.special.statistics, special.draw(_taken(counts[run], places), entropy), strict=True)
    return Drawn(tuple(keys), noisy.numbers, chosen=chosen), np.asarray(places, dtype=np.intp)


def _taken(counts: Counts, places: Array) -> Counts:
    """The counts of some groups, each as often as it is named."""
    starts, sizes = counts.starts[:-1], np.diff(counts.starts)
    groups = np.repeat(np.arange(len(places)), sizes[places])
    cells = np.concatenate([np.arange(starts[one], starts[one] + sizes[one]) for one in places] or [np.arange(0)])
    return Counts.of(groups, counts.bins[cells.astype(np.intp)], counts.rows[cells.astype(np.intp)], len(places))


def _bare(compiled: CompiledQuery, exact: Exact, counts: Mapping[Any, Counts], groups: int) -> Drawn:
    """The numbers without noise, laid out as if they were released; what is chosen is chosen by nobody."""
    level = compiled.levels[0]
    numbers = dict(zip(level.cells.tallies, exact.numbers, strict=True))
    chosen: dict[Statistic, Array] = {}
    for run in level.runs:
        many = len(run.special.statistics)
        dense = counts[run].dense(max(many, 1 + int(counts[run].bins.max(initial=0))))
        chosen |= zip(run.special.statistics, dense.T[:many], strict=True)
    return Drawn(exact.keys, numbers, chosen=chosen)


def _floats(cells: Array | None) -> Array:
    made = np.full(0 if cells is None else len(cells), np.nan)
    for place, cell in enumerate(() if cells is None else cells.tolist()):
        if isinstance(cell, int | float) and not isinstance(cell, bool):
            made[place] = float(cell)
    return made


def _compared(column: AnswerColumn, truth: AnswerColumn, places: Array) -> Measured | None:
    """How far a column is from the exact one; None where it has no error bars."""
    if column.low is None or column.high is None:
        return None
    exact, values = _floats(truth.values)[places], _floats(column.values)
    low, high = _floats(column.low), _floats(column.high)
    known = ~np.isnan(exact) & ~np.isnan(values)
    barred = ~np.isnan(exact) & ~np.isnan(low) & ~np.isnan(high)
    slack = 1e-9 * np.maximum(1.0, np.abs(exact))
    held = ((low - slack <= exact) & (exact <= high + slack))[barred]
    return Measured(np.abs(values - exact)[known], held, _examples(exact, values, places, known))


def _examples(exact: Array, values: Array, places: Array, known: Array) -> tuple[float, ...]:
    """The exact value of the first group, and its first few noisy ones."""
    own = np.flatnonzero(known)
    if not len(own):
        return ()
    same = own[places[own] == places[own[0]]][:EXAMPLES]
    return (float(exact[own[0]]), *(float(one) for one in values[same]))


def _ranked(
    compiled: CompiledQuery, name: str, drawn: Drawn, counts: Mapping[Any, Counts], places: Array
) -> Measured | None:
    """How far off the rank of a quantile is, in rows; None where a column is none."""
    made = dict(compiled.question.columns)[name]
    if not isinstance(made, StatisticValue) or not isinstance(made.statistic, Quantile):
        return None
    for run in compiled.levels[0].runs:
        if made.statistic in run.special.statistics:
            bins = np.asarray(drawn.chosen[made.statistic], dtype=np.int64)
            return _rank_errors(counts[run], bins, places, float(made.statistic.at))
    return None


def _rank_errors(counts: Counts, chosen: Array, places: Array, at: float) -> Measured:
    """How many rows lie between what was chosen and where the quantile is, at the nearest end of its bin."""
    errors = np.zeros(len(chosen))
    for row, (bin_of, group) in enumerate(zip(chosen.tolist(), places.tolist(), strict=True)):
        own = slice(counts.starts[group], counts.starts[group + 1])
        bins, rows = counts.bins[own], counts.rows[own]
        below, upto = int(rows[bins < bin_of].sum()), int(rows[bins <= bin_of].sum())
        wanted = at * int(rows.sum())
        errors[row] = max(0.0, below - wanted, wanted - upto)
    return Measured(errors, np.zeros(0, dtype=np.bool_))


def _with_totals(compiled: CompiledQuery, held: Unlocked, times: int, confidence: Fraction, entropy: Entropy) -> Errors:
    """Repeats a question with totals, one repetition at a time; nothing is said of one with keys that are chosen."""
    if any(level.chooser is not None or level.runs for level in compiled.levels):
        return {}
    computed = [None if one.summed is not None else laid_out(one, _run(one, held.engine)) for one in compiled.levels]
    finest = next(one for one in computed if one is not None)
    exact = [
        added_up(level, finest) if own is None else own for level, own in zip(compiled.levels, computed, strict=True)
    ]
    bare = [
        Drawn(own.keys, dict(zip(level.cells.tallies, own.numbers, strict=True)))
        for level, own in zip(compiled.levels, exact, strict=True)
    ]
    truth = {one.name: one for one in finished(compiled, bare, confidence).columns}
    parts: dict[str, list[Measured]] = {}
    for _ in range(times):
        for column in compiled.answer(compiled.draw(held, entropy), confidence).columns:
            measured = _compared(column, truth[column.name], np.arange(len(column)))
            if measured is not None:
                parts.setdefault(column.name, []).append(measured)
    return {name: _joined(each) for name, each in parts.items()}


def _joined(parts: Sequence[Measured]) -> Measured:
    return Measured(
        np.concatenate([one.errors for one in parts]), np.concatenate([one.held for one in parts]), parts[0].examples
    )

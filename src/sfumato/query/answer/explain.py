"""Explains a question before anything is spent: the tree, the bounds, the noise, the error to expect, the price.

Nothing here looks at data: whatever is said follows from the question, the codebook and the settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sfumato.accounting.losses.measures import Additive, Loss
from sfumato.core.measurement import Measurement
from sfumato.exact import digits_up, up
from sfumato.query.answer.assemble import Drawn, finished
from sfumato.query.answer.error_bars import laws_at, width_of
from sfumato.query.answer.explanation import SIZES, Explanation, Rows
from sfumato.query.answer.reconcile import Agreed, agreeing
from sfumato.query.answer.spelled import end_text
from sfumato.query.answer.words import expression_words, noise_words, tally_words
from sfumato.query.nodes.questions import Question, statistics_in
from sfumato.query.nodes.relations import (
    COMPARISONS,
    Join,
    Keep,
    Listed,
    Meet,
    PerUnit,
    Relation,
    Scan,
    Select,
    Union,
    Where,
    Windowed,
)
from sfumato.query.nodes.worked_out import WorkedOut
from sfumato.query.plan.decomposition import step_of
from sfumato.query.plan.engine_plan import ExactAggregate, Total
from sfumato.query.plan.grouping_sets import Level
from sfumato.query.plan.infer_bounds import bounds_inferred
from sfumato.release.answer import AnswerColumn
from sfumato.release.render.words import finite, width

if TYPE_CHECKING:
    from sfumato.query.plan.compiled_query import CompiledQuery


def expected(compiled: CompiledQuery, confidence: Fraction) -> Rows:
    """The errors to expect of a question, column by column, in groups of several sizes, whichever rows it is about."""
    return tuple(_errors(compiled, SIZES, confidence))


def expected_at(others: Mapping[str, CompiledQuery], confidence: Fraction) -> Rows:
    """The errors to expect of one question at several prices, price by price, in the largest of the groups."""
    return tuple(
        (label, *(error for _, error in _errors(other, SIZES[-1:], confidence))) for label, other in others.items()
    )


def explained(
    compiled: CompiledQuery, errors: Rows, others: Sequence[tuple[str, ...]], *, d_in: int, confidence: Fraction
) -> Explanation:
    """Explains a question that is ready to be asked, with the errors to expect, also at ``others``, other prices."""
    return Explanation(
        how=compiled.how,
        price=compiled.pricing.loss(d_in),
        unit=compiled.who,
        confidence=confidence,
        tree=tuple(_tree(compiled)),
        bounds=tuple(dict.fromkeys((*_units(compiled), *_values(compiled)))),
        noise=tuple(_noise(compiled, confidence)),
        errors=errors,
        others=others,
    )


def _units(compiled: CompiledQuery) -> Iterator[str]:
    return (why for level in compiled.levels for why in level.placed.why)


def _values(compiled: CompiledQuery) -> Iterator[str]:
    """Says which bounds of values the question itself states."""
    for name, (low, high) in bounds_inferred(compiled.question):
        ends = " to ".join(end_text(end) if isinstance(end, Fraction | float) else str(end) for end in (low, high))
        yield f"{name} lies in {ends} where it is counted, from the conditions (WHERE, FILTER, CASE)"


def explained_together(
    compiled: Mapping[str, CompiledQuery],
    worked: WorkedOut,
    measurement: Measurement,
    *,
    asked: str,
    d_in: int,
    confidence: Fraction,
) -> Explanation:
    """Explains finished answers and what is worked out from them; the second costs nothing."""
    parts = {
        name: explained(one, expected(one, confidence), (), d_in=d_in, confidence=confidence)
        for name, one in compiled.items()
    }
    only = len(parts) == 1
    tree = [("worked out", f"{worked.text}: from released numbers, which costs nothing")]
    for name, part in parts.items():
        price = "" if only else f", for {part.price}"
        tree.append((f"finished answer {name}", f"it sums up over people, so it is released first{price}"))
        tree += [(f"  {what}", why) for what, why in part.tree]

    def labelled(name: str, rows: Rows) -> Rows:
        return rows if only else tuple((f"{name}: {first}", *rest) for first, *rest in rows)

    return Explanation(
        how=replace(measurement.how, asked=asked),
        price=measurement.map(d_in),
        unit=next(iter(parts.values())).unit,
        confidence=confidence,
        tree=tuple(tree),
        bounds=tuple(dict.fromkeys(why for part in parts.values() for why in part.bounds)),
        noise=tuple(row for name, part in parts.items() for row in labelled(name, part.noise)),
        errors=tuple(row for name, part in parts.items() for row in labelled(name, part.errors)),
    )


def _tree(compiled: CompiledQuery) -> Iterator[tuple[str, str]]:
    question = compiled.question
    yield "released", ", ".join(name for name, _ in question.columns)
    if question.keys:
        keys = ", ".join(f"{name}" for name, _ in question.keys)
        yield "grouped by", f"{keys}: {_keys(compiled.levels[0])}"
    yield from _steps(question.source, 0, compiled.who)


def _keys(level: Level) -> str:
    if level.listed is not None:
        return f"{len(level.listed):,} public keys, all answered; rows with other keys are left out"
    return "keys are not public: those that enough units have are shown, at the price of a δ"


def _steps(relation: Relation, depth: int, who: str) -> Iterator[tuple[str, str]]:
    """Writes the steps of a relation, from the last to the first, with what each does to neighbours."""
    indent = "  " * depth
    same = f"1-stable, neighbours differ in {who} before and after"
    match relation:
        case Scan():
            yield from ((indent + name, said) for name, said in _scanned(relation, same))
        case Listed(rows=rows):
            yield f"{indent}{len(rows):,} rows of the question", "public"
        case Where(condition=condition):
            yield f"{indent}where {expression_words(condition)}", f"row by row: {same}"
        case Select(columns=columns):
            yield f"{indent}columns {', '.join(name for name, _ in columns)}", f"row by row: {same}"
        case Join(right=right):
            once = "row by row" if relation.match.filters else "each row as often as it matches"
            yield f"{indent}{_join_words(relation)}", f"{'within each unit' if right.private else once}: {same}"
        case Meet(on=on, most=most):
            said = ", ".join(f"{left} = {right}" for left, right in on)
            how = f"each row belongs to two units: {who} on either side moves at most {most:,} rows for each of its own"
            yield f"{indent}join of different units on {said}, {most:,} of a key", f"{how}, and replaces as many"
        case Union(parts=parts):
            yield f"{indent}union of {len(parts)}", same
        case Keep(rows=rows, work=work):
            why = "so that joins stay small, " if work else ""
            yield f"{indent}at most {rows:,} rows of each unit", f"{why}by its own rows: {same}"
        case Windowed(added=added):
            names = ", ".join(one.column.name for one in added)
            yield f"{indent}by the unit's other rows: {names}", f"within each unit: {same}"
        case PerUnit(by=by, folds=folds) if not relation.private:
            names = ", ".join([*(name for name, _ in by), *(folded.column.name for folded in folds)])
            yield f"{indent}summed up: {names}", "public"
        case PerUnit(by=by, folds=folds):
            made = ", ".join(folded.column.name for folded in folds)
            yield f"{indent}per unit by {', '.join(name for name, _ in by)}: {made}", f"within each unit: {same}"
    for source in relation.sources:
        yield from _steps(source, depth + 1, who)


def _scanned(scan: Scan, same: str) -> Iterator[tuple[str, str]]:
    """Writes what becomes of a table as it is read."""
    for items in scan.unnested:
        most = "every item" if items.most is None else f"each of at most {items.most:,} items"
        yield f"items of {items.column}", f"row by row, {most} makes a row: {same}"
    if scan.owner is None:
        yield scan.table, "public"
    else:
        whose = "each row is a unit" if not scan.owner.id else f"{scan.owner.id} says whose a row is"
        yield scan.table, f"private: {whose}; values are moved into their columns' bounds"


def _join_words(join: Join) -> str:
    said = [f"{left} = {right}" for left, right in join.on]
    said += [f"{left} {COMPARISONS[operator]} {right}" for left, operator, right in join.compared]
    return f"{join.match.value} join on {', '.join(said)}" if said else "every row with every public one"


def _noise(compiled: CompiledQuery, confidence: Fraction) -> Iterator[tuple[str, ...]]:
    for level, noises, specials in zip(compiled.levels, compiled.noises, compiled.specials, strict=True):
        where = "" if len(compiled.levels) == 1 else f" ({_set_words(compiled.question, level)})"
        for tally, part in noises.items():
            step, moves = step_of(tally), part.influence
            l1, l2 = (digits_up(_scaled(length, step)) for length in (moves.l1, moves.l2))
            wide = width(up(width_of(part.noise, confidence) * step))
            yield tally_words(tally) + where, f"{l1}, {l2}", noise_words(part.noise, tally), f"± {wide}"
        for run, special in zip(level.runs, specials, strict=True):
            what, how = special.words
            yield what + where, f"{run.special.spread.rows} row(s)", how, special.error(confidence)
    for selection in compiled.pricing.selections:
        yield (
            "which keys are shown",
            f"{selection.choice.keys} keys by {selection.choice.rows}",
            f"shown from {selection.noise.least_shown} on",
            "",
        )


def _scaled(length: object, step: Fraction) -> Fraction:
    from sfumato.exact import rational_up

    return Fraction(rational_up(length)) * step  # type: ignore[arg-type]  # a distance, and finite


def _set_words(question: Question, level: Level) -> str:
    return ", ".join(question.keys[place][0] for place in level.places) or "all together"


def _numbers(question: Question) -> list[str]:
    return [name for name, made in question.columns if any(True for _ in statistics_in(made))]


def _errors(compiled: CompiledQuery, sizes: Sequence[int], confidence: Fraction) -> list[tuple[str, ...]]:
    """Each column's error in made-up groups of several sizes, at values in the middle of their bounds."""
    told = foretold(compiled, sizes, confidence)
    return [(name, *("—" if wide is None else width(wide) for _, wide in each)) for name, each in told]


Near: TypeAlias = tuple[float | None, float | None]
"""A value in the middle of what is possible, and half of its error bar; None where it is not known."""


def foretold(compiled: CompiledQuery, sizes: Sequence[int], confidence: Fraction) -> list[tuple[str, list[Near]]]:
    """Foretells the numbers of a question in made-up groups of several sizes, column by column, and their errors."""
    answer = finished(_ungrouped(compiled), [_made_up(compiled, sizes)], confidence)
    places = range(len(sizes))
    return [(name, [_foretold(answer[name], place) for place in places]) for name in _numbers(compiled.question)]


def _foretold(column: AnswerColumn, place: int) -> Near:
    value = finite(column.values[place])
    low = None if column.low is None else column.low[place]
    high = None if column.high is None else column.high[place]
    if low is None or high is None or not np.isfinite([low, high]).all():
        return value, None
    return value, float((high - low) / 2)


def _ungrouped(compiled: CompiledQuery) -> CompiledQuery:
    """Reduces the question to one group: what follows the groups (order, conditions, limits) does not matter here."""
    question = replace(compiled.question, having=None, order=(), limit=None)
    return replace(compiled, question=question, levels=compiled.levels[:1])


def _made_up(compiled: CompiledQuery, sizes: Sequence[int]) -> Drawn:
    """Makes groups up, one of each size."""
    level, many = compiled.levels[0], len(sizes)
    typical = {tally: [_typical(tally, size) for size in sizes] for tally in level.cells.tallies}
    numbers = {
        tally: np.array(ones, dtype=object if any(one >> 62 for one in ones) else np.int64)
        for tally, ones in typical.items()
    }
    chosen = {one: np.zeros(many, dtype=np.int64) for run in level.runs for one in run.special.statistics}
    laws = laws_at(compiled, level.tallies)[0] if agreeing(compiled.levels) else {}
    agreed = {tally: Agreed(numbers[tally], numbers[tally].astype(np.float64), 0.0) for tally in laws}
    one_each = {tally: (forms, which[:1].repeat(many)) for tally, (forms, which) in laws.items()}
    keys = tuple(np.full(many, None, dtype=object) for _ in level.places)
    return Drawn(keys, numbers, agreed, one_each, chosen)


def _typical(tally: ExactAggregate, size: int) -> int:
    """Makes up a number: as many rows as there are, sums about 0, even powers as of numbers spread evenly."""
    if isinstance(tally, Total):
        power = len(tally.terms)
        if power % 2 == 0 and len(set(tally.terms)) == 1:
            return int(size * max(map(abs, tally.terms[0].grid.ends)) ** power // (power + 1))
        return 0 if tally.terms[0].grid.centre else size * sum(tally.terms[0].grid.ends) // 2
    return int(size / step_of(tally))


def other_losses(loss: Loss) -> Sequence[tuple[str, Loss]]:
    """A loss at other amounts of what adds up: a quarter, a half, twice, four times; any δ stays."""
    if not isinstance(loss, Additive):
        return ()
    price, *rest = loss.amounts
    others = (loss.of_amounts(factor * price, *rest) for factor in (Fraction(1, 4), Fraction(1, 2), 2, 4))
    return [(str(other), other) for other in others]

"""Explains a question before anything is spent: the tree, the bounds, the noise, the error to expect, the price.

Nothing here looks at data: whatever is said follows from the question, the codebook and the settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, final

import numpy as np

from sfumato.accounting.concentrated import GDP
from sfumato.accounting.convert import convert
from sfumato.accounting.measures import ZCDP, Approx, Loss, Pure
from sfumato.errors import SfumatoError
from sfumato.exact import digits_up, up
from sfumato.query.bars import laws_at
from sfumato.query.cells import Tally, Total
from sfumato.query.finish import Drawn, finished
from sfumato.query.levels import Level
from sfumato.query.questions import Question, statistics_in
from sfumato.query.recipes import step_of
from sfumato.query.reconcile import Agreed, agreeing
from sfumato.query.relations import Join, Keep, PerUnit, Relation, Scan, Select, Union, Where
from sfumato.query.words import expression_words, noise_words, tally_words
from sfumato.release.answer import AnswerColumn
from sfumato.release.record import Cut, Cutting
from sfumato.release.render import written
from sfumato.release.render.document import Document, Table
from sfumato.release.render.words import width

if TYPE_CHECKING:
    from sfumato.query.lower import Lowered

SIZES = (100, 10_000)
"""Made-up sizes of a group for which errors that hang on the size are shown."""

LAST, NUMBERS = frozenset({3}), frozenset(range(1, 1000))
"""Columns of numbers, which stand flush right."""

KINDS: tuple[type[Loss], ...] = (Pure, Approx, ZCDP, GDP)
DELTA = Fraction(1, 10**6)
"""The δ at which a price is shown as (ε, δ), where it has none of its own."""


@final
@dataclass(frozen=True)
class Explanation:
    """Is what can be said of a question before it is asked. Printing shows text; notebooks show HTML."""

    asked: str
    tree: tuple[tuple[str, str], ...]
    cuts: tuple[Cut, ...]
    bounds: tuple[str, ...]
    noise: tuple[tuple[str, ...], ...]
    errors: tuple[tuple[str, ...], ...]
    price: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, ...], ...]
    standing: tuple[tuple[str, str], ...] = ()

    @property
    def document(self) -> Document:
        """Is the explanation in a form that all renderers read."""
        sizes, names = tuple(f"± in a group of {size:,}" for size in SIZES), (row[0] for row in self.errors)
        others = (sizes[-1], *names)
        tables = [
            Table((("", self.asked),), title="What is asked"),
            Table(self.tree, title="What is computed"),
            Table(tuple((why,) for why in self.bounds), title="How each unit is bounded"),
            Table(
                tuple((cut.source, cut.what) for cut in self.cuts if cut.cutting is not Cutting.UNITS),
                title="What else is cut, and who says so",
            ),
            Table(self.noise, ("noisy number", "one unit moves it (L1, L2)", "noise", "±"), title="Noise", right=LAST),
            Table(self.errors, ("column", *sizes), title="Errors to expect", right=NUMBERS),
            Table(self.price, title="Price"),
            Table(self.others, others, title="What else it could cost", right=NUMBERS),
            Table(self.standing, title="Where it would be paid"),
        ]
        return Document("Explanation", "nothing has been spent", tables=tuple(one for one in tables if one.rows))

    def to_text(self) -> str:
        """Writes plain text."""
        return written(self.document, "text")

    def to_html(self) -> str:
        """Writes a fragment of HTML, without scripts."""
        return written(self.document, "html")

    def to_markdown(self) -> str:
        """Writes Markdown."""
        return written(self.document, "markdown")

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__


def explained(lowered: Lowered, others: Mapping[str, Lowered], *, apart: int, confidence: Fraction) -> Explanation:
    """Explains a question that is ready to be asked; ``others`` are the same question at other prices."""
    return Explanation(
        asked=lowered.how.asked,
        tree=tuple(_tree(lowered)),
        cuts=lowered.how.cuts,
        bounds=tuple(dict.fromkeys(why for level in lowered.levels for why in level.placed.why)),
        noise=tuple(_noise(lowered, confidence)),
        errors=tuple(_errors(lowered, SIZES, confidence)),
        price=tuple(_prices(lowered.pricing.loss(apart))),
        others=tuple(
            (label, *(error for _, error in _errors(other, SIZES[-1:], confidence))) for label, other in others.items()
        ),
    )


def _tree(lowered: Lowered) -> Iterator[tuple[str, str]]:
    question = lowered.question
    yield "released", ", ".join(name for name, _ in question.columns)
    if question.keys:
        keys = ", ".join(f"{name}" for name, _ in question.keys)
        yield "grouped by", f"{keys}: {_keys(lowered.levels[0])}"
    yield from _steps(question.source, 0, lowered.who)


def _keys(level: Level) -> str:
    if level.listed is not None:
        return f"{len(level.listed):,} public keys, all answered; rows with other keys are left out"
    return "keys are not public: those that enough units have are shown, at the price of a δ"


def _steps(relation: Relation, depth: int, who: str) -> Iterator[tuple[str, str]]:
    """Gives the steps of a relation, from the last to the first, with what each does to neighbours."""
    indent = "  " * depth
    same = f"1-stable, neighbours differ in {who} before and after"
    match relation:
        case Scan(table=table, owner=owner):
            if owner is None:
                yield f"{indent}{table}", "public"
            else:
                whose = "each row is a unit" if not owner.id else f"{owner.id} says whose a row is"
                yield f"{indent}{table}", f"private: {whose}; values are moved into their columns' bounds"
        case Where(condition=condition):
            yield f"{indent}where {expression_words(condition)}", f"row by row: {same}"
        case Select(columns=columns):
            yield f"{indent}columns {', '.join(name for name, _ in columns)}", f"row by row: {same}"
        case Join(on=on, match=match_kind, right=right):
            kept = "within each unit" if right.private else "each row as often as it matches"
            names = ", ".join(f"{left} = {right}" for left, right in on)
            yield f"{indent}{match_kind.value} join on {names}", f"{kept}: {same}"
        case Union(parts=parts):
            yield f"{indent}union of {len(parts)}", same
        case Keep(rows=rows, work=work):
            why = "so that joins stay small, " if work else ""
            yield f"{indent}at most {rows:,} rows of each unit", f"{why}by its own rows: {same}"
        case PerUnit(by=by, folds=folds):
            made = ", ".join(folded.column.name for folded in folds)
            yield f"{indent}per unit by {', '.join(name for name, _ in by)}: {made}", f"within each unit: {same}"
    for source in relation.sources:
        yield from _steps(source, depth + 1, who)


def _noise(lowered: Lowered, confidence: Fraction) -> Iterator[tuple[str, ...]]:
    for level, noises, specials in zip(lowered.levels, lowered.noises, lowered.specials, strict=True):
        where = "" if len(lowered.levels) == 1 else f" ({_set_words(lowered.question, level)})"
        for tally, part in noises.items():
            step, moves = step_of(tally), part.influence
            l1, l2 = (digits_up(_scaled(length, step)) for length in (moves.l1, moves.l2))
            wide = width(up(part.noise.half_width(confidence) * step))
            yield tally_words(tally) + where, f"{l1}, {l2}", noise_words(part.noise, tally), f"± {wide}"
        for run, special in zip(level.runs, specials, strict=True):
            found, how = special.words
            yield found + where, f"{run.special.spread.rows} row(s)", how, special.error(confidence)
    for selection in lowered.pricing.selections:
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


def _errors(lowered: Lowered, sizes: Sequence[int], confidence: Fraction) -> list[tuple[str, ...]]:
    """Gives each column's error in made-up groups of several sizes, at values in the middle of their bounds."""
    answers = [finished(_ungrouped(lowered), [_made_up(lowered, size)], confidence) for size in sizes]
    return [(name, *(_error(answer[name]) for answer in answers)) for name in _numbers(lowered.question)]


def _error(column: AnswerColumn) -> str:
    low, high = column.low, column.high
    sure = low is not None and high is not None and low[0] is not None and np.isfinite([low[0], high[0]]).all()
    return width((high[0] - low[0]) / 2) if sure and low is not None and high is not None else "—"


def _ungrouped(lowered: Lowered) -> Lowered:
    """Gives the question for one group: what follows the groups (order, conditions, limits) does not matter here."""
    question = replace(lowered.question, having=None, order=(), limit=None)
    return replace(lowered, question=question, levels=lowered.levels[:1])


def _made_up(lowered: Lowered, size: int) -> Drawn:
    level = lowered.levels[0]
    numbers = {tally: np.array([_typical(tally, size)], dtype=np.int64) for tally in level.cells.tallies}
    chosen = {one: np.zeros(1, dtype=np.int64) for run in level.runs for one in run.special.statistics}
    laws = laws_at(lowered, level.tallies)[0] if agreeing(lowered.levels) else {}
    agreed = {tally: Agreed(numbers[tally], numbers[tally].astype(np.float64), 0.0) for tally in laws}
    one_each = {tally: (found, which[:1]) for tally, (found, which) in laws.items()}
    keys = tuple(np.array([None], dtype=object) for _ in level.places)
    return Drawn(keys, numbers, agreed, one_each, chosen)


def _typical(tally: Tally, size: int) -> int:
    """Gives a made-up number: as many rows as there are, sums about 0, squares as of numbers spread evenly."""
    if isinstance(tally, Total):
        if len(tally.terms) == 2 and tally.terms[0] == tally.terms[1]:
            return size * max(map(abs, tally.terms[0].grid.ends)) ** 2 // 3
        return 0 if tally.terms[0].grid.centre else size * sum(tally.terms[0].grid.ends) // 2
    return int(size / step_of(tally))


def _prices(loss: Loss) -> Iterator[tuple[str, str]]:
    yield "price", str(loss)
    for kind in KINDS:
        if type(loss) is kind:
            continue
        try:
            shown = convert(loss, kind, delta=DELTA) if kind is Approx else convert(loss, kind)
        except SfumatoError:
            continue
        yield f"as {kind.__name__}", str(shown)


def other_losses(loss: Loss) -> Sequence[tuple[str, Loss]]:
    """Gives a loss at other amounts: a quarter, a half, twice, four times."""
    found: list[tuple[str, Loss]] = []
    for factor in (Fraction(1, 4), Fraction(1, 2), Fraction(2), Fraction(4)):
        match loss:
            case Pure(epsilon=epsilon):
                other: Loss = Pure(factor * epsilon)
            case ZCDP(rho=rho):
                other = ZCDP(factor * rho)
            case GDP():
                other = GDP.of_square(factor**2 * Fraction(loss.square))
            case Approx(epsilon=epsilon, delta=delta):
                other = Approx(factor * epsilon, delta)
            case _:
                return ()
        found.append((str(other), other))
    return found

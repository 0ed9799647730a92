"""The dry run: a whole plan on data that hides nobody, by the same code and with a book of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from sfumato.accounting.losses.measures import Loss
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.planning.desk import ROWS, Book, Desk
from sfumato.planning.made_up import made_up_rows
from sfumato.planning.record import Plan, Step, amount_words
from sfumato.planning.repeating import repeated
from sfumato.planning.shape import Tables
from sfumato.planning.wishes import Wanted
from sfumato.release.claim import Claim, required
from sfumato.release.progress import Progress, reporting
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.release.render.words import percent
from sfumato.session.dataset import Dataset
from sfumato.session.open_data import open_tables

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart
    from sfumato.query.plan.open_tables import Unlocked

USUAL_TIMES = 400
"""So often is every noise drawn, where nothing is said."""

SPREADS = 5
"""A share that is so many standard deviations of chance below what was foretold is no chance any more."""

MADE_UP = "made-up rows"
"""What a dry run is run on, where nothing else is given."""

HEAD = ("statistic", "foretold", "came out", "intervals that held", "of")


@final
@dataclass(frozen=True)
class Rehearsed:
    """What came out for one number: the error that was foretold and the one that was measured, at one confidence.

    ``covered`` is the share of ``cells`` intervals that held the exact number, None where there are none. ``examples``
    are a few outcomes, after the exact number that they are about.
    """

    step: str
    column: str
    foretold: float | None
    measured: float
    confidence: Fraction
    covered: float | None
    cells: int
    rank: bool = False
    examples: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """The statistic and the number."""
        return self.step if self.step == self.column else f"{self.step}: {self.column}"

    @property
    def kept(self) -> bool:
        """Tells whether intervals held as often as they promise, as far as chance allows to tell."""
        if self.covered is None or not self.cells:
            return True
        sure = float(self.confidence)
        return self.covered >= sure - SPREADS * math.sqrt(sure * (1 - sure) / self.cells)


@final
@dataclass(frozen=True, eq=False, repr=False)
class DryRun(Displayed):
    """What came out of a dry run. The ``data`` says what it was run on, ``spent`` what its own book was charged."""

    data: str
    rows: int
    times: int
    limit: Loss
    spent: Loss
    numbers: tuple[Rehearsed, ...]

    @property
    def made_up(self) -> bool:
        """Tells whether nobody in the data is real."""
        return self.data == MADE_UP

    @property
    def kept(self) -> bool:
        """Tells whether all intervals held as often as they promise."""
        return all(one.kept for one in self.numbers)

    @property
    def shown(self) -> tuple[Rehearsed, ...]:
        """The first number of each step for each error that was foretold: bars of a histogram get the same noise."""
        first = {(one.step, one.foretold): one for one in reversed(self.numbers)}
        return tuple(one for one in self.numbers if first[one.step, one.foretold] is one)

    def document(self) -> Document:
        """The errors that came out, beside those that were foretold."""
        rows = tuple(
            (
                one.name,
                "hangs on the data"
                if one.foretold is None
                else f"± {amount_words(one.foretold)}{' in rank' * one.rank}",
                f"± {amount_words(one.measured)}",
                "" if one.covered is None else f"{100 * one.covered:.1f} % (promised {percent(one.confidence)})",
                f"{one.cells:,}",
            )
            for one in self.shown
        )
        rest = len(self.numbers) - len(rows)
        more = ((f"… {rest} more of the same", "", "", "", ""),) * bool(rest)
        warnings = tuple(
            f"the intervals of {one.name} held less often than they promise" for one in self.numbers if not one.kept
        )
        told = (
            ("on", f"{self.data}, {self.rows:,} rows"),
            ("charged to a book of its own", f"{self.spent} of {self.limit}"),
        )
        return Document(
            "Dry run",
            f"every step ran; noise was drawn up to {self.times:,} times",
            warnings=warnings,
            tables=(Table((*rows, *more), HEAD, "Errors"), Table(told)),
        )

    def chart(self) -> Chart:
        """Draws the errors that came out as multiples of those that were foretold."""
        from sfumato.charts.planning import foretold_and_measured

        return foretold_and_measured([(one.name, one.foretold or 0.0, one.measured) for one in self.shown])


def dry_run(
    plan: Plan,
    codebook: Book,
    *,
    rows: int | None = None,
    people: int | None = None,
    data: Any = None,
    claim: Claim | None = None,
    times: int = USUAL_TIMES,
    unit: str | None = None,
    public: Tables | None = None,
    seed: int = 0,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> DryRun:
    """Runs a plan on made-up data of the codebook's shape, and compares the errors that come out with those foretold.

    Every step is charged, asked and released as on the data itself, by the same code, with a book in memory; then the
    noise of each is drawn so many ``times`` over. With ``data`` it runs on that instead, which must be public or made
    up: a ``claim`` says so, for errors are measured against its exact values. Made-up values are spread evenly, so that
    errors of means and quantiles are those of such data.
    """
    desk = Desk.open(codebook, unit=unit, public=public)
    if desk.book.digest != plan.digest:
        raise BadArgument("codebook", "the one that the plan was made from", desk.book.title)
    many = integer(ROWS if rows is None else rows, "rows", least=1)
    if data is None:
        tables, what = made_up_rows(desk.book, rows=many, people=people, public=public, seed=seed), MADE_UP
    else:
        vouched = required(claim, "that the data of a dry run is public or made up")
        tables, what = data, f"data that was given: {vouched}"
    private = next(table.name for table in desk.book.tables if not table.public)
    dataset = Dataset(tables, codebook=desk.book, name=private.replace("/", " "))
    with reporting(progress, "dry run") as tell:
        losses = (plan.limit, *(loss for _, loss in plan.beside))
        limits = dict(zip(dataset.kinds, losses, strict=True)) if dataset.kinds else plan.limit
        session = dataset.session(limit=limits, ledger="memory:")
        plan.run(session, progress=lambda done, steps: None)
        spent = session.ledger[dataset.name].spent
        _, held = open_tables(tables, desk.book)
        numbers = list[Rehearsed]()
        for place, step in enumerate(plan.steps):
            tell(place, len(plan.steps))
            numbers += _rehearsed(step, Desk(desk.book, dataset), held, times, entropy or system())
        tell(len(plan.steps), len(plan.steps))
    if data is not None:  # examples show exact numbers, and are of nobody
        numbers = [replace(one, examples=()) for one in numbers]
    return DryRun(what, _rows_of(tables, private, many), times, plan.limit, spent, tuple(numbers))


def _rows_of(tables: Any, private: str, many: int) -> int:
    table: Any = tables.get(private) if isinstance(tables, dict) else tables
    return len(table) if hasattr(table, "__len__") and not isinstance(table, str | dict) else many


def _rehearsed(step: Step, desk: Desk, held: Unlocked, times: int, entropy: Entropy) -> list[Rehearsed]:
    """Draws the noise of a step again and again."""
    asked = Wanted(
        step.sql, step.name, confidence=step.confidence, parameters=step.parameters, size=1, settings=step.settings
    )
    offer = desk.candidate(asked).at(step.loss)
    foretold = {one.column: one for one in step.numbers}
    rehearsed = []
    for name, compiled in zip(_names(len(offer.compiled), step), offer.compiled, strict=True):
        for column, measured in repeated(compiled, held, times, step.confidence, entropy).items():
            told = foretold.get(name + column)
            rehearsed.append(
                Rehearsed(
                    step.name,
                    name + column,
                    None if told is None else told.half_width,
                    measured.half_width(step.confidence),
                    step.confidence,
                    measured.covered,
                    len(measured.errors),
                    rank=told is not None and told.rank,
                    examples=measured.examples,
                )
            )
    return rehearsed


def _names(many: int, step: Step) -> list[str]:
    """What stands before the columns of each finished answer of a step, as in its foretold numbers."""
    if many == 1:
        return [""]
    before = list(dict.fromkeys(one.column.partition(".")[0] + "." for one in step.numbers))
    return before if len(before) == many else [""] * many

"""The desk: where questions are settled and priced from a codebook alone, as a session on the data would price them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeAlias, final

from sfumato.accounting.adaptive.costs import Cost
from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.accounting.relation import Relation
from sfumato.codebook.book import Codebook
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.restating import cost_of
from sfumato.errors import BadArgument, QueryRefused
from sfumato.ledger.rules import coarse
from sfumato.planning.shape import Tables, without_rows
from sfumato.planning.wishes import Wanted
from sfumato.query.answer.explain import foretold
from sfumato.query.build.settings import Settings
from sfumato.query.frame.table import Frame
from sfumato.query.nodes.questions import CountUnits, Histogram, Item
from sfumato.query.nodes.worked_out import Finished
from sfumato.query.plan.compile import price_question, public_groups, settle_question
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.open_tables import OpenTables
from sfumato.query.plan.query_plan import QueryPlan
from sfumato.query.plan.together import measured_together, settings_of
from sfumato.release.record import How
from sfumato.session.dataset import Dataset
from sfumato.session.open_data import Person
from sfumato.session.session import Session

Book: TypeAlias = Codebook | Mapping[str, object] | str | Path
"""A codebook, or what one is read from."""

STATED = Pure(1)
"""Stands for any loss, while a question is settled that has no price yet."""

GROUPS = 20
"""So many groups there are taken to be, where keys are not listed and nobody said how many rows a group has."""

ROWS = 10_000
"""So many rows a table is taken to have, where nobody said how many."""


@final
@dataclass(frozen=True)
class Foretold:
    """What is foretold of one number of an answer: about what it is, and half of its error bar.

    ``rank`` says that the error is one of rank, in rows: so it is of quantiles, of which nothing else is known. The
    half-width is None where it hangs on the data.
    """

    column: str
    value: float | None
    half_width: float | None
    rank: bool = False

    @property
    def share(self) -> float | None:
        """The error as a share of the number; None where one of them is not known."""
        return None if self.half_width is None or not self.value else self.half_width / abs(self.value)


@final
@dataclass(frozen=True, eq=False)
class Offer:
    """A statistic at a price: the loss that is stated for it, what the ledger would be charged, the errors."""

    loss: Loss
    cost: Cost
    numbers: tuple[Foretold, ...]
    measurement: Measurement
    compiled: tuple[CompiledQuery, ...]

    @property
    def how(self) -> How:
        """How the answer would be made."""
        return self.measurement.how


@final
@dataclass(frozen=True, eq=False)
class Candidate:
    """A wanted statistic that was read, checked and settled: all but its price."""

    desk: Desk
    wanted: Wanted
    parts: tuple[tuple[str, QueryPlan], ...]
    size: int
    assumed: bool
    text: str

    @property
    def chooses_keys(self) -> bool:
        """Tells whether keys that nobody listed must be chosen, which takes a δ."""
        return any(level.chooser is not None for _, plan in self.parts for level in plan.levels)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the answer."""
        return tuple(name for _, plan in self.parts for name, _ in plan.asked.columns)

    def at(self, loss: Loss, *, rehearsed: bool = False) -> Offer:
        """Prices it at a loss."""
        each = settings_of(
            [Finished(name, plan.asked) for name, plan in self.parts], replace(self.wanted.settings, loss=loss)
        )
        sure = self.wanted.confidence
        compiled = tuple(
            price_question(plan, replace(own, confidence=plan.settings.confidence), rehearsed=rehearsed)
            for (_, plan), own in zip(self.parts, each, strict=True)
        )
        measurement = measured_together(compiled, [name for name, _ in self.parts], sure)
        numbers = [number for one in zip(self.parts, compiled, strict=True) for number in self._numbers(*one)]
        return Offer(loss, self.desk.cost(measurement), tuple(numbers), measurement, compiled)

    def _numbers(self, part: tuple[str, QueryPlan], compiled: CompiledQuery) -> list[Foretold]:
        name, sure = part[0], self.wanted.confidence
        before = f"{name}." if len(self.parts) > 1 else ""
        ranks = {
            one: special.rank_error(sure)
            for run, special in zip(compiled.levels[0].runs, compiled.specials[0], strict=True)
            for one in run.special.statistics
        }
        bars: dict[str, float] = {
            column: self.size / (len(statistic.of.edges) - 1)
            for column, made in compiled.question.columns
            if isinstance(statistic := getattr(made, "statistic", None), Item) and isinstance(statistic.of, Histogram)
        }
        ranked = {
            column: ranks[statistic]
            for column, made in compiled.question.columns
            if (statistic := getattr(made, "statistic", None)) in ranks and ranks[statistic] is not None
        }
        said = dict(self.wanted.about)
        bars |= {column: float(said[column]) for column in said if column}
        return [
            Foretold(before + column, float(self.size), float(ranked[column] or 0), rank=True)
            if column in ranked
            else Foretold(before + column, bars.get(column, float(said[""]) if "" in said else value), wide)
            for column, [(value, wide)] in foretold(compiled, [self.size], sure)
        ]


@final
@dataclass(frozen=True, eq=False)
class Desk:
    """Prices questions by a codebook. ``dataset`` has its tables, without rows, and public ones as they are.

    ``rows`` and ``people`` are about how many there are, where somebody said so.
    """

    book: Codebook
    dataset: Dataset
    rows: int | None = None
    people: int | None = None

    @staticmethod
    def open(
        book: Book,
        *,
        unit: str | None = None,
        public: Tables | None = None,
        rows: int | None = None,
        people: int | None = None,
    ) -> Desk:
        """Opens a desk on a codebook; the data itself is needed by nobody."""
        if isinstance(book, Dataset | Session):
            raise BadArgument(
                "codebook", "the codebook alone, data.codebook: a plan needs no data", type(book).__name__
            )
        facts = book if isinstance(book, Codebook) else Codebook.read(book)
        facts = facts if unit is None else Person(unit).told(facts)
        tables = without_rows(facts, public or {})
        private = [table.name for table in facts.tables if not table.public]
        return Desk(facts, Dataset(tables, codebook=facts, name=private[0].replace("/", " ")), rows, people)

    @property
    def opened(self) -> OpenTables:
        """What is public about the tables."""
        return self.dataset.tables

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self.dataset.unit

    @cached_property
    def relation(self) -> Relation:
        """Which data sets are neighbours, in the words of the accountant."""
        return self.session().relation

    @property
    def exchanges(self) -> bool:
        """Tells whether one unit comes for another: where the number of rows is public, none is added or removed."""
        return any(table.size is not None for table in self.book.tables if not table.public)

    def session(self) -> Session:
        """A session that can explain questions, on tables without rows and a book that nobody keeps."""
        limits = dict.fromkeys(self.dataset.kinds, STATED) if self.dataset.kinds else STATED
        return self.dataset.session(limit=limits, ledger="memory:")

    def table(self, name: str | None = None) -> Frame:
        """A table as a frame to ask in; there is nothing in it."""
        return self.session().table(name)

    def cost(self, measurement: Measurement) -> Cost:
        """What a session would be charged for a measurement."""
        return cost_of(measurement, self.unit, coarse(measurement.map(self.unit)))

    def candidate(self, asked: Wanted) -> Candidate:
        """Reads and settles a wanted statistic, and refuses what cannot be asked of the data."""
        if asked.unit and asked.unit != self.book.protects:
            must = f"{self.book.protects!r}, which is who the codebook protects: a price for others says nothing of it"
            raise BadArgument(f"the unit of {asked.name or 'a statistic'}", must, asked.unit)
        finished, settings = self._read(asked)
        each = settings_of(finished, replace(settings, loss=STATED))
        metric = self.unit.metric
        plans = [
            settle_question(one.question, own, self.opened, limit=type(STATED), d_in=int(metric.read(self.unit)))
            for one, own in zip(finished, each, strict=True)
        ]
        parts = tuple(zip([one.name for one in finished], plans, strict=True))
        size, assumed = self._size(asked, plans[0])
        ready = replace(asked, settings=replace(settings, confidence=asked.confidence))
        text = " ".join(asked.question.split()) if isinstance(asked.question, str) else ""
        return Candidate(self, ready, parts, size, assumed, text)

    def _read(self, asked: Wanted) -> tuple[Sequence[Finished], Settings]:
        """The questions that a statistic asks of private tables, and the settings that come with it."""
        if not isinstance(asked.question, str):
            return [Finished("", asked.question.question)], asked.settings
        from sfumato.query.sql import read_sql  # which loads sqlglot

        statement = read_sql(asked.question, self.opened.catalog, asked.parameters)
        settings = statement.options.added_to(asked.settings)
        if settings.loss is not None:
            raise QueryRefused("the text says what to pay, and so does a plan: leave ε and δ out of its OPTIONS.")
        if statement.question is not None and statement.worked is None:
            return [Finished("", statement.question)], settings
        answers = () if statement.worked is None else statement.worked.answers
        private = [
            one
            for one in answers
            if not (one.keys_only and public_groups(one.question, settings, self.opened) is not None)
        ]
        if not private:
            raise QueryRefused(
                f"this asks only what is public, and costs nothing: leave it out of the plan: {asked.question}"
            )
        return private, settings

    def _size(self, asked: Wanted, plan: QueryPlan) -> tuple[int, bool]:
        """About how many rows a group has, and whether that is a guess of ours."""
        if asked.size is not None:
            return asked.size, False
        rows, known = self._rows()
        if self.people is not None and all(isinstance(one, CountUnits) for one in plan.asked.statistics):
            rows, known = self.people, True
        listed = plan.levels[0].listed
        if not plan.asked.keys:
            return rows, not known
        if listed is None:
            return max(1, rows // GROUPS), True
        return max(1, rows // max(1, len(listed))), not known

    def _rows(self) -> tuple[int, bool]:
        if self.rows is not None:
            return self.rows, True
        sizes = [table.size or table.least for table in self.book.tables if not table.public]
        return (max(sizes), True) if any(sizes) else (ROWS, False)

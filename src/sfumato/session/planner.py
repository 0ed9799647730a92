"""Asks questions in SQL and as data frames: from words to a release, or to an explanation that spends nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, final

from sfumato.accounting.events import Event
from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.accounting.relation import Relation
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.errors import BadArgument, QueryRefused
from sfumato.query.answer.assemble import drawn_from
from sfumato.query.answer.explain import expected, expected_at, explained, other_losses
from sfumato.query.answer.explanation import Explanation, Later, Rows
from sfumato.query.answer.normal_text import rows_text
from sfumato.query.answer.shape import ShapedColumn, shape_of
from sfumato.query.answer.working import public_answer
from sfumato.query.build.settings import Settings
from sfumato.query.frame import Frame
from sfumato.query.nodes.kinds import Value
from sfumato.query.nodes.questions import Question
from sfumato.query.plan.compile import price_question, settle_question
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.open_tables import OpenTables
from sfumato.query.plan.query_plan import QueryPlan
from sfumato.query.plan.rehearse import made_up_shape
from sfumato.query.plan.remembered import exactly
from sfumato.release.answer import Answer
from sfumato.release.record import Release
from sfumato.session.kinds import kept_within
from sfumato.session.workbench import Workbench, public_release
from sfumato.session.writing import written_release

if TYPE_CHECKING:
    from sfumato.query.sql.reading import Statement
    from sfumato.release.claim import Claim
    from sfumato.session.run import Run
    from sfumato.session.session import Parameters, Session

STATED = Pure(1)
"""Stands for any stated loss in the key of a plan that has no price yet."""


@final
class Planner:
    """Asks questions of the tables of one session. What was worked out for any session on them is remembered."""

    def __init__(
        self, session: Session, opened: OpenTables, standing: Callable[[Explanation, Measurement], Explanation]
    ) -> None:
        self._session, self._opened, self._with_standing = session, opened, standing
        self._worked = opened.worked

    @property
    def opened(self) -> OpenTables:
        """What may be known of the tables without paying."""
        return self._opened

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self._session.dataset.unit

    def run(self, question: Measurement, *, loss: Loss | None, key: str | None) -> Release:
        """Pays for a measurement on the tables and runs it."""
        return self._session.run(question, loss=loss, key=key)

    @property
    def kind(self) -> type[Loss]:
        """The kind of loss that the session's own limit counts."""
        return type(self._session.own_limit)

    @property
    def relation(self) -> Relation:
        """Which data sets are neighbours, as far as accounting must know."""
        return self._session.relation

    def start(
        self,
        event: Event,
        *,
        loss: Loss | None = None,
        key: str,
        claim: Claim | None = None,
        proofs: Sequence[str] = (),
        what: str = "a run",
        ahead: int = 1,
        steps: int | None = None,
    ) -> Run:
        """Starts a long run on the tables, such as a training; see `Session.start`."""
        return self._session.start(
            event, loss=loss, key=key, claim=claim, proofs=proofs, what=what, ahead=ahead, steps=steps
        )

    def explain_run(self, question: Measurement, *, loss: Loss | None) -> Explanation:
        """Says what such a measurement would cost, and whether it fits."""
        return self._session.explain(question, loss=loss)

    def frame(self, name: str | None) -> Frame:
        """A table as a data frame; the only private one, where no name is given."""
        catalog = self._opened.catalog
        private = [table for table, scan in catalog.tables.items() if scan.private]
        if name is None and len(private) != 1:
            raise BadArgument("the name of a table", f"one of {', '.join(catalog.tables)}", name)
        return Frame(catalog.table(private[0] if name is None else name), self)

    def sql(self, text: str, parameters: Parameters, settings: Settings) -> Release:
        """Answers a question in SQL; what public tables alone answer is exact and free."""
        asked = self._read(text, parameters)
        if asked.explain:
            raise QueryRefused("this asks for an explanation, which is no release: ask session.explain(…).")
        said = asked.options.added_to(settings)
        if asked.worked is not None:
            return self._workbench.release(asked.worked, said)
        if asked.question is not None:
            return self.release(asked.question, said)
        tables = self._opened.catalog.tables
        words = " ".join(text.split()) if asked.rows is None else rows_text(asked.rows, tables)
        return public_release(self._session, public_answer(self.public(text, parameters)), words)

    def public(self, text: str, parameters: Parameters) -> Mapping[str, Sequence[Value]]:
        """The rows of a SELECT from public tables alone; refuses one that asks private tables."""
        asked = self._read(text, parameters)
        if asked.rows is not None:
            return self._opened.engine.rows(asked.rows)
        if asked.facts is not None:
            return asked.facts
        if asked.worked is None or not self._workbench.is_free(asked.worked, Settings()):
            raise QueryRefused("this asks private tables, and costs something: session.sql(…) pays for it and answers.")
        answer: Answer = self._workbench.release(asked.worked, Settings()).value
        return answer.to_dict()

    def explain_sql(self, text: str, parameters: Parameters, settings: Settings) -> Explanation:
        """Explains a question in SQL."""
        asked = self._read(text, parameters)
        said = asked.options.added_to(settings)
        if asked.question is not None and asked.worked is None:
            return self.explain(asked.question, said)
        if asked.worked is None or self._workbench.is_free(asked.worked, said):
            raise QueryRefused("this asks only what is public, so there is nothing to pay and nothing to explain.")
        return self._workbench.explain(asked.worked, self._assumed(said), self._with_standing)

    def shape(self, text: str, parameters: Parameters, settings: Settings) -> tuple[ShapedColumn, ...]:
        """The columns that the answer to a question in SQL will have; nothing is asked or paid."""
        asked = self._read(text, parameters)
        said = asked.options.added_to(settings)
        if asked.worked is not None:
            return self._workbench.shape(asked.worked, said)
        if asked.rows is not None:
            return tuple(ShapedColumn(one.name, one.kind) for one in asked.rows.fields)
        if asked.question is None:
            return shape_of(public_answer(self.public(text, parameters)))
        question = asked.question
        compiled = self._planned(question, self._settled(said.priced, lambda one: self._measured(question, one)))
        return self._worked.shaped.get(compiled, lambda: made_up_shape(compiled))

    def release(self, question: Question, settings: Settings) -> Release:
        """Answers a question."""
        settings = self._settled(settings.priced, lambda one: self._measured(question, one))
        compiled, sure = self._planned(question, settings), settings.confidence
        release = self._session.run(compiled.measurement(sure), key=settings.key, confidence=sure)
        answer = release.value
        if not isinstance(answer, Answer) or answer.confidence == sure:
            return release
        again = compiled.answer(drawn_from(compiled, answer), sure)  # intervals are worked out anew, at no cost
        return replace(release, value=again, confidence=sure)

    def write_sql(self, text: str, parameters: Parameters, settings: Settings, *, to: str, form: str) -> Release:
        """Writes the answer to a question in SQL as a table."""
        asked = self._read(text, parameters)
        if asked.explain or asked.question is None or asked.worked is not None:
            raise QueryRefused(
                "only one question about private tables, without a SELECT around it, can be written as a table: "
                "session.sql(…) answers others. Nothing was charged."
            )
        return self.write(asked.question, asked.options.added_to(settings), to=to, form=form)

    def write(self, question: Question, settings: Settings, *, to: str, form: str) -> Release:
        """Pays for a question and writes its answer as a table, where the engine writes."""
        settings = self._settled(settings.priced, lambda one: self._measured(question, one))
        compiled = self._planned(question, settings)
        return written_release(self._session, self._opened, compiled, settings, to=to, form=form)

    def explain(self, question: Question, settings: Settings) -> Explanation:
        """Explains a question: what is computed, how units are bounded, noise, errors, price. Spends nothing.

        Where nothing is said of the price, it is a tenth of what is left, or of the limit.
        """
        settings = self._settled(self._assumed(settings), lambda one: self._measured(question, one))
        compiled, sure = self._planned(question, settings), settings.confidence
        key = (question, replace(settings, key=None), self.kind, self._d_in)
        explanation = self._worked.explained.get(key, lambda: self._explained(question, settings, compiled))
        return self._with_standing(explanation, compiled.measurement(sure))

    def _explained(self, question: Question, settings: Settings, compiled: CompiledQuery) -> Explanation:
        """Explains a question that is planned, beside the same one at other prices."""
        sure, key = settings.confidence, (compiled.finishing, self.kind, self._d_in, settings.confidence)
        errors = self._worked.expected.get(key, lambda: expected(compiled, sure))
        plan, worked = self._settle(question, settings), self._worked  # not this session: others are told the same
        others = Later(lambda: worked.others.get(key, lambda: _at_other_prices(plan, settings)))
        return explained(compiled, errors, others, d_in=self._d_in, confidence=sure)

    def _assumed(self, settings: Settings) -> Settings:
        """Settings with a price: a tenth of what is left, or of the limit, where they say none."""
        if settings.loss is not None or settings.accuracy is not None or settings.losses:
            return settings
        left = self._session.own_left
        whole = self._session.own_limit if left == left.nothing() else left
        return replace(settings, loss=whole.scaled(Fraction(1, 10)))

    def _settled(self, settings: Settings, measured: Callable[[Settings], Measurement]) -> Settings:
        """Settings with the loss of the first kind of unit, where losses are stated for several."""
        dataset = self._session.dataset
        return kept_within(settings, dataset.others, dataset.kinds, measured)

    def _measured(self, question: Question, settings: Settings) -> Measurement:
        return self._planned(question, settings).measurement(settings.confidence)

    @cached_property
    def _workbench(self) -> Workbench:
        return Workbench(self._session, self._opened, self._planned, self._settled)

    @property
    def _d_in(self) -> int:
        unit = self._session.dataset.unit
        return int(unit.metric.read(unit))

    def _read(self, text: str, parameters: Parameters) -> Statement:
        from sfumato.query.sql import read_sql  # which loads sqlglot

        key = exactly(parameters)
        if key is None:
            return read_sql(text, self._opened.catalog, parameters)
        return self._worked.read.get((text, key), lambda: read_sql(text, self._opened.catalog, parameters))

    def _settle(self, question: Question, settings: Settings) -> QueryPlan:
        """The question with everything settled but its price, which does for all losses alike."""
        planning, limit = settings.planning, type(self._session.own_limit)
        key = (question, planning if planning.loss is None else replace(planning, loss=STATED), limit, self._d_in)
        return self._worked.settled.get(
            key, lambda: settle_question(question, planning, self._opened, limit=limit, d_in=self._d_in)
        )

    def _planned(self, question: Question, settings: Settings) -> CompiledQuery:
        planning = settings.planning
        key = (question, planning, type(self._session.own_limit), self._d_in)
        try:
            return self._worked.planned.get(key, lambda: price_question(self._settle(question, settings), planning))
        except RecursionError:
            deep = QueryRefused("the question is nested too deeply to be planned: ask in fewer steps.")
        raise deep


def _at_other_prices(plan: QueryPlan, settings: Settings) -> Rows:
    """The errors to expect at other prices; nothing where a quarter of the price buys noise beyond all numbers."""
    losses = () if settings.loss is None else other_losses(settings.loss)
    others = {label: price_question(plan, replace(settings, loss=loss), rehearsed=False) for label, loss in losses}
    try:
        return expected_at(others, settings.confidence)
    except OverflowError:
        return ()

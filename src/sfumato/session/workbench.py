"""The workbench: pays for finished answers in one charge, and works out from them what was asked, for nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, final

from sfumato.core.measurement import Measurement
from sfumato.errors import NotWorkedOut, QueryRefused
from sfumato.query.answer.assemble import drawn_from
from sfumato.query.answer.explain import explained_together
from sfumato.query.answer.explanation import Explanation
from sfumato.query.answer.normal_text import whole_text
from sfumato.query.answer.shape import ShapedColumn, shape_of
from sfumato.query.answer.working import Tables, listed_table, public_table, rehearsed, released_table, worked_answer
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.questions import Question
from sfumato.query.nodes.worked_out import Finished, WorkedOut
from sfumato.query.plan.compile import public_groups
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.open_tables import OpenTables
from sfumato.query.plan.together import measured_together, settings_of
from sfumato.release.answer import Answer
from sfumato.release.record import How, Release

if TYPE_CHECKING:
    from sfumato.session.session import Session

FREE = "worked out from released numbers, which costs nothing"
"""What stands in a release for the SELECT around finished answers."""

REMEMBERED = 256
"""How many questions are known to run, so that they need not be tried out again."""

Plan = Callable[[Question, Settings], CompiledQuery]
Settle = Callable[[Settings, Callable[[Settings], Measurement]], Settings]


@final
class Workbench:
    """Answers questions of several blocks on the tables of one session."""

    def __init__(self, session: Session, opened: OpenTables, plan: Plan, settle: Settle) -> None:
        self._session, self._opened, self._plan, self._settle = session, opened, plan, settle
        self._rehearsed: dict[tuple[WorkedOut, Settings], tuple[ShapedColumn, ...]] = {}

    def release(self, worked: WorkedOut, settings: Settings) -> Release:
        """Pays for the finished answers, all at once, and works out the rest; what is public alone is free."""
        others, private = self._tables(worked, settings)
        if not private:
            return self._public(worked, others, settings.confidence)
        settings = self._settled(private, settings.priced)
        compiled = self._compiled(private, settings)
        self._rehearse(worked, settings, compiled, others)
        sure = settings.confidence
        release = self._session.run(self._measurement(compiled, sure), key=settings.key, confidence=sure)
        answers = release.value if isinstance(release.value, tuple) else (release.value,)
        own = [_at(one, answer, sure) for one, answer in zip(compiled.values(), answers, strict=True)]
        released = {
            name: released_table(one, answer) for (name, one), answer in zip(compiled.items(), own, strict=True)
        }
        try:
            answer = worked_answer(worked, released, others, sure)
        except QueryRefused:
            failed = NotWorkedOut(replace(release, value=own[0] if len(own) == 1 else tuple(own), confidence=sure))
        else:
            asked = whole_text(worked, self._opened.catalog.tables)
            how = replace(release.how, asked=asked).then(FREE)
            return replace(release, value=answer, how=how, confidence=sure)
        raise failed

    def explain(
        self, worked: WorkedOut, settings: Settings, standing: Callable[[Explanation, Measurement], Explanation]
    ) -> Explanation:
        """Explains each finished answer, and what they cost together."""
        others, private = self._tables(worked, settings)
        settings = self._settled(private, settings)
        compiled = self._compiled(private, settings)
        self._rehearse(worked, settings, compiled, others)
        measurement = self._measurement(compiled, settings.confidence)
        unit = self._session.dataset.unit
        explanation = explained_together(
            compiled,
            worked,
            measurement,
            asked=whole_text(worked, self._opened.catalog.tables),
            d_in=int(unit.metric.read(unit)),
            confidence=settings.confidence,
        )
        return standing(explanation, measurement)

    def shape(self, worked: WorkedOut, settings: Settings) -> tuple[ShapedColumn, ...]:
        """The columns that the answer will have; nothing is asked or paid."""
        others, private = self._tables(worked, settings)
        if not private:
            return self._rehearse(worked, Settings(), {}, others)
        settings = self._settled(private, settings.priced)
        return self._rehearse(worked, settings, self._compiled(private, settings), others)

    def is_free(self, worked: WorkedOut, settings: Settings) -> bool:
        """Tells whether nothing needs to be asked of private tables."""
        return not self._tables(worked, settings)[1]

    def _tables(self, worked: WorkedOut, settings: Settings) -> tuple[Tables, list[Finished]]:
        """The public tables, public lists of keys among them, and the answers that must be asked for."""
        tables = {name: public_table(relation, self._opened.engine.rows(relation)) for name, relation in worked.tables}
        private = []
        for one in worked.answers:
            groups = public_groups(one.question, settings, self._opened) if one.keys_only else None
            if groups is None:
                private.append(one)
            else:
                tables[one.name] = listed_table(one.question, groups)
        return tables, private

    def _compiled(self, private: Sequence[Finished], settings: Settings) -> dict[str, CompiledQuery]:
        each = settings_of(private, settings)
        return {one.name: self._plan(one.question, own) for one, own in zip(private, each, strict=True)}

    def _settled(self, private: Sequence[Finished], settings: Settings) -> Settings:
        """Settings with one loss for all answers together, where losses are stated for several kinds of units."""
        return self._settle(settings, lambda one: self._measurement(self._compiled(private, one), one.confidence))

    def _rehearse(
        self, worked: WorkedOut, settings: Settings, compiled: Mapping[str, CompiledQuery], others: Tables
    ) -> tuple[ShapedColumn, ...]:
        """Refuses what cannot run, and says which columns come out; what could be run before can be run again."""
        known = worked, settings.planning
        made = self._rehearsed.get(known)
        if made is None:
            made = shape_of(rehearsed(worked, compiled, others))
            if len(self._rehearsed) >= REMEMBERED:
                self._rehearsed.pop(next(iter(self._rehearsed)), None)
            self._rehearsed[known] = made
        return made

    def _measurement(self, compiled: Mapping[str, CompiledQuery], confidence: Fraction) -> Measurement:
        return measured_together(list(compiled.values()), list(compiled), confidence)

    def _public(self, worked: WorkedOut, tables: Tables, confidence: Fraction) -> Release:
        self._rehearse(worked, Settings(), {}, tables)
        asked = whole_text(worked, self._opened.catalog.tables)
        return public_release(self._session, worked_answer(worked, {}, tables, confidence), asked)


def public_release(session: Session, answer: Answer, asked: str) -> Release:
    """A release of what is public: exact, and free."""
    dataset = session.dataset
    how = How("public: exact, and nothing to pay", asked=asked)
    return Release(answer, session.own_limit.nothing(), dataset.unit.protects, how, data=dataset.name)


def _at(compiled: CompiledQuery, answer: Answer, confidence: Fraction) -> Answer:
    """An answer with intervals at a confidence; they are worked out anew where it has others, at no cost."""
    return answer if answer.confidence == confidence else compiled.answer(drawn_from(compiled, answer), confidence)

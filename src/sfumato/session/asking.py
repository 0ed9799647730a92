"""Asks questions in SQL and as data frames: from words to a release, or to an explanation that spends nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from sfumato.accounting.measures import Approx, Loss, Pure
from sfumato.errors import BadArgument, QueryRefused
from sfumato.exact import Number, probability
from sfumato.query.explain import Explanation, explained, other_losses
from sfumato.query.finish import drawn_from
from sfumato.query.frame import Frame
from sfumato.query.lower import Lowered, lowered
from sfumato.query.opened import Opened
from sfumato.query.questions import Question
from sfumato.query.settings import Settings
from sfumato.release.answer import Answer
from sfumato.release.record import Release

if TYPE_CHECKING:
    from sfumato.query.sql.options import Options
    from sfumato.query.sql.reading import Asked
    from sfumato.session.session import Session

REMEMBERED = 256
"""So many questions are kept read and planned, the latest ones."""


@final
class Asking:
    """Asks questions of the tables of one session. What was read and planned once is remembered."""

    def __init__(self, session: Session, opened: Opened) -> None:
        self._session, self._opened = session, opened
        self._planned: dict[object, Lowered] = {}

    def frame(self, name: str | None) -> Frame:
        """Gives a table as a data frame; the only private one, where no name is given."""
        catalog = self._opened.catalog
        private = [table for table, scan in catalog.tables.items() if scan.private]
        if name is None and len(private) != 1:
            raise BadArgument("the name of a table", f"one of {', '.join(catalog.tables)}", name)
        return Frame(catalog.table(private[0] if name is None else name), self)

    def sql(self, text: str, parameters: Sequence[object] | Mapping[str, object], **settings: Any) -> Any:
        """Answers a question in SQL; gives an explanation where the text begins with EXPLAIN PRIVACY."""
        asked = self._read(text, parameters)
        if asked.rows is not None:
            return self._opened.engine.rows(asked.rows)
        said = with_options(settings, asked.options)
        question = _question(asked)
        return self.explain(question, **said) if asked.explain else self.release(question, **said)

    def explain_sql(
        self, text: str, parameters: Sequence[object] | Mapping[str, object], **settings: Any
    ) -> Explanation:
        """Explains a question in SQL."""
        asked = self._read(text, parameters)
        return self.explain(_question(asked), **with_options(settings, asked.options))

    def release(
        self, question: Question, *, confidence: Number = 0.95, key: str | None = None, **settings: Any
    ) -> Release:
        """Answers a question."""
        sure = probability(confidence, "confidence")
        ready = self._lowered(question, Settings.read(**_known(settings)))
        found = self._session.run(ready.measurement(sure), key=key, confidence=sure)
        return _at(found, ready, sure)

    def explain(self, question: Question, *, confidence: Number = 0.95, **settings: Any) -> Explanation:
        """Explains a question: what is computed, how units are bounded, noise, errors, price. Spends nothing."""
        sure = probability(confidence, "confidence")
        given = _explaining(settings, self._session.left, self._session.limit)
        ready = self._lowered(question, given)
        others = {label: self._lowered(question, replace(given, loss=loss)) for label, loss in _others(given)}
        made = explained(ready, others, apart=self._apart, confidence=sure)
        return replace(made, standing=self._standing(ready, sure))

    def _standing(self, ready: Lowered, confidence: Fraction) -> tuple[tuple[str, str], ...]:
        quote = self._session.quote(ready.measurement(confidence))
        return tuple(
            (name, text.strip())
            for name, _, text in (line.partition(" ") for line in str(quote).splitlines())
            if name in ("left", "known", "no")
        )

    @property
    def _apart(self) -> int:
        unit = self._session.dataset.unit
        return int(unit.metric.read(unit))

    def _read(self, text: str, parameters: Sequence[object] | Mapping[str, object]) -> Asked:
        from sfumato.query.sql import read_sql  # which loads sqlglot

        return read_sql(text, self._opened.catalog, parameters)

    def _lowered(self, question: Question, settings: Settings) -> Lowered:
        try:
            return self._planning(question, settings)
        except RecursionError:
            deep = QueryRefused("the question is nested too deeply to be planned: ask in fewer steps.")
        raise deep

    def _planning(self, question: Question, settings: Settings) -> Lowered:
        limit = type(self._session.limit)
        remembered = (question, settings, limit)
        found = self._planned.get(remembered)
        if found is None:
            found = lowered(question, settings, self._opened, limit=limit, apart=self._apart)
            if len(self._planned) >= REMEMBERED:
                self._planned.pop(next(iter(self._planned)), None)
            self._planned[remembered] = found
        return found


def _question(asked: Asked) -> Question:
    if asked.question is None:
        raise QueryRefused("this asks only public tables: there is nothing to pay, and nothing to explain.")
    return asked.question


def with_options(settings: dict[str, Any], options: Options) -> dict[str, Any]:
    """Adds what the query itself says; what is said twice must be said alike."""
    said: dict[str, Any] = {"groups": options.groups, "rows_each": options.rows_each, "rows": options.rows}
    if options.epsilon is not None:
        said["loss"] = Approx(options.epsilon, options.delta) if options.delta else Pure(options.epsilon)
    for name, value in said.items():
        if value is None:
            continue
        if settings.get(name) not in (None, value):
            raise BadArgument(name, "said once: in the query's OPTIONS, or beside it", settings[name])
        settings[name] = value
    return settings


def _explaining(settings: dict[str, Any], left: Loss, limit: Loss) -> Settings:
    """Reads settings for an explanation, where the price may be left open: then what a tenth of what is left buys."""
    if settings.get("loss") is None and settings.get("accuracy") is None:
        settings = {**settings, "loss": _tenth(limit if left == left.nothing() else left)}
    return Settings.read(**_known(settings))


def _known(settings: dict[str, Any]) -> dict[str, Any]:
    """Gives settings that there are, or says which there is none of."""
    names = [field.name for field in fields(Settings)]
    if unknown := sorted(set(settings) - set(names)):
        raise BadArgument("a setting", f"one of {', '.join((*names, 'confidence', 'key'))}", unknown[0])
    return settings


def _tenth(left: Loss) -> Loss:
    from sfumato.accounting.shares import share_of

    return share_of(left, Fraction(1, 10))


def _others(settings: Settings) -> list[tuple[str, Loss]]:
    return [] if settings.loss is None else list(other_losses(settings.loss))


def _at(release: Release, ready: Lowered, confidence: Fraction) -> Release:
    """Gives a stored release with its intervals at another confidence: they are worked out anew, at no cost."""
    answer = release.value
    if not isinstance(answer, Answer) or answer.confidence == confidence:
        return release
    again = ready.answer(drawn_from(ready, answer), confidence)
    return replace(release, value=again, confidence=confidence)

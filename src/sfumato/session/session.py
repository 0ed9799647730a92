"""Sessions: questions on one data set, paid from one account of a ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self, TypeAlias, Unpack, final

from sfumato.accounting.adaptive.charge import Rule
from sfumato.accounting.compose import total
from sfumato.accounting.events import Event
from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.stated import needed_loss, stated_loss
from sfumato.accounting.relation import Relation
from sfumato.core.measurement import Measurement
from sfumato.errors import BadArgument
from sfumato.exact import Number, probability
from sfumato.ledger.accounts import Account, checked_name
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.periods import Period
from sfumato.ledger.permit import Purpose
from sfumato.ledger.published import registry_entry, release_table, releases_now, releases_of
from sfumato.ledger.rules import stated_limit
from sfumato.query.build.settings import CONFIDENCE, Said, Settings
from sfumato.release.publication import missing_for_publication
from sfumato.release.record import Release
from sfumato.release.registry import RegistryEntry
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document
from sfumato.release.render.words import clean
from sfumato.release.table import ReleaseTable
from sfumato.session.kinds import beside_words
from sfumato.session.overview import session_document
from sfumato.session.prepared import Question, prepare
from sfumato.session.standing import Standing
from sfumato.session.writing import Writing

if TYPE_CHECKING:
    from sfumato.query.answer.explanation import Explanation
    from sfumato.query.answer.shape import ShapedColumn
    from sfumato.query.frame import Frame
    from sfumato.query.nodes.kinds import Value
    from sfumato.release.claim import Claim
    from sfumato.session.bounds import ContributionBounds, ValueBounds
    from sfumato.session.dataset import Dataset
    from sfumato.session.planner import Planner
    from sfumato.session.run import Run

Parameters: TypeAlias = Sequence[object] | Mapping[str, object]
"""Values for the placeholders of a query, in order or by name."""

LONGEST = 100_000
"""Letters of the description of a question that are written into the book; its release has all of them, always."""


OTHER_WORDS = {
    **dict.fromkeys(("query", "execute", "ask", "read_sql"), "sql"),
    **dict.fromkeys(("budget", "remaining", "remaining_budget", "balance"), "left"),
    **dict.fromkeys(("used", "cost", "total"), "spent"),
}
"""What other libraries call things of a session that are here under another name."""


@final
class Session(Displayed, Standing, Writing):
    """Asks questions of one data set, and pays for them from one account. Get one from `Dataset.session`."""

    def __init__(self, dataset: Dataset, ledger: Ledger, account: Account, *, by: str) -> None:
        self.dataset, self.ledger, self.by = dataset, ledger, by
        self._name, self._terms, self._limit = account.name, account.terms, account.limit  # which are set for good

    if not TYPE_CHECKING:  # type checkers go on finding what is not there

        def __getattr__(self, name: str) -> NoReturn:
            near = f". Did you mean {OTHER_WORDS[name]!r}?" if name in OTHER_WORDS else ""
            raise AttributeError(f"a session has no {name!r}{near}")

    def sql(
        self,
        text: str,
        parameters: Parameters = (),
        **said: Unpack[Said],
    ) -> Release:
        """Answers a question in SQL.

        ``loss`` is what to pay (or ``epsilon``, perhaps with ``delta``; for each kind of unit, by name, where there are
        several), or ``accuracy=(half_width, confidence)`` how near to come; ``max_groups``, ``max_rows_per_group``,
        ``max_rows`` how much of each unit to keep, ``max_matches`` how much of each key in joins off the id; ``keys``
        the groups to answer; ``weights`` how columns share the loss; ``noise`` "laplace" or "gaussian" (or {"count": …,
        "sum": …}), else the better one; ``confidence`` that of error bars; ``key`` makes a retry safe; ``parameters``
        stand for ``?`` and ``:name``.
        """
        return self._planner.sql(text, parameters, Settings.read(**said))

    def public(self, text: str, parameters: Parameters = ()) -> Mapping[str, Sequence[Value]]:
        """The rows of a SELECT from public tables alone, column by column: they cost nothing."""
        return self._planner.public(text, parameters)

    def shape(self, text: str, parameters: Parameters, settings: Settings) -> tuple[ShapedColumn, ...]:
        """The columns that the answer to a question in SQL will have, and their kinds; nothing is asked or paid."""
        return self._planner.shape(text, parameters, settings)

    def table(self, name: str | None = None) -> Frame:
        """A table as a data frame, to ask in Python; the only private one, where no name is given."""
        return self._planner.frame(name)

    def contributions(
        self,
        table: str | None = None,
        *,
        by: str | Sequence[str] = (),
        upto: int,
        loss: Loss | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        share: Number = 0.95,
    ) -> ContributionBounds:
        """Buys bounds: finds how many groups (by columns) and rows in each cover a share of the units, for a loss."""
        from sfumato.session.bounds import buy_contributions

        paid = needed_loss(loss, epsilon, delta)
        return buy_contributions(self.table(table), by=by, upto=upto, loss=paid, share=share)

    def buy_bounds(
        self,
        table: str | None = None,
        columns: Sequence[str] = (),
        *,
        loss: Loss | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
    ) -> dict[str, ValueBounds]:
        """Buys bounds on the values of columns that nobody knows bounds for, an equal part of the loss for each.

        Without names, all columns of numbers; those for which none were found are left out.
        """
        from sfumato.session.bounds import buy_bounds

        return buy_bounds(self.table(table), columns, loss=needed_loss(loss, epsilon, delta))

    @cached_property
    def _planner(self) -> Planner:
        from sfumato.session.planner import Planner

        return Planner(self, self.dataset.tables, self._with_standing)

    def explain(
        self,
        question: Question | str,
        parameters: Parameters = (),
        **said: Unpack[Said],
    ) -> Explanation:
        """Says what a question would cost, how far off its answer would be, and whether it fits; spends nothing.

        A question in SQL (``EXPLAIN PRIVACY`` before it changes nothing) is explained with its whole plan; see `sql`
        for the settings. Of a measurement, which has its price, ``loss`` and ``confidence`` can be said.
        """
        settings = Settings.read(**said)
        if isinstance(question, str):
            return self._planner.explain_sql(question, parameters, settings)
        if parameters or settings != Settings(loss=settings.loss, confidence=settings.confidence):
            must = "loss and confidence alone: what else is to be said of a measurement is said where it is made"
            raise BadArgument("the settings of a measurement", must, "others")
        from sfumato.query.answer.explanation import Explanation

        measurement, unit = self.dataset.read(question, settings.loss), self.dataset.unit
        terms = measurement.terms(unit, settings.confidence)
        explanation = Explanation(
            measurement.how, terms.loss, unit.protects, terms.confidence, half_width=terms.half_width
        )
        return self._with_standing(explanation, measurement, loss=settings.loss)

    def _with_standing(
        self, explanation: Explanation, measurement: Measurement, *, loss: Loss | None = None
    ) -> Explanation:
        """Adds to an explanation what would be charged, what the account that would pay has left, and if it can."""
        prepared = prepare(self.dataset, self._terms, measurement, loss, explanation.confidence)
        purpose = Purpose(prepared.measurement, self.dataset.unit, prepared.others)
        trial = self.ledger.trial(self._name, prepared.cost, question=prepared.digest, purpose=purpose)
        beside = [(unit.protects, cost.loss, self.ledger.left(name)) for name, (unit, cost) in prepared.others.items()]
        bounds = (*explanation.bounds, *(beside_words(unit) for unit, _ in prepared.others.values()))
        return replace(explanation, price=prepared.cost.loss, beside=tuple(beside), bounds=bounds, **vars(trial))

    def run(
        self,
        question: Question,
        *,
        loss: Loss | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        key: str | None = None,
        confidence: Number = CONFIDENCE,
    ) -> Release:
        """Charges what a question costs, runs it, stores the release and gives it.

        A question that was asked before, at the same loss, of the same published version of the data or since it was
        opened, is answered from the book and costs nothing. Functions of your own have no name that the book could know
        them by, so give such a question a ``key`` that makes a retry safe. A ``loss`` may be more than the least;
        noise without a scale, ``sf.laplace()``, is made as little as it allows.
        """
        sure = probability(confidence, "confidence")
        prepared = prepare(self.dataset, self._terms, question, stated_loss(loss, epsilon, delta), sure)
        measurement = prepared.measurement
        answer = self.ledger.ask(
            self._name,
            prepared.cost,
            measurement,
            self.dataset.unit,
            key=key,
            question=prepared.digest,
            what=clean(measurement.how, most=LONGEST),
            data=self.dataset.published[0],
            others=prepared.others,
            by=self.by,
        )
        if not isinstance(answer, Release):
            return self.dataset.release(answer, measurement, confidence=sure)
        if sure == answer.confidence or measurement.error is None:
            return answer
        return replace(answer, half_width=measurement.error(sure), confidence=sure)

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
        """Starts a long run, charged once for all its steps; or goes on with the one that has this key.

        The event is what all steps do: `sf.events.Repeat` of one step, a `Sequence` of steps. ``loss`` is what to
        charge, at least what the event costs; left out, that, where the limit needs no δ. That each step costs no more
        than its part is claimed, or proved on a page; so is, where ``steps`` says how many there are, that all of them
        together cost no more than the event. The book counts ``ahead`` steps at a time: a crash can lose them.
        """
        from sfumato.session.run import Run, how_of

        how = how_of(event, what, claim, proofs)
        permit = self.ledger.start(
            self._name,
            total(event, type(self._limit), relation=self.relation) if loss is None else loss,
            event,
            key=key,
            ahead=ahead,
            what=clean(how, most=LONGEST),
            data=self.dataset.published[0],
            by=self.by,
            metric=self.dataset.unit.metric,
            steps=steps,
        )
        return Run(self, permit, how)

    @property
    def relation(self) -> Relation:
        """Which data sets are neighbours, as far as accounting must know: a unit more or fewer, or one exchanged."""
        from sfumato.ledger.progress import relation_in

        return relation_in(self._terms, self.dataset.unit.metric)

    def part(
        self,
        name: str,
        *,
        limit: Loss | Rule | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        holds: bool = False,
        period: Period | str | None = None,
        until: datetime | None = None,
        about: Mapping[str, str] | None = None,
    ) -> Session:
        """Opens a session inside this one, with a limit of its own; what it spends, this one spends too.

        With ``holds`` the limit is set aside at once, and what is left of it comes back when the part is closed.
        Without a limit it goes on with a part that was opened before, such as a share that was granted.
        """
        path, limit = f"{self._name}/{checked_name(name)}", stated_limit(limit, epsilon, delta)
        if limit is None:
            return Session(self.dataset, self.ledger, self.ledger[path], by=name)
        account = self.ledger.open_account(
            path,
            limit=limit,
            holds=holds,
            period=period,
            until=until,
            about=about,
            by=self.by,
        )
        return Session(self.dataset, self.ledger, account, by=name)

    def releases(self) -> list[Release]:
        """The releases of this session and of all parts of it, as the book keeps them."""
        return list(releases_of(self.ledger, self._name))

    def release_table(self, *, delta: Number | None = None) -> ReleaseTable:
        """Makes the release table, from the book alone: nothing in it is typed."""
        return release_table(self.ledger, self._name, delta=delta)

    def registry_entry(self, **stated: str) -> RegistryEntry:
        """Makes the entry for a registry of deployments; what the book does not know is stated."""
        return registry_entry(self.ledger, self._name, **stated)

    def missing_for_publication(self, *, delta: Number | None = None) -> list[str]:
        """Says what is still missing before the releases may be published for all the world."""
        return missing_for_publication(self.release_table(delta=delta), releases_now(self.ledger, self._name))

    def close(self) -> None:
        """Closes files and connections of the ledger; the account stays as it is, and `Dataset.session` goes on."""
        self.ledger.close()

    def close_account(self) -> None:
        """Closes the account permanently; what it held and has not spent goes back to the one above.

        Nothing is asked of a data set whose account is closed, and so nothing is charged for other kinds of units.
        """
        self.ledger.close_account(self._name, by=self.by)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        account = self.ledger[self._name]
        if account.above and not account.closed:
            self.close_account()

    def document(self) -> Document:
        """Where the session stands and what it can be asked about, for any form."""
        return session_document([self.ledger.standing(name) for name in self.accounts], self.dataset.document())

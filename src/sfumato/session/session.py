"""Sessions: questions on one data set, paid from one account of a ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias, final

from sfumato.accounting.measures import Loss
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial, start
from sfumato.errors import AccountRefused, BadArgument, NotChainable
from sfumato.exact import Number, probability
from sfumato.ledger.accounts import Account, checked_name
from sfumato.ledger.book import Ledger
from sfumato.ledger.checklists import open_items
from sfumato.ledger.entry import canonical, digest_of
from sfumato.ledger.periods import Period
from sfumato.ledger.rules import Rule, coarse, in_kind, plain_loss
from sfumato.ledger.tables import registry_entry, release_table, releases_now, releases_of
from sfumato.release.publication import missing_for_publication
from sfumato.release.record import Release
from sfumato.release.registry import RegistryEntry
from sfumato.release.render.words import clean
from sfumato.release.table import ReleaseTable
from sfumato.session.measures import Overview, largest_in, overview, spent_in
from sfumato.session.quote import Quote

if TYPE_CHECKING:
    from sfumato.query.explain import Explanation
    from sfumato.query.frame import Frame
    from sfumato.session.asking import Asking
    from sfumato.session.contributions import Bought
    from sfumato.session.dataset import Dataset

Parameters: TypeAlias = Sequence[object] | Mapping[str, object]
"""Values for the placeholders of a query, in order or by name."""

LONGEST = 100_000
"""Letters of the description of a question that are written into the book; its release has all of them, always."""


@final
class Session:
    """Asks questions of one data set, and pays for them from one account. Get one from `Dataset.session`."""

    def __init__(self, dataset: Dataset, ledger: Ledger, account: str, *, by: str) -> None:
        self.dataset, self.ledger, self.by = dataset, ledger, by
        self._name = account

    @property
    def account(self) -> Account:
        """Gives the account as it stands now."""
        return self.ledger[self._name]

    @property
    def limit(self) -> Loss:
        """Gives what may be spent."""
        return self.account.limit

    @property
    def spent(self) -> Loss:
        """Gives what was charged so far."""
        return self.account.spent

    @property
    def left(self) -> Loss:
        """Gives the largest loss that can still be charged here: this account and all above it admit it."""
        return self.ledger.left(self._name)

    def spent_in(self, kind: type[Loss], *, delta: Number | None = None) -> Loss:
        """Gives what was spent in another kind of loss, where a theorem takes it there."""
        return spent_in(self.spent, kind, delta)

    def left_in(self, kind: type[Loss], *, delta: Number | None = None) -> Loss:
        """Gives the largest loss of another kind that can still be charged here."""
        return largest_in(kind, self.left, delta)

    def overview(self, *, delta: Number = 1e-6) -> Overview:
        """Shows limit, spent and left in every kind of loss."""
        return overview(self.account, self.left, delta)

    def sql(self, text: str, parameters: Parameters = (), **settings: Any) -> Any:
        """Answers a question in SQL. With EXPLAIN PRIVACY before SELECT, explains it and spends nothing.

        Settings: ``loss=`` what to pay, or ``accuracy=(half_width, confidence)`` how near to come; ``groups=``,
        ``rows_each=`` and ``rows=`` (in all) how much of each unit to keep; ``keys=`` the groups to answer (an
        `sf.KeySet`); ``weights=`` how columns share the loss; ``noise=`` "laplace" or "gaussian", where the better one
        is not to be picked; ``confidence=`` of the error bars; ``key=`` to retry safely. Values for the placeholders of
        a query (``?`` or ``:name``) are ``parameters``; they are never put into its text.
        """
        return self._asking.sql(text, parameters, **settings)

    def table(self, name: str | None = None) -> Frame:
        """Gives a table as a data frame, to ask in Python; the only private one, where no name is given."""
        return self._asking.frame(name)

    def contributions(
        self,
        table: str | None = None,
        *,
        by: str | Sequence[str] = (),
        upto: int,
        loss: Loss,
        share: Number = 0.95,
    ) -> Bought:
        """Buys bounds: finds how many groups (by columns) and rows in each cover a share of the units, for a loss."""
        from sfumato.session.contributions import contributions

        return contributions(self.table(table), by=by, upto=upto, loss=loss, share=share)

    def explain_sql(self, text: str, parameters: Parameters = (), **settings: Any) -> Explanation:
        """Explains a question in SQL: the plan, bounds, noise, errors to expect, and the price; spends nothing."""
        return self._asking.explain_sql(text, parameters, **settings)

    @cached_property
    def _asking(self) -> Asking:
        from sfumato.session.asking import Asking

        return Asking(self, self.dataset.tables)

    def explain(self, question: Measurement | Partial[Measurement] | str, **settings: Any) -> Quote | Explanation:
        """Says what a question would cost, how far off its answer would be, and whether it fits; spends nothing.

        A question in SQL is explained with its whole plan; see `sql` for the settings.
        """
        if isinstance(question, str):
            return self.explain_sql(question, **settings)
        return self.quote(question, **settings)

    def quote(self, question: Measurement | Partial[Measurement], *, loss: Loss | None = None) -> Quote:
        """Says what a measurement would cost, how far off its answer would be, and whether it fits; spends nothing."""
        asked, price = self._read(question, loss)
        terms = asked.terms(self.dataset.unit, 0.95)
        trial = self.ledger.trial(self._name, price, question=self._question(asked, price))
        return Quote(
            how=asked.how,
            price=price,
            unit=self.dataset.unit.protects,
            half_width=terms.half_width,
            confidence=terms.confidence,
            left=self.left,
            known=trial.known,
            costs=trial.costs,
            refusal=trial.refusal or self._blocked(),
        )

    def run(
        self,
        question: Measurement | Partial[Measurement],
        *,
        loss: Loss | None = None,
        key: str | None = None,
        confidence: Number = 0.95,
    ) -> Release:
        """Charges what a question costs, runs it, stores the release and gives it.

        A question that was asked before, at the same loss, of the same published version of the data or since it was
        opened, is answered from the book and costs nothing. Functions of your own have no name that the book could know
        them by, so give such a question a ``key`` that makes a retry safe. ``loss`` is what to charge, where that is to
        be more than the least.
        """
        probability(confidence, "confidence")
        self._check_open()
        asked, price = self._read(question, loss)
        named = self._question(asked, price)
        if named is not None and (found := self.ledger.recall(self._name, named, by=self.by)) is not None:
            return _at(found, asked, confidence)
        what = clean(asked.how, most=LONGEST)
        permit = self.ledger.charge(
            self._name, price, key=key, question=named, what=what, data=self.dataset.published[0], by=self.by
        )
        if permit.used and (stored := permit.release) is not None:
            return _at(stored, asked, confidence)
        return self.dataset.release(permit, asked, confidence=confidence)

    def part(
        self,
        name: str,
        *,
        limit: Loss | Rule | None = None,
        holds: bool = False,
        period: Period | str | None = None,
        until: datetime | None = None,
        about: Mapping[str, str] | None = None,
    ) -> Session:
        """Opens a session inside this one, with a limit of its own; what it spends, this one spends too.

        With ``holds`` the limit is set aside at once, and what is left of it comes back when the part is closed.
        Without a limit it goes on with a part that was opened before, such as a share that was granted.
        """
        path = f"{self._name}/{checked_name(name)}"
        if limit is None:
            return Session(self.dataset, self.ledger, self.ledger[path].name, by=name)
        account = self.ledger.open_account(
            path,
            limit=limit,
            holds=holds,
            period=period,
            until=until,
            about=about,
            by=self.by,
        )
        return Session(self.dataset, self.ledger, account.name, by=name)

    def releases(self) -> list[Release]:
        """Gives the releases of this session and of all parts of it, as the book keeps them."""
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
        """Closes the account for good; what it held and has not spent goes back to the one above."""
        self.ledger.close_account(self._name, by=self.by)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        account = self.account
        if account.above and not account.closed:
            self.close()

    def _read(self, question: object, loss: Loss | None) -> tuple[Measurement, Loss]:
        """Reads a question on this data, and what to charge for it: decided from public facts alone."""
        asked = start(self.dataset.space_for(question), question)
        if not isinstance(asked, Measurement):
            raise NotChainable("this shows exact values: a question must end in a mechanism that adds noise to them.")
        least = asked.map(self.dataset.unit)
        if loss is not None and not isinstance(loss, Loss):
            raise BadArgument("loss", "a privacy loss such as sf.Pure(0.1)", loss)
        if loss is not None and not in_kind(least, type(loss)).within(loss):
            raise BadArgument("loss", f"at least {least}, which is what the question costs", loss)
        price = coarse(least) if loss is None else loss
        self.ledger.check_run(self._name, asked, self.dataset.unit, loss=price)
        self.dataset.check(asked, price)
        return asked, price

    def _question(self, asked: Measurement, price: Loss) -> str | None:
        """Names a question by all that decides its answer; None where something in it has no name."""
        if asked.plan is None or asked.interactive:
            return None
        data = [self.dataset.name, *self.dataset.published]
        unit = list(self.account.terms.protects)
        return digest_of(canonical({"plan": asked.plan, "data": data, "loss": plain_loss(price), "unit": unit}))

    def _check_open(self) -> None:
        blocked = self._blocked()
        if blocked is not None:
            raise AccountRefused(blocked)

    def _blocked(self) -> str | None:
        listed = "; ".join(open_items(self.ledger, self.dataset.name))
        return (
            f"nothing is released from {self.dataset.name} while its checklist is open: {listed}." if listed else None
        )

    def __str__(self) -> str:
        return f"{self._name}: {self.spent} of {self.limit} spent, for {self.dataset.unit.protects}"

    def __repr__(self) -> str:
        return f"Session({self})"


def _at(release: Release, asked: Measurement, confidence: Number) -> Release:
    """Gives a stored release with its error bar at another confidence."""
    sure = probability(confidence, "confidence")
    if sure == release.confidence or asked.error is None:
        return release
    return replace(release, half_width=asked.error(sure), confidence=sure)

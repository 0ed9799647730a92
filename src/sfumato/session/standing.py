"""Where a session stands: limits, what was spent and what is left, of the unit or of each kind of unit."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.plans.shares import largest_within
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.session.kinds import account_of
from sfumato.session.overview import Overview, overview, spent_in

if TYPE_CHECKING:
    from sfumato.accounting.plans.account import CostReport
    from sfumato.ledger.ledger import Ledger
    from sfumato.release.claim import Claim
    from sfumato.session.dataset import Dataset

PerKind: TypeAlias = Any
"""A loss; where several kinds of units are protected, a dictionary of losses with the names of the kinds.
As a union every user of one kind would have to prove to the type checker that there are not several."""


class Standing(ABC):
    """What a session says of its accounts: that of the data set, or of a part, and those of other kinds of units."""

    dataset: Dataset
    ledger: Ledger
    _name: str
    _limit: Loss

    @property
    def accounts(self) -> tuple[str, ...]:
        """Names the accounts that are charged here: of the only kind of unit, or of each, the first one first."""
        return (self._name, *(account_of(self.dataset.name, kind) for kind in self.dataset.others))

    @property
    def limit(self) -> PerKind:
        """What may be spent, in each period if there are periods; by kind of unit, where there are several."""
        return self._per_kind(lambda name: self._limit if name == self._name else self.ledger[name].limit)

    @property
    def spent(self) -> PerKind:
        """What was charged so far; by kind of unit, where there are several."""
        return self._per_kind(lambda name: self.ledger[name].spent)

    @property
    def left(self) -> PerKind:
        """The largest loss that can still be charged here: this account and all above it admit it; by kind of unit,
        where there are several."""
        return self._per_kind(lambda name: self.ledger.left(name))

    @property
    def own_limit(self) -> Loss:
        """The limit for the unit that ``loss=`` is stated for: the only kind, or the first."""
        return self._limit

    @property
    def own_left(self) -> Loss:
        """What is left for the unit that ``loss=`` is stated for: the only kind, or the first."""
        return self.ledger.left(self._name)

    def spent_in(self, kind: type[Loss], *, delta: Number | None = None, of: str | None = None) -> Loss:
        """What was spent in another kind of loss, where a theorem takes it there; ``of`` names a kind of unit."""
        return spent_in(self.ledger[self._account(of)].spent, kind, delta)

    def left_in(self, kind: type[Loss], *, delta: Number | None = None, of: str | None = None) -> Loss:
        """The largest loss of another kind that can still be charged here; ``of`` names a kind of unit."""
        return largest_within(kind, self.ledger.left(self._account(of)))

    def overview(self, *, delta: Number = 1e-6, of: str | None = None) -> Overview:
        """Shows limit, spent and left in every kind of loss; ``of`` names a kind of unit."""
        return overview(*self.ledger.standing(self._account(of)), delta)

    def account(self, *, delta: Number, claim: Claim | None = None, of: str | None = None) -> CostReport:
        """Recounts all charges of this session and of its parts at a δ, by every way of accounting that is valid.

        The limit holds however questions were chosen. With a ``claim`` that all of them were fixed before the first
        answer, the whole is priced as the plan that it was, by privacy-loss distributions too. ``of`` names a kind of
        unit, where there are several; left out, it is the first.
        """
        from sfumato.ledger.recount import recount

        return recount(self.ledger, self._account(of), delta=delta, claim=claim)

    def _per_kind(self, find: Callable[[str], Loss]) -> PerKind:
        kinds = self.dataset.kinds
        return (
            {kind: find(name) for kind, name in zip(kinds, self.accounts, strict=True)} if kinds else find(self._name)
        )

    def _account(self, of: str | None) -> str:
        kinds = self.dataset.kinds
        if of is not None and of not in kinds:
            named = f"one of {', '.join(kinds)}" if kinds else "left out: there is one kind of unit here"
            raise BadArgument("of", named, of)
        return self._name if of is None else self.accounts[kinds.index(of)]

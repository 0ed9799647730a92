"""Spent and left in every kind of loss, where theorems take one to the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from sfumato.accounting.adaptive.approx_filter import ApproxFilter
from sfumato.accounting.convert.convert import convert
from sfumato.accounting.losses.concentrated import COMMON_KINDS
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.plans.shares import largest_within
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Number, probability
from sfumato.ledger.accounts import Account
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table


@final
@dataclass(frozen=True)
class Shown:
    """One kind of loss: limit, spent and left in it, each None where no theorem takes it there."""

    kind: type[Loss]
    limit: Loss | None
    spent: Loss | None
    left: Loss | None


@final
@dataclass(frozen=True)
class Overview(Displayed):
    """Where an account stands, in every kind of loss; ``ways`` is what each of several ways of counting leaves."""

    account: str
    promise: str
    rows: tuple[Shown, ...]
    ways: Mapping[str, Loss] = field(default_factory=dict)

    def document(self) -> Document:
        """The account, what it promises, and where it stands, for any form."""
        rows = tuple(
            (one.kind.__name__, _text(one.limit), _text(one.spent), "—" if one.left is None else one.left.str_down())
            for one in self.rows
        )
        tables = [Table(rows, ("", "limit", "spent", "left"))]
        if self.ways:
            title = "Losses are counted in several ways at once, and what fits in one of them may be asked"
            tables.append(
                Table(tuple((way, f"{left.str_down()} left") for way, left in self.ways.items()), title=title)
            )
        return Document(self.account, f"{self.account}: {self.promise}", tables=tuple(tables))

    __repr__ = Displayed.__str__


def overview(account: Account, left: Loss, delta: Number) -> Overview:
    """Limit, spent and left of an account in every kind of loss; δ is for kinds that need one."""
    allowed = probability(delta, "delta")
    rows = tuple(
        Shown(
            kind,
            _maybe(lambda kind=kind: spent_in(account.limit, kind, allowed)),  # type: ignore[misc]
            _maybe(lambda kind=kind: spent_in(account.spent, kind, allowed)),  # type: ignore[misc]
            _maybe(lambda kind=kind: largest_within(kind, left)),  # type: ignore[misc]
        )
        for kind in dict.fromkeys((type(account.limit), *COMMON_KINDS))
    )
    rule = account.rule
    return Overview(account.name, account.promise, rows, rule.ways if isinstance(rule, ApproxFilter) else {})


def session_document(standings: Sequence[tuple[Account, Loss]], data: Document) -> Document:
    """Writes where the accounts stand, one for each kind of unit, before what is said of the data they pay for."""
    first, tables = standings[0][0], []
    for account, left in standings:
        rows = [("limit", f"{account.limit}"), ("spent", f"{account.spent}"), ("left", left.str_down())]
        if isinstance(account.limit, Pure) or (isinstance(account.limit, Approx) and account.limit.delta == 0):
            rows.append(("keys", NO_DELTA))
        tables.append(Table(tuple(rows), title=f"for {account.terms.unit}" if len(standings) > 1 else ""))
    spent = "; ".join(f"{one.spent} of {one.limit} spent, for {one.terms.unit}" for one, _ in standings)
    return Document(first.name, f"{first.name}: {spent}", tables=(*tables, *data.tables))


NO_DELTA = "only public ones: those of the codebook, or keys=. To show others takes a δ, and this limit has none"
"""What a limit without δ cannot pay for, and what does without."""


def spent_in(loss: Loss, kind: type[Loss], delta: Number | None) -> Loss:
    """Restates a loss in another kind; ``delta`` is used only where that takes one."""
    if type(loss) is kind:
        return loss
    if isinstance(loss, Approx) and loss.delta == 0:
        return spent_in(Pure(loss.epsilon), kind, delta)
    try:
        return convert(loss, kind)
    except (BadArgument, NoProvenRoute):
        if kind is not Approx or delta is None:
            raise
        return convert(loss, kind, delta=delta)


def _maybe(find: Callable[[], Loss]) -> Loss | None:
    try:
        return find()
    except (NoProvenRoute, BadArgument):
        return None


def _text(loss: Loss | None) -> str:
    return "—" if loss is None else str(loss)

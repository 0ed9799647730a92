"""Spent and left in every kind of loss, where theorems take one to the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.accounting.calibrate import greatest
from sfumato.accounting.concentrated import GDP
from sfumato.accounting.convert import convert
from sfumato.accounting.measures import ZCDP, Approx, Loss, Pure
from sfumato.errors import BadArgument, CannotCalibrate, NoProvenRoute
from sfumato.exact import Number, probability
from sfumato.ledger.accounts import Account
from sfumato.ledger.remaining import floored
from sfumato.ledger.rules import in_kind

KINDS: tuple[type[Loss], ...] = (Pure, Approx, ZCDP, GDP)
"""The kinds that are shown."""


@final
@dataclass(frozen=True)
class Shown:
    """Is one kind of loss: limit, spent and left in it, each None where no theorem takes it there."""

    kind: type[Loss]
    limit: Loss | None
    spent: Loss | None
    left: Loss | None


@final
@dataclass(frozen=True)
class Overview:
    """Is where an account stands, in every kind of loss."""

    account: str
    promise: str
    rows: tuple[Shown, ...]

    def __str__(self) -> str:
        cells = [("", "limit", "spent", "left")]
        for row in self.rows:
            left = "—" if row.left is None else floored(row.left)
            cells.append((row.kind.__name__, _text(row.limit), _text(row.spent), left))
        widths = [max(len(line[column]) for line in cells) for column in range(4)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]
        return "\n".join([f"{self.account}: {self.promise}", *(f"  {line.rstrip()}" for line in lines)])

    __repr__ = __str__


def overview(account: Account, left: Loss, delta: Number) -> Overview:
    """Gives limit, spent and left of an account in every kind of loss; δ is for kinds that need one."""
    allowed = probability(delta, "delta")
    rows = tuple(
        Shown(
            kind,
            _maybe(lambda kind=kind: spent_in(account.limit, kind, allowed)),  # type: ignore[misc]
            _maybe(lambda kind=kind: spent_in(account.spent, kind, allowed)),  # type: ignore[misc]
            _maybe(lambda kind=kind: largest_in(kind, left, allowed)),  # type: ignore[misc]
        )
        for kind in dict.fromkeys((type(account.limit), *KINDS))
    )
    return Overview(account.name, account.promise, rows)


def spent_in(loss: Loss, kind: type[Loss], delta: Number | None) -> Loss:
    """Gives a loss in another kind; ``delta`` where that takes one."""
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


def largest_in(kind: type[Loss], left: Loss, delta: Number | None) -> Loss:
    """Gives the largest loss of a kind that is within what is left, in another kind."""
    match left:
        case Approx(epsilon=epsilon) | Pure(epsilon=epsilon) if kind in (Pure, Approx) and type(left) is not kind:
            return Pure(epsilon) if kind is Pure else Approx(epsilon, 0)
    if type(left) is kind:
        return left
    if kind is Approx:
        make: Callable[[Fraction], Loss] = lambda epsilon: Approx(epsilon, Fraction(0))  # noqa: E731
    elif kind in (Pure, ZCDP, GDP):
        make = lambda amount: kind(amount)  # noqa: E731
    else:
        raise NoProvenRoute(f"what is left is not searched for in {kind.__name__}.")
    in_kind(make(Fraction(1)), type(left))  # refuses where no theorem takes this kind there
    try:
        return make(greatest(lambda amount: in_kind(make(amount), type(left)).within(left), what="loss"))
    except CannotCalibrate:
        return kind.nothing()


def _maybe(find: Callable[[], Loss]) -> Loss | None:
    try:
        return find()
    except (NoProvenRoute, BadArgument):
        return None


def _text(loss: Loss | None) -> str:
    return "—" if loss is None else str(loss)

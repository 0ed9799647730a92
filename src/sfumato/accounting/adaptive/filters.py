"""Filters: whether one more mechanism may run, when each was chosen in the light of all answers before it.

A filter is a value: public numbers, no data, no randomness. `admits` asks, `after` charges; whoever holds the data
charges first and looks afterwards. A filter, with all that it admits, is itself a mechanism, and its loss is its limit:
one can stand inside another, by ``parent.after(child.limit)``.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import accumulate
from typing import Protocol, Self, TypeVar, final

from sfumato.accounting.events import Event
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Loss, Pure
from sfumato.accounting.losses.renyi import Renyi
from sfumato.errors import BadArgument, NoProvenRoute, QueryRefused
from sfumato.exact import digits_up
from sfumato.guarantee import guarantee
from sfumato.plain import record

L = TypeVar("L", bound=Loss)

ADDS: dict[type[Loss], str] = {
    Pure: "proofs/privacy_filters.md#pure",
    Approx: "proofs/privacy_filters.md#approximate",
    ZCDP: "proofs/privacy_filters.md#renyi",
    Renyi: "proofs/privacy_filters.md#renyi",
    ApproxZCDP: "proofs/privacy_filters.md#approximate-concentrated",
    GDP: "proofs/privacy_filters.md#gaussian",
}
"""The kinds of loss of which the running sum is a valid stopping rule, and where each is proved."""


class Filter(Protocol):
    """A rule that decides from stated losses alone whether one more mechanism may run."""

    @property
    def limit(self) -> Loss:
        """What the whole interaction costs at most, however it goes and whenever it stops."""

    @property
    def spent(self) -> Loss:
        """What was admitted so far, in the terms in which the filter counts."""

    @property
    def guarantee(self) -> str:
        """Says in one sentence what is promised, and where it is proved."""

    @property
    def interleaves(self) -> bool:
        """Tells whether mechanisms that answer many questions may be admitted and then asked in turns."""

    def admits(self, loss: Loss) -> bool:
        """Tells whether a mechanism of this loss may run now."""

    def after(self, loss: Loss) -> Self:
        """Charges a mechanism of this loss and gives the filter that follows; refuses, unchanged, what may not run."""


@final
@record("SumFilter")
class SumFilter:
    """The filter that admits while the composed loss stays within the limit.

    >>> so_far = SumFilter(Pure(1)).after(Pure(0.7))
    >>> so_far.admits(Pure(0.3)), so_far.admits(Pure(0.31)), so_far.left
    (True, False, Pure(epsilon=0.3))
    """

    limit: Loss
    spent: Loss

    def __init__(self, limit: Loss, *, spent: Loss | None = None) -> None:
        check_adds(limit)
        check_orders(limit)
        start: Loss = same_kind(type(limit).nothing() if spent is None else spent, limit, "spent")
        if isinstance(start, Renyi) and isinstance(limit, Renyi):
            check_stated(start, orders_of(limit))
            start = kept(start, orders_of(limit))
        if not start.within(limit):
            raise BadArgument("spent", "within the limit", start)
        object.__setattr__(self, "limit", limit)
        object.__setattr__(self, "spent", start)

    @property
    def left(self) -> Loss:
        """The largest loss that is still admitted."""
        return self.limit.minus(self.spent)

    @property
    def guarantee(self) -> str:
        """Says in one sentence what is promised, and where it is proved."""
        return f"{self.limit} for the whole interaction, however it goes ({ADDS[type(self.limit)]})"

    @property
    def interleaves(self) -> bool:
        """Tells whether mechanisms that answer many questions may be admitted and then asked in turns."""
        return may_interleave(type(self.limit))

    def admits(self, loss: Loss) -> bool:
        """Tells whether a mechanism of this loss may run now."""
        return sum_within(self.spent, self._counted(loss), self.limit) is not None

    def after(self, loss: Loss) -> SumFilter:
        """Charges a mechanism of this loss and returns the filter that follows; refuses what may not run."""
        cost = self._counted(loss)
        total = sum_within(self.spent, cost, self.limit)
        if total is None:
            raise QueryRefused(refusal(loss, self.spent.then(cost), self.limit))
        if type(total) is Renyi:
            return SumFilter(self.limit, spent=total)
        following = object.__new__(SumFilter)  # the limit was read when the first was made
        object.__setattr__(following, "limit", self.limit)
        object.__setattr__(following, "spent", total)
        return following

    def _counted(self, loss: Loss) -> Loss:
        own = loss if type(loss) is type(self.limit) else same_kind(loss, self.limit, "loss")
        return counted(own, self.limit)


@guarantee(
    claim="if each mechanism is admitted only while the composed loss is within the limit, the whole is within it",
    proof="proofs/privacy_filters.md#sums",
    reviewed="87da3b5266c1",
)
def sum_within(spent: Loss, loss: Loss, limit: Loss) -> Loss | None:
    """The sum once a loss is charged, for the kinds in `ADDS`; None where that does not fit."""
    total = spent.then(loss)
    return total if total.within(limit) else None


def counted(loss: Loss, limit: Loss) -> Loss:
    """What of a loss is counted: all of it, but of a Rényi curve its bounds at the orders of the limit only."""
    if type(limit) is Renyi and type(loss) is Renyi:
        check_stated(loss, orders_of(limit))
        return at_orders(loss, orders_of(limit))
    return loss


def orders_of(limit: Renyi) -> tuple[Fraction, ...]:
    """The orders at which a Rényi limit is stated; empty where it lists none."""
    return limit.orders().listed or ()


def check_stated(loss: Renyi, orders: Iterable[Fraction]) -> None:
    """Refuses a Rényi loss that is not stated at an order that is counted, or above it."""
    for order in orders:
        if loss.orders().from_above(order) is None:
            raise NoProvenRoute(
                f"this Rényi loss is not stated at an order as high as {digits_up(order)}, which is counted here: "
                "state it there too, or leave that order out from the start."
            )


@guarantee(
    claim="at each of some orders the bound that is stated there, or at a higher one of them where that is less",
    proof="proofs/privacy_filters.md#renyi",
    reviewed="f78db683fbe9",
)
def at_orders(loss: Renyi, orders: Iterable[Fraction]) -> Renyi:
    """One Rényi loss as a table of its bounds at some orders."""
    return Renyi({order: loss.at(order) for order in orders})


@guarantee(
    claim="at each of some orders not less than the sum of the bounds at that order",
    proof="proofs/privacy_filters.md#renyi",
    reviewed="700a011aec83",
)
def kept(spent: Renyi, orders: Iterable[Fraction]) -> Renyi:
    """A sum of Rényi losses as a table at some orders: as short as that of one loss, and rising with the order."""
    rising = sorted(orders)
    return Renyi(dict(zip(rising, accumulate((spent.at(order) for order in rising), max), strict=True)))


@guarantee(
    claim="pure, approximate, concentrated, Renyi and Gaussian filters hold for mechanisms asked in turns",
    proof="proofs/privacy_filters.md#concurrent",
    reviewed="adf3841b43dc",
)
def may_interleave(kind: type[Loss]) -> bool:
    """Tells whether a filter of this kind also holds for interactive mechanisms with interleaved questions."""
    return kind in (Pure, Approx, ZCDP, Renyi, GDP)


def check_adds(limit: object) -> None:
    """Refuses a kind of loss if its running composition is no valid stopping rule."""
    check_loss(limit, "limit", "sf.Pure(1)")
    check_range(limit)
    if type(limit) not in ADDS:
        kind = type(limit).__name__
        raise NoProvenRoute(
            f"stopping when the composed {kind} reaches a limit is not valid if mechanisms are chosen after seeing "
            "answers: the whole can then leak more than the limit (proofs/privacy_filters.md#refused). For spending "
            "chosen as one goes, limit Pure, Approx, ZCDP, Renyi or GDP, or use sf.accounting.AdvancedFilter; if the "
            f"losses of all steps are fixed before the first answer, sf.accounting.Slots takes {kind} too."
        )


def check_range(loss: object) -> None:
    """Refuses bounded ranges, which do not add up."""
    if isinstance(loss, BoundedRange):
        raise NoProvenRoute(
            "bounded ranges do not add up when the next mechanism is chosen after seeing an answer (proofs/top_k.md): "
            "limit Pure or ZCDP, and convert each bounded range to that."
        )


def check_orders(limit: Loss) -> None:
    """Refuses a Rényi limit that is not stated at chosen orders: a limit at no order at all would admit everything."""
    if isinstance(limit, Renyi) and not orders_of(limit):
        raise NoProvenRoute(
            "a Rényi limit must be stated at chosen orders, such as sf.Renyi({2: 0.5, 8: 1.0}); for a bound in "
            "proportion to every order use sf.ZCDP."
        )


def check_loss(loss: object, name: str, example: str = "sf.Pure(0.5)") -> None:
    """Refuses what is no loss; of what has one, says how to get it."""
    if isinstance(loss, Loss):
        return
    must = f"a privacy loss such as {example}"
    if isinstance(loss, Event):
        must += "; that of an event is sf.total(event, sf.Pure), or of another kind"
    elif callable(getattr(loss, "map", None)):
        must += "; that of a measurement is measurement.map(1)"
    raise BadArgument(name, must, loss)


def same_kind(loss: object, limit: L, name: str) -> L:
    """Returns a loss of the limit's kind and refuses others: nothing is converted behind the caller's back."""
    check_loss(loss, name)
    if type(loss) is not type(limit):
        kind = type(limit).__name__
        at_delta = ", delta=…" if isinstance(limit, Approx) and not isinstance(loss, Pure) else ""
        raise NoProvenRoute(
            f"what is counted here is {kind}, and the {name} is {type(loss).__name__}. Convert it first, where there "
            f"is a theorem: sf.convert(loss, sf.{kind}{at_delta})."
        )
    return loss


def refusal(loss: Loss, total: Loss, limit: Loss) -> str:
    """Words why a loss was not admitted. What is left is not printed: it would have to be rounded, and then not fit."""
    if isinstance(total, Renyi) and isinstance(limit, Renyi):
        order = next(order for order in orders_of(limit) if total.at(order) > limit.at(order))
        would = f"at order {digits_up(order)} the total would be {digits_up(total.at(order))}"
        reason = f"{would}, and the limit there is {digits_up(limit.at(order))}"
    else:
        reason = f"with it the total would be {total}, and the limit is {limit}"
    return (
        f"{loss} does not fit: {reason}. Nothing ran and nothing was spent; ask for something cheaper (`left` is what "
        "still fits, to the last digit)."
    )

"""What a mechanism costs, counted in several ways: as it is stated, and by what it runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeVar, final

from sfumato.accounting.compose import total
from sfumato.accounting.convert.convert import convert
from sfumato.accounting.events import Event, Repeat, Sequence, Stated
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Extended
from sfumato.guarantee import guarantee
from sfumato.plain import record

L = TypeVar("L", bound=Loss)

NEVER = Approx(math.inf, 1)
"""The (ε, δ) of something that has none: it fits under no limit."""

FEW_BITS = 64
"""Amounts are rounded up to this many significant bits, so that sums of very many stay short."""


@final
@dataclass(frozen=True)
class Cost:
    """What one mechanism costs: a loss that holds for it, and the event that it runs.

    The two are about the same mechanism and the same neighbours, so whichever counts as less may be counted.
    """

    loss: Loss
    event: Event
    relation: Relation = Relation.ADD_REMOVE

    @classmethod
    def of(cls, cost: Loss | Cost) -> Cost:
        """Reads a loss of which nothing more is known as the cost of a mechanism."""
        if isinstance(cost, Cost):
            return cost
        if not isinstance(cost, Loss):
            raise BadArgument("loss", "a privacy loss such as sf.Pure(0.1)", cost)
        return cls(cost, Stated(cost))

    @property
    def only_stated(self) -> bool:
        """Tells whether nothing more than the loss is known."""
        event = self.event
        stated = isinstance(event, Stated) and event.loss == self.loss and not event.note
        return stated and self.relation is Relation.ADD_REMOVE


@final
class SetAside(NamedTuple):
    """An event that is like another one once δ of each distribution is set aside."""

    delta: Fraction
    event: Event


@final
@record("Spending")
class Spending:
    """Amounts that add up, one for each way of counting; infinite where a way cannot count something.

    ``added`` is the sum of stated losses. In the other ways ``aside`` of each distribution is set aside, and of what
    is left the pure ``epsilon``, the Rényi ``divergence`` of one order and the ``square`` of μ are added up.
    """

    added: Approx = field(default_factory=Approx.nothing)
    aside: Fraction = Fraction(0)
    epsilon: Extended = Fraction(0)
    divergence: Extended = Fraction(0)
    square: Extended = Fraction(0)

    def then(self, other: Spending) -> Spending:
        """Adds what another mechanism costs, chosen in the light of this one's answer."""
        return spent_together(self, other)


NOTHING = Spending()


@guarantee(
    claim="stated losses compose; what is set aside, pure losses, divergences of one order and squares of μ add up",
    proof="proofs/privacy_filters.md#spending",
    reviewed="50b1794fd484",
)
def spent_together(first: Spending, second: Spending) -> Spending:
    """Adds up two mechanisms in every way, the second chosen in the light of the first one's answer."""
    return Spending(
        first.added.then(second.added),
        min(Fraction(1), first.aside + second.aside),
        first.epsilon + second.epsilon,
        first.divergence + second.divergence,
        first.square + second.square,
    )


@lru_cache(maxsize=1024)
def spending_of(cost: Cost, order: Fraction) -> Spending:
    """Counts a mechanism in every way, its divergence at an order; the same few are charged again and again."""
    if cost.loss == type(cost.loss).nothing():
        return NOTHING
    delta, rest = set_aside(cost.event, cost.relation)
    pure, gaussian = _known(rest, Pure, cost.relation), _known(rest, GDP, cost.relation)
    return Spending(
        _stated(cost.loss),
        delta,
        math.inf if pure is None else _few_bits(pure.epsilon),
        _few_bits(_divergence(rest, order, cost.relation)),
        math.inf if gaussian is None else _few_bits(gaussian.square),
    )


def _stated(loss: Loss) -> Approx:
    """Reads a loss as (ε, δ), where that takes no further δ."""
    try:
        return convert(loss, Approx)
    except (NoProvenRoute, BadArgument):
        return NEVER


@guarantee(
    claim="each distribution is at least 1 - δ times one of the event that is given: of (ε, δ) the pure rest, of a "
    "sequence the rests of its parts",
    proof="proofs/privacy_filters.md#aside",
    reviewed="d60770d5369a",
)
def set_aside(event: Event, relation: Relation) -> SetAside:
    """Splits δ off an event so that the rest has a pure, a Rényi or a Gaussian loss; nothing where it has one."""
    match event:
        case Sequence(parts=parts):
            split = [set_aside(part, relation) for part in parts]
            return SetAside(
                min(Fraction(1), sum((part.delta for part in split), Fraction(0))),
                Sequence(*(part.event for part in split)),
            )
        case Repeat(event=inner, times=times):
            once = set_aside(inner, relation)
            return SetAside(min(Fraction(1), times * once.delta), Repeat(once.event, times))
        case Stated(loss=Approx(epsilon=epsilon, delta=delta), note=note):
            return SetAside(delta, Stated(Pure(epsilon), note))
        case Stated(loss=ApproxZCDP(rho=rho, delta=delta), note=note):
            return SetAside(delta, Stated(ZCDP(rho), note))
    for kind in (Pure, Renyi, GDP):
        if _known(event, kind, relation) is not None:
            return SetAside(Fraction(0), event)
    whole = _known(event, Approx, relation) or NEVER
    return SetAside(whole.delta, Stated(Pure(whole.epsilon)))


def _known(event: Event, kind: type[L], relation: Relation) -> L | None:
    try:
        return total(event, kind, relation=relation)
    except (NoProvenRoute, OverflowError):
        return None


def _divergence(event: Event, order: Fraction, relation: Relation) -> Extended:
    """The divergence of an order; infinite where none is known, or only at lower orders."""
    curve = _known(event, Renyi, relation)
    try:
        return math.inf if curve is None else curve.at(order)
    except NoProvenRoute:
        return math.inf


def _few_bits(amount: Extended) -> Extended:
    """Rounds an amount up to a number that is quickly added, many times."""
    if isinstance(amount, float) or amount.denominator.bit_length() <= FEW_BITS:
        return amount
    power = max(0, FEW_BITS + amount.denominator.bit_length() - amount.numerator.bit_length())
    return Fraction(math.ceil(amount * (1 << power)), 1 << power)

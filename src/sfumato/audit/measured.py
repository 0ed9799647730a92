"""What the steps of a recorded run cost, at the distances that were measured, and all of them together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, TypeVar, final

from sfumato.accounting.compose import total
from sfumato.accounting.convert.convert import convert
from sfumato.accounting.events import Event, Noise
from sfumato.accounting.facts.gaussian import exact_discrete_delta
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Loss, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.audit.recorder import Record, RecordedStep
from sfumato.core.grouped_distance import AnyDistance, GroupedDistance
from sfumato.errors import NoProvenRoute, NotInDomain, SfumatoError
from sfumato.exact import Extended, rational_up
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.release.record import How

NUMBERS: dict[type[Loss], dict[str, str]] = {
    Pure: {"ε": "epsilon"},
    Approx: {"ε": "epsilon", "δ": "delta"},
    ZCDP: {"ρ": "rho"},
    BoundedRange: {"η": "eta"},
    GDP: {"μ": "mu"},
    ApproxZCDP: {"ρ": "rho", "δ": "delta"},
}
"""The numbers of a loss: how they are written, and where it holds them."""

L = TypeVar("L", bound=Loss)

SHOWN = (Fraction(1, 10**2), Fraction(1, 10**6), Fraction(1, 10**10))
"""Losses that are curves are compared by their ε at each δ of these."""


@final
@dataclass(frozen=True, eq=False)
class Measured:
    """One step on both sides: how far apart what went in is, what that costs, and what speaks against it."""

    name: str
    gap: AnyDistance | None = None
    loss: Loss | None = None
    event: Event | None = None
    declared: Callable[[AnyDistance], Loss] | None = None
    faults: tuple[str, ...] = ()


def measured_steps(before: Record, after: Record) -> tuple[Measured, ...]:
    """Measures every step that both runs took; answers that an earlier step has paid for count there."""
    pairs = enumerate(zip(before.steps, after.steps, strict=False), start=1)
    named = ((f"{place}. {called(left.act.how)}", left, right) for place, (left, right) in pairs)
    return tuple(_measured(name, left, right) for name, left, right in named)


def called(how: object) -> str:
    """The name of a step: its mechanism, its text, or the first of several."""
    match how:
        case How():
            return how.mechanism
        case str():
            return how
        case (first, *_):
            return called(first)
    return type(how).__name__


def _measured(name: str, left: RecordedStep, right: RecordedStep) -> Measured:
    failed = _failure(left, right)
    faults = () if failed is None else (f"{name}: {failed}",)
    if left.act.of is not None:
        return Measured(name, faults=faults)
    try:
        gap = left.act.distance(left.act.exact, right.act.exact)
    except NotInDomain:
        return Measured(name, faults=(*faults, f"{name}: what goes in is outside of what the step is made for"))
    except Exception:  # what it says may hold data
        return Measured(name, faults=(*faults, f"{name}: what goes in on the two sides has no distance"))
    loss = left.act.loss(gap)
    if right.act.loss(gap) != loss:
        faults = (*faults, f"{name}: how much noise there is depends on the data")
    event = None if left.act.event is None else left.act.event(gap)
    return Measured(name, gap, loss, event, left.act.declared, faults)


def _failure(left: RecordedStep, right: RecordedStep) -> str | None:
    if (left.raised is None) != (right.raised is None):
        return "it fails on one side only"
    return "it fails in another way on the other side" if seen_of(left.raised) != seen_of(right.raised) else None


def unmoved(before: Record, after: Record) -> bool:
    """Tells whether the same went into every step of two runs; of what has no distance nothing is said."""
    pairs = zip(before.steps, after.steps, strict=False)
    moved = (_moved(left, right) for left, right in pairs if left.act.of is None)
    return len(before.steps) == len(after.steps) and not any(moved)


def _moved(left: RecordedStep, right: RecordedStep) -> bool:
    try:
        return size_of(left.act.distance(left.act.exact, right.act.exact)) != 0
    except Exception:
        return False


def seen_of(error: Exception | None) -> tuple[str, str] | None:
    """What an onlooker sees of an error: its kind and its text."""
    if error is None:
        return None
    try:
        return type(error).__name__, str(error)
    except Exception:  # one that cannot be written shows its name
        return type(error).__name__, ""


def numbers_of(loss: Loss) -> dict[str, Extended]:
    """The numbers of a loss by name; of a curve, its ε at several δ."""
    names = NUMBERS.get(type(loss))
    if names is None:
        return {f"ε at δ = {float(delta):g}": convert(loss, Approx, delta=delta).epsilon for delta in SHOWN}
    return {shown: rational_up(getattr(loss, name)) for shown, name in names.items()}


def size_of(gap: AnyDistance) -> Extended:
    """A distance as one number; between parts, and where each key or group moves, the number of rows."""
    size: Any = gap.rows if isinstance(gap, GroupedDistance) else sum(gap) if isinstance(gap, tuple) else gap
    return rational_up(size)


@guarantee(
    claim="a loss that a transcript keeps whose steps keep these, each given the outcomes before it",
    proof="proofs/audit.md#grey-box",
    reviewed="69d0c0e77cbe",
)
def composed(steps: Sequence[Measured], claim: Loss) -> Loss | None:
    """Composes the losses of steps, as a loss of the claim's kind.

    Of several theorems the first that keeps the claim counts; without one, the first that there is; None without any.
    """
    costly = [(step.loss, step.event) for step in steps if step.loss is not None]
    costly = [(loss, event) for loss, event in costly if not _keeps(loss, type(loss).nothing())]
    if _keeps_exactly([event for _, event in costly], claim):
        return claim
    known: list[Loss] = []
    for losses in ([loss for loss, _ in costly], [_gaussian(event) or loss for loss, event in costly]):
        for way in (_each, _by_kind, _by_distribution):
            whole = _attempt(way, losses, claim)
            if whole is not None and _keeps(whole, claim):
                return whole
            known += [] if whole is None else [whole]
    return known[0] if known else None


def _gaussian(event: Event | None) -> GDP | None:
    """The Gaussian loss of Gaussian noise, which composes more tightly than its concentrated one."""
    match event:
        case Noise(noise=DiscreteGaussian()):
            gaussian = total(event, GDP)
            return None if gaussian.mu == math.inf else gaussian
    return None


def _keeps_exactly(events: Sequence[Event | None], claim: Loss) -> bool:
    """Tells whether Gaussian noise on one number, and nothing else, keeps a claim by its exact profile."""
    match events, claim:
        case [Noise(noise=DiscreteGaussian() as noise, shift=shift, coordinates=1)], Approx(epsilon=epsilon) if (
            epsilon != math.inf and shift != math.inf
        ):
            return exact_discrete_delta(noise, math.floor(rational_up(shift)), Fraction(epsilon)) <= claim.delta
    return False


def _keeps(total: Loss, claim: Loss) -> bool:
    try:
        return total.within(claim)
    except NoProvenRoute:  # curves that cannot be compared everywhere are compared by their numbers
        return False


Way = Callable[[Sequence[Loss], Any], Loss]


def _attempt(way: Way, losses: Sequence[Loss], claim: Loss) -> Loss | None:
    try:
        return way(losses, claim)
    except SfumatoError:  # there is no theorem for this way
        return None


def _each(losses: Sequence[Loss], claim: Loss) -> Loss:
    """Restates every loss in the claim's kind, and composes."""
    kind = type(claim)
    return _then((convert(loss, kind) for loss in losses), kind)


def _by_kind(losses: Sequence[Loss], claim: Loss) -> Loss:
    """Composes losses of one kind with each other, and restates each sum; of a δ, what is left is shared evenly."""
    kind = type(claim)
    sums: dict[type[Any], Loss] = {
        own: _then((loss for loss in losses if type(loss) is own), own) for own in dict.fromkeys(map(type, losses))
    }
    if not isinstance(claim, Approx):
        return _then((convert(loss, kind) for loss in sums.values()), kind)
    curved = [loss for own, loss in sums.items() if own not in (Pure, Approx)]
    stated = _then((convert(loss, Approx) for own, loss in sums.items() if own in (Pure, Approx)), Approx)
    delta = (claim.delta - min(claim.delta, stated.delta)) / max(1, len(curved))
    return _then((stated, *(convert(loss, Approx, delta=delta) for loss in curved)), Approx)


def _by_distribution(losses: Sequence[Loss], claim: Approx) -> Loss:
    """Composes the privacy-loss distributions, and restates the whole at the claim's δ."""
    whole = _then((convert(loss, PLD) for loss in losses), PLD)
    return convert(whole, Approx, delta=claim.delta) if type(claim) is Approx else convert(whole, type(claim))


def _then(losses: Iterable[Any], kind: type[L]) -> L:
    parts = list(losses)
    return reduce(lambda spent, loss: spent.then(loss), parts) if parts else kind.nothing()

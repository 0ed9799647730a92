"""Trade-off curves: what a privacy loss leaves to someone who tests which of two neighbours a release came from.

A test that raises false alarms with probability α misses with probability at least f(α). All values here are rounded
down: what is printed is a bound that holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias, final

from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.losses.piecewise_linear import (
    PERFECT,
    Corners,
    Line,
    chained,
    edges,
    envelope,
    height,
    lower_hull,
    product,
    short,
)
from sfumato.accounting.losses.profile import GAUSSIAN_POINTS, Profile, widest_of
from sfumato.accounting.losses.profile_points import Promises, hull
from sfumato.accounting.pld.finite_law import composed
from sfumato.errors import BadArgument
from sfumato.exact import (
    Extended,
    Number,
    Root,
    ball,
    down,
    exp_down,
    exp_up,
    integer,
    log_up,
    lower,
    non_negative,
    probability,
    text,
)
from sfumato.guarantee import guarantee
from sfumato.plain import record

MissCurve: TypeAlias = Callable[[Number], float]
"""Takes a probability of false alarms and gives the least probability of misses, rounded down."""

PAIRS = 2048
"""Products of up to this many pairs of corners are exact."""

STEEPEST = 10_000
"""Promises of a larger ε than this become no lines: exp(ε) would take ever more digits, and nobody sees such a line."""

SHOWN = 6
"""A curve with more corners than this is printed with the first and the last ones only."""


@final
@record("TradeOff", repr=False)
class TradeOff(Loss):
    """f-differential privacy: no test between neighbours with false alarms α has fewer misses than f(α).

    f is piecewise linear and given by its corners (α, β), from α = 0 on: falling, convex and never above 1 − α.

    >>> curve = TradeOff([(0, 1), (0.25, 0.25), (1, 0)])
    >>> curve.at(0.5)
    Fraction(1, 6)
    >>> curve.then(curve).at(0.5)
    Fraction(1, 18)
    """

    points: Corners

    def __init__(self, points: Iterable[tuple[Number, Number]]) -> None:
        object.__setattr__(self, "points", _checked(points))

    @classmethod
    def of(cls, *losses: Pure | Approx | Profile) -> TradeOff:
        """The curve that losses promise together: the largest of their lines.

        >>> TradeOff.of(Approx(0, 0.1)).points[0]
        (Fraction(0, 1), Fraction(9, 10))
        """
        if not losses or not all(isinstance(loss, Pure | Approx | Profile) for loss in losses):
            raise BadArgument("losses", "one or more Pure, Approx or Profile losses", losses)
        parts = [loss if isinstance(loss, Profile) else Profile.of(loss) for loss in losses]
        return cls(corners_of(tuple(promise for part in parts for promise in part.points)))

    @classmethod
    def gaussian(cls, shift: Number | Root, *, points: int = GAUSSIAN_POINTS) -> TradeOff:
        """A curve just below the one between two unit Gaussians at most a shift apart, by tangents.

        >>> 0.1586 < TradeOff.gaussian(1).at(0.5) < 0.158656
        True
        """
        return cls.of(Profile.gaussian(shift, points=points))

    def at(self, false_alarms: Number) -> Fraction:
        """The least rate of misses of any test with a rate of false alarms, exactly."""
        return height(self.points, probability(false_alarms, "the rate of false alarms"))

    def profile(self) -> Profile:
        """The same promise as a privacy profile."""
        return Profile(promises_of(self.points))

    def then(self, other: TradeOff) -> TradeOff:
        self._same(other)
        return TradeOff(composed_corners(self.points, other.points))

    def within(self, limit: TradeOff) -> bool:
        self._same(limit)
        return nowhere_below(self.points, limit.points)

    @classmethod
    def nothing(cls) -> TradeOff:
        return cls(PERFECT)

    @classmethod
    def widest(cls, losses: Sequence[TradeOff], *, count: int = 1) -> TradeOff:
        parts, meeting = cls._read(losses, count)
        return widest_of(parts, meeting, cls.nothing(), lambda some: TradeOff(lowest([one.points for one in some])))

    def group(self, size: int) -> TradeOff:
        whole = integer(size, "size", least=1)
        if whole == 1:
            return self
        half = self.group(whole // 2)
        even = chained(half.points, half.points)
        return TradeOff(chained(even, self.points) if whole % 2 else even)

    def __repr__(self) -> str:
        shown = [f"({text(alpha)}, {text(beta)})" for alpha, beta in self.points]
        return f"TradeOff([{', '.join([*shown[:2], '…', *shown[-2:]] if len(shown) > SHOWN else shown)}])"

    def __str__(self) -> str:
        misses = down(self.at(Fraction(1, 20)))
        return f"misses ≥ {math.floor(misses * 1e4) / 1e4:g} at 5 % false alarms (f-DP)"


@guarantee(
    claim="a piecewise linear curve is nowhere below a convex one if none of its corners is",
    proof="proofs/trade_off.md#within",
    reviewed="df747279e56e",
)
def nowhere_below(corners: Corners, limit: Corners) -> bool:
    """Tells whether one curve is nowhere below another, exactly."""
    return all(height(limit, alpha) <= beta for alpha, beta in corners)


@guarantee(
    claim="the hull of all corners is the largest convex curve below several curves",
    proof="proofs/trade_off.md#within",
    reviewed="64c34c52516a",
)
def lowest(curves: Sequence[Corners]) -> Corners:
    """The largest convex curve that is not above any of several."""
    return lower_hull([corner for corners in curves for corner in corners])


@guarantee(
    claim="f (x) g, exactly where corners are few and short, else by way of the promises that both make",
    proof="proofs/trade_off.md#product",
    reviewed="5fe150aca301",
)
def composed_corners(first: Corners, second: Corners) -> Corners:
    """The curve of two mechanisms together, the second chosen in the light of the first one's answer."""
    if PERFECT in (first, second):
        return second if first == PERFECT else first
    if len(first) * len(second) <= PAIRS and short(first) and short(second):
        return product(first, second)
    return corners_of(composed(promises_of(first), promises_of(second)))


@guarantee(
    claim="(epsilon, delta) gives 1 - delta - exp(epsilon) alpha, and that line's mirror image; rounded down, or left "
    "out where epsilon is large",
    proof="proofs/trade_off.md#profile",
    reviewed="5b628713266d",
)
def corners_of(promises: Promises) -> Corners:
    """The curve that promises (ε, δ) allow."""
    lines: list[Line] = []
    for epsilon, delta in promises:
        if epsilon <= STEEPEST:
            slope = Fraction(exp_up(epsilon))
            lines += [(1 - delta, slope), ((1 - delta) / slope, 1 / slope)]
    return envelope(lines)


@guarantee(
    claim="the line c - s alpha promises (ln s, 1 - c) for s >= 1, and (-ln s, 1 - c/s) for 0 < s < 1; rounded up",
    proof="proofs/trade_off.md#profile",
    reviewed="f08853a76205",
)
def promises_of(corners: Corners) -> Promises:
    """The promises (ε, δ) that a curve makes, one for each edge."""
    promises = [(Fraction(0), max(1 - alpha - beta for alpha, beta in corners))]
    for tall, steep in edges(corners):
        if steep >= 1:
            promises.append((Fraction(log_up(steep)), 1 - tall))
        elif steep > 0:
            promises.append((Fraction(log_up(1 / steep)), 1 - tall / steep))
    return hull(promises)


def _checked(corners: object) -> Corners:
    """Reads corners and refuses what is no trade-off curve."""
    listed = list(corners) if isinstance(corners, Iterable) and not isinstance(corners, str | bytes) else []
    if any(not isinstance(corner, Sequence) or isinstance(corner, str) or len(corner) != 2 for corner in listed):
        raise BadArgument("corners", "pairs (α, β), such as [(0, 0.9), (0.3, 0.3), (0.9, 0)]", corners)
    read = sorted((probability(alpha, "α"), probability(beta, "β")) for alpha, beta in listed)
    if not read or read[0][0] != 0:
        raise BadArgument("corners", "a curve from α = 0 on: write (0, 1) or (0, 1 − δ) first", corners)
    if read[-1][1] != 0:
        raise BadArgument("corners", "a curve down to β = 0: write (1, 0) or (1 − δ, 0) last", corners)
    whole = lower_hull([*read, (Fraction(1), Fraction(0))])
    if any(height(whole, alpha) != beta for alpha, beta in read):
        raise BadArgument("corners", "falling and convex, for every trade-off curve is", corners)
    if any(alpha + beta > 1 for alpha, beta in whole):
        raise BadArgument("corners", "at most 1 − α, for a test that guesses does that well", corners)
    return whole


def trade_off(*losses: Pure | Approx) -> MissCurve:
    """The trade-off curve that a loss guarantees; of several that hold together, the best of their lines.

    >>> trade_off(Pure(0))(0.5)
    0.5
    >>> round(trade_off(Approx(1, 1e-6))(0.2), 7)
    0.4563426
    """
    if not losses or not all(isinstance(loss, Pure | Approx) for loss in losses):
        raise BadArgument("losses", "one or more Pure or Approx losses", losses)

    def curve(false_alarms: Number) -> float:
        rate = probability(false_alarms, "the rate of false alarms")
        return down(max(least_misses(loss, rate) for loss in losses))

    return curve


def gaussian_trade_off(shift: Number) -> MissCurve:
    """The trade-off curve between two unit Gaussians a ``shift`` apart (sensitivity over σ).

    >>> round(gaussian_trade_off(1)(0.5), 7)
    0.1586553
    """
    distance = non_negative(shift, "shift")

    def curve(false_alarms: Number) -> float:
        return down(least_gaussian_misses(distance, probability(false_alarms, "the rate of false alarms")))

    return curve


@guarantee(
    claim="misses >= max(0, 1 - delta - exp(epsilon) rate, exp(-epsilon) (1 - delta - rate))",
    proof="proofs/trade_off.md#approximate",
    reviewed="ac6cb80c28ae",
)
def least_misses(loss: Pure | Approx, rate: Fraction) -> Fraction:
    """The least miss rate of any test with a rate of false alarms, under a loss."""
    if loss.epsilon == math.inf:
        return Fraction(0)
    delta = loss.delta if isinstance(loss, Approx) else Fraction(0)
    epsilon = Fraction(loss.epsilon)
    growth = exp_up(epsilon)
    steep = 1 - delta - (Fraction(growth) * rate if growth != math.inf else Fraction(bool(rate)))
    flat = exp_down(-epsilon) * (1 - delta - rate)
    return max(Fraction(0), steep, flat)


@guarantee(
    claim="misses >= Phi(Phi^-1(1 - rate) - shift)",
    proof="proofs/trade_off.md#gaussian",
    reviewed="9ed3e3ab6cf6",
)
def least_gaussian_misses(shift: Fraction, rate: Fraction) -> Extended:
    """The least miss rate of any test between N(0, 1) and N(shift, 1) with a rate of false alarms."""
    if shift == 0 or rate in (0, 1):
        return 1 - rate
    bound = lower(lambda: ((ball(shift) / ball(2).sqrt() - ball(2 * rate).erfcinv()).erfc()) / 2)
    return max(Fraction(0), bound)

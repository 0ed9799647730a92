"""How far apart two laws are, in every measure of privacy loss: enclosed, from a table of both.

Each function gives a bound from below, which always holds, and one from above, None where outcomes that are not listed
leave it open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import accumulate, pairwise
from typing import TypeAlias, final

from flint import arb

from sfumato.accounting.losses.divergence import Probabilities, max_divergence, renyi
from sfumato.audit.tables import LawPair
from sfumato.exact import BITS, Extended, ball, enclose, endpoints, precision, upper
from sfumato.guarantee import guarantee

Found: TypeAlias = tuple[Extended, Extended | None]
"""A bound from below, and one from above where there is one."""

ORDERS = tuple(Fraction(1, 1 << power) for power in (20, 10, 4, 1)) + tuple(map(Fraction, (1, 3, 7, 15, 63)))
"""Where the search for ρ starts, in orders less 1."""

STEPS, NARROW = 64, 1 + Fraction(1, 10**6)
"""The search for ρ ends after this many further orders, or where the bounds are this close, as a ratio."""

NOTHING = Fraction(1, 1 << 80)
"""Nor is it worth going on where ρ is below this."""


@guarantee(
    claim="at least ln P(y)/Q(y) for one event y; at most the largest, where all outcomes are listed",
    proof="proofs/audit.md#exact",
    reviewed="9331cd99b97f",
)
def pure_epsilon(table: LawPair) -> Found:
    """Encloses the max divergence: the least ε of pure differential privacy, in this direction."""
    low, high = max_divergence(*table.lumped())
    return low, high if table.complete else None


@guarantee(
    claim="D(P || Q) + D(Q || P) of the max divergence: the length of the interval that holds all losses",
    proof="proofs/audit.md#exact",
    reviewed="ecafe446e20b",
)
def loss_range(table: LawPair) -> Found:
    """Encloses the range of the privacy loss: the least η of bounded range."""
    (low, high), (back, top) = pure_epsilon(table), pure_epsilon(table.turned())
    return low + back, None if high is None or top is None else high + top


@guarantee(
    claim="the sum of max(0, P − factor Q) over what is listed; the rest adds at most its mass under P",
    proof="proofs/audit.md#truncated",
    reviewed="35f8c24a4ffb",
)
def uncovered(table: LawPair, factor: arb | None) -> Found:
    """Encloses the part of one law that a factor times the other does not cover; without a factor, however large."""
    with precision(BITS):
        low, _ = endpoints(_excess(*table.lumped(), factor))
        _, high = endpoints(_excess(*table.listed(), factor))
    missed = Fraction(0) if table.rest is None else table.rest.left[1]
    return max(Fraction(0), low), min(Fraction(1), high + missed)


def _excess(left: Probabilities, right: Probabilities, factor: arb | None) -> arb:
    total = ball(0)
    for outcome, mass in left.items():
        if right[outcome].is_zero():
            total += mass
        elif factor is not None:
            total += (mass - factor * right[outcome]).nonnegative_part()
    return total


def delta(table: LawPair, epsilon: Extended) -> Found:
    """Encloses δ at an ε: the hockey-stick divergence."""
    with precision(BITS):
        return uncovered(table, None if epsilon == math.inf else ball(Fraction(epsilon)).exp())


@guarantee(
    claim="at least the divergence of what is listed and one more outcome; at most that where all are listed",
    proof="proofs/audit.md#truncated",
    reviewed="05cbc3c3bfad",
)
def renyi_divergence(table: LawPair, order: Fraction) -> Found:
    """Encloses the Rényi divergence of an order above 1."""
    low, high = renyi(*table.lumped(), order)
    return max(Fraction(0), low), high if table.complete else None


@guarantee(
    claim="the Kullback-Leibler divergence, to which Rényi divergences fall as orders fall to 1",
    proof="proofs/audit.md#zcdp",
    reviewed="fcaf906036cc",
)
def relative_entropy(left: Probabilities, right: Probabilities) -> tuple[Extended, Extended]:
    """Encloses Σ P ln(P / Q), for laws where every outcome is listed and Q gives all that P does."""
    with precision(BITS):
        terms = [mass * (mass / right[outcome]).log() for outcome, mass in left.items() if not mass.is_zero()]
        return enclose(lambda: sum(terms, ball(0)))


@final
@dataclass(frozen=True, order=True)
class Stretch:
    """An interval of orders less 1, from ``start`` to ``end``, with a bound on D/α there; the worst comes first."""

    falling: Extended
    start: Fraction
    end: Extended

    @property
    def bound(self) -> Extended:
        """What D/α does not exceed between the two orders."""
        return -self.falling


@guarantee(
    claim="sup of D/order over all orders above 1: from below at some orders, from above by stretches that cover all",
    proof="proofs/audit.md#zcdp",
    reviewed="b5e6ac7c91d9",
)
def concentrated_rho(table: LawPair, floor: Extended = 0) -> Found:
    """Encloses the least ρ of zCDP in this direction; the upper bound is no sharper than needed beside a floor."""
    left, right = table.lumped()
    if not table.complete:
        orders = [1 + step for step in ORDERS if step > Fraction(1, 1000)]
        return max(renyi_divergence(table, order)[0] / order for order in orders), None
    top = max_divergence(left, right)[1]
    if top == math.inf:
        return (math.inf if max_divergence(left, right)[0] == math.inf else Fraction(0)), math.inf
    search = _Search(lambda order: renyi(left, right, order), Fraction(top))
    search.see(relative_entropy(left, right)[0])
    for step in ORDERS:
        search.ask(step)
    return search.ended(floor)


@final
class _Search:
    """Looks for sup D/α, order by order; ``asked`` holds orders less 1, each with (α − 1) D from above."""

    def __init__(self, divergence: Callable[[Fraction], tuple[Extended, Extended]], top: Fraction) -> None:
        self.divergence, self.top = divergence, top
        self.low: Extended = Fraction(0)
        self.asked: dict[Fraction, Fraction] = {}

    def see(self, bound: Extended) -> None:
        self.low = max(self.low, bound)

    def ask(self, step: Fraction) -> None:
        low, high = self.divergence(1 + step)
        self.see(low / (1 + step))
        self.asked[step] = step * Fraction(min(self.top, high))

    def stretch(self, start: Fraction, end: Extended) -> Stretch:
        if end == math.inf:
            return Stretch(-self.top / (1 + start), start, end)
        last = Fraction(end)
        if start == 0:
            return Stretch(-self.asked[last] / last, start, end)
        return Stretch(-chord_bound(start, self.asked[start], last, self.asked[last]), start, end)

    def ended(self, floor: Extended) -> Found:
        steps = [Fraction(0), *sorted(self.asked)]
        heap = [
            *(self.stretch(start, end) for start, end in pairwise(steps)),
            self.stretch(steps[-1], math.inf),
        ]
        heapify(heap)
        for _ in range(STEPS):
            if heap[0].bound <= max(self.low * NARROW, floor, NOTHING):
                break
            worst = heappop(heap)
            middle = _middle(worst.start, worst.end)
            self.ask(middle)
            heappush(heap, self.stretch(worst.start, middle))
            heappush(heap, self.stretch(middle, worst.end))
        return self.low, max(self.low, heap[0].bound)


def _middle(start: Fraction, end: Extended) -> Fraction:
    """A place between two others, in the middle of their logarithms."""
    if end == math.inf:
        return start * 16
    if start == 0:
        return Fraction(end) / 1024
    near = Fraction(math.sqrt(start * Fraction(end)))
    return near if start < near < end else (start + Fraction(end)) / 2


@guarantee(
    claim="no less than K(s)/(s (1 + s)) for s between two places, where K is convex, from bounds on K there",
    proof="proofs/audit.md#zcdp",
    reviewed="8bbe2f15b589",
)
def chord_bound(start: Fraction, first: Fraction, end: Fraction, second: Fraction) -> Extended:
    """Bounds D/α between two orders, 1 + start and 1 + end, by the chord of (α − 1) D."""
    slope = (second - first) / (end - start)
    offset = first - slope * start
    ends = first / (start * (1 + start)), second / (end * (1 + end))
    if offset >= 0 or slope <= 0:
        return ends[0]
    with precision(BITS):
        peak = (ball(-offset) + ball(offset * offset - offset * slope).sqrt()) / ball(slope)
        if peak < ball(start):
            return ends[0]
        return ends[1] if peak > ball(end) else upper(lambda: ball(slope) / (1 + 2 * peak))


@final
@dataclass(frozen=True)
class Group:
    """Outcomes with ratios P/Q that balls do not tell apart: both masses, and what all ratios are between."""

    mass: arb
    other: arb
    low: Extended
    high: Extended
    single: bool = True

    def merged(self, more: Group) -> Group:
        """Adds outcomes to the group; of those that Q never gives, the ratios are equal for certain."""
        equal = self.other.is_zero() and more.other.is_zero()
        low, high = min(self.low, more.low), max(self.high, more.high)
        return Group(self.mass + more.mass, self.other + more.other, low, high, equal)


@guarantee(
    claim="the least mu for which the curve is nowhere below that of two Gaussians: the largest of z(1 − a) − z(b) "
    "over its corners (a, b); from above, over the corners of a line that is nowhere above the curve",
    proof="proofs/audit.md#gaussian",
    reviewed="a119b73e20dd",
)
def gaussian_mu(table: LawPair) -> Found:
    """Encloses the least μ of Gaussian differential privacy in this direction."""
    low: Extended = Fraction(0)
    high: Extended = Fraction(0)
    with precision(BITS):
        groups = _groups(table)
        slack = ball(0) if table.rest is None else ball(table.rest.left[1] - table.rest.left[0])
        left = list(accumulate((group.mass for group in reversed(groups)), initial=slack))[::-1]
        alarms = ball(0)
        for place, group in enumerate(groups[:-1]):
            alarms += group.other
            low = max(low, _shift(alarms, left[place + 1])[0])
            corner = _lowered_corner(left[place + 1], group, groups[-1] if place == len(groups) - 2 else None)
            high = max(high, math.inf if corner is None else _shift(alarms, corner)[1])
        if len(groups) == 1:
            high = _only(groups[0])
    return low, high if table.complete else None


def _lowered_corner(misses: arb, group: Group, last: Group | None) -> arb | None:
    """Lowers the corner after a group to where the line ends that falls as steeply as any outcome of the group.

    Before the last group, the corner is also no higher than the line that falls as gently as any outcome of that one.
    """
    if group.single:
        height = misses
    elif group.high == math.inf:
        return None
    else:
        height = misses + group.mass - ball(Fraction(group.high)) * group.other
    return height if last is None or last.single else height.min(ball(Fraction(last.low)) * last.other)


def _only(group: Group) -> Extended:
    """Bounds μ where no two ratios are told apart, by the one corner of the steepest and the gentlest line."""
    if group.single or group.low == group.high:
        return Fraction(0)
    if group.high == math.inf:
        return math.inf
    low, high = Fraction(group.low), Fraction(group.high)
    alarms = (1 - low) / (high - low)
    return _shift(ball(alarms), ball(low * (1 - alarms)))[1]


def _shift(alarms: arb, misses: arb) -> tuple[Extended, Extended]:
    """Encloses z(1 − alarms) − z(misses), the shift between two Gaussians that a test with these errors needs."""
    if (alarms.is_zero() and misses < 1) or (misses.is_zero() and alarms < 1):
        return math.inf, math.inf
    if not (0 < alarms < 1 and 0 < misses < 1):
        return Fraction(0), math.inf
    return enclose(lambda: ball(2).sqrt() * ((2 * alarms).erfcinv() + (2 * misses).erfcinv()))


def _groups(table: LawPair) -> list[Group]:
    """The outcomes by falling ratio P/Q; those with an uncertain order stand together."""
    groups: list[Group] = []
    for group in sorted(_ratios(table), key=lambda group: group.high, reverse=True):
        if groups and group.high >= groups[-1].low:
            groups[-1] = groups[-1].merged(group)
        else:
            groups.append(group)
    return groups


def _ratios(table: LawPair) -> Iterator[Group]:
    """Each outcome that either law gives, with what its ratio is between."""
    left, right = table.lumped()
    for outcome, mass in left.items():
        other_mass = right[outcome]
        if not (mass.is_zero() and other_mass.is_zero()):
            low, high = (math.inf, math.inf) if other_mass.is_zero() else endpoints(mass / other_mass)
            yield Group(mass, other_mass, max(Fraction(0), low), high)

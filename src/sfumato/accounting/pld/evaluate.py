"""Brackets for δ(ε) and ε(δ) of a composition of dominating pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

from flint import arb

from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.pld.crossing import crossing
from sfumato.accounting.pld.inverted_brackets import inverted_delta, inverted_epsilon
from sfumato.accounting.pld.lattice import BITS, Law, lattice_law, profile_values
from sfumato.accounting.pld.pairs.pair import Lines, Pair
from sfumato.accounting.pld.pairs.sampled import SURE
from sfumato.accounting.pld.rounding_correction import MOST_COINS, Coins, coins, unspread
from sfumato.accounting.pld.saddle_point import Sketch, Sketches, cells, reach, sketch, tilt_for_delta, tilt_for_epsilon
from sfumato.accounting.pld.tilted_composition import Composed, composed, delta_bounds
from sfumato.errors import NoProvenRoute
from sfumato.exact import Extended, ball, common_step, endpoints, precision
from sfumato.guarantee import guarantee

Composition = Sequence[tuple[Pair, int]]

TOLERANCE = 1e-4
"""The width of a bracket for ε that is aimed at, relative to ε; a rule of thumb chooses the lattice for it."""

MOST_PLACES = 1 << 20
"""No window has more places than this: 16 MiB for each array of complex numbers."""

SMOOTH, LOOSE = 2.5, 1.5
"""How much finer than by the rule of thumb smooth laws are cut, and others put on the lattice; found by trial."""

GENTLE = 0.75
"""The share of the saddle point's tilt that is used: little sharpness is lost, and rare large losses stay rare."""

FAR = 10**9
"""No larger losses than this are put on a lattice, nor ε asked for there: beyond it balls blur."""

PLAIN = Fraction(1, 1 << 70)
"""Down to this δ one use of one pair is read off its profile."""

RAREST = 1e-280
"""A tilt is sought for no smaller δ than this."""

TAIL = 1e-12
"""Sketches reach to losses that the mechanism exceeds with this probability, relative to the wanted δ and all uses."""


@final
@dataclass(frozen=True)
class Plan:
    """How a question will be answered: the tilt, the lattice and the window, and how finely each pair is cut."""

    tilt: float
    step: Fraction
    start: int
    size: int
    extras: tuple[Fraction, Fraction]
    added: float


def planned(sketches: Sketches, composition: Composition, tilt: float, width: float) -> Plan | None:
    """Chooses lattice and window for a tilt and the width that the bracket for ε should have.

    Gives none where the losses are beyond what floats can steer.
    """
    mean = sketches.log_moment(tilt)[1]
    below, above = reach(sketches, tilt, sign=-1), reach(sketches, tilt, sign=1)
    # Variance added by joining the dots moves ε by about tilt/2 times as much.
    added = width / max(tilt, 0.1)
    uses = sum(count for pair, count in composition)
    loose = sum(count for pair, count in composition if not pair.smooth)
    fine = math.sqrt(6 * added / (SMOOTH * uses))
    if loose:
        fine = min(fine, math.sqrt(added / (LOOSE * loose)))
    # A law taken whole needs room for what rounding outwards adds to each use.
    margins = [(4 * uses if extra == 0 else 4) * fine for _, extra in (below, above)]
    span = below[0] + above[0] + sum(margins)
    if not (math.isfinite(mean) and 0 < span < math.inf and fine > 0) or sketches.farthest() > FAR:
        return None
    step = _aligned(composition, fine, span) or Fraction(span / (min(MOST_PLACES, _power_above(span / fine)) - 4))
    start = math.floor(Fraction(mean - below[0] - margins[0]) / step) - 2
    size = min(MOST_PLACES, _power_above(float(Fraction(span) / step) + 4))
    return Plan(tilt, step, start, size, (Fraction(below[1]), Fraction(above[1])), added / SMOOTH)


def _power_above(count: float) -> int:
    return 1 << max(4, math.ceil(math.log2(min(count, 2.0 * MOST_PLACES))))


def _aligned(composition: Composition, fine: float, span: float) -> Fraction | None:
    """A step on which all losses with a mass of their own lie, if there is one that is not too small."""
    anchors = [pair.anchor for pair, _ in composition if not pair.smooth]
    known = [anchor for anchor in anchors if anchor is not None]
    if not known or len(known) < len(anchors):
        return None
    common = common_step(*known)
    places = Fraction(span) / common + 4
    if places > MOST_PLACES:
        return None
    if all(not pair.smooth and pair.pitch is not None for pair, _ in composition):
        return common  # every law is taken as it is, which no finer lattice improves
    return common / max(1, min(math.floor(common / Fraction(fine)), math.floor(MOST_PLACES / places)))


def law_of(pair: Pair, part: Sketch, plan: Plan, share: float) -> Law:
    """Puts a pair, to which belongs a share of the variance, on the lattice of a plan."""
    pitch, anchor = pair.pitch, pair.anchor
    if pair.smooth or (pitch is None and anchor is not None and (anchor / plan.step).denominator == 1):
        added = plan.added * share / part.count
        ends = () if anchor is None else (-int(anchor / plan.step), int(anchor / plan.step))
        places = sorted({0, *ends, *cells(part, plan.tilt, added, float(plan.step))})
        return lattice_law(pair, places, plan.step, anchored=not pair.smooth)
    stride = 0 if pitch is None or (pitch / plan.step).denominator > 1 else int(pitch / plan.step)
    unit = plan.step * max(1, stride)
    low, high = float(Fraction(float(part.losses[0])) / unit), float(Fraction(float(part.losses[-1])) / unit)
    first = (round(low) if stride else math.floor(low)) - 1
    last = (round(high) if stride else math.ceil(high)) + 1
    if (last - first) * max(1, stride) > 4 * MOST_PLACES or last - first > MOST_PLACES:
        raise NoProvenRoute(
            "the losses of a pair lie too far apart for one lattice. Account in ZCDP, Renyi or Approx instead."
        )
    places = [place * max(1, stride) for place in range(first, last + 1)]
    return lattice_law(pair, places, plan.step, aligned=stride > 0)


def compose_on(composition: Composition, sketches: Sketches, plan: Plan) -> Answer:
    """Composes all pairs on the lattice of a plan."""
    with precision(BITS):
        shares = sketches.shares(plan.tilt)
        laws = [
            (law_of(pair, part, plan, share), part.count)
            for (pair, _), part, share in zip(composition, sketches.parts, shares, strict=True)
        ]
    law = composed(laws, step=plan.step, tilt=Fraction(plan.tilt), start=plan.start, size=plan.size, extras=plan.extras)
    with precision(BITS):
        return Answer(law, coins(law.loose, law.step) if 0 < law.loose <= MOST_COINS else None)


def sketched(composition: Composition, delta: float) -> Sketches:
    """Draws the rough laws of all pairs."""
    uses = max(1, sum(count for _, count in composition))
    with precision(64):
        return Sketches([sketch(pair, count, max(RAREST, delta * TAIL / uses)) for pair, count in composition])


def _single(composition: Composition) -> bool:
    return len(composition) == 1 and composition[0][1] == 1


def scale_of(sketches: Sketches, tilt: float) -> float:
    """About the ε that a tilt is for, and not much less than the spread of the loss."""
    _, mean, spread = sketches.log_moment(tilt)
    return max(mean, math.sqrt(spread) / 4)


@guarantee(
    claim="at every epsilon from the sum of the largest finite losses on, delta is the chance of an infinite loss",
    proof="proofs/pairs.md#largest",
    reviewed="d644e3985ef5",
)
def end_of(composition: Composition) -> tuple[Fraction, Fraction, Fraction] | None:
    """An ε that no finite loss exceeds, and bounds of the δ from there on; None where there is no such ε."""
    ends = [(pair.largest, count) for pair, count in composition]
    known = [(end, count) for end, count in ends if end is not None and end < SURE]
    if len(known) < len(ends):
        return None
    with precision(BITS):
        kept = arb(1)
        for pair, count in composition:
            kept *= (1 - pair.lines()(arb(SURE)).here) ** count
        low, high = endpoints(1 - kept)
    last = max(Fraction(0), sum((end * count for end, count in known), Fraction(0)))
    return last, max(Fraction(0), Fraction(low)), min(Fraction(1), Fraction(high))


@guarantee(
    claim="delta(0) is at most the sum of the total variations",
    proof="proofs/pairs.md#largest",
    reviewed="84a849f8349b",
)
def total_variation(composition: Composition) -> Extended:
    """Bounds δ(0), which is what no test can gain over guessing."""
    with precision(BITS):
        one = arb(0).exp()
        heights = [(profile_values([pair.lines()(arb(0))], [one])[0], count) for pair, count in composition]
        return endpoints(sum((count * height for height, count in heights), arb(0)))[1]


@guarantee(
    claim="the profile of one pair itself",
    proof="proofs/pairs.md#once",
    reviewed="2ddfa68a71b2",
)
def once(lines: Lines, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds δ(ε) of one use of one pair, by its lines, with no lattice in between."""
    with precision(BITS):
        ratio = ball(epsilon).exp()
        low, high = endpoints(profile_values([lines(ball(epsilon))], [ratio])[0])
    return max(Fraction(0), Fraction(low)), Fraction(min(Fraction(1), high))


@lru_cache(maxsize=16)
def prepared(pair: Pair) -> Lines:
    """Prepares the lines of a pair, once for many questions."""
    with precision(BITS):
        return pair.lines()


def epsilon_once(pair: Pair, delta: Fraction) -> Bracket:
    """Encloses ε(δ) of one use of one pair."""
    lines, hints = prepared(pair), pair.hints(max(float(delta), RAREST))
    start, scale = max(0.0, hints[-1]), (hints[-1] - hints[0]) / 8
    upper = crossing(lambda epsilon: once(lines, epsilon)[1], delta, start=start, scale=scale)[1]
    lower = crossing(lambda epsilon: once(lines, epsilon)[0], delta, start=start, scale=scale)[0]
    return Bracket(lower, upper)


def delta_bracket(composition: Composition, epsilon: Fraction, *, tolerance: float = TOLERANCE) -> Bracket:
    """Encloses δ(ε)."""
    end = end_of(composition)
    if end is not None and epsilon >= end[0]:
        return Bracket(end[1], end[2])
    if _single(composition) and epsilon < FAR:
        return Bracket(*once(prepared(composition[0][0]), epsilon))
    highest = Fraction(min(Fraction(1), total_variation(composition)))
    inverted = inverted_delta(composition, epsilon, highest, tolerance=tolerance)
    if inverted is not None:
        return inverted
    sketches = sketched(composition, 1e-20)
    steep = tilt_for_epsilon(sketches, float(min(epsilon, Fraction(FAR))))
    plan = planned(sketches, composition, GENTLE * steep, tolerance * scale_of(sketches, steep))
    if plan is None:
        return Bracket(Fraction(0), highest)
    answer = compose_on(composition, sketches, plan)
    return Bracket(answer.below(epsilon), min(highest, answer.above(epsilon)))


@final
@dataclass(frozen=True)
class Answer:
    """A composed law, ready to bound δ at any ε inside its window."""

    law: Composed
    coins: Coins | None

    def below(self, epsilon: Fraction) -> Extended:
        """A lower bound of δ(ε)."""
        if self.law.loose and self.coins is None:
            return Fraction(0)
        with precision(BITS):
            certain = endpoints(self.law.infinite[1] - self.law.short)[0]
            low = max(Fraction(0), delta_bounds(self.law, epsilon)[0] + certain)
            if self.coins is not None:
                low = unspread(self.coins, low, lambda move: self.above(epsilon - move))
        return min(Fraction(1), low)

    def above(self, epsilon: Fraction) -> Extended:
        """An upper bound of δ(ε)."""
        with precision(BITS):
            possible = min(Fraction(1), max(Fraction(0), endpoints(self.law.infinite[0])[1]))
        return min(Fraction(1), delta_bounds(self.law, epsilon)[1] + possible)


def epsilon_bracket(
    composition: Composition, delta: Fraction, *, tolerance: float = TOLERANCE, near: Bracket | None = None
) -> Bracket:
    """Encloses ε(δ), the least ε at which δ(ε) is at most δ; it is found sooner near where it is known to lie."""
    highest = total_variation(composition)
    if highest <= delta:
        return Bracket(Fraction(0), Fraction(0))
    end = end_of(composition)
    if _single(composition) and delta > PLAIN:
        bracket = epsilon_once(composition[0][0], delta)
        return Bracket(bracket.lower, min(bracket.upper, end[0])) if end is not None and end[2] <= delta else bracket
    apart = Fraction(min(Fraction(1), highest))
    inverted = inverted_epsilon(composition, delta, apart, tolerance=tolerance, near=near)
    bracket = inverted if inverted is not None else _on_lattice(composition, delta, tolerance)
    if end is not None and end[2] <= delta:
        return Bracket(bracket.lower, min(bracket.upper, end[0]))
    return bracket


def _on_lattice(composition: Composition, delta: Fraction, tolerance: float) -> Bracket:
    """Encloses ε(δ) by composing lattice laws."""
    sketches = sketched(composition, float(delta))
    bracket = _sought(composition, sketches, delta, delta, tolerance)
    if bracket.upper == math.inf:
        # Much of δ may be spent on infinite losses: what is left for the others calls for a steeper tilt.
        with precision(BITS):
            spent = sum(count * float(pair.lines()(arb(SURE)).here.mid()) for pair, count in composition)
        if 0 < spent < delta:
            bracket = _sought(composition, sketches, delta, delta - Fraction(spent), tolerance)
    return bracket


def _sought(composition: Composition, sketches: Sketches, delta: Fraction, aim: Fraction, tolerance: float) -> Bracket:
    """Encloses ε(δ) with a tilt aimed at a δ that may be another."""
    steep = tilt_for_delta(sketches, max(float(aim), RAREST))
    tilt = GENTLE * steep
    plan = planned(sketches, composition, tilt, tolerance * scale_of(sketches, steep))
    if plan is None:
        return Bracket(Fraction(0), math.inf)
    answer = compose_on(composition, sketches, plan)
    _, mean, spread = sketches.log_moment(tilt)
    scale = math.sqrt(spread)
    upper = crossing(answer.above, delta, start=mean, scale=scale)[1]
    begin = mean if upper == math.inf else float(upper)
    lower = crossing(answer.below, delta, start=begin, scale=scale)[0]
    if lower > upper:
        raise RuntimeError("the two ends of a bracket contradict each other; please report the plan")
    return Bracket(lower, upper)

"""How often a unit comes up in draws with replacement, and what that costs: the sums of one theorem."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import arb

from sfumato.accounting.amplify.binomial import Counted, binomial_span
from sfumato.errors import NoProvenRoute
from sfumato.exact import Extended, ball, endpoints, precision, up, upper
from sfumato.guarantee import guarantee

SPAN_BITS = 90
"""Numbers of draws outside a span that holds all but about 2^−this are bounded, not summed up."""

NEARLY = Fraction(1, 1 << 40)
"""A chance to be drawn that is this close to 1 is taken for 1."""

OFTEN_BITS, RARE = 140, Fraction(1, 1 << 120)
"""Numbers of draws are looked at up to one that has a chance of less than this to be exceeded."""

WIDEST = 10**5
"""No more numbers of draws than this are listed."""

MOST_PARTS = 24
"""Numbers of draws are told apart in no more parts than this."""

FINE = 192
"""Bits of precision of the sums, of which logarithms of factorials may take many."""

FIRST_SLACK, MORE_SLACK = Fraction(1, 1 << 40), 16
"""How far beyond a solution in floats one is tried first, relatively, and by how much further each time after that."""


def grown_less_one(epsilon: Fraction, draws: int, share: Fraction) -> arb:
    """Encloses E e^(kε) − 1 for a unit that is drawn k times."""
    grown: arb = (draws * (ball(epsilon).expm1() * ball(share)).log1p()).expm1()
    return grown


@guarantee(
    claim="sum over k of P(k) (1 - e^(-k epsilon)) (R - e^(k epsilon))+ for R = 1 + excess, or more",
    proof="proofs/amplification.md#with-replacement",
    reviewed="69a33ea1df67",
)
def spared(excess: Fraction, epsilon: Fraction, draws: int, share: Fraction) -> arb:
    """Encloses an upper bound on what is paid twice where a unit is drawn k times and R exceeds e^(kε)."""
    most = min(draws, math.floor(Fraction(upper(lambda: ball(excess).log1p())) / epsilon))
    if most < 1:
        return arb(0)
    if share == 1:
        return _spared_at(draws, excess, epsilon) if most == draws else arb(0)
    drawn = Counted(draws, ball(share).log(), ball(1 - share).log(), binomial_span(draws, up(share), SPAN_BITS))
    low, high = drawn.span
    mean = arb(0)
    if max(1, low) <= min(most, high):
        for count, chance in drawn.masses(max(1, low), min(most, high)):
            mean += chance * _spared_at(count, excess, epsilon)
    return mean + ball(excess) * ((drawn.below() if low > 1 else arb(0)) + (drawn.above() if high < most else arb(0)))


def _spared_at(count: int, excess: Fraction, epsilon: Fraction) -> arb:
    grown = ball(count * epsilon).expm1()
    part: arb = grown / (1 + grown) * (ball(excess) - grown).nonnegative_part()
    return part


def overshoot(excess: Fraction, epsilon: Fraction, draws: int, share: Fraction) -> Extended:
    """E e^(kε) − R + Σ P(k) (1 − e^(−kε)) (R − e^(kε))₊ at R = 1 + excess, rounded up; falls with R."""
    return upper(
        lambda: grown_less_one(epsilon, draws, share) - ball(excess) + spared(excess, epsilon, draws, share), FINE
    )


def least_excess(epsilon: Fraction, draws: int, share: Fraction) -> Fraction | None:
    """Finds about the least R − 1 at which `overshoot` is certainly not positive; None where floats cannot tell."""
    start = up(upper(lambda: grown_less_one(epsilon, draws, share)))
    if start == math.inf or overshoot(Fraction(start), epsilon, draws, share) <= 0:
        return None if start == math.inf else Fraction(start)
    near = near_excess(start, up(epsilon), draws, up(share))
    slack = FIRST_SLACK
    while near < math.inf and slack <= 1:
        tried = up(Fraction(near) * (1 + slack))
        if tried < math.inf and overshoot(Fraction(tried), epsilon, draws, share) <= 0:
            return Fraction(tried)
        slack *= MORE_SLACK
    return None


def near_excess(start: float, epsilon: float, draws: int, share: float) -> float:
    """Solves for R − 1 in floats, from a number that is not above it; promises nothing."""
    if share == 1:
        return math.expm1(draws * epsilon) if draws * epsilon < 700 else math.inf
    low, high = binomial_span(draws, share, SPAN_BITS)
    counts = np.arange(low, high + 1, dtype=float)
    steps = np.log((draws - counts[:-1]) / (counts[:-1] + 1)) + math.log(share) - math.log1p(-share)
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(logs - logs.max())
    grown = np.expm1(np.minimum(counts * epsilon, 700.0))
    chances /= chances.sum()
    # What is solved is convex and falls: tangents from the left never lead beyond the solution. No term is negative.
    excess = start
    for _ in range(200):
        kept = np.where(grown < excess, chances / (1 + grown), chances)
        following = float((kept * grown).sum()) / float(kept.sum())
        if following <= excess * (1 + 2.0**-50):
            break
        excess = following
    return excess


@guarantee(
    claim="a chance not below that to be drawn, and a law of how often, not below that of a unit that is drawn, in "
    "stochastic order; what the weights leave of 1 is for all larger numbers",
    proof="proofs/amplification.md#drawn-often",
    reviewed="152fe6eb75e9",
)
def drawn_often(draws: int, share: Fraction) -> tuple[Fraction, tuple[tuple[int, Fraction], ...]]:
    """Bounds how often a unit comes up: the chance that it does, and then numbers of draws with their weights."""
    if share == 1 or draws == 1:
        return (share if draws == 1 else Fraction(1)), ((draws, Fraction(1)),)
    low, high = binomial_span(draws, up(share), OFTEN_BITS)
    if high - low > WIDEST:
        raise NoProvenRoute(
            "a unit comes up in too many different numbers of draws to list. Sample without replacement."
        )
    with precision(FINE):
        drawn = Counted(draws, ball(share).log(), ball(1 - share).log(), (low, high))
        ever = -(draws * ball(-share).log1p()).expm1()
        beyond, above = drawn.above(), {}
        for count, chance in reversed(list(drawn.masses(max(1, low), high))):
            above[count] = min(Fraction(1), Fraction(endpoints(beyond / ever)[1]))
            beyond += chance
        rate = Fraction(endpoints(ever)[1])
    places = [count for count in sorted(above) if above[count] > RARE]
    last = min(high, places[-1] + 1) if places else max(1, low)
    chances, before = [], Fraction(1)
    for count in (*places[:: -(-len(places) // MOST_PARTS) or 1], last):
        if above[count] < before:
            chances.append((count, before - above[count]))
            before = above[count]
    return (rate if rate < 1 - NEARLY else Fraction(1)), tuple(chances)

"""How often guesses about canaries can be right: bounds for (ε, δ) and for whole curves, and their inverses.

After Mahloujifar, Melis and Chaudhuri, "Auditing f-differential privacy in one run", 2024 (arXiv 2410.22235); the form
here, with one line above the curve, is proved in proofs/audit.md#one-run-curve.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sfumato.accounting.facts.gaussian import gaussian_delta
from sfumato.exact import Extended, ball, exp_up, log_down, upper
from sfumato.guarantee import guarantee

HALVINGS = 40
"""Of an interval, until what is looked for is known; what comes out is then checked exactly."""

SAFE = Fraction(10**7 - 1, 10**7)
"""What floats have found is made smaller by this before it is checked."""

LINES, STEEPEST = 24, 10.0
"""So many lines above a Gaussian's curve are tried, up to this ε; no larger μ is looked for either."""

MOST = 40.0
"""No larger ε is looked for."""


def chance_of_guesses(right: int, guesses: int, count: int, odds: Fraction, delta: Fraction) -> Extended:
    """Bounds how probable ``right`` of ``guesses`` guesses about some of ``count`` canaries are.

    >>> round(float(chance_of_guesses(1, 1, 1, Fraction(3), Fraction(0))), 9)  # odds of 3 to 1
    0.75
    """
    if right <= odds * (guesses - right):
        return Fraction(1)  # no more are right than odds like that explain
    return min(Fraction(1), upper(lambda: _chance(right, guesses, ball(odds), ball(count * delta))))


def _chance(right: int, guesses: int, odds: Any, excess: Any) -> Any:
    """The bound itself, in floats or in balls; ``excess`` is δ for all canaries together."""
    return _with(_weight(right, guesses, odds), right, guesses, odds, excess)


@guarantee(claim="gamma_v of the theorem", proof="proofs/audit.md#one-run-curve", reviewed="98f577b355df")
def _weight(right: int, guesses: int, odds: Any) -> Any:
    """γ of the theorem."""
    weight = odds * 0
    for place in range(right):
        weight = (1 + place * weight / odds) / (guesses - place)
    return weight


@guarantee(
    claim="at least P(so many right guesses, or more) in a run that is (ln odds, delta)-private for each canary",
    proof="proofs/audit.md#one-run-curve",
    reviewed="692d5272b43b",
)
def _with(weight: Any, right: int, guesses: int, odds: Any, excess: Any) -> Any:
    """The right side of the theorem."""
    return (1 + excess * weight / odds) / (1 + weight * (right / odds - (guesses - right)))


def shown_epsilon(right: int, guesses: int, count: int, missed: Fraction, delta: Fraction) -> Extended:
    """The largest ε for which so many right guesses would have a probability of at most ``missed``; 0 if none.

    >>> round(float(shown_epsilon(122, 128, 10_000, Fraction(5, 100), Fraction(1, 10**5))), 2)
    2.29
    """
    most = _most(right, guesses)
    excess = float(count * delta)
    near = _largest(lambda epsilon: _chance(right, guesses, math.exp(epsilon), excess) <= missed, most)
    odds = Fraction(math.exp(near)) * SAFE
    return (
        log_down(odds) if odds > 1 and chance_of_guesses(right, guesses, count, odds, delta) <= missed else Fraction(0)
    )


def shown_shift(right: int, guesses: int, count: int, missed: Fraction) -> Fraction:
    """The largest μ for which a run that is μ-Gaussian private shows so many right guesses with at most ``missed``.

    >>> round(float(shown_shift(122, 128, 10_000, Fraction(5, 100))), 2)
    0.65
    """
    steepest = Fraction(min(_most(right, guesses), STEEPEST))
    lines = [steepest * place / (LINES + 1) for place in range(1, LINES + 1)] if steepest else []
    weights = [(line, math.exp(line), _weight(right, guesses, math.exp(line))) for line in lines]

    def best(shift: float) -> tuple[float, Fraction]:
        """The least bound, and the line that gives it."""
        return min(
            (_with(weight, right, guesses, odds, count * _gaussian(float(line), shift)), line)
            for line, odds, weight in weights
        )

    near = _largest(lambda shift: best(shift)[0] <= missed, STEEPEST) if lines else 0.0
    shift = Fraction(near) * SAFE
    if shift == 0:
        return shift
    line = best(near)[1]
    delta = gaussian_delta(line, scale=1 / shift)
    sure = chance_of_guesses(right, guesses, count, Fraction(exp_up(line)), delta) <= missed
    return shift if sure else Fraction(0)


def _most(right: int, guesses: int) -> float:
    """The ε whose odds are those of the right guesses: no larger one can be shown."""
    wrong = guesses - right
    return max(0.0, math.log(right / wrong)) if wrong and right else MOST * bool(right)


def _gaussian(epsilon: float, shift: float) -> float:
    """About δ(ε) of Gaussian privacy: to look for, not to rely on."""
    here, there = epsilon / shift - shift / 2, epsilon / shift + shift / 2
    return max(0.0, (math.erfc(here / math.sqrt(2)) - math.exp(epsilon) * math.erfc(there / math.sqrt(2))) / 2)


def _largest(holds: Callable[[float], bool], most: float) -> float:
    """The largest number for which something holds, about, where it holds for all smaller ones; 0 if for none."""
    low, high = 0.0, most
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low

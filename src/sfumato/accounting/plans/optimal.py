"""Optimal composition: the least (ε, δ) that any mechanisms with given losses keep together, and no bound on it.

Every (ε, δ)-private mechanism is a post-processing of one response: with probability δ it tells the truth openly, else
it tells the truth with odds exp(ε) : 1. So the composition of such responses is the worst of all compositions, and its
curve is a finite sum, evaluated here with balls. All answers are rounded up.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from flint import arb

from sfumato.accounting.facts.gaussian import TINY, unit_bounds
from sfumato.accounting.losses.amounts import total
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.plans.search import greatest_integer
from sfumato.accounting.pld.binomial_sums import lower_sum
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import (
    BITS,
    Extended,
    Number,
    ball,
    common_step,
    integer,
    lower,
    non_negative,
    precision,
    probability,
    upper,
)
from sfumato.guarantee import guarantee

SHARPNESS = Fraction(1, 1 << 64)
"""A δ is worked out until it is known to this relative error."""

MOST_BITS = 1 << 14
"""Beyond this precision a δ is taken as it stands."""

MOST_TERMS = 1_000_000
"""Sums of more terms than this are left to privacy-loss distributions."""

EXACT_BITS = 1 << 16
"""Up to about this many bits the probability of no open answer is written out as a rational."""


class Tails(NamedTuple):
    """The probability of the losses above some point, under both neighbours."""

    here: arb
    there: arb


def optimal_delta(epsilon0: Number, *, count: int, epsilon: Number, delta0: Number = 0) -> Fraction:
    """The least δ at ε that any ``count`` mechanisms, each (ε₀, δ₀)-private, keep together.

    >>> round(float(optimal_delta(0.1, count=100, epsilon=4)), 9)
    3.4223e-05
    """
    step, leak = non_negative(epsilon0, "epsilon0"), probability(delta0, "delta0")
    return exact_optimal_delta(step, integer(count, "count", least=0), non_negative(epsilon, "epsilon"), leak)


def optimal_epsilon(epsilon0: Number, *, count: int, delta: Number, delta0: Number = 0) -> Extended:
    """The least ε at δ that any ``count`` mechanisms, each (ε₀, δ₀)-private, keep together; infinite if none.

    >>> round(float(optimal_epsilon(0.1, count=100, delta=1e-6)), 6)
    4.774568
    """
    step, leak = non_negative(epsilon0, "epsilon0"), probability(delta0, "delta0")
    return exact_optimal_epsilon(step, integer(count, "count", least=0), probability(delta, "delta"), leak)


@guarantee(
    claim="delta = 1 - (1 - delta0)^k (1 - sum over (k - 2l) epsilon0 > epsilon of P_l - exp(epsilon) Q_l), rounded up",
    proof="proofs/approx_composition.md#homogeneous",
    reviewed="700d720a0538",
)
def exact_optimal_delta(step: Fraction, count: int, epsilon: Fraction, leak: Fraction) -> Fraction:
    """δ(ε) of as many responses as there are mechanisms."""
    if leak == 1 and count:
        return Fraction(1)
    last = _last_above(step, count, epsilon)
    if last is None:
        return open_answers(Counter({leak: count}))
    bits = BITS
    while True:
        with precision(bits):
            tails = binomial_tails(step, count, last, bits)
            stay = count * (-ball(leak)).log1p()
            finite = tails.here - ball(epsilon).exp() * tails.there
            low, high = unit_bounds(stay.exp() * finite - stay.expm1())
        if bits >= MOST_BITS or high == TINY or (low > 0 and high - low <= low * SHARPNESS):
            return high
        bits *= 2


@guarantee(
    claim="epsilon = the greatest over m of ln((A_m - d) / B_m), d = 1 - (1 - delta) / (1 - delta0)^k, rounded up",
    proof="proofs/approx_composition.md#homogeneous-inverse",
    reviewed="16e096b9d9bc",
)
def exact_optimal_epsilon(step: Fraction, count: int, delta: Fraction, leak: Fraction) -> Extended:
    """ε(δ) of as many responses as there are mechanisms."""
    free = _free(leak, count, delta)
    if free < 0:
        return math.inf
    if free == 0:
        return count * step
    if count * step <= 2 * free or exact_optimal_delta(step, count, Fraction(0), Fraction(0)) <= free:
        return Fraction(0)

    def kept(place: int) -> bool:
        return exact_optimal_delta(step, count, (count - 2 * place) * step, Fraction(0)) <= free

    last = greatest_integer(kept, low=0, high=count // 2)
    bits = BITS + 2 * count.bit_length()

    def crossing() -> arb:
        tails = binomial_tails(step, count, last, bits)
        return ((tails.here - ball(free)) / tails.there).log()

    # The curve may reach `free` at the next kink itself, too close for balls to tell.
    return min((count - 2 * last) * step, max(upper(crossing, bits), (count - 2 * last - 2) * step, Fraction(0)))


def _last_above(step: Fraction, count: int, epsilon: Fraction) -> int | None:
    """How many answers of ``count`` may at most be lies for the loss (count − 2·lies)·step to be above ε."""
    if step == 0 or epsilon >= count * step:
        return None
    return math.ceil((count - epsilon / step) / 2) - 1


def _free(leak: Fraction, count: int, delta: Fraction) -> Fraction:
    """1 − (1 − δ)/(1 − δ₀)^k, what is left of δ for the losses that are finite; rounded down."""
    if leak == 1 and count:
        return Fraction(-1 if delta < 1 else 1)
    if leak == 0 or count * leak.denominator.bit_length() <= EXACT_BITS:
        return 1 - (1 - delta) / (1 - leak) ** count
    return Fraction(lower(lambda: 1 - ball(1 - delta) * (-count * (-ball(leak)).log1p()).exp(), 2 * BITS))


@guarantee(
    claim="here = P(at most m lies of k), lies with odds 1 : exp(epsilon0); there the same with the odds exchanged",
    proof="proofs/approx_composition.md#tails",
    reviewed="e55944315c57",
)
def binomial_tails(step: Fraction, count: int, last: int, bits: int) -> Tails:
    """Encloses the probabilities of at most ``last`` lies among ``count`` responses, at a precision."""
    with precision(bits + 2 * count.bit_length() + 16):
        odds = ball(step).exp()
        return Tails(lower_sum(odds, count, last, bits), lower_sum(1 / odds, count, last, bits))


def mixed_delta(losses: Sequence[Pure | Approx], *, epsilon: Number) -> Fraction:
    """The least δ at ε that any mechanisms with these losses keep together.

    >>> mixed_delta([Pure(0.1), Pure(0.2)], epsilon=0.3)
    Fraction(0, 1)
    """
    epsilons, leaks = read_losses(losses)
    return exact_mixed_delta(epsilons, leaks, non_negative(epsilon, "epsilon"))


def mixed_epsilon(losses: Sequence[Pure | Approx], *, delta: Number) -> Extended:
    """The least ε at δ that any mechanisms with these losses keep together; infinite where no ε does.

    >>> float(mixed_epsilon([Pure(0.1), Pure(0.2)], delta=0)).__round__(6)
    0.3
    """
    epsilons, leaks = read_losses(losses)
    return exact_mixed_epsilon(epsilons, leaks, probability(delta, "delta"))


def read_losses(losses: Sequence[Pure | Approx]) -> tuple[Counter[Extended], Counter[Fraction]]:
    """How often each ε and each δ > 0 occurs among losses."""
    parts = list(losses) if isinstance(losses, Sequence) else None
    if parts is None or not all(isinstance(loss, Pure | Approx) for loss in parts):
        raise BadArgument("losses", "a list of Pure or Approx losses", losses)
    leaks = (loss.delta for loss in parts if isinstance(loss, Approx) and loss.delta)
    return Counter(loss.epsilon for loss in parts), Counter(leaks)


@guarantee(
    claim="delta = 1 - prod(1 - delta_i) (1 - sum over losses above epsilon of P - exp(epsilon) Q), rounded up",
    proof="proofs/approx_composition.md#heterogeneous",
    reviewed="c978179e91e4",
)
def exact_mixed_delta(epsilons: Counter[Extended], leaks: Counter[Fraction], epsilon: Fraction) -> Fraction:
    """δ(ε) of responses of several kinds, each as often as counted."""
    if epsilons[math.inf] or leaks[Fraction(1)]:
        return Fraction(1)
    if epsilon >= sum(price * count for price, count in epsilons.items()):
        return open_answers(leaks)
    bits = 2 * BITS
    with precision(bits):
        step, masses = response_masses(epsilons)
        above = [(loss * step, mass) for loss, mass in masses.items() if loss * step > epsilon]
        gain = sum((-ball(epsilon - loss).expm1() * mass for loss, mass in above), arb(0))
        delta = upper(lambda: ball(open_answers(leaks)) * (1 - gain) + gain, bits)
        return Fraction(min(Fraction(1), delta))


@guarantee(
    claim="epsilon = the greatest over m of ln((A_m - d) / B_m), d = 1 - (1 - delta) / prod(1 - delta_i), rounded up",
    proof="proofs/approx_composition.md#heterogeneous",
    reviewed="cbea7278769c",
)
def exact_mixed_epsilon(epsilons: Counter[Extended], leaks: Counter[Fraction], delta: Fraction) -> Extended:
    """ε(δ) of responses of several kinds, each as often as counted."""
    openly = open_answers(leaks)
    if delta == 1:
        return Fraction(0)
    if epsilons[math.inf] or delta < openly:
        return math.inf
    free, whole = (delta - openly) / (1 - openly), total(price * count for price, count in epsilons.items())
    if free == 0:
        return whole
    bits = 2 * BITS
    best: Extended = Fraction(0)
    with precision(bits):
        step, masses = response_masses(epsilons)
        here, there = -ball(free), arb(0)
        for loss in sorted(masses, reverse=True):
            if loss < 0 or ball(loss * step).exp() * there < here:
                break  # this loss is below the best so far: neither it nor any smaller one can raise it
            here, there = here + masses[loss], there + masses[loss] * ball(-loss * step).exp()
            if here.upper() > 0:
                best = max(best, upper((here.upper() / there).log, bits))
    return min(best, whole)


def open_answers(leaks: Counter[Fraction]) -> Fraction:
    """The probability that at least one response tells the truth openly, rounded up."""
    if sum(leak.denominator.bit_length() * count for leak, count in leaks.items()) <= EXACT_BITS:
        return 1 - math.prod(((1 - leak) ** count for leak, count in leaks.items()), start=Fraction(1))
    if leaks[Fraction(1)]:
        return Fraction(1)

    def some() -> arb:
        stay = sum((count * (-ball(leak)).log1p() for leak, count in leaks.items()), arb(0))
        return -stay.expm1()

    return min(Fraction(1), Fraction(upper(some, 2 * BITS)))


@guarantee(
    claim="the law of the sum of independent losses, each epsilon_i with odds exp(epsilon_i) : 1 against -epsilon_i",
    proof="proofs/approx_composition.md#heterogeneous",
    reviewed="93d567d5f45c",
)
def response_masses(epsilons: Counter[Extended]) -> tuple[Fraction, dict[int, arb]]:
    """A step, and the probability of each multiple of it as the total loss, at the working precision."""
    prices = {Fraction(price): count for price, count in epsilons.items() if price}
    step = common_step(*prices) if prices else Fraction(1)
    masses, terms = {0: arb(1)}, 0
    for price, count in prices.items():
        terms += len(masses) * (count + 1)
        if terms > MOST_TERMS:
            raise NoProvenRoute(
                "the exact sum over so many different losses is too long. Convert each loss to sf.PLD and compose "
                "those, or round each ε up to a multiple of one step."
            )
        odds, whole = ball(-price).exp(), int(price / step)
        once = [arb.bin_uiui(count, lies) * odds**lies / (1 + odds) ** count for lies in range(count + 1)]
        grown: dict[int, arb] = {}
        for loss, mass in masses.items():
            for lies, share in enumerate(once):
                total = loss + (count - 2 * lies) * whole
                grown[total] = grown.get(total, arb(0)) + mass * share
        masses = grown
    return step, masses

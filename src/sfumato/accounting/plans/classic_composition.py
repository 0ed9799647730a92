"""Classic composition: losses of (ε, δ) kind added up (basic), or with a little δ′ traded for a smaller ε (advanced).

`optimal` gives the best possible numbers; these are the closed forms of the texts, rounded up.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from sfumato.accounting.losses.amounts import multiple, total
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.plans.optimal import open_answers, read_losses
from sfumato.errors import BadArgument, elements
from sfumato.exact import Extended, Number, ball, integer, non_negative, probability, rational, upper
from sfumato.guarantee import guarantee


def basic_composition(losses: Sequence[Pure | Approx]) -> Approx:
    """The sum of all ε and of all δ.

    >>> basic_composition([Approx(0.1, 1e-6), Approx(0.2, 2e-6)])
    Approx(epsilon=0.3, delta=3e-06)
    """
    return sum_of_losses(*read_losses(losses))


@guarantee(
    claim="epsilon = the sum of epsilons, delta = the sum of deltas",
    proof="proofs/approx_composition.md#basic",
    reviewed="d63480a951b0",
)
def sum_of_losses(epsilons: Counter[Extended], leaks: Counter[Fraction]) -> Approx:
    """What losses add up to, each as often as counted."""
    epsilon = total(multiple(count, price) for price, count in epsilons.items())
    return Approx(epsilon, min(Fraction(1), sum((leak * count for leak, count in leaks.items()), Fraction(0))))


def advanced_composition(losses: Sequence[Pure | Approx], *, slack: Number) -> Approx:
    """(ε, δ) by advanced composition with a δ′ of ``slack``, or by basic composition where that has a smaller ε.

    >>> advanced_composition([Pure(0.1)] * 100, slack=1e-6)
    Approx(epsilon=5.756105519335732…, delta=1e-06)
    """
    epsilons, leaks = read_losses(losses)
    basic = sum_of_losses(epsilons, leaks)
    advanced = Approx(sharp_advanced_epsilon(epsilons, _slack(slack)), with_slack(leaks, _slack(slack)))
    return basic if basic.epsilon <= advanced.epsilon else advanced


def classic_advanced_epsilon(epsilon0: Number, *, count: int, slack: Number) -> Extended:
    """The ε of the classic formula for ``count`` mechanisms of ε₀ each; it may be more than basic composition's.

    >>> round(float(classic_advanced_epsilon(0.1, count=100, slack=1e-6)), 6)
    6.308231
    """
    price, times = non_negative(epsilon0, "epsilon0"), integer(count, "count", least=0)
    return classic_formula(price, times, _slack(slack))


@guarantee(
    claim="epsilon = epsilon0 sqrt(2 k ln(1/slack)) + k epsilon0 (exp(epsilon0) - 1), rounded up",
    proof="proofs/approx_composition.md#advanced",
    reviewed="e113a490b6e5",
)
def classic_formula(epsilon0: Fraction, count: int, slack: Fraction) -> Extended:
    """The ε of Dwork, Rothblum and Vadhan."""
    if epsilon0 == 0 or count == 0:
        return Fraction(0)

    def bound() -> arb:
        return ball(epsilon0) * ((-2 * count * ball(slack).log()).sqrt() + count * ball(epsilon0).expm1())

    return upper(bound)


@guarantee(
    claim="epsilon = sum of epsilon_i tanh(epsilon_i / 2) + sqrt(2 ln(1/slack) sum of epsilon_i²), rounded up",
    proof="proofs/approx_composition.md#advanced",
    reviewed="1fa7daef8e54",
)
def sharp_advanced_epsilon(epsilons: Counter[Extended], slack: Fraction) -> Extended:
    """The ε of Kairouz, Oh and Viswanath; (e^ε − 1)/(e^ε + 1) is tanh(ε/2)."""
    if epsilons[math.inf]:
        return math.inf
    prices = {Fraction(price): count for price, count in epsilons.items() if price}
    if not prices:
        return Fraction(0)
    squares = sum((price * price * count for price, count in prices.items()), Fraction(0))

    def bound() -> arb:
        drift = sum((count * ball(price) * (ball(price) / 2).tanh() for price, count in prices.items()), arb(0))
        return drift + (-2 * ball(slack).log() * ball(squares)).sqrt()

    return upper(bound)


@guarantee(
    claim="delta = 1 - (1 - slack) prod(1 - delta_i), rounded up",
    proof="proofs/approx_composition.md#advanced",
    reviewed="13ab0ec2ccd7",
)
def with_slack(leaks: Counter[Fraction], slack: Fraction) -> Fraction:
    """The δ of advanced composition."""
    openly = open_answers(leaks)
    return openly + slack * (1 - openly)


@guarantee(
    claim="epsilon = the largest, delta = the weighted mean; the draw may be published",
    proof="proofs/approx_composition.md#mixture",
    reviewed="4f6a56131354",
)
def mixture_of_losses(losses: Sequence[Pure | Approx], *, weights: Sequence[Number]) -> Approx:
    """The loss of one of several mechanisms, drawn with public weights that do not depend on the data.

    >>> mixture_of_losses([Approx(1, 1e-6), Pure(1)], weights=[0.25, 0.75])
    Approx(epsilon=1.0, delta=2.5e-07)
    """
    read_losses(losses)
    if not isinstance(weights, Sequence) or isinstance(weights, str):
        raise BadArgument("weights", "a list with one for each loss, adding up to 1", weights)
    with elements():
        shares = [probability(weight, "each weight") for weight in weights]
    if len(shares) != len(losses) or sum(shares) != 1:
        raise BadArgument("weights", "one for each loss, adding up to 1", weights)
    drawn = [(share, loss) for share, loss in zip(shares, losses, strict=True) if share]
    delta = sum((share * loss.delta for share, loss in drawn if isinstance(loss, Approx)), Fraction(0))
    return Approx(max(loss.epsilon for _, loss in drawn), delta)


def _slack(value: Number) -> Fraction:
    read = rational(value, "slack")
    if not 0 < read < 1:
        raise BadArgument("slack", "greater than 0 and less than 1: the δ′ that advanced composition adds", value)
    return read

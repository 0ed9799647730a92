"""What bounded noise with log-concave masses costs, such as binomial noise: δ at an ε, from the exact masses."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from sfumato.accounting.losses.measures import Approx
from sfumato.accounting.plans.search import greatest_integer
from sfumato.errors import BadArgument
from sfumato.exact import BITS, Distance, ball, precision, rational_up, upper
from sfumato.guarantee import guarantee
from sfumato.noise.binomial import Binomial
from sfumato.noise.distribution import Noise


@guarantee(
    claim="the least δ at ε over shifts of up to this many whole numbers, rounded up, symmetric log-concave noise",
    proof="proofs/integer_noise.md#log-concave",
    reviewed="e5034f3518cf",
)
def log_concave_delta(noise: Noise, *, shift: int, epsilon: Fraction) -> Fraction:
    """δ(ε) of adding the noise to whole numbers that differ by up to a shift."""
    low, high = noise.support
    if low is None or high is None or low != -high:
        raise BadArgument("the noise", "bounded, and symmetric about 0", noise)
    if shift <= 0:
        return Fraction(0)
    if shift > high - low:
        return Fraction(1)
    with precision(BITS):
        factor = ball(epsilon).exp()

        def gain(value: int) -> arb:
            return noise.pmf(value) - factor * noise.pmf(value - shift)

        # The first `shift` values are out of the shifted noise's reach: there the gain is positive.
        last = greatest_integer(lambda value: bool(gain(value) > 0), low=low + shift - 1, high=high + 1)
        exceeding = noise.cdf(last) - factor * noise.cdf(last - shift)
        if last < high:
            exceeding += (1 - factor * noise.pmf(last + 1 - shift) / noise.pmf(last + 1)).nonnegative_part()
        return min(Fraction(1), Fraction(upper(lambda: exceeding)))


def binomial_approx(noise: Binomial, *, shift: Distance, epsilon: Fraction) -> Approx:
    """The loss of binomial noise at an ε, on one whole number; its masses are log-concave."""
    if shift == 0:
        return Approx.nothing()
    whole = 1 << 62 if shift == math.inf else math.floor(rational_up(shift))
    return Approx(epsilon, log_concave_delta(noise, shift=whole, epsilon=epsilon))

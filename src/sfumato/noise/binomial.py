"""The binomial distribution of fair coins."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

import numpy as np
from flint import arb, ctx, fmpz
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, ball, integer, precision
from sfumato.guarantee import guarantee
from sfumato.noise.digits import DigitSampler
from sfumato.noise.discrete_laplace import unfold
from sfumato.noise.distribution import Noise
from sfumato.noise.inversion import TABLE_BITS, IndexLaw, InversionTable
from sfumato.noise.sampling import Integers, draw_array
from sfumato.plain import record

PART = 1 << 16
"""Larger numbers of trials are drawn as a sum of parts of this many."""

MOST_TRIALS, MODERATE_TRIALS = 1 << 32, 1 << 20


@final
@record("Binomial")
class Binomial(Noise):
    """Draws the number of heads in fair coin tosses, less half the trials where ``centred``.

    Takes:      trials, a whole number (even, if centred); centred, true unless said otherwise
    Guarantee:  P(heads = k) = C(trials, k) / 2^trials, exactly (proofs/binomial.md#law)
    Cost:       2 bytes of entropy for up to 65 536 trials, and 2 more for each further 65 536

    >>> Binomial(100).half_width(Fraction(95, 100))
    10
    """

    trials: int
    centred: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "trials", integer(self.trials, "trials", least=0))
        if self.trials > MOST_TRIALS:
            raise BadArgument("trials", "at most 2^32", self.trials)
        if self.centred and self.trials % 2:
            raise BadArgument("trials", "even, so that half of them is whole (or centred=False)", self.trials)

    def sample(self, entropy: Entropy) -> int:
        return CoinSampler(self.trials, self._offset).one(entropy)

    def samples(self, count: int, entropy: Entropy) -> Integers:
        return draw_array(CoinSampler(self.trials, self._offset), count=count, entropy=entropy, wide=False)

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return heads_mass(self.trials, heads=value + self._offset)

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        return self.upper_tail(self.trials - value - 2 * self._offset, bits=bits)

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        heads = value + self._offset
        with precision(bits):
            if 2 * heads <= self.trials:
                return 1 - heads_tail(self.trials, heads=self.trials - heads + 1)
            return heads_tail(self.trials, heads=heads)

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance, trials / 4."""
        with precision(bits):
            return ball(Fraction(self.trials, 4))

    @property
    def support(self) -> tuple[int, int]:
        """0 … trials, less half the trials where centred."""
        return -self._offset, self.trials - self._offset

    @property
    def symmetric(self) -> bool:
        """True where half the trials are taken off."""
        return self.centred

    @property
    def is_moderate(self) -> bool:
        """Tells whether the coins are few enough that their tails take about a second."""
        return self.trials <= MODERATE_TRIALS

    @property
    def _offset(self) -> int:
        return self.trials // 2 if self.centred else 0


@guarantee(claim="C(trials, heads) / 2^trials", proof="proofs/binomial.md#law", reviewed="143a5f8175d0")
def heads_mass(trials: int, *, heads: int) -> arb:
    """Encloses the probability of a number of heads."""
    if not 0 <= heads <= trials:
        return arb(0)
    if trials <= PART:
        return arb(fmpz(math.comb(trials, heads))) / arb(2) ** trials
    with precision(ctx.prec + 2 * trials.bit_length() + 32):
        logarithm = arb(trials + 1).lgamma() - arb(heads + 1).lgamma() - arb(trials - heads + 1).lgamma()
        return (logarithm - trials * arb(2).log()).exp()


@guarantee(
    claim="P(at least this many heads), for more heads than half the trials",
    proof="proofs/binomial.md#tail",
    reviewed="4365909b3a46",
)
def heads_tail(trials: int, *, heads: int) -> arb:
    """Sums the upper tail term by term until a geometric bound on the rest is negligible."""
    term, total, negligible = heads_mass(trials, heads=heads), arb(0), arb(2) ** -ctx.prec
    while heads <= trials:
        total += term
        ratio = arb(trials - heads) / (heads + 1)
        term, heads = term * ratio, heads + 1
        rest = term / (1 - ratio)
        if rest <= negligible * total:
            return total + arb(0).union(rest)
    return total


@guarantee(
    claim="index 2j + n is j heads above the middle (n = 0) or j + 1 below it (n = 1)",
    proof="proofs/binomial.md#law",
    reviewed="f1bf58d13872",
)
def folded_law(trials: int) -> IndexLaw:
    """The law of heads - ceil(trials / 2), in the order 0, -1, 1, -2, 2 and so on."""
    middle = -(-trials // 2)

    def below(index: int) -> arb:
        above, under = middle + (index + 1) // 2, middle - index // 2 - 1
        # Both are more than half the trials once the lower side is mirrored.
        return 1 - heads_tail(trials, heads=above) - heads_tail(trials, heads=trials - under)

    return IndexLaw(below, 2 * (trials - middle) + 1 if trials % 2 == 0 else 2 * middle)


def folded_masses(trials: int) -> Iterator[arb]:
    """Yields F(1), F(2), … of `folded_law` by recurrences, as far as a table needs."""
    middle = -(-trials // 2)
    above, under = heads_mass(trials, heads=middle), heads_mass(trials, heads=middle - 1)
    size = folded_law(trials).size or 1
    total = arb(0)
    for index in range(min(size, 10 * math.isqrt(trials) + 20)):
        if index % 2 == 0:
            total, heads = total + above, middle + index // 2
            above *= arb(trials - heads) / (heads + 1)
        else:
            total, heads = total + under, middle - 1 - index // 2
            under *= arb(heads) / (trials - heads + 1)
        yield total


@lru_cache(maxsize=64)
def _table(trials: int) -> DigitSampler:
    middle = -(-trials // 2)
    with precision(TABLE_BITS):
        table = InversionTable.of(folded_law(trials), folded_masses(trials))
    return DigitSampler.of(table, base=lambda index: unfold(index) + middle)


@final
@dataclass(frozen=True)
class CoinSampler:
    """Draws heads as a sum of independent parts, less an offset."""

    trials: int
    offset: int

    def one(self, entropy: Entropy) -> int:
        parts, rest = divmod(self.trials, PART)
        heads = sum(_table(PART).one(entropy) for _ in range(parts))
        return heads + (_table(rest).one(entropy) if rest else 0) - self.offset

    def many(self, count: int, entropy: Entropy) -> NDArray[np.int64]:
        parts, rest = divmod(self.trials, PART)
        heads = np.full(count, -self.offset, dtype=np.int64)
        for _ in range(parts):
            heads += _table(PART).many(count, entropy).astype(np.int64)
        if rest:
            heads += _table(rest).many(count, entropy).astype(np.int64)
        return heads

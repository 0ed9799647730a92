"""Finite distributions with rational weights."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import final

from flint import arb

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, ball, non_negative, precision
from sfumato.guarantee import guarantee
from sfumato.noise.digits import DigitSampler
from sfumato.noise.distribution import Noise
from sfumato.noise.inversion import IndexLaw, InversionTable
from sfumato.noise.sampling import Integers, draw_array


@final
@dataclass(frozen=True)
class Categorical(Noise):
    """Draws the index i with probability weights[i] / sum(weights).

    Takes:      weights, rationals of at least 0, not all 0
    Guarantee:  exactly these probabilities (proofs/categorical.md#law)
    Cost:       2 bytes of entropy, for up to a few thousand weights

    >>> Categorical((Fraction(1), Fraction(2))).probabilities
    (Fraction(1, 3), Fraction(2, 3))
    """

    weights: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(non_negative(weight, "weight") for weight in self.weights))
        if not any(self.weights):
            raise BadArgument("weights", "not all 0", self.weights)

    @property
    def probabilities(self) -> tuple[Fraction, ...]:
        total = sum(self.weights, Fraction(0))
        return tuple(weight / total for weight in self.weights)

    def sample(self, entropy: Entropy) -> int:
        return self._sampler.one(entropy)

    def samples(self, count: int, entropy: Entropy) -> Integers:
        return draw_array(self._sampler, count=count, entropy=entropy, wide=False)

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            inside = 0 <= value < len(self.weights)
            return ball(self._below[value + 1] - self._below[value]) if inside else arb(0)

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return ball(self._below[min(max(value + 1, 0), len(self.weights))])

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return ball(1 - self._below[min(max(value, 0), len(self.weights))])

    def variance(self, *, bits: int = BITS) -> arb:
        """Encloses the variance of the index."""
        chances = self.probabilities
        mean = sum((index * chance for index, chance in enumerate(chances)), Fraction(0))
        with precision(bits):
            return ball(sum(((index - mean) ** 2 * chance for index, chance in enumerate(chances)), Fraction(0)))

    @property
    def support(self) -> tuple[int, int]:
        """The range of indices with a weight above 0."""
        possible = [index for index, weight in enumerate(self.weights) if weight]
        return possible[0], possible[-1]

    def __reduce__(self) -> tuple[type[Categorical], tuple[tuple[Fraction, ...]]]:
        return Categorical, (self.weights,)

    @cached_property
    def _below(self) -> tuple[Fraction, ...]:
        return cumulative(self.weights)

    @cached_property
    def _sampler(self) -> DigitSampler:
        below = self._below
        law = IndexLaw(lambda index: ball(below[index]), len(self.weights))
        return DigitSampler.of(InversionTable.listing(law, len(self.weights)), base=lambda index: index)


@guarantee(
    claim="entry k is the probability of an index below k", proof="proofs/categorical.md#law", reviewed="fe1b40e7a03b"
)
def cumulative(weights: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """The exact cumulative probabilities, from 0 to 1."""
    total = sum(weights, Fraction(0))
    return tuple(part / total for part in accumulate(weights, initial=Fraction(0)))

"""Binomial numbers in balls: the masses where nearly all of them lie, and bounds on what lies outside."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from flint import arb

from sfumato.guarantee import guarantee


def binomial_span(trials: int, chance: float, bits: int) -> tuple[int, int]:
    """Numbers between which all but about 2^−bits of a binomial number lies; any choice is sound."""
    far = math.sqrt(2 * math.log(2) * bits)
    mean, reach = trials * chance, far * (math.sqrt(trials * chance * (1 - chance)) + far)
    return max(0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach))


@final
@dataclass(frozen=True)
class Counted:
    """How often something happens in independent trials, by the logarithms of the two chances, and a span of it."""

    trials: int
    log_hit: arb
    log_miss: arb
    span: tuple[int, int]

    def mass(self, count: int) -> arb:
        """Encloses the probability of a number."""
        rest = self.trials - count
        choose = arb(self.trials + 1).lgamma() - arb(count + 1).lgamma() - arb(rest + 1).lgamma()
        mass: arb = (choose + count * self.log_hit + rest * self.log_miss).exp()
        return mass

    def masses(self, first: int, last: int) -> Iterator[tuple[int, arb]]:
        """Each number from one to another with its probability, each from the one before."""
        odds, mass = (self.log_hit - self.log_miss).exp(), self.mass(first)
        for count in range(first, last + 1):
            yield count, mass
            mass = mass * odds * (self.trials - count) / (count + 1)

    @guarantee(
        claim="P(K < low) <= P(K = low) f / (1 - f), f = low / (odds (n - low + 1)), if f < 1; else 1",
        proof="proofs/shuffling.md#sum",
        reviewed="fc44b874424d",
    )
    def below(self) -> arb:
        """Encloses an upper bound on the probability of the numbers below the span."""
        low = self.span[0]
        if low == 0:
            return arb(0)
        fall = low / ((self.log_hit - self.log_miss).exp() * (self.trials - low + 1))
        return self.mass(low) * fall / (1 - fall) if fall < 1 else arb(1)

    @guarantee(
        claim="P(K > high) <= P(K = high) f / (1 - f), f = odds (n - high) / (high + 1), if f < 1; else 1",
        proof="proofs/shuffling.md#sum",
        reviewed="020c95d834dc",
    )
    def above(self) -> arb:
        """Encloses an upper bound on the probability of the numbers above the span."""
        high = self.span[1]
        if high == self.trials:
            return arb(0)
        fall = (self.log_hit - self.log_miss).exp() * (self.trials - high) / (high + 1)
        return self.mass(high) * fall / (1 - fall) if fall < 1 else arb(1)

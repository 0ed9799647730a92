"""How hard shuffled reports are to tell apart: the exact δ(ε) of the worst local randomizer, certified from above.

The reports of the other units hide that of one: each of them is, with some chance, drawn from the same two
distributions. What remains is a pair of counts (proofs/shuffling.md#reduction), whose divergence is a sum over binomial
tails. Balls carry the sum along, each tail from the one before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, final

from flint import arb, ctx

from sfumato.accounting.amplify.binomial import Counted, binomial_span
from sfumato.exact import Extended, ball, enclose, upper
from sfumato.guarantee import guarantee

LEAST = Fraction(1, 1 << 120)
"""A δ below this need not be sharp, unless a smaller one is asked for."""

SPARE, MORE = 30, 136
"""What is left out is this many bits below the least δ that must be sharp; sums carry so many bits more than that."""


def bits_below(least: Fraction) -> int:
    """How many bits after the point the least δ that must be sharp begins."""
    return max(0, least.denominator.bit_length() - least.numerator.bit_length() + 1)


@final
@dataclass(frozen=True)
class Hidden:
    """How many of the other reports hide one: a binomial number, and the range of it that is summed up.

    Its chance is known as the tilt ε0 only: 2 / (exp(ε0) + 1).
    """

    epsilon0: Fraction
    others: int
    least: Fraction = LEAST

    @property
    def span(self) -> tuple[int, int]:
        """The numbers between which nearly all the probability lies; chosen by floats, any choice is sound."""
        chance = 2 / (math.exp(min(700.0, float(self.epsilon0))) + 1)
        return binomial_span(self.others, chance, bits_below(self.least) + SPARE)

    def counted(self) -> Counted:
        """The number with its chances, at the precision of balls that is in force."""
        lying = (ball(self.epsilon0).exp() + 1).log()
        hits, misses = arb(2).log() - lying, ball(self.epsilon0).expm1().log() - lying
        return Counted(self.others, hits, misses, self.span)

    def masses(self) -> Iterator[tuple[int, arb]]:
        """Each number in the span with its probability."""
        return self.counted().masses(*self.span)

    def outside(self) -> arb:
        """Encloses an upper bound on the probability of the numbers outside the span, by geometric series."""
        counted = self.counted()
        return counted.below() + counted.above()


class Tail(NamedTuple):
    """A place in Pascal's triangle over 2^n: the mass of ``k`` out of ``n`` fair coins, and that of more than k."""

    coins: int
    heads: int
    mass: arb
    beyond: arb

    @classmethod
    def at(cls, coins: int, heads: int) -> Tail:
        """Works a place out from nothing: sums until the rest is negligible, and encloses the rest."""
        choose = arb(coins + 1).lgamma() - arb(heads + 1).lgamma() - arb(coins - heads + 1).lgamma()
        mass = (choose - coins * arb(2).log()).exp() if 0 < heads < coins else arb(2) ** -coins
        beyond, term, count, least = arb(0), mass, heads, arb(2) ** -(2 * int(ctx.prec))
        while count < coins and not (2 * count >= coins and term * coins < least):
            term = term * (coins - count) / (count + 1)
            beyond, count = beyond + term, count + 1
        if count < coins:  # terms fall from here on, and there are fewer than `coins` of them
            beyond += (term * coins).union(arb(0))
        return cls(coins, heads, mass, beyond)

    def more_heads(self) -> Tail:
        """Moves to one head more."""
        mass = self.mass * (self.coins - self.heads) / (self.heads + 1)
        return Tail(self.coins, self.heads + 1, mass, self.beyond - mass)

    def more_coins(self) -> Tail:
        """Moves to one coin more."""
        coins = self.coins + 1
        mass = self.mass * coins / (2 * (coins - self.heads))
        return Tail(coins, self.heads, mass, self.beyond + self.mass / 2)


@guarantee(
    claim="delta(epsilon) of n shuffled reports of any epsilon0-private local randomizer is at most this",
    proof="proofs/shuffling.md#sum",
    reviewed="88724f08f3ab",
)
def hidden_delta(epsilon0: Fraction, reports: int, epsilon: Fraction, least: Fraction = LEAST) -> Extended:
    """Σ over the number of hiding reports of P(number) times the divergence of the pair of counts, rounded up.

    A result below ``least`` need not be sharp.
    """
    if epsilon >= epsilon0:
        return Fraction(0)
    hidden, bits = Hidden(epsilon0, reports - 1, least), bits_below(least) + MORE
    low, high = (Fraction(end) for end in enclose(lambda: _share(epsilon0, epsilon), bits))
    first, second = math.floor(low * (1 << bits)), math.ceil(high * (1 << bits))

    def enclosed() -> arb:
        every = ball(epsilon0).exp() + 1
        gain = ball(epsilon).exp() * ball(epsilon0 - epsilon).expm1() / every
        cost = ball(epsilon0 + epsilon).expm1() / every
        tail, mean, both = None, arb(0), -ball(epsilon).expm1()
        for count, mass in hidden.masses():
            last, perhaps = (count + 1) * first >> bits, (count + 1) * second >> bits
            tail = Tail.at(count, last) if tail is None else tail.more_coins()
            tail = tail if tail.heads == last else tail.more_heads()
            part = gain * tail.mass + both * tail.beyond
            if perhaps != last:  # one outcome that gains next to nothing, if anything
                part += (cost * tail.more_heads().mass - gain * tail.mass).nonnegative_part()
            mean += mass * part
        return mean + hidden.outside() * gain

    return max(Fraction(0), min(Fraction(1), upper(enclosed, bits)))


def _share(epsilon0: Fraction, epsilon: Fraction) -> arb:
    """Encloses the share of one kind among the hiding reports above which the loss is more than ε."""
    share: arb = ball(epsilon0 + epsilon).expm1() / (ball(epsilon0).expm1() * (ball(epsilon).exp() + 1))
    return share

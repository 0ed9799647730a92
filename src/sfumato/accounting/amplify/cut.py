"""How often a Poisson sample is cut to a size, and how many units it then had."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from sfumato.accounting.amplify.binomial import Counted, binomial_span
from sfumato.exact import ball, endpoints, precision, up
from sfumato.guarantee import guarantee

FINE, SPAN_BITS = 192, 140
"""Bits of precision of the sums; sizes outside a span that holds all but about 2^−this are not listed."""

MOST_SIZES = 8
"""Samples that are cut are told apart by size in about as many groups as this."""


def _counted(rate: Fraction, others: int) -> Counted:
    return Counted(others, ball(rate).log(), ball(1 - rate).log(), binomial_span(others, up(rate), SPAN_BITS))


@guarantee(
    claim="P(Bin(N, q) >= m), rounded up",
    proof="proofs/sampled_renyi.md#truncated",
    reviewed="88635a0930fb",
)
def chance_of_cut(rate: Fraction, most: int, population: int) -> Fraction:
    """Bounds the chance that a Poisson sample of a population has ``most`` units or more."""
    if rate in (0, 1) or most > population:
        return Fraction(1 if rate and most <= population else 0)
    with precision(FINE):
        drawn = _counted(rate, population)
        low, high = max(most, drawn.span[0]), max(most, drawn.span[1])
        if low > most:  # so seldom is a sample not cut that it is not worth a sum
            return Fraction(1)
        chances = [chance for _, chance in drawn.masses(low, high)]
        beyond = Counted(population, drawn.log_hit, drawn.log_miss, (low, high)).above()
        return min(Fraction(1), Fraction(endpoints(sum(chances, beyond))[1]))


@guarantee(
    claim="chances of disjoint ranges of sizes, each by its least one (0: all below m), none above that of Bin(n, q), "
    "n any of the numbers of others",
    proof="proofs/pairs.md#cut-sizes",
    reviewed="9eed1eff65c6",
)
def cut_sizes(rate: Fraction, most: int, others: tuple[int, ...]) -> list[tuple[int, Fraction]]:
    """How many of the others a Poisson sample has: below ``most``, or in a few ranges from there on; rounded down.

    ``others`` lists how many there may be, from the fewest on.
    """
    if rate == 1:
        return [(others[0], Fraction(1))]
    with precision(FINE):
        laws = [_counted(rate, number) for number in others]
        low, high = max(most, laws[0].span[0]), max(most, laws[0].span[1])
        tables = [dict(law.masses(low, high)) for law in laws]
        firsts = _firsts(tables[0])
        ends = [*firsts[1:], high + 1]
        parts = [
            (first, [sum((table[size] for size in range(first, end)), arb(0)) for table in tables])
            for first, end in zip(firsts, ends, strict=True)
        ]
        beyond = [Counted(law.trials, law.log_hit, law.log_miss, (low, high)).above() for law in laws]
        below = [1 - sum(table.values(), rest) for table, rest in zip(tables, beyond, strict=True)]
        listed = [(0, below), *parts] if low == most else parts
        return [(first, _least(chances)) for first, chances in listed]


def _firsts(chances: dict[int, arb]) -> list[int]:
    """Where ranges of sizes begin that have about the same chance each."""
    share, firsts, chance = sum(chances.values(), arb(0)) / MOST_SIZES, [min(chances)], arb(0)
    for size, mass in chances.items():
        chance += mass
        if chance > share and size < max(chances):
            firsts.append(size + 1)
            chance = arb(0)
    return firsts


def _least(chances: list[arb]) -> Fraction:
    """The least of several chances, rounded down."""
    return max(Fraction(0), min(Fraction(endpoints(chance)[0]) for chance in chances))

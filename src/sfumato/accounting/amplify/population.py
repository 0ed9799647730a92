"""What it saves that the data is itself a random sample of a population, where the caller vouches for that.

Nothing is sampled here: the numbers come from a survey's design. The loss must be for the exchange of everything that
the protected unit has in the sample, at a fixed sample size.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

from flint import arb

from sfumato.accounting.amplify.rates import sampled_epsilon
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Number, ball, integer, probability, upper
from sfumato.guarantee import guarantee

P = TypeVar("P", Pure, Approx)

MOST_FACTORS = 256
"""Quotients of more factors than this are rounded up, not written out."""

FINE = 192
"""Bits of precision of the logarithms of factorials, beside those that cancel."""


@guarantee(
    claim="1 - C(N - k, n)/C(N, n): the chance that a sample of n out of N has any of k rows; rounded up for many",
    proof="proofs/amplification.md#several-rows",
    reviewed="e9b43e82c66c",
)
def chance_drawn(rows: int = 1, *, sample: int, population: int) -> Fraction:
    """The chance that a random sample without replacement has any of a unit's rows: at most rows·n/N.

    A design that keeps each unit's rows together has one "row" for each unit.

    >>> chance_drawn(sample=10, population=100), chance_drawn(3, sample=10, population=100)
    (Fraction(1, 10), Fraction(67, 245))
    """
    size, drawn = integer(population, "population", least=1), integer(sample, "sample", least=0)
    owned = integer(rows, "rows", least=1)
    if drawn > size:
        raise BadArgument("sample", "at most the population", sample)
    if owned > size:
        raise BadArgument("rows", "at most the population", rows)
    if min(owned, drawn) > MOST_FACTORS:
        return _chance_of_many(owned, drawn, size)
    missed = Fraction(1)
    for row in range(min(owned, drawn)):
        top = size - (drawn if owned <= drawn else owned) - row
        missed *= Fraction(max(0, top), size - row)
    return 1 - missed


def _chance_of_many(owned: int, drawn: int, size: int) -> Fraction:
    """The chance rounded up, from logarithms of factorials."""
    rest = size - owned - drawn
    if rest < 0:
        return Fraction(1)

    def enclosed() -> arb:
        above = arb(size - owned + 1).lgamma() + arb(size - drawn + 1).lgamma()
        return -(above - arb(rest + 1).lgamma() - arb(size + 1).lgamma()).expm1()

    chance = upper(enclosed, FINE + 2 * size.bit_length())
    return min(Fraction(1), Fraction(owned * drawn, size), Fraction(chance))


@guarantee(
    claim="(ln(1 + q (exp(epsilon) - 1)), q delta), q the chance that any row of the unit is in the sample",
    proof="proofs/amplification.md#population",
    reviewed="40abfe9b00f4",
)
def population_amplified(loss: P, *, sample: int, population: int, rows: int = 1) -> P:
    """The loss towards a population of which the data is a uniformly random sample without replacement.

    ``sample`` may be an upper and ``population`` a lower bound; ``rows`` is how many rows one unit may have, and
    ``loss`` is for the exchange of all of them. That the sample was drawn so, and stays secret, is the caller's claim.

    >>> round(float(population_amplified(Pure(2), sample=10, population=100).epsilon), 6)
    0.494029
    """
    rate = chance_drawn(rows, sample=sample, population=population)
    match loss:
        case Pure():
            return Pure(sampled_epsilon(loss.epsilon, rate))
        case Approx():
            return Approx(sampled_epsilon(loss.epsilon, rate), rate * loss.delta)
    raise NoProvenRoute(
        f"no theorem says what a random sample saves in {type(loss).__name__}: state the loss as Pure or Approx."
    )


@guarantee(
    claim="ln((1 - q + q exp(c)) / (1 - q + q exp(c - u))), rounded up: u for the unit, c for its whole cluster",
    proof="proofs/amplification.md#cluster",
    reviewed="f727ae72b91b",
)
def cluster_amplified(unit: Pure, *, cluster: Pure, rate: Number) -> Pure:
    """The loss of one unit when whole clusters are drawn, each with a chance (its share of the clusters).

    ``unit`` is for the exchange of one unit, ``cluster`` for the exchange of a whole cluster: whether a unit's cluster
    was drawn shows in all of it, so large clusters save next to nothing.

    >>> [round(float(cluster_amplified(Pure(1), cluster=Pure(c), rate=0.1).epsilon), 4) for c in (1, 5, 50)]
    [0.1586, 0.9063, 1.0]
    """
    for loss, name in ((unit, "unit"), (cluster, "cluster")):
        if not isinstance(loss, Pure):
            raise BadArgument(name, "a Pure loss: no theorem is on file for other kinds", loss)
    chance = probability(rate, "rate")
    if cluster.epsilon < unit.epsilon:
        raise BadArgument("cluster", "at least the loss of one of its units", cluster)
    if chance == 0 or unit.epsilon == 0:
        return Pure(0)
    if chance == 1 or cluster.epsilon in (unit.epsilon, float("inf")):
        return Pure(sampled_epsilon(unit.epsilon, chance if cluster == unit else Fraction(1)))
    one, whole = Fraction(unit.epsilon), Fraction(cluster.epsilon)

    def enclosed() -> arb:
        rest = ball((1 - chance) / chance) * (-ball(whole)).exp()
        return ball(one) + ((rest + 1) / (rest * ball(one).exp() + 1)).log()

    return Pure(min(one, Fraction(upper(enclosed))))

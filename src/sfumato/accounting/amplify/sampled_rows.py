"""The rows of the accountant's table that say what sampling saves in Rényi terms."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from sfumato.accounting.amplify.curves_fixed import FixedSizeCurve, TruncatedCurve
from sfumato.accounting.amplify.curves_poisson import PoissonCurve, SampledGaussianCurve
from sfumato.accounting.amplify.cut import chance_of_cut
from sfumato.accounting.amplify.exchange import counts_alike, exchange, twice_as_far
from sfumato.accounting.amplify.rates import exchanged_only
from sfumato.accounting.events import (
    Event,
    Gaussian,
    Laplace,
    Noise,
    Poisson,
    Repeat,
    Response,
    Sequence,
    Stated,
    TruncatedPoisson,
    WithoutReplacement,
)
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.relation import Relation
from sfumato.accounting.tables import amplifier
from sfumato.exact import Extended, squared
from sfumato.guarantee import guarantee
from sfumato.noise.distribution import Noise as IntegerNoise

Total = Callable[[Event], Renyi]


def gaussian_square(event: Event) -> Extended | None:
    """μ² of an event that is nothing but Gaussian noise, however often; None for any other.

    >>> gaussian_square(Repeat(Gaussian(scale=2), 8))
    Fraction(2, 1)
    """
    match event:
        case Gaussian(scale=scale, shift=shift):
            return math.inf if shift == math.inf else Fraction(squared(shift)) / Fraction(squared(scale))
        case Stated(loss=GDP(square=square)):
            return square
        case Repeat(event=inner, times=times):
            once = gaussian_square(inner)
            return None if once is None else (times * once if times else Fraction(0))
        case Sequence(parts=parts):
            squares = [gaussian_square(part) for part in parts]
            return sum((part for part in squares if part is not None), Fraction(0)) if None not in squares else None
    return None


def is_mirrored(event: Event) -> bool:
    """Tells whether the answers of any two neighbours are mirror images of each other."""
    match event:
        case Gaussian() | Laplace() | Response():
            return True
        case Noise(noise=IntegerNoise() as noise):
            return noise.symmetric
    return False


@guarantee(
    claim="Gaussian noise: its exact sampled curve; anything else: the bound from its own curve",
    proof="proofs/sampled_renyi.md#rows",
    reviewed="a1d14154fe47",
)
def present_or_not(inner: Event | None, rate: Fraction, loss: Renyi) -> Renyi:
    """The loss when a Poisson sample has a unit or not; ``inner`` is None where only the loss is known."""
    if rate in (0, 1) or not loss.terms:
        return loss if rate else Renyi.nothing()
    square = None if inner is None else gaussian_square(inner)
    if square is not None and square != math.inf:
        return Renyi.of(SampledGaussianCurve(rate, square))
    return Renyi.of(PoissonCurve(loss, rate, symmetric=inner is not None and is_mirrored(inner)))


@amplifier(Poisson, Renyi)
@guarantee(
    claim="one more or fewer: the sampled curve; one exchanged: a group of two of that, or, where an exchange is no "
    "larger a change than presence, the bound for a random subset",
    proof="proofs/sampled_renyi.md#rows",
    reviewed="2bd29a980185",
)
def poisson_renyi(inner: Event, sampling: Poisson, relation: Relation, total: Total) -> Renyi:
    """The Rényi loss under Poisson sampling."""
    loss = total(inner)
    if relation is Relation.CHANGE_ONE and counts_alike(inner):
        return three_laws(loss, sampling.rate)
    once = present_or_not(inner, sampling.rate, loss)
    return once if relation is Relation.ADD_REMOVE else once.group(2)


def three_laws(exchanged: Renyi, rate: Fraction) -> Renyi:
    """The loss between two mixtures with a common part, where all three laws are an exchange apart."""
    if rate in (0, 1) or not exchanged.terms:
        return exchanged if rate else Renyi.nothing()
    return Renyi.of(FixedSizeCurve(exchanged, rate))


@amplifier(WithoutReplacement, Renyi)
@guarantee(
    claim="one exchanged: the bound of Wang, Balle and Kasiviswanathan, from the loss for exchanging a sampled unit",
    proof="proofs/sampled_renyi.md#rows",
    reviewed="6a373ff1794a",
)
def fixed_size_renyi(inner: Event, sampling: WithoutReplacement, relation: Relation, total: Total) -> Renyi:
    """The Rényi loss on a random subset of fixed size."""
    exchanged_only(sampling, relation)
    return three_laws(exchange(inner, total), Fraction(sampling.sample, sampling.population))


@amplifier(TruncatedPoisson, Renyi)
@guarantee(
    claim="Poisson sampling's loss, mixed with that of an exchange at rate q m/(m + 1) for the chance of a cut",
    proof="proofs/sampled_renyi.md#truncated",
    reviewed="d0f6687aeb0a",
)
def truncated_renyi(inner: Event, sampling: TruncatedPoisson, relation: Relation, total: Total) -> Renyi:
    """The Rényi loss under Poisson sampling when samples above a size are cut to it at random."""
    whole = poisson_renyi(inner, Poisson(sampling.rate), relation, total)
    if sampling.most >= sampling.population or not whole.terms:
        return whole
    exchanged, rate = exchange(inner, total), sampling.rate * Fraction(sampling.most, sampling.most + 1)
    if relation is Relation.CHANGE_ONE:
        cut = three_laws(exchanged, rate)
    else:
        cut = present_or_not(twice_as_far(inner), rate, exchanged)
    chance = chance_of_cut(sampling.rate, sampling.most, sampling.population)
    return Renyi.of(TruncatedCurve(whole, cut, chance))

"""What a loss means to people: how well the best attacker does, in rates, beliefs and words.

The attacker knows every other unit's data and the mechanism, sees the release, and asks whether one unit is in the
data. All numbers are bounds on what anyone can do, rounded up. Of which of two values a unit has they speak only if the
loss is that of a changed unit: ``loss.group(2)``, where it is of a unit added or removed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TypeAlias, final

import numpy as np

from sfumato.accounting.facts.gaussian import exact_gaussian_delta
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.profile_points import coarse
from sfumato.accounting.losses.trade_off import TradeOff, least_gaussian_misses, least_misses
from sfumato.accounting.meaning.guidance import posterior_cap
from sfumato.accounting.pld.evaluate import end_of
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import (
    Extended,
    Number,
    exp_up,
    positive,
    probability,
    rational_up,
    up,
)
from sfumato.guarantee import guarantee

Promising: TypeAlias = GDP | Profile | PLD
"""The losses that say their δ at every ε."""

Tested: TypeAlias = Pure | Approx | GDP | Profile | TradeOff | PLD
"""The losses that say how well their best attacker tests."""

STEPS = 16
"""How many steps a search for the best promise takes."""

FAR = 64.0
"""Where a search over ε ends when nothing else ends it."""

LOOKS, ROUGH, LITTLE = 6, 1e-2, Fraction(1, 10**12)
"""A distribution is sketched by so many rough looks, up to the ε at which δ is so little."""


@final
@dataclass(frozen=True)
class Attacker:
    """The best attacker that a loss allows: no test of one release, however clever, does better.

    >>> best = Attacker(Approx(1, 1e-6))
    >>> round(float(best.detects(0.2)), 7)
    0.5436574
    >>> round(float(best.advantage()), 6)
    0.462118
    """

    loss: Tested

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss):
            raise BadArgument("the loss", "a privacy loss, such as sf.Approx(1, 1e-6)", self.loss)
        if not isinstance(self.loss, Pure | Approx | GDP | Profile | TradeOff | PLD):
            raise NoProvenRoute(
                f"{type(self.loss).__name__} does not say directly how well an attacker can test. Give the loss as "
                "(ε, δ) first, sf.convert(loss, sf.Approx, delta=…), or as sf.Profile, sf.PLD or "
                "sf.accounting.TradeOff."
            )

    @cached_property
    def _promises(self) -> Promising:
        """The loss by its promises: numbers and trade-off curves as the profiles that they are, worked out once."""
        if isinstance(self.loss, Pure | Approx):
            return Profile.of(self.loss)
        return self.loss.profile() if isinstance(self.loss, TradeOff) else self.loss

    def detects(self, false_alarms: Number) -> Fraction:
        """The largest rate of true alarms of a test with a rate of false alarms, rounded up."""
        return most_detected(self.loss, probability(false_alarms, "the rate of false alarms"))

    def advantage(self) -> Fraction:
        """How far true alarms can exceed false ones, rounded up: 0 is blind guessing, 1 is certainty."""
        return promised_delta(self._promises, Fraction(0))

    def accuracy(self) -> Fraction:
        """The largest share of right answers when both cases are equally likely, rounded up."""
        return (1 + self.advantage()) / 2

    def certainty(self, false_alarms: Number, *, prior: Number = Fraction(1, 2)) -> Fraction:
        """The largest share of alarms that are true, for tests with at least so many false ones, rounded up.

        ``prior`` is the share of cases in which an alarm would be right: what was believed before the release. With a
        rate of 0 every test counts, and the share is that of `belief`.
        """
        return self.after_alarm(false_alarms)(prior)

    def after_alarm(self, false_alarms: Number) -> Callable[[Number], Fraction]:
        """`certainty` as a function of the prior; the best test is looked for once."""
        rate = probability(false_alarms, "the rate of false alarms")
        if rate == 0:
            return lambda prior: self.belief(prior=prior)
        detected = self.detects(rate)
        return lambda prior: most_certain(detected, rate, probability(prior, "prior"))

    def belief(self, *, prior: Number = Fraction(1, 2)) -> Fraction:
        """The largest belief that any outcome at all can leave, rounded up: 1 where no pure ε is promised."""
        return posterior_cap(Pure(pure_part(self._promises)), prior=prior)

    def surprises(self, factor: Number) -> Fraction:
        """The largest probability of an outcome that multiplies odds by more than a factor, rounded up."""
        grown = positive(factor, "factor")
        return largest_surprise(self._promises, grown) if grown > 1 else Fraction(1)


@guarantee(
    claim="true alarms are at most 1 - f(false alarms), f the trade-off curve that the loss promises",
    proof="proofs/meaning.md#rates",
    reviewed="6eb9fcd25448",
)
def most_detected(loss: Tested, rate: Fraction) -> Fraction:
    """The largest rate of true alarms at a rate of false ones."""
    match loss:
        case Pure() | Approx():
            return 1 - least_misses(loss, rate)
        case GDP():
            shift = rational_up(loss.mu)
            return Fraction(1) if shift == math.inf else Fraction(1 - least_gaussian_misses(Fraction(shift), rate))
        case Profile():
            return min(1 - least_misses(Approx(epsilon, delta), rate) for epsilon, delta in loss.points)
        case TradeOff():
            return 1 - loss.at(rate)
        case PLD():
            places = _steepest(loss, rate)
            return min(1 - least_misses(Approx(place, promised_delta(loss, place)), rate) for place in places)


def _steepest(loss: PLD, rate: Fraction) -> tuple[Fraction, Fraction]:
    """Finds values of ε whose promise says most at a rate of false alarms; hints, for every ε gives a bound that holds.

    One is looked for between the places that a sketch knows; where δ falls steeply, one of these may be better.
    """
    sketch, alarms = sketched(loss), up(rate)

    def misses(place: float) -> float:
        delta = sketch.delta(place)
        return max(1 - delta - math.exp(place) * alarms, math.exp(-place) * (1 - delta - alarms))

    return Fraction(_highest(misses, 0.0, FAR)), Fraction(max(sketch.places, key=misses))


@final
@dataclass(frozen=True)
class Sketch:
    """δ about as a privacy-loss distribution has it, from a few rough looks; it may steer a search, no more."""

    places: tuple[float, ...]
    powers: tuple[float, ...]

    def delta(self, place: float) -> float:
        """About the δ at an ε."""
        return math.exp(float(np.interp(place, self.places, self.powers)))


@lru_cache(maxsize=64)
def sketched(loss: PLD) -> Sketch:
    """Looks at a distribution in a few places, where it ends among them."""
    ends = [up(end[0]) for end in map(end_of, loss.alternatives) if end is not None]
    far = min(up(loss.epsilon(LITTLE, tolerance=ROUGH).upper), max(ends, default=FAR), FAR)
    even = (far * (step / LOOKS) ** 2 for step in range(LOOKS + 1))
    places = tuple(sorted({*even, *(end for end in ends if end < FAR)}))
    heights = (up(loss.delta(Fraction(place), tolerance=ROUGH).upper) for place in places)
    return Sketch(places, tuple(math.log(max(height, math.ulp(0))) for height in heights))


@lru_cache(maxsize=256)
def asked(loss: PLD, epsilon: Fraction) -> Fraction:
    """The upper end of δ, remembered: the same places are asked for again and again."""
    return Fraction(loss.delta(epsilon).upper)


def _highest(value: Callable[[float], float], low: float, high: float) -> float:
    """Looks for the highest place of a function with one hill, by golden sections of the square root."""
    golden = (math.sqrt(5) - 1) / 2
    low, high = math.sqrt(low), math.sqrt(high)
    one, other = high - golden * (high - low), low + golden * (high - low)
    left, right = value(one**2), value(other**2)
    for _ in range(STEPS):
        if left >= right:
            high, other, right = other, one, left
            one = high - golden * (high - low)
            left = value(one**2)
        else:
            low, one, left = one, other, right
            other = low + golden * (high - low)
            right = value(other**2)
    return (one if left >= right else other) ** 2


@guarantee(
    claim="the delta that a loss promises at an epsilon; at 0 it bounds true alarms less false ones",
    proof="proofs/meaning.md#advantage",
    reviewed="ccc81b9d867a",
)
def promised_delta(loss: Promising, epsilon: Fraction) -> Fraction:
    """The δ that a loss promises at an ε, rounded up."""
    match loss:
        case GDP():
            return Fraction(1) if loss.mu == math.inf else exact_gaussian_delta(epsilon, loss.mu, Fraction(1))
        case Profile():
            return loss.delta(epsilon)
        case PLD():
            return min(Fraction(1), asked(loss, epsilon))


@guarantee(
    claim="alarms that are true make up at most pt / (pt + (1 - p)a) for true rate t, false rate at least a, prior p",
    proof="proofs/meaning.md#certainty",
    reviewed="bdf5e42b8c1f",
)
def most_certain(detected: Fraction, rate: Fraction, prior: Fraction) -> Fraction:
    """The largest share of true alarms among all, from both rates, the false one above 0, and the prior."""
    right, wrong = prior * detected, (1 - prior) * rate
    return right / (right + wrong) if right > 0 else Fraction(0)


@guarantee(
    claim="the pure epsilon that a loss promises, if any",
    proof="proofs/meaning.md#belief",
    reviewed="950f39c56d97",
)
def pure_part(loss: Promising) -> Extended:
    """The ε at which a loss promises δ = 0; ``math.inf`` where it promises none, or does not say."""
    match loss:
        case Profile():
            return loss.epsilon(0)
        case GDP():
            return Fraction(0) if loss.mu == 0 else math.inf
        case PLD():
            return math.inf


@guarantee(
    claim="P(loss > eps) <= delta(e) / (1 - exp(e - eps)) for every e < eps",
    proof="proofs/meaning.md#surprise",
    reviewed="601393291d49",
)
def largest_surprise(loss: Promising, factor: Fraction) -> Fraction:
    """The largest probability, on the data itself, of an outcome that multiplies odds by more than a factor."""
    least = Fraction(1)
    for place in _earlier(loss, factor):
        growth = exp_up(place)
        if growth < factor:
            least = min(least, promised_delta(loss, place) / (1 - Fraction(growth) / factor))
    return coarse(least)


def _earlier(loss: Promising, factor: Fraction) -> list[Fraction]:
    """Values of ε below the logarithm of a factor at which to try; any of them gives a bound that holds."""
    match loss:
        case Profile():
            return [place for place, _ in loss.points]
        case GDP():
            return [_lowest(lambda place: _power(promised_delta(loss, Fraction(place))), factor)]
        case PLD():
            sketch = sketched(loss)
            known = [place for place in sketch.places if place < _power(factor)]
            best = min(known, key=lambda place: math.log(sketch.delta(place)) - _room(place, factor))
            return [_lowest(lambda place: math.log(sketch.delta(place)), factor), Fraction(best)]


def _lowest(power: Callable[[float], float], factor: Fraction) -> Fraction:
    """Finds the ε at which δ/(1 − exp(ε)/F) is least, from the logarithm of δ; it has one valley."""
    return Fraction(_highest(lambda place: _room(place, factor) - power(place), 0.0, _power(factor)))


def _room(place: float, factor: Fraction) -> float:
    """About the logarithm of 1 − exp(ε)/F."""
    return math.log(max(-math.expm1(place - _power(factor)), math.ulp(0)))


def _power(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator) if value else -math.inf

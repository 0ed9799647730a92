"""A new noise, made here, works everywhere without a change to the package: what CONTRIBUTING promises.

The three parts below are what `noise/halving.py`, `accounting/facts/halving.py` and a constructor in `mechanisms/`
would hold; only a proof is missing, so that its facts carry no guarantee.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import final

import numpy as np
import pytest
from flint import arb
from tests.examples.releases import through_json

import sfumato as sf
from sfumato.accounting import events
from sfumato.accounting.facts import fact, loss_of
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.pld.pairs.exchanged import ExchangedNoisePair
from sfumato.accounting.pld.pairs.integer import SHIFTED, IntegerNoisePair, ShiftedNoise, ceiling, masses_below
from sfumato.accounting.pld.pairs.pair import ALL, NONE, Line, Lines
from sfumato.accounting.relation import Relation
from sfumato.audit.exact import exact
from sfumato.audit.record import Verdict
from sfumato.core.metrics import L1
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import NoProvenRoute
from sfumato.exact import BITS, Distance, ball, integer, precision, rational_up, upper
from sfumato.mechanisms.additive import additive
from sfumato.noise import DiscreteLaplace, Integers
from sfumato.noise.distribution import Noise
from sfumato.plain import record
from sfumato.release.codec import release_from_plain, release_to_plain

# noise/halving.py


@final
@record("Halving")
class Halving(Noise):
    """Draws integers whose mass falls by 2^folds with every step away from 0."""

    folds: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "folds", integer(self.folds, "folds", least=1))

    def sample(self, entropy: Entropy) -> int:
        """Draws the difference of two numbers of zeros before anything else."""
        return self._zeros(entropy) - self._zeros(entropy)

    def samples(self, count: int, entropy: Entropy) -> Integers:
        return np.array([self.sample(entropy) for _ in range(count)], dtype=np.int64)

    def pmf(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            return ball(Fraction(self.base - 1, (self.base + 1) * self.base ** abs(value)))

    def cdf(self, value: int, *, bits: int = BITS) -> arb:
        return self.upper_tail(-value, bits=bits)

    def upper_tail(self, value: int, *, bits: int = BITS) -> arb:
        with precision(bits):
            if value < 1:
                return 1 - self.upper_tail(1 - value, bits=bits)
            return ball(Fraction(1, (self.base + 1) * self.base ** (value - 1)))

    def variance(self, *, bits: int = BITS) -> arb:
        with precision(bits):
            return ball(Fraction(2 * self.base, (self.base - 1) ** 2))

    @property
    def support(self) -> tuple[None, None]:
        return None, None

    @property
    def symmetric(self) -> bool:
        return True

    @property
    def base(self) -> int:
        return 1 << self.folds

    def _zeros(self, entropy: Entropy) -> int:
        count = 0
        while entropy.bits(self.folds) == 0:
            count += 1
        return count


# accounting/facts/halving.py


@fact(Halving, sf.Pure, in_vectors=True)
def halving_pure(noise: Halving, shift: Distance) -> sf.Pure:
    return sf.Pure(upper(lambda: ball(Fraction(rational_up(shift))) * _fall(noise)))


def _fall(noise: Halving) -> arb:
    return ball(noise.folds) * ball(2).log()


def halving_lines(noise: Halving, shift: int) -> Lines:
    end, below = shift * _fall(noise), masses_below(noise)

    def line(loss: arb) -> Line:
        if loss >= end:
            return NONE
        if loss < -end:
            return ALL
        last = ceiling((shift - loss / _fall(noise)) / 2) - 1
        return Line(below(last), below(last - shift))

    return line


SHIFTED[Halving] = ShiftedNoise(
    halving_lines,
    hints=lambda noise, shift, tail: [(2 * place - shift) * noise.folds * math.log(2) for place in range(shift + 1)],
    largest=lambda noise, shift: Fraction(upper(lambda: shift * _fall(noise))),
    pitch=lambda noise, shift: None,
)


# mechanisms/


@constructor
def halving(folds: int) -> Partial[sf.Measurement]:
    """Adds halving noise to an exact number."""
    noise = Halving(folds)
    return Partial(
        f"halving({folds})",
        lambda space: additive(
            space, "halving", L1, sf.Pure, Fraction(folds), None, lambda _: noise, "proofs/halving.md#loss"
        ),
    )


LOG_2 = Fraction(upper(lambda: ball(2).log())) + Fraction(1, 1 << 99)
SLIGHTLY_LESS = DiscreteLaplace(1 / LOG_2)
"""All but the same noise: a scale of 1 / ln 2, rounded down."""


def test_its_loss_is_a_fact() -> None:
    assert loss_of(Halving(3), sf.Pure, Fraction(2)).within(sf.Pure(6 * LOG_2))
    assert sf.total(events.Repeat(events.Noise(Halving(1), shift=2), 5), sf.Pure).within(sf.Pure(10 * LOG_2))
    assert sf.total(events.Noise(Halving(1), coordinates=4), sf.Pure) == sf.total(events.Noise(Halving(1)), sf.Pure)
    with pytest.raises(NoProvenRoute, match="ZCDP loss of Halving"):
        loss_of(Halving(1), sf.ZCDP, Fraction(1))
    assert sf.account(events.Repeat(events.Noise(Halving(1)), 20), delta=1e-6) is not None


def test_its_privacy_loss_distribution_composes() -> None:
    many = events.Repeat(events.Noise(Halving(1), shift=1), 20)
    found, like = (sf.total(event, PLD).epsilon("1e-6") for event in (many, _with(SLIGHTLY_LESS)))
    assert found.lower <= like.upper and like.lower <= found.upper < 20 * LOG_2
    sampled = events.Sampled(events.Noise(Halving(1)), events.Poisson(0.1))
    assert sf.total(sampled, PLD, relation=Relation.ADD_REMOVE).epsilon("1e-6").upper < LOG_2
    assert sf.total(sampled, PLD, relation=Relation.CHANGE_ONE).epsilon("1e-6").upper < LOG_2  # by its pure loss
    with pytest.raises(NoProvenRoute, match="known of Halving noise"):
        ExchangedNoisePair(IntegerNoisePair(Halving(1), 1), "0.1")


def _with(noise: Noise) -> events.Event:
    return events.Repeat(events.Noise(noise, shift=1), 20)


def test_it_is_stored_and_read_again() -> None:
    for value in (events.Noise(Halving(2), shift=3), IntegerNoisePair(Halving(1), 2), Halving(5)):
        assert sf.accounting.from_json(sf.accounting.to_json(value)) == value


def test_a_mechanism_releases_it_with_error_bars() -> None:
    measurement = sf.scalar(int) >> halving(1)
    assert measurement.map(1).within(sf.Pure(LOG_2)) and measurement.event_at(1) == events.Noise(Halving(1))
    release = measurement(40, entropy=ReplayEntropy(1))
    again = release_from_plain(through_json(release_to_plain(release)))
    assert again.noise == release.noise and again.interval(0.99) == release.interval(0.99)
    both = (release.estimate() + measurement(2, entropy=ReplayEntropy(2)).estimate()).interval()
    assert 0 < both.high - both.low < 30
    ratio = (release.estimate() / measurement(20, entropy=ReplayEntropy(3)).estimate()).interval()
    assert ratio.low < 2 < ratio.high


def test_its_law_is_audited() -> None:
    audit = exact(sf.scalar(int, between=(0, 3)) >> halving(1), missed="1e-9")
    assert audit.verdict is not Verdict.VIOLATED

"""Noisy counts over public bands, and the level that tells full ones from empty ones."""

from __future__ import annotations

from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.exact import precision
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.textbook.accuracy import level_of
from sfumato.textbook.continuous import Gaussian, Laplace

BANDS = range(-2099, 2100)


def test_A2_007_price_of_noisy_band_counts() -> None:
    counts = sf.vector(int) >> sf.count_by(BANDS) >> sf.laplace(scale=3)
    assert counts.map(1) == sf.Pure(Fraction(1, 3)) and counts.map(2) == sf.Pure(Fraction(2, 3))


def test_A2_008_level_that_empty_bands_stay_below() -> None:
    assert abs(float(level_of(Laplace(Fraction(3)), beta=1e-9, coordinates=len(BANDS) - 1)) - 85.117446) < 1e-6


@pytest.mark.parametrize("noise", [DiscreteLaplace(Fraction(3)), DiscreteGaussian(Fraction(5))])
def test_the_level_is_the_least_that_keeps_the_promise(noise: DiscreteLaplace | DiscreteGaussian) -> None:
    level = int(level_of(noise, beta=0.01, coordinates=50))
    with precision(128):
        assert noise.cdf(level) ** 50 >= 0.99 > noise.cdf(level - 1) ** 50


def test_levels_move_with_the_location_and_refuse_the_pointless() -> None:
    plain, moved = Gaussian(Fraction(2)), Gaussian(Fraction(2), Fraction(7))
    assert level_of(plain, beta=0.01) == level_of(moved, beta=0.01)
    with pytest.raises(sf.errors.BadArgument, match="less than 1/2"):
        level_of(plain, beta=0.6)

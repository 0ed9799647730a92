"""Bounds by bands of doubling width: labels, level, edges, and the chance of a false band."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.domains import Floats, Integers
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, ball, precision
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.stats.bounds import LARGEST, band_edges, band_level, significant_bounds
from sfumato.textbook.accuracy import level_of
from sfumato.textbook.continuous import Laplace

BANDS = 4199
find = sf.stats.bounds_by_histogram
ANY = Floats(infinite=True)


def test_A2_007_price() -> None:
    made = sf.vector(float) >> find(scale=3)
    assert made.map(1) == sf.Pure(Fraction(1, 3)) and made.map(2) == sf.Pure(Fraction(2, 3))
    assert (sf.vector(float, size=9) >> find(scale=3)).map(1) == sf.Pure(Fraction(2, 3))
    assert (sf.vector(float) >> find(scale=3, measure=sf.ZCDP)).map(1) == sf.ZCDP(Fraction(1, 18))
    assert (sf.vector(float, size=9) >> find(scale=3, measure=sf.ZCDP)).map(1) == sf.ZCDP(Fraction(1, 9))


def test_A2_008_level() -> None:
    """The continuous formula, and the level that whole-numbered noise needs, which is not its rounding in general."""
    formula = -3 * math.log(-2 * math.expm1(math.log1p(-1e-9) / (BANDS - 1)))
    assert abs(formula - 85.117446) < 1e-6
    assert abs(float(level_of(Laplace(Fraction(3)), beta=1e-9, coordinates=BANDS - 1)) - formula) < 1e-9
    assert band_level(DiscreteLaplace(Fraction(3)), alpha=Fraction(1, 10**9), bands=BANDS) == 85
    assert "bands above 85" in str((sf.vector(float) >> find(scale=3)).how)


@pytest.mark.parametrize("noise", [DiscreteLaplace(Fraction(3)), DiscreteLaplace(Fraction(1, 2)), DiscreteGaussian(3)])
def test_the_level_is_the_least_that_keeps_its_rate(noise: DiscreteLaplace | DiscreteGaussian) -> None:
    for alpha in (Fraction(1, 10**9), Fraction(1, 20)):
        level = band_level(noise, alpha=alpha, bands=BANDS)
        with precision(BITS):
            assert 1 - (1 - noise.upper_tail(level + 1)) ** BANDS <= ball(alpha)
            assert 1 - (1 - noise.upper_tail(level)) ** BANDS > ball(alpha)


@pytest.mark.parametrize("measure", [sf.Pure, sf.ZCDP])
def test_empty_bands_show_as_rarely_as_stated(measure: type[sf.Pure | sf.ZCDP]) -> None:
    """300 releases of no rows at alpha 0.2: some 60 or fewer find a band; half the noise's level finds far more."""
    made = sf.vector(float) >> find(scale=5, alpha="0.2", measure=measure)
    found = sum(made([], entropy=ReplayEntropy(seed)).value is not None for seed in range(300))
    assert 20 <= found <= 88  # at most 4 deviations above 60
    noise = DiscreteLaplace(Fraction(9, 2)) if measure is sf.Pure else DiscreteGaussian(Fraction(9, 2))
    narrow = band_level(noise, alpha=Fraction(1, 5), bands=BANDS)
    counts = sf.vector(float) >> sf.stats.log_bands() >> sf.count_by(metric=sf.L1() if measure is sf.Pure else sf.L2())
    noisy = counts >> (sf.laplace(5) if measure is sf.Pure else sf.gaussian(5))
    shown = sum(bool((noisy([], entropy=ReplayEntropy(seed)).value > narrow).any()) for seed in range(300))
    assert shown > 88


def test_A2_009_normal_data_get_outer_edges() -> None:
    """N(0, 10²), 1000 rows, scale 3: 157 expected in [8, 16), 54 in [16, 32): ±16, not the printed ±8 (E2-03)."""
    rows = [10 * value for value in normal(1000)]
    made = sf.vector(float) >> find(scale=3)
    found = [made(rows, entropy=ReplayEntropy(seed)).value for seed in range(30)]
    assert found.count((-16.0, 16.0)) == 30


def normal(count: int) -> list[float]:
    from statistics import NormalDist

    return [NormalDist().inv_cdf((place + 0.5) / count) for place in range(count)]


def test_A2_010_labels_and_edges() -> None:
    made = sf.vector(ANY) >> sf.stats.log_bands()
    values = [0.0, -0.0, 5e-324, 0.5, 0.75, 1, 1.5, 8, 15.9, -10.0, LARGEST, math.inf, -math.inf]
    labels = [0, 0, 1, 1074, 1074, 1075, 1075, 1078, 1078, -1078, 2098, 2099, -2099]
    assert made(values).tolist() == labels
    counts = np.zeros(BANDS, dtype=int)
    counts[2099 + 1078] = 100
    assert significant_bounds(counts, 85) == (8.0, 16.0)
    assert significant_bounds(counts, 100) is None
    assert (sf.vector(float) >> find(scale=3))([9.0, 10.0]).value is None  # too few rows for any level: never (−∞, ∞)


@pytest.mark.parametrize(
    ("band", "edges"),
    [
        (1, (5e-324, 1e-323)),
        (1075, (1.0, 2.0)),
        (-1075, (-2.0, -1.0)),
        (0, (0.0, 0.0)),
        (2098, (2.0**1023, LARGEST)),
        (2099, (LARGEST, LARGEST)),
        (-2099, (-LARGEST, -LARGEST)),
    ],
)
def test_edges_enclose_their_band(band: int, edges: tuple[float, float]) -> None:
    assert band_edges(band) == edges
    made = sf.vector(float) >> sf.stats.log_bands()
    low, high = edges
    inside = [low, math.nextafter(high, -math.inf)] if band > 0 else [math.nextafter(low, math.inf), high]
    if abs(band) < 2098 and band:
        assert set(made(inside).tolist()) == {band}


def test_whole_numbers_get_whole_bounds() -> None:
    made = sf.vector(int) >> find(scale=1)
    assert made([2**63 - 1] * 60 + [3] * 60, entropy=ReplayEntropy(1)).value == (2, 2**63)
    assert made([-(10**400)] * 60 + [0] * 60, entropy=ReplayEntropy(1)).value == (-(2**1024), 0)


def test_a_pair_may_be_a_single_number_and_leave_out_the_end_bands() -> None:
    made = sf.vector(ANY) >> find(scale=1)
    assert made([0.0] * 90, entropy=ReplayEntropy(1)).value == (0.0, 0.0)
    assert made([math.inf] * 90, entropy=ReplayEntropy(1)).value == (LARGEST, LARGEST)
    whole = sf.vector(int) >> find(scale=1)
    assert whole([2**2000] * 90, entropy=ReplayEntropy(1)).value == (2**1024, 2**1024)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: find(scale=0), "greater than 0"),
        (lambda: find(scale=1, alpha=0), "greater than 0 and less than 1"),
        (lambda: find(scale=1, alpha=1), "greater than 0 and less than 1"),
        (lambda: sf.vector(float) >> find(scale="1e30"), "scale and alpha must be"),
        (lambda: sf.vector(float) >> find(scale="1e30", measure=sf.ZCDP), "scale and alpha must be"),
        (lambda: sf.vector(float) >> find(scale=1, alpha=Fraction(1, 10**400)), "scale and alpha must be"),
        (lambda: find(scale=1, measure=sf.Approx), "Pure .Laplace noise. or ZCDP"),
        (lambda: sf.vector(str) >> find(scale=1), "whole numbers"),
        (lambda: sf.vector(Floats(nan=True)) >> find(scale=1), "drop_nan first"),
        (lambda: sf.vector(Integers(step=Fraction(1, 2))) >> sf.stats.log_bands(), "whole numbers"),
        (lambda: sf.frame({"a": float}) >> find(scale=1), "take one column"),
    ],
)
def test_what_cannot_be_is_refused(make: object, said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        make()  # type: ignore[operator]


def test_nan_are_dropped_by_the_public_rule_before() -> None:
    made = sf.vector(Floats(nan=True)) >> sf.drop_nan() >> find(scale=1)
    assert made([math.nan] * 90 + [1.5] * 90, entropy=ReplayEntropy(1)).value == (1.0, 2.0)

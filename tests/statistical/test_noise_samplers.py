"""Every sampler, scalar and vector: accepts its own law and notices a parameter that is 5 % off.

A statistic is χ² over about 30 cells of roughly equal mass, with critical values at 1e-8: that is the false-alarm rate
of each acceptance. The same draws must be rejected, at the same level, under both wrong laws.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2
from tests.examples.noises import DRAWN

from sfumato.entropy import Entropy, ReplayEntropy, SystemEntropy
from sfumato.noise import DiscreteLaplace, Geometric, Noise, Uniform

ALARM = 1e-8
CELLS = 30


def edges(noise: Noise) -> list[int]:
    """Cuts the integers into cells of roughly equal mass: cell j is edges[j-1] < z <= edges[j]."""
    return sorted({noise.quantile(Fraction(j, CELLS)) for j in range(1, CELLS)})


def statistic(drawn: NDArray[np.int64], noise: Noise, cuts: list[int]) -> tuple[float, float]:
    """Gives χ² of the draws under a law, and the critical value; a draw in an impossible cell is a rejection."""
    below = np.array([0.0, *(float(noise.cdf(cut)) for cut in cuts), 1.0])
    expected = np.diff(below) * len(drawn)
    found = np.bincount(np.searchsorted(np.array(cuts), drawn), minlength=len(cuts) + 1)
    used = expected > 1e-9 * len(drawn)
    if found[~used].any():
        return float("inf"), 0.0
    value = float(((found - expected)[used] ** 2 / expected[used]).sum())
    return value, float(chi2.isf(ALARM, max(int(used.sum()) - 1, 1)))


def fits(drawn: NDArray[np.int64], noise: Noise, cuts: list[int]) -> bool:
    value, critical = statistic(drawn, noise, cuts)
    return value < critical


@pytest.mark.parametrize("name", DRAWN)
def test_vectors_follow_the_law_and_no_other(name: str) -> None:
    noise, less, more = DRAWN[name]
    cuts = edges(noise)
    drawn = np.asarray(noise.samples(400_000, ReplayEntropy(name.encode())), dtype=np.int64)
    assert fits(drawn, noise, cuts)
    assert not fits(drawn, less, cuts)
    assert not fits(drawn, more, cuts)


@pytest.mark.parametrize("name", DRAWN)
def test_single_draws_follow_the_law(name: str) -> None:
    noise, _, _ = DRAWN[name]
    cuts, entropy = edges(noise), ReplayEntropy(name.encode() + b" one")
    drawn = np.array([noise.sample(entropy) for _ in range(20_000)], dtype=np.int64)
    assert fits(drawn, noise, cuts)


@pytest.mark.parametrize("name", ["laplace 1", "laplace 10000", "gaussian 1", "gaussian 10000", "geometric 3"])
def test_single_draws_follow_no_other_law(name: str) -> None:
    noise, less, more = DRAWN[name]
    cuts, entropy = [noise.quantile(Fraction(j, 6)) for j in range(1, 6)], ReplayEntropy(name.encode())
    cuts = sorted({*cuts, noise.quantile(Fraction(98, 100))})
    drawn = np.array([noise.sample(entropy) for _ in range(150_000)], dtype=np.int64)
    assert fits(drawn, noise, cuts)
    assert not fits(drawn, less, cuts)
    assert not fits(drawn, more, cuts)


@pytest.mark.parametrize("name", ["laplace 1", "laplace 1099511627776", "gaussian 10000", "geometric 3"])
def test_the_operating_systems_entropy_does_as_well(name: str) -> None:
    noise, _, _ = DRAWN[name]
    drawn = np.asarray(noise.samples(200_000, SystemEntropy()), dtype=np.int64)
    assert fits(drawn, noise, edges(noise))


class Unmarked(Entropy):
    """Replays without saying so: marked sources never take the way without a table; fixed draws have no bad days."""

    def __init__(self, seed: int) -> None:
        self._source = ReplayEntropy(seed)

    @property
    def replayable(self) -> bool:
        return False

    @property
    def drawn(self) -> int:
        return self._source.drawn

    def octets(self, count: int) -> bytes:
        return self._source.octets(count)


@pytest.mark.parametrize("noise", [DiscreteLaplace(Fraction(123_457)), Geometric(Fraction(987_654))], ids=repr)
def test_draws_without_a_table_follow_the_law(noise: Noise) -> None:
    """The first few draws of a scale come from another path; scales that differ by less than 1e-5 share one law."""
    entropy, scale = Unmarked(31), noise.scale  # type: ignore[attr-defined]
    drawn = [type(noise)(scale + Fraction(j, 10**4)).sample(entropy) for j in range(4000)]  # type: ignore[call-arg]
    cuts = edges(noise)
    assert fits(np.array(drawn), noise, cuts)
    wrong = type(noise)(scale * Fraction(6, 5))  # type: ignore[call-arg]
    assert not fits(np.array(drawn), wrong, [noise.quantile(Fraction(j, 4)) for j in (1, 2, 3)])


@pytest.mark.parametrize(
    "name", ["laplace 10000", "laplace 1099511627776", "gaussian 10000", "gaussian 1000000000000000"]
)
@pytest.mark.parametrize("low", [0, 3])
def test_low_bits_follow_the_law(name: str, low: int) -> None:
    """Cells above cannot see the low digits; at these scales they are uniform to within 1e-4."""
    drawn = np.asarray(DRAWN[name][0].samples(400_000, ReplayEntropy(7)), dtype=np.int64)
    found = np.bincount((drawn >> low) & 31, minlength=32)
    assert ((found - 12_500) ** 2 / 12_500).sum() < chi2.isf(ALARM, 31)


@pytest.mark.parametrize("name", ["laplace 10", "laplace 10000", "gaussian 1", "gaussian 100", "gaussian 10000"])
def test_extremes_are_where_the_tail_says(name: str) -> None:
    """None of n draws beyond t has chance (1 - tail)^n; both that and its opposite must be likelier than 1e-8."""
    noise, count = DRAWN[name][0], 1_000_000
    drawn = np.asarray(noise.samples(count, ReplayEntropy(3)), dtype=np.int64)
    for extreme in (int(drawn.max()), -int(drawn.min())):
        assert count * float(noise.upper_tail(extreme)) > 1e-8
        assert count * float(noise.upper_tail(extreme + 1)) < 18.4
    beyond = noise.quantile(1 - Fraction(1, 1000))
    hits, mean = int((drawn > beyond).sum()), count * float(noise.upper_tail(beyond + 1))
    assert abs(hits - mean) < 5.8 * mean**0.5


@pytest.mark.parametrize("name", ["laplace 1", "laplace 10000", "gaussian 100", "gaussian 1000000000000000"])
def test_neighbouring_draws_are_uncorrelated_and_signs_fair(name: str) -> None:
    """|z| < 5.8 has a false-alarm rate of about 7e-9."""
    drawn = np.asarray(DRAWN[name][0].samples(500_000, ReplayEntropy(9)), dtype=np.float64)
    centred = drawn / drawn.std()
    assert abs((centred[1:] * centred[:-1]).sum()) / len(drawn) ** 0.5 < 5.8
    assert abs(centred.sum()) / len(drawn) ** 0.5 < 5.8
    assert abs((drawn > 0).sum() - (drawn < 0).sum()) / (drawn != 0).sum() ** 0.5 < 5.8


def bits_are_fair(entropy: Entropy) -> bool:
    words = entropy.words(100_000)
    counts = np.array([int(((words >> np.uint64(bit)) & np.uint64(1)).sum()) for bit in range(64)])
    return bool((np.abs(counts - 50_000) < 6.2 * 25_000**0.5).all())


def test_entropy_bits_are_fair() -> None:
    assert bits_are_fair(SystemEntropy())
    assert bits_are_fair(ReplayEntropy(0))


@pytest.mark.parametrize("bound", [3, 5, 10, 1000, 65_537])
def test_below_is_unbiased(bound: int) -> None:
    """A word modulo a bound that is no power of two would favour small numbers, and cells of equal mass show it."""
    entropy, count = ReplayEntropy(bound), 60_000
    drawn = np.array([entropy.below(bound) for _ in range(count)])
    noise = Uniform(bound)
    assert fits(drawn, noise, edges(noise))
    assert int(drawn.max()) < bound

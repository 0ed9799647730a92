"""Draws of noise on whole vectors: accepted under their own law, rejected under a scale that is 5 % off.

Each acceptance has a false-alarm rate of 1e-8 or less; draws are replayed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray
from scipy.stats import chi2

from sfumato.entropy import ReplayEntropy
from sfumato.noise.cube import Cube, uniform_on_cube
from sfumato.noise.distribution import at_most, least

ALARM = 1e-8
OFF = [Fraction(95, 100), Fraction(105, 100)]


def cuts(tail: Callable[..., arb], cells: int = 12) -> list[int]:
    """Whole numbers t that part cells of roughly equal mass: cell j is cuts[j - 1] <= z < cuts[j]."""

    def first(share: Fraction) -> int:
        return least(lambda t: at_most(lambda bits: tail(t, bits=bits), share))

    return sorted({first(Fraction(j, cells)) for j in range(1, cells)})


def fits(drawn: NDArray[np.int64], tail: Callable[..., arb], at: list[int]) -> bool:
    """χ² of draws over the cells, whose masses are differences of a tail P(Z >= t)."""
    expected = -np.diff([1.0, *(float(tail(t)) for t in at), 0.0]) * len(drawn)
    counted = np.bincount(np.searchsorted(np.array(at), drawn, side="right"), minlength=len(at) + 1)
    return bool(((counted - expected) ** 2 / expected).sum() < chi2.isf(ALARM, len(at)))


@pytest.mark.parametrize(("scale", "size"), [("1", 66), ("1/4", 20), ("1099511627776", 30)])
def test_radii_follow_the_law_and_no_other(scale: str, size: int) -> None:
    noise, entropy = Cube(Fraction(scale), size), ReplayEntropy(f"{scale} {size}".encode())
    drawn = np.array([noise.radius(entropy) for _ in range(4000)])
    at = cuts(noise.radius_tail)
    assert fits(drawn, noise.radius_tail, at)
    for off in OFF:
        assert not fits(drawn, Cube(noise.scale * off, size).radius_tail, at)


def test_vectors_follow_the_law_and_no_other() -> None:
    """The largest coordinate by χ²; one coordinate by the mean of its size: 5.8 deviations, a chance of 7e-9."""
    noise, entropy = Cube(Fraction(3, 2), 20), ReplayEntropy(20)
    drawn = np.array([noise.sample(entropy) for _ in range(8000)])
    at = cuts(noise.tail)
    assert fits(np.abs(drawn).max(axis=1), noise.tail, at)
    sizes = np.abs(drawn[:, 7])

    def deviations(law: Cube) -> float:
        radii = np.arange(300)
        weights = (2 * radii + 1.0) ** law.size * np.exp(-radii / float(law.scale))
        mean = float((radii * (radii + 1) / (2 * radii + 1)) @ weights / weights.sum())
        return abs(float(sizes.mean()) - mean) / math.sqrt((float(law.variance()) - mean**2) / len(sizes))

    assert deviations(noise) < 5.8
    for off in OFF:
        assert not fits(np.abs(drawn).max(axis=1), Cube(noise.scale * off, 20).tail, at)
        assert deviations(Cube(noise.scale * off, 20)) > 5.8


def test_a_cube_is_filled_evenly_and_no_other_one() -> None:
    drawn = uniform_on_cube(20, size=200_000, entropy=ReplayEntropy(4))
    for radius in (19, 20, 21):
        counted = np.bincount(np.clip(drawn + radius, 0, 2 * radius), minlength=2 * radius + 1)
        expected = len(drawn) / (2 * radius + 1)
        assert (((counted - expected) ** 2 / expected).sum() < chi2.isf(ALARM, 2 * radius)) == (radius == 20)

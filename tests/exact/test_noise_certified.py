"""The certified float exponential keeps its bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from sfumato.entropy import ReplayEntropy
from sfumato.exact import ball, precision
from sfumato.noise import certified
from sfumato.noise.certified import EXP_ERROR, exp_minus


def worst_error(points: NDArray[np.float64]) -> float:
    found = exp_minus(points)
    with precision(160):
        return max(
            float(abs(ball(Fraction(near)) / ball(-Fraction(point)).exp() - 1).upper())
            for point, near in zip(points.tolist(), found.tolist(), strict=True)
        )


def test_the_relative_error_is_far_below_the_bound() -> None:
    entropy = ReplayEntropy(1)
    uniform = entropy.words(3000).astype(np.float64) / 2.0**64
    turning = np.concatenate([k * np.log(2) * (1 + np.array([-3e-16, 0, 3e-16])) for k in range(1, 1010, 7)])
    points = np.concatenate(
        [700 * uniform, uniform, uniform * 1e-9, turning, np.array([0.0, 700.0, 5e-324, 1e-300, np.log(2)])]
    )
    assert worst_error(points) < 2.0**-48 < EXP_ERROR


def test_the_check_notices_a_wrong_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certified, "_LOG2_LOW", certified._LOG2_LOW * (1 + 2**-10))
    assert worst_error(np.linspace(0, 700, 500)) > EXP_ERROR


def test_the_split_logarithm_is_the_logarithm() -> None:
    with precision(200):
        split = ball(Fraction(certified._LOG2_HIGH)) + ball(Fraction(certified._LOG2_LOW))
        assert abs(split - arb(2).log()) < arb(2) ** -85
    assert Fraction(certified._LOG2_HIGH).numerator.bit_length() <= 32

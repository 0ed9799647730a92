"""Plain gradient descent of the texts: what it gives, what it costs, and that it says when it diverges."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.errors import BadArgument
from sfumato.textbook import descent_work, gradient_descent, linear_gradient


def hill(x: float, y: float) -> float:
    return float((x - 2) ** 4 + (y + 3) ** 2)


def slope(x: float, y: float) -> tuple[float, float]:
    return 4 * (x - 2) ** 3, 2 * (y + 3)


def test_A3_023_work_of_a_descent() -> None:
    assert descent_work(100, 100_000) == 10**7
    assert descent_work(100, 100_000, steps=100) == 10**9
    assert descent_work(100, 1_000, steps=100) == 10**7


def test_A3_024_one_step() -> None:
    assert slope(1, 1) == (-4, 8) and hill(1, 1) == 17 and hill(2, -3) == 0
    place, steps = gradient_descent(hill, slope, (1, 1), rate=0.01, steps=1)
    assert place == pytest.approx((1.04, 0.92)) and steps == 1


def test_A3_025_the_settings_of_the_appendix_diverge_and_say_so() -> None:
    for steps, expected in ((1, -10.48), (2, 67.27), (3, -11055)):
        place, _ = gradient_descent(hill, slope, (10, 10), rate=0.01, steps=steps)
        assert place[0] == pytest.approx(expected, rel=1e-3)
    with pytest.raises(BadArgument, match="diverged in step 6"):
        gradient_descent(hill, slope, (10, 10), rate=0.01)


def test_A3_026_just_below_and_just_above_the_rate_that_converges() -> None:
    place, steps = gradient_descent(hill, slope, (10, 10), rate=0.0078, tolerance=1e-12)
    assert place == pytest.approx((2, -3), abs=0.02) and steps < 200_000
    with pytest.raises(BadArgument, match="diverged"):
        gradient_descent(hill, slope, (10, 10), rate=0.0079, tolerance=1e-16)


@pytest.mark.nightly
def test_A3_026_to_the_tolerance_of_the_case() -> None:
    place, steps = gradient_descent(hill, slope, (10, 10), rate=0.0078, tolerance=1e-16)
    assert place == pytest.approx((2.003, -3), abs=1e-3) and 1_000_000 < steps < 3_000_000


def test_P3_003_the_gradient_of_a_line_is_that_of_its_mean_squared_error() -> None:
    drawn = np.random.default_rng(1)
    rows, targets, at = drawn.normal(size=(30, 2)), drawn.normal(size=30), np.array([0.3, -1.0, 2.0])

    def error(coefficients: np.ndarray) -> float:
        return float(np.mean((targets - coefficients[0] - rows @ coefficients[1:]) ** 2))

    numeric = [(error(at + step) - error(at - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
    assert linear_gradient(rows, targets, at.tolist()) == pytest.approx(numeric, abs=1e-6)
    with pytest.raises(BadArgument, match="one coefficient more"):
        linear_gradient(rows, targets, [1.0])


@pytest.mark.parametrize(
    "wrong", [{"rate": 0.0}, {"rate": float("nan")}, {"tolerance": -1.0}, {"start": ()}, {"start": (float("inf"),)}]
)
def test_P3_002_bad_input_is_refused(wrong: dict[str, object]) -> None:
    asked: dict[str, object] = {"start": (1.0,), "rate": 0.1, **wrong}
    with pytest.raises(BadArgument):
        gradient_descent(lambda x: x, lambda x: (1.0,), asked.pop("start"), **asked)  # type: ignore[arg-type]

"""Arrays of balls in double precision, against balls of many digits."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from flint import acb, arb

from sfumato.accounting.pld.float_balls import FARTHEST, GREATEST, Balls, Complexes, Floats
from sfumato.accounting.pld.fourier import UNIT
from sfumato.exact import precision

RANDOM = np.random.default_rng(7)
SPREAD = 10.0 ** RANDOM.uniform(-6, 2, 400)
NUMBERS = SPREAD * RANDOM.normal(size=400) + 1j * SPREAD[::-1] * RANDOM.normal(size=400)
OTHERS = NUMBERS[::-1] * np.exp(2j)
RADII = np.where(RANDOM.random(400) < 0.5, 0.0, np.abs(NUMBERS) * 1e-9)


def encloses(balls: Balls, truths: list[acb], *, within: float) -> None:
    """Every truth is in its ball, and no ball is wider than stated, relatively."""
    for mid, rad, truth in zip(balls.mid.tolist(), balls.rad.tolist(), truths, strict=True):
        assert abs(acb(mid.real, mid.imag) - truth) <= rad <= within * abs(truth) + 1e-140


def edges(numbers: Complexes, radii: Floats) -> list[acb]:
    """A point on the edge of every ball."""
    turn = acb(0, 1)
    return [
        acb(one.real, one.imag) + radius * turn for one, radius in zip(numbers.tolist(), radii.tolist(), strict=True)
    ]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda x, y: x + y, lambda x, y: x + y),
        (lambda x, y: x - y, lambda x, y: x - y),
        (lambda x, y: x * y, lambda x, y: x * y),
        (lambda x, y: 2.0 - x * y.conjugate(), lambda x, y: 2 - x * y.conjugate()),
    ],
)
def test_arithmetic_encloses_the_truth(
    ours: Callable[[Balls, Balls], Balls], theirs: Callable[[acb, acb], acb]
) -> None:
    with precision(200):
        truths = [theirs(x, y) for x, y in zip(edges(NUMBERS, RADII), edges(OTHERS, 0 * RADII), strict=True)]
        result = ours(Balls(NUMBERS, RADII), Balls.exact(OTHERS))
        for mid, rad, truth in zip(result.mid.tolist(), result.rad.tolist(), truths, strict=True):
            assert abs(acb(mid.real, mid.imag) - truth) <= rad


def test_exponentials_and_logarithms_enclose_the_truth() -> None:
    far = RANDOM.uniform(-GREATEST, GREATEST, 400) + 1j * RANDOM.uniform(-FARTHEST, FARTHEST, 400)
    right = np.abs(NUMBERS.real) + 1j * NUMBERS.imag
    with precision(200):
        encloses(Balls.exact(far).exp(), [z.exp() for z in edges(far, 0 * RADII)], within=40 * UNIT)
        encloses(Balls(NUMBERS, RADII).exp(), [z.exp() for z in edges(NUMBERS, RADII)], within=1e-6)
        logs = Balls.exact(right).log()
        for mid, rad, z in zip(logs.mid.tolist(), logs.rad.tolist(), edges(right, 0 * RADII), strict=True):
            assert abs(acb(mid.real, mid.imag) - z.log()) <= rad <= 1e-13


def test_a_wrong_logarithm_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library's logarithm only steers: one that is off by 10⁻⁶ is put right, one of another branch is refused."""
    truth = np.log(NUMBERS[NUMBERS.real > 0])
    ours = Balls.exact(NUMBERS[NUMBERS.real > 0])
    with precision(200):
        for slip in (1e-6, 3.0, 2j * math.pi):
            monkeypatch.setattr(np, "log", lambda values, slip=slip: truth + slip)
            result = ours.log()
            if abs(slip) > 1:
                assert not np.any(np.isfinite(result.rad))
            else:
                assert np.all(np.abs(result.mid - truth) <= result.rad) and np.all(result.rad < 1e-11)


def test_what_is_too_large_is_unknown() -> None:
    wild = np.array([GREATEST + 1, FARTHEST * 2j, -GREATEST - 5, 1.0])
    radii = Balls(wild.astype(np.complex128), np.array([0.0, 0.0, 0.0, 2.0])).exp().rad
    assert radii.tolist()[:2] == [math.inf, math.inf] and 0 < radii[2] < 1e-140 and radii[3] == math.inf
    assert Balls.exact(np.array([-1.0, 0.0])).log().rad.tolist() == [math.inf, math.inf]
    assert Balls.exact(np.array([1.0])).__mul__(Balls(np.array([1j]), np.array([math.nan]))).upper()[0] == math.inf


def test_powers_products_and_sums() -> None:
    rows = NUMBERS[:24].reshape(4, 6) / np.abs(NUMBERS[:24].reshape(4, 6))
    counts = [1, 2, 5, 1000]
    with precision(200):
        exact = [[acb(one.real, one.imag) for one in row] for row in rows.tolist()]
        raised = Balls.exact(rows).raised(counts)
        truths = [[one**count for one in row] for row, count in zip(exact, counts, strict=True)]
        for row, truth in zip(range(4), truths, strict=True):
            encloses(raised[row], truth, within=2e-12)
        product = raised.prod()
        total = raised.sum(axis=0)
        for place in range(6):
            column = [truth[place] for truth in truths]
            across = column[0] * column[1] * column[2] * column[3]
            assert abs(acb(*_parts(product.mid[place])) - across) <= product.rad[place] < 1e-11
            assert abs(acb(*_parts(total.mid[place])) - sum(column, acb(0))) <= total.rad[place] < 1e-11


def _parts(value: complex) -> tuple[float, float]:
    return float(value.real), float(value.imag)


def test_bounds_and_conversions_go_outwards() -> None:
    with precision(128):
        third = arb(1) / 3
        column = Balls.column([third, arb(2, 0.5)])
        assert column.upper()[0, 0] > third > column.lower()[0, 0] and column.lower()[1, 0] <= 1.5
        assert all(ball.real.contains(number) for ball, number in zip(column.enclosed(), [third, arb(2)], strict=True))

"""Exact totals on every path, and grids that stay within decimal bounds."""

from __future__ import annotations

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import sfumato.transforms.grids as grids
from sfumato.core.domains import Bounds, Floats, Integers
from sfumato.errors import BadArgument, UnboundedColumn
from sfumato.exact import power_of_two, root
from sfumato.transforms.distances import ceil_to
from sfumato.transforms.grids import exact_square_total, exact_total, inside, row_grid


@given(st.integers(1, 62), st.lists(st.integers(0, 2**62 - 1), max_size=9))
def test_totals_are_exact_at_every_width(bits: int, drawn: list[int]) -> None:
    values = [value % 2**bits for value in drawn] + [2**bits - 1] * 3
    array, most = np.array(values, dtype=np.int64), 2**bits - 1
    assert exact_total(array, most=most) == sum(values)
    assert exact_square_total(array, most=most) == sum(value**2 for value in values)
    assert exact_total(array.astype(object), most=most) == sum(values)


def test_totals_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grids, "PIECE", 3)
    values = [2**62 - 1 - i for i in range(10)]
    assert exact_total(np.array(values), most=2**62) == sum(values)
    small = [2**32 - 1 - i for i in range(10)]
    assert exact_square_total(np.array(small), most=2**32 - 1) == sum(value**2 for value in small)
    assert exact_total(np.array([], dtype=np.int64), most=5) == 0


@given(st.fractions(-100, 100), st.fractions(0, 100), st.floats(-200, 200))
def test_a_float_lands_within_the_exact_bounds(lower: Fraction, width: Fraction, value: float) -> None:
    bounds = Bounds(lower, lower + width)
    grid = row_grid(Floats(bounds), "sum")
    low, high = float(bounds.lower), float(bounds.upper)
    whole = int(grid.offsets([min(max(value, low), high)])[0]) + grid.low
    assert bounds.lower <= whole * grid.step <= bounds.upper
    nearest = min(max(Fraction(value), bounds.lower), bounds.upper)
    slack = abs(Fraction(low) - bounds.lower) + abs(Fraction(high) - bounds.upper)
    assert abs(whole * grid.step - nearest) <= grid.step + slack


def test_steps_come_from_public_bounds_alone() -> None:
    assert row_grid(Floats((0, 100)), "sum").step == Fraction(64, 2**40)
    assert row_grid(Integers((0, 100), step=Fraction(1, 3)), "sum").step == Fraction(1, 3)
    assert power_of_two(Fraction(3, 10)) == Fraction(1, 4)
    with pytest.raises(BadArgument, match="wide enough"):
        inside(Bounds(Fraction(1, 3), Fraction(2, 3)), Fraction(1))
    with pytest.raises(UnboundedColumn):
        row_grid(Floats(), "sum")
    with pytest.raises(BadArgument, match="NaN"):
        row_grid(Floats((0, 1), nan=True), "sum")


@given(st.fractions(0, 50), st.fractions(min_value=Fraction(1, 64), max_value=8))
def test_rounding_up_to_a_step(distance: Fraction, step: Fraction) -> None:
    up = ceil_to(distance, step)
    assert up >= distance and up - distance < step and (up / step).denominator == 1
    irrational = root(distance)
    rounded = ceil_to(irrational, step)
    assert rounded**2 >= distance and (rounded == 0 or (rounded - step) ** 2 < distance)

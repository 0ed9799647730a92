"""How differential-privacy software has gone wrong, and that it cannot here: a test for each class in this layer."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.exact import power_of_two
from sfumato.noise.discrete_laplace import DiscreteLaplace


def test_outputs_on_neighbours_share_one_grid() -> None:
    """Mironov 2012 (least significant bits): which floats can come out must not depend on the input."""
    noisy = sf.scalar(float) >> sf.laplace(scale=1)
    step = power_of_two(Fraction(1)) / 2**40
    for exact in (0.0, 0.1, 1 / 3, math.pi, -1e-9):
        for _ in range(50):
            assert (Fraction(noisy(exact).value) / step).denominator == 1


def test_every_grid_point_is_reachable_from_every_input() -> None:
    """No holes: the law gives every grid point near the truth a positive probability, on all neighbours."""
    noisy = sf.scalar(float) >> sf.laplace(scale=1, step="0.25")
    for exact in (0.0, 0.1, 0.9):
        law = noisy.law(exact)  # type: ignore[misc]
        assert all(law.probability(whole) > 0 for whole in range(-40, 41))


@pytest.mark.parametrize("seed", range(5))
def test_sums_do_not_depend_on_the_order_of_rows(seed: int) -> None:
    """Casacuberta et al. 2022: float summation depends on order; ours adds whole numbers."""
    rows = [1e16, 1.0, -1e16, 0.1, 0.2, 0.3, 1e-9] * 50
    exact = sf.vector(float) >> sf.clamp(-(10**16), 10**16) >> sf.sum()
    shuffled = sorted(rows, key=lambda value: hash((value, seed)))
    assert exact(rows) == exact(shuffled) == exact(rows[::-1])


def test_sums_of_the_largest_integers_do_not_wrap() -> None:
    """Casacuberta et al. 2022; OpenDP #2925: adding a row to a full sum moves it by that row."""
    top = 2**63 - 1
    exact = sf.vector(int, between=(0, top)) >> sf.sum()
    full = np.full(1000, top, dtype=np.int64)
    assert exact(full) == 1000 * top
    assert exact(full) - exact(full[1:]) == top == exact.map(1)


def test_a_mean_of_large_floats_moves_no_more_than_its_map() -> None:
    exact = sf.vector(float, size=3) >> sf.clamp(-1e300, 1e300) >> sf.mean()
    high, low = exact([1e300] * 3), exact([1e300, 1e300, -1e300])
    assert Fraction(high) - Fraction(low) <= exact.map(1)


def test_empty_keys_get_noise_of_their_own() -> None:
    """OpenDP #2344: all empty keys shared one draw, which told them apart from full ones."""
    keys = list(range(200))
    counts = (sf.vector(int) >> sf.count_by(keys) >> sf.laplace(scale=50))([]).value
    assert len(set(counts.tolist())) > 50


def test_small_floats_are_widened_before_anything_else() -> None:
    """OpenDP #2941: a cast to 32 bits was tracked as 64."""
    column = np.array([0.1, 0.2, 0.3], dtype=np.float32)
    exact = sf.vector(float) >> sf.clamp(0, 1) >> sf.sum()
    assert exact(column) == exact([float(value) for value in column])


def test_nan_never_reaches_a_sum() -> None:
    """NaN passes through clip and poisons sums: the domain keeps it out, imputing or dropping lets the rest in."""
    total = sf.vector(float) >> sf.clamp(0, 1) >> sf.sum()
    with pytest.raises(sf.errors.NotInDomain):
        total([0.5, math.nan])
    with_nan = sf.vector(sf.Floats(nan=True))
    kept = with_nan >> sf.drop_nan() >> sf.clamp(0, 1) >> sf.sum()
    filled = with_nan >> sf.impute_nan(0.25) >> sf.clamp(0, 1) >> sf.sum()
    assert (kept([0.5, math.nan]), filled([0.5, math.nan])) == (0.5, 0.75)


def test_impute_refuses_what_is_not_a_value() -> None:
    """OpenDP #2929: imputing with an infinite bound stopped the process on one NaN."""
    with pytest.raises(sf.errors.BadArgument):
        sf.vector(sf.Floats(nan=True)) >> sf.impute_nan(math.inf)


def test_a_threshold_counts_the_tail_that_it_compares_with() -> None:
    """OpenDP #2922: keys shown at ≥ the threshold, δ computed for > it. One row alone must not show too often."""
    histogram = sf.vector(str) >> sf.stability_histogram(scale=1, threshold=5)
    law = histogram.law(["only"])  # type: ignore[misc]
    shown = 1 - law.probability(())
    delta = histogram.map(1).delta  # type: ignore[attr-defined]
    assert float(shown.lower()) <= delta
    assert not float(DiscreteLaplace(Fraction(1)).upper_tail(4).lower()) <= delta, "≥ would need more δ than is stated"


def test_reports_do_not_tell_how_many_there_are() -> None:
    """OpenDP #2930: bit-vector responses kept the length of the data."""
    with pytest.raises(sf.errors.UnknownSize):
        sf.vector(bool) >> sf.randomized_response(epsilon=1)


def test_resize_draws_a_subset_whatever_the_size() -> None:
    """OpenDP #2927: only data of the exact size was shuffled, so order told the sizes apart."""
    resize = sf.vector(int) >> sf.resize(2, constant=0)
    assert sorted(resize([1, 2])) == [1, 2] and sorted(resize([1])) == [0, 1]
    assert resize.target.metric == sf.AddRemove(), "what follows is measured without regard to order"
    with pytest.raises(sf.errors.SfumatoError):
        sf.vector(int) >> sf.resize(2, constant=0, metric=sf.metrics.Hamming())


def test_scale_cannot_collapse_to_nothing() -> None:
    """A scale that underflows to 0 releases the data: scales are rationals and are refused at 0."""
    tiny = sf.scalar(int) >> sf.laplace(scale=Fraction(1, 10**400))
    assert tiny.map(1).epsilon == 10**400  # type: ignore[attr-defined]
    with pytest.raises(sf.errors.BadArgument):
        sf.laplace(scale=0.0)


def test_the_price_is_never_rounded_down() -> None:
    """OpenDP #2802, #2820: a third is not representable; what is printed is not below it."""
    loss = (sf.scalar(int) >> sf.laplace(scale=3)).map(1)
    assert isinstance(loss, sf.Pure) and loss.epsilon == Fraction(1, 3)
    assert eval(repr(loss), {"Pure": sf.Pure}) == loss
    assert Fraction(str(loss).removeprefix("ε = ")) >= Fraction(1, 3)

"""Estimates and intervals: arithmetic, refusals, what is said where nothing is on file, how they look."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import BadArgument
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.codec import release_from_plain, release_to_plain
from sfumato.release.interval import Interval, percent
from sfumato.release.record import Noised, Receipt, Release

L10 = DiscreteLaplace(Fraction(10))


def released(value: Any, **fields: Any) -> Release:
    given = {"noise": Noised(L10, Fraction(1)), **fields}
    return Release(value, sf.Pure(1), "one row", sf.release.How("laplace"), **given)


def number(value: Any, **fields: Any) -> sf.release.Estimate:
    found = released(value, **fields).estimate()
    assert isinstance(found, sf.release.Estimate)
    return found


def ends(estimate: sf.release.Estimate, confidence: Any = 0.95) -> tuple[float, float]:
    found = estimate.interval(confidence)
    assert found is not None
    return found.ends


def test_a_release_gives_intervals_at_any_confidence() -> None:
    release = released(100, confidence=Fraction(9, 10))
    assert release.interval() == Interval(77, 123, Fraction(9, 10))
    assert release.interval("0.999") == Interval(31, 169, Fraction(999, 1000))
    assert release.interval(1).ends == (-math.inf, math.inf)  # type: ignore[union-attr]
    with pytest.raises(BadArgument, match="confidence"):
        release.interval(1.5)


def test_without_the_noise_the_half_width_speaks_at_its_own_confidence() -> None:
    release = released(100.0, noise=None, half_width=2.5)
    assert release.interval() == release.interval(0.5) == Interval(97.5, 102.5, Fraction(95, 100))
    assert release.interval(0.99) is None
    several = released((1, 2.0), noise=None, half_width=(1, 0.5))
    assert several.interval() == [Interval(0, 2, Fraction(95, 100)), Interval(1.5, 2.5, Fraction(95, 100))]
    both = (sf.vector(int) >> sf.composition([sf.count() >> sf.laplace(scale=1)] * 2))([1, 2])
    assert [interval.high - interval.low for interval in both.interval()] == [2 * width for width in both.half_width]  # type: ignore[union-attr]


@pytest.mark.parametrize("value", ["text", None, True, math.nan, math.inf, [1, "a"], {"a": 1}, np.eye(2)])
def test_nothing_is_said_about_what_is_no_number(value: Any) -> None:
    assert released(value).interval() is None
    with pytest.raises(BadArgument, match="the released value"):
        released(value).estimate()


def test_nothing_is_said_where_nothing_is_on_file() -> None:
    silent = number(5, noise=None)
    assert silent.value == 5 and silent.interval() is None and str(silent) == "5 (no interval)"
    assert (silent + 1).interval() is None and (silent + number(1)).interval() is None
    assert released([1, 2], noise=Noised(L10, Fraction(1), 3)).interval() is None
    post = sf.vector(int) >> sf.count() >> sf.laplace(scale=1) >> (lambda count: max(count, 0))
    assert post([1]).interval() is None


@pytest.mark.parametrize("other", [3, 3.0, Fraction(3), Decimal(3), np.float64(3), np.int32(3)])
def test_public_numbers_on_either_side(other: Any) -> None:
    a = number(100)
    assert ends(a + other) == ends(other + a) == (73, 133)
    assert ends(a - other) == (67, 127) and ends(other - a) == (-127, -67)
    assert ends(a * other) == ends(other * a) == (210, 390)
    assert ends(-a) == (-130, -70) and ends(a * 0 + 1) == (1, 1)
    assert ends(a / other) == pytest.approx((70 / 3, 130 / 3))
    assert ends(other / a) == pytest.approx((3 / 130, 3 / 70), rel=2e-3)
    assert (other / a).value == 0.03


def test_what_arithmetic_refuses() -> None:
    a = number(100)
    for wrong in ("3", None, True, [1], 1j):
        for operation in (lambda x: a + x, lambda x: a - x, lambda x: a * x, lambda x: a / x, lambda x: x - a):
            with pytest.raises(TypeError):
                operation(wrong)
    for wrong in (math.nan, math.inf):
        with pytest.raises(BadArgument, match="finite"):
            a + wrong
    with pytest.raises(BadArgument, match="other than 0"):
        a / 0
    with pytest.raises(BadArgument, match="at most high"):
        a.clipped(2, 1)


def test_products_and_other_things_have_a_value_and_no_interval() -> None:
    a, b = number(100), number(20)
    assert (a * b).value == 2000 and (a * b).interval() is None
    assert (a / b + b).value == 25 and (a / b + b).interval() is None
    assert (a.clipped(0) + b).value == 120 and (a.clipped(0) + b).interval() is None
    assert (a / b / b).value == 0.25 and (a / b / b).interval() is None
    assert math.isnan((a / number(0) * b).value)
    assert math.isnan((b / (a - a)).value) and math.isnan((a * b / (b - b)).value)
    assert ((a - a) / a).interval() == Interval(0.0, 0.0, Fraction(95, 100))


def test_ratios_over_the_same_denominator() -> None:
    a, b, c = number(300), number(100), number(50)
    assert ends(a / c - b / c) == ends((a - b) / c)
    assert ends((a / c) / (b / c)) == ends(a / b)
    assert ends(2 / (a / b)) == ends(2 * b / a)


def test_functions_without_a_value_give_no_end() -> None:
    near = number(10)
    assert ends(near.through(math.log)) == (-math.inf, math.nextafter(math.log(40), math.inf))
    assert ends(near.through(np.log)) == (-math.inf, math.nextafter(float(np.log(40)), math.inf))
    assert math.isnan(number(-3).through(math.sqrt).value)
    assert ends((number(5) / number(0)).clipped(0, 1)) == (0, 1)
    assert ends((number(5) / number(0)).through(math.exp)) == (-5e-324, math.inf)


def test_a_stored_release_is_the_same_noise_when_read_twice() -> None:
    paid = released(100, receipt=Receipt(3, "ab", "team", "now"))
    first, second = (release_from_plain(release_to_plain(paid)).estimate() for _ in range(2))
    assert ends(first - second) == (0, 0) and ends(first + second) == (140, 260)  # type: ignore[operator]
    other = replace(paid, receipt=Receipt(4, "cd", "team", "now")).estimate()
    assert ends(first - other) == (-41, 41)  # type: ignore[operator]


def test_how_intervals_and_estimates_look() -> None:
    assert str(Interval(70.123, 74.56789, Fraction(95, 100))) == "[70.1, 74.6] (95%)"
    assert str(Interval(-0.00123456, 0.00123456, Fraction(999, 1000))) == "[-0.0013, 0.0013] (99.9%)"
    assert str(Interval(1234567, 9876543, Fraction(9, 10))) == "[1234567, 9876543] (90%)"
    assert str(Interval(10**15 + 1, 10**15 + 33, Fraction(9, 10))) == "[1000000000000001, 1000000000000033] (90%)"
    assert str(Interval(-math.inf, 2.5, Fraction(9, 10))) == "[-inf, 2.5] (90%)"
    assert str(Interval(1e300, 2e300, Fraction(9, 10))) == "[1.0e+300, 2.0e+300] (90%)"
    assert str(number(72)) == repr(number(72)) == "72 [42, 102] (95%)"
    assert str(number(72) / 1000) == "0.072 [0.042, 0.102] (95%)"
    assert str(number(1) / number(0)) == "nan [-inf, inf] (95%)"
    assert 3 in Interval(1, 3, Fraction(9, 10)) and Fraction(7, 2) not in Interval(1, 3, Fraction(9, 10))


def test_vectors_come_in_coordinates() -> None:
    release = released(np.array([1, 2, 3]), noise=Noised(L10, Fraction(1), 3))
    parts = release.estimate()
    assert isinstance(parts, list) and [part.value for part in parts] == [1, 2, 3]
    assert sum(parts).value == 6
    assert released(np.array([], dtype=int), noise=Noised(L10, Fraction(1), 0)).interval() == []


def test_huge_numbers_and_scales_have_intervals() -> None:
    huge = DiscreteLaplace(Fraction(10) ** 400)
    far = number(10**500, noise=Noised(huge, Fraction(1)))
    assert far.value == math.inf and ends(far)[1] == math.inf
    assert math.isfinite(ends(far / Fraction(10) ** 500)[0])
    assert ends(far - number(1, noise=Noised(huge, Fraction(1))))[0] > 0
    tiny = number(0.0, noise=Noised(L10, Fraction(1, 10**300)))
    low, high = ends(tiny + tiny / 3 - number(0.0, noise=Noised(huge, Fraction(1, 10**700))))
    assert -1e-298 < low < 0 < high < 1e-298


ONE = Noised(DiscreteLaplace(Fraction(1)), Fraction(1))


def test_functions_beyond_the_floats_keep_an_end_that_holds() -> None:
    assert ends(number(800, noise=ONE).through(np.exp)) == (math.nextafter(math.inf, 0), math.inf)
    low, high = ends(number(-(10**6)).through(math.exp))
    assert low <= 0 < high == 5e-324
    down, up = ends(number(800, noise=ONE).through(lambda x: -float(np.exp(min(x, 1e4))), increasing=False))
    assert (down, up) == (-math.inf, -math.nextafter(math.inf, 0))


@pytest.mark.parametrize("function", [math.sqrt, math.log, math.atan, math.exp, math.cbrt, lambda x: x / 3])
def test_ends_of_a_function_lie_beyond_its_values_in_floats(function: Any) -> None:
    low, high = ends(number(500, noise=ONE).through(function))
    first, last = ends(number(500, noise=ONE))
    assert low < function(first) and function(last) < high
    assert ends(number(2**60 + 1, noise=ONE).through(float))[0] < 2**60 + 1 - 3  # the argument is rounded outward too


def test_division_by_a_zero_that_is_no_noise() -> None:
    a, b = number(3), number(5)
    for undefined in (a / (b - b), 1 / (b - b), a / (b - b) + 1, 1 / (1 / (b - b)), (1 / (b - b)) / (a / b)):
        assert math.isnan(undefined.value) and undefined.interval() is None
        assert str(undefined) == repr(undefined) == "nan (no interval)"
    assert math.isnan((a / (b - b)).through(math.exp).value)


def test_huge_whole_numbers_are_shown() -> None:
    for size in (20, 400, 401, 6000):
        interval = released(10**size).interval()
        low, high = (Fraction(end) for end in str(interval)[1:-7].split(", "))
        assert low <= interval.low < 10**size < interval.high <= high  # type: ignore[union-attr]
        assert high - low <= max(100, 10 ** (size - 398))
    assert str(Interval(-(10**500), 10**500, Fraction(1, 2))) == "[-1.0e+500, 1.0e+500] (50%)"
    assert str(Interval(-(10**500), math.inf, Fraction(1, 2))) == "[-1e+500, inf] (50%)"


def test_whole_numbers_look_whole() -> None:
    e = number(7)
    assert str(e - e + 640) == "640 [640, 640] (95%)"
    assert str(Interval(-1, 1, Fraction(95, 100))) == "[-1, 1] (95%)"
    assert str(number(100, noise=ONE)) == "100 [97, 103] (95%)"
    assert str(Interval(640.0, math.inf, Fraction(9, 10))) == "[640, inf] (90%)"
    assert str(Interval(2.5, 1.5, Fraction(9, 10))) == "[2.5, 1.5] (90%)"


def test_only_certainty_is_a_hundred_percent() -> None:
    assert [percent(Fraction(text)) for text in ("0.95", "0.999", "0.9", "0", "1")] == [
        *("95%", "99.9%", "90%", "0%", "100%")
    ]
    for power in (6, 7, 8, 12, 30, 400):
        shown = percent(1 - Fraction(1, 10**power))
        assert float(shown[:-1]) > 99.99 and Fraction(shown[:-1]) <= 100 - Fraction(100, 10**power), shown
    assert percent(1 - Fraction(1, 10**9)) == "99.9999999%"


@pytest.mark.filterwarnings("error")
def test_sums_of_very_small_noises_are_quiet() -> None:
    tiny = Noised(DiscreteGaussian(Fraction(1, 10**200)), Fraction(1))
    assert ends(number(3, noise=tiny) + number(4, noise=tiny)) == (7, 7)
    assert ends(number(3, noise=tiny) + number(4)) == ends(number(7))

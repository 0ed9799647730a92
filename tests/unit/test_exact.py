"""Exact numbers and directed rounding."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from ast import literal_eval
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.facts.gaussian import mu_near
from sfumato.accounting.plans.search import about, greatest, greatest_integer, least, least_integer
from sfumato.errors import BadArgument, CannotCalibrate
from sfumato.exact import (
    Root,
    ball,
    digits_up,
    down,
    enclose,
    exp_down,
    exp_up,
    floor_of,
    integer,
    log_down,
    log_up,
    precision,
    rational,
    rational_up,
    root,
    squared,
    text,
    up,
)

fractions = st.fractions(min_value=-(10**12), max_value=10**12, max_denominator=10**9)
positives = st.fractions(min_value=Fraction(1, 10**9), max_value=10**9, max_denominator=10**9)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (Decimal("0.25"), Fraction(1, 4)),
        (3, Fraction(3)),
        (1e-300, Fraction(1, 10**300)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.5), Fraction(1, 2)),
        (np.int64(7), Fraction(7)),
        (np.array(2.5), Fraction(5, 2)),
    ],
)
def test_numbers_are_read_as_people_see_them(typed: object, read: Fraction) -> None:
    assert rational(typed) == read  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "bad",
    [
        "x",
        "",
        "1/0",
        None,
        True,
        [1],
        1j,
        math.nan,
        math.inf,
        -math.inf,
        Decimal("NaN"),
        np.array([1.0]),
        np.longdouble(1),
    ],
)
def test_what_is_no_number_is_refused(bad: object) -> None:
    with pytest.raises(BadArgument):
        rational(bad)  # type: ignore[arg-type]


@given(fractions)
def test_up_and_down_enclose_and_touch(value: Fraction) -> None:
    assert Fraction(down(value)) <= value <= Fraction(up(value))
    assert up(value) == down(value) or math.nextafter(down(value), math.inf) == up(value)


@given(positives)
def test_roots_are_exact_and_round_outward(square: Fraction) -> None:
    found = root(square)
    assert squared(found) == square
    assert Fraction(down(found)) ** 2 <= square <= Fraction(up(found)) ** 2
    assert math.nextafter(down(found), math.inf) >= up(found)
    assert Fraction(rational_up(found)) ** 2 >= square


@given(positives, positives)
def test_roots_compare_like_their_squares(a: Fraction, b: Fraction) -> None:
    assert (root(a) < root(b)) == (a < b)
    assert (root(a) <= b) == (a <= b * b)
    assert squared(root(a) * b) == a * b * b
    assert squared(root(a) / b) == a / b**2


@pytest.mark.parametrize(
    "huge",
    ["1e999999999", "1E-1_000_000", "-3e+123456", "1e\uff19\uff19\uff19\uff19\uff19\uff19\uff19", Decimal("1e-999999")],
)
def test_few_letters_that_stand_for_endless_digits_are_refused_at_once(huge: str | Decimal) -> None:
    with pytest.raises(BadArgument, match="must be a finite number"):
        rational(huge)


def test_roots_of_squares_are_rational() -> None:
    assert root(Fraction(9, 4)) == Fraction(3, 2) and isinstance(root(2), Root)
    assert repr(root(2)) == "√2" and Fraction(float(root(2))) ** 2 >= 2
    assert root(2) < math.inf and not root(2) < -1
    with pytest.raises(BadArgument):
        root(-1)


def test_up_beyond_the_floats() -> None:
    assert up(Fraction(10) ** 400) == math.inf
    assert down(Fraction(10) ** 400) == math.nextafter(math.inf, 0)
    assert up(math.inf) == down(math.inf) == math.inf
    assert up(Fraction(1, 10**400)) == 5e-324 and down(Fraction(1, 10**400)) == 0


@pytest.mark.parametrize("power", [-1400, -650, -646, -324, -308, -20, 307, 308, 614, 616])
def test_roots_of_squares_beyond_the_floats_round_outward(power: int) -> None:
    square = Fraction(10) ** power * Fraction(14, 13)
    low, high = down(Root(square)), up(Root(square))
    assert math.nextafter(low, math.inf) == high
    assert Fraction(low) ** 2 < square and (high == math.inf or square < Fraction(high) ** 2)


@pytest.mark.parametrize("square", [Fraction(0), Fraction(-2), Fraction(4), Fraction(9, 4)])
def test_a_root_is_of_a_number_that_is_no_square(square: Fraction) -> None:
    # √4 would be neither equal to 2 nor ordered against it
    with pytest.raises(BadArgument):
        Root(square)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_is_not_stopped_by_a_precision_that_a_thread_of_its_parent_had() -> None:
    inside, before = threading.Event(), ctx.prec

    def work() -> None:
        with precision(777):
            inside.set()
            time.sleep(0.2)

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a child that waits for the lock would wait for ever
        with precision(64):
            pass
        os._exit(0 if ctx.prec == before else 1)
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with precision(99):
        child = os.fork()  # the thread that forks may be inside itself
        if child == 0:
            signal.alarm(20)
            os._exit(0 if ctx.prec == 99 and enclose(lambda: ball(1), 64) == (1, 1) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert ctx.prec == before


@given(positives)
def test_logarithms_and_exponentials_enclose(value: Fraction) -> None:
    assert log_down(value) <= log_up(value)
    assert math.isclose(up(log_up(value)), math.log(value), rel_tol=1e-12, abs_tol=1e-12)
    small = min(value, Fraction(500))
    assert exp_down(-small) <= exp_up(-small)
    assert math.isclose(up(exp_up(-small)), math.exp(-small), rel_tol=1e-9)


def test_logarithms_are_exact_where_they_can_be() -> None:
    assert log_up(Fraction(1)) == log_down(Fraction(1)) == 0
    assert exp_up(0) == exp_down(0) == 1
    assert log_up(math.inf) == math.inf
    with pytest.raises(BadArgument):
        log_up(Fraction(0))


def test_floors_are_certain() -> None:
    assert floor_of(lambda: ball(3).log() * 10**40) == 10986122886681096913952452369225257046474
    near = Fraction(10**60 - 1, 10**60)
    assert floor_of(lambda: ball(5) * ball(near) + (ball(2).sqrt() ** 2 - 2) * 0, bits=64) == 4
    with pytest.raises(ArithmeticError, match="exactly whole"):
        floor_of(lambda: ball(2).sqrt() ** 2, most=1024)


def test_balls_that_hold_nothing_are_open_ended() -> None:
    assert enclose(lambda: arb(1) / arb(0)) == (-math.inf, math.inf)


def test_precision_is_restored_and_not_shared_between_threads() -> None:
    before, wrong = ctx.prec, []

    def work(bits: int) -> None:
        for _ in range(200):
            with precision(bits):
                if ctx.prec != bits:
                    wrong.append(bits)
                ball(Fraction(1, 3)).exp()

    threads = [threading.Thread(target=work, args=(bits,)) for bits in (64, 128, 512)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and ctx.prec == before


@pytest.mark.parametrize("bad", [1.0, True, "1", None, 0])
def test_whole_numbers_are_strict(bad: object) -> None:
    with pytest.raises(BadArgument):
        integer(bad, "n", least=1)
    assert integer(np.int32(4), "n") == 4


@given(positives)
def test_searches_end_on_the_right_side(target: Fraction) -> None:
    found = least(lambda x: x >= target)
    assert found >= target > Fraction(math.nextafter(float(found), 0))
    found = greatest(lambda x: x <= target)
    assert found <= target < Fraction(math.nextafter(float(found), math.inf))


def test_searches_over_whole_numbers() -> None:
    assert least_integer(lambda n: n * n >= 50) == 8
    assert greatest_integer(lambda n: n * n <= 50) == 7
    with pytest.raises(CannotCalibrate):
        least_integer(lambda n: False)
    with pytest.raises(CannotCalibrate, match="one direction"):
        least_integer(lambda n: n < 5)


@pytest.mark.parametrize("number", ["0.3", "1e-6", "1/3", "-2/7", "1e-400", "7e500", "0", "12", "0.1234567890123456"])
def test_what_is_written_reads_back(number: str) -> None:
    assert rational(literal_eval(text(Fraction(number)))) == Fraction(number)


@pytest.mark.parametrize(
    "number", [Fraction(2, 3**60), Fraction(10**400, 3**60), Fraction(0.1), Fraction(3**900 + 1, 2)]
)
def test_what_is_not_written_out_does_not_read_back(number: Fraction) -> None:
    assert text(number).endswith("…")
    assert Fraction(text(number).removesuffix("…")) <= number
    with pytest.raises(SyntaxError):
        literal_eval(text(number))


@given(st.fractions(min_value=Fraction(1, 10**30)), st.integers(-2000, 2000), st.sampled_from([3, 6]))
def test_digits_are_never_below_the_number(value: Fraction, power: int, digits: int) -> None:
    number = value * Fraction(10) ** power
    assert number <= Fraction(digits_up(number, digits)) <= number * (1 + Fraction(10) ** (1 - digits))


@pytest.mark.parametrize("search", [least, greatest])
@pytest.mark.parametrize(
    "near", [None, 0.1, 1 / 3, math.nextafter(1 / 3, 1), 7e100, 1e-200, 2.0**-900, math.inf, math.nan]
)
def test_where_a_search_begins_changes_how_often_it_asks_and_nothing_else(
    search: Callable[..., Fraction], near: float | None
) -> None:
    asked: list[Fraction] = []

    def good(value: Fraction) -> bool:
        asked.append(value)
        return (value >= Fraction(1, 3)) == (search is least)

    found = search(good, near=near)
    beside = Fraction(math.nextafter(float(found), 0.0 if search is least else 1.0))
    assert good(found) and not good(beside) and found in asked
    assert len(asked) < (10 if near is not None and abs(near - 1 / 3) < 1e-15 else 140)


def test_a_search_near_the_wrong_place_still_refuses_what_there_is_not() -> None:
    with pytest.raises(CannotCalibrate, match="even the most private one misses it"):
        least(lambda value: False, near=1.0)
    with pytest.raises(CannotCalibrate, match="does not move in one direction"):
        least(lambda value: value < 1, near=2.0**-899)


@pytest.mark.parametrize("start", [1e-6, 1.0, 50.0])
def test_secants_lead_to_where_a_falling_function_meets_0_and_give_up_where_it_does_not(start: float) -> None:
    assert about(lambda x: math.exp(-x) - 0.25, start=start) == pytest.approx(math.log(4), rel=1e-14)
    assert about(lambda x: math.nan, start=start) is None
    assert about(lambda x: 1.0 if x < 3 else -1.0, start=start) == pytest.approx(3, rel=1e-12)


def test_a_place_that_is_known_to_the_last_digit_ends_the_search() -> None:
    epsilon = Fraction(7033332100304291, 288230376151711744)
    near = mu_near(epsilon, epsilon / 10**6)
    assert near is not None and 0.001 < near < 0.1  # the bracket was empty, and the next step was divided by its length

"""A bracket: its ends, what it contains, and that what it prints is certified too."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import pytest

from sfumato.accounting.losses.bracket import Bracket, digits_down
from sfumato.errors import BadArgument
from sfumato.exact import Extended


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (Fraction("1.9999996"), Fraction("2.0000004"), "2.00001 (at least 1.99999)"),
        (Fraction(2, 3), Fraction(2, 3), "0.666667 (at least 0.666666)"),
        (Fraction(0), Fraction(1, 10**400), "1e-400 (at least 0)"),
        (Fraction(123456789), math.inf, "inf (at least 1.23456e+08)"),
        (math.inf, math.inf, "inf (at least inf)"),
        (Fraction(5), Fraction(5), "5 (at least 5)"),
    ],
)
def test_printed_ends_are_rounded_outward(low: Extended, high: Extended, wanted: str) -> None:
    assert str(Bracket(low, high)) == wanted


def test_no_printed_lower_end_is_above_the_lower_end() -> None:
    for step in range(1, 400):
        low = Fraction(step**3, 7 * 10 ** (step % 12))
        shown = re.fullmatch(r".* \(at least (.*)\)", str(Bracket(low, low + 1)))
        assert shown is not None
        assert low * (1 - Fraction(1, 10**5)) < Fraction(shown[1]) <= low


def test_digits_down_of_huge_and_tiny_numbers() -> None:
    assert digits_down(Fraction(19, 10**401), digits=1) == "1e-400"
    assert digits_down(Fraction(19 * 10**400), digits=1) == "1e+401"


def test_a_bracket_is_an_interval() -> None:
    assert 1.5 in Bracket(Fraction(1), Fraction(2))
    assert 3 not in Bracket(Fraction(1), Fraction(2))
    assert Bracket(math.inf, math.inf).width == 0
    assert repr(Bracket(Fraction(1, 3), Fraction(1, 3))) == "Bracket(0.3333333333333333, 0.33333333333333337)"
    with pytest.raises(BadArgument, match="at most upper"):
        Bracket(Fraction(2), Fraction(1))

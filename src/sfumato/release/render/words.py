"""The one home of how numbers and words are written: digits, error bars, shares, and texts that cannot do harm."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np

from sfumato.exact import Extended, decimal_of, digits_up, up
from sfumato.release.interval import percent

__all__ = ["clean", "exactly", "finite", "never_below", "number", "numeric", "paired", "percent", "short", "width"]

DIGITS = 6
"""How many digits a number has, unless its error bar asks for more."""

FLOAT_DIGITS = 14
"""Digits of a float that are not its rounding."""

LONGEST_WHOLE, LONGEST_TEXT = 64, 400
"""Whole numbers of more bits are shortened, and texts of more letters are cut."""

FEW = 8
"""Lists of up to this many values are written out on one line."""

JOINERS = frozenset("\u200c\u200d")
"""Invisible letters that some scripts cannot be written without."""


def clean(text: object, *, most: int | None = None) -> str:
    r"""Puts a text on one line, without anything that steers a terminal, hides or turns what follows.

    Such letters are written as their code, so that a reader sees that they were there.

    >>> clean("count\x1b[31m\u202e\nof\xa0rows")
    'count\\u001b[31m\\u202e of rows'
    """
    line = str(text)
    if not line.isprintable():
        line = "".join(letter if letter.isprintable() or letter in JOINERS else _visible(letter) for letter in line)
    return line if most is None or len(line) <= most else line[: most - 1] + "…"


def _visible(letter: str) -> str:
    if letter in "\t\n\r\v\f" or unicodedata.category(letter) in ("Zs", "Zl", "Zp"):
        return " "
    return f"\\u{ord(letter):04x}"


def numeric(value: object) -> TypeGuard[int | float | Fraction]:
    """Tells whether something is one number."""
    return isinstance(value, int | float | Fraction | np.number) and not isinstance(value, bool | np.complexfloating)


def finite(value: object) -> float | None:
    """A number as a float, to draw it; None where it is no number, or beyond what floats hold."""
    if not numeric(value):
        return None
    try:
        near = float(value)
    except OverflowError:
        return None
    return near if math.isfinite(near) else None


def exactly(value: object) -> Fraction | None:
    """A finite number as a rational; None where it is no such number."""
    if isinstance(value, np.number):
        value = value.item()
    if not numeric(value) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return Fraction(value)


def never_below(value: Extended) -> float | str:
    """Rounds a loss up to the least float that, read as its decimal, is not below it; infinity as a text.

    >>> never_below(Fraction("4.8")), never_below(Fraction(1, 3)), never_below(math.inf)
    (4.8, 0.33333333333333337, 'inf')
    """
    near = up(value)
    if near == math.inf:
        return "inf"
    below = math.nextafter(near, -math.inf)
    return below if Fraction(repr(below)) >= value else near


def number(value: object, *, error: object = None) -> str:
    """Writes a number: whole ones in full, others with six digits, or as many as their error bar asks for.

    >>> number(1 / 3), number(1234567.891), number(1234567.891, error=0.5), number(1234567.891, error=900), number(12)
    ('0.333333', '1.23457e+06', '1234567.891', '1234568', '12')
    """
    exact = exactly(value)
    if exact is None:
        return clean(value)
    if isinstance(value, int | np.integer):
        whole = int(value)
        return str(whole) if whole.bit_length() <= LONGEST_WHOLE else _decimal(exact)
    near = finite(value)
    if near is None:
        return _decimal(exact)
    few, half = f"{near:.{DIGITS}g}", finite(error)
    if half is None or half <= 0 or not 1e-5 <= abs(near) < 1e15:
        return few
    if "e" not in few and abs(float(few) - near) * 200 <= half:
        return few
    return f"{near:.{min(12, max(0, 2 - math.floor(math.log10(half))))}f}"


def _decimal(value: Fraction) -> str:
    return f"{decimal_of(value, DIGITS, ROUND_FLOOR):g}"


def width(half_width: object) -> str:
    """Writes the half of an error bar, never shorter than it is, but for the last digits of a float.

    >>> width(59.900000000000006), width(2.3965858)
    ('59.9', '2.39659')
    """
    exact = exactly(half_width)
    return short(half_width) if exact is None else digits_up(Fraction(decimal_of(exact, FLOAT_DIGITS, ROUND_HALF_EVEN)))


def short(value: Any) -> str:
    """Writes a value on one line; long lists show their beginning and how many there are."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return _bracketed(
            [f"{clean(name, most=80)}: {short(each)}" for name, each in _first(value.items())], len(value), "{}"
        )
    if isinstance(value, list | tuple):
        shown = [
            f"{clean(each[0], most=80)}: {short(each[1])}" if paired(each) else short(each) for each in _first(value)
        ]
        return _bracketed(shown, len(value), "[]")
    return number(value) if numeric(value) else clean(value, most=LONGEST_TEXT)


def paired(entry: object) -> bool:
    """Tells whether an entry of a list is a name with its value."""
    return isinstance(entry, tuple) and len(entry) == 2


def _first(entries: Any) -> Sequence[Any]:
    listed = list(entries)
    return listed if len(listed) <= FEW else listed[: FEW // 2]


def _bracketed(shown: Sequence[str], count: int, brackets: str) -> str:
    rest = f", … {count} values" if count > len(shown) else ""
    return brackets[0] + ", ".join(shown) + rest + brackets[1]

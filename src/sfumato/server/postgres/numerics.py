"""Numbers of any length in PostgreSQL's binary form: digits to the base of ten thousand, with a weight and a scale."""

from __future__ import annotations

import struct
from decimal import Decimal

BASE = 10_000
POSITIVE, NEGATIVE, NO_NUMBER, INFINITE, LEAST = 0x0000, 0x4000, 0xC000, 0xD000, 0xF000
STRANGE = {NO_NUMBER: Decimal("NaN"), INFINITE: Decimal("Infinity"), LEAST: Decimal("-Infinity")}
MOST_DIGITS = 200
"""Groups of four digits that are read."""


def numeric_octets(text: str) -> bytes:
    """Writes a number.

    >>> numeric_octets("12345.678").hex()
    '0003000100000003000109291a7c'
    """
    number = Decimal(text)
    if not number.is_finite():
        sign = NO_NUMBER if number.is_nan() else INFINITE if number > 0 else LEAST
        return struct.pack(">hhHh", 0, 0, sign, 0)
    negative, digits, exponent = number.as_tuple()
    places = int(exponent)
    plain = "".join(map(str, digits)) + "0" * max(0, places)
    scale = max(0, -places)
    plain = plain.rjust(scale + 1, "0")
    whole, part = plain[: len(plain) - scale], plain[len(plain) - scale :]
    whole = whole.rjust(-(-len(whole) // 4) * 4, "0")
    part = part.ljust(-(-len(part) // 4) * 4, "0")
    groups = [int((whole + part)[at : at + 4]) for at in range(0, len(whole + part), 4)]
    weight = len(whole) // 4 - 1
    while groups and groups[0] == 0:
        groups, weight = groups[1:], weight - 1
    while groups and groups[-1] == 0:
        groups.pop()
    if not groups:
        weight = 0
    sign = NEGATIVE if negative and groups else POSITIVE
    return struct.pack(f">hhHh{len(groups)}h", len(groups), weight, sign, scale, *groups)


def numeric_value(octets: bytes) -> Decimal:
    """Reads a number; anything else is a `ValueError`.

    >>> numeric_value(numeric_octets("-0.0500"))
    Decimal('-0.0500')
    """
    if len(octets) < 8:
        raise ValueError
    count, weight, sign, scale = struct.unpack(">hhHH", octets[:8])
    if sign in STRANGE:
        return STRANGE[sign]
    if sign not in (POSITIVE, NEGATIVE) or not 0 <= count <= MOST_DIGITS or len(octets) != 8 + 2 * count:
        raise ValueError
    if not -MOST_DIGITS <= weight <= MOST_DIGITS or scale > 4 * MOST_DIGITS:
        raise ValueError
    groups = struct.unpack(f">{count}h", octets[8:])
    if any(not 0 <= group < BASE for group in groups):
        raise ValueError
    whole = 0
    for group in groups:
        whole = whole * BASE + group
    exponent = 4 * (weight - count + 1)
    number = Decimal((sign == NEGATIVE, tuple(map(int, str(whole))), exponent))
    return Decimal(f"{number:.{scale}f}") if -exponent > scale or exponent > 0 or scale > -exponent else number

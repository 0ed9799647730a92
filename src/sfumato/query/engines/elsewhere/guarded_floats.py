"""Arithmetic on floats for databases that raise where the result is no float: missing there, and exact elsewhere.

Operands are first halved, or moved by powers of 2, which loses nothing where it matters: so it is known whether the
result, once rounded, is a float, and where it is not the operation is never asked.
"""

from __future__ import annotations

MOST = "1.7976931348623157E308"
HALF_OF_MOST = "8.988465674311579E307"

DOWN, UP = 2.0**-600, 2.0**600
"""Powers of 2 by which numbers are moved."""

SUM_FITS = f"ABS({{0}} / 2 {{sign}} {{1}} / 2) <= {HALF_OF_MOST}"

MOVED = f"{MOST} * {DOWN!r} * {DOWN!r}"

# Of two numbers above 1 the product, moved by 2^-1200 in all, is below all that is near the ends of floats.
PRODUCT_FITS = f"(ABS({{0}}) <= 1 OR ABS({{1}}) <= 1 OR ABS(({{0}} * {DOWN!r}) * ({{1}} * {DOWN!r})) <= {MOVED})"

# A quotient by a number from 1 on is none that is too large; the others are moved up, as is the bound moved down.
QUOTIENT_FITS = (
    f"(ABS({{1}}) >= 1 OR ABS(({{0}} * {DOWN!r}) / (CASE WHEN {{1}} <> 0 AND ABS({{1}}) < 1 THEN {{1}} END * {UP!r}))"
    f" <= {MOVED})"
)


def _guarded(fits: str, symbol: str) -> str:
    return f"(CASE WHEN {fits} THEN {{0}} END {symbol} CASE WHEN {fits} THEN {{1}} END)"


GUARDED = {
    "add": _guarded(SUM_FITS.replace("{sign}", "+"), "+"),
    "sub": _guarded(SUM_FITS.replace("{sign}", "-"), "-"),
    "mul": _guarded(PRODUCT_FITS, "*"),
    "div": _guarded(QUOTIENT_FITS, "/"),
}

"""Arithmetic on floats that never raises: PostgreSQL does, for results that are too large or too small for a float.

What is in usual ranges is computed as it is. The rest is taken apart into whole numbers and powers of two, which are
exact, and put together again, rounded once: as IEEE 754 says, and as every other engine has it.
"""

from __future__ import annotations

FINITE = "CASE WHEN {0} > CAST('-Infinity' AS float8) AND {0} < CAST('Infinity' AS float8) THEN {0} END"
"""To PostgreSQL NaN is above everything, infinity too."""

HALF_OF_LARGEST = "CAST('8.9e307' AS float8)"
TOO_LARGE = "CAST('8.98846567431158e307' AS float8)"
"""2 to the power of 1023: what half of a sum must lie below."""


def _half(place: int) -> str:
    """Half of an operand; of a small one, which decides nothing beside a large one, none."""
    return f"CASE WHEN abs({{{place}}}) < CAST('1e200' AS float8) THEN 0 ELSE {{{place}}} / 2 END"


def _sum(sign: str) -> str:
    small = f"abs({{0}}) <= {HALF_OF_LARGEST} AND abs({{1}}) <= {HALF_OF_LARGEST}"
    large = f"abs({_half(0)} {sign} {_half(1)}) < {TOO_LARGE}"
    return f"CASE WHEN {small} THEN {{0}} {sign} {{1}} WHEN {large} THEN {{0}} {sign} {{1}} END"


def shifted(power: str) -> str:
    """2 to the power of a whole number between 0 and 179, exactly, as a decimal."""
    part = "CAST(CAST(1 AS int8) << CAST(greatest(least({0}, {1}), 0) AS int4) AS numeric)"
    return " * ".join(part.format(f"({power}) - {60 * place}", 60) for place in range(3))


BITS = "CAST(CAST('x' || encode(float8send({0}), 'hex') AS bit(64)) AS int8)"
PARTS = (
    "SELECT a, b, greatest(a >> 52, 1) - 1075 AS ea, greatest(b >> 52, 1) - 1075 AS eb,"
    " (a & 4503599627370495) + CASE WHEN a >> 52 > 0 THEN 4503599627370496 ELSE 0 END AS ma,"
    " (b & 4503599627370495) + CASE WHEN b >> 52 > 0 THEN 4503599627370496 ELSE 0 END AS mb"
    f" FROM (SELECT {BITS.format('abs({0})')} AS a, {BITS.format('abs({1})')} AS b OFFSET 0) AS bits"
)
"""The sizes of two finite floats as whole numbers times powers of two."""


def _rescued(rough: str, exponent: str, above: str, below: str) -> str:
    """A product or quotient, rounded once: ``rough`` is that of the whole numbers, as a float, times 2 to a power.

    ``above`` and ``below`` are the exact numerator and denominator. Below all normal floats the result is a whole
    number of the least float there is, found from these.
    """
    pieces = (
        f"SELECT {rough} AS p, {exponent} AS e, CAST({above} AS numeric) AS above, CAST({below} AS numeric) AS below"
        f" FROM ({PARTS}) AS parts OFFSET 0"
    )
    least = (
        "SELECT div(n, d) + CASE WHEN 2 * mod(n, d) > d OR (2 * mod(n, d) = d AND mod(div(n, d), 2) = 1)"
        f" THEN 1 ELSE 0 END FROM (SELECT above * {shifted('e + 1074')} AS n, below * {shifted('-(e + 1074)')} AS d)"
        " AS fraction"
    )
    size = (
        "CASE WHEN e > 1080 THEN NULL WHEN e < -1250 THEN 0"
        " WHEN p >= power(CAST(2 AS float8), least(1024 - e, 200)) THEN NULL"
        " WHEN p >= power(CAST(2 AS float8), greatest(-1022 - e, -200))"
        " THEN p * power(CAST(2 AS float8), e / 2) * power(CAST(2 AS float8), e - e / 2)"
        f" ELSE CAST(({least}) AS float8) * CAST('5e-324' AS float8) END"
    )
    return f"(SELECT sign({{0}}) * sign({{1}}) * {size} FROM ({pieces}) AS rescued)"


def _usual(place: int) -> str:
    return f"abs({{{place}}}) BETWEEN CAST('1e-150' AS float8) AND CAST('1e150' AS float8)"


PRODUCT = (
    f"CASE WHEN {_usual(0)} AND {_usual(1)} THEN {{0}} * {{1}} WHEN {{0}} IS NULL OR {{1}} IS NULL THEN NULL"
    " WHEN {0} = 0 OR {1} = 0 THEN 0 ELSE "
    + _rescued("CAST(ma AS float8) * CAST(mb AS float8)", "ea + eb", "CAST(ma AS numeric) * mb", "1")
    + " END"
)
QUOTIENT = (
    f"CASE WHEN {_usual(0)} AND {_usual(1)} THEN {{0}} / {{1}}"
    " WHEN {0} IS NULL OR {1} IS NULL OR {1} = 0 THEN NULL WHEN {0} = 0 THEN 0 ELSE "
    + _rescued("CAST(ma AS float8) / CAST(nullif(mb, 0) AS float8)", "ea - eb", "ma", "nullif(mb, 0)")
    + " END"
)
FLOATS = {"add": _sum("+"), "sub": _sum("-"), "mul": PRODUCT, "div": QUOTIENT}
"""Of two finite floats; missing where the result is not finite."""

MODULO = (
    "CASE WHEN {1} = 0 THEN NULL WHEN abs({0}) < abs({1}) THEN {0} ELSE (SELECT sign({0}) * CAST(r AS float8)"
    " * power(CAST(2 AS float8), e / 2) * power(CAST(2 AS float8), e - e / 2) FROM (SELECT least(ea, eb) AS e,"
    " mod(ma * power(CAST(2 AS numeric), greatest(ea - eb, 0)),"
    f" nullif(mb, 0) * power(CAST(2 AS numeric), greatest(eb - ea, 0))) AS r FROM ({PARTS}) AS parts OFFSET 0)"
    " AS rest) END"
)
"""The rest of a division, exactly, with the sign of the dividend."""

EXPONENTIAL = (
    "CASE WHEN {0} > 709.782712893384 THEN NULL WHEN {0} < -745 THEN 0"
    " WHEN {0} < -700 THEN exp({0} + 100) * CAST('3.7200759760208361e-44' AS float8) ELSE exp({0}) END"
)
HYPERBOLIC = "CASE WHEN abs({0}) < CAST('1e-300' AS float8) THEN {0} ELSE sinh({0}) END"

_RAISED = "power(abs({0}), {1} / 2)"
_SIGN = "CASE WHEN {0} < 0 AND floor({1} / 2) * 2 <> {1} THEN -1 ELSE 1 END"
_LOGARITHM = "ln(CASE WHEN abs({0}) > 0 THEN abs({0}) END)"
POWER = (
    "CASE WHEN {0} IS NULL OR {1} IS NULL THEN NULL WHEN {1} = 0 THEN 1"
    " WHEN {0} = 0 THEN CASE WHEN {1} > 0 THEN 0 END"
    " WHEN {0} < 0 AND floor({1}) <> {1} THEN NULL"
    f" WHEN abs({{0}}) = 1 THEN {_SIGN}"
    " WHEN abs({1}) < CAST('1e-200' AS float8) THEN 1"
    " WHEN abs({1}) > CAST('1e19' AS float8) THEN CASE WHEN ({1} > 0) = (abs({0}) < 1) THEN 0 END"
    f" WHEN {{1}} * {_LOGARITHM} > 710 THEN NULL WHEN {{1}} * {_LOGARITHM} < -746 THEN 0"
    f" WHEN abs({{1}} * {_LOGARITHM}) < 700 THEN power({{0}}, {{1}})"
    f" WHEN {_RAISED} > CAST('1.3407807929942596e154' AS float8) THEN NULL"
    f" WHEN {_RAISED} < CAST('1.6e-162' AS float8) THEN 0"
    f" ELSE {_SIGN} * {_RAISED} * {_RAISED} END"
)
"""Powers, of which one that is nearly too large or too small is found as the square of its root."""

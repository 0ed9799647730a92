"""Functions of floats: roots, logarithms, powers, angles. Last bits are the engine's affair, ranges are not.

A number for which a function has no finite value gives a missing one; no engine is asked for it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import pi, sqrt
from typing import Any

import numpy as np

from sfumato.exact import ball
from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.facts import Ends
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import released
from sfumato.query.nodes.operators.record import Missing, Operator, Sql, common, if_any, one_of, register, sometimes
from sfumato.query.nodes.ranges import Rule, as_floats, constant, enclosed, increasing, numbers

I, F = Kind.INT, Kind.FLOAT  # noqa: E741


def _sqrt(parts: tuple[Expression, ...]) -> Ends | None:
    """Bounds a root, which every engine rounds to the nearest float: by the roots of the ends, and these by 0."""
    ends = numbers(parts[0])
    if ends is None:
        return None
    low, high = (Fraction(sqrt(max(end, Fraction(0)))) for end in as_floats(ends))
    return low, high


def _power(parts: tuple[Expression, ...]) -> Ends | None:
    """Bounds a power: of numbers from 0 on by its corners, for it goes one way in each; else by an even or odd one."""
    ends, exponents = numbers(parts[0]), numbers(parts[1])
    if ends is None or exponents is None:
        return None
    ends, exponents = as_floats(ends), as_floats(exponents)
    if ends[0] >= 0:
        if ends[0] == 0 >= exponents[0]:
            return None
        return enclosed(_raised, *product(ends, exponents))
    exponent = parts[1].value if isinstance(parts[1], Literal) else None
    if not isinstance(exponent, int | float) or exponent <= 0 or exponent != int(exponent):
        return None
    most = enclosed(_raised, (max(-ends[0], ends[1], Fraction(0)), exponents[0]))
    return None if most is None else (-most[1] if int(exponent) % 2 else Fraction(0), most[1])


def _raised(base: Any, exponent: Any) -> Any:
    """A power of balls, of which the first is not negative."""
    return base**exponent if base > 0 else ball(int(exponent == 0))


def _function(
    name: str,
    node: str,
    bounded: Rule | None = None,
    missing: Missing = sometimes,
    shown: Callable[[Any], Any] | None = None,
) -> Operator:
    """Makes the operator of a function of one number."""
    return Operator(
        name, one_of(F, I, F), "a number", 1, 1, missing, range=bounded, sql=Sql((node,) if node else ()),
        released=None if shown is None else released.monotonic(shown),
    )  # fmt: skip


def _two_floats(given: tuple[Kind, ...]) -> Kind | None:
    return F if common(given) in (I, F) else None


QUARTER, HALF = (Fraction(np.nextafter(turn, 4.0)) for turn in (pi / 2, pi))
"""No float below π/2, or π, is greater: what engines give for angles is one of those or, rounded, this."""

FUNCTIONS = (
    _function("sqrt", "Sqrt", _sqrt, shown=np.sqrt),
    _function("ln", "Ln", increasing(lambda value: value.log(), 0), shown=np.log),
    _function("log10", "", increasing(lambda value: value.log() / ball(10).log(), 0), shown=np.log10),
    _function("log2", "", increasing(lambda value: value.log() / ball(2).log(), 0), shown=np.log2),
    _function("exp", "Exp", increasing(lambda value: value.exp()), shown=np.exp),
    _function("sin", "Sin", constant(-1, 1), if_any),
    _function("cos", "Cos", constant(-1, 1), if_any),
    _function("tan", "Tan"),
    _function("asin", "Asin", lambda _: (-QUARTER, QUARTER)),
    _function("acos", "Acos", lambda _: (Fraction(0), HALF)),
    _function("atan", "Atan", increasing(lambda value: value.atan()), if_any, np.arctan),
    _function("sinh", "Sinh", increasing(lambda value: value.sinh()), shown=np.sinh),
    _function("cosh", "Cosh"),
    _function("tanh", "Tanh", increasing(lambda value: value.tanh()), if_any, np.tanh),
    Operator(
        "atan2", _two_floats, "two numbers", 2, 2, range=lambda _: (-HALF, HALF),
        sql=Sql(("Atan2",), ("this", "expression")),
    ),
    Operator(
        "power", _two_floats, "two numbers", 2, 2, sometimes, range=_power, sql=Sql(()), released=released.powered
    ),
)  # fmt: skip
"""All of them: each takes its operands as floats."""

register(*FUNCTIONS)

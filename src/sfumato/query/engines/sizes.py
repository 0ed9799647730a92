"""Sizes of numbers: how large they can be by what a plan itself enforces, so that sums need no more room."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, floor
from typing import Protocol, TypeAlias

from sfumato.query.engines.operands import constant
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import LEAST_INT, MOST_INT, Kind
from sfumato.query.nodes.operators import OPERATORS
from sfumato.query.plan.grids import Grid

Ends: TypeAlias = tuple[float, float]
"""The least and the greatest that a number is moved into."""

MODEST = 2**1000
"""Floats that are known to lie below this are finite, whatever a rounding did."""


class Enforced(Protocol):
    """What expressions can look at: ``held`` has the bounds that columns were just moved into, ``sizes`` what is known
    of expressions already, by their place in memory, where they are ``kept``."""

    @property
    def held(self) -> Mapping[str, Ends]: ...

    @property
    def sizes(self) -> dict[int, Fraction | None]: ...

    @property
    def kept(self) -> list[Expression]: ...


def largest(of: Expression, scope: Enforced) -> Fraction | None:
    """Bounds the size of a number by what the text itself enforces, whatever is missing; None: there is none.

    Facts do not do for this: some hold only if columns that are said to be never missing are never missing.
    """
    if id(of) not in scope.sizes:
        scope.kept.append(of)
        scope.sizes[id(of)] = _largest(of, scope)
    return scope.sizes[id(of)]


def _largest(of: Expression, scope: Enforced) -> Fraction | None:
    fits = Fraction(-LEAST_INT) if of.kind is Kind.INT else None
    parts = [largest(part, scope) for part in of.parts if part.kind.numeric]
    known = [part for part in parts if part is not None]
    match of:
        case Literal(int() | float() as held):
            kept = constant(held, of.kind)
            return abs(Fraction(kept)) if isinstance(kept, int | float) else Fraction(0)
        case Column(name) if name in scope.held:
            return max(abs(Fraction(end)) for end in scope.held[name])
        case Call("clamp"):
            bounds = [largest(part, scope) for part in of.parts[1:]]
            return max((bound for bound in bounds if bound is not None), default=fits)
        case Call("add" | "sub" | "mul") if len(known) == 2:
            return known[0] * known[1] if of.operator == "mul" else known[0] + known[1]
        case Call("div", (_, Literal())) if len(known) == 2 and known[1]:
            return known[0] / known[1]
        case Call("neg" | "abs" | "to_float" | "case" | "coalesce" | "least" | "greatest" | "nullif"):
            return max(known) if known and len(known) == len(parts) else fits
        case Call(operator) if (most := OPERATORS[operator].largest) is not None:
            return Fraction(most)
    return fits


def ends(of: Expression, scope: Enforced) -> Ends | None:
    """Between what the text itself moves a number, where it is not missing; None: that is not seen.

    Each operation of floats keeps the order of values, so that what it makes of the ends bounds what it makes of all.
    """
    match of:
        case Column(name):
            return scope.held.get(name)
        case Call("to_float", (part,)):
            inside = ends(part, scope) if part.kind.numeric else None
        case Call("clamp", (_, Literal(int() | float() as low), Literal(int() | float() as high))):
            inside = (low, high) if low <= high else None
        case Call("sub", (part, Literal(int() | float() as by))):
            inside = ends(part, scope)
            inside = None if inside is None else (float(inside[0]) - float(by), float(inside[1]) - float(by))
        case Call("div", (part, Literal(int() | float() as by))) if by > 0:
            inside = ends(part, scope)
            inside = None if inside is None else (float(inside[0]) / float(by), float(inside[1]) / float(by))
        case _:
            inside = None
    known = of.kind is Kind.FLOAT and inside is not None and all(abs(end) < MODEST for end in inside)
    return (float(inside[0]), float(inside[1])) if known and inside is not None else None


def is_within(clamp: Call, scope: Enforced) -> bool:
    """Tells whether what is to be moved into bounds lies there by what the text has done already."""
    match clamp.parts:
        case (part, Literal(int() | float() as low), Literal(int() | float() as high)):
            inside = ends(part, scope)
            return inside is not None and low <= inside[0] and inside[1] <= high
    return False


def is_inside(of: Expression, grid: Grid, scope: Enforced) -> bool:
    """Tells whether the SELECT below has just moved the values of a column into the ends of a grid."""
    ends = scope.held.get(of.name) if isinstance(of, Column) else None
    return ends is not None and grid.low <= ends[0] and ends[1] <= grid.high


def enforced(kind: Kind, facts: Facts) -> Ends | None:
    """The bounds that reading moves numbers into."""
    ends = facts.numbers if kind.numeric and facts.keys is None else None
    if ends is None:
        return None
    if kind is Kind.FLOAT:
        return float(ends[0]), float(ends[1])
    return max(ceil(ends[0]), LEAST_INT), min(floor(ends[1]), MOST_INT)

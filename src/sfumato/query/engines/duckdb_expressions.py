"""Expressions as SQL of DuckDB, with exactly the meaning that docs/semantics.md gives them, total for every value.

No operation can raise, whichever branch of a CASE is computed: operands for which DuckDB would raise are replaced
before the operation sees them. Whole numbers are added up in 64 bits where bounds that the text itself enforces prove
that the result fits, and otherwise in 128.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from sfumato.errors import QueryRefused
from sfumato.query.engines.duckdb_text import TYPES, Piece, Scope, listing
from sfumato.query.expressions import Call, Column, Expression, Literal
from sfumato.query.grids import Grid
from sfumato.query.kinds import LEAST_INT, LONGEST_TEXT, MOST_INT, MOST_ROWS, Kind, Value
from sfumato.query.operators import common, is_missing

FINITE = "CASE WHEN isfinite({0}) THEN {0} END"
CLAMPED = "CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END"
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">"}
SYMBOLS |= {"ge": ">=", "and": "AND", "or": "OR"}

TEMPLATES = {
    "sign": "CASE WHEN {0} > 0 THEN CAST(1 AS BIGINT) WHEN {0} < 0 THEN -1 WHEN {0} = 0 THEN 0 END",
    # DuckDB raises for a divisor of 0, and for the least number divided by -1.
    "mod": "({0} % CASE WHEN {1} = 0 THEN NULL WHEN {1} = -1 THEN 1 ELSE {1} END)",
    "sqrt": "sqrt(CASE WHEN {0} >= 0 THEN {0} END)",
    "ln": "ln(CASE WHEN {0} > 0 THEN {0} END)",
    "exp": "exp({0})",
    "clamp": CLAMPED,
    "not": "(NOT {0})",
    "is_null": "({0} IS NULL)",
    "nullif": "CASE WHEN {0} = {1} THEN NULL ELSE {0} END",
    "lower": "lower({0})",
    "upper": "upper({0})",
    "trim": "trim({0}, ' ')",
    "length": "length({0})",
    "like": "({0} LIKE {1})",
    "to_int": "CAST({0} AS BIGINT)",
    "to_float": "CAST({0} AS DOUBLE)",
    "year": "CAST(year({0}) AS BIGINT)",
    "quarter": "CAST(quarter({0}) AS BIGINT)",
    "month": "CAST(month({0}) AS BIGINT)",
    "day": "CAST(day({0}) AS BIGINT)",
    "weekday": "CAST(isodow({0}) AS BIGINT)",
    "hour": "CAST(hour({0}) AS BIGINT)",
    "minute": "CAST(minute({0}) AS BIGINT)",
    "to_date": "CAST({0} AS DATE)",
    "to_time": "CAST({0} AS TIMESTAMP)",
}
TO_WHOLE = {"floor": "floor({0})", "ceil": "ceil({0})", "round": "{0}", "to_int": "{0}"}
MODEST = 2**1000
"""Floats that are known to lie below this are finite, whatever a rounding did."""

SMALL = {"year": Fraction(9999)} | dict.fromkeys(
    ("sign", "length", "quarter", "month", "day", "weekday", "hour", "minute"), Fraction(LONGEST_TEXT)
)
"""Whole numbers that are small whatever they are made of."""

LONG_LIST = 100
"""Longer lists of constants are looked up in a table."""


def value(expression: Expression, scope: Scope) -> Piece:
    """Gives the text of an expression."""
    if id(expression) not in scope.made:
        scope.made[id(expression)] = _value(expression, scope)
    return scope.made[id(expression)]


def _value(expression: Expression, scope: Scope) -> Piece:
    match expression:
        case Column(name):
            return Piece(scope.columns[name])
        case Literal(held, kind):
            return Piece(scope.statement.bind(held, kind))
        case Call("case", parts):
            return _chosen(parts, expression.kind, scope)
        case Call("in", parts):
            return _among(parts, scope)
        case Call("substring", parts):
            return _substring(parts, scope)
        case Call("date_trunc", (when, Literal(str() as word))):
            return truncated(value(when, scope), word, when.kind, scope)
        case Call():
            return _called(expression, scope)
    raise TypeError(expression)


def _called(call: Call, scope: Scope) -> Piece:
    kind, usual = _operands(call), _common(call.parts)
    pieces = [cast(part, kind or (usual if is_missing(part) else part.kind), scope) for part in call.parts]
    match call.operator:
        case "least" | "greatest" | "coalesce":
            # Each operand once: DuckDB 2.0 fails to copy a plan in which a function has the same column twice.
            pieces = list({piece.text: piece for piece in pieces}.values())
            return scope.fill(f"{call.operator}({_places(pieces, ', ')})", *pieces)
        case "concat":
            return scope.fill(f"left({_places(pieces, ' || ')}, {LONGEST_TEXT})", *pieces)
        case "and" | "or":
            return scope.fill(f"({_places(pieces, f' {SYMBOLS[call.operator]} ')})", *pieces)
        case "neg" | "abs" | "add" | "sub" | "mul" | "div" if call.kind.numeric:
            return _arithmetic(call, pieces, scope)
        case "floor" | "ceil" | "round" | "to_int" if call.parts[0].kind is Kind.FLOAT:
            return scope.fill(f"TRY_CAST({TO_WHOLE[call.operator]} AS BIGINT)", *pieces)
        case "floor" | "ceil" | "round":
            return pieces[0]
        case "exp":
            return scope.fill(FINITE, scope.fill("exp({0})", *pieces))
    symbol = SYMBOLS.get(call.operator)
    return scope.fill(f"({{0}} {symbol} {{1}})" if symbol else TEMPLATES[call.operator], *pieces)


def _chosen(parts: tuple[Expression, ...], kind: Kind, scope: Scope) -> Piece:
    pieces = [cast(part, Kind.BOOL if place % 2 == 0 else kind, scope) for place, part in enumerate(parts[:-1])]
    branches = " ".join(f"WHEN {{{place}}} THEN {{{place + 1}}}" for place in range(0, len(pieces), 2))
    return scope.fill(f"CASE {branches} ELSE {{{len(pieces)}}} END", *pieces, cast(parts[-1], kind, scope))


def _operands(call: Call) -> Kind | None:
    """Gives the kind that all operands are read as; None: each as its own."""
    if call.operator in ("div", "sqrt", "ln", "exp"):
        return Kind.FLOAT
    if call.operator in ("eq", "ne", "lt", "le", "gt", "ge"):
        return _common(call.parts)
    if call.operator in ("add", "sub", "mul", "clamp", "least", "greatest", "coalesce", "nullif"):
        return Kind.DATE if _common(call.parts) is Kind.DATE else call.kind
    return None


def _common(parts: Sequence[Expression]) -> Kind:
    kinds = tuple(part.kind for part in parts if not is_missing(part))
    return common(kinds) or parts[0].kind


def _arithmetic(call: Call, pieces: Sequence[Piece], scope: Scope) -> Piece:
    if _common(call.parts) is Kind.DATE:
        return scope.fill("({0} - {1})", *pieces)
    shape = {"neg": "(-{0})", "abs": "abs({0})"}.get(call.operator) or f"({{0}} {SYMBOLS[call.operator]} {{1}})"
    most = largest(call, scope)
    if call.kind is Kind.INT:
        if most is not None and most <= MOST_INT:
            return scope.fill(shape, *pieces)
        wide = [scope.fill("CAST({0} AS HUGEINT)", piece) for piece in pieces]
        return scope.fill(f"TRY_CAST({shape} AS BIGINT)", *wide)
    found = scope.fill(shape, *pieces)
    return found if most is not None and most < MODEST else scope.fill(FINITE, found)


def largest(of: Expression, scope: Scope) -> Fraction | None:
    """Gives a bound on the size of a number that the text itself enforces, whatever is missing; None: there is none.

    Facts do not do for this: some hold only if columns that are said to be never missing are never missing.
    """
    if id(of) not in scope.sizes:
        scope.sizes[id(of)] = _largest(of, scope)
    return scope.sizes[id(of)]


def _largest(of: Expression, scope: Scope) -> Fraction | None:
    fits = Fraction(-LEAST_INT) if of.kind is Kind.INT else None
    parts = [largest(part, scope) for part in of.parts if part.kind.numeric]
    known = [part for part in parts if part is not None]
    match of:
        case Literal(int() | float() as held):
            kept = scope.statement.held(held, of.kind)
            return abs(Fraction(kept)) if isinstance(kept, int | float) else Fraction(0)
        case Column(name) if name in scope.held:
            return max(abs(Fraction(end)) for end in scope.held[name])
        case Call("clamp"):
            bounds = [largest(part, scope) for part in of.parts[1:]]
            return max((bound for bound in bounds if bound is not None), default=fits)
        case Call("add" | "sub" | "mul") if len(known) == 2:
            return known[0] * known[1] if of.operator == "mul" else known[0] + known[1]
        case Call("neg" | "abs" | "to_float" | "case" | "coalesce" | "least" | "greatest" | "nullif"):
            return max(known) if known and len(known) == len(parts) else fits
        case Call(operator):
            return SMALL.get(operator, fits)
    return fits


def _places(pieces: Sequence[Piece], between: str) -> str:
    return between.join(f"{{{place}}}" for place in range(len(pieces)))


def cast(part: Expression, kind: Kind, scope: Scope) -> Piece:
    """Gives an expression as a kind that it can be read as."""
    if isinstance(part, Literal):
        return Piece(scope.statement.bind(part.value, kind))
    found = value(part, scope)
    return found if part.kind is kind else scope.fill(f"CAST({{0}} AS {TYPES[kind]})", found)


def _among(parts: tuple[Expression, ...], scope: Scope) -> Piece:
    kind = _common(parts)
    listed = [part.value for part in parts[1:] if isinstance(part, Literal)]
    return among(cast(parts[0], kind, scope), listed, kind, scope)


def among(piece: Piece, listed: Sequence[Value], kind: Kind, scope: Scope) -> Piece:
    """Tells whether a value is in a list: missing where the value is."""
    found = tuple(one for one in listed if one is not None)
    if not found:
        return scope.fill("CASE WHEN {0} IS NOT NULL THEN FALSE END", piece)
    if len(found) > LONG_LIST:
        return scope.fill(f"({{0}} IN (SELECT k0 FROM {scope.statement.table(((kind, found),))}))", piece)
    return scope.fill(f"({{0}} IN ({listing(scope.statement.bind(one, kind) for one in found)}))", piece)


def _substring(parts: tuple[Expression, ...], scope: Scope) -> Piece:
    text, first, many = parts
    if not isinstance(first, Literal) or not isinstance(many, Literal) or first.value is None or many.value is None:
        return Piece("CAST(NULL AS VARCHAR)")
    # No text is longer, and DuckDB raises for very large places.
    places = [min(max(int(first.value), 1), 10**6), min(max(int(many.value), 0), 10**6)]  # type: ignore[arg-type]
    bound = [Piece(scope.statement.bind(place, Kind.INT)) for place in places]
    return scope.fill("substring({0}, {1}, {2})", value(text, scope), *bound)


def truncated(piece: Piece, word: str, kind: Kind, scope: Scope) -> Piece:
    """Gives the start of the stretch of time that a day or a time lies in, of the same kind."""
    bound = Piece(scope.statement.bind(word, Kind.TEXT))
    return scope.fill(f"CAST(date_trunc({{1}}, {{0}}) AS {TYPES[kind]})", piece, bound)


def steps(of: Expression, grid: Grid, scope: Scope) -> Piece:
    """Gives a numeric expression on a grid, as a whole number of the narrowest type that all steps fit into."""
    kind = Kind.INT if isinstance(grid.low, int) else Kind.FLOAT
    kept = cast(of, kind, scope)
    if not _inside(of, grid, scope):
        kept = scope.fill(CLAMPED, kept, *(Piece(scope.statement.bind(end, kind)) for end in (grid.low, grid.high)))
    holds = whole_type(*grid.ends)
    if kind is Kind.INT and holds == "HUGEINT":
        kept = scope.fill("CAST({0} AS HUGEINT)", kept)
    if grid.centre:
        kept = scope.fill("({0} - {1})", kept, Piece(scope.statement.bind(grid.centre, kind)))
    if kind is Kind.FLOAT and grid.exponent:
        kept = scope.fill("({0} * {1})", kept, Piece(scope.statement.bind(2.0**grid.exponent, Kind.FLOAT)))
    return scope.fill(f"CAST({{0}} AS {holds})", kept)


def _inside(of: Expression, grid: Grid, scope: Scope) -> bool:
    """Tells whether the SELECT below has just moved the values of a column into the ends of a grid."""
    ends = scope.held.get(of.name) if isinstance(of, Column) else None
    return ends is not None and grid.low <= ends[0] and ends[1] <= grid.high


def whole_type(low: int, high: int) -> str:
    """Gives the narrowest type of whole numbers that holds everything from one number to another."""
    most = max(abs(low), abs(high))
    return "INTEGER" if most < 2**31 else "BIGINT" if most < 2**63 else "HUGEINT"


def product(terms: Sequence[tuple[Expression, Grid]], scope: Scope, *, times: int) -> Piece:
    """Gives the product of expressions on grids; ``times`` is what its sum will be multiplied with at most."""
    sizes = [max(abs(end) for end in grid.ends) for _, grid in terms]
    most = math.prod(sizes)
    if most * times * MOST_ROWS >= 2**126:
        raise QueryRefused("the numbers to add up are too large for exact sums: clamp them to narrower bounds.")
    pieces = [steps(of, grid, scope) for of, grid in terms]
    if len(pieces) == 1:
        return pieces[0]
    held = whole_type(0, max(most, *sizes))  # a factor may be larger than the product, where another is always 0
    pieces = [scope.fill(f"CAST({{0}} AS {held})", piece) for piece in pieces]
    return scope.fill(f"({_places(pieces, ' * ')})", *pieces)

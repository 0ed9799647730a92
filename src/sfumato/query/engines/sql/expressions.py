"""Expressions as SQL, with exactly the meaning that docs/semantics.md gives them, total for every value.

No operation can raise, whichever branch of a CASE is computed: operands for which an engine would raise are replaced
before the operation sees them. Whole numbers are added up in 64 bits where bounds that the text itself enforces prove
that the result fits, and otherwise in 128.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from functools import reduce

from sfumato.errors import QueryRefused
from sfumato.query.engines.operands import MAY_BE_INFINITE, MAY_BE_LONG, PASSES_MISSING, common_kind, operand_kind
from sfumato.query.engines.sizes import MODEST, is_inside, is_within, largest
from sfumato.query.engines.sql.statement import Piece, Scope, listing
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.kinds import LONGEST_TEXT, MOST_INT, MOST_ROWS, Kind, Value
from sfumato.query.nodes.operators import OPERATORS, is_missing
from sfumato.query.plan.grids import Grid

CLAMPED = "CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END"
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">"}
SYMBOLS |= {"ge": ">=", "and": "AND", "or": "OR"}

EVERYWHERE = {
    "clamp": CLAMPED,
    "not": "(NOT {0})",
    "is_null": "({0} IS NULL)",
    "nullif": "CASE WHEN {0} = {1} THEN NULL ELSE {0} END",
    "to_bool": "({0} <> 0)",
}
"""Operators that are the same in every dialect."""


def value(expression: Expression, scope: Scope) -> Piece:
    """The text of an expression."""
    if id(expression) not in scope.made:
        scope.kept.append(expression)
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
    kind, usual, dialect = operand_kind(call), common_kind(call.parts), scope.statement.dialect
    if call.operator not in PASSES_MISSING and any(map(is_missing, call.parts)):
        return Piece(f"CAST(NULL AS {dialect.types[call.kind]})")
    bound = _reworded(call.operator, call.parts[:-1] if OPERATORS[call.operator].word else call.parts, scope)
    pieces = [cast(part, kind or (usual if is_missing(part) else part.kind), scope) for part in bound]
    match call.operator:
        case "to_int" | "to_float" | "to_bool" | "to_date" | "to_time" if call.parts[0].kind is Kind.TEXT:
            return dialect.columns.as_kind(pieces[0], dialect.types[Kind.TEXT], call.kind, scope)
        case "to_float" if call.parts[0].kind is Kind.FLOAT:
            return pieces[0]
        case "clamp" if is_within(call, scope):
            return pieces[0]
        case "least" | "greatest" | "coalesce":
            # Each operand once: an engine may fail to copy a plan in which a function has the same column twice.
            pieces = list({piece.text: piece for piece in pieces}.values())
            return pieces[0] if len(pieces) == 1 else scope.fill(f"{call.operator}({_places(pieces, ', ')})", *pieces)
        case "concat":
            return scope.fill(dialect.first_letters.format(_places(pieces, " || "), LONGEST_TEXT), *pieces)
        case "and" | "or":
            return scope.fill(f"({_places(pieces, f' {SYMBOLS[call.operator]} ')})", *pieces)
        case "neg" | "abs" | "add" | "sub" | "mul" | "div" if call.kind.numeric:
            return _arithmetic(call, pieces, scope)
        case "floor" | "ceil" | "round" | "trunc" | "to_int" if call.parts[0].kind is Kind.FLOAT:
            return scope.fill(dialect.to_whole.format(dialect.operators.get(call.operator, "{0}")), *pieces)
        case "floor" | "ceil" | "round" | "trunc":
            return pieces[0]
        case "to_int" | "to_float":
            return scope.fill(_shape(call.parts[0], scope).format("{0}", dialect.types[call.kind]), *pieces)
        case "to_bool" | "to_text" if call.parts[0].kind is call.kind:
            return pieces[0]
        case "to_text" if call.parts[0].kind is Kind.BOOL:
            return scope.fill("CASE WHEN {0} THEN 'true' WHEN NOT {0} THEN 'false' END", *pieces)
        case "trim" | "ltrim" | "rtrim" if len(pieces) == 1:
            pieces.append(Piece(scope.statement.bind(" ", Kind.TEXT)))
        case "mod" if call.kind is Kind.FLOAT:
            return scope.fill(dialect.finite, scope.fill(dialect.operators["float_mod"], *pieces))
    if symbol := SYMBOLS.get(call.operator):
        return scope.fill(f"({{0}} {symbol} {{1}})", *pieces)
    return _templated(call, pieces, scope)


def _reworded(operator: str, parts: Sequence[Expression], scope: Scope) -> Sequence[Expression]:
    """The operands, with a pattern or a format as the engine writes it."""
    reword = scope.statement.dialect.reworded.get(operator)
    match parts[1:2]:
        case [Literal(str() as written, kind)] if reword is not None:
            return [parts[0], Literal(reword(written), kind), *parts[2:]]
    return parts


def _templated(call: Call, pieces: Sequence[Piece], scope: Scope) -> Piece:
    """Fills the template of an operator, or of its last word; what may be infinite, too long or in no year is cut."""
    dialect, name = scope.statement.dialect, call.operator
    match call.parts[-1]:
        case Literal(str() as word) if OPERATORS[name].word:
            name = f"{name} {word}".strip()
    made = scope.fill(EVERYWHERE.get(name) or dialect.operators[name], *pieces)
    if call.operator in MAY_BE_INFINITE:
        return scope.fill(dialect.finite, made)
    if call.operator in MAY_BE_LONG:
        return scope.fill(dialect.first_letters.format("{0}", LONGEST_TEXT), made)
    if call.operator != "shift":
        return made
    kept = scope.fill(f"CAST({{0}} AS {dialect.types[call.kind]})", made)
    return scope.fill("CASE WHEN {0} BETWEEN {1} AND {2} THEN {0} END", kept, *_years(call.kind, scope))


def _years(kind: Kind, scope: Scope) -> list[Piece]:
    """The first and the last day, or moment, that there are."""
    first, last = datetime.datetime.min, datetime.datetime.max
    ends = (first.date(), last.date()) if kind is Kind.DATE else (first, last)
    return [Piece(scope.statement.bind(end, kind)) for end in ends]


def _chosen(parts: tuple[Expression, ...], kind: Kind, scope: Scope) -> Piece:
    pieces = [cast(part, Kind.BOOL if place % 2 == 0 else kind, scope) for place, part in enumerate(parts[:-1])]
    branches = " ".join(f"WHEN {{{place}}} THEN {{{place + 1}}}" for place in range(0, len(pieces), 2))
    return scope.fill(f"CASE {branches} ELSE {{{len(pieces)}}} END", *pieces, cast(parts[-1], kind, scope))


def _arithmetic(call: Call, pieces: Sequence[Piece], scope: Scope) -> Piece:
    dialect = scope.statement.dialect
    if common_kind(call.parts) is Kind.DATE:
        return scope.fill(dialect.operators["date_sub"], *pieces)
    shape = {"neg": "(-{0})", "abs": "abs({0})"}.get(call.operator) or f"({{0}} {SYMBOLS[call.operator]} {{1}})"
    most = largest(call, scope)
    if call.kind is Kind.INT:
        if most is not None and most <= MOST_INT:
            return scope.fill(shape, *pieces)
        return scope.fill(dialect.to_whole.format(dialect.wide[call.operator]), *pieces)
    modest = most is not None and most < MODEST
    # Of modest sums nothing is too large; a product or a quotient may be too small, for which engines raise as well.
    if (total := dialect.floats.get(call.operator)) and not (modest and call.operator in ("add", "sub")):
        return scope.fill(total, *pieces)
    result = scope.fill(shape, *pieces)
    return result if modest else scope.fill(dialect.finite, result)


def _places(pieces: Sequence[Piece], between: str) -> str:
    return between.join(f"{{{place}}}" for place in range(len(pieces)))


def cast(part: Expression, kind: Kind, scope: Scope) -> Piece:
    """An expression as a kind that it can be read as."""
    if isinstance(part, Literal):
        return Piece(scope.statement.bind(part.value, kind))
    text = value(part, scope)
    if part.kind is kind:
        return text
    dialect = scope.statement.dialect
    to_time = dialect.operators["to_time"] if kind is Kind.TIME else ""
    return scope.fill(to_time or _shape(part, scope).format("{0}", dialect.types[kind]), text)


def _shape(part: Expression, scope: Scope) -> str:
    """The template of an expression as another type: truth values are no numbers everywhere."""
    return scope.statement.dialect.from_bool if part.kind is Kind.BOOL else "CAST({0} AS {1})"


def _among(parts: tuple[Expression, ...], scope: Scope) -> Piece:
    kind = common_kind(parts)
    listed = [part.value for part in parts[1:] if isinstance(part, Literal)]
    return among(cast(parts[0], kind, scope), listed, kind, scope)


def among(piece: Piece, listed: Sequence[Value], kind: Kind, scope: Scope) -> Piece:
    """Tells whether a value is in a list: missing where the value is."""
    values = tuple(value for value in listed if value is not None)
    if not values:
        return scope.fill("CASE WHEN {0} IS NOT NULL THEN FALSE END", piece)
    if len(values) > scope.statement.dialect.long_list:
        return scope.fill(f"({{0}} IN (SELECT k0 FROM {scope.statement.table(((kind, values),))}))", piece)
    return scope.fill(f"({{0}} IN ({listing(scope.statement.bind(value, kind) for value in values)}))", piece)


def _substring(parts: tuple[Expression, ...], scope: Scope) -> Piece:
    text, first, many = parts
    if not isinstance(first, Literal) or not isinstance(many, Literal) or first.value is None or many.value is None:
        return Piece(f"CAST(NULL AS {scope.statement.dialect.types[Kind.TEXT]})")
    # No text is longer, and engines raise for very large places.
    places = [min(max(int(first.value), 1), 10**6), min(max(int(many.value), 0), 10**6)]  # type: ignore[arg-type]
    bound = [Piece(scope.statement.bind(place, Kind.INT)) for place in places]
    return scope.fill(scope.statement.dialect.operators["substring"], value(text, scope), *bound)


def truncated(piece: Piece, word: str, kind: Kind, scope: Scope) -> Piece:
    """The start of the stretch of time that a day or a time lies in, of the same kind."""
    bound = Piece(scope.statement.bind(word, Kind.TEXT))
    dialect = scope.statement.dialect
    cut = scope.fill(dialect.truncated.format("{0}", "{1}", dialect.types[kind]), piece, bound)
    if word != "decade":
        return cut
    return scope.fill("CASE WHEN {0} < {1} THEN {1} ELSE {0} END", cut, _years(kind, scope)[0])


def steps(of: Expression, grid: Grid, scope: Scope) -> Piece:
    """A numeric expression on a grid, as a whole number of the narrowest type that all steps fit into."""
    kind = Kind.INT if isinstance(grid.low, int) else Kind.FLOAT
    kept = cast(of, kind, scope)
    if not is_inside(of, grid, scope):
        kept = scope.fill(CLAMPED, kept, *(Piece(scope.statement.bind(end, kind)) for end in (grid.low, grid.high)))
    dialect, most = scope.statement.dialect, max(map(abs, grid.ends))
    wide = kind is Kind.INT and most > MOST_INT
    if grid.centre:
        less = dialect.wide["sub"] if wide else "({0} - {1})"
        kept = scope.fill(less, kept, Piece(scope.statement.bind(grid.centre, kind)))
    if kind is Kind.FLOAT and grid.exponent:
        # To multiply by more than 1 keeps what is within the grid; by less, it may come to lie below all floats.
        times = "({0} * {1})" if grid.exponent > 0 else dialect.floats.get("mul", "({0} * {1})")
        kept = scope.fill(times, kept, Piece(scope.statement.bind(2.0**grid.exponent, Kind.FLOAT)))
    if wide:
        return kept
    shape = dialect.rounded if kind is Kind.FLOAT else "CAST({0} AS {1})"
    return scope.fill(shape.format("{0}", dialect.whole_type(most)), kept)


def product(
    terms: Sequence[tuple[Expression, Grid]], scope: Scope, *, times: int, shared: bool = False, often: bool = False
) -> Piece:
    """The product of expressions on grids; ``times`` is what its sum will be multiplied with at most.

    Factors that are ``shared`` with other products get a name, so that each is made once; those that are so ``often``
    get the type that is quick to multiply.
    """
    sizes = [max(abs(end) for end in grid.ends) for _, grid in terms]
    most = math.prod(sizes)
    if most * times * MOST_ROWS >= 2**126:
        raise QueryRefused("the numbers to add up are too large for exact sums: clamp them to narrower bounds.")
    pieces = [steps(of, grid, scope) for of, grid in terms]
    if shared:
        pieces = [scope.named(piece) for piece in pieces]
    if len(pieces) == 1:
        return pieces[0]
    dialect, largest_part = scope.statement.dialect, max(most, *sizes)
    if largest_part > MOST_INT:  # a factor may be larger than the product, where another is always 0
        return reduce(lambda made, piece: scope.fill(dialect.wide["mul"], made, piece), pieces)
    digits = [len(str(size)) for size in sizes]
    quick = often and sum(digits) <= dialect.factor_digits
    types = [dialect.factor.format(many) if quick else dialect.whole_type(largest_part) for many in digits]
    pieces = [scope.fill(f"CAST({{0}} AS {held})", piece) for piece, held in zip(pieces, types, strict=True)]
    if shared:
        pieces = [scope.named(piece) for piece in pieces]
    return scope.fill(f"({_places(pieces, ' * ')})", *pieces)

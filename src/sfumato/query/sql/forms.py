"""Forms: what is more than an operator and its operands, each node of the parser with its rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

from sfumato.query.build.relation import all_of, any_of
from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.sql.alike import alike, as_number, fitted
from sfumato.query.sql.constants import NULL, TIMES, constant
from sfumato.query.sql.refusals import only, refused

if TYPE_CHECKING:
    from sfumato.query.sql.scalars import Scalars

Rule: TypeAlias = Callable[["Scalars", exp.Expr], Expression]

TRUE, FALSE = Literal(True, Kind.BOOL), Literal(False, Kind.BOOL)

LARGEST_REPEATED = 1000
"""The most parts of an expression that is used more than once."""


def repeated(value: Expression) -> Expression:
    """Passes an expression that is used several times; refuses large ones, or nesting would multiply them each time."""
    left, size = [value], 0
    while left:
        size += 1
        left += left.pop().parts
        if size > LARGEST_REPEATED:
            raise refused("so large an expression in this place", "it is used several times. Name it in an inner query")
    return value


def whole(node: object, scalars: Scalars, what: str, least: int, most: int) -> int:
    """Reads a whole number within limits, written or bound."""
    given = constant(node, scalars.parameters) if isinstance(node, exp.Expr) else None
    if given is None or type(given.value) is not int or not least <= given.value <= most:
        raise refused(what, f"it takes a whole number from {least} to {most} there, as a constant")
    return given.value


def integer(value: int) -> Literal:
    """A whole number as a constant."""
    return Literal(value, Kind.INT)


def _and(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression")
    return all_of([scalars.read(node.this), scalars.read(node.expression)])


def _or(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression")
    return any_of([scalars.read(node.this), scalars.read(node.expression)])


def _between(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "low", "high")
    value, low, high = (
        repeated(scalars.read(node.this)),
        scalars.read(node.args["low"]),
        scalars.read(node.args["high"]),
    )
    return all_of([fitted("ge", value, low), fitted("le", value, high)])


def _in(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expressions")
    made = alike(*map(scalars.read, (node.this, *node.expressions)), compares=True)
    if any(isinstance(part, Literal) and part.value is None for part in made[1:]):
        raise refused("NULL in a list", "it makes IN neither true nor false. Write OR x IS NULL")
    return call("in", *made)


def _is(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression")
    match node.expression:
        case exp.Null():
            return call("is_null", scalars.read(node.this))
        case exp.Boolean(this=True):
            return call("coalesce", scalars.condition(node.this), FALSE)
        case exp.Boolean():
            return call("coalesce", call("not", scalars.condition(node.this)), FALSE)
    raise refused("IS", "only IS [NOT] NULL, IS TRUE and IS FALSE are known. Write =")


def _case(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "ifs", "default")
    subject = None if node.this is None else repeated(scalars.read(node.this))
    conditions, values = [], []
    for branch in node.args["ifs"]:
        only(branch, "this", "true")
        when = scalars.read(branch.this)
        conditions.append(when if subject is None else fitted("eq", subject, when))
        values.append(scalars.read(branch.args["true"]))
    default = node.args.get("default")
    return _chosen(conditions, [*values, NULL if default is None else scalars.read(default)])


def _if(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "true", "false")
    otherwise = node.args.get("false")
    values = [scalars.read(node.args["true"]), NULL if otherwise is None else scalars.read(otherwise)]
    return _chosen([scalars.read(node.this)], values)


def _chosen(conditions: Sequence[Expression], values: Sequence[Expression]) -> Expression:
    made = alike(*values)
    pairs = [part for pair in zip(conditions, made, strict=False) for part in pair]
    return call("case", *pairs, made[-1])


def _power(scalars: Scalars, node: exp.Expr) -> Expression:
    """Multiplies for small whole exponents, which is exact; else takes powers of floats."""
    only(node, "this", "expression")
    exponent, value = scalars.read(node.expression), as_number(scalars.read(node.this))
    if not isinstance(exponent, Literal) or exponent.value not in (1, 2, 3, 4):
        return call("power", value, as_number(exponent))
    made = repeated(value)
    for _ in range(1, int(exponent.value)):  # type: ignore[arg-type]
        made = call("mul", made, value)
    return made


def _rounded(operator: str) -> Rule:
    """Rounds to whole numbers, or to places behind or before the point."""

    def rule(scalars: Scalars, node: exp.Expr) -> Expression:
        only(node, "this", "decimals")
        value = as_number(scalars.read(node.this))
        if node.args.get("decimals") is None:
            return call(operator, value)
        return to_places(operator, value, whole(node.args["decimals"], scalars, operator.upper(), -15, 15))

    return rule


def to_places(operator: str, value: Expression, places: int) -> Expression:
    """Rounds a number to so many decimals."""
    scale = integer(10 ** abs(places))
    first, last = ("mul", "div") if places >= 0 else ("div", "mul")
    return call(last, call(operator, call(first, value, scale)), scale)


def _logarithm(scalars: Scalars, node: exp.Expr) -> Expression:
    """Reads LOG(x), which is to the base 10, and LOG(base, x)."""
    only(node, "this", "expression")
    if node.expression is None:
        return call("log10", as_number(scalars.read(node.this)))
    base, value = as_number(scalars.read(node.this)), as_number(scalars.read(node.expression))
    known = {"2": "log2", "10": "log10"}.get(str(base.value)) if isinstance(base, Literal) else None
    return call("div", call("ln", value), call("ln", base)) if known is None else call(known, value)


def _width_bucket(scalars: Scalars, node: exp.Expr) -> Expression:
    """The number of the bucket, of equally wide ones between two numbers; 0 below all of them, one more above."""
    only(node, "this", "min_value", "max_value", "num_buckets")
    value = repeated(as_number(scalars.read(node.this)))
    ends = [constant(node.args[name], scalars.parameters) for name in ("min_value", "max_value")]
    low, high = (NULL if end is None else end for end in ends)
    many = whole(node.args["num_buckets"], scalars, "WIDTH_BUCKET", 1, 100_000)
    if low.facts.numbers is None or high.facts.numbers is None or low.facts.numbers >= high.facts.numbers:
        raise refused("WIDTH_BUCKET", "it takes a number, two constants, the lower one first, and how many buckets")
    share = call("div", call("sub", value, low), fitted("sub", high, low))
    place = call("clamp", call("floor", call("mul", share, integer(many))), integer(0), integer(many - 1))
    conditions = [call("lt", value, low), call("ge", value, high)]
    return _chosen(conditions, [integer(0), integer(many + 1), call("add", place, integer(1))])


def _scaled(factor: float) -> Rule:
    def rule(scalars: Scalars, node: exp.Expr) -> Expression:
        only(node, "this")
        return call("mul", as_number(scalars.read(node.this)), Literal(factor, Kind.FLOAT))

    return rule


def _cotangent(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this")
    return call("div", Literal(1.0, Kind.FLOAT), call("tan", as_number(scalars.read(node.this))))


def _cube_root(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this")
    value = repeated(as_number(scalars.read(node.this)))
    return call("mul", call("sign", value), call("power", call("abs", value), Literal(1 / 3, Kind.FLOAT)))


def _distinct(operator: str) -> Rule:
    """Compares with missing values as values: two of them are equal, and one is different from all others."""

    def rule(scalars: Scalars, node: exp.Expr) -> Expression:
        only(node, "this", "expression")
        left, right = alike(repeated(scalars.read(node.this)), repeated(scalars.read(node.expression)), compares=True)
        missing = [call("is_null", part) for part in (left, right)]
        equal = call("coalesce", call("eq", left, right), all_of(missing))
        return call("not", equal) if operator == "ne" else equal

    return rule


def _cast(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "to")
    kind, value = node.args["to"].this, scalars.read(node.this)
    if kind in (exp.DType.DECIMAL, exp.DType.UDECIMAL):
        return _as_decimal(value, node.args["to"])
    operator = CASTS.get(kind)
    if operator is None:
        word = kind.value if isinstance(kind, exp.DType) else "another type"
        raise refused(f"CAST to {word}", "known are BOOLEAN, INT, DOUBLE, DECIMAL, VARCHAR, DATE and TIMESTAMP")
    if operator == "to_text" and value.kind is Kind.FLOAT:
        raise refused(
            "CAST of floats to texts", "engines write them in different ways. Write CAST(ROUND(x) AS INT) first"
        )
    return call(operator, value)


def _as_decimal(value: Expression, to: exp.Expr) -> Expression:
    """Rounds to the places of a decimal; what would have more digits before the point is missing."""
    digits, places = (int(one.name) for one in to.expressions)
    if value.kind.temporal:
        raise refused("CAST of dates to DECIMAL", "write EXTRACT(epoch FROM x), or DATE_DIFF")
    if not 0 <= places <= 15 or digits < places:
        raise refused("CAST to this DECIMAL", "at most 15 places are kept, and no more than there are digits")
    made = repeated(call("to_float", value) if value.kind in (Kind.TEXT, Kind.BOOL) else value)
    most = 10.0 ** (digits - places) - 10.0**-places / 2
    ends = (call(name, made, Literal(end, Kind.FLOAT)) for name, end in (("gt", -most), ("lt", most)))
    return call(
        "case", all_of(list(ends)), call("to_int", made) if not places else to_places("round", made, places), NULL
    )


CASTS = {
    **dict.fromkeys(
        (exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT, exp.DType.INT128), "to_int"
    ),
    **dict.fromkeys((exp.DType.UTINYINT, exp.DType.USMALLINT, exp.DType.UINT, exp.DType.UBIGINT), "to_int"),
    **dict.fromkeys((exp.DType.DOUBLE, exp.DType.FLOAT), "to_float"),
    **dict.fromkeys((exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.CHAR), "to_text"),
    exp.DType.BOOLEAN: "to_bool",
    exp.DType.DATE: "to_date",
    **dict.fromkeys(TIMES, "to_time"),
}
"""Types that values can be cast to; whole numbers have 64 bits, whatever the type."""

FORMS: dict[type[exp.Expr], Rule] = {
    exp.Paren: lambda scalars, node: scalars.read(node.this),
    exp.And: _and,
    exp.Or: _or,
    exp.Between: _between,
    exp.In: _in,
    exp.Is: _is,
    exp.NullSafeEQ: _distinct("eq"),
    exp.NullSafeNEQ: _distinct("ne"),
    exp.Case: _case,
    exp.If: _if,
    exp.Pow: _power,
    exp.Round: _rounded("round"),
    exp.Trunc: _rounded("trunc"),
    exp.Floor: _rounded("floor"),
    exp.Ceil: _rounded("ceil"),
    exp.Log: _logarithm,
    exp.WidthBucket: _width_bucket,
    exp.Pi: lambda scalars, node: Literal(pi, Kind.FLOAT),
    exp.Degrees: _scaled(180 / pi),
    exp.Radians: _scaled(pi / 180),
    exp.Cot: _cotangent,
    exp.Cbrt: _cube_root,
    exp.Cast: _cast,
    exp.TryCast: _cast,
}
"""Conditions, choices, numbers and casts. All other nodes are in `text_forms`, `times` or `SQL_NODES`."""

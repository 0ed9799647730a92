"""Scalars: expressions of SQL as typed expressions, by one table from syntax to operators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.build.relation import all_of, any_of
from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import OPERATORS, call
from sfumato.query.nodes.operators.record import SQL_NAMES, SQL_NODES
from sfumato.query.sql.constants import NULL, TIMES, constant
from sfumato.query.sql.parameters import Parameters
from sfumato.query.sql.refusals import only, refused, unknown
from sfumato.query.sql.times import alike, difference, part_of_time

Leaf: TypeAlias = Callable[[exp.Expr], Expression | None]
"""Reads what differs by where an expression stands: columns and aggregates; None for all else."""

TRUE, FALSE = Literal(True, Kind.BOOL), Literal(False, Kind.BOOL)
EMPTY = Literal("", Kind.TEXT)


@final
@dataclass(frozen=True)
class Scalars:
    """Reads expressions at one place of a query."""

    leaf: Leaf
    parameters: Parameters

    def read(self, node: exp.Expr) -> Expression:
        """Reads a syntax tree as a typed expression, or refuses it."""
        leaf = constant(node, self.parameters) or self.leaf(node)
        if leaf is not None:
            return leaf
        form = NAMED_FORMS.get(node.name.lower()) if isinstance(node, exp.Anonymous) else FORMS.get(type(node))
        made = self.operation(node) if form is None else form(self, node)
        return call("not", made) if node.args.get("negate") else made

    def operation(self, node: exp.Expr) -> Expression:
        """Reads a node or a function by the record of its operator; refuses unknown ones."""
        named = isinstance(node, exp.Anonymous)
        operator = SQL_NAMES.get(node.name.lower()) if named else SQL_NODES.get(type(node).__name__)
        if operator is None or operator.sql is None:
            raise unknown(node, known_functions())
        if not named:
            only(node, *operator.sql.parts, *operator.sql.noted)
        parts = tuple(map(self.read, node.expressions if named else operands(node, *operator.sql.parts)))
        if operator.sql.compares and NULL in parts:
            raise refused("comparing with NULL", "it is never true. Write IS NULL or IS NOT NULL")
        return call(operator.name, *alike(*parts))

    def condition(self, node: exp.Expr) -> Expression:
        """Reads a condition; refuses what is neither true nor false."""
        condition = self.read(node)
        if condition.kind is not Kind.BOOL:
            raise QueryRefused(f"a condition is needed, and this is {condition.kind.value}; compare it with something.")
        return condition

    def make(self, operator: str, *nodes: exp.Expr) -> Expression:
        """Makes an operation; texts beside days or times are read as these."""
        return call(operator, *alike(*map(self.read, nodes)))


Rule: TypeAlias = Callable[[Scalars, exp.Expr], Expression]


def operands(node: exp.Expr, *names: str) -> list[exp.Expr]:
    """The parts of a node by their names, lists flattened; those that are missing are left out."""
    given = [node.args.get(name) for name in names]
    return [one for part in given if part is not None for one in (part if isinstance(part, list) else [part])]


def repeated(value: Expression) -> Expression:
    """Passes an expression that is used several times; refuses large ones, or nesting would multiply them each time."""
    left, size = [value], 0
    while left:
        size += 1
        left += left.pop().parts
        if size > LARGEST_REPEATED:
            raise refused("so large an expression in this place", "it is used several times. Name it in an inner query")
    return value


LARGEST_REPEATED = 1000
"""The most parts of an expression that is used more than once."""


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
    return all_of([call("ge", *alike(value, low)), call("le", *alike(value, high))])


def _in(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expressions")
    made = alike(*map(scalars.read, (node.this, *node.expressions)))
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
        conditions.append(when if subject is None else call("eq", *alike(subject, when)))
        values.append(scalars.read(branch.args["true"]))
    default = node.args.get("default")
    return _chosen(conditions, [*values, NULL if default is None else scalars.read(default)])


def _if(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "true", "false")
    otherwise = node.args.get("false")
    values = [scalars.read(node.args["true"]), NULL if otherwise is None else scalars.read(otherwise)]
    return _chosen([scalars.read(node.this)], values)


def _chosen(conditions: list[Expression], values: list[Expression]) -> Expression:
    made = alike(*values)
    pairs = [part for pair in zip(conditions, made, strict=False) for part in pair]
    return call("case", *pairs, made[-1])


def _power(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression")
    exponent = constant(node.expression, scalars.parameters)
    if exponent is None or exponent.value not in (1, 2, 3, 4):
        raise refused("POWER", "only 1, 2, 3 and 4 are known as exponents. Write SQRT(x), or EXP(y * LN(x))")
    value = made = repeated(scalars.read(node.this))
    for _ in range(1, int(exponent.value)):  # type: ignore[arg-type]
        made = call("mul", made, value)
    return made


def _round(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "decimals")
    value = scalars.read(node.this)
    if node.args.get("decimals") is None:
        return call("round", value)
    digits = constant(node.args["decimals"], scalars.parameters)
    if digits is None or digits.kind is not Kind.INT or not isinstance(digits.value, int) or abs(digits.value) > 15:
        raise refused("ROUND", "its second operand is a whole number from -15 to 15")
    scale = Literal(10 ** abs(digits.value), Kind.INT)
    first, last = ("mul", "div") if digits.value >= 0 else ("div", "mul")
    return call(last, call("round", call(first, value, scale)), scale)


def _logarithm(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression")
    if node.expression is None:
        raise refused("LOG", "its base is 10 in some engines and e in others. Write LN(x) or LOG10(x)")
    base, value = scalars.read(node.this), scalars.read(node.expression)
    return call("div", call("ln", value), call("ln", base))


def _trim(scalars: Scalars, node: exp.Expr) -> Expression:
    if node.expression is not None:
        raise refused("TRIM of given characters", "TRIM(x) takes spaces off both ends")
    only(node, "this")
    return call("trim", scalars.read(node.this))


def _substring(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "start", "length")
    if node.args.get("length") is None:
        raise refused("SUBSTRING without a length", "write SUBSTRING(x, first, many)")
    first, many = (constant(node.args[name], scalars.parameters) for name in ("start", "length"))
    least = ((first, 1), (many, 0))
    if not all(part is not None and type(part.value) is int and part.value >= low for part, low in least):
        raise refused("SUBSTRING", "it takes the first character, from 1, and how many, as constants")
    return scalars.make("substring", node.this, node.args["start"], node.args["length"])


def _concat(scalars: Scalars, node: exp.Expr) -> Expression:
    """Puts texts together as CONCAT does: a missing one counts as empty, which it does not for ||."""
    only(node, "expressions", "coalesce")
    parts = [scalars.read(part) for part in node.expressions]
    return call("concat", *(part if isinstance(part, Literal) else call("coalesce", part, EMPTY) for part in parts))


def _cast(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "to")
    kind = node.args["to"].this
    operator = CASTS.get(kind)
    if operator is None:
        word = kind.value if isinstance(kind, exp.DType) else "another type"
        raise refused(f"CAST to {word}", "only INT, DOUBLE, DATE and TIMESTAMP are known")
    value = scalars.read(node.this)
    if value.kind is Kind.TEXT:
        raise refused("CAST of texts", "say in the codebook what the column holds, and it is read as that")
    return call(operator, value)


CASTS = {
    **dict.fromkeys((exp.DType.INT, exp.DType.BIGINT), "to_int"),
    **dict.fromkeys((exp.DType.DOUBLE, exp.DType.FLOAT), "to_float"),
    exp.DType.DATE: "to_date",
    **dict.fromkeys(TIMES, "to_time"),
}
"""Types that values can be cast to."""


def _extract(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression")
    return part_of_time(node.this.name, scalars.read(node.expression))


def _date_part(scalars: Scalars, node: exp.Expr) -> Expression:
    match node.expressions:
        case [exp.Literal(this=str(word)), value]:
            return part_of_time(word, scalars.read(value))
    raise refused("DATE_PART", "it takes a word and a date, as in DATE_PART('month', day)")


def _named_part(word: str) -> Rule:
    def rule(scalars: Scalars, node: exp.Expr) -> Expression:
        value = node.this if not isinstance(node, exp.Anonymous) else next(iter(node.expressions), None)
        if not isinstance(value, exp.Expr) or len(node.expressions) > 1:
            raise refused(word.upper(), "it takes one date or time")
        return part_of_time(word, scalars.read(value))

    return rule


def _truncated(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "unit")
    word = Literal(node.args["unit"].name.lower().partition("(")[0], Kind.TEXT)
    return call("date_trunc", scalars.read(node.this), word)


def _difference(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression", "unit")
    word = node.args["unit"].name if node.args.get("unit") else "day"
    return difference(word, repeated(scalars.read(node.this)), repeated(scalars.read(node.expression)))


FORMS: dict[type[exp.Expr], Rule] = {
    exp.Paren: lambda scalars, node: scalars.read(node.this),
    exp.And: _and,
    exp.Or: _or,
    exp.Between: _between,
    exp.In: _in,
    exp.Is: _is,
    exp.Case: _case,
    exp.If: _if,
    exp.Pow: _power,
    exp.Round: _round,
    exp.Log: _logarithm,
    exp.Trim: _trim,
    exp.Substring: _substring,
    exp.Concat: _concat,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Extract: _extract,
    exp.TimestampTrunc: _truncated,
    exp.DateTrunc: _truncated,
    exp.DateDiff: _difference,
    **{
        node: _named_part(word)
        for node, word in (
            (exp.Year, "year"),
            (exp.Quarter, "quarter"),
            (exp.Month, "month"),
            (exp.Day, "day"),
            (exp.DayOfMonth, "day"),
            (exp.Hour, "hour"),
            (exp.Minute, "minute"),
            (exp.DayOfWeek, "dow"),
            (exp.DayOfWeekIso, "isodow"),
        )
    },
}
"""Nodes that are more than an operator and its operands, each with its rule; all others are `SQL_NODES`."""

NAMED_FORMS: dict[str, Rule] = {
    "date_part": _date_part,
    "datepart": _date_part,
    "weekday": _named_part("weekday"),
}
"""The same for functions that the parser has no node for."""

CALLED = ["CASE", "CONCAT", "DATE_DIFF", "DATE_PART", "DATE_TRUNC", "EXTRACT", "IF", "LOG10", "POWER"]
CALLED += ["ROUND", "SUBSTRING", "TRIM"]
"""What forms are called."""

OTHERS = (
    "YEAR, QUARTER, MONTH, DAY, HOUR, MINUTE; AVG, CORR, COUNT, COUNT_IF, COVAR_POP, COVAR_SAMP, GEOMETRIC_MEAN, "
    "HISTOGRAM, KURTOSIS, MAD, MAX, MEDIAN, MIN, MODE, QUANTILE, REGR_SLOPE and its kin, SKEWNESS, STDDEV, SUM, TOP_K, "
    "VARIANCE and WEIGHTED_AVG"
)
"""Parts of days, and functions of many rows."""


def known_functions() -> str:
    """Tells of all functions, to somebody who wrote another."""
    called = (one.name.upper() for one in OPERATORS.values() if one.sql is not None and not one.sql.sign)
    return ", ".join((*sorted((*CALLED, *called)), OTHERS))

"""Expressions of PostgreSQL's SQL as the engine takes them, with their types; what is not named here is refused.

Nothing of a text is handed on: names become the engine's own, values are written anew, and of calls and operators only
those are made that stand in a list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from sqlglot import exp

from sfumato.server.postgres.catalog.calls import called
from sfumato.server.postgres.catalog.casts import Numbers, cast, coerced, constant, is_composite, part_of
from sfumato.server.postgres.catalog.operators import COMPARED, arithmetic, compared, joined_texts
from sfumato.server.postgres.catalog.reading import type_name
from sfumato.server.postgres.catalog.refusals import BAD_TEXT, UNSUPPORTED, refused
from sfumato.server.postgres.catalog.scopes import Query, Scope, Typed, quoted
from sfumato.server.postgres.catalog.types import (
    VECTORS,
    array_of,
    element_of,
    kept,
    oid_of,
    unified,
)

BARE_NAMES = ("user", "current_role")
"""Functions that stand without parentheses, and which the parser takes for columns."""

BARE: dict[type[exp.Expr], str] = {
    exp.CurrentUser: "current_user",
    exp.SessionUser: "session_user",
    exp.CurrentCatalog: "current_catalog",
    exp.CurrentSchema: "current_schema",
    exp.CurrentTimestamp: "current_timestamp",
    exp.CurrentDate: "current_date",
    exp.Localtimestamp: "localtimestamp",
    exp.CurrentRole: "current_role",
}


class Binding(Numbers, Protocol):
    """What binds queries, for expressions that hold some."""

    parameters: Sequence[str | None]

    def query(self, tree: exp.Expr, outer: Scope | None) -> Query: ...

    def call(self, tree: exp.Anonymous, scope: Scope, bound: Callable[..., Typed]) -> Typed: ...


def expression(binding: Binding, tree: Any, scope: Scope) -> Typed:
    """Binds one expression."""
    if (name := BARE.get(type(tree))) is not None:
        return called(binding, name, [])
    bind = BINDERS.get(type(tree))
    if bind is not None:
        return bind(binding, tree, scope)
    if isinstance(tree, COMPARED):
        return compared(binding, tree, scope, expression)
    what = type(tree).__name__.upper()
    raise refused(UNSUPPORTED, f"{what} is not answered by the catalog")


def condition(binding: Binding, tree: exp.Expr, scope: Scope) -> str:
    """Binds a condition."""
    return coerced(binding, expression(binding, tree, scope), "bool")


def folded(tree: Any) -> str:
    """A name as PostgreSQL knows it: in small letters, unless it is in quotes."""
    if isinstance(tree, exp.Identifier):
        return str(tree.this) if tree.quoted else str(tree.this).lower()
    return "" if tree is None else str(tree).lower()


def _column(binding: Binding, tree: exp.Column, scope: Scope) -> Typed:
    name, table, schema = (folded(tree.args.get(part)) for part in ("this", "table", "db"))
    found = scope.column(name, table, schema)
    if found is not None:
        return found
    if not table and name in BARE_NAMES and not tree.this.quoted:
        return called(binding, name, [])
    raise scope.missing(name)


def _literal(binding: Binding, tree: exp.Literal, scope: Scope) -> Typed:
    text = str(tree.this)
    if tree.is_string:
        return Typed(quoted(text), "unknown", text=text)
    try:
        whole = int(text)
    except ValueError:
        return Typed(constant(binding, text, "numeric"), "numeric")
    if not -(2**63) <= whole < 2**63:
        return Typed(constant(binding, text, "numeric"), "numeric")
    return Typed(f"CAST({whole} AS BIGINT)", "int4" if abs(whole) < 2**31 else "int8")


def _parameter(binding: Binding, tree: exp.Parameter, scope: Scope) -> Typed:
    number = int(str(tree.name)) if str(tree.name).isdecimal() else 0
    if not 1 <= number <= len(binding.parameters):
        raise refused("42P02", "there is no parameter of that number")
    text = binding.parameters[number - 1]
    return Typed("NULL" if text is None else quoted(text), "unknown", text=text, parameter=number)


def _cast(binding: Binding, tree: exp.Cast, scope: Scope) -> Typed:
    inner = expression(binding, tree.this, scope)
    name = type_name(tree.to)
    made = cast(binding, inner, name)
    if tree.to.expressions and name in ("varchar", "bpchar") and str(tree.to.expressions[0].name).isdecimal():
        made = Typed(f"left({made.sql}, {int(str(tree.to.expressions[0].name))})", name)
    return made.called(inner.name, inner.sure) if inner.sure > 1 else made.called(name.removeprefix("_"), 1)


def _case(binding: Binding, tree: exp.Case, scope: Scope) -> Typed:
    ifs = tree.args["ifs"]
    default = tree.args.get("default")
    values = [expression(binding, one.args["true"], scope) for one in ifs]
    last = Typed("NULL", "unknown") if default is None else expression(binding, default, scope)
    name = unified([one.type for one in (last, *values)])
    operand, tests = "", []
    if tree.this is None:
        tests = [condition(binding, one.this, scope) for one in ifs]
    else:
        compared_with = [expression(binding, one, scope) for one in (tree.this, *(one.this for one in ifs))]
        kind = unified([one.type for one in compared_with])
        operand, *tests = (coerced(binding, one, kind) for one in compared_with)
    parts = [f"WHEN {test} THEN {coerced(binding, value, name)}" for test, value in zip(tests, values, strict=True)]
    sql = f"CASE {operand} {' '.join(parts)} ELSE {coerced(binding, last, name)} END"
    return Typed(sql, name, last.name, 2) if last.sure > 1 else Typed(sql, name, "case", 1)


def _subquery(binding: Binding, tree: exp.Subquery, scope: Scope) -> Typed:
    if isinstance(tree.this, exp.Table):
        raise refused(UNSUPPORTED, "a table is no value")
    query = binding.query(tree, scope)
    if len(query.outputs) != 1:
        raise refused("42601", "subquery must return only one column")
    return Typed(f"({query.sql})", query.outputs[0].type, query.outputs[0].name, 2)


def _array(binding: Binding, tree: exp.Array, scope: Scope) -> Typed:
    items = tree.expressions
    if len(items) == 1 and isinstance(items[0], exp.Select | exp.SetOperation | exp.Subquery):
        query = binding.query(items[0], scope)
        return Typed(f"ARRAY({query.sql})", array_of(query.outputs[0].type), "array", 2)
    bound = [expression(binding, one, scope) for one in items]
    name = unified([one.type for one in bound])
    inner = ", ".join(coerced(binding, one, name) for one in bound)
    return Typed(f"CAST([{inner}] AS {kept(array_of(name))})", array_of(name), "array", 2)


def _bracket(binding: Binding, tree: exp.Bracket, scope: Scope) -> Typed:
    inner = expression(binding, tree.this, scope)
    if inner.text is not None or element_of(inner.type) is None or len(tree.expressions) != 1:
        raise refused("42804", "only lists, of one dimension, have places")
    shift = " + 1" if inner.type in VECTORS else ""
    place = tree.expressions[0]
    if isinstance(place, exp.Slice):
        ends = [
            "" if end is None else f"{coerced(binding, expression(binding, end, scope), 'int4')}{shift}"
            for end in (place.this, place.expression)
        ]
        return Typed(f"{inner.sql}[{ends[0]}:{ends[1]}]", inner.type, inner.name, inner.sure)
    index = coerced(binding, expression(binding, place, scope), "int4")
    return Typed(f"({inner.sql})[{index}{shift}]", element_of(inner.type) or "text", inner.name, inner.sure)


def _dot(binding: Binding, tree: exp.Dot, scope: Scope) -> Typed:
    """A part of a value that has parts, or a call that names its schema."""
    if isinstance(tree.expression, exp.Identifier):
        inner, part = expression(binding, tree.this, scope), folded(tree.expression)
        kind = part_of(inner.type, part) if is_composite(inner.type) else None
        if kind is None:
            raise scope.missing(part)
        return Typed(f"struct_extract({inner.sql}, {quoted(part)})", kind, part, 2)
    if isinstance(tree.this, exp.Identifier) and folded(tree.this) in ("pg_catalog", "information_schema"):
        return expression(binding, tree.expression, scope)
    raise refused(UNSUPPORTED, "only functions of pg_catalog and information_schema are known")


def _negated(binding: Binding, tree: exp.Neg, scope: Scope) -> Typed:
    inner = expression(binding, tree.this, scope)
    return Typed(f"(-{inner.sql})", inner.type)


def _not(binding: Binding, tree: exp.Not, scope: Scope) -> Typed:
    return Typed(f"(NOT {condition(binding, tree.this, scope)})", "bool")


def _and_or(binding: Binding, tree: exp.And | exp.Or, scope: Scope) -> Typed:
    """Binds a long chain in one go, so that its length is no depth."""
    parts: list[exp.Expr] = []
    left: exp.Expr = tree
    while isinstance(left, type(tree)):
        parts.append(left.expression)
        left = left.this
    word = " AND " if isinstance(tree, exp.And) else " OR "
    return Typed(f"({word.join(condition(binding, one, scope) for one in (left, *reversed(parts)))})", "bool")


def _is(binding: Binding, tree: exp.Is, scope: Scope) -> Typed:
    inner = expression(binding, tree.this, scope)
    word = "NOT " if tree.args.get("negate") else ""
    match tree.expression:
        case exp.Null():
            return Typed(f"({coerced(binding, inner, 'text')} IS {word}NULL)", "bool")
        case exp.Boolean(this=value):
            truth = "TRUE" if value else "FALSE"
            return Typed(f"({coerced(binding, inner, 'bool')} IS {word}{truth})", "bool")
    raise refused(UNSUPPORTED, "IS is answered with NULL, TRUE and FALSE")


def _in(binding: Binding, tree: exp.In, scope: Scope) -> Typed:
    if (query := tree.args.get("query")) is not None:
        bound = binding.query(query, scope)
        lefts = tree.this.expressions if isinstance(tree.this, exp.Tuple) else [tree.this]
        if len(lefts) != len(bound.outputs):
            raise refused("42601", "the subquery of IN has another number of columns")
        sqls = [
            coerced(binding, expression(binding, one, scope), output.type)
            for one, output in zip(lefts, bound.outputs, strict=True)
        ]
        left = sqls[0] if len(sqls) == 1 else f"({', '.join(sqls)})"
        return Typed(f"({left} IN ({bound.sql}))", "bool")
    if not tree.expressions:
        raise refused(UNSUPPORTED, "IN is answered with a list or a subquery")
    if isinstance(tree.this, exp.Tuple):
        raise refused(UNSUPPORTED, "IN with a list of rows is not answered by the catalog")
    left_value = expression(binding, tree.this, scope)
    items = [expression(binding, one, scope) for one in tree.expressions]
    name = unified([left_value.type, *(one.type for one in items)])
    inner = ", ".join(coerced(binding, one, name) for one in items)
    return Typed(f"({coerced(binding, left_value, name)} IN ({inner}))", "bool")


def _between(binding: Binding, tree: exp.Between, scope: Scope) -> Typed:
    parts = [expression(binding, tree.args[part], scope) for part in ("this", "low", "high")]
    name = unified([one.type for one in parts])
    value, low, high = (coerced(binding, one, name) for one in parts)
    return Typed(f"({value} BETWEEN {low} AND {high})", "bool")


def _exists(binding: Binding, tree: exp.Exists, scope: Scope) -> Typed:
    return Typed(f"(EXISTS ({binding.query(tree.this, scope).sql}))", "bool", "exists", 2)


def _paren(binding: Binding, tree: exp.Paren, scope: Scope) -> Typed:
    return expression(binding, tree.this, scope)


def _joined(binding: Binding, tree: exp.DPipe, scope: Scope) -> Typed:
    left, right = (expression(binding, one, scope) for one in (tree.this, tree.expression))
    return joined_texts(binding, left, right)


def _calculated(binding: Binding, tree: exp.Binary, scope: Scope) -> Typed:
    left, right = (expression(binding, one, scope) for one in (tree.this, tree.expression))
    return arithmetic(binding, type(tree), left, right)


def _collated(binding: Binding, tree: exp.Collate, scope: Scope) -> Typed:
    return expression(binding, tree.this, scope)


def _zoned(binding: Binding, tree: exp.AtTimeZone, scope: Scope) -> Typed:
    inner = expression(binding, tree.this, scope)
    return Typed(
        coerced(binding, inner, "timestamptz"),
        "timestamp" if inner.type != "timestamp" else "timestamptz",
        "timezone",
        2,
    )


def _extracted(binding: Binding, tree: exp.Extract, scope: Scope) -> Typed:
    part = Typed(quoted(folded(tree.this.name)), "text")
    made = called(binding, "date_part", [part, expression(binding, tree.expression, scope)])
    return Typed(f"CAST({made.sql} AS {kept('numeric')})", "numeric", "extract", 2)


def _interval(binding: Binding, tree: exp.Interval, scope: Scope) -> Typed:
    unit = tree.args.get("unit")
    text = f"{tree.this.name} {unit.name if unit is not None else ''}".strip()
    if not all(sign.isalnum() or sign in " :.-+" for sign in text):
        raise refused(BAD_TEXT, "invalid input syntax for type interval")
    return Typed(constant(binding, text, "interval"), "interval", "interval", 1)


def _written_out(binding: Binding, tree: exp.ByteString | exp.RawString, scope: Scope) -> Typed:
    text = str(tree.this)
    return Typed(quoted(text), "unknown", text=text)


def _window(binding: Binding, tree: exp.Window, scope: Scope) -> Typed:
    inner = expression(binding, tree.this, scope)
    if tree.args.get("alias") or tree.args.get("spec") or tree.args.get("first") is not None:
        raise refused(UNSUPPORTED, "only PARTITION BY and ORDER BY stand in OVER, in questions to the catalog")
    parts = [expression(binding, one, scope).sql for one in tree.args.get("partition_by") or ()]
    said = f"PARTITION BY {', '.join(parts)} " if parts else ""
    order = tree.args.get("order")
    said += f"ORDER BY {', '.join(ordered(binding, one, scope) for one in order.expressions)}" if order else ""
    return Typed(f"{inner.sql} OVER ({said})", inner.type, inner.name, inner.sure)


def ordered(binding: Binding, tree: exp.Ordered, scope: Scope, given: str = "") -> str:
    """One part of ORDER BY; NULL comes last, or first where the order is turned round, unless it is said."""
    sql = given or expression(binding, tree.this, scope).sql
    down = bool(tree.args.get("desc"))
    first = bool(tree.args.get("nulls_first"))
    return f"{sql} {'DESC' if down else 'ASC'} NULLS {'FIRST' if first else 'LAST'}"


def _filtered(binding: Binding, tree: exp.Filter, scope: Scope) -> Typed:
    inner = expression(binding, tree.this, scope)
    test = condition(binding, tree.expression.this, scope)
    return Typed(f"{inner.sql} FILTER (WHERE {test})", inner.type, inner.name, inner.sure)


def _special(binding: Binding, tree: Any, scope: Scope) -> Typed:
    """Calls that have words of their own inside of their parentheses."""
    bound = {key: expression(binding, one, scope) for key, one in tree.args.items() if isinstance(one, exp.Expr)}
    match tree:
        case exp.Substring():
            given = [bound[key] for key in ("this", "start", "length") if key in bound]
            return called(binding, "substring", given)
        case exp.StrPosition():
            return called(binding, "position", [bound["this"], bound["substr"]])
        case exp.Trim():
            name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(tree.args.get("position") or ""), "btrim")
            return called(binding, name, [bound[key] for key in ("this", "expression") if key in bound])
    raise refused(UNSUPPORTED, "OVERLAY is not answered by the catalog")


def _call(binding: Binding, tree: exp.Anonymous, scope: Scope) -> Typed:
    return binding.call(tree, scope, expression)


def type_number(given: Typed) -> Typed:
    """What `pg_typeof` says of a value."""
    return Typed(str(oid_of(given.type)), "regtype", "pg_typeof", 2)


BINDERS: dict[type[Any], Callable[[Binding, Any, Scope], Typed]] = {
    exp.Add: _calculated,
    exp.And: _and_or,
    exp.Anonymous: _call,
    exp.Array: _array,
    exp.AtTimeZone: _zoned,
    exp.Between: _between,
    exp.BitwiseAnd: _calculated,
    exp.BitwiseLeftShift: _calculated,
    exp.BitwiseOr: _calculated,
    exp.BitwiseRightShift: _calculated,
    exp.Boolean: lambda binding, tree, scope: Typed("true" if tree.this else "false", "bool"),
    exp.Bracket: _bracket,
    exp.ByteString: _written_out,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.Collate: _collated,
    exp.Column: _column,
    exp.DPipe: _joined,
    exp.Div: _calculated,
    exp.Dot: _dot,
    exp.Exists: _exists,
    exp.Extract: _extracted,
    exp.Filter: _filtered,
    exp.In: _in,
    exp.Interval: _interval,
    exp.Is: _is,
    exp.Literal: _literal,
    exp.Mod: _calculated,
    exp.Mul: _calculated,
    exp.Neg: _negated,
    exp.Not: _not,
    exp.Null: lambda binding, tree, scope: Typed("NULL", "unknown"),
    exp.Or: _and_or,
    exp.Overlay: _special,
    exp.Parameter: _parameter,
    exp.Paren: _paren,
    exp.RawString: _written_out,
    exp.StrPosition: _special,
    exp.Sub: _calculated,
    exp.Subquery: _subquery,
    exp.Substring: _special,
    exp.Trim: _special,
    exp.Window: _window,
}

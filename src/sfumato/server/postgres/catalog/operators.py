"""Operators of PostgreSQL's SQL: comparisons, also with ANY and ALL, patterns, sums and joined texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sqlglot import exp

from sfumato.server.postgres.catalog.casts import Numbers, cast, coerced, item_type, listed
from sfumato.server.postgres.catalog.refusals import NO_FUNCTION, UNSUPPORTED, refused
from sfumato.server.postgres.catalog.scopes import Typed, quoted
from sfumato.server.postgres.catalog.types import NUMBERS, OBJECTS, TEXTS, VECTORS, WHOLE, element_of, unified

Bound = Callable[[Any, Any, Any], Typed]

COMPARED = (
    exp.EQ,
    exp.Escape,
    exp.GT,
    exp.GTE,
    exp.ILike,
    exp.LT,
    exp.LTE,
    exp.Like,
    exp.NEQ,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Operator,
    exp.RegexpILike,
    exp.RegexpLike,
    exp.SimilarTo,
    exp.ArrayContainsAll,
    exp.ArrayContainedBy,
    exp.ArrayOverlaps,
)

SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.ILike: "~~*",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.Like: "~~",
    exp.NEQ: "<>",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.RegexpILike: "~*",
    exp.RegexpLike: "~",
    exp.SimilarTo: "SIMILAR",
    exp.ArrayContainsAll: "@>",
    exp.ArrayContainedBy: "<@",
    exp.ArrayOverlaps: "&&",
}

PLAIN = frozenset(("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"))
PATTERNS = {
    "~": "regexp_matches({0}, {1})",
    "~*": "regexp_matches({0}, {1}, 'i')",
    "~~": "({0} LIKE {1} ESCAPE {2})",
    "~~*": "({0} ILIKE {1} ESCAPE {2})",
    "SIMILAR": "regexp_full_match({0}, {1})",
}
OF_LISTS = {"@>": "list_has_all({0}, {1})", "<@": "list_has_all({1}, {0})", "&&": "list_has_any({0}, {1})"}
SUMS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
}
KNOWN = PLAIN | {*PATTERNS, *OF_LISTS, *SUMS.values(), "||", *(f"!{one}" for one in PATTERNS)}
BITS = frozenset(["&", "|", "<<", ">>"])


def compared(binding: Any, tree: Any, scope: Any, bound: Bound) -> Typed:
    """Binds a comparison, a pattern or an operator that is written out."""
    escape = "\\"
    if isinstance(tree, exp.Escape):
        if not isinstance(tree.expression, exp.Literal) or len(str(tree.expression.this)) > 1:
            raise refused("22019", "invalid escape string")
        escape, tree = str(tree.expression.this), tree.this
    sign = _sign(tree)
    negated = bool(tree.args.get("negate"))
    if sign.startswith("!") and sign[1:] in PATTERNS:
        sign, negated = sign[1:], not negated
    if sign in ("||", *SUMS.values()):
        left, right = (bound(binding, one, scope) for one in (tree.this, tree.expression))
        kinds = {word: kind for kind, word in SUMS.items()}
        return joined_texts(binding, left, right) if sign == "||" else arithmetic(binding, kinds[sign], left, right)
    many = _many(tree.expression)
    if many is not None:
        made = _with_many(binding, tree, scope, bound, sign, many, escape)
    else:
        made = _pair(binding, sign, bound(binding, tree.this, scope), bound(binding, tree.expression, scope), escape)
    return Typed(f"(NOT {made})" if negated else made, "bool")


def _sign(tree: Any) -> str:
    if isinstance(tree, exp.Operator):
        sign = str(tree.args["operator"]).rpartition(".")[2].strip()
        sign = "<>" if sign == "!=" else sign
        if sign not in KNOWN:
            raise refused(NO_FUNCTION, "the operator is not known to the catalog")
        return sign
    sign = SIGNS.get(type(tree), "")
    if not sign:
        raise refused(UNSUPPORTED, "the operator is not answered by the catalog")
    return sign


def _many(tree: Any) -> tuple[str, Any] | None:
    """ANY or ALL, and what is in it."""
    if isinstance(tree, exp.Any | exp.All):
        inner = tree.this
        while isinstance(inner, exp.Paren):
            inner = inner.this
        return ("all" if isinstance(tree, exp.All) else "any"), inner
    if (
        isinstance(tree, exp.Anonymous)
        and str(tree.name).lower() in ("all", "some", "any")
        and len(tree.expressions) == 1
    ):
        return ("all" if str(tree.name).lower() == "all" else "any"), tree.expressions[0]
    return None


def _with_many(binding: Any, tree: Any, scope: Any, bound: Bound, sign: str, many: tuple[str, Any], escape: str) -> str:
    word, inner = many
    left = bound(binding, tree.this, scope)
    if isinstance(inner, exp.Select | exp.SetOperation | exp.Subquery) and not _is_list(inner):
        query = binding.query(inner, scope)
        if len(query.outputs) != 1 or sign not in PLAIN or "DISTINCT" in sign:
            raise refused(UNSUPPORTED, "ANY and ALL of a subquery are answered with comparisons of one column")
        return f"({coerced(binding, left, query.outputs[0].type)} {sign} {word.upper()} ({query.sql}))"
    items = bound(binding, inner, scope)
    items = listed(binding, items, "text" if left.type == "unknown" else left.type)
    name = item_type(items.type)
    if sign == "=" and word == "any":
        return f"list_contains({items.sql}, {coerced(binding, left, name)})"
    if sign == "<>" and word == "all":
        return f"(NOT list_contains({items.sql}, {coerced(binding, left, name)}))"
    test = _pair(binding, sign, left, Typed("v", name), escape)
    if word == "any":
        return f"(len(list_filter({items.sql}, lambda v: {test})) > 0)"
    return f"(len(list_filter({items.sql}, lambda v: NOT {test})) = 0)"


def _is_list(tree: Any) -> bool:
    """Tells whether a query in parentheses is one value that is a list, as in ANY((SELECT …))."""
    return isinstance(tree, exp.Subquery) and isinstance(tree.this, exp.Subquery)


def _pair(binding: Numbers, sign: str, left: Typed, right: Typed, escape: str) -> str:
    if sign in PATTERNS:
        pattern = right
        if sign == "SIMILAR":
            if right.text is None:
                raise refused(UNSUPPORTED, "SIMILAR TO is answered with a pattern in quotes")
            similar = re.sub(r"(?<!\\)([.^$])", r"\\\1", right.text).replace("%", ".*").replace("_", ".")
            pattern = Typed(quoted(similar), "unknown", text=similar)
        sqls = [coerced(binding, one, "text") for one in (left, pattern)]
        return PATTERNS[sign].format(*sqls, quoted(escape))
    if sign in OF_LISTS:
        known = left.type if element_of(left.type) is not None else right.type
        return OF_LISTS[sign].format(coerced(binding, left, known), coerced(binding, right, known))
    name = _shared(left.type, right.type)
    return f"({coerced(binding, left, name)} {sign} {coerced(binding, right, name)})"


def _shared(left: str, right: str) -> str:
    """The type in which two values are compared."""
    if "unknown" in (left, right):
        return unified([left, right])
    if (left in OBJECTS and right in TEXTS) or (right in OBJECTS and left in TEXTS):
        return "text"
    if VECTORS.get(left, left) in (*WHOLE, "oid", *OBJECTS) and right in TEXTS:
        raise refused(NO_FUNCTION, "operator does not exist: numbers are not compared with texts")
    return left


def joined_texts(binding: Numbers, left: Typed, right: Typed) -> Typed:
    """Joins two texts, two lists, or a list and an item, as `||` does; no text grows without end."""
    lists = [one.type for one in (left, right) if element_of(one.type) is not None]
    if lists:
        name = lists[0]
        whole = [one.type == name or one.type == "unknown" for one in (left, right)]
        inner = item_type(name)
        sqls = [coerced(binding, one, name if own else inner) for one, own in zip((left, right), whole, strict=True)]
        word = "list_concat" if all(whole) else "list_append" if whole[0] else "list_prepend"
        return Typed(f"{word}({sqls[0]}, {sqls[1]})[1:10000]", name)
    sqls = [cast(binding, one, "text").sql for one in (left, right)]
    return Typed(f"left({sqls[0]} || {sqls[1]}, 10000)", "text")


def arithmetic(binding: Numbers, kind: type[exp.Expr], left: Typed, right: Typed) -> Typed:
    """A sum, a product and the like of numbers, days and times."""
    sign = SUMS[kind]
    known = left.type if left.type != "unknown" else right.type
    sqls = [coerced(binding, one, known) if one.type == "unknown" else one.sql for one in (left, right)]
    kinds = [known if one.type == "unknown" else one.type for one in (left, right)]
    name = _sum_type(sign, kinds)
    if name is None:
        raise refused(NO_FUNCTION, f"operator {sign} is not known to the catalog for these types")
    if sign == "/" and name in (*WHOLE, "oid"):
        sign = "//"
    if kinds == ["date", "date"]:
        return Typed(f"CAST(date_diff('day', {sqls[1]}, {sqls[0]}) AS BIGINT)", "int4")
    if "date" in kinds and any(one in WHOLE for one in kinds):
        sqls = [f"CAST({sql} AS INTEGER)" if one in WHOLE else sql for sql, one in zip(sqls, kinds, strict=True)]
    return Typed(f"({sqls[0]} {sign} {sqls[1]})", name)


def _sum_type(sign: str, kinds: list[str]) -> str | None:
    left, right = kinds
    if all(one in (*NUMBERS, "oid", "xid", *OBJECTS) for one in kinds):
        numbers = [one for one in kinds if one in NUMBERS]
        if len(numbers) == 2:
            return unified(kinds) if sign not in BITS or all(one in WHOLE for one in kinds) else None
        return "int8"
    if sign not in "+-":
        return None
    if left == "date" and right in ("date", *WHOLE):
        return "int4" if right == "date" else "date"
    if left in ("timestamp", "timestamptz", "date") and right == "interval":
        return "timestamp" if left == "date" else left
    if left == right and left in ("timestamp", "timestamptz"):
        return "interval" if sign == "-" else None
    return "interval" if left == right == "interval" else None

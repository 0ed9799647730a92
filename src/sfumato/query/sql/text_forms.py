"""Forms of texts: what SQL writes in several ways, or with parts that are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.kinds import LONGEST_TEXT, Kind
from sfumato.query.nodes.operators import call, is_missing
from sfumato.query.nodes.operators.patterns import quoted
from sfumato.query.sql.constants import constant
from sfumato.query.sql.forms import Rule, integer, repeated, whole
from sfumato.query.sql.refusals import only, refused

if TYPE_CHECKING:
    from sfumato.query.sql.scalars import Scalars

EMPTY, SPACE = Literal("", Kind.TEXT), Literal(" ", Kind.TEXT)


def as_text(value: Expression) -> Expression:
    """Takes whole numbers, truth values, days and times for their texts; floats are refused."""
    if value.kind is Kind.FLOAT:
        raise refused("a float as a text", "engines write them in different ways. Write CAST(ROUND(x) AS INT) first")
    return value if value.kind is Kind.TEXT or is_missing(value) else call("to_text", value)


def _text(node: object, scalars: Scalars, what: str) -> str:
    given = constant(node, scalars.parameters) if isinstance(node, exp.Expr) else None
    if given is None or not isinstance(given.value, str):
        raise refused(what, "it takes a text there, written out or bound")
    return given.value


def _trim(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression", "position")
    side = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "trim")
    characters = [] if node.expression is None else [Literal(_text(node.expression, scalars, "TRIM"), Kind.TEXT)]
    return call(side, scalars.read(node.this), *characters)


def _substring(scalars: Scalars, node: exp.Expr) -> Expression:
    """Takes characters from a place on: so many, or all that follow; from a negative place, those at the end."""
    only(node, "this", "start", "length")
    value, length = scalars.read(node.this), node.args.get("length")
    first = constant(node.args["start"], scalars.parameters)
    if first is not None and type(first.value) is int and -LONGEST_TEXT <= first.value < 0 and length is None:
        return call("right", value, integer(-first.value))
    start = whole(node.args["start"], scalars, "SUBSTRING", 1, 10**6)
    many = LONGEST_TEXT if length is None else whole(length, scalars, "SUBSTRING", 0, 10**6)
    return call("substring", value, integer(start), integer(many))


def _left(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression")
    many = whole(node.expression, scalars, "LEFT", 0, LONGEST_TEXT)
    return call("substring", scalars.read(node.this), integer(1), integer(many))


def _pad(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression", "fill_pattern", "is_left")
    name, fill = "lpad" if node.args.get("is_left") else "rpad", node.args.get("fill_pattern")
    many = whole(node.expression, scalars, name.upper(), 0, LONGEST_TEXT)
    filled = SPACE if fill is None else Literal(_text(fill, scalars, name.upper()), Kind.TEXT)
    return call(name, as_text(scalars.read(node.this)), integer(many), filled)


def _concat(scalars: Scalars, node: exp.Expr) -> Expression:
    """Puts texts together as CONCAT does: a missing one counts as empty, which it does not for ||."""
    only(node, "expressions", "coalesce")
    parts = [as_text(scalars.read(part)) for part in node.expressions]
    return call("concat", *(part if isinstance(part, Literal) else call("coalesce", part, EMPTY) for part in parts))


def _joined(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression")
    return call("concat", *(as_text(scalars.read(part)) for part in (node.this, node.expression)))


def _with_separator(scalars: Scalars, node: exp.Expr) -> Expression:
    """Puts a separator before each text that is there, and takes the first one off again."""
    only(node, "expressions", "coalesce")
    first, *others = node.expressions
    separator = Literal(_text(first, scalars, "CONCAT_WS"), Kind.TEXT)
    parts = [repeated(as_text(scalars.read(part))) for part in others]
    pieces = [call("coalesce", call("concat", separator, part), EMPTY) for part in parts]
    start = integer(len(separator.value) + 1)  # type: ignore[arg-type]
    return call("substring", call("concat", *pieces), start, integer(LONGEST_TEXT))


def _ilike(scalars: Scalars, node: exp.Expr) -> Expression:
    """Compares in small letters."""
    only(node, "this", "expression")
    small = (one if len(one.lower()) > 1 else one.lower() for one in _text(node.expression, scalars, "ILIKE"))
    return call("like", call("lower", scalars.read(node.this)), Literal("".join(small), Kind.TEXT))


def _escaped(scalars: Scalars, node: exp.Expr) -> Expression:
    """Reads LIKE … ESCAPE as the regular expression that it is."""
    only(node, "this", "expression")
    like, sign = node.this, _text(node.expression, scalars, "ESCAPE")
    if not isinstance(like, exp.Like) or len(sign) != 1:
        raise refused("ESCAPE", "it takes one character, and stands after LIKE")
    only(like, "this", "expression")
    made, plain = "(?s)", False
    for one in _text(like.expression, scalars, "LIKE"):
        if one == sign and not plain:
            plain = True
            continue
        made += quoted(one) if plain else {"%": ".*", "_": "."}.get(one, quoted(one))
        plain = False
    matched = call("regexp_full_match", scalars.read(like.this), Literal(made, Kind.TEXT))
    return call("not", matched) if like.args.get("negate") else matched


def _matches(operator: str) -> Rule:
    """Reads a regular expression, with 'i' where case does not matter."""

    def rule(scalars: Scalars, node: exp.Expr) -> Expression:
        only(node, "this", "expression", "flag")
        flag = node.args.get("flag")
        ignored = {"i": "(?i)", "c": ""}.get("c" if flag is None else _text(flag, scalars, "its last operand"))
        if ignored is None:
            raise refused("an option of a regular expression", "only 'i', for any case, is known")
        pattern = ignored + _text(node.expression, scalars, "a regular expression")
        return call(operator, scalars.read(node.this), Literal(pattern, Kind.TEXT))

    return rule


def _replaced(scalars: Scalars, node: exp.Expr) -> Expression:
    only(node, "this", "expression", "replacement", "modifiers", "single_replace")
    modifiers = node.args.get("modifiers")
    texts = [_text(node.args.get(name), scalars, "REGEXP_REPLACE") for name in ("expression", "replacement")]
    word = "" if modifiers is None else _text(modifiers, scalars, "REGEXP_REPLACE")
    return call("regexp_replace", scalars.read(node.this), *(Literal(one, Kind.TEXT) for one in (*texts, word)))


TEXT_FORMS: dict[type[exp.Expr], Rule] = {
    exp.Trim: _trim,
    exp.Substring: _substring,
    exp.Left: _left,
    exp.Pad: _pad,
    exp.Concat: _concat,
    exp.ConcatWs: _with_separator,
    exp.DPipe: _joined,
    exp.ILike: _ilike,
    exp.Escape: _escaped,
    exp.RegexpLike: _matches("regexp_matches"),
    exp.RegexpFullMatch: _matches("regexp_full_match"),
    exp.RegexpReplace: _replaced,
}
"""Nodes about texts."""

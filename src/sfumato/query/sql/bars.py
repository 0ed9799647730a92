"""Error bars of what is worked out: which columns are released numbers, and how the ends of their bars come along.

A column that is a released number, or that moved, scaled or rounded, still has a bar: the engine is given a table with
both ends beside each number, and carries them through WHERE, ORDER BY, joins and inner queries. What is made of several
numbers has none. Columns of keys alone are keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import final

from sqlglot import exp, parse_one

from sfumato.query.nodes.worked_out import HIDDEN, Barred, Released
from sfumato.query.sql.lifting import is_grouped
from sfumato.query.sql.syntax import QUERIES, aliased, identifier, is_star, nearest, sources_of
from sfumato.query.sql.text import LANGUAGE

KEEP_ORDER = (exp.Round, exp.Floor, exp.Ceil, exp.Paren)
"""What keeps the order of numbers, of its first operand."""


@final
@dataclass(frozen=True)
class Shape:
    """What is known of the columns of a table: their names, which of them are keys, and the ends that others have.

    Names are without case; None where they are not known. ``held`` is the table that has the ends.
    """

    names: tuple[str, ...] | None = None
    keys: frozenset[str] = frozenset()
    ends: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    held: str = ""


def barred(run: str, tables: Mapping[str, Sequence[Released]], public: Mapping[str, Sequence[str]]) -> Barred:
    """What a throw-away engine runs so that the ends of error bars come along, in hidden columns."""
    hidden = (f"{HIDDEN}{number}" for number in count())
    known: dict[str, Shape] = {}
    given: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {}
    for name, columns in tables.items():
        ends = {one.name: (next(hidden), next(hidden)) for one in columns if one.barred}
        given[name] = f"{HIDDEN}{name}", ends
        known[name.casefold()] = Shape(
            tuple(one.name.casefold() for one in columns),
            frozenset(one.name.casefold() for one in columns if one.key),
            {one.casefold(): pair for one, pair in ends.items()},
            f"{HIDDEN}{name}",
        )
    for name, names in public.items():
        folded = tuple(one.casefold() for one in names)
        known[name.casefold()] = Shape(folded, frozenset(folded))
    tree, shape = _Barring(hidden).query(parse_one(run, read=LANGUAGE), known)
    return Barred(tree.sql(dialect=LANGUAGE), given, dict(shape.ends), shape.keys)


@final
class _Barring:
    """Rewrites queries; where no column has a bar, they stay as they are."""

    def __init__(self, hidden: Iterator[str]) -> None:
        self._hidden = hidden

    def query(self, node: exp.Expr, known: Mapping[str, Shape]) -> tuple[exp.Expr, Shape]:
        """A query with hidden columns for the ends that it has, and what its columns are."""
        node = node.copy()
        clause, parts = node.args.get("with_"), []
        for part in () if clause is None else clause.expressions:
            made, shape = self.query(part.this, known)
            parts.append(part)
            if part.args["alias"].args.get("columns"):
                shape = Shape()
            elif shape.ends:
                shape = Shape(shape.names, shape.keys, shape.ends, f"{HIDDEN}{part.alias}")
                parts.append(exp.CTE(this=made, alias=exp.TableAlias(this=identifier(shape.held))))
            known = {**known, part.alias.casefold(): shape}
        if clause is not None:
            clause.set("expressions", parts)
        match node:
            case exp.Subquery():
                made, shape = self.query(node.this, known)
                node.set("this", made)
                return node, shape
            case exp.Select():
                return self._select(node, known)
            case exp.SetOperation():
                left, right = (self.query(side, known)[1] for side in (node.this, node.expression))
                pairs = zip(left.names or (), right.names or (), strict=False)
                return node, Shape(left.names, frozenset(a for a, b in pairs if a in left.keys and b in right.keys))
        return node, Shape()

    def _select(self, select: exp.Select, known: Mapping[str, Shape]) -> tuple[exp.Expr, Shape]:
        original = select.copy()
        starred = any(is_star(item) for item in select.expressions)
        order = select.args.get("order")
        by = [] if order is None else [one.this for one in order.expressions]
        places = [one.name for one in by if isinstance(one, exp.Literal)]  # hidden columns must not be among them
        beyond = any(not one.isdecimal() or int(one) > len(select.expressions) for one in places)
        plain = is_grouped(select) or (starred and bool(places)) or beyond
        sources: dict[str, Shape] = {}
        for source in list(sources_of(select)):
            name, shape = self._source(source, known, plain=plain)
            sources[name] = shape
        held = [shape.held for shape in sources.values() if shape.held]
        if starred and len(set(held)) < len(held):  # hidden columns of one name
            return original, Shape()
        scope = _Scope(sources)
        names: list[str] | None = []
        keys: set[str] = set()
        ends: dict[str, tuple[str, str]] = {}
        for item in list(select.expressions):
            if is_star(item):
                for shape in scope.starred(item):
                    names = None if names is None or shape.names is None else [*names, *shape.names]
                    keys |= shape.keys
                    ends |= {} if plain else shape.ends
                continue
            name, made = item.alias_or_name.casefold(), item.this if isinstance(item, exp.Alias) else item
            names = None if names is None else [*names, name]
            if scope.is_key(made):
                keys.add(name)
            pair = None if plain else scope.ends(made)
            if pair is not None:
                ends[name] = next(self._hidden), next(self._hidden)
                for end, hidden in zip(pair, ends[name], strict=True):
                    select.append("expressions", aliased(end, hidden))
        return select, Shape(None if names is None else tuple(names), frozenset(keys), ends)

    def _source(self, source: exp.Expr, known: Mapping[str, Shape], *, plain: bool) -> tuple[str, Shape]:
        """What a table of FROM is called, and what its columns are; it is replaced by the one that has the ends."""
        shape = Shape()
        match source:
            case exp.Table():
                shape = known.get(source.name.casefold(), Shape())
                name = source.alias_or_name.casefold()
                if shape.held and not plain:
                    if not source.alias:
                        source.set("alias", exp.TableAlias(this=identifier(source.name)))
                    source.set("this", identifier(shape.held))
                elif source.args.get("joins"):
                    shape = Shape()
            case exp.Subquery():
                name = source.alias.casefold()
                made, shape = self.query(source.this, known)
                if not plain:
                    source.set("this", made)
            case _:
                name = source.alias_or_name.casefold()
        alias = source.args.get("alias")
        return name, Shape() if alias is not None and alias.args.get("columns") else shape


@final
@dataclass(frozen=True)
class _Scope:
    """The tables of one FROM clause."""

    sources: Mapping[str, Shape]

    def starred(self, star: exp.Expr) -> list[Shape]:
        """The tables that a star means."""
        table = star.table.casefold() if isinstance(star, exp.Column) else ""
        return [shape for name, shape in self.sources.items() if not table or name == table]

    def _shape(self, node: exp.Column) -> Shape | None:
        """The table that a column is of; None where that is not certain."""
        if node.table:
            return self.sources.get(node.table.casefold())
        if any(shape.names is None for shape in self.sources.values()):
            return None
        having = [shape for shape in self.sources.values() if node.name.casefold() in (shape.names or ())]
        return having[0] if having else None

    def is_key(self, made: exp.Expr) -> bool:
        """Tells whether an expression is made of keys and constants alone."""
        nodes = [made, *nearest(made)]
        if any(isinstance(node, (*QUERIES, exp.Window, exp.AggFunc)) for node in nodes):
            return False
        columns = [node for node in nodes if isinstance(node, exp.Column)]
        shapes = [(node.name.casefold(), self._shape(node)) for node in columns]
        return all(shape is not None and name in shape.keys for name, shape in shapes)

    def ends(self, made: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
        """The ends of the bar of an expression: where it is a number that has one, or follows such a number."""
        followed = _follows(made)
        if followed is None:
            return None
        node, rises = followed
        shape = self._shape(node)
        pair = None if shape is None else shape.ends.get(node.name.casefold())
        if pair is None:
            return None
        low, high = (_with(made, node, exp.Column(this=identifier(one), table=node.args.get("table"))) for one in pair)
        return (low, high) if rises else (high, low)


def _with(made: exp.Expr, node: exp.Column, other: exp.Expr) -> exp.Expr:
    return made.transform(lambda one: other.copy() if one == node else one)


def _follows(made: exp.Expr) -> tuple[exp.Column, bool] | None:
    """The one column that an expression rises or falls with, and whether it rises; None for any other."""
    match made:
        case exp.Column():
            return made, True
        case exp.Neg():
            return _turned(_follows(made.this), falls=True)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
            left, right = _number(made.this), _number(made.expression)
            if (left is None) == (right is None):
                return None
            if isinstance(made, exp.Div) and left is not None:
                return None
            inner = _follows(made.this if left is None else made.expression)
            factor = right if left is None else left
            if isinstance(made, exp.Add):
                return inner
            if isinstance(made, exp.Sub):
                return _turned(inner, falls=left is not None)
            return None if not factor else _turned(inner, falls=factor < 0)
    others = [one for one in made.iter_expressions() if one is not made.this]
    keeps = isinstance(made, KEEP_ORDER) and all(_number(one) is not None for one in others)
    return _follows(made.this) if keeps else None


def _turned(inner: tuple[exp.Column, bool] | None, *, falls: bool) -> tuple[exp.Column, bool] | None:
    return None if inner is None else (inner[0], inner[1] != falls)


def _number(node: exp.Expr) -> float | None:
    match node:
        case exp.Literal() if not node.is_string:
            return float(node.name)
        case exp.Neg() | exp.Paren():
            inner = _number(node.this)
            return None if inner is None else -inner if isinstance(node, exp.Neg) else inner
    return None

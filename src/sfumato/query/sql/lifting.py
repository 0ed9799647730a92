"""Lifting: a grouped SELECT that says more than a question can, as a question and a SELECT over its answer.

``SELECT day, SUM(COUNT(*)) OVER (ORDER BY day) FROM visits GROUP BY day`` is the question ``SELECT day, COUNT(*) …``,
and ``SELECT day, SUM(count) OVER (ORDER BY day)`` over its answer: windows, QUALIFY, DISTINCT, OFFSET, inner queries
and functions that released numbers have no rule for look at the answer alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from sqlglot import exp

from sfumato.query.build.relation import unused
from sfumato.query.nodes.expressions import Column
from sfumato.query.sql.blocks import position, shows_rows
from sfumato.query.sql.refusals import refused
from sfumato.query.sql.scopes import Scope
from sfumato.query.sql.syntax import QUERIES, aliased, column, identifier, is_star, nearest, sums_up
from sfumato.query.sql.usual_names import usual_name

ROW_PARTS = ("from_", "joins", "where", "laterals")
"""The parts of a SELECT that are about rows, and stay with the question."""

LATE_PARTS = ("distinct", "qualify", "windows", "offset")
"""The parts of a SELECT that no question has."""

ANSWER_PARTS = ("expressions", "having", "order", *LATE_PARTS)
"""The parts of a SELECT that are about its answer."""


@final
@dataclass(frozen=True)
class Lifted:
    """The question's own SELECT, and the SELECT over its answer, which has no FROM yet.

    ``keys_only`` says that nothing is summed up: the question counts, only so that it has something to ask.
    """

    inner: exp.Select
    outer: exp.Select
    keys_only: bool


def is_grouped(select: exp.Expr) -> bool:
    """Tells whether a SELECT sums up, or makes groups of equal rows."""
    if select.args.get("group") is not None or select.args.get("distinct") is not None:
        return True
    return any(sums_up(node) for node in _late(select))


def is_plain(select: exp.Expr) -> bool:
    """Tells whether a question can say a SELECT: no windows or inner queries in what is made of its numbers."""
    if any(select.args.get(part) for part in LATE_PARTS) or not any(sums_up(node) for node in _late(select)):
        return False
    nodes = list(_late(select))
    late = any(isinstance(node, (*QUERIES, exp.Window)) for node in nodes)
    return not late and not any(isinstance(node, exp.Ordered) and node.args.get("nulls_first") for node in nodes)


def _late(select: exp.Expr) -> list[exp.Expr]:
    """All nodes of what is made of the numbers of a SELECT, down to inner queries."""
    given = [select.args.get(part) for part in ANSWER_PARTS]
    tops = [one for part in given if part is not None for one in (part if isinstance(part, list) else [part])]
    tops = [one for one in tops if isinstance(one, exp.Expr)]
    return [node for top in tops for node in (top, *(() if isinstance(top, QUERIES) else nearest(top)))]


def over(name: str, outer: exp.Select | None = None) -> exp.Select:
    """A SELECT over a finished answer; all of it, where nothing else is said."""
    select = exp.Select(expressions=[exp.Star()]) if outer is None else outer
    select.set("from_", exp.From(this=exp.Table(this=identifier(name))))
    return select


def is_all_of(outer: exp.Select, names: Sequence[str]) -> bool:
    """Tells whether a SELECT gives columns of these names as they are, in this order, and does nothing else."""
    plain = [node.name for node in outer.expressions if isinstance(node, exp.Column)]
    return plain == list(names) and not any(value for part, value in outer.args.items() if part != "expressions")


def _item(node: exp.Expr) -> tuple[str, exp.Expr]:
    """What a column of SELECT is called, if somebody named it, and what it is."""
    return (str(node.alias), node.this) if isinstance(node, exp.Alias) else ("", node)


def keys_of(select: exp.Expr) -> list[exp.Expr]:
    """What a SELECT groups by: with names and places of SELECT replaced by what they stand for."""
    group = select.args.get("group")
    if group is None:
        return [_item(node)[1] for node in select.expressions] if select.args.get("distinct") else []
    if group.args.get("all"):
        return [item for _, item in map(_item, select.expressions) if not _sums(item) and not _is_constant(item)]
    written = _resolved_group(select)
    leaves: list[exp.Expr] = []
    for part in written.expressions:
        leaves += _group_leaves(part)
    return list(dict.fromkeys(leaves))


def _sums(item: exp.Expr) -> bool:
    return any(sums_up(node) or isinstance(node, exp.Window) for node in (item, *nearest(item)))


def _is_constant(item: exp.Expr) -> bool:
    return isinstance(item, exp.Literal | exp.Boolean | exp.Null)


def _group_leaves(node: exp.Expr) -> list[exp.Expr]:
    match node:
        case exp.Rollup() | exp.Cube() | exp.GroupingSets() | exp.Tuple():
            return [leaf for part in node.expressions for leaf in _group_leaves(part)]
        case exp.Paren():
            return _group_leaves(node.this)
    return [node]


def _resolved_group(select: exp.Expr) -> exp.Group:
    """GROUP BY with names given in SELECT, and places of columns, replaced by what they stand for."""
    items = [_item(node) for node in select.expressions]

    def resolve(node: exp.Expr) -> exp.Expr:
        at = position(node, len(items), "GROUP BY")
        if at is not None:
            return items[at][1].copy()
        if isinstance(node, exp.Column) and not node.table:
            same = [item for name, item in items if name.casefold() == node.name.casefold() and item != node]
            return same[0].copy() if same else node
        return node

    group: exp.Group = select.args["group"].copy()
    if group.args.get("all"):
        return exp.Group(expressions=[key.copy() for key in keys_of(select)])
    for part in [leaf for one in group.expressions for leaf in _group_leaves(one)]:
        if (made := resolve(part)) is not part:
            part.replace(made)
    return group


def lifted(select: exp.Select, scope: Scope) -> Lifted:
    """Takes a grouped SELECT about rows apart."""
    if any(is_star(_item(node)[1]) for node in select.expressions):
        raise refused("* beside GROUP BY or DISTINCT", "name the columns")
    lifting = _Lifting(select, scope)
    outer = exp.Select(expressions=lifting.items())
    having = select.args.get("having")
    if having is not None:
        outer.set("where", exp.Where(this=lifting.moved(having.this)))
    for part in ("distinct", "qualify", "order"):
        if select.args.get(part) is not None:
            outer.set(part, lifting.moved(select.args[part]))
    if select.args.get("windows"):
        outer.set("windows", [lifting.moved(one) for one in select.args["windows"]])
    for part in ("limit", "offset"):
        if select.args.get(part) is not None:
            outer.set(part, select.args[part].copy())
    return Lifted(lifting.inner(), outer, keys_only=not lifting.sums)


@final
class _Lifting:
    """Names what is grouped by and what is summed up, and puts names in their place."""

    def __init__(self, select: exp.Select, scope: Scope) -> None:
        self._select, self._scope = select, scope
        self._items = [_item(node) for node in select.expressions]
        self._given = {name.casefold() for name, _ in self._items if name}
        self._taken: set[str] = set()
        self.keys = [(key, self._name(key)) for key in keys_of(select)]
        self._columns = {self._scope.column(key): name for key, name in self.keys if isinstance(key, exp.Column)}
        self.sums: dict[exp.Expr, str] = {}
        for node in _late(select):
            if sums_up(node) and not any(sums_up(above) for above in _above(node, select)):
                self.sums.setdefault(node, self._name(node) if node not in self.sums else "")

    def _name(self, made: exp.Expr) -> str:
        """A name for a column of the answer: the one that SELECT gives it, or a usual one that it gives no other."""
        own = next((name for name, item in self._items if name and item == made), "")
        name = own or usual_name(made)
        taken = self._taken if own else self._taken | self._given
        chosen = unused(name, set(taken))
        self._taken.add(chosen.casefold())
        return chosen

    def items(self) -> list[exp.Expr]:
        """The columns of the SELECT over the answer, each under the name that the whole has for it."""
        taken = set(self._given)
        made = []
        for name, item in self._items:
            shown = name or unused(usual_name(item.this if isinstance(item, exp.Window) else item), taken)
            made.append(aliased(self.moved(item), shown))
        return made

    def inner(self) -> exp.Select:
        """The question's own SELECT."""
        columns = [aliased(made.copy(), name) for made, name in (*self.keys, *self.sums.items())]
        if not self.sums:
            columns.append(aliased(exp.Count(this=exp.Star()), self._name(column("units"))))
        inner = exp.Select(expressions=columns)
        for part in ROW_PARTS:
            value = self._select.args.get(part)
            if value is not None:
                inner.set(part, [one.copy() for one in value] if isinstance(value, list) else value.copy())
        if self._select.args.get("group") is not None:
            inner.set("group", _resolved_group(self._select))
        elif self.keys:
            inner.set("group", exp.Group(expressions=[key.copy() for key, _ in self.keys]))
        return inner

    def moved(self, node: exp.Expr) -> exp.Expr:
        """A copy of an expression over the columns of the answer; refuses columns of rows that are left."""
        names = dict(self.keys)
        name = names.get(node) or (self.sums.get(node) if sums_up(node) else None)
        if name is not None:
            return column(name)
        if isinstance(node, QUERIES):
            return node.copy()
        if isinstance(node, exp.Column):
            return self._column(node)
        copy = node.copy()
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                copy.set(key, self.moved(value))
            elif isinstance(value, list):
                copy.set(key, [self.moved(one) if isinstance(one, exp.Expr) else one for one in value])
        return copy

    def _column(self, node: exp.Column) -> exp.Expr:
        called = [] if node.table else list(self._scope.called(node.name).values())
        if not node.table and node.name.casefold() in self._given and not any(one in self._columns for one in called):
            return node.copy()
        held: Column = self._scope.column(node)
        if held not in self._columns:
            raise shows_rows(held)
        return column(self._columns[held])


def _above(node: exp.Expr, select: exp.Expr) -> Sequence[exp.Expr]:
    above = []
    while node.parent is not None and node.parent is not select:
        node = node.parent
        above.append(node)
    return above

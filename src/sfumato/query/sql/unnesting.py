"""UNNEST: a row for each item of a list column, as SQL writes it beside a table or among the columns of a SELECT."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.build.lists import list_named, unnested
from sfumato.query.build.relation import unused
from sfumato.query.sql.refusals import only, refused
from sfumato.query.sql.scopes import Scope, Source

UNNESTED = "unnest"
"""What an item is called where nobody names it."""

ON_TRUE = "UNNEST with a condition"


@final
@dataclass(frozen=True)
class Unnest:
    """One UNNEST of a FROM clause: of which column, what table and item are called, and how many items of a row."""

    of: exp.Column
    name: str
    item: str
    most: int | None
    rows_kept: bool

    @staticmethod
    def read(join: exp.Expr) -> Unnest | None:
        """Reads what joins a list; None of any other join."""
        node = join.this
        alias = node.args.get("alias")
        inner = node.this if isinstance(node, exp.Lateral) else node
        if not isinstance(inner, exp.Unnest | exp.Explode):
            return None
        only(join, "this", "kind", "side", "on")
        only(node, *(("this", "alias", "view", "outer") if node is not inner else ("expressions", "alias", "this")))
        side, on = str(join.args.get("side") or "").upper(), join.args.get("on")
        if side not in ("", "LEFT") or not (on is None or (isinstance(on, exp.Boolean) and on.this)):
            raise refused(ON_TRUE, "write FROM t, UNNEST(x) AS u (item), and the condition into WHERE")
        of = inner.expressions or [inner.this]
        if len(of) != 1:
            raise refused("UNNEST of several lists", "write one UNNEST for each, or put them together beforehand")
        named = [] if alias is None else [one.name for one in alias.args.get("columns") or ()]
        if len(named) > 1:
            raise refused("UNNEST with several names", "an item is one column. Write UNNEST(x) AS u (item)")
        name = "" if alias is None else str(alias.name)
        column, most = _column(of[0])
        return Unnest(column, name or UNNESTED, (named or [name or UNNESTED])[0], most, side == "LEFT")

    def holder(self, scope: Scope) -> bool:
        """Tells whether a table of FROM has the list."""
        (source,) = scope.sources[:1]
        right = not self.of.table or self.of.table.casefold() == source.name.casefold()
        return right and list_named(scope.relation, self.of.name) is not None

    def over(self, scope: Scope) -> Scope:
        """Makes a row for each item; its column is found beside those of the table."""
        items = list_named(scope.relation, self.of.name)
        if items is None:
            raise TypeError(self.of)
        field = unused(self.item, {column.name.casefold() for column in scope.relation.fields})
        made = unnested(scope.relation, items, field, self.most, rows_kept=self.rows_kept)
        source = Source(self.name, {self.item: field, UNNESTED: field}, frozenset({UNNESTED} - {self.item}))
        return replace(scope, relation=made, sources=(*scope.sources, source))


def _column(node: exp.Expr) -> tuple[exp.Column, int | None]:
    """The column that is unnested, and how many items of a row at most: ``tags``, ``tags[:3]``, ``tags[1:3]``."""
    match node:
        case exp.Paren(this=inner):
            return _column(inner)
        case exp.Column():
            return node, None
        case exp.Bracket(this=exp.Column() as column, expressions=[exp.Slice(this=first, expression=last)]):
            number = last.name if isinstance(last, exp.Literal) and not last.is_string else ""
            if (first is None or first.name == "1") and number.isdigit() and int(number) > 0:
                return column, int(number)
    raise refused(
        "UNNEST of anything but a list column",
        "name a column that the codebook has as type: list, and how many of its items count: UNNEST(tags[:3])",
    )


def taken_apart(joins: Sequence[exp.Expr]) -> tuple[list[exp.Expr], list[Unnest]]:
    """The joins of tables, and those of lists."""
    read = [(join, Unnest.read(join)) for join in joins]
    return [join for join, one in read if one is None], [one for _, one in read if one is not None]


def spread(scope: Scope, lists: Sequence[Unnest], done: dict[int, str]) -> Scope:
    """Unnests the lists that a table of FROM has, and notes which ones were."""
    for place, one in enumerate(lists):
        if one.holder(scope):
            if place in done:
                raise QueryRefused(
                    f"{one.of.name!r} could be of {done[place]} or {scope.sources[0].name}: write which."
                )
            done[place] = scope.sources[0].name
            scope = one.over(scope)
    return scope


def check_all(lists: Sequence[Unnest], done: dict[int, str]) -> None:
    """Refuses what no table has as a list."""
    for place, one in enumerate(lists):
        if place not in done:
            raise refused(
                f"UNNEST of {one.of.name}",
                "no table in FROM has a list column of that name: it needs type: list in the codebook, and what its "
                f"items are, as in {one.of.name}: {{type: list, items: {{type: str}}}}; inner queries unnest their own",
            )


def with_lists_beside(select: exp.Expr) -> exp.Expr:
    """A SELECT in which UNNEST stands in FROM, where it stood among the columns."""
    if not any(True for one in select.expressions for _ in one.find_all(exp.Explode, exp.Unnest)):
        return select
    made, joins = select.copy(), list(select.args.get("joins") or ())
    names: set[str] = set()
    for node in [inner for one in made.expressions for inner in one.find_all(exp.Explode, exp.Unnest)]:
        alias = node.parent.alias if isinstance(node.parent, exp.Alias) else ""
        item, table = unused(alias or UNNESTED, names), unused("items", names)
        named = exp.TableAlias(this=exp.to_identifier(table), columns=[exp.to_identifier(item)])
        of = node.expressions or [node.this]
        joins.append(exp.Join(this=exp.Unnest(expressions=[one.copy() for one in of], alias=named)))
        column = exp.column(item, table=table)
        node.replace(column if node.parent is not made else exp.alias_(column, item))
    made.set("joins", joins)
    return made

"""What stands in FROM: relations, queries, functions, and joins of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from sqlglot import exp

from sfumato.server.postgres.catalog.casts import is_composite
from sfumato.server.postgres.catalog.expressions import Binding, condition, expression, folded
from sfumato.server.postgres.catalog.refusals import NO_COLUMN, SYNTAX, UNSUPPORTED, refused
from sfumato.server.postgres.catalog.relations import Relation
from sfumato.server.postgres.catalog.scopes import Output, Scope, Source, Typed
from sfumato.server.postgres.catalog.sets import columns_of, rows_of

OF_TABLES = frozenset(["this", "db", "alias", "joins", "ordinality"])
"""What may be said of a table in FROM: nothing of other databases, samples, pivots or versions."""

MOST_SOURCES = 64
"""A query joins no more."""


class Reading(Binding, Protocol):
    """What binds queries, and knows which relations they may read."""

    def relation(self, name: str, schema: str) -> Relation: ...


def from_clause(binding: Reading, tree: exp.Select, scope: Scope) -> str:
    """Binds FROM and its joins, and adds what stands there to the scope."""
    from_ = tree.args.get("from_")
    if from_ is None:
        return ""
    text = _item(binding, from_.this, scope)
    for join in tree.args.get("joins") or ():
        text += _join(binding, join, scope)
    if len(scope.sources) > MOST_SOURCES:
        raise refused("54001", f"a question to the catalog joins at most {MOST_SOURCES} tables")
    return f" FROM {text}"


def _join(binding: Reading, join: exp.Join, scope: Scope) -> str:
    side, kind, method = (str(join.args.get(part) or "").upper() for part in ("side", "kind", "method"))
    if method not in ("", "NATURAL") or kind not in ("", "INNER", "CROSS", "OUTER") or side not in SIDES:
        raise refused(UNSUPPORTED, "a join of this kind is not answered by the catalog")
    before = list(scope.sources)
    text = _item(binding, join.this, scope)
    added = [one for one in scope.sources if one not in before]
    using = [folded(one) for one in join.args.get("using") or ()]
    if method == "NATURAL":
        left_names = {one.name for source in before for one in source.all()}
        using = [one.name for source in added for one in source.all() if one.name in left_names]
    if using:
        tests = [_merged(binding, name, before, added, scope, side) for name in using]
        return f" {side} JOIN {text} ON {' AND '.join(tests)}"
    if (on := join.args.get("on")) is not None:
        return f" {side} JOIN {text} ON {condition(binding, on, scope)}"
    if side:
        raise refused(SYNTAX, "a join has no condition")
    return f" CROSS JOIN {text}" if kind == "CROSS" or method else f", {text}"


SIDES = ("", "LEFT", "RIGHT", "FULL")


def _merged(
    binding: Binding, name: str, before: Sequence[Source], added: Sequence[Source], scope: Scope, side: str
) -> str:
    """The condition of one column of USING, which two sides have as one from then on."""
    left = scope.joined.get(name) or next((one for part in before if (one := part.get(name)) is not None), None)
    right = next((one for part in added if (one := part.get(name)) is not None), None)
    if left is None or right is None:
        raise refused(NO_COLUMN, f'column "{name[:63]}" specified in USING clause does not exist in both tables')
    shown = {"RIGHT": right.sql, "FULL": f"coalesce({left.sql}, {right.sql})"}.get(side, left.sql)
    scope.joined[name] = Typed(shown, left.type, name, 2)
    return f"{left.sql} = {right.sql}"


def _item(binding: Reading, tree: Any, scope: Scope) -> str:
    """Binds one thing in FROM, with the joins inside of its parentheses."""
    match tree:
        case exp.Table(this=exp.Identifier()):
            return _relation(binding, tree, scope) + _inner_joins(binding, tree, scope)
        case exp.Table(this=exp.Anonymous() as call):
            return _function(binding, call, tree, scope) + _inner_joins(binding, tree, scope)
        case exp.Unnest():
            return _unnest(binding, tree, scope)
        case exp.Lateral(this=exp.Subquery() as query):
            return _query(binding, query, tree.args.get("alias"), scope)
        case exp.Lateral(this=exp.Unnest() as inner):
            return _unnest(binding, inner, scope, tree.args.get("alias"))
        case exp.Lateral():
            inner = tree.this
            while isinstance(inner, exp.Dot):
                inner = inner.expression
            if isinstance(inner, exp.Anonymous):
                return _function(binding, inner, tree, scope)
        case exp.Subquery() | exp.Paren() if _holds_joins(tree):
            return f"({_item(binding, tree.this, scope)}{_inner_joins(binding, tree, scope)})"
        case exp.Subquery():
            return _query(binding, tree, tree.args.get("alias"), scope)
        case exp.Values():
            return _query(binding, tree, tree.args.get("alias"), scope)
    raise refused(UNSUPPORTED, "something in FROM is not answered by the catalog")


def _holds_joins(tree: Any) -> bool:
    """Tells whether parentheses hold joins, and no query."""
    while isinstance(tree, exp.Subquery | exp.Paren) and not tree.args.get("alias"):
        tree = tree.this
    return isinstance(tree, exp.Table)


def _inner_joins(binding: Reading, tree: exp.Expr, scope: Scope) -> str:
    return "".join(_join(binding, join, scope) for join in tree.args.get("joins") or ())


def _names(alias: Any) -> tuple[str, list[str]]:
    """What something in FROM is called, and its columns."""
    if alias is None:
        return "", []
    if isinstance(alias, exp.TableAlias):
        columns = [one.this if isinstance(one, exp.ColumnDef) else one for one in alias.columns]
        return folded(alias.this), [folded(one) for one in columns]
    return folded(alias), []


def _renamed(outputs: Sequence[Output], names: list[str]) -> tuple[Output, ...]:
    return tuple(
        Output(names[place] if place < len(names) else one.name, one.type, one.column)
        for place, one in enumerate(outputs)
    )


def _relation(binding: Reading, tree: exp.Table, scope: Scope) -> str:
    if {key for key, value in tree.args.items() if value} - OF_TABLES:
        raise refused(UNSUPPORTED, "a clause of FROM is not answered by the catalog")
    name, schema = folded(tree.this), folded(tree.args.get("db"))
    called, column_names = _names(tree.args.get("alias"))
    alias = scope.alias()
    if not schema and (query := scope.query(name)) is not None:
        scope.add(Source(called or name, alias, _renamed(query[1], column_names)))
        return f"{query[0]} AS {alias}"
    relation = binding.relation(name, schema)
    outputs = [Output(column, type_, f"c{place}") for place, (column, type_) in enumerate(relation.columns)]
    hidden = {
        "tableoid": Typed(str(relation.oid), "oid", "tableoid", 2),
        **{column: Typed("1", "xid", column, 2) for column in ("xmin", "xmax")},
        **{column: Typed("0", "cid", column, 2) for column in ("cmin", "cmax")},
    }
    scope.add(Source(called or name, alias, _renamed(outputs, column_names), "" if called else relation.schema, hidden))
    return f"{relation.place} AS {alias}"


def _query(binding: Reading, tree: exp.Expr, given: Any, scope: Scope) -> str:
    called, column_names = _names(given)
    query = binding.query(_bare(tree), scope)
    alias = scope.alias()
    scope.add(Source(called or alias, alias, _renamed(query.outputs, column_names)))
    return f"({query.sql}) AS {alias}"


def _bare(tree: exp.Expr) -> exp.Expr:
    """A query without the name that it has in FROM."""
    if isinstance(tree, exp.Subquery) and not {key for key, value in tree.args.items() if value} - {"this", "alias"}:
        return tree.this  # type: ignore[no-any-return]
    return tree


def _unnest(binding: Reading, tree: exp.Unnest, scope: Scope, outer_alias: Any = None) -> str:
    given = [expression(binding, one, scope) for one in tree.expressions]
    lists = [_rows(binding, "unnest", [one]) for one in given]
    called, column_names = _names(tree.args.get("alias") or outer_alias)
    ordinal = tree.args.get("offset")
    if ordinal and isinstance(ordinal, exp.Identifier):
        column_names = [*column_names, folded(ordinal)]
    return _set(lists, "unnest", called, column_names, scope, ordinal=bool(ordinal))


def _rows(binding: Binding, name: str, given: list[Typed]) -> Typed:
    rows = rows_of(binding, name, given)
    if rows is None:
        raise refused(UNSUPPORTED, "a function in FROM gives no rows")
    return rows


def _function(binding: Reading, call: exp.Anonymous, tree: exp.Expr, scope: Scope) -> str:
    name = folded(call.this) if isinstance(call.this, exp.Identifier) else str(call.this).lower()
    called, column_names = _names(tree.args.get("alias"))
    given = [expression(binding, one, scope) for one in call.expressions]
    rows = rows_of(binding, name, given)
    if rows is not None:
        return _set([rows], name, called, column_names, scope, ordinal=bool(tree.args.get("ordinality")))
    one = expression(binding, call, scope)
    alias = scope.alias()
    column = column_names[0] if column_names else called or name
    scope.add(Source(called or name, alias, (Output(column, one.type, "c0"),)))
    return f"(SELECT {one.sql} AS c0) AS {alias}"


def _set(lists: list[Typed], name: str, called: str, column_names: list[str], scope: Scope, *, ordinal: bool) -> str:
    """A function that gives rows: its columns, and a number for each row WITH ORDINALITY."""
    alias = scope.alias()
    inner = ", ".join(f"unnest({one.sql}) AS r{place}" for place, one in enumerate(lists))
    if ordinal:
        inner += f", unnest(range(1, len({lists[0].sql}) + 1)) AS o"
    columns: list[tuple[str, str, str]] = []
    for place, one in enumerate(lists):
        for part, kind in columns_of(one.type, called if called and len(lists) == 1 else name):
            sql = f"struct_extract(r{place}, '{part}')" if is_composite(one.type) else f"r{place}"
            columns.append((part, kind, sql))
    if ordinal:
        columns.append(("ordinality", "int8", "o"))
    listed = ", ".join(f"{sql} AS c{place}" for place, (_, _, sql) in enumerate(columns))
    outputs = [Output(part, kind, f"c{place}") for place, (part, kind, _) in enumerate(columns)]
    scope.add(Source(called or name, alias, _renamed(outputs, column_names)))
    return f"(SELECT {listed} FROM (SELECT {inner})) AS {alias}"

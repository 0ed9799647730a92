"""Queries of PostgreSQL's SQL as the engine takes them: SELECT, VALUES, UNION and its like, WITH."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from sqlglot import exp

from sfumato.server.postgres.catalog.calls import AGGREGATES, called
from sfumato.server.postgres.catalog.casts import Numbers, coerced
from sfumato.server.postgres.catalog.expressions import condition, expression, folded, ordered, type_number
from sfumato.server.postgres.catalog.formats import formatted
from sfumato.server.postgres.catalog.refusals import SYNTAX, UNSUPPORTED, refused
from sfumato.server.postgres.catalog.relations import Relation
from sfumato.server.postgres.catalog.scopes import Output, Query, Scope, Typed, quoted
from sfumato.server.postgres.catalog.sets import in_list, rows_of
from sfumato.server.postgres.catalog.sources import from_clause
from sfumato.server.postgres.catalog.types import kept, unified

MOST_QUERIES = 1_000
"""A text holds no more queries, inner ones counted."""

MOST_COLUMNS = 500
"""A query gives no more columns."""

LONGEST_BOUND = 2_000_000
"""The longest text that the engine is given."""

WORDS = {exp.Union: "UNION", exp.Except: "EXCEPT", exp.Intersect: "INTERSECT"}

KNOWN = frozenset(
    ("distinct", "expressions", "from_", "group", "having", "joins", "limit", "offset", "order", "where", "with_")
)
"""The parts of a SELECT that are looked at; one that has others is refused."""


@final
class Binder:
    """Binds one statement: to the relations that it may read, with the values of its parameters."""

    def __init__(
        self,
        numbers: Numbers,
        relation: Callable[[str, str], Relation],
        parameters: Sequence[str | None] = (),
    ) -> None:
        self._numbers, self._relation, self.parameters = numbers, relation, parameters
        self._bound = 0
        self.noted: dict[int, str] = {}
        """Types of parameters, as far as it follows from where they stand."""
        self.changes: list[tuple[str, str]] = []
        """What `set_config` is called with."""
        self.used: dict[str, Relation] = {}
        """What the statement reads, by the engine's names."""

    def number(self, kind: str, name: str) -> int | None:
        """The number of an object, by its name."""
        return self._numbers.number(kind, name)

    def note(self, parameter: int, name: str) -> None:
        """Notes the type of a parameter, where it stands first."""
        self.noted.setdefault(parameter, name)

    def relation(self, name: str, schema: str) -> Relation:
        """A relation that may be read, which is noted."""
        relation = self._relation(name, schema)
        self.used[relation.place] = relation
        return relation

    def statement(self, tree: exp.Expr) -> Query:
        """Binds a whole statement."""
        try:
            query = self.query(tree, None)
        except RecursionError:
            raise refused(UNSUPPORTED, "the text is nested too deeply to be read") from None
        if len(query.sql) > LONGEST_BOUND:
            raise refused("54001", "the text says too much at once")
        return query

    def query(self, tree: exp.Expr, outer: Scope | None) -> Query:
        """Binds a query."""
        self._bound += 1  # the first part of a recursive one is bound twice, and so is all that is in it
        if self._bound > MOST_QUERIES:
            raise refused("54001", f"a question to the catalog holds at most {MOST_QUERIES} queries")
        match tree:
            case exp.Select():
                return self._settled(self._select(tree, outer))
            case exp.SetOperation():
                return self._settled(self._set_operation(tree, outer))
            case exp.Subquery():
                return self._in_parentheses(tree, outer)
            case exp.Values():
                return self._settled(self._values(tree, outer))
        raise refused(UNSUPPORTED, "only SELECT, VALUES and SHOW are answered by the catalog")

    def call(self, tree: exp.Anonymous, scope: Scope, bound: Callable[..., Typed]) -> Typed:
        """Binds a call of a function."""
        name = folded(tree.this) if isinstance(tree.this, exp.Identifier) else str(tree.this).lower()
        items = tree.expressions
        if name in AGGREGATES:
            return self._aggregate(name, items, scope)
        if name == "array" and len(items) == 1 and isinstance(items[0], exp.Select | exp.SetOperation | exp.Subquery):
            return expression(self, exp.Array(expressions=[items[0]]), scope)
        if any(isinstance(one, exp.Order | exp.Distinct | exp.Star) for one in items):
            raise refused(SYNTAX, f"{name[:63]} is no aggregate function")
        if name in ("coalesce", "greatest", "least", "nullif"):
            return self._of_equals(name, [expression(self, one, scope) for one in items])
        if name == "format" and items:
            return formatted(self, [expression(self, one, scope) for one in items])
        given = [expression(self, one, scope) for one in items]
        if name == "pg_typeof" and len(given) == 1:
            return type_number(given[0])
        if name == "set_config":
            return self._change(given)
        rows = rows_of(self, name, given)
        return in_list(rows) if rows is not None else called(self, name, given)

    def _change(self, given: list[Typed]) -> Typed:
        """Binds a call of `set_config`, which gives the value, and notes it for whoever keeps settings."""
        texts = [one.text for one in given[:2] if one.text is not None or one.parameter]
        if len(given) != 3 or len(texts) != 2:
            raise refused(UNSUPPORTED, "set_config is answered with a name and a value that are written out")
        self.changes.append((texts[0] or "", texts[1] or ""))
        for one in given[:2]:
            coerced(self, one, "text")
        return Typed(quoted(texts[1] or ""), "text", "set_config", 2)

    def _aggregate(self, name: str, items: list[Any], scope: Scope) -> Typed:
        if name == "count" and len(items) == 1 and isinstance(items[0], exp.Star):
            return Typed("count(*)", "int8", "count", 2)
        words, order, plain = "", "", []
        for one in items:
            inner = one
            if isinstance(inner, exp.Order):
                order = f" ORDER BY {', '.join(ordered(self, part, scope) for part in inner.expressions)}"
                inner = inner.this
            if isinstance(inner, exp.Distinct):
                words = "DISTINCT "
                plain += inner.expressions
            else:
                plain.append(inner)
        given = [expression(self, one, scope) for one in plain]
        if not given:
            raise refused(SYNTAX, f"{name} is called with nothing")
        return called(self, name, given, words=words, order=order)

    def _of_equals(self, name: str, given: list[Typed]) -> Typed:
        if not given or (name == "nullif" and len(given) != 2):
            raise refused(SYNTAX, f"{name} is called with too few arguments")
        kind = unified([one.type for one in given])
        inner = ", ".join(coerced(self, one, kind) for one in given)
        return Typed(f"{name}({inner})", kind, name, 2)

    def _with(self, tree: exp.Expr, scope: Scope) -> str:
        """Binds the queries of WITH; a recursive one has the types of its first part."""
        with_ = tree.args.get("with_")
        if with_ is None:
            return ""
        parts = []
        for cte in with_.expressions:
            name, column_names = folded(cte.args["alias"].this), [folded(one) for one in cte.args["alias"].columns]
            alias = f"w{next(scope.numbers)}"
            if with_.args.get("recursive") and isinstance(cte.this, exp.SetOperation):
                inner = Scope(scope)
                self._with(cte.this, inner)
                first = self.query(cte.this.this, inner)
                scope.queries[name] = alias, _renamed(first.outputs, column_names)
            query = self.query(cte.this, scope)
            outputs = _renamed(query.outputs, column_names)
            scope.queries[name] = alias, outputs
            parts.append(f"{alias}({', '.join(one.column for one in outputs)}) AS ({query.sql})")
        return f"WITH {'RECURSIVE ' if with_.args.get('recursive') else ''}{', '.join(parts)} "

    def _select(self, tree: exp.Select, outer: Scope | None) -> Query:
        present = {key for key, value in tree.args.items() if value}
        if present - KNOWN:
            raise refused(UNSUPPORTED, "a clause of this SELECT is not answered by the catalog")
        scope = Scope(outer)
        with_ = self._with(tree, scope)
        from_ = from_clause(self, tree, scope)
        given = self._listed(tree.expressions, scope)
        if not 0 < len(given) <= MOST_COLUMNS:
            raise refused("54011", f"a question to the catalog gives 1 to {MOST_COLUMNS} columns")
        outputs = tuple(Output(one.name, one.type, f"c{place}") for place, one in enumerate(given))
        where = f" WHERE {condition(self, tree.args['where'].this, scope)}" if tree.args.get("where") else ""
        group = self._group(tree.args.get("group"), scope, outputs)
        having = f" HAVING {condition(self, tree.args['having'].this, scope)}" if tree.args.get("having") else ""
        listed = ", ".join(f"{one.sql} AS c{place}" for place, one in enumerate(given))
        distinct = self._distinct(tree.args.get("distinct"), scope, outputs)
        ends = self._order(tree, scope, outputs) + self._limits(tree, scope)
        return Query(f"{with_}SELECT {distinct}{listed}{from_}{where}{group}{having}{ends}", outputs)

    def _listed(self, items: Sequence[Any], scope: Scope) -> list[Typed]:
        """The list of a SELECT, with what each `*` stands for."""
        given: list[Typed] = []
        for one in items:
            if isinstance(one, exp.Star):
                given += scope.columns()
            elif isinstance(one, exp.Column) and isinstance(one.this, exp.Star):
                given += scope.source(folded(one.args.get("table")), folded(one.args.get("db"))).all()
            elif isinstance(one, exp.Alias):
                given.append(expression(self, one.this, scope).called(folded(one.args["alias"])))
            else:
                given.append(expression(self, one, scope))
        return given

    def _distinct(self, tree: exp.Distinct | None, scope: Scope, outputs: tuple[Output, ...]) -> str:
        if tree is None:
            return ""
        if (on := tree.args.get("on")) is None:
            return "DISTINCT "
        items = on.expressions if isinstance(on, exp.Tuple) else [on.this if isinstance(on, exp.Paren) else on]
        return f"DISTINCT ON ({', '.join(self._place(one, scope, outputs) for one in items)}) "

    def _group(self, tree: exp.Group | None, scope: Scope, outputs: tuple[Output, ...]) -> str:
        if tree is None:
            return ""
        if {key for key, value in tree.args.items() if value} - {"expressions"}:
            raise refused(UNSUPPORTED, "GROUP BY is answered with columns")
        items = [self._place(one, scope, outputs, inner_first=True) for one in tree.expressions]
        return f" GROUP BY {', '.join(items)}"

    def _place(self, tree: Any, scope: Scope, outputs: tuple[Output, ...], *, inner_first: bool = False) -> str:
        """What ORDER BY or GROUP BY means: a column by place or name, or an expression."""
        if isinstance(tree, exp.Literal) and not tree.is_string:
            if not str(tree.this).isdecimal() or not 1 <= int(str(tree.this)) <= len(outputs):
                raise refused("42P10", "a position is not in the select list")
            return str(int(str(tree.this)))
        if isinstance(tree, exp.Column) and not tree.args.get("table"):
            name = folded(tree.this)
            if inner_first and scope.own_column(name) is not None:
                return expression(self, tree, scope).sql
            places = [place for place, one in enumerate(outputs, 1) if one.name == name]
            if places:
                return str(places[0])
        return expression(self, tree, scope).sql

    def _order(self, tree: exp.Expr, scope: Scope, outputs: tuple[Output, ...]) -> str:
        order = tree.args.get("order")
        if order is None:
            return ""
        parts = [ordered(self, one, scope, self._place(one.this, scope, outputs)) for one in order.expressions]
        return f" ORDER BY {', '.join(parts)}"

    def _limits(self, tree: exp.Expr, scope: Scope) -> str:
        said = ""
        limit, offset = tree.args.get("limit"), tree.args.get("offset")
        if limit is not None:
            given = limit.args.get("count") if isinstance(limit, exp.Fetch) else limit.expression
            if not (isinstance(given, exp.Null) or (isinstance(given, exp.Column) and folded(given.this) == "all")):
                said += f" LIMIT {self._whole(given, scope)}"
        if offset is not None:
            said += f" OFFSET {self._whole(offset.expression, scope)}"
        return said

    def _whole(self, tree: Any, scope: Scope) -> str:
        if tree is None:
            return "1"
        return f"({coerced(self, expression(self, tree, Scope()), 'int8')})"

    def _set_operation(self, tree: exp.SetOperation, outer: Scope | None) -> Query:
        if tree.args.get("by_name") or tree.args.get("match_by") or tree.args.get("on"):
            raise refused(SYNTAX, "UNION goes by places of columns")
        scope = Scope(outer)
        with_ = self._with(tree, scope)
        sides = [self._side(one, scope) for one in (tree.this, tree.expression)]
        if len(sides[0].outputs) != len(sides[1].outputs):
            raise refused(SYNTAX, "each part of UNION, EXCEPT or INTERSECT must have the same number of columns")
        kinds = [unified([one.type, two.type]) for one, two in zip(sides[0].outputs, sides[1].outputs, strict=True)]
        outputs = tuple(
            Output(one.name, kind, f"c{place}")
            for place, (one, kind) in enumerate(zip(sides[0].outputs, kinds, strict=True))
        )
        texts = [self._fitted(side, kinds) for side in sides]
        word = WORDS[type(tree)] + ("" if tree.args.get("distinct") else " ALL")
        ends = self._order(tree, Scope(), outputs) + self._limits(tree, scope)
        return Query(f"{with_}({texts[0]}) {word} ({texts[1]}){ends}", outputs)

    def _side(self, tree: exp.Expr, scope: Scope) -> Query:
        """One side of a UNION, in which texts in quotes have no type yet."""
        match tree:
            case exp.Select():
                return self._select(tree, scope)
            case exp.SetOperation():
                return self._set_operation(tree, scope)
        return self.query(tree, scope)

    def _fitted(self, query: Query, kinds: list[str]) -> str:
        if all(kept(one.type) == kept(kind) for one, kind in zip(query.outputs, kinds, strict=True)):
            return query.sql
        listed = ", ".join(
            f"CAST({one.column} AS {kept(kind)}) AS c{place}"
            for place, (one, kind) in enumerate(zip(query.outputs, kinds, strict=True))
        )
        return f"SELECT {listed} FROM ({query.sql})"

    def _in_parentheses(self, tree: exp.Subquery, outer: Scope | None) -> Query:
        scope = Scope(outer)
        with_ = self._with(tree, scope)
        inner = self.query(tree.this, scope)
        ends = self._order(tree, Scope(), inner.outputs) + self._limits(tree, scope)
        if not with_ and not ends:
            return inner
        return Query(f"{with_}SELECT * FROM ({inner.sql}){ends}", inner.outputs)

    def _values(self, tree: exp.Values, outer: Scope | None) -> Query:
        scope = Scope(outer)
        rows = [
            [expression(self, one, scope) for one in (row.expressions if isinstance(row, exp.Tuple) else [row])]
            for row in tree.expressions
        ]
        if len({len(row) for row in rows}) != 1:
            raise refused(SYNTAX, "VALUES lists must all be the same length")
        kinds = [unified([row[place].type for row in rows]) for place in range(len(rows[0]))]
        texts = [
            f"({', '.join(coerced(self, one, kind) for one, kind in zip(row, kinds, strict=True))})" for row in rows
        ]
        outputs = tuple(Output(f"column{place + 1}", kind, f"c{place}") for place, kind in enumerate(kinds))
        alias = scope.alias()
        columns = ", ".join(one.column for one in outputs)
        return Query(f"SELECT * FROM (VALUES {', '.join(texts)}) AS {alias}({columns})", outputs)

    @staticmethod
    def _settled(query: Query) -> Query:
        """A text in quotes that nothing has given a type is text."""
        outputs = tuple(
            Output(one.name, "text" if one.type == "unknown" else one.type, one.column) for one in query.outputs
        )
        return Query(query.sql, outputs)


def _renamed(outputs: tuple[Output, ...], names: list[str]) -> tuple[Output, ...]:
    """Columns under names of a query's own, by place."""
    return tuple(
        Output(names[place] if place < len(names) else one.name, one.type, f"c{place}")
        for place, one in enumerate(outputs)
    )

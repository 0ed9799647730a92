"""Tables: what stands in FROM, as relations with fields of different names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import final

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.build.relation import FLIPPED, all_of, kept, scans, selected, shared, stacked
from sfumato.query.nodes.catalog import Catalog, name_in
from sfumato.query.nodes.expressions import Column, Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Match, Relation
from sfumato.query.sql.joins import Joining, conjuncts, joined_scopes, matching, row_reader
from sfumato.query.sql.parameters import Parameters
from sfumato.query.sql.refusals import PARTS, only, refused
from sfumato.query.sql.scopes import Scope, Source
from sfumato.query.sql.unnesting import check_all, spread, taken_apart
from sfumato.query.sql.values import listed_values


@final
@dataclass(frozen=True)
class Tables:
    """Reads what relations are made of: tables of the catalog, and queries that were given a name by WITH."""

    catalog: Catalog
    parameters: Parameters
    inner: Callable[[exp.Expr, Tables], Relation]
    """Reads a SELECT that is no question but a relation."""

    named: Mapping[str, Relation]

    def with_names(self, node: exp.Expr) -> Tables:
        """Adds the tables that a query names by WITH, each of which may use the ones before it."""
        clause, tables = node.args.get("with_"), self
        if clause is None:
            return self
        only(clause, "expressions")
        names: set[str] = set()
        for part in clause.expressions:
            only(part, "this", "alias")
            name, made = _alias(part), tables.part(part)
            if name.casefold() in names:
                raise QueryRefused(f"two tables are called {name!r}: give one of them another name.")
            names.add(name.casefold())
            tables = replace(tables, named={**tables.named, name: made})
        return tables

    def part(self, part: exp.Expr) -> Relation:
        """Reads what WITH names as a relation, its columns under the names that it lists, if it does."""
        return _columns_named(self.query(part.this), part.args.get("alias"))

    def query(self, node: exp.Expr) -> Relation:
        """Reads an inner query as a relation: a SELECT, or several put together by UNION ALL."""
        tables = self.with_names(node)
        match node:
            case exp.Select():
                return self.inner(node, tables)
            case exp.Values():
                return listed_values(node, self.parameters)
            case exp.Subquery():
                only(node, "this", "with_", "alias")
                return tables.query(node.this)
            case exp.Union():
                return _union([tables.query(part) for part in _parts(node)])
            case exp.Table():
                raise refused(*PARTS["joins"])
            case exp.SetOperation():
                raise refused(node.key.upper(), "it compares rows of several people. Only UNION ALL is answered")
        raise refused(type(node).__name__.upper(), "an inner query is a SELECT")

    def scope(self, select: exp.Expr) -> Scope:
        """Reads FROM and WHERE of a SELECT: its tables, joined, and the rows of them that are kept."""
        where = select.args.get("where")
        parts = [] if where is None else list(conjuncts(where.this))
        scope, used = self._from(select, parts)
        return self._kept(scope, [part for part in parts if part not in used])

    def _from(self, select: exp.Expr, parts: Sequence[exp.Expr]) -> tuple[Scope, list[exp.Expr]]:
        """Reads FROM; equalities among the parts of WHERE join what commas stand between, and are used up by that."""
        clause = select.args.get("from_")
        if clause is None:
            raise QueryRefused("there is no FROM: say which table is asked.")
        only(clause, "this")
        joins, lists = taken_apart(select.args.get("joins") or [])
        done: dict[int, str] = {}
        equal = Equalities(parts)
        if joins and all(Joining.read(join).plain for join in joins):
            nodes = (clause.this, *(join.this for join in joins))
            scope = self._product([spread(self._source(node), lists, done) for node in nodes], equal)
        else:
            scope = spread(self._source(clause.this), lists, done)
            outer = any(how.right or how.full for how in map(Joining.read, joins))
            for join in joins:
                right = spread(self._source(join.this), lists, done)
                pairs = equal.taken(scope, right) if Joining.read(join).plain and not outer else []
                scope = joined_scopes(scope, right, join, self.parameters, pairs)
        check_all(lists, done)
        _check_size(scope.relation)
        for column in (column for part in equal.used for column in part.find_all(exp.Column)):
            scope.column(column)  # which refuses a name that two tables have
        return scope, equal.used

    def _product(self, parts: list[Scope], equal: Equalities) -> Scope:
        """Joins tables that commas stand between, a private one first, then those that equalities join to it."""
        first = next((part for part in parts if part.relation.private), parts[0])
        scope, left = first, [part for part in parts if part is not first]
        while left:
            answered, refusal = [], None
            for part in sorted(left, key=lambda one: not equal.between(scope, one)):
                try:
                    made = joined_scopes(scope, part, exp.Join(), self.parameters, equal.between(scope, part))
                except QueryRefused as error:
                    refusal = refusal or error
                    continue
                answered.append((part, made))
                if not shared(made.relation):
                    break
            if not answered:
                raise refusal or TypeError(parts)
            chosen, joined = min(
                answered, key=lambda one: shared(one[1].relation)
            )  # within one unit, where that can be
            equal.taken(scope, chosen)
            scope, left = joined, [one for one in left if one is not chosen]
        places = {name: place for place, part in enumerate(parts) for name in (one.name for one in part.sources)}
        return replace(scope, sources=tuple(sorted(scope.sources, key=lambda one: places[one.name])))

    def _kept(self, scope: Scope, parts: Sequence[exp.Expr]) -> Scope:
        """Keeps the rows that meet all conditions; those with a query of their own become joins."""
        inner = [part for part in parts if is_inner(part)]
        for part in inner:
            scope = self._matched(scope, part)
        plain = [part for part in parts if part not in inner]
        if not plain:
            return scope
        reader = row_reader(scope, self.parameters)
        return scope.over(kept(scope.relation, all_of([reader.condition(part) for part in plain])))

    def _matched(self, scope: Scope, node: exp.Expr) -> Scope:
        """Keeps the rows for which x IN (SELECT …) or EXISTS (SELECT …) is true, or the opposite of that."""
        match = Match.SEMI
        while isinstance(node, exp.Paren | exp.Not):
            match = match if isinstance(node, exp.Paren) else Match.ANTI if match is Match.SEMI else Match.SEMI
            node = node.this
        if isinstance(node, exp.Exists):
            only(node, "this")
            return self._existing(scope, node.this, match)
        only(node, "this", "query")
        right = self.query(_without_distinct(node.args["query"]))
        sides = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
        if len(sides) != len(right.fields):
            raise QueryRefused(f"IN compares {len(sides)} value(s) with {len(right.fields)} column(s) of the SELECT.")
        reader = row_reader(scope, self.parameters)
        pairs = list(zip((reader.read(side) for side in sides), right.fields, strict=True))
        scope = matching(scope, right, list(pairs), [], match)
        return scope if match is Match.SEMI or right.private else _where_known(scope, right, pairs)

    def _existing(self, scope: Scope, node: exp.Expr, match: Match) -> Scope:
        """Keeps rows for which an inner SELECT finds something, by conditions that compare it with the outer row."""
        select = node.this if isinstance(node, exp.Subquery) else node
        if not isinstance(select, exp.Select):
            raise refused("EXISTS of more than a SELECT", "write one SELECT, with the tables it looks at")
        only(select, "expressions", "from_", "joins", "where", "with_", "distinct", "order", "limit")
        if (limit := select.args.get("limit")) is not None and limit.expression.name in ("", "0"):
            raise refused("this LIMIT in EXISTS", "leave it out: one row is enough")
        tables, where = self.with_names(select), select.args.get("where")
        parts = [] if where is None else list(conjuncts(where.this))
        inner, used = tables._from(select, parts)
        left = [part for part in parts if part not in used]
        outside = [part for part in left if not is_inner(part) and not _held(part, inner)]
        inner = tables._kept(inner, [part for part in left if part not in outside])
        ours, theirs = (row_reader(one, self.parameters) for one in (scope, inner))
        compared = []
        for part in outside:
            one, operator, other = _side_by_side(part, inner)
            compared.append((ours.read(one), operator, theirs.read(other)))
        pairs = [(one, other) for one, operator, other in compared if operator == "eq"]
        return matching(scope, inner.relation, pairs, [one for one in compared if one[1] != "eq"], match)

    def _source(self, node: exp.Expr) -> Scope:
        match node:
            case exp.Table(this=exp.Identifier(this=str(name))):
                only(node, "this", "alias", "db", "catalog")
                plain = not node.args.get("db")
                match = name_in(name, self.named) if plain else None
                if match is not None:
                    return _called(self.named[match], _alias(node) or name, node)
                scan = self.catalog.table(name)
                return _called(scan, _alias(node) or name, node, self.catalog.left_out(scan.table))
            case exp.Subquery(this=exp.Table() | exp.Subquery()):
                return self._parenthesised(node)
            case exp.Subquery():
                only(node, "this", "with_", "alias")
                return _called(self.query(node), _alias(node), node)
            case exp.Table():
                raise refused(
                    "a function or a parameter in FROM", "only tables of the codebook are asked. Name one of them"
                )
            case exp.Lateral():
                raise refused("LATERAL", "each row would be its own query. JOIN the table on a column")
            case exp.Values():
                return _called(listed_values(node, self.parameters), _alias(node))
        raise refused(type(node).__name__.upper(), "only tables of the codebook and inner queries stand in FROM")

    def _parenthesised(self, node: exp.Expr) -> Scope:
        """Reads a join in parentheses: its tables keep their names, unless all of it is given one."""
        only(node, "this", "alias", "joins")
        inner = node.this
        joins = [*(inner.args.get("joins") or ()), *(node.args.get("joins") or ())]
        first = inner.copy()
        first.set("joins", None)
        scope, _ = self._from(exp.Select(from_=exp.From(this=first), joins=joins), [])
        name = _alias(node)
        if not name:
            return scope
        return _called(selected(scope.relation, list(scope.everything(""))), name, node)


def is_inner(node: exp.Expr) -> bool:
    """Tells whether a condition is x IN (SELECT …) or EXISTS (SELECT …), or the opposite of one."""
    while isinstance(node, exp.Paren | exp.Not):
        node = node.this
    return isinstance(node, exp.Exists) or (isinstance(node, exp.In) and bool(node.args.get("query")))


@final
class Equalities:
    """The equalities of columns that WHERE asks for, and which of its conditions joins have used up."""

    def __init__(self, parts: Sequence[exp.Expr]) -> None:
        self._whole = [part for part in parts if _is_equality(part)]
        self._implied = [one for part in parts for one in _in_every_branch(part)]
        self.used: list[exp.Expr] = []

    def between(self, left: Scope, right: Scope) -> list[exp.Expr]:
        """The equalities of a column on the left with one on the right."""
        return [one for one in dict.fromkeys((*self._whole, *self._implied)) if _joins(one, left, right)]

    def taken(self, left: Scope, right: Scope) -> list[exp.Expr]:
        """The same, and takes those that are conditions by themselves out of WHERE."""
        self.used += [one for one in self._whole if _joins(one, left, right)]
        return self.between(left, right)


def _is_equality(node: exp.Expr) -> bool:
    return isinstance(node, exp.EQ) and all(isinstance(side, exp.Column) for side in (node.this, node.expression))


def _in_every_branch(node: exp.Expr) -> list[exp.Expr]:
    """The equalities that all branches of an OR ask for."""
    if not isinstance(node, exp.Or):
        return []
    branches = [list(conjuncts(branch)) for branch in node.flatten()]
    return [one for one in branches[0] if _is_equality(one) and all(one in branch for branch in branches[1:])]


def _joins(node: exp.Expr, left: Scope, right: Scope) -> bool:
    sides = [(left.holds(side), right.holds(side)) for side in (node.this, node.expression)]
    return sorted(sides) == [(False, True), (True, False)]


def _held(node: exp.Expr, scope: Scope) -> bool:
    """Tells whether all columns that a condition looks at are in some tables."""
    return all(scope.holds(column) for column in node.find_all(exp.Column))


def _side_by_side(node: exp.Expr, inner: Scope) -> tuple[exp.Expr, str, exp.Expr]:
    """Takes apart a condition that compares the outer row with an inner one: the outer side first."""
    operator = OPERATORS.get(type(node))
    if operator is not None:
        sides = (node.this, node.expression)
        held = [_held(side, inner) and any(True for _ in side.find_all(exp.Column)) for side in sides]
        mixed = [any(inner.holds(column) for column in side.find_all(exp.Column)) for side in sides]
        if held == [False, True] and not mixed[0]:
            return node.this, operator, node.expression
        if held == [True, False] and not mixed[1]:
            return node.expression, FLIPPED.get(operator, operator), node.this
    raise refused(
        "this condition on the outer row in EXISTS",
        "each must compare something of the outer row with something of the inner one, as in t.id = s.id. Put what is "
        "about the outer row alone outside",
    )


OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "eq",
    exp.NEQ: "ne",
    exp.LT: "lt",
    exp.LTE: "le",
    exp.GT: "gt",
    exp.GTE: "ge",
}


def _where_known(scope: Scope, right: Relation, pairs: Sequence[tuple[Expression, Column]]) -> Scope:
    """NOT IN beside public rows: never true where one of them is missing, or where the value is and there are any."""
    if len(pairs) > 1:
        raise refused("NOT IN of several columns", "write NOT EXISTS (SELECT … WHERE a = b AND c = d)")
    ((value, column),) = pairs
    one = Literal(1, Kind.INT)
    if column.facts.nullable:
        missing = selected(kept(right, call("is_null", column)), [("one", one)])
        scope = matching(scope, missing, [], [], Match.ANTI)
    if value.facts.nullable:
        flag = call("case", call("is_null", value), one, Literal(None, Kind.INT))
        scope = matching(scope, selected(right, [("one", one)]), [(flag, Column("one", Kind.INT))], [], Match.ANTI)
    return scope


def _without_distinct(node: exp.Expr) -> exp.Expr:
    """A query without SELECT DISTINCT, which changes nothing where it is only looked into."""
    query = node.copy()
    select = query.this if isinstance(query, exp.Subquery) else query
    if isinstance(select, exp.Select) and not (select.args.get("distinct") or exp.Distinct()).args.get("on"):
        select.set("distinct", None)
    return query


def _called(
    relation: Relation, name: str, node: exp.Expr | None = None, left_out: Mapping[str, str] | None = None
) -> Scope:
    """One table of FROM under its name, with the names that a list after its alias gives to its columns."""
    relation = relation if node is None else _columns_named(relation, node.args.get("alias"))
    fields = {column.name: column.name for column in relation.fields}
    return Scope(relation, (Source(name, fields, left_out=left_out or {}),))


def _columns_named(relation: Relation, alias: exp.Expr | None) -> Relation:
    columns = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    if not columns:
        return relation
    if len(columns) > len(relation.fields):
        raise QueryRefused(f"{len(columns)} columns are named, and there are {len(relation.fields)}.")
    names = [column.name for column in columns] + [column.name for column in relation.fields[len(columns) :]]
    return selected(relation, list(zip(names, relation.fields, strict=True)))


def _alias(node: exp.Expr) -> str:
    alias = node.args.get("alias")
    if alias is None:
        return ""
    only(alias, "this", "columns")
    return str(alias.name)


def _parts(node: exp.Union) -> Iterator[exp.Expr]:
    only(node, "this", "expression", "with_", "distinct")
    if node.args.get("distinct"):
        raise refused("UNION", "leaving out rows that occur twice compares rows of several people. Write UNION ALL")
    for part in (node.this, node.expression):
        if type(part) is exp.Union and not part.args.get("with_"):
            yield from _parts(part)
        else:
            yield part


def _union(parts: list[Relation]) -> Relation:
    """Puts relations one below another, as SQL does: by position, under the names of the first one."""
    widths = {len(part.fields) for part in parts}
    if len(widths) > 1:
        raise QueryRefused("the parts of UNION ALL must have equally many columns.")
    names = [column.name for column in parts[0].fields]
    columns = list(zip(*(part.fields for part in parts), strict=True))
    floats = [{column.kind for column in alike} == {Kind.INT, Kind.FLOAT} for alike in columns]
    made = stacked(
        [
            selected(
                part,
                [
                    (name, call("to_float", column) if wide and column.kind is Kind.INT else column)
                    for name, column, wide in zip(names, part.fields, floats, strict=True)
                ],
            )
            for part in parts
        ]
    )
    _check_size(made)
    return made


def _check_size(relation: Relation) -> None:
    """Refuses what uses very many tables: names used twice, again and again, double them each time."""
    if sum(1 for _ in islice(scans(relation), MOST_TABLES + 1)) > MOST_TABLES:
        raise refused(f"a question that uses tables more than {MOST_TABLES} times", "ask several smaller ones")


MOST_TABLES = 64
"""A question uses at most this many tables, each counted as often as it is used."""

"""Tables: what stands in FROM, as relations with fields of different names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias, final

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.build.relation import all_of, joined, kept, scans, selected, stacked
from sfumato.query.nodes.catalog import Catalog, name_in
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Join, Match, Relation
from sfumato.query.sql.aggregates import is_aggregate
from sfumato.query.sql.parameters import Parameters
from sfumato.query.sql.refusals import PARTS, only, refused
from sfumato.query.sql.scalars import Scalars
from sfumato.query.sql.scopes import Scope, Source

Pairs: TypeAlias = list[tuple[str, str]]


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
            name, made = _alias(part), tables.query(part.this)
            if name.casefold() in names:
                raise QueryRefused(f"two tables are called {name!r}: give one of them another name.")
            names.add(name.casefold())
            tables = replace(tables, named={**tables.named, name: made})
        return tables

    def query(self, node: exp.Expr) -> Relation:
        """Reads an inner query as a relation: a SELECT, or several put together by UNION ALL."""
        tables = self.with_names(node)
        match node:
            case exp.Select():
                return self.inner(node, tables)
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
        """Reads what the FROM clause of a SELECT holds, its joins included."""
        clause = select.args.get("from_")
        if clause is None:
            raise QueryRefused("there is no FROM: say which table is asked.")
        only(clause, "this")
        name, relation = self._source(clause.this)
        scope = Scope(relation, (Source(name, {column.name: column.name for column in relation.fields}),))
        for join in select.args.get("joins") or ():
            scope = self._joined(scope, join)
        _check_size(scope.relation)
        return scope

    def _source(self, node: exp.Expr) -> tuple[str, Relation]:
        match node:
            case exp.Table(this=exp.Identifier(this=str(name))):
                only(node, "this", "alias", "db", "catalog")
                plain = not node.args.get("db")
                match = name_in(name, self.named) if plain else None
                return _alias(node) or name, self.catalog.table(name) if match is None else self.named[match]
            case exp.Subquery():
                only(node, "this", "with_", "alias")
                return _alias(node), self.query(node)
            case exp.Table():
                raise refused(
                    "a function or a parameter in FROM", "only tables of the codebook are asked. Name one of them"
                )
            case exp.Lateral():
                raise refused("LATERAL", "each row would be its own query. JOIN the table on a column")
            case exp.Values():
                raise refused("VALUES in FROM", "only tables of the codebook are asked. Declare it as a public table")
        raise refused(type(node).__name__.upper(), "only tables of the codebook and inner queries stand in FROM")

    def _joined(self, scope: Scope, node: exp.Expr) -> Scope:
        match = _match(node)
        name, right = self._source(node.this)
        if any(source.name.casefold() == name.casefold() for source in scope.sources):
            raise QueryRefused(f"two tables are called {name!r}: give one of them an alias.")
        right, fields = _apart(scope.relation, right, name)
        both = Scope(Join(scope.relation, right, (), match), (*scope.sources, Source(name, fields)))
        if node.args.get("using"):
            pairs, rest, merged = self._using(both, node)
        else:
            (pairs, rest), merged = self._on(both, node, right), frozenset[str]()
        if rest and match is Match.LEFT:
            right, rest = _only_right(right, rest), []
        relation: Relation = _join(scope.relation, right, pairs, match)
        wider = Scope(relation, (*scope.sources, Source(name, fields, merged)))
        return wider.over(kept(relation, all_of(rest))) if rest else wider

    def _using(self, both: Scope, node: exp.Expr) -> tuple[Pairs, list[Expression], frozenset[str]]:
        before = Scope(both.relation, both.sources[:-1])
        after = Scope(both.relation, both.sources[-1:])
        pairs, merged = [], set()
        for part in node.args["using"]:
            columns = [one.column(exp.column(part.name, quoted=True)) for one in (before, after)]
            pairs.append((columns[0].name, columns[1].name))
            merged |= {visible for visible, field in both.sources[-1].fields.items() if field == columns[1].name}
        return pairs, [], frozenset(merged)

    def _on(self, both: Scope, node: exp.Expr, right: Relation) -> tuple[Pairs, list[Expression]]:
        """Splits a join's condition into pairs of columns that are equal, and what else it says."""
        theirs = {column.name for column in right.fields}
        scalars = row_reader(both, self.parameters)
        pairs: Pairs = []
        rest: list[Expression] = []
        for part in _conjuncts(node.args["on"]):
            match part:
                case exp.EQ(this=exp.Column() as one, expression=exp.Column() as other):
                    left, right_name = sorted((both.column(one).name, both.column(other).name), key=theirs.__contains__)
                    if right_name in theirs and left not in theirs:
                        pairs.append((left, right_name))
                        continue
            rest.append(scalars.condition(part))
        return pairs, rest


def row_reader(scope: Scope, parameters: Parameters) -> Scalars:
    """Builds the reader of expressions of rows, where no aggregate may stand."""

    def leaf(node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            return scope.column(node)
        if isinstance(node, exp.AggFunc) or is_aggregate(node):
            raise refused(
                "an aggregate among the values of a row",
                "it may stand in SELECT, HAVING and ORDER BY. Aggregate in an inner query first, or write HAVING",
            )
        return None

    return Scalars(leaf, parameters)


def _alias(node: exp.Expr) -> str:
    alias = node.args.get("alias")
    if alias is None:
        return ""
    only(alias, "this")
    return str(alias.name)


def _match(node: exp.Expr) -> Match:
    only(node, "this", "on", "side", "kind", "using", "method")
    method, side, kind = (str(node.args.get(name) or "").upper() for name in ("method", "side", "kind"))
    if method:
        raise refused(f"{method} JOIN", "write JOIN … ON with the columns that are equal")
    if side == "RIGHT":
        raise refused("RIGHT JOIN", "write the tables the other way round, with LEFT JOIN")
    if side == "FULL":
        raise refused("FULL JOIN", "rows that match nothing on one side belong to nobody. Write LEFT JOIN")
    if kind not in ("", "INNER", "OUTER"):
        raise refused(f"{kind} JOIN", "write JOIN … ON with the columns that are equal")
    if not node.args.get("on") and not node.args.get("using"):
        raise refused(
            "a join without ON or USING", "every row would meet every other. Write JOIN … ON with equal columns"
        )
    return Match.LEFT if side == "LEFT" else Match.INNER


def _join(left: Relation, right: Relation, pairs: Pairs, match: Match) -> Join:
    if right.private and not left.private and match is Match.INNER:
        left, right, pairs = right, left, [(other, one) for one, other in pairs]
    return joined(left, right, pairs, match)


def _only_right(right: Relation, rest: list[Expression]) -> Relation:
    """Puts what the condition of a left join says of the right table alone before the join."""
    theirs = {column.name for column in right.fields}
    if not all(column.name in theirs for condition in rest for column in condition.columns()):
        raise refused(
            "a LEFT JOIN on more than equal columns",
            "only conditions on the right table may be added. Put others into WHERE",
        )
    return kept(right, all_of(rest))


def _conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    match node:
        case exp.Paren():
            yield from _conjuncts(node.this)
        case exp.And():
            yield from _conjuncts(node.this)
            yield from _conjuncts(node.expression)
        case _:
            yield node


def _apart(left: Relation, right: Relation, name: str) -> tuple[Relation, dict[str, str]]:
    """Renames fields of the right side of a join that the left side has too, also if only the case differs."""
    taken = {column.name.casefold() for column in left.fields}
    fields: dict[str, str] = {}
    for column in right.fields:
        chosen = column.name
        while chosen.casefold() in taken:
            chosen = f"{name or 'right'}.{chosen}"
        taken.add(chosen.casefold())
        fields[column.name] = chosen
    if all(visible == field for visible, field in fields.items()):
        return right, fields
    return selected(right, [(fields[column.name], column) for column in right.fields]), fields


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


def is_star(node: exp.Expr) -> bool:
    """Tells whether a node is * or table.*."""
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def columns_of(node: exp.Expr, scope: Scope) -> list[tuple[str, Column]]:
    """The columns that a star means."""
    star = node.this if isinstance(node, exp.Column) else node
    only(star)
    return list(scope.everything(node.table if isinstance(node, exp.Column) else ""))

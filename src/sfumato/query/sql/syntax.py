"""Syntax: what stands where in a tree of the parser, without a look at what names mean."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from sfumato.query.answer.spelled import named
from sfumato.query.sql.aggregates import is_aggregate

QUERIES = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)
"""What is a query by itself, wherever it stands."""

FUNCTION_PARTS = (exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)
"""What may stand between a window and its function."""


def identifier(name: str) -> exp.Identifier:
    """A name in a tree, in quotes where it would be read as something else."""
    return exp.Identifier(this=name, quoted=named(name) != name)


def column(name: str) -> exp.Column:
    """A column by its name alone."""
    return exp.Column(this=identifier(name))


def aliased(made: exp.Expr, name: str) -> exp.Expr:
    """An expression under a name; a column of that name is so already."""
    if isinstance(made, exp.Column) and not made.table and made.name == name:
        return made
    return exp.Alias(this=made, alias=identifier(name))


def sources_of(node: exp.Expr) -> Iterator[exp.Expr]:
    """What stands in FROM and in joins: tables, inner queries, and whatever else somebody wrote there."""
    clause = node.args.get("from_")
    if clause is not None:
        yield clause.this
    for join in node.args.get("joins") or ():
        yield join.this


def nearest(node: exp.Expr) -> Iterator[exp.Expr]:
    """All parts of a node down to inner queries, which are given and not looked into."""
    for part in node.iter_expressions():
        yield part
        if not isinstance(part, QUERIES):
            yield from nearest(part)


def queries_in(node: exp.Expr, *, everywhere: bool = False) -> list[exp.Expr]:
    """The inner queries of a query that stand in its expressions; with ``everywhere``, those of FROM and WITH too."""
    sources = () if everywhere else tuple(map(id, sources_of(node)))
    named = node.args.get("with_")
    skipped = set(sources) | (set() if named is None else {id(one) for one in nearest(named)})
    return [one for one in nearest(node) if isinstance(one, QUERIES) and id(one) not in skipped]


def tables_in(node: exp.Expr) -> list[exp.Table]:
    """The tables that a query itself looks at, and no inner one."""
    return [one for one in nearest(node) if isinstance(one, exp.Table)]


def is_windowed(node: exp.Expr) -> bool:
    """Tells whether a node is the function of a window, which looks at rows of the answer."""
    above = node.parent
    while isinstance(above, FUNCTION_PARTS) and above.this is node:
        node, above = above, above.parent
    return isinstance(above, exp.Window) and above.this is node


def sums_up(node: exp.Expr) -> bool:
    """Tells whether a node is an aggregate of a group, known or not."""
    return (isinstance(node, exp.AggFunc) or is_aggregate(node)) and not is_windowed(node)


def is_star(node: exp.Expr) -> bool:
    """Tells whether a node is * or table.*."""
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))

"""Blocks: one SELECT, read up to the point where it becomes a question or an inner relation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.build.relation import unused
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.questions import Quantile, Statistic, StatisticValue, statistics_in
from sfumato.query.sql.aggregates import Aggregates, is_aggregate
from sfumato.query.sql.constants import constant
from sfumato.query.sql.grouping import grouping
from sfumato.query.sql.joins import row_reader
from sfumato.query.sql.refusals import only, refused
from sfumato.query.sql.scalars import Scalars
from sfumato.query.sql.scopes import Scope
from sfumato.query.sql.syntax import is_star
from sfumato.query.sql.tables import Tables
from sfumato.query.sql.unnesting import with_lists_beside
from sfumato.query.sql.usual_names import usual_name
from sfumato.query.sql.within import Windows, with_windows

Wrap: TypeAlias = Callable[[Statistic, Scope], Expression]
"""Makes what stands for a statistic in an expression, or refuses the statistic."""


@final
@dataclass(frozen=True)
class Item:
    """One column of SELECT; ``named`` tells whether somebody gave it its name."""

    name: str
    made: Expression
    named: bool


@final
@dataclass(frozen=True)
class Block:
    """A SELECT after its names have been looked up.

    Expressions of ``items``, ``having`` and ``order`` hold columns of rows and values of statistics: `keyed` makes
    expressions over keys of them. ``keys`` is None where nothing is grouped or aggregated.
    """

    scope: Scope
    items: tuple[Item, ...]
    keys: tuple[tuple[str, Expression], ...] | None
    sets: tuple[tuple[int, ...], ...] = ((),)
    having: Expression | None = None
    order: tuple[tuple[Expression, bool], ...] = ()
    limit: int | None = None


MOST_COLUMNS = 1000
"""A SELECT has at most this many columns."""

CLAUSES = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "with_", "windows", "qualify")


def block(select: exp.Expr, tables: Tables, wrap: Wrap) -> Block:
    """Reads a SELECT."""
    only(select, *CLAUSES)
    select = with_lists_beside(select)
    scope, windows = with_windows(select, tables.scope(select), tables.parameters)
    rows = row_reader(scope, tables.parameters)
    reader = _Reader(scope, rows, wrap, windows)
    items = reader.items(select.expressions)
    keys, sets = reader.keys(select.args.get("group"), items)
    late = Scalars(lambda node: reader.leaf(node, items, keys), tables.parameters)
    having = select.args.get("having")
    condition = None if having is None else late.condition(having.this)
    order = tuple(_ordered(node, late, items) for node in _orders(select.args.get("order")))
    made = [*(item.made for item in items), *(() if condition is None else (condition,)), *(one for one, _ in order)]
    grouped = select.args.get("group") is not None or any(True for one in made for _ in statistics_in(one))
    limit = _limit(select.args.get("limit"), tables)
    return Block(scope, items, named_keys(keys, items) if grouped else None, sets, condition, order, limit)


@final
@dataclass(frozen=True)
class _Reader:
    """Reads expressions of one SELECT, where aggregates may stand."""

    scope: Scope
    rows: Scalars
    wrap: Wrap
    windows: Windows

    def leaf(
        self, node: exp.Expr, items: Sequence[Item] = (), keys: Sequence[Expression] | None = None
    ) -> Expression | None:
        """Reads a column or an aggregate; names that were given in SELECT are known where it has been read."""
        if isinstance(node, exp.Column) and not is_star(node):
            return self.named(node, items, keys)
        if not is_aggregate(node):
            return self.windows.get(id(node))
        made = self._aggregates.read(node)
        if len(made) > 1:
            raise refused(
                "a list of quantiles inside an expression", "it makes several columns. Write one QUANTILE for each"
            )
        return made[0]

    @property
    def _aggregates(self) -> Aggregates:
        return Aggregates(self.rows, lambda statistic: self.wrap(statistic, self.scope))

    def _early(self, node: exp.Expr, before: Sequence[Item]) -> Expression | None:
        """Reads a column or an aggregate in SELECT itself, where columns of the tables come first."""
        known = isinstance(node, exp.Column) and not is_star(node) and self.scope.called(node.name)
        return self.leaf(node, () if known else before)

    def named(self, node: exp.Column, items: Sequence[Item], keys: Sequence[Expression] | None = None) -> Expression:
        """Looks up a name: one given in SELECT, or a column; refuses one that may be either.

        Where the keys are known, columns that are not among them cannot be meant.
        """
        alike = [item.made for item in items if item.named and item.name.casefold() == node.name.casefold()]
        if node.table or not alike:
            return self.scope.column(node)
        others = [column for column in self.scope.called(node.name).values() if column != alike[0]]
        if any(keys is None or column in keys for column in others):
            raise QueryRefused(
                f"{node.name!r} is both a column and a name given in SELECT: write the column with its table, or give "
                "another name."
            )
        return alike[0]

    def items(self, nodes: Iterable[exp.Expr]) -> tuple[Item, ...]:
        """Reads the columns of SELECT, under names that differ."""
        items: list[Item] = []
        for node in nodes:
            items += self._item(node, items)
        if len(items) > MOST_COLUMNS:
            raise QueryRefused(f"SELECT has {len(items)} columns; at most {MOST_COLUMNS} are answered.")
        taken = [item.name.casefold() for item in items if item.named]
        twice = [name for place, name in enumerate(taken) if name in taken[:place]]
        if twice:
            raise QueryRefused(f"two columns are called {twice[0]!r}: give one of them another name.")
        names = set(taken)
        return tuple(item if item.named else Item(unused(item.name, names), item.made, named=False) for item in items)

    def _item(self, node: exp.Expr, before: Sequence[Item]) -> list[Item]:
        """Reads one column of SELECT; names that were given before it are known, where no column has them."""
        if is_star(node):
            return [Item(name, column, named=True) for name, column in _columns_of(node, self.scope)]
        inner, named = node, False
        if isinstance(node, exp.Alias):
            only(node, "this", "alias")
            inner, named = node.this, True
        name = str(node.alias) if named else usual_name(inner)
        if is_aggregate(inner):
            made = self._aggregates.read(inner)
            names = [name] if len(made) == 1 else [_quantile_name(name, one) for one in made]
            return [Item(one, value, named) for one, value in zip(names, made, strict=True)]
        made_one = Scalars(lambda node: self._early(node, before), self.rows.parameters).read(inner)
        return [Item(name, made_one, named or isinstance(inner, exp.Column))]

    def keys(
        self, group: exp.Expr | None, items: Sequence[Item]
    ) -> tuple[list[Expression], tuple[tuple[int, ...], ...]]:
        """Reads what is grouped by, and the grouping sets."""
        if group is None:
            return [], ((),)
        if group.args.get("all"):
            only(group, "all")
            plain = (item.made for item in items if not any(True for _ in statistics_in(item.made)))
            keys = list(dict.fromkeys(made for made in plain if not isinstance(made, Literal)))
            return keys, (tuple(range(len(keys))),)
        by, sets = grouping(group, lambda node: self._key(node, items))
        return by, tuple(sets)

    def _key(self, node: exp.Expr, items: Sequence[Item]) -> Expression:
        at = position(node, len(items), "GROUP BY")
        if at is not None:
            made = items[at].made
        else:
            made = self.named(node, items) if isinstance(node, exp.Column) else self.rows.read(node)
        if any(True for _ in statistics_in(made)):
            raise refused("grouping by an aggregate", "group an inner query, or filter groups with HAVING")
        if isinstance(made, Literal):
            raise refused("grouping by a constant", "leave it out: one group is answered without GROUP BY")
        return made


def _quantile_name(name: str, made: Expression) -> str:
    match made:
        case StatisticValue(statistic=Quantile(at=at)):
            return f"{name}_{float(at):g}"
    return name


def named_keys(keys: Iterable[Expression], items: Sequence[Item]) -> tuple[tuple[str, Expression], ...]:
    """Names keys, so that names differ: as SELECT does, or by the column."""
    taken: set[str] = set()
    named = []
    for key in keys:
        name = next((item.name for item in items if item.made == key), key.name if isinstance(key, Column) else "key")
        named.append((unused(name, taken), key))
    return tuple(named)


def keyed(made: Expression, replaced: Mapping[Expression, Expression]) -> Expression:
    """Replaces keys and statistics by what stands for them; refuses columns of rows that are left."""
    if made in replaced:
        return replaced[made]
    match made:
        case Call(operator, parts):
            return call(operator, *(keyed(part, replaced) for part in parts))
        case Column():
            raise shows_rows(made)
        case StatisticValue():
            raise TypeError(made)
    return made


def shows_rows(column: Column) -> QueryRefused:
    """The refusal of a column of rows among released numbers, to be raised."""
    name = column.name
    instead = f"COUNT(DISTINCT {name})" if column.unit == 0 else f"COUNT({name}), or put it into GROUP BY"
    return QueryRefused(
        f"{name!r} would show rows: it is neither aggregated nor grouped by, and rows of private tables never "
        f"leave. Write an aggregate of it, such as {instead}."
    )


def _orders(order: exp.Expr | None) -> list[exp.Expr]:
    if order is None:
        return []
    only(order, "expressions")
    return list(order.expressions)


def _ordered(node: exp.Expr, late: Scalars, items: Sequence[Item]) -> tuple[Expression, bool]:
    only(node, "this", "desc")
    at = position(node.this, len(items), "ORDER BY")
    return late.read(node.this) if at is None else items[at].made, bool(node.args.get("desc"))


def position(node: exp.Expr, many: int, clause: str) -> int | None:
    """The place of the column of SELECT that a number means, from 0; None where it is not a number."""
    if not isinstance(node, exp.Literal) or node.is_string:
        return None
    if not node.name.isdecimal() or len(node.name) > 9 or not 1 <= int(node.name) <= many:
        raise QueryRefused(f"{clause} {node.name[:40]}: SELECT has the columns 1 to {many}.")
    return int(node.name) - 1


def _limit(node: exp.Expr | None, tables: Tables) -> int | None:
    if node is None:
        return None
    if not isinstance(node, exp.Limit):
        raise refused("FETCH", "write LIMIT and a number of rows")
    only(node, "expression")
    most = constant(node.expression, tables.parameters)
    if most is None or type(most.value) is not int or most.value < 0:
        raise QueryRefused("LIMIT takes a whole number, 0 or more.")
    return most.value


def _columns_of(node: exp.Expr, scope: Scope) -> list[tuple[str, Column]]:
    """The columns that a star means."""
    star = node.this if isinstance(node, exp.Column) else node
    only(star)
    return list(scope.everything(node.table if isinstance(node, exp.Column) else ""))

"""Within one unit: sums of its rows, and window functions whose parts are its own, read from SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.build.relation import folded, kept, owner_of, placed, unused, windowed
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.questions import Count, CountDistinct, Mean, Quantile, Statistic, StatisticValue, Sum
from sfumato.query.nodes.relations import Fold, Folded, Owner, Placed, Placing, Relation
from sfumato.query.sql.aggregates import Aggregates, is_aggregate
from sfumato.query.sql.constants import constant
from sfumato.query.sql.joins import row_reader
from sfumato.query.sql.parameters import Parameters
from sfumato.query.sql.refusals import PARTS, only, refused
from sfumato.query.sql.scalars import Scalars
from sfumato.query.sql.scopes import Scope
from sfumato.query.sql.usual_names import usual_name

Windows: TypeAlias = Mapping[int, Column]
"""The columns that stand for window functions, by where these are in the tree of the text."""

PLACES: dict[type[exp.Expr], Placing] = {
    exp.RowNumber: Placing.ROW_NUMBER,
    exp.Rank: Placing.RANK,
    exp.DenseRank: Placing.DENSE_RANK,
    exp.Lag: Placing.LAG,
    exp.Lead: Placing.LEAD,
    exp.FirstValue: Placing.FIRST,
    exp.LastValue: Placing.LAST,
}


def with_windows(select: exp.Expr, scope: Scope, parameters: Parameters) -> tuple[Scope, Windows]:
    """Adds the columns of window functions whose PARTITION BY names the id; QUALIFY then keeps rows by them."""
    reader, columns = row_reader(scope, parameters), dict[int, Column]()
    named = {one.this.name.casefold(): one for one in select.args.get("windows") or ()}
    for node, name in _windows(select):
        spec = named.get(node.alias.casefold(), node) if node.args.get("alias") else node
        by = [reader.read(part) for part in spec.args.get("partition_by") or ()]
        if not any(isinstance(one, Column) and one.unit == 0 for one in by):
            continue
        _check_window(by, scope.relation)
        taken = {column.name.casefold() for column in scope.relation.fields}
        added = _added(node.this, spec, unused(name, taken), reader)
        whole = _is_whole(spec) and isinstance(added, Folded)
        order = () if whole else tuple(_ordered(one, reader) for one in _orders(spec))
        parts = [one for one in by if not (isinstance(one, Column) and one.unit == 0)]
        scope = scope.over(windowed(scope.relation, parts, order, [added]))
        columns[id(node)] = added.column
    qualify = select.args.get("qualify")
    if qualify is None:
        return scope, columns
    condition = Scalars(window_leaf(scope, columns, _aliases(select, scope, parameters, columns)), parameters)
    if not columns:
        raise refused(*PARTS["qualify"])
    return scope.over(kept(scope.relation, condition.condition(qualify.this))), columns


def _windows(select: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    """The window functions of SELECT and QUALIFY, each with a name for its column."""
    for item in select.expressions:
        for node in item.find_all(exp.Window):
            named = isinstance(item, exp.Alias) and item.this is node
            yield node, item.alias if named else usual_name(node.this)
    if (qualify := select.args.get("qualify")) is not None:
        yield from ((node, usual_name(node.this)) for node in qualify.find_all(exp.Window))


def window_leaf(
    scope: Scope, columns: Windows, named: Mapping[str, Expression] | None = None
) -> Callable[[exp.Expr], Expression | None]:
    """Reads columns of rows and window functions; names that were given in SELECT where no column has them."""

    def leaf(node: exp.Expr) -> Expression | None:
        if id(node) in columns:
            return columns[id(node)]
        if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            alias = (named or {}).get(node.name.casefold()) if not node.table and not scope.holds(node) else None
            return scope.column(node) if alias is None else alias
        return None

    return leaf


def _aliases(select: exp.Expr, scope: Scope, parameters: Parameters, columns: Windows) -> dict[str, Expression]:
    reader = Scalars(window_leaf(scope, columns), parameters)
    items = [item for item in select.expressions if isinstance(item, exp.Alias)]
    return {item.alias.casefold(): reader.read(item.this) for item in items}


def _check_window(by: Sequence[Expression], relation: Relation) -> None:
    owner = owner_of(relation)
    if owner is not None and owner.window is not None and not any(is_window(one, owner) for one in by):
        column, every = owner.window
        raise refused(
            "a window over all the time of one id",
            f"the unit is an id in one {every}. Add DATE_TRUNC('{every}', {column}) to its PARTITION BY",
        )


def is_window(key: Expression, owner: Owner) -> bool:
    """Tells whether a key is the stretch of time that is part of the unit's identity."""
    match key:
        case Column(unit=1):
            return True
        case Call("date_trunc", (Column(origin=origin), Literal(value=word))):
            return owner.window == (origin.rpartition(".")[2], word)
    return False


def _added(node: exp.Expr, spec: exp.Expr, name: str, reader: Scalars) -> Placed | Folded:
    """Reads what a window function makes."""
    _check_frame(spec)
    placing = PLACES.get(type(node))
    if placing is None:
        if not is_aggregate(node):
            raise refused(f"{usual_name(node).upper()} OVER", f"known within one unit are {KNOWN}")
        values = Aggregates(reader, StatisticValue).read(node)
        made = values[0] if len(values) == 1 else None
        fold = folded_statistic(made.statistic, name) if isinstance(made, StatisticValue) else None
        if fold is None or fold.fold is Fold.DISTINCT:
            raise refused("this aggregate OVER rows", f"known within one unit are {KNOWN}")
        return fold
    if placing.numbers:
        only(node)
        return placed(placing, None, name)
    only(node, "this", "offset")
    if placing is Placing.LAST and _orders(spec) and not _is_whole(spec):
        raise refused(
            "LAST_VALUE up to the row itself",
            "that is the row's own value. Write FIRST_VALUE with the order turned round, or ROWS BETWEEN UNBOUNDED "
            "PRECEDING AND UNBOUNDED FOLLOWING",
        )
    steps = 1
    if (offset := node.args.get("offset")) is not None:
        said = constant(offset, reader.parameters)
        if said is None or type(said.value) is not int or not 0 <= said.value <= MOST_STEPS:
            raise QueryRefused(f"LAG and LEAD take a whole number of rows, from 0 to {MOST_STEPS:,}.")
        steps = said.value
    return placed(placing, reader.read(node.this), name, steps)


KNOWN = "ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD, FIRST_VALUE, LAST_VALUE, COUNT, SUM, AVG, MIN and MAX"
MOST_STEPS = 10**6


def _check_frame(spec: exp.Expr) -> None:
    only(spec, "this", "partition_by", "order", "spec", "over")
    frame = spec.args.get("spec")
    if frame is None or _is_whole(spec):
        return
    said = [str(frame.args.get(part) or "").upper() for part in ("kind", "start", "start_side", "end", "end_side")]
    if said[:4] != ["RANGE", "UNBOUNDED", "PRECEDING", "CURRENT ROW"]:
        raise refused(
            "this frame of a window",
            "all rows of the part are known, and without a frame those up to the row. Leave it out, or use LAG",
        )


def _is_whole(spec: exp.Expr) -> bool:
    """Tells whether a frame has all rows of the part."""
    frame = spec.args.get("spec")
    parts = ("start", "start_side", "end", "end_side")
    said = [] if frame is None else [str(frame.args.get(part) or "").upper() for part in parts]
    return said == ["UNBOUNDED", "PRECEDING", "UNBOUNDED", "FOLLOWING"]


def _orders(spec: exp.Expr) -> list[exp.Expr]:
    order = spec.args.get("order")
    return [] if order is None else list(order.expressions)


def _ordered(node: exp.Expr, reader: Scalars) -> tuple[Expression, bool]:
    if node.args.get("nulls_first"):
        raise refused("NULLS FIRST", "missing values come last. Order by x IS NULL DESC first")
    only(node, "this", "desc")
    return reader.read(node.this), bool(node.args.get("desc"))


def folded_statistic(statistic: Statistic, name: str) -> Folded:
    """Says how a statistic of the rows of one unit is made."""
    match statistic:
        case Count(None, None):
            return folded(Fold.COUNT, None, name)
        case Count(of):
            return folded(Fold.COUNT, _where(Literal(1, Kind.INT) if of is None else of, statistic), name)
        case CountDistinct(of, others=()):
            return folded(Fold.DISTINCT, _where(of, statistic), name)
        case Sum(of):
            return folded(Fold.SUM, _where(of, statistic), name)
        case Mean(of):
            return folded(Fold.MEAN, _where(of, statistic), name)
        case Quantile(of, at) if at in (0, 1):
            return folded(Fold.MAX if at else Fold.MIN, _where(of, statistic), name)
    raise refused(f"{statistic.name} within one unit", "COUNT, SUM, AVG, MIN and MAX are known there")


def _where(of: Expression, statistic: Statistic) -> Expression:
    """Values of the rows that are looked at, and missing ones of the others."""
    return of if statistic.where is None else call("case", statistic.where, of, Literal(None, of.kind))

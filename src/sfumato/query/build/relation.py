"""Steps on relations, checked: the one place where SQL and data frames make relations, so that both refuse alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain
from math import ceil, floor, inf

from sfumato.errors import QueryRefused, UnboundedColumn, shown
from sfumato.query.nodes.expressions import Column, Expression, Literal
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import LEAST_INT, MOST_INT, Kind
from sfumato.query.nodes.operators import call, common
from sfumato.query.nodes.relations import (
    Fold,
    Folded,
    Join,
    Listed,
    Match,
    Meet,
    Owner,
    PerUnit,
    Placed,
    Placing,
    Relation,
    Scan,
    Select,
    Union,
    Where,
    Windowed,
)
from sfumato.query.nodes.walks import meetings
from sfumato.query.plan.grids import Grid, float_grid

FOLD_BITS = 40
"""The most bits of a value that is added up within a unit, so that 64 bits hold the sum of eight million."""


def scans(relation: Relation) -> Iterator[Scan]:
    """The tables that a relation is made of, in order, repeated as often as it uses them."""
    if isinstance(relation, Scan):
        yield relation
    for source in relation.sources:
        yield from scans(source)


def shared(relation: Relation) -> bool:
    """Tells whether rows belong to several units: somewhere in it, rows of different ones were joined."""
    return any(True for _ in meetings(relation))


def owner_of(relation: Relation) -> Owner | None:
    """The owner of the rows, by the first private table; None where all tables are public.

    Of `shared` rows nothing says whose they are, as where rows are units.
    """
    if shared(relation):
        return Owner()
    return next((scan.owner for scan in scans(relation) if scan.owner is not None), None)


def all_of(conditions: Sequence[Expression]) -> Expression:
    """The condition that all of several hold; nested ones are flattened, so that brackets make no difference."""
    return _spread("and", conditions)


def any_of(conditions: Sequence[Expression]) -> Expression:
    """The condition that at least one of several holds, flattened likewise."""
    return _spread("or", conditions)


def _spread(operator: str, conditions: Sequence[Expression]) -> Expression:
    if len(conditions) == 1:
        return conditions[0]
    made = call(operator, *conditions)
    inner = ((part.parts if getattr(part, "operator", "") == operator else (part,)) for part in made.parts)
    return call(operator, *chain.from_iterable(inner))


def kept(source: Relation, condition: Expression) -> Where:
    """Keeps the rows for which a condition is true; where it is false or missing they go."""
    if condition.kind is not Kind.BOOL:
        raise QueryRefused(f"where takes a condition, which is true or false; got {condition.kind.value}.")
    return Where(source, condition)


def selected(source: Relation, columns: Sequence[tuple[str, Expression]]) -> Select:
    """Computes new columns; refuses names that are given twice."""
    _check_names([name for name, _ in columns])
    return Select(source, tuple(columns))


def _check_names(names: Sequence[str]) -> None:
    if not names:
        raise QueryRefused("nothing is selected: name at least one column.")
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise QueryRefused(f"two columns are called {twice[0]!r}: give one of them another name.")


def joined(
    left: Relation,
    right: Relation,
    on: Sequence[tuple[str, str]],
    match: Match = Match.INNER,
    compared: Sequence[tuple[str, str, str]] = (),
) -> Join | Meet:
    """Joins on equal columns, so that each row of the result belongs to one unit.

    Public rows go to the right; two private tables are joined on the columns that identify their units. On others
    they `Meet`: then each row belongs to two units.
    """
    if right.private and not left.private:
        raise QueryRefused(
            "public rows that depend on private ones would belong to nobody: a public table cannot be joined with a "
            "private one on its right. Write the private table first."
        )
    if not on and right.private:
        raise QueryRefused("a join needs columns that are equal: without them, every row would meet every other.")
    pairs = [(_field(left, one), _field(right, other)) for one, other in on]
    for one, other in (*pairs, *((_field(left, one), _field(right, other)) for one, _, other in compared)):
        if common((one.kind, other.kind)) is None:
            raise QueryRefused(
                f"{one.name!r} is {one.kind.value} and {other.name!r} is {other.kind.value}: they are never equal."
            )
    together = right.private and not _same_unit(left, right, pairs)
    if together and (match is not Match.INNER or compared):
        raise QueryRefused(
            "whether a row of one private table is kept would depend here on the rows of other units in another one, "
            f"and no bound on one unit could cut that. {_instead(left)} An inner JOIN is answered without."
        )
    _check_names([column.name for column in (*left.fields, *right.fields)])
    if together:
        return Meet(left, right, tuple(on))
    return Join(left, right, tuple(on), match, tuple(compared))


def full_join(
    left: Relation,
    right: Relation,
    on: Sequence[tuple[str, str]],
    compared: Sequence[tuple[str, str, str]] = (),
    either: Sequence[tuple[str, str, str]] = (),
) -> Relation:
    """Joins two relations and keeps unmatched rows of both, each with its unit: a left join, and what it leaves out.

    ``either`` names further columns with the value of a column on the left, or of one on the right where that is there.
    """
    if left.private != right.private:
        raise QueryRefused(
            "FULL JOIN of a private and a public table is refused: public rows that match nothing belong to nobody. "
            "Write LEFT JOIN, with the private table first."
        )
    flipped = [(other, FLIPPED[operator], one) for one, operator, other in compared]
    matched = joined(left, right, on, Match.LEFT, compared)
    others = joined(right, left, [(other, one) for one, other in on], Match.ANTI, flipped)
    fields = {column.name: column for column in matched.fields}
    ours = [(name, fields[name]) for name in fields] + [(name, fields[one]) for name, one, _ in either]
    missing: list[tuple[str, Expression]] = [(column.name, Literal(None, column.kind)) for column in left.fields]
    theirs = [(column.name, column) for column in right.fields]
    there = [(name, _field(right, other)) for name, _, other in either]
    return stacked([selected(matched, ours), selected(others, [*missing, *theirs, *there])])


FLIPPED = {"ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
"""Comparisons with their sides exchanged."""


def _field(relation: Relation, name: str) -> Column:
    field = relation.field(name)
    if field is None:
        known = ", ".join(column.name for column in relation.fields)
        raise QueryRefused(f"there is no column {shown(name)} to join on; there are: {known}.")
    return field


def _same_unit(left: Relation, right: Relation, pairs: Sequence[tuple[Column, Column]]) -> bool:
    """Tells whether equal columns mean equal ids: they hold them, or lead there by the same key of a table."""
    if shared(left) or shared(right):
        return False
    if any(one.unit == other.unit == 0 for one, other in pairs):
        return True
    keys = {
        f"{scan.table}.{hop.column}": f"{hop.table}.{hop.key}"
        for scan in chain(scans(left), scans(right))
        if scan.owner is not None
        for hop in scan.owner.hops[:1]
    }
    return any(
        keys.get(one.origin, one.origin) == keys.get(other.origin, other.origin) in keys.values()
        for one, other in pairs
    )


def _instead(relation: Relation) -> str:
    owner = owner_of(relation)
    if owner is None or not owner.id:
        return "Nothing says here whose a row is: give the tables an id in the codebook, and join on it."
    names = [column.name for column in relation.fields if column.unit == 0]
    return f"Join them on {names[0] if names else owner.id} as well."


def listed(names: Sequence[str], rows: Sequence[Sequence[Literal | None]]) -> Listed:
    """Makes a public relation of constants; what is None is missing, and has the kind of the others in its column."""
    if len(rows) > MOST_LISTED:
        raise QueryRefused(f"a question states at most {MOST_LISTED:,} rows: put more of them into a public table.")
    _check_names(names)
    columns, cells = [], []
    for name, column in zip(names, zip(*rows, strict=True), strict=True):
        there = [one for one in column if one is not None]
        kind = common(tuple(one.kind for one in there)) if there else Kind.TEXT
        if kind is None:
            raise QueryRefused(f"the values of {name!r} must be of one kind: numbers, texts, days or times.")
        held = [None if one is None else float(one.value) + 0.0 if kind is Kind.FLOAT else one.value for one in column]
        keys = tuple(dict.fromkeys(value for value in held if value is not None))
        columns.append(Column(name, kind, Facts(None, keys, nullable=None in held)))
        cells.append(held)
    return Listed(tuple(columns), tuple(zip(*cells, strict=True)))


MOST_LISTED = 10_000
"""A question states at most this many rows itself."""


def stacked(parts: Sequence[Relation]) -> Union:
    """Stacks relations: all private or all public, with the same names and kinds in the same order."""
    if len({part.private for part in parts}) > 1:
        raise QueryRefused("a union of private and public rows is refused: the public ones would belong to nobody.")
    if len({shared(part) for part in parts}) > 1:
        raise QueryRefused(
            "a union of rows of one unit and of rows that belong to two is refused: ask about each alone."
        )
    first = [(column.name, column.kind) for column in parts[0].fields]
    for part in parts[1:]:
        other = [(column.name, column.kind) for column in part.fields]
        if other != first:
            raise QueryRefused(
                f"a union needs the same columns in the same order; got {_listed(first)} and {_listed(other)}."
            )
    return Union(tuple(parts))


def _listed(fields: Sequence[tuple[str, Kind]]) -> str:
    return ", ".join(f"{name} ({kind.value})" for name, kind in fields)


def per_unit(source: Relation, by: Sequence[tuple[str, Expression]], folds: Sequence[Folded]) -> PerUnit:
    """Folds rows into one for each unit and group, public ones for each group; refuses where rows are the units."""
    _check_not_shared(source, "summed up within one")
    owner = owner_of(source)
    if owner is not None and not owner.id:
        raise QueryRefused("each row is a unit by itself here, so there is nothing to sum up within a unit.")
    _check_names([*(name for name, _ in by), *(folded.column.name for folded in folds)])
    return PerUnit(source, tuple(by), tuple(folds))


def _check_not_shared(source: Relation, done: str) -> None:
    if shared(source):
        raise QueryRefused(
            f"a row of a join of private tables off the id belongs to two units, so that nothing is {done}: do that "
            "first, in an inner query on one side of the join."
        )


def windowed(
    source: Relation,
    by: Sequence[Expression],
    order: Sequence[tuple[Expression, bool]],
    added: Sequence[Placed | Folded],
) -> Windowed:
    """Adds columns by the other rows of a unit; refuses where rows are the units."""
    _check_not_shared(source, "numbered within one")
    owner = owner_of(source)
    if owner is None or not owner.id:
        raise QueryRefused("a window needs rows of one unit, and here rows belong to nobody or are units themselves.")
    _check_names([*(column.name for column in source.fields), *(one.column.name for one in added)])
    return Windowed(source, tuple(by), tuple(order), tuple(added))


def placed(placing: Placing, of: Expression | None, name: str, steps: int = 1) -> Placed:
    """Says what a row gets by its place among those of its unit, with the kind and the facts that follow."""
    if of is None:
        return Placed(placing, None, Column(name, Kind.INT, Facts((Fraction(1), inf), None, nullable=False)))
    beyond = placing in (Placing.LAG, Placing.LEAD)  # where there is no such row, the value is missing
    facts = Facts(of.facts.between, of.facts.keys, nullable=of.facts.nullable or beyond)
    return Placed(placing, of, Column(name, of.kind, facts), steps)


def folded(fold: Fold, of: Expression | None, name: str) -> Folded:
    """Says how the rows of a unit become one value, with the kind, the facts and the grid that follow."""
    if of is None:
        return Folded(fold, None, Column(name, Kind.INT, COUNTED))
    match fold:
        case Fold.COUNT | Fold.DISTINCT:
            return Folded(fold, of, Column(name, Kind.INT, COUNTED))
        case Fold.MIN | Fold.MAX:
            return Folded(fold, of, Column(name, of.kind, of.facts))
    if of.kind is Kind.BOOL:
        of = call("to_int", of)  # conditions count as 0 and 1
    if not of.kind.numeric:
        raise QueryRefused(f"{fold.value} takes numbers; got {of.kind.value}.")
    grid = _fold_grid(fold, of)
    if fold is Fold.MEAN:
        return Folded(fold, of, Column(name, Kind.FLOAT, Facts(of.facts.between, None, of.facts.nullable)), grid)
    return Folded(fold, of, Column(name, of.kind, _sum_facts(of)), grid)


COUNTED = Facts((Fraction(0), inf), None, nullable=False)
"""What is known of a count of a unit's rows: it may be large."""


def _sum_facts(of: Expression) -> Facts:
    low, high = of.facts.numbers or (Fraction(-1), Fraction(1))
    ends = (Fraction(0), inf) if low >= 0 else (-inf, Fraction(0)) if high <= 0 else None
    return Facts(ends, None, nullable=of.kind is Kind.INT)  # whole numbers may leave 64 bits


def _fold_grid(fold: Fold, of: Expression) -> Grid:
    """The grid that values are added up on: for whole numbers, the numbers themselves."""
    ends = of.facts.numbers
    if of.kind is Kind.INT:
        low, high = ends or (LEAST_INT, MOST_INT)
        return Grid(ceil(low), floor(high), 0)
    if ends is None:
        raise UnboundedColumn(fold.value, of.name if isinstance(of, Column) else None)
    return float_grid(ends, centred=False, bits=FOLD_BITS)


def unused(name: str, taken: set[str]) -> str:
    """Appends a number to a name that is taken, and marks the result as taken."""
    chosen, number = name, 1
    while chosen.casefold() in taken:
        number += 1
        chosen = f"{name}_{number}"
    taken.add(chosen.casefold())
    return chosen

"""Contribution bounds in Polars: carries out the plans of `engines.bounding`, cell by cell where cells will do.

Rows are added up to one cell of each unit and group first, which streams; whole groups are then kept or left out, and
what is kept is scaled and added up. Only where single rows or values are to be kept are rows themselves put in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import polars as pl

from sfumato.query.engines.bounding import (
    AddUp,
    Beside,
    FirstGroups,
    FirstRows,
    FirstValues,
    Incoming,
    Names,
    Number,
    NumberPlan,
    RowPlan,
    ScaleDown,
)
from sfumato.query.engines.polars.ranking import Hashing, first_of
from sfumato.query.engines.polars.scope import ONE
from sfumato.query.engines.polars.whole_numbers import towards_zero, wide
from sfumato.query.plan.engine_plan import Distinct, Rows, Total, Units

EVERY, MANY, ALIKE = "every_", "many_", "j_"


def bounded_numbers(plan: NumberPlan, rows: pl.LazyFrame, hashing: Hashing) -> pl.LazyFrame:
    """The numbers n0, n1, … of each cell, from a frame of all rows."""
    match plan:
        case AddUp(source=FirstGroups() as groups) if not _whole_rows(plan.numbers):
            return _scaled(groups, plan.by, plan.units, groups.units + groups.keys, plan.numbers, None, rows, hashing)
        case AddUp():
            return _added_up(plan, kept_rows(plan.source, rows, hashing))
        case ScaleDown():
            return _scaled(plan.source, plan.by, plan.units, plan.group, plan.numbers, plan.most, rows, hashing)
        case Beside():
            return _beside(plan, rows, hashing)
    assert_never(plan)


def _whole_rows(numbers: Sequence[Number]) -> bool:
    """Tells whether a number needs more than sums over the cells of units."""
    return any(isinstance(number.tally, Distinct) for number in numbers)


def kept_rows(plan: RowPlan, rows: pl.LazyFrame, hashing: Hashing) -> pl.LazyFrame:
    """The rows that are kept, from a frame of all rows."""
    match plan:
        case Incoming():
            return rows
        case FirstGroups():
            groups = rows.select(list(dict.fromkeys(plan.units + plan.keys + plan.hashed))).unique()
            return _of(rows, _first_groups(plan, groups, hashing), plan.units + plan.keys)
        case FirstRows():
            return _first_rows(plan, kept_rows(plan.source, rows, hashing), hashing)
        case FirstValues():
            return _first_values(plan, kept_rows(plan.source, rows, hashing), hashing)
    assert_never(plan)


def _of(rows: pl.LazyFrame, parts: pl.LazyFrame, names: Names, *, kept: bool = True) -> pl.LazyFrame:
    """The rows of some parts, or of all others; missing keys agree with each other."""
    return rows.join(parts, on=list(names), how="semi" if kept else "anti", nulls_equal=True)


def _first_groups(plan: FirstGroups, groups: pl.LazyFrame, hashing: Hashing) -> pl.LazyFrame:
    """The first groups of each unit, from one row of each."""
    return first_of(groups, plan.units, hashing.hashed(plan.units + plan.hashed), plan.keys, plan.most)


def _first_rows(plan: FirstRows, rows: pl.LazyFrame, hashing: Hashing) -> pl.LazyFrame:
    """Counts rows first, and puts in order only those of parts that have too many."""
    columns = list(plan.within + plan.values)
    rows = rows.select(columns)
    if not plan.rarely:
        return _put_in_order(plan, rows, columns, hashing)
    within = list(plan.within)
    large = rows.group_by(within).agg(pl.len().alias(MANY)).filter(pl.col(MANY) > plan.most)
    few = _of(rows, large, plan.within, kept=False)
    many = _of(rows, large, plan.within)
    return pl.concat([few, _put_in_order(plan, many, columns, hashing)])


def _put_in_order(plan: FirstRows, rows: pl.LazyFrame, columns: list[str], hashing: Hashing) -> pl.LazyFrame:
    alike = rows.group_by(columns).agg(pl.len().cast(pl.Int64).alias(MANY))
    numbered = alike.with_columns(pl.int_ranges(0, pl.col(MANY)).alias(ALIKE)).drop(MANY).explode(ALIKE)
    hashed = hashing.hashed([*plan.units, *plan.values, ALIKE])
    return first_of(numbered, plan.within, hashed, [*plan.values, ALIKE], plan.most).select(columns)


def _first_values(plan: FirstValues, rows: pl.LazyFrame, hashing: Hashing) -> pl.LazyFrame:
    columns = list(dict.fromkeys((*plan.within, plan.value)))
    there = rows.select(columns).filter(pl.col(plan.value).is_not_null()).unique()
    if plan.most is None:
        return there
    return first_of(there, plan.within, hashing.hashed([*plan.units, plan.value]), [plan.value], plan.most)


def grouped(frame: pl.LazyFrame, by: Sequence[str], numbers: Sequence[pl.Expr]) -> pl.LazyFrame:
    """Adds up: one row of each group, or one in all, where nothing is grouped by."""
    return frame.group_by(list(by)).agg(*numbers) if by else frame.select(*numbers, pl.len().alias(ONE))


def total(column: str) -> pl.Expr:
    """The exact sum of whole numbers, 0 of none: whatever they are, so many rows have room in 128 bits."""
    return pl.col(column).cast(pl.Int128).sum()


def _many(column: str | None) -> pl.Expr:
    """How many rows there are, or values that are not missing."""
    return (pl.len() if column is None else pl.col(column).count()).cast(pl.Int64)


def _added_up(plan: AddUp, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Adds rows up as they are. Units are counted by their identity."""
    return grouped(rows, plan.by, [_aggregate(number, plan.units).alias(number.name) for number in plan.numbers])


def _aggregate(number: Number, units: Names) -> pl.Expr:
    column = number.column
    match number.tally:
        case Total() if column is not None:
            return total(column)
        case Distinct(summed=True) if column is not None:
            return pl.col(column).drop_nulls().unique().cast(pl.Int128).sum()
        case Distinct() if column is not None:
            return pl.col(column).drop_nulls().n_unique().cast(pl.Int64)
        case Units() if units:
            unit = pl.struct(*units)
            return (unit if column is None else unit.filter(pl.col(column).is_not_null())).n_unique().cast(pl.Int64)
        case Rows(bits=bits) if bits:
            return wide(_many(column)) * pl.lit(2**bits, dtype=pl.Int128)
    return _many(column)


def _scaled(
    source: RowPlan,
    by: Names,
    units: Names,
    group: Names,
    numbers: Sequence[Number],
    most: int | None,
    rows: pl.LazyFrame,
    hashing: Hashing,
) -> pl.LazyFrame:
    """Makes one cell of each unit and group, leaves groups out, scales cells down, and adds them up."""
    inner = len(units + by) > len(group)
    if not isinstance(source, Incoming | FirstGroups):
        rows = kept_rows(source, rows, hashing)
    parts: dict[tuple[bool, str | None], str] = {(False, None): "c0"}
    for number in numbers:
        parts.setdefault((isinstance(number.tally, Total), number.column), f"c{len(parts)}")
    made = [(total(str(column)) if summed else _many(column)).alias(name) for (summed, column), name in parts.items()]
    hashed = source.hashed if isinstance(source, FirstGroups) else ()
    beside = [pl.col(name).first() for name in hashed if name not in units + by]
    cells = grouped(rows, units + by, [*made, *beside])
    if isinstance(source, FirstGroups):
        cells = _of_first_groups(source, cells, hashing, inner=inner)
    if most is not None:
        every = pl.col("c0").sum().over(group) if inner else pl.col("c0")
        cells = cells.with_columns(every.alias(EVERY))
    shown = [_from_cells(number, parts, most, inner=inner).alias(number.name) for number in numbers]
    columns = {number.name: one for number, one in zip(numbers, shown, strict=True)}
    return grouped(cells.with_columns(**columns), by, [pl.col(name).sum() for name in columns])


def _of_first_groups(plan: FirstGroups, cells: pl.LazyFrame, hashing: Hashing, *, inner: bool) -> pl.LazyFrame:
    if not inner:  # each cell is a group
        return _first_groups(plan, cells, hashing)
    groups = cells.select(list(dict.fromkeys(plan.units + plan.keys + plan.hashed))).unique()
    return _of(cells, _first_groups(plan, groups, hashing), plan.units + plan.keys)


def _from_cells(number: Number, parts: dict[tuple[bool, str | None], str], most: int | None, *, inner: bool) -> pl.Expr:
    """What one cell of a unit adds to a number."""
    summed = isinstance(number.tally, Total)
    part = pl.col(parts[summed, number.column])
    if isinstance(number.tally, Units):
        return (part > 0).cast(pl.Int64)
    if most is not None and number.tally == Rows() and not inner:
        return part.clip(upper_bound=most)  # the count of all rows becomes the bound itself
    bits = number.tally.bits if isinstance(number.tally, Rows) else 0
    steps = wide(part) * pl.lit(2**bits, dtype=pl.Int128) if bits or most is not None else part
    if most is None:
        return steps
    less = towards_zero(steps * pl.lit(most, dtype=pl.Int128), wide(pl.col(EVERY)))
    return pl.when(pl.col(EVERY) <= most).then(steps).otherwise(less)


def _beside(plan: Beside, rows: pl.LazyFrame, hashing: Hashing) -> pl.LazyFrame:
    """Looks at different values beside what is scaled: each number is made of the rows that are kept."""
    kept = kept_rows(plan.source, rows, hashing)
    made = bounded_numbers(plan.scaled, kept, hashing)
    for different in plan.different:
        other, name = bounded_numbers(different, kept, hashing), different.numbers[0].name
        by = list(plan.by)
        joined = (
            made.join(other, on=by, how="left", nulls_equal=True) if by else made.join(other.drop(ONE), how="cross")
        )
        made = joined.with_columns(pl.col(name).fill_null(0))
    return made

"""Contribution bounds as SQL: carries out the plans of `engines.bounding`, each in the way that is quickest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

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
from sfumato.query.engines.sql.dialect import LARGEST, Dialect
from sfumato.query.engines.sql.statement import Statement, listing
from sfumato.query.nodes.kinds import MOST_INT, MOST_ROWS
from sfumato.query.plan.engine_plan import Distinct, Rows, Total, Units

FIRST = "i = 0"
"""Marks one row of each unit and group, where rows have a place i in it."""


def bounded_numbers(plan: NumberPlan, rows: str, statement: Statement) -> str:
    """The numbers n0, n1, … of each cell, from a SELECT of all rows."""
    units = plan.scaled.units if isinstance(plan, Beside) else plan.units
    if statement.dialect.dealt and units and not (isinstance(plan, AddUp) and isinstance(plan.source, Incoming)):
        rows = statement.dialect.dealt.format(rows, listing(units))
    return _numbers(plan, rows, statement)


def _numbers(plan: NumberPlan, rows: str, statement: Statement) -> str:
    if statement.dialect.cells_first and isinstance(plan, AddUp | ScaleDown) and _adds(plan):
        return _ranked_cells(plan, rows, statement)
    match plan:
        case AddUp():
            return _added_up(plan, kept_rows(plan.source, rows, statement), statement)
        case ScaleDown(corrects=True):
            return _corrected(plan, rows, statement)
        case ScaleDown():
            return _scaled(plan, kept_rows(plan.source, rows, statement), statement)
        case Beside():
            return _beside(plan, rows, statement)
    assert_never(plan)


def apart_numbers(
    plan: ScaleDown, rows: str, fields: Iterable[str], counted: str, over: Callable[[str], str], statement: Statement
) -> str:
    """The same where units with too many rows are looked for first: the rows of all others lose their identity, and are
    added up as the one group that nobody is known by.

    In ``counted`` every unit has as many rows as in ``rows``, or more; ``over`` makes the columns to add up, of rows
    with their identity and ``fields``.
    """
    if plan.most is None or plan.by:
        raise TypeError(plan)
    dialect, every, large = statement.dialect, statement.name("rows"), statement.name("large")
    group = listing(plan.group)
    many = f"SELECT {group} FROM ({counted}) AS q GROUP BY {group} HAVING count(*) > {int(plan.most)}"
    columns = listing([*(f"{large}.{name}" for name in plan.group), *(f"{every}.{name}" for name in fields)])
    joined = f"SELECT {columns} FROM ({rows}) AS {every} LEFT JOIN {large} ON {same(every, large, plan.group, dialect)}"
    return f"WITH {large} AS {dialect.once} ({many}) {_scaled(plan, over(joined), statement)}"


def kept_rows(plan: RowPlan, rows: str, statement: Statement) -> str:
    """The rows that are kept, from a SELECT of all rows."""
    match plan:
        case Incoming():
            return rows
        case FirstGroups():
            return _first_groups(plan, rows, statement.dialect)
        case FirstRows(rarely=True):
            return _rarely_cut(plan, kept_rows(plan.source, rows, statement), statement)
        case FirstRows():
            return _first_rows(plan, kept_rows(plan.source, rows, statement), statement.dialect)
        case FirstValues():
            return _first_values(plan, kept_rows(plan.source, rows, statement), statement.dialect)
    assert_never(plan)


def same(left: str, right: str, names: Names, dialect: Dialect) -> str:
    """The condition that two tables agree in columns; missing values agree with each other."""
    return " AND ".join(dialect.same.format(f"{left}.{name}", f"{right}.{name}") for name in names) or "TRUE"


def _first_groups(plan: FirstGroups, rows: str, dialect: Dialect, *, places: bool = False, columns: str = "") -> str:
    """Ranks groups; with ``places``, each row gets its place i in its group: which row has which changes nothing."""
    chosen = dialect.rank_hash.format(listing(plan.units + plan.hashed))
    # The rows of a group are peers.
    window = f"(PARTITION BY {listing(plan.units)} ORDER BY {listing([chosen, *_in_order(plan.keys)])})"
    place = ", row_number() OVER w - rank() OVER w AS i" if places else ""
    ranked = f"SELECT *, dense_rank() OVER w AS r{place} FROM ({rows}) AS q WINDOW w AS {window}"
    columns = columns or listing([*plan.source.columns, *(["i"] if places else [])])
    return f"SELECT {columns} FROM ({ranked}) AS q WHERE r <= {int(plan.most)}"


def _first_rows(plan: FirstRows, rows: str, dialect: Dialect) -> str:
    columns = listing(plan.within + plan.values)
    order = listing([dialect.hashed.format(listing([*plan.units, *plan.values, "j"])), *_in_order(plan.values), "j"])
    rank = f"row_number() OVER (PARTITION BY {listing(plan.within)} ORDER BY {order}) AS r"
    numbered = dialect.numbered.format(columns, rows)
    return f"SELECT {columns} FROM (SELECT *, {rank} FROM ({numbered}) AS q) AS q WHERE r <= {int(plan.most)}"


def _rarely_cut(plan: FirstRows, rows: str, statement: Statement) -> str:
    """Counts rows first, and sorts only those of the few that have too many."""
    dialect, every, large = statement.dialect, statement.name("rows"), statement.name("large")
    word = dialect.anew if isinstance(plan.source, Incoming) and plan.source.cheap else dialect.once
    within, columns = listing(plan.within), listing(plan.within + plan.values)
    alike = " AND ".join(f"{every}.{name} = {large}.{name}" for name in plan.within)
    many = f"SELECT {within} FROM {every} GROUP BY {within} HAVING count(*) > {int(plan.most)}"
    cut = _first_rows(plan, dialect.semi_join.format(every, large, alike), dialect)
    return (
        f"WITH {every} AS {word} ({rows}), {large} AS {dialect.once} ({many}) SELECT {columns} FROM"
        f" ({dialect.anti_join.format(every, large, alike)}) AS q UNION ALL SELECT {columns} FROM ({cut}) AS q"
    )


def _first_values(plan: FirstValues, rows: str, dialect: Dialect) -> str:
    there = f"SELECT {listing([*plan.within, plan.value])} FROM ({rows}) AS q WHERE {plan.value} IS NOT NULL"
    if plan.most is None:
        return there
    order = f"{dialect.hashed.format(listing([*plan.units, plan.value]))}, {plan.value}"
    rank = f"dense_rank() OVER (PARTITION BY {listing(plan.within)} ORDER BY {order}) AS r"
    return f"SELECT * FROM (SELECT *, {rank} FROM ({there}) AS q) AS q WHERE r <= {int(plan.most)}"


def _added_up(
    plan: AddUp | ScaleDown, rows: str, statement: Statement, *, first: str = "", most: int | None = None
) -> str:
    """Adds rows up. A unit is counted by the row that is its ``first`` one in a group, where one is marked.

    With ``most``, rows are counted that have one of the first places in their group.
    """
    numbers = [f"{_aggregate(number, plan.units, statement, first, most)} AS {number.name}" for number in plan.numbers]
    return _grouped(plan.by, numbers, rows)


def _aggregate(number: Number, units: Names, statement: Statement, first: str, most: int | None) -> str:
    column, dialect = number.column, statement.dialect
    match number.tally:
        case Total():
            return dialect.whole_sum(str(column), statement.sizes.get(str(column)))
        case Distinct(summed=True):
            different = dialect.wide_sum_distinct.format(column)
            return different or dialect.wide_sum.format(f"DISTINCT {column}")
        case Distinct():
            return f"count(DISTINCT {column})"
        case Units() if first:
            return f"count(*) FILTER (WHERE {first})"
        case Units() if units:
            unit = units[0] if len(units) == 1 else dialect.distinct_tuple.format(listing(units))
            return f"count(DISTINCT {unit})" + (f" FILTER (WHERE {column} IS NOT NULL)" if column else "")
        case Rows(bits=bits):
            among = "" if most is None else f" FILTER (WHERE i < {int(most)})"
            return _in_steps(f"count({column or '*'}){among}", bits, dialect)
    return f"count({column or '*'})"


def _corrected(plan: ScaleDown, rows: str, statement: Statement) -> str:
    """Adds up the rows that are kept, and what scaling takes away from units with too many of them in a group."""
    dialect = statement.dialect
    if not isinstance(plan.source, FirstGroups):
        raise TypeError(plan)
    kept = _first_groups(plan.source, rows, dialect, places=True)
    if plan.most is None:
        return _added_up(plan, kept, statement, first=FIRST)
    if all(isinstance(number.tally, Rows | Units) and number.column is None for number in plan.numbers):
        return _added_up(plan, kept, statement, first=FIRST, most=plan.most)
    big = f"(SELECT {listing(plan.group)} FROM kept WHERE i = {int(plan.most)}) AS big"
    large = dialect.semi_join.format("kept", big, same("kept", "big", plan.group, dialect))
    added = _added_up(plan, "SELECT * FROM kept", statement, first=FIRST)
    both = _together(plan, added, _scaled(plan, large, statement, less=True), dialect)
    return f"WITH kept AS {dialect.once} ({kept}) {both}"


def _together(plan: ScaleDown, one: str, other: str, dialect: Dialect) -> str:
    """Adds up the numbers of two SELECTs, cell by cell."""
    sums = [f"{dialect.wide_sum.format(number.name)} AS {number.name}" for number in plan.numbers]
    return _grouped(plan.by, sums, f"{one} UNION ALL {other}")


def _scaled(
    plan: ScaleDown, rows: str, statement: Statement, *, less: bool = False, kept: Callable[[str], str] | None = None
) -> str:
    """Makes one cell of each unit and group, scales it down, and adds cells up; or only what that takes away.

    Where units with few rows stand ``apart``, the cell without an identity is theirs, and stays as it is. ``kept``
    leaves out some cells of each unit.
    """
    inner = len(plan.units + plan.by) > len(plan.group)
    dialect, parts = statement.dialect, {"count(*)": "c0"}
    numbers = []
    for number in plan.numbers:
        made = _parts(number, statement)
        held = [parts.setdefault(part, f"c{len(parts)}") for part in made]
        if isinstance(number.tally, Units):
            text = "0" if less else f"count(*) FILTER (WHERE {held[0]} > 0)"
        elif not less and not plan.apart and (narrow := _narrow(plan, number, held, statement, inner=inner)):
            text = narrow
        else:
            text = _scaled_number(plan, number, held, dialect, inner=inner, less=less)
        numbers.append(f"{text} AS {number.name}")
    cell = listing(plan.units + plan.by)
    columns = listing([cell, *(f"{text} AS {name}" for text, name in parts.items())])
    cells = f"SELECT {columns} FROM ({rows}) AS q GROUP BY {cell}"
    cells = cells if kept is None else kept(cells)
    every = f"sum(c0) OVER (PARTITION BY {listing(plan.group)})" if inner else "c0"
    every = f"CASE WHEN {plan.units[0]} IS NULL THEN 0 ELSE c0 END" if plan.apart else every
    return _grouped(plan.by, numbers, f"SELECT *, {every} AS every FROM ({cells}) AS q")


def _adds(plan: AddUp | ScaleDown) -> bool:
    """Tells whether groups are ranked and numbers are sums of rows, so that rows may be added up before."""
    return isinstance(plan.source, FirstGroups) and not any(
        isinstance(number.tally, Distinct) or (isinstance(plan, AddUp) and isinstance(number.tally, Units))
        for number in plan.numbers
    )


def _ranked_cells(plan: AddUp | ScaleDown, rows: str, statement: Statement) -> str:
    """Adds up the rows of each unit and group, and ranks the groups of each unit then: rows need not be sorted."""
    if not isinstance(plan.source, FirstGroups):
        raise TypeError(plan)
    first = plan.source
    group, most = (plan.group, plan.most) if isinstance(plan, ScaleDown) else (plan.units + plan.by, None)
    scaled = ScaleDown(first.source, plan.by, plan.units, group, plan.numbers, most)

    def ranked(cells: str) -> str:
        return _first_groups(first, cells, statement.dialect, columns="*")

    return _scaled(scaled, rows, statement, kept=ranked)


def _parts(number: Number, statement: Statement) -> list[str]:
    """What a number of a cell is made of: a count, a sum, or the sums of its limbs."""
    if not isinstance(number.tally, Total):
        return [f"count({number.column or '*'})"]
    return statement.dialect.parts_of_sum(str(number.column), statement.sizes.get(str(number.column)))


def _steps(number: Number, held: list[str], dialect: Dialect) -> str:
    """A number of a cell, from its parts, in a type that is wide enough for any."""
    if len(held) > 1:
        return dialect.joined.format(dialect.widened.format(held[0]), *held[1:])
    return _in_steps(held[0], number.tally.bits if isinstance(number.tally, Rows) else 0, dialect)


def _scaled_number(
    plan: ScaleDown, number: Number, held: list[str], dialect: Dialect, *, inner: bool, less: bool
) -> str:
    """Adds up a number of cells that are scaled down, or what that takes away."""
    steps = _steps(number, held, dialect)
    text = steps if plan.most is None else dialect.scaled.format(steps, "every", int(plan.most))
    if plan.most is not None and number.tally == Rows() and not inner:
        text = dialect.least.format(held[0], int(plan.most))  # the count of all rows becomes the bound itself
        text = f"CASE WHEN every = 0 THEN {held[0]} ELSE {text} END" if plan.apart else text
    return dialect.wide_sum.format(dialect.wide["sub"].format(text, steps) if less else text)


def _narrow(plan: ScaleDown, number: Number, held: list[str], statement: Statement, *, inner: bool) -> str:
    """The same in 64 bits, where they are proved to do: a scaled number is no larger than it was, so that all cells
    together are no larger than all rows. Empty, where that is not known."""
    dialect, most = statement.dialect, plan.most
    bits = number.tally.bits if isinstance(number.tally, Rows) else 0
    size = statement.sizes.get(str(number.column)) if isinstance(number.tally, Total) else 2**bits
    if not dialect.narrow_sum or size is None or size >= LARGEST or (bits and size * MOST_ROWS > MOST_INT):
        return ""
    if most is None and len(held) > 1:
        first, *others = (dialect.narrow_sum.format(part) for part in held)
        return dialect.joined.format(dialect.widened.format(first), *others)
    steps = dialect.joined.format(*held) if len(held) > 1 else held[0] + (f" * {2**bits}" if bits else "")
    if most is None:
        return dialect.whole_sum(steps, size)
    if number.tally == Rows() and not inner:
        return dialect.whole_sum(dialect.least.format(held[0], int(most)), size)
    if size * most * most > MOST_INT:
        return ""
    wide = dialect.scaled.format(_steps(number, held, dialect), "every", int(most))
    text = dialect.scaled_narrow.format(f"({steps})", "every", int(most), MOST_INT // (size * most), wide)
    return dialect.whole_sum(text, size)


def _beside(plan: Beside, rows: str, statement: Statement) -> str:
    """Looks at different values beside what is scaled: each number is a query of its own on the rows that are kept."""
    dialect, kept = statement.dialect, "SELECT * FROM kept"
    parts = [
        f"kept AS {dialect.once} ({kept_rows(plan.source, rows, statement)})",
        f"cells AS ({_scaled(plan.scaled, kept, statement)})",
    ]
    shown = [f"cells.{name}" for name in (*plan.by, *(number.name for number in plan.scaled.numbers))]
    joined = ""
    for different in plan.different:
        name = different.numbers[0].name
        parts.append(f"d{name} AS ({_numbers(different, kept, statement)})")
        joined += f" LEFT JOIN d{name} ON {same('cells', f'd{name}', plan.by, dialect)}"
        shown.append(f"coalesce(d{name}.{name}, 0) AS {name}")
    return f"WITH {listing(parts)} SELECT {listing(shown)} FROM cells{joined}"


def _in_order(names: Names) -> list[str]:
    """Columns to sort by, with missing values last, whatever an engine would do by itself."""
    return [f"{name} NULLS LAST" for name in names]


def _in_steps(count: str, bits: int, dialect: Dialect) -> str:
    """A count in steps, 2 to the power of ``bits`` for each row; wide enough for any count."""
    return dialect.wide_product.format(count, 2**bits) if bits else count


def _grouped(by: Names, numbers: list[str], rows: str) -> str:
    groups = f" GROUP BY {listing(by)}" if by else ""
    return f"SELECT {listing([*by, *numbers]) or 'count(*) AS one'} FROM ({rows}) AS q{groups}"

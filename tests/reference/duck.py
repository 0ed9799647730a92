"""DuckDB beside the interpreter: the only place that knows how the engine decides what it keeps of a unit.

The engine takes groups, rows and values by a hash, then by value. With a hash that is always 0 it takes them by value,
which the interpreter can do too: `by_rank` and `computed_by_value` must agree to the integer. What does not depend on
which ones are kept (`computed`) is tested with the true hash.
"""

from __future__ import annotations

import atexit
from collections.abc import Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from tests.reference.interpreter import Answers, Identity, Key, Order, Reference, Row
from tests.reference.laws import scans as scans_of
from tests.reference.worlds import World

from sfumato.query.engines.duckdb.connection import connected
from sfumato.query.engines.duckdb.engine import DuckDBEngine
from sfumato.query.engines.duckdb.sources import Opening, open_source
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.relations import Scan
from sfumato.query.plan.engine_plan import Cells, Computed, Distinct, ExactAggregate, Rows, Total, Units

MOST_ARGUMENTS = 100
NO_HASH = "CREATE MACRO hash(a0) AS system.main.hash(a0), " + ", ".join(
    f"({', '.join(f'a{place}' for place in range(many))}) AS 0::UBIGINT" for many in range(2, MOST_ARGUMENTS)
)
"""Makes every hash of two or more values 0; ids, which are hashed alone, keep theirs."""


class OpenTables:
    """Is a database for many cases: to make one takes longer than to run a case. It holds one world at a time."""

    def __init__(self, *, hashed: bool) -> None:
        self.connection = connected(threads="1")
        if not hashed:
            self.connection.execute(NO_HASH)
        self.world: World | None = None
        self.opening = Opening(self.connection, [], [])
        self.held: dict[str, Any] = {}

    def engine(self, world: World, scans: Mapping[str, Scan]) -> DuckDBEngine:
        """Opens tables of a world, those that are not open yet."""
        if world is not self.world or not world.scans:
            for one in self.held.values():
                self.connection.execute(f"DROP TABLE {one.name}")
            self.world, self.held = world, {}
        for name, scan in scans.items():
            if name not in self.held:
                self.held[name] = self.opening.table(name, scan, world.held[name].arrow())
        return DuckDBEngine(self.connection, self.held)


@lru_cache(None)
def opened(*, hashed: bool) -> OpenTables:
    """Gives the database with the true hash, or the one without."""
    made = OpenTables(hashed=hashed)
    atexit.register(made.connection.close)
    return made


def tables(world: World, cells: Cells) -> dict[str, Scan]:
    """Gives the tables of a world that cells look at, with all of their columns."""
    scans = list(scans_of(cells.source))
    names = [*(scan.table for scan in scans), *(hop.table for scan in scans if scan.owner for hop in scan.owner.hops)]
    return {name: world.scans[name] for name in names} if world.scans else {scan.table: scan for scan in scans}


def computed(world: World, cells: Cells) -> Answers:
    """Computes cells with DuckDB."""
    return answers(opened(hashed=True).engine(world, tables(world, cells)).run(cells), cells)


def computed_by_value(world: World, cells: Cells) -> Answers:
    """Computes cells with DuckDB, where hashes decide nothing."""
    return answers(opened(hashed=False).engine(world, tables(world, cells)).run(cells), cells)


def computed_in_pieces(world: World, cells: Cells) -> Answers:
    """Computes cells with DuckDB as it is opened for users: in several threads, on data in small pieces."""
    known = tables(world, cells)
    data = {name: world.held[name].arrow(chunk=3) for name in known}
    duck = open_source(data, SimpleNamespace(tables=known), threads=3)  # type: ignore[arg-type]
    try:
        return answers(duck.run(cells), cells)
    finally:
        duck.close()


def answers(found: Computed, cells: Cells) -> Answers:
    """Gives what an engine computed as the interpreter gives it; it is checked for order and repetition."""
    many = len(found.numbers[0])
    if found.places is not None:
        assert cells.listed is not None
        keys = [tuple(column[place] for column in cells.listed.columns) for place in found.places]
        assert list(found.places) == sorted(found.places)
    else:
        keys = list(zip(*found.keys, strict=True)) or [()] * many
    inner = list(zip(*found.inner, strict=True)) or [()] * many
    numbers = zip(*([int(number) for number in column] for column in found.numbers), strict=True)
    made = dict(zip(zip(keys, inner, strict=True), numbers, strict=True))
    assert len(made) == many
    return made


class ByRank(Order):
    """Takes groups, rows and values as the engine does, where every hash is the same: by value, missing ones last.

    Keys that are looked up in a list count by their place in it. Rows count by all that is looked at: inner keys, then
    products of totals, then what other tallies look at.
    """

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        listed = cells.listed
        looked_up = listed is not None and (
            not listed.certain or len(cells.keys) > 1 or cells.keys[0].kind is Kind.TEXT
        )
        self.places = (
            {key: place for place, key in enumerate(zip(*listed.columns, strict=True))}
            if listed and looked_up
            else None
        )

    def group(self, unit: Identity, key: Key) -> Any:
        return last(key) if self.places is None else self.places[key]

    def row(self, unit: Identity, key: Key, inner: Key, row: Row, reference: Reference) -> Any:
        totals = [tally for tally in self.cells.tallies if isinstance(tally, Total)]
        others = [tally for tally in self.cells.tallies if not isinstance(tally, Total)]
        return last((*inner, *(looked_at(tally, row, reference) for tally in (*totals, *others))))

    def kept(self, unit: Identity, row: Row) -> Any:
        return last(tuple(row.values()))

    def met(self, row: Row) -> Any:
        return last(tuple(row.values()))

    def value(self, unit: Identity, key: Key, value: Value) -> Any:
        return last((value,))


def last(key: Key) -> Any:
    """Gives values as something that can be sorted: missing ones come last."""
    return tuple((value is None, 0 if value is None else value) for value in key)


def looked_at(tally: ExactAggregate, row: Row, reference: Reference) -> Value:
    """Gives what a tally looks at in a row."""
    if tally.where is not None and reference.value(tally.where, row) is not True:
        return None
    match tally:
        case Total():
            return reference.product(tally, row)
        case Rows(of):
            return 1 if of is None or reference.value(of, row) is not None else None
        case Units():
            return 1
        case Distinct():
            return reference.beside(tally, row)
    raise TypeError(tally)


def by_rank(world: World, cells: Cells) -> Answers:
    """Computes cells with the interpreter, in the order of `computed_by_value`."""
    return Reference(world.rows, ByRank(cells)).cells(cells)

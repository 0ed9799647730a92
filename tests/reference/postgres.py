"""PostgreSQL beside the interpreter: tables of a world in a server, and hashes that decide nothing where they must not.

No text of PostgreSQL holds the character U+0000: worlds and questions have another one instead, which comes second.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tests.examples.postgres_tables import NO_NUL, address, drop, written
from tests.reference.duck import answers, tables
from tests.reference.interpreter import Answers
from tests.reference.plans import Case
from tests.reference.worlds import World

from sfumato.query.engines.needs import needs_of_cells
from sfumato.query.engines.postgres.engine import LACKS, PostgresEngine
from sfumato.query.engines.postgres.opening import Postgres
from sfumato.query.nodes.relations import Scan
from sfumato.query.plan.engine_plan import Cells

ALIKE = "CAST(0 AS int8)"
"""A hash by which everything is alike."""


class OpenTables:
    """Is a database for many cases: it holds one world at a time."""

    def __init__(self) -> None:
        self.world: World | None = None
        self.names: dict[str, str] = {}

    def engine(self, world: World, scans: Mapping[str, Scan]) -> PostgresEngine:
        """Opens tables of a world, those that are not there yet."""
        if world is not self.world:
            drop(self.names.values())
            self.world, self.names = world, {}
        for name, scan in scans.items():
            if name not in self.names:
                self.names[name] = written(world.held[name].arrow(), scan)
        given = {name: self.names[name] for name in scans} or address()
        return Postgres(parallel_workers=0)._opened(given, scans, look=False)


@lru_cache(None)
def opened() -> OpenTables:
    """Gives the database."""
    return OpenTables()


def computed(world: World, cells: Cells) -> Answers:
    """Computes cells with PostgreSQL."""
    return _computed(world, cells, {})


def computed_by_value(world: World, cells: Cells) -> Answers:
    """Computes cells with PostgreSQL, where hashes decide nothing."""
    return _computed(world, cells, {"hashed": ALIKE, "rank_hash": ALIKE})


def _computed(world: World, cells: Cells, other: Mapping[str, str]) -> Answers:
    engine = opened().engine(world, tables(world, cells))
    try:
        engine._dialect = dataclasses.replace(engine.dialect, **other)
        return answers(engine.run(cells), cells)
    finally:
        engine.close()


def asked(case: Case) -> Case | None:
    """Gives a case as PostgreSQL can hold it; None where it lacks what the case needs."""
    return None if LACKS & set(needs_of_cells(case.cells)) else without_nul(case)


def without_nul(case: Case) -> Case:
    """Gives a case in which every text is one that PostgreSQL can hold; the same world where all are."""
    return Case(held_by_postgres(case.world), held_by_postgres(case.cells))


def held_by_postgres(thing: Any) -> Any:
    """Gives a thing in which every text is one that PostgreSQL can hold."""
    match thing:
        case str() if type(thing) is str:
            return thing.replace("\0", NO_NUL)
        case tuple() | list() if not hasattr(thing, "_fields"):
            return type(thing)(map(held_by_postgres, thing))
        case dict():
            return {key: held_by_postgres(value) for key, value in thing.items()}
        case frozenset():
            return frozenset(map(held_by_postgres, thing))
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        old = {one.name: getattr(thing, one.name) for one in dataclasses.fields(thing) if one.init}
        new = {
            name: held_by_postgres(value) for name, value in old.items() if not isinstance(value, str) or "\0" in value
        }
        changed = {name: value for name, value in new.items() if value != old[name]}
        return dataclasses.replace(thing, **changed) if changed else thing
    return thing

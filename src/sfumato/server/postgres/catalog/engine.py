"""What works questions to the catalog out: a database in memory that can reach nothing, and has no data in it.

It holds the relations of `contents`, each from when it is first asked for. The texts that it is given are made by
`queries` alone. It takes one question at a time, little memory, and a few seconds; what it says of a failure is not
passed on.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, final

from sfumato.errors import MissingExtra
from sfumato.server.postgres.catalog.contents import Row
from sfumato.server.postgres.catalog.described import Database
from sfumato.server.postgres.catalog.information import INFORMATION_CONTENTS
from sfumato.server.postgres.catalog.listing import CONTENTS
from sfumato.server.postgres.catalog.objects import Objects
from sfumato.server.postgres.catalog.refusals import BAD_TEXT, STOPPED, TOO_LONG, refused
from sfumato.server.postgres.catalog.relations import CATALOG, INFORMATION, Relation
from sfumato.server.postgres.catalog.types import kept

LIMITS = {
    "allow_community_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "default_null_order": "nulls_last",
    "ieee_floating_point_ops": "false",
    "max_expression_depth": "500",
    "memory_limit": "96MB",
    "preserve_insertion_order": "true",
    "python_enable_replacements": "false",
    "scalar_subquery_error_on_multiple_rows": "true",
    "temp_directory": "",
    "threads": "1",
}
"""No files, no extensions, no settings; little memory, one thread."""

LONGEST_RUN = 5.0
"""Seconds after which a question is broken off."""

NO_MEMORY = "53200"
MOST_ROWS = 100_000
MOST_LETTERS = 16_000_000
"""How large an answer may be: rows, and letters in all of them."""

AT_ONCE = 512


@final
class Engine:
    """The engine of one catalog."""

    def __init__(self, database: Database, objects: Objects) -> None:
        try:
            import duckdb
        except ImportError:
            raise MissingExtra("a PostgreSQL port", "sql") from None
        self._duckdb, self._database = duckdb, database
        self._lock = threading.Lock()
        self._held: set[str] = set()
        self._connection = duckdb.connect(":memory:", config=dict(LIMITS))
        for name, (key, value, given) in objects.variables().items():
            self._say(name, key, value, given)
        # Said last: once it holds, other settings may be refused, and the order of those of a connection is nobody's.
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")

    def close(self) -> None:
        """Ends the engine; nothing remains of it."""
        with self._lock:
            self._connection.close()

    def run(
        self, text: str, used: Sequence[Relation], said: Mapping[str, Mapping[str, str] | str]
    ) -> list[tuple[Any, ...]]:
        """Works one bound question out; ``said`` are variables that this question alone has."""
        with self._lock:
            try:
                for relation in used:
                    self._hold(relation)
                for name in [one for one in said if f"getvariable('{one}')" in text]:
                    self._say(name, "VARCHAR", "VARCHAR", said[name])
                with self._timed():
                    return self._fetched(self._connection.execute(text))
            except self._duckdb.InterruptException:
                raise refused(STOPPED, f"the question took longer than {LONGEST_RUN:.0f} seconds") from None
            except self._duckdb.OutOfMemoryException:
                raise refused(NO_MEMORY, "the question needs more memory than the catalog has for one") from None
            except self._duckdb.ConversionException:
                raise refused(BAD_TEXT, "a value does not fit the type that it is read as") from None
            except (self._duckdb.Error, MemoryError, OverflowError, RuntimeError):
                raise refused("0A000", "the catalog cannot work this question out") from None

    def _fetched(self, done: Any) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        letters = 0
        while more := done.fetchmany(AT_ONCE):
            rows += more
            letters += sum(len(cell) for row in more for cell in row if isinstance(cell, str | list))
            if len(rows) > MOST_ROWS or letters > MOST_LETTERS:
                raise refused(TOO_LONG, f"the answer has more than {MOST_ROWS} rows, or is too long")
        return rows

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Breaks off what takes too long."""
        done = threading.Event()

        def look() -> None:
            if not done.wait(LONGEST_RUN):
                self._connection.interrupt()

        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()  # or it might break off the next question

    def _say(self, name: str, key: str, value: str, given: Any) -> None:
        """Sets a variable: a text, a list, or what is looked up by keys."""
        if isinstance(given, str):
            self._connection.execute(f"SET VARIABLE {name} = $1", [given])
        elif not key:
            self._connection.execute(f"SET VARIABLE {name} = CAST($1 AS {value}[])", [list(given)])
        else:
            columns = [list(given), list(given.values())]
            self._connection.execute(f"SET VARIABLE {name} = map(CAST($1 AS {key}[]), CAST($2 AS {value}[]))", columns)

    def _hold(self, relation: Relation) -> None:
        """Fills a relation, when it is first asked for."""
        if relation.place in self._held:
            return
        contents = {CATALOG: CONTENTS, INFORMATION: INFORMATION_CONTENTS}[relation.schema].get(relation.name)
        rows = [] if contents is None else [_cells(relation, row) for row in contents(self._database)]
        columns = ", ".join(
            f"CAST(r[{place + 1}] AS {kept(kind)}) AS c{place}" for place, (_, kind) in enumerate(relation.columns)
        )
        source = "(SELECT unnest(CAST($1 AS VARCHAR[][])) AS r)"
        self._connection.execute(f"CREATE OR REPLACE TABLE {relation.place} AS SELECT {columns} FROM {source}", [rows])
        self._held.add(relation.place)


def _cells(relation: Relation, row: Row) -> list[str | None]:
    """One row as texts: what is not said is NULL, or nothing where NULL is never."""
    return [
        _cell(row[name]) if name in row else _nothing(kind) if name in relation.never else None
        for name, kind in relation.columns
    ]


def _cell(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def _nothing(kind: str) -> str:
    if kept(kind) in ("VARCHAR", "BOOLEAN"):
        return "" if kept(kind) == "VARCHAR" else "false"
    return "[]" if kept(kind).endswith("[]") else "0"

"""The engines that there are: which one opens some data, by the data's address, ending or type."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias, cast, final

from sfumato.codebook.entries import comma_list
from sfumato.errors import BadArgument
from sfumato.query.engines.inputs.tables import is_table
from sfumato.query.engines.protocol import Given, Opener
from sfumato.query.engines.scratch import Given as Column
from sfumato.query.engines.scratch import WorksOut
from sfumato.query.engines.sql.dialect import Dialect


@final
@dataclass(frozen=True)
class EngineEntry:
    """An engine, by the ``name`` that people choose it by, and what it claims unless they choose another: addresses by
    scheme, files by suffix, objects by the package (or module) of their type.

    ``opener`` names the `Opener`, which is imported with all that it needs when data is first opened; its settings
    are then those that it has by itself. An engine that can work out SQL over released numbers names what does that:
    ``scratch``; one that speaks SQL names its ``dialect``, for those who want to see what it would be asked.
    """

    name: str
    opener: str
    schemes: frozenset[str] = frozenset()
    suffixes: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    scratch: str = ""
    dialect: str = ""

    def claims(self, data: Given) -> bool:
        """Tells whether data is this engine's; several tables must all be."""
        if isinstance(data, Mapping):
            return bool(data) and all(self.claims(part) for part in data.values())
        if isinstance(data, str | os.PathLike):
            scheme, _, address = os.fspath(data).partition("://")
            return scheme in self.schemes if address else os.path.splitext(data)[1].lower() in self.suffixes
        module = f"{type(data).__module__}."
        return any(module.startswith(f"{package}.") for package in self.packages)

    def load(self) -> Opener:
        """Imports the opener."""
        return cast(Opener, _imported(self.opener)())

    def words(self) -> Dialect:
        """Imports the dialect."""
        return cast(Dialect, _imported(self.dialect))


EngineChoice: TypeAlias = str | Opener | None
"""An engine's name; or its opener, with settings; or None: what the data is decides."""

ENGINES: tuple[EngineEntry, ...] = (
    EngineEntry(
        "postgres",
        "sfumato.query.engines.postgres.opening:Postgres",
        schemes=frozenset({"postgresql", "postgres"}),
        dialect="sfumato.query.engines.postgres.dialect:POSTGRES",
    ),
    EngineEntry(
        "polars",
        "sfumato.query.engines.polars.opening:Polars",
        packages=frozenset({"polars.lazyframe"}),
    ),
    EngineEntry(
        "spark",
        "sfumato.query.engines.spark.opening:Spark",
        schemes=frozenset({"spark"}),
        packages=frozenset({"pyspark"}),
        dialect="sfumato.query.engines.spark.dialect:SPARK",
    ),
    EngineEntry(
        "duckdb",
        "sfumato.query.engines.duckdb.opening:DuckDB",
        scratch="sfumato.query.engines.duckdb.scratch:worked_out",
        dialect="sfumato.query.engines.duckdb.dialect:DUCKDB",
    ),
)
"""The last one opens what no other claims, and its refusals say what can be opened."""


def names() -> list[str]:
    """The names by which engines are chosen."""
    return [entry.name for entry in ENGINES]


def opener_of(data: Given, engine: EngineChoice = None) -> Opener:
    """The opener of the engine that is chosen; of the first one that claims data, or of the last, if none is."""
    if isinstance(engine, Opener):
        return engine
    if engine is None:
        return next((entry for entry in ENGINES if entry.claims(data)), ENGINES[-1]).load()
    for entry in ENGINES:
        if entry.name == engine:
            return entry.load()
    must = f"one of {comma_list(names())}, or one with settings, such as sf.engines.DuckDB(threads=2)"
    raise BadArgument("engine", must, engine)


def worked_out(text: str, tables: Mapping[str, Sequence[Column]]) -> list[tuple[str, list[Any]]]:
    """Works a SELECT out over released numbers and public tables, in the first engine that does this (`WorksOut`)."""
    works = cast(WorksOut, _imported(next(entry.scratch for entry in ENGINES if entry.scratch)))
    return works(text, tables)


def _imported(name: str) -> Any:
    module, _, name = name.partition(":")
    return getattr(import_module(module), name)


def schema_of(data: Given, name: str = "data", engine: EngineChoice = None) -> Mapping[str, Mapping[str, str]]:
    """The tables of some data, their columns, and the engine's types of these; no value is looked at.

    Files say what their tables are called; a frame is called ``name``.
    """
    return opener_of(data, engine).schema_of(data, name)


def is_tabular(data: object) -> bool:
    """Tells whether data is a file, a data frame, or several of them by name: what an engine reads where it is."""
    if isinstance(data, str | os.PathLike) or hasattr(data, "__arrow_c_stream__") or is_table(data):
        return True
    if isinstance(data, Mapping):
        return bool(data) and all(is_tabular(part) for part in data.values())
    return any(entry.claims(data) for entry in ENGINES)

"""Compiles a question to the cells that an engine would compute, as SQL to look at: from a codebook, without data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.accounting.losses.measures import Approx
from sfumato.codebook.book import Codebook
from sfumato.codebook.entries import comma_list
from sfumato.errors import BadArgument, QueryRefused
from sfumato.query.build.settings import Settings
from sfumato.query.engines.halves import open_halves
from sfumato.query.engines.protocol import Given
from sfumato.query.engines.registry import ENGINES
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.keysets import KeySet
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Scan
from sfumato.query.plan.compile import compile_question
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Cells
from sfumato.query.plan.open_tables import OpenTables

if TYPE_CHECKING:
    from sfumato.query.engines.elsewhere.database import Database
    from sfumato.query.sql.parameters import Given as Parameters

PAID = Approx("0.1", "1e-10")
"""What the plan is priced with: no number of a cell depends on it."""


def compile_sql(
    question: str,
    codebook: Codebook | Mapping[str, object] | str | Path,
    *,
    dialect: str,
    parameters: Parameters = (),
    max_groups: int | None = None,
    max_rows_per_group: int | None = None,
    max_rows: int | None = None,
    max_matches: int | None = None,
    keys: KeySet | None = None,
    public: Mapping[str, Given] | None = None,
) -> str:
    """Writes the exact cells of a question in the SQL of a database, to be looked at: nothing is opened or charged.

    What it gives has no noise in it and must not be published. ``public`` is the data of public tables, whose rows
    decide plans. Settings are those of `Session.sql`.

    >>> book = {"codebook": 1, "title": "Visits", "unit": {"protects": "a visit"}, "tables": {"visits": {"columns": {
    ...     "day": {"type": "date", "between": ["2026-01-01", "2026-01-31"], "source": "the calendar"}}}}}
    >>> print(compile_sql("SELECT COUNT(*) AS n FROM visits", book, dialect="trino").splitlines()[0])
    -- The exact numbers of a question, without any noise: for looking at, and not to be published.
    """
    from sfumato.query.sql import read_sql  # which loads sqlglot

    database = _database(dialect)
    book = codebook if isinstance(codebook, Codebook) else Codebook.read(codebook)
    opened = _opened(Catalog(book), dict(public or {}))
    asked = read_sql(question, opened.catalog, parameters)
    if asked.question is None or asked.worked is not None:
        raise QueryRefused("this asks only what is public, or several questions at once: compile one SELECT of them.")
    settings = Settings.read(
        max_groups=max_groups,
        max_rows_per_group=max_rows_per_group,
        max_rows=max_rows,
        max_matches=max_matches,
        keys=keys,
        loss=PAID,
    )
    said = asked.options.added_to(settings)
    return _written(compile_question(asked.question, said, opened, limit=Approx), opened.catalog, database)


def dialects() -> list[str]:
    """The names of the databases that are written for, and of the engines that speak SQL."""
    from sfumato.query.engines.elsewhere.databases import DATABASES

    return [*(entry.name for entry in ENGINES if entry.dialect), *(database.name for database in DATABASES)]


def _database(dialect: str) -> Database:
    from sfumato.query.engines.elsewhere.database import of_engine
    from sfumato.query.engines.elsewhere.databases import DATABASES

    for entry in ENGINES:
        if entry.name == dialect and entry.dialect:
            makes = entry.load().makes
            return of_engine(dialect, makes.name, entry.words(), makes.lacks)
    for database in DATABASES:
        if database.name == dialect:
            return database
    raise BadArgument("dialect", f"one of {comma_list(dialects())}", dialect)


def _opened(catalog: Catalog, public: dict[str, Given]) -> OpenTables:
    """Opens private tables without rows; public ones must be given."""
    missing = [name for name, scan in catalog.tables.items() if not scan.private and name not in public]
    if missing:
        must = f"given for {comma_list(missing)}: the rows of a public table decide what can be asked"
        raise BadArgument("public", must, None)
    data = {name: public[name] if not scan.private else _without_rows(scan) for name, scan in catalog.tables.items()}
    engine, private = open_halves(data, catalog)
    return OpenTables(engine, catalog, private.schema())


def _without_rows(scan: Scan) -> Any:
    import pyarrow as pa

    types = {Kind.BOOL: pa.bool_(), Kind.INT: pa.int64(), Kind.FLOAT: pa.float64(), Kind.TEXT: pa.string()}
    types |= {Kind.DATE: pa.date32(), Kind.TIME: pa.timestamp("us")}
    columns = {column.name: types[column.kind] for column in scan.columns}
    columns |= {items.column: pa.list_(types[items.item.kind]) for items in scan.lists}
    return pa.table({name: pa.array([], kind) for name, kind in columns.items()})


def _written(compiled: CompiledQuery, catalog: Catalog, database: Database) -> str:
    from sfumato.query.engines.elsewhere.writing import Writer

    writer = Writer(database, catalog.tables)
    head = [
        "The exact numbers of a question, without any noise: for looking at, and not to be published.",
        f"For {database.title}: {'written' if database.own is None else 'as it is asked'}, not run here.",
        *([database.note] if database.note else []),
        "Columns are taken to have these types:",
        *(f"  {line}" for line in writer.types()),
    ]
    texts = [f"-- {what}\n{writer.text(cells)};" for what, cells in _cells(compiled)]
    return "\n".join([*(f"-- {line}" for line in head), "", "\n\n".join(texts)])


def _cells(compiled: CompiledQuery) -> Iterator[tuple[str, Cells]]:
    """What an engine would compute, statement by statement, with what each is about."""
    keys = [name for name, _ in compiled.question.keys]
    for level in compiled.levels:
        named = ", ".join(keys[place] for place in level.places)
        what = f"for each {named}" if named else "in all"
        if level.summed is None and level.cells.tallies:
            yield f"Numbers {what}", level.cells
        for run in level.runs:
            yield f"Counts of rows in bins, {what}", run.cells

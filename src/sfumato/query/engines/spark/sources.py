"""Sources: frames, tables and files of Spark, opened once in a session of ours, as their codebook describes them.

What is wrong with a source is said when it is opened, to whoever has the data, and names public things only: tables,
columns, types, files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NoReturn, TypeAlias, final

from sfumato.entropy import system
from sfumato.errors import BadArgument
from sfumato.query.engines.inputs.frames import columns_of
from sfumato.query.engines.protocol import Given
from sfumato.query.engines.spark.engine import SparkEngine
from sfumato.query.engines.spark.plans import refuse_hidden, refuse_unstable
from sfumato.query.engines.spark.quiet import quietly
from sfumato.query.engines.spark.reading import TEXT, readable
from sfumato.query.engines.spark.session import (
    active_session,
    is_remote,
    own_session,
    pinned,
    pyspark_module,
    refuse_settings,
    released,
)
from sfumato.query.engines.spark.versions import files_mark, table_mark
from sfumato.query.engines.sql.held import Held, item_type
from sfumato.query.engines.sql.statement import listing
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.relations import Items, Scan

SCHEME = "spark://"
FORMATS = {".parquet": "parquet", ".pq": "parquet", ".orc": "orc"}
TEXT_FILES = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt")

UNREADABLE = "startswith({0}, concat(char(0), char(0)))"
"""Marks a value of Python that no text can hold (`python_values.UNREADABLE`)."""

Look: TypeAlias = Callable[[Any, Mapping[str, Scan], Mapping[str, Held]], None]
"""Looks at tables that were just opened, in their session."""


@final
class HeldTables(dict[str, Held]):
    """How tables are held, and the session of the user beside which another one can be opened."""

    base: Any = None


def open_source(
    data: Given,
    catalog: Catalog,
    session: Any = None,
    *,
    public: Mapping[str, Held] | None = None,
    look: Look | None = None,
) -> SparkEngine:
    """Opens data in Spark, table by table as a catalog describes it, in a session of its own.

    Frames, tables and files are read where they are; what is in memory here is handed over. With ``public`` the public
    tables are opened, and nothing else: that is how all tables are held that questions may be about. ``look`` is called
    with what was opened: it is for the holder of the data (`column_checks`).
    """
    pyspark_module()
    tables = {name: scan for name, scan in catalog.tables.items() if public is None or not scan.private}
    given = _by_table(data, tables) if tables else {}
    frames = {name: given[name] for name in tables if is_frame(given[name])}
    base = session or next((frame.sparkSession for frame in frames.values()), None)
    base = base or getattr(public, "base", None) or active_session()
    for frame in frames.values():
        tried(partial(refuse_unstable, frame), "a frame that Spark can look into")
        refuse_settings(frame.sparkSession.conf)
    made = tried(lambda: session_with(base, frames), "frames of one running session of Spark")
    opening = Opening(*made)
    held = HeldTables({name: opening.table(name, scan, given[name]) for name, scan in tables.items()})
    held.base = base
    if look is not None:
        tried(lambda: look(opening.session, tables, held), "a source that can be read")
    return SparkEngine(opening.session, held, marks=opening.marked, known=public)


def is_frame(data: object) -> bool:
    """Tells whether data is a frame of Spark, classic or connected."""
    return type(data).__module__.startswith("pyspark.sql.") and hasattr(data, "sparkSession")


def session_with(base: Any, frames: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A session of ours in which frames of the user's are known as views, and their names there.

    A classic session takes over the plan of a frame. A connected one takes over views, where it is cloned.
    """
    if not is_remote(base):
        own = own_session(base)
        views = {name: f"s{place}" for place, name in enumerate(frames)}
        for name, frame in frames.items():
            taken_over(frame, own).createTempView(views[name])
        return own, views
    if not frames:
        return own_session(base), {}
    views = {name: f"s_{system().octets(16).hex()}" for name in frames}
    made: list[str] = []
    try:
        for name, frame in frames.items():
            frame.createTempView(views[name])
            made.append(views[name])
        own = base.cloneSession()
        for view in made:  # a server copies views when they are first looked for
            own.table(view).schema  # noqa: B018
        try:
            refuse_hidden(pinned(own), views.values())
        except BadArgument:
            released(own)
            raise
        return own, views
    finally:
        for view in made:
            base.catalog.dropTempView(view)


def taken_over(frame: Any, own: Any) -> Any:
    """A classic frame in another session of the same application: its plan as Spark understood it."""
    plan = frame._jdf.queryExecution().analyzed()
    rows = own._jvm.org.apache.spark.sql.classic.Dataset.ofRows(own._jsparkSession, plan)
    return type(frame)(rows, own)


def tried(step: Callable[[], Any], must: str) -> Any:
    """What a step of Spark's gives; where it fails, the message is ours."""
    refusal: BadArgument | None = None
    with quietly():
        try:
            return step()
        except BadArgument as said:
            refusal = said
    raise BadArgument("data", must, "something else") if refusal is None else refusal


def _by_table(data: Given, tables: Collection[str]) -> Mapping[str, Given]:
    """For each table of the codebook the data that it is in."""
    if isinstance(data, Mapping) and all(name in data for name in tables):
        return data
    if len(tables) == 1:
        return dict.fromkeys(tables, data)
    return _refuse(f"given for each table: {{table: …}} with {', '.join(tables)}", data)


def _refuse(must: str, got: object) -> NoReturn:
    raise BadArgument("data", must, got if isinstance(got, str) else type(got).__name__)


@final
@dataclass(frozen=True)
class Opening:
    """Opens tables one after another, in a session in which some frames are views already."""

    session: Any
    views: Mapping[str, str]
    marks: dict[str, Callable[[], bytes]] = field(default_factory=dict)

    def marked(self) -> dict[str, bytes]:
        """What tells the content of each table from other content, looked up now."""
        return {name: mark() for name, mark in self.marks.items()}

    def table(self, name: str, scan: Scan, given: Given) -> Held:
        """Makes a view of a table, with columns c0, c1, … for those of a codebook."""
        texts: Collection[str] = ()
        if name in self.views:
            frame = self.session.table(self.views[name])
        elif isinstance(given, str | os.PathLike):
            frame = tried(lambda: stored(self.session, os.fspath(given)), missing(os.fspath(given)))
            tried(lambda: refuse_unstable(frame), "a table that Spark can look into")
        else:
            frame, texts = self._handed_over(name, scan, given)
        held = self._held(f"t{len(self.marks) + 1}", scan, tried(lambda: types_of(frame), "a source that can be read"))
        self._made(held, frame, texts)
        if name not in self.marks:
            self._mark(name, frame)
        return held

    def _mark(self, name: str, frame: Any) -> None:
        by_itself = system().octets(16)

        def mark() -> bytes:
            of_files = files_mark(frame)
            return by_itself if of_files is None else of_files

        self.marks[name] = mark

    def _handed_over(self, name: str, scan: Scan, given: Given) -> tuple[Any, Collection[str]]:
        """A table of this process as one of Spark's; which of its columns are texts of values of Python."""
        from pyspark.sql.pandas.types import from_arrow_schema

        lists = [items.column for items in scan.lists]
        made, texts = columns_of(given, [*(column.name for column in scan.columns), *lists], lists)
        mark = table_mark(made)
        taken = arrow_for_spark(made)
        frame = tried(
            lambda: self.session.createDataFrame(taken, from_arrow_schema(taken.schema, prefer_timestamp_ntz=True)),
            "columns of types that Spark knows",
        )
        self.marks[name] = lambda: mark
        return frame, texts

    def _held(self, place: str, scan: Scan, types: Mapping[str, str]) -> Held:
        """A table in which every column can be read as its codebook says; refuses, and names, one that cannot."""
        columns = {}
        for number, column in enumerate(scan.columns):
            held, what = types.get(column.name), f"{scan.table}.{column.name}"
            if held is None:
                _refuse(f"a source with the column {what}, which the codebook describes (case matters)", "none")
            if readable(column.kind, held) is None:
                _refuse(f"a source in which {what} can be read as {column.kind.value}", held[:60])
            columns[column.name] = (f"c{number}", held, column.kind)
        for number, items in enumerate(scan.lists, start=len(scan.columns)):
            columns[items.column] = (f"c{number}", _list_type(scan, items, types), items.item.kind)
        written = {column.name: column.facts.written for column in scan.columns if column.facts.written}
        return Held(place, columns, written=written, owner=scan.owner)

    def _made(self, held: Held, frame: Any, texts: Collection[str]) -> None:
        source = f"r_{held.name}"
        columns = [
            f"{guarded(named(name), kind, python=name in texts)} AS {ours}"
            for name, (ours, kind, _) in held.columns.items()
        ]

        def make() -> None:
            frame.createTempView(source)
            shown = self.session.sql(f"SELECT {listing(columns) or '1 AS one'} FROM {source}")
            shown.createTempView(held.name)

        tried(make, "a source that can be read")


def stored(session: Any, place: str) -> Any:
    """The frame of a table, by its name, or of files, by their path."""
    if place.startswith(SCHEME):
        return session.table(place.removeprefix(SCHEME))
    suffix = os.path.splitext(place)[1].lower()
    if "/" not in place and suffix not in FORMATS:
        return session.table(place)
    if suffix in TEXT_FILES:
        raise BadArgument(
            "data", "a frame: session.read.csv(path, header=True) leaves columns as texts, read by the codebook", suffix
        )
    return session.read.option("mergeSchema", "true").format(FORMATS.get(suffix, "parquet")).load(place)


def missing(place: str) -> str:
    """What must be given where a place cannot be opened."""
    return f"a table or files that Spark can read, of one schema (not {place})"


def types_of(frame: Any) -> dict[str, str]:
    """The types of columns; of two with one name none."""
    names = [one.name for one in frame.schema.fields]
    return {
        one.name: held_type(one.dataType.simpleString()) for one in frame.schema.fields if names.count(one.name) == 1
    }


def held_type(shown: str) -> str:
    """A type of Spark as it is written here: without collations, lists with brackets."""
    plain = re.sub(r"^(string) collate .*$|^(?:varchar|char)\(\d+\)$", TEXT, shown)
    if plain.startswith("array<") and plain.endswith(">"):
        return f"{held_type(plain[6:-1])}[]"
    return TEXT if plain == "void" else plain


def _list_type(scan: Scan, items: Items, types: Mapping[str, str]) -> str:
    """The type of a list column, of which each item can be read as the codebook says; refuses others."""
    held, must = types.get(items.column), f"a source in which {scan.table}.{items.column} is a list of"
    if held is None or not item_type(held) or readable(items.item.kind, item_type(held)) is None:
        _refuse(f"{must} {items.item.kind.value}", (held or "none")[:60])
    return held


def named(column: str) -> str:
    """Writes a name as an identifier, whatever is in it."""
    return "`" + column.replace("`", "``") + "`"


def guarded(column: str, held: str, *, python: bool = False) -> str:
    """A column as it is, in words that no scan understands: conditions on it are not handed to one.

    A text that is not UTF-8 is missing; collations are taken off.
    """
    if held == TEXT:
        text = f"try_validate_utf8(CAST({column} AS STRING) COLLATE UTF8_BINARY)"
        return f"CASE WHEN NOT {UNREADABLE.replace('{0}', text)} THEN {text} END" if python else text
    if item_type(held) == TEXT:
        return f"transform({column}, one -> {guarded('one', TEXT)})"
    return f"CASE WHEN {column} IS NOT NULL THEN {column} END"


def arrow_for_spark(table: Any) -> Any:
    """An Arrow table in types that Spark has, each value as it was."""
    import pyarrow as pa

    def wider(kind: Any) -> Any:
        if pa.types.is_dictionary(kind):
            return wider(kind.value_type)
        if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
            return pa.list_(wider(kind.value_type))
        if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_null(kind):
            return pa.string()
        if pa.types.is_float16(kind):
            return pa.float32()
        return {
            pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64(), pa.uint64(): pa.decimal128(20, 0),
            pa.decimal32(9, 0): pa.decimal128(9, 0),
        }.get(kind, kind)  # fmt: skip

    columns = [column.cast(wider(column.type)) for column in table.columns]
    return pa.table(columns, names=table.schema.names) if columns else table

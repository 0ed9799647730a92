"""Sources: frames and files, opened once in Polars, as their codebook describes them.

What is wrong with a source is said when it is opened, to whoever has the data, and names public things only: tables,
columns, types, files. Frames in memory, text files and small files are held as they are then. Large Parquet files are
read where they are. What a lazy frame gives is the affair of whoever made its plan, and might be something else each
time: so it is worked out once, when it is opened, as a stream into a file of a temporary folder, which is what
questions are about, and what its version is a digest of. A plan that gives its rows in another order each time gives a
new version each time; whoever has large files gives their paths.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, final

import polars as pl

from sfumato.errors import BadArgument
from sfumato.query.engines.inputs.files import (
    PARQUET,
    SMALL,
    by_table,
    digest_of,
    files_of,
    identifying,
    is_path,
    mark_of,
    whole,
)
from sfumato.query.engines.inputs.frames import columns_of
from sfumato.query.engines.inputs.parquet_files import footer_of
from sfumato.query.engines.inputs.tables import SQLITE, is_sqlite, sqlite_columns
from sfumato.query.engines.inputs.text_files import JSON, SEPARATED, header_of
from sfumato.query.engines.polars.engine import PolarsEngine
from sfumato.query.engines.polars.files import (
    IPC,
    Spill,
    Views,
    ipc_table,
    parquet_table,
    parquet_types,
    text_table,
    wide_decimals,
)
from sfumato.query.engines.polars.held import Held, item_type
from sfumato.query.engines.polars.identity import named_text
from sfumato.query.engines.polars.ranking import Hashing
from sfumato.query.engines.polars.reading import is_text, readable
from sfumato.query.engines.polars.running import collected, schema_of_frame, sunk
from sfumato.query.engines.polars.schemas import word
from sfumato.query.engines.polars.scope import ONE, TYPES, Names, Scope, chosen, column
from sfumato.query.engines.polars.text_reading import of_text
from sfumato.query.engines.protocol import Given
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Scan

if TYPE_CHECKING:
    import pyarrow as pa

Look = Callable[[str, Scan, Held, pl.LazyFrame, int], None]
"""Looks at a table that was just opened, and at how many rows of it could not be read."""


def open_source(
    data: Given,
    catalog: Catalog,
    *,
    small: int = SMALL,
    public: Mapping[str, Held] | None = None,
    look: Look | None = None,
    streaming: bool = True,
    hashing: Hashing | None = None,
) -> PolarsEngine:
    """Opens data in Polars, table by table as a catalog describes it.

    What is in a row never decides whether a table opens. With ``public`` the public tables are opened, and nothing
    else: that is how all tables are held that questions may be about. ``look`` is called with each table as it was
    given: it is for the holder of the data (`column_checks`).
    """
    spill = Spill()
    opening = Opening(spill, small, keys=identifying(catalog.tables), look=look, streaming=streaming)
    try:
        tables = {name: scan for name, scan in catalog.tables.items() if public is None or not scan.private}
        given = by_table(data, tables) if tables else {}
        for name, scan in tables.items():
            opening.table(name, scan, given[name])
    except BaseException:
        spill.remove()
        raise
    return PolarsEngine(
        opening.held,
        opening.frames,
        marks=opening.marks,
        spill=spill,
        otherwise=opening.views.copied,
        known=public,
        streaming=streaming,
        hashing=hashing,
    )


def _refuse(must: str, got: object) -> NoReturn:
    raise BadArgument("data", must, got if isinstance(got, str) else type(got).__name__)


@final
@dataclass(frozen=True)
class Opening:
    """Opens tables one after another: ``marks`` tell data apart, ``keys`` are the columns that say whose rows are.

    Parquet files of more than ``small`` bytes become ``views``, which are read where they are.
    """

    spill: Spill
    small: int = SMALL
    keys: Mapping[str, set[str]] = field(default_factory=dict)
    look: Look | None = None
    streaming: bool = True
    held: dict[str, Held] = field(default_factory=dict)
    frames: dict[str, pl.LazyFrame] = field(default_factory=dict)
    marks: list[tuple[str, bytes]] = field(default_factory=list)

    @cached_property
    def views(self) -> Views:
        """The Parquet files that are read where they are."""
        return Views(self.spill)

    def table(self, name: str, scan: Scan, given: Given) -> None:
        """Opens a table, with columns c0, c1, … for those of a codebook."""
        self.marks.append((name, b"table"))
        if isinstance(given, pl.LazyFrame):
            self._lazy(name, scan, given)
        elif not is_path(given):
            self._frame(name, scan, given)
        elif is_sqlite(given):
            self._frame(name, scan, sqlite_columns(given, scan.table, [one.name for one in scan.columns]))
        else:
            self._files(name, scan, given)

    def _files(self, name: str, scan: Scan, given: str | os.PathLike[str]) -> None:
        files = files_of(given)
        suffix = files[0].suffix.lower()
        if any(file.suffix.lower() != suffix for file in files):
            _refuse("files of one kind", str(given))
        if suffix in PARQUET:
            self._parquet(name, scan, files)
        elif suffix in IPC:
            self._frame(name, scan, ipc_table(files))
        elif suffix in SEPARATED or suffix in JSON:
            self._texts(name, scan, files)
        else:
            _refuse(f"files that end in {', '.join((*PARQUET, *IPC, *SEPARATED, *JSON, *SQLITE))}", str(given))

    def _frame(self, name: str, scan: Scan, given: Given) -> None:
        lists = [items.column for items in scan.lists]
        made, texts = columns_of(given, _wanted(scan), lists)
        self._arrow(name, scan, made, texts)

    def _arrow(self, name: str, scan: Scan, table: pa.Table, texts: set[str], lost: int = 0) -> None:
        """Takes a table of Arrow, which brings no flags of Polars with it."""
        try:
            frame = pl.DataFrame(pl.from_arrow(table))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, TypeError, ValueError):
            frame = None
        if frame is None:
            _refuse("columns of types that Polars knows", "others")
        self.marks.append((name, digest_of(table)))
        held = _held(scan, dict(frame.schema), texts)
        self._keep(name, scan, held, frame.lazy(), parse=True, lost=lost)

    def _lazy(self, name: str, scan: Scan, given: pl.LazyFrame) -> None:
        """Works out what a lazy frame gives, once, into a file."""
        must = "a lazy frame that can be collected"
        types = schema_of_frame(given)
        if types is None:
            _refuse(must, "something else")
        held = _held(scan, types, set())
        wanted = [pl.col(one).cast(_as_text(types[one]) or types[one]) for one in held.columns]
        place = self.spill.place()
        if not sunk(given.select(wanted), place):
            _refuse(must, "something else")
        self.marks.append((name, whole(Path(place))))
        types = {
            one: pl.String() if types[one] == pl.Null() or is_text(types[one]) else types[one] for one in held.columns
        }
        frame = pl.scan_ipc(place, glob=False, hive_partitioning=False)
        if os.path.getsize(place) <= self.small:
            frame = collected(frame).lazy()
        self._keep(name, scan, _held(scan, types, set()), frame, parse=False)

    def _parquet(self, name: str, scan: Scan, files: list[Path]) -> None:
        must = "Parquet files that can be read"
        types = [parquet_types(file) for file in files]
        if any(one is None for one in types):
            _refuse(must, "something else")
        _refuse_wide(scan, files[0])
        held = [_held(scan, one or {}, set()) for one in types]
        if any(one != held[0] for one in held):
            _refuse("Parquet files whose columns have the same types", f"{len(files)} files of {scan.table}")
        small = sum(file.stat().st_size for file in files) <= self.small
        self.marks.extend(
            (name, whole(file) if small else mark_of(file, hashlib.sha256(footer_of(file)).digest())) for file in files
        )
        names = list(held[0].columns)
        if not small:
            frame = self.views.view(name, files, names, held[0])
        else:
            table = parquet_table(files, names)
            if table is None:
                _refuse(must, "something else")
            frame = pl.DataFrame(pl.from_arrow(table)).lazy()
        self._keep(name, scan, held[0], frame, parse=False)

    def _texts(self, name: str, scan: Scan, files: list[Path]) -> None:
        """Reads text files whole, every value as a text, and those as their codebook says: nothing is guessed."""
        wanted = [one.name for one in scan.columns]
        names = wanted if files[0].suffix.lower() in JSON else header_of(files)
        _held(scan, dict.fromkeys(names, pl.String()), set())
        self.marks.extend((name, whole(file)) for file in files)
        table, lost = text_table(files, names, wanted)
        frame = pl.DataFrame(pl.from_arrow(table)).lazy()
        held = _held(scan, dict.fromkeys(names, pl.String()), set(wanted))
        self._keep(name, scan, held, frame, parse=True, lost=lost)

    def _keep(self, name: str, scan: Scan, held: Held, frame: pl.LazyFrame, *, parse: bool, lost: int = 0) -> None:
        """Keeps a table under names of ours; texts of other kinds are read now, where the table is ``parse``d."""
        moved = {ours: pl.col(theirs) for theirs, (ours, _, _) in held.columns.items()}
        rows = frame.select(**moved).with_columns(pl.lit(1, dtype=pl.Int8).alias(ONE))
        if self.look is not None:
            self.look(name, scan, held, rows, lost)
        if parse:
            own = {one.name for one in scan.columns if one.unit is not None}
            held, rows = self._parsed(held, rows, own | self.keys.get(name, set()))
        self.held[name], self.frames[name] = held, rows

    def _parsed(self, held: Held, rows: pl.LazyFrame, keys: set[str]) -> tuple[Held, pl.LazyFrame]:
        """Reads texts once, by the codebook's kinds; ids and keys get a column with their exact values beside them."""
        scope, made, exact, columns = Scope(Names()), {}, dict[str, str | None](), dict(held.columns)
        for theirs, (ours, kept_as, kind) in held.columns.items():
            if kind is Kind.TEXT or not isinstance(kept_as, pl.String):
                continue
            written = held.written.get(theirs, "")
            made[ours] = of_text(column(ours), kind, scope, written).made
            exact[theirs] = None
            if theirs in keys:
                exact[theirs] = f"e{ours}"
                made[f"e{ours}"] = named_text(column(ours), kind, scope, written).made
            columns[theirs] = (ours, TYPES[kind], kind)
        if not made:
            return held, rows
        now = replace(held, columns=columns, exact=exact)
        kept = [one for one in now.types if one not in made]
        return now, collected(chosen(scope.over(rows), made, kept), streaming=self.streaming).lazy()


def _wanted(scan: Scan) -> list[str]:
    return [*(one.name for one in scan.columns), *(items.column for items in scan.lists)]


def _refuse_wide(scan: Scan, file: Path) -> None:
    """Refuses decimals of more digits than Polars has."""
    for name in wide_decimals(file):
        if name in _wanted(scan):
            _refuse(f"a source in which {scan.table}.{name} has at most 38 digits", "a decimal with more")


def _as_text(held: pl.DataType) -> pl.DataType | None:
    """The type of texts, for columns of categories, and of nothing at all."""
    return pl.String() if held == pl.Null() or is_text(held) else None


def _held(scan: Scan, types: Mapping[str, Any], loose: set[str]) -> Held:
    """A table in which every column can be read as its codebook says; refuses, and names, one that cannot."""
    columns: dict[str, tuple[str, pl.DataType, Kind]] = {}
    for number, one in enumerate(scan.columns):
        held, what = types.get(one.name), f"{scan.table}.{one.name}"
        if held is None:
            _refuse(f"a source with the column {what}, which the codebook describes (case matters)", "none")
        held = pl.String() if held == pl.Null() else held
        if not readable(one.kind, held):
            _refuse(f"a source in which {what} can be read as {one.kind.value}", word(held)[:60])
        columns[one.name] = (f"c{number}", held, one.kind)
    for number, items in enumerate(scan.lists, start=len(scan.columns)):
        held = types.get(items.column)
        inner = None if held is None else item_type(held)
        if held is None or inner is None or not readable(items.item.kind, inner):
            must = f"a source in which {scan.table}.{items.column} is a list of {items.item.kind.value}"
            _refuse(must, "none" if held is None else word(held)[:60])
        columns[items.column] = (f"c{number}", held, items.item.kind)
    written = {one.name: one.facts.written for one in scan.columns if one.facts.written}
    return Held(columns, frozenset(loose), {}, written, scan.owner)

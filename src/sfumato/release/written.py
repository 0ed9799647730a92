"""Releases that are written as tables: where the rows are, how many, what each column says; and reading one again.

A whole release is a folder of Parquet files with `DOCUMENT` beside them, which is written last: the release without its
rows, in the stored form of `release.codec`. A folder without it broke off, or is none, and is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from sfumato.errors import BadArgument, MissingExtra, UnknownFormat
from sfumato.release.answer import Role
from sfumato.release.record import Release

if TYPE_CHECKING:
    import pyarrow.dataset

    from sfumato.plain import Plain

DOCUMENT = "_release.json"
"""What says of a folder which release it is. Readers of tables pass over names that begin so."""

FORMAT, VERSION = "sfumato/written release", 1


@final
@dataclass(frozen=True)
class WrittenColumn:
    """A column of a written release, with the names of the columns in which the ends of its intervals are, if any."""

    name: str
    role: Role
    low: str = ""
    high: str = ""

    def meanings(self, confidence: Fraction) -> dict[str, str]:
        """Says of each column of the file what is in it."""
        if self.role is Role.KEY:
            return {self.name: "names the row"}
        said = {self.name: "released number, with its noise" if self.low else "made of released numbers"}
        for end, name in (("lower", self.low), ("upper", self.high)) if self.low else ():
            said[name] = (
                f"{end} end of where the exact value of {self.name} is, at {float(confidence):.6g} for each cell"
            )
        return said


@final
@dataclass(frozen=True)
class WrittenTable:
    """The value of a release that is a table elsewhere: where, in which format, how many rows, and what they say.

    ``staged`` is where the rows were kept until they were published, by which a publication that broke off goes on.
    """

    place: str
    form: str
    rows: int
    columns: tuple[WrittenColumn, ...]
    confidence: Fraction
    staged: str = ""

    def open(self) -> pyarrow.dataset.Dataset:
        """Opens the rows, and reads none of them yet: a data set of Arrow, which Polars, DuckDB and pandas take."""
        if self.form != "parquet":
            raise BadArgument("the format of a written release", "parquet, to be opened here", self.form)
        try:
            import pyarrow.dataset
        except ImportError:
            raise MissingExtra("opening written releases", "sql") from None
        try:
            found: pyarrow.dataset.Dataset = pyarrow.dataset.dataset(self.place, format="parquet")
        except (OSError, ValueError):  # among them Arrow's own
            must = "a folder that this machine can read; open it with the engine that wrote it"
            raise BadArgument("the place of a written release", must, self.place) from None
        return found

    def __str__(self) -> str:
        return f"{self.rows:,} row{'' if self.rows == 1 else 's'} at {self.place}"


def document_of(release: Release) -> str:
    """Writes what stands beside the rows of a release: the release itself, and what each column says."""
    from sfumato.release.codec import release_to_plain

    table = _table_in(release)
    meanings: dict[str, Plain] = {}
    for column in table.columns:
        meanings |= column.meanings(table.confidence)
    said: dict[str, Plain] = {
        "format": FORMAT,
        "version": VERSION,
        "rows": table.rows,
        "columns": meanings,
        "asked": release.how.asked,
        "loss": str(release.loss),
        "protects": release.unit,
        "made": release.how.made,
        "cuts": [str(cut) for cut in release.how.cuts],
        "paid": None if release.receipt is None else str(release.receipt),
        "release": release_to_plain(replace(release, value=replace(table, place="", staged=""))),
    }
    return json.dumps(said, indent=1, ensure_ascii=False) + "\n"


def release_in(document: str, place: str) -> Release:
    """Reads what `document_of` wrote; the rows are where it was found."""
    from sfumato.release.codec import release_from_plain

    try:
        said: Any = json.loads(document)
    except ValueError:
        raise UnknownFormat("it is not written in JSON") from None
    if not isinstance(said, dict) or (said.get("format"), said.get("version")) != (FORMAT, VERSION):
        raise UnknownFormat("it is not a written release, or one of a later version")
    release = release_from_plain(said.get("release"))
    return replace(release, value=replace(_table_in(release), place=place))


def read_release(path: str | Path) -> Release:
    """Reads a release that was written as a table: all that it says, and `release.value.open()` for its rows.

    Refuses a folder that is no whole release: one whose writing broke off has no document.
    """
    text = document_at(Path(path))
    if text is None:
        must = f"a folder that a release was written to, to its end: it has a file {DOCUMENT}"
        raise BadArgument("path", must, str(path))
    return release_in(text, str(path))


def document_at(folder: Path) -> str | None:
    """The document in a folder; None where there is none. Engines of many machines write it as a folder of one part."""
    found = folder / DOCUMENT
    try:
        if found.is_dir():
            parts = sorted(part for part in found.iterdir() if part.name.startswith("part-"))
            return parts[0].read_text(encoding="utf-8") if parts else None
        return found.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _table_in(release: Release) -> WrittenTable:
    if not isinstance(release.value, WrittenTable):
        raise UnknownFormat("its value is not a table that was written")
    return release.value

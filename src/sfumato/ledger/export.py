"""A book as lines of JSON, one entry each: to publish, to keep elsewhere, to bring into another store."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from sfumato.errors import BadArgument, LedgerDamaged, LedgerUnavailable
from sfumato.ledger.addresses import file_at
from sfumato.ledger.entry import Entry, canonical, digest_of
from sfumato.ledger.state import State, row_of
from sfumato.ledger.store import Row, Store
from sfumato.ledger.verify import Progress


def as_lines(store: Store, *, values: bool = True) -> Iterator[str]:
    """Writes each entry as a line; with the releases that are kept beside them, unless told otherwise."""
    for row in store.rows():
        value = row.value if values and row.value is not None else "null"
        yield f'{{"digest":"{row.digest}","entry":{row.text},"value":{value}}}\n'


def export_lines(store: Store, path: str | Path, *, values: bool = True, progress: Progress | None = None) -> int:
    """Writes a book to a file and gives the number of entries; the file is there whole, or not at all."""
    target, count = file_at(path, "path"), 0
    unfinished = target.with_name(target.name + ".unfinished")
    try:
        with unfinished.open("w", encoding="utf-8", errors="surrogatepass") as file:
            for count, line in enumerate(as_lines(store, values=values), start=1):
                file.write(line)
                if progress is not None and count % 1000 == 0:
                    progress(count)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    except OSError as fault:
        with suppress(OSError):
            unfinished.unlink()
        raise LedgerUnavailable(f"{target.name} cannot be written ({fault.strerror})") from None
    return count


def import_lines(lines: Iterable[str] | Path, store: Store, *, progress: Progress | None = None) -> int:
    """Brings a book into an empty store, all of it or nothing, and gives the number of entries.

    Refuses at the first line that does not follow the ones before it.
    """
    if next(store.rows(), None) is not None:
        raise LedgerUnavailable("a book can only be brought into an empty store")
    state, rows = State(), list[Row]()
    for number, line in enumerate(_lines(lines), start=1):
        rows.append(_row(line, number))
        state.apply(Entry.read(rows[-1].text, rows[-1].digest))
        if progress is not None and number % 1000 == 0:
            progress(number)
    store.append(0, lambda _: rows)
    return state.number


def _lines(given: object) -> Iterator[str]:
    if isinstance(given, Path):
        try:
            with given.open(encoding="utf-8", errors="surrogatepass") as file:
                yield from file
        except OSError as fault:
            raise LedgerUnavailable(f"{given.name} cannot be read ({fault.strerror})") from None
    elif isinstance(given, str) or not isinstance(given, Iterable):
        raise BadArgument("lines", "the lines of a book, or the Path of its file", type(given).__name__)
    else:
        yield from given


def _row(line: str, number: int) -> Row:
    try:
        fields = json.loads(line)
        text, digest, value = canonical(fields["entry"]), fields["digest"], fields["value"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise LedgerDamaged(f"line {number} is no entry of a book") from None
    if digest_of(text) != digest:
        raise LedgerDamaged(f"entry {number} was changed: it is not what its digest says")
    entry, kept = Entry.read(text, digest), None if value is None else canonical(value)
    if kept is not None and entry.body.get("value") != digest_of(kept):
        raise LedgerDamaged(f"entry {number} does not belong to the release that is kept with it")
    return row_of(entry, kept)

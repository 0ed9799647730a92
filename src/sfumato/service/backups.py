"""Backups: the book, its head and the records in a folder; and how they are brought back into empty stores.

A backup holds answers and hashes of passwords: it is as secret as the service itself. It is made while the service
runs: first the records, then the book, so that whatever a record speaks of is in the book. Receipts that people hold
expose a service that was brought back from before they were given.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from sfumato.errors import BadArgument, LedgerDamaged, ServiceUnavailable
from sfumato.ledger.addresses import MEMORY, store_at
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.verify import Progress, Verdict
from sfumato.release.record import Receipt
from sfumato.service.announcements import HOOK
from sfumato.service.data_sets import DATA_SET
from sfumato.service.house import House
from sfumato.service.jobs import JOB, WAITING
from sfumato.service.people import PERSON, SALT, TOKEN
from sfumato.service.records import NEW, RESTORE, Records
from sfumato.service.schedules import SCHEDULE

KINDS = (PERSON, SALT, TOKEN, DATA_SET, JOB, WAITING, SCHEDULE, HOOK)
"""What is taken along. Visits and links are not: whoever was signed in signs in again."""

BOOK, RECORDS, HEAD = "book.jsonl", "records.jsonl", "head.json"
FORMAT = "sfumato/backup"


@final
@dataclass(frozen=True)
class Backup:
    """What a backup has: the receipt of the last entry (keep it elsewhere, too), and how many entries and records."""

    head: Receipt
    entries: int
    records: int


def backup(house: House, folder: Path, *, progress: Progress | None = None) -> Backup:
    """Writes a backup into a new folder that its owner alone can read."""
    try:
        folder.mkdir(mode=0o700, parents=False, exist_ok=False)
        lines = [
            json.dumps({"kind": kind, "name": kept.name, "said": kept.said})
            for kind in KINDS
            for kept in house.records.all(kind)
        ]
        _write(folder / RECORDS, "".join(f"{line}\n" for line in lines))
        house.ledger.export(folder / BOOK, progress=progress)
        os.chmod(folder / BOOK, 0o600)
        head = _last_of(folder / BOOK)
        said = {
            "format": FORMAT,
            "version": 1,
            "head": asdict(head),
            "records": len(lines),
            "digests": {name: _digest(folder / name) for name in (BOOK, RECORDS)},
        }
        _write(folder / HEAD, json.dumps(said, indent=1, sort_keys=True) + "\n")
        return Backup(head, head.entry, len(lines))
    except OSError:
        pass
    raise BadArgument("the folder of a backup", "a new one, where there is room for it", folder.name)


def read_backup(folder: Path) -> Backup:
    """Reads what a backup says of itself; refuses one that is not whole."""
    try:
        said: Any = json.loads((folder / HEAD).read_text(encoding="utf-8"))
        same = all(_digest(folder / name) == said["digests"][name] for name in (BOOK, RECORDS))
        if said["format"] == FORMAT and said["version"] == 1 and same:
            head = Receipt(**said["head"])
            return Backup(head, head.entry, said["records"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise BadArgument("the folder of a backup", "one that is whole and unchanged", folder.name)


def restore(folder: Path, ledger: str, records: Records, *, progress: Progress | None = None) -> Backup:
    """Brings a backup into an empty ledger (at an address) and empty records; the book verifies, or nothing is kept.

    A restore that breaks off leaves a mark, with which no service starts (`House.open`): the same one again goes on.
    """
    known = read_backup(folder)
    mark, said = records.get(RESTORE, RESTORE), {"head": known.head.digest}
    if mark is None and any(records.all(kind) for kind in KINDS):
        raise ServiceUnavailable("there are some already; a backup is brought into empty ones")
    _check_book(folder / BOOK, known, progress)
    there = _is_there(ledger, known, again=mark is not None and mark.said == said)
    if mark is None or mark.said != said:
        mark = records.put(RESTORE, RESTORE, said, expecting=NEW if mark is None else mark.version)
    for kind in KINDS:  # what an earlier try has brought in, of this backup or of another one
        for kept in records.all(kind):
            records.remove(kind, kept.name, expecting=kept.version)
    for line in (folder / RECORDS).read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        records.put(one["kind"], one["name"], one["said"], expecting=NEW)
    if not there:
        Ledger.imported(folder / BOOK, ledger).close()
    records.remove(RESTORE, RESTORE, expecting=mark.version)
    return known


def _check_book(file: Path, known: Backup, progress: Progress | None) -> None:
    """Refuses a book that does not verify, or does not end where the backup says, before anything is written."""
    book = Ledger.imported(file, MEMORY, progress=progress)
    try:
        if book.head.digest != known.head.digest:
            raise LedgerDamaged("the backup ends elsewhere than it says")
    finally:
        book.close()


def _is_there(ledger: str, known: Backup, *, again: bool) -> bool:
    """Tells whether an earlier try has brought the book in, which is one step; refuses any other book."""
    store = store_at(ledger)
    try:
        first, last = store.get(1), store.get(known.head.entry)
        more = store.get(known.head.entry + 1)
    finally:
        store.close()
    whole = last is not None and last.digest == known.head.digest and more is None
    if first is not None and not (again and whole):
        raise ServiceUnavailable("there is a book already; a backup is brought into an empty one")
    return whole


def rolled_back(house: House, receipts: Iterable[Receipt]) -> Verdict:
    """Verifies the book against receipts that people hold: one that is missing shows that the book was put back."""
    return house.ledger.verify(receipts=receipts)


def _last_of(book: Path) -> Receipt:
    """The receipt of the last entry that was written out: the book may have gone on since."""
    last = ""
    with book.open(encoding="utf-8", errors="surrogatepass") as lines:
        for line in lines:
            last = line
    said = json.loads(last)
    return Receipt(said["entry"]["number"], said["digest"], said["entry"]["account"], said["entry"]["time"])


def _digest(file: Path) -> str:
    with file.open("rb") as held:
        return hashlib.file_digest(held, "sha256").hexdigest()


def _write(file: Path, text: str) -> None:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as held:
        held.write(text)
        held.flush()
        os.fsync(held.fileno())

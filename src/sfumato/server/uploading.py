"""Data files that curators send: written as they come, looked at from outside, never unpacked; each of one data set."""

from __future__ import annotations

import glob
import os
import re
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

from sfumato.entropy import system
from sfumato.query.engines.parquet_sizes import unpacked_size
from sfumato.server.problems import Refused
from sfumato.server.running import Running
from sfumato.server.settings import Sizes
from sfumato.service.data_sets import NAME
from sfumato.service.people import Person
from sfumato.service.places import Source
from sfumato.service.rights import Action

FILE = r"[A-Za-z0-9][A-Za-z0-9_-]{0,80}\.(csv|parquet)"
MAGIC, LARGEST_FOOTER = b"PAR1", 16 << 20
UNFINISHED = ".unfinished-"
SMALL = 64 << 20
"""Octets that any file may come to when it is read."""

TAKEN = "There is a file of this name already: data that was registered does not change."


@final
@dataclass(frozen=True)
class Arrived:
    """A file that has arrived: where it is, and how many octets it has."""

    place: Path
    size: int


async def take_in(running: Running, person: Person, data_set: str, file: str, octets: AsyncIterator[bytes]) -> Arrived:
    """Takes a CSV or Parquet file for a data set from somebody who may register it; no file is ever written over."""
    unfinished, target = await running.quick.run(lambda: _begun(running, person, data_set, file))
    size = 0
    try:
        with await running.quick.run(lambda: unfinished.open("ab")) as open_file:
            async for some in octets:
                size += len(some)
                await running.quick.run(lambda some=some: open_file.write(some))  # type: ignore[misc]
        await running.quick.run(lambda: _finish(unfinished, target, running.settings.sizes))
    finally:
        with suppress(OSError):
            unfinished.unlink()
    return Arrived(target, size)


def arrived(running: Running, person: Person, data_set: str, file: str) -> Path:
    """Where a file is that was sent for a data set, to whoever may register it."""
    target = _target(running, person, data_set, file)
    if not target.is_file():
        raise Refused(404, f"No file of this name was sent for {data_set}.")
    return target


def check_own(running: Running, data_set: str, source: Source) -> None:
    """Refuses files that were sent for another data set: who curates one has no say over the rows of another.

    Paths are compared after links were followed, and patterns by every file that they find.
    """
    folder = running.settings.uploads
    if folder is None:
        return
    uploads, own = os.path.realpath(folder), os.path.realpath(folder / data_set)
    for place in source.values() if isinstance(source, Mapping) else (source,):
        if "://" in place:
            continue
        starts = [""] if os.path.isabs(place) else [str(one) for one in running.house.settings.data_folders]
        for path in (os.path.normpath(os.path.join(start, place)) for start in starts):
            found = [path] if os.path.lexists(path) else glob.glob(path, recursive=True) or [path]
            for real in map(os.path.realpath, found):
                inside = _within(real, uploads) or _within(uploads, real)
                if inside and not _within(real, own):
                    raise Refused(403, "This file was sent for another data set, and is registered for that one alone.")


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}{os.sep}")


def _target(running: Running, person: Person, data_set: str, file: str) -> Path:
    person.need(Action.REGISTER, data_set)
    folder = running.settings.uploads
    if folder is None:
        raise Refused(403, "This service takes no uploads: its settings name no folder for them.")
    if not NAME.fullmatch(data_set):
        raise Refused(422, "A data set is called in letters, digits, dots, dashes and underlines.")
    if not re.fullmatch(FILE, file, re.ASCII):
        raise Refused(422, "A file is called in letters, digits, dashes and underlines, and ends in .csv or .parquet.")
    return folder / data_set / file


def _begun(running: Running, person: Person, data_set: str, file: str) -> tuple[Path, Path]:
    target = _target(running, person, data_set, file)
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if target.exists():
            raise Refused(409, TAKEN)
        folder = target.parent.parent
        if sum(one.stat().st_size for one in folder.glob("*/*")) > running.settings.sizes.uploads_in_all:
            raise Refused(413, "There is no more room for uploads.")
        unfinished = target.with_name(UNFINISHED + system().octets(8).hex())
        os.close(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        pass
    else:
        return unfinished, target
    raise Refused(503, "The upload cannot be written.")


def _finish(unfinished: Path, target: Path, sizes: Sizes) -> None:
    """Looks at the file from outside, and gives it its name; a name that was taken meanwhile stays what it was."""
    if target.suffix == ".parquet":
        _check_parquet(unfinished, sizes)
    try:
        os.link(unfinished, target)
        return
    except FileExistsError:
        status, why = 409, TAKEN
    except OSError:
        status, why = 503, "The upload cannot be written."
    raise Refused(status, why)


def _check_parquet(file: Path, sizes: Sizes) -> None:
    """Refuses what is no Parquet file, or says that it holds much more than it has octets for."""
    size = file.stat().st_size
    with file.open("rb") as octets:
        begins = octets.read(4)
        octets.seek(max(0, size - 8))
        ends = octets.read(8)
    right = size >= 12 and begins == MAGIC and ends[4:] == MAGIC
    if not right or not 0 < struct.unpack("<I", ends[:4])[0] <= min(LARGEST_FOOTER, size - 12):
        raise Refused(422, "This is no Parquet file, or its footer is too large.")
    unpacked = unpacked_size(file)
    if unpacked is None:
        raise Refused(422, "This is no Parquet file: its footer cannot be read.")
    if unpacked > min(sizes.unpacked, max(SMALL, sizes.unpacked_times * size)):
        raise Refused(413, "The file is packed too tightly: it holds much more than its size, or more than is taken.")

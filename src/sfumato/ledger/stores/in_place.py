"""Whether the files of a book are still where they were opened: one that was moved, removed or replaced is noticed.

Asking a file system for the state of a file that is being written can make every later write dearer (fine-grained
times). So, where the system has it, the list of open files is asked instead: it says where each one stands, and costs
next to nothing.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

OPEN_FILES = "/proc/self/fd"
"""Where the system lists the files that a process has open, as links to their names."""

COARSE = 50_000_000
"""Nanoseconds within which two changes of a folder may bear the same time."""

_OPENING = threading.Lock()


def watched(path: Path, connect: Callable[[], sqlite3.Connection]) -> tuple[sqlite3.Connection, Callable[[], bool]]:
    """Connects to the file of a book, and gives a check that it, and its write-ahead log, are still in place."""
    wanted = {os.path.realpath(path), os.path.realpath(path) + "-wal"}
    with _OPENING:
        before = _links(wanted)
        connection = connect()
        opened = {link: name for link, name in _links(wanted).items() if link not in before}
    named = set(opened.values()) == wanted
    look = (lambda: all(_read(link) == name for link, name in opened.items())) if named else _same_files(path)
    return connection, _when_the_folder_changes(path.parent, look)


def _when_the_folder_changes(folder: Path, look: Callable[[], bool]) -> Callable[[], bool]:
    """Makes a check that looks closely only if something was moved, removed or made in the folder, and soon after."""
    watched_folder, seen, there = str(folder), -1, False

    def in_place() -> bool:
        nonlocal seen, there
        try:
            changed = os.stat(watched_folder).st_mtime_ns
        except OSError:
            return False
        if changed != seen:
            there = look()
            seen = changed if time.time_ns() - changed > COARSE else -1
        return there

    return in_place


def _links(wanted: set[str]) -> dict[str, str]:
    """The links to some of the open files, each with the name of its file."""
    try:
        links = [f"{OPEN_FILES}/{number}" for number in os.listdir(OPEN_FILES)]
    except OSError:
        return {}
    return {link: name for link in links if (name := _read(link)) is not None and name in wanted}


def _read(link: str) -> str | None:
    try:
        return os.readlink(link)
    except OSError:
        return None


def _same_files(path: Path) -> Callable[[], bool]:
    first = _identities(path)
    return lambda: first is not None and _identities(path) == first


def _identities(path: Path) -> list[tuple[int, int]] | None:
    try:
        files = (os.stat(path), os.stat(f"{path}-wal"))
    except OSError:
        return None
    return [(one.st_dev, one.st_ino) for one in files]

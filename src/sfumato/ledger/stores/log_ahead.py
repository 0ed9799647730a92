"""Turns on the write-ahead log of an SQLite file, also where several processes begin with one new file at once."""

from __future__ import annotations

import sqlite3
import time

PAUSE_SECONDS = 0.01


def log_ahead(connection: sqlite3.Connection, *, patience: float) -> bool:
    """Sees to it that a file has a write-ahead log; tells whether its file system can keep one.

    SQLite refuses at once, without the patience of the connection, while another process turns the log on.
    """
    until = time.monotonic() + patience
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            return bool(connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",))
        except sqlite3.OperationalError as fault:
            if fault.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(PAUSE_SECONDS)
    return True

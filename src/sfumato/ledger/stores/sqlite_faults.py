"""What SQLite reports, in our own words: its own could quote what is stored."""

from __future__ import annotations

import sqlite3
from typing import NoReturn

from sfumato.errors import LedgerDamaged, LedgerUnavailable

PATIENCE_SECONDS = 60.0
"""How long an append waits for other writers."""

REASONS = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "its file cannot be written",
    sqlite3.SQLITE_CANTOPEN: "its file cannot be opened; does the folder exist, and may it be written?",
    sqlite3.SQLITE_BUSY: f"other writers have kept it busy for {PATIENCE_SECONDS:.0f} seconds",
    sqlite3.SQLITE_LOCKED: "it is locked by another writer",
    sqlite3.SQLITE_IOERR: "the disk does not answer",
    sqlite3.SQLITE_PERM: "its file may not be opened",
    sqlite3.SQLITE_AUTH: "its file may not be opened",
    sqlite3.SQLITE_NOMEM: "there is not enough memory",
}


def refuse(fault: Exception) -> NoReturn:
    """Says what went wrong, without SQLite's own words: they could quote what is stored."""
    code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or isinstance(fault, UnicodeError):
        raise LedgerDamaged("its file is not one that SQLite can read")
    if code == sqlite3.SQLITE_CONSTRAINT:
        raise LedgerDamaged("an entry was to be written twice, or changed")
    if code == sqlite3.SQLITE_ERROR:
        raise LedgerDamaged("its file holds other tables than those of a ledger")
    raise LedgerUnavailable(REASONS.get(code, f"SQLite reports error {code}"))

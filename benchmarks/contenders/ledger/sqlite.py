"""Charges in an SQLite file, next to bare rows of the same durability."""

from __future__ import annotations

import sqlite3
import tempfile
from itertools import count
from pathlib import Path

from contenders.ledger.blocks import in_turns
from contenders.ledger.books import BARE, charging
from sfumato.ledger.ledger import Ledger
from side_by_side.postgres_server import DISK
from side_by_side.stopwatch import report_version


def main() -> None:
    """Times a charge and a bare row in turns."""
    report_version("sfumato")
    with tempfile.TemporaryDirectory(dir=DISK) as folder:
        ledger = Ledger.open(Path(folder) / "ledger.db")
        bare = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute("PRAGMA synchronous = FULL")
        bare.execute("CREATE TABLE bare (number INTEGER PRIMARY KEY, text TEXT)")
        numbers = count(1)
        in_turns(
            "SQLite",
            kind="speed",
            first=charging(ledger),
            second=lambda: bare.execute("INSERT INTO bare VALUES (?, ?)", (next(numbers), BARE)),
        )
        ledger.close()
        bare.close()


main()

"""Charges in a long book, next to charges in a short one; and what opening a long one takes."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from contenders.ledger.blocks import in_turns
from contenders.ledger.books import charging, filled
from sfumato.ledger.ledger import Ledger
from side_by_side.postgres_server import DISK
from side_by_side.stopwatch import report

SHORT, LONG = 1_000, 1_000_000


def main() -> None:
    """Fills two books and charges them in turns."""
    with tempfile.TemporaryDirectory(dir=DISK) as folder:
        short, long = (filled(Path(folder) / f"{size}.db", size) for size in (SHORT, LONG))
        in_turns("SQLite", kind="growth", first=charging(short), second=charging(long))
        begun = time.perf_counter()
        Ledger.open(Path(folder) / f"{LONG}.db").close()
        report("SQLite", kind="opening", milliseconds=(time.perf_counter() - begun) * 1e3)
        short.close()
        long.close()


main()

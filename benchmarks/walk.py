"""Counts the steps of one SQL question: calls, distinct functions and files, and round trips to the ledger's store.

Run it with `python benchmarks/walk.py`. The same question is asked for the first time, in a second shape (what noise
and constants need is cached by then), and once more as it was (which the book answers).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from rich.console import Console
from rich.table import Table

import sfumato as sf

PACKAGE = str(Path(sf.__file__).parent)
FIRST = "SELECT day, COUNT(*) AS n, AVG(minutes) AS mean FROM visits GROUP BY day"
SECOND = "SELECT day, COUNT(*) AS n, SUM(minutes) AS total FROM visits WHERE minutes > 5 GROUP BY day"
STORE = ("append", "rows", "last", "by_key", "by_question", "settled", "get")
CODEBOOK: dict[str, object] = {
    "codebook": 1,
    "title": "Visits",
    "unit": {"protects": "a person", "id": "user_id"},
    "tables": {
        "visits": {
            "columns": {
                "user_id": {"type": "int"},
                "day": {"categories": ["Mon", "Tue", "Wed"], "source": "the calendar"},
                "minutes": {"type": "float", "between": [0, 120], "source": "opening hours"},
            }
        }
    },
}


@dataclass
class Walk:
    """What a profiler saw of one question inside the package."""

    calls: int = 0
    switches: int = 0
    functions: set[CodeType] = field(default_factory=set)
    trips: list[str] = field(default_factory=list)
    _last: str = ""

    def see(self, frame: FrameType, event: str, _: Any) -> None:
        """Counts a call."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE):
            return
        self.calls += 1
        self.functions.add(code)
        self.switches += code.co_filename != self._last
        self._last = code.co_filename
        if code.co_filename.endswith("stores/memory.py") and code.co_qualname.startswith("MemoryStore."):
            self.trips += [code.co_name] if code.co_name in STORE else []

    @property
    def files(self) -> int:
        """How many files were visited."""
        return len({code.co_filename for code in self.functions})


def walked(ask: Callable[[], object]) -> Walk:
    """Asks once, under a profiler."""
    walk = Walk()
    sys.setprofile(walk.see)
    try:
        ask()
    finally:
        sys.setprofile(None)
    return walk


def main() -> None:
    """Walks three times, and prints what was counted."""
    import pyarrow

    days = ["Mon", "Tue", "Wed"]
    rows = {
        "user_id": [place % 50 for place in range(300)],
        "day": [days[place % 3] for place in range(300)],
        "minutes": [place % 100 + 0.5 for place in range(300)],
    }
    data = sf.Dataset(pyarrow.table(rows), name="visits", codebook=CODEBOOK)
    session = data.session(limit=sf.Pure(10), ledger="memory:")
    asked: dict[str, Any] = {"loss": sf.Pure(0.5), "max_groups": 3, "max_rows_per_group": 2}
    session.sql("SELECT COUNT(*) AS n FROM visits", loss=sf.Pure(1), max_groups=1, max_rows_per_group=1)  # imports
    table = Table(title="One SQL question")
    for heading in ("", "calls", "functions", "files", "switches", "round trips"):
        table.add_column(heading, justify="left" if heading in ("", "round trips") else "right")
    for label, question in (("first time", FIRST), ("second shape", SECOND), ("asked before", FIRST)):
        walk = walked(lambda question=question: session.sql(question, **asked))  # type: ignore[misc]
        counts = (walk.calls, len(walk.functions), walk.files, walk.switches)
        table.add_row(label, *(f"{count:,}" for count in counts), f"{len(walk.trips)}: {', '.join(walk.trips)}")
    Console(width=None if sys.stdout.isatty() else 140).print(table)


if __name__ == "__main__":
    main()

"""Times sfumato and the question by hand in turns on one engine, and says how much memory this process took."""

from __future__ import annotations

import sys
from pathlib import Path

from contenders.engines.asking import ways
from contenders.engines.cases import SIZES
from contenders.query.turns import in_turns, report_memory
from side_by_side.stopwatch import report_version


def main(engine: str, folder: str, size: str, rounds: str, *names: str) -> None:
    """Times the named ways."""
    report_version("sfumato")
    with ways(engine, Path(folder), SIZES[size]) as known:
        in_turns(size, {name: known[name] for name in names}, rounds=int(rounds))
    report_memory(size, engine)


main(*sys.argv[1:])

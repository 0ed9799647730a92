"""Times sfumato and DuckDB by hand in turns: rows as the unit, and people."""

from __future__ import annotations

import sys
from pathlib import Path

from contenders.query.asking import WAYS
from contenders.query.cases import SIZES
from contenders.query.turns import in_turns
from side_by_side.stopwatch import report_version

RIVALS = (("plain", "fixed", "rows"), ("hand", "people"))


def main(folder: str, *sizes: str) -> None:
    """Times all that compare with each other in one loop."""
    report_version("sfumato")
    for size in sizes:
        visits = SIZES[size].visits(Path(folder))
        for rivals in RIVALS:
            in_turns(size, {name: WAYS[name](visits) for name in rivals})


main(*sys.argv[1:])

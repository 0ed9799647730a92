"""Answers the question once in one way, and says how much memory that took."""

from __future__ import annotations

import sys
from pathlib import Path

from contenders.query.asking import WAYS
from contenders.query.cases import SIZES
from contenders.query.turns import report_memory


def main(folder: str, size: str, name: str) -> None:
    """Answers it."""
    WAYS[name](SIZES[size].visits(Path(folder)))()
    report_memory(size, name)


main(*sys.argv[1:])

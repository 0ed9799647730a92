"""Runs one method on one table at one ε again and again, and keeps the rows it made for the benchmark to judge.

The first run is the cold one: it is timed from the start of the process, with all that is imported and compiled. Time
of processors counts those of child processes too, since on a busy machine time on the wall says little.
"""

from __future__ import annotations

import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np

from contenders.synth.cases import FOLDER, TABLES, Array, Table
from side_by_side.stopwatch import report

GRACE = 300
"""So many seconds after its time a method that does not look at the clock is ended."""

Made: TypeAlias = tuple[Array, bool]
"""Rows of codes, and whether the method had come to its end when its time was over."""

Method: TypeAlias = Callable[[Table, float, float], Made]
"""Makes as many rows as a table has, at an ε, within so many seconds."""


def processors() -> float:
    """Seconds of processors that this process and its ended children have had."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def gigabytes() -> float:
    """The most memory that this process has had so far.

    The system's own account of resources begins with what the process that started this one had, so Linux is asked
    for the peak of this program's own pages.
    """
    status = Path("/proc/self/status")
    peaks = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
    return int(peaks[0]) / 2**20


def main(contender: str, methods: dict[str, Method]) -> None:
    """Runs what the command line says: a method, a table, ε, the number of runs, seconds, and when all that began."""
    method, name, epsilon, runs, limit, begun = sys.argv[1:]
    table, seconds = TABLES[name], float(limit)
    signal.alarm(int(seconds) + GRACE)
    folder = FOLDER / "rows"
    folder.mkdir(parents=True, exist_ok=True)
    for run in range(int(runs)):
        spent, clock = (0.0, float(begun)) if not run else (processors(), time.time())
        if run and clock - float(begun) > seconds:
            return
        codes, finished = methods[method](table, float(epsilon), seconds)
        facts = {"seconds": time.time() - clock, "processors": processors() - spent, "gigabytes": gigabytes()}
        file = folder / f"{contender}_{method}_{name}_{epsilon}_{run}.npy"
        np.save(file, codes.astype(np.uint8))
        report(name, kind="run", method=method, epsilon=float(epsilon), run=run, rows=str(file), done=finished, **facts)

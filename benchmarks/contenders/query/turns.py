"""Times several ways in turns, so that what else the machine does hits all alike, and tells how much memory it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from side_by_side.stopwatch import report

ROUNDS = 7
STEADY = 0.6
"""Where the fastest round took less than this share of the middle one, other work held the machine up."""

Way = Callable[[], object]


def seconds(way: Way, clock: Callable[[], float] = time.perf_counter) -> float:
    """Gives the time of one call."""
    begun = clock()
    way()
    return clock() - begun


def in_turns(
    size: str, ways: Mapping[str, Way], *, rounds: int = ROUNDS, clock: Callable[[], float] = time.perf_counter
) -> None:
    """Reports the best time of every way, after a first round that is not counted; by another clock where given."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, way in ways.items():
            times[name].append(seconds(way, clock))
    for name, found in times.items():
        counted = sorted(found[1:])
        steady = counted[0] / counted[len(counted) // 2]
        report(name, kind="time", size=size, seconds=counted[0], share=1.0 if steady >= STEADY else steady)


def report_once(size: str, name: str, spent: float) -> None:
    """Reports a time that was taken by hand, and the memory of this process so far."""
    report(name, kind="time", size=size, seconds=spent)
    report_memory(size, name)


def report_memory(size: str, name: str) -> None:
    """Reports the most memory that this process ever had, in gigabytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    report(name, kind="memory", size=size, gigabytes=peak * 1024 / 1e9)

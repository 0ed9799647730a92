"""Times two ways of writing against each other in turns, so that what else the machine does hits both alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from side_by_side.stopwatch import report

CALLS, BLOCKS = 150, 21
"""A block is so many calls; each side has so many blocks, after one that is not counted."""

STEADY = 0.6
"""Where the fastest block took less than this share of the median, other work held the disk up."""

Step = Callable[[], object]


def block(step: Step) -> float:
    """Gives the time of one call, on average over a block, in microseconds."""
    begun = time.perf_counter()
    for _ in range(CALLS):
        step()
    return (time.perf_counter() - begun) / CALLS * 1e6


def in_turns(case: str, *, kind: str, first: Step, second: Step) -> None:
    """Reports the median time of both, and the median ratio of the second's to the first's over pairs of blocks.

    A disk that others use makes every write slow, and so all ratios look alike: the fastest block tells.
    """
    block(first), block(second)
    pairs = [(block(first), block(second)) for _ in range(BLOCKS)]
    ones, others = [one for one, _ in pairs], [other for _, other in pairs]
    steady = min(min(times) / median(times) for times in (ones, others))
    report(
        case,
        kind=kind,
        first=median(ones),
        second=median(others),
        ratio=median(other / one for one, other in pairs),
        share=1.0 if steady >= STEADY else steady,
    )

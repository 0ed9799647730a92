"""Times work inside a contender's interpreter and reports it to the benchmark, one JSON line per measurement."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import NamedTuple

SECONDS = 0.5
ROUNDS = 3
PATIENCE = 5
UNDISTURBED = 0.95
"""A round that had this share of a processor was not held up by other work on the machine."""


class Timing(NamedTuple):
    """Is the time of the best round, and the share of it that the process really had a processor."""

    seconds: float
    share: float


def best_round(work: Callable[[], object], *, seconds: float = SECONDS, rounds: int = ROUNDS) -> Timing:
    """Times the fastest of several rounds, and goes on for a while if even that one was held up by other work.

    Contenders run one after another, so a busy spell during one of them would falsify every comparison with it.
    """
    best, begun, done = Timing(float("inf"), 0.0), time.perf_counter(), 0
    while True:
        wall, processor = time.perf_counter(), time.process_time()
        work()
        spent, used = time.perf_counter() - wall, time.process_time() - processor
        best = min(best, Timing(spent, used / spent if spent else 1.0))
        done += 1
        calm = best.share >= UNDISTURBED or done >= PATIENCE * rounds
        if done >= rounds and time.perf_counter() - begun >= seconds and calm:
            return best


def report(case: str, **facts: object) -> None:
    """Hands one measurement to the benchmark that started this process."""
    sys.stdout.write(json.dumps({"case": case, **facts}) + "\n")
    sys.stdout.flush()


def report_version(package: str) -> None:
    """Says which version of a package is about to be measured."""
    report("version", kind="version", version=version(package))


def time_vector(
    case: str,
    *,
    scale: float,
    size: int,
    work: Callable[[], object],
    kind: str = "vector",
    rounds: int = ROUNDS,
    entropy_bytes: float | None = None,
) -> None:
    """Times one call that gives many samples, after a first call that is not counted."""
    work()
    best = best_round(work, rounds=rounds)
    facts = {"kind": kind, "scale": scale, "size": size, "entropy_bytes": entropy_bytes}
    report(case, nanoseconds=best.seconds / size * 1e9, share=best.share, **facts)


def time_scalar(
    case: str, *, scale: float, work: Callable[[], object], kind: str = "scalar", calls: int = 2000
) -> None:
    """Times calls that give one sample each, on average over a loop, after a first loop that is not counted."""

    def loop() -> None:
        for _ in range(calls):
            work()

    loop()
    best = best_round(loop)
    report(case, nanoseconds=best.seconds / calls * 1e9, share=best.share, kind=kind, scale=scale, size=1)

"""sfumato's protocols: exact chances, secure randomness, reports of every person as arrays."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
from numpy.typing import NDArray

import sfumato as sf
from contenders.local.cases import EPSILON, FEW, PEOPLE, VALUES, race
from sfumato.accounting.amplify.shuffle import shuffled_epsilon
from sfumato.local.choosing import CANDIDATES
from sfumato.local.frequency import FrequencyProtocol
from side_by_side.stopwatch import report, report_version

CASES = {
    "grr": "response",
    "oue": "optimized unary encoding",
    "olh": "local hashing",
    "ss": "subset selection",
    "sue": "symmetric unary encoding",
    "the": "thresholded histogram",
    "hr": "hadamard response",
    "pgr": "geometry response",
    "best": None,
}
LONG = ("oue", "ss", "sue", "the")
"""A bit for each value: 10¹⁰ coins for ten times as many people with ten times as many values."""


def shares(protocol: FrequencyProtocol, data: NDArray[np.int64]) -> NDArray[np.float64]:
    """Randomizes and aggregates."""
    return protocol.aggregate(protocol.randomize_many(data)).shares


def consistent(protocol: FrequencyProtocol, data: NDArray[np.int64]) -> NDArray[np.float64]:
    """The same with counts that are possible, as some rivals give."""
    estimate = protocol.aggregate(protocol.randomize_many(data))
    return estimate.consistent() / estimate.users


def compete(case: str, method: str | None) -> None:
    """Races one protocol with many people, and with ten times as many who have ten times as many values."""
    for times, kind in ((1, "frequencies"), (10, "large")):
        if case in LONG and times > 1:
            continue
        people, values = times * PEOPLE, times * VALUES
        protocol = sf.local.frequencies(range(values), loss=sf.Pure(EPSILON), users=people, method=method)
        rounds = 20 if times == 1 and case not in LONG else 3
        race(case, partial(shares, protocol), people=people, values=values, kind=kind, rounds=rounds)
        theory = "theory" if times == 1 else "large theory"
        least = sf.local.least_error(values, loss=sf.Pure(EPSILON), users=people)  # of any protocol that there may be
        exact = least if method is None else protocol.mean_squared_error(users=people)
        report(case, kind=theory, error=float(exact) * people)


def main() -> None:
    """Runs all cases, the large one, and the bounds for shuffled reports."""
    report_version("sfumato")
    for case, method in CASES.items():
        if method is None or method in CANDIDATES:
            compete(case, method)
    for people in sorted({*FEW.values()}):  # as many as each rival serves
        protocol = sf.local.frequencies(range(VALUES), loss=sf.Pure(EPSILON), users=people)
        race("best", partial(consistent, protocol), people=people, kind="consistent", rounds=20)
    for epsilon0 in (0.5, 1, 2, 4):
        for power in range(3, 10):
            begun = time.perf_counter()
            epsilon = float(shuffled_epsilon(epsilon0, reports=10**power, delta=1e-8))
            seconds = time.perf_counter() - begun
            report("shuffle", kind="shuffle", local=epsilon0, power=power, epsilon=epsilon, seconds=seconds)


main()

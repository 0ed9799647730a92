"""What every contender is asked for: people, values, and how errors are told; imported in all their environments."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from side_by_side.stopwatch import report

EPSILON = 1.0
PEOPLE, VALUES = 100_000, 1_000
FEW = {"grr": 100_000, "oue": 20_000, "olh": 2_000, "ss": 20_000, "sue": 20_000, "the": 20_000, "hr": 20_000}
"""How many people a slow contender serves: throughput is per person, errors are told times the number of people."""


def population(people: int, values: int) -> NDArray[np.int64]:
    """Made-up values with a heavy head, the same in every environment."""
    ranks = np.arange(1, values + 1)
    shares = 1 / ranks**1.2
    return np.random.default_rng(11).choice(values, size=people, p=shares / shares.sum())


def race(
    case: str,
    estimate: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    *,
    people: int,
    values: int = VALUES,
    rounds: int = 3,
    kind: str = "frequencies",
) -> None:
    """Times randomizing and aggregating together, and reports people a second and the squared error of shares · n."""
    data = population(people, values)
    truth = np.bincount(data, minlength=values) / people
    estimate(data[: min(people, 100)])
    best, errors = float("inf"), []
    for _ in range(rounds):
        begun = time.perf_counter()
        shares = estimate(data)
        best = min(best, time.perf_counter() - begun)
        errors.append(float(np.mean((shares - truth) ** 2)) * people)
    report(case, kind=kind, people=people, values=values, users_s=people / best, error=sum(errors) / len(errors))


DELTA = 1e-8
"""The δ of all bounds for shuffled reports."""

LOCALS, POWERS, PROTOCOL_POWERS = (0.5, 1, 2, 4), range(3, 10), (3, 4)
"""The local ε of a report, and numbers of reports as powers of ten: of any randomizer, and of one protocol."""

SHUFFLED = ("response 100", "hashing", "optimized bits", "symmetric bits", "subsets 100", "hadamard")
"""Protocols whose shuffled reports are bounded by themselves."""


def chances_of(protocol: str, local: float) -> tuple[float, float, float]:
    """The chance of the own set of a value, its share of what all values have in common, and that of two sets."""
    grown = math.exp(local)
    if protocol == "response 100":
        return grown / (grown + 99), 1 / 100, 0.0
    if protocol == "hashing":
        buckets = max(2, round(grown + 1))
        return grown / (grown + buckets - 1), 1 / buckets, 1 / buckets**2
    if protocol == "optimized bits":
        return 0.5, 1 / (grown + 1), 1 / (grown + 1) ** 2
    if protocol == "symmetric bits":
        lie = 1 / (math.exp(local / 2) + 1)
        return 1 - lie, lie, lie * lie
    if protocol == "subsets 100":
        size = max(1, round(100 / (grown + 1)))
        return size * grown / (size * grown + 100 - size), size / 100, size * (size - 1) / (100 * 99)
    return grown / (grown + 1), 0.5, 0.25


def kinds_of(protocol: str, local: float) -> list[tuple[float, float, float]]:
    """Kinds of reports on two values: the chance of each in what is common to all values, and under the two."""
    inside, share, both = chances_of(protocol, local)
    into, out = inside / share, (1 - inside) / (1 - share)
    only, none = share - both, 1 - 2 * share + both
    kinds = [
        (only * out, only * into, only * out),
        (only * out, only * out, only * into),
        (both * out, both * into, both * into),
        (none * out, none * out, none * out),
    ]
    return [kind for kind in kinds if kind[0] > 0]

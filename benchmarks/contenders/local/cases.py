"""What every contender is asked for: people, values, and how errors are told; imported in all their environments."""

from __future__ import annotations

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

"""multi-freq-ldpy: a call for each person, then its unbiased-and-cut estimator."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client
from numpy.typing import NDArray

from contenders.local.cases import EPSILON, FEW, VALUES, race
from side_by_side.stopwatch import report_version

Shares = NDArray[np.float64]


def response(data: NDArray[np.int64]) -> Shares:
    """Generalised randomized response."""
    return np.asarray(GRR_Aggregator_MI([GRR_Client(value, VALUES, EPSILON) for value in data], VALUES, EPSILON))


def unary(data: NDArray[np.int64], *, optimal: bool = True) -> Shares:
    """Optimised or symmetric unary encoding."""
    reports = [UE_Client(value, VALUES, EPSILON, optimal) for value in data]
    return np.asarray(UE_Aggregator_MI(reports, EPSILON, optimal))


def subsets(data: NDArray[np.int64]) -> Shares:
    """Subset selection."""
    return np.asarray(SS_Aggregator_MI([SS_Client(value, VALUES, EPSILON) for value in data], VALUES, EPSILON))


def hashing(data: NDArray[np.int64]) -> Shares:
    """Optimised local hashing."""
    return np.asarray(
        LH_Aggregator_MI([LH_Client(value, VALUES, EPSILON, True) for value in data], VALUES, EPSILON, True)
    )


def main() -> None:
    """Runs what it has, with as many people as end in reasonable time."""
    report_version("multi-freq-ldpy")
    cases: dict[str, Callable[[NDArray[np.int64]], Shares]] = {
        "grr": response,
        "oue": unary,
        "olh": hashing,
        "ss": subsets,
        "sue": partial(unary, optimal=False),
    }
    for case, estimate in cases.items():
        race(case, estimate, people=FEW[case], rounds=2)


main()

"""pure-ldp: clients and servers of each protocol, one report at a time."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
from pure_ldp.frequency_oracles.histogram_encoding import HEClient, HEServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

from contenders.local.cases import EPSILON, FEW, VALUES, race
from side_by_side.stopwatch import report_version


def shares(case: str, data: NDArray[np.int64]) -> NDArray[np.float64]:
    """Randomizes and aggregates; values are counted from 1 there."""
    client, server = {
        "grr": lambda: (DEClient(EPSILON, VALUES), DEServer(EPSILON, VALUES)),
        "oue": lambda: (UEClient(EPSILON, VALUES, use_oue=True), UEServer(EPSILON, VALUES, use_oue=True)),
        "olh": lambda: (LHClient(EPSILON, VALUES, use_olh=True), LHServer(EPSILON, VALUES, use_olh=True)),
        "sue": lambda: (UEClient(EPSILON, VALUES, use_oue=False), UEServer(EPSILON, VALUES, use_oue=False)),
        "the": lambda: (HEClient(EPSILON, VALUES), HEServer(EPSILON, VALUES, use_the=True)),
        "hr": hadamard,
    }[case]()
    for value in data:
        server.aggregate(client.privatise(int(value) + 1))
    counts = [server.estimate(value + 1, suppress_warnings=True) for value in range(VALUES)]
    return np.asarray(counts, dtype=np.float64) / len(data)


def hadamard() -> tuple[HadamardResponseClient, HadamardResponseServer]:
    """A client and a server of Hadamard response, which share what the server has drawn."""
    server = HadamardResponseServer(EPSILON, VALUES)
    return HadamardResponseClient(EPSILON, VALUES, server.get_hash_funcs()), server


def main() -> None:
    """Runs what it has, with as many people as end in reasonable time."""
    report_version("pure-ldp")
    for case in ("grr", "oue", "olh", "sue", "the", "hr"):
        race(case, partial(shares, case), people=FEW[case], rounds=2)


main()

"""Laws of random partitions, listed through the real code, and whether two laws have a close coupling."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sfumato as sf
import sfumato.transforms.parts as parts_module
from sfumato.core.rows import rows_of

Outcome = tuple[Any, ...]
Law = Counter[Outcome]


def outcomes(made: sf.Transformation, data: Any, monkeypatch: pytest.MonkeyPatch, labels: int, count: int) -> Law:
    """Gives the exact law of a random partition: all labels and all orders, equally likely, through the real code."""
    found: Law = Counter()
    rows = len(data["id"]) if isinstance(data, dict) else len(data)
    for order in itertools.permutations(range(rows)):
        for drawn in itertools.product(range(count), repeat=labels):
            monkeypatch.setattr(parts_module, "permutation", lambda size, *, entropy, o=order: np.array(o, dtype=int))
            monkeypatch.setattr(
                parts_module, "below_many", lambda bound, *, count, entropy, d=drawn: np.array(d, dtype=int)[:count]
            )
            found[frozen(made(data))] += 1
    return found


def frozen(value: Any) -> Outcome:
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    return tuple(tuple(map(tuple, rows_of(part))) if isinstance(part, dict) else tuple(part.tolist()) for part in value)


def coupled(left: Law, right: Law, close: Callable[[Outcome, Outcome], bool]) -> bool:
    """Tells whether two laws have a coupling under which outcomes are always close (a perfect matching of masses)."""
    scale = math.lcm(left.total(), right.total())
    ours = {outcome: mass * scale // left.total() for outcome, mass in left.items()}
    theirs = {outcome: mass * scale // right.total() for outcome, mass in right.items()}
    near = {a: [b for b in theirs if close(a, b)] for a in ours}
    flow: dict[tuple[Outcome, Outcome], int] = Counter()
    room = dict(theirs)

    def push(a: Outcome, amount: int, seen: set[Outcome]) -> int:
        for b in near[a]:
            if b in seen:
                continue
            seen.add(b)
            if room[b]:
                sent = min(amount, room[b])
                room[b] -= sent
                flow[a, b] += sent
                return sent
            for other in ours:
                if flow[other, b] and (sent := push(other, min(amount, flow[other, b]), seen)):
                    flow[other, b] -= sent
                    flow[a, b] += sent
                    return sent
        return 0

    for a, mass in ours.items():
        while mass:
            sent = push(a, mass, set())
            if not sent:
                return False
            mass -= sent
    return True

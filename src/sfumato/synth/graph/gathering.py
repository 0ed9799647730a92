"""How the factors of one clique come together in its table, and how its counts go back to them.

Factors are not added to a large table one by one. The two whose union is smallest are joined first, as in a
tournament, until two are left that fill the table; counts are summed down the same way back, so that few steps
touch the whole table, however many factors lie in it.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, count
from typing import final

import numpy as np

from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.factors import Step, aligned, summing
from sfumato.synth.graph.junction import Columns
from sfumato.synth.graph.measured import Floats


@final
@dataclass(frozen=True, eq=False)
class Inlet:
    """A flat table that comes in as logarithms, and the place where its counts go."""

    columns: Columns
    logarithms: Floats
    counts: Floats
    own: bool = False
    """Whether the place is the tournament's own, so that sums may be written over it."""


@final
@dataclass(frozen=True, eq=False)
class Gathering:
    """The table of a clique, the steps that add up its inputs in it, and those that sum its counts down to them."""

    table: Floats
    up: tuple[Step, ...]
    down: tuple[Step, ...]


def tournament(domain: Domain, clique: Columns, inlets: Sequence[Inlet]) -> Gathering:
    """Plans the joins that lead from inlets to the table of a clique, and back."""
    bit = {name: 1 << place for place, name in enumerate(clique)}
    logs = [math.log2(domain.size([name])) for name in clique]
    up: list[Step] = []
    down: list[Step] = []
    alive = dict(enumerate(inlets))
    masks = {key: sum(bit[name] for name in inlet.columns) for key, inlet in alive.items()}
    pairs = [(_weight(masks[a] | masks[b], logs), a, b) for a, b in combinations(alive, 2)]
    heapq.heapify(pairs)
    names = count(len(inlets))
    while len(alive) > 2:
        _, one, other = heapq.heappop(pairs)
        if one not in alive or other not in alive:
            continue
        mask = masks[one] | masks[other]
        union = tuple(name for name in clique if bit[name] & mask)
        joined = _joined(domain, union, [alive.pop(one), alive.pop(other)], up, down)
        key = next(names)
        for rest in alive:
            heapq.heappush(pairs, (_weight(mask | masks[rest], logs), rest, key))
        alive[key], masks[key] = joined, mask
    table = _joined(domain, clique, list(alive.values()), up, down)
    return Gathering(table.counts, tuple(up), tuple(down))


def _weight(mask: int, logs: Sequence[float]) -> float:
    return sum(log for place, log in enumerate(logs) if mask >> place & 1)


def _joined(domain: Domain, columns: Columns, parts: list[Inlet], up: list[Step], down: list[Step]) -> Inlet:
    """Writes one join down; where a part of its own is as large as the whole, the whole is written over it."""
    sizes = dict(zip(columns, domain.shape(columns), strict=True))
    shape = tuple(sizes.values())
    over = next((part for part in parts if part.own and part.columns == columns), None)
    flat = np.zeros(math.prod(shape)) if over is None else over.counts
    whole = flat.reshape(shape)
    spread = [part.logarithms.reshape(aligned(sizes, part.columns, columns)) for part in parts]
    if len(spread) == 2:
        up.append((np.add, (*spread, whole)))
    elif over is None:
        up.append((np.copyto, (whole, spread[0] if spread else 0.0)))
    back = [part for part in parts if part is not over]
    steps = [step for part in back for step in summing(whole, [name in part.columns for name in columns], part.counts)]
    down[:0] = steps  # the way back begins with the last join
    return Inlet(columns, flat, flat, own=True)

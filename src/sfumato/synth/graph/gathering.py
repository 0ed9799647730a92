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
from sfumato.synth.graph.factors import Projection, aligned
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
class Join:
    """Some tables that spread into one: their sum on the way up, its sums on the way down."""

    whole: Floats
    spread: tuple[Floats, ...]
    back: tuple[tuple[Projection, Floats], ...]

    def up(self) -> None:
        """Adds the parts."""
        match self.spread:
            case (first, second):
                np.add(first, second, out=self.whole)
            case (only,):
                np.copyto(self.whole, only)
            case _:
                self.whole.fill(0.0)

    def down(self) -> None:
        """Sums the counts of the whole down to those of its parts."""
        for projection, counts in self.back:
            projection.run(self.whole, counts)


def tournament(domain: Domain, clique: Columns, inlets: Sequence[Inlet]) -> tuple[tuple[Join, ...], Floats]:
    """Plans the joins that lead from inlets to the table of a clique, which comes with them."""
    bit = {name: 1 << place for place, name in enumerate(clique)}
    logs = [math.log2(domain.size([name])) for name in clique]
    joins: list[Join] = []
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
        joined = _joined(domain, union, [alive.pop(one), alive.pop(other)], joins)
        key = next(names)
        for rest in alive:
            heapq.heappush(pairs, (_weight(mask | masks[rest], logs), rest, key))
        alive[key], masks[key] = joined, mask
    table = _joined(domain, clique, list(alive.values()), joins)
    return tuple(joins), table.counts


def _weight(mask: int, logs: Sequence[float]) -> float:
    return sum(log for place, log in enumerate(logs) if mask >> place & 1)


def _joined(domain: Domain, columns: Columns, parts: list[Inlet], joins: list[Join]) -> Inlet:
    """Writes one join down; where a part of its own is as large as the whole, the whole is written over it."""
    sizes = dict(zip(columns, domain.shape(columns), strict=True))
    over = next((part for part in parts if part.own and part.columns == columns), None)
    flat = np.zeros(math.prod(sizes.values())) if over is None else over.counts
    spread = tuple(part.logarithms.reshape(aligned(sizes, part.columns, columns)) for part in parts)
    back = tuple(
        (Projection.plan(tuple(sizes.values()), [name in set(part.columns) for name in columns]), part.counts)
        for part in parts
        if part is not over
    )
    if over is None or len(parts) > 1:
        joins.append(Join(flat.reshape(tuple(sizes.values())), spread, back))
    return Inlet(columns, flat, flat, own=True)

"""Tables over columns: how one lies along the axes of another, and how it is summed down to fewer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import final

import numpy as np

from sfumato.synth.graph.measured import Floats


def aligned(shape_of: Mapping[str, int], columns: Sequence[str], within: Sequence[str]) -> tuple[int, ...]:
    """The shape in which a table of ``columns`` spreads along the axes of ``within``, both in one order of columns."""
    inside = set(columns)
    return tuple(shape_of[name] if name in inside else 1 for name in within)


def arranged(table: Floats, columns: Sequence[str], wanted: Sequence[str]) -> Floats:
    """Turns the axes of a table to another order; columns that are not wanted must have one code, and go."""
    keep = [name for name in columns if name in set(wanted)]
    squeezed = table.reshape([table.shape[axis] for axis, name in enumerate(columns) if name in set(wanted)])
    return squeezed.transpose([keep.index(name) for name in wanted])


def log_sums(table: Floats, axis: int) -> Floats:
    """Sums what a table holds the logarithms of along an axis; of nothing but -inf, -inf."""
    most = table.max(axis=axis, keepdims=True)
    most[most == -np.inf] = 0.0
    with np.errstate(divide="ignore"):
        sums: Floats = np.log(np.exp(table - most).sum(axis=axis)) + most.squeeze(axis)
    return sums


def logarithms(table: Floats) -> Floats:
    """Takes logarithms; of nothing, -inf."""
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(table)
    return logs


def shares(parts: Floats, wholes: Floats) -> Floats:
    """Divides parts by wholes; nothing of nothing is nothing."""
    return np.divide(parts, wholes, out=np.zeros(np.broadcast_shapes(parts.shape, wholes.shape)), where=wholes > 0)


@final
@dataclass(frozen=True)
class Projection:
    """The way from a table to the sums over some of its axes: planned once, since it is taken often."""

    shape: tuple[int, ...]
    dropped: tuple[int, ...]

    @staticmethod
    def plan(shape: Sequence[int], keep: Sequence[bool]) -> Projection:
        """Plans the sums over axes that are not kept; neighbouring axes of one fate are one."""
        groups = [
            (kept, math.prod(size for size, _ in run))
            for kept, run in groupby(zip(shape, keep, strict=True), lambda x: x[1])
        ]
        return Projection(tuple(size for _, size in groups), tuple(i for i, (kept, _) in enumerate(groups) if not kept))

    def run(self, table: Floats, into: Floats) -> None:
        """Sums a contiguous table into a contiguous array of what is kept, of any shape."""
        match self.dropped:
            case ():
                np.copyto(into.reshape(-1), table.reshape(-1))
            case (0,):
                view = table.reshape(self.shape[0], -1)
                np.dot(np.ones(self.shape[0]), view, out=into.reshape(-1))
            case (1,) if len(self.shape) == 2:
                np.dot(table.reshape(self.shape), np.ones(self.shape[1]), out=into.reshape(-1))
            case _:
                kept = [size for axis, size in enumerate(self.shape) if axis not in self.dropped]
                np.add.reduce(table.reshape(self.shape), axis=self.dropped, out=into.reshape(kept))

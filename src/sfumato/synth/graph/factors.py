"""Tables over columns: how one lies along the axes of another, and how it is summed down to fewer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

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


def logarithms(table: Floats) -> Floats:
    """Takes logarithms; of nothing, -inf."""
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(table)
    return logs


def shares(parts: Floats, wholes: Floats) -> Floats:
    """Divides parts by wholes; nothing of nothing is nothing."""
    return np.divide(parts, wholes, out=np.zeros(np.broadcast_shapes(parts.shape, wholes.shape)), where=wholes > 0)


Step: TypeAlias = tuple[Callable[..., object], tuple[Any, ...]]
"""A function and its arguments, among them the array that it writes: work that is planned once and done often."""


def perform(steps: Sequence[Step]) -> None:
    """Does planned work."""
    for function, arguments in steps:
        function(*arguments)


NARROW = 24
"""Up to so many cells in a row, sums are faster as a product of matrices."""


def summing(table: Floats, keep: Sequence[bool], into: Floats) -> list[Step]:
    """Plans the sums of a table over the axes that are not kept; both arrays are contiguous, and fixed.

    Neighbouring axes of one fate are one. Axes are summed one after the other, the longest first, each in the way that
    is fastest for its place: NumPy's own sums are slow where the last axes are short.
    """
    groups = [
        (kept, math.prod(size for size, _ in run))
        for kept, run in groupby(zip(table.shape, keep, strict=True), lambda x: x[1])
    ]
    groups = [(kept, size) for kept, size in groups if size > 1] or [(True, 1)]
    steps: list[Step] = []
    while dropped := [place for place, (kept, _) in enumerate(groups) if not kept]:
        place = max(dropped, key=lambda one: (groups[one][1], one))
        before = math.prod(size for _, size in groups[:place])
        after = math.prod(size for _, size in groups[place + 1 :])
        out = into if len(dropped) == 1 else np.empty(before * after)
        steps.append(_summing_middle(table.reshape(before, groups[place][1], after), out))
        table, groups = out, [group for one, group in enumerate(groups) if one != place]
    return steps or [(np.copyto, (into.reshape(-1), table.reshape(-1)))]


def _summing_middle(table: Floats, into: Floats) -> Step:
    before, size, after = table.shape
    if before == after == 1:
        return np.add.reduce, (table.reshape(-1), 0, None, into.reshape(()))
    if after == 1:
        return np.dot, (table.reshape(before, size), np.ones(size), into.reshape(-1))
    if before == 1:
        return np.dot, (np.ones(size), table.reshape(size, after), into.reshape(-1))
    if after <= NARROW and size * after <= NARROW**2:
        adding = np.tile(np.eye(after), (size, 1))
        return np.dot, (table.reshape(before, size * after), adding, into.reshape(before, after))
    return np.add.reduce, (table, 1, None, into.reshape(before, after))

"""Rows from a calibrated junction tree, with counts that are rounded and not drawn one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.exact import integer
from sfumato.synth.graph.calibrated import Calibrated
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Floats
from sfumato.synth.graph.model import Codes

Integers: TypeAlias = NDArray[np.int64]


def uniform(count: int, entropy: Entropy) -> Floats:
    """Draws numbers from [0, 1), multiples of 2⁻⁵³."""
    numbers: Floats = (entropy.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return numbers


def room(domain: Domain, rows: int) -> Codes:
    """Rows of zeros in the smallest unsigned type that holds every code; each column lies in one piece."""
    kind = np.min_scalar_type(max(domain.sizes, default=1) - 1)
    return np.zeros((len(domain.names), integer(rows, "rows", least=0)), dtype=kind).T


def walked(calibrated: Calibrated, codes: Codes, known: Sequence[str], entropy: Entropy) -> None:
    """Fills the columns that are not known, clique by clique from the roots; the known ones end one root."""
    tree, axes = calibrated.tree, calibrated.tree.domain.axes
    filled = set(known)
    for place in reversed(range(len(tree.cliques))):
        clique = tree.cliques[place]
        before = [name for name in clique if name in filled]
        new = [name for name in clique if name not in filled]
        if not new:
            continue
        table = calibrated.tables[place].transpose([clique.index(name) for name in before + new])
        groups = flattened(codes, axes(before), tree.domain.shape(before))
        values = grouped_draws(table.reshape(tree.domain.size(before), -1), groups, entropy)
        for axis, column in zip(axes(new), np.unravel_index(values, tree.domain.shape(new)), strict=True):
            codes[:, axis] = column
        filled.update(new)


def flattened(codes: Codes, axes: Sequence[int], shape: Sequence[int]) -> Integers:
    """The place of each row in the flat table of some columns."""
    flat = np.zeros(len(codes), dtype=np.int64)
    for axis, size in zip(axes, shape, strict=True):
        flat *= size
        flat += codes[:, axis]
    return flat


def grouped_draws(weights: Floats, groups: Integers, entropy: Entropy) -> Integers:
    """Draws for each row one of the columns of ``weights`` by the weights of its group, which is a row of it.

    In a group of m rows, a value of probability p gets ⌊mp⌋ or ⌈mp⌉ of them, mp in expectation, and which rows get it
    is a matter of chance alone. A group without weight draws uniformly from the values that have weight in any group;
    if none has, from all.
    """
    sizes = np.bincount(groups, minlength=len(weights))
    present = np.flatnonzero(sizes)
    counts = rounded(sizes[present], _defined(weights, present), entropy)
    values = np.repeat(np.tile(np.arange(weights.shape[1]), len(present)), counts.reshape(-1))
    rows = np.empty(len(groups), dtype=np.int64)
    rows[shuffled(groups, len(weights), entropy)] = values
    return rows


def _defined(weights: Floats, present: Integers) -> Floats:
    chosen = weights[present]
    empty = ~(chosen.sum(axis=1) > 0)
    if empty.any():
        occurs = weights.sum(axis=0) > 0
        chosen[empty] = occurs if occurs.any() else 1.0
    return chosen


def rounded(sizes: Integers, weights: Floats, entropy: Entropy) -> Integers:
    """Splits each whole number by a row of weights into whole numbers with the right expectations and the right sum."""
    ends = np.cumsum(weights, axis=1)
    ends /= ends[:, -1:]
    ends *= sizes[:, None]
    ends += uniform(len(sizes), entropy)[:, None]
    whole = np.minimum(ends.astype(np.int64), sizes[:, None])
    whole[:, 1:] -= whole[:, :-1].copy()
    return whole


def shuffled(groups: Integers, count: int, entropy: Entropy) -> Integers:
    """The places of rows in the order of their groups, and within each group at random.

    Rows are sorted by 32 random bits and then by group, 16 bits at a time, which takes a time in proportion to the
    rows. Of two rows with the same bits, one pair in 2³², the first stays first.
    """
    order = np.argsort(entropy.halves(len(groups)), kind="stable")
    order = order[np.argsort(entropy.halves(len(groups))[order], kind="stable")]
    if count > 1:
        kind = np.min_scalar_type(count - 1)  # sorting is linear for 8 and 16 bits
        order = order[np.argsort(groups.astype(kind)[order], kind="stable")]
    return order

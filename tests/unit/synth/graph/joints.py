"""Whole tables of few columns, worked out by brute force, against which models are held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Floats, Measured

SMALL = Domain(("a", "b", "c", "d", "e", "f"), (2, 3, 4, 2, 3, 1))

SHAPES: dict[str, list[tuple[str, ...]]] = {
    "nothing": [],
    "one column": [("c",)],
    "chain": [("a", "b"), ("b", "c"), ("d", "c"), ("d", "e")],
    "star": [("a", "b"), ("c", "a"), ("a", "d"), ("a", "e")],
    "loop": [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")],
    "two loops": [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "c")],
    "disconnected": [("a", "b"), ("d", "c")],
    "clique": [("e", "d", "c", "b", "a")],
    "triples": [("a", "b", "c"), ("b", "c", "d"), ("c", "d", "e")],
    "nested": [("a",), ("b", "a"), ("a", "b", "c"), ("c", "d"), ("c",)],
    "all pairs": [(x, y) for i, x in enumerate("abcde") for y in "abcde"[i + 1 :]],
    "one code": [("f", "a"), ("f",), ("a", "b")],
}


def spread(domain: Domain, columns: Sequence[str], table: Floats) -> Floats:
    """A table of some columns along the axes of all."""
    order = sorted(range(len(columns)), key=lambda place: domain.axes(columns)[place])
    return table.transpose(order).reshape(
        [size if name in columns else 1 for name, size in zip(domain.names, domain.sizes, strict=True)]
    )


def joint(domain: Domain, potentials: Mapping[tuple[str, ...], Floats], total: float = 1.0) -> Floats:
    """The table of all columns whose density is the exponential of the sum of potentials."""
    logs = np.zeros(domain.sizes)
    for columns, table in potentials.items():
        logs = logs + spread(domain, columns, table)
    weights = np.exp(logs - logs.max())
    return weights * (total / weights.sum())


def summed(domain: Domain, table: Floats, columns: Sequence[str]) -> Floats:
    """The sums of a table of all columns over those that are not named, in the order of those that are."""
    kept = [name for name in domain.names if name in columns]
    sums = table.sum(axis=tuple(axis for axis, name in enumerate(domain.names) if name not in columns))
    return sums.transpose([kept.index(name) for name in columns])


def normal(seed: int, shape: Sequence[int]) -> Floats:
    return np.random.default_rng(seed).normal(size=shape)


def noisy(domain: Domain, table: Floats, cliques: Sequence[tuple[str, ...]], *, deviation: float) -> list[Measured]:
    """Noisy marginals of a table."""
    return [
        Measured(columns, summed(domain, table, columns) + deviation * normal(place, domain.shape(columns)), deviation)
        for place, columns in enumerate(cliques)
    ]

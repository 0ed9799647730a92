"""Counts at every level of a hierarchy, such as state, county and tract, that agree with each other."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from sfumato.accounting.facts import noise_within
from sfumato.accounting.losses.measures import Loss
from sfumato.combinators.turns import charged_at
from sfumato.core.domains import Array, Categories, Frame, categories
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.errors import BadArgument
from sfumato.exact import Number, positive
from sfumato.mechanisms.layered_counts import Layer, layered_counts, shift_of
from sfumato.stats.consistency import Axes, consistent_layers

Level = tuple[str, ...]

TINIEST = 1e-150
"""Noise that is all but never there counts as this wide: what has no deviation cannot be weighed."""


@constructor
def hierarchical_counts(
    levels: Sequence[Sequence[str]],
    *,
    loss: Loss,
    keys: Mapping[str, Sequence[Hashable]] | None = None,
    weights: Sequence[Number] | None = None,
    d_in: Number | Unit | None = None,
) -> Partial[Measurement]:
    """Releases a noisy histogram at every level of a hierarchy and fits the finest counts to them all.

    Takes:      a frame with the columns of the finest level, in its order, under any distance that counts rows (project
                the others away); levels from coarse to fine, each with the columns of the one before and more; [] is
                the total. ``keys`` lists the public values of columns without declared categories; rows with others
                are left out everywhere. ``weights`` shares out the loss, evenly by default
    Gives:      an array with one axis for each column of the finest level: consistent counts, with sums that are the
                counts of all upper levels
    Guarantee:  Pure (Laplace noise) or ZCDP (Gaussian noise): the given loss at distance ``d_in``, by default that of
                neighbours: one histogram a level, composed  (proofs/trees.md#loss)
    Cost:       one count, and some 50 ns a key

    >>> from sfumato.accounting.losses.measures import Pure
    >>> from sfumato.core.space import frame
    >>> places = frame({"state": ["A", "B"], "county": [1, 2, 3]})
    >>> (places >> hierarchical_counts([[], ["state"], ["state", "county"]], loss=Pure(1))).map(1)
    Pure(epsilon=1.0)
    """
    named = [tuple(level) for level in levels]
    if not named or any(not set(coarse) < set(fine) for coarse, fine in pairwise(named)):
        raise BadArgument("levels", "nested, from coarse to fine: each with the columns before it and more", levels)
    if any(len(set(level)) != len(level) for level in named):
        raise BadArgument("levels", "without a column twice in one level", levels)
    if not set(keys or {}) <= set(named[-1]):
        raise BadArgument("keys", f"named after columns of the finest level: {', '.join(named[-1])}", list(keys or {}))
    shares = _shares(len(named), weights)

    def build(space: Space) -> Measurement:
        axes = _axes(space, named[-1], keys or {})
        apart = charged_at(space, d_in)
        shift = shift_of(space, loss, apart, verb="hierarchical_counts")
        shape = tuple(len(values) for values in axes)
        noises = [noise_within(loss.scaled(share), shift) for share in shares]
        layers = [Layer(*_nodes(level, named[-1], shape), noise) for level, noise in zip(named, noises, strict=True)]
        deviations: dict[Axes, Number] = {
            level: max(math.sqrt(float(noise.variance())), TINIEST) for level, noise in zip(named, noises, strict=True)
        }
        shapes = {level: tuple(shape[named[-1].index(name)] for name in level) for level in named}

        def settle(noisy: Array) -> Array:
            parts = np.split(np.asarray(noisy, dtype=np.float64), np.cumsum([layer.nodes for layer in layers])[:-1])
            return consistent_layers(
                {level: part.reshape(shapes[level]) for level, part in zip(named, parts, strict=True)}, deviations
            )

        listed = list(product(*axes))
        return (space >> layered_counts(listed, layers, measure=type(loss))).then(settle, name="consistent counts")

    return Partial(f"hierarchical_counts({len(named)} levels, loss={loss})", build)


def _shares(count: int, weights: Sequence[Number] | None) -> list[Fraction]:
    parts = [Fraction(1)] * count if weights is None else [positive(weight, "a weight") for weight in weights]
    if len(parts) != count:
        raise BadArgument("weights", "one for each level", len(parts))
    return [weight / sum(parts, Fraction(0)) for weight in parts]


def _axes(space: Space, finest: Level, keys: Mapping[str, Sequence[Hashable]]) -> list[tuple[Hashable, ...]]:
    domain = space.domain
    if not isinstance(domain, Frame) or tuple(name for name, _ in domain.columns) != finest:
        raise BadArgument(
            "what hierarchical_counts() works on",
            f"a frame with the columns {', '.join(finest)}, in this order (project the others away)",
            str(space),
        )
    axes = []
    for name in finest:
        kind = categories(keys[name]) if name in keys else domain[name]
        if not isinstance(kind, Categories):
            raise BadArgument(f"the keys of {name}", "listed, where the column has no declared categories", None)
        axes.append(kind.values)
    return axes


def _nodes(level: Level, finest: Level, shape: tuple[int, ...]) -> tuple[Array, int]:
    """For each key of the finest level the place of its group in a coarser one, and how many groups there are."""
    if not level:
        return np.zeros(int(np.prod(shape)), dtype=np.int64), 1
    places = np.indices(shape).reshape(len(shape), -1)
    shared = [finest.index(name) for name in level]
    sizes = tuple(shape[place] for place in shared)
    return np.ravel_multi_index(tuple(places[place] for place in shared), sizes), int(np.prod(sizes))

"""Consistent counts from noisy layers: the weighted least-squares fit of nested counts, by the labels of their axes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from sfumato.core.domains import Array
from sfumato.errors import BadArgument
from sfumato.exact import Number, rational
from sfumato.release.consistency import Nesting

Axes = tuple[object, ...]
"""The labels of a layer's axes, in the order of its array."""


def consistent_layers(layers: Mapping[Axes, Array], deviations: Mapping[Axes, Number]) -> Array:
    """The counts of the finest layer that fit best to noisy counts in nested layers.

    ``layers`` maps the labels of axes to an array with those axes, in that order; the labels of each layer are among
    those of the next finer one, and () is a single total. ``deviations`` gives the standard deviation of each layer's
    noise. The result is the weighted least-squares fit to everything released: all upper layers are its sums. It costs
    no privacy.

    >>> consistent_layers({(): 10, ("half",): [4, 5]}, {(): 1, ("half",): 1}).round(4).tolist()
    [4.3333, 5.3333]
    """
    if not all(isinstance(axes, tuple) for axes in layers):
        raise BadArgument("layers", 'named by tuples of labels, such as () and ("state",)', list(layers))
    named = {axes: _layer(axes, layers[axes]) for axes in sorted(layers, key=len)}
    if not named:
        raise BadArgument("layers", "at least one", layers)
    if set(deviations) != set(named):
        raise BadArgument("deviations", "given for every layer, and for no other", sorted(map(str, deviations)))
    variances = tuple(np.full(named[axes].size, _deviation(deviations[axes]) ** 2) for axes in named)
    pairs = list(pairwise(named))
    finest = list(named)[-1]
    nesting = Nesting(tuple(_parents(named, above, below) for above, below in pairs), variances)
    return nesting.settle([values.reshape(-1) for values in named.values()]).reshape(named[finest].shape)


def _layer(axes: Axes, values: Array) -> Array:
    try:
        read = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadArgument(f"the layer {axes}", "a rectangular array of numbers", "something else") from None
    if len(set(axes)) != len(axes) or read.ndim != len(axes) or not read.size:
        raise BadArgument("a layer", "an array with as many axes as its tuple of distinct labels", axes)
    if not np.isfinite(read).all():
        raise BadArgument(f"the layer {axes}", "finite numbers", "NaN or infinity")
    return read


def _deviation(value: Number) -> float:
    try:
        deviation = float(rational(value, "a deviation"))
    except OverflowError:
        deviation = math.inf
    if not 0 < deviation < math.inf:
        raise BadArgument("a deviation", "a finite number greater than 0", value)
    return deviation


def _parents(named: Mapping[Axes, Array], above: Axes, below: Axes) -> Array:
    """For each node of a layer, the place of its sum in the layer above, whatever the order of the labels."""
    if not set(above) < set(below):
        raise BadArgument(
            "layers", "nested: the labels of each among those of the next, which has more", (above, below)
        )
    shape = named[below].shape
    kept = [below.index(label) for label in above]
    if tuple(shape[place] for place in kept) != named[above].shape:
        raise BadArgument(f"the layer {above}", f"of the shape of {below}, summed", named[above].shape)
    places = np.arange(named[above].size).reshape(named[above].shape)
    order = sorted(range(len(kept)), key=kept.__getitem__)
    aligned = places.transpose(order).reshape([n if place in kept else 1 for place, n in enumerate(shape)])
    return np.broadcast_to(aligned, shape).reshape(-1)

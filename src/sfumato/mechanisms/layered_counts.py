"""Noisy counts in several layers at once: bins, groups of bins, groups of groups, each layer with noise of its own."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import final

import numpy as np

from sfumato.accounting.facts import IntegerNoise, loss_of
from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.core.domains import Array, Data
from sfumato.core.law import Law, ProductLaw, ShiftedLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, L2, DatasetMetric, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.random_step import RandomStep
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Distance, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.gridding import exact_add
from sfumato.release.record import How
from sfumato.transforms.histogram import count_by, count_by_map
from sfumato.transforms.rows import row_space

PROOF = "proofs/trees.md#loss"

NORMS: dict[type[Loss], VectorMetric] = {Pure: L1(), ZCDP: L2()}
"""The distance on counts that decides what the noise of each kind of loss costs."""


@final
@dataclass(frozen=True, eq=False)
class Layer:
    """A way to put every bin into one of some nodes, and the noise on the counts of these nodes."""

    node_of: Array
    nodes: int
    noise: IntegerNoise


@guarantee(
    claim="every layer costs what its noise costs at the distance of a histogram of its nodes; layers compose",
    proof=PROOF,
    reviewed="85c3feb45b19",
)
def layered_loss(
    d_in: Distance,
    *,
    layers: Sequence[tuple[IntegerNoise, int]],
    measure: type[Loss],
    norm: VectorMetric,
    metric: DatasetMetric,
    size: int | None,
) -> Loss:
    """The loss of noisy counts in several layers, from the noise and the number of nodes of each."""
    parts = [
        loss_of(noise, measure, count_by_map(d_in, norm=norm, metric=metric, size=size, bins=nodes))
        for noise, nodes in layers
    ]
    return reduce(lambda spent, part: spent.then(part), parts, measure.nothing())


def shift_of(space: Space, loss: Loss, d_in: Distance, *, verb: str) -> Distance:
    """How far the counts of one layer move between neighbours, in the norm that a kind of loss asks for."""
    if type(loss) not in NORMS:
        raise BadArgument("loss", "Pure (Laplace noise) or ZCDP (Gaussian noise)", loss)
    domain, metric = row_space(space, verb)
    return count_by_map(d_in, norm=NORMS[type(loss)], metric=metric, size=domain.size, bins=2)


@constructor
def layered_counts(keys: Sequence[Hashable], layers: Sequence[Layer], *, measure: type[Loss]) -> Partial[Measurement]:
    """Counts the rows of each public key, adds the counts up in every layer, and adds that layer's noise.

    Takes:      a column or a frame, as count_by does; rows with other keys are left out of every layer
    Gives:      the noisy counts of all nodes, layer after layer, in one vector of whole numbers
    Guarantee:  the layers' losses, composed: Pure(Σ d_in / scale) or ZCDP(Σ d_in² / 2 scale²) for rows added or
                removed  (proofs/trees.md#loss)
    Cost:       one count, and some 20 to 40 ns a node
    """
    norm = NORMS[measure]
    noises = tuple((layer.noise, layer.nodes) for layer in layers)

    def build(space: Space) -> Measurement:
        domain, metric = row_space(space, "layered_counts")
        counting = space >> count_by(keys, metric=norm)

        def sums(data: Data, entropy: Entropy | None = None) -> list[Array]:
            counts = counting(data) if entropy is None else counting.function(data, entropy)
            return [layer_sums(counts, layer) for layer in layers]

        def draw(data: Data, entropy: Entropy) -> Data:
            pairs = zip(layers, sums(data, entropy), strict=True)
            return np.concatenate([noisy_sums(part, layer.noise, measure, entropy) for layer, part in pairs])

        def law(data: Data) -> Law:
            pairs = zip(layers, sums(data), strict=True)
            return ProductLaw(tuple(ShiftedLaw(layer.noise, int(count)) for layer, part in pairs for count in part))

        scales = ", ".join(f"{up(noise.scale):.6g}" for noise, _ in noises)
        return Measurement(
            source=space,
            measure=measure,
            function=draw,
            privacy_map=lambda d_in: layered_loss(
                d_in, layers=noises, measure=measure, norm=norm, metric=metric, size=domain.size
            ),
            how=How("layered counts", (("scales", scales),), steps=counting.steps, proofs=(PROOF, *counting.proofs)),
            law=law,
        )

    return Partial(f"layered_counts({len(layers)} layers)", build)


def noisy_sums(sums: Array, noise: IntegerNoise, measure: type[Loss], entropy: Entropy) -> Array:
    """Adds the noise of a layer to the counts of its nodes."""
    distance = NORMS[measure].distance
    step = RandomStep(("counts of a layer", noise), sums, distance, lambda shift: loss_of(noise, measure, shift))
    return entropy.perform(step, lambda: exact_add(sums, noise.samples(len(sums), entropy)))


def layer_sums(counts: Array, layer: Layer) -> Array:
    """Adds the counts of bins up in the nodes of a layer; exact, for no data has 2⁵³ rows."""
    return np.bincount(layer.node_of, weights=counts, minlength=layer.nodes).astype(np.int64)

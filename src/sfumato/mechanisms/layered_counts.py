"""Noisy counts in several layers at once: bins, groups of bins, groups of groups, each layer with noise of its own."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import final

import numpy as np

from sfumato.accounting.facts import loss_of
from sfumato.accounting.measures import ZCDP, Loss, Pure
from sfumato.core.act import Act
from sfumato.core.domains import Array, Data
from sfumato.core.law import Law, ProductLaw, ShiftedLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, L2, DatasetMetric, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Distance, rational_up, squared, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.gridding import exact_add
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.record import How
from sfumato.transforms.histogram import count_by, count_by_map
from sfumato.transforms.rows import row_space

PROOF = "proofs/trees.md#loss"

NORMS: dict[type[Loss], VectorMetric] = {Pure: L1(), ZCDP: L2()}
"""The distance on counts that decides what the noise of each kind of loss costs."""

LayerNoise = DiscreteLaplace | DiscreteGaussian


@final
@dataclass(frozen=True, eq=False)
class Layer:
    """Is a way to put every bin into one of some nodes, and the noise on the counts of these nodes."""

    node_of: Array
    nodes: int
    noise: LayerNoise


@guarantee(
    claim="every layer costs what its noise costs at the distance of a histogram with so many bins; layers compose",
    proof=PROOF,
    reviewed="84759a9e8241",
)
def layered_loss(
    d_in: Distance,
    *,
    layers: Sequence[tuple[LayerNoise, int]],
    measure: type[Loss],
    norm: VectorMetric,
    metric: DatasetMetric,
    size: int | None,
) -> Loss:
    """Gives the loss of noisy counts in several layers, from the noise and the number of nodes of each."""
    parts = [
        loss_of(noise, measure, count_by_map(d_in, norm=norm, metric=metric, size=size, bins=nodes))
        for noise, nodes in layers
    ]
    return reduce(lambda spent, part: spent.then(part), parts, measure.nothing())


@guarantee(
    claim="the noise whose loss at this distance is the share of the whole: ε share = shift / scale, ρ share = shift² "
    "/ 2 scale²",
    proof="proofs/trees.md#shares",
    reviewed="7a5b08c1b66f",
)
def noise_for(loss: Loss, *, share: Fraction, shift: Distance) -> LayerNoise:
    """Gives the noise that spends a share of a loss when neighbours are a distance apart."""
    moved = shift if shift > 0 else Fraction(1)
    if isinstance(loss, Pure) and isinstance(loss.epsilon, Fraction) and loss.epsilon > 0:
        return DiscreteLaplace(Fraction(rational_up(moved)) / (loss.epsilon * share))
    if isinstance(loss, ZCDP) and isinstance(loss.rho, Fraction) and loss.rho > 0:
        return DiscreteGaussian.from_square(Fraction(squared(moved)) / (2 * loss.rho * share))
    raise BadArgument("loss", "Pure or ZCDP, greater than 0 and finite", loss)


def shift_of(space: Space, loss: Loss, d_in: Distance, *, verb: str) -> Distance:
    """Gives how far the counts of one layer move between neighbours, in the norm that a kind of loss asks for."""
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
            return ProductLaw(tuple(ShiftedLaw(layer.noise, int(one)) for layer, part in pairs for one in part))

        scales = ", ".join(f"{up(noise.scale):.6g}" for noise, _ in noises)
        return Measurement(
            source=space,
            measure=measure,
            function=draw,
            privacy=lambda d_in: layered_loss(
                d_in, layers=noises, measure=measure, norm=norm, metric=metric, size=domain.size
            ),
            how=How("layered counts", (("scales", scales),), steps=counting.steps, proofs=(PROOF, *counting.proofs)),
            law=law,
        )

    return Partial(f"layered_counts({len(layers)} layers)", build)


def noisy_sums(sums: Array, noise: LayerNoise, measure: type[Loss], entropy: Entropy) -> Array:
    """Adds the noise of a layer to the counts of its nodes."""
    distance = NORMS[measure].distance
    act = Act(("counts of a layer", noise), sums, distance, lambda shift: loss_of(noise, measure, shift))
    return entropy.settle(act, lambda: exact_add(sums, noise.samples(len(sums), entropy)))


def layer_sums(counts: Array, layer: Layer) -> Array:
    """Adds the counts of bins up in the nodes of a layer; exact, for no data has 2⁵³ rows."""
    return np.bincount(layer.node_of, weights=counts, minlength=layer.nodes).astype(np.int64)

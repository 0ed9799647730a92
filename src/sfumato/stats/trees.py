"""Trees of counts over ordered bins: one release that answers every range, the distribution and its quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import final

import numpy as np

from sfumato.accounting.facts import noise_within
from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.combinators.turns import charged_at
from sfumato.core.domains import Array
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Unit
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, Several, elements
from sfumato.exact import Distance, Number, probability, rational, rational_up
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.mechanisms.layered_counts import NORMS, Layer, layered_counts, shift_of
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.consistency import Nesting
from sfumato.stats.strategies import WIDEST, Fit, Hats, Sines, Strategy
from sfumato.stats.tree_plans import Plan, best_plan
from sfumato.transforms.casts import bin_by
from sfumato.transforms.histogram import count_by
from sfumato.transforms.weighted_counts import weighted_counts


@final
@dataclass(frozen=True, eq=False)
class Tree:
    """A released tree of counts: consistent estimates for every bin, and how good their sums are.

    ``counts`` are the weighted least-squares estimates of the bins between ``edges``; they may be negative, and need
    not be whole (`consistent_counts` makes them so). Whatever it answers is post-processing and costs nothing.
    """

    edges: Array
    counts: Array
    fit: Nesting | Fit

    @property
    def total(self) -> float:
        """The estimated number of rows."""
        return float(self.counts.sum())

    def range(self, low: Number, high: Number) -> float:
        """Estimates how many rows have low <= value < high; a part of a bin gets its part of the bin's count.

        Values outside the edges were counted in the first and the last bin. Ends beyond the edges, infinite ones too,
        count as the edges.
        """
        return float(np.dot(self._within(low, high), self.counts))

    def deviation(self, low: Number, high: Number) -> float:
        """The standard deviation of the error that noise leaves in `range`."""
        return math.sqrt(self.fit.variance(self._within(low, high)))

    def cdf(self) -> Array:
        """Estimates the share of rows below each edge: rising, from 0 at the first edge to 1 at the last one."""
        sums = np.concatenate([[0.0], np.cumsum(self.counts)]).clip(0, max(self.total, 0))
        rising = (np.maximum.accumulate(sums) + np.minimum.accumulate(sums[::-1])[::-1]) / 2
        span = rising[-1] - rising[0]
        return (rising - rising[0]) / span if span > 0 else np.linspace(0, 1, len(rising))

    def quantile(self, alpha: Number) -> float:
        """Estimates the value that a share of the rows lies below, between the edges on either side of it."""
        wanted = float(probability(alpha, "alpha"))
        shares = self.cdf()
        place = min(max(int(np.searchsorted(shares, wanted, side="left")), 1), len(shares) - 1)
        step = shares[place] - shares[place - 1]
        part = (wanted - shares[place - 1]) / step if step > 0 else 0.0
        return float(self.edges[place - 1] + part * (self.edges[place] - self.edges[place - 1]))

    def _within(self, low: Number, high: Number) -> Array:
        """The part of each bin that lies in a range."""
        ends = _end(low, "low"), _end(high, "high")
        if ends[0] > ends[1]:
            raise BadArgument("a range", "in order: the lower end first", Several(low, high))
        reached = np.clip(self.edges, *np.clip(ends, self.edges[0], self.edges[-1]))
        return np.asarray(np.diff(reached) / np.diff(self.edges))

    def __repr__(self) -> str:
        ends = f"[{self.edges[0]:.6g}, {self.edges[-1]:.6g})"
        return f"Tree({len(self.counts)} bins in {ends}, total {self.total:.6g})"


@constructor
def tree(
    edges: Sequence[Number],
    *,
    loss: Loss,
    branching: int | Sequence[int] | None = None,
    d_in: Number | Unit | None = None,
) -> Partial[Measurement]:
    """Releases noisy sums of the counts of bins between public edges, and the consistent counts that fit them best.

    Takes:      a column of numbers without NaN, under any distance that counts rows; edges in rising order: with
                range(0, 101) the numbers 0 … 99 get a bin each. Values outside count in the first and the last bin.
                By default what is released has the least expected error, averaged over all ranges: sums over layers
                of nodes, or smoother weighted sums. ``branching`` asks for nodes: how many make one of the layer above,
                for all layers or from the top down
    Gives:      a `Tree`: ranges, distribution and quantiles, with the standard deviation of every range
    Guarantee:  Pure (Laplace noise) or ZCDP (Gaussian noise): the given loss at distance ``d_in``, by default that of
                neighbours  (proofs/trees.md#loss, #columns)
    Cost:       one search a row, and some 50 ns a node

    >>> from sfumato.accounting.losses.measures import Pure
    >>> from sfumato.core.space import vector
    >>> (vector(int) >> tree(range(0, 1025), loss=Pure(1))).map(1)
    Pure(epsilon=1.0)
    """
    cuts, ends = _edges(edges)
    bins = len(cuts) - 1
    wanted = branching if branching is None or isinstance(branching, int) else tuple(branching)

    def build(space: Space) -> Measurement:
        binned = space >> bin_by(cuts[1:-1])
        apart = charged_at(space, d_in)
        shift = shift_of(binned.target, loss, apart, verb="tree")
        size = binned.target.domain.size  # type: ignore[attr-defined]  # a column, or shift_of had refused it
        plan = best_plan(bins, concentrated=isinstance(loss, ZCDP), known=size is not None, branching=wanted)
        noises = [noise_within(loss.scaled(share), shift) for share in plan.shares]
        smooth = wanted is None and bins <= WIDEST and all(noise.scale >= 1 for noise in noises)
        if smooth and isinstance(loss, ZCDP) and size is None:
            return _strategy_release(binned, Sines.of(bins), loss, apart, ends, size)
        if smooth and isinstance(loss, Pure) and len(plan.widths) > 1:
            return _strategy_release(binned, Hats.of(bins, plan), loss, apart, ends, size)
        layers = [
            Layer(np.arange(bins) // width, -(-bins // width), noise)
            for width, noise in zip(plan.widths, noises, strict=True)
        ]
        released = binned >> layered_counts(range(bins), layers, measure=type(loss))
        nesting = _nesting(plan, layers, known=size is not None)
        return released.then(lambda noisy: _tree_of_layers(noisy, ends, nesting, size), name="consistent tree")

    return Partial(f"tree({bins} bins, loss={loss})", build)


def _edges(edges: Sequence[Number]) -> tuple[list[Fraction], Array]:
    """Reads edges, exactly and as floats that nobody can change."""
    try:
        with elements():
            cuts = [rational(edge, "an edge") for edge in edges]
        ends = np.array([float(cut) for cut in cuts])
    except TypeError:
        raise BadArgument("edges", "a list of numbers, such as range(0, 101)", edges) from None
    except OverflowError:
        raise BadArgument("edges", "less than 2^1024 in magnitude", "a larger one") from None
    if len(cuts) < 3 or any(left >= right for left, right in pairwise(ends.tolist())):
        raise BadArgument("edges", "at least three numbers, in rising order: two bins", len(cuts))
    ends.flags.writeable = False
    return cuts, ends


def _end(value: Number, name: str) -> float:
    """Reads an end of a range; what is beyond all floats is infinite."""
    if isinstance(value, float | np.floating) and math.isinf(value):
        return float(value)
    exact = rational(value, name)
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _strategy_release(
    binned: Transformation, strategy: Strategy, loss: Loss, apart: Distance, ends: Array, size: int | None
) -> Measurement:
    """Builds the release of a strategy's rows, with noise for the whole loss at a distance."""
    sums = weighted_counts(strategy.matrix, own=strategy.own, metric=NORMS[type(loss)])
    counted = binned >> count_by(range(len(ends) - 1)) >> sums
    scale = Fraction(rational_up(noise_within(loss, counted.stability_map(apart)).scale))
    plain = isinstance(loss, Pure)
    noisy_sums = counted >> (laplace(scale) if plain else gaussian(scale))
    fit = Fit(strategy, float((DiscreteLaplace(scale) if plain else DiscreteGaussian(scale)).variance()), size)
    return noisy_sums.then(
        lambda noisy: _tree(ends, fit.settle(np.asarray(noisy, dtype=np.float64)), fit), name="fitted tree"
    )


def _nesting(plan: Plan, layers: Sequence[Layer], *, known: bool) -> Nesting:
    variances = [np.full(layer.nodes, float(layer.noise.variance())) for layer in layers]
    parents = [
        np.arange(below.nodes) * narrow // wide
        for below, (wide, narrow) in zip(layers[1:], pairwise(plan.widths), strict=True)
    ]
    if known:
        parents.insert(0, np.zeros(layers[0].nodes, dtype=np.int64))
        variances.insert(0, np.zeros(1))
    return Nesting(tuple(parents), tuple(variances))


def _tree_of_layers(noisy: Array, ends: Array, nesting: Nesting, size: int | None) -> Tree:
    """Makes the tree of noisy counts, layer after layer, and of the total where it is public."""
    released = nesting.variances if size is None else nesting.variances[1:]
    values = np.split(np.asarray(noisy, dtype=np.float64), np.cumsum([len(layer) for layer in released])[:-1])
    counts = nesting.settle(values if size is None else [np.array([float(size)]), *values])
    return _tree(ends, counts, nesting)


def _tree(edges: Array, counts: Array, fit: Nesting | Fit) -> Tree:
    counts.flags.writeable = False
    return Tree(edges, counts, fit)

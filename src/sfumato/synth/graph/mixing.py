"""Mixtures of products that fit noisy marginals, and no more than that.

A mixture with many components follows noise as readily as data. How many to have is found out from the noise, whose
size is known: to noisy answers y of deviation σ, Gaussian noise z of the same deviation is added once and taken off
once, y + τ z and y − z / τ. The two have independent noise, so a mixture that is fitted to the first can be judged by
the second (data fission: Leiner et al. 2023, arXiv 2112.11079; Oliveira, Lei and Tibshirani 2021, arXiv 2111.09447). No
data is needed for that. Where the noise is Laplace, the two are uncorrelated only, which is enough here.

Then several mixtures are fitted to all that was measured, each from a start of its own, and averaged: what noise did to
one of them and not to others goes.

Mean total variation distance of all two-way tables, 30,000 made-up rows of 10 columns of 8 codes, all 45 pairs measured
at δ = 1e-9 (raw: noisy tables, cut at 0 and scaled):

    ========================  =============  ==============  ==============
    rows from                 ε = 0.3        ε = 1           ε = 3
    ========================  =============  ==============  ==============
    5 classes                 0.092 → 0.034  0.033 → 0.017   0.012 → 0.0095
    20 classes                0.096 → 0.056  0.033 → 0.024   0.012 → 0.0105
    a Bayesian network        0.093 → 0.060  0.033 → 0.0265  0.012 → 0.011
    3 hidden normal factors   0.085 → 0.036  0.031 → 0.018   0.012 → 0.009
    ========================  =============  ==============  ==============

A second table of 30,000 rows drawn from the first is 0.016 away. Fits of fixed size that stop once the residuals are as
large as the noise are up to a third worse, because the size that is right depends on the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.release.progress import Progress
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Floats, Measured, deviations, total_of
from sfumato.synth.graph.misfit import Misfit, Singles, merged, misfit_of
from sfumato.synth.graph.mixture import Mixture, joined, parts_of
from sfumato.synth.graph.sampling import uniform

SIZES = (1, 4, 8, 16, 32, 64, 128, 256, 512)
"""The numbers of components that are tried, until two in a row are worse than the best before."""

TRIALS, MEMBERS, MOST_COMPONENTS = 2, 8, 1024
"""So many mixtures are averaged when sizes are compared, and at most so many, of so many components, in the end."""

STEPS, EXACT_STEPS = 300, 1500
"""How often a mixture is moved, if answers are noisy and if they are exact."""

THINNING = 0.6
"""How much of the noise is added where a mixture is fitted that shall be judged: τ above."""

TRUSTS = (math.inf, 3.0, 1.0, 0.3, 0.1)
"""Tables of other rows are tried as if they had so many times the noise of what was measured; or not at all."""

SPREAD = 1.0
"""The deviation of the logarithms of shares that mixtures start from, around those of the columns by themselves."""

PULL = 3.0
"""How strongly these logarithms are drawn back: worth little, and most where little was measured."""

RATE, SLOWEST = 0.3, 0.02
"""The length of the first steps, and which part of it the last ones have; in between it falls as a cosine."""

MEMORY, SQUARES_MEMORY = 0.9, 0.99
"""How much of the mean slope, and of the mean square of it, stays from step to step (Adam: Kingma and Ba 2015)."""

LARGEST_LOGARITHM = 30.0
"""Shares differ by no more than a factor of e⁶⁰, so that their products keep their digits."""


def fit_mixture(
    domain: Domain,
    measured: Sequence[Measured],
    *,
    total: float | None = None,
    components: int | None = None,
    members: int | None = None,
    start: Mixture | None = None,
    prior: Sequence[Measured] = (),
    steps: int | None = None,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Mixture:
    """Fits a mixture of products to noisy marginals by weighted least squares.

    ``total`` is the number of rows (left out: as measured). ``components`` of each mixture and ``members`` that are
    averaged are found out if left out. With ``start``, one mixture goes on from there. ``prior`` are exact tables of
    other rows, which may be like these: how far they are trusted is found out too. ``entropy`` decides where mixtures
    start: it protects nobody, so by default it is the same each time, and so is the result.
    """
    source = entropy or ReplayEntropy(b"mixtures of products")
    known = merged(domain, measured)
    size = total_of(known) if total is None else float(total)
    if not (math.isfinite(size) and size >= 0):
        raise BadArgument("total", "a number of at least 0", total)
    size = max(size, 1.0)
    noisy = any(one.deviation > 0 for one in measured)
    many = integer(STEPS if noisy else EXACT_STEPS, "steps") if steps is None else integer(steps, "steps", least=0)
    fitter = Fitter(domain, known, size, many, PULL if noisy else 0.0, source)
    if start is not None:
        return fitter.fit_from(start)
    sizes = SIZES if components is None else (integer(components, "components", least=1),)
    if prior and noisy:
        fitter, components = fitter.best_trust(prior, sizes, progress)
    elif components is None:
        components = fitter.best_size(progress) if noisy else SIZES[-1]
    usual = min(MEMBERS, max(2, MOST_COMPONENTS // components)) if noisy and components > 1 else 1
    return fitter.fit(components, usual if members is None else integer(members, "members", least=1), progress)


@final
@dataclass(frozen=True, eq=False)
class Fitter:
    """Fits mixtures to what was measured, from starts around the columns by themselves."""

    domain: Domain
    measured: Sequence[Measured]
    total: float
    steps: int
    pull: float
    entropy: Entropy

    def fit(self, components: int, members: int, progress: Progress | None = None) -> Mixture:
        """The average of several mixtures."""
        misfit, anchor = misfit_of(self.domain, self.measured, self.total), anchor_of(self.domain, self.measured)
        made: list[Mixture] = []
        for member in range(members):
            made.append(self._fitted(misfit, anchor, self._started(anchor, components)))
            if progress is not None:
                progress(member + 1, members)
        return joined(made)

    def fit_from(self, start: Mixture) -> Mixture:
        """One mixture that goes on from another of the same columns."""
        if start.domain != self.domain:
            raise BadArgument("start", "a mixture of the same columns", "one of others")
        misfit, anchor = misfit_of(self.domain, self.measured, self.total), anchor_of(self.domain, self.measured)
        shares, weights = (np.log(np.maximum(one, 1e-12)) for one in (start.shares, start.weights))
        return self._fitted(misfit, anchor, (shares.astype(np.float32), weights.astype(np.float32)))

    def best_size(self, progress: Progress | None = None) -> int:
        """The number of components that serves best to foretell answers with other noise."""
        kept, judge = self._halves()
        return replace(self, measured=kept)._judged(judge, SIZES, progress)[0]

    def best_trust(
        self, prior: Sequence[Measured], sizes: Sequence[int], progress: Progress | None = None
    ) -> tuple[Fitter, int]:
        """How much to trust tables of other rows, and the number of components that is best then."""
        kept, judge = self._halves()
        found: list[tuple[float, Fitter, int]] = []
        for place, trust in enumerate(TRUSTS):
            size, value = replace(self, measured=self._with(prior, kept, trust))._judged(judge, sizes)
            found.append((value, replace(self, measured=self._with(prior, self.measured, trust)), size))
            if progress is not None:
                progress(place + 1, len(TRUSTS))
        _, fitter, size = min(found, key=lambda one: one[0])
        return fitter, size

    def _with(self, prior: Sequence[Measured], measured: Sequence[Measured], trust: float) -> list[Measured]:
        """What was measured, and tables of other rows scaled to as many, as if they had noise of some size."""
        if math.isinf(trust):
            return list(measured)
        spread = trust * float(np.median(deviations(measured)))
        scaled = [one.counts * (self.total / max(one.counts.sum(), 1.0)) for one in prior]
        added = [replace(one, counts=counts, deviation=spread) for one, counts in zip(prior, scaled, strict=True)]
        return merged(self.domain, [*measured, *added])

    def _halves(self) -> tuple[list[Measured], Misfit]:
        """Answers to fit to, and the misfit to others to judge by."""
        spreads = deviations(self.measured)
        both = [self._split(one, spread) for one, spread in zip(self.measured, spreads, strict=True)]
        return [kept for kept, _ in both], misfit_of(self.domain, [judged for _, judged in both], self.total)

    def _judged(self, judge: Misfit, sizes: Sequence[int], progress: Progress | None = None) -> tuple[int, float]:
        """The best of some numbers of components, and how it was judged."""
        best, least, worse = sizes[0], math.inf, 0
        for place, size in enumerate(sizes):
            mixture = self.fit(size, TRIALS if size > 1 else 1)
            value, _, _ = judge.at(mixture.weights.astype(np.float32), mixture.shares.astype(np.float32))
            best, least, worse = (size, value, 0) if value < least else (best, least, worse + 1)
            if progress is not None:
                progress(place + 1, len(sizes))
            if worse == 2:
                break
        return best, least

    def _split(self, one: Measured, spread: float) -> tuple[Measured, Measured]:
        """Two answers whose noise has nothing to do with each other."""
        noise = spread * normal(one.counts.size, self.entropy).reshape(one.counts.shape)
        kept = replace(one, counts=one.counts + THINNING * noise, deviation=spread * math.hypot(1, THINNING))
        return kept, replace(one, counts=one.counts - noise / THINNING, deviation=spread)

    def _started(self, anchor: Singles, components: int) -> tuple[Singles, Singles]:
        moved = SPREAD * normal(components * anchor.size, self.entropy).reshape(components, -1)
        spread = moved if components > 1 else np.zeros_like(moved)
        return (anchor[None, :] + spread).astype(np.float32), np.zeros(components, np.float32)

    def _fitted(self, misfit: Misfit, anchor: Singles, start: tuple[Singles, Singles]) -> Mixture:
        descent = Descent(misfit, anchor, self.pull, blocks_of(self.domain))
        weights, shares = descent.run(*start, steps=self.steps)
        exact = shares.astype(np.float64)
        for part in parts_of(self.domain):
            exact[:, part] /= exact[:, part].sum(axis=1, keepdims=True)
        return Mixture(self.domain, self.total, weights.astype(np.float64), exact)


@final
@dataclass(frozen=True, eq=False)
class Descent:
    """Moves the logarithms of weights and shares downhill, with momentum and steps that grow shorter (Adam)."""

    misfit: Misfit
    anchor: Singles
    pull: float
    blocks: Singles

    def run(self, logarithms: Singles, weighing: Singles, *, steps: int) -> tuple[Singles, Singles]:
        """The weights and shares after so many steps."""
        point = np.hstack([logarithms, weighing[:, None]])
        mean, square = np.zeros_like(point), np.zeros_like(point)
        for step in range(1, steps + 1):
            slope = self.slope(point)
            mean += (1 - MEMORY) * (slope - mean)
            slope *= slope
            square += (1 - SQUARES_MEMORY) * (slope - square)
            rate = RATE * (SLOWEST + (1 - SLOWEST) * 0.5 * (1 + math.cos(math.pi * step / steps)))
            moves = np.sqrt(square / (1 - SQUARES_MEMORY**step))
            moves += 1e-10
            np.divide(mean, moves, out=moves)
            moves *= rate / (1 - MEMORY**step)
            point -= moves
            np.clip(point, -LARGEST_LOGARITHM, LARGEST_LOGARITHM, out=point)
        return self.shown(point)

    def shown(self, point: Singles) -> tuple[Singles, Singles]:
        """Weights and shares of a point."""
        raised = np.exp(point[:, :-1])
        raised /= (raised @ self.blocks) @ self.blocks.T
        weights = np.exp(point[:, -1] - point[:, -1].max())
        return weights / weights.sum(), raised

    def slope(self, point: Singles) -> Singles:
        """The slopes of the misfit by the logarithms, with the pull to the columns by themselves."""
        weights, shares = self.shown(point)
        _, by_weights, by_shares = self.misfit.at(weights, shares)
        slope = np.empty_like(point)
        by_shares *= shares
        by_shares -= shares * ((by_shares @ self.blocks) @ self.blocks.T)
        if self.pull:
            by_shares += (self.pull * weights)[:, None] * (point[:, :-1] - self.anchor)
        slope[:, :-1] = by_shares
        slope[:, -1] = weights * (by_weights - weights @ by_weights)
        return slope


def blocks_of(domain: Domain) -> Singles:
    """Which codes belong to which column, as a matrix of ones and zeros."""
    return np.repeat(np.eye(len(domain.names), dtype=np.float32), domain.sizes, axis=0)


def anchor_of(domain: Domain, measured: Sequence[Measured]) -> Singles:
    """The logarithms of shares that columns have by themselves, by all tables that tell of them; else uniform ones."""
    shares: list[Floats] = []
    for name, size in zip(domain.names, domain.sizes, strict=True):
        summed, precision = np.zeros(size), 0.0
        for one, spread in zip(measured, deviations(measured), strict=True):
            if one.queries is None and name in one.columns:
                place = one.columns.index(name)
                counts = one.counts.sum(axis=tuple(axis for axis in range(one.counts.ndim) if axis != place))
                weight = size / one.counts.size / spread**2
                summed, precision = summed + weight * counts, precision + weight
        counts = np.maximum(summed / precision if precision else np.ones(size), 0.0)
        floor = max(counts.sum(), 1.0) * 1e-3 / size
        shares.append(np.log((counts + floor) / (counts + floor).sum()))
    return np.concatenate(shares).astype(np.float32)


def normal(count: int, entropy: Entropy) -> Floats:
    """Draws standard normal numbers by the rule of Box and Muller; good enough for starts, and never for a release."""
    radius = np.sqrt(-2 * np.log1p(-uniform(count, entropy)))
    return np.asarray(radius * np.cos(2 * math.pi * uniform(count, entropy)))

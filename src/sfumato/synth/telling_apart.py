"""Whether synthetic rows can be told from real ones: the propensity score of a model, and what it is by chance.

The mean squared error of propensities (pMSE) is that of Snoke, Raab, Nowok, Dibben and Slavković 2018 (arXiv
1604.06651). By chance, for a logistic model without a penalty whose terms have rank k, of N rows with a share c of
synthetic ones: the weights are about normal around 0 with covariance (c(1−c)XᵀX)⁻¹, so that N·pMSE is about c(1−c)
times a χ² number with k−1 degrees of freedom where both tables are samples of one population. (Theirs has (1−c)² c:
there the real rows are given, and synthetic ones are drawn from a model fitted to them.)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, MissingExtra
from sfumato.release.render.document import Document, Table
from sfumato.synth.counting import Floats, Rows
from sfumato.synth.holder import Basis, Judgement

MOST_ROWS = 20_000
"""Of more rows so many of either table are drawn: a model of more would say the same, later."""

MOST_TERMS = 3000
"""A model of more terms is refused."""

STEPS, CLOSE = 60, 1e-9


@final
@dataclass(frozen=True, eq=False, repr=False)
class Propensity(Judgement):
    """How well a logistic model tells synthetic rows from real ones.

    ``error`` is the mean squared distance of propensities from the share of synthetic rows (pMSE): 0 where they cannot
    be told apart, 1/4 at most where the tables are of one size. Two samples of one population have ``expected``, give
    or take ``deviation``.
    """

    error: float
    expected: float
    deviation: float
    terms: int
    ways: int
    basis: Basis = Basis.HELD

    @property
    def ratio(self) -> float:
        """The error over that of two samples of one population: about 1 is indistinguishable by this model."""
        return self.error / self.expected if self.expected else float("inf")

    @property
    def standardized(self) -> float:
        """How many deviations the error is above that of two samples of one population."""
        return (self.error - self.expected) / self.deviation if self.deviation else float("inf")

    def document(self) -> Document:
        """The error beside its null expectation, for any form."""
        rows = (
            ("pMSE", f"{self.error:.3g}"),
            ("of two samples of one population", f"{self.expected:.3g} ± {self.deviation:.2g}"),
            ("ratio; about 1 cannot be told apart", f"{self.ratio:.3g}"),
            ("model", f"logistic, {self.terms} terms, of {self.ways} column{'s' * (self.ways > 1)} at a time"),
        )
        said = f"told from real rows {self.ratio:.3g} × as well as by chance"
        return Document("Propensity scores", said, "", self.basis.marks, tables=(Table(rows),))


def propensity(
    real: Rows, synthetic: Rows, *, ways: int = 1, basis: Basis = Basis.HELD, entropy: Entropy | None = None
) -> Propensity:
    """Fits a logistic model that tells synthetic rows from real ones, of each column or of all pairs of them.

    A model of single columns sees nothing of how they hang together: ask for ``ways=2`` where columns have few codes.
    """
    if ways not in (1, 2):
        raise BadArgument("ways", "1 or 2", ways)
    if min(len(real.codes), len(synthetic.codes)) < 2:
        raise BadArgument("real and synthetic", "tables of at least two rows", min(real.total, synthetic.total))
    source = entropy or system()
    tables = [some_rows(side, MOST_ROWS, source) for side in (real, synthetic)]
    terms = _terms(np.concatenate([side.codes for side in tables]), real, ways)
    labels = np.repeat([0.0, 1.0], [len(side.codes) for side in tables])
    share = float(labels.mean())
    chances = _logistic(terms, labels)
    freedom, rows = int(np.linalg.matrix_rank(terms.T @ terms)) - 1, len(labels)
    unit = (1 - share) * share / rows
    error = float(np.mean((chances - share) ** 2))
    return Propensity(error, freedom * unit, sqrt(2 * freedom) * unit, terms.shape[1], ways, basis)


def some_rows(table: Rows, most: int, entropy: Entropy) -> Rows:
    """A table with at most so many of its rows, drawn without replacement."""
    if len(table.codes) <= most:
        return table
    return Rows(table.domain, table.codes[np.argsort(entropy.words(len(table.codes)))[:most]])


def indicators(codes: NDArray[Any], sizes: tuple[int, ...]) -> Floats:
    """A column of ones and zeros for every code of every column, but the first of each."""
    parts = [codes[:, [place]] == np.arange(1, size) for place, size in enumerate(sizes)]
    return np.hstack(parts).astype(np.float64)


def classifiers() -> Any:
    """Loads scikit-learn's linear models, or says which extra brings them."""
    try:
        from sklearn import linear_model
    except ImportError:
        raise MissingExtra("models that judge synthetic data", "synth") from None
    return linear_model


def _terms(codes: NDArray[Any], table: Rows, ways: int) -> Floats:
    """A constant, the codes of columns, and where pairs are asked for their products; those that vary."""
    sizes = table.domain.sizes
    count = sum(size - 1 for size in sizes)
    count += sum((a - 1) * (b - 1) for a, b in combinations(sizes, 2)) if ways == 2 else 0
    if count > MOST_TERMS:
        raise BadArgument("ways", f"of a model of at most {MOST_TERMS} terms; this one has {count}", ways)
    parts = [np.ones((len(codes), 1)), indicators(codes, sizes)]
    if ways == 2:
        own = [indicators(codes[:, [place]], (size,)) for place, size in enumerate(sizes)]
        parts += [(a[:, :, None] * b[:, None, :]).reshape(len(codes), -1) for a, b in combinations(own, 2)]
    terms = np.hstack(parts)
    kept = terms.any(axis=0) & ~np.all(terms == 1, axis=0)
    kept[0] = True
    return np.asarray(terms[:, kept])


def _logistic(terms: Floats, labels: Floats) -> Floats:
    """The chances of a logistic model, by Newton's method with a ridge that only keeps it from infinity."""
    weights = np.zeros(terms.shape[1])
    ridge = 1e-6 * np.eye(terms.shape[1])
    chances = np.full(len(labels), float(labels.mean()))
    weights[0] = np.log(chances[0] / (1 - chances[0]))
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-np.clip(terms @ weights, -30, 30)))
        slope = terms.T @ (labels - chances) - 1e-6 * weights
        curve = (terms * (chances * (1 - chances))[:, None]).T @ terms + ridge
        step = np.linalg.solve(curve, slope)
        weights = weights + step * min(1.0, 5.0 / max(float(np.abs(step).max()), CLOSE))
        if float(np.abs(step).max()) < 1e-6:
            break
    return np.asarray(chances)

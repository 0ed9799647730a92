"""Cases of clusters, and of means and deviations: what everybody finds, and how wrong it is; numpy and scikit-learn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias, final

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from contenders.learn.cases import EPSILONS, Array, between_ends
from side_by_side.stopwatch import report

FITS = 20
LOADERS = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}


def drawn(data: str, many: int) -> Array:
    """Rows in [−1, 1]: "wine 5" has the first five columns of wine, "1000×3" is made up, as clouds of unequal sizes."""
    if "×" in data:
        size, width = (int(part) for part in data.split("×"))
        random = np.random.default_rng([size, width, many])
        middles, share = random.uniform(-0.8, 0.8, (many, width)), random.uniform(0.5, 1.5, many)
        chosen = random.choice(many, size, p=share / share.sum())
        return np.clip(middles[chosen] + 0.12 * random.normal(size=(size, width)), -1, 1)
    name, _, width_said = data.partition(" ")
    rows = LOADERS[name]().data
    return between_ends(rows[:, : int(width_said)] if width_said else rows)


@final
@dataclass(frozen=True)
class Clusters:
    """Asks for the centres of some clusters."""

    data: str
    many: int
    epsilon: float

    kind: ClassVar[str] = "clusters"

    @property
    def name(self) -> str:
        """Says in a few words what is asked."""
        return f"{self.data} k={self.many} ε={self.epsilon:g}"

    @cached_property
    def held(self) -> Array:
        """The rows."""
        return drawn(self.data, self.many)

    @cached_property
    def best(self) -> float:
        """The sum of squared distances of k-means without privacy."""
        return float(KMeans(self.many, n_init=10, random_state=0).fit(self.held).inertia_)

    def error(self, answer: Array) -> float:
        """The sum of squared distances from the nearest centres, over that of k-means without privacy."""
        squares = [((self.held - centre) ** 2).sum(axis=1) for centre in answer]
        return float(np.min(squares, axis=0).sum()) / self.best


@final
@dataclass(frozen=True)
class Scales:
    """Asks for the means and the deviations of columns."""

    data: str
    epsilon: float

    kind: ClassVar[str] = "scales"

    @property
    def name(self) -> str:
        """Says in a few words what is asked."""
        return f"{self.data} ε={self.epsilon:g}"

    @cached_property
    def held(self) -> Array:
        """The rows."""
        return drawn(self.data, 3)

    def error(self, answer: Array) -> float:
        """The root of the mean squared error of all means and deviations, in halves of the width of the bounds."""
        right = np.stack([self.held.mean(axis=0), self.held.std(axis=0)])
        return float(np.sqrt(np.mean((answer - right) ** 2)))


Found: TypeAlias = Clusters | Scales

DATA = (("iris", 3), ("wine", 3), ("wine 5", 3), ("cancer 10", 2), ("1000×2", 4), ("1000×5", 3), ("10000×2", 8))
MORE = (("10000×5", 5), ("100000×10", 5))
CLUSTERS = [Clusters(data, many, epsilon) for data, many in (*DATA, *MORE) for epsilon in EPSILONS]
SCALES = [Scales(data, epsilon) for data in ("iris", "wine", "cancer 10", "1000×5", "10000×5") for epsilon in EPSILONS]
CASES: list[Found] = [*CLUSTERS, *SCALES]


def trial(case: Found, *, way: str, fit: Callable[[], Array]) -> None:
    """Reports the mean error of a case, its standard error as a share of it, and the processor time of a fit."""
    found, begun = [], time.process_time()
    for _ in range(FITS if len(case.held) < 50_000 else FITS // 4):
        found.append(case.error(np.asarray(fit(), dtype=np.float64)))
    seconds = (time.process_time() - begun) / len(found)
    error = float(np.mean(found))
    spread = float(np.std(found, ddof=1)) / len(found) ** 0.5 / error
    facts = {"kind": case.kind, "way": way, "error": error, "spread": spread}
    report(case.name, **facts, runs=len(found), seconds=seconds)

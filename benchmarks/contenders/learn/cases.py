"""What every contender fits, on which data, and how wrong a fit is: a class for each kind of model.

It needs numpy and scikit-learn's data sets only, since it is imported in all environments. All columns are moved into
[−1, 1] by bounds that are rounded outwards from the data, the same for everybody. Data come from fixed seeds or from
scikit-learn; noise never does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, TypeAlias, final

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

EPSILONS = (0.1, 1.0, 10.0)
SPREAD = 0.2
"""The deviation of made-up targets around their line, where the bounds are −1 and 1."""

LOADERS = {"diabetes": load_diabetes, "wine": load_wine, "cancer": load_breast_cancer}


def between_ends(columns: Array) -> Array:
    """Moves columns into [−1, 1], by bounds a twentieth wider than what they hold."""
    low, high = columns.min(axis=0), columns.max(axis=0)
    slack = (high - low) / 40
    return np.asarray(2 * (columns - low + slack) / (high - low + 2 * slack) - 1)


def made_up(size: int, width: int, place: int = 0) -> tuple[Array, Array, Array]:
    """Rows, targets and the slopes of the population that they are drawn from; no target is near its bounds."""
    random = np.random.default_rng([size, width, place])
    slopes = random.normal(0, 0.5 / width**0.5, width)
    rows = random.uniform(-1, 1, (size, width))
    target = rows @ slopes + random.normal(0, SPREAD, size)
    return rows, np.clip(target, -2, 2) / 2, slopes / 2


def like_california() -> tuple[Array, Array]:
    """As many districts as there are in California, made up: skewed sizes, two places, and a price with a lid on it."""
    random = np.random.default_rng(20_640)
    income = random.gamma(4, 1, 20_640)
    age, rooms = random.uniform(1, 52, 20_640), np.exp(random.normal(1.6, 0.3, 20_640)) + income / 4
    crowd = np.exp(random.normal(7, 0.8, 20_640))
    north = random.random(20_640) < 0.4
    places = np.where(north, 37.7, 34.0) + random.normal(0, 0.9, 20_640), np.where(north, -122.0, -118.2)
    rows = np.stack([income, age, rooms, rooms / 5, crowd, 3 + random.gamma(2, 0.3, 20_640), *places], axis=1)
    price = 0.4 * income + 0.01 * age + 0.3 * north + random.normal(0, 0.6, 20_640)
    return rows, np.clip(price, 0.15, 5)


@cache
def drawn(data: str) -> tuple[Array, Array]:
    """Rows and targets: "wine 5" has the first five columns of wine, "1000×3" is made up, as is "california"."""
    if data == "california":
        rows, target = like_california()
        return between_ends(rows), between_ends(target)
    if "×" in data:
        size, width = (int(part) for part in data.split("×"))
        rows, target, _ = made_up(size, width)
        return rows, target
    name, _, width_said = data.partition(" ")
    options = {"scaled": False} if name == "diabetes" else {}
    rows, target = LOADERS[name](return_X_y=True, **options)
    chosen = rows[:, : int(width_said)] if width_said else rows
    return between_ends(chosen), between_ends(target.astype(np.float64))


@final
@dataclass(frozen=True)
class Linear:
    """Asks for the intercept and the slopes of a line."""

    data: str
    epsilon: float
    kind: str = "linear"

    @property
    def name(self) -> str:
        """Says in a few words what is asked."""
        return f"{self.data} ε={self.epsilon:g}"

    @property
    def held(self) -> tuple[Array, Array]:
        """The rows and their targets."""
        return drawn(self.data)

    @cached_property
    def best(self) -> float:
        """The mean squared error of least squares."""
        rows, target = self.held
        whole = np.concatenate([np.ones((len(rows), 1)), rows], axis=1)
        made = whole @ np.linalg.lstsq(whole, target, rcond=None)[0]
        return float(np.mean((target - np.clip(made, -1, 1)) ** 2))

    def excess(self, answer: Array) -> float:
        """The mean squared error over that of least squares, on the rows themselves.

        Predictions are moved into the bounds of the target, which are public: some fits have no limit at all.
        """
        rows, target = self.held
        return float(np.mean((target - np.clip(answer[0] + rows @ answer[1:], -1, 1)) ** 2)) - self.best


@final
@dataclass(frozen=True)
class Components:
    """Asks for some principal components."""

    data: str
    many: int
    epsilon: float

    kind: ClassVar[str] = "pca"

    @property
    def name(self) -> str:
        """Says in a few words what is asked."""
        return f"{self.data} k={self.many} ε={self.epsilon:g}"

    @cached_property
    def held(self) -> Array:
        """The rows; what is made up has components of very different sizes."""
        rows = drawn(self.data)[0]
        if "×" not in self.data:
            return rows
        turned = np.linalg.qr(np.random.default_rng(3).normal(size=(rows.shape[1], rows.shape[1])))[0]
        return between_ends(rows * 0.7 ** np.arange(rows.shape[1]) @ turned)

    def excess(self, answer: Array) -> float:
        """The share of the variance that the best components have and these have not."""
        covariance = np.cov(self.held.T)
        span = np.linalg.qr(answer.T)[0]
        best = np.linalg.eigvalsh(covariance)[::-1][: self.many].sum()
        return float((best - np.trace(span.T @ covariance @ span)) / np.trace(covariance))


Case: TypeAlias = Linear | Components

ON_LINES = (
    "diabetes 4",
    "diabetes",
    "california",
    "1000×3",
    "1000×10",
    "10000×3",
    "10000×10",
    "100000×3",
    "100000×10",
    "1000000×5",
)
ONE_PREDICTOR = ("1000×1", "10000×1")
ON_COMPONENTS = (("wine", 2), ("cancer 10", 2), ("cancer", 3), ("1000×5", 2), ("10000×10", 3), ("100000×10", 3))

LINEAR = [Linear(data, epsilon) for data in ON_LINES for epsilon in EPSILONS]
ROBUST = [Linear(data, epsilon, "robust") for data in ONE_PREDICTOR for epsilon in EPSILONS]
COMPONENTS = [Components(data, many, epsilon) for data, many in ON_COMPONENTS for epsilon in EPSILONS]
CASES: list[Case] = [*LINEAR, *ROBUST, *COMPONENTS]

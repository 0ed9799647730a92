"""How models are given to attacks: anything that is fitted to rows and labels and then says how sure it is."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument

Rows: TypeAlias = NDArray[np.float64]
"""One row for each record, one column for each attribute."""

Labels: TypeAlias = NDArray[np.int64]
"""One class for each record, counted from 0."""

Predict: TypeAlias = Callable[[Rows], NDArray[np.float64]]
"""Is a fitted model: gives each row's probability of every class, a column for each."""

Labelled: TypeAlias = "tuple[ArrayLike, ArrayLike] | Sample"
"""Is rows and their labels."""


class Estimator(Protocol):
    """Is a model in the manner of scikit-learn; it is copied before it is fitted."""

    def fit(self, rows: Rows, labels: Labels) -> object:
        """Fits the model to rows and labels."""

    def predict_proba(self, rows: Rows) -> NDArray[np.float64]:
        """Gives each row's probability of every class."""


Fit: TypeAlias = Callable[[Rows, Labels, Entropy], Predict] | Estimator
"""Is how a model is trained; what it draws, it draws from the entropy that it is given."""

SURE = 1e-9
"""Confidences are kept this far from 0 and 1 before they are put on the scale of logarithmic odds."""


@final
@dataclass(frozen=True, eq=False)
class Sample:
    """Is some records with their labels."""

    rows: Rows
    labels: Labels

    @classmethod
    def read(cls, given: Labelled, name: str) -> Sample:
        """Reads a pair of rows and labels; errors tell shapes, never data."""
        if isinstance(given, Sample):
            return given
        must = "a pair of rows, a table of numbers, and as many labels, whole numbers from 0 on"
        try:
            rows, labels = (np.asarray(part) for part in given)
            table = rows.astype(np.float64)
        except (TypeError, ValueError):
            raise BadArgument(name, must, type(given).__name__) from None
        if table.ndim != 2 or labels.shape != table.shape[:1]:
            raise BadArgument(name, must, (rows.shape, labels.shape))
        if labels.dtype.kind not in "biu" or (labels.size and labels.min() < 0):
            raise BadArgument(name, must, f"labels of type {labels.dtype}, or below 0")
        return cls(table, labels.astype(np.int64))

    def __len__(self) -> int:
        return len(self.labels)

    def taken(self, places: NDArray[Any]) -> Sample:
        """Gives the records at some places, or those that a mask marks."""
        return Sample(self.rows[places], self.labels[places])

    def joined(self, other: Sample) -> Sample:
        """Gives these records and then others."""
        if self.rows.shape[1] != other.rows.shape[1]:
            raise BadArgument("the rows of all samples", "of one width", (self.rows.shape[1], other.rows.shape[1]))
        return Sample(np.concatenate([self.rows, other.rows]), np.concatenate([self.labels, other.labels]))


def divided(rows: ArrayLike, labels: ArrayLike, *, entropy: Entropy | None = None) -> tuple[Sample, Sample]:
    """Tosses a coin for every record: heads are members, tails outsiders.

    Records join independently of each other, so that what a model may cost one added or removed record caps every
    attack on its members.

    >>> inside, outside = divided([[0.1], [0.4], [0.7]], [0, 0, 1])
    >>> len(inside) + len(outside)
    3
    """
    everyone = several((rows, labels), "rows and labels", least=0)
    heads = coins(len(everyone), entropy or system())
    return everyone.taken(heads), everyone.taken(~heads)


def several(given: Labelled, name: str, *, least: int = 2) -> Sample:
    """Reads a sample that must not be too small."""
    sample = Sample.read(given, name)
    if len(sample) < least:
        raise BadArgument(name, f"at least {least} records", len(sample))
    return sample


def trained(fit: Fit, sample: Sample, entropy: Entropy) -> Predict:
    """Fits a fresh model to a sample."""
    if hasattr(fit, "predict_proba"):
        model: Any = copy.deepcopy(fit)
        model.fit(sample.rows, sample.labels)
        return _by_class(model)
    if not callable(fit):
        raise BadArgument("fit", "a function of rows, labels and entropy, or a model with fit and predict_proba", fit)
    return fit(sample.rows, sample.labels, entropy)


def _by_class(model: Any) -> Predict:
    """Puts the columns of a model, which knows only the classes that it saw, where their classes stand."""
    known = getattr(model, "classes_", None)
    if known is None:
        return lambda rows: np.asarray(model.predict_proba(rows))
    places = np.asarray(known).astype(np.int64)

    def predict(rows: Rows) -> NDArray[np.float64]:
        found = np.zeros((len(rows), int(places.max()) + 1))
        found[:, places] = model.predict_proba(rows)
        return found

    return predict


def probabilities(predict: Predict, rows: Rows, classes: int) -> NDArray[np.float64]:
    """Asks a model for the probabilities of so many classes; what it does not know, or say, has none."""
    told = np.asarray(predict(rows), dtype=np.float64)
    if told.ndim != 2 or len(told) != len(rows):
        raise BadArgument("what a model predicts", f"a table with a row for each of {len(rows)} records", told.shape)
    found = np.zeros((len(rows), max(classes, told.shape[1])))
    found[:, : told.shape[1]] = np.clip(np.nan_to_num(told, nan=0.0), 0.0, 1.0)
    return found


def confidences(predict: Predict, sample: Sample) -> NDArray[np.float64]:
    """Gives how sure a model is of the true label of each record."""
    if not len(sample):
        return np.zeros(0)
    told = probabilities(predict, sample.rows, int(sample.labels.max()) + 1)
    return np.asarray(told[np.arange(len(sample)), sample.labels])


def log_odds(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Puts confidences on the scale of logarithmic odds, where those of one record are about Gaussian."""
    kept = np.clip(confidence, SURE, 1 - SURE)
    return np.asarray(np.log(kept) - np.log1p(-kept))


def coins(count: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Flips so many fair coins."""
    return np.asarray(entropy.halves(count) & np.uint16(1), dtype=np.bool_)


def fractions(count: int, entropy: Entropy) -> Rows:
    """Draws numbers between 0 and 1, 1 excluded, evenly."""
    return np.asarray((entropy.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53)

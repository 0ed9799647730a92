"""How models are given to attacks: anything that is fitted to rows and labels and then says how sure it is."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.attacks.reading import floats
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, Several

Rows: TypeAlias = NDArray[np.float64]
"""One row for each record, one column for each attribute."""

Labels: TypeAlias = NDArray[np.int64]
"""One class for each record, counted from 0."""

Predict: TypeAlias = Callable[[Rows], NDArray[np.float64]]
"""A fitted model: from rows to the probability of every class, a column for each."""

Labelled: TypeAlias = "tuple[ArrayLike, ArrayLike] | Sample"
"""Rows and their labels."""


class Estimator(Protocol):
    """A model in the manner of scikit-learn; it is copied before it is fitted."""

    def fit(self, rows: Rows, labels: Labels) -> object:
        """Fits the model to rows and labels."""

    def predict_proba(self, rows: Rows) -> NDArray[np.float64]:
        """Each row's probability of every class."""


Fit: TypeAlias = Callable[[Rows, Labels, Entropy], Predict] | Estimator
"""How a model is trained; what it draws, it draws from the entropy that it is given."""

SURE = 1e-9
"""Confidences are kept this far from 0 and 1 before they are put on the scale of logarithmic odds."""


SLACK = 1e-6
"""Probabilities may miss 0 and 1 by this much: models compute in floating point."""


@final
@dataclass(frozen=True, eq=False)
class Sample:
    """Records with their labels."""

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
            raise BadArgument(name, must, Several(rows.shape, labels.shape))
        if labels.dtype.kind not in "biu" or (labels.size and labels.min() < 0):
            raise BadArgument(name, must, f"labels of type {labels.dtype}, or below 0")
        return cls(table, labels.astype(np.int64))

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Sample({len(self)} records of {self.rows.shape[1]} attributes)"

    def taken(self, places: NDArray[Any]) -> Sample:
        """The records at some places, or those that a mask marks."""
        return Sample(self.rows[places], self.labels[places])

    def joined(self, other: Sample) -> Sample:
        """Appends other records, of the same width."""
        return Sample(np.concatenate([self.rows, other.rows]), np.concatenate([self.labels, other.labels]))


def divided(rows: ArrayLike, labels: ArrayLike, *, entropy: Entropy | None = None) -> tuple[Sample, Sample]:
    """Tosses a coin for every record: heads are members, tails outsiders.

    Records join independently of each other, so that what a model may cost one added or removed record caps every
    attack on its members.

    >>> inside, outside = divided([[0.1], [0.4], [0.7]], [0, 0, 1])
    >>> len(inside) + len(outside)
    3
    """
    everyone = Sample.read((rows, labels), "rows and labels")
    heads = coins(len(everyone), entropy or system())
    return everyone.taken(heads), everyone.taken(~heads)


def read_samples(**given: Labelled) -> list[Sample]:
    """Reads samples by their names, each of two records or more, all of them with the same attributes."""
    samples = [Sample.read(pair, name) for name, pair in given.items()]
    for name, sample in zip(given, samples, strict=True):
        if len(sample) < 2:
            raise BadArgument(name, "at least 2 records", len(sample))
    same_width(f"the rows of {', '.join(given)}", *(sample.rows for sample in samples))
    return samples


def same_width(name: str, *tables: Rows) -> None:
    """Refuses rows with different numbers of attributes, which arithmetic might fit to each other in silence."""
    widths = [table.shape[1] for table in tables]
    if len(set(widths)) > 1:
        raise BadArgument(name, "of one width", widths)


def fit_model(fit: Fit, sample: Sample, entropy: Entropy) -> Predict:
    """Fits a fresh model to a sample."""
    if hasattr(fit, "predict_proba") and hasattr(fit, "fit"):
        model: Any = copy.deepcopy(fit)
        model.fit(sample.rows, sample.labels)
        return _by_class(model)
    if not callable(fit):
        raise BadArgument("fit", "a function of rows, labels and entropy, or a model with fit and predict_proba", fit)
    predict = fit(sample.rows, sample.labels, entropy)
    if not callable(predict):
        raise BadArgument("what fit returns", "a function that gives each row's probabilities", type(predict).__name__)
    return predict


def _by_class(model: Any) -> Predict:
    """Puts the columns of a model, which knows only the classes that it saw, where their classes stand."""
    known = getattr(model, "classes_", None)
    if known is None:
        return lambda rows: _ask_model(model.predict_proba, rows)
    places = np.asarray(known).astype(np.int64)

    def predict(rows: Rows) -> NDArray[np.float64]:
        by_class = np.zeros((len(rows), int(places.max()) + 1))
        by_class[:, places] = _ask_model(model.predict_proba, rows, columns=len(places))
        return by_class

    return predict


def probabilities(predict: Predict, rows: Rows, classes: int) -> NDArray[np.float64]:
    """Asks a model for the probabilities of at least ``classes`` classes; those that it does not know have none."""
    if not callable(predict):
        raise BadArgument("predict", "a function that gives each row's probabilities", type(predict).__name__)
    known = _ask_model(predict, rows)
    padded = np.zeros((len(rows), max(classes, known.shape[1])))
    padded[:, : known.shape[1]] = known
    return padded


def _ask_model(predict: Predict, rows: Rows, *, columns: int | None = None) -> NDArray[np.float64]:
    """Asks a model, and refuses what no table of probabilities can be."""
    what, predicted = "what a model predicts", floats(predict(rows), "what a model predicts")
    if predicted.ndim != 2 or len(predicted) != len(rows) or (columns is not None and predicted.shape[1] != columns):
        wide = "" if columns is None else f" and a column for each of {columns} classes"
        raise BadArgument(what, f"a table with a row for each of {len(rows)} records{wide}", predicted.shape)
    clipped = np.clip(predicted, 0.0, 1.0)
    if not (abs(predicted - clipped) <= SLACK).all():
        raise BadArgument(what, "probabilities, between 0 and 1", "others, or NaN")
    return clipped


def confidences(predict: Predict, sample: Sample) -> NDArray[np.float64]:
    """How sure a model is of the true label of each record."""
    if not len(sample):
        return np.zeros(0)
    predicted = probabilities(predict, sample.rows, int(sample.labels.max()) + 1)
    return np.asarray(predicted[np.arange(len(sample)), sample.labels])


def log_odds(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Puts confidences on the scale of logarithmic odds, where those of one record are about Gaussian."""
    clipped = np.clip(confidence, SURE, 1 - SURE)
    return np.asarray(np.log(clipped) - np.log1p(-clipped))


def coins(count: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Flips fair coins."""
    return np.asarray(entropy.halves(count) & np.uint16(1), dtype=np.bool_)


def fractions(count: int, entropy: Entropy) -> Rows:
    """Draws numbers between 0 and 1, 1 excluded, evenly."""
    return np.asarray((entropy.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53)

"""Whether what is learnt from synthetic rows holds of real ones: train on the synthetic, test on the real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument
from sfumato.release.render.document import Document, Table
from sfumato.synth.counting import Floats, Rows, columns_of
from sfumato.synth.holder import Basis, Judgement
from sfumato.synth.telling_apart import classifiers, indicators


class Classifier(Protocol):
    """A classifier in scikit-learn's manners."""

    classes_: NDArray[Any]

    def fit(self, rows: Any, labels: Any, /) -> Any:
        """Learns from rows and their labels."""

    def predict_proba(self, rows: Any, /) -> Floats:
        """The chance of each class, for each row."""


@final
@dataclass(frozen=True)
class Learnt:
    """How good a classifier is on real rows: area under the ROC curve (mean of classes, by rows), and accuracy."""

    area: float
    accuracy: float


@final
@dataclass(frozen=True, eq=False, repr=False)
class TrainedOnSynthetic(Judgement):
    """How well a classifier of a column does on real rows when it is trained on synthetic ones.

    ``on_real`` is the same classifier trained on other real rows, where there were some; ``guess`` the accuracy of
    always saying the commonest class.
    """

    target: str
    on_synthetic: Learnt
    on_real: Learnt | None
    guess: float
    basis: Basis = Basis.HELD

    def document(self) -> Document:
        """Both scores, for any form."""
        told = [("synthetic rows", self.on_synthetic), ("real rows", self.on_real)]
        rows = [(name, f"{one.area:.3f}", f"{one.accuracy:.3f}") for name, one in told if one is not None]
        rows.append(("the commonest class", "0.500", f"{self.guess:.3f}"))
        table = Table(tuple(rows), ("trained on", "AUC", "accuracy"), "Tested on real rows", right=frozenset({1, 2}))
        beside = "" if self.on_real is None else f"; {self.on_real.area:.3f} when trained on real rows"
        said = f"AUC {self.on_synthetic.area:.3f} for {self.target}{beside}"
        return Document("Trained on synthetic, tested on real", said, "", self.basis.marks, tables=(table,))


def trained_on_synthetic(
    synthetic: Rows,
    tested: Rows,
    target: str,
    *,
    trained: Rows | None = None,
    features: Sequence[str] | None = None,
    classifier: Any = None,
    basis: Basis = Basis.HELD,
) -> TrainedOnSynthetic:
    """Trains a classifier of one column on synthetic rows, and tests it on real ones.

    Takes:      synthetic rows, real ones to test on, and ``trained``, other real ones to train a rival on; a
                ``classifier`` in scikit-learn's manners that is not fitted, or a logistic regression
    Gives:      a `TrainedOnSynthetic`; rows to test on should not be among those that the synthetic ones were made of
    """
    (name,) = columns_of(synthetic.domain, target)
    rest = tuple(each for each in synthetic.domain.names if each != name) if features is None else tuple(features)
    used = columns_of(synthetic.domain, rest)
    if name in used:
        raise BadArgument("features", "columns other than the target", name)
    _, labels = _split(tested, name, used)
    if not len(labels):
        raise BadArgument("tested", "a table with rows", 0)
    real = None if trained is None else _learnt(trained, tested, name, used, classifier)
    own = _learnt(synthetic, tested, name, used, classifier)
    return TrainedOnSynthetic(name, own, real, float(np.bincount(labels).max() / len(labels)), basis)


def _split(table: Rows, target: str, features: Sequence[str]) -> tuple[Floats, NDArray[np.int64]]:
    places = [table.domain.names.index(name) for name in features]
    rows = indicators(table.codes[:, places], tuple(table.domain.sizes[place] for place in places))
    return rows, table.codes[:, table.domain.names.index(target)].astype(np.int64)


def _learnt(training: Rows, tested: Rows, target: str, features: Sequence[str], classifier: Any) -> Learnt:
    rows, labels = _split(training, target, features)
    asked, truth = _split(tested, target, features)
    size = training.domain.sizes[training.domain.names.index(target)]
    chances = np.zeros((len(truth), size))
    if len(np.unique(labels)) < 2:  # one class is all there is to learn
        chances[:, labels[0] if len(labels) else 0] = 1.0
    else:
        model = _fresh(classifier)
        model.fit(rows, labels)
        chances[:, np.asarray(model.classes_, dtype=np.int64)] = model.predict_proba(asked)
    present = np.bincount(truth, minlength=size)
    areas = [area_under(chances[:, code], truth == code) for code in range(size)]
    known = [(area, count) for area, count in zip(areas, present, strict=True) if 0 < count < len(truth)]
    mean = float(np.average([a for a, _ in known], weights=[c for _, c in known])) if known else 0.5
    return Learnt(mean, float(np.mean(chances.argmax(axis=1) == truth)))


def _fresh(classifier: Any) -> Any:
    if classifier is None:
        return classifiers().LogisticRegression(max_iter=500)
    from sklearn.base import clone

    return clone(classifier)


def area_under(scores: Floats, positive: NDArray[np.bool_]) -> float:
    """How often a positive row scores higher than a negative one, ties counted half; ½ where there are none of one."""
    there = int(positive.sum())
    missing = len(positive) - there
    if not there or not missing:
        return 0.5
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return float((ranks[positive].sum() - there * (there + 1) / 2) / (there * missing))

"""Private predictions against public labels: how many of them are right, and how."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.core.domains import BOOLEANS, Bounds, Data, Integers, Vector, column
from sfumato.core.metrics import L1, Absolute, Hamming
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Distance
from sfumato.guarantee import guarantee
from sfumato.transforms.distances import exchanged_rows

PROOF = "proofs/confusion.md#map"


@constructor
def true_positives(expected: Sequence[bool]) -> Partial[Transformation]:
    """Counts the positive predictions whose public label is positive too.

    Takes:      a column of yes-or-no predictions, one for each label, under the Hamming distance
    Gives:      a whole number under the absolute distance; divided by the public number of positives it is the recall
    Guarantee:  d_out = predictions changed  (proofs/confusion.md#map)
    Cost:       one pass

    >>> from sfumato.core.metrics import Hamming
    >>> from sfumato.core.space import vector
    >>> (vector(bool, size=3, metric=Hamming()) >> true_positives([True, False, True])).map(1)
    Fraction(1, 1)
    """
    labels = _labels(expected)
    most = int(labels.sum())

    def build(space: Space) -> Transformation:
        domain = _predictions(space, len(labels), "true_positives")
        return Transformation(
            space,
            Space(Integers(Bounds.read((0, most))), Absolute()),
            lambda data, _: int((_truth(data, domain) & labels).sum()),
            lambda d_in: prediction_map(d_in, size=len(labels)),
            ("count true positives",),
            (PROOF,),
        )

    return Partial("true_positives(…)", build)


@constructor
def positives(expected: Sequence[bool]) -> Partial[Transformation]:
    """Counts the positive predictions that are true and those that are false.

    Takes:      a column of yes-or-no predictions, one for each label, under the Hamming distance
    Gives:      two whole numbers, true and false positives, under the L1 distance; see `estimated_precision`
    Guarantee:  d_out = predictions changed: each counts in one of the two only  (proofs/confusion.md#map)
    Cost:       one pass

    >>> from sfumato.core.metrics import Hamming
    >>> from sfumato.core.space import vector
    >>> (vector(bool, size=3, metric=Hamming()) >> positives([True, False, True])).map(2)
    Fraction(2, 1)
    """
    labels = _labels(expected)

    def count(predicted: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.array([(predicted & labels).sum(), (predicted & ~labels).sum()], dtype=np.int64)

    def build(space: Space) -> Transformation:
        domain = _predictions(space, len(labels), "positives")
        return Transformation(
            space,
            Space(Vector(Integers(Bounds.read((0, len(labels)))), size=2), L1()),
            lambda data, _: count(_truth(data, domain)),
            lambda d_in: prediction_map(d_in, size=len(labels)),
            ("count true and false positives",),
            (PROOF,),
        )

    return Partial("positives(…)", build)


@guarantee(claim="d_out = min(d_in, number of predictions)", proof=PROOF, reviewed="0e4896029b63")
def prediction_map(d_in: Distance, *, size: int) -> Distance:
    """How far counts of positive predictions can move."""
    return exchanged_rows(d_in, metric=Hamming(), size=size)


def _labels(expected: Sequence[bool]) -> NDArray[np.bool_]:
    listed = list(expected)
    if not listed or not all(isinstance(label, bool | np.bool_) for label in listed):
        raise BadArgument("the expected labels", "a list of True and False, at least one", listed)
    return np.array(listed, dtype=np.bool_)


def _predictions(space: Space, count: int, verb: str) -> Vector:
    domain = space.domain
    fits = isinstance(domain, Vector) and domain.element == BOOLEANS and domain.size == count
    if not isinstance(domain, Vector) or not fits or not isinstance(space.metric, Hamming):
        wanted = f"{count} predictions in the order of the labels: vector(bool, size={count}, metric=Hamming())"
        raise BadArgument(f"what {verb}() works on", wanted, str(space))
    return domain


def _truth(data: Data, domain: Vector) -> NDArray[np.bool_]:
    return column(data, domain.element).astype(np.bool_)

"""Teachers: each learns from its own units, and votes for one public class on every row, whatever happens."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray

from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.guarantee import guarantee
from sfumato.noise.uniform import below_many
from sfumato.release.progress import Progress
from sfumato.train.pate.estimators import Classifier, fresh

MADE_UP = 20
"""Rows of each class that an estimator is tried on before anything is paid."""


@final
class Teachers:
    """Trained models, which never leave: nothing but their votes, as places of classes, is to be had from here."""

    def __init__(self, classes: int) -> None:
        self._classes = classes
        self._asked: list[Callable[[Any], NDArray[np.int64]]] = []

    def train(
        self, estimator: Any, rows: Any, labels: NDArray[np.int64], of: NDArray[np.int64], count: int, entropy: Entropy,
        tell: Progress,
    ) -> None:  # fmt: skip
        """Trains one teacher after another, each on the rows that are its own and with randomness of its own."""
        for teacher in range(count):
            own = np.flatnonzero(of == teacher)
            model = fresh(estimator, entropy)
            self._asked.append(learnt(model, taken(rows, own), labels[own], teacher % self._classes))
            tell(teacher + 1, count)

    def votes(self, rows: Any) -> NDArray[np.int64]:
        """How many teachers vote for each class, row by row."""
        many = len(rows)
        counts = np.zeros((many, self._classes), dtype=np.int64)
        for ask in self._asked:
            counts[np.arange(many), one_vote(ask, rows, self._classes)] += 1
        return counts

    def __repr__(self) -> str:
        return f"Teachers({len(self._asked)})"


@guarantee(
    claim="a function of the teacher's own rows and randomness, and of no other's; it never fails",
    proof="proofs/pate.md#votes",
    reviewed="3f875b0f6731",
)
def learnt(
    model: Classifier, rows: Any, labels: NDArray[np.int64], otherwise: int
) -> Callable[[Any], NDArray[np.int64]]:
    """What a teacher says of rows. Who saw one class says that one; who saw nobody, or cannot learn, a fixed one."""
    seen = np.unique(labels)
    if len(seen) < 2:
        only = int(seen[0]) if len(seen) else otherwise
        return lambda asked: np.full(len(asked), only)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # which would speak of private rows
            model.fit(rows, labels)
    except Exception:  # whatever it is, it is about private rows
        return lambda asked: np.full(len(asked), otherwise)

    def says(asked: Any) -> NDArray[np.int64]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return np.asarray(model.predict(asked), dtype=np.int64).reshape(len(asked))
        except Exception:  # as above
            return np.full(len(asked), otherwise)

    return says


@guarantee(
    claim="one class for each row, whatever a teacher says",
    proof="proofs/pate.md#votes",
    reviewed="2f9dcd6fe77b",
)
def one_vote(ask: Callable[[Any], NDArray[np.int64]], rows: Any, classes: int) -> NDArray[np.int64]:
    """A teacher's vote on each row: what is no class counts as the first or last of them."""
    return np.clip(ask(rows), 0, classes - 1)


def rehearse(estimator: Any, rows: Any, classes: int) -> None:
    """Tries an estimator on made-up rows of zeros and ones, so that what can never work is refused unpaid."""
    if not isinstance(rows, np.ndarray) or rows.dtype.kind not in "biuf":
        return
    entropy = system()
    shape = (MADE_UP * classes, *rows.shape[1:])
    bits = below_many(2, count=int(np.prod(shape)), entropy=entropy).reshape(shape).astype(rows.dtype)
    model, failed = fresh(estimator, entropy), ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(bits, np.tile(np.arange(classes), MADE_UP))
            given = np.asarray(model.predict(bits))
            failed = "" if given.shape == shape[:1] else "labels of another shape"
    except Exception as error:  # said below, by its kind alone
        failed = f"{type(error).__name__}, on made-up rows"
    if failed:
        raise BadArgument("estimator", "one that learns labels from rows of zeros and ones in the shape of X", failed)


def taken(rows: Any, places: NDArray[np.int64]) -> Any:
    """Some rows of an array or a data frame."""
    return rows.iloc[places] if hasattr(rows, "iloc") else rows[places]


def as_rows(rows: object, name: str) -> Any:
    """Rows as an array, from a tensor or a list too; data frames stay what they are."""
    if hasattr(rows, "iloc"):
        return rows
    made = rows.detach().cpu().numpy() if isinstance(rows, torch.Tensor) else np.asarray(rows)
    if made.ndim < 1:
        raise BadArgument(name, "rows: an array, a tensor, a list or a data frame", type(rows).__name__)
    return made

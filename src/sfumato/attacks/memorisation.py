"""Signs that a model remembers its training data; computed from that data without noise, so for the curator only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from sfumato.attacks.fitting import SURE, Labelled, Predict, Sample, confidences, probabilities, read_samples
from sfumato.attacks.result import Success
from sfumato.exact import integer


@final
@dataclass(frozen=True)
class Memorisation:
    """How much better a model does on the records it was trained on, and how large it is beside them."""

    trained: Success
    unseen: Success
    trained_loss: float
    unseen_loss: float
    parameters: int | None

    @property
    def gap(self) -> float:
        """The accuracy on training records less that on unseen ones."""
        return self.trained.rate - self.unseen.rate

    @property
    def loss_gap(self) -> float:
        """The mean logarithmic loss on unseen records less that on training records."""
        return self.unseen_loss - self.trained_loss

    @property
    def parameters_per_record(self) -> float | None:
        """How many parameters the model has for each training record, where their number was given."""
        return None if self.parameters is None else self.parameters / self.trained.trials

    def __str__(self) -> str:
        size = self.parameters_per_record
        lines = [
            "for the curator only: computed from private records, without noise",
            f"right on training records {self.trained}, on unseen ones {self.unseen}: a gap of {self.gap:+.3g}",
            f"mean loss {self.trained_loss:.3g} and {self.unseen_loss:.3g}: a gap of {self.loss_gap:+.3g}",
            *([] if size is None else [f"{size:.3g} parameters for each training record"]),
        ]
        return "\n".join(lines)


def memorisation(
    predict: Predict, members: Labelled, outsiders: Labelled, *, parameters: int | None = None
) -> Memorisation:
    """Compares a model on the records it was trained on with records that it never saw (P3-096).

    A gap, or far more parameters than records, is a warning; the lack of both is no promise.
    """
    seen, unseen = read_samples(members=members, outsiders=outsiders)
    return Memorisation(
        trained=_right(predict, seen),
        unseen=_right(predict, unseen),
        trained_loss=_mean_loss(predict, seen),
        unseen_loss=_mean_loss(predict, unseen),
        parameters=None if parameters is None else integer(parameters, "parameters", least=0),
    )


def _right(predict: Predict, sample: Sample) -> Success:
    predicted = probabilities(predict, sample.rows, int(sample.labels.max()) + 1)
    return Success(int((predicted.argmax(axis=1) == sample.labels).sum()), len(sample))


def _mean_loss(predict: Predict, sample: Sample) -> float:
    return float(-np.log(np.maximum(confidences(predict, sample), SURE)).mean())

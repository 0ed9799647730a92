"""Which way to private models: training with noise (DP-SGD) or teachers that vote (PATE), from public facts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, non_negative, positive
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table

DP_SGD, STUDENT, SERVICE, NEITHER = "DP-SGD", "PATE with a student", "PATE that answers a limited number", "neither"

MANY = 10_000
"""So many predictions, each paid for, are more than teachers can give at a loss that means anything."""


@final
@dataclass(frozen=True, repr=False)
class Advice(Displayed):
    """A way to train, why, and what all trainings together cost those who stay in the data."""

    choice: str
    reasons: tuple[str, ...]
    loss: Loss
    """Of one training."""
    trainings: int
    total: Loss
    """Of all of them, added up."""

    def document(self) -> Document:
        """The choice with its reasons, for any form."""
        rows = (
            *((("why", each) if not place else ("", each)) for place, each in enumerate(self.reasons)),
            ("one training", str(self.loss)),
            (f"{self.trainings} trainings", f"{self.total}, for whoever is in the data of all of them"),
        )
        return Document("DP-SGD or PATE", self.choice, tables=(Table(rows),))


def recommend_framework(
    *,
    loss: Loss,
    predictions: int | None = None,
    public_data: bool = False,
    black_box: bool = False,
    classification: bool = True,
    retrains_a_year: Number = 0,
    years: Number = 1,
) -> Advice:
    """Says which of DP-SGD and PATE suits, with reasons, and what retraining adds up to.

    Takes:      the ``loss`` of one training; how many ``predictions`` are needed, None for no limit; whether there are
                ``public_data`` without labels of the same kind; whether the training code is a ``black_box`` that
                cannot be changed; whether the task is ``classification``; how often a year the model is trained anew,
                on data in which people stay, and for how many ``years``
    Gives:      an `Advice`: the choice, its reasons, the loss of all trainings
    Cost:       nothing: no data are looked at

    >>> from sfumato.accounting.losses.measures import Approx
    >>> found = recommend_framework(loss=Approx(1, 1e-6), retrains_a_year=2, years=3)
    >>> found.choice, found.trainings, found.total
    ('DP-SGD', 7, Approx(epsilon=7.0, delta=7e-06))
    """
    if not isinstance(loss, Loss):
        raise BadArgument("loss", "what one training may cost, such as sf.Approx(1, 1e-6)", loss)
    wanted = None if predictions is None else integer(predictions, "predictions", least=1)
    choice, reasons = _chosen(wanted, public_data=public_data, black_box=black_box, classification=classification)
    again = math.floor(non_negative(retrains_a_year, "retrains_a_year") * positive(years, "years"))
    if again:
        why = f"trained {again + 1} times, the model costs whoever stays in the data {again + 1} times as much"
        reasons = (*reasons, f"{why}: give each training its share of what may be spent in all")
    return Advice(choice, reasons, loss, again + 1, loss.times(again + 1))


def _chosen(
    predictions: int | None, *, public_data: bool, black_box: bool, classification: bool
) -> tuple[str, tuple[str, ...]]:
    unlimited = predictions is None or predictions > MANY
    needs = "predictions without limit" if predictions is None else f"{predictions:,} predictions"
    if not black_box:
        open_code = "the training code can be changed, so that gradients can be clipped and noised"
        no_limit = "a model trained by DP-SGD is paid for once, and predicts for ever; no public data are needed"
        return DP_SGD, (open_code, no_limit, *_remarks(public_data=public_data, classification=classification))
    closed = "the training code is a black box, which DP-SGD cannot clip; teachers are trained with it as it is"
    if not classification:
        return NEITHER, (closed, "teachers vote, which takes classes: make the task one of classes, or open the code")
    if public_data:
        taught = "teachers label public rows, and a student of these labels predicts for ever at no further loss"
        return STUDENT, (closed, taught)
    if not unlimited:
        counted = f"every one of {needs} is paid for: without public data for a student, that is what there is"
        return SERVICE, (closed, counted)
    return NEITHER, (
        closed,
        f"{needs} are too many to pay for one by one, and without public data there is no student",
        "find public rows without labels, ask for fewer predictions, or open the training code for DP-SGD",
    )


def _remarks(*, public_data: bool, classification: bool) -> tuple[str, ...]:
    if public_data and classification:
        return ("public rows would also allow PATE with a student: worth it where classes are few and teachers agree",)
    return () if classification else ("the task is no classification, so teachers could not vote",)

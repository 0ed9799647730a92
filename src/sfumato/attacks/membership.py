"""Who was in the training data: a test of scores, what it achieves, and what a privacy loss allows any such test.

Membership inference tests given records (Shokri et al. 2017; Yeom et al. 2018). A search for records that a model is
sure of is `inversion`, another attack.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.meaning.attacker import Attacker, Tested
from sfumato.attacks.fitting import Fit, Labelled, confidences, fit_model, read_samples
from sfumato.attacks.reading import floats
from sfumato.attacks.result import Attack, Success, Violation
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, probability, up

Scores = NDArray[np.float64]


@final
@dataclass(frozen=True)
class Detection:
    """How well scores tell members from outsiders: the threshold that was used, and what every other would do.

    ``curve`` holds the rates of false and of true alarms of every threshold, from the highest one down. ``loss`` is
    what one record may cost by the model's own promise. It caps the rates where records join the data independently of
    each other; where a member takes the place of an outsider, the cap is that of ``loss.group(2)``.
    """

    threshold: float
    true_alarms: Success
    false_alarms: Success
    curve: tuple[tuple[float, float], ...] = field(repr=False)
    loss: Tested | None = None

    @property
    def advantage(self) -> float:
        """By how much true alarms exceed false ones, at the threshold."""
        return self.true_alarms.rate - self.false_alarms.rate

    @property
    def area(self) -> float:
        """The area under the curve: how often a member scores higher than an outsider; ½ is blind."""
        false, true = np.array(self.curve).T
        return float(np.sum(np.diff(false) * (true[1:] + true[:-1]) / 2))

    def detects(self, false_alarms: Number) -> float:
        """The rate of true alarms at the lowest threshold with at most this rate of false ones."""
        most = float(probability(false_alarms, "the rate of false alarms"))
        return max(true for false, true in self.curve if false <= most)

    def allowed(self, false_alarms: Number) -> float:
        """The most true alarms that the loss allows at a rate of false ones; 1 without a loss."""
        return 1.0 if self.loss is None else up(Attacker(self.loss).detects(false_alarms))

    @property
    def most_advantage(self) -> float:
        """The largest advantage that the loss allows anyone; 1 without a loss."""
        return 1.0 if self.loss is None else up(Attacker(self.loss).advantage())


def membership(
    members: ArrayLike,
    outsiders: ArrayLike,
    *,
    threshold: float | None = None,
    loss: Tested | None = None,
    against: str | None = None,
    name: str = "membership inference",
) -> Attack:
    """Accuses every record whose score reaches a threshold, and counts how often that is right.

    Scores are higher the more a record looks like one that was used: a confidence, or a loss with its sign turned.
    Without a threshold, the attacker is told of every second record whether it was used, takes the threshold that is
    best on those, and is judged on the others. The baseline says of everyone what is true of most.

    >>> found = membership([0.9, 0.8, 0.9, 0.7], [0.1, 0.2, 0.3, 0.2])
    >>> found.success, found.baseline, found.found.area
    (Success(hits=4, trials=4), 0.5, 1.0)
    """
    inside, outside = _scores(members, "the scores of members"), _scores(outsiders, "the scores of outsiders")
    curve = _curve(inside, outside)
    if threshold is None:
        threshold = _best(inside[::2], outside[::2])
        inside, outside = inside[1::2], outside[1::2]
    caught, accused = int((inside >= threshold).sum()), int((outside >= threshold).sum())
    return Attack(
        name=name,
        violation=Violation.MEMBERSHIP,
        against=against or ("a model" if loss is None else str(loss)),
        success=Success(caught + len(outside) - accused, len(inside) + len(outside)),
        baseline=max(len(inside), len(outside)) / (len(inside) + len(outside)),
        epsilon=epsilon_of(loss),
        found=Detection(float(threshold), Success(caught, len(inside)), Success(accused, len(outside)), curve, loss),
    )


def confidence(
    fit: Fit,
    members: Labelled,
    outsiders: Labelled,
    *,
    loss: Tested | None = None,
    against: str | None = None,
    entropy: Entropy | None = None,
) -> Attack:
    """Trains a model on members, and accuses the records with the labels that it is surest of (P3-093).

    How sure is sure enough is learnt as in `membership`: from every second record, of which the attacker is told.
    """
    inside, outside = read_samples(members=members, outsiders=outsiders)
    predict = fit_model(fit, inside, entropy or system())
    return membership(
        confidences(predict, inside),
        confidences(predict, outside),
        loss=loss,
        against=against,
        name="membership inference by confidence",
    )


def epsilon_of(loss: Tested | None) -> float | None:
    """The ε of a loss, where it states one."""
    return up(loss.epsilon) if isinstance(loss, Pure | Approx) and loss.epsilon != math.inf else None


def _scores(scores: ArrayLike, name: str) -> Scores:
    """Reads scores; what is no number looks like no member."""
    numbers = floats(scores, name)
    if numbers.ndim != 1 or len(numbers) < 2:
        raise BadArgument(name, "a list of at least two", numbers.shape)
    return np.where(np.isnan(numbers), -np.inf, numbers)


def _alarms(inside: Scores, outside: Scores) -> tuple[Scores, NDArray[np.int64], NDArray[np.int64]]:
    """Every threshold worth trying, from the highest down, with how many of either side reach it."""
    levels = np.concatenate([[np.inf], np.unique(np.concatenate([inside, outside]))[::-1]])
    caught, accused = (len(side) - np.searchsorted(np.sort(side), levels) for side in (inside, outside))
    return levels, caught, accused


def _curve(inside: Scores, outside: Scores) -> tuple[tuple[float, float], ...]:
    _, caught, accused = _alarms(inside, outside)
    rates = zip((accused / len(outside)).tolist(), (caught / len(inside)).tolist(), strict=True)
    return tuple(dict.fromkeys([(0.0, 0.0), *rates, (1.0, 1.0)]))


def _best(inside: Scores, outside: Scores) -> float:
    """Finds the threshold that is right most often, the highest of several, halfway down to the next score."""
    levels, caught, accused = _alarms(inside, outside)
    place = int(np.argmax(caught - accused))
    following = levels[min(place + 1, len(levels) - 1)]
    return float((levels[place] + following) / 2 if np.isfinite(following) else levels[place])

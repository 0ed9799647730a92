"""What somebody's own record adds to what is known of people like them: inference of one attribute through a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.meaning.attacker import Tested
from sfumato.attacks.fitting import Fit, Labelled, Predict, Sample, confidences, fit_model, read_samples
from sfumato.attacks.membership import epsilon_of
from sfumato.attacks.reading import floats
from sfumato.attacks.result import Attack, Success, Violation
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.release.progress import Progress, reporting


@final
@dataclass(frozen=True)
class Guessed:
    """How often an attribute was guessed: with the model, and in two ways without the records it was trained on."""

    with_record: Success
    model_without: Success
    most_common: Success


def attribute(
    fit: Fit,
    targets: Labelled,
    population: Labelled,
    *,
    column: int,
    values: Sequence[float] | None = None,
    loss: Tested | None = None,
    against: str | None = None,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Guesses one attribute of people whose others are known: the value that makes the model surest of their label.

    The baseline learns from other people only. It is the better of two: the same guess by a model of a population
    without the targets, and the most common value among those of the population with the same label. What both know
    holds for people in general and harms nobody more for being in the data; only what exceeds it is a leak.

    ``values`` are what the attribute may be, in public knowledge; by default, the values in the population.
    """
    people, others = read_samples(targets=targets, population=population)
    place = integer(column, "column", least=0)
    if place >= others.rows.shape[1]:
        raise BadArgument("column", f"less than the number of attributes, {others.rows.shape[1]}", column)
    allowed = np.unique(others.rows[:, place] if values is None else _read_values(values))
    source, truth = entropy or system(), people.rows[:, place]
    usual = _most_common(people, others, place)

    def rate(guesses: NDArray[np.float64]) -> Success:
        return Success(int((guesses == truth).sum()), len(people))

    def guess_with(sample: Sample, tell: Progress) -> Success:
        return rate(_guesses(fit_model(fit, sample, source), people, place, allowed, usual, tell))

    steps = 2 * len(allowed)
    with reporting(progress, "guessing") as tell:
        with_record = guess_with(people, lambda done, _: tell(done, steps))
        without = guess_with(others, lambda done, some: tell(some + done, steps))
    guessed_rates = Guessed(with_record, without, rate(usual))
    return Attack(
        name="attribute inference",
        violation=Violation.RECONSTRUCTION,
        against=against or ("a model" if loss is None else str(loss)),
        success=guessed_rates.with_record,
        baseline=max(guessed_rates.model_without.rate, guessed_rates.most_common.rate),
        epsilon=epsilon_of(loss),
        found=guessed_rates,
    )


def _read_values(values: Sequence[float]) -> NDArray[np.float64]:
    numbers = floats(values, "values")
    if numbers.ndim != 1 or not len(numbers):
        raise BadArgument("values", "one or more, in a list", numbers.shape)
    return numbers


def _guesses(
    predict: Predict,
    people: Sample,
    place: int,
    values: NDArray[np.float64],
    usual: NDArray[np.float64],
    tell: Progress,
) -> NDArray[np.float64]:
    """Tries every value in everybody's record; where the model does not care, takes the usual one."""
    sure = np.zeros((len(values), len(people)))
    for done, value in enumerate(values):
        tried = people.rows.copy()
        tried[:, place] = value
        sure[done] = confidences(predict, Sample(tried, people.labels))
        tell(done + 1, len(values))
    indifferent = (sure.max(axis=0) == sure).sum(axis=0) > 1
    return np.where(indifferent, usual, values[sure.argmax(axis=0)])


def _most_common(people: Sample, others: Sample, place: int) -> NDArray[np.float64]:
    """Finds for each person the most common value among others with the same label, or among all if there are none."""
    usual = np.zeros(len(people))
    for label in np.unique(people.labels):
        alike = others.rows[others.labels == label, place]
        values, counts = np.unique(alike if len(alike) else others.rows[:, place], return_counts=True)
        usual[people.labels == label] = values[counts.argmax()]
    return usual

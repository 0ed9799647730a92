"""Scores of those who know more: the caller's own, and the exact likelihood ratio where a law is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.audit.outcomes import Floats, Outcomes, Pair, Raised
from sfumato.audit.testers import Score
from sfumato.core.domains import Data
from sfumato.core.law import FiniteLaw, Law
from sfumato.core.measurement import Measurement
from sfumato.errors import BadArgument

FEW = 2_000
"""Where more outcomes differ, and others know nothing of the law, its ratio is not worth the time."""

DIGITS = 9
"""Ratios are rounded to so many digits, so that those that are equal are found equal."""


def own_score(score: Callable[[Any], Any], *, batched: bool) -> Score:
    """Gives the caller's score: of one outcome, or of a batch of them."""

    def of(outcomes: Outcomes) -> Floats:
        found = score(outcomes.given) if batched else [score(one) for one in outcomes.given]
        return np.asarray(found, dtype=np.float64)

    return Score("likelihood", "the score that was given", of)


def law_score(measurement: Measurement, left: Data, right: Data, seen: Pair, *, most: float = math.inf) -> Score | None:
    """Gives the logarithm of the exact likelihood ratio, where the law of such outcomes is on file and can be asked.

    There is none where more than ``most`` outcomes differ.
    """
    if measurement.law is None or len(np.unique(seen.left.codes)) > most:
        return None
    known: dict[int, float] = {}
    try:
        laws = measurement.law(left), measurement.law(right)
        steps = _in_steps(measurement, laws)
        for side in (seen.left, seen.right):
            for code, place in zip(*np.unique(side.codes, return_index=True), strict=True):
                known[int(code)] = log_ratio(*laws, steps(side.given[int(place)]))
    except Exception:  # a law that is asked for under a strategy only, of endless noise and a step, of other outcomes
        return None

    def ratio(code: int, outcome: Any) -> float:
        if code not in known:
            try:
                known[code] = log_ratio(*laws, steps(outcome))
            except Exception:  # neither law speaks of such an outcome
                known[code] = 0.0
        return known[code]

    def of(outcomes: Outcomes) -> Floats:
        codes, first, places = np.unique(outcomes.codes, return_index=True, return_inverse=True)
        ratios = [
            ratio(code, outcomes.given[place]) for code, place in zip(codes.tolist(), first.tolist(), strict=True)
        ]
        found: Floats = np.array(ratios)[places]
        return found

    return Score("likelihood", "log-ratio of exact probabilities", of)


def _in_steps(measurement: Measurement, laws: tuple[Law, Law]) -> Callable[[Any], Data]:
    """Gives what turns a noisy outcome into the whole numbers of steps that laws of noise on a grid speak of."""
    if all(isinstance(law, FiniteLaw) for law in laws):
        return lambda outcome: outcome
    step = None if measurement.noise is None else measurement.noise.step

    def whole(outcome: Any) -> Data:
        if isinstance(outcome, list | tuple | np.ndarray):
            return tuple(map(whole, outcome))
        if not isinstance(outcome, float):  # NumPy's own are among them
            return outcome
        if step is None:
            raise BadArgument("the outcome", "a whole number, as the law on file has it", "a float")
        return round(Fraction(outcome) / step)

    return whole


def log_ratio(left: Law, right: Law, outcome: Data) -> float:
    """Gives about the logarithm of how much likelier an outcome is under one law: 0 where neither gives it.

    >>> import sfumato as sf
    >>> law = (sf.scalar(int) >> sf.laplace(scale=2)).law
    >>> log_ratio(law(0), law(1), 5)
    -0.5
    """
    if isinstance(outcome, Raised):
        return 0.0
    here, there = left.probability(outcome), right.probability(outcome)
    if not there > 0:
        return math.inf if here > 0 else 0.0
    return round(float((here / there).log().mid()), DIGITS) if here > 0 else -math.inf

"""Scores of those who know more: the caller's own, and the exact likelihood ratio where a law is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato.audit.outcomes import Floats, Outcomes, Pair, Raised
from sfumato.audit.testers import Score
from sfumato.core.domains import Data
from sfumato.core.law import FiniteLaw, Law
from sfumato.core.measurement import Measurement

FEW = 20_000
"""The exact ratio is worked out where so many outcomes differ at most."""


DIGITS = 9
"""Ratios are rounded to so many digits, so that those that are equal are found equal."""


def own_score(score: Callable[[Any], Any], *, batched: bool) -> Score:
    """Gives the caller's score: of one outcome, or of a batch of them."""

    def of(outcomes: Outcomes) -> Floats:
        found = score(outcomes.given) if batched else [score(one) for one in outcomes.given]
        return np.asarray(found, dtype=np.float64)

    return Score("likelihood", "the score that was given", of)


def law_score(measurement: Measurement, left: Data, right: Data, seen: Pair) -> Score | None:
    """Gives the logarithm of the exact likelihood ratio, where the law of such outcomes is on file."""
    if measurement.law is None:
        return None
    laws = measurement.law(left), measurement.law(right)
    if not all(isinstance(law, FiniteLaw) for law in laws) and any(map(_has_floats, seen.left.given)):
        return None
    if len(np.unique(seen.left.codes)) > FEW:
        return None

    def of(outcomes: Outcomes) -> Floats:
        _, first, places = np.unique(outcomes.codes, return_index=True, return_inverse=True)
        ratios = np.array([log_ratio(*laws, outcomes.given[place]) for place in first.tolist()])
        found: Floats = ratios[places]
        return found

    return Score("likelihood", "log-ratio of exact probabilities", of)


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


def _has_floats(outcome: Any) -> bool:
    """Tells whether an outcome is or holds floats, whose laws are on file for the whole numbers behind them."""
    if isinstance(outcome, list | tuple):
        return any(map(_has_floats, outcome))
    return isinstance(outcome, float | np.ndarray)

"""Scores of those who know more: the caller's own, and the exact likelihood ratio where a law is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.divergence import loss_of_outcome
from sfumato.audit.outcomes import Floats, Outcomes, Pair, Raised
from sfumato.audit.testers import Score
from sfumato.core.domains import Data
from sfumato.core.law import FiniteLaw, Law
from sfumato.core.measurement import Measurement
from sfumato.core.steps import to_steps
from sfumato.errors import BadArgument, NotInDomain
from sfumato.exact import BITS, precision

FEW = 2_000
"""Where more outcomes differ, and others know nothing of the law, its ratio is not worth the time."""

DIGITS = 9
"""Ratios are rounded to this many digits, so that equal ones compare equal."""


def own_score(score: Callable[[Any], Any], *, batched: bool) -> Score:
    """Wraps the caller's score: of one outcome, or of a batch of them."""

    def of(outcomes: Outcomes) -> Floats:
        values = score(outcomes.given) if batched else [score(outcome) for outcome in outcomes.given]
        return np.asarray(values, dtype=np.float64)

    return Score("likelihood", "the score that was given", of)


def law_score(measurement: Measurement, left: Data, right: Data, seen: Pair, *, most: float = math.inf) -> Score | None:
    """Scores by the logarithm of the exact likelihood ratio, where the law of such outcomes is known and can be asked.

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
        by_outcome: Floats = np.array(ratios)[places]
        return by_outcome

    return Score("likelihood", "log-ratio of exact probabilities", of)


def privacy_loss(measurement: Measurement, outcome: Data, *, here: Data, there: Data) -> Bracket:
    """Encloses what one outcome gives away: ln(P(outcome | here) / P(outcome | there)), from the exact law.

    Positive where it speaks for ``here``, negative where it misleads; 0 where neither can give it, infinite where only
    one can. It depends on data: for audits and for teaching, never for release.

    >>> import sfumato as sf
    >>> [float(privacy_loss(sf.scalar(int) >> sf.laplace(scale=2), y, here=0, there=1).upper) for y in (-3, 4)]
    [0.5, -0.5]
    """
    if measurement.law is None:
        raise BadArgument("the measurement", "one whose exact law is known", measurement.how.mechanism)
    domain = measurement.source.domain
    held = [to_steps(domain, data) for data in (here, there)]
    if not all(map(domain.member, held)):
        raise NotInDomain(domain)
    with precision(BITS):
        ours, theirs = (measurement.law(data) for data in held)
        place = _in_steps(measurement, (ours, theirs))(outcome)
        return Bracket(*loss_of_outcome(ours.probability(place), theirs.probability(place)))


def _in_steps(measurement: Measurement, laws: tuple[Law, Law]) -> Callable[[Any], Data]:
    """Converts a noisy outcome into the whole numbers of steps that laws of noise on a grid speak of."""
    if all(isinstance(law, FiniteLaw) for law in laws):
        return lambda outcome: outcome
    step = None if measurement.noise is None else measurement.noise.step

    def whole(outcome: Any) -> Data:
        if isinstance(outcome, list | tuple | np.ndarray):
            return tuple(map(whole, outcome))
        if not isinstance(outcome, float):  # NumPy's own are among them
            return outcome
        if step is None:
            raise BadArgument("the outcome", "a whole number, as the known law has it", "a float")
        return round(Fraction(outcome) / step)

    return whole


def log_ratio(left: Law, right: Law, outcome: Data) -> float:
    """The logarithm, rounded, of how much likelier an outcome is under one law: 0 where neither gives it.

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

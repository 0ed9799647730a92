"""How accurate randomized response is, and how truthful it must be to be accurate enough."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.errors import CannotCalibrate
from sfumato.exact import (
    Distance,
    Number,
    ball,
    integer,
    log_up,
    lower,
    non_negative,
    positive,
    rational_up,
    root,
    upper,
)
from sfumato.guarantee import guarantee
from sfumato.mechanisms.estimators import informative

ERROR_PROOF = "proofs/randomized_response.md#error"


def truth_probability(epsilon: Number, *, options: int = 2) -> float:
    """The probability of the truth in randomized response at an ε, as a float; for estimates, not for noise.

    >>> round(truth_probability(1), 7)
    0.7310586
    """
    loss, count = non_negative(epsilon, "epsilon"), integer(options, "options", least=2)
    return float(Fraction(lower(lambda: 1 / (1 + (count - 1) * ball(-loss).exp()))))


def response_variance(p: Number, *, size: int) -> Fraction:
    """The variance of `estimated_share` over ``size`` people, whatever their truth: p (1 − p) / ((2p − 1)² n).

    >>> response_variance(0.75, size=100)
    Fraction(3, 400)
    """
    truth = informative(p)
    return truth * (1 - truth) / ((2 * truth - 1) ** 2 * integer(size, "size", least=1))


@guarantee(
    claim="|estimate − truth| ≤ sqrt(1 / β) / (2 |2p − 1| sqrt(n)) with probability at least 1 − β",
    proof=ERROR_PROOF,
    reviewed="ea3091941bf3",
)
def response_error(p: Number, *, size: int, beta: Number) -> Distance:
    """A bound on the error of `estimated_share` that fails with probability at most β (Chebyshev)."""
    truth, missed = informative(p), positive(beta, "beta")
    return root(1 / (4 * missed * (2 * truth - 1) ** 2 * integer(size, "size", least=1)))


@final
@dataclass(frozen=True)
class ResponsePlan:
    """The least truthful randomized response that is accurate enough: how often it is true, and what it costs."""

    p: Fraction
    epsilon: Fraction


def plan_response(*, error: Number, size: int, beta: Number) -> ResponsePlan:
    """Finds the least probability of the truth at which the share is known to within an error, save with probability β.

    >>> float(plan_response(error=0.05, size=10_000, beta=0.05).p).__round__(4)
    0.7236
    """
    within, missed, count = positive(error, "error"), positive(beta, "beta"), integer(size, "size", least=1)
    needed = rational_up(root(1 / (4 * missed * within**2 * count)))
    if needed >= 1:
        raise CannotCalibrate(
            f"{count} answers are too few for an error of {float(within):.3g}: even the plain truth would not be sure "
            "enough by this bound. Ask more people, or allow a larger error or beta."
        )
    truth = (1 + Fraction(needed)) / 2
    return ResponsePlan(truth, Fraction(log_up(truth / (1 - truth))))


def response_error_at(epsilon: Number, *, size: int, beta: Number) -> Fraction:
    """The error bound of `response_error` for randomized response at an ε, rounded up.

    >>> float(response_error_at(1, size=10_000, beta=0.05)).__round__(7)
    0.0483875
    """
    loss, missed, count = positive(epsilon, "epsilon"), positive(beta, "beta"), integer(size, "size", least=1)
    return Fraction(upper(lambda: 1 / (2 * (ball(loss) / 2).tanh() * ball(missed * count).sqrt())))

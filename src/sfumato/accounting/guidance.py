"""What an ε means, in words and odds, for whoever has to choose one."""

from __future__ import annotations

from fractions import Fraction
from math import inf

from sfumato.accounting.measures import Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, exp_up, probability
from sfumato.guarantee import guarantee

STRENGTHS = (
    (Fraction(1, 10), "very strong: nobody's odds of being right change by more than about a tenth"),
    (Fraction(1), "good: odds of being right change by a factor of less than 3"),
    (Fraction(5), "weak: odds of being right may change by a factor of up to about 150"),
)
"""Rules of thumb, from strong to weak; an ε of at most 1 is the usual advice."""

LARGEST = 10_000
"""Beyond this ε the factor is called infinite: it would have thousands of digits, and no meaning."""


def odds_factor(loss: Pure) -> Fraction | float:
    """Gives the factor by which anyone's odds about a unit can change, exp(ε), rounded up.

    >>> [round(float(odds_factor(Pure(epsilon))), 5) for epsilon in (0.1, 1, 5)]
    [1.10517, 2.71828, 148.41316]
    """
    _check(loss)
    return inf if loss.epsilon > LARGEST else exp_up(Fraction(loss.epsilon))


@guarantee(
    claim="posterior odds are at most exp(epsilon) times the prior odds",
    proof="proofs/guidance.md#posterior",
    reviewed="03076756899e",
)
def posterior_cap(loss: Pure, *, prior: Number = Fraction(1, 2)) -> Fraction:
    """Gives the largest belief in a statement about a unit that a release can leave, from a prior belief, rounded up.

    >>> [round(float(posterior_cap(Pure(epsilon))), 6) for epsilon in (0.1, 1, 5)]
    [0.524979, 0.731059, 0.993307]
    """
    belief, factor = probability(prior, "prior"), odds_factor(loss)
    if belief == 0 or belief == 1:
        return belief
    if factor == inf:
        return Fraction(1)
    return belief * Fraction(factor) / (belief * Fraction(factor) + 1 - belief)


def strength(loss: Pure) -> str:
    """Says in words how strong a loss is, by rule of thumb.

    >>> strength(Pure(1))
    'good: odds of being right change by a factor of less than 3'
    """
    _check(loss)
    return next((words for most, words in STRENGTHS if loss.epsilon <= most), "very weak: little is promised")


def _check(loss: object) -> None:
    if not isinstance(loss, Pure):
        raise BadArgument("the loss", "pure, such as sf.Pure(0.5)", loss)

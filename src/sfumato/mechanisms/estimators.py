"""Estimates from what was released: functions of noisy answers alone, so they cost nothing.

They are exact in the probabilities they are given. An estimate may leave the range of possible values (a share below
0): that is the price of being right on average, and moving it back into the range is allowed but biases it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.domains import Bounds
from sfumato.errors import BadArgument, elements
from sfumato.exact import Number, integer, probability, rational


def estimated_share(yes: Number, *, of: int, p: Number) -> Fraction:
    """Estimates the true share of yes from the yes answers among ``of``, each true with probability p.

    >>> estimated_share(400, of=1000, p=0.75)
    Fraction(3, 10)
    """
    answers, count, truth = rational(yes, "yes"), integer(of, "of", least=1), informative(p)
    return (answers / count + truth - 1) / (2 * truth - 1)


def estimated_count(yes: Number, *, of: int, p: Number) -> Fraction:
    """Estimates the true number of yes from the yes answers among ``of``, each true with probability p.

    >>> estimated_count(400, of=1000, p=0.75)
    Fraction(300, 1)
    """
    return of * estimated_share(yes, of=of, p=p)


def estimated_shares(counts: Mapping[Hashable, int], *, p: Number) -> dict[Hashable, Fraction]:
    """Estimates the true share of every option from the reported counts, each report true with probability p.

    >>> estimated_shares({"a": 5, "b": 3, "c": 2}, p="0.5")
    {'a': Fraction(1, 1), 'b': Fraction(1, 5), 'c': Fraction(-1, 5)}
    """
    truth, options, reports = probability(p, "p"), len(counts), sum(counts.values())
    if options < 2 or reports < 1:
        raise BadArgument("counts", "of at least two options and one report", dict(counts))
    lie = (1 - truth) / (options - 1)
    if truth == lie:
        raise BadArgument("p", f"other than 1/{options}, where reports say nothing about the truth", p)
    return {option: (Fraction(count, reports) - lie) / (truth - lie) for option, count in counts.items()}


def estimated_mean(upper_reports: Number, *, of: int, p: Number, between: tuple[Number, Number]) -> Fraction:
    """Estimates the mean of numbers within bounds from their rounded reports, each true with probability p.

    >>> estimated_mean(60, of=100, p=0.75, between=(0, 10))
    Fraction(7, 1)
    """
    bounds = Bounds.read(between)
    return bounds.lower + bounds.width * estimated_share(upper_reports, of=of, p=p)


def estimated_recall(true_positives: Number, *, expected_positives: int) -> Fraction:
    """Estimates the share of actual positives that were found, from a noisy count and the public number of positives.

    >>> estimated_recall(45, expected_positives=50)
    Fraction(9, 10)
    """
    return rational(true_positives, "true_positives") / integer(expected_positives, "expected_positives", least=1)


def estimated_precision(positives: Sequence[Number]) -> Fraction | None:
    """Estimates the share of positive predictions that are right, from noisy (true, false) positives; None for none.

    >>> estimated_precision((30, 10)), estimated_precision((2, -2))
    (Fraction(3, 4), None)
    """
    if len(positives) != 2:
        raise BadArgument("positives", "the pair (true positives, false positives)", positives)
    with elements():
        right, wrong = (rational(count, "a count") for count in positives)
    return None if right + wrong <= 0 else right / (right + wrong)


def valid_counts(noisy: Sequence[Number] | NDArray[Any]) -> NDArray[np.int64]:
    """Rounds noisy counts to whole numbers and moves negative ones to 0. That biases small counts upwards.

    >>> valid_counts([3.4, -2.0, 0.6]).tolist()
    [3, 0, 1]
    """
    with elements():
        return np.array([max(0, round(rational(count, "a count"))) for count in noisy], dtype=np.int64)


def noisy_mode(counts: Mapping[Hashable, Number]) -> Hashable:
    """Picks the option with the largest noisy count, the first listed among several.

    >>> noisy_mode({"a": 3, "b": 7, "c": 7})
    'b'
    """
    if not counts:
        raise BadArgument("counts", "of at least one option", counts)
    with elements():
        return max(counts, key=lambda option: rational(counts[option], "a count"))


def informative(p: Number) -> Fraction:
    """Reads a probability of the truth at which answers say something."""
    truth = probability(p, "p")
    if truth == Fraction(1, 2):
        raise BadArgument("p", "other than 1/2, where answers say nothing about the truth", p)
    return truth

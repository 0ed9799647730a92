"""People who say no whatever the coins say: how many there are, from two groups with different coins.

The model of Clark and Desharnais (1998): a share of the people has yes as the truth and says what the coins say, a
share has no as the truth and says what the coins say, and the rest says no to be safe, whatever their truth. One group
cannot tell these three apart; two groups whose first coins differ can.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

from sfumato.accounting.meaning.proportions import probability_bounds
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer
from sfumato.local.survey import CoinSurvey
from sfumato.local.survey_estimates import SURE, read_confidence, read_count, within

Group: TypeAlias = tuple[CoinSurvey, int, int]
"""A survey, how many said yes, and how many answered."""

Interval: TypeAlias = tuple[Fraction, Fraction]


@final
@dataclass(frozen=True)
class Cheating:
    """Three shares that add up to 1: honest yes, honest no, and those who say no whatever the coins say.

    Shares are unbiased and may leave 0 … 1. The three intervals hold their shares together, with the confidence at
    least; ``yes`` holds the share of all people whose truth is yes, whatever that of those who always say no.
    """

    honest_yes: Fraction
    honest_no: Fraction
    always_no: Fraction
    intervals: tuple[Interval, Interval, Interval]
    confidence: Fraction

    @property
    def yes(self) -> Interval:
        """Between these lies the true share of yes: all who always say no might be on either side."""
        return self.intervals[0][0], 1 - self.intervals[1][0]

    def __str__(self) -> str:
        names = "honest yes", "honest no", "always no"
        shares = self.honest_yes, self.honest_no, self.always_no
        lines = [
            f"{name:<10}  {float(share):>6.1%}   {float(low):.1%} … {float(high):.1%}"
            for name, share, (low, high) in zip(names, shares, self.intervals, strict=True)
        ]
        low, high = (float(end) for end in self.yes)
        sure = f"with confidence {float(self.confidence):.4g}"
        return "\n".join([*lines, f"The true share of yes lies in {low:.1%} … {high:.1%}, {sure}."])


def find_cheating(first: Group, second: Group, *, confidence: Number = SURE) -> Cheating:
    """Tells honest answers from a constant no, by two groups drawn from the same people and asked with other coins.

    >>> few, many = (CoinSurvey("Did you?", truth=truth) for truth in ("1/4", "3/4"))
    >>> found = find_cheating((few, 375, 1000), (many, 325, 1000))
    >>> found.honest_yes, found.honest_no, found.always_no
    (Fraction(3, 10), Fraction(1, 2), Fraction(1, 5))
    """
    sure = read_confidence(confidence)
    each = 1 - (1 - sure) / 2
    coins, shares, bounds = [], [], []
    for survey, yes, answers in (first, second):
        heard = integer(answers, "answers", least=1)
        said = read_count(yes, "yes", of=heard)
        coins.append(Fraction(survey.truth))
        shares.append(Fraction(said, heard))
        bounds.append(probability_bounds(said, heard, each))
    if coins[0] == coins[1]:
        raise BadArgument("the two surveys", "with different probabilities of the truth", str(coins[0]))
    weights = _weights(coins[0], coins[1])
    middle = [start + one * shares[0] + two * shares[1] for start, one, two in weights]
    ends = [_ends(weight, bounds[0], bounds[1]) for weight in weights]
    return Cheating(middle[0], middle[1], middle[2], (ends[0], ends[1], ends[2]), sure)


def _weights(first: Fraction, second: Fraction) -> list[tuple[Fraction, Fraction, Fraction]]:
    """What each of the three shares is of the shares of yes in the two groups: a start, and a weight of either.

    A group says yes in the share a · honest yes + b · honest no, with a = (1 + truth) / 2 and b = (1 − truth) / 2.
    """
    apart = first - second
    yes = (Fraction(0), (1 - second) / apart, -(1 - first) / apart)
    no = (Fraction(0), -(1 + second) / apart, (1 + first) / apart)
    return [yes, no, (Fraction(1), -yes[1] - no[1], -yes[2] - no[2])]


def _ends(weight: tuple[Fraction, Fraction, Fraction], first: Interval, second: Interval) -> Interval:
    """The least and the largest that a weighted sum of two bounded shares can be, within 0 … 1."""
    start, one, two = weight
    low = start + min(one * end for end in first) + min(two * end for end in second)
    high = start + max(one * end for end in first) + max(two * end for end in second)
    return within(low), within(high)

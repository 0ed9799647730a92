"""What answers to a survey by chance say: a share with an interval that covers; and how many people a plan takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Literal, final

from sfumato.accounting.losses.measures import Pure
from sfumato.accounting.meaning.proportions import probability_bounds
from sfumato.errors import BadArgument, CannotCalibrate
from sfumato.exact import Number, integer, positive, probability

SURE = Fraction(95, 100)
MOST_PEOPLE = 10**12
"""Plans that need more people than this are refused."""

REFINED = 4
"""So often is the number of people guessed again before it is searched for."""

MOVES: Mapping[str, tuple[int, int]] = {"no": (0, 1), "yes": (1, 0), "anything": (1, 1)}
"""How far a liar who says so may have moved the number of yes answers: by one up, by one down."""


@final
@dataclass(frozen=True)
class SurveyEstimate:
    """What answers say about the true share of yes: an unbiased estimate, its variance, and an interval that covers.

    The share may leave 0 … 1, which is the price of being right on average; the interval does not. ``variance`` is that
    of the coins alone; of two answers it is exact whatever the truth of those who answered, of more it is that at the
    estimated share. The interval holds the true share, of those who answered and of the population that they were drawn
    from at random, with the confidence at least: it asks which shares of yes answers Clopper and Pearson (1934) would
    not reject, and inverts the coins.
    """

    yes: int
    answers: int
    share: Fraction
    variance: Fraction
    interval: tuple[Fraction, Fraction]
    confidence: Fraction
    truth: Fraction
    lie: Fraction

    @classmethod
    def of(cls, yes: int, answers: int, *, truth: Fraction, lie: Fraction, confidence: Fraction) -> SurveyEstimate:
        """Estimates from counts: ``truth`` and ``lie`` are the chances of a yes where the truth is yes, and no."""
        gain = truth - lie
        share = (Fraction(yes, answers) - lie) / gain
        at = within(share)
        variance = (at * truth * (1 - truth) + (1 - at) * lie * (1 - lie)) / (gain * gain * answers)
        ends = probability_bounds(yes, answers, confidence)
        low, high = (within((end - lie) / gain) for end in ends)
        return cls(yes, answers, share, variance, (low, high), confidence, truth, lie)

    @property
    def doubtful(self) -> bool:
        """Whether the answers speak against honest ones of any true share, with the confidence of the interval."""
        return (self.share < 0 and self.interval[1] == 0) or (self.share > 1 and self.interval[0] == 1)

    def doubted(
        self, *, refused: int = 0, liars: Number = 0, say: Literal["no", "yes", "anything"] = "anything"
    ) -> DoubtedShare:
        """The share of yes of all who were asked, when some refused and a share of the answers may be lies.

        Nothing is supposed of those who refused. Of the answers, at most a share ``liars`` did not follow the coins but
        said what they liked: "no" (to be safe), "yes", or "anything". Had they followed, the number of yes would
        differ by theirs at most, and its interval would hold the truth: so all such intervals together do.
        """
        missing, lies = integer(refused, "refused", least=0), probability(liars, "liars")
        if say not in MOVES:
            raise BadArgument("say", "one of 'no', 'yes', 'anything'", say)
        moved = math.floor(lies * self.answers)
        fewer, more = (moved * way for way in MOVES[say])
        counts = max(0, self.yes - fewer), min(self.answers, self.yes + more)
        low, high = (self._at(count).interval[end] for end, count in enumerate(counts))
        asked = self.answers + missing
        ends = low * self.answers / asked, (high * self.answers + missing) / asked
        return DoubtedShare(asked, missing, moved, ends, self.confidence)

    def _at(self, yes: int) -> SurveyEstimate:
        """The estimate if so many answers had been yes."""
        return SurveyEstimate.of(yes, self.answers, truth=self.truth, lie=self.lie, confidence=self.confidence)

    def __str__(self) -> str:
        low, high = (float(end) for end in self.interval)
        sure = f"{float(self.confidence):.4g}"
        said = (
            f"{float(self.share):.1%} yes, of {self.answers:,} answers; {low:.1%} … {high:.1%} with confidence {sure}"
        )
        few = "fewer" if self.share < 0 else "more"
        return said + f". There are {few} yes than chance alone would say: some did not follow it" * self.doubtful


@final
@dataclass(frozen=True)
class DoubtedShare:
    """What is known of a share of yes among all who were asked, when some refused and some may have lied."""

    asked: int
    refused: int
    lies: int
    interval: tuple[Fraction, Fraction]
    confidence: Fraction

    def __str__(self) -> str:
        low, high = (float(end) for end in self.interval)
        sure, doubts = float(self.confidence), f"{self.refused:,} refused, {self.lies:,} answers may be lies"
        return f"{low:.1%} … {high:.1%} yes of {self.asked:,} asked, with confidence {sure:.4g}; {doubts}"


@final
@dataclass(frozen=True)
class SurveyPlan:
    """How many people a survey needs, and how many a direct question would: the price of privacy in people."""

    error: Fraction
    confidence: Fraction
    people: int
    direct: int
    loss: Pure

    def __str__(self) -> str:
        return (
            f"{self.people:,} people for ± {float(self.error):.4g} with confidence {float(self.confidence):.4g}, at "
            f"{self.loss} each; asked directly, without privacy, {self.direct:,} would do"
        )


def planned(*, error: Number, confidence: Number, gain: Fraction, loss: Pure) -> SurveyPlan:
    """Plans for an error that no interval exceeds, where an answer is the truth with a probability ``gain``."""
    small, sure = positive(error, "error"), read_confidence(confidence)
    if small >= Fraction(1, 2):
        raise BadArgument("error", "less than 1/2: every share is that near to a half", error)
    people, direct = (fewest(small, gain=each, sure=sure) for each in (gain, Fraction(1)))
    return SurveyPlan(small, sure, people, direct, loss)


def read_confidence(value: Number) -> Fraction:
    """Reads a confidence of at least a half."""
    sure = probability(value, "confidence")
    if not Fraction(1, 2) <= sure < 1:
        raise BadArgument("confidence", "at least 1/2 and less than 1", value)
    return sure


def read_truth(value: Number) -> Fraction:
    """Reads the probability of the first coin, that of the truth."""
    first = probability(value, "truth")
    if first == 0:
        raise BadArgument("truth", "greater than 0, or answers say nothing", value)
    if first == 1:
        raise BadArgument("truth", "less than 1, or answers hide nothing", value)
    return first


def read_count(value: object, name: str, *, of: int) -> int:
    """Reads how many of the answers said something."""
    said = integer(value, name, least=0)
    if said > of:
        raise BadArgument(name, f"at most the number of answers, {of:,}", value)
    return said


def reach(people: int, *, gain: Fraction, sure: Fraction) -> Fraction:
    """Half the length of the longest interval: where half of the answers are yes, or nearly."""
    low, high = probability_bounds(people // 2, people, sure)
    return (high - low) / (2 * gain)


@lru_cache(maxsize=256)
def fewest(error: Fraction, *, gain: Fraction, sure: Fraction) -> int:
    """The least number of people whose longest interval reaches no further than an error."""
    reached = partial(reach, gain=gain, sure=sure)
    guess = 100
    for _ in range(REFINED):  # the reach falls about as the root of the number
        guess = max(1, math.ceil(guess * float(reached(guess) / error) ** 2))
        if guess > MOST_PEOPLE:
            raise CannotCalibrate(
                f"an error of {float(error):.3g} needs more than {MOST_PEOPLE:,} people. "
                "Allow a larger error, or let more answers be the truth."
            )
    few, enough, step = guess - 1, guess, 1
    while reached(enough) > error:
        few, enough, step = enough, enough + step, 2 * step
    step = 1
    while few > 0 and reached(few) <= error:
        few, enough, step = max(0, few - step), few, 2 * step
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if reached(middle) <= error else (middle, enough)
    return enough


def within(share: Fraction) -> Fraction:
    """A share moved into what is possible."""
    return min(max(share, Fraction(0)), Fraction(1))

"""A yes-or-no survey by chance, after Warner (1965): the coin protocol, on screen and on paper.

A first coin falls heads with probability ``truth``: then the answer is the truth. Else a second, fair coin answers.
Nobody can tell from an answer which it was; from many answers, the share of yes is known all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number, digits_up, integer, probability
from sfumato.local.survey_estimates import (
    SURE,
    SurveyEstimate,
    SurveyPlan,
    planned,
    reach,
    read_confidence,
    read_count,
    read_truth,
)
from sfumato.local.survey_paper import sheet
from sfumato.mechanisms.randomized_response import (
    ResponseOdds,
    coin_flip_probability,
    offset_sampler,
    response_loss,
)
from sfumato.noise.sampling import draw_array

PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))


@final
@dataclass(frozen=True)
class Belief:
    """What somebody held the probability of a true yes for, and holds it for after each of the two answers."""

    before: Fraction
    after_yes: Fraction
    after_no: Fraction


@final
@dataclass(frozen=True)
class Deniability:
    """What can be concluded from one answer: the factor on odds, beliefs before and after, and words for them."""

    truth: Fraction
    reported: Fraction
    factor: Fraction
    beliefs: tuple[Belief, ...]

    def __str__(self) -> str:
        lie, factor = 1 - self.reported, digits_up(self.factor, 4)
        lines = [
            "A yes proves nothing:",
            f"{_share(lie)} of those for whom the truth is no say yes, because a coin said so.",
            f"A no proves nothing: {_share(lie)} of those for whom the truth is yes say no.",
            f"An answer changes the odds of the truth by a factor of {factor} at most,",
            "for everybody and whatever they knew before. In numbers, the probability",
            "that the truth is yes:",
            "",
            f"  {'before':>8}  {'after a yes':>12}  {'after a no':>12}",
        ]
        lines += [
            f"  {_share(each.before):>8}  {_share(each.after_yes):>12}  {_share(each.after_no):>12}"
            for each in self.beliefs
        ]
        lines += [
            "",
            "This holds for one answer. A second one with new coins multiplies the",
            "factors: answer once.",
        ]
        return "\n".join(lines)


@final
@dataclass(frozen=True)
class CoinSurvey:
    """A yes-or-no question, answered by the truth with probability ``truth`` and else by a fair coin.

    Takes:      the question; the probability of the first coin, between 0 and 1 and neither of them
    Gives:      answers (`answer`, `answers`), words (`ask`, `paper`, `deniability`), numbers (`estimate`, `people_for`)
    Guarantee:  Pure(epsilon = ln((1 + truth) / (1 − truth))) for each answer  (proofs/randomized_response.md#coins)

    >>> survey = CoinSurvey("Have you cheated in an exam?")
    >>> survey.loss
    Pure(epsilon=1.0986122886681096…)
    >>> survey.estimate(yes=400, answers=1000).share
    Fraction(3, 10)
    """

    question: str
    truth: Number = Fraction(1, 2)

    def __post_init__(self) -> None:
        if not isinstance(self.question, str) or not self.question.strip():
            raise BadArgument("question", "a question in words", self.question)
        first = read_truth(self.truth)
        object.__setattr__(self, "question", " ".join(self.question.split()))
        object.__setattr__(self, "truth", first)

    @property
    def reported(self) -> Fraction:
        """The probability that an answer agrees with the truth: 3/4 with two fair coins."""
        return coin_flip_probability(self._first)

    @property
    def loss(self) -> Pure:
        """The loss of one answer, rounded up."""
        return response_loss(self._odds, 1)

    def expected_share(self, share: Number) -> Fraction:
        """The share of yes answers to expect where a share of the people have yes as their truth.

        >>> CoinSurvey("Did you fail?").expected_share(0)
        Fraction(1, 4)
        """
        true = probability(share, "share")
        return true * self.reported + (1 - true) * (1 - self.reported)

    def ask(self) -> str:
        """Words to show on a screen before somebody answers."""
        kept = digits_up(self._factor, 4)
        return (
            f"{self.question}\n"
            f"Your answer is sent as it is with probability {self._first}; else a fair coin, tossed on this device, "
            "answers for you. Nobody else learns which. "
            f"One answer changes the odds of your truth by a factor of {kept} at most."
        )

    def answer(self, truth: bool, *, entropy: Entropy | None = None) -> bool:  # noqa: FBT001
        """Tosses the coins for one person on their own device; what comes back is what leaves it."""
        if not isinstance(truth, bool | np.bool_):
            raise BadArgument("the true answer", "True or False", Unseen())
        turned = offset_sampler(self._odds).one(entropy or system())
        return bool(truth) != bool(turned)

    def answers(self, truths: ArrayLike, *, entropy: Entropy | None = None) -> NDArray[np.bool_]:
        """Tosses the coins for many people, each their own; for simulations, and for columns held in trust."""
        given = np.asarray(truths)
        if given.ndim != 1 or (given.dtype != np.bool_ and given.size):
            raise BadArgument("the true answers", "a list of True and False", Unseen())
        sampler = offset_sampler(self._odds)
        turned = draw_array(sampler, count=given.size, entropy=entropy or system(), wide=False)
        heard: NDArray[np.bool_] = given.astype(np.bool_) ^ turned.astype(np.bool_)
        return heard

    def paper(self) -> str:
        """Writes the sheet for a respondent with real coins or dice; refuses probabilities that they cannot make."""
        return sheet(self.question, truth=self._first)

    def deniability(self, *, priors: tuple[Number, ...] = PRIORS) -> Deniability:
        """Tabulates what an interviewer can conclude from one answer, exactly, for several beliefs before it.

        >>> CoinSurvey("Did you?").deniability(priors=("0.1",)).beliefs[0].after_yes
        Fraction(1, 4)
        """
        beliefs = tuple(self._believed(probability(prior, "a prior")) for prior in priors)
        return Deniability(self._first, self.reported, self._factor, beliefs)

    def estimate(self, *, yes: int, answers: int, confidence: Number = SURE) -> SurveyEstimate:
        """Estimates the true share of yes from answers; see `SurveyEstimate` for what is promised."""
        heard = integer(answers, "answers", least=1)
        said, sure = read_count(yes, "yes", of=heard), read_confidence(confidence)
        return SurveyEstimate.of(said, heard, truth=self.reported, lie=1 - self.reported, confidence=sure)

    def variance_at(self, share: Number, *, answers: int) -> Fraction:
        """The exact variance of the estimate when people are drawn at random from a population with a share of yes."""
        heard, expected = integer(answers, "answers", least=1), self.expected_share(share)
        return expected * (1 - expected) / (self._first**2 * heard)

    def people_for(self, *, error: Number, confidence: Number = SURE) -> SurveyPlan:
        """Finds how many must be asked, so that no interval of `estimate` reaches over more than ± ``error``.

        >>> plan = CoinSurvey("Did you?").people_for(error="0.05")
        >>> plan.people, plan.direct
        (1574, 402)
        """
        return planned(error=error, confidence=confidence, gain=self._first, loss=self.loss)

    def error_for(self, *, people: int, confidence: Number = SURE) -> Fraction:
        """The error to plan with when so many answer: half the length of the longest interval of `estimate`."""
        asked, sure = integer(people, "people", least=1), read_confidence(confidence)
        return min(reach(asked, gain=self._first, sure=sure), Fraction(1, 2))

    @property
    def _first(self) -> Fraction:
        return probability(self.truth, "truth")

    @property
    def _odds(self) -> ResponseOdds:
        return ResponseOdds.read(2, self.reported, None)

    @property
    def _factor(self) -> Fraction:
        return self.reported / (1 - self.reported)

    def _believed(self, prior: Fraction) -> Belief:
        yes = prior * self.reported / self.expected_share(prior)
        no = prior * (1 - self.reported) / (1 - self.expected_share(prior))
        return Belief(prior, yes, no)


def _share(value: Fraction) -> str:
    return f"{float(value):.3g}"

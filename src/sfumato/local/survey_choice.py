"""A question with several answers, answered by chance: the truth, or one of the answers as a die falls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

import numpy as np

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, Unseen
from sfumato.exact import Number, digits_up, integer, probability
from sfumato.guarantee import guarantee
from sfumato.local.survey_estimates import (
    SURE,
    SurveyEstimate,
    SurveyPlan,
    planned,
    read_confidence,
    read_count,
    read_truth,
)
from sfumato.local.survey_paper import choice_sheet
from sfumato.mechanisms.randomized_response import ResponseOdds, offset_sampler, response_loss
from sfumato.noise.sampling import draw_array
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart


@guarantee(claim="P(truth) = t + (1 − t) / k", proof="proofs/randomized_response.md#choices", reviewed="8e5d4f73e2fa")
def choice_probability(truth: Fraction, choices: int) -> Fraction:
    """The probability that a question with several answers, all alike where chance answers, reports the truth."""
    return truth + (1 - truth) / choices


@final
@dataclass(frozen=True, repr=False)
class ChoiceEstimate(Displayed):
    """The estimated share of each answer; each interval holds its share with the confidence, by itself."""

    question: str
    shares: Mapping[str, SurveyEstimate]
    loss: Pure

    def __getitem__(self, answer: str) -> SurveyEstimate:
        return self.shares[answer]

    @property
    def people(self) -> int:
        """How many answered."""
        return next(iter(self.shares.values())).answers

    def document(self) -> Document:
        """A row for each answer: how many said it, the estimated share, its interval."""
        found = self.shares.items()
        sure = next(iter(self.shares.values())).confidence
        rows = tuple(
            (
                answer,
                f"{each.yes:,}",
                f"{float(each.share):.1%}",
                " … ".join(f"{float(end):.1%}" for end in each.interval),
            )
            for answer, each in found
        )
        head = ("answer", "said", "share", f"{float(sure):.4g} confidence")
        return Document(
            "Survey",
            f"{self.question} {self.people:,} answers, {self.loss} each",
            tables=(Table(rows, head, right=frozenset({1, 2, 3})),),
        )

    def plot(self, *, truth: Mapping[str, float] | None = None, title: str | None = None) -> Chart:
        """Draws the shares with their intervals; ``truth`` are true shares, where those are known."""
        from sfumato.charts.local import Estimated, estimated_shares

        known = truth or {}
        drawn = [
            Estimated(answer, float(each.share), float(each.interval[0]), float(each.interval[1]), known.get(answer))
            for answer, each in self.shares.items()
        ]
        said = f"{self.people:,} answers, {self.loss} each; bars hold each share with its confidence"
        return estimated_shares(drawn, said=[said], title=title or self.question)


@final
@dataclass(frozen=True)
class ChoiceSurvey:
    """A question with a public list of answers: the truth with probability ``truth``, else any of them, all alike.

    Takes:      the question; its answers, at least two; the probability of the first coin, between 0 and 1
    Gives:      answers (`answer`, `answers`), words (`ask`, `paper`), numbers (`estimate`, `people_for`)
    Guarantee:  Pure(epsilon = ln(1 + k truth / (1 − truth))) for an answer, of k  (proofs/randomized_response.md#loss)

    >>> survey = ChoiceSurvey("How did you come?", ["by bus", "by car", "on foot"])
    >>> survey.loss
    Pure(epsilon=1.3862943611198906…)
    >>> survey.estimate({"by bus": 50, "by car": 30, "on foot": 20})["by bus"].share
    Fraction(2, 3)
    """

    question: str
    choices: Sequence[str]
    truth: Number = Fraction(1, 2)

    def __post_init__(self) -> None:
        question, choices = self.question, self.choices
        if not isinstance(question, str) or not question.strip():
            raise BadArgument("question", "a question in words", question)
        listed = () if isinstance(choices, str) or not isinstance(choices, Iterable) else tuple(choices)
        if len(listed) < 2 or not all(isinstance(each, str) and each.strip() for each in listed):
            raise BadArgument("choices", "a list of at least two texts", choices)
        if len(set(listed)) < len(listed):
            raise BadArgument("choices", "different from each other", choices)
        first = read_truth(self.truth)
        object.__setattr__(self, "question", " ".join(question.split()))
        object.__setattr__(self, "choices", listed)
        object.__setattr__(self, "truth", first)

    @property
    def reported(self) -> Fraction:
        """The probability that an answer agrees with the truth."""
        return choice_probability(self._first, len(self.choices))

    @property
    def other(self) -> Fraction:
        """The probability of each other answer."""
        return (1 - self._first) / len(self.choices)

    @property
    def loss(self) -> Pure:
        """The loss of one answer, rounded up."""
        return response_loss(self._odds, 1)

    def ask(self) -> str:
        """Words to show on a screen before somebody answers."""
        return (
            f"{self.question} {' / '.join(self.choices)}\n"
            f"Your answer is sent as it is with probability {self._first}; else one of the {len(self.choices)}, "
            "drawn on this device, all alike. Nobody else learns which. "
            f"One answer changes the odds between any two truths by a factor of {digits_up(self._factor, 4)} at most."
        )

    def answer(self, truth: str, *, entropy: Entropy | None = None) -> str:
        """Draws the answer of one person on their own device; what comes back is what leaves it."""
        place, size = self._place(truth), len(self.choices)
        turned = int(offset_sampler(self._odds).one(entropy or system()))
        return self.choices[(place + turned) % size]

    def answers(self, truths: Iterable[str], *, entropy: Entropy | None = None) -> list[str]:
        """Draws the answers of many people; for simulations, and for columns held in trust."""
        places = np.fromiter((self._place(truth) for truth in truths), dtype=np.int64)
        turned = draw_array(offset_sampler(self._odds), count=places.size, entropy=entropy or system(), wide=False)
        said = (places + turned.astype(np.int64)) % len(self.choices)
        return [self.choices[place] for place in said.tolist()]

    def paper(self) -> str:
        """Writes the sheet for a respondent with a real coin and a die; for six answers at most."""
        return choice_sheet(self.question, self.choices, truth=self._first)

    def estimate(
        self, said: Mapping[str, int] | Iterable[str], *, confidence: Number = SURE, together: bool = False
    ) -> ChoiceEstimate:
        """Estimates the share of every answer, from answers or from how many said each.

        Each interval holds its share with the confidence by itself; with ``together``, all of them at once do.
        """
        given = said if isinstance(said, Mapping) else Counter(said)
        if not set(given) <= set(self.choices):
            raise BadArgument("what was said", f"one of {', '.join(self.choices)}", Unseen())
        counts = {answer: integer(given.get(answer, 0), "a count", least=0) for answer in self.choices}
        heard = integer(sum(counts.values()), "answers", least=1)
        sure = read_confidence(confidence)
        each = 1 - (1 - sure) / len(counts) if together else sure
        shares = {
            answer: SurveyEstimate.of(
                read_count(count, "a count", of=heard), heard, truth=self.reported, lie=self.other, confidence=each
            )
            for answer, count in counts.items()
        }
        return ChoiceEstimate(self.question, shares, self.loss)

    def people_for(self, *, error: Number, confidence: Number = SURE) -> SurveyPlan:
        """Finds how many must be asked, so that no interval of `estimate` reaches over more than ± ``error``."""
        return planned(error=error, confidence=confidence, gain=self._first, loss=self.loss)

    @property
    def _first(self) -> Fraction:
        return probability(self.truth, "truth")

    @property
    def _odds(self) -> ResponseOdds:
        return ResponseOdds.read(len(self.choices), self.reported, None)

    @property
    def _factor(self) -> Fraction:
        return self.reported / self.other

    def _place(self, truth: str) -> int:
        try:
            return self.choices.index(truth)
        except ValueError:
            raise BadArgument("the true answer", f"one of {', '.join(self.choices)}", Unseen()) from None

"""Several questions in one survey: what they cost together, and the coins with which all of them fit under one loss."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import BadArgument, CannotCalibrate
from sfumato.exact import Number, ball, digits_up, integer, lower
from sfumato.local.chances import read_epsilon
from sfumato.local.survey import CoinSurvey
from sfumato.local.survey_choice import ChoiceSurvey
from sfumato.local.survey_paper import possible_on_paper
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table

FINE = 1000
"""On a screen the probability of the truth is a multiple of one over this."""


def truth_for(loss: Pure | Number, *, answers: int = 2, paper: bool = False) -> Fraction:
    """The largest handy probability of the truth with which an answer keeps a loss; on paper, of coins and dice.

    >>> truth_for(Pure(1)), truth_for(Pure(1), paper=True)
    (Fraction(231, 500), Fraction(4, 9))
    """
    epsilon, size = read_epsilon(loss), integer(answers, "answers", least=2)
    most = Fraction(lower(lambda: ball(epsilon).expm1() / (ball(epsilon).expm1() + size)))
    handy = possible_on_paper() if paper else [Fraction(math.floor(most * FINE), FINE)]
    fitting = [chance for chance in handy if 0 < chance <= most]
    if not fitting:
        raise CannotCalibrate(
            f"an answer that keeps ε = {float(epsilon):.3g} is the truth too rarely for the coins here. "
            "Allow a larger loss, or ask fewer questions."
        )
    return max(fitting)


@final
@dataclass(frozen=True, repr=False)
class Questionnaire(Displayed):
    """Questions that one person answers, each with coins of its own: their losses add up.

    >>> both = Questionnaire([CoinSurvey("Have you copied?"), CoinSurvey("Have you let others copy?")])
    >>> both.loss
    Pure(epsilon=2.197224577336219…)
    """

    questions: Sequence[CoinSurvey | ChoiceSurvey]

    def __post_init__(self) -> None:
        questions = self.questions
        asked = tuple(questions) if isinstance(questions, Sequence) and not isinstance(questions, str) else ()
        if not asked or not all(isinstance(each, CoinSurvey | ChoiceSurvey) for each in asked):
            raise BadArgument("questions", "at least one CoinSurvey or ChoiceSurvey", questions)
        object.__setattr__(self, "questions", asked)

    @classmethod
    def within(
        cls, loss: Pure | Number, questions: Sequence[str | tuple[str, Sequence[str]]], *, paper: bool = False
    ) -> Questionnaire:
        """Chooses coins for questions (or pairs of a question and its answers), so that all of them keep one loss.

        Each question has the same share of the loss; ``paper`` takes coins and dice that people have.

        >>> Questionnaire.within(Pure(1), ["Have you copied?", "Have you let others copy?"]).loss.epsilon <= 1
        True
        """
        if isinstance(questions, str) or not questions:
            raise BadArgument("questions", "a list of questions", questions)
        each = Pure(read_epsilon(loss) / len(questions))
        asked: list[CoinSurvey | ChoiceSurvey] = []
        for question in questions:
            if isinstance(question, str):
                asked.append(CoinSurvey(question, truth_for(each, paper=paper)))
            else:
                words, answers = question
                asked.append(ChoiceSurvey(words, answers, truth_for(each, answers=len(answers), paper=paper)))
        return cls(asked)

    @property
    def loss(self) -> Pure:
        """What all answers of one person cost together: the losses of the questions add up."""
        total = self.questions[0].loss
        for question in self.questions[1:]:
            total = total.then(question.loss)
        return total

    @property
    def factor(self) -> Fraction:
        """By how much all answers together can change the odds between any two people, at most."""
        return math.prod((_factor(question) for question in self.questions), start=Fraction(1))

    def document(self) -> Document:
        """A row for each question: its coin, its loss, and the factor on odds; and all of them together."""
        rows = tuple(
            (
                each.question,
                f"{Fraction(each.truth)}",
                f"{float(each.loss.epsilon):.3g}",
                f"× {digits_up(_factor(each), 4)}",
            )
            for each in self.questions
        )
        total = ("all of them", "", f"{float(self.loss.epsilon):.3g}", f"× {digits_up(self.factor, 4)}")
        head = ("question", "truth", "ε", "odds up to")
        told = f"{len(self.questions)} question{'s' * (len(rows) > 1)}, {self.loss} for all answers of a person"
        return Document("Questionnaire", told, tables=(Table((*rows, total), head, right=frozenset({1, 2, 3})),))

    def ask(self) -> str:
        """Words to show on a screen before somebody answers: every question, and what all answers tell together."""
        together = (
            f"All answers together change the odds of your truths by a factor of {digits_up(self.factor, 4)} at most."
        )
        return "\n\n".join([*(question.ask() for question in self.questions), together])

    def paper(self) -> str:
        """The sheets of all questions, to be thrown for one after the other."""
        return "\n".join(question.paper() for question in self.questions)


def _factor(question: CoinSurvey | ChoiceSurvey) -> Fraction:
    lie = 1 - question.reported if isinstance(question, CoinSurvey) else question.other
    return question.reported / lie

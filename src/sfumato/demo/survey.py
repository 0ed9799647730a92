"""The survey with two coins in numbers: a thousand made-up students and their answers. Nothing here prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import Entropy, system
from sfumato.local.questionnaire import Questionnaire
from sfumato.local.survey import CoinSurvey
from sfumato.local.survey_estimates import SurveyEstimate, SurveyPlan
from sfumato.noise.bernoulli import flip

QUESTION = "Have you ever copied in an exam?"
STUDENTS, COPIED = 1_000, 300
ERRORS = ("0.1", "0.05", "0.02", "0.01")
TRUTHS = ("1/4", "1/2", "3/4")


@final
@dataclass(frozen=True)
class Interview:
    """What happened when one person answered: both coins, the second if it was tossed, and the answer."""

    truth: bool
    heads: bool
    second: bool | None
    said: bool


def interview(truth: bool, *, survey: CoinSurvey, entropy: Entropy | None = None) -> Interview:  # noqa: FBT001
    """Tosses the coins one after the other, as they fall on a table."""
    source = entropy or system()
    heads = flip(Fraction(survey.truth), entropy=source)
    second = None if heads else flip(Fraction(1, 2), entropy=source)
    return Interview(truth, heads, second, truth if second is None else second)


@final
@dataclass(frozen=True)
class Surveyed:
    """A thousand answers, and what they say; the truth is known here because it is made up."""

    survey: CoinSurvey
    truth: Fraction
    estimate: SurveyEstimate


def ask_students(survey: CoinSurvey, *, entropy: Entropy | None = None) -> Surveyed:
    """Lets every student answer by chance."""
    truths = np.arange(STUDENTS) < COPIED
    said = survey.answers(truths, entropy=entropy)
    return Surveyed(survey, Fraction(COPIED, STUDENTS), survey.estimate(yes=int(said.sum()), answers=STUDENTS))


def plans(survey: CoinSurvey, *, errors: Sequence[str] = ERRORS) -> list[SurveyPlan]:
    """Plans the number of people for several errors."""
    return [survey.people_for(error=error) for error in errors]


def three_questions() -> Questionnaire:
    """Three questions that cost together what one costs by two fair coins."""
    questions = [QUESTION, "Have you let others copy?", "Have you bought an essay?"]
    return Questionnaire.within(Pure("1.0986"), questions)

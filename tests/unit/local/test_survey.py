"""The survey with two coins: what an answer costs, says, and denies; estimates whose intervals cover, by exact sums."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, CannotCalibrate
from sfumato.local.survey import CoinSurvey
from sfumato.local.survey_paper import Throw

FAIR = CoinSurvey("Have you cheated in an exam?")
HALF = Fraction(1, 2)


def binomial(count: int, chance: Fraction) -> list[Fraction]:
    """All probabilities of so many hits."""
    return [math.comb(count, hits) * chance**hits * (1 - chance) ** (count - hits) for hits in range(count + 1)]


def joined(first: list[Fraction], second: list[Fraction]) -> list[Fraction]:
    """The distribution of a sum of two independent counts."""
    total = [Fraction(0)] * (len(first) + len(second) - 1)
    for (left, mass), (right, other) in product(enumerate(first), enumerate(second)):
        total[left + right] += mass * other
    return total


def covered(survey: CoinSurvey, law: list[Fraction], share: Fraction, confidence: Fraction) -> Fraction:
    """The probability that the interval holds a share when yes answers have a law."""
    answers = len(law) - 1
    held = Fraction(0)
    for yes, mass in enumerate(law):
        low, high = survey.estimate(yes=yes, answers=answers, confidence=confidence).interval
        held += mass * (low <= share <= high)
    return held


def test_A1_052_fair_coins_report_the_truth_three_times_in_four() -> None:
    assert FAIR.reported == Fraction(3, 4)
    assert Fraction("1.098612") < FAIR.loss.epsilon < Fraction("1.098613")
    assert FAIR.loss.epsilon >= Fraction("1.09861228866810969139")


def test_A1_053_a_quarter_appears_to_have_failed_where_nobody_has() -> None:
    assert FAIR.expected_share(0) == Fraction(1, 4)
    assert FAIR.expected_share(1) == Fraction(3, 4)


def test_A1_054_a_first_coin_that_is_heads_once_in_a_hundred() -> None:
    survey = CoinSurvey("Did you fail?", truth="0.01")
    assert survey.reported == Fraction(505, 1000)
    assert float(survey.loss.epsilon) == pytest.approx(0.0200007, abs=5e-8)


def test_A1_062_A1_063_the_lectures_estimators() -> None:
    for yes in (400, 200):
        found = FAIR.estimate(yes=yes, answers=1000)
        mean = Fraction(yes, 1000)
        assert found.share == 2 * mean - HALF
        assert 1 - found.share == Fraction(3, 2) - 2 * mean
    assert found.share == Fraction(-1, 10)  # right on average, so it may leave the range
    assert found.interval[0] == 0


def test_A1_064_A1_065_expected_yes_and_back() -> None:
    assert 100 * FAIR.expected_share("0.4") == 45
    assert FAIR.estimate(yes=45, answers=100).share == Fraction(2, 5)


def test_the_variance_of_the_coins_is_exact_for_every_truth() -> None:
    for true_yes in (0, 3, 8):
        law = joined(binomial(true_yes, Fraction(3, 4)), binomial(8 - true_yes, Fraction(1, 4)))
        shares = [FAIR.estimate(yes=yes, answers=8).share for yes in range(9)]
        mean = sum(mass * share for mass, share in zip(law, shares, strict=True))
        spread = sum(mass * (share - mean) ** 2 for mass, share in zip(law, shares, strict=True))
        assert mean == Fraction(true_yes, 8)
        assert spread == FAIR.estimate(yes=0, answers=8).variance


def test_the_variance_for_people_drawn_at_random_is_exact() -> None:
    survey, share = CoinSurvey("Did you?", truth="1/3"), Fraction(1, 5)
    law = binomial(7, survey.expected_share(share))
    shares = [survey.estimate(yes=yes, answers=7).share for yes in range(8)]
    assert sum(mass * found for mass, found in zip(law, shares, strict=True)) == share
    spread = sum(mass * (found - share) ** 2 for mass, found in zip(law, shares, strict=True))
    assert spread == survey.variance_at(share, answers=7)


@pytest.mark.parametrize("truth", ["1/2", "9/10", "1/6"])
@pytest.mark.parametrize("confidence", [HALF, Fraction(9, 10), Fraction(99, 100)])
def test_intervals_cover_a_population_of_any_share(truth: str, confidence: Fraction) -> None:
    survey = CoinSurvey("Did you?", truth=truth)
    for answers, step in product((1, 2, 13), range(11)):
        share = Fraction(step, 10)
        law = binomial(answers, survey.expected_share(share))
        assert covered(survey, law, share, confidence) >= confidence


@pytest.mark.parametrize("truth", ["1/2", "9/10"])
@pytest.mark.parametrize("confidence", [HALF, Fraction(9, 10)])
def test_intervals_cover_those_who_answered(truth: str, confidence: Fraction) -> None:
    survey = CoinSurvey("Did you?", truth=truth)
    for answers in (1, 3, 12):
        for true_yes in range(answers + 1):
            law = joined(binomial(true_yes, survey.reported), binomial(answers - true_yes, 1 - survey.reported))
            assert covered(survey, law, Fraction(true_yes, answers), confidence) >= confidence


def test_intervals_are_not_needlessly_long() -> None:
    # At 150 answers an honest interval of confidence 0.9 misses sometimes; one that is always right proves nothing.
    law = binomial(150, FAIR.expected_share("0.3"))
    assert covered(FAIR, law, Fraction(3, 10), Fraction(9, 10)) < Fraction(94, 100)


def test_the_longest_interval_is_the_planned_one() -> None:
    for answers in (1, 2, 7, 20, 41):
        found = [FAIR.estimate(yes=yes, answers=answers, confidence="0.9") for yes in range(answers + 1)]
        longest = max(high - low for low, high in (each.interval for each in found)) / 2
        assert longest <= FAIR.error_for(people=answers, confidence="0.9") + Fraction(1, 10**8)
    middle = FAIR.estimate(yes=200, answers=400)
    assert (middle.interval[1] - middle.interval[0]) / 2 == FAIR.error_for(people=400)


def test_planned_people_suffice_and_one_less_does_not() -> None:
    plan = FAIR.people_for(error="0.1", confidence="0.9")
    assert FAIR.error_for(people=plan.people, confidence="0.9") <= plan.error
    assert FAIR.error_for(people=plan.people - 1, confidence="0.9") > plan.error
    assert 3.8 < plan.people / plan.direct < 4  # about 1 / truth² times as many as without privacy
    assert plan.loss == FAIR.loss
    assert "asked directly, without privacy" in str(plan)


def test_beliefs_after_an_answer_are_bayes_rule_and_change_odds_by_the_factor() -> None:
    told = FAIR.deniability(priors=("0.1", "0.5"))
    assert [(each.after_yes, each.after_no) for each in told.beliefs] == [
        (Fraction(1, 4), Fraction(1, 28)),
        (Fraction(3, 4), Fraction(1, 4)),
    ]
    for each in CoinSurvey("Did you?", truth="2/3").deniability().beliefs:
        before, after = each.before / (1 - each.before), each.after_yes / (1 - each.after_yes)
        assert after / before == 5
    said = str(told)
    assert "0.25 of those for whom the truth is no say yes" in said
    assert "a factor of 3 at most" in said


def test_answers_have_the_stated_odds() -> None:
    # |z| > 6.5 has probability 8e-11; 10 % off is 14 deviations away.
    survey, truths = CoinSurvey("Did you?", truth="1/3"), np.array([True, False] * 20_000)
    lies = int((survey.answers(truths) != truths).sum())

    def z(rate: float) -> float:
        return (lies - 40_000 * rate) / math.sqrt(40_000 * rate * (1 - rate))

    assert abs(z(1 / 3)) < 6.5
    assert abs(z(0.9 / 3)) > 6.5 and abs(z(1.1 / 3)) > 6.5


def test_one_answer_is_a_bool_and_both_happen() -> None:
    entropy = ReplayEntropy(3)
    found = Counter(FAIR.answer(True, entropy=entropy) for _ in range(200))
    assert set(found) == {True, False} and found[True] > found[False]
    assert type(FAIR.answer(np.True_)) is bool
    assert FAIR.answers([]).tolist() == []
    assert FAIR.question in FAIR.ask() and "factor of 3 at most" in FAIR.ask()


@pytest.mark.parametrize("chance", ["1/2", "1/4", "7/8", "1/6", "2/3", "5/12", "35/36", "1/36"])
def test_sheets_state_a_throw_with_the_stated_probability(chance: str) -> None:
    throw, wanted = Throw.making(Fraction(chance)), Fraction(chance)
    assert Fraction(throw.favourable, throw.sides**throw.count) == wanted
    sheet = CoinSurvey("Did you?", truth=chance).paper()
    assert throw.condition in sheet and f"with probability {chance}," in sheet
    if throw.sides == 2 and throw.count > 1:
        assert throw.condition.count(";") == throw.favourable - 1


def test_the_two_dice_of_a_sheet_are_counted() -> None:
    assert Throw.making(Fraction(5, 12)).condition == (
        "the first throw shows 2 or less, or the first throw shows 3 and the second 3 or less"
    )
    assert Throw.making(Fraction(1, 36)).condition == "the first throw shows 1 and the second 1"


def test_probabilities_that_nobody_can_throw_are_refused_on_paper() -> None:
    with pytest.raises(BadArgument, match=r"must be a multiple of 1/8 \(coins\) or of 1/36 \(dice\)"):
        CoinSurvey("Did you?", truth="0.3").paper()


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        (0, "truth must be greater than 0, or answers say nothing; got 0."),
        (1, "truth must be less than 1, or answers hide nothing; got 1."),
        (1.5, "truth must be between 0 and 1; got 1.5."),
        (float("nan"), "truth must be finite; got nan."),
    ],
)
def test_A1_055_a_survey_that_says_or_hides_nothing_is_refused(truth: float, said: str) -> None:
    with pytest.raises(BadArgument) as refusal:
        CoinSurvey("Did you?", truth=truth)
    assert str(refusal.value) == said


@pytest.mark.parametrize(("yes", "answers"), [(0, 0), (3, 2), (-1, 5), (1.0, 5), (True, 5)])
def test_impossible_counts_are_refused(yes: int, answers: int) -> None:
    with pytest.raises(BadArgument):
        FAIR.estimate(yes=yes, answers=answers)


@pytest.mark.parametrize("confidence", [0, 0.3, 1, float("nan")])
def test_confidences_that_mean_nothing_are_refused(confidence: float) -> None:
    with pytest.raises(BadArgument, match="confidence"):
        FAIR.estimate(yes=1, answers=2, confidence=confidence)


def test_plans_that_mean_nothing_are_refused() -> None:
    for error in (0, 0.5, float("nan")):
        with pytest.raises(BadArgument, match="error"):
            FAIR.people_for(error=error)
    with pytest.raises(CannotCalibrate, match="more than 1,000,000,000,000 people"):
        FAIR.people_for(error="1e-9")
    with pytest.raises(BadArgument, match="question"):
        CoinSurvey("  ")


def test_a_refused_truth_is_not_shown() -> None:
    with pytest.raises(BadArgument) as refusal:
        FAIR.answer("secret")  # type: ignore[arg-type]
    assert str(refusal.value) == "the true answer must be True or False; got something else."
    with pytest.raises(BadArgument) as refusal:
        FAIR.answers([1, 0, 7])
    assert "7" not in str(refusal.value)

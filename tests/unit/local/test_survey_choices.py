"""Questions with several answers, several questions, refusals and lies: laws, losses, and intervals that cover."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Literal

import pytest

from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, CannotCalibrate
from sfumato.local.questionnaire import Questionnaire, truth_for
from sfumato.local.survey import CoinSurvey
from sfumato.local.survey_cheating import find_cheating
from sfumato.local.survey_choice import ChoiceSurvey
from sfumato.local.survey_paper import possible_on_paper
from sfumato.local.survey_plans import survey_sizes

HALF = Fraction(1, 2)
TRAVEL = ChoiceSurvey("How did you come?", ["bus", "car", "foot"])
FAIR = CoinSurvey("Did you?")
SAYINGS: tuple[Literal["no", "yes", "anything"], ...] = ("no", "yes", "anything")


def binomial(count: int, chance: Fraction) -> list[Fraction]:
    """All probabilities of so many hits."""
    return [math.comb(count, hits) * chance**hits * (1 - chance) ** (count - hits) for hits in range(count + 1)]


def joined(first: list[Fraction], second: list[Fraction]) -> list[Fraction]:
    """The distribution of a sum of two independent counts."""
    total = [Fraction(0)] * (len(first) + len(second) - 1)
    for (left, mass), (right, other) in product(enumerate(first), enumerate(second)):
        total[left + right] += mass * other
    return total


def test_A1_057_four_answers_of_which_two_in_five_are_true() -> None:
    survey = ChoiceSurvey("Which?", list("ABCD"), truth="1/5")
    assert (survey.reported, survey.other) == (Fraction(2, 5), Fraction(1, 5))
    assert Fraction("0.693147180559945309") <= survey.loss.epsilon < Fraction("0.6931471805599454")


def test_A1_058_two_answers_are_the_survey_with_two_coins() -> None:
    two = ChoiceSurvey("Did you?", ["yes", "no"])
    assert two.loss == FAIR.loss and two.reported == FAIR.reported
    found, known = two.estimate({"yes": 400, "no": 600}), FAIR.estimate(yes=400, answers=1000)
    assert found["yes"].share == known.share and found["yes"].interval == known.interval
    assert found["yes"].variance == known.variance


@pytest.mark.parametrize("survey", [TRAVEL, ChoiceSurvey("Which?", list("ABCDE"), truth="1/7")])
def test_all_answers_of_two_people_are_alike_up_to_the_factor(survey: ChoiceSurvey) -> None:
    size = len(survey.choices)
    assert survey.reported + (size - 1) * survey.other == 1
    factor = survey.reported / survey.other
    assert factor == 1 + size * Fraction(survey.truth) / (1 - Fraction(survey.truth))
    assert (
        abs(float(survey.loss.epsilon) - math.log(factor)) < 1e-12 and survey.loss.epsilon >= math.log(factor) - 1e-15
    )


def test_answers_have_the_stated_odds() -> None:
    # 30,000 draws with a replayed key; 6.5 deviations, where 5 % off is more than 10 away.
    said = Counter(TRAVEL.answers(["car"] * 30_000, entropy=ReplayEntropy(5)))
    for answer, chance in (("car", Fraction(2, 3)), ("bus", Fraction(1, 6)), ("foot", Fraction(1, 6))):
        spread = math.sqrt(30_000 * chance * (1 - chance))
        assert abs(said[answer] - 30_000 * chance) < 6.5 * spread
    one = {TRAVEL.answer("bus", entropy=ReplayEntropy(seed)) for seed in range(60)}
    assert one == {"bus", "car", "foot"}


def test_shares_are_unbiased_and_their_intervals_cover_those_who_answered() -> None:
    answers, confidence = 9, Fraction(8, 10)
    for true in (0, 2, 5, 9):
        law = joined(binomial(true, TRAVEL.reported), binomial(answers - true, TRAVEL.other))
        mean, held = Fraction(0), Fraction(0)
        for count, mass in enumerate(law):
            found = TRAVEL.estimate({"bus": count, "car": answers - count}, confidence=confidence)["bus"]
            mean += mass * found.share
            held += mass * (found.interval[0] <= Fraction(true, answers) <= found.interval[1])
        assert mean == Fraction(true, answers)
        assert held >= confidence


def test_the_variance_is_exact_at_the_share_that_it_is_stated_for() -> None:
    for said in (3, 4, 6):  # of 12 answers: the shares 1/6, 1/3 and 2/3
        found = TRAVEL.estimate({"bus": said, "car": 12 - said})["bus"]
        true = found.share * 12
        assert true.denominator == 1
        law = joined(binomial(int(true), TRAVEL.reported), binomial(12 - int(true), TRAVEL.other))
        shares = [TRAVEL.estimate({"bus": count, "car": 12 - count})["bus"].share for count in range(13)]
        spread = sum(mass * (share - found.share) ** 2 for mass, share in zip(law, shares, strict=True))
        assert spread == found.variance


def test_intervals_that_hold_together_are_longer() -> None:
    alone, together = (TRAVEL.estimate({"bus": 50, "car": 30, "foot": 20}, together=each) for each in (False, True))
    assert all(together[name].interval[0] < alone[name].interval[0] for name in ("bus", "car"))
    assert together["bus"].confidence == 1 - Fraction(5, 100) / 3


def test_a_sheet_has_a_die_a_box_for_each_answer_and_a_new_throw() -> None:
    sheet = TRAVEL.paper()
    assert "    [ ] 3  foot" in sheet and "If it shows more than 3, throw again" in sheet and "a factor of 4" in sheet
    dice = ChoiceSurvey("Which?", list("ABCDEF"), truth="2/3").paper()
    assert "throw the die once more" in dice and "throw again" not in dice and "it shows 4 or less" in dice
    with pytest.raises(BadArgument, match="at most 6, the sides of a die; got 7"):
        ChoiceSurvey("Which?", list("ABCDEFG")).paper()


@pytest.mark.parametrize("choices", ["yes", [], ["one"], ["a", "a"], ["a", ""], [1, 2], None])
def test_choices_that_are_none_are_refused(choices: list[str]) -> None:
    with pytest.raises(BadArgument, match="choices"):
        ChoiceSurvey("Which?", choices)


def test_refusals_show_no_answer() -> None:
    for act in (
        lambda: TRAVEL.answer("secret"),
        lambda: TRAVEL.answers(["secret"]),
        lambda: TRAVEL.estimate(["secret"]),
    ):
        with pytest.raises(BadArgument) as refusal:
            act()
        assert "secret" not in str(refusal.value) and "one of bus, car, foot" in str(refusal.value)
    with pytest.raises(BadArgument, match="answers"):
        TRAVEL.estimate({})


def test_losses_of_several_questions_add_up_and_factors_multiply() -> None:
    three = Questionnaire([FAIR, FAIR, TRAVEL])
    assert three.factor == 3 * 3 * 4
    assert three.loss == FAIR.loss.then(FAIR.loss).then(TRAVEL.loss)
    assert abs(float(three.loss.epsilon) - math.log(36)) < 1e-9
    assert "factor of 36 at most" in three.ask() and three.paper().count("answer safely") == 3
    assert "× 36" in str(three) and "all of them" in three._repr_html_()


@pytest.mark.parametrize("epsilon", ["0.3", "1", "2.5"])
@pytest.mark.parametrize("paper", [False, True])
def test_chosen_coins_keep_the_loss_and_the_next_ones_do_not(epsilon: str, paper: bool) -> None:
    asked = Questionnaire.within(Pure(epsilon), ["A?", ("B?", ["x", "y", "z"])], paper=paper)
    assert asked.loss <= Pure(epsilon)
    each = Pure(Fraction(epsilon) / 2)
    for question, answers in ((asked.questions[0], 2), (asked.questions[1], 3)):
        truth = Fraction(question.truth)
        assert truth == truth_for(each, answers=answers, paper=paper)
        larger = min(chance for chance in possible_on_paper() if chance > truth) if paper else truth + Fraction(1, 1000)
        assert not ChoiceSurvey("?", list("xyz")[:answers], larger).loss <= each


def test_questions_that_fit_no_coins_are_refused() -> None:
    with pytest.raises(CannotCalibrate, match="ask fewer questions"):
        Questionnaire.within(Pure("0.01"), ["A?"] * 3, paper=True)
    with pytest.raises(BadArgument, match="a list of questions"):
        Questionnaire.within(Pure(1), "A?")
    with pytest.raises(BadArgument, match="at least one CoinSurvey"):
        Questionnaire([])


def test_intervals_of_doubted_answers_cover_whatever_liars_say() -> None:
    answers, liars, confidence = 30, 3, Fraction(8, 10)
    honest = answers - liars
    plain_fails = False
    every = [FAIR.estimate(yes=yes, answers=answers, confidence=confidence) for yes in range(answers + 1)]
    widened = {say: [each.doubted(liars="0.1", say=say).interval for each in every] for say in SAYINGS}
    for count in range(answers + 1):
        low, high = widened["anything"][count]
        assert all(low <= widened[say][count][0] <= widened[say][count][1] <= high for say in SAYINGS)
    for true, lying_truth, said in product((0, 9, 27), (0, liars), (0, liars)):
        law = joined(binomial(true, FAIR.reported), binomial(honest - true, 1 - FAIR.reported))
        share = Fraction(true + lying_truth, answers)
        held, plain = Fraction(0), Fraction(0)
        for count, mass in enumerate(law):
            low, high = widened["anything"][count + said]
            held += mass * (low <= share <= high)
            low, high = every[count + said].interval
            plain += mass * (low <= share <= high)
        assert held >= confidence
        plain_fails = plain_fails or plain < confidence
    assert plain_fails  # else this test could not fail


def test_who_refused_may_be_anything() -> None:
    found = FAIR.estimate(yes=40, answers=100)
    doubted = found.doubted(refused=100)
    assert doubted.interval == (found.interval[0] / 2, found.interval[1] / 2 + HALF)
    assert found.doubted().interval == found.interval
    with pytest.raises(BadArgument, match="say must be one of"):
        found.doubted(liars="0.1", say="maybe")  # type: ignore[arg-type]


def test_answers_that_no_coins_give_are_said_to_be_doubtful() -> None:
    few, many, fine = (FAIR.estimate(yes=yes, answers=1000) for yes in (150, 850, 250))
    assert few.doubtful and "fewer yes than chance alone" in str(few)
    assert many.doubtful and "more yes than chance alone" in str(many)
    assert not fine.doubtful and "chance alone" not in str(fine)


def test_those_who_always_say_no_are_found_and_covered() -> None:
    few, many = CoinSurvey("?", "1/4"), CoinSurvey("?", "3/4")
    confidence = Fraction(8, 10)
    for shares in ((Fraction(3, 10), Fraction(1, 2)), (Fraction(1, 5), Fraction(4, 5)), (Fraction(0), Fraction(0))):
        yes, no = shares
        says = [yes * survey.reported + no * (1 - survey.reported) for survey in (few, many)]
        laws = [binomial(7, chance) for chance in says]
        mean = [Fraction(0)] * 3
        held = Fraction(0)
        for (one, mass), (two, other) in product(enumerate(laws[0]), enumerate(laws[1])):
            found = find_cheating((few, one, 7), (many, two, 7), confidence=confidence)
            estimated = found.honest_yes, found.honest_no, found.always_no
            assert sum(estimated) == 1
            mean = [total + mass * other * share for total, share in zip(mean, estimated, strict=True)]
            truths = yes, no, 1 - yes - no
            inside = all(low <= share <= high for share, (low, high) in zip(truths, found.intervals, strict=True))
            held += mass * other * (inside and found.yes[0] <= yes <= 1 - no <= found.yes[1])
        assert mean == [yes, no, 1 - yes - no]
        assert held >= confidence


def test_two_groups_with_the_same_coins_tell_nothing() -> None:
    with pytest.raises(BadArgument, match="different probabilities of the truth; got '1/2'"):
        find_cheating((FAIR, 1, 2), (FAIR, 1, 2))


def test_plans_of_several_surveys_stand_side_by_side() -> None:
    sizes = survey_sizes([FAIR, CoinSurvey("Did you?", "3/4")], errors=["0.1", "0.2"])
    assert sizes.plans[0][0] == FAIR.people_for(error="0.1")
    assert [plan.people for plan in sizes.plans[0]] > [plan.people for plan in sizes.plans[1]]
    assert f"{sizes.plans[0][0].people:,}" in str(sizes)
    with pytest.raises(BadArgument, match="at least one of each"):
        survey_sizes([], errors=["0.1"])

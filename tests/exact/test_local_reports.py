"""Local reports on numbers: whole output distributions against the claimed loss, and unbiased estimates."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.losses.measures import Pure
from sfumato.audit.brute_force import brute_epsilon, brute_sensitivity, outcome_probabilities
from sfumato.core.domains import Integers, Vector
from sfumato.core.metrics import AddRemove, ChangeOne, Discrete, Hamming
from sfumato.core.space import Space, scalar, vector
from sfumato.errors import BadArgument, NotInDomain, UnboundedColumn, UnknownSize
from sfumato.mechanisms.additive import laplace
from sfumato.mechanisms.estimators import estimated_mean, estimated_precision, estimated_recall
from sfumato.mechanisms.local_reports import local_laplace, local_mean_response, rounding_odds
from sfumato.transforms.confusion import positives, true_positives

pytestmark = pytest.mark.sharp_balls

TINY = Fraction(1, 10**20)


def test_A1_069_salary_and_age() -> None:
    age = scalar(int, between=(18, 100), metric=Discrete()) >> local_laplace(scale=3)
    assert age.map(1) == Pure(Fraction(82, 3))
    assert float(age.map(1).epsilon) == pytest.approx(27.3333, rel=1e-5)
    salary = scalar(float, between=(20_000, 200_000), metric=Discrete()) >> local_laplace(epsilon=2)
    assert ("scale", "90000") in salary.how.parameters, "b = 180 000 / ε"
    assert salary.map(1) == Pure(2)


@pytest.mark.parametrize("scale", ["1/2", "2"])
def test_noisy_reports_are_sound_and_tight(scale: str) -> None:
    measurement = scalar(int, between=(0, 4), metric=Discrete()) >> local_laplace(scale=Fraction(scale))
    low, high = brute_epsilon(measurement, range(5), missed=Fraction(1, 10**6))
    claimed = 4 / Fraction(scale)
    assert measurement.map(1) == Pure(claimed) and measurement.map(0) == Pure(0)
    assert claimed - TINY <= low <= high <= claimed + TINY


def test_noisy_columns_cost_their_changed_rows() -> None:
    space = vector(int, between=(0, 2), size=2, metric=Hamming())
    measurement = space >> local_laplace(scale=2)
    members = list(itertools.product(range(3), repeat=2))
    for distance in (1, 2):
        low, high = brute_epsilon(measurement, members, d_in=distance, missed=Fraction(1, 100))
        assert distance - TINY <= low <= high <= distance + TINY
    assert (vector(int, between=(0, 2), size=5) >> local_laplace(scale=2)).map(3) == Pure(3)


def test_noisy_reports_leave_sorted_where_order_is_hidden() -> None:
    reports = (vector(float, between=(0, 1), size=40) >> local_laplace(scale=1))(np.linspace(0, 1, 40)).value
    assert reports.tolist() == sorted(reports.tolist()) and reports.dtype == np.float64
    whole = (vector(int, between=(0, 1), size=3, metric=Hamming()) >> local_laplace(scale=1))([0, 1, 1]).value
    assert whole.dtype == np.int64
    huge = (scalar(int, between=(0, 2**80), metric=Discrete()) >> local_laplace(epsilon=1))(2**80).value
    assert isinstance(huge, int) and abs(huge) < 2**90
    single = (scalar(float, between=(0, 1), metric=Discrete()) >> local_laplace(scale="0.001"))(0.5).value
    assert abs(single - 0.5) < 0.1


def test_A1_067_local_mean() -> None:
    assert estimated_mean(60, of=100, p="0.75", between=(0, 10)) == 7


@pytest.mark.parametrize("given", [{"p": "0.75"}, {"p": "0.3"}, {"epsilon": 1}])
def test_rounded_reports_are_sound_and_tight(given: dict[str, object]) -> None:
    measurement = scalar(float, between=(-1, 3), metric=Discrete()) >> local_mean_response(**given)  # type: ignore[arg-type]
    low, high = brute_epsilon(measurement, [-1.0, -0.3, 0.1, 2.5, 3.0])
    claimed = measurement.map(1).epsilon
    assert claimed - TINY <= low <= high <= claimed + TINY


@pytest.mark.parametrize("metric", [ChangeOne(), Hamming(), AddRemove()])
def test_rounded_columns_are_sound_and_tight(metric: ChangeOne) -> None:
    measurement = vector(float, between=(0, 1), size=2, metric=metric) >> local_mean_response(epsilon=1)
    members = list(itertools.product((0.0, 0.25, 1.0), repeat=2))
    for distance in (0, 1, 2, 4):
        low, high = brute_epsilon(measurement, members, d_in=distance)
        claimed = measurement.map(distance).epsilon
        assert claimed - TINY <= low <= high <= claimed + TINY


@pytest.mark.parametrize("value", [0.1, 0.30000000000000004, 1e-320, 0.0, 10.0, 9.999999999999998])
def test_rounded_reports_are_unbiased_exactly(value: float) -> None:
    measurement = scalar(float, between=(0, 10), metric=Discrete()) >> local_mean_response(p="0.75")
    law = outcome_probabilities(measurement, value)
    mean = sum(law[report] * estimated_mean(int(report), of=1, p="0.75", between=(0, 10)).numerator for report in law)
    assert estimated_mean(1, of=1, p="0.75", between=(0, 10)).denominator == 1
    assert abs(float(mean) - value) < 1e-25 + 1e-16 * value


def test_rounding_odds_are_exact_and_total() -> None:
    tenth, one = Fraction("0.1"), Fraction(1)

    def share(value: float, lower: Fraction, width: Fraction) -> Fraction:
        return Fraction(*rounding_odds(value, lower=lower, width=width, step=one))

    assert share(0.1, tenth, 2 * tenth) == (Fraction(0.1) - tenth) / (2 * tenth) > 0
    assert share(0.3, tenth, 2 * tenth) == (Fraction(0.3) - tenth) / (2 * tenth) < 1
    assert share(0.7, tenth, Fraction("0.6")) < 1 == share(0.6000000000000001, Fraction(0), Fraction("0.6"))
    assert share(-0.0, Fraction(0), one) == 0 == share(-5e-324, Fraction(0), one)


def test_exact_aggregates_can_be_reported_too() -> None:
    quarters = Space(Integers(between=(0, 1), step=Fraction(1, 4)), Discrete())  # type: ignore[arg-type]
    law = outcome_probabilities(quarters >> local_mean_response(p=1), 1)
    assert float(law[True]) == 0.25


def test_bad_local_spaces_are_refused() -> None:
    for made in (local_laplace(scale=1), local_mean_response(p="0.75")):
        with pytest.raises(UnboundedColumn):
            scalar(float, metric=Discrete()) >> made
        with pytest.raises(BadArgument, match="metric=Discrete"):
            scalar(float, between=(0, 1)) >> made
        with pytest.raises(UnknownSize):
            vector(float, between=(0, 1)) >> made
        with pytest.raises(BadArgument, match="different from each other"):
            scalar(float, between=(1, 1), metric=Discrete()) >> made
        with pytest.raises(BadArgument, match="numbers within bounds"):
            scalar(bool) >> made
    with pytest.raises(BadArgument, match="either scale or epsilon"):
        local_laplace()
    with pytest.raises(BadArgument, match="either p or epsilon"):
        local_mean_response()
    with pytest.raises(NotInDomain):
        (scalar(float, between=(0, 1), metric=Discrete()) >> local_laplace(scale=1))(math.nan)


# ---------------------------------------------------------------- predictions against public labels (P1-095)


LABELS = [True, False, True, True]


@pytest.mark.parametrize("build", [true_positives, positives])
def test_P1_095_counts_of_predictions_move_by_one(build: object) -> None:
    made = vector(bool, size=4, metric=Hamming()) >> build(LABELS)  # type: ignore[operator]
    members = list(itertools.product((False, True), repeat=4))
    for distance in (1, 2):
        assert brute_sensitivity(made, members, d_in=distance) == made.map(distance) == distance
    assert made.map(math.inf) == 4


def test_P1_095_E1_16_recall_and_precision() -> None:
    space, predicted = vector(bool, size=4, metric=Hamming()), [True, True, False, True]
    assert (space >> true_positives(LABELS))(predicted) == 2
    assert (space >> positives(LABELS))(predicted).tolist() == [2, 1]
    assert estimated_recall(2, expected_positives=sum(LABELS)) == Fraction(2, 3), "what the text calls precision"
    assert estimated_precision((2, 1)) == Fraction(2, 3)
    assert estimated_precision((0, 0)) is None and estimated_precision((-3, 1)) is None
    noisy = space >> positives(LABELS) >> laplace(scale=2)
    assert noisy.map(1) == Pure("0.5"), "one prediction moves one of the two counts, so both cost one epsilon together"
    assert (space >> true_positives(LABELS) >> laplace(scale=1)).map(1) == Pure(1)


def test_predictions_must_line_up_with_their_labels() -> None:
    for space in (vector(bool, size=4), vector(bool), vector(bool, size=3, metric=Hamming()), vector(int, size=4)):
        with pytest.raises(BadArgument, match="in the order of the labels"):
            space >> true_positives(LABELS)
    for bad in ([], [1, 0], ["yes"]):
        with pytest.raises(BadArgument, match="True and False"):
            true_positives(bad)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="pair"):
        estimated_precision((1, 2, 3))
    assert isinstance((vector(bool, size=4, metric=Hamming()) >> positives(LABELS)).target.domain, Vector)


def test_rounded_reports_at_an_epsilon_of_zero_say_nothing() -> None:
    mechanism = scalar(int, between=(0, 3), metric=Discrete()) >> local_mean_response(epsilon=0)
    assert mechanism.map(1) == Pure(0)
    assert {mechanism(3).value for _ in range(200)} == {False, True}
    assert all(abs(float(chance) - 0.5) < 1e-12 for chance in outcome_probabilities(mechanism, 3).values())

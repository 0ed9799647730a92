"""Randomized response: whole output distributions against the claimed loss, on every small data set."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from sfumato.accounting.losses.measures import Pure
from sfumato.audit.brute_force import brute_epsilon, outcome_probabilities
from sfumato.core.domains import Categories, Integers, Vector
from sfumato.core.metrics import L1, AddRemove, Discrete, Hamming
from sfumato.core.space import Space, scalar, vector
from sfumato.errors import BadArgument, NotInDomain, UnknownSize
from sfumato.exact import log_up, precision, up
from sfumato.mechanisms.randomized_response import (
    ResponseOdds,
    coin_flip_response,
    offset_law,
    offset_sampler,
    randomized_response,
    response_loss,
)
from sfumato.noise.inversion import TABLE_BITS

pytestmark = pytest.mark.sharp_balls

TINY = Fraction(1, 10**20)
LETTERS = ["A", "B", "C", "D"]


def close(found: object, expected: float) -> bool:
    return abs(float(found) - expected) <= 1e-5 * max(1.0, abs(expected))  # type: ignore[arg-type]


def test_A1_052_fair_coins() -> None:
    measurement = scalar(bool) >> coin_flip_response()
    law = {truth: outcome_probabilities(measurement, truth) for truth in (False, True)}
    assert [float(law[a][b]) for a in (False, True) for b in (False, True)] == [0.75, 0.25, 0.25, 0.75]
    assert close(measurement.map(1).epsilon, 1.098612)
    low, high = brute_epsilon(measurement, [False, True])
    claimed = measurement.map(1).epsilon
    assert claimed - TINY <= low <= high <= claimed + TINY


def test_A1_053_a_quarter_of_true_answers_show_the_opposite() -> None:
    measurement = scalar(bool) >> coin_flip_response()
    assert float(outcome_probabilities(measurement, True)[False]) == 0.25


def test_A1_054_a_rare_first_coin() -> None:
    measurement = scalar(bool) >> coin_flip_response(q="0.01")
    assert close(outcome_probabilities(measurement, True)[True], 0.505)
    assert close(measurement.map(1).epsilon, 0.0200007)


def test_A1_055_the_ends_of_p_and_calibration_from_epsilon() -> None:
    assert (scalar(bool) >> randomized_response(p="0.5")).map(1) == Pure(0)
    assert (scalar(bool) >> randomized_response(p=1)).map(1) == Pure(math.inf)
    assert (scalar(bool) >> randomized_response(p=1))(True).value is True
    from_loss = scalar(bool) >> randomized_response(epsilon=1)
    assert close(outcome_probabilities(from_loss, True)[True], 0.7310586)
    assert from_loss.map(1) == Pure(1), "an irrational p meets its epsilon exactly"


def test_A1_056_less_than_half_truth_costs_the_absolute_value() -> None:
    measurement = scalar(bool) >> randomized_response(p="0.25")
    assert close(measurement.map(1).epsilon, math.log(3))
    low, _ = brute_epsilon(measurement, [False, True])
    assert low >= measurement.map(1).epsilon - TINY


def test_A1_057_four_options_and_E1_28() -> None:
    measurement = scalar(LETTERS) >> randomized_response(p="0.4")
    law = outcome_probabilities(measurement, "A")
    assert close(law["B"], 0.2)
    assert close(measurement.map(1).epsilon, 0.693147)
    low, _ = brute_epsilon(measurement, LETTERS)
    assert low > Fraction("0.288"), "the printed 0.288 is the value of three options and would be unsound"


def test_A1_058_two_options_recover_the_binary_form() -> None:
    loss = (scalar(["yes", "no"]) >> randomized_response(p="0.7")).map(1)
    assert loss == Pure(log_up(Fraction(7, 3)))


def test_A1_059_P1_168_E1_42_broken_supports_are_refused() -> None:
    with pytest.raises(BadArgument, match="distinct"):
        scalar(["A", "A", "B"]) >> randomized_response(p="1/3")
    with pytest.raises(BadArgument, match="at least 1/4"):
        scalar(LETTERS) >> randomized_response(p="0.1")
    assert (scalar(LETTERS) >> randomized_response(p="1/4")).map(1) == Pure(0)
    with pytest.raises(BadArgument, match="at least two"):
        scalar(["only"]) >> randomized_response(p=1)


def test_P1_168_what_a_duplicate_would_leak() -> None:
    """The attack the refusal stops: A counted twice gives ln 2 where the formula claims 0."""
    true_ratio = Fraction(2, 3) / Fraction(1, 3)
    assert response_loss(ResponseOdds.read(3, Fraction(1, 3), None), 1) == Pure(0)
    assert log_up(true_ratio) > Fraction(69, 100)


def test_A1_060_the_map_levels_off_at_one() -> None:
    measurement = scalar(LETTERS) >> randomized_response(p="0.4")
    assert measurement.map(0) == Pure(0)
    assert measurement.map(1) == measurement.map(5) == measurement.map(math.inf)


def test_A1_065_expected_yes_answers() -> None:
    measurement = scalar(bool) >> coin_flip_response()
    expected = (
        40 * outcome_probabilities(measurement, True)[True] + 60 * outcome_probabilities(measurement, False)[True]
    )
    assert close(expected, 45)


def test_A1_068_pixels_flipped_with_a_quarter() -> None:
    picture = vector(bool, size=9, metric=Hamming()) >> randomized_response(p="0.75")
    assert close(picture.map(1).epsilon, math.log(3))


@pytest.mark.parametrize("options", [2, 3, 5])
@pytest.mark.parametrize("given", [{"p": "0.6"}, {"p": "0.9"}, {"epsilon": "0.3"}, {"epsilon": 2}])
def test_one_answer_is_sound_and_tight(options: int, given: dict[str, object]) -> None:
    values = list(range(options))
    measurement = scalar(values) >> randomized_response(**given)  # type: ignore[arg-type]
    low, high = brute_epsilon(measurement, values)
    claimed = measurement.map(1).epsilon
    assert claimed - TINY <= low <= high <= claimed + TINY


@pytest.mark.parametrize("distance", [0, 1, 2, 3])
def test_columns_under_change_one_are_sound_and_tight(distance: int) -> None:
    measurement = vector(["a", "b", "c"], size=3) >> randomized_response(epsilon="0.7")
    members = list(itertools.product("abc", repeat=3))
    low, high = brute_epsilon(measurement, members, d_in=distance)
    assert measurement.map(distance) == Pure(distance * Fraction("0.7"))
    assert distance * Fraction("0.7") - TINY <= low <= high <= distance * Fraction("0.7") + TINY


@pytest.mark.parametrize("distance", [0, 1, 2, 3, 4])
def test_columns_of_a_public_size_under_add_remove(distance: int) -> None:
    measurement = vector(bool, size=2, metric=AddRemove()) >> randomized_response(epsilon=1)
    low, high = brute_epsilon(measurement, list(itertools.product((False, True), repeat=2)), d_in=distance)
    assert measurement.map(distance) == Pure(distance // 2)
    assert distance // 2 - TINY <= low <= high <= distance // 2 + TINY


@pytest.mark.parametrize(
    "space",
    [
        vector(bool, size=3, metric=Hamming()),
        Space(Vector(Integers(between=(0, 1)), size=3), L1()),  # type: ignore[arg-type]
    ],
)
@pytest.mark.parametrize("distance", [1, 2, 3, 9])
def test_bit_vectors_cost_their_distance(space: Space, distance: int) -> None:
    measurement = space >> randomized_response(p="0.8")
    members = list(itertools.product((0, 1), repeat=3))
    low, high = brute_epsilon(measurement, members, d_in=distance)
    claimed = measurement.map(distance).epsilon
    assert claimed == min(distance, 3) * log_up(Fraction(4))
    assert claimed - TINY <= low <= high <= claimed + TINY


def test_a_whole_vector_under_the_discrete_distance() -> None:
    measurement = Space(Vector(Categories((False, True)), size=2), Discrete()) >> randomized_response(epsilon=1)
    low, high = brute_epsilon(measurement, list(itertools.product((False, True), repeat=2)))
    assert measurement.map(1) == Pure(2)
    assert 2 - TINY <= low <= high <= 2 + TINY


def test_the_check_would_notice_a_wrong_constant() -> None:
    claimed = (scalar(LETTERS) >> randomized_response(epsilon=1)).map(1).epsilon
    low, _ = brute_epsilon(scalar(LETTERS) >> randomized_response(epsilon="1.001"), LETTERS)
    assert low > claimed


def test_trap_2930_the_number_of_reports_never_depends_on_the_data() -> None:
    with pytest.raises(UnknownSize, match="number of reports"):
        vector(bool) >> randomized_response(p="0.75")
    with pytest.raises(NotInDomain):
        (vector(bool, size=2) >> randomized_response(p="0.75"))([True])
    assert len((vector(bool, size=2) >> randomized_response(p="0.75"))([True, False]).value) == 2


def test_order_is_hidden_where_the_distance_does_not_see_it() -> None:
    """A column and its reverse are at change-one distance 0, so their reports must have one and the same law."""
    measurement = vector(["a", "b"], size=2) >> randomized_response(p="0.9")
    here, there = (outcome_probabilities(measurement, data) for data in (("a", "b"), ("b", "a")))
    assert all(here[key].overlaps(there[key]) for key in here | there)
    for _ in range(60):  # reports in the order of rows are in this order too, now and then
        answers = measurement(["b", "a"]).value
        assert list(answers) == sorted(answers)


def test_inputs_outside_the_options_are_refused() -> None:
    with pytest.raises(NotInDomain):
        (scalar([0, 1]) >> randomized_response(p="0.75"))(2)
    with pytest.raises(BadArgument, match="categories, or whole numbers"):
        scalar(str) >> randomized_response(p="0.75")
    with pytest.raises(BadArgument, match="metric=Discrete"):
        scalar(float, between=(0, 1)) >> randomized_response(p="0.75")
    with pytest.raises(BadArgument, match="choice of two"):
        scalar(LETTERS) >> coin_flip_response()


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan, math.inf, True, "x"])
def test_bad_probabilities_are_refused(bad: object) -> None:
    with pytest.raises(ValueError, match="p must be"):
        randomized_response(p=bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [{}, {"p": 0.5, "epsilon": 1}])
def test_exactly_one_parameter(given: dict[str, float]) -> None:
    with pytest.raises(BadArgument, match="either p or epsilon"):
        randomized_response(**given)  # type: ignore[arg-type]


def test_negative_or_missing_epsilon_is_refused() -> None:
    for bad in (-1, math.nan, math.inf):
        with pytest.raises(BadArgument, match="epsilon must be"):
            randomized_response(epsilon=bad)


@pytest.mark.parametrize(
    "answer",
    [
        ResponseOdds.read(2, Fraction(3, 4), None),
        ResponseOdds.read(2, Fraction(1), None),
        ResponseOdds.read(2, Fraction(0), None),
        ResponseOdds.read(5, Fraction(1, 3), None),
        ResponseOdds.read(7, None, Fraction(1, 2)),
    ],
)
def test_the_table_that_draws_has_the_law(answer: ResponseOdds) -> None:
    """The thresholds of the sampler, read as a distribution, equal the stated masses to 2⁻⁶³."""
    with precision(TABLE_BITS):
        law = offset_law(answer)
        limits = [int(limit) for limit in offset_sampler(answer).leading.limits]
        for index, limit in enumerate(limits, start=1):
            mass = law.mass_below(index)
            assert abs(float(mass * 2**64 - limit)) <= 1.001
        first = law.mass_below(1)
        assert first.overlaps(answer.chance(same=True))


def test_columns_keep_their_kind() -> None:
    bits = (vector(bool, size=3, metric=Hamming()) >> randomized_response(p=1))(np.array([True, False, True])).value
    assert bits.dtype == np.bool_ and bits.tolist() == [True, False, True]
    whole = (vector([3, 4, 5], size=3, metric=Hamming()) >> randomized_response(p=1))(np.array([5, 3, 4])).value
    assert whole.dtype == np.int64 and whole.tolist() == [5, 3, 4]
    words = (vector(["x", "y"], size=2, metric=Hamming()) >> randomized_response(p=1))(["y", "x"]).value
    assert words.tolist() == ["y", "x"]
    ages = (scalar(int, between=(0, 3), metric=Discrete()) >> randomized_response(p=1))(2).value
    assert ages == 2


def test_the_release_names_p_and_rounds_the_loss_up() -> None:
    release = (scalar(bool) >> randomized_response(p="0.75"))(True)
    assert "p 0.75" in str(release)
    assert up(release.loss.epsilon) >= math.log(3)  # type: ignore[attr-defined]


def test_options_beyond_64_bits_come_as_lists_or_arrays() -> None:
    mechanism = vector(int, between=(2**63, 2**63 + 2), size=2) >> randomized_response(p="1")
    for data in ([2**63, 2**63 + 2], np.array([2**63, 2**63 + 2], dtype=np.uint64)):
        assert mechanism(data).value.tolist() == [2**63, 2**63 + 2]


@pytest.mark.parametrize("options", [2, 3, 7])
def test_an_epsilon_of_zero_says_nothing_about_the_truth(options: int) -> None:
    """Weights of exp(0) = 1 must be divided by their sum: else the truth would be told always, at a loss of 0."""
    mechanism = scalar(list(range(options))) >> randomized_response(epsilon=0)
    assert mechanism.map(1) == Pure(0)
    assert brute_epsilon(mechanism, range(options))[0] == 0
    for truth in range(options):
        chances = outcome_probabilities(mechanism, truth)
        assert all(abs(float(chance) - 1 / options) < 1e-12 for chance in chances.values())
        # One option is missed in 400 draws with a chance of at most 7 (6/7)^400 < 10^-25.
        assert {mechanism(truth).value for _ in range(400)} == set(range(options))
    column = vector(list(range(options)), size=400, metric=Hamming()) >> randomized_response(epsilon=0)
    assert set(column([0] * 400).value.tolist()) == set(range(options))

"""Attacks on how noise is made: last bits, ends of ranges, broken responses, running time."""

from __future__ import annotations

import math
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.meaning.attacker import Attacker, pure_part
from sfumato.attacks import (
    broken_response,
    combined_laplace,
    floating_point,
    sampler_timing,
    support,
    textbook_laplace,
    timing,
    toy_models,
)
from sfumato.attacks.floating_point import DoubleLaplace, sum_reaches
from sfumato.attacks.result import Violation
from sfumato.core.measurement import Measurement
from sfumato.core.space import scalar, vector
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, NotInDomain
from sfumato.exact import ball, enclose
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.mechanisms.padding import Clock, padded
from sfumato.mechanisms.randomized_response import randomized_response
from sfumato.mechanisms.truncated import truncated_laplace
from sfumato.release.claim import claim
from sfumato.transforms.aggregate import count

# --- last bits

ordinary = st.floats(-1e6, 1e6)


@given(ordinary, st.integers(1, 2**53), st.sampled_from((0.01, 1.0, 100.0)), st.integers(0, 999))
def test_a_sampler_reaches_what_it_gives(value: float, place: int, scale: float, seed: int) -> None:
    """The attacker never rules the truth out, so that certainty is always right."""
    for sampler in (textbook_laplace(scale), combined_laplace(scale)):
        assert sampler.reaches(sampler.draw(value, ReplayEntropy(seed)), value)
    drawn = value - scale * math.log(place / 2**53)
    assert textbook_laplace(scale).reaches(drawn, value)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_a_sum_reaches_what_it_gives(value: float, term: float) -> None:
    total = value + term
    assert sum_reaches(total, value) or not math.isfinite(total) or not math.isfinite(total - value)


def test_a_sum_at_a_power_of_two_is_reached_from_the_other_side() -> None:
    """The difference is a tie that is rounded down, and there doubles lie closer: only the next term gives the sum."""
    value, term = -(2.0**-53), 1 + 2.0**-52
    assert value + term == 1.0 != value + (1.0 - value)
    assert sum_reaches(1.0, value)


@pytest.mark.parametrize("output", [math.nan, math.inf, -math.inf, 5e-324, -0.0, 1.7e308])
def test_reachability_is_told_of_every_double(output: float) -> None:
    for sampler in (textbook_laplace(1), combined_laplace(1)):
        assert sampler.reaches(output, 1.0) in (True, False)
    assert not textbook_laplace(1).reaches(1.7e308, 0.0), "beyond the logarithm of the least uniform number"
    assert not textbook_laplace(1).reaches(math.nan, 0.0) and not sum_reaches(math.inf, 0.0)


def test_P1_171_the_last_bits_of_textbook_noise_tell_the_value() -> None:
    """Ten outputs are said to cost ε = 0.1, with which nobody is right more often than 52.5 times in 100."""
    found = floating_point(textbook_laplace(100), trials=400, entropy=ReplayEntropy(5))
    assert found.success.rate > 0.99 and found.violation is Violation.RECONSTRUCTION
    assert found.found.claimed == pytest.approx(0.1) and found.epsilon is None, "what it claims it does not have"
    assert found.found.most_certain == pytest.approx(1 / (1 + math.exp(-0.1)))
    assert found.found.certain.rate == 1 and found.found.certain.trials > 0.99 * found.success.trials
    single = floating_point(textbook_laplace(100), samples=1, trials=400, entropy=ReplayEntropy(5))
    assert single.success.interval("0.999")[0] > 0.6, "one output is enough more often than not"


def test_several_uniform_numbers_are_no_defence() -> None:
    found = floating_point(combined_laplace(100), trials=4000, entropy=ReplayEntropy(5))
    assert found.found.certain.rate == 1 and found.found.certain.trials > 100
    assert found.success.interval("0.999")[0] > found.found.most_certain, "more often right than ε = 0.1 allows"


@pytest.mark.parametrize("believed", [textbook_laplace(100), combined_laplace(100)], ids=lambda sampler: sampler.name)
def test_the_last_bits_of_ours_tell_nothing(believed: DoubleLaplace) -> None:
    ours = scalar(float) >> laplace(scale=100)
    found = floating_point(ours, believed=believed, trials=1000, entropy=ReplayEntropy(5))
    low, high = found.success.interval("0.99")
    assert low <= 0.5 <= high and found.baseline == 0.5
    assert found.found.certain.trials < 0.05 * found.success.trials, "hardly ever is one value left"
    assert found.epsilon == pytest.approx(0.1) and found.against == "sfumato, 10 × ε = 0.01"


def test_every_outcome_of_ours_is_possible_from_both_values() -> None:
    measurement, source = scalar(float) >> laplace(scale=100), ReplayEntropy(6)
    assert measurement.law is not None and measurement.noise is not None
    for _ in range(50):
        steps = Fraction(measurement.function(0.0, source)) / measurement.noise.step
        assert steps.denominator == 1
        chances = [measurement.law(value).probability(int(steps)) for value in (0.0, 1.0)]
        assert all(chance > 0 for chance in chances)
        assert not chances[0] / chances[1] > ball(Fraction(1011, 1000)), "e^0.01, and no more"


def test_what_floating_point_attacks() -> None:
    no_float: list[tuple[Any, Any]] = [
        (scalar(float) >> laplace(scale=1), None),
        (scalar(float) >> laplace(scale=1), 3),
        (scalar(float) >> gaussian(scale=1), textbook_laplace(1)),
        (vector(["a"]) >> count() >> laplace(scale=1), textbook_laplace(1)),
    ]
    for attacked, believed in no_float:
        with pytest.raises(BadArgument, match="a pure measurement of one float, with believed="):
            floating_point(attacked, believed=believed)
    with pytest.raises(BadArgument, match="must be a sampler in doubles or a measurement; got 3"):
        floating_point(3)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="scale must be greater than 0"):
        textbook_laplace(0)
    with pytest.raises(BadArgument, match="samples must be a whole number of at least 1"):
        floating_point(textbook_laplace(1), samples=0)
    told: list[int] = []
    floating_point(textbook_laplace(1), trials=3, progress=lambda done, steps: told.append(done))
    assert told == [1, 2, 3]


NO_PAIRS: dict[str, tuple[Any, str]] = {
    "one": (5, "values must be two, to tell apart"),
    "three": ((0, 1, 2), "values must be two, to tell apart"),
    "equal": ((1, 1), "values must be two different ones"),
    "texts": (("a", "b"), "a value must be a"),
}


@pytest.mark.parametrize(("values", "message"), NO_PAIRS.values(), ids=list(NO_PAIRS))
def test_attacks_tell_two_values_apart(values: Any, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        floating_point(textbook_laplace(1), values=values)
    with pytest.raises(BadArgument, match=message):
        sampler_timing(lambda value, entropy: value, clock=Clock(lambda: 0), values=values)


def test_last_bits_are_those_of_doubles() -> None:
    with pytest.raises(BadArgument, match="a value must be one that a double can hold"):
        floating_point(textbook_laplace(1), values=(0, 10**400))


# --- ends of ranges


def test_P1_169_an_outcome_beyond_the_neighbours_reach_tells() -> None:
    found = support(scalar(int) >> truncated_laplace(scale=1, reach=3), 0, 1, trials=2000, entropy=ReplayEntropy(1))
    beyond = found.found
    assert beyond.mass <= beyond.delta * (1 + Fraction(1, 10**9)) and float(beyond.mass) == pytest.approx(
        0.0236405, rel=1e-5
    )
    assert beyond.certain.rate == 1 and beyond.certain.trials == pytest.approx(2000 * 0.0236405, abs=25)
    assert found.epsilon == 1.0 and found.baseline == 0.5


def test_A1_080_P1_169_no_pure_epsilon_however_far_the_cut() -> None:
    measurement = scalar(int) >> truncated_laplace(scale=1, reach=1000)
    mass = support(measurement, 0, 1, trials=1, entropy=ReplayEntropy(1)).found.mass
    loss = measurement.map(1)
    assert isinstance(loss, Approx) and loss.delta >= mass * (1 - Fraction(1, 10**9)) > 0
    assert pure_part(Profile.of(loss)) == math.inf
    low, high = enclose(lambda: ball(-1000).exp() / 2)
    removed = math.log10(Fraction(high).numerator) - math.log10(Fraction(high).denominator)
    assert removed == pytest.approx(-434.60, abs=5e-3)
    # On whole numbers the last outcome has tanh(1/2) of e^-1000, where the continuous tail has a half.
    assert float(mass / Fraction(low)) == pytest.approx(2 * math.tanh(0.5), rel=1e-9)


def test_noise_that_covers_everything_excludes_nothing() -> None:
    found = support(scalar(bool) >> randomized_response(epsilon=1), True, False, trials=200, entropy=ReplayEntropy(1))
    assert found.found.mass == 0 and found.found.delta == 0 and found.found.certain.trials == 0


@pytest.mark.parametrize(
    ("measurement", "message"),
    [
        (scalar(float) >> truncated_laplace(scale=1, reach=3), "measurement must be one with a known law"),
        (scalar(int) >> laplace(scale=1), "finitely many outcomes"),
        (scalar(int) >> gaussian(scale=1), "the loss of the measurement must be Pure or Approx"),
    ],
    ids=["floats", "endless", "concentrated"],
)
def test_support_needs_a_finite_law(measurement: Measurement, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        support(measurement, 0, 1)


def test_support_states_the_loss_of_the_pair_that_it_tells_apart() -> None:
    """Data sets 50 apart are told apart at once, which says nothing against a promise for neighbours."""
    cut = scalar(int) >> truncated_laplace(scale=1, reach=3)
    far = support(cut, 0, 50, trials=5, entropy=ReplayEntropy(1))
    assert far.epsilon == 50.0 and far.found.delta == 1
    assert support(cut, 0, 1, d_in=2, trials=5).epsilon == 2.0
    with pytest.raises(BadArgument, match="data and neighbour must be at most d_in apart"):
        support(cut, 0, 50, d_in=1)
    with pytest.raises(BadArgument, match="measurement must be a measurement; got 'int'"):
        support(3, 0, 1)  # type: ignore[arg-type]
    with pytest.raises(NotInDomain):
        support(cut, 0, "one")


# --- broken responses


def test_A1_059_P1_168_an_option_listed_twice() -> None:
    found = broken_response(["A", "A", "B"], p="1/3", entropy=ReplayEntropy(1))
    assert found.found.claimed == 0.0 and found.found.actual == pytest.approx(math.log(2))
    assert found.found.accuracy == Fraction(2, 3)
    low, high = found.success.interval("0.999")
    assert found.baseline == 0.5 < low <= 2 / 3 <= high


def test_A1_059_P1_168_a_truth_rarer_than_a_lie() -> None:
    found = broken_response("ABCD", p="0.1", trials=4000, entropy=ReplayEntropy(1))
    assert found.found.claimed == pytest.approx(-math.log(3)) and found.found.actual == pytest.approx(math.log(3))
    assert found.found.accuracy == Fraction(3, 10)
    low, high = found.success.interval("0.999")
    assert found.baseline == 0.25 < low <= 0.3 <= high
    fair = broken_response("ABCD", p="1/4", trials=10)
    assert (fair.found.claimed, fair.found.actual, fair.found.accuracy) == (0.0, 0.0, Fraction(1, 4))


@pytest.mark.parametrize(("p", "claimed"), [(0, -math.inf), (1, math.inf)])
def test_a_response_without_chance_has_no_limit(p: int, claimed: float) -> None:
    found = broken_response("AB", p=p, trials=20).found
    assert (found.claimed, found.actual, found.accuracy) == (claimed, math.inf, 1)


def test_ours_refuses_both() -> None:
    with pytest.raises(BadArgument):
        scalar(["A", "A", "B"]) >> randomized_response(p=Fraction(1, 3))
    with pytest.raises(BadArgument, match="the truth must be no rarer than another answer"):
        scalar(["A", "B", "C", "D"]) >> randomized_response(p=0.1)
    with pytest.raises(BadArgument, match="options must be at least two different ones"):
        broken_response("AA", p="1/2")
    with pytest.raises(BadArgument, match="options must be a list"):
        broken_response(5, p="1/2")  # type: ignore[arg-type]


def test_long_laws_are_left_out_of_what_python_shows() -> None:
    found = broken_response(range(100), p="1/2", trials=1).found
    assert "reports" not in repr(found) and len(found.reports) == 100


def test_responses_and_samplers_tell_how_far_they_are() -> None:
    told: list[tuple[int, int]] = []

    def tell(done: int, steps: int) -> None:
        told.append((done, steps))

    broken_response("AB", p="1/2", trials=2, progress=tell)
    sampler_timing(lambda value, entropy: value, clock=Clock(lambda: 0), lessons=2, trials=1, progress=tell)
    assert told == [(1, 2), (2, 2), (1, 3), (2, 3), (3, 3)]


# --- running time

ROWS, NEIGHBOUR = ["common"] * 20, ["common"] * 20 + ["rare"]


def test_running_time_tells_data_apart_until_it_is_padded() -> None:
    hand = toy_models.HandClock()
    slow = toy_models.slow_count(["common", "rare"], "rare", hand)
    found = timing(slow, ROWS, NEIGHBOUR, clock=hand.clock, entropy=ReplayEntropy(1))
    assert found.success.rate == 1.0 and found.found.seconds == pytest.approx((0.0, 0.01))
    assert found.found.most_accurate == pytest.approx(float(Attacker(Pure("0.1")).accuracy())), "of the outcome alone"
    calm = padded(
        slow, sensitivity_seconds="0.01", scale_seconds="0.1", delta=1e-6, claim=claim("measured"), clock=hand.clock
    )
    hidden = timing(calm, ROWS, NEIGHBOUR, clock=hand.clock, runs=2000, entropy=ReplayEntropy(1))
    assert hidden.epsilon == pytest.approx(0.2)
    assert hidden.success.interval("0.999")[0] <= hidden.found.most_accurate < 0.56
    assert hidden.success.rate < 0.6, "and the clock did tell before"


def test_padding_that_is_too_small_is_caught() -> None:
    hand = toy_models.HandClock()
    slow = toy_models.slow_count(["common", "rare"], "rare", hand, seconds=0.1)
    wrong = padded(
        slow, sensitivity_seconds="0.01", scale_seconds="0.1", delta=1e-6, claim=claim("a guess"), clock=hand.clock
    )
    found = timing(wrong, ROWS, NEIGHBOUR, clock=hand.clock, runs=2000, entropy=ReplayEntropy(1))
    assert found.success.interval("0.999")[0] > found.found.most_accurate


def test_a_measurement_that_takes_no_longer_is_not_told_apart() -> None:
    hand = toy_models.HandClock()
    steady = vector(["common", "rare"]) >> count() >> laplace(scale=10)
    assert timing(steady, ROWS, NEIGHBOUR, clock=hand.clock, runs=20).success.rate == 0.5
    with pytest.raises(BadArgument, match="the loss of the measurement must be Pure or Approx"):
        timing(vector(["common", "rare"]) >> count() >> gaussian(scale=10), ROWS, NEIGHBOUR)
    with pytest.raises(BadArgument, match="runs must be a whole number of at least 4"):
        timing(steady, ROWS, NEIGHBOUR, runs=1)


def test_timing_states_the_loss_of_the_pair_that_it_tells_apart() -> None:
    steady = vector(["common", "rare"]) >> count() >> laplace(scale=10)
    far = timing(steady, ["common"] * 20, ["common"] * 25, clock=toy_models.HandClock().clock, runs=4)
    assert far.epsilon == 0.5 and far.found.most_accurate == pytest.approx(1 / (1 + math.exp(-0.5)))
    with pytest.raises(BadArgument, match="data and neighbour must be at most d_in apart"):
        timing(steady, ["common"] * 20, ["common"] * 25, d_in=1)
    with pytest.raises(BadArgument, match="measurement must be a measurement; got 'int'"):
        timing(3, [], [])  # type: ignore[arg-type]


def test_the_time_of_a_sampler_takes_back_what_its_noise_hid() -> None:
    hand = toy_models.HandClock()
    by_trials = toy_models.laplace_by_trials(10, hand)
    found = sampler_timing(by_trials, clock=hand.clock, entropy=ReplayEntropy(1))
    assert found.success.rate > 0.95 and found.baseline < 0.56, "at ε = ln 1.1 the outcome alone allows 52.4 in 100"
    stopped = sampler_timing(by_trials, clock=Clock(lambda: 0), entropy=ReplayEntropy(1))
    assert stopped.advantage == 0, "without the clock there is nothing to gain"


def test_ours_hardly_tells_by_the_randomness_that_it_draws() -> None:
    """Bytes drawn stand for time: most draws take two, and few in a thousand more; that few is all there is to gain."""
    source = ReplayEntropy(2)
    ours = (scalar(int) >> laplace(scale=10)).function
    found = sampler_timing(ours, clock=Clock(lambda: source.drawn), trials=5000, entropy=source)
    assert abs(found.advantage) < 0.003


def test_trials_have_the_law_that_is_stated() -> None:
    source, hand = ReplayEntropy(3), toy_models.HandClock()
    drawn = Counter(toy_models.laplace_by_trials(2, hand)(0, source) for _ in range(8000))
    ratio = 2 / 3
    for noise in range(-3, 4):
        expected = (1 - ratio) / (1 + ratio) * ratio ** abs(noise)
        assert drawn[noise] / 8000 == pytest.approx(expected, abs=4 * math.sqrt(expected / 8000))


def test_attacks_load_nothing_heavy() -> None:
    heavy = "import sys, sfumato.attacks; print({'scipy', 'altair', 'duckdb', 'pandas'} & set(sys.modules))"
    told = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"

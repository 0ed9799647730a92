"""One-liners: what they promise, that claims are required and printed, and that errors say nothing about data."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.accounting.facts.gaussian import discrete_gaussian_delta
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.core.domains import Integers
from sfumato.core.metrics import Absolute, ChangeOne
from sfumato.core.space import Space
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, CannotCalibrate, ClaimRequired
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.release.claim import claim
from sfumato.release.record import Failure
from sfumato.textbook.direct import (
    FINENESS,
    approximate_gaussian,
    claimed_map,
    dp_mean,
    exponential_mechanism,
    gaussian_mechanism,
    laplace_mechanism,
    randomized_answer,
    whole_steps,
)

VOUCHED = claim("one row moves it by at most 1")
SCORES = [85, 84, 85, 89, 92, 95, 100, 83, 70, 67]


def test_laplace_one_liner() -> None:
    release = laplace_mechanism([1, 0, 1], sum, epsilon="0.5", sensitivity=1, claim=VOUCHED)
    assert release.loss == Pure("0.5")
    assert release.unit == "one row added or removed"
    assert release.how.claims == (VOUCHED,)
    assert dict(release.how.parameters)["scale"] == "2"
    assert release.half_width == pytest.approx(2 * math.log(20), rel=1e-6)
    assert not release.charged
    changed = laplace_mechanism([1], sum, epsilon=1, sensitivity=1, claim=VOUCHED, metric=ChangeOne())
    assert changed.unit == "one row changed"


def test_laplace_on_several_coordinates_pays_for_rounding_each() -> None:
    release = laplace_mechanism([3], lambda rows: [1, 2, 3], epsilon=1, sensitivity=2, claim=VOUCHED, coordinates=3)
    assert len(release.value) == 3
    assert release.loss.within(Pure(1))
    assert release.loss.epsilon > 1 - Fraction(1, 10**12)
    step = Fraction(2, FINENESS)
    assert claimed_map(Fraction(1), step=step, slack=2) == 2 + 2 * step


@pytest.mark.parametrize("epsilon", ["0.1", 1, 5, 10])
@pytest.mark.parametrize("delta", ["1e-5", "1e-9"])
def test_gaussian_one_liner_keeps_its_promise_at_every_epsilon(epsilon: object, delta: object) -> None:
    space = Space(Integers(step=Fraction(3, FINENESS)), Absolute())
    noisy = approximate_gaussian(space, epsilon=epsilon, delta=delta)
    assert noisy.map(3) <= Approx(epsilon, delta)
    assert noisy.map(3).epsilon > Fraction(epsilon) * (1 - Fraction(1, 10**9))
    assert noisy.map(0) == Approx(0, 0)
    assert noisy.map(6).epsilon > noisy.map(3).epsilon
    assert noisy.map(math.inf).epsilon == math.inf


def test_gaussian_noise_is_that_which_was_accounted() -> None:
    space = Space(Integers(step=Fraction(1, FINENESS)), Absolute())
    noisy = approximate_gaussian(space, epsilon=1, delta="1e-6")
    drawn = noisy.law(0).noise
    assert isinstance(drawn, DiscreteGaussian)
    assert float(drawn.scale) / FINENESS == pytest.approx(4.224679, rel=1e-6)
    assert discrete_gaussian_delta(drawn, shift=FINENESS, epsilon=1) <= Fraction("1e-6")


def test_gaussian_release_is_labelled() -> None:
    release = gaussian_mechanism([1, 0], sum, epsilon=1, delta="1e-6", sensitivity=1, claim=VOUCHED)
    assert release.how.failure is Failure.GRACEFUL
    assert "ε = 1, δ = 1e-06" in str(release)


def test_exponential_one_liner() -> None:
    release = exponential_mechanism(
        ["a"] * 40, ["a", "b"], score=lambda rows, x: rows.count(x), epsilon=10, sensitivity=1, claim=VOUCHED
    )
    assert release.value == "a"
    assert release.loss <= Pure(10)
    assert release.loss.epsilon > 10 - Fraction(1, 10**12)
    assert dict(release.how.parameters)["temperature"] == "0.2"


def test_randomized_response_one_liner() -> None:
    assert randomized_answer(True, epsilon=1).loss == Pure(1)
    assert randomized_answer("b", options=["a", "b", "c"], p="0.5").value in ("a", "b", "c")
    assert randomized_answer(True, p=1).value is True


@pytest.mark.parametrize("epsilon", ["0.5", 1])
def test_P1_094_dp_mean_is_derived_and_needs_no_claim(epsilon: object) -> None:
    release = dp_mean(SCORES, between=(0, 100), epsilon=epsilon)
    assert release.loss == Pure(epsilon)
    assert release.unit == "one row changed"
    assert release.how.claims == ()
    assert dict(release.how.parameters)["scale"] == f"{10 / float(Fraction(epsilon)):.6g}"


def test_P1_094_E1_30_differencing_two_private_means_does_not_give_the_score_away() -> None:
    """Exact means of the class with and without its last member give away 67; two private ones miss it by far."""
    exact = 10 * sum(SCORES) / 10 - 9 * sum(SCORES[:-1]) / 9
    assert exact == 67
    guesses = [
        10 * dp_mean(SCORES, between=(0, 100), epsilon=1, entropy=ReplayEntropy(seed)).value
        - 9 * dp_mean(SCORES[:-1], between=(0, 100), epsilon=1, entropy=ReplayEntropy(1000 + seed)).value
        for seed in range(40)
    ]
    off = sorted(abs(guess - exact) for guess in guesses)
    assert off[20] > 50


def test_claims_are_required() -> None:
    with pytest.raises(ClaimRequired):
        laplace_mechanism([1], sum, epsilon=1, sensitivity=1)
    with pytest.raises(ClaimRequired):
        gaussian_mechanism([1], sum, epsilon=1, delta="1e-6", sensitivity=1)
    with pytest.raises(ClaimRequired):
        exponential_mechanism([1], ["a"], score=lambda rows, x: 0, epsilon=1, sensitivity=1)


@pytest.mark.parametrize("given", [math.nan, math.inf, -math.inf, None, "text", [1], 1j])
def test_what_is_no_number_counts_as_zero(given: object) -> None:
    assert whole_steps(given, Fraction(1, 4)) == 0
    release = laplace_mechanism([1], lambda rows: given, epsilon=1, sensitivity=1, claim=VOUCHED)
    assert math.isfinite(release.value)


@pytest.mark.parametrize("given", [[], [1], [1, 2, 3, 4, 5], 7, None])
def test_vectors_have_their_public_length_whatever_the_function_gives(given: object) -> None:
    release = laplace_mechanism([1], lambda rows: given, epsilon=1, sensitivity=1, claim=VOUCHED, coordinates=3)
    assert len(release.value) == 3


def test_large_whole_numbers_are_read_exactly() -> None:
    """Through a float, 2⁵³ and 2⁵³ + 1 would land 0 apart and 2⁵³ + 1 and 2⁵³ + 2 two apart."""
    places = [whole_steps(2**53 + k, Fraction(1)) for k in range(4)]
    assert places == [2**53 + k for k in range(4)]
    assert whole_steps(Fraction(7, 2), Fraction(1)) == 4


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda: laplace_mechanism([1], sum, epsilon=0, sensitivity=1, claim=VOUCHED), CannotCalibrate),
        (lambda: laplace_mechanism([1], sum, epsilon=-1, sensitivity=1, claim=VOUCHED), BadArgument),
        (lambda: laplace_mechanism([1], sum, epsilon=1, sensitivity=0, claim=VOUCHED), BadArgument),
        (lambda: laplace_mechanism([1], sum, epsilon=1, sensitivity=math.inf, claim=VOUCHED), BadArgument),
        (lambda: laplace_mechanism([1], sum, epsilon=1, sensitivity=1, claim=VOUCHED, coordinates=0), BadArgument),
        (lambda: gaussian_mechanism([1], sum, epsilon=1, delta=0, sensitivity=1, claim=VOUCHED), BadArgument),
        (lambda: gaussian_mechanism([1], sum, epsilon=0, delta=0.1, sensitivity=1, claim=VOUCHED), BadArgument),
        (lambda: exponential_mechanism([1], [], score=max, epsilon=1, sensitivity=1, claim=VOUCHED), BadArgument),
        (lambda: dp_mean(SCORES, between=(100, 0), epsilon=1), BadArgument),
        (lambda: randomized_answer(True), BadArgument),
    ],
)
def test_bad_numbers(ask: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        ask()


@pytest.mark.parametrize(
    "make",
    [int, np.int64, np.uint64, Decimal, Fraction, np.longdouble, lambda x: np.array(x), lambda x: np.array([x])],
    ids=["int", "int64", "uint64", "Decimal", "Fraction", "longdouble", "array of no dimension", "array of one"],
)
def test_numbers_beyond_the_floats_are_read_exactly(make: Any) -> None:
    """Through a float, whole numbers about 2⁶⁰ move in steps of 256: a claimed sensitivity of 1 would be false."""
    step = Fraction(1, FINENESS)
    near, far = make(2**60 + 128), make(2**60 + 129)
    if make is np.longdouble:
        near, far = np.longdouble(2**60) + 128, np.longdouble(2**60) + 129
        if near == far:
            pytest.skip("long double is no wider than double here")
    assert whole_steps(far, step) - whole_steps(near, step) == FINENESS


def test_an_array_of_no_dimension_is_one_coordinate() -> None:
    """It cannot be iterated over, and an error would tell about the data."""
    release = laplace_mechanism([1], lambda _: np.array(3.0), epsilon=1000, sensitivity=1, claim=VOUCHED, coordinates=2)
    assert np.allclose(release.value, [3, 0], atol=0.5)

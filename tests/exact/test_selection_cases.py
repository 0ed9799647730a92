"""The worked examples of selection: printed numbers, computed from the exact laws."""

from __future__ import annotations

from fractions import Fraction

import pytest

from sfumato.accounting.losses.measures import Pure
from sfumato.audit.brute_force import brute_sensitivity, outcome_probabilities
from sfumato.core.metrics import L1, LInf, Range
from sfumato.core.space import Space, frame, vector
from sfumato.exact import ball, enclose
from sfumato.mechanisms.additive import laplace
from sfumato.mechanisms.noisy_max import laplace_noisy_max
from sfumato.mechanisms.selection import (
    candidate_of,
    exponential,
    exponential_error,
    exponential_of,
    gumbel_noisy_max,
    largest,
)
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.transforms.scores import mode_scores, revenue_scores, threshold_accuracy_scores

pytestmark = pytest.mark.sharp_balls

FAMILIES = ["LE3"] * 192 + ["GT3"] * 457
SIZES = ["LE3", "GT3"]


def chances(measurement: object, data: object) -> list[float]:
    return [float(mass.mid()) for mass in outcome_probabilities(measurement, data).values()]  # type: ignore[arg-type]


def test_A1_092_family_sizes() -> None:
    """Two counts over disjoint groups: both together cost what one costs."""
    counts = vector(SIZES) >> mode_scores()
    assert counts(FAMILIES).tolist() == [192, 457]
    assert int(counts(FAMILIES).sum()) == 649
    both = Space(counts.target.domain, L1())
    distance = max(
        both.distance(counts(left), counts(right))
        for left, right in (([], ["LE3"]), (["GT3"], []), (["LE3", "GT3"], ["GT3"]))
    )
    assert distance == 1
    assert (both >> laplace(scale=2)).map(distance) == Pure(Fraction(1, 2))


def test_A1_093_exponential_mechanism_on_family_sizes() -> None:
    """Score form: epsilon = 1, sensitivity 1, so temperature 2; the monotonic map is half of the general one."""
    measurement = vector(SIZES) >> mode_scores(metric=LInf()) >> exponential_of(SIZES, temperature=2)
    assert measurement.map(1) == Pure(1)
    assert (vector(SIZES) >> mode_scores() >> exponential(2)).map(1) == Pure(Fraction(1, 2))
    law = outcome_probabilities(measurement, FAMILIES)
    assert float(law["LE3"].mid()) == pytest.approx(2.857467e-58, rel=1e-6)
    odds = (law["LE3"] / law["GT3"]).log() + ball(Fraction(265, 2))
    low, high = enclose(lambda: odds)
    assert -Fraction(1, 10**20) < low <= high < Fraction(1, 10**20)


@pytest.mark.parametrize(
    ("valuations", "prices", "revenues"),
    [
        ([1, 1, 3.01], [1, 1.01, 3.01, 3.02], ["3", "1.01", "3.01", "0"]),
        ([1.00, 1.01, 3.01], [1.00, 1.01, 3.01, 3.02], ["3", "2.02", "3.01", "0"]),
    ],
    ids=["A1-094", "A1-095"],
)
def test_A1_094_A1_095_E1_40_revenue(valuations: list[float], prices: list[float], revenues: list[str]) -> None:
    """Both auctions of the seeds: the valuations differ, so 1.01 earns 1.01 in one and 2.02 in the other."""
    transformation = vector(float) >> revenue_scores(prices)
    found = transformation([float(v) for v in valuations]).tolist()
    assert found == [Fraction(revenue) for revenue in revenues]
    assert prices[found.index(max(found))] == 3.01
    assert transformation.map(1) == Fraction("3.02")


def test_A1_096_a_hundred_prices() -> None:
    prices = [Fraction(k, 10) for k in range(1, 101)]
    transformation = vector(float) >> revenue_scores(prices)
    assert transformation.target.domain.size == 100  # type: ignore[attr-defined]  # scores are vectors
    assert transformation.map(1) == 10


def test_A1_097_prices_one_to_four() -> None:
    """P1-184: epsilon = 1 at sensitivity 4, in score form temperature 8; monotonic revenues cost half of that."""
    prices = [1, 2, 3, 4]
    space = vector(float)
    scores = space >> revenue_scores(prices, metric=LInf())
    data = [1.0, 3.5, 1.0]
    assert scores.map(1) == 4
    assert scores(data).tolist() == [3, 2, 3, 0]
    measurement = space >> revenue_scores(prices, metric=LInf()) >> exponential_of(prices, temperature=8)
    assert measurement.map(1) == Pure(1)
    assert chances(measurement, data) == pytest.approx([0.2801288, 0.2472128, 0.2801288, 0.1925295], abs=5e-8)
    total = sum((ball(Fraction(score, 8)).exp() for score in (3, 2, 3, 0)), ball(0))
    assert float(total.mid()) == pytest.approx(5.194008, abs=5e-7)
    cheaper = space >> revenue_scores(prices, metric=Range()) >> exponential(8)
    assert cheaper.map(1) == Pure(Fraction(3, 8))


CHOLESTEROL = {"cholesterol": [216.0, 501.0, 100.0, 535.0, 214.0], "ill": [False, True, False, True, True]}
THRESHOLDS = [100, 200, 300, 400, 500]


@pytest.mark.parametrize(
    ("strict", "right", "probabilities"),
    [(False, [3, 4, 4, 4, 4], [0.1180222] + [0.2204945] * 4), (True, [4] * 5, [0.2] * 5)],
    ids=["A1-098 at least", "A1-099 more than"],
)
def test_A1_098_A1_099_cholesterol(strict: bool, right: list[int], probabilities: list[float]) -> None:
    """P1-185: accuracy out of 5 rows, epsilon 1.25, so temperature 2 · 0.2 / 1.25 = 0.32."""
    space = frame({"cholesterol": float, "ill": bool}, size=5)
    scores = threshold_accuracy_scores(THRESHOLDS, feature="cholesterol", label="ill", strict=strict)
    transformation = space >> scores
    assert transformation.map(1) == Fraction(1, 5)
    assert transformation(CHOLESTEROL).tolist() == [Fraction(hits, 5) for hits in right]
    measurement = space >> scores >> exponential_of(THRESHOLDS, temperature=0.32)
    assert measurement.map(1) == Pure(1.25)
    assert chances(measurement, CHOLESTEROL) == pytest.approx(probabilities, abs=5e-8)


def test_A1_100_utility_bounds_that_say_nothing() -> None:
    prices = exponential_error(4, temperature=8, beta=0.05, span=12)
    assert 3 - float(prices.shortfall) == pytest.approx(-32.0562, abs=5e-5)
    assert prices.vacuous
    assert "vacuous" in str(prices)
    cholesterol = exponential_error(5, temperature=0.32, beta=0.05, span=1)
    assert 0.8 - float(cholesterol.shortfall) == pytest.approx(-0.673654, abs=5e-7)
    assert cholesterol.vacuous
    useful = exponential_error(4, temperature=8, beta=0.05, span=1000)
    assert not useful.vacuous


def test_P1_144_the_utility_bound_holds_and_is_not_slack_by_much() -> None:
    """Over many score vectors, the mass below the bound is at most beta; without ln(candidates) it would not be."""
    beta, temperature = Fraction(1, 20), Fraction(1)
    worst = 0.0
    for size in (2, 10, 200):
        bound = exponential_error(size, temperature=temperature, beta=beta).shortfall
        far = -int(bound) - 1
        law = outcome_probabilities(
            vector(int, size=size, metric=LInf()) >> exponential(temperature), [0] + [far] * (size - 1)
        )
        missed = 1 - law[0]
        assert missed < ball(beta)
        worst = max(worst, float(missed.mid()))
        bare = exponential_error(1, temperature=temperature, beta=beta).shortfall
        near = outcome_probabilities(
            vector(int, size=200, metric=LInf()) >> exponential(temperature), [0] + [-int(bare) - 1] * 199
        )
        assert 1 - near[0] > ball(beta)
    assert worst > float(beta) / 4
    shared = exponential_error(200, temperature=temperature, beta=beta, best=100)
    assert shared.shortfall < exponential_error(200, temperature=temperature, beta=beta).shortfall


def test_A1_101_hot_choices_are_uniform() -> None:
    law = outcome_probabilities(vector(int, size=8, metric=LInf()) >> exponential(10**12), [3, 1, 4, 1, 5, 9, 2, 6])
    for mass in law.values():
        low, high = enclose(lambda mass=mass: mass - ball(Fraction(1, 8)))
        assert -Fraction(1, 10**11) < low <= high < Fraction(1, 10**11)


def test_A1_102_distance_scores_give_laplace() -> None:
    """P1-099: score −|f − h| gives Laplace noise of scale 2 Δ / ε, twice that of the Laplace mechanism."""
    epsilon, answer = Fraction(1, 2), 7
    candidates = list(range(-20, 40))
    temperature = 2 / epsilon
    law = outcome_probabilities(
        vector(int, size=60, metric=LInf()) >> exponential_of(candidates, temperature=temperature),
        [-abs(answer - candidate) for candidate in candidates],
    )
    noise = DiscreteLaplace(temperature)
    for candidate in candidates:
        low, high = enclose(
            lambda candidate=candidate: law[candidate] / law[answer] - noise.pmf(candidate - answer) / noise.pmf(0)
        )
        assert -Fraction(1, 10**20) < low <= high < Fraction(1, 10**20)
    assert (vector(int, size=60, metric=LInf()) >> exponential(temperature)).map(1) == Pure(epsilon)


def test_A1_107_gumbel_noise_is_temperature() -> None:
    data = [0, 3, 1]
    for metric, epsilon in ((LInf(), 1), (LInf(monotonic=True), Fraction(1, 2)), (Range(), Fraction(1, 2))):
        space = vector(int, size=3, metric=metric)
        noisy, tempered = space >> gumbel_noisy_max(2), space >> exponential(2)
        assert noisy.map(1) == tempered.map(1) == Pure(epsilon)
        assert chances(noisy, data) == chances(tempered, data)


def test_E1_39_selection_is_proportional_to_the_exponential_of_utility() -> None:
    law = outcome_probabilities(vector(int, size=2, metric=LInf()) >> exponential(1), [2, 1])
    ratio = law[0] / law[1]
    assert ratio.overlaps(ball(1).exp())
    assert not ratio.overlaps(ball(2))


def test_P1_100_index_then_candidate() -> None:
    measurement = vector(["a", "b"]) >> mode_scores() >> exponential(1) >> candidate_of(["a", "b"])
    assert list(outcome_probabilities(measurement, ["b"])) == ["a", "b"]
    assert measurement.map(1) == Pure(1)


def test_P1_151_mode_from_noisy_counts() -> None:
    """The largest of noisy counts is the noisy maximum: same law, and under added rows the same loss."""
    counts = vector(["a", "b"]) >> mode_scores()
    data = ["a", "a", "b"]
    law = outcome_probabilities(counts >> laplace_noisy_max(1), data)
    noise, mode, reach = DiscreteLaplace(Fraction(1)), largest(["a", "b"]), 80
    first = ball(0)
    for one in range(-reach, reach + 1):
        for other in range(-reach, reach + 1):
            if mode([2 + one, 1 + other]) == "a":
                first += noise.pmf(one) * noise.pmf(other)
    low, high = enclose(lambda: law[0] - first)
    assert -Fraction(1, 10**30) < low <= high < Fraction(1, 10**30)
    histogram = Space(counts.target.domain, L1())
    assert (histogram >> laplace(1)).map(1) == (counts >> laplace_noisy_max(1)).map(1) == Pure(1)
    assert brute_sensitivity(counts, [[], ["a"], ["b"], ["a", "b"]]) == 1

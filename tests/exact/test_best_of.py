"""The best of a secret number of runs, of all candidates, of drawn ones: whole laws against the maps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from flint import arb

import sfumato as sf
from sfumato.audit.brute_force import outcome_probabilities
from sfumato.combinators.best_of import FAILED
from sfumato.core.law import FiniteLaw
from sfumato.exact import BITS, ball, precision
from sfumato.noise import Poisson, TruncatedNegativeBinomial

TINY = Fraction(1, 10**15)
THIN = Fraction(1, 10**7)
LN2 = math.log(2)

RUNS: dict[str, sf.events.Runs] = {
    "geometric": sf.events.TruncatedNegativeBinomial(1, "0.001"),
    "logarithmic": sf.events.TruncatedNegativeBinomial(0, "0.1"),
    "shape -1/2": sf.events.TruncatedNegativeBinomial("-0.5", "0.02"),
    "shape 5/2": sf.events.TruncatedNegativeBinomial("2.5", "0.3"),
    "Poisson 3": sf.events.PoissonRuns(3),
    "Poisson 1/4": sf.events.PoissonRuns("0.25"),
}

THIN_MIDDLE = [[Fraction(2, 3) - THIN, 2 * THIN, Fraction(1, 3) - THIN], [Fraction(1, 3), THIN, Fraction(2, 3) - THIN]]
"""Two inputs, three scores: each mass changes by a factor of hardly more than 2. The worst case of the theorem."""

LEAKY = [["0.5", "0.45", "0.05", "0"], ["0.45", "0.5", "0", "0.05"]]
"""With probability 1/20 each input gives itself away, with the best scores."""


def scores(rows: list[list[Fraction]] | list[list[str]]) -> sf.Measurement:
    """Gives the score 0, 1, 2 … with the probabilities of the input's row, and a payload."""
    return sf.mechanisms.matrix_mechanism(rows) >> _pair


def _pair(outcome: int) -> tuple[int, str]:
    return outcome, "payload"


def approximate(measurement: sf.Measurement, delta: Fraction) -> sf.Measurement:
    """States a measurement by hand: ε = 2 ln 2 and a δ."""
    return replace(measurement, measure=sf.Approx, privacy_map=lambda d_in: sf.Approx("0.2" if d_in else 0, delta))


def best(one: sf.Measurement, runs: sf.events.Runs) -> sf.Measurement:
    return one.source >> sf.best_of(one, runs=runs)


def epsilon(measurement: sf.Measurement) -> Fraction:
    loss = measurement.map(1)
    assert isinstance(loss, sf.Pure)
    return Fraction(loss.epsilon)


@pytest.mark.parametrize("runs", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("rows", [THIN_MIDDLE, [["0.5", "0.3", "0.2"], ["0.4", "0.2", "0.4"]]], ids=["thin", "plain"])
def test_the_true_loss_is_within_the_claim(rows: list[list[Fraction]], runs: sf.events.Runs) -> None:
    measurement = best(scores(rows), runs)
    low, high = sf.audit.brute_epsilon(measurement, (0, 1))
    assert 0 < low <= high <= epsilon(measurement) + TINY
    curve = sf.convert_measure(scores(rows), sf.Renyi)
    for order in (Fraction(3, 2), Fraction(2), Fraction(20)):
        loss = best(curve, runs).map(1)
        assert isinstance(loss, sf.Renyi)
        assert sf.audit.brute_renyi(best(curve, runs), (0, 1), order=order)[1] <= loss.at(order) + TINY


@pytest.mark.parametrize("shape", [0, 1, 2])
def test_the_claim_is_nearly_reached_so_that_less_would_be_false(shape: int) -> None:
    one = scores(THIN_MIDDLE)
    measurement = best(one, sf.events.TruncatedNegativeBinomial(shape, "0.0001"))
    low = sf.audit.brute_epsilon(measurement, (0, 1))[0]
    assert epsilon(measurement) - Fraction(1, 1000) < low
    assert low > (Fraction(19, 10) + shape) * epsilon(one)


def test_charging_only_the_winner_is_wrong() -> None:
    """The textbook's slip: the best of many runs at the price of one run, or of two."""
    one = scores(THIN_MIDDLE)
    measurement = one.source >> sf.best_of(one, stop="0.001")
    low = sf.audit.brute_epsilon(measurement, (0, 1))[0]
    assert low > 2 * epsilon(one) > epsilon(one)
    assert low < 3 * epsilon(one)


@pytest.mark.parametrize("cost", ["0.5", "1", "2"])
def test_A2_037_and_A3_027_the_geometric_law_costs_at_most_three_times(cost: str) -> None:
    one = sf.scalar(int) >> sf.laplace(scale=1 / Fraction(cost)) >> _pair
    many = one.source >> sf.best_of(one, stop="0.0000001")
    assert 3 * Fraction(cost) * Fraction(999, 1000) < epsilon(many) <= 3 * Fraction(cost)
    assert float(TruncatedNegativeBinomial(Fraction(1), Fraction(1, 100)).mean()) == pytest.approx(100)


def test_A3_028_high_orders_of_the_curve_tend_to_three_times_the_pure_loss() -> None:
    one = sf.scalar(int) >> sf.laplace(scale=2) >> _pair
    loss = (one.source >> sf.best_of(sf.convert_measure(one, sf.Renyi), stop="0.0000001")).map(1)
    assert isinstance(loss, sf.Renyi)
    assert 1.4 < float(loss.at(Fraction(10**9))) <= 1.5


@pytest.mark.parametrize(
    ("shape", "stop", "order", "value", "known"),
    [
        (1, "0.1", 2, "0.1", 4.80517),
        (1, "0.1", 10, "0.1", 0.99636),
        (1, "0.1", 50, "0.1", 0.43509),
        (100, "0.9", 50, "0.25", 10.94055),
    ],
)
def test_A3_029_and_A3_030_wrapped_curves(shape: int, stop: str, order: int, value: str, known: float) -> None:
    """One run is known at one order. In the last case ln(1/stop) per unit of shape is less than the spec's 25.2570.

    ``known`` is the paper's bound, ln(M exp((λ − 1)D))/(λ − 1); ours is ln(1 + M (exp((λ − 1)D) − 1))/(λ − 1).
    """
    one = replace(
        sf.scalar(int) >> sf.gaussian(scale=1) >> _pair,
        measure=sf.Renyi,
        privacy_map=lambda d_in: sf.Renyi({order: value}) if d_in else sf.Renyi.nothing(),
    )
    loss = best(one, sf.events.TruncatedNegativeBinomial(shape, stop)).map(1)
    assert isinstance(loss, sf.Renyi)
    power, weight = (order - 1) * float(value), math.exp((order - 1) * (known - float(value)))
    sharper = math.log1p(weight * math.expm1(power)) / (order - 1)
    assert float(loss.at(Fraction(order))) == pytest.approx(sharper, rel=2e-5)
    assert loss.at(Fraction(order)) < known + 1e-5


def test_A3_031_mean_number_of_runs() -> None:
    assert float(TruncatedNegativeBinomial(Fraction(1), Fraction(1, 10)).mean()) == pytest.approx(10)
    assert float(TruncatedNegativeBinomial(Fraction(2), Fraction(1, 2)).mean()) == pytest.approx(8 / 3)
    assert TruncatedNegativeBinomial(Fraction(2), Fraction(1, 2)).pmf(0) == 0


@pytest.mark.parametrize(
    "runs", [sf.events.TruncatedNegativeBinomial(1, "0.1"), sf.events.PoissonRuns(6)], ids=["geometric", "Poisson"]
)
def test_a_leak_grows_with_the_runs(runs: sf.events.Runs) -> None:
    one = approximate(scores(LEAKY), Fraction(1, 20))
    measurement = best(one, runs)
    claimed = measurement.map(1)
    assert isinstance(claimed, sf.Approx)
    low, high = sf.audit.brute_delta(measurement, (0, 1), epsilon=claimed.epsilon)
    assert high <= claimed.delta + TINY
    assert low > Fraction(4, 20), "δ of one run would be false"


@pytest.mark.parametrize(
    "number", [TruncatedNegativeBinomial(Fraction(1, 2), Fraction(9, 10)), Poisson(Fraction(1, 8))], ids=repr
)
@pytest.mark.parametrize("keep", ["first", "last", "random"])
def test_ties_make_no_difference(number: TruncatedNegativeBinomial | Poisson, keep: str) -> None:
    """Every row of up to six candidates, written out, against the closed form; whichever of equal ones is kept."""
    one = {(0, "x"): Fraction(1, 2), (0, "y"): Fraction(1, 4), (1, "x"): Fraction(1, 8), (1, "z"): Fraction(1, 8)}
    with precision(BITS):
        found: dict[tuple[int, str] | None, arb] = dict.fromkeys([*one, None], arb(0))
        found[None] += number.pmf(0)
        for count in range(1, 7):
            for row in itertools.product(one, repeat=count):
                mass = number.pmf(count) * ball(math.prod((one[c] for c in row), start=Fraction(1)))
                tied = [c for c in row if c[0] == max(c[0] for c in row)]
                kept = {"first": tied[:1], "last": tied[-1:], "random": tied}[keep]
                for candidate in kept:
                    found[candidate] += mass / len(kept)
        runs = (
            sf.events.PoissonRuns(number.mean)
            if isinstance(number, Poisson)
            else sf.events.TruncatedNegativeBinomial(number.shape, number.stop)
        )
        law = outcome_probabilities(best(_stated(one), runs), 0)
        for outcome, mass in found.items():
            missed = law.get(outcome, arb(0)) - mass
            assert not missed < 0
            assert missed < number.upper_tail(7) + arb(2) ** -100


def _stated(masses: dict[tuple[int, str], Fraction]) -> sf.Measurement:
    return replace(
        sf.scalar(int) >> sf.laplace(scale=1) >> _pair,
        law=lambda data: FiniteLaw({outcome: ball(mass) for outcome, mass in masses.items()}),
    )


def test_ties_that_differ_between_neighbours_are_within_the_claim() -> None:
    """Equal scores with payloads that tell the inputs apart: the payload is covered by the loss of one run."""
    one = sf.mechanisms.matrix_mechanism([["0.6", "0.2", "0.2"], ["0.3", "0.4", "0.3"]]) >> _tied
    measurement = one.source >> sf.best_of(one, stop="0.01")
    assert sf.audit.brute_epsilon(measurement, (0, 1))[1] <= epsilon(measurement) + TINY


def _tied(outcome: int) -> tuple[int, int]:
    return outcome // 2, outcome


def test_runs_without_a_score_are_candidates_with_the_worst() -> None:
    """Half the outcomes fail; each failure still counts, and wins where all runs fail."""
    names: list[Callable[[int], object]] = [
        lambda outcome: (outcome, "good") if outcome else (math.nan, "secret"),
        lambda outcome: (outcome, "good") if outcome else "no pair",
        lambda outcome: (outcome, "good") if outcome else (None, "secret"),
        lambda outcome: (outcome, "good") if outcome else (outcome, "too", "long"),
        lambda outcome: (outcome, "good") if outcome else ("high", "secret"),
    ]
    for read in names:
        one = sf.mechanisms.matrix_mechanism([["0.5", "0.5"], ["0.4", "0.6"]]) >> read
        law = outcome_probabilities(one.source >> sf.best_of(one, stop="0.5"), 0)
        assert set(law) == {FAILED, (1, "good")}
        assert float(law[FAILED]) == pytest.approx(1 / 3)


def test_A3_032_tuning_over_all_candidates_costs_all_of_them() -> None:
    one = scores([["0.6", "0.4"], ["0.4", "0.6"]])
    five = one.source >> sf.combinators.best_of_all([one] * 5)
    assert epsilon(five) == 5 * epsilon(one)
    true = sf.audit.brute_epsilon(five, (0, 1))
    assert true[1] <= 5 * epsilon(one) + TINY
    low = sf.audit.brute_epsilon(one.source >> sf.combinators.best_of_all([one] * 2), (0, 1))[0]
    assert low > Fraction(19, 10) * epsilon(one), "two candidates that both lose tell twice as much as one"
    assert true[0] > 4 * epsilon(one), "charging for the winner alone would be false"


def test_a_search_over_settings_pays_for_one_drawn_candidate_about_three_times() -> None:
    """P3-029 and A3-109: candidates are drawn without the data, run, and the best of a secret number is kept."""
    settings = [scores([["0.6", "0.4"], ["0.4", "0.6"]]), scores([["0.7", "0.3"], ["0.5", "0.5"]])]
    one = settings[0].source >> sf.combinators.random_candidate(settings, weights=["0.25", "0.75"])
    assert epsilon(one) == max(map(epsilon, settings))
    assert sf.audit.brute_epsilon(one, (0, 1))[1] <= epsilon(one) + TINY
    search = one.source >> sf.best_of(one, stop="0.1")
    assert max(map(epsilon, settings)) < epsilon(search) < 3 * epsilon(one) < 10 * epsilon(one)
    low, high = sf.audit.brute_epsilon(search, (0, 1))
    assert low > Fraction(6, 5) * epsilon(one), "the loss of the winner alone would be false"
    assert high <= epsilon(search) + TINY
    law = outcome_probabilities(search, 0)
    assert {outcome[1][0] for outcome in law} == {0, 1}, "the release says which setting won"


def test_A3_109_the_curve_of_training_and_scoring_is_wrapped_as_a_whole() -> None:
    """Release one (score, model, setting): priced from the curve of both, far below that of the mean number of runs."""
    space = sf.vector(int, between=(0, 1))
    training = sf.convert_measure(space >> sf.sum() >> sf.gaussian(scale=20), sf.Renyi)
    scoring = sf.convert_measure(space >> sf.count() >> sf.gaussian(scale=20), sf.Renyi)
    one = (space >> sf.composition([scoring, training])) >> (lambda pair: (pair[0], pair[1]))
    tuned = space >> sf.best_of(space >> sf.combinators.random_candidate([one, one]), stop="0.01")
    price = sf.accounting.renyi_epsilon(tuned.map(1), delta="1e-6")  # type: ignore[arg-type]
    winner = sf.accounting.renyi_epsilon(one.map(1), delta="1e-6")  # type: ignore[arg-type]
    every = sf.accounting.renyi_epsilon(one.map(1).times(100), delta="1e-6")  # type: ignore[arg-type]
    assert winner < price < every

"""What users ask: what a plan costs, and how much noise, how many steps, which rate keeps a limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest

from sfumato.accounting.events import (
    Event,
    Gaussian,
    Laplace,
    Poisson,
    Repeat,
    Response,
    Sampled,
    Selection,
    Sequence,
    Stated,
    Tree,
)
from sfumato.accounting.facts.gaussian import analytic_sigma
from sfumato.accounting.facts.selection import ExponentialSelection
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.plans.account import WAYS, CostReport, account
from sfumato.accounting.plans.calibration import (
    NARROW,
    QUICK,
    calibrate_plan,
    greatest_rate,
    most_steps,
    noise_multiplier,
)
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, CannotCalibrate, NoProvenRoute
from sfumato.exact import Number


def training(scale: Number, rate: Number, steps: int) -> Event:
    return Repeat(Sampled(Gaussian(scale), Poisson(rate)), steps)


def upper(found: CostReport) -> float:
    return float(found.epsilon.upper)


@pytest.mark.parametrize(("delta", "exact"), [(1e-6, 5.189037), (1e-9, 6.544358), (1e-12, 7.665481), (1e-14, 8.329322)])
def test_a_thousand_gaussians_are_exact(delta: float, exact: float) -> None:
    found = account(Repeat(Gaussian(30), 1000), delta=delta)
    assert upper(found) == pytest.approx(exact, abs=1e-6)
    assert float(found.epsilon.lower) == pytest.approx(exact, abs=1e-6)
    assert {way.kind for way in found.ways} == {ZCDP, GDP, Renyi, PLD}


def test_training_in_a_bracket_that_meets_what_peers_say() -> None:
    found = account(training(1, 0.01, 10_000), delta=1e-5)
    assert found.epsilon.lower <= 6.18875
    assert found.epsilon.upper >= 6.18668
    assert found.epsilon.width <= 6e-4
    assert [way.kind for way in found.ways] == [PLD, Renyi]
    assert found.loss == Approx(found.epsilon.upper, 1e-5)
    curve = account(training(1, 0.01, 10_000), delta=1e-5, ways=(Renyi,))
    assert upper(curve) <= 6.71276 + 1e-6
    assert curve.epsilon.lower == 0


SMALL_RATES = [
    ("1e-4", "1", 10**4, "1e-7", 0.0549185),
    ("1e-5", "0.6", 10**4, "1e-5", 0.0141434),
    ("1e-5", "0.5", 10**5, "1e-5", 0.203588),
    ("1e-4", "0.6", 10**6, "1e-9", 3.41210),
    ("1e-6", "1", 10**9, "1e-5", 0.130422),
    ("0.02", "20", 10**9, "1e-13", 732.2376),
    ("0.1", "1", 3, "1e-20", 9.17165),
    ("1e-6", "1", 10, "1e-12", 0.00020969),
]
"""Rate, noise, steps, δ, and about ε; dp_accounting says 0.0575, 0.0155, 0.2043 and 3.44 for the first four."""


@pytest.mark.parametrize(("rate", "noise", "steps", "delta", "about"), SMALL_RATES)
def test_training_at_small_rates_and_long(rate: str, noise: str, steps: int, delta: str, about: float) -> None:
    found = account(training(noise, rate, steps), delta=delta, ways=(PLD,)).epsilon
    assert found.width <= 1e-4 * found.upper
    assert float(found.lower) == pytest.approx(about, rel=1e-4) == float(found.upper)


def test_defect_1_and_2_by_every_way() -> None:
    """Peers report 1.0 and 0.506 where composing one by one gives 18.84 and 15.32."""
    responses = account(Repeat(Response(1, options=4), 20), delta=1e-6)
    assert 18.8 < upper(responses) < 18.85
    selections = account(Repeat(Selection(ExponentialSelection(Fraction(2))), 100), delta=1e-6)
    assert 12 < upper(selections) < 15.33


def test_the_table_is_printed_tightest_first() -> None:
    found = account(Repeat(Laplace(10), 20), delta=1e-6, ways=(Pure, ZCDP, Renyi))
    lines = str(found).splitlines()
    assert lines[0].startswith("ε = ")
    assert "δ = 1e-06, add/remove" in lines[0]
    numbers = [float(line.split()[1]) for line in lines[1:]]
    assert numbers == sorted(numbers)
    assert len(numbers) == 3
    assert "Canonne, Kamath and Steinke" in str(found)


@pytest.mark.parametrize("event", [Repeat(Gaussian(5), 4), Repeat(Laplace(5), 4), training(2, 0.1, 10)])
def test_the_other_way_round(event: Event) -> None:
    """The δ at the ε that a way proves for a δ is at most that δ, and not far below."""
    for kind in WAYS:
        try:
            there = account(event, delta=1e-5, ways=(kind,))
        except NoProvenRoute:
            continue
        back = account(event, epsilon=there.epsilon.upper, ways=(kind,))
        assert float(back.delta.upper) <= 1e-5 * (1 + 1e-3)
        assert back.epsilon.width == 0
        if kind is not Pure and kind is not Approx:
            assert float(back.delta.upper) > 0.9e-5


def test_stated_deltas_add_up_and_may_exceed_what_is_asked() -> None:
    event = Repeat(Stated(Approx(0.1, 1e-6)), 10)
    assert account(event, delta=1e-5, ways=(Approx,)).epsilon.upper == 1
    with pytest.raises(NoProvenRoute, match="adds up to 1e-05 already"):
        account(event, delta=1e-6, ways=(Approx,))


def test_A3_015_and_A3_019_the_income_example() -> None:
    """Epoch 1 of the book's table, and its sweep over noise multipliers: 10 epochs of batches of 10, δ = 1e-3."""
    rate, steps = Fraction(1, 3017), 3017
    first = upper(account(Repeat(Sampled(Gaussian(1), Poisson(rate)), steps), delta=1e-3))
    assert 0.0331 < first < 0.0433
    for scale, exact in ((0.7, 0.338), (1, 0.142), (2, 0.045)):
        found = upper(account(Repeat(Sampled(Gaussian(scale), Poisson(rate)), 10 * steps), delta=1e-3))
        assert found == pytest.approx(exact, abs=6e-4)


BAD: dict[str, Callable[[], object]] = {
    "neither": lambda: account(Laplace(1)),
    "both": lambda: account(Laplace(1), delta=1e-6, epsilon=1),
    "δ above 1": lambda: account(Laplace(1), delta=2),
    "δ of NaN": lambda: account(Laplace(1), delta=math.nan),
    "a negative ε": lambda: account(Laplace(1), epsilon=-1),
    "no relation": lambda: account(Laplace(1), delta=1e-6, relation=None),  # type: ignore[arg-type]
    "ways that are none": lambda: account(Laplace(1), delta=1e-6, ways=("pure",)),  # type: ignore[arg-type]
    "no ways": lambda: account(Laplace(1), delta=1e-6, ways=()),
    "no event": lambda: account(Pure(1), delta=1e-6),  # type: ignore[arg-type]
    "a pure limit": lambda: calibrate_plan(Gaussian, limit=Pure(1)),  # type: ignore[arg-type]
    "a limit of nothing": lambda: calibrate_plan(Gaussian, limit=Approx(0, 1e-6)),
    "rate 0": lambda: noise_multiplier(1, delta=1e-5, rate=0, steps=10),
    "rate 2": lambda: noise_multiplier(1, delta=1e-5, rate=2, steps=10),
    "no steps": lambda: noise_multiplier(1, delta=1e-5, rate=0.1, steps=0),
    "δ of 2": lambda: noise_multiplier(1, delta=2, rate=0.1, steps=1),
}


@pytest.mark.parametrize("ask", BAD.values(), ids=BAD)
def test_bad_input_is_refused(ask: Callable[[], object]) -> None:
    with pytest.raises(BadArgument, match="must be"):
        ask()


def test_no_answer_says_why_for_every_way() -> None:
    with pytest.raises(NoProvenRoute, match=r"no way of accounting.*ZCDP: .*Pure: "):
        account(Stated(Approx(1, 0.1)), delta=1e-6, ways=(Pure, ZCDP))


def kept(event: Event, limit: Approx, ways: tuple[type[Loss], ...] = QUICK) -> bool:
    return account(event, delta=limit.delta, ways=ways, tolerance=NARROW).epsilon.upper <= limit.epsilon


def test_P3_023_plans_are_calibrated_tightly() -> None:
    limit = Approx(1, 1e-6)
    scale = calibrate_plan(Gaussian, limit=limit)
    assert 0 <= scale / analytic_sigma(1, delta=1e-6) - 1 <= 1e-6
    scale = calibrate_plan(lambda size: Tree(size, steps=100, participations=3), limit=limit)
    assert kept(Tree(scale, steps=100, participations=3), limit)
    assert not kept(Tree(scale * Fraction(999_998, 1_000_000), steps=100, participations=3), limit)
    times = calibrate_plan(lambda price: Response(price), limit=Approx(1, 0), increasing=True)
    assert 1 - Fraction(1, 10**6) <= times <= 1


def test_P3_023_noise_of_training() -> None:
    """dp_accounting's privacy-loss distribution gives 1.414631, its Rényi accountant 1.513122."""
    scale = noise_multiplier(1, delta=1e-5, rate=0.01, steps=1000)
    assert float(scale) <= 1.41464
    assert kept(training(scale, 0.01, 1000), Approx(1, 1e-5), WAYS)
    assert not kept(training(scale * Fraction(99_998, 100_000), 0.01, 1000), Approx(1, 1e-5), WAYS)
    steps = most_steps(1, delta=1e-5, rate=0.01, multiplier=scale)
    assert steps == 1000
    rate = greatest_rate(1, delta=1e-5, multiplier=scale, steps=1000)
    assert float(rate) == pytest.approx(0.01, rel=2e-6)


def test_noise_of_training_at_small_rates() -> None:
    """dp_accounting gives 0.631; 16,500 steps or so."""
    rate = Fraction(1024, 10**7)
    scale = noise_multiplier(1, delta=1e-8, rate=rate, steps=9765)
    assert 0.63113 <= scale <= 0.631134
    assert kept(training(scale, rate, 9765), Approx(1, 1e-8), (PLD,))
    assert not kept(training(scale * Fraction(99_999, 100_000), rate, 9765), Approx(1, 1e-8), (PLD,))
    most = most_steps(0.5, delta=1e-8, rate=1e-4, multiplier=0.7)
    assert kept(training(0.7, 1e-4, most), Approx(0.5, 1e-8), (PLD,)) and abs(most - 16544) <= 1


def test_everything_may_be_within_the_limit() -> None:
    assert greatest_rate(10, delta=1e-5, multiplier=50, steps=1) == 1


def test_what_cannot_be_reached_is_said() -> None:
    with pytest.raises(CannotCalibrate, match="even at the end of the scale"):
        calibrate_plan(lambda scale: Sequence(Gaussian(scale), Stated(Pure(2))), limit=Approx(1, 1e-6))
    with pytest.raises(CannotCalibrate, match="even at the end of the scale"):
        most_steps(0.001, delta=1e-9, multiplier=0.1, rate=0.5)


def test_change_one_costs_more() -> None:
    event = training(2, 0.1, 10)
    assert upper(account(event, delta=1e-5, ways=(PLD,))) < upper(
        account(event, delta=1e-5, relation=Relation.CHANGE_ONE, ways=(PLD,))
    )


def test_rates_so_small_that_nothing_shows() -> None:
    """The quick ways prove nothing here; what distributions prove counts."""
    rate = greatest_rate(1, delta=0.01, multiplier=0.01, steps=1)
    assert rate > Fraction(99, 10_000) and account(training(0.01, rate, 1), delta=0.01).epsilon.upper <= 1


def test_what_cannot_be_calibrated_says_why() -> None:
    with pytest.raises(BadArgument, match="no ε with δ = 0"):
        noise_multiplier(1, delta=0, rate=0.01, steps=10)
    with pytest.raises(BadArgument, match="a function of one parameter"):
        calibrate_plan(3, limit=Approx(1, 1e-6))  # type: ignore[arg-type]
    with pytest.raises(CannotCalibrate, match="pass increasing=True"):
        calibrate_plan(lambda scale: Laplace(1 / scale, shift=3), limit=Approx(1, 1e-6))

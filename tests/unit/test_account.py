"""What users ask: what a plan costs, and how much noise, how many steps, which rate keeps a limit."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.accounting.codec import from_json, to_json
from sfumato.accounting.compose import total
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
    readable,
)
from sfumato.accounting.plans.training import dp_sgd
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, CannotCalibrate, NoProvenRoute, UnknownFormat
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


def test_a_list_is_answered_with_a_report_for_each() -> None:
    plan, deltas = Sequence(Repeat(Laplace(5), 4), Gaussian(5)), [1e-5, 1e-6, Fraction(1, 10**7)]
    reports = account(plan, delta=deltas)
    assert reports == tuple(account(plan, delta=delta) for delta in deltas)
    by_epsilon = account(plan, epsilon=np.array([1.0, 2.0]))
    assert [report.epsilon for report in by_epsilon] == [1, 2]
    assert by_epsilon[1] == account(plan, epsilon=2)
    assert account(plan, delta=np.float64(1e-5)) == reports[0]
    assert account(plan, delta=(1e-5,)) == reports[:1]


def test_a_list_adds_the_plan_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def counted(event: Event, kind: type[Loss], **more: Any) -> Loss:
        asked.append(kind)
        return total(event, kind, **more)

    monkeypatch.setattr("sfumato.accounting.plans.account.total", counted)
    account(Repeat(Gaussian(5), 4), delta=[1e-5, 1e-6, 1e-7])
    assert asked == list(WAYS)


def test_answers_are_floats_that_know_the_exact_bracket() -> None:
    found = account(Repeat(Laplace(3), 4), delta=1e-6)
    assert isinstance(found.epsilon, float) and found.epsilon.lower <= found.epsilon.upper <= Fraction(found.epsilon)
    assert Fraction(repr(float(found.epsilon))) >= found.epsilon.upper
    assert json.loads(json.dumps([found.epsilon, found.delta])) == [found.epsilon, 1e-6]
    assert f"{found.epsilon:.4f}" == "1.3333" and found.epsilon <= 1.34 and np.array([found.epsilon]).dtype == float
    assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == found
    assert {found.epsilon: 1}[float(found.epsilon)] == 1


def test_an_account_is_stored_and_comes_back() -> None:
    for report in account(training(2, 0.1, 10), delta=[1e-5, 1e-6]):
        stored = to_json(report)
        back = from_json(stored)
        assert back == report and isinstance(back, CostReport)
        assert str(back) == str(report) and back.ways[0].kind is report.ways[0].kind is PLD
        assert "." not in json.loads(stored)["epsilon"]["upper"]  # rationals, no floats
    tampered = stored.replace('"text": "PLD"', '"text": "Gaussian"')
    assert tampered != stored
    with pytest.raises(UnknownFormat):
        from_json(tampered)


BAD: dict[str, Callable[[], object]] = {
    "no δ in a list": lambda: account(Laplace(1), delta=[]),
    "a δ above 1 in a list": lambda: account(Laplace(1), delta=[0.1, 2]),
    "a table of δ": lambda: account(Laplace(1), delta=np.ones((2, 2))),  # type: ignore[call-overload]
    "a rate and a size": lambda: noise_multiplier(1, delta=1e-5, rate=0.1, size=10, batch=1, steps=3),
    "a size alone": lambda: noise_multiplier(1, delta=1e-5, size=10, steps=3),
    "a batch alone": lambda: most_steps(1, delta=1e-5, multiplier=1, batch=10),
    "no rate": lambda: noise_multiplier(1, delta=1e-5, steps=3),
    "steps and epochs": lambda: noise_multiplier(1, delta=1e-5, rate=0.1, steps=3, epochs=1),
    "neither steps nor epochs": lambda: noise_multiplier(1, delta=1e-5, rate=0.1),
    "no epochs": lambda: dp_sgd(1, rate=0.1, epochs=0),
    "a batch of more than all": lambda: dp_sgd(1, size=10, batch=11, epochs=1),
    "half a batch": lambda: dp_sgd(1, size=10, batch=0.5, epochs=1),  # type: ignore[arg-type]
    "no noise": lambda: dp_sgd(0, rate=0.1, steps=1),
    "whole up to a half": lambda: calibrate_plan(Gaussian, limit=Approx(1, 1e-6), most=0.5, whole=True),
    "a limit of no zCDP": lambda: calibrate_plan(Gaussian, limit=ZCDP(0)),
    "no limit": lambda: calibrate_plan(Gaussian, limit=1),  # type: ignore[call-overload]
    "neither": lambda: account(Laplace(1)),
    "both": lambda: account(Laplace(1), delta=1e-6, epsilon=1),
    "δ above 1": lambda: account(Laplace(1), delta=2),
    "δ of NaN": lambda: account(Laplace(1), delta=math.nan),
    "a negative ε": lambda: account(Laplace(1), epsilon=-1),
    "no relation": lambda: account(Laplace(1), delta=1e-6, relation=None),  # type: ignore[arg-type]
    "ways that are none": lambda: account(Laplace(1), delta=1e-6, ways=("pure",)),  # type: ignore[arg-type]
    "no ways": lambda: account(Laplace(1), delta=1e-6, ways=()),
    "no event": lambda: account(Pure(1), delta=1e-6),  # type: ignore[arg-type]
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


def test_a_run_in_words_of_training() -> None:
    """⌈20 · 60,000 / 256⌉ = ⌈4687.5⌉ steps at the rate 256 / 60,000."""
    run = dp_sgd(1.1, size=60_000, batch=256, epochs=20)
    assert run == training(1.1, Fraction(256, 60_000), 4688) == dp_sgd(1.1, size=60_000, batch=256, steps=4688)
    assert run == dp_sgd(1.1, rate=Fraction(256, 60_000), epochs=20)
    assert dp_sgd(1, size=100, batch=10, epochs=Fraction(1, 2)) == training(1, Fraction(1, 10), 5)


def test_every_front_end_takes_the_run_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.accounting.plans.calibration.calibrate_plan", lambda build, **more: build(2))
    words: Any = noise_multiplier(epsilon=3, delta=1e-5, size=600, batch=60, epochs=2)
    assert words == noise_multiplier(3, delta=1e-5, rate=0.1, steps=20) == training(2, 0.1, 20)
    steps: Any = most_steps(3, delta=1e-5, multiplier=7, size=600, batch=60)
    assert steps == most_steps(3, delta=1e-5, multiplier=7, rate=0.1) == training(7, 0.1, 2)


@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_handed_back_is_safe_as_a_decimal_and_as_a_float(sign: int) -> None:
    for step in range(200):
        near = math.exp(step / 7 - 10)
        value = readable(near, sign=sign)
        assert value == pytest.approx(near, rel=1e-14)
        assert sign * (Fraction(value) - Fraction(repr(value))) >= 0
    scale = calibrate_plan(lambda scale: Laplace(scale, shift=3), limit=Pure(0.7))
    assert isinstance(scale, float) and 3 / Fraction(repr(scale)) <= Fraction("0.7") and 3 / Fraction(scale) <= 0.7


KINDS: dict[str, tuple[Loss, Callable[[float], Event], float]] = {
    "pure": (Pure(1), lambda scale: Repeat(Laplace(scale), 50), 50.0),
    "zCDP": (ZCDP(0.5), lambda scale: Repeat(Gaussian(scale), 9), 3.0),
    "GDP": (GDP(2), lambda scale: Repeat(Gaussian(scale), 9), 1.5),
    "Rényi": (Renyi({2: 1, 8: 4}), lambda scale: Repeat(Gaussian(scale), 9), 3.0),
}


@pytest.mark.parametrize(("limit", "build", "least"), KINDS.values(), ids=KINDS)
def test_limits_of_other_kinds_are_met_to_the_last_digit(
    limit: Loss, build: Callable[[float], Event], least: float
) -> None:
    scale = calibrate_plan(build, limit=limit)
    assert scale == pytest.approx(least, rel=1e-14)
    assert total(build(scale), type(limit)) <= limit
    assert not total(build(scale * (1 - 1e-14)), type(limit)) <= limit
    whole = calibrate_plan(build, limit=limit, whole=True)
    assert whole == math.ceil(least) and isinstance(whole, int)


def test_whole_parameters() -> None:
    limit = Approx(1, 1e-6)
    scale = calibrate_plan(lambda scale: Repeat(Gaussian(scale), 50), limit=limit, whole=True)
    assert isinstance(scale, int)
    assert kept(Repeat(Gaussian(scale), 50), limit) and not kept(Repeat(Gaussian(scale - 1), 50), limit)
    times = calibrate_plan(lambda times: Repeat(Laplace(10), times), limit=Pure(1), increasing=True, whole=True)
    assert times == 10
    assert (
        calibrate_plan(lambda times: Repeat(Laplace(10), times), limit=Pure(1), increasing=True, whole=True, most=7.5)
        == 7
    )
    assert calibrate_plan(lambda scale: Gaussian(scale), limit=Approx(100, 0.5), whole=True) == 1


def test_a_kind_that_noise_has_not_is_refused() -> None:
    with pytest.raises(NoProvenRoute, match="Pure"):
        calibrate_plan(Gaussian, limit=Pure(1))


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

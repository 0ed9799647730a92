"""The best of a random number of runs, against the whole law of what is published."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from flint import arb

from sfumato.accounting.compose import total
from sfumato.accounting.convert.renyi import renyi_epsilon
from sfumato.accounting.events import (
    Event,
    Gaussian,
    PoissonRuns,
    RepeatAndSelect,
    Response,
    Runs,
    Stated,
    TruncatedNegativeBinomial,
)
from sfumato.accounting.facts.repeat_and_select import mean_runs
from sfumato.accounting.facts.selected_profile import selected_promise
from sfumato.accounting.losses.divergence import hockey_stick, max_divergence, renyi
from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.losses.trade_off import corners_of
from sfumato.accounting.plans.account import account
from sfumato.errors import NoProvenRoute
from sfumato.exact import BITS, ball, precision

LAWS: dict[str, Runs] = {
    "geometric": TruncatedNegativeBinomial(1, 0.1),
    "logarithmic": TruncatedNegativeBinomial(0, 0.1),
    "shape -1/2": TruncatedNegativeBinomial(-0.5, 0.02),
    "shape 5/2": TruncatedNegativeBinomial(2.5, 0.3),
    "Poisson 3": PoissonRuns(3),
    "Poisson 1/4": PoissonRuns(0.25),
}

ONE_RUN: dict[str, tuple[tuple[Fraction, ...], tuple[Fraction, ...]]] = {
    "three outcomes": (
        (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)),
        (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)),
    ),
    "the best is rare": (
        (Fraction(60, 100), Fraction(39, 100), Fraction(1, 100)),
        (Fraction(59, 100), Fraction(39, 100), Fraction(2, 100)),
    ),
    "a thin middle": (
        (Fraction(66, 100), Fraction(2, 100), Fraction(32, 100)),
        (Fraction(33, 100), Fraction(1, 100), Fraction(66, 100)),
    ),
}
"""Laws of one run on two neighbours, the outcomes in order, the best last."""


def generating(runs: Runs) -> Callable[[arb], arb]:
    """Gives E[x^K], written down from the masses of the law and not from the code under test."""
    match runs:
        case PoissonRuns(mean=mean):
            return lambda x: (ball(mean) * (x - 1)).exp()
        case TruncatedNegativeBinomial(shape=shape, stop=stop) if shape == 0:
            return lambda x: (1 - ball(1 - stop) * x).log() / ball(stop).log()
        case TruncatedNegativeBinomial(shape=shape, stop=stop):
            return lambda x: ((1 - ball(1 - stop) * x) ** ball(-shape) - 1) / (ball(stop) ** ball(-shape) - 1)
    raise AssertionError


def published(one_run: tuple[Fraction, ...], runs: Runs) -> dict[int, arb]:
    """Gives the law of the best outcome; -1 where nothing ran."""
    with precision(BITS):
        law, below, chance = {-1: generating(runs)(arb(0))}, Fraction(0), generating(runs)
        for outcome, mass in enumerate(one_run):
            law[outcome] = chance(ball(below + mass)) - chance(ball(below))
            below += mass
        if isinstance(runs, TruncatedNegativeBinomial):
            del law[-1]
        return law


def exact_profile(left: tuple[Fraction, ...], right: tuple[Fraction, ...]) -> Profile:
    """The promises of one run, at each of its losses and in both directions: nothing is given away."""
    balls = [{place: ball(mass) for place, mass in enumerate(law)} for law in (left, right)]
    places = {Fraction(0), *(abs(Fraction(math.log(a / b))) for a, b in zip(left, right, strict=True) if a and b)}
    both = (tuple(balls), tuple(reversed(balls)))
    return Profile([(place, max(Fraction(hockey_stick(*way, place)[1]) for way in both)) for place in places])


def random_laws(seed: int) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Two laws on a few outcomes, near each other or far apart, some of them with rare best outcomes."""
    random, laws = Random(seed), []
    masses = [random.choice((1, 5, 40, 1000)) for _ in range(random.randint(2, 5))]
    spread = random.choice((1.1, 2, 20))
    for _ in range(2):
        weights = [Fraction(mass * spread ** random.uniform(0, 1)) for mass in masses]
        laws.append(tuple(weight / sum(weights) for weight in weights))
    return laws[0], laws[1]


def divergence(left: tuple[Fraction, ...], right: tuple[Fraction, ...]) -> Fraction:
    ratio = max(max(a / b, b / a) for a, b in zip(left, right, strict=True))
    return Fraction(math.nextafter(math.log(ratio), math.inf))


@pytest.mark.parametrize("runs", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("laws", ONE_RUN.values(), ids=ONE_RUN)
def test_claims_hold_for_enumerated_laws(laws: tuple[tuple[Fraction, ...], ...], runs: Runs) -> None:
    once = divergence(*laws)
    event = RepeatAndSelect(Stated(Pure(once)), runs)
    pure, curve = Fraction(total(event, Pure).epsilon), total(event, Renyi)
    orders = (Fraction(5, 4), Fraction(2), Fraction(6), Fraction(30))
    exact = {order: max(Fraction(_order(*pair, order)) for pair in (laws, laws[::-1])) for order in orders}
    table = total(RepeatAndSelect(Stated(Renyi(exact)), runs), Renyi)
    for left, right in (laws, laws[::-1]):
        here, there = published(left, runs), published(right, runs)
        assert max_divergence(here, there)[0] <= pure
        for order in orders:
            assert renyi(here, there, order)[0] <= curve.at(order)
            assert renyi(here, there, order)[0] <= table.at(order)


@pytest.mark.parametrize("runs", LAWS.values(), ids=LAWS)
def test_curves_and_profiles_hold_for_random_laws(runs: Runs) -> None:
    for seed in range(8):
        laws = random_laws(seed)
        order = Fraction(Random(seed).choice((11, 15, 30, 80)), 10)
        exact = max(_order(*laws, order), _order(*laws[::-1], order))
        curve = total(RepeatAndSelect(Stated(Renyi({order: exact})), runs), Renyi)
        profile = total(RepeatAndSelect(Stated(exact_profile(*laws)), runs), Profile)
        for left, right in (laws, laws[::-1]):
            here, there = published(left, runs), published(right, runs)
            assert renyi(here, there, order)[0] <= curve.at(order)
            for epsilon in (0, *(place for place, _ in profile.points)):
                assert hockey_stick(here, there, Fraction(epsilon))[0] <= profile.delta(epsilon)


def test_the_weighted_divergence_is_nearly_reached() -> None:
    """Few runs and two outcomes come so close to it that a weight smaller by 1 % would be false."""
    runs, order = PoissonRuns("1/16"), Fraction(20)
    left, right = (Fraction(99, 100), Fraction(1, 100)), (Fraction(98, 100), Fraction(2, 100))
    once = _order(right, left, order)
    best = renyi(published(right, runs), published(left, runs), order)[0]
    worst = sup_weight(right, left, runs, order)
    grown = [math.expm1(float((order - 1) * Fraction(loss))) for loss in (best, once)]
    assert 0.99 * worst * grown[1] < grown[0] <= worst * grown[1]


def sup_weight(left: tuple[Fraction, ...], right: tuple[Fraction, ...], runs: PoissonRuns, order: Fraction) -> float:
    """The largest f'(q)^λ f'(q')^(1-λ) along the outcomes, Poisson runs: linear in between."""
    places = [(sum(left[:place]), sum(right[:place])) for place in range(len(left) + 1)]
    return max(float(runs.mean) * math.exp(runs.mean * (order * q - (order - 1) * other - 1)) for q, other in places)


@pytest.mark.parametrize("mean", [3, 40])
def test_runs_that_all_fall_short_are_paid_for(mean: int) -> None:
    """With any reach the promise holds; for a rare best outcome it does so only by what the cut adds to δ."""
    runs, needed = PoissonRuns(mean), False
    rare = (Fraction(97, 100), Fraction(3, 100)), (Fraction(90, 100), Fraction(10, 100))
    for left, right in (rare, rare[::-1], *map(random_laws, range(8))):
        here, there = published(left, runs), published(right, runs)
        one_run = exact_profile(left, right)
        for point in one_run.points:
            for reach in (Fraction(1, 50), Fraction(1, 5), Fraction(1)):
                epsilon, delta = selected_promise(point, corners_of(one_run.points), runs, reach)
                truth, _ = hockey_stick(here, there, epsilon)
                assert truth <= delta
                needed = needed or truth > delta - Fraction(math.exp(-mean * reach) - math.exp(-mean))
    assert needed


@pytest.mark.parametrize("runs", LAWS.values(), ids=LAWS)
def test_a_smaller_profile_would_be_false(runs: Runs) -> None:
    """Without the growth of ε some outcome of some law is given away, and without that of δ a leak is."""
    beyond = False
    for seed in range(15):
        left, right = random_laws(seed)
        one_run, chance = exact_profile(left, right), generating(runs)
        here, there = published(left, runs), published(right, runs)
        for epsilon, delta in one_run.points:
            with precision(BITS):
                some = 1 - chance(1 - ball(delta))
            beyond = beyond or hockey_stick(here, there, epsilon)[0] > Fraction(float(some)) + Fraction(1, 10**9)
    assert beyond


def test_a_distribution_is_no_worse_than_the_pure_loss_and_the_curve_for_many_runs() -> None:
    """A mean of 10¹⁰ runs: the pure loss is 4.6e9, the curve at order 1.58 gives 60."""
    event = RepeatAndSelect(Stated(Pure(1)), PoissonRuns(10**10))
    report = account(event, delta=1e-6)
    assert report.ways[0].kind is PLD
    assert 25 < report.epsilon.upper < 27.2
    assert {way.kind: float(way.bracket.upper) for way in report.ways}[Renyi] < 60.2
    assert total(event, Renyi).at("1.1") < 38.3


def test_no_order_is_so_high_that_a_curve_fails() -> None:
    """δ = 1e-30 once led to an order at which ln(λ / (λ − 1)) was rounded to less than 0."""
    report = account(RepeatAndSelect(Response(1, 3), PoissonRuns(100)), delta=1e-30)
    assert 37.4 < report.epsilon.upper < 37.42
    assert total(RepeatAndSelect(Response(1, 3), PoissonRuns(100)), Renyi).at(10**60) < 47.3


@pytest.mark.parametrize("runs", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("event", [Gaussian(5), Stated(Pure(1)), Stated(Renyi({2: 0.1, 8: 0.5}))], ids=repr)
def test_curves_do_not_fall_with_the_order(event: Event, runs: Runs) -> None:
    curve = total(RepeatAndSelect(event, runs), Renyi)
    bounds = [curve.at(order) for order in ("1.001", "1.1", "1.5", 2, 4, 8)]
    assert all(low <= high for low, high in pairwise(bounds))
    assert total(RepeatAndSelect(Gaussian(10), LAWS["logarithmic"]), Renyi).at("1.1") < Fraction(1, 5)


def _order(left: tuple[Fraction, ...], right: tuple[Fraction, ...], order: Fraction) -> Fraction:
    with precision(BITS):
        laws = [{place: ball(mass) for place, mass in enumerate(law)} for law in (left, right)]
        return Fraction(renyi(laws[0], laws[1], order)[1])


@pytest.mark.parametrize("shape", [0, 1, 2])
def test_the_pure_claim_is_sharp(shape: int) -> None:
    """A rare outcome at the worst place comes close to it, so that a smaller constant would be false."""
    runs, price = TruncatedNegativeBinomial(shape, 0.01), Fraction(1)
    with precision(BITS):
        high = Fraction(math.exp(1)) / (1 + Fraction(math.exp(1)))
        thin = Fraction(1, 10**9)
        left = (high - thin * Fraction(math.exp(1)), thin * Fraction(math.exp(1)), 1 - high)
        right = (1 - high - thin, thin, high)
        low, _ = max_divergence(published(left, runs), published(right, runs))
    claimed = Fraction(total(RepeatAndSelect(Stated(Pure(price)), runs), Pure).epsilon)
    assert claimed - Fraction(1, 1000) < low <= claimed + Fraction(1, 10**12)
    assert 1 + shape < claimed < 2 + shape


@pytest.mark.parametrize("runs", LAWS.values(), ids=LAWS)
def test_a_leak_grows_with_the_number_of_runs(runs: Runs) -> None:
    """A run that leaks with probability δ and then scores best: the published leak is exactly the claimed δ."""
    leak = Fraction(1, 100)
    left, right = (1 - leak, leak, Fraction(0)), (1 - leak, Fraction(0), leak)
    low, high = hockey_stick(published(left, runs), published(right, runs), Fraction(0))
    claimed = total(RepeatAndSelect(Stated(Approx(0, leak)), runs), Approx)
    assert claimed.epsilon == 0
    assert low <= claimed.delta
    assert abs(claimed.delta - Fraction(high)) < Fraction(1, 10**12)
    assert claimed.delta > leak or isinstance(runs, PoissonRuns)


def test_defect_3_every_run_may_fail() -> None:
    """A peer reports (0.30, 0.02) for (0.1, 0.01) run 100 times on average; the leak alone is 0.50."""
    found = total(RepeatAndSelect(Stated(Approx(0.1, 0.01)), TruncatedNegativeBinomial(1, 0.01)), Approx)
    assert found.delta == 1 - Fraction(99, 199)
    assert 0.29 < found.epsilon < 0.3


def test_mean_runs() -> None:
    assert mean_runs(TruncatedNegativeBinomial(1, 0.01)) == 100
    assert abs(float(mean_runs(TruncatedNegativeBinomial(0, 0.01))) - 99 / math.log(100)) < 1e-12
    by_hand = 0.5 * 99 / (1 - 0.01**0.5)
    assert abs(float(mean_runs(TruncatedNegativeBinomial(0.5, 0.01))) - by_hand) < 1e-12


def test_poisson_runs_of_nothing_cost_nothing_even_below_one_run() -> None:
    """Without the term for no run at all, the divergence would come out negative for a mean below 1."""
    free = RepeatAndSelect(Stated(Renyi({2: 0, 4: 0})), PoissonRuns(0.5))
    cheap = RepeatAndSelect(Gaussian(10**6), PoissonRuns(0.5))
    for event in (free, cheap):
        loss = total(event, Renyi)
        assert all(loss.at(order) >= 0 for order in (2, 4))


def test_papernot_steinke_theorem_2_with_gaussian_runs() -> None:
    """The formula at one order by hand: ε(λ) = λρ, best other order √(ln(1/γ)/ρ); ours is a little below theirs."""
    curve = total(RepeatAndSelect(Gaussian(5), TruncatedNegativeBinomial(1, "0.01")), Renyi)
    other = math.sqrt(math.log(100) / 0.02)
    extra = 2 * ((1 - 1 / other) * other * 0.02 + math.log(100) / other)
    theirs = 20 * 0.02 + extra + math.log(100) / 19
    ours = math.log1p(100 * math.exp(19 * extra) * math.expm1(19 * 20 * 0.02)) / 19
    assert float(curve.at(20)) == pytest.approx(ours, rel=1e-9)
    assert theirs * 0.99 < ours < theirs
    assert renyi_epsilon(total(Gaussian(5), Renyi), delta=1e-6) < renyi_epsilon(curve, delta=1e-6) < 3


@pytest.mark.parametrize("event", [Stated(ZCDP(0.1)), Gaussian(1)], ids=["zCDP", "Gaussian"])
def test_kinds_without_a_theorem_are_refused(event: Event) -> None:
    for kind in (ZCDP, Pure, Approx):
        with pytest.raises(NoProvenRoute, match="no theorem on file"):
            total(RepeatAndSelect(event, PoissonRuns(3)), kind)

"""The best of a random number of runs, against the whole law of what is published."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb

from sfumato.accounting.compose import total
from sfumato.accounting.convert.renyi import renyi_epsilon
from sfumato.accounting.events import (
    Event,
    Gaussian,
    PoissonRuns,
    RepeatAndSelect,
    Runs,
    Stated,
    TruncatedNegativeBinomial,
)
from sfumato.accounting.facts.repeat_and_select import mean_runs
from sfumato.accounting.losses.divergence import hockey_stick, max_divergence, renyi
from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.accounting.losses.renyi import Renyi
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
    """The formula at one order by hand: ε(λ) = λρ, best other order √(ln(1/γ)/ρ)."""
    rho, stop = Fraction(1, 50), Fraction(1, 100)
    curve = total(RepeatAndSelect(Gaussian(5), TruncatedNegativeBinomial(1, stop)), Renyi)
    other = math.sqrt(math.log(100) / 0.02)
    by_hand = 10 * 0.02 + 2 * ((1 - 1 / other) * other * 0.02 + math.log(100) / other) + math.log(100) / 9
    assert float(curve.at(10)) == pytest.approx(by_hand, rel=1e-9)
    assert float(curve.at(10)) >= by_hand * (1 - 1e-12)
    assert rho * 2 == total(Gaussian(5), Renyi).at(2)
    assert renyi_epsilon(total(Gaussian(5), Renyi), delta=1e-6) < renyi_epsilon(curve, delta=1e-6) < 3


@pytest.mark.parametrize("event", [Stated(ZCDP(0.1)), Gaussian(1)], ids=["zCDP", "Gaussian"])
def test_kinds_without_a_theorem_are_refused(event: Event) -> None:
    for kind in (ZCDP, Pure, Approx):
        with pytest.raises(NoProvenRoute, match="no theorem on file"):
            total(RepeatAndSelect(event, PoissonRuns(3)), kind)

"""Privacy-loss distributions and Rényi curves against Google's dp_accounting, where it is right.

Its pessimistic distributions bound the truth from above and its optimistic ones from below, up to rounding that it does
not count (`SLACK`). So our bracket must begin below the first, our upper end must not exceed it, and must not be under
the second. Where it is wrong, ours is shown not to follow it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from sfumato.accounting import events
from sfumato.accounting.compose import total
from sfumato.accounting.convert.renyi import renyi_epsilon
from sfumato.accounting.facts.gaussian import discrete_gaussian_epsilon
from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.relation import Relation
from sfumato.exact import root, up
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace

dp: Any = pytest.importorskip("dp_accounting", reason="needs dp-accounting: pip install 'sfumato[test]'")
pytest.importorskip("dp_accounting.pld.pld_privacy_accountant")

distributions: Any = dp.pld.privacy_loss_distribution
REPLACE_ONE = dp.NeighboringRelation.REPLACE_ONE

SLACK = 1e-5
GRID = 2e-4
FINE = 1e-6
"""The width of our brackets that is asked for, so that theirs can be told from ours."""

LOOSER = 1e-4
"""What our upper end may be above theirs: at most a bracket's width, and they do not count their rounding."""

DELTAS = (Fraction(1, 10**4), Fraction(1, 10**8))

ADD_REMOVE, CHANGE_ONE = Relation.ADD_REMOVE, Relation.CHANGE_ONE

Theirs = Callable[[bool], Any]
"""Gives their distribution: the pessimistic one for True, the optimistic one for False."""


def settings(pessimistic: bool) -> dict[str, Any]:
    """Connecting the dots is tighter, but it can only be pessimistic."""
    return {
        "pessimistic_estimate": pessimistic,
        "use_connect_dots": pessimistic,
        "value_discretization_interval": GRID,
    }


def noise_parameter(epsilon: float, options: int) -> float:
    """They describe randomized response by the chance of a uniformly random answer."""
    return options / (options - 1 + math.exp(epsilon))


def response(epsilon: float, options: int) -> Theirs:
    def theirs(pessimistic: bool) -> Any:
        return distributions.from_randomized_response(
            noise_parameter(epsilon, options),
            options,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=GRID,
        )

    return theirs


def gaussian(scale: float, **more: Any) -> Theirs:
    return lambda pessimistic: distributions.from_gaussian_mechanism(scale, **more, **settings(pessimistic))


def laplace(scale: float, **more: Any) -> Theirs:
    return lambda pessimistic: distributions.from_laplace_mechanism(scale, **more, **settings(pessimistic))


def discrete_laplace(parameter: float, sensitivity: int) -> Theirs:
    return lambda pessimistic: distributions.from_discrete_laplace_mechanism(
        parameter, sensitivity=sensitivity, **settings(pessimistic)
    )


def discrete_gaussian(sigma: float, sensitivity: int) -> Theirs:
    return lambda pessimistic: distributions.from_discrete_gaussian_mechanism(
        sigma, sensitivity=sensitivity, **settings(pessimistic)
    )


def mixture(scale: float, shifts: list[float], chances: list[float]) -> Theirs:
    return lambda pessimistic: distributions.from_mixture_gaussian_mechanism(
        scale, shifts, chances, **settings(pessimistic)
    )


def sampled(event: events.Event, rate: float) -> events.Event:
    return events.Sampled(event, events.Poisson(rate))


MECHANISMS: dict[str, tuple[events.Event, Theirs, Relation]] = {
    "gaussian": (events.Gaussian(scale=15), gaussian(15), ADD_REMOVE),
    "gaussian-shift-3": (events.Gaussian(scale=40, shift=3), gaussian(40, sensitivity=3), ADD_REMOVE),
    "laplace": (events.Laplace(scale=20), laplace(20), ADD_REMOVE),
    "discrete-laplace": (events.Noise(DiscreteLaplace(Fraction(20)), 3), discrete_laplace(1 / 20, 3), ADD_REMOVE),
    "discrete-gaussian": (events.Noise(DiscreteGaussian(Fraction(15)), 2), discrete_gaussian(15, 2), ADD_REMOVE),
    "binary-response": (events.Response(0.1255, 2), response(0.1255, 2), CHANGE_ONE),
    "response": (events.Response(0.1255, 5), response(0.1255, 5), CHANGE_ONE),
    "sampled-gaussian": (sampled(events.Gaussian(scale=1.5), 0.02), gaussian(1.5, sampling_prob=0.02), ADD_REMOVE),
    # A mixture of two Gaussians is the sampled Gaussian, worked out by other code of theirs.
    "mixture": (sampled(events.Gaussian(scale=2.5), 0.1), mixture(2.5, [0.0, 1.0], [0.9, 0.1]), ADD_REMOVE),
    "sampled-often": (sampled(events.Gaussian(scale=4), 0.5), gaussian(4, sampling_prob=0.5), ADD_REMOVE),
    "sampled-laplace": (sampled(events.Laplace(scale=2), 0.05), laplace(2, sampling_prob=0.05), ADD_REMOVE),
    "sampled-exchange": (
        sampled(events.Gaussian(scale=2), 0.02),
        gaussian(2, sampling_prob=0.02, neighboring_relation=REPLACE_ONE),
        CHANGE_ONE,
    ),
}


@cache
def once(name: str, pessimistic: bool) -> Any:
    """Gives their distribution for a mechanism, which takes them longer to make than to compose."""
    return MECHANISMS[name][1](pessimistic)


def disagreement(ours: Bracket, least: float, most: float) -> str | None:
    """Says how a bracket contradicts their optimistic and pessimistic ε, or is looser."""
    if ours.lower > most + SLACK:
        return f"our lower end {ours} is above their upper bound {most}"
    if ours.upper > most + LOOSER:
        return f"our upper end {ours} is looser than their {most}"
    if ours.upper < least - SLACK:
        return f"our upper end {ours} is under their lower bound {least}"
    return None


@pytest.mark.parametrize("count", [1, 10, 1000])
@pytest.mark.parametrize("name", MECHANISMS)
def test_self_composition(name: str, count: int) -> None:
    event, _, relation = MECHANISMS[name]
    ours = total(events.Repeat(event, count), PLD, relation=relation)
    most, least = (once(name, pessimistic).self_compose(count) for pessimistic in (True, False))
    for delta in DELTAS:
        ends = (float(part.get_epsilon_for_delta(float(delta))) for part in (least, most))
        assert not disagreement(ours.epsilon(delta, tolerance=FINE), *ends)


def test_mixtures_of_three_lie_between_their_bounds() -> None:
    """On a coarse grid: a fine one takes them a minute."""
    ours = events.Repeat(events.GaussianMixture(4, [0, 1, 2], chances=["0.5", "0.375", "0.125"]), 10)
    bracket = total(ours, PLD, relation=ADD_REMOVE).epsilon(DELTAS[0])
    coarse = {"value_discretization_interval": 0.01}
    most, least = (
        distributions.from_mixture_gaussian_mechanism(
            4, [0.0, 1.0, 2.0], [0.5, 0.375, 0.125], **{**settings(pessimistic), **coarse}
        ).self_compose(10)
        for pessimistic in (True, False)
    )
    ends = [float(each.get_epsilon_for_delta(float(DELTAS[0]))) for each in (least, most)]
    assert ends[0] <= bracket.lower <= bracket.upper <= ends[1] < ends[0] + 0.15


@pytest.mark.parametrize("wrong", [900, 1100])
def test_the_comparison_notices_a_wrong_count(wrong: int) -> None:
    event, _, relation = MECHANISMS["laplace"]
    ours = total(events.Repeat(event, wrong), PLD, relation=relation).epsilon(DELTAS[0])
    whole = (once("laplace", pessimistic).self_compose(1000) for pessimistic in (False, True))
    ends = (float(part.get_epsilon_for_delta(float(DELTAS[0]))) for part in whole)
    assert disagreement(ours, *ends)


def test_different_mechanisms_together() -> None:
    """Everything that is accounted between data sets with one unit more or fewer, a few times each."""
    chosen = {name: mechanism for name, mechanism in MECHANISMS.items() if mechanism[2] is ADD_REMOVE}
    counts = {name: 3 + 2 * place for place, name in enumerate(chosen)}
    plan = events.Sequence(*(events.Repeat(event, counts[name]) for name, (event, _, _) in chosen.items()))
    ours = total(plan, PLD, relation=ADD_REMOVE)
    ends = []
    for pessimistic in (False, True):
        whole, *others = (once(name, pessimistic).self_compose(counts[name]) for name in chosen)
        for other in others:
            whole = whole.compose(other)
        ends.append(whole)
    for delta in DELTAS:
        least, most = (float(part.get_epsilon_for_delta(float(delta))) for part in ends)
        assert not disagreement(ours.epsilon(delta, tolerance=FINE), least, most)


@pytest.mark.parametrize("rate", [0.001, 0.02, 0.3])
@pytest.mark.parametrize("noise", [0.7, 2.0])
def test_renyi_curve_of_the_sampled_gaussian(noise: float, rate: float) -> None:
    """At whole orders both are exact up to rounding; between them their series is looser, or does not end."""
    orders = [1.25, 1.5, 2, 3.75, 8, 20, 64]
    theirs = dp.rdp.RdpAccountant(orders).compose(
        dp.PoissonSampledDpEvent(sampling_probability=rate, event=dp.GaussianDpEvent(noise))
    )
    ours = total(sampled(events.Gaussian(scale=noise), rate), Renyi, relation=ADD_REMOVE)
    for order, divergence in zip(orders, theirs.rdp, strict=True):
        found = up(ours.at(order))
        if float(order).is_integer():
            assert math.isclose(found, divergence, rel_tol=1e-9)
        else:
            assert (up(ours.at(int(order))) if order > 2 else 0) < found < divergence


RENYI: dict[str, tuple[events.Event, Any, Relation]] = {
    "gaussian": (
        events.Repeat(events.Gaussian(scale=10), 30),
        dp.SelfComposedDpEvent(dp.GaussianDpEvent(10.0), 30),
        ADD_REMOVE,
    ),
    "laplace": (
        events.Repeat(events.Laplace(scale=7), 50),
        dp.SelfComposedDpEvent(dp.LaplaceDpEvent(7.0), 50),
        ADD_REMOVE,
    ),
    "response": (
        events.Repeat(events.Response(0.5, 4), 40),
        dp.SelfComposedDpEvent(dp.RandomizedResponseDpEvent(noise_parameter(0.5, 4), 4), 40),
        CHANGE_ONE,
    ),
    "training": (
        events.Repeat(sampled(events.Gaussian(scale=1), 0.01), 10_000),
        dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.0)), 10_000),
        ADD_REMOVE,
    ),
}


@pytest.mark.parametrize("name", RENYI)
def test_epsilon_by_renyi_curves(name: str) -> None:
    """Ours searches all orders, so it may be lower than theirs on a grid of orders, but only a little."""
    event, theirs, relation = RENYI[name]
    neighbours = REPLACE_ONE if relation is CHANGE_ONE else dp.NeighboringRelation.ADD_OR_REMOVE_ONE
    expected = float(dp.rdp.RdpAccountant(neighboring_relation=neighbours).compose(theirs).get_epsilon(1e-5))
    ours = up(renyi_epsilon(total(event, Renyi, relation=relation), delta=1e-5))
    assert 0.995 * expected <= ours <= expected + SLACK


@pytest.mark.parametrize(
    ("mean", "runs"), [(10.0, events.TruncatedNegativeBinomial(1, 0.1)), (5.0, events.PoissonRuns(5))]
)
def test_the_best_of_several_runs(mean: float, runs: events.Runs) -> None:
    shape = math.inf if isinstance(runs, events.PoissonRuns) else 1.0
    theirs = dp.rdp.RdpAccountant().compose(dp.dp_event.RepeatAndSelectDpEvent(dp.GaussianDpEvent(5.0), mean, shape))
    ours = total(events.RepeatAndSelect(events.Gaussian(scale=5), runs), Renyi, relation=ADD_REMOVE)
    expected = float(theirs.get_epsilon(1e-6))
    assert 0.95 * expected <= up(renyi_epsilon(ours, delta=1e-6)) <= expected + SLACK


def test_completed_nodes_of_a_tree() -> None:
    """They too count the levels that are completed, eleven of 2047 steps: the same ρ-zCDP, to their rounding."""
    special = dp.NeighboringRelation.REPLACE_SPECIAL
    theirs = dp.rdp.RdpAccountant(neighboring_relation=special).compose(
        dp.SingleEpochTreeAggregationDpEvent(10.0, 2047)
    )
    ours = total(events.CompletedNodes(events.Tree(10, steps=2047)), Renyi)
    assert up(renyi_epsilon(ours, delta=1e-6)) == pytest.approx(theirs.get_epsilon(1e-6), rel=1e-3)
    assert total(events.Tree(10, steps=2047), Renyi).at(2) > ours.at(2)


def test_their_repeated_randomized_response_is_counted_once_and_ours_is_not() -> None:
    """In dp-accounting 0.6.0 the accountant of distributions ignores how often a response is repeated."""
    delta = 1e-6
    once = dp.RandomizedResponseDpEvent(noise_parameter(1, 4), 4)
    accountant = dp.pld.PLDAccountant(REPLACE_ONE, value_discretization_interval=GRID)
    repeated = float(accountant.compose(dp.SelfComposedDpEvent(once, 20)).get_epsilon(delta))
    one_by_one = dp.pld.PLDAccountant(REPLACE_ONE, value_discretization_interval=GRID)
    for _ in range(20):
        one_by_one.compose(once)
    ours = total(events.Repeat(events.Response(1, 4), 20), PLD, relation=CHANGE_ONE).epsilon(delta)
    assert repeated < 1.01 < 18.8 < ours.lower
    assert ours.upper <= float(one_by_one.get_epsilon(delta)) + SLACK
    assert ours == total(events.Sequence(*[events.Response(1, 4)] * 20), PLD, relation=CHANGE_ONE).epsilon(delta)


def test_their_rounding_spoils_far_tails_and_ours_does_not() -> None:
    """The law is known here: at δ = 1e-14 their pessimistic ε is too small by a percent, at 1e-20 they have none."""
    theirs = gaussian(30)(True).self_compose(1000)
    ours = total(events.Repeat(events.Gaussian(scale=30), 1000), PLD, relation=ADD_REMOVE)
    for delta, exact in ((Fraction(1, 10**14), 8.329322203757986), (Fraction(1, 10**20), 10.059342396230827)):
        assert abs(float(theirs.get_epsilon_for_delta(float(delta))) - exact) > 0.01
        found = ours.epsilon(delta)
        assert found.lower <= exact <= found.upper <= exact + 1e-9


def test_far_tails_of_composed_noise_on_whole_numbers() -> None:
    """The sum of discrete Gaussians is one to within exp(-2π²·225), and so its exact curve is known too."""
    once, count, shift = DiscreteGaussian(Fraction(15)), 1000, 2
    together = DiscreteGaussian(root(once.square * count))
    ours = total(events.Repeat(events.Noise(once, shift), count), PLD, relation=ADD_REMOVE)
    for delta in (*DELTAS, Fraction(1, 10**14), Fraction(1, 10**20)):
        exact = discrete_gaussian_epsilon(together, shift=shift * count, delta=delta)
        found = ours.epsilon(delta, tolerance=FINE)
        assert found.lower <= exact
        assert found.upper >= exact * (1 - Fraction(1, 10**12))
        assert found.width < LOOSER


def test_their_rounding_spoils_training_at_small_delta() -> None:
    """At δ = 1e-10 their upper bound on the default grid lies below ε; how far hangs on the transform they call."""
    plan = events.Repeat(sampled(events.Gaussian(scale=1), 0.01), 10_000)
    ours = total(plan, PLD, relation=ADD_REMOVE).epsilon(1e-10, tolerance=1e-6)
    once = distributions.from_gaussian_mechanism(1.0, sampling_prob=0.01, value_discretization_interval=1e-4)
    theirs = float(once.self_compose(10_000).get_epsilon_for_delta(1e-10))
    assert abs(ours - 9.31614) < 1e-5
    assert abs(theirs - 9.31614) > 1e-4 > ours.width

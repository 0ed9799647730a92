"""Brackets against those of Microsoft's prv_accountant: both hold the truth, so they must meet; ours is narrower."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.accounting import events
from sfumato.accounting.compose import total
from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.relation import Relation

prv: Any = pytest.importorskip("prv_accountant", reason="needs prv-accountant: pip install 'sfumato[test]'")

DELTA = 1e-5
ERROR = 0.01


def theirs(*uses: tuple[Any, int]) -> tuple[float, float]:
    """Gives the ends of their bracket; they allow an error in ε and one in δ."""
    variables, counts = [variable for variable, _ in uses], [count for _, count in uses]
    accountant = prv.PRVAccountant(variables, eps_error=ERROR, delta_error=DELTA / 10**4, max_self_compositions=counts)
    lower, _, upper = accountant.compute_epsilon(DELTA, counts)
    return float(lower), float(upper)


def meet(ours: Bracket, ends: tuple[float, float]) -> bool:
    return ours.lower <= ends[1] and ends[0] <= ours.upper


def training(noise: float, rate: float, steps: int) -> tuple[events.Event, tuple[Any, int]]:
    step = events.Sampled(events.Gaussian(scale=noise), events.Poisson(rate))
    variable = prv.PoissonSubsampledGaussianMechanism(noise_multiplier=noise, sampling_probability=rate)
    return events.Repeat(step, steps), (variable, steps)


@pytest.mark.parametrize(("noise", "rate", "steps"), [(1.0, 0.01, 1000), (0.8, 0.001, 2000), (3.0, 0.2, 300)])
def test_training(noise: float, rate: float, steps: int) -> None:
    plan, uses = training(noise, rate, steps)
    ours = total(plan, PLD, relation=Relation.ADD_REMOVE).epsilon(DELTA)
    assert meet(ours, theirs(uses))
    assert ours.width < ERROR / 10


def test_different_mechanisms_together() -> None:
    plan, uses = training(1.5, 0.02, 400)
    whole = events.Sequence(
        plan, events.Repeat(events.Gaussian(scale=25), 60), events.Repeat(events.Laplace(scale=40), 90)
    )
    ours = total(whole, PLD, relation=Relation.ADD_REMOVE).epsilon(DELTA)
    assert meet(ours, theirs(uses, (prv.GaussianMechanism(25), 60), (prv.LaplaceMechanism(1 / 40), 90)))
    assert ours.width < ERROR / 10


@pytest.mark.parametrize("wrong", [900, 1100])
def test_the_comparison_notices_a_wrong_count(wrong: int) -> None:
    plan, _ = training(1.0, 0.01, wrong)
    _, uses = training(1.0, 0.01, 1000)
    assert not meet(total(plan, PLD, relation=Relation.ADD_REMOVE).epsilon(DELTA), theirs(uses))

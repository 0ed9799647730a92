"""Events that go over to dp_accounting and come back: the same objects, and the same ε, up to what each side states.

Its accountants bound the truth from above, up to rounding that they do not count (`SLACK`). Where it reads an event for
another sensitivity than its own text says, ours is shown to follow the text.
"""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from sfumato.accounting import events as ev
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.peers.forms import FIELDS
from sfumato.accounting.peers.reading import from_dp_accounting
from sfumato.accounting.peers.writing import to_dp_accounting
from sfumato.accounting.plans.account import account
from sfumato.accounting.relation import Relation

dp: Any = pytest.importorskip("dp_accounting", reason="needs dp-accounting: pip install 'sfumato[test]'")
pytest.importorskip("dp_accounting.pld.pld_privacy_accountant")
theirs: Any = dp.dp_event

ADD_REMOVE, CHANGE_ONE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
NEIGHBOURS = {
    ADD_REMOVE: dp.NeighboringRelation.ADD_OR_REMOVE_ONE,
    CHANGE_ONE: dp.NeighboringRelation.REPLACE_ONE,
}

SLACK = 2e-4
"""Rounding that they do not count, relative, and the width of our brackets."""


def training(multiplier: float, rate: float, steps: int) -> Any:
    sampled = theirs.PoissonSampledDpEvent(rate, theirs.GaussianDpEvent(multiplier))
    return theirs.SelfComposedDpEvent(sampled, steps)


BY_DISTRIBUTION: dict[str, tuple[Any, Relation]] = {
    "gaussian": (theirs.GaussianDpEvent(2.5), ADD_REMOVE),
    "laplace": (theirs.SelfComposedDpEvent(theirs.LaplaceDpEvent(10.0), 20), ADD_REMOVE),
    "discrete-laplace": (theirs.SelfComposedDpEvent(theirs.DiscreteLaplaceDpEvent(0.1, 2), 10), ADD_REMOVE),
    "training": (training(1.1, 0.01, 500), ADD_REMOVE),
    "training-exchange": (training(2.0, 0.02, 200), CHANGE_ONE),
    "sampled-laplace": (
        theirs.SelfComposedDpEvent(theirs.PoissonSampledDpEvent(0.1, theirs.LaplaceDpEvent(2.0)), 20),
        ADD_REMOVE,
    ),
    "response": (theirs.RandomizedResponseDpEvent(0.7, 4), CHANGE_ONE),
    "several": (theirs.ComposedDpEvent([theirs.GaussianDpEvent(5.0), theirs.LaplaceDpEvent(5.0)]), ADD_REMOVE),
}


@pytest.mark.parametrize(("event", "relation"), BY_DISTRIBUTION.values(), ids=BY_DISTRIBUTION)
def test_the_same_epsilon_by_distributions(event: Any, relation: Relation) -> None:
    accountant = dp.pld.PLDAccountant(NEIGHBOURS[relation], 2e-4).compose(event)
    found = account(from_dp_accounting(event, relation=relation), delta=1e-5, relation=relation).epsilon
    assert found == pytest.approx(accountant.get_epsilon(1e-5), rel=3e-3)
    assert found <= accountant.get_epsilon(1e-5) * (1 + SLACK)


BY_CURVE: dict[str, tuple[Any, Relation]] = {
    "zcdp": (theirs.SelfComposedDpEvent(theirs.ZCDpEvent(0.01), 10), ADD_REMOVE),
    "geometric": (theirs.RepeatAndSelectDpEvent(theirs.GaussianDpEvent(5.0), 10.0, 1.0), ADD_REMOVE),
    "logarithmic": (theirs.RepeatAndSelectDpEvent(theirs.GaussianDpEvent(5.0), 10.0, 0.0), ADD_REMOVE),
    "half": (theirs.RepeatAndSelectDpEvent(theirs.GaussianDpEvent(5.0), 10.0, 0.5), ADD_REMOVE),
}


@pytest.mark.parametrize(("event", "relation"), BY_CURVE.values(), ids=BY_CURVE)
def test_no_larger_epsilon_by_curves(event: Any, relation: Relation) -> None:
    """They take the best of a list of orders, we of all: ours is no larger, and no other number."""
    theirs_is = dp.rdp.RdpAccountant(neighboring_relation=NEIGHBOURS[relation]).compose(event).get_epsilon(1e-5)
    found = account(from_dp_accounting(event, relation=relation), delta=1e-5, relation=relation, ways=(Renyi,)).epsilon
    assert theirs_is / 2 <= found <= theirs_is * (1 + SLACK)


def test_an_exchange_moves_a_sum_by_two_norms() -> None:
    """Their text bounds each value by C; exchanging two moves the sum by 2C. What they then count differs by class."""
    event = theirs.GaussianDpEvent(4.0)
    ours = account(from_dp_accounting(event, relation=CHANGE_ONE), delta=1e-5, relation=CHANGE_ONE).epsilon
    assert ours == account(ev.Gaussian(2), delta=1e-5).epsilon
    counted = dp.pld.PLDAccountant(NEIGHBOURS[CHANGE_ONE]).compose(event).get_epsilon(1e-5)
    assert counted <= ours * (1 + SLACK)


def test_every_class_of_theirs_is_known_with_its_fields() -> None:
    classes = {
        name: kind
        for name, kind in vars(theirs).items()
        if isinstance(kind, type) and issubclass(kind, theirs.DpEvent) and kind is not theirs.DpEvent
    }
    fields = {name: tuple(field.name for field in kind.__attrs_attrs__) for name, kind in classes.items()}
    assert {name: FIELDS.get(name) for name in fields} == fields


OBJECTS = [
    *(event for event, relation in {**BY_DISTRIBUTION, **BY_CURVE}.values() if relation is ADD_REMOVE),
    theirs.MixtureOfGaussiansDpEvent(2.0, [0.0, 1.0], [0.95, 0.05]),
    theirs.NoOpDpEvent(),
    theirs.NonPrivateDpEvent(),
    theirs.SampledWithoutReplacementDpEvent(1000, 10, theirs.GaussianDpEvent(2.0)),
    theirs.SampledWithReplacementDpEvent(1000, 10, theirs.GaussianDpEvent(2.0)),
    theirs.RepeatAndSelectDpEvent(theirs.GaussianDpEvent(5.0), 10.0, math.inf),
    theirs.TruncatedSubsampledGaussianDpEvent(1000, 0.01, 20, 1.5),
]


@pytest.mark.parametrize("event", OBJECTS, ids=lambda event: type(event).__name__)
def test_objects_and_their_other_forms(event: Any) -> None:
    ours = from_dp_accounting(event)
    assert from_dp_accounting(event.to_named_tuple()) == ours
    assert from_dp_accounting(json.dumps(event.to_named_tuple())) == ours
    back = to_dp_accounting(ours)
    exact = not any(word in repr(event) for word in ("Mixture", "shape=0.0", "shape=0.5"))  # others have one form here
    assert (back == event) is exact
    assert theirs.DpEvent.from_named_tuple(back.to_named_tuple()) == back

"""Laws of the fold, over every example of every event and every kind of loss."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples.events import BASIC, COMPOSITE, EXAMPLES, kinds_of_loss
from tests.profiles import examples

from sfumato.accounting import events as ev
from sfumato.accounting.codec import from_json, to_json
from sfumato.accounting.compose import total
from sfumato.accounting.losses.measures import Approx, BoundedRange, Loss, Pure
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.losses.trade_off import TradeOff
from sfumato.accounting.plans.account import WAYS, account
from sfumato.accounting.plans.calibration import QUICK
from sfumato.accounting.relation import Relation
from sfumato.errors import NoProvenRoute

AR, CO = Relation.ADD_REMOVE, Relation.CHANGE_ONE
DELTA = Fraction(1, 10**6)


def answered(event: ev.Event, kind: type[Loss], relation: Relation) -> Loss | None:
    """Gives the loss, or None where there is no theorem."""
    try:
        return total(event, kind, relation=relation)
    except NoProvenRoute:
        return None


EXACT = [kind for kind in kinds_of_loss() if kind not in (Profile, TradeOff)]
"""Kinds whose composition is exact; the other two compose numerically, and round each time."""

each_event = pytest.mark.parametrize(
    ("event", "relation"),
    [
        pytest.param(event, relation, id=f"{type(event).__name__}{place}-{relation.name}")
        for place, event in enumerate(EXAMPLES)
        for relation in (AR, CO)
    ],
)


def answers(event: ev.Event, relation: Relation) -> list[tuple[type[Loss], Loss]]:
    """Gives the loss of an event in every exact kind that has an answer."""
    found = [(kind, answered(event, kind, relation)) for kind in EXACT]
    return [(kind, loss) for kind, loss in found if loss is not None]


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: type(event).__name__)
def test_every_event_has_an_answer(event: ev.Event) -> None:
    assert any(answers(event, relation) for relation in (AR, CO))


@each_event
def test_repeating_is_listing_copies(event: ev.Event, relation: Relation) -> None:
    for kind, once in answers(event, relation):
        for times in (0, 1) if kind is BoundedRange else (0, 1, 2, 5):
            repeated = total(ev.Repeat(event, times), kind, relation=relation)
            assert repeated == total(ev.Sequence(*[event] * times), kind, relation=relation)
            assert repeated == once.times(times)
            if times == 2:
                assert repeated == once.then(once)


@each_event
def test_nesting_and_order_do_not_matter(event: ev.Event, relation: Relation) -> None:
    others = ev.Laplace(7), ev.Response(1, options=3)
    for kind, once in answers(event, relation):
        assert total(ev.Sequence(ev.Repeat(ev.Sequence(event, ev.Sequence()), 1)), kind, relation=relation) == once
        if kind is BoundedRange:
            continue
        nested = ev.Repeat(ev.Sequence(event, ev.Repeat(event, 2)), 2)
        assert total(nested, kind, relation=relation) == total(ev.Repeat(event, 6), kind, relation=relation)
        forward = answered(ev.Sequence(event, *others), kind, relation)
        assert forward == answered(ev.Sequence(*reversed(others), event), kind, relation)


@each_event
def test_one_is_one(event: ev.Event, relation: Relation) -> None:
    """A group of one, one part of a draw, one part of a partition: each is the thing itself."""
    for kind, once in answers(event, relation):
        assert once.group(1) == once
        assert total(ev.Mixture(event, weights=(1,)), kind, relation=relation) == once
        if relation is AR:
            assert total(ev.Parallel(event), kind, relation=AR) == once


@pytest.mark.parametrize("kind", [Profile, TradeOff], ids=lambda kind: kind.__name__)
def test_numerical_kinds_answer_for_one_use(kind: type[Loss]) -> None:
    for event in (ev.Response(1), ev.Stated(Approx(0.25, 1e-9)), ev.Sampled(ev.Stated(Pure(1)), ev.Poisson(0.1))):
        once = total(event, kind, relation=AR)
        assert total(ev.Sequence(ev.Repeat(event, 1)), kind, relation=AR) == once
        assert total(ev.Repeat(event, 2), kind, relation=AR) == total(ev.Sequence(event, event), kind, relation=AR)


def epsilon(event: ev.Event, relation: Relation = AR) -> Fraction:
    return Fraction(account(event, delta=DELTA, relation=relation, ways=QUICK).epsilon.upper)


RISING = {
    "Gaussian scale": (ev.Gaussian(3), ev.Gaussian(2)),
    "Gaussian shift": (ev.Gaussian(3, shift=1), ev.Gaussian(3, shift=2)),
    "Laplace scale": (ev.Laplace(3), ev.Laplace(2)),
    "Laplace shift": (ev.Laplace(3), ev.Laplace(3, shift=1.5)),
    "Response": (ev.Response(0.5, 3), ev.Response(0.6, 3)),
    "times": (ev.Repeat(ev.Laplace(3), 4), ev.Repeat(ev.Laplace(3), 5)),
    "a part more": (ev.Sequence(ev.Laplace(3)), ev.Sequence(ev.Laplace(3), ev.Gaussian(9))),
    "overlap": (ev.Parallel(ev.Laplace(3), ev.Laplace(4)), ev.Parallel(ev.Laplace(3), ev.Laplace(4), overlap=2)),
    "Poisson rate": (
        ev.Repeat(ev.Sampled(ev.Gaussian(1), ev.Poisson(0.01)), 100),
        ev.Repeat(ev.Sampled(ev.Gaussian(1), ev.Poisson(0.02)), 100),
    ),
    "sampled scale": (
        ev.Sampled(ev.Gaussian(2), ev.Poisson(0.01)),
        ev.Sampled(ev.Gaussian(1), ev.Poisson(0.01)),
    ),
    "tree participations": (ev.Tree(9, steps=16), ev.Tree(9, steps=16, participations=2)),
    "tree separation": (
        ev.Tree(9, steps=16, participations=4, separation=4),
        ev.Tree(9, steps=16, participations=4, separation=2),
    ),
    "tree steps": (ev.Tree(9, steps=16), ev.Tree(9, steps=17)),
    "runs": (
        ev.RepeatAndSelect(ev.Gaussian(5), ev.TruncatedNegativeBinomial(1, 0.1)),
        ev.RepeatAndSelect(ev.Gaussian(5), ev.TruncatedNegativeBinomial(1, 0.01)),
    ),
}


@pytest.mark.parametrize(("cheap", "dear"), RISING.values(), ids=RISING)
def test_costs_rise_with_what_should_raise_them(cheap: ev.Event, dear: ev.Event) -> None:
    assert epsilon(cheap) < epsilon(dear)


@each_event
def test_no_way_of_accounting_goes_below_the_lower_end(event: ev.Event, relation: Relation) -> None:
    """Conversion never improves: what each way proves is at least what the dominating pairs come to."""
    general = isinstance(event, ev.Sampled) and not isinstance(event.event, ev.Gaussian)
    ways = tuple(kind for kind in WAYS if kind is not Renyi or not general)  # general sampled curves: test_amplify
    try:
        found = account(ev.Repeat(event, 3), delta=DELTA, relation=relation, ways=ways)
    except NoProvenRoute:
        return
    assert found.loss.epsilon == found.epsilon.upper == min(way.loss.epsilon for way in found.ways)
    if type(event) in {ev.Gaussian, ev.Laplace, ev.Response}:  # their pairs are exact
        exact = max(way.bracket.lower for way in found.ways)
        assert all(way.loss.epsilon >= exact for way in found.ways)
        assert found.epsilon.lower == exact


small = st.fractions(min_value=Fraction(1, 10), max_value=100, max_denominator=20)
leaves = st.one_of(
    st.builds(ev.Gaussian, small, small),
    st.builds(ev.Laplace, small, small),
    st.builds(ev.Response, small, st.integers(2, 9)),
    st.sampled_from(BASIC),
)
plans = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: ev.Sequence(*parts)),
        st.builds(ev.Repeat, inner, st.integers(0, 4)),
        st.lists(inner, max_size=3).map(lambda parts: ev.Parallel(*parts, overlap=2)),
        inner.map(lambda part: ev.Mixture(part, COMPOSITE[0], weights=(Fraction(1, 4), Fraction(3, 4)))),
        st.builds(ev.Sampled, inner, st.builds(ev.Poisson, st.sampled_from([0, 0.25, 1]))),
        st.builds(ev.Shuffled, inner, st.integers(1, 10**9)),
        st.builds(ev.RepeatAndSelect, inner, st.builds(ev.PoissonRuns, small)),
    ),
    max_leaves=6,
)


@settings(deadline=None, max_examples=examples(60))
@given(plans)
def test_stored_plans_come_back(plan: ev.Event) -> None:
    assert from_json(to_json(plan)) == plan


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(leaves, min_size=1, max_size=4), st.randoms(use_true_random=False), st.integers(0, 3))
def test_plans_of_leaves_are_sums(parts: list[ev.Event], random: object, times: int) -> None:
    listed = [part for part in parts for _ in range(times)]
    random.shuffle(listed)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    for kind in EXACT:
        one = answered(ev.Repeat(ev.Sequence(*parts), times), kind, AR)
        assert one == answered(ev.Sequence(*listed), kind, AR)

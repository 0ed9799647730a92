"""Laws of filters and odometers over every kind of loss that has one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples

from sfumato.accounting.adaptive.advanced import AdvancedFilter
from sfumato.accounting.adaptive.filters import ADDS, Filter, SumFilter
from sfumato.accounting.adaptive.odometers import AnytimeOdometer, SumOdometer
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.accounting.losses.renyi import Renyi
from sfumato.errors import QueryRefused

parts = st.fractions(min_value=0, max_value=2, max_denominator=50)
deltas = st.fractions(min_value=0, max_value=Fraction(1, 5), max_denominator=200)

LOSSES: dict[type[Loss], st.SearchStrategy[Loss]] = {
    Pure: st.builds(Pure, parts),
    Approx: st.builds(Approx, parts, deltas),
    ZCDP: st.builds(ZCDP, parts),
    ApproxZCDP: st.builds(ApproxZCDP, parts, deltas),
    GDP: st.builds(GDP.of_square, parts),
    Renyi: st.builds(lambda low, more: Renyi({2: low, 8: low + more}), parts, parts),
}

FILTERS: dict[str, tuple[Filter, st.SearchStrategy[Loss]]] = {
    "pure": (SumFilter(Pure(3)), LOSSES[Pure]),
    "approximate": (SumFilter(Approx(3, Fraction(1, 4))), LOSSES[Approx]),
    "concentrated": (SumFilter(ZCDP(3)), LOSSES[ZCDP]),
    "approximate concentrated": (SumFilter(ApproxZCDP(3, Fraction(1, 4))), LOSSES[ApproxZCDP]),
    "gaussian": (SumFilter(GDP.of_square(3)), LOSSES[GDP]),
    "renyi": (SumFilter(Renyi({2: 3, 8: 6})), LOSSES[Renyi]),
    "advanced": (AdvancedFilter(Approx(4, Fraction(1, 4)), reserve=Fraction(1, 20)), LOSSES[Approx]),
}

every_filter = pytest.mark.parametrize("name", FILTERS)
few = settings(deadline=None, max_examples=examples(25))


def spend(rule: Filter, losses: list[Loss]) -> Filter:
    """Goes through losses and charges those that are admitted."""
    for loss in losses:
        if rule.admits(loss):
            rule = rule.after(loss)
    return rule


def test_every_kind_is_here() -> None:
    assert set(LOSSES) == set(ADDS)


@every_filter
@few
@given(data=st.data())
def test_nothing_is_always_admitted_and_changes_nothing(name: str, data: st.DataObject) -> None:
    rule, losses = FILTERS[name]
    so_far = spend(rule, data.draw(st.lists(losses, max_size=5)))
    nothing = type(rule.limit).nothing()
    assert so_far.admits(nothing)
    assert so_far.after(nothing) == so_far


@every_filter
@few
@given(data=st.data())
def test_a_refusal_raises_and_changes_nothing(name: str, data: st.DataObject) -> None:
    rule, losses = FILTERS[name]
    so_far = spend(rule, data.draw(st.lists(losses, max_size=5)))
    before = (so_far.spent, so_far.limit)
    loss = data.draw(losses)
    if so_far.admits(loss):
        assert so_far.after(loss).limit == so_far.limit
    else:
        with pytest.raises(QueryRefused):
            so_far.after(loss)
    assert (so_far.spent, so_far.limit) == before


@every_filter
@few
@given(data=st.data())
def test_spending_more_never_admits_more(name: str, data: st.DataObject) -> None:
    rule, losses = FILTERS[name]
    early = spend(rule, data.draw(st.lists(losses, max_size=3)))
    late = spend(early, data.draw(st.lists(losses, max_size=3)))
    loss = data.draw(losses)
    assert early.admits(loss) or not late.admits(loss)


@every_filter
@few
@given(data=st.data())
def test_what_costs_less_is_admitted_too(name: str, data: st.DataObject) -> None:
    rule, losses = FILTERS[name]
    so_far = spend(rule, data.draw(st.lists(losses, max_size=4)))
    smaller, larger = data.draw(losses), data.draw(losses)
    if smaller.within(larger) and so_far.admits(larger):
        assert so_far.admits(smaller)


@every_filter
@few
@given(data=st.data())
def test_the_order_of_what_was_admitted_does_not_matter(name: str, data: st.DataObject) -> None:
    rule, losses = FILTERS[name]
    admitted, so_far = [], rule
    for loss in data.draw(st.lists(losses, max_size=5)):
        if so_far.admits(loss):
            so_far, admitted = so_far.after(loss), [*admitted, loss]
    other_way = rule
    for loss in data.draw(st.permutations(admitted)):
        assert other_way.admits(loss)
        other_way = other_way.after(loss)
    assert other_way == so_far


@pytest.mark.parametrize("name", [name for name in FILTERS if name != "advanced"])
@few
@given(data=st.data())
def test_a_filter_never_admits_what_the_composed_loss_exceeds(name: str, data: st.DataObject) -> None:
    rule, losses = FILTERS[name]
    total, so_far = type(rule.limit).nothing(), rule
    for loss in data.draw(st.lists(losses, max_size=6)):
        fits = total.then(loss).within(rule.limit)
        assert so_far.admits(loss) == fits
        if fits:
            total, so_far = total.then(loss), so_far.after(loss)
    assert so_far.spent == total or isinstance(total, Renyi)  # of which the sums at the limit's orders are kept
    if isinstance(total, Renyi):
        assert [so_far.spent.at(order) for order in (2, 8)] == [total.at(order) for order in (2, 8)]


@pytest.mark.parametrize("name", [name for name in FILTERS if name != "advanced"])
@few
@given(data=st.data())
def test_what_fits_into_what_is_left_is_what_is_admitted(name: str, data: st.DataObject) -> None:
    rule, losses = FILTERS[name]
    so_far = spend(rule, data.draw(st.lists(losses, max_size=4)))
    assert isinstance(so_far, SumFilter)
    loss = data.draw(losses)
    assert so_far.admits(loss) == loss.within(so_far.left)
    assert so_far.after(so_far.left).admits(type(rule.limit).nothing())
    full = so_far.spent.then(so_far.left)
    assert full.within(rule.limit)
    assert rule.limit.within(full) or isinstance(rule.limit, Renyi)  # a table may say less at its lower orders


@few
@given(epsilon=st.fractions(min_value=Fraction(1, 100), max_value=5), losses=st.lists(LOSSES[Approx], max_size=6))
def test_an_advanced_filter_of_a_larger_limit_admits_more(epsilon: Fraction, losses: list[Loss]) -> None:
    small = AdvancedFilter(Approx(epsilon, Fraction(1, 4)), reserve=Fraction(1, 10))
    large = AdvancedFilter(Approx(2 * epsilon, Fraction(1, 4)), reserve=Fraction(1, 10))
    for loss in losses:
        if small.admits(loss):
            assert large.admits(loss)
            small, large = small.after(loss), large.after(loss)


@pytest.mark.parametrize("kind", LOSSES, ids=lambda kind: kind.__name__)
@few
@given(data=st.data())
def test_an_odometer_is_the_composed_loss(kind: type[Loss], data: st.DataObject) -> None:
    odometer, total = SumOdometer(kind.nothing()), kind.nothing()
    for loss in data.draw(st.lists(LOSSES[kind], max_size=5)):
        odometer, total = odometer.after(loss), total.then(loss)
    assert odometer.spent == total


@few
@given(first=parts, more=parts)
def test_an_anytime_odometer_never_goes_back(first: Fraction, more: Fraction) -> None:
    odometer = AnytimeOdometer.around(ZCDP(1), delta=1e-6).after(ZCDP(first))
    later = odometer.after(ZCDP(more))
    assert odometer.epsilon <= later.epsilon
    assert later.epsilon >= later.spent.rho

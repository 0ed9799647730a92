"""Filters, slots and odometers as values: numbers of the book, nesting, refusals and their words."""

from __future__ import annotations

import math
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest

from sfumato import clamp, laplace, mean, vector
from sfumato.accounting.adaptive.advanced import AdvancedFilter, AtOrder, best_order, room_at
from sfumato.accounting.adaptive.approx_filter import ApproxFilter, filter_for
from sfumato.accounting.adaptive.filters import ADDS, Filter, SumFilter
from sfumato.accounting.adaptive.odometers import AnytimeOdometer, SumOdometer, orders_around
from sfumato.accounting.adaptive.slots import Slots
from sfumato.accounting.convert.renyi import renyi_epsilon
from sfumato.accounting.events import Laplace
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Loss, Pure
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.losses.trade_off import TradeOff
from sfumato.accounting.renyi.mechanism_curves import Linear
from sfumato.errors import BadArgument, Exhausted, NoProvenRoute, QueryRefused, SfumatoError
from sfumato.exact import Number, log_up, up


def response(truth: str) -> Pure:
    """Gives the loss of randomized response that tells the truth with a probability."""
    chance = Fraction(truth)
    return Pure(log_up(chance / (1 - chance)))


LIMITS: tuple[Loss, ...] = (
    Pure(1),
    Approx(1, 0.1),
    ZCDP(0.5),
    ApproxZCDP(0.5, 0.1),
    GDP(2),
    Renyi({2: 0.5, 8: 1}),
)


def test_A2_017_a_filter_in_a_slot_goes_on_when_its_parent_is_exhausted() -> None:
    parent = Slots([Pure(1.1), Pure(1.1)])
    inner = SumFilter(Pure(1.1))
    parent = parent.after(inner.limit)
    inner = inner.after(response("0.6"))
    parent = parent.after(response("0.75"))
    assert parent.left == ()
    inner = inner.after(response("0.55"))
    assert round(up(inner.spent.epsilon), 6) == 0.606136
    with pytest.raises(
        QueryRefused, match=r"ε = 1\.09862 does not fit: .* total would be ε = 1\.70475, and the limit is ε = 1\.1\."
    ):
        inner.after(response("0.75"))
    assert round(up(inner.spent.then(response("0.75")).epsilon), 6) == 1.704748
    with pytest.raises(Exhausted, match="all slots are used"):
        parent.after(Pure(0))


def test_A2_018_slots_inside_a_slot() -> None:
    parent = Slots([Pure(1), Pure(1)]).after(response("0.55"))
    nested = Slots([Pure(0.6), Pure(0.4)])
    assert nested.limit == Pure(1)
    parent = parent.after(nested.limit)
    nested = nested.after(response("0.55")).after(response("0.55"))
    with pytest.raises(Exhausted):
        nested.after(response("0.55"))
    assert parent.left == ()


def test_A2_018_nested_slots_that_are_too_large_are_refused() -> None:
    with pytest.raises(QueryRefused, match="does not fit into the next slot, ε = 1"):
        Slots([Pure(1)]).after(Slots([Pure(0.6), Pure(0.41)]).limit)


def test_A2_019_an_odometer_starts_at_nothing_and_adds() -> None:
    odometer = SumOdometer(Pure(0))
    assert odometer.spent == Pure(0)
    assert up(odometer.after(response("0.75")).spent.epsilon) == 1.0986122886681098


def test_A2_020_a_refusal_ends_nothing() -> None:
    first = SumFilter(Pure(1.1)).after(response("0.75"))
    with pytest.raises(QueryRefused):
        first.after(response("0.75"))
    assert first.admits(response("0.5"))
    assert first.after(response("0.5")) == first


def test_A2_021_the_limit_of_slots_is_their_sum_and_no_multiple_of_a_distance() -> None:
    assert Slots([Pure(0.3), Pure(0.2)]).limit == Pure(0.5)


def test_P2_032_an_odometer_enters_a_filter_only_with_a_limit() -> None:
    odometer = SumOdometer(Pure(0)).after(Pure(0.4))
    inner = odometer.limited(Pure(1))
    assert inner == SumFilter(Pure(1), spent=Pure(0.4))
    assert SumFilter(Pure(2)).after(inner.limit).left == Pure(1)
    with pytest.raises(BadArgument, match="spent must be within the limit"):
        odometer.limited(Pure(0.3))
    with pytest.raises(BadArgument, match="loss must be a privacy loss"):
        SumFilter(Pure(2)).admits(odometer)


def test_P3_020_a_running_renyi_curve() -> None:
    odometer = SumOdometer(Renyi.nothing())
    for _ in range(3):
        odometer = odometer.after(Renyi.of(Linear(0.5)))
    assert odometer.spent.at(4) == 6


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: type(limit).__name__)
def test_every_kind_that_adds_has_a_filter(limit: Loss) -> None:
    fresh: Filter = filter_for(limit)
    assert fresh == (ApproxFilter(limit) if isinstance(limit, Approx) else SumFilter(limit))
    assert fresh.admits(limit)
    assert not fresh.after(limit).admits(limit)
    assert str(limit) in fresh.guarantee
    assert ("#any-way" if isinstance(limit, Approx) else ADDS[type(limit)]) in fresh.guarantee


def test_the_kinds_of_the_test_are_the_kinds_on_file() -> None:
    assert {type(limit) for limit in LIMITS} == set(ADDS)


@pytest.mark.parametrize(
    ("limit", "spent", "left"),
    [
        (Pure(math.inf), Pure(7), Pure(math.inf)),
        (Approx(1, 1), Approx(5, 1), Approx(1, 1)),
        (Approx(1, 0.3), Approx(0.25, 0.1), Approx(0.75, 0.2)),
        (ApproxZCDP(1, 0.19), ApproxZCDP(0.5, 0.1), ApproxZCDP(0.5, 0.1)),
        (ApproxZCDP(1, 1), ApproxZCDP(3, 0.1), ApproxZCDP(1, 1)),
        (GDP(5), GDP(4), GDP(3)),
        (Renyi({2: 1, 8: 2}), Renyi({2: 0.25, 8: 1}), Renyi({2: 0.75, 8: 1})),
    ],
    ids=str,
)
def test_what_is_left(limit: Loss, spent: Loss, left: Loss) -> None:
    assert SumFilter(limit, spent=spent).left == left


def test_a_sum_above_the_limit_by_any_amount_is_refused() -> None:
    hair = Fraction(1, 10**40)
    assert SumFilter(Pure(1)).after(Pure(0.9)).admits(Pure(0.1))
    assert not SumFilter(Pure(1)).after(Pure(0.9)).admits(Pure(Fraction(1, 10) + hair))


@pytest.mark.parametrize(
    "limit", [Profile([(1, 0.1)]), TradeOff([(0, 1), (0.25, 0.25), (1, 0)])], ids=lambda limit: type(limit).__name__
)
def test_curves_are_refused_as_stopping_rules_and_taken_as_slots(limit: Loss) -> None:
    kind = type(limit).__name__
    for make in (filter_for, SumFilter):
        with pytest.raises(
            NoProvenRoute, match=f"the composed {kind} reaches a limit is not valid .* sf.accounting.Slots takes"
        ):
            make(limit)
    with pytest.raises(
        NoProvenRoute, match=f"the composed {kind} of what ran so far bounds nothing .* sf.accounting.Slots takes"
    ):
        SumOdometer(limit)
    slots = Slots([limit, limit])
    assert slots.limit == limit.then(limit)
    assert slots.admits(limit)
    assert not slots.interleaves


def test_bounded_ranges_are_refused_and_told_what_to_use() -> None:
    with pytest.raises(NoProvenRoute, match="limit Pure or ZCDP"):
        filter_for(BoundedRange(1))
    with pytest.raises(NoProvenRoute, match="bounded ranges do not add up"):
        Slots([BoundedRange(1), BoundedRange(1)])


@pytest.mark.parametrize(
    "limit",
    [Renyi.of(Linear(1)), Renyi.nothing()],
    ids=["linear", "nothing"],
)
def test_renyi_limits_need_orders(limit: Renyi) -> None:
    with pytest.raises(NoProvenRoute, match="must be stated at chosen orders"):
        SumFilter(limit)


def test_a_renyi_loss_that_is_not_stated_at_an_order_of_the_limit_is_refused() -> None:
    with pytest.raises(NoProvenRoute, match="not stated at an order as high as 8, which is counted here"):
        SumFilter(Renyi({2: 1, 8: 2})).admits(Renyi({2: 0.1}))


def test_a_renyi_filter_keeps_a_table_and_refuses_in_few_words() -> None:
    """It kept every curve: a thousand different ones took a minute, and ten thousand letters to refuse."""
    rule = SumFilter(Renyi({2: 1, 8: 2}))
    for step in range(200):
        rule = rule.after(Renyi({2: Fraction(1, 1000 + step), 8: Fraction(1, 900 + step)}))
    rule = rule.after(Renyi.of(Linear(Fraction(1, 10))))
    assert len(rule.spent.terms) == 1
    exact = sum((Fraction(1, 1000 + step) for step in range(200)), Fraction(1, 5))
    assert rule.spent.at(2) == exact
    with pytest.raises(
        QueryRefused, match=r"at order 8 the total would be 2\.\d+, and the limit there is 2\. "
    ) as refused:
        rule.after(Renyi({2: 0.1, 3: 0.2, 4: 0.3, 5: 0.4, 6: 0.5, 8: 1}))
    assert len(str(refused.value)) < 400
    assert "0.1 at order 2, 0.2 at order 3, 0.3 at order 4, …" in str(refused.value)


def test_a_filter_prints_its_limit_as_it_is() -> None:
    third = SumFilter(Pure("1/3"))
    assert repr(third) == "SumFilter(limit=Pure(epsilon='1/3'), spent=Pure(epsilon=0.0))"
    assert eval(repr(third)) == third


def test_sums_are_of_bounds_at_one_order_each() -> None:
    """A loss may state less at a higher order; that counts for that loss alone, never for the sum of the others."""
    rule = SumFilter(Renyi({2: 1, 8: 4})).after(Renyi({2: 0.9, 8: 0.5})).after(Renyi({2: 0.1, 8: 3}))
    assert (rule.spent.at(2), rule.spent.at(8)) == (Fraction(6, 10), Fraction(35, 10))
    assert not rule.admits(Renyi({2: 0.5, 8: 0.5}))
    assert rule.admits(Renyi({2: 0.4, 8: 0.5}))
    from_elsewhere = SumFilter(Renyi({2: 1, 8: 4}), spent=Renyi({2: 0.9, 8: 0.5}).then(Renyi({2: 0.1, 8: 0})))
    assert from_elsewhere.spent.at(2) <= from_elsewhere.spent.at(8)


@pytest.mark.parametrize("wrong", [1, 0.5, "Pure(1)", None, True, Pure, math.nan], ids=repr)
def test_what_is_no_loss_is_refused(wrong: object) -> None:
    for use in (SumFilter, filter_for, SumOdometer, SumFilter(Pure(1)).admits, Slots([Pure(1)]).after):
        with pytest.raises(BadArgument, match="must be a privacy loss such as"):
            use(wrong)
    with pytest.raises(BadArgument, match="what an odometer starts from must be"):
        SumOdometer(wrong)  # type: ignore[arg-type]


def test_what_has_a_loss_is_told_how_to_get_it() -> None:
    with pytest.raises(BadArgument, match=r"that of an event is sf\.total\(event, sf\.Pure\)"):
        SumFilter(Pure(1)).admits(Laplace(scale=2))  # type: ignore[arg-type]
    measurement = vector(float, size=5) >> clamp(0, 1) >> mean() >> laplace(1)
    with pytest.raises(BadArgument, match=r"that of a measurement is measurement\.map\(1\)"):
        SumFilter(Pure(1)).after(measurement)
    with pytest.raises(NoProvenRoute, match=r"sf\.convert\(loss, sf\.Approx, delta=…\)"):
        SumFilter(Approx(1, 0.1)).admits(ZCDP(0.1))


@pytest.mark.parametrize("other", [ZCDP(0.1), Approx(0.1, 0)], ids=str)
def test_losses_of_another_kind_are_not_converted_in_secret(other: Loss) -> None:
    for use in (SumFilter(Pure(1)).admits, SumOdometer(Pure(0)).after, Slots([Pure(1)]).admits):
        with pytest.raises(NoProvenRoute, match=rf"Pure, and the loss is {type(other).__name__}\. Convert it first"):
            use(other)
    with pytest.raises(NoProvenRoute, match="Convert it first"):
        AdvancedFilter(Approx(1, 1e-6), reserve=1e-7).after(Pure(0.1))


def test_slots_are_of_one_kind_and_not_empty() -> None:
    with pytest.raises(BadArgument, match="one or more privacy losses"):
        Slots([])
    with pytest.raises(BadArgument, match="one or more privacy losses"):
        Slots([1, 2])
    with pytest.raises(NoProvenRoute, match="the slice is ZCDP"):
        Slots([Pure(1), ZCDP(1)])
    with pytest.raises(BadArgument, match="at most the number of slices"):
        Slots([Pure(1)], used=2)
    assert Slots([Pure(1), Pure(2)]).after(Pure(0)).spent == Pure(1)
    assert Slots([Pure(1)]).spent == Pure(0)
    for wrong in (3, Pure(1), "Pure"):
        with pytest.raises(BadArgument, match="a list of one or more privacy losses"):
            Slots(wrong)  # type: ignore[arg-type]
    assert type(Slots([Pure(1)], used=np.int64(1)).used) is int


@pytest.mark.parametrize("reserve", [0, -1, 2e-6, math.nan, "x"], ids=repr)
def test_the_reserve_is_a_part_of_delta(reserve: float) -> None:
    with pytest.raises(BadArgument, match="reserve"):
        AdvancedFilter(Approx(1, 1e-6), reserve=reserve)


def test_advanced_filters_take_finite_approximate_limits() -> None:
    for limit in (Pure(1), Approx(math.inf, 0.1), 1):
        with pytest.raises(BadArgument, match=r"limit must be an sf\.Approx of finite epsilon"):
            AdvancedFilter(limit, reserve=0.05)
    with pytest.raises(BadArgument, match="reserve must be"):
        AdvancedFilter(Approx(1, 1), reserve=1)
    for parts in ({"divergence": 1}, {"delta": 1e-9}, {"divergence": math.inf}):
        with pytest.raises(BadArgument, match="divergence and delta must be within the room of the limit"):
            AdvancedFilter(Approx(1, 1e-6), reserve=1e-6, **parts)
    with pytest.raises(BadArgument, match="order"):
        AdvancedFilter(Approx(1, 1e-6), reserve=1e-6, order=1)


def room_of(epsilon: Number, delta: Number, reserve: Number | None = None) -> AtOrder:
    return AdvancedFilter(Approx(epsilon, delta), reserve=delta if reserve is None else reserve).room


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01], ids=repr)
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1, 5, 50, 1000], ids=repr)
def test_the_room_is_more_than_that_of_whitehouse_and_others(epsilon: float, delta: float) -> None:
    """Their condition, ρ + 2 √(ρ ln(1/δ)) ≤ ε with ρ = ½ Σ ε², allows ρ up to (√(ln(1/δ) + ε) − √ln(1/δ))²."""
    tail = math.log(1 / delta)
    theirs = (math.sqrt(tail + epsilon) - math.sqrt(tail)) ** 2
    rule = AdvancedFilter(Approx(epsilon, delta), reserve=delta)
    assert up(rule.room.divergence / rule.order) > theirs * (1 + 1e-9)


def test_the_order_is_near_the_best() -> None:
    reserve = Fraction(1, 10**6)
    chosen = best_order(Fraction(1), reserve)
    orders = [1 + (chosen - 1) * factor / 100 for factor in range(10, 1000, 5)]
    best = room_at(Fraction(1), reserve, chosen) / chosen
    assert best > max(room_at(Fraction(1), reserve, order) / order for order in orders) * Fraction(999999, 1000000)


def test_extreme_limits_have_a_sound_room() -> None:
    assert room_of(0, Fraction(1, 10**400)).divergence == 0
    assert 0 < room_of(1, Fraction(1, 10**400)).divergence < 1
    assert room_of(10**400, 0.1).divergence < 10**400 + 1


def test_advanced_beats_basic_for_many_and_not_for_few() -> None:
    def fitting(rule: Filter, loss: Loss) -> int:
        count = 0
        while rule.admits(loss):
            rule, count = rule.after(loss), count + 1
        return count

    limit = Approx(1, 1e-6)
    for epsilon, count in ((0.01, 490), (0.03, 57), (0.1, 7)):  # by ε tanh(ε/2) at every order 487, 54 and 4
        assert fitting(AdvancedFilter(limit, reserve=1e-6), Approx(epsilon, 0)) == count
    assert fitting(SumFilter(limit), Approx(0.01, 0)) == 100
    assert fitting(AdvancedFilter(limit, reserve=1e-6), Approx(0.3, 0)) < fitting(SumFilter(limit), Approx(0.3, 0)) == 3


def test_advanced_counts_deltas_up_to_what_the_reserve_leaves() -> None:
    rule = AdvancedFilter(Approx(1, 0.1), reserve=0.05)
    assert rule.room.delta == Fraction(1, 19)  # 1 − 0.9 / 0.95
    rule = rule.after(Approx(0.01, Fraction(1, 19)))
    assert not rule.admits(Approx(0.01, 1e-9))
    assert rule.admits(Approx(0.01, 0))
    with pytest.raises(
        QueryRefused, match=r"under the limit ε = 1, δ = 0\.1: .* order [\d.]+ would come to .* room for"
    ):
        rule.after(Approx(0.01, 1e-9))


def test_losses_that_promise_nothing_are_not_admitted() -> None:
    advanced = AdvancedFilter(Approx(1, 0.1), reserve=0.05)
    for rule in (advanced, SumFilter(Approx(1, 0.1))):
        assert not rule.admits(Approx(math.inf, 0))
        assert not rule.admits(Approx(0.1, 1))


def test_advanced_counts_the_divergence_of_randomized_response() -> None:
    rule = AdvancedFilter(Approx(9, 0.1), reserve=0.05, order=3).after(Approx(log_up(3), 0.01))
    exact = math.log((3**3 + 3**-2) / 4) / 2
    assert (rule.delta, rule.order) == (Fraction(1, 100), 3)
    assert up(rule.divergence) == pytest.approx(exact, abs=1e-15)
    assert rule.spent == Renyi({3: rule.divergence})
    assert exact < 3 * math.log(3) * math.tanh(math.log(3) / 2)


def test_the_room_is_private_by_the_accountant_s_own_conversion() -> None:
    """The conversion of a curve at this order gives the limit back."""
    for epsilon, delta, reserve in ((1, 1e-6, 1e-6), (0.1, 1e-3, 1e-4), (8, 0.1, 0.05)):
        rule = AdvancedFilter(Approx(epsilon, delta), reserve=reserve)
        found = up(renyi_epsilon(Renyi({rule.order: rule.room.divergence}), delta=reserve))
        assert epsilon * 0.999999 < found <= epsilon * 1.0000001


def test_what_is_left_is_the_largest_that_fits() -> None:
    rule = AdvancedFilter(Approx(1, 0.1), reserve=0.05).after(Approx(0.1, 0.01))
    assert rule.admits(rule.left)
    assert not rule.admits(Approx(rule.left.epsilon * Fraction(10**9 + 1, 10**9), 0))
    assert not rule.admits(Approx(0, rule.left.delta + Fraction(1, 10**9)))
    assert rule.after(rule.left).left.delta == 0
    tiny = Fraction(1, 10**400)
    assert AdvancedFilter(Approx(0, tiny), reserve=tiny).left == Approx(0, 0)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (SumFilter(Pure(1)), True),
        (SumFilter(Approx(1, 0.1)), True),
        (SumFilter(ZCDP(1)), True),
        (SumFilter(GDP(1)), True),
        (SumFilter(Renyi({2: 1})), True),
        (SumFilter(ApproxZCDP(1, 0.1)), False),
        (AdvancedFilter(Approx(1, 0.1), reserve=0.05), True),
        (Slots([Pure(1)]), True),
        (Slots([ApproxZCDP(1, 0.1)]), False),
    ],
    ids=lambda value: f"{type(value).__name__} {getattr(value, 'limit', '')}",
)
def test_P2_030_interleaving_needs_a_theorem(rule: Filter, expected: bool) -> None:
    assert rule.interleaves is expected


VALUES = (
    SumFilter(Pure(1)).after(Pure(0.25)),
    SumFilter(Renyi({2: 1})).after(Renyi.of(Linear(0.1))),
    AdvancedFilter(Approx(1, 1e-6), reserve=1e-7).after(Approx(0.1, 1e-8)),
    Slots([GDP(1), GDP(2)]).after(GDP(0.5)),
    SumOdometer(ZCDP(0)).after(ZCDP(1)),
    AnytimeOdometer.around(ZCDP(0.1), delta=1e-6).after(ZCDP(0.05)),
)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_is_its_fields(value: object) -> None:
    parts = {field.name: getattr(value, field.name) for field in fields(value)}  # type: ignore[arg-type]
    again = type(value)(**parts)
    assert again == value and hash(again) == hash(value)


def test_the_anytime_odometer_near_what_was_expected() -> None:
    odometer = AnytimeOdometer.around(ZCDP(0.1), delta=1e-6)
    assert odometer.epsilon == 0
    at_aim = up(odometer.after(ZCDP(0.1)).epsilon)
    assert at_aim == pytest.approx(0.1 + 2 * math.sqrt(0.1 * math.log(3e6)), rel=1e-6)
    for factor in (0.001, 0.01, 0.1, 10, 100, 1000):
        rho = 0.1 * factor
        one_limit = rho + 2 * math.sqrt(rho * math.log(1e6))
        assert one_limit < up(odometer.after(ZCDP(rho)).epsilon) < 1.3 * one_limit


def test_zcdp_as_a_curve_shows_the_same() -> None:
    plain = AnytimeOdometer.around(ZCDP(0.1), delta=1e-6).after(ZCDP(0.2))
    curve = AnytimeOdometer.around(ZCDP(0.1), delta=1e-6, kind=Renyi).after(Renyi.of(Linear(0.2)))
    assert plain.epsilon == curve.epsilon


def test_an_anytime_odometer_for_curves() -> None:
    odometer = AnytimeOdometer(delta=1e-6, orders=[(8, 0.5), (32, 0.5)], spent=Renyi.nothing())
    both = odometer.after(Renyi({8: 0.1, 32: 0.4})).after(Renyi({8: 0.1, 32: 0.5}))
    tail = math.log(2e6)
    assert up(both.epsilon) == pytest.approx(min(0.2 + tail / 7, 0.9 + tail / 31))
    with pytest.raises(NoProvenRoute, match="not stated at an order"):
        odometer.after(Renyi({8: 0.1}))


def test_expected_sums_beyond_the_floats() -> None:
    for rho in (Fraction(1, 10**400), Fraction(10**400)):
        odometer = AnytimeOdometer.around(ZCDP(rho), delta=1e-6).after(ZCDP(rho))
        exact = math.log(3e6)  # in units of √(ρ ln(3/δ)), (ε − ρ)/2 squared is 1
        assert float(((odometer.epsilon - rho) / 2) ** 2 / rho) == pytest.approx(exact, rel=1e-3)


def test_an_anytime_odometer_for_curves_stays_short() -> None:
    odometer = AnytimeOdometer(delta=1e-6, orders=[(8, 0.5), (32, 0.5)], spent=Renyi.nothing())
    for step in range(1, 20):
        odometer = odometer.after(Renyi({8: Fraction(1, step), 32: Fraction(2, step)}))
    assert len(odometer.spent.terms) == 1


def test_shares_add_up_to_at_most_one() -> None:
    shares = [share for _, share in orders_around(ZCDP(3), delta=1e-9)]
    assert Fraction(9, 10) < sum(shares) <= 1
    assert shares[0] == Fraction(1, 3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: AnytimeOdometer(delta=0, orders=[(2, 1)]),
        lambda: AnytimeOdometer(delta=1, orders=[(2, 1)]),
        lambda: AnytimeOdometer(delta=0.1, orders=[]),
        lambda: AnytimeOdometer(delta=0.1, orders=[(1, 1)]),
        lambda: AnytimeOdometer(delta=0.1, orders=[(2, 0.6), (3, 0.6)]),
        lambda: AnytimeOdometer(delta=0.1, orders=[(2, 1)], spent=Pure(0)),
        lambda: AnytimeOdometer(delta=0.1, orders=[(2, 1)]).after(Pure(1)),
        lambda: AnytimeOdometer.around(ZCDP(0), delta=0.1),
        lambda: AnytimeOdometer.around(Pure(1), delta=0.1),
        lambda: AnytimeOdometer.around(ZCDP(1), delta=0),
        lambda: AnytimeOdometer.around(ZCDP(1), delta=5),
        lambda: AnytimeOdometer(delta=0.1, orders=5),
        lambda: AnytimeOdometer(delta=0.1, orders=[2, 3]),
        lambda: AnytimeOdometer.around(ZCDP(1), delta=0.1, kind=Pure),
    ],
)
def test_bad_odometers_are_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(SfumatoError):
        make()

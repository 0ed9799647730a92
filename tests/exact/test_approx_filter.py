"""The filter for (ε, δ) limits, against the worst adaptive spender: shares of δ hold, and are needed."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
from tests.exact.enumerated import response
from tests.exact.spenders import Offer, approx_menu, mu_of, worst_delta

from sfumato.accounting import events
from sfumato.accounting.adaptive.advanced import best_order, room_at
from sfumato.accounting.adaptive.approx_filter import ApproxFilter, greatest_mu, holds
from sfumato.accounting.adaptive.costs import NOTHING, Cost, Spending, set_aside, spending_of
from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.relation import Relation
from sfumato.exact import exp_down, exp_up, log_up
from sfumato.ledger.accounts import cost_of_part
from sfumato.noise.bounded import Truncated
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace


@dataclass(frozen=True)
class Unshared:
    """Is a wrong rule: it goes on while one way of counting has room, and every way has all of δ."""

    counted: Spending
    room: Spending
    order: Fraction

    def _with(self, loss: Loss) -> Spending:
        return self.counted.then(spending_of(Cost.of(loss), self.order))

    def admits(self, loss: Loss) -> bool:
        return holds(self._with(loss), self.room)

    def after(self, loss: Loss) -> Unshared:
        return Unshared(self._with(loss), self.room, self.order)


def unshared(limit: Approx) -> Unshared:
    order = best_order(limit.epsilon, limit.delta)
    room = Spending(
        added=limit,
        aside=limit.delta,
        epsilon=limit.epsilon,
        divergence=max(Fraction(0), Fraction(room_at(Fraction(limit.epsilon), limit.delta, order))),
        square=greatest_mu(Fraction(limit.epsilon), limit.delta) ** 2,
    )
    return Unshared(NOTHING, room, order)


@pytest.mark.parametrize(
    ("ratio", "delta", "odds"), [(2, Fraction(1, 10), Fraction(5, 4)), (3, Fraction(1, 5), Fraction(3, 2))]
)
def test_counting_in_any_way_holds_with_shares_of_delta_and_fails_without(
    ratio: int, delta: Fraction, odds: Fraction
) -> None:
    """Who leaks where the first answers were unlikely, and goes on asking where they were not, gains from both."""
    limit = Approx(log_up(ratio), delta)
    menu = approx_menu((odds, 0), (1, delta), (1, delta / 2), (1, delta / 20))
    assert worst_delta(unshared(limit), menu, 7, exp_up(limit.epsilon)) > delta
    assert worst_delta(ApproxFilter(limit), menu, 7, exp_down(limit.epsilon)) <= delta


def test_counting_in_any_way_holds_for_gaussian_losses_beside_stated_ones() -> None:
    limit = Approx(log_up(2), Fraction(1, 4))
    menu = (
        *(Offer(response(odds), mu_of(odds)) for odds in (Fraction(4, 3), Fraction(3, 2))),
        *approx_menu((Fraction(5, 4), 0), (1, Fraction(1, 16)), (Fraction(5, 4), Fraction(1, 40))),
    )
    found = worst_delta(ApproxFilter(limit), menu, 5, exp_down(limit.epsilon))
    assert Fraction(1, 16) < found <= limit.delta


@pytest.mark.parametrize("epsilon", ["0.5", "0.1", "0.03", "0.006"])
@pytest.mark.parametrize("limit", [Approx(1, "1e-6"), Approx(4, "1e-6")])
def test_counting_in_any_way_admits_no_fewer_than_adding_up(limit: Approx, epsilon: str) -> None:
    loss, most = Approx(epsilon, 0), 700
    by_sum: SumFilter | ApproxFilter
    counts = []
    for rule in (SumFilter(limit), ApproxFilter(limit)):
        by_sum, ran = rule, 0
        while ran < most and by_sum.admits(loss):
            by_sum, ran = by_sum.after(loss), ran + 1
        counts.append(ran)
    assert counts[0] <= counts[1]


def test_what_is_left_is_admitted_and_no_more() -> None:
    """Whatever was spent before, also when the sum of stated losses is long past the limit."""
    rule = ApproxFilter(Approx(1, "1e-6"))
    assert rule.left == rule.limit and rule.after(rule.limit).left.epsilon == 0
    for loss in (Pure("0.05"), Approx("0.02", "1e-8"), GDP("0.02"), *[Pure("0.01")] * 20):
        rule = rule.after(loss)
        assert rule.admits(rule.left)
        assert not rule.admits(Approx(Fraction(rule.left.epsilon) * Fraction(1001, 1000), rule.left.delta))
    assert rule.counted.added.epsilon == math.inf and rule.spent.within(rule.limit)


def test_what_is_set_aside_is_no_more_than_needed() -> None:
    plain = events.Noise(DiscreteGaussian(10), 1)
    assert set_aside(plain, Relation.ADD_REMOVE) == (0, plain)
    both = events.Sequence(plain, events.Repeat(events.Stated(Approx("0.1", "1e-7")), 3))
    delta, rest = set_aside(both, Relation.ADD_REMOVE)
    assert delta == Fraction(3, 10**7) and rest == events.Sequence(plain, events.Repeat(events.Stated(Pure("0.1")), 3))
    cut = set_aside(events.Noise(Truncated.within(DiscreteLaplace(Fraction(5)), radius=40), 1), Relation.ADD_REMOVE)
    assert 0 < cut.delta < 1 and isinstance(cut.event, events.Stated)


@pytest.mark.parametrize("parts", [1, 2, 4, 20, 50])
def test_a_limit_that_is_divided_into_equal_parts_is_used_to_the_last(parts: int) -> None:
    """As statistics offices and companies plan releases: so much ε and so much δ for each of them."""
    limit = Approx("4.8", "4e-10")
    rule: ApproxFilter | SumFilter = ApproxFilter(limit)
    for _ in range(parts):
        rule = rule.after(Approx(Fraction(limit.epsilon) / parts, limit.delta / parts))
    assert rule.spent == limit and not rule.admits(Approx("1e-9", 0))


def test_what_the_first_decides_holds_too() -> None:
    limit = Approx(log_up(3), Fraction(1, 5))
    menu = approx_menu((Fraction(3, 2), 0), (1, Fraction(1, 5)), (Fraction(3, 2), Fraction(1, 10)))
    rule = ApproxFilter(limit)
    assert isinstance(rule.after(menu[1].loss), SumFilter) and isinstance(rule.after(menu[0].loss), ApproxFilter)
    assert worst_delta(rule, menu, 6, exp_down(limit.epsilon)) == limit.delta


@dataclass(frozen=True)
class Parted:
    """Is an account of which one part holds all: what is pure is charged to the part, a leak closes it first."""

    part: ApproxFilter | SumFilter | None
    above: SumFilter

    def _closed(self) -> SumFilter:
        return self.above if self.part is None else self.above.after(cost_of_part(self.part))

    def admits(self, loss: Approx) -> bool:
        return (self._closed() if loss.delta or self.part is None else self.part).admits(loss)

    def after(self, loss: Approx) -> Parted:
        if loss.delta or self.part is None:
            return Parted(None, self._closed().after(loss))
        return replace(self, part=self.part.after(loss))


@pytest.mark.parametrize(("ratio", "odds", "rounds"), [(2, Fraction(21, 20), 40), (4, Fraction(11, 10), 60)])
def test_what_a_part_gives_back_cannot_be_spent_beside_what_it_might_have_asked(
    ratio: int, odds: Fraction, rounds: int
) -> None:
    """Who closes a part after unlikely answers and goes on asking it after others must not gain from both."""
    limit = Approx(log_up(ratio), Fraction(1, 100))
    menu = approx_menu((odds, 0), (1, limit.delta))
    found = worst_delta(Parted(ApproxFilter(limit), SumFilter(limit)), menu, rounds, exp_down(limit.epsilon))
    assert found <= limit.delta


def test_a_part_that_adds_up_gives_back_what_it_did_not_spend() -> None:
    limit, asked = Approx(1, "1e-6"), Approx("0.25", 0)
    assert cost_of_part(SumFilter(limit).after(asked)) == asked
    assert cost_of_part(ApproxFilter(limit).after(asked)) == limit
    assert cost_of_part(ApproxFilter(limit)) == Approx.nothing()


@pytest.mark.parametrize("nothing", [ZCDP(0), GDP(0), ApproxZCDP(0, 0), Pure(0)], ids=str)
def test_what_costs_nothing_takes_no_way_of_counting_away(nothing: Loss) -> None:
    rule = ApproxFilter(Approx(1, "1e-6"))
    assert rule.after(nothing) == rule and rule.after(Pure("0.5")).after(nothing) == rule.after(Pure("0.5"))


def test_a_curve_that_is_stated_at_low_orders_alone_is_counted_in_the_other_ways() -> None:
    rule, curve = ApproxFilter(Approx(1, "1e-6")), Renyi({2: "0.001"})
    assert not rule.admits(curve)
    assert rule.after(Cost(Pure("0.1"), events.Stated(curve))).counted.added == Approx("0.1", 0)


@pytest.mark.parametrize("seed", range(6))
def test_no_mixture_of_kinds_of_losses_passes_the_limit(seed: int) -> None:
    """Leaks, responses and what is stated as a μ, in all orders and of random sizes, against all strategies."""
    chosen = random.Random(seed)
    ratio, delta = chosen.choice([Fraction(3, 2), Fraction(2), Fraction(3)]), Fraction(chosen.randint(2, 30), 100)
    limit = Approx(log_up(ratio), delta)
    share = [delta / chosen.randint(1, 40) for _ in range(3)]
    odds = [1 + Fraction(chosen.randint(1, 12), 20) for _ in range(2)]
    menu = (
        *approx_menu((1, share[0]), (1, share[1]), (odds[0], share[2]), (odds[1], 0)),
        Offer(response(odds[0]), mu_of(odds[0])),
    )
    assert worst_delta(ApproxFilter(limit), menu, 6, exp_down(limit.epsilon)) <= delta

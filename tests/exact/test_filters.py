"""Filters and odometers against the worst adaptive spender, found exactly."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import pytest
from tests.exact.enumerated import response
from tests.exact.spenders import (
    Offer,
    Pairs,
    approx_menu,
    moment,
    mu_of,
    pure_menu,
    stick,
    together,
    worst_delta,
    worst_moment,
    worst_ratio,
)

from sfumato.accounting.adaptive.advanced import AdvancedFilter
from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.accounting.adaptive.odometers import AnytimeOdometer, SumOdometer
from sfumato.accounting.adaptive.slots import Slots
from sfumato.accounting.facts.gaussian import gaussian_delta
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.accounting.losses.renyi import Renyi
from sfumato.exact import ball, exp_down, exp_up, log_down, log_up, lower

TINY = Fraction(1, 10**30)
"""More than all roundings of the stated losses together."""


@dataclass(frozen=True)
class Forgetful:
    """Is a wrong rule: it compares each loss with the limit and forgets what came before."""

    limit: Loss

    def admits(self, loss: Loss) -> bool:
        return loss.within(self.limit)

    def after(self, loss: Loss) -> Forgetful:
        return self


@dataclass(frozen=True)
class Natural:
    """Is the tempting wrong rule: δ of all that ran on this history, composed optimally, must stay within a limit."""

    growth: Fraction
    delta: Fraction
    laws: dict[Loss, Pairs]
    ran: tuple[Loss, ...] = ()

    def __hash__(self) -> int:
        return hash(self.ran)

    def admits(self, loss: Loss) -> bool:
        return stick(together(*(self.laws[part] for part in (*self.ran, loss))), self.growth) <= self.delta

    def after(self, loss: Loss) -> Natural:
        return Natural(self.growth, self.delta, self.laws, (*self.ran, loss))


def natural(growth: int, delta: Fraction, menu: tuple[Offer, ...]) -> Natural:
    return Natural(Fraction(growth), delta, {offer.loss: offer.pairs for offer in menu})


def rho_of(ratio: Fraction | int) -> Fraction:
    """Gives ε tanh(ε/2) of randomized response, rounded up."""
    exact = Fraction(ratio)
    return Fraction(log_up(exact)) * (exact - 1) / (exact + 1)


def test_the_recursion_finds_what_trying_all_strategies_finds() -> None:
    menu = approx_menu((2, 0), (3, Fraction(1, 10)), (1, Fraction(1, 5)))
    limit = SumFilter(Approx(log_up(6) + TINY, Fraction(1, 4)))
    growth, best = Fraction(3, 2), Fraction(0)
    for first in menu:
        seconds = [None, *(offer for offer in menu if limit.after(first.loss).admits(offer.loss))]
        for plan in itertools.product(seconds, repeat=len(first.pairs)):
            transcript = [
                (p * a, q * b)
                for (p, q), second in zip(first.pairs, plan, strict=True)
                for a, b in (second.pairs if second else ((Fraction(1), Fraction(1)),))
            ]
            best = max(best, stick(transcript, growth))
    assert worst_delta(limit, menu, 2, growth) == best > 0


def test_pure_filter_holds_and_is_reached() -> None:
    menu, limit = pure_menu(2, 3, 4, Fraction(6, 5)), Pure(log_up(12) + TINY)
    assert worst_ratio(SumFilter(limit), menu, 6) == 12
    assert worst_ratio(Forgetful(limit), menu, 3) > exp_up(limit.epsilon)


@pytest.mark.parametrize("growth", [Fraction(1), Fraction(2), Fraction(4), Fraction(5)], ids=str)
def test_pure_filter_is_never_above_its_profile(growth: Fraction) -> None:
    """All that a pure limit of ln 4 allows is what randomized response of ratio 4 does."""
    found = worst_delta(SumFilter(Pure(log_up(4) + TINY)), pure_menu(2, 4, Fraction(3, 2)), 4, growth)
    assert found <= stick(response(4), growth)


@pytest.mark.parametrize(("ratio", "delta"), [(4, Fraction(1, 4)), (1, Fraction(1, 5)), (6, Fraction(1, 10))])
def test_approx_filter_holds(ratio: int, delta: Fraction) -> None:
    menu = approx_menu((2, 0), (2, Fraction(1, 10)), (3, Fraction(1, 20)), (1, Fraction(1, 20)))
    limit = Approx(log_up(ratio) + TINY, delta)
    assert worst_delta(SumFilter(limit), menu, 5, Fraction(ratio)) <= delta
    assert worst_delta(Forgetful(limit), menu, 8, Fraction(exp_up(limit.epsilon))) > delta


def test_approx_filter_is_reached_where_nothing_overlaps() -> None:
    """One leak fills the whole limit."""
    menu = approx_menu((1, Fraction(1, 5)), (1, Fraction(1, 20)))
    assert worst_delta(SumFilter(Approx(0, Fraction(1, 5))), menu, 4, Fraction(1)) == Fraction(1, 5)


@pytest.mark.parametrize("order", [2, 3, 8])
def test_concentrated_filter_holds(order: int) -> None:
    menu = tuple(Offer(response(ratio), ZCDP(rho_of(ratio))) for ratio in (2, 3, Fraction(5, 4)))
    limit = ZCDP(3 * rho_of(2) + TINY)
    assert worst_moment(SumFilter(limit), menu, 12, order) <= exp_down(order * (order - 1) * limit.rho)
    assert worst_moment(Forgetful(limit), menu, 12, order) > exp_up(order * (order - 1) * limit.rho)


def test_half_of_the_concentrated_loss_would_be_too_little() -> None:
    menu = tuple(Offer(response(ratio), ZCDP(rho_of(ratio) / 2)) for ratio in (2, 3, Fraction(5, 4)))
    limit = ZCDP(3 * rho_of(2) + TINY)
    assert worst_moment(SumFilter(limit), menu, 12, 2) > exp_up(2 * limit.rho)


def test_concentrated_filter_is_reached_at_order_one() -> None:
    """Three responses of ratio 2 have a Kullback–Leibler divergence of exactly the limit, 3 ε tanh(ε/2) = ln 2."""
    whole = together(*[response(2)] * 3)
    divergence = lower(lambda: sum((ball(p) * ball(p / q).log() for p, q in whole), ball(0)))
    assert abs(divergence - 3 * rho_of(2)) < TINY
    assert 3 * rho_of(2) < 3 * Fraction(log_up(2)) ** 2 / 2  # the usual ε²/2 would count more


def renyi_menu(*ratios: Fraction | int) -> tuple[Offer, ...]:
    def curve(pairs: Pairs) -> Renyi:
        return Renyi({order: log_up(moment(pairs, order)) / (order - 1) for order in (2, 4)})

    return tuple(Offer(response(ratio), curve(response(ratio))) for ratio in ratios)


@pytest.mark.parametrize("order", [2, 4])
def test_renyi_filter_holds_and_is_reached(order: int) -> None:
    menu = renyi_menu(2, 3, Fraction(5, 4))
    points = {2: 3 * menu[0].loss.at(2) + TINY, 4: 3 * menu[0].loss.at(4) + TINY}
    found = worst_moment(SumFilter(Renyi(points)), menu, 10, order)
    assert moment(response(2), order) ** 3 <= found <= exp_up((order - 1) * points[order])
    assert worst_moment(Forgetful(Renyi(points)), menu, 10, order) > exp_up((order - 1) * points[order])


@pytest.mark.parametrize("growth", [Fraction(1), Fraction(2), Fraction(5)], ids=str)
def test_gaussian_filter_holds(growth: Fraction) -> None:
    menu = tuple(Offer(response(ratio), mu_of(ratio)) for ratio in (2, 3, Fraction(5, 4)))
    limit = GDP.of_square(3 * mu_of(2).square + TINY)
    allowed = gaussian_delta(log_down(growth), scale=1, sensitivity=limit.mu)
    assert worst_delta(SumFilter(limit), menu, 8, growth) <= allowed
    assert worst_delta(Forgetful(limit), menu, 8, growth) > allowed + Fraction(1, 100)


def test_gaussian_filter_is_reached_by_one_response_at_growth_one() -> None:
    """At ε = 0 the corner of randomized response touches the Gaussian curve."""
    allowed = gaussian_delta(0, scale=1, sensitivity=mu_of(3).mu)
    assert abs(allowed - stick(response(3), Fraction(1))) < TINY


LIMIT, RESERVE = Approx(2, Fraction(1, 10)), Fraction(1, 20)


def test_advanced_filter_holds() -> None:
    menu = approx_menu((Fraction(5, 4), 0), (2, 0), (Fraction(5, 4), Fraction(1, 50)))
    growth = exp_down(2)
    found = worst_delta(AdvancedFilter(LIMIT, reserve=RESERVE), menu, 40, growth)
    assert Fraction(1, 50) < found <= LIMIT.delta
    assert worst_delta(Forgetful(LIMIT), menu, 12, growth) > LIMIT.delta


def test_approximate_concentrated_filter_holds() -> None:
    """With this ρ and δ it means (2, 1/10), by the lemmas of proofs/privacy_filters.md#advanced."""
    rule = AdvancedFilter(LIMIT, reserve=RESERVE)
    limit = ApproxZCDP(rule.room.divergence / rule.order, rule.room.delta)
    offers = [(Fraction(5, 4), Fraction(0)), (3, Fraction(1, 40))]
    menu = tuple(Offer(response(ratio, leak=leak), ApproxZCDP(rho_of(ratio), leak)) for ratio, leak in offers)
    assert worst_delta(SumFilter(limit), menu, 40, exp_down(2)) <= LIMIT.delta


def test_an_advanced_filter_without_the_tail_would_fail() -> None:
    """Counting the mean of the loss alone, ρ = ε, is not enough: the constant √(2 ln(1/δ′) Σε²) is needed."""
    menu = tuple(Offer(response(ratio), ZCDP(rho_of(ratio))) for ratio in (Fraction(5, 4), 2))
    assert worst_delta(SumFilter(ZCDP(2)), menu, 20, exp_up(2)) > LIMIT.delta


def test_the_natural_rule_breaks_with_a_leak() -> None:
    """The example of proofs/privacy_filters.md#refused."""
    first, small, leak = approx_menu((2, 0), (Fraction(23, 17), 0), (1, Fraction(1, 10)))
    rule = natural(2, Fraction(1, 10), (first, small, leak))
    after = rule.after(first.loss)
    assert rule.admits(first.loss)
    assert after.admits(small.loss) and after.admits(leak.loss)
    told, misled = first.pairs[0], first.pairs[1]
    plan = [(told[0] * p, told[1] * q) for p, q in small.pairs] + [
        (misled[0] * p, misled[1] * q) for p, q in leak.pairs
    ]
    assert stick(plan, Fraction(2)) == Fraction(2, 15) > rule.delta


def test_the_natural_rule_breaks_with_randomized_responses_alone() -> None:
    """Each history composes to at most 1/4, also by the optimal theorem; the whole comes to 53/180."""
    menu = pure_menu(Fraction(3, 2), 3, 2)
    rule = natural(2, Fraction(1, 4), menu)
    assert worst_delta(rule, menu, 3, Fraction(2)) == Fraction(53, 180) > rule.delta


@pytest.mark.parametrize("limit", [Approx(log_up(2), Fraction(1, 10)), Approx(log_up(2), Fraction(1, 4))])
def test_valid_filters_withstand_what_breaks_the_natural_rule(limit: Approx) -> None:
    menu = approx_menu((2, 0), (Fraction(23, 17), 0), (1, Fraction(1, 10)), (Fraction(3, 2), 0), (3, 0))
    for rule in (SumFilter(limit), AdvancedFilter(limit, reserve=limit.delta / 2)):
        assert worst_delta(rule, menu, 5, Fraction(2)) <= limit.delta


def test_slots_hold_with_what_runs_in_them_chosen_as_one_goes() -> None:
    menu = pure_menu(2, 3, Fraction(3, 2))
    slots = Slots([Pure(log_up(3)), Pure(log_up(2)), Pure(log_up(2))])
    assert worst_ratio(slots, menu, 5) == 12 <= exp_up(slots.limit.epsilon)


def worst_exceedance(odometer: AnytimeOdometer, menu: tuple[Offer, ...], rounds: int) -> Fraction:
    """Gives the largest probability, over all strategies, that the realised loss ever passes what the odometer says."""

    @cache
    def chance(state: AnytimeOdometer, ratio: Fraction, left: int) -> Fraction:
        if log_down(ratio) > state.epsilon:
            return Fraction(1)
        return max(
            (
                sum(p * chance(state.after(offer.loss), ratio * p / q, left - 1) for p, q in offer.pairs)
                for offer in menu
                if left
            ),
            default=Fraction(0),
        )

    return chance(odometer, Fraction(1), rounds)


@pytest.mark.parametrize("orders", [[(Fraction(3, 2), 1)], [(Fraction(3, 2), Fraction(1, 2)), (3, Fraction(1, 2))]])
def test_the_anytime_odometer_is_passed_with_at_most_its_probability(orders: list[tuple[Fraction, Fraction]]) -> None:
    menu = tuple(Offer(response(ratio), ZCDP(rho_of(ratio))) for ratio in (2, 3))
    odometer = AnytimeOdometer(delta=Fraction(1, 2), orders=orders)
    assert Fraction(1, 20) < worst_exceedance(odometer, menu, 12) <= odometer.delta
    without_tail = AnytimeOdometer(delta=Fraction(999, 1000), orders=[(Fraction(3, 2), 1)])
    assert worst_exceedance(without_tail, menu, 12) > odometer.delta


def test_the_anytime_odometer_holds_for_renyi_curves() -> None:
    menu = renyi_menu(2, 3)
    odometer = AnytimeOdometer(delta=Fraction(9, 10), orders=[(2, 1)], spent=Renyi.nothing())
    assert 0 < worst_exceedance(odometer, menu, 10) <= odometer.delta


def test_a_running_sum_of_zcdp_alone_is_passed_often() -> None:
    """Why the odometer adds a tail: the realised loss is above Σρ with probability more than one half."""
    menu = (Offer(response(4), ZCDP(rho_of(4))),)
    whole = together(*[response(4)] * 3)
    over = sum(p for p, q in whole if log_down(p / q) > 3 * menu[0].loss.rho)
    assert over > Fraction(1, 2)


def test_a_pure_running_sum_bounds_every_realised_loss() -> None:
    menu = pure_menu(2, 3, Fraction(5, 4))
    for plan in itertools.product(menu, repeat=3):
        odometer = SumOdometer(Pure(0))
        for offer in plan:
            odometer = odometer.after(offer.loss)
        ratios = [p / q for p, q in together(*(offer.pairs for offer in plan))]
        assert log_down(max(ratios)) <= odometer.spent.epsilon
        assert odometer.spent.epsilon - log_down(max(ratios)) < TINY

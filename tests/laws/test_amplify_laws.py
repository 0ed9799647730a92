"""Laws of amplification: sampling never hurts, more of it costs more, and what steers agrees with what certifies."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples

from sfumato.accounting.amplify.blanket import hidden_delta
from sfumato.accounting.amplify.curves_fixed import FixedSizeCurve, TruncatedCurve
from sfumato.accounting.amplify.curves_poisson import PoissonCurve, SampledGaussianCurve
from sfumato.accounting.amplify.population import chance_drawn, cluster_amplified
from sfumato.accounting.amplify.rates import (
    fixed_size_loss,
    poisson_loss,
    redrawn_loss,
    sampled_epsilon,
    truncated_loss,
)
from sfumato.accounting.amplify.shuffle import shuffled_epsilon, shuffled_epsilon_closed
from sfumato.accounting.events import Poisson, TruncatedPoisson, WithoutReplacement, WithReplacement
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.relation import Relation
from sfumato.accounting.renyi.curves import Curve
from sfumato.accounting.renyi.mechanism_curves import LaplaceCurve, Linear, PureCurve

SLACK = 1 + Fraction(1, 10**9)

rates = st.fractions(0, 1, max_denominator=100)
inner_rates = st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100)
epsilons = st.fractions(0, 6, max_denominator=50)
losses = st.builds(Approx, epsilons, st.fractions(0, Fraction(1, 100), max_denominator=10**6))
relations = st.sampled_from([Relation.ADD_REMOVE, Relation.CHANGE_ONE])
orders = st.one_of(st.integers(2, 12).map(Fraction), st.fractions(Fraction(11, 10), 12, max_denominator=20))
squares = st.fractions(Fraction(1, 100), 4, max_denominator=100)
curves = st.sampled_from([Linear(Fraction(1, 8)), PureCurve(Fraction(1, 2)), LaplaceCurve(1)])

quick = settings(deadline=None, max_examples=examples(40))


@quick
@given(losses, rates, rates, relations)
def test_a_higher_rate_costs_more_and_all_costs_what_it_costs(
    loss: Approx, one: Fraction, other: Fraction, relation: Relation
) -> None:
    low, high = (poisson_loss(loss, Poisson(rate), relation) for rate in sorted((one, other)))
    assert low.epsilon <= high.epsilon * SLACK
    assert low.delta <= high.delta * SLACK
    whole = loss if relation is Relation.ADD_REMOVE else loss.group(2)
    assert poisson_loss(loss, Poisson(1), relation) == whole
    assert high.epsilon <= whole.epsilon * SLACK
    assert high.delta <= whole.delta * SLACK


@quick
@given(epsilons, epsilons, rates)
def test_a_dearer_mechanism_costs_more(one: Fraction, other: Fraction, rate: Fraction) -> None:
    low, high = sorted((one, other))
    assert sampled_epsilon(low, rate) <= sampled_epsilon(high, rate) * SLACK
    assert rate * low <= sampled_epsilon(low, rate) * SLACK <= low * SLACK**2


@quick
@given(losses, st.integers(1, 6), st.integers(0, 12))
def test_one_draw_is_a_sample_of_one_and_more_draws_cost_more(loss: Approx, population: int, draws: int) -> None:
    def redrawn(count: int) -> Approx:
        return redrawn_loss(loss, WithReplacement(count, population), Relation.CHANGE_ONE)

    one, fixed = redrawn(1), fixed_size_loss(loss, WithoutReplacement(1, population), Relation.CHANGE_ONE)
    assert abs(one.epsilon - fixed.epsilon) <= fixed.epsilon / 10**9
    assert abs(one.delta - fixed.delta) <= fixed.delta / 10**9
    assert redrawn(draws).epsilon <= redrawn(draws + 1).epsilon * SLACK
    assert redrawn(draws).epsilon <= draws * loss.epsilon * SLACK


@quick
@given(losses, rates, st.integers(1, 9), relations)
def test_cutting_a_sample_costs_at_least_as_much(loss: Approx, rate: Fraction, most: int, relation: Relation) -> None:
    cut = truncated_loss(loss, loss.group(2), TruncatedPoisson(rate, most=most, population=9), relation)
    plain = poisson_loss(loss, Poisson(rate), relation)
    assert plain.epsilon <= cut.epsilon <= loss.group(2).epsilon * SLACK
    assert plain.delta <= cut.delta <= loss.group(2).delta * SLACK


@quick
@given(epsilons, epsilons, rates)
def test_clusters_lie_between_a_sample_of_units_and_no_sample(unit: Fraction, more: Fraction, rate: Fraction) -> None:
    found = cluster_amplified(Pure(unit), cluster=Pure(unit + more), rate=rate).epsilon
    assert sampled_epsilon(unit, rate) <= found * SLACK <= unit * SLACK**2


@quick
@given(st.integers(1, 30), st.integers(0, 30), st.integers(1, 30))
def test_the_chance_of_several_rows_is_below_the_union_bound(rows: int, sample: int, more: int) -> None:
    population = max(rows, sample) + more
    chance = chance_drawn(rows, sample=sample, population=population)
    assert Fraction(sample, population) <= chance <= min(Fraction(1), Fraction(rows * sample, population))


def sampled_curves(curve: Curve, rate: Fraction, square: Fraction) -> list[Curve]:
    loss = Renyi.of(curve)
    gaussian = SampledGaussianCurve(rate, square)
    return [
        gaussian,
        PoissonCurve(loss, rate),
        PoissonCurve(loss, rate, symmetric=True),
        FixedSizeCurve(loss, rate),
        TruncatedCurve(Renyi.of(gaussian), Renyi.of(SampledGaussianCurve(rate, 4 * square)), Fraction(1, 10**6)),
    ]


@quick
@given(curves, inner_rates, squares, orders)
def test_what_steers_is_near_what_is_certified(curve: Curve, rate: Fraction, square: Fraction, order: Fraction) -> None:
    for sampled in sampled_curves(curve, rate, square):
        bound, near = float(sampled.at(order)), sampled.near(float(order))
        assert abs(bound - near) <= 1e-6 * bound


@quick
@given(curves, inner_rates, inner_rates, squares, orders, orders)
def test_curves_grow_with_the_rate_and_the_order(
    curve: Curve, one: Fraction, other: Fraction, square: Fraction, first: Fraction, second: Fraction
) -> None:
    low, high = sorted((one, other))
    for less, more in zip(sampled_curves(curve, low, square), sampled_curves(curve, high, square), strict=True):
        assert less.at(first) <= more.at(first) * SLACK
    early, late = sorted((first, second))
    gaussian = SampledGaussianCurve(one, square)
    assert gaussian.at(early) <= gaussian.at(late) * SLACK
    assert gaussian.at(late) <= late * square / 2


@quick
@given(inner_rates, squares, st.integers(2, 10))
def test_three_ways_to_the_sampled_gaussian_agree(rate: Fraction, square: Fraction, order: int) -> None:
    exact = SampledGaussianCurve(rate, square).at(order)
    summed = PoissonCurve(Renyi.of(Linear(square / 2)), rate, symmetric=True).at(order)
    assert abs(exact - summed) <= summed / 10**9
    between = PoissonCurve(Renyi.of(Linear(square / 2)), rate, symmetric=True).at(order + Fraction(1, 2))
    assert SampledGaussianCurve(rate, square).at(order + Fraction(1, 2)) <= between * SLACK


@settings(deadline=None, max_examples=15)
@given(st.fractions(Fraction(1, 10), 3, max_denominator=20), st.integers(2, 300), st.integers(2, 300))
def test_more_reports_hide_better_and_the_closed_form_is_never_better(epsilon0: Fraction, one: int, other: int) -> None:
    few, many = sorted((one, other))
    epsilon = epsilon0 / 4
    assert hidden_delta(epsilon0, many, epsilon) <= hidden_delta(epsilon0, few, epsilon) * SLACK
    assert hidden_delta(epsilon0, few, epsilon) <= hidden_delta(epsilon0, few, epsilon0 / 8)
    assert hidden_delta(epsilon0, few, epsilon) <= hidden_delta(epsilon0 * 2, few, epsilon)
    found = shuffled_epsilon(epsilon0, reports=many, delta=Fraction(1, 1000))
    assert found <= shuffled_epsilon_closed(epsilon0, reports=many, delta=Fraction(1, 1000))

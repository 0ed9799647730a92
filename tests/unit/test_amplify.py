"""What secret samples save: the books' numbers, exact ends, and refusals."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from tests.examples.calls import calls

from sfumato.accounting.amplify.curves_fixed import FixedSizeCurve, TruncatedCurve
from sfumato.accounting.amplify.curves_poisson import (
    PoissonCurve,
    SampledGaussianCurve,
    simplified_sampled_bound,
    simplified_width,
)
from sfumato.accounting.amplify.exchange import twice_as_far
from sfumato.accounting.amplify.population import chance_drawn, cluster_amplified, population_amplified
from sfumato.accounting.amplify.rates import redrawn_loss, sampled_epsilon
from sfumato.accounting.amplify.sampled_rows import gaussian_square
from sfumato.accounting.compose import total
from sfumato.accounting.convert.renyi import renyi_epsilon, renyi_order
from sfumato.accounting.events import (
    Event,
    Gaussian,
    Laplace,
    Noise,
    Poisson,
    Repeat,
    Response,
    Sampled,
    Sampling,
    Sequence,
    Stated,
    TruncatedPoisson,
    WithoutReplacement,
    WithReplacement,
)
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.relation import Relation
from sfumato.accounting.renyi.mechanism_curves import LaplaceCurve, Linear, PureCurve
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.noise.discrete_gaussian import DiscreteGaussian

MORE, OTHER = Relation.ADD_REMOVE, Relation.CHANGE_ONE


def test_A2_033_a_sample_of_a_population() -> None:
    found = population_amplified(Pure(2), sample=10, population=100)
    assert float(found.epsilon) == pytest.approx(0.494029, abs=5e-7)
    assert found.epsilon <= Fraction(4941, 10_000)
    assert population_amplified(Approx(2, 1e-6), sample=10, population=100) == Approx(found.epsilon, 1e-7)


@pytest.mark.parametrize(
    ("epsilon", "rate", "expected"),
    [(1, 0.01, 0.017037), (1, 0.1, 0.158565), (1, 0.5, 0.620115), (1, 1, 1), (2, 0.001, 0.006369)],
)
def test_A2_034_poisson(epsilon: int, rate: float, expected: float) -> None:
    loss = total(Sampled(Stated(Pure(epsilon)), Poisson(rate)), Pure, relation=MORE)
    assert float(loss.epsilon) == pytest.approx(expected, abs=5e-7)
    true = math.log1p(rate * math.expm1(epsilon))
    assert true * (1 - 1e-15) <= float(loss.epsilon) <= true * (1 + 1e-15)


def test_exact_ends() -> None:
    inner = Stated(Approx(1, 1e-6))
    for sampling in (Poisson(1), TruncatedPoisson(1, most=9, population=9)):
        assert total(Sampled(inner, sampling), Approx, relation=MORE) == Approx(1, 1e-6)
    assert total(Sampled(inner, WithoutReplacement(5, 5)), Approx, relation=OTHER) == Approx(1, 1e-6).group(2)
    for sampling in (Poisson(0), WithoutReplacement(0, 5), WithReplacement(0, 5)):
        assert total(Sampled(inner, sampling), Approx, relation=OTHER) == Approx(0, 0)
    assert sampled_epsilon(math.inf, Fraction(1, 2)) == math.inf
    assert sampled_epsilon(math.inf, Fraction(0)) == 0
    assert sampled_epsilon(Fraction(10**9), Fraction(1, 2)) <= 10**9


def test_an_exchange_is_charged_at_twice_the_shift() -> None:
    plan = Sampled(Laplace(scale=1), WithoutReplacement(1, 100))
    assert float(total(plan, Pure, relation=OTHER).epsilon) == pytest.approx(math.log1p(math.expm1(2) / 100))
    same = Sampled(Stated(Pure(1)), WithoutReplacement(1, 100))
    assert total(same, Pure, relation=OTHER) == total(plan, Pure, relation=OTHER)


def test_twice_as_far_reaches_every_shift_or_none() -> None:
    assert twice_as_far(Gaussian(2, 3)) == Gaussian(2, 6)
    assert twice_as_far(Sequence(Laplace(1), Repeat(Gaussian(1), 3))) == Sequence(
        Laplace(1, 2), Repeat(Gaussian(1, 2), 3)
    )
    noise = DiscreteGaussian(Fraction(3))
    assert twice_as_far(Noise(noise, 2, coordinates=4)) == Noise(noise, 4, coordinates=4)
    assert twice_as_far(Laplace(1, math.inf)) == Laplace(1, math.inf)
    assert twice_as_far(Sequence(Laplace(1), Response(1))) == Sequence(Laplace(1, 2), Response(1))
    assert twice_as_far(Repeat(Stated(Pure(1)), 2)) is None


def test_with_replacement_beats_a_union_bound() -> None:
    loss = redrawn_loss(Approx(1, 1e-6), WithReplacement(10, 1000), OTHER)
    assert float(loss.epsilon) == pytest.approx(10 * math.log1p(math.expm1(1) / 1000))
    assert 0.01 < float(loss.delta) * 1e6 < 0.0101
    dense = redrawn_loss(Approx(1, 0), WithReplacement(3000, 1000), OTHER)
    assert 3 < float(dense.epsilon) < 7  # some unit is drawn three times on average
    assert redrawn_loss(Approx(1, 0), WithReplacement(3, 1), OTHER).epsilon == pytest.approx(3)
    assert redrawn_loss(Approx(900, 0), WithReplacement(5, 2), OTHER).epsilon == 4500


@pytest.mark.parametrize("sampling", [Poisson(0.1), TruncatedPoisson(0.1, most=3, population=9)], ids=["plain", "cut"])
def test_profiles_move_promise_by_promise(sampling: Sampling) -> None:
    inner = Stated(Profile([(0, 0.2), (1, 1e-3), (2, 0)]))
    found = total(Sampled(inner, sampling), Profile, relation=MORE)
    if isinstance(sampling, Poisson):
        assert found.delta(sampled_epsilon(Fraction(1), sampling.rate)) == Fraction(1, 10_000)
        assert found.epsilon(0) == sampled_epsilon(Fraction(2), sampling.rate)
    assert found.epsilon(0) <= sampled_epsilon(Fraction(4), sampling.rate)


@pytest.mark.parametrize("kind", [ZCDP, GDP])
@pytest.mark.parametrize(
    "sampling",
    [Poisson(0.01), TruncatedPoisson(0.1, most=3, population=9), WithoutReplacement(1, 9), WithReplacement(1, 9)],
    ids=lambda sampling: type(sampling).__name__,
)
def test_A3_020_concentrated_losses_refuse_sampling(kind: type[ZCDP], sampling: Sampling) -> None:
    advice = "Poisson or WithoutReplacement" if isinstance(sampling, WithReplacement) else "Renyi or PLD"
    with pytest.raises(NoProvenRoute, match=advice):
        total(Sampled(Stated(ZCDP(0.1)), sampling), kind, relation=OTHER)


@pytest.mark.parametrize(
    "sampling", [WithoutReplacement(1, 9), WithReplacement(1, 9)], ids=lambda sampling: type(sampling).__name__
)
@pytest.mark.parametrize("kind", [Pure, Approx, Profile])
def test_public_population_sizes_have_no_larger_neighbours(sampling: Sampling, kind: type[Pure]) -> None:
    with pytest.raises(NoProvenRoute, match="CHANGE_ONE"):
        total(Sampled(Stated(Pure(1)), sampling), kind, relation=MORE)


@pytest.mark.parametrize("rate", [-0.1, 1.1, math.nan, math.inf, True, "x"])
def test_bad_rates(rate: object) -> None:
    for make in (Poisson, lambda bad: SampledGaussianCurve(bad, 1), lambda bad: PoissonCurve(Renyi.nothing(), bad)):
        with pytest.raises(BadArgument, match="rate must be"):
            make(rate)  # type: ignore[operator]
    with pytest.raises(BadArgument, match="rate must be"):
        cluster_amplified(Pure(1), cluster=Pure(2), rate=rate)  # type: ignore[arg-type]


def test_bad_designs() -> None:
    for sample, population, rows in ((11, 10, 1), (-1, 10, 1), (1, 0, 1), (1, 10, 0), (1, 10, 11), (1.5, 10, 1)):
        with pytest.raises(BadArgument):
            chance_drawn(rows, sample=sample, population=population)  # type: ignore[arg-type]
    with pytest.raises(NoProvenRoute, match="Pure or Approx"):
        population_amplified(ZCDP(1), sample=1, population=10)  # type: ignore[type-var]
    with pytest.raises(BadArgument, match="at least the loss of one"):
        cluster_amplified(Pure(2), cluster=Pure(1), rate=0.5)
    with pytest.raises(BadArgument, match="Pure loss"):
        cluster_amplified(Approx(1, 0), cluster=Pure(1), rate=0.5)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="Rényi loss"):
        FixedSizeCurve(Linear(1), 0.5)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="Rényi loss"):
        TruncatedCurve(Renyi.nothing(), Pure(1), Fraction(1))  # type: ignore[arg-type]


def test_several_rows_and_clusters() -> None:
    assert chance_drawn(3, sample=10, population=100) <= Fraction(30, 100)
    several = population_amplified(Pure(2), sample=10, population=100, rows=3)
    assert several.epsilon > population_amplified(Pure(2), sample=10, population=100).epsilon
    assert cluster_amplified(Pure(1), cluster=Pure(math.inf), rate=0.1) == Pure(1)
    assert cluster_amplified(Pure(1), cluster=Pure(3), rate=1) == Pure(1)
    assert cluster_amplified(Pure(1), cluster=Pure(3), rate=0) == Pure(0)


def steps(event: Event, count: int) -> Renyi:
    return total(Repeat(event, count), Renyi, relation=MORE)


BOOK = Sampled(Gaussian(scale=50), Poisson(0.01))
"""Chapter 9: σ = 100 at a clip of 2, a rate of 1 %."""


def test_A3_008_integer_orders_to_299_basic() -> None:
    loss = steps(BOOK, 20)
    found = renyi_epsilon(loss, delta=1e-8, orders=range(2, 300), basic=True)
    assert float(found) == pytest.approx(0.061934, abs=5e-7)
    assert renyi_order(loss, delta=1e-8, orders=range(2, 300), basic=True) == 299


def test_A3_009_all_orders_basic() -> None:
    loss = steps(BOOK, 20)
    assert float(renyi_epsilon(loss, delta=1e-8, basic=True)) == pytest.approx(0.00550, abs=5e-6)
    assert 6000 < renyi_order(loss, delta=1e-8, basic=True) < 7200


def test_A3_010_all_orders_tight() -> None:
    loss = steps(BOOK, 20)
    assert float(renyi_epsilon(loss, delta=1e-8)) == pytest.approx(0.00382, abs=5e-6)
    assert float(renyi_epsilon(loss, delta=1e-8, orders=range(2, 300))) == pytest.approx(0.03946, abs=6e-6)


@pytest.mark.parametrize(("rate", "rho"), [(0.001, 0.0002), (0.001, 0.0001), (0.0001, 0.01)])
@pytest.mark.parametrize("order", [1.5, 2, 4, 5.4])
def test_A3_013_simplified_map(rate: float, rho: float, order: float) -> None:
    found = simplified_sampled_bound(order, rho=rho, rate=rate)
    assert float(found) == pytest.approx(10 * rate**2 * rho * order)
    assert SampledGaussianCurve(rate, 2 * Fraction(str(rho))).at(order) <= found


def test_A3_014_simplified_map_refuses_outside_its_range() -> None:
    rho = Fraction("0.0002")
    assert float(simplified_width(rho, Fraction(1, 100))) == pytest.approx(4.162, abs=5e-4)
    assert float(simplified_width(rho, Fraction(1, 1000))) == pytest.approx(6.623, abs=5e-4)
    with pytest.raises(BadArgument, match="SampledGaussianCurve"):
        simplified_sampled_bound(2, rho=rho, rate=0.01)
    assert simplified_sampled_bound(6.6, rho=rho, rate=0.001) > 0
    for order in (1, 0.5, 6.7):
        with pytest.raises(BadArgument, match="order"):
            simplified_sampled_bound(order, rho=rho, rate=0.001)
    for bad in ({"rho": 1.1, "rate": 0.001}, {"rho": 0, "rate": 0.001}, {"rho": 0.1, "rate": 0.5}):
        with pytest.raises(BadArgument):
            simplified_sampled_bound(2, **bad)


ADULT = Sampled(Gaussian(scale=1), Poisson(Fraction(1, 3017)))


@pytest.mark.parametrize(("epochs", "tight", "basic"), [(1, 0.235, 0.498), (10, 0.275, 0.537)])
def test_A3_016_rdp_of_the_adult_run(epochs: int, tight: float, basic: float) -> None:
    """The spec's numbers are those of whole orders; all real orders are a little better."""
    loss = steps(ADULT, 3017 * epochs)
    whole = range(2, 40)
    assert float(renyi_epsilon(loss, delta=1e-3, orders=whole)) == pytest.approx(tight, abs=6e-4)
    assert float(renyi_epsilon(loss, delta=1e-3, orders=whole, basic=True)) == pytest.approx(basic, abs=6e-4)
    assert renyi_epsilon(loss, delta=1e-3) < renyi_epsilon(loss, delta=1e-3, orders=whole)


def test_A3_017_order_two() -> None:
    assert float(SampledGaussianCurve(0.01, Fraction(1, 2500)).at(2)) == pytest.approx(4.0008e-8, rel=1e-5)
    assert float(SampledGaussianCurve(Fraction(1, 3017), 1).at(2)) == pytest.approx(1.88775e-7, rel=1e-5)


def test_dp_sgd_within_a_millionth_of_peers_or_below() -> None:
    found = renyi_epsilon(steps(Sampled(Gaussian(scale=1), Poisson(0.01)), 10_000), delta=1e-5)
    assert 6.7122 < found < 6.71276 + 1e-6
    other = renyi_epsilon(steps(Sampled(Gaussian(scale=0.8), Poisson(0.001)), 50_000), delta=1e-6)
    assert 2.4074 < other < 2.4075 + 5e-5


def test_one_certified_order_takes_few_steps() -> None:
    curve = SampledGaussianCurve(0.01, 1)
    for order in range(2, 22):
        _, count = calls(lambda order=order: curve.at(Fraction(order, 1) + Fraction(1, 7)))
        assert count < 3_000


def test_gaussians_are_recognised_however_they_are_written() -> None:
    assert gaussian_square(Sequence(Gaussian(2), Repeat(Gaussian(1, 2), 3))) == Fraction(49, 4)
    assert gaussian_square(Stated(GDP(2))) == 4
    assert gaussian_square(Sequence(Gaussian(2), Laplace(1))) is None
    assert gaussian_square(Stated(ZCDP(1))) is None  # not every zCDP mechanism is a Gaussian
    twice = total(Sampled(Repeat(Gaussian(2), 4), Poisson(0.1)), Renyi, relation=MORE)
    assert twice == total(Sampled(Gaussian(1), Poisson(0.1)), Renyi, relation=MORE)


def test_which_curve_each_event_gets() -> None:
    def curve(event: Event, sampling: Sampling, relation: Relation) -> object:
        ((found, _),) = total(Sampled(event, sampling), Renyi, relation=relation).terms
        return found

    laplace = Renyi.of(LaplaceCurve(1))
    assert curve(Laplace(1), Poisson(0.1), MORE) == PoissonCurve(laplace, 0.1, symmetric=True)
    assert curve(Stated(ZCDP(1)), Poisson(0.1), MORE) == PoissonCurve(Renyi.of(Linear(1)), 0.1)
    assert curve(Laplace(1), WithoutReplacement(1, 10), OTHER) == FixedSizeCurve(Renyi.of(LaplaceCurve(2)), 0.1)
    cut = curve(Gaussian(1), TruncatedPoisson(0.1, most=40, population=100), MORE)
    assert isinstance(cut, TruncatedCurve)
    assert cut.whole == Renyi.of(SampledGaussianCurve(0.1, 1))
    assert cut.cut == Renyi.of(SampledGaussianCurve(Fraction(4, 41), 4))
    assert 0 < cut.chance < Fraction(1, 10**12)
    never = curve(Gaussian(1), TruncatedPoisson(0.1, most=100, population=100), MORE)
    assert never == SampledGaussianCurve(0.1, 1)


def test_a_rare_cut_costs_nearly_nothing() -> None:
    def spent(most: int) -> Fraction:
        cut = TruncatedPoisson(0.01, most=most, population=10_000)
        return Fraction(renyi_epsilon(steps(Sampled(Gaussian(1), cut), 1000), delta=1e-5))

    plain = renyi_epsilon(steps(Sampled(Gaussian(1), Poisson(0.01)), 1000), delta=1e-5)
    assert plain <= spent(300) <= plain * (1 + Fraction(1, 10**6))
    assert plain * (1 + Fraction(1, 10**5)) < spent(250) < plain * (1 + Fraction(1, 1000))
    assert spent(90) > 2 * spent(200) > 2 * plain


def test_curves_at_their_ends() -> None:
    assert SampledGaussianCurve(1, 2).at(3) == 3
    assert SampledGaussianCurve(0, 2).at(3) == 0
    assert SampledGaussianCurve(0.5, 2).at(10**12) <= 10**12
    assert SampledGaussianCurve(0.5, 10**12).at(2) <= 10**12
    assert SampledGaussianCurve(1e-200, 1).at(2) >= 0
    pure = PoissonCurve(Renyi.of(PureCurve(1)), 0.1)
    assert pure.ceiling() == sampled_epsilon(Fraction(1), Fraction(1, 10))
    assert pure.at(500) <= pure.ceiling()
    assert PoissonCurve(Renyi.of(PureCurve(1)), 1).at(2) == PureCurve(1).at(2)
    table = PoissonCurve(Renyi({2: 0.5, 4: 1}), 0.1)
    assert table.at(Fraction(7, 2)) < 1
    with pytest.raises(NoProvenRoute):
        table.at(5)
    unbounded = PoissonCurve(Renyi({2: 0.5, 4: math.inf}), 0.1)
    assert unbounded.at(2) < math.inf
    assert unbounded.at(4) == math.inf


def test_extreme_rates_stay_sound() -> None:
    nearly = 1 - Fraction(1, 10**60)
    for loss in (Approx(1, 1e-6), Approx(10**9, 1e-6), Approx(10**9, 0)):
        found = total(Sampled(Stated(loss), Poisson(nearly)), Approx, relation=OTHER)
        assert loss.epsilon < found.epsilon <= 2 * loss.epsilon
        assert loss.delta <= found.delta <= 1
    many, count = calls(lambda: redrawn_loss(Approx(Fraction(1, 1000), 1e-9), WithReplacement(10**6, 1000), OTHER))
    assert 1 < many.epsilon < 1.2  # a thousand times each, on average
    assert count < 200_000  # and not a step for each of a million draws

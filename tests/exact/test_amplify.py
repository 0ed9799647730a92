"""Sampled mechanisms written out: every sample, every outcome, against what the theorems promise."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

import pytest
from flint import acb, arb

from sfumato.accounting.amplify.curves_fixed import FixedSizeCurve, TruncatedCurve
from sfumato.accounting.amplify.curves_poisson import PoissonCurve, SampledGaussianCurve
from sfumato.accounting.amplify.cut import chance_of_cut
from sfumato.accounting.amplify.population import chance_drawn, cluster_amplified
from sfumato.accounting.amplify.rates import fixed_size_loss, poisson_loss, redrawn_loss, truncated_loss
from sfumato.accounting.compose import total
from sfumato.accounting.events import (
    Poisson,
    Response,
    Sampled,
    TruncatedPoisson,
    WithoutReplacement,
    WithReplacement,
)
from sfumato.accounting.losses.divergence import hockey_stick, renyi
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.relation import Relation
from sfumato.exact import ball, exp_up, log_up, lower, precision, upper

Law = dict[object, Fraction]
Units = tuple[int, ...]

TWO = Fraction(log_up(Fraction(2)))
"""ln 2, from just above."""


def noisy_count(sample: Iterable[int]) -> Law:
    """Is a count of ones with two-sided geometric noise of base 1/2, clamped to 0..5: ε = ln 2 for each one."""
    ones, top = sum(sample), 5
    law = {y: Fraction(1, 3) * Fraction(1, 2) ** abs(y - ones) for y in range(top + 1)}
    law[0] = Fraction(2, 3) * Fraction(1, 2) ** ones
    law[top] = Fraction(2, 3) * Fraction(1, 2) ** (top - ones) if ones <= top else law[top]
    return law


def leaky_count(sample: Iterable[int]) -> Law:
    """Is the same, but with probability 1/10 it publishes the count itself."""
    ones = sum(sample)
    law: Law = {y: Fraction(9, 10) * mass for y, mass in noisy_count([1] * ones).items()}
    law[("leak", ones)] = Fraction(1, 10)
    return law


def mixed(parts: Iterable[tuple[Fraction, Law]]) -> Law:
    found: Counter[object] = Counter()
    for weight, law in parts:
        for outcome, mass in law.items():
            found[outcome] += weight * mass
    return dict(found)


def poisson(data: Units, rate: Fraction, run: Callable[[Units], Law]) -> Law:
    parts = []
    for kept in itertools.product((0, 1), repeat=len(data)):
        weight = rate ** sum(kept) * (1 - rate) ** (len(data) - sum(kept))
        parts.append((weight, run(tuple(itertools.compress(data, kept)))))
    return mixed(parts)


def fixed(data: Units, size: int, run: Callable[[Units], Law]) -> Law:
    subsets = list(itertools.combinations(data, size))
    return mixed((Fraction(1, len(subsets)), run(subset)) for subset in subsets)


def redrawn(data: Units, draws: int, run: Callable[[Units], Law]) -> Law:
    return mixed((Fraction(1, len(data) ** draws), run(drawn)) for drawn in itertools.product(data, repeat=draws))


def exchanges(size: int) -> Iterator[tuple[Units, Units]]:
    """Gives all neighbouring data of zeros and ones, the first unit exchanged."""
    for rest in itertools.combinations_with_replacement((0, 1), size - 1):
        yield (0, *rest), (1, *rest)
        yield (1, *rest), (0, *rest)


def additions(size: int) -> Iterator[tuple[Units, Units]]:
    for rest in itertools.combinations_with_replacement((0, 1), size - 1):
        for unit in (0, 1):
            yield rest, (unit, *rest)
            yield (unit, *rest), rest


def worst_ratio(pairs: Iterable[tuple[Law, Law]]) -> Fraction:
    return max(left[y] / right[y] for left, right in pairs for y in left)


def worst_delta(pairs: Iterable[tuple[Law, Law]], epsilon: Fraction) -> Fraction:
    factor = Fraction(exp_up(epsilon))
    return max(
        sum((max(Fraction(0), mass - factor * right.get(y, Fraction(0))) for y, mass in left.items()), Fraction(0))
        for left, right in pairs
    )


def ratio_of(loss: Approx) -> Fraction:
    return Fraction(exp_up(Fraction(loss.epsilon)))


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
def test_poisson_is_sound_and_tight(rate: Fraction) -> None:
    pairs = [(poisson(x, rate, noisy_count), poisson(y, rate, noisy_count)) for x, y in additions(3)]
    claimed = ratio_of(poisson_loss(Approx(TWO, 0), Poisson(rate), Relation.ADD_REMOVE))
    true = worst_ratio(pairs)
    assert true == 1 + rate  # tight, so that any smaller constant is wrong
    assert true <= claimed < true + Fraction(1, 10**20)


@pytest.mark.parametrize("rate", [Fraction(1, 4), Fraction(9, 10), Fraction(1)])
def test_poisson_of_an_exchange_is_sound_and_tight(rate: Fraction) -> None:
    pairs = [(poisson(x, rate, noisy_count), poisson(y, rate, noisy_count)) for x, y in exchanges(3)]
    claimed = ratio_of(poisson_loss(Approx(TWO, 0), Poisson(rate), Relation.CHANGE_ONE))
    assert worst_ratio(pairs) <= claimed
    # Units that push the count up and down by one each reach the claim.
    true = worst_ratio([(poisson((1,), rate, signed), poisson((-1,), rate, signed))])
    assert true == (1 + rate) / (1 - rate / 2)
    assert true <= claimed < true + Fraction(1, 10**20)


def test_poisson_delta_of_an_exchange_is_sound() -> None:
    rate = Fraction(1, 5)
    loss = poisson_loss(Approx(TWO, Fraction(1, 10)), Poisson(rate), Relation.CHANGE_ONE)
    pairs = [(poisson(x, rate, leaky_count), poisson(y, rate, leaky_count)) for x, y in exchanges(3)]
    true = worst_delta(pairs, Fraction(loss.epsilon))
    assert loss.delta / 3 < true <= loss.delta < Fraction(4, 100)


@pytest.mark.parametrize("rate", [Fraction(1, 4), Fraction(9, 10)])
def test_a_response_to_a_sampled_unit_is_sound_and_tight(rate: Fraction) -> None:
    """Whoever is drawn responds, else somebody who is always there does; three options, base 2."""

    def respond(sample: Units) -> Law:
        return {option: Fraction(2 if option == (*sample, 2)[0] else 1, 4) for option in range(3)}

    pairs = [
        (poisson((mine,), rate, respond), poisson((other,), rate, respond))
        for mine, other in itertools.permutations(range(3), 2)
    ]
    plan = Sampled(Response(TWO, options=3), Poisson(rate))
    claimed = Fraction(exp_up(Fraction(total(plan, Pure, relation=Relation.CHANGE_ONE).epsilon)))
    assert worst_ratio(pairs) == 1 + rate
    assert worst_ratio(pairs) <= claimed < 1 + rate + Fraction(1, 10**20)
    curve = total(plan, Renyi, relation=Relation.CHANGE_ONE)
    for order, (left, right) in itertools.product(ORDERS, pairs):
        assert divergence(left, right, order)[0] <= curve.at(order)


def signed(sample: Iterable[int]) -> Law:
    return noisy_count([1] * (2 + sum(sample)))


def test_poisson_delta_is_sound_and_tight() -> None:
    rate = Fraction(1, 5)
    loss = poisson_loss(Approx(TWO, Fraction(1, 10)), Poisson(rate), Relation.ADD_REMOVE)
    pairs = [(poisson(x, rate, leaky_count), poisson(y, rate, leaky_count)) for x, y in additions(3)]
    true = worst_delta(pairs, Fraction(loss.epsilon))
    assert Fraction(19, 1000) < true <= loss.delta == Fraction(1, 50)


@pytest.mark.parametrize(("size", "population"), [(1, 4), (2, 4), (3, 4), (4, 4)])
def test_without_replacement_is_sound_and_tight(size: int, population: int) -> None:
    pairs = [(fixed(x, size, noisy_count), fixed(y, size, noisy_count)) for x, y in exchanges(population)]
    claimed = ratio_of(fixed_size_loss(Approx(TWO, 0), WithoutReplacement(size, population), Relation.CHANGE_ONE))
    true = worst_ratio(pairs)
    assert true == 1 + Fraction(size, population)
    assert true <= claimed < true + Fraction(1, 10**20)


@pytest.mark.parametrize(("draws", "population"), [(1, 3), (2, 3), (3, 4), (4, 2), (5, 2), (3, 1)])
def test_with_replacement_is_sound_and_tight_for_few_draws(draws: int, population: int) -> None:
    pairs = [(redrawn(x, draws, noisy_count), redrawn(y, draws, noisy_count)) for x, y in exchanges(population)]
    claimed = ratio_of(redrawn_loss(Approx(TWO, 0), WithReplacement(draws, population), Relation.CHANGE_ONE))
    true, simple = worst_ratio(pairs), (1 + Fraction(1, population)) ** draws
    assert true <= claimed
    if simple <= 2 or population == 1:
        assert true == simple
        assert claimed < true + Fraction(1, 10**12)
    else:
        assert claimed > simple + Fraction(1, 100)  # the simple formula is no theorem here


@pytest.mark.parametrize(("draws", "population"), [(2, 3), (4, 2)])
def test_with_replacement_delta_is_sound(draws: int, population: int) -> None:
    given = Approx(TWO, Fraction(1, 10))
    loss = redrawn_loss(given, WithReplacement(draws, population), Relation.CHANGE_ONE)
    pairs = [(redrawn(x, draws, leaky_count), redrawn(y, draws, leaky_count)) for x, y in exchanges(population)]
    true = worst_delta(pairs, Fraction(loss.epsilon))
    assert given.delta / 10 < true <= loss.delta


def cut(data: Units, rate: Fraction, most: int, run: Callable[[Units], Law]) -> Law:
    return poisson(data, rate, lambda sample: run(sample) if len(sample) <= most else fixed(sample, most, run))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_truncated_poisson_is_sound(most: int) -> None:
    """Ones and minus ones: what is exchanged by a cut is twice as far as what is added."""
    rate, drawn = Fraction(1, 2), TruncatedPoisson(Fraction(1, 2), most=most, population=3)
    units = [(-1, -1), (-1, 1), (1, 1)]
    more = [((unit, *rest), rest) for rest in units for unit in (-1, 1)]
    other = [((1, *rest), (-1, *rest)) for rest in units]
    for pairs, relation in ((more, Relation.ADD_REMOVE), (other, Relation.CHANGE_ONE)):
        both = [pair for x, y in pairs for pair in ((x, y), (y, x))]
        laws = [(cut(x, rate, most, signed), cut(y, rate, most, signed)) for x, y in both]
        claimed = ratio_of(truncated_loss(Approx(TWO, 0), Approx(2 * TWO, 0), drawn, relation))
        assert worst_ratio(laws) <= claimed
        if relation is Relation.ADD_REMOVE and most == 1:
            plain = ratio_of(poisson_loss(Approx(TWO, 0), Poisson(rate), relation))
            assert worst_ratio(laws) > plain  # as if nothing were ever cut would be wrong


def test_chance_drawn_counts_subsets() -> None:
    for population, sample, rows in itertools.product(range(1, 6), range(6), range(1, 6)):
        if sample <= population and rows <= population:
            subsets = list(itertools.combinations(range(population), sample))
            met = sum(any(row < rows for row in subset) for subset in subsets)
            assert chance_drawn(rows, sample=sample, population=population) == Fraction(met, len(subsets))


def test_clusters_are_sound_and_tight_and_save_little() -> None:
    """Four clusters of two units, one of them drawn; a unit counts ln 2, a cluster 2 ln 2."""
    claimed = cluster_amplified(Pure(TWO), cluster=Pure(2 * TWO), rate=Fraction(1, 4))
    clusters = [((1, 1), (0, 0), (0, 0), (0, 0)), ((0, 1), (0, 0), (0, 0), (0, 0))]
    left, right = (mixed((Fraction(1, 4), noisy_count(cluster)) for cluster in data) for data in clusters)
    true = worst_ratio([(left, right), (right, left)])
    assert true == Fraction(7, 5)  # while a rate of 1/4 on ln 2 would be 5/4
    assert true <= Fraction(exp_up(Fraction(claimed.epsilon))) < true + Fraction(1, 10**20)


def test_chance_of_cut_bounds_the_binomial_tail() -> None:
    rate = Fraction(1, 10)
    masses = poisson((1,) * 8, rate, lambda sample: {len(sample): Fraction(1)})
    for most in range(9):
        true = sum((mass for size, mass in masses.items() if isinstance(size, int) and size >= most), Fraction(0))
        assert true <= chance_of_cut(rate, most, 8) <= (2 * true if most > 1 else 1)


def balls(law: Law) -> dict[object, arb]:
    return {outcome: ball(mass) for outcome, mass in law.items()}


def divergence(left: Law, right: Law, order: Fraction) -> tuple[Fraction, Fraction]:
    low, high = renyi(balls(left), balls(right), order)
    return Fraction(low), Fraction(high)


def tabulated(pairs: list[tuple[Law, Law]], most: int) -> Renyi:
    return Renyi({order: max(divergence(a, b, Fraction(order))[1] for a, b in pairs) for order in range(2, most + 1)})


ORDERS = [Fraction(3, 2), Fraction(2), Fraction(5, 2), Fraction(3), Fraction(5), Fraction(8)]


@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1, 2), Fraction(19, 20)])
def test_poisson_curve_of_a_mirrored_pair_is_exact_at_whole_orders(rate: Fraction) -> None:
    one, other = {"a": Fraction(4, 5), "b": Fraction(1, 5)}, {"a": Fraction(1, 5), "b": Fraction(4, 5)}
    curve = PoissonCurve(tabulated([(one, other)], 8), rate, symmetric=True)
    drawn = mixed([(1 - rate, one), (rate, other)])
    for order in ORDERS:
        true = max(divergence(drawn, one, order)[0], divergence(one, drawn, order)[0])
        assert true <= curve.at(order)
        if order.denominator == 1 and curve.at(order) < curve.inner.at(order):
            assert curve.at(order) < true * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1, 2), Fraction(19, 20)])
@pytest.mark.parametrize("heavy", [Fraction(1, 100), Fraction(2, 5)])
def test_poisson_curve_bounds_both_directions_of_a_skew_pair(rate: Fraction, heavy: Fraction) -> None:
    one, other = {"a": Fraction(1, 2), "b": Fraction(1, 2)}, {"a": heavy, "b": 1 - heavy}
    curve = PoissonCurve(tabulated([(one, other), (other, one)], 8), rate)
    drawn = mixed([(1 - rate, one), (rate, other)])
    for order in ORDERS:
        assert divergence(drawn, one, order)[0] <= curve.at(order)
        assert divergence(one, drawn, order)[0] <= curve.at(order)


def test_the_other_direction_can_be_the_worse_one() -> None:
    """So that leaving it out, without a mirror, would be wrong."""
    one, other = {"a": Fraction(1, 100), "b": Fraction(99, 100)}, {"a": Fraction(0), "b": Fraction(1)}
    rate = Fraction(1, 2)
    drawn = mixed([(1 - rate, one), (rate, other)])
    alone = PoissonCurve(tabulated([(other, one)], 4), rate, symmetric=True)
    assert divergence(one, drawn, Fraction(3))[0] > alone.at(3)


@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1, 2)])
def test_fixed_size_curve_bounds_three_laws(rate: Fraction) -> None:
    laws = [noisy_count([1] * ones) for ones in (1, 2, 0)]
    pairs = list(itertools.permutations(laws, 2))
    inner = tabulated(pairs, 8)
    for first, second, rest in itertools.permutations(laws):
        left, right = (mixed([(1 - rate, rest), (rate, law)]) for law in (first, second))
        curve = FixedSizeCurve(inner, rate)
        for order in ORDERS:
            assert divergence(left, right, order)[0] <= curve.at(order)


def test_truncated_curve_bounds_a_cut_sample() -> None:
    rate, most, rest = Fraction(1, 10), 2, (-1, -1, -1, -1)
    near = [signed((move,)) for move in (1, 0)]
    present = tabulated([(near[0], near[1]), (near[1], near[0])], 8)
    swapped = tabulated([(a, b) for a, b in itertools.permutations([signed((m,)) for m in (-2, -1, 0, 1, 2)], 2)], 8)
    curve = TruncatedCurve(
        Renyi.of(PoissonCurve(present, rate)), Renyi.of(PoissonCurve(swapped, rate)), chance_of_cut(rate, most, 5)
    )
    with_unit, without = cut((1, *rest), rate, most, signed), cut(rest, rate, most, signed)
    for order in ORDERS:
        assert divergence(with_unit, without, order)[0] <= curve.at(order)
        assert divergence(without, with_unit, order)[0] <= curve.at(order)


GAUSSIANS = [
    (Fraction(1, 100), Fraction(1)),
    (Fraction(1, 100), Fraction(1, 2500)),
    (Fraction(1, 2), Fraction(4)),
    (Fraction(9, 10), Fraction(1, 10)),
    (Fraction(1, 10**9), Fraction(1, 3)),
    (Fraction(1, 20), Fraction(100)),
]


@pytest.mark.parametrize(("rate", "square"), GAUSSIANS)
@pytest.mark.parametrize("order", [2, 3, 7, 32])
def test_sampled_gaussian_is_the_finite_sum_at_whole_orders(rate: Fraction, square: Fraction, order: int) -> None:
    curve = SampledGaussianCurve(rate, square)

    def enclosed() -> arb:
        found = arb(0)
        for k in range(order + 1):
            found += (
                math.comb(order, k)
                * ball(1 - rate) ** (order - k)
                * ball(rate) ** k
                * ball(square * k * (k - 1) / 2).exp()
            )
        return found.log() / (order - 1)

    true = lower(enclosed, 512)
    assert true <= curve.at(order) <= Fraction(true) * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize(("rate", "square"), [pair for pair in GAUSSIANS if pair[1] <= 4 and pair[0] > 10**-6])
@pytest.mark.parametrize("order", [Fraction(11, 10), Fraction(5, 2), Fraction(29, 4)])
def test_sampled_gaussian_is_the_integral_at_real_orders(rate: Fraction, square: Fraction, order: Fraction) -> None:
    """Arb's own integrator, on a range that leaves out less than is compared."""

    def integrand(x: acb, analytic: bool) -> acb:
        mean = acb(ball(square).sqrt())
        base = acb(ball(1 - rate)) + acb(ball(rate)) * (mean * x - acb(ball(square) / 2)).exp()
        return (acb(ball(order)) * base.log(analytic=analytic) - x * x / 2).exp()

    with precision(128):
        found = acb.integral(integrand, acb(-16), acb(40)).real / (2 * arb.pi()).sqrt()
    true = lower(lambda: found.log() / ball(order - 1))
    claimed = Fraction(SampledGaussianCurve(rate, square).at(order))
    assert true - Fraction(1, 10**18) <= claimed <= Fraction(true) * (1 + Fraction(1, 10**9)) + Fraction(1, 10**18)


@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(1, 2), Fraction(99, 100)])
def test_the_sampled_gaussian_first_is_the_worse_direction(rate: Fraction) -> None:
    """Checked on a grid of the Gaussian pair that keeps the mirror, in both directions."""
    step = Fraction(1, 4)
    points = range(-40, 45)
    raw = {x: Fraction(upper(lambda x=x: (-ball((x * step) ** 2) / 2).exp())) for x in points}
    here: Law = {x: raw[x] for x in points if 4 - x in raw}
    there: Law = {x: raw[4 - x] for x in here}
    total = sum(here.values())
    here, there = ({x: mass / total for x, mass in law.items()} for law in (here, there))
    drawn = mixed([(1 - rate, here), (rate, there)])
    for order in ORDERS:
        assert divergence(drawn, here, order)[1] >= divergence(here, drawn, order)[0]


def test_profiles_of_sampled_laws_stay_below() -> None:
    """The promise at each ε of the inner profile moves to ln(1 + q (e^ε − 1)), with q δ."""
    rate = Fraction(1, 4)
    with_one, without = leaky_count((1,)), leaky_count(())
    for epsilon in (Fraction(0), Fraction(1, 2), TWO):
        inner = max(
            Fraction(hockey_stick(balls(a), balls(b), epsilon)[1])
            for a, b in ((with_one, without), (without, with_one))
        )
        loss = poisson_loss(Approx(epsilon, inner), Poisson(rate), Relation.ADD_REMOVE)
        drawn = mixed([(1 - rate, without), (rate, with_one)])
        assert worst_delta([(drawn, without), (without, drawn)], Fraction(loss.epsilon)) <= loss.delta
        assert worst_delta([(drawn, without)], Fraction(loss.epsilon)) > loss.delta * Fraction(9, 10)

"""Every Rényi curve against the divergences of enumerated laws: never below, equal where it is exact, and no slack."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from flint import arb

from sfumato.accounting.compose import total
from sfumato.accounting.convert.renyi import (
    preserved_probability,
    renyi_delta,
    renyi_epsilon,
    tight_delta,
    tight_epsilon,
)
from sfumato.accounting.events import Repeat, Stated
from sfumato.accounting.facts import loss_of
from sfumato.accounting.facts.selection import ExponentialSelection, TopSelection
from sfumato.accounting.losses.divergence import hockey_stick, renyi
from sfumato.accounting.losses.measures import Approx
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.renyi.curves import Curve
from sfumato.accounting.renyi.mechanism_curves import (
    DiscreteLaplaceCurve,
    LaplaceCurve,
    Linear,
    PureCurve,
    RangeCurve,
    ResponseCurve,
)
from sfumato.exact import Number, ball
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace

pytestmark = pytest.mark.sharp_balls(512)

Law = dict[object, arb]

ORDERS = [Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(5), Fraction(33, 2), Fraction(120)]
CLOSE = Fraction(1, 10**25)
RESPONSES = [(Fraction(1, 10), 2), (Fraction(1), 3), (Fraction(4), 7)]


every_order = pytest.mark.parametrize("order", ORDERS, ids=str)


def two_points(high: arb, low: arb) -> tuple[Law, Law]:
    """Gives the pair of laws on two outcomes whose privacy losses are the two numbers."""
    chance = (1 - low.exp()) / (high.exp() - low.exp())
    other: Law = {0: chance, 1: 1 - chance}
    return {0: chance * high.exp(), 1: (1 - chance) * low.exp()}, other


def response(epsilon: Fraction, options: int, truth: int) -> Law:
    share = 1 / (ball(epsilon).exp() + options - 1)
    return {option: share * (ball(epsilon).exp() if option == truth else 1) for option in range(options)}


def selection(scores: tuple[int, ...]) -> Law:
    total = sum((ball(score).exp() for score in scores), arb(0))
    return {place: ball(score).exp() / total for place, score in enumerate(scores)}


def laplace_cells(ratio: Fraction, centre: Fraction, cells: int) -> Law:
    """Gives the masses of cells of Laplace noise of scale 1 around a centre: a post-processing of it."""
    edges = [Fraction(4 * place, cells) for place in range(-8 * cells, 8 * cells + 1)]

    def below(edge: Fraction) -> arb:
        apart = ball(-abs(edge - centre)).exp() / 2
        return apart if edge < centre else 1 - apart

    totals = [arb(0), *(below(edge) for edge in edges), arb(1)]
    return {place: after - before for place, (before, after) in enumerate(itertools.pairwise(totals))}


def integer_law(noise: DiscreteLaplace | DiscreteGaussian, shift: int, reach: int) -> Law:
    return {place: noise.pmf(place - shift) for place in range(-reach, reach + 1)}


def below_and_tight(curve: Curve, left: Law, right: Law, order: Fraction, slack: Fraction = CLOSE) -> None:
    """Checks that a curve bounds both directions, and that it is within the slack of one of them."""
    bound = curve.at(order)
    exact = [renyi(left, right, order), renyi(right, left, order)]
    assert all(low <= bound for low, _ in exact)
    assert bound <= max(high for _, high in exact) + slack


@every_order
@pytest.mark.parametrize(("epsilon", "options"), RESPONSES, ids=str)
def test_randomized_response_is_exact(epsilon: Fraction, options: int, order: Fraction) -> None:
    left, right = response(epsilon, options, 0), response(epsilon, options, 1)
    below_and_tight(ResponseCurve(epsilon, options), left, right, order)


@every_order
def test_pure_is_what_two_options_cost_and_no_pair_of_laws_costs_more(order: Fraction) -> None:
    epsilon = Fraction(3, 2)
    below_and_tight(PureCurve(epsilon), response(epsilon, 2, 0), response(epsilon, 2, 1), order)
    for high, low in itertools.product((Fraction(1), Fraction(5, 4), Fraction(3, 2)), repeat=2):
        left, right = two_points(ball(high), ball(-low))
        assert renyi(left, right, order)[1] <= PureCurve(epsilon).at(order) + CLOSE
    least = renyi(response(epsilon, 2, 0), response(epsilon, 2, 1), order)[0]
    assert PureCurve(epsilon * Fraction(99, 100)).at(order) < least


@every_order
@pytest.mark.parametrize("eta", [Fraction(1, 100), Fraction(1), Fraction(6)], ids=str)
def test_range_is_the_worst_window_and_it_is_attained(eta: Fraction, order: Fraction) -> None:
    bound = RangeCurve(eta).at(order)
    far, gap = (-math.expm1(-float(power * eta)) for power in (order, order - 1))
    peak = eta + Fraction(math.log(float((order - 1) / order) * far / gap))
    places = [peak, *(eta * Fraction(step, 40) for step in range(1, 40))]
    laws = [two_points(ball(place), ball(place - eta)) for place in places]
    found = [renyi(*pair, order)[0] for pair in laws]
    assert max(found) <= bound <= max(found) * (1 + Fraction(1, 10**12))
    assert max(renyi(right, left, order)[0] for left, right in laws) <= bound
    assert RangeCurve(eta * Fraction(99, 100)).at(order) < max(found)


@every_order
def test_range_is_between_half_of_pure_and_pure(order: Fraction) -> None:
    """A range of 2ε is all that ε-privacy is known to be; a range of ε is stronger than ε-privacy."""
    assert RangeCurve(1).at(order) < PureCurve(1).at(order) <= RangeCurve(2).at(order)


@every_order
def test_selections_keep_their_range_curve(order: Fraction) -> None:
    bound = loss_of(ExponentialSelection(Fraction(1)), Renyi, Fraction(1)).at(order)  # type: ignore[attr-defined]
    vectors = list(itertools.product((0, 1), repeat=3))
    worst = max(
        renyi(selection(left), selection(right), order)[0]
        for left, right in itertools.permutations(vectors, 2)
        if max(a - b for a, b in zip(left, right, strict=True)) - min(a - b for a, b in zip(left, right, strict=True))
        <= 1
    )
    assert bound * Fraction(9 if order <= 2 else 5, 10) < worst <= bound


@every_order
def test_a_ranked_choice_keeps_its_curve(order: Fraction) -> None:
    def ranked(scores: tuple[int, ...]) -> Law:
        first = selection(scores)
        return {
            (a, b): first[a] * selection(tuple(s for place, s in enumerate(scores) if place != a))[b - (b > a)]
            for a, b in itertools.permutations(range(len(scores)), 2)
        }

    bound = loss_of(TopSelection(2, Fraction(1)), Renyi, Fraction(1)).at(order)  # type: ignore[attr-defined]
    exact = renyi(ranked((0, 0, 0)), ranked((1, 0, 0)), order)[0]
    assert exact <= bound
    assert renyi(selection((0, 0, 0)), selection((1, 0, 0)), order)[0] < exact


@every_order
def test_laplace_is_approached_by_fine_cells(order: Fraction) -> None:
    ratio = Fraction(1)
    bound = LaplaceCurve(ratio).at(order)
    coarse, fine = (
        renyi(laplace_cells(ratio, Fraction(0), cells), laplace_cells(ratio, ratio, cells), order)[0]
        for cells in (8, 64)
    )
    assert coarse < fine <= bound < fine * (1 + Fraction(1, 200))


@every_order
@pytest.mark.parametrize(("scale", "shift"), [(Fraction(1), 1), (Fraction(3), 2), (Fraction(1, 2), 5)], ids=str)
def test_discrete_laplace_is_exact(scale: Fraction, shift: int, order: Fraction) -> None:
    noise = DiscreteLaplace(scale)
    curve = DiscreteLaplaceCurve(scale, shift)
    left, right = integer_law(noise, 0, 300), integer_law(noise, shift, 300)
    below_and_tight(curve, left, right, order)
    assert loss_of(noise, Renyi, Fraction(2 * shift + 1, 2)) == Renyi.of(curve)


@every_order
def test_discrete_laplace_on_vectors_costs_at_most_the_whole_distance(order: Fraction) -> None:
    for shift in range(2, 6):
        whole = DiscreteLaplaceCurve(2, shift).at(order)
        for part in range(1, shift):
            parts = DiscreteLaplaceCurve(2, part).at(order) + DiscreteLaplaceCurve(2, shift - part).at(order)
            assert DiscreteLaplaceCurve(2, part).at(order) < whole
            assert parts < whole


@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(2), Fraction(7)], ids=str)
def test_discrete_gaussian_keeps_its_line_and_reaches_it_at_whole_orders(order: Fraction) -> None:
    noise, shift = DiscreteGaussian(Fraction(1)), 2
    loss = loss_of(noise, Renyi, Fraction(shift))
    assert loss == Renyi.of(Linear(2))
    exact = renyi(integer_law(noise, 0, 60), integer_law(noise, shift, 60), order)[0]
    assert exact <= loss.at(order)
    if order.denominator == 1:
        assert loss.at(order) < exact + CLOSE


@every_order
def test_curves_add_up_for_mechanisms_that_see_earlier_answers(order: Fraction) -> None:
    """The second response is about another question where the first said 1, and its ε stays the same."""
    one, two = Fraction(1, 2), Fraction(3, 2)

    def joint(truth: int) -> Law:
        first = response(one, 2, truth)
        return {
            (a, b): first[a] * response(two, 2, truth if a == 0 else 1 - truth)[b]
            for a, b in itertools.product(range(2), repeat=2)
        }

    loss = Renyi.of(ResponseCurve(one)).then(Renyi.of(ResponseCurve(two)))
    low, high = renyi(joint(0), joint(1), order)
    assert low <= loss.at(order) <= high + CLOSE


@pytest.mark.parametrize("size", [2, 3, 5])
@every_order
def test_groups_of_discrete_laplace(size: int, order: Fraction) -> None:
    """Data sets a group apart move the answer by the group's size: the true divergence is that of the longer shift."""
    single, true = Renyi.of(DiscreteLaplaceCurve(2, 1)), DiscreteLaplaceCurve(2, size).at(order)
    assert true <= single.group(size).at(order)
    assert single.times(size).at(order) < true  # a group is no composition


@pytest.mark.parametrize("size", [2, 3, 7])
@every_order
def test_the_chain_is_exact_for_gaussian_noise(size: int, order: Fraction) -> None:
    """Seen through a table, so that the chain itself is run; size² is attained, and less would be wrong."""
    rho = Fraction(1, 10)
    points: dict[Number, Number] = {size * order - step: rho * (size * order - step) for step in range(size)}
    assert Renyi(points).group(size).at(order) == size**2 * rho * order == Renyi.of(Linear(rho)).group(size).at(order)


@pytest.mark.parametrize("size", [2, 3])
def test_A1_128_groups_of_approximate_privacy_are_attained(size: int) -> None:
    """Randomized response that tells the truth with probability δ, as a chain of laws each (ε, δ) from the next."""
    epsilon, delta = Fraction(1, 2), Fraction(1, 1000)
    growth = ball(epsilon).exp()
    # P_i(S) follows the recursion with equality for the event S, as long as no mass is below 0 or above 1.
    masses = [arb(0)]
    for _ in range(size):
        masses.append(growth * masses[-1] + ball(delta))
    for before, after in itertools.pairwise(masses):
        left: Law = {"in": after, "out": 1 - after}
        right: Law = {"in": before, "out": 1 - before}
        assert hockey_stick(left, right, epsilon)[0] <= delta + CLOSE
        assert hockey_stick(right, left, epsilon)[0] <= delta
    claimed = Approx(epsilon, delta).group(size)
    ends: tuple[Law, Law] = {"in": masses[-1], "out": 1 - masses[-1]}, {"in": masses[0], "out": 1 - masses[0]}
    low, high = hockey_stick(*ends, size * epsilon)
    assert low <= claimed.delta <= high + CLOSE
    assert claimed.delta > size * delta


@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(2), Fraction(10)], ids=str)
def test_the_conversion_is_attained_by_two_points(order: Fraction) -> None:
    epsilon = Fraction(1, 2)
    peak = ball(epsilon) + (ball(order) / ball(order - 1)).log()
    nearly = ball(Fraction(10**40 - 1, 10**40))
    left: Law = {0: nearly, 1: 1 - nearly}
    right: Law = {0: nearly / peak.exp(), 1: 1 - nearly / peak.exp()}
    divergence = Fraction(renyi(left, right, order)[1])
    true = hockey_stick(left, right, epsilon)[0]
    claimed = tight_delta(divergence, order, epsilon)
    assert true <= claimed <= true * (1 + Fraction(1, 10**6))
    assert abs(epsilon - Fraction(tight_epsilon(divergence, order, claimed))) <= CLOSE


@pytest.mark.parametrize(
    ("loss", "laws"),
    [
        (Renyi.of(ResponseCurve(1, 3)), lambda: (response(Fraction(1), 3, 0), response(Fraction(1), 3, 1))),
        (Renyi.of(Linear(2)), lambda: tuple(integer_law(DiscreteGaussian(Fraction(1)), s, 60) for s in (0, 2))),
        (
            Renyi.of(DiscreteLaplaceCurve(1, 2)),
            lambda: tuple(integer_law(DiscreteLaplace(Fraction(1)), s, 200) for s in (0, 2)),
        ),
    ],
    ids=["response", "gaussian", "laplace"],
)
def test_conversions_are_never_below_the_true_profile(loss: Renyi, laws: Callable[[], tuple[Law, Law]]) -> None:
    left, right = laws()
    for step in range(8):
        epsilon = Fraction(step, 2)
        true = max(hockey_stick(one, other, epsilon)[0] for one, other in ((left, right), (right, left)))
        assert true <= renyi_delta(loss, epsilon=epsilon) + CLOSE


@every_order
def test_probability_is_preserved_and_equality_is_reached(order: Fraction) -> None:
    left, right = response(Fraction(1), 3, 0), response(Fraction(1), 3, 1)
    divergence = Fraction(renyi(left, right, order)[1])
    for size in range(4):
        for event in itertools.combinations(range(3), size):
            chance = sum((right[outcome] for outcome in event), arb(0))
            mass = sum((left[outcome] for outcome in event), arb(0))
            seen = Fraction(float(chance.upper())) + Fraction(1, 2**50)
            assert mass.lower() <= ball(
                preserved_probability(min(Fraction(1), seen), order=order, divergence=divergence)
            )
    # P conditioned on an event: its divergence is ln(1 / Q(event)) at every order.
    bound = preserved_probability(Fraction(1, 5), order=order, divergence=Fraction(math.log(5)) - Fraction(1, 2**50))
    assert 1 - Fraction(1, 10**12) < bound <= 1


def test_an_offset_and_rho_are_a_curve() -> None:
    """Two answers at once, one of them pure and one Gaussian: their sum is within (ε, ρ)-zCDP, and that is a curve."""
    both = Renyi.concentrated(1, Fraction(1, 2))
    for order in (Fraction(3, 2), Fraction(2), Fraction(40)):
        true = PureCurve(1).at(order) + Linear(Fraction(1, 2)).at(order)
        assert true <= both.at(order) == 1 + order / 2
    assert both.ceiling() == math.inf and Renyi.concentrated(2, 0).ceiling() == 2
    assert Renyi.concentrated(0, 3) == Renyi.of(Linear(3))
    stated = total(Repeat(Stated(both), 3), Renyi)
    assert stated.at(4) == 9
    assert renyi_epsilon(stated, delta=1e-6) == renyi_epsilon(Renyi.concentrated(3, Fraction(3, 2)), delta=1e-6)
    assert renyi_epsilon(both, delta=1e-6) - 1 == pytest.approx(
        float(renyi_epsilon(Renyi.of(Linear(Fraction(1, 2))), delta=1e-6)), rel=1e-9
    )

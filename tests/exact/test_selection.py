"""Private selection, enumerated: the true divergence of every pair of neighbouring score vectors against the map."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import acb, arb
from tests.exact.enumerated import remembered

from sfumato.accounting.compose import total
from sfumato.accounting.events import Selection
from sfumato.accounting.facts.selection import TopSelection
from sfumato.accounting.losses.divergence import hockey_stick, max_divergence, renyi
from sfumato.accounting.losses.measures import ZCDP, BoundedRange, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.pld.pairs.either import RangePair
from sfumato.accounting.pld.pairs.finite import ResponsePair
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.audit.brute_force import brute_epsilon, brute_renyi, neighbours, outcome_probabilities
from sfumato.core.domains import Integers, Vector
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import LInf, Metric, Range
from sfumato.core.partial import Partial
from sfumato.core.space import Space
from sfumato.exact import ball, enclose
from sfumato.mechanisms.noisy_max import WinnerLaw, laplace_noisy_max, laplace_noisy_max_with_lead
from sfumato.mechanisms.selection import exponential, gumbel_noisy_max, permute_and_flip, top_k
from sfumato.noise.discrete_laplace import DiscreteLaplace

pytestmark = pytest.mark.sharp_balls

TIGHT = Fraction(1, 10**20)
METRICS = (LInf(), LInf(monotonic=True), Range())
SCALES = (Fraction(1, 2), Fraction(2))


def scores(size: int, metric: Metric, step: Fraction = Fraction(1)) -> Space:
    return Space(Vector(Integers(step=step), size=size), metric)


def vectors(size: int, top: int) -> list[list[int]]:
    return [list(vector) for vector in product(range(top + 1), repeat=size)]


def spans(measurement: Measurement, members: Iterable[list[int]]) -> Fraction:
    """Gives the longest interval that the loss of one pair of neighbours fills: the true bounded-range loss."""
    longest = Fraction(0)
    for left, right in neighbours(measurement.source, members):
        here, there = outcome_probabilities(measurement, left), outcome_probabilities(measurement, right)
        losses = [enclose((here[outcome] / there[outcome]).log) for outcome in here]
        longest = max(longest, Fraction(max(high for _, high in losses) - min(low for low, _ in losses)))
    return longest


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("mechanism", [exponential, gumbel_noisy_max, permute_and_flip, laplace_noisy_max])
def test_no_pair_of_neighbours_exceeds_the_map(mechanism: object, scale: Fraction, metric: Metric) -> None:
    assert callable(mechanism)
    step = Fraction(1, 3) if metric == Range() else Fraction(1)
    measurement = remembered(scores(3, metric, step) >> mechanism(scale))
    claimed = measurement.map(step)
    _, true = brute_epsilon(measurement, vectors(3, 2 if mechanism is laplace_noisy_max else 3), d_in=step)
    assert true <= claimed.epsilon + TIGHT
    if metric == LInf(monotonic=True) and mechanism is not laplace_noisy_max:
        assert brute_epsilon(measurement, vectors(3, 2), d_in=2)[1] <= measurement.map(2).epsilon + TIGHT
    # The claim is no gross overstatement either, and half of it would be caught.
    assert true > claimed.epsilon / 2


def flips(first: int, *others: int) -> dict[int, arb]:
    """The chances of permute-and-flip at a scale of 2, on scores in quarters."""
    measurement = scores(1 + len(others), Range(), Fraction(1, 4)) >> permute_and_flip(2)
    return outcome_probabilities(measurement, [first, *others])


@pytest.mark.parametrize("others", [(0,), (0, 0), (0, 4, 11)], ids=str)
def test_permute_and_flip_is_dominated_by_laplace_noise_and_reaches_it(others: tuple[int, ...]) -> None:
    """One score moves by the scale, from any place; with two candidates no smaller profile holds."""
    laplace, narrower, least = PLD.of(LaplacePair(1)), PLD.of(LaplacePair("0.99")), Fraction(1)
    places = [Fraction(place, 8) for place in range(9)]
    allowed = {place: Fraction(laplace.delta(place).upper) for place in places}
    for first in range(-12, 13):
        here, there = flips(first, *others), flips(first + 8, *others)
        for left, right in ((here, there), (there, here)):
            for place in places:
                truth = Fraction(hockey_stick(left, right, place)[0])
                assert truth <= allowed[place] + Fraction(1, 10**25)
                least = min(least, allowed[place] - truth if place == Fraction(1, 2) else 1)
    assert least < (Fraction(1, 10**20) if others == (0,) else 1)
    assert narrower.delta(Fraction(1, 2)).upper < allowed[Fraction(1, 2)] - Fraction(1, 10**3)


def test_the_pair_of_a_bounded_range_does_not_hold_for_permute_and_flip() -> None:
    claimed = Fraction(PLD.of(RangePair(1)).delta(0).upper)
    assert hockey_stick(flips(4, 0), flips(-4, 0), Fraction(0))[0] > claimed + Fraction(1, 10)


def test_top_k_is_dominated_by_k_pairs_of_a_bounded_range() -> None:
    """Two ranked picks of three, every pair of neighbours, against the composed pair."""
    event = Selection(TopSelection(2, Fraction(2)), 1)
    pair, measurement = total(event, PLD), remembered(scores(3, Range()) >> top_k(2, temperature=2))
    allowed = {Fraction(place, 4): Fraction(pair.delta(Fraction(place, 4)).upper) for place in range(5)}
    assert allowed[Fraction(1, 2)] < Fraction(PLD.of(ResponsePair(1)).delta(Fraction(1, 2)).upper)
    for left, right in neighbours(measurement.source, vectors(3, 2)):
        here, there = outcome_probabilities(measurement, left), outcome_probabilities(measurement, right)
        for place, most in allowed.items():
            assert hockey_stick(here, there, place)[0] <= most


@pytest.mark.parametrize("metric", [LInf(monotonic=True), Range()], ids=str)
def test_permute_and_flip_reaches_its_map(metric: Metric) -> None:
    measurement = scores(2, metric) >> permute_and_flip(2)
    low, high = brute_epsilon(measurement, vectors(2, 3))
    claimed = measurement.map(1).epsilon
    assert high - TIGHT <= claimed <= low + TIGHT


def test_permute_and_flip_reaches_twice_the_shift_under_linf() -> None:
    """P1-105: two candidates that move apart by 1 each already cost 2 / scale."""
    measurement = scores(2, LInf()) >> permute_and_flip(2)
    low, high = brute_epsilon(measurement, vectors(2, 4))
    assert high - TIGHT <= measurement.map(1).epsilon == 1 <= low + TIGHT


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_the_exponential_mechanism_fills_its_bounded_range(metric: Metric) -> None:
    """P1-098: the loss of one pair of neighbours fills an interval of length eta exactly, so eta / 2 would be wrong."""
    measurement = scores(3, metric) >> exponential(2, measure=BoundedRange)
    claimed = measurement.map(1)
    assert isinstance(claimed, BoundedRange)
    assert abs(spans(measurement, vectors(3, 2)) - Fraction(claimed.eta)) < TIGHT


@pytest.mark.parametrize(
    ("metric", "moved", "claimed"),
    [(Range(), (1, 0), 1), (LInf(monotonic=True), (1, 0), 1), (LInf(), (1, -1), 2)],
    ids=["range", "monotonic", "L∞"],
)
def test_the_exponential_mechanism_approaches_its_pure_loss(
    metric: Metric, moved: tuple[int, int], claimed: int
) -> None:
    """E1-43: with many candidates the loss tends to 1 / temperature under range and to 2 / temperature under L∞."""
    found = []
    for size in (10, 100, 5000):
        measurement = scores(size, metric) >> exponential(1)
        still, other = [0] * size, [moved[0]] + [moved[1]] * (size - 1)
        assert measurement.source.distance(still, other) == 1
        assert measurement.map(1) == Pure(claimed)
        here, there = outcome_probabilities(measurement, other), outcome_probabilities(measurement, still)
        low, high = max_divergence(here, there)
        assert high <= claimed
        found.append(claimed - low)
    assert found[0] > found[1] > found[2]
    assert found[2] < Fraction(1, 500)


def test_E1_10_weights_times_temperature_are_rejected() -> None:
    """The seed multiplies scores by the temperature while its map divides by it."""
    temperature, members = 2, vectors(3, 2)
    right = scores(3, Range()) >> exponential(temperature)
    wrong = scores(3, Range()) >> exponential(Fraction(1, temperature))
    claimed = right.map(1).epsilon
    assert brute_epsilon(right, members)[1] <= claimed
    assert brute_epsilon(wrong, members)[0] > claimed


@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(2), Fraction(5), Fraction(20)])
@pytest.mark.parametrize("metric", [LInf(), Range()], ids=str)
def test_zcdp_of_the_exponential_mechanism_is_an_eighth(metric: Metric, order: Fraction) -> None:
    measurement = scores(3, metric) >> exponential(2, measure=ZCDP)
    claimed = measurement.map(1)
    assert isinstance(claimed, ZCDP)
    assert claimed.rho == (Fraction(1, 8) if metric == LInf() else Fraction(1, 32))
    assert brute_renyi(measurement, vectors(3, 2), order=order)[1] <= order * claimed.rho


def test_zcdp_an_eighth_is_nearly_reached_and_does_not_hold_for_permute_and_flip() -> None:
    """Trap: a zCDP loss of eps² / 8 filed for a mechanism that samples permute-and-flip."""
    small, order = Fraction(1, 100), Fraction(2)
    for mechanism, holds in ((exponential, True), (permute_and_flip, False)):
        measurement = scores(2, Range()) >> mechanism(1 / small)
        here, there = outcome_probabilities(measurement, [0, 0]), outcome_probabilities(measurement, [1, 0])
        low, high = renyi(here, there, order)
        assert (high <= order * small**2 / 8) == holds
        if holds:
            assert low > order * small**2 / 8 * Fraction(99, 100)


def test_E1_12_gumbel_density_for_the_maximum() -> None:
    """Integrates argmax(score + Gumbel) with density exp(−z − exp(−z)); the seed's mirror image gives another law."""
    values, rank = [2, 1, 0], range(3)

    def chance(winner: int, sign: int) -> float:
        def integrand(z: acb, _: bool) -> acb:
            density = (-sign * z - (-sign * z).exp()).exp()
            for other in rank:
                if other != winner:
                    tail = (-(-sign * (z + values[winner] - values[other])).exp()).exp()
                    density *= tail if sign > 0 else 1 - tail
            return density

        return float(acb.integral(integrand, -40, 60).real)

    law = (scores(3, LInf()) >> exponential(1)).law
    assert law is not None
    stated = [float(law(values).probability(index)) for index in rank]
    assert [chance(index, 1) for index in rank] == pytest.approx(stated, abs=1e-9)
    mirrored = [chance(index, -1) for index in rank]
    assert sum(mirrored) == pytest.approx(1)
    assert abs(mirrored[0] - stated[0]) > 0.01


def test_integrated_exponential_noise_is_permute_and_flip() -> None:
    """P1-105: the largest score after one-sided exponential noise has the law of permute-and-flip."""
    values = [2, 1, 0]

    def chance(winner: int) -> float:
        def integrand(z: acb, _: bool) -> acb:
            density = (-z).exp()
            for other in range(3):
                if other != winner:
                    density *= 1 - (-(z + values[winner] - values[other])).exp()
            return density

        start = max(values) - values[winner]
        return float(acb.integral(integrand, start, 80).real)

    law = (scores(3, LInf()) >> permute_and_flip(1)).law
    assert law is not None
    stated = [float(law(values).probability(index)) for index in range(3)]
    assert [chance(index) for index in range(3)] == pytest.approx(stated, abs=1e-9)


@pytest.mark.parametrize("values", [(0, 0), (2, 0), (0, 1), (-1, 3)])
def test_the_law_of_the_noisy_maximum_is_that_of_noise_on_each(values: tuple[int, int]) -> None:
    noise = DiscreteLaplace(Fraction(1, 2))
    law, reach = WinnerLaw(values, noise), 44
    drawn: dict[tuple[int, int], arb] = {}
    for first, second in product(range(-reach, reach + 1), repeat=2):
        gap = values[0] + first - values[1] - second
        outcome = (0, gap) if gap >= 0 else (1, -gap - 1)
        drawn[outcome] = drawn.get(outcome, ball(0)) + noise.pmf(first) * noise.pmf(second)
    for outcome in ((0, 0), (1, 0), (0, 3), (1, 2)):
        low, high = enclose(lambda outcome=outcome: drawn[outcome] - law.probability(outcome))
        assert -Fraction(1, 10**30) < low <= high < Fraction(1, 10**30)
    winners = law.winners()
    for index in range(2):
        total = sum((mass for outcome, mass in drawn.items() if outcome[0] == index), ball(0))
        low, high = enclose(lambda index=index, total=total: total - winners.probability(index))
        assert -Fraction(1, 10**30) < low <= high < Fraction(1, 10**30)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_winners_have_all_the_mass(size: int) -> None:
    law = WinnerLaw(tuple(range(size)), DiscreteLaplace(Fraction(3, 2))).winners()
    low, high = enclose(lambda: sum((law.probability(index) for index in range(size)), ball(0)) - 1)
    assert -Fraction(1, 10**25) < low <= 0 <= high < Fraction(1, 10**25)


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_the_lead_costs_nothing(metric: Metric) -> None:
    """P1-107: winner and lead together lose no more than the map of the winner alone."""
    measurement = remembered(scores(3, metric) >> laplace_noisy_max_with_lead(1))
    alone = scores(3, metric) >> laplace_noisy_max(1)
    claimed = measurement.map(1).epsilon
    assert claimed == alone.map(1).epsilon
    members = [[0, 0, 0], [1, 0, 0], [0, 1, 1], [2, 0, 1]]
    low, high = brute_epsilon(measurement, members, missed=Fraction(1, 10))
    assert high <= claimed + TIGHT
    assert low > claimed * Fraction(3, 4)


def test_P1_107_noisy_scores_are_not_free() -> None:
    """Publishing both noisy scores at the loss of the winner alone would be wrong: it costs the L1 distance."""
    noise, claimed = DiscreteLaplace(Fraction(2)), (scores(2, LInf(monotonic=True)) >> laplace_noisy_max(2)).map(1)
    both = (noise.pmf(0) / noise.pmf(1)).log() * 2
    assert enclose(lambda: both)[0] > claimed.epsilon


@pytest.mark.parametrize("measure", [Pure, ZCDP])
def test_A1_108_top_three_of_five(measure: type[Pure] | type[ZCDP]) -> None:
    """Three picks at 0.2 each cost 0.6; zCDP composes the eighths."""
    measurement = scores(5, Range()) >> top_k(3, temperature=5, measure=measure)
    assert measurement.map(1) == (Pure(Fraction(3, 5)) if measure is Pure else ZCDP(Fraction(3, 200)))
    members = [[0] * 5, [1, 0, 0, 0, 0], [0, 0, 1, 0, 1], [1, 1, 1, 0, 0], [2, 1, 0, 0, 0], [3, 2, 1, 0, 0]]
    low, high = brute_epsilon(measurement, members)
    assert Fraction(1, 5) < low <= high <= Fraction(3, 5)
    for order in (Fraction(2), Fraction(10)):
        assert brute_renyi(measurement, members, order=order)[1] <= order * Fraction(3, 200)


def test_top_k_is_peeling() -> None:
    """The law of an ordered choice is the product of exponential choices among those that are left."""
    values, temperature = [3, 1, 0, 2], Fraction(2)
    law = (scores(4, LInf()) >> top_k(2, temperature=temperature)).law
    assert law is not None
    for first, second in ((0, 3), (2, 1), (1, 0)):
        one = (scores(4, LInf()) >> exponential(temperature)).law
        rest = [value for index, value in enumerate(values) if index != first]
        two = (scores(3, LInf()) >> exponential(temperature)).law
        assert one is not None
        assert two is not None
        place = second - (second > first)
        peeled = one(values).probability(first) * two(rest).probability(place)
        low, high = enclose(lambda peeled=peeled, a=first, b=second: peeled - law(values).probability((a, b)))
        assert -TIGHT < low <= high < TIGHT


def test_top_k_loses_more_than_one_pick() -> None:
    """The total of k picks is not the loss of one: a map without the factor k is rejected."""
    size = 40
    measurement = scores(size, Range()) >> top_k(2, temperature=1)
    one = [1, 1] + [0] * (size - 2)
    low, high = max_divergence(outcome_probabilities(measurement, one), outcome_probabilities(measurement, [0] * size))
    assert 1 < low <= high <= measurement.map(1).epsilon == 2


def test_laws_do_not_feel_a_constant() -> None:
    """Every choice depends on the range of scores only: that is why the range distance is the right one."""
    builders: list[Partial[Measurement]] = [
        exponential(2),
        permute_and_flip(2),
        laplace_noisy_max(2),
        top_k(2, temperature=2),
    ]
    for partial in builders:
        law = (scores(3, Range()) >> partial).law
        assert law is not None
        here, there = law(np.array([0, 2, 1])), law(np.array([10**6, 10**6 + 2, 10**6 + 1]))
        for outcome in here.outcomes(Fraction(0)):
            low, high = enclose(lambda a=here, b=there, o=outcome: a.probability(o) - b.probability(o))
            assert -TIGHT < low <= high < TIGHT

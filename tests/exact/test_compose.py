"""The fold against whole distributions: small mechanisms, every pair of neighbours, divergences by enumeration."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import combinations, product

import pytest
from flint import arb

from sfumato.accounting.compose import total
from sfumato.accounting.convert.renyi import renyi_epsilon
from sfumato.accounting.events import (
    Gaussian,
    Laplace,
    Mixture,
    Parallel,
    Poisson,
    Repeat,
    Response,
    Sampled,
    Selection,
    Sequence,
    Stated,
)
from sfumato.accounting.facts.selection import ExponentialSelection
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.divergence import hockey_stick, max_divergence, renyi
from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import BITS, ball, precision

AR, CO = Relation.ADD_REMOVE, Relation.CHANGE_ONE
Law = Mapping[tuple[int, ...], arb]

PRICES = (Fraction(1, 2), Fraction(1), Fraction(3, 10))


def answers(present: Iterable[int]) -> Law:
    """Gives the joint law of one randomized response in each part, to the question whether anybody is in it."""
    inside = set(present)
    law: dict[tuple[int, ...], arb] = {}
    with precision(BITS):
        for outcome in product((0, 1), repeat=len(PRICES)):
            mass = arb(1)
            for part, answer in enumerate(outcome):
                growth = ball(PRICES[part]).exp()
                mass *= (growth if answer == (part in inside) else 1) / (growth + 1)
            law[outcome] = mass
    return law


def worst(pairs: Iterable[tuple[Iterable[int], Iterable[int]]]) -> Fraction:
    return max(Fraction(max_divergence(answers(one), answers(other))[0]) for one, other in pairs)


def places(overlap: int) -> list[tuple[int, ...]]:
    return [chosen for size in range(overlap + 1) for chosen in combinations(range(len(PRICES)), size)]


@pytest.mark.parametrize("overlap", [1, 2, 3])
def test_A1_118_parallel_parts_cost_what_enumeration_says(overlap: int) -> None:
    event = Parallel(*(Response(price) for price in PRICES), overlap=overlap)
    added = worst(((), chosen) for chosen in places(overlap))
    claimed = Fraction(total(event, Pure, relation=AR).epsilon)
    assert claimed - Fraction(1, 10**20) < added <= claimed == sum(sorted(PRICES)[-overlap:])

    exchanged = worst(product(places(overlap), repeat=2))
    claimed = Fraction(total(event, Pure, relation=CO).epsilon)
    assert claimed - Fraction(1, 10**20) < exchanged <= claimed == sum(sorted(PRICES)[-2 * overlap :])


def test_A1_118_the_maximum_is_wrong_for_exchanged_units() -> None:
    event = Parallel(*(Response(price) for price in PRICES))
    assert worst(product(places(1), repeat=2)) > Fraction(total(event, Pure, relation=AR).epsilon)


def test_A1_118_two_groups() -> None:
    groups = Parallel(Stated(Pure(0.3)), Stated(Pure(0.2)))
    assert total(groups, Pure, relation=AR) == Pure(0.3)
    assert total(groups, Pure, relation=CO) == Pure(0.5)


def test_A1_117_midterm_and_final_add_up() -> None:
    assert total(Sequence(Stated(Pure(0.3)), Stated(Pure(0.2))), Pure) == Pure(0.5)


def test_A1_121_approximate_losses_add_up() -> None:
    event = Sequence(Stated(Approx(0.1, 1e-6)), Stated(Approx(0.2, 2e-6)))
    assert total(event, Approx) == Approx(0.3, 3e-6)


def test_A3_022_epochs_over_disjoint_batches() -> None:
    epoch = Parallel(*[Laplace(10)] * 50)
    assert total(Repeat(epoch, 7), Pure, relation=AR) == Pure(0.7)
    assert total(Repeat(epoch, 7), Pure, relation=CO) == Pure(1.4)


def test_sampled_parts_pay_for_a_replacement_or_for_two_moves() -> None:
    """Exchanging inside one sampled part and moving between two are different losses; the larger one counts."""
    part = Sampled(Stated(Pure(1)), Poisson(0.1))
    event = Parallel(part, part, part)
    moved = 2 * Fraction(total(part, Pure, relation=AR).epsilon)
    replaced = Fraction(total(part, Pure, relation=CO).epsilon)
    assert replaced != moved / 2
    assert total(event, Pure, relation=CO).epsilon == max(moved, replaced)


@pytest.mark.parametrize("event", [Parallel(Laplace(1), Laplace(2)), Sampled(Laplace(1), Poisson(0.1))])
def test_a_relation_is_asked_for_where_it_matters(event: Parallel | Sampled) -> None:
    with pytest.raises(BadArgument, match="ADD_REMOVE, CHANGE_ONE or ZERO_OUT"):
        total(event, Pure)
    assert total(Sequence(Laplace(1)), Pure) == Pure(1)


WEIGHTS = (Fraction(1, 3), Fraction(2, 3))


def drawn(flipped: bool) -> Law:
    """Gives the law of a public draw between two responses, with the draw."""
    law: dict[tuple[int, ...], arb] = {}
    with precision(BITS):
        for which, (weight, price) in enumerate(zip(WEIGHTS, PRICES, strict=False)):
            growth = ball(price).exp()
            for answer in (0, 1):
                law[which, answer] = ball(weight) * (growth if answer == flipped else 1) / (growth + 1)
    return law


def test_P1_127_a_public_draw_costs_the_mean_of_its_parts() -> None:
    event = Mixture(Response(PRICES[0]), Response(PRICES[1]), weights=WEIGHTS)
    here, there = drawn(False), drawn(True)
    assert max_divergence(here, there)[0] <= Fraction(total(event, Pure).epsilon) == PRICES[1]
    curve, rho = total(event, Renyi), Fraction(total(event, ZCDP).rho)
    for order in (Fraction(3, 2), Fraction(2), Fraction(10)):
        low, high = renyi(here, there, order)
        assert low <= curve.at(order) <= high + Fraction(1, 10**20)
        assert low <= order * rho
        assert low > total(Response(PRICES[0]), Renyi).at(order)  # the cheaper part alone would be too little
    pair, profile = total(event, PLD), total(Mixture(*map(_promised, PRICES[:2]), weights=WEIGHTS), Profile)
    for place in (Fraction(0), PRICES[0] / 2, PRICES[0], (PRICES[0] + PRICES[1]) / 2):
        low, high = hockey_stick(here, there, place)
        assert low <= pair.delta(place).upper <= high + Fraction(1, 10**20)
        assert low <= profile.delta(place) <= high + Fraction(1, 10**20)
    stated = Mixture(Stated(Approx(0.1, "0.01")), Stated(Approx(0.2, "0.001")), weights=WEIGHTS)
    assert total(stated, Approx) == Approx(0.2, "0.004")
    lost = Mixture(Stated(Approx(math.inf, 0)), Stated(Approx(0.2, "0.001")), weights=("0.001", "0.999"))
    assert total(lost, Approx) == Approx(0.2, "0.001999")
    assert total(Mixture(*(Stated(ApproxZCDP(1, x)) for x in ("0.01", "0.04")), weights=WEIGHTS), ApproxZCDP) == (
        ApproxZCDP(1, "0.03")
    )
    assert total(Mixture(Gaussian(2), Gaussian(3), weights=WEIGHTS), GDP) == GDP(0.5)


def _promised(epsilon: Fraction) -> Stated:
    return Stated(Profile.of(Pure(epsilon)))


def test_equal_parts_of_a_draw_are_one() -> None:
    twice = Mixture(Laplace(2), Laplace(3), Laplace(2), weights=("0.25", "0.5", "0.25"))
    once = Mixture(Laplace(2), Laplace(3), weights=("0.5", "0.5"))
    for kind in (Pure, Renyi, PLD):
        assert total(twice, kind) == total(once, kind)
    assert total(Mixture(Laplace(2), Stated(Pure("0.5")), weights=WEIGHTS), Pure) == Pure("0.5")


def test_a_draw_on_a_sample_is_a_draw_of_samples() -> None:
    """Each part keeps what is known of its noise on a sample; the pair of the whole draw knows nothing of noise."""
    parts, rate = (Laplace(1), Laplace(3)), Poisson("0.1")
    for relation in (AR, CO):
        plan = Sampled(Mixture(*parts, weights=WEIGHTS), rate)
        apart = Mixture(*(Sampled(part, rate) for part in parts), weights=WEIGHTS)
        assert total(plan, PLD, relation=relation) == total(apart, PLD, relation=relation)
        dear, cheap = (Fraction(total(Sampled(part, rate), PLD, relation=relation).delta(0).upper) for part in parts)
        mean = WEIGHTS[0] * dear + WEIGHTS[1] * cheap
        assert abs(Fraction(total(plan, PLD, relation=relation).delta(0).upper) - mean) < Fraction(1, 10**20)


def test_a_draw_of_what_is_composed_is_no_dearer_than_its_dearest_part_nor_than_the_truth_allows() -> None:
    """Two parts of two uses each: every outcome is listed, with the draw."""
    parts = [(Response(PRICES[0]), Response(PRICES[2])), (Response(PRICES[1]), Response(PRICES[2], 3))]
    plan = Mixture(*(Sequence(*part) for part in parts), weights=WEIGHTS)
    pair, dearest = total(plan, PLD), total(Sequence(*parts[1]), PLD)
    laws: list[dict[tuple[int, ...], arb]] = [{}, {}]
    with precision(BITS):
        for which, (weight, part) in enumerate(zip(WEIGHTS, parts, strict=True)):
            for flipped, law in enumerate(laws):
                for answers in product(*(range(response.options) for response in part)):
                    law[which, *answers] = ball(weight)
                    for answer, response in zip(answers, part, strict=True):
                        growth = ball(response.epsilon).exp()
                        law[which, *answers] *= (growth if answer == flipped else 1) / (growth + response.options - 1)
    for place in (Fraction(0), PRICES[0], PRICES[1]):
        low, high = hockey_stick(laws[0], laws[1], place)
        assert low <= pair.delta(place).upper < high * Fraction(6, 5)
        assert pair.delta(place).upper < dearest.delta(place).upper


def test_P1_127_parts_that_are_never_drawn_cost_nothing() -> None:
    assert total(Mixture(Laplace(1), Laplace(4), weights=(0, 1)), Pure) == Pure(0.25)


def test_P1_127_a_public_draw_widens_a_bounded_range() -> None:
    """One part's losses lie in [-0.1, 0.9], the other's in [-0.9, 0.1]: together they span more than 1."""
    choice = Selection(ExponentialSelection(Fraction(1)))
    with pytest.raises(NoProvenRoute, match="twice that range"):
        total(Mixture(choice, Stated(BoundedRange(1)), weights=WEIGHTS), BoundedRange)
    with precision(BITS):
        high, low = ball(Fraction(9, 10)).exp(), ball(Fraction(-1, 10)).exp()
        share = (1 - low) / (high - low)  # so that both laws add up to 1
        there = {(0, 0): share / 2, (0, 1): (1 - share) / 2, (1, 0): share * high / 2, (1, 1): (1 - share) * low / 2}
        here = {(0, 0): share * high / 2, (0, 1): (1 - share) * low / 2, (1, 0): share / 2, (1, 1): (1 - share) / 2}
        losses = [float((here[key] / there[key]).log()) for key in here]
    for which in (0, 1):
        inside = [loss for key, loss in zip(here, losses, strict=True) if key[0] == which]
        assert max(inside) - min(inside) <= 1 + 1e-12
    assert max(losses) - min(losses) > 1.7


def test_bounded_range_answers_for_one_use_only() -> None:
    choice = Selection(ExponentialSelection(Fraction(2)))
    assert total(Sequence(choice), BoundedRange) == BoundedRange(0.5)
    assert total(Repeat(choice, 0), BoundedRange) == BoundedRange(0)
    with pytest.raises(NoProvenRoute, match="bounded range"):
        total(Sequence(choice, choice), BoundedRange)


def test_nothing_costs_nothing() -> None:
    for event in (Sequence(), Repeat(Laplace(1), 0), Parallel(), Sequence(Sequence(), Repeat(Sequence(), 5))):
        for kind in (Pure, Approx, ZCDP, GDP, Renyi):
            assert total(event, kind) == kind.nothing()


def composed_response(count: int) -> tuple[Law, Law]:
    """Gives the joint laws of independent four-way responses to one option and to another."""
    here: dict[tuple[int, ...], arb] = {}
    there: dict[tuple[int, ...], arb] = {}
    with precision(BITS):
        growth = ball(1).exp()
        weights = {0: (growth, arb(1)), 1: (arb(1), growth), 2: (arb(2), arb(2))}
        for outcome in product(weights, repeat=count):
            one = other = arb(1)
            for answer in outcome:
                one *= weights[answer][0] / (growth + 3)
                other *= weights[answer][1] / (growth + 3)
            here[outcome], there[outcome] = one, other
    return here, there


def test_defect_1_repeated_responses_are_counted() -> None:
    """A peer reports ε = 1.0 for 20 responses of ε = 1 at δ = 1e-6; composing one by one gives 18.84, Rényi 19.14."""
    once = Response(1, options=4)
    repeated, listed = (total(event, Renyi) for event in (Repeat(once, 20), Sequence(*[once] * 20)))
    assert repeated == listed
    assert 18.84 < renyi_epsilon(repeated, delta=1e-6) < 19.15
    here, there = composed_response(5)
    assert hockey_stick(here, there, Fraction(1))[0] > 1e-2  # so (1, 1e-6) is false already for 5
    curve = total(Repeat(once, 5), Renyi)
    for order in (Fraction(2), Fraction(7)):
        low, high = renyi(here, there, order)
        assert low <= curve.at(order)
        assert curve.at(order) - Fraction(high) < Fraction(1, 10**15)


def test_defect_2_repeated_selections_are_counted() -> None:
    """A peer reports ε = 0.506 for 100 exponential selections of ε = 0.5 at δ = 1e-6; one by one it says 15.32."""
    once = Selection(ExponentialSelection(Fraction(2)))
    repeated, listed = (total(event, Renyi) for event in (Repeat(once, 100), Sequence(*[once] * 100)))
    assert repeated == listed
    assert 14 < renyi_epsilon(repeated, delta=1e-6) < 15.33
    assert total(Repeat(once, 100), Pure) == Pure(50)


def test_long_and_deep_plans() -> None:
    many = Sequence(*(Laplace(10 + index % 7) for index in range(10_000)))
    assert total(many, Pure) == Pure(sum(Fraction(1, 10 + index % 7) for index in range(10_000)))
    deep: Sequence | Repeat = Sequence(Laplace(10))
    for level in range(900):
        deep = Repeat(deep, 1) if level % 2 else Sequence(deep)
    assert total(deep, Pure) == Pure(0.1)
    tower: Parallel = Parallel(Laplace(1))
    for _ in range(900):
        tower = Parallel(tower)
    with pytest.raises(BadArgument, match="nested at most"):
        total(tower, Pure, relation=AR)


def test_bad_questions_are_refused() -> None:
    for event, kind, message in (
        (Pure(1), Pure, "an event"),
        (Laplace(1), "pure", "a kind of loss"),
        (Laplace(1), Pure(1), "a kind of loss"),
    ):
        with pytest.raises(BadArgument, match=message):
            total(event, kind)  # type: ignore[type-var]
    with pytest.raises(BadArgument, match="relation"):
        total(Laplace(1), Pure, relation="add")  # type: ignore[arg-type]
    with pytest.raises(NoProvenRoute, match=r"Choose the δ|no theorem"):
        total(Gaussian(1), Approx)
    with pytest.raises(NoProvenRoute, match="without limit"):
        total(Gaussian(1, shift=math.inf), GDP)


def test_partitions_may_be_chosen_in_the_light_of_earlier_answers() -> None:
    """A response of ε = 1, then a partition that puts the unit where its first answer makes the most of it.

    After a truthful answer the unit is in the part with another response, after a lie in the part that leaks with
    probability 0.05. Neither part alone is that bad: a bound that fixes the part beforehand is too small here.
    """
    leak, threshold = Fraction(1, 20), Fraction(6, 5)
    with precision(BITS):
        growth = ball(1).exp()
        true, lie = growth / (growth + 1), 1 / (growth + 1)
        stay, gone = ball(1 - leak), ball(leak)
        here = {"TT": true * true, "TL": true * lie, "L": lie * stay, "leak": lie * gone}
        there = {"TT": lie * lie, "TL": lie * true, "L": true * stay}
    low, _ = hockey_stick(here, there, threshold)
    fixed, _ = hockey_stick({**here, "leak": arb(0)}, there, threshold)
    assert low > fixed + Fraction(1, 100)
    event = Sequence(Response(1), Parallel(Response(1), Stated(Approx(0, leak))))
    assert total(event, PLD, relation=AR).delta(threshold).upper >= low
    assert total(event, Profile, relation=AR).delta(threshold) >= low

"""Losses: what composing, comparing, grouping and converting them gives, to the last digit, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import pytest
from tests.examples.calls import calls

from sfumato.accounting.amplify.curves_poisson import SampledGaussianCurve
from sfumato.accounting.convert.renyi import (
    approx_zcdp_delta,
    approx_zcdp_epsilon,
    preserved_probability,
    renyi_delta,
    renyi_epsilon,
    renyi_order,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_epsilon_simple,
    zcdp_rho,
    zcdp_rho_simple,
)
from sfumato.accounting.losses.concentrated import GDP, ApproxZCDP
from sfumato.accounting.losses.measures import ZCDP, Approx, BoundedRange, Loss, Pure
from sfumato.accounting.losses.renyi import Grouped, Largest, Renyi, chain_weight
from sfumato.accounting.renyi.curves import Curve, Orders
from sfumato.accounting.renyi.mechanism_curves import (
    DiscreteLaplaceCurve,
    LaplaceCurve,
    Linear,
    PureCurve,
    RangeCurve,
    ResponseCurve,
    Tabulated,
)
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Extended, ball, enclose, root, up
from sfumato.textbook.inequalities import young_gap

MILLIONTH = Fraction(1, 10**6)
BOOK = range(2, 201)


def near(value: Extended, wanted: str) -> bool:
    """Tells whether a number is the one that is printed, at the digits that are printed."""
    last = Fraction(10) ** -len(wanted.partition(".")[2])
    return abs(Fraction(value) - Fraction(wanted)) <= last


def gaussian(scale: int) -> Renyi:
    return Renyi.of(Linear(Fraction(1, 2 * scale**2)))


# What losses come to.


@pytest.mark.parametrize(
    ("scale", "basic", "at", "tight", "there"),
    [(1, "5.763102", 6, "5.222429", 6), (5, "1.071366", 27, ".8999385", 24), (10, ".5306700", 54, ".4299515", 46)],
)
def test_A1_132_A1_133_gaussian_noise_over_the_textbook_orders(
    scale: int, basic: str, at: int, tight: str, there: int
) -> None:
    loss = gaussian(scale)
    assert near(renyi_epsilon(loss, delta=1e-6, orders=BOOK, basic=True), basic)
    assert renyi_order(loss, delta=1e-6, orders=BOOK, basic=True) == at
    assert near(renyi_epsilon(loss, delta=1e-6, orders=BOOK), tight)
    assert renyi_order(loss, delta=1e-6, orders=BOOK) == there
    assert renyi_epsilon(loss, delta=1e-6) < renyi_epsilon(loss, delta=1e-6, orders=BOOK)


@pytest.mark.parametrize(("scale", "simple"), [(1, "5.756522"), (5, "1.071304"), (10, ".5306522")])
def test_A1_134_closed_form_of_zcdp_is_the_basic_conversion_at_the_best_real_order(scale: int, simple: str) -> None:
    rho = Fraction(1, 2 * scale**2)
    assert near(zcdp_epsilon_simple(rho, delta=1e-6), simple)
    found = renyi_epsilon(gaussian(scale), delta=1e-6, basic=True)
    assert 0 <= found - zcdp_epsilon_simple(rho, delta=1e-6) < Fraction(1, 10**10)


def test_A1_135_zcdp_for_a_total_of_epsilon_and_delta() -> None:
    assert near(zcdp_rho_simple(1, delta=1e-6), "0.0174689")
    assert zcdp_epsilon_simple(zcdp_rho_simple(1, delta=1e-6), delta=1e-6) <= 1 + Fraction(1, 2**100)
    tight = zcdp_rho(1, delta=1e-6)
    assert zcdp_epsilon(tight, delta=1e-6) <= 1 < zcdp_epsilon(tight * Fraction(1000001, 1000000), delta=1e-6)
    assert tight > Fraction("1.39") * zcdp_rho_simple(1, delta=1e-6)
    assert zcdp_rho_simple(3, delta=1) == 3
    assert zcdp_rho_simple(0, delta=1e-6) == 0


def test_A2_016_gaussian_of_scale_one_half() -> None:
    loss = Renyi.of(Linear(2))
    assert loss.at(3) == 6
    for refused in (1, 0.5, 0, -2):
        with pytest.raises(BadArgument, match="greater than 1"):
            loss.at(refused)
    assert near(zcdp_epsilon_simple(2, delta=1e-6), "12.5130")
    assert near(zcdp_epsilon(2, delta=1e-6), "11.6886")
    assert near(renyi_epsilon(loss, delta=1e-6, orders=BOOK, basic=True), "12.6052")
    assert near(zcdp_epsilon_simple(2, delta=1e-8), "14.1394")
    assert near(zcdp_epsilon(2, delta=1e-8), "13.3861")


def test_A3_001_to_A3_005_twenty_gradient_steps() -> None:
    step = ZCDP(Fraction(2**2, 2 * 100**2))
    assert step == ZCDP(0.0002)
    assert step.times(20) == ZCDP(0.004)
    tight, simple = zcdp_epsilon(0.004, delta=1e-8), zcdp_epsilon_simple(0.004, delta=1e-8)
    assert near(tight, "0.465965")
    assert near(simple, "0.546891")
    assert Fraction("0.438473") <= tight <= simple


def test_A3_008_A3_009_A3_010_the_orders_of_sampled_noise_go_on_until_the_optimum_is_inside() -> None:
    loss, book = Renyi.of(SampledGaussianCurve(0.01, Fraction(1, 50**2)), times=20), range(2, 300)
    assert near(renyi_epsilon(loss, delta=1e-8, orders=book, basic=True), "0.061934")
    assert renyi_order(loss, delta=1e-8, orders=book, basic=True) == 299
    assert near(renyi_epsilon(loss, delta=1e-8, basic=True), "0.00550")
    assert 6500 < renyi_order(loss, delta=1e-8, basic=True) < 6700
    assert near(renyi_epsilon(loss, delta=1e-8, orders=book), "0.03946")
    assert near(renyi_epsilon(loss, delta=1e-8), "0.00382")
    assert 4800 < renyi_order(loss, delta=1e-8) < 5000


def test_A3_090_one_order() -> None:
    loss = Renyi({10: 0.5})
    assert near(renyi_epsilon(loss, delta=1e-6, basic=True), "2.035057")
    assert near(renyi_epsilon(loss, delta=1e-6), "1.673853")


def test_A3_091_P3_143_probability_preservation() -> None:
    assert near(preserved_probability("0.158655254", order=2, divergence=1), "0.656711")
    assert preserved_probability(0, order=2, divergence=5) == 0
    assert preserved_probability(0.5, order=2, divergence=math.inf) == 1
    assert preserved_probability(0, order=2, divergence=math.inf) == 1  # even the impossible: nothing is promised
    assert preserved_probability(0.5, order=2, divergence=10) == 1


def test_A3_092_young() -> None:
    """a b ≤ a^p / p + b^q / q at a = 2, b = 3, p = 3, q = 3/2."""
    gap = young_gap(2, 3, p=3)
    assert gap.lower > 0
    assert near(6 + gap.upper, "6.130768")


@pytest.mark.parametrize("rho", ["1e-30", "1e-12", "0.001", "1", "1e6", "1e12"])
def test_the_search_extends_itself_until_the_optimum_is_inside(rho: str) -> None:
    """A tenth more or less of the distance to order 1 is no better, and the answer is what the optimum must be."""
    loss, slope = Renyi.of(Linear(rho)), Fraction(rho)
    order = renyi_order(loss, delta=1e-6, basic=True)
    assert abs(float(order - 1) / math.sqrt(math.log(1e6) / float(slope)) - 1) < 1e-4
    found = renyi_epsilon(loss, delta=1e-6)
    assert found <= zcdp_epsilon_simple(rho, delta=1e-6)
    tight = renyi_order(loss, delta=1e-6)
    for other in (1 + (tight - 1) * Fraction(9, 10), 1 + (tight - 1) * Fraction(11, 10)):
        assert found <= renyi_epsilon(loss, delta=1e-6, orders=[other])


def test_conversion_ends() -> None:
    assert renyi_epsilon(gaussian(1), delta=1) == 0
    assert renyi_epsilon(gaussian(1), delta=0) == math.inf == zcdp_epsilon(1, delta=0)
    assert zcdp_epsilon(0, delta=0) == 0 == zcdp_epsilon_simple(0, delta=0)
    assert zcdp_epsilon_simple(1, delta=0) == math.inf
    assert zcdp_epsilon(math.inf, delta=0.5) == math.inf
    assert zcdp_epsilon(1, delta=1) == 0
    assert zcdp_delta(math.inf, epsilon=3) == 1
    assert renyi_epsilon(Renyi.of(LaplaceCurve(3)), delta=0) == 3
    assert renyi_epsilon(Renyi.of(LaplaceCurve(3)), delta="1e-3000") == 3
    assert renyi_delta(Renyi.of(LaplaceCurve(3)), epsilon=3) == 0
    assert 0 < renyi_delta(gaussian(10), epsilon=10**6) <= Fraction(1, 2**10_000)


def test_approximate_zcdp_sets_its_delta_aside() -> None:
    loss = ApproxZCDP(2, 1e-7)
    found = approx_zcdp_epsilon(loss, delta=1e-6)
    assert found == zcdp_epsilon(2, delta=(MILLIONTH - Fraction(1, 10**7)) / (1 - Fraction(1, 10**7)))
    assert zcdp_epsilon(2, delta=1e-6) < found < zcdp_epsilon(2, delta=8e-7)
    assert abs(approx_zcdp_delta(loss, epsilon=found) - MILLIONTH) < Fraction(1, 10**15)
    assert approx_zcdp_epsilon(loss, delta=1e-8) == math.inf
    assert approx_zcdp_epsilon(ApproxZCDP(2, 1), delta=1) == 0


def test_an_epsilon_takes_few_steps() -> None:
    loss = Renyi.of(Linear(Fraction(1, 1800)), times=1000)
    _, count = calls(lambda: renyi_epsilon(loss, delta=1e-6))
    assert count < 20_000


# Groups.


def test_A1_128_group_of_approximate_privacy() -> None:
    group = Approx(0.1, 1e-6).group(3)
    assert group.epsilon == Fraction(3, 10)
    assert near(group.delta * 10**6, "3.32657")
    assert group.delta < 3 * MILLIONTH * Fraction("1.3499")  # as it is printed
    assert Approx(0, 1e-6).group(3) == Approx(0, 3e-6)
    assert Approx(1, 0).group(3) == Approx(3, 0)
    assert Approx(5, 0.01).group(3).delta == 1
    assert Approx(10**9, 1e-9).group(3) == Approx(3 * 10**9, 1)
    assert Approx(math.inf, 1e-9).group(2) == Approx(math.inf, 1)


def test_A1_129_groups() -> None:
    assert Pure(0.1).group(3) == Pure(0.3)
    assert ZCDP(0.1).group(3) == ZCDP(0.9)
    assert GDP(0.1).group(3) == GDP(0.3)
    assert GDP(root(2)).group(2) == GDP(root(8))
    assert BoundedRange(0.1).group(3) == BoundedRange(0.3)
    assert ApproxZCDP(0.1, 0).group(3) == ApproxZCDP(0.9, 0)
    assert Renyi.of(Linear(0.1)).group(3) == Renyi.of(Linear(0.9))
    assert Renyi.of(PureCurve(0.1)).group(3) == Renyi.of(PureCurve(0.3))
    assert Renyi.of(LaplaceCurve(1)).group(2).group(3) == Renyi.of(LaplaceCurve(1)).group(6)
    assert Renyi.of(LaplaceCurve(1)).group(3).ceiling() == 3


def test_group_of_approximate_zcdp_is_refused() -> None:
    with pytest.raises(NoProvenRoute, match=r"sf\.convert\(loss, sf\.Approx, delta="):
        ApproxZCDP(1, 1e-9).group(2)


def test_group_of_a_table_answers_up_to_its_highest_order_over_the_size() -> None:
    """f(4) + 4/3 · f(3) at order 2, where the table has no order 3 and so answers with that of 4."""
    group = Renyi({4: 1, 8: 2}).group(2)
    assert group.at(2) == 1 + Fraction(4, 3)
    assert group.at(4) == 2 + Fraction(8, 7) * 2
    assert group.orders() == Orders(high=Fraction(4), steps=(Fraction(2), Fraction(4)))
    with pytest.raises(NoProvenRoute, match="lower"):
        group.at(5)


def test_a_table_that_ends_too_low_for_a_group_says_where_to_state_it() -> None:
    with pytest.raises(NoProvenRoute, match="for groups of k units at orders above k"):
        renyi_epsilon(Renyi({2: 0.5}).group(2), delta=1e-6)
    assert near(renyi_epsilon(Renyi({8: 1}).then(Renyi({8: 1}).group(4)), delta=1e-6), "18.505407")


@pytest.mark.parametrize("order", [1.001, 2, 40])
def test_long_chains_are_bounded_in_blocks_from_above(order: float) -> None:
    """Blocks cost little, and never less than the sum itself."""
    inner, size, top = Renyi.of(LaplaceCurve(0.001), times=3), 1000, 1000 * Fraction(str(order))
    found = Grouped(inner, size).bound(Fraction(str(order)))
    exact = sum((Fraction(up(top / (top - i) * inner.at(top - i))) for i in range(size)), Fraction(0))
    least = min(exact, Fraction(PureCurve(3).bound(Fraction(str(order)))))
    assert least * (1 - Fraction(1, 10**12)) <= found <= least * Fraction(102, 100)


def test_block_weights_are_not_below_their_sums() -> None:
    for top in (Fraction(1001), Fraction(201, 2), Fraction(10**6)):
        for first, end in ((0, 1), (0, 2), (3, 50), (90, 100)):
            exact = sum(top / (top - i) for i in range(first, end))
            assert exact <= chain_weight(top, first, end) <= exact * Fraction(102, 100)
    assert renyi_epsilon(Renyi.of(LaplaceCurve(0.001), times=3).group(10**9), delta=1e-6) <= 3 * 10**6


# Parallel parts.

PARTS: list[tuple[list[Loss], int, Loss]] = [
    ([Pure(1), Pure(3), Pure(2)], 1, Pure(3)),
    ([Pure(1), Pure(3), Pure(2)], 2, Pure(5)),
    ([Pure(1), Pure(3)], 5, Pure(4)),
    ([Approx(1, 0.2), Approx(3, 0.1)], 1, Approx(3, 0.2)),
    ([Approx(1, 0.7), Approx(3, 0.6)], 2, Approx(4, 1)),
    ([ZCDP(1), ZCDP(3), ZCDP(2)], 2, ZCDP(5)),
    ([ApproxZCDP(1, 0.5), ApproxZCDP(2, 0.25), ApproxZCDP(3, 0.1)], 2, ApproxZCDP(5, 0.625)),
    ([GDP(3), GDP(4), GDP(1)], 2, GDP(5)),
    ([BoundedRange(1), BoundedRange(3)], 1, BoundedRange(3)),
    ([BoundedRange(1), BoundedRange(0)], 2, BoundedRange(1)),
    ([Renyi.of(Linear(1)), Renyi.of(Linear(3)), Renyi.of(Linear(2))], 2, Renyi.of(Linear(5))),
    ([Renyi.of(PureCurve(1))] * 3, 2, Renyi.of(PureCurve(1), times=2)),
]


@pytest.mark.parametrize(("parts", "count", "wanted"), PARTS, ids=str)
def test_parallel_parts(parts: list[Loss], count: int, wanted: Loss) -> None:
    assert type(wanted).widest(parts, count=count) == wanted
    assert type(wanted).widest(list(reversed(parts)), count=count) == wanted
    assert type(wanted).widest([], count=count) == wanted.nothing()


def test_parallel_renyi_takes_the_largest_at_each_order() -> None:
    """Laplace noise costs more at low orders here, Gaussian noise at high ones."""
    laplace, noise = Renyi.of(LaplaceCurve(1)), Renyi.of(Linear(Fraction(3, 10)))
    both = Renyi.widest([laplace, noise, Renyi.nothing()])
    assert both.at(2) == noise.at(2) if noise.at(2) > laplace.at(2) else laplace.at(2)
    assert [both.at(order) for order in (Fraction(101, 100), 20)] == [laplace.at(Fraction(101, 100)), noise.at(20)]
    assert laplace.at(Fraction(101, 100)) > noise.at(Fraction(101, 100))
    assert both.ceiling() == math.inf
    three = Renyi.widest([laplace, noise, Renyi.of(LaplaceCurve(2))], count=2)
    assert three.at(20) == noise.at(20) + LaplaceCurve(2).at(20)


def test_ranges_that_meet_are_refused() -> None:
    with pytest.raises(NoProvenRoute, match="Pure or ZCDP"):
        BoundedRange.widest([BoundedRange(1), BoundedRange(1)], count=2)
    with pytest.raises(NoProvenRoute, match="Pure or ZCDP"):
        BoundedRange(1).times(2)
    with pytest.raises(NoProvenRoute, match="Pure or ZCDP"):
        BoundedRange(0).then(BoundedRange(1))  # the first, though it tells nothing, may choose the second's window
    assert BoundedRange(1).then(BoundedRange(0)) == BoundedRange(1) == BoundedRange(1).times(1)


# Values.


def test_gaussian_and_approximate_zcdp_add_up() -> None:
    assert GDP(1).then(GDP(1)).square == 2
    assert GDP(1).times(100) == GDP(10)
    assert GDP(math.inf).then(GDP(1)) == GDP(math.inf)
    assert GDP(1) <= GDP(root(2)) <= GDP(1.5)
    assert not GDP(1.5) <= GDP(root(2))
    assert ApproxZCDP(1, 0.5).then(ApproxZCDP(2, 0.5)) == ApproxZCDP(3, 0.75)
    assert ApproxZCDP(1, 0.5) <= ApproxZCDP(1, 0.5)
    assert not ApproxZCDP(1, 0.5) <= ApproxZCDP(2, 0.4)
    assert ApproxZCDP(9, 1) <= ApproxZCDP(1, 1)


def test_many_uses_of_approximate_zcdp_stay_short_and_safe() -> None:
    loss = ApproxZCDP(1, 1e-9).times(10**6)
    low, high = enclose(lambda: 1 - (1 - ball(Fraction(1, 10**9))) ** 10**6, bits=512)
    assert loss.delta.denominator.bit_length() < 5000
    assert low <= loss.delta < high + Fraction(1, 10**60)
    few = ApproxZCDP(1, 1e-9).times(100)
    assert few.delta == 1 - (1 - Fraction(1, 10**9)) ** 100


def test_renyi_keeps_its_terms_in_one_order() -> None:
    laplace, answer = Renyi.of(LaplaceCurve(1)), Renyi.of(ResponseCurve(1, 3))
    assert laplace.then(answer).then(laplace) == answer.then(laplace.times(2))
    assert hash(laplace.then(answer)) == hash(answer.then(laplace))
    assert Renyi.of(Linear(1)).then(laplace).then(Renyi.of(Linear(2))).terms == ((LaplaceCurve(1), 1), (Linear(3), 1))
    assert laplace.then(Renyi.nothing()) == laplace == Renyi(((LaplaceCurve(1), 1), (PureCurve(0), 5), (Linear(0), 2)))
    assert laplace.times(0) == Renyi.nothing() == Renyi(())
    assert eval(repr(laplace.then(answer).group(2))) == laplace.then(answer).group(2)


def test_tables_answer_between_their_orders_with_the_next_one() -> None:
    table = Renyi({2: 0.5, 8: 1, 16: 0.75})
    assert [table.at(order) for order in (1.5, 2, 3, 8, 9)] == [0.5, 0.5, 0.75, 0.75, 0.75]
    with pytest.raises(NoProvenRoute, match="as high as this"):
        table.at(17)
    both = table.then(Renyi({3: 1, 9: 2}))
    assert both.orders().listed == tuple(map(Fraction, (2, 3, 8, 9)))
    assert both.at(3) == Fraction(7, 4)
    assert renyi_epsilon(both, delta=1e-6) == min(renyi_epsilon(both, delta=1e-6, orders=[o]) for o in (2, 3, 8, 9))


def test_a_table_in_a_sum_does_not_restrict_the_orders() -> None:
    """Between two of its orders a table answers with the next one, so any order may be the best."""
    loss = Renyi({100: 0.01}).then(Renyi.of(Linear(1)))
    assert renyi_epsilon(loss, delta=1e-6) <= renyi_epsilon(loss, delta=1e-6, orders=[4.7]) < Fraction("7.79")
    stairs = Renyi({order: Fraction(order, 100) for order in range(2, 60)}).then(Renyi.of(Linear("0.1")))
    grid = [Fraction(place, 10) for place in range(11, 600)]
    best = renyi_epsilon(stairs, delta=1e-6, orders=grid)
    assert best - Fraction(1, 1000) < renyi_epsilon(stairs, delta=1e-6) <= best
    several = Renyi({3: 0.1, 50: 2}).then(Renyi({4: 0.1, 30: 1})).then(Renyi.of(LaplaceCurve(1)))
    assert renyi_epsilon(several, delta=1e-6) <= renyi_epsilon(several, delta=1e-6, orders=grid[:290])


def test_a_table_is_asked_between_its_orders_too() -> None:
    """At a large δ a low order is better, and at an ε below the divergence one that depends on the gap."""
    table = Renyi({100: 0.5})
    assert renyi_epsilon(table, delta=0.3) < Fraction("0.144") < renyi_epsilon(table, delta=0.3, orders=[100])
    found = renyi_delta(table, epsilon=0.4)
    assert found <= min(renyi_delta(table, epsilon=0.4, orders=[order]) for order in (2, 5, 10, 11, 20, 100))
    assert found < renyi_delta(table, epsilon=0.4, orders=[100])


def test_steps_and_whole_orders_together() -> None:
    @dataclass(frozen=True)
    class Whole(Curve):
        """Is a line that is stated at whole orders up to 40."""

        def bound(self, order: Fraction) -> Extended:
            assert order.denominator == 1
            return order / 10

        def orders(self) -> Orders:
            return Orders.integers(most=40)

        def ceiling(self) -> Extended:
            return math.inf

    for table, wanted in (({100: 0.01}, 12), ({"2.5": 0.01, 100: 90}, "2.5"), ({"1.5": 1}, "1.5")):
        loss = Renyi(((Whole(), 1),)).then(Renyi(table))  # type: ignore[arg-type]  # tables take what people type
        assert renyi_order(loss, delta=1e-6) == Fraction(wanted)


@pytest.mark.parametrize("loss", [Pure, ZCDP, GDP, lambda size: Approx(size, 0), lambda size: ApproxZCDP(size, 0)])
def test_infinity_absorbs_what_no_float_holds(loss: Callable[[object], Loss]) -> None:
    huge, endless = loss(10**400), loss(math.inf)
    assert huge.then(endless) == endless.then(huge) == endless
    assert endless.group(10**400) == endless
    assert type(huge).widest([huge, endless], count=2) == endless


def test_infinity_absorbs_in_curves_and_ranges() -> None:
    assert BoundedRange(math.inf).group(10**400) == BoundedRange(math.inf)
    assert Renyi.of(PureCurve(math.inf), times=10**400).at(2) == math.inf
    assert Renyi.of(Linear(10**400)).then(Renyi.of(Linear(math.inf))) == Renyi.of(Linear(math.inf))


def test_extreme_probabilities() -> None:
    """Near 1 a logarithm keeps its digits."""
    almost = Fraction(10**50 - 1, 10**50)
    assert 1 - Fraction(1, 10**20) < zcdp_rho_simple(1, delta=almost) < 1
    assert 1 < zcdp_epsilon_simple(1, delta=almost) < 1 + Fraction(1, 10**20)


def test_what_is_no_loss_or_list_is_refused() -> None:
    for delta in (0, 0.5, 1):
        with pytest.raises(BadArgument, match="a Rényi loss"):
            renyi_epsilon("x", delta=delta)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="a list of Pure losses"):
        Pure.widest(Pure(1))  # type: ignore[arg-type]


def test_extreme_orders() -> None:
    assert zcdp_epsilon(1e30, delta=1e-6) <= zcdp_epsilon_simple(1e30, delta=1e-6)
    assert zcdp_delta(1e-100, epsilon=1e-49) < Fraction(1, 10**61)


def test_renyi_within_a_limit() -> None:
    limit = Renyi({2: 0.5, 8: 2})
    assert Renyi.of(Linear(0.25)) <= limit
    assert not Renyi.of(Linear(0.26)) <= limit
    assert Renyi.of(LaplaceCurve(0.5)) <= limit
    assert Renyi({8: 0.5}) <= limit
    with pytest.raises(NoProvenRoute, match="as high as this"):
        Renyi({4: 0.5}).within(limit)
    assert Renyi.of(Linear(1)) <= Renyi.of(Linear(1)).then(Renyi.of(LaplaceCurve(1)))
    assert not Renyi.of(Linear(2)) <= Renyi.of(Linear(1))
    assert Renyi.of(LaplaceCurve(1), times=2) <= Renyi.of(LaplaceCurve(1), times=3)
    assert Renyi.of(LaplaceCurve(1)) <= Renyi.of(Linear(math.inf))
    assert not Renyi.of(LaplaceCurve(1)) <= Renyi.nothing() <= Renyi.of(LaplaceCurve(1))
    with pytest.raises(NoProvenRoute, match=r"sf\.Renyi\(\{2: 0\.5"):
        Renyi.of(LaplaceCurve(1), times=3).within(Renyi.of(LaplaceCurve(1), times=2))


def test_whole_orders() -> None:
    orders = Orders.integers(most=8)
    assert [orders.from_above(Fraction(order)) for order in ("1.5", "2", "7.1", "8.5")] == [2, 2, 8, None]
    stepped = orders.both(Orders.exactly(["2.5", 9]))
    assert stepped == Orders(Fraction(2), Fraction(8), whole=True, steps=(Fraction(5, 2), Fraction(8)))
    low = orders.both(Orders.exactly(["1.5", "2.5"]))
    assert [low.from_above(Fraction(order)) for order in ("1.2", "2", "2.1", "2.6")] == [2, 2, Fraction(5, 2), None]
    with pytest.raises(BadArgument, match="one or more numbers greater than 1"):
        Orders.exactly([])
    with pytest.raises(NoProvenRoute, match="ask at lower ones"):
        renyi_epsilon(Renyi({2: 1}), delta=0.1, orders=[3])


def test_losses_print_themselves() -> None:
    assert str(GDP(root(2))) == "μ = 1.41422 (Gaussian)"
    assert repr(GDP(0.5)) == "GDP(mu=0.5)"
    assert str(ApproxZCDP(0.5, 1e-9)) == "ρ = 0.5 (zCDP), δ = 1e-09"
    assert repr(ApproxZCDP(0.5, 1e-9)) == "ApproxZCDP(rho=0.5, delta=1e-09)"
    assert str(Renyi.of(Linear(1))) == "Rényi curve Linear(rho=Fraction(1, 1))"
    assert str(Renyi.of(RangeCurve(1), times=3)) == "Rényi curve 3 × RangeCurve(eta=Fraction(1, 1))"
    assert str(Renyi.nothing()) == "Rényi curve 0"


CURVES: list[Curve] = [
    Linear(0.5),
    PureCurve(0.3),
    PureCurve(50),
    ResponseCurve(1, 5),
    RangeCurve(1e-5),
    RangeCurve(2),
    LaplaceCurve(0.1),
    LaplaceCurve(40),
    DiscreteLaplaceCurve(3, 2),
    Tabulated({2: 0.5, 8: 1, 2000: 3}),
    Largest(2, (Renyi.of(LaplaceCurve(1)), Renyi.of(Linear(1)), Renyi.of(PureCurve(1)))),
    Grouped(Renyi.of(LaplaceCurve(0.1)), 3),
]


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: type(curve).__name__)
def test_what_steers_the_search_is_near_what_is_certified(curve: Curve) -> None:
    for order in (1.0009765625, 1.5, 2.0, 8.0, 600.0):
        assert math.isclose(Curve.near(curve, order), curve.near(order), rel_tol=1e-9), order


def test_infinite_losses_steer_too() -> None:
    assert [curve(math.inf).near(2.0) for curve in (Linear, PureCurve, RangeCurve)] == [math.inf] * 3
    assert [curve(math.inf).at(2) for curve in (Linear, PureCurve, RangeCurve)] == [math.inf] * 3
    assert renyi_epsilon(Renyi.of(PureCurve(math.inf)), delta=1e-6) == math.inf


# What is refused.

BAD: list[Callable[[], object]] = [
    lambda: GDP(-1),
    lambda: GDP(math.nan),
    lambda: GDP(True),
    lambda: ApproxZCDP(-1, 0.1),
    lambda: ApproxZCDP(1, 1.5),
    lambda: ApproxZCDP(1, math.nan),
    lambda: Linear("much"),
    lambda: Linear(-1),
    lambda: PureCurve(math.nan),
    lambda: RangeCurve(-1),
    lambda: LaplaceCurve(0),
    lambda: LaplaceCurve(math.inf),
    lambda: DiscreteLaplaceCurve(1, 0),
    lambda: DiscreteLaplaceCurve(1, 1.5),  # type: ignore[arg-type]  # refused
    lambda: ResponseCurve(1, 1),
    lambda: ResponseCurve(0),
    lambda: Tabulated({}),
    lambda: Tabulated({1: 0.5}),
    lambda: Tabulated(((2, 1), (2, 1))),
    lambda: Renyi({2: -1}),
    lambda: Renyi(5),  # type: ignore[arg-type]  # refused
    lambda: Renyi([("curve", 1)]),  # type: ignore[list-item]  # refused
    lambda: Renyi([Linear(1)]),  # type: ignore[list-item]  # refused
    lambda: Renyi.of(Linear(1), times=-1),
    lambda: Largest(1, ()),
    lambda: Largest(0, (Renyi.nothing(),)),
    lambda: Grouped(Linear(1), 2),  # type: ignore[arg-type]  # refused
    lambda: Pure(1).group(0),
    lambda: Approx(1, 0).group(1.5),  # type: ignore[arg-type]  # refused
    lambda: ZCDP(1).group(True),
    lambda: Renyi.of(Linear(1)).group(-1),
    lambda: Pure.widest([Pure(1)], count=0),
    lambda: Renyi.of(Linear(1)).at(math.nan),
    lambda: Renyi.of(Linear(1)).at(math.inf),
    lambda: renyi_epsilon(Linear(1), delta=0.1),  # type: ignore[arg-type]  # refused
    lambda: renyi_epsilon(Renyi.of(Linear(1)), delta=2),
    lambda: renyi_epsilon(Renyi.of(Linear(1)), delta=-0.1),
    lambda: renyi_epsilon(Renyi.of(Linear(1)), delta=0.1, orders=[1, 2]),
    lambda: renyi_order(Renyi.of(Linear(1)), delta=0),
    lambda: renyi_delta(Renyi.of(Linear(1)), epsilon=-1),
    lambda: zcdp_epsilon(-1, delta=0.1),
    lambda: zcdp_epsilon_simple(1, delta=1.1),
    lambda: zcdp_rho(0, delta=0.1),
    lambda: zcdp_rho_simple(1, delta=0),
    lambda: preserved_probability(1.5, order=2, divergence=1),
    lambda: preserved_probability(0.5, order=1, divergence=1),
    lambda: preserved_probability(0.5, order=2, divergence=-1),
]


@pytest.mark.parametrize("make", BAD, ids=range(len(BAD)))
def test_bad_arguments_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(BadArgument):
        make()


KINDS: list[Loss] = [Pure(1), Approx(1, 0), ZCDP(1), ApproxZCDP(1, 0), GDP(1), BoundedRange(1), Renyi.of(Linear(1))]


@pytest.mark.parametrize("loss", KINDS, ids=lambda loss: type(loss).__name__)
def test_different_kinds_do_not_mix(loss: Loss) -> None:
    for other in KINDS:
        if type(other) is not type(loss):
            hint = rf"{type(loss).__name__} and {type(other).__name__} .* sf\.convert\(loss, sf\.Approx, delta="
            with pytest.raises(NoProvenRoute, match=hint):
                loss.then(other)
            with pytest.raises(NoProvenRoute, match=hint):
                loss.within(other)
            with pytest.raises(NoProvenRoute, match=hint):
                type(loss).widest([loss, other])

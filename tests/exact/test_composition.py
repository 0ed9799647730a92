"""Composition theorems against enumerated compositions: sound for any mechanisms, exact for the worst ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples

from sfumato.accounting.facts.gaussian import gaussian_epsilon
from sfumato.accounting.losses.divergence import hockey_stick
from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.accounting.plans.classic_composition import (
    advanced_composition,
    basic_composition,
    classic_advanced_epsilon,
    mixture_of_losses,
)
from sfumato.accounting.plans.optimal import mixed_delta, mixed_epsilon, optimal_delta, optimal_epsilon
from sfumato.accounting.pld import binomial_sums
from sfumato.accounting.pld.binomial_sums import lower_sum
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import ball, precision

Masses = dict[object, arb]

CLOSE = Fraction(1, 10**15)

ROUNDED_TWICE = 1 + Fraction(1, 1 << 60)
"""An ε that was rounded up has a δ below the one asked for; rounding that up as well may pass it by this factor."""


def response(epsilon: Fraction, delta: Fraction) -> tuple[Masses, Masses]:
    """The worst (ε, δ)-private mechanism: openly the truth with probability δ, else with odds e^ε : 1."""
    with precision(256):
        likely = ball(1 - delta) / (1 + ball(-epsilon).exp())
        unlikely = ball(1 - delta) - likely
        return {"open": ball(delta), "here": likely, "there": unlikely}, {
            "other": ball(delta),
            "here": unlikely,
            "there": likely,
        }


def composed(losses: Sequence[tuple[Fraction, Fraction]]) -> tuple[Masses, Masses]:
    """All outcomes of the responses together, by brute force."""
    pairs = [response(*loss) for loss in losses]
    with precision(256):
        sides = []
        for side in (0, 1):
            options = [pair[side].items() for pair in pairs]
            sides.append(
                {
                    tuple(name for name, _ in outcome): math.prod((mass for _, mass in outcome), start=arb(1))
                    for outcome in product(*options)
                }
            )
        return sides[0], sides[1]


def true_delta(losses: Sequence[tuple[Fraction, Fraction]], epsilon: Fraction) -> tuple[Fraction, Fraction]:
    low, high = hockey_stick(*composed(losses), epsilon, bits=256)
    return Fraction(low), Fraction(high)


EPSILONS = [Fraction(0), Fraction(1, 7), Fraction(3, 10), Fraction(1, 2), Fraction(9, 10), Fraction(6, 5)]


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 50)], ids=str)
def test_optimal_composition_is_the_enumerated_one(count: int, epsilon: Fraction, delta: Fraction) -> None:
    step = Fraction(3, 10)
    low, high = true_delta([(step, delta)] * count, epsilon)
    claimed = optimal_delta(step, count=count, epsilon=epsilon, delta0=delta)
    assert low <= claimed <= high + CLOSE
    # A slightly smaller loss each would not be enough.
    if epsilon < count * step:
        assert optimal_delta(step * Fraction(99, 100), count=count, epsilon=epsilon, delta0=delta) < low


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_mixed_composition_is_the_enumerated_one(epsilon: Fraction) -> None:
    losses = [(Fraction(1, 5), Fraction(1, 100)), (Fraction(1, 3), Fraction(0)), (Fraction(1, 5), Fraction(0))]
    losses += [(Fraction(1, 2), Fraction(1, 30))]
    low, high = true_delta(losses, epsilon)
    claimed = mixed_delta([Approx(*loss) for loss in losses], epsilon=epsilon)
    assert low <= claimed <= high + CLOSE
    assert mixed_delta([Approx(*loss) for loss in losses[:-1]], epsilon=epsilon) < low


@pytest.mark.parametrize("delta", [Fraction(1, 10**6), Fraction(1, 100), Fraction(1, 20), Fraction(1, 5)], ids=str)
@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_optimal_epsilon_is_the_least(count: int, delta: Fraction) -> None:
    step, leak = Fraction(3, 10), Fraction(1, 10**7)
    found = Fraction(optimal_epsilon(step, count=count, delta=delta, delta0=leak))
    assert true_delta([(step, leak)] * count, found)[0] <= delta
    if found:
        assert true_delta([(step, leak)] * count, found - Fraction(1, 10**12))[0] > delta
    mixed = mixed_epsilon([Approx(step, leak)] * count, delta=delta)
    assert abs(mixed - found) < CLOSE


def test_every_kink_inverts_to_itself() -> None:
    """At the corners of the curve the inverse must not fall to the neighbouring segment."""
    for place in range(6):
        epsilon = (11 - 2 * place) * Fraction(1, 4)
        delta = optimal_delta(Fraction(1, 4), count=11, epsilon=epsilon)
        found = optimal_epsilon(Fraction(1, 4), count=11, delta=delta)
        assert abs(found - epsilon) < CLOSE
        assert optimal_delta(Fraction(1, 4), count=11, epsilon=Fraction(found)) <= delta * ROUNDED_TWICE


small_laws = st.lists(st.integers(1, 12), min_size=3, max_size=3).map(
    lambda weights: [Fraction(weight, sum(weights)) for weight in weights]
)


def balls(law: Sequence[Fraction]) -> Masses:
    return {place: ball(mass) for place, mass in enumerate(law)}


def loss_at(left: Sequence[Fraction], right: Sequence[Fraction], epsilon: Fraction) -> Approx:
    """What this mechanism keeps at an ε, both ways."""
    ways = [hockey_stick(balls(one), balls(other), epsilon)[1] for one, other in ((left, right), (right, left))]
    return Approx(epsilon, min(Fraction(1), Fraction(max(ways))))


@settings(deadline=None, max_examples=examples(30))
@given(small_laws, small_laws, st.lists(st.tuples(small_laws, small_laws), min_size=3, max_size=3))
def test_no_adaptive_composition_exceeds_the_optimal_one(
    first: list[Fraction], second: list[Fraction], later: list[tuple[list[Fraction], list[Fraction]]]
) -> None:
    """The second mechanism is chosen by the first answer; its loss is the worst of the three that may be chosen."""
    price = Fraction(2, 5)
    one = loss_at(first, second, price)
    two = Approx(price, max(loss_at(*pair, price).delta for pair in later))
    left = {(a, b): ball(first[a] * later[a][0][b]) for a in range(3) for b in range(3)}
    right = {(a, b): ball(second[a] * later[a][1][b]) for a in range(3) for b in range(3)}
    for epsilon in (Fraction(0), Fraction(1, 5), Fraction(2, 5), Fraction(7, 10)):
        claimed = mixed_delta([one, two], epsilon=epsilon)
        assert hockey_stick(left, right, epsilon)[0] <= claimed
        assert hockey_stick(right, left, epsilon)[0] <= claimed


def misprinted_epsilon(epsilon: float, count: int, slack: float) -> float:
    """The drift as one text prints it (E1-19): e^(ε+1) where e^ε + 1 belongs."""
    root = epsilon * math.sqrt(2 * count * math.log(1 / slack))
    return root + count * epsilon * math.expm1(epsilon) / math.exp(epsilon + 1)


@pytest.mark.parametrize(
    ("epsilon", "count", "slack"), [("0.1", 100, "1e-6"), ("1", 30, "1e-3"), ("3", 20, "0.5"), ("0.01", 5000, "1e-12")]
)
def test_advanced_composition_covers_the_worst_mechanisms(epsilon: str, count: int, slack: str) -> None:
    claimed = advanced_composition([Pure(epsilon)] * count, slack=slack)
    assert optimal_delta(epsilon, count=count, epsilon=Fraction(claimed.epsilon)) <= claimed.delta
    assert claimed.epsilon <= classic_advanced_epsilon(epsilon, count=count, slack=slack)


def test_the_misprinted_constant_promises_too_much() -> None:
    printed = misprinted_epsilon(3, 20, 0.5)
    assert printed < optimal_epsilon(3, count=20, delta=Fraction(1, 2)) < 60
    assert optimal_delta(3, count=20, epsilon=Fraction(printed)) > Fraction(98, 100)


def test_A1_123_advanced_composition() -> None:
    losses = [Pure("0.1")] * 100
    assert basic_composition(losses) == Approx(10, 0)
    assert round(float(classic_advanced_epsilon("0.1", count=100, slack="1e-6")), 6) == 6.308231
    tighter = advanced_composition(losses, slack="1e-6")
    assert round(float(tighter.epsilon), 6) == 5.756106
    assert tighter.delta == Fraction(1, 10**6)
    assert round(misprinted_epsilon(0.1, 100, 1e-6), 6) == 5.606605
    assert tighter.epsilon > Fraction("5.7")


def test_A1_124_advanced_composition_of_a_thousand() -> None:
    assert basic_composition([Pure("0.1")] * 1000).epsilon == 100
    assert round(float(classic_advanced_epsilon("0.1", count=1000, slack="1e-6")), 5) == 27.13967
    assert round(float(advanced_composition([Pure("0.1")] * 1000, slack="1e-6").epsilon), 5) == 21.61842


def test_A1_121_basic_composition() -> None:
    assert basic_composition([Approx("0.1", "1e-6"), Approx("0.2", "2e-6")]) == Approx("0.3", "3e-6")
    assert basic_composition([]) == Approx(0, 0)


def test_A1_122_basic_wins_for_two_small_losses() -> None:
    """Truncated Laplace mean and variance: the classic formula with the largest of each, against the sum."""
    losses = [Approx("0.01", Fraction("2.28149e-7"))] * 2
    assert round(float(classic_advanced_epsilon("0.01", count=2, slack="1e-7")), 7) == 0.0804957
    assert basic_composition(losses).epsilon == Fraction("0.02")
    assert round(float(basic_composition(losses).delta), 12) == 4.56298e-7
    assert advanced_composition(losses, slack="1e-7") == basic_composition(losses)


@pytest.mark.parametrize(("epsilon", "first"), [("0.01", 29), ("0.1", 35)])
def test_A1_125_where_advanced_starts_to_win(epsilon: str, first: int) -> None:
    def wins(count: int) -> bool:
        return classic_advanced_epsilon(epsilon, count=count, slack="1e-6") < count * Fraction(epsilon)

    assert wins(first)
    assert not wins(first - 1)


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(st.tuples(st.fractions(0, 2), st.fractions(0, 1)), min_size=1, max_size=6), st.fractions("1e-9", "0.5"))
def test_advanced_is_never_worse_than_basic_and_optimal_never_worse_than_advanced(
    pairs: list[tuple[Fraction, Fraction]], slack: Fraction
) -> None:
    losses = [Approx(epsilon.limit_denominator(20), delta / 10) for epsilon, delta in pairs]
    advanced, basic = advanced_composition(losses, slack=slack), basic_composition(losses)
    assert advanced.epsilon <= basic.epsilon
    best = mixed_epsilon(losses, delta=advanced.delta)
    assert best <= advanced.epsilon + CLOSE
    assert mixed_delta(losses, epsilon=advanced.epsilon) <= advanced.delta + CLOSE


@settings(deadline=None, max_examples=examples(30))
@given(small_laws, small_laws, small_laws, small_laws, st.fractions(0, 1))
def test_P1_127_a_public_draw_among_mechanisms(
    a: list[Fraction], b: list[Fraction], c: list[Fraction], d: list[Fraction], weight: Fraction
) -> None:
    price = Fraction(1, 4)
    losses = [loss_at(a, b, price), loss_at(c, d, price)]
    claimed = mixture_of_losses(losses, weights=[weight, 1 - weight])
    hidden = [
        {place: ball(weight * one[place] + (1 - weight) * other[place]) for place in range(3)}
        for one, other in ((a, c), (b, d))
    ]
    shown = [
        {("one", place): ball(weight * one[place]) for place in range(3)}
        | {("two", place): ball((1 - weight) * other[place]) for place in range(3)}
        for one, other in ((a, c), (b, d))
    ]
    assert claimed.within(Approx(price, max(loss.delta for loss in losses)))
    assert hockey_stick(hidden[0], hidden[1], price)[0] <= claimed.delta
    low, high = hockey_stick(shown[0], shown[1], price)
    other_low, other_high = hockey_stick(shown[1], shown[0], price)
    assert max(low, other_low) <= claimed.delta
    # Each loss is the worse of two directions, which need not be the same for both mechanisms.
    assert claimed.delta <= high + other_high + CLOSE


def test_one_mechanism_keeps_its_own_loss() -> None:
    assert optimal_epsilon(1, count=1, delta="0.001", delta0="0.001") == 1
    assert optimal_epsilon(1, count=1, delta="0.0009", delta0="0.001") == math.inf
    assert optimal_delta(1, count=1, epsilon=1, delta0="0.001") == Fraction("0.001")
    assert optimal_delta(1, count=0, epsilon=0, delta0=1) == 0
    assert optimal_epsilon(1, count=3, delta=1, delta0=1) == 0
    assert mixed_epsilon([Pure(math.inf)], delta="0.5") == math.inf
    assert mixed_epsilon([Pure(math.inf)], delta=1) == 0
    assert mixed_delta([Pure(math.inf)], epsilon=3) == 1
    assert mixed_delta([], epsilon=0) == mixed_epsilon([], delta=0) == 0


def test_large_and_small_numbers_of_every_kind() -> None:
    """Far out, where floats underflow or cancel, the two functions still invert each other."""
    for epsilon, count, delta in [("1e-20", 101, "1e-22"), ("0.01", 100_000, "1e-30"), ("1", 300, "1e-60")]:
        found = optimal_epsilon(epsilon, count=count, delta=delta)
        least = optimal_delta(epsilon, count=count, epsilon=Fraction(found))
        assert Fraction(delta) * Fraction("0.999999") < least <= Fraction(delta) * ROUNDED_TWICE


def test_many_small_losses_tend_to_a_gaussian() -> None:
    """A million million responses with ε₀√k = 1 are nearly one Gaussian with μ = 1."""
    limit = gaussian_epsilon("1e-6", scale=1)
    for power in (8, 12, 18):
        found = optimal_epsilon(Fraction(1, 10 ** (power // 2)), count=10**power, delta="1e-6")
        assert abs(found - limit) < Fraction(1, 10**6)
    for count, epsilon in ((10**8, "0.1"), (10**9, "5"), (3 * 10**7, "1e-5")):
        found = optimal_epsilon(epsilon, count=count, delta="1e-6")
        least = optimal_delta(epsilon, count=count, epsilon=Fraction(found))
        assert Fraction("0.999999e-6") < least <= Fraction("1e-6") * ROUNDED_TWICE
    assert optimal_epsilon("1e-300", count=10**12, delta="1e-6") == 0
    assert optimal_epsilon("0.1", count=10**9, delta="0.5", delta0="1e-10") < 10**7


@pytest.mark.parametrize(("count", "last"), [(40_000, 19_000), (40_000, 20_000), (10**6, 475_000), (10**6, 499_900)])
@pytest.mark.parametrize("step", ["0.1", "0.001", "1e-9"])
def test_the_integral_is_the_sum(count: int, last: int, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to a tail enclose the same number, sharply."""
    for bits in (128, 400):
        with precision(bits + 2 * count.bit_length() + 16):
            for odds in (ball(Fraction(step)).exp(), ball(-Fraction(step)).exp()):
                fast = lower_sum(odds, count, last, bits)
                with monkeypatch.context() as patched:
                    patched.setattr(binomial_sums, "FEW", count)
                    slow = lower_sum(odds, count, last, bits)
                assert fast.overlaps(slow)
                assert min(fast.rel_accuracy_bits(), slow.rel_accuracy_bits()) > bits - 16


def test_all_terms_of_a_tail_add_up_to_one() -> None:
    with precision(256):
        assert lower_sum(arb(2), 50, 50, 128) == 1
        assert abs(lower_sum(arb(2), 50, 49, 128) - 1 + arb(3) ** -50) < arb(2) ** -120


def test_losses_beyond_what_balls_hold() -> None:
    huge = [Pure(1e300)] * 3
    assert mixed_delta(huge, epsilon=5) == 1
    assert mixed_epsilon(huge, delta="0.1") == 3 * Fraction(10) ** 300
    assert mixed_delta([*huge, Pure(1)], epsilon=5) == 1
    assert mixed_epsilon([Pure(10**400), Pure(math.inf)], delta="0.1") == math.inf
    assert basic_composition([Pure(10**400), Pure(math.inf)]) == Approx(math.inf, 0)


def test_open_answers_of_many_mechanisms() -> None:
    """Where (1 − δ₀)^k takes too many digits, balls give the same, rounded to the safe side."""
    leak = Fraction(1, 3**20)
    exact = 1 - (1 - leak) ** 5000
    rounded = optimal_delta("0.01", count=5000, epsilon=50, delta0=leak)
    assert exact <= rounded < exact + CLOSE
    assert mixed_delta([Approx("0.01", leak)] * 5000, epsilon=50) == rounded
    assert optimal_epsilon("0.01", count=5000, delta=exact * Fraction("0.9999"), delta0=leak) == math.inf
    below = optimal_epsilon("0.01", count=5000, delta=exact + Fraction(1, 10**6), delta0=leak)
    without = optimal_epsilon("0.01", count=5000, delta=Fraction(1, 10**6))
    assert abs(below - without) < Fraction(1, 10**4)
    assert optimal_delta(1, count=2, epsilon=0, delta0=1) == 1
    assert mixed_delta([Approx(1, 1)] + [Approx(1, leak)] * 5000, epsilon=1) == 1


def test_infinite_and_empty_losses_in_the_closed_forms() -> None:
    assert advanced_composition([Pure(math.inf)], slack="0.1").epsilon == math.inf
    assert classic_advanced_epsilon(0, count=5, slack="0.1") == 0
    assert advanced_composition([], slack="0.1") == Approx(0, 0)


def test_too_many_different_losses_point_to_distributions() -> None:
    losses = [Pure(Fraction(1, prime)) for prime in (101, 103, 107, 109, 113, 127, 131, 137, 139, 149)] * 40
    with pytest.raises(NoProvenRoute, match="PLD"):
        mixed_delta(losses, epsilon=1)


@pytest.mark.parametrize("bad", [-1, math.nan, math.inf, True, "many", None])
def test_bad_numbers_are_refused(bad: object) -> None:
    with pytest.raises(BadArgument):
        optimal_delta(bad, count=2, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(BadArgument):
        optimal_epsilon("0.1", count=2, delta=bad)  # type: ignore[arg-type]
    with pytest.raises(BadArgument):
        optimal_delta("0.1", count=bad, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(BadArgument):
        advanced_composition([Pure(1)], slack=bad)  # type: ignore[arg-type]
    with pytest.raises(BadArgument):
        classic_advanced_epsilon(bad, count=2, slack="1e-6")  # type: ignore[arg-type]


def test_bad_lists_are_refused() -> None:
    for losses in (Pure(1), [ZCDP(1)], [1.0], "Pure"):
        with pytest.raises(BadArgument, match="Pure or Approx"):
            basic_composition(losses)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="slack"):
        advanced_composition([Pure(1)], slack=0)
    with pytest.raises(BadArgument, match="adding up to 1"):
        mixture_of_losses([Pure(1), Pure(2)], weights=["0.5", "0.4"])
    with pytest.raises(BadArgument, match="a list"):
        mixture_of_losses([Pure(1)], weights=5)  # type: ignore[arg-type]

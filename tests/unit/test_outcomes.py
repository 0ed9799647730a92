"""What one outcome gives away, bad outcomes, best combinations, and the inequalities behind Rényi divergences."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.audit.brute_force import brute_delta, brute_tail
from sfumato.errors import BadArgument, NotInDomain

NEAR = sf.scalar(int) >> sf.laplace(scale=1)


def test_A1_076_privacy_loss_of_an_outcome() -> None:
    """P1-065: positive favours the first, negative misleads."""
    found = [sf.audit.privacy_loss(NEAR, y, here=10, there=11) for y in (7, 13)]
    assert [float(loss.upper) for loss in found] == pytest.approx([1, -1])
    chain = sf.vector(float, between=(0, 1)) >> sf.sum() >> sf.laplace(scale=1)
    assert 0.5 in sf.audit.privacy_loss(chain, 0.25, here=[0.5], there=[1.0])  # at values in the unit of the data
    assert sf.audit.privacy_loss(chain, 0.25, here=[0.5], there=[1.0]).width < 1e-30


def test_P1_065_impossible_outcomes() -> None:
    told = sf.mechanisms.matrix_mechanism([["0.5", "0.5", 0], [1, 0, 0]], inputs=["a", "b"], outputs=["x", "y", "z"])
    losses = [sf.audit.privacy_loss(told, output, here="a", there="b").upper for output in ("x", "y", "z")]
    assert losses[1:] == [math.inf, 0] and float(losses[0]) == pytest.approx(-math.log(2))
    assert sf.audit.privacy_loss(told, "y", here="b", there="a").upper == -math.inf
    with pytest.raises(NotInDomain):
        sf.audit.privacy_loss(told, "x", here="a", there="c")
    own = sf.measurement(
        sf.scalar(int), sf.Pure, function=lambda data, entropy: 0, map=lambda d: sf.Pure(d), claim=sf.claim("constant")
    )
    with pytest.raises(BadArgument, match="exact law"):
        sf.audit.privacy_loss(own, 0, here=0, there=1)


def test_P1_070_bad_outcomes_cost_their_probability() -> None:
    assert sf.meaning.outside_bad_outcomes(sf.Pure(1), "1e-6") == sf.Approx(1, "1e-6")
    assert sf.meaning.outside_bad_outcomes(sf.Approx(1, "1e-6"), "1e-6") == sf.Approx(1, "2e-6")
    assert sf.meaning.outside_bad_outcomes(sf.Approx(1, "0.7"), "0.7").delta == 1
    with pytest.raises(BadArgument):
        sf.meaning.outside_bad_outcomes(sf.ZCDP(1), 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2), Fraction(9, 10)])
def test_P1_070_the_tail_is_a_delta_and_not_the_least(epsilon: Fraction) -> None:
    members = range(3)
    low, high = brute_tail(NEAR, members, epsilon=epsilon, missed=Fraction(1, 10**9))
    assert high >= low > brute_delta(NEAR, members, epsilon=epsilon, missed=Fraction(1, 10**9))[1]
    exact = 1 / (1 + math.exp(-1))  # all outcomes on the near side have loss 1
    assert float(low) == pytest.approx(exact, abs=1e-8)
    assert brute_tail(NEAR, members, epsilon=Fraction(2), missed=Fraction(1, 10**9)) == (0, 0)


def test_P2_014_inverse_variance() -> None:
    assert sf.release.inverse_variance([12, 9], [1, 2]) == (11, Fraction(2, 3))
    assert sf.release.inverse_variance(["0.1"], ["0.3"]) == (Fraction(1, 10), Fraction(3, 10))
    branching, parent, children = 4, Fraction(9), Fraction(2)  # E2-04: b children, σ_p of the parent
    value, variance = sf.release.inverse_variance([100, 90], [parent, branching * children])
    weights = 1 / parent, 1 / (branching * children)
    assert value == (100 * weights[0] + 90 * weights[1]) / sum(weights) and variance == 1 / sum(weights)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sf.release.inverse_variance([], []),
        lambda: sf.release.inverse_variance([1], [0]),
        lambda: sf.release.inverse_variance([1], [-1]),
        lambda: sf.release.inverse_variance([1, 2], [1]),
        lambda: sf.release.combine(),
        lambda: sf.release.combine(NEAR(1).estimate().through(math.exp)),
    ],
)
def test_P2_014_what_cannot_be_combined(make: Callable[[], object]) -> None:
    with pytest.raises(BadArgument):
        make()


def test_P2_014_releases_combine_with_their_error() -> None:
    wide = sf.scalar(int) >> sf.laplace(scale=10)
    first, second = NEAR(100), wide(100)
    both = sf.release.combine(first, second)
    variances = [release.estimate().variance for release in (first, second)]
    assert both.variance == pytest.approx(1 / sum(1 / variance for variance in variances))
    assert variances[0] == pytest.approx(1.841347, abs=1e-6)  # of discrete Laplace noise at scale 1
    expected = sf.release.inverse_variance([first.value, second.value], variances)
    assert both.value == pytest.approx(float(expected[0]))
    assert both.interval() is not None
    children = wide(40).estimate() + wide(60).estimate()
    assert children.variance == pytest.approx(2 * variances[1])
    assert sf.release.combine(first, children).variance < variances[0]
    with pytest.raises(BadArgument, match="same noise"):
        sf.release.combine(first, first)


numbers = st.fractions(-20, 20, max_denominator=50)
orders = st.one_of(st.just(1), st.just(math.inf), st.fractions(Fraction(11, 10), 9, max_denominator=20))


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6), orders)
def test_P3_142_holder(pairs: list[tuple[Fraction, Fraction]], p: Fraction | float) -> None:
    f, g = zip(*pairs, strict=True)
    assert sf.textbook.holder_gap(f, g, p=p).upper >= 0


@given(
    st.fractions(0, 20, max_denominator=50), st.fractions(0, 20, max_denominator=50), st.fractions(Fraction(11, 10), 9)
)
def test_P3_142_young(a: Fraction, b: Fraction, p: Fraction) -> None:
    assert sf.textbook.young_gap(a, b, p=p).upper >= 0


def test_P3_142_equality_and_refusals() -> None:
    touching = sf.textbook.young_gap(4, 2, p=Fraction(3, 2))  # 4^1.5 = 2^3
    assert 0 in touching and touching.width < 1e-30
    assert 0 in sf.textbook.holder_gap([1, 2], [1, 4], p=3)
    for wrong in (lambda: sf.textbook.young_gap(1, 1, p=1), lambda: sf.textbook.holder_gap([], [], p=2)):
        with pytest.raises(BadArgument):
            wrong()

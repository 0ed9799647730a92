"""Profiles and trade-off curves as values: how they are read, printed and refused."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.accounting.losses.profile import Profile
from sfumato.accounting.losses.trade_off import TradeOff, gaussian_trade_off
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import root


def test_a_promise_implies_one_at_zero() -> None:
    profile = Profile.of(Pure(1))
    assert [epsilon for epsilon, _ in profile.points] == [0, 1]
    assert float(profile.delta(0)) == pytest.approx(math.tanh(0.5))
    assert profile.delta(0) >= Fraction(math.tanh(0.5))
    assert profile.delta(10) == 0


def test_what_follows_from_other_promises_is_left_out() -> None:
    assert Profile([(1, 0), (2, 0), (1, "0.5"), (3, "0.1")]) == Profile.of(Pure(1))
    loose = Profile([(0, "0.9"), (1, 0)])
    assert loose == Profile.of(Pure(1))


def test_epsilon_is_infinite_below_the_last_delta() -> None:
    profile = Profile.of(Approx(1, "1e-6"))
    assert profile.epsilon("1e-7") == math.inf
    assert profile.epsilon("1e-6") == 1
    assert profile.epsilon(1) == 0
    assert 0 < profile.epsilon("0.1") < 1


def test_an_infinite_epsilon_promises_nothing() -> None:
    profile = Profile.of(Approx(math.inf, 0))
    assert profile.delta(100) == 1
    assert profile.epsilon("0.999") == math.inf


def test_a_huge_epsilon_is_no_trouble() -> None:
    profile = Profile.of(Pure(10**30))
    assert profile.delta(1) <= 1
    assert profile.epsilon(0) == 10**30
    assert profile.then(profile).epsilon(0) == 2 * 10**30
    assert TradeOff.of(profile).at(0) == 0


def test_gaussian_profiles_take_roots() -> None:
    assert Profile.gaussian(root(2)).delta(1) > Profile.gaussian(1).delta(1)
    assert Profile.gaussian(0) == Profile.nothing()


def test_the_pair_of_a_profile_is_symmetric() -> None:
    pair = Profile([(1, "0.01"), (2, 0)]).pair()
    losses = [loss for loss, _ in pair.atoms]
    assert losses == sorted(losses)
    assert [-loss for loss in reversed(losses)] == losses
    assert sum(mass for _, mass in pair.atoms) + pair.infinite == 1


def test_printing() -> None:
    assert repr(Profile.of(Approx(0, "0.1"))) == "Profile([(0.0, 0.1)])"
    assert str(Profile.of(Approx(0, "0.1"))) == "δ = 0.1 at ε = 0 (profile)"
    assert str(Profile.of(Approx(2, "1e-6"))) == "δ = 0.761595 at ε = 0, to δ = 1e-06 at ε = 2 (profile)"
    assert "…" in repr(Profile.gaussian(1))
    assert repr(TradeOff([(0, 1), ("0.25", "0.25"), (1, 0)])) == "TradeOff([(0.0, 1.0), (0.25, 0.25), (1.0, 0.0)])"
    assert str(TradeOff.of(Pure(1))) == "misses ≥ 0.864 at 5 % false alarms (f-DP)"
    assert "…" in repr(TradeOff.gaussian(1))


@pytest.mark.parametrize(
    "points",
    [[], 5, "ab", [(1,)], [1], [(-1, 0)], [(1, 2)], [(1, -0.1)], [(math.nan, 0)], [(math.inf, 0)], [(True, 0)]],
)
def test_bad_promises_are_refused(points: object) -> None:
    with pytest.raises(BadArgument):
        Profile(points)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("corners", "why"),
    [
        ([], "from α = 0"),
        ([(0.5, 0.5), (1, 0)], "from α = 0"),
        ([(0, 1), (0.5, 0.2)], "down to β = 0"),
        ([(0, 1), (0.5, 0.6), (1, 0)], "convex"),
        ([(0, 0.5), (0.5, 0.4), (0.7, 0)], "convex"),
        ([(0, 0.9), (0.2, 0.1), (0.4, 0.3), (1, 0)], "convex"),
        ([(0, 1), (2, 0)], "between 0 and 1"),
        ([(0, 1), "ab"], "pairs"),
        (3, "from α = 0"),
    ],
)
def test_bad_corners_are_refused(corners: object, why: str) -> None:
    with pytest.raises(BadArgument, match=why):
        TradeOff(corners)  # type: ignore[arg-type]


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(BadArgument, match="epsilon"):
        Profile.nothing().delta(-1)
    with pytest.raises(BadArgument, match="delta"):
        Profile.nothing().epsilon(2)
    with pytest.raises(BadArgument, match="size"):
        Profile.nothing().group(0)
    with pytest.raises(BadArgument, match="count"):
        Profile.widest([Profile.nothing()], count=0)
    with pytest.raises(BadArgument, match="finite"):
        Profile.gaussian(math.inf)
    with pytest.raises(BadArgument, match="points"):
        TradeOff.gaussian(1, points=1)
    with pytest.raises(BadArgument, match="Pure or Approx"):
        Profile.of(ZCDP(1))  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="Profile"):
        TradeOff.of()
    with pytest.raises(BadArgument, match="false alarms"):
        TradeOff.nothing().at(2)


def test_kinds_do_not_mix() -> None:
    with pytest.raises(NoProvenRoute):
        Profile.nothing().then(TradeOff.nothing())  # type: ignore[arg-type]
    with pytest.raises(NoProvenRoute):
        TradeOff.nothing().within(Pure(1))  # type: ignore[arg-type]


def test_widest_of_nothing_and_of_ordered_parts() -> None:
    small, large = Profile.of(Pure(1)), Profile.of(Pure(2))
    assert Profile.widest([]) == Profile.nothing()
    assert Profile.widest([small, large]) == large
    assert Profile.widest([small, large, small], count=2) == large.then(small)
    assert Profile.widest([small, large], count=9) == small.then(large)
    assert TradeOff.widest([TradeOff.of(Pure(1)), TradeOff.of(Pure(2))]) == TradeOff.of(Pure(2))


def test_widest_of_crossing_profiles_is_near_their_largest() -> None:
    one, other = Profile.of(Approx("0.1", "0.3")), Profile.of(Pure(2))
    widest = Profile.widest([one, other])
    for step in range(40):
        at = Fraction(step, 16)
        largest = max(one.delta(at), other.delta(at))
        assert largest <= widest.delta(at) <= largest + Fraction(1, 10**9)


def test_large_groups_stay_sound_and_short() -> None:
    grouped = TradeOff.gaussian("0.1", points=12).group(40)
    assert len(grouped.points) <= 514
    assert 0 < float(grouped.at("0.01")) <= gaussian_trade_off(4)("0.01")

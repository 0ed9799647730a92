"""The parts behind brackets: lattice laws against the profiles they bound, hulls in rationals, searches, sketches."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb

from sfumato.accounting.pld.crossing import crossing
from sfumato.accounting.pld.evaluate import compose_on, planned, sketched
from sfumato.accounting.pld.lattice import Law, hull_masses, joined_masses, lattice_law, profile_values
from sfumato.accounting.pld.pairs.either import EitherPair, RangePair
from sfumato.accounting.pld.pairs.finite import ApproxPair, FinitePair, ResponsePair
from sfumato.accounting.pld.pairs.gaussian import ExchangedGaussianPair, GaussianPair
from sfumato.accounting.pld.pairs.integer import IntegerNoisePair
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.pld.pairs.pair import Line, Pair
from sfumato.accounting.pld.pairs.sampled import AddedPair, ExchangedPair, RemovedPair
from sfumato.accounting.pld.saddle_point import (
    MOST_CELLS,
    Sketch,
    Sketches,
    cells,
    reach,
    sketch,
    tilt_for_delta,
    tilt_for_epsilon,
)
from sfumato.accounting.pld.tilted_composition import infinite_mass, tilted
from sfumato.errors import BadArgument
from sfumato.exact import ball, endpoints, precision
from sfumato.noise import DiscreteGaussian, DiscreteLaplace

HALF, TENTH = Fraction(1, 2), Fraction(1, 10)
STEP = Fraction(1, 16)
UNEVEN = sorted({0, *range(-200, 200, 8), *range(-40, 41), *range(-400, 401, 50)})
EVEN = list(range(-40, 41))

LATTICES: dict[str, tuple[Pair, list[int], dict[str, bool]]] = {
    "gaussian": (GaussianPair(1), UNEVEN, {}),
    "sharp gaussian": (GaussianPair(16), UNEVEN, {}),
    "range": (RangePair(1), UNEVEN, {}),
    "removed": (RemovedPair(GaussianPair(1), TENTH), UNEVEN, {}),
    "added": (AddedPair(GaussianPair(1), TENTH), UNEVEN, {}),
    "exchanged": (ExchangedGaussianPair(1, TENTH), UNEVEN, {}),
    "exchanged sample": (ExchangedPair(GaussianPair(1), TENTH), UNEVEN, {}),
    "too short": (GaussianPair(1), [-3, -1, 0, 2, 3], {}),
    "laplace": (LaplacePair(1), UNEVEN, {"anchored": True}),
    "laplace between": (LaplacePair(Fraction(9, 10)), EVEN, {}),
    "coin": (ResponsePair(1), list(range(-48, 49, 16)), {"aligned": True}),
    "options": (ResponsePair(HALF, 5), list(range(-24, 25, 8)), {"aligned": True}),
    "leak": (ApproxPair(1, TENTH), list(range(-48, 49, 16)), {"aligned": True}),
    "noise": (IntegerNoisePair(DiscreteLaplace(Fraction(4)), 2), list(range(-16, 17, 8)), {"aligned": True}),
    "bell": (IntegerNoisePair(DiscreteGaussian(Fraction(2)), 1), EVEN, {}),
    "coin between": (ResponsePair(Fraction(4, 5)), EVEN, {}),
    "sampled coin": (RemovedPair(ResponsePair(1), Fraction(1, 3)), EVEN, {}),
    "listed": (FinitePair(((-1, "0.2"), ("0.3", "0.3"), ("1.5", "0.4")), TENTH), EVEN, {}),
    "either": (EitherPair((ResponsePair(1), ApproxPair("0.3", TENTH))), EVEN, {}),
}


def profile(masses: list[arb], losses: list[arb], infinite: arb, x: arb) -> arb:
    """The definition: what lies at infinity, and p·max(0, 1 − x/exp(ℓ)) for every loss."""
    return infinite + sum(
        (mass * (1 - x * (-loss).exp()).max(arb(0)) for mass, loss in zip(masses, losses, strict=True)), arb(0)
    )


def true_profile(pair: Pair, loss: Fraction) -> arb:
    line, x = pair.lines()(ball(loss)), ball(loss).exp()
    return (line.here - x * line.there).max(arb(0)).max(1 - x)


def asked(step: Fraction) -> list[Fraction]:
    """Losses on lattice points, just beside them, between and beyond them."""
    near = [step * place + shift for place in (-45, -16, -1, 0, 1, 8, 16, 17, 40) for shift in (0, Fraction(1, 10**9))]
    return [*near, *(step * place / 3 for place in range(-70, 130, 13)), Fraction(30)]


@pytest.mark.parametrize("name", LATTICES)
def test_lattice_laws_lie_on_both_sides_of_the_pair(name: str) -> None:
    pair, places, how = LATTICES[name]
    with precision(128):
        law = lattice_law(pair, places, STEP, **how)
    with precision(256):
        losses = [ball(STEP * place) for place in law.places]
        close = noticed = 0
        for loss in asked(STEP):
            x, true = ball(loss).exp(), true_profile(pair, loss)
            above = profile(law.above, losses, law.infinite[0], x)
            below = profile(law.below, losses, law.infinite[1], x) - law.short
            assert not above < true
            assert not below > (true if law.exact else spread(pair, loss))
            close += bool(above - below < arb("0.02"))
            weaker = profile([mass * 99 / 100 for mass in law.above], losses, law.infinite[0] * 0, x)
            noticed += bool(weaker < true)
        assert name == "too short" or close > 20
        assert noticed > 5, "a law with a hundredth less mass is no bound"
        whole = sum(law.above, arb(0)) + law.infinite[0]
        assert whole > 1 - arb(2) ** -70 and sum(law.below, arb(0)) + law.infinite[1] < 1 + arb(2) ** -70


def spread(pair: Pair, loss: Fraction) -> arb:
    """The profile averaged over one coin of a step: what a law between lattice points is compared with from below."""
    up = 1 / (1 + (-ball(STEP)).exp())
    return up * true_profile(pair, loss - STEP) + (1 - up) * true_profile(pair, loss + STEP)


def test_a_law_needs_three_places() -> None:
    with pytest.raises(BadArgument, match="three or more"):
        lattice_law(GaussianPair(1), [0, 1], STEP)


RATIOS = [Fraction(1, 8), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(4), Fraction(100)]
MASSES = [Fraction(part, 20) for part in (1, 3, 4, 5, 2, 3)]


def test_joined_masses_are_those_of_a_law_on_the_points() -> None:
    """A law that sits on the points is found again, from its profile alone."""
    rest = 1 - sum(MASSES)

    def height(x: Fraction) -> Fraction:
        return rest + sum(p * max(Fraction(0), 1 - x / r) for p, r in zip(MASSES, RATIOS, strict=True))

    with precision(128):
        ratios = [ball(ratio) for ratio in RATIOS]
        found = joined_masses([ball(height(ratio)) for ratio in RATIOS], ratios)
        assert all(abs(mass - ball(true)) < arb(2) ** -100 for mass, true in zip(found, MASSES, strict=True))
        assert height(RATIOS[-1]) == rest


def test_values_of_a_profile_are_never_below_the_trivial_tests() -> None:
    with precision(128):
        ratios = [ball(ratio) for ratio in RATIOS]
        nothing = profile_values([Line(arb(0), arb(0))] * len(ratios), ratios)
        for value, ratio in zip(nothing, RATIOS, strict=True):
            low, high = endpoints(value)
            assert low <= max(Fraction(0), 1 - ratio) <= high and high - low < Fraction(1, 10**25)


@pytest.mark.parametrize("seed", range(8))
def test_the_hull_is_below_all_points_and_is_convex(seed: int) -> None:
    """Random points between the two trivial profiles; the hull is worked out again in rationals, by its definition."""
    draw = np.random.default_rng(seed)
    ratios = [Fraction(int(place), 16) for place in sorted(draw.choice(np.arange(1, 200), 12, replace=False))]
    ratios = sorted({*ratios, Fraction(1)})
    trivial = [max(Fraction(0), 1 - ratio) for ratio in ratios]
    lifts = [Fraction(int(part), 64) for part in draw.integers(0, 64, len(ratios))]
    points = [least + (1 - least) * lift for least, lift in zip(trivial, lifts, strict=True)]
    points[0], points[-1] = trivial[0], Fraction(0)
    with precision(128):
        found, short = hull_masses([ball(point) for point in points], [ball(ratio) for ratio in ratios])
        masses = [Fraction(endpoints(mass)[0]) for mass in found]
        gap = Fraction(endpoints(short)[1])

    def height(x: Fraction) -> Fraction:
        return sum((p * max(Fraction(0), 1 - x / r) for p, r in zip(masses, ratios, strict=True)), Fraction(0)) - gap

    assert 0 <= gap < Fraction(1, 10**30) and all(mass >= 0 for mass in masses)
    for x, point in zip(ratios, points, strict=True):
        hull = min(
            (b * (x - r) + a * (s - x)) / (s - r) if s > r else a
            for a, r in zip(points, ratios, strict=True)
            for b, s in zip(points, ratios, strict=True)
            if r <= x <= s and (r < s or r == x)
        )
        assert height(x) <= hull <= point
        assert hull - height(x) < Fraction(1, 10**30)


def test_tilted_laws_are_rounded_to_the_safe_side() -> None:
    with precision(128):
        law = lattice_law(GaussianPair(1), UNEVEN, STEP)
        rate = ball(Fraction(3, 7))
        piece, log = tilted(law, count=3, rate=rate, known={})
        assert piece.count == 3 and piece.first == law.places[0]
        assert piece.above.size == law.places[-1] - law.places[0] + 1
        for place, most, least in zip(law.places, law.above, law.below, strict=True):
            grown = (rate * place).exp() / log.exp()
            high, low = arb(float(piece.above[place - piece.first])), arb(float(piece.below[place - piece.first]))
            assert not high < most * grown and not low > least * grown
            assert high <= most * grown * (1 + 1e-15) + 1e-320
        listed = set(law.places)
        assert all(piece.above[place - piece.first] == 0 for place in range(-400, 401) if place not in listed)
        assert float(np.sum(piece.above)) == pytest.approx(1)


def test_infinite_mass_is_the_chance_of_any() -> None:
    chances = [(Fraction(1, 12), 5), (Fraction(1, 7), 2), (Fraction(0), 3)]
    with precision(128):
        laws = [
            (Law([0], [ball(1 - p)], [ball(1 - p)], (ball(p), ball(p)), arb(0), exact=True), count)
            for p, count in chances
        ]
        truth = 1 - math.prod((1 - p) ** count for p, count in chances)
        for found in infinite_mass(laws):
            assert abs(found - ball(truth)) < arb(2) ** -100


def two_points(count: int = 1) -> Sketch:
    return Sketch(np.array([-1.0, 1.0]), np.array([0.25, 0.75]), count)


def test_sketches_know_their_moments() -> None:
    sketches = Sketches([two_points(3), Sketch(np.array([-2.0, 0.0, 0.5]), np.array([0.1, 0.5, 0.4]), 2)])
    for tilt in (0.0, 0.7, 5.0):
        value, mean, spread_ = sketches.log_moment(tilt)
        direct = 3 * math.log(0.25 * math.exp(-tilt) + 0.75 * math.exp(tilt)) + 2 * math.log(
            0.1 * math.exp(-2 * tilt) + 0.5 + 0.4 * math.exp(tilt / 2)
        )
        assert value == pytest.approx(direct)
        near, far = (sketches.log_moment(tilt + shift)[0] for shift in (-1e-4, 1e-4))
        assert mean == pytest.approx((far - near) / 2e-4, rel=1e-5)
        assert spread_ == pytest.approx((far + near - 2 * value) / 1e-8, rel=1e-2)
        assert sum(sketches.shares(tilt)) == pytest.approx(1)
    assert (sketches.end(1), sketches.end(-1), sketches.widest()) == (4.0, -7.0, 2.5)


def test_tilts_put_the_mean_where_the_question_is() -> None:
    with precision(64):
        sketches = Sketches([sketch(GaussianPair(Fraction(1, 100)), 400, 1e-30)])
    assert sketches.log_moment(0.0)[1] == pytest.approx(2.0, rel=0.02)
    for epsilon in (4.0, 10.0):
        assert sketches.log_moment(tilt_for_epsilon(sketches, epsilon))[1] == pytest.approx(epsilon, rel=0.05)
    tilts = [tilt_for_delta(sketches, delta) for delta in (1e-3, 1e-6, 1e-12)]
    assert tilts == sorted(tilts) and tilts[0] < tilts[-1]
    below, above = (reach(sketches, 1.0, sign=sign) for sign in (-1, 1))
    assert above[1] > 0 > below[1] and 5 < above[0] / 2 < 9 and 5 < below[0] / 2 < 9
    whole = Sketches([two_points(2)])
    assert reach(whole, 0.0, sign=1) == (pytest.approx(1.0), 0.0)  # the mean is 1, and the largest loss 2


@pytest.mark.parametrize("added", [1e-2, 1e-4, 1e-6])
def test_cells_rise_and_cover_the_law(added: float) -> None:
    with precision(64):
        part = sketch(RemovedPair(GaussianPair(1), TENTH), 1, 1e-20)
    step = 1e-4
    places = cells(part, 2.0, added, step)
    assert all(left < right for left, right in pairwise(places)) and len(places) <= MOST_CELLS
    assert places[0] * step <= part.losses[0] and places[-1] * step >= part.losses[-1]
    assert all((right - left).bit_count() == 1 for left, right in list(pairwise(places))[:-1])
    assert added > 1e-3 or len(places) > len(cells(part, 2.0, 10 * added, step))


SEARCHED: list[tuple[str, Callable[[Fraction], Fraction], float]] = [
    ("smooth", lambda epsilon: Fraction(math.exp(-float(epsilon))), -math.log(1e-3)),
    ("steps", lambda epsilon: Fraction(1, 2 ** math.floor(epsilon)), 10.0),
    ("cliff", lambda epsilon: Fraction(1) if epsilon < Fraction(7, 3) else Fraction(0), 7 / 3),
]


@pytest.mark.parametrize(("bound", "truth"), [case[1:] for case in SEARCHED], ids=[case[0] for case in SEARCHED])
@pytest.mark.parametrize("start", [0.0, 2.0, 30.0])
def test_the_search_ends_on_both_sides(bound: Callable[[Fraction], Fraction], truth: float, start: float) -> None:
    delta = Fraction(1, 1000)
    left, right = crossing(bound, delta, start=start, scale=1.0)
    assert bound(Fraction(left)) > delta >= bound(Fraction(right))
    assert left - 1e-9 <= truth <= right + 1e-9 and right - left < 1e-7


def test_the_search_says_where_there_is_no_end() -> None:
    assert crossing(lambda _: Fraction(1), HALF, start=1.0, scale=1.0)[1] == math.inf
    assert crossing(lambda _: Fraction(0), HALF, start=1.0, scale=1.0) == (0, 0)
    assert crossing(lambda _: Fraction(0), HALF, start=0.0, scale=1.0) == (0, 0)


@pytest.mark.parametrize("tilt", [0.01, 1.0, 8.0])
@pytest.mark.parametrize("width", [1e-1, 1e-3])
def test_a_poor_plan_makes_brackets_wide_but_never_wrong(tilt: float, width: float) -> None:
    """Steering is not certified: whatever tilt and lattice are chosen, the exact δ is enclosed."""
    composition = [(ResponsePair(Fraction(2, 7)), 6), (GaussianPair(HALF), 1)]
    good = sketched(composition, 1e-6)
    fine = compose_on(composition, good, planned(good, composition, 2.0, 1e-6))
    poor = compose_on(composition, good, planned(good, composition, tilt, width))
    for epsilon in (Fraction(0), Fraction(1), Fraction(5, 2)):
        assert poor.below(epsilon) <= fine.above(epsilon) and fine.below(epsilon) <= poor.above(epsilon)
        assert fine.above(epsilon) - fine.below(epsilon) < 1e-4

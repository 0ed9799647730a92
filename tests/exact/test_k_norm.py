"""Noise on whole vectors: its law summed up point by point, its sampler proposal by proposal, and the claimed loss."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import final

import numpy as np
import pytest
from flint import arb

from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.audit.brute_force import brute_delta, brute_epsilon
from sfumato.core.domains import Integers, Vector
from sfumato.core.metrics import L1, LInf
from sfumato.core.pieces import PiecewiseLInf
from sfumato.core.space import Space, scalar, vector
from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import BadArgument, NoProvenRoute, NotNoisable
from sfumato.exact import ball, precision, root
from sfumato.mechanisms.additive import laplace
from sfumato.mechanisms.cube import coordinate_variances, k_norm, noise_of_pieces
from sfumato.noise.cube import SMOOTH, Cube, draw_radius, envelope, power_sum
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.distribution import enclosure

pytestmark = pytest.mark.sharp_balls

TINY = Fraction(1, 10**15)
SCALES = [Fraction(1, 3), Fraction(1), Fraction(5, 2)]


def summed(scale: Fraction, power: int, start: int) -> arb:
    """The sum of powers term by term, all but 10⁻³⁰ of it."""
    return sum((ball(r + Fraction(1, 2)) ** power * ball(-r / scale).exp() for r in range(start, start + 900)), arb(0))


@pytest.mark.parametrize("scale", [Fraction(1, 50), Fraction(99, 100), Fraction(SMOOTH), Fraction(7, 3), Fraction(5)])
def test_sums_of_powers_are_the_sums(scale: Fraction) -> None:
    """On both sides of the scale from which sums are integrals: a wrong correction would be off by more than 10⁻¹²."""
    for power, start in itertools.product((0, 1, 2, 7, 30), (0, 1, 9)):
        with precision(128):
            quick, slow = power_sum(scale, power, start), summed(scale, power, start)
            assert abs(quick / slow - 1) < arb(10) ** -25


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_law_is_what_the_norms_weigh(scale: Fraction, size: int) -> None:
    """Vectors counted by their norm: masses, both tails, and the variance of a coordinate."""
    noise, reach = Cube(scale, size), range(250)
    with precision(128):
        weight = [ball(-n / scale).exp() for n in reach]
        norms = [weight[n] * ((2 * n + 1) ** size - max(2 * n - 1, 0) ** size) for n in reach]
        whole = sum(norms, arb(0))
        # P(Z₁ = z): the norm is |z| and the others are free, or it is n > |z| and some other one is ±n
        others = [weight[n] * ((2 * n + 1) ** (size - 1) - abs(2 * n - 1) ** (size - 1)) for n in reach]
        beyond = [sum(others[z + 1 :], arb(0)) for z in reach]
        first = [(weight[z] * (2 * z + 1) ** (size - 1) + beyond[z]) / whole for z in reach]
        close = arb(10) ** -25
        for t in (1, 2, 5):
            assert abs(noise.pmf(t) - weight[t] / whole) < close
            assert abs(noise.tail(t) - sum(norms[t:], arb(0)) / whole) < close
            assert abs(noise.coordinate_tail(t) - 2 * sum(first[t:], arb(0))) < close
        assert abs(noise.variance() - 2 * sum((z * z * first[z] for z in reach), arb(0))) < close


@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(95, 100), 1 - Fraction(1, 10**9)])
@pytest.mark.parametrize(
    "noise", [Cube(Fraction(1, 2), 3), Cube(Fraction(4), 66), Cube(Fraction(2**40), 1000)], ids=repr
)
def test_half_widths_are_the_least(noise: Cube, confidence: Fraction) -> None:
    for width, tail in (
        (noise.half_width(confidence), noise.tail),
        (noise.coordinate_half_width(confidence), noise.coordinate_tail),
    ):
        assert enclosure(tail(width + 1, bits=256))[1] <= 1 - confidence
        assert width == 0 or enclosure(tail(width, bits=256))[0] > 1 - confidence


@final
class Told(Entropy):
    """Gives a stated place, stated coins, and then a stated word to accept by."""

    def __init__(self, place: int, coins: int, word: int) -> None:
        self._place, self._coins, self._word = place, [1] * coins + [0], word
        self.asked = 0

    replayable, drawn = True, 0

    def octets(self, count: int) -> bytes:
        raise NotImplementedError

    def below(self, bound: int) -> int:
        self.asked += 1
        if self.asked > 1:
            raise StopIteration  # it was rejected, and another place is asked for
        return self._place

    def bits(self, count: int) -> int:
        return self._coins.pop(0) if count == 1 else self._word


@pytest.mark.parametrize(("scale", "size"), [("1/3", 2), ("2", 1), ("1", 7), ("1/10", 66), ("30", 3)])
def test_each_radius_is_proposed_once_and_accepted_as_it_should(scale: str, size: int) -> None:
    """Every place and number of coins: the chance of a proposal times that of accepting it is in proportion to P(r)."""
    around = envelope(Fraction(scale), size)
    centre = around.left + around.right - 1
    ways, seen = Counter[int](), 0
    for place in range(2 * centre + 1):
        for coins in [0] if place < centre else range(3):
            try:
                radius = draw_radius(around, Told(place, coins, 0))
            except StopIteration:
                continue  # below 0
            ways[radius] += 1
            halvings = 0 if place < centre else coins + 1
            with precision(256):
                ratio = ball(Fraction(2 * radius + 1, 2 * around.mode + 1)) ** size
                chance = 2**halvings * ratio * ball((around.mode - radius) / Fraction(scale)).exp()
                assert not chance > 1
                word = int((chance * arb(2) ** 64).floor().unique_fmpz())
            if 2 < word < 2**64 - 2:
                seen += 1
                assert draw_radius(around, Told(place, coins, word - 1)) == radius
                with pytest.raises(StopIteration):
                    draw_radius(around, Told(place, coins, word + 1))
    assert set(ways.values()) == {1} and seen > 2
    assert set(ways) >= set(range(max(0, around.mode - 4 * around.left + 1), around.mode + 4 * around.right))
    with precision(128):
        accepted = sum((around.height(r).exp() for r in range(around.mode + 40 * around.right)), arb(0)) / (
            2 * centre + 1
        )
    assert accepted > arb(1) / 9


@pytest.mark.parametrize(("size", "scale"), [(1, "3"), (2, "1"), (3, "1/2")])
def test_the_loss_is_sound_and_tight(size: int, scale: str) -> None:
    """All neighbours in L∞, where up to every coordinate moves; a loss by L1 would be ``size`` times too large."""
    measurement = vector(int, size=size, metric=LInf()) >> k_norm(scale=Fraction(scale))
    members = [*itertools.product(range(2), repeat=size), (2,) * size]
    for distance in (1, 2):
        low, high = brute_epsilon(measurement, members, d_in=distance, missed=Fraction(1, 2))
        claimed = distance / Fraction(scale)
        assert measurement.map(distance) == Pure(claimed)
        assert claimed - TINY <= low <= high <= claimed + TINY


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 2)])
def test_its_profile_is_within_that_of_laplace_noise_on_one_number(epsilon: Fraction) -> None:
    """δ at an ε, whichever way a vector moves by 2: no more than the event's, and at ε = 0 as much."""
    missed = Fraction(1, 1000)
    measurement, number = (
        space >> made(scale=1) for space, made in ((vector(int, size=2, metric=LInf()), k_norm), (scalar(int), laplace))
    )
    assert measurement.event_at(2) == number.event_at(2)
    less, allowed = (brute_delta(number, [0, far], d_in=2, epsilon=epsilon, missed=TINY)[1] for far in (1, 2))
    worst = max(
        brute_delta(measurement, [(0, 0), end], d_in=2, epsilon=epsilon, missed=missed)[1]
        for end in ((2, 2), (2, 1), (2, 0), (2, -2))
    )
    assert less < worst <= allowed + 2 * TINY
    assert epsilon or worst >= allowed - missed


def test_independent_coordinates_of_the_same_scale_would_be_too_little_noise() -> None:
    """The harness above tells a wrong mechanism: Laplace noise of this scale on each of two coordinates costs twice."""
    one = DiscreteLaplace(Fraction(2))
    apart = (one.pmf(0) / one.pmf(1)) ** 2
    assert apart.log() > ball(Fraction(99, 100))
    noise = Cube(Fraction(2), 2)
    assert (noise.pmf(0) / noise.pmf(1)).log().overlaps(ball(Fraction(1, 2)))


def test_one_coordinate_is_laplace_noise() -> None:
    for space in (scalar(int), vector(int, size=1, metric=LInf())):
        made = space >> k_norm(scale=2)
        assert made.noise is not None and made.noise.noise == DiscreteLaplace(Fraction(2))
    noise, known = Cube(Fraction(7, 2), 1), DiscreteLaplace(Fraction(7, 2))
    with precision(128):
        for z in (0, 1, 20):
            assert noise.pmf(z).overlaps(known.pmf(z))
            assert noise.tail(z).overlaps(known.tail(z)) and noise.coordinate_tail(z).overlaps(known.tail(z))
        assert noise.variance().overlaps(known.variance())


def test_grids_of_exact_values_and_of_floats() -> None:
    quarters = Space(Vector(Integers(step=Fraction(1, 4)), 2), LInf()) >> k_norm(scale=2)
    assert quarters.map(1) == Pure(Fraction(1, 2))
    assert (
        quarters([1, 0.25], entropy=ReplayEntropy(1)).half_width == float(Cube(Fraction(8), 2).half_width("0.95")) / 4
    )
    floats = vector(float, size=50, metric=LInf()) >> k_norm(scale=2, step=2**-2)
    assert floats.map(1) == Pure(Fraction(1, 2))  # a whole number of steps
    assert floats.map(Fraction(11, 10)) == Pure(Fraction(5, 8))  # 4.4 steps are 5, whatever the length of the vector
    assert set((floats([0.1] * 50).value * 4) % 1) == {0.0}


def test_wide_noise_is_exact_and_the_kind_of_array_tells_nothing_of_the_values() -> None:
    noise = Cube(Fraction(2**80), 4)
    drawn = noise.sample(ReplayEntropy(3))
    assert drawn.dtype == object and max(map(abs, drawn)) > 2**63
    narrow = vector(int, size=3, metric=LInf()) >> k_norm(scale=1)
    for data in ([0, 0, 0], [2**62, 0, 0]):
        assert narrow(data, entropy=ReplayEntropy(2)).value.dtype == np.int64


def test_variances_to_choose_by_are_those_of_the_noise() -> None:
    """At steps that are small beside the noise, as measured by the records that are drawn from."""
    fine = 2**30  # steps to 1
    pure = coordinate_variances(Pure(Fraction(1, 2)), size=8, linf=3)
    cube, laplace = Cube(Fraction(6 * fine), 8), DiscreteLaplace(Fraction(48 * fine))
    for name, noise in (("k_norm", cube), ("laplace", laplace)):
        assert pure[name] == pytest.approx(float(noise.variance() / fine**2), rel=1e-9)
    assert list(pure) == ["k_norm", "laplace"]
    assert next(iter(coordinate_variances(Pure(1), size=100, l1=2))) == "laplace"  # a unit in two cells of a histogram
    both = coordinate_variances(ZCDP(Fraction(1, 8)), size=8, l2=root(2))
    assert both["gaussian"] == pytest.approx(8)
    paid = (vector(int, size=8, metric=LInf()) >> k_norm()).with_loss(ZCDP(Fraction(1, 8)))
    scale = float(dict(paid.how.parameters)["scale"])
    assert both["k_norm"] == pytest.approx(30 * scale**2, rel=1e-4)
    for refused in (Approx(1, Fraction(1, 10)), Pure(0), ZCDP(0)):
        with pytest.raises(BadArgument, match="a Pure or ZCDP loss above 0"):
            coordinate_variances(refused, size=2)  # type: ignore[arg-type]


def test_what_it_does_not_work_on_is_refused_in_words() -> None:
    with pytest.raises(NotNoisable, match="vector under the L∞ distance"):
        vector(int, size=2, metric=L1()) >> k_norm()
    with pytest.raises(NoProvenRoute, match="without limit"):
        (vector(int, size=2, metric=LInf()) >> k_norm(scale=1)).map(math.inf)
    with pytest.raises(BadArgument, match="less than 1"):
        Cube(Fraction(1), 2).half_width(1)


def test_in_pieces_the_loss_is_that_of_the_largest_moves_added_up() -> None:
    """Every pair of some vectors in two pieces: the worst outcome costs what the metric says, not what L∞ says."""
    metric, scale = PiecewiseLInf(2), Fraction(3, 2)
    noisy = vector(int, size=4, metric=metric) >> k_norm(scale=scale)
    near = list(itertools.product((-1, 0, 1), repeat=4))
    assert noisy.law is not None
    with precision(64):
        for ours, theirs in itertools.product([(0, 0, 0, 0), (1, 0, 1, 0), (1, 1, -1, 0)], repeat=2):
            one, other = noisy.law(ours), noisy.law(theirs)
            worst = max(float((one.probability(at) / other.probability(at)).log()) for at in near)
            apart = metric.distance(ours, theirs)
            assert worst == pytest.approx(float(apart / scale)) and noisy.map(apart) == Pure(apart / scale)
    both_move = (noisy.law((0,) * 4).probability((0,) * 4) / noisy.law((1, 1, 0, 0)).probability((0,) * 4)).log()
    assert float(both_move) > 1.5 * float(1 / scale)  # what a bound by the largest coordinate alone would miss


def test_pieces_have_noise_of_their_own_dealt_out_in_turn() -> None:
    noise = Cube(Fraction(5), 3)
    entropy = ReplayEntropy(4)
    apart = [noise.sample(entropy) for _ in range(2)]
    dealt = noise_of_pieces(noise, 2, ReplayEntropy(4))
    assert dealt[0::2].tolist() == apart[0].tolist() and dealt[1::2].tolist() == apart[1].tolist()
    with pytest.raises(NotNoisable):
        vector(float, size=2, metric=PiecewiseLInf(2)) >> k_norm(scale=1)
    with pytest.raises(Exception, match="one length"):
        vector(int, size=3, metric=PiecewiseLInf(2))


def test_in_pieces_distances_are_those_of_a_norm() -> None:
    """All vectors of a small domain: the triangle inequality, and between the largest coordinate and the sum of all."""
    metric, small = PiecewiseLInf(2), list(itertools.product((-1, 0, 2), repeat=4))
    for ours, theirs in itertools.product(small[::5], small):
        apart = metric.distance(ours, theirs)
        assert LInf().distance(ours, theirs) <= apart <= L1().distance(ours, theirs)
        assert all(apart <= metric.distance(ours, way) + metric.distance(way, theirs) for way in small[::9])

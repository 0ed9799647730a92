"""The certified Fourier transform, and what is built on it, against FLINT's rigorous one and against exact sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from sfumato.accounting.pld import fourier
from sfumato.accounting.pld.fourier import (
    Complexes,
    inverse,
    real_inverse,
    real_transform,
    transform,
    transform_error,
    twiddles,
)
from sfumato.accounting.pld.lattice import Law
from sfumato.accounting.pld.rounding_correction import Coins, coins, unspread
from sfumato.accounting.pld.tilted_composition import (
    Piece,
    circular,
    composed,
    convolved,
    delta_bounds,
    gathered,
    overflow,
    powers,
    weights,
)
from sfumato.errors import BadArgument
from sfumato.exact import Extended, ball, endpoints, precision

UNIT = 2.0**-53


def spectrum_error(values: Complexes, computed: Complexes, *, back: bool = False) -> tuple[float, float]:
    """The 2-norm of what is wrong with a computed transform, and that of the true one, by rigorous arithmetic."""
    with precision(200):
        true = acb.dft([acb(complex(value)) for value in values], inverse=back)
        wrong = sum((abs(acb(complex(c)) - t) ** 2 for c, t in zip(computed, true, strict=True)), arb(0))
        whole = sum((abs(t) ** 2 for t in true), arb(0))
        return float(wrong.nonnegative_part().sqrt().upper()), float(whole.sqrt().lower())


def normal(size: int) -> Complexes:
    draw = np.random.default_rng(size)
    return draw.standard_normal(size) + 1j * draw.standard_normal(size)


def mixed(size: int) -> Complexes:
    """Tiny and huge numbers side by side."""
    draw = np.random.default_rng(size + 1)
    return normal(size) * 10.0 ** draw.integers(-140, 140, size)


SHAPES: dict[str, Callable[[int], Complexes]] = {
    "random": normal,
    "tiny and huge": mixed,
    "one point": lambda size: np.eye(1, size, size // 3, dtype=np.complex128)[0],
    "level": lambda size: np.full(size, 0.1 + 0.7j),
    "alternating": lambda size: np.where(np.arange(size) % 2, -1.0, 1.0) * (1 / 3 + 0j),
    "one frequency": lambda size: np.exp(2j * math.pi * (size // 5) * np.arange(size) / size),
    "bell": lambda size: np.exp(-(((np.arange(size) - size / 2) / (1 + size / 16)) ** 2)).astype(np.complex128),
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("stages", [*range(10), 12])
def test_the_transform_is_within_its_error(shape: str, stages: int) -> None:
    size = 1 << stages
    values = SHAPES[shape](size)
    wrong, whole = spectrum_error(values, transform(values))
    bound = transform_error(size)
    assert wrong <= bound * whole
    assert bound <= 10 * max(1, stages) * UNIT  # what is proved is not much more than a stage's share for each stage


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("stages", [0, 1, 5, 10])
def test_the_inverse_is_within_its_error(shape: str, stages: int) -> None:
    size = 1 << stages
    values = SHAPES[shape](size)
    wrong, whole = spectrum_error(values, inverse(values), back=True)
    assert wrong <= transform_error(size) * whole


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("stages", [2, 3, 5, 10])
def test_transforms_of_real_values_are_within_their_error_there_and_back(shape: str, stages: int) -> None:
    size = 1 << stages
    values = np.ascontiguousarray(SHAPES[shape](size).real)
    half = real_transform(values)
    spectrum = np.append(half, np.conjugate(half[-2:0:-1]))
    wrong, whole = spectrum_error(values.astype(np.complex128), spectrum)
    assert wrong <= (transform_error(size) + 4 * UNIT) * whole
    half[[0, -1]] = half[[0, -1]].real
    spectrum = np.append(half, np.conjugate(half[-2:0:-1]))
    wrong, whole = spectrum_error(spectrum, real_inverse(half).astype(np.complex128), back=True)
    assert wrong <= (transform_error(size) + 4 * UNIT) * whole


def test_the_proved_error_is_of_the_size_of_the_real_one() -> None:
    wrong, whole = spectrum_error(values := normal(4096), transform(values))
    assert 1e-2 < wrong / whole / transform_error(4096) < 0.5


@pytest.mark.parametrize("place", [1, 100, 511])
def test_one_wrong_twiddle_factor_is_noticed(monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    bent = twiddles(1024).copy()
    bent[place] *= 1 + 1e-10j
    monkeypatch.setattr(fourier, "twiddles", lambda size: bent)
    values = np.zeros(1024, dtype=np.complex128)
    values[[place, place + 512]] = 1.0, -1.0  # the first stage multiplies their difference by this factor
    wrong, whole = spectrum_error(values, transform(values))
    assert wrong > transform_error(1024) * whole


@pytest.mark.parametrize("size", [1, 2, 4, 64, 4096, 1 << 15])
def test_twiddle_factors_are_within_five_units_of_roundoff(size: int) -> None:
    found = twiddles(size)
    assert found.size == max(1, size // 2)
    places = range(found.size) if size <= 4096 else range(0, found.size, 97)
    with precision(120):
        for place in places:
            angle = -2 * arb.pi() * place / size
            assert abs(acb(complex(found[place])) - acb(angle.cos(), angle.sin())) < 5 * UNIT


@pytest.mark.parametrize("shape", [(0,), (3,), (6,), (1000,), (2, 2)], ids=str)
def test_other_sizes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(BadArgument, match="power of two"):
        transform(np.zeros(shape, dtype=np.complex128))


def test_the_transform_leaves_its_argument_alone() -> None:
    values = normal(64)
    before = values.copy()
    transform(values)
    inverse(values)
    assert np.array_equal(values, before)


def positive(size: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return draw.uniform(0, 1, size) ** 8 * 10.0 ** draw.integers(-30, 0, size)


def piece(first: int, size: int, seed: int, count: int = 1) -> Piece:
    above = positive(size, seed)
    above /= above.sum()
    return Piece(first, above, above * 0.75, count)


def exactly(values: np.ndarray) -> list[Fraction]:
    return [Fraction(float(value)) for value in values]


def product_of(left: list[Fraction], right: list[Fraction]) -> list[Fraction]:
    found = [Fraction(0)] * (len(left) + len(right) - 1)
    for place, mass in enumerate(left):
        for other, more in enumerate(right):
            found[place + other] += mass * more
    return found


def test_direct_convolution_is_rounded_to_the_safe_side() -> None:
    left, right = piece(-4, 40, 1), piece(7, 25, 2)
    both = convolved(left, right)
    assert both.first == 3 and both.count == 1
    above = product_of(exactly(left.above), exactly(right.above))
    below = product_of(exactly(left.below), exactly(right.below))
    for high, low, most, least in zip(exactly(both.above), exactly(both.below), above, below, strict=True):
        assert most <= high <= most * (1 + Fraction(1, 10**12)) + Fraction(1, 10**299)
        assert least * (1 - Fraction(1, 10**12)) - Fraction(1, 10**299) <= low <= least


def test_short_laws_are_gathered_and_repeated_ones_left() -> None:
    pieces = [piece(0, 5, 3), piece(1, 6, 4), piece(2, 7, 5, count=9), piece(-3, 4090, 6)]
    kept = gathered(pieces)
    assert sorted((one.first, one.above.size, one.count) for one in kept) == [(-3, 4090, 1), (1, 10, 1), (2, 7, 9)]


@pytest.mark.parametrize("size", [64, 16, 8])
def test_composition_on_a_circle_is_within_its_error(size: int) -> None:
    pieces = [piece(-3, 9, 7, count=5), piece(2, 4, 8, count=2), piece(0, 12, 9)]
    above, below, error, mass = circular(pieces, size=size)
    for found, side in ((above, "above"), (below, "below")):
        whole, first = [Fraction(1)], 0
        for one in pieces:
            for _ in range(one.count):
                whole, first = product_of(whole, exactly(getattr(one, side))), first + one.first
        true = [Fraction(0)] * size
        for place, value in enumerate(whole):
            true[(first + place) % size] += value
        wrong = math.sqrt(sum((Fraction(float(f)) - t) ** 2 for f, t in zip(found, true, strict=True)))
        assert 0 < wrong <= error < 1e-12
        assert sum(whole) <= mass < 1.001


def test_an_error_that_is_left_out_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = [piece(0, 9, 7, count=5)]
    exact, _, error, _ = circular(pieces, size=64)
    monkeypatch.setattr(fourier, "twiddles", lambda size: twiddles(size) * (1 + 1e-9))
    bent, _, _, _ = circular(pieces, size=64)
    assert np.linalg.norm(bent - exact) > error


@pytest.mark.parametrize(("extra", "sign"), [(Fraction(1, 3), 1), (Fraction(2), 1), (Fraction(-1, 2), -1)], ids=str)
def test_overflow_bounds_the_mass_beyond_a_place(extra: Fraction, sign: int) -> None:
    pieces, step = [piece(-3, 9, 7, count=3), piece(2, 4, 8)], Fraction(1, 4)
    whole, first = [Fraction(1)], 0
    for one in pieces:
        for _ in range(one.count):
            whole, first = product_of(whole, exactly(one.above)), first + one.first
    for place in range(first, first + len(whole)):
        beyond = sum(mass for at, mass in enumerate(whole, first) if (at - place) * sign >= 0)
        bound = overflow(pieces, place=place, extra=extra, step=step)
        assert beyond <= Fraction(bound)
        moment = sum(float(mass) * math.exp(extra * step * (at - place)) for at, mass in enumerate(whole, first))
        assert bound == pytest.approx(moment, rel=1e-5)


@pytest.mark.parametrize("rate", [Fraction(1, 7), Fraction(-1, 50), Fraction(0), Fraction(1, 10**9)], ids=str)
@pytest.mark.parametrize("length", [1, 2, 37, 1000])
def test_powers_are_within_five_units_of_roundoff(rate: Fraction, length: int) -> None:
    found = powers(rate, length)
    assert found.size == length
    with precision(120):
        for place in range(0, length, 1 + length // 50):
            true = (-ball(rate * place)).exp()
            assert abs(arb(float(found[place])) / true - 1) < 5 * UNIT


def test_weights_are_listed_far_enough() -> None:
    assert weights(Fraction(1, 10), 1000).size < 310
    assert weights(Fraction(1, 10), 1000)[-1] < math.exp(-29.9)
    assert weights(Fraction(1, 10), 50).size == 50
    assert weights(Fraction(0), 50).tolist() == [1.0] * 50


def spread_masses(count: int, step: Fraction) -> dict[int, arb]:
    """The law of the sum of signs, one sign after the other."""
    heads = 1 / (1 + (-ball(step)).exp())
    law = {0: arb(1)}
    for _ in range(count):
        moved: dict[int, arb] = {}
        for place, mass in law.items():
            for sign, share in ((1, heads), (-1, 1 - heads)):
                moved[place + sign] = moved.get(place + sign, arb(0)) + mass * share
        law = moved
    return law


def whole_weight(law: Coins) -> arb:
    return law.stay + law.up + law.down + law.lost + sum((weight for _, weight in law.far), arb(0))


@pytest.mark.parametrize("count", [1, 2, 3, 30, 400, 10**6])
def test_the_weights_of_the_coins_add_up_to_one(count: int) -> None:
    with precision(128):
        law = coins(count, Fraction(1, 100) / math.isqrt(count))
        assert abs(whole_weight(law) - 1) < arb(2) ** -80
        assert 0 <= law.lost < 1e-20
        assert law.stay > 0.3


@pytest.mark.parametrize("count", [1, 2, 5, 40])
@pytest.mark.parametrize("step", [Fraction(1, 10), Fraction(1)], ids=str)
def test_no_lower_bound_from_a_spread_law_exceeds_the_truth(count: int, step: Fraction) -> None:
    atoms = [(Fraction(-2), Fraction(1, 5)), (Fraction(1, 3), Fraction(3, 10)), (Fraction(7, 4), Fraction(1, 2))]

    def profile(epsilon: Fraction) -> arb:
        return sum((ball(mass) * (1 - ball(epsilon - loss).exp()) for loss, mass in atoms if loss > epsilon), arb(0))

    def above(epsilon: Fraction) -> Extended:
        return endpoints(profile(epsilon))[1]

    with precision(160):
        law, signs = coins(count, step), spread_masses(count, step)
        useful = 0
        for epsilon in [Fraction(place, 5) for place in range(-12, 12)]:
            spread = sum((mass * profile(epsilon - place * step) for place, mass in signs.items()), arb(0))
            low = unspread(law, endpoints(spread)[0], lambda move, at=epsilon: above(at - move))
            assert low <= above(epsilon)
            useful += low > endpoints(profile(epsilon))[0] * Fraction(9, 10)
        assert useful or step * count > 1  # where the spread is narrow, little is lost
        if count > 1:
            bolder = Coins(law.reach, law.stay, law.up * 0, law.down * 0, (), law.lost * 0)
            assert any(
                unspread(bolder, endpoints(spread)[0], lambda _: Fraction(0)) > above(epsilon)
                for epsilon in [Fraction(place, 5) for place in range(-12, 12)]
                for spread in [sum((m * profile(epsilon - p * step) for p, m in signs.items()), arb(0))]
            )


Masses = list[Fraction]


def simple_law(masses: Masses, first: int, infinite: Fraction) -> Law:
    with precision(200):
        balls, beyond = [ball(mass) for mass in masses], ball(infinite)
    return Law(list(range(first, first + len(masses))), balls, balls, (beyond, beyond), arb(0), exact=True)


@pytest.mark.parametrize("tilt", [Fraction(0), Fraction(1, 2), Fraction(6)], ids=str)
@pytest.mark.parametrize(("start", "size"), [(-64, 128), (-8, 32), (0, 16)], ids=str)
def test_delta_of_a_composed_law_encloses_the_exact_sum(tilt: Fraction, start: int, size: int) -> None:
    step, sure = Fraction(1, 8), Fraction(1, 12)
    ramp, short = [Fraction(k + 1, 60) for k in range(10)], [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    laws = [(simple_law(ramp, -4, sure), 6), (simple_law(short, -1, Fraction(0)), 1)]
    found = composed(laws, step=step, tilt=tilt, start=start, size=size, extras=(Fraction(-2), Fraction(2)))
    whole, first = short, -1
    for _ in range(6):
        whole, first = product_of(whole, ramp), first - 4
    for epsilon in [Fraction(place, 16) for place in range(-12, 120, 7)]:
        low, high = delta_bounds(found, epsilon)
        with precision(200):
            least, most = endpoints(
                sum(
                    (
                        -ball(mass) * ball(epsilon - place * step).expm1()
                        for place, mass in enumerate(whole, first)
                        if place * step > epsilon
                    ),
                    arb(0),
                )
            )
        assert low <= most and least <= high
        if start == -64 and tilt < 1:  # a steep tilt is sharp for large losses only
            assert high - low <= most / 10**6 + Fraction(1, 10**12)
    with precision(128):
        truth = ball(1 - (1 - sure) ** 6)  # the other law's finite part is whole
        assert abs(found.infinite[1] - truth) < 1e-30
        # From above, what the finite parts lack may be anywhere: 11/12 and 1/12 of each use make 1.
        assert abs(found.infinite[0] - truth) < 1e-30

"""The inversion along a line against integrals of the definition, and against the lattice that knows nothing of it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from flint import acb, arb

from sfumato.accounting.pld.contour import MOST_LOOKS, Survey, alike
from sfumato.accounting.pld.envelopes import Envelopes
from sfumato.accounting.pld.evaluate import _on_lattice, once, prepared, total_variation
from sfumato.accounting.pld.inversion import Contour, Inverted, Known, sampled_spectrum, spread
from sfumato.accounting.pld.inverted_brackets import inverted_delta, inverted_epsilon
from sfumato.accounting.pld.laplace_moments import LaplacePart, laplace_spectrum, log_moment
from sfumato.accounting.pld.loss_moments import laplace_moment
from sfumato.accounting.pld.pairs.gaussian import ExchangedGaussianPair, GaussianPair
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.pairs.sampled import AddedPair, RemovedPair
from sfumato.accounting.pld.sampled_moments import FloatQuadrature, Quadrature, summed_powers
from sfumato.accounting.pld.sampled_parts import Line, Part, lost, part_of
from sfumato.exact import ball, precision

TENTH, RARE = Fraction(1, 10), Fraction(1, 500)
PAIRS = {
    "removed": RemovedPair(GaussianPair(1), TENTH),
    "added": AddedPair(GaussianPair(1), TENTH),
    "exchanged": ExchangedGaussianPair(1, TENTH),
    "rare": RemovedPair(GaussianPair(Fraction(9, 4)), RARE),
}
LINE = Line(Fraction(-10), Fraction(40), Fraction(1, 16), Fraction(3, 8), Fraction(7), Fraction(1))


def part(name: str) -> Part:
    known = part_of(PAIRS[name], 1)
    assert known is not None
    return known


def integrated(one: Part, s: acb, end: Fraction) -> acb:
    """E e^(sZ) over outcomes up to an end, by the definition, along the real axis."""
    mu, half = ball(one.square).sqrt(), ball(one.square) / 2

    def mixed(outcome: acb, rate: Fraction) -> acb:
        return ball(1 - rate) + ball(rate) * (mu * outcome - half).exp()

    def integrand(y: acb, _: object) -> acb:
        here, there = mixed(y, one.above).log(), mixed(-y, one.below).log()
        return (here + s * (here - there) - y * y / 2).exp() / (2 * arb.pi()).sqrt()

    return acb.integral(integrand, -15, ball(end))


def spectrum_of(one: Part, tilt: arb, spacing: arb, rows: int, columns: int) -> list[acb]:
    """E e^((tilt + ik·spacing)Z) over outcomes up to the end, with all that sums over nodes may miss."""
    sums, off = Quadrature(one, LINE).spectrum(tilt, spacing=spacing, rows=rows, columns=columns)
    slack = arb(0, (Envelopes([one], [LINE]).missed(tilt)[0] + off).upper())
    return [value + acb(slack, slack) for value in sums]


@pytest.mark.parametrize("name", PAIRS)
def test_nodes_miss_no_more_than_they_say(name: str) -> None:
    """Every frequency is enclosed, and so closely that an error of 10⁻¹² would show."""
    with precision(160):
        spacing = arb(3)
        for tilt in (arb(1) / 2, arb(5)):
            spectrum = spectrum_of(part(name), tilt, spacing, 3, 4)
            for place in (0, 11):
                truth = integrated(part(name), acb(tilt, spacing * place), LINE.end)
                assert spectrum[place].overlaps(truth) and abs(spectrum[place] - truth) < 1e-12
                assert not (spectrum[place] * (1 + arb(10) ** -12)).overlaps(truth) or abs(truth) < 1e-3
            assert Quadrature(part(name), LINE).moment(tilt).overlaps(spectrum[0].real)


def test_a_coarse_line_misses_no_more_than_it_says() -> None:
    """Where nodes are few the error is real, and the bound is above it."""
    coarse = replace(LINE, step=Fraction(3, 2))
    with precision(160):
        for name in PAIRS:
            bound = Envelopes([part(name)], [coarse]).missed(arb(2))[0]
            truth = integrated(part(name), acb(2, 6), LINE.end)
            sums, _ = Quadrature(part(name), coarse).spectrum(arb(2), spacing=arb(6), rows=2, columns=2)
            assert 1e-4 < abs(sums[1] - truth) <= bound


def test_floats_and_balls_enclose_the_same() -> None:
    """All parts at once, each with a count of its own; an error of 10⁻¹⁰ would show."""
    parts = [replace(part(name), count=3 + place) for place, name in enumerate(PAIRS)]
    lines, places = (LINE,) * len(parts), ((-3.0, 0.0, 2.0, 5.0),) * len(parts)
    contour = Contour(Fraction(2), Fraction(4), Fraction(3), 4, 5, Fraction(0), lines, places, 160)
    with precision(160):
        asked = (arb(2), arb(4), 2 * arb.pi() / 3)
        balls = sampled_spectrum(parts, contour, *asked)
        floats = sampled_spectrum(parts, replace(contour, bits=None), *asked)
        assert floats.steep.overlaps(balls.steep) and (floats.steep - balls.steep).abs_upper() < 1e-10
        assert (floats.decay - balls.decay).abs_upper() < 1e-9
        for one, other in zip(floats.values, balls.values, strict=True):
            there = other * (balls.level - floats.level).exp()
            assert one.overlaps(there) and abs(one - there) < 1e-10
            assert not (one + acb(arb(10) ** -10)).overlaps(there)


def test_floats_that_say_nothing_bound_nothing() -> None:
    far = replace(LINE, bend=Fraction(1, 100), height=Fraction(1, 500))
    with precision(128), np.errstate(all="ignore"):
        sums, _ = FloatQuadrature([part("removed")], [far]).spectrum(arb(1), spacing=arb(1), rows=2, columns=2)
        assert not math.isfinite(sums.rad[0, 0])


LAPLACES = [LaplacePart(Fraction(1, 3), 2), LaplacePart(Fraction(5, 4), 1), LaplacePart(Fraction(1, 1000), 7)]


def test_laplace_moments_are_the_closed_form() -> None:
    with precision(128):
        tilt, spacing = arb(3) / 2, arb(7) / 3
        values, level = laplace_spectrum(LAPLACES, tilt, spacing=spacing, rows=4, columns=3)
        for place, value in enumerate(values.enclosed()):
            truth = acb(1)
            for one in LAPLACES:
                truth *= laplace_moment(acb(tilt, spacing * place), one.ratio) ** one.count
            assert (value * level.exp()).overlaps(truth) and abs(value * level.exp() - truth) < 1e-12
            assert not (value * level.exp() + acb(arb(10) ** -11)).overlaps(truth)
        assert log_moment(LAPLACES, tilt).exp().overlaps((values.enclosed()[0] * level.exp()).real)


def test_lines_that_leave_the_strip_bound_nothing() -> None:
    high = Line(LINE.left, LINE.right, LINE.step, Fraction(2), LINE.end, LINE.bend)
    right = Line(Fraction(1), LINE.right, LINE.step, LINE.height, LINE.end, LINE.bend)
    with precision(128):
        for line in (high, right):
            assert not Envelopes([part("removed")], [line]).missed(arb(1))[0].is_finite()
        low = Line(LINE.left, LINE.right, LINE.step, LINE.height, Fraction(1, 4), LINE.bend)
        assert lost(part("removed"), low)[0] == 1


def test_what_is_cut_off_is_counted() -> None:
    with precision(128):
        for name in PAIRS:
            here, there = lost(part(name), LINE)
            assert (1 - integrated(part(name), acb(0), LINE.end).real).overlaps(here)
            assert (1 - integrated(part(name), acb(-1), LINE.end).real).overlaps(there) and there <= here


def test_spectra_decay_as_uniform_laws_below_them() -> None:
    """From each frequency on, the spectrum is below what the layers say, and far out most of the law is in them."""
    places = [[place / 8 for place in range(-24, 33)]]
    with precision(128):
        for name in PAIRS:
            tilt = arb(2)
            spectrum, bounds = spectrum_of(part(name), tilt, arb(2), 5, 5), Envelopes([part(name)], [LINE])
            total = spectrum[0].real
            for first in range(1, 25):
                bound = bounds.spread(tilt, [total], places, arb(2 * first))[0]
                assert all(abs(value / total) <= bound <= 1 for value in spectrum[first:])
            assert bounds.spread(tilt, [total], places, arb(10) ** 9)[0] < 0.4
            beyond = [[10.0 + place for place in row] for row in places]
            assert bounds.spread(tilt, [total], beyond, arb(9))[0] == 1, "outcomes above the end are cut"


def test_frequencies_are_damped() -> None:
    """From each frequency on, the spectrum is below what damping says, and that is of use."""
    with precision(128):
        for name in PAIRS:
            tilt = arb(2)
            spectrum, bounds = spectrum_of(part(name), tilt, arb(8), 4, 4), Envelopes([part(name)], [LINE])
            for first in (3, 8):
                bound = bounds.damped(tilt, arb(8 * first))[0]
                assert all(abs(value) <= bound for value in spectrum[first:])
            assert bound < spectrum[0].real or name == "rare"


@pytest.mark.parametrize("end", [3, 5, 8])
def test_any_end_encloses_the_same(end: int) -> None:
    """What is cut off is counted as it was: brackets of different ends meet, about the integral of the definition."""
    pair, epsilon = PAIRS["rare"], Fraction(3, 100)
    one = part_of(pair, 2)
    assert one is not None
    known = Known((one,), (), Fraction(0))
    survey = Survey(known, 40.0)
    contour = survey.contour(float(epsilon), -8.0, least=0.02, sharp=16.0, moved=1e-4)
    assert contour is not None
    line = replace(contour.lines[0], end=Fraction(end), right=Fraction(end + 40))
    cut = Inverted(known, replace(contour, lines=(line,)), variation=Fraction(1, 100))
    truth = twice(pair, float(epsilon))
    assert cut.below(epsilon) <= truth * (1 + 1e-8) and truth * (1 - 1e-8) <= cut.above(epsilon)
    assert cut.above(epsilon) - cut.below(epsilon) <= Fraction(1, 20 if end > 3 else 4) * cut.above(epsilon)


def test_powers_in_whole_numbers() -> None:
    with precision(128):
        weights = [acb(arb(1) / 3, 5), acb(-7, arb(1) / 9)]
        turns = [acb(-arb(1) / 50, arb(1) / 7), acb(0, arb(5) / 3)]
        sums, missed = summed_powers(weights, turns, rows=7, columns=9)
        for place, value in enumerate(sums):
            truth = weights[0] * (turns[0] * place).exp() + weights[1] * (turns[1] * place).exp()
            assert abs(value - truth) <= missed < 1e-24


def twice(pair: Pair, epsilon: float) -> float:
    """δ(ε) of two uses: the mean of one use's profile over the other's loss."""
    one, step = part_of(pair, 1), 1 / 96
    assert one is not None
    mu, up, down = math.sqrt(one.square), float(one.above), float(one.below)
    total = 0.0
    for place in range(int(-8 / step), int(12 / step)):
        y = place * step
        here, there = (1 - rate + rate * math.exp(sign * mu * y - mu * mu / 2) for rate, sign in ((up, 1), (down, -1)))
        height = once(prepared(pair), Fraction(epsilon - math.log(here / there)))[1]
        total += float(height) * here * math.exp(-y * y / 2) / math.sqrt(2 * math.pi) * step
    return total


@pytest.mark.parametrize("name", PAIRS)
def test_two_uses_are_one_integral(name: str) -> None:
    pair = PAIRS[name]
    composition, epsilon = [(pair, 2)], 0.03 if name == "rare" else 0.15
    truth = twice(pair, epsilon)
    variation = Fraction(min(Fraction(1), total_variation(composition)))
    delta = inverted_delta(composition, Fraction(epsilon), variation, tolerance=1e-3)
    assert delta is not None
    assert float(delta.lower) <= truth * (1 + 1e-8) and truth * (1 - 1e-8) <= float(delta.upper)
    assert delta.upper - delta.lower <= Fraction(1, 50) * delta.upper
    back = inverted_epsilon(composition, Fraction(truth), variation, tolerance=1e-3)
    assert back is not None
    assert back.lower <= epsilon * (1 + 1e-7) and epsilon * (1 - 1e-7) <= back.upper <= epsilon * 1.002


class Setting(NamedTuple):
    """A composition for which the lattice is sharp too."""

    composition: list[tuple[Pair, int]]
    delta: str


SETTINGS = [
    Setting([(RemovedPair(GaussianPair(1), "0.01"), 1000)], "1e-6"),
    Setting([(AddedPair(GaussianPair(4), "0.2"), 30)], "1e-9"),
    Setting([(ExchangedGaussianPair("0.5", "0.05"), 200)], "1e-4"),
    Setting([(RemovedPair(GaussianPair(1), "0.1"), 40), (RemovedPair(GaussianPair(3), "0.02"), 9)], "1e-5"),
    Setting([(AddedPair(GaussianPair(1), "0.05"), 100), (GaussianPair("0.01"), 1)], "1e-7"),
    Setting([(RemovedPair(GaussianPair(1), "0.1"), 40), (LaplacePair("0.1"), 9)], "1e-5"),
    Setting([(LaplacePair(Fraction(1, 20 + place)), 2) for place in range(12)], "1e-4"),
    Setting([*((LaplacePair(Fraction(1, 9 + place)), 1) for place in range(9)), (GaussianPair("0.2"), 1)], "1e-6"),
    Setting([(RemovedPair(GaussianPair(1), Fraction(1, 20 + place)), 2) for place in range(30)], "1e-5"),
]


@pytest.mark.parametrize("setting", SETTINGS, ids=[str(place) for place in range(len(SETTINGS))])
def test_the_lattice_agrees(setting: Setting) -> None:
    delta = Fraction(setting.delta)
    variation = Fraction(min(Fraction(1), total_variation(setting.composition)))
    found = inverted_epsilon(setting.composition, delta, variation, tolerance=1e-4)
    lattice = _on_lattice(setting.composition, delta, 1e-3)
    assert found is not None and found.upper - found.lower <= Fraction(1, 10**4) * found.upper
    assert lattice.lower <= found.upper and found.lower <= lattice.upper <= lattice.lower * Fraction(101, 100)


def test_smoothing_is_a_law() -> None:
    with precision(128):
        law = spread(Fraction(1, 100))
        total = law.stay + law.up + law.down + law.lost + sum((weight for _, weight in law.far), arb(0))
        assert total.overlaps(arb(1)) and law.stay > 0.6 and law.lost < 1e-50


def test_other_pairs_are_not_inverted() -> None:
    assert part_of(ExchangedGaussianPair(1, 1), 1) is None
    assert inverted_epsilon([(GaussianPair(1), 3)], Fraction(1, 100), Fraction(1), tolerance=1e-4) is None


def test_parts_that_are_alike_are_looked_at_together() -> None:
    parts = [Part(Fraction(1, 1 + place), TENTH / (1 + place), Fraction(0), 1 + place % 3) for place in range(60)]
    groups = alike(parts)
    assert len(groups) <= MOST_LOOKS and sorted(map(repr, parts)) == sorted(
        repr(one) for _, _, g in groups for one in g
    )
    assert all(one.square <= wide.square and one.above <= wide.above for wide, _, group in groups for one in group)
    assert [wide for wide, _, _ in alike(parts[:5])] == parts[:5]

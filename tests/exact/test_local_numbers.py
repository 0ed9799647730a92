"""Means of numbers under local privacy: unbiased at every place, with the variance that is claimed, to the fraction."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.signal import fftconvolve
from tests.examples.local_laws import law_of
from tests.examples.local_protocols import EXAMPLES, LOSSES, MEANS, NUMBERS

from sfumato.accounting.losses.measures import Pure
from sfumato.exact import exp_up
from sfumato.local.device import WHOLE
from sfumato.local.dithered import DitheredMean
from sfumato.local.hybrid import HybridMean
from sfumato.local.mean_reports import MeanEstimate, MeanProtocol
from sfumato.local.numbers import Buckets, Numbers
from sfumato.local.piecewise import PiecewiseMean
from sfumato.local.square_wave import SquareWave, wave_width
from sfumato.local.two_valued import TwoValuedMean
from sfumato.local.windows import Window

ON_GRIDS = [name for name in NUMBERS if "mean" in name]


def reading(protocol: MeanProtocol, cell: int) -> Fraction:
    counts = np.zeros(protocol.layout.cells, dtype=np.int64)
    counts[cell] = 1
    return protocol.total(counts)


@pytest.mark.parametrize("name", ON_GRIDS)
def test_readings_are_unbiased_with_the_stated_variance_at_every_place(name: str) -> None:
    protocol: Any = EXAMPLES[name].build()
    readings = [reading(protocol, cell) for cell in range(protocol.layout.cells)]
    assert protocol.ends == (min(readings), max(readings))
    for place, value in enumerate(EXAMPLES[name].values):
        law = law_of(protocol.recipe(), protocol.input_of(value))
        assert sum(mass * readings[cell] for (cell, _), mass in law.items()) == place
        square = sum(mass * readings[cell] ** 2 for (cell, _), mass in law.items())
        assert protocol.variance(place) == square - place**2


@pytest.mark.parametrize("epsilon", LOSSES)
@pytest.mark.parametrize("steps", [1, 5, 12, 60])
@pytest.mark.parametrize("name", MEANS)
def test_the_worst_place_is_an_end_or_the_middle(name: str, steps: int, epsilon: str) -> None:
    protocol: Any = MEANS[name](Numbers(0, steps, steps), Pure(Fraction(epsilon)))
    variances = [protocol.variance(place) for place in range(steps + 1)]
    assert protocol.mean_squared_error(users=1) == max(variances)
    assert variances == variances[::-1]
    if name.startswith("dithered"):
        assert max(variances) == variances[0]


def on_unit(protocol: MeanProtocol, place: int = 0) -> float:
    """A variance on −1 … 1, of a grid from −1 to 1."""
    return float(protocol.variance(place) * protocol.numbers.step**2)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "4"])
def test_variances_on_fine_grids_are_those_of_the_papers(epsilon: str) -> None:
    loss, grid, root = Pure(Fraction(epsilon)), Numbers(-1, 1), math.exp(float(epsilon) / 2)
    ends = (root**2 + 1) / (root**2 - 1)
    assert on_unit(TwoValuedMean(grid, loss), grid.steps // 2) == pytest.approx(ends**2, rel=1e-6)
    assert on_unit(TwoValuedMean(grid, loss)) == pytest.approx(ends**2 - 1, rel=1e-6)
    piecewise = PiecewiseMean(grid, loss)
    assert on_unit(piecewise) == pytest.approx(4 * root / (3 * (root - 1) ** 2), rel=1e-3)
    assert on_unit(piecewise, grid.steps // 2) == pytest.approx((root + 3) / (3 * (root - 1) ** 2), rel=1e-3)
    hybrid = HybridMean.published(grid, loss)
    assert on_unit(hybrid) == pytest.approx(on_unit(hybrid, grid.steps // 2), rel=1e-3)
    two = DitheredMean(grid, loss, 2)
    assert on_unit(two) == pytest.approx(ends**2 - 2 / 3, rel=1e-6)
    assert on_unit(two) == pytest.approx(on_unit(two, 777), rel=1e-6)


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "4", "6", "8"])
def test_dithered_variances_are_those_of_the_formula(epsilon: str) -> None:
    grown = math.exp(float(epsilon))
    best = DitheredMean.best(Numbers(-1, 1), Pure(Fraction(epsilon)))
    for levels in {2, 3, best.levels}:
        level = 2 / (levels - 1)
        reach, spare = level * (levels + grown - 1) / (grown - 1), level * levels / (grown - 1)
        worst = reach**2 * (levels - 1) * (levels * (levels + 1) / 12 + (grown - 1) * (levels - 1) / 4)
        worst = worst / (levels + grown - 1) - 1
        worst += 2 / (3 * level) * max(0.0, level / 2 - (levels - 2) * spare / 2) ** 3
        protocol = DitheredMean(Numbers(-1, 1), Pure(Fraction(epsilon)), levels)
        assert on_unit(protocol) == pytest.approx(worst, rel=1e-3)
    assert float(epsilon) < 6 or on_unit(best) == pytest.approx(1.6 * math.exp(-2 * float(epsilon) / 3), rel=0.12)


def least_variance(epsilon: float, numbers: int = 13, reports: int = 161) -> float:
    """About the least worst variance of unbiased reports on −1 … 1: a linear programme over the chances of reports."""
    grown, size = math.exp(epsilon), numbers * reports
    values = np.linspace(-1, 1, numbers)
    read = np.linspace(-1, 1, reports) * 1.3 * (grown + 1) / (grown - 1)
    each, one = np.tile(np.eye(reports), (numbers, 1)), np.zeros((size, 1))
    second = np.hstack([np.kron(np.eye(numbers), read**2), np.zeros((numbers, reports)), -np.ones((numbers, 1))])
    least, most = np.hstack([-np.eye(size), each, one]), np.hstack([np.eye(size), -grown * each, one])
    rest = np.zeros((numbers, reports + 1))
    sums, means = (np.hstack([np.kron(np.eye(numbers), row), rest]) for row in (np.ones(reports), read))
    found = linprog(
        np.eye(size + reports + 1)[-1],
        A_ub=np.vstack([least, most, second]),
        b_ub=np.concatenate([np.zeros(2 * size), values**2]),
        A_eq=np.vstack([sums, means]),
        b_eq=np.concatenate([np.ones(numbers), values]),
    )
    return float(found.fun)


@pytest.mark.parametrize(("epsilon", "near"), [("0.5", 1.001), ("1", 1.01), ("2", 1.1), ("4", 1.14)])
def test_the_dithered_mean_is_near_what_a_linear_programme_finds(epsilon: str, near: float) -> None:
    least, grid, loss = least_variance(float(epsilon)), Numbers(-1, 1), Pure(Fraction(epsilon))
    dithered = on_unit(DitheredMean.best(grid, loss))
    assert least * 0.999 < dithered < least * near
    others = (TwoValuedMean(grid, loss), PiecewiseMean(grid, loss), HybridMean.published(grid, loss))
    assert all(float(one.mean_squared_error(users=1)) > dithered * 1.02 for one in others)


@pytest.mark.parametrize("name", [name for name in ON_GRIDS if "hybrid" not in name and "epsilon 1" in name])
def test_hiding_says_what_reports_share(name: str) -> None:
    protocol: Any = EXAMPLES[name].build()
    laws = [law_of(protocol.recipe(), place) for place in range(protocol.numbers.steps + 1)]
    hiding, cells = protocol.hiding, range(protocol.layout.cells)
    ends = [[law.get((cell, 0), Fraction(0)) for cell in cells] for law in (laws[0], laws[-1])]
    distance = sum((max(one - other, Fraction(0)) for one, other in zip(*ends, strict=True)), Fraction(0))
    assert hiding.variation == distance
    assert (
        Fraction(exp_up(protocol.loss.epsilon))
        >= hiding.ratio
        == max(one / other for row in zip(*ends, strict=True) for one, other in (row, row[::-1]))
    )


def law_of_sums(protocol: MeanProtocol, places: list[int]) -> tuple[NDArray[np.float64], NDArray[np.object_]]:
    """The chances of all sums of readings of people at some places, and the sums: readings have two coordinates."""
    cells, width = protocol.layout.cells, protocol.window.width if isinstance(protocol, DitheredMean) else 1
    readings = [reading(protocol, cell) for cell in range(cells)]
    start, along, across = readings[0], readings[width] - readings[0], [one - readings[0] for one in readings[:width]]
    unit = min((abs(one) for one in across if one), default=Fraction(1)) / 2
    offsets = [int(one / unit) for one in across]
    assert all(one * unit == exact for one, exact in zip(offsets, across, strict=True))
    law = np.ones((1, 1))
    for place in places:
        own = np.zeros((cells // width, max(offsets) + 1))
        for (cell, _), mass in law_of(protocol.recipe(), place).items():
            own[cell // width, offsets[cell % width]] += float(mass)
        law = fftconvolve(law, own)
    levels, steps = np.indices(law.shape)
    sums = len(places) * start + levels.astype(object) * along + steps.astype(object) * unit
    return law.ravel(), sums.ravel()


@pytest.mark.parametrize("people", [1, 2, 6, 20])
@pytest.mark.parametrize("epsilon", ["0.5", "2", "5", "8"])
@pytest.mark.parametrize("name", [name for name in MEANS if "hybrid" not in name and "5" not in name])
def test_intervals_cover_however_few_people(name: str, epsilon: str, people: int) -> None:
    """The exact chance that an interval holds the mean, for people who are alike and for people who differ."""
    protocol: Any = MEANS[name](Numbers(0, 4, 4), Pure(Fraction(epsilon)))
    several = range(people)
    for places in ([0] * people, [2] * people, [4 * (at % 2) for at in several], [at % 5 for at in several]):
        law, sums = law_of_sums(protocol, places)
        likely = law > 1e-7
        estimates = [
            MeanEstimate(protocol.numbers, people, total, protocol.worst_variance, protocol.ends, protocol.loss)
            for total in sums[likely]
        ]
        truth = sum(places) / people
        for confidence, certain in (("0.9", False), ("0.99", False), ("0.9", True)):
            ends = np.array([one.interval(confidence, certain=certain) for one in estimates])
            held = (ends[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= ends[:, 1])
            assert law[likely][held].sum() > float(confidence) - 1e-4, (places, confidence, certain)


def test_intervals_are_not_longer_than_they_need_to_be() -> None:
    """With many people, and the worst data, they hold the mean about as often as they say."""
    protocol = DitheredMean(Numbers(0, 4, 4), Pure(1), 2)
    law, sums = law_of_sums(protocol, [0, 4] * 40)
    likely = law > 1e-7
    stated = (protocol.worst_variance, protocol.ends, protocol.loss)
    estimates = [MeanEstimate(protocol.numbers, 80, total, *stated) for total in sums[likely]]
    ends = np.array([one.interval("0.9") for one in estimates])
    assert 0.9 < law[likely][(ends[:, 0] <= 2) & (ends[:, 1] >= 2)].sum() < 0.94


def information(epsilon: float, buckets: int, width: int) -> float:
    """What a report tells of a bucket if all reports are alike, in nats, up to a constant: the bound of Li et al."""
    total = width * math.exp(epsilon) + buckets - 1
    return math.log(buckets - 1 + width) - math.log(total) + width * math.exp(epsilon) * epsilon / total


@pytest.mark.parametrize("buckets", [64, 1000])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "4"])
def test_waves_have_the_width_that_tells_most(epsilon: str, buckets: int) -> None:
    told = [information(float(epsilon), buckets, width) for width in range(1, buckets + 1)]
    width = wave_width(Fraction(epsilon), buckets)
    assert told[width - 1] > max(told) - 1e-4
    assert abs(width - 1 - int(np.argmax(told))) <= 1


@pytest.mark.parametrize("epsilon", ["0.000000001", "0.5", "24"])
def test_waves_are_windows_of_one_law(epsilon: str) -> None:
    window = SquareWave(Buckets(0, 1, 64), Pure(Fraction(epsilon))).window
    assert window.cells == 63 + window.width
    assert window.inside * window.width + window.outside * (window.cells - window.width) == 1
    assert window.inside / window.outside <= Fraction(exp_up(Fraction(epsilon)))


def test_a_window_told_too_often_is_noticed() -> None:
    window = Window.of(Fraction(1), steps=4, stride=1, width=3)
    for more in (0, 1 << 20):
        wrong = Window(window.steps, window.stride, window.width, window.truth + more)
        assert (wrong.inside / wrong.outside <= Fraction(exp_up(1))) == (more == 0)
    assert 0 < window.truth < WHOLE

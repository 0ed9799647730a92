"""Private quantiles, enumerated: every small data set, both adjacencies, the whole law over the grid."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from tests.exact.enumerated import multisets, remembered

from sfumato.accounting.losses.measures import ZCDP, BoundedRange, Pure
from sfumato.audit.brute_force import brute_epsilon, brute_renyi, neighbours, outcome_probabilities
from sfumato.core.domains import Bounds, Data, Floats, Integers, Vector
from sfumato.core.law import Law
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove
from sfumato.core.space import Space, vector
from sfumato.exact import ball, enclose
from sfumato.mechanisms.quantile import median, pieces, quantile, quantile_among, support

pytestmark = pytest.mark.sharp_balls

LEVELS = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1)]
SLACK = Fraction(1, 10**25)


def law_of(measurement: Measurement, data: list[Data]) -> Law:
    assert measurement.law is not None
    return measurement.law(data)


def longest_span(measurement: Measurement, members: list[list[int]]) -> Fraction:
    longest = Fraction(0)
    for left, right in neighbours(measurement.source, members):
        here, there = outcome_probabilities(measurement, left), outcome_probabilities(measurement, right)
        losses = [enclose((here[point] / there[point]).log) for point in here]
        longest = max(longest, Fraction(max(high for _, high in losses) - min(low for low, _ in losses)))
    return longest


@pytest.mark.parametrize("alpha", LEVELS)
@pytest.mark.parametrize("size", [None, 5])
def test_no_pair_of_neighbours_exceeds_the_map(alpha: Fraction, size: int | None) -> None:
    """P1-102: all multisets of the integers 0 … 4, rows added or removed and rows exchanged."""
    space = vector(int, between=(0, 4), size=size)
    measurement = remembered(space >> quantile(alpha, temperature=2))
    members = multisets(range(5), range(5) if size is None else range(5, 6))
    claimed = measurement.map(1).epsilon
    assert claimed == (1 if alpha in (0, 1) else 2 * max(alpha, 1 - alpha) if size is None else 2) / Fraction(2)
    low, high = brute_epsilon(measurement, members)
    assert high <= claimed + SLACK
    assert low > claimed / 2


@pytest.mark.parametrize("alpha", LEVELS)
@pytest.mark.parametrize("size", [None, 5])
def test_the_loss_fills_its_bounded_range(alpha: Fraction, size: int | None) -> None:
    space = vector(int, between=(0, 4), size=size)
    measurement = remembered(space >> quantile(alpha, temperature=2, measure=BoundedRange))
    members = multisets(range(5), range(5) if size is None else range(5, 6))
    claimed = measurement.map(1)
    assert isinstance(claimed, BoundedRange)
    assert abs(longest_span(measurement, members) - Fraction(claimed.eta)) < SLACK


def test_several_rows_and_zcdp() -> None:
    measurement = remembered(vector(int, between=(0, 3)) >> median(temperature=1, measure=ZCDP))
    members = multisets(range(4), range(4))
    for rows in (1, 2):
        claimed = measurement.map(rows)
        assert claimed == ZCDP(Fraction(rows**2, 8))
        for order in (Fraction(2), Fraction(10)):
            assert brute_renyi(measurement, members, order=order, d_in=rows)[1] <= order * claimed.rho


def test_rows_added_at_a_public_size() -> None:
    space = vector(int, between=(0, 3), size=3, metric=AddRemove())
    measurement = remembered(space >> median(temperature=1))
    assert [measurement.map(rows) for rows in (1, 2, 3)] == [Pure(0), Pure(2), Pure(2)]
    assert brute_epsilon(measurement, multisets(range(4), range(3, 4)), d_in=2)[1] <= 2 + SLACK


@pytest.mark.parametrize("alpha", LEVELS)
@pytest.mark.parametrize("data", [[], [2], [0, 0, 4], [1, 2, 3], [4, 4, 4, 4], [0, 1, 2, 3, 4]])
def test_the_law_is_that_of_scoring_every_grid_point(alpha: Fraction, data: list[int]) -> None:
    """P1-101: pieces only save work; each point has the probability it has as one of five listed candidates."""
    by_pieces = law_of(vector(int, between=(0, 4)) >> quantile(alpha, temperature=Fraction(3, 2)), data)
    listed = law_of(vector(int) >> quantile_among(range(5), alpha=alpha, temperature=Fraction(3, 2)), data)
    for point in range(5):
        low, high = enclose(lambda point=point: by_pieces.probability(point) - listed.probability(point))
        assert -SLACK < low <= high < SLACK


@pytest.mark.parametrize("data", [[], [0], [3, 3], [0, 4], [1, 2, 2, 3], [4, 4, 0, 0, 2]])
@pytest.mark.parametrize("alpha", [Fraction(1, 3), Fraction(1, 10**9 + 7)])
def test_pieces_cover_the_grid_once_with_the_right_scores(data: list[int], alpha: Fraction) -> None:
    grid = support(Integers(Bounds(Fraction(0), Fraction(4))), None)
    cut = pieces(data, grid, alpha)
    seen = {}
    for start, width, score in zip(cut.starts.tolist(), cut.widths.tolist(), cut.scores.tolist(), strict=True):
        for point in range(start, start + width):
            assert point not in seen
            seen[point] = score
    assert sorted(seen) == list(range(5))
    for point, score in seen.items():
        below, above = sum(x < point for x in data), sum(x > point for x in data)
        assert score * Fraction(1, alpha.denominator) == -abs((1 - alpha) * below - alpha * above)


def test_A1_103_quantile_among_candidates() -> None:
    space = vector(float)
    measurement = space >> quantile_among([15, 25, 35], alpha=0.5, temperature=1)
    law = law_of(measurement, [10.0, 20.0, 30.0, 40.0])
    found = [float(law.probability(candidate).mid()) for candidate in (15, 25, 35)]
    assert found == pytest.approx([0.2119416, 0.5761169, 0.2119416], abs=5e-8)
    assert measurement.map(1) == Pure(1)


def gap_masses(step: Fraction, data: list[float], edges: list[float]) -> list[float]:
    measurement = vector(float) >> quantile(0.5, between=(0, 4), temperature=1, step=step)
    law = law_of(measurement, data)
    masses = [ball(0)] * (len(edges) - 1)
    for point in law.outcomes(Fraction(0)):
        place = next(i for i in range(len(edges) - 1) if edges[i] <= point <= edges[i + 1])
        masses[place] += law.probability(point)
    return [float(mass.mid()) for mass in masses]


def test_A1_104_gaps_of_the_interval_mechanism() -> None:
    """The continuous law is the limit of fine grids; the error falls with the step."""
    stated = [0.1344707, 0.3655293, 0.3655293, 0.1344707]
    coarse, fine = (gap_masses(step, [1.0, 2.0, 3.0], [0, 1, 2, 3, 4]) for step in (Fraction(1, 8), Fraction(1, 4096)))
    assert fine == pytest.approx(stated, abs=1e-4)
    assert abs(coarse[0] - stated[0]) > 100 * abs(fine[0] - stated[0])


def test_E1_14_counting_the_bookends_misses_the_target() -> None:
    """With bookends counted the target is alpha (n + 2): at alpha 0 gap 0 should be best, and is not."""
    data, alpha = [1, 2, 3], Fraction(0)
    right = [-abs(i - alpha * len(data)) for i in range(4)]
    law = law_of(vector(int, between=(0, 4)) >> quantile(alpha, temperature=1), data)
    assert max(law.outcomes(Fraction(0)), key=lambda point: float(law.probability(point).mid())) in (0, 1)
    assert max(range(4), key=right.__getitem__) == 0
    level = Fraction(1)
    wrong = [-min(abs(i - level * 5), abs(i + 1 - level * 5)) for i in range(5)]
    assert max(range(5), key=wrong.__getitem__) == 4
    shifted = [-abs(i - Fraction(9, 10) * (len(data) + 2)) for i in range(4)]
    proper = [-abs(i - Fraction(9, 10) * len(data)) for i in range(4)]
    assert (max(shifted), max(proper)) == (-Fraction(3, 2), -Fraction(3, 10))


@pytest.mark.parametrize("size", [None, 5])
def test_A1_105_loss_over_bounds(size: int | None) -> None:
    """One row added or removed costs 1 at temperature 1; one row exchanged, 2."""
    measurement = vector(float, size=size) >> quantile(0.5, between=(0, 100), temperature=1)
    assert measurement.map(1) == Pure(1 if size is None else 2)


def test_many_equal_values_are_found() -> None:
    """A score that only sees gaps is blind to a value that all rows share; ours puts nearly all mass on it."""
    measurement = vector(float) >> quantile(0.5, between=(0, 8), temperature=1, step=Fraction(1, 1024))
    law = law_of(measurement, [5.0] * 60)
    assert law.probability(5.0) > 1 - ball(Fraction(1, 10**8))


def test_floats_are_clamped_and_rounded_row_by_row() -> None:
    """Values beyond the bounds, infinities, −0.0, values between grid points: the law is that of the rounded rows."""
    space = Space(Vector(Floats(infinite=True)), AddRemove())
    rough = space >> median(between=(-1, 1), temperature=1, step=Fraction(1, 4))
    plain = law_of(rough, [-1.0, 0.0, 1.0, 0.25])
    strange = law_of(rough, [-math.inf, -0.0, 1e300, 0.3])
    for point in plain.outcomes(Fraction(0)):
        assert enclose(lambda point=point: plain.probability(point) - strange.probability(point))[1] < SLACK
    values = [-math.inf, -1.0, -0.0, 0.0, 0.3, 2.0]
    members = [list(rows) for size in range(3) for rows in combinations_with_replacement(values, size)]
    assert brute_epsilon(rough, members)[1] <= 1 + SLACK


def test_bounds_that_are_no_floats() -> None:
    """Every grid point lies within the exact decimal bounds."""
    measurement = vector(float) >> median(between=(0.1, 0.7), temperature=1, step=Fraction(1, 16))
    points = list(law_of(measurement, [0.1, 0.7, 0.3]).outcomes(Fraction(0)))
    assert points == [k / 16 for k in range(2, 12)]

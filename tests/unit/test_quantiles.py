"""Many quantiles, by halving or all at once, and bounds by quantiles: accuracy, ties, edge cases, refusals."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

import sfumato as sf
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.core.law import FiniteLaw
from sfumato.core.metrics import AddRemove
from sfumato.core.space import vector
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, UnboundedColumn
from sfumato.exact import BITS, precision
from sfumato.mechanisms.cut_plans import balanced, halving
from sfumato.mechanisms.joint_quantiles import draw_points, joint_law, joint_quantiles, shares_of
from sfumato.mechanisms.quantile import support
from sfumato.mechanisms.recursive_quantiles import (
    draw_cuts,
    point_sensitivity,
    quantiles_law,
    recursive_quantiles,
    spread,
)
from sfumato.stats.quantiles import Choice, Method, anchors, bounds_by_quantiles, quantiles

SEVEN = [0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9]


def test_A2_029_accuracy_of_seven_quantiles() -> None:
    """10 000 uniforms at temperature 100: errors are those that the specification computed, not the printed ones."""
    rows = np.random.default_rng(29).uniform(0, 100, 10_000)
    made, entropy = vector(float) >> recursive_quantiles(SEVEN, between=(0, 100), temperature=100), ReplayEntropy(29)
    exact = np.quantile(rows, SEVEN)
    errors = np.array([np.abs(np.array(made.function(rows, entropy)) - exact) for _ in range(200)])
    stated = [1.23, 1.13, 1.38, 1.07, 1.52, 1.40, 1.24]
    assert errors.mean(axis=0) == pytest.approx(stated, rel=0.3)
    assert errors.mean() == pytest.approx(np.mean(stated), rel=0.15)
    assert not (errors.max(axis=1) < 0.52).any()


def test_A2_032_bounds_of_a_normal_column() -> None:
    """Targets ±1.645 at a total of ε = 0.2; what is clamped there keeps a mean of 0 and a deviation near 0.912."""
    rows = np.random.default_rng(32).normal(size=1000)
    made, entropy = vector(float) >> bounds_by_quantiles(between=(-4, 4), loss=Pure(0.2)), ReplayEntropy(32)
    assert made.map(1) == Pure(0.2)
    pairs = np.array([made.function(rows, entropy) for _ in range(200)])
    assert np.median(pairs, axis=0) == pytest.approx([-1.645, 1.645], abs=0.2)
    clamped = np.clip(rows, -1.645, 1.645)
    assert (clamped.mean(), clamped.std()) == pytest.approx((0, 0.912), abs=0.05)


def surprise(seen: Counter[tuple[int, ...]], law: FiniteLaw) -> float:
    """Gives the chance of counts as far from a law as these, by χ²; rare outcomes are lumped."""
    count = seen.total()
    with precision(BITS):
        cells = [(seen[point], count * float(law.probability(point).mid())) for point in law.outcomes(Fraction(0))]
    often = [(found, due) for found, due in cells if due >= 5]
    rare = [(found, due) for found, due in cells if due < 5]
    lumped = [*often, (sum(found for found, _ in rare), sum(due for _, due in rare))] if rare else often
    return float(chi2.sf(sum((found - due) ** 2 / due for found, due in lumped), len(lumped) - 1))


def test_draws_have_the_listed_law() -> None:
    """Accepts the law, with rows spread over two parts, and rejects one whose temperature is 10 % off."""
    space = vector(int, between=(0, 5))
    grid = support(space.domain.element, None)  # type: ignore[attr-defined]
    shape = halving([Fraction(1, 3), Fraction(2, 3)])
    data, entropy = [0, 1, 2, 3, 4, 5], ReplayEntropy(7)
    plan = balanced(shape, Fraction(1), Pure, point_sensitivity)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(8000):
        points = draw_cuts(plan, spread(grid.offsets(data), 2, entropy), 0, 11, entropy)
        seen[tuple(point // 2 for point in points)] += 1

    def off(heat: Fraction) -> float:
        return surprise(seen, quantiles_law(balanced(shape, heat, Pure, point_sensitivity), data, grid, 2))

    assert off(Fraction(1)) > 1e-2
    assert off(Fraction(11, 10)) < 1e-4 and off(Fraction(9, 10)) < 1e-4


def test_joint_draws_have_the_listed_law() -> None:
    """Accepts the law, with rows spread over two parts, and rejects one whose temperature is 10 % off."""
    space = vector(int, between=(0, 5))
    grid = support(space.domain.element, None)  # type: ignore[attr-defined]
    targets = shares_of([Fraction(1, 3), Fraction(2, 3)], Fraction(13, 2))
    data, entropy = [0, 1, 2, 3, 4, 5], ReplayEntropy(8)
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(5000):
        points = draw_points(spread(grid.offsets(data), 2, entropy), grid, 2, targets, Fraction(1, 2), entropy)
        seen[tuple(point // 2 for point in points)] += 1

    def off(heat: Fraction) -> float:
        return surprise(seen, joint_law(data, grid, 2, targets, heat))

    assert off(Fraction(1, 2)) > 1e-2
    assert off(Fraction(11, 20)) < 1e-4 and off(Fraction(9, 20)) < 1e-4


@pytest.mark.parametrize("method", ["recursive", "joint"])
def test_blocks_of_equal_rows_are_cut_where_the_rank_says(method: Method) -> None:
    """Most rows equal one value: the quantiles inside the block are that value, whichever was chosen first."""
    rows = np.array([0] * 100 + [40] * 600 + list(range(50, 350)))
    made = vector(int, between=(0, 1000)) >> quantiles([0.05, 0.2, 0.4, 0.6, 0.85], loss=Pure(2), method=method)
    entropy = ReplayEntropy(3)
    found = np.array([made.function(rows, entropy) for _ in range(50)])
    assert (found[:, 1:4] == 40).mean() > 0.98
    assert (found[:, 0] == 0).mean() > 0.9
    assert np.abs(found[:, 4] - 200).mean() < 10


@pytest.mark.parametrize("method", ["best", "recursive", "joint"])
@pytest.mark.parametrize("loss", [Pure(1), Pure(10**9), Pure(Fraction(1, 10**9)), ZCDP(1)])
@pytest.mark.parametrize("rows", [[], [0.0], [-0.0, 100.0], [math.inf, -math.inf], [1e300] * 5, [5.0] * 40])
def test_any_rows_give_ordered_points_within_the_bounds(rows: list[float], loss: Loss, method: Method) -> None:
    for space in (vector(float), vector(float, size=len(rows))):
        made = space >> quantiles(SEVEN, between=(0, 100), loss=loss, method=method)
        found = made.function(np.array(rows, dtype=np.float64), ReplayEntropy(1))
        assert len(found) == 7 and list(found) == sorted(found)
        assert all(isinstance(point, float) and 0 <= point <= 100 for point in found)


@pytest.mark.parametrize("method", ["recursive", "joint"])
def test_wide_integers_and_one_point(method: Method) -> None:
    wide = vector(int, between=(0, 2**61)) >> quantiles([0.25, 0.75], loss=Pure(1), method=method)
    assert all(0 <= point <= 2**61 for point in wide.function([1, 2**60, 2**61], ReplayEntropy(1)))
    small = vector(int, between=(0, 1)) >> quantiles(SEVEN, loss=Pure(500), method=method)
    assert small.function([1] * 30, ReplayEntropy(1)) == (1,) * 7


def test_many_joint_quantiles_of_rows_on_a_fine_grid() -> None:
    """60 quantiles between bounds that are 2⁶⁰ steps apart: weights leave the range of floats by far."""
    rows = np.arange(3000) + 2**59
    made = vector(int, between=(0, 2**60), size=3000) >> quantiles(
        [Fraction(k, 61) for k in range(1, 61)], loss=Pure(40), method="joint"
    )
    found = np.array(made.function(rows, ReplayEntropy(1))) - 2**59
    assert np.abs(found - np.arange(1, 61) * 3000 / 61).max() < 20


def test_no_quantiles_cost_nothing() -> None:
    made = vector(float) >> quantiles([], between=(0, 1), loss=Pure(1))
    assert made.map(1) == Pure(0) and made.function([0.5], ReplayEntropy(1)) == ()
    assert made.map(math.inf) == Pure(0)


@pytest.mark.parametrize("method", ["best", "recursive", "joint"])
@pytest.mark.parametrize("loss", [Pure(1), ZCDP("0.1")])
def test_the_loss_is_kept_and_used(method: Method, loss: Loss) -> None:
    spaces = (vector(float), vector(float, size=50), vector(float, size=50, metric=AddRemove()))
    for space, d_in in zip(spaces, (1, 1, 2), strict=True):
        made = space >> quantiles(SEVEN, between=(0, 1), loss=loss, method=method)
        assert made.check(d_in, loss)
        found = made.map(d_in)
        amount, most = (found.epsilon, 1) if isinstance(found, Pure) else (found.rho, Fraction(1, 10))  # type: ignore[attr-defined]
        assert amount > Fraction(999, 1000) * most
    three = vector(float) >> quantiles(SEVEN, between=(0, 1), loss=loss, d_in=3, method=method)
    assert three.check(3, loss)
    three.function([0.5], ReplayEntropy(1))


def test_the_best_method() -> None:
    """Joint for four or more under Pure, where the rows are neither few nor very many; else by halving."""
    few, many = [0.25, 0.5, 0.75], [0.2, 0.4, 0.6, 0.8]

    def steps(rows: int | None, alphas: list[float], loss: Loss) -> str:
        return str((vector(float, size=rows) >> quantiles(alphas, between=(0, 1), loss=loss)).how)

    assert "recursive" in steps(None, few, Pure(1)) and "adaptive" in steps(None, many, Pure(1))
    assert "recursive" in steps(None, many, ZCDP(1)) and "recursive" in steps(1000, many, ZCDP(1))
    assert "joint" in steps(1000, few, Pure(1)) and "joint" in steps(1000, many, Pure(1))
    assert "recursive" in steps(100, many, Pure(1)) and "recursive" in steps(10**7, many, Pure(1))
    assert "recursive" in steps(1000, [0.5], Pure(1))


def test_the_joint_choice_errs_less_for_nine_quantiles() -> None:
    """ε = 1, 1000 rows: mean rank errors of about 3.5 against 5; with few rows the best falls back on halving."""
    alphas = [Fraction(k, 10) for k in range(1, 10)]

    def error(method: Method, size: int) -> float:
        made, entropy = (
            vector(float) >> quantiles(alphas, between=(-100, 100), loss=Pure(1), method=method),
            ReplayEntropy(2),
        )
        found = []
        for seed in range(60):
            rows = np.sort(np.random.default_rng(seed).normal(size=size))
            ranks = np.searchsorted(rows, made.function(rows, entropy))
            found.append(np.abs(ranks - size * np.arange(1, 10) / 10).mean())
        return float(np.mean(found))

    assert error("best", 1000) < 0.85 * error("recursive", 1000)
    assert error("best", 60) < 1.2 * error("recursive", 60)


def test_distances() -> None:
    made = vector(float) >> recursive_quantiles([0.25, 0.5, 0.75], between=(0, 1), temperature=1)
    assert [made.map(rows) for rows in (0, 1, 2)] == [Pure(0), Pure(2), Pure(4)]
    assert made.map(math.inf) == Pure(math.inf)
    sized = vector(float, size=4, metric=AddRemove()) >> recursive_quantiles(
        [0.25, 0.5, 0.75], between=(0, 1), temperature=1
    )
    assert [sized.map(rows) for rows in (1, 2, 3, 100)] == [Pure(0), Pure(4), Pure(4), Pure(16)]
    squared = vector(float) >> recursive_quantiles([0.25, 0.5, 0.75], between=(0, 1), temperature=1, measure=ZCDP)
    assert [squared.map(rows) for rows in (1, 2)] == [ZCDP(0.25), ZCDP(1)]


def test_joint_distances() -> None:
    made = vector(float) >> joint_quantiles(SEVEN, total=100, between=(0, 1), temperature=4)
    assert [made.map(rows) for rows in (0, 1, 2)] == [Pure(0), Pure(0.5), Pure(1)]
    sized = vector(float, size=4, metric=AddRemove()) >> joint_quantiles(SEVEN, total=4, between=(0, 1), temperature=4)
    assert [sized.map(rows) for rows in (1, 2, 3, 100)] == [Pure(0), Pure(1), Pure(1), Pure(4)]


def test_slack_moves_outwards_within_the_public_bounds() -> None:
    space = vector(int, between=(0, 100))
    rows, loss = list(range(20, 81)), Pure(150)
    plain = (space >> bounds_by_quantiles(loss=loss)).function(rows, ReplayEntropy(1))
    wider = (space >> bounds_by_quantiles(loss=loss, slack=0.1)).function(rows, ReplayEntropy(1))
    most = (space >> bounds_by_quantiles(loss=loss, slack=5)).function(rows, ReplayEntropy(1))
    assert plain == (23, 78) or abs(plain[0] - 23) + abs(plain[1] - 78) <= 2
    assert wider[0] < plain[0] < plain[1] < wider[1]
    assert most == (0, 100)


@pytest.mark.parametrize("alphas", [[0.5, 0.25], [0.5, 0.5], [0, 0.5], [0.5, 1], [1.5], "0.5", 0.5, [True], [math.nan]])
def test_refused_quantiles(alphas: object) -> None:
    with pytest.raises(BadArgument):
        quantiles(alphas, loss=Pure(1))  # type: ignore[arg-type]
    with pytest.raises(BadArgument):
        recursive_quantiles(alphas, temperature=1)  # type: ignore[arg-type]


def test_refusals() -> None:
    with pytest.raises(UnboundedColumn):
        vector(float) >> quantiles([0.5], loss=Pure(1))
    with pytest.raises(BadArgument):
        vector(float) >> quantiles([0.5], between=(1, 0), loss=Pure(1))
    with pytest.raises(BadArgument):
        recursive_quantiles([0.5], temperature=0)
    with pytest.raises(BadArgument):
        recursive_quantiles([0.5], temperature=1, measure=Approx)
    for loss in (Pure(0), Pure(math.inf), Approx(1, 1e-6), 1):
        with pytest.raises(BadArgument):
            quantiles([0.5], loss=loss)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="recursive"):
        quantiles([0.5], loss=Pure(1), method="sorted")  # type: ignore[arg-type]
    with pytest.raises(BadArgument):
        vector(float) >> quantiles([0.5], between=(0, math.inf), loss=Pure(1))
    with pytest.raises(BadArgument):
        bounds_by_quantiles(0.9, 0.1, loss=Pure(1))
    with pytest.raises(BadArgument):
        bounds_by_quantiles(loss=Pure(1), slack=-1)
    for partial in (recursive_quantiles([0.5], temperature=1), joint_quantiles([0.5], total=1, temperature=1)):
        law = (vector(float, between=(0, 1)) >> partial).law
        assert law is not None
        with pytest.raises(BadArgument, match="coarse"):
            law([0.5])


def test_joint_refusals() -> None:
    many = [Fraction(k, 300) for k in range(1, 300)]
    for alphas in ([], many):
        with pytest.raises(BadArgument, match="256"):
            joint_quantiles(alphas, total=10, temperature=1)
        with pytest.raises(BadArgument, match="256"):
            quantiles(alphas, loss=Pure(1), method="joint")
    assert len((vector(float) >> quantiles(many, between=(0, 1), loss=Pure(1))).function([], ReplayEntropy(1))) == 299
    with pytest.raises(BadArgument, match="temperature"):
        joint_quantiles([0.5], total=10, temperature=1e-9)
    with pytest.raises(BadArgument):
        joint_quantiles([0.5], total=math.inf, temperature=1)
    with pytest.raises(BadArgument):
        joint_quantiles([0.5], total=1, temperature=1, measure=Approx)


def test_many_quantiles_of_few_rows_are_interpolated_between_some() -> None:
    """As many are chosen as there are rows for; the first and the last are among them, and all are in order."""
    levels = [Fraction(k, 100) for k in range(1, 100)]
    made = sf.vector(int) >> sf.stats.quantiles(levels, loss=sf.Pure(1), between=(0, 1000))
    assert made.map(1) == sf.Pure(1)
    rows = np.random.default_rng(4).integers(0, 1001, size=1000)
    found = made(rows, entropy=sf.entropy.ReplayEntropy(3)).value
    assert len(found) == 99 and list(found) == sorted(found) and all(type(value) is int for value in found)
    assert np.abs(np.array(found) - np.arange(10, 1000, 10)).mean() < 25
    sized = sf.vector(float, size=1000) >> sf.stats.quantiles(levels, loss=sf.Pure(4), between=(0, 1000))
    assert sized.map(1).within(sf.Pure(4))
    assert len(sized(rows.astype(float), entropy=sf.entropy.ReplayEntropy(3)).value) == 99


def test_how_many_are_chosen_at_once() -> None:
    assert anchors(Fraction(1000), 9, Fraction(2)) == 9
    assert anchors(Fraction(1000), 99, Fraction(2)) == 19
    assert anchors(Fraction(60_000), 99, Fraction(2)) == 64
    assert anchors(Fraction(100), 99, Fraction(2)) == 0  # too few rows for any: by halving
    assert anchors(Fraction(10**7), 9, Fraction(2)) == 0  # too many rows for speed


def test_lines_between_the_chosen_ones() -> None:
    levels = [Fraction(k, 10) for k in range(1, 10)]
    choice = Choice(sf.median(temperature=1), [0, 4, 8], levels)
    assert choice.filled((10, 20, 30)) == (10, 12, 15, 17, 20, 22, 25, 27, 30)
    assert choice.filled((1.0, 1.0, 2.0)) == (1.0, 1.0, 1.0, 1.0, 1.0, 1.25, 1.5, 1.75, 2.0)
    large = 2**61 + 1
    assert choice.filled((0, 0, large))[-1] == large and choice.filled((large, large, large)) == (large,) * 9

"""Trees, hierarchies and strategies, enumerated: the whole law of what is released, for every pair of neighbours."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tests.exact.enumerated import multisets, remembered

import sfumato as sf
from sfumato.accounting.facts import noise_within
from sfumato.audit.brute_force import brute_epsilon, brute_renyi, brute_sensitivity
from sfumato.core.domains import Array
from sfumato.core.metrics import L1, L2
from sfumato.exact import root
from sfumato.mechanisms.layered_counts import Layer, layered_counts, layered_loss
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.stats.strategies import Hats, Sines
from sfumato.stats.tree_plans import best_plan
from sfumato.transforms.bands import log_bands
from sfumato.transforms.histogram import count_by
from sfumato.transforms.weighted_counts import weighted_counts

pytestmark = pytest.mark.sharp_balls

SLACK = Fraction(1, 10**20)
MISSED = Fraction(1, 50)
NEGLIGIBLE = Fraction(1, 10**9)


def layers(loss: sf.Pure | sf.ZCDP, *, shift: Fraction, tops: list[Array], shares: list[Fraction]) -> list[Layer]:
    return [
        Layer(top, int(top.max()) + 1, noise_within(loss.scaled(share), shift))
        for top, share in zip(tops, shares, strict=True)
    ]


TWO = [np.zeros(2, dtype=int), np.arange(2)]
FOUR = [np.array([0, 0, 1, 1]), np.arange(4)]
UNEVEN = [Fraction(1, 3), Fraction(2, 3)]


@pytest.mark.parametrize("size", [None, 2])
@pytest.mark.parametrize("tops", [TWO, FOUR])
def test_laplace_layers_cost_their_sum_and_reach_it(size: int | None, tops: list[Array]) -> None:
    """P2-013: all data sets of up to two rows, both adjacencies; the loss is reached where every layer moves."""
    shift = Fraction(1 if size is None else 2)
    loss = sf.Pure(12 * shift)
    made = layers(loss, shift=shift, tops=tops, shares=UNEVEN)
    bins = len(tops[-1])
    measurement = remembered(sf.vector(int, size=size) >> layered_counts(range(bins), made, measure=sf.Pure))
    members = multisets(range(bins), range(3) if size is None else range(2, 3))
    claimed = measurement.map(1)
    low, high = brute_epsilon(measurement, members, missed=MISSED)
    assert high <= Fraction(claimed.epsilon) + SLACK
    if size is None or tops is FOUR:
        assert claimed == loss
        assert low >= 12 * shift - SLACK
    else:  # the total of two rows never moves: what is claimed for a layer of one node is not reached
        assert low >= 16 - SLACK


def test_a_tree_that_counts_one_layer_only_is_caught() -> None:
    """The textbook's slip: a distance of 1 for the whole tree, though every layer moves by 1."""
    noise = DiscreteLaplace(Fraction(1, 6))
    made = [Layer(top, int(top.max()) + 1, noise) for top in FOUR]
    measurement = sf.vector(int) >> layered_counts(range(4), made, measure=sf.Pure)
    wrong = replace(measurement, privacy_map=lambda d_in: sf.Pure(d_in / noise.scale))
    members = multisets(range(4), range(2))
    truth = brute_epsilon(remembered(measurement), members, missed=MISSED)[0]
    assert truth > Fraction(wrong.map(1).epsilon) + 5
    assert abs(truth - Fraction(measurement.map(1).epsilon)) < SLACK


@pytest.mark.parametrize("size", [None, 2])
def test_gaussian_layers_cost_their_sum(size: int | None) -> None:
    loss, shift = (sf.ZCDP(4), Fraction(1)) if size is None else (sf.ZCDP(8), root(2))
    tops = TWO if size is None else [np.arange(2), np.arange(2)]  # the total of a public number of rows never moves
    made = layers(loss, shift=shift, tops=tops, shares=UNEVEN)  # type: ignore[arg-type]
    measurement = remembered(sf.vector(int, size=size) >> layered_counts(range(2), made, measure=sf.ZCDP))
    assert measurement.map(1) == loss
    members = multisets(range(2), range(3) if size is None else range(2, 3))
    missed = NEGLIGIBLE if size is None else Fraction(1, 10**4)
    low, high = brute_renyi(measurement, members, order=Fraction(2), missed=missed)
    assert Fraction(7, 10) * 2 * loss.rho < low <= high <= 2 * loss.rho + SLACK


def test_rows_in_different_bins_of_one_node_move_it_together() -> None:
    """Two rows in two bins are √2 apart as bins, and 2 apart as one node: the map must see the 2."""
    made = layers(sf.ZCDP(1), shift=Fraction(1), tops=TWO[:1], shares=[Fraction(1)])
    measurement = remembered(sf.vector(int) >> layered_counts(range(2), made, measure=sf.ZCDP))
    low, high = brute_renyi(measurement, [[], [0, 1]], order=Fraction(2), d_in=2, missed=NEGLIGIBLE)
    assert measurement.map(2) == sf.ZCDP(4)
    assert low > 2 * 2 * Fraction(3, 2)  # far above the 2 · (√2)² that the distance of the bins would give
    assert high <= 2 * 4 + SLACK


@pytest.mark.parametrize("loss", [sf.Pure(1), sf.ZCDP("0.5"), sf.Pure("0.1"), sf.ZCDP(8)])
@pytest.mark.parametrize("size", [None, 40])
@pytest.mark.parametrize("bins", [2, 5, 64, 300])
def test_whatever_is_chosen_costs_no_more_than_asked(loss: sf.Pure | sf.ZCDP, size: int | None, bins: int) -> None:
    made = sf.vector(int, size=size) >> sf.stats.tree(range(bins + 1), loss=loss)
    assert made.check(1, loss)
    given = sf.vector(int, size=size) >> sf.stats.tree(range(bins + 1), loss=loss, branching=2)
    assert given.map(1) == loss
    twice = sf.vector(int, size=size) >> sf.stats.tree(range(bins + 1), loss=loss, branching=2, d_in=2)
    assert twice.map(2) == loss


@pytest.mark.parametrize(
    "make", [lambda: Sines.of(7), lambda: Hats.of(40, best_plan(64, concentrated=False, known=False))]
)
@pytest.mark.parametrize("norm", [L1(), L2()])
def test_strategies_move_by_their_longest_column(make: object, norm: L1 | L2) -> None:
    strategy = make()  # type: ignore[operator]
    bins = strategy.matrix.shape[1]
    space = sf.vector(int) >> count_by(range(bins))
    made = space >> weighted_counts(strategy.matrix, own=strategy.own, metric=norm)
    members = [[], [0, 1], *([place] for place in range(bins)), *([place, place] for place in range(bins))]
    assert brute_sensitivity(made, members) == made.map(1)
    assert brute_sensitivity(made, members, d_in=2) == made.map(2)
    below = replace(made, stability_map=lambda d_in: made.stability_map(d_in * Fraction(99, 100)))
    assert brute_sensitivity(below, members) > below.map(1)


def test_every_column_of_hats_adds_up_to_the_same() -> None:
    hats = Hats.of(1000, best_plan(1000, concentrated=False, known=False))
    assert set((hats.matrix.sum(axis=0) + hats.own).tolist()) == {2 * 128 * 4096}
    assert int(hats.matrix.min()) == 0


def test_strategies_lose_exactly_what_is_claimed() -> None:
    """The law of a small strategy's rows, over all data sets of up to two rows in three bins."""
    matrix = np.array([[1, 2, 1], [2, 0, 1]], dtype=np.int32)
    counted = sf.vector(int) >> count_by(range(3)) >> weighted_counts(matrix, own=1, metric=L1())
    measurement = remembered(counted >> sf.laplace(scale="0.2"))
    assert measurement.map(1) == sf.Pure(20)
    low, high = brute_epsilon(measurement, multisets(range(3), range(3)), missed=Fraction(1, 20))
    assert 20 - SLACK <= low <= high <= 20 + SLACK
    concentrated = remembered(
        sf.vector(int) >> count_by(range(3)) >> weighted_counts(matrix, metric=L2()) >> sf.gaussian(scale=1)
    )
    assert concentrated.map(1) == sf.ZCDP("2.5")
    low, high = brute_renyi(concentrated, multisets(range(3), range(2)), order=Fraction(2), missed=NEGLIGIBLE)
    assert Fraction(49, 10) < low <= high <= 5 + SLACK


def test_A2_013_levels_share_the_loss() -> None:
    """Four levels, even split: the leaves' noise is 4 times as wide for Pure, 2 times for zCDP."""
    whole, part = Fraction(1), Fraction(1, 4)
    for loss, factor in ((sf.Pure("0.7"), 4), (sf.ZCDP("0.7"), 2)):
        alone, shared = (noise_within(loss.scaled(share), Fraction(1)) for share in (whole, part))
        assert shared.scale == alone.scale * factor
    places = sf.frame({"a": [0, 1], "b": [0, 1], "c": [0, 1]})
    levels = [[], ["a"], ["a", "b"], ["a", "b", "c"]]
    for loss in (sf.Pure("0.7"), sf.ZCDP("0.7")):
        assert (places >> sf.stats.hierarchical_counts(levels, loss=loss)).map(1) == loss


def test_the_loss_of_layers_is_exact_at_any_distance() -> None:
    noise = DiscreteLaplace(Fraction(3))
    space = sf.vector(int, size=5)
    for rows in (1, 2, 7):
        lost = layered_loss(
            Fraction(rows),
            layers=[(noise, 1), (noise, 4)],
            measure=sf.Pure,
            norm=L1(),
            metric=space.metric,
            size=5,  # type: ignore[arg-type]
        )
        assert lost == sf.Pure(Fraction(min(rows, 5) * 3, 3))


def test_bands_are_exact_at_every_power_of_two() -> None:
    made = sf.vector(float) >> log_bands()
    for exponent in range(-1074, 1024):
        edge = math.ldexp(1.0, exponent)
        below, above = math.nextafter(edge, 0), math.nextafter(edge, math.inf)
        wanted = exponent + 1075
        assert made([edge, -edge]).tolist() == [wanted, -wanted]
        assert made([below]).tolist() == [wanted - 1]
        assert made([above]).tolist() in ([wanted], [wanted + 1] if exponent == -1074 else [wanted])
    whole = sf.vector(int) >> log_bands()
    for power in (*range(70), 1023, 1024, 1030):
        found = [whole([value]).tolist()[0] for value in (2**power - 1, 2**power, -(2**power), 2**power + 1)]
        label = min(power + 1075, 2099)
        low = 0 if power == 0 else min(power + 1074, 2099)
        assert found == [low, label, -label, min((2**power + 1).bit_length() + 1074, 2099)]
        assert whole([2**power - 1, 2**power, -(2**power), 2**power + 1]).tolist() == found
    assert whole(np.array([-(2**63), 2**63 - 1, 0])).tolist() == [-(1075 + 63), 1075 + 62, 0]


def test_band_counts_move_by_one() -> None:
    made = sf.vector(float) >> log_bands() >> count_by()
    members = [list(rows) for size in range(3) for rows in product((0.0, -1.5, 3.0), repeat=size)]
    assert brute_sensitivity(made, members) == made.map(1) == 1

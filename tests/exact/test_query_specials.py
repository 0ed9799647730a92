"""Quantiles, histograms and top values of a query, enumerated: every small table of counts, every unit removed."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest
from flint import arb

from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.entropy import ReplayEntropy
from sfumato.exact import ball, upper
from sfumato.mechanisms.cut_plans import Cut, added_loss, balanced, halving
from sfumato.mechanisms.recursive_quantiles import point_sensitivity
from sfumato.mechanisms.scoring import exponents_of
from sfumato.noise.selection_laws import exponential_probabilities, top_k_probabilities
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.questions import Deviation, Histogram, Quantile, TopValues
from sfumato.query.plan.bins import Bins
from sfumato.query.plan.deviations import Deviations, DeviationsAt
from sfumato.query.plan.expand_lists import items
from sfumato.query.plan.lists import Binned, BinnedAt, Top, top_loss
from sfumato.query.plan.quantiles import (
    Cutting,
    Quantiles,
    QuantilesAt,
    bin_sensitivity,
    rank_pieces,
    rows_below,
    wanted_rank,
)
from sfumato.query.plan.selection_statistics import Counts, Special, unit_loss

pytestmark = pytest.mark.sharp_balls

HALF, QUARTER, MOST = Fraction(1, 2), Fraction(1, 4), Fraction(4, 5)
THREE = [QUARTER, HALF, 3 * QUARTER]
COLD = Fraction(1, 8)
Law = dict[Hashable, arb]
Table = tuple[int, ...]
"""The number of rows in each bin of a group."""


def tables(bins: int, most: int) -> list[Table]:
    found = []
    for size in range(most + 1):
        for rows in combinations_with_replacement(range(bins), size):
            held = Counter(rows)
            found.append(tuple(held[place] for place in range(bins)))
    return found


def one_row_apart(bins: int, most: int) -> Iterator[tuple[Table, Table]]:
    for table in tables(bins, most - 1):
        for place in range(bins):
            yield table, tuple(rows + (at == place) for at, rows in enumerate(table))


def cuts_law(cutting: Cutting, plan: Cut | None, table: Table, ends: tuple[int, int]) -> Law:
    """Lists the joint law of all bins of a plan: every choice, and every way the coins can fall."""
    if plan is None:
        return {(): ball(1)}
    bins = np.array([place for place, rows in enumerate(table) if rows], dtype=np.int64)
    pieces, unit, parts = cutting.pieces(plan, bins, np.array([table[place] for place in bins], dtype=np.int64), ends)
    chances = exponential_probabilities(exponents_of(pieces.scores, unit), widths=pieces.widths.tolist())
    found: Law = {}
    for start, width, chance in zip(pieces.starts.tolist(), pieces.widths.tolist(), chances, strict=True):
        for position in range(start, start + width):
            chosen, part = divmod(position, parts)
            for under, coins in splits(table[chosen], Fraction(2 * part + 1, 2 * parts)):
                left = tuple(n if at < chosen else under if at == chosen else 0 for at, n in enumerate(table))
                right = tuple(rows - gone for rows, gone in zip(table, left, strict=True))
                lower = cuts_law(cutting, plan.left, left, (ends[0], chosen))
                higher = cuts_law(cutting, plan.right, right, (chosen, ends[1]))
                for (one, first), (other, second) in product(lower.items(), higher.items()):
                    outcome = (*one, chosen, *other)  # type: ignore[misc]
                    found[outcome] = found.get(outcome, ball(0)) + chance / width * coins * first * second
    return found


def splits(rows: int, chance: Fraction) -> list[tuple[int, arb]]:
    return [
        (under, ball(math.comb(rows, under) * chance**under * (1 - chance) ** (rows - under)))
        for under in range(rows + 1)
    ]


def largest_loss(pairs: Iterator[tuple[Law, Law]]) -> Fraction:
    """Gives an upper bound of the largest |log ratio|, sharp to some hundred bits."""
    found = Fraction(0)
    for left, right in pairs:
        assert left.keys() == right.keys()
        for outcome, chance in left.items():
            found = max(found, Fraction(upper(lambda: abs((chance / right[outcome]).log()))))  # noqa: B023
    return found


def largest_divergence(pairs: Iterator[tuple[Law, Law]], order: int) -> Fraction:
    found = Fraction(0)
    for one, two in pairs:
        for left, right in ((one, two), (two, one)):
            moment = sum((left[at] ** order / right[at] ** (order - 1) for at in left), arb(0))
            found = max(found, Fraction(upper(lambda: moment.log() / (order - 1))))  # noqa: B023
    return found


def planned(alphas: list[Fraction], heat: Fraction, measure: type[Loss] = Pure) -> tuple[Cut | None, Loss]:
    """Gives the plan of quantiles as it is run, and what is charged for it."""
    plan = balanced(halving(alphas), heat, measure, bin_sensitivity)
    return plan, added_loss(plan, measure, bin_sensitivity)


def quantile_pairs(plan: Cut | None, bins: int, most: int, parts: int = 2) -> Iterator[tuple[Law, Law]]:
    cutting = Cutting(margin=1, parts=parts)
    law = cache(lambda table: cuts_law(cutting, plan, table, (0, bins - 1)))
    return ((law(left), law(right)) for left, right in one_row_apart(bins, most))


PLANS = {
    "median": [HALF],
    "quarter": [QUARTER],
    "least": [Fraction(0)],
    "greatest": [Fraction(1)],
    "ends": [Fraction(0), Fraction(1)],
    "two": [QUARTER, MOST],
    "three": THREE,
}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("heat", [COLD, Fraction(1)], ids=["cold", "warm"])
def test_one_row_loses_no_more_than_is_charged(name: str, heat: Fraction) -> None:
    plan, charged = planned(PLANS[name], heat)
    assert isinstance(charged, Pure)
    assert largest_loss(quantile_pairs(plan, 3, 4)) <= charged.epsilon


def gap_loss(alpha: Fraction, heat: Fraction, added: int) -> Fraction:
    """Gives what the top bin loses when rows are added at 0 and nearly all weight is in a wide gap below the rank.

    One row is at 0, and so many are in one bin beyond the gap that the rank stays there.
    """
    wide, block = 1 << 61, math.ceil((1 + added) / max(alpha, Fraction(1, 10)))
    at = 1 / (2 * alpha.denominator * heat)
    found = []
    for first in (1, 1 + added):
        bins, rows = np.array([0, wide]), np.array([first, block])
        rank = wanted_rank(alpha, first + block, 1 + added)
        pieces = rank_pieces(bins, rows, (0, wide + 1), rank, 2 * alpha.denominator, 1)
        chances = exponential_probabilities(exponents_of(pieces.scores, at), widths=pieces.widths.tolist())
        found.append(chances[pieces.starts.tolist().index(wide + 1)])
    return Fraction(upper(lambda: (found[0] / found[1]).log()))


@pytest.mark.parametrize("alpha", [HALF, Fraction(3, 10), Fraction(1, 10), Fraction(0)])
def test_the_charge_is_nearly_reached(alpha: Fraction) -> None:
    """A smaller charge would be a lie: where there are very many bins, a row can lose all of it."""
    heat = Fraction(1, 8)
    _, charged = planned([alpha], heat)
    assert isinstance(charged, Pure)
    assert Fraction(99, 100) * Fraction(charged.epsilon) < gap_loss(alpha, heat, 1) <= charged.epsilon


def test_a_row_that_may_go_either_way_costs_the_whole_range() -> None:
    """One by side, as for points, would be a lie: a row of the chosen bin goes on below by a coin, and costs more.

    Four rows lie beyond a wide gap with nearly all the weight; one is added in the bin above, and part 0 of it chosen.
    """
    wide, alpha = 1 << 61, Fraction(4, 5)
    chances = []
    for rows in ([4, 0], [4, 1]):
        bins, rank = np.array([wide, wide + 1]), wanted_rank(alpha, sum(rows), 1)
        pieces = rank_pieces(bins, np.array(rows), (0, wide + 1), rank, 10, 2)
        laws = exponential_probabilities(exponents_of(pieces.scores, 1 / (20 * COLD)), widths=pieces.widths.tolist())
        places = {int(start): place for place, start in enumerate(pieces.starts) if pieces.widths[place]}
        chances.append(laws[places[2 * (wide + 1)]])
    lost = Fraction(upper(lambda: (chances[1] / chances[0]).log()))
    by_side, whole = point_sensitivity(alpha, Pure), bin_sensitivity(alpha, Pure)
    assert by_side.below / COLD < Fraction(99, 100) * whole.below / COLD < lost <= whole.below / COLD


def test_cheap_paths_are_cooled_until_all_cost_the_same() -> None:
    """Of .2, .5, .6 and .9 the path above the root, .6, is the cheaper one: it is colder, at the same charge."""
    levels = [Fraction(1, 5), HALF, Fraction(3, 5), Fraction(9, 10)]
    plan, charged = planned(levels, Fraction(1))
    assert charged == added_loss(halving(levels), Pure, bin_sensitivity)
    assert plan is not None and plan.left is not None and plan.right is not None
    assert plan.right.temperature < plan.left.temperature == plan.temperature == 1


def test_half_the_temperature_is_caught() -> None:
    _, charged = planned(THREE, COLD)
    assert isinstance(charged, Pure)
    assert largest_loss(quantile_pairs(planned(THREE, COLD / 2)[0], 3, 4)) > charged.epsilon


@pytest.mark.parametrize("name", ["median", "least", "three"])
@pytest.mark.parametrize("order", [2, 9])
def test_zcdp_adds_up_along_a_path(name: str, order: int) -> None:
    plan, charged = planned(PLANS[name], Fraction(1), ZCDP)
    assert isinstance(charged, ZCDP)
    found = largest_divergence(quantile_pairs(plan, 3, 3), order)
    assert order * Fraction(charged.rho) / 100 < found <= order * charged.rho


def deviation_law(heat: Fraction, table: Table, measure: type[Loss] = Pure) -> Law:
    """Lists the joint law of the median that is chosen and of how far rows are from it."""
    plan, _ = planned([HALF], heat, measure)
    cutting, last, law = Cutting(margin=1), len(table) - 1, {}
    for (middle,), chance in cuts_law(cutting, plan, table, (0, last)).items():  # type: ignore[misc]
        far = max(middle, last - middle)
        away = tuple(sum(rows for at, rows in enumerate(table) if abs(at - middle) == d) for d in range(far + 1))
        for (chosen,), second in cuts_law(cutting, plan, away, (0, far)).items():  # type: ignore[misc]
            law[middle, chosen] = chance * second
    return law


DEVIATION = Deviations(Bins.read(Column("x", Kind.INT, Facts((Fraction(0), Fraction(3)), None, nullable=False))))


@pytest.mark.parametrize("heat", [COLD, Fraction(1)], ids=["cold", "warm"])
def test_a_deviation_loses_no_more_than_is_charged_and_half_the_temperature_is_caught(heat: Fraction) -> None:
    charged = DEVIATION.one_row(Pure, heat)
    assert isinstance(charged, Pure)
    law = cache(lambda table: deviation_law(heat, table))
    found = largest_loss((law(left), law(right)) for left, right in one_row_apart(3, 4))
    assert found <= charged.epsilon
    if heat == COLD:
        assert found > Fraction(charged.epsilon) / 2, "one median alone would be a lie"
    colder = cache(lambda table: deviation_law(heat / 4, table))
    assert largest_loss((colder(left), colder(right)) for left, right in one_row_apart(3, 4)) > charged.epsilon


@pytest.mark.parametrize("order", [2, 9])
def test_both_choices_of_a_deviation_add_up_in_zcdp(order: int) -> None:
    charged = DEVIATION.one_row(ZCDP, Fraction(1))
    assert isinstance(charged, ZCDP)
    law = cache(lambda table: deviation_law(Fraction(1), table, ZCDP))
    pairs = ((law(left), law(right)) for left, right in one_row_apart(3, 3))
    assert largest_divergence(pairs, order) <= order * charged.rho


def test_deviations_follow_the_law() -> None:
    """1,500 draws differ from the enumerated law by no more than chance does; those of another table do not."""
    special = Special((Deviation(X),), GroupedDistance(1, 1, 1), 1, DEVIATION)
    priced = DeviationsAt(special, DEVIATION, Pure, Fraction(2))
    surplus = {}
    for table in ((2, 0, 3, 1), (0, 1, 0, 5)):
        entropy, bins = ReplayEntropy(6), np.flatnonzero(table)
        seen = Counter(priced.far(bins, np.array(table)[bins], entropy) for _ in range(1_500))
        law: dict[int, float] = {}
        for (_, far), chance in deviation_law(Fraction(2), (2, 0, 3, 1)).items():  # type: ignore[misc]
            law[far] = law.get(far, 0.0) + float(chance)
        surplus[table] = sum((seen[far] - 1_500 * mean) ** 2 / (1_500 * mean) for far, mean in law.items())
    assert surplus[2, 0, 3, 1] < 4 + 5 * math.sqrt(8) < surplus[0, 1, 0, 5]


def score(table: Table, place: int, part: int, parts: int, rank: Fraction) -> Fraction:
    """Gives the score of a part of a bin, from its definition."""
    below, rows = sum(table[:place]), table[place]
    low, high = below + Fraction(part * rows, parts), below + Fraction((part + 1) * rows, parts)
    return -max(Fraction(0), low - rank, rank - high)


def wanted(alpha: Fraction, total: int, margin: int) -> Fraction:
    """Gives the wanted rank, from its definition."""
    if Fraction(1, 10) <= alpha <= Fraction(9, 10):
        return alpha * total
    inner = min(Fraction(margin), Fraction(total, 2))
    return max(alpha * total, inner) if alpha < HALF else total - max((1 - alpha) * total, inner)


@pytest.mark.parametrize("alpha", [HALF, QUARTER, MOST, Fraction(0), Fraction(1), Fraction(1, 50), Fraction(49, 50)])
@pytest.mark.parametrize("parts", [1, 2])
def test_pieces_are_the_definition_and_move_as_stated(alpha: Fraction, parts: int) -> None:
    bins, margin, widest = 4, 2, Fraction(0)
    unit = 2 * alpha.denominator

    @cache
    def scores(table: Table) -> tuple[Fraction, ...]:
        there = np.flatnonzero(table)
        rows = np.array(table, dtype=np.int64)[there]
        rank = wanted_rank(alpha, sum(table), margin)
        assert Fraction(rank, unit) == wanted(alpha, sum(table), margin)
        pieces = rank_pieces(there, rows, (0, bins - 1), rank, unit, parts)
        found = {}
        for start, width, steps in zip(pieces.starts, pieces.widths, pieces.scores, strict=True):
            for position in range(int(start), int(start + width)):
                assert position not in found
                found[position] = Fraction(int(steps), unit * parts)
        made = tuple(found[position] for position in range(bins * parts))
        places = product(range(bins), range(parts))
        assert made == tuple(score(table, place, part, parts, Fraction(rank, unit)) for place, part in places)
        return made

    for left, right in one_row_apart(bins, 6):
        moves = [after - before for before, after in zip(scores(left), scores(right), strict=True)]
        widest = max(widest, max(moves) - min(moves))
    stated = bin_sensitivity(alpha, Pure).below
    assert widest <= stated
    assert widest == stated or parts > 1, "with one part the statement is tight"


def test_scores_beyond_64_bits_are_exact() -> None:
    rows = np.array([1 << 60, 1 << 59], dtype=np.int64)
    pieces = rank_pieces(np.array([0, 1]), rows, (0, 1), wanted_rank(QUARTER, 3 << 59, 1), 8, 1)
    scores = [int(one) for one, width in zip(pieces.scores, pieces.widths, strict=True) if width]
    assert scores == [0, -8 * ((1 << 60) - (3 << 57))]


@pytest.mark.parametrize("alphas", [[HALF], [Fraction(0)], THREE], ids=["median", "least", "three"])
def test_draws_follow_the_law(alphas: list[Fraction]) -> None:
    """1,500 draws differ from the enumerated law by no more than chance does."""
    plan, table, entropy = planned(alphas, Fraction(2))[0], (2, 0, 3), ReplayEntropy(6)
    cutting = Cutting(margin=1, parts=2)
    law = cuts_law(cutting, plan, table, (0, 2))
    bins, rows = np.array([0, 2]), np.array([2, 3])
    seen = Counter(tuple(cutting.draw(plan, bins, rows, (0, 2), entropy)) for _ in range(1_500))
    assert set(seen) <= set(law)
    expected = {outcome: 1_500 * float(chance) for outcome, chance in law.items()}
    surplus = sum(((seen[at] - mean) ** 2 / mean for at, mean in expected.items()), 0.0)  # type: ignore[index]
    assert surplus < len(law) + 5 * math.sqrt(2 * len(law))


def test_coins_of_a_bin_are_fair_to_the_part() -> None:
    entropy = ReplayEntropy(1)
    for part, parts in ((0, 1), (0, 16), (15, 16), (127, 128)):
        chance = (2 * part + 1) / (2 * parts)
        found = rows_below(200_000, part, parts, entropy)
        assert abs(found - 200_000 * chance) < 5 * math.sqrt(200_000 * chance * (1 - chance))
    assert rows_below(0, 3, 16, entropy) == 0


def both(left: Law, right: Law) -> Law:
    return {(one, two): first * second for one, first in left.items() for two, second in right.items()}


@pytest.mark.parametrize("rows", [(1, 0), (1, 1), (2, 1)])
def test_a_unit_pays_for_its_rows_in_all_groups(rows: tuple[int, int]) -> None:
    """Two groups, and a unit with rows in both: enumerated over all tables and all places of its rows."""
    (plan, one_row), cutting = planned([HALF], COLD), Cutting(margin=1)
    law = cache(lambda table: cuts_law(cutting, plan, table, (0, 2)))
    spread = GroupedDistance(2, sum(rows), max(rows))
    charged = unit_loss(one_row, spread.rows, spread.squares, 1)

    assert isinstance(charged, Pure)
    found = sum(gap_loss(HALF, COLD, added) for added in rows if added)  # independent groups: losses add up
    assert Fraction(99, 100) * Fraction(charged.epsilon) < found <= charged.epsilon
    for added in filter(None, rows):
        pairs = list(product(tables(3, 4), combinations_with_replacement(range(3), added)))
        alone = largest_loss((law(table), law(with_rows(table, places))) for table, places in pairs)
        assert alone <= added / COLD
    left, right = ((2, 0, 1), (0, 1, 1))
    pair = both(law(left), law(right)), both(law((2 + rows[0], 0, 1)), law((0, 1, 1 + rows[1])))
    assert largest_loss(iter([pair])) <= charged.epsilon
    warmer, one_row = planned([HALF], Fraction(1), ZCDP)
    concentrated = unit_loss(one_row, spread.rows, spread.squares, 1)
    warm = cache(lambda table: cuts_law(cutting, warmer, table, (0, 2)))
    pair = both(warm(left), warm(right)), both(warm((2 + rows[0], 0, 1)), warm((0, 1, 1 + rows[1])))
    assert isinstance(concentrated, ZCDP)
    assert largest_divergence(iter([pair]), 3) <= 3 * concentrated.rho


def with_rows(table: Table, places: tuple[int, ...]) -> Table:
    return tuple(rows + places.count(at) for at, rows in enumerate(table))


@pytest.mark.parametrize("distance", [0, 1, 2])
def test_what_a_unit_loses_is_for_any_distance(distance: int) -> None:
    assert unit_loss(Pure(Fraction(1, 3)), 6, 14, distance) == Pure(Fraction(6, 3) * distance)
    assert unit_loss(ZCDP(Fraction(1, 3)), 6, 14, distance) == ZCDP(Fraction(14, 3) * distance**2)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("measure", [Pure, ZCDP])
def test_top_values_lose_what_is_charged(count: int, measure: type[Loss]) -> None:
    heat = Fraction(1, 4) if measure is Pure else Fraction(1)
    law = cache(lambda table: top_k_probabilities([rows / heat for rows in map(Fraction, table)], k=count))
    pairs: Callable[[], Iterator[tuple[Law, Law]]]
    pairs = lambda: ((law(left), law(right)) for left, right in one_row_apart(3, 4))  # type: ignore[misc]  # noqa: E731
    charged = top_loss(count, heat, measure)
    if isinstance(charged, Pure):
        assert Fraction(8, 10) * Fraction(charged.epsilon) < largest_loss(pairs()) <= charged.epsilon
    elif isinstance(charged, ZCDP):
        assert order_of(charged, 10) < largest_divergence(pairs(), 4) <= 4 * charged.rho


def order_of(charged: ZCDP, part: int) -> Fraction:
    return 4 * Fraction(charged.rho) / part


X = Column("x", Kind.INT, Facts((Fraction(0), Fraction(3)), None, nullable=False))
SHARES = [Pure(Fraction(1, 3)), ZCDP(Fraction(1, 50))]
SPREADS = [GroupedDistance(1, 1, 1), GroupedDistance(3, 4, 2), GroupedDistance(2, 10, 5)]


@pytest.mark.parametrize("share", SHARES, ids=str)
@pytest.mark.parametrize("spread", SPREADS, ids=str)
@pytest.mark.parametrize("apart", [1, 3])
def test_every_special_costs_its_share_and_hardly_less(share: Pure | ZCDP, spread: GroupedDistance, apart: int) -> None:
    histogram, top = Histogram(X, (0, 1, 3)), TopValues(X, 2)
    specials = [
        Quantiles.special([Quantile(X, at) for at in THREE], spread, apart),
        Special((Deviation(X),), spread, apart, DEVIATION),
        Special(tuple(item for _, item in items(histogram)), spread, apart, Binned(histogram)),
        Special(tuple(item for _, item in items(top)), spread, apart, Top(top, top.of.facts.listed(top.of.kind) or ())),
    ]
    for special in specials:
        loss = special.priced(share).loss(apart)
        amount, most = ((Fraction(one.epsilon if isinstance(one, Pure) else one.rho)) for one in (loss, share))
        assert type(loss) is type(share)
        assert most * Fraction(999, 1000) < amount <= most


@pytest.mark.parametrize("spread", SPREADS, ids=str)
def test_bins_of_a_histogram_move_as_groups_do(spread: GroupedDistance) -> None:
    """All ways in which a unit's rows fall into two bins of each of three groups, within the spread of the groups."""
    histogram = Histogram(X, (0, 1, 3))
    special = Special(tuple(item for _, item in items(histogram)), spread, 1, Binned(histogram))
    priced, l1, l2 = special.priced(Pure(1)), 0, 0
    assert isinstance(priced, BinnedAt)
    for cells in product(range(int(spread.largest) + 1), repeat=6):
        groups = [one + two for one, two in zip(cells[::2], cells[1::2], strict=True)]
        apart = (
            GroupedDistance(sum(map(bool, groups)), sum(groups), max(groups))
            if any(groups)
            else GroupedDistance(0, 0, 0)
        )
        if apart <= spread:
            l1, l2 = max(l1, sum(cells)), max(l2, sum(cell**2 for cell in cells))
    assert (l1, l2) == (priced.part.influence.l1, spread.squares)


@pytest.mark.parametrize("alpha", [HALF, QUARTER, Fraction(0)])
def test_the_rank_is_as_near_as_is_said(alpha: Fraction) -> None:
    """Of every small table: the chance that the rank is further off than is said is no more than one in twenty."""
    column = Column("x", Kind.INT, Facts((Fraction(0), Fraction(3)), None, nullable=False))
    priced = Quantiles.special([Quantile(column, alpha)], GroupedDistance(1, 1, 1), 1).priced(Pure(12))
    assert isinstance(priced, QuantilesAt)
    said = re.fullmatch("± ([0-9]+) rows in rank", priced.error(Fraction(19, 20)))
    assert said is not None
    cutting, plan = Cutting(priced.margin), planned([alpha], priced.temperature)[0]
    for table in tables(4, 5):
        rank = wanted(alpha, sum(table), priced.margin)
        law = cuts_law(cutting, plan, table, (0, 3))
        off = [law[place,] for place in range(4) if -score(table, place, 0, 1, rank) >= int(said[1]) + 1]
        assert Fraction(upper(lambda: sum(off, arb(0)))) <= Fraction(1, 20)  # noqa: B023


def test_the_middle_rank_is_found_and_ends_are_a_margin_inside() -> None:
    """With 100,000 rows spread evenly, and at a warm price, quantiles come within a few bins of where they belong."""
    column = Column("x", Kind.INT, Facts((Fraction(0), Fraction(999)), None, nullable=False))
    levels = [Fraction(0), QUARTER, HALF, Fraction(1)]
    special = Quantiles.special([Quantile(column, at) for at in levels], GroupedDistance(1, 1, 1), 1)
    priced = special.priced(Pure(1))
    counts = Counts.of(np.zeros(1000, dtype=np.int64), np.arange(1000), np.full(1000, 100), 1)
    found = [int(places[0]) for places in priced.draw(counts, ReplayEntropy(1))]
    assert all(abs(place - 999 * float(at)) <= 3 for place, at in zip(found, levels, strict=True))
    assert all(first <= second for first, second in pairwise(found))

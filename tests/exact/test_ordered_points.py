"""Ordered points: the tables against exact sums, and the whole law of the walk against the definition, as balls."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest
from flint import arb

from sfumato.entropy import Entropy
from sfumato.exact import BITS, ball
from sfumato.noise import ordered_points
from sfumato.noise.ordered_points import (
    ROOMY,
    Odds,
    Run,
    Walk,
    gap_weights,
    kept_chance,
    later_pieces,
    length_tickets,
    piece_tickets,
    plan_walk,
    points_inside,
    tickets,
)
from sfumato.noise.wide import Wide, exp_near, fading_sums, nothing, powers

pytestmark = pytest.mark.sharp_balls(2 * BITS)

CASES = {
    "even": ([3, 1, 4, 1, 5], [Fraction(4, 3)] * 3, Fraction(1, 2)),
    "no points in some pieces": ([0, 2, 0, 0, 7, 0, 1], [Fraction(2)] * 4, Fraction(1)),
    "all rows equal": ([3, 0, 0, 0, 0, 4], [Fraction(1), Fraction(3, 2), Fraction(5, 2)], Fraction(2)),
    "no rows": ([6], [Fraction(5)] * 3, Fraction(1)),
    "cold": ([1, 2, 3, 2, 1], [Fraction(1, 3), Fraction(2), Fraction(5, 3)], Fraction(2000)),
    "a number of rows that is far off": ([1, 2, 3], [Fraction(10**12)] * 3, Fraction(1, 10)),
    "wide": ([2**61, 1, 2, 2**61], [Fraction(1)] * 4, Fraction(50)),
    "hot": ([5, 4, 3, 2, 1, 0], [Fraction(0), Fraction(5), Fraction(0)], Fraction(1, 10**9)),
}


def exact(values: Wide) -> list[arb]:
    return [
        ball(Fraction(float(mantissa))) * arb(2) ** int(exponent) if mantissa else arb(0)
        for mantissa, exponent in zip(values.mantissas, values.exponents, strict=True)
    ]


def fade(x: Fraction) -> arb:
    return ball(-x).exp()


def near(found: arb, true: arb, bits: int) -> bool:
    if true == 0:
        return bool(found == 0)
    return bool(abs(found / true - 1) < arb(2) ** -bits)


def random_wide(count: int, seed: int) -> Wide:
    rng = np.random.default_rng(seed)
    values = Wide(rng.uniform(0.5, 1, count), rng.integers(-3000, 3000, count))
    kept = rng.random(count) < 0.8
    return Wide(np.where(kept, values.mantissas, 0.0), np.where(kept, values.exponents, nothing(1).exponents))


@pytest.mark.parametrize("rate", [Fraction(1, 10**9), Fraction(1, 3), Fraction(7), Fraction(1 << 16)])
def test_powers_and_fading_sums_have_their_stated_errors(rate: Fraction) -> None:
    count = 45
    for place, found in enumerate(exact(powers(rate, count))):
        assert near(found, fade(rate * place), 46)
    values = random_wide(count, 3)
    listed = exact(values)
    for length in (0, 1, 2, 5, 13, 44, 45, 200):
        for end, found in enumerate(exact(fading_sums(values, rate, length))):
            true = sum((fade(rate * back) * listed[end - back] for back in range(min(length, end + 1))), arb(0))
            assert near(found, true, 45)


@pytest.mark.parametrize(
    "target", [Fraction(0), Fraction(1, 3), Fraction(7), Fraction(15, 2), Fraction(19), Fraction(50)]
)
@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(3), Fraction(5000)])
def test_gaps_and_later_pieces(target: Fraction, rate: Fraction) -> None:
    count = 20
    weights = exact(gap_weights(target, rate, powers(rate, count)))
    assert all(near(found, fade(rate * abs(gap - target)), 44) for gap, found in enumerate(weights))
    values = random_wide(count, 5)
    listed = exact(values)
    for piece, found in enumerate(exact(later_pieces(values, target, rate))):
        later = range(piece + 1, count)
        assert near(found, sum((fade(rate * abs(i - piece - target)) * listed[i] for i in later), arb(0)), 43)


def test_wide_numbers_neither_vanish_nor_overflow() -> None:
    tiny = exp_near(Fraction(10**12))
    assert tiny.mantissas[0] > 0 and tiny.exponents[0] < -(10**12)
    assert tiny.plus(nothing(1)).exponents[0] == tiny.exponents[0]
    assert nothing(3).times(tiny).mantissas.sum() == 0 and nothing(1).plus(nothing(1)).mantissas[0] == 0


@dataclass(frozen=True)
class Ending:
    """Is one way through the walk: where it ends, how likely it is to get there, and to be kept there."""

    found: tuple[Run, ...]
    chance: arb
    kept: arb


def endings(walk: Walk) -> Iterator[Ending]:
    """Lists every walk with its exact probability: a product of tickets over totals, and the last coin."""
    open_walks: list[tuple[tuple[Run, ...], Fraction, Odds]] = [((), Fraction(1), Odds(Fraction(1), 0))]
    while open_walks:
        found, chance, odds = open_walks.pop()
        placed = sum(count for _, count in found)
        if placed == walk.points:
            yield Ending(found, ball(chance), kept_chance(walk, found, odds).below(1))
            continue
        piece = found[-1][0] if found else None
        choice = piece_tickets(walk, placed, piece)
        assert sum(choice.counts.tolist()) <= choice.total
        for way in np.flatnonzero(choice.counts).tolist():
            there = way if piece is None else piece + 1 + way
            lengths = length_tickets(walk, placed + 1, there)
            for more in np.flatnonzero(lengths.counts).tolist():
                part = Fraction(int(choice.counts[way]), choice.total) * Fraction(
                    int(lengths.counts[more]), lengths.total
                )
                total = odds.times(choice.odds(way)).times(lengths.odds(more))
                open_walks.append(((*found, (there, more + 1)), chance * part, total))


def true_weights(walk: Walk) -> dict[tuple[Run, ...], arb]:
    """Gives the weight of each set of runs from the definition: over all sequences of pieces, in order."""
    found: dict[tuple[Run, ...], arb] = {}
    usable = [piece for piece, width in enumerate(walk.widths.tolist()) if width]
    for pieces in combinations_with_replacement(usable, walk.points):
        gaps = [after - before for before, after in pairwise([0, *pieces, len(walk.widths) - 1])]
        runs = tuple((piece, pieces.count(piece)) for piece in sorted(set(pieces)))
        ways = math.prod(math.comb(int(walk.widths[piece]) + count - 1, count) for piece, count in runs)
        misfit = sum(abs(gap - target) for gap, target in zip(gaps, walk.targets, strict=True))
        found[runs] = ways * fade(walk.rate * misfit)
    return found


@pytest.mark.parametrize("case", CASES)
def test_the_walk_has_exactly_the_law(case: str) -> None:
    """Chance × kept is the true weight times one constant, for every walk; and nearly all walks are kept."""
    widths, targets, rate = CASES[case]
    walk = plan_walk(np.array(widths), targets, rate)
    true = true_weights(walk)
    seen = {ending.found: ending for ending in endings(walk)}
    assert seen.keys() == true.keys()
    whole = sum(true.values(), arb(0))
    kept = sum((ending.chance * ending.kept for ending in seen.values()), arb(0))
    for runs, ending in seen.items():
        assert ending.kept <= 1
        assert (ending.chance * ending.kept / kept).overlaps(true[runs] / whole)
        assert near(ending.chance * ending.kept / kept, true[runs] / whole, 150)
    assert 1 - kept < arb(2) ** -25


def test_a_wrong_coin_is_seen() -> None:
    """Without the last coin the law is off by more than the balls: the test above can fail."""
    widths, targets, rate = CASES["cold"]
    walk = plan_walk(np.array(widths), targets, rate)
    true = true_weights(walk)
    whole = sum(true.values(), arb(0))
    assert any(not ending.chance.overlaps(true[ending.found] / whole) for ending in endings(walk))


def test_tables_that_are_too_small_are_refused() -> None:
    values = random_wide(10, 1)
    short = values[:1].times(Wide.of(np.array([ROOMY / 2])))
    with pytest.raises(ArithmeticError):
        tickets(Wide.of(np.ones(10)), Wide.of(np.ones(10)), Wide.of(np.array([5.0])))
    with pytest.raises(ArithmeticError):
        tickets(Wide.of(np.ones(1)), values[:1], short)


def test_points_inside_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """All answers of `below` are tried: every ordered sequence comes up equally often."""

    class Chosen:
        def __init__(self, answers: tuple[int, ...]) -> None:
            self.answers = list(answers)

        def below(self, bound: int) -> int:
            answer = self.answers.pop(0)
            assert answer < bound
            return answer

    for width, count in ((1, 3), (2, 3), (3, 2), (4, 3)):
        seen: dict[tuple[int, ...], int] = {}
        for answers in product(*(range(top + 1) for top in range(width - 1, width + count - 1))):
            entropy: Entropy = Chosen(answers)  # type: ignore[assignment]  # it only needs to draw below a bound
            found = tuple(points_inside(width, count, entropy))
            seen[found] = seen.get(found, 0) + 1
        assert set(seen) == set(combinations_with_replacement(range(width), count))
        assert len(set(seen.values())) == 1


def test_the_limits_of_the_error_bounds() -> None:
    """Two tickets for each piece, and all roundings, fit into what the tables are raised by."""
    tickets_at_least = 2 ** (ordered_points.TICKET_BITS - 1)
    assert tickets_at_least * (ROOMY - 1) / 4 > 2 * (ordered_points.MOST_PIECES + 2)
    assert 64 * ordered_points.MOST_POINTS * 2**-52 < (ordered_points.UPWARDS - 1) / 2 < (ROOMY - 1) / 4

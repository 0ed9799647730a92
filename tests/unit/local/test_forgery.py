"""False reports and missing ones: bounds that are attained, against every report that a collector accepts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato import local
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.local.choosing import CANDIDATES
from sfumato.local.forgery import _best_bits
from sfumato.local.frequency import FrequencyProtocol
from sfumato.local.reports import Reports

EVERY = sorted(CANDIDATES)


def built(name: str, size: int = 5, loss: str = "1") -> FrequencyProtocol:
    return local.frequencies(range(size), loss=sf.Pure(loss), users=100, method=name)


def accepted(protocol: FrequencyProtocol) -> Iterator[bytes]:
    """Every message that the protocol's collector accepts."""
    layout = protocol.layout
    for cell in range(layout.cells):
        for bits in range(1 << layout.bits):
            words = np.full((1, layout.words), bits, dtype=np.uint64)
            [message] = Reports(protocol.head, layout, np.array([cell]), words).messages()
            if protocol.tally([message]).users:
                yield message


def moves(protocol: FrequencyProtocol, message: bytes) -> list[Fraction]:
    """What a message adds to the counts, exactly."""
    support = protocol.support(protocol.tally([message]).sums)
    truth, other = protocol.supports_truth, protocol.supports_other
    return [(int(one) - other) / (truth - other) for one in support]


@pytest.mark.parametrize("loss", ["0.1", "1", "5"])
@pytest.mark.parametrize("name", EVERY)
def test_bounds_are_the_largest_over_all_reports(name: str, loss: str) -> None:
    protocol = built(name, loss=loss)
    every = [moves(protocol, message) for message in accepted(protocol)]
    for many in (1, 2, 4, 5):
        for targets in itertools.combinations(range(5), many):
            promoted = local.manipulation(protocol, users=1000, liars=10, targets=targets)
            assert promoted.best.moves == max(sum(one[target] for target in targets) for one in every)
            assert sum(moves(protocol, promoted.best.message)[target] for target in targets) == promoted.best.moves
            assert promoted.promotion == 10 * promoted.best.moves
    bound = local.manipulation(protocol, users=1000, liars=10)
    assert bound.rise == 10 * max(one[3] for one in every) and bound.fall == -10 * min(one[3] for one in every)
    assert bound.worst.moves == max(sum(map(abs, one)) for one in every)
    assert sum(map(abs, moves(protocol, bound.worst.message))) == bound.worst.moves
    assert bound.total == 10 * bound.worst.moves


def test_reports_with_a_fixed_number_of_ones_are_searched_within_it() -> None:
    """A protocol of bits whose collector accepts two of them supports two values, and no more."""
    gains = np.array([[0, 1, 1, 1, 0, 0, 1]])
    assert _best_bits(gains, local.Layout(1, 6, ones=2))[1].tolist() == [1, 1, 0, 0, 0, 0]
    assert _best_bits(gains, local.Layout(1, 6))[1].sum() == 4
    assert _best_bits(-gains, local.Layout(1, 6, ones=3))[1].tolist() == [1, 0, 0, 1, 1, 0]


@pytest.mark.parametrize("name", EVERY)
def test_liars_move_estimates_as_stated(name: str) -> None:
    """50 rounds of 900 honest people and 100 liars who promote two values; half of that is noticed as wrong."""
    protocol, source, shifts = built(name, size=8), ReplayEntropy(11), []
    honest = np.repeat(np.arange(8), [300, 200, 200, 100, 100, 0, 0, 0])
    bound = local.manipulation(protocol, users=1000, liars=100, targets=[5, 6])
    for _ in range(50):
        reports = protocol.randomize_many(honest, entropy=source)
        tally = protocol.tally(reports).add([bound.best.message] * 100)
        shifts.append(protocol.aggregate(tally).counts[[5, 6]].sum())
    error = 6 * math.sqrt(4 * float(protocol.variance(users=900)) / 50)
    assert abs(np.mean(shifts) - float(bound.promotion)) < error < float(bound.promotion) / 2


def test_gains_are_those_of_the_literature() -> None:
    """Cao, Jia and Gong 2021: what the maximal attack adds to r targets, before their honest frequency is taken off."""
    size, targets, grown = 100, 10, math.exp(0.5)
    unary = local.manipulation(built("optimized unary encoding", size, "0.5"), users=100, liars=1, targets=range(10))
    assert float(unary.promotion) == pytest.approx(2 * targets + 2 * targets / (grown - 1))
    response = local.manipulation(built("response", size, "0.5"), users=100, liars=1, targets=range(10))
    assert float(response.promotion) == pytest.approx(1 + (size - targets) / (grown - 1))


def test_shares_are_bounded_against_those_of_honest_people() -> None:
    protocol = built("response", 3, "2")
    bound = local.manipulation(protocol, users=200, liars=50)
    truth, other = protocol.supports_truth, protocol.supports_other
    worst = []
    for honest in (0, 75, 150):
        for term in ((1 - other) / (truth - other), -other / (truth - other)):
            worst.append((honest + 50 * term) / 200 - Fraction(honest, 150))
    assert max(worst) == bound.share_rise and min(worst) == -bound.share_fall
    assert bound.share_fall == Fraction(1, 4) * truth / (truth - other)


def test_nobody_lies_and_everybody_does() -> None:
    protocol = built("optimized unary encoding")
    none = local.manipulation(protocol, users=10, liars=0)
    assert none.rise == none.fall == none.total == none.promotion == none.share_fall == 0
    assert "10 of 10 people" in str(local.manipulation(protocol, users=10, liars=10))


def test_what_cannot_be_bounded_is_refused() -> None:
    protocol = built("response")
    for users, liars in ((0, 0), (5, 6), (5, -1)):
        with pytest.raises(BadArgument):
            local.manipulation(protocol, users=users, liars=liars)
    for targets in ([], [7]):
        with pytest.raises(BadArgument):
            local.manipulation(protocol, users=5, liars=1, targets=targets)
    with pytest.raises(BadArgument, match="one that counts values"):
        local.manipulation(local.OneOf((protocol, protocol)), users=5, liars=1)  # type: ignore[arg-type]
    large = local.manipulation(built("local hashing", 10_000), users=5, liars=1)
    assert large.rise > 1
    with pytest.raises(BadArgument, match="to search all reports"):
        str(large.total)


def estimated(values: np.ndarray, seed: int, loss: str = "3") -> local.Frequencies:
    protocol = built("response", 4, loss)
    return protocol.aggregate(protocol.randomize_many(values, entropy=ReplayEntropy(seed)))


def test_missing_people_may_have_any_value() -> None:
    estimate = estimated(np.repeat(range(4), 100), 1)
    low, high = estimate.interval()
    known = local.dropouts(estimate, asked=1000)
    least, most = known.bounds()
    assert known.missing == 600 and (least == low).all() and (most == high + 600).all()
    everybody = local.dropouts(estimate, asked=400)
    assert [end.tolist() for end in everybody.bounds()] == [low.tolist(), high.tolist()]
    assert np.allclose(everybody.interval_at_random()[0], low, atol=1) and "400 of 1,000" in str(known)
    assert (everybody.counts_at_random() == estimate.counts).all()


@pytest.mark.parametrize("ratio", [1, 2, 10])
def test_bounds_with_a_ratio_hold_for_the_worst_rates(ratio: int) -> None:
    """People with value 0 report so many times as often as others, or as rarely: the truth is inside, near an end."""
    for rates in ((Fraction(1, 2), Fraction(1, 2 * ratio)), (Fraction(1, 2 * ratio), Fraction(1, 2))):
        asked = (4_000, 12_000)
        reported = [int(rate * many) for rate, many in zip(rates, asked, strict=True)]
        estimate = estimated(np.repeat([0, 1], reported), 3, "20")
        low, high = local.dropouts(estimate, asked=sum(asked)).bounds(Fraction(999999, 1000000), ratio=ratio)
        assert low[0] - 1 <= 4_000 <= high[0] + 1
        assert min(abs(low[0] - 4_000), abs(high[0] - 4_000)) < 200
        if ratio > 1:
            none = local.dropouts(estimate, asked=sum(asked)).bounds(ratio=1)
            assert not none[0][0] <= 4_000 <= none[1][0]


def test_intervals_of_a_random_part_cover() -> None:
    """1,500 rounds: coverage is at most 6 deviations under 95 %; with the protocol's error alone it is more."""
    values, source, rounds = np.repeat([0, 1, 2], [30, 170, 400]), np.random.default_rng(5), 1500
    truth, protocol, entropy = np.bincount(values, minlength=4), built("response", 4, "3"), ReplayEntropy(6)
    covered, short = np.zeros(4), np.zeros(4)
    for _ in range(rounds):
        part = source.choice(values, 250, replace=False)
        estimate = protocol.aggregate(protocol.randomize_many(part, entropy=entropy))
        known = local.dropouts(estimate, asked=600)
        low, high = known.interval_at_random()
        covered += (low <= truth) & (truth <= high)
        near, far = estimate.interval()
        short += (near * 2.4 <= truth) & (truth <= far * 2.4)
    slack = 6 * math.sqrt(0.95 * 0.05 / rounds)
    assert (covered / rounds > 0.95 - slack).all() and (covered[:3] / rounds < 0.98).all()
    assert short[2] / rounds < 0.95 - slack


def test_what_nobody_reported_has_no_bounds_but_the_number_asked() -> None:
    protocol = built("response", 4)
    nobody = local.dropouts(protocol.aggregate([]), asked=50)
    low, high = nobody.bounds()
    assert low.tolist() == [0] * 4 and high.tolist() == [50] * 4
    assert [end.tolist() for end in nobody.bounds(ratio=2)] == [[0] * 4, [50] * 4]
    with pytest.raises(BadArgument, match="one report at least"):
        nobody.counts_at_random()
    for settings in ({"ratio": Fraction(1, 2)}, {"ratio": 0}, {"confidence": 2}):
        with pytest.raises(BadArgument):
            local.dropouts(estimated(np.zeros(9, dtype=int), 1), asked=50).bounds(**settings)
    with pytest.raises(BadArgument, match="at least the 9 people"):
        local.dropouts(estimated(np.zeros(9, dtype=int), 1), asked=8)
    with pytest.raises(BadArgument, match="counts of values"):
        local.dropouts(9, asked=8)  # type: ignore[arg-type]

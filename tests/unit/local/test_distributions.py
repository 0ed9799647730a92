"""Distributions of numbers from reports: shapes that are recovered, intervals that hold, bad input, few people."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

import sfumato as sf
from sfumato import local
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.local.expectation import covered, likeliest, smoothed, within
from sfumato.local.linear_reads import LinearReads
from sfumato.local.windows import Window

RNG = np.random.default_rng(5)
PEOPLE = 60_000
SHAPES: dict[str, NDArray[np.float64]] = {
    "hill": RNG.beta(5, 2, PEOPLE),
    "two hills": np.concatenate([RNG.normal(0.25, 0.06, PEOPLE // 2), RNG.normal(0.7, 0.1, PEOPLE // 2)]),
    "flat": RNG.random(PEOPLE),
    "spikes": RNG.choice([0.1, 0.35, 0.9], PEOPLE, p=[0.5, 0.2, 0.3]),
    "at an end": np.minimum(RNG.exponential(0.1, PEOPLE), 2.0),
}


def reported(shape: str, loss: str, buckets: int = 64) -> tuple[local.Distribution, NDArray[np.float64]]:
    protocol = local.distribution(between=(0, 1), loss=loss, users=PEOPLE, buckets=buckets)
    values = np.clip(SHAPES[shape], 0, math.nextafter(1, 0))
    return protocol.aggregate(protocol.randomize_many(SHAPES[shape], entropy=ReplayEntropy(2))), values


def shares_of(values: NDArray[np.float64], buckets: local.Buckets) -> NDArray[np.float64]:
    return np.bincount(buckets.buckets(values), minlength=buckets.count) / len(values)


def moved(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """How far shares have to be moved, on average, as a share of the range."""
    return float(np.abs(np.cumsum(one - other)).mean())


@pytest.mark.parametrize("loss", ["1", "3"])
@pytest.mark.parametrize("shape", SHAPES)
def test_likely_shares_are_nearer_than_unbiased_ones_and_than_reports(shape: str, loss: str) -> None:
    found, values = reported(shape, loss)
    truth = shares_of(values, found.buckets)
    reads = LinearReads.of(found.window, found.counts)
    unbiased = found.counts @ reads.readings(np.eye(found.buckets.count)) / found.users
    half = found.window.width // 2
    raw = found.counts[half : half + found.buckets.count] / found.users
    guess = found.sharp if shape == "spikes" else found
    assert np.abs(guess.shares - truth).sum() < 0.6 * np.abs(unbiased - truth).sum()
    for guess in (found, found.sharp):
        assert guess.shares.min() >= 0 and guess.shares.sum() == pytest.approx(1)
        assert moved(guess.shares, truth) < 0.5 * moved(raw, truth)
        assert moved(guess.shares, truth) < (0.025 if shape == "spikes" else 0.015)
    assert found.fit.slack >= 0 and found.sharp.fit.slack <= max(0.011, 0.2 * found.fit.slack)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_read_from_shares(shape: str) -> None:
    found, values = reported(shape, "2")
    assert found.mean == pytest.approx(values.mean(), abs=0.02)
    assert math.sqrt(found.variance) == pytest.approx(values.std(), abs=0.03)
    assert found.cdf(-1) == 0 and found.cdf(0) == 0 and found.cdf(1) == pytest.approx(1) == found.cdf(9)
    assert found.share(0.2, 0.6) == pytest.approx(found.cdf(0.6) - found.cdf(0.2))
    for chance in (0.01, 0.25, 0.5, 0.9):
        assert found.cdf(found.quantile(chance)) == pytest.approx(chance, abs=1e-9)
    assert found.median == found.quantile("0.5")
    assert 0 <= found.quantile(0) <= found.quantile(1) <= 1
    rows = found.rows()
    assert len(rows) == 64 and rows[3]["low"] == rows[2]["high"] and "quartiles" in str(found)


@pytest.mark.parametrize("loss", ["0.5", "1", "4"])
@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_hold(shape: str, loss: str) -> None:
    """Of 40 intervals that each fail once in 10⁷ runs at most, none fails."""
    found, values = reported(shape, loss)
    sure = "0.9999999"
    low, high = found.mean_interval(sure)
    assert low <= values.mean() <= high and (loss != "4" or high - low < 0.12)
    for start, end in ((0.0, 0.5), (0.3, 0.4), (0.31, 0.77), (0.5, 1.0), (0.9, 0.9)):
        low, high = found.share_interval(start, end, sure)
        assert 0 <= low <= np.mean((values >= start) & (values < end)) <= high <= 1
        low, high = found.cdf_interval(end, sure)
        assert low <= np.mean(values < end) <= high
    for chance in (0.1, 0.5, 0.75):
        low, high = found.quantile_interval(chance, sure)
        assert low <= np.quantile(values, chance) <= high
    low, high = found.quantile_interval(0.5, "0.95")
    assert loss != "4" or high - low < 0.35


@pytest.mark.parametrize("people", [3, 40, 1000])
def test_intervals_hold_as_often_as_they_say(people: int) -> None:
    """Of 300 runs at 80 %, 240 would hold; fewer than 222 come once in 200 even so, and more are held in truth."""
    protocol = local.distribution(between=(0, 1), loss=2, users=people, buckets=8)
    values = np.linspace(0.02, 0.98, people) ** 2
    source, held = ReplayEntropy(11), np.zeros(3, dtype=np.int64)
    for _ in range(300):
        found = protocol.aggregate(protocol.randomize_many(values, entropy=source))
        truths = (values.mean(), np.mean(values < 0.4), np.median(values))
        ends = (found.mean_interval("0.8"), found.cdf_interval(0.4, "0.8"), found.quantile_interval(0.5, "0.8"))
        held += [low <= truth <= high for truth, (low, high) in zip(truths, ends, strict=True)]
    assert held.min() >= 222, held


def test_readings_are_unbiased_with_at_most_the_stated_variance() -> None:
    window = local.SquareWave(local.Buckets(0, 1, 12), sf.Pure(1)).window
    places = np.arange(12)
    cells = np.arange(window.cells)
    inside = (cells >= places[:, None]) & (cells < places[:, None] + window.width)
    laws = np.where(inside, float(window.inside), float(window.outside))
    assert np.allclose(laws.sum(axis=1), 1)
    reads = LinearReads(window, np.ones(window.cells, dtype=np.int64), 3)
    for question in (np.eye(12), reads.below(5), reads.above(5), reads.below(0), reads.above(12)):
        readings = reads.readings(question)
        assert np.allclose(laws @ readings, question)
        variances = laws @ readings**2 - (laws @ readings) ** 2
        assert np.allclose(reads.variance(readings, question), variances.max(axis=0))
    below = np.array([places < edge for edge in range(13)]).T.astype(float)
    edges = np.arange(13)
    assert np.all(reads.below(edges) <= below) and np.all(below <= reads.above(edges))


def test_sums_over_windows_are_those_of_a_table() -> None:
    window = Window(9, 1, 4, 1 << 50)
    table = np.array([[place <= cell < place + 4 for cell in range(13)] for place in range(10)], dtype=float)
    shares, cells = RNG.random((10, 2)), RNG.random((13, 2))
    assert np.allclose(covered(shares, window), table.T @ shares)
    assert np.allclose(within(cells, window), table @ cells)


def test_the_likeliest_shares_are_found() -> None:
    """No other shares are likelier than the slack says: of 2,000 tried near them and far from them."""
    window = local.SquareWave(local.Buckets(0, 1, 6), sf.Pure(2)).window
    counts = np.array(RNG.integers(5, 60, window.cells), dtype=np.int64)
    outside, gain = float(window.outside), float(window.inside - window.outside)

    def likelihood(shares: NDArray[np.float64]) -> float:
        return float(counts @ np.log(outside + gain * covered(shares, window)))

    fit = likeliest(counts, window, rounds=100_000)
    assert fit.slack <= 0.01
    others = RNG.dirichlet(np.ones(6), 1000)
    tried = [*others, *(0.99 * fit.shares + 0.01 * others)]
    assert max(likelihood(one) for one in tried) <= likelihood(fit.shares) + fit.slack
    stopped = likeliest(counts, window, rounds=1)
    assert stopped.rounds == 1 and stopped.slack > fit.slack
    assert likelihood(smoothed(counts, window, rounds=1000).shares) < likelihood(fit.shares)


def test_a_table_that_nobody_here_made() -> None:
    values = load_diabetes(scaled=False).data[:, 0]  # the ages of 442 people
    protocol = local.distribution(between=(15, 85), loss=4, users=len(values))
    assert protocol.buckets.count == 16
    found = protocol.aggregate(protocol.randomize_many(values, entropy=ReplayEntropy(1)))
    assert found.median == pytest.approx(np.median(values), abs=5)
    assert found.mean_interval("0.999")[0] < values.mean() < found.mean_interval("0.999")[1]


def test_nobody_one_person_and_people_who_are_alike() -> None:
    protocol = local.distribution(between=(0, 10), loss=1, users=1, buckets=5)
    nobody = protocol.aggregate([])
    assert nobody.users == 0 and np.isnan(nobody.shares).all() and math.isnan(nobody.mean)
    assert math.isnan(nobody.quantile(0.5)) and math.isnan(nobody.cdf(3))
    assert nobody.mean_interval() == nobody.quantile_interval(0.5) == (0, 10)
    assert nobody.share_interval(1, 2) == (0, 1) and "0 people" in str(nobody)
    one = protocol.aggregate([protocol.randomize(3)])
    assert one.shares.sum() == pytest.approx(1) and one.mean_interval() == (0, 10)
    assert one.cdf_interval(5) == (0, 1) and one.quantile_interval(0.5) == (0, 10)
    alike = protocol.aggregate(protocol.randomize_many(np.full(5000, 3.0), entropy=ReplayEntropy(1)))
    assert alike.sharp.shares[1] > 0.9 and alike.quantile_interval(0.5) == (2, 4)


@pytest.mark.parametrize(("loss", "off"), [("24", 0.002), ("0.000001", 1.0)])
def test_huge_and_tiny_losses(loss: str, off: float) -> None:
    found, values = reported("two hills", loss)
    assert np.abs(found.sharp.shares - shares_of(values, found.buckets)).max() < off
    assert found.quantile_interval(0.5) == (0, 1) or loss == "24"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"between": (1, 0)}, "the first below the second"),
        ({"between": (0, math.inf)}, "finite"),
        ({"between": 3}, "two numbers"),
        ({"loss": 0}, "above 0"),
        ({"loss": sf.Approx(1, 1e-6)}, "has no δ"),
        ({"users": 0}, "at least 1"),
        ({"buckets": 1}, "at least 2"),
        ({"buckets": 5000}, "at most 1,024"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        local.distribution(**{"between": (0, 1), "loss": 1, "users": 100, **arguments})


def test_wrong_questions_are_refused() -> None:
    found, _ = reported("flat", "1")
    with pytest.raises(BadArgument, match="the first not above"):
        found.share_interval(0.5, 0.4)
    with pytest.raises(BadArgument, match="confidence"):
        found.mean_interval(1)
    with pytest.raises(BadArgument, match="chance"):
        found.quantile(1.5)


def test_buckets_follow_the_number_of_people() -> None:
    counts = [local.distribution(between=(0, 1), loss=1, users=users).buckets.count for users in (1, 10**4, 10**9)]
    assert counts == [16, 64, 1024]


@pytest.mark.parametrize("buckets", [16, 64, 512])
def test_smoothing_is_as_strong_for_few_buckets_as_for_many(buckets: int) -> None:
    """Weights of ¼, ½, ¼ whatever the buckets would move these shares by 6 % of the range for 16 buckets."""
    found, values = reported("two hills", "1", buckets)
    truth = shares_of(values, found.buckets)
    assert moved(found.shares, truth) < min(0.01, moved(found.sharp.shares, truth))

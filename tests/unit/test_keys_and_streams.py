"""Unknown keys, top keys and running totals: draws against their laws, refusals and edges."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, Exhausted, NotInDomain, QueryRefused
from sfumato.mechanisms.unknown_keys import key_noise
from sfumato.release.record import Failure

LOSS = sf.Approx(1, 1e-6)
STREAM = sf.Space(sf.domains.Stream(sf.Integers()), sf.L1())


def test_what_is_shown_follows_the_law() -> None:
    measurement = sf.vector(str) >> sf.stats.histogram(loss=sf.Approx(1, "0.02"))
    noise, entropy, runs = key_noise(Fraction(1), Fraction(2, 100)), ReplayEntropy(2), 4000
    keys = [f"{index:04d}" for index in range(runs)]
    pairs = measurement([key for key in keys for _ in range(5)], entropy=entropy).value
    seen = Counter(count for _, count in pairs)
    low, _ = noise.reach

    def distance(wrong: float) -> float:
        least = noise.least_shown
        chances = {5 + low + i: float(noise.index.pmf(i)) for i in range(len(noise.weights))}
        cells = {value: chance for value, chance in chances.items() if value >= least}
        cells[least] *= wrong
        hidden = 1 - sum(cells.values())
        found = sum((seen[value] - runs * p) ** 2 / (runs * p) for value, p in cells.items())
        return found + (runs - len(pairs) - runs * hidden) ** 2 / (runs * hidden)

    assert distance(1) < 24
    assert distance(1.2) > 24
    assert min(seen) == noise.least_shown


def test_pairs_come_in_order_and_are_plain() -> None:
    data = ["b"] * 50 + ["a"] * 60 + ["rare"]
    measurement = sf.vector(str) >> sf.stats.histogram(loss=LOSS)
    shown = measurement(np.array(data), entropy=ReplayEntropy(1)).value
    assert [key for key, _ in shown] == ["a", "b"] and all(type(key) is str for key, _ in shown)
    assert shown == measurement(data[::-1], entropy=ReplayEntropy(1)).value
    keys = sf.vector(["x", "y"]) >> sf.stats.select_keys(loss=LOSS)
    assert keys(["y"] * 40 + ["x"] * 40).value == ("x", "y")
    assert measurement([]).value == () and keys([]).value == ()
    assert measurement.how.failure is Failure.DISTINGUISHING
    for _, count in measurement(["k"] * 1000).value:
        assert abs(count - 1000) <= 14


def test_counts_are_as_near_as_the_reach_says() -> None:
    noise = key_noise(Fraction(1), Fraction(1, 10**6))
    low, high = noise.reach
    assert (noise.least_shown, low, high) == (14, -14, 13)
    drawn = (sf.vector(int) >> sf.stats.histogram(loss=LOSS))([k for k in range(500) for _ in range(100)]).value
    assert len(drawn) == 500 and all(low <= count - 100 <= high for _, count in drawn)


@pytest.mark.parametrize("kind", [sf.stats.histogram, sf.stats.select_keys])
@pytest.mark.parametrize(
    "loss", [sf.Pure(1), sf.ZCDP(1), sf.Approx(0, 1e-6), sf.Approx(math.inf, 1e-6), sf.Approx(1, 0), sf.Approx(1, 1), 1]
)
def test_losses_that_cannot_be_kept_are_refused(kind: object, loss: object) -> None:
    with pytest.raises(BadArgument, match="Approx"):
        kind(loss=loss)  # type: ignore[operator]


def test_spaces_and_distances_that_do_not_fit_are_refused() -> None:
    with pytest.raises(BadArgument, match="texts, categories or whole numbers"):
        sf.vector(float) >> sf.stats.histogram(loss=LOSS)
    for bad in (0, -1, "1/2", math.inf, math.nan):
        with pytest.raises(BadArgument):
            sf.vector(str) >> sf.stats.histogram(loss=LOSS, d_in=bad)
    with pytest.raises(BadArgument, match="d_in"):
        sf.vector(str, size=9, metric=sf.AddRemove()) >> sf.stats.select_keys(loss=LOSS)
    with pytest.raises(BadArgument, match="too long"):
        sf.vector(str) >> sf.stats.select_keys(loss=sf.Approx("1e-9", 1e-9))


def test_a_tiny_epsilon_still_has_a_table_where_delta_is_large() -> None:
    measurement = sf.vector(str) >> sf.stats.select_keys(loss=sf.Approx(Fraction(1, 10**60), "0.1"))
    assert measurement.map(1).within(sf.Approx(Fraction(1, 10**60), "0.1"))
    assert measurement(["a"] * 50).value == ("a",)


def test_P2_066_top_keys_of_a_public_list() -> None:
    measurement = sf.vector(str) >> sf.stats.top_keys(2, keys=["a", "b", "c"], temperature=1)
    assert measurement(["c"] * 90 + ["a"] * 45 + ["unlisted"] * 99).value == ("c", "a")
    assert measurement.map(1) == sf.Pure(2)
    exchanged = sf.vector(str, size=100) >> sf.stats.top_keys(2, keys=["a", "b", "c"], temperature=1, measure=sf.ZCDP)
    assert exchanged.map(1) == sf.ZCDP(1)
    for bad in (0, 4):
        with pytest.raises(BadArgument):
            sf.vector(str) >> sf.stats.top_keys(bad, keys=["a", "b", "c"], temperature=1)


def test_top_keys_are_drawn_by_their_law() -> None:
    measurement = sf.vector(str) >> sf.stats.top_keys(2, keys=["a", "b", "c"], temperature=2)
    data, entropy, runs = ["a"] * 3 + ["b"], ReplayEntropy(8), 3000
    seen = Counter(measurement(data, entropy=entropy).value for _ in range(runs))
    law = measurement.law(data)  # type: ignore[misc]
    assert sum(float(law.probability(one)) for one in seen) == pytest.approx(1)
    distance = sum(
        (n - runs * float(law.probability(one))) ** 2 / (runs * float(law.probability(one))) for one, n in seen.items()
    )
    assert distance < 20.5  # χ² with 5 degrees of freedom: one false alarm in 1000
    assert seen["a", "b"] > 1.1 * seen["b", "a"]


def test_days_counted_then_totalled() -> None:
    days = ["mon", "tue", "wed"]
    totals = sf.vector(str) >> sf.count_by(days) >> sf.stats.running_counts(loss=sf.ZCDP("0.5"))
    assert totals.map(1) == sf.ZCDP("0.5") and totals.map(2) == sf.ZCDP(2)
    found = totals(["mon"] * 1000 + ["wed"] * 500).value
    assert np.abs(found - [1000, 1000, 1500]).max() < 30


def test_streams_are_watched_step_by_step() -> None:
    measurement = STREAM >> sf.stats.running_counts(loss=sf.Pure(1), steps=3)
    watch = measurement([10**6, 0, 10**6]).value
    assert [round(watch() / 10**6) for _ in range(3)] == [1, 1, 2]
    with pytest.raises(Exhausted, match="steps that were paid for"):
        watch()
    short = measurement([5]).value
    short()
    with pytest.raises(Exhausted, match="stream has ended"):
        short()
    with pytest.raises(QueryRefused):
        measurement([1, 2, 3]).value("a query")
    asked = measurement(lambda query: query).value
    with pytest.raises(NotInDomain):
        asked("many")
    assert round(asked(10**6) / 10**6) == 1, "what is refused takes no step"
    assert "running counts(method square root, steps 3" in str(measurement.how)


@pytest.mark.parametrize("method", ["tree", "square root"])
def test_steps_of_a_grid_and_huge_numbers(method: str) -> None:
    halves = sf.Space(sf.domains.Stream(sf.Integers(step=Fraction(1, 2))), sf.L1())
    measurement = halves >> sf.stats.running_counts(loss=sf.ZCDP("0.5"), steps=2, method=method)
    assert measurement.map(1) == sf.ZCDP("0.5")
    watch = measurement([2 * 10**6, 10**40]).value
    assert abs(watch() - 10**6) < 100 and watch() == pytest.approx(5e39)
    batch = sf.vector(int, size=2, metric=sf.L1()) >> sf.stats.running_counts(loss=sf.ZCDP(1), method=method)
    assert batch([10**40, -(10**40)]).value[0] == pytest.approx(1e40)
    assert np.isfinite(batch([2**62, 2**62]).value).all()


def test_running_counts_refuse_what_they_cannot_keep() -> None:
    whole = sf.vector(int, size=4, metric=sf.L1())
    for loss in (sf.Approx(1, 1e-6), sf.Pure(0), sf.ZCDP(math.inf), 1):
        with pytest.raises(BadArgument, match="Pure"):
            sf.stats.running_counts(loss=loss)
    with pytest.raises(BadArgument, match="method"):
        sf.stats.running_counts(loss=sf.Pure(1), method="forest")
    with pytest.raises(BadArgument, match="length of the vector, 4"):
        whole >> sf.stats.running_counts(loss=sf.Pure(1), steps=5)
    for bad in (None, 0, 1.0, 1 << 30):
        with pytest.raises(BadArgument, match="steps"):
            STREAM >> sf.stats.running_counts(loss=sf.Pure(1), steps=bad)
    for bad in (0, math.inf):
        with pytest.raises(BadArgument, match="d_in"):
            whole >> sf.stats.running_counts(loss=sf.Pure(1), d_in=bad)
    for space in (sf.vector(float, size=4, metric=sf.L1()), sf.vector(int, size=4, metric=sf.L2()), sf.scalar(int)):
        with pytest.raises(BadArgument, match="running_counts"):
            space >> sf.stats.running_counts(loss=sf.Pure(1))
    assert (whole >> sf.stats.running_counts(loss=sf.Pure(1))).map(math.inf) == sf.Pure(math.inf)
    assert (whole >> sf.stats.running_counts(loss=sf.Pure(1), d_in=5)).map(5) == sf.Pure(1)

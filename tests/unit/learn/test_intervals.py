"""Intervals of populations: they hold as often as they say, on numbers of any shape, behind a ledger as on arrays.

Coverage is counted in replayed simulation: 300 releases, of which an interval of 95 % misses more than 27 with
probability 0.2 %; the quantiles' claim is checked at every edge on laws that are known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import sfumato as sf
from sfumato import learn
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.learn.significance.draws import NoiseLaw, binomial_quantiles
from sfumato.learn.significance.means import mean_ends
from sfumato.learn.significance.quantiles import passed, quantile_statistics
from sfumato.learn.significance.shares import ends_of_counts
from sfumato.learn.significance.spreads import variance_ends
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.record import Noised
from sfumato.transforms.gram import STEP

Rng = np.random.Generator
Floats = np.ndarray[Any, np.dtype[np.float64]]
RELEASES, DRAWS, MISSED = 300, 199, 27


def cube(epsilon: float, size: int) -> NoiseLaw:
    return NoiseLaw(size, math.sqrt((size + 1) * (size + 2) / 3) / epsilon)


def laplace(epsilon: float, size: int) -> NoiseLaw:
    noise = DiscreteLaplace(Fraction(1) / Fraction(epsilon) / STEP)
    return NoiseLaw(size, math.sqrt(2) / epsilon, Noised(noise, STEP, size))


def powers(x: Floats) -> Floats:
    t = 2 * x * x - 1
    return np.array([len(x), x.sum(), t.sum(), x @ t, t @ t])


def skewed(rng: Rng, n: int) -> Floats:
    return np.asarray(2 * rng.beta(2, 5, n) - 1)


def dice(rng: Rng, n: int) -> Floats:
    return np.asarray(rng.integers(0, 6, n) / 3 - 0.83)


Ask = Callable[[Rng, int, NoiseLaw, Floats, ReplayEntropy], tuple[float, float]]
EDGES = np.linspace(-1, 1, 51)


def median_of(draw: Callable[[Rng, int], Floats], level: float) -> Ask:
    def ask(rng: Rng, n: int, law: NoiseLaw, noise: Floats, entropy: ReplayEntropy) -> tuple[float, float]:
        counts = np.histogram(draw(rng, n), EDGES)[0] + noise
        low, high = passed(*quantile_statistics(counts, law, level, DRAWS, entropy), 0.025)
        return float(EDGES[low]), float(EDGES[high])

    return ask


CASES: dict[str, tuple[NoiseLaw, int, float, Ask]] = {
    "mean": (
        cube(1, 3),
        150,
        4 / 7 - 1,
        lambda rng, n, law, noise, e: mean_ends(
            np.array([n, (x := skewed(rng, n)).sum(), (2 * x * x - 1).sum()]) + noise, law, "two-sided", DRAWS, e
        )[1](0.95),
    ),
    "mean, in much noise": (
        cube(0.1, 3),
        150,
        4 / 7 - 1,
        lambda rng, n, law, noise, e: mean_ends(
            np.array([n, (x := skewed(rng, n)).sum(), (2 * x * x - 1).sum()]) + noise, law, "two-sided", DRAWS, e
        )[1](0.95),
    ),
    "variance": (
        cube(2, 5),
        400,
        4 * 10 / (49 * 8),
        lambda rng, n, law, noise, e: variance_ends(powers(skewed(rng, n)) + noise, law, DRAWS, e)[1](0.95),
    ),
    "variance, in much noise": (
        cube(0.2, 5),
        400,
        4 * 10 / (49 * 8),
        lambda rng, n, law, noise, e: variance_ends(powers(skewed(rng, n)) + noise, law, DRAWS, e)[1](0.95),
    ),
    "share": (
        laplace(1, 2),
        200,
        0.05,
        lambda rng, n, law, noise, e: ends_of_counts(rng.multinomial(n, [0.05, 0.95]) + noise, law, "two-sided", 49, e)(
            0.95
        ),
    ),
    "median of dice": (laplace(2, 50), 300, 2 / 3 - 0.83, median_of(dice, 0.5)),
    "quantile of beta": (laplace(2, 50), 300, 2 * float(stats.beta(2, 5).ppf(0.8)) - 1, median_of(skewed, 0.8)),
}


def coverage(name: str, seed: int, told: float = 1.0) -> tuple[int, float]:
    """How often an interval misses, and how wide it is, if it is told a part of the noise that there is."""
    law, n, true, ask = CASES[name]
    known = law if told == 1.0 else NoiseLaw(law.size, law.deviation * told)
    rng, entropy = np.random.default_rng(seed), ReplayEntropy(seed)
    found = np.array([ask(rng, n, known, noise, entropy) for noise in law.draw(RELEASES, entropy)])
    missed = int(np.count_nonzero((found[:, 0] > true) | (found[:, 1] < true)))
    return missed, float(np.diff(found).mean())


@pytest.mark.parametrize("name", CASES)
def test_an_interval_holds_as_often_as_it_says(name: str) -> None:
    missed, width = coverage(name, len(name))
    assert missed <= MISSED and width < (1.9 if "noise" in name else 0.4)


@pytest.mark.parametrize("name", ["mean, in much noise", "variance, in much noise"])
def test_an_interval_that_does_not_count_the_noise_is_caught(name: str) -> None:
    assert coverage(name, 1, told=0.01)[0] > 2 * MISSED


def test_one_edge_alone_ends_an_interval() -> None:
    """At edges that are passed beyond one that is not, nothing is concluded: else each could be wrong by itself."""
    under = np.tile(np.linspace(-1, 1, 1001)[:, None], 6)
    assert passed(np.array([-2.0, -2, 0, -2, 2, 2]), under, 0.025) == (2, 5)
    assert passed(np.array([0.0, -2, -2, 2, 2, 0]), under, 0.025) == (0, 7)
    assert passed(np.array([-2.0] * 6), under, 0.025) == (6, 7) and passed(np.array([2.0] * 6), under, 0.025) == (0, 1)
    assert passed(np.empty(0), np.empty((9, 0)), 0.025) == (0, 1)


def test_counts_that_are_listed_are_the_binomial_ones() -> None:
    drawn = np.linspace(0.0005, 0.9995, 997)
    for trials, share in (
        (1.0, 0.3),
        (12.0, 0.4),
        (12.0, 0.9),
        (5000.0, 0.001),
        (5000.0, 0.9995),
        (7.0, 0.0),
        (7.0, 1.0),
    ):
        ours = binomial_quantiles(drawn, np.full(997, trials), share)
        assert np.array_equal(ours, np.clip(stats.binom.ppf(drawn, trials, share), 0, trials)), (trials, share)


SCORES = np.random.default_rng(3).beta(2, 5, 3000) * 10
ASKED: dict[str, tuple[Callable[..., Any], Callable[..., Any], float]] = {
    "mean": (
        lambda t, **k: learn.mean_interval(t, column="score", **k),
        lambda r, **k: learn.mean_interval(r["score"], between=(0, 10), **k),
        20 / 7,
    ),
    "difference": (
        lambda t, **k: learn.mean_interval(t, column="score", by="arm", **k),
        lambda r, **k: learn.mean_interval(r["score"], by=r["arm"], groups=["a", "b"], between=(0, 10), **k),
        0.0,
    ),
    "variance": (
        lambda t, **k: learn.variance_interval(t, column="score", **k),
        lambda r, **k: learn.variance_interval(r["score"], between=(0, 10), **k),
        1000 / (49 * 8),
    ),
    "deviation": (
        lambda t, **k: learn.variance_interval(t, column="score", standard_deviation=True, **k),
        lambda r, **k: learn.variance_interval(r["score"], between=(0, 10), standard_deviation=True, **k),
        math.sqrt(1000 / (49 * 8)),
    ),
    "median": (
        lambda t, **k: learn.quantile_interval(t, column="score", bins=100, **k),
        lambda r, **k: learn.quantile_interval(r["score"], between=(0, 10), bins=100, **k),
        10 * float(stats.beta(2, 5).median()),
    ),
    "share": (
        lambda t, **k: learn.proportion_interval(t, column="arm", success="a", **k),
        lambda r, **k: learn.proportion_interval(r["arm"], success="a", **k),
        0.5,
    ),
    "share of a known size": (
        lambda t, **k: learn.proportion_interval(t, column="arm", success="a", size=3000, **k),
        lambda r, **k: learn.proportion_interval(r["arm"], success="a", size=3000, **k),
        0.5,
    ),
}
ROWS = {"score": SCORES, "arm": np.random.default_rng(4).choice(["a", "b"], 3000)}


def session_of(rows: dict[str, Any], people: int) -> Any:
    table = pl.DataFrame({**rows, "id": np.arange(len(rows["arm"])) % people})
    data = sf.Dataset(table, unit=sf.Person("id"), between={"score": (0, 10)}, categories={"arm": ["a", "b"]})
    return data.session(limit=sf.Pure(10**9), ledger="memory:")


@pytest.mark.parametrize("name", ASKED)
def test_a_table_is_charged_and_estimated_the_same(name: str) -> None:
    of_table, of_arrays, true = ASKED[name]
    session = session_of(ROWS, 3000)
    asked = of_table(session.table(), loss=sf.Pure(10**6), max_rows=1, entropy=ReplayEntropy(1))
    held = of_arrays(ROWS, epsilon=10**6, entropy=ReplayEntropy(1))
    assert session.spent == sf.Pure(10**6) and asked.release_.charged and not held.release_.charged
    assert asked.interval() == pytest.approx(held.interval(), abs=0.02) and asked.estimate == pytest.approx(
        held.estimate, abs=1e-3
    )
    low, high = held.interval(0.99)
    assert low <= true <= high and high - low < 1 and low <= held.estimate <= high
    assert "95 % interval" in str(held) and "uncharged" in str(held)


def test_several_rows_of_a_person_make_an_interval_wider() -> None:
    four = {name: np.concatenate([values[:500]] * 4) for name, values in ROWS.items()}
    table = session_of(four, 500).table()
    for name in ("mean", "variance", "median", "share"):
        alone, several = (
            ASKED[name][0](table, loss=sf.Pure(10**6), max_rows=most, entropy=ReplayEntropy(1)) for most in (1, 4)
        )
        wide, much = (high - low for low, high in (alone.interval(), several.interval()))
        assert much == pytest.approx(wide, rel=0.35), (
            name
        )  # 500 people say what 500 rows say, however often each is there
    with pytest.raises(BadArgument, match="several rows"):
        ASKED["share of a known size"][0](table, loss=sf.Pure(1), max_rows=4)


def test_nothing_in_the_data_makes_an_error() -> None:
    for rows in (
        {name: values[:0] for name, values in ROWS.items()},
        {name: np.repeat(values[:1], 50) for name, values in ROWS.items()},
        {"score": np.full(60, np.nan), "arm": ROWS["arm"][:60]},
        {"score": np.full(60, np.inf), "arm": np.full(60, "c")},
    ):
        for epsilon in (0.01, 10**6):
            for _, of_arrays, _ in ASKED.values():
                found = of_arrays(rows, epsilon=epsilon, simulations=99)
                low, high = found.interval()
                assert low <= high and str(found)

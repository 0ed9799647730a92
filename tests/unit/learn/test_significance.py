"""Tests of hypotheses: valid with the noise in them, SciPy's without it, the same behind a ledger and on arrays.

Type-I errors are counted in replayed simulation, on the cases that broke earlier versions: 600 data sets, each with
noise, at the level of 5 %. A test that keeps its level rejects more than 45 of them with probability 0.3 %, one of 10 %
no more than that with probability 2 %. `benchmarks/contenders/learn/type1.py` counts many more cases.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
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
from sfumato.learn.significance.counts import fit_statistic, independence_statistic
from sfumato.learn.significance.draws import NoiseLaw, binomials, multinomials
from sfumato.learn.significance.finding import chance_of, monte_carlo
from sfumato.learn.significance.means import difference_statistic, mean_statistic, spread_statistic
from sfumato.learn.significance.ranks import rank_statistic, symmetry_statistic
from sfumato.learn.significance.relations import correlation_statistic
from sfumato.learn.significance.shares import UNSURE, share_statistic, shares_statistic, upper_tail
from sfumato.noise.cube import Cube
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.record import Noised
from sfumato.transforms.gram import STEP

Rng = np.random.Generator
Floats = np.ndarray[Any, np.dtype[np.float64]]

TRIALS, DRAWS, MOST = 600, 99, 45


def cube(epsilon: float, each: int, pieces: int = 1) -> NoiseLaw:
    return NoiseLaw(each * pieces, math.sqrt((each + 1) * (each + 2) / 3) / epsilon, None, pieces)


def laplace(epsilon: float, size: int) -> NoiseLaw:
    noise = DiscreteLaplace(Fraction(1) / Fraction(epsilon) / STEP)
    return NoiseLaw(size, math.sqrt(2) / epsilon, Noised(noise, STEP, size))


SHAPES: dict[str, tuple[Callable[[Rng, int], Floats], float]] = {
    "uniform": (lambda rng, n: rng.uniform(-1, 1, n), 0.0),
    "skewed": (lambda rng, n: 2 * rng.beta(2, 5, n) - 1, 2 * 2 / 7 - 1),
}


def sums_of(*groups: Floats) -> Floats:
    return np.array([[len(s), s.sum(), (2 * s * s - 1).sum()] for s in groups]).T.ravel()


def products_of(x: Floats, y: Floats) -> Floats:
    return np.array([len(x), x.sum(), y.sum(), x @ x, x @ y, y @ y])


def binned(x: Floats, bins: int = 20) -> Floats:
    return np.histogram(x, bins, (-1, 1))[0].astype(float)


Judge = Callable[[Floats, NoiseLaw, ReplayEntropy], float]
Case = tuple[Callable[[float], NoiseLaw], Callable[[Rng, int], Floats], Judge]
WAITING, WAITED = (lambda rng, n: np.minimum(rng.exponential(0.4, n), 2) - 1), 0.4 * (1 - math.exp(-5)) - 1
SKEWED, SKEWED_MEAN = SHAPES["skewed"]
THIRDS = np.array([0.5, 0.35, 0.15])


def two_counts(rng: Rng, n: int) -> Floats:
    return np.stack([rng.multinomial(k, [0.5, 0.5]) for k in (n, n // 2)], axis=1).ravel().astype(float)


CASES: dict[str, tuple[Case, int, float]] = {
    "one mean of few skewed rows": (
        (
            lambda epsilon: cube(epsilon, 3),
            lambda rng, n: sums_of(WAITING(rng, n)),
            lambda sums, law, e: chance_of(*mean_statistic(sums, law, WAITED, DRAWS, e)[:2], "two-sided"),
        ),
        10,
        10.0,
    ),
    "one mean of few rare rows": (
        (
            lambda epsilon: cube(epsilon, 3),
            lambda rng, n: sums_of(np.where(rng.random(n) < 0.1, 1.0, -1.0)),
            lambda sums, law, e: chance_of(*mean_statistic(sums, law, -0.8, DRAWS, e)[:2], "two-sided"),
        ),
        20,
        10.0,
    ),
    "one mean, less, in much noise": (
        (
            lambda epsilon: cube(epsilon, 3),
            lambda rng, n: sums_of(SKEWED(rng, n)),
            lambda sums, law, e: (
                chance_of(*mean_statistic(sums, law, SKEWED_MEAN, DRAWS, e)[:2], "less") if sums[0] >= 2 else 1.0
            ),
        ),
        100,
        0.1,
    ),
    "one mean of rows that are alike": (
        (
            lambda epsilon: replace(cube(epsilon / 4, 3), together=4),
            lambda rng, n: 4 * sums_of(SKEWED(rng, n // 4)),
            lambda sums, law, e: chance_of(*mean_statistic(sums, law, SKEWED_MEAN, DRAWS, e)[:2], "two-sided"),
        ),
        400,
        5.0,
    ),
    "two means of rare rows": (
        (
            lambda epsilon: cube(epsilon, 3, 2),
            lambda rng, n: sums_of(*(np.where(rng.random(k) < 0.1, 1.0, -1.0) for k in (n, n // 4))),
            lambda sums, law, e: chance_of(*difference_statistic(sums, law, 0.0, DRAWS, e)[:2], "two-sided"),
        ),
        60,
        5.0,
    ),
    "three means": (
        (
            lambda epsilon: cube(epsilon, 3, 3),
            lambda rng, n: sums_of(SKEWED(rng, n // 5), *(SKEWED_MEAN + 0.1 * rng.normal(size=n) for _ in range(2))),
            lambda sums, law, e: chance_of(*spread_statistic(sums, law, DRAWS, e)),
        ),
        100,
        5.0,
    ),
    "correlation": (
        (
            lambda epsilon: cube(epsilon, 6),
            lambda rng, n: products_of(SKEWED(rng, n), SKEWED(rng, n)),
            lambda sums, law, e: chance_of(*correlation_statistic(sums, law, DRAWS, e)[1:], "two-sided"),
        ),
        100,
        2.0,
    ),
    "two rank sums": (
        (
            lambda epsilon: laplace(epsilon, 40),
            lambda rng, n: np.stack([binned(SKEWED(rng, n)), binned(SKEWED(rng, n // 2))], axis=1).ravel(),
            lambda sums, law, e: chance_of(*rank_statistic(sums.reshape(20, 2), law, DRAWS, e), "two-sided"),
        ),
        100,
        1.0,
    ),
    "signed ranks": (
        (
            lambda epsilon: laplace(epsilon, 21),
            lambda rng, n: binned(SKEWED(rng, n) - SKEWED(rng, n), 21),
            lambda sums, law, e: chance_of(*symmetry_statistic(sums, law, DRAWS, e), "two-sided"),
        ),
        50,
        1.0,
    ),
    "a share": (
        (
            lambda epsilon: laplace(epsilon, 2),
            lambda rng, n: rng.multinomial(n, [0.5, 0.5]).astype(float),
            lambda sums, law, e: chance_of(*share_statistic(sums, law, 0.5, DRAWS, e), "two-sided") + float(UNSURE),
        ),
        10,
        10.0,
    ),
    "two shares": (
        (
            lambda epsilon: laplace(epsilon, 4),
            two_counts,
            lambda sums, law, e: (
                chance_of(*shares_statistic(sums.reshape(2, 2), law, DRAWS, e)[:2], "two-sided")
                if sums.reshape(2, 2).sum(axis=0).min() >= 1
                else 1.0
            ),
        ),
        10,
        1.0,
    ),
    "independence": (
        (
            lambda epsilon: laplace(epsilon, 9),
            lambda rng, n: rng.multinomial(n, np.outer(THIRDS, [0.5, 0.3, 0.2]).ravel()).astype(float),
            lambda sums, law, e: chance_of(*independence_statistic(sums.reshape(3, 3), law, DRAWS, e)),
        ),
        100,
        1.0,
    ),
    "fit": (
        (
            lambda epsilon: laplace(epsilon, 3),
            lambda rng, n: rng.multinomial(n, THIRDS).astype(float),
            lambda sums, law, e: chance_of(*fit_statistic(sums, THIRDS, law, DRAWS, e)),
        ),
        100,
        0.5,
    ),
}


def rejections(case: Case, n: int, epsilon: float, seed: int, told: float = 1.0) -> int:
    """How often a true null hypothesis is rejected, if the test is told a share of the noise that there is."""
    make, draw, judge = case
    rng, entropy, law = np.random.default_rng(seed), ReplayEntropy(seed), make(epsilon)
    known = law if told == 1.0 else make(epsilon / told)
    noisy = [draw(rng, n) + noise for noise in law.draw(TRIALS, entropy)]
    return sum(judge(sums, known, entropy) <= 0.05 for sums in noisy)


@pytest.mark.parametrize("name", CASES)
def test_no_true_null_hypothesis_is_rejected_more_often_than_the_level_says(name: str) -> None:
    case, n, epsilon = CASES[name]
    assert rejections(case, n, epsilon, len(name)) <= MOST


@pytest.mark.parametrize(("name", "epsilon"), [("two means of rare rows", 0.3), ("fit", 0.15), ("correlation", 0.5)])
def test_a_null_without_the_noise_is_caught(name: str, epsilon: float) -> None:
    case, n, _ = CASES[name]
    assert rejections(case, n, epsilon, 1, told=1e-6) > 2 * MOST


def test_draws_of_rows_and_noise_have_their_moments() -> None:
    entropy = ReplayEntropy(3)
    for total in (40.0, 4000.0):  # one by one, and cell by cell
        drawn = multinomials(total, np.array([0.5, 0.0, 0.3, 0.2]), 1000 if total < 100 else 4000, entropy)
        assert (drawn.sum(axis=1) == total).all() and not drawn[:, 1].any()
        assert np.allclose(drawn.mean(axis=0), total * np.array([0.5, 0, 0.3, 0.2]), rtol=0.02)
        assert np.allclose(drawn.var(axis=0), total * np.array([0.25, 0, 0.21, 0.16]), rtol=0.15)
    few = binomials(np.full(20_000, 12.0), 0.3, entropy)
    assert np.allclose(
        np.bincount(few.astype(int), minlength=13) / 20_000, stats.binom.pmf(range(13), 12, 0.3), atol=0.015
    )
    ours = cube(2.0, 3, 2).draw(4000, entropy)
    exact = Cube(Fraction(1, 2) / STEP, 3)
    theirs = np.array([exact.sample(entropy) for _ in range(1500)], dtype=float) * float(STEP)
    assert stats.ks_2samp(np.abs(ours[:, ::2]).max(axis=1), np.abs(theirs).max(axis=1)).pvalue > 1e-3
    assert abs(ours.var() - cube(2.0, 3).variance) < 0.1 * cube(2.0, 3).variance
    assert np.array_equal([monte_carlo(t, np.arange(99.0)) for t in (98.0, 98.5, -1.0)], [0.02, 0.01, 1.0])


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_test_of_a_share_is_exact_and_as_steep_as_its_loss_allows(epsilon: float) -> None:
    """Awan and Slavković: with φ(x) the chance to reject, φ(x + 1) = min(e^ε φ(x), 1 − e^−ε (1 − φ(x)))."""
    size, share, noise = 12, 0.4, DiscreteLaplace(Fraction(1) / Fraction(epsilon))
    q, whole = math.exp(-epsilon), np.arange(-300, 301)
    mass = (1 - q) / (1 + q) * q ** np.abs(whole)

    def rejected(x: int, t: float) -> float:
        return float(mass @ np.clip(x + whole + 0.5 - t, 0.0, 1.0))

    for t in (-3.3, 0.5, 4.8, 9.25, 14.0):
        phi = [rejected(x, t) for x in range(size + 1)]
        assert upper_tail(t, share, size, noise) == pytest.approx(
            sum(stats.binom.pmf(x, size, share) * chance for x, chance in enumerate(phi)), rel=1e-9
        )
        steepest = [min(phi[x] / q, 1 - q * (1 - phi[x])) for x in range(size)]
        assert phi[1:] == pytest.approx(steepest, rel=1e-9)


def rows_of(n: int = 700) -> dict[str, Any]:
    rng = np.random.default_rng(8)
    arm = rng.choice(["control", "treated"], n)
    return {
        "score": np.clip(rng.normal(5, 2, n) + 0.4 * (arm == "treated"), 0, 10),
        "age": rng.uniform(0, 100, n),
        "arm": arm,
        "region": rng.choice(["n", "s", "w"], n, p=[0.4, 0.35, 0.25]),
        "well": rng.random(n) < 0.55,
    }


ROWS, ARMS, REGIONS = rows_of(), ["control", "treated"], ["n", "s", "w"]

ASKED: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "one mean": (
        lambda t, **k: learn.t_test(t, column="score", mu=5, **k),
        lambda r, **k: learn.t_test(r["score"], mu=5, between=(0, 10), **k),
    ),
    "two means": (
        lambda t, **k: learn.t_test(t, column="score", by="arm", **k),
        lambda r, **k: learn.t_test(r["score"], by=r["arm"], groups=ARMS, between=(0, 10), **k),
    ),
    "three means": (
        lambda t, **k: learn.anova(t, column="score", by="region", **k),
        lambda r, **k: learn.anova(*(r["score"][r["region"] == one] for one in REGIONS), between=(0, 10), **k),
    ),
    "share": (
        lambda t, **k: learn.proportion_test(t, column="well", **k),
        lambda r, **k: learn.proportion_test(r["well"], **k),
    ),
    "share of a known size": (
        lambda t, **k: learn.proportion_test(t, column="region", success="n", p=0.4, size=700, **k),
        lambda r, **k: learn.proportion_test(r["region"], success="n", p=0.4, size=700, **k),
    ),
    "two shares": (
        lambda t, **k: learn.proportion_test(t, column="well", by="arm", **k),
        lambda r, **k: learn.proportion_test(r["well"], by=r["arm"], groups=ARMS, **k),
    ),
    "independence": (
        lambda t, **k: learn.chi_square_test(t, column="region", by="arm", **k),
        lambda r, **k: learn.chi_square_test(r["region"], r["arm"], categories=REGIONS, groups=ARMS, **k),
    ),
    "fit": (
        lambda t, **k: learn.chi_square_test(t, column="region", expected=[4, 3, 3], **k),
        lambda r, **k: learn.chi_square_test(r["region"], categories=REGIONS, expected={"n": 4, "s": 3, "w": 3}, **k),
    ),
    "two rank sums": (
        lambda t, **k: learn.rank_test(t, column="score", by="arm", **k),
        lambda r, **k: learn.rank_test(r["score"], by=r["arm"], groups=ARMS, between=(0, 10), **k),
    ),
    "three rank sums": (
        lambda t, **k: learn.rank_test(t, column="score", by="region", bins=[2, 4, 5, 6, 8], **k),
        lambda r, **k: learn.rank_test(
            r["score"], by=r["region"], groups=REGIONS, between=(0, 10), bins=[2, 4, 5, 6, 8], **k
        ),
    ),
    "signed ranks": (
        lambda t, **k: learn.signed_rank_test(
            t.with_columns(change=sf.col("score") - 5), column="change", between=(-5, 5), **k
        ),
        lambda r, **k: learn.signed_rank_test(r["score"], np.full(len(r["score"]), 5.0), between=(-5, 5), **k),
    ),
    "correlation": (
        lambda t, **k: learn.correlation_test(t, columns=["score", "age"], **k),
        lambda r, **k: learn.correlation_test(r["score"], r["age"], between=[(0, 10), (0, 100)], **k),
    ),
}


def session_of(rows: dict[str, Any]) -> Any:
    table = pl.DataFrame({**rows, "id": np.arange(len(rows["age"]))})
    data = sf.Dataset(
        table,
        unit=sf.Person("id"),
        between={"score": (0, 10), "age": (0, 100)},
        categories={"arm": ARMS, "region": REGIONS},
    )
    return data.session(limit=sf.Pure(10**9), ledger="memory:")


def test_a_table_is_charged_and_asked_the_same() -> None:
    session = session_of(ROWS)
    for place, (of_table, of_arrays) in enumerate(ASKED.values(), start=1):
        asked = of_table(session.table(), loss=sf.Pure(10**6), max_rows=1, entropy=ReplayEntropy(place))
        held = of_arrays(ROWS, epsilon=10**6, entropy=ReplayEntropy(place))
        assert session.spent == sf.Pure(place * 10**6) and asked.release_.charged and not held.release_.charged
        assert asked.statistic == pytest.approx(held.statistic, rel=1e-4, abs=0.1 if held.rows == 700 else 1e-4), held
        assert asked.p_value == pytest.approx(held.p_value, abs=0.06)


def test_with_hardly_any_noise_p_values_are_those_of_scipy() -> None:
    score, arm, region, well = ROWS["score"], ROWS["arm"], ROWS["region"], ROWS["well"]
    samples = [score[region == one] for one in REGIONS]
    table = np.array([[np.sum((region == one) & (arm == other)) for other in ARMS] for one in REGIONS])
    halves = score[arm == "control"], score[arm == "treated"]
    hits = [int(well[arm == one].sum()) for one in ARMS]
    in_bins = np.searchsorted([2, 4, 5, 6, 8], score, side="right")
    expected = {
        "one mean": stats.ttest_1samp(score, 5),
        "two means": stats.ttest_ind(*halves, equal_var=False),
        "three means": stats.f_oneway(*samples),
        "share": stats.binomtest(int(well.sum()), 700),
        "share of a known size": stats.binomtest(int(np.sum(region == "n")), 700, 0.4),
        "two shares": stats.chi2_contingency(
            [hits, [np.sum(arm == one) - k for one, k in zip(ARMS, hits, strict=True)]], False
        ),
        "independence": stats.chi2_contingency(table),
        "fit": stats.chisquare(table.sum(axis=1), np.array([280, 210, 210])),
        "two rank sums": stats.mannwhitneyu(*halves),
        "three rank sums": stats.kruskal(*(in_bins[region == one] for one in REGIONS)),
        "correlation": stats.pearsonr(score, ROWS["age"]),
    }
    for name, plain in expected.items():
        found = ASKED[name][1](ROWS, epsilon=10**6, entropy=ReplayEntropy(1))
        assert found.p_value == pytest.approx(plain.pvalue, abs=0.04), name
    assert learn.t_test(score, mu=5, between=(0, 10), epsilon=10**6).interval() == pytest.approx(
        stats.ttest_1samp(score, 5).confidence_interval(), abs=0.03
    )
    assert learn.proportion_test(well, size=700, epsilon=10**6).interval() == pytest.approx(
        stats.binomtest(int(well.sum()), 700).proportion_ci(), abs=2e-3
    )


@pytest.mark.parametrize("loss", [sf.Pure(1), sf.Approx(1, 1e-6), sf.ZCDP(0.1)], ids=str)
def test_every_kind_of_loss_pays_for_every_test(loss: sf.Loss) -> None:
    for _, of_arrays in ASKED.values():
        found = of_arrays(ROWS, loss=loss, simulations=99)
        assert 0 < found.p_value <= 1 and "null hypothesis" in str(found) and "[uncharged]" in str(found)


def test_more_loss_finds_more() -> None:
    rng, entropy, found = np.random.default_rng(6), ReplayEntropy(6), []
    first, second = rng.uniform(0, 1, 150), rng.uniform(0.3, 1, 150)
    for epsilon in (0.05, 0.7, 10):
        asked = [
            learn.t_test(first, second, between=(0, 1), epsilon=epsilon, simulations=99, entropy=entropy).p_value
            for _ in range(20)
        ]
        found.append(float(np.mean(np.array(asked) <= 0.05)))
    assert found[0] < 0.3 and found == sorted(found) and found[2] > 0.8, found


def test_planned_power_is_that_of_the_test() -> None:
    plan = {"effect": 3, "n": 200, "spread": 15, "between": (0, 100)}
    power = [learn.power_of_t_test(**plan, epsilon=epsilon, entropy=ReplayEntropy(1)) for epsilon in (0.1, 1, 10**6)]
    critical, centre = stats.t.ppf(0.975, 199), 0.2 * math.sqrt(200)
    plain = 1 - stats.nct.cdf(critical, 199, centre)  # of normal rows: skewed ones must not be rejected more often
    assert plain - 0.12 < power[2] < plain and power == sorted(power)
    rng, entropy = np.random.default_rng(1), ReplayEntropy(2)
    rows, law = 2 * np.clip(rng.normal(53, 15, (200, 200)), 0, 100) / 100 - 1, cube(1.0, 3)
    found = [
        chance_of(*mean_statistic(sums_of(row) + noise, law, 0.0, DRAWS, entropy)[:2], "two-sided") <= 0.05
        for row, noise in zip(rows, law.draw(200, entropy), strict=True)
    ]
    assert np.mean(found) == pytest.approx(power[1], abs=0.1)


def test_nothing_in_the_data_makes_an_error() -> None:
    empty = {name: values[:0] for name, values in ROWS.items()}
    alike = {name: np.repeat(values[:1], 50) for name, values in ROWS.items()}
    holes = {**{name: values[:60] for name, values in ROWS.items()}, "score": np.full(60, np.nan)}
    for rows in (empty, alike, holes):
        for epsilon in (0.01, 10**6):
            for _, of_arrays in ASKED.values():
                found = of_arrays(rows, epsilon=epsilon, simulations=99)
                assert 0 <= found.p_value <= 1 and str(found)
    for name in ("two means", "three means", "independence", "two shares", "two rank sums"):
        assert ASKED[name][1](empty, epsilon=10**6).p_value == 1


def test_what_is_not_public_is_refused_before_anything_is_charged() -> None:
    session = session_of(ROWS)
    table, x = session.table(), ROWS["score"]
    for ask, said in (
        (lambda: learn.t_test(x, epsilon=1), "between="),
        (lambda: learn.t_test(x, by=ROWS["arm"], between=(0, 10), epsilon=1), "groups="),
        (lambda: learn.t_test(table, column="well", by="region", epsilon=1, max_rows=1), "bounds"),
        (lambda: learn.t_test(table, column="score", by="region", epsilon=1, max_rows=1), "anova"),
        (lambda: learn.t_test(x, between=(0, 1), epsilon=1, alternative="both"), "alternative"),
        (lambda: learn.t_test(x, between=(0, 1)), "loss"),
        (lambda: learn.t_test(x, between=(0, 1), epsilon=1, max_rows=1), "max_rows"),
        (lambda: learn.correlation_test(x, epsilon=1), "two arrays"),
        (lambda: learn.chi_square_test(x, categories=[1, 2], expected=[1], epsilon=1), "2 shares"),
        (lambda: learn.anova(x, x, x, between=(0, 1), epsilon=1).interval(), "one number"),
    ):
        with pytest.raises(BadArgument, match=said):
            ask()
    with pytest.raises(TypeError, match="epsilom"):
        learn.t_test(x, between=(0, 1), epsilom=1)  # type: ignore[call-arg]
    assert session.spent == sf.Pure(0)

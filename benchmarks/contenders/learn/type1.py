"""Counts how often every test of `sfumato.learn` rejects a null hypothesis that holds, at the level of 5 %.

Each case draws the rows' sums of many data sets, adds noise of the law that a loss buys, and asks the test what it
says of such a release: the very functions that the tests call, without the cost of reading arrays. One line is reported
for each case: its rate of rejections and the number of trials. A full run takes some ten minutes of a processor;
`--trials 200` makes a quick one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.learn.columns import Bins, Category, Match, Number
from sfumato.learn.significance import counts, means, ranks, relations, shares
from sfumato.learn.significance.asking import Terms
from sfumato.learn.significance.draws import NoiseLaw
from sfumato.learn.significance.finding import chance_of
from sfumato.learn.sources import Held
from side_by_side.stopwatch import report, report_version

Array = NDArray[np.float64]
Rng = np.random.Generator

TRIALS = 2_000
DRAWS = 99
"""Releases drawn under the null hypothesis by each trial: with 99 a level of 5 % can be met exactly."""
LEVEL = 0.05
WHOLE = 2_000_000
"""So many rows are drawn one by one at a time."""
X = Number.read("x", (-1, 1))
LOSSES = {
    "ε=0.1": sf.Pure("0.1"),
    "ε=1": sf.Pure(1),
    "ε=10": sf.Pure(10),
    "ρ=0.005": sf.ZCDP("0.005"),
    "ρ=0.5": sf.ZCDP("0.5"),
}


SIZES = [(10, "ε=1"), (30, "ρ=0.5"), (100, "ε=0.1"), (1_000, "ε=10"), (100_000, "ε=0.1")]
"""How many rows there are, and what is paid, of the plainest rows of each test."""
FEW = [(10, "ε=10"), (100, "ε=1"), (1_000, "ε=0.1")]
"""The same of other rows."""
RARE = [(100, "ε=1"), (100, "ε=10"), (1_000, "ε=0.1")]
"""The same of means of rare rows, which are no question for a test of means where there are few."""
AGAIN, SUSPECT = 5, 0.055
"""Cases above this rate are counted again with so many times the trials: of many fair ones some are, by chance."""


@dataclass(frozen=True)
class Shape:
    """A distribution of numbers between −1 and 1: draws of it, and its mean."""

    draw: Callable[[Rng, tuple[int, ...]], Array]
    mean: float


def clipped_exponential(rng: Rng, size: tuple[int, ...]) -> Array:
    """Waiting times, of which one in 150 is cut at the upper bound: skewness 1.9."""
    return np.minimum(rng.exponential(0.4, size), 2.0) - 1.0


SHAPES = {
    "uniform": Shape(lambda rng, size: rng.uniform(-1, 1, size), 0.0),
    "beta(2, 5)": Shape(lambda rng, size: 2 * rng.beta(2, 5, size) - 1, 4 / 7 - 1),
    "exponential": Shape(clipped_exponential, 0.4 * (1 - np.exp(-5.0)) - 1),
    "narrow": Shape(lambda rng, size: 0.3 + 0.01 * rng.standard_normal(size), 0.3),
    "constant": Shape(lambda rng, size: np.full(size, 0.3), 0.3),
    "one in ten": Shape(lambda rng, size: np.where(rng.random(size) < 0.1, 1.0, -1.0), -0.8),
}


@dataclass(frozen=True)
class Test:
    """A test: the law of the noise that a loss buys, exact sums of many data sets, and its p-value of one release."""

    law: Callable[[sf.Loss], NoiseLaw]
    sums: Callable[[Rng, int, int], Array]
    judge: Callable[[Array, NoiseLaw, ReplayEntropy], float]


def law_of(columns: tuple[object, ...], pairs: list[tuple[int, int]] | None, loss: sf.Loss) -> NoiseLaw:
    """The law that is really bought."""
    source = Held(columns, ((),) * len(columns))  # type: ignore[arg-type]
    return Terms.read({"loss": loss}).measured(source, pairs)[1]


def law_of_means(groups: int, loss: sf.Loss) -> NoiseLaw:
    """The law that counts, sums and sums of squares of groups are released with."""
    columns = (X, Category("g", tuple(range(groups))))[: 1 if groups == 1 else 2]
    planned = Held(columns, ((), ())[: len(columns)])
    return Terms.read({"loss": loss}).measured(*means._asked(planned, X), by_class=groups > 1)[1]


def in_parts(trials: int, n: int, made: Callable[[int], Array]) -> Array:
    """Draws many data sets, a part of them at a time."""
    each = max(1, WHOLE // n)
    return np.concatenate([made(min(each, trials - at)) for at in range(0, trials, each)])


def moments(shape: Shape, rng: Rng, trials: int, n: int, *, scale: float = 1.0, alike: int = 1) -> Array:
    """Count, sum and sum of 2s² − 1 of many data sets; ``alike`` rows of each person are equal."""

    def made(count: int) -> Array:
        x = shape.mean + scale * (shape.draw(rng, (count, n // alike)) - shape.mean)
        return alike * np.stack([np.full(count, n // alike), x.sum(axis=1), (2 * x * x - 1).sum(axis=1)], axis=1)

    return in_parts(trials, n, made)


def grouped(shape: Shape, parts: Callable[[int], list[tuple[int, float]]], rng: Rng, trials: int, n: int) -> Array:
    """The same of several groups, each with its number of rows and the scale of its spread."""
    each = [moments(shape, rng, trials, rows, scale=scale) for rows, scale in parts(n)]
    return np.stack(each, axis=2).reshape(trials, -1)


def binned(shape: Shape, rng: Rng, trials: int, n: int, *, bins: int = 20, centred: bool = False) -> Array:
    """Counts in bins of one width, of numbers or of differences of two."""

    def made(count: int) -> Array:
        x = shape.draw(rng, (count, n)) - (shape.draw(rng, (count, n)) if centred else 0.0)
        places = np.clip(np.floor((x + 1) / 2 * bins), 0, bins - 1).astype(np.intp)
        counted = np.bincount((places + bins * np.arange(count)[:, None]).ravel(), minlength=bins * count)
        return counted.reshape(count, bins).astype(np.float64)

    return in_parts(trials, n, made)


def products(shape: Shape, rng: Rng, trials: int, n: int) -> Array:
    """The Gram matrix of two independent columns."""

    def made(count: int) -> Array:
        x, y = shape.draw(rng, (2, count, n))
        sums = [np.full(count, float(n)), x.sum(axis=1), y.sum(axis=1)]
        return np.stack([*sums, (x * x).sum(axis=1), (x * y).sum(axis=1), (y * y).sum(axis=1)], axis=1)

    return in_parts(trials, n, made)


def cells(chances: Array, rng: Rng, trials: int, n: int) -> Array:
    """Counts of independent rows in cells."""
    return rng.multinomial(n, chances.ravel(), trials).astype(np.float64)


GROUPS: dict[str, Callable[[int], list[tuple[int, float]]]] = {
    "n and n/2": lambda n: [(n, 1.0), (n // 2, 1.0)],
    "3 and n": lambda n: [(3, 1.0), (n, 1.0)],
    "few spread, many narrow": lambda n: [(max(n // 5, 3), 1.0), (n, 0.1)],
}
SEVERAL: dict[str, Callable[[int], list[tuple[int, float]]]] = {
    "n, n/2, n/2": lambda n: [(n, 1.0), (n // 2, 1.0), (n // 2, 1.0)],
    "3, n, n": lambda n: [(3, 1.0), (n, 1.0), (n, 1.0)],
    "few spread, many narrow": lambda n: [(max(n // 5, 3), 1.0), (n, 0.1), (n, 0.1)],
}


def one_mean(shape: Shape, side: str = "two-sided", alike: int = 1) -> Test:
    """`t_test` of one mean."""

    def judge(sums: Array, law: NoiseLaw, entropy: ReplayEntropy) -> float:
        if sums[0] < 2:
            return 1.0
        return chance_of(*means.mean_statistic(sums, law, shape.mean, DRAWS, entropy)[:2], side)

    def law(loss: sf.Loss) -> NoiseLaw:
        one = law_of_means(1, loss)
        return replace(one, deviation=one.deviation * alike, together=alike)

    return Test(law if alike > 1 else partial(law_of_means, 1), partial(moments, shape, alike=alike), judge)


def two_means(shape: Shape, parts: str) -> Test:
    """`t_test` of two means."""

    def judge(sums: Array, law: NoiseLaw, entropy: ReplayEntropy) -> float:
        if sums[:2].min() < 2:
            return 1.0
        return chance_of(*means.difference_statistic(sums, law, 0.0, DRAWS, entropy)[:2], "two-sided")

    return Test(partial(law_of_means, 2), partial(grouped, shape, GROUPS[parts]), judge)


def three_means(shape: Shape, parts: str) -> Test:
    """`anova`."""

    def judge(sums: Array, law: NoiseLaw, entropy: ReplayEntropy) -> float:
        return 1.0 if sums[:3].min() < 2 else chance_of(*means.spread_statistic(sums, law, DRAWS, entropy))

    return Test(partial(law_of_means, 3), partial(grouped, shape, SEVERAL[parts]), judge)


def correlation(shape: Shape) -> Test:
    """`correlation_test`."""

    def judge(sums: Array, law: NoiseLaw, entropy: ReplayEntropy) -> float:
        if sums[0] < 3:
            return 1.0
        return chance_of(*relations.correlation_statistic(sums, law, DRAWS, entropy)[1:], "two-sided")

    return Test(partial(law_of, (X, Number.read("y", (-1, 1))), None), partial(products, shape), judge)


def rank_sums(shape: Shape, groups: int) -> Test:
    """`rank_test`."""

    def sums(rng: Rng, trials: int, n: int) -> Array:
        parts = [binned(shape, rng, trials, max(n // (1 + place), 1)) for place in range(groups)]
        return np.stack(parts, axis=2).reshape(trials, -1)

    def judge(sums: Array, law: NoiseLaw, entropy: ReplayEntropy) -> float:
        table = sums.reshape(20, groups)
        if table.sum(axis=0).min() < 1:
            return 1.0
        side = "two-sided" if groups == 2 else "greater"
        return chance_of(*ranks.rank_statistic(table, law, DRAWS, entropy), side)

    columns = (Bins.read(X, 20), Category("g", tuple(range(groups))))
    return Test(partial(law_of, columns, [(1, 2)]), sums, judge)


def signed(shape: Shape) -> Test:
    """`signed_rank_test`."""

    def judge(sums: Array, law: NoiseLaw, entropy: ReplayEntropy) -> float:
        return 1.0 if sums.sum() < 1 else chance_of(*ranks.symmetry_statistic(sums, law, DRAWS, entropy), "two-sided")

    return Test(partial(law_of, (Bins.read(X, 21),), [(0, 1)]), partial(binned, shape, bins=21, centred=True), judge)


def one_share(p: float, side: str = "two-sided") -> Test:
    """`proportion_test` of one share, of an unknown number of rows."""

    def judge(sums: Array, law: NoiseLaw, entropy: ReplayEntropy) -> float:
        if sums.sum() < 1:
            return 1.0
        return chance_of(*shares.share_statistic(sums, law, p, DRAWS, entropy), side) + float(shares.UNSURE)

    return Test(partial(law_of, (Match("x", True),), [(0, 1)]), partial(cells, np.array([p, 1 - p])), judge)


def two_shares(p: float, parts: str) -> Test:
    """`proportion_test` of two groups."""

    def sums(rng: Rng, trials: int, n: int) -> Array:
        each = [rng.multinomial(rows, [p, 1 - p], trials) for rows, _ in GROUPS[parts](n)]
        return np.stack(each, axis=2).reshape(trials, 4).astype(np.float64)

    def judge(sums: Array, law: NoiseLaw, entropy: ReplayEntropy) -> float:
        table = sums.reshape(2, 2)
        if table.sum(axis=0).min() < 1:
            return 1.0
        return chance_of(*shares.shares_statistic(table, law, DRAWS, entropy)[:2], "two-sided")

    return Test(partial(law_of, (Match("x", True), Category("g", (1, 2))), [(1, 2)]), sums, judge)


def independence(p: float) -> Test:
    """`chi_square_test` of two columns."""
    chances = np.outer([p, 0.7 * (1 - p), 0.3 * (1 - p)], [0.5, 0.3, 0.2])

    def judge(sums: Array, law: NoiseLaw, entropy: ReplayEntropy) -> float:
        if sums.sum() < 1:
            return 1.0
        return chance_of(*counts.independence_statistic(sums.reshape(3, 3), law, DRAWS, entropy))

    columns = Category("x", (1, 2, 3)), Category("y", (1, 2, 3))
    return Test(partial(law_of, columns, [(1, 2)]), partial(cells, chances), judge)


def fit(p: float) -> Test:
    """`chi_square_test` of one column."""
    wanted = np.array([p, 0.7 * (1 - p), 0.3 * (1 - p)])

    def judge(sums: Array, law: NoiseLaw, entropy: ReplayEntropy) -> float:
        return 1.0 if sums.sum() < 1 else chance_of(*counts.fit_statistic(sums, wanted, law, DRAWS, entropy))

    return Test(partial(law_of, (Category("x", (1, 2, 3)),), [(0, 1)]), partial(cells, wanted), judge)


Sizes = list[tuple[int, str]]


def tests() -> Iterator[tuple[str, Test, Sizes]]:
    """Every test, on rows of every shape that can break it, and how many of them."""
    for name, shape in SHAPES.items():
        sizes = SIZES if name == "uniform" else FEW
        yield f"one mean, {name}", one_mean(shape), RARE if name == "one in ten" else sizes
        if name != "beta(2, 5)":
            yield f"two means, {name}", two_means(shape, "n and n/2"), sizes
        if name in ("uniform", "exponential", "one in ten"):
            yield f"three means, {name}", three_means(shape, "n, n/2, n/2"), sizes
            yield f"correlation, {name}", correlation(shape), sizes
        if name in ("uniform", "exponential", "constant"):
            yield f"two rank sums, {name}", rank_sums(shape, 2), sizes
            yield f"signed ranks, {name}", signed(shape), sizes
    for side in ("less", "greater"):
        yield f"one mean, {side}, beta(2, 5)", one_mean(SHAPES["beta(2, 5)"], side), [*FEW, (100, "ε=0.1")]
        yield f"a share of 0.1, {side}", one_share(0.1, side), FEW
    for parts in ("3 and n", "few spread, many narrow"):
        yield f"two means, {parts}", two_means(SHAPES["uniform"], parts), FEW
    for parts in ("3, n, n", "few spread, many narrow"):
        yield f"three means, {parts}", three_means(SHAPES["uniform"], parts), FEW
    yield "three rank sums, exponential", rank_sums(SHAPES["exponential"], 3), FEW
    yield "one mean, 4 rows alike", one_mean(SHAPES["beta(2, 5)"], alike=4), FEW[1:]
    for p in (0.5, 0.05):
        sizes = SIZES if p == 0.5 else FEW
        yield f"a share of {p}", one_share(p), sizes
        yield f"two shares of {p}", two_shares(p, "n and n/2"), sizes
        yield f"two shares of {p}, 3 and n", two_shares(p, "3 and n"), FEW
        yield f"independence, {p}", independence(p), sizes
        yield f"fit, {p}", fit(p), sizes


def rate(test: Test, n: int, loss: sf.Loss, trials: int, seed: int) -> float:
    """The share of data sets with a true null hypothesis of which the test rejects it."""
    law, entropy = test.law(loss), ReplayEntropy(seed)
    noisy = test.sums(np.random.default_rng(seed), trials, n) + law.draw(trials, entropy)
    return float(np.mean([test.judge(sums, law, entropy) <= LEVEL for sums in noisy]))


def main(arguments: list[str]) -> None:
    """Reports every case."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--trials", type=int, default=TRIALS, help="data sets of each case")
    parser.add_argument("--only", default="", help="only cases with these words in their names")
    told = parser.parse_args(arguments)
    report_version("sfumato")
    for place, (name, test, sizes) in enumerate(tests()):
        for n, kind in sizes:
            case, trials = f"{name}; n={n:,} {kind}", told.trials
            if told.only in case:
                found = rate(test, n, LOSSES[kind], trials, 100 * place + n)
                if found > SUSPECT:
                    trials *= AGAIN
                    found = rate(test, n, LOSSES[kind], trials, 100 * place + n + 1)
                report(case, kind="type1", rate=found, trials=trials)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Private-PGM: the published MST and AIM, written here on its library, since its wheel has inference and no mechanisms.

MST (McKenna, Miklau, Sheldon 2021): a third of ρ for all single columns, codes below three deviations put together, a
third for a spanning tree of pairs, a third to measure those. AIM (McKenna, Mullins, Sheldon, Miklau 2022): 16 rounds
a column at first, a tenth of each for the choice, half the noise where a round taught nothing, models up to 80 MB.
"""

from __future__ import annotations

import time
from itertools import combinations
from math import exp, inf, log, log1p, pi, sqrt
from typing import Any

import jax
import networkx
import numpy as np
from mbi import Dataset, Domain, LinearMeasurement, junction_tree
from mbi.estimation import MirrorDescent
from scipy.optimize import minimize_scalar

from contenders.synth import runs
from contenders.synth.cases import DELTA, Array, Table
from side_by_side.stopwatch import report_version

RANDOM = np.random.default_rng()
MEGABYTES = 80
FORGET = 8
"""After so many rounds of AIM what JAX has compiled is dropped: else the process runs out of mapped memory."""

Clique = tuple[str, ...]


def delta_of(rho: float, epsilon: float) -> float:
    """δ of ρ-zCDP at ε (Canonne, Kamath, Steinke 2020)."""
    if rho <= 0:
        return 0.0

    def exponent(order: float) -> float:
        return (order - 1) * (order * rho - epsilon) + order * log1p(-1 / order) - log(order - 1)

    found = minimize_scalar(exponent, bounds=(1.01, (epsilon + 1) / (2 * rho) + 2), method="bounded")
    return exp(min(float(found.fun), 0.0))


def rho_of(epsilon: float, delta: float = DELTA) -> float:
    """The largest ρ that keeps within ε and δ."""
    low, high = 0.0, epsilon + 1
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle, epsilon) <= delta else (low, middle)
    return low


def held(table: Table) -> Dataset:
    """The rows of a table, as the library wants them."""
    columns = {name: table.rows[:, place].astype(np.int64) for place, name in enumerate(table.names)}
    return Dataset(columns, Domain(table.names, table.sizes))


def counts(data: Dataset, clique: Clique) -> Array:
    """The exact counts of a marginal."""
    return np.asarray(data.project(clique).datavector(), dtype=np.float64)


def measured(data: Dataset, clique: Clique, deviation: float) -> LinearMeasurement:
    """Counts with noise."""
    exact = counts(data, clique)
    return LinearMeasurement(exact + RANDOM.normal(0, deviation, exact.size), clique, stddev=deviation)


def chosen(scores: Array, epsilon: float, sensitivity: float) -> int:
    """A place that the exponential mechanism chooses."""
    return int(np.argmax(epsilon / sensitivity / 2 * scores + RANDOM.gumbel(size=scores.size)))


def codes_of(model: Any, table: Table, mapping: dict[str, Array]) -> Array:
    """As many rows as the table has, with codes that were put together drawn apart again."""
    made = model.synthetic_data(rows=len(table.rows)).decompress(mapping)
    return np.stack([made.data[name] for name in table.names], axis=1)


def together(measurement: LinearMeasurement) -> Array | None:
    """How the codes of a column become fewer: all below three deviations are one; None where none is."""
    large = np.asarray(measurement.noisy_measurement) >= 3 * measurement.stddev
    if large.all() or large.sum() < 1:
        return None
    return np.where(large, np.cumsum(large) - 1, large.sum())


def spanning_tree(data: Dataset, model: Any, rho: float) -> list[Clique]:
    """A tree of pairs that independent columns explain badly, each edge chosen by the exponential mechanism."""
    names = list(data.domain.attributes)
    wrong = {
        pair: float(np.abs(counts(data, pair) - np.asarray(model.project(pair).datavector())).sum())
        for pair in combinations(names, 2)
    }
    epsilon, tree = sqrt(8 * rho / (len(names) - 1)), networkx.utils.UnionFind(names)
    edges: list[Clique] = []
    while len(edges) < len(names) - 1:
        open_pairs = [pair for pair in wrong if tree[pair[0]] != tree[pair[1]]]
        edge = open_pairs[chosen(np.array([wrong[pair] for pair in open_pairs]), epsilon, 1.0)]
        tree.union(*edge)
        edges.append(edge)
    return edges


def mst(table: Table, epsilon: float, _: float) -> runs.Made:
    """MST."""
    rho, data = rho_of(epsilon), held(table)
    deviation = sqrt(3 / (2 * rho))
    singles = [measured(data, (name,), deviation * sqrt(len(table.names))) for name in table.names]
    mapping = {one.clique[0]: fewer for one in singles if (fewer := together(one)) is not None}
    known = [one.compress(mapping, data.domain) for one in singles]
    data = data.compress(mapping)
    first = MirrorDescent().estimate(data.domain, known, iters=2500)
    tree = spanning_tree(data, first, rho / 3)
    known += [measured(data, pair, deviation * sqrt(len(tree))) for pair in tree]
    model = MirrorDescent().estimate(data.domain, known, iters=10_000)
    return codes_of(model, table, mapping), True


def weighted(names: list[str]) -> dict[Clique, float]:
    """Single columns and pairs, each with its weight in the workload of all pairs."""
    pairs: list[Clique] = list(combinations(names, 2))
    cliques: list[Clique] = [(name,) for name in names] + pairs
    return {clique: float(sum(len(set(clique) & set(pair)) for pair in pairs)) for clique in cliques}


def affordable(weights: dict[Clique, float], model: Any, limit: float) -> list[Clique]:
    """The cliques with which a model stays within a number of megabytes, or that it has already."""
    had = {part for clique in model.cliques for size in (1, 2) for part in combinations(clique, size)}
    size = junction_tree.hypothetical_model_size
    return [clique for clique in weights if clique in had or size(model.domain, [*model.cliques, clique]) <= limit]


class TimeOver(Exception):
    """The time of AIM is over, and it is in the middle of a round."""


def refit(data: Dataset, known: list[LinearMeasurement], model: Any, until: float) -> Any:
    """The model of one measurement more; looks at the clock after every fifty steps."""

    def look(_: object) -> None:
        if time.time() > until:
            raise TimeOver

    return MirrorDescent().estimate(data.domain, known, iters=1000, warm_start=model, callback_fn=look)


def aim(table: Table, epsilon: float, seconds: float) -> runs.Made:
    """AIM; when its time is over, what it has by then."""
    until, rho, data = time.time() + seconds, rho_of(epsilon), held(table)
    weights = weighted(table.names)
    exact = {clique: counts(data, clique) for clique in weights}
    rounds = 16 * len(table.names)
    deviation, share = sqrt(rounds / (2 * 0.9 * rho)), sqrt(8 * 0.1 * rho / rounds)
    known = [measured(data, (name,), deviation) for name in table.names]
    spent = len(known) / (2 * deviation**2)
    model: Any = MirrorDescent().estimate(data.domain, known, iters=1000)
    last = False
    while not last and time.time() < until:
        if len(known) % FORGET == 0:
            jax.clear_caches()
        if rho - spent < 2 * (0.5 / deviation**2 + share**2 / 8):
            deviation, share, last = sqrt(1 / (2 * 0.9 * (rho - spent))), sqrt(8 * 0.1 * (rho - spent)), True
        spent += share**2 / 8 + 0.5 / deviation**2
        open_cliques = affordable(weights, model, MEGABYTES * spent / rho)
        clique, before = worst(open_cliques, weights, exact, model, share, deviation)
        known.append(measured(data, clique, deviation))
        try:
            model = refit(data, known, model, until)
        except TimeOver:
            return codes_of(model, table, {}), False
        moved = np.abs(np.asarray(model.project(clique).datavector()) - before).sum()
        if moved <= deviation * sqrt(2 / pi) * before.size:
            deviation, share = deviation / 2, share * 2
    return codes_of(model, table, {}), last


def worst(
    cliques: list[Clique],
    weights: dict[Clique, float],
    exact: dict[Clique, Array],
    model: Any,
    share: float,
    noise: float,
) -> tuple[Clique, Array]:
    """A clique that the model has badly, chosen by the exponential mechanism, and what the model says of it."""
    expected = [np.asarray(model.project(clique).datavector(), dtype=np.float64) for clique in cliques]
    scores = [
        weights[clique] * (np.abs(exact[clique] - told).sum() - sqrt(2 / pi) * noise * told.size)
        for clique, told in zip(cliques, expected, strict=True)
    ]
    place = chosen(np.array(scores), share, max([weights[clique] for clique in cliques], default=inf))
    return cliques[place], expected[place]


if __name__ == "__main__":
    report_version("mbi")
    runs.main("mbi", {"mst": mst, "aim": aim})

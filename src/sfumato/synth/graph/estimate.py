"""From noisy marginals to the model of the table that meets them best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument, Unseen
from sfumato.exact import integer
from sfumato.release.progress import Progress
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.factors import arranged
from sfumato.synth.graph.fitting import Problem, laid_out
from sfumato.synth.graph.graphical import GraphicalModel
from sfumato.synth.graph.junction import MOST_CELLS, Columns, junction_tree
from sfumato.synth.graph.measured import Floats, Measured, total_of
from sfumato.synth.graph.propagation import Propagation
from sfumato.synth.graph.quasi_newton import descend

ITERATIONS = 1000
"""Propagation is run at most so often; most models need 50 to 200 runs."""

TOLERANCE = 1e-3
"""A model is done when `PATIENCE` evaluations improve L by less than this share of it."""

PATIENCE = 8
SCALINGS = 25


def estimate(
    domain: Domain,
    measured: Sequence[Measured],
    *,
    total: float | None = None,
    start: GraphicalModel | None = None,
    zeros: Mapping[Columns, NDArray[np.bool_]] | None = None,
    prior: Mapping[Columns, Floats] | None = None,
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
    most_cells: int = MOST_CELLS,
    progress: Progress | None = None,
) -> GraphicalModel:
    """Finds the graphical model whose marginals meet noisy ones best (Private-PGM; McKenna and others 2019).

    It minimises the sum of squared errors, each over twice its squared deviation, over all tables of the total, and of
    those with equal marginals it takes the one nearest to the prior in relative entropy: that with the most entropy,
    if there is none. It descends from ``start``, or from the prior, by quasi-Newton steps. These have no rate that
    could be promised, so it stops when `PATIENCE` evaluations gain less than ``tolerance`` of what is left, or after
    ``iterations``: near to the least, and not at it. With a small tolerance the result does not depend on the start.

    Takes:      ``measured``, noisy marginals (of none, the model is the prior, or uniform); ``total``, the number of
                rows, else estimated from them; ``zeros``, by columns, True where no row can be; ``prior``, by columns,
                logarithms of a public density up to a factor; ``start``, a model of fewer measurements
    Refuses:    models whose junction tree has over ``most_cells`` cells, before any of them exists
    """
    fixed = _fixed(domain, zeros, prior, start)
    for one in measured:
        one.check(domain)
    iterations = integer(iterations, "iterations", least=0)
    if not tolerance >= 0:
        raise BadArgument("tolerance", "a number of at least 0", tolerance)
    total = total_of(measured) if total is None else float(total)
    if not (math.isfinite(total) and total > 0):
        raise BadArgument("total", "a number greater than 0", total)
    factors = list(dict.fromkeys([domain.sorted(one.columns) for one in measured] + list(fixed)))
    tree = junction_tree(domain, factors, most_cells=most_cells)
    propagation = Propagation.plan(tree, factors)
    base = np.zeros_like(propagation.potentials)
    for place, factor in enumerate(factors):
        if factor in fixed:
            base[propagation.part(place)] = arranged(fixed[factor], factor, propagation.factors[place]).reshape(-1)
    _solve(problem := laid_out(propagation, measured, total=total, base=base), iterations, tolerance, progress)
    return GraphicalModel(domain, total, _read(problem, factors))


def _fixed(
    domain: Domain,
    zeros: Mapping[Columns, NDArray[np.bool_]] | None,
    prior: Mapping[Columns, Floats] | None,
    start: GraphicalModel | None,
) -> dict[Columns, Floats]:
    """The potentials that a model begins with, by columns in the order of the domain."""
    if start is not None and start.domain != domain:
        raise BadArgument("start", "a model of the same domain", start.domain)
    begins = dict(start.potentials) if start is not None else {}
    if prior is not None and start is None:  # the potentials of a start hold its prior already
        begins = {tuple(columns): np.array(table, dtype=np.float64) for columns, table in prior.items()}
    forbidden = {
        tuple(columns): np.where(np.asarray(table, dtype=bool), -np.inf, 0.0)
        for columns, table in (zeros or {}).items()
    }
    fixed: dict[Columns, Floats] = {}
    for name, tables in (("prior", begins), ("zeros", forbidden)):
        for columns, table in tables.items():
            if table.shape != domain.shape(columns):
                raise BadArgument(name, f"of shape {domain.shape(columns)} for {', '.join(columns)}", table.shape)
            if np.isnan(table).any() or (table == np.inf).any():
                raise BadArgument(name, "logarithms: finite, or -inf", Unseen())
            key = domain.sorted(columns)
            turned = table.transpose([columns.index(one) for one in key])
            fixed[key] = fixed[key] + turned if key in fixed else turned
    return fixed


@final
@dataclass(frozen=True)
class _Watch:
    """Stops when few evaluations gained little, or when there were enough."""

    iterations: int
    tolerance: float
    progress: Progress | None
    values: list[tuple[int, float]] = field(default_factory=list)

    def __call__(self, value: float, evaluations: int) -> bool:
        self.values.append((evaluations, value))
        if self.progress is not None:
            self.progress(min(evaluations, self.iterations), self.iterations)
        earlier = [old for when, old in self.values[:-1] if when <= evaluations - PATIENCE]
        return evaluations >= self.iterations or (bool(earlier) and earlier[-1] - value <= self.tolerance * value)


def _solve(problem: Problem, iterations: int, tolerance: float, progress: Progress | None) -> None:
    """Leaves the propagation of a problem at its solution."""
    point = np.zeros(len(problem.counts))
    value = problem.at(point)
    if not problem.expected.any() and len(point):
        raise BadArgument("zeros", "such that some row is possible", "none that is")
    if not len(point) or not iterations:
        return
    watch = _Watch(iterations, tolerance, progress)
    point, used = _scaled(problem, point, value, min(SCALINGS, iterations // 2))
    point = descend(problem, point, stop=watch, evaluations=used)
    problem.at(point)


def _scaled(problem: Problem, point: Floats, value: float, most: int) -> tuple[Floats, int]:
    """Goes quickly to where answers are nearly met, as long as that gains much."""
    share, evaluations = 0.3, 1
    while evaluations < most:
        there = point + share * problem.scaling()
        new = problem.at(there)
        evaluations += 1
        if new < value:
            gained, point, value = value - new, there, new
            if gained < 0.1 * value:
                break
            share = min(1.3 * share, 1.0)
        else:
            share *= 0.4
            problem.at(point)
            evaluations += 1
    return point, evaluations


def _read(problem: Problem, factors: Sequence[Columns]) -> dict[Columns, Floats]:
    """The potentials of a solved problem, by columns in the order of the domain."""
    propagation, domain = problem.propagation, problem.propagation.tree.domain
    return {
        factor: arranged(
            propagation.potentials[propagation.part(place)].reshape(domain.shape(propagation.factors[place])),
            propagation.factors[place],
            [name for name in factor if name in set(propagation.factors[place])],
        ).reshape(domain.shape(factor))
        for place, factor in enumerate(factors)
    }

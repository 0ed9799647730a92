"""From noisy marginals to the model of the table that meets them best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument, Unseen
from sfumato.release.progress import Progress
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.factors import arranged
from sfumato.synth.graph.fitting import Problem, laid_out
from sfumato.synth.graph.graphical import GraphicalModel
from sfumato.synth.graph.junction import MOST_CELLS, Columns, junction_tree
from sfumato.synth.graph.measured import Floats, Measured
from sfumato.synth.graph.propagation import Propagation
from sfumato.synth.graph.quasi_newton import descend
from sfumato.synth.graph.watching import ITERATIONS, TOLERANCE, Watching, total_for

SCALINGS = 25
"""So many quick steps at most come before quasi-Newton ones."""


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
                logarithms of a public density up to a factor; ``start``, a model of fewer measurements, which
                holds its zeros and its prior already
    Refuses:    models whose junction tree has over ``most_cells`` cells, before any of them exists
    """
    fixed = _fixed(domain, zeros, prior, start)
    total, watching = total_for(domain, measured, total), Watching.of(iterations, tolerance, progress)
    factors = list(dict.fromkeys([domain.sorted(one.columns) for one in measured] + list(fixed)))
    tree = junction_tree(domain, factors, most_cells=most_cells)
    propagation = Propagation.plan(tree, factors)
    base = np.zeros_like(propagation.potentials)
    for place, factor in enumerate(factors):
        if factor in fixed:
            base[propagation.part(place)] = arranged(fixed[factor], factor, propagation.factors[place]).reshape(-1)
    if np.isneginf(base).any():
        np.copyto(propagation.potentials, base)
        if propagation.run() == -math.inf:
            raise BadArgument("zeros", "such that some row is possible", "such that none is")
    problem = laid_out(propagation, measured, total=total, base=base)
    _solve(problem, propagation, watching)
    return GraphicalModel(domain, total, _read(propagation, factors), most_cells)


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
@dataclass(frozen=True, eq=False)
class _Exact:
    """L of the potentials of measured marginals, with its gradient: the covariance of cells times the slope in them."""

    problem: Problem
    propagation: Propagation

    def at(self, point: Floats) -> float:
        return self.problem.at(point)

    def gradient(self) -> Floats:
        changes, size = self.propagation.changes, len(self.problem.counts)
        changes.potentials.fill(0.0)
        changes.potentials[:size] = self.problem.slope()
        changes.run()
        return changes.expected[:size].copy()

    def curvature(self) -> Floats:
        return self.problem.curvature()


def _solve(problem: Problem, propagation: Propagation, watching: Watching) -> None:
    """Leaves a propagation at the solution of a problem."""
    point = np.zeros(len(problem.counts))
    value = problem.at(point)
    if not len(point) or not watching.iterations:
        return
    point, value, used = problem.scaled(point, value, min(SCALINGS, watching.iterations // 2))
    problem.at(descend(_Exact(problem, propagation), point, stop=watching, evaluations=1 + used))


def _read(propagation: Propagation, factors: Sequence[Columns]) -> dict[Columns, Floats]:
    """The potentials of a propagation, by columns in the order of the domain."""
    domain = propagation.domain
    return {
        factor: arranged(
            propagation.potentials[propagation.part(place)].reshape(domain.shape(propagation.factors[place])),
            propagation.factors[place],
            [name for name in factor if name in set(propagation.factors[place])],
        ).reshape(domain.shape(factor))
        for place, factor in enumerate(factors)
    }

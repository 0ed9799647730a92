"""Models of regions that agree, for cliques that no junction tree could join."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.release.progress import Progress
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.estimate import estimate
from sfumato.synth.graph.fitting import Problem, laid_out
from sfumato.synth.graph.graphical import GraphicalModel
from sfumato.synth.graph.junction import MOST_CELLS, Columns, cells_of
from sfumato.synth.graph.measured import Floats, Measured
from sfumato.synth.graph.model import Codes, Given
from sfumato.synth.graph.regions import Regions
from sfumato.synth.graph.watching import ITERATIONS, TOLERANCE, Watching, total_for

SCALINGS = 40
"""So many quick steps at most come before those of mirror descent."""

FINAL_SWEEPS, FINAL_AGREE = 5000, 1e-9
"""In the end, regions are scaled to each other until they agree to the last rows of a billion."""


@final
@dataclass(frozen=True, eq=False)
class LocalModel:
    """Expected counts of regions, which agree on the columns they share but may be those of no one table.

    A marginal inside a region is its own. All else, rows included, comes from an exact model of bounded size, ``tree``,
    fitted to the regions that carry the most information and fit into it.
    """

    domain: Domain
    total: float
    tables: Mapping[Columns, Floats]
    most_cells: int = MOST_CELLS

    @cached_property
    def tree(self) -> GraphicalModel:
        """The exact model that rows are drawn from."""
        kept: list[Columns] = []
        for region in sorted(self.tables, key=lambda one: (-_information(self.tables[one]), one)):
            if cells_of(self.domain, [*kept, region]) <= self.most_cells:
                kept.append(region)
        singles = [(name,) for name in self.domain.names if not any(name in region for region in kept)]
        chosen = [*kept, *(one for one in singles if self._home(one) is not None)]
        counts = [Measured(one, self.marginal(one), 1.0) for one in chosen]
        return estimate(self.domain, counts, total=self.total, most_cells=self.most_cells)

    def _home(self, columns: Sequence[str]) -> Columns | None:
        return next((region for region in self.tables if set(columns) <= set(region)), None)

    def marginal(self, columns: Sequence[str]) -> Floats:
        """The expected counts of some columns: those of a region that has them all, or else those of the tree."""
        columns = tuple(columns)
        shape = self.domain.shape(columns)
        if len(set(columns)) != len(columns):
            raise BadArgument("columns", "different columns", list(columns))
        inside = [name for name in columns if self.domain.size([name]) > 1]
        home = self._home(inside)
        if home is None:
            return self.tree.marginal(columns)
        sums = self.tables[home].sum(axis=tuple(axis for axis, name in enumerate(home) if name not in inside))
        kept = [name for name in home if name in inside]
        return np.asarray(sums).transpose([kept.index(name) for name in inside]).reshape(shape).copy()

    def marginals(self, asked: Sequence[Sequence[str]]) -> list[Floats]:
        """The expected counts of many sets of columns."""
        return [self.marginal(columns) for columns in asked]

    def sample(self, rows: int, entropy: Entropy, given: Given | None = None) -> Codes:
        """Draws rows of codes from the tree, as `GraphicalModel.sample` does."""
        return self.tree.sample(rows, entropy, given)

    def plain(self) -> dict[str, Any]:
        """The model as lists and numbers that JSON keeps exactly."""
        return {
            "names": list(self.domain.names),
            "sizes": list(self.domain.sizes),
            "total": self.total,
            "most_cells": self.most_cells,
            "regions": [
                {"columns": list(columns), "values": table.ravel().tolist()} for columns, table in self.tables.items()
            ],
        }

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> LocalModel:
        """Reads what `plain` wrote."""
        try:
            domain = Domain(tuple(plain["names"]), tuple(plain["sizes"]))
            tables = {
                tuple(one["columns"]): np.array(one["values"], dtype=np.float64).reshape(domain.shape(one["columns"]))
                for one in plain["regions"]
            }
            return LocalModel(domain, float(plain["total"]), tables, int(plain["most_cells"]))
        except (KeyError, TypeError, ValueError) as fault:
            raise BadArgument("plain", "what LocalModel.plain() gave", type(fault).__name__) from None


def estimate_locally(
    domain: Domain,
    measured: Sequence[Measured],
    *,
    total: float | None = None,
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
    most_cells: int = MOST_CELLS,
    progress: Progress | None = None,
) -> LocalModel:
    """Finds marginals that meet noisy ones best and agree wherever they overlap, whatever the size of a junction tree.

    It minimises what `estimate` does, over a larger set: marginals that agree, whether or not one table has them all.
    So its squared error is no larger, and its marginals may be a little wrong together. Entropic mirror descent
    (McKenna and others 2021), after quick scaling steps; it stops as `estimate` does.

    Refuses:    marginals that have over ``most_cells`` cells themselves
    """
    total, watching = total_for(domain, measured, total), Watching.of(iterations, tolerance, progress)
    factors = list(dict.fromkeys(domain.sorted(one.columns) for one in measured))
    regions = Regions.plan(domain, factors)
    if regions.cells > most_cells:
        raise BadArgument("measured", f"marginals of at most {most_cells:,} cells together", f"{regions.cells:,} cells")
    problem = laid_out(regions, measured, total=total, base=np.zeros_like(regions.potentials))
    problem.at(_descended(problem, watching))
    regions.run(total, sweeps=FINAL_SWEEPS, agree=FINAL_AGREE)
    tables = {region: table.copy() for region, table in zip(regions.regions, regions.tables, strict=True)}
    return LocalModel(domain, total, tables, most_cells)


def _descended(problem: Problem, watching: Watching) -> Floats:
    """Goes down by scaling steps, then by the slope in the counts, the step growing while that helps."""
    point = np.zeros(len(problem.counts))
    value = problem.at(point)
    if not len(point) or not watching.iterations:
        return point
    point, value, evaluations = problem.scaled(point, value, min(SCALINGS, watching.iterations // 2))
    length = 1 / max(float(problem.curvature().max()), 1e-300)
    slope = problem.slope()
    while not watching(value, evaluations):
        there = point - length * slope
        new = problem.at(there)
        evaluations += 1
        if new < value:
            point, value, slope, length = there, new, problem.slope(), 1.5 * length
        else:
            length *= 0.4
    return point


def _information(table: Floats) -> float:
    """How much columns tell of each other: the sum of their own entropies less that of all."""
    shares = table / max(float(table.sum()), 1e-300)
    own = sum(_entropy(shares.sum(axis=tuple(k for k in range(table.ndim) if k != axis))) for axis in range(table.ndim))
    return own - _entropy(shares)


def _entropy(shares: Floats) -> float:
    positive = shares[shares > 0]
    return -float((positive * np.log(positive)).sum())

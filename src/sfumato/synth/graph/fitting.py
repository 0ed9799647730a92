"""The problem that a model solves: to meet noisy answers as well as any table can, weighted by their precision.

What is minimised is L = ½ Σ |(queries · μ - answers) / deviation|² over the expected counts μ of the measured marginals
of one table of a stated total. The variables are the potentials of the measured marginals, so that no count is ever
negative; L has no minimum there but the global one, since it is convex in μ and μ moves freely with the potentials.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, final

import numpy as np

from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.factors import arranged
from sfumato.synth.graph.junction import Columns
from sfumato.synth.graph.measured import Floats, Measured, deviations


class Spreading(Protocol):
    """What turns potentials of factors, laid out in one flat vector, into their expected counts, laid out alike."""

    @property
    def factors(self) -> tuple[Columns, ...]:
        """The columns of every factor."""

    @property
    def potentials(self) -> Floats:
        """The potentials of all factors, to be written."""

    @property
    def expected(self) -> Floats:
        """The counts of all factors after the last run."""

    @property
    def domain(self) -> Domain:
        """All columns."""

    @property
    def order(self) -> Columns:
        """The columns of more than one code, in the order that factors keep."""

    def part(self, place: int) -> slice:
        """Where a factor stands in the flat vectors."""

    def run(self, total: float) -> float:
        """Writes the expected counts of the potentials."""


FLOOR = 0.1
"""Cells with fewer expected rows than this share of a deviation are moved as if they had as many."""


@final
@dataclass(frozen=True, eq=False)
class Asked:
    """Queries on one marginal: where it stands, and its queries and their answers, in deviations."""

    part: slice
    queries: Floats
    answers: Floats


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """Noisy answers laid out along the flat vectors of what spreads potentials.

    The measured marginals stand first there. ``counts`` are their noisy counts and ``precisions`` one over the
    deviation of each, 0 where only queries were asked. ``base`` are the potentials that those found are added to.
    """

    spreading: Spreading
    total: float
    counts: Floats
    precisions: Floats
    asked: tuple[Asked, ...]
    base: Floats

    def at(self, point: Floats) -> float:
        """Evaluates L where potentials are those of the base and, for measured marginals, those of a point more."""
        np.copyto(self.spreading.potentials, self.base)
        self.spreading.potentials[: len(point)] += point
        self.spreading.run(self.total)
        plain = (self.expected - self.counts) * self.precisions
        value = float(plain @ plain)
        for one in self.asked:
            rest = one.queries @ self.expected[one.part] - one.answers
            value += float(rest @ rest)
        return value / 2

    @property
    def expected(self) -> Floats:
        """The expected counts of the measured marginals where L was evaluated last."""
        return self.spreading.expected[: len(self.counts)]

    def slope(self) -> Floats:
        """The gradient of L by the expected counts, where it was evaluated last."""
        slope = (self.expected - self.counts) * self.precisions**2
        for one in self.asked:
            slope[one.part] += one.queries.T @ (one.queries @ self.expected[one.part] - one.answers)
        return slope

    @cached_property
    def weights(self) -> Floats:
        """How much each cell counts in L: the root of what is asked of it, squared, over squared deviations."""
        squares = self.precisions**2
        for one in self.asked:
            squares[one.part] += np.einsum("qc,qc->c", one.queries, one.queries)
        return np.sqrt(squares)

    def curvature(self) -> Floats:
        """The diagonal of the curvature of L by the potentials, as if cells were independent."""
        return (self.expected * self.weights + FLOOR) ** 2

    def scaled(self, point: Floats, value: float, most: int) -> tuple[Floats, float, int]:
        """Goes from a point, where L was evaluated last, quickly to where answers are nearly met.

        It goes on as long as that gains much, and for so many evaluations at most; returns the point, L there, and the
        number of evaluations. L was evaluated last at that point.
        """
        share, evaluations = 0.3, 0
        while evaluations < most:
            there = point + share * self.scaling()
            new = self.at(there)
            evaluations += 1
            if new < value:
                gained, point, value, share = value - new, there, new, min(1.3 * share, 1.0)
                if gained < 0.1 * value:
                    break
            else:
                share *= 0.4
                self.at(point)
                evaluations += 1
        return point, value, evaluations

    def scaling(self) -> Floats:
        """The step that would meet every answer if cells were independent (as in iterative proportional fitting)."""
        weights = np.maximum(self.weights, 1e-300)
        floor = FLOOR / weights
        wanted = np.maximum(self.expected - self.slope() / weights**2, 0.0)
        return np.where(self.weights > 0, np.log((wanted + floor) / (self.expected + floor)), 0.0)


def laid_out(spreading: Spreading, measured: Sequence[Measured], *, total: float, base: Floats) -> Problem:
    """Lays answers out along a spreading whose first factors are those measured; repeated counts are averaged."""
    places = {frozenset(factor): place for place, factor in reversed(list(enumerate(spreading.factors)))}
    homes = [places[frozenset(spreading.order) & frozenset(one.columns)] for one in measured]
    size = spreading.part(max(homes)).stop if homes else 0
    sums, squares, asked = np.zeros(size), np.zeros(size), []
    for one, home, deviation in zip(measured, homes, deviations(measured), strict=True):
        part, columns = spreading.part(home), spreading.factors[home]
        if one.queries is None:
            sums[part] += arranged(one.counts, one.columns, columns).reshape(-1) / deviation**2
            squares[part] += 1 / deviation**2
        else:
            shape = spreading.domain.shape(one.columns)
            questions = [arranged(row.reshape(shape), one.columns, columns).reshape(-1) for row in one.queries]
            queries = np.array(questions).reshape(-1, part.stop - part.start)
            asked.append(Asked(part, queries / deviation, one.counts / deviation))
    counts = np.divide(sums, squares, out=np.zeros(size), where=squares > 0)
    return Problem(spreading, total, counts, np.sqrt(squares), tuple(asked), base)

"""Belief propagation on a junction tree: from potentials to the expected counts of every factor.

Potentials are logarithms; what a factor forbids is -inf, and stays so. Upwards, each table is the sum of its factors
and of its children's messages; one exponential a cell makes it a table of weights, and the sums over what the parent
lacks are the message to it. Downwards, weights become counts by one product a cell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.factors import Step, logarithms, perform, summing
from sfumato.synth.graph.gathering import Gathering, Inlet, tournament
from sfumato.synth.graph.junction import Columns, JunctionTree
from sfumato.synth.graph.measured import Floats

UNDERFLOWS = 1e-200
"""Where the cells behind one cell of a message weigh less than this, a table is scaled for each of those cells."""

TINY = 1e-300


@final
@dataclass(frozen=True, eq=False)
class Table:
    """One clique: how its inputs come together, its weights (own columns × shared ones) and its message.

    ``sums`` are the weights summed over its own columns, ``shared`` the counts of the shared ones, which its parent
    fills in, and ``ratio`` is a place for the second over the first.
    """

    gathering: Gathering
    weights: Floats
    adding: Step
    sums: Floats
    message: Floats
    shared: Floats
    ratio: Floats

    def gather(self) -> None:
        """Adds up the inputs."""
        perform(self.gathering.up)

    def add(self) -> None:
        """Sums the weights over the clique's own columns."""
        function, arguments = self.adding
        function(*arguments)

    def scatter(self) -> None:
        """Sums counts down to those of each input."""
        perform(self.gathering.down)


@final
@dataclass(frozen=True, eq=False)
class Propagation:
    """A junction tree with its factors laid out in one flat vector, and every step of propagation planned.

    Write ``potentials``, then `run`, then read ``expected``: both hold the ``factors`` one after the other, each in
    the order of the tree, at the places that `part` names. Nothing large is allocated after the first run.
    """

    tree: JunctionTree
    factors: tuple[Columns, ...]
    potentials: Floats
    expected: Floats

    @staticmethod
    def plan(tree: JunctionTree, factors: Sequence[Sequence[str]]) -> Propagation:
        """Plans propagation for factors that each lie in a clique of the tree."""
        inside = tuple(ordered(tree, factor) for factor in factors)
        size = sum(tree.domain.size(factor) for factor in inside)
        return Propagation(tree, inside, np.zeros(size), np.zeros(size))

    @property
    def domain(self) -> Domain:
        """All columns."""
        return self.tree.domain

    @property
    def order(self) -> Columns:
        """The columns of more than one code, in the order that factors keep."""
        return self.tree.order

    @cached_property
    def _ends(self) -> list[int]:
        return [0, *np.cumsum([self.tree.domain.size(factor) for factor in self.factors], dtype=np.int64).tolist()]

    def part(self, place: int) -> slice:
        """Where a factor stands in the flat vectors."""
        return slice(self._ends[place], self._ends[place + 1])

    @cached_property
    def _tables(self) -> tuple[Table, ...]:
        return tuple(tables_of(self.tree, self.factors, self.potentials, self.expected))

    def run(self, total: float = 1.0) -> float:
        """Turns potentials into expected counts that sum to a total; returns the logarithm of the sum of all weights.

        Where every cell is forbidden, that is -inf and all counts are 0.
        """
        logarithm = 0.0
        for table, parent in zip(self._tables, self.tree.parents, strict=True):
            _upwards(table)
            if parent < 0:
                logarithm += float(table.message[0])
        for table, parent in zip(reversed(self._tables), reversed(self.tree.parents), strict=True):
            if parent < 0:
                table.shared.fill(total if logarithm > -math.inf else 0.0)
            np.divide(table.shared, table.sums, out=table.ratio)
            np.multiply(table.weights, table.ratio, out=table.weights)
            table.scatter()
        for place, factor in enumerate(self.factors):
            if not factor:
                self.expected[self.part(place)] = total
        return logarithm

    def tables(self) -> list[Floats]:
        """The expected counts of every clique after the last run: arrays that the next run overwrites."""
        return [
            table.weights.reshape(self.tree.domain.shape(clique))
            for table, clique in zip(self._tables, self.tree.cliques, strict=True)
        ]

    @cached_property
    def changes(self) -> Changes:
        """How expected counts would change with the potentials, from where the last run was."""
        size = len(self.potentials)
        potentials, expected = np.zeros(size), np.zeros(size)
        own = tables_of(self.tree, self.factors, potentials, expected)
        return Changes(self.tree.parents, potentials, expected, tuple(own), self._tables)


@final
@dataclass(frozen=True, eq=False)
class Changes:
    """The derivative of expected counts in a direction: the covariance of all factors, times that direction.

    Write ``potentials``, a direction; `run`; read ``expected``, the change. It costs less than a run of propagation,
    since it has no exponentials.
    """

    parents: tuple[int, ...]
    potentials: Floats
    expected: Floats
    own: tuple[Table, ...]
    tables: tuple[Table, ...]

    def run(self) -> None:
        """Propagates a direction through the tables of the last run."""
        for table, there in zip(self.own, self.tables, strict=True):
            table.gather()
            # The mean of all that lies below, given the columns shared with the parent. Where those have no counts,
            # nothing lies below, and nothing over anything is nothing.
            np.maximum(there.shared, TINY, out=table.ratio)
            if len(table.sums) == 1:  # one long sum; as a product of vectors it would wait for other threads
                table.sums[0] = np.einsum("r,r->", table.weights.reshape(-1), there.weights.reshape(-1))
            else:
                np.einsum("rs,rs->s", table.weights, there.weights, out=table.sums)
            np.divide(table.sums, table.ratio, out=table.message)
        for table, there, parent in zip(reversed(self.own), reversed(self.tables), reversed(self.parents), strict=True):
            if parent < 0:
                table.shared.fill(0.0)
            np.divide(table.shared, table.ratio, out=table.ratio)
            np.subtract(table.ratio, table.message, out=table.ratio)
            np.add(table.weights, table.ratio, out=table.weights)
            np.multiply(table.weights, there.weights, out=table.weights)
            table.scatter()


def ordered(tree: JunctionTree, columns: Sequence[str]) -> Columns:
    """Some columns in the order of a tree, without those of one code."""
    inside = set(columns)
    return tuple(name for name in tree.order if name in inside)


def homes(tree: JunctionTree, factors: Sequence[Columns]) -> list[int]:
    """The smallest clique that holds each factor, or -1 where none does."""
    sets = [frozenset(clique) for clique in tree.cliques]
    by_size = sorted(range(len(sets)), key=lambda place: (tree.domain.size(tree.cliques[place]), place))
    return [next((place for place in by_size if sets[place].issuperset(factor)), -1) for factor in factors]


def tables_of(tree: JunctionTree, factors: Sequence[Columns], potentials: Floats, expected: Floats) -> list[Table]:
    """Plans the tables of a tree whose factors stand one after the other in two flat vectors."""
    inlets: list[list[Inlet]] = [[] for _ in tree.cliques]
    end = 0
    for factor, home in zip(factors, homes(tree, factors), strict=True):
        start, end = end, end + tree.domain.size(factor)
        if factor:
            inlets[home].append(Inlet(factor, potentials[start:end], expected[start:end]))
    tables = []
    for place, (clique, shared) in enumerate(zip(tree.cliques, tree.separators, strict=True)):
        gathering, cells = tournament(tree.domain, clique, inlets[place]), tree.domain.size(shared)
        weights, (sums, message, counts, ratio) = gathering.table.reshape(-1, cells), np.zeros((4, cells))
        (adding,) = summing(weights, [False, True], sums)
        tables.append(Table(gathering, weights, adding, sums, message, counts, ratio))
        if tree.parents[place] >= 0:
            inlets[tree.parents[place]].append(Inlet(shared, message, counts))
    return tables


def _upwards(table: Table) -> None:
    """Makes weights of the inputs, and of weights the message."""
    table.gather()
    weights = table.weights
    most = float(weights.max())
    if most == -math.inf:
        weights.fill(0.0)
        table.sums.fill(1.0)
        table.message.fill(-math.inf)
        return
    np.exp(np.subtract(weights, most, out=weights), out=weights)
    table.add()
    if table.sums.min() >= UNDERFLOWS:
        np.add(np.log(table.sums, out=table.message), most, out=table.message)
        return
    table.gather()
    each = weights.max(axis=0)
    each[each == -np.inf] = 0.0
    np.exp(np.subtract(weights, each, out=weights), out=weights)
    table.add()
    np.add(logarithms(table.sums), each, out=table.message)
    table.sums[table.sums == 0] = 1.0  # nothing is divided by it

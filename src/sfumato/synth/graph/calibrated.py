"""The counts of any columns from those of the cliques of a junction tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from string import ascii_letters
from typing import TypeAlias, final

import numpy as np

from sfumato.errors import BadArgument
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.factors import arranged, shares
from sfumato.synth.graph.junction import Columns, JunctionTree, junction_tree
from sfumato.synth.graph.measured import Floats
from sfumato.synth.graph.propagation import Propagation, homes, ordered

Memory: TypeAlias = dict[tuple[int, Columns], tuple[Columns, Floats]]
"""What cliques said of columns below them, for questions that ask for them again."""

MOST_WORK = 64
"""Counts across cliques may take so many products for each cell that a model may have."""


@final
@dataclass(frozen=True, eq=False)
class Calibrated:
    """A junction tree with the expected counts of every clique, which agree wherever two cliques share columns."""

    tree: JunctionTree
    tables: tuple[Floats, ...]
    total: float
    most_cells: int

    @cached_property
    def _home(self) -> dict[str, int]:
        """For each column, the one clique that has it and whose parent has not."""
        return {
            name: place
            for place, (clique, shared) in enumerate(zip(self.tree.cliques, self.tree.separators, strict=True))
            for name in clique[: len(clique) - len(shared)]
        }

    @cached_property
    def _conditionals(self) -> dict[int, Floats]:
        return {}

    def conditional(self, place: int) -> Floats:
        """The probabilities of a clique's own columns given those it shares with its parent."""
        if place not in self._conditionals:
            table, shared = self.tables[place], self.tree.separators[place]
            sums = table.reshape(-1, self.tree.domain.size(shared)).sum(axis=0)
            self._conditionals[place] = shares(table, sums.reshape(self.tree.domain.shape(shared)))
        return self._conditionals[place]

    def counts(self, columns: Sequence[str], memory: Memory | None = None) -> Floats:
        """The expected counts of some columns, in the order of the tree."""
        wanted = ordered(self.tree, columns)
        memory = {} if memory is None else memory
        (inside,) = homes(self.tree, [wanted])
        if inside >= 0:
            return self._contracted([(self.tree.cliques[inside], self.tables[inside])], wanted)
        parts = [self._connected(part, memory) for part in self._components(wanted)]
        return self._contracted(parts, wanted) / self.total ** (len(parts) - 1)

    def _check(self, columns: Iterable[str], limit: int) -> None:
        names = ordered(self.tree, tuple(columns))
        if (cells := self.tree.domain.size(names)) > limit:
            must = f"columns whose counts take at most {limit:,} cells on the way"
            raise BadArgument("columns", must, f"{', '.join(names[:8])} ({cells:,} cells)")

    def _contracted(self, parts: Sequence[tuple[Columns, Floats]], wanted: Columns) -> Floats:
        """Multiplies tables and sums over all columns that are not wanted, each as soon as no other table has it."""
        left = list(parts)
        while len(left) > 1:
            one, other = min(combinations(range(len(left)), 2), key=lambda pair: self._size(left, pair, wanted))
            first, second, keep = left[one], left[other], _kept(left, (one, other), wanted)
            self._check(keep, self.most_cells)
            self._check(first[0] + second[0], MOST_WORK * self.most_cells)
            left = [part for place, part in enumerate(left) if place not in (one, other)]
            left.append((keep, _product(first, second, keep)))
        ((columns, table),) = left
        sums = table.sum(axis=tuple(axis for axis, name in enumerate(columns) if name not in wanted))
        kept = [name for name in columns if name in wanted]
        return np.asarray(sums).transpose([kept.index(name) for name in wanted])

    def _size(self, parts: Sequence[tuple[Columns, Floats]], pair: tuple[int, int], wanted: Columns) -> int:
        return self.tree.domain.size(_kept(parts, pair, wanted))

    def _upwards(self, place: int) -> Iterable[int]:
        while place >= 0:
            yield place
            place = self.tree.parents[place]

    def _components(self, columns: Columns) -> list[Columns]:
        roots: dict[int, list[str]] = {}
        for name in columns:
            *_, root = self._upwards(self._home[name])
            roots.setdefault(root, []).append(name)
        return [tuple(names) for names in roots.values()]

    def _connected(self, columns: Columns, memory: Memory) -> tuple[Columns, Floats]:
        """The counts of columns of one tree: what lies below is summed out on the way to the clique above them all."""
        below: dict[int, list[str]] = {}
        for name in columns:
            for place in self._upwards(self._home[name]):
                below.setdefault(place, []).append(name)
        top = min(place for place, names in below.items() if len(names) == len(columns))
        parts = [(self.tree.cliques[top], self.tables[top])]
        parts += [
            self._message(place, below, memory) for place in below if self.tree.parents[place] == top and place < top
        ]
        return columns, self._contracted(parts, columns)

    def _message(self, place: int, below: dict[int, list[str]], memory: Memory) -> tuple[Columns, Floats]:
        """The probabilities of columns below a clique given those that it shares with its parent."""
        key = place, tuple(below[place])
        if key not in memory:
            parts = [(self.tree.cliques[place], self.conditional(place))]
            parts += [self._message(child, below, memory) for child in below if self.tree.parents[child] == place]
            shared = self.tree.separators[place]
            wanted = shared + tuple(name for name in below[place] if name not in shared)
            memory[key] = wanted, self._contracted(parts, wanted)
        return memory[key]


def _kept(parts: Sequence[tuple[Columns, Floats]], pair: tuple[int, int], wanted: Columns) -> Columns:
    """The columns of the product of two tables that are wanted, or that another table has."""
    needed = set(wanted).union(*(columns for place, (columns, _) in enumerate(parts) if place not in pair))
    return tuple(name for name in dict.fromkeys(parts[pair[0]][0] + parts[pair[1]][0]) if name in needed)


def _product(one: tuple[Columns, Floats], other: tuple[Columns, Floats], keep: Columns) -> Floats:
    letters = dict(zip(dict.fromkeys(one[0] + other[0]), ascii_letters, strict=False))  # few columns have many cells
    first, second, left = ("".join(letters[name] for name in columns) for columns in (one[0], other[0], keep))
    product: Floats = np.einsum(f"{first},{second}->{left}", one[1], other[1], optimize=True)
    return product


def calibrate(
    domain: Domain,
    potentials: Mapping[Columns, Floats],
    *,
    total: float,
    most_cells: int,
    last: Sequence[str] = (),
    fixed: Mapping[str, int] | None = None,
) -> Calibrated:
    """Propagates potentials on a tree that ends in the columns of ``last``; fixed columns have one code alone."""
    fixed = fixed or {}
    factors = [*potentials, *((name,) for name in fixed)]
    tree = junction_tree(domain, factors, last=last, most_cells=most_cells)
    propagation = Propagation.plan(tree, factors)
    tables = [*potentials.values(), *(_only(domain.size([name]), code) for name, code in fixed.items())]
    for place, (factor, table) in enumerate(zip(factors, tables, strict=True)):
        propagation.potentials[propagation.part(place)] = arranged(table, factor, propagation.factors[place]).reshape(
            -1
        )
    propagation.run(total)
    return Calibrated(tree, tuple(propagation.tables()), total, most_cells)


def _only(size: int, code: int) -> Floats:
    return np.where(np.arange(size) == code, 0.0, -np.inf)

"""Junction trees: the order in which columns are summed out, and the tables that this takes.

Columns are bits of whole numbers here, so that a tree of fifty columns takes about a millisecond to find.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, final

from sfumato.errors import BadArgument
from sfumato.synth.graph.domain import Domain

MOST_CELLS = 4_000_000
"""The tables of one tree have at most so many cells together, by default: well under 1 GB while a model is fitted."""

Columns: TypeAlias = tuple[str, ...]
Bags: TypeAlias = tuple[tuple[int, int], ...]
"""Columns in the order in which they are summed out, each with the set of columns that share a table with it then."""


@final
@dataclass(frozen=True)
class JunctionTree:
    """Tables of columns that hang together: two that share columns share them with all tables between them.

    ``cliques`` come children first; in each, the columns that its parent lacks come before those that both have
    (``separators``). Columns with one code are in none: they say nothing. ``parents`` holds the place of the parent of
    each clique, or -1 for a root.
    """

    domain: Domain
    order: Columns
    cliques: tuple[Columns, ...]
    separators: tuple[Columns, ...]
    parents: tuple[int, ...]

    @property
    def cells(self) -> int:
        """The number of cells in all tables."""
        return sum(self.domain.size(clique) for clique in self.cliques)


def junction_tree(
    domain: Domain, cliques: Iterable[Sequence[str]], *, last: Sequence[str] = (), most_cells: int | None = None
) -> JunctionTree:
    """Finds a junction tree in which every clique, and the columns of ``last`` together, lie in one table.

    Several orders of elimination are tried and the one with the fewest cells is kept. Too many cells are refused before
    any table exists. The columns of ``last`` are the end of one root.
    """
    cliques = [tuple(clique) for clique in cliques]
    bags, cells = _found(domain, cliques, last)
    if most_cells is not None and cells > most_cells:
        raise BadArgument("the model", explain(domain, cliques, most_cells=most_cells), f"{cells:,} cells")
    order = tuple(domain.names[vertex] for vertex, _ in bags)
    rank = {vertex: place for place, (vertex, _) in enumerate(bags)}
    late = sum(1 << axis for axis in domain.axes(last) if domain.sizes[axis] > 1)
    tables, separators, parents = _merged(bags, rank, late)
    named = [tuple(domain.names[vertex] for vertex in table) for table in tables]
    shared = [tuple(domain.names[vertex] for vertex in separator) for separator in separators]
    return JunctionTree(domain, order, tuple(named), tuple(shared), tuple(parents))


def cells_of(domain: Domain, cliques: Iterable[Sequence[str]]) -> int:
    """How many cells the tables of a junction tree of some cliques have together.

    >>> cells_of(Domain(("a", "b", "c"), (2, 3, 4)), [("a", "b"), ("b", "c")])
    18
    """
    return _found(domain, cliques, ())[1]


def explain(domain: Domain, cliques: Iterable[Sequence[str]], *, most_cells: int = MOST_CELLS) -> str:
    """Says in words how large a model may be, and which columns make this one larger than that."""
    bags, cells = _found(domain, cliques, ())
    largest = max(
        (bag for _, bag in bags), key=lambda bag: math.prod(domain.sizes[v] for v in _members(bag)), default=0
    )
    names = sorted((domain.names[v] for v in _members(largest)), key=lambda name: -domain.size([name]))
    words = ", ".join(f"{name} ({domain.size([name])} codes)" for name in names[:8])
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    if cells <= most_cells:
        return f"of at most {most_cells:,} cells, as it is; its largest table is that of {words}{more}"
    return (
        f"of at most {most_cells:,} cells: its largest table joins {words}{more}, and has "
        f"{domain.size(names):,} of {cells:,} cells. Give {names[0]} fewer codes (wider bins, fewer categories), "
        "measure fewer marginals that overlap there, or allow more cells"
    )


def _members(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _found(domain: Domain, cliques: Iterable[Sequence[str]], last: Sequence[str]) -> tuple[Bags, int]:
    speaks = sum(1 << axis for axis, size in enumerate(domain.sizes) if size > 1)
    masks = {sum(1 << axis for axis in set(domain.axes(clique))) & speaks for clique in cliques}
    late = sum(1 << axis for axis in set(domain.axes(last))) & speaks
    return _triangulated(domain.sizes, tuple(sorted(masks | {late})), late)


@lru_cache(maxsize=1 << 14)
def _triangulated(sizes: tuple[int, ...], masks: tuple[int, ...], late: int) -> tuple[Bags, int]:
    """The best of several orders of elimination, and the cells of its tree."""
    weights = [math.log2(size) for size in sizes]
    neighbours = [0] * len(sizes)
    for mask in masks:
        for vertex in _members(mask):
            neighbours[vertex] |= mask & ~(1 << vertex)
    first, left = _peeled(neighbours, sum(1 << vertex for vertex, weight in enumerate(weights) if weight > 0), late)
    best: tuple[Bags, int] | None = None
    for cost in (_weight, _fill):
        bags = first + _eliminated(list(neighbours), weights, left, late, cost)
        cells = _cells(bags, sizes, late)
        if best is None or cells < best[1]:
            best = bags, cells
        if not left & ~late:  # nothing was left to choose
            break
    return best or ((), 0)


def _peeled(neighbours: list[int], left: int, late: int) -> tuple[Bags, int]:
    """Sums out every column whose neighbours all share tables already: no order does better. Changes neighbours."""
    bags, waiting = [], left & ~late
    while waiting:
        vertex = (waiting & -waiting).bit_length() - 1
        waiting ^= 1 << vertex
        around = neighbours[vertex]
        if any(around & ~neighbours[other] != 1 << other for other in _members(around)):
            continue
        bags.append((vertex, around | 1 << vertex))
        left ^= 1 << vertex
        for other in _members(around):
            neighbours[other] ^= 1 << vertex
        waiting |= around & left & ~late
    return tuple(bags), left


Cost: TypeAlias = Callable[[int, list[int], list[float]], float]


def _weight(vertex: int, neighbours: list[int], weights: list[float]) -> float:
    return weights[vertex] + sum(weights[other] for other in _members(neighbours[vertex]))


def _fill(vertex: int, neighbours: list[int], weights: list[float]) -> float:
    around = neighbours[vertex]
    return sum((around & ~neighbours[other]).bit_count() - 1 for other in _members(around))


def _eliminated(neighbours: list[int], weights: list[float], left: int, late: int, cost: Cost) -> Bags:
    """Sums out the column of the least cost, again and again; ties go to the first column, so that trees repeat."""
    wide = cost is not _weight  # what fills in can change two steps away
    costs = {vertex: cost(vertex, neighbours, weights) for vertex in _members(left)}
    bags = []
    while left:
        vertex = min(_members((left & ~late) or left), key=costs.__getitem__)
        around = neighbours[vertex]
        bags.append((vertex, around | 1 << vertex))
        left &= ~(1 << vertex)
        touched = around
        for other in _members(around):
            before = neighbours[other]
            neighbours[other] = (before | around) & ~(1 << other) & ~(1 << vertex)
            if wide and neighbours[other] & ~before:
                touched |= neighbours[other]
        for other in _members(touched):
            costs[other] = cost(other, neighbours, weights)
    return tuple(bags)


def _cells(bags: Bags, sizes: tuple[int, ...], late: int) -> int:
    tables, _, _ = _merged(bags, {vertex: place for place, (vertex, _) in enumerate(bags)}, late)
    return sum(math.prod(sizes[vertex] for vertex in table) for table in tables)


def _merged(bags: Bags, rank: dict[int, int], late: int) -> tuple[list[list[int]], list[list[int]], list[int]]:
    """Joins each bag that lies within that of a column summed out before, so that only maximal tables are left."""
    home: dict[int, int] = {}
    tables: list[list[int]] = []
    separators: list[list[int]] = []
    for vertex, bag in bags:
        if vertex in home:
            continue
        table = sorted(_members(bag), key=rank.__getitem__)
        inside = 1
        remaining = bag & ~(1 << vertex)
        # A run of columns whose own bags are what is left of this one belongs to this table, unless it has another.
        # Late columns stay together, so that they end one root.
        while inside < len(table) and table[inside] not in home and bags[rank[table[inside]]][1] == remaining:
            if late >> table[inside] & 1 and late & ~bag:
                break
            remaining &= ~(1 << table[inside])
            inside += 1
        home.update(dict.fromkeys(table[:inside], len(tables)))
        tables.append(table)
        separators.append(table[inside:])
    parents = [home[separator[0]] if separator else -1 for separator in separators]
    return _children_first(tables, separators, parents)


def _children_first(
    tables: list[list[int]], separators: list[list[int]], parents: list[int]
) -> tuple[list[list[int]], list[list[int]], list[int]]:
    children: list[list[int]] = [[] for _ in tables]
    for place, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(place)
    downwards = [place for place, parent in enumerate(parents) if parent < 0]
    for place in downwards:  # grows while it is walked
        downwards.extend(children[place])
    upwards = downwards[::-1]
    now = {place: new for new, place in enumerate(upwards)} | {-1: -1}
    return (
        [tables[one] for one in upwards],
        [separators[one] for one in upwards],
        [now[parents[one]] for one in upwards],
    )

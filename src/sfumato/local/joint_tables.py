"""Tables of several attributes that agree with each other, put together from noisy tables that overlap.

A table of shares is a sum of *components*, one for each set S of its attributes: what S adds to all smaller sets. The
component of S is the table's sums over all other attributes, minus their mean along each attribute of S. Components of
different sets are orthogonal, so that tables that share S tell of it separately, each with its own precision. Averaging
these and adding up again is the least-squares fit of tables that agree on all that they share, in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from statistics import NormalDist
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, probability
from sfumato.local.consistency import norm_sub
from sfumato.local.frequency import Frequencies
from sfumato.local.reports import Rejected
from sfumato.local.values import Values

Table: TypeAlias = tuple[int, ...]
Floats: TypeAlias = NDArray[np.float64]


def subsets(table: Table) -> Iterator[Table]:
    """All sets of the attributes of a table but the empty one."""
    for size in range(1, len(table) + 1):
        yield from combinations(table, size)


def cells_of(table: Table, sizes: Sequence[int]) -> int:
    """The number of cells of a table."""
    return math.prod(sizes[one] for one in table)


def component(shares: Floats, table: Table, kept: Table) -> Floats:
    """What a set of attributes adds to all smaller ones, in a table of shares.

    >>> component(np.array([[0.4, 0.1], [0.2, 0.3]]), (0, 1), (0,)).tolist()
    [0.0, 0.0]
    """
    part = shares.sum(axis=tuple(axis for axis, one in enumerate(table) if one not in kept))
    for axis in range(len(kept)):
        part = part - part.mean(axis=axis, keepdims=True)
    own: Floats = part
    return own


def component_variances(
    tables: Sequence[Table], sizes: Sequence[int], variances: Sequence[float], *, parities: bool
) -> dict[Table, float]:
    """The variance of each component that tables tell of together, for each of its dimensions.

    ``variances`` are those of each dimension of what each table, or each parity, tells beside its total.
    """
    precision: dict[Table, float] = {}
    for table, variance in zip(tables, variances, strict=True):
        if parities:
            precision[table] = 2.0 ** len(table) / (2 * variance)
            continue
        for kept in subsets(table):
            more = cells_of(kept, sizes) / (cells_of(table, sizes) * variance)
            precision[kept] = precision.get(kept, 0.0) + more
    return {kept: 1 / own for kept, own in precision.items()}


def cell_variance(table: Table, sizes: Sequence[int], variances: Mapping[Table, float]) -> float:
    """The variance of each cell of a fitted table, from those of its components."""
    size = cells_of(table, sizes)
    return sum(
        variances[kept] * math.prod(1 - 1 / sizes[one] for one in kept) * (cells_of(kept, sizes) / size) ** 2
        for kept in subsets(table)
    )


@final
@dataclass(frozen=True, eq=False)
class JointTable:
    """The shares of people in each cell of a table of some attributes, an axis for each; they may be negative.

    ``deviation`` is about the standard deviation of each share, the same for all cells: exact, in the mean over the
    cells of a table that was asked for alone, for people who have all cells alike.
    """

    names: tuple[str, ...]
    values: tuple[Values, ...]
    users: int
    shares: Floats
    deviation: float

    @property
    def counts(self) -> Floats:
        """The number of people in each cell."""
        return self.shares * self.users

    def interval(self, confidence: Number = Fraction(95, 100)) -> tuple[Floats, Floats]:
        """The shares of each cell by itself that the reports do not speak against, about: ends of intervals."""
        level = probability(confidence, "confidence")
        if not 0 < level < 1:
            raise BadArgument("confidence", "greater than 0 and less than 1", confidence)
        width = NormalDist().inv_cdf(float((1 + level) / 2)) * self.deviation
        return np.clip(self.shares - width, 0, 1), np.clip(self.shares + width, 0, 1)

    def consistent(self) -> Floats:
        """Shares that are not negative and add up to 1: the nearest ones."""
        return norm_sub(self.shares.ravel(), 1).reshape(self.shares.shape)

    def share(self, *cell: object) -> float:
        """The share of one cell, named by a value of each attribute."""
        if len(cell) != len(self.names):
            raise BadArgument("the cell", f"a value of each of {', '.join(self.names)}", cell)
        places = tuple(own.place(value) for own, value in zip(self.values, cell, strict=True))
        return float(self.shares[places])


@final
@dataclass(frozen=True, eq=False)
class JointTables:
    """Estimated tables of several attributes, which agree on whatever they share.

    ``raw`` are the counts that the reports are about, each with exact variance: one table (or one parity) each, of
    those who were asked it, its cells numbered with the first attribute slowest. `table` gives any table of which all
    is told, as the least-squares fit to all of them: unbiased, and for a single attribute better than each alone.
    ``variances`` are those of each direction in which the cells of a table can err.
    """

    names: tuple[str, ...]
    values: tuple[Values, ...]
    users: int
    tables: tuple[Table, ...]
    parities: bool
    raw: tuple[Frequencies, ...]
    variances: tuple[float, ...]
    loss: Pure
    rejected: Rejected

    def table(self, *names: str) -> JointTable:
        """The fitted table of some attributes, in the order in which they are named; all of them, if none is."""
        asked = tuple(self._place(name) for name in names or self.names)
        if len(set(asked)) < len(asked):
            raise BadArgument("names", "different", names)
        ordered = tuple(sorted(asked))
        components, variances = self._components()
        missing = [kept for kept in subsets(ordered) if kept not in variances]
        if missing:
            known = ", ".join(" × ".join(self.names[one] for one in table) for table in self.tables[:10])
            raise BadArgument("names", f"attributes that reports tell of together ({known})", names)
        shape = [len(self.values[one]) for one in ordered]
        shares = np.full(shape, 1 / math.prod(shape))
        for kept in subsets(ordered):
            part = components[kept]
            wide = part.reshape([len(self.values[one]) if one in kept else 1 for one in ordered])
            shares = shares + wide * (part.size / math.prod(shape))
        variance = cell_variance(ordered, [len(own) for own in self.values], variances)
        turned = np.transpose(shares, [ordered.index(one) for one in asked])
        values = tuple(self.values[one] for one in asked)
        return JointTable(tuple(self.names[one] for one in asked), values, self.users, turned, variance**0.5)

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise BadArgument("names", f"some of {', '.join(self.names)}", name)
        return self.names.index(name)

    def _components(self) -> tuple[dict[Table, Floats], dict[Table, float]]:
        """The fitted component of each set of attributes, and its variance for each dimension."""
        sizes = [len(own) for own in self.values]
        told = [one for one in zip(self.tables, self.raw, self.variances, strict=True) if one[1].users]
        tables, spread = [table for table, _, _ in told], [variance for _, _, variance in told]
        variances = component_variances(tables, sizes, spread, parities=self.parities)
        components: dict[Table, Floats] = {}
        for table, own, variance in told:
            if self.parities:
                components[table] = parity_component(float(own.shares[0] - own.shares[1]), len(table))
                continue
            shares = own.shares.reshape([sizes[one] for one in table])
            for kept in subsets(table):
                weight = variances[kept] * cells_of(kept, sizes) / (cells_of(table, sizes) * variance)
                components[kept] = components.get(kept, np.zeros(1)) + weight * component(shares, table, kept)
        return components, variances


def parity_component(excess: float, attributes: int) -> Floats:
    """What a set of binary attributes adds, from the excess of even sums over odd ones: spread over cells by sign."""
    signs = np.ones(())
    for _ in range(attributes):
        signs = np.multiply.outer(signs, np.array([1.0, -1.0]))
    own: Floats = signs * excess / 2.0**attributes
    return own

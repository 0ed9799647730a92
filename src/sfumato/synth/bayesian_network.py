"""Bayesian networks: which columns are drawn given which, and rows drawn in that order.

Post-processing alone. A structure may come from public knowledge, at no cost, or be chosen privately (`PrivBayes`); the
tables of its parts are made of noisy counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.factors import logarithms
from sfumato.synth.graph.graphical import GraphicalModel
from sfumato.synth.graph.junction import MOST_CELLS
from sfumato.synth.graph.measured import Floats
from sfumato.synth.graph.model import Codes, Given
from sfumato.synth.graph.sampling import flattened, grouped_draws, room


@final
@dataclass(frozen=True)
class Part:
    """Columns that are drawn together, given others that were drawn before."""

    new: tuple[str, ...]
    given: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the part: the given ones first."""
        return (*self.given, *self.new)


@final
@dataclass(frozen=True)
class Network:
    """A directed graph without circles, as parts in an order in which rows can be drawn.

    Every column is new in one part, and given only in later ones. `of` orders a graph of columns and parents.
    """

    domain: Domain
    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        drawn: set[str] = set()
        for part in self.parts:
            self.domain.axes(part.columns)  # which refuses columns that there are not
            if not part.new or len(set(part.columns)) < len(part.columns) or drawn & set(part.new):
                raise BadArgument("the parts of a network", "such that each column is new in one of them", part)
            if not set(part.given) <= drawn:
                late = sorted(set(part.given) - drawn)
                raise BadArgument("the parts of a network", f"in order: draw {', '.join(late)} earlier", part)
            drawn |= set(part.new)
        if missing := [name for name in self.domain.names if name not in drawn]:
            raise BadArgument(
                "the parts of a network", f"about all columns, also {', '.join(missing)}", len(self.parts)
            )

    @staticmethod
    def of(domain: Domain, parents: Mapping[str, Sequence[str]]) -> Network:
        """Orders a graph, given as the parents of columns (of one that is left out: none); refuses circles.

        >>> people = Domain(("income", "sex", "veteran"), (5, 2, 2))
        >>> [part.new[0] for part in Network.of(people, {"income": ["sex"], "veteran": ["sex"]}).parts]
        ['sex', 'income', 'veteran']
        """
        read = {name: _columns(parents.get(name, ()), name) for name in domain.names}
        for name in parents:
            domain.axes([name])
            domain.axes(read[name])
        parts, placed = list[Part](), set[str]()
        while len(placed) < len(read):
            ready = next((name for name in domain.names if name not in placed and set(read[name]) <= placed), None)
            if ready is None:
                circle = ", ".join(name for name in domain.names if name not in placed)
                raise BadArgument("parents", f"without circles: none of {circle} can be drawn first", "a circle")
            parts.append(Part((ready,), domain.sorted(read[ready])))
            placed.add(ready)
        return Network(domain, tuple(parts))

    @property
    def order(self) -> tuple[str, ...]:
        """The columns in the order in which they are drawn."""
        return tuple(name for part in self.parts for name in part.new)

    @property
    def largest(self) -> int:
        """How many cells the largest part has; a table of all columns would have `Domain.size` of them."""
        return max((self.domain.size(part.columns) for part in self.parts), default=1)

    def words(self) -> str:
        """Which columns are drawn given which."""
        return ", ".join(
            " ".join(part.new) + (f" given {' and '.join(part.given)}" if part.given else "") for part in self.parts
        )


def _columns(columns: Sequence[str], child: str) -> tuple[str, ...]:
    if isinstance(columns, str):
        raise BadArgument(f"the parents of {child}", f"a list of columns: [{columns!r}]", columns)
    return tuple(columns)


@final
@dataclass(frozen=True, eq=False)
class BayesianNetwork:
    """A distribution over rows: of each part of a network, weights of the new columns for each value of the given ones.

    ``tables`` have an axis for each column of their part, the given ones first. Weights matter in proportion: where all
    of a given combination are 0, the new columns are drawn as if all were the same, a rule that looks at nothing.
    """

    network: Network
    tables: tuple[Floats, ...]
    total: float
    most_cells: int = MOST_CELLS

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", tuple(np.asarray(table, dtype=np.float64) for table in self.tables))
        shapes = [self.domain.shape(part.columns) for part in self.network.parts]
        if [table.shape for table in self.tables] != shapes:
            raise BadArgument("tables", "one of the shape of each part of the network", len(self.tables))
        if not all(np.isfinite(table).all() and (table >= 0).all() for table in self.tables):
            raise BadArgument("tables", "finite weights of at least 0", "others")
        if not (np.isfinite(self.total) and self.total > 0):
            raise BadArgument("total", "a positive number of rows", self.total)

    @property
    def domain(self) -> Domain:
        """The columns, and the codes of each."""
        return self.network.domain

    @cached_property
    def conditionals(self) -> tuple[Floats, ...]:
        """Of each part a row of probabilities of its new values for each combination of the given ones."""
        made = []
        for part, table in zip(self.network.parts, self.tables, strict=True):
            rows = table.reshape(self.domain.size(part.given), -1)
            sums = rows.sum(axis=1, keepdims=True)
            made.append(np.where(sums > 0, rows / np.where(sums > 0, sums, 1.0), 1.0 / rows.shape[1]))
        return tuple(made)

    def marginal(self, columns: Sequence[str]) -> Floats:
        """The expected counts of some columns, exact: of the parts that they descend from, and no others."""
        if self.domain.size(columns) == 1:
            return np.full(self.domain.shape(columns), self.total)
        wanted, kept = set(columns), list[int]()
        for place, part in reversed(list(enumerate(self.network.parts))):
            if wanted & set(part.new):
                wanted |= set(part.columns)
                kept.append(place)
        within = self.domain.project(self.domain.sorted(wanted))
        return GraphicalModel(within, self.total, self._potentials(kept), self.most_cells).marginal(columns)

    def sample(self, rows: int, entropy: Entropy, given: Given | None = None) -> Codes:
        """Draws rows part by part, each given what was drawn before, with counts that are rounded and not drawn.

        With ``given`` columns the others are drawn from their exact distribution given those, on the moral graph.
        """
        if given:
            return self.graphical().sample(rows, entropy, given)
        codes = room(self.domain, rows)
        for part, table in zip(self.network.parts, self.conditionals, strict=True):
            groups = flattened(codes, self.domain.axes(part.given), self.domain.shape(part.given))
            values = np.unravel_index(grouped_draws(table, groups, entropy), self.domain.shape(part.new))
            for axis, column in zip(self.domain.axes(part.new), values, strict=True):
                codes[:, axis] = column
        return codes

    def graphical(self) -> GraphicalModel:
        """The same distribution as a graphical model: parents of one child hang together there (the moral graph)."""
        return GraphicalModel(self.domain, self.total, self._potentials(range(len(self.tables))), self.most_cells)

    def _potentials(self, places: Iterable[int]) -> dict[tuple[str, ...], Floats]:
        """The logarithms of some parts, by columns in the order of the domain; no two parts have the same columns."""
        made: dict[tuple[str, ...], Floats] = {}
        for part, table in ((self.network.parts[place], self.conditionals[place]) for place in places):
            ordered = self.domain.sorted(part.columns)
            turned = table.reshape(self.domain.shape(part.columns))
            made[ordered] = logarithms(turned.transpose([part.columns.index(name) for name in ordered]))
        return made

    def plain(self) -> dict[str, Any]:
        """The model as lists and numbers that JSON keeps exactly."""
        return {
            "names": list(self.domain.names),
            "sizes": list(self.domain.sizes),
            "total": self.total,
            "most_cells": self.most_cells,
            "parts": [
                {"new": list(part.new), "given": list(part.given), "weights": table.ravel().tolist()}
                for part, table in zip(self.network.parts, self.tables, strict=True)
            ],
        }

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> BayesianNetwork:
        """Reads what `plain` wrote."""
        try:
            domain = Domain(tuple(plain["names"]), tuple(plain["sizes"]))
            parts = tuple(Part(tuple(one["new"]), tuple(one["given"])) for one in plain["parts"])
            weights = [np.array(one["weights"], dtype=np.float64) for one in plain["parts"]]
            shaped = [table.reshape(domain.shape(part.columns)) for table, part in zip(weights, parts, strict=True)]
            network, total = Network(domain, parts), float(plain["total"])
            return BayesianNetwork(network, tuple(shaped), total, int(plain["most_cells"]))
        except (KeyError, TypeError, ValueError) as fault:
            raise BadArgument("plain", "what BayesianNetwork.plain() gave", type(fault).__name__) from None

"""A graphical model: a distribution over whole rows, as a product of factors over few columns each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.synth.graph.calibrated import Calibrated, Memory, calibrate
from sfumato.synth.graph.conditioning import codes_given
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.factors import arranged
from sfumato.synth.graph.junction import MOST_CELLS, Columns, JunctionTree
from sfumato.synth.graph.measured import Floats
from sfumato.synth.graph.model import Codes, Given
from sfumato.synth.graph.sampling import room, walked


@final
@dataclass(frozen=True, eq=False)
class GraphicalModel:
    """A distribution whose density is the exponential of a sum of potentials, each a table over few columns.

    ``potentials`` are by columns in the order of the domain; -inf is what no row can be. Columns without potentials are
    uniform. Inference is exact, by propagation on a junction tree, when something is first asked.
    """

    domain: Domain
    total: float
    potentials: Mapping[Columns, Floats]
    most_cells: int = MOST_CELLS

    @property
    def tree(self) -> JunctionTree:
        """The junction tree of the model's columns."""
        return self._calibrated.tree

    @cached_property
    def _calibrated(self) -> Calibrated:
        return calibrate(self.domain, self.potentials, total=self.total, most_cells=self.most_cells)

    def marginal(self, columns: Sequence[str]) -> Floats:
        """The expected counts of some columns, exact within the model, whether or not they share a clique.

        Refuses what would take tables of more than ``most_cells`` cells on the way.
        """
        return self._marginal(tuple(columns), {})

    def marginals(self, asked: Sequence[Sequence[str]]) -> list[Floats]:
        """The expected counts of many sets of columns: sums that several need are made once."""
        memory: Memory = {}
        return [self._marginal(tuple(columns), memory) for columns in asked]

    def _marginal(self, columns: Columns, memory: Memory) -> Floats:
        shape = self.domain.shape(columns)
        if len(set(columns)) != len(columns):
            raise BadArgument("columns", "different columns", list(columns))
        inside = [name for name in columns if self.domain.size([name]) > 1]
        counts = self._calibrated.counts(inside, memory)
        order = [name for name in self.tree.order if name in set(inside)]
        return arranged(counts, order, inside).reshape(shape).copy()

    def sample(self, rows: int, entropy: Entropy, given: Given | None = None) -> Codes:
        """Draws rows of codes, clique by clique, by rounding expected counts and not row by row.

        Of the rows that agree on what a clique shares with the one before, a value of probability p gets ⌊mp⌋ or ⌈mp⌉
        of m, mp in expectation, and chance decides which. So every column has the right distribution in expectation,
        with less noise than independent rows would have. ``given`` fixes columns, to one code for all rows or one for
        each: the others are drawn from their exact distribution given those. Where those have probability 0, the rest
        is uniform over values that occur at all in a clique, or over all.
        """
        if given:
            return codes_given(self.domain, self.potentials, rows, entropy, given, most_cells=self.most_cells)
        walked(self._calibrated, codes := room(self.domain, rows), (), entropy)
        return codes

    def plain(self) -> dict[str, Any]:
        """The model as lists and numbers that JSON keeps exactly; what is forbidden is None."""
        return {
            "names": list(self.domain.names),
            "sizes": list(self.domain.sizes),
            "total": self.total,
            "most_cells": self.most_cells,
            "potentials": [
                {
                    "columns": list(columns),
                    "values": [None if one == -math.inf else one for one in table.ravel().tolist()],
                }
                for columns, table in self.potentials.items()
            ],
        }

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> GraphicalModel:
        """Reads what `plain` wrote."""
        try:
            domain = Domain(tuple(plain["names"]), tuple(plain["sizes"]))
            potentials = {
                tuple(one["columns"]): np.array(
                    [-math.inf if value is None else float(value) for value in one["values"]], dtype=np.float64
                ).reshape(domain.shape(one["columns"]))
                for one in plain["potentials"]
            }
            return GraphicalModel(domain, float(plain["total"]), potentials, int(plain["most_cells"]))
        except (KeyError, TypeError, ValueError) as fault:
            raise BadArgument("plain", "what GraphicalModel.plain() gave", type(fault).__name__) from None

"""How far synthetic rows are from real ones, marginal by marginal: total variation, L1, the largest error of a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from sfumato.errors import BadArgument
from sfumato.release.render.document import Document, Table
from sfumato.synth.counting import Columns, Counted, differences, marginals_of
from sfumato.synth.holder import Basis, Judgement
from sfumato.synth.workloads import Workload

SHOWN = 10
"""So many of the worst marginals are listed."""


@final
@dataclass(frozen=True)
class MarginalError:
    """How far two tables are apart in one marginal, in shares of rows.

    ``total_variation`` is the share of rows that would have to move; ``largest`` the largest difference of one cell's
    share; ``range`` the largest difference of the share of any interval of codes, of one column alone.
    """

    columns: Columns
    total_variation: float
    largest: float
    weight: float = 1.0
    range: float | None = None

    @property
    def l1(self) -> float:
        """The sum of the differences of all cells: twice the total variation."""
        return 2 * self.total_variation


@final
@dataclass(frozen=True, eq=False, repr=False)
class MarginalErrors(Judgement):
    """How far two tables are apart in many marginals."""

    errors: tuple[MarginalError, ...]
    basis: Basis = Basis.HELD

    @property
    def mean(self) -> float:
        """The mean total variation, each marginal with its weight: the error on the workload."""
        weights = [each.weight for each in self.errors]
        return float(np.average([each.total_variation for each in self.errors], weights=weights))

    @property
    def worst(self) -> MarginalError:
        """The marginal with the largest total variation."""
        return max(self.errors, key=lambda each: each.total_variation)

    @property
    def largest(self) -> float:
        """The largest error of any cell."""
        return max(each.largest for each in self.errors)

    def of(self, *columns: str) -> MarginalError:
        """The error of one marginal, its columns in any order."""
        for each in self.errors:
            if set(each.columns) == set(columns):
                return each
        raise BadArgument("columns", "a marginal that was compared", ", ".join(columns))

    def document(self) -> Document:
        """Mean and worst, and the worst marginals, for any form."""
        ordered = sorted(self.errors, key=lambda each: -each.total_variation)[:SHOWN]
        rows = tuple(
            (" × ".join(each.columns), f"{each.total_variation:.3g}", f"{each.largest:.3g}") for each in ordered
        )
        head = ("columns", "total variation", "largest error of a cell")
        listed = Table(rows, head, "The worst marginals", right=frozenset({1, 2}))
        said = f"mean total variation {self.mean:.3g}, at worst {self.worst.total_variation:.3g}"
        aside = f"of {len(self.errors):,} marginals, against {self.basis.value}"
        return Document("Errors of marginals", said, aside, self.basis.marks, tables=(listed,))


def marginal_errors(
    real: Counted,
    synthetic: Counted,
    *,
    ways: int = 2,
    workload: Workload | None = None,
    basis: Basis = Basis.HELD,
) -> MarginalErrors:
    """Compares the marginals of two tables, or of a table and a model: all of ``ways`` columns, or those of a workload.

    Takes:      rows or models of one domain; ``workload``, sets of columns, with weights where they are a mapping
    Gives:      a `MarginalErrors`; of real rows it says that it is for the holder's eyes
    Cost:       a pass over two columns for every pair: all pairs of 50 columns of 30,000 rows in about half a second

    >>> from sfumato.synth.counting import Rows
    >>> from sfumato.synth.graph.domain import Domain
    >>> pair = Domain(("a", "b"), (2, 2))
    >>> left, right = Rows(pair, np.array([[0, 0], [1, 1]])), Rows(pair, np.array([[0, 1], [1, 1]]))
    >>> marginal_errors(left, right).mean, marginal_errors(left, right, ways=1).mean
    (0.5, 0.25)
    """
    if real.domain != synthetic.domain:
        raise BadArgument("synthetic", "a table with the columns and codes of the real one", synthetic.domain.names)
    if not (real.total > 0 and synthetic.total > 0):
        raise BadArgument("real and synthetic", "tables with rows: of none there are no shares", 0)
    read = marginals_of(real.domain, workload, ways=ways)
    return MarginalErrors(tuple(_error(real, synthetic, columns, weight) for columns, weight in read.items()), basis)


def _error(real: Counted, synthetic: Counted, columns: Columns, weight: float) -> MarginalError:
    apart = differences(synthetic, real, columns)
    absolute = np.abs(apart)
    span = None
    if len(columns) == 1:  # an interval of codes is the difference of two that begin at the lowest code
        before = np.concatenate([[0.0], np.cumsum(apart)])
        span = float(before.max() - before.min())
    return MarginalError(columns, float(absolute.sum() / 2), float(absolute.max()), weight, span)

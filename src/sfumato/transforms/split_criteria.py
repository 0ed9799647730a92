"""How good a split of rows is at telling classes apart, and how far one row moves that."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from sfumato.core.domains import Array
from sfumato.core.metrics import Metric, Range
from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.guarantee import guarantee
from sfumato.transforms.residuals import BITS
from sfumato.transforms.score_moves import Moves

UNIT = 1 << BITS
"""The greatest weight of a row, in steps of 2⁻²⁰."""

MOST_ROWS = 1 << 24
"""Information is counted for at most so many rows: there is a table with an entry for each."""


@final
@dataclass(frozen=True)
class Hits:
    """Scores a split by the weights of rows in the commoner class of each of its two sides, added up."""

    @property
    def most(self) -> int:
        """How far one row can move a score, in steps of 2⁻²⁰."""
        return UNIT

    def of(self, sums: Array) -> Array:
        """The score of every side, from the weights of its classes (the last direction)."""
        return np.asarray(sums.max(axis=-1))


@final
@dataclass(frozen=True)
class Information:
    """Scores a split by −n H(class | side) in bits: the one with the largest has the largest information gain.

    ``rows`` is public: up to so many rows the score is exact (to a millionth), beyond it a row counts as the last did.
    """

    rows: int

    def __post_init__(self) -> None:
        if not 1 <= integer(self.rows, "rows", least=1) <= MOST_ROWS:
            raise BadArgument("rows", f"at most {MOST_ROWS}", self.rows)

    @property
    def steps(self) -> Array:
        """What (n + 1) log₂(n + 1) − n log₂ n is for n below ``rows``, in steps of 2⁻²⁰; it never falls."""
        counts = np.arange(self.rows, dtype=np.float64)
        exact = np.log2(counts + 1) + counts * np.log1p(1 / np.maximum(counts, 1)) / np.log(2) * (counts > 0)
        return np.maximum.accumulate(np.rint(exact * UNIT).astype(np.int64))

    @property
    def most(self) -> int:
        """How far one row can move a score, in steps of 2⁻²⁰."""
        return int(self.steps[-1])

    def of(self, sums: Array) -> Array:
        """The score of every side, from the counts of its classes (the last direction)."""
        counts, steps = sums // UNIT, self.steps
        table = np.concatenate([[0], np.cumsum(steps)])
        inside = np.minimum(counts, self.rows)
        total = counts.sum(axis=-1)
        parts = table[inside] + (counts - inside) * steps[-1]
        whole = np.minimum(total, self.rows)
        return np.asarray(parts.sum(axis=-1) - table[whole] - (total - whole) * steps[-1])


Criterion: TypeAlias = Hits | Information


@guarantee(
    claim="one row added: every score moves one way and by at most m; L∞: m and m for one exchanged; range: m and 2 m",
    proof="proofs/decision_trees.md#scores",
    reviewed="b5cd55180b24",
)
def split_moves(criterion: Criterion, metric: Metric) -> Moves:
    """How far scores of splits move for one row."""
    most = Fraction(criterion.most, UNIT)
    return Moves(most, 2 * most if isinstance(metric, Range) else most)

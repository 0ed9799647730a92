"""How strongly columns hang together, in real rows and in synthetic ones: Cramér's V, correlation of ordered codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument
from sfumato.release.render.document import Document, Table
from sfumato.synth.comparing import SHOWN
from sfumato.synth.counting import Columns, Counted, Floats, columns_of
from sfumato.synth.holder import Basis, Judgement

RARE = 0.005
"""Values that a smaller share of the real rows has are left out of Cramér's V."""


@final
@dataclass(frozen=True)
class Association:
    """How strongly two columns hang together in either table.

    ``real`` and ``synthetic`` are Cramér's V, from 0 to 1, or Pearson's correlation of codes, from −1 to 1, where both
    columns are ordered.
    """

    columns: Columns
    real: float
    synthetic: float
    ordered: bool

    @property
    def lost(self) -> float:
        """How much the synthetic one differs."""
        return abs(self.real - self.synthetic)


@final
@dataclass(frozen=True, eq=False, repr=False)
class Associations(Judgement):
    """How strongly each pair of columns hangs together, in two tables."""

    pairs: tuple[Association, ...]
    basis: Basis = Basis.HELD

    @property
    def mean(self) -> float:
        """The mean difference of all pairs."""
        return float(np.mean([each.lost for each in self.pairs]))

    @property
    def worst(self) -> Association:
        """The pair whose association differs most."""
        return max(self.pairs, key=lambda each: each.lost)

    def document(self) -> Document:
        """Mean and worst, and the pairs that differ most, for any form."""
        most = sorted(self.pairs, key=lambda each: -each.lost)[:SHOWN]
        rows = tuple(
            (
                " × ".join(each.columns),
                "correlation" if each.ordered else "Cramér's V",
                f"{each.real:.2f}",
                f"{each.synthetic:.2f}",
            )
            for each in most
        )
        listed = Table(rows, ("columns", "measure", "real", "synthetic"), "Differs most", right=frozenset({2, 3}))
        said = f"associations differ by {self.mean:.3g} in the mean, by {self.worst.lost:.3g} at worst"
        aside = f"of {len(self.pairs):,} pairs, against {self.basis.value}"
        return Document("Associations", said, aside, self.basis.marks, tables=(listed,))


def associations(
    real: Counted, synthetic: Counted, *, ordered: Mapping[str, int] | None = None, basis: Basis = Basis.HELD
) -> Associations:
    """Compares how strongly columns hang together: by correlation where both are ``ordered``, else by Cramér's V.

    ``ordered`` says how many codes of a column, from the first, stand in order; the rest, what is missing, is left out.
    V is of values that at least one in 200 real rows has, in both tables: of rarer ones a single row would decide.

    >>> from sfumato.synth.counting import Rows
    >>> from sfumato.synth.graph.domain import Domain
    >>> pair = Domain(("a", "b"), (2, 2))
    >>> real, guessed = Rows(pair, np.array([[0, 0], [1, 1]])), Rows(pair, np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    >>> associations(real, guessed).worst.real, associations(real, guessed).worst.synthetic
    (1.0, 0.0)
    """
    names = real.domain.names
    if len(names) < 2 or real.domain != synthetic.domain:
        raise BadArgument("real and synthetic", "tables of the same columns, two at least", len(names))
    in_order = dict(ordered or {})
    columns_of(real.domain, tuple(in_order) or names)
    pairs = []
    for pair in combinations(names, 2):
        counts = [side.marginal(pair) for side in (real, synthetic)]
        if numbers := in_order.keys() >= set(pair):
            cut = tuple(slice(in_order[name]) for name in pair)
            values = [correlation(each[cut]) for each in counts]
        else:
            usual = [common(counts[0].sum(axis=axis)) for axis in (1, 0)]
            values = [cramers_v(each[np.ix_(*usual)], min(map(len, usual))) for each in counts]
        pairs.append(Association(pair, values[0], values[1], numbers))
    return Associations(tuple(pairs), basis)


def common(counts: Floats) -> NDArray[np.intp]:
    """The codes of a column that enough rows have to say something of them."""
    return np.flatnonzero(counts >= max(RARE * counts.sum(), 1e-12))


def cramers_v(counts: Floats, values: int | None = None) -> float:
    """Cramér's V of a two-way table: 0 where columns are independent or constant, 1 where one says the other.

    ``values`` is how many the column has that has fewer, where that is not to be counted here.
    """
    total = counts.sum()
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    fewest = (min(int((side > 0).sum()) for side in (rows, columns)) if values is None else values) - 1
    if total <= 0 or fewest < 1:
        return 0.0
    expected = np.outer(rows, columns) / total
    squares = np.divide((counts - expected) ** 2, expected, out=np.zeros_like(expected), where=expected > 0)
    return float(np.sqrt(min(squares.sum() / (total * fewest), 1.0)))


def correlation(counts: Floats) -> float:
    """Pearson's correlation of the codes of a two-way table; 0 where a column is constant."""
    total = counts.sum()
    if total <= 0:
        return 0.0
    shares = counts / total
    codes = [np.arange(size, dtype=np.float64) for size in counts.shape]
    sides = [shares.sum(axis=1), shares.sum(axis=0)]
    means = [float(side @ code) for side, code in zip(sides, codes, strict=True)]
    spreads = [float(side @ (code - mean) ** 2) for side, code, mean in zip(sides, codes, means, strict=True)]
    if min(spreads) <= 0:
        return 0.0
    together = float((codes[0] - means[0]) @ shares @ (codes[1] - means[1]))
    return float(np.clip(together / np.sqrt(spreads[0] * spreads[1]), -1.0, 1.0))

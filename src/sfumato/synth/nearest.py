"""How near synthetic rows come to real ones: a number that is often shown as privacy, and is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.release.render.document import Document, Table
from sfumato.synth.counting import Floats, Rows
from sfumato.synth.holder import Basis, Judgement
from sfumato.synth.telling_apart import some_rows

PROVES_NOTHING = (
    "Distance to the nearest record proves no privacy: rows may be far from all real ones and still tell who is in the "
    "data, and in a small domain a table that knows nothing of anybody meets real rows by chance. What protects people "
    "is the loss that was paid, and nothing on this page."
)

MOST = 2000
"""So many synthetic rows are looked at."""

BLOCK = 1 << 24
"""So many comparisons are made at a time."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class NearestRecords(Judgement):
    """In how many columns synthetic rows differ from the real row that is nearest to each.

    ``held_out`` is the same of real rows that the synthetic ones were not made of: what chance brings about.
    """

    columns: int
    distances: Floats
    held_out: Floats | None = None
    basis: Basis = Basis.HELD

    @property
    def copies(self) -> float:
        """The share of synthetic rows that equal a real one."""
        return float(np.mean(self.distances == 0))

    def document(self) -> Document:
        """Copies and distances, with the warning that they prove nothing, for any form."""
        sides = [("synthetic rows", self.distances), ("real rows that were held out", self.held_out)]
        rows = tuple(
            (name, f"{np.mean(far == 0):.1%}", f"{far.mean():.2f}", f"{np.quantile(far, 0.05):.0f}")
            for name, far in sides
            if far is not None
        )
        head = ("to the nearest real row", "equal to one", "columns that differ, mean", "5 % quantile")
        table = Table(rows, head, right=frozenset({1, 2, 3}))
        said = f"{self.copies:.1%} of synthetic rows equal a real one; {self.distances.mean():.2f} columns differ"
        aside = f"of {self.columns}, in the mean"
        return Document("Nearest records", said, aside, (PROVES_NOTHING, *self.basis.marks), tables=(table,))


def nearest_records(
    real: Rows,
    synthetic: Rows,
    *,
    held_out: Rows | None = None,
    basis: Basis = Basis.HELD,
    entropy: Entropy | None = None,
) -> NearestRecords:
    """Counts in how many columns synthetic rows differ from the nearest real one; it proves no privacy.

    >>> from sfumato.synth.graph.domain import Domain
    >>> three = Domain(("a", "b", "c"), (2, 2, 2))
    >>> real, made = Rows(three, np.array([[0, 0, 0]])), Rows(three, np.array([[0, 0, 0], [1, 1, 0]]))
    >>> nearest_records(real, made).distances.tolist()
    [0.0, 2.0]
    """
    if real.domain != synthetic.domain or min(real.total, synthetic.total) < 1:
        raise BadArgument("real and synthetic", "tables of the same columns, with rows", synthetic.domain.names)
    source = entropy or system()
    far = distances(some_rows(synthetic, MOST, source), real)
    other = None if held_out is None else distances(some_rows(held_out, MOST, source), real)
    return NearestRecords(len(real.domain.names), far, other, basis)


def distances(asked: Rows, among: Rows) -> Floats:
    """In how many columns each row differs from the nearest of others."""
    known = np.unique(among.codes, axis=0)
    step = max(1, BLOCK // max(1, len(known)))
    nearest = []
    for start in range(0, len(asked.codes), step):
        block = asked.codes[start : start + step]
        apart = np.zeros((len(block), len(known)), dtype=np.uint16)
        for place in range(block.shape[1]):
            apart += block[:, place, None] != known[None, :, place]
        nearest.append(apart.min(axis=1))
    return np.concatenate(nearest).astype(np.float64) if nearest else np.zeros(0)

"""Conditions: which value of which column a generator is asked for, drawn by noisy counts that were paid for.

Training by sampling (CTGAN, Xu et al. 2019, arXiv 1907.00503): while it trains, values are asked for by the logarithm
of how often they are, so that rare ones have their turn; when it makes rows, by how often they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sfumato.entropy import Entropy
from sfumato.noise.uniform import below_many
from sfumato.synth.neural.heads import Codes, Heads
from sfumato.synth.neural.randomness import uniforms

HEAVIEST = 5.0
"""No row counts for more than so many in a step, however rare its value is."""


@final
@dataclass(frozen=True, eq=False)
class Conditions:
    """The columns that a generator can be asked about, each with the noisy counts of its values.

    ``columns`` are places of heads without modes. Without any, nothing is asked, and a condition has no inputs.
    """

    heads: Heads
    columns: tuple[int, ...] = ()
    counts: tuple[NDArray[np.float64], ...] = ()

    @staticmethod
    def of(heads: Heads, counts: Sequence[NDArray[np.float64]]) -> Conditions:
        """Every column in which values stand by themselves, by noisy counts of all columns."""
        asked = tuple(place for place, head in enumerate(heads.columns) if not head.modes)
        return Conditions(heads, asked, tuple(np.asarray(counts[place], dtype=np.float64) for place in asked))

    @property
    def width(self) -> int:
        """How many inputs a condition has: one for each value of each of its columns."""
        return sum(self.heads.columns[place].size for place in self.columns)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The place of the first input of each of its columns."""
        return tuple(np.cumsum([0, *(self.heads.columns[place].size for place in self.columns)]).tolist())

    @cached_property
    def often(self) -> tuple[NDArray[np.float64], ...]:
        """The share of each value of each column; equal shares where noise left nothing."""
        return tuple(_shares(np.maximum(counts, 0.0)) for counts in self.counts)

    @cached_property
    def evenly(self) -> tuple[NDArray[np.float64], ...]:
        """The shares by which values are asked for in training: those of the logarithms of their counts."""
        return tuple(_shares(np.log1p(np.maximum(counts, 0.0))) for counts in self.counts)

    def drawn(self, rows: int, entropy: Entropy, *, training: bool) -> tuple[Tensor, Codes]:
        """Draws a condition for each row, as inputs; and which column, and which value of it, was drawn."""
        if not self.columns:
            return torch.zeros(rows, 0), np.zeros((rows, 2), dtype=np.int64)
        which = below_many(len(self.columns), count=rows, entropy=entropy)
        told = uniforms((rows,), entropy).numpy()
        values = np.zeros(rows, dtype=np.int64)
        for place, shares in enumerate(self.evenly if training else self.often):
            own = which == place
            values[own] = np.searchsorted(np.cumsum(shares)[:-1], told[own], side="right")
        return self.inputs(which, values), np.stack([which, values], axis=1)

    def inputs(self, which: Codes, values: Codes) -> Tensor:
        """Conditions as inputs: 1 at the value that is asked for."""
        made = torch.zeros(len(which), self.width)
        at = torch.from_numpy(np.array(self.starts)[which] + values)
        return made.scatter_(1, at[:, None], 1.0)

    def independent(self, rows: int, entropy: Entropy) -> Tensor:
        """Rows of independent columns, by noisy counts where there are any and evenly else, each with a condition."""
        heads, codes = self.heads.columns, []
        for place, head in enumerate(heads):
            told = uniforms((rows,), entropy).numpy()
            known = place in self.columns
            shares = self.often[self.columns.index(place)] if known else np.full(head.size, 1 / head.size)
            codes.append(np.searchsorted(np.cumsum(shares)[:-1], told, side="right"))
        made = np.stack(codes, axis=1)
        return torch.cat([self.heads.encoded(made), self.met_by(made, entropy)[0]], dim=1)

    def met_by(self, codes: Codes, entropy: Entropy) -> tuple[Tensor, Tensor]:
        """For each row, a condition that it meets, by one of its own values; and how much it counts.

        A row counts by how often its value is asked for over how often it is, so that rows and what is asked for are
        alike. Which column it is, is drawn; the rest hangs on the row alone.
        """
        if not self.columns:
            return torch.zeros(len(codes), 0), torch.ones(len(codes))
        which = below_many(len(self.columns), count=len(codes), entropy=entropy)
        values = codes[np.arange(len(codes)), np.array(self.columns)[which]]
        weights = np.ones(len(codes))
        for place, (even, often) in enumerate(zip(self.evenly, self.often, strict=True)):
            own = which == place
            ratio = np.minimum(even / np.maximum(often, 1e-9), HEAVIEST)
            weights[own] = ratio[values[own]]
        return self.inputs(which, values), torch.from_numpy(weights).float()


def _shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    whole = counts.sum()
    return counts / whole if whole > 0 else np.full(len(counts), 1 / len(counts))

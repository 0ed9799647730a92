"""What is written down of a game, step by step: made-up rows and private weights alone, never a row of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray


@final
@dataclass(frozen=True, eq=False)
class History:
    """One line a step of a discriminator: how it judged made-up rows, and how long gradients were.

    ``right`` is the share of made-up rows that it called made up, ``chance`` how real it thought they were on average;
    ``generator`` and ``discriminator`` are lengths of gradients on made-up rows.
    """

    right: NDArray[np.float64]
    chance: NDArray[np.float64]
    generator: NDArray[np.float64]
    discriminator: NDArray[np.float64]

    @staticmethod
    def of(lines: NDArray[np.float64]) -> History:
        """Reads lines of four numbers; those that are none count as 0."""
        held = np.nan_to_num(np.asarray(lines, dtype=np.float64).reshape(-1, 4), nan=0.0, posinf=0.0, neginf=0.0)
        return History(*(held[:, place] for place in range(4)))

    @property
    def lines(self) -> NDArray[np.float64]:
        """All of it as one matrix, to be stored."""
        return np.stack([self.right, self.chance, self.generator, self.discriminator], axis=1)

    def __len__(self) -> int:
        return len(self.right)

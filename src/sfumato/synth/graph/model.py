"""What a method of synthesis ends with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Floats

Codes: TypeAlias = NDArray[np.unsignedinteger[Any]]
Given: TypeAlias = Mapping[str, "int | NDArray[np.integer[Any]]"]
"""Columns that are fixed: one code for all rows, or one for each."""


class Model(Protocol):
    """A distribution over the rows of a domain, with an expected number of rows."""

    @property
    def domain(self) -> Domain:
        """The columns, and the codes of each."""

    @property
    def total(self) -> float:
        """The expected number of rows."""

    def marginal(self, columns: Sequence[str]) -> Floats:
        """The expected counts of some columns, in the shape of the domain; they sum to the total."""

    def sample(self, rows: int, entropy: Entropy, given: Given | None = None) -> Codes:
        """Draws rows of codes, a column for each of the domain, in the smallest unsigned type that holds them."""

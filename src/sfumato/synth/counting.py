"""Tables of codes as counts: the marginals of rows, in the same words as the marginals of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import comb
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument, did_you_mean
from sfumato.exact import integer
from sfumato.synth.graph.domain import Domain
from sfumato.synth.workloads import Clique, Workload, read_workload

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[Any]
Columns: TypeAlias = tuple[str, ...]

MOST_MARGINALS = 250_000
"""So many marginals are compared, at most: more take minutes and say no more."""

DENSE = 1 << 22
"""Marginals up to so many cells are written out; of larger ones, only cells with rows in them."""


class Counted(Protocol):
    """Whatever has marginals: a fitted model, or rows."""

    @property
    def domain(self) -> Domain:
        """The columns and how many codes each has."""

    @property
    def total(self) -> float:
        """How many rows there are, or are expected."""

    def marginal(self, columns: Sequence[str]) -> Floats:
        """Counts by the codes of some columns; they sum to the total."""


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of codes, a column for each of the domain, held column by column."""

    domain: Domain
    codes: Codes = field(repr=False)

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes)
        if codes.ndim != 2 or codes.shape[1] != len(self.domain.names) or codes.dtype.kind not in "iu":
            raise BadArgument("codes", f"whole numbers, a column for each of {len(self.domain.names)}", codes.shape)
        if codes.size and (codes.min() < 0 or bool((codes.max(axis=0) >= np.array(self.domain.sizes)).any())):
            raise BadArgument("codes", "below the size of their column, and not negative", codes.dtype)
        object.__setattr__(self, "codes", np.asfortranarray(codes))

    @property
    def total(self) -> float:
        """The number of rows."""
        return float(len(self.codes))

    def flat(self, columns: Sequence[str]) -> NDArray[np.int64]:
        """The cell of each row in the marginal of some columns, in the order of its cells."""
        places = [(self.domain.names.index(name), self.domain.sizes[self.domain.names.index(name)]) for name in columns]
        start = np.zeros(len(self.codes), dtype=np.int64)
        return reduce(lambda cell, place: cell * place[1] + self.codes[:, place[0]].astype(np.int64), places, start)

    def marginal(self, columns: Sequence[str]) -> Floats:
        """Counts by the codes of some columns."""
        shape = self.domain.shape(tuple(columns))
        counts = np.bincount(self.flat(columns), minlength=int(np.prod(shape, dtype=np.int64)))
        return counts.reshape(shape).astype(np.float64)


def marginals_of(domain: Domain, workload: Workload | None = None, *, ways: int = 2) -> dict[Clique, float]:
    """Sets of columns with their weights, those of a workload, or all of ``ways`` columns; refuses too many of them."""
    order = workload if isinstance(workload, int) else ways
    every = workload is None or isinstance(workload, int)
    if every and comb(len(domain.names), min(integer(order, "ways", least=1), len(domain.names))) > MOST_MARGINALS:
        raise BadArgument("ways", f"so few that there are at most {MOST_MARGINALS:,} marginals", order)
    return read_workload(workload, domain, usual=order)


def columns_of(domain: Domain, columns: Sequence[str] | str) -> Columns:
    """Names of columns as a table has them, each once."""
    named = (columns,) if isinstance(columns, str) else tuple(columns)
    for name in named:
        if name not in domain.names:
            raise BadArgument("a column", f"one of the table.{did_you_mean(name, domain.names)}", name)
    if not named or len(set(named)) != len(named):
        raise BadArgument("columns", "at least one, and each of them once", ", ".join(named))
    return named


def differences(left: Counted, right: Counted, columns: Sequence[str]) -> Floats:
    """How much larger the share of each cell is on the left; of huge marginals of rows, without empty cells."""
    if isinstance(left, Rows) and isinstance(right, Rows) and left.domain.size(tuple(columns)) > DENSE:
        cells, place = np.unique(np.concatenate([left.flat(columns), right.flat(columns)]), return_inverse=True)
        counts = (np.bincount(side, minlength=len(cells)) for side in np.split(place, [len(left.codes)]))
        first, second = (each.astype(np.float64) for each in counts)
    else:
        first, second = (side.marginal(columns).ravel() for side in (left, right))
    return np.asarray(_shares(first) - _shares(second))


def _shares(counts: Floats) -> Floats:
    total = counts.sum()
    return counts / total if total > 0 else counts

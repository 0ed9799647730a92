"""Data cubes: a table with a cell for every combination of the codes of all columns, as MWEM keeps it.

Post-processing alone: a cube is made of public numbers and of noisy answers. Its axes are the public codes of columns,
also those that no row has. Its size is the product of the numbers of codes, so it is for few columns; what would be too
large is refused before anything is allocated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.factors import logarithms
from sfumato.synth.graph.graphical import GraphicalModel
from sfumato.synth.graph.measured import Floats
from sfumato.synth.graph.model import Codes, Given
from sfumato.synth.graph.sampling import flattened, grouped_draws, room

MOST_CELLS = 1 << 24
"""A cube has at most so many cells unless more are asked for: 128 MiB."""

Wholes = NDArray[np.integer[Any]]


def require_room(domain: Domain, *, most_cells: int = MOST_CELLS) -> int:
    """The cells of a cube of all columns; refuses too many, naming the columns with most codes, and allocates nothing.

    >>> require_room(Domain(("sex", "age"), (2, 10)))
    20
    """
    cells = domain.size()
    if cells <= most_cells:
        return cells
    ranked = sorted(zip(domain.sizes, domain.names, strict=True), reverse=True)
    words = ", ".join(f"{name} ({size:,} codes)" for size, name in ranked[:8])
    more = f" and {len(ranked) - 8} more" if len(ranked) > 8 else ""
    raise BadArgument(
        "the columns of a cube",
        f"of at most {most_cells:,} cells together. The cells of {words}{more} multiply: give the first fewer codes "
        "(wider bins, fewer categories), split the columns, or take a method that keeps no cube",
        f"{cells:.3g} cells" if cells < 1e300 else "more than 1e300 cells",
    )


@final
@dataclass(frozen=True, eq=False)
class Cube:
    """Expected counts of every combination of codes, with an axis for each column; none is below 0."""

    domain: Domain
    counts: Floats

    def __post_init__(self) -> None:
        require_room(self.domain, most_cells=max(MOST_CELLS, np.size(self.counts)))
        counts = np.asarray(self.counts, dtype=np.float64)
        if counts.shape != self.domain.sizes or not (np.isfinite(counts).all() and (counts >= 0).all()):
            raise BadArgument("counts", f"of shape {self.domain.sizes}, finite and at least 0", counts.shape)
        object.__setattr__(self, "counts", counts)

    @staticmethod
    def uniform(domain: Domain, total: float, *, most_cells: int = MOST_CELLS) -> Cube:
        """Spreads a public number of rows evenly over all cells: what is known before any question.

        >>> float(Cube.uniform(Domain(("C1", "C2"), (3, 2)), 4).counts[2, 1])
        0.6666666666666666
        """
        cells = require_room(domain, most_cells=most_cells)
        if not (np.isfinite(total) and total > 0):
            raise BadArgument("total", "a positive number of rows", total)
        return Cube(domain, np.full(domain.sizes, total / cells))

    @staticmethod
    def of_codes(domain: Domain, codes: Wholes, *, most_cells: int = MOST_CELLS) -> Cube:
        """Counts rows of codes, a column for each of the domain; not private, unless the rows are public or made up.

        >>> Cube.of_codes(Domain(("C1", "C2"), (3, 2)), np.array([[0, 0], [0, 0], [0, 1], [1, 0]])).counts.tolist()
        [[2.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
        """
        cells = require_room(domain, most_cells=most_cells)
        rows = np.asarray(codes)
        if rows.ndim != 2 or rows.shape[1] != len(domain.sizes) or not np.issubdtype(rows.dtype, np.integer):
            raise BadArgument("codes", f"a matrix of whole numbers, {len(domain.sizes)} in a row", rows.shape)
        if rows.size and ((rows < 0).any() or (rows.astype(np.int64) >= np.array(domain.sizes)).any()):
            raise BadArgument("codes", "below the number of codes of their column, and at least 0", "others")
        places = np.ravel_multi_index(tuple(rows.astype(np.intp).T), domain.sizes)
        return Cube(domain, np.bincount(places, minlength=cells).astype(np.float64).reshape(domain.sizes))

    @property
    def total(self) -> float:
        """The expected number of rows."""
        return float(self.counts.sum())

    def codes(self) -> Codes:
        """Rows of codes with these counts, which must be whole numbers; in the order of the cells."""
        whole = np.rint(self.counts).astype(np.int64)
        if (whole != self.counts).any():
            raise BadArgument("the counts of a cube", "whole numbers; sample() draws rows of others", "others")
        codes = room(self.domain, int(whole.sum()))
        places = np.repeat(np.arange(whole.size), whole.ravel())
        for axis, column in enumerate(np.unravel_index(places, self.domain.sizes)):
            codes[:, axis] = column
        return codes

    def marginal(self, columns: Sequence[str]) -> Floats:
        """The expected counts of some columns, in the order in which they are asked for."""
        axes = self.domain.axes(columns)
        if len(set(axes)) < len(axes):
            raise BadArgument("columns", "different columns", list(columns))
        summed: Floats = self.counts.sum(axis=tuple(axis for axis in range(self.counts.ndim) if axis not in axes))
        order = np.argsort(np.argsort(axes))
        return np.ascontiguousarray(np.moveaxis(summed, order.tolist(), range(len(axes))))

    def sample(self, rows: int, entropy: Entropy, given: Given | None = None) -> Codes:
        """Draws rows by rounding the counts of cells and not row by row: each gets what it is due, up or down.

        With ``given`` codes of some columns the others are drawn from the slice that has them, in proportion. A slice
        without any mass is drawn from as if all of its cells had the same: a rule that looks at nothing.
        """
        codes = room(self.domain, rows)
        known = self.domain.sorted(given or {})
        for name, values in (given or {}).items():
            codes[:, self.domain.axes([name])[0]] = _checked(self.domain, name, values, len(codes))
        new = tuple(name for name in self.domain.names if name not in known)
        if not new:
            return codes
        slices = self.counts.transpose(self.domain.axes((*known, *new))).reshape(self.domain.size(known), -1)
        filled = np.where(slices.sum(axis=1, keepdims=True) > 0, slices, 1.0)
        drawn = grouped_draws(filled, flattened(codes, self.domain.axes(known), self.domain.shape(known)), entropy)
        for axis, column in zip(self.domain.axes(new), np.unravel_index(drawn, self.domain.shape(new)), strict=True):
            codes[:, axis] = column
        return codes

    def graphical(self) -> GraphicalModel:
        """The same distribution as a graphical model with one table."""
        return GraphicalModel(
            self.domain, self.total, {self.domain.names: logarithms(self.counts)}, max(MOST_CELLS, self.counts.size)
        )


def _checked(domain: Domain, name: str, values: object, rows: int) -> Wholes:
    codes, size = np.asarray(values), domain.size([name])
    if codes.dtype.kind not in "iu" or codes.shape not in ((), (rows,)):
        raise BadArgument(f"given[{name!r}]", "one code, or one for each row", f"{codes.dtype}, {codes.shape}")
    if codes.size and not (codes.min() >= 0 and codes.max() < size):
        raise BadArgument(f"given[{name!r}]", f"codes below {size}, and at least 0", "others")
    return codes

"""The columns of a table of codes, and how many codes each has."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import final

from sfumato.errors import BadArgument
from sfumato.exact import integer


@final
@dataclass(frozen=True)
class Domain:
    """Columns by name; the codes of a column are the whole numbers 0 … size - 1.

    >>> visits = Domain(("sex", "age"), (2, 10))
    >>> visits.size(), visits.shape(["age"]), visits.project(["age"])
    (20, (10,), Domain(names=('age',), sizes=(10,)))
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "sizes", tuple(integer(size, "the size of a column", least=1) for size in self.sizes))
        if len(set(self.names)) != len(self.names) or not all(isinstance(name, str) for name in self.names):
            raise BadArgument("names", "different names of columns", list(self.names))
        if len(self.names) != len(self.sizes):
            raise BadArgument("sizes", f"one number for each of {len(self.names)} columns", list(self.sizes))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def axes(self, columns: Iterable[str]) -> tuple[int, ...]:
        """The places of some columns among all."""
        try:
            return tuple(self._places[name] for name in columns)
        except KeyError as missing:
            raise BadArgument("columns", f"some of {', '.join(self.names)}", missing.args[0]) from None

    def shape(self, columns: Iterable[str]) -> tuple[int, ...]:
        """How many codes each of some columns has."""
        return tuple(self.sizes[axis] for axis in self.axes(columns))

    def size(self, columns: Iterable[str] | None = None) -> int:
        """The number of cells in the table of all combinations of codes, as an exact whole number."""
        return math.prod(self.sizes if columns is None else self.shape(columns))

    def project(self, columns: Iterable[str]) -> Domain:
        """The domain of some columns, in the order in which they are asked for."""
        columns = tuple(columns)
        return Domain(columns, self.shape(columns))

    def sorted(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Some columns, each once, in the order of the domain."""
        return tuple(self.names[axis] for axis in sorted(set(self.axes(columns))))

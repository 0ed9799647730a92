"""The public list of values that people may have, and the place of each in it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument, Unseen

_NONE = object()


@final
@dataclass(frozen=True)
class Values:
    """A public list of different values, in order; ``other`` is one of them that stands for whatever is not listed."""

    listed: Sequence[Hashable]
    other: Hashable = None
    _places: dict[Hashable, int] = field(init=False, repr=False, compare=False, hash=False, default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.listed, str | bytes) or not isinstance(self.listed, Iterable):
            raise BadArgument("values", "a list or a range of all values that people may have", self.listed)
        listed = self.listed if isinstance(self.listed, range) else tuple(self.listed)
        object.__setattr__(self, "listed", listed)
        if not isinstance(listed, range):
            self._places.update((value, place) for place, value in enumerate(listed))
            if len(self._places) < len(listed):
                raise BadArgument("values", "different from each other", f"{len(listed) - len(self._places)} repeated")
        if len(listed) < 2:
            raise BadArgument("values", "at least two: of a single one there is nothing to report", len(listed))
        if self.other is not None and self._find(self.other) is None:
            raise BadArgument("other", "one of the values", self.other)

    def __len__(self) -> int:
        return len(self.listed)

    def __getitem__(self, place: int) -> Hashable:
        return self.listed[place]

    def _find(self, value: Any) -> int | None:
        try:
            if isinstance(self.listed, range):
                whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
                return self.listed.index(int(value)) if whole else None
            return self._places.get(value.item() if isinstance(value, np.generic) else value)
        except (ValueError, TypeError):
            return None

    def place(self, value: Any) -> int:
        """The place of a value; that of ``other``, or a refusal that does not show the value, if it is not listed."""
        found = self._find(value)
        if found is None and self.other is not None:
            found = self._find(self.other)
        if found is None:
            raise BadArgument(
                "the value", "one of the listed values (or state other=…, the value that stands for the rest)", Unseen()
            )
        return found

    def places(self, values: Any) -> NDArray[np.int64]:
        """The places of many values, one of each person."""
        if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable) or hasattr(values, "columns"):
            must = "one value of each person: a list, an array, or one column of a table"
            raise BadArgument("values", must, type(values).__name__)
        array = np.asarray(values) if not isinstance(values, list | tuple) or isinstance(self.listed, range) else None
        listed = self.listed
        if array is not None and array.ndim == 1 and array.dtype.kind in "iu" and isinstance(listed, range):
            wide = array.astype(np.int64)
            if array.dtype.kind == "u" and len(array) and int(array.max()) >= 1 << 63:
                wide = np.where(array >= np.uint64(1 << 63), np.int64(listed.start - 1), wide)
            places, rest = np.divmod(wide - np.int64(listed.start), np.int64(listed.step))
            outside = (rest != 0) | (places < 0) | (places >= len(listed))
            if outside.any():
                places[outside] = self.place(_NONE)
            return places
        return np.fromiter((self.place(value) for value in values), dtype=np.int64)

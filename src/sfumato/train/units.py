"""Data to train on: rows, whose they are, and batches of them by unit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, default_collate

from sfumato.errors import BadArgument, Several
from sfumato.exact import integer
from sfumato.train.batches import Places
from sfumato.train.people import names_of

Rows: TypeAlias = tuple[Any, ...]
"""What a model is given of some rows: features, labels, and what else a data set has."""

Collate: TypeAlias = Callable[[list[Any]], Any]
"""Puts the rows of a batch together, the rows first; a row may be padded, and not otherwise changed by others."""

Augment: TypeAlias = Callable[[Any], Any]
"""Changes features at random, or not, without looking from one row at another."""


@final
@dataclass(frozen=True, eq=False)
class Chunk:
    """Some whole units of a batch: their rows, equally many each, and the weight of every row."""

    rows: Rows
    units: int
    weights: Tensor
    last: bool


@final
class Units:
    """Rows of units. A unit is a row, or, with ``people``, all rows of one person, of which ``max_rows`` count a step.

    What a unit adds is the mean of what its rows add. Of a person with more rows, others have their turn in each step.
    """

    def __init__(
        self,
        data: object,
        *,
        people: Sequence[object] | None = None,
        max_rows: int = 1,
        augment: Augment | None = None,
        augmentations: int = 1,
        collate: Collate = default_collate,
    ) -> None:
        self._take, rows = readable(data, collate)
        self._tensors = tensors_of(data)
        self.max_rows = integer(max_rows, "max_rows", least=1)
        self.augment, self.augmentations = augment, integer(augmentations, "augmentations", least=1)
        if people is None:
            if self.max_rows != 1:
                raise BadArgument("max_rows", "given with people: without, every row is a unit of its own", max_rows)
            self._of: list[NDArray[np.int64]] | None = None
            self.count = rows
            return
        if len(people) != rows:
            raise BadArgument("people", "one id for each row", Several(len(people), rows))
        owner = owners(people)
        order = np.argsort(owner, kind="stable")
        self._of = np.split(order, np.flatnonzero(np.diff(owner[order])) + 1) if rows else []
        self.count = len(self._of)

    def example(self) -> Rows:
        """Two rows for checks of shapes and types: zeros, where the data says its shapes, or the first row twice."""
        if self._tensors is not None:
            return tuple(part.new_zeros((2, *part.shape[1:])) for part in self._tensors)
        return self._take(np.zeros(2, dtype=np.int64)) if self.count else ()

    @property
    def labels(self) -> Tensor | None:
        """What stands second of all rows, where it is held as a tensor."""
        return self._tensors[1] if self._tensors is not None and len(self._tensors) > 1 else None

    @property
    def protects(self) -> str:
        """Who is protected, in words."""
        if self._of is None:
            return "a row"
        return "a person, with all rows" + (f", of which {self.max_rows} count a step" if self.max_rows > 1 else "")

    def chunks(self, chosen: Places, step: int, largest: int | None) -> Iterator[Chunk]:
        """The rows of some units, in pieces of at most ``largest`` units, each of which is whole."""
        size = len(chosen) if largest is None else largest
        for begin in range(0, len(chosen), max(size, 1)):
            part = chosen[begin : begin + size]
            yield self._chunk(part, step, last=begin + size >= len(chosen))

    def _chunk(self, chosen: Places, step: int, *, last: bool) -> Chunk:
        places, weights = self._rows_of(chosen, step)
        taken = self._take(places)
        many = self.augmentations
        if many > 1:
            taken = tuple(_repeated(part, many) for part in taken)
        if self.augment is not None:
            taken = (self.augment(taken[0]), *taken[1:])
        spread = torch.from_numpy(weights / many).float()
        return Chunk(taken, len(chosen), spread.repeat_interleave(many) if many > 1 else spread, last)

    def _rows_of(self, chosen: Places, step: int) -> tuple[Places, NDArray[np.float64]]:
        """The rows of units, ``max_rows`` each, and their weights: a unit with fewer has rows of weight 0 besides."""
        if self._of is None:
            return chosen, np.ones(len(chosen))
        places = np.empty((len(chosen), self.max_rows), dtype=np.int64)
        weights = np.zeros((len(chosen), self.max_rows))
        for line, unit in enumerate(chosen):
            own = self._of[unit]
            turn = (step * self.max_rows + np.arange(self.max_rows)) % len(own)
            places[line] = own[turn]
            count = min(len(own), self.max_rows)
            weights[line, :count] = 1 / count
        return places.ravel(), weights.ravel()


def readable(data: object, collate: Collate = default_collate) -> tuple[Callable[[Places], Rows], int]:
    """Reads data as a function from places to rows, which are put together by ``collate``, and counts its rows."""
    if isinstance(data, DataLoader):
        must = (
            "the data set itself, loader.dataset: batches are drawn here, and how is what is paid for. A loader that "
            "shuffles, or drops its last batch, draws otherwise"
        )
        raise BadArgument("data", must, "a DataLoader")
    if isinstance(data, IterableDataset):
        raise BadArgument("data", "a data set with a length, of which rows can be drawn", type(data).__name__)
    tensors = tensors_of(data)
    if tensors is not None:
        return lambda places: tuple(part[torch.from_numpy(places).to(part.device)] for part in tensors), len(tensors[0])
    if isinstance(data, Dataset) or (hasattr(data, "__getitem__") and hasattr(data, "features")):
        held: Any = data
        if not hasattr(held, "__len__"):
            raise BadArgument("data", "a data set with a length, of which rows can be drawn", type(data).__name__)
        return lambda places: _tuple(_collated(held, places, collate)), len(held)
    raise BadArgument("data", "a tuple of tensors or arrays such as (X, y), or a torch Dataset", type(data).__name__)


def tensors_of(data: object) -> list[Tensor] | None:
    """The tensors of data that is held in some, all of one length; None of other data."""
    if isinstance(data, TensorDataset):
        data = data.tensors
    if not (isinstance(data, tuple | list) and data and all(isinstance(part, Tensor | np.ndarray) for part in data)):
        return None
    tensors = [part if isinstance(part, Tensor) else torch.from_numpy(part) for part in data]
    if any(part.dim() == 0 for part in tensors) or len({len(part) for part in tensors}) != 1:
        raise BadArgument("data", "tensors of one length", Several(*(tuple(part.shape)[:1] for part in tensors)))
    return tensors


def owners(people: Sequence[object]) -> NDArray[np.int64]:
    """Whose each row is, as whole numbers in the order of first rows; refuses an id that is missing."""
    ids = people.tolist() if isinstance(people, np.ndarray | Tensor) else list(people)
    if any(isinstance(each, list | dict | set) for each in ids):
        raise BadArgument("people", "an id for each row, such as a number or a text", "others")
    names = names_of(ids)
    if b"" in names:
        raise BadArgument("people", "an id for each row, none missing: rows of nobody cannot be clipped together", None)
    places: dict[bytes, int] = {}
    return np.array([places.setdefault(name, len(places)) for name in names], dtype=np.int64)


def _collated(held: Any, places: Places, collate: Collate) -> Any:
    """Rows of a data set, read one by one; one that cannot be read is said without which, for that was drawn."""
    try:
        return collate([held[int(place)] for place in places])
    except Exception as fault:  # of a data set that others wrote
        failed = type(fault).__name__
    raise BadArgument(
        "data", "a data set of which every row can be read, all of one shape", f"one that raised {failed}"
    )


def _tuple(collated: Any) -> Rows:
    return tuple(collated) if isinstance(collated, tuple | list) else (collated,)


def _repeated(part: Any, times: int) -> Any:
    return part.repeat_interleave(times, dim=0) if isinstance(part, Tensor) else part

"""Questions that were asked and what was answered: the same question twice is answered from memory, free."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument

UNSURE = -1
"""Stands where the teachers did not agree well enough for a label."""


@final
@dataclass(frozen=True, eq=False)
class Votes:
    """What teachers say of rows: one of the classes each, or nothing where they were not sure."""

    labels: NDArray[Any]
    """A class for each row; None where there is no answer."""
    answered: NDArray[np.bool_]
    asked: int
    """How many of the rows were new questions, which is what was paid for."""

    def __repr__(self) -> str:
        return f"Votes({int(self.answered.sum())} labels for {len(self.labels)} rows, {self.asked} of them new)"


def digests(rows: Any) -> list[bytes]:
    """What makes two questions the same: each row's values, and nothing of where it stands."""
    if isinstance(rows, np.ndarray) and rows.dtype.kind in "biufU":
        whole = np.ascontiguousarray(rows)
        kind = f"{whole.dtype} {whole.shape[1:]}".encode()
        return [blake2b(kind + line.tobytes(), digest_size=16).digest() for line in whole]
    listed = np.asarray(rows, dtype=object).tolist()
    return [blake2b(repr(line).encode("utf-8", "surrogatepass"), digest_size=16).digest() for line in listed]


def check_questions(rows: Any, shape: tuple[int, ...]) -> None:
    """Refuses rows of another width than the teachers have seen, and those with numbers that are none."""
    if tuple(np.shape(rows))[1:] != shape:
        raise BadArgument("X", f"rows of shape {shape}, as teachers were trained on", tuple(np.shape(rows)))
    if isinstance(rows, np.ndarray) and rows.dtype.kind == "f" and not np.isfinite(rows).all():
        raise BadArgument("X", "without missing and infinite numbers: a teacher may not know what to say", "some")


def first_of_each(names: list[bytes], known: dict[bytes, int]) -> NDArray[np.int64]:
    """The places of questions that were never asked before, each once."""
    new: dict[bytes, int] = {}
    for place, name in enumerate(names):
        if name not in known:
            new.setdefault(name, place)
    return np.fromiter(new.values(), dtype=np.int64, count=len(new))

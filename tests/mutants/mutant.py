"""What a mutant is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Mutant:
    """Is one way to break one file of the package, the trap it stands for, and the tests that must notice."""

    name: str
    trap: str
    path: str
    old: str
    new: str
    killers: tuple[str, ...]
    audits: tuple[str, ...] = ()

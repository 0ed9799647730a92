"""Functions that questions to the catalog may call: those of `facts/calls.txt`, and no other one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import final

from sfumato.server.postgres.catalog.casts import Numbers, cast, coerced
from sfumato.server.postgres.catalog.refusals import NO_FUNCTION, refused
from sfumato.server.postgres.catalog.scopes import Typed
from sfumato.server.postgres.catalog.types import (
    NUMBERS,
    OBJECTS,
    TEXTS,
    VECTORS,
    WHOLE,
    array_of,
    canonical,
    element_of,
    fact_lines,
    kept,
)

LINE = re.compile(r"(\w+)\((.*?)\) (\S+) = (.+)")
PLACE = re.compile(r"\{(\d|\*)\}")
AGGREGATES = frozenset(("count", "sum", "avg", "min", "max", "bool_and", "bool_or", "every", "string_agg", "array_agg"))
PLACED = frozenset(("row_number", "rank", "dense_rank", "lag", "lead", "first_value", "last_value"))
MOST_ARGUMENTS = 40
"""Nothing is called with more."""


@final
@dataclass(frozen=True)
class Signature:
    """One way to call a function: the types it takes, the one it gives, and what the engine works out."""

    name: str
    takes: tuple[str, ...]
    gives: str
    body: str

    @property
    def open(self) -> bool:
        """Tells whether it takes any number more of its last argument."""
        return self.takes[-1:] == ("…",)

    def fits(self, given: Sequence[Typed]) -> bool:
        """Tells whether it can be called with these."""
        if len(given) > MOST_ARGUMENTS or (not self.open and len(given) != len(self.takes)):
            return False
        return len(given) >= len(self.takes) - 1 and all(
            self._fits(name, one.type) for name, one in zip(self.takes, given, strict=False)
        )

    @staticmethod
    def _fits(takes: str, given: str) -> bool:
        if takes == "vector":
            return given in VECTORS
        if takes in ("any", "same", "item", "…") or given in (takes, "unknown"):
            return True
        if takes in TEXTS:
            return element_of(given) is None and (kept(given) == "VARCHAR" or given in OBJECTS)
        if takes in WHOLE or takes in NUMBERS:
            return given in NUMBERS and NUMBERS.index(given) <= NUMBERS.index(takes)
        if takes in ("oid", "xid"):
            return given in (*WHOLE, *OBJECTS, "oid", "xid")
        return takes == "timestamptz" and given in ("timestamp", "date")

    def made(self, numbers: Numbers, given: Sequence[Typed], words: str, order: str) -> Typed:
        """The call, as the engine takes it; ``words`` and ``order`` stand before and after what it is called with."""
        sqls = [self._argument(numbers, place, one, given) for place, one in enumerate(given)]
        parts = {str(place): sql for place, sql in enumerate(sqls)}
        parts["*"] = f"{words}{', '.join(sqls)}{order}"
        if words or order:
            parts["0"] = f"{words}{sqls[0]}{order}"
        body = PLACE.sub(lambda found: parts[found[1]], self.body)
        return Typed(f"({body})" if self.name not in AGGREGATES | PLACED else body, self._gives(given), self.name, 2)

    def _argument(self, numbers: Numbers, place: int, one: Typed, given: Sequence[Typed]) -> str:
        takes = self.takes[min(place, len(self.takes) - 1)]
        if takes in ("any", "…", "vector"):
            return coerced(numbers, one, "text" if one.type == "unknown" else one.type)
        if takes in ("same", "item"):
            own = given[0].type
            return coerced(numbers, one, own if takes == "same" else element_of(own) or "text")
        return coerced(numbers, one, takes)

    def _gives(self, given: Sequence[Typed]) -> str:
        match self.gives:
            case "same":
                return "text" if given[0].type == "unknown" else given[0].type
            case "list":
                return array_of(given[0].type)
        return self.gives


@cache
def signatures() -> dict[str, tuple[Signature, ...]]:
    """All ways to call all functions, by name."""
    read: dict[str, list[Signature]] = {}
    for line in fact_lines("calls"):
        if (parts := LINE.fullmatch(line)) is None:
            raise ValueError(line)
        takes = tuple(part for part in parts[2].split(", ") if part)
        read.setdefault(parts[1], []).append(Signature(parts[1], takes, parts[3], parts[4]))
    return {name: tuple(ways) for name, ways in read.items()}


def called(numbers: Numbers, name: str, given: Sequence[Typed], *, words: str = "", order: str = "") -> Typed:
    """A call of a function, or of a type as a function; refuses what is not known."""
    for way in signatures().get(name, ()):
        if way.fits(given):
            return way.made(numbers, given, words, order)
    kind = canonical(name)
    if kind is not None and len(given) == 1 and name not in signatures():
        return cast(numbers, given[0], kind).called(name)
    raise refused(NO_FUNCTION, f"function {name[:63]} is not known to the catalog with {len(given)} arguments")

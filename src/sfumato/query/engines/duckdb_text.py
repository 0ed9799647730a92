"""SQL text for DuckDB: names are ours or quoted, constants are bound, and nothing is written out twice.

What a query asks becomes text here in pieces. A piece that is needed several times is given a name in a SELECT below
the one that uses it (`Scope.named`), so that the text grows with the question and not with its powers.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple, TypeAlias, final

from sfumato.query.kinds import LEAST_INT, MOST_INT, Kind, Value

TYPES = {
    Kind.BOOL: "BOOLEAN",
    Kind.INT: "BIGINT",
    Kind.FLOAT: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.DATE: "DATE",
    Kind.TIME: "TIMESTAMP",
}
"""The one type in which DuckDB holds each kind, once a table has been read."""

Ends: TypeAlias = tuple[float, float]


def quoted(name: str) -> str:
    """Gives a name as an identifier, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def listing(texts: Iterable[str]) -> str:
    """Gives texts with commas between them."""
    return ", ".join(texts)


@final
class Statement:
    """Is a statement in the making: what it binds, the lists it looks keys up in, and names that no other part has."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.lists: dict[str, tuple[tuple[Kind, tuple[Value, ...]], ...]] = {}
        self._places: dict[tuple[str, str], int] = {}
        self._names = 0

    def bind(self, value: Value, kind: Kind) -> str:
        """Gives the text of a constant: a parameter with its type. What the kind cannot hold is missing."""
        held = self.held(value, kind)
        found = self._places.setdefault((kind.value, repr(held)), len(self.values) + 1)
        if found > len(self.values):
            self.values.append(held)
        return f"CAST(${found} AS {TYPES[kind]})"

    def bound(self, text: str) -> dict[str, Value]:
        """Gives the parameters of a text by their numbers, without those of parts that were left out."""
        return {str(place): value for place, value in enumerate(self.values, 1) if f"${place} " in text}

    def table(self, columns: tuple[tuple[Kind, tuple[Value, ...]], ...]) -> str:
        """Gives the name of a table of public values, with columns k0, k1, … and their place."""
        name = self.name("list")
        self.lists[name] = columns
        return name

    def name(self, start: str) -> str:
        """Gives a name that was not given before."""
        self._names += 1
        return f"{start}{self._names}"

    @staticmethod
    def held(value: Value, kind: Kind) -> Value:
        """Gives a constant as its kind holds it."""
        match value:
            case int() if kind is Kind.FLOAT:
                return float(value) if abs(value) < 2**1023 else None
            case int() if kind is Kind.INT:
                return value if LEAST_INT <= value <= MOST_INT else None
            case float():
                return value + 0.0 if math.isfinite(value) else None
            case datetime.datetime(tzinfo=datetime.tzinfo()):
                return value.astimezone(datetime.UTC).replace(tzinfo=None)
        return value


class Piece(NamedTuple):
    """Is the text of a value, and how many SELECTs with names must lie below it."""

    text: str
    level: int = 0

    @property
    def plain(self) -> bool:
        """Tells whether it may be written out several times: it is a name or a parameter."""
        return self.text.isidentifier() or (self.text.startswith("CAST($") and self.text.count("(") == 1)


@final
class Scope:
    """Is what expressions can look at: columns of a SELECT by their names in the query, and names given on the way.

    ``made`` and ``sizes`` are what is known of expressions already, by their place in memory: parts may be shared.
    ``held`` are bounds of numbers that the SELECT below has just enforced, so that they need not be enforced again.
    """

    def __init__(
        self, statement: Statement, columns: Mapping[str, str], held: Mapping[str, Ends] | None = None
    ) -> None:
        self.statement, self.columns, self.held = statement, columns, held or {}
        self._layers: list[dict[str, str]] = []
        self.made: dict[int, Piece] = {}
        self.sizes: dict[int, Fraction | None] = {}

    def named(self, piece: Piece) -> Piece:
        """Gives a piece that may be written out several times."""
        if piece.plain:
            return piece
        while len(self._layers) <= piece.level:
            self._layers.append({})
        layer = self._layers[piece.level]
        if piece.text not in layer:
            layer[piece.text] = self.statement.name("x")
        return Piece(layer[piece.text], piece.level + 1)

    def fill(self, template: str, *pieces: Piece) -> Piece:
        """Puts pieces into a template; those that occur in it several times get a name."""
        filled = [
            self.named(piece) if template.count(f"{{{place}}}") > 1 else piece for place, piece in enumerate(pieces)
        ]
        text = template.format(*(piece.text for piece in filled))
        return Piece(text, max((piece.level for piece in filled), default=0))

    def over(self, source: str) -> str:
        """Gives a source, in the form of a SELECT, with all names that were given."""
        for layer in self._layers:
            source = f"SELECT *, {listing(f'{text} AS {name}' for text, name in layer.items())} FROM ({source})"
        return source


def numbered(names: list[str], rows: str) -> str:
    """Gives rows with a number ``j`` among those that are alike in all of their columns, which are ``names``."""
    return f"SELECT {listing(names)}, unnest(range(count(*))) AS j FROM ({rows}) GROUP BY {listing(names)}"


def mixed(names: list[str]) -> str:
    """Gives a hash of columns. It is hashed once more: DuckDB puts hashes of columns together so that, of one unit's
    groups, those of some keys would come first more often than those of others."""
    return f"hash(hash({listing(names)}))"

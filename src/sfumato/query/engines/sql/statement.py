"""SQL text in the making: names are ours or quoted, constants are bound, and nothing is written out twice.

What a query asks becomes text here in pieces. A piece that is needed several times is given a name in a SELECT below
the one that uses it (`Scope.named`), so that the text grows with the question and not with its powers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple, TypeAlias, final

from sfumato.query.engines.operands import constant
from sfumato.query.engines.sizes import Ends
from sfumato.query.engines.sql.dialect import Dialect
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Kind, Value

List: TypeAlias = tuple[tuple[Kind, tuple[Value, ...]], ...]
"""Public values, column by column."""

LONG = 4000
"""Expressions of more letters are named: they may be parts of several others, each a part of several more."""

SIGNS = "$?:"
"""What parameters begin with."""


def quoted(name: str) -> str:
    """Writes a name as an identifier, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Writes a public text of an opening, such as a path, as a constant of SQL."""
    return "'" + text.replace("'", "''") + "'"


def listing(texts: Iterable[str]) -> str:
    """Puts commas between texts."""
    return ", ".join(texts)


@final
class Statement:
    """A statement in the making: what it binds, the lists it looks keys up in, and names that no other part has."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.values: list[Value] = []
        self.lists: dict[str, List] = {}
        self.sizes: dict[str, int] = {}
        """How large the whole numbers in columns that are to be added up can be, by what the text enforces."""
        self._places: dict[tuple[str, str], int] = {}
        self._names = 0

    def bind(self, value: Value, kind: Kind) -> str:
        """Binds a constant: a parameter with its type. What the kind cannot hold is missing."""
        held = constant(value, kind)
        place = self._places.setdefault((kind.value, repr(held)), len(self.values) + 1)
        if place > len(self.values):
            self.values.append(held)
        collation = self.dialect.collation if kind is Kind.TEXT else ""
        return f"CAST({self.dialect.parameter.format(place)} AS {self.dialect.types[kind]}){collation}"

    def bound(self, text: str) -> dict[str, Value]:
        """The parameters of a text by their numbers, without those of parts that were left out."""
        number = re.escape(self.dialect.parameter).replace(re.escape("{}"), "([0-9]+)")
        used = {int(place) for place in re.findall(number + " ", text)}
        return {str(place): self.values[place - 1] for place in sorted(used)}

    def shape(self, text: str) -> tuple[str, tuple[str | type, ...]]:
        """What decides whether a text runs on no rows: itself, texts that it binds, types of what else it holds.

        Numbers and times are held in their kinds by then, and templates are total: which ones they are decides nothing.
        A text may be a word of the engine, such as a part of dates.
        """
        kinds = (kind.value for columns in self.lists.values() for kind, _ in columns)
        return text, (*(value if isinstance(value, str) else type(value) for value in self.values), *kinds)

    def table(self, columns: List) -> str:
        """Names a table of public values, with columns k0, k1, … and their place."""
        name = self.name("list")
        self.lists[name] = columns
        return name

    def name(self, start: str) -> str:
        """Makes a name that was not there before."""
        self._names += 1
        return f"{start}{self._names}"


class Piece(NamedTuple):
    """The text of a value, and how many SELECTs with names must lie below it."""

    text: str
    level: int = 0

    @property
    def plain(self) -> bool:
        """Tells whether it may be written out several times: it is a name or a parameter."""
        return self.text.isidentifier() or (
            self.text[:5] == "CAST(" and self.text[5] in SIGNS and "(" not in self.text[5:]
        )


@final
class Scope:
    """What expressions can look at: columns of a SELECT by their names in the query, and names given on the way.

    ``made`` and ``sizes`` are what is known of expressions already, by their place in memory: parts may be shared, and
    all are ``kept``, so that nothing else comes to lie there. ``held`` are bounds of numbers that the SELECT below has
    just enforced, so that they need not be enforced again.
    """

    def __init__(
        self, statement: Statement, columns: Mapping[str, str], held: Mapping[str, Ends] | None = None
    ) -> None:
        self.statement, self.columns, self.held = statement, columns, held or {}
        self._layers: list[dict[str, str]] = []
        self.made: dict[int, Piece] = {}
        self.sizes: dict[int, Fraction | None] = {}
        self.kept: list[Expression] = []

    def named(self, piece: Piece) -> Piece:
        """Names a piece, unless it may be written out several times as it is."""
        if piece.plain:
            return piece
        while len(self._layers) <= piece.level:
            self._layers.append({})
        layer = self._layers[piece.level]
        if piece.text not in layer:
            layer[piece.text] = self.statement.name("x")
        return Piece(layer[piece.text], piece.level + 1)

    def fill(self, template: str, *pieces: Piece) -> Piece:
        """Puts pieces into a template; those that would be in the text several times, or are long, get a name."""
        filled = [
            self.named(piece)
            if template.count(f"{{{place}}}") > 1 or len(piece.text) > LONG or pieces.count(piece) > 1
            else piece
            for place, piece in enumerate(pieces)
        ]
        text = template.format(*(piece.text for piece in filled))
        return Piece(text, max((piece.level for piece in filled), default=0))

    def over(self, source: str) -> str:
        """Adds all names that were given to a source, in the form of a SELECT."""
        for layer in self._layers:
            named = listing(f"{text} AS {name}" for text, name in layer.items())
            source = self.statement.dialect.layer.format(named, source)
        return source

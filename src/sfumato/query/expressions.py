"""Expressions: values made from the columns of one row. They are typed, frozen, and know their facts.

Make them with `sfumato.query.operators.call`, which checks kinds and works the facts out; what is made by hand is not
checked. What each operation gives, also where SQL engines disagree, is laid down in docs/semantics.md.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, final

from sfumato.query.facts import Facts
from sfumato.query.kinds import Kind, Value


class Expression(ABC):  # noqa: B024  # what it has are fields of the records below
    """Is a value for each row, by a rule that looks at that row alone."""

    if TYPE_CHECKING:
        kind: Kind
        facts: Facts
        parts: tuple[Expression, ...]
    else:
        parts = ()

    def columns(self) -> Iterator[Column]:
        """Gives every column that it looks at, in order, as often as it does."""
        for part in self.parts:
            yield from part.columns()


@final
@dataclass(frozen=True)
class Column(Expression):
    """Is a column of the relation that the expression is about.

    ``origin`` names the column of a table, as in ``visits.day``, that it holds unchanged; empty where it was computed.
    ``unit`` says which part of the unit's identity it holds: 0 for the id, 1 for the window; None for other columns.
    """

    name: str
    kind: Kind
    facts: Facts = field(default_factory=Facts, compare=False)
    origin: str = field(default="", compare=False)
    unit: int | None = field(default=None, compare=False)

    def columns(self) -> Iterator[Column]:
        yield self


@final
@dataclass(frozen=True)
class Literal(Expression):
    """Is a constant that somebody wrote or bound as a parameter; it reaches an engine as a parameter only."""

    value: Value
    kind: Kind

    @property
    def facts(self) -> Facts:  # type: ignore[override]
        """Are what a constant tells of itself."""
        number = self.value if self.kind.numeric and self.value is not None else None
        ends = None if number is None else (Fraction(number), Fraction(number))  # type: ignore[arg-type]
        return Facts(ends, () if self.value is None else (self.value,), self.value is None)


@final
@dataclass(frozen=True)
class Call(Expression):
    """Is an operation on other expressions, by its name in `operators.OPERATORS`."""

    operator: str
    parts: tuple[Expression, ...] = field()
    kind: Kind = field()
    facts: Facts = field(default_factory=Facts, compare=False)

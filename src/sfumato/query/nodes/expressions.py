"""Expressions: values made from the columns of one row. They are typed, frozen, and know their facts.

Make them with `sfumato.query.nodes.operators.call`, which checks kinds and works the facts out; what is made by hand
is not checked. What each operation gives, also where SQL engines disagree, is laid down in docs/semantics.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind, Value


class Expression(ABC):
    """A value for each row, by a rule that looks at that row alone."""

    kind: Kind
    facts: Facts
    parts: tuple[Expression, ...]

    @abstractmethod
    def columns(self) -> Iterator[Column]:
        """Every column that it looks at, in order, repeated as often as it does."""


@final
@dataclass(frozen=True)
class Column(Expression):
    """A column of the relation that the expression is about.

    ``origin`` names the column of a table, as in ``visits.day``, that it holds unchanged; empty where it was computed.
    ``unit`` says which part of the unit's identity it holds: 0 for the id, 1 for the window; None for other columns.
    """

    parts = ()
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
    """A constant that somebody wrote or bound as a parameter; it reaches an engine as a parameter only."""

    parts = ()
    value: Value
    kind: Kind

    def columns(self) -> Iterator[Column]:
        return iter(())

    @cached_property
    def facts(self) -> Facts:  # type: ignore[override]
        """What a constant says of itself: bounds that are the number or the moment, keys that are the value."""
        value: Any = self.value
        if value is None:
            return Facts(None, (), nullable=True)
        value = Fraction(value) if self.kind.numeric else value
        ends = (value, value) if self.kind.numeric or self.kind.temporal else None
        return Facts(ends, (self.value,), nullable=False)


@final
@dataclass(frozen=True)
class Call(Expression):
    """An operation on other expressions, by its name in `operators.OPERATORS`."""

    operator: str
    parts: tuple[Expression, ...]
    kind: Kind
    facts: Facts = field(default_factory=Facts, compare=False)

    def columns(self) -> Iterator[Column]:
        for part in self.parts:
            yield from part.columns()

"""Shapes: which columns an answer will have, of which kinds, before anything is asked or paid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from sfumato.query.nodes.kinds import Kind, kind_of
from sfumato.release.answer import Answer, AnswerColumn, Role


@final
@dataclass(frozen=True)
class ShapedColumn:
    """A column of an answer to come: its name, its kind, and whether it has error bars."""

    name: str
    kind: Kind
    barred: bool = False


def shape_of(made_up: Answer, kinds: Mapping[str, Kind] | None = None) -> tuple[ShapedColumn, ...]:
    """The columns of a made-up answer; ``kinds`` follow from the question, where they are known."""
    known = kinds or {}
    return tuple(_shaped(column, known.get(column.name)) for column in made_up.columns)


def _shaped(column: AnswerColumn, kind: Kind | None) -> ShapedColumn:
    cells = column.values.tolist()
    if kind is None:
        kinds = {kind_of(cell) for cell in cells if cell is not None}
        kind = Kind.FLOAT if Kind.FLOAT in kinds else next(iter(kinds), Kind.TEXT)
    elif kind is Kind.INT and column.role is Role.VALUE and any(isinstance(cell, float) for cell in cells):
        kind = Kind.FLOAT
    return ShapedColumn(column.name, kind, column.low is not None)

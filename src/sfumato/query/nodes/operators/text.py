"""Operators on texts."""

from __future__ import annotations

from sfumato.query.nodes.kinds import LONGEST_TEXT, Kind
from sfumato.query.nodes.operators.record import Operator, Sql, all_of_kind, fixed, register
from sfumato.query.nodes.ranges import constant

B, I, T = Kind.BOOL, Kind.INT, Kind.TEXT  # noqa: E741
A_TEXT = "a text"

register(
    Operator("lower", fixed(T, T), A_TEXT, 1, 1, sql=Sql(("Lower",))),
    Operator("upper", fixed(T, T), A_TEXT, 1, 1, sql=Sql(("Upper",))),
    Operator("trim", fixed(T, T), A_TEXT, 1, 1),
    Operator(
        "length", fixed(I, T), A_TEXT, 1, 1, range=constant(0, LONGEST_TEXT), largest=LONGEST_TEXT, sql=Sql(("Length",))
    ),
    Operator(
        "substring", fixed(T, T, I, I), "a text, the first character (from 1) and how many", 3, 3, constants=(1, 3)
    ),
    Operator("concat", all_of_kind(T), "texts", 1, sql=Sql(("DPipe",), ("this", "expression"), sign=True)),
    Operator(
        "like", fixed(B, T, T), "a text and a pattern", 2, 2, constants=(1, 2),
        sql=Sql(("Like",), ("this", "expression"), sign=True),
    ),
)  # fmt: skip

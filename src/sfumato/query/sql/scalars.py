"""Scalars: expressions of SQL as typed expressions, by one table from syntax to operators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import OPERATORS, call
from sfumato.query.nodes.operators.record import SQL_NAMES, SQL_NODES
from sfumato.query.sql.alike import fitted
from sfumato.query.sql.constants import NULL, constant
from sfumato.query.sql.forms import FORMS, Rule
from sfumato.query.sql.parameters import Parameters
from sfumato.query.sql.refusals import only, refused, unknown
from sfumato.query.sql.text_forms import TEXT_FORMS
from sfumato.query.sql.times import KNOWN_PARTS, NAMED_FORMS, TIME_FORMS

Leaf: TypeAlias = Callable[[exp.Expr], Expression | None]
"""Reads what differs by where an expression stands: columns and aggregates; None for all else."""

TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
"""Comparisons read from right to left: one with a constant is written with the constant last, and is one question."""

ALL_FORMS: dict[type[exp.Expr], Rule] = {**FORMS, **TEXT_FORMS, **TIME_FORMS}
"""Nodes that are more than an operator and its operands, each with its rule; all others are `SQL_NODES`."""


@final
@dataclass(frozen=True)
class Scalars:
    """Reads expressions at one place of a query."""

    leaf: Leaf
    parameters: Parameters

    def read(self, node: exp.Expr) -> Expression:
        """Reads a syntax tree as a typed expression, or refuses it."""
        leaf = constant(node, self.parameters) or self.leaf(node)
        if leaf is not None:
            return leaf
        form = NAMED_FORMS.get(node.name.lower()) if isinstance(node, exp.Anonymous) else ALL_FORMS.get(type(node))
        made = self.operation(node) if form is None else form(self, node)
        return call("not", made) if node.args.get("negate") else made

    def operation(self, node: exp.Expr) -> Expression:
        """Reads a node or a function by the record of its operator; refuses unknown ones."""
        named = isinstance(node, exp.Anonymous)
        operator = SQL_NAMES.get(node.name.lower()) if named else SQL_NODES.get(type(node).__name__)
        if operator is None or operator.sql is None:
            raise unknown(node, known_functions())
        if not named:
            only(node, *operator.sql.parts, *operator.sql.noted)
        parts = tuple(map(self.read, node.expressions if named else operands(node, *operator.sql.parts)))
        if operator.sql.compares and NULL in parts:
            raise refused("comparing with NULL", "it is never true. Write IS NULL or IS NOT NULL")
        if operator.name in TURNED and isinstance(parts[0], Literal) and not isinstance(parts[1], Literal):
            return fitted(TURNED[operator.name], *reversed(parts))
        return fitted(operator.name, *parts)

    def condition(self, node: exp.Expr) -> Expression:
        """Reads a condition; refuses what is neither true nor false."""
        condition = self.read(node)
        if condition.kind is not Kind.BOOL:
            raise QueryRefused(f"a condition is needed, and this is {condition.kind.value}; compare it with something.")
        return condition


def operands(node: exp.Expr, *names: str) -> list[exp.Expr]:
    """The parts of a node by their names, lists flattened; those that are missing are left out."""
    given = [node.args.get(name) for name in names]
    return [one for part in given if part is not None for one in (part if isinstance(part, list) else [part])]


CALLED = ["CASE", "CBRT", "CONCAT", "CONCAT_WS", "COT", "DATE_ADD", "DATE_DIFF", "DATE_PART", "DATE_TRUNC", "DAYNAME"]
CALLED += [
    "DEGREES",
    "EXTRACT",
    "IF",
    "LAST_DAY",
    "LEFT",
    "LOG",
    "MONTHNAME",
    "PI",
    "RADIANS",
    "REGEXP_REPLACE",
    "ROUND",
]
CALLED += ["STRFTIME", "SUBSTRING", "TRUNC", "WIDTH_BUCKET"]
"""What forms are called."""

OTHERS = (
    "; AVG, CORR, COUNT, COUNT_IF, COVAR_POP, COVAR_SAMP, GEOMETRIC_MEAN, HISTOGRAM, KURTOSIS, MAD, MAX, MEDIAN, MIN, "
    "MODE, QUANTILE, REGR_SLOPE and its kin, SKEWNESS, STDDEV, SUM, TOP_K, VARIANCE and WEIGHTED_AVG"
)
"""Functions of many rows."""


def known_functions() -> str:
    """Tells of all functions, to somebody who wrote another."""
    called = (one.name.upper() for one in OPERATORS.values() if one.sql is not None and not one.sql.sign)
    parts = (part.upper() for part in KNOWN_PARTS)
    return ", ".join(sorted({*CALLED, *called, *parts})) + OTHERS

"""The record of an operator: all that front ends, planner and answers know of it. Engines add one template each.

A new operator is one record, registered in the file of its subject, and a template in each engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from sfumato.query.nodes.expressions import Call, Expression, Literal
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.operators.released import Rule as Released
from sfumato.query.nodes.ranges import Rule as Range

Kinds: TypeAlias = tuple[Kind, ...]
Result: TypeAlias = Callable[[Kinds], Kind | None]
"""From the kinds of the operands to that of the result; None where the operator does not take them."""

Missing: TypeAlias = Callable[[Kinds, Sequence[bool]], bool]
"""Tells whether a result can be missing, from the kinds of the operands and whether each of them can be."""

Listed: TypeAlias = Callable[[tuple[Expression, ...]], tuple[Value, ...] | None]
"""Lists all values that a result can have but missing ones; None where they are not known, or too many."""

OR, AND, NOT, COMPARED, ADDED, MULTIPLIED, SIGNED, WHOLE = range(1, 9)
"""How tightly a text of SQL holds together: one that holds less than its place asks for stands in parentheses."""


def if_any(kinds: Kinds, operands: Sequence[bool]) -> bool:
    """Says that a result is missing only where an operand is."""
    return any(operands)


def if_all(kinds: Kinds, operands: Sequence[bool]) -> bool:
    """Says that a result is missing only where all operands are."""
    return all(operands)


def sometimes(kinds: Kinds, operands: Sequence[bool]) -> bool:
    """Says that a result can be missing though all operands are there."""
    return True


@final
@dataclass(frozen=True)
class Sql:
    """How an operator is read: nodes of the parser by their names, the parts that are its operands, in order.

    ``names`` are functions that the parser has no node for. An operator that ``compares`` takes no NULL. ``noted`` are
    parts that say nothing here; ``sign`` says that no function is called so.
    """

    nodes: tuple[str, ...] = ()
    parts: tuple[str, ...] = ("this",)
    names: tuple[str, ...] = ()
    compares: bool = False
    noted: tuple[str, ...] = ()
    sign: bool = False


@final
@dataclass(frozen=True)
class Operator:
    """An operation on values of one row.

    ``result`` says which kinds it takes (``takes``, to people) and gives, ``missing`` when the result can be; where an
    operator is ``exact``, only if it does not fit into 64 bits, or an operand is. ``range`` bounds the result by its
    operands, ``listed`` lists all that it can be, ``largest`` is no less whatever they are. Operands in ``constants``
    (from, to) must be constants; ``check`` refuses constants that it does not take. Where the last one is a ``word``,
    engines have a template for each word. ``sql`` is how it is read, ``infix`` (a sign, and how tightly it holds) or
    else ``text`` (or else its name) how it is written; ``symbol`` is Python's. ``released`` applies it to released
    numbers.
    """

    name: str
    result: Result
    takes: str
    least: int
    most: int | None = None
    missing: Missing = if_any
    exact: bool = False
    range: Range | None = None
    listed: Listed | None = None
    largest: int | None = None
    constants: tuple[int, int | None] = (0, 0)
    check: Callable[[Sequence[Expression]], None] | None = None
    word: bool = False
    sql: Sql | None = None
    infix: tuple[str, int] | None = None
    text: str = ""
    symbol: str = ""
    released: Released | None = None


OPERATORS: dict[str, Operator] = {}
"""Every operator by its name."""

SQL_NODES: dict[str, Operator] = {}
"""Operators by the parser's names of the nodes that they are read from."""

SQL_NAMES: dict[str, Operator] = {}
"""Operators by the names of functions that the parser has no node for."""


def register(*operators: Operator) -> None:
    """Makes operators known to every part of the package."""
    for one in operators:
        OPERATORS[one.name] = one
        if one.sql is not None:
            SQL_NODES.update(dict.fromkeys(one.sql.nodes, one))
            SQL_NAMES.update(dict.fromkeys(one.sql.names, one))


def common(given: Kinds) -> Kind | None:
    """The kind that all operands have, or can be read as (whole numbers as floats); None where there is none."""
    kinds = set(given)
    return given[0] if len(kinds) == 1 else Kind.FLOAT if kinds == {Kind.INT, Kind.FLOAT} else None


def same(*kinds: Kind) -> Result:
    """Takes operands of one of these kinds, all alike (whole numbers go with floats), and gives that kind."""
    return lambda given: kind if (kind := common(given)) in kinds else None


def fixed(result: Kind, *kinds: Kind) -> Result:
    """Takes operands of these kinds, one each, and always gives one kind."""
    return lambda given: result if given == kinds else None


def one_of(result: Kind, *kinds: Kind) -> Result:
    """Takes one operand of one of these kinds."""
    return lambda given: result if len(given) == 1 and given[0] in kinds else None


def all_of_kind(kind: Kind) -> Result:
    """Takes any number of operands of a kind, and gives that kind."""
    return lambda given: kind if set(given) == {kind} else None


def is_missing(part: Expression) -> bool:
    """Tells whether an expression is NULL, written out."""
    return isinstance(part, Literal) and part.value is None


def always_there(part: Expression) -> bool:
    """Tells whether a value is there whatever the data is, also where a codebook is wrong about its columns."""
    match part:
        case Literal(value=value):
            return value is not None
        case Call(operator=operator, parts=parts):
            kinds = tuple(one.kind for one in parts)
            return not OPERATORS[operator].missing(kinds, [not always_there(one) for one in parts])
    return False

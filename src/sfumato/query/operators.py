"""Operators: every operation on values of one row, with its kinds, and what it does to facts.

`call` is the only way to make a `Call`: it checks kinds and works out facts, so that a tree of expressions is right by
construction. What each operator gives, for every value, is laid down in docs/semantics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from sfumato.errors import QueryRefused
from sfumato.query.expressions import Call, Expression, Literal
from sfumato.query.facts import Facts, nullable_if
from sfumato.query.kinds import LEAST_INT, MOST_INT, Kind
from sfumato.query.ranges import RANGES

Kinds: TypeAlias = tuple[Kind, ...]
Result: TypeAlias = Callable[[Kinds], Kind | None]
"""From the kinds of the operands to that of the result; None where the operator does not take them."""

B, I, F, T, D, M = Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.TEXT, Kind.DATE, Kind.TIME  # noqa: E741

TIME_UNITS = ("hour", "day", "week", "month", "quarter", "year")
"""What `date_trunc` cuts to; weeks begin on Monday."""


@final
@dataclass(frozen=True)
class Operator:
    """Is an operation: how many operands, of which kinds, what it gives, and how it is named to people.

    ``total`` says that the result is missing only where an operand is.
    """

    name: str
    result: Result
    takes: str
    least: int
    most: int | None = None
    total: bool = True


def same(*kinds: Kind) -> Result:
    """Takes operands of one of these kinds, all alike (whole numbers go with floats), and gives that kind."""
    return lambda given: found if (found := common(given)) in kinds else None


def fixed(result: Kind, *kinds: Kind) -> Result:
    """Takes operands of these kinds, one each, and always gives one kind."""
    return lambda given: result if given == kinds else None


def compared(given: Kinds) -> Kind | None:
    """Takes two operands that can be compared."""
    return B if common(given) is not None else None


def choice(given: Kinds) -> Kind | None:
    """Takes conditions and values in turn, and at last a value for all other cases."""
    conditions, values = given[0:-1:2], (*given[1::2], given[-1])
    return common(values) if len(given) % 2 and set(conditions) == {B} else None


def shifted(given: Kinds) -> Kind | None:
    """Takes two numbers, or the difference of two days."""
    return I if given == (D, D) else common(given) if common(given) in (I, F) else None


def common(given: Kinds) -> Kind | None:
    """Gives the kind that all operands have, or can be read as: whole numbers as floats."""
    kinds = set(given)
    return given[0] if len(kinds) == 1 else F if kinds == {I, F} else None


def numeric_to(result: Kind) -> Result:
    """Takes one number."""
    return lambda given: result if len(given) == 1 and given[0] in (I, F) else None


def part_of_time(given: Kinds) -> Kind | None:
    """Takes a day or a time."""
    return I if len(given) == 1 and given[0].temporal else None


def cut_time(given: Kinds) -> Kind | None:
    """Takes a day or a time and a word."""
    return given[0] if len(given) == 2 and given[0].temporal and given[1] is T else None


NUMBERS = "numbers"
OPERATORS: dict[str, Operator] = {
    one.name: one
    for one in (
        Operator("neg", same(I, F), "a number", 1, 1, total=False),
        Operator("abs", same(I, F), "a number", 1, 1, total=False),
        Operator("sign", numeric_to(I), "a number", 1, 1),
        Operator("add", same(I, F), "two numbers", 2, 2, total=False),
        Operator("sub", shifted, "two numbers, or two days", 2, 2, total=False),
        Operator("mul", same(I, F), "two numbers", 2, 2, total=False),
        Operator("div", lambda given: F if common(given) in (I, F) else None, "two numbers", 2, 2, total=False),
        Operator("mod", lambda given: I if given == (I, I) else None, "two whole numbers", 2, 2, total=False),
        Operator("floor", numeric_to(I), "a number", 1, 1, total=False),
        Operator("ceil", numeric_to(I), "a number", 1, 1, total=False),
        Operator("round", numeric_to(I), "a number", 1, 1, total=False),
        Operator("sqrt", numeric_to(F), "a number", 1, 1, total=False),
        Operator("ln", numeric_to(F), "a number", 1, 1, total=False),
        Operator("exp", numeric_to(F), "a number", 1, 1, total=False),
        Operator("least", same(I, F, D, M), "numbers, or days", 1),
        Operator("greatest", same(I, F, D, M), "numbers, or days", 1),
        Operator("clamp", same(I, F), "a number and two constants", 3, 3),
        Operator("to_int", lambda given: I if given in ((I,), (F,), (B,)) else None, "a number", 1, 1, total=False),
        Operator("to_float", lambda given: F if given in ((I,), (F,), (B,)) else None, "a number", 1, 1),
        *(Operator(name, compared, "two values of one kind", 2, 2) for name in ("eq", "ne", "lt", "le", "gt", "ge")),
        Operator("and", lambda given: B if set(given) == {B} else None, "conditions", 1),
        Operator("or", lambda given: B if set(given) == {B} else None, "conditions", 1),
        Operator("not", fixed(B, B), "a condition", 1, 1),
        Operator("is_null", lambda given: B, "a value", 1, 1),
        Operator("in", compared, "a value and constants of its kind", 2),
        Operator("case", choice, "conditions and values of one kind", 3, total=False),
        Operator("coalesce", same(B, I, F, T, D, M), "values of one kind", 1),
        Operator("nullif", same(B, I, F, T, D, M), "two values of one kind", 2, 2, total=False),
        Operator("lower", fixed(T, T), "a text", 1, 1),
        Operator("upper", fixed(T, T), "a text", 1, 1),
        Operator("trim", fixed(T, T), "a text", 1, 1),
        Operator("length", fixed(I, T), "a text", 1, 1),
        Operator("substring", fixed(T, T, I, I), "a text, the first character (from 1) and how many", 3, 3),
        Operator("concat", lambda given: T if set(given) == {T} else None, "texts", 1),
        Operator("like", fixed(B, T, T), "a text and a pattern", 2, 2),
        *(
            Operator(name, part_of_time, "a day or a time", 1, 1)
            for name in ("year", "quarter", "month", "day", "weekday")
        ),
        *(Operator(name, fixed(I, M), "a time", 1, 1) for name in ("hour", "minute")),
        Operator("date_trunc", cut_time, "a day or a time, and a word", 2, 2),
        Operator("to_date", lambda given: D if given in ((D,), (M,)) else None, "a day or a time", 1, 1),
        Operator("to_time", lambda given: M if given in ((D,), (M,)) else None, "a day or a time", 1, 1),
    )
}
"""Every operator by its name."""

CONSTANT = {"clamp": (1, 3), "in": (1, None), "like": (1, 2), "date_trunc": (1, 2), "substring": (1, 3)}
"""Operands, from where to where, that must be constants."""


def call(operator: str, *parts: Expression) -> Call:
    """Makes an operation on expressions, or says why it cannot be one.

    >>> from fractions import Fraction
    >>> from sfumato.query.expressions import Column
    >>> minutes = Column("minutes", Kind.INT, Facts(between=(Fraction(0), Fraction(90))))
    >>> call("add", minutes, Literal(10, Kind.INT)).facts.between
    (Fraction(10, 1), Fraction(100, 1))
    """
    rule = OPERATORS[operator]
    kinds = tuple(part.kind for part in parts)
    fits = rule.least <= len(parts) <= (rule.most or len(parts))
    known = kinds if operator == "is_null" else _without_nulls(operator, parts, kinds)
    known = known if fits and rule.result(known) else kinds
    parts = tuple(Literal(None, kind) if is_missing(part) else part for part, kind in zip(parts, known, strict=True))
    kind = rule.result(known) if fits else None
    if kind is None:
        got = ", ".join(kind.value for kind in kinds)
        raise QueryRefused(f"{operator} takes {rule.takes}; got {got or 'nothing'}.")
    start, end = CONSTANT.get(operator, (0, 0))
    if not all(isinstance(part, Literal) for part in parts[start:end]):
        raise QueryRefused(f"{operator} takes a column first and then constants: {rule.takes}.")
    _check_words(operator, parts)
    return Call(operator, tuple(parts), kind, _facts(rule, kind, parts))


def _without_nulls(operator: str, parts: Sequence[Expression], kinds: Kinds) -> Kinds:
    """Gives the kinds, where a NULL that was written out has the kind of its neighbours; of a choice, of its values."""
    conditions = range(0, len(parts) - 1, 2) if operator == "case" else range(0)
    others = [kinds[place] for place in range(len(parts)) if place not in conditions and not is_missing(parts[place])]
    usual = common(tuple(others)) if others else None
    found = (
        (B if place in conditions else usual or kind) if is_missing(part) else kind
        for place, (part, kind) in enumerate(zip(parts, kinds, strict=True))
    )
    return tuple(found)


def is_missing(part: Expression) -> bool:
    """Tells whether an expression is NULL, written out."""
    return isinstance(part, Literal) and part.value is None


def _check_words(operator: str, parts: Sequence[Expression]) -> None:
    if operator == "clamp":
        low, high = parts[1].facts.numbers, parts[2].facts.numbers
        if low is None or high is None or low > high:
            raise QueryRefused("clamp takes two numbers as bounds, the lower one first.")
    if operator != "date_trunc":
        return
    word = parts[1]
    allowed = TIME_UNITS if parts[0].kind is M else TIME_UNITS[1:]
    if not isinstance(word, Literal) or word.value not in allowed:
        raise QueryRefused(f"date_trunc cuts to {', '.join(allowed[:-1])} or {allowed[-1]}.")


def _facts(rule: Operator, kind: Kind, parts: Sequence[Expression]) -> Facts:
    facts = [part.facts for part in parts]
    nullable = False if rule.name == "is_null" else not rule.total or nullable_if(facts)
    if rule.name == "coalesce":
        nullable = all(part.nullable for part in facts)
    if rule.name in ("least", "greatest"):
        nullable = all(part.nullable for part in facts)
    if rule.name == "case":
        nullable = nullable_if((*facts[1::2], facts[-1]))
    if rule.name == "to_int" and parts[0].kind is not F:
        nullable = facts[0].nullable
    find = RANGES.get(rule.name)
    ends = None if find is None else find(tuple(parts))
    found = Facts(ends, None, nullable)
    exact = found.numbers
    if kind is not I or exact is None:
        return found
    if exact[0] < LEAST_INT or exact[1] > MOST_INT:
        return Facts(None, None, nullable)
    return Facts(ends, None, nullable_if(facts)) if rule.name in EXACT else found


EXACT = frozenset({"neg", "abs", "add", "sub", "mul", "floor", "ceil", "round"})
"""Operations whose result is missing only where it does not fit into 64 bits, or an operand is missing."""

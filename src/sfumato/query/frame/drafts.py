"""Drafts: what somebody wrote about columns, before it is known which relation they are columns of.

Columns are named, and looked up when a step uses them, in the relation as it then stands. An expression that was
written for an older version of a table can therefore never bring along what was known of that version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias, final

from sfumato.errors import QueryRefused
from sfumato.query.build.question import statistic_value
from sfumato.query.build.relation import all_of, any_of, folded
from sfumato.query.nodes.catalog import column_named, name_in
from sfumato.query.nodes.expressions import Column, Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import OPERATORS, call
from sfumato.query.nodes.questions import Statistic
from sfumato.query.nodes.relations import Fold, Folded, Relation
from sfumato.query.plan.infer_bounds import bounded, bounds_by_conditions

Draft: TypeAlias = "Named | Literal | Applied | Aggregate"


@final
@dataclass(frozen=True)
class Named:
    """A column by its name, before the table is known."""

    name: str


@final
@dataclass(frozen=True)
class Applied:
    """An operation on other drafts, by the name of its operator."""

    operator: str
    parts: tuple[Draft, ...]


@final
@dataclass(frozen=True)
class Aggregate:
    """A statistic of many rows, and how the same is made of the rows of one unit, where that can be."""

    name: str
    build: Callable[..., Statistic]
    operands: tuple[Draft, ...] = ()
    where: Draft | None = None
    fold: Fold | None = None


class Scope(Protocol):
    """Looks up names, and decides what aggregates mean, where drafts become expressions."""

    def column(self, name: str) -> Expression:
        """Looks up what a name stands for; refuses unknown names."""

    def aggregate(self, draft: Aggregate) -> Expression:
        """Makes what a statistic of many rows is here, or refuses it."""


def made(draft: Draft, scope: Scope) -> Expression:
    """Makes the expression that a draft describes, with kinds checked."""
    try:
        return _made(draft, scope)
    except RecursionError:
        pass  # and is raised below, so that the refusal does not carry what went wrong
    raise QueryRefused("an expression is nested too deeply: make a column of an inner part first, with_columns(…).")


def _made(draft: Draft, scope: Scope) -> Expression:
    match draft:
        case Named(name):
            return scope.column(name)
        case Literal():
            return draft
        case Aggregate():
            return scope.aggregate(draft)
        case Applied(operator, parts):
            operands = [made(part, scope) for part in parts]
            match operator:
                case "and":
                    return all_of(operands)
                case "or":
                    return any_of(operands)
            return call(operator, *operands)


@final
@dataclass(frozen=True)
class RowScope:
    """Looks names up among the columns of a relation."""

    relation: Relation

    def column(self, name: str) -> Column:
        """Looks up a column of the table."""
        return column_named(name, self.relation.fields, "this table")

    def aggregate(self, draft: Aggregate) -> Expression:
        """Refuses: a row has no statistic."""
        raise QueryRefused(
            f"{draft.name}() is about many rows, and this step makes something of each row by itself. Use it in "
            "agg(…), or in per_unit(…) to sum up what belongs to one unit."
        )


@final
@dataclass(frozen=True)
class AnswerScope:
    """Looks names up among what is released: keys, and statistics of the rows of a relation."""

    rows: RowScope
    known: Mapping[str, Expression]

    def column(self, name: str) -> Expression:
        """Looks up a key, or a column of the answer; refuses columns of single rows."""
        match = name_in(name, self.known)
        if match is None:
            self.rows.column(name)
            raise QueryRefused(
                f"{name!r} is neither grouped by nor aggregated, and values of single rows are never released. Group "
                f"by it, or ask for a statistic, such as t[{name!r}].mean()."
            )
        return self.known[match]

    def aggregate(self, draft: Aggregate) -> Expression:
        """The released value of a statistic."""
        operands = [made(operand, self.rows) for operand in draft.operands]
        where = None if draft.where is None else made(draft.where, self.rows)
        return statistic_value(draft.build(*operands, where=where), self.rows.relation)


def fold_of(name: str, draft: Draft, rows: RowScope) -> Folded:
    """Says how the rows of one unit become the column of this name; refuses what is not one aggregate."""
    if not isinstance(draft, Aggregate):
        raise QueryRefused(
            f"{name!r} must be one aggregate of a unit's rows, such as t.minutes.sum(); compute with it afterwards, in "
            "with_columns(…)."
        )
    if draft.fold is None:
        folds = "count, n_unique, sum, mean, min and max"
        raise QueryRefused(f"{draft.name}() is not made of the rows of one unit; there are {folds}.")
    of = made(draft.operands[0], rows) if draft.operands else None
    if draft.where is not None:
        # What does not meet the condition becomes missing, and folds pass over what is missing.
        counted = Literal(1, Kind.INT) if of is None else of
        of = call("case", made(draft.where, rows), counted, Literal(None, counted.kind))
    return folded(draft.fold, None if of is None else bounded(of, bounds_by_conditions(rows.relation)), name)


def written(draft: Draft) -> str:
    """Writes a draft as somebody could have typed it."""
    match draft:
        case Named(name):
            return f"col({name!r})"
        case Literal(value):
            return repr(value)
        case Applied(operator, (part,)) if symbol := OPERATORS[operator].symbol:
            return f"{symbol}{written(part)}"
        case Applied(operator, parts) if symbol := OPERATORS[operator].symbol:
            return f"({f' {symbol} '.join(map(written, parts))})"
        case Applied("clamp", (part, *bounds)):
            return f"{written(part)}.clip({', '.join(map(written, bounds))})"
        case Applied("case", parts):
            steps = (f"when({written(test)}).then({written(value)})" for test, value in _pairs(parts))
            return f"{'.'.join(steps)}.otherwise({written(parts[-1])})"
        case Applied(name, (first, *others)) | Aggregate(name, operands=(first, *others)):
            return f"{written(first)}.{name}({', '.join(map(written, others))})"
        case Applied(name) | Aggregate(name):
            return f"{name}()"


def _pairs(parts: tuple[Draft, ...]) -> list[tuple[Draft, Draft]]:
    return list(zip(parts[0:-1:2], parts[1::2], strict=True))

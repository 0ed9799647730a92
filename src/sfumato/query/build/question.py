"""Asking: statistics and questions, checked: the one place where SQL and frames make them, so both refuse alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from sfumato.errors import BadArgument, QueryRefused
from sfumato.query.build.prune import pruned, used
from sfumato.query.build.relation import owner_of, scans, shared
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.literals import value_of
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.questions import (
    Count,
    CountDistinct,
    CountUnits,
    Histogram,
    Item,
    Order,
    Quantile,
    Question,
    Statistic,
    StatisticValue,
    TopValues,
)
from sfumato.query.nodes.relations import Relation

MOST_SETS = 4096
"""A question has at most this many grouping sets."""


def statistic_value(statistic: Statistic, source: Relation) -> StatisticValue:
    """Checks a statistic and makes its released value; counting ids becomes counting units."""
    if statistic.where is not None and statistic.where.kind is not Kind.BOOL:
        raise QueryRefused(f"where takes a condition; got {statistic.where.kind.value}.")
    if not isinstance(statistic, Count | CountUnits | CountDistinct | TopValues | Item):
        statistic = _of_numbers(statistic)
    if isinstance(statistic, Histogram):
        check_edges(statistic.edges)
    if isinstance(statistic, CountDistinct) and not statistic.others and _is_unit(statistic.of, source):
        return StatisticValue(CountUnits(statistic.where))
    if shared(source) and _counts_units(statistic, source):
        raise QueryRefused(
            "a row of a join of private tables off the id belongs to two units, so that units cannot be counted in it: "
            "count rows or other values, or count units in one of the tables."
        )
    return StatisticValue(statistic)


def _of_numbers(statistic: Statistic) -> Statistic:
    """Makes conditions count as 0 and 1; refuses operands that are neither numbers nor conditions."""
    numeric = statistic
    for part in ("of", "other"):
        operand: Expression | None = getattr(statistic, part, None)
        if operand is not None and operand.kind is Kind.BOOL:
            numeric = replace(numeric, **{part: call("to_int", operand)})  # type: ignore[type-var]
        elif operand is not None and isinstance(statistic, Quantile):
            if operand.kind is Kind.TEXT:
                raise QueryRefused(
                    "a quantile, and so MIN, MAX or MEDIAN, takes numbers, days or times; got text. For the most "
                    "frequent value, write MODE(x)."
                )
        elif operand is not None and not operand.kind.numeric:
            hint = ""
            if operand.kind is Kind.TEXT and isinstance(operand, Column):
                entry = f"{operand.name}: {{type: float, between: [lower, upper], source: …}}"
                opened = f"between={{{operand.name!r}: (lower, upper)}}"
                hint = (
                    f" If all values of {operand.name} are numbers, say so in the codebook, {entry}, or where the data "
                    f"is opened, {opened}."
                )
            raise QueryRefused(f"{statistic.name} takes numbers; got {operand.kind.value}.{hint}")
    return numeric


def check_edges(edges: Sequence[int | float]) -> tuple[int | float, ...]:
    """Checks that there are at least two edges, all numbers, in rising order."""
    values = [value_of(edge, "an edge") for edge in edges]
    numbers = tuple(edge for edge in values if isinstance(edge, int | float) and not isinstance(edge, bool))
    if len(numbers) < max(2, len(values)) or any(low >= high for low, high in pairwise(numbers)):
        raise BadArgument("edges", "two or more numbers that rise", list(edges))
    return numbers


def _is_unit(expression: Expression, source: Relation) -> bool:
    owner = owner_of(source)
    return isinstance(expression, Column) and expression.unit == 0 and owner is not None and owner.window is None


def _counts_units(statistic: Statistic, source: Relation) -> bool:
    counted = statistic.of if isinstance(statistic, CountDistinct) else None
    return isinstance(statistic, CountUnits) or (counted is not None and _holds_ids(counted, source))


def _holds_ids(expression: Expression, source: Relation) -> bool:
    """Tells whether a column held the ids of one side, before rows of different units were joined."""
    ids = {f"{scan.table}.{scan.owner.id}" for scan in scans(source) if scan.owner is not None and not scan.owner.hops}
    return isinstance(expression, Column) and expression.origin in ids


def build_question(
    source: Relation,
    keys: Sequence[tuple[str, Expression]],
    columns: Sequence[tuple[str, Expression]],
    *,
    sets: Sequence[tuple[int, ...]] | None = None,
    having: Expression | None = None,
    order: Sequence[Order] = (),
    limit: int | None = None,
) -> Question:
    """Builds a question about a private relation; its tables keep only the columns that it looks at."""
    if not source.private:
        raise QueryRefused("this asks only public tables, which need no privacy: read them directly.")
    for name, key in keys:
        if isinstance(key, Column) and (key.unit == 0 or (shared(source) and _holds_ids(key, source))):
            raise QueryRefused(
                f"grouping by {name!r} would make a group of each person, and what people do alone is what is "
                "protected. Group by something that people share; for a value per person, sum up within each first "
                f"(an inner GROUP BY {name}, or per_unit) and ask for a statistic of those."
            )
    if having is not None and having.kind is not Kind.BOOL:
        raise QueryRefused(f"having takes a condition; got {having.kind.value}.")
    if limit is not None and limit < 0:
        raise BadArgument("limit", "a whole number, 0 or more", limit)
    places = (tuple(range(len(keys))),) if sets is None else tuple(sets)
    made = Question(source, tuple(keys), tuple(columns), places, having, tuple(order), limit)
    if not made.statistics:
        raise QueryRefused("nothing is aggregated, and rows themselves are never released: ask for counts, sums …")
    return replace(made, source=pruned(source, used(made.of_rows)))


def rollup(many: int) -> tuple[tuple[int, ...], ...]:
    """The grouping sets of ROLLUP: all keys, then one fewer from the end each time, down to none."""
    return tuple(tuple(range(kept)) for kept in range(many, -1, -1))


def cube(many: int) -> tuple[tuple[int, ...], ...]:
    """The grouping sets of CUBE: every choice of keys, larger ones first."""
    if 2**many > MOST_SETS:
        raise QueryRefused(f"a cube of {many} columns has {2**many:,} grouping sets; at most {MOST_SETS:,} are made.")
    return tuple(chosen for kept in range(many, -1, -1) for chosen in combinations(range(many), kept))

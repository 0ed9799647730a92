"""Expands statistics that are lists, histograms and most frequent values, into a column for each of their cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from sfumato.errors import QueryRefused
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.questions import Histogram, Item, Question, Statistic, StatisticValue, TopValues, statistics_in
from sfumato.query.plan.query_plan import QueryPlan

MOST_ITEMS = 1000
"""A list becomes at most this many columns."""


def expand_lists(plan: QueryPlan) -> QueryPlan:
    """Before: columns that may be lists. After: a column for each cell: bins of a histogram, top values in order."""
    return replace(plan, question=expanded(plan.question))


def expanded(question: Question) -> Question:
    """Replaces each list by a column for each of its cells.

    Lists stand alone in a column; what is computed, filtered or sorted by is one number.
    """
    computed = (question.having, *(one.by for one in question.order), *_parts(question))
    for made in computed:
        if made is not None and any(one.kind is Kind.LIST for one in statistics_in(made)):
            raise QueryRefused(
                "a histogram, or the most frequent values, become several columns of the answer, so they stand alone: "
                "compute with these columns once you have the answer."
            )
    taken = {name for name, made in question.columns if made.kind is not Kind.LIST}
    columns: list[tuple[str, Expression]] = []
    for name, made in question.columns:
        if not isinstance(made, StatisticValue) or made.kind is not Kind.LIST:
            columns.append((name, made))
            continue
        for ending, item in items(made.statistic):
            free = f"{name}_{ending}"
            while free in taken:
                free += "_"
            taken.add(free)
            columns.append((free, StatisticValue(item)))
    return replace(question, columns=tuple(columns))


def _parts(question: Question) -> Iterator[Expression]:
    for _, made in question.columns:
        yield from made.parts


def items(statistic: Statistic) -> list[tuple[str, Item]]:
    """The cells of a list with what their columns are called: edges of bins, or ranks from 1."""
    match statistic:
        case Histogram(edges=edges) if len(edges) > MOST_ITEMS + 1:
            raise QueryRefused(f"a histogram has at most {MOST_ITEMS:,} bins; got {len(edges) - 1:,}.")
        case Histogram(edges=edges):
            bins = pairwise(edges)
            return [(f"{low}_{high}", Item(statistic, place)) for place, (low, high) in enumerate(bins)]
        case TopValues(most=most) if most > MOST_ITEMS:
            raise QueryRefused(f"at most {MOST_ITEMS:,} top values are found; got {most:,}.")
        case TopValues(most=most):
            return [(str(place + 1), Item(statistic, place)) for place in range(most)]
    raise TypeError(type(statistic))

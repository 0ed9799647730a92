"""The compiler of questions: a fold over passes, each of which fills in a part of one plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.kinds import Value
from sfumato.query.nodes.questions import Question
from sfumato.query.plan.bound_joins import bound_joins
from sfumato.query.plan.bound_meetings import bound_meetings
from sfumato.query.plan.bound_units import bound_units
from sfumato.query.plan.check_settings import check_settings
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.decompose import decompose
from sfumato.query.plan.drop_incomplete import drop_incomplete
from sfumato.query.plan.expand_lists import expand_lists
from sfumato.query.plan.find_keys import find_keys, key_finder
from sfumato.query.plan.find_selections import find_selections
from sfumato.query.plan.infer_bounds import infer_bounds
from sfumato.query.plan.keep_rows import keep_rows
from sfumato.query.plan.open_tables import OpenTables
from sfumato.query.plan.price import price
from sfumato.query.plan.query_plan import QueryPlan
from sfumato.query.plan.read_facts import read_facts
from sfumato.query.plan.refuse_impossible import refuse_impossible
from sfumato.query.plan.rehearse import rehearse
from sfumato.query.plan.taken_rows import check_ids
from sfumato.query.plan.unify_statistics import unify_statistics

PASSES: tuple[Callable[[QueryPlan], QueryPlan], ...] = (
    check_settings,
    bound_meetings,
    bound_joins,
    unify_statistics,
    refuse_impossible,
    infer_bounds,
    drop_incomplete,
    keep_rows,
    expand_lists,
    read_facts,
    decompose,
    find_keys,
    bound_units,
    find_selections,
    price,
)
"""Everything about a question that can be settled without looking at the data, one thing after another."""


def compile_question(
    question: Question, settings: Settings, opened: OpenTables, *, limit: type[Loss], d_in: int = 1
) -> CompiledQuery:
    """Makes a question ready to be asked. ``limit`` is the kind of loss that the account counts.

    ``d_in`` is how many rows one unit has, where units are rows.
    """
    return price_question(settle_question(question, settings, opened, limit=limit, d_in=d_in), settings)


def settle_question(
    question: Question, settings: Settings, opened: OpenTables, *, limit: type[Loss], d_in: int = 1
) -> QueryPlan:
    """Settles everything about a question but its price: the same plan does for any loss that is stated."""
    check_ids(question.source, opened.catalog.codebook)
    begun = QueryPlan(question, question, settings, opened, limit, d_in)
    return reduce(lambda plan, step: step(plan), PASSES[: PASSES.index(price)], begun)


def price_question(plan: QueryPlan, settings: Settings, *, rehearsed: bool = True) -> CompiledQuery:
    """Prices a settled plan at the loss of settings that differ in nothing else; what is asked must be rehearsed."""
    if (plan.settings.loss is None) is not (settings.loss is None):
        raise ValueError("the plan was settled for another way of stating the price")
    ready = CompiledQuery.of(price(replace(plan, settings=replace(plan.settings, loss=settings.loss))))
    if rehearsed:
        rehearse(ready, plan.opened)
    return ready


def public_groups(question: Question, settings: Settings, opened: OpenTables) -> list[tuple[Value, ...]] | None:
    """The groups that a question would answer, where they are public: nobody needs to be asked for these.

    None where one grouping set has keys that are not listed. Keys that a set is not about are missing.
    """
    begun = QueryPlan(question, question, settings, opened, Approx)
    plan = reduce(lambda made, step: step(made), PASSES[: PASSES.index(find_keys) + 1], begun)
    finder, groups = key_finder(plan), []
    for one in plan.question.grouping_sets:
        named = [plan.question.keys[place] for place in one]
        keys = plan.settings.keys
        listed = finder.listed(named, keys.select([name for name, _ in named]) if keys is not None and named else None)
        if listed is None:
            return None
        for cells in zip(*listed.columns, strict=True) if named else [()]:
            row = dict(zip(one, cells, strict=True))
            groups.append(tuple(row.get(place) for place in range(len(question.keys))))
    return groups

"""Takes the statistics of a question apart into the counts and sums that they are made of."""

from __future__ import annotations

from dataclasses import replace

from sfumato.errors import QueryRefused
from sfumato.query.plan.bounds import scales
from sfumato.query.plan.decomposition import recipes
from sfumato.query.plan.engine_plan import Units
from sfumato.query.plan.query_plan import QueryPlan
from sfumato.query.plan.sharing import shared


def decompose(plan: QueryPlan) -> QueryPlan:
    """Before: statistics, and facts. After: a recipe for each that is made of sums; one exact number for each sum.

    Counts are made in steps (``fine``) where units may be scaled down, so that a part of a unit can count.
    """
    by_rows, sets = plan.by_rows, plan.question.grouping_sets
    fine = not by_rows and any(scales(plan.keys(places), plan.reach, plan.wanted(places)) for places in sets)
    sums = (one for one in plan.question.statistics if one not in plan.chosen)
    ready = replace(plan, recipes=shared(recipes(sums, alone=plan.settings.loss is None, fine=fine)))
    if by_rows and any(isinstance(tally, Units) for tally in ready.tallies):
        raise QueryRefused("rows are the units here, and nothing says whose they are: count rows.")
    return ready

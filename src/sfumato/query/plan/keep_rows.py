"""Cuts units to a number of rows in all, where the question asks for it, or else the codebook does."""

from __future__ import annotations

import math
from dataclasses import replace

from sfumato.core.grouped_distance import Whole
from sfumato.errors import QueryRefused
from sfumato.query.nodes.relations import Keep
from sfumato.query.plan.contribution_facts import reach_of
from sfumato.query.plan.query_plan import QueryPlan


def keep_rows(plan: QueryPlan) -> QueryPlan:
    """Before: a source with all rows of a unit. After: a `Keep` on top of it, if there is a bound on rows in all."""
    question, settings, catalog = plan.question, plan.settings, plan.catalog
    if plan.meets:  # of which each side is cut (bound_meetings)
        return plan
    rows: Whole | None = settings.max_rows
    if (settings.max_groups, settings.max_rows_per_group, settings.max_rows) == (None, None, None):
        kept = reach_of(question.source, catalog.kept, lambda _: math.inf)
        rows = None if kept.rows == math.inf or kept.groups or kept.rows_each else kept.rows
    if rows is None:
        return plan
    if catalog.by_rows:
        raise QueryRefused(
            "rows are the units here, and nothing says which of them belong together: leave out max_rows=."
        )
    return replace(plan, question=replace(question, source=Keep(question.source, int(rows))))

"""Reads off the codebook, and off the way in which a relation is made, how much of it one unit can have."""

from __future__ import annotations

from dataclasses import replace

from sfumato.query.plan.contribution_facts import reach_of
from sfumato.query.plan.query_plan import QueryPlan


def read_facts(plan: QueryPlan) -> QueryPlan:
    """Before: a source that no later pass changes. After: what one unit can have of it, and is to keep."""
    catalog, matches = plan.catalog, plan.matches
    reach, kept = (reach_of(plan.question.source, bounds, matches) for bounds in (catalog.reaches, catalog.kept))
    return replace(plan, reach=reach, kept=kept)

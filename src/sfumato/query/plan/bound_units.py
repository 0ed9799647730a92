"""Bounds what one unit can move in each grouping set, and settles what the engine computes there."""

from __future__ import annotations

from dataclasses import replace

from sfumato.query.nodes.relations import Keep
from sfumato.query.plan.bounds import THE_CODEBOOK, THE_QUESTION, Kept, of_meetings, placed
from sfumato.query.plan.contribution_facts import reach_of
from sfumato.query.plan.engine_plan import Cells, Rows, Units
from sfumato.query.plan.exclusive import exclusive_sets
from sfumato.query.plan.grouping_sets import Level, coarser
from sfumato.query.plan.query_plan import GroupingSet, QueryPlan
from sfumato.query.plan.sharing import same_by_bounds


def bound_units(plan: QueryPlan) -> QueryPlan:
    """Before: grouping sets, facts, wishes. After: levels, in each of which a bounded unit moves numbers boundedly."""
    widest = max(plan.sets, key=lambda one: len(one.places))
    finest = _level(plan, widest)
    levels = [
        finest if one is widest else coarser(one.places, finest) if one.summed else _level(plan, one)
        for one in plan.sets
    ]
    return replace(plan, levels=tuple(replace(one, placed=one.placed.also(plan.cuts)) for one in levels))


def _level(plan: QueryPlan, grouped: GroupingSet) -> Level:
    keys, catalog, public = plan.keys(grouped.places), plan.catalog, grouped.public
    bounded = placed(
        keys,
        (*plan.tallies, Rows()) if plan.chosen else plan.tallies,
        plan.reach,
        plan.wanted(grouped.places),
        listed=None if public is None else len(public),
        by_rows=plan.by_rows,
        who=catalog.codebook.protects,
        kept=_kept_before(plan),
    )
    chooser = (Rows() if plan.by_rows else Units()) if keys and public is None else None
    asked = plan.tallies if chooser is None or chooser in plan.tallies else (*plan.tallies, chooser)
    standing = same_by_bounds(asked, bounded.bound, bounded.spread)
    bought = tuple(tally for tally in asked if tally not in dict(standing))
    cells = Cells(plan.question.source, keys, bought, bounded.bound, public)
    noised = tuple(tally for tally in bought if tally != chooser)
    sets = exclusive_sets(noised)
    if plan.meets:
        bounded = of_meetings(bounded, keys, plan.reach, [members[0] for members in sets if len(members) == 1])
    most = max((len(members) for members in sets), default=1)
    if most > 1:
        why = f"of {most} numbers a row can count in one only: together they cost what one does"
        bounded = replace(bounded, facts=(*bounded.facts, why))
    return Level(grouped.places, cells, bounded, noised, chooser, standing=standing)


def _kept_before(plan: QueryPlan) -> Kept | None:
    """Says that rows in all are cut, where they are: what a unit could have before that, and who says so."""
    match plan.question.source:
        case Keep(source=source, rows=rows):
            before = reach_of(source, plan.catalog.reaches, plan.matches)
            return Kept(rows, before, THE_CODEBOOK if plan.settings.max_rows is None else THE_QUESTION)
    return None

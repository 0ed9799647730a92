"""Bounds joins of rows of different units: how many rows of a unit, and of a key, each side keeps.

A row of such a join belongs to two units, and how many there are of one unit hangs on the rows of others. So both sides
are cut first: to so many rows of each unit (``max_rows``, a fact of the codebook, or what that says to keep), then to
so many rows of each key (``max_matches``). What one unit can move afterwards follows (proofs/meetings.md#theorem).
"""

from __future__ import annotations

import math
from dataclasses import replace

from sfumato.core.grouped_distance import Whole
from sfumato.errors import QueryRefused
from sfumato.query.nodes.relations import Keep, Meet, Relation
from sfumato.query.nodes.walks import meetings, with_sources
from sfumato.query.plan.bound_joins import MOST_JOINED
from sfumato.query.plan.bounds import THE_CODEBOOK, THE_QUESTION
from sfumato.query.plan.contribution_facts import reach_of
from sfumato.query.plan.query_plan import QueryPlan
from sfumato.release.record import Cut, Cutting


def bound_meetings(plan: QueryPlan) -> QueryPlan:
    """Before: joins of rows of different units, of any size. After: each side has bounded rows of a unit and a key."""
    settings = plan.settings
    if not plan.meets:
        if settings.max_matches is not None:
            raise QueryRefused(
                "max_matches= bounds joins of private tables off the id, and there is none here: leave it out."
            )
        return plan
    if settings.max_groups is not None or settings.max_rows_per_group is not None:
        raise QueryRefused(
            "a row of this join belongs to two units, so that none can be cut to some groups, or rows in a group: "
            "leave out max_groups= and max_rows_per_group=. max_rows= and max_matches= bound the sides of the join."
        )
    if settings.max_matches is None:
        raise QueryRefused(_unsaid(plan))
    cuts: dict[Cut, None] = {}
    bounded = _bounded(plan.question.source, plan, settings.max_matches, cuts)
    return replace(plan, question=replace(plan.question, source=bounded), cuts=(*plan.cuts, *cuts))


def _bounded(relation: Relation, plan: QueryPlan, most: int, cuts: dict[Cut, None]) -> Relation:
    made = with_sources(relation, [_bounded(source, plan, most, cuts) for source in relation.sources])
    if not isinstance(made, Meet):
        return made
    left, right = (_side(side, plan, cuts) for side in (made.left, made.right))
    cuts[Cut(Cutting.UNITS, _kept(most, "each key"), THE_QUESTION)] = None
    bounded = Meet(left, right, made.on, most)
    moved = reach_of(bounded, plan.catalog.reaches, plan.matches).rows
    if moved > MOST_JOINED:
        raise QueryRefused(
            f"by this join one unit could move {moved:,} rows, and at most {MOST_JOINED:,} are made of any: noise that "
            "hides so many is no answer. Say smaller bounds, max_rows= and max_matches=."
        )
    return bounded


def _side(side: Relation, plan: QueryPlan, cuts: dict[Cut, None]) -> Relation:
    """One side with a bound on the rows of a unit: as the question says, else by facts, else as the codebook says."""
    known = reach_of(side, plan.catalog.reaches, plan.matches).rows
    wanted, source = _wanted(side, plan)
    if wanted >= known < math.inf:
        return side
    who = plan.catalog.codebook.protects
    if wanted == math.inf:
        raise QueryRefused(
            f"{who} could have any number of rows on a side of this join, and no noise hides that. Say how many to "
            "keep on each side, max_rows=5; or state in the codebook what is so in every possible table "
            "(contributions: …)."
        )
    cuts[Cut(Cutting.UNITS, _kept(int(wanted), who), source)] = None
    return Keep(side, int(wanted))


def _kept(rows: int, what: str) -> str:
    many = f"{rows:,} rows of {what} are" if rows > 1 else f"1 row of {what} is"
    return f"at most {many} kept on each side of a join"


def _wanted(side: Relation, plan: QueryPlan) -> tuple[Whole, str]:
    if any(True for _ in meetings(side)) or plan.catalog.by_rows:  # nothing says which rows belong together
        return math.inf, THE_CODEBOOK
    if plan.settings.max_rows is not None:
        return plan.settings.max_rows, THE_QUESTION
    return reach_of(side, plan.catalog.kept, lambda _: math.inf).rows, THE_CODEBOOK


def _unsaid(plan: QueryPlan) -> str:
    owners = [scan.owner for scan in plan.catalog.tables.values() if scan.owner is not None]
    ids = " or ".join(dict.fromkeys(owner.id for owner in owners if owner.id))
    within = f"Join on {ids} as well, to stay within one unit; or say" if ids else "Say"
    rows = " and max_rows=5 (rows of each unit, on each side)" if ids else ""
    return (
        "this join of two private tables makes rows that belong to two units, and one of them could make as many as "
        f"there are rows with its key on the other side. {within} how much to keep: max_matches=10 (rows of each key, "
        f"on each side){rows}."
    )

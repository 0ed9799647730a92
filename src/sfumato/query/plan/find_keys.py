"""Finds which groups each grouping set answers, where that is public, and which sets are sums of the finest one."""

from __future__ import annotations

from dataclasses import replace

from sfumato.query.plan.engine_plan import PublicKeys, Rows, Total
from sfumato.query.plan.grounding import ground
from sfumato.query.plan.keys import KeyFinder
from sfumato.query.plan.query_plan import GroupingSet, QueryPlan


def find_keys(plan: QueryPlan) -> QueryPlan:
    """Before: exact numbers by sets of keys. After: the public keys of each set that the engine is asked for.

    Where one set has all keys, and they are public, the others are sums of it: totals agree.
    """
    finder, every = key_finder(plan), plan.question.grouping_sets

    def public(places: tuple[int, ...]) -> PublicKeys | None:
        named = [plan.question.keys[place] for place in places]
        keys = plan.settings.keys
        return finder.listed(named, keys.select([name for name, _ in named]) if keys is not None and named else None)

    widest = max(every, key=len)
    finest = GroupingSet(widest, public(widest))
    add_up = all(isinstance(tally, Rows | Total) for tally in plan.tallies) and not plan.chosen
    if add_up and finest.public is not None and all(set(places) <= set(widest) for places in every):
        sets = [finest if places == widest else GroupingSet(places, summed=True) for places in every]
    else:
        sets = [finest if places == widest else GroupingSet(places, public(places)) for places in every]
    return replace(plan, sets=tuple(sets))


def key_finder(plan: QueryPlan) -> KeyFinder:
    """Builds the finder of public keys for the source of a plan."""
    return KeyFinder(plan.opened.engine, ground(plan.question.source), plan.question.keys)

"""Tumult Analytics on Spark, with people as the unit; each measure is a query of its own there."""

from __future__ import annotations

import sys
from functools import partial

from tmlt.analytics import (
    AddRowsWithID,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

from contenders.engines.spark_session import started
from contenders.query.cases import EPSILON, LONGEST, MEASURES, MOST_GROUPS, MOST_ROWS, SHORTEST, SITES
from contenders.query.turns import seconds
from side_by_side.stopwatch import report, report_version


def main(folder: str, size: str, visits: str) -> None:
    """Times the three queries once each; the start of Spark and a first count are not counted."""
    report_version("tmlt.analytics")
    rows = started(folder).read.parquet(visits)
    unit = AddRowsWithID("user_id")
    session = Session.from_dataframe(PureDPBudget(float("inf")), "visits", rows, protected_change=unit)
    bounds = MaxGroupsPerID("site", MOST_GROUPS), MaxRowsPerGroupPerID("site", MOST_ROWS)
    query = QueryBuilder("visits").enforce(bounds[0]).enforce(bounds[1])
    sites = query.groupby(KeySet.from_dict({"site": list(range(SITES))}))
    ends = "minutes", SHORTEST, LONGEST
    queries = dict(zip(MEASURES, (sites.count(), sites.sum(*ends), sites.average(*ends)), strict=True))

    def answer(measure: str) -> None:
        session.evaluate(queries[measure], PureDPBudget(EPSILON / len(MEASURES))).collect()

    answer("count")
    times = {measure: seconds(partial(answer, measure)) for measure in MEASURES}
    for measure, spent in times.items():
        report(measure, kind="part", size=size, seconds=spent)
    report("people", kind="time", size=size, seconds=sum(times.values()))


main(*sys.argv[1:])

"""Tumult Analytics on Spark, with people as the unit; each measure is a query of its own there."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddRowsWithID,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

from contenders.query.cases import EPSILON, LONGEST, MEASURES, MOST_GROUPS, MOST_ROWS, SHORTEST, SITES, SIZES
from contenders.query.turns import seconds
from side_by_side.stopwatch import report, report_version


def started(folder: str) -> SparkSession:
    """Gives Spark on this machine alone, set up for few partitions as fits it; what it writes goes to the folder."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings: dict[str, bool | float | int | str | None] = {
        "spark.driver.memory": "6g",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
    }
    builder = SparkSession.builder.master(f"local[{os.cpu_count()}]").config(map=settings)
    builder = builder.config("spark.sql.warehouse.dir", f"{folder}/spark")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def main(folder: str, size: str) -> None:
    """Times the three queries once each; the start of Spark and a first count are not counted."""
    report_version("tmlt.analytics")
    visits = started(folder).read.parquet(str(SIZES[size].visits(Path(folder))))
    unit = AddRowsWithID("user_id")
    session = Session.from_dataframe(PureDPBudget(float("inf")), "visits", visits, protected_change=unit)
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

"""PipelineDP on Spark, with people as the unit."""

from __future__ import annotations

import sys

import pipeline_dp as pdp

from contenders.engines.spark_session import started
from contenders.query.cases import DELTA, EPSILON, LONGEST, MOST_GROUPS, MOST_ROWS, SHORTEST, SITES
from contenders.query.turns import seconds
from side_by_side.stopwatch import report, report_version


def main(folder: str, size: str, visits: str) -> None:
    """Times one answer; the start of Spark and a first count of the rows are not counted."""
    report_version("pipeline-dp")
    spark = started(folder)
    rows = spark.read.parquet(visits).rdd
    rows.count()
    asked = pdp.AggregateParams(
        noise_kind=pdp.NoiseKind.LAPLACE,
        metrics=[pdp.Metrics.COUNT, pdp.Metrics.SUM, pdp.Metrics.MEAN],
        max_partitions_contributed=MOST_GROUPS,
        max_contributions_per_partition=MOST_ROWS,
        min_value=SHORTEST,
        max_value=LONGEST,
    )

    def answer() -> None:
        accountant = pdp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)
        extractors = pdp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: row[2],
        )
        engine = pdp.DPEngine(accountant, pdp.SparkRDDBackend(spark.sparkContext))
        found = engine.aggregate(rows, asked, extractors, public_partitions=list(range(SITES)))
        accountant.compute_budgets()
        found.collect()

    report("people", kind="time", size=size, seconds=seconds(answer))


main(*sys.argv[1:])

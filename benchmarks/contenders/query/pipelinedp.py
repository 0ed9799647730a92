"""PipelineDP in this process alone, with people as the unit."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pipeline_dp as pdp

from contenders.query.cases import DELTA, EPSILON, LONGEST, MOST_GROUPS, MOST_ROWS, SHORTEST, SITES, SIZES
from contenders.query.turns import report_once
from side_by_side.stopwatch import report_version


def main(folder: str, size: str) -> None:
    """Times one answer; the rows are a list of tuples before the clock starts."""
    report_version("pipeline-dp")
    columns = np.load(SIZES[size].columns(Path(folder)))
    rows = list(zip(*(columns[name].tolist() for name in ("user_id", "site", "minutes")), strict=True))
    asked = pdp.AggregateParams(
        noise_kind=pdp.NoiseKind.LAPLACE,
        metrics=[pdp.Metrics.COUNT, pdp.Metrics.SUM, pdp.Metrics.MEAN],
        max_partitions_contributed=MOST_GROUPS,
        max_contributions_per_partition=MOST_ROWS,
        min_value=SHORTEST,
        max_value=LONGEST,
    )
    begun = time.perf_counter()
    accountant = pdp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)
    extractors = pdp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    engine = pdp.DPEngine(accountant, pdp.LocalBackend())
    found = engine.aggregate(rows, asked, extractors, public_partitions=list(range(SITES)))
    accountant.compute_budgets()
    list(found)
    report_once(size, "people", time.perf_counter() - begun)


main(*sys.argv[1:])

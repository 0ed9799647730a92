"""Tumult Analytics: a session at the same (ε, δ), asked for counts of the same error until it refuses.

Under (ε, δ) its numbers get Laplace noise; Gaussian noise is for sessions in ρ, which is another limit.
"""

from __future__ import annotations

import os
import sys
import tempfile

from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, ApproxDPBudget, QueryBuilder, Session

from contenders.limits.cases import DELTA
from side_by_side.stopwatch import report, report_version


def main(*scales: str) -> None:
    """Reports how many questions fit, each with Laplace noise of the error that Gaussian noise of the scale has."""
    report_version("tmlt.analytics")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.sql.shuffle.partitions": "1", "spark.ui.enabled": "false"}
    settings["spark.ui.showConsoleProgress"] = "false"
    settings["spark.sql.warehouse.dir"] = tempfile.mkdtemp()
    spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    rows = spark.createDataFrame([(number,) for number in range(100)], ["number"])
    for pair in scales:
        epsilon, scale = map(float, pair.split("="))
        each = ApproxDPBudget(3.0 / (1.96 * scale), 0)
        session = Session.from_dataframe(ApproxDPBudget(epsilon, DELTA), "rows", rows, protected_change=AddOneRow())
        answers = 0
        try:
            while True:
                session.evaluate(QueryBuilder("rows").count(), each).collect()
                answers += 1
        except RuntimeError:  # InsufficientBudgetError is one
            report(f"gaussian {epsilon:g}", kind="peer", epsilon=epsilon, answers=answers)


main(*sys.argv[1:])

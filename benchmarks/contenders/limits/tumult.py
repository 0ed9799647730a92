"""Tumult Analytics: sessions at the same (ε, δ) or ρ, asked for counts of the same error until they refuse.

Under (ε, δ) its numbers get Laplace noise; Gaussian noise is for sessions in ρ.
"""

from __future__ import annotations

import os
import sys
import tempfile

from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddOneRow,
    ApproxDPBudget,
    CountMechanism,
    PrivacyBudget,
    QueryBuilder,
    RhoZCDPBudget,
    Session,
)

from contenders.limits.cases import DELTA, EPSILON, Case
from side_by_side.stopwatch import report, report_version

LAPLACE, GAUSSIAN = CountMechanism.LAPLACE, CountMechanism.GAUSSIAN


def question(number: int, case: Case) -> tuple[CountMechanism, PrivacyBudget]:
    """The noise of a question and the price at which it has the error that the case asks for."""
    if case.measure == EPSILON:
        return LAPLACE, ApproxDPBudget(1 / case.laplace_scale, 0)
    if case.gaussian(number):
        return GAUSSIAN, RhoZCDPBudget(1 / (2 * case.scale**2))
    return LAPLACE, RhoZCDPBudget(1 / (2 * case.laplace_scale**2))


def main(*cases: str) -> None:
    """Reports how many questions of each case fit."""
    report_version("tmlt.analytics")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings: dict[str, bool | float | int | str | None] = {
        "spark.sql.shuffle.partitions": "1",
        "spark.ui.enabled": "false",
    }
    settings["spark.ui.showConsoleProgress"] = "false"
    settings["spark.sql.warehouse.dir"] = tempfile.mkdtemp()
    spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    rows = spark.createDataFrame([(number,) for number in range(100)], ["number"])
    for text in cases:
        case = Case.read(text)
        limit = ApproxDPBudget(case.limit, DELTA) if case.measure == EPSILON else RhoZCDPBudget(case.limit)
        session = Session.from_dataframe(limit, "rows", rows, protected_change=AddOneRow())
        answers = 0
        try:
            while True:
                mechanism, price = question(answers, case)
                session.evaluate(QueryBuilder("rows").count(mechanism=mechanism), price).collect()
                answers += 1
        except RuntimeError:  # InsufficientBudgetError is one
            report(f"{case.session} {case.limit:g}", kind="peer", **case._asdict(), answers=answers)


main(*sys.argv[1:])

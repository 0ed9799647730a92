"""Spark on this machine alone, set up alike for everyone who is measured on it; imported in all their environments."""

from __future__ import annotations

import os
import sys

from pyspark.sql import SparkSession

CORES = 2


def started(folder: str, *, memory: str = "6g") -> SparkSession:
    """A session on two cores, with few partitions as fits them; what it spills and writes goes to the folder."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings: dict[str, bool | float | int | str | None] = {
        "spark.driver.memory": memory,
        "spark.local.dir": f"{folder}/spark-local",
        "spark.sql.shuffle.partitions": str(2 * CORES),
        "spark.sql.warehouse.dir": f"{folder}/spark",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    spark = SparkSession.builder.master(f"local[{CORES}]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark

"""A session of Spark for all tests of a worker: one JVM, small, and silent."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import warnings
from collections.abc import Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import pytest

from sfumato.query.engines.spark.engine import SparkEngine
from sfumato.query.engines.spark.sources import open_source
from sfumato.query.nodes.relations import Scan


@lru_cache(None)
def spark_session() -> Any:
    """Starts Spark, or skips the test that needs it."""
    if shutil.which("java") is None:
        pytest.skip("needs Java (scripts/debian-packages)")
    pytest.importorskip("pyspark", reason="needs pyspark")
    os.environ["PYSPARK_PYTHON"] = sys.executable  # what runs in executors runs in this environment
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pyspark's modules, about pandas and what Python has deprecated
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("sfumato")
        for name, setting in SETTINGS.items():
            builder = builder.config(name, setting)
        session = builder.getOrCreate()
    atexit.register(session.stop)
    return session


def opened_in_spark(data: Mapping[str, Any], tables: Mapping[str, Scan]) -> SparkEngine:
    """Opens tables in Spark."""
    return open_source(data, SimpleNamespace(tables=tables), spark_session())  # type: ignore[arg-type]


SETTINGS = {
    # Nothing here runs long enough for the better of the two compilers, which would take most of the time.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
    # A machine where the small letter of I is one without a dot.
    " -Duser.language=tr -Duser.country=TR -Duser.timezone=Pacific/Apia -Dderby.stream.error.file=/dev/null",
    "spark.driver.memory": "1g",
    "spark.log.level": "OFF",
    "spark.sql.codegen.comments": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # What somebody may have set when Spark was started, each against what we rely on: none of it may matter.
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.cbo.enabled": "true",
    "spark.sql.cbo.planStats.enabled": "true",
    "spark.sql.charAsVarchar": "true",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
    "spark.sql.files.maxRecordsPerFile": "1",
    "spark.sql.groupByAliases": "true",
    "spark.sql.icu.caseMappings.enabled": "false",
    "spark.sql.legacy.allowNegativeScaleOfDecimal": "true",
    "spark.sql.legacy.castComplexTypesToString.enabled": "true",
    "spark.sql.legacy.charVarcharAsString": "true",
    "spark.sql.legacy.literal.pickMinimumPrecision": "false",
    "spark.sql.legacy.setopsPrecedence.enabled": "true",
    "spark.sql.legacy.sizeOfNull": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ConstantFolding",
    "spark.sql.optimizer.metadataOnly": "true",
    "spark.sql.orc.aggregatePushdown": "true",
    "spark.sql.parquet.aggregatePushdown": "true",
    "spark.sql.parquet.enableVectorizedReader": "false",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.storeAssignmentPolicy": "STRICT",
    "spark.sql.subexpressionElimination.enabled": "false",
    "spark.sql.variable.substitute": "true",
}

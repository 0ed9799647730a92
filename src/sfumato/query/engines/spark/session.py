"""Sessions of Spark: one of our own for every opening, in which nothing that a user has set changes an answer.

An answer must be a function of the rows. Spark plans with what files and catalogs state *about* their rows: the least
and the greatest value of a column in a part of a Parquet file, how many are missing, counts of whole tables. Such
statements may be wrong, and they are about everybody's rows: so nothing may be left out because of them
(docs/semantics.md, Reading a table). And a session has settings that change what an expression means: its time zone,
ANSI mode, whether names are told apart by case. All of these have one value here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sfumato.errors import BadArgument, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Mapping

OPTIMIZER = "org.apache.spark.sql.catalyst.optimizer"
LEFT_OUT = (
    "PushDownPredicates",
    "InferFiltersFromConstraints",
    "InferFiltersFromGenerate",
    "UnwrapCastInBinaryComparison",
)
"""Steps of the optimiser that hand conditions to a scan, which then leaves out parts of a file by what they state; they
also write a condition out again below everything that it is about, which grows by powers."""

SETTINGS: Mapping[str, str] = {
    # What expressions mean.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.groupByAliases": "false",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.lateralColumnAlias.enableImplicitResolution": "false",
    "spark.sql.orderByOrdinal": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.variable.substitute": "false",
    # What files and tables state about their rows, and which of their rows are read.
    "spark.databricks.delta.optimizeMetadataQuery.enabled": "false",
    "spark.databricks.delta.stats.skipping": "false",
    "spark.sql.avro.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.cbo.enabled": "false",
    "spark.sql.cbo.planStats.enabled": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.iceberg.aggregate-push-down.enabled": "false",
    "spark.sql.inMemoryColumnarStorage.partitionPruning": "false",
    "spark.sql.optimizer.dynamicPartitionPruning.enabled": "false",
    "spark.sql.optimizer.excludedRules": ",".join(f"{OPTIMIZER}.{name}" for name in LEFT_OUT),
    "spark.sql.optimizer.runtime.bloomFilter.enabled": "false",
    "spark.sql.orc.aggregatePushdown": "false",
    "spark.sql.orc.filterPushdown": "false",
    "spark.sql.parquet.aggregatePushdown": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.sources.bucketing.enabled": "false",  # rows in a file that another bucket should have
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # by the names of all folders together
    "spark.sql.sources.v2.bucketing.enabled": "false",
    # How answers are made.
    "spark.sql.codegen.fallback": "true",
    "spark.sql.adaptive.enabled": "true",
}
"""What every session of ours has."""

KEPT = (
    "spark.sql.adaptive.",
    "spark.sql.catalog.",
    "spark.sql.defaultCatalog",
    "spark.sql.files.maxPartition",
    "spark.sql.files.min",
    "spark.sql.files.open",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.execution.arrow.",
    "spark.sql.shuffle.partitions",
    "spark.sql.sources.parallel",
)
"""How the settings begin that are left as they are: how large parts are, how many, and where tables lie."""

HARMFUL: Mapping[str, str] = {
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
}
"""What the session that a frame was made in must have: a scan of files goes by the settings of that one."""


def pyspark_module() -> Any:
    """The package, or says how to install it."""
    try:
        import pyarrow  # noqa: F401
        import pyspark
    except ImportError:
        raise MissingExtra("queries on Spark", "spark") from None
    return pyspark


def is_remote(session: Any) -> bool:
    """Tells whether a session, or what it made, is one of Spark Connect."""
    return ".connect." in f"{type(session).__module__}."


def active_session() -> Any:
    """The session that is running, or says how to name one."""
    pyspark_module()
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        must = "sf.engines.Spark(session) with a running session, such as SparkSession.builder.getOrCreate()"
        raise BadArgument("engine", must, "none that is active")
    return session


def own_session(session: Any, **further: str) -> Any:
    """A new session beside another one, with the same tables, by the same names, and none of its settings or views."""
    if is_remote(session) and not hasattr(type(session), "newSession"):
        raise BadArgument("engine", "a session of Spark Connect with pyspark 4.3 or later", "an earlier one")
    own = pinned(session.newSession(), **further)
    own.catalog.setCurrentCatalog(session.catalog.currentCatalog())
    own.catalog.setCurrentDatabase(session.catalog.currentDatabase())
    return own


def pinned(session: Any, **further: str) -> Any:
    """A session of ours with the settings that it must have, and without others that it was begun with."""
    for name in [*session.conf.getAll]:
        if name.startswith("spark.sql.") and not name.startswith(KEPT) and session.conf.isModifiable(name):
            session.conf.unset(name)
    for name, setting in {**SETTINGS, **further}.items():
        session.conf.set(name, setting)
    return session


def released(session: Any) -> None:
    """Ends a connected session of ours, with all that it holds. To stop it would stop a server in this process, too."""
    session.client.release_session()
    session.client.close()


def refuse_settings(conf: Any) -> None:
    """Refuses settings of a session by which files would be read in part, or not at all, by what a row holds."""
    for name, wanted in HARMFUL.items():
        setting = str(conf.get(name, wanted))
        if setting.upper() != wanted.upper():
            raise BadArgument("data", f"a frame of a session in which {name} is {wanted}", setting)

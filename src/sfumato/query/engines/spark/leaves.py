"""Leaves of lazy plans: the files, tables and other systems that a frame is read from, and how they are to be read.

What is read must follow from what is there, alike each time, row by row. Options of a reader can break that: some leave
out what could not be read just now, or all of a row that does not fit the columns that a statement happens to need;
some raise at a row; and some take the type of a column from all of its values, so that one row decides how the others
are read. Other systems are asked anew by each statement, and give what they hold by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sfumato.errors import BadArgument
from sfumato.query.engines.spark.session import refuse_settings

READ_AS: Mapping[str, tuple[str, str]] = {
    "ignorecorruptfiles": ("ignoreCorruptFiles", "false"),
    "ignoremissingfiles": ("ignoreMissingFiles", "false"),
    "datetimerebasemode": ("datetimeRebaseMode", "corrected"),
    "int96rebasemode": ("int96RebaseMode", "corrected"),
    "badrecordspath": ("badRecordsPath", "not there"),
}
"""Options of every reader, as they are spelled, and the only value that each may have."""

TEXTS_READ_AS: Mapping[str, tuple[str, str]] = {
    "mode": ("mode", "permissive"),
    "inferschema": ("inferSchema", "false"),
}
"""The same for text files."""

TEXT_FORMATS = ("csv", "json", "xml")
GUESSED = ("json", "xml")
"""Formats whose columns have types that are guessed from all rows, where no schema is given."""

KNOWN_FORMATS = ("", "avro", "csv", "delta", "iceberg", "json", "orc", "parquet", "text", "xml")
FILES_OF_SPARK = "org.apache.spark.sql.execution.datasources.v2."
SNAPSHOTS = ("org.apache.iceberg.", "org.apache.spark.sql.delta.", "io.delta.")
"""Where classes of tables are from that are read as of a version."""

GUESSING = "spark.sql.sources.partitionColumnTypeInference.enabled"

ALIKE = "files that are read whole, row by row, and alike each time: with {} {}"
NO_TYPES = (
    "text files with all columns as texts (session.read.csv(path, header=True), or a schema of strings), which the "
    "codebook reads: a type that is guessed from all rows lets one row decide how the others are read"
)
NO_SYSTEM = "a frame of files or tables: every statement would ask another system anew; write it as Parquet, open that"
NO_GUESS = (
    f"files in folders whose names are texts: read them anew with {GUESSING} false (or give their path, and no frame), "
    "since a type that is guessed from all of their names lets one of them decide how the others are read"
)
CHECKPOINT = "a checkpoint that is made already: frame.checkpoint(), which is eager"


def refuse_leaves(plan: Any) -> None:
    """Refuses an analysed plan of a classic session that reads something in a way that may not be the same twice."""
    for leaf in _leaves(plan):
        match str(leaf.getClass().getSimpleName()):
            case "LogicalRelation":
                _refuse_relation(leaf.relation())
            case "DataSourceV2Relation" | "DataSourceV2ScanRelation":
                _refuse_table(leaf)
            case "LogicalRDD":
                rdd = leaf.rdd()
                if rdd.checkpointData().isDefined() and not rdd.isCheckpointed():
                    raise BadArgument("data", CHECKPOINT, "one that the first statement would make")


def refuse_reader(kind: str, options: Mapping[str, str]) -> None:
    """Refuses a format, or options of its reader, by which what is read may not be the same twice."""
    given = {name.lower(): value for name, value in options.items()}
    for name, (spelled, wanted) in {**READ_AS, **(TEXTS_READ_AS if kind in TEXT_FORMATS else {})}.items():
        if name in given and given[name].strip().lower() != wanted:
            raise BadArgument("data", ALIKE.format(spelled, wanted), f"{spelled}={given[name]}"[:80])


def refuse_format(kind: str) -> None:
    """Refuses a format that is that of no file and of no table with versions."""
    if kind not in KNOWN_FORMATS:
        raise BadArgument("data", NO_SYSTEM, kind[:60])


def refuse_guessed(types: list[str]) -> None:
    """Refuses text files of which a column has a type other than texts."""
    different = [one for one in types if one not in ("string", "array<string>")]
    if different:
        raise BadArgument("data", NO_TYPES, f"one with a column of type {different[0][:60]}")


def parts_of(plan: Any) -> list[Any]:
    """A plan of a classic session, and those of the subqueries in its expressions, at any depth."""
    subqueries = plan.subqueriesAll()
    return [plan, *(subqueries.apply(place) for place in range(subqueries.size()))]


def _leaves(plan: Any) -> Iterator[Any]:
    for part in parts_of(plan):
        leaves = part.collectLeaves()
        yield from (leaves.apply(place) for place in range(leaves.size()))


def _refuse_relation(relation: Any) -> None:
    """Refuses files of the first kind of sources of Spark, or whatever else is one."""
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        raise BadArgument("data", NO_SYSTEM, str(relation.getClass().getSimpleName())[:60])
    kind = str(relation.fileFormat().getClass().getSimpleName()).removesuffix("FileFormat").lower()
    refuse_settings(relation.sparkSession().conf())  # which may be another session than the frame's
    refuse_reader(kind, _entries(relation.options()))
    if kind in GUESSED:
        refuse_guessed(_types(relation.dataSchema()))
    _refuse_folders(relation.location(), relation.partitionSchema(), relation.sparkSession())


def _refuse_table(leaf: Any) -> None:
    """Refuses a table of the second kind of sources of Spark that is neither files nor one that has versions."""
    table = leaf.table() if leaf.getClass().getSimpleName() == "DataSourceV2Relation" else leaf.relation().table()
    name = str(table.getClass().getName())
    if name.startswith(SNAPSHOTS):
        return
    kind = str(table.getClass().getSimpleName()).removesuffix("Table").lower()
    if not (name.startswith(FILES_OF_SPARK) and kind in KNOWN_FORMATS):
        raise BadArgument("data", NO_SYSTEM, str(table.getClass().getSimpleName())[:60])
    refuse_settings(table.sparkSession().conf())
    options = table.options().asCaseSensitiveMap()
    refuse_reader(kind, {name: options[name] for name in options})
    if table.userSpecifiedSchema().isEmpty():
        if kind in GUESSED:
            refuse_guessed(_types(table.dataSchema()))
        _refuse_folders(table.fileIndex(), table.fileIndex().partitionSchema(), table.sparkSession())


def _refuse_folders(location: Any, schema: Any, session: Any) -> None:
    """Refuses folders (`year=2026`) the type of whose values was guessed. A catalog, or a schema, states it."""
    if location.getClass().getSimpleName() != "InMemoryFileIndex" or set(_types(schema)) <= {"string"}:
        return
    guesses = str(session.conf().get(GUESSING, "true")).lower() == "true"
    if not guesses:
        location.refresh()  # works out their types once more
    if guesses or _types(location.partitionSchema()) != _types(schema):
        raise BadArgument("data", NO_GUESS, f"folders by a column of type {', '.join(_types(schema))}"[:120])


def _types(schema: Any) -> list[str]:
    return [str(field.dataType().simpleString()) for field in schema.fields()]


def _entries(options: Any) -> dict[str, str]:
    """A map of Scala."""
    entries = options.iterator()
    by_name: dict[str, str] = {}
    while entries.hasNext():
        entry = entries.next()
        by_name[str(entry._1())] = str(entry._2())
    return by_name

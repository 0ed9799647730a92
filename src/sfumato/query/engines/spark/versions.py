"""Versions of data in Spark: what tells the content of a table from other content, without reading it."""

from __future__ import annotations

import hashlib
import os
import re
from typing import Any
from urllib.parse import unquote, urlparse

from sfumato.query.engines.spark.session import is_remote

PLAIN = ("LogicalRelation", "SubqueryAlias", "HadoopFsRelation", "View")
"""Nodes of the plan of a frame that is nothing but files."""

CACHED = '"class":"org.apache.spark.sql.execution.columnar.InMemoryRelation"'
"""In the plan of a frame some of which was kept in memory: its rows are those of then, whatever files hold now."""

FOOTER = 8
"""The last bytes of a Parquet file: how long its footer is, and a mark."""


def files_mark(frame: Any) -> bytes | None:
    """What is known of the files of a frame, looked up now; None of a frame that is not just files.

    Of files of this machine their sizes and footers, wherever they lie; of others their names, sizes and times.
    """
    if is_remote(frame) or CACHED in frame._jdf.queryExecution().withCachedData().toJSON():
        return None
    plan = frame._jdf.queryExecution().analyzed()
    classes = {name.rpartition(".")[2] for name in re.findall(r'"class":"([^"]+)"', plan.toJSON())}
    if "LogicalRelation" not in classes or any(one[:1].isupper() and not _is_plain(one) for one in classes):
        return None
    location = _location(plan)
    if location is None:
        return None
    location.refresh()
    statuses = sorted(location.allFiles().mkString("\n").splitlines())
    paths = [unquote(urlparse(path).path) for path in re.findall(r"path=(file:[^;]+);", "\n".join(statuses))]
    if len(paths) == len(statuses) and all(map(os.path.isfile, paths)):
        return b"".join(sorted(map(_footer, paths)))
    return "\n".join(re.sub(r"path=.*/([^/;]+);", r"path=\1;", status) for status in statuses).encode()


def _is_plain(name: str) -> bool:
    return name in PLAIN or name.endswith("AttributeReference") or name in ("ExprId", "CatalogTable", "FileFormat")


def _location(plan: Any) -> Any:
    leaves = plan.collectLeaves()
    if leaves.size() != 1:
        return None
    relation = leaves.apply(0).relation()
    location = relation.location() if relation.getClass().getSimpleName() == "HadoopFsRelation" else None
    return location if location is not None and location.getClass().getSimpleName() == "InMemoryFileIndex" else None


def _footer(path: str) -> bytes:
    """The size of a file, and a digest of its end: of its footer, if it is a Parquet file."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        file.seek(max(size - FOOTER, 0))
        end = file.read()
        many = int.from_bytes(end[:4], "little") + FOOTER if end[4:] == b"PAR1" else 65536
        file.seek(max(size - many, 0))
        return size.to_bytes(8, "big") + hashlib.sha256(file.read()).digest()


def table_mark(table: Any) -> bytes:
    """A digest of an Arrow table, column by column, however it is cut into pieces."""
    import pyarrow as pa

    digest = hashlib.sha256()
    for name in table.schema.names:
        column = table.select([name]).combine_chunks()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, column.schema) as stream:
            stream.write_table(column)
        digest.update(sink.getvalue())
    return digest.digest()

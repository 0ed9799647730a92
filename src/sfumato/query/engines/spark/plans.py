"""Lazy plans: which frames have the same rows each time that Spark works them out, and which have not.

Spark computes a frame anew for every statement, and parts of it once more when a task is tried again. All statements of
a question must see the same rows, and so must a task that is repeated. So frames are refused whose rows hang on chance,
on the clock, or on which rows come first; whoever has one writes it down (as Parquet, or as a table), and opens that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from sfumato.errors import BadArgument
from sfumato.query.engines.spark.leaves import (
    GUESSED,
    parts_of,
    refuse_format,
    refuse_guessed,
    refuse_leaves,
    refuse_reader,
)
from sfumato.query.engines.spark.session import is_remote

UNSTABLE = {
    "GlobalLimit": "limit()",
    "LocalLimit": "limit()",
    "Offset": "offset()",
    "Tail": "tail()",
    "Sample": "sample()",
    "AnyValue": "any_value()",
    "CollectList": "collect_list()",
    "CollectSet": "collect_set()",
    "CollectTopK": "a collected list",
    "First": "first()",
    "HistogramNumeric": "histogram_numeric()",
    "Last": "last()",
    "ListAgg": "listagg()",
    "MaxBy": "max_by()",
    "MaxMinByK": "max_by()",
    "MinBy": "min_by()",
    "Mode": "mode()",
    "NearestByJoin": "a join by what is nearest",
    "ScriptTransformation": "a program that transforms rows",
    "ApproximatePercentile": "percentile_approx()",
    "AttachDistributedSequence": "an index of pandas on Spark",
    "Deduplicate": "dropDuplicates()",
    "DeduplicateWithinWatermark": "dropDuplicatesWithinWatermark()",
    "CurrentDate": "current_date()",
    "CurrentTimestamp": "current_timestamp()",
    "CurrentTimestampLike": "current_timestamp()",
    "CurrentBatchTimestamp": "current_timestamp()",
    "CurrentTime": "current_time()",
    "LocalTimestamp": "localtimestamp()",
    "Now": "now()",
    "UnresolvedRelation": "a table that is not known",
}
"""Nodes of a plan of which Spark says nothing, and what makes them."""

SKETCHES = re.compile(r"ApproxTopK\w*|(Hll|Kll|Theta|Tuple)\w*Agg\w*")
"""Classes of sketches, which hang on the order in which rows are seen and parts put together."""

CHANCE = re.compile(
    r"\b(rand|randn|random|uuid|shuffle|monotonically_increasing_id|spark_partition_id|input_file_\w+|first|last"
    r"|any_value|collect_list|collect_set|current_date|current_timestamp|current_time|localtimestamp|now|randstr"
    r"|uniform|first_value|last_value|mode|max_by|min_by|approx_percentile|percentile_approx|histogram_numeric"
    r"|listagg|string_agg|array_agg|approx_top_k\w*|hll_\w+_agg|kll_\w+)\(|"
    r"\b(GlobalLimit|LocalLimit|Offset|Tail|Sample|Deduplicate|CollectMetrics|AttachDistributedSequence)\b"
)
"""The same in the plan that a server of Spark Connect writes out."""

OPTIONS = re.compile(
    r"(?i)\b(ignoreCorruptFiles|ignoreMissingFiles|badRecordsPath|inferSchema|DROPMALFORMED|FAILFAST|JDBCRelation)\b"
)
"""Words of readers' options, and of other systems, there."""

WHOLE_PLANS = {"spark.sql.debug.maxToStringFields": "1000000", "spark.sql.maxPlanStringLength": "2000000000"}
"""Settings without which a plan that is written out may lack columns, and what they are made of."""

MUST = "a frame whose rows are the same each time that Spark works them out: write it as Parquet or a table, open that"


def refuse_unstable(frame: Any) -> None:
    """Refuses a frame whose rows may change from one statement to the next."""
    if frame.isStreaming:
        raise BadArgument("data", MUST, "one that is streaming")
    made = _remote(frame) if is_remote(frame) else _classic(frame)
    if made:
        raise BadArgument("data", MUST, f"one with {made}")


def refuse_hidden(session: Any, views: Iterable[str]) -> None:
    """Refuses views of a connected session of ours whose plans have, written out whole, what was cut off before."""
    for name, setting in WHOLE_PLANS.items():
        session.conf.set(name, setting)
    for view in views:
        refuse_unstable(session.table(view))
    for name in WHOLE_PLANS:
        session.conf.unset(name)


def _classic(frame: Any) -> str:
    plan = frame._jdf.queryExecution().analyzed()
    if not all(part.deterministic() for part in parts_of(plan)):
        return "a function such as rand() or first()"
    refuse_leaves(plan)
    classes = {name.rpartition(".")[2] for name in re.findall(r'"class":"([^"]+)"', plan.toJSON())}
    listed = next((made for name, made in UNSTABLE.items() if name in classes), "")
    return listed or ("a sketch" if any(map(SKETCHES.fullmatch, classes)) else "")


def _remote(frame: Any) -> str:
    """What is written out also holds names of columns: one called `rand(` is refused, and nothing is let through."""
    shown = _shown(frame)
    if '"deterministic": false' in shown:
        return "a function of Python such as rand()"
    for reader in _readers(json.loads(shown)):
        kind, options = str(reader.get("format", "")).lower(), reader.get("options", {})
        refuse_format(kind)
        refuse_reader(kind, options)
        if kind in GUESSED and not reader.get("schema"):
            refuse_guessed(["one that is guessed"])
    text = frame._explain_string(extended=True).rpartition("== Optimized Logical Plan ==")[0]
    made = CHANCE.search(text) or OPTIONS.search(text)
    return made.group(0) + (")" if made.group(0).endswith("(") else "") if made else ""


def _readers(part: Any) -> Iterator[dict[str, Any]]:
    """The readers in what a client sends to a server."""
    if isinstance(part, dict):
        if isinstance(part.get("dataSource"), dict):
            yield part["dataSource"]
        for one in part.values():
            yield from _readers(one)
    elif isinstance(part, list):
        for one in part:
            yield from _readers(one)


def _shown(frame: Any) -> Any:
    from google.protobuf import json_format  # type: ignore[import-untyped]

    return json_format.MessageToJson(
        frame._plan.to_proto(frame.sparkSession.client), always_print_fields_with_no_presence=True
    )

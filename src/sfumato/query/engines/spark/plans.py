"""Lazy plans: which frames have the same rows each time that Spark works them out, and which have not.

Spark computes a frame anew for every statement, and parts of it once more when a task is tried again. All statements of
a question must see the same rows, and so must a task that is repeated. So frames are refused whose rows hang on chance,
on the clock, or on which rows come first; whoever has one writes it down (as Parquet, or as a table), and opens that.
"""

from __future__ import annotations

import re
from typing import Any

from sfumato.errors import BadArgument
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
    "First": "first()",
    "Last": "last()",
    "ListAgg": "listagg()",
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

CHANCE = re.compile(
    r"\b(rand|randn|random|uuid|shuffle|monotonically_increasing_id|spark_partition_id|input_file_\w+|first|last"
    r"|any_value|collect_list|collect_set|current_date|current_timestamp|current_time|localtimestamp|now|randstr"
    r"|uniform|first_value|last_value|mode|approx_percentile)\(|"
    r"\b(GlobalLimit|LocalLimit|Offset|Tail|Sample|Deduplicate|CollectMetrics)\b"
)
"""The same in the plan that a server of Spark Connect writes out."""

MUST = "a frame whose rows are the same each time that Spark works them out: write it as Parquet or a table, open that"


def refuse_unstable(frame: Any) -> None:
    """Refuses a frame whose rows may change from one statement to the next."""
    if frame.isStreaming:
        raise BadArgument("data", MUST, "one that is streaming")
    made = _remote(frame) if is_remote(frame) else _classic(frame)
    if made:
        raise BadArgument("data", MUST, f"one with {made}")


def _classic(frame: Any) -> str:
    plan = frame._jdf.queryExecution().analyzed()
    if not plan.deterministic():
        return "a function such as rand() or first()"
    classes = {name.rpartition(".")[2] for name in re.findall(r'"class":"([^"]+)"', plan.toJSON())}
    return next((made for name, made in UNSTABLE.items() if name in classes), "")


def _remote(frame: Any) -> str:
    """What is written out also holds names of columns: one called `rand(` is refused, and nothing is let through."""
    if '"deterministic": false' in _shown(frame):
        return "a function of Python such as rand()"
    made = CHANCE.search(frame._explain_string(extended=True).partition("== Optimized Logical Plan ==")[0])
    return made.group(0) + (")" if made.group(0).endswith("(") else "") if made else ""


def _shown(frame: Any) -> Any:
    from google.protobuf import json_format  # type: ignore[import-untyped]

    return json_format.MessageToJson(
        frame._plan.to_proto(frame.sparkSession.client), always_print_fields_with_no_presence=True
    )

"""OpenDP through Polars, with rows or with people as the unit.

It is given every advantage that its documents name: the keys are public, groups have a known largest length (so that
float sums need little slack), and errors are those of a mean that is the quotient of the sum and the count, which costs
nothing more. Times are of the whole question, as its documents ask it, and of that cheaper one too. Its way to sample
groups fails on a single column in this version, so the first ones are kept; by its own code it keeps one group fewer
than it is asked for and charged with.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from contenders.query.cases import (
    DELTA,
    EPSILON,
    LONGEST,
    MILLION,
    MOST_GROUPS,
    MOST_ROWS,
    SHORTEST,
    SITES,
    SIZES,
    Array,
    Size,
)
from contenders.query.trials import report_errors
from contenders.query.turns import in_turns, report_memory
from side_by_side.stopwatch import report_version

dp: Any = import_module("opendp.prelude")
"""It puts methods onto the expressions of Polars, which no type checker can know."""

ROUNDS = 2


def answer(size: Size, folder: Path, *, people: bool, mean: bool = False) -> Any:
    """Asks once and gives the table; with ``mean``, asks for the mean besides the count and the sum."""
    longest = 20 * size.rows // SITES
    minutes: Any = pl.col("minutes").fill_nan(SHORTEST).fill_null(SHORTEST)
    query = dp.Context.compositor(
        data=pl.scan_parquet(size.visits(folder)),
        privacy_unit=dp.unit_of(contributions=1, identifier="user_id") if people else dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=EPSILON, delta=DELTA),
        split_evenly_over=1,
        margins=[
            dp.polars.Margin(by=[], max_length=2 * size.rows),
            dp.polars.Margin(by=["site"], invariant="keys", max_length=longest, max_groups=SITES),
        ],
    ).query()
    if people:
        query = query.truncate_per_group(MOST_ROWS, by=["site"])
        query = query.truncate_num_groups(MOST_GROUPS, by=["site"], keep="first")
    bounds = SHORTEST, LONGEST
    asked = [dp.len(signed=True).alias("n"), minutes.dp.sum(bounds).alias("s")]
    query = query.group_by("site").agg(*asked, *([minutes.dp.mean(bounds).alias("m")] if mean else []))
    if people:
        query = query.with_keys(pl.LazyFrame({"site": range(SITES)}))
    return query.release().collect().sort("site")


def measured(folder: Path) -> dict[str, Array]:
    """Gives one answer, in the order of sites."""
    found = answer(MILLION, folder, people=True)
    count, total = np.asarray(found["n"]), np.asarray(found["s"])
    return {"count": count, "sum": total, "mean": total / np.maximum(count, 1)}


def main(folder: str, size: str, unit: str) -> None:
    """Takes the best of a few rounds, in which both ways take turns."""
    dp.enable_features("contrib")
    report_version("opendp")
    ask = partial(answer, SIZES[size], Path(folder), people=unit == "people")
    in_turns(size, {unit: partial(ask, mean=True), f"{unit}, mean by hand": ask}, rounds=ROUNDS)
    report_memory(size, unit)
    if (size, unit) == (MILLION.name, "people"):
        report_errors(MILLION, Path(folder), lambda: measured(Path(folder)), times=3)


main(*sys.argv[1:])

"""The question by hand for each engine: what a careful engineer would write there without any library.

Each person's groups are ranked by a hash, and the first few kept; of each kept cell (a person in a group) with too many
rows, the sum is that of its mean row, so many times. Values are whole numbers of a step, so that sums are exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contenders.query.by_hand import END, MIDDLE, PEOPLE, STEP
from contenders.query.cases import LONGEST, MOST_GROUPS, MOST_ROWS, SHORTEST

if TYPE_CHECKING:
    import polars as pl

DUCKDB = PEOPLE

POSTGRES = f"""
WITH cells AS (
  SELECT user_id, site, count(*) AS n, sum(g) AS s FROM (
    SELECT user_id, site, CASE
      WHEN minutes BETWEEN {SHORTEST} AND {LONGEST} THEN CAST(round((minutes - {MIDDLE}) * {STEP}) AS int)
      WHEN minutes > {LONGEST} AND minutes < 'inf'::float8 THEN {END}
      WHEN minutes < {SHORTEST} AND minutes > '-inf'::float8 THEN -{END} END AS g
    FROM {{visits}} WHERE user_id IS NOT NULL) AS moved
  GROUP BY user_id, site),
ranked AS (
  SELECT site, n, s, row_number() OVER (
    PARTITION BY user_id ORDER BY hashint8extended(user_id, site), site) AS rank
  FROM cells)
SELECT site, sum(least(n, {MOST_ROWS})) AS n, sum(CASE WHEN n > {MOST_ROWS} THEN s * {MOST_ROWS} / n ELSE s END) AS s
FROM ranked WHERE rank <= {MOST_GROUPS} GROUP BY site"""

# Dealt out by person once, so that cells, ranks and cuts all happen where the person's rows are.
SPARK = f"""
WITH dealt AS (
  SELECT user_id, site, CASE
    WHEN minutes BETWEEN {SHORTEST}D AND {LONGEST}D THEN CAST(rint((minutes - {MIDDLE}D) * {STEP}) AS int)
    WHEN minutes > {LONGEST}D AND minutes < double('Infinity') THEN {END}
    WHEN minutes < {SHORTEST}D AND minutes > double('-Infinity') THEN -{END} END AS g
  FROM {{visits}} WHERE user_id IS NOT NULL DISTRIBUTE BY user_id),
cells AS (SELECT user_id, site, count(*) AS n, sum(g) AS s FROM dealt GROUP BY user_id, site),
ranked AS (
  SELECT site, n, s, row_number() OVER (PARTITION BY user_id ORDER BY xxhash64(user_id, site), site) AS rank
  FROM cells)
SELECT site, sum(least(n, {MOST_ROWS})) AS n, sum(CASE WHEN n > {MOST_ROWS} THEN s * {MOST_ROWS} div n ELSE s END) AS s
FROM ranked WHERE rank <= {MOST_GROUPS} GROUP BY site"""


def polars(visits: pl.LazyFrame) -> pl.LazyFrame:
    """The question as Polars has it, for its streaming engine."""
    import polars as pl

    minutes = pl.col("minutes")
    inside = ((minutes.clip(SHORTEST, LONGEST) - MIDDLE) * STEP).round().cast(pl.Int32)
    moved = pl.when(minutes.is_finite()).then(inside)
    cells = (
        visits.filter(pl.col("user_id").is_not_null())
        .select("user_id", "site", g=moved)
        .group_by("user_id", "site")
        .agg(n=pl.len(), s=pl.col("g").sum())
    )
    ranked = cells.with_columns(rank=pl.struct("user_id", "site").hash().rank("ordinal").over("user_id"))
    n, s = pl.col("n").cast(pl.Int64), pl.col("s").cast(pl.Int64)
    return (
        ranked.filter(pl.col("rank") <= MOST_GROUPS)
        .group_by("site")
        .agg(
            n=n.clip(upper_bound=MOST_ROWS).sum(), s=pl.when(n > MOST_ROWS).then(s * MOST_ROWS // n).otherwise(s).sum()
        )
    )

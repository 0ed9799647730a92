"""The same question in SQL, by hand: what a careful engineer would write for DuckDB without any library."""

from __future__ import annotations

from contenders.query.cases import LONGEST, MOST_GROUPS, MOST_ROWS, SHORTEST

STEP = 1024
"""Minutes are whole numbers of 1 / 1024, counted from the middle of their bounds."""

MIDDLE = (SHORTEST + LONGEST) / 2
END = int((LONGEST - MIDDLE) * STEP)

PLAIN = "SELECT site, count(*) AS n, sum(minutes) AS s, avg(minutes) AS m FROM {visits} GROUP BY site"

# The order of the branches is for speed: nearly all values are within their bounds. A NaN is above every number.
GRID = f"""CASE WHEN minutes BETWEEN {SHORTEST}::DOUBLE AND {LONGEST}::DOUBLE
         THEN TRY_CAST((minutes - {MIDDLE}::DOUBLE) * {STEP}.0::DOUBLE AS INTEGER)
         WHEN minutes > {LONGEST}::DOUBLE AND minutes < 'inf'::DOUBLE THEN {END}
         WHEN minutes < {SHORTEST}::DOUBLE AND minutes > '-inf'::DOUBLE THEN -{END} END"""

FIXED = f"""SELECT site, count(*) AS n, count(g) AS c, sum(g) AS s
FROM (SELECT site, {GRID} AS g FROM {{visits}}) GROUP BY site"""

# Each person's groups are ranked by a hash, and the first few kept. The narrower what is sorted, the faster: hence 32
# bits of the hash, and the site itself where two hashes are equal. Ranks say which cells (a person in a group) have too
# many rows, so that only those few are aggregated one by one, and all others at once.
PEOPLE = f"""
WITH kept AS MATERIALIZED (
  SELECT user_id, site, g, place FROM (
    SELECT user_id, site, g, dense_rank() OVER own AS rank, row_number() OVER own - rank() OVER own AS place
    FROM (SELECT user_id, site, {GRID} AS g, CAST(hash(user_id, site) >> 32 AS UINTEGER) AS h FROM {{visits}})
    WINDOW own AS (PARTITION BY user_id ORDER BY h, site))
  WHERE rank <= {MOST_GROUPS}),
large AS (SELECT DISTINCT user_id, site FROM kept WHERE place = {MOST_ROWS}),
surplus AS (
  SELECT site, {MOST_ROWS} - n AS n, s * {MOST_ROWS} // n - s AS s
  FROM (SELECT site, count(*) AS n, sum(g) AS s FROM kept SEMI JOIN large USING (user_id, site) GROUP BY user_id, site))
SELECT site, sum(n) AS n, sum(s) AS s
FROM (SELECT site, count(*) AS n, sum(g) AS s FROM kept GROUP BY site UNION ALL SELECT * FROM surplus)
GROUP BY site"""

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

# Other forms of questions, about bounded people: what an expert writes who wants bounds that hold for certain, so that
# values with the same hash do not come in together.

COUNT = f"""SELECT sum(least(n, {MOST_ROWS})) AS n
FROM (SELECT count(*) AS n FROM {{visits}} WHERE user_id IS NOT NULL GROUP BY user_id)"""

DAYS = f"""
WITH kept AS MATERIALIZED (
  SELECT user_id, day, place FROM (
    SELECT user_id, day, dense_rank() OVER own AS rank, row_number() OVER own - rank() OVER own AS place
    FROM (SELECT user_id, day, CAST(hash(user_id, day) >> 32 AS UINTEGER) AS h
          FROM {{visits}} WHERE user_id IS NOT NULL)
    WINDOW own AS (PARTITION BY user_id ORDER BY h, day))
  WHERE rank <= {MOST_GROUPS} AND place < {MOST_ROWS})
SELECT day, count(*) AS n FROM kept GROUP BY day"""

BINS = 1 << 14
BIN = f"""CASE WHEN minutes BETWEEN {SHORTEST}::DOUBLE AND {LONGEST}::DOUBLE
         THEN least(CAST(floor((minutes - {SHORTEST}) * {BINS / (LONGEST - SHORTEST)}) AS INTEGER), {BINS - 1})
         WHEN minutes > {LONGEST}::DOUBLE AND minutes < 'inf'::DOUBLE THEN {BINS - 1}
         WHEN minutes < {SHORTEST}::DOUBLE AND minutes > '-inf'::DOUBLE THEN 0 END"""

# The same minutes twice are two rows: a number tells them apart, so that which rows are kept is as if drawn at random.
MEDIAN = f"""
SELECT b, count(*) AS n FROM (
  SELECT b, row_number() OVER (PARTITION BY user_id ORDER BY hash(user_id, b, twin), b, twin) AS rank FROM (
    SELECT user_id, b, unnest(range(count(*))) AS twin
    FROM (SELECT user_id, {BIN} AS b FROM {{visits}} WHERE user_id IS NOT NULL) GROUP BY user_id, b))
WHERE rank <= {MOST_ROWS} GROUP BY b"""

DISTINCT = f"""
SELECT count(DISTINCT page) AS n FROM (
  SELECT page, dense_rank() OVER (PARTITION BY user_id ORDER BY hash(user_id, page), page) AS rank
  FROM {{visits}} WHERE user_id IS NOT NULL AND page IS NOT NULL)
WHERE rank <= {MOST_ROWS}"""

JOIN = f"""
SELECT region, sum(least(n, {MOST_ROWS})) AS n FROM (
  SELECT region, n, row_number() OVER (PARTITION BY user_id ORDER BY hash(user_id, region), region) AS rank FROM (
    SELECT user_id, region, count(*) AS n FROM {{visits}} JOIN sites USING (site)
    WHERE user_id IS NOT NULL GROUP BY user_id, region))
WHERE rank <= {MOST_GROUPS} GROUP BY region"""

-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For ClickHouse 24.12 or later: written, not run here.
-- Numbers, days and times that its types do not hold are not in its tables, either.
-- Columns are taken to have these types:
--   visits: user_id Nullable(Int64), day Nullable(String), note Nullable(String), began Nullable(Date32), age Nullable(Int64), minutes Nullable(Float64)

-- Numbers in all
WITH t1 AS (
  SELECT
    "user_id" AS c0,
    "day" AS c1,
    "note" AS c2,
    "began" AS c3,
    "age" AS c4,
    "minutes" AS c5
  FROM "visits"
)
SELECT
  *
FROM (
  SELECT
    count(DISTINCT v1) AS n0
  FROM (
    SELECT
      u0,
      f0 AS v1
    FROM (
      SELECT
        u0,
        f0
      FROM (
        SELECT
          *,
          row_number() OVER (PARTITION BY u0 ORDER BY sipHash64(toString(tuple(u0, f0, j))), f0, j) AS r
        FROM (
          SELECT
            u0,
            f0,
            ROW_NUMBER() OVER (PARTITION BY u0, f0 ORDER BY u0, f0) AS j
          FROM (
            SELECT
              w0.u0,
              w0.f0
            FROM (
              SELECT
                substringUTF8(c2, 1, 1000) AS f0,
                c0 AS u0
              FROM (
                SELECT
                  *
                FROM t1
              ) AS q
            ) AS w0
            WHERE
              NOT (
                w0.u0 IS NULL
              )
          ) AS q
        ) AS q
      ) AS q
      WHERE
        r <= 2
    ) AS q
  ) AS q
) AS q
SETTINGS join_use_nulls = 1, prefer_column_name_to_alias = 1;

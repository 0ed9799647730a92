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
    count(*) AS n0
  FROM (
    SELECT
      u0
    FROM (
      SELECT
        u0,
        f0,
        f1
      FROM (
        SELECT
          u0,
          k0 AS f0,
          CASE
            WHEN x5 > CAST('-inf' AS Nullable(Float64)) AND x5 < CAST('inf' AS Nullable(Float64))
            THEN x5
          END AS f1
        FROM (
          SELECT
            *,
            CAST((
              CAST(g4 AS Nullable(Float64)) / CAST(8589934592.0E0 AS Nullable(Float64))
            ) AS Nullable(Float64)) AS x5
          FROM (
            SELECT
              u0,
              k0,
              COALESCE(SUM(CAST(v3 AS Nullable(Int256))), 0) AS g4
            FROM (
              SELECT
                u0,
                f0 AS k0,
                accurateCastOrNull(
                  roundBankers((
                    f1 * CAST(8589934592.0E0 AS Nullable(Float64))
                  )),
                  'Nullable(Int64)'
                ) AS v3
              FROM (
                SELECT
                  w0.u0,
                  w0.f0,
                  w0.f1
                FROM (
                  SELECT
                    c0 AS f0,
                    CASE
                      WHEN c5 BETWEEN x1 AND x2
                      THEN c5
                      WHEN c5 > x2 AND c5 < CAST('inf' AS Nullable(Float64))
                      THEN x2
                      WHEN c5 < x1 AND c5 > CAST('-inf' AS Nullable(Float64))
                      THEN x1
                    END AS f1,
                    c0 AS u0
                  FROM (
                    SELECT
                      *,
                      CAST(0.0E0 AS Nullable(Float64)) AS x1,
                      CAST(90.5E0 AS Nullable(Float64)) AS x2
                    FROM (
                      SELECT
                        *
                      FROM t1
                    ) AS q
                  ) AS q
                ) AS w0
                WHERE
                  NOT (
                    w0.u0 IS NULL
                  )
              ) AS q
            ) AS q
            GROUP BY
              u0,
              k0
          ) AS q
        ) AS q
      ) AS q
      WHERE
        (
          f1 > CAST(100.0E0 AS Nullable(Float64))
        )
    ) AS q
  ) AS q
) AS q
SETTINGS join_use_nulls = 1, prefer_column_name_to_alias = 1;

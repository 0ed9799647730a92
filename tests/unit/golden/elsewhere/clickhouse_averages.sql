-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For ClickHouse 24.12 or later: written, not run here.
-- Numbers, days and times that its types do not hold are not in its tables, either.
-- Columns are taken to have these types:
--   visits: user_id Nullable(Int64), day Nullable(String), note Nullable(String), began Nullable(Date32), age Nullable(Int64), minutes Nullable(Float64)

-- Numbers for each day
WITH t1 AS (
  SELECT
    "user_id" AS c0,
    "day" AS c1,
    "note" AS c2,
    "began" AS c3,
    "age" AS c4,
    "minutes" AS c5
  FROM "visits"
), list5 AS (
  SELECT
    CAST(NULL AS Nullable(String)) AS k0,
    0 AS place
  UNION ALL
  SELECT
    CAST('Mon' AS Nullable(String)) AS k0,
    1 AS place
  UNION ALL
  SELECT
    CAST('it''s \\ Tue' AS Nullable(String)) AS k0,
    2 AS place
)
SELECT
  *
FROM (
  WITH kept AS (
    SELECT
      u0,
      place,
      v1,
      i
    FROM (
      SELECT
        *,
        dense_rank() OVER (PARTITION BY u0 ORDER BY sipHash64(toString(tuple(u0, place))), place) AS r,
        row_number() OVER (PARTITION BY u0 ORDER BY sipHash64(toString(tuple(u0, place))), place) - rank() OVER (PARTITION BY u0 ORDER BY sipHash64(toString(tuple(u0, place))), place) AS i
      FROM (
        SELECT
          a.u0,
          a.v1,
          b.place
        FROM (
          SELECT
            u0,
            f0 AS k0,
            accurateCastOrNull(
              roundBankers(
                (
                  (
                    f2 - CAST(45.25E0 AS Nullable(Float64))
                  ) * CAST(67108864.0E0 AS Nullable(Float64))
                )
              ),
              'Nullable(Int64)'
            ) AS v1
          FROM (
            SELECT
              w0.u0,
              w0.f0,
              w0.f1,
              w0.f2
            FROM (
              SELECT
                CASE
                  WHEN (
                    c1 IN (CAST('Mon' AS Nullable(String)), CAST('it''s \\ Tue' AS Nullable(String)))
                  )
                  THEN c1
                END AS f0,
                f1 AS f1,
                CASE
                  WHEN c5 BETWEEN x3 AND x4
                  THEN c5
                  WHEN c5 > x4 AND c5 < CAST('inf' AS Nullable(Float64))
                  THEN x4
                  WHEN c5 < x3 AND c5 > CAST('-inf' AS Nullable(Float64))
                  THEN x3
                END AS f2,
                c0 AS u0
              FROM (
                SELECT
                  *,
                  CAST(0.0E0 AS Nullable(Float64)) AS x3,
                  CAST(90.5E0 AS Nullable(Float64)) AS x4
                FROM (
                  SELECT
                    *
                  FROM (
                    SELECT
                      *,
                      CASE WHEN c4 < x1 THEN x1 WHEN c4 > x2 THEN x2 ELSE c4 END AS f1
                    FROM (
                      SELECT
                        *,
                        CAST(0 AS Nullable(Int64)) AS x1,
                        CAST(120 AS Nullable(Int64)) AS x2
                      FROM (
                        SELECT
                          *
                        FROM t1
                      ) AS q
                    ) AS q
                  ) AS q
                  WHERE
                    (
                      (
                        f1 >= CAST(18 AS Nullable(Int64))
                      )
                    )
                ) AS q
              ) AS q
            ) AS w0
            WHERE
              NOT (
                w0.u0 IS NULL
              )
          ) AS q
        ) AS a
        JOIN list5 AS b
          ON a.k0 IS NOT DISTINCT FROM b.k0
      ) AS q
    ) AS q
    WHERE
      r <= 2
  )
  SELECT
    place,
    COALESCE(SUM(CAST(n0 AS Nullable(Int256))), 0) AS n0,
    COALESCE(SUM(CAST(n1 AS Nullable(Int256))), 0) AS n1
  FROM (
    SELECT
      place,
      CAST(count(v1) AS Nullable(Int256)) * 1048576 AS n0,
      COALESCE(SUM(CAST(v1 AS Nullable(Int256))), 0) AS n1
    FROM (
      SELECT
        *
      FROM kept
    ) AS q
    GROUP BY
      place
    UNION ALL
    SELECT
      place,
      COALESCE(
        SUM(
          CAST((
            CAST(CASE
              WHEN every <= 3
              THEN CAST(CAST(c1 AS Nullable(Int256)) * 1048576 AS Nullable(Int256))
              ELSE intDiv(
                (
                  CAST(CAST(c1 AS Nullable(Int256)) * 1048576 AS Nullable(Int256)) * 3
                ),
                CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS Nullable(Int256))
              )
            END AS Nullable(Int256)) - CAST(CAST(c1 AS Nullable(Int256)) * 1048576 AS Nullable(Int256))
          ) AS Nullable(Int256))
        ),
        0
      ) AS n0,
      COALESCE(
        SUM(
          CAST((
            CAST(CASE
              WHEN every <= 3
              THEN CAST(c2 AS Nullable(Int256))
              ELSE intDiv(
                (
                  CAST(c2 AS Nullable(Int256)) * 3
                ),
                CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS Nullable(Int256))
              )
            END AS Nullable(Int256)) - CAST(c2 AS Nullable(Int256))
          ) AS Nullable(Int256))
        ),
        0
      ) AS n1
    FROM (
      SELECT
        *,
        c0 AS every
      FROM (
        SELECT
          u0,
          place,
          count(*) AS c0,
          count(v1) AS c1,
          COALESCE(SUM(CAST(v1 AS Nullable(Int256))), 0) AS c2
        FROM (
          SELECT
            kept.*
          FROM kept
          JOIN (
            SELECT
              u0,
              place
            FROM kept
            WHERE
              i = 3
          ) AS big
            ON kept.u0 IS NOT DISTINCT FROM big.u0 AND kept.place IS NOT DISTINCT FROM big.place
        ) AS q
        GROUP BY
          u0,
          place
      ) AS q
    ) AS q
    GROUP BY
      place
  ) AS q
  GROUP BY
    place
) AS q
ORDER BY
  place NULLS FIRST
SETTINGS join_use_nulls = 1, prefer_column_name_to_alias = 1;

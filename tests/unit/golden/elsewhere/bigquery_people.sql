-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For BigQuery: written, not run here.
-- Columns are taken to have these types:
--   visits: user_id INT64, day STRING, note STRING, began DATE, age INT64, minutes FLOAT64

-- Numbers in all
WITH t1 AS (
  SELECT
    `user_id` AS c0,
    `day` AS c1,
    `note` AS c2,
    `began` AS c3,
    `age` AS c4,
    `minutes` AS c5
  FROM `visits`
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
          CASE WHEN x4 > CAST('-inf' AS FLOAT64) AND x4 < CAST('inf' AS FLOAT64) THEN x4 END AS f1
        FROM (
          SELECT
            *,
            CAST((
              CAST(g3 AS FLOAT64) / CAST(8589934592.0E0 AS FLOAT64)
            ) AS FLOAT64) AS x4
          FROM (
            SELECT
              u0,
              k0,
              COALESCE(SUM(CAST(v2 AS BIGNUMERIC)), 0) AS g3
            FROM (
              SELECT
                u0,
                f0 AS k0,
                CAST((
                  TRUNC(x1) + CASE
                    WHEN ABS(x1 - TRUNC(x1)) > 0.5
                    OR (
                      ABS(x1 - TRUNC(x1)) = 0.5 AND TRUNC(x1) - 2 * TRUNC((
                        TRUNC(x1) / 2
                      )) <> 0
                    )
                    THEN CASE WHEN x1 < 0 THEN -1 ELSE 1 END
                    ELSE 0
                  END
                ) AS INT64) AS v2
              FROM (
                SELECT
                  *,
                  (
                    f1 * CAST(8589934592.0E0 AS FLOAT64)
                  ) AS x1
                FROM (
                  SELECT
                    w0.u0,
                    w0.f0,
                    w0.f1
                  FROM (
                    SELECT
                      c0 AS f0,
                      CASE
                        WHEN c5 BETWEEN CAST(0.0E0 AS FLOAT64) AND CAST(90.5E0 AS FLOAT64)
                        THEN c5
                        WHEN c5 > CAST(90.5E0 AS FLOAT64) AND c5 < CAST('inf' AS FLOAT64)
                        THEN CAST(90.5E0 AS FLOAT64)
                        WHEN c5 < CAST(0.0E0 AS FLOAT64) AND c5 > CAST('-inf' AS FLOAT64)
                        THEN CAST(0.0E0 AS FLOAT64)
                      END AS f1,
                      c0 AS u0
                    FROM (
                      SELECT
                        *
                      FROM t1
                    ) AS q
                  ) AS w0
                  WHERE
                    NOT w0.u0 IS NULL
                ) AS q
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
          f1 > CAST(100.0E0 AS FLOAT64)
        )
    ) AS q
  ) AS q
) AS q;

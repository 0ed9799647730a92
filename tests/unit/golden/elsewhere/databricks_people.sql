-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For Databricks SQL: written, not run here.
-- Columns are taken to have these types:
--   visits: user_id BIGINT, day STRING, note STRING, began DATE, age BIGINT, minutes DOUBLE

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
    COUNT(*) AS n0
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
          CASE WHEN x3 > CAST('-inf' AS DOUBLE) AND x3 < CAST('inf' AS DOUBLE) THEN x3 END AS f1
        FROM (
          SELECT
            *,
            CAST((
              CAST(g2 AS DOUBLE) / CAST(8589934592.0E0 AS DOUBLE)
            ) AS DOUBLE) AS x3
          FROM (
            SELECT
              u0,
              k0,
              COALESCE(SUM(CAST(v1 AS DECIMAL(38, 0))), 0) AS g2
            FROM (
              SELECT
                u0,
                f0 AS k0,
                CAST(RINT((
                  f1 * CAST(8589934592.0E0 AS DOUBLE)
                )) AS BIGINT) AS v1
              FROM (
                SELECT
                  w0.u0,
                  w0.f0,
                  w0.f1
                FROM (
                  SELECT
                    c0 AS f0,
                    CASE
                      WHEN c5 BETWEEN CAST(0.0E0 AS DOUBLE) AND CAST(90.5E0 AS DOUBLE)
                      THEN c5
                      WHEN c5 > CAST(90.5E0 AS DOUBLE) AND c5 < CAST('inf' AS DOUBLE)
                      THEN CAST(90.5E0 AS DOUBLE)
                      WHEN c5 < CAST(0.0E0 AS DOUBLE) AND c5 > CAST('-inf' AS DOUBLE)
                      THEN CAST(0.0E0 AS DOUBLE)
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
            GROUP BY
              u0,
              k0
          ) AS q
        ) AS q
      ) AS q
      WHERE
        (
          f1 > CAST(100.0E0 AS DOUBLE)
        )
    ) AS q
  ) AS q
) AS q;

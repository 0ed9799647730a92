-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For MySQL 8.0.17 or later: written, not run here.
-- For a connection in utf8mb4, with an SQL mode that lets a backslash escape a letter, as it does by itself.
-- Columns are taken to have these types:
--   visits: user_id SIGNED, day CHAR, note CHAR, began DATE, age SIGNED, minutes DOUBLE

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
          CAST((
            CAST(g3 AS DOUBLE) / CAST(8589934592.0E0 AS DOUBLE)
          ) AS DOUBLE) AS f1
        FROM (
          SELECT
            u0,
            k0,
            COALESCE(SUM(CAST(v2 AS DECIMAL(65, 0))), 0) AS g3
          FROM (
            SELECT
              u0,
              f0 AS k0,
              CAST((
                TRUNCATE(x1, 0) + CASE
                  WHEN ABS(x1 - TRUNCATE(x1, 0)) > 0.5
                  OR (
                    ABS(x1 - TRUNCATE(x1, 0)) = 0.5
                    AND TRUNCATE(x1, 0) - 2 * TRUNCATE((
                      TRUNCATE(x1, 0) / 2
                    ), 0) <> 0
                  )
                  THEN CASE WHEN x1 < 0 THEN -1 ELSE 1 END
                  ELSE 0
                END
              ) AS SIGNED) AS v2
            FROM (
              SELECT
                *,
                (
                  f1 * CAST(8589934592.0E0 AS DOUBLE)
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
                      WHEN c5 < CAST(0.0E0 AS DOUBLE)
                      THEN CAST(0.0E0 AS DOUBLE)
                      WHEN c5 > CAST(90.5E0 AS DOUBLE)
                      THEN CAST(90.5E0 AS DOUBLE)
                      ELSE c5
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
      WHERE
        (
          f1 > CAST(100.0E0 AS DOUBLE)
        )
    ) AS q
  ) AS q
) AS q;

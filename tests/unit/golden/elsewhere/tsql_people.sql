-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For SQL Server 2022 or later: written, not run here.
-- Texts are compared without the blanks at their ends: only categories are read, without such blanks.
-- Columns are taken to have these types:
--   visits: user_id BIGINT, day NVARCHAR(1000), note NVARCHAR(1000), began DATE, age BIGINT, minutes FLOAT

-- Numbers in all
WITH t1 AS (
  SELECT
    [user_id] AS c0,
    [day] AS c1,
    [note] AS c2,
    [began] AS c3,
    [age] AS c4,
    [minutes] AS c5
  FROM [visits]
)
SELECT
  *
FROM (
  SELECT
    COUNT_BIG(*) AS n0
  FROM (
    SELECT
      u0 AS u0
    FROM (
      SELECT
        u0 AS u0,
        f0 AS f0,
        f1 AS f1
      FROM (
        SELECT
          u0 AS u0,
          k0 AS f0,
          CAST((
            CAST(g3 AS FLOAT) / CAST(8589934592.0E0 AS FLOAT)
          ) AS FLOAT) AS f1
        FROM (
          SELECT
            u0 AS u0,
            k0 AS k0,
            COALESCE(SUM(CAST(v2 AS NUMERIC(38, 0))), 0) AS g3
          FROM (
            SELECT
              u0 AS u0,
              f0 AS k0,
              CAST((
                ROUND(x1, 0, 1) + CASE
                  WHEN ABS(x1 - ROUND(x1, 0, 1)) > 0.5
                  OR (
                    ABS(x1 - ROUND(x1, 0, 1)) = 0.5
                    AND ROUND(x1, 0, 1) - 2 * ROUND((
                      ROUND(x1, 0, 1) / 2
                    ), 0, 1) <> 0
                  )
                  THEN CASE WHEN x1 < 0 THEN -1 ELSE 1 END
                  ELSE 0
                END
              ) AS BIGINT) AS v2
            FROM (
              SELECT
                *,
                (
                  f1 * CAST(8589934592.0E0 AS FLOAT)
                ) AS x1
              FROM (
                SELECT
                  w0.u0 AS u0,
                  w0.f0 AS f0,
                  w0.f1 AS f1
                FROM (
                  SELECT
                    c0 AS f0,
                    CASE
                      WHEN c5 < CAST(0.0E0 AS FLOAT)
                      THEN CAST(0.0E0 AS FLOAT)
                      WHEN c5 > CAST(90.5E0 AS FLOAT)
                      THEN CAST(90.5E0 AS FLOAT)
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
          f1 > CAST(100.0E0 AS FLOAT)
        )
    ) AS q
  ) AS q
) AS q;

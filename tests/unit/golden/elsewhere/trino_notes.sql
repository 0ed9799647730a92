-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For Trino: written, not run here.
-- Columns are taken to have these types:
--   visits: user_id BIGINT, day VARCHAR, note VARCHAR, began DATE, age BIGINT, minutes DOUBLE

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
    COUNT(DISTINCT v1) AS n0
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
          ROW_NUMBER() OVER (
            PARTITION BY u0
            ORDER BY XXHASH64(TO_UTF8(JSON_FORMAT(CAST(ROW(u0, f0, j) AS JSON)))), f0, j
          ) AS r
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
                SUBSTR(c2, 1, 1000) AS f0,
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
      WHERE
        r <= 2
    ) AS q
  ) AS q
) AS q;

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
          row_number() OVER (
            PARTITION BY u0
            ORDER BY CASE
              WHEN FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(u0, f0, j))) IS NULL
              THEN 0
              ELSE 1
            END ASC, FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(u0, f0, j))) ASC, CASE WHEN f0 IS NULL THEN 1 ELSE 0 END ASC, f0 ASC, CASE WHEN j IS NULL THEN 0 ELSE 1 END ASC, j ASC
          ) AS r
        FROM (
          SELECT
            u0,
            f0,
            ROW_NUMBER() OVER (
              PARTITION BY TO_JSON_STRING(STRUCT(u0, f0))
              ORDER BY CASE WHEN u0 IS NULL THEN 0 ELSE 1 END ASC, u0 ASC, CASE WHEN f0 IS NULL THEN 0 ELSE 1 END ASC, f0 ASC
            ) AS j
          FROM (
            SELECT
              w0.u0,
              w0.f0
            FROM (
              SELECT
                LEFT(c2, 1000) AS f0,
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

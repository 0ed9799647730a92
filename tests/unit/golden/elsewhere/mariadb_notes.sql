-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For MariaDB 10.5 or later: written, not run here.
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
            ORDER BY CASE WHEN SHA2(CONCAT_WS('|', '', u0, f0, j), 256) IS NULL THEN 0 ELSE 1 END ASC, SHA2(CONCAT_WS('|', '', u0, f0, j), 256) ASC, CASE WHEN f0 IS NULL THEN 1 ELSE 0 END ASC, f0 ASC, CASE WHEN j IS NULL THEN 0 ELSE 1 END ASC, j ASC
          ) AS r
        FROM (
          SELECT
            u0,
            f0,
            ROW_NUMBER() OVER (
              PARTITION BY u0, f0
              ORDER BY CASE WHEN u0 IS NULL THEN 0 ELSE 1 END ASC, u0 ASC, CASE WHEN f0 IS NULL THEN 0 ELSE 1 END ASC, f0 ASC
            ) AS j
          FROM (
            SELECT
              w0.u0,
              w0.f0
            FROM (
              SELECT
                LEFT(CAST(c2 AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_nopad_bin, 1000) AS f0,
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

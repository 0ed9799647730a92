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
    COUNT(*) AS n0
  FROM (
    SELECT
      u0
    FROM (
      SELECT
        u0
      FROM (
        SELECT
          *,
          ROW_NUMBER() OVER (
            PARTITION BY u0
            ORDER BY CASE WHEN SHA2(CONCAT_WS('|', '', u0, j), 256) IS NULL THEN 0 ELSE 1 END ASC, SHA2(CONCAT_WS('|', '', u0, j), 256) ASC, CASE WHEN j IS NULL THEN 0 ELSE 1 END ASC, j ASC
          ) AS r
        FROM (
          SELECT
            u0,
            ROW_NUMBER() OVER (PARTITION BY u0 ORDER BY CASE WHEN u0 IS NULL THEN 0 ELSE 1 END ASC, u0 ASC) AS j
          FROM (
            SELECT
              w0.u0
            FROM (
              SELECT
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
        r <= 3
    ) AS q
  ) AS q
) AS q;

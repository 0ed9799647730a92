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
        u0 AS u0
      FROM (
        SELECT
          *,
          ROW_NUMBER() OVER (
            PARTITION BY u0
            ORDER BY CASE
              WHEN HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', u0, j))) IS NULL
              THEN 0
              ELSE 1
            END ASC, HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', u0, j))) ASC, CASE WHEN j IS NULL THEN 0 ELSE 1 END ASC, j ASC
          ) AS r
        FROM (
          SELECT
            u0 AS u0,
            ROW_NUMBER() OVER (PARTITION BY u0 ORDER BY CASE WHEN u0 IS NULL THEN 0 ELSE 1 END ASC, u0 ASC) AS j
          FROM (
            SELECT
              w0.u0 AS u0
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

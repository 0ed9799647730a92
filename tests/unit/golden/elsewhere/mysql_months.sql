-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For MySQL 8.0.17 or later: written, not run here.
-- For a connection in utf8mb4, with an SQL mode that lets a backslash escape a letter, as it does by itself.
-- Columns are taken to have these types:
--   visits: user_id SIGNED, day CHAR, note CHAR, began DATE, age SIGNED, minutes DOUBLE

-- Numbers for each month
WITH t1 AS (
  SELECT
    `user_id` AS c0,
    `day` AS c1,
    `note` AS c2,
    `began` AS c3,
    `age` AS c4,
    `minutes` AS c5
  FROM `visits`
), list1 AS (
  SELECT
    CAST(NULL AS DATE) AS k0,
    0 AS place
  UNION ALL
  SELECT
    CAST('2026-01-01' AS DATE) AS k0,
    1 AS place
  UNION ALL
  SELECT
    CAST('2026-02-01' AS DATE) AS k0,
    2 AS place
  UNION ALL
  SELECT
    CAST('2026-03-01' AS DATE) AS k0,
    3 AS place
), kept AS (
  SELECT
    u0,
    k0,
    v1,
    i
  FROM (
    SELECT
      *,
      DENSE_RANK() OVER (
        PARTITION BY u0
        ORDER BY CASE WHEN SHA2(CONCAT_WS('|', '', u0, k0), 256) IS NULL THEN 0 ELSE 1 END ASC, SHA2(CONCAT_WS('|', '', u0, k0), 256) ASC, CASE WHEN k0 IS NULL THEN 1 ELSE 0 END ASC, k0 ASC
      ) AS r,
      ROW_NUMBER() OVER (
        PARTITION BY u0
        ORDER BY CASE WHEN SHA2(CONCAT_WS('|', '', u0, k0), 256) IS NULL THEN 0 ELSE 1 END ASC, SHA2(CONCAT_WS('|', '', u0, k0), 256) ASC, CASE WHEN k0 IS NULL THEN 1 ELSE 0 END ASC, k0 ASC
      ) - RANK() OVER (
        PARTITION BY u0
        ORDER BY CASE WHEN SHA2(CONCAT_WS('|', '', u0, k0), 256) IS NULL THEN 0 ELSE 1 END ASC, SHA2(CONCAT_WS('|', '', u0, k0), 256) ASC, CASE WHEN k0 IS NULL THEN 1 ELSE 0 END ASC, k0 ASC
      ) AS i
    FROM (
      SELECT
        u0,
        CAST(CAST(DATE_SUB(
          CAST(CAST(f0 AS DATE) AS DATE),
          INTERVAL (
            DAYOFMONTH(CAST(f0 AS DATE)) - 1
          ) DAY
        ) AS DATE) AS DATE) AS k0,
        CASE WHEN (
          f1 > CAST(30.5E0 AS DOUBLE)
        ) THEN 1 END AS v1
      FROM (
        SELECT
          w0.u0,
          w0.f0,
          w0.f1
        FROM (
          SELECT
            CASE
              WHEN c3 BETWEEN CAST('2026-01-01' AS DATE) AND CAST('2026-03-31' AS DATE)
              THEN c3
            END AS f0,
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
  WHERE
    r <= 1
)
SELECT
  *
FROM (
  SELECT
    b.place,
    a.*
  FROM (
    SELECT
      k0,
      COALESCE(SUM(CAST(n0 AS DECIMAL(65, 0))), 0) AS n0
    FROM (
      SELECT
        k0,
        CAST(COUNT(v1) AS DECIMAL(65, 0)) * 1048576 AS n0
      FROM (
        SELECT
          *
        FROM kept
      ) AS q
      GROUP BY
        k0
      UNION ALL
      SELECT
        k0,
        COALESCE(
          SUM(
            CAST((
              CAST(CASE
                WHEN every <= 2
                THEN CAST(CAST(c1 AS DECIMAL(65, 0)) * 1048576 AS DECIMAL(65, 0))
                ELSE (
                  (
                    (
                      CAST(CAST(c1 AS DECIMAL(65, 0)) * 1048576 AS DECIMAL(65, 0)) * 2
                    ) - (
                      CAST(CAST(c1 AS DECIMAL(65, 0)) * 1048576 AS DECIMAL(65, 0)) * 2
                    ) % CAST(CASE WHEN every > 2 THEN every ELSE 2 END AS DECIMAL(65, 0))
                  ) / CAST(CASE WHEN every > 2 THEN every ELSE 2 END AS DECIMAL(65, 0))
                )
              END AS DECIMAL(65, 0)) - CAST(CAST(c1 AS DECIMAL(65, 0)) * 1048576 AS DECIMAL(65, 0))
            ) AS DECIMAL(65, 0))
          ),
          0
        ) AS n0
      FROM (
        SELECT
          *,
          c0 AS every
        FROM (
          SELECT
            u0,
            k0,
            COUNT(*) AS c0,
            COUNT(v1) AS c1
          FROM (
            SELECT
              kept.*
            FROM kept
            JOIN (
              SELECT
                u0,
                k0
              FROM kept
              WHERE
                i = 2
            ) AS big
              ON kept.u0 <=> big.u0 AND kept.k0 <=> big.k0
          ) AS q
          GROUP BY
            u0,
            k0
        ) AS q
      ) AS q
      GROUP BY
        k0
    ) AS q
    GROUP BY
      k0
  ) AS a
  JOIN list1 AS b
    ON a.k0 <=> b.k0
) AS q
ORDER BY
  CASE WHEN place IS NULL THEN 0 ELSE 1 END ASC,
  place ASC;

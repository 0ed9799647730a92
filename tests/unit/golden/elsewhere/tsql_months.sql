-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For SQL Server 2022 or later: written, not run here.
-- Texts are compared without the blanks at their ends: only categories are read, without such blanks.
-- Columns are taken to have these types:
--   visits: user_id BIGINT, day NVARCHAR(1000), note NVARCHAR(1000), began DATE, age BIGINT, minutes FLOAT

-- Numbers for each month
WITH t1 AS (
  SELECT
    [user_id] AS c0,
    [day] AS c1,
    [note] AS c2,
    [began] AS c3,
    [age] AS c4,
    [minutes] AS c5
  FROM [visits]
), list1 AS (
  SELECT
    CAST(k0 AS DATE) AS k0,
    place AS place
  FROM (VALUES
    (NULL, 0),
    (N'2026-01-01', 1),
    (N'2026-02-01', 2),
    (N'2026-03-01', 3)) AS v(k0, place)
), kept AS (
  SELECT
    u0 AS u0,
    k0 AS k0,
    v1 AS v1,
    i AS i
  FROM (
    SELECT
      *,
      DENSE_RANK() OVER (
        PARTITION BY u0
        ORDER BY CASE
          WHEN HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', u0, k0))) IS NULL
          THEN 0
          ELSE 1
        END ASC, HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', u0, k0))) ASC, CASE WHEN k0 IS NULL THEN 1 ELSE 0 END ASC, k0 ASC
      ) AS r,
      ROW_NUMBER() OVER (
        PARTITION BY u0
        ORDER BY CASE
          WHEN HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', u0, k0))) IS NULL
          THEN 0
          ELSE 1
        END ASC, HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', u0, k0))) ASC, CASE WHEN k0 IS NULL THEN 1 ELSE 0 END ASC, k0 ASC
      ) - RANK() OVER (
        PARTITION BY u0
        ORDER BY CASE
          WHEN HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', u0, k0))) IS NULL
          THEN 0
          ELSE 1
        END ASC, HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', u0, k0))) ASC, CASE WHEN k0 IS NULL THEN 1 ELSE 0 END ASC, k0 ASC
      ) AS i
    FROM (
      SELECT
        u0 AS u0,
        CAST(CAST(DATETRUNC(MONTH, CAST(f0 AS DATE)) AS DATE) AS DATE) AS k0,
        CASE WHEN (
          f1 > CAST(30.5E0 AS FLOAT)
        ) THEN 1 END AS v1
      FROM (
        SELECT
          w0.u0 AS u0,
          w0.f0 AS f0,
          w0.f1 AS f1
        FROM (
          SELECT
            CASE
              WHEN c3 BETWEEN CAST(N'2026-01-01' AS DATE) AND CAST(N'2026-03-31' AS DATE)
              THEN c3
            END AS f0,
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
  WHERE
    r <= 1
)
SELECT
  *
FROM (
  SELECT
    b.place AS place,
    a.*
  FROM (
    SELECT
      k0 AS k0,
      COALESCE(SUM(CAST(n0 AS NUMERIC(38, 0))), 0) AS n0
    FROM (
      SELECT
        k0,
        CAST(COUNT_BIG(v1) AS NUMERIC(38, 0)) * 1048576 AS n0
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
                THEN CAST(CAST(c1 AS NUMERIC(38, 0)) * 1048576 AS NUMERIC(38, 0))
                ELSE (
                  (
                    (
                      CAST(CAST(c1 AS NUMERIC(38, 0)) * 1048576 AS NUMERIC(38, 0)) * 2
                    ) - (
                      CAST(CAST(c1 AS NUMERIC(38, 0)) * 1048576 AS NUMERIC(38, 0)) * 2
                    ) % CAST(CASE WHEN every > 2 THEN every ELSE 2 END AS NUMERIC(38, 0))
                  ) / CAST(CASE WHEN every > 2 THEN every ELSE 2 END AS NUMERIC(38, 0))
                )
              END AS NUMERIC(38, 0)) - CAST(CAST(c1 AS NUMERIC(38, 0)) * 1048576 AS NUMERIC(38, 0))
            ) AS NUMERIC(38, 0))
          ),
          0
        ) AS n0
      FROM (
        SELECT
          *,
          c0 AS every
        FROM (
          SELECT
            u0 AS u0,
            k0 AS k0,
            COUNT_BIG(*) AS c0,
            COUNT_BIG(v1) AS c1
          FROM (
            SELECT
              kept.*
            FROM kept
            JOIN (
              SELECT
                u0 AS u0,
                k0 AS k0
              FROM kept
              WHERE
                i = 2
            ) AS big
              ON kept.u0 IS NOT DISTINCT FROM big.u0 AND kept.k0 IS NOT DISTINCT FROM big.k0
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
    ON a.k0 IS NOT DISTINCT FROM b.k0
) AS q
ORDER BY
  CASE WHEN place IS NULL THEN 0 ELSE 1 END ASC,
  place ASC;

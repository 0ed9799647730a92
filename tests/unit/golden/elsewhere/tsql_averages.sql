-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For SQL Server 2022 or later: written, not run here.
-- Texts are compared without the blanks at their ends: only categories are read, without such blanks.
-- Columns are taken to have these types:
--   visits: user_id BIGINT, day NVARCHAR(1000), note NVARCHAR(1000), began DATE, age BIGINT, minutes FLOAT

-- Numbers for each day
WITH t1 AS (
  SELECT
    [user_id] AS c0,
    [day] AS c1,
    [note] AS c2,
    [began] AS c3,
    [age] AS c4,
    [minutes] AS c5
  FROM [visits]
), list3 AS (
  SELECT
    CAST(k0 AS NVARCHAR(1000)) COLLATE Latin1_General_100_BIN2 AS k0,
    place AS place
  FROM (VALUES
    (NULL, 0),
    (N'Mon', 1),
    (N'it''s \ Tue', 2)) AS v(k0, place)
), kept AS (
  SELECT
    u0 AS u0,
    place AS place,
    v1 AS v1,
    i AS i
  FROM (
    SELECT
      *,
      DENSE_RANK() OVER (
        PARTITION BY u0
        ORDER BY CASE
          WHEN HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', u0, place))) IS NULL
          THEN 0
          ELSE 1
        END ASC, HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', u0, place))) ASC, CASE WHEN place IS NULL THEN 1 ELSE 0 END ASC, place ASC
      ) AS r,
      ROW_NUMBER() OVER (
        PARTITION BY u0
        ORDER BY CASE
          WHEN HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', u0, place))) IS NULL
          THEN 0
          ELSE 1
        END ASC, HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', u0, place))) ASC, CASE WHEN place IS NULL THEN 1 ELSE 0 END ASC, place ASC
      ) - RANK() OVER (
        PARTITION BY u0
        ORDER BY CASE
          WHEN HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', u0, place))) IS NULL
          THEN 0
          ELSE 1
        END ASC, HASHBYTES('SHA2_256', CONCAT('|', CONCAT_WS('|', u0, place))) ASC, CASE WHEN place IS NULL THEN 1 ELSE 0 END ASC, place ASC
      ) AS i
    FROM (
      SELECT
        a.u0 AS u0,
        a.v1 AS v1,
        b.place AS place
      FROM (
        SELECT
          u0 AS u0,
          f0 AS k0,
          CAST((
            ROUND(x2, 0, 1) + CASE
              WHEN ABS(x2 - ROUND(x2, 0, 1)) > 0.5
              OR (
                ABS(x2 - ROUND(x2, 0, 1)) = 0.5
                AND ROUND(x2, 0, 1) - 2 * ROUND((
                  ROUND(x2, 0, 1) / 2
                ), 0, 1) <> 0
              )
              THEN CASE WHEN x2 < 0 THEN -1 ELSE 1 END
              ELSE 0
            END
          ) AS BIGINT) AS v1
        FROM (
          SELECT
            *,
            (
              (
                f2 - CAST(45.25E0 AS FLOAT)
              ) * CAST(67108864.0E0 AS FLOAT)
            ) AS x2
          FROM (
            SELECT
              w0.u0 AS u0,
              w0.f0 AS f0,
              w0.f1 AS f1,
              w0.f2 AS f2
            FROM (
              SELECT
                CASE
                  WHEN (
                    x1 IN (
                      CAST(N'Mon' AS NVARCHAR(1000)) COLLATE Latin1_General_100_BIN2,
                      CAST(N'it''s \ Tue' AS NVARCHAR(1000)) COLLATE Latin1_General_100_BIN2
                    )
                  )
                  THEN x1
                END AS f0,
                f1 AS f1,
                CASE
                  WHEN c5 < CAST(0.0E0 AS FLOAT)
                  THEN CAST(0.0E0 AS FLOAT)
                  WHEN c5 > CAST(90.5E0 AS FLOAT)
                  THEN CAST(90.5E0 AS FLOAT)
                  ELSE c5
                END AS f2,
                c0 AS u0
              FROM (
                SELECT
                  *,
                  CASE
                    WHEN DATALENGTH(c1) = DATALENGTH(RTRIM(c1))
                    THEN CAST(c1 AS NVARCHAR(1000))
                  END COLLATE Latin1_General_100_BIN2 AS x1
                FROM (
                  SELECT
                    *
                  FROM (
                    SELECT
                      *,
                      CASE
                        WHEN c4 < CAST(0 AS BIGINT)
                        THEN CAST(0 AS BIGINT)
                        WHEN c4 > CAST(120 AS BIGINT)
                        THEN CAST(120 AS BIGINT)
                        ELSE c4
                      END AS f1
                    FROM (
                      SELECT
                        *
                      FROM t1
                    ) AS q
                  ) AS q
                  WHERE
                    (
                      (
                        f1 >= CAST(18 AS BIGINT)
                      )
                    )
                ) AS q
              ) AS q
            ) AS w0
            WHERE
              NOT w0.u0 IS NULL
          ) AS q
        ) AS q
      ) AS a
      JOIN list3 AS b
        ON a.k0 IS NOT DISTINCT FROM b.k0
    ) AS q
  ) AS q
  WHERE
    r <= 2
)
SELECT
  *
FROM (
  SELECT
    place AS place,
    COALESCE(SUM(CAST(n0 AS NUMERIC(38, 0))), 0) AS n0,
    COALESCE(SUM(CAST(n1 AS NUMERIC(38, 0))), 0) AS n1
  FROM (
    SELECT
      place,
      CAST(COUNT_BIG(v1) AS NUMERIC(38, 0)) * 1048576 AS n0,
      COALESCE(SUM(CAST(v1 AS NUMERIC(38, 0))), 0) AS n1
    FROM (
      SELECT
        *
      FROM kept
    ) AS q
    GROUP BY
      place
    UNION ALL
    SELECT
      place,
      COALESCE(
        SUM(
          CAST((
            CAST(CASE
              WHEN every <= 3
              THEN CAST(CAST(c1 AS NUMERIC(38, 0)) * 1048576 AS NUMERIC(38, 0))
              ELSE (
                (
                  (
                    CAST(CAST(c1 AS NUMERIC(38, 0)) * 1048576 AS NUMERIC(38, 0)) * 3
                  ) - (
                    CAST(CAST(c1 AS NUMERIC(38, 0)) * 1048576 AS NUMERIC(38, 0)) * 3
                  ) % CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS NUMERIC(38, 0))
                ) / CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS NUMERIC(38, 0))
              )
            END AS NUMERIC(38, 0)) - CAST(CAST(c1 AS NUMERIC(38, 0)) * 1048576 AS NUMERIC(38, 0))
          ) AS NUMERIC(38, 0))
        ),
        0
      ) AS n0,
      COALESCE(
        SUM(
          CAST((
            CAST(CASE
              WHEN every <= 3
              THEN CAST(c2 AS NUMERIC(38, 0))
              ELSE (
                (
                  (
                    CAST(c2 AS NUMERIC(38, 0)) * 3
                  ) - (
                    CAST(c2 AS NUMERIC(38, 0)) * 3
                  ) % CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS NUMERIC(38, 0))
                ) / CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS NUMERIC(38, 0))
              )
            END AS NUMERIC(38, 0)) - CAST(c2 AS NUMERIC(38, 0))
          ) AS NUMERIC(38, 0))
        ),
        0
      ) AS n1
    FROM (
      SELECT
        *,
        c0 AS every
      FROM (
        SELECT
          u0 AS u0,
          place AS place,
          COUNT_BIG(*) AS c0,
          COUNT_BIG(v1) AS c1,
          COALESCE(SUM(CAST(v1 AS NUMERIC(38, 0))), 0) AS c2
        FROM (
          SELECT
            kept.*
          FROM kept
          JOIN (
            SELECT
              u0 AS u0,
              place AS place
            FROM kept
            WHERE
              i = 3
          ) AS big
            ON kept.u0 IS NOT DISTINCT FROM big.u0 AND kept.place IS NOT DISTINCT FROM big.place
        ) AS q
        GROUP BY
          u0,
          place
      ) AS q
    ) AS q
    GROUP BY
      place
  ) AS q
  GROUP BY
    place
) AS q
ORDER BY
  CASE WHEN place IS NULL THEN 0 ELSE 1 END ASC,
  place ASC;

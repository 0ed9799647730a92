-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For Databricks SQL: written, not run here.
-- Columns are taken to have these types:
--   visits: user_id BIGINT, day STRING, note STRING, began DATE, age BIGINT, minutes DOUBLE

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
    CAST(k0 AS DATE) AS k0,
    place
  FROM VALUES
    (NULL, 0),
    ('2026-01-01', 1),
    ('2026-02-01', 2),
    ('2026-03-01', 3) AS v(k0, place)
), kept AS (
  SELECT
    u0,
    k0,
    v1,
    i
  FROM (
    SELECT
      *,
      DENSE_RANK() OVER (PARTITION BY u0 ORDER BY XXHASH64(u0, k0), k0 NULLS LAST) AS r,
      ROW_NUMBER() OVER (PARTITION BY u0 ORDER BY XXHASH64(u0, k0), k0 NULLS LAST) - RANK() OVER (PARTITION BY u0 ORDER BY XXHASH64(u0, k0), k0 NULLS LAST) AS i
    FROM (
      SELECT
        u0,
        CAST(CAST(DATE_TRUNC('MONTH', CAST(f0 AS DATE)) AS DATE) AS DATE) AS k0,
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
              WHEN c5 BETWEEN CAST(0.0E0 AS DOUBLE) AND CAST(90.5E0 AS DOUBLE)
              THEN c5
              WHEN c5 > CAST(90.5E0 AS DOUBLE) AND c5 < CAST('inf' AS DOUBLE)
              THEN CAST(90.5E0 AS DOUBLE)
              WHEN c5 < CAST(0.0E0 AS DOUBLE) AND c5 > CAST('-inf' AS DOUBLE)
              THEN CAST(0.0E0 AS DOUBLE)
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
      COALESCE(SUM(CAST(n0 AS DECIMAL(38, 0))), 0) AS n0
    FROM (
      SELECT
        k0,
        CAST(COUNT(v1) AS DECIMAL(38, 0)) * 1048576 AS n0
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
                THEN CAST(CAST(c1 AS DECIMAL(38, 0)) * 1048576 AS DECIMAL(38, 0))
                ELSE (
                  (
                    (
                      CAST(CAST(c1 AS DECIMAL(38, 0)) * 1048576 AS DECIMAL(38, 0)) * 2
                    ) - (
                      CAST(CAST(c1 AS DECIMAL(38, 0)) * 1048576 AS DECIMAL(38, 0)) * 2
                    ) % CAST(CASE WHEN every > 2 THEN every ELSE 2 END AS DECIMAL(38, 0))
                  ) / CAST(CASE WHEN every > 2 THEN every ELSE 2 END AS DECIMAL(38, 0))
                )
              END AS DECIMAL(38, 0)) - CAST(CAST(c1 AS DECIMAL(38, 0)) * 1048576 AS DECIMAL(38, 0))
            ) AS DECIMAL(38, 0))
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
  place;

-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For Databricks SQL: written, not run here.
-- Columns are taken to have these types:
--   visits: user_id BIGINT, day STRING, note STRING, began DATE, age BIGINT, minutes DOUBLE

-- Numbers for each day
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
    CAST(k0 AS STRING) AS k0,
    place
  FROM VALUES
    (NULL, 0),
    ('Mon', 1),
    ('it\'s \\ Tue', 2) AS v(k0, place)
), kept AS (
  SELECT
    u0,
    place,
    v1,
    i
  FROM (
    SELECT
      *,
      DENSE_RANK() OVER (PARTITION BY u0 ORDER BY XXHASH64(u0, place), place NULLS LAST) AS r,
      ROW_NUMBER() OVER (PARTITION BY u0 ORDER BY XXHASH64(u0, place), place NULLS LAST) - RANK() OVER (PARTITION BY u0 ORDER BY XXHASH64(u0, place), place NULLS LAST) AS i
    FROM (
      SELECT
        a.u0,
        a.v1,
        b.place
      FROM (
        SELECT
          u0,
          f0 AS k0,
          CAST(RINT((
            (
              f2 - CAST(45.25E0 AS DOUBLE)
            ) * CAST(67108864.0E0 AS DOUBLE)
          )) AS BIGINT) AS v1
        FROM (
          SELECT
            w0.u0,
            w0.f0,
            w0.f1,
            w0.f2
          FROM (
            SELECT
              CASE
                WHEN (
                  c1 IN (CAST('Mon' AS STRING), CAST('it\'s \\ Tue' AS STRING))
                )
                THEN c1
              END AS f0,
              f1 AS f1,
              CASE
                WHEN c5 BETWEEN CAST(0.0E0 AS DOUBLE) AND CAST(90.5E0 AS DOUBLE)
                THEN c5
                WHEN c5 > CAST(90.5E0 AS DOUBLE) AND c5 < CAST('inf' AS DOUBLE)
                THEN CAST(90.5E0 AS DOUBLE)
                WHEN c5 < CAST(0.0E0 AS DOUBLE) AND c5 > CAST('-inf' AS DOUBLE)
                THEN CAST(0.0E0 AS DOUBLE)
              END AS f2,
              c0 AS u0
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
          ) AS w0
          WHERE
            NOT w0.u0 IS NULL
        ) AS q
      ) AS a
      JOIN list1 AS b
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
    place,
    COALESCE(SUM(CAST(n0 AS DECIMAL(38, 0))), 0) AS n0,
    COALESCE(SUM(CAST(n1 AS DECIMAL(38, 0))), 0) AS n1
  FROM (
    SELECT
      place,
      CAST(COUNT(v1) AS DECIMAL(38, 0)) * 1048576 AS n0,
      COALESCE(SUM(CAST(v1 AS DECIMAL(38, 0))), 0) AS n1
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
              THEN CAST(CAST(c1 AS DECIMAL(38, 0)) * 1048576 AS DECIMAL(38, 0))
              ELSE (
                (
                  (
                    CAST(CAST(c1 AS DECIMAL(38, 0)) * 1048576 AS DECIMAL(38, 0)) * 3
                  ) - (
                    CAST(CAST(c1 AS DECIMAL(38, 0)) * 1048576 AS DECIMAL(38, 0)) * 3
                  ) % CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS DECIMAL(38, 0))
                ) / CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS DECIMAL(38, 0))
              )
            END AS DECIMAL(38, 0)) - CAST(CAST(c1 AS DECIMAL(38, 0)) * 1048576 AS DECIMAL(38, 0))
          ) AS DECIMAL(38, 0))
        ),
        0
      ) AS n0,
      COALESCE(
        SUM(
          CAST((
            CAST(CASE
              WHEN every <= 3
              THEN CAST(c2 AS DECIMAL(38, 0))
              ELSE (
                (
                  (
                    CAST(c2 AS DECIMAL(38, 0)) * 3
                  ) - (
                    CAST(c2 AS DECIMAL(38, 0)) * 3
                  ) % CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS DECIMAL(38, 0))
                ) / CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS DECIMAL(38, 0))
              )
            END AS DECIMAL(38, 0)) - CAST(c2 AS DECIMAL(38, 0))
          ) AS DECIMAL(38, 0))
        ),
        0
      ) AS n1
    FROM (
      SELECT
        *,
        c0 AS every
      FROM (
        SELECT
          u0,
          place,
          COUNT(*) AS c0,
          COUNT(v1) AS c1,
          COALESCE(SUM(CAST(v1 AS DECIMAL(38, 0))), 0) AS c2
        FROM (
          SELECT
            kept.*
          FROM kept
          JOIN (
            SELECT
              u0,
              place
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
  place;

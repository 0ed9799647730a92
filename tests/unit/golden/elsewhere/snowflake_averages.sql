-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For Snowflake: written, not run here.
-- Names are quoted as the codebook has them, and so are not written in capitals.
-- Columns are taken to have these types:
--   visits: user_id BIGINT, day VARCHAR, note VARCHAR, began DATE, age BIGINT, minutes DOUBLE

-- Numbers for each day
WITH t1 AS (
  SELECT
    "user_id" AS c0,
    "day" AS c1,
    "note" AS c2,
    "began" AS c3,
    "age" AS c4,
    "minutes" AS c5
  FROM "visits"
), list3 AS (
  SELECT
    CAST(k0 AS VARCHAR) AS k0,
    place
  FROM (VALUES
    (NULL, 0),
    ('Mon', 1),
    ('it\'s \\ Tue', 2)) AS v(k0, place)
)
SELECT
  *
FROM (
  WITH kept AS (
    SELECT
      u0,
      place,
      v1,
      i
    FROM (
      SELECT
        *,
        DENSE_RANK() OVER (PARTITION BY u0 ORDER BY HASH(u0, place), place) AS r,
        ROW_NUMBER() OVER (PARTITION BY u0 ORDER BY HASH(u0, place), place) - RANK() OVER (PARTITION BY u0 ORDER BY HASH(u0, place), place) AS i
      FROM (
        SELECT
          a.u0,
          a.v1,
          b.place
        FROM (
          SELECT
            u0,
            f0 AS k0,
            CAST((
              TRUNC(x2) + CASE
                WHEN ABS(x2 - TRUNC(x2)) > 0.5
                OR (
                  ABS(x2 - TRUNC(x2)) = 0.5 AND TRUNC(x2) - 2 * TRUNC((
                    TRUNC(x2) / 2
                  )) <> 0
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
                  f2 - CAST('45.25E0' AS DOUBLE)
                ) * CAST('67108864.0E0' AS DOUBLE)
              ) AS x2
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
                      c1 IN (CAST('Mon' AS VARCHAR), CAST('it\'s \\ Tue' AS VARCHAR))
                    )
                    THEN c1
                  END AS f0,
                  f1 AS f1,
                  CASE
                    WHEN c5 BETWEEN CAST('0.0E0' AS DOUBLE) AND CAST('90.5E0' AS DOUBLE)
                    THEN c5
                    WHEN c5 > CAST('90.5E0' AS DOUBLE) AND c5 < CAST('inf' AS DOUBLE)
                    THEN CAST('90.5E0' AS DOUBLE)
                    WHEN c5 < CAST('0.0E0' AS DOUBLE) AND c5 > CAST('-inf' AS DOUBLE)
                    THEN CAST('0.0E0' AS DOUBLE)
                  END AS f2,
                  c0 AS u0
                FROM (
                  SELECT
                    *
                  FROM (
                    SELECT
                      *,
                      CASE
                        WHEN x1 < CAST(0 AS BIGINT)
                        THEN CAST(0 AS BIGINT)
                        WHEN x1 > CAST(120 AS BIGINT)
                        THEN CAST(120 AS BIGINT)
                        ELSE x1
                      END AS f1
                    FROM (
                      SELECT
                        *,
                        CASE WHEN c4 >= -9223372036854775808 AND c4 < 9223372036854775808 THEN c4 END AS x1
                      FROM (
                        SELECT
                          *
                        FROM t1
                      ) AS q
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
          ) AS q
        ) AS a
        JOIN list3 AS b
          ON EQUAL_NULL(a.k0, b.k0)
      ) AS q
    ) AS q
    WHERE
      r <= 2
  )
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
            ON EQUAL_NULL(kept.u0, big.u0) AND EQUAL_NULL(kept.place, big.place)
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
  place NULLS FIRST;

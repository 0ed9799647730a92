-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For BigQuery: written, not run here.
-- Columns are taken to have these types:
--   visits: user_id INT64, day STRING, note STRING, began DATE, age INT64, minutes FLOAT64

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
), list2 AS (
  SELECT
    CAST(NULL AS STRING) AS k0,
    0 AS place
  UNION ALL
  SELECT
    CAST('Mon' AS STRING) AS k0,
    1 AS place
  UNION ALL
  SELECT
    CAST('it\'s \\ Tue' AS STRING) AS k0,
    2 AS place
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
        dense_rank() OVER (
          PARTITION BY u0
          ORDER BY CASE
            WHEN FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(u0, place))) IS NULL
            THEN 0
            ELSE 1
          END ASC, FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(u0, place))) ASC, CASE WHEN place IS NULL THEN 1 ELSE 0 END ASC, place ASC
        ) AS r,
        row_number() OVER (
          PARTITION BY u0
          ORDER BY CASE
            WHEN FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(u0, place))) IS NULL
            THEN 0
            ELSE 1
          END ASC, FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(u0, place))) ASC, CASE WHEN place IS NULL THEN 1 ELSE 0 END ASC, place ASC
        ) - rank() OVER (
          PARTITION BY u0
          ORDER BY CASE
            WHEN FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(u0, place))) IS NULL
            THEN 0
            ELSE 1
          END ASC, FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(u0, place))) ASC, CASE WHEN place IS NULL THEN 1 ELSE 0 END ASC, place ASC
        ) AS i
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
              TRUNC(x1) + CASE
                WHEN ABS(x1 - TRUNC(x1)) > 0.5
                OR (
                  ABS(x1 - TRUNC(x1)) = 0.5 AND TRUNC(x1) - 2 * TRUNC((
                    TRUNC(x1) / 2
                  )) <> 0
                )
                THEN CASE WHEN x1 < 0 THEN -1 ELSE 1 END
                ELSE 0
              END
            ) AS INT64) AS v1
          FROM (
            SELECT
              *,
              (
                (
                  f2 - CAST(45.25E0 AS FLOAT64)
                ) * CAST(67108864.0E0 AS FLOAT64)
              ) AS x1
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
                    WHEN c5 BETWEEN CAST(0.0E0 AS FLOAT64) AND CAST(90.5E0 AS FLOAT64)
                    THEN c5
                    WHEN c5 > CAST(90.5E0 AS FLOAT64) AND c5 < CAST('inf' AS FLOAT64)
                    THEN CAST(90.5E0 AS FLOAT64)
                    WHEN c5 < CAST(0.0E0 AS FLOAT64) AND c5 > CAST('-inf' AS FLOAT64)
                    THEN CAST(0.0E0 AS FLOAT64)
                  END AS f2,
                  c0 AS u0
                FROM (
                  SELECT
                    *
                  FROM (
                    SELECT
                      *,
                      CASE
                        WHEN c4 < CAST(0 AS INT64)
                        THEN CAST(0 AS INT64)
                        WHEN c4 > CAST(120 AS INT64)
                        THEN CAST(120 AS INT64)
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
                        f1 >= CAST(18 AS INT64)
                      )
                    )
                ) AS q
              ) AS w0
              WHERE
                NOT w0.u0 IS NULL
            ) AS q
          ) AS q
        ) AS a
        JOIN list2 AS b
          ON TO_JSON_STRING(a.k0) = TO_JSON_STRING(b.k0)
      ) AS q
    ) AS q
    WHERE
      r <= 2
  )
  SELECT
    place,
    COALESCE(SUM(CAST(n0 AS BIGNUMERIC)), 0) AS n0,
    COALESCE(SUM(CAST(n1 AS BIGNUMERIC)), 0) AS n1
  FROM (
    SELECT
      place,
      CAST(count(v1) AS BIGNUMERIC) * 1048576 AS n0,
      COALESCE(SUM(CAST(v1 AS BIGNUMERIC)), 0) AS n1
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
              THEN CAST(CAST(c1 AS BIGNUMERIC) * 1048576 AS BIGNUMERIC)
              ELSE DIV(
                (
                  CAST(CAST(c1 AS BIGNUMERIC) * 1048576 AS BIGNUMERIC) * 3
                ),
                CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS BIGNUMERIC)
              )
            END AS BIGNUMERIC) - CAST(CAST(c1 AS BIGNUMERIC) * 1048576 AS BIGNUMERIC)
          ) AS BIGNUMERIC)
        ),
        0
      ) AS n0,
      COALESCE(
        SUM(
          CAST((
            CAST(CASE
              WHEN every <= 3
              THEN CAST(c2 AS BIGNUMERIC)
              ELSE DIV(
                (
                  CAST(c2 AS BIGNUMERIC) * 3
                ),
                CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS BIGNUMERIC)
              )
            END AS BIGNUMERIC) - CAST(c2 AS BIGNUMERIC)
          ) AS BIGNUMERIC)
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
          count(*) AS c0,
          count(v1) AS c1,
          COALESCE(SUM(CAST(v1 AS BIGNUMERIC)), 0) AS c2
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
            ON TO_JSON_STRING(kept.u0) = TO_JSON_STRING(big.u0)
            AND TO_JSON_STRING(kept.place) = TO_JSON_STRING(big.place)
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

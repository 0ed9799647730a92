-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For BigQuery: written, not run here.
-- Columns are taken to have these types:
--   visits: user_id INT64, day STRING, note STRING, began DATE, age INT64, minutes FLOAT64

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
)
SELECT
  *
FROM (
  SELECT
    b.place,
    a.*
  FROM (
    WITH kept AS (
      SELECT
        u0,
        k0,
        v1,
        i
      FROM (
        SELECT
          *,
          dense_rank() OVER (
            PARTITION BY u0
            ORDER BY CASE WHEN FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(u0, k0))) IS NULL THEN 0 ELSE 1 END ASC, FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(u0, k0))) ASC, CASE WHEN k0 IS NULL THEN 1 ELSE 0 END ASC, k0 ASC
          ) AS r,
          row_number() OVER (
            PARTITION BY u0
            ORDER BY CASE WHEN FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(u0, k0))) IS NULL THEN 0 ELSE 1 END ASC, FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(u0, k0))) ASC, CASE WHEN k0 IS NULL THEN 1 ELSE 0 END ASC, k0 ASC
          ) - rank() OVER (
            PARTITION BY u0
            ORDER BY CASE WHEN FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(u0, k0))) IS NULL THEN 0 ELSE 1 END ASC, FARM_FINGERPRINT(TO_JSON_STRING(STRUCT(u0, k0))) ASC, CASE WHEN k0 IS NULL THEN 1 ELSE 0 END ASC, k0 ASC
          ) AS i
        FROM (
          SELECT
            u0,
            CAST(CAST(DATE_TRUNC(CAST(f0 AS DATE), MONTH) AS DATE) AS DATE) AS k0,
            CASE WHEN (
              f1 > CAST(30.5E0 AS FLOAT64)
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
                  WHEN c5 BETWEEN CAST(0.0E0 AS FLOAT64) AND CAST(90.5E0 AS FLOAT64)
                  THEN c5
                  WHEN c5 > CAST(90.5E0 AS FLOAT64) AND c5 < CAST('inf' AS FLOAT64)
                  THEN CAST(90.5E0 AS FLOAT64)
                  WHEN c5 < CAST(0.0E0 AS FLOAT64) AND c5 > CAST('-inf' AS FLOAT64)
                  THEN CAST(0.0E0 AS FLOAT64)
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
      k0,
      COALESCE(SUM(CAST(n0 AS BIGNUMERIC)), 0) AS n0
    FROM (
      SELECT
        k0,
        CAST(count(v1) AS BIGNUMERIC) * 1048576 AS n0
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
                THEN CAST(CAST(c1 AS BIGNUMERIC) * 1048576 AS BIGNUMERIC)
                ELSE DIV(
                  (
                    CAST(CAST(c1 AS BIGNUMERIC) * 1048576 AS BIGNUMERIC) * 2
                  ),
                  CAST(CASE WHEN every > 2 THEN every ELSE 2 END AS BIGNUMERIC)
                )
              END AS BIGNUMERIC) - CAST(CAST(c1 AS BIGNUMERIC) * 1048576 AS BIGNUMERIC)
            ) AS BIGNUMERIC)
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
            count(*) AS c0,
            count(v1) AS c1
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
              ON TO_JSON_STRING(kept.u0) = TO_JSON_STRING(big.u0)
              AND TO_JSON_STRING(kept.k0) = TO_JSON_STRING(big.k0)
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
    ON TO_JSON_STRING(a.k0) = TO_JSON_STRING(b.k0)
) AS q
ORDER BY
  CASE WHEN place IS NULL THEN 0 ELSE 1 END ASC,
  place ASC;

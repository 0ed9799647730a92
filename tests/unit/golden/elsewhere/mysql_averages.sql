-- The exact numbers of a question, without any noise: for looking at, and not to be published.
-- For MySQL 8.0.17 or later: written, not run here.
-- For a connection in utf8mb4, with an SQL mode that lets a backslash escape a letter, as it does by itself.
-- Columns are taken to have these types:
--   visits: user_id SIGNED, day CHAR, note CHAR, began DATE, age SIGNED, minutes DOUBLE

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
), list3 AS (
  SELECT
    CAST(NULL AS CHAR) COLLATE utf8mb4_0900_bin AS k0,
    0 AS place
  UNION ALL
  SELECT
    CAST('Mon' AS CHAR) COLLATE utf8mb4_0900_bin AS k0,
    1 AS place
  UNION ALL
  SELECT
    CAST('it''s \\ Tue' AS CHAR) COLLATE utf8mb4_0900_bin AS k0,
    2 AS place
), kept AS (
  SELECT
    u0,
    place,
    v1,
    i
  FROM (
    SELECT
      *,
      DENSE_RANK() OVER (
        PARTITION BY u0
        ORDER BY CASE WHEN SHA2(CONCAT_WS('|', '', u0, place), 256) IS NULL THEN 0 ELSE 1 END ASC, SHA2(CONCAT_WS('|', '', u0, place), 256) ASC, CASE WHEN place IS NULL THEN 1 ELSE 0 END ASC, place ASC
      ) AS r,
      ROW_NUMBER() OVER (
        PARTITION BY u0
        ORDER BY CASE WHEN SHA2(CONCAT_WS('|', '', u0, place), 256) IS NULL THEN 0 ELSE 1 END ASC, SHA2(CONCAT_WS('|', '', u0, place), 256) ASC, CASE WHEN place IS NULL THEN 1 ELSE 0 END ASC, place ASC
      ) - RANK() OVER (
        PARTITION BY u0
        ORDER BY CASE WHEN SHA2(CONCAT_WS('|', '', u0, place), 256) IS NULL THEN 0 ELSE 1 END ASC, SHA2(CONCAT_WS('|', '', u0, place), 256) ASC, CASE WHEN place IS NULL THEN 1 ELSE 0 END ASC, place ASC
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
            TRUNCATE(x2, 0) + CASE
              WHEN ABS(x2 - TRUNCATE(x2, 0)) > 0.5
              OR (
                ABS(x2 - TRUNCATE(x2, 0)) = 0.5
                AND TRUNCATE(x2, 0) - 2 * TRUNCATE((
                  TRUNCATE(x2, 0) / 2
                ), 0) <> 0
              )
              THEN CASE WHEN x2 < 0 THEN -1 ELSE 1 END
              ELSE 0
            END
          ) AS SIGNED) AS v1
        FROM (
          SELECT
            *,
            (
              (
                f2 - CAST(45.25E0 AS DOUBLE)
              ) * CAST(67108864.0E0 AS DOUBLE)
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
                    x1 IN (
                      CAST('Mon' AS CHAR) COLLATE utf8mb4_0900_bin,
                      CAST('it''s \\ Tue' AS CHAR) COLLATE utf8mb4_0900_bin
                    )
                  )
                  THEN x1
                END AS f0,
                f1 AS f1,
                CASE
                  WHEN c5 < CAST(0.0E0 AS DOUBLE)
                  THEN CAST(0.0E0 AS DOUBLE)
                  WHEN c5 > CAST(90.5E0 AS DOUBLE)
                  THEN CAST(90.5E0 AS DOUBLE)
                  ELSE c5
                END AS f2,
                c0 AS u0
              FROM (
                SELECT
                  *,
                  CAST(c1 AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin AS x1
                FROM (
                  SELECT
                    *
                  FROM (
                    SELECT
                      *,
                      CASE
                        WHEN c4 < CAST(0 AS SIGNED)
                        THEN CAST(0 AS SIGNED)
                        WHEN c4 > CAST(120 AS SIGNED)
                        THEN CAST(120 AS SIGNED)
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
                        f1 >= CAST(18 AS SIGNED)
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
        ON a.k0 <=> b.k0
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
    COALESCE(SUM(CAST(n0 AS DECIMAL(65, 0))), 0) AS n0,
    COALESCE(SUM(CAST(n1 AS DECIMAL(65, 0))), 0) AS n1
  FROM (
    SELECT
      place,
      CAST(COUNT(v1) AS DECIMAL(65, 0)) * 1048576 AS n0,
      COALESCE(SUM(CAST(v1 AS DECIMAL(65, 0))), 0) AS n1
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
              THEN CAST(CAST(c1 AS DECIMAL(65, 0)) * 1048576 AS DECIMAL(65, 0))
              ELSE (
                (
                  (
                    CAST(CAST(c1 AS DECIMAL(65, 0)) * 1048576 AS DECIMAL(65, 0)) * 3
                  ) - (
                    CAST(CAST(c1 AS DECIMAL(65, 0)) * 1048576 AS DECIMAL(65, 0)) * 3
                  ) % CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS DECIMAL(65, 0))
                ) / CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS DECIMAL(65, 0))
              )
            END AS DECIMAL(65, 0)) - CAST(CAST(c1 AS DECIMAL(65, 0)) * 1048576 AS DECIMAL(65, 0))
          ) AS DECIMAL(65, 0))
        ),
        0
      ) AS n0,
      COALESCE(
        SUM(
          CAST((
            CAST(CASE
              WHEN every <= 3
              THEN CAST(c2 AS DECIMAL(65, 0))
              ELSE (
                (
                  (
                    CAST(c2 AS DECIMAL(65, 0)) * 3
                  ) - (
                    CAST(c2 AS DECIMAL(65, 0)) * 3
                  ) % CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS DECIMAL(65, 0))
                ) / CAST(CASE WHEN every > 3 THEN every ELSE 3 END AS DECIMAL(65, 0))
              )
            END AS DECIMAL(65, 0)) - CAST(c2 AS DECIMAL(65, 0))
          ) AS DECIMAL(65, 0))
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
          COALESCE(SUM(CAST(v1 AS DECIMAL(65, 0))), 0) AS c2
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
            ON kept.u0 <=> big.u0 AND kept.place <=> big.place
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

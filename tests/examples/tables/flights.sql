SELECT COUNT(*) AS n, COUNT(dep_delay) AS left_late, COUNT(day) AS days, COUNT(carrier) AS c FROM flights
SELECT COUNT(DISTINCT tailnum) AS planes FROM flights
SELECT origin AS k, COUNT(*) AS n, AVG(dep_delay) AS late, SUM(distance) AS miles FROM flights GROUP BY 1
SELECT MONTH(day) AS k, COUNT(*) AS n, AVG(arr_delay) AS late FROM flights GROUP BY 1
SELECT DAYNAME(day) AS k, COUNT(*) AS n FROM flights WHERE day < DATE '2013-06-15' GROUP BY 1
SELECT HOUR(time_hour) AS k, COUNT(*) AS n FROM flights GROUP BY 1
SELECT CAST(time_hour AS DATE) AS k, COUNT(*) AS n FROM flights WHERE time_hour >= TIMESTAMP '2013-12-20' AND time_hour < TIMESTAMP '2014-01-01 12:00:00' GROUP BY 1
SELECT COUNT(*) AS n FROM flights WHERE time_hour BETWEEN '2013-06-01' AND '2013-06-10 17:00:00'
SELECT CASE WHEN distance < 500 THEN 'short' WHEN distance < 1500 THEN 'middle' ELSE 'long' END AS k, COUNT(*) AS n FROM flights GROUP BY 1
SELECT LEFT(carrier, 1) AS k, AVG(CASE WHEN dep_delay > 15 THEN 1.0 ELSE 0 END) AS late FROM flights GROUP BY 1
SELECT COUNT(*) AS n FROM flights WHERE tailnum LIKE 'N1%' AND dest IN ('ORD', 'LAX', 'BOS') OR dep_delay IS NULL
SELECT AVG(LEAST(n, 30)) AS mean FROM (SELECT tailnum, COUNT(*) AS n FROM flights GROUP BY tailnum)
SELECT COUNT(*) AS n FROM (SELECT tailnum FROM flights GROUP BY tailnum HAVING MAX(dep_delay) > 60)
SELECT MEDIAN(distance) AS m FROM flights
SELECT COUNT(*) AS n FROM flights a WHERE EXISTS (SELECT 1 FROM flights b WHERE b.tailnum = a.tailnum AND b.day > a.day)
SELECT DATE_DIFF('day', DATE '2013-01-01', day) // 30 AS k, COUNT(*) AS n FROM flights GROUP BY 1

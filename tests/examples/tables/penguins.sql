SELECT COUNT(*) AS n, COUNT(sex) AS sexed, COUNT(body_mass_g) AS weighed, COUNT(island) AS placed FROM penguins
SELECT AVG(bill_length_mm) AS a, AVG(bill_depth_mm) AS b, SUM(flipper_length_mm) AS c FROM penguins
SELECT species AS k, COUNT(*) AS n, AVG(body_mass_g) AS grams, STDDEV(body_mass_g) AS sd FROM penguins GROUP BY 1
SELECT sex AS k, AVG(bill_length_mm / bill_depth_mm) AS shape FROM penguins WHERE sex IS NOT NULL GROUP BY 1
SELECT species || '/' || COALESCE(island, '?') AS k, COUNT(*) AS n FROM penguins GROUP BY 1
SELECT year AS k, COUNT_IF(sex = 'male') AS m, SUM(CASE WHEN body_mass_g > 4000 THEN 1 ELSE 0 END) AS h FROM penguins GROUP BY 1
SELECT FLOOR(body_mass_g / 500) * 500 AS k, COUNT(*) AS n FROM penguins GROUP BY 1
SELECT MEDIAN(flipper_length_mm) AS m, QUANTILE_DISC(body_mass_g, 0.9) AS q FROM penguins
SELECT REGR_SLOPE(body_mass_g, flipper_length_mm) AS s, CORR(body_mass_g, flipper_length_mm) AS r FROM penguins
SELECT COUNT(DISTINCT body_mass_g) AS weights FROM penguins WHERE island <> 'Biscoe' OR year BETWEEN 2008 AND 2009
SELECT MAX(n) - MIN(n) AS gap FROM (SELECT year, COUNT(*) AS n FROM penguins WHERE year IS NOT NULL GROUP BY year HAVING COUNT(*) > 10)
SELECT species AS k, n, RANK() OVER (ORDER BY n DESC) AS place FROM (SELECT species, COUNT(*) AS n FROM penguins WHERE species LIKE '%n%' GROUP BY species)

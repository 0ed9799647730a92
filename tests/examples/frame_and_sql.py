"""Questions written twice: as a frame, and in SQL."""

from __future__ import annotations

from collections.abc import Callable

from tests.examples.visits import table

from sfumato.query.frame import Query, col, count_rows, count_units, when

t, accounts, sites = table("visits"), table("accounts"), table("sites")


def daily() -> Query:
    return t.filter(t.minutes > 0).group_by("day").agg(n=count_rows(), m=t.minutes.mean())


PAIRS: dict[str, tuple[Callable[[], Query], str]] = {
    "the example of the guide": (
        daily,
        "SELECT day, COUNT(*) AS n, AVG(minutes) AS m FROM visits WHERE minutes > 0 GROUP BY day",
    ),
    "no groups": (lambda: t.agg(n=count_rows()), "SELECT COUNT(*) AS n FROM visits"),
    "people": (
        lambda: t.agg(a=count_units(), b=t.user_id.n_unique(where=t.paid)),
        "SELECT COUNT(DISTINCT user_id) AS a, COUNT(DISTINCT user_id) FILTER (WHERE paid) AS b FROM visits",
    ),
    "counts": (
        lambda: t.agg(a=t.note.count(), b=t.note.n_unique(), c=t.note.n_unique(t.day), d=count_rows(where=t.pages > 3)),
        "SELECT COUNT(note) AS a, COUNT(DISTINCT note) AS b, COUNT(DISTINCT note, day) AS c, "
        "COUNT(*) FILTER (WHERE pages > 3) AS d FROM visits",
    ),
    "moments": (
        lambda: t.agg(
            a=t.minutes.sum(),
            b=t.minutes.var(),
            c=t.minutes.var(sample=False),
            d=t.minutes.std(),
            e=t.minutes.std(sample=False),
            f=t.minutes.covariance(t.pages),
            g=t.minutes.covariance(t.pages, sample=False),
            h=t.minutes.correlation(t.pages),
            i=t.paid.mean(),
        ),
        "SELECT SUM(minutes) AS a, VAR_SAMP(minutes) AS b, VAR_POP(minutes) AS c, STDDEV(minutes) AS d, "
        "STDDEV_POP(minutes) AS e, COVAR_SAMP(minutes, pages) AS f, COVAR_POP(minutes, pages) AS g, "
        "CORR(minutes, pages) AS h, AVG(paid) AS i FROM visits",
    ),
    "higher moments and choices": (
        lambda: t.agg(
            a=t.minutes.skewness(),
            b=t.minutes.kurtosis(),
            c=t.pages.kurtosis(sample=False),
            d=t.minutes.median_absolute_deviation(),
            e=t.site.mode(where=t.paid),
            f=t.day.max(),
        ),
        "SELECT SKEWNESS(minutes) AS a, KURTOSIS(minutes) AS b, KURTOSIS_POP(pages) AS c, MAD(minutes) AS d, "
        "MODE(site) FILTER (WHERE paid) AS e, MAX(day) AS f FROM visits",
    ),
    "quantiles and lists": (
        lambda: t.agg(
            a=t.minutes.min(),
            b=t.minutes.max(),
            c=t.minutes.median(),
            d=t.minutes.quantile(0.9),
            e=t.minutes.histogram([0, 30, 90]),
            f=t.site.top_values(1),
        ),
        "SELECT MIN(minutes) AS a, MAX(minutes) AS b, MEDIAN(minutes) AS c, QUANTILE(minutes, 0.9) AS d, "
        "HISTOGRAM(minutes, [0, 30, 90]) AS e, TOP_K(site, 1) AS f FROM visits",
    ),
    "conditions": (
        lambda: t.filter(
            (t.pages >= 1) & (t.pages <= 5) & ~t.note.is_null(),
            t.site.is_in(["north"]) | t.note.like("a%") | (t.pages != 2),
        ).len(),
        "SELECT COUNT(*) AS count FROM visits WHERE pages BETWEEN 1 AND 5 AND note IS NOT NULL "
        "AND (site IN ('north') OR note LIKE 'a%' OR pages <> 2)",
    ),
    "expressions of keys": (
        lambda: t.group_by(month=t.day.truncate("month"), bin=t.minutes.bin(10), length=t.note.lower().length()).agg(
            n=count_rows()
        ),
        "SELECT DATE_TRUNC('month', day) AS month, FLOOR(minutes / 10) * 10 AS bin, LENGTH(LOWER(note)) AS length, "
        "COUNT(*) AS n FROM visits GROUP BY 1, 2, 3",
    ),
    "a choice": (
        lambda: t.group_by(use=when(t.pages > 5).then("much").when(t.paid).then("some").otherwise(None)).agg(
            n=count_rows()
        ),
        "SELECT CASE WHEN pages > 5 THEN 'much' WHEN paid THEN 'some' END AS use, COUNT(*) AS n "
        "FROM visits GROUP BY use",
    ),
    "clamped sums": (
        lambda: t.agg(s=t.wait.clip(0, 10).sum(), m=t.wait.least(5).greatest(0).mean()),
        "SELECT SUM(CLAMP(wait, 0, 10)) AS s, AVG(GREATEST(LEAST(wait, 5), 0)) AS m FROM visits",
    ),
    "what is made of the answer": (
        lambda: (
            t.group_by("site")
            .agg(n=count_rows(), hours=t.minutes.sum() / 60)
            .filter(col("n") > 10, t.pages.mean() > 1)
            .sort("hours", "site", descending=[True, False])
            .head(5)
        ),
        "SELECT site, COUNT(*) AS n, SUM(minutes) / 60 AS hours FROM visits GROUP BY site "
        "HAVING COUNT(*) > 10 AND AVG(pages) > 1 ORDER BY hours DESC, site LIMIT 5",
    ),
    "rollup": (
        lambda: t.group_by("day", "site").rollup().agg(n=count_rows()),
        "SELECT day, site, COUNT(*) AS n FROM visits GROUP BY ROLLUP (day, site)",
    ),
    "cube": (
        lambda: t.group_by("day", "site").cube().agg(n=count_rows()),
        "SELECT day, site, COUNT(*) AS n FROM visits GROUP BY CUBE (day, site)",
    ),
    "grouping sets": (
        lambda: t.group_by("day", "site").grouping_sets(["day", "site"], ["site"]).agg(n=count_rows()),
        "SELECT day, site, COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((day, site), (site))",
    ),
    "a join with a public table": (
        lambda: t.join(sites, on="site").filter(col("size") > 3).group_by("region").agg(m=t.minutes.mean()),
        "SELECT region, AVG(minutes) AS m FROM visits JOIN sites USING (site) WHERE size > 3 GROUP BY region",
    ),
    "a left join": (
        lambda: t.join(sites, on="site", how="left").group_by("region").agg(n=count_rows()),
        "SELECT region, COUNT(*) AS n FROM visits LEFT JOIN sites ON visits.site = sites.site GROUP BY region",
    ),
    "a join of private tables": (
        lambda: t.join(accounts, on="user_id").group_by("home").agg(m=t.minutes.mean()),
        "SELECT home, AVG(minutes) AS m FROM visits JOIN accounts ON visits.user_id = accounts.user_id GROUP BY home",
    ),
    "sums within a unit": (
        lambda: t.per_unit(total=t.minutes.sum()).agg(m=col("total").clip(0, 300).mean()),
        "SELECT AVG(CLAMP(total, 0, 300)) AS m FROM "
        "(SELECT user_id, SUM(minutes) AS total FROM visits GROUP BY user_id)",
    ),
    "sums within a unit and group": (
        lambda: (
            t.per_unit(by="site", days=t.day.n_unique(), n=count_rows(where=t.paid))
            .filter(col("days") > 1)
            .group_by("site")
            .agg(m=col("n").clip(0, 9).mean())
        ),
        "WITH each AS (SELECT user_id, site, COUNT(DISTINCT day) AS days, COUNT(*) FILTER (WHERE paid) AS n "
        "FROM visits GROUP BY user_id, site) "
        "SELECT site, AVG(CLAMP(n, 0, 9)) AS m FROM each WHERE days > 1 GROUP BY site",
    ),
    "a union": (
        lambda: (
            t.select("user_id", place=t.site)
            .union(accounts.select("user_id", place=accounts.home))
            .group_by("place")
            .agg(n=count_units())
        ),
        "SELECT place, COUNT(DISTINCT user_id) AS n FROM (SELECT user_id, site AS place FROM visits "
        "UNION ALL SELECT user_id, home AS place FROM accounts) GROUP BY place",
    ),
    "an inner query": (
        lambda: (
            t.filter(t.paid)
            .select("day", hours=t.minutes / 60)
            .filter(col("hours") > 1)
            .group_by("day")
            .agg(n=count_rows())
        ),
        "SELECT day, COUNT(*) AS n FROM (SELECT day, minutes / 60 AS hours FROM visits WHERE paid) "
        "WHERE hours > 1 GROUP BY day",
    ),
    "columns that are left out": (
        lambda: t.drop("note").select("day", "minutes").group_by("day").agg(m=t.minutes.mean()),
        "SELECT day, AVG(minutes) AS m FROM visits GROUP BY day",
    ),
}

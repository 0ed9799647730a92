"""Times a release of very many groups on Spark: the plain aggregation alone, and all that makes a table of it.

``plain`` is the same bounded aggregation, run to its end where it is, and nothing written; ``finish`` what a written
release takes beyond that: noise, choice of keys, writing. About half of the groups are shown, more than one would have:
these are written, sorted and written again. The memory of this process is that of the driver's Python.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import sfumato as sf
from contenders.engines.cases import PAGES
from contenders.engines.preparing import wide, write_wide
from contenders.engines.spark_session import started
from contenders.query.turns import report_memory
from sfumato.query.engines.spark.engine import SparkEngine
from sfumato.query.engines.spark.opening import Spark
from side_by_side.stopwatch import report, report_version

ROWS_OF_A_GROUP = 2
ASKED = "SELECT page, COUNT(*) AS n, SUM(x0) AS s FROM visits GROUP BY page"


def timed_aggregation(spent: list[float]) -> None:
    """Lets every release run its aggregation by itself, to the end, before and after, and note how long that takes."""
    spread = SparkEngine.spread

    def plain_first(engine: SparkEngine, cells, finish, writer, staged):  # type: ignore[no-untyped-def]
        plain(engine, cells)
        kept = spread(engine, cells, finish, writer, staged)
        plain(engine, cells)
        return kept

    def plain(engine: SparkEngine, cells) -> None:  # type: ignore[no-untyped-def]
        begun = time.perf_counter()
        with engine.framed(cells) as frame:
            frame.write.format("noop").mode("overwrite").save()
        spent.append(time.perf_counter() - begun)

    SparkEngine.spread = plain_first  # type: ignore[method-assign,assignment]


def main(folder: str, groups: str = str(PAGES)) -> None:
    """Measures once, for so many groups."""
    report_version("sfumato")
    many = int(groups)
    place = Path(folder)
    write_wide(place, many, ROWS_OF_A_GROUP * many, columns=1)
    spark = started(folder)
    files = str(wide(place, many, ROWS_OF_A_GROUP * many))
    data = sf.Dataset(
        {"visits": spark.read.parquet(files)},
        unit="user_id",
        between={"x0": (0, 100)},
        name="visits",
        engine=Spark(spark),
    )
    session = data.session(limit=sf.Approx(1000, "1e-3"), ledger="memory:")
    plain: list[float] = []
    timed_aggregation(plain)
    to = place / "released"
    shutil.rmtree(to, ignore_errors=True)
    begun = time.perf_counter()
    release = session.write(ASKED, to=str(to), epsilon=200, delta="1e-4", max_groups=10, max_rows_per_group=1)
    whole = time.perf_counter() - begun
    least = min(plain)  # the release has run it once more, at the least as fast as that
    report("plain", kind="groups", groups=many, seconds=least)
    report("finish", kind="groups", groups=many, seconds=whole - sum(plain) - least, shown=release.value.rows)
    if release.value.open().count_rows() != release.value.rows or release.value.rows < many // 10:
        raise SystemExit("the release has too few rows to say anything")
    report_memory("groups", "spark")


main(*sys.argv[1:])

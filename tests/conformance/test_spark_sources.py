"""What Spark is asked about, and what goes wrong: lazy plans, settings of a session, files that change or break."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.examples.spark import opened_in_spark, spark_session
from tests.examples.spark_rows import TABLE, X, counted

import sfumato as sf
from sfumato.core.outages import Outage
from sfumato.errors import RunFailed
from sfumato.query.engines.spark.engine import BROKE_OFF, SparkEngine
from sfumato.query.engines.spark.plans import refuse_unstable
from sfumato.query.engines.spark.session import SETTINGS
from sfumato.query.engines.spark.statements import written_out
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Where
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Units

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ABOVE = Cells(Where(TABLE, call("gt", X, literal(2.5))), (), (Rows(), Units()), Bound(None, 9))

UNSTABLE = {
    "rand": "SELECT user, rand() AS x FROM {}",
    "uuid": "SELECT user, length(uuid()) * 1D AS x FROM {}",
    "number": "SELECT user, monotonically_increasing_id() * 1D AS x FROM {}",
    "first": "SELECT user, first(x) AS x FROM {} GROUP BY user",
    "limit": "SELECT user, x FROM {} LIMIT 2",
    "inner limit": "SELECT user, x FROM {} JOIN (SELECT user AS other FROM {} ORDER BY 1 LIMIT 1) ON user = other",
    "offset": "SELECT user, x FROM {} OFFSET 2",
    "sample": "SELECT user, x FROM {} TABLESAMPLE (50 PERCENT)",
    "clock": "SELECT user, unix_micros(current_timestamp()) * 1D AS x FROM {}",
    "day": "SELECT user, unix_date(current_date()) * 1D AS x FROM {}",
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Two files of Parquet, each with a part of which the greatest value is stated, and NaN is not."""
    folder = tmp_path / "visits"
    folder.mkdir()
    for place in range(2):
        table = pa.table({"user": [1, 2, 3 + place], "x": [0.5, float("nan"), 9.0 * place]})
        pq.write_table(table, folder / f"{place}.parquet", row_group_size=2)
    return folder


def test_frames_that_may_have_other_rows_each_time_are_refused(files: Path) -> None:
    session = spark_session()
    session.read.parquet(str(files)).createOrReplaceTempView("lazily")
    frames = {name: session.sql(text.replace("{}", "lazily")) for name, text in UNSTABLE.items()}
    frames["duplicates"] = session.table("lazily").dropDuplicates(["user"])
    frames["stream"] = session.readStream.format("rate").load().selectExpr("value AS user", "1D AS x")
    for name, frame in frames.items():
        with pytest.raises(sf.errors.BadArgument, match="the same each time that Spark works them out"):
            refuse_unstable(frame)
            pytest.fail(name)
    with pytest.raises(sf.errors.BadArgument, match="the same each time that Spark works them out"):
        opened_in_spark({"t": frames["limit"]}, {"t": TABLE})
    same = session.table("lazily").where("user < 9").select("user", "x")
    with closing(opened_in_spark({"t": same}, {"t": TABLE})) as engine:
        assert counted(engine) == [6, 4]


def test_no_setting_of_the_session_changes_an_answer_and_none_is_changed(files: Path) -> None:
    session = spark_session()
    before = dict(session.conf.getAll)
    assert before["spark.sql.ansi.enabled"] == "true" and before["spark.sql.session.timeZone"] == "America/New_York"
    with closing(opened_in_spark({"t": str(files)}, {"t": TABLE})) as engine:
        own = engine.session.conf
        assert {name: own.get(name) for name in SETTINGS} == dict(SETTINGS)
        assert counted(engine) == [6, 4]
    assert dict(session.conf.getAll) == before
    session.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        with pytest.raises(sf.errors.BadArgument, match="ignoreCorruptFiles is false"):
            opened_in_spark({"t": session.read.parquet(str(files))}, {"t": TABLE})
    finally:
        session.conf.set("spark.sql.files.ignoreCorruptFiles", "false")


@pytest.mark.parametrize("frame", [False, True], ids=["path", "frame"])
def test_no_condition_is_handed_to_a_scan(files: Path, frame: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark's scans leave out parts of a file by what it states of their values. A frame's go by the user's session."""
    given = spark_session().read.parquet(str(files)) if frame else str(files)
    plans: list[str] = []
    answer = SparkEngine.answer

    def look(self: SparkEngine, text: str, statement: Any, *, few: bool) -> Any:
        plans.append(self.session.sql(written_out(text, statement))._jdf.queryExecution().toString())
        return answer(self, text, statement, few=few)

    with closing(opened_in_spark({"t": given}, {"t": TABLE})) as engine:
        monkeypatch.setattr(SparkEngine, "answer", look)
        assert counted(engine, ABOVE) == [1, 1]  # of 9; NaN is missing
    assert "FileScan parquet" in plans[0]
    assert "PushedFilters: []" in plans[0]


def test_versions_are_of_what_files_hold_and_not_of_where_they_lie(files: Path, tmp_path: Path) -> None:
    def version(place: Any) -> str:
        with closing(opened_in_spark({"t": place}, {"t": TABLE})) as engine:
            return engine.fingerprints(b"key")["t"]

    shutil.copytree(files, tmp_path / "copy")
    first = version(str(files))
    assert first == version(str(tmp_path / "copy")) == version(spark_session().read.parquet(str(files)))
    pq.write_table(pa.table({"user": [1, 2, 3], "x": [0.5, 1.5, 2.5]}), files / "0.parquet")
    assert version(str(files)) != first
    table = pa.table({"user": [1], "x": [1.0]})
    assert (
        version(table) == version(pa.table({"user": [1], "x": [1.0]})) != version(pa.table({"user": [2], "x": [1.0]}))
    )
    derived = spark_session().read.parquet(str(files)).where("x > 0")
    assert version(derived) != version(derived)


def test_files_that_change_or_break_are_told_in_our_words(files: Path) -> None:
    with closing(opened_in_spark({"t": str(files)}, {"t": TABLE})) as engine:
        with engine.at_once():
            assert counted(engine) == [6, 4]
        with pytest.raises(RunFailed) as changed, engine.at_once():
            pq.write_table(pa.table({"user": [1], "x": [77.125]}), files / "1.parquet")
        assert changed.value.outage is Outage.CHANGED
        (files / "1.parquet").write_bytes(b"PAR1 77.125 PAR1")
        with pytest.raises(RuntimeError) as told:
            counted(engine)
        assert str(told.value) == BROKE_OFF and told.value.__context__ is None and told.value.__cause__ is None
    with pytest.raises(sf.errors.BadArgument, match="a table or files that Spark can read"):
        opened_in_spark({"t": str(files / "nowhere")}, {"t": TABLE})
    with pytest.raises(sf.errors.BadArgument, match="a table or files that Spark can read"):
        opened_in_spark({"t": "spark://nowhere.nothing"}, {"t": TABLE})


def test_what_goes_wrong_is_logged_nowhere(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with closing(opened_in_spark({"t": str(files)}, {"t": TABLE})) as engine:
        (files / "1.parquet").write_bytes(b"PAR1 secret PAR1")
        (files / "0.parquet").unlink()
        capfd.readouterr()
        with pytest.raises(RuntimeError):
            counted(engine)
        said = capfd.readouterr()
    assert said.out == "" and "parquet" not in said.err and "Exception" not in said.err


def test_a_data_set_in_spark_is_asked_as_any_other(files: Path) -> None:
    session = spark_session()
    frame = session.read.parquet(str(files))
    data = sf.Dataset({"t": frame}, codebook=BOOK)
    asked = data.session(limit=sf.Pure(1000), ledger="memory:")
    release = asked.sql("SELECT COUNT(*) AS n FROM t", loss=sf.Pure(500), max_rows=9, key="once")
    assert abs(release.value.to_dict()["n"][0] - 6) <= 3
    again = asked.sql("SELECT COUNT(*) AS n FROM t", loss=sf.Pure(500), max_rows=9, key="once")
    assert again.value.to_dict() == release.value.to_dict() and asked.spent == sf.Pure(500)
    with pytest.raises(sf.errors.QueryRefused, match="Spark cannot compute regexp_full_match"):
        asked.sql(
            "SELECT COUNT(*) AS n FROM t WHERE CAST(user AS VARCHAR) SIMILAR TO '1+'", loss=sf.Pure(1), max_rows=9
        )
    report = sf.check_data({"t": frame}, BOOK)
    assert report.fits and report.tables[0].rows == 6


BOOK = {
    "codebook": 1, "title": "Visits", "unit": {"protects": "a person", "id": "user"},
    "tables": {"t": {"columns": {"user": {"type": "int"}, "x": {"type": "float"}}}},
}  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize("way", ["stopped", "connected"])
def test_sessions_of_their_own(way: str, files: Path) -> None:
    """A session that is stopped, and one of Spark Connect: each in a process of its own."""
    spark_session()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPTS[way], str(files)], capture_output=True, text=True, timeout=600
    )
    assert done.stdout.splitlines()[-1:] == ["done"], done.stderr


BEGIN = """
import sys
from types import SimpleNamespace
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.examples.spark_rows import EVERY, TABLE, counted
from sfumato.errors import BadArgument
from sfumato.core.outages import Outage
from sfumato.errors import RunFailed
from sfumato.query.engines.spark.sources import open_source
settings = {"spark.ui.enabled": "false", "spark.driver.memory": "1g", "spark.log.level": "OFF"}
catalog = SimpleNamespace(tables={"t": TABLE})
"""
SCRIPTS = {
    "stopped": f"""{BEGIN}
session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
engine = open_source({{"t": sys.argv[1]}}, catalog, session)
assert counted(engine) == [6, 4]
session.stop()
try:
    counted(engine)
except RunFailed as told:
    assert told.outage is Outage.LOST
    print("done")
""",
    "connected": f"""{BEGIN}
session = SparkSession.builder.remote("local[1]").config(map=settings).getOrCreate()
frame = session.read.parquet(sys.argv[1])
for data in (sys.argv[1], frame, frame.where("user < 9")):
    engine = open_source({{"t": data}}, catalog, session)
    with engine.at_once():
        assert counted(engine) == [6, 4]
    engine.prepare(EVERY)
    engine.close()
assert not [view for view in session.catalog.listTables() if view.isTemporary]
wide = frame.select("user", "x", *(F.lit(place).alias(f"c{{place}}") for place in range(40)), F.rand().alias("r"))
wide.createTempView("wide")
lazily = [
    frame.limit(2),
    frame.withColumn("x", F.rand()),
    frame.withColumn("x", F.current_timestamp()),
    frame.groupBy("user").agg(F.max_by("x", "user").alias("x")),
    wide.selectExpr("user", "x + r AS x"),
    session.sql("SELECT user, x + r AS x FROM wide"),
    session.read.option("IGNORECORRUPTFILES", "true").parquet(sys.argv[1]),
    session.sql(f"SELECT * FROM parquet.`{{sys.argv[1]}}` WITH (ignoreCorruptFiles = true)"),
    session.read.json(sys.argv[1]),
    session.read.option("inferSchema", "true").csv(sys.argv[1]),
]
for place, lazy in enumerate(lazily):
    try:
        open_source({{"t": lazy}}, catalog, session)
    except BadArgument as told:
        assert "something else" not in str(told), (place, told)
        continue
    raise AssertionError(place)
session.catalog.dropTempView("wide")
assert not [view for view in session.catalog.listTables() if view.isTemporary]
session.stop()
print("done")
""",
}

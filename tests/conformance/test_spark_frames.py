"""What a frame of Spark is made of and read from, and a session whose settings are all against us."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.examples.spark import spark_session
from tests.examples.spark_rows import TABLE, X, counted

import sfumato as sf
from sfumato.query.engines.spark.plans import refuse_unstable
from sfumato.query.engines.spark.session import SETTINGS
from sfumato.query.engines.spark.sources import open_source
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Owner, Scan, Where
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Units

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = {"user": [1, 1, 2, 3, 4, 4], "x": [0.5, 9.0, 1.5, 2.5, 0.0, 3.5]}


@pytest.fixture
def session() -> Any:
    """A session of somebody: what is set in it goes away with it."""
    return spark_session().newSession()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The same rows as Parquet, CSV and JSON."""
    pq.write_table(pa.table(ROWS), tmp_path / "rows.parquet")
    pairs = [*zip(*ROWS.values(), strict=True)]
    (tmp_path / "rows.csv").write_text("user,x\n" + "".join(f"{user},{x}\n" for user, x in pairs))
    (tmp_path / "rows.json").write_text("".join(f'{{"user":"{user}","x":"{x}"}}\n' for user, x in pairs))
    (tmp_path / "typed.json").write_text("".join(f'{{"user":{user},"x":{x}}}\n' for user, x in pairs))
    return tmp_path


READERS = {
    "ignoreCorruptFiles": ("parquet", "rows.parquet", "true", "ignoreCorruptFiles false"),
    "ignoreMissingFiles": ("orc", "rows.orc", "true", "ignoreMissingFiles false"),
    "datetimeRebaseMode": ("parquet", "rows.parquet", "EXCEPTION", "datetimeRebaseMode corrected"),
    "badRecordsPath": ("csv", "rows.csv", "/tmp/bad", "badRecordsPath not there"),
    "mode": ("csv", "rows.csv", "DROPMALFORMED", "mode permissive"),
    "inferSchema": ("csv", "rows.csv", "true", "inferSchema false"),
}
"""Options by which what is read may not be the same twice: of a format, with a value, and what is asked instead."""


@pytest.mark.parametrize("new", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["files", "tables"])
def test_readers_that_may_give_other_rows_are_refused_by_name(session: Any, folder: Path, new: bool) -> None:
    """Also where a subquery reads so, a statement says so, or a table was made so."""
    session.read.parquet(str(folder / "rows.parquet")).write.orc(str(folder / "rows.orc"))
    if new:
        session.conf.set("spark.sql.sources.useV1SourceList", "")
    for option, (kind, name, value, asked) in READERS.items():
        reader = session.read.format(kind).option(option.upper(), value).option("header", "true")
        with pytest.raises(sf.errors.BadArgument, match=asked):
            refuse_unstable(reader.load(str(folder / name)))
    typed, texts = session.read.json(str(folder / "typed.json")), session.read.json(str(folder / "rows.json"))
    with pytest.raises(sf.errors.BadArgument, match="text files with all columns as texts"):
        refuse_unstable(typed)
    path = folder / "rows.parquet"
    session.read.option("ignoreCorruptFiles", "true").parquet(str(path)).createTempView("partly")
    session.read.parquet(str(path)).createTempView("whole")
    for text in (
        "SELECT * FROM whole WHERE user IN (SELECT user FROM partly)",
        f"SELECT * FROM parquet.`{path}` WITH (ignoreCorruptFiles = true)",
    ):
        with pytest.raises(sf.errors.BadArgument, match="ignoreCorruptFiles false"):
            refuse_unstable(session.sql(text))
    harmless = session.read.option("ignoreCorruptFiles", "False").option("recursiveFileLookup", "true")
    for frame in (texts, harmless.parquet(str(path))):
        refuse_unstable(frame)
    with closing(
        open_source({"t": session.read.csv(str(folder / "rows.csv"), header=True)}, catalog(), session)
    ) as own:
        assert counted(own) == [6, 4]


def catalog(scan: Scan = TABLE) -> Any:
    return SimpleNamespace(tables={"t": scan})


HIDDEN = {
    "in a subquery": "SELECT user, x FROM whole WHERE x > (SELECT max(x) - 9 FROM (SELECT rand() AS x FROM whole))",
    "limit in a subquery": "SELECT user, x FROM whole WHERE user IN (SELECT user FROM whole LIMIT 2)",
    "first in a subquery": "SELECT user, x FROM whole WHERE x >= (SELECT first(x) FROM whole)",
    "limit in a CTE": "WITH some AS (SELECT * FROM whole LIMIT 2) SELECT user, some.x FROM some JOIN whole USING(user)",
    "mode": "SELECT user, mode(x) AS x FROM whole GROUP BY user",
    "max_by": "SELECT user, max_by(x, user) AS x FROM whole GROUP BY user",
    "min_by": "SELECT user, min_by(x, user) AS x FROM whole GROUP BY user",
    "percentile_approx": "SELECT user, percentile_approx(x, 0.5) AS x FROM whole GROUP BY user",
    "a sketch": "SELECT user, length(kll_sketch_to_string_double(kll_sketch_agg_double(x))) AS x FROM whole GROUP BY 1",
    "hll": "SELECT user, hll_sketch_estimate(hll_sketch_agg(CAST(x AS STRING))) * 1D AS x FROM whole GROUP BY user",
}


def test_what_hangs_on_chance_or_order_is_found_wherever_it_is(session: Any, folder: Path) -> None:
    session.read.parquet(str(folder / "rows.parquet")).createTempView("whole")
    frames = {name: session.sql(text) for name, text in HIDDEN.items()}
    frames["view"] = session.sql("SELECT user, x + rand() AS x FROM whole")
    frames["view"].createTempView("shaken")
    frames["view"] = session.sql("SELECT * FROM shaken WHERE user > 1")
    frames["checkpoint that is not made"] = session.sql("SELECT * FROM shaken").localCheckpoint(eager=False)
    for name, frame in frames.items():
        with pytest.raises(sf.errors.BadArgument, match=r"each time that Spark works|a checkpoint that is made"):
            refuse_unstable(frame)
            pytest.fail(name)
    refuse_unstable(session.sql("SELECT * FROM shaken").localCheckpoint())


def test_another_database_is_refused_since_every_statement_asks_it_anew(session: Any) -> None:
    url = "jdbc:derby:memory:rows;create=true"
    reader = session.read.format("jdbc").options(url=url, driver="org.apache.derby.jdbc.EmbeddedDriver")
    frame = reader.option("query", 'SELECT 1 AS "user", 2.5E0 AS "x" FROM SYSIBM.SYSDUMMY1').load()
    with pytest.raises(sf.errors.BadArgument, match=r"every statement would ask another system anew.*JDBCRelation"):
        refuse_unstable(frame)


SITE = Column("site", Kind.TEXT, Facts(), "t.site")


def test_types_are_not_guessed_from_the_names_of_folders(session: Any, folder: Path) -> None:
    """One folder more, `site=x`, would make a text of `site=01` for everybody else, who had the number 1."""
    base = folder / "by site"
    for site in ("01", "1"):
        (base / f"site={site}").mkdir(parents=True)
        pq.write_table(pa.table(ROWS), base / f"site={site}" / "rows.parquet")
    scan = Scan("t", (TABLE.columns[0], SITE), Owner("user"))
    by_site = Cells(scan, (SITE,), (Rows(), Units()), Bound(None, 99))
    with closing(open_source({"t": str(base)}, catalog(scan), session)) as engine:
        assert engine.run(by_site).keys == (["01", "1"],)
    guessed = session.read.parquet(str(base))
    for guesses in ("true", "false"):  # what was guessed once stays so
        session.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", guesses)
        with pytest.raises(sf.errors.BadArgument, match="files in folders whose names are texts"):
            refuse_unstable(guessed)
    with closing(open_source({"t": session.read.parquet(str(base))}, catalog(scan), session)) as engine:
        assert engine.run(by_site).keys == (["01", "1"],)
    refuse_unstable(session.read.schema("user BIGINT, x DOUBLE, site INT").parquet(str(base)))  # which says it


def test_a_table_that_says_where_rows_are_is_not_believed(session: Any, folder: Path) -> None:
    """Spark adds up each bucket by itself; a file of another bucket's rows would make two of one person."""
    rows = session.createDataFrame([(user, 1.0) for user in range(40)], "user BIGINT, x DOUBLE")
    where = folder / "bucketed"
    one_file = {"path": str(where), "maxRecordsPerFile": "0"}
    rows.coalesce(1).write.bucketBy(2, "user").options(**one_file).saveAsTable("bucketed")
    try:
        first, second = sorted(where.glob("part-*"))
        table = pa.concat_tables([pq.read_table(first), pq.read_table(second)])
        for path in (first, second):
            pq.write_table(table, path)
            path.with_name(f".{path.name}.crc").unlink()
        asked = Cells(TABLE, (), (Rows(), Units()), Bound(None, 1, cut=True))
        for given in (session.table("bucketed"), "spark://bucketed"):
            with closing(open_source({"t": given}, catalog(), session)) as engine:
                assert counted(engine, asked) == [40, 40]
        believed = session.table("bucketed").groupBy("user").count().count()
        assert believed == 80  # as Spark says where it believes
    finally:
        session.sql("DROP TABLE bucketed")


def test_a_name_is_that_of_a_table_in_the_database_that_is_used(session: Any, folder: Path) -> None:
    session.sql(f"CREATE DATABASE ward LOCATION '{folder / 'ward'}'")
    session.sql("USE ward")
    try:
        session.createDataFrame([(1, 0.5), (2, 1.5)], "user BIGINT, x DOUBLE").write.saveAsTable("visits")
        for name in ("visits", "spark://visits", "spark://ward.visits"):
            with closing(open_source({"t": name}, catalog(), session)) as engine:
                assert counted(engine) == [2, 2]
    finally:
        session.sql("DROP DATABASE ward CASCADE")


def test_rows_that_are_kept_in_memory_are_a_version_of_their_own(session: Any, folder: Path) -> None:
    """What files hold by now is not what is read."""
    frame = session.read.parquet(str(folder / "rows.parquet"))

    def version() -> str:
        with closing(open_source({"t": frame}, catalog(), session)) as engine:
            return engine.fingerprints(b"key")["t"]

    assert version() == version()
    frame.cache().count()
    try:
        assert version() != version()
    finally:
        frame.unpersist()


HOSTILE = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ansi.enforceReservedKeywords": "true",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.sources.useV1SourceList": "",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}
"""What is not set for all tests of Spark (`tests/examples/spark.py`), but may be."""


def test_a_session_whose_settings_are_all_against_us_gives_the_same_numbers(session: Any, folder: Path) -> None:
    for name, setting in HOSTILE.items():
        session.conf.set(name, setting)
    frame = session.read.parquet(str(folder / "rows.parquet"))
    above = Cells(Where(TABLE, call("gt", X, literal(2.4))), (), (Rows(), Units()), Bound(None, 9))
    for given in (frame, str(folder / "rows.parquet")):
        with closing(open_source({"t": given}, catalog(), session)) as engine:
            assert counted(engine) == [6, 4]
            assert counted(engine, above) == [3, 3]
            assert not {name for name, setting in SETTINGS.items() if engine.session.conf.get(name) != setting}

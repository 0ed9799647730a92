"""Spark from outside: the grey-box audit, tables that nobody here made, files with odd values, jobs that break off."""

from __future__ import annotations

import datetime
import random
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from threading import Event, Thread
from time import sleep
from typing import Any

import numpy as np
import pytest
from tests.examples.real_tables import STRANGERS
from tests.examples.spark import opened_in_spark, spark_session
from tests.fuzz.plans import as_declared
from tests.fuzz.strangers import asked, cut, run_all, without
from tests.reference.duck import answers

import sfumato as sf
from sfumato.audit.grey_box_queries import grey_box_query
from sfumato.audit.record import Verdict
from sfumato.core.outages import Outage
from sfumato.query.engines.needs import needs_of_cells
from sfumato.query.engines.spark import engine as engines
from sfumato.query.engines.spark.dialect import LACKS
from sfumato.query.engines.spark.engine import SparkEngine
from sfumato.query.engines.spark.opening import Spark
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Owner, Scan
from sfumato.query.plan.engine_plan import Bound, Cells, Computed, Rows, Units

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

FEW = 3
"""So many of the questions about a real table are asked in the short form; at night all of them."""

VISITS = {"user": [at % 10 for at in range(60)], "n": [at % 4 for at in range(60)]}
BOOK = {
    "codebook": 1, "title": "Visits", "unit": {"protects": "a person", "id": "user"},
    "tables": {"visits": {"columns": {
        "user": {"type": "int"}, "n": {"type": "int", "between": [0, 3], "source": "a list"},
    }}},
}  # fmt: skip


AUDITED = [
    "SELECT COUNT(*) AS c, SUM(n) AS s FROM visits",
    pytest.param("SELECT AVG(n) AS m, COUNT(DISTINCT n) AS d FROM visits", marks=pytest.mark.nightly),
    pytest.param("SELECT MEDIAN(n) AS m FROM visits", marks=pytest.mark.nightly),
]


@pytest.mark.parametrize("text", AUDITED)
def test_what_is_randomized_on_spark_is_what_was_priced(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The grey-box audit, on a table and on the same without one person; numbers that are ten times as large fail."""
    here = pa.table(VISITS)
    there = here.filter(pa.array([user != 3 for user in VISITS["user"]]))

    def audited() -> Any:
        given: Any = {"codebook": BOOK, "loss": sf.Pure(1), "max_rows": 4, "engine": Spark(spark_session())}
        return grey_box_query(text, {"visits": here}, {"visits": there}, **given)

    audit = audited()
    assert audit.verdict is Verdict.SOUND and not audit.faults, audit.faults
    if "SUM" in text:
        run = SparkEngine.run

        def tenfold(engine: SparkEngine, cells: Cells) -> Computed:
            found = run(engine, cells)
            return replace(found, numbers=tuple(10 * np.asarray(numbers) for numbers in found.numbers))

        monkeypatch.setattr(SparkEngine, "run", tenfold)
        assert audited().verdict is not Verdict.SOUND


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["short", "whole"])
@pytest.mark.parametrize("name", STRANGERS)
def test_real_tables_give_the_same_cells_and_nobody_moves_them_further_than_declared(name: str, whole: bool) -> None:
    """Nothing is cut as people ask; and with little kept of each unit, one who leaves moves little."""
    table, (catalog, _, cells) = STRANGERS[name], asked(name)
    drawn = random.Random(name)
    known = [one for one in cells if not LACKS & set(needs_of_cells(one))]
    assert len(known) == len(cells)
    by_rows = isinstance(table.unit, sf.Unit)
    some = known if whole else drawn.sample(known, FEW)
    few = [cut(one, by_rows) for one in (some if whole else some[:1])]
    with closing(opened_in_spark({name: table.table}, catalog.tables)) as engine:
        assert [answers(engine.run(one), one) for one in some] == run_all("Arrow", name, table.table, catalog, some)
        before = [answers(engine.run(one), one) for one in few]
    with closing(opened_in_spark({name: without(table, drawn)}, catalog.tables)) as engine:
        for one, found in zip(few, before, strict=True):
            as_declared(found, answers(engine.run(one), one), one, Bound(1, 1) if by_rows else one.bound)


# Files as others write them


def odd_texts() -> Any:
    """Texts of which one is not UTF-8, as a file may hold them."""
    offsets = pa.py_buffer(b"".join(at.to_bytes(4, "little") for at in (0, 1, 3, 6, 10)))
    return pa.Array.from_buffers(pa.string(), 4, [None, offsets, pa.py_buffer(b"a" + b"\xc3\x28" + "€🙂".encode())])


def long_decimals() -> Any:
    """Decimals of five digits, of which two hold more: their least digits are those of others."""
    wide = pa.array([Decimal(one) for one in ("1.25", "12345.67", "-83886.08", "999.99")], pa.decimal128(38, 2))
    return pa.Array.from_buffers(pa.decimal128(5, 2), 4, [None, wide.buffers()[1]])


def odd_file(path: Path) -> None:
    moments = [datetime.datetime(*one) for one in ((1, 1, 1), (1969, 12, 31, 23, 59, 59, 999000), (2024, 2, 29, 12))]
    milliseconds = pa.array([*moments, None], pa.timestamp("ms"))
    table = pa.table(
        {
            "user": [1, 2, 3, 4],
            "at": milliseconds,
            "zoned": milliseconds.cast(pa.timestamp("ms", "UTC")),
            "exact": long_decimals(),
            "word": odd_texts(),
        }
    )
    pq.write_table(table, path, version="2.6", coerce_timestamps="ms")
    assert pq.read_schema(path).field("at").type == pa.timestamp("ms")


USER = Column("user", Kind.INT, Facts(), "t.user", 0)
AT, ZONED = Column("at", Kind.TIME, Facts(), "t.at"), Column("zoned", Kind.TIME, Facts(), "t.zoned")
EXACT, WORD = Column("exact", Kind.FLOAT, Facts(), "t.exact"), Column("word", Kind.TEXT, Facts(), "t.word")
ODD = Scan("t", (USER, AT, ZONED, EXACT, WORD), Owner("user"))
SHOWN = Scan("t", ODD.columns)


def test_files_with_odd_values_are_read_row_by_row(tmp_path: Path) -> None:
    """Milliseconds are moments; what has too many digits, or is not UTF-8, is missing, and its row is there."""
    odd_file(tmp_path / "odd.parquet")
    with closing(opened_in_spark({"t": str(tmp_path / "odd.parquet")}, {"t": ODD})) as engine:
        found = engine.rows(SHOWN)
        (counted,) = engine.run(Cells(ODD, (WORD,), (Rows(), Units()), Bound(None, 1))).keys
        (whole,) = (answers(engine.run(one), one) for one in [Cells(ODD, (), (Rows(), Units()), Bound(None, 1))])
    moments = [datetime.datetime(1, 1, 1), datetime.datetime(1969, 12, 31, 23, 59, 59, 999000)]
    moments.append(datetime.datetime(2024, 2, 29, 12))
    assert found["at"] == found["zoned"] == [*moments, None]
    assert found["exact"] == [1.25, None, None, 999.99]
    assert found["word"] == ["a", None, "€", "🙂"]
    assert counted == [None, "a", "€", "🙂"] and list(whole.values()) == [(4, 4)]


def test_texts_are_in_the_order_of_code_points_with_missing_ones_first() -> None:
    """Java's own order has what needs two units of 16 bits before U+E000 and on."""
    texts = ["\ue000", "🙂", "\uffee", "a", "", "A", None, "é", "e\u0301"]
    scan = Scan("t", (WORD, Column("x", Kind.FLOAT, Facts(), "t.x")), Owner())
    data = {"word": texts, "x": [2.0, -1.0, None, -0.0, 0.0, 5e-324, 1.0, -1.5, float("nan")]}
    by_text, by_number = Cells(scan, (WORD,), (Rows(),)), Cells(scan, (scan.columns[1], WORD), (Rows(),))
    with closing(opened_in_spark({"t": pa.table(data)}, {"t": scan})) as engine:
        assert engine.run(by_text).keys == ([None, "", "A", "a", "e\u0301", "é", "\ue000", "\uffee", "🙂"],)
        numbers, words = engine.run(by_number).keys
    assert numbers == [None, None, -1.5, -1.0, 0.0, 0.0, 5e-324, 1.0, 2.0]
    assert words == ["e\u0301", "\uffee", "é", "🙂", "", "a", "A", None, "\ue000"]


# Jobs that break off


def cancel_soon(spark: Any, ended: Event) -> None:
    """Cancels the first job that runs, as somebody who looks after a cluster may."""
    while not ended.is_set() and not spark.sparkContext.statusTracker().getActiveJobsIds():
        sleep(0.05)
    spark.sparkContext.cancelAllJobs()


@pytest.mark.parametrize("fault", ["cancelled", "stopped"])
def test_what_breaks_off_is_charged_once_and_says_nothing_of_the_data(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that somebody cancels while it runs; and a session that is no more, which is told."""
    spark = spark_session()
    endless = spark.sql("SELECT id % 10 AS user, id % 4 AS n FROM range(0, 1000000000000, 1, 2)")
    asked = sf.Dataset({"visits": endless}, codebook=BOOK).session(limit=sf.Pure(1000), ledger="memory:")
    paid: Any = {"loss": sf.Pure(500), "max_rows": 9, "key": "once"}
    over = Event()
    watch = Thread(target=cancel_soon, args=(spark, over))
    watch.start()
    with monkeypatch.context() as patched:
        if fault == "stopped":
            patched.setattr(engines, "stopped", lambda _: True)
        with pytest.raises(sf.errors.RunFailed) as told:
            asked.sql("SELECT COUNT(*) AS n FROM visits", **paid)
    over.set()
    watch.join()
    assert told.value.outage is (Outage.LOST if fault == "stopped" else None)
    assert "Exception" not in str(told.value) and told.value.__cause__ is None and told.value.__context__ is None
    with pytest.raises(sf.errors.PermitUsed):
        asked.sql("SELECT COUNT(*) AS n FROM visits", **paid)
    assert asked.spent == sf.Pure(500)

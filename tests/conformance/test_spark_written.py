"""Releases that are written by Spark: the noise is added where the groups are, and nothing of a group comes here."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.examples.spark import spark_session

import sfumato as sf
from sfumato.errors import BadArgument, QueryRefused, RunFailed
from sfumato.query.engines.spark import engine as engines
from sfumato.query.engines.spark import tables
from sfumato.query.engines.spark.engine import SparkEngine
from sfumato.query.engines.spark.opening import Spark
from sfumato.query.engines.spark.spreading import computed_of, finishing, gathered
from sfumato.query.engines.spark.tables import COORDINATED, SparkTables
from sfumato.query.plan.engine_plan import Computed
from sfumato.release.written import DOCUMENT
from sfumato.session.session import Session

PEOPLE, PAGES = 3000, 30
BY_PAGE = "SELECT page, COUNT(*) AS n, AVG(x) AS m FROM visits GROUP BY page"
PAID: dict[str, Any] = {"epsilon": 2, "delta": "1e-6", "max_groups": 1, "max_rows_per_group": 1}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Visits of people who have one each, in files; some have pages of their own."""
    spark_session()
    folder: Path = tmp_path_factory.mktemp("visits")
    at = np.arange(PEOPLE)
    pages = [f"own {one}" if one % 10 == 0 else f"p{one % PAGES:02}" for one in at]
    table = pa.table({"u": at, "page": pages, "x": at % 5})
    for part in range(3):
        pq.write_table(table.slice(part * 1000, 1000), folder / f"part-{part}.parquet")
    return folder


def opened(files: Path, book: Path) -> Session:
    data = sf.Dataset(
        str(files), unit="u", between={"x": (0, 5)}, name="visits", version="spring", engine=Spark(spark_session())
    )
    return data.session(limit=sf.Approx(50, "1e-3"), ledger=book)


def shown_in(folder: Path) -> list[str]:
    """What is in a folder besides staged ones, which must be empty, and nobody else's."""
    staged = [name for name in os.listdir(folder) if name.endswith(".staged")]
    assert all(not os.listdir(folder / name) for name in staged)
    assert all(os.stat(folder / name).st_mode & 0o777 == 0o700 for name in staged)
    return sorted(set(os.listdir(folder)) - set(staged))


def text(session: Session, asked: str = BY_PAGE) -> str:
    """The question, about the table as files name it."""
    return asked.replace("visits", next(iter(session.dataset.tables.catalog.tables)))


def test_spark_writes_what_nobody_collects(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are right, sorted, and there as a whole; the engine is asked for no cells, nor for any frame's rows."""
    from pyspark.sql.classic.dataframe import DataFrame

    session = opened(files, tmp_path / "book.db")
    monkeypatch.setattr(SparkEngine, "run", None)
    monkeypatch.setattr(DataFrame, "toArrow", None)
    monkeypatch.setattr(DataFrame, "toPandas", None)
    collect = DataFrame.collect
    monkeypatch.setattr(DataFrame, "collect", lambda frame: collect(frame.limit(2)))
    release = session.write(text(session), to=str(tmp_path / "out" / "pages"), **PAID)
    place = tmp_path / "out" / "pages"
    found = sf.release.read_release(place)
    rows = pq.read_table(place).to_pydict()
    assert release.value.rows == len(rows["page"]) == 27 and rows["page"] == sorted(rows["page"])
    assert all(page.startswith("p") for page in rows["page"])
    assert all(abs(n - 100) < 60 for n in rows["n"]) and len(set(rows["n"])) > 5
    assert all(low < n < high for low, n, high in zip(rows["n_low"], rows["n"], rows["n_high"], strict=True))
    assert found.receipt == release.receipt and found.table() is not None
    assert [name for name in os.listdir(place) if not name.startswith((".", "_"))] == [
        name for name in os.listdir(place) if name.endswith(".parquet")
    ]
    assert len([name for name in os.listdir(place) if name.endswith(".parquet")]) == 1
    assert DOCUMENT in os.listdir(place) and shown_in(tmp_path / "out") == ["pages"]
    again = session.write(text(session), to=str(place), **PAID)
    assert again.receipt == release.receipt and session.spent.epsilon == 2


def test_a_part_that_breaks_is_paid_and_leaves_nothing(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an executor says of why may quote rows: it is shown nowhere."""
    session = opened(files, tmp_path / "book.db")

    def broken_over(frame: Any, *_: Any) -> Any:
        def broken(batches: Any) -> Any:
            for batch in batches:
                raise RuntimeError(f"Ada: {batch.to_pydict()}")
            yield from ()

        return frame.mapInArrow(broken, "n long")

    with monkeypatch.context() as patched:
        patched.setattr(engines, "spread_over", broken_over)
        with pytest.raises(RunFailed) as failed:
            session.write(text(session), to=str(tmp_path / "out" / "a"), **PAID)
    assert "Ada" not in str(failed.value) and failed.value.__cause__ is None and failed.value.__context__ is None
    assert session.spent.epsilon == 2 and shown_in(tmp_path / "out") == []


def test_bad_places_are_refused_and_cost_nothing(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = opened(files, tmp_path / "book.db")
    (tmp_path / "file").write_text("mine")
    for to, form, why in (
        (str(tmp_path / "file"), "parquet", "no release"),
        (str(tmp_path / "file" / "a"), "parquet", "can be written to"),
        (str(files / "a"), "parquet", "read as data"),
        (f"file://{files}/a", "parquet", "read as data"),
        ("nowhere://bucket/a", "parquet", "file system that this session"),
        (str(tmp_path / "a"), "delta", "started with Delta"),
        (str(tmp_path / "a"), "csv", "parquet"),
    ):
        with pytest.raises(BadArgument, match=why):
            session.write(text(session), to=to, format=form, **PAID)
    monkeypatch.setattr(tables, "made_by", lambda: "sfumato 99")
    with pytest.raises(QueryRefused, match="PYSPARK_PYTHON"):
        session.write(text(session), to=str(tmp_path / "a"), **PAID)
    monkeypatch.setattr(tables, "is_remote", lambda _: True)
    with pytest.raises(QueryRefused, match="classic session"):
        session.write(text(session), to=str(tmp_path / "a"), **PAID)
    assert session.spent.epsilon == 0 and "file" in shown_in(tmp_path)


# What tasks run, and what is refused, without Spark.


def test_a_release_is_written_only_where_one_attempt_commits() -> None:
    """Without the coordinator of commits two attempts of one task, each with noise of its own, may both do."""
    started: Any = SimpleNamespace(sparkContext=SimpleNamespace(getConf=lambda: {COORDINATED: "false"}))
    with pytest.raises(sf.errors.QueryRefused, match=r"outputCommitCoordination.enabled false.*Nothing was charged"):
        SparkTables(started).place("/tmp/nowhere", "parquet")


def test_small_batches_are_put_together() -> None:
    schema = pa.schema([("n0", pa.int64())])
    batches = [pa.RecordBatch.from_pydict({"n0": [0] * size}, schema) for size in (3, 4, 5, 0, 2)]
    assert [len(table) for table in gathered(iter(batches), 6)] == [7, 7]
    assert [len(table) for table in gathered(iter(batches[:2]), 100)] == [7] and not list(gathered(iter([])))


def test_cells_of_arrow_are_cells() -> None:
    wide = pa.array([2**70, -1, 0], pa.decimal128(38, 0))
    table = pa.table({"k0": ["a", None, "c"], "n0": pa.array([1, 2, 3]), "n1": wide})
    computed = computed_of(table, 1, 2)
    assert [numbers.tolist() for numbers in computed.numbers] == [[1, 2, 3], [2**70, -1, 0]]
    assert isinstance(computed.keys[0], pa.Array) and computed.keys[0].to_pylist() == ["a", None, "c"]


def test_a_task_finishes_each_of_its_batches_once() -> None:
    asked: list[int] = []

    class Counting:
        schema = pa.schema([("n", pa.int64())])

        def __call__(self, computed: Computed) -> pa.RecordBatch:
            asked.append(len(computed.numbers[0]))
            return pa.RecordBatch.from_pydict({"n": computed.numbers[0]})

    batches = [pa.RecordBatch.from_pydict({"k0": ["a"] * 5, "n0": [at] * 5}) for at in range(3)]
    made = list(finishing(Counting(), 1, 1)(iter(batches)))
    assert asked == [15] and [len(batch) for batch in made] == [15]

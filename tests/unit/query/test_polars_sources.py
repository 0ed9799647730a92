"""Sources in Polars: what is believed, what is read once, what is said when something is wrong, and what never is."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.examples.lying_files import CELLS, COLUMNS, QUESTIONS, WRITERS, held, plain
from tests.examples.odd_ids import HELD, TEXTS, catalog

import sfumato as sf
from sfumato.errors import BadArgument, MissingExtra, QueryRefused
from sfumato.query.engines.inputs.files import SMALL
from sfumato.query.engines.polars.engine import PolarsEngine
from sfumato.query.engines.polars.opening import Polars
from sfumato.query.engines.polars.running import BROKE_OFF, FLAGS
from sfumato.query.engines.polars.sources import open_source
from sfumato.query.engines.registry import opener_of
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Fold, Folded, Owner, PerUnit, Scan, Where
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Term, Total, Units
from sfumato.query.plan.grids import Grid

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars")

BOOK: dict[str, Any] = {
    "codebook": 1,
    "title": "Visits",
    "unit": {"protects": "a person", "id": "user"},
    "tables": {"visits": {"columns": {"user": {"type": "int"}, "site": {"type": "str"}}}},
}
ROWS = {"user": [1, 1, 2, 3], "site": ["a", "b", "a", "a"]}


def opened(source: Any, *columns: Column, small: int = SMALL) -> PolarsEngine:
    tables = {"t": Scan("t", columns or COLUMNS)}
    return open_source(source, SimpleNamespace(tables=tables), small=small)  # type: ignore[arg-type]


def numbers(engine: PolarsEngine, cells: Cells) -> Any:
    made = engine.run(cells)
    return [column.tolist() for column in made.numbers], [list(keys) for keys in made.keys]


IN_PLACE = pytest.mark.parametrize("small", [0, SMALL], ids=["in place", "copied"])

# What Polars could believe


@IN_PLACE
@pytest.mark.parametrize("writer", WRITERS)
def test_what_a_file_says_of_its_rows_changes_no_answer(tmp_path: Path, writer: str, small: int) -> None:
    path = tmp_path / "x.parquet"
    WRITERS[writer](path)
    with closing(opened(path, small=small)) as engine, closing(opened(plain(path))) as honest:
        for name, cells in QUESTIONS.items():
            assert numbers(engine, cells) == numbers(honest, cells), name


VALUES = {"u": [1, 1, 2, 2, 3, 3], "n": [5, 1, 9, 3, 7, 2], "s": ["q", "a", "z", "b", "c", "d"]}
U, N, S = Column("u", Kind.INT, unit=0), Column("n", Kind.INT), Column("s", Kind.TEXT)
SCAN = Scan("t", (U, N, S), Owner("u"))
MOST = Column("most", Kind.INT)
IN_ORDER = {
    "above": Cells(Where(SCAN, call("gt", N, literal(4))), (N,), (Rows(),)),
    "least": Cells(PerUnit(SCAN, (("u", U),), (Folded(Fold.MIN, S, MOST),)), (U,), (Rows(),)),
    "most": Cells(PerUnit(SCAN, (("u", U),), (Folded(Fold.MAX, N, MOST),)), (MOST,), (Rows(),)),
    "groups": Cells(SCAN, (S,), (Rows(),)),
}


def said_to_be_sorted(tmp_path: Path, form: str) -> Any:
    """Gives values of which every column is said to be sorted, and is not."""
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table(VALUES).select(["n", "u", "s"]), path, sorting_columns=[pq.SortingColumn(0)])
    frame = pl.DataFrame(VALUES).with_columns(pl.all().set_sorted())
    return {"file": path, "frame": frame, "lazy frame": frame.lazy(), "lazy file": pl.scan_parquet(path)}[form]


@IN_PLACE
@pytest.mark.parametrize("form", ["file", "frame", "lazy frame", "lazy file"])
def test_what_is_said_of_the_order_of_values_changes_no_answer(tmp_path: Path, form: str, small: int) -> None:
    given = said_to_be_sorted(tmp_path, form)
    with closing(opened(given, *SCAN.columns, small=small)) as engine, closing(opened(VALUES, *SCAN.columns)) as honest:
        for name, cells in IN_ORDER.items():
            assert numbers(engine, cells) == numbers(honest, cells), name


def test_polars_would_believe_it(tmp_path: Path) -> None:
    """What is tested above is not empty."""
    file, frame = (said_to_be_sorted(tmp_path, form) for form in ("file", "frame"))
    for scan in (pl.scan_parquet(file, use_statistics=False), frame.lazy()):
        above = scan.filter(pl.col("n") > 4).collect(engine="streaming", optimizations=FLAGS)
        assert above["n"].to_list() != [5, 9, 7]


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_condition_reaches_a_scan(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[str] = []
    collect = pl.LazyFrame.collect

    def seen(frame: Any, *, optimizations: Any = None, **options: Any) -> Any:
        plans.append(frame.explain(optimizations=optimizations))
        return collect(frame, optimizations=optimizations, **options)

    path = tmp_path / "x.parquet"
    WRITERS["NaN by polars"](path)
    with closing(opened(path, small=0)) as engine:
        monkeypatch.setattr(pl.LazyFrame, "collect", seen)
        engine.run(QUESTIONS[name])
    assert all("Parquet SCAN" in plan and "SELECTION" not in plan for plan in plans) and plans


def test_sums_do_not_wrap() -> None:
    """Of numbers that fit into 64 bits; added up within a person, and then over all."""
    much = 2**31
    n = Column("n", Kind.INT, Facts((Fraction(-much), Fraction(much))))
    grid = Grid(-much, much, 0)
    scan = Scan("t", (U, n), Owner("u"))
    rows = 3 * 2**20
    data = {"u": np.arange(rows) % 3, "n": np.full(rows, much)}
    with closing(opened(pa.table(data), *scan.columns)) as engine:
        for owner in (Owner("u"), Owner()):
            (total,) = engine.run(Cells(replace(scan, owner=owner), (), (Total((Term(n, grid),) * 2),))).numbers
            assert total.tolist() == [rows * much**2]
            (total,) = engine.run(Cells(replace(scan, owner=owner), (), (Total((Term(n, grid),)),))).numbers
            assert total.tolist() == [rows * much]


def test_what_a_value_is_does_not_hang_on_how_many_rows_are_beside_it() -> None:
    """Polars divides by a number for all rows, and raises a single row to a power, in ways that round otherwise."""
    chance = np.random.default_rng(7)
    values = {"n": np.arange(200), "x": chance.random(200) * 50, "y": chance.integers(2, 6, 200).astype(float)}
    n, x, y = Column("n", Kind.INT), Column("x", Kind.FLOAT), Column("y", Kind.FLOAT)
    made = (call("div", x, literal(3.0)), call("div", x, y), call("power", x, y), call("mod", x, literal(0.7)))
    scan = Scan("t", (n, x, y), Owner())
    cells = Cells(scan, (n, *made), (Rows(),))
    with closing(opened(values, *scan.columns)) as engine:
        beside = list(zip(*engine.run(cells).keys, strict=True))
    for place, row in enumerate(beside):
        alone = {name: column[place : place + 1] for name, column in values.items()}
        with closing(opened(alone, *scan.columns)) as engine:
            assert [row] == list(zip(*engine.run(cells).keys, strict=True))
    assert [row[1] for row in beside] == [one / 3.0 for one in values["x"].tolist()]


# Cells that nothing holds


@IN_PLACE
@pytest.mark.parametrize("name", CELLS)
def test_no_cell_makes_a_question_fail(tmp_path: Path, name: str, small: int) -> None:
    kind, cells, expected = CELLS[name]
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"place": np.arange(len(cells)), "x": cells}), path)
    columns = (Column("place", Kind.INT), Column("x", kind))
    with closing(opened(path, *columns, small=small)) as engine:
        read = engine.rows(Scan("t", columns))
        assert list(zip(read["place"], read["x"], strict=True)) == list(enumerate(expected))
        present = sum(value is not None for value in expected)
        x = columns[1]
        assert engine.run(Cells(Scan("t", columns, Owner()), (), (Rows(x),))).numbers[0].tolist() == [present]
        assert engine.run(Cells(Scan("t", columns, Owner("x")), (), (Rows(x),))).numbers[0][0] <= present  # as an id


def test_times_in_96_bits_are_read_in_all_years(tmp_path: Path) -> None:
    times = pa.array([-62_135_596_800_000_000, 1, 253_402_300_799_999_999]).cast(pa.timestamp("us"))
    pq.write_table(pa.table({"at": times}), tmp_path / "x.parquet", use_deprecated_int96_timestamps=True)
    at = Column("at", Kind.TIME)
    for small in (0, SMALL):
        with closing(opened(tmp_path / "x.parquet", at, small=small)) as engine:
            assert engine.rows(Scan("t", (at,)))["at"] == times.to_pylist()


# Who is who

IDS: list[tuple[Any, str, int]] = [
    (TEXTS, "int", 6),
    (TEXTS, "float", 6),
    (pl.Series([2**53, 2**53 + 1, 2**53]), "float", 2),
    (pl.Series([2**64 - 1, 2**64 - 2], dtype=pl.UInt64), "float", 2),
    (pl.Series(["0.1", "0.10000000000000000001"]).str.to_decimal(scale=20), "float", 2),
    (pl.Series([1.0, 1.4, 1.0, -0.0, 0.0, math.nan, math.inf, -math.inf, None]), "int", 5),
    (pl.Series([1, 2]).cast(pl.Datetime("ns")), "time", 2),
    (pl.Series([7, 7, 8]).cast(pl.Datetime("ms")), "date", 2),
    (pl.Series(["2024-01-01T09:00", "2024-01-01 09:00:00", "2024-01-01", "2024/1/1", "x", "NA"]), "date", 3),
    (pl.Series(["2024-01-01T09:00:00.0000001", "2024-01-01T09:00:00.0000002"]), "time", 2),
    (pl.Series(["a", "b", "a", None], dtype=pl.Categorical), "str", 2),
    (["\ud800", "\ud801", "\ud800", "a", object(), None], "str", 3),
    ([2**70, 2**70 + 1, 1, 1.0, "1", True, None], "int", 4),
]


@pytest.mark.parametrize(("ids", "type_", "many"), IDS, ids=range(len(IDS)))
@pytest.mark.parametrize("lazy", [False, True], ids=["frame", "lazy"])
def test_people_are_told_apart_exactly(ids: Any, type_: str, many: int, lazy: bool) -> None:
    known = catalog(type_)
    table: Any = {"u": ids, "x": ["a"] * len(ids)}
    if lazy:  # which hold what has a type
        table = pl.LazyFrame(table, strict=False) if ids is TEXTS or isinstance(ids, pl.Series) else table
    data = {"visits": table, "people": {"u": [], "k": []}, "orders": {"k": []}}
    with closing(open_source(data, known)) as engine:
        made = engine.run(Cells(known.table("visits"), (), (Units(), Rows()), Bound(rows=1)))
    assert [int(column[0]) for column in made.numbers] == [many, many]


def test_floats_that_are_ids_in_every_table_are_told_apart() -> None:
    """Compared as floats: above, where another table holds nothing that has a type, they are compared as texts."""
    known, floats = catalog("int"), IDS[5][0]
    none = pl.Series([], dtype=pl.Float64)
    data = {"visits": {"u": floats, "x": ["a"] * 9}, "people": {"u": none, "k": none}, "orders": {"k": none}}
    with closing(open_source(data, known)) as engine:
        made = engine.run(Cells(known.table("visits"), (), (Units(), Rows()), Bound(rows=1)))
    assert [int(column[0]) for column in made.numbers] == [5, 5]


@pytest.mark.parametrize("one", HELD)
@pytest.mark.parametrize("other", HELD)
def test_tables_may_hold_ids_and_keys_in_different_types(one: str, other: str) -> None:
    known = catalog("int")
    data = {
        "visits": {"u": HELD[one]([1, 2, 3, 2**40]), "x": ["a"] * 4},
        "people": {"u": HELD[other]([1, 2, 7]), "k": HELD[one]([10, 20, 30])},
        "orders": {"k": HELD[other]([10, 10, 20, 40])},
    }
    with closing(open_source(data, known)) as engine:
        counted = engine.run(Cells(known.table("orders"), (), (Rows(), Units()))).numbers
    assert [column.tolist() for column in counted] == [[3], [2]]


# Lazy frames, and versions


def counted(frame: Any) -> tuple[Any, list[int]]:
    """Gives a plan that gives other values each time, and the list of its runs."""
    runs: list[int] = []

    def other(values: Any) -> Any:
        runs.append(len(values))
        return values + len(runs)

    return frame.lazy().with_columns(pl.col("n").map_batches(other, return_dtype=pl.Int64)), runs


def test_a_lazy_frame_is_worked_out_once() -> None:
    plan, runs = counted(pl.DataFrame(VALUES))
    with closing(opened(plan, *SCAN.columns)) as engine:
        asked = [numbers(engine, cells) for cells in IN_ORDER.values() for _ in range(2)]
        assert asked[0::2] == asked[1::2]
    assert len(runs) == 1


def test_both_halves_read_a_lazy_public_table_alike() -> None:
    plan, runs = counted(pl.DataFrame({"site": ["a", "b"], "n": [1, 2]}))
    places = {
        "public": True,
        "columns": {"site": {"type": "str"}, "n": {"type": "int", "between": [0, 9], "source": "x"}},
    }
    book = BOOK | {"tables": BOOK["tables"] | {"places": places}}
    data = {"visits": pl.DataFrame(ROWS).lazy(), "places": plan}
    session = sf.Dataset(data, codebook=book).session(limit=sf.Pure(10**6), ledger="memory:")
    text = "SELECT n, count(DISTINCT user) AS k FROM visits JOIN places USING (site) GROUP BY n"
    rows = session.sql(text, epsilon=10**5, max_groups=2).to_polars().rows()
    assert [(n, k) for n, k, *_ in rows if k] == [(2, 3), (3, 1)]
    assert len(runs) == 1


def given(tmp_path: Path, form: str, rows: dict[str, list[Any]]) -> Any:
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet"
    frame = pl.DataFrame(rows)
    frame.write_parquet(path)
    return {"frame": frame, "lazy frame": frame.lazy(), "file": path, "columns": rows}[form]


@pytest.mark.parametrize("form", ["frame", "lazy frame", "file", "columns"])
def test_a_changed_table_is_a_new_version_and_the_same_one_is_not(tmp_path: Path, form: str) -> None:
    changed = {name: [*values[:-1], values[0]] for name, values in VALUES.items()}
    versions = []
    for rows in (VALUES, VALUES, changed):
        for small in (SMALL, 0):
            with closing(opened(given(tmp_path, form, rows), *SCAN.columns, small=small)) as engine:
                versions.append(engine.fingerprints(b"key")["t"])
                assert versions[-1] != engine.fingerprints(b"other")["t"]
    assert versions[0:2] == versions[2:4]
    assert not {*versions[0:2]} & {*versions[4:6]}


# What is said


def secret_plan() -> Any:
    def fails(values: Any) -> Any:
        raise ValueError("secret 4711")

    return pl.LazyFrame(VALUES).with_columns(pl.col("n").map_batches(fails, return_dtype=pl.Int64))


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (pl.LazyFrame({"u": [1]}), r"the column t\.n, which the codebook describes"),
        (pl.LazyFrame(VALUES | {"n": [b"x"] * 6}), r"t\.n can be read as int; got 'BLOB'"),
        (pl.DataFrame(VALUES | {"s": [1.5] * 6}), r"t\.s can be read as text; got 'DOUBLE'"),
        (pl.LazyFrame(VALUES).select(pl.col("missing")), "a lazy frame that can be collected"),
        (secret_plan(), "a lazy frame that can be collected; got 'something else'"),
        ("nowhere/*.parquet", "a file that there is"),
        (7, "a path, a data frame"),
    ],
)
def test_what_is_wrong_with_a_source_is_said_and_shows_no_value(source: Any, why: str) -> None:
    with pytest.raises(BadArgument, match=why) as refused:
        opened(source, *SCAN.columns)
    assert "4711" not in str(refused.value) and refused.value.__cause__ is None


def test_files_that_polars_does_not_open_are_named(tmp_path: Path) -> None:
    (tmp_path / "x.duckdb").write_bytes(b"")
    (tmp_path / "x.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(BadArgument, match=r"files that end in \.parquet"):
        opened(tmp_path / "x.duckdb", *SCAN.columns)
    with pytest.raises(BadArgument, match="Parquet files that can be read"):
        opened(tmp_path / "x.parquet", *SCAN.columns)


def test_a_column_of_which_nothing_reads_is_refused_and_the_holder_learns_how_much_does() -> None:
    data = {"user": ["1", "x", "2", None], "site": ["a", "b", None, "a"]}
    for engine in ("polars", "duckdb"):
        check = sf.check_data(data, BOOK, engine=engine)
        assert str(check) == str(sf.check_data(data, BOOK)) and check.unread == {"visits.user": 1}
    with pytest.raises(BadArgument, match=r"visits\.user reads as int"):
        sf.Dataset({"user": ["x", "y"], "site": ["a", "b"]}, name="visits", codebook=BOOK, engine="polars")


def test_a_failure_is_told_without_its_reason_and_the_other_engine_is_asked_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    collect = pl.LazyFrame.collect

    def fails(frame: Any, *, engine: str = "auto", **options: Any) -> Any:
        asked.append(engine)
        if engine in broken:
            raise pl.exceptions.ComputeError("secret 4711")
        return collect(frame, engine=engine, **options)

    broken: list[str] = []

    with closing(opened(VALUES, *SCAN.columns)) as engine:
        expected = numbers(engine, IN_ORDER["above"])
        monkeypatch.setattr(pl.LazyFrame, "collect", fails)
        broken = ["streaming"]
        assert numbers(engine, IN_ORDER["above"]) == expected and asked == ["streaming", "in-memory"]
        broken = ["streaming", "in-memory"]
        with pytest.raises(RuntimeError) as failed:
            engine.run(IN_ORDER["above"])
        with pytest.raises(QueryRefused, match="whatever the data") as refused:
            engine.prepare(IN_ORDER["above"])
    assert str(failed.value) == BROKE_OFF
    assert all("4711" not in str(one.value) and one.value.__cause__ is None for one in (failed, refused))


def test_settings_are_checked_and_change_no_answer() -> None:
    with pytest.raises(BadArgument, match="streaming must be True or False"):
        Polars(streaming="yes")  # type: ignore[arg-type]
    asked = []
    for engine in ("polars", sf.engines.Polars(streaming=False), sf.engines.Polars()):
        data = sf.Dataset(ROWS, name="visits", codebook=BOOK, engine=engine)
        session = data.session(limit=sf.Pure(10**6), ledger="memory:")
        asked.append(session.sql("SELECT count(DISTINCT user) AS n FROM visits", epsilon=10**5).to_polars().rows())
    assert asked[0][0][0] == 3 and asked[0] == asked[1] == asked[2]


def test_lazy_frames_are_its_own_and_frames_are_not() -> None:
    assert type(opener_of(pl.LazyFrame(ROWS))) is Polars
    assert type(opener_of({"a": pl.LazyFrame(ROWS), "b": pl.LazyFrame(ROWS)})) is Polars
    assert type(opener_of(pl.DataFrame(ROWS))) is not Polars
    assert type(opener_of({"a": pl.LazyFrame(ROWS), "b": pl.DataFrame(ROWS)})) is not Polars


def test_without_polars_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtra, match="queries on Polars"):
        Polars().schema_of(ROWS, "visits")


def test_types_are_in_words_that_a_codebook_is_drafted_from(tmp_path: Path) -> None:
    frame = pl.DataFrame(VALUES).with_columns(at=pl.lit(0).cast(pl.Datetime("ns", "UTC")), tags=pl.concat_list("s"))
    frame = frame.with_columns(w=pl.col("n").cast(pl.UInt64))
    types = {"u": "BIGINT", "n": "BIGINT", "s": "VARCHAR", "at": "TIMESTAMP WITH TIME ZONE", "tags": "VARCHAR[]"}
    types["w"] = "BIGINT"
    frame.write_parquet(tmp_path / "x.parquet")
    frame.write_ipc(tmp_path / "x.arrow", compat_level=pl.CompatLevel.oldest())
    for data in (frame, frame.lazy(), tmp_path / "x.parquet", tmp_path / "x.arrow"):
        (found,) = Polars().schema_of(data, "t").values()
        assert found == types, data


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path


def test_what_is_written_to_disk_goes_with_the_engine(temporary: Path) -> None:
    engine = opened(pl.LazyFrame(VALUES), *SCAN.columns, small=0)
    assert [name for name in os.listdir(temporary) if name.startswith("sfumato-")]
    engine.close()
    assert not os.listdir(temporary)
    with pytest.raises(BadArgument):
        opened({"t": secret_plan()}, *SCAN.columns)
    assert not os.listdir(temporary)


def test_held_shows_types_and_no_rows() -> None:
    with closing(opened(held(), *COLUMNS)) as engine:
        assert engine.schema() == {
            "t": {"id": "BIGINT", "x": "DOUBLE", "n": "BIGINT", "free": "BIGINT", "flag": "BOOLEAN"}
        }
        assert "LazyFrame" not in repr(engine.held)

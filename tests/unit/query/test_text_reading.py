"""Texts are read by the codebook's type: usual forms, and what the codebook says; the holder learns what did not."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples
from tests.reference.reading import of_kind
from tests.reference.texts import Written

import sfumato as sf
from sfumato.errors import BadArgument, BadCodebook
from sfumato.query.engines.duckdb.sources import open_source
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.relations import Scan

DAY, MOMENT = datetime.date, datetime.datetime
KINDS = {"int": Kind.INT, "float": Kind.FLOAT, "bool": Kind.BOOL, "date": Kind.DATE, "time": Kind.TIME}


def book(**column: Any) -> dict[str, Any]:
    """Gives a codebook of one column x beside the number of a row."""
    columns = {"n": {"type": "int"}, "x": column}
    tables = {"t": {"contributions": {"rows": 1, "source": "made up"}, "columns": columns}}
    return {"codebook": 1, "title": "Texts", "unit": {"protects": "a row"}, "tables": tables}


def read(texts: list[str | None], **column: Any) -> list[Value]:
    """Gives what texts read as, the same from a copy and from what is read where it is."""
    known = Catalog(sf.Codebook.read(book(**column)))
    fields = known.table("t").fields
    found = []
    for source in (
        {"n": list(range(len(texts))), "x": texts},
        pa.table({"n": range(len(texts)), "x": pa.array(texts, pa.string())}),
    ):
        engine = open_source(source, known)
        found.append(list(engine.rows(Scan("t", fields))["x"]))
        engine.close()
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize(
    ("type_", "texts", "expected"),
    [
        ("int", ["5 ", "\t5", "1e+05", "1E2", "15e-1", "25e-1", "1e-9", "1_000", "1,000", "0x1"],
         [5, 5, 100_000, 100, 2, 2, 0, None, None, None]),
        ("float", ["1e+05", " .5 ", "1.", "-1E-3", "1e400", "inf", "1,5", "--1"],
         [1e5, 0.5, 1.0, -0.001, None, None, None, None]),
        ("bool", ["0", "1", "T", "f", "Yes", "NO", "y", "N", " true ", "FALSE", "1.0", "2", "on"],
         [False, True, True, False, True, False, True, False, True, False, True, None, None]),
        ("date", ["2012/01/02", "2012-1-2", "20120102", "2012-01-02 00:00:00", "2012-01-02T00:00:00.000Z",
                  " 2012-01-02", "01/02/2012", "2012-13-01", "2012/01-02", "2012-01-02 25:00", "120102"],
         [DAY(2012, 1, 2)] * 6 + [None] * 5),
        ("time", ["2012/01/02 9:05", "2012-01-02T09:05:00Z", "2012-01-02 09:05:00 UTC", "2012-01-02 11:05:00 +0200",
                  "2012-01-02 09:05:00.000000", "2012-01-02 09:05 PM"],
         [MOMENT(2012, 1, 2, 9, 5)] * 5 + [None]),
    ],
)  # fmt: skip
def test_usual_forms_read_and_others_do_not(type_: str, texts: list[str | None], expected: list[Value]) -> None:
    assert read(texts, type=type_) == expected


PIECES = [*"0159.eE+- -/:TZx", "00", "2012", "12", "30", "59"]
TEXT = st.lists(st.sampled_from(PIECES), max_size=9).map("".join)


@settings(max_examples=examples(120), deadline=None)
@given(st.sampled_from(sorted(KINDS)), st.lists(TEXT, min_size=1, max_size=20))
def test_random_texts_read_as_the_reference_says(type_: str, texts: list[str]) -> None:
    kind = KINDS[type_]
    expected = [of_kind(Written(text, kind), kind) for text in texts]
    assert read(list(texts), type=type_) == expected


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**25), st.integers(-30, 25)), min_size=1, max_size=20))
def test_whole_numbers_with_exponents_are_rounded_exactly(numbers: list[tuple[int, int]]) -> None:
    texts = [f"{digits}e{power}" for digits, power in numbers]
    exact = [round(Fraction(digits) * Fraction(10) ** power) for digits, power in numbers]
    assert read(list(texts), type="int") == [one if one < 2**63 else None for one in exact]


@pytest.mark.parametrize(
    ("form", "texts", "expected"),
    [
        ("%d/%m/%Y", ["31/01/2012", " 1/2/2012 ", "2012-01-31", "01/31/2012", "31/01/2012 10:00", "31/01/12", None],
         [DAY(2012, 1, 31), DAY(2012, 2, 1), *[None] * 5]),
        ("%d/%m/%y", ["31/01/12", "31/01/99", "31/01/2012"], [DAY(2012, 1, 31), DAY(1999, 1, 31), None]),
        ("%d.%m.%Y", ["31.01.2012", "31/01/2012", "31.01.112"], [DAY(2012, 1, 31), None, None]),
        ("%b %d, %Y", ["Jan 31, 2012", "Foo 31, 2012"], [DAY(2012, 1, 31), None]),
        ("%Y%j", ["2012031"], [DAY(2012, 1, 31)]),
    ],
)  # fmt: skip
def test_the_codebook_says_how_days_are_written(form: str, texts: list[str | None], expected: list[Value]) -> None:
    assert read(texts, type="date", format=form) == expected


def test_the_codebook_says_how_times_and_decimals_are_written() -> None:
    assert read(["31.12.2012 23:59", "31.12.2012"], type="time", format="%d.%m.%Y %H:%M") == [
        MOMENT(2012, 12, 31, 23, 59),
        None,
    ]
    assert read(["1,5", "2", "1.5", "-1,5e2", "1,2,3"], type="float", decimal=",") == [1.5, 2.0, None, -150.0, None]
    assert read(["2,5", "3,5"], type="int", decimal=",") == [2, 4]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ({"type": "int", "format": "%Y"}, "format is for texts of dates and times, and this is int"),
        ({"type": "date", "format": "%d/%m"}, "format must name year, month and day"),
        ({"type": "date", "format": "%d/%m/%Y'; --"}, "format must name year, month and day"),
        ({"type": "date", "format": "%d/%m/%Y %Z"}, "format must name year, month and day"),
        ({"type": "time", "format": "%d/%m/%Y %I:%M"}, "%I and %p together"),
        ({"type": "time", "format": "%d/%m/%Y %H:%M %p"}, "%I and %p together"),
        ({"type": "date", "decimal": ","}, "decimal is for texts of numbers, and this is date"),
        ({"type": "float", "decimal": "·"}, "decimal must be the sign before decimals"),
    ],
)
def test_what_cannot_be_a_form_is_refused(column: dict[str, str], said: str) -> None:
    with pytest.raises(BadCodebook, match=said):
        sf.Codebook.read(book(**column))


def test_forms_are_part_of_a_codebook() -> None:
    for column in ({"type": "date", "format": "%d/%m/%Y"}, {"type": "float", "decimal": ","}):
        one = sf.Codebook.read(book(**column))
        assert sf.Codebook.read(one.to_yaml()) == one
        assert one.digest != sf.Codebook.read(book(type=column["type"])).digest


def data_of(tmp_path: Path, texts: list[str | None]) -> list[Any]:
    """Gives the same texts in every kind of source that can hold texts."""
    rows = [(str(place), "" if text is None else text) for place, text in enumerate(texts)]
    (tmp_path / "t.csv").write_text("n,x\n" + "".join(f"{n},{text}\n" for n, text in rows))
    table = pa.table({"n": range(len(texts)), "x": pa.array(texts, pa.string())})
    pq.write_table(table, tmp_path / "t.parquet")
    return [tmp_path / "t.csv", tmp_path / "t.parquet", table, table.to_pandas(), {"t": table}]


def test_a_column_of_which_nothing_reads_is_refused(tmp_path: Path) -> None:
    for source in data_of(tmp_path, ["31/01/2012", None, "NA"]):
        with pytest.raises(BadArgument) as caught:
            sf.Dataset(source, codebook=book(type="date"))
        assert str(caught.value) == (
            "data must be a source in which t.x reads as date: days such as 2012-01-31, 2012/1/31 or 20120131; others "
            "need format: in the codebook, as '%d/%m/%Y' ('sfumato codebook check' tells how many values of each "
            "column do not read); or without this column; got 'values of which none does'."
        )
    for texts in (["31/01/2012", "2012-01-31"], [None, "NA"], []):
        for source in data_of(tmp_path, texts):
            sf.Dataset(source, codebook=book(type="date"))


def test_the_holder_learns_how_many_values_do_not_read(tmp_path: Path) -> None:
    texts = ["5", "200", None, "NA", "x", "1e400", "-1"]
    for source in data_of(tmp_path, texts):
        found = sf.check_data(source, book(type="float", between=[0, 100], source="made up"))
        (table,) = found.tables
        _, column = table.columns
        assert (table.rows, table.unread, found.fits, found.unread) == (7, 0, False, {"t.x": 2})
        assert (column.values, column.missing, column.unread, column.outside) == (5, 2, 2, 2)
        assert not any(text in str(found) for text in ("200", "1e400"))


def test_whole_numbers_that_are_too_large_are_unread() -> None:
    many = 3 * 10**18
    for held in (
        pa.array([many, 4 * many, None], pa.uint64()),
        pa.array([1e18, 1e30, math.nan]),
        pa.array([Decimal(many), Decimal(10**25), None], pa.decimal128(38, 0)),
        pa.array([str(many), str(4 * many), ""]),
    ):
        (table,) = sf.check_data(pa.table({"n": range(3), "x": held}), book(type="int")).tables
        found = table.columns[1]
        assert (found.values, found.missing, found.unread) == (2, 1, 1), held.type


def test_numbers_that_read_fit(tmp_path: Path) -> None:
    found = sf.check_data(data_of(tmp_path, ["5", None])[0], book(type="int"))
    assert found.fits
    (tmp_path / "t.csv").write_text('n,x\n1,5\n2,"6\n3,7,8\n')
    found = sf.check_data(tmp_path / "t.csv", book(type="int"))
    assert (found.fits, found.unread, found.tables[0].rows, found.tables[0].unread) == (False, {}, 1, 2)


def test_a_cell_that_breaks_the_reader_is_one_unread_value(tmp_path: Path) -> None:
    """Of a Parquet file that is read where it is: the error of DuckDB came through, with the text in it."""
    from sfumato.query.engines.data_check import TableCheck
    from sfumato.query.engines.duckdb.column_checks import checked_tables, refuse_columns

    raw = pa.array([b"5", b"\xffsecret", None, b"7"], pa.binary())
    texts = pa.Array.from_buffers(pa.string(), 4, raw.buffers())
    pq.write_table(pa.table({"n": [1, 2, 3, 4], "x": texts}), tmp_path / "t.parquet")
    known = Catalog(sf.Codebook.read(book(type="int")))
    for small in (0, 2**20):
        found: list[TableCheck] = []
        open_source(tmp_path / "t.parquet", known, small=small, look=refuse_columns).close()
        look = lambda *opened: found.extend(checked_tables(*opened))  # noqa: B023, E731
        open_source(tmp_path / "t.parquet", known, small=small, look=look).close()
        assert [column.values - column.unread for column in found[0].columns] == [4, 2]


def test_flags_for_the_holder_are_in_no_table_that_is_asked(tmp_path: Path) -> None:
    from sfumato.query.engines.duckdb.column_checks import refuse_columns

    known = Catalog(sf.Codebook.read(book(type="int")))
    pq.write_table(pa.table({"n": pa.nulls(2), "x": pa.nulls(2)}), tmp_path / "nulls.parquet")
    for source in (*data_of(tmp_path, ["5", "x"]), tmp_path / "nulls.parquet"):
        engine = open_source(source, known, look=refuse_columns)
        names = engine._connection.execute("SELECT column_name FROM duckdb_columns() WHERE NOT internal").fetchall()
        assert {name for (name,) in names} == {"c0", "c1"}
        engine.close()

"""Who is who: two rows are one unit exactly if their ids are equal as their source holds them, whatever that is."""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples.odd_ids import HELD, TEXTS, catalog
from tests.profiles import examples
from tests.reference.texts import Written, identity

from sfumato.codebook import Codebook
from sfumato.query.engines.duckdb.sources import open_source
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.kinds import Kind
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Units

MOMENT, DAY = datetime.datetime, datetime.date
KINDS = {"int": Kind.INT, "float": Kind.FLOAT, "date": Kind.DATE, "time": Kind.TIME, "bool": Kind.BOOL}


def people(source: Any, type_: str, *, bounded: bool = False) -> tuple[int, int]:
    """Gives how many people a table of visits has, and how many rows, when one of each is kept."""
    known = catalog(type_, bounded=bounded)
    empty = {"u": [], "k": []}
    engine = open_source({"visits": source, "people": empty, "orders": {"k": []}}, known)
    scan = known.table("visits")
    found = engine.run(Cells(scan, (), (Units(), Rows()), Bound(rows=1)))
    engine.close()
    return int(found.numbers[0][0]), int(found.numbers[1][0])


@pytest.mark.parametrize("type_", ["int", "float"])
@pytest.mark.parametrize("bounded", [False, True])
def test_texts_that_are_numbers_are_told_apart_exactly(tmp_path: Path, type_: str, bounded: bool) -> None:
    lines = "u,x\n" + "".join(f'"{text}",a\n' for text in TEXTS)
    (tmp_path / "t.csv").write_text(lines)
    (tmp_path / "damaged.csv").write_text(lines + '"open\n')
    (tmp_path / "t.jsonl").write_text("\n".join(json.dumps({"u": text, "x": "a"}) for text in TEXTS))
    table = pa.table({"u": TEXTS, "x": ["a"] * len(TEXTS)})
    pq.write_table(table, tmp_path / "t.parquet")
    sources = [
        *(tmp_path / name for name in ("t.csv", "damaged.csv", "t.jsonl", "t.parquet")),
        table,
        table.to_pydict(),
    ]
    for source in sources:
        assert people(source, type_, bounded=bounded) == (6, 6), source


def test_numbers_of_json_are_told_apart_to_the_last_digit(tmp_path: Path) -> None:
    ids = ["1", "1.0", "1.00000000000000000001", "9007199254740992", "9007199254740993", "1e400", "1e401", "null"]
    (tmp_path / "t.jsonl").write_text("\n".join(f'{{"u": {one}, "x": ""}}' for one in ids))
    assert people(tmp_path / "t.jsonl", "float") == (6, 6)


def test_numbers_are_not_rounded_to_be_ids() -> None:
    cases: list[tuple[Any, str, int]] = [
        (pa.array([2**53, 2**53 + 1, 2**53]), "float", 2),
        (pa.array([Decimal("0.1"), Decimal("0.10000000000000000001")], pa.decimal128(38, 20)), "float", 2),
        (pa.array([2**64 - 1, 2**64 - 2], pa.uint64()), "float", 2),
        (pa.array([1.0, 1.4, 1.0, -0.0, 0.0, math.nan, math.inf, -math.inf, None]), "int", 5),
        (pa.array([MOMENT(2024, 1, 1, 9), MOMENT(2024, 1, 1, 10), MOMENT(2024, 1, 1, 9)]), "date", 2),
        (pa.array([1, 2], pa.timestamp("ns")), "time", 2),
        (pa.array([-(2**62), 2**62, 7, 7, 8], pa.int64()).cast(pa.timestamp("ms")), "date", 2),
        (pa.array(["2024-01-01T09:00", "2024-01-01 09:00:00", "2024-01-01", "2024/1/1", "x", "NA"]), "date", 3),
        (pa.array(["2024-01-01T09:00:00.0000001", "2024-01-01T09:00:00.0000002"]), "time", 2),
        (["\ud800", "\ud801", "\ud800", "a", object(), None], "str", 3),
        ([2**70, 2**70 + 1, 1, 1.0, "1", Decimal("1.0"), True, None], "int", 4),
        ([10**5000, 10**5000 + 1, 10**5000], "int", 2),
    ]
    for ids, type_, many in cases:
        assert people({"u": ids, "x": ["a"] * len(ids)}, type_) == (many, many), ids


def test_what_is_kept_of_one_person_is_not_changed_by_one_who_looks_alike(tmp_path: Path) -> None:
    """Rounded ids made one unit of two people: to take away 2.4 then brought back what had been left out of 2."""
    known = catalog("int")
    found = []
    for rows in (["2,a", "2.4,b", "2.4,c"], ["2,a"]):
        (tmp_path / "t.csv").write_text("u,x\n" + "\n".join(rows) + "\n")
        empty = {"u": [], "k": []}
        engine = open_source({"visits": tmp_path / "t.csv", "people": empty, "orders": {"k": []}}, known)
        scan = known.table("visits")
        cells = Cells(scan, (scan.columns[1],), (Units(),), Bound(groups=1, rows=1))
        computed = engine.run(cells)
        found.append(dict(zip(computed.keys[0], computed.numbers[0].tolist(), strict=True)))
    assert found[1] == {"a": 1}
    assert found[0]["a"] == 1


@pytest.mark.parametrize("one", HELD)
@pytest.mark.parametrize("other", HELD)
def test_tables_may_hold_ids_and_keys_in_different_types(one: str, other: str) -> None:
    known = catalog("int")
    data = {
        "visits": {"u": HELD[one]([1, 2, 3, 2**40]), "x": ["a"] * 4},
        "people": {"u": HELD[other]([1, 2, 7]), "k": HELD[one]([10, 20, 30])},
        "orders": {"k": HELD[other]([10, 10, 20, 40])},
    }
    engine = open_source(data, known)
    assert engine.run(Cells(known.table("orders"), (), (Rows(), Units()))).numbers == ([3], [2])
    from sfumato.query.build.relation import joined, selected

    people, visits = known.table("people"), known.table("visits")
    both = joined(visits, selected(people, [("v", people.columns[0])]), [("u", "v")])
    assert engine.run(Cells(both, (), (Rows(), Units()))).numbers == ([2], [2])
    engine.close()


def test_a_foreign_key_is_not_rounded() -> None:
    known = catalog("int")
    people = {"u": [1, 2], "k": pa.array([1.0, 1.4])}
    data = {"visits": {"u": [], "x": []}, "people": people, "orders": {"k": pa.array([1.0, 1.4, 1.4, 1.2])}}
    engine = open_source(data, known)
    assert engine.run(Cells(known.table("orders"), (), (Rows(), Units()))).numbers == ([3], [2])
    engine.close()


NOON, MIDNIGHT = MOMENT(2024, 1, 1, 12), MOMENT(2024, 7, 1)
TIMES: dict[str, Any] = {
    "texts": ["2024-01-01 12:00", "2024-07-01"],
    "zoned texts": ["2024-01-01T14:00:00+02:00", "2024-06-30T20:00-0400"],
    "values": [NOON, MIDNIGHT.date()],
    **{
        f"{unit} {zone}": pa.array([NOON, MIDNIGHT], pa.timestamp(unit, zone))
        for unit in ("s", "us", "ns")
        for zone in (None, "UTC", "America/New_York")
    },
}


@pytest.mark.parametrize("type_", ["date", "time"])
def test_moments_are_the_same_in_whatever_zone_and_unit_tables_hold_them(type_: str) -> None:
    """Nanoseconds with a zone were named with the zone, and met nobody of another table."""
    known = catalog(type_)
    for name, held in TIMES.items():
        data = {
            "visits": {"u": [], "x": []},
            "people": {"u": held, "k": held},
            "orders": {"k": TIMES["ns UTC" if name == "us None" else "us None"]},
        }
        engine = open_source(data, known)
        assert engine.run(Cells(known.table("orders"), (), (Rows(), Units()))).numbers == ([2], [2]), name
        engine.close()


def test_a_text_that_names_nothing_is_nothings_name() -> None:
    """By its format the second one is no day; it looked like the name of the first."""
    texts = ["31/01/2012", "2012-01-31 00:00:00", "1/2/2012", "01/02/2012"]
    column = {"type": "date", "format": "%d/%m/%Y"}
    table = {"columns": {"u": column, "x": {"type": "str"}}}
    unit = {"protects": "a person", "id": "u"}
    known = Catalog(Codebook.read({"codebook": 1, "title": "People", "unit": unit, "tables": {"visits": table}}))
    for source in ({"u": texts, "x": texts}, pa.table({"u": texts, "x": texts})):
        engine = open_source({"visits": source}, known)
        assert engine.run(Cells(known.table("visits"), (), (Units(),))).numbers == ([3],)
        engine.close()


def test_categories_of_data_frames_are_ids_as_their_values_are() -> None:
    """Categories of polars came to an end in an error of Arrow; half floats, in a refusal."""
    import pandas as pd
    import polars as pl

    names = ["ann", "bob", "ann", None]
    columns: list[tuple[Any, str]] = [
        (pl.Series(names, dtype=pl.Categorical), "str"),
        (pl.Series(names, dtype=pl.Enum(["bob", "ann"])), "str"),
        (pd.Series(names, dtype="category"), "str"),
        (pd.Series(pd.Categorical([7, 8, 7, None])), "int"),
        (pa.chunked_array([pa.array(part).dictionary_encode() for part in (["ann"], ["bob", "ann", None])]), "str"),
        (np.array([7, 0.5, 7, math.nan], np.float16), "float"),
    ]
    for column, type_ in columns:
        assert people({"u": column, "x": ["a"] * 4}, type_) == (2, 2), column


NUMBER = st.from_regex(r"\A[+-]?[0-9]{1,3}(\.[0-9]{0,3})?(e[+-]?[0-9]{1,2})?\Z") | st.sampled_from(["x", "NA", " 1 "])


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(NUMBER, min_size=1, max_size=8))
def test_random_texts_are_as_many_people_as_exact_numbers(texts: list[str]) -> None:
    expected = {identity(Written(text, Kind.INT)) for text in texts} - {None}
    source = {"u": texts, "x": ["a"] * len(texts)}
    assert people(source, "int") == (len(expected), len(expected))
    assert people(pa.table(source), "int") == (len(expected), len(expected))

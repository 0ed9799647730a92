"""Text files and values of Python: no row decides whether data opens, damage stays where it is, and what DuckDB's own
reader makes of a well-formed file is what reading row by row makes of it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples

from sfumato.errors import BadArgument
from sfumato.query.engines.duckdb import copies
from sfumato.query.engines.duckdb.sources import open_source
from sfumato.query.engines.inputs.text_files import well_formed
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.relations import Scan

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")


@dataclass(frozen=True)
class Book:
    """Stands for a catalog: tables with their columns."""

    tables: dict[str, Scan]


def rows(source: Any, **kinds: Kind) -> list[tuple[Value, ...]]:
    """Gives the rows of a source, in order of their values."""
    columns = tuple(Column(name, kind) for name, kind in kinds.items())
    engine = open_source(source, Book({"t": Scan("t", columns)}))  # type: ignore[arg-type]
    found = engine.rows(Scan("t", columns))
    engine.close()
    return list(zip(*(found[name] for name in kinds), strict=True))


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
    return path


# CSV

GOOD = [(1, "a"), (3, "c")]
BROKEN_LINES = [
    "2",
    "2,b,b",
    '2,"b',
    '"2,b',
    '2,"b"x',
    '2,b,"',
    '"',
    "2,b,,x",
    ",,,,5",
    '2,"b" "c"',
    '"2"",b',
]


@pytest.mark.parametrize("line", BROKEN_LINES)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_broken_line_is_one_missing_row(tmp_path: Path, line: str, end: str) -> None:
    for place in range(3):
        lines = ["1,a", "3,c"]
        lines.insert(place, line)
        path = written(tmp_path / "t.csv", end.join(["n,x", *lines]) + end)
        assert rows(path, n=Kind.INT, x=Kind.TEXT) == GOOD, place


@pytest.mark.parametrize(
    ("line", "row"),
    [(b"2,\xff", (2, None)), (b"2,b\0", (2, "b\0")), (b'2,"b\xc3"', (2, None)), (b"2,b,,,", (2, "b"))],
)
def test_a_strange_value_is_one_value(tmp_path: Path, line: bytes, row: tuple[Value, ...]) -> None:
    path = written(tmp_path / "t.csv", b"n,x\n1,a\n" + line + b"\n3,c\n")
    assert rows(path, n=Kind.INT, x=Kind.TEXT) == [(1, "a"), row, (3, "c")]


def test_a_broken_row_changes_how_no_other_row_is_read(tmp_path: Path) -> None:
    """Also not a long one with quotes and lines in it: the file is then read row by row, and must read the same."""
    good = '1,"a ""quoted""\nline, and ü"\n2, "b" \n3,\n\n4,"x\r\ny"\n' + "5," + "z" * 100_000 + "\n"
    one = rows(written(tmp_path / "one.csv", "n,x\n" + good), n=Kind.INT, x=Kind.TEXT)
    other = rows(written(tmp_path / "two.csv", "n,x\n" + good + '6,"open\n'), n=Kind.INT, x=Kind.TEXT)
    assert one == other
    assert [row[0] for row in one] == [1, 2, 3, 4, 5]


def test_columns_without_a_name_are_passed_over(tmp_path: Path) -> None:
    for end in ("", '"open\n'):
        path = written(tmp_path / "t.csv", f",n,,x\n0,1,0,a\n1,3,0,c\n{end}")
        assert rows(path, n=Kind.INT, x=Kind.TEXT) == GOOD


def test_an_open_quote_does_not_swallow_a_file(tmp_path: Path) -> None:
    lines = [f"{n},a" for n in range(200_000)]
    lines[7] = '7,"a'
    path = written(tmp_path / "t.csv", "n,x\n" + "\n".join(lines) + "\n")
    assert len(rows(path, n=Kind.INT, x=Kind.TEXT)) == 199_999


PIECES = ["a", "1", " ", "é", '"', ",", ";", "\t", "\n", "\r\n", "'", "\ufeff", "#", "\\"]
FIELD = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)


@st.composite
def well_formed_files(draw: st.DrawFn) -> tuple[str, str, int]:
    """Gives a well-formed CSV file with what stands between its fields and the number of its columns."""
    delimiter, end = draw(st.sampled_from([",", ";", "\t"])), draw(st.sampled_from(["\n", "\r\n"]))
    size = draw(st.integers(1, 4))
    records = draw(st.lists(st.lists(FIELD, min_size=size, max_size=size), max_size=6))
    lines = [delimiter.join(f"n{place}" for place in range(size))]
    for record in records:
        plain = (field if not set(field) & set('",;\t\r\n') else None for field in record)
        fields = [
            f'"{field.replace(chr(34), chr(34) * 2)}"' if bare is None or draw(st.booleans()) else bare
            for field, bare in zip(record, plain, strict=True)
        ]
        lines.append(delimiter.join(fields))
    text = end.join(lines) + (end if draw(st.booleans()) else "")
    return ("\ufeff" if draw(st.booleans()) else "") + text, delimiter, size


@settings(max_examples=examples(150), deadline=None)
@given(well_formed_files())
def test_both_ways_of_reading_agree_on_well_formed_files(
    tmp_path_factory: pytest.TempPathFactory, one: tuple[str, str, int]
) -> None:
    text, delimiter, size = one
    folder = tmp_path_factory.mktemp("csv")
    path = written(folder / ("t.tsv" if delimiter == "\t" else "t.csv"), text)
    kinds = {f"n{place}": Kind.TEXT for place in range(size)}
    if delimiter == ";" and size == 1:
        return  # then nothing tells that it is one
    assert row_by_row(path, kinds) == rows(path, **kinds)


def row_by_row(path: Path, kinds: dict[str, Kind]) -> list[tuple[Value, ...]]:
    """Reads a file without DuckDB's reader."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(copies, "well_formed", lambda *_: False)
        return rows(path, **kinds)


def test_the_quick_way_is_taken_for_files_without_damage_only(tmp_path: Path) -> None:
    good = ["n,x\n1,a\n", 'n,x\n1,"a\nb"\n', "n,x\r\n1,a\r\n", 'n,x\n"1","a""b"']
    bad = ['n,x\n1,"a\n', 'n,x\n1,a"b\n', 'n,x\r\n1,"a"\n2,b\r\n', 'n,x\n"1"2,b\n', "n,x\n1,\0\n", 'n,x\n"1"\n']
    for text, expected in [(one, True) for one in good] + [(one, False) for one in bad]:
        assert well_formed(written(tmp_path / "t.csv", text), ",", 2) is expected, text


# JSON


BROKEN = ["{", '{"n": 2', '{"n": 2, "x": "b}', "[]", "2", '"x"', "{]", '{"n": tru}', "x"]


@pytest.mark.parametrize("line", [*BROKEN, '{"n": 2}}'])
def test_a_broken_line_of_json_is_one_missing_row(tmp_path: Path, line: str) -> None:
    lines = ['{"n": 1, "x": "a"}', line, "", '{"n": 3, "x": "c", "more": [{}]}']
    assert rows(written(tmp_path / "t.jsonl", "\n".join(lines)), n=Kind.INT, x=Kind.TEXT) == GOOD


@pytest.mark.parametrize("between", [", ", ",\n", "\n, "])
@pytest.mark.parametrize("element", BROKEN)
def test_a_broken_element_of_a_list_is_one_missing_row(tmp_path: Path, element: str, between: str) -> None:
    parts = ['{"n": 1, "x": "a"}', element, '{"n": 3, "x": "c"}']
    found = rows(written(tmp_path / "t.json", f"[{between.join(parts)}]"), n=Kind.INT, x=Kind.TEXT)
    assert found == GOOD or (between == ", " and '"b}' in element and found == GOOD[:1])  # a text that never ends


def test_a_list_that_breaks_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    for text in (
        '[{"n": 1, "x": "a"}, {"n": 3, "x": "c"}',
        '[{"n": 1, "x": "a"}, {"n": 3, "x": "c"}, {"n"',
        "[",
        "",
        " \n",
    ):
        found = rows(written(tmp_path / "t.json", text), n=Kind.INT, x=Kind.TEXT)
        assert found == (GOOD if "1" in text else [])


def test_values_of_json_are_read_one_by_one(tmp_path: Path) -> None:
    values = ["2", '"2"', "2.5", "1e2", "null", "true", "[1]", '{"a": 1}', '"\\ud800"', "NaN", "1" + "0" * 400, '"x"']
    text = "\n".join(f'{{"n": {place}, "x": {value}}}' for place, value in enumerate(values))
    found = [row[1] for row in rows(written(tmp_path / "t.jsonl", text), n=Kind.INT, x=Kind.INT)]
    assert found == [2, 2, 2, 100, None, None, None, None, None, None, None, None]
    deep = '{"n": 0, "x": ' + "[" * 200_000 + "}"
    assert rows(written(tmp_path / "t.jsonl", deep), n=Kind.INT, x=Kind.INT) == []


# Values of Python


class Strange:
    """Is a value that answers nothing."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


READ: list[tuple[Any, Value]] = [
    (1, 1), (2**70, None), ("3", 3), (" 4.0 ", 4), (None, None), (math.nan, None), (5.0, 5), (Decimal("6.4"), 6),
    (object(), None), (b"7", None), ([8], None), (True, None), ("\ud800", None), (pd.NA, None), (pd.NaT, None),
    (np.int64(9), 9), (math.inf, None), (10**5000, None), ("x", None), (np.float32(2.5), 2), ({"a": 1}, None),
]  # fmt: skip
MIXED = [held for held, _ in READ]


def test_values_of_python_are_read_one_by_one() -> None:
    numbers, objects = list(range(len(READ))), np.empty(len(READ), object)
    for place, value in enumerate(MIXED):
        objects[place] = value
    frame = pd.DataFrame({"n": numbers})
    frame["x"] = pd.Series(objects, dtype=object)
    for form, source in {
        "list": {"n": numbers, "x": MIXED},
        "array": {"n": np.array(numbers), "x": objects},
        "pandas": frame,
        "polars": pl.DataFrame({"n": numbers, "x": pl.Series(MIXED, dtype=pl.Object)}),
    }.items():
        assert [row[1] for row in rows(source, n=Kind.INT, x=Kind.INT)] == [read for _, read in READ], form


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.LIST])
def test_no_value_of_python_decides_whether_data_opens(kind: Kind) -> None:
    for value in (*MIXED, Strange()):
        assert len(rows({"n": [0, 1], "x": [value, None]}, n=Kind.INT, x=kind)) == 2
    assert rows({"n": [0], "x": [None]}, n=Kind.INT, x=kind) == [(0, None)]
    assert rows(pa.table({"n": [0], "x": pa.nulls(1)}), n=Kind.INT, x=kind) == [(0, None)]
    assert rows(pl.DataFrame({"n": [0], "x": [None]}), n=Kind.INT, x=kind) == [(0, None)]
    assert rows(pd.DataFrame({"n": [0], "x": [None]}), n=Kind.INT, x=kind) == [(0, None)]


def test_texts_of_arrow_that_are_none_are_missing() -> None:
    bytes_ = pa.array([b"a", b"\xff", None, b"c", b"\0\0"], pa.binary())
    texts = pa.Array.from_buffers(pa.string(), 5, bytes_.buffers())
    assert rows(pa.table({"n": range(5), "x": texts}), n=Kind.INT, x=Kind.TEXT) == [
        (0, "a"), (1, None), (2, None), (3, "c"), (4, "\0\0"),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", [Kind.INT, Kind.FLOAT])
@pytest.mark.parametrize("digits", [4, 18, 38])
def test_decimals_of_too_many_digits_are_missing_each_by_itself(digits: int, kind: Kind) -> None:
    made = pa.decimal128(digits, 0)
    values = [-(2**127), 2**127 - 1, 10**digits, 7]
    for several in ([0], [1], [2], [3], [0, 1, 2, 3]):
        data = b"".join(values[place].to_bytes(16, "little", signed=True) for place in several)
        column = pa.Array.from_buffers(made, len(several), [None, pa.py_buffer(data)])
        expected = [7 if place == 3 else None for place in several]
        assert [row[1] for row in rows(pa.table({"n": several, "x": column}), n=Kind.INT, x=kind)] == expected


def test_categories_of_polars_are_their_values() -> None:
    for kind in (pl.Categorical(), pl.Enum(["b", "a"])):
        frame = pl.DataFrame({"n": range(4), "x": pl.Series(["b", "a", None, "b"], dtype=kind)})
        assert [row[1] for row in rows(frame, n=Kind.INT, x=Kind.TEXT)] == ["b", "a", None, "b"]


def test_categories_of_pandas_are_their_values() -> None:
    for values in (["b", "a", None, "b"], [2, 1, None, 2]):
        frame = pd.DataFrame({"n": range(4), "x": pd.Categorical(values)})
        kind = Kind.TEXT if values[0] == "b" else Kind.INT
        assert [row[1] for row in rows(frame, n=Kind.INT, x=kind)] == values


@pytest.mark.parametrize("given", [{"n": 1}, {"n": "12"}, {"n": np.zeros((2, 2))}, [1], {"n": {1: 2}}])
def test_what_is_no_table_is_refused(given: Any) -> None:
    with pytest.raises(BadArgument, match="data must be"):
        rows(given if not isinstance(given, dict) else {**given, "m": [1]}, n=Kind.INT, m=Kind.INT)


# What a file says is what Python says

WHOLE, FINITE = st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)), max_size=5)
)
def test_every_source_of_the_same_numbers_reads_alike(
    tmp_path_factory: pytest.TempPathFactory, numbers: list[tuple[int, float]]
) -> None:
    folder = tmp_path_factory.mktemp("same")
    table = {"n": [one for one, _ in numbers], "x": [other for _, other in numbers]}
    expected = sorted((one, other + 0.0) for one, other in numbers)
    lines = "".join(f"{one},{other!r}\n" for one, other in numbers)
    objects = "\n".join(json.dumps({"n": one, "x": other}) for one, other in numbers)
    sources = [
        table,
        pd.DataFrame(table).astype(object),
        written(folder / "t.csv", "n,x\n" + lines),
        written(folder / "t.csv2.csv", 'n,x\n"open\n' + lines),
        written(folder / "t.jsonl", objects),
        written(folder / "t.json", json.dumps([json.loads(line) for line in objects.splitlines()])),
    ]
    for source in sources:
        assert rows(source, n=Kind.INT, x=Kind.FLOAT) == expected

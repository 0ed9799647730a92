"""Drafts of codebooks: from names and types alone, refused until a human has filled them in."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.codebook.draft import MARK, draft
from sfumato.codebook.strict_yaml import read_text
from sfumato.query.engines.duckdb.reading import readable
from sfumato.query.engines.registry import schema_of
from sfumato.query.nodes.catalog import Catalog

SCHEMA = {
    "visits": {
        "user_id": "BIGINT",
        "site": "VARCHAR",
        "state": "ENUM('secret', 'open')",
        "day": "DATE",
        "seen": "TIMESTAMP",
        "minutes": "DECIMAL(18,3)",
        "paid": "BOOLEAN",
        "path": "STRUCT(secret INTEGER)",
        "tags": "VARCHAR[]",
        "pairs": "INTEGER[2]",
        "states": "ENUM('secret')[]",
        "zoned": "TIMESTAMP WITH TIME ZONE",
    },
    "sites": {"site": "VARCHAR", "area": "double"},
}


def unmarked(text: str) -> str:
    """The text as somebody leaves it who states nothing but what must be stated."""
    return (
        text.replace(f"protects: {MARK}", "protects: a person # ").replace(f"  id: {MARK}", "  # ").replace(MARK, "# ")
    )


def test_a_draft_is_refused_with_what_is_left_to_say() -> None:
    for id, said in (
        ("user_id", "protects: who is protected, in words"),
        (None, "id: the column that says whose a row is"),
    ):
        text = draft({"visits": SCHEMA["visits"]}, id=id)
        assert text.count(MARK) == 1
        with pytest.raises(
            sf.errors.BadCodebook, match="the draft: fill in what is marked, and remove each mark"
        ) as left:
            sf.Codebook.read(text)
        assert said in str(left.value)
    several = draft({**SCHEMA, **{f"more {number}": {"a": "DATE"} for number in range(5)}}, id="user_id")
    with pytest.raises(sf.errors.BadCodebook, match=r"the foreign key that leads to whose a row is.*; and 2 more"):
        sf.Codebook.read(several)


def test_a_draft_hints_at_what_questions_may_need() -> None:
    text = draft({"visits": SCHEMA["visits"]}, id="user_id", protects="a person")
    for line in (
        "minutes: {type: float}  # to add it up: between: [lower, upper], source: …",
        "site: {type: str}  # if its values are public: categories: […]",
        "day: {type: date}  # if the period is public: between: [first, last], source: …",
        "paid: {type: bool}\n",
    ):
        assert line in text
    assert sf.Codebook.read(text).title == "visits"  # with all said, nothing is marked


def test_a_draft_answers_how_many_rows_there_are_and_questions_say_what_they_need(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_text("user_id,minutes\n" + "".join(f"{row % 7},{row}.5\n" for row in range(70)))
    text = sf.Codebook.draft(file, unit="user_id").replace(MARK, "a person # ")
    session = sf.Dataset(file, codebook=text).session(epsilon=100, ledger="memory:")
    assert abs(session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=50, max_rows=10).value.only() - 70) < 15
    wanted = (
        r"got text\. If all values of minutes are numbers, say so in the codebook, minutes: \{type: float, between: "
    )
    with pytest.raises(sf.errors.QueryRefused, match=wanted):
        session.sql("SELECT AVG(minutes) AS m FROM visits", epsilon=1, max_rows=10)
    filled = text.replace("minutes: {type: str}", "minutes: {type: float, between: [0, 90], source: the timetable}")
    session = sf.Dataset(file, codebook=filled).session(epsilon=100, ledger="memory:")
    assert abs(session.sql("SELECT AVG(minutes) AS m FROM visits", epsilon=50, max_rows=10).value.only() - 35) < 30


def test_frames_are_drafted_by_their_types_and_not_by_their_values() -> None:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = {"user_id": [1, 2], "minutes": [0.5, 2.5], "word": ["secret", None], "seen": [True, False]}
    kinds = {"user_id": "int", "minutes": "float", "word": "str", "seen": "bool"}
    for frame in (
        pandas.DataFrame(columns),
        polars.DataFrame(columns),
        polars.DataFrame(columns).lazy(),
        pyarrow.table(columns),
    ):
        text = sf.Codebook.draft(frame, unit="user_id", protects="a person", name="visits")
        assert "secret" not in text
        assert {one.name: one.type for one in sf.Codebook.read(text).table("visits").columns} == kinds
    rows = [{"user_id": 1, "word": "secret"}, {"user_id": 2, "minutes": 3}]
    for untyped in (columns, rows):
        text = sf.Codebook.draft(untyped, unit="user_id", protects="a person")
        assert "secret" not in text
        assert {one.type for one in sf.Codebook.read(text).table("data").columns} == {"str"}


def test_a_draft_that_is_filled_in_is_a_codebook() -> None:
    book = sf.Codebook.read(unmarked(draft(SCHEMA, id="user_id")))
    assert book.id == "user_id" and book.protects == "a person"
    assert {column.name: column.type for column in book.table("visits").columns} == {
        "user_id": "int",
        "site": "str",
        "state": "str",
        "day": "date",
        "seen": "time",
        "minutes": "float",
        "paid": "bool",
        "zoned": "time",
        "tags": "list",
        "states": "list",
    }
    assert book.facts() == ()  # nothing is stated that nobody has said
    assert sf.Codebook.read(unmarked(draft(SCHEMA))).id == ""


def test_a_draft_says_nothing_that_may_be_from_the_data() -> None:
    text = draft(SCHEMA)
    assert "secret" not in text
    for line in (
        "# path is left out: STRUCT is",
        "tags: {type: list, items: {type: str}}",
    ):
        assert line in text
    assert '# pairs is left out: "INTEGER[2]" is no type of a codebook' in text


def test_types_are_those_that_the_engine_names(tmp_path: Path) -> None:
    types = {
        "int": ["tinyint", "smallint", "int", "bigint", "hugeint", "utinyint", "usmallint", "uinteger", "ubigint"],
        "float": ["real", "double", "decimal(4,1)", "numeric"],
        "str": ["varchar", "text", "char", "uuid"],
        "bool": ["boolean"],
        "date": ["date"],
        "time": [
            "timestamp",
            "datetime",
            "timestamp_s",
            "timestamp_ms",
            "timestamp_ns",
            "timestamptz",
            "timestamptz_ns",
        ],
    }
    held: dict[str, dict[str, str]] = {}
    with duckdb.connect(tmp_path / "types.duckdb") as engine:
        for kind, names in types.items():
            engine.execute(
                f"CREATE TABLE {kind}s ({', '.join(f'c{place} {name}' for place, name in enumerate(names))})"
            )
            described = engine.execute(f"DESCRIBE {kind}s").fetchall()
            held[kind] = {name: type for name, type, *_ in described}
    schema = schema_of(tmp_path / "types.duckdb")
    for kind, names in types.items():
        book = sf.Codebook.read(unmarked(draft({"t": schema[f"{kind}s"]})))
        assert [column.type for column in book.table("t").columns] == [kind] * len(names)
        columns = Catalog(book, rows_only=True).table("t").columns
        assert None not in [readable(column.kind, held[kind][column.name]) for column in columns]  # it can be opened


NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(lambda name: name.strip())


@given(st.dictionaries(NAMES, st.just("BIGINT"), min_size=1, max_size=3), NAMES)
def test_any_name_stays_a_name(columns: dict[str, str], table: str) -> None:
    read = read_text(unmarked(draft({table: columns})))
    assert isinstance(read, dict) and list(read["tables"]) == [table]
    assert read["tables"][table]["columns"] == {name: {"type": "int"} for name in columns}


@pytest.mark.parametrize(
    "name", ["true", "null", "no", "a: b", f"a {MARK}b", "line\nbreak", '"', "\\", "# x", "é", "a\x85b"]
)
def test_names_that_yaml_could_misread(name: str) -> None:
    text = unmarked(draft({name: {name: "DATE", "kept": "BLOB", f"{name} left out": "BLOB"}}, id=name))
    book = sf.Codebook.read(text)
    assert book.tables[0].name == book.id == book.tables[0].columns[0].name == name
    assert len(book.tables[0].columns) == 1


@pytest.mark.parametrize(
    ("schema", "id", "message"),
    [
        ({}, None, "a schema must be at least one table"),
        ({"t": {}}, None, "a schema must be at least one table, each with columns"),
        (SCHEMA, "user", "id must be a column of visits, sites"),
        ({" ": {"a": "DATE"}}, None, "a name in a schema must be a text"),
        ({"t": {"\ud800": "DATE"}}, None, "a name in a schema must be a text"),
    ],
    ids=["nothing", "no columns", "unknown id", "blank name", "half a character"],
)
def test_schemas_that_are_refused(schema: dict[str, dict[str, str]], id: str | None, message: str) -> None:
    with pytest.raises(sf.errors.BadArgument, match=message):
        draft(schema, id=id)

"""Drafts of codebooks: from names and types alone, refused until a human has filled them in."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.codebook.draft import MARK, draft
from sfumato.codebook.strict_yaml import read_text
from sfumato.query.engines.duckdb.reading import readable
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
    text = text.replace(f"title: {MARK}", "title: A draft # ").replace(f"protects: {MARK}", "protects: a person # ")
    return text.replace(MARK, "# ")


def test_a_draft_is_refused_with_what_is_left_to_say() -> None:
    text, told = draft(SCHEMA, id="user_id"), ""
    for left in range(text.count(MARK), 0, -5):  # five at a time
        with pytest.raises(sf.errors.BadCodebook) as caught:
            sf.Codebook.read(text)
        message = str(caught.value)
        assert message.startswith("codebook, the draft: fill in what is marked, and remove each mark")
        assert message.count("line ") == min(5, left) and (f"; and {left - 5} more." in message) == (left > 5)
        text, told = text.replace(MARK, "# ", 5), told + message
    for part in (
        "line 2, title: what the data is",
        "line 5, protects: who is protected",
        "minutes: between: [lower, upper] and its source",
        "site: categories or keys, and their source",
        "day: between: [first, last] and its source",
        "id: {through: …, of: …}, the foreign key that leads to whose a row is; or public: true",
        "contributions: {rows: …, by: fact or truncation, source: …}",
    ):
        assert part in told


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
    }
    assert book.facts() == ()  # nothing is stated that nobody has said
    assert sf.Codebook.read(unmarked(draft(SCHEMA))).id == ""


def test_a_draft_says_nothing_that_may_be_from_the_data() -> None:
    text = draft(SCHEMA)
    assert "secret" not in text
    for line in (
        "# path is left out: STRUCT is",
        '# tags is left out: "VARCHAR[]" is',
        '# states is left out: "ENUM[]"',
    ):
        assert line in text
    assert '# pairs is left out: "INTEGER[2]" is no type of a codebook' in text


def test_types_are_those_that_the_engine_names() -> None:
    engine = duckdb.connect()
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
    for kind, names in types.items():
        made = ", ".join(f"c{place} {name}" for place, name in enumerate(names))
        engine.execute(f"create or replace table t ({made})")
        schema = {name: type for name, type, *_ in engine.execute("describe t").fetchall()}
        book = sf.Codebook.read(unmarked(draft({"t": schema})))
        assert [column.type for column in book.table("t").columns] == [kind] * len(names)
        reads = [
            readable(column.kind, schema[column.name]) for column in Catalog(book, rows_only=True).table("t").columns
        ]
        assert None not in reads  # what is drafted can be opened
    engine.close()


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

"""Columns of lists: each item makes a row of the same unit, at most so many, from every source and in every form."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples.engines import open_duckdb
from tests.reference.interpreter import ByValue, Reference

import sfumato as sf
from sfumato.errors import BadArgument, BadCodebook, QueryRefused
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Column
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Items, Owner, Scan
from sfumato.query.plan.contribution_facts import items_of_a_row
from sfumato.query.plan.engine_plan import Cells, Distinct, Rows, Term, Total
from sfumato.query.plan.grids import Grid
from sfumato.query.sql import read_sql

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

USER = Column("user", Kind.INT, Facts(), "t.user", 0)
TAG = Column("tag", Kind.TEXT, Facts(), "t.tags[]")
X = Column("x", Kind.FLOAT, Facts((Fraction(0), Fraction(9))), "t.xs[]")
TYPES = pa.schema({"user": pa.int64(), "tags": pa.list_(pa.string()), "xs": pa.large_list(pa.float64())})
LISTS = (Items("tags", TAG), Items("xs", X))
TALLIES = (Rows(), Total((Term(X, Grid(0.0, 9.0, 0.0, 4)),)), Distinct(TAG, None, (X,)))

TAGS = st.none() | st.lists(st.sampled_from(["a", "b", None]), max_size=4)
NUMBERS = st.none() | st.lists(st.sampled_from([0.5, 12.0, -1.0, float("nan"), None]), max_size=3)
ROWS = st.lists(st.tuples(st.sampled_from([1, 2, None]), TAGS, NUMBERS), max_size=6)


def table(rows: list[tuple[Any, ...]]) -> Any:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(TYPES)
    return pa.table(
        {name: pa.array(held, TYPES.field(name).type) for name, held in zip(TYPES.names, columns, strict=True)}
    )


def computed(rows: list[tuple[Any, ...]], scan: Scan, keys: tuple[Column, ...] = ()) -> dict[Any, tuple[int, ...]]:
    """Gives the exact cells of DuckDB, by key."""
    engine = open_duckdb({"t": table(rows)}, {"t": Scan("t", (USER,), scan.owner, lists=LISTS)})
    found = engine.run(Cells(scan, keys, TALLIES))
    engine.close()
    listed = zip(*found.keys, strict=True) if keys else [()]
    return dict(zip(listed, zip(*(map(int, one) for one in found.numbers), strict=True), strict=True))


@pytest.mark.parametrize("kept", [False, True])
@given(rows=ROWS, most=st.sampled_from([None, 1, 3]))
@settings(max_examples=12, deadline=None)
def test_every_item_of_a_list_makes_a_row_as_the_reference_says(
    rows: list[tuple[Any, ...]], most: int | None, kept: bool
) -> None:
    unnested = (Items("tags", TAG, most, kept), Items("xs", X, 2))
    scan = Scan("t", (USER,), Owner("user"), unnested)
    held = {"t": [dict(zip(TYPES.names, row, strict=True)) for row in rows]}
    said = Reference(held, ByValue()).cells(Cells(scan, (TAG,), TALLIES))
    assert computed(rows, scan, (TAG,)) == {key: numbers for (key, _), numbers in said.items()}


@given(rows=ROWS, one=st.tuples(st.just(1), TAGS, NUMBERS), most=st.sampled_from([1, 3]))
@settings(max_examples=12, deadline=None)
def test_one_row_becomes_at_most_as_many_rows_as_its_lists_may_have_items(
    rows: list[tuple[Any, ...]], one: tuple[Any, ...], most: int
) -> None:
    unnested = (Items("tags", TAG, most), Items("xs", X, 2))
    scan = Scan("t", (), Owner(), unnested)
    moved = computed([*rows, one], scan)[()][0] - computed(rows, scan)[()][0]
    assert 0 <= moved <= items_of_a_row(unnested) == 2 * most


def test_a_row_with_full_lists_becomes_all_of_them() -> None:
    for most in (1, 3):
        unnested = (Items("tags", TAG, most), Items("xs", X, 2))
        assert computed([(1, ["a"] * 9, [1.0] * 9)], Scan("t", (), Owner(), unnested))[()][0] == items_of_a_row(
            unnested
        )
    assert items_of_a_row((Items("tags", TAG),)) == float("inf")


BOOK = """
codebook: 1
title: Posts
created: 2026-01-01
unit: {protects: a person, id: user}
tables:
  posts:
    columns:
      user: {type: int}
      topic: {type: str}
      tags: {type: list, items: {categories: [a, b], source: s}, most_items: 3}
      xs: {type: list, items: {type: float, between: [0, 9], source: s}}
"""
POSTS = [
    {"user": 1, "topic": "x", "tags": ["a", "b", "a", "a"], "xs": [1.0, 20.0]},
    {"user": 2, "topic": "x", "tags": ["b", "c"], "xs": []},
    {"user": 2, "topic": "y", "tags": None, "xs": [2.0]},
    {"user": 3, "topic": "y", "tags": [], "xs": None},
]
KINDS = {"user": pl.Int64, "topic": pl.String, "tags": pl.List(pl.String), "xs": pl.List(pl.Float64)}
FRAME = pl.DataFrame(POSTS, schema=KINDS)
ASKED = "SELECT tag, COUNT(*) AS n FROM posts, UNNEST(tags) AS t (tag) GROUP BY tag"
SURE: dict[str, Any] = {"loss": sf.Pure(10**8), "max_groups": 3, "max_rows_per_group": 9}


def in_parquet(folder: Path) -> str:
    FRAME.write_parquet(folder / "posts.parquet")
    return str(folder / "posts.parquet")


def in_duckdb(folder: Path) -> str:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect(str(folder / "posts.duckdb"))
    connection.register("given", FRAME.to_arrow())
    connection.execute("CREATE TABLE posts AS FROM given")
    connection.close()
    return str(folder / "posts.duckdb")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "Polars": lambda _: FRAME,
    "Polars arrays and categories": lambda _: FRAME.with_columns(pl.col("tags").cast(pl.List(pl.Categorical))),
    "Arrow, from the middle": lambda _: pa.concat_tables([FRAME.to_arrow()] * 2).combine_chunks().slice(2, 4),
    "Parquet": in_parquet,
    "DuckDB": in_duckdb,
    "pandas": lambda _: FRAME.to_pandas(),
    "rows of Python": lambda _: POSTS,
}


def opened(data: Any) -> sf.Session:
    book = sf.Codebook.read(BOOK)
    return sf.Dataset({"posts": data}, codebook=book).session(limit=sf.Approx(10**9, 1e-3), ledger="memory:")


@pytest.mark.parametrize("name", SOURCES)
def test_lists_are_read_of_every_source_that_has_them(name: str, tmp_path: Path) -> None:
    """Three items of each row count; the other ones are cut, and c is no listed value."""
    session = opened(SOURCES[name](tmp_path))
    assert dict(zip(*session.sql(ASKED, **SURE).value.to_dict().values(), strict=True)) == {None: 1, "a": 2, "b": 2}
    total = session.sql("SELECT SUM(x) AS s, COUNT(*) AS n FROM posts CROSS JOIN UNNEST(xs[:5]) AS x", **SURE)
    assert [round(column[0], 3) for column in total.value.to_dict().values()] == [12, 3]


@pytest.mark.parametrize("large", [False, True])
def test_an_item_that_is_no_text_is_missing_and_stops_nothing(
    large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In memory, in a file that is copied, and in one that is read where it is."""
    items = pa.array([b"a", b"\xff", b"b"]).cast(pa.binary()).view(pa.string())
    held = {
        "user": pa.array([1, 2]),
        "topic": pa.array(["x", "y"]),
        "tags": pa.ListArray.from_arrays(pa.array([0, 2, 3], pa.int32()), items),
        "xs": pa.array([[1.0], [2.0]]),
    }
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(held), tmp_path / "posts.parquet")
    if large:
        monkeypatch.setattr("sfumato.query.engines.duckdb.sources.SMALL", 0)
    for data in (pa.table(held), tmp_path / "posts.parquet"):
        release = opened(data).sql(ASKED, **SURE)
        assert dict(zip(*release.value.to_dict().values(), strict=True)) == {None: 1, "a": 1, "b": 1}


def test_lists_of_python_hold_anything() -> None:
    """A value that no text can hold is missing, and what is no list has no items."""
    odd = [
        {**POSTS[0], "tags": ["a", object(), "\ud800", None, 5]},
        {**POSTS[1], "tags": "a"},
        {**POSTS[2], "tags": ("b",)},
    ]
    release = opened(odd).sql(ASKED, **SURE)
    assert dict(zip(*release.value.to_dict().values(), strict=True)) == {None: 2, "a": 1, "b": 1}


def test_a_source_without_lists_is_refused_by_its_type() -> None:
    with pytest.raises(BadArgument, match=r"posts.tags is a list of text.*VARCHAR"):
        opened(FRAME.with_columns(tags=pl.lit("a")))


def catalog() -> Catalog:
    return Catalog(sf.Codebook.read(BOOK))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT tag, COUNT(*) AS n FROM posts CROSS JOIN UNNEST(posts.tags[1:3]) AS tag GROUP BY tag",
        "SELECT t.tag, COUNT(*) AS n FROM posts AS p CROSS JOIN LATERAL UNNEST(p.tags) AS t (tag) GROUP BY t.tag",
        "SELECT tag, COUNT(*) AS n FROM (SELECT unnest(tags) AS tag FROM posts) GROUP BY tag",
        "SELECT unnest(tags[:7]) AS tag, COUNT(*) AS n FROM posts GROUP BY tag",
        "SELECT tag, COUNT(*) AS n FROM (SELECT * FROM posts) AS p, UNNEST(p.tags) AS t (tag) GROUP BY tag",
    ],
)
def test_all_ways_to_write_it_are_one_question(text: str) -> None:
    assert read_sql(text, catalog()).question == read_sql(ASKED, catalog()).question


def test_frames_ask_the_same_and_it_reads_back() -> None:
    session = opened(FRAME)
    t = session.table("posts")
    exploded = t.filter(t.topic == "x").explode("tags", max_items=2).group_by("tags").agg(n=sf.count_rows())
    text = "SELECT tags, COUNT(*) AS n FROM posts, UNNEST(tags[:2]) AS u (tags) WHERE topic = 'x' GROUP BY tags"
    assert exploded.question == read_sql(text, catalog()).question
    release = session.sql(text, **SURE)
    assert read_sql(str(release.how.asked), catalog()).question == exploded.question
    assert "at most 2 items of posts.tags count in each row" in {cut.what for cut in release.how.cuts}
    kept = session.sql("SELECT COUNT(*) AS n FROM posts LEFT JOIN UNNEST(tags) AS t (tag) ON TRUE", **SURE)
    assert kept.value.only() == 7
    assert "each of at most 3 items makes a row" in str(session.explain(ASKED, **SURE))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT COUNT(tags) FROM posts", "tags is a list, and only its items are asked about"),
        ("SELECT COUNT(*) FROM posts, UNNEST(topic) AS t (x)", "no table in FROM has a list column"),
        ("SELECT COUNT(*) FROM posts, UNNEST(tags[2:3]) AS t (x)", "UNNEST of anything but a list column"),
        ("SELECT COUNT(*) FROM posts JOIN UNNEST(tags) AS t (x) ON x = topic", "the condition into WHERE"),
    ],
)
def test_what_lists_cannot_do_is_refused_with_what_to_write(text: str, why: str) -> None:
    with pytest.raises(QueryRefused, match=why):
        read_sql(text, catalog())


def test_without_a_number_of_items_rows_as_units_have_no_bound() -> None:
    book = BOOK.replace("unit: {protects: a person, id: user}", "unit: {protects: a post}")
    book += "    contributions: {rows: 1, by: fact, source: a post is one row}\n"
    data = sf.Dataset({"posts": FRAME}, codebook=sf.Codebook.read(book))
    session = data.session(limit=sf.Pure(9), ledger="memory:")
    text = "SELECT COUNT(*) AS n FROM posts, UNNEST({}) AS t (x)"
    with pytest.raises(QueryRefused, match="nothing bounds what it can move"):
        session.sql(text.format("xs"), loss=sf.Pure(1))
    assert "3, 3" in str(session.explain(text.format("tags"), loss=sf.Pure(1)))
    assert "2, 2" in str(session.explain(text.format("xs[:2]"), loss=sf.Pure(1)))


def test_codebooks_say_what_items_are() -> None:
    book = sf.Codebook.read(BOOK)
    assert sf.Codebook.read(book.to_yaml()).table("posts") == book.table("posts")
    assert opened(FRAME).sql("DESCRIBE posts").value.to_dict()["column_type"][2:] == [
        "list of at most 3 categories",
        "list of float",
    ]
    for wrong in (
        "{type: list}",
        "{type: str, items: {type: str}}",
        "{type: list, items: {type: list, items: {type: int}}}",
    ):
        with pytest.raises(BadCodebook):
            sf.Codebook.read(BOOK.replace("{type: list, items: {categories: [a, b], source: s}, most_items: 3}", wrong))


def test_lists_of_a_frame_need_no_file_of_facts() -> None:
    """What is stated of a list column is about its items; lists of lists are left out, and a list is no id."""
    frame = pl.DataFrame(
        {"id": [1, 2, 3], "tags": [["x", "y"], [], ["x"]], "marks": [[1.0], [5.0], None], "deep": [[[1]]] * 3}
    )
    data = sf.Dataset(frame, unit="id", categories={"tags": ["x", "y"]}, between={"marks": (0, 4)})
    session = data.session(limit=sf.Pure(10**9), ledger="memory:")
    asked = "SELECT t, COUNT(*) AS n FROM data, UNNEST(tags[:2]) AS u(t) WHERE t IS NOT NULL GROUP BY t"
    assert session.sql(asked, loss=sf.Pure(10**8), max_rows=2).to_polars().rows() == [("x", 2), ("y", 1)]
    total = session.sql("SELECT SUM(m) AS s FROM data, UNNEST(marks[:1]) AS u(m)", loss=sf.Pure(10**8), max_rows=1)
    assert total.to_polars().item() == pytest.approx(5, abs=1e-3)  # 5 is moved to 4
    with pytest.raises(QueryRefused, match="deep"):
        session.explain("SELECT COUNT(deep) FROM data", loss=sf.Pure(1))
    with pytest.raises(BadArgument, match="unit"):
        sf.Dataset(frame, unit="tags")

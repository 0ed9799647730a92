"""What was asked is written in one normal form: one text for one question, and another text for every other one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, cast, final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlglot.dialects.duckdb import DuckDB
from tests.examples.sql import catalog
from tests.examples.visits import CATALOG, Recorder, table
from tests.profiles import examples
from tests.reference import plans
from tests.reference.choices import Choices, Drawn
from tests.reference.worlds import ROW, WINDOW, world

import sfumato as sf
from sfumato.codebook import Codebook
from sfumato.errors import QueryRefused, UnboundedColumn
from sfumato.query.answer.normal_text import normal_text
from sfumato.query.answer.spelled import RESERVED, named
from sfumato.query.build.question import build_question
from sfumato.query.build.relation import all_of, any_of
from sfumato.query.frame import Frame
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.fields import renamed
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.questions import Count, CountUnits, Question, StatisticValue
from sfumato.query.nodes.relations import Join, Keep, Match, Meet, Relation, Scan, Where
from sfumato.query.sql import read_sql
from sfumato.query.sql.alike import folded
from sfumato.release.render.words import clean

LINES = (Path(__file__).parent / "sql_readings.txt").read_text(encoding="utf-8").splitlines()
READINGS = [sql for sql, result in pairwise(LINES) if result.startswith("    ")]
READ = [found for sql in READINGS if (found := read_sql(sql, catalog()).question) is not None]

FURTHER = (
    "SELECT COUNT(*) AS minutes FROM visits GROUP BY visits.minutes HAVING visits.minutes > 3 ORDER BY visits.minutes",
    "SELECT 7 AS seven, COUNT(*) AS n FROM visits ORDER BY seven, -(1), n",
    "SELECT SUM(-(1) - -age) AS s, SUM(age - (age - 1)) AS t, SUM(age / (2 / age)) AS u FROM visits",
    "SELECT COUNT(*) FROM visits WHERE NOT (first = TRUE) AND (age > 1 OR (age < 3 AND first)) AND note = 'it''s'",
    "SELECT COUNT(*) FROM visits WHERE age * 1.0 > 1 AND age > 1.0 AND age > 1e300 AND minutes > -0.5e-300",
    "SELECT COUNT(*) FROM visits WHERE (first AND age > 3) = (note IS NULL) AND note || site LIKE 'a%'",
    "SELECT visits.n FROM (SELECT user_id, age AS n FROM visits) AS visits "
    "JOIN (SELECT user_id, age FROM accounts) AS b ON visits.user_id = b.user_id GROUP BY visits.n HAVING COUNT(*) > 2",
    "SELECT COUNT(DISTINCT b.user_id) FROM visits JOIN (SELECT user_id, SUM(age) AS age FROM accounts GROUP BY user_id "
    "HAVING COUNT(*) > 1) AS b ON visits.user_id = b.user_id WHERE b.age > visits.age",
    "SELECT COUNT(DISTINCT u) FROM (SELECT user_id AS u, age + 1 AS x FROM visits) WHERE x > 3",
    "SELECT COUNT(*) FROM visits AS a JOIN accounts AS visits ON a.user_id = visits.user_id WHERE visits.age > a.age",
    "SELECT COUNT(*) FROM visits JOIN accounts AS a ON visits.user_id = a.user_id AND a.age > 3 "
    "JOIN sites AS s ON visits.site = s.site AND s.beds > visits.age WHERE s.region = 'x'",
    "SELECT AVG(h) FROM (SELECT user_id AS u, SUM(age) AS total, SUM(age) / 60 AS h FROM visits GROUP BY user_id)",
    "SELECT AVG(age) FROM (SELECT user_id, age + 1 AS age FROM visits GROUP BY user_id, visits.age)",
    'SELECT COUNT(*) AS "two words", SUM(age) AS "select" FROM visits GROUP BY "first" HAVING "first"',
    "SELECT SUM(x) FROM (SELECT age AS x FROM visits UNION ALL SELECT x FROM "
    "(SELECT age AS x FROM accounts UNION ALL SELECT age FROM visits))",
)


@pytest.mark.parametrize("place", range(len(READ)))
def test_what_sql_can_say_is_read_back_as_the_same_question(place: int) -> None:
    text = normal_text(READ[place], catalog().tables)
    assert read_sql(text, catalog()).question == READ[place]
    written = text.replace("(?i)", "").replace("(?s)", "")  # of regular expressions, which are constants
    assert "?" not in written and ";" not in written and "\n" not in written


@pytest.mark.parametrize("sql", FURTHER)
def test_hard_ones_are_read_back_too(sql: str) -> None:
    found = cast(Question, read_sql(sql, catalog()).question)
    assert read_sql(normal_text(found, catalog().tables), catalog()).question == found


def test_texts_are_equal_where_questions_are() -> None:
    further = [cast(Question, read_sql(sql, catalog()).question) for sql in FURTHER]
    texts = [(found, normal_text(found, catalog().tables)) for found in (*READ, *further)]
    for one, text in texts:
        for other, second in texts:
            assert (one == other) == (text == second), (text, second)


def test_constants_stand_where_parameters_were_bound() -> None:
    text = "SELECT COUNT(*) AS n FROM visits WHERE age > ? AND note = ? AND day < ?"
    found = cast(Question, read_sql(text, catalog(), [3, "it's", "2024-05-01"]).question)
    told = "SELECT COUNT(*) AS n FROM visits WHERE age > 3 AND note = 'it''s' AND day < DATE '2024-05-01'"
    assert normal_text(found, catalog().tables) == told
    assert read_sql(told, catalog()).question == found


UNSEEN = (
    *("a b", "a\tb", "a\nb", "a\xa0b", "a\x1bb", "a\\u001bb", "a\u202eb", "a\\u202eb"),
    *("it's\x0b\\x0b", "a\u2028b", "\x00"),
)


def test_texts_that_look_alike_are_told_apart_in_every_form() -> None:
    text = "SELECT COUNT(*) AS n FROM visits WHERE note = ? OR note LIKE ?"
    found = [cast(Question, read_sql(text, catalog(), [one, f"{one}%"]).question) for one in UNSEEN]
    told = [normal_text(one, catalog().tables) for one in found]
    assert [clean(one) for one in told] == told and len(set(told)) == len(UNSEEN)
    assert [read_sql(one, catalog()).question for one in told] == found
    assert "'it''s'" in normal_text(cast(Question, read_sql(text, catalog(), ["it's", "_"]).question), catalog().tables)


def test_what_only_data_frames_say_is_written_too() -> None:
    visits = table("visits")
    several = visits.filter(visits.pages > 1).filter(visits.pages > 2).join(table("accounts"), on="user_id")
    texts = {
        normal_text(made.question, CATALOG.tables)
        for made in (
            several.agg(n=sf.count_rows()),
            visits.filter(visits.pages > 1, visits.pages > 2).agg(n=sf.count_rows()),
            visits.agg(n=visits.note.concat(visits.note, visits.note).count()),
            visits.agg(n=visits.note.concat(visits.note).concat(visits.note).count()),
            visits.agg(q=visits.minutes.quantile("1/3")),
            visits.agg(q=visits.minutes.quantile("0.333")),
        )
    }
    assert len(texts) == 6
    assert any("QUANTILE(minutes, 1/3)" in text for text in texts)


def test_a_column_is_named_with_the_table_that_it_is_from() -> None:
    visits, accounts = (Frame(catalog().table(name), Recorder()) for name in ("visits", "accounts"))
    accounts = replace(accounts, asker=visits.asker)
    few = visits.select("user_id", "site").join(accounts, on="user_id")
    text = normal_text(few.filter(few.age > 3).agg(n=sf.count_rows()).question, catalog().tables)
    assert "WHERE t.age > 3" in text and "AS t ON" in text  # visits has an age too, which nothing looks at


@pytest.mark.parametrize("unit", [{"protects": "a", "id": "id", "window": {"column": "at", "every": "month"}}])
def test_units_that_no_column_names_are_counted_all_the_same(unit: dict[str, Any]) -> None:
    columns = {"id": {"type": "int"}, "at": {"type": "time"}}
    book = Catalog(Codebook.read({"codebook": 1, "title": "x", "unit": unit, "tables": {"t": {"columns": columns}}}))
    ids = cast(Question, read_sql("SELECT COUNT(DISTINCT id) AS n FROM t", book).question)
    units = build_question(book.tables["t"], (), [("n", StatisticValue(CountUnits()))])
    assert normal_text(ids, book.tables) == "SELECT COUNT(DISTINCT id) AS n FROM t"
    assert normal_text(units, book.tables) == "SELECT COUNT_UNITS() AS n FROM t"


WORDS = sorted(
    {word.lower() for word in DuckDB.Tokenizer.KEYWORDS if word.replace("_", "a").isalnum() and word[0].isalpha()}
)


MANY = 25
"""So many names are tried in one codebook: few enough that looking them up takes no time."""

NAMES = (*WORDS, "Ünï", "a b", 'say "x"', "1st", "a.b")


def test_names_that_mean_something_in_sql_stand_in_quotation_marks() -> None:
    wrong = []
    for start in range(0, len(NAMES), MANY):
        names = NAMES[start : start + MANY]
        book = _with_names(names)
        wrong += [name for name in names if not _survives(name, book)]
    assert wrong == []
    assert len(RESERVED & set(WORDS)) > 60


def _with_names(names: Sequence[str]) -> Catalog:
    """Gives tables of these names, and one with columns of these names."""
    number = {"type": "int", "between": [0, 9], "source": "s"}
    tables = {name: {"columns": {"id": {"type": "int"}, "x": number}} for name in names}
    tables["one table"] = {"columns": {"id": {"type": "int"}, **dict.fromkeys(names, number)}}
    unit = {"protects": "a", "id": "id"}
    return Catalog(Codebook.read({"codebook": 1, "title": "x", "unit": unit, "tables": tables}))


def _survives(name: str, book: Catalog) -> bool:
    """Tells whether a column and a table of this name are read as such again."""
    said = '"' + name.replace('"', '""') + '"'
    texts = (
        f"SELECT {said}, SUM(-{said}) AS s, SUM(CAST({said} AS DOUBLE) - 1) AS t FROM (SELECT {said} + 1 AS {said} "
        f'FROM "one table") WHERE {said} > 1 AND {said} IN (1) GROUP BY {said} HAVING {said} > 2',
        f'SELECT SUM({said}.x) AS {said} FROM "one table" AS a JOIN {said} ON a.id = {said}.id WHERE a.{said} > 1',
    )
    found = [cast(Question, read_sql(text, book).question) for text in texts]
    return all(read_sql(normal_text(one, book.tables), book).question == one for one in found)


# Random questions


@final
@dataclass(frozen=True)
class Tables:
    """Is as much of a catalog as reading needs."""

    tables: Mapping[str, Scan]

    def table(self, name: str) -> Scan:
        return self.tables[name]

    def left_out(self, _: str) -> Mapping[str, str]:
        return {}


def tidy(node: Any) -> Any:
    """Gives a plan as front ends make it: no NULL without need, no operation on one operand that takes several."""
    if isinstance(node, Keep):
        return tidy(node.source)
    if isinstance(node, Literal):
        return Literal(False if node.value is None and node.kind is Kind.BOOL else node.value, node.kind)
    if isinstance(node, Call):
        parts = [tidy(part) for part in node.parts]
        if node.operator in ("and", "or"):
            return (all_of if node.operator == "and" else any_of)(parts)
        return parts[0] if node.operator == "concat" and len(parts) == 1 else folded(call(node.operator, *parts))
    if isinstance(node, tuple):
        return tuple(tidy(part) for part in node)
    if is_dataclass(node) and isinstance(node, Relation) and not isinstance(node, Scan):
        return replace(node, **{part.name: tidy(getattr(node, part.name)) for part in fields(node)})
    return node


def random_question(choices: Choices) -> tuple[Question, Mapping[str, Scan]] | None:
    """Makes a question about random tables; None where there is nothing to ask."""
    here = world(choices, most_rows=1)
    source = tidy(plans.relation(choices, here, 3))
    made = [tidy(plans.key(choices, source.fields)) for _ in range(choices.whole(0, 2))] if source.fields else []
    plain = [key for key in dict.fromkeys(made) if not isinstance(key, Literal) and getattr(key, "unit", None) is None]
    keys = [(f"key {place}", key) for place, key in enumerate(plain)]
    counts = [Count(), *([] if here.unit in (ROW, WINDOW) else [CountUnits()])]
    columns = [(f"n{place}", StatisticValue(one)) for place, one in enumerate(counts[: choices.whole(1, 2)])]
    try:
        named_keys = [(name, renamed(name, key)) for name, key in keys]
        return build_question(source, keys, [*named_keys, *columns]), here.scans
    except QueryRefused:
        return None


def filtered_before_a_join(relation: Relation) -> bool:
    """Tells whether rows are left out before a join: SQL says that with an inner SELECT, which names fields."""
    sides = relation.sources if isinstance(relation, Join | Meet) else ()
    return any(isinstance(side, Where) for side in sides) or any(map(filtered_before_a_join, relation.sources))


@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(st.data())
def test_random_questions_are_read_back_as_they_were(data: st.DataObject) -> None:
    made = random_question(Drawn(data.draw))
    if made is None or "NULL" in (text := normal_text(*made)):
        return  # a missing value that was written out has the kind of its neighbours
    found, scans = made
    tables = cast(Catalog, Tables(scans))
    try:
        statement = read_sql(text, tables)
    except (QueryRefused, UnboundedColumn):
        return  # a plan that no front end makes
    again = statement.question
    if again is None:  # nor one that sums up within each unit, and does not group by the id: that is an answer
        assert statement.worked is not None
        return
    second = normal_text(again, scans)
    assert read_sql(second, tables).question == again, text
    assert second == text or filtered_before_a_join(found.source)


def changed(node: Any) -> Iterator[Any]:
    """Gives a node with one thing changed, in every place."""
    match node:
        case Literal(value=bool(value)):
            yield replace(node, value=not value)
        case Literal(value=int(value)) | Literal(value=float(value)) if value is not None:
            yield replace(node, value=value + 1 if abs(value) < 2**52 else value / 2)
        case Literal(value=str(value)):
            yield replace(node, value=value + "'")
        case Call("lt" | "add" as operator, parts):
            yield replace(node, operator={"lt": "le", "add": "sub"}[operator])
            yield replace(node, parts=parts[::-1]) if parts[0] != parts[1] else replace(node, operator="ge")
        case Join(match=match):
            yield replace(node, match=Match.LEFT if match is Match.INNER else Match.INNER)
    if isinstance(node, tuple):
        for place, part in enumerate(node):
            yield from ((*node[:place], other, *node[place + 1 :]) for other in changed(part))
    elif (
        is_dataclass(node)
        and isinstance(node, Relation | Expression | Question)
        and not isinstance(node, Scan | Column)
    ):
        for part in fields(node):
            if part.name not in ("facts", "origin", "unit", "kind", "statistic"):
                yield from (replace(node, **{part.name: other}) for other in changed(getattr(node, part.name)))


@settings(max_examples=examples(100), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_question_that_differs_in_one_thing_has_another_text(data: st.DataObject) -> None:
    made = random_question(Drawn(data.draw))
    if made is None:
        return
    found, tables = made
    text = normal_text(found, tables)
    for other in changed(found):
        if other != found:
            assert normal_text(other, tables) != text


def test_names_are_written_plainly_where_they_can_be() -> None:
    assert [named(name) for name in ("day", "Minutes_2", "date", "order", "a.b")] == [
        *("day", "Minutes_2", "date"),
        *('"order"', '"a.b"'),
    ]

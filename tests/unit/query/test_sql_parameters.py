"""Parameters are bound, options are read exactly, and no text of anybody gets anywhere but into a literal."""

from __future__ import annotations

import datetime
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.examples.sql import BOOK, catalog, question, shown
from tests.profiles import examples

from sfumato.codebook import Codebook
from sfumato.errors import BadArgument, QueryRefused
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Call, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.relations import Where
from sfumato.query.sql import read_sql
from sfumato.query.sql.options import Options


@pytest.mark.parametrize(
    ("text", "given", "condition"),
    [
        ("age > ? AND site = ?", (3, "a"), "and(gt(age, 3), eq(site, 'a'))"),
        ("site = $2 AND age > $1 AND age < $1", [3, "a"], "and(eq(site, 'a'), gt(age, 3), lt(age, 3))"),
        ("age > :low AND site = $name", {"low": 3, "name": "a"}, "and(gt(age, 3), eq(site, 'a'))"),
        ("day = ? AND minutes > ?", (datetime.date(2024, 2, 1), 1.5), "and(eq(day, 2024-02-01), gt(minutes, 1.5))"),
        ("day = ?", ("2024-02-01",), "eq(day, 2024-02-01)"),
        ("began < ?", (datetime.datetime(2024, 2, 1, 12),), "lt(began, 2024-02-01T12:00:00)"),
        ("first = ? AND age IN (?, ?)", (True, 1, 2), "and(eq(first, True), in(age, 1, 2))"),
        ("CLAMP(minutes, ?, ?) > 0", (-1, 1.0), "gt(clamp(minutes, -1, 1.0), 0)"),
        ("COALESCE(minutes, ?) > 0", (None,), "gt(coalesce(minutes, None), 0)"),
    ],
)
def test_values_are_bound(text: str, given: object, condition: str) -> None:
    source = question(f"SELECT COUNT(*) FROM visits WHERE {text}", given).source
    assert isinstance(source, Where)
    assert shown(source.condition) == condition


def test_values_go_where_they_stand_in_the_text_and_not_in_the_order_of_reading() -> None:
    text = "SELECT SUM(age + ?) FROM (SELECT age FROM visits WHERE age > ?) WHERE age < ? HAVING COUNT(*) > ? LIMIT ?"
    assert shown(question(text, (1, 2, 3, 4, 5))) == (
        "where(where(visits[age], gt(age, 2)), lt(age, 3)) | give sum_age=SUM(add(age, 1)) | having gt(COUNT(), 4)"
        " | limit 5"
    )


def test_a_share_that_is_bound_is_the_number_that_was_written() -> None:
    (statistic,) = question("SELECT QUANTILE(age, ?) FROM visits", (0.1,)).statistics
    assert statistic.at == Fraction(1, 10)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        ("age > ?", (), "the text has the parameter $1, and there is no value for it."),
        ("age > ?", (1, 2), "there is a value for the parameter $2, which is not in the text."),
        ("age > 3", (1,), "there is a value for the parameter $1, which is not in the text."),
        ("age > $2", (1, 2), "there is a value for the parameter $1, which is not in the text."),
        ("age > :low", {"high": 1}, "the text has the parameter $low, and there is no value for it."),
        ("age > ? AND age < $1", (1,), "the text has both ? and $ parameters; use one of the two."),
        ("age = ?", (None,), "comparing with NULL is refused: it is never true. Write IS NULL or IS NOT NULL."),
        ("age IN (?)", (None,), "NULL in a list is refused: it makes IN neither true nor false. Write OR x IS NULL."),
    ],
)
def test_values_that_do_not_fit_the_text_are_refused(text: str, given: object, message: str) -> None:
    with pytest.raises(QueryRefused) as caught:
        question(f"SELECT COUNT(*) FROM visits WHERE {text}", given)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "value",
    [b"a", [1], {"a": 1}, float("nan"), float("inf"), 2**63, object(), 1j, "a" * 1001],
    ids=lambda value: repr(value)[:9],
)
def test_values_of_other_kinds_are_refused(value: object) -> None:
    with pytest.raises(BadArgument, match=r"parameter \$1 must be"):
        question("SELECT COUNT(*) FROM visits WHERE age = ?", (value,))


@pytest.mark.parametrize("given", ["ab", 3, None, {1: 2}, b"a"])
def test_what_is_no_list_of_values_is_refused(given: object) -> None:
    with pytest.raises(BadArgument, match="parameters must be"):
        question("SELECT COUNT(*) FROM visits", given)


def test_a_parameter_is_no_position_and_no_name() -> None:
    with pytest.raises(QueryRefused, match="grouping by a constant"):
        question("SELECT site, COUNT(*) FROM visits GROUP BY ?", (1,))
    with pytest.raises(QueryRefused, match="a parameter in FROM"):
        question("SELECT COUNT(*) FROM ?", ("visits",))


CLAUSE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({}) site, COUNT(*) FROM visits GROUP BY site"


@pytest.mark.parametrize(
    ("said", "options"),
    [
        ("", Options()),
        ("epsilon = 0.1", Options(epsilon=Fraction(1, 10))),
        ("EPSILON=1e-1,delta = .000001", Options(epsilon=Fraction(1, 10), delta=Fraction(1, 1_000_000))),
        ("delta = 0, privacy_unit_column = user_id", Options(delta=Fraction(0), unit="user_id")),
        ('privacy_unit_column = visits."user_id"', Options(unit="user_id")),
        ("max_groups_contributed = 3, max_rows_per_group = 2", Options(max_groups=3, max_rows_per_group=2)),
        ("max_rows_contributed = 9", Options(max_rows=9)),
    ],
)
def test_options_are_read_exactly(said: str, options: Options) -> None:
    asked = read_sql(CLAUSE.format(said), catalog())
    assert asked.options == options
    assert shown(asked.question) == "visits[site] | by site | give site, count=COUNT()"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("epsilon = 0", "epsilon must be above 0; got 0."),
        ("epsilon = -1", "epsilon must be above 0; got -1."),
        ("delta = 1", "delta must be at least 0 and below 1; got 1."),
        ("delta = -1e-9", "delta must be at least 0 and below 1; got -1/1000000000."),
        ("epsilon = 1e999999999", "1e999999999 is no number that can be read."),
        ("epsilon = one", "one is no number that can be read."),
        ("epsilon = 1, epsilon = 2", "the option 'epsilon' is given twice."),
        ("privacy_unit_column = site", "privacy_unit_column is 'site', and the codebook names 'user_id'."),
        ("max_groups_contributed = 1.5", "a number of groups must be whole, 1 or more."),
        ("max_rows_per_group = 0", "a number of rows must be whole, 1 or more."),
        ("epsilon 1", "options are written as in OPTIONS (epsilon = 1, delta = 1e-6), one name once."),
        ("epsilon = ?", "options are written as in OPTIONS (epsilon = 1, delta = 1e-6), one name once."),
        (
            "noise = 3",
            "there is no option 'noise'; there are: epsilon, delta, privacy_unit_column, max_groups_contributed, "
            "kappa, max_rows_contributed, max_rows_per_group, max_matches.",
        ),
    ],
)
def test_options_that_cannot_be_meant_are_refused(said: str, message: str) -> None:
    with pytest.raises(QueryRefused) as caught:
        read_sql(CLAUSE.format(said), catalog())
    assert str(caught.value) == message


def test_the_clause_stands_after_with_names_too_and_may_say_nothing() -> None:
    text = "WITH w AS (SELECT age FROM visits) SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2) SUM(age) FROM w"
    assert read_sql(text, catalog()).options.epsilon == 2
    assert read_sql("SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM visits", catalog()).options == Options()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT COUNT(*) FROM (SELECT WITH DIFFERENTIAL_PRIVACY age FROM visits)", "stands once"),
        ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS epsilon = 1 COUNT(*) FROM visits", "a list in parentheses"),
        ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1 COUNT(*) FROM visits", "a list in parentheses"),
    ],
)
def test_the_clause_in_other_places_is_refused(text: str, why: str) -> None:
    with pytest.raises(QueryRefused, match=why):
        read_sql(text, catalog())


def test_a_unit_cannot_be_named_where_rows_are_the_units() -> None:
    book = {**BOOK, "unit": {"protects": "a visit"}, "tables": {"visits": BOOK["tables"]["visits"]}}  # type: ignore[index]
    with pytest.raises(QueryRefused, match="each row is a unit by itself"):
        read_sql(CLAUSE.format("privacy_unit_column = user_id"), Catalog(Codebook.read(book)))


@pytest.mark.parametrize(
    "text",
    ["EXPLAIN PRIVACY SELECT COUNT(*) FROM visits;", "/* a */ explain  privacy\nselect count(*) from visits -- b"],
)
def test_explanations_are_asked_for_by_name(text: str) -> None:
    asked = read_sql(text, catalog())
    assert asked.explain
    assert shown(asked.question) == "visits[] | give count=COUNT()"


CLAUSES_IN_TEXT = [
    "'; DROP TABLE visits; --",
    "a; SELECT * FROM visits",
    "EXPLAIN PRIVACY SELECT",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 9)",
    "/* a */ -- b",
    "\u2018a\u2019 OR 1 = 1",
    "$1 ? :name",
    "a\\' OR 1 = 1 --",
    '" OR ""=""',
    "\x00\n\u202e",
]


@pytest.mark.parametrize("hostile", CLAUSES_IN_TEXT)
@pytest.mark.parametrize("explain", ["", "EXPLAIN PRIVACY "])
def test_a_text_in_quotes_is_a_text_whatever_it_says(hostile: str, explain: str) -> None:
    written = hostile.replace("'", "''")
    asked = read_sql(f"{explain}SELECT COUNT(*) FROM visits WHERE note = '{written}'", catalog())
    assert asked.question is not None
    assert isinstance(asked.question.source, Where)
    condition = asked.question.source.condition
    assert isinstance(condition, Call)
    assert condition.parts[1] == Literal(hostile, Kind.TEXT)
    assert asked.options == Options()
    assert asked.explain == bool(explain)


@pytest.mark.parametrize("hostile", CLAUSES_IN_TEXT)
def test_a_name_in_quotes_is_a_name_whatever_it_says(hostile: str) -> None:
    written = hostile.replace('"', '""')
    made = question(f'SELECT COUNT(*) AS "{written}" FROM visits AS "{written}" WHERE "{written}".age = 1')
    assert [name for name, _ in made.columns] == [hostile]
    assert shown(made.source) == "where(visits[age], eq(age, 1))"


@given(st.text(max_size=80))
@settings(max_examples=examples(300), deadline=None)
def test_texts_survive_binding_and_quoting(text: str) -> None:
    written = text.replace("'", "''")
    for made in (
        question("SELECT COUNT(*) FROM visits WHERE note = ?", (text,)),
        question(f"SELECT COUNT(*) FROM visits WHERE note = '{written}'"),
    ):
        assert isinstance(made.source, Where)
        assert isinstance(made.source.condition, Call)
        assert made.source.condition.parts[1] == Literal(text, Kind.TEXT)


WORDS = (
    "SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN LEFT ON USING AS AND OR NOT IN IS NULL CASE WHEN THEN ELSE END "
    "UNION ALL WITH DISTINCT BETWEEN LIKE FILTER OVER ROLLUP COUNT(*) SUM( AVG( MIN( QUANTILE( CAST( DATE ( ) , ; * . "
    "= < + - / % visits accounts sites v age site minutes user_id day note 1 0.5 'a' \"b\" ? $1 :x [ ] { } EXPLAIN "
    "PRIVACY DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) INTERVAL PIVOT LATERAL EXISTS VALUES TABLESAMPLE -- /* */ :: || "
    "** // ~ @ #"
)


def only_refused(text: str) -> None:
    with suppress(QueryRefused, BadArgument):
        read_sql(text, catalog())


@given(st.text(max_size=60) | st.text(st.characters(codec="ascii"), max_size=60))
@example("SELECT")
@example("EXPLAIN")
@example("SELECT COUNT(*) FROM visits WHERE age = 1 +")
@settings(max_examples=examples(500), deadline=None)
def test_any_text_is_answered_or_refused(text: str) -> None:
    only_refused(text)
    only_refused(f"SELECT {text} FROM visits")


@given(st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join))
@settings(max_examples=examples(1_500), deadline=None)
def test_any_words_are_answered_or_refused(words: str) -> None:
    only_refused(words)
    only_refused(f"SELECT {words} FROM visits")
    only_refused(f"SELECT COUNT(*) FROM visits {words}")


def test_bounds_of_rows_keep_five_rows_unless_somebody_says_how_many() -> None:
    text = "SELECT {}STDDEV(age, contribution_bounds_per_row => (0, 9)) FROM visits"
    said = read_sql(text.format(""), catalog()).options
    assert said.added_to(Settings()).max_rows_per_group == 5
    assert said.added_to(Settings(max_rows_per_group=2)).max_rows_per_group == 2
    assert said.added_to(Settings(max_rows=7)).max_rows_per_group is None
    stated = text.format("WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 3) ")
    assert read_sql(stated, catalog()).options.added_to(Settings()).max_rows_per_group is None
    plain = read_sql("SELECT STDDEV(age) FROM visits", catalog()).options
    assert plain.added_to(Settings()) == Settings()
    strategy = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (group_selection_strategy = {}) COUNT(*) FROM visits"
    assert read_sql(strategy.format("LAPLACE_THRESHOLD"), catalog()).options == Options()
    with pytest.raises(QueryRefused, match="'group_selection_strategy' is refused"):
        read_sql(strategy.format("PUBLIC_GROUPS"), catalog())

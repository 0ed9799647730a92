"""Data frames: what they become, what they refuse, and that no step keeps what is no longer known."""

from __future__ import annotations

import copy
import datetime
import pickle
from collections.abc import Callable
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest
from tests.examples.visits import CATALOG, Recorder, table

import sfumato as sf
from sfumato.errors import BadArgument, NoTruthValue, QueryRefused, UnboundedColumn
from sfumato.query.build.settings import Settings
from sfumato.query.frame import Expr, Frame, Query, col, count_rows, count_units, lit, when
from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import OPERATORS, call
from sfumato.query.nodes.operators.functions import FUNCTIONS
from sfumato.query.nodes.questions import (
    Count,
    CountDistinct,
    CountUnits,
    Covariance,
    Histogram,
    Mean,
    Order,
    Quantile,
    Statistic,
    StatisticValue,
    Sum,
    TopValues,
    Variance,
)
from sfumato.query.nodes.relations import Fold, Join, Match, PerUnit, Scan, Select, Union, Where

t, accounts, sites = table("visits"), table("accounts"), table("sites")
FIELDS = {column.name: column for column in t.relation.fields}
MINUTES, PAGES, DAY, NOTE, PAID, AT = (FIELDS[name] for name in ("minutes", "pages", "day", "note", "paid", "at"))


def one(value: object) -> Literal:
    return Literal(value, {bool: Kind.BOOL, int: Kind.INT, float: Kind.FLOAT, str: Kind.TEXT}[type(value)])  # type: ignore[arg-type]


def written_id(value: object) -> str:
    return repr(value) if isinstance(value, Expr) else type(value).__name__


def row(expression: Expr) -> Expression:
    """The expression that a draft becomes in the table of visits."""
    made = t.select(it=expression).relation
    assert isinstance(made, Select)
    return made.columns[0][1]


def said(make: Callable[[], object], kind: type[Exception] = QueryRefused) -> str:
    with pytest.raises(kind) as caught:
        make()
    return str(caught.value)


# Expressions.


@pytest.mark.parametrize(
    ("written", "made"),
    [
        (t.minutes + 1, call("add", MINUTES, one(1))),
        (1 + t.minutes, call("add", one(1), MINUTES)),
        (t.minutes - t.pages, call("sub", MINUTES, PAGES)),
        (2 - t.pages, call("sub", one(2), PAGES)),
        (t.pages * 2, call("mul", PAGES, one(2))),
        (2 * t.pages, call("mul", one(2), PAGES)),
        (t.pages / 2, call("div", PAGES, one(2))),
        (1.5 / t.pages, call("div", one(1.5), PAGES)),
        (t.pages % 2, call("mod", PAGES, one(2))),
        (7 % t.pages, call("mod", one(7), PAGES)),
        (-t.pages, call("neg", PAGES)),
        (t.pages == 1, call("eq", PAGES, one(1))),
        (t.pages != 1, call("ne", PAGES, one(1))),
        (t.pages < 1, call("lt", PAGES, one(1))),
        (t.pages <= 1, call("le", PAGES, one(1))),
        (t.pages > 1, call("gt", PAGES, one(1))),
        (t.pages >= 1, call("ge", PAGES, one(1))),
        (t.paid & True, call("and", PAID, one(True))),
        (False | t.paid, call("or", one(False), PAID)),
        (~t.paid, call("not", PAID)),
        (t.paid & t.paid & t.paid, call("and", PAID, PAID, PAID)),
        (t.paid | (t.paid | t.paid), call("or", PAID, PAID, PAID)),
        (t.pages.clip(0, 5), call("clamp", PAGES, one(0), one(5))),
        (t.pages.between(1, 2), call("and", call("ge", PAGES, one(1)), call("le", PAGES, one(2)))),
        (t.pages.is_in([1, 2]), call("in", PAGES, one(1), one(2))),
        (t.pages.is_in(np.array([1, 2])), call("in", PAGES, one(1), one(2))),
        (t.note.is_null(), call("is_null", NOTE)),
        (t.note.fill_null("-"), call("coalesce", NOTE, one("-"))),
        (t.note.null_if("-"), call("nullif", NOTE, one("-"))),
        (t.pages.least(3, t.minutes), call("least", PAGES, one(3), MINUTES)),
        (t.pages.greatest(3), call("greatest", PAGES, one(3))),
        (t.note.substring(1, 2), call("substring", NOTE, one(1), one(2))),
        (t.note.like("a%"), call("like", NOTE, one("a%"))),
        (t.note.concat("!", t.site), call("concat", NOTE, one("!"), FIELDS["site"])),
        (t.day.truncate("month"), call("date_trunc", DAY, one("month"))),
        (t.pages.bin(5), call("mul", call("floor", call("div", PAGES, one(5))), one(5))),
        (
            t.pages.bin(5, origin=2),
            call("add", call("mul", call("floor", call("div", call("sub", PAGES, one(2)), one(5))), one(5)), one(2)),
        ),
        (
            when(t.pages > 5).then("many").when(t.pages > 0).then("few").otherwise("none"),
            call("case", call("gt", PAGES, one(5)), one("many"), call("gt", PAGES, one(0)), one("few"), one("none")),
        ),
        (
            t.pages.cut([0, 2, 9]),
            call(
                "case",
                *(call("lt", PAGES, one(0)), Literal(None, Kind.TEXT)),
                *(call("lt", PAGES, one(2)), one("[0, 2)")),
                *(call("le", PAGES, one(9)), one("[2, 9]")),
                Literal(None, Kind.TEXT),
            ),
        ),
        (
            t.pages.cut([0, 9], labels=["some"]),
            call(
                "case",
                *(call("lt", PAGES, one(0)), Literal(None, Kind.TEXT)),
                *(call("le", PAGES, one(9)), one("some")),
                Literal(None, Kind.TEXT),
            ),
        ),
        (t.day > datetime.date(2024, 1, 1), call("gt", DAY, Literal(datetime.date(2024, 1, 1), Kind.DATE))),
        (lit(-0.0), one(0.0)),
        (lit(np.int64(3)), one(3)),
    ],
    ids=written_id,
)
def test_expressions(written: Expr, made: Expression) -> None:
    assert row(written) == made


OF_TEXT = ("lower", "upper", "trim", "ltrim", "rtrim", "reverse", "length")
OF_NUMBER = ("abs", "sign", "floor", "ceil", "round", "trunc", "to_int", "to_float", "to_bool")
OF_NUMBER += tuple(one.name for one in FUNCTIONS if one.most == 1)
OF_TIME = ("year", "isoyear", "quarter", "month", "week", "day", "dayofyear", "weekday", "hour", "minute", "second")
OF_TIME += ("to_date", "to_time", "to_text")


@pytest.mark.parametrize("name", [*OF_TEXT, *OF_NUMBER, *OF_TIME])
def test_methods_of_one_operand(name: str) -> None:
    of = NOTE if name in OF_TEXT else MINUTES if name in OF_NUMBER else AT
    assert row(getattr(col(of.name), name)()) == call(name, of)


def test_every_operator_can_be_written() -> None:
    by_symbol = {"neg", "add", "sub", "mul", "div", "mod", "int_div", "and", "or", "not"}
    by_symbol |= {"eq", "ne", "lt", "le", "gt", "ge"}
    other_names = {
        "case": "cut",
        "clamp": "clip",
        "coalesce": "fill_null",
        "date_trunc": "truncate",
        "in": "is_in",
        "nullif": "null_if",
    }
    for name in OPERATORS.keys() - by_symbol:
        assert callable(getattr(Expr, other_names.get(name, name)))


def test_numbers_of_numpy_leave_operators_to_expressions() -> None:
    assert row(np.float64(2) * t.pages) == call("mul", one(2.0), PAGES)
    assert row(np.int64(1) < t.pages) == call("gt", PAGES, one(1))


def test_a_missing_value_takes_the_kind_of_its_neighbours() -> None:
    made = row(when(t.paid).then(None).otherwise(t.minutes))
    assert isinstance(made, Call)
    assert made.parts[1] == Literal(None, Kind.FLOAT)
    assert row(when(t.paid).then("a").otherwise(None)).kind is Kind.TEXT


def test_expressions_are_written_out() -> None:
    assert repr(~((t.pages + 1) / 2 > 3)) == "~(((col('pages') + 1) / 2) > 3)"
    assert repr(t.minutes.clip(0, 5).mean() / count_rows()) == "(col('minutes').clip(0, 5).mean() / count_rows())"


@pytest.mark.parametrize(
    "use",
    [
        lambda: bool(t.pages > 1),
        lambda: (t.pages > 1) and (t.pages < 3),
        lambda: 1 < t.pages < 3,
        lambda: not t.paid,
        lambda: t.pages in [t.minutes],
    ],
)
def test_python_words_are_refused_with_what_to_write(use: Callable[[], object]) -> None:
    text = said(use, NoTruthValue)
    assert "is neither true nor false by itself" in text
    assert "(t.a > 0) & (t.b < 5)" in text
    assert issubclass(NoTruthValue, TypeError)


def test_expressions_are_no_keys_and_cannot_be_run_through() -> None:
    with pytest.raises(TypeError):
        hash(t.pages)
    with pytest.raises(TypeError):
        iter(t.pages)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: t.pages.is_in([]), "at least one constant"),
        (lambda: t.note.is_in("abc"), "at least one constant"),
        (lambda: t.note.is_in(["a", None]), "none of them missing"),
        (lambda: t.pages.bin(0), "width must be greater than 0"),
        (lambda: t.pages.bin(5, origin=float("nan")), "origin must be finite"),
        (lambda: t.pages.cut([1]), "edges must be two or more numbers that rise"),
        (lambda: t.pages.cut([1, 1]), "edges must be two or more numbers that rise"),
        (lambda: t.pages.cut([0, 1], labels=["a", "b"]), "labels must be 1 different texts"),
        (lambda: t.pages.cut([0, 1, 2], labels=["a", "a"]), "labels must be 2 different texts"),
        (lambda: t.note.substring(0, 1), "first must be"),
        (lambda: t.minutes.quantile(1.5), "at must be between 0 and 1"),
        (lambda: t.pages.top_values(0), "most must be"),
        (lambda: t.pages.histogram([3, 2]), "edges must be two or more numbers that rise"),
        (lambda: t.pages.histogram([0, float("inf")]), "an edge must be"),
        (lambda: t.pages > float("nan"), "a finite number"),
        (lambda: t.pages > 2**63, "a whole number of 64 bits"),
        (lambda: t.note == "a" * 1001, "at most 1,000 characters"),
        (lambda: t.note == b"a", "a constant must be"),
        (lambda: count_rows(where=True), "where must be a condition"),  # type: ignore[arg-type]
        (lambda: col(3), "col must be the name of a column"),  # type: ignore[arg-type]
    ],
)
def test_bad_arguments(make: Callable[[], object], text: str) -> None:
    assert text in said(make, BadArgument)


# Columns of a table.


def test_columns_by_attribute_and_by_name() -> None:
    assert row(t.minutes) == row(t["minutes"]) == row(col("minutes")) == row(col("MINUTES")) == MINUTES
    assert "minutes" in dir(t) and "filter" in dir(t)
    assert t.columns == tuple(FIELDS)


def test_an_unknown_column_lists_those_there_are() -> None:
    assert "'mintes'; there are the columns user_id, day, at, site" in said(lambda: t.mintes, AttributeError)
    assert "there is no column 'mintes' in this table; there are: user_id, day" in said(lambda: t["mintes"])
    assert "there is no column 'mintes'" in said(lambda: t.filter(col("mintes") > 0))
    assert "there is no column 'mintes'" in said(lambda: t.group_by("mintes"))
    assert not hasattr(t, "__array__")


def test_a_column_that_is_called_like_a_method_is_reached_by_its_name() -> None:
    odd = t.select(len=t.pages, **{"two words": t.pages})
    assert callable(odd.len)
    assert odd.filter(odd["len"] > 0, odd["two words"] > 0).columns == ("len", "two words")
    assert "two words" not in dir(odd)


def test_frames_are_values() -> None:
    assert t.filter(t.pages > 0) == t.filter(t.pages > 0) != t.filter(t.pages > 1)
    assert copy.copy(t) == t
    assert pickle.loads(pickle.dumps(Frame(t.relation, None))).columns == t.columns  # type: ignore[arg-type]
    assert repr(sites) == "Frame(site text, region text, size int; public)"


# Steps.


def test_where_select_rename_and_drop() -> None:
    assert t.filter(t.paid, t.pages > 1).relation == Where(t.relation, call("and", PAID, call("gt", PAGES, one(1))))
    assert t.select("day", t.pages, hours=t.minutes / 60).relation == Select(
        t.relation, (("day", DAY), ("pages", PAGES), ("hours", call("div", MINUTES, one(60))))
    )
    assert t.rename({"minutes": "long"}).columns == tuple("long" if name == "minutes" else name for name in FIELDS)
    assert t.drop("minutes", "at").columns == tuple(name for name in FIELDS if name not in ("minutes", "at"))


def test_a_column_that_is_made_anew_keeps_nothing_of_the_old_one() -> None:
    doubled = t.with_columns(minutes=t.minutes * 2, user_id=lit("everyone"))
    fields = {column.name: column for column in doubled.relation.fields}
    assert doubled.columns == t.columns
    assert fields["minutes"].facts.between == (0, 180)
    assert fields["minutes"].origin == "" and fields["user_id"].unit is None
    assert fields["pages"].origin == "visits.pages"


def test_an_expression_of_an_older_table_means_the_column_as_it_now_is() -> None:
    # If it brought along the old bounds (0 to 90), a sum would get half the noise it needs.
    minutes = t.minutes
    doubled = t.with_columns(minutes=minutes * 2)
    asked = doubled.agg(total=minutes.sum()).question.statistics[0]
    assert isinstance(asked, Sum)
    assert asked.of.facts.between == (0, 180)


def test_join_with_a_public_table() -> None:
    made = t.join(sites, on="site")
    assert made.columns == (*t.columns, "region", "size")
    source = made.group_by("region").len().question.source
    assert isinstance(source, Join)
    assert source.on == (("site", "sites.site"),) and source.match is Match.INNER
    assert [column.name for column in source.fields] == ["site", "sites.site", "region"]
    left = t.join(sites, on={"site": "site"}, how="left").relation
    assert all(column.facts.nullable for column in left.fields if column.name in ("region", "size"))


def test_join_on_other_names() -> None:
    places = sites.rename({"site": "place", "region": "area"})
    assert t.join(places, on={"site": "place"}).columns == (*t.columns, "place", "area", "size")


def test_join_of_private_tables_on_the_id() -> None:
    made = t.join(accounts, on="user_id")
    assert made.columns == (*t.columns, "age", "home")
    assert made.relation.private


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: sites.join(t, on="site"), "Write the private table first"),
        (lambda: t.join(accounts, on={"note": "home"}, how="left"), "depend here on the rows of other units"),
        (
            lambda: t.join(accounts.rename({"user_id": "id"}), on={"note": "id"}, how="semi"),
            "Join them on user_id as well",
        ),
        (
            lambda: t.join(t.rename({"note": "other"}).select("other"), on={"note": "other"}).per_unit(),
            "belongs to two",
        ),
        (lambda: t.join(sites, on={"pages": "site"}), "'pages' is int and 'site' is text: they are never equal"),
        (lambda: t.join(sites.with_columns(note=lit("x")), on="site"), "two columns are called 'note'"),
        (lambda: t.join(sites, on="region"), "there is no column 'region'"),
        (lambda: t.join(sites, on=[]), "a join needs columns that are equal"),
        (lambda: t.union(sites), "a union of private and public rows"),
        (lambda: t.union(accounts), "the same columns in the same order"),
        (lambda: t.select("day").union(t.select(day=t.pages)), "day (date) and day (int)"),
        (lambda: t.union(Frame(t.relation, Recorder())), "of different sessions"),
        (lambda: t.join(Frame(sites.relation, Recorder()), on="site"), "of different sessions"),
        (lambda: t.filter(t.pages), "where takes a condition, which is true or false; got int"),
        (lambda: t.filter(t.pages & t.paid), "and takes conditions; got int, bool"),
        (lambda: t.filter(t.minutes.mean() > 1), "mean() is about many rows"),
        (lambda: t.select(x=t.note + 1), "add takes two numbers; got text, int"),
        (lambda: t.select(x=t.pages).select(), "nothing is selected"),
        (lambda: t.select("day", day=t.pages), "two columns are called 'day'"),
        (lambda: t.rename({"day": "pages"}), "two columns are called 'pages'"),
        (lambda: t.select(x=t.day.truncate("hour")), "date_trunc cuts to"),
    ],
)
def test_steps_that_are_refused(make: Callable[[], object], text: str) -> None:
    assert text in said(make)


def test_how_is_one_of_four() -> None:
    outer = lambda: t.join(sites, on="site", how="outer")  # type: ignore[arg-type]  # noqa: E731
    assert "'inner', 'left', 'semi' or 'anti'; got 'outer'" in said(outer, BadArgument)
    assert "at least one condition" in said(lambda: t.filter(), BadArgument)
    assert "given a name, as in one=" in said(lambda: t.select(sf.lit(1)), BadArgument)
    assert "group_by must be a column's name or an expression" in said(lambda: t.group_by(3), BadArgument)  # type: ignore[arg-type]
    assert "several in one list" in said(lambda: t.group_by(["day"], ["site"]), BadArgument)


def test_what_polars_users_write_is_understood() -> None:
    assert t.group_by(["day", "site"]).len().question == t.group_by("day", "site").agg(count_rows()).question
    assert t.select(t.pages + 1, (t.minutes / 60).alias("hours")).columns == ("pages", "hours")
    assert t.with_columns((t.minutes / 60).alias("hours")) == t.with_columns(hours=t.minutes / 60)
    positional = t.group_by("day").agg(t.minutes.mean(), [t.pages.sum()][0].alias("all"), n=count_rows())
    assert (
        positional.question
        == t.group_by("day").agg(minutes=t.minutes.mean(), all=t.pages.sum(), n=count_rows()).question
    )
    assert t.agg([t.pages.sum(), count_rows()]).question == t.agg(pages=t.pages.sum(), count=count_rows()).question
    counted = t.value_counts("site").question
    assert counted == t.group_by("site").len().sort("count", descending=True).question
    assert repr(t.pages.mean().alias("m")) == "col('pages').mean().alias('m')"


def test_a_summary_of_columns() -> None:
    names = [name for name, _ in t.describe("pages").question.columns]
    assert names == [f"pages_{what}" for what in ("count", "mean", "std", "min", "25%", "50%", "75%", "max")]
    bounded = [one.name for one in t.relation.fields if one.kind.numeric and one.facts.numbers is not None]
    assert len(t.describe().question.columns) == 8 * len(bounded) > 8
    assert "no column of numbers has bounds" in said(lambda: t.select("note").describe())
    assert "there is no column 'mintes'" in said(lambda: t.describe("mintes"))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: t.groupby("day"), "Did you mean 'group_by'?"),
        (lambda: t.where(t.paid), "Did you mean 'filter'?"),
        (lambda: t.mintes, "Did you mean 'minutes'?"),
        (lambda: t.minutes.standard_deviation(), "Did you mean 'std'?"),
        (lambda: t.minutes.clamp(0, 1), "Did you mean 'clip'?"),
        (lambda: t.minutes.meen(), "Did you mean 'mean'?"),
        (lambda: t.day.dt.month(), "stands on a column itself: t.day.month()"),
        (lambda: t.minutes.cast(int), "Write to_int()"),
        (lambda: t.minutes.is_between(0, 1), "Did you mean 'between'?"),
        (lambda: t.minutes.mean().over("day"), "rows of several people next to each other"),
        (lambda: t.minutes.mean().release(epsilon=1), "t.agg(t.minutes.mean()).release(…)"),
        (lambda: t.head(), "Rows never leave: ask with agg(…)"),
        (lambda: t.select("day").release(epsilon=1), "Nothing is asked yet"),
        (lambda: t.minutes.zzz, "an expression has no method 'zzz'."),
    ],
)
def test_an_unknown_method_is_told_by_its_name_here(make: Callable[[], object], text: str) -> None:
    assert text in said(make, AttributeError)


def test_answers_are_sorted_as_polars_sorts() -> None:
    query = t.group_by("site").agg(n=count_rows())
    assert [one.descending for one in query.sort(["n", "site"], descending=True).question.order] == [True, True]
    assert "one of them for each column" in said(lambda: query.sort("n", "site", descending=[True]), BadArgument)
    assert "what is missing comes last" in said(lambda: query.sort("n", nulls_last=False), BadArgument)
    assert "'site' is grouped by" in said(lambda: t.group_by("site").agg(site=count_rows()))
    assert "two statistics are called 'pages'" in said(lambda: t.agg(t.pages.min(), t.pages.max()))
    assert "alias must be a name" in said(lambda: t.pages.alias(""), BadArgument)


def test_union_puts_columns_into_one_order() -> None:
    both = t.select("day", "pages").union(t.select("pages", "day")).relation
    assert isinstance(both, Union)
    assert [[column.name for column in part.fields] for part in both.parts] == [["day", "pages"]] * 2
    assert both.field("pages") == PAGES


# Within a unit.


def test_per_unit() -> None:
    made = t.per_unit(
        by="site",
        n=count_rows(),
        days=t.day.n_unique(),
        total=t.minutes.sum(),
        pages=t.pages.sum(),
        mean=t.minutes.mean(),
        first=t.day.min(),
        last=t.day.max(),
        noted=t.note.count(),
        paid=t.paid.sum(),
    )
    relation = made.relation
    assert isinstance(relation, PerUnit)
    assert [name for name, _ in relation.by] == ["user_id", "site"]
    folds = {folded.column.name: folded for folded in relation.folds}
    assert [folded.fold for folded in relation.folds] == [
        *(Fold.COUNT, Fold.DISTINCT, Fold.SUM, Fold.SUM, Fold.MEAN, Fold.MIN, Fold.MAX, Fold.COUNT, Fold.SUM)
    ]
    assert folds["n"].of is None and folds["n"].column.facts.between == (0, inf)
    assert folds["total"].column.facts.between == (0, inf) and folds["total"].column.kind is Kind.FLOAT
    assert folds["mean"].column.facts.between == (0, 90)
    assert folds["first"].column.facts == DAY.facts
    assert folds["pages"].grid is not None and folds["pages"].grid.ends == (0, 9)
    assert folds["total"].grid is not None and folds["total"].grid.ends == (0, 90 * 2**33)
    assert made["n"].draft == col("n").draft


def test_per_unit_counts_what_a_condition_keeps() -> None:
    relation = t.per_unit(n=count_rows(where=t.paid), total=t.minutes.sum(where=t.paid)).relation
    assert isinstance(relation, PerUnit)
    assert relation.folds[0].of == call("case", PAID, one(1), Literal(None, Kind.INT))
    assert relation.folds[1].of == call("case", PAID, MINUTES, Literal(None, Kind.FLOAT))


def test_per_unit_without_the_id_among_the_columns() -> None:
    relation = t.select("pages").per_unit(total=t.pages.sum()).relation
    assert isinstance(relation, PerUnit) and relation.by == () and relation.private


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: t.per_unit(x=t.minutes.median()), "median() is not made of the rows of one unit"),
        (lambda: t.per_unit(x=t.minutes.sum() / 60), "compute with it afterwards, in with_columns"),
        (lambda: t.per_unit(x=t.note.sum()), "sum takes numbers; got text"),
        (lambda: t.per_unit(by="day", day=count_rows()), "two columns are called 'day'"),
    ],
)
def test_per_unit_refusals(make: Callable[[], object], text: str) -> None:
    assert text in said(make)


def test_a_sum_of_floats_within_a_unit_needs_bounds() -> None:
    assert "sum('wait') has no bounds" in said(lambda: t.per_unit(x=t.wait.sum()), UnboundedColumn)
    assert t.per_unit(x=t.wait.clip(-1, 1).sum()).relation.field("x") is not None


def test_where_each_row_is_a_unit_there_is_nothing_to_sum_up() -> None:
    scan = t.relation
    assert isinstance(scan, Scan)
    rows = Frame(Scan(scan.table, scan.columns, type(scan.owner)()), t.asker)  # type: ignore[misc]
    assert "each row is a unit by itself" in said(lambda: rows.per_unit(x=count_rows()))


# Questions.


@pytest.mark.parametrize(
    ("written", "statistic"),
    [
        (count_rows(), Count()),
        (count_rows(where=t.paid), Count(None, PAID)),
        (t.note.count(), Count(NOTE)),
        (count_units(), CountUnits()),
        (t.user_id.n_unique(), CountUnits()),
        (t.user_id.n_unique(where=t.paid), CountUnits(PAID)),
        (t.note.n_unique(), CountDistinct(NOTE)),
        (t.minutes.sum(), Sum(MINUTES)),
        (t.minutes.sum(where=t.paid), Sum(MINUTES, PAID)),
        (t.paid.mean(), Mean(call("to_int", PAID))),
        (t.minutes.clip(0, 60).mean(), Mean(call("clamp", MINUTES, one(0), one(60)))),
        (t.minutes.var(), Variance(MINUTES)),
        (t.minutes.var(sample=False), Variance(MINUTES, sample=False)),
        (t.minutes.std(), Variance(MINUTES, root=True)),
        (t.minutes.covariance(t.pages), Covariance(MINUTES, PAGES)),
        (t.minutes.covariance(t.paid, sample=False), Covariance(MINUTES, call("to_int", PAID), sample=False)),
        (t.minutes.correlation(t.pages), Covariance(MINUTES, PAGES, scaled=True)),
        (t.minutes.min(), Quantile(MINUTES, Fraction(0))),
        (t.minutes.max(), Quantile(MINUTES, Fraction(1))),
        (t.minutes.median(), Quantile(MINUTES, Fraction(1, 2))),
        (t.minutes.quantile(0.9), Quantile(MINUTES, Fraction(9, 10))),
        (t.minutes.histogram([0, 30.0, 90]), Histogram(MINUTES, (0, 30.0, 90))),
        (t.site.top_values(3), TopValues(FIELDS["site"], 3)),
    ],
    ids=written_id,
)
def test_statistics(written: Expr, statistic: Statistic) -> None:
    assert t.agg(it=written).question.statistics == (statistic,)


def test_a_question() -> None:
    asked = t.filter(t.minutes > 0).group_by("day").agg(n=count_rows(), m=t.minutes.mean()).question
    scan = t.relation
    assert isinstance(scan, Scan)
    read = Scan("visits", (DAY, MINUTES), scan.owner)
    assert asked.source == Where(read, call("gt", MINUTES, one(0)))
    assert asked.keys == (("day", DAY),)
    assert asked.sets == ((0,),)
    assert asked.columns == (("day", DAY), ("n", StatisticValue(Count())), ("m", StatisticValue(Mean(MINUTES))))


def test_what_is_computed_from_released_numbers() -> None:
    query = (
        t.group_by("site", month=t.day.month())
        .agg(n=count_rows(), hours=t.minutes.sum() / 60)
        .filter(col("n") > 10, t.minutes.mean() > 1)
        .filter(col("site") != "south")
        .sort(col("hours"), "month", -col("n"), descending=[True, False, False])
        .head(5)
    )
    asked, count, total = query.question, StatisticValue(Count()), StatisticValue(Sum(MINUTES))
    assert asked.having == call(
        "and",
        call("gt", count, one(10)),
        call("gt", StatisticValue(Mean(MINUTES)), one(1)),
        call("ne", Column("site", Kind.TEXT), one("south")),
    )
    hours = call("div", total, one(60))
    assert asked.order == (Order(hours, descending=True), Order(Column("month", Kind.INT)), Order(call("neg", count)))
    assert asked.limit == 5
    assert asked.statistics == (Count(), Sum(MINUTES), Mean(MINUTES))


def test_grouping_sets() -> None:
    grouped = t.group_by("day", "site")
    assert grouped.rollup().len().question.sets == ((0, 1), (0,), ())
    assert grouped.cube().len().question.sets == ((0, 1), (0,), (1,), ())
    sets = grouped.grouping_sets(["site", "day", "day"], [], ["site"], ["day", "site"]).len().question.sets
    assert sets == ((0, 1), (), (1,))
    assert "every key is in one; got (a list of 1)" in said(lambda: grouped.grouping_sets(["site"]), BadArgument)
    assert "grouping sets must be at least one" in said(lambda: t.group_by().grouping_sets(), BadArgument)
    assert "names among day, site; got a list of 1" in said(lambda: grouped.grouping_sets(["note"]), BadArgument)
    wide = t.with_columns(**{f"c{place}": t.pages for place in range(13)})
    assert "8,192 grouping sets" in said(lambda: wide.group_by(*(f"c{place}" for place in range(13))).cube())


def test_without_groups_there_is_one() -> None:
    asked = t.len().question
    assert asked.keys == () and asked.sets == ((),)
    assert asked.columns == (("count", StatisticValue(Count())),)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: t.group_by("user_id").len(), "grouping by 'user_id' would make a group of each person"),
        (lambda: t.group_by(who=t.user_id).len(), "grouping by 'who' would make a group of each person"),
        (lambda: t.per_unit(n=count_rows()).group_by("user_id").len(), "a group of each person"),
        (lambda: t.agg(m=t.minutes), "'minutes' is neither grouped by nor aggregated"),
        (lambda: t.agg(m=col("mintes")), "there is no column 'mintes'"),
        (lambda: t.group_by("day").agg(day=count_rows()), "'day' is grouped by"),
        (lambda: t.group_by("day", day=t.pages), "two columns are called 'day'"),
        (lambda: t.group_by("day").agg(), "nothing is aggregated"),
        (lambda: t.group_by("day").agg(x=col("day")), "nothing is aggregated"),
        (lambda: sites.len(), "asks only public tables"),
        (lambda: t.agg(x=t.note.sum()), "sum takes numbers; got text"),
        (lambda: t.agg(x=t.note.median()), "and so MIN, MAX or MEDIAN, takes numbers, days or times; got text"),
        (lambda: t.agg(x=t.minutes.mean().sum()), "mean() is about many rows"),
        (lambda: t.agg(x=count_rows(where=t.pages)), "where takes a condition; got int"),
        (lambda: t.len().filter(col("count")), "having takes a condition; got int"),
        (lambda: t.len().filter(t.minutes > 1), "neither grouped by nor aggregated"),
        (lambda: t.len().sort("n"), "there is no column 'n'"),
    ],
)
def test_questions_that_are_refused(make: Callable[[], object], text: str) -> None:
    assert text in said(make)


def test_bad_arguments_of_questions() -> None:
    assert "n must be an expression" in said(lambda: t.agg(n="minutes"), BadArgument)  # type: ignore[arg-type]
    assert "n must be an expression" in said(lambda: t.agg(n=sf.count()), BadArgument)  # type: ignore[arg-type]
    assert "head must be" in said(lambda: t.len().head(-1), BadArgument)


def test_a_count_of_ids_counts_units_only_where_units_are_people_for_good() -> None:
    scan = CATALOG.table("visits")
    owner: Any = type(scan.owner)("user_id", window=("day", "month"))
    monthly = Frame(Scan("visits", scan.columns, owner), t.asker)
    assert isinstance(monthly.agg(n=t.user_id.n_unique()).question.statistics[0], CountDistinct)


def test_release_and_explain_pass_settings_on() -> None:
    asker = Recorder()
    query = Frame(t.relation, asker).group_by("day").len()
    assert isinstance(query, Query)
    query.release(loss=sf.Pure(1), max_groups=3)
    query.explain(accuracy=(5, 0.95))
    assert asker.asked == [
        ("release", query.question, Settings.read(loss=sf.Pure(1), max_groups=3)),
        ("explain", query.question, Settings.read(accuracy=(5, 0.95))),
    ]

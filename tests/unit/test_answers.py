"""Answers that are tables: what they hold, how they leave, look and come back."""

from __future__ import annotations

import copy
import datetime
import json
import math
import re
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples.calls import calls
from tests.examples.releases import HOSTILE, answer, answered, same, through_json
from tests.examples.rendered import read_html, tex_faults
from tests.profiles import examples
from tests.unit.chart_reading import headline, parts, tables

import sfumato as sf
from sfumato.errors import BadArgument, MissingExtra, UnknownFormat
from sfumato.release.answer import Answer, AnswerColumn, Role
from sfumato.release.codec import release_from_plain, release_to_plain
from sfumato.release.interval import Interval
from sfumato.release.publication import missing_for_publication
from sfumato.release.record import How, Release
from sfumato.release.render import forms, rendered
from sfumato.release.render.answers import _cell
from sfumato.release.render.sheet import sheet
from sfumato.release.values import read_value, stored_value

KEY, VALUE = Role.KEY, Role.VALUE
SURE = Fraction(95, 100)


def key(values: Any, name: str = "k") -> AnswerColumn:
    return AnswerColumn(name, values, KEY)


def value(values: Any, half: Any = None, name: str = "n") -> AnswerColumn:
    if half is None:
        return AnswerColumn(name, values, VALUE)
    found = np.asarray(values)
    return AnswerColumn(name, found, VALUE, found - half, found + half)


def counts(rows: int) -> Release:
    return answered(key([f"{row:05d}" for row in range(rows)], "zip"), value(np.arange(rows), 15))


# What an answer holds.


def test_an_answer_is_read_by_column_row_and_cell() -> None:
    found = answer().value
    assert len(found) == 4 and found.names == ("region", "day", "n", "mean", "total")
    assert [column.name for column in found.keys] == ["region", "day"]
    assert [column.name for column in found.values] == ["n", "mean", "total"]
    assert found["n"].values.tolist() == [812, 3, -4, 112] and found["n"].values.dtype == np.int64
    first = dict(zip(found.names, ("north", datetime.date(2025, 3, 1), 812, 41.3217, 2**70), strict=True))
    assert next(found.rows()) == next(iter(found)) == first
    with pytest.raises(BadArgument, match="one of 'region', 'day', 'n', 'mean', 'total'; got 'x'"):
        found["x"]
    assert repr(found["n"]) == "AnswerColumn('n', 4 values)"


def test_only_gives_the_one_number() -> None:
    assert Answer((value([812]),)).only() == 812 and type(Answer((value([812]),)).only()) is int
    for wrong in ((value([1, 2]),), (key(["a"]), value([1])), (value([]),)):
        with pytest.raises(BadArgument, match="one row and one column"):
            Answer(wrong).only()


def test_cells_are_copied_and_cannot_be_changed() -> None:
    given = np.array([1.0, 2.0])
    column = value(given)
    given[0] = 9
    assert column.values.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        column.values[0] = 9


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ([True, False], "b"),
        ([1, 2], "i"),
        ((np.int32(1), 2), "i"),
        (np.array([1, 2], dtype=np.uint8), "i"),
        (np.array([2**64 - 1], dtype=np.uint64), "O"),
        ([2**63 - 1, -(2**63)], "i"),
        ([2**63], "O"),
        ([1.5, -0.0], "f"),
        (np.array([1.5], dtype=np.float32), "f"),
        ([1, 2.5, None], "O"),
        (["a", "b\0"], "O"),
        ([None], "O"),
        ([], "O"),
    ],
)
def test_cells_are_held_as_plainly_as_can_be(given: Any, kind: str) -> None:
    found = key(given).values
    assert found.dtype.kind == kind and found.tolist() == list(given)


def test_dates_of_numpy_are_read() -> None:
    days = np.array(["2025-03-01", "NaT"], dtype="M8[D]")
    assert key(days).values.tolist() == [datetime.date(2025, 3, 1), None]
    moments = np.array(["2025-03-01T10:30"], dtype="M8[ns]")
    assert key(moments).values.tolist() == [datetime.datetime(2025, 3, 1, 10, 30)]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: key([1, "a"]), "one kind"),
        (lambda: key([True, 1]), "one kind"),
        (lambda: key([datetime.date(2025, 1, 1), datetime.datetime(2025, 1, 1)]), "one kind"),
        (lambda: key([datetime.datetime(2025, 1, 1, tzinfo=datetime.UTC), datetime.datetime(2025, 1, 1)]), "one kind"),
        (lambda: key([datetime.datetime(2025, 1, 1, fold=1)]), "one kind"),
        (lambda: key([b"a"]), "one kind"),
        (lambda: key([[1]]), "one kind"),
        (lambda: key(np.array([1j])), "numbers, texts, dates"),
        (lambda: key(np.array([[1]])), "numbers, texts, dates"),
        (lambda: AnswerColumn(3, [1], KEY), "named by a text"),  # type: ignore[arg-type]
        (lambda: AnswerColumn("n", [1], "key"), "a key or a value"),  # type: ignore[arg-type]
        (lambda: AnswerColumn("n", [1], VALUE, low=[0]), "two ends"),
        (lambda: AnswerColumn("n", [1], KEY, [0], [2]), "two ends, of a value"),
        (lambda: AnswerColumn("n", [1], VALUE, [0, 1], [2, 3]), "one low and one high end a cell"),
        (lambda: AnswerColumn("n", [1], VALUE, [3], [2]), "at most the high ends"),
        (lambda: AnswerColumn("n", [1], VALUE, [2**53 + 1], [float(2**53)]), "at most the high ends"),
        (lambda: AnswerColumn("n", [1.0], VALUE, [math.nan], [2.0]), "at most the high ends"),
        (lambda: AnswerColumn("n", [1], VALUE, [None], [2]), "both None"),
        (lambda: AnswerColumn("n", ["a"], VALUE, [1], [2]), "of numbers, about numbers"),
        (lambda: AnswerColumn("n", [1], VALUE, ["a"], ["b"]), "of numbers, about numbers"),
        (lambda: Answer(()), "one or more columns"),
        (lambda: Answer((value([1]), value([2]))), "different names"),
        (lambda: Answer((key([1]), value([1, 2]))), "one length"),
        (lambda: Answer((value([1]),), 0.95), "a Fraction between 0 and 1"),  # type: ignore[arg-type]
        (lambda: Answer((value([1]),), Fraction(3, 2)), "a Fraction between 0 and 1"),
        (lambda: Answer((value([1]),), SURE, (("n", [1]), ("n", [2]))), "different names"),  # type: ignore[arg-type,list-item]
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_what_is_no_answer_is_refused(made: Any, words: str) -> None:
    with pytest.raises(BadArgument, match=words):
        made()


# How it leaves: dictionaries and data frames.


def test_intervals_get_names_of_their_own() -> None:
    found = Answer((key([1], "n_low"), value([5], 2), value([6], 2, "n_low_")))
    assert list(found.to_dict()) == ["n_low", "n", "n_low_"]
    whole = found.to_dict(intervals=True)
    assert list(whole) == ["n_low", "n", "n_low__", "n_high", "n_low_", "n_low__low", "n_low__high"]
    assert list(whole.values()) == [[1], [5], [3], [7], [6], [4], [8]]


def test_data_frames_have_the_cells_and_nulls_where_there_is_no_answer() -> None:
    release = answer()
    frames = {
        "pandas": release.to_pandas(intervals=True),
        "polars": release.to_polars(intervals=True),
        "arrow": release.to_arrow(intervals=True),
    }
    names = ["region", "day", "n", "n_low", "n_high", "mean", "mean_low", "mean_high", "total"]
    assert list(frames["pandas"].columns) == frames["polars"].columns == frames["arrow"].column_names == names
    found = frames["arrow"].to_pydict()
    assert found == frames["polars"].to_dict(as_series=False)
    assert found == {**release.value.to_dict(intervals=True), "total": [float(2**70), 0.0, 1.0, -5.0]}
    assert frames["pandas"]["n"].dtype == np.int64 and math.isnan(frames["pandas"]["mean"][2])
    assert frames["pandas"]["total"][0] == 2**70 and frames["pandas"]["region"].isna().tolist() == [False] * 3 + [True]
    assert release.to_polars().columns == ["region", "day", "n", "mean", "total"]


@pytest.mark.parametrize(
    "cells",
    [
        [True, None],
        [None, None],
        [1, None],
        [10**400, -(10**400), None],
        [math.nan, None, 1],
        [],
        [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59)],
        [datetime.datetime(2025, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=-5))), None],
    ],
    ids=lambda cells: repr(cells)[:24],
)
def test_odd_cells_become_data_frames_too(cells: list[Any]) -> None:
    release = answered(key(cells))
    assert len(release.to_pandas()) == len(release.to_polars()) == release.to_arrow().num_rows == len(cells)


@pytest.mark.parametrize(
    ("package", "method", "words"),
    [
        ("pandas", "to_pandas", "pip install pandas"),
        ("polars", "to_polars", r"sfumato\[sql\]"),
        ("pyarrow", "to_arrow", r"sfumato\[sql\]"),
    ],
)
def test_packages_that_are_missing_are_named(
    package: str, method: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=words):
        getattr(answer(), method)()


@pytest.mark.parametrize("method", ["to_pandas", "to_polars", "to_arrow"])
def test_other_releases_are_no_data_frames(method: str) -> None:
    with pytest.raises(BadArgument, match=r"an answer that is a table, as queries give.*got 'int'"):
        getattr(Release(3, sf.Pure(1), "one row", How("laplace")), method)()


def test_the_intervals_of_a_release_are_by_column_and_hold_one_by_one() -> None:
    found = answer().interval()
    assert isinstance(found, dict) and list(found) == ["n", "mean"]
    assert found["n"][1] == Interval(-12, 18, SURE) and found["mean"][2] is None
    assert answer().interval(Fraction(9, 10)) is not None and answer().interval(Fraction(99, 100)) is None
    with pytest.raises(BadArgument, match=r"release.interval\(\)"):
        answer().estimate()


# How it comes back.

finite = st.floats(allow_nan=False)
cells = st.one_of(
    st.lists(st.none() | st.integers() | st.floats(), max_size=5),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5),
    st.lists(st.floats(), max_size=5),
    st.lists(st.booleans(), max_size=5),
    st.lists(st.none() | st.text(st.characters(exclude_categories=())), max_size=5),
    st.lists(st.none() | st.dates(), max_size=5),
    st.lists(st.none() | st.datetimes().map(lambda moment: moment.replace(fold=0)), max_size=5),
)


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    rows = draw(st.integers(0, 4))
    names = draw(st.lists(st.text(max_size=4), min_size=1, max_size=4, unique=True))
    columns = []
    for name in names:
        if draw(st.booleans()):
            given = draw(cells.map(lambda found: (found * rows)[:rows] if found else [None] * rows))
            columns.append(AnswerColumn(name, given, draw(st.sampled_from(Role))))
        else:
            numbers = st.lists(st.integers() | finite, min_size=rows, max_size=rows)
            ends = [sorted(pair) for pair in zip(draw(numbers), draw(numbers), strict=True)]
            low, high = ([pair[place] for pair in ends] for place in (0, 1))
            columns.append(AnswerColumn(name, draw(numbers), VALUE, low, high))
    atoms = draw(st.dictionaries(st.text(max_size=3), st.lists(st.integers(), max_size=5), max_size=2))
    return Answer(tuple(columns), draw(st.fractions(0, 1)), tuple(atoms.items()))  # type: ignore[arg-type]


def flat(found: Answer) -> list[Any]:
    columns = [(column.name, column.role, column.values, column.low, column.high) for column in found.columns]
    return [columns, found.confidence, list(found.atoms)]


@given(answers())
@settings(max_examples=examples(300))
def test_answers_come_back(found: Answer) -> None:
    assert same(flat(read_value(through_json(stored_value(found)))), flat(found))


def test_a_release_with_an_answer_comes_back() -> None:
    plain = through_json(release_to_plain(answer()))
    found = release_from_plain(plain)
    assert same(flat(found.value), flat(answer().value)) and found.to_json() == answer().to_json()
    assert through_json(release_to_plain(found)) == plain


def corrupted(path: tuple[int, ...], wrong: Any) -> Any:
    plain: Any = copy.deepcopy(stored_value(answer().value))
    *way, last = path
    place = plain["answer"]
    for step in way:
        place = place[step]
    place[last] = wrong
    return plain


PACKED = "AQAAAAAAAAACAAAAAAAAAAMAAAAAAAAABAAAAAAAAAA="
"""The numbers 1 to 4."""


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ((0,), []),
        ((0, 0), ["region", "key"]),
        ((0, 0, 0), "day"),
        ((0, 0, 0), 3),
        ((0, 0, 1), "secret"),
        ((0, 0, 1), None),
        ((0, 0, 2), ["north"]),
        ((0, 0, 2), None),
        ((0, 0, 2), ["a", "b", "c", 4]),
        ((0, 0, 2), [0.5, 0.5, 0.5, 0.5]),
        ((0, 2, 2), {"packed": ["<i8", PACKED[:-4]]}),
        ((0, 2, 2), {"packed": ["<i8", PACKED[:-1]]}),
        ((0, 2, 2), {"packed": ["<i8", PACKED[:-2] + "B="]}),
        ((0, 2, 2), {"packed": ["<i8", PACKED + "\n"]}),
        ((0, 2, 2), {"packed": ["<i8", "é"]}),
        ((0, 2, 2), {"packed": ["|b1", "AQABAg=="]}),
        ((0, 2, 2), {"packed": ["|O", PACKED]}),
        ((0, 2, 2), {"packed": [PACKED]}),
        ((0, 2, 2), {"packed": ["<i8", PACKED], "more": 1}),
        ((0, 2, 3), None),
        ((0, 2, 4), {"packed": ["<i8", PACKED]}),
        ((0, 3, 3), [1, 2, 3, 4]),
        ((1,), {"rational": [3, 2]}),
        ((1,), {"float": "0x1.0000000000000p-1"}),
        ((2,), [["n"]]),
        ((2,), [[1, [2]]]),
    ],
    ids=str,
)
def test_corrupted_answers_are_refused(path: tuple[int, ...], wrong: Any) -> None:
    with pytest.raises(UnknownFormat):
        read_value(corrupted(path, wrong))


def test_corruption_is_what_is_refused() -> None:
    assert read_value(corrupted((0, 4, 2), {"packed": ["<i8", PACKED]}))["total"].values.tolist() == [1, 2, 3, 4]


def test_large_answers_are_stored_column_by_column_and_shown_in_part() -> None:
    rows = 100_000
    found = np.arange(rows)
    release = answered(
        key([f"group {row}" for row in range(rows)]),
        key([datetime.date(2000, 1, 1) + datetime.timedelta(days=row % 9000) for row in range(rows)], "day"),
        value(found, 15),
        value(found / 7, 0.25, "mean"),
    )
    text, count = calls(lambda: json.dumps(release_to_plain(release)))
    assert count < 10 * rows and len(text) < 130 * rows
    for form in (str, Release.to_text, Release.to_markdown, Release.to_html, Release.to_latex):
        shown, count = calls(lambda form=form: form(release))
        assert "more rows are not shown" in shown
        assert count < 20 * rows  # a hundredth of what all rows would take
    assert len(str(release).splitlines()) < 32


# How it looks.


def test_print_shows_the_table_and_what_its_error_bars_hold() -> None:
    assert str(answer()) == (
        "4 rows by region and day: n, mean, total\n"
        "\n"
        "  region     day           n         mean                  total\n"
        "  ─────────  ──────────  ───  ────  ─────  ────────  ───────────\n"
        "  north      2025-03-01  812  ± 15  41.32  ± 0.43    1.18059e+21\n"
        "  a | b & c  2025-03-02    3  ± 15     38  [30, 53]            0\n"
        "  <script>   2025-03-03   -4  ± 15      —                      1\n"
        "  NULL       2025-03-04  112  ± 15   1235  ± 35               -5\n"
        "  each ± and each [low, high] holds with 95% confidence, cell by cell.\n"
        "  loss   ε = 1, δ = 1e-06 for one person\n"
        "  how    visits → group by region, day → discrete laplace(scale 5)\n"
        "  paid   entry 8 of clinic, 2025-03-02T09:00:00Z, c4c4c4c4c4c4…"
    )


def test_one_number_is_shown_without_a_table() -> None:
    release = answered(value([812], 15))
    assert str(release).startswith("812 ± 15 (95%)\n  loss")
    assert release.to_text().startswith("812 ± 15 at 95% confidence\n\n  loss")
    assert rendered(sheet(release), "csv").startswith("n,n_low,n_high\n812,797,827\n")


def test_rows_that_are_left_out_are_counted() -> None:
    assert "980 more rows are not shown" in str(counts(1000)) and "1 more row is not shown" in str(counts(21))
    assert "more row" not in str(counts(20)) and "0 rows by zip: n" in str(counts(0))
    assert "960 more rows" in counts(1000).to_markdown() and "940 more rows" in counts(1000).to_latex()
    html = counts(1200).to_html()
    assert html.count("<tr") == 1000 + 1 + 7 and "200 more rows" in html
    assert len(rendered(sheet(counts(1200)), "csv").splitlines()) > 1200
    assert json.loads(counts(1200).to_json())["value"]["n_high"][1199] == 1214


@given(st.floats(-1e300, 1e300) | st.floats(-1e6, 1e6), st.floats(0, 1e300) | st.floats(0, 1e3) | st.just(0.0))
def test_what_is_written_holds_what_is_meant(value: float, half: float) -> None:
    shown, beside = _cell(value, value - half, value + half)
    if not beside.startswith("±"):
        return
    centre, width = Fraction(shown), Fraction(beside[2:])
    slack = Fraction(abs(value) + half) / 2**45 + Fraction(1, 10**20)
    assert abs(centre - Fraction(value)) + Fraction(half) <= width * (1 + Fraction(1, 10**5)) + slack


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ((41.3, 40.9, 41.7), ("41.30", "± 0.40")),
        ((1234567.891, 1233667.891, 1235467.891), ("1234568", "± 901")),
        ((7, 4.5, 9.5), ("7.0", "± 2.5")),
        ((1e-12, 0.0, 2e-12), ("1e-12", "± 1e-12")),
        ((5, 6, 9), ("5", "[6, 9]")),
        ((0.25, 0.2, 0.31), ("0.25", "[0.20, 0.31]")),
        ((3.0, 1, math.inf), ("3", "[1, inf]")),
        ((math.nan, 1, 2), ("nan", "")),
        ((None, 1, 2), ("—", "")),
        ((2.5, None, None), ("2.5", "")),
        (("word\n", None, None), ("word ", "")),
        ((10**5000, 0, 10**5001), ("1e+5000", "[0, 1.0e+5001]")),
    ],
    ids=lambda part: "" if part[0] == 10**5000 else str(part),
)
def test_cells_have_the_digits_that_their_error_gives_sense_to(cell: tuple[Any, ...], shown: tuple[str, str]) -> None:
    assert _cell(*cell) == shown


def test_keys_that_could_be_mistaken_are_told_apart() -> None:
    assert "1e+5000" in str(answered(key([10**5000]), value([10**5000], name="x")))
    lines = str(answered(key(["", " a", None, "NULL"]), value([1, 2, 3, 4], name="x"))).splitlines()
    assert [line.split("  ")[1].strip() for line in lines[4:8]] == ['""', '" a"', "NULL", "NULL"]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_keys_and_names_do_not_leave_their_place(text: str) -> None:
    release = answered(key([text, "b"], text), value([1, 2], 1, f"{text} n"), value([text, None], name="word"))
    for form in forms():
        shown = rendered(sheet(release), form)
        assert shown.encode() and all(letter.isprintable() or letter in "\n\u200c\u200d" for letter in shown)
    assert all(letter.isprintable() or letter == "\n" for letter in str(release))
    for html in (release.to_html(), release.value._repr_html_()):
        tags = read_html(html)
        assert {tag for tag, _ in tags.found} <= {"div", "span", "table", "thead", "tbody", "tr", "th", "td", "p"}
        assert all(set(attributes) <= {"style", "scope", "cellpadding"} for _, attributes in tags.found)
    assert tex_faults(release.to_latex()) == []
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in release.to_markdown().splitlines() if line[:1] == "|"} == {
        3,
        5,
    }
    for line in rendered(sheet(release), "csv").splitlines():
        assert not re.match(r'(^|.*,)"?[=+@]', line) or re.match(r".*'", line)
    assert json.dumps(release.plot().to_dict())


def test_addresses_among_keys_are_no_links() -> None:
    assert "<a " not in answered(key(["https://example.org"]), value([1])).to_html()


def test_the_release_table_states_the_errors_of_each_column() -> None:
    text = answer().table(scope="visits").to_text(steps=True)
    assert "n ± 15, mean ± 0.43 to 35 at 95%, cell by cell" in text
    none = answered(key(["a"]), value([1]))
    assert "cell by cell" not in none.table().to_text(steps=True)
    infinite = AnswerColumn("n", [1.5], VALUE, [-math.inf], [math.inf])
    assert "cell by cell" not in answered(infinite).table().to_text(steps=True)


def test_answers_without_intervals_are_not_published() -> None:
    release = replace(answered(value([1, 2], 1)), how=How("laplace", proofs=("proofs/additive.md",), asked="SELECT …"))
    table = sf.release.ReleaseTable.of([release], scope="visits", url="None", period="2025")
    assert missing_for_publication(table, [release]) == []
    unsaid = replace(release, how=replace(release.how, asked=""))
    assert [fault.partition(":")[0] for fault in missing_for_publication(table, [unsaid])] == ["question"]
    [fault] = missing_for_publication(table, [replace(release, value=Answer((value([1]),)))])
    assert fault.startswith("error bounds")


# How it is drawn.


def marks(chart: Any) -> list[str]:
    return [part["mark"]["type"] for part in parts(chart.to_dict()) if isinstance(part.get("mark"), dict)]


def test_names_are_bars_for_counts_and_dots_for_other_numbers() -> None:
    mean = AnswerColumn("mean", [0.5, None], VALUE, [0.25, None], [0.75, None])
    release = answered(key(["a", "b"]), value([5, 7], 2), mean)
    chart = release.plot(title="Visits")
    assert marks(chart) == ["bar", "rule", "rule", "circle"]
    assert tables(chart)["answer_0"][1] == {"place": "b", "series": "", "value": 7, "low": 5, "high": 9}
    assert len(tables(chart)["answer_1"]) == 1
    words = headline(chart)
    assert words.startswith("Visits") and "1 cell has no finite number" in words
    assert "holds its exact value with 95% confidence, by itself" in words and "for one person" in words


def test_many_names_are_cut_and_the_chart_says_so() -> None:
    chart = counts(1000).plot()
    assert len(tables(chart)["answer_0"]) == 40 and "40 of 1000 rows are drawn" in headline(chart)


def test_dates_and_numbers_are_lines() -> None:
    days = [datetime.date(2025, 1, 1) + datetime.timedelta(days=day) for day in range(60)]
    chart = answered(key(["x"] * 60, "city"), key(days, "day"), value(np.arange(60), 5)).plot()
    assert marks(chart) == ["area", "line"]
    assert tables(chart)["answer_0"][1]["place"] == "2025-01-02T00:00:00Z"
    few = answered(key([2020, 2021, None]), value([1, 2, 3], 1))
    assert marks(few.plot()) == ["line", "rule", "circle"] and "2 of 3 rows are drawn" in headline(few.plot())
    assert marks(few.plot(line=False)) == ["bar", "rule"]
    assert '"values": [' in (drawn := json.dumps(few.plot().to_dict())) and "tickMinStep" not in drawn
    assert "tickMinStep" not in json.dumps(answered(key([0.1, 0.2]), value([1, 2], 1)).plot().to_dict())
    zone = datetime.timezone(datetime.timedelta(hours=2))
    moments = key([datetime.datetime(2025, 1, 1, 1, tzinfo=zone), datetime.datetime(2025, 1, 1, 2, tzinfo=zone)])
    assert tables(answered(moments, value([1, 2])).plot())["answer_0"][0]["place"] == "2024-12-31T23:00:00Z"
    assert tables(answered(value([4, 5])).plot())["answer_0"][1]["place"] == 2
    assert marks(counts(50).plot(line=True)) == ["area", "line"]


def test_further_keys_are_colours_or_parts() -> None:
    def of(series: int) -> Release:
        regions = [region for region in ("a", "b") for _ in range(series)]
        modes = [f"mode {place}" for place in range(series)] * 2
        return answered(key(regions, "region"), key(modes, "mode"), value(np.arange(2 * series), 1))

    few, many = of(3).plot().to_dict(), of(14).plot()
    assert any(part.get("yOffset", {}).get("field") == "series" for part in parts(few))
    assert len([name for name in tables(many) if name.startswith("answer_0_")]) == 12
    assert "24 of 28 rows are drawn" in headline(many)


def test_one_row_is_a_dot_for_each_column() -> None:
    chart = answered(value([812], 15), value([0.5], 0.25, "share")).plot()
    assert marks(chart) == ["rule", "circle"] * 2 and tables(chart)["answer_1"][0]["high"] == 0.75


def test_keys_that_read_the_same_are_drawn_apart() -> None:
    found = tables(answered(key(["a\n", "a\t", "a"]), value([1, 2, 3])).plot())["answer_0"]
    assert len({row["place"] for row in found}) == 3


def test_charts_of_answers_refuse_what_they_cannot_draw() -> None:
    with pytest.raises(BadArgument, match="its keys are its names"):
        answer().plot(names=["a"])
    for columns in ((key(["a"]),), (key(["a"]), value([None]))):
        with pytest.raises(BadArgument, match="numbers in a value column"):
            answered(*columns).plot()
    assert "No error is stated" in headline(answered(key(["a", "b"]), value([1, 2])).plot())
    six = answered(key(["a", "b"]), *(value([1, 2], 1, f"n{place}") for place in range(6))).plot()
    assert "2 more columns are not drawn" in headline(six)


def test_charts_of_answers_become_files(tmp_path: Path) -> None:
    assert sf.charts.save(answer().plot(), tmp_path / "answer.svg").stat().st_size > 2000

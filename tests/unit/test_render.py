"""How releases look: golden files for every form, and texts that try to break out of it."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.examples.releases import HOSTILE, answer, hostile, one_number, several
from tests.examples.rendered import GOLDEN, SUFFIXES, read_html, tex_faults
from tests.unit.chart_reading import headline, parts, tables

import sfumato as sf
from sfumato.errors import BadArgument, MissingExtra
from sfumato.release.record import How, Release
from sfumato.release.render import forms, latex, rendered
from sfumato.release.render.document import Document, Table
from sfumato.release.render.sheet import sheet
from sfumato.release.render.words import clean, number, short

EXAMPLES = {"one": one_number, "several": several, "answer": answer}

ODD_VALUES = [
    math.nan,
    -math.inf,
    -0.0,
    10**6000,
    -(10**400),
    Fraction(1, 3),
    np.float64(1.5),
    np.int64(-3),
    np.array(4),
    np.array([]),
    np.array([[1.0, math.nan], [2.0, 3.0]]),
    [],
    {},
    (),
    None,
    True,
    "a word",
    b"bytes",
    (3, [1.5, 2.5], {"a": "b"}, None),
    [("a", 1), ("b", math.inf), ("c", 10**400)],
    {"a": {"b": [1, 2]}},
    1 + 2j,
    np.array(["x", "y"]),
]


def value_release(value: Any, half_width: Any = None) -> Release:
    return Release(value, sf.Pure(1), "one row", How("laplace"), half_width=half_width)


@pytest.mark.parametrize("form", SUFFIXES)
@pytest.mark.parametrize("example", EXAMPLES)
def test_golden(example: str, form: str) -> None:
    golden = GOLDEN / f"release_{example}.{SUFFIXES[form]}"
    assert rendered(sheet(EXAMPLES[example]()), form) == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["text", "html", "markdown", "latex", "json"])
def test_every_form_shows_every_fact(form: str) -> None:
    release = one_number()
    shown = getattr(release, f"to_{form}")()
    if form == "html":
        shown = read_html(shown).text
    shown = re.sub(r"[\\{}]", "", shown)
    facts = ["72.25", "23.97", "0.5", "one row changed", "change-one", "laplace", "scale", "clamp to", "mean", "school"]
    facts += ["the list of students is public", "proofs/additive.md", "scores", "between 0 and 100", "codebook"]
    for fact in [*facts, "2025-03-01", "sfumato 0.1.0", "95"]:
        assert fact in shown or fact in shown.replace("0.95", "95")


def test_replayable_and_uncharged_releases_say_so_in_every_form() -> None:
    release = several()
    for form in ("to_text", "to_html", "to_markdown", "to_latex"):
        assert "REPLAYABLE" in getattr(release, form)() and "uncharged" in getattr(release, form)()
    record = json.loads(release.to_json())
    assert record["replayable"] is True and record["charged"] is False and record["ledger"] is None
    assert "REPLAYABLE: not private" in str(release) and "uncharged" in str(release)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_do_not_leave_their_place(text: str) -> None:
    release = hostile(text)
    for form in forms():
        shown = rendered(sheet(release), form)
        assert shown.encode()  # no lone surrogates
        assert all(letter.isprintable() or letter in "\n\u200c\u200d" for letter in shown)
    assert all(letter.isprintable() or letter == "\n" for letter in str(release))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_in_html(text: str) -> None:
    plain = {tag for tag, _ in read_html(one_number().to_html()).found} | {"svg", "rect", "path", "thead"}
    tags = read_html(hostile(text).to_html())
    assert {tag for tag, _ in tags.found} <= plain
    allowed = {"style", "scope", "role", "cellpadding", "width", "height", "viewbox", "aria-hidden", "d", "x", "y"}
    allowed |= {"fill", "stroke", "stroke-width"}
    assert all(set(attributes) <= allowed for _, attributes in tags.found)
    assert clean(text).strip() in tags.text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_in_latex(text: str) -> None:
    assert tex_faults(hostile(text).to_latex()) == []


@pytest.mark.parametrize("bad", [r"\input{x}", "50 %", "a & b", "#1", "x_1", "[4pt]", "}", "中"])
def test_the_check_of_latex_can_fail(bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(latex, "escaped", lambda text: text)
    assert tex_faults(hostile(bad).to_latex())


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_in_markdown(text: str) -> None:
    lines = hostile(text).to_markdown().splitlines()
    for line in lines:
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (3, 4)
        assert not re.search(r"(?<!\\)(<|\[|`)", line)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_in_json_and_csv(text: str) -> None:
    record = json.loads(hostile(text).to_json())
    assert record["unit"] == clean(text) and "<" not in hostile(text).to_json()
    for line in rendered(sheet(hostile(text)), "csv").splitlines():
        assert not re.match(r'(^|.*,)"?[=+@]', line) or re.match(r".*'", line)


def test_values_of_all_sorts_are_shown() -> None:
    for value in ODD_VALUES:
        for half in (None, 2, 0.5, [1, 2], {"a": 1}, "wide", math.inf):
            release = value_release(value, half)
            for form in forms():
                assert rendered(sheet(release), form)
            assert str(release) and read_html(release.to_html())
            json.loads(release.to_json())


def test_long_vectors_are_short_in_text_and_complete_in_json() -> None:
    release = value_release(np.arange(5000) + 0.5, 1.25)
    assert str(release).startswith("[0.5, 1.5, 2.5, 3.5, … 5000 values] ± 1.25 (95%)")
    assert len(release.to_text().splitlines()) < 50 and "4980 more values" in release.to_text()
    assert len(release.to_markdown().splitlines()) < 70
    assert release.to_html().count("<svg") == 1000 and "4000 more values" in release.to_html()
    assert json.loads(release.to_json())["value"][4999] == 4999.5


def test_numbers_keep_the_digits_that_their_error_gives_sense_to() -> None:
    assert str(value_release(1234567.5, 0.25)).startswith("1234567.500 ± 0.25 (95%)")
    assert str(value_release(1234567.5, 1321.75)).startswith("1234568 ± 1321.75 (95%)")
    assert number(1234567.5) == "1.23457e+06" and number(10**30) == "1e+30"
    assert short({"a": 1}) == "{a: 1}"


def test_clean_keeps_scripts_that_need_invisible_letters() -> None:
    assert clean("می\u200cخواهم") == "می\u200cخواهم"
    assert clean("a" * 10, most=5) == "aaaa…"


def test_links_are_made_of_web_addresses_only() -> None:
    for address, linked in (("https://example.org/a?b=1", True), ("javascript:alert(1)", False), ("http://a b", False)):
        document = Document("title", tables=(Table((("address", address),)),))
        assert ("<a " in rendered(document, "html")) is linked
        assert (f"<{address}>" in rendered(document, "markdown")) is linked


def test_a_notebook_shows_html_and_unknown_forms_are_refused() -> None:
    assert one_number()._repr_html_() == one_number().to_html()
    with pytest.raises(BadArgument, match="csv, html, json, latex, markdown, text"):
        rendered(sheet(one_number()), "pdf")


def test_showing_a_release_loads_nothing_heavy() -> None:
    script = (
        "import sys, sfumato as sf\nm = sf.vector(float, size=9) >> sf.clamp(0, 1) >> sf.mean() >> sf.laplace(1)\n"
        "r = m([0.5] * 9)\nstr(r), r.to_html(), r.to_latex(), r.table()\n"
        "assert not {'altair', 'pandas', 'rich'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_chart_of_one_number() -> None:
    chart = one_number().plot(measured="points")
    [row] = tables(chart)["releases"]
    assert (row["x"], row["low"], row["high"]) == (72.25, 72.25 - 23.97, 72.25 + 23.97)
    words = json.dumps(chart.to_dict(), ensure_ascii=False)
    for word in ("72.25 ± 23.97", "ε = 0.5 for one row changed", "95% confidence", "points"):
        assert word in words


def test_the_chart_of_counts_has_bars_from_zero_and_errors() -> None:
    chart = several().plot()
    rows = tables(chart)["releases"]
    assert [(row["name"], row["x"], row["high"] - row["x"]) for row in rows] == [
        ("walk", 30, 6),
        ("bus & tram", -4, 6),
        ("car", 112, 6),
    ]
    marks = [part["mark"]["type"] for part in parts(chart.to_dict()) if isinstance(part.get("mark"), dict)]
    assert marks == ["bar", "rule", "tick", "tick"]
    assert "REPLAYABLE" in json.dumps(chart.to_dict())


def test_the_chart_of_a_series_is_a_line_in_a_band() -> None:
    release = value_release(np.arange(40), 2)
    chart = sf.charts.release(release, title="Totals")
    rows = tables(chart)["releases"]
    assert len(rows) == 40 and rows[3] == {"place": 4, "y": 3.0, "low": 1.0, "high": 5.0}
    assert headline(chart).startswith("Totals")
    years = tables(value_release({2001: 1, 2005: 3}, 1).plot(line=True))["releases"]
    assert [row["place"] for row in years] == [2001, 2005]


def test_charts_take_names_and_say_what_they_leave_out() -> None:
    release = value_release([1.5, math.nan, 3.5], 1)
    words = json.dumps(release.plot(names=["a", "b", "c"]).to_dict())
    assert "1 of the values are no finite numbers" in words
    with pytest.raises(BadArgument, match="one for each of the 3 values"):
        release.plot(names=["a"])
    with pytest.raises(BadArgument, match="a number, or several"):
        value_release("word").plot()
    with pytest.raises(BadArgument, match="release"):
        sf.charts.release(3)  # type: ignore[arg-type]
    assert "No error is stated" in json.dumps(value_release(3).plot().to_dict())


def test_charts_break_long_captions_and_take_names_that_are_no_numbers() -> None:
    release = replace(value_release([1, 2], 1), unit="one person " * 30)
    words = release.plot(names=["first", "second"], line=True).to_dict()["title"]["subtitle"]
    assert len(words) > 3 and max(map(len, words)) <= 92
    assert [row["place"] for row in tables(release.plot(names=["x", "y"], line=True))["releases"]] == [1, 2]


def test_charts_without_their_extra_say_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match="plot"):
        one_number().plot()


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_charts_of_releases_become_files(tmp_path: Path, suffix: str) -> None:
    assert sf.charts.save(several().plot(), tmp_path / f"counts{suffix}").stat().st_size > 2000

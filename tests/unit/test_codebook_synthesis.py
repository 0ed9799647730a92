"""What codebooks say for synthetic data: bins of columns, and combinations that cannot occur."""

from __future__ import annotations

import copy
import datetime
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.codebook.impossible import Span

SURVEY: dict[str, Any] = {
    "codebook": 1,
    "title": "A survey",
    "unit": {"protects": "a person"},
    "tables": {
        "survey": {
            "contributions": {"rows": 1, "source": "one questionnaire each"},
            "columns": {
                "age": {"type": "int", "between": [0, 120], "bins": [15, 65], "source": "people"},
                "weight": {"type": "float", "between": ["0.5", 300], "bins": 8, "source": "people"},
                "state": {"categories": ["single", "married", "widowed"], "source": "the form"},
                "born": {
                    "type": "date",
                    "between": ["1900-01-01", "2026-01-01"],
                    "bins": ["1950-01-01"],
                    "source": "the form",
                },
                "seen": {"type": "time", "bins": ["2026-01-01T00:00:00", "2026-01-02T12:00:00"]},
                "tags": {"type": "list", "items": {"type": "str"}},
                "member": {"type": "bool"},
            },
            "impossible": [
                {"where": {"age": {"between": [0, 14]}, "state": ["married", "widowed"]}, "source": "the law"},
                {"where": {"member": True, "weight": {"between": ["0.5", "2.25"]}}, "source": "the statutes"},
            ],
        }
    },
}


def with_column(name: str, **entries: object) -> dict[str, Any]:
    made = copy.deepcopy(SURVEY)
    made["tables"]["survey"]["columns"][name].update(entries)
    return made


def with_impossible(*entries: object) -> dict[str, Any]:
    made = copy.deepcopy(SURVEY)
    made["tables"]["survey"]["impossible"] = list(entries)
    return made


def test_bins_and_combinations_are_read() -> None:
    table = sf.Codebook.read(SURVEY).table("survey")
    assert table["age"].bins == (Fraction(15), Fraction(65))
    assert table["weight"].bins == 8
    assert table["born"].bins == (datetime.date(1950, 1, 1),)
    assert table["seen"].bins == (datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 2, 12))
    first, second = table.impossible
    assert first.where == (("age", Span(Fraction(0), Fraction(14))), ("state", ("married", "widowed")))
    assert second.where[0] == ("member", (True,))


def test_they_are_restored_from_yaml_and_plain_data() -> None:
    book = sf.Codebook.read(SURVEY)
    assert sf.Codebook.read(book.to_yaml()) == book
    assert sf.Codebook.read(book.to_plain()) == book
    assert sf.Codebook.read(with_column("weight", bins=9)).digest != book.digest
    assert sf.Codebook.read(with_impossible()).digest != book.digest


def test_what_cannot_occur_is_a_fact_with_its_source() -> None:
    book = sf.Codebook.read(SURVEY)
    said = [str(fact) for fact in book.facts("survey")]
    assert any("no row of survey has age in [0, 14] and state one of married, widowed" in one for one in said)
    assert any("the law" in one for one in said)
    assert not any("no row" in str(fact) for fact in book.facts("survey", columns=["age"]))


@pytest.mark.parametrize(
    ("book", "message"),
    [
        (with_column("state", bins=4), "bins are for numbers, dates and times, and this is categories"),
        (with_column("member", bins=4), "bins are for numbers, dates and times, and this is bool"),
        (with_column("age", bins=0), "bins must be a whole number of at least 1"),
        (with_column("age", bins=True), "bins must be a whole number of at least 1"),
        (with_column("age", bins="many"), "bins must be a whole number of at least 1"),
        (with_column("age", bins=10**6), "bins must be at most 10000"),
        (with_column("age", bins=[]), "bins must be a number of bins, or one or more edges"),
        (with_column("age", bins=[65, 15]), "rising order"),
        (with_column("age", bins=[15, 15]), "rising order"),
        (with_column("age", bins=[15, 150]), "within the bounds"),
        (with_column("age", bins=[-1, 15]), "within the bounds"),
        (with_column("age", bins=["15.5"]), "must be a whole number for an int column"),
        (with_column("age", bins=["old"]), "an edge of bins must be a number"),
        (with_column("weight", bins=["inf"]), "an edge of bins must be a number"),
        (with_column("born", bins=["1950-13-01"]), "an edge of bins must be a date"),
        (with_column("seen", bins=["2026-01-01T00:00:00"]), "two or more edges, where there are no bounds"),
        (with_impossible({"where": {"age": 3}}), "source is missing"),
        (with_impossible({"where": {"age": 3}, "source": "the data"}), "the private data itself"),
        (with_impossible({"source": "the law"}), "where is missing"),
        (with_impossible({"where": {}, "source": "the law"}), "where is missing"),
        (with_impossible({"where": {"agee": 3}, "source": "the law"}), "which is no column"),
        (with_impossible({"where": {"age": None}, "source": "the law"}), "missing is none"),
        (with_impossible({"where": {"age": []}, "source": "the law"}), "one or more values"),
        (with_impossible({"where": {"age": "x"}, "source": "the law"}), "a value of age must be a number"),
        (with_impossible({"where": {"age": {"between": [9, 3]}}, "source": "the law"}), "its lower end first"),
        (with_impossible({"where": {"age": {"from": 3}}, "source": "the law"}), "{between: [lower, upper]}"),
        (with_impossible({"where": {"state": "divorced"}, "source": "the law"}), "is none of them"),
        (with_impossible({"where": {"state": {"between": ["a", "b"]}}, "source": "the law"}), "list its values"),
        (with_impossible({"where": {"member": 1}, "source": "the law"}), "is none of them"),
        (with_impossible({"where": {"tags": "a"}, "source": "the law"}), "is a list"),
        (with_impossible({"where": {"age": 3}, "source": "the law", "why": "x"}), "there is no entry 'why'"),
        (with_impossible("none"), "this must be a mapping"),
    ],
)
def test_what_is_wrong_is_named(book: dict[str, Any], message: str) -> None:
    with pytest.raises(sf.errors.BadCodebook) as refused:
        sf.Codebook.read(book)
    assert message in str(refused.value)


def test_impossible_must_be_a_list() -> None:
    made = copy.deepcopy(SURVEY)
    made["tables"]["survey"]["impossible"] = {"where": {"age": 3}}
    with pytest.raises(sf.errors.BadCodebook, match="impossible must be a list"):
        sf.Codebook.read(made)


def test_long_lists_of_categories_are_read_in_a_moment() -> None:
    listed = [f"code {number}" for number in range(200_000)]
    book = copy.deepcopy(SURVEY)
    book["tables"]["survey"]["impossible"] = []
    book["tables"]["survey"]["columns"]["state"]["categories"] = listed
    assert len(sf.Codebook.read(book).table("survey")["state"].categories) == 200_000

"""Metadata of SmartNoise SQL, read as a codebook (P1-153, P3-154)."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.codebook.tables import Contributions
from sfumato.core.domains import Bounds

PUMS = """
"":
  PUMS:
    PUMS:
      rows: 1000
      rows_exact: 1000
      max_ids: 3
      censor_dims: False
      clamp_counts: True
      clamp_columns: no
      age:
        type: int
        lower: 0
        upper: 100
      income: {type: float, lower: 0.0, upper: 1e5, nullable: false}
      educ: {type: string, cardinality: 20}
      married: {type: boolean, missing_value: False}
      born: {type: datetime}
      pid: {type: int, private_id: True, nullable: False}
      weight: {type: float, lower: 0, sensitivity: 3}
      scan: {type: unknown}
engine: pandas
"""

STUDENTS: dict[str, Any] = {
    "school": {
        "": {
            "students": {
                "row_privacy": True,
                "absences": {"type": "int", "lower": 0, "upper": 50},
                "famsize": {"type": "string", "cardinality": 2},
            }
        }
    }
}


def changed(**settings: object) -> dict[str, Any]:
    made = copy.deepcopy(STUDENTS)
    made["school"][""]["students"].update(settings)
    return made


def refusal(given: Any) -> str:
    with pytest.raises(sf.errors.BadCodebook) as caught:
        sf.Codebook.read_smartnoise(given)
    return str(caught.value)


def test_P1_153_people_and_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "pums.yaml"
    path.write_text(PUMS, encoding="utf-8")
    book, notes = sf.Codebook.read_smartnoise(path)
    table = book.table("PUMS.PUMS")
    assert book.id == table.id == "pid" and book.protects == "whoever one pid stands for"
    where = "SmartNoise metadata pums.yaml, PUMS.PUMS (where that is from is not said)"
    assert table.contributions == Contributions(rows=3, by="truncation", source=where)
    assert table.size is None and table.least == 0
    assert {column.name: (column.type, column.nullable) for column in table.columns} == {
        "age": ("int", True),
        "income": ("float", False),
        "educ": ("str", True),
        "married": ("bool", True),
        "born": ("time", True),
        "pid": ("int", False),
        "weight": ("float", True),
    }
    assert table["income"].between == Bounds(0, 100_000)  # type: ignore[arg-type]
    assert table["weight"].between is None and table["educ"].categories == () and table["educ"].keys is None
    assert {fact.source for fact in book.facts()} == {where}
    assert sf.Codebook.read(book.to_yaml()) == book
    assert sf.Codebook.read_smartnoise(str(path)) == (book, notes)


def test_every_doubt_has_a_note() -> None:
    _, notes = sf.Codebook.read_smartnoise(PUMS)
    for start in (
        "unit, protects: the file does not say who is protected",
        "PUMS.PUMS: the number of rows (rows, rows_exact) is left out",
        "PUMS.PUMS: censor_dims is false",
        "PUMS.PUMS: clamp_columns is false",
        "PUMS.PUMS: clamp_counts say how SmartNoise answers",
        "PUMS.PUMS: max_ids (3) is taken over as a bound that truncation makes true",
        "PUMS.PUMS: bounds are taken over as public facts",
        "PUMS.PUMS.educ: a cardinality says how many values there are, not which",
        "PUMS.PUMS.married: missing values are not replaced by 'False' here",
        "PUMS.PUMS.weight: it has one bound of two",
        "PUMS.PUMS.weight: the sensitivity is left out",
        "PUMS.PUMS.scan: its type is unknown",
    ):
        assert sum(note.startswith(start) for note in notes) == 1, start
    assert len(notes) == 12


def test_P3_154_rows_as_the_unit() -> None:
    book, notes = sf.Codebook.read_smartnoise(STUDENTS)
    assert book.title == "school" and book.id == "" and book.unit_path("students") is None
    assert book.unit == sf.Unit("one row", sf.AddRemove(), bound=1)
    assert book.table("students")["absences"].between == Bounds(0, 50)  # type: ignore[arg-type]
    assert not any("max_ids" in note for note in notes)
    both, notes = sf.Codebook.read_smartnoise(changed(max_ids=4, pid={"type": "int", "private_id": True}))
    assert both.unit == book.unit and any("row_privacy), so private_id and max_ids are left out" in n for n in notes)


def test_without_sampling_the_bound_is_a_fact() -> None:
    given = changed(row_privacy=False, sample_max_ids=False, max_ids=2, pid={"type": "int", "private_id": "yes"})
    book, notes = sf.Codebook.read_smartnoise(given)
    assert book.unit == sf.Unit("whoever one pid stands for", sf.AddRemove(), bound=2)
    assert any("taken over as a fact about every possible table" in note for note in notes)


def test_the_id_may_have_another_name_in_another_table() -> None:
    given = changed(row_privacy=False, pid={"type": "int", "private_id": True})
    given["school"]["old"] = {"students": {"pid": {"type": "int"}, "person": {"type": "int", "private_id": True}}}
    book, _ = sf.Codebook.read_smartnoise(given)
    assert [(table.name, table.id) for table in book.tables] == [("students", "pid"), ("old.students", "person")]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (changed(row_privacy=False), "it has neither a private_id nor row_privacy: true"),
        (changed(row_privacy="perhaps"), "row_privacy must be true or false; got 'perhaps'"),
        (changed(max_ids=0), "max_ids must be a whole number of at least 1; got 0"),
        (changed(age={"type": "int", "lower": 9, "upper": 1}), "column 'age': between must have its lower bound first"),
        (changed(age={"type": "int", "lower": 1, "upper": "1e999x"}), "a bound must be a number"),
        (changed(age={"type": "float", "lower": 0, "upper": ".inf"}), "a bound must be finite"),
        (changed(age={"type": "integer"}), "type must be one of int, float, string, boolean, datetime; got 'integer'"),
        (changed(age={"lower": 1}), "type must be one of int, float, string"),
        (changed(age={"type": "string", "lower": 1, "upper": 2}), "between is for numbers, dates and times"),
        (changed(age={"type": "int", "uper": 1}), "there is no entry 'uper'; did you mean 'upper'?"),
        (changed(age=3), "SmartNoise metadata, students, age: this must be a mapping"),
        (
            changed(row_privacy=False, a={"type": "int", "private_id": True}, b={"type": "int", "private_id": True}),
            "several columns with private_id (a, b)",
        ),
        ({}, "it must have a database at the top"),
        ({"a": {}, "b": {}}, "it must have a database at the top"),
        ({"a": {"b": {"c": {"max_ids": 1}}}, "d": {}}, "it must have one database at the top; got 'a', 'd'"),
        ({"a": {}}, "it must have a database at the top"),
        ({"a": {"b": {"c": {"row_privacy": True}}}}, "table 'b.c': columns is missing"),
        ({"a": {"": {"b.c": {"max_ids": 1}}}}, "SmartNoise metadata, b.c: it has neither"),
        ("a: 1\n", "it must have a database at the top"),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) else "given",
)
def test_metadata_that_is_refused(given: object, message: str) -> None:
    assert message in refusal(given)


def test_two_kinds_of_unit_are_refused() -> None:
    given = changed()
    given["school"][""]["clubs"] = {"pid": {"type": "int", "private_id": True}}
    assert "clubs have a private_id and students have row_privacy: a codebook protects one kind" in refusal(given)
    given = changed()
    given["school"]["x"] = {"y.z": given["school"][""]["students"]}
    given["school"]["x.y"] = {"z": given["school"][""]["students"]}
    assert "there are two tables x.y.z" in refusal(given)

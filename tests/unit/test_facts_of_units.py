"""A fact is about the unit that it was stated for: a bound never travels to another one."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli.main import main

COLUMNS = {"id": {"type": "int"}, "x": {"type": "float", "between": [0, 1], "source": "the scale"}}
ROWS = pa.table({"id": [1] * 50 + list(range(2, 52)), "x": [1.0] * 100})
ONE_ROW = {"rows": 1, "source": "a row is a visit"}


def book(contributions: dict[str, Any] | None, unit: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    table = {"columns": COLUMNS, **({} if contributions is None else {"contributions": contributions})}
    return {"codebook": 1, "title": "p", "unit": unit or {"protects": "a visit"}, "tables": {"t": table}, **more}


SMARTNOISE = {
    "db": {"": {"t": {"row_privacy": True, "id": {"type": "int"}, "x": {"type": "float", "lower": 0, "upper": 1}}}}
}
SECRET = {"method": "simple random", "population": 1000, "sample": 100, "secret": True, "secrecy": "two know"}

TRAVELS: dict[str, Any] = {
    "a fact": book(ONE_ROW),
    "a cut": book({**ONE_ROW, "by": "truncation"}),
    "groups": book({"groups": {"x": 2}, "source": "the form"}),
    "a sample of visits": book(None, sampling=SECRET),
    "SmartNoise, by rows": sf.Codebook.read_smartnoise(SMARTNOISE)[0],
}


@pytest.mark.parametrize("name", TRAVELS)
def test_a_fact_about_a_visit_is_not_believed_of_a_person(name: str) -> None:
    facts = TRAVELS[name] if isinstance(TRAVELS[name], sf.Codebook) else sf.Codebook.read(TRAVELS[name])
    with pytest.raises(sf.errors.BadArgument, match=r"says nothing about a person.*id: id\}") as refused:
        sf.Dataset(ROWS, codebook=facts, unit=sf.Person("id"))
    assert "contributions of t" in str(refused.value) or "sampling" in str(refused.value)


def test_what_is_said_of_no_unit_is_taken_over() -> None:
    facts = book(None)
    facts["tables"]["t"]["size"] = {"at_least": 10, "source": "the roll"}
    data = sf.Dataset(ROWS, codebook=facts, unit=sf.Person("id"))
    assert data.unit.protects == "a person" and data.codebook is not None and data.codebook.id == "id"


def test_a_person_of_the_command_line_is_no_visit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text("id,x\n" + "1,1\n" * 5 + "2,1\n")
    (tmp_path / "t.yaml").write_text(sf.Codebook.read(book(ONE_ROW)).to_yaml())
    monkeypatch.chdir(tmp_path)
    asked = ["query", "t.csv", "SELECT COUNT(*) FROM t", "-c", "t.yaml", "--epsilon", "1", "--limit-epsilon", "3"]
    monkeypatch.setattr(sys, "argv", ["sfumato", *asked, "--unit", "id"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 3
    assert "says nothing about a person" in capsys.readouterr().err


def test_a_codebook_without_an_id_leads_to_the_id_first() -> None:
    with pytest.raises(sf.errors.BadCodebook, match=r"If a column says whose a row is, name it.*If there is none"):
        sf.Dataset(ROWS, codebook=book(None))


@pytest.mark.parametrize(
    ("unit", "why"),
    [
        (sf.Person("x"), "whose id is 'id'"),
        (sf.Person("id", "a household"), "calls it 'a person'"),
    ],
)
def test_an_id_stands_for_whom_the_codebook_says(unit: sf.Person, why: str) -> None:
    facts = book({"rows": 5, "source": "the rules"}, {"protects": "a person", "id": "id"})
    with pytest.raises(sf.errors.BadArgument, match=why):
        sf.Dataset(ROWS, codebook=facts, unit=unit)
    assert sf.Dataset(ROWS, codebook=facts, unit=sf.Person("id")).unit.protects == "a person"


def test_an_id_of_a_table_is_not_overruled() -> None:
    facts = book({"rows": 5, "source": "the rules"}, {"protects": "a card"})
    facts["tables"]["t"]["id"] = "x"
    with pytest.raises(sf.errors.BadArgument, match="whose id is 'x'"):
        sf.Dataset(ROWS, codebook=facts, unit=sf.Person("id"))


def test_other_words_for_one_id_are_refused_and_several_ids_are_not() -> None:
    facts = sf.Codebook.read(book({"rows": 60, "source": "the rules"}, {"protects": "a person", "id": "id"}))
    metric = sf.Dataset(ROWS, codebook=facts).space.metric
    with pytest.raises(sf.errors.BadArgument, match="'a person', as the codebook calls it"):
        sf.Dataset(ROWS, codebook=facts, unit=sf.Unit("a household", metric))
    household = sf.Dataset(ROWS, codebook=facts, unit=sf.Unit("a household of up to 3", metric, bound=3))
    assert "a person has at most 60 rows of t" in [fact.what for fact in household.facts]


def test_an_id_in_a_window_is_not_said_to_be_protected_for_good() -> None:
    window = {"column": "day", "every": "day", "reason": "visits of one day belong together"}
    facts = book(None, {"protects": "a person in one day", "id": "id", "window": window})
    facts["tables"]["t"]["columns"] = {**COLUMNS, "day": {"type": "date"}}
    data = {"t": ROWS.append_column("day", pa.array([datetime.date(2024, 1, 1)] * len(ROWS)))}
    metric = sf.Dataset(data, codebook=facts).space.metric
    with pytest.raises(sf.errors.BadArgument, match="'a person in one day', as the codebook calls it"):
        sf.Dataset(data, codebook=facts, unit=sf.Unit("a person", metric))
    with pytest.raises(sf.errors.BadArgument, match="an id in one day only"):
        sf.Dataset(data, codebook=facts, unit=sf.Person("id"))


def test_a_unit_of_rows_states_its_own_bound() -> None:
    patient = sf.Unit("a patient", sf.AddRemove(), bound=7)
    session = sf.Dataset(ROWS, codebook=book(ONE_ROW), unit=patient).session(limit=sf.Pure(10), ledger="memory:")
    release = session.sql("SELECT COUNT(*) AS n FROM t", loss=sf.Pure(1))
    said = [fact.what for fact in release.facts]
    assert "a patient has at most 7 rows" in said and not any("a visit" in fact for fact in said)
    with pytest.raises(sf.errors.BadArgument, match="at least 4 rows, which is how many a visit may have"):
        sf.Dataset(ROWS, codebook=book({"rows": 4, "source": "s"}), unit=sf.Unit("a visit", sf.AddRemove(), bound=3))


def test_a_rehearsal_is_on_the_same_terms() -> None:
    facts = book({"rows": 60, "source": "the rules"}, {"protects": "a person", "id": "id"})
    data = sf.Dataset(ROWS, codebook=facts)
    twin = data.rehearsal(ROWS, limit=sf.Pure(1))
    assert twin.dataset.unit == data.unit and twin.dataset.facts == data.facts

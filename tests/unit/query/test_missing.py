"""Missing values are the default of every column; a codebook that says "never" and is wrong makes no number up."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from tests.unit.query.opened import MUCH, ready, session_of

import sfumato as sf
from sfumato.errors import BadCodebook
from sfumato.session.session import Session

SAID = {"source": "a test"}
HALF = [90.0, None] * 50
"""Half of the values are missing; the middle of the bounds is 50."""


def book(*, unit: dict[str, Any] | None = None, **x: Any) -> dict[str, Any]:
    number = {"type": "float", "between": [0, 100], **SAID, **x}
    columns = {"u": {"type": "int"}, "x": number, "y": number, "k": {"categories": ["a", "b"], **SAID, **x}}
    table = {"columns": columns, "contributions": {"rows": 1, **SAID}}
    return {"codebook": 1, "title": "Gaps", "unit": unit or {"protects": "a row"}, "tables": {"t": table}}


def session(**x: Any) -> Session:
    data = {"u": list(range(100)), "x": HALF, "y": [10.0] * 25 + [None] * 75, "k": ["a", None] * 50}
    return session_of(sf.Dataset(pa.table(data), codebook=sf.Codebook.read(book(**x))))


STATED: tuple[dict[str, Any], ...] = ({}, {"nullable": True}, {"nullable": False})
PEOPLE = {"unit": {"protects": "a person", "id": "u"}}


@pytest.mark.parametrize("more", [{}, PEOPLE], ids=["rows", "people"])
@pytest.mark.parametrize("stated", STATED, ids=["unsaid", "true", "false"])
def test_no_number_is_made_up_for_a_missing_one(stated: dict[str, Any], more: dict[str, Any]) -> None:
    asked = session(**stated, **more)
    text = "SELECT AVG(x) AS mean, SUM(x) AS sum, COUNT(x) AS n, STDDEV_POP(x) AS spread FROM t"
    found = asked.sql(text, loss=MUCH).value
    assert found["mean"].values[0] == pytest.approx(90, abs=1e-3)
    assert found["sum"].values[0] == pytest.approx(4500, abs=1e-1)
    assert found["n"].values[0] == 50
    assert found["spread"].values[0] == pytest.approx(0, abs=1e-1)


@pytest.mark.parametrize("stated", STATED, ids=["unsaid", "true", "false"])
def test_a_sum_is_the_same_whatever_stands_beside_it(stated: dict[str, Any]) -> None:
    for beside in ("", ", COUNT(*) AS n", ", COUNT(x) AS n", ", AVG(x) AS m", ", COUNT(*) AS n, AVG(x) AS m"):
        found = session(**stated).sql(f"SELECT SUM(x) AS sum{beside} FROM t", loss=MUCH).value
        assert found["sum"].values[0] == pytest.approx(4500, abs=1e-1), beside


def test_rows_without_what_all_rows_are_said_to_have_are_left_out_of_everything() -> None:
    """Both columns are said to be never missing, so one count serves for both: of the rows that have both."""
    found = session(nullable=False).sql("SELECT SUM(x) AS x, SUM(y) AS y, COUNT(*) AS n FROM t", loss=MUCH).value
    assert found["n"].values[0] == 13
    assert (round(found["x"].values[0]), round(found["y"].values[0])) == (13 * 90, 13 * 10)


@pytest.mark.parametrize("stated", STATED, ids=["unsaid", "true", "false"])
def test_correlations_are_of_rows_that_have_both(stated: dict[str, Any]) -> None:
    found = session(**stated).sql("SELECT COVAR_POP(x, y) AS c FROM t", loss=MUCH).value
    assert found["c"].values[0] == pytest.approx(0, abs=1)


def test_missing_keys_are_a_group_unless_a_fact_says_that_there_are_none() -> None:
    text = "SELECT k, COUNT(*) AS n FROM t GROUP BY k"
    told = session().sql(text, loss=MUCH).value
    assert dict(zip(told["k"].values, told["n"].values, strict=True)) == {None: 50, "a": 50, "b": 0}
    told = session(nullable=False).sql(text, loss=MUCH).value
    assert dict(zip(told["k"].values, told["n"].values, strict=True)) == {"a": 50, "b": 0}


def test_never_missing_is_a_fact_with_a_source() -> None:
    with pytest.raises(BadCodebook, match="source is missing: say where that it is never missing is known from"):
        sf.Codebook.read({**book(), "tables": {"t": {"columns": {"u": {"type": "int", "nullable": False}}}}})
    stated = sf.Codebook.read(book(nullable=False))
    facts = {fact.what: fact.source for fact in stated.facts()}
    assert facts["t.x is never missing"] == "a test"
    assert "t.u is never missing" not in facts
    assert sf.Codebook.read(stated.to_plain()) == stated
    assert len({sf.Codebook.read(book(**said)).digest for said in STATED}) == 3
    release = session(nullable=False).sql("SELECT AVG(x) AS m FROM t", loss=sf.Pure(1))
    assert "t.x is never missing" in {fact.what for fact in release.facts}


def test_one_count_serves_for_columns_that_are_never_missing() -> None:
    text = "SELECT COUNT(*) AS n, AVG(x) AS a, AVG(y) AS b FROM t"
    assert len(ready(session(nullable=False), text, loss=sf.Pure(1)).levels[0].tallies) == 3
    assert len(ready(session(), text, loss=sf.Pure(1)).levels[0].tallies) == 5


def test_in_memory_a_column_has_missing_values_only_where_it_says_so() -> None:
    atoms = [sf.Codebook.read(book(**said)).table("t")["x"].atom for said in STATED]
    assert [atom.nan for atom in atoms if isinstance(atom, sf.Floats)] == [False, True, False]

"""What public facts answer already is refused before it is charged: conditions that no row can meet."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.query.opened import session_of

import sfumato as sf
from sfumato.errors import QueryRefused
from sfumato.session.dataset import Dataset

SAID = {"source": "a test"}
COLUMNS: dict[str, Any] = {
    "u": {"type": "int"},
    "delay": {"type": "int", "between": [-8, 64], **SAID},
    "speed": {"type": "float", "between": [0, 900], **SAID},
    "month": {"type": "int", "between": [1, 12], **SAID},
    "species": {"categories": ["Adelie", "Chinstrap", "Gentoo"], **SAID},
    "day": {"type": "date", "between": ["2024-01-01", "2024-12-31"], **SAID},
    "sure": {"type": "int", "between": [0, 9], "nullable": False, **SAID},
    "note": {"type": "str"},
    "free": {"type": "int"},
}
BOOK = {
    "codebook": 1,
    "title": "Flights",
    "unit": {"protects": "a plane", "id": "u"},
    "tables": {"t": {"columns": COLUMNS, "contributions": {"rows": 2, **SAID}}},
}


@cache
def data() -> Dataset:
    kinds = {"u": pa.int64(), "delay": pa.int64(), "speed": pa.float64(), "month": pa.int64(), "species": pa.string()}
    kinds |= {"day": pa.date32(), "sure": pa.int64(), "note": pa.string(), "free": pa.int64()}
    return Dataset({"t": pa.table({name: pa.array([], kind) for name, kind in kinds.items()})}, codebook=BOOK, name="t")


NEVER = (
    "delay > 120",
    "delay >= 65",
    "delay = -9",
    "NOT delay <= 64",
    "delay BETWEEN 100 AND 200",
    "delay + 10 > 80",
    "ABS(delay) > 64",
    "delay > 120 AND speed > 3",
    "speed > 3 AND (delay > 120 OR month = 13)",
    "month = 13",
    "month IN (0, 13, 14)",
    "month = 2.5",
    "species = 'Adelei'",
    "species IN ('adelie', 'gentoo')",
    "day > DATE '2025-01-01'",
    "YEAR(day) = 2023",
    "sure IS NULL",
    "sure > 9",
    "FALSE",
    "CASE WHEN month > 12 THEN speed > 1 ELSE FALSE END",
    "CASE WHEN speed > 1000 THEN 'fast' ELSE 'slow' END = 'fast'",
    "species LIKE 'Z%'",
    "LOWER(species) = 'Adelie'",
    "LENGTH(species) > 9",
    "DATE_TRUNC('month', day) = DATE '2024-01-02'",
    "MONTH(day) = 3 AND day > DATE '2024-06-01'",
    "month = 6 AND month = 7",
    "speed > 10 AND speed < 5",
    "free > 10 AND NOT free > 9",
)
POSSIBLE = (
    "delay > 60",
    "delay > 63",
    "delay <= -8",
    "NOT delay > 120",
    "month <> 13",
    "month IS NULL",
    "species <> 'Adelei'",
    "delay > 120 OR speed > 3",
    "free > 10000000",
    "note = 'anything'",
    "LENGTH(note) > 900",
    "month > delay",
    "day >= DATE '2024-12-31'",
    "COALESCE(month, 13) = 13",
    "CASE WHEN delay > 120 THEN FALSE ELSE TRUE END",
    "1 = 1",
    "CASE WHEN speed > 800 THEN 'fast' ELSE 'slow' END = 'fast'",
    "species LIKE 'A%'",
    "LOWER(species) = 'adelie'",
    "LENGTH(note) > 9 AND LENGTH(note) < 11",
    "MONTH(day) = 3 AND day > DATE '2024-03-30'",
    "month = 6 OR month = 7",
    "speed > 5 AND speed < 10",
    "free > 10 AND free <= 11",
)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM t WHERE {}",
        "SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE {}) AS m FROM t",
        "SELECT SUM(CASE WHEN {} THEN 1 ELSE 0 END) AS n FROM t",
        "SELECT SUM(CASE WHEN {} THEN speed ELSE 0 END) AS n FROM t",
        "SELECT AVG(CASE WHEN {} THEN 1 ELSE 0 END) AS n FROM t",
        "SELECT AVG(n) AS a FROM (SELECT u, COUNT(*) AS n FROM t WHERE {} GROUP BY u)",
        "SELECT species, MEDIAN(speed) FILTER (WHERE {}) AS m FROM t GROUP BY species",
        "SELECT COUNT(DISTINCT u) AS n FROM (SELECT * FROM t WHERE {})",
    ],
)
def test_a_condition_that_no_row_can_meet_is_refused_before_the_charge(text: str) -> None:
    session = session_of(data())
    for where in NEVER:
        with pytest.raises(QueryRefused, match=r"can be true for no row, by what is public:.* whatever the data is"):
            session.sql(text.format(where), loss=sf.Pure(1), max_groups=1, max_rows_per_group=1)
        with pytest.raises(QueryRefused, match="can be true for no row"):
            session.explain(text.format(where), loss=sf.Pure(1), max_groups=1, max_rows_per_group=1)
    assert session.spent.epsilon == 0


def test_what_a_row_can_meet_is_answered() -> None:
    session = session_of(data())
    for where in POSSIBLE:
        session.sql(f"SELECT COUNT(*) AS n FROM t WHERE {where}", loss=sf.Pure(1))
        session.sql(f"SELECT COUNT_IF({where}) AS n FROM t", loss=sf.Pure(1))


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("delay > 120", r"^delay > 120 can be .* delay lies in \[-8, 64\] \(values beyond are moved into these"),
        ("month > 3 AND delay > 120", r"^delay > 120 can be true for no row"),
        ("species = 'Adelei'", r"species is one of Adelie, Chinstrap, Gentoo \(other values are read as missing\)"),
        ("day < DATE '2023-01-01'", r"day lies from 2024-01-01 to 2024-12-31 \(what lies beyond is read as missing\)"),
        ("sure IS NULL", r"sure lies in \[0, 9\], and is never missing"),
        ("FALSE", "it is so by itself"),
    ],
)
def test_the_refusal_says_what_is_known_and_what_to_do(where: str, said: str) -> None:
    with pytest.raises(QueryRefused, match=said) as caught:
        session_of(data()).sql(f"SELECT COUNT(*) AS n FROM t WHERE {where}", loss=sf.Pure(1))
    assert "correct that (between, categories, nullable)" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT SUM(CASE WHEN delay > 120 THEN 3 WHEN delay > 30 THEN 2 ELSE 0 END) AS n FROM t",
        "SELECT SUM(CASE WHEN delay > 120 THEN 0 ELSE 1 END) AS n FROM t",
        "SELECT HISTOGRAM(delay, [0, 50, 100, 150]) AS h FROM t",
        "SELECT COUNT(*) AS n FROM (SELECT u FROM t WHERE delay > 120 UNION ALL SELECT u FROM t)",
        "SELECT COUNT(*) AS n FROM t LEFT JOIN (SELECT u AS v FROM t WHERE delay > 120) AS s ON t.u = s.v",
    ],
)
def test_what_is_impossible_beside_what_is_possible_is_answered(text: str) -> None:
    session_of(data()).sql(text, loss=sf.Pure(1), max_rows_per_group=2)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT HISTOGRAM(delay, [70, 100]) AS h FROM t",
        "SELECT COUNT(*) AS n FROM (SELECT u FROM t WHERE delay > 120 UNION ALL SELECT u FROM t WHERE month = 13)",
        "SELECT COUNT(*) AS n FROM t JOIN (SELECT u AS v FROM t WHERE delay > 120) AS s ON t.u = s.v",
        "SELECT AVG(s) AS a FROM (SELECT u, SUM(CASE WHEN delay > 120 THEN 1 ELSE 0 END) AS s FROM t GROUP BY u)",
        "SELECT COUNT(*) AS n FROM (SELECT delay * 2 AS twice FROM t) WHERE twice > 128",
    ],
)
def test_nothing_is_left_anywhere(text: str) -> None:
    with pytest.raises(QueryRefused, match="can be true for no row"):
        session_of(data()).sql(text, loss=sf.Pure(1), max_rows_per_group=2)

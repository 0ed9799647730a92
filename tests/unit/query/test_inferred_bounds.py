"""Bounds that a question states itself: values are bounded by its conditions, and the explanation says so."""

from __future__ import annotations

import polars
import pytest
from tests.examples.sql import SOURCE

import sfumato as sf
from sfumato.errors import QueryRefused
from sfumato.session.session import Session

BOOK = {
    "codebook": 1,
    "title": "Weights",
    "unit": {"protects": "a person", "id": "id"},
    "tables": {
        "t": {
            "contributions": {"rows": 1, "source": SOURCE},
            "columns": {
                "id": {"type": "int"},
                "x": {"type": "float"},
                "day": {"type": "date"},
                "b": {"type": "bool"},
            },
        }
    },
}


@pytest.fixture(scope="module")
def session() -> Session:
    values = [float(value) for value in range(-50, 150)] + [1e300, float("nan")]
    frame = polars.DataFrame({"id": list(range(len(values))), "x": values}).with_columns(
        day=polars.date(2024, 1, 1), b=polars.lit(True)
    )
    return sf.Dataset({"t": frame}, codebook=BOOK).session(limit=sf.Pure(10**9), ledger="memory:")


ASKED = [
    ("SELECT AVG(x) AS a FROM t WHERE x BETWEEN 0 AND 100", 50.0, "x lies in 0 to 100"),
    ("SELECT AVG(x) FILTER (WHERE x >= 0 AND x < 101) AS a FROM t", 50.0, "x lies in 0 to 100.9"),
    ("SELECT SUM(CASE WHEN x IN (3, 4) THEN x ELSE 0 END) AS a FROM t", 7.0, "x lies in 3 to 4"),
    ("SELECT AVG(y) AS a FROM (SELECT LN(x) AS y FROM t WHERE x BETWEEN 1 AND 1) AS u", 0.0, "y lies in 0 to 0"),
    (
        "SELECT AVG(DATE_DIFF('day', day, '2024-02-01')) AS a FROM t WHERE YEAR(day) = 2024",
        31.0,
        "day lies in 2024-01-01",
    ),
    (
        "SELECT AVG(m) AS a FROM (SELECT id, AVG(x) AS m FROM t WHERE x BETWEEN 0 AND 100 GROUP BY id)",
        50.0,
        "x lies in 0 to 100",
    ),
    (
        "SELECT AVG(m) AS a FROM (SELECT id, MAX(x) FILTER (WHERE x BETWEEN 3 AND 4) AS m FROM t GROUP BY id)",
        3.5,
        "x lies in 3 to 4",
    ),
]


@pytest.mark.parametrize(("text", "value", "said"), ASKED)
def test_conditions_bound_what_is_added_up(session: Session, text: str, value: float, said: str) -> None:
    assert said in str(session.explain(text, loss=sf.Pure(1)))
    assert session.sql(text, loss=sf.Pure(10**6)).value["a"].values[0] == pytest.approx(value, abs=0.01)


UNBOUNDED = ["x > 0", "x BETWEEN 0 AND 9 OR b", "x <> 3", "NOT (x BETWEEN 0 AND 9)", "x = x"]


@pytest.mark.parametrize("condition", UNBOUNDED)
def test_other_conditions_bound_nothing(session: Session, condition: str) -> None:
    with pytest.raises(QueryRefused, match="no bounds on its values"):
        session.sql(f"SELECT AVG(x) FROM t WHERE {condition}", loss=sf.Pure(1))
    with pytest.raises(QueryRefused, match="no bounds on its values"):
        session.sql(
            f"SELECT AVG(m) FROM (SELECT id, MAX(x) AS m FROM t WHERE {condition} GROUP BY id)", loss=sf.Pure(1)
        )


def test_powers_of_released_numbers_have_error_bars(session: Session) -> None:
    release = session.sql(
        "SELECT POWER(COUNT(*), 0.5) AS root, POWER(-COUNT(*), 0.5) AS none FROM t", loss=sf.Pure(10**6)
    )
    root, none = release.value["root"], release.value["none"]
    assert root.low is not None and root.high is not None
    assert root.values[0] == pytest.approx(202**0.5, abs=0.01) and root.low[0] <= 202**0.5 <= root.high[0]
    assert none.values[0] is None

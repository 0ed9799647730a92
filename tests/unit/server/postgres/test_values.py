"""Values, settings and statements of the PostgreSQL port, as pure functions."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sfumato.query.answer.shape import ShapedColumn
from sfumato.query.nodes.kinds import Kind as KindOfValue
from sfumato.release.answer import Answer as Table
from sfumato.release.answer import AnswerColumn, Role
from sfumato.server.postgres.answers import BOOL, DATE, FLOAT8, INT4, INT8, NUMERIC, TEXT, TIMESTAMP, TIMESTAMPTZ
from sfumato.server.postgres.faults import Fault
from sfumato.server.postgres.numerics import numeric_octets, numeric_value
from sfumato.server.postgres.replies import answered
from sfumato.server.postgres.statements import Kind, parted
from sfumato.server.postgres.values import octets_of, text_of, value_of
from sfumato.server.postgres.variables import Variables

TIMES = some.datetimes(datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31))
VALUES = some.one_of(
    some.tuples(some.just(INT8), some.integers(-(2**63), 2**63 - 1)),
    some.tuples(some.just(INT4), some.integers(-(2**31), 2**31 - 1)),
    some.tuples(some.just(FLOAT8), some.floats(allow_nan=False)),
    some.tuples(some.just(BOOL), some.booleans()),
    some.tuples(some.just(TEXT), some.text(some.characters(exclude_categories=["Cs"], exclude_characters="\0"))),
    some.tuples(some.just(DATE), some.dates()),
    some.tuples(some.just(TIMESTAMP), TIMES),
    some.tuples(some.just(1016), some.lists(some.one_of(some.none(), some.integers(-(2**63), 2**63 - 1)))),
)


@given(VALUES)
def test_what_is_written_is_read_again_in_both_forms(pair: tuple[int, Any]) -> None:
    oid, value = pair
    if isinstance(value, list):
        text: str | None = "{" + ",".join("NULL" if one is None else str(one) for one in value) + "}"
    else:
        text = text_of(value)
    assert text is not None
    assert value_of(oid, 0, text.encode(), 1) == value
    assert value_of(oid, 1, octets_of(oid, text), 1) == value


@given(some.decimals(allow_nan=False, allow_infinity=False, places=12, min_value=-(10**20), max_value=10**20))
def test_numbers_of_any_length(number: Decimal) -> None:
    assert numeric_value(numeric_octets(str(number))) == number


@given(some.binary(max_size=40))
def test_any_octets_are_a_number_or_none(octets: bytes) -> None:
    try:
        number = numeric_value(octets)
    except ValueError:
        return
    assert isinstance(number, Decimal)


def test_texts_as_postgresql_writes_them() -> None:
    """docs of PostgreSQL 15, 8.1.3, 8.5.1 and 8.6."""
    assert [text_of(value) for value in (True, False, None, math.nan)] == ["t", "f", None, None]
    assert [text_of(value) for value in (0.1, 1.0, math.inf, -math.inf, 1e300)] == [
        "0.1",
        "1",
        "Infinity",
        "-Infinity",
        "1e+300",
    ]
    zone = datetime.timezone(datetime.timedelta(hours=2))
    time = datetime.datetime(2026, 1, 2, 3, 4, 5, 600, tzinfo=zone)
    assert text_of(time) == "2026-01-02 01:04:05.000600+00"
    assert value_of(TIMESTAMPTZ, 0, b"2026-01-02 03:04:05+02", 1) == datetime.datetime(2026, 1, 2, 1, 4, 5)
    assert octets_of(DATE, "2000-01-02") == b"\0\0\0\1"
    assert octets_of(TIMESTAMP, "2000-01-01 00:00:01") == (1_000_000).to_bytes(8, "big")


@pytest.mark.parametrize(
    ("oid", "form", "octets"),
    [
        (INT8, 0, b"secret"),
        (INT4, 0, b"2147483648"),
        (INT8, 1, b"\0\0\0"),
        (BOOL, 0, b"secret"),
        (DATE, 0, b"2026-02-30"),
        (DATE, 1, b"\x7f\xff\xff\xff"),
        (TIMESTAMP, 1, b"\x7f" + b"\xff" * 7),
        (NUMERIC, 1, b"\0"),
        (NUMERIC, 0, b"9" * 1000),
        (TEXT, 0, b"\xff"),
        (TEXT, 0, b"a\0b"),
        (1016, 1, b"\0\0\0\1" + b"\0" * 8 + b"\x7f\xff\xff\xff\0\0\0\1"),
        (600, 0, b"(1,2)"),
    ],
)
def test_values_that_are_none_are_refused_and_not_shown(oid: int, form: int, octets: bytes) -> None:
    with pytest.raises(Fault) as caught:
        value_of(oid, form, octets, 7)
    assert caught.value.state in ("22P02", "22P03", "0A000")
    assert "secret" not in str(caught.value) + caught.value.hint


def test_an_answer_has_the_columns_that_were_described() -> None:
    shape = ShapedColumn("n", KindOfValue.INT, barred=True), ShapedColumn("m", KindOfValue.FLOAT)
    columns = (
        AnswerColumn("n", [1.0, None, 3.0], Role.VALUE, low=[0.5, None, -math.inf], high=[1.5, None, math.inf]),
        AnswerColumn("m", [1, math.nan, 2.5], Role.VALUE),
    )
    made = answered(Table(columns), shape, bounds=True)
    assert [(column.name, column.oid) for column in made.columns] == [
        ("n", INT8),
        ("n_low", FLOAT8),
        ("n_high", FLOAT8),
        ("m", FLOAT8),
    ]
    assert made.rows == (("1", "0.5", "1.5", "1"), (None, None, None, None), ("3", "-Infinity", "Infinity", "2.5"))
    with pytest.raises(Fault, match="no whole number"):
        answered(Table((AnswerColumn("n", [1.5], Role.VALUE),)), shape[:1], bounds=False)


def test_settings_of_a_transaction() -> None:
    said = Variables("ada", {"application_name": "tool", "sfumato.epsilon": "0.1"})
    said.begin()
    assert said.set("sfumato.epsilon", "0.2") == {}
    assert said.set("application_name", "other", local=True) == {"application_name": "other"}
    assert said.asked == {"epsilon": "0.2"}
    assert said.end(kept=True) == {"application_name": "tool"}
    assert said["sfumato.epsilon"] == "0.2"
    said.begin()
    said.set("sfumato.accuracy", "50")
    assert said.end(kept=False) == {}
    assert said.asked == {"epsilon": "0.2"}
    said.set("sfumato.accuracy", "50")
    assert said.asked == {"epsilon": "0.2", "accuracy": ["50", "0.95"]}
    said.reset()
    assert said.asked == {"epsilon": "0.1"}
    assert said.set("sfumato.epsilon", None) == {} and said.asked == {"epsilon": "0.1"}


@pytest.mark.parametrize(("text", "seconds"), [("0", 0), ("1500", 1.5), ("2s", 2), ("1 min", 60), ("200ms", 0.2)])
def test_times_of_settings(text: str, seconds: float) -> None:
    said = Variables("ada", {"statement_timeout": text})
    assert said.patience == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("", []),
        ("-- nothing", []),
        ("SELECT ';'; -- ; \n SELECT 1", [Kind.QUESTION, Kind.QUESTION]),
        ("(SELECT 1)", [Kind.QUESTION]),
        ("/* ; */ BEGIN ISOLATION LEVEL SERIALIZABLE; END", [Kind.BEGIN, Kind.COMMIT]),
        ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", [Kind.NOTHING]),
        ("ROLLBACK TO SAVEPOINT a; ABORT", [Kind.SAVEPOINT, Kind.ROLLBACK]),
        ("SHOW TABLES; SHOW TimeZone", [Kind.QUESTION, Kind.SHOW]),
        ("UNLISTEN *; DISCARD ALL; CLOSE ALL", [Kind.NOTHING, Kind.DISCARD, Kind.CLOSE]),
        ("COPY (SELECT (1)) TO STDOUT CSV HEADER", [Kind.COPY]),
        ("explain (analyze false, costs off) select 1", [Kind.EXPLAIN]),
    ],
)
def test_statements_and_their_kinds(text: str, kinds: list[Kind]) -> None:
    assert [statement.kind for statement in parted(text)] == kinds

"""Cells in the SQL of other databases: what is written, that it is theirs, and what is refused by name."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel
from tests.examples.elsewhere import BOOK, QUESTIONS, golden, written
from tests.reference.elsewhere import connection
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.query.engines.elsewhere.database import Database, even_of
from sfumato.query.engines.elsewhere.databases import DATABASES, SNOWFLAKE
from sfumato.query.engines.elsewhere.guarded_floats import GUARDED

EVERY = pytest.mark.parametrize("database", DATABASES, ids=lambda database: database.name)

THEIR_OWN = {
    "snowflake": {"HASH", "DAYOFWEEKISO"},
    "bigquery": {"SAFE_ADD", "SAFE_SUBTRACT", "SAFE_MULTIPLY"},
    "databricks": {"RINT", "XXHASH64", "TRY_DIVIDE"},
    "tsql": {"HASHBYTES", "DATALENGTH"},
    "clickhouse": {"SIPHASH64", "ROUNDBANKERS", "ACCURATECASTORNULL", "TOSTRING", "INTDIV", "SUBSTRINGUTF8", "TUPLE"},
    "trino": {"XXHASH64", "TO_UTF8", "INFINITY", "ROW"},
}
"""Functions that sqlglot has no name of its own for; each is in the documentation of its database."""

OURS = re.compile(r"HUGEINT|MATERIALIZED|TRY_CAST|FILTER\s*\(|SEMI JOIN|ANTI JOIN|unnest\(\[|start_of|any_text|\$\d")
"""Words of DuckDB, of our templates, and places of parameters: none of them may be left."""


def statements(database: Database, name: str) -> list[exp.Expr]:
    """The statements that are written for a question, as the database's own language reads them; none if refused."""
    text = golden(database.name, name).read_text(encoding="utf-8")
    parsed = sqlglot.parse(text, read=database.language, error_level=ErrorLevel.RAISE)
    return [one for one in parsed if one is not None and not isinstance(one, exp.Semicolon)]


@EVERY
@pytest.mark.parametrize("name", QUESTIONS)
def test_golden(database: Database, name: str) -> None:
    assert written(database.name, name) == golden(database.name, name).read_text(encoding="utf-8")


@EVERY
def test_what_is_written_is_in_the_words_of_the_database(database: Database) -> None:
    read = [one for name in QUESTIONS for one in statements(database, name)]
    assert len(read) >= 4
    for one in read:
        again = one.sql(database.language, unsupported_level=ErrorLevel.RAISE)
        assert not OURS.search(again), OURS.search(again)
        unknown = {found.name.upper() for found in one.find_all(exp.Anonymous)}
        assert unknown <= THEIR_OWN.get(database.name, set()), unknown


@EVERY
def test_it_says_that_it_must_not_be_published(database: Database) -> None:
    for name in QUESTIONS:
        text = golden(database.name, name).read_text(encoding="utf-8")
        head = text.partition("WITH")[0]
        assert text.startswith("-- refused: ") or (
            "without any noise" in head and "not to be published" in head and "written, not run here" in head
        )


@EVERY
def test_what_it_cannot_say_is_refused_by_name(database: Database) -> None:
    with pytest.raises(sf.errors.QueryRefused, match=f"like is not written for {database.title}"):
        sf.engines.compile_sql(
            "SELECT COUNT(*) FROM visits WHERE note LIKE 'a%'", BOOK, dialect=database.name, max_rows=1
        )


def test_months_and_days_of_weeks_are_asked_in_words_that_no_session_changes() -> None:
    text = "SELECT DATE_TRUNC('week', began) AS week, COUNT(*) AS n FROM visits GROUP BY week"
    made = {
        name: sf.engines.compile_sql(text, BOOK, dialect=name, max_groups=1, max_rows_per_group=1)
        for name in ("snowflake", "tsql")
    }
    assert "DAYOFWEEKISO" in made["snowflake"] and "ISO_WEEK" in made["tsql"]


def test_an_engine_that_runs_is_asked_what_is_shown() -> None:
    text = sf.engines.compile_sql("SELECT COUNT(*) FROM visits WHERE age > 17", BOOK, dialect="duckdb", max_rows=2)
    assert "For DuckDB: as it is asked, not run here." in text
    columns = "1 AS user_id, 20 AS age, NULL AS day, NULL AS note, NULL AS began, NULL AS minutes"
    connection().execute(f"CREATE OR REPLACE TABLE visits AS SELECT {columns} FROM range(5)")
    body = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    assert connection().execute(body).fetchall() == [(2,)]


def test_what_is_no_question_is_refused() -> None:
    with pytest.raises(sf.errors.BadArgument, match=r"dialect must be one of .*duckdb, .*snowflake"):
        sf.engines.compile_sql("SELECT COUNT(*) FROM visits", BOOK, dialect="oracle")
    with pytest.raises(sf.errors.QueryRefused, match="several questions at once"):
        sf.engines.compile_sql(
            "SELECT (SELECT COUNT(*) FROM visits) + (SELECT COUNT(*) FROM visits) AS n", BOOK, dialect="trino"
        )


def test_public_tables_are_given() -> None:
    days = {"columns": {"day": {"type": "str"}, "kind": {"type": "str"}}, "public": True}
    book = {**BOOK, "tables": {**BOOK["tables"], "days": days}}
    text = "SELECT COUNT(*) FROM visits JOIN days USING (day) WHERE kind = 'weekday'"
    with pytest.raises(sf.errors.BadArgument, match="public must be given for days"):
        sf.engines.compile_sql(text, book, dialect="trino")
    rows = {"day": ["Mon"], "kind": ["weekday"]}
    assert '"days"' in sf.engines.compile_sql(text, book, dialect="trino", public={"days": rows}, max_rows=1)


@pytest.mark.parametrize("name", ["with a format", "float ids"])
def test_columns_that_would_be_read_otherwise_are_refused(name: str) -> None:
    columns: dict[str, Any] = dict(BOOK["tables"]["visits"]["columns"])
    if name == "with a format":
        columns["began"] = {**columns["began"], "format": "%d/%m/%Y"}
    else:
        columns["user_id"] = {"type": "float"}
    book = {**BOOK, "tables": {"visits": {"columns": columns}}}
    with pytest.raises(sf.errors.QueryRefused, match=r"format or a sign|ids that are floats"):
        sf.engines.compile_sql(
            "SELECT COUNT(*) FROM visits WHERE began > '2026-02-01'", book, dialect="trino", max_rows=1
        )


def test_the_command(tmp_path: Path) -> None:
    book = tmp_path / "visits.yaml"
    book.write_text(
        "codebook: 1\ntitle: V\nunit: {protects: a visit}\ntables:\n  visits:\n    columns:\n      u: {type: int}\n"
    )
    asked = ["compile", "SELECT COUNT(*) AS n FROM visits", "--dialect", "snowflake"]
    runner = CliRunner()
    shown = runner.invoke(app, [*asked, "--codebook", str(book), "--unit", "u", "--max-rows", "2"])
    assert shown.exit_code == 0 and 'FROM "visits"' in shown.output and "u0" in shown.output
    assert runner.invoke(app, asked).exit_code == 2  # without a codebook nobody knows what is public


# Arithmetic that loses nothing.

FLOATS = (
    0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 1.0, 3.0, 1e-308, 5e-324, 4503599627370497.5, 2.0**53, 1e154,
    1.3407807929942597e154, 1.3407807929942596e154, -1e200, 8.98846567431158e307, 1.7976931348623157e308, -1e308,
)  # fmt: skip


def worked_out(template: str, *values: float) -> float | None:
    """What a template gives in DuckDB, which raises at nothing here."""
    filled = template.format(*(f"CAST('{value!r}' AS DOUBLE)" for value in values))
    found: float | None = connection().execute(f"SELECT {filled}").fetchone()[0]  # type: ignore[index]
    return found


def test_halves_are_rounded_to_the_even_one() -> None:
    template = even_of(SNOWFLAKE.words)
    assert [worked_out(template, value) for value in FLOATS] == [float(round(value)) for value in FLOATS]


@pytest.mark.parametrize("operator", ["add", "sub", "mul", "div"])
def test_what_is_no_float_is_missing_and_never_asked(operator: str) -> None:
    signs = {"add": float.__add__, "sub": float.__sub__, "mul": float.__mul__, "div": float.__truediv__}
    for one in FLOATS:
        for other in FLOATS:
            result = math.inf if operator == "div" and not other else signs[operator](one, other)
            expected = result if math.isfinite(result) else None
            assert worked_out(GUARDED[operator], one, other) == expected, (one, other)

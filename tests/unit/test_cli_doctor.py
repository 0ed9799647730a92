"""`sfumato doctor` says what is missing, and notices old packages, broken chance, wrong clocks and changed ledgers."""

from __future__ import annotations

import os
import sqlite3
import time
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner, Result

import sfumato as sf
from sfumato.cli import doctor as looked
from sfumato.cli.main import app


def told(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["doctor", *arguments], env={"COLUMNS": "200"})


def line(result: Result, about: str) -> str:
    return next(one for one in result.output.splitlines() if one[1:].strip().startswith(about))


def test_this_installation_is_fit() -> None:
    result = told()
    assert result.exit_code == 0 and "✗" not in result.output
    assert line(result, "sfumato").startswith("✓") and line(result, "extra sql").startswith("✓")


def test_what_is_not_installed_is_named_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    there = looked.installed_version

    def without(name: str) -> str:
        if name == "duckdb":
            raise PackageNotFoundError(name)
        return there(name)

    monkeypatch.setattr(looked, "installed_version", without)
    result = told()
    assert result.exit_code == 0
    assert line(result, "extra sql").startswith("–")
    assert "duckdb not installed: pip install 'sfumato[sql]'" in line(result, "extra sql")


def test_an_old_package_is_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    there = looked.installed_version
    monkeypatch.setattr(looked, "installed_version", lambda name: "1.9.7" if name == "duckdb" else there(name))
    result = told()
    assert result.exit_code == 1
    assert line(result, "extra sql").startswith("✗") and "1.9.7, but 2.0 or newer is needed" in result.output


@pytest.mark.parametrize("octets", [bytes, lambda count: bytes([0b1111_0000] * count), lambda count: b"\x01" * count])
def test_broken_chance_is_noticed(octets: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looked, "system", lambda: SimpleNamespace(octets=octets))
    result = told()
    assert result.exit_code == 1 and line(result, "entropy").startswith("✗")


def test_a_clock_before_the_installation_is_bad(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    newer = tmp_path / "doctor.py"
    newer.touch()
    os.utime(newer, (time.time() + 1e6,) * 2)
    monkeypatch.setattr(looked, "__file__", str(newer))
    assert line(told(), "clock").startswith("✗")


def test_a_ledger_is_read_to_its_end(tmp_path: Path) -> None:
    book = tmp_path / "book.db"
    data = sf.Dataset([1.0] * 20, name="scores", space=sf.vector(float, size=20))
    session = data.session(limit=sf.Pure(1), ledger=f"sqlite:///{book}")
    session.run(sf.clamp(0, 1) >> sf.mean() >> sf.laplace(), epsilon=0.5)
    session.ledger.close()
    assert line(told(str(book)), "ledger").startswith("✓")
    with sqlite3.connect(book) as connection:
        [(table,)] = connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'entr%' AND type = 'table'")
        for (trigger,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        last = connection.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0]
        connection.execute(f"DELETE FROM {table} WHERE rowid = {last - 1}")
    result = told(str(book))
    assert result.exit_code == 1 and line(result, "ledger").startswith("✗")


def test_a_ledger_that_is_not_there_is_bad_and_not_made(tmp_path: Path) -> None:
    result = told(str(tmp_path / "none.db"))
    assert result.exit_code == 1 and line(result, "ledger").startswith("✗")
    assert list(tmp_path.iterdir()) == []

"""Workers killed at every step of a job: one charge, at most one answer, and the next worker finishes it honestly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def kills(folder: Path, ledger: str, records: str, stride: int) -> list[dict[str, Any]]:
    """Runs the harness, and gives what it found after each kill."""
    (folder / "data").mkdir()
    command = [sys.executable, "-m", "tests.faults.killed_jobs", str(folder / "data"), ledger, records, str(stride)]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(found: list[dict[str, Any]], least: int, *, every: bool) -> None:
    assert not [one for one in found if one["faults"]]
    assert len(found) - 1 >= least
    assert found[-1]["done"]
    outcomes = {(one["state"], one["charged"]) for one in found}
    assert outcomes <= {("done", True), ("failed", True)}
    if every:  # some steps may all lie before the charge, or after the answer
        assert len(outcomes) == 2, "kills came before the charge, after it, and after the answer"


@pytest.mark.slow
@pytest.mark.parametrize("stride", [9, pytest.param(1, marks=pytest.mark.nightly)])
def test_killed_at_the_steps_of_a_job_sqlite(quick_folder: Path, stride: int) -> None:
    book, kept = f"sqlite:///{quick_folder / 'book.db'}", f"sqlite:///{quick_folder / 'records.db'}"
    check(kills(quick_folder, book, kept, stride), 45 // stride, every=stride == 1)


@pytest.mark.slow
@pytest.mark.parametrize("stride", [4, pytest.param(1, marks=pytest.mark.nightly)])
def test_killed_at_the_steps_of_a_job_postgres(quick_folder: Path, postgres_address: str, stride: int) -> None:
    check(kills(quick_folder, postgres_address, postgres_address, stride), 20 // stride, every=stride == 1)

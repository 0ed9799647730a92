"""Spark broken while a release is written: of every part one drawing is published, or none, and it is in the book."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HARNESS = Path(__file__).with_name("killed_spark.py")
FOLDERS = ["broken", "drawn", "local", "out"]

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="needs Java (scripts/debian-packages)"),
    pytest.mark.slow,
    pytest.mark.nightly,
]


def run(master: str, folder: Path, fault: str) -> dict[str, Any] | None:
    """Runs the harness; None where it was killed."""
    pytest.importorskip("pyspark", reason="needs pyspark")
    command = [sys.executable, str(HARNESS), master, str(folder), fault]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode == -9:
        return None
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def rows_of(table: dict[str, list[Any]]) -> dict[str, int]:
    return dict(zip(table["page"], table["n"], strict=True))


def is_one_drawing(rows: dict[str, int], drawn: dict[str, list[dict[str, list[Any]]]]) -> bool:
    """Tells whether of each part the rows of one attempt are there, whole, and no others."""
    seen: dict[str, int] = {}
    for attempts in drawn.values():
        kept: list[dict[str, int]] = [own for own in map(rows_of, attempts) if own.items() <= rows.items()]
        if not kept:
            return False
        longest: dict[str, int] = max(kept, key=len)
        seen.update(longest)
    return seen == rows


@pytest.mark.parametrize(
    ("master", "fault"),
    [("local[2,4]", "worker"), ("local-cluster[2,1,700]", "executor"), ("cluster", "slow"), ("cluster", "late")],
)
def test_one_attempt_of_each_part_is_published(master: str, fault: str, tmp_path: Path) -> None:
    """Attempts that die, with their executor or alone; and one so slow that Spark doubles it, while both draw."""
    found = run(master, tmp_path, fault)
    assert found is not None
    rows = rows_of(found["first"]["rows"])
    assert len(rows) == 40 and is_one_drawing(rows, found["drawn"])
    several = [attempts for attempts in found["drawn"].values() if len(attempts) > 1]
    assert several and all(rows_of(attempts[0]) != rows_of(attempts[1]) for attempts in several)  # two were drawn
    assert found["second"] == found["first"] and found["first"]["spent"] == 2
    assert found["names"] == FOLDERS  # and what the other attempts wrote is nowhere


def test_what_breaks_every_time_is_paid_and_leaves_nothing(tmp_path: Path) -> None:
    found = run("local[2,2]", tmp_path, "always")
    assert found is not None
    assert found["first"] == {"ended": "RunFailed", "rows": None, "spent": 2}
    assert found["second"] == {"ended": "PermitUsed", "rows": None, "spent": 2}
    assert found["names"] == ["drawn", "local"]


def test_a_driver_that_is_killed_before_the_book_has_the_release(tmp_path: Path) -> None:
    assert run("local[2]", tmp_path, "driver before the book") is None
    assert not (tmp_path / "out").exists()
    [staged] = tmp_path.glob(".out.*.staged")
    assert staged.stat().st_mode & 0o777 == 0o700 and (staged / "rows" / "_SUCCESS").exists()
    found = run("local[2]", tmp_path, "")
    assert found is not None and found["first"] == {"ended": "PermitUsed", "rows": None, "spent": 2}
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("when", ["book", "table"])
def test_a_driver_that_is_killed_afterwards(when: str, tmp_path: Path) -> None:
    assert run("local[2]", tmp_path, f"driver after the {when}") is None
    assert (tmp_path / "out").exists() == (when == "table")
    found = run("local[2]", tmp_path, "")
    assert found is not None and found["first"]["ended"] == "written" and found["first"]["spent"] == 2
    assert is_one_drawing(rows_of(found["first"]["rows"]), found["drawn"])
    assert all(len(attempts) == 1 for attempts in found["drawn"].values())  # nothing was drawn again

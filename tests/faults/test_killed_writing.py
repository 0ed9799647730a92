"""Writers of tables killed at every step: at most one version of a number is ever there, and it is in the book."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HARNESS = Path(__file__).with_name("killed_writing.py")


def kills(*words: object) -> list[dict[str, Any]]:
    """Runs the harness, and gives what it found after each kill."""
    done = subprocess.run(
        [sys.executable, str(HARNESS), *map(str, words)], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("stride", [4, pytest.param(1, marks=pytest.mark.nightly)])
def test_killed_at_every_step_of_writing(stride: int, quick_folder: Path) -> None:
    """Before the book has the release nothing is published, and a retry says that the charge was used; afterwards a
    retry publishes the rows that were kept."""
    found = kills(quick_folder, stride)
    assert not [one for one in found if one["faults"]]
    points, again = [one["point"] for one in found], [one["again"] for one in found]
    assert points[-1] == "" and again[0] and again[-1] and not all(again)
    broken = again.index(False)
    assert again == [not broken <= at < broken + again.count(False) for at in range(len(again))]
    if stride == 1:
        assert points.count("before __call__") == 3
        assert points[broken] == "before keep" and points[broken + again.count(False)] == "after keep_release"


@pytest.mark.slow
@pytest.mark.nightly
def test_the_harness_notices_who_publishes_before_the_book_has_it(quick_folder: Path) -> None:
    found = kills(quick_folder, 2, "publish_first")
    assert any(one["faults"] for one in found)

"""Who uses sfumato and checks types strictly is told what is wrong, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

OUTSIDE = Path(__file__).parents[1] / "examples" / "outside"


@pytest.mark.nightly
@pytest.mark.parametrize(("file", "faults"), [("right.py", 0), ("wrong.py", 3)])
def test_types_hold_from_outside(file: str, faults: int, tmp_path: Path) -> None:
    shutil.copy(OUTSIDE / file, tmp_path / file)
    order = [sys.executable, "-m", "mypy", "--strict", "--no-color-output", "--no-error-summary", file]
    checked = subprocess.run(order, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert len(checked.stdout.splitlines()) == faults, checked.stdout + checked.stderr

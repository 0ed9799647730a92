"""In CI a test may not be skipped for want of something: that would be a hole that looks like a pass."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
TESTS = """
import pytest

def test_passes(): pass
def test_wants(): pytest.skip("needs a database")
def test_waits(): pytest.skip("only on Sundays")

@pytest.mark.skipif(True, reason="needs a screen")
def test_marked(): pass
"""
WHOLE_FILE = """
import pytest

pytest.skip("needs a printer", allow_module_level=True)
"""


def outcome(folder: Path, *, in_ci: str, tests: str) -> str:
    """Gives the last line that pytest prints for a file of tests beside our conftest."""
    shutil.copy(CONFTEST, folder)
    (folder / "test_some.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    environment = os.environ | {"CI": in_ci, "PYTHONPATH": str(CONFTEST.parents[1])}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    return ran.stdout.splitlines()[-1].rpartition(" in ")[0]


@pytest.mark.parametrize(
    ("in_ci", "tests", "expected"),
    [
        ("true", TESTS, "1 failed, 1 passed, 1 skipped, 1 error"),
        ("", TESTS, "1 passed, 3 skipped"),
        ("true", WHOLE_FILE, "1 error"),
        ("", WHOLE_FILE, "1 skipped"),
    ],
    ids=["ci", "desk", "file-ci", "file-desk"],
)
def test_a_skip_that_needs_something_fails_in_ci(in_ci: str, tests: str, expected: str, tmp_path: Path) -> None:
    assert outcome(tmp_path, in_ci=in_ci, tests=tests) == expected

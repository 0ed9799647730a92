"""House rules of the tests themselves: what several of them need has a home that is no test."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [*sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "benchmarks").rglob("*.py"))]
TEST_MODULE = re.compile(r"(?:from|import)\s+(?:tests(?:\.\w+)*\.)?test_\w+|\btests(?:\.\w+)*\.test_\w+")
"""An import of a test module, as a program says it or as the name of a module."""


def borrowed(source: str) -> Iterator[str]:
    """Says which test modules a file imports, also in the programs that it holds as texts."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            named = [f"import {name.name}" for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            named = [f"import {node.module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and ".py" not in node.value:
            named = [node.value]
        else:
            continue
        if found := TEST_MODULE.search("\n".join(named)):
            yield f"line {node.lineno}: {found[0]}: what tests share lives in tests/examples or tests/reference"


def test_no_test_module_is_imported() -> None:
    others = [path for path in FILES if path != Path(__file__)]  # this one has examples of what it forbids
    faults = [f"{path.relative_to(ROOT)}, {fault}" for path in others for fault in borrowed(path.read_text())]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "source",
    [
        "from tests.laws.test_noise import EXAMPLES",
        "from tests.laws import test_noise as noise",
        "import tests.laws.test_noise",
        "import test_noise",
        "def late():\n    from tests.laws.test_noise import EXAMPLES",
        'PROGRAM = """\nimport sys\nfrom tests.laws.test_noise import race\n"""',
        'importlib.import_module("tests.laws.test_noise")',
    ],
)
def test_an_import_of_a_test_module_is_found(source: str) -> None:
    assert list(borrowed(source))


@pytest.mark.parametrize(
    "source",
    [
        "from tests.examples.noises import EXAMPLES",
        "from tests.reference import laws",
        'killers = ("tests/laws/test_noise.py::test_it",)',
        '"""Tests import tests in no way."""',
    ],
)
def test_other_imports_and_words_pass(source: str) -> None:
    assert not list(borrowed(source))

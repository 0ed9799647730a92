"""House rules of the tests themselves: what they share has a home that is no test; all of them obey the profile."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from tests.profiles import CI, DESK, NIGHTLY, examples

ROOT = Path(__file__).parents[2]
FILES = [*sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "benchmarks").rglob("*.py"))]
TEST_MODULE = re.compile(r"(?:from|import)\s+(?:tests(?:\.\w+)*\.)?test_\w+|\btests(?:\.\w+)*\.test_\w+")
"""An import of a test module, as a program says it or as the name of a module."""

TIMED = re.compile(r"assert\b[^\n]*\b(?:perf_counter|process_time|thread_time|monotonic|time)(?:_ns)?\(\)[^\n]*<")
STATED = re.compile(r"\bmax_examples\s*=\s*([\d_]+)")


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


def fixed(source: str) -> Iterator[str]:
    """Says where a number of hypothesis examples is stated that no profile can make smaller or larger."""
    for found in STATED.finditer(source):
        if int(found[1]) > DESK:
            yield f"line {source.count(chr(10), 0, found.start()) + 1}: say tests.profiles.examples(number)"


def timed(source: str) -> Iterator[str]:
    """Says where a test asserts how long something takes: on a busy machine it fails, and on a fast one it cannot."""
    for found in TIMED.finditer(source):
        yield f"line {source.count(chr(10), 0, found.start()) + 1}: count tests.examples.calls, or compare sizes"


@pytest.mark.parametrize(
    "check", [borrowed, fixed, timed], ids=["no test is imported", "examples obey the profile", "nothing is timed"]
)
def test_in_every_file(check: Callable[[str], Iterator[str]]) -> None:
    others = [path for path in FILES if path != Path(__file__)]  # this one has examples of what it forbids
    faults = [f"{path.relative_to(ROOT)}, {fault}" for path in others for fault in check(path.read_text())]
    assert not faults, "\n".join(faults)


def test_fixed_numbers_of_examples_are_found() -> None:
    assert list(fixed("@settings(max_examples=100)\ndef test(): ..."))
    assert not list(fixed("@settings(max_examples=examples(100))\ndef test(): ..."))
    assert not list(fixed("@settings(max_examples=10)\ndef test(): ..."))


def test_assertions_about_time_are_found() -> None:
    assert list(timed("assert time.perf_counter() - start < 5"))
    assert list(timed("    assert 9 > 2 and time.process_time() - start < 2 and done"))
    assert not list(timed("assert time.perf_counter_ns() - before >= 2_000_000"))  # that it waits is what it says
    assert not list(timed("end = time.process_time() + seconds"))


@pytest.mark.parametrize(
    ("profile", "usual", "shares"),
    [
        ("desk", DESK, {3000: 200, 300: 20, 30: 20, 10: 10}),
        ("ci", CI, {3000: 300, 300: 30, 150: 20, 30: 20, 10: 10}),
        ("nightly", NIGHTLY, {3000: 3000, 300: 300, 30: 30, 10: 10}),
    ],
)
def test_profiles_try_their_share(profile: str, usual: int, shares: dict[int, int]) -> None:
    before = settings.get_current_profile_name()
    try:
        settings.load_profile(profile)
        assert settings().max_examples == usual
        assert {number: examples(number) for number in shares} == shares
    finally:
        settings.load_profile(before)


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

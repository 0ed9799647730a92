"""The pages of coverage say what is: every id of the specification once, places and tests that exist, cited cases."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
TESTS, PACKAGE, DOCS = ROOT / "tests", ROOT / "src" / "sfumato", ROOT / "docs"
FRONT = DOCS / "coverage.md"
PAGES = tuple(DOCS / f"coverage_{part}.md" for part in (1, 2, 3))

SIZES = {"P1": 203, "A1": 167, "P2": 110, "A2": 72, "P3": 160, "A3": 111}
"""How many requirements (P) and acceptance cases (A) each part of the specification numbers, from 001 on."""

STATES = ("done", "partly", "in work", "not built")
ROW = re.compile(r"^\| ([AP]\d-\d+) \| (.*) \| (.*) \| (.*) \| (.*) \|$", re.MULTILINE)
ID = re.compile(r"(?<![A-Za-z0-9])([AP][123])[-_](\d{3})(?!\d)")
RANGE = re.compile(r"(?<![A-Za-z0-9])([AP][123])[-_](\d{3})_to_(?:\1[-_])?(\d{3})(?!\d)")
QUOTED, LINKED = re.compile(r"`([^`]+)`"), re.compile(r"\]\(([^)#]+)[^)]*\)")


class Line(NamedTuple):
    """One id: what it is, where it lives, the tests that prove it, and its state."""

    name: str
    what: str
    where: str
    proved: str
    state: str

    @property
    def places(self) -> list[str]:
        return [*QUOTED.findall(self.where), *LINKED.findall(self.where)]

    @property
    def tests(self) -> list[str]:
        return QUOTED.findall(self.proved)

    @property
    def kind(self) -> str:
        return re.split(r"[:(]", self.state)[0].strip()


def lines_of(text: str) -> list[Line]:
    return [Line(*found) for found in ROW.findall(text)]


def cited_in(text: str) -> set[str]:
    """The ids that a text names, also as A1_137_to_139."""
    single = {f"{part}-{number}" for part, number in ID.findall(text)}
    ranges = {
        f"{part}-{number:03d}" for part, low, high in RANGE.findall(text) for number in range(int(low), int(high) + 1)
    }
    return single | ranges


@cache
def functions_of(path: Path) -> dict[str, str]:
    """The tests of a file, with what each says from its decorators to its last line."""
    source = path.read_text(encoding="utf-8")
    lines, found = source.splitlines(), {}
    for node in ast.parse(source).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        for one in inside:
            if isinstance(one, ast.FunctionDef) and one.name.startswith("test_"):
                name = f"{node.name}::{one.name}" if isinstance(node, ast.ClassDef) else one.name
                first = min([one.lineno, *(decorator.lineno for decorator in one.decorator_list)])
                found[name] = "\n".join(lines[first - 1 : one.end_lineno])
    return found


def said_by(test: str) -> str | None:
    """The text of a test, such as ``unit/test_metrics.py::test_A1_012_scores``; None if there is no such test."""
    file, _, name = test.partition("::")
    return functions_of(TESTS / file).get(name) if (TESTS / file).is_file() else None


def id_faults(lines: Iterable[Line]) -> Iterator[str]:
    expected = Counter(f"{part}-{number:03d}" for part, size in SIZES.items() for number in range(1, size + 1))
    listed = Counter(line.name for line in lines)
    yield from (f"{name} is not listed" for name in expected - listed)
    yield from (f"{name} is listed, and should not be, or not twice" for name in listed - expected)


def place_faults(line: Line) -> Iterator[str]:
    for place in line.places:
        if not (DOCS / place if place.endswith(".md") else PACKAGE / place).exists():
            yield f"{line.name}: there is no {place}"
    yield from (f"{line.name}: there is no test {test}" for test in line.tests if said_by(test) is None)


def state_faults(line: Line) -> Iterator[str]:
    if line.kind not in STATES:
        yield f"{line.name}: {line.state} is no state"
    if line.kind == "done" and not (line.tests and line.places):
        yield f"{line.name}: what is done has a place and a test"
    if line.kind != "done" and len(line.state.partition(":")[2].split()) < 4:
        yield f"{line.name}: what is not done says what is missing, or why"
    if not line.what.strip():
        yield f"{line.name}: says nothing of what it is"


def citation_faults(line: Line) -> Iterator[str]:
    """Which tests of a case that is done do not name the case."""
    if line.name.startswith("A") and line.kind == "done":
        for test in line.tests:
            if line.name not in cited_in(said_by(test) or ""):
                yield f"{line.name}: {test} does not name it"


def faults(lines: list[Line]) -> list[str]:
    every = [fault for line in lines for rule in (place_faults, state_faults, citation_faults) for fault in rule(line)]
    return [*id_faults(lines), *every]


EVERY = [line for page in PAGES for line in lines_of(page.read_text(encoding="utf-8"))]


def test_the_pages_are_right() -> None:
    assert faults(EVERY) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_row_of_every_table_is_read(page: Path) -> None:
    """A row with a bar too many or an id that is spelled wrongly would be passed over."""
    text = page.read_text(encoding="utf-8")
    rows = [row for row in text.splitlines() if row.startswith("| ") and not row.startswith("| id ")]
    assert len(rows) == len(lines_of(text)) and {line.name[1] for line in lines_of(text)} == {page.stem[-1]}


def test_the_front_page_counts_them() -> None:
    stated = re.findall(r"^\| ([AP]\d) \|.*?((?: \d+ \|)+)$", FRONT.read_text(encoding="utf-8"), re.MULTILINE)
    counted = Counter((line.name[:2], line.kind) for line in EVERY)
    assert {part: [int(number) for number in re.findall(r"\d+", numbers)] for part, numbers in stated} == {
        part: [counted[part, state] for state in STATES] for part in SIZES
    }


def test_no_test_names_a_case_that_there_is_not() -> None:
    known = {line.name for line in EVERY}
    strange = {
        f"{path.relative_to(TESTS)}::{name} names {wrong}"
        for path in TESTS.rglob("test_*.py")
        if path != Path(__file__)
        for name, text in functions_of(path).items()
        for wrong in cited_in(text) - known
    }
    assert strange == set()


RIGHT = "| A1-001 | a distance | `core/metrics.py` | `unit/test_metrics.py::test_A1_001_multiplicity_counts` | done |"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (RIGHT.replace("A1-001 |", "A1-999 |"), "A1-999 is listed, and should not be"),
        (RIGHT + "\n" + RIGHT, "A1-001 is listed, and should not be, or not twice"),
        (RIGHT.replace("core/metrics.py", "core/metric.py"), "there is no core/metric.py"),
        (RIGHT.replace("`core/metrics.py`", "[a page](nowhere.md#here)"), "there is no nowhere.md"),
        (RIGHT.replace("counts`", "count`"), "there is no test unit/test_metrics.py::test_A1_001_multiplicity_count"),
        (RIGHT.replace("unit/test_metrics.py", "unit/test_metric.py"), "there is no test unit/test_metric.py"),
        (RIGHT.replace("test_A1_001_multiplicity_counts", "test_A1_012_scores"), "does not name it"),
        (RIGHT.replace("done |", "finished |"), "finished is no state"),
        (RIGHT.replace("done |", "partly |"), "says what is missing"),
        (RIGHT.replace("`unit/test_metrics.py::test_A1_001_multiplicity_counts`", "–"), "has a place and a test"),
        (RIGHT.replace("a distance", ""), "says nothing of what it is"),
    ],
)
def test_a_wrong_line_is_noticed(wrong: str, said: str) -> None:
    assert [fault for fault in faults(lines_of(wrong)) if said in fault]


def test_a_right_line_passes_and_all_others_are_missed() -> None:
    found = faults(lines_of(RIGHT))
    assert len(found) == sum(SIZES.values()) - 1 and set(found) >= {"A1-002 is not listed", "P3-160 is not listed"}


def test_ids_are_read_in_names_words_and_ranges() -> None:
    assert cited_in("test_A1_137_to_139_noise, A3_095_to_A3_096; A1-001 and P3_112, not XA1_002 or A1_0031") == {
        *("A1-137", "A1-138", "A1-139", "A3-095", "A3-096", "A1-001", "P3-112"),
    }

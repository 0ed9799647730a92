"""The pages say all there is: every public name has its line, every link leads somewhere, every page is linked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.examples.public import public_names

import sfumato

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")), *DOCS]
ROW = re.compile(r"^\| `([\w.]+)` \| (.+) \|$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)]+)\)")
PUBLIC = re.compile(r"\bsf((?:\.\w+)+)")
CODE = re.compile(r"```python\n.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def rows(text: str) -> list[str]:
    """The names that the tables of a page describe."""
    return [name for name, _ in ROW.findall(text)]


def unknown(text: str) -> set[str]:
    """What the code of a page calls ``sf.…`` and is not there."""
    return {found for code in CODE.findall(text) for found in PUBLIC.findall(code) if not exists(found)}


def exists(dotted: str) -> bool:
    """Tells whether ``sf`` has a public name, and that what follows it."""
    first, *rest = dotted.strip(".").split(".")
    found: object = getattr(sfumato, first, None) if first in sfumato.__all__ else None
    for name in rest:
        found = getattr(found, name, None)
    return found is not None


def test_every_public_name_is_in_the_reference_once() -> None:
    listed = rows((ROOT / "docs" / "reference.md").read_text(encoding="utf-8"))
    at_the_top = {id(getattr(sfumato, name)) for name in sfumato.__all__}
    expected = {name for name, thing in public_names() if "." not in name or id(thing) not in at_the_top}
    assert (expected | set(sfumato.__all__)) - set(listed) == set()
    assert len(listed) == len(set(listed)) and [name for name in listed if not exists(name)] == []


def test_few_names_are_at_the_top() -> None:
    assert len(sfumato.__all__) <= 145  # 142, and plan, wanted and planning: where most people begin


def test_a_missing_line_is_noticed() -> None:
    assert rows("| `laplace` | Adds noise. |\n| gaussian | Adds noise. |\n") == ["laplace"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    prose = CODE.sub("", page.read_text(encoding="utf-8"))
    targets = [link.partition("#")[0] for link in LINK.findall(prose)]
    assert [link for link in targets if "://" not in link and not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_on_the_pages_exist(page: Path) -> None:
    assert unknown(page.read_text(encoding="utf-8")) == set()


def test_a_name_that_does_not_exist_is_noticed() -> None:
    assert unknown("`sf.laplace(1)`, `sf.laplase(1)`, `sf.noise.Nothing`") == {".laplase", ".noise.Nothing"}


def test_every_chart_is_among_the_pictures() -> None:
    page = (ROOT / "docs" / "plots.md").read_text(encoding="utf-8")
    drawn = set(re.findall(r"\bcharts\.(\w+)", page))
    assert set(sfumato.charts.__all__) - {"Chart"} - drawn == set()


def test_every_page_is_linked_from_the_index() -> None:
    linked = set(LINK.findall((ROOT / "docs" / "index.md").read_text(encoding="utf-8")))
    assert {page.name for page in DOCS} - {"index.md"} <= linked


def test_every_algorithm_is_on_its_page() -> None:
    page = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    named = set(re.findall(r"sf\.stats\.(\w+)", page))
    functions = {name for name in sfumato.stats.__all__ if not isinstance(getattr(sfumato.stats, name), type)}
    assert functions - named - {"log_bands"} == set()  # a transformation, which the reference has

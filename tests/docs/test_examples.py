"""Every example runs: the Python blocks of the pages, and the doctests of the package.

The blocks of one page run in order in one namespace, as a reader would type them.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest
from scripts.site.blocks import blocks, write_files

import sfumato

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(sfumato.__path__, "sfumato.")
    if not module.name.endswith("__main__")
)


def run_block(source: str, namespace: dict[str, object], name: str, line: int) -> None:
    """Runs one block; a block of prompts is a doctest, so its output is compared."""
    if ">>>" in source:
        test = doctest.DocTestParser().get_doctest(source, namespace, name, name, line)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
        report: list[str] = []
        runner.run(test, out=report.append, clear_globs=False)
        assert not runner.failures, "".join(report)
        namespace.update(test.globs)
    else:
        tree = ast.parse(source, name)
        exec(compile(ast.increment_lineno(tree, line), name, "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(page.read_text(), tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page.read_text()):
        run_block(block.source, namespace, str(page.relative_to(ROOT)), block.line)


def test_the_readme_has_a_tour_of_twenty_lines() -> None:
    tour, *_ = blocks((ROOT / "README.md").read_text())
    assert "import sfumato as sf" in tour.source
    assert len([line for line in tour.source.splitlines() if line.strip()]) <= 20


def doctest_faults(modules: Iterable[ModuleType]) -> list[str]:
    """Gives what the examples of modules print and should not; doctest names the module and the line of each."""
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    for module in modules:
        for found in doctest.DocTestFinder().find(module, module.__name__):
            runner.run(found, out=report.append)
    return report


@pytest.mark.parametrize("part", sorted({name.split(".")[1] for name in MODULES}))
def test_doctests(part: str) -> None:
    faults = doctest_faults(importlib.import_module(name) for name in MODULES if name.split(".")[1] == part)
    assert not faults, "".join(faults)


def test_a_wrong_doctest_is_noticed_and_named() -> None:
    wrong, right = ModuleType("sfumato.wrong", ">>> 1 + 1\n3\n"), ModuleType("sfumato.right", ">>> 1 + 1\n2\n")
    assert not doctest_faults([right])
    assert "sfumato.wrong" in "".join(doctest_faults([right, wrong, right]))


def test_a_wrong_example_is_noticed() -> None:
    with pytest.raises(AssertionError):
        run_block(">>> 1 + 1\n3\n", {}, "page", 1)
    with pytest.raises(ZeroDivisionError):
        run_block("1 / 0\n", {}, "page", 1)

"""The site and the notebooks are made of the pages: none is left out, no link is lost, every notebook runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.site import docstrings, layout, links, names, notebooks, proofs

import sfumato as sf

ROOT = Path(__file__).parents[2]
DOCS = [page.stem for page in (ROOT / "docs").glob("*.md")]


def test_every_page_is_in_the_menu_once() -> None:
    found = [page for page in layout.every_page(layout.navigation(DOCS, [], [])) if page.startswith("docs/")]
    assert sorted(found) == sorted(f"docs/{name}.md" for name in DOCS)


def test_a_page_without_a_place_is_noticed() -> None:
    with pytest.raises(SystemExit, match=r"docs/of_nowhere\.md"):
        layout.navigation([*DOCS, "of_nowhere"], [], [])


def test_every_claim_stands_below_its_proof() -> None:
    found = proofs.claims()
    shown = {page.name: proofs.with_code(page.name, page.read_text(), found) for page in (ROOT / "proofs").glob("*.md")}
    for proof, listed in found.items():
        page = proof.removeprefix("proofs/").partition("#")[0]
        assert all(f'<a id="code-{one.name}"></a>' in shown[page] for one in listed)
    table = proofs.index(found)
    assert all(f"#code-{one.name})" in table for listed in found.values() for one in listed)


def test_brackets_of_formulas_are_no_links() -> None:
    assert proofs.as_mathematics("[x = a](1 − p) and [x][y]") == r"[x = a\](1 − p) and [x\][y]"
    assert proofs.as_mathematics("see [law](discrete_laplace.md#law)") == "see [law](discrete_laplace.md#law)"


def test_every_name_of_the_reference_has_an_entry() -> None:
    reference = (ROOT / "docs" / "reference.md").read_text()
    pages = "".join(names.pages(reference).values())
    told = [name for name in names.listed(reference) if names.home(name) is not None]
    assert len(told) > 200 and [name for name in told if f"## `sf.{name}` " not in pages] == []
    assert " at 0x" not in pages


def test_an_entry_has_signature_parts_examples_and_proof() -> None:
    entry = docstrings.entry("laplace", sf.laplace)
    assert entry.startswith("```python\nlaplace(") and "scale: Number" in entry
    assert "- **Guarantee**: " in entry and "](../proofs/additive.md#laplace)" in entry and "```pycon\n>>> " in entry


def test_lost_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#here">1</a><a href="b.html#there">2</a><a href="c.html">3</a>')
    (tmp_path / "b.html").write_text('<p id="here"></p><script src="https://example.org/x.js"></script>')
    assert links.broken(tmp_path) == ["a.html: b.html#there", "a.html: c.html"]
    assert links.fetched(tmp_path) == ["b.html: https://example.org/x.js"]


def runs(page: Path, folder: Path) -> None:
    """Runs the notebook of a page as Jupyter would."""
    client, formats = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    made = formats.reads(json.dumps(notebooks.notebook(page.read_text())), as_version=4)
    formats.validate(made)
    client.NotebookClient(made, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    assert any(cell.get("outputs") for cell in made.cells)


# What Jupyter's packages warn of among themselves is no fault of a notebook.
@pytest.mark.filterwarnings("ignore")
def test_a_notebook_runs(tmp_path: Path) -> None:
    runs(ROOT / "docs" / "classroom.md", tmp_path)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", notebooks.chosen(), ids=lambda page: page.stem)
def test_every_notebook_runs(page: Path, tmp_path: Path) -> None:
    runs(page, tmp_path)


@pytest.mark.nightly
def test_the_site_is_built_without_a_lost_link() -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    order = [sys.executable, str(ROOT / "scripts" / "site"), "--fast"]
    built = subprocess.run(order, capture_output=True, text=True, env=environment, check=False)
    assert built.returncode == 0 and "broken_links=0" in built.stdout, built.stdout + built.stderr

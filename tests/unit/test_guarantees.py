"""Every claim was reviewed as it is written, has its proof, and no proof is orphaned."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import sfumato
from sfumato.guarantee import GUARANTEES, Guarantee, fingerprint

ROOT = Path(__file__).parents[2]
ANCHOR = re.compile(r"^#{1,6} .*\{#([\w-]+)\}\s*$", re.MULTILINE)


def every_guarantee() -> list[Guarantee]:
    for module in pkgutil.walk_packages(sfumato.__path__, "sfumato."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return [GUARANTEES[name] for name in sorted(GUARANTEES)]


def anchors(page: Path) -> set[str]:
    return set(ANCHOR.findall(page.read_text()))


EVERY = every_guarantee()


def test_there_are_guarantees() -> None:
    assert EVERY


@pytest.mark.parametrize("guarantee", EVERY, ids=lambda guarantee: guarantee.name)
def test_code_is_what_was_reviewed(guarantee: Guarantee) -> None:
    now = fingerprint(guarantee.function)
    assert now == guarantee.reviewed, (
        f"{guarantee.name} changed after its proof was reviewed: read {guarantee.proof} again, then sign {now}"
    )


@pytest.mark.parametrize("guarantee", EVERY, ids=lambda guarantee: guarantee.name)
def test_proof_exists(guarantee: Guarantee) -> None:
    page, _, anchor = guarantee.proof.partition("#")
    assert page.startswith("proofs/"), f"{guarantee.name} names {page}, which is not in proofs/"
    assert (ROOT / page).is_file(), f"{guarantee.name} names {page}, which does not exist"
    assert anchor in anchors(ROOT / page), f"{page} has no heading {{#{anchor}}}, which {guarantee.name} names"
    assert guarantee.claim.strip()


def test_every_page_is_named_by_code() -> None:
    named = {guarantee.proof.partition("#")[0] for guarantee in EVERY}
    pages = {str(path.relative_to(ROOT)) for path in (ROOT / "proofs").rglob("*.md") if path.name != "README.md"}
    assert not pages - named, "these proofs prove nothing that runs: name them in a @guarantee, or remove them"


def test_logic_moves_the_fingerprint_and_prose_does_not() -> None:
    def plain(scale: int) -> int:
        return 2 * scale

    before = fingerprint(plain)

    def plain(scale: int) -> int:  # type: ignore[no-redef]
        """Says more than before."""
        # and more still
        return 2 * scale

    assert fingerprint(plain) == before

    def plain(scale: int) -> int:  # type: ignore[no-redef]
        return 3 * scale

    assert fingerprint(plain) != before


def test_every_proof_that_is_named_anywhere_exists() -> None:
    """Docstrings, contributors' pages and the proofs themselves point at headings that are there."""
    files = [
        *(ROOT / "src").rglob("*.py"),
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "proofs").glob("*.md"),
    ]
    named = re.compile(r"(?:proofs/)?(\w+)\.md#([\w-]+)")
    pages = {page.stem: anchors(page) for page in (ROOT / "proofs").glob("*.md")}
    missing = [
        f"{file.name}: {found[0]}"
        for file in files
        for found in named.finditer(file.read_text(encoding="utf-8"))
        if found[1] in pages or "proofs/" in found[0]
        if found[2] not in pages.get(found[1], set())
    ]
    assert missing == []

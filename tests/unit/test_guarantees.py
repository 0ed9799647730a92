"""Every claim was reviewed as it is written, has its proof, and no proof is orphaned."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
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


@cache
def anchors(page: Path) -> set[str]:
    return set(ANCHOR.findall(page.read_text()))


EVERY = every_guarantee()


def test_there_are_guarantees() -> None:
    assert EVERY


def review_faults(guarantee: Guarantee) -> Iterator[str]:
    """Says whether the code of a claim is what was reviewed."""
    now = fingerprint(guarantee.function)
    if now != guarantee.reviewed:
        yield f"{guarantee.name} changed after its proof was reviewed: read {guarantee.proof} again, then sign {now}"


def proof_faults(guarantee: Guarantee) -> Iterator[str]:
    """Says what is missing of the proof that a claim names."""
    page, _, anchor = guarantee.proof.partition("#")
    if not page.startswith("proofs/"):
        yield f"{guarantee.name} names {page}, which is not in proofs/"
    elif not (ROOT / page).is_file():
        yield f"{guarantee.name} names {page}, which does not exist"
    elif anchor not in anchors(ROOT / page):
        yield f"{page} has no heading {{#{anchor}}}, which {guarantee.name} names"
    if not guarantee.claim.strip():
        yield f"{guarantee.name} claims nothing"


@pytest.mark.parametrize("check", [review_faults, proof_faults], ids=["code is what was reviewed", "it has a proof"])
def test_of_every_claim(check: Callable[[Guarantee], Iterator[str]]) -> None:
    faults = [fault for guarantee in EVERY for fault in check(guarantee)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"reviewed": "0" * 12}, "read proofs/additive.md"),
        ({"proof": "docs/index.md#laplace"}, "not in proofs/"),
        ({"proof": "proofs/nothing.md#laplace"}, "does not exist"),
        ({"proof": "proofs/additive.md#nothing"}, "no heading {#nothing}"),
        ({"proof": "proofs/additive.md"}, "no heading {#}"),
        ({"claim": " "}, "claims nothing"),
    ],
)
def test_a_claim_without_review_or_proof_is_found(change: dict[str, str], said: str) -> None:
    sound = next(guarantee for guarantee in EVERY if guarantee.proof == "proofs/additive.md#laplace")
    assert not [*review_faults(sound), *proof_faults(sound)]
    wrong = replace(sound, **change)
    [fault] = [*review_faults(wrong), *proof_faults(wrong)]
    assert said in fault


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
        if "proofs/" in found[0] or (found[1] in pages and file.parent.name != "docs")  # pages have the same names
        if found[2] not in pages.get(found[1], set())
    ]
    assert missing == []

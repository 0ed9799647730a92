"""How the site is laid out: what people want, in the order in which they want it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

Section: TypeAlias = "dict[str, list[str | Section]]"

START = ["quickstart", "tour", "guide", "glossary", "plots"]
HOW_TO = [
    "how_to",
    "planning",
    "sql",
    "codebook",
    "ledger",
    "register",
    "adaptive",
    "releases",
    "templates",
    "algorithms",
    "models",
    "training",
    "synthetic",
    "synthetic_quality",
    "neural_synthesis",
    "engines",
    "scale",
    "service",
    "server",
    "postgres_port",
    "pages",
    "coming_from_libraries",
    "coming_from_accountants",
]
LOCAL = [
    "local",
    "local_numbers",
    "local_again",
    "local_several",
    "local_collecting",
    "local_open",
    "local_surveys",
    "local_places",
]
UNDERSTAND = ["meaning", "pitfalls", "accounting", "combinators", "semantics", "attacks", "audit", "architecture"]
BOOKS = ["classroom", "descent", "synthetic_book", "local_pictures"]

PAGES: tuple[tuple[str, list[str]], ...] = (
    ("Start", START),
    ("How to", HOW_TO),
    ("Local privacy", LOCAL),
    ("Understand", UNDERSTAND),
    ("The books' tour", BOOKS),
)
"""Sections and their pages, by the name of the file in docs/ without its ending."""

PREFIXES = (("how_to_", "How to"), ("tour_", "The books' tour"), ("coverage", "Reference"))
"""Pages whose names begin so belong to a section without being listed."""

APART = {"index", "reference"}
"""Pages that have a place of their own."""


def section_of(name: str) -> str | None:
    """The section of a page, if it has one."""
    listed = [title for title, names in PAGES if name in names]
    return next(iter(listed + [title for prefix, title in PREFIXES if name.startswith(prefix)]), None)


def navigation(names: list[str], proofs: list[str], code: list[str]) -> list[Any]:
    """The menu: every page of docs/ once, the proofs, and the reference."""
    known = set(names)
    sections: dict[str, list[Any]] = {title: [] for title, _ in PAGES} | {"Reference": ["docs/reference.md"]}
    for title, listed in PAGES:
        sections[title] += [f"docs/{name}.md" for name in listed if name in known]
    in_lists = {name for _, listed in PAGES for name in listed}
    for name in sorted(known - in_lists - APART):
        title = section_of(name)
        if title is None:
            raise SystemExit(f"docs/{name}.md has no place in the menu: give it one in scripts/site/layout.py")
        sections[title].append(f"docs/{name}.md")
    sections["Start"].insert(0, "docs/index.md")
    sections["Understand"] += ["SECURITY.md", {"Proofs": ["proofs/index.md", *proofs]}]
    sections["Reference"] += [*code, "CHANGELOG.md", "ROADMAP.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md"]
    return [{"sfumato": "index.md"}, *({title: pages} for title, pages in sections.items() if pages)]


def every_page(menu: list[Any]) -> Iterator[str]:
    """The files that a menu names."""
    for entry in menu:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict):
            for below in entry.values():
                yield from every_page(below if isinstance(below, list) else [below])

"""The page of engines says what the engines are: its table is made from the code, and its sections are theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sfumato.errors import MissingExtra
from sfumato.query.engines.protocol import Engine, Opener
from sfumato.query.engines.registry import ENGINES, EngineEntry

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "engines.md"
HEAD = ("| `engine=` | opens by itself | settings | lacks |", "|---|---|---|---|")
TABLE = re.compile(r"(?<=^<!-- engines -->\n).*?(?=^<!-- /engines -->$)", re.MULTILINE | re.DOTALL)


def loaded(entry: EngineEntry) -> Opener | None:
    """The opener of an engine; none where what it is made of is not installed."""
    try:
        return entry.load()
    except (ImportError, MissingExtra):
        return None


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def opened(entry: EngineEntry) -> str:
    """What an engine opens unless another one is named."""
    claimed = {
        "addresses": [f"{scheme}://" for scheme in entry.schemes],
        "files": entry.suffixes,
        "objects of": entry.packages,
    }
    parts = [f"{what} {listed(names)}" for what, names in claimed.items() if names]
    return "; ".join([*parts, *(["what no other claims"] if entry is ENGINES[-1] else [])]) or "what is given to it"


def settings(opener: Opener) -> str:
    """The settings of an engine, as they are written."""
    if not is_dataclass(opener):
        return "none"
    return f"`{type(opener).__name__}({', '.join(f'{one.name}=' for one in fields(opener))})`"


def row(entry: EngineEntry, opener: Opener) -> str:
    """The line of an engine."""
    lacks = listed(opener.makes.lacks) or "nothing"
    return f"| `{entry.name}` | {opened(entry)} | {settings(opener)} | {lacks} |"


def of_page(page: str) -> list[str]:
    """The lines of the table on a page."""
    found = TABLE.search(page)
    return [] if found is None else found[0].splitlines()


def faults(lines: list[str]) -> list[str]:
    """The lines that must be on the page and are not, and those that must not be."""
    rows = {entry.name: row(entry, opener) for entry in ENGINES if (opener := loaded(entry)) is not None}
    must = [*HEAD, *rows.values()]
    known = {f"| `{entry.name}` |" for entry in ENGINES if entry.name not in rows}
    more = [line for line in lines if line not in must and not any(line.startswith(one) for one in known)]
    return [f"missing: {line}" for line in must if line not in lines] + [f"too many: {line}" for line in more]


def test_the_table_is_that_of_the_code() -> None:
    found = faults(of_page(PAGE.read_text(encoding="utf-8")))
    assert not found, "\n".join(["the table of docs/engines.md must be as follows:", *found])


def test_a_stale_table_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = of_page(PAGE.read_text(encoding="utf-8"))
    engine = next(opener.makes for entry in ENGINES if (opener := loaded(entry)) is not None)
    monkeypatch.setattr(engine, "lacks", frozenset({"like"}))
    assert [fault.partition(":")[0] for fault in faults(lines)] == ["missing", "too many"]
    assert faults([*HEAD]) and not any("like" in line for line in lines)


def test_every_engine_says_what_it_makes() -> None:
    for entry in ENGINES:
        opener = loaded(entry)
        if opener is not None:
            assert issubclass(opener.makes, Engine) and isinstance(opener.makes.lacks, frozenset)
            assert opener.makes.name


def test_every_engine_has_its_section() -> None:
    headings = re.findall(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    named = {entry.name: opener.makes.name for entry in ENGINES if (opener := loaded(entry)) is not None}
    assert [name for name in named.values() if name not in headings] == []


def test_a_line_says_what_an_engine_opens_and_lacks() -> None:
    entry = EngineEntry("plain", "nobody:Nobody", frozenset({"plain"}), packages=frozenset({"b", "a"}))
    opener: Any = SimpleNamespace(makes=SimpleNamespace(lacks=frozenset({"like", "Distinct"})))
    assert row(entry, opener) == "| `plain` | addresses `plain://`; objects of `a`, `b` | none | `Distinct`, `like` |"

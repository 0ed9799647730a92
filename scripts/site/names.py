"""The reference of names: what `help` says of each public name, and every command with its options."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from scripts.site.docstrings import entry

import sfumato as sf

ROW = re.compile(r"^\| `([\w.]+)` \|", re.MULTILINE)


def listed(reference: str) -> list[str]:
    """The names of the tables of docs/reference.md, in order."""
    return ROW.findall(reference)


def thing(name: str) -> object:
    """What a name stands for after ``sf.``."""
    found: object = sf
    for part in name.split("."):
        found = getattr(found, part)
    return found


def home(name: str) -> str | None:
    """Where a name is written down, None for values without a docstring."""
    found = thing(name)
    if isinstance(found, ModuleType):
        return found.__name__
    module, qualified = getattr(found, "__module__", None), getattr(found, "__qualname__", None)
    return f"{module}.{qualified}" if module and qualified and str(module).startswith("sfumato") else None


def pages(reference: str) -> dict[str, str]:
    """A page of names for each module that people name, and one for what is at the top."""
    grouped: dict[str, list[str]] = defaultdict(list)
    for name in listed(reference):
        if home(name) is not None:
            grouped[name.rpartition(".")[0] or "sf"].append(name)
    return {f"names/{group.replace('.', '_')}.md": "".join(_page(group, names)) for group, names in grouped.items()}


def _page(group: str, names: list[str]) -> Iterator[str]:
    yield f"# {'sf' if group == 'sf' else f'sf.{group}'}\n\n"
    for name in sorted(names, key=str.lower):
        yield f'## `sf.{name}` {{ #sf.{name} data-toc-label="{name.rpartition(".")[2]}" }}\n\n'
        yield entry(name, thing(name)) + "\n"


def linked(reference: str) -> str:
    """The page of docs/reference.md in which each name leads to what is said of it."""

    def link(found: re.Match[str]) -> str:
        name = found.group(1)
        if home(name) is None:
            return found.group()
        group = name.rpartition(".")[0].replace(".", "_") or "sf"
        return f"| [`{name}`](../names/{group}.md#sf.{name}) |"

    return ROW.sub(link, reference)


def commands(folder: Path) -> str:
    """The page of the command line, from the program itself."""
    place = folder / "commands.md"
    order = [
        sys.executable,
        "-m",
        "typer",
        "sfumato.cli.main",
        "utils",
        "docs",
        "--name",
        "sfumato",
        "--output",
        str(place),
    ]
    subprocess.run(order, check=True, capture_output=True)
    return place.read_text(encoding="utf-8")

"""Puts under every block of a page what it printed and drew."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from scripts.site.blocks import blocks

ROOT = Path(__file__).parents[2]
RUNNER = Path(__file__).with_name("running.py")
IDENTIFIER = re.compile(r'\b(id="|url\(#|href="#)([\w-]+)')


@cache
def version() -> str:
    """Changes with any line of the package, so that no page shows what an older one printed."""
    found = hashlib.sha256()
    for path in sorted([*(ROOT / "src").rglob("*.py"), *Path(__file__).parent.glob("*.py")]):
        found.update(path.read_bytes())
    return found.hexdigest()


def outputs(page: Path, kept: Path) -> list[dict[str, Any]]:
    """What came of each block of a page: run now, or kept from the last time if nothing changed since."""
    name = hashlib.sha256(f"{version()}{page.read_text(encoding='utf-8')}".encode()).hexdigest()[:24]
    place = kept / f"{page.stem}-{name}.jsonl"
    if not place.exists():
        ran = subprocess.run([sys.executable, str(RUNNER), str(page)], capture_output=True, text=True, check=False)
        if ran.returncode:
            raise SystemExit(f"{page.relative_to(ROOT)} does not run:\n{ran.stderr[-2000:]}")
        kept.mkdir(parents=True, exist_ok=True)
        for old in kept.glob(f"{page.stem}-{'?' * 24}.jsonl"):
            old.unlink()
        place.write_text(ran.stdout, encoding="utf-8")
    return [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()]


def below(found: dict[str, Any], number: int, *, printed: bool) -> str:
    """What stands under a block: its output, unless the page shows it already, and its charts."""
    shown = ""
    if found["printed"] and not printed:
        shown += f'\n\n<div class="printed" markdown="1">\n\n```text\n{found["printed"]}\n```\n\n</div>\n'
    for place, svg in enumerate(found["drawn"]):
        shown += f'\n\n<figure class="drawn">{apart(svg, f"b{number}c{place}")}</figure>\n'
    return shown


def apart(svg: str, prefix: str) -> str:
    """Names of a drawing that no other drawing of the page has, on one line as Markdown wants HTML."""
    renamed = IDENTIFIER.sub(lambda found: f"{found.group(1)}{prefix}-{found.group(2)}", svg)
    return " ".join(renamed.split("\n"))


def shown(page: Path, kept: Path, told: Callable[[str], None]) -> tuple[str, int]:
    """The text of a page with its outputs, and how many of its blocks ran."""
    text = page.read_text(encoding="utf-8")
    parts = blocks(text)
    if not parts:
        return text, 0
    told(page.name)
    found = outputs(page, kept)
    for number in reversed(range(len(parts))):
        end = parts[number].end
        text = text[:end] + below(found[number], number, printed=parts[number].printed) + text[end:]
    return text, len(parts)

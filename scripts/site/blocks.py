"""The Python blocks of a page, and the files that its other blocks write: one reading for tests, site and notebooks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import final

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```yaml\n(# (\S+\.yaml)\n.*?)^```$", re.MULTILINE | re.DOTALL)  # a first line that names it
PRINTED = re.compile(r"\s*^```\n", re.MULTILINE)


@final
@dataclass(frozen=True)
class Block:
    """A block of Python, the line of the page it starts on, and where in the page it ends."""

    source: str
    line: int
    end: int
    printed: bool
    """Whether the page itself shows what the block prints."""

    @property
    def prompts(self) -> bool:
        """Whether it is typed at prompts, with its output below."""
        return ">>>" in self.source


def blocks(text: str) -> list[Block]:
    """All Python blocks of a page, in order."""
    return [
        Block(
            found.group(1),
            text.count("\n", 0, found.start(1)),
            found.end(),
            PRINTED.match(text, found.end()) is not None,
        )
        for found in BLOCK.finditer(text)
    ]


def write_files(text: str, folder: Path) -> None:
    """Writes the YAML blocks of a page that begin with the name of a file."""
    for content, name in FILE.findall(text):
        (folder / name).write_text(content, encoding="utf-8")

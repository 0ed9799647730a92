"""Turns pages into notebooks: prose as cells of Markdown, blocks of Python as cells of code, files written first.

`python scripts/site/notebooks.py FOLDER` writes one for every page of the books' tour and of the start.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from scripts.site import layout
from scripts.site.blocks import BLOCK, FILE, PRINTED, blocks

ROOT = Path(__file__).parents[2]
SECTIONS = ("Start", "The books' tour")
OUTPUT = re.compile(r"^\s*```\n.*?^```$\n?", re.MULTILINE | re.DOTALL)
PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?(.*)$")


def chosen() -> list[Path]:
    """The pages that become notebooks: those with code in the sections that are read from front to back."""
    pages = sorted((ROOT / "docs").glob("*.md"))
    return [
        page for page in pages if layout.section_of(page.stem) in SECTIONS and BLOCK.search(page.read_text("utf-8"))
    ]


def notebook(text: str) -> dict[str, Any]:
    """The notebook of a page."""
    cells = [_code(_writing(content, name)) for content, name in FILE.findall(text)]
    last = 0
    for block in blocks(text):
        start = text.rindex("```python", 0, block.end)
        cells += [_prose(text[last:start]), _code(_typed(block.source) if block.prompts else block.source)]
        last = block.end
        if block.printed and PRINTED.match(text, last) and (shown := OUTPUT.match(text, last)):
            last = shown.end()  # the notebook shows its own output
    cells.append(_prose(text[last:]))
    kept = [cell for cell in cells if "".join(cell["source"]).strip()]
    for number, cell in enumerate(kept):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": kept, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _writing(content: str, name: str) -> str:
    return f"from pathlib import Path\n\nPath({name!r}).write_text({content!r})\n"


def _typed(source: str) -> str:
    """What was typed at prompts; a notebook shows the last value itself."""
    return "\n".join(found.group(1) for line in source.splitlines() if (found := PROMPT.match(line)))


def _prose(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.strip().splitlines(keepends=True)}


def _code(text: str) -> dict[str, Any]:
    source = text.strip().splitlines(keepends=True)
    return {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": source}


def main(folder: str) -> None:
    """Writes the notebooks."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for page in chosen():
        made = json.dumps(notebook(page.read_text("utf-8")), indent=1, ensure_ascii=False)
        (Path(folder) / f"{page.stem}.ipynb").write_text(made + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

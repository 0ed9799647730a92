"""Runs the blocks of one page in one namespace, as a reader would, and says what each printed and drew.

`python scripts/site/running.py page.md` writes a line of JSON for each block; it is a process of its own, so that no
page can change another.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from scripts.site.blocks import Block, blocks, write_files

LONGEST = 40
"""Lines of output that a page shows."""


def drawings(value: object) -> Iterator[str]:
    """The charts in a value, as SVG that takes its colours from the page."""
    from sfumato.charts.canvas import altair
    from sfumato.charts.in_pages import for_page

    if isinstance(value, tuple | list):
        for part in value:
            yield from drawings(part)
    elif isinstance(value, altair().TopLevelMixin):
        yield for_page(value, headline=True)


def run(block: Block, namespace: dict[str, object], page: str) -> dict[str, Any]:
    """Runs one block; its last value is shown as a notebook would."""
    if block.prompts:
        test = doctest.DocTestParser().get_doctest(block.source, namespace, page, page, block.line)
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(test, clear_globs=False)
        namespace.update(test.globs)
        return {"printed": "", "drawn": []}
    tree = ast.increment_lineno(ast.parse(block.source, page), block.line)
    drawn: list[str] = []
    value: object = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for statement in tree.body:
            value = None
            if isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), page, "eval"), namespace)
                drawn += drawings(value)
            else:
                exec(compile(ast.Module([statement], []), page, "exec"), namespace)
    text = printed.getvalue()
    if value is not None and not drawn and not text:
        text = repr(value)
    return {"printed": "\n".join(text.splitlines()[:LONGEST]), "drawn": drawn}


def main(page: str) -> None:
    """Runs all blocks of a page and writes what came of them."""
    text = Path(page).read_text(encoding="utf-8")
    answers, sys.stdout = sys.stdout, io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_files(text, Path(folder))
        namespace: dict[str, object] = {"__name__": "__main__"}
        for block in blocks(text):
            answers.write(json.dumps(run(block, namespace, page)) + "\n")
            answers.flush()
        os.chdir("/")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""The graph layer sees no data: it imports nothing of the package that could."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[4] / "src" / "sfumato" / "synth" / "graph"
ALLOWED = ("sfumato.errors", "sfumato.exact", "sfumato.entropy", "sfumato.release.progress", "sfumato.synth.graph")


def foreign(source: str) -> list[str]:
    """The modules of the package that a file imports and may not."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    ours = [name for name in names if name.partition(".")[0] == "sfumato"]
    return [name for name in ours if not any(name == one or name.startswith(one + ".") for one in ALLOWED)]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_graph_imports_nothing_that_sees_data(path: Path) -> None:
    assert not foreign(path.read_text())


def test_the_rule_can_fail() -> None:
    assert foreign("from sfumato.query.frame import Frame") == ["sfumato.query.frame"]
    assert foreign("import sfumato") == ["sfumato"]
    assert not foreign("import numpy\nfrom sfumato.errors import BadArgument")

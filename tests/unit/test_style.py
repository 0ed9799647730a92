"""House rules that a machine can check; the rest is in CONTRIBUTING.md."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from tests.examples.public import short_names

ROOT = Path(__file__).parents[2] / "src" / "sfumato"
FILES = sorted(ROOT.rglob("*.py"))

LONGEST_FILE = 400
LONGEST_FUNCTION = 40
NAMES_THAT_SAY_NOTHING = ("utils", "helpers", "common", "misc", "base")

# What these folders hold carries a guarantee, and the docstring must state it.
GUARANTEED_FOLDERS = ("transforms", "mechanisms", "noise")
COMPONENTS = ("Transformation", "Measurement", "Partial")
VALUE_BASES = ("Exception", "Enum", "NamedTuple", "TypedDict")

# Packages where a docstring says something and a local is named for what it holds; the others follow.
CLEAN_PROSE = (
    "attacks",
    "audit",
    "charts",
    "codebook",
    "combinators",
    "core",
    "datasets",
    "demo",
    "learn",
    "mechanisms",
    "noise",
    "query",
    "session",
    "stats",
    "transforms",
)
RITUAL = ("Gives", "Is", "Are")
SAYS_NOTHING = ("found",)


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Counts a function's lines without its decorators and docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return 1 + (function.body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 1


def shape_faults(source: str) -> Iterator[str]:
    """Says which functions are too long and which classes are neither abstract nor final."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and code_lines(node) > LONGEST_FUNCTION:
            yield f"line {node.lineno}: {node.name} has {code_lines(node)} lines, more than {LONGEST_FUNCTION}"
        if isinstance(node, ast.ClassDef):
            yield from class_faults(node)


def class_faults(node: ast.ClassDef) -> Iterator[str]:
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    bases = [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
    has_state = any(getattr(part, "name", "") == "__init__" or _assigns(part) for part in node.body)
    abstract = bool(bases) and not has_state and not decorators
    if "final" not in decorators and not abstract and not any(base in VALUE_BASES for base in bases):
        yield f"line {node.lineno}: class {node.name} is neither abstract without state nor @final"
    for decorator in decorators:
        if decorator.startswith("dataclass") and "frozen=True" not in decorator:
            yield f"line {node.lineno}: dataclass {node.name} is not frozen"


def _assigns(part: ast.stmt) -> bool:
    """Tells whether a line gives a class a field; a bare annotation says what the records below it have."""
    return isinstance(part, ast.AnnAssign) and part.value is not None


def word_faults(source: str) -> Iterator[str]:
    """Says where a name calls a loss or a limit a budget."""
    for node in ast.walk(ast.parse(source)):
        name = getattr(node, "name", None) or getattr(node, "id", None) or getattr(node, "arg", None)
        if isinstance(name, str) and "budget" in name.lower():
            yield f"line {getattr(node, 'lineno', '?')}: {name}: what is spent is a loss, what may be spent is a limit"


def prose_faults(source: str) -> Iterator[str]:
    """Says which docstrings begin with a word that any other could, and which locals tell nothing of what they hold."""
    nodes = list(ast.walk(ast.parse(source)))
    fields = [
        part.target
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, ast.AnnAssign)
    ]
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = (ast.get_docstring(node) or "").partition(" ")[0]
            if first in RITUAL:
                yield f"line {node.lineno}: the docstring of {node.name} begins with {first}: say what, or do"
        name = getattr(node, "arg", None) if isinstance(node, ast.arg) else getattr(node, "id", None)
        stored = isinstance(node, ast.arg) or isinstance(getattr(node, "ctx", None), ast.Store)
        if stored and name in SAYS_NOTHING and node not in fields:
            yield f"line {node.lineno}: {name} could be anything: name it for what it holds"


EXPORTED = frozenset(short_names())


def docstring_faults(source: str, *, exported: Collection[str]) -> Iterator[str]:
    """Says which exported components and which distributions do not state their guarantee."""
    for node in ast.parse(source).body:
        signature_only = any(getattr(one, "id", "") == "overload" for one in getattr(node, "decorator_list", ()))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and makes_promise(node, exported=exported):
            if signature_only:
                continue
            text = ast.get_docstring(node) or ""
            if "Guarantee:" not in text:
                yield f"line {node.lineno}: the docstring of {node.name} has no 'Guarantee:' line"


def makes_promise(node: ast.FunctionDef | ast.ClassDef, *, exported: Collection[str]) -> bool:
    """Tells whether something builds a component for users, or is a distribution that samples."""
    if isinstance(node, ast.FunctionDef):
        gives = ast.unparse(node.returns) if node.returns else ""
        return node.name in exported and any(component in gives for component in COMPONENTS)
    if node.name.startswith("_") or any(ast.unparse(base).startswith(("Protocol", "ABC")) for base in node.bases):
        return False
    return any(isinstance(part, ast.FunctionDef) and part.name == "samples" for part in node.body)


def clamp_docstring_faults(source: str) -> Iterator[str]:
    return docstring_faults(source, exported={"clamp"})


def length_faults(source: str) -> Iterator[str]:
    lines = source.count("\n")
    if lines > LONGEST_FILE:
        yield f"has {lines} lines, more than {LONGEST_FILE}"


def name_faults(stem: str) -> Iterator[str]:
    if stem in NAMES_THAT_SAY_NOTHING or stem.startswith("base_"):
        yield f"the name {stem} says nothing of what is in the file"


def faults_of(path: Path, root: Path = ROOT) -> Iterator[str]:
    """Says all that is wrong with one file of the package."""
    source = path.read_text()
    yield from name_faults(path.stem)
    yield from length_faults(source)
    yield from word_faults(source)
    if path.name != "errors.py":  # an exception tree is the one place for inheritance
        yield from shape_faults(source)
    if path.relative_to(root).parts[0] in CLEAN_PROSE:
        yield from prose_faults(source)
    if path.relative_to(root).parts[0] in GUARANTEED_FOLDERS:
        yield from docstring_faults(source, exported=EXPORTED)


def test_every_file_keeps_the_house_rules() -> None:
    faults = [f"{path.relative_to(ROOT)}, {fault}" for path in FILES for fault in faults_of(path)]
    assert not faults, "\n".join(faults)


def test_prose_is_looked_at_where_it_is_clean(tmp_path: Path) -> None:
    for folder in ("audit", "elsewhere"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rows.py").write_text("found = 1\n")
    assert [len(list(faults_of(tmp_path / folder / "rows.py", tmp_path))) for folder in ("audit", "elsewhere")] == [
        1,
        0,
    ]


def test_files_are_looked_at_by_every_rule(tmp_path: Path) -> None:
    folder = tmp_path / "transforms"
    folder.mkdir()
    wrong = folder / "base_rows.py"
    wrong.write_text("class Open:\n    budget = 1\n\n\ndef clamp() -> Transformation: ...\n" + "#\n" * LONGEST_FILE)
    assert [fault.partition(":")[0] for fault in faults_of(wrong, tmp_path)] == [
        "the name base_rows says nothing of what is in the file",
        f"has {LONGEST_FILE + 5} lines, more than {LONGEST_FILE}",
        "line 2",
        "line 1",
        "line 5",
    ]
    (errors := tmp_path / "errors.py").write_text("class Open:\n    pass\n")
    assert not list(faults_of(errors, tmp_path))


@pytest.mark.parametrize(
    ("check", "source"),
    [
        (length_faults, "x = 1\n" * (LONGEST_FILE + 1)),
        (name_faults, "utils"),
        (name_faults, "base_noise"),
        (shape_faults, "def long():\n" + "    x = 1\n" * 40),
        (shape_faults, "class Open:\n    pass"),
        (shape_faults, "class Half(ABC):\n    count: int = 0"),
        (shape_faults, "class Half(Noise):\n    def __init__(self): self.count = 0"),
        (shape_faults, "@final\n@dataclass\nclass Changing:\n    x: int"),
        (word_faults, "def spend(budget): ..."),
        (word_faults, "class BudgetAccountant: ..."),
        (prose_faults, 'def size():\n    """Gives the size."""'),
        (prose_faults, 'class Size:\n    """Is a size."""'),
        (prose_faults, "found = 1"),
        (prose_faults, "for found in (1, 2): ..."),
        (prose_faults, "def size(found): ..."),
        (clamp_docstring_faults, 'def clamp() -> Transformation:\n    """Clamps."""'),
        (clamp_docstring_faults, 'class Noise:\n    """Draws."""\n    def samples(self): ...'),
    ],
)
def test_each_rule_can_fail(check: object, source: str) -> None:
    assert callable(check)
    assert list(check(source))


@pytest.mark.parametrize(
    ("check", "source"),
    [
        (length_faults, "x = 1\n" * LONGEST_FILE),
        (name_faults, "baseline"),
        (shape_faults, 'def short():\n    """Says\n' + "    a lot\n" * 40 + '    """\n    return 1'),
        (shape_faults, "@final\n@dataclass(frozen=True)\nclass Fixed:\n    x: int"),
        (shape_faults, "class Shape(Protocol[T]): ...\nclass Round(Shape): ..."),
        (word_faults, "def spend(loss, limit): ..."),
        (prose_faults, 'def size():\n    """The number of rows; 0 where there are none."""'),
        (prose_faults, "class Attack:\n    found: int\n\nattack = Attack(found=seeds)\nprint(attack.found)"),
        (clamp_docstring_faults, "@overload\ndef clamp() -> Transformation: ..."),
        (
            clamp_docstring_faults,
            'def clamp() -> Transformation:\n    """Clamps.\n\n    Guarantee: d_out = d_in\n    """',
        ),
        (clamp_docstring_faults, "def clamp() -> int: ..."),
        (clamp_docstring_faults, "def build() -> Transformation: ..."),
    ],
)
def test_each_rule_lets_good_code_pass(check: object, source: str) -> None:
    assert callable(check)
    assert not list(check(source))

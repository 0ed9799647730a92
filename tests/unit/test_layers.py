"""Imports point one way: each layer may import only the layers before it.

The rules are in `LAYERS` and the tables after it. Everything is read from syntax trees, so that imports inside
functions count too, and every rule is also run against a small source that breaks it: a rule that cannot fail protects
nothing.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from sfumato.query.engines.registry import ENGINES

ROOT = Path(__file__).parents[2] / "src" / "sfumato"

# A line may import the lines above it. Names in one line may not import each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("shown",),
    ("errors",),
    ("exact",),
    ("guarantee",),
    ("plain",),
    ("entropy",),
    ("noise",),
    ("accounting",),
    ("release",),
    ("charts",),
    ("core",),
    ("transforms",),
    ("mechanisms",),
    ("combinators",),
    ("textbook",),
    ("codebook",),
    ("ledger",),
    ("datasets",),
    ("query", "local", "stats"),
    ("dp",),
    ("learn",),
    ("train",),
    ("synth",),
    ("session",),
    ("templates",),
    ("remote",),
    ("audit",),
    ("attacks",),
    ("planning",),
    ("service",),
    ("demo",),
    ("server",),
    ("cli",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

# `__init__` gathers the public names of all layers and `__main__` starts the command line: no layer imports either.
TOP = ("__init__", "__main__")

# Arrows that the order allows and the design does not.
FORBIDDEN = {"accounting": {"entropy"}}

# Arrows that point back, to what is loaded when it is asked for: a release draws itself with charts; of data that is to
# get a codebook, engines know the columns; whoever trains asks for an audit of it there.
ALSO = {"release": {"charts"}, "codebook": {"query"}, "train": {"audit"}}

# Third-party packages: which layers may import them. A package that is not named here may be imported by nobody.
ALLOWED_IN: dict[str, frozenset[str]] = {
    "numpy": frozenset(RANK) - {"shown", "errors", "exact", "guarantee", "plain"},
    "flint": frozenset({"exact", "noise", "accounting", "core", "mechanisms", "textbook", "audit"}),  # balls
    "lazy_loader": frozenset(
        {
            "accounting",
            "release",
            "core",
            "transforms",
            "mechanisms",
            "combinators",
            "ledger",
            "learn",
            "query",
            "local",
            "train",
            "synth",
            "planning",
        }
    ),
    "cryptography": frozenset({"entropy", "ledger", "server"}),  # the key stream; signed checkpoints; certificates
    "psycopg": frozenset({"ledger", "query"}),
    "argon2": frozenset({"service"}),  # hashes of passwords
    "pydantic": frozenset({"service", "server"}),  # settings, and what comes from outside
    "pydantic_settings": frozenset({"service"}),
    "yaml": frozenset({"codebook"}),
    "altair": frozenset({"charts"}),
    "vl_convert": frozenset({"charts"}),
    "rich": frozenset({"release", "demo", "cli"}),
    "typer": frozenset({"cli"}),
    "pandas": frozenset({"release"}),
    "polars": frozenset({"release", "query", "synth", "templates"}),
    "google": frozenset({"query"}),  # protobuf, in which plans of Spark Connect are
    "pyspark": frozenset({"query"}),
    # local: the collector of reports; server: PostgreSQL's catalog, out of codebooks; both when they are asked for
    "duckdb": frozenset({"query", "local", "server"}),
    "sqlglot": frozenset({"query", "server"}),  # server: the commands of the PostgreSQL port, and its catalog
    "pyarrow": frozenset({"release", "query", "local", "synth", "planning", "demo", "cli"}),  # local: as for duckdb
    "scipy": frozenset({"attacks", "learn", "synth"}),  # programs and optimisers; nothing private is made with it
    "sklearn": frozenset({"learn", "train", "synth"}),  # the manners of estimators
    "torch": frozenset({"train", "synth"}),
    "fastapi": frozenset({"server"}),
    "python_multipart": frozenset({"server"}),  # files in forms
    "jinja2": frozenset({"server"}),
    "markupsafe": frozenset({"server"}),  # what is escaped already
    "starlette": frozenset({"server"}),
    "uvicorn": frozenset({"server", "cli"}),
    "transformers": frozenset({"train"}),  # loaded by who asks for its trainer
}

RANDOM_MODULES = {"random", "secrets"}
RANDOM_CALLS = {
    "os.urandom",
    "os.getrandom",
    "uuid.uuid1",
    "uuid.uuid4",
    "numpy.random",
    "np.random",
    "torch.normal",
    "torch.randn",
}
RANDOM_HOME = "entropy"

# Nothing above the engines may know which one runs. `ENGINES` names them; their folders hold whatever is theirs.
ENGINE_FOLDERS = {entry.name: entry.opener.partition(":")[0].rpartition(".")[0] for entry in ENGINES}
ENGINE_NAMES = frozenset({*ENGINE_FOLDERS, "duckdb", "polars", "postgres", "spark"})
ENGINES_HOME = "query/engines"
TABLE = f"{ENGINES_HOME}/registry.py"

# Texts of code that hold the name of an engine all the same: where (a file, or a folder), whose name, and why.
NAMED_BESIDE: dict[tuple[str, str], str] = {
    ("query/sql/text.py", "duckdb"): "sqlglot's name of the language that questions are written in",
    ("local/collecting", "duckdb"): "the collector of reports keeps them in a DuckDB file",
    ("cli/local.py", "duckdb"): "the collector's file",
    ("ledger", "postgres"): "a store of ledgers",
    ("cli/ledger.py", "postgres"): "the address of a ledger",
    ("cli/serve.py", "postgres"): "what several workers need, and a port",
    ("server/postgres", "postgres"): "the port that speaks its protocol",
    ("service/places.py", "postgres"): "the addresses of servers that data may come from",
    ("service/settings.py", "postgres"): "the address of a ledger",
    ("cli/query.py", "postgres"): "the address of a ledger",
    ("cli/doctor.py", "spark"): "what Java is for",
    ("query/engines/inputs/frames.py", "polars"): "frames of Polars, which any engine may be given",
    ("query/nodes/keysets.py", "polars"): "lists of keys in frames of Polars",
    ("query/frame/table.py", "polars"): "what a table has no method for",
    ("release/answer.py", "polars"): "answers as frames of Polars",
    ("attacks/tables.py", "polars"): "tables in frames of Polars",
    ("synth", "polars"): "synthetic rows as frames of Polars",
}

# Types that one engine alone has: it says SQL's words for them to whoever is above it.
OWN_TYPES = {"HUGEINT", "UHUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "TIMESTAMPTZ_NS"} | {
    f"TIMESTAMP_{unit}" for unit in ("S", "MS", "NS")
}

# What drives an engine, and which folders may load it. (Frames of Polars come from users, and go back to them.)
PACKAGE_HOMES = {
    "duckdb": (f"{ENGINES_HOME}/duckdb/", "local/collecting/", "server/postgres/catalog/"),
    "psycopg": (f"{ENGINES_HOME}/postgres/", "ledger/"),
    "pyspark": (f"{ENGINES_HOME}/spark/",),
}


def layer_of(path: Path, root: Path) -> str:
    return path.relative_to(root).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Gives every imported module, by its full dotted name, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = f"{node.module}." if node.module else ""
            yield from ((node.lineno, f"{'.' * node.level}{module}{name.name}") for name in node.names)


def layer_faults(layer: str, source: str) -> Iterator[str]:
    """Says which imports of one file point the wrong way."""
    if layer in TOP:
        return
    if layer not in RANK:
        yield f"{layer} is not a layer: add it to LAYERS, or move the file"
        return
    for line, name in imported(ast.parse(source)):
        package, _, rest = name.partition(".")
        if package == "sfumato":
            there = rest.partition(".")[0]
            if there not in RANK:
                yield f"line {line}: {layer} must import a layer, not sfumato.{there}"
            elif there in ALSO.get(layer, ()):
                continue
            elif there != layer and (RANK[there] >= RANK[layer] or there in FORBIDDEN.get(layer, ())):
                yield f"line {line}: {layer} must not import {there}"
        elif not package and not rest.startswith("."):
            continue  # one dot stays in the folder
        elif package not in sys.stdlib_module_names and layer not in ALLOWED_IN.get(package, ()):
            yield f"line {line}: {layer} must not import {package or name}"


def random_faults(layer: str, source: str) -> Iterator[str]:
    """Says where a file draws randomness that is not `entropy`'s."""
    if layer == RANDOM_HOME:
        return
    tree = ast.parse(source)
    for line, name in imported(tree):
        if name.partition(".")[0] in RANDOM_MODULES or any(is_within(name, call) for call in RANDOM_CALLS):
            yield f"line {line}: imports {name}; randomness comes from sfumato.entropy"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and any(is_within(ast.unparse(node), call) for call in RANDOM_CALLS):
            yield f"line {node.lineno}: uses {ast.unparse(node)}; randomness comes from sfumato.entropy"


def engine_imports(file: str, source: str) -> Iterator[str]:
    """Says where a file outside of an engine's folder imports from there."""
    for line, name in imported(ast.parse(source)):
        for engine, folder in ENGINE_FOLDERS.items():
            if is_within(name, folder) and not is_within(f"sfumato.{file.replace('/', '.')}", folder):
                yield f"line {line}: imports {name}: {engine} is known to its own folder and to ENGINES"


def engine_words(file: str, source: str) -> Iterator[tuple[int, str]]:
    """Gives the names of engines in the texts of a file's code, but not in its docstrings, with their lines."""
    tree = ast.parse(source)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            text = node.value.casefold()
            yield from ((node.lineno, name) for name in ENGINE_NAMES if name in text)


def own_types(source: str) -> Iterator[tuple[int, str]]:
    """Gives the types of one engine alone that the texts of a file's code name, with their lines."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((node.lineno, name) for name in OWN_TYPES.intersection(re.findall(r"\w+", node.value)))


def homeless(file: str, source: str) -> Iterator[str]:
    """Says where a file loads what drives an engine and lies in no folder that may."""
    for line, name in imported(ast.parse(source)):
        homes = PACKAGE_HOMES.get(name.partition(".")[0], ("",))
        if not any(file.startswith(home) for home in homes):
            yield f"line {line}: imports {name}, which is for {' and '.join(homes)}"


def in_own_folder(file: str) -> bool:
    return file == TABLE or any(file.startswith(f"{ENGINES_HOME}/{name}/") for name in ENGINE_NAMES)


def excepted(file: str, name: str) -> tuple[str, str] | None:
    return next(
        (key for key in NAMED_BESIDE if key[1] == name and (file == key[0] or file.startswith(f"{key[0]}/"))), None
    )


def is_within(name: str, module: str) -> bool:
    return name == module or name.startswith(module + ".")


def everywhere(check: Callable[[str, str], Iterable[str]], root: Path = ROOT) -> list[str]:
    """Gathers what a check finds in all files of the package, with the name of the file."""
    return [
        f"{path.relative_to(root)}, {fault}"
        for path in sorted(root.rglob("*.py"))
        for fault in check(layer_of(path, root), path.read_text())
    ]


@pytest.mark.parametrize(
    "check", [layer_faults, random_faults], ids=["imports point one way", "randomness has one home"]
)
def test_in_every_file(check: Callable[[str, str], Iterable[str]]) -> None:
    faults = everywhere(check)
    assert not faults, "\n".join(faults)


def test_the_faults_of_all_files_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "noise").mkdir()
    (tmp_path / "noise" / "late.py").write_text("import random\n\nimport sfumato.core\nimport scipy")
    (tmp_path / "core.py").write_text("import secrets")
    assert everywhere(layer_faults, tmp_path) == [
        "noise/late.py, line 3: noise must not import core",
        "noise/late.py, line 4: noise must not import scipy",
    ]
    assert [fault.partition(",")[0] for fault in everywhere(random_faults, tmp_path)] == ["core.py", "noise/late.py"]


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("errors", "import sfumato.exact"),
        ("exact", "from sfumato.noise import uniform"),
        ("exact", "from sfumato import noise"),
        ("noise", "def late():\n    from sfumato.core import domains"),
        ("accounting", "from sfumato.entropy import SystemEntropy"),
        ("query", "from sfumato.stats import quantiles"),
        ("server", "from sfumato.cli import main"),
        ("noise", "import scipy.special"),
        ("transforms", "from flint import arb"),
        ("exact", "import numpy"),
        ("noise", "from pandas import DataFrame"),
        ("mechanisms", "import altair"),
        ("core", "import numpy as np, polars"),
        ("mechanisms", "import sfumato"),
        ("helpers", "import math"),
        ("local", "from ..core import space"),
    ],
)
def test_wrong_arrows_are_found(layer: str, source: str) -> None:
    assert list(layer_faults(layer, source))


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("exact", "from sfumato.errors import BadArgument"),
        ("noise", "import math\nimport numpy as np\nfrom sfumato.noise.uniform import below"),
        ("charts", "def draw():\n    import altair"),
        ("cli", "from sfumato.service import ask\nimport typer"),
        ("local", "from .coins import Coins\nfrom . import codes"),
        ("__init__", "from sfumato.mechanisms.additive import laplace"),
    ],
)
def test_right_arrows_pass(layer: str, source: str) -> None:
    assert not list(layer_faults(layer, source))


@pytest.mark.parametrize(
    "source",
    [
        "import random",
        "from random import choice",
        "import secrets",
        "import os\nos.urandom(8)",
        "from os import urandom",
        "import numpy as np\nnp.random.default_rng()",
        "import numpy\nx = numpy.random",
        "from numpy.random import default_rng",
        "from numpy import random",
        "import numpy.random as draws",
    ],
)
def test_foreign_randomness_is_found(source: str) -> None:
    assert list(random_faults("noise", source))
    assert not list(random_faults("entropy", source))


def package_files() -> dict[str, str]:
    return {str(path.relative_to(ROOT)): path.read_text() for path in sorted(ROOT.rglob("*.py"))}


def test_no_engine_is_imported_but_by_the_table_of_engines() -> None:
    faults = [f"{file}, {fault}" for file, source in package_files().items() for fault in engine_imports(file, source)]
    assert not faults, "\n".join(faults)


def test_no_text_above_the_engines_names_one() -> None:
    named = {
        (file, line, name)
        for file, source in package_files().items()
        if not in_own_folder(file)
        for line, name in engine_words(file, source)
    }
    faults = [f"{file}, line {line}: {name}" for file, line, name in sorted(named) if excepted(file, name) is None]
    assert not faults, "\n".join(faults)
    unused = NAMED_BESIDE.keys() - {excepted(file, name) for file, _, name in named}
    assert not unused, f"exceptions that nothing needs: {unused}"


def test_no_text_above_the_engines_names_the_types_of_one() -> None:
    named = [
        f"{file}, line {line}: {name}"
        for file, source in package_files().items()
        if not file.startswith((f"{ENGINES_HOME}/", "local/collecting/"))  # which keeps reports in tables of its own
        for line, name in own_types(source)
    ]
    assert not named, "\n".join(named)
    assert list(own_types('TYPES = "INT HUGEINT"')) == [(1, "HUGEINT")]


def test_what_drives_an_engine_is_loaded_in_its_folder() -> None:
    faults = [f"{file}, {fault}" for file, source in package_files().items() for fault in homeless(file, source)]
    assert not faults, "\n".join(faults)
    assert list(homeless("session/planner.py", "def late():\n    import duckdb"))
    assert not list(homeless("query/engines/duckdb/connection.py", "import duckdb"))


def test_what_engines_share_is_written_without_them() -> None:
    shared = {file: source for file, source in package_files().items() if file.startswith(f"{ENGINES_HOME}/sql/")}
    assert shared
    assert not [file for file, source in shared.items() for name in ENGINE_NAMES if name in source.casefold()]


@pytest.mark.parametrize(
    "source",
    [
        "from sfumato.query.engines.duckdb.scratch import worked_out",
        "def late():\n    import sfumato.query.engines.duckdb.opening",
        "from sfumato.query.engines.duckdb import dialect",
    ],
)
def test_an_engine_that_is_imported_is_found(source: str) -> None:
    assert list(engine_imports("session/planner.py", source))
    assert list(engine_imports("query/engines/sql/engine.py", source))
    assert not list(engine_imports("query/engines/duckdb/engine.py", source))


def test_an_engine_that_is_named_is_found() -> None:
    source = '"""Says DuckDB."""\nRUN = f"{x} on DuckDB"\nread(dialect="spark")'
    assert sorted(engine_words("session/planner.py", source)) == [(2, "duckdb"), (3, "spark")]
    assert excepted("ledger/stores/postgres.py", "postgres")
    assert not excepted("ledger/stores/postgres.py", "duckdb")
    assert not excepted("session/dataset.py", "postgres")


def test_words_that_only_look_random_pass() -> None:
    assert not list(random_faults("mechanisms", "from sfumato.mechanisms.randomized_response import binary\nx.random"))

"""`import sfumato` stays light: what is heavy loads when it is used."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = {
    *("torch", "pyspark", "duckdb", "polars", "pyarrow", "sqlglot", "fastapi", "pydantic"),
    *("matplotlib", "altair", "sklearn", "scipy", "pandas", "rich", "typer"),
}


def loaded_by(statement: str) -> set[str]:
    """Gives the top-level packages that a statement loads in a fresh interpreter."""
    script = (
        f"import json, sys\n{statement}\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(ran.stdout))


def test_import_loads_nothing_heavy() -> None:
    loaded = loaded_by("import sfumato")
    assert "sfumato" in loaded
    assert not loaded & HEAVY


def test_a_heavy_import_would_be_seen() -> None:
    assert "rich" in loaded_by("import rich.console")


def test_public_names_exist() -> None:
    script = (
        "import sfumato; missing = [n for n in sfumato.__all__ if not hasattr(sfumato, n)]; assert not missing, missing"
    )
    subprocess.run([sys.executable, "-c", script], check=True)

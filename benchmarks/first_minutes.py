"""Times the first minutes: the wheel in a fresh environment, the first private answer, imports, and the command line.

Run it with `make bench-first-minutes`. It builds the wheel, installs it with the extras `sql` and `plot` (installing is
not counted), and starts a fresh interpreter for everything it times: the best of several.

The last line gives the seconds from starting Python to the first private answer of the quick start, of a CSV file in
SQL; of `import sfumato`; of `sfumato --version`; and the pages of the site, the examples that ran while it was built,
and its broken links (`make docs` was before, or they are unknown).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from side_by_side.contest import ROOT, ratios_line

ROUNDS = 5
NUMBER = "import sfumato as sf; print(sf.dp.mean([34, 51, 29, 62, 45] * 100, between=(0, 120), epsilon=1))"
QUESTION = """
import sfumato as sf

data = sf.Dataset("visits.csv", unit="user", between={"minutes": (0, 120)})
session = data.session(epsilon=1, ledger="memory:")
print(session.sql("SELECT COUNT(*) AS n, AVG(minutes) AS minutes FROM visits", epsilon=0.5, max_rows=5))
"""
FRONT_ENDS = {
    "import sfumato": "import sfumato",
    "one number (sf.dp)": "import sfumato as sf; sf.dp.mean",
    "SQL and data frames (sf.Dataset)": "import sfumato as sf; sf.Dataset; import sfumato.query.engines.duckdb",
    "the accountant (sf.account)": "import sfumato as sf; sf.account",
    "charts (sf.charts)": "import sfumato as sf; sf.charts",
    "the ledger (sf.ledger)": "import sfumato as sf; sf.ledger",
}
COMMANDS = {"sfumato --version": ["--version"], "sfumato --help": ["--help"], "sfumato doctor": ["doctor"]}


def environment(folder: Path, console: Console) -> Path:
    """A fresh environment with the wheel in it, installed from this folder."""
    with console.status("Building the wheel, and installing it into a fresh environment"):
        build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder / "dist"), str(ROOT)]
        subprocess.run(build, check=True, capture_output=True)
        [wheel] = (folder / "dist").glob("*.whl")
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        python = folder / "venv" / "bin" / "python"
        install = [str(python), "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt")]
        subprocess.run([*install, f"{wheel}[sql,plot]"], check=True, capture_output=True)
    return python


def seconds(order: list[str], folder: Path) -> float:
    """The best time of a program from its start to its end; the first run, which compiles, is not counted."""
    best = float("inf")
    for turn in range(ROUNDS + 1):
        begun = time.perf_counter()
        subprocess.run(order, cwd=folder, check=True, capture_output=True)
        best = best if turn == 0 else min(best, time.perf_counter() - begun)
    return best


def timed(python: Path, folder: Path, console: Console) -> dict[str, float]:
    """Everything that is timed, by what it is."""
    (folder / "visits.csv").write_text("user,minutes\n" + "".join(f"{i % 200},{i % 97}\n" for i in range(1_000)))
    programs = {"a first mean": NUMBER, "a first question to a CSV file": QUESTION, "python -c pass": "pass"}
    orders: Mapping[str, list[str]] = {
        **{name: [str(python), "-c", program] for name, program in (programs | FRONT_ENDS).items()},
        **{name: [str(python.with_name("sfumato")), *given] for name, given in COMMANDS.items()},
    }
    found = {}
    with console.status("") as status:
        for name, order in orders.items():
            status.update(name)
            found[name] = seconds(order, folder)
    return found


def site() -> dict[str, float | None]:
    """What `make docs` counted the last time."""
    place = ROOT / "build" / "summary.json"
    counted = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    return {name: counted.get(name) for name in ("pages", "examples_run", "broken_links")}


def main() -> int:
    """Measures and prints everything."""
    argparse.ArgumentParser(description="Times the first minutes with sfumato.").parse_args()
    console = Console()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        found = timed(environment(folder, console), folder, console)
    table = Table("from start to end, in a fresh interpreter", "seconds")
    for name, spent in found.items():
        table.add_row(name, f"{spent:.3f}")
    console.print(table)
    figures = {
        "first_answer_s": found["a first question to a CSV file"],
        "import_s": found["import sfumato"],
        "cli_s": found["sfumato --version"],
    }
    print(ratios_line({**figures, **site()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Compares models with those of their peers, on the same data and at the same loss, and a large fit with plain SQL.

Run it with `make bench-learn`, after `make peers`; it takes some minutes. With several ways of a peer the best one
counts in each case; sfumato has one way, with its defaults. The last line gives, for each kind of model, our excess
over the fit without privacy as a part of that of the best other one, as the geometric mean over all its cases, and the
worst of all: below 1 we are the best. `fit_10m_vs_hand` is the time that processors spend on a regression on many rows
behind the ledger over that for the same bounded sums by hand in DuckDB; `coverage_low`, `coverage_high` are the least
and the largest share of 95 % intervals that held, `type1` the largest share of true hypotheses that a test at 5 %
rejects. `--rows 1000000` makes the large fit smaller.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from math import isfinite
from statistics import geometric_mean
from typing import TypeAlias

from rich.console import Console
from rich.table import Table

from contenders.learn import cases, classes, clusters, logistic
from side_by_side.contest import Contender, Contest, Facts, hold, ratios_line

OURS = "sfumato"
INTERPRET = Contender("interpret", "learn/interpret.py", environment="interpret")
CONTENDERS = (
    Contender(OURS, "learn/sfumato.py"),
    Contender("diffprivlib", "learn/diffprivlib.py", environment="diffprivlib"),
    INTERPRET,
    Contender("opendp", "learn/opendp.py", environment="opendp_learn"),
    Contender("tests", "learn/type1.py"),
)
FAIR = "from statsmodels.datasets import fair; import sys; fair.load_pandas().data.to_csv(sys.argv[1], index=False)"
TITLES = {
    "linear": "Linear regression: mean squared error over that of least squares",
    "logistic": "Logistic regression: mean excess of the logistic loss over the fit without privacy",
    "bayes": "Naive Bayes: mean share of held-out rows of which the class is wrong",
    "trees": "Trees, forests and additive models: mean share of held-out rows of which the class is wrong",
    "pca": "Principal components: share of the variance that the best ones have and these have not",
}
BESIDES = {
    "robust": "Robust lines with one predictor: mean squared error over that of least squares",
    "clusters": "Clusters: mean sum of squared distances over that of k-means without privacy",
    "scales": "Means and deviations: mean error, in halves of the width of the bounds",
}
"""What is shown and not part of the last line."""

ALL_TITLES = TITLES | BESIDES
AT = "10000×"
"""Times are compared on data with so many rows."""

ROWS = 10_000_000
Case: TypeAlias = cases.Case | logistic.Logistic | classes.Classes | clusters.Found
CASES: list[Case] = [*cases.CASES, *logistic.CASES, *classes.CASES, *clusters.CASES]


def label(facts: Facts) -> str:
    """Says in a few words what was just measured."""
    return f"{facts['kind']} of {facts['case']}"


def write_fair() -> None:
    """Has statsmodels, which is in one environment only, write its data for all; without it there is a case less."""
    if not classes.FAIR.exists() and INTERPRET.ready:
        subprocess.run([INTERPRET.interpreter, "-c", FAIR, classes.FAIR], check=True)


def there(kind: str) -> list[Case]:
    """Gives the cases of a kind of which there are data."""
    return [case for case in CASES if case.kind == kind and getattr(case, "there", True)]


def ratio(contest: Contest, case: Case) -> float | None:
    """Gives our error over the best other one; None where one of them is missing."""
    answers = contest.where(kind=case.kind, case=case.name)
    ours = [facts["error"] for facts in answers if facts["contender"] == OURS]
    others = [facts["error"] for facts in answers if facts["contender"] != OURS and isfinite(facts["error"])]
    return ours[0] / min(others) if ours and others and min(others) > 0 else None


def figures(contest: Contest) -> dict[str, float | None]:
    """Gives the geometric mean of each kind's ratios, if every case has one, and the worst of all."""
    found = {kind: [ratio(contest, case) for case in there(kind)] for kind in TITLES}
    known = {kind: [value for value in values if value is not None and value > 0] for kind, values in found.items()}
    means = {
        kind: geometric_mean(known[kind]) if len(known[kind]) == len(values) else None for kind, values in found.items()
    }
    return {**means, "worst": max((value for values in known.values() for value in values), default=None)}


def errors(contest: Contest, kind: str) -> Table:
    """Draws the table of every case and contender; an error is followed by its standard error in per cent."""
    asked = list(dict.fromkeys((facts["contender"], facts["way"]) for facts in contest.where(kind=kind)))
    heads = (f"{contender} {way}".strip() for contender, way in asked)
    table = Table("case", *heads, "ours / best", title=f"{ALL_TITLES[kind]}; ± its standard error in per cent")
    for case in there(kind):
        found = {(facts["contender"], facts["way"]): facts for facts in contest.where(kind=kind, case=case.name)}
        cells = [cell(found.get(way)) for way in asked]
        value = ratio(contest, case)
        table.add_row(case.name, *cells, "–" if value is None else f"{value:.3f}")
    return table


def cell(facts: Facts | None) -> str:
    """Gives an error and how sure it is."""
    if facts is None:
        return "–"
    spread = f" ±{100 * facts['spread']:.0f}" if "spread" in facts else ""
    return f"{facts['error']:.3g}{spread}"


def times(contest: Contest) -> Table:
    """Draws the table of times, each the geometric mean over the cases of a kind with 10⁴ rows."""
    table = Table(
        "kind", "contender", "ms", title="Milliseconds a fit on 10,000 rows, as the geometric mean over cases"
    )
    for kind in ALL_TITLES:
        known = [facts for facts in contest.where(kind=kind) if re.search(rf"\b{AT}", facts["case"])]
        for contender in dict.fromkeys(facts["contender"] for facts in known):
            found = [facts for facts in known if facts["contender"] == contender]
            table.add_row(kind, contender, f"{geometric_mean(1e3 * facts['seconds'] for facts in found):.3g}")
    return table


def coverages(contest: Contest, console: Console) -> dict[str, float | None]:
    """Prints how many intervals held, and gives the least and the largest share."""
    table = Table("rows × columns", "stated", "held", title="Intervals of slopes at 95 %")
    for facts in contest.where(kind="coverage"):
        held = "–" if facts["covered"] is None else f"{facts['covered']:.3f}"
        table.add_row(facts["case"], f"{facts['stated']} of {facts['asked']}", held)
    console.print(table)
    known = [facts["covered"] for facts in contest.where(kind="coverage") if facts["covered"] is not None]
    return {"coverage_low": min(known, default=None), "coverage_high": max(known, default=None)}


def type1(contest: Contest) -> dict[str, float | None]:
    """Gives the largest share of true null hypotheses that a test at 5 % rejected."""
    return {"type1": max((facts["rate"] for facts in contest.where(kind="type1")), default=None)}


def large(rows: int, console: Console) -> dict[str, float | None]:
    """Times the large fit and the sums by hand in turns, and prints the memory of each in an interpreter of its own."""
    with tempfile.TemporaryDirectory(prefix="sfumato-", dir="/var/tmp") as folder:
        told = (folder, str(rows))
        runs: Iterable[Contender] = (
            Contender("in turns", "learn/large.py", arguments=told),
            *(Contender(f"memory of {name}", "learn/large.py", arguments=(*told, name)) for name in ("ours", "hand")),
        )
        contest = hold(runs, console=console, label=label)
    table = Table(
        "way", "seconds of processors", "gigabytes", title=f"Regression on {rows:,} rows of {rows // 10:,} people"
    )
    seconds = {facts["case"]: facts["seconds"] for facts in contest.where(kind="time")}
    memory = {facts["case"]: facts["gigabytes"] for facts in contest.where(kind="memory")}
    for name, taken in seconds.items():
        table.add_row(name, f"{taken:.2f}", f"{memory[name]:.2f}" if name in memory else "–")
    console.print(table)
    return {"fit_10m_vs_hand": seconds["ours"] / seconds["hand"] if len(seconds) == 2 else None}


def main(arguments: list[str]) -> int:
    """Holds the contest and prints the tables and the figures."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of the large fit; 0 leaves it out")
    rows = int(parser.parse_args(arguments).rows)
    console = Console(width=None if sys.stdout.isatty() else 180)
    write_fair()
    contest = hold(CONTENDERS, console=console, label=label)
    for kind in ALL_TITLES:
        console.print(errors(contest, kind))
    console.print(times(contest))
    told = figures(contest)
    told |= {"fit_10m_vs_hand": None} if not rows else large(rows, console)
    print(ratios_line({**told, **coverages(contest, console), **type1(contest)}))
    return 1 if OURS in contest.missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Compares models with those of peers, on the same data and at the same loss.

Run it with `make bench-learn`, after `make peers`; it takes some minutes. Of a peer with several ways the best one
counts in each case; sfumato has one way, with its defaults. The last line gives, for each kind of model, our excess
risk over the best other one, as the geometric mean over all its cases, and the worst of all: below 1 we are the best.
"""

from __future__ import annotations

import math
import sys
from statistics import geometric_mean

from rich.console import Console
from rich.table import Table

from contenders.learn.logistic import CASES
from side_by_side.contest import Contender, Contest, Facts, hold, ratios_line

OURS = "sfumato"
CONTENDERS = (
    Contender(OURS, "learn/sfumato.py"),
    Contender("diffprivlib", "learn/diffprivlib.py", environment="diffprivlib"),
)
TITLES = {"logistic": "Logistic regression: mean excess of the logistic loss over the fit without privacy"}


def label(facts: Facts) -> str:
    """Says in a few words what was just measured."""
    return f"{facts['kind']} of {facts['case']}"


def ratio(contest: Contest, case: str) -> float | None:
    """Gives our error over the best other one; None where one of them is missing."""
    answers = contest.where(case=case)
    ours = [facts["error"] for facts in answers if facts["contender"] == OURS]
    others = [facts["error"] for facts in answers if facts["contender"] != OURS and math.isfinite(facts["error"])]
    return ours[0] / min(others) if ours and others else None


def errors(contest: Contest, kind: str) -> Table:
    """Draws the table of every case and contender."""
    asked = list(dict.fromkeys((facts["contender"], facts["way"]) for facts in contest.where(kind=kind)))
    table = Table(
        "case", *(f"{contender} {way}".strip() for contender, way in asked), "ours / best", title=TITLES[kind]
    )
    for case in [case.name for case in CASES if case.kind == kind]:
        found = {(facts["contender"], facts["way"]): facts for facts in contest.where(kind=kind, case=case)}
        cells = [f"{found[way]['error']:.3g}" if way in found else "–" for way in asked]
        value = ratio(contest, case)
        table.add_row(case, *cells, "–" if value is None else f"{value:.3f}")
    return table


def times(contest: Contest) -> Table:
    """Draws the table of times, each the geometric mean over all cases of a kind."""
    table = Table("kind", "contender", "ms", title="Milliseconds a fit, as the geometric mean over its cases")
    for kind in TITLES:
        for contender in dict.fromkeys(facts["contender"] for facts in contest.where(kind=kind)):
            found = contest.where(kind=kind, contender=contender)
            table.add_row(kind, contender, f"{geometric_mean(1e3 * facts['seconds'] for facts in found):.3g}")
    return table


def main() -> int:
    """Holds the contest and prints the tables and the figures."""
    console = Console(width=None if sys.stdout.isatty() else 180)
    contest = hold(CONTENDERS, console=console, label=label)
    figures: dict[str, float | None] = {}
    worst: list[float] = []
    for kind in TITLES:
        console.print(errors(contest, kind))
        found = [ratio(contest, case.name) for case in CASES if case.kind == kind]
        known = [value for value in found if value is not None and value > 0]
        figures[kind] = geometric_mean(known) if len(known) == len(found) and not contest.missing else None
        worst += known
    console.print(times(contest))
    print(ratios_line({**figures, "worst": max(worst) if worst else None}))
    return 1 if OURS in contest.missing else 0


if __name__ == "__main__":
    sys.exit(main())

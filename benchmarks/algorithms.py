"""Compares the error of algorithms with that of their peers, on the same data and at the same loss.

Run it with `make bench-algorithms`, after `make peers`; it takes some minutes. Others may answer in several ways, and
in every case the best one counts; sfumato answers in one way, with its defaults. The last line gives, for each kind of
question, our error over the best other one, as the geometric mean over all its cases: below 1 we are the best. Half a
row, or half a key, is added to both errors where they are counted in such. Errors do not depend on how busy the machine
is; times do, and are only there for orientation.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from statistics import geometric_mean

from rich.console import Console
from rich.table import Table

from contenders.algorithms.cases import CASES, Case
from side_by_side.contest import Contender, Contest, Facts, hold, ratios_line

OURS = "sfumato"
CONTENDERS = (
    Contender(OURS, "algorithms/sfumato.py"),
    Contender("OpenDP", "algorithms/opendp.py", environment="opendp"),
    Contender("diffprivlib", "algorithms/diffprivlib.py", environment="diffprivlib"),
    Contender("textbook", "algorithms/textbook.py"),
)
TITLES = {
    "quantile": "One quantile: mean error in rank (share of rows) and in value",
    "quantiles": "m quantiles at once: mean error in rank (share of rows) and in value",
    "ranges": "Random ranges over bins: root mean squared error in rows",
    "keys": "Keys that nobody listed: how many were missed",
    "mean": "The mean without bounds: root mean squared error",
}


def label(facts: Facts) -> str:
    """Says in a few words what was just measured."""
    return f"{facts['kind']} of {facts['case']} by {facts['way'] or 'default'}"


def ratio(ours: Facts, others: Iterable[Facts]) -> float | None:
    """Gives our error over the best other one, both with their slack; None where there is nothing to compare."""
    best = min((float(facts["error"] + facts["slack"]) for facts in others), default=0.0)
    return float(ours["error"] + ours["slack"]) / best if best > 0 else None


def ratios(contest: Contest, case: Case) -> dict[str, float | None]:
    """Gives the ratio of each error that a case measures."""
    found: dict[str, float | None] = {}
    for measure in case.slack:
        answers = contest.where(kind=case.kind, case=case.name, measure=measure)
        ours = [facts for facts in answers if facts["contender"] == OURS]
        others = [facts for facts in answers if facts["contender"] != OURS]
        found[measure] = ratio(ours[0], others) if ours else None
    return found


def figure(contest: Contest, kind: str) -> float | None:
    """Gives the geometric mean of a kind's ratios, if every case has them and no contender is missing."""
    found = [value for case in CASES if case.kind == kind for value in ratios(contest, case).values()]
    known = [value for value in found if value is not None and value > 0]
    return geometric_mean(known) if len(known) == len(found) and not contest.missing else None


def columns(contest: Contest, kind: str) -> list[tuple[str, str]]:
    """Gives the contenders that answered a kind of question, with each of their ways."""
    return list(dict.fromkeys((facts["contender"], facts["way"]) for facts in contest.where(kind=kind)))


def errors(contest: Contest, kind: str) -> Table:
    """Draws the table of every case and contender; an error is followed by its standard error in per cent."""
    asked = columns(contest, kind)
    table = Table(title=f"{TITLES[kind]}; ± its standard error in per cent")
    table.add_column("case", no_wrap=True)
    for heading in ("of", *(f"{contender} {way}".strip() for contender, way in asked), "ours / best"):
        table.add_column(heading, justify="left" if heading == "of" else "right")
    for case in CASES:
        for measure, value in ratios(contest, case).items() if case.kind == kind else ():
            found = {
                (facts["contender"], facts["way"]): facts
                for facts in contest.where(kind=kind, case=case.name, measure=measure)
            }
            cells = (cell(found.get(column)) for column in asked)
            table.add_row(case.name, measure, *cells, "–" if value is None else f"{value:.3f}")
    return table


def cell(facts: Facts | None) -> str:
    """Gives an error and how sure it is."""
    if facts is None:
        return "–"
    error = facts["error"]
    return f"{format(error, '.3g') if error < 1000 else format(error, '.0f')} ±{math.ceil(100 * facts['spread'])}"


def times(contest: Contest) -> Table:
    """Draws the table of times, each the geometric mean over the cases of a kind that a contender answered."""
    table = Table("kind", "contender", "way", title="Milliseconds a call, as the geometric mean over its cases")
    table.add_column("ms", justify="right")
    for kind in TITLES:
        for contender, way in columns(contest, kind):
            found = contest.where(kind=kind, contender=contender, way=way)
            taken = geometric_mean(1e3 * facts["seconds"] for facts in found)
            table.add_row(kind, contender, way, f"{taken:.3g}")
        table.add_section()
    return table


def main() -> int:
    """Holds the contest and prints the tables and the figures."""
    console = Console(width=None if sys.stdout.isatty() else 180)
    contest = hold(CONTENDERS, console=console, label=label)
    for kind in TITLES:
        console.print(errors(contest, kind))
    console.print(times(contest))
    print(ratios_line({kind: figure(contest, kind) for kind in TITLES}))
    return 1 if OURS in contest.missing else 0


if __name__ == "__main__":
    sys.exit(main())

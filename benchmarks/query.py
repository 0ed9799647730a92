"""Compares private SQL with the same question in plain SQL, in SQL bounded by hand, and with its peers.

Run it with `make bench-query`, after `make peers`; it takes some minutes. The question is count, sum and mean of visits
for each of 1,000 sites, with few very busy people. Every contender has its own interpreter and reads the same Parquet
file, except that PipelineDP starts from rows in memory; sfumato and DuckDB take turns. Memory is the most that a fresh
process had that answered once. Errors are mean absolute ones over all sites, at the same ε and δ and with the same
bounds, against the exact answer for all rows, so that what the bounds cut off counts too (and, in the table, against
that for people cut to them); means are moved into their public bounds first.

The last line gives our time over that of SQL by hand, the peers' time over ours, our error over OpenDP's (the geometric
mean of the three measures), the seconds that a million unknown groups take besides the plain query, and small questions
a second. Then other forms, in processor time: the milliseconds that a bare count takes besides the one by hand, and the
time of counts by day, a median, a count of different texts and a join over that of the same bounded work by hand.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from contenders.query.cases import MEASURES, MILLION, SMALL, TEN_MILLION, TRUTHS
from contenders.query.preparing import write, write_forms, write_pages, write_truth
from side_by_side.contest import Contender, Contest, Facts, hold, ratios_line

OURS, OPENDP, TUMULT, PIPELINEDP = "sfumato and DuckDB", "OpenDP", "Tumult", "PipelineDP"
ALONE = "sfumato"
WAYS = {
    "plain": "DuckDB, plain floats",
    "fixed": "DuckDB, fixed point by hand",
    "rows": "rows as the unit",
    "hand": "DuckDB, people bounded by hand",
    "people": "people as the unit",
}
BY_HAND = ", mean by hand"
"""OpenDP is faster where one asks for no mean and divides: that is shown, but it is not the same question."""

START = 0.03
"""A question may take so many seconds besides what its rows take."""


def contenders(folder: Path) -> tuple[Contender, ...]:
    """Gives everyone who takes part, and tells them where the data are."""
    here, million, ten = str(folder), MILLION.name, TEN_MILLION.name
    peer = "query/opendp.py", "opendp_polars"
    return (
        Contender(OURS, "query/speed.py", arguments=(here, million, ten)),
        *(Contender(OURS, "query/memory.py", arguments=(here, ten, way)) for way in WAYS),
        Contender(ALONE, "query/sfumato.py", arguments=(here,)),
        *(Contender(OURS, "query/forms.py", arguments=(here, way)) for way in ("ours", "hand")),
        Contender(OPENDP, *peer, arguments=(here, ten, "rows")),
        Contender(OPENDP, *peer, arguments=(here, ten, "people")),
        Contender(OPENDP, *peer, arguments=(here, million, "rows")),
        Contender(OPENDP, *peer, arguments=(here, million, "people")),
        Contender(TUMULT, "query/tumult.py", "tumult", arguments=(here, million, str(MILLION.visits(folder)))),
        Contender(PIPELINEDP, "query/pipelinedp.py", "pipelinedp", arguments=(here, million)),
    )


def label(facts: Facts) -> str:
    """Says in a few words what was just measured."""
    return f"{facts['case']} {facts['kind']}"


def fact(contest: Contest, name: str, **facts: object) -> float | None:
    """Gives one number of a measurement, if it was made."""
    found = contest.where(**facts)
    return found[0][name] if found else None


def seconds(contest: Contest, contender: str, size: str, way: str) -> float | None:
    """Gives the time of one way, if it was measured."""
    return fact(contest, "seconds", contender=contender, kind="time", size=size, case=way)


def over(one: float | None, other: float | None) -> float | None:
    """Gives a quotient, if both were measured."""
    return None if one is None or other is None else one / other


def error_ratio(contest: Contest) -> float | None:
    """Gives our error over OpenDP's: the geometric mean over all measures."""
    logs = []
    for measure in MEASURES:
        facts = {"kind": "error", "case": measure, "to": "whole", "size": MILLION.name}
        ours, theirs = (fact(contest, "error", contender=who, **facts) for who in (ALONE, OPENDP))
        ratio = over(ours, theirs)
        if ratio is None:
            return None
        logs.append(math.log(ratio))
    return math.exp(sum(logs) / len(logs))


def form(contest: Contest, name: str, way: str) -> float | None:
    """Gives the processor time of a form of questions, by us or by hand."""
    return fact(contest, "cpu", kind="form", case=name, way=way)


def figures(contest: Contest) -> dict[str, float | None]:
    """Gives the numbers of the last line."""
    million, ten = MILLION.name, TEN_MILLION.name
    times = {(size, way): seconds(contest, OURS, size, way) for size in (million, ten) for way in WAYS}
    rows, people = times[ten, "rows"], times[ten, "people"]
    counts = [form(contest, "count", way) for way in ("ours", "hand")]

    def slower(peer: str, size: str, way: str) -> float | None:
        return over(seconds(contest, peer, size, way), times[size, way])

    return {
        "rows_vs_fixed": over(rows, times[ten, "fixed"]),
        "rows_vs_plain": over(None if rows is None else rows - START, times[ten, "plain"]),
        "people_vs_hand": over(people, times[ten, "hand"]),
        "opendp_rows_10m": slower(OPENDP, ten, "rows"),
        "opendp_people_10m": slower(OPENDP, ten, "people"),
        "opendp_people_1m": slower(OPENDP, million, "people"),
        "tumult_people_1m": slower(TUMULT, million, "people"),
        "pipelinedp_people_1m": slower(PIPELINEDP, million, "people"),
        "error_vs_opendp": error_ratio(contest),
        "million_groups_s": fact(contest, "seconds", kind="groups"),
        "small_per_s": fact(contest, "per_second", kind="small"),
        "count_ms": None if None in counts else 1000 * (counts[0] - counts[1]),  # type: ignore[operator]
        **{
            f"{name}_vs_hand": over(form(contest, name, "ours"), form(contest, name, "hand"))
            for name in ("days", "median", "distinct", "join")
        },
    }


def times_table(contest: Contest) -> Table:
    """Draws the table of times and memory."""
    table = Table(title="Count, sum and mean for each of 1,000 sites")
    for heading in ("rows", "contender", "way", "seconds", "memory, GB"):
        table.add_column(heading, justify="right" if heading in ("rows", "seconds", "memory, GB") else "left")
    for size in (MILLION, TEN_MILLION):
        for facts in contest.where(kind="time", size=size.name):
            who, way = facts["contender"], facts["case"]
            memory = fact(contest, "gigabytes", kind="memory", contender=who, size=size.name, case=way)
            mine = ALONE if way in ("rows", "people") and who == OURS else who
            shown = "–" if memory is None else f"{memory:.2f}"
            table.add_row(f"{size.rows:,}", mine, named(way), f"{facts['seconds']:.3f}", shown)
        table.add_section()
    return table


def named(way: str) -> str:
    """Says in words what was timed."""
    bare = way.removesuffix(BY_HAND)
    return WAYS[bare] + way[len(bare) :]


def errors_table(contest: Contest) -> Table:
    """Draws the table of errors."""
    table = Table(title=f"Mean absolute error, people as the unit, {MILLION.rows:,} rows")
    for heading in ("contender", "against", *MEASURES):
        table.add_column(heading, justify="left" if heading in ("contender", "against") else "right")
    for who in (ALONE, OPENDP):
        for to in TRUTHS:
            found = {facts["case"]: facts["error"] for facts in contest.where(kind="error", contender=who, to=to)}
            if found:
                table.add_row(who, f"the {to} answer", *(f"{found[measure]:,.4g}" for measure in MEASURES))
    return table


def main() -> int:
    """Writes the data, holds the contest and prints the tables and the ratios."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with console.status("writing visits …"):
            for size in (SMALL, MILLION, TEN_MILLION):
                write(folder, size)
            write_truth(folder, MILLION)
            write_pages(folder)
            write_forms(folder, MILLION)
        contest = hold(contenders(folder), console=console, label=label)
    console.print(times_table(contest))
    console.print(errors_table(contest))
    print(ratios_line(figures(contest)))
    return 1 if {OURS, ALONE} & set(contest.missing) else 0


if __name__ == "__main__":
    sys.exit(main())

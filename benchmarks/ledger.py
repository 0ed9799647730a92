"""Compares charging a ledger with writing bare rows of the same durability, and a long book with a short one.

Run it with `make bench-ledger`; it takes some minutes, most of them to fill a book of a million entries. A charge is
one call of the public API (`Ledger.charge`); a bare row is a single-row INSERT of 100 bytes that is synced to the same
disk, in blocks that take turns with ours. The last line gives our charges a second over bare rows a second, on SQLite
and on PostgreSQL, and the time of a charge in a book of a million entries over that in a book of a thousand.
"""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from side_by_side.contest import Contender, Contest, Facts, hold, ratios_line

SQLITE, POSTGRES, LONG = "SQLite", "PostgreSQL", "a long book"
CONTENDERS = (
    Contender(SQLITE, "ledger/sqlite.py"),
    Contender(POSTGRES, "ledger/postgres.py"),
    Contender(LONG, "ledger/growth.py"),
)


def label(facts: Facts) -> str:
    """Says in a few words what was just measured."""
    return f"{facts['case']} {facts['kind']}"


def ratio(contest: Contest, contender: str, kind: str) -> float | None:
    """Gives the ratio that a contender measured, if it did."""
    found = contest.where(contender=contender, kind=kind)
    return found[0]["ratio"] if found else None


def speeds(contest: Contest) -> Table:
    """Draws the table of times."""
    table = Table(title="One durable write: microseconds (and how many a second)")
    for heading in ("store", "a charge", "a bare row", "charges over bare rows"):
        table.add_column(heading, justify="left" if heading == "store" else "right")
    for facts in contest.where(kind="speed"):
        ours, bare = facts["first"], facts["second"]
        table.add_row(facts["case"], written(ours), written(bare), f"{facts['ratio']:.2f}")
    return table


def written(microseconds: float) -> str:
    """Writes a time, and how often it fits into a second."""
    return f"{microseconds:.0f} ({1e6 / microseconds:,.0f})"


def growth(contest: Contest) -> Table:
    """Draws the table of short and long books."""
    table = Table(title="A charge in SQLite: microseconds (and how many a second)")
    for heading in ("of 1,000 entries", "of 1,000,000 entries", "long over short", "opening the long one"):
        table.add_column(heading, justify="right")
    for facts, opened in zip(contest.where(kind="growth"), contest.where(kind="opening"), strict=False):
        times = written(facts["first"]), written(facts["second"]), f"{facts['ratio']:.2f}"
        table.add_row(*times, f"{opened['milliseconds']:.0f} ms")
    return table


def main() -> int:
    """Holds the contest and prints the tables and the ratios."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    contest = hold(CONTENDERS, console=console, label=label)
    console.print(speeds(contest))
    console.print(growth(contest))
    ratios = {
        "sqlite_vs_bare": ratio(contest, SQLITE, "speed"),
        "postgres_vs_bare": ratio(contest, POSTGRES, "speed"),
        "growth": ratio(contest, LONG, "growth"),
    }
    print(ratios_line(ratios))
    return 1 if contest.missing else 0


if __name__ == "__main__":
    sys.exit(main())

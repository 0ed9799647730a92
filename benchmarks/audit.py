"""Times audits and attacks beside the plain sums that they contain, and runs the tests against broken copies.

Run it with `make bench-audit`; it takes some minutes, most of them for the broken copies. The last line gives the
seconds to reconstruct a thousand secret bits from noisy sums over random halves of them, to audit a mechanism of a
thousand inputs and outputs exactly, and to audit a black box from a million samples; then how many of the deliberately
broken copies the tests noticed, and how many there are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from side_by_side.contest import ROOT, Contender, Contest, Facts, hold, ratios_line

OURS, PLAIN = "sfumato", "plain NumPy"
CONTENDERS = (Contender(OURS, "audit/sfumato.py"), Contender(PLAIN, "audit/plain.py"))
CASES = ("reconstruct", "matrix", "blackbox")


def label(facts: Facts) -> str:
    """Says in a few words what was just measured."""
    return str(facts["case"])


def seconds(contest: Contest, case: str) -> float | None:
    """Gives our time for a case, if it was measured."""
    found = contest.where(contender=OURS, case=case)
    return found[0]["seconds"] if found else None


def times(contest: Contest) -> Table:
    """Draws the table of times."""
    table = Table(title="Seconds, and what was found")
    for heading in ("", OURS, "", PLAIN, ""):
        table.add_column(heading)
    for case in CASES:
        table.add_row(
            case, *(cell for name in (OURS, PLAIN) for cell in cells(contest.where(contender=name, case=case)))
        )
    return table


def cells(found: list[Facts]) -> tuple[str, str]:
    """Writes a time and what was found in it, or that nothing was measured."""
    return (f"{found[0]['seconds']:.4f}", str(found[0]["found"])) if found else ("?", "")


def broken_copies(console: Console) -> tuple[int, int]:
    """Runs the tests against every broken copy, and counts those that are noticed, and all."""
    sys.path.insert(0, str(ROOT))
    from tests.mutants.runner import kill_all

    with console.status("broken copies …") as status:
        tell: Callable[[int, int], None] = lambda done, all_: status.update(f"broken copies: {done} of {all_}")  # noqa: E731
        return kill_all(tell)


def main() -> int:
    """Holds the contest, runs the broken copies, and prints the table and the ratios."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    contest = hold(CONTENDERS, console=console, label=label)
    console.print(times(contest))
    killed, mutants = broken_copies(console)
    ratios = {f"{case}_s": seconds(contest, case) for case in CASES}
    print(ratios_line({**ratios, "mutants_killed": killed, "mutants": mutants}))
    return 1 if contest.missing or killed < mutants else 0


if __name__ == "__main__":
    sys.exit(main())

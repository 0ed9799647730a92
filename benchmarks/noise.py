"""Compares exact noise with its peers: samples a second on vectors, and the time of a scalar call.

Run it with `make bench-noise`, after `make peers`. A throughput is of the whole job that the public API does (a
measurement on a vector of zeros); the rows `sampler` are the noise alone. The last line gives, for each case, sfumato's
throughput over OpenDP's at the scale where that is smallest, and the slowest scalar call of sfumato in microseconds.
"""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from contenders.noise.cases import CASES, SCALES, SIZE
from side_by_side.contest import Contender, Contest, Facts, hold, ratios_line

OURS, PEER = "sfumato", "OpenDP"
CONTENDERS = (
    Contender(OURS, "noise/sfumato.py"),
    Contender(PEER, "noise/opendp.py", environment="opendp"),
    Contender("diffprivlib", "noise/diffprivlib.py", environment="diffprivlib"),
    Contender("PyDP", "noise/pydp.py", environment="pydp"),
    Contender("numpy (insecure floor)", "noise/numpy.py"),
)


def label(facts: Facts) -> str:
    """Says in a few words what was just measured."""
    return f"{facts['case']} {facts['kind']} at scale {facts['scale']:g}"


def nanoseconds(contest: Contest, **facts: object) -> float | None:
    """Gives the time per sample of one measurement, if it was made."""
    found = contest.where(**facts)
    return found[0]["nanoseconds"] if found else None


def smallest_ratio(contest: Contest, case: str) -> float | None:
    """Gives how many times the peer's throughput ours is, at the scale where that is smallest."""
    ratios = []
    for scale in SCALES:
        ours = nanoseconds(contest, contender=OURS, kind="vector", case=case, scale=scale)
        theirs = nanoseconds(contest, contender=PEER, kind="vector", case=case, scale=scale)
        if ours is None or theirs is None:
            return None
        ratios.append(theirs / ours)
    return min(ratios)


def slowest_scalar(contest: Contest) -> float | None:
    """Gives our slowest scalar call in microseconds."""
    found = contest.where(contender=OURS, kind="scalar")
    return max((facts["nanoseconds"] for facts in found), default=0.0) / 1e3 or None


def vectors(contest: Contest) -> Table:
    """Draws the table of vector throughput."""
    table = Table(title=f"Vectors of {SIZE:,} (peers as stated): samples a second, time and entropy per sample")
    for heading in ("case", "scale", "contender", "size", "million/s", "ns", "entropy bytes", f"times {PEER}"):
        table.add_column(heading, justify="left" if heading in ("case", "contender") else "right")
    for case in CASES:
        for scale in SCALES:
            peer = nanoseconds(contest, contender=PEER, kind="vector", case=case, scale=scale)
            for facts in [*contest.where(case=case, scale=scale, kind="vector"), *sampler(contest, case, scale)]:
                table.add_row(*vector_row(facts, peer))
        table.add_section()
    return table


def sampler(contest: Contest, case: str, scale: float) -> list[Facts]:
    """Gives our noise alone, without the measurement around it."""
    return contest.where(case=case, scale=scale, kind="sampler")


def vector_row(facts: Facts, peer: float | None) -> tuple[str, ...]:
    """Gives the cells of one measurement."""
    entropy = facts.get("entropy_bytes")
    return (
        facts["case"],
        f"{facts['scale']:g}",
        facts["contender"] + (" sampler" if facts["kind"] == "sampler" else ""),
        f"{facts['size']:,}",
        f"{1e3 / facts['nanoseconds']:.3g}",
        f"{facts['nanoseconds']:.4g}",
        "–" if entropy is None else f"{entropy:.2f}",
        "–" if peer is None else f"{peer / facts['nanoseconds']:.3g}",
    )


def scalars(contest: Contest) -> Table:
    """Draws the table of scalar calls."""
    found = [*contest.where(kind="scalar"), *contest.where(kind="scalar sampler")]
    columns = list(dict.fromkeys((facts["contender"], facts["kind"]) for facts in found))
    headings = [contender + kind.removeprefix("scalar") for contender, kind in columns]
    table = Table("case", "scale", *headings, title="Scalar calls: microseconds")
    for column in table.columns[1:]:
        column.justify = "right"
    for case in CASES:
        for scale in SCALES:
            times = [nanoseconds(contest, contender=who, kind=kind, case=case, scale=scale) for who, kind in columns]
            table.add_row(case, f"{scale:g}", *("–" if time is None else f"{time / 1e3:.3g}" for time in times))
        table.add_section()
    return table


def main() -> int:
    """Holds the contest and prints the tables and the ratios."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    contest = hold(CONTENDERS, console=console, label=label)
    console.print(vectors(contest))
    console.print(scalars(contest))
    ratios = {case: smallest_ratio(contest, case) for case in CASES}
    print(ratios_line({**ratios, "scalar_us": slowest_scalar(contest)}))
    return 1 if OURS in contest.missing else 0


if __name__ == "__main__":
    sys.exit(main())

"""Compares local protocols with their peers: people a second (randomize and aggregate), and errors.

Run it with `make bench-local`, after `make peers`. Errors are mean squared errors of shares times the number of people,
so that contenders that serve fewer people in reasonable time can be compared; where a rival cuts and scales its counts,
ours are the consistent ones at the same number of people. The last line: throughput over the best rival's for each
protocol, our people a second in randomized response, the error of the best protocol over the least that theory allows
any protocol and over the best rival's, the time to sum up stored reports over that of the plain SQL, the worst
certified ε of shuffled reports over the least that is published, and the slowest of ours in seconds. `?` stands for
what is not measured yet.
"""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from side_by_side.contest import Contender, Contest, Facts, hold, ratios_line

OURS = "sfumato"
COLLECTOR, BY_HAND = "sfumato's collector", "DuckDB by hand"
CONTENDERS = (
    Contender(OURS, "local/sfumato.py"),
    Contender("multi-freq-ldpy", "local/multi_freq_ldpy.py", environment="multi_freq_ldpy"),
    Contender("pure-ldp", "local/pure_ldp.py", environment="pure_ldp"),
    Contender("published bounds", "local/shuffle_bounds.py", environment="shuffle_bounds"),
    Contender(COLLECTOR, "local/collector.py"),
    Contender(BY_HAND, "local/collector_plain.py"),
)
PROTOCOLS = ("grr", "oue", "olh")
"""Those of the last line."""

OTHERS = ("ss", "sue", "the", "hr", "pgr")
"""Subset selection, symmetric unary encoding, thresholded histograms, Hadamard and projective-geometry response."""


def label(facts: Facts) -> str:
    """Says in a few words what was just measured."""
    return f"{facts['case']} {facts['kind']}"


def one(contest: Contest, fact: str, **facts: object) -> float | None:
    """A number of the only measurement of that description, if it was made."""
    measured = contest.where(**facts)
    return measured[0][fact] if measured else None


def times_faster(contest: Contest, case: str) -> float | None:
    """How many times the people a second of the best rival ours are."""
    rivals = [facts["users_s"] for facts in contest.where(case=case, kind="frequencies") if facts["contender"] != OURS]
    ours = one(contest, "users_s", contender=OURS, case=case, kind="frequencies")
    return ours / max(rivals) if ours and rivals else None


def against_rivals(contest: Contest) -> float | None:
    """The error of our best protocol, made consistent, over the least of a rival's with as many people."""
    shares = []
    for facts in contest.where(kind="frequencies"):
        same = one(contest, "error", contender=OURS, case="best", kind="consistent", people=facts["people"])
        if facts["contender"] != OURS and same is not None:
            shares.append(same / facts["error"])
    return max(shares, default=None)


def against_sql(contest: Contest) -> float | None:
    """The most times that summing up a store takes as long as the plain query; no number if sums differ."""
    shares = []
    for facts in contest.where(kind="stored", contender=COLLECTOR):
        [plain] = contest.where(kind="stored", contender=BY_HAND, case=facts["case"]) or [facts | {"checksum": None}]
        shares.append(facts["seconds"] / plain["seconds"] if plain["checksum"] == facts["checksum"] else None)
    return None if None in shares else max((share for share in shares if share is not None), default=None)


def stores(contest: Contest) -> Table:
    """Draws the table of stored reports."""
    table = Table("stored reports", "contender", "ms", "ns a report", title="Sums of stored reports")
    for facts in contest.where(kind="stored"):
        seconds = facts["seconds"]
        table.add_row(
            facts["case"], facts["contender"], f"{seconds * 1e3:.1f}", f"{seconds / facts['people'] * 1e9:.2f}"
        )
    return table


def speeds(contest: Contest) -> Table:
    """Draws the table of protocols."""
    table = Table("protocol", "contender", "what", "people", "values", "people/s", "error · n", title="Local protocols")
    for column in table.columns[3:]:
        column.justify = "right"
    for case in (*PROTOCOLS, *OTHERS, "best"):
        for facts in contest.where(case=case):
            if "users_s" in facts:
                cells = (
                    f"{facts['people']:,}",
                    f"{facts['values']:,}",
                    f"{facts['users_s']:,.0f}",
                    f"{facts['error']:.4g}",
                )
                table.add_row(case, facts["contender"], facts["kind"], *cells)
        table.add_section()
    return table


NO_BOUND = ("variation ratio",)
"""What is published for one protocol and shown, but is no bound (proofs/shuffling.md#protocols)."""


def published(contest: Contest, facts: Facts) -> dict[str, float]:
    """What others say of the same reports, by the name of the method."""
    same = {name: facts[name] for name in ("protocol", "local", "power")}
    return {one["method"]: one["epsilon"] for one in contest.where(case="shuffle", kind="published", **same)}


def shuffle_against_best(contest: Contest) -> float | None:
    """The worst of our ε for shuffled reports over the least that is published and proved."""
    shares = []
    for facts in contest.where(case="shuffle", kind="certified"):
        others = [epsilon for method, epsilon in published(contest, facts).items() if method not in NO_BOUND]
        if others:
            shares.append(facts["epsilon"] / min(others))
    return max(shares, default=None)


def races(contest: Contest) -> Table:
    """Draws how many times as fast each is, and its error over the exact one; of the best, over the least possible."""
    table = Table("protocol", "times the best rival's people/s", "error over the exact one", title="Races")
    for case in (*PROTOCOLS, *OTHERS, "best"):
        error, theory = (
            one(contest, "error", contender=OURS, case=case, kind=kind) for kind in ("frequencies", "theory")
        )
        faster = times_faster(contest, case)
        table.add_row(case, f"{faster:,.1f}" if faster else "–", f"{error / theory:.3f}" if error and theory else "?")
    return table


def shuffles(contest: Contest) -> Table:
    """Draws the table of bounds for shuffled reports."""
    columns = ("protocol", "local ε", "reports", "certified ε at δ = 1e-8", "seconds", "published ε")
    table = Table(*columns, title="Shuffled reports")
    for facts in contest.where(case="shuffle", kind="certified"):
        others = ", ".join(f"{method} {epsilon:.6g}" for method, epsilon in published(contest, facts).items())
        numbers = (f"{facts['local']:g}", f"1e{facts['power']}", f"{facts['epsilon']:.6g}", f"{facts['seconds']:.2g}")
        table.add_row(facts["protocol"], *numbers, others)
    return table


def main() -> int:
    """Holds the contest and prints the tables and the ratios."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    contest = hold(CONTENDERS, console=console, label=label)
    console.print(speeds(contest))
    console.print(races(contest))
    console.print(shuffles(contest))
    console.print(stores(contest))
    error, theory = (
        one(contest, "error", contender=OURS, case="best", kind=kind) for kind in ("frequencies", "theory")
    )
    numbers = {case: times_faster(contest, case) for case in PROTOCOLS} | {
        "grr_users_s": one(contest, "users_s", contender=OURS, case="grr", kind="frequencies"),
        "mse_vs_theory": error / theory if error and theory else None,
        "mse_vs_best_rival": against_rivals(contest),
        "aggregate_vs_sql": against_sql(contest),
        "shuffle_vs_best": shuffle_against_best(contest),
        "shuffle_s": max((facts["seconds"] for facts in contest.where(case="shuffle", kind="certified")), default=None),
    }
    print(ratios_line(numbers))
    return 1 if OURS in contest.missing else 0


if __name__ == "__main__":
    sys.exit(main())

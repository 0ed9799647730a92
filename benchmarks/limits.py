"""Compares how many questions a limit answers: by the best rule, by adding up, and in other libraries.

Run it with `make bench-limits`; it takes some minutes. All questions are counts, each of other rows, with the noise at
which our rule answers 1,000 of them under the limit; sessions ask until they are refused. Adding up has the best δ for
each question, and the peers the same (ε, δ) limit and the same error. The last line gives our answers over those by
adding up at ε = 1, δ = 10⁻⁶ with Laplace and Gaussian noise and with both in turns, our answers over those of the
peers, and the scale of the Gaussian noise that one question gets for all of that limit.
"""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from side_by_side.contest import Contender, Contest, Facts, hold, ratios_line

OURS, TUMULT, OPENDP = "sfumato", "Tumult Analytics", "OpenDP"
FIRST = 1


def label(facts: Facts) -> str:
    """What was just measured."""
    return str(facts["case"])


def table(contest: Contest, peers: Contest) -> Table:
    """Draws how many questions each limit answers."""
    drawn = Table(title="Counts that a limit answers, with noise at which our rule answers 1,000")
    for heading in ("limit", "noise", "scale", "best rule", "adding up", TUMULT, OPENDP):
        drawn.add_column(heading, justify="left" if heading in ("limit", "noise") else "right")
    for facts in contest.where(kind="answers"):
        both = (TUMULT, OPENDP) if facts["session"] == "gaussian" else ()
        theirs = [answers(peers, name, facts["epsilon"]) for name in both]
        cells = [f"{facts['best']:,}", f"{facts['added']:,}", *("" if n is None else f"{n:,}" for n in theirs)]
        drawn.add_row(f"ε = {facts['epsilon']}, δ = 1e-6", facts["session"], f"{facts['scale']:.1f}", *cells)
    return drawn


def answers(peers: Contest, name: str, epsilon: float) -> int | None:
    """How many questions a peer answered at an ε, if it took part."""
    found = peers.where(contender=name, kind="peer", epsilon=float(epsilon))
    return found[0]["answers"] if found else None


def main() -> None:
    """Runs everybody and prints what they answered."""
    console = Console()
    contest = hold([Contender(OURS, "limits/sfumato.py")], console=console, label=label)
    gaussian = contest.where(kind="answers", session="gaussian")
    scales = tuple(f"{facts['epsilon']}={facts['scale']}" for facts in gaussian)
    others = (
        Contender(OPENDP, "limits/opendp.py", "opendp", scales),
        Contender(TUMULT, "limits/tumult.py", "tumult", scales),
    )
    peers = hold(others, console=console, label=label)
    console.print(table(contest, peers))
    ratios: dict[str, float | None] = {}
    for facts in contest.where(kind="answers", epsilon=FIRST):
        ratios[f"{facts['session']}_1000"] = facts["best"] / max(1, facts["added"])
    best = {facts["epsilon"]: facts["best"] for facts in gaussian}.get(FIRST)
    for name, peer in (("vs_tumult", TUMULT), ("vs_opendp", OPENDP)):
        theirs = answers(peers, peer, FIRST)
        ratios[name] = best / max(1, theirs) if best is not None and theirs is not None else None
    scale = contest.where(kind="scale")
    ratios["scale_1e6"] = scale[0]["scale"] if scale else None
    order = ("gaussian_1000", "laplace_1000", "mixed_1000", "vs_tumult", "vs_opendp", "scale_1e6")
    console.print(ratios_line({name: ratios.get(name) for name in order}), highlight=False, soft_wrap=True)
    sys.exit(1 if contest.missing else 0)


if __name__ == "__main__":
    main()

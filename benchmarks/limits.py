"""Compares how many questions a limit answers: by the best rule, by adding up, and in other libraries.

Run it with `make bench-limits`; it takes some minutes. All questions are counts, each of other rows, with the noise at
which our rule answers 50, 1,000 or 10,000 of them under the limit; sessions ask until they are refused (those of
10,000 are counted by the same rule and not asked, which would take a minute each). Adding up has the best δ for each
question, and the peers the same limit and the same error. Of ρ the sum is the best rule there is. Spark takes its time
for a question, so peers are asked in the shortest sessions, and Tumult under (ε, δ) only in the Gaussian one.

The last line gives our answers over those by adding up at ε = 1, δ = 10⁻⁶ with Gaussian and Laplace noise and with both
in turns, our answers over those of the peers, and the scale of the Gaussian noise that one question gets for all of
that limit; then the first three for 10,000 questions, and our answers over those of the peers under a limit of ρ. It
fails where adding up answers more than our rule.
"""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from contenders.limits.cases import DELTA, EPSILON, GAUSSIAN, KINDS, LIMITS, QUESTIONS, RHO, Case
from side_by_side.contest import Contender, Contest, Facts, hold, ratios_line

OURS, TUMULT, OPENDP = "sfumato", "Tumult Analytics", "OpenDP"
FIRST, FEWEST = LIMITS[0][1], {measure: sizes[0] for measure, sizes in QUESTIONS.items()}


def label(facts: Facts) -> str:
    """What was just measured."""
    return str(facts["case"])


def case_of(facts: Facts) -> Case:
    """The session that was measured."""
    return Case(*(facts[name] for name in Case._fields))


def table(contest: Contest, peers: Contest) -> Table:
    """Draws how many questions each limit answers."""
    drawn = Table(title="Counts that a limit answers")
    for heading in ("limit", "noise", "scale", "best rule", "adding up", TUMULT, OPENDP):
        drawn.add_column(heading, justify="left" if heading in ("limit", "noise") else "right")
    for facts in contest.where(kind="answers"):
        case = case_of(facts)
        numbers = (facts["best"], facts["added"], *(answers(peers, name, case) for name in (TUMULT, OPENDP)))
        limit = f"ε = {case.limit:g}, δ = {DELTA:g}" if case.measure == EPSILON else f"ρ = {case.limit:g}"
        drawn.add_row(limit, case.session, f"{case.scale:,}", *("" if n is None else f"{n:,}" for n in numbers))
    return drawn


def answers(peers: Contest, name: str, case: Case) -> int | None:
    """How many questions a peer answered, if it took part."""
    measured = peers.where(contender=name, kind="peer", **case._asdict())
    return measured[0]["answers"] if measured else None


def against_peers(contest: Contest) -> tuple[Contender, Contender]:
    """The peers, each with the sessions that it is asked."""
    short = [case for case in map(case_of, contest.where(kind="answers")) if case.questions == FEWEST[case.measure]]
    few = [case for case in short if case.measure == RHO or case.session == GAUSSIAN]
    return (
        Contender(OPENDP, "limits/opendp.py", "opendp", tuple(map(str, short))),
        Contender(TUMULT, "limits/tumult.py", "tumult", tuple(map(str, few))),
    )


def ratios(contest: Contest, peers: Contest) -> dict[str, float | None]:
    """The numbers of the last line."""

    def over_sum(session: str, questions: int) -> float | None:
        measured = contest.where(kind="answers", measure=EPSILON, limit=FIRST, session=session, questions=questions)
        return measured[0]["best"] / max(1, measured[0]["added"]) if measured else None

    def over_peer(name: str, measure: str, session: str = GAUSSIAN) -> float | None:
        for facts in contest.where(kind="answers", measure=measure, session=session, questions=FEWEST[measure]):
            theirs = answers(peers, name, case_of(facts))
            return None if theirs is None else facts["best"] / max(1, theirs)
        return None

    few, many = QUESTIONS[EPSILON]
    bought = contest.where(kind="scale")
    order = (GAUSSIAN, *(kind for kind in KINDS if kind != GAUSSIAN))
    return {
        **{f"{session}_{few}": over_sum(session, few) for session in order},
        "vs_tumult": over_peer(TUMULT, EPSILON),
        "vs_opendp": over_peer(OPENDP, EPSILON),
        "scale_1e6": bought[0]["bought"] if bought else None,
        **{f"{session}_{many}": over_sum(session, many) for session in order},
        **{f"rho_{session}_vs_tumult": over_peer(TUMULT, RHO, session) for session in order},
        **{f"rho_{session}_vs_opendp": over_peer(OPENDP, RHO, session) for session in order},
    }


def main() -> None:
    """Runs everybody and prints what they answered."""
    console = Console()
    contest = hold([Contender(OURS, "limits/sfumato.py")], console=console, label=label)
    peers = hold(against_peers(contest), console=console, label=label)
    console.print(table(contest, peers))
    fewer = [facts["case"] for facts in contest.where(kind="answers") if facts["best"] < facts["added"]]
    if fewer:
        console.print(f"[red]Adding up answers more: {', '.join(fewer)}[/red]")
    console.print(ratios_line(ratios(contest, peers)), highlight=False, soft_wrap=True)
    sys.exit(1 if contest.missing or fewer else 0)


if __name__ == "__main__":
    main()

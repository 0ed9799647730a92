"""Compares the accountant with its peers: how tight an ε is, and the time from nothing to the answer.

Run it with `make bench-accounting`, after `make peers`; it takes some minutes, most of them the peers'. sfumato's
answers are certified brackets; of the peers, prv_accountant gives a bracket and dp_accounting an upper bound, both up
to rounding that they do not count. The last line gives our worst error on Gaussians, the two ends for DP-SGD, the upper
end and the width for a thousand different mechanisms, the calibrated noise, and our times over those of dp_accounting's
fastest setting that is as tight as ours; then, over a grid of 200 settings of DP-SGD, the worst relative width, the
worst ratio of our upper end to dp_accounting's where that is no lower than what is certain, the longest time, and the
longest search for noise. `python benchmarks/accounting.py --grid` asks for the grid and the searches for noise alone.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from rich.console import Console
from rich.table import Table

from contenders.accounting.cases import DPSGD, EXACT, GAUSS, GRID_ONLY, HETERO, QUESTIONS, Question
from side_by_side.contest import Contender, Contest, Facts, hold

OURS, PEER = "sfumato", "dp_accounting"
BRACKET = "bracket"
CONTENDERS = (
    Contender(OURS, "accounting/sfumato.py"),
    Contender(PEER, "accounting/dp_accounting.py", environment="dp_accounting"),
    Contender("prv_accountant", "accounting/prv_accountant.py", environment="prv_accountant"),
)
SIGMA_SLACK = 1e-5
"""Noise that is larger than ours by less than this counts as equally well calibrated."""


def label(facts: Facts) -> str:
    """Says in a few words what was just measured."""
    return f"{facts['case']} at δ = {facts['delta']:g} by {facts['way']}"


def asked(question: Question) -> Facts:
    """Gives the facts by which the answers to a question are found."""
    return {"case": question.case, "delta": question.delta, "relation": question.relation}


def our_bracket(contest: Contest, question: Question) -> Facts | None:
    """Gives our answer to a question, if there is one."""
    found = contest.where(contender=OURS, kind="epsilon", way=BRACKET, **asked(question))
    return found[0] if found else None


def gaussian_error(contest: Contest) -> float | None:
    """Gives how far our ε for Gaussians is from the exact one, at the δ where that is worst."""
    answers = [(our_bracket(contest, question), EXACT[question.delta]) for question in GAUSS]
    errors = [abs(ours["upper"] - exact) for ours, exact in answers if ours is not None]
    return max(errors) if len(errors) == len(GAUSS) else None


def fair_rival(rivals: list[Facts], most: float) -> Facts | None:
    """Gives the fastest of the rival's answers that are no looser than ``most``, or the tightest if none is."""
    tight = [facts for facts in rivals if facts["upper"] <= most]
    if tight:
        return min(tight, key=lambda facts: float(facts["seconds"]))
    return min(rivals, key=lambda facts: float(facts["upper"]), default=None)


def time_ratio(contest: Contest, question: Question) -> float | None:
    """Gives our time over that of the peer's fastest setting as tight as ours: within the width of our bracket."""
    ours = our_bracket(contest, question)
    rivals = contest.where(contender=PEER, kind="epsilon", **asked(question))
    if ours is None or not rivals:
        return None
    rival = fair_rival(rivals, 2 * ours["upper"] - ours["lower"])
    return None if rival is None else float(ours["seconds"] / rival["seconds"])


def sigma_figures(contest: Contest) -> dict[str, float | None]:
    """Gives the noise that we calibrate, and our time over that of the peer's fastest setting as tight as ours."""
    ours = contest.where(contender=OURS, kind="sigma", way=BRACKET)
    if not ours:
        return {"sigma": None, "sigma_time": None}
    rival = fair_rival(contest.where(contender=PEER, kind="sigma"), ours[0]["upper"] + SIGMA_SLACK)
    ratio = None if rival is None else ours[0]["seconds"] / rival["seconds"]
    return {"sigma": ours[0]["upper"], "sigma_time": ratio}


def grid_figures(contest: Contest) -> dict[str, float | None]:
    """Gives the worst of the grid: width, upper end over the peer's, seconds; and the longest calibration."""
    ours = contest.where(contender=OURS, kind="grid")
    pairs = [
        (facts, peer)
        for facts in ours
        for peer in contest.where(contender=PEER, kind="grid", case=facts["case"], delta=facts["delta"])
        if peer["upper"] >= facts["lower"] and peer["upper"] > 0
    ]
    searches = contest.where(contender=OURS, kind="calibration")
    return {
        "grid_worst_width": max(
            (1 - facts["lower"] / facts["upper"] for facts in ours if facts["upper"]), default=None
        ),
        "grid_worst_vs_peer": max((facts["upper"] / peer["upper"] for facts, peer in pairs), default=None),
        "grid_worst_s": max((facts["seconds"] for facts in ours), default=None),
        "calibrate_worst_s": max((facts["seconds"] for facts in searches), default=None),
    }


def worst_settings(contest: Contest) -> Table:
    """Draws the settings of the grid that are widest, slowest, or farthest above the peer."""
    table = Table("setting", title="The grid of DP-SGD: our widest and slowest brackets, and all calibrations")
    for heading in ("δ", "lower", "upper", "seconds"):
        table.add_column(heading, justify="right")
    ours = contest.where(contender=OURS, kind="grid")
    widest = sorted(ours, key=lambda facts: -(facts["upper"] - facts["lower"]) / max(facts["upper"], 1e-300))[:5]
    slowest = sorted(ours, key=lambda facts: -facts["seconds"])[:5]
    for facts in (*widest, *slowest, *contest.where(contender=OURS, kind="calibration")):
        lower = "–" if facts.get("lower") is None else f"{facts['lower']:.7g}"
        table.add_row(facts["case"], f"{facts['delta']:g}", lower, f"{facts['upper']:.7g}", f"{facts['seconds']:.3g}")
    return table


def figures(contest: Contest) -> dict[str, float | None]:
    """Gives the figures of the last line."""
    training, mixed = our_bracket(contest, DPSGD) or {}, our_bracket(contest, HETERO) or {}
    return {
        "gauss_err": gaussian_error(contest),
        "dpsgd_low": training.get("lower"),
        "dpsgd_high": training.get("upper"),
        "dpsgd_time": time_ratio(contest, DPSGD),
        "hetero_high": mixed.get("upper"),
        "hetero_width": mixed["upper"] - mixed["lower"] if mixed else None,
        "hetero_time": time_ratio(contest, HETERO),
        **sigma_figures(contest),
        **grid_figures(contest),
    }


def last_line(contest: Contest) -> str:
    """Gives the figures for a program, with the digits that a bracket needs; `?` for what was not measured."""
    parts = (f"{name}={'?' if value is None else format(value, '.7g')}" for name, value in figures(contest).items())
    return "ratios: " + " ".join(parts)


def answers(contest: Contest) -> Table:
    """Draws the table of every answer to every question."""
    table = Table(title="ε of a plan: the bracket, how far its upper end is above the best lower bound, and the time")
    for heading in ("case", "δ", "neighbours", "contender", "way", "lower", "upper", "above", "seconds"):
        table.add_column(heading, justify="right" if heading in ("δ", "lower", "upper", "above", "seconds") else "left")
    for question in QUESTIONS:
        floor = best_lower(contest, question)
        for facts in contest.where(**asked(question)):
            table.add_row(*row(facts, floor))
        table.add_section()
    return table


def best_lower(contest: Contest, question: Question) -> float | None:
    """Gives what no right answer is below: the exact ε where it is known, else our lower end."""
    if question in GAUSS:
        return EXACT[question.delta]
    ours = our_bracket(contest, question)
    return None if ours is None else float(ours["lower"])


def row(facts: Facts, floor: float | None) -> tuple[str, ...]:
    """Gives the cells of one answer, or of a refusal."""
    start = (facts["case"], f"{facts['delta']:g}", facts["relation"], facts["contender"], facts["way"])
    if facts["kind"] == "refusal":
        return (*start, "–", "refused", "–", "–")
    lower, above = facts["lower"], "–" if floor is None else f"{facts['upper'] - floor:.2g}"
    return (*start, "–" if lower is None else f"{lower:.7g}", f"{facts['upper']:.7g}", above, f"{facts['seconds']:.3g}")


def calibrations(contest: Contest) -> Table:
    """Draws the table of calibrated noise."""
    table = Table("contender", "way", title="The least noise for ε = 1 at δ = 1e-5, 1000 steps at rate 0.01")
    table.add_column("noise", justify="right")
    table.add_column("seconds", justify="right")
    for facts in contest.where(kind="sigma"):
        table.add_row(facts["contender"], facts["way"], f"{facts['upper']:.7g}", f"{facts['seconds']:.3g}")
    return table


def main() -> int:
    """Holds the contest and prints the tables and the figures."""
    parser = argparse.ArgumentParser(description="Compares the accountant with its peers.")
    parser.add_argument(GRID_ONLY, action="store_true", dest="grid", help="the grid and the searches for noise alone")
    console = Console(width=None if sys.stdout.isatty() else 140)
    if parser.parse_args().grid:
        contenders = tuple(replace(one, arguments=(GRID_ONLY,)) for one in CONTENDERS if one.name in (OURS, PEER))
        contest = hold(contenders, console=console, label=label)
    else:
        contest = hold(CONTENDERS, console=console, label=label)
        console.print(answers(contest))
        console.print(calibrations(contest))
    console.print(worst_settings(contest))
    print(last_line(contest))
    return 1 if OURS in contest.missing else 0


if __name__ == "__main__":
    sys.exit(main())

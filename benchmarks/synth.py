"""Compares synthetic tables with those of other libraries, on the same rows and at the same loss.

Run it with `make bench-synth`, after `make peers`. Every method runs in an interpreter of its own on every table at
every ε, several times; the first time counts as cold, with all that is imported and compiled. What the others did is
kept in `.peers/synth/`, since they need hours, and read from there the next time if no more is asked then. The error
is the mean total variation distance of all marginals of two columns.

The last line gives ratios of mean errors, as geometric means over tables and ε: our MST over mbi's, with the ratio of
cold times (without those that other work on the machine held up); our AIM over our MST at ε = 1, with its longest cold
time and its most memory; our MWEM and PrivBayes over those of SmartNoise and DataSynthesizer. `sample_rows_s` is how
many rows a second a model of 10⁷ rows gives.
`tstr_vs_best` looks at areas under the curve on real rows that were held out, at ε = 1: of learners that saw rows of
our AIM only, over the best other one's, as a geometric mean over tables.

`--part mst --part aim` measures these only, `--quick` little of all; `--table` and `--epsilon` choose cases. With
`--others never` only ours run, next to what is kept of the others; with `--others again` all run anew.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import product
from statistics import geometric_mean, stdev

from rich.console import Console
from rich.table import Table as Drawn

from contenders.synth import judging
from contenders.synth.cases import EPSILONS, FOLDER, TABLES, Table
from contenders.synth.jobs import DATASYNTHESIZER, MBI, OURS, SMARTNOISE, Job, Outcome, known_tables, of, outcome
from side_by_side.contest import Contender, hold, ratios_line

PARTS = {
    "independent": ((OURS, "independent"),),
    "mst": ((OURS, "mst"), (MBI, "mst")),
    "aim": ((OURS, "aim"), (MBI, "aim")),
    "mwem": ((OURS, "mwem"), (SMARTNOISE, "mwem")),
    "privbayes": ((OURS, "privbayes"), (DATASYNTHESIZER, "privbayes-1"), (DATASYNTHESIZER, "privbayes-2")),
}
"""Methods, and who has them in which ways; of several ways of another library the best counts in each case."""

NARROW = 10
"""DataSynthesizer looks for two parents where there are so many columns at most; with more it would take hours."""

LARGE = "large"
ROWS = 10_000_000
RUNS, QUICK_RUNS = 5, 2
SECONDS, QUICK_SECONDS = 900.0, 120.0
"""How long a method may take; mbi's AIM looks at the clock, and hands over what it has by then."""

ONCE, AGAIN, NEVER = "once", "again", "never"
"""Whether other libraries run: where too little of them is kept, anyhow, or not at all."""

AT = 1.0
"""The ε at which AIM is compared, and mbi's is run, which takes its whole time on every table."""


def prepare(console: Console) -> None:
    """Writes the tables, the real ones out of the packages that bring them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    bundled = Contender("tables", "synth/bundled.py", environment="tables", arguments=(str(FOLDER),))
    real = [table for table in TABLES.values() if table.columns is not None]
    if bundled.ready and not all(table.raw.exists() for table in real):
        list(bundled.measure())
    list(Contender("tables", "synth/tables.py").measure())
    missing = [table.name for table in TABLES.values() if not table.there]
    if missing:
        console.print(f"Without {', '.join(missing)}: `make peers` builds the environment that brings them.")


def asked_of(parts: list[str], tables: list[Table], epsilons: list[float]) -> list[Job]:
    """What is to be measured: ours first, so that it is seen soon."""
    jobs = [
        Job(contender, way, table, epsilon)
        for part, table, epsilon in product(parts, tables, epsilons)
        if part in PARTS
        for contender, way in PARTS[part]
        if (contender, way) != (MBI, "aim") or epsilon == AT
        if way != "privbayes-2" or len(table.names) <= NARROW
    ]
    return sorted(jobs, key=lambda job: job.contender != OURS)


def measured(jobs: list[Job], runs: int, seconds: float, others: str, console: Console) -> list[Outcome]:
    """Runs every job, or reads what the others did before; ``others`` says whether they run."""
    outcomes, absent = [], []
    with console.status("…") as status:
        for job in jobs:
            told = f"{job.contender} {job.method} on {job.table.name} at ε = {job.epsilon:g}"
            facts = []
            if job.contender != OURS and others != AGAIN:
                facts = job.stored() if others == NEVER else job.stored(runs, seconds)
                if not facts and others == NEVER:
                    continue
            if not facts and not job.ready:
                absent.append(job.contender)
                continue
            if not facts:
                status.update(told)
                facts = list(job.measure(runs, seconds))
            if any(found["kind"] == "failed" for found in facts):
                console.print(f"[red]{told} failed or was ended[/red]")
            known = outcome(job, facts)
            outcomes += [known] if known else []
    if absent:
        names = ", ".join(dict.fromkeys(absent))
        console.print(f"Not installed: {names}. `make peers` builds their environments, in .peers/.")
    return outcomes


def drawn(outcomes: list[Outcome], tables: list[Table], epsilons: list[float]) -> Drawn:
    """Draws the table of all that was measured, next to what needs no privacy."""
    heads = ("table", "ε", "method", "of", "pairs", "± of a run", "triples", "area", "cold s", "its processors' s",
             "warm s", "GB", "runs")  # fmt: skip
    shown = Drawn(*heads, title="Distances of marginals of two and three columns; learners' areas; times and memory")
    for table in tables:
        for name, figures in judging.without_privacy(table).items():
            numbers = [f"{figures['pairs']:.4f}", "", f"{figures['triples']:.4f}", f"{figures['area']:.3f}"]
            shown.add_row(table.name, "∞", name, "", *numbers)
        for epsilon, method in product(epsilons, PARTS):
            for known in outcomes:
                if (known.job.table, known.job.epsilon, known.job.part) == (table, epsilon, method):
                    shown.add_row(*cells(known))
    return shown


def cells(known: Outcome) -> list[str]:
    """One line of the table."""
    job, errors = known.job, [facts["pairs"] for facts in known.runs]
    spread = f"{stdev(errors):.4f}" if len(errors) > 1 else "–"
    times = [f"{known.cold['seconds']:.1f}", f"{known.cold['processors']:.1f}"]
    warm = "–" if known.warm is None else f"{known.warm:.2f}"
    who = job.contender if known.done else f"{job.contender}, unfinished"
    quality = [f"{known.error:.4f}", spread, f"{known.triples:.4f}", f"{known.area:.3f}"]
    memory = f"{known.cold['gigabytes']:.2f}"
    return [job.table.name, f"{job.epsilon:g}", job.method, who, *quality, *times, warm, memory, str(len(errors))]


def against(outcomes: list[Outcome], method: str, other: str, console: Console) -> tuple[float | None, float | None]:
    """Our mean error over another library's, and cold time over cold time, as geometric means; prints lost cases."""
    ours, theirs = of(outcomes, OURS, method), of(outcomes, other, method)
    cases = [case for case in ours if case in theirs]
    if not cases:
        return None, None
    ratios = {case: ours[case].error / theirs[case].error for case in cases}
    lost = [f"{name} at ε = {epsilon:g} ({ratios[name, epsilon]:.2f})" for name, epsilon in cases if
            ratios[name, epsilon] > 1]  # fmt: skip
    console.print(f"{method}: worse than {other} in {len(lost)} of {len(cases)} cases {', '.join(lost)}".rstrip())
    calm = [case for case in cases if not ours[case].held_up and not theirs[case].held_up]
    if len(calm) < len(cases):
        told = f"{len(cases) - len(calm)} of {len(cases)} times of {method} left out"
        console.print(f"[red]The machine was busy: {told}.[/red] `--others again` takes those of others anew.")
    times = [ours[case].cold["seconds"] / theirs[case].cold["seconds"] for case in calm]
    return geometric_mean(ratios.values()), geometric_mean(times) if times else None


def aim(outcomes: list[Outcome], console: Console) -> dict[str, float | None]:
    """Our AIM at ε = 1: its error over that of MST, its longest time, its most memory."""
    ours, tree, theirs = (of(outcomes, *who) for who in ((OURS, "aim"), (OURS, "mst"), (MBI, "mst")))
    at = [case for case in ours if case[1] == AT]
    for name, others in ((OURS, tree), (MBI, theirs)):
        shares = [f"{case[0]} {ours[case].error / others[case].error:.2f}" for case in at if case in others]
        console.print(f"AIM over {name}'s MST at ε = {AT:g}: {', '.join(shares) or '–'}")
    over = [ours[case].error / tree[case].error for case in at if case in tree]
    return {
        "aim_vs_mst": geometric_mean(over) if over else None,
        "aim_s": max((ours[case].cold["seconds"] for case in at), default=None),
        "aim_gb": max((ours[case].cold["gigabytes"] for case in at), default=None),
    }


def learners(outcomes: list[Outcome], console: Console) -> float | None:
    """The area of learners on rows of our AIM over the best other one's, as a geometric mean over tables."""
    shares = []
    for (name, epsilon), known in of(outcomes, OURS, "aim").items():
        others = [
            other for other in outcomes
            if other.job.contender != OURS and (other.job.table.name, other.job.epsilon) == (name, epsilon)
        ]  # fmt: skip
        if epsilon == AT and others:
            best = max(others, key=lambda other: other.area)
            shares.append(known.area / best.area)
            rival = f"{best.area:.3f} of {best.job.contender}'s {best.job.method}"
            console.print(f"Learners on {name}: area {known.area:.3f} with our AIM, {rival}")
    return geometric_mean(shares) if shares else None


def not_alone(outcomes: list[Outcome], console: Console) -> None:
    """Prints where a method of ours is worse than independent columns at the same ε."""
    alone = of(outcomes, OURS, "independent")
    for known in outcomes:
        base = alone.get((known.job.table.name, known.job.epsilon))
        if base is not None and known.job.contender == OURS and known.error > base.error:
            job = known.job
            console.print(f"[red]Our {job.method} on {job.table.name} at ε = {job.epsilon:g} is worse than "
                          f"independent columns: {known.error:.4f}, {base.error:.4f}[/red]")  # fmt: skip


def large(rows: int, console: Console) -> float | None:
    """Times fits on many rows, the same marginals in DuckDB, and sampling; each in an interpreter of its own."""
    label = lambda facts: f"{facts['kind']} of {facts['case']}"  # noqa: E731
    with tempfile.TemporaryDirectory(prefix="sfumato-", dir="/var/tmp") as folder:
        told = (folder, str(rows))
        runs = [Contender(way, "synth/large.py", arguments=(*told, way)) for way in ("rows", "hand", "mst", "aim")]
        contest = hold(runs, console=console, label=label)
    hand = contest.where(kind="hand")
    heads = ("method", "fit s", "its processors' s", "of DuckDB's, less 30 s", "rows a second", "of processors", "GB")
    table = Drawn(*heads, title=f"{rows:,} rows")
    for facts in [*hand, *contest.where(kind="fit")]:
        share = f"{(facts['seconds'] - 30) / hand[0]['seconds']:.2f}" if hand and "rate" in facts else "–"
        rates = [f"{facts[rate]:,.0f}" if rate in facts else "–" for rate in ("rate", "busy")]
        fit = [f"{facts['seconds']:.1f}", f"{facts['processors']:.1f}", share]
        table.add_row(facts["case"], *fit, *rates, f"{facts['gigabytes']:.2f}")
    console.print(table)
    return min((facts["rate"] for facts in contest.where(kind="fit")), default=None)


def read_arguments(arguments: list[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--part", action="append", choices=[*PARTS, LARGE], help="what to measure; all by default")
    parser.add_argument("--table", action="append", choices=list(TABLES), help="on which tables")
    parser.add_argument("--epsilon", action="append", type=float, choices=EPSILONS, help="at which ε")
    parser.add_argument("--runs", type=int, help=f"runs of each; {RUNS} by default")
    parser.add_argument("--rows", type=int, default=ROWS, help="rows of the large table")
    parser.add_argument("--quick", action="store_true", help="the smaller tables, ε = 1, few runs, two minutes each")
    told = "when other libraries run; where too little is kept of them, unless said otherwise"
    parser.add_argument("--others", choices=(ONCE, AGAIN, NEVER), default=ONCE, help=told)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Measures, and prints the tables and the figures."""
    asked = read_arguments(arguments)
    console = Console(width=None if sys.stdout.isatty() else 180)
    prepare(console)
    parts = asked.part or [*PARTS, LARGE]
    tables = [TABLES[name] for name in asked.table] if asked.table else known_tables(asked.quick)
    epsilons = asked.epsilon or ([AT] if asked.quick else list(EPSILONS))
    runs = asked.runs or (QUICK_RUNS if asked.quick else RUNS)
    seconds = QUICK_SECONDS if asked.quick else SECONDS
    outcomes = measured(asked_of(parts, tables, epsilons), runs, seconds, asked.others, console)
    if outcomes:
        console.print(drawn(outcomes, tables, epsilons))
    not_alone(outcomes, console)
    tree, speed = against(outcomes, "mst", MBI, console)
    figures = {"mst_tvd_vs_mbi": tree, "mst_time_vs_mbi": speed, **aim(outcomes, console)}
    figures["mwem_vs_smartnoise"] = against(outcomes, "mwem", SMARTNOISE, console)[0]
    figures["privbayes_vs_peer"] = against(outcomes, "privbayes", DATASYNTHESIZER, console)[0]
    figures["sample_rows_s"] = large(asked.rows, console) if LARGE in parts else None
    print(ratios_line(figures | {"tstr_vs_best": learners(outcomes, console)}))
    return 0 if any(known.job.contender == OURS for known in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

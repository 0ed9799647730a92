"""Compares private training with plain PyTorch and with Opacus: time a step, accuracy at one ε, and broken copies.

Run it with `make bench-train`, after `make peers`; it takes some minutes. Every contender has an interpreter of its own
and one thread. For times they take turns, a few steps each, so that what else the machine does hits all alike; what
counts is the time of processors, and a ratio is the middle one over all turns. Ours has everything in it that
belongs to a private step: secret batches out of 60,000 rows and noise from our own entropy. Plain PyTorch and Opacus
get shuffled batches by index, the cheapest way there is, and Opacus draws its noise by torch.

`mlp_vs_plain` … are our time over theirs, batches included; of Opacus' two modes (hooks, ghost) the faster one counts.
`accuracy_vs_opacus` is our mean accuracy over theirs, at ε = 3 with the same models, weights at the start and
parameters over all seeds, on the task where that is least. `--quick` takes a few turns and seeds, and no broken copies.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from math import sqrt
from statistics import mean, median, stdev
from typing import Any, final

from rich.console import Console
from rich.table import Table

from side_by_side.contest import BENCHMARKS, ROOT, Contender, Contest, Facts, hold, ratios_line

OURS, PLAIN, HOOKS, GHOST = "sfumato", "plain PyTorch", "Opacus, hooks", "Opacus, ghost"
SPEED = (
    Contender(PLAIN, "train/plain.py"),
    Contender(OURS, "train/sfumato.py", arguments=("speed",)),
    Contender(GHOST, "train/opacus.py", environment="opacus", arguments=("speed", "ghost")),
    Contender(HOOKS, "train/opacus.py", environment="opacus", arguments=("speed", "hooks")),
)
STEPS = {"mlp": 10, "cnn": 4, "logistic": 60}
"""How many steps a turn has."""

SLOW = 10
"""A contender that takes so many times what plain PyTorch takes has turns of one step."""

TITLES = {
    "mlp": "MLP 784-512-512-10, batches of 512",
    "cnn": "convolutions of 16 and 32 channels and two linear layers, batches of 256",
    "logistic": "logistic regression 784 → 10, batches of 1,024",
}
CLOSE = 1e-5
"""How far our losses may be from those of plain training, where there is next to no noise and nothing is clipped."""


@final
class Turns:
    """Runs a contender that waits for its turns."""

    def __init__(self, contender: Contender, process: subprocess.Popen[str]) -> None:
        self.name, self._process = contender.name, process
        self.version = self._read()["version"]
        self._read()

    def take(self, case: str, steps: int) -> Facts:
        """Has some steps taken, and gives how long one took."""
        if self._process.stdin is None:
            raise RuntimeError("no way to tell it")
        self._process.stdin.write(f"{case} {steps}\n")
        self._process.stdin.flush()
        return {"contender": self.name, **self._read()}

    def _read(self) -> dict[str, Any]:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise RuntimeError(f"{self.name} ended early")
        read: dict[str, Any] = json.loads(line)
        return read


@contextmanager
def waiting(contender: Contender) -> Iterator[Turns]:
    """Starts a contender, and ends it afterwards."""
    command = [str(contender.interpreter), "-P", str(BENCHMARKS / "contenders" / contender.script)]
    ours = os.environ.get("PYTHONPATH") if contender.environment is None else None
    changed = {
        "PYTHONPATH": os.pathsep.join(filter(None, (str(BENCHMARKS), ours))),
        "PYTHONWARNINGS": "ignore",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    with subprocess.Popen(
        [*command, *contender.arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | changed,
    ) as process:
        try:
            yield Turns(contender, process)
        finally:
            if process.stdin is not None:
                process.stdin.close()


def timed(rounds: int, console: Console) -> list[list[Facts]]:
    """Gives what was measured, one round after another; a first one is not counted."""
    ready = [contender for contender in SPEED if contender.ready]
    absent = [contender.name for contender in SPEED if not contender.ready]
    if absent:
        console.print(f"Not installed: {', '.join(absent)}. `make peers` builds their environments, in .peers/.")
    with ExitStack() as stack:
        players = [stack.enter_context(waiting(contender)) for contender in ready]
        for player in players:
            console.print(f"{player.name} {player.version}", highlight=False)
        first = [player.take(case, 2) for case in STEPS for player in players]
        usual = {(facts["contender"], facts["case"]): facts["in_hand"] for facts in first}
        slow = {key for key in usual if usual[key] > SLOW * usual[PLAIN, key[1]]}
        measured = []
        with console.status("steps …") as status:
            for done in range(rounds):
                status.update(f"round {done + 1} of {rounds}")
                measured.append(
                    [
                        player.take(case, 1 if (player.name, case) in slow else steps)
                        for case, steps in STEPS.items()
                        for player in players
                    ]
                )
    return measured


def of(measured: Iterable[Facts], contender: str, case: str, what: str = "seconds") -> float | None:
    """Gives a time of one round."""
    known = [facts[what] for facts in measured if (facts["contender"], facts["case"]) == (contender, case)]
    return known[0] if known else None


def ratio(rounds: list[list[Facts]], case: str, others: Iterable[str], what: str = "seconds") -> float | None:
    """Gives our time over the best other one's: of each other one, the middle ratio over all rounds."""
    known = []
    for other in others:
        pairs = [(of(each, OURS, case, what), of(each, other, case, what)) for each in rounds]
        shares = [ours / theirs for ours, theirs in pairs if ours is not None and theirs is not None]
        known += [median(shares)] if shares else []
    return max(known, default=None)


def times(rounds: list[list[Facts]]) -> Table:
    """Draws the table of times and ratios."""
    title = "Milliseconds of one processor a step: middle of all turns (in brackets with a batch in hand); ratios"
    table = Table("model", PLAIN, OURS, GHOST, HOOKS, "ours / plain", "ours / Opacus", title=title)
    for case, told in TITLES.items():
        cells = [milliseconds(rounds, name, case) for name in (PLAIN, OURS, GHOST, HOOKS)]
        shares = [
            f"{shown(ratio(rounds, case, others))} ({shown(ratio(rounds, case, others, 'in_hand'))})"
            for others in ((PLAIN,), (GHOST, HOOKS))
        ]
        table.add_row(told, *cells, *shares)
    return table


def milliseconds(rounds: list[list[Facts]], name: str, case: str) -> str:
    """Writes the middle time of a step, and of one with a batch in hand."""
    whole, in_hand = (
        [taken for each in rounds if (taken := of(each, name, case, what)) is not None]
        for what in ("seconds", "in_hand")
    )
    return f"{1e3 * median(whole):.3g} ({1e3 * median(in_hand):.3g})" if whole else "–"


def shown(value: float | None) -> str:
    """Writes a ratio."""
    return "–" if value is None else f"{value:.2f}"


def accuracies(contest: Contest, console: Console) -> float | None:
    """Prints accuracies and how far they are apart, seed by seed, and gives the least ratio of their means."""
    title = "Accuracy at ε = 3, δ = 10⁻⁵: mean over seeds, and the mean of differences ± its standard error"
    table = Table("task", "seeds", OURS, "Opacus", "difference", "noise multipliers", "ratio", title=title)
    ratios = []
    for task in dict.fromkeys(facts["case"] for facts in contest.where(kind="accuracy")):
        ours, theirs = (
            {facts["seed"]: facts for facts in contest.where(kind="accuracy", case=task, contender=name)}
            for name in (OURS, "Opacus")
        )
        seeds = sorted(set(ours) & set(theirs))
        if len(seeds) < 2:
            continue
        apart = [ours[seed]["accuracy"] - theirs[seed]["accuracy"] for seed in seeds]
        means = [mean(held[seed]["accuracy"] for seed in seeds) for held in (ours, theirs)]
        ratios.append(means[0] / means[1])
        noise = f"{ours[seeds[0]]['noise']:.4f}, {theirs[seeds[0]]['noise']:.4f}"
        sure = f"{mean(apart):+.4f} ± {stdev(apart) / sqrt(len(seeds)):.4f}"
        table.add_row(
            task, str(len(seeds)), f"{means[0]:.4f}", f"{means[1]:.4f}", sure, noise, f"{means[0] / means[1]:.4f}"
        )
    console.print(table)
    return min(ratios, default=None)


def curves(contest: Contest, console: Console) -> bool:
    """Prints how far losses are from those of plain training without noise, and tells whether that is near."""
    for facts in contest.where(kind="curve"):
        console.print(
            f"{facts['case']}: with a bound that nobody reaches and a noise multiplier of 10⁻¹² the losses of "
            f"{facts['steps']} steps are within {facts['apart']:.1e} of plain PyTorch's on the same batches"
        )
    return all(facts["apart"] <= CLOSE for facts in contest.where(kind="curve"))


def broken_copies(console: Console) -> tuple[int, int]:
    """Runs the tests against every broken copy of the trainer, and counts those that are noticed, and all."""
    sys.path.insert(0, str(ROOT))
    from tests.mutants.runner import Fate, fate_of, killers, whole
    from tests.mutants.trainings import TRAINING

    killed = 0
    with console.status("broken copies …") as status:
        passed, said = whole(killers(TRAINING))
        if not passed:
            raise RuntimeError(f"the killers do not pass on the package as it is:\n{said}")
        for done, mutant in enumerate(TRAINING):
            status.update(f"broken copies: {done} of {len(TRAINING)}")
            fates = [fate_of(mutant, tests)[0] for tests in (mutant.killers, mutant.audits) if tests]
            killed += all(fate is Fate.KILLED for fate in fates)
    return killed, len(TRAINING)


def main(arguments: list[str]) -> int:
    """Holds all contests and prints the tables and the figures."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15, help="turns of each contender")
    parser.add_argument("--seeds", type=int, default=20, help="trainings of each task; 0 leaves accuracy out")
    parser.add_argument("--no-mutants", action="store_true", help="leave broken copies out")
    parser.add_argument("--quick", action="store_true", help="3 turns, 2 seeds, no broken copies")
    asked = parser.parse_args(arguments)
    rounds, seeds = (3, 2) if asked.quick else (asked.rounds, asked.seeds)
    console = Console(width=None if sys.stdout.isatty() else 180)
    console.print("One thread for everybody.")
    measured = timed(rounds, console)
    console.print(times(measured))
    learners = (
        Contender(OURS, "train/sfumato.py", arguments=("accuracy", str(seeds))),
        Contender("Opacus", "train/opacus.py", environment="opacus", arguments=("accuracy", "hooks", str(seeds))),
    )
    label = lambda facts: f"{facts['kind']} of {facts['case']}"  # noqa: E731
    contest = hold(learners if seeds else (), console=console, label=label)
    near, accurate = curves(contest, console), accuracies(contest, console)
    copies = (None, None) if asked.quick or asked.no_mutants else broken_copies(console)
    figures = {f"{case}_vs_plain": ratio(measured, case, (PLAIN,)) for case in STEPS}
    figures |= {f"{case}_vs_opacus": ratio(measured, case, (GHOST, HOOKS)) for case in ("mlp", "cnn")}
    print(ratios_line({**figures, "accuracy_vs_opacus": accurate, "mutants_killed": copies[0], "mutants": copies[1]}))
    return 0 if near and not contest.missing and copies[0] == copies[1] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

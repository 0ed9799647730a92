"""Starts contenders, collects what they measured, and shows it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from rich.console import Console

from side_by_side.stopwatch import UNDISTURBED

BENCHMARKS = Path(__file__).parents[1]
ROOT = BENCHMARKS.parent

Facts = dict[str, Any]
"""One measurement, as a contender reported it: `case` and whatever else it says."""


@final
@dataclass(frozen=True)
class Contender:
    """Is one library in a contest: its script, and the environment that the script runs in."""

    name: str
    script: str
    environment: str | None = None
    """The folder in `.peers`; None for sfumato's own environment."""

    arguments: tuple[str, ...] = ()
    """What the script is told on its command line."""

    @property
    def interpreter(self) -> Path:
        """Gives the Python that has this library."""
        if self.environment is None:
            return Path(sys.executable)
        return ROOT / ".peers" / self.environment / "bin" / "python"

    @property
    def ready(self) -> bool:
        """Tells whether the environment is complete."""
        return self.environment is None or (ROOT / ".peers" / self.environment / "installed").exists()

    def measure(self) -> Iterator[Facts]:
        """Runs the script in its own interpreter and gives each measurement as it arrives.

        Raises `subprocess.CalledProcessError` when the script fails.
        """
        command = [str(self.interpreter), "-P", str(BENCHMARKS / "contenders" / self.script), *self.arguments]
        ours = os.environ.get("PYTHONPATH") if self.environment is None else None  # such as another checkout's src
        paths = os.pathsep.join(filter(None, (str(BENCHMARKS), ours)))
        environment = os.environ | {"PYTHONPATH": paths, "PYTHONWARNINGS": "ignore"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            for line in process.stdout or ():
                yield {"contender": self.name, **json.loads(line)}
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)


@final
@dataclass(frozen=True)
class Contest:
    """Holds every measurement of one run, and who could not take part."""

    measurements: tuple[Facts, ...]
    missing: tuple[str, ...]

    def where(self, **facts: object) -> list[Facts]:
        """Gives the measurements that have all these facts."""
        return [found for found in self.measurements if all(found.get(name) == value for name, value in facts.items())]

    @property
    def disturbed(self) -> dict[str, int]:
        """Counts, for each contender, the measurements that other work on the machine held up."""
        slow = [facts["contender"] for facts in self.measurements if facts.get("share", 1.0) < UNDISTURBED]
        return {name: slow.count(name) for name in dict.fromkeys(slow)}


def hold(contenders: Iterable[Contender], *, console: Console, label: Callable[[Facts], str]) -> Contest:
    """Runs the contenders one after another, so that none slows another down."""
    measurements: list[Facts] = []
    absent: list[str] = []
    failed: list[str] = []
    for contender in contenders:
        if not contender.ready:
            absent.append(contender.name)
            continue
        with console.status(f"{contender.name} …") as status:
            try:
                for facts in contender.measure():
                    if facts["kind"] == "version":
                        console.print(f"{contender.name} {facts['version']}", highlight=False)
                    else:
                        measurements.append(facts)
                        status.update(f"{contender.name}: {label(facts)}")
            except subprocess.CalledProcessError as failure:
                console.print(f"[red]{contender.name} failed with exit status {failure.returncode}[/red]")
                failed.append(contender.name)
    if absent:
        console.print(f"Not installed: {', '.join(absent)}. `make peers` builds their environments, in .peers/.")
    contest = Contest(tuple(measurements), (*absent, *failed))
    if contest.disturbed:
        counts = ", ".join(f"{name} {count}" for name, count in contest.disturbed.items())
        console.print(f"[red]The machine was busy: do not quote the ratios.[/red] Measurements held up: {counts}.")
    return contest


def ratios_line(ratios: dict[str, float | None]) -> str:
    """Gives the last line of every benchmark: names and numbers for a program, `?` for what was not measured."""
    return "ratios: " + " ".join(
        f"{name}={'?' if value is None else format(value, '.3g') if value < 1000 else format(value, '.0f')}"
        for name, value in ratios.items()
    )

"""One method of one library on one table at one ε: what it measured, judged, and kept in a file for the next time."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

import numpy as np

from contenders.synth import judging
from contenders.synth.cases import FOLDER, TABLES, Table
from side_by_side.contest import Contender, Facts

OURS, MBI, SMARTNOISE, DATASYNTHESIZER = "sfumato", "mbi", "smartnoise", "datasynthesizer"
ENVIRONMENTS = {OURS: None, MBI: "mbi", SMARTNOISE: "smartnoise_synth", DATASYNTHESIZER: "datasynthesizer"}


class Job(NamedTuple):
    """Who does what."""

    contender: str
    method: str
    table: Table
    epsilon: float

    @property
    def part(self) -> str:
        """The method, without which way of it this is: `privbayes-2` is one of `privbayes`."""
        return self.method.partition("-")[0]

    @property
    def file(self) -> Path:
        """Where its measurements are kept, a line each."""
        return FOLDER / "measured" / f"{self.contender}_{self.method}_{self.table.name}_{self.epsilon:.1f}.jsonl"

    @property
    def ready(self) -> bool:
        """Whether the library is installed and the table there."""
        return self.table.there and self._told(0, 0.0).ready

    def stored(self, runs: int = 0, seconds: float = 0.0) -> list[Facts]:
        """What was measured before, if so many runs came to their end then, or had as much time."""
        found = [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() else []
        ended = sum(facts["kind"] == "run" and facts["done"] for facts in found)
        given = any(one["kind"] == "asked" and one["runs"] >= runs and one["seconds"] >= seconds for one in found)
        return found if given or ended >= runs else []

    def measure(self, runs: int, seconds: float) -> Iterator[Facts]:
        """Runs the method, judges what it made, and keeps that; a method that fails or is ended has fewer runs."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        found: list[Facts] = [{"kind": "asked", "runs": runs, "seconds": seconds}]
        try:
            for facts in self._told(runs, seconds).measure():
                if facts["kind"] == "run":
                    found.append(facts | judging.judged(self.table, np.load(facts["rows"])))
                    Path(facts["rows"]).unlink()
                    yield found[-1]
        except subprocess.CalledProcessError as failure:
            found.append({"kind": "failed", "status": failure.returncode})
            yield found[-1]
        self.file.write_text("".join(json.dumps(facts) + "\n" for facts in found))

    def _told(self, runs: int, seconds: float) -> Contender:
        script = f"synth/{self.contender}.py"
        told = (self.method, self.table.name, f"{self.epsilon:.1f}", str(runs), str(seconds), str(time.time()))
        return Contender(self.contender, script, environment=ENVIRONMENTS[self.contender], arguments=told)


HELD_UP = 1.25
"""A run that took so many times longer than processors worked on it was held up by other work on the machine."""


class Outcome(NamedTuple):
    """All runs of a job together."""

    job: Job
    runs: tuple[Facts, ...]

    @property
    def error(self) -> float:
        """The mean distance of marginals of two columns."""
        return mean(float(facts["pairs"]) for facts in self.runs)

    @property
    def triples(self) -> float:
        """The mean distance of marginals of three columns."""
        return mean(float(facts["triples"]) for facts in self.runs)

    @property
    def area(self) -> float:
        """The mean area under the curve of learners."""
        return mean(float(facts["area"]) for facts in self.runs)

    @property
    def done(self) -> bool:
        """Whether every run came to its end."""
        return all(facts["done"] for facts in self.runs)

    @property
    def cold(self) -> Facts:
        """The first run."""
        return self.runs[0]

    @property
    def held_up(self) -> bool:
        """Whether other work on the machine held up the first run, whose time then says nothing."""
        return bool(self.cold["seconds"] > HELD_UP * self.cold["processors"])

    @property
    def warm(self) -> float | None:
        """The middle time of the later runs, in seconds on the wall."""
        return median(facts["seconds"] for facts in self.runs[1:]) if len(self.runs) > 1 else None


def outcome(job: Job, measured: list[Facts]) -> Outcome | None:
    """The runs among what was measured, if there are any."""
    runs = tuple(facts for facts in measured if facts["kind"] == "run")
    return Outcome(job, runs) if runs else None


def of(outcomes: list[Outcome], contender: str, method: str) -> dict[tuple[str, float], Outcome]:
    """What a method of a library came to, by table and ε; where it has several ways, the best of them."""
    chosen = [known for known in outcomes if (known.job.contender, known.job.part) == (contender, method)]
    worst_first = sorted(chosen, key=lambda known: known.error, reverse=True)
    return {(known.job.table.name, known.job.epsilon): known for known in worst_first}


def known_tables(quick: bool) -> list[Table]:  # noqa: FBT001
    """The tables that there are; of them, in a quick run, one made-up and the real ones."""
    there = [table for table in TABLES.values() if table.there]
    return [table for table in there if table.width in (0, 10)] if quick else there

"""Reports in a store, the same for whoever sums them up: 10⁷ responses over 1,000 values, 10⁶ rows of 256 bits."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

import sfumato as sf
from contenders.local.cases import EPSILON, population
from sfumato.entropy import ReplayEntropy
from sfumato.local import Collector, FrequencyProtocol
from side_by_side.stopwatch import best_round, report

PIECE = 10**6


@final
@dataclass(frozen=True)
class Stored:
    """A store: where its rows are, by which protocol, and how many."""

    name: str
    method: str
    values: int
    people: int
    file: str

    @property
    def protocol(self) -> FrequencyProtocol:
        """The protocol of its reports."""
        return sf.local.frequencies(range(self.values), loss=sf.Pure(EPSILON), users=self.people, method=self.method)

    @contextmanager
    def filled(self) -> Iterator[Path]:
        """A store with all reports, in a folder of its own."""
        protocol, source = self.protocol, ReplayEntropy(3)
        with tempfile.TemporaryDirectory(prefix="sfumato-") as folder:
            place = Path(folder) / self.file
            with Collector(protocol, place) as collector:
                for first in range(0, self.people, PIECE):
                    data = population(min(PIECE, self.people - first), self.values)
                    collector.add(protocol.randomize_many(data, entropy=source), batch=f"{first}")
            yield place


STORES = (
    Stored("10⁷ responses, DuckDB", "response", 1_000, 10**7, "reports.duckdb"),
    Stored("10⁷ responses, Parquet", "response", 1_000, 10**7, "reports"),
    Stored("10⁶ × 256 bits, DuckDB", "optimized unary encoding", 256, 10**6, "reports.duckdb"),
)


def race(stored: Stored, work: Callable[[], Any]) -> None:
    """Times sums of a store; ``checksum`` shows that everybody found the same."""
    found = np.asarray(work(), dtype=np.int64)
    best = best_round(work, seconds=2.0, rounds=10)
    check = int((found * np.arange(1, len(found) + 1)).sum())
    report(stored.name, kind="stored", people=stored.people, seconds=best.seconds, checksum=check)

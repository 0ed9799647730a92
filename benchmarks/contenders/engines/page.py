"""The tables of docs/scale.md: what was measured, what the cost model makes of it, and a cluster on paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import final

from contenders.engines.sizes import HELD_BACK, CostModel, Point, fitted

MEASURED_CORES = 2
"""The cores of the machine that the costs are of."""

ON_PAPER = tuple(Point(10**power, 1_000, 1) for power in (9, 10, 11, 12))
WORD = 8
"""Bytes of an id, a key or a number, where they are stored and where they are moved."""


@final
@dataclass(frozen=True)
class Cluster:
    """A cluster as it is assumed: per node cores, bytes of memory, and bytes a second of network, storage and disk.

    ``efficiency`` is the part of its cores that is at work on average: tasks are not all of one length.
    """

    nodes: int = 100
    cores: int = 64
    memory: float = 256e9
    network: float = 3e9
    storage: float = 2e9
    disk: float = 2e9
    efficiency: float = 0.7


@final
@dataclass(frozen=True)
class Estimate:
    """The seconds of each part of a question in a cluster: none of them is measured."""

    question: float
    scan: float
    compute: float
    shuffle: float
    spill: float

    @property
    def total(self) -> float:
        """All parts one after another, as if none of them went on beside another."""
        return self.question + self.scan + self.compute + self.shuffle + self.spill


def on_paper(model: CostModel, point: Point, cluster: Cluster) -> Estimate:
    """Carries costs to a cluster. Each row is read once, and moved once: to where all rows of its person are."""
    row = WORD * (2 + point.columns)
    moved = row + WORD  # with the place in the order in which its groups are kept
    work = model.seconds(point) - model.question
    each = point.rows * moved / cluster.nodes
    return Estimate(
        question=model.question,
        scan=point.rows * row / (cluster.nodes * cluster.storage),
        compute=work * MEASURED_CORES / (cluster.nodes * cluster.cores * cluster.efficiency),
        shuffle=each / cluster.network,
        spill=2 * max(each - cluster.memory / 2, 0) / cluster.disk,
    )


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """A table in Markdown, its numbers to the right."""
    heads = list(heads)
    return [f"| {' | '.join(one)} |" for one in (heads, ["---:"] * len(heads), *rows)]


def curves(measured: Mapping[str, Mapping[Point, float]]) -> list[str]:
    """What was measured on each engine, beside what its model says."""
    lines: list[str] = []
    for engine, points in measured.items():
        model = fitted(_kept(points))
        rows = [
            [f"{point.rows:,}", f"{point.groups:,}", str(point.columns), f"{spent:.3f}", f"{model.seconds(point):.3f}"]
            for point, spent in points.items()
        ]
        lines += [f"**{engine}**", "", *table(("rows", "groups", "columns", "seconds", "by the model"), rows), ""]
    return lines


def models(measured: Mapping[str, Mapping[Point, float]]) -> list[str]:
    """The costs that fit each engine, and how far off they are where they were not fitted."""
    rows = []
    for engine, points in measured.items():
        model = fitted(_kept(points))
        off = [model.seconds(point) / spent for point, spent in points.items() if point.rows == HELD_BACK]
        costs = (
            f"{model.question:.3f} s",
            *(f"{1e9 * cost:.1f} ns" for cost in (model.row, model.number, model.group)),
        )
        rows.append([engine, *costs, ", ".join(f"{one:.2f}" for one in off) or "–"])
    return table(("engine", "a question", "a row", "a number", "a group", "model / measured, held back"), rows)


def paper(model: CostModel, cluster: Cluster) -> list[str]:
    """A question for ever more rows in a cluster: computed, not measured."""
    heads = ("rows", "question, s", "scan, s", "compute, s", "shuffle, s", "spill, s", "in all, s")
    rows = []
    for point in ON_PAPER:
        found = on_paper(model, point, cluster)
        parts = (found.question, found.scan, found.compute, found.shuffle, found.spill, found.total)
        rows.append([f"{point.rows:,}", *(f"{part:,.1f}" for part in parts)])
    return table(heads, rows)


def _kept(points: Mapping[Point, float]) -> dict[Point, float]:
    return {point: spent for point, spent in points.items() if point.rows != HELD_BACK}


def filled(page: str, parts: Mapping[str, list[str]]) -> str:
    """A page with its parts between their marks; the rest stays as it is."""
    for name, lines in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, found, rest = page.partition(begin)
        if not found or end not in rest:
            raise ValueError(f"the page has no place for {name}")
        page = before + begin + "\n".join(lines).rstrip("\n") + "\n" + rest[rest.index(end) :]
    return page

"""sfumato's methods with their defaults, behind a ledger in memory; every row is one person's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

import sfumato as sf
from contenders.synth import runs
from contenders.synth.cases import DELTA, Table
from side_by_side.stopwatch import report_version

METHODS = {
    "independent": "Independent",
    "mst": "MST",
    "aim": "AIM",
    "mwem": "MWEM",
    "privbayes": "PrivBayes",
}
PURE = ("mwem", "privbayes")
"""These are compared at pure ε, as their peers have it; the others at ε and δ."""


def opened(path: Path, sizes: Mapping[str, int]) -> sf.Dataset:
    """A table whose codebook says of every column which codes it has, and that none is missing, as the others know."""
    known = {"source": "the codes that all contenders are told", "nullable": False}
    columns = {name: {"categories": list(range(size)), **known} for name, size in sizes.items()}
    rows = {"rows": 1, "by": "fact", "source": "every row has an id of its own"}
    table = {"contributions": rows, "columns": {"person": {"type": "int"}, **columns}}
    told = {
        "codebook": 1,
        "title": "people",
        "unit": {"protects": "a person", "id": "person"},
        "tables": {"people": table},
    }
    return sf.Dataset(path, codebook=told)


def method(name: str) -> runs.Method:
    """Fits and samples behind a ledger, with the codes of every column as a codebook has them."""

    def made(table: Table, epsilon: float, _: float) -> runs.Made:
        loss = sf.Pure(epsilon) if name in PURE else sf.Approx(epsilon, DELTA)
        data = opened(table.parquet, dict(zip(table.names, table.sizes, strict=True)))
        session = data.session(limit=loss, ledger="memory:")
        recipe = getattr(sf.synth, METHODS[name])(loss=loss)
        synthetic = recipe.fit(session.table(), max_rows=1)
        rows = synthetic.sample(len(table.rows), form="arrow")
        return np.stack([rows[column].to_numpy() for column in table.names], axis=1), True

    return made


if __name__ == "__main__":
    report_version("sfumato")
    runs.main("sfumato", {name: method(name) for name in METHODS})

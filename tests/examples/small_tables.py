"""A small made-up table with structure, for methods that synthesise tables."""

from __future__ import annotations

from typing import Any

import numpy as np

import sfumato as sf

FACTS: dict[str, Any] = {
    "between": {"age": (0, 100)},
    "categories": {"sex": ["f", "m"], "job": ["x", "y", "z"]},
}


def columns(rows: int = 400) -> dict[str, list[Any]]:
    """Two sexes of different ages, whose jobs go with their ages."""
    drawn = np.random.default_rng(7)
    sex = drawn.choice(["f", "m"], rows)
    age = np.where(sex == "f", drawn.normal(30, 5, rows), drawn.normal(65, 6, rows)).clip(0, 99).astype(int)
    young, old = drawn.choice(list("xyz"), rows, p=[0.1, 0.2, 0.7]), drawn.choice(list("xyz"), rows, p=[0.7, 0.2, 0.1])
    return {"sex": sex.tolist(), "age": age.tolist(), "job": np.where(age > 50, old, young).tolist()}


def session_of(rows: int = 400, *, each: int = 1, limit: Any = None, ledger: str = "memory:") -> Any:
    """A session on the table, ``each`` rows of which are one person's."""
    held = columns(rows)
    data = sf.Dataset({"id": [row // each for row in range(rows)], **held}, unit="id", **FACTS)
    return data.session(limit=sf.Approx(20, 1e-4) if limit is None else limit, ledger=ledger)

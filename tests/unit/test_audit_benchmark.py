"""The benchmark of audits and attacks: what its last line says, and that its mechanism is what it is said to be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rich.console import Console

import audit as benchmark
from contenders.audit.cases import INPUTS, mechanism
from side_by_side.contest import Contest

MEASURED = Contest(
    (
        {"contender": "sfumato", "case": "reconstruct", "seconds": 0.5, "found": "all"},
        {"contender": "plain NumPy", "case": "reconstruct", "seconds": 0.25, "found": "most"},
    ),
    ("plain NumPy",),
)


def test_the_mechanism_costs_a_hundredth_a_step() -> None:
    rows = mechanism()
    assert rows.shape == (INPUTS, INPUTS)
    assert rows.sum(axis=1) == pytest.approx(np.ones(INPUTS))
    assert np.log(rows[1:] / rows[:-1]).max() == pytest.approx(0.01)
    assert np.log(rows.max(axis=0) / rows.min(axis=0)).max() == pytest.approx(9.99)
    assert rows[0, 0] == pytest.approx(1 / (1 + math.exp(-0.01)))


def test_the_last_line_has_times_and_broken_copies(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmark, "hold", lambda *_, **__: MEASURED)
    monkeypatch.setattr(benchmark, "broken_copies", lambda _: (63, 64))
    assert benchmark.main() == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == "ratios: reconstruct_s=0.5 matrix_s=? blackbox_s=? mutants_killed=63 mutants=64"


def test_what_was_not_measured_is_a_question_mark() -> None:
    with Console(width=140) as console, console.capture() as shown:
        console.print(benchmark.times(MEASURED))
    assert "0.5000" in shown.get()
    assert "?" in shown.get()

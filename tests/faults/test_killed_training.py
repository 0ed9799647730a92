"""A training whose process is killed in the middle goes on: it pays once, and no step is taken twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import sfumato as sf  # noqa: E402
from sfumato.errors import BadArgument  # noqa: E402

STEPS = 8

WORK = """
import json, os, sys
import torch
from torch import nn
import sfumato as sf

folder, upto, way = sys.argv[1], int(sys.argv[2]), sys.argv[3]
rows = torch.arange(200.0).view(100, 2) / 200
labels = (torch.arange(100) % 2).long()
table = {"person": list(range(100)), "x": rows[:, 0].tolist()}
data = sf.Dataset(table, unit="person", between={"x": (0, 1)}, version="1")
session = data.session(limit=sf.ZCDP(50), ledger=f"sqlite:///{folder}/book.db")
model = nn.Linear(2, 2)
plan = {"loss": sf.ZCDP(8), "batches": sf.train.PoissonBatches(1, 8, 100), "session": session, "key": "one"}
start = (lambda *a, **p: sf.train.resume(f"{folder}/run.pt", *a, **p)) if way == "resume" else sf.train.private
training = start(model, (rows, labels), **plan)
print(json.dumps({"from": training.taken, "spent": str(session.spent)}), flush=True)
for x, y in training.batches():
    print(json.dumps({"step": training.taken}), flush=True)
    training.step(nn.functional.cross_entropy(model(x), y, reduction="none"))
    if training.taken % 2 == 0:
        training.save(f"{folder}/run.pt")
    print(json.dumps({"weight": model.weight[0, 0].item()}), flush=True)
    if training.taken == upto:
        sys.stdin.read()  # until it is killed
print(json.dumps({"release": str(training.release().loss), "spent": str(session.spent)}), flush=True)
"""


def told(folder: Path, upto: int, way: str, *, kill: bool) -> list[dict[str, Any]]:
    """What a process says of its training, which is killed after a step."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", WORK, str(folder), str(upto), way],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(json.loads(line))
            if kill and "weight" in lines[-1] and lines[-2] == {"step": upto}:
                process.send_signal(signal.SIGKILL)
        process.wait()
    assert (process.returncode == -signal.SIGKILL) is kill
    return lines


@pytest.mark.slow
def test_a_killed_training_pays_once_and_takes_no_step_twice(tmp_path: Path) -> None:
    first = told(tmp_path, 5, "private", kill=True)  # saved after 4 steps
    (tmp_path / "run.pt.writing").write_bytes(b"half of a file")
    second = told(tmp_path, 0, "resume", kill=False)
    begun, ended = second[0], second[-1]
    assert begun == {"from": 5, "spent": first[0]["spent"]} and ended["spent"] == first[0]["spent"]
    steps = [line["step"] for line in (*first, *second) if "step" in line]
    assert steps == list(range(1, STEPS + 1))
    weights = [line["weight"] for line in (*first, *second) if "weight" in line]
    assert len(set(weights)) == STEPS  # nor is noise drawn twice
    assert ended["release"] == str(sf.ZCDP(8))


def test_a_file_that_is_not_there_or_another_argument_is_refused(tmp_path: Path) -> None:
    data = torch.zeros(10, 2), torch.zeros(10, dtype=torch.long)
    with pytest.raises(BadArgument, match="was saved"):
        sf.train.resume(tmp_path / "none.pt", torch.nn.Linear(2, 2), data, noise_multiplier=1, batch=2, steps=2)
    with pytest.raises(BadArgument, match="what private"):
        sf.train.resume(tmp_path / "none.pt", torch.nn.Linear(2, 2), data, sigma=1)

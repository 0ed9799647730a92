"""What two processes do that train together, each run as ``python -m tests.examples.two_processes RANK FOLDER``.

Everything that tests look at is written to the folder, so that one start of both serves all of them.
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as distributed
from torch import Tensor, nn

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import SfumatoError
from sfumato.train import FixedBatches, Private, Together, private

ROWS = 30, 10
"""How many rows each process has."""


def rows_of(rank: int) -> tuple[Tensor, Tensor]:
    drawn = np.random.default_rng(rank)
    inputs = torch.from_numpy(drawn.normal(size=(ROWS[rank], 3))).float()
    return inputs, (inputs[:, 0] > 0).long()


def network(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))


def weights(model: nn.Module) -> Tensor:
    return torch.cat([each.detach().flatten().clone() for each in model.parameters()])


def begin(rank: int, **asked: Any) -> Private:
    """A training whose weights differ at first, and whose batches come in pieces that differ in number."""
    model = network(1 + rank)
    given: dict[str, Any] = {
        "noise_multiplier": 2, "batch": 8, "steps": 5, "largest": 3, "clip": 0.5, "together": Together(),
        "entropy": ReplayEntropy(70 + rank), "optimizer": torch.optim.Adam(model.parameters(), lr=asked.pop("lr", 0.1)),
    }  # fmt: skip
    if "session" in asked:
        given["entropy"] = None  # no ledger takes what can be replayed
    return private(model, asked.pop("data", rows_of(rank)), **(given | asked))


def refusal(rank: int, **asked: Any) -> str:
    """What is said where a training cannot begin; both processes must say the same, and neither waits."""
    try:
        begin(rank, **asked)
    except SfumatoError as error:
        return f"{type(error).__name__}: {error}"
    return ""


def session_of(rank: int, limit: float) -> Any:
    table = {"person": list(range(ROWS[rank])), "x": rows_of(rank)[0][:, 0].tolist()}
    return sf.Dataset(table, unit="person", between={"x": (-5, 5)}).session(
        limit=sf.Approx(limit, 1e-4), ledger="memory:"
    )


def charged(rank: int) -> dict[str, Any]:
    """With a session in the first process only."""
    session = session_of(rank, 3) if rank == 0 else None
    asked: dict[str, Any] = {"noise_multiplier": None, "loss": sf.Approx(1, 1e-5), "session": session, "key": "run"}
    training = begin(rank, **asked)
    training.fit(nn.CrossEntropyLoss())
    if rank == 0:
        release = training.release()
        return {"loss": str(release.loss), "charged": release.charged, "taken": training.taken}
    said = ""
    try:
        training.release()
    except SfumatoError as error:
        said = str(error)
    return {"release": said, "taken": training.taken}


def resumed(rank: int, folder: Path) -> dict[str, Any]:
    """Three steps, saved; two more in other processes' memory, from the file."""
    training = begin(rank)
    for rows, labels in training.batches():
        training.step(nn.functional.cross_entropy(training.model(rows), labels, reduction="none"))
        if training.taken == 3 and training._chunk is None and not training._sums:
            break
    training.save(folder / "run.pt")
    distributed.barrier()
    held = weights(training.model)
    again = begin(rank).resume(folder / "run.pt")
    same, taken = torch.equal(held, weights(again.model)), again.taken
    again.fit(nn.CrossEntropyLoss())
    return {"same": same, "taken": taken, "weights": weights(again.model)}


def noise_alone(rank: int) -> Tensor:
    """A step of no rows: what moves the weights is noise."""
    model = nn.Linear(200, 200, bias=False)
    before = model.weight.detach().clone() if rank == 0 else torch.zeros(200, 200)
    distributed.broadcast(before, 0)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    empty = torch.zeros(0, 200), torch.zeros(0, 200)
    private(
        model, empty, noise_multiplier=4, batch=1, steps=1, size=1, clip=0.5, together=Together(),
        optimizer=optimizer, entropy=ReplayEntropy(rank),
    ).fit(nn.MSELoss())  # fmt: skip
    return model.weight.detach() - before


def left_alone(rank: int) -> dict[str, Any]:
    """The second process dies in the middle of a step."""
    training = begin(rank, steps=50)
    before, said = weights(training.model), ""
    try:
        for rows, labels in training.batches():
            if rank == 1:
                os._exit(0)
            before = weights(training.model)
            training.step(nn.functional.cross_entropy(training.model(rows), labels, reduction="none"))
    except SfumatoError as error:
        said = f"{type(error).__name__}: {error}"
    return {"said": said, "stayed": torch.equal(before, weights(training.model))}


def main(rank: int, folder: Path) -> None:
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2, timeout=timedelta(seconds=120)
    )
    shown: dict[str, Any] = {}
    training = begin(rank)
    shown["first"] = weights(training.model)
    training.fit(nn.CrossEntropyLoss())
    shown["last"], shown["taken"], shown["plan"] = weights(training.model), training.taken, str(training.plan.batches)
    shown["noise"] = noise_alone(rank)
    shown["nothing"] = weights(begin(rank, data=(torch.zeros(0, 3), torch.zeros(0).long()) if rank else rows_of(0)).fit(
        nn.CrossEntropyLoss()
    ).model)  # fmt: skip
    shown["charged"], shown["resumed"] = charged(rank), resumed(rank, folder)
    paid: dict[str, Any] = {"noise_multiplier": None, "loss": sf.Approx(1, 1e-5)}
    people = [["ada", "bob"][place % 2] for place in range(30)] if rank == 0 else ["bob"] * 10
    shown["refused"] = {
        "a person in both": refusal(rank, people=people, batch=1),
        "another plan": refusal(rank, steps=5 + rank),
        "another optimizer": refusal(rank, lr=0.1 + rank),
        "fixed batches": refusal(rank, batches=FixedBatches(4, 2, ROWS[rank])),
        "two payers": refusal(rank, session=session_of(rank, 3), key="run"),
        "no money": refusal(rank, session=None if rank else session_of(rank, 0.01), key="run", **paid),
        "wrapped": refusal_of_wrapped(),
    }
    torch.save(shown, folder / f"{rank}.pt")
    shown["alone"] = left_alone(rank)
    torch.save(shown, folder / f"{rank}.pt")


def refusal_of_wrapped() -> str:
    try:
        private(nn.parallel.DistributedDataParallel(network(1)), rows_of(0), noise_multiplier=1, batch=1, steps=1)
    except SfumatoError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))

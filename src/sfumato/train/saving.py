"""Files of trainings that go on later: for the holder of the data alone."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import torch

from sfumato.errors import BadArgument, UnknownFormat

FORMAT, VERSION = "sfumato/training", 1


def write(path: str | Path, plan: str, held: dict[str, Any]) -> None:
    """Writes what is held of a training: all of it, or what was there before, whenever the process is killed."""
    beside = Path(f"{path}.writing")
    torch.save({"format": FORMAT, "version": VERSION, "plan": plan, **held}, beside)
    beside.replace(path)


def read(path: str | Path, plan: str) -> dict[str, Any]:
    """Reads what was written of a training under the same plan."""
    try:
        held = torch.load(path, weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, KeyError):
        raise UnknownFormat("it is no training that was saved") from None
    if not isinstance(held, dict) or (held.get("format"), held.get("version")) != (FORMAT, VERSION):
        raise UnknownFormat("it is no training that was saved")
    if held["plan"] != plan:
        raise BadArgument("the plan", "the one that was saved: a run goes on as it was paid for", "another")
    return held

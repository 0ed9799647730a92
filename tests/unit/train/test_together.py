"""Several processes that train one model: the same as one that has all units, with noise that is added once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, final

import numpy as np
import pytest
import torch
from tests.examples.two_processes import ROWS, network, rows_of, weights
from torch import nn

import sfumato
from sfumato.accounting import Relation
from sfumato.accounting.events import Event
from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.train import Flat, PoissonBatches, Private, Together, TrainingPlan, private
from sfumato.train.batches import Batches, Places, Sampler
from sfumato.train.taps import Layout
from sfumato.train.units import Units

ROOT = Path(__file__).parents[3]
LONGEST = 300
"""Seconds after which processes that wait for each other are given up."""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """What two processes have to show, of all that they did."""
    folder = tmp_path_factory.mktemp("together")
    path = os.pathsep.join([str(Path(sfumato.__file__).parents[1]), str(ROOT)])
    env = {**os.environ, "PYTHONPATH": path, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.examples.two_processes", str(rank), str(folder)],
            cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for rank in (0, 1)
    ]  # fmt: skip
    try:
        said = [process.communicate(timeout=LONGEST)[0] for process in running]
    finally:
        for process in running:
            process.kill()
    assert [process.returncode for process in running] == [0, 0], "\n".join(said)
    first, second = (torch.load(folder / f"{rank}.pt", weights_only=True) for rank in (0, 1))
    return first, second


Both = tuple[dict[str, Any], dict[str, Any]]


@final
@dataclass(frozen=True)
class BothShares(Batches):
    """The batches of two processes in one: each share is drawn from entropy of its own."""

    inner: PoissonBatches
    one: Entropy
    other: Entropy

    @property
    def steps(self) -> int:  # type: ignore[override]
        return self.inner.steps

    @property
    def expected(self) -> Fraction:
        return self.inner.expected

    @property
    def relation(self) -> Relation:
        return self.inner.relation

    def event(self, noise: Event) -> Event:
        return self.inner.event(noise)

    def start(self, units: int, entropy: Entropy) -> Sampler:
        def draw() -> Places:
            shares = self.inner.draw(ROWS[0], self.one), ROWS[0] + self.inner.draw(ROWS[1], self.other)
            return np.concatenate(shares)

        return Shares(draw)


@final
class Shares(Sampler):
    def __init__(self, draw: Callable[[], Places]) -> None:
        self._draw = draw

    def draw(self, step: int) -> Places:
        return self._draw()


def test_two_processes_end_where_one_with_all_rows_does(both: Both) -> None:
    """The same batches and the same noise, replayed: sums of both, and noise once."""
    first, second = ReplayEntropy(70), ReplayEntropy(71)
    model = network(1)
    data = tuple(torch.cat(parts) for parts in zip(rows_of(0), rows_of(1), strict=True))
    batches = BothShares(PoissonBatches(Fraction(8, 40), 5, 40), first, second)
    plan = TrainingPlan(batches, Flat(0.5), Fraction(2), Relation.ADD_REMOVE)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    training = Private(
        model, Units(data), plan, optimizer, keep=None, largest=None, run=None, entropy=first, layout=Layout()
    )
    training.fit(nn.CrossEntropyLoss())
    torch.testing.assert_close(both[0]["last"], weights(model), rtol=1e-4, atol=1e-5)
    assert float((both[0]["last"] - both[0]["first"]).abs().min()) > 1e-6


def test_all_processes_have_the_same_weights_from_the_first_step_to_the_last(both: Both) -> None:
    for name in ("first", "last", "nothing"):
        assert torch.equal(both[0][name], both[1][name])
    assert torch.equal(both[0]["first"], weights(network(1)))  # those of the first process
    assert [shown["taken"] for shown in both] == [5, 5]
    assert "40" in both[0]["plan"] and both[0]["plan"] == both[1]["plan"]  # the units of both


def test_noise_is_added_once_and_not_by_every_process(both: Both) -> None:
    """40,000 numbers of deviation 2: their own is off by 4 % less often than once in 10⁹ runs."""
    assert torch.equal(both[0]["noise"], both[1]["noise"])
    assert 0.96 < float(both[0]["noise"].std()) / 2 < 1.04


def test_the_first_process_pays_for_all_and_releases(both: Both) -> None:
    assert both[0]["charged"] == {"loss": str(sfumato.Approx(1, 1e-5)), "charged": True, "taken": 5}
    assert "rank 0" in both[1]["charged"]["release"] and both[1]["charged"]["taken"] == 5


def test_what_the_first_process_saved_all_go_on_from(both: Both) -> None:
    for shown in both:
        assert shown["resumed"]["same"] and shown["resumed"]["taken"] == 3
    assert torch.equal(both[0]["resumed"]["weights"], both[1]["resumed"]["weights"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a person in both", "people must be in one process each"),
        ("another plan", "the plan must be the same in all processes"),
        ("another optimizer", "the optimizer must be the same"),
        ("fixed batches", "PoissonBatches"),
        ("two payers", "rank 0 only"),
        ("wrapped", "model.module"),
    ],
)
def test_what_cannot_be_shared_is_refused_in_all_processes(both: Both, name: str, words: str) -> None:
    one, other = (shown["refused"][name] for shown in both)
    assert words in one and words in other


def test_where_the_first_process_cannot_pay_none_begins(both: Both) -> None:
    assert both[0]["refused"]["no money"].startswith("LimitReached")
    assert "could not pay" in both[1]["refused"]["no money"]


def test_a_process_that_dies_stops_the_others_before_their_step(both: Both) -> None:
    assert both[0]["alone"]["said"].startswith("ProcessGone") and both[0]["alone"]["stayed"]


def test_processes_must_have_met() -> None:
    with pytest.raises(BadArgument, match="init_process_group"):
        Together()


class FSDPModule(nn.Linear):
    """Has the name of what torch makes of layers that are held in pieces."""


def test_models_that_are_held_in_pieces_are_refused() -> None:
    with pytest.raises(BadArgument, match="FSDP"):
        private(nn.Sequential(FSDPModule(3, 2)), rows_of(0), noise_multiplier=1, batch=1, steps=1)

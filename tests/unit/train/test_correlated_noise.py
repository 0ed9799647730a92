"""Correlated noise in training: the stream solves its equation, the price is the event's, and lost steps end it."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import sfumato as sf
from sfumato.accounting.facts.strategies import reach_square
from sfumato.accounting.plans.account import account
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.ledger.progress import steps_of
from sfumato.train import (
    Correlated,
    CyclicBatches,
    FixedBatches,
    Flat,
    Independent,
    PoissonBatches,
    TrainingPlan,
    private,
)
from sfumato.train.correlated_noise import _Stream
from sfumato.train.cyclic import deal
from sfumato.train.noise import normal_like

TURNS = CyclicBatches(4, 18, 40)


def rows_of(noise: Correlated, steps: int, columns: int, seed: int) -> Tensor:
    """The noise of some steps on a parameter, for noise of deviation 1."""
    weight = nn.Parameter(torch.zeros(columns))
    stream = noise.start([weight], ReplayEntropy(seed))
    return torch.stack([stream.add({}, 1.0)[weight] for _ in range(steps)])


def matrix(noise: Correlated, steps: int) -> Tensor:
    """The matrix C, written out."""
    made = torch.zeros(steps, steps, dtype=torch.float64)
    for below, each in enumerate(noise.coefficients(steps)):
        made += float(each) * torch.diag(torch.ones(steps - below, dtype=torch.float64), -below)
    return made


KINDS = [Correlated(band=1), Correlated(band=2), Correlated(band=5), Correlated(coefficients=[2, "1/2", "1/2", 0.1])]


@pytest.mark.parametrize("noise", KINDS, ids=str)
def test_the_noise_of_all_steps_is_the_inverse_of_the_matrix_times_fresh_noise(noise: Correlated) -> None:
    """So its covariance is C⁻¹C⁻ᵀ: by linear algebra on what was drawn, not by statistics."""
    steps, columns = 40, 6
    entropy = ReplayEntropy(7)
    fresh = torch.stack([normal_like(torch.Size([columns]), 1.0, entropy) for _ in range(steps)]).double()
    drawn = rows_of(noise, steps, columns, seed=7).double()
    torch.testing.assert_close(matrix(noise, steps) @ drawn, fresh, rtol=1e-4, atol=1e-5)
    assert len(noise.coefficients(steps)) == noise.band


def test_sums_and_the_size_of_noise_go_where_they_belong() -> None:
    one, other = nn.Parameter(torch.zeros(2, 3)), nn.Parameter(torch.zeros(4))
    entropies = ReplayEntropy(1), ReplayEntropy(1)
    plain, scaled = (Correlated(band=3).start([one, other], entropy) for entropy in entropies)
    for _ in range(4):
        noise = plain.add({}, 1.0)
        noisy = scaled.add({one: torch.ones(2, 3)}, 5.0)
        torch.testing.assert_close(noisy[one], 1 + 5 * noise[one])
        torch.testing.assert_close(noisy[other], 5 * noise[other])


def test_running_sums_have_the_error_that_theory_says_and_far_less_than_with_fresh_noise() -> None:
    """At one price for 16 turns of each unit: noise is scaled to what a unit moves in all of them."""
    steps, period = 256, 16
    turns = sf.events.Cyclic(period)
    errors = []
    for noise in (Correlated(band=16), Correlated(coefficients=[1])):
        strategy = noise.strategy(steps)
        sums = np.cumsum(rows_of(noise, steps, 2_000, seed=3).numpy(), axis=0, dtype=np.float64)
        errors.append(math.sqrt(reach_square(strategy, turns)) * math.sqrt((sums**2).mean()))
        assert abs(errors[-1] / sf.stats.sums_error(strategy, participation=turns) - 1) < 0.05
    assert errors[0] < errors[1] / 2.5


def test_the_event_is_that_of_the_batches_and_nothing_else_has_a_theorem() -> None:
    noise = Correlated(band=3)
    root = sf.events.SquareRoot(18, band=3)
    assert noise.event(TURNS, 2) == sf.events.MatrixFactorization(2, root, participation=sf.events.Cyclic(4))
    half = CyclicBatches(4, 18, 40, "1/2")  # type: ignore[arg-type]
    assert noise.event(half, 2) == sf.events.SampledFactorization(2, root, period=4, rate="1/2")
    given = Correlated(coefficients=[1, "1/4"])
    assert given.strategy(1) == sf.events.Toeplitz([1], steps=1)
    assert given.event(half, 1) == sf.events.SampledFactorization(
        1, sf.events.Toeplitz([1, "1/4"], steps=18), period=4, rate="1/2"
    )
    with pytest.raises(BadArgument, match="period"):
        Correlated(band=5).event(half, 2)  # secret samples help only where turns do not overlap in rows
    for batches in (PoissonBatches("1/4", 3, 40), FixedBatches(10, 3, 40)):  # type: ignore[arg-type]
        with pytest.raises(BadArgument, match="CyclicBatches"):
            noise.event(batches, 2)
        with pytest.raises(BadArgument, match="CyclicBatches"):
            private(nn.Linear(3, 2), data(), noise_multiplier=1, batches=batches, noise=noise)


def test_whoever_is_exchanged_moves_twice_as_much() -> None:
    """Of whole parts, twice the noise is needed for the same loss; a plan tells its batches who is protected."""
    exchange, presence = sf.accounting.Relation.CHANGE_ONE, sf.accounting.Relation.ADD_REMOVE
    for noise in (Correlated(band=3), Independent()):
        plans = [TrainingPlan.within(sf.ZCDP(1), TURNS, Flat(1.0), each, noise) for each in (presence, exchange)]
        assert plans[1].multiplier == pytest.approx(2 * float(plans[0].multiplier), rel=1e-6)
        assert plans[1].batches.relation is exchange and plans[1].event() != plans[0].event()
        costs = [plan.account(delta=1e-5, steps=9).epsilon for plan in plans]
        assert costs[0] == pytest.approx(costs[1], rel=1e-5)
    half = CyclicBatches(4, 18, 40, "1/2")  # type: ignore[arg-type]
    costs = [TrainingPlan(half, Flat(1.0), Fraction(9), each, Correlated(3)).account(delta=1e-5).epsilon
             for each in (presence, exchange)]  # fmt: skip
    assert costs[1] > 1.2 * costs[0]


def test_A3_022_fresh_noise_costs_one_step_for_each_turn() -> None:
    gaussian = sf.events.Gaussian(2)
    half = CyclicBatches(4, 18, 40, "1/2")  # type: ignore[arg-type]
    sampled = sf.events.Sampled(gaussian, sf.events.Poisson("1/2"))
    for batches, turn in ((TURNS, gaussian), (half, sampled)):
        ours, plain = Independent().event(batches, 2), sf.events.Repeat(turn, 5)
        assert steps_of(ours) == 18
        assert account(ours, delta=1e-5).epsilon == pytest.approx(account(plain, delta=1e-5).epsilon, rel=1e-6)
    with pytest.raises(BadArgument, match="Gaussian"):
        TURNS.event(sf.events.Laplace(2))


def test_every_unit_has_its_turn_and_no_other() -> None:
    sampler = TURNS.start(1_000, ReplayEntropy(2))
    turns = [set(sampler.draw(step).tolist()) for step in range(8)]
    assert turns[:4] == turns[4:] and sum(map(len, turns[:4])) == 1_000 == len(set().union(*turns[:4]))
    assert all(abs(len(turn) - 250) < 90 for turn in turns)  # a deviation of 14: replayed
    half = CyclicBatches(4, 18, 40, "1/2")  # type: ignore[arg-type]
    again = half.start(1_000, ReplayEntropy(2))
    drawn = [set(again.draw(step).tolist()) for step in range(8)]
    for step in range(8):
        assert drawn[step] < turns[step] and drawn[step] != drawn[(step + 4) % 8]
        assert abs(len(drawn[step]) - 125) < 60
    assert TURNS.expected == 10 and half.expected == 5
    assert np.bincount(deal(9_000, 3, ReplayEntropy(1))).min() > 2_800
    assert deal(11, 8, ReplayEntropy(1))[:10].tolist() == deal(10, 8, ReplayEntropy(1)).tolist()


@pytest.mark.parametrize("band", [1, 2, 4])
def test_a_stream_that_is_saved_goes_on_as_if_it_had_not_stopped(band: int, tmp_path: Path) -> None:
    weight, noise = nn.Parameter(torch.zeros(5)), Correlated(band=band)
    entropy = ReplayEntropy(5)
    first = noise.start([weight], entropy)
    rows = [first.add({}, 1.0)[weight] for _ in range(5)]
    torch.save(first.state(), tmp_path / "noise.pt")
    later = noise.start([weight], entropy)
    later.load(torch.load(tmp_path / "noise.pt", weights_only=True))
    rows += [later.add({}, 1.0)[weight] for _ in range(5)]
    assert torch.equal(torch.stack(rows), rows_of(noise, 10, 5, seed=5))
    assert isinstance(later, _Stream) and later.state()["made"] == 10


def data(rows: int = 40) -> tuple[Tensor, Tensor]:
    inputs = torch.from_numpy(np.random.default_rng(0).normal(size=(rows, 3))).float()
    return inputs, (inputs[:, 0] > 0).long()


def take(training: Any, steps: int) -> None:
    for count, (rows, labels) in enumerate(training.batches(), start=1):
        training.step(nn.functional.cross_entropy(training.model(rows), labels, reduction="none"))
        if count == steps:
            break


def test_steps_that_the_book_counts_and_no_file_has_end_a_training(tmp_path: Path) -> None:
    inputs, labels = data()
    table = sf.Dataset({"person": list(range(40)), "x": inputs[:, 0].tolist()}, unit="person", between={"x": (-5, 5)})
    session = table.session(limit=sf.Approx(9, 1e-5), ledger="memory:")
    asked: dict[str, Any] = {"loss": sf.Approx(1, 1e-6), "batches": CyclicBatches(2, 9, 40), "session": session}
    asked |= {"noise": Correlated(band=2), "key": "run"}
    torch.manual_seed(1)
    training = private(nn.Linear(3, 2), (inputs, labels), **asked)
    take(training, 2)
    training.save(tmp_path / "two.pt")
    # As it was saved, it goes on, with the same parts.
    again = private(nn.Linear(3, 2), (inputs, labels), **asked).resume(tmp_path / "two.pt")
    parts = [part.state()["part"] for part in (training._sampler, again._sampler)]
    assert torch.equal(*parts)
    take(again, 1)
    # The step since then is lost to whoever has the older file, and to whoever has none.
    with pytest.raises(BadArgument, match="1 steps lost"):
        private(nn.Linear(3, 2), (inputs, labels), **asked).resume(tmp_path / "two.pt")
    fresh = private(nn.Linear(3, 2), (inputs, labels), **asked)
    with pytest.raises(BadArgument, match="goes on from what save"):
        next(fresh.batches())
    assert fresh.taken == 3  # nothing was counted for it
    again.save(tmp_path / "three.pt")
    last = private(nn.Linear(3, 2), (inputs, labels), **asked).resume(tmp_path / "three.pt")
    last.fit(nn.CrossEntropyLoss())
    assert last.release().charged


def test_parts_are_kept_with_fresh_noise_too_but_lost_steps_are_only_lost(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"noise_multiplier": 1, "batches": CyclicBatches(2, 6, 40), "entropy": ReplayEntropy(1)}
    training = private(nn.Linear(3, 2), data(), **asked)
    training.save(tmp_path / "none.pt")
    later = private(nn.Linear(3, 2), data(), **asked)
    later.taken = 3  # as a book would say
    with pytest.raises(BadArgument, match="goes on from what save"):
        next(later.batches())
    later.resume(tmp_path / "none.pt").fit(nn.CrossEntropyLoss())
    assert later.taken == 6
    with pytest.raises(BadArgument, match="another number of units"):
        private(nn.Linear(3, 2), data(41), **asked).resume(tmp_path / "none.pt")


def test_correlated_noise_learns_more_at_one_price_where_units_return_often() -> None:
    """Least squares with known weights, 16 turns for each unit: at the same loss, the error is far smaller."""
    drawn = np.random.default_rng(1)
    inputs = torch.from_numpy(drawn.normal(size=(64, 8))).float()
    truth = torch.from_numpy(drawn.normal(size=8)).float()
    errors: dict[bool, list[float]] = {True: [], False: []}
    for seed in range(2):
        for correlated in (True, False):
            model = nn.Linear(8, 1, bias=False)
            nn.init.zeros_(model.weight)
            training = private(
                model, (inputs, inputs @ truth), loss=sf.ZCDP(8), batches=CyclicBatches(8, 128, 64), clip=5.0,
                noise=Correlated(band=8) if correlated else Independent(), entropy=ReplayEntropy(seed),
                optimizer=torch.optim.SGD(model.parameters(), lr=0.03),
            )  # fmt: skip
            for rows, labels in training.batches():
                training.step((training.model(rows).squeeze(1) - labels) ** 2)
            errors[correlated].append(float(((model.weight.detach().squeeze() - truth) ** 2).sum()))
    assert np.mean(errors[True]) < 0.6 * np.mean(errors[False])


REFUSED: dict[str, dict[str, Any]] = {
    "neither": {},
    "both": {"band": 2, "coefficients": [1]},
    "no band": {"band": 0},
    "rising": {"coefficients": [1, 2]},
    "level": {"coefficients": [1, 1]},
    "below zero": {"coefficients": [1, "-1/2"]},
    "nothing": {"coefficients": []},
    "text": {"coefficients": "1"},
}


@pytest.mark.parametrize("name", REFUSED)
def test_matrices_that_would_not_do_are_refused(name: str) -> None:
    with pytest.raises(BadArgument, match=r"band|coefficients"):
        Correlated(**REFUSED[name])


def test_batches_and_noise_that_are_no_such_thing_are_refused() -> None:
    for changed in ({"period": 0}, {"rate": 0}, {"rate": 2}, {"steps": 0}):
        with pytest.raises(BadArgument, match=next(iter(changed))):
            CyclicBatches(**({"period": 4, "steps": 18, "size": 40, "rate": Fraction(1)} | changed))  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="noise"):
        private(nn.Linear(3, 2), data(), noise_multiplier=1, batch=4, steps=2, noise="gaussian")  # type: ignore[arg-type]
    assert "correlated along 3 steps" in str(Correlated(band=3)) and "1, 0.25" in str(
        Correlated(coefficients=[1, 0.25])
    )

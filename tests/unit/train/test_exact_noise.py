"""Exact noise in training: sums on a grid, what that moves, and noise of exactly the stated size."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.noise.rounded_gaussian import RoundedGaussian
from sfumato.train import Correlated, Exact, FixedBatches, PoissonBatches, private
from sfumato.train.exact_noise import FARTHEST, gridded, most_units, summing_error

ROWS = torch.from_numpy(np.random.default_rng(0).normal(size=(60, 3))).float()
LABELS = (ROWS[:, 0] > 0).long()


def worst_pair(size: int, step: float) -> tuple[Tensor, Tensor]:
    """Vectors that rounding to a grid moves apart as far as it can."""
    return torch.full((size,), 0.4999 * step), torch.full((size,), 1.5001 * step)


@pytest.mark.parametrize("step", [1.0, 2.0**-20 * 1.1, 3e-9])
@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_rounding_moves_sums_apart_by_no_more_than_stated_and_by_nearly_as_much(size: int, step: float) -> None:
    torch.manual_seed(size)
    pairs = [worst_pair(size, step)]
    pairs += [(step * 10**power * torch.randn(size), step * torch.randn(size)) for power in range(0, 12, 2)]
    pairs += [(one, one + step * torch.rand(size)) for one, _ in pairs[:3]]
    reached = []
    for one, other in pairs:
        moved = float((gridded(one, step) - gridded(other, step)).norm())
        apart = float((one.double() - other.double()).norm()) / step
        assert moved <= (apart + (1 + 2.0**-6) * math.sqrt(size)) * (1 + 1e-12)
        reached.append((moved - apart) / math.sqrt(size))
    assert max(reached) > 0.999


def test_every_float_has_its_place_on_the_grid() -> None:
    odd = torch.tensor([math.nan, math.inf, -math.inf, 3e38, -3e38, 1e-45, -0.0, 0.5, 1.5, -0.5])
    whole = gridded(odd, 1.0)
    assert whole.tolist() == [0, FARTHEST, -FARTHEST, FARTHEST, -FARTHEST, 0, 0, 0, 2, 0]
    assert gridded(torch.tensor([2.0**44 + 2**22, 2.0**45]), 1.0).tolist() == [FARTHEST, FARTHEST]


def test_what_is_added_is_the_noise_on_the_grid_and_nothing_else() -> None:
    """In floats of 64 bits, whole numbers of a step can be read off: those of the sum, and the sampler's own."""
    one, other = (
        nn.Parameter(torch.zeros(300, dtype=torch.float64)),
        nn.Parameter(torch.zeros(2, 2, dtype=torch.float64)),
    )
    noise = Exact(304, Fraction(0))
    sums = {one: torch.linspace(-50, 50, 300, dtype=torch.float64)}
    noisy = noise.start([one, other], ReplayEntropy(3)).add(sums, 0.75)
    step, entropy = 0.75 * 2.0**-noise.power, ReplayEntropy(3)
    sampler = RoundedGaussian.of(noise.power)
    drawn = torch.from_numpy(sampler.samples(304, entropy)).split([300, 4])
    assert torch.equal(noisy[one] / step, drawn[0] + torch.round(sums[one] / step))
    assert torch.equal((noisy[other] / step).flatten(), drawn[1].double())


def test_a_step_has_noise_of_the_stated_size_and_a_release_says_which() -> None:
    """Of no rows: what moves the weights is noise of multiplier · bound over rate · size."""
    model = nn.Linear(200, 200)
    before = model.weight.detach().clone()
    training = private(
        model, (torch.zeros(0, 200), torch.zeros(0)), noise_multiplier=4, clip=0.5, exact=True,
        batches=PoissonBatches("1/10", 1, 50),  # type: ignore[arg-type]
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0), entropy=ReplayEntropy(4),
    )  # fmt: skip
    assert list(training.batches()) == []
    assert 0.98 < float((model.weight.detach() - before).std()) / (4 * 0.5 / 5) < 1.02
    assert "drawn exactly on a grid" in str(training) and "gradients are floats" in str(training)


def test_the_event_counts_what_the_grid_and_sums_of_floats_move() -> None:
    for size in (1, 10**4, 10**6, 10**9):
        noise = Exact(size, Fraction(1, 100))
        root = math.isqrt(size - 1) + 1
        assert 16 <= noise.power <= 25 and (root / 2**noise.power <= 2**-11 or noise.power == 25)
        for multiplier in (Fraction(1, 2), Fraction(8)):
            shift = 1 + noise.summing + multiplier * root * (1 + Fraction(1, 64)) / 2**noise.power
            assert multiplier / shift * (1 - Fraction(1, 10**9)) < noise.multiplier(multiplier) < multiplier / shift
    batches = PoissonBatches("1/4", 8, 60)  # type: ignore[arg-type]
    noise = Exact(100, Fraction(1, 100))
    step = sf.events.Gaussian(noise.multiplier(Fraction(2)))
    assert noise.event(batches, 2) == batches.event(step) and noise.multiplier(Fraction(2)) < 2
    # A pair that rounding moves as far as it can is moved by no more than the event says.
    deviation = 2.0
    grid = deviation / 2**noise.power
    one, other = worst_pair(100, grid)
    moved = float((gridded(one, grid) - gridded(other, grid)).norm()) * grid
    apart = float((one.double() - other.double()).norm())
    assert moved - apart <= 2 / float(noise.multiplier(Fraction(2))) - 1.01


def test_calibration_pays_for_what_is_not_exact() -> None:
    asked: dict[str, Any] = {"loss": sf.Approx(1, 1e-5), "batch": 10, "steps": 4}
    exact = private(nn.Linear(3, 2), (ROWS, LABELS), exact=True, **asked)
    plain = private(nn.Linear(3, 2), (ROWS, LABELS), **asked)
    assert plain.plan.multiplier < exact.plan.multiplier < plain.plan.multiplier * Fraction(102, 100)
    exact.fit(nn.CrossEntropyLoss())
    assert exact.spent().epsilon <= 1 and "drawn exactly" in str(exact.release().how)


@pytest.mark.parametrize("at_once", [3_000, 100])
def test_sums_of_floats_are_off_by_no_more_than_stated(at_once: int) -> None:
    """Vectors of norm 1, all alike, the worst for rounding; added up one after another in pieces."""
    many, worst = 3_000, 0.0
    for seed in range(4):
        drawn = np.random.default_rng(seed)
        one = drawn.normal(size=50).astype(np.float32) + np.float32(1)
        one /= np.float32(np.linalg.norm(one) * (1 + 1e-6))
        total = np.zeros(50)
        for start in range(0, many, at_once):
            piece = np.zeros(50, dtype=np.float32)
            for _ in range(min(at_once, many - start)):
                piece += one
            total += piece
        worst = max(worst, float(np.linalg.norm(total - many * one.astype(np.float64))))
    assert worst <= summing_error(many, at_once, 24) / 2
    assert worst >= summing_error(many, at_once, 24) / 100


def test_the_most_units_are_never_passed_in_practice_and_pieces_help() -> None:
    poisson = PoissonBatches("1/10", 1, 5_000)  # type: ignore[arg-type]
    sizes = [len(poisson.draw(5_000, ReplayEntropy(seed))) for seed in range(50)]
    assert 500 < max(sizes) < most_units(poisson) == 500 + 12 * 23 + 100
    assert most_units(FixedBatches(30, 1, 100)) == 30
    weight = [nn.Parameter(torch.zeros(10))]
    whole, pieces = Exact.of(weight, poisson), Exact.of(weight, poisson, 64)
    assert pieces.summing < whole.summing / 10 and Exact.of(weight, poisson, 10**6) == whole
    assert Exact.of([nn.Parameter(torch.zeros(10, dtype=torch.float64))], poisson).summing < 1e-9


def test_pieces_of_a_batch_are_added_up_in_64_bits() -> None:
    """2^26 and then 1 and 1, from three pieces: 32 bits would lose both."""
    seen: list[Tensor] = []
    model = nn.Linear(1, 1, bias=False)
    training = private(
        model, (torch.tensor([[2.0**26], [1.0], [1.0]]),), noise_multiplier=1e-6, exact=True, clip=2.0**30, largest=1,
        batches=PoissonBatches(1, 1, 3), entropy=ReplayEntropy(1),  # type: ignore[arg-type]
        optimizer=torch.optim.SGD(model.parameters(), lr=0.0),
    )  # fmt: skip
    for (rows,) in training.batches():
        training.step(training.model(rows).squeeze(1))
        seen.extend(training._sums.values())
    assert seen[-1].dtype == torch.float64 and float(seen[-1]) == 2.0**26 + 1


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "half precision": ({"model": nn.Linear(3, 2).to(torch.bfloat16)}, "32 or 64 bits"),
    "two kinds of noise": ({"noise": Correlated(band=2)}, "one of them"),
    "rough sums": ({"batches": PoissonBatches("1/2", 1, 8_000)}, "such as 64"),  # type: ignore[arg-type]
    "too many at once": ({"batches": PoissonBatches("1/2", 1, 10**7)}, "largest"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", REFUSED)
def test_exact_noise_that_would_not_be_exact_is_refused(name: str) -> None:
    changed, word = REFUSED[name]
    given: dict[str, Any] = {"model": nn.Linear(3, 2), "noise_multiplier": 1, "batch": 10, "steps": 1, "exact": True}
    given |= changed
    rows = ROWS.to(next(given["model"].parameters()).dtype)
    with pytest.raises(BadArgument, match=word):
        private(given.pop("model"), (rows, LABELS), **given)


def test_deviations_beyond_floats_and_other_models_are_refused() -> None:
    weight = nn.Parameter(torch.zeros(3))
    stream = Exact(3, Fraction(0)).start([weight], ReplayEntropy(1))
    for deviation in (0.0, 1e-300, 1e300, math.nan):
        with pytest.raises(BadArgument, match="range of floats"):
            stream.add({}, deviation)
    with pytest.raises(BadArgument, match="dimension"):
        Exact(2, Fraction(0)).start([weight], ReplayEntropy(1))
    with pytest.raises(BadArgument, match="summing"):
        Exact(2, Fraction(-1))

"""Rules of clipping: groups with bounds of their own, a bound that follows a quantile, and the ends of floats."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.train import Adaptive, Automatic, Flat, PerGroup, PerLayer, PoissonBatches, private
from sfumato.train.adaptive import AdaptiveClipper
from sfumato.train.clipping import Clipping

GROUPS = PerGroup({"0": 0.3, "2.": 0.4})


def clipper(rule: Adaptive, multiplier: float = 1.0, expected: float = 100.0) -> AdaptiveClipper:
    made = rule.start(multiplier, expected)
    assert isinstance(made, AdaptiveClipper)
    return made


def lengths(clipping: Any, squared: dict[str, list[float]], dtype: torch.dtype = torch.float64) -> dict[str, Tensor]:
    """What is left of the norm of each unit in each layer."""
    given = {name: torch.tensor(part, dtype=dtype) for name, part in squared.items()}
    weights = clipping.weights(given)
    return {name: weights[name].double() * given[name].double().sqrt() for name in given}


def test_groups_keep_their_own_bounds_and_all_together_theirs() -> None:
    left = lengths(GROUPS, {"0.weight": [1.0, 1e-4, 9.0], "0.more": [3.0, 1e-4, 0.0], "2.weight": [4.0, 4.0, 1e-6]})
    first = torch.hypot(left["0.weight"], left["0.more"])
    assert float(first.max()) <= 0.3 and float(first[0]) > 0.299 and float(left["2.weight"].max()) <= 0.4
    assert float(first[1]) == pytest.approx(math.sqrt(2e-4)) and float(left["2.weight"][2]) == pytest.approx(1e-3)
    whole = torch.hypot(first, left["2.weight"])
    assert 0.4995 < float(whole.max()) <= 0.5 == pytest.approx(GROUPS.bound)
    assert GROUPS.start(3.0, 1.0).deviation == pytest.approx(1.5)


def test_a_layer_belongs_to_the_longest_prefix_and_every_layer_to_one() -> None:
    nested = PerGroup({"": 1.0, "body": 2.0, "body.1": 3.0})
    assert [nested.group(name) for name in ("head.weight", "body.0.weight", "body.1.bias")] == ["", "body", "body.1"]
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2), nn.Linear(2, 2))
    rows = torch.zeros(8, 3), torch.zeros(8, dtype=torch.long)
    with pytest.raises(BadArgument, match=r"3\.weight"):
        private(model, rows, noise_multiplier=1, batch=4, steps=1, clip=GROUPS)
    for bounds in ({}, {"0": 0.0}, {"0": math.inf}, [1.0]):
        with pytest.raises(BadArgument):
            PerGroup(bounds)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "clipping", [Flat(0.5), Automatic(0.5), Automatic(0.5, 1e-44), PerLayer(0.5), GROUPS, Adaptive(0.5)]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_norms_at_the_ends_of_floats_keep_the_bound(clipping: Clipping, dtype: torch.dtype) -> None:
    ends = [0.0, 1e-45, 1e-38, 1e-7, 1.0, 6e4, 1e38, 3e38, math.inf, math.nan]
    weights = clipping.weights({name: torch.tensor(ends, dtype=dtype) for name in ("0.weight", "2.weight")})
    for name, each in weights.items():
        assert bool(torch.isfinite(each).all() & (each >= 0).all()), name
        assert each[-2:].tolist() == [0, 0]
    left = lengths(clipping, {"0.weight": ends[:-2], "2.weight": ends[:-2]}, dtype)
    known = torch.isfinite(torch.tensor(ends[:-2], dtype=dtype))
    both = torch.hypot(left["0.weight"], left["2.weight"])[known]
    assert float(both.max()) <= 0.5
    if not isinstance(clipping, Automatic):
        assert float(weights["0.weight"][0]) == 1


@pytest.mark.parametrize(("multiplier", "share"), [(0.5, 0.01), (1.0, 0.1), (7.0, 0.5)])
def test_gradients_and_count_are_one_gaussian_vector_of_the_stated_multiplier(multiplier: float, share: float) -> None:
    """In units of their own noise, a unit moves gradients by bound / deviation and the count by 1/2 / deviation."""
    made = clipper(Adaptive(0.3, share=share), multiplier)
    moved = math.hypot(made.bound / made.deviation, 0.5 / made.count_deviation)
    assert moved == pytest.approx(1 / multiplier, rel=1e-12)
    assert 0.5 / made.count_deviation == pytest.approx(math.sqrt(share) / multiplier, rel=1e-12)


def bounds_after(norm: float | None, **asked: Any) -> float:
    """The bound after a step, nearly without noise, of one unit with a norm, or of none."""
    made = clipper(Adaptive(1.0, learning_rate=1.0, quantile=0.5), 1e-9, 1.0)
    made.begin_step()
    if norm is not None:
        made.weights({"weight": torch.tensor([norm**2])})
    made.end_step(ReplayEntropy(1))
    return made.bound


def test_one_unit_moves_the_count_by_a_half_whatever_its_norm() -> None:
    alone = bounds_after(None)
    assert alone == pytest.approx(1.0, abs=1e-6)
    for norm, up in ((0.0, False), (0.9, False), (1.1, True), (1e30, True), (math.nan, True), (math.inf, True)):
        assert abs(math.log(bounds_after(norm) / alone)) == pytest.approx(0.5, abs=1e-6)
        assert (bounds_after(norm) > alone) is up


def test_the_count_has_noise_of_its_deviation() -> None:
    """Replayed, of empty batches: log bound moves by learning rate · noise / expected units."""
    made, moves, entropy = clipper(Adaptive(1.0, learning_rate=0.1, share=0.04), 2.0, 50.0), [], ReplayEntropy(3)
    for _ in range(3_000):
        before = made.bound
        made.begin_step()
        made.end_step(entropy)
        moves.append(math.log(made.bound / before))
    expected = 0.1 * made.count_deviation / 50
    assert made.count_deviation == pytest.approx(5.0) and 0.95 < np.std(moves) / expected < 1.05
    assert abs(np.mean(moves)) < 5 * expected / math.sqrt(3_000)


def test_what_a_step_that_was_broken_off_counted_does_not_count() -> None:
    made = clipper(Adaptive(1.0, learning_rate=1.0), 1e-9, 1.0)
    made.begin_step()
    made.weights({"weight": torch.full((5,), 4.0)})
    made.begin_step()
    made.weights({"weight": torch.tensor([4.0])})
    made.end_step(ReplayEntropy(1))
    assert math.log(made.bound) == pytest.approx(0.5, abs=1e-6)


def test_the_bound_finds_the_quantile_of_a_made_up_task_and_is_remembered(tmp_path: Path) -> None:
    """The gradient of w·x is x: of rows of length 1 … 200, nine of ten are below 180."""
    rows = torch.arange(1.0, 201.0)[:, None]
    asked: dict[str, Any] = {
        "noise_multiplier": 1, "batches": PoissonBatches(1, 60, 200),  # type: ignore[arg-type]
        "clip": Adaptive(1.0, quantile=0.9, share=0.05), "entropy": ReplayEntropy(8),
    }  # fmt: skip

    def started() -> Any:
        model = nn.Linear(1, 1, bias=False)
        return private(model, (rows, rows[:, 0]), optimizer=torch.optim.SGD(model.parameters(), lr=0.0), **asked)

    training = started()
    training.fit(lambda out, labels, reduction="none": out[:, 0])
    state = training._clipper.state()
    assert 165 < state["bound"] < 195
    training.save(tmp_path / "run.pt")
    assert started().resume(tmp_path / "run.pt")._clipper.state() == state
    assert training.plan.event() == PoissonBatches(1, 60, 200).event(sf.events.Gaussian(1))  # type: ignore[arg-type]


def test_gradients_have_more_noise_where_the_count_is_paid_for() -> None:
    """Of no rows: what moves the weights is noise of multiplier · bound / √(1 − share), over rate · size."""
    model = nn.Linear(200, 200)
    before = model.weight.detach().clone()
    training = private(
        model, (torch.zeros(0, 200), torch.zeros(0)), noise_multiplier=4, clip=Adaptive(0.5, share=0.5),
        batches=PoissonBatches("1/10", 1, 50),  # type: ignore[arg-type]
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0), entropy=ReplayEntropy(4),
    )  # fmt: skip
    assert list(training.batches()) == []
    assert 0.98 < float((model.weight.detach() - before).std()) / (4 * 0.5 * math.sqrt(2) / 5) < 1.02


def test_only_a_bound_that_follows_something_is_not_constant() -> None:
    assert all(rule.constant for rule in (Flat(1.0), Automatic(), PerLayer(1.0), GROUPS)) and not Adaptive().constant


@pytest.mark.parametrize(
    "wrong",
    [
        {"bound": 0.0}, {"bound": 1e7}, {"least": 0.0}, {"least": 1e-30}, {"most": 1e30}, {"quantile": 1.5},
        {"learning_rate": 0.0}, {"share": 0.0}, {"share": 0.6}, {"bound": math.nan},
    ],
)  # fmt: skip
def test_numbers_that_no_adaptive_bound_has_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(BadArgument):
        Adaptive(**wrong)

"""Audits of training: trainers that are broken are caught in one run, and those that are right are not."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import sfumato as sf
from sfumato.accounting import Relation, dp_sgd
from sfumato.audit.record import Verdict
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.train import (
    Automatic,
    FixedBatches,
    Flat,
    GradientCanaries,
    PerLayer,
    PoissonBatches,
    RowCanaries,
    TrainingPlan,
    audit_training,
    private,
)
from sfumato.train.canaries import FOLDED, Task
from sfumato.train.clipping import Clipping
from sfumato.train.noise import normal_like

LAYERS = 16
MANY = GradientCanaries(2_000, layers=LAYERS)
SCALE, BOUND = 4.0, 8.0
CLAIM = sf.Approx(2, "1e-5")
"""Kept by 4 steps of all rows with noise of 4 times the bound, and by 8 of half of them."""


def test_the_claims_are_what_right_steps_cost() -> None:
    for event in (dp_sgd(SCALE, rate=1, steps=4), dp_sgd(SCALE, rate="1/2", steps=8)):
        assert 1.4 < sf.account(event, delta="1e-5").epsilon <= 2
    assert 2.5 < sf.account(dp_sgd(1, rate="1/64", steps=64 * 24), delta="1e-5").epsilon <= 3.8


def row_weights(task: Task, fault: str, layers: int) -> Tensor:
    """The weight of each row: the bound over the norm of its unit's gradient."""
    rows = torch.from_numpy(np.bincount(task.people)[list(task.people)])
    norms = task.data[1].abs() * math.sqrt(layers) * rows
    if fault == "rows clipped, not people":
        norms = norms / rows
    if fault == "each layer has the whole bound":
        norms = norms / math.sqrt(layers)
    return torch.ones(len(rows)) if fault == "no clipping" else BOUND / norms


def gradients(task: Task, chosen: Tensor, weights: Tensor, fault: str, expected: float) -> list[Tensor]:
    """The clipped gradients of a batch, over the expected number of rows."""
    model = task.model
    losses = task.loss(model(task.data[0][chosen]), task.data[1][chosen])
    model.zero_grad()
    if fault == "the average is clipped":
        losses.mean().backward()
        nn.utils.clip_grad_norm_(model.parameters(), BOUND)
    else:
        ((weights[chosen] * losses).sum() / expected).backward()
    return [torch.zeros_like(each) if each.grad is None else each.grad for each in model.parameters()]


def plain(task: Task, *, fault: str, rate: float = 1.0, steps: int = 4, scale: float = SCALE) -> None:
    """Private descent in a few lines, as it is often written, with one mistake or none."""
    parameters, count, entropy = list(task.model.parameters()), len(task.people), task.entropy
    weights = row_weights(task, fault, len(parameters))
    expected = rate * count
    deviation = scale * (1 if fault == "noise without the bound" else BOUND) / expected
    deviation /= expected if fault == "noise over the batch again" else 1
    order = np.array_split(np.argsort(entropy.words(count)), round(1 / rate))
    if fault == "a seed":
        entropy = ReplayEntropy(7)
    for step in range(steps):
        drawn = np.flatnonzero(entropy.words(count) < rate * 2.0**64) if rate < 1 else np.arange(count)
        chosen = torch.from_numpy(order[step % len(order)] if fault == "batches shuffled once" else drawn)
        moved = gradients(task, chosen, weights, fault, expected)
        noise = ReplayEntropy(7) if fault == "the same noise in all steps" else entropy
        with torch.no_grad():
            for place, (each, gradient) in enumerate(zip(parameters, moved, strict=True)):
                bare = fault == "a layer without noise" and place == 3
                each.sub_(0.5 * (gradient + (0 if bare else normal_like(each.shape, deviation, noise))))


@pytest.mark.parametrize("kind", [{}, {"rate": 0.5, "steps": 8}], ids=["all rows", "half of them"])
def test_a_trainer_that_is_right_is_not_caught(kind: dict[str, Any]) -> None:
    audit = audit_training(partial(plain, fault="", **kind), claim=CLAIM, canaries=MANY, entropy=ReplayEntropy(11))
    assert audit.verdict is Verdict.OPEN and audit.lines[0].low > 0.2


def test_a_trainer_with_right_batches_is_not_caught_by_looking_at_epochs() -> None:
    train = partial(plain, fault="", rate=1 / 64, steps=64 * 24, scale=1)
    given: dict[str, Any] = BROKEN["batches shuffled once"][2]
    audit = audit_training(train, entropy=ReplayEntropy(12), **given)
    assert audit.verdict is Verdict.OPEN


EPOCHS: dict[str, Any] = {
    "claim": sf.Approx("3.8", "1e-5"),
    "canaries": GradientCanaries(1_000, layers=1),
    "epoch": 64,
    "looks": [FOLDED],
}
BROKEN: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "no clipping": ("all that moved", {}, {}),
    "each layer has the whole bound": ("all that moved", {}, {}),
    "rows clipped, not people": ("all that moved", {}, {"canaries": GradientCanaries(2_000, layers=4, rows=8)}),
    "the average is clipped": ("all that moved", {}, {}),
    "noise over the batch again": ("all that moved", {}, {}),
    "noise without the bound": ("all that moved", {}, {}),
    "the same noise in all steps": ("steps that differ", {"rate": 0.5, "steps": 8}, {}),
    "a seed": ("two runs apart", {}, {}),
    "a layer without noise": ("the barest layer", {}, {}),
    "batches shuffled once": (FOLDED, {"rate": 1 / 64, "steps": 64 * 24, "scale": 1}, EPOCHS),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_trainer_is_caught_in_one_run(fault: str) -> None:
    look, kind, asked = BROKEN[fault]
    given: dict[str, Any] = {"claim": CLAIM, "canaries": MANY, "entropy": ReplayEntropy(14)} | asked
    audit = audit_training(partial(plain, fault=fault, **kind), **given)
    assert audit.verdict is Verdict.VIOLATED, str(audit)
    assert dict(audit.facts)["looked at"] == look


OURS: dict[str, tuple[Clipping, dict[str, Any]]] = {
    "flat": (Flat(BOUND), {}),
    "automatic": (Automatic(BOUND), {}),
    "by layers": (PerLayer(BOUND), {}),
    "people": (Flat(BOUND), {"canaries": GradientCanaries(2_000, layers=4, rows=8)}),
}


@pytest.mark.parametrize("kind", OURS)
def test_our_trainer_keeps_its_promise(kind: str) -> None:
    """Broken copies of the package are caught by this, too."""
    clipping, asked = OURS[kind]
    plan = TrainingPlan(PoissonBatches(1, 4, 2_000), clipping, SCALE, Relation.ADD_REMOVE)  # type: ignore[arg-type]
    audit = audit_training(plan, **({"delta": "1e-5", "canaries": MANY, "entropy": ReplayEntropy(17)} | asked))
    assert audit.lines[0].claimed == pytest.approx(1.993, abs=0.01)
    assert audit.verdict is Verdict.OPEN, str(audit)
    assert audit.lines[0].low > 0.4


def test_our_batches_keep_their_promise() -> None:
    """Those of a fixed size exchange a unit: what one adds may turn round."""
    plan = TrainingPlan(FixedBatches(250, 16, 1_000), Flat(1.0), SCALE, Relation.CHANGE_ONE)  # type: ignore[arg-type]
    few = GradientCanaries(1_000, layers=1)
    audit = audit_training(plan, delta="1e-5", canaries=few, epoch=1, entropy=ReplayEntropy(19))
    assert audit.verdict is Verdict.OPEN and audit.lines[0].low > 0.2, str(audit)


def test_the_bound_is_two_fifths_of_the_claim_where_all_rows_take_part() -> None:
    plan = TrainingPlan.within(sf.Approx(4, "1e-5"), PoissonBatches(1, 1, 1), Flat(1.0), Relation.ADD_REMOVE)  # type: ignore[arg-type]
    given: dict[str, Any] = {"canaries": GradientCanaries(10_000, layers=1), "looks": ["all that moved"]}
    audit = audit_training(plan, claim=sf.Approx(4, "1e-5"), entropy=ReplayEntropy(23), guesses=128, **given)
    assert audit.verdict is Verdict.OPEN and audit.lines[0].low > 1.6, str(audit)


def test_what_is_printed_says_what_was_tried() -> None:
    plan = TrainingPlan(PoissonBatches(1, 2, 1), Flat(1.0), 2, Relation.ADD_REMOVE)  # type: ignore[arg-type]
    said = str(audit_training(plan, delta="1e-5", canaries=50, entropy=ReplayEntropy(1)))
    for words in ("claimed", "measured", "canaries", "all that moved, steps that differ", "0.95"):
        assert words in said


def memorised(*, private_steps: bool) -> tuple[RowCanaries, Callable[[Task], None]]:
    """Rows of noise with labels of noise, and a model that can learn them by heart."""
    drawn = np.random.default_rng(0)
    inputs = torch.from_numpy(drawn.normal(size=(400, 3_000))).float()
    labels = torch.from_numpy(drawn.integers(0, 2, 400))

    def train(task: Task) -> None:
        optimizer = torch.optim.SGD(task.model.parameters(), lr=0.05)
        if private_steps:
            asked: dict[str, Any] = {"noise_multiplier": 4, "batches": PoissonBatches(1, 4, 400)}  # type: ignore[arg-type]
            made = private(task.model, task.data, optimizer=optimizer, entropy=task.entropy, **asked)
            made.fit(task.loss)
            return
        for _ in range(20):
            optimizer.zero_grad()
            task.loss(task.model(task.data[0]), task.data[1]).mean().backward()
            optimizer.step()

    def model() -> nn.Module:
        torch.manual_seed(3)
        return nn.Linear(3_000, 2)

    public = inputs[:20] + 1, labels[:20]
    return RowCanaries(model, inputs, labels, nn.CrossEntropyLoss(), besides=public), train


@pytest.mark.parametrize("private_steps", [False, True])
def test_rows_with_labels_of_noise_tell_of_a_model_that_learns_by_heart(private_steps: bool) -> None:
    planted, train = memorised(private_steps=private_steps)
    audit = audit_training(train, claim=CLAIM, canaries=planted, entropy=ReplayEntropy(29))
    assert audit.verdict is (Verdict.OPEN if private_steps else Verdict.VIOLATED), str(audit)
    with pytest.raises(BadArgument, match="add/remove"):
        audit_training(train, claim=CLAIM, canaries=planted, relation=Relation.CHANGE_ONE)


def test_what_cannot_be_audited_is_refused_before_anything_runs() -> None:
    def never(task: Task) -> None:
        raise AssertionError

    refused: list[tuple[Any, dict[str, Any], str]] = [
        ("a model", {"claim": 1}, "train"),
        (never, {"claim": sf.ZCDP(1)}, "delta"),
        (never, {"claim": 1, "canaries": 0}, "count"),
        (never, {"claim": 1, "looks": ["tea leaves"]}, "looks"),
        (never, {"claim": 1, "looks": []}, "looks"),
        (never, {"claim": 1, "epoch": 0}, "epoch"),
        (never, {"claim": 1, "canaries": 4, "guesses": 5}, "guesses"),
        (never, {"claim": 1, "confidence": 1}, "confidence"),
    ]
    for train, asked, word in refused:
        with pytest.raises(BadArgument, match=word):
            audit_training(train, **asked)
    with pytest.raises(BadArgument, match="length"):
        GradientCanaries(3, length=0)
    with pytest.raises(BadArgument, match="labels"):
        RowCanaries(nn.Identity, torch.zeros(2), torch.zeros(3), nn.MSELoss())


def test_canaries_that_are_out_are_gone_or_blank_or_turned_round() -> None:
    planted, coins = GradientCanaries(3, rows=2, length=5), (True, False, True)
    labels = {each: planted.task(coins, each, ReplayEntropy(1)).data[1].tolist() for each in Relation}
    assert labels[Relation.ADD_REMOVE] == [5] * 4
    assert labels[Relation.ZERO_OUT] == [5, 5, 0, 0, 5, 5]
    assert labels[Relation.CHANGE_ONE] == [5, 5, -5, -5, 5, 5]


def test_a_trainer_that_moves_nothing_shows_nothing() -> None:
    audit = audit_training(lambda task: None, claim=1, canaries=40, epoch=3, entropy=ReplayEntropy(3))
    assert audit.lines[0].low == 0 and audit.verdict is Verdict.OPEN

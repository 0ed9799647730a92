"""Epoch reports and sweeps: what is spent is certified, what is shown is free, and what looks is paid for."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from tests.unit.chart_reading import tables
from torch import Tensor, nn

import sfumato as sf
from sfumato.accounting.events import Sequence
from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.relation import Relation
from sfumato.charts.training import batch_chart, history, sweep_chart
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.train import Reports, advise, private, sweep
from sfumato.train.batches import PoissonBatches
from sfumato.train.candidates import Candidate, planned
from sfumato.train.plain import plainly_trained
from sfumato.train.scoring import NoisyScore, accuracy
from sfumato.train.units import Units

CROSS = nn.CrossEntropyLoss()


def rows(many: int = 200, seed: int = 0) -> tuple[Tensor, Tensor]:
    inputs = torch.from_numpy(np.random.default_rng(seed).normal(size=(many, 3))).float()
    return inputs, (inputs[:, 0] > 0).long()


def make(lr: float = 2.0) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(3)
    model = nn.Linear(3, 2)
    return model, torch.optim.SGD(model.parameters(), lr=lr)


def test_P3_037_and_P3_038_every_epoch_says_what_is_spent_and_what_public_rows_score() -> None:
    lines: list[str] = []
    model, optimizer = make()
    reports = Reports(public=rows(80, seed=1), loss_function=CROSS, show=lines.append)
    training = private(
        model, rows(), loss=sf.Approx(3, 1e-5), batch=50, epochs=3, optimizer=optimizer, entropy=ReplayEntropy(1)
    ).fit(CROSS, reports=reports)
    told = reports.history.epochs
    assert [(each.epoch, each.steps) for each in told] == [(1, 4), (2, 8), (3, 12)]
    for each in told:
        assert each.epsilon == training.plan.account(delta=1e-5, steps=each.steps).epsilon
        assert each.epsilon.lower <= each.epsilon.upper and each.rate == 2.0 and each.signal is not None
    assert told[0].epsilon < told[1].epsilon < told[2].epsilon <= 3
    inputs, labels = rows(80, seed=1)
    assert told[-1].score == pytest.approx(float((model(inputs).argmax(1) == labels).float().mean()))
    assert told[-1].loss == pytest.approx(CROSS(model(inputs), labels).item(), rel=1e-5)
    assert len(lines) == 3 and "ε ≤" in lines[0] and "public score" in str(reports.history)
    assert model.training  # scoring left it as it was
    assert {name: len(values) for name, values in tables(reports.history.plot()).items()} == {
        "ε": 3, "score": 3, "signal": 3,
    }  # fmt: skip


def test_reports_without_public_rows_show_no_scores_and_need_a_delta() -> None:
    reports = Reports(delta=1e-5, every=3)
    training = private(make()[0], rows(), noise_multiplier=2, batch=50, steps=7, entropy=ReplayEntropy(1))
    training.watchers.append(reports)
    for inputs, labels in training.batches():
        training.step(nn.functional.cross_entropy(training.model(inputs), labels, reduction="none"))
    assert [(each.steps, each.score, each.loss) for each in reports.history.epochs] == [
        (3, None, None), (6, None, None), (7, None, None),
    ]  # fmt: skip
    assert not [name for name in ("train_loss", "training_loss") if hasattr(reports.history.epochs[0], name)]
    without = private(make()[0], rows(), noise_multiplier=2, batch=50, steps=1, entropy=ReplayEntropy(1))
    with pytest.raises(BadArgument, match="delta"):
        without.fit(CROSS, reports=Reports())
    with pytest.raises(BadArgument, match="after the first epoch"):
        Reports().history.plot()


def test_signal_is_read_off_the_noisy_gradient() -> None:
    """Of gradients of one known length the estimate is right on average; without any it is nearly 0."""

    class Constant(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(300, 1, bias=False)

        def forward(self, inputs: Tensor) -> Tensor:
            return self.layer(inputs)  # type: ignore[no-any-return]

    held = torch.nn.functional.normalize(torch.ones(40, 300)), torch.zeros(40)
    for length, expected in ((1.0, 40 / (1.5 * math.sqrt(300))), (0.0, 0.0)):
        model, reports = Constant(), Reports(delta=1e-5, every=60)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
        batches = PoissonBatches(1, 60, 40)  # type: ignore[arg-type]
        training = private(
            model, held, noise_multiplier=1.5, batches=batches, optimizer=optimizer, entropy=ReplayEntropy(2)
        )
        training.fit(lambda output, labels, length=length: output[:, 0] * length, reports=reports)
        (told,) = reports.history.epochs
        assert told.signal == pytest.approx(expected, rel=0.03, abs=0.3)


def test_A3_019_a_sweep_prices_settings_without_rows_and_the_clip_changes_nothing() -> None:
    grid = {"noise_multiplier": [0.5, 0.7, 1, 2, 4], "clip": [0.5, 1.0], "batch": [10], "epochs": [10]}
    made = sweep(grid, delta=1e-3, size=30_170)
    costs = {(point.settings["noise_multiplier"], point.settings["clip"]): point.epsilon for point in made.points}
    for noise, known in ((0.5, 1.573), (0.7, 0.338), (1, 0.142), (2, 0.045), (4, 0.0165)):
        assert costs[noise, 0.5] == costs[noise, 1.0] == pytest.approx(known, rel=0.02)
    assert made.release is None and "0.141" in str(made) and "score" not in str(made)
    assert made.plot().to_dict()["title"]["text"] == "What noise costs"


def test_P3_041_a_sweep_on_public_rows_has_scores_and_the_gap_to_training_without_privacy() -> None:
    grid = [{"noise_multiplier": noise, "lr": 2.0, "batch": 50, "steps": 12} for noise in (0.5, 60)]
    asked: dict[str, Any] = {"make": make, "loss_function": CROSS, "entropy": ReplayEntropy(3)}
    made = sweep(grid, delta=1e-5, public=(rows(), rows(200, seed=1)), **asked)
    good, bad = made.points
    assert good.score is not None and bad.score is not None and good.gap is not None and bad.gap is not None
    assert good.score > bad.score and good.gap + good.score == pytest.approx(bad.gap + bad.score)
    assert "public rows" in str(made) and made.release is None
    assert [row["text"] for row in tables(made.plot())["words"]] == ["without privacy"]


def test_P3_041_a_sweep_on_private_rows_pays_for_every_setting_and_shows_no_gap() -> None:
    table = {"person": list(range(200)), "x": rows()[0][:, 0].tolist()}
    data = sf.Dataset(table, unit="person", between={"x": (-5, 5)})
    session = data.session(limit=sf.Approx(20, 1e-4), ledger="memory:")
    grid = [{"noise_multiplier": noise, "batch": 50, "steps": 4} for noise in (2, 4)]
    asked: dict[str, Any] = {"make": make, "loss_function": CROSS, "data": rows(), "session": session}
    with pytest.raises(BadArgument, match="a name of this sweep"):
        sweep(grid, delta=1e-5, **asked)
    made = sweep(grid, delta=1e-5, **asked, key="swept")
    assert made.release is not None and made.release.charged and made.release.loss == session.spent
    score = NoisyScore(accuracy, Fraction(1, 100), 200).event(Relation.ADD_REMOVE)
    every = [part for noise in (2, 4) for part in (sf.accounting.dp_sgd(noise, rate="1/4", steps=4), score)]
    assert made.release.loss == sf.account(Sequence(*every), delta=1e-5).loss
    assert all(point.score is not None and point.gap is None for point in made.points)
    assert "for all of them" in str(made)
    with pytest.raises(BadArgument, match="one of them"):
        sweep(grid, delta=1e-5, **asked, public=(rows(), rows()), key="other")
    with pytest.raises(BadArgument, match="make and loss_function"):
        sweep(grid, delta=1e-5, data=rows())
    with pytest.raises(BadArgument, match="noise_multiplier"):
        sweep({"batch": [10], "steps": [1]}, delta=1e-5, size=100)


def test_plain_training_is_that_of_torch() -> None:
    plan = planned({"batch": 200, "steps": 6, "epochs": None, "clip": 1.0}, 200, None)
    ours = plainly_trained(Candidate({}, make, CROSS, plan, 64), Units(rows()), ReplayEntropy(1))
    plain, optimizer = make()
    for _ in range(6):
        optimizer.zero_grad()
        CROSS(plain(rows()[0]), rows()[1]).backward()
        optimizer.step()
    for one, other in zip(ours.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_advice_keeps_one_loss_and_larger_batches_have_less_noise() -> None:
    advice = advise(5_000, epsilon=2, delta=1e-5, batches=[50, 500], epochs=[2, 8])
    small, longer, large, largest = advice.choices
    assert large.noise < small.noise and largest.noise > large.noise and largest.drift < large.drift
    assert longer.steps == 800
    cost = sf.account(sf.accounting.dp_sgd(large.multiplier, rate="1/10", steps=20), delta=1e-5)
    assert 1.99 < cost.epsilon <= 2
    assert "noise on a mean gradient" in str(advice) and advice.plot().to_dict()["title"]["text"]
    with pytest.raises(BadArgument, match="at least one"):
        advise(100, epsilon=1, delta=1e-5, batches=[])


def test_charts_refuse_nothing_to_draw() -> None:
    with pytest.raises(BadArgument, match="at least one"):
        history([], [])
    with pytest.raises(BadArgument, match="at least one"):
        sweep_chart([({"noise_multiplier": 1}, math.inf, None, None)], delta=1e-5)
    with pytest.raises(BadArgument, match="at least one"):
        batch_chart([], loss="ε = 1", size=10)
    band = history([1, 2], [Bracket(sf.Pure("0.5").epsilon, sf.Pure("0.6").epsilon)] * 2).to_dict()  # type: ignore[arg-type]
    assert "area" in str(band)

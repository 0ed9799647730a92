"""Training under a plan: what runs is what is paid for, and nobody adds more than the bound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, UnknownFormat
from sfumato.train import Automatic, FixedBatches, Flat, PerLayer, PoissonBatches, Private, private, replaced
from sfumato.train.clipping import Clipping
from sfumato.train.layers import products
from sfumato.train.noise import normal_like
from sfumato.train.sums import clipped_sum
from sfumato.train.taps import Notes


def made_up(rows: int = 40) -> tuple[Tensor, Tensor]:
    drawn = np.random.default_rng(0)
    inputs = torch.from_numpy(drawn.normal(size=(rows, 3))).float()
    return inputs, (inputs[:, 0] > 0).long()


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))


def test_a_plan_is_calibrated_and_its_event_has_what_runs() -> None:
    training = private(network(), made_up(), loss=sf.Approx(1, 1e-5), batch=10, epochs=2, entropy=ReplayEntropy(1))
    plan = training.plan
    assert plan.steps == 8 and plan.event() == sf.accounting.dp_sgd(plan.multiplier, rate="1/4", steps=8)
    assert plan.account(delta=1e-5).epsilon <= 1
    training.fit(nn.CrossEntropyLoss())
    assert training.taken == 8 and training.spent().epsilon == plan.account(delta=1e-5).epsilon
    release = training.release()
    assert release.loss == sf.Approx(1, 1e-5) and release.replayable and not release.charged
    assert "in floating point" in str(training) and "add/remove" in str(training)


def test_without_noise_and_clipping_it_is_plain_training() -> None:
    inputs, labels = made_up()
    ours, plain = network(), network()
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.5)
    training = private(
        ours,
        (inputs, labels),
        noise_multiplier=1e-12,
        batches=PoissonBatches(1, 10, 40),  # type: ignore[arg-type]
        clip=1e3,
        optimizer=torch.optim.SGD(ours.parameters(), lr=0.5),
        largest=7,
        entropy=ReplayEntropy(1),
    )
    for _ in range(10):
        optimizer.zero_grad()
        nn.functional.cross_entropy(plain(inputs), labels).backward()
        optimizer.step()
    training.fit(nn.functional.cross_entropy)
    for one, other in zip(ours.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("clipping", [Flat(0.1), Automatic(0.1), PerLayer(0.1)])
def test_no_unit_adds_more_than_the_bound_and_the_worst_adds_nearly_as_much(clipping: Clipping) -> None:
    model, (inputs, labels) = network().double(), made_up(6)
    inputs[2] = 1e6
    lengths = []
    for row in range(6):
        notes = Notes(model)
        notes.begin()
        nn.functional.cross_entropy(model(inputs[row : row + 1].double()), labels[row : row + 1]).backward()
        notes.end()
        sums = clipped_sum(notes, 1, clipping)
        lengths.append(float(torch.sqrt(sum((part**2).sum() for part in sums.values()))))  # type: ignore[arg-type]
    assert max(lengths) <= 0.1 and max(lengths) > 0.08


@pytest.mark.parametrize("kept", [products.KEPT, 0])
@pytest.mark.parametrize("wide", [64, 2])
def test_large_parts_that_cancel_hide_nothing(wide: int, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of pairs of positions, floats alone would find next to no norm here, and let a unit in at twice the bound."""
    monkeypatch.setattr(products, "KEPT", kept)
    for seed, scale in [(seed, scale) for seed in range(20) for scale in (30.0, 1e2, 1e3, 1e4)]:
        torch.manual_seed(seed)
        layer, one, other = nn.Linear(wide, wide, bias=False), torch.randn(wide), torch.randn(wide)
        inputs = torch.stack([scale * one, -scale * one, torch.randn(wide)])[None]
        notes = Notes(layer)
        notes.begin()
        layer(inputs).backward(torch.stack([scale * other, scale * other, torch.randn(wide)])[None])
        notes.end()
        (added,) = clipped_sum(notes, 1, Flat(1.0)).values()
        assert float(added.double().norm()) <= 1


def test_what_is_no_number_adds_nothing_and_spoils_nothing() -> None:
    model, (inputs, labels) = network(), made_up(4)

    def added(rows: Tensor, given: Tensor) -> list[Tensor]:
        notes = Notes(model)
        notes.begin()
        nn.functional.cross_entropy(model(rows), given, reduction="sum").backward()
        notes.end()
        return list(clipped_sum(notes, len(rows), Flat(1.0)).values())

    spoilt = inputs.clone()
    spoilt[1], spoilt[3, 0] = torch.nan, torch.inf
    kept = added(inputs[[0, 2]], labels[[0, 2]])
    for one, other in zip(added(spoilt, labels), kept, strict=True):
        torch.testing.assert_close(one, other)


def test_rows_of_a_person_are_clipped_together_and_all_have_their_turn() -> None:
    inputs, labels = made_up(12)
    people = [0] * 9 + [1, 1, 2]
    training = private(
        network(), (inputs, labels), noise_multiplier=1, batch=3, steps=2, people=people, max_rows=3,
        batches=PoissonBatches(1, 5, 3), entropy=ReplayEntropy(2),  # type: ignore[arg-type]
    )  # fmt: skip
    seen: list[Tensor] = []
    for rows, given in training.batches():
        assert len(rows) == 9
        seen.append(rows[:3, 0])
        training.step(nn.functional.cross_entropy(training.model(rows), given, reduction="none"))
    assert set(torch.cat(seen[:3]).tolist()) == set(inputs[:9, 0].tolist())


def test_a_person_with_many_rows_adds_no_more_than_one_with_one() -> None:
    inputs, labels = made_up(9)
    model = network()
    before = [each.detach().clone() for each in model.parameters()]
    training = private(
        model, (100 * inputs, labels), noise_multiplier=1e-9, clip=0.25,
        batches=PoissonBatches(1, 1, 1),  # type: ignore[arg-type]
        people=["ada"] * 9, max_rows=9, optimizer=torch.optim.SGD(model.parameters(), lr=1.0), entropy=ReplayEntropy(1),
    )  # fmt: skip
    training.fit(nn.CrossEntropyLoss())
    moved = [((one - other.detach()) ** 2).sum() for one, other in zip(before, model.parameters(), strict=True)]
    assert float(torch.stack(moved).sum().sqrt()) <= 0.2501


def test_a_step_divides_by_the_expected_batch_and_has_noise_of_the_stated_size() -> None:
    """Of no rows: what moves the weights is noise of multiplier · bound over rate · size."""
    model = nn.Linear(200, 200)
    before = model.weight.detach().clone()
    training = private(
        model, (torch.zeros(0, 200), torch.zeros(0)), noise_multiplier=4, clip=0.5,
        batches=PoissonBatches("1/10", 1, 50),  # type: ignore[arg-type]
        optimizer=torch.optim.SGD(model.parameters(), lr=1.0), entropy=ReplayEntropy(4),
    )  # fmt: skip
    assert list(training.batches()) == []
    assert 0.98 < float((model.weight.detach() - before).std()) / (4 * 0.5 / 5) < 1.02
    both = model.weight.detach().flatten()[:200] - before.flatten()[:200], model.bias.detach()
    assert not torch.allclose(*both)


class Kept:
    """Keeps what every step moves weights by."""

    def __init__(self, moves: list[torch.Tensor]) -> None:
        self.moves = moves

    def after_step(self, private: Private, noise: float) -> None:
        self.moves.append(torch.cat([each.grad.flatten() for each in private.model.parameters()]))  # type: ignore[union-attr]


def test_noise_is_drawn_anew_for_every_step_and_every_run() -> None:
    """Of no rows: all that moves the weights is noise, in every layer, and no two moves are alike."""
    moves = []
    for seed in (1, 2):
        model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        training = private(
            model, (torch.zeros(0, 3), torch.zeros(0)), noise_multiplier=1, batches=PoissonBatches(1, 2, 1),  # type: ignore[arg-type]
            optimizer=torch.optim.SGD(model.parameters(), lr=1.0), entropy=ReplayEntropy(seed),
        )  # fmt: skip
        training.watchers.append(Kept(moves))
        assert list(training.batches()) == []
    assert len(moves) > 2 and all(bool((move.abs() > 1e-9).all()) for move in moves)
    for place, one in enumerate(moves):
        assert all(not torch.isclose(one, other).any() for other in moves[:place])


def test_every_step_has_a_batch_of_its_own() -> None:
    for batches in (PoissonBatches("1/2", 2, 100), FixedBatches(50, 2, 100)):  # type: ignore[arg-type]
        sampler = batches.start(100, ReplayEntropy(6))
        assert set(sampler.draw(0)) != set(sampler.draw(1))


def test_augmentations_are_averaged_within_a_unit() -> None:
    inputs, labels = made_up(4)
    shifts: list[int] = []

    def augment(rows: Tensor) -> Tensor:
        shifts.append(len(rows))
        return rows

    for many in (1, 3):
        model = network()
        training = private(
            model, (inputs, labels), noise_multiplier=1e-12, batches=PoissonBatches(1, 1, 4),  # type: ignore[arg-type]
            augment=augment, augmentations=many, entropy=ReplayEntropy(1), clip=10.0,
            optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
        )  # fmt: skip
        training.fit(nn.CrossEntropyLoss())
        if many == 1:
            first = [each.clone() for each in model.parameters()]
    for one, other in zip(first, model.parameters(), strict=True):
        torch.testing.assert_close(one, other)
    assert shifts == [4, 12]


def test_an_empty_batch_is_a_step_of_noise() -> None:
    model = network()
    before = [each.detach().clone() for each in model.parameters()]
    training = private(model, made_up(2), noise_multiplier=1, batches=PoissonBatches("1/100000", 3, 2))  # type: ignore[arg-type]
    assert list(training.batches()) == [] and training.taken == 3
    assert all(bool((one != other).any()) for one, other in zip(before, model.parameters(), strict=True))


def test_batches_are_drawn_at_their_rate_and_fixed_ones_have_their_size() -> None:
    poisson = PoissonBatches("3/10", 1, 1_000)  # type: ignore[arg-type]
    sizes = [len(poisson.draw(1_000, ReplayEntropy(seed))) for seed in range(50)]
    assert abs(np.mean(sizes) - 300) < 10 and 10 < np.std(sizes) < 20
    fixed = FixedBatches(30, 1, 100)
    drawn = np.stack([fixed.draw(100, ReplayEntropy(seed)) for seed in range(300)])
    assert drawn.shape == (300, 30) and all(len(set(row)) == 30 for row in drawn.tolist())
    assert np.bincount(drawn.ravel(), minlength=100).min() > 55  # 90 each are expected, with a deviation of 8
    assert fixed.relation is sf.accounting.Relation.CHANGE_ONE
    step = sf.events.Sampled(sf.events.Gaussian(2), sf.events.WithoutReplacement(30, 100))
    assert fixed.event(sf.events.Gaussian(2)) == sf.events.Repeat(step, 1)


def test_noise_is_normal() -> None:
    drawn = np.sort(normal_like(torch.Size([200_001]), 2.0, ReplayEntropy(5)).double().numpy()) / 2
    from scipy.special import ndtr

    assert np.abs(ndtr(drawn) - (np.arange(200_001) + 0.5) / 200_001).max() < 0.004
    assert np.abs(ndtr(drawn / 1.03) - (np.arange(200_001) + 0.5) / 200_001).max() > 0.004
    assert 4.2 < np.abs(drawn).max() < 6


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a loader": ({"data": DataLoader(TensorDataset(*made_up()))}, "batches are drawn here"),
    "no loss": ({"loss": None}, "loss or noise_multiplier"),
    "both": ({"noise_multiplier": 1}, "loss or noise_multiplier"),
    "a batch larger than all": ({"batch": 41}, "at most 40"),
    "no length": ({"epochs": None}, "steps or epochs"),
    "no clipping": ({"clip": 0}, "clip"),
    "no bound": ({"clip": float("inf")}, "clip"),
    "no noise": ({"loss": None, "noise_multiplier": 0}, "noise_multiplier"),
    "rows of nobody": ({"people": [1, 2, 3]}, "one id for each row"),
    "rows without people": ({"max_rows": 3}, "max_rows"),
    "lengths": ({"data": (made_up()[0], made_up(3)[1])}, "one length"),
    "batch normalisation": ({"model": nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))}, "sf.train.replaced"),
    "nothing to train": ({"model": nn.ReLU()}, "require gradients"),
    "weights": ({"model": nn.Sequential(nn.Linear(3, 2).requires_grad_())}, ""),
    "a session without a key": ({"session": object()}, "key"),
}


@pytest.mark.parametrize("name", [name for name in REFUSED if name != "weights"])
def test_A3_021_what_cannot_be_trained_is_refused(name: str) -> None:
    changed, word = REFUSED[name]
    given: dict[str, Any] = {
        "model": network(),
        "data": made_up(),
        "loss": sf.Approx(1, 1e-5),
        "batch": 10,
        "epochs": 1,
    }
    given |= changed
    with pytest.raises(BadArgument, match=word):
        private(given.pop("model"), given.pop("data"), **given)


class Mixing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 2)

    def forward(self, rows: Tensor) -> Tensor:
        return self.inner(rows - rows.mean(dim=0))  # type: ignore[no-any-return]


def test_a_model_that_mixes_rows_in_its_own_way_is_found() -> None:
    with pytest.raises(BadArgument, match="depends on that row alone"):
        private(Mixing(), made_up(), loss=sf.Approx(1, 1e-5), batch=10, epochs=1)


def test_batch_normalisation_is_replaced_in_a_copy() -> None:
    model = nn.Sequential(nn.Linear(3, 48), nn.BatchNorm1d(48), nn.Linear(48, 2))
    made = replaced(model)
    assert isinstance(model[1], nn.BatchNorm1d) and isinstance(made[1], nn.GroupNorm) and made[1].num_groups == 24
    private(made, made_up(), noise_multiplier=1, batch=10, steps=1).fit(nn.CrossEntropyLoss())


def test_a_loss_that_is_averaged_and_a_step_out_of_turn_are_refused() -> None:
    training = private(network(), made_up(), noise_multiplier=1, batch=20, steps=2)
    with pytest.raises(BadArgument, match="step"):
        training.step(torch.zeros(3))
    batches = training.batches()
    rows, labels = next(batches)
    with pytest.raises(BadArgument, match="reduction='none'"):
        training.step(nn.functional.cross_entropy(training.model(rows), labels))


def test_a_session_is_charged_before_the_first_batch_and_counts_steps() -> None:
    inputs, labels = made_up()
    table = {"person": list(range(40)), "x": inputs[:, 0].tolist()}
    data = sf.Dataset(table, unit="person", between={"x": (-5, 5)})
    session = data.session(limit=sf.Approx(2, 1e-5), ledger="memory:")
    asked: dict[str, Any] = {"loss": sf.Approx(1, 1e-6), "batch": 10, "steps": 6, "session": session, "key": "run"}
    training = private(network(), (inputs, labels), **asked)
    assert session.spent != sf.Approx(0, 0) and training.taken == 0
    for count, (rows, given) in enumerate(training.batches(), start=1):
        training.step(nn.functional.cross_entropy(training.model(rows), given, reduction="none"))
        if count == 2:
            break
    again = private(network(), (inputs, labels), **asked)
    assert again.taken == training.taken  # the same key goes on, and pays nothing
    again.fit(nn.CrossEntropyLoss())
    release = again.release()
    assert release.charged and release.loss == sf.Approx(1, 1e-6) and "private training" in str(release.how)


def test_a_training_goes_on_from_a_file_and_only_under_its_plan(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"noise_multiplier": 1, "batch": 10, "steps": 4, "entropy": ReplayEntropy(3)}
    training = private(network(), made_up(), **asked)
    batches = training.batches()
    for _ in range(2):
        rows, given = next(batches)
        training.step(nn.functional.cross_entropy(training.model(rows), given, reduction="none"))
    next(batches)
    with pytest.raises(BadArgument, match="between two steps"):
        training.save(tmp_path / "run.pt")
    again = private(network(), made_up(), **asked)
    for rows, given in again.batches():
        before = [each.detach().clone() for each in again.model.parameters()]
        again.step(nn.functional.cross_entropy(again.model(rows), given, reduction="none"))
        assert not all(torch.equal(one, other) for one, other in zip(before, again.model.parameters(), strict=True))
        if again.taken == 3:
            break  # after a step, which has moved the weights
    again.save(tmp_path / "run.pt")
    later = private(network(), made_up(), **asked).resume(tmp_path / "run.pt")
    assert later.taken == 3
    for one, other in zip(later.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(one, other)
    later.fit(nn.CrossEntropyLoss())
    assert later.taken == 4
    for changed in ({"steps": 5}, {"noise_multiplier": 2}, {"clip": 2.0}):
        with pytest.raises(BadArgument, match="the one that was saved"):
            private(network(), made_up(), **(asked | changed)).resume(tmp_path / "run.pt")
    (tmp_path / "other.pt").write_bytes(b"no training")
    with pytest.raises(UnknownFormat):
        later.resume(tmp_path / "other.pt")

"""What people do wrong when they train privately: each is refused in words, and leaves everything as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.train import PoissonBatches, Private, private


def made_up(rows: int = 40) -> tuple[Tensor, Tensor]:
    inputs = torch.from_numpy(np.random.default_rng(0).normal(size=(rows, 3))).float()
    return inputs, (inputs[:, 0] > 0).long()


def network(outputs: int = 2) -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, outputs))


def started(model: nn.Module | None = None, data: object = None, **asked: Any) -> Private:
    held = {"noise_multiplier": 1, "batches": PoissonBatches(1, 6, 40), "entropy": ReplayEntropy(1), **asked}  # type: ignore[arg-type]
    return private(network() if model is None else model, made_up() if data is None else data, **held)


def lost(training: Private, rows: Any) -> Tensor:
    return nn.functional.cross_entropy(training.model(rows[0]), rows[1], reduction="none")


class Given(Dataset[Any]):
    def __init__(self, row: Callable[[int], Any], many: int = 40) -> None:
        self.row, self.many = row, many

    def __len__(self) -> int:
        return self.many

    def __getitem__(self, place: int) -> Any:
        return self.row(place)


class Endless(IterableDataset[Any]):
    def __iter__(self) -> Any:
        return iter(())


def failing(place: int) -> Any:
    raise KeyError("secret")


class Transposed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 2)

    def forward(self, rows: Tensor) -> Tensor:
        return self.inner(rows).T  # type: ignore[no-any-return]


def no_numbers() -> nn.Module:
    model = network()
    with torch.no_grad():
        model[0].weight[0, 0] = torch.nan  # type: ignore[index, operator]
    return model


inputs, labels = made_up()
LOADED = TensorDataset(inputs, labels)
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a loader": ({"data": DataLoader(LOADED)}, "loader.dataset"),
    "a shuffled loader": ({"data": DataLoader(LOADED, shuffle=True)}, "shuffles"),
    "a loader that drops": ({"data": DataLoader(LOADED, drop_last=True, batch_size=7)}, "drops its last batch"),
    "no end": ({"data": Endless()}, "with a length"),
    "a number": ({"data": 3}, "a tuple of tensors"),
    "no rows": ({"data": (inputs[:0], labels[:0])}, "one row or more"),
    "a data set that fails": ({"data": Given(failing)}, "raised KeyError"),
    "numbers that are no tensors": ({"data": (torch.tensor(1.0), labels)}, "one length"),
    "lengths": ({"data": (inputs, labels[:3])}, "one length"),
    "a batch larger than all": ({"batch": 41}, "at most 40"),
    "no noise": ({"loss": None, "noise_multiplier": 0}, "greater than 0"),
    "noise below 0": ({"loss": None, "noise_multiplier": -1}, "noise_multiplier"),
    "no clipping": ({"clip": 0}, "clip"),
    "clipping below 0": ({"clip": -1.0}, "clip"),
    "clipping that is no number": ({"clip": float("nan")}, "clip"),
    "weights that are no numbers": ({"model": no_numbers()}, "finite numbers"),
    "no model": ({"model": "resnet"}, "torch.nn.Module"),
    "a model without weights in memory": ({"model": nn.Linear(3, 2, device="meta")}, "weights are there"),
    "rows last": ({"model": Transposed()}, "the rows first"),
    "labels beyond the classes": ({"data": (inputs, labels + 1)}, "within 0 to 1"),
    "labels below 0": ({"data": (inputs, labels - 1)}, "within 0 to 1"),
    "nobody's rows": ({"people": [None, *range(39)]}, "none missing"),
    "not a person's number": ({"people": [float("nan"), *range(39)]}, "none missing"),
    "people that are lists": ({"people": [[1]] * 40}, "a number or a text"),
    "another model's optimizer": ({"optimizer": torch.optim.SGD(network().parameters())}, "optimizer"),
    "an optimizer that is none": ({"optimizer": "adam"}, "torch.optim"),
}


class Till:
    """A session that must not be asked to pay."""

    relation = sf.accounting.Relation.ADD_REMOVE

    def start(self, *args: object, **kwargs: object) -> Any:
        raise AssertionError("charged")


@pytest.mark.parametrize("name", REFUSED)
def test_A3_021_a_first_mistake_is_refused_before_anything_is_charged(name: str) -> None:
    changed, word = REFUSED[name]
    given: dict[str, Any] = {
        "model": network(),
        "data": made_up(),
        "loss": sf.Approx(1, 1e-5),
        "batch": 10,
        "epochs": 1,
    }
    given |= changed
    with pytest.raises(BadArgument, match=word) as refused:
        private(given.pop("model"), given.pop("data"), session=Till(), key="run", **given)  # type: ignore[arg-type]
    assert "secret" not in str(refused.value)


def test_what_can_be_replayed_is_charged_to_nobody() -> None:
    asked: dict[str, Any] = {"noise_multiplier": 1, "batch": 10, "steps": 1, "session": Till(), "key": "a"}
    with pytest.raises(BadArgument, match="no ledger takes"):
        private(network(), made_up(), entropy=ReplayEntropy(1), **asked)


def mean_of_all(outputs: Tensor, wanted: Tensor) -> Tensor:
    return nn.functional.cross_entropy(outputs, wanted).repeat(len(outputs))


def contrasted(outputs: Tensor, wanted: Tensor) -> Tensor:
    return nn.functional.cross_entropy(outputs - outputs.mean(dim=0), wanted, reduction="none")


MIXING: dict[str, tuple[Any, str]] = {
    "an average, once for every row": (mean_of_all, "depends on that row alone"),
    "an average, spread out": (lambda a, b: nn.functional.cross_entropy(a, b).expand(len(a)), "spread out"),
    "an average": (lambda a, b: nn.functional.cross_entropy(a, b), "reduction='none'"),
    "rows against each other": (contrasted, "depends on that row alone"),
    "labels that are spread out": (lambda a, b: (a[:, :1] - b.float()) ** 2, "n by n"),
    "half of the rows": (lambda a, b: nn.functional.cross_entropy(a, b, reduction="none")[::2], "each of the 2 rows"),
    "another kind of labels": (nn.BCEWithLogitsLoss(), "loss_function"),
    "no function": (3, "loss_function"),
}


@pytest.mark.parametrize("name", MIXING)
def test_a_loss_that_mixes_rows_is_found_on_made_up_ones_before_the_first_step(name: str) -> None:
    loss_function, word = MIXING[name]
    training = started()
    with pytest.raises(BadArgument, match=word):
        training.fit(loss_function)
    assert training.taken == 0
    training.fit(nn.CrossEntropyLoss())


def test_a_row_whose_label_is_no_class_adds_nothing_where_nobody_looked_at_labels_before() -> None:
    rows, wanted = made_up()

    def trained(strange: int, kept: int) -> list[Tensor]:
        model = network()
        held = Given(lambda place: (rows[place], wanted[place] if place % 2 else torch.tensor(strange)), kept)
        few = Given(lambda place: (rows[2 * place + 1], wanted[2 * place + 1]), 20)
        started(
            model, held if kept == 40 else few, noise_multiplier=1e-12, batches=PoissonBatches(1, 3, 40),  # type: ignore[arg-type]
            optimizer=torch.optim.SGD(model.parameters(), lr=1.0),
        ).fit(nn.CrossEntropyLoss())  # fmt: skip
        return list(model.parameters())

    for strange in (7, -1):
        for one, other in zip(trained(strange, 40), trained(0, 20), strict=True):
            torch.testing.assert_close(one, other)


def test_a_loop_that_breaks_off_goes_on_with_the_next_step() -> None:
    training = started(noise_multiplier=1e-9)
    for count, rows in enumerate(training.batches(), start=1):
        training.step(lost(training, rows))
        if count == 2:
            break
    before = [each.detach().clone() for each in training.model.parameters()]
    for _ in training.batches():
        break  # without a step: it is taken, and moves nothing
    assert training.taken == 3 and all(each.requires_grad for each in training.model.parameters())
    for one, other in zip(before, training.model.parameters(), strict=True):
        assert torch.equal(one, other)
    with pytest.raises(BadArgument, match="in a loop over"):
        training.step(torch.zeros(40, requires_grad=True))
    assert training.fit(nn.CrossEntropyLoss()).taken == 6


def test_an_error_between_a_batch_and_its_step_leaves_a_training_that_goes_on() -> None:
    training = started(largest=7, noise_multiplier=1e-9)
    kept = training.batches()
    training.step(lost(training, next(kept)))
    next(kept)  # one of six pieces has its step, one has not, and the loop is left with its frames alive
    before = [each.detach().clone() for each in training.model.parameters()]
    again = training.batches()
    rows = next(again)
    assert training.taken == 2
    for one, other in zip(before, training.model.parameters(), strict=True):
        assert torch.equal(one, other)
    training.step(lost(training, rows))
    with pytest.raises(BadArgument, match="one loop over"):
        next(kept)
    training.step(lost(training, next(again)))  # which the other loop has not disturbed
    kept.close()  # type: ignore[attr-defined]
    for rows in again:
        training.step(lost(training, rows))
    assert training.taken == 6


def test_a_step_that_was_left_adds_nothing_to_the_next_one() -> None:
    weights = []
    for left in (False, True):
        model = network()
        training = started(
            model, largest=7, noise_multiplier=1e-9, optimizer=torch.optim.SGD(model.parameters(), lr=1.0)
        )
        if left:
            batches = training.batches()
            training.step(lost(training, next(batches)))
            del batches
        for rows in training.batches():
            training.step(lost(training, rows))
            if training.between_steps:
                break
        weights.append(torch.cat([each.detach().flatten() for each in model.parameters()]))
    torch.testing.assert_close(*weights, rtol=1e-4, atol=1e-6)


def test_a_step_is_called_once_for_each_batch() -> None:
    training = started()
    batches = training.batches()
    rows = next(batches)
    training.step(lost(training, rows))
    with pytest.raises(BadArgument, match="once for each batch"):
        training.step(lost(training, rows))
    next(batches)
    with pytest.raises(BadArgument, match="followed by one"):
        next(batches)
    rows = next(iter(batches := training.batches()))
    with pytest.raises(BadArgument, match="made of what the model gives"):
        training.step(torch.zeros(40))
    training.step(lost(training, rows))
    assert training.taken == 3


def test_P3_036_training_beside_the_batches_is_refused() -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    training = started(model, optimizer=optimizer)
    for rows, wanted in DataLoader(LOADED, batch_size=20):
        nn.functional.cross_entropy(model(rows), wanted).backward()
        with pytest.raises(BadArgument, match="left to private"):
            optimizer.step()
        with pytest.raises(BadArgument, match="in a loop over"):
            training.step(nn.functional.cross_entropy(model(rows), wanted, reduction="none"))
        optimizer.zero_grad()
    training.fit(nn.CrossEntropyLoss())
    later = started(model, optimizer=optimizer)  # a second training of the same optimizer takes its place
    assert later.fit(nn.CrossEntropyLoss()).taken == 6


def test_a_model_that_was_changed_since_is_refused_before_a_batch() -> None:
    model = network()
    model[0].requires_grad_(False)  # type: ignore[index]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    training = started(model, optimizer=optimizer)
    model[0].requires_grad_(True)  # type: ignore[index]  # which the optimizer holds: its gradients would have no noise
    with pytest.raises(BadArgument, match="other parameters to train"):
        training.fit(nn.CrossEntropyLoss())
    model[0].requires_grad_(False)  # type: ignore[index]
    optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(3))]})
    with pytest.raises(BadArgument, match="one of all parameters"):
        training.fit(nn.CrossEntropyLoss())
    other = started(replaced := network())
    replaced[0] = nn.Linear(3, 8)  # type: ignore[index]
    with pytest.raises(BadArgument, match="other parameters to train"):
        other.fit(nn.CrossEntropyLoss())
    assert training.taken == other.taken == 0


def test_one_row_is_trained_on_and_rows_follow_the_model() -> None:
    training = started(data=made_up(1), batches=PoissonBatches(1, 2, 1))  # type: ignore[arg-type]
    assert training.fit(nn.CrossEntropyLoss()).taken == 2
    wide = network().double()
    started(wide, (inputs.double(), labels)).fit(nn.CrossEntropyLoss())
    moved = started(wide, (inputs.double(), labels))
    wide.float()
    with pytest.raises(BadArgument, match="float64"):
        moved.fit(nn.CrossEntropyLoss())
    wide.double()
    assert moved.fit(nn.CrossEntropyLoss()).taken == 6


def test_a_model_that_does_not_take_the_rows_is_refused_but_not_to_a_loop_that_changes_them() -> None:
    training = started(data=(torch.zeros(40, 3, dtype=torch.uint8), labels))
    with pytest.raises(BadArgument, match=r"\(3,\) numbers of torch.uint8"):
        training.fit(nn.CrossEntropyLoss())
    assert training.taken == 0
    for rows, wanted in training.batches():
        training.step(lost(training, (rows.float() / 255, wanted)))
    with pytest.raises(BadArgument, match=r"\(4,\) numbers of torch.float32"):
        started(data=(torch.zeros(40, 4), labels)).fit(nn.CrossEntropyLoss())


def test_people_are_named_by_anything_that_names_them() -> None:
    training = started(people=["ada", 1, 2.5, *["bo"] * 37], batches=PoissonBatches(1, 1, 4), max_rows=2)  # type: ignore[arg-type]
    (rows,) = [rows for rows in training.batches() if training.step(lost(training, rows)) is None]
    assert len(rows[0]) == 8 and "a person, with all rows, of which 2 count a step" in str(training)

"""Ways of running torch: precisions, formats, compiled and checkpointed models, optimizers; and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
import torch
from tests.examples.unit_gradients import apart, noted, one_by_one
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.train import Flat, PoissonBatches, private
from sfumato.train.checks import beside
from sfumato.train.clipping import SLACK
from sfumato.train.taps import Notes


def made_up(rows: int = 8) -> tuple[Tensor, Tensor]:
    torch.manual_seed(3)
    inputs = torch.randn(rows, 3)
    return inputs, (inputs[:, 0] > 0).long()


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 2))


def training(model: nn.Module, data: tuple[Tensor, Tensor], **given: Any) -> Any:
    """All rows in every batch, next to no noise, and next to no clipping."""
    asked = {"noise_multiplier": 1e-12, "clip": 1e3, "batches": PoissonBatches(1, 4, len(data[0]))}  # type: ignore[arg-type]
    return private(model, data, **(asked | {"entropy": ReplayEntropy(1)} | given))


OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "SGD": lambda held: torch.optim.SGD(held, lr=0.1, momentum=0.9, nesterov=True),
    "Adam": lambda held: torch.optim.Adam(held, lr=0.1),
    "AdamW": lambda held: torch.optim.AdamW(held, lr=0.1, weight_decay=0.1),
    "RMSprop": lambda held: torch.optim.RMSprop(held, lr=0.01),
    "Adagrad": lambda held: torch.optim.Adagrad(held, lr=0.1),
    "NAdam": lambda held: torch.optim.NAdam(held, lr=0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_is_given_what_plain_training_gives_it(name: str) -> None:
    inputs, labels = made_up()
    ours, plain = network().double(), network().double()
    rows = inputs.double()
    made, other = OPTIMIZERS[name](ours.parameters()), OPTIMIZERS[name](plain.parameters())
    slower, slower_too = (torch.optim.lr_scheduler.StepLR(each, step_size=1, gamma=0.5) for each in (made, other))
    run = training(ours, (rows, labels), optimizer=made, scheduler=slower)
    for given, told in run.batches():
        ours.train()
        run.step(nn.functional.cross_entropy(ours(given), told, reduction="none"))
        ours.eval()
        with torch.no_grad():
            ours(torch.randn(5, 3).double())
        other.zero_grad()
        nn.functional.cross_entropy(plain(rows), labels).backward()
        other.step()
        slower_too.step()
    for one, two in zip(ours.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("rows", "largest"), [(0, None), (6, 1)], ids=["empty batches", "pieces"])
def test_a_schedule_moves_once_a_step_whoever_was_drawn(rows: int, largest: int | None) -> None:
    """How often a loop turns, and so a schedule that is moved in it, would tell how many units were drawn."""
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    slower = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    data = torch.randn(rows, 3), torch.zeros(rows, dtype=torch.long)
    batches = PoissonBatches(Fraction(1), 4, 6)
    run = private(
        model, data, noise_multiplier=1, batches=batches, largest=largest, optimizer=optimizer, scheduler=slower
    )
    run.fit(nn.CrossEntropyLoss())
    assert run.taken == 4 and optimizer.param_groups[0]["lr"] == 0.5**4


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_model_is_trained_as_it_was_written(backend: str) -> None:
    plain, model = network(), network()
    compiled = torch.compile(model, backend=backend)
    with torch.no_grad():
        compiled(made_up()[0])  # compiled before training begins
    training(plain, made_up()).fit(nn.CrossEntropyLoss())
    training(compiled, made_up()).fit(nn.CrossEntropyLoss())  # type: ignore[arg-type]
    for one, two in zip(plain.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(one, two)
    torch.testing.assert_close(compiled(made_up()[0]), plain(made_up()[0]))


class Checkpointed(nn.Module):
    def __init__(self, *, reentrant: bool) -> None:
        super().__init__()
        self.first, self.last, self.reentrant = nn.Linear(3, 4), nn.Linear(4, 2), reentrant
        self.inner = nn.Sequential(nn.LSTM(4, 4, batch_first=True))

    def forward(self, rows: Tensor) -> Tensor:
        made = self.first(rows)[:, None].tanh()
        inner, _ = checkpoint(self.inner, made, use_reentrant=self.reentrant)
        return self.last(inner[:, 0])  # type: ignore[no-any-return]


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("rows_of_a_unit", [1, 2])
def test_checkpointed_layers_are_read(reentrant: bool, rows_of_a_unit: int) -> None:
    torch.manual_seed(0)
    model, rows = Checkpointed(reentrant=reentrant).double(), torch.randn(4, 3).double()
    units = 4 // rows_of_a_unit
    assert apart(noted(model, (rows,), units), one_by_one(model, (rows,), units)) == []


@pytest.mark.filterwarnings("ignore:TF32")
@pytest.mark.parametrize("clipped", [False, True])
def test_low_precision_is_left_to_layers_and_gradients_are_added_up_at_single(clipped: bool) -> None:
    """In `torch.autocast` outputs have 8 bits; the sum of the gradients of 512 rows must not."""
    torch.manual_seed(0)
    model, rows = nn.Linear(3, 4), torch.randn(512, 3).bfloat16().float()  # what the layer multiplies
    notes = Notes(model)
    notes.begin()
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.backends.mkldnn.flags(enabled=False):
        output = model(rows)
        output.float().sum().backward()  # what comes back is 1 everywhere
        notes.end()
        gradients = notes.gradients(512)
        squared = gradients.squared_norms()
        sums = gradients.weighted(Flat(1e6 if not clipped else 1e-3).weights(squared))
    assert output.dtype == torch.bfloat16
    norms = torch.sqrt(4 * (rows.double() ** 2).sum(dim=1) + 4)
    torch.testing.assert_close(squared["weight"].double(), norms**2, rtol=1e-6, atol=0)
    scale = (SLACK * 1e-3 / norms)[:, None] if clipped else 1.0
    expected = (rows.double() * scale).sum(dim=0).expand(4, 3)
    torch.testing.assert_close(sums[model.weight].double(), expected, rtol=1e-5, atol=1e-6)


def test_a_model_in_bfloat16_is_trained() -> None:
    inputs, labels = made_up()
    model = network().bfloat16()
    before = [each.detach().clone() for each in model.parameters()]
    training(model, (inputs.bfloat16(), labels)).fit(nn.CrossEntropyLoss())
    assert all(each.dtype == torch.bfloat16 and bool(torch.isfinite(each).all()) for each in model.parameters())
    assert any(not torch.equal(one, two) for one, two in zip(before, model.parameters(), strict=True))


def test_channels_may_come_last_in_memory() -> None:
    torch.manual_seed(0)
    layers = nn.Conv2d(4, 6, 3, padding=1), nn.GroupNorm(2, 6), nn.ReLU(inplace=True), nn.ConvTranspose2d(6, 2, 2)
    model = nn.Sequential(*layers).double().to(memory_format=torch.channels_last)
    rows = torch.randn(4, 4, 5, 5).double().to(memory_format=torch.channels_last)
    for units in (4, 2):
        assert apart(noted(model, (rows,), units), one_by_one(model, (rows,), units)) == []


def test_what_a_model_holds_is_as_it_was_after_a_batch() -> None:
    model = nn.Sequential(nn.LSTM(3, 4, batch_first=True))
    state = {name: dict(each.__dict__) for name, each in model.named_modules()}
    run = training(nn.Sequential(nn.Linear(3, 2)), made_up(), steps=None)
    notes = Notes(model)
    notes.begin()
    assert not any(each.requires_grad for each in model.parameters())
    assert not torch.backends.mha.get_fastpath_enabled()
    notes.end()
    assert torch.backends.mha.get_fastpath_enabled()
    assert all(each.requires_grad for each in model.parameters())
    assert state == {name: dict(each.__dict__) for name, each in model.named_modules()}
    for _ in run.batches():
        break  # a batch that nobody takes
    assert not run.model[0]._forward_hooks


class Odd(nn.Module):
    """A module that runs again for its own parameter, and is random."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.drop = nn.Parameter(torch.randn(3, 2)), nn.Dropout()

    def forward(self, rows: Tensor) -> Tensor:
        return self.drop(rows) @ self.scale  # type: ignore[no-any-return]


class Packed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.GRU(1, 2, batch_first=True)

    def forward(self, rows: Tensor) -> Tensor:
        lengths = torch.full((len(rows),), 2)
        packed = nn.utils.rnn.pack_padded_sequence(rows[..., None], lengths, batch_first=True)
        return self.inner(packed)[1][0]  # type: ignore[no-any-return]


class Sequence(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, rows: Tensor) -> Tensor:
        made = self.inner(rows[..., None])[0]
        return made[:, -1]  # type: ignore[no-any-return]


class Words(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, rows: Tensor) -> Tensor:
        return self.inner((rows > 0).long())  # type: ignore[no-any-return]


REFUSED: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "what is random and runs again": (Odd, "without dropout"),
    "packed sequences": (Packed, "fill sequences up"),
    "projected states": (lambda: Sequence(nn.LSTM(1, 4, proj_size=2, batch_first=True)), "proj_size=0"),
    "the largest of a bag": (lambda: Words(nn.EmbeddingBag(2, 2, mode="max")), 'mode="sum"'),
    "tables that are cut": (lambda: Words(nn.EmbeddingBag(2, 2, max_norm=1.0)), "max_norm"),
    "words by frequency": (lambda: Words(nn.EmbeddingBag(2, 2, scale_grad_by_freq=True)), "scale_grad_by_freq"),
    "no weights yet": (lambda: nn.Sequential(nn.LazyLinear(2)), "whose weights are there"),
    "no memory": (lambda: nn.Linear(3, 2, device="meta"), "to_empty"),
}


@pytest.mark.filterwarnings("ignore:LSTM with projections")
@pytest.mark.parametrize("name", REFUSED)
def test_A3_021_what_cannot_be_told_apart_by_rows_is_refused_before_it_is_paid(name: str) -> None:
    build, word = REFUSED[name]
    with pytest.raises(BadArgument, match=word):
        training(build(), made_up())


def test_rows_are_brought_to_where_the_model_is() -> None:
    model, rows = nn.Linear(3, 2, device="meta"), (torch.zeros(2, 3), torch.zeros(2), ["a", "b"])
    moved = beside(model, rows)
    assert [each.device.type for each in moved[:2]] == ["meta", "meta"] and moved[2] == ["a", "b"]

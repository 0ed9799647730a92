"""Layers of every kind, and models built of them in the ways that users have, against one unit at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.examples.unit_gradients import apart, noted, one_by_one, squares
from torch import Tensor, nn

from sfumato.train.clipping import Flat
from sfumato.train.layers.gradients import FORWARDS
from sfumato.train.layers.uses import Combined, Lookup, Product
from sfumato.train.taps import Notes
from sfumato.train.trainer import clipped_sum


class Recurrent(nn.Module):
    """A recurrent network, of which outputs and last states are used."""

    def __init__(self, inner: nn.Module, *, start: bool = False) -> None:
        super().__init__()
        self.inner, self.start = inner, start

    def forward(self, rows: Tensor) -> Tensor:
        inner: Any = self.inner
        given = rows if inner.batch_first else rows.transpose(0, 1)
        state: Any = None
        if self.start:
            many = inner.num_layers * (2 if inner.bidirectional else 1)
            state = rows.mean(dim=(1, 2)).expand(many, -1)[..., None].repeat(1, 1, inner.hidden_size)
            state = (state, 2 * state) if isinstance(inner, nn.LSTM) else state
        outputs, last = inner(given, state)
        first = outputs if inner.batch_first else outputs.transpose(0, 1)
        ends = last if isinstance(last, tuple) else (last,)
        return torch.cat([first.flatten(1), *(each.transpose(0, 1).flatten(1) for each in ends)], dim=1)


class Loop(nn.Module):
    """A cell that is called again and again."""

    def __init__(self, cell: nn.Module, *, start: bool) -> None:
        super().__init__()
        self.cell, self.start = cell, start

    def forward(self, rows: Tensor) -> Tensor:
        state: Any = None
        if self.start:
            zeros = torch.zeros(len(rows), 5, dtype=rows.dtype)
            state = (zeros, zeros) if isinstance(self.cell, nn.LSTMCell) else zeros
        outputs = []
        for time in range(rows.shape[1]):
            state = self.cell(rows[:, time], state)
            outputs.append(state[0] if isinstance(state, tuple) else state)
        return torch.stack(outputs, dim=1)


class Attending(nn.Module):
    """Attention with some of its arguments."""

    def __init__(self, inner: nn.MultiheadAttention, how: str, **given: Any) -> None:
        super().__init__()
        self.inner, self.how, self.given = inner, how, given

    def forward(self, rows: Tensor) -> Tensor:
        query, other = rows[:, :3], torch.tanh(rows[:, 1:])
        if self.inner.kdim != self.inner.embed_dim:
            asked = (query, other[..., : self.inner.kdim], other[..., : self.inner.vdim])
        else:
            asked = (rows, rows, rows) if self.how == "self" else (query, other, other)
        if self.how == "both":
            asked = (rows, rows, rows)
        turned = asked if self.inner.batch_first else tuple(each.transpose(0, 1) for each in asked)
        if self.how == "self":
            turned = (turned[0],) * 3
        made, weights = self.inner(*turned, **self.given)
        first = made if self.inner.batch_first else made.transpose(0, 1)
        if self.how == "both":
            again, _ = self.inner(turned[0], key=turned[0] * 2, value=turned[0])
            first = first + (again if self.inner.batch_first else again.transpose(0, 1))
        return first if weights is None else torch.cat([first.flatten(1), weights.flatten(1)], dim=1)


class Transformed(nn.Module):
    """A decoder over an encoder, as torch has them."""

    def __init__(self, *, batch_first: bool, **given: Any) -> None:
        super().__init__()
        sizes = {"d_model": 4, "nhead": 2, "dim_feedforward": 6, "dropout": 0.0, "batch_first": batch_first} | given
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**sizes), 2, enable_nested_tensor=batch_first)
        self.decoder = nn.TransformerDecoderLayer(**sizes)
        self.batch_first = batch_first

    def forward(self, rows: Tensor) -> Tensor:
        padded = torch.zeros(rows.shape[:2], dtype=torch.bool)
        padded[:, -1] = True  # evaluated, torch would leave these out by a way of its own
        rows = rows if self.batch_first else rows.transpose(0, 1)
        made = self.decoder(rows, self.encoder(rows, src_key_padding_mask=padded), memory_key_padding_mask=padded)
        return made if self.batch_first else made.transpose(0, 1)  # type: ignore[no-any-return]


class Bags(nn.Module):
    """Bags of words, by rows or by offsets, with weights that are learnt of them or none."""

    def __init__(self, inner: nn.EmbeddingBag, *, offsets: bool = False, weights: bool = False) -> None:
        super().__init__()
        self.inner, self.offsets, self.weights, self.share = inner, offsets, weights, nn.Embedding(9, 1)

    def forward(self, rows: Tensor) -> Tensor:
        shares = self.share(rows).squeeze(-1) if self.weights else None
        if not self.offsets:
            return self.inner(rows, per_sample_weights=shares)  # type: ignore[no-any-return]
        begins = torch.arange(0, rows.numel(), rows.shape[1])
        begins[-1] += 2  # the last two bags have another size
        return self.inner(rows.flatten(), begins, None if shares is None else shares.flatten())  # type: ignore[no-any-return]


class Paired(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Bilinear(2, 4, 3)

    def forward(self, rows: Tensor) -> Tensor:
        return self.inner(input1=rows[..., :2], input2=rows)  # type: ignore[no-any-return]


class Language(nn.Module):
    """A language model whose last product is the table of its words."""

    def __init__(self, *, by_hand: bool = False) -> None:
        super().__init__()
        self.words, self.inner = nn.Embedding(9, 4, padding_idx=1), nn.LSTM(4, 4, batch_first=True)
        self.out = nn.Linear(4, 9, bias=not by_hand)
        self.out.weight = self.words.weight

    def forward(self, rows: Tensor) -> Tensor:
        return self.out(self.inner(self.words(rows))[0])  # type: ignore[no-any-return]


class Adapted(nn.Module):
    """A frozen layer beside two small ones."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 5).requires_grad_(False)
        self.down, self.up = nn.Linear(4, 2, bias=False), nn.Linear(2, 5, bias=False)

    def forward(self, rows: Tensor) -> Tensor:
        return self.inner(rows) + self.up(self.down(rows))  # type: ignore[no-any-return]


class AdaptedByHand(nn.Module):
    """The same with parameters of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 5).requires_grad_(False)
        self.down, self.up = nn.Parameter(torch.randn(4, 2)), nn.Parameter(torch.randn(2, 5))

    def forward(self, rows: Tensor) -> Tensor:
        return self.inner(rows) + rows @ self.down @ self.up  # type: ignore[no-any-return]


class Nested(nn.Module):
    """A module with its own parameter that takes and gives more than tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.inner = nn.Parameter(torch.randn(4)), nn.Linear(4, 4)

    def forward(self, given: dict[str, Any], *, power: int) -> dict[str, Any]:
        made = self.inner(given["rows"]) * self.scale**power
        return {"made": [made, made.argmax(dim=-1)], "unused": made * 2}


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.nested = nn.Sequential(nn.Linear(4, 4))
        self.own = Nested()

    def forward(self, rows: Tensor) -> Tensor:
        return self.own({"rows": self.nested(rows)}, power=2)["made"][0]  # type: ignore[no-any-return]


def normed() -> nn.Module:
    weighted = nn.utils.parametrizations.weight_norm(nn.Linear(4, 5))
    return nn.Sequential(weighted, nn.Tanh(), nn.utils.parametrizations.orthogonal(nn.Linear(5, 5)), nn.Linear(5, 2))


def bias_only() -> nn.Module:
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))
    for layer in (model[0], model[2]):
        layer.weight.requires_grad_(False)
    return model


def series(rows: int = 4) -> Tensor:
    return torch.randn(rows, 5, 4)


def words(rows: int = 4) -> Tensor:
    return torch.randint(0, 9, (rows, 5))


def attention(**given: Any) -> nn.MultiheadAttention:
    made = nn.MultiheadAttention(4, 2, **given)
    for each in made.parameters():
        nn.init.normal_(each)  # biases begin at 0 otherwise
    return made


LATER = torch.triu(torch.ones(5, 5), diagonal=1).bool()

MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], Tensor]]] = {
    **{
        f"{kind.__name__}, {names}": (
            lambda kind=kind, given=given, start=start: Recurrent(kind(4, 5, **given), start=start),  # type: ignore[misc]
            series,
        )
        for kind in (nn.RNN, nn.LSTM, nn.GRU)
        for names, given, start in (
            ("times first", {}, False),
            ("rows first, two layers, both ways", {"batch_first": True, "num_layers": 2, "bidirectional": True}, True),
            ("without bias", {"bias": False, "batch_first": True}, True),
        )
    },
    "RNN, relu": (lambda: Recurrent(nn.RNN(4, 5, nonlinearity="relu")), series),
    "RNN cell": (lambda: Loop(nn.RNNCell(4, 5), start=False), series),
    "LSTM cell": (lambda: Loop(nn.LSTMCell(4, 5), start=True), series),
    "GRU cell": (lambda: Loop(nn.GRUCell(4, 5, bias=False), start=False), series),
    "self-attention": (lambda: Attending(attention(batch_first=True), "self"), series),
    "self-attention, positions first": (lambda: Attending(attention(bias=False), "self", need_weights=False), series),
    "self-attention, masks": (
        lambda: Attending(attention(), "self", attn_mask=LATER, average_attn_weights=False, is_causal=True), series,
    ),
    "self-attention, masks, no weights": (
        lambda: Attending(attention(batch_first=True), "self", attn_mask=LATER, need_weights=False), series,
    ),
    "cross-attention": (lambda: Attending(attention(add_zero_attn=True), "cross"), series),
    "cross-attention, learnt keys": (
        lambda: Attending(attention(add_bias_kv=True, batch_first=True), "cross", need_weights=False), series,
    ),
    "cross-attention, other sizes": (lambda: Attending(attention(kdim=3, vdim=2, batch_first=True), "cross"), series),
    "attention to itself and others": (lambda: Attending(attention(batch_first=True), "both"), series),
    "transformer": (lambda: Transformed(batch_first=True), series),
    "transformer, evaluated": (lambda: Transformed(batch_first=True).eval(), series),
    "bags": (lambda: Bags(nn.EmbeddingBag(9, 3)), words),
    "bags, means": (lambda: Bags(nn.EmbeddingBag(9, 3, mode="mean", padding_idx=1)), words),
    "bags, weights": (lambda: Bags(nn.EmbeddingBag(9, 3, mode="sum", padding_idx=1), weights=True), words),
    "bilinear": (Paired, lambda: torch.randn(4, 4)),
    "bilinear, positions": (Paired, series),
    "slopes of channels": (lambda: nn.Sequential(nn.PReLU(5), nn.Linear(4, 3), nn.PReLU()), series),
    "slopes of rows": (lambda: nn.Sequential(nn.Linear(4, 3), nn.PReLU(3)), lambda: torch.randn(4, 4)),
    "tied words": (Language, words),
    "adapters": (Adapted, series),
    "adapters by hand": (AdaptedByHand, series),
    "nested": (Outer, series),
    "normed weights": (normed, lambda: torch.randn(4, 4)),
    "biases alone": (bias_only, series),
}  # fmt: skip


@pytest.mark.parametrize("rows_of_a_unit", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_norms_and_sums_of_every_kind_are_those_of_units_one_by_one(name: str, rows_of_a_unit: int) -> None:
    torch.manual_seed(0)
    build, draw = MODELS[name]
    model, rows = build().double(), draw()
    rows = rows.double() if rows.is_floating_point() else rows
    units = len(rows) // rows_of_a_unit
    if name == "transformer, evaluated":
        model.eval()
    gradients = noted(model, (rows,), units)
    assert apart(gradients, one_by_one(model, (rows,), units)) == []


def test_every_form_of_a_layer_is_tried() -> None:
    tried: set[Any] = {type(layer) for build, _ in MODELS.values() for layer in build().modules()}
    assert set(FORWARDS) <= tried


def test_large_parts_of_a_table_that_cancel_hide_nothing() -> None:
    """Where two ends of a table meet, floats alone could find far less than what is added up."""
    for seed, scale in [(seed, scale) for seed in range(20) for scale in (10.0, 1e2, 1e3, 1e4)]:
        torch.manual_seed(seed)
        one, other, words = torch.randn(8), torch.randn(5), torch.randint(0, 5, (1, 4))
        inputs = torch.stack([scale * one, -scale * one, torch.randn(8)])[None]
        back = torch.stack([scale * other, scale * other, torch.randn(5)])[None]
        used = Combined([Product(inputs, back, (5, 8)), Lookup(words, torch.randn(1, 4, 8), 5)])
        weights = Flat(1.0).weights({"table": used.squared()})["table"]
        assert float(used.weighted(weights).double().norm()) <= 1


def test_the_bias_of_a_transposed_convolution_is_worked_out_once() -> None:
    """Its norm is that of what is added up, so that nothing hides where large parts cancel."""
    for seed, scale in [(seed, scale) for seed in range(10) for scale in (1e3, 1e5, 1e7)]:
        torch.manual_seed(seed)
        layer, one = nn.ConvTranspose1d(2, 3, 2), torch.randn(1, 3, 4)
        notes = Notes(layer)
        notes.begin()
        back = torch.cat([scale * one, -scale * one + torch.randn(1, 3, 4)], dim=2)
        layer(torch.randn(1, 2, 7)).backward(back)
        notes.end()
        added = clipped_sum(notes, 1, Flat(1.0))
        assert float(torch.stack([each.double().square().sum() for each in added.values()]).sum().sqrt()) <= 1


@pytest.mark.parametrize("name", ["tied words", "GRU cell", "LSTM cell", "shared layer"])
def test_nothing_is_written_down_for_every_unit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of words, and layers that are called many times, would fill all memory otherwise."""

    def written(use: object) -> Tensor:
        raise AssertionError("a gradient of every unit")

    torch.manual_seed(0)
    shared = nn.Linear(4, 4)
    table = MODELS | {"shared layer": (lambda: nn.Sequential(shared, nn.Tanh(), shared), series)}
    build, draw = table[name]
    model, rows = build().double(), draw()
    rows = rows.double() if rows.is_floating_point() else rows
    for use in (Product, Lookup):
        monkeypatch.setattr(use, "each", written)
    assert apart(noted(model, (rows,), 4), one_by_one(model, (rows,), 4)) == []


@pytest.mark.parametrize("include_last", [False, True])
@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_bags_may_be_told_by_offsets(mode: str, include_last: bool) -> None:
    """Bags of three, no, five and one words: two units of two rows, and four of one."""
    torch.manual_seed(0)
    layer = nn.EmbeddingBag(9, 3, mode=mode, include_last_offset=include_last, padding_idx=1).double()
    shares = torch.randn(9).double() if mode == "sum" else None
    words, begins = torch.tensor([1, 2, 2, 3, 1, 3, 4, 8, 0]), [0, 3, 3, 8]
    offsets = torch.tensor([*begins, 9] if include_last else begins)
    for units in (4, 2):
        gradients = noted(layer, (), units, run=lambda: layer(words, offsets, per_sample_weights=shares))
        expected = []
        for own in torch.arange(4).chunk(units):
            layer.zero_grad()
            output = layer(words, offsets, per_sample_weights=shares)[own]
            squares(output).sum().backward()
            expected.append({layer.weight: layer.weight.grad.clone()})  # type: ignore[union-attr]
        assert apart(gradients, expected) == []


def test_rows_may_have_masks_of_their_own() -> None:
    torch.manual_seed(0)
    inner = attention(batch_first=True, add_bias_kv=True, add_zero_attn=True).double()

    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, rows: Tensor, padding: Tensor) -> Tensor:
            each = torch.where(LATER, -torch.inf, 0.5).double().expand(2 * len(rows), 5, 5)
            one, weights = self.inner(rows, rows, rows, key_padding_mask=padding.double() * -3, attn_mask=each)
            two, _ = self.inner(rows, rows, rows, key_padding_mask=padding, need_weights=False)
            return torch.cat([one.flatten(1), two.flatten(1), weights.flatten(1)], dim=1)

    rows, padding = torch.randn(4, 5, 4).double(), torch.rand(4, 5) > 0.7
    for units in (4, 2):
        assert apart(noted(Masked(), (rows, padding), units), one_by_one(Masked(), (rows, padding), units)) == []


def test_what_is_dropped_between_recurrent_layers_is_dropped_in_gradients_too() -> None:
    torch.manual_seed(0)
    layer, rows = nn.GRU(4, 5, num_layers=2, dropout=0.5, batch_first=True).double(), series().double()

    def seeded(*given: Any) -> Tensor:
        torch.manual_seed(7)
        made: Tensor = layer(*given)[0]
        return made

    gradients, expected = noted(layer, (rows,), 4, run=seeded), []
    for unit in range(4):
        torch.manual_seed(7)
        layer.zero_grad()
        outputs, _ = FORWARDS[nn.GRU](layer, lambda output, *others, **named: output, rows)
        squares(outputs[unit : unit + 1]).sum().backward()
        expected.append({each: each.grad.clone() for each in layer.parameters()})  # type: ignore[union-attr]
    assert apart(gradients, expected) == []


def test_outputs_that_no_loss_uses_bring_nothing() -> None:
    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.used, self.other = nn.LSTM(4, 5), nn.Linear(5, 2), nn.Linear(5, 2)

        def forward(self, rows: Tensor) -> Tensor:
            _, (_, memory) = self.inner(rows.transpose(0, 1))
            self.other(memory[0])
            return self.used(memory[0])  # type: ignore[no-any-return]

    torch.manual_seed(0)
    model, rows = Two().double(), series().double()
    gradients = noted(model, (rows,), 4)
    assert apart(gradients, one_by_one(model, (rows,), 4)) == []
    assert not any("other" in name for name in gradients.squared_norms())

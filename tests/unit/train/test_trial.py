"""The trial of a model before anything is paid: where rows are, what can be told apart by them, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  # torch's own name
from tests.examples.unit_gradients import apart, noted, one_by_one
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from sfumato.train.taps import Layout
from sfumato.train.trial import layout_of


class Pictures(nn.Module):
    """A small transformer of pictures: a class token, positions and scales belong to no layer."""

    def __init__(self) -> None:
        super().__init__()
        self.patches, self.head = nn.Conv2d(1, 4, 2, stride=2), nn.Linear(4, 3)
        self.token, self.positions = nn.Parameter(torch.randn(1, 1, 4)), nn.Parameter(torch.randn(1, 5, 4))
        self.shift, self.scale, self.heat = (
            nn.Parameter(torch.randn(5, 4)),
            nn.Parameter(torch.randn(4)),
            nn.Parameter(torch.randn(())),
        )
        self.block = nn.TransformerEncoderLayer(4, 2, 6, dropout=0.1, batch_first=True)

    def forward(self, rows: Tensor) -> Tensor:
        parts = self.patches(rows).flatten(2).transpose(1, 2)
        parts = torch.cat([self.token.expand(len(rows), -1, -1), parts], dim=1) + self.positions + self.shift
        return self.head(self.block(parts * self.scale)[:, 0]) * self.heat  # type: ignore[no-any-return]


class Writer(nn.Module):
    """A language model: positions are looked up once for all rows, and go through a layer; the last product is tied."""

    def __init__(self, *, ahead: bool = False) -> None:
        super().__init__()
        self.words, self.places, self.inner = nn.Embedding(5, 4), nn.Embedding(6, 4), nn.Linear(4, 4)
        self.norm, self.out, self.ahead = nn.LayerNorm(4), nn.Linear(4, 5, bias=False), ahead
        self.out.weight = self.words.weight

    def forward(self, rows: Tensor) -> Tensor:
        places = torch.arange(rows.shape[1])
        told = self.inner(self.places(places[None] if self.ahead else places))
        return self.out(self.norm(torch.tanh(self.words(rows) + told)))  # type: ignore[no-any-return]


class TimesFirst(nn.Module):
    """Rows come second everywhere."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0)
        self.inner, self.head = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(4, 2)

    def forward(self, rows: Tensor) -> Tensor:
        return self.head(self.inner(rows.transpose(0, 1))).transpose(0, 1)  # type: ignore[no-any-return]


class ByHand(nn.Module):
    """A weight that is used without its layer being called."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.inner = nn.Embedding(5, 4), nn.Linear(4, 4)

    def forward(self, rows: Tensor) -> Tensor:
        return F.linear(self.inner(self.words(rows)), self.words.weight)


class Flattened(nn.Module):
    """Rows are neither first nor alone in a dimension: times and rows are one."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 3)

    def forward(self, rows: Tensor) -> Tensor:
        flat = self.inner(rows.transpose(0, 1).flatten(0, 1))
        return flat.view(rows.shape[1], len(rows), -1).transpose(0, 1)  # type: ignore[no-any-return]


class Adapter(nn.Module):
    """Products of a module's own parameters, of rows without positions: no copies fit, the module runs again."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.up = nn.Parameter(torch.randn(4, 2)), nn.Parameter(torch.randn(2, 4))
        self.inner, self.mask = nn.Linear(4, 4), torch.ones(4, 4)

    def forward(self, rows: Tensor) -> Tensor:
        return self.inner(rows) + self._added(rows)  # type: ignore[no-any-return]

    def _added(self, rows: Tensor) -> Tensor:
        return rows @ self.down @ self.up


class Repeated(Adapter):
    """The same twice, one of them checkpointed."""

    def forward(self, rows: Tensor) -> Tensor:
        made: Tensor = super().forward(rows)
        return checkpoint(self.inner, torch.tanh(made), use_reentrant=False)  # type: ignore[no-any-return]


def pictures(rows: int = 4) -> Tensor:
    return torch.randn(rows, 1, 4, 4)


def words(rows: int = 4) -> Tensor:
    return torch.randint(0, 5, (rows, 4))


def series(rows: int = 4) -> Tensor:
    return torch.randn(rows, 4, 4)


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], Tensor], Callable[[Layout], bool]]] = {
    "pictures": (Pictures, pictures, lambda layout: len(layout.forms) == 5 and not layout.whole),
    "positions": (Writer, words, lambda layout: layout.without_rows == {"places"} and not layout.whole),
    "positions, one row": (lambda: Writer(ahead=True), words, lambda layout: layout.without_rows == {"places"}),
    "times first": (TimesFirst, series, lambda layout: set(layout.dimensions.values()) == {1} and not layout.whole),
    "by hand": (ByHand, words, lambda layout: layout.whole == {"words.weight"}),
    "flattened": (Flattened, series, lambda layout: "inner.weight" in layout.whole),
    "adapter": (Adapter, lambda: torch.randn(4, 4), lambda layout: not layout.forms and not layout.whole),
    "adapter, positions": (Adapter, series, lambda layout: len(layout.forms) == 2),
    "repeated": (Repeated, series, lambda layout: len(layout.forms) == 2),
}


@pytest.mark.parametrize("rows_of_a_unit", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_a_trial_tells_where_rows_are(name: str, rows_of_a_unit: int) -> None:
    """Batches of 4 rows, as many as there are positions: sizes alone would not tell them apart."""
    torch.manual_seed(0)
    build, draw, expected = MODELS[name]
    model, rows = build().double().eval(), draw()
    rows = rows.double() if rows.is_floating_point() else rows
    layout = layout_of(model, (rows[:2],))
    assert expected(layout), layout
    units = len(rows) // rows_of_a_unit
    assert apart(noted(model, (rows,), units, layout=layout), one_by_one(model, (rows,), units)) == []

"""Layers that are too large for any unit's gradient to be kept: other ways, the same norms and sums."""

from __future__ import annotations

import pytest
import torch
from tests.examples import networks
from tests.examples.unit_gradients import apart, noted, one_by_one, squares
from torch import Tensor, nn

from sfumato.train.layers import convolution, products
from sfumato.train.layers.gradients import READINGS, Call, Part, Place
from sfumato.train.layers.rounding import rounded_down, rounding
from sfumato.train.layers.uses import Lookup
from sfumato.train.taps import Notes

MODELS = {name: model for name, model in networks.MODELS.items() if "transposed" not in name} | {
    "few pixels": (lambda: nn.Conv2d(30, 30, 2), lambda: torch.randn(4, 30, 3, 3)),
    "few pixels, dilated": (
        lambda: nn.Conv2d(40, 30, 2, dilation=2, padding=1, bias=False),
        lambda: torch.randn(4, 40, 3, 3),
    ),
    "one row of pixels": (lambda: nn.Conv1d(20, 20, 3, padding=1), lambda: torch.randn(4, 20, 6)),
    "a kernel of one": (lambda: nn.Conv2d(4, 6, 1, stride=2), lambda: torch.randn(4, 4, 7, 5)),
    "three dimensions, no stride": (lambda: nn.Conv3d(3, 4, (1, 2, 3)), lambda: torch.randn(4, 3, 4, 5, 4)),
}


@pytest.mark.parametrize("rows_of_a_unit", [1, 2])
@pytest.mark.parametrize("name", MODELS)
def test_norms_and_sums_are_those_of_units_one_by_one(
    name: str, rows_of_a_unit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (convolution, products):
        monkeypatch.setattr(module, "KEPT", 0)
    torch.manual_seed(0)
    build, draw = MODELS[name]
    model, rows = build().double(), draw()
    rows = rows.double() if rows.is_floating_point() else rows
    units = len(rows) // rows_of_a_unit
    assert apart(noted(model, (rows,), units), one_by_one(model, (rows,), units)) == []


def brought(model: nn.Module, rows: Tensor, back: Tensor) -> tuple[Tensor, Tensor]:
    """The norm that is stated of one unit's gradient, and that of what it brings to the sum."""
    part = Part(READINGS[type(model)], {name: Place(each) for name, each in model.named_parameters()})
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False):  # not every processor has its short numbers
        gradients = part.reading(Call(model, part, (rows,), (back,), 1))
        stated, made = gradients.squared().sqrt(), gradients.weighted(torch.ones(1))
        return stated, torch.stack([part.double().square().sum() for part in made.values()]).sum().sqrt()


@pytest.mark.filterwarnings("ignore:TF32")
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", ["pairs", "made again", "pixels", "places"])
def test_no_unit_brings_more_than_is_stated_where_large_parts_cancel(
    name: str, kind: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "KEPT", 0)
    monkeypatch.setattr(convolution, "KEPT", 0)
    torch.manual_seed(0)
    tight = []
    for trial in range(20):
        if name in ("pairs", "made again"):
            wide, many = (64, 8) if name == "pairs" else (4, 40)
            model: nn.Module = nn.Linear(wide, wide, bias=False)
            rows, back = torch.randn(1, many // 2, wide), torch.randn(1, many // 2, wide)
            off = 10.0 ** -(trial % 6) * torch.randn_like(rows)
            rows, back = torch.cat([rows, rows + off], dim=1), torch.cat([back, -back], dim=1)
        else:
            channels, side = (40, 4) if name == "pixels" else (2, 12)
            model = nn.Conv2d(channels, channels, 1, bias=False)
            half, came = torch.randn(1, channels, side // 2, side), torch.randn(1, channels, side // 2, side)
            off = 10.0 ** -(trial % 6) * torch.randn_like(half)
            rows, back = torch.cat([half, half + off], dim=2), torch.cat([came, -came], dim=2)
        stated, real = brought(model, rows.to(kind), back.to(kind))
        assert stated >= real * (1 - 2.0**-12)
        tight.append(float(stated / real))
    assert min(tight) < (1.01 if kind == torch.float32 else 1.4)


def test_how_numbers_are_rounded_is_told_by_their_kind() -> None:
    half, single, double = (
        rounding(torch.zeros(1, dtype=kind)) for kind in (torch.bfloat16, torch.float32, torch.float64)
    )
    assert half.factor == 2.0**-8 > single.factor > double.factor
    assert half.term == single.term > double.term
    assert rounding(torch.zeros(1), convolved=True).factor > single.factor


def test_words_may_be_compared_in_pairs() -> None:
    torch.manual_seed(0)
    words = torch.randint(0, 5, (6, 9))
    use = Lookup(words, torch.randn(6, 9, 4, dtype=torch.float64), 5)
    torch.testing.assert_close(use._by_pairs(), use.squared(), rtol=1e-9, atol=0)
    torch.testing.assert_close(use._by_pairs(), (use.each() ** 2).sum(dim=(1, 2)), rtol=1e-9, atol=0)


def test_weights_are_never_rounded_up() -> None:
    torch.manual_seed(0)
    weights = torch.cat([torch.rand(10_000), torch.tensor([0.0, 1.0, 1e-30])])
    for kind in (torch.bfloat16, torch.float16):
        down = rounded_down(weights, kind).float()
        assert bool((down <= weights).all())
        far = weights > 1e-3
        assert bool((down[far] >= weights[far] * (1 - 2 * torch.finfo(kind).eps)).all())


def test_norms_that_are_read_at_once_are_those_that_are_read_later() -> None:
    torch.manual_seed(0)
    model, rows = (
        nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.Linear(8, 6), nn.GroupNorm(2, 6)),
        torch.randn(6, 6),
    )
    made = []
    for told in (None, 3):
        notes = Notes(model)
        notes.begin(told)
        squares(model(rows)).sum().backward()
        notes.end()
        gradients = notes.gradients(3)
        squared = gradients.squared_norms()
        sums = gradients.without(torch.tensor([False, True, False])).weighted(dict.fromkeys(squared, torch.ones(3)))
        made.append((squared, {id(each): part for each, part in sums.items()}))
    torch.testing.assert_close(made[0], made[1])

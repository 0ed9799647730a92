"""The gradients of all units of a batch, read off the notes: their norms, and their sum with a weight for each unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias, final

import torch
from torch import Tensor, nn

from sfumato.train.layers.gradients import Call, Dense, Gradients, Place, Use
from sfumato.train.layers.uses import Combined

Counts: TypeAlias = dict[int, dict[tuple[int, int | None], int]]
"""How often parameters were used, by their identity and by which of their rows."""


@final
class UnitGradients:
    """Norms of each unit's gradient by layers, and sums over all units.

    A layer whose parameters are used once and all trained is read as a whole. Of others each parameter is, after its
    uses are added up. Nothing of it is cast to a lower precision, whatever `torch.autocast` says.
    """

    def __init__(self, parameters: dict[nn.Parameter, str], calls: Sequence[Call], units: int) -> None:
        self.units, self._names, self._calls = units, parameters, calls
        self._plain = torch.autocast(next(iter(parameters)).device.type, enabled=False)
        with self._plain, torch.no_grad():
            count = _counted(calls)
            self._alone: list[tuple[Call, Gradients]] = []
            others: list[tuple[Call, Gradients]] = []
            for call in calls:
                (self._alone if self._is_alone(call, count) else others).append((call, call.part.reading(call)))
            self._shared = self._added_up(others, count)

    def squared_norms(self) -> dict[str, Tensor]:
        """The squared norms of every unit, by layers: each is named by the first of its parameters."""
        parts: dict[str, Tensor] = {}
        with self._plain, torch.no_grad():
            for call, gradients in self._alone:
                name = self._first(call)
                parts[name] = gradients.squared() + parts.get(name, 0)
            for place, combined in self._shared.items():
                name = self._names[place.parameter]
                parts[name] = combined.squared() + parts.get(name, 0)
        return parts

    def without(self, dropped: Tensor) -> UnitGradients:
        """The same with zeros in the place of some units: 0 times what is no number would be no number."""
        return UnitGradients(self._names, [_emptied(call, dropped) for call in self._calls], self.units)

    def weighted(self, weights: dict[str, Tensor]) -> dict[nn.Parameter, Tensor]:
        """The sum over all units, by parameters; the weights are by the names of `squared_norms`."""
        sums: dict[nn.Parameter, Tensor] = {}
        with self._plain, torch.no_grad():
            for call, gradients in self._alone:
                made = gradients.weighted(weights[self._first(call)])
                for name, place in call.part.places.items():
                    _put(sums, place, made[name])
            for place, combined in self._shared.items():
                _put(sums, place, combined.weighted(weights[self._names[place.parameter]]))
        return sums

    def _first(self, call: Call) -> str:
        return self._names[next(iter(call.part.places.values())).parameter]

    def _is_trained(self, call: Call, place: Place) -> bool:
        return place.parameter in self._names and place.parameter not in call.part.left_out

    def _is_alone(self, call: Call, count: Counts) -> bool:
        return all(
            count[id(place.parameter)][place.first, place.rows] == 1
            and not _overlap(count, place)
            and self._is_trained(call, place)
            for place in call.part.places.values()
        )

    def _added_up(self, read: Sequence[tuple[Call, Gradients]], count: Counts) -> dict[Place, Combined]:
        """Uses of parameters that several calls share, or of layers with frozen ones, by place."""
        uses: dict[Place, list[Use]] = {}
        for call, gradients in read:
            made = gradients.by_parameter()
            for name, place in call.part.places.items():
                if not self._is_trained(call, place):
                    continue
                if _overlap(count, place):
                    uses.setdefault(Place(place.parameter), []).append(_in_whole(made[name], place, self.units))
                else:
                    uses.setdefault(place, []).append(made[name])
        return {place: Combined(each) for place, each in uses.items()}


def _counted(calls: Sequence[Call]) -> Counts:
    """How often each place of a parameter was used."""
    count: Counts = {}
    for call in calls:
        for place in call.part.places.values():
            uses, at = count.setdefault(id(place.parameter), {}), (place.first, place.rows)
            uses[at] = uses.get(at, 0) + 1
    return count


def _overlap(count: Counts, place: Place) -> bool:
    """Tells whether a parameter was used as a whole and in parts."""
    return len({rows is None for _, rows in count[id(place.parameter)]}) > 1


def _in_whole(use: Use, place: Place, units: int) -> Dense:
    made = use.each()
    whole = made.new_zeros(units, *place.parameter.shape)
    whole[:, place.first : place.first + made.shape[1]] = made
    return Dense(whole)


def _put(sums: dict[nn.Parameter, Tensor], place: Place, part: Tensor) -> None:
    """Adds a part of a sum at its place."""
    if place.rows is None:
        sums[place.parameter] = part + sums[place.parameter] if place.parameter in sums else part
        return
    if place.parameter not in sums:
        sums[place.parameter] = part.new_zeros(place.parameter.shape)
    sums[place.parameter][place.first : place.first + place.rows] += part


def _emptied(call: Call, dropped: Tensor) -> Call:
    def empty(part: Tensor) -> Tensor:
        if not part.is_floating_point():
            return part
        rows = dropped.repeat_interleave(len(part) // call.units)
        return part.masked_fill(rows.view(-1, *[1] * (part.dim() - 1)), 0.0)

    return replace(call, seen=tuple(empty(part) for part in call.seen), backs=tuple(empty(back) for back in call.backs))

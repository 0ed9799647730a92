"""Columns as networks see them: one number for each value of a column, or a number within one of some modes.

What a row becomes hangs on that row alone, and on what is public or paid for: so nobody is moved apart, at no cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sfumato.errors import BadArgument
from sfumato.exact import integer
from sfumato.synth.neural.modes import Mode

Codes: TypeAlias = NDArray[np.int64]
"""Rows as places of values, a column for each column."""


@final
@dataclass(frozen=True)
class Head:
    """What a network is told of one column: ``size`` codes, of which the first ``ordered`` stand in order.

    Without ``modes`` every code has an input of its own. With them, a code in order is how far it lies from the centre
    of its mode; those behind (missing, others) still have inputs of their own.
    """

    name: str
    size: int
    ordered: int = 0
    modes: tuple[Mode, ...] = ()

    def __post_init__(self) -> None:
        integer(self.size, f"the number of values of {self.name}", least=1)
        integer(self.ordered, f"the number of values of {self.name} in order", least=0, most=self.size)
        if self.modes and not self.ordered:
            raise BadArgument("modes", f"given for columns in order only, not for {self.name}", len(self.modes))

    @property
    def places(self) -> int:
        """How many inputs are one of several: values, or modes and the values that are in no order."""
        return len(self.modes) + self.size - self.ordered if self.modes else self.size

    @property
    def width(self) -> int:
        """How many inputs it has in all."""
        return self.places + bool(self.modes)

    @cached_property
    def _table(self) -> tuple[NDArray[np.float32], Codes]:
        """The number within its mode, and the place, of every code there is."""
        if not self.modes:
            return np.zeros(self.size, dtype=np.float32), np.arange(self.size)
        codes = np.arange(self.ordered)
        distances = np.stack([np.abs(codes - mode.centre) / mode.spread for mode in self.modes])
        nearest = distances.argmin(axis=0)
        scaled = [self.modes[mode].scaled(float(code)) for code, mode in zip(codes, nearest, strict=True)]
        apart = np.arange(self.size - self.ordered)
        numbers = np.concatenate([np.array(scaled), np.zeros(len(apart))]).astype(np.float32)
        return numbers, np.concatenate([nearest, len(self.modes) + apart])

    def encoded(self, codes: Codes) -> Tensor:
        """Codes as inputs, a line for each."""
        numbers, places = self._table
        hot = torch.nn.functional.one_hot(torch.from_numpy(places[codes]), self.places).float()
        return torch.cat([torch.from_numpy(numbers[codes])[:, None], hot], dim=1) if self.modes else hot

    def decoded(self, inputs: Tensor) -> Codes:
        """The codes of what a generator made: of the largest input, and near the number within its mode."""
        hot = inputs[:, 1:] if self.modes else inputs
        places = hot.argmax(dim=1).numpy()
        if not self.modes:
            return np.asarray(places, dtype=np.int64)
        within = np.minimum(places, len(self.modes) - 1)
        centres = np.array([mode.centre for mode in self.modes])[within]
        reach = np.array([mode.reach for mode in self.modes])[within]
        near = np.rint(centres + reach * inputs[:, 0].double().numpy()).clip(0, self.ordered - 1).astype(np.int64)
        return np.asarray(np.where(places < len(self.modes), near, places - len(self.modes) + self.ordered))


@final
@dataclass(frozen=True)
class Heads:
    """All columns of a table, in order."""

    columns: tuple[Head, ...]

    @staticmethod
    def of(columns: Sequence[Head]) -> Heads:
        """Reads columns: one or more, none twice."""
        names = [head.name for head in columns]
        if not names or len(set(names)) != len(names):
            raise BadArgument("the columns", "one or more, none twice", names)
        return Heads(tuple(columns))

    @property
    def width(self) -> int:
        """How many inputs a row has."""
        return sum(head.width for head in self.columns)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The place of the first input of each column, and behind the last."""
        return tuple(np.cumsum([0, *(head.width for head in self.columns)]).tolist())

    def encoded(self, codes: Codes) -> Tensor:
        """Rows of codes as inputs; codes that are none count as the nearest that is one."""
        parts = [head.encoded(np.clip(codes[:, place], 0, head.size - 1)) for place, head in enumerate(self.columns)]
        return torch.cat(parts, dim=1)

    def activated(self, raw: Tensor, gumbel: Tensor, temperature: float) -> Tensor:
        """What a generator gives as inputs: numbers by tanh, choices by the largest logit under noise of Gumbel's law.

        Choices are made as rows have them, one 1 among 0s, and have the gradients of a soft maximum: else everybody
        could tell them from rows by their softness.
        """
        made = []
        for head, start in zip(self.columns, self.starts, strict=False):
            if head.modes:
                made.append(torch.tanh(raw[:, start : start + 1]))
            first, behind = start + bool(head.modes), start + head.width
            soft = torch.softmax((raw[:, first:behind] + gumbel[:, first:behind]) / temperature, dim=1)
            hard = torch.nn.functional.one_hot(soft.argmax(dim=1), head.places).to(soft)
            made.append(hard - soft.detach() + soft)
        return torch.cat(made, dim=1)

    def decoded(self, inputs: Tensor) -> Codes:
        """Inputs as rows of codes."""
        parts = zip(self.columns, self.starts, self.starts[1:], strict=False)
        return np.stack([head.decoded(inputs[:, start:behind]) for head, start, behind in parts], axis=1)

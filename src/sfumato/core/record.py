"""The records that leave: how something was made, and what was released."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import NoReturn, final

import numpy as np

from sfumato.accounting.measures import Loss
from sfumato.core.claim import Claim
from sfumato.core.domains import Data
from sfumato.errors import NotChainable
from sfumato.exact import digits_up


class Failure(Enum):
    """Says what happens in the rare case that a δ allows for."""

    NONE = "the stated loss always holds"
    GRACEFUL = "beyond δ the loss grows slowly"
    DISTINGUISHING = "with probability up to δ an outcome may tell neighbours apart with certainty"


@final
@dataclass(frozen=True)
class How:
    """Describes how a release is made; public facts only, safe to print anywhere."""

    mechanism: str
    parameters: tuple[tuple[str, str], ...] = ()
    steps: tuple[str, ...] = ()
    postprocessing: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    proofs: tuple[str, ...] = ()
    failure: Failure = Failure.NONE

    def after(self, steps: tuple[str, ...], claims: tuple[Claim, ...], proofs: tuple[str, ...]) -> How:
        """Puts the steps of a transformation in front."""
        return replace(
            self,
            steps=steps + self.steps,
            claims=claims + self.claims,
            proofs=tuple(dict.fromkeys(proofs + self.proofs)),
        )

    def then(self, name: str) -> How:
        """Adds a post-processing step."""
        return replace(self, postprocessing=(*self.postprocessing, name))

    def __str__(self) -> str:
        parameters = ", ".join(f"{name} {value}" for name, value in self.parameters)
        made = f"{self.mechanism}({parameters})" if parameters else self.mechanism
        return " → ".join((*self.steps, made, *self.postprocessing))


@final
@dataclass(frozen=True, eq=False)
class Release:
    """Is what leaves: the value, its error bar, its price, who is protected, and how it was made.

    ``half_width`` is the error of the mechanism at the stated confidence (None where no such statement is on file): the
    released value is within it of the exact one with at least that probability. It says nothing about clamping or
    sampling.
    """

    value: Data
    loss: Loss
    unit: str
    how: How
    half_width: Data = None
    confidence: Fraction = Fraction(95, 100)
    replayable: bool = False
    charged: bool = False

    def __str__(self) -> str:
        error = "" if self.half_width is None else f" ± {_width(self.half_width)} ({100 * float(self.confidence):.6g}%)"
        marks = ["uncharged"] * (not self.charged) + ["REPLAYABLE: not private"] * self.replayable
        lines = [
            f"{_short(self.value)}{error}",
            f"  loss   {self.loss} for {self.unit}" + (f" [{'; '.join(marks)}]" if marks else ""),
            f"  how    {self.how}",
        ]
        lines += [f"  claim  {claim}" for claim in self.how.claims]
        lines += [f"  note   {self.how.failure.value}"] * (self.how.failure is not Failure.NONE)
        return "\n".join(lines)

    __repr__ = __str__

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise NotChainable(
            "a release is the record of what left, and cannot be asked. Where its value goes on answering, ask that: "
            "release.value(query)."
        )


def _width(half_width: Data) -> str:
    return digits_up(Fraction(half_width)) if isinstance(half_width, int | float) else _short(half_width)


def _short(value: Data) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        few = value if len(value) <= 8 else value[:4]
        rest = "" if few is value else f", … {len(value)} values"
        return "[" + ", ".join(f"{e[0]}: {_short(e[1])}" if _pair(e) else _short(e) for e in few) + rest + "]"
    return str(value)


def _pair(entry: Data) -> bool:
    return isinstance(entry, tuple) and len(entry) == 2

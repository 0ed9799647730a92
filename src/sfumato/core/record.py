"""The records that leave: how something was made, and what was released."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import final

import numpy as np

from sfumato.accounting.measures import Loss
from sfumato.core.claim import Claim
from sfumato.core.domains import Data


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
@dataclass(frozen=True)
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
        error = "" if self.half_width is None else f" ± {_short(self.half_width)} ({float(self.confidence):.0%})"
        marks = ["uncharged"] * (not self.charged) + ["REPLAYABLE: not private"] * self.replayable
        lines = [
            f"{_short(self.value)}{error}",
            f"  loss   {self.loss} for {self.unit}" + (f" [{'; '.join(marks)}]" if marks else ""),
            f"  how    {self.how}",
        ]
        lines += [f"  claim  {claim}" for claim in self.how.claims]
        lines += [f"  note   {self.how.failure.value}"] * (self.how.failure is not Failure.NONE)
        return "\n".join(lines)


def _short(value: Data) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray) and value.size > 8:
        first = ", ".join(_short(entry) for entry in value[:4].tolist())
        return f"[{first}, … {value.size} values]"
    if isinstance(value, np.ndarray | list | tuple):
        return "[" + ", ".join(_short(entry) for entry in list(value)) + "]"
    return str(value)

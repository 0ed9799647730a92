"""Noise that is correlated along the steps of a training: what one step adds, later ones take back in part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, final

import torch
from torch import Tensor, nn

from sfumato.accounting.events import Event, SquareRoot, Toeplitz
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, elements
from sfumato.exact import Number, integer, rational
from sfumato.guarantee import guarantee
from sfumato.train.batches import Batches
from sfumato.train.cyclic import CyclicBatches
from sfumato.train.noise import Gradients, Noise, NoiseStream, normal_like

PROOF = "proofs/correlated_training.md"


@final
@dataclass(frozen=True, init=False)
class Correlated(Noise):
    """Gaussian noise that partly cancels in sums over steps: C⁻¹·Z, for a banded matrix C (DP-FTRL).

    Takes:      ``band``, for the first coefficients of the square root of running sums; or other ``coefficients`` of
                C from the diagonal down, which must fall and be at least 0
    Guarantee:  with `CyclicBatches`, what C·G + Z costs  (proofs/correlated_training.md#steps)
    Cost:       band − 1 numbers are kept for every parameter, and read in each step

    >>> Correlated(band=3).coefficients(1000)
    (Fraction(1, 1), Fraction(1, 2), Fraction(3, 8))
    """

    band: int
    given: tuple[Fraction, ...] | None

    def __init__(self, band: int | None = None, *, coefficients: Iterable[Number] | None = None) -> None:
        if (band is None) == (coefficients is None):
            raise BadArgument("band or coefficients", "given, one of them, such as band=16", band)
        given = None if coefficients is None else _falling(coefficients)
        object.__setattr__(self, "given", given)
        object.__setattr__(self, "band", integer(band, "band", least=1) if given is None else len(given))

    @property
    def one_bound(self) -> bool:
        return True

    def strategy(self, steps: int) -> SquareRoot | Toeplitz:
        """The matrix C of so many steps; that of fewer is its corner."""
        if self.given is None:
            return SquareRoot(steps, band=min(self.band, steps))
        return Toeplitz(self.given[:steps], steps=steps)

    def coefficients(self, steps: int) -> tuple[Fraction, ...]:
        """What stands in the first column of C, from the diagonal down."""
        return self.strategy(steps).coefficients

    def event(self, batches: Batches, multiplier: Number) -> Event:
        if not isinstance(batches, CyclicBatches):
            must = "sf.train.CyclicBatches: how often a unit takes part must be known for noise that is correlated"
            raise BadArgument("batches", must, type(batches).__name__)
        return batches.factorized(multiplier, self.strategy(batches.steps))

    def start(self, parameters: Sequence[nn.Parameter], entropy: Entropy) -> NoiseStream:
        return _Stream(parameters, tuple(map(float, self.coefficients(self.band))), entropy)

    def __str__(self) -> str:
        kind = (
            "square root" if self.given is None else "coefficients " + ", ".join(f"{float(c):.3g}" for c in self.given)
        )
        return f"Gaussian, correlated along {self.band} steps ({kind}), in floating point"


def _falling(coefficients: Iterable[Number]) -> tuple[Fraction, ...]:
    if isinstance(coefficients, str) or not isinstance(coefficients, Iterable):
        raise BadArgument("coefficients", "a list of numbers", coefficients)
    with elements():
        read = tuple(rational(each, "each of the coefficients") for each in coefficients) or (Fraction(0),)
    falls = all(one >= later for one, later in pairwise(read)) and read[0] > max(read[1:2], default=0)
    if not falls or read[-1] < 0:
        must = "numbers of at least 0 that fall, the first the greatest: with others noise could grow without bound"
        raise BadArgument("coefficients", must, "others")
    return read


@final
class _Stream(NoiseStream):
    """The rows n of C⁻¹·Z, for Z of deviation 1: each is made of the last ones before it and of a new row of Z."""

    def __init__(self, parameters: Sequence[nn.Parameter], column: tuple[float, ...], entropy: Entropy) -> None:
        self._parameters, self._entropy = parameters, entropy
        self._sizes = [each.numel() for each in parameters]
        self._first, self._later = column[0], torch.tensor(column[1:], device=parameters[0].device)
        self._past = torch.zeros(len(column) - 1, sum(self._sizes), device=parameters[0].device)
        self._made = 0

    @guarantee(
        claim="row t of C·n is row t of Z, independent standard normal numbers",
        proof=f"{PROOF}#recursion",
        reviewed="3702ca76c6a1",
    )
    def following(self) -> Tensor:
        """The next row of n: (z − Σ c_k n_{t−k}) / c_0. Row t is kept at place t modulo band − 1."""
        row = normal_like(torch.Size([sum(self._sizes)]), 1.0, self._entropy).to(self._past)
        kept = len(self._past)
        if kept:
            places = torch.arange(kept, device=self._past.device)
            ago = (self._made - 1 - places) % kept  # how many steps before the last one the row at a place is from
            row -= self._later[ago] @ self._past
        row /= self._first
        if kept:
            self._past[self._made % kept] = row
        self._made += 1
        return row

    def add(self, sums: Gradients, deviation: float) -> Gradients:
        noisy: Gradients = {}
        for parameter, flat in zip(self._parameters, self.following().split(self._sizes), strict=True):
            noise = flat.view(parameter.shape).to(parameter) * deviation
            noisy[parameter] = noise.add_(sums[parameter]) if parameter in sums else noise
        return noisy

    def check(self, taken: int) -> None:
        if taken != self._made:
            must = "one whose noise is kept to the last step, by save() after it: other noise for later steps would "
            must += "cost more than was paid. Begin a new training, under another key"
            raise BadArgument(
                "a training with correlated noise that goes on", must, f"{taken - self._made:,} steps lost"
            )

    def state(self) -> dict[str, Any]:
        return {"past": self._past, "made": self._made}

    def load(self, state: dict[str, Any]) -> None:
        self._past, self._made = state["past"].to(self._past, copy=True), int(state["made"])

"""What all private selection has in common: scores in, a choice out, a loss in the range distance of the scores."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from flint import arb

from sfumato.accounting.events import Selection
from sfumato.accounting.facts import loss_of
from sfumato.accounting.losses.measures import Loss
from sfumato.core.domains import Array, Data, Integers, Vector, column
from sfumato.core.law import FiniteLaw, Law
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import LInf, Range
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import up
from sfumato.noise.selection import Exponents
from sfumato.release.record import How
from sfumato.transforms.score_moves import range_map


@final
@dataclass(frozen=True)
class ScoreGrid:
    """How many scores there are and of which step they are whole multiples."""

    element: Integers
    size: int
    metric: LInf | Range

    @property
    def step(self) -> Fraction:
        """What one stored whole number stands for."""
        return self.element.step


def score_grid(space: Space, verb: str) -> ScoreGrid:
    """Reads a space of score vectors, or says what the mechanism needs."""
    match space.domain, space.metric:
        case Vector(element=Integers() as element, size=int() as size), LInf() | Range() as metric if size >= 1:
            return ScoreGrid(element, size, metric)
        case _:
            wanted = (
                "a vector of exact scores (integers, or whole multiples of a step), one to each of a public list of "
                "candidates, under the L∞ or range distance: such as mode_scores() or quantile_scores(…)"
            )
            raise BadArgument(f"what {verb}() works on", wanted, str(space))


def selection(
    space: Space,
    chosen: object,
    measure: type[Loss],
    draw: Callable[[Array, Entropy], Data],
    law: Callable[[Array], Law],
    described: tuple[str, str],
) -> Measurement:
    """Builds the measurement that makes a choice from scores; ``chosen`` is a record with a fact about its loss."""
    name, proof = described
    grid = score_grid(space, name)
    parameters = tuple((key, _text(value)) for key, value in vars(chosen).items())
    return Measurement(
        source=space,
        measure=measure,
        function=lambda data, entropy: draw(column(data, grid.element), entropy),
        privacy_map=lambda d_in: loss_of(chosen, measure, range_map(d_in, grid.metric)),
        how=How(name, (*parameters, ("candidates", str(grid.size))), proofs=(proof, "proofs/scores.md#range")),
        law=lambda data: law(column(data, grid.element)),
        event=lambda d_in: Selection(chosen, range_map(d_in, grid.metric)),
    ).recorded()


def drawable(scores: Array) -> Exponents:
    """Scores as samplers take them: 64-bit integers, or rationals where 64 bits do not do."""
    return scores if scores.dtype == np.int64 else [Fraction(int(score)) for score in scores]


def exponents_of(scores: Array, unit: Fraction) -> list[Fraction]:
    """The exact exponents, score times unit."""
    return [int(score) * unit for score in scores]


def law_of_pairs(probabilities: Iterable[tuple[Hashable, arb]]) -> FiniteLaw:
    """The distribution over finitely many outcomes, from pairs of outcome and probability."""
    return FiniteLaw(dict(probabilities))


def _text(value: object) -> str:
    return f"{up(value):.6g}" if isinstance(value, Fraction) else str(value)

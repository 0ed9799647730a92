"""The numbers behind the charts, read from the same records that sample and account. Nothing here draws.

Everything is computed with balls and becomes a float at the end: a chart needs four digits, and the far tails, where a
difference of floats would be noise, keep all of them.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol, TypeAlias, TypeGuard, cast

from sfumato.accounting.losses.divergence import hockey_stick, loss_of_outcome
from sfumato.accounting.losses.measures import Approx
from sfumato.errors import BadArgument
from sfumato.exact import Extended, Number, Root, non_negative, rational
from sfumato.noise.distribution import Noise

POINTS = 401
"""How many points make a smooth line."""

FEW = 64
"""Up to this many whole numbers are drawn one by one; more look like a line."""


class Reference(Protocol):
    """A continuous distribution, such as those of `sf.textbook`."""

    def pdf(self, x: Number) -> Any:
        """Encloses the density at x."""

    def cdf(self, x: Number) -> Any:
        """Encloses P(Y <= x)."""

    def upper_tail(self, x: Number) -> Any:
        """Encloses P(Y >= x)."""

    def quantile(self, p: Number) -> Any:
        """Encloses the x with P(Y <= x) = p."""


Shape: TypeAlias = Noise | Reference
"""Noise on the integers, or a continuous distribution to compare it with."""

Row: TypeAlias = dict[str, Any]
"""One row of a chart's data."""


def discrete(noise: Shape) -> TypeGuard[Noise]:
    """Tells noise on the integers from a continuous distribution."""
    return hasattr(noise, "pmf")


def label(noise: object) -> str:
    """Names a noise by its kind and parameters.

    >>> from sfumato.noise.discrete_laplace import DiscreteLaplace
    >>> label(DiscreteLaplace(Fraction(5, 2)))
    'discrete Laplace, scale 2.5'
    """
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(noise).__name__)
    kind = re.sub(r"\b(Discrete|Truncated|Censored)\b", lambda matched: matched.group().lower(), words)
    if not is_dataclass(noise):
        return kind
    parts = [(field.name, getattr(noise, field.name)) for field in fields(noise)]
    inner = [f" {label(value)}" for _, value in parts if is_dataclass(value) and not isinstance(value, Root)]
    shown = [(name, value) for name, value in parts if isinstance(value, int | Fraction | Root)]
    own = [f", {name.replace('_', ' ')} {short(value)}" for name, value in shown if (name, value) != ("location", 0)]
    return kind + "".join(inner) + "".join(own)


def short(value: float | Extended | Root) -> str:
    """Writes a number as a reader wants it, with a true minus sign."""
    return f"{float(value):.4g}".replace("-", "−")


def height(noise: Shape, value: Fraction) -> Any:
    """Encloses the mass or density at a value; noise on the integers has no mass between them."""
    if not discrete(noise):
        return cast(Reference, noise).pdf(value)
    if value.denominator != 1:
        raise BadArgument("an outcome of noise on the integers", "a whole number", value)
    return noise.pmf(int(value))


def reach(noise: Shape, *, missed: Fraction = Fraction(1, 500)) -> tuple[Fraction, Fraction]:
    """The interval that holds all but a share of a noise, half of it on each side."""
    low, high = noise.quantile(missed / 2), noise.quantile(1 - missed / 2)
    return Fraction(float(low)), Fraction(float(high))


def places(
    noise: Shape, low: Fraction, high: Fraction, *, also: Sequence[Fraction] = (), points: int = POINTS
) -> list[Fraction]:
    """The outcomes at which to evaluate: whole numbers where noise lives on them, else a grid and ``also``."""
    if discrete(noise):
        first, last = math.floor(low), math.ceil(high)
        stride = max(1, (last - first) // points)
        return [Fraction(value) for value in range(first, last + 1, stride)]
    step = (high - low) / (points - 1)
    grid = {low + step * index for index in range(points)}
    return sorted(grid | {point for point in also if low <= point <= high})


def curve(
    noise: Shape,
    low: Fraction,
    high: Fraction,
    *,
    series: str,
    centre: Fraction = Fraction(0),
    also: Sequence[Fraction] = (),
) -> list[Row]:
    """The data of one line or one set of points: outcome, height and the name of the series."""
    return [
        {"series": series, "x": float(at), "y": float(height(noise, at - centre))}
        for at in places(noise, low, high, also=also)
    ]


def few(noise: Shape, rows: Sequence[Row]) -> bool:
    """Tells whether outcomes are whole numbers, and few enough to be drawn one by one."""
    return discrete(noise) and len({row["x"] for row in rows}) <= FEW


def quantity(noises: Iterable[Shape]) -> str:
    """Names the vertical axis: probability, density, or both."""
    kinds = {discrete(noise) for noise in noises}
    return {frozenset({True}): "probability", frozenset({False}): "density"}.get(
        frozenset(kinds), "probability or density"
    )


def window(
    noises: Sequence[Shape], centres: Sequence[Fraction], *, missed: Fraction = Fraction(1, 500)
) -> tuple[Fraction, Fraction]:
    """The interval in which all noises, around all centres, can be seen whole."""
    ends = [reach(noise, missed=missed) for noise in noises]
    return min(low for low, _ in ends) + min(centres), max(high for _, high in ends) + max(centres)


def centres_of(pair: Sequence[Number]) -> tuple[Fraction, Fraction]:
    """Reads the exact answers on two neighbours."""
    if len(pair) != 2:
        raise BadArgument("centres", "the exact answers on two neighbours", tuple(pair))
    left, right = (rational(value, "centre") for value in pair)
    return left, right


def realised_loss(noise: Shape, outcome: Number, *, centres: Sequence[Number]) -> float:
    """Computes ln(p(outcome)/p′(outcome)): what one outcome tells about which of two neighbours it came from.

    >>> from sfumato.noise.discrete_laplace import DiscreteLaplace
    >>> realised_loss(DiscreteLaplace(Fraction(1)), 7, centres=(10, 11))
    1.0
    """
    left, right = centres_of(centres)
    seen = rational(outcome, "outcome")
    return middle(*loss_of_outcome(height(noise, seen - left), height(noise, seen - right)))


def loss_atoms(noise: Noise, *, shift: int, missed: Fraction = Fraction(1, 10**9)) -> dict[float, float]:
    """The distribution of the realised loss between neighbours ``shift`` apart: loss → mass, in order.

    Outcomes of total mass ``missed`` at the far ends are left out.
    """
    masses: dict[float, float] = defaultdict(float)
    for outcome in range(noise.quantile(missed / 2), noise.quantile(1 - missed / 2) + 1):
        mass = noise.pmf(outcome)
        masses[middle(*loss_of_outcome(mass, noise.pmf(outcome - shift)))] += float(mass)
    return dict(sorted((loss, mass) for loss, mass in masses.items() if mass > 0))


def profile_point(noise: Noise, *, shift: int, epsilon: Number, missed: Fraction = Fraction(1, 10**12)) -> Approx:
    """Computes (ε, δ) with the least δ for neighbours ``shift`` apart, rounded up; a mass ``missed`` counts as lost.

    Only for noise that is the same in both directions, as all additive noise here is.
    """
    bound = non_negative(epsilon, "epsilon")
    outcomes = range(noise.quantile(missed / 2), noise.quantile(1 - missed / 2) + 1)
    left: dict[Hashable, Any] = {outcome: noise.pmf(outcome) for outcome in outcomes}
    right: dict[Hashable, Any] = {outcome: noise.pmf(outcome - shift) for outcome in outcomes}
    delta = Fraction(hockey_stick(left, right, bound)[1]) + missed
    return Approx(bound, min(Fraction(1), delta))


def uncovered(noise: Shape, *, centres: Sequence[Number], epsilon: Number) -> float:
    """Computes ∫ max(0, p − e^ε p′): the δ that is left at an ε in this direction, good to about four digits."""
    pair, factor = centres_of(centres), math.exp(float(non_negative(epsilon, "epsilon")))
    at = places(noise, *window([noise], pair, missed=Fraction(1, 10**8)), points=5 * POINTS)
    gaps = [
        (float(spot), max(0.0, float(height(noise, spot - pair[0])) - factor * float(height(noise, spot - pair[1]))))
        for spot in at
    ]
    if discrete(noise):
        stride = float(at[1] - at[0]) if len(at) > 1 else 1.0  # over many outcomes, each stands for some beside it
        return stride * sum(gap for _, gap in gaps)
    return sum((right - left) * (left_gap + right_gap) / 2 for (left, left_gap), (right, right_gap) in pairwise(gaps))


def middle(low: Extended, high: Extended) -> float:
    """The middle of an enclosure to twelve digits, so that equal numbers meet although their balls differ."""
    return float(low) if low == high else round(float((low + high) / 2), 12) + 0.0

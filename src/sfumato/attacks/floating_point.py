"""Reads the secret from the last bits of noisy doubles.

A textbook sampler adds to a value a double that is one of 2⁵³ logarithms. The sums that it can give are a sieve with
holes, and the holes of 0 are not those of 1: nearly every output was possible from one of them only (Mironov 2012, "On
significance of the least significant bits for differential privacy"). Noise put together from several uniform numbers
(Holohan, Braghin 2021, arXiv 2107.10138) has no such holes, yet adding it in doubles leaves others: a sum near 0 of a
value that is not has fewer bits than one of a value that is 0 (Haney et al. 2022, arXiv 2207.13793). Noise on a grid
that both inputs share has neither.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.accounting.losses.measures import Pure
from sfumato.attacks.membership import epsilon_of
from sfumato.attacks.reach import Excluded, tell_apart, two
from sfumato.attacks.result import Attack, Violation
from sfumato.core.domains import Floats
from sfumato.core.measurement import Measurement
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, positive, rational, up
from sfumato.release.progress import Progress

UNIFORM_BITS = 53
"""A textbook uniform number is one of 2⁵³ equally spaced doubles."""

WIDEST = 1 << 12
"""Where more uniform numbers than this would have to be tried, an output is taken to be possible."""


@final
@dataclass(frozen=True)
class DoubleLaplace:
    """A sampler of value + Laplace noise in doubles, and a test of whether it can give an output from a value.

    It promises a privacy that it does not have, and is here to be attacked.
    """

    name: str
    scale: float
    draw: Callable[[float, Entropy], float]
    reaches: Callable[[float, float], bool]


def textbook_laplace(scale: Number) -> DoubleLaplace:
    """The sampler of the textbooks: value ± scale · ln u, u one of 2⁵³ uniform doubles (P1-171)."""
    size = float(positive(scale, "scale"))

    def noise(place: int, sign: int) -> float:
        return sign * size * math.log(place / (1 << UNIFORM_BITS))

    def draw(value: float, entropy: Entropy) -> float:
        return value + noise(1 + entropy.bits(UNIFORM_BITS), 2 * entropy.bits(1) - 1)

    def reaches(output: float, value: float) -> bool:
        apart = output - value
        if not math.isfinite(apart):
            return False
        centre = math.exp(-abs(apart) / size) * (1 << UNIFORM_BITS)
        # Each rounding on the way moves the output by at most an ulp; seen from u, that is this many places.
        slack = centre * (math.ulp(output) + 3 * math.ulp(apart)) / size + 4
        if slack > WIDEST:
            return True
        first, last = max(1, math.floor(centre - slack)), min(1 << UNIFORM_BITS, math.ceil(centre + slack))
        sign = -1 if apart > 0 else 1
        return any(value + noise(place, sign) == output for place in range(first, last + 1))

    return DoubleLaplace("textbook Laplace in doubles", size, draw, reaches)


def combined_laplace(scale: Number) -> DoubleLaplace:
    """The sampler that puts noise together from four uniform numbers, as a defence; only its sum is attacked."""
    size = float(positive(scale, "scale"))

    def product_of(entropy: Entropy) -> float:
        first, second = (entropy.bits(UNIFORM_BITS) * 2.0**-UNIFORM_BITS for _ in range(2))
        return math.log1p(-first) * math.cos(math.pi * second)

    def draw(value: float, entropy: Entropy) -> float:
        return value + size * (product_of(entropy) + product_of(entropy))

    return DoubleLaplace("four uniforms combined", size, draw, sum_reaches)


def sum_reaches(output: float, value: float) -> bool:
    """Tells whether any double at all, added to a value, gives an output.

    >>> sum_reaches(2.0**-60, 0.0), sum_reaches(2.0**-60, 1.0)
    (True, False)
    """
    apart = output - value
    if not math.isfinite(apart):
        return False
    near = (apart, math.nextafter(apart, -math.inf), math.nextafter(apart, math.inf))
    return any(value + term == output for term in near)


def _finite(value: Number) -> Fraction:
    """Reads a value that a double can hold."""
    exact = rational(value, "a value")
    if up(abs(exact)) == math.inf:
        raise BadArgument("a value", "one that a double can hold", value)
    return exact


def floating_point(
    attacked: DoubleLaplace | Measurement,
    *,
    believed: DoubleLaplace | None = None,
    values: tuple[Number, Number] = (0, 1),
    samples: int = 10,
    trials: int = 200,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Tells which of two values was noised, from nothing but which outputs each of them can give.

    In each trial one value, tossed for, is noised ``samples`` times. A measurement of one float is attacked as if it
    were ``believed``, one of the samplers in doubles. The second value is the guess where both are possible.
    """
    first, second = two(values, _finite)
    apart, many = abs(first - second), integer(samples, "samples", least=1)
    if isinstance(attacked, Measurement):
        sampler, run = believed, attacked.function
        loss = attacked.map(apart) if isinstance(attacked.source.domain, Floats) else None
        if not isinstance(sampler, DoubleLaplace) or not isinstance(loss, Pure):
            must = "a pure measurement of one float, with believed=, a sampler in doubles"
            raise BadArgument("what floating_point() attacks", must, attacked)
        against, whole = f"sfumato, {samples} × {loss}", Pure(many * loss.epsilon)
        claimed = epsilon_of(whole)
    elif not isinstance(attacked, DoubleLaplace):
        raise BadArgument("what floating_point() attacks", "a sampler in doubles or a measurement", attacked)
    else:
        sampler, run, against, whole = attacked, attacked.draw, attacked.name, None
        claimed = up(many * apart / rational(attacked.scale))
    success, certain = tell_apart(
        (float(first), float(second)),
        draw=run,
        reaches=sampler.reaches,
        samples=many,
        trials=trials,
        entropy=entropy,
        progress=progress,
    )
    return Attack(
        name="last bits of noisy doubles",
        violation=Violation.RECONSTRUCTION,
        against=against,
        success=success,
        baseline=0.5,
        epsilon=epsilon_of(whole),
        found=Excluded(certain, claimed),
    )

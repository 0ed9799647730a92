"""What discrete Laplace noise costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb

from sfumato.accounting.facts.table import buys, fact
from sfumato.accounting.losses.measures import Pure
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.pld.pairs.exchanged import laplace_cut
from sfumato.accounting.pld.pairs.integer import SHIFTED, ShiftedNoise, ceiling, masses_below, thinned
from sfumato.accounting.pld.pairs.pair import ALL, NONE, Line, Lines
from sfumato.accounting.renyi.mechanism_curves import DiscreteLaplaceCurve
from sfumato.exact import Distance, ball, rational_up, up
from sfumato.guarantee import guarantee
from sfumato.noise.discrete_laplace import DiscreteLaplace


@fact(DiscreteLaplace, Pure, in_vectors=True)
@guarantee(claim="epsilon = shift / scale, in L1", proof="proofs/additive.md#laplace", reviewed="ed1891190f0a")
def discrete_laplace_pure(noise: DiscreteLaplace, shift: Distance) -> Pure:
    """The pure loss of independent noise on each coordinate, when neighbours are an L1 distance apart."""
    return Pure(rational_up(shift) / noise.scale)


@buys(Pure)
@guarantee(
    claim="scale = shift / epsilon, in L1: the loss at the shift is epsilon",
    proof="proofs/additive.md#within",
    reviewed="f6aa358af0db",
)
def laplace_within(loss: Pure, shift: Distance) -> DiscreteLaplace:
    """The noise that a pure loss pays for when neighbours are an L1 distance apart."""
    return DiscreteLaplace(Fraction(rational_up(shift)) / Fraction(loss.epsilon))


@fact(DiscreteLaplace, Renyi, in_vectors=True)
@guarantee(
    claim="the curve of the shift in L1, rounded down to a whole number", proof="proofs/renyi.md#discrete-laplace",
    reviewed="73c4b2c3e0c6",
)  # fmt: skip
def discrete_laplace_renyi(noise: DiscreteLaplace, shift: Distance) -> Renyi:
    """The Rényi loss of independent noise on each of some whole numbers that are an L1 distance apart."""
    whole = math.floor(rational_up(shift))
    return Renyi.of(DiscreteLaplaceCurve(noise.scale, whole)) if whole else Renyi.nothing()


@guarantee(
    claim="between -s/b and s/b the best test rejects k < (s - l b)/2",
    proof="proofs/pairs.md#discrete-laplace",
    reviewed="33f0d8d90bbb",
)
def discrete_laplace_lines(noise: DiscreteLaplace, shift: int) -> Lines:
    """Prepares the lines of discrete Laplace noise about 0 against the same about a shift."""
    end, scale, below = ball(Fraction(shift) / noise.scale), ball(noise.scale), masses_below(noise)

    def line(loss: arb) -> Line:
        if loss >= end:
            return NONE
        if loss < -end:
            return ALL
        last = ceiling((shift - loss * scale) / 2) - 1
        return Line(below(last), below(last - shift))

    return line


def discrete_laplace_cut(noise: DiscreteLaplace, shift: int, rate: Fraction) -> Callable[[arb], arb]:
    """Prepares the outcome, whole or not, at which a loss is met, for discrete Laplace noise."""
    scale = ball(noise.scale)
    cut = laplace_cut(ball(shift / noise.scale), rate)
    return lambda loss: scale * cut(loss)


def _hints(noise: DiscreteLaplace, shift: int, tail: float) -> list[float]:
    scale = up(noise.scale)
    return [(2 * place - shift) / scale for place in thinned(range(shift + 1))]


SHIFTED[DiscreteLaplace] = ShiftedNoise(
    discrete_laplace_lines,
    _hints,
    largest=lambda noise, shift: shift / noise.scale,
    pitch=lambda noise, shift: (2 - shift % 2) / noise.scale,
    cut=discrete_laplace_cut,
)

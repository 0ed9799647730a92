"""Objective perturbation: the minimum of a convex risk that was tilted at random. Pure ε, and nothing is cut off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sfumato.accounting.losses.measures import Pure
from sfumato.core.domains import Array, Floats, Matrix
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Distance, Extended, Number, ball, digits_up, positive, power_of_two, rational_up, up, upper
from sfumato.guarantee import guarantee
from sfumato.mechanisms.certified_minimum import GRID_BITS, Problem, Push, least
from sfumato.mechanisms.risks import PROOF, Risk
from sfumato.noise.cube import Cube
from sfumato.release.record import How
from sfumato.transforms.gram import Coordinates
from sfumato.transforms.rows import as_rows

FINE = 1 << 20
"""The noise has at least this many steps to its scale, and to the greatest slope, 1; one of them is paid for."""

SCALE_BITS = 52
"""With how many halvings of its exponent a scale is looked for."""

LEAST_RIDGE = Fraction(1, 1 << 28)
"""No ridge is less, however little noise there is, so that columns that say the same have coefficients."""

GREATEST = 1 << 900
"""No scale and no ridge is more: floats hold them, and what is made of them on the way."""

RIDGE_BITS = 40
"""The ridge is rounded up to so many bits, so that a float is equal to it."""


@constructor
def perturbed_risk(
    risk: Risk, kinds: Sequence[int], *, scale: Number, ridge: Number | None = None
) -> Partial[Measurement]:
    """Minimises a risk plus a ridge plus a random linear term, exactly: objective perturbation with noise of a cube.

    The ridge follows from the scale, unless a greater one is asked for.

    Takes:      a matrix of floats under the add/remove distance: a column for each of ``kinds`` (`Coordinates`), then
                the target; rows in which something is missing, or without a target of the risk, are left out
    Gives:      the coefficients of each score, the constant's first, as whole numbers of 2⁻²⁰
    Guarantee:  Pure: d_in times the greatest a / scale + rank ln(1 + |z|² c(a) / (rank ridge)), a the slope of a row
                (proofs/objective_perturbation.md#loss)
    Cost:       some Newton steps; now and then a second or more with balls, for many rows. Time depends on the data

    >>> from sfumato.core.space import matrix
    >>> from sfumato.mechanisms.risks import Logistic
    >>> str((matrix(3) >> perturbed_risk(Logistic(), [0, 0], scale=2, ridge=6)).map(1))
    'ε = 0.500001'
    """
    width, most = positive(scale, "scale"), Fraction(0) if ridge is None else positive(ridge, "ridge")
    if max(width, most) > GREATEST:
        raise BadArgument("scale and ridge", "at most 2^900, so that floats hold what is made of them", "more")
    layout = Coordinates(tuple(kinds))
    return Partial(f"perturbed_risk(scale={scale})", lambda space: _build(space, risk, layout, width, most))


def _build(space: Space, risk: Risk, layout: Coordinates, scale: Fraction, least_ridge: Fraction) -> Measurement:
    domain = space.domain
    if not isinstance(domain, Matrix) or not isinstance(domain.element, Floats) or space.metric != AddRemove():
        raise BadArgument("what perturbed_risk() works on", "a matrix of floats, rows added or removed", str(space))
    if domain.columns != len(layout.kinds) + 1:
        raise BadArgument("kinds", f"one for each of {domain.columns - 1} columns before the target", len(layout.kinds))
    square = len(layout.places)
    ridge = rounded_ridge(max(least_ridge, risk.stiffness * square * scale, LEAST_RIDGE))
    size = risk.scores * layout.size
    how = How(
        "objective perturbation",
        (
            ("risk", type(risk).__name__),
            ("coefficients", f"{size}"),
            ("scale", digits_up(scale)),
            ("ridge", digits_up(ridge)),
        ),
        proofs=(f"{PROOF}#loss", f"{PROOF}#certificate", "proofs/k_norm.md#law"),
    )
    slope = perturbed_loss(risk, scale, ridge, square)
    return Measurement(
        source=space,
        measure=Pure,
        function=lambda data, entropy: _minimum(as_rows(data, domain), risk, layout, scale, ridge, entropy),
        privacy_map=lambda d_in: repeated_loss(d_in, slope),
        how=how,
    ).recorded()


def noise_step(scale: Fraction) -> Fraction:
    """The step of the grid of the noise."""
    return power_of_two(min(scale, Fraction(1)) / FINE)


def rounded_ridge(ridge: Fraction) -> Fraction:
    """The least number of a few bits that is not below a ridge."""
    grain = power_of_two(ridge) / (1 << RIDGE_BITS)
    return -(-ridge // grain) * grain


@guarantee(
    claim="ε of one row: the greatest (a + η)/s + r ln(1 + |z|² c(a)/(r λ)) over slopes a in [0, 1], from above",
    proof=f"{PROOF}#loss",
    reviewed="cb651f4d087f",
)
def perturbed_loss(risk: Risk, scale: Fraction, ridge: Fraction, square: int) -> Extended:
    """What adding or removing one row costs, whose squared length is at most ``square``: by a tangent at the top."""
    flat, rise, fall = risk.bend
    share = Fraction(square) / (ridge * risk.rank)
    top = Fraction(costliest(floats_of(risk), risk.rank, up(1 / scale), up(share)))
    bent = 1 + share * (flat + rise * top + fall * top * top)
    slope = 1 / scale + risk.rank * share * (rise + 2 * fall * top) / bent
    beyond = max(slope * (1 - top), -slope * top)
    return upper(lambda: ball((top + noise_step(scale)) / scale + beyond) + risk.rank * ball(bent - 1).log1p())


def costliest(bend: tuple[float, float, float], rank: int, rate: float, share: float) -> float:
    """About the slope of the row that costs most; a bound by the tangent there holds wherever it is.

    It is 1, or where the derivative of the cost is 0: the greater root of a quadratic equation.
    """
    flat, rise, fall = bend
    if not fall:
        return 1.0
    small = min(1.0, 1.0 / rate)  # keeps squares from overflowing
    level = small * rate * (1 / share + flat) + small * rank * rise
    slope = small * rate * rise + 2 * small * rank * fall
    curve = small * rate * fall
    root = math.sqrt(max(slope**2 - 4 * level * curve, 0.0))
    top = 2 * level / (root - slope) if slope < 0 else (slope + root) / (-2 * curve)
    return min(max(top, 0.0), 1.0) if math.isfinite(top) else 1.0


def floats_of(risk: Risk) -> tuple[float, float, float]:
    """The numbers of a bend, to look with."""
    flat, rise, fall = risk.bend
    return float(flat), float(rise), float(fall)


def likely_scale(risk: Risk, columns: int, epsilon: float, ridge: float = 0.0) -> Fraction:
    """About the least scale at which a row costs ε, in floats: whoever takes it checks the price."""
    bend, rank, stiffness = floats_of(risk), risk.rank, float(risk.stiffness)
    flat, rise, fall = bend
    low, high = 2.0**-400, 2.0**400
    ridge = min(ridge, high)
    for _ in range(SCALE_BITS):
        scale = low**0.5 * high**0.5
        share = (columns + 1) / max(ridge, stiffness * (columns + 1) * scale) / rank
        a = costliest(bend, rank, 1 / scale, share)
        price = a / scale + rank * math.log1p(share * (flat + rise * a + fall * a * a))
        low, high = (low, scale) if price <= epsilon else (scale, high)
    return Fraction(high) * (1 + Fraction(2, FINE))


@guarantee(claim="d_in times the loss of one row", proof=f"{PROOF}#loss", reviewed="bcd3da2cf87d")
def repeated_loss(d_in: Distance, loss: Extended) -> Pure:
    """What several rows cost: row by row."""
    rows = rational_up(d_in)
    return Pure(Fraction(0)) if not rows else Pure(rows * loss)


def _minimum(data: Array, risk: Risk, layout: Coordinates, scale: Fraction, ridge: Fraction, entropy: Entropy) -> Array:
    known = data[~np.isnan(data).any(axis=1)]
    usable, targets = risk.targets(known[:, -1])
    rows = layout.rows(known[usable, :-1])
    push = draw_push(scale, risk.scores * layout.size, entropy)
    cells = least(Problem(risk, rows, targets[usable], float(ridge), push))
    return np.array([float(Fraction(one, 1 << GRID_BITS)) for one in cells])


@guarantee(
    claim="density at b at most exp((|v| + step)/scale) times that at b + v, in L∞",
    proof=f"{PROOF}#push",
    reviewed="a78f451a4fd1",
)
def draw_push(scale: Fraction, size: int, entropy: Entropy) -> Push:
    """Draws a vector of real numbers: on a grid, plus a uniform part of a step."""
    step = noise_step(scale)
    return Push([int(one) for one in Cube(scale / step, size).sample(entropy)], step, entropy)

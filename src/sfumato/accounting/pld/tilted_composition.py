"""Composition of lattice laws by one certified Fourier transform, tilted so that far tails are as sharp as the middle.

Every law is multiplied by exp(θℓ) before it is transformed, and the composed law divided by it afterwards. The tilt θ
puts the bulk of the composed law where the question is, so that rounding errors, which are relative to the bulk, are
relative to the answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.accounting.pld.fourier import UNIT, Complexes, inverse, transform, transform_error
from sfumato.accounting.pld.lattice import Law
from sfumato.errors import NoProvenRoute
from sfumato.exact import Extended, ball, endpoints, precision
from sfumato.guarantee import guarantee

Floats = NDArray[np.float64]

BITS = 128

MULTIPLY = 4 * UNIT
"""What one complex multiplication adds to the relative error, generously."""

MARGIN = 1 + 2.0**-20
"""Covers the rounding of the error bounds themselves, each of which is a short sum of positive numbers."""

SHORT, FEW = 4096, 8
"""Laws are convolved directly, one by one, up to this length; up to this many that are used often are transformed."""


def float_up(value: arb) -> float:
    """A float that is not below a finite ball."""
    return math.nextafter(float(value.upper()), math.inf)


def float_down(value: arb) -> float:
    """A float that is not above a finite ball, and at least 0."""
    return max(0.0, math.nextafter(float(value.lower()), -math.inf))


@final
@dataclass(frozen=True)
class Piece:
    """A tilted law on consecutive places from ``first`` on, known from above and below, used ``count`` times."""

    first: int
    above: Floats
    below: Floats
    count: int


@final
@dataclass(frozen=True)
class Composed:
    """A composed, tilted law on a window of places, with everything that may be wrong with it."""

    step: Fraction
    tilt: Fraction
    scale: arb
    start: int
    above: Floats
    below: Floats
    error: float
    mass: float
    overflow: tuple[float, float]
    infinite: tuple[arb, arb]
    short: arb
    loose: int
    slow: Floats
    fast: Floats


def tilted(law: Law, *, count: int, rate: arb, known: dict[int, arb]) -> tuple[Piece, arb]:
    """Tilts a law by exp(rate·place), and gives it with the logarithm of what it was divided by."""
    for place in law.places:
        if place not in known:
            known[place] = (rate * place).exp()
    grown = [known[place] for place in law.places]
    above = [mass * factor for mass, factor in zip(law.above, grown, strict=True)]
    total = arb(float(sum(above, arb(0)).mid()))
    first, size = law.places[0], law.places[-1] - law.places[0] + 1
    high, low = np.zeros(size), np.zeros(size)
    for place, more, mass, factor in zip(law.places, above, law.below, grown, strict=True):
        high[place - first] = float_up(more / total)
        low[place - first] = float_down(mass * factor / total)
    return Piece(first, high, low, count), total.log()


def gathered(pieces: list[Piece]) -> list[Piece]:
    """Convolves short laws with each other, those that are used a few times with themselves: fewer need a transform."""
    few = len(pieces) <= FEW
    short = [piece for piece in pieces if piece.count * piece.above.size <= SHORT and (piece.count == 1 or not few)]
    kept = [piece for piece in pieces if not any(piece is one for one in short)]
    once = sorted(map(repeated, short), key=lambda piece: piece.above.size)
    while len(once) > 1 and once[0].above.size + once[1].above.size <= SHORT:
        left, right, *rest = once
        once = sorted([*rest, convolved(left, right)], key=lambda piece: piece.above.size)
    return kept + once


def repeated(piece: Piece) -> Piece:
    """Convolves a law with itself as often as it is used, by squaring."""
    if piece.count == 1:
        return piece
    half = repeated(replace(piece, count=piece.count // 2))
    whole = convolved(half, half)
    return convolved(whole, replace(piece, count=1)) if piece.count % 2 else whole


@guarantee(
    claim="masses of the convolution, rounded up above and down below by (n + 2) u relatively",
    proof="proofs/tilted.md#direct",
    reviewed="4aea3cfbbcd9",
)
def convolved(left: Piece, right: Piece) -> Piece:
    """Convolves two laws term by term: sums of products of numbers that are not negative."""
    slack = (min(left.above.size, right.above.size) + 4) * UNIT * MARGIN
    above = np.convolve(left.above, right.above) * (1 + 2 * slack) + 1e-300
    below = np.maximum(0.0, np.convolve(left.below, right.below) * (1 - 2 * slack) - 1e-300)
    return Piece(left.first + right.first, above, below, 1)


@guarantee(
    claim="the circular convolution of all laws, each as often as it is used, within `error` in the 2-norm",
    proof="proofs/tilted.md#power",
    reviewed="38b212ba8b9d",
)
def circular(pieces: Sequence[Piece], *, size: int) -> tuple[Floats, Floats, float, float]:
    """Composes laws on a circle; gives the law from above, from below, a bound of their errors, and of their mass."""
    relative = transform_error(size)
    product: Complexes | None = None
    mirror: Complexes | None = None
    growth = lost = 0.0
    uses = 0
    for piece in pieces:
        folded = _folded(piece, size)
        spectrum = transform(folded)
        reflected = np.conjugate(np.roll(spectrum[::-1], 1))
        # Norms of the spectrum: the total masses bound every entry, from which errors grow.
        total = max(math.fsum(piece.above), math.fsum(piece.below), 1.0) * (1 + 2 * UNIT)
        missed = (relative + 4 * UNIT) * math.sqrt(size) * norm(folded) * MARGIN
        growth += piece.count * math.log(total + missed) * MARGIN
        lost += piece.count * missed
        uses += 2 * piece.count
        high, low = power((spectrum + reflected) / 2, piece.count), power((spectrum - reflected) / 2j, piece.count)
        product = high if product is None else product * high
        mirror = low if mirror is None else mirror * low
    if product is None or mirror is None:
        raise ValueError("there is nothing to compose")
    if uses * MULTIPLY > 1 / 4 or growth > 100:
        raise NoProvenRoute(
            "these are more uses than can be added up reliably. Account in ZCDP, Renyi or Approx instead."
        )
    rounding = math.expm1(uses * MULTIPLY * MARGIN)
    size_of = max(norm(product), norm(mirror)) * MARGIN
    wrong = (math.exp(growth) * lost + 2 * rounding * size_of) * MARGIN
    back = inverse(product + 1j * mirror)
    error = (2 * wrong + (relative + 4 * UNIT) * 2 * (size_of + wrong)) / math.sqrt(size) * MARGIN + 1e-290
    return np.ascontiguousarray(back.real), np.ascontiguousarray(back.imag), error, math.exp(growth) * MARGIN


def _folded(piece: Piece, size: int) -> Complexes:
    """Lays a law on the circle: what is above as the real part, what is below as the imaginary part."""
    turns = -(-piece.above.size // size)
    high, low = np.zeros(turns * size), np.zeros(turns * size)
    high[: piece.above.size], low[: piece.below.size] = piece.above, piece.below
    if turns > 1:
        slack = (turns + 1) * UNIT
        high = high.reshape(turns, size).sum(axis=0) * (1 + 2 * slack)
        low = low.reshape(turns, size).sum(axis=0) * (1 - 2 * slack)
    both: Complexes = np.roll(high + 1j * low, piece.first % size)
    return both


def power(values: Complexes, count: int) -> Complexes:
    """Raises to a power by squaring; the relative error of an entry is at most 2·count multiplications'."""
    power: Complexes | None = None
    square = values
    while count:
        if count & 1:
            power = square if power is None else power * square
        count >>= 1
        if count:
            square = square * square
    return values if power is None else power


@guarantee(
    claim="tilted mass at or beyond a place, at most the moment generating function over exp(extra loss)",
    proof="proofs/tilted.md#overflow",
    reviewed="238bf182aea7",
)
def overflow(pieces: Sequence[Piece], *, place: int, extra: Fraction, step: Fraction) -> float:
    """Bounds the tilted mass at or above a place (for a negative extra tilt: at or below) by Chernoff's inequality."""
    total = arb(0)
    for piece in pieces:
        growing = powers(-extra * step, piece.above.size)
        with np.errstate(invalid="ignore"):
            moment = max(dot(piece.above, growing), dot(piece.below, growing)) * MARGIN
        if not math.isfinite(moment):
            return math.inf
        total += piece.count * (arb(moment).log() + ball(extra * step * piece.first))
    return float_up((total - ball(extra * step * place)).exp())


def composed(
    laws: Sequence[tuple[Law, int]],
    *,
    step: Fraction,
    tilt: Fraction,
    start: int,
    size: int,
    extras: tuple[Fraction, Fraction],
) -> Composed:
    """Composes laws on a window of ``size`` places from ``start`` on."""
    with precision(BITS):
        known: dict[int, arb] = {}
        made = [tilted(law, count=count, rate=ball(step * tilt), known=known) for law, count in laws]
        scale = sum((count * log for (_, log), (_, count) in zip(made, laws, strict=True)), arb(0))
        pieces = gathered([piece for piece, _ in made])
        above, below, error, mass = circular(pieces, size=size)
        bottom = overflow(pieces, place=start - 1, extra=extras[0], step=step)
        top = overflow(pieces, place=start + size, extra=extras[1], step=step)
        if sum(piece.count * piece.first for piece in pieces) >= start:
            bottom = 0.0
        if sum(piece.count * (piece.first + piece.above.size - 1) for piece in pieces) < start + size:
            top = 0.0
        turn = -(start % size)
        return Composed(
            step,
            tilt,
            scale,
            start,
            np.roll(above, turn),
            np.roll(below, turn),
            error,
            mass,
            (bottom, top),
            infinite_mass(laws),
            sum((count * law.short for law, count in laws), arb(0)),
            sum(count for law, count in laws if not law.exact),
            weights(tilt * step, size),
            weights((tilt + 1) * step, size),
        )


@guarantee(
    claim="the chance that any loss is infinite",
    proof="proofs/tilted.md#infinite",
    reviewed="c598d828de1e",
)
def infinite_mass(laws: Sequence[tuple[Law, int]]) -> tuple[arb, arb]:
    """Encloses the mass that the composition puts on infinite loss, from above and from below."""
    whole, finite, kept = arb(1), arb(1), arb(1)
    for law, count in laws:
        part = sum(law.above, arb(0))
        finite *= part**count
        whole *= (part + law.infinite[0]) ** count
        kept *= (1 - law.infinite[1]) ** count
    return whole - finite, 1 - kept


@guarantee(
    claim="delta(eps) = exp(scale - tilt eps) times the sum of t_l (exp(-tilt u) - exp(-(tilt+1) u)), u = l - eps > 0",
    proof="proofs/tilted.md#delta",
    reviewed="571929120fa1",
)
def delta_bounds(law: Composed, epsilon: Fraction) -> tuple[Extended, Extended]:
    """(lower, upper) bounds of the finite part of δ(ε), for the laws as they were given."""
    place = math.floor(epsilon / law.step) + 1
    offset = place - law.start
    if offset < 0:
        return Fraction(0), math.inf
    if offset >= law.above.size:
        with precision(BITS):
            return Fraction(0), endpoints(arb(law.overflow[1]) * (law.scale - ball(law.tilt * epsilon)).exp())[1]
    room = law.above.size - offset
    slow, fast = law.slow[:room], law.fast[:room]
    with precision(BITS):
        gap, factor = ball(place * law.step - epsilon), (law.scale - ball(law.tilt * epsilon)).exp()
        first, second = (-ball(law.tilt) * gap).exp(), (-ball(law.tilt + 1) * gap).exp()
        missed = law.error * math.sqrt(dot(slow, slow)) * MARGIN
        sums, slacks = [], []
        for values in (law.below, law.above):
            whole = dot(values[offset : offset + slow.size], slow)
            sums.append(first * arb(whole) - second * arb(dot(values[offset : offset + fast.size], fast)))
            # Where a mass was computed to be negative, only the error of the transform can have made it so.
            rounding = (slow.size + 8) * UNIT * (abs(whole) + 2 * missed)
            slacks.append(arb((2 * rounding + 2 * missed) * MARGIN))
        # Beyond the weights that were listed lies at most the whole mass times the last of them.
        cut = [arb(float(kind[-1]) * law.mass * MARGIN if kind.size < room else 0.0) for kind in (slow, fast)]
        low = sums[0] - slacks[0] - cut[1] - arb(law.overflow[0]) - arb(law.overflow[1])
        high = sums[1] + slacks[1] + cut[0] + arb(law.overflow[1])
        return max(Fraction(0), endpoints(low * factor)[0]), endpoints(high * factor)[1]


def dot(left: Floats, right: Floats) -> float:
    """Adds up products; NumPy's own would wake a pool of threads, which costs more than it saves here."""
    return float(np.sum(left * right))


def norm(values: Complexes) -> float:
    """The 2-norm."""
    return math.sqrt(dot(values.real, values.real) + dot(values.imag, values.imag))


def weights(rate: Fraction, most: int) -> Floats:
    """exp(−rate·k), each within 5 units of roundoff, down to about exp(−30)."""
    return powers(rate, most if rate == 0 else min(most, math.ceil(Fraction(30) / rate) + 2))


def powers(rate: Fraction, length: int) -> Floats:
    """exp(−rate·k) for k below a length, each within 5 units of roundoff."""
    fine = 1 << (max(1, length).bit_length() // 2)
    with precision(96):
        unit = -ball(rate)
        near = np.array([float((unit * place).exp()) for place in range(fine)])
        far = np.array([float((unit * (place * fine)).exp()) for place in range(-(-length // fine))])
    with np.errstate(over="ignore"):
        table: Floats = np.multiply.outer(far, near).reshape(-1)[:length]
    return table

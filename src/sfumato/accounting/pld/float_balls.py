"""Arrays of balls in double precision: floats, each with a proved bound of how far it is off.

Balls of many digits are worked out one at a time; where a dozen digits do, arrays of floats are a hundred times faster.
NumPy adds, multiplies and takes roots as IEEE 754 says. Its exponentials and logarithms are its own affair, so the
exponential is made here of tables and polynomials, and a logarithm is only believed once its exponential agrees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from flint import acb, arb
from numpy.typing import NDArray

from sfumato.accounting.pld.fourier import UNIT
from sfumato.exact import precision
from sfumato.guarantee import guarantee

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

PROOF = "proofs/float_balls.md"

WIDER, TINY = 1 + 2.0**-40, 1e-150
"""Cover the rounding of radii themselves: each is a short sum of products of numbers that are not negative."""

SURE = 32 * UNIT
"""The relative error of an exponential."""

GREATEST, FARTHEST = 340.0, 2.0**14
"""Exponentials are taken of real parts up to the one, either way, and of imaginary parts up to the other."""

GONE = 1e-146
"""More than the exponential of anything whose real part is below that, by no more than 1."""

PARTS = 64
"""Into how many parts ln 2, and a quarter of a turn, are cut by tables."""


def _split(value: arb) -> tuple[float, float]:
    """A number as a sum of two floats, the first of 32 bits, so that small multiples of it are exact."""
    scale = 2.0 ** (32 - int(np.frexp(float(value))[1]))
    high = float(np.floor(float(value) * scale)) / scale
    return high, float(value - arb(high))


with precision(128):
    _LOG = _split(arb(2).log() / PARTS)
    _ANGLE = _split(arb.pi() / (2 * PARTS))
    _POWERS = np.array([float((arb(2).log() * place / PARTS).exp()) for place in range(PARTS)])
    _TURNS = np.array(
        [
            complex(float(turn.cos()), float(turn.sin()))
            for turn in (arb.pi() * place / (2 * PARTS) for place in range(4 * PARTS))
        ]
    )


@final
@dataclass(frozen=True)
class Balls:
    """Complex numbers, each within ``rad`` of its ``mid``; where ``rad`` is not finite nothing is known."""

    mid: Complexes
    rad: Floats

    @classmethod
    def exact(cls, values: NDArray[Any] | complex) -> Balls:
        """Numbers that are just what they are."""
        mid = np.asarray(values, dtype=np.complex128)
        return cls(mid, np.zeros(mid.shape))

    @classmethod
    def rows(cls, values: Sequence[Sequence[arb]]) -> Balls:
        """Rows that enclose balls of more digits."""
        mid = np.array([[float(value.mid()) for value in row] for row in values])
        far = [
            [float((value - arb(near)).abs_upper()) for value, near in zip(row, nears, strict=True)]
            for row, nears in zip(values, mid.tolist(), strict=True)
        ]
        return cls(mid.astype(np.complex128), np.array(far) * WIDER + TINY)

    @classmethod
    def column(cls, values: Sequence[arb]) -> Balls:
        """A column that encloses balls of more digits."""
        return cls.rows([[value] for value in values])

    def __add__(self, other: Balls | float) -> Balls:
        right = other if isinstance(other, Balls) else Balls.exact(other)
        mid = self.mid + right.mid
        return Balls(mid, (self.rad + right.rad + UNIT * modulus(mid)) * WIDER)

    __radd__ = __add__

    def __neg__(self) -> Balls:
        return Balls(-self.mid, self.rad)

    def __sub__(self, other: Balls | float) -> Balls:
        return self + (-other)

    def __rsub__(self, other: float) -> Balls:
        return -self + other

    @guarantee(
        claim="|ab - computed| <= |a| s + |b| r + r s + 4u |a| |b|",
        proof=f"{PROOF}#arithmetic",
        reviewed="dc004caed736",
    )
    def __mul__(self, other: Balls | float) -> Balls:
        right = other if isinstance(other, Balls) else Balls.exact(other)
        here, there = modulus(self.mid), modulus(right.mid)
        rad = here * right.rad + there * self.rad + self.rad * right.rad + 4 * UNIT * here * there
        return Balls(self.mid * right.mid, rad * WIDER + TINY)

    __rmul__ = __mul__

    def __getitem__(self, where: Any) -> Balls:
        return Balls(self.mid[where], self.rad[where])

    def conjugate(self) -> Balls:
        """The mirror images."""
        return Balls(np.conjugate(self.mid), self.rad)

    @property
    def real(self) -> Balls:
        """The real parts."""
        return Balls(self.mid.real.astype(np.complex128), self.rad)

    @property
    def imag(self) -> Balls:
        """The imaginary parts, as real numbers."""
        return Balls(self.mid.imag.astype(np.complex128), self.rad)

    @guarantee(
        claim="e^z within |e^z| (r + r² + 32u) for a radius r of at most 1",
        proof=f"{PROOF}#exponential",
        reviewed="758dd802b1ea",
    )
    def exp(self) -> Balls:
        """The exponentials; unknown where a number is too large for them."""
        x, y = self.mid.real, self.mid.imag
        lost, gone = (x > GREATEST) | (np.abs(y) > FARTHEST) | ~(self.rad <= 1), x < -GREATEST
        mid = _grown(np.clip(x, -GREATEST, GREATEST)) * _turned(np.where(lost, 0.0, y))
        rad = modulus(mid) * (self.rad + self.rad * self.rad + SURE) * WIDER
        mid, rad = np.where(gone, 0.0, mid), np.where(gone, GONE, rad)
        return Balls(mid, np.where(lost, np.inf, rad))

    @guarantee(
        claim="if e^(-l) z = 1 + d, |d| <= 1/2 and |Im l| <= 4, then l + d is within |d|² of ln z, where Re z > 0",
        proof=f"{PROOF}#logarithm",
        reviewed="ea1c76429791",
    )
    def log(self) -> Balls:
        """The logarithms of numbers with positive real parts; unknown elsewhere."""
        with np.errstate(all="ignore"):
            guess = Balls.exact(np.nan_to_num(np.log(self.mid), nan=0.0, posinf=0.0, neginf=0.0))
        apart = (-guess).exp() * self - 1.0
        size = modulus(apart.mid) + apart.rad
        close = guess + Balls(apart.mid, apart.rad + size * size)
        known = (self.mid.real > self.rad) & (size <= 0.5) & (np.abs(guess.mid.imag) <= 4)
        return Balls(close.mid, np.where(known, close.rad * WIDER + TINY, np.inf))

    @guarantee(
        claim="a sum of n numbers, in any order, is off by at most 2 n u times the sum of their sizes",
        proof=f"{PROOF}#arithmetic",
        reviewed="2c224ab5482d",
    )
    def sum(self, axis: int = -1) -> Balls:
        """The sums along an axis."""
        slack = 2 * self.mid.shape[axis] * UNIT
        rad = np.sum(self.rad + slack * modulus(self.mid), axis=axis)
        return Balls(np.sum(self.mid, axis=axis), rad * (1 + slack) * WIDER)

    def prod(self) -> Balls:
        """The products down the first axis."""
        left = self
        while (count := left.mid.shape[0]) > 1:
            half = count // 2
            both = left[:half] * left[half : 2 * half]
            odd = left[2 * half :]
            left = Balls(np.concatenate([both.mid, odd.mid]), np.concatenate([both.rad, odd.rad]))
        return left[0]

    def raised(self, counts: Sequence[int]) -> Balls:
        """Each row to a power of its own, by squaring."""
        mid, rad = np.ones(self.mid.shape, dtype=np.complex128), np.zeros(self.mid.shape)
        square, powers = self, np.array(counts, dtype=np.int64)
        left = np.arange(powers.size)
        while left.size:
            odd = powers[left] & 1 == 1
            more = Balls(mid[left[odd]], rad[left[odd]]) * square[odd]
            mid[left[odd]], rad[left[odd]] = more.mid, more.rad
            powers >>= 1
            going = powers[left] > 0
            left, square = left[going], square[going]
            if left.size:
                square = square * square
        return Balls(mid, rad)

    def reshape(self, *shape: int) -> Balls:
        """The same numbers in another shape."""
        return Balls(self.mid.reshape(shape), self.rad.reshape(shape))

    def upper(self) -> Floats:
        """Numbers that the real parts are not above."""
        return _or_inf((self.mid.real + self.rad) + 4 * UNIT * (np.abs(self.mid.real) + self.rad))

    def lower(self) -> Floats:
        """Numbers that the real parts are not below."""
        return -(-self).upper()

    def enclosed(self) -> list[acb]:
        """The same as balls of more digits, in one list."""
        rads = self.rad.reshape(-1).tolist()
        return [
            acb(arb(value.real, rad), arb(value.imag, rad))
            for value, rad in zip(self.mid.reshape(-1).tolist(), rads, strict=True)
        ]


def modulus(values: Complexes) -> Floats:
    """Numbers that sizes are not above."""
    squares = values.real * values.real + values.imag * values.imag
    size: Floats = np.sqrt(squares) * (1 + 8 * UNIT) + TINY
    return size


def _or_inf(values: Floats) -> Floats:
    return np.where(np.isnan(values), np.inf, values)


def _grown(x: Floats) -> Floats:
    """The exponential of a real number of size up to 340, within 8u relatively."""
    whole = np.rint(x * (1 / _LOG[0]))
    r = (x - whole * _LOG[0]) - whole * _LOG[1]
    series = 1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r / 720)))))
    count = whole.astype(np.int64)
    grown: Floats = np.ldexp(_POWERS[count % PARTS] * series, (count // PARTS).astype(np.int32))
    return grown


def _turned(y: Floats) -> Complexes:
    """exp(iy) of a real number of size up to 2¹⁴, within 16u."""
    whole = np.rint(y * (1 / _ANGLE[0]))
    r = (y - whole * _ANGLE[0]) - whole * _ANGLE[1]
    square = r * r
    cosine = 1 - square * (1 / 2 - square * (1 / 24 - square * (1 / 720)))
    sine = r * (1 - square * (1 / 6 - square * (1 / 120 - square * (1 / 5040))))
    turned: Complexes = _TURNS[whole.astype(np.int64) % (4 * PARTS)] * (cosine + 1j * sine)
    return turned

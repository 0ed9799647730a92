"""The discrete Fourier transform with a proved bound of its rounding error.

A library's transform is faster, but what it computes is its own affair: a certificate needs to know every operation.
Here each of the log₂ n stages adds, subtracts and multiplies once, by twiddle factors of known accuracy.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from sfumato.errors import BadArgument
from sfumato.exact import precision
from sfumato.guarantee import guarantee

UNIT = 2.0**-53
"""The unit roundoff of double precision."""

STAGE = 9 * UNIT
"""What one stage of the transform adds to the relative error in the 2-norm (proofs/fourier.md#stage)."""

Complexes = NDArray[np.complex128]
Floats = NDArray[np.float64]


@lru_cache(maxsize=8)
def twiddles(size: int) -> Complexes:
    """exp(−2πi·j/size) for j below half the size, a power of two, each within 5 units of roundoff."""
    count = max(1, size // 2)
    fine = 1 << (count.bit_length() // 2)
    with precision(96):
        near = np.array([_root_of_unity(place, size) for place in range(min(fine, count))])
        far = np.array([_root_of_unity(place * fine, size) for place in range(max(1, count // fine))])
    table: Complexes = np.multiply.outer(far, near).reshape(-1)[:count]
    table.flags.writeable = False
    return table


def _root_of_unity(place: int, size: int) -> complex:
    sine, cosine = arb.sin_cos_pi_fmpq(fmpq(-2 * place, size))
    return complex(float(cosine), float(sine))


@guarantee(
    claim="the exact transform, within `transform_error` of it in the 2-norm",
    proof="proofs/fourier.md#transform",
    reviewed="aaa39e26dad8",
)
def transform(values: Complexes) -> Complexes:
    """The sums of values[j]·exp(−2πi·jk/n) for every k; n must be a power of two."""
    size = values.size
    if values.ndim != 1 or size < 1 or size & (size - 1):
        raise BadArgument("the number of values", "a power of two", values.shape)
    roots = twiddles(size)
    source, target = np.array(values, dtype=np.complex128), np.empty(size, dtype=np.complex128)
    blocks, width = size // 2, 1
    while blocks >= 1:
        pieces, joined = source.reshape(2, blocks, width), target.reshape(blocks, 2, width)
        np.add(pieces[0], pieces[1], out=joined[:, 0, :])
        np.subtract(pieces[0], pieces[1], out=joined[:, 1, :])
        joined[:, 1, :] *= roots[:: roots.size // blocks][:, np.newaxis]
        source, target = target, source
        blocks, width = blocks // 2, width * 2
    return source


def inverse(values: Complexes) -> Complexes:
    """The inverse transform; its error is that of `transform`, over the square root of the size."""
    back: Complexes = np.conjugate(transform(np.conjugate(values)))
    return back / values.size


@guarantee(
    claim="the exact transform up to half the size, the rest being its mirror image; all of it within "
    "`transform_error` and 4 units of roundoff in the 2-norm",
    proof="proofs/fourier.md#real",
    reviewed="96648f505dc0",
)
def real_transform(values: Floats) -> Complexes:
    """Sums values[j]·exp(−2πi·jk/n) of real values for k = 0 … n/2, by one transform of half the size."""
    whole = transform(values[0::2] + 1j * values[1::2])
    mirrored = np.conjugate(np.append(whole[:1], whole[:0:-1]))
    even, odd = (whole + mirrored) / 2, (whole - mirrored) / 2j
    odd[1:] *= twiddles(values.size)[1:]
    return np.append(even + odd, even[:1] - odd[:1])


@guarantee(
    claim="the exact inverse of a mirrored spectrum, within (`transform_error` and 4 units of roundoff) / sqrt(n)",
    proof="proofs/fourier.md#real",
    reviewed="16dd2fbbc100",
)
def real_inverse(spectrum: Complexes) -> Floats:
    """Inverts `real_transform`: finds the real values that have this spectrum."""
    half, mirrored = spectrum[:-1], np.conjugate(spectrum[:0:-1])
    odd = (half - mirrored) / 2
    odd[1:] *= np.conjugate(twiddles(2 * half.size)[1:])
    whole = inverse((half + mirrored) / 2 + 1j * odd)
    return np.stack([whole.real, whole.imag], axis=1).reshape(-1)


def transform_error(size: int) -> float:
    """The relative error of `transform` in the 2-norm, rounded up."""
    stages = max(1, size.bit_length() - 1)
    return math.expm1(stages * STAGE) * (1 + 2**-20)

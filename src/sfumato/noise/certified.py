"""Floating-point evaluation with a proven error.

Only correctly rounded IEEE operations (+, -, ×, floor, scaling by powers of two) are used, so the bound holds on every
machine; no mathematical library is trusted. Results pre-decide draws, only where the bound makes the outcome certain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.guarantee import guarantee

EXP_ERROR = 2.0**-45
"""Bounds the relative error of `exp_minus` (the proof gives 2^-48)."""

EXP_MOST = 700.0
"""The largest argument of `exp_minus`; beyond it results would lose digits near the end of the float range."""

_LOG2_INVERSE = float.fromhex("0x1.71547652b82fep+0")
_LOG2_HIGH = float.fromhex("0x1.62e42feep-1")  # ln 2 to 32 bits, so that k × high is exact
_LOG2_LOW = float.fromhex("0x1.a39ef35793c76p-33")  # ln 2 - high
_TERMS = 17


@guarantee(
    claim="|result - exp(-x)| <= 2^-45 exp(-x) for 0 <= x <= 700",
    proof="proofs/certified_floats.md#exp",
    reviewed="389e27aa682b",
)
def exp_minus(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Computes exp(-x) with a proven relative error, for 0 <= x <= 700."""
    halvings = np.floor(x * _LOG2_INVERSE)
    rest = (x - halvings * _LOG2_HIGH) - halvings * _LOG2_LOW
    value = np.ones_like(rest)
    for term in range(_TERMS, 0, -1):
        value = 1.0 - rest * value * (1.0 / term)
    scaled: NDArray[np.float64] = np.ldexp(value, -halvings.astype(np.int32))
    return scaled

"""Bands of doubling width around 0 that cover every number: which one a row falls into."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.core.domains import Array, Categories, Floats, Integers, column
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.transforms.rows import column_space
from sfumato.transforms.rowwise import rowwise

OFFSET = 1075
"""Band 1 begins at 2⁻¹⁰⁷⁴, the smallest float above 0: band b begins at 2^(b − 1075)."""

LAST = 2099
"""The band of what is beyond every finite float."""

BANDS = Categories(tuple(range(-LAST, LAST + 1)))
"""Every band: −2099 … 2099."""


@constructor
def log_bands() -> Partial[Transformation]:
    """Tells for every number which band of doubling width it falls into, by its exact binary exponent.

    Takes:      a column of floats or whole numbers without NaN (drop_nan or impute_nan first: that is the public rule
                for them), under any distance that counts rows
    Gives:      a column of labels: b > 0 for 2^(b − 1075) up to but not including 2^(b − 1074), −b for the negatives of
                these, 0 for 0 (and −0.0), ±2099 for infinities and whole numbers beyond all floats
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    Cost:       one pass

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> log_bands())([0.0, 5e-324, 0.75, 1.0, -10.0]).tolist()
    [0, 1, 1074, 1075, -1078]
    """

    def build(space: Space) -> Transformation:
        domain, _ = column_space(space, "log_bands")
        element = domain.element
        floats = isinstance(element, Floats) and not element.nan
        if not floats and not (isinstance(element, Integers) and element.step == 1):
            raise BadArgument(
                "what log_bands() works on",
                "floats without NaN (impute_nan or drop_nan first) or whole numbers",
                str(element),
            )
        target = replace(domain, element=BANDS)
        return rowwise(space, target, lambda data: band_labels(column(data, element)), "bands of doubling width")

    return Partial("log_bands()", build)


def band_labels(values: Array) -> Array:
    """Labels each float or whole number with its band; exact at every power of two, denormals included."""
    if values.dtype == object:
        return np.array([_whole_label(int(value)) for value in values], dtype=np.int64)
    if values.dtype.kind != "f":
        size = np.abs(values).view(np.uint64)  # the least 64-bit integer wraps to itself, which reads as 2⁶³ here
        # Where a bit is set the one below it goes: the leading bit stays, and no float is rounded up beyond it.
        return np.sign(values) * np.where(size > 0, np.frexp((size & ~(size >> 1)).astype(np.float64))[1] + 1074, 0)
    exponents = np.frexp(values)[1].astype(np.int64)
    inside = np.where(np.isinf(values), LAST, np.where(values == 0, 0, exponents + (OFFSET - 1)))
    return np.where(values < 0, -inside, inside)


def _whole_label(value: int) -> int:
    label = 0 if value == 0 else min(abs(value).bit_length() + OFFSET - 1, LAST)
    return -label if value < 0 else label

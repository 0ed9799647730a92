"""How far values are from a public centre: as distances, or as clamped differences that can be added up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sfumato.core.domains import Array, Bounds, Data, Floats, column
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Number, rational
from sfumato.transforms.rows import column_space
from sfumato.transforms.rowwise import rowwise

LARGEST = float(np.finfo(np.float64).max)


@constructor
def deviations(centre: float) -> Partial[Transformation]:
    """Measures how far every value is from a public centre; stops at the largest float.

    Takes:      a column of floats without NaN under any distance that counts rows
    Gives:      a column of floats of at least 0
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    Cost:       one pass, one copy

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> deviations(1000.0)).map(1)
    Fraction(1, 1)
    """
    return _recentred(centre, (0, LARGEST), np.abs, f"distance from {centre:.6g}")


@constructor
def clamped_deviations(centre: float, radius: float) -> Partial[Transformation]:
    """Takes a public centre from every value and clamps the difference to a public radius.

    Takes:      a column of floats without NaN under any distance that counts rows
    Gives:      a column of floats in [−radius, radius]
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    Cost:       one pass, one copy

    >>> from sfumato.core.space import vector
    >>> from sfumato.transforms.aggregate import sum
    >>> (vector(float) >> clamped_deviations(1000.0, 4.0) >> sum()).map(1)
    Fraction(4, 1)
    """
    return _recentred(centre, (-radius, radius), np.asarray, f"value minus {centre:.6g}, within {radius:.6g}")


def _recentred(
    centre: float, between: tuple[Number, Number], change: Callable[[Array], Array], name: str
) -> Partial[Transformation]:
    middle, bounds = float(rational(centre, "the centre")), Bounds.read(between)
    low, high = float(bounds.lower), float(bounds.upper)

    def build(space: Space) -> Transformation:
        domain, _ = column_space(space, "deviations")
        element = floats_of(space, "deviations")

        def move(data: Data) -> Array:
            with np.errstate(over="ignore"):
                return np.asarray(np.clip(change(column(data, element) - middle), low, high))

        return rowwise(space, replace(domain, element=Floats(bounds)), move, name)

    return Partial(f"deviations({centre:.6g})", build)


def floats_of(space: Space, verb: str) -> Floats:
    """The kind of value in a column of floats without NaN; refuses any other space in the name of the verb."""
    element = column_space(space, verb)[0].element
    if not isinstance(element, Floats) or element.nan:
        raise BadArgument(f"what {verb}() works on", "floats without NaN (impute_nan or drop_nan first)", str(element))
    return element

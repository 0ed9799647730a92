"""Row functions that change the kind or the scale of values; every one is total, whatever the value."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from sfumato.core.domains import (
    BOOLEANS,
    Array,
    Atom,
    Bounds,
    Categories,
    Data,
    Floats,
    Integers,
    column,
    float_bounds,
)
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, elements
from sfumato.exact import Number, integer, log_down, log_up, rational
from sfumato.transforms.rows import column_space
from sfumato.transforms.rowwise import rowwise

LARGEST = math.nextafter(math.inf, 0)


@constructor
def cast(kind: type, *, default: int = 0) -> Partial[Transformation]:
    """Reads every value as another kind of number: ``cast(int)`` or ``cast(float)``.

    Takes:      a column of floats, integers or truth values under any distance that counts rows
    Gives:      integers (floats lose their fraction, NaN and infinities become the default) or floats (integers beyond
                the largest float stop there)
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    Cost:       one pass, one copy

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> cast(int)).map(2)
    Fraction(2, 1)
    """
    if kind not in (int, float):
        raise BadArgument("the kind to cast to", "int or float", kind)
    filler = integer(default, "default")

    def build(space: Space) -> Transformation:
        domain, _ = column_space(space, "cast")
        element = domain.element
        result: Atom
        if kind is float and isinstance(element, Integers):
            result = Floats(element.between)
        elif kind is int and isinstance(element, Floats):
            result = Integers(_whole_bounds(element, filler))
        elif kind is int and element == BOOLEANS:
            result = Integers(Bounds(Fraction(0), Fraction(1)))
        else:
            raise BadArgument("what cast() works on", "floats, integers or truth values, of another kind", str(element))
        target = replace(domain, element=result)
        return rowwise(space, target, lambda data: _cast_values(data, element, filler), f"cast to {kind.__name__}")

    return Partial(f"cast({kind.__name__})", build)


def _whole_bounds(element: Floats, default: int) -> Bounds | None:
    if element.between is None:
        return None
    low, high = map(math.trunc, float_bounds(element.between))
    if element.nan:
        low, high = min(low, default), max(high, default)
    return Bounds(Fraction(low), Fraction(high))


def _cast_values(data: Data, element: Atom, default: int) -> Array:
    values = column(data, element)
    if isinstance(element, Integers):
        if values.dtype == object or element.step != 1:
            return np.array([_finite_float(int(value) * element.step) for value in values.tolist()], dtype=np.float64)
        return values.astype(np.float64)
    if not isinstance(element, Floats):
        return np.array([int(bool(value)) for value in values.tolist()], dtype=np.int64)
    finite = np.isfinite(values)
    replaced = np.where(finite, values, 0.0)
    if not len(replaced) or float(np.abs(replaced).max()) < 2.0**62 > abs(default):
        return np.where(finite, replaced.astype(np.int64), default)
    return column([int(value) if math.isfinite(value) else default for value in values.tolist()], Integers())


def _finite_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return LARGEST if value > 0 else -LARGEST


@constructor
def absolute() -> Partial[Transformation]:
    """Takes the absolute value of every number.

    Takes:      a column of floats or integers under any distance that counts rows
    Gives:      the same column; bounds, if any, become bounds on the absolute value
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    Cost:       one pass, one copy

    >>> from sfumato.core.space import vector
    >>> (vector(int) >> absolute()).map(1)
    Fraction(1, 1)
    """

    def build(space: Space) -> Transformation:
        domain, _ = column_space(space, "absolute")
        element = domain.element
        if not isinstance(element, Floats | Integers):
            raise BadArgument("what absolute() works on", "numbers", str(element))
        folded = replace(element, between=None if element.between is None else _absolute_bounds(element.between))

        def fold(data: Data) -> Array:
            values = column(data, element)
            if values.dtype == np.int64 and len(values) and int(values.min()) == np.iinfo(np.int64).min:
                values = values.astype(object)  # the absolute value of -2^63 does not fit
            return np.abs(values)

        return rowwise(space, replace(domain, element=folded), fold, "absolute value")

    return Partial("absolute()", build)


def _absolute_bounds(bounds: Bounds) -> Bounds:
    nearest = Fraction(0) if bounds.lower <= 0 <= bounds.upper else min(abs(bounds.lower), abs(bounds.upper))
    return Bounds(nearest, bounds.magnitude)


@constructor
def log() -> Partial[Transformation]:
    """Takes the natural logarithm of every number.

    Takes:      a column of floats within bounds above 0 (clamp first), under any distance that counts rows
    Gives:      a column of floats, within the logarithms of the bounds
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    Cost:       one Python call a row: vector instructions may round by the place of a value in the array, which would
                make the outcome of a row depend on other rows

    >>> from sfumato.core.space import vector
    >>> (vector(float, between=(1, 100)) >> log()).map(1)
    Fraction(1, 1)
    """

    def build(space: Space) -> Transformation:
        domain, _ = column_space(space, "log")
        element = domain.element
        if not isinstance(element, Floats) or element.nan or element.between is None or element.between.lower <= 0:
            raise BadArgument("what log() works on", "floats within bounds above 0: clamp them first", str(element))
        lower, upper = float_bounds(element.between)
        if lower == 0:
            raise BadArgument("the lower bound of log()", "at least the smallest float above 0", str(element))
        bounds = Bounds(Fraction(log_down(Fraction(lower))), Fraction(log_up(Fraction(upper))))

        def logarithms(data: Data) -> Array:
            logs = np.array([math.log(value) for value in column(data, element).tolist()], dtype=np.float64)
            return np.clip(logs, *float_bounds(bounds))

        return rowwise(space, replace(domain, element=Floats(bounds)), logarithms, "natural logarithm")

    return Partial("log()", build)


@constructor
def bin_by(edges: Sequence[Number]) -> Partial[Transformation]:
    """Tells for every number which of the bins between public edges it falls into.

    Takes:      a column of numbers without NaN, under any distance that counts rows; edges in rising order
    Gives:      a column of bin numbers: 0 is below the first edge, i is at or above the i-th edge and below the next
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    Cost:       one binary search a row

    >>> from sfumato.core.space import vector
    >>> str((vector(int) >> bin_by([0, 10, 20])).target.domain)
    'any number of {0, 1, 2, 3}'
    """
    with elements():
        cuts = [rational(edge, "an edge") for edge in edges]
    if not cuts or any(left >= right for left, right in pairwise(cuts)):
        raise BadArgument("edges", "at least one number, in rising order and without repeats", edges)

    def build(space: Space) -> Transformation:
        domain, _ = column_space(space, "bin_by")
        element = domain.element
        if not isinstance(element, Floats | Integers) or (isinstance(element, Floats) and element.nan):
            raise BadArgument(
                "what bin_by() works on", "numbers without NaN (impute_nan or drop_nan first)", str(element)
            )
        target = replace(domain, element=Categories(tuple(range(len(cuts) + 1))))
        places = _edges(element, cuts)
        return rowwise(space, target, lambda data: _bins(column(data, element), places), f"bins by {len(cuts)} edges")

    return Partial(f"bin_by({len(cuts)} edges)", build)


def _edges(element: Floats | Integers, cuts: list[Fraction]) -> Array:
    """Edges in the terms of the column: saturated floats, or whole numbers of its step."""
    if isinstance(element, Floats):
        return np.array([_finite_float(cut) for cut in cuts])
    return column([math.ceil(cut / element.step) for cut in cuts], element)


def _bins(values: Array, places: Array) -> Array:
    if object not in (values.dtype, places.dtype):
        return np.searchsorted(places, values, side="right")
    edges = places.tolist()
    return np.array([bisect_right(edges, int(value)) for value in values], dtype=np.int64)

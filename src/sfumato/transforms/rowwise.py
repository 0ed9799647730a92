"""Row-by-row transformations: each row is treated on its own, so neighbours stay as close as they were."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sfumato.core.domains import (
    Array,
    Atom,
    Bounds,
    Categories,
    Data,
    Floats,
    Frame,
    Integers,
    Matrix,
    Texts,
    Vector,
    column,
    float_bounds,
)
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Kind, Space, atom
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Distance, Number, rational
from sfumato.guarantee import guarantee
from sfumato.release.claim import Claim, required
from sfumato.transforms.rows import Rows, column_space, row_space, shown_of, values_of

PROOF = "proofs/rowwise.md#map"


@guarantee(claim="d_out = d_in", proof=PROOF, reviewed="6ff75798b799")
def rowwise_map(d_in: Distance) -> Distance:
    """The distance after a function of one row at a time."""
    return d_in


def rowwise(
    space: Space, domain: Rows, function: Callable[[Data], Data], name: str, *, claims: tuple[Claim, ...] = ()
) -> Transformation:
    """Builds a row-by-row transformation into a domain with as many rows.

    Takes:      rows under any distance that counts rows, and a function that treats each row alone
    Gives:      as many rows, under the same distance
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    """
    target = Space(domain, space.metric)
    return Transformation(space, target, lambda data, _: function(data), rowwise_map, (name,), (PROOF,), claims)


@constructor
def clamp(lower: Number, upper: Number) -> Partial[Transformation]:
    """Moves every value into [lower, upper].

    Takes:      a column or matrix of numbers under any distance that counts rows; NaN must be imputed or dropped before
    Gives:      the same rows, every value within the bounds
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    Cost:       one pass, one copy

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> clamp(0, 10)).map(3)
    Fraction(3, 1)
    """
    bounds = Bounds.read((lower, upper))

    def build(space: Space) -> Transformation:
        domain, _ = row_space(space, "clamp")
        if isinstance(domain, Frame):
            raise BadArgument("what clamp() works on", "one column; take it with select(name)", str(space))
        element = _clampable(domain.element, bounds)
        inside = Floats(bounds) if isinstance(element, Floats) else replace(element, between=bounds)
        target: Rows
        if isinstance(domain, Matrix):
            # A clamped row may leave a ball whose origin is outside the box, so a bound on the norm does not survive.
            target = replace(domain, element=inside, norm=None)
        else:
            target = replace(domain, element=inside)
        return rowwise(space, target, lambda data: clamp_values(data, domain, element, bounds), f"clamp to {bounds}")

    return Partial(f"clamp({lower}, {upper})", build)


def _clampable(element: Atom, bounds: Bounds) -> Floats | Integers:
    if not isinstance(element, Floats | Integers) or (isinstance(element, Floats) and element.nan):
        raise BadArgument("what clamp() works on", "numbers without NaN (impute_nan or drop_nan first)", str(element))
    if isinstance(element, Integers) and not holds_whole(bounds, element):
        raise BadArgument("bounds", f"wide enough to hold one of the {element}", str(bounds))
    return element


def holds_whole(bounds: Bounds, element: Integers) -> bool:
    """Tells whether any whole number of steps lies within bounds."""
    return math.ceil(bounds.lower / element.step) <= math.floor(bounds.upper / element.step)


def clamp_values(data: Data, domain: Rows, element: Floats | Integers, bounds: Bounds) -> Array:
    """Copies a column or matrix with every value moved to the nearest one within the bounds."""
    values = values_of(data, domain, None)
    if isinstance(element, Floats):
        return np.asarray(np.clip(values, *float_bounds(bounds)))
    low, high = math.ceil(bounds.lower / element.step), math.floor(bounds.upper / element.step)
    ends = np.iinfo(np.int64)
    if values.dtype == object or low > ends.max or high < ends.min:
        return np.asarray(np.clip(values.astype(object), low, high))
    return np.asarray(np.clip(values, max(low, ends.min), min(high, ends.max)))


@constructor
def impute_nan(constant: Number) -> Partial[Transformation]:
    """Replaces every NaN by a constant.

    Takes:      a column of floats under any distance that counts rows, and a finite constant (within bounds, if any)
    Gives:      the same column without NaN
    Guarantee:  d_out = d_in  (proofs/rowwise.md#map)
    Cost:       one pass, one copy

    >>> from sfumato.core.domains import Floats
    >>> from sfumato.core.space import vector
    >>> (vector(Floats(nan=True)) >> impute_nan(0)).map(1)
    Fraction(1, 1)
    """
    filler = rational(constant, "the constant for NaN")

    def build(space: Space) -> Transformation:
        domain, _ = column_space(space, "impute_nan")
        element = domain.element
        if not isinstance(element, Floats):
            raise BadArgument("what impute_nan() works on", "a column of floats", str(element))
        filled = replace(element, nan=False)
        value = _float(filler)
        if not filled.member(value):
            raise BadArgument("the constant for NaN", f"one of the {filled}", constant)

        def fill(data: Data) -> Array:
            values = column(data, element)
            return np.where(np.isnan(values), value, values)

        return rowwise(space, replace(domain, element=filled), fill, f"NaN becomes {value:.6g}")

    return Partial(f"impute_nan({constant})", build)


def _float(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


@constructor
def map_rows(
    function: Callable[[Data], Data],
    kind: Kind,
    *,
    default: Data,
    between: tuple[Number, Number] | None = None,
    claim: Claim | None = None,
) -> Partial[Transformation]:
    """Applies a function of your own to each row, one row at a time.

    Takes:      a column (the function gets a value) or a frame (it gets a mapping from names to values)
    Gives:      a column of the stated kind; a row where the function fails, or leaves that kind, gets the default
    Guarantee:  d_out = d_in, if the claim holds: the function depends on its row and on nothing else, keeps no state
                and was not made from the data  (proofs/rowwise.md#map)
    Cost:       one Python call a row

    >>> from sfumato.release.claim import claim
    >>> from sfumato.core.space import vector
    >>> pure = claim("len is a pure function")
    >>> (vector(str) >> map_rows(len, int, default=0, between=(0, 280), claim=pure)).map(2)
    Fraction(2, 1)
    """
    vouched = required(claim, "that a function of your own depends on one row at a time")
    if not callable(function):
        raise BadArgument("the function", "callable", function)
    element = atom(kind, between=between)
    if not element.member(default):
        raise BadArgument("default", f"one of the {element}", default)

    def build(space: Space) -> Transformation:
        domain, _ = row_space(space, "map_rows")
        target = Vector(element, domain.size, domain.least)

        def run(data: Data) -> Array:
            return collect([_total(function, row, element, default) for row in each_row(data, domain)], element)

        return rowwise(space, target, run, "a function of each row", claims=(vouched,))

    return Partial("map_rows(…)", build)


def each_row(data: Data, domain: Rows) -> list[Data]:
    """Lists the rows of a member as Python values, or as mappings from names to them."""
    if isinstance(domain, Frame):
        names = [name for name, _ in domain.columns]
        columns = [one_nan(shown_of(data, domain, name)).tolist() for name in names]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    return list(one_nan(shown_of(data, domain, None)).tolist())


def one_nan(values: Array) -> Array:
    """Rewrites every NaN of a column to the same bits.

    Distances take all NaN for one value, so no function of a row may tell them apart by sign or payload.
    """

    return np.where(np.isnan(values), np.nan, values) if values.dtype.kind == "f" else values


def _total(function: Callable[[Data], Data], row: Data, element: Atom, default: Data) -> Data:
    # Whether a function of one row fails depends on private values, so failing must look like any other outcome.
    try:
        outcome = function(row)
        return outcome if element.member(outcome) else default
    except Exception:
        return default


def collect(values: list[Data], element: Atom) -> Array:
    """Puts members of an atom domain into a column in normal form."""
    if isinstance(element, Floats):
        return np.array(values, dtype=np.float64)
    if isinstance(element, Categories | Texts):
        entries = np.empty(len(values), dtype=object)
        entries[:] = values
        return entries
    return column([int(value) if isinstance(element, Integers) else value for value in values], element)

"""Sample and aggregate: a function of your own on many random parts, of which one unit can move few."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from sfumato.core.domains import Array, Atom, Data, Floats, Integers, Vector, column, float_bounds
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.core.metrics import ChangeOne
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Kind, Space, atom
from sfumato.core.steps import to_values
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Distance, Number
from sfumato.guarantee import guarantee
from sfumato.release.claim import Claim, required
from sfumato.transforms.keyed import part_space
from sfumato.transforms.parts import random_parts
from sfumato.transforms.rows import Rows, by_element, count_rows
from sfumato.transforms.rowwise import collect, one_nan

Function = Callable[[Data], Data]


@guarantee(
    claim="values of a function of each part alone: as many are exchanged as parts differ",
    proof="proofs/sample_and_aggregate.md#map",
    reviewed="c226939806cd",
)
def aggregate_map(spread: GroupedDistance) -> Distance:
    """The most aggregates that can differ: one for each part that does."""
    return math.inf if spread.parts == math.inf else Fraction(spread.parts)


@constructor
def sample_and_aggregate(
    function: Function,
    kind: Kind = float,
    *,
    parts: int = 50,
    default: Data,
    between: tuple[Number, Number] | None = None,
    by: str | None = None,
    units: int = 1,
    claim: Claim | None = None,
) -> Partial[Transformation]:
    """Applies a function of your own to each of many random parts: one aggregate, as a row, for each.

    Any estimate that is good on a part can be released so, however it is computed, by ``>> mean()``, ``>> median(…)``
    or a vote. It suits what a part tells nearly as well as the whole; not a minimum or a maximum.

    Takes:      rows under any distance that counts rows, in parts as `random_parts` makes them (by row, or ``by`` a
                column that identifies units). The function gets the rows of one part, in random order: an array, or a
                mapping from names to arrays
    Gives:      one value of the stated kind for each part, under the change-one distance; numbers are moved into the
                bounds, and a part that is empty, or where the function fails or leaves the kind, gets the default
    Guarantee:  d_out = d_in, exchanged rows from a public size, or with identifiers the units, whatever d_in; if the
                claim holds: the function depends on its part and on nothing else, keeps no state and was not made from
                the data. How long it takes is not hidden  (proofs/sample_and_aggregate.md#map)
    Cost:       one shuffle and one sort of the rows, one call a part

    >>> import numpy as np
    >>> from sfumato.release.claim import claim
    >>> from sfumato.core.space import vector
    >>> from sfumato.transforms.aggregate import mean
    >>> alone = claim("np.median is a function of its argument")
    >>> middle = sample_and_aggregate(np.median, parts=50, between=(0, 10), default=5, claim=alone)
    >>> (vector(float) >> middle >> mean()).map(1), (vector(float) >> middle >> mean()).map(3)
    (Fraction(1, 5), Fraction(3, 5))
    """
    vouched = required(claim, "that a function of your own depends on one part at a time")
    if not callable(function):
        raise BadArgument("the function", "callable", function)
    element = atom(kind, between=between)
    if not element.member(default):
        raise BadArgument("default", f"one of the {element}", default)
    split = random_parts(parts, by=by, units=units, claim=vouched)

    def build(space: Space) -> Transformation:
        return space >> split >> aggregates(function, element, default=default, claims=() if by else (vouched,))

    return Partial(f"sample_and_aggregate(…, parts={parts})", build)


@constructor
def aggregates(
    function: Function, element: Atom, *, default: Data, claims: tuple[Claim, ...]
) -> Partial[Transformation]:
    """Applies a function to each part of data in parts: one row for each."""

    def build(space: Space) -> Transformation:
        domain, _ = part_space(space, "sample_and_aggregate")

        def run(data: Data) -> Array:
            pairs = zip(data, domain.rows, strict=True)
            return collect([value_or_default(function, part, rows, element, default) for part, rows in pairs], element)

        return Transformation(
            space,
            Space(Vector(element, len(domain.keys)), ChangeOne()),
            lambda data, _: run(data),
            aggregate_map,
            ("a function of each part",),
            ("proofs/sample_and_aggregate.md#map",),
            claims,
        )

    return Partial("a function of each part", build)


@guarantee(
    claim="a member of the element, for every part; it depends on the rows of the part, in their order, and on "
    "nothing else",
    proof="proofs/sample_and_aggregate.md#total",
    reviewed="8f19b32d1705",
)
def value_or_default(function: Function, part: Data, domain: Rows, element: Atom, default: Data) -> Data:
    """Evaluates a function on one part, with the default wherever it has no value."""
    # Whether the function fails depends on private rows, so failing must look like any other outcome.
    if not count_rows(part, domain):
        return default
    try:
        value = clamp_to_kind(function(to_values(domain, by_element(part, domain, own_array))), element)
        return value if element.member(value) else default
    except (Exception, SystemExit):
        return default


def clamp_to_kind(value: Data, element: Atom) -> Data:
    """Moves a number to the nearest one within the bounds of its kind; leaves anything else as it is."""
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        return value
    if isinstance(element, Floats) and element.between is not None:
        low, high = float_bounds(element.between)
        return float(min(max(value, low), high))
    if isinstance(element, Integers) and element.between is not None and isinstance(value, int):
        least, most = element.between.lower / element.step, element.between.upper / element.step
        return min(max(value, math.ceil(least)), math.floor(most))
    return value


def own_array(values: Array, element: Atom) -> Array:
    """Copies the values of one part into an array with a type that depends on no other row and no other part."""
    if isinstance(element, Floats):
        return np.array(one_nan(values), dtype=np.float64)
    if isinstance(element, Integers):
        return column(values.tolist(), element)
    return collect(values.tolist(), element)

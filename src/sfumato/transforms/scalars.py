"""Arithmetic on exact numbers and vectors, between an aggregate and its noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sfumato.core.domains import Bounds, Data, Floats, Integers, Vector
from sfumato.core.metrics import Absolute, VectorMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, UnboundedColumn
from sfumato.exact import Distance, Number, common_step, nearest_whole, non_negative, positive, rational
from sfumato.guarantee import guarantee
from sfumato.release.claim import Claim, required
from sfumato.transforms.distances import ceil_to, times
from sfumato.transforms.rowwise import collect


@guarantee(claim="d_out = |c| d_in", proof="proofs/scalars.md#scale", reviewed="c14ea11cbcbc")
def scale_map(d_in: Distance, *, factor: Fraction) -> Distance:
    """The distance after multiplying by a constant."""
    return times(d_in, abs(factor))


@constructor
def scale_by(factor: Number) -> Partial[Transformation]:
    """Multiplies an exact number, or every entry of an exact vector, by a constant.

    Takes:      integers or exact aggregates, under the absolute distance or any distance between vectors
    Gives:      the product, exact: the step is multiplied, not the stored whole number
    Guarantee:  d_out = |factor| d_in  (proofs/scalars.md#scale)
    Cost:       none

    >>> from sfumato.core.space import scalar
    >>> (scalar(int) >> scale_by(2)).map(3)
    Fraction(6, 1)
    """
    constant = rational(factor, "the factor")
    sign = (constant > 0) - (constant < 0)

    def build(space: Space) -> Transformation:
        element = exact_element(space, "scale_by")
        ends = None if element.between is None else (constant * element.between.lower, constant * element.between.upper)
        scaled = Integers(None if ends is None else Bounds(min(ends), max(ends)), element.step * (abs(constant) or 1))
        return Transformation(
            space,
            Space(_with_element(space, scaled), space.metric),
            lambda data, _: each_number(data, space, lambda whole: sign * whole),
            lambda d_in: scale_map(d_in, factor=constant),
            (f"times {factor}",),
            ("proofs/scalars.md#scale",),
        )

    return Partial(f"scale_by({factor})", build)


@guarantee(claim="d_out = d_in", proof="proofs/scalars.md#shift", reviewed="197a4f4f9b28")
def shift_map(d_in: Distance) -> Distance:
    """The distance after adding a constant."""
    return d_in


@constructor
def shift_by(constant: Number) -> Partial[Transformation]:
    """Adds a constant to an exact number, or to every entry of an exact vector.

    Takes:      integers or exact aggregates, under the absolute distance or any distance between vectors
    Gives:      the sum, exact: the step becomes finer where the constant needs it
    Guarantee:  d_out = d_in  (proofs/scalars.md#shift)
    Cost:       none

    >>> from sfumato.core.space import scalar
    >>> str((scalar(int) >> shift_by("0.25")).target.domain)
    'multiples of 1/4'
    """
    added = rational(constant, "the constant")

    def build(space: Space) -> Transformation:
        element = exact_element(space, "shift_by")
        step = common_step(element.step, added)
        finer, whole_shift = int(element.step / step), int(added / step)
        inside = element.between
        shifted = Integers(None if inside is None else Bounds(inside.lower + added, inside.upper + added), step)
        return Transformation(
            space,
            Space(_with_element(space, shifted), space.metric),
            lambda data, _: each_number(data, space, lambda whole: whole * finer + whole_shift),
            shift_map,
            (f"plus {constant}",),
            ("proofs/scalars.md#shift",),
        )

    return Partial(f"shift_by({constant})", build)


@guarantee(claim="on [L, U], d_out = 2 max(|L|, |U|) d_in", proof="proofs/scalars.md#square", reviewed="5ef1a2ace988")
def square_map(d_in: Distance, *, bounds: Bounds) -> Distance:
    """The distance after squaring a number within bounds."""
    return times(d_in, 2 * bounds.magnitude)


@constructor
def square() -> Partial[Transformation]:
    """Squares an exact number within bounds.

    Takes:      an integer or exact aggregate with bounds, under the absolute distance
    Gives:      its square, exact
    Guarantee:  d_out = 2 max(|L|, |U|) d_in  (proofs/scalars.md#square)
    Cost:       none

    >>> from sfumato.core.space import scalar
    >>> (scalar(int, between=(-3, 5)) >> square()).map(1)
    Fraction(10, 1)
    """

    def build(space: Space) -> Transformation:
        element = _exact_number(space, "square")
        bounds = element.between
        if bounds is None:
            raise UnboundedColumn("square")
        squared = Integers(Bounds(Fraction(0), bounds.magnitude**2), element.step**2)
        return Transformation(
            space,
            Space(squared, Absolute()),
            lambda data, _: int(data) ** 2,
            lambda d_in: square_map(d_in, bounds=bounds),
            ("square",),
            ("proofs/scalars.md#square",),
        )

    return Partial("square()", build)


@guarantee(
    claim="d_out = c d_in rounded up to a step, for a c-Lipschitz function rounded to a grid",
    proof="proofs/scalars.md#lipschitz",
    reviewed="fa79e820815b",
)
def lipschitz_map(d_in: Distance, *, constant: Fraction, step: Fraction) -> Distance:
    """The distance after a Lipschitz function, with its values put on a grid."""
    return ceil_to(times(d_in, constant), step)


@constructor
def lipschitz(
    function: Callable[[Fraction], Number], constant: Number, *, step: Number, claim: Claim | None = None
) -> Partial[Transformation]:
    """Applies a function of your own to an exact number, and puts the outcome on a grid.

    Takes:      an integer or exact aggregate under the absolute distance; the function gets it as a Fraction
    Gives:      the multiple of the step nearest to the function's value
    Guarantee:  d_out = constant d_in rounded up to a step, if the claim holds: the function never fails and
                |f(x) - f(y)| <= constant |x - y| on the whole domain  (proofs/scalars.md#lipschitz)
    Cost:       one call

    >>> from sfumato.release.claim import claim
    >>> from sfumato.core.space import scalar
    >>> (scalar(int) >> lipschitz(abs, 1, step=1, claim=claim("abs is 1-Lipschitz"))).map(3)
    Fraction(3, 1)
    """
    vouched = required(claim, "the Lipschitz constant of a function of your own")
    bound, grain = non_negative(constant, "the Lipschitz constant"), positive(step, "step")

    def build(space: Space) -> Transformation:
        element = _exact_number(space, "lipschitz")
        return Transformation(
            space,
            Space(Integers(None, grain), Absolute()),
            lambda data, _: nearest_whole(_value(function, int(data) * element.step) / grain),
            lambda d_in: lipschitz_map(d_in, constant=bound, step=grain),
            (f"a function with Lipschitz constant {constant}",),
            ("proofs/scalars.md#lipschitz",),
            (vouched,),
        )

    return Partial(f"lipschitz(…, {constant})", build)


def _value(function: Callable[[Fraction], Number], number: Fraction) -> Fraction:
    # The claim says that the function never fails; should it, an error would reveal more than a wrong value. A float
    # counts as it is: read as a decimal it would move by up to half a unit in its last place, past the constant.
    try:
        value = function(number)
        return Fraction(value) if isinstance(value, float) else rational(value)
    except Exception:
        return Fraction(0)


@constructor
def round_to(step: Number) -> Partial[Transformation]:
    """Puts a number on a grid: the nearest whole number of steps, halves up.

    Takes:      a finite float, an integer or an exact aggregate, under the absolute distance
    Gives:      the nearest multiple of the step
    Guarantee:  d_out = d_in rounded up to a step  (proofs/grids.md#rounded)
    Cost:       none

    >>> from sfumato.core.space import scalar
    >>> (scalar(float) >> round_to("0.5")).map("0.7")
    Fraction(1, 1)
    """
    grain = positive(step, "step")

    def build(space: Space) -> Transformation:
        if not isinstance(space.domain, Floats | Integers) or not isinstance(space.metric, Absolute):
            raise BadArgument("what round_to() works on", "a number under the absolute distance", str(space))
        unit = space.domain.step if isinstance(space.domain, Integers) else Fraction(1)
        return Transformation(
            space,
            Space(Integers(None, grain), Absolute()),
            lambda data, _: nearest_whole(_exactly(data) * unit / grain),
            lambda d_in: ceil_to(d_in, grain),
            (f"round to multiples of {step}",),
            ("proofs/grids.md#rounded",),
        )

    return Partial(f"round_to({step})", build)


def _exactly(value: Data) -> Fraction:
    return Fraction(int(value)) if isinstance(value, int | np.integer) else Fraction(float(value))


def exact_element(space: Space, verb: str) -> Integers:
    """The element of a space of exact numbers or vectors; refuses any other space in the name of the verb."""
    match space:
        case Space(domain=Integers() as element, metric=Absolute()):
            return element
        case Space(domain=Vector(element=Integers() as element), metric=VectorMetric()):
            return element
    raise BadArgument(
        f"what {verb}() works on",
        "an exact number or vector: an aggregate, an integer, or round_to(step) first",
        str(space),
    )


def _exact_number(space: Space, verb: str) -> Integers:
    element = exact_element(space, verb)
    if isinstance(space.domain, Vector):
        raise BadArgument(f"what {verb}() works on", "a single number", str(space))
    return element


def _with_element(space: Space, element: Integers) -> Integers | Vector:
    return replace(space.domain, element=element) if isinstance(space.domain, Vector) else element


def each_number(data: Data, space: Space, function: Callable[[int], int]) -> Data:
    """Applies a function to a stored whole number, or to every entry of a vector of them."""
    if isinstance(space.domain, Vector):
        return collect([function(int(entry)) for entry in data], Integers())
    return function(int(data))

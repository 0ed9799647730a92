"""Numbers on a grid, as people write them and as they are held: the door between values and whole numbers of steps.

Inside, every exact number is a whole number of the steps of its domain. Whoever calls a transformation gives and gets
values in the unit of the data: floats where they are exact, else fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

import numpy as np

from sfumato.core.domains import Array, Data, Domain, Frame, Integers, Matrix, Stream, Vector
from sfumato.core.parts import Parts
from sfumato.core.queryable import Queryable
from sfumato.errors import NotInDomain
from sfumato.exact import power_of_two


def step_of(domain: Domain) -> Fraction:
    """What one stored whole number stands for in a domain of exact numbers; 1 elsewhere.

    >>> step_of(Vector(Integers(step=Fraction(1, 4)))), step_of(Frame((("age", Integers()),)))
    (Fraction(1, 4), Fraction(1, 1))
    """
    match domain:
        case Integers():
            return domain.step
        case Vector() | Matrix() | Stream():
            return step_of(domain.element)
        case _:
            return Fraction(1)


def to_values(domain: Domain, member: Data) -> Data:
    """Writes a member of a domain in the unit of the data, exactly.

    >>> to_values(Integers(step=Fraction(1, 4)), 3), to_values(Integers(step=Fraction(1, 3)), 2)
    (0.75, Fraction(2, 3))
    """
    match domain:
        case Frame():
            return {name: to_values(Vector(element), member[name]) for name, element in domain.columns}
        case Parts():
            return tuple(to_values(rows, part) for rows, part in zip(domain.rows, member, strict=True))
        case _ if step_of(domain) == 1:
            return member
        case Stream(element=element):
            if isinstance(member, Queryable):
                return member.then(lambda entry: to_values(element, entry))
            return (to_values(element, entry) for entry in member)
        case Integers():
            return _value(int(member), domain.step)
        case _:
            return _values(np.asarray(member), step_of(domain))


def _value(whole: int, step: Fraction) -> float | Fraction:
    value = whole * step
    try:
        nearest = float(value)
    except OverflowError:
        return value
    return nearest if Fraction(nearest) == value else value


def _values(wholes: Array, step: Fraction) -> Array:
    few = wholes.dtype != object and (not wholes.size or int(np.abs(wholes).max()) < 2**53)
    if few and power_of_two(step) == step and Fraction(1, 1 << 1000) < step < 1 << 900:
        return np.asarray(wholes * float(step))
    exact = [_value(int(whole), step) for whole in wholes.reshape(-1)]
    # Each number by itself is a float or a fraction: a function of one row must not learn of others by its kind.
    every = all(isinstance(value, float) for value in exact)
    values = np.empty(len(exact), dtype=np.float64 if every else object)
    values[:] = exact
    return values.reshape(wholes.shape)


def to_steps(domain: Domain, value: Data) -> Data:
    """Reads what `to_values` writes: floats and fractions are values, whole numbers are steps already.

    >>> to_steps(Integers(step=Fraction(1, 4)), 0.75), to_steps(Integers(step=Fraction(1, 4)), 3)
    (3, 3)
    """
    if isinstance(domain, Frame) and isinstance(value, Mapping):
        on_grids = [(name, element) for name, element in domain.columns if step_of(element) != 1 and name in value]
        return {**value, **{name: to_steps(Vector(element), value[name]) for name, element in on_grids}}
    step = step_of(domain)
    if step == 1:
        return value
    if isinstance(domain, Stream):
        element = domain.element
        if callable(value):
            return lambda query=None: to_steps(element, value(query))
        return value if not hasattr(value, "__iter__") else (to_steps(element, entry) for entry in value)
    if isinstance(value, float | Fraction):
        return _whole(value, domain)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        return value
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        return value
    entries = np.asarray(value, dtype=object)
    if not any(isinstance(entry, float | Fraction) for entry in entries.reshape(-1)):
        return value
    wholes = [_whole(entry, domain) if isinstance(entry, float | Fraction) else entry for entry in entries.reshape(-1)]
    short = all(type(whole) is int and abs(whole) < 2**63 for whole in wholes)
    return np.array(wholes, dtype=np.int64 if short else object).reshape(entries.shape)


def _whole(value: float | Fraction, domain: Domain) -> int:
    try:
        steps = Fraction(value) / step_of(domain)
    except (OverflowError, ValueError):
        raise NotInDomain(domain) from None
    if steps.denominator != 1:
        raise NotInDomain(domain)
    return int(steps)

"""Collections of rows: what columns, matrices and frames have in common, for the transformations of this folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from sfumato.core.domains import Array, Atom, Data, Frame, Integers, Matrix, Vector, column
from sfumato.core.identifiers import Identifiers
from sfumato.core.metrics import AddRemove, ChangeOne, DatasetMetric, Hamming, Windows
from sfumato.core.space import Space
from sfumato.core.steps import to_values
from sfumato.errors import BadArgument

Rows: TypeAlias = Vector | Matrix | Frame
"""A domain of collections of rows."""

COUNTING = (AddRemove, ChangeOne, Hamming, Windows)
"""The distances that the maps of this folder are proved for; a new one must be added to the proofs first."""


def row_space(space: Space, verb: str) -> tuple[Rows, DatasetMetric]:
    """Domain and metric of a space of rows; refuses any other space in the name of the verb."""
    domain, metric = space.domain, space.metric
    if not isinstance(domain, Vector | Matrix | Frame) or not isinstance(metric, COUNTING):
        owned = "; put truncate(…) before it" if isinstance(metric, Identifiers) else ""
        raise BadArgument(
            f"what {verb}() works on", f"rows of data under a distance that counts rows{owned}", str(space)
        )
    return domain, metric


def column_space(space: Space, verb: str) -> tuple[Vector, DatasetMetric]:
    """Domain and metric of a space of columns; refuses any other space in the name of the verb."""
    domain, metric = row_space(space, verb)
    if not isinstance(domain, Vector):
        hint = "; take one column of a frame with select(name)" if isinstance(domain, Frame) else ""
        raise BadArgument(f"what {verb}() works on", f"one column of values{hint}", str(space))
    return domain, metric


def unsized(domain: Rows) -> Space:
    """The space of the same rows in any number: a public size is lost, so neighbours add and remove."""
    return Space(replace(domain, size=None, least=0), AddRemove())


def atom_of(domain: Rows, name: str | None, verb: str) -> Atom:
    """The kind of value in a column: by name in a frame, without one in a single column."""
    match domain:
        case Frame() if name is not None:
            return domain[name]
        case Vector() if name is None:
            return domain.element
        case Frame():
            raise BadArgument("column", f"named, since {verb}() asks about a frame here", name)
        case Vector():
            raise BadArgument("column", f"left out, since {verb}() asks about a single column here", name)
        case _:
            raise BadArgument(f"what {verb}() asks about", "a column, or a named column of a frame", str(domain))


def values_of(data: Data, domain: Rows, name: str | None) -> Array:
    """One column of a member in normal form (a float64, int64 or object array); all columns of a matrix."""
    if isinstance(domain, Frame) and name is not None:
        return column(data[name], domain[name])
    if isinstance(domain, Matrix):
        return as_rows(data, domain)
    if isinstance(domain, Vector):
        return column(data, domain.element)
    raise BadArgument("column", "named, since this is a frame", name)


def shown_of(data: Data, domain: Rows, name: str | None) -> Array:
    """One column of a member as people write its values, for their own keys and functions."""
    element = domain[name] if isinstance(domain, Frame) and name is not None else getattr(domain, "element", None)
    values = values_of(data, domain, name)
    return values if element is None else np.asarray(to_values(Vector(element), values))


def count_rows(data: Data, domain: Rows) -> int:
    """The number of rows of a column, a matrix or a frame."""
    return len(data[domain.columns[0][0]]) if isinstance(domain, Frame) else len(data)


def each_column(data: Data, domain: Rows, function: Callable[[Array], Array]) -> Data:
    """Applies a function that picks, repeats or adds rows to every column of a member alike."""
    if isinstance(domain, Frame):
        return {name: function(column(data[name], element)) for name, element in domain.columns}
    return function(values_of(data, domain, None))


def as_rows(data: Data, domain: Matrix) -> Array:
    """A matrix as a two-dimensional array in normal form: float64, int64 or Python integers."""
    rows = np.asarray(data)
    return column(rows.reshape(-1), domain.element).reshape(rows.shape)


def by_element(part: Data, domain: Rows, function: Callable[[Array, Atom], Array]) -> Data:
    """Applies a function of values and their kind to every column of rows in normal form."""
    if isinstance(domain, Frame):
        return {name: function(part[name], element) for name, element in domain.columns}
    if isinstance(domain, Matrix):
        return function(part.reshape(-1), domain.element).reshape(part.shape)
    return function(part, domain.element)


def own_type(part: Data, domain: Rows) -> Data:
    """Narrows arrays of some rows to a type that depends on these rows alone, not on those that were left out."""
    return by_element(part, domain, _narrow)


def select_rows(data: Data, domain: Rows, rows: Array) -> Data:
    """Selects rows of a member by a mask or by their places, in arrays with a type that depends on these rows alone."""
    return own_type(each_column(data, domain, lambda values: values[rows]), domain)


def _narrow(values: Array, element: Atom) -> Array:
    # A column with one number beyond 64 bits is one of Python integers throughout.
    return column(values.tolist(), element) if isinstance(element, Integers) and values.dtype == object else values

"""Which identifier owns each row: numbers for identifiers, an order of rows by values alone, the first of each."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from sfumato.core.domains import Array, Atom, Categories, Data, Floats, Frame, Integers, Texts
from sfumato.core.identifiers import Identifiers
from sfumato.core.rows import canonical
from sfumato.core.space import Space
from sfumato.errors import BadArgument
from sfumato.exact import Distance
from sfumato.guarantee import guarantee
from sfumato.transforms.rows import values_of

Places = NDArray[np.int64]
Marks = NDArray[np.bool_]


def owned_space(space: Space, verb: str) -> tuple[Frame, Identifiers]:
    """Domain and metric of frames with an identifier in every row; refuses other spaces in the name of the verb."""
    domain, metric = space.domain, space.metric
    if not isinstance(domain, Frame) or not isinstance(metric, Identifiers):
        raise BadArgument(f"what {verb}() works on", "a frame under the distance Identifiers(column)", str(space))
    element = domain[metric.column]
    sure = isinstance(element, Integers | Texts) or (isinstance(element, Categories) and None not in element.values)
    if not sure:
        raise BadArgument(
            f"the column {metric.column!r} of identifiers",
            "whole numbers, texts, or categories without None, so that every row is somebody's",
            str(element),
        )
    return domain, metric


@guarantee(
    claim="what acts on the rows of each identifier alone, and keeps whose they are: d_out = d_in",
    proof="proofs/identifiers.md#aligned",
    reviewed="1ca51aa63f61",
)
def aligned_map(d_in: Distance) -> Distance:
    """The distance in identifiers after a function of each identifier's rows that keeps the identifier."""
    return d_in


@guarantee(
    claim="two rows have one number exactly where the distance takes their identifiers for the same",
    proof="proofs/identifiers.md#alone",
    reviewed="9263f922103d",
)
def holders(values: Array) -> tuple[Places, int]:
    """Numbers the identifiers of a column: the number of each row, and how many there are."""
    if values.dtype == np.int64:
        distinct, numbers = np.unique(values, return_inverse=True)
        return numbers.reshape(-1).astype(np.int64), len(distinct)
    keys = [canonical(value) for value in values.tolist()]
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    return np.fromiter(map(places.__getitem__, keys), dtype=np.int64, count=len(keys)), len(places)


@guarantee(
    claim="at most that many rows of each unit, chosen by looking at that unit alone",
    proof="proofs/register.md#rows",
    reviewed="97a1ed4e49ff",
)
def first_rows(unit: NDArray[np.intp], rows: int) -> NDArray[np.bool_]:
    """Marks the first ``rows`` rows of each unit."""
    order = np.argsort(unit, kind="stable")
    ordered = unit[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(unit) else np.zeros(0, dtype=np.intp)
    place = np.arange(len(unit)) - np.repeat(starts, np.diff(np.r_[starts, len(unit)]))
    marks = np.zeros(len(unit), dtype=np.bool_)
    marks[order] = place < rows
    return marks


def first_in(order: Places, unit: Places, rows: int) -> Marks:
    """Marks the first ``rows`` rows of each unit in an order of all rows."""
    marks = np.zeros(len(unit), dtype=np.bool_)
    marks[order] = first_rows(unit[order], rows)
    return marks


@guarantee(
    claim="an order of all possible values that only values which the distance takes for the same share a rank of; "
    "NaN comes last in both directions",
    proof="proofs/identifiers.md#order",
    reviewed="63961cf1bb60",
)
def ranks(values: Array, element: Atom, *, latest: bool = False) -> Places:
    """Ranks each value of a column among those that are there: the least first, or the greatest first."""
    missing = np.zeros(len(values), dtype=np.bool_)
    if isinstance(element, Floats):
        missing = np.isnan(values)
        bits = np.where(missing, np.inf, values).view(np.int64)
        values = np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)
    if values.dtype == np.int64:
        places = np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)
    else:
        keys = _sortable(values, element)
        place_of = {key: place for place, key in enumerate(sorted(set(keys)))}
        places = np.fromiter(map(place_of.__getitem__, keys), dtype=np.int64, count=len(keys))
    places = -places if latest else places
    places[missing] = len(values)
    return places


def _sortable(values: Array, element: Atom) -> list[tuple[Data, Hashable]]:
    listed = values.tolist()
    if isinstance(element, Categories):
        places = {value: place for place, value in enumerate(element.values)}
        return [(places[value], canonical(value)) for value in listed]
    return [(value, canonical(value)) for value in listed]


def by_values(data: Data, domain: Frame, by: str, *, latest: bool) -> Places:
    """Places of the rows in the order of one column; where that is equal, of all columns in turn."""
    others = [ranks(values_of(data, domain, name), element) for name, element in reversed(domain.columns)]
    return np.lexsort((*others, ranks(values_of(data, domain, by), domain[by], latest=latest)))

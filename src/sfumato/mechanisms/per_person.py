"""Answers given entry by entry: which spaces allow it, and how many entries may differ between neighbours.

An entry is one person's value in a column, one bit in a person's vector, or the whole of a single value. Each entry
gets noise of its own, so a loss is what one entry costs times the number of entries that may differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from sfumato.core.domains import Atom, Categories, Domain, Integers, Vector
from sfumato.core.metrics import L1, Absolute, AddRemove, ChangeOne, DatasetMetric, Discrete, Hamming, Metric
from sfumato.core.space import Space
from sfumato.core.steps import step_of
from sfumato.errors import BadArgument, UnknownSize
from sfumato.exact import Distance, Extended, rational_up
from sfumato.guarantee import guarantee
from sfumato.transforms.distances import exchanged_rows
from sfumato.transforms.rows import column_space

ENTRIES_PROOF = "proofs/randomized_response.md#entries"


@final
@dataclass(frozen=True)
class Entries:
    """What the entries of a space are: their domain, how many there are, and whether their order is told.

    ``size`` is None for a single value. ``ordered`` is false where the metric does not see the order of rows: the
    reports then leave in an order that does not depend on it.
    """

    element: Atom
    size: int | None
    ordered: bool
    metric: Metric
    step: Fraction

    def changed(self, d_in: Distance) -> int:
        """The most entries that differ between members at a distance."""
        return entries_changed(self.metric, self.size, self.step, d_in)


def entries_of(space: Space, verb: str) -> Entries:
    """Works out the entries of a space, or says what the mechanism needs."""
    domain, metric = space.domain, space.metric
    step = step_of(domain)
    if isinstance(metric, Absolute | L1) and not _whole(domain):
        raise BadArgument(f"what {verb}() works on", "whole numbers, or values under metric=Discrete()", str(space))
    if isinstance(domain, Atom) and isinstance(metric, Discrete | Absolute):
        return Entries(domain, None, True, metric, step)
    if not isinstance(domain, Vector) or not isinstance(metric, Discrete | Hamming | ChangeOne | AddRemove | L1):
        raise BadArgument(f"what {verb}() works on", "one value, or a column of a public size", str(space))
    if domain.size is None:
        raise UnknownSize(verb, "The number of reports would tell the number of rows; give size=…, or resize(…) first.")
    return Entries(domain.element, domain.size, not isinstance(metric, ChangeOne | AddRemove), metric, step)


def _whole(domain: Domain) -> bool:
    """Tells whether different entries are at least a step apart."""
    return isinstance(domain, Integers) or (isinstance(domain, Vector) and isinstance(domain.element, Integers))


@guarantee(
    claim="members at distance d_in differ, in the best order where order is not seen, in at most this many entries",
    proof=ENTRIES_PROOF,
    reviewed="411eb7cf8f7e",
)
def entries_changed(metric: Metric, size: int | None, step: Fraction, d_in: Distance) -> int:
    """The most entries that differ between members at a distance."""
    whole = 1 if size is None else size
    match metric:
        case Discrete():
            return whole if d_in >= 1 else 0
        case AddRemove():
            rows = rational_up(d_in) / 2
        case Absolute() | L1():
            rows = rational_up(d_in) / step
        case _:
            rows = rational_up(d_in)
    return whole if rows == math.inf else min(whole, math.floor(rows))


@guarantee(
    claim="of two data sets at distance d_in, either has at most this many rows that the other has not",
    proof="proofs/stability_histogram.md#rows",
    reviewed="698615252c4e",
)
def rows_on_one_side(metric: DatasetMetric, size: int | None, d_in: Distance) -> Extended:
    """The most rows that one of two data sets has and the other has not."""
    return rational_up(d_in) if size is None else exchanged_rows(d_in, metric=metric, size=size)


def counting_metric(space: Space, verb: str) -> tuple[Vector, DatasetMetric]:
    """The column domain and metric of a space under a distance that counts people's rows; refuses others."""
    domain, metric = column_space(space, verb)
    if not isinstance(metric, AddRemove | ChangeOne | Hamming):
        raise BadArgument(f"what {verb}() works on", "rows under the add/remove or change-one distance", str(space))
    return domain, metric


@guarantee(
    claim="equal values give one and the same object: the listed category, a plain text, a plain whole number",
    proof="proofs/stability_histogram.md#keys",
    reviewed="70b41d726e16",
)
def public_key(element: Atom, order: Callable[[Hashable], int | str]) -> Callable[[Hashable], Hashable]:
    """The function from a value that occurs to how it is written in a release; None stays None.

    Equal values need not look the same (1, 1.0 and True; 0.0 and -0.0; NumPy's and Python's numbers), and how one row
    was written must not show.
    """

    def public(value: Hashable) -> Hashable:
        if value is None and not (isinstance(element, Categories) and None in element.values):
            return None
        place = order(value)
        return element.values[place] if isinstance(element, Categories) and isinstance(place, int) else place

    return public

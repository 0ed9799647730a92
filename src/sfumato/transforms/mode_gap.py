"""The most frequent value, and by how much it leads: what a test of stability needs to know."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Hashable

import numpy as np

from sfumato.core.domains import Atom, Categories, Data, Integers, Texts
from sfumato.core.metrics import Absolute, AddRemove, ChangeOne, DatasetMetric, Hamming
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Distance
from sfumato.guarantee import guarantee
from sfumato.transforms.distances import exchanged_rows
from sfumato.transforms.rows import column_space

PROOF = "proofs/mode_gap.md#map"


@constructor
def mode_gap() -> Partial[Transformation]:
    """Counts by how many rows the most frequent value leads the next; 0 for a tie or no rows.

    Takes:      a column of texts, categories or whole numbers; the set of values need not be known
    Gives:      a whole number under the absolute distance
    Guarantee:  d_out = d_in where rows are added and removed, twice the rows where they are exchanged
                (proofs/mode_gap.md#map)
    Cost:       one pass

    >>> from sfumato.core.space import vector
    >>> (vector(str) >> mode_gap()).map(1), (vector(str, size=9) >> mode_gap()).map(1)
    (Fraction(1, 1), Fraction(2, 1))
    """

    def build(space: Space) -> Transformation:
        domain, metric = column_space(space, "mode_gap")
        if not isinstance(metric, AddRemove | ChangeOne | Hamming):
            raise BadArgument(
                "what mode_gap() works on", "rows under the add/remove or change-one distance", str(space)
            )
        key_order(domain.element, "mode_gap")
        return Transformation(
            space,
            Space(Integers(), Absolute()),
            lambda data, _: lead(tally(data)),
            lambda d_in: gap_map(d_in, metric=metric, size=domain.size),
            ("lead of the most frequent value",),
            (PROOF,),
        )

    return Partial("mode_gap()", build)


@guarantee(claim="d_in, or 2 · exchanged rows where the size is public", proof=PROOF, reviewed="a328a20c1312")
def gap_map(d_in: Distance, *, metric: DatasetMetric, size: int | None) -> Distance:
    """How far the lead of the most frequent value can move."""
    return d_in if size is None else 2 * exchanged_rows(d_in, metric=metric, size=size)


def tally(data: Data) -> Counter[Hashable]:
    """Counts the rows of each value."""
    return Counter(data.tolist() if isinstance(data, np.ndarray) else data)


def lead(counts: Counter[Hashable]) -> int:
    """The largest count less the second largest; a value that does not occur counts 0."""
    first, second, *_ = (*sorted(counts.values(), reverse=True)[:2], 0, 0)
    return first - second


def most_frequent(counts: Counter[Hashable], order: Callable[[Hashable], int | str]) -> Hashable | None:
    """The value with the largest count, the first in order among several; None where there are no rows."""
    most = max(counts.values(), default=0)
    return min((value for value, count in counts.items() if count == most), key=order, default=None)


def key_order(element: Atom, verb: str) -> Callable[[Hashable], int | str]:
    """A public order of the values of a domain, by which ties are broken and keys are listed."""
    match element:
        case Categories():
            place = {value: index for index, value in enumerate(element.values)}
            return place.__getitem__
        case Texts():
            return str
        case Integers() if element.step == 1:
            return _whole
        case _:
            raise BadArgument(f"what {verb}() counts", "texts, categories or whole numbers", str(element))


def _whole(value: Hashable) -> int:
    return operator.index(value)  # type: ignore[arg-type]  # the domain holds whole numbers only

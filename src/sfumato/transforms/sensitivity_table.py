"""Sensitivities to look up: the maps of the scalar aggregates by what is public, and a local oracle for teaching."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from sfumato.core.domains import Bounds, Data
from sfumato.core.metrics import AddRemove, DatasetMetric
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, NoDistance, shown
from sfumato.exact import Distance, Number, integer
from sfumato.transforms.aggregate import count_map, mean_map, sum_map
from sfumato.transforms.moments import deviation_map, variance_map

STATISTICS = ("count", "sum", "mean", "variance", "standard_deviation")


def sensitivity_table(
    *,
    between: tuple[Number, Number] | None = None,
    size: int | None = None,
    d_in: Number = 1,
    metric: DatasetMetric | None = None,
    ddof: int = 1,
) -> dict[str, Distance]:
    """Tabulates how far each scalar aggregate can move between neighbours; ∞ where it is unstable.

    Without a metric, distances count rows added and removed. The numbers are those of the maps themselves.

    >>> table = sensitivity_table(between=(0, 10), size=100, d_in=2)
    >>> [str(table[name]) for name in ("count", "sum", "mean", "variance", "standard_deviation")]
    ['0', '10', '1/10', '1', '1']
    """
    bounds = None if between is None else Bounds.read(between)
    if size is not None:
        size = integer(size, "size", least=1 + ddof)
    counting = AddRemove() if metric is None else metric
    if size is None and not isinstance(counting, AddRemove):
        raise BadArgument("size", f"given, since {shown(counting)} needs one", size)
    distance = counting.read(d_in)
    table: dict[str, Distance] = dict.fromkeys(STATISTICS, math.inf if distance else Fraction(0))
    table["count"] = count_map(distance, metric=counting, size=size, all_rows=True)
    if bounds is None:
        return table
    table["sum"] = sum_map(distance, bounds=bounds, metric=counting, size=size)
    if size is not None:
        width = bounds.width
        table["mean"] = mean_map(distance, bounds=bounds, metric=counting, size=size)
        table["variance"] = variance_map(distance, width=width, metric=counting, size=size, ddof=ddof)
        table["standard_deviation"] = deviation_map(distance, width=width, metric=counting, size=size, ddof=ddof)
    return table


def local_sensitivity(
    transformation: Transformation, data: Data, members: Iterable[Data], *, d_in: Number = 1
) -> Distance:
    """The largest distance between the image of one data set and those of its neighbours among some members.

    It depends on the data, so it is private itself and must never set the scale of noise: two neighbours would get
    different noise. It is here to compare with the map, and for teaching.

    >>> from sfumato.core.space import vector
    >>> from sfumato.transforms.aggregate import sum
    >>> total = vector(int, between=(0, 9)) >> sum()
    >>> local_sensitivity(total, [1, 2], [[1, 2], [1], [2], [1, 2, 9]]), total.map(1)
    (Fraction(9, 1), Fraction(9, 1))
    """
    allowed, here = transformation.source.metric.read(d_in), transformation(data)
    largest: Distance = Fraction(0)
    for neighbour in members:
        try:
            close = transformation.source.distance(data, neighbour) <= allowed
        except NoDistance:
            continue
        if close:
            largest = max(largest, transformation.target.distance(here, transformation(neighbour)))
    return largest

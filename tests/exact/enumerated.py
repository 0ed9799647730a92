"""What enumerations share: small data sets, randomized response, distances over all pairs at once, remembered laws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from typing import TypeVar

from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.transformation import Transformation
from sfumato.errors import NoDistance
from sfumato.exact import Distance

Value = TypeVar("Value")


def multisets(values: Sequence[Value], sizes: Iterable[int]) -> list[list[Value]]:
    """Lists all rows of the given sizes, but for their order."""
    return [list(rows) for size in sizes for rows in combinations_with_replacement(values, size)]


def response(
    odds: Fraction | int, options: int = 2, *, leak: Fraction | int = 0
) -> tuple[tuple[Fraction, Fraction], ...]:
    """Lists randomized response answer by answer: its chance on the data, and on a neighbour.

    The truth is told with the given odds against each lie; with probability ``leak`` it is told openly. Only answers
    that can be given are listed.
    """
    share = (1 - Fraction(leak)) / (odds + options - 1)
    told = [(odds * share, share), (share, odds * share), *[(share, share)] * (options - 2)]
    return (*told, *([(Fraction(leak), Fraction(0)), (Fraction(0), Fraction(leak))] if leak else []))


def farthest(made: Transformation, members: Iterable[Data], most: int) -> list[Distance]:
    """Gives, for d = 0 … most, the largest distance of images of members at most d apart; each image is made once."""
    listed = [(data, made(data)) for data in members]
    found: list[Distance] = [Fraction(0)] * (most + 1)
    for place, (left, left_image) in enumerate(listed):
        for right, right_image in listed[:place]:
            try:
                apart = made.source.distance(left, right)
            except NoDistance:
                continue
            if apart <= most:
                found[int(apart)] = max(found[int(apart)], made.target.distance(left_image, right_image))
    for d_in in range(1, most + 1):
        found[d_in] = max(found[d_in], found[d_in - 1])
    return found


def remembered(measurement: Measurement) -> Measurement:
    """Gives the same measurement with a law that is worked out once for each member."""
    law = measurement.law
    assert law is not None
    once = cache(lambda data: law(list(data)))
    return replace(measurement, law=lambda data: once(tuple(data)))

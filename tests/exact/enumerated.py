"""What enumerations share: the largest distance between images over all pairs at once, and laws worked out once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cache

from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.transformation import Transformation
from sfumato.errors import NoDistance
from sfumato.exact import Distance


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

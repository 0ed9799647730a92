"""The largest distance between images, by distance between data sets, over all pairs of some members at once."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from sfumato.core.domains import Data
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

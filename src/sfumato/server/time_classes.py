"""When the answer to a question leaves: at the end of a class of times, so that how long it took tells little."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence


def until_class_ends(seconds: float, classes: Sequence[float]) -> float:
    """How long to wait yet with what took so many seconds; beyond the last class, its multiples are the classes.

    >>> until_class_ends(0.3, (0.25, 1.0)), until_class_ends(1.5, (0.25, 1.0))
    (0.7, 0.5)
    """
    place = bisect_left(classes, seconds)
    return classes[place] - seconds if place < len(classes) else -seconds % classes[-1]

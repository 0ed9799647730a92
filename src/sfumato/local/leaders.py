"""The largest counts of a list, with a statement of which of them are certain to be."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from sfumato.exact import Number, integer
from sfumato.local.intervals import read_confidence

if TYPE_CHECKING:
    from sfumato.local.frequency import Frequencies


@final
@dataclass(frozen=True)
class Leader:
    """A value whose count is among the largest: its estimate, an interval, and whether its place is certain."""

    value: Hashable
    count: float
    low: float
    high: float
    certain: bool


def leaders(estimate: Frequencies, k: int, confidence: Number) -> list[Leader]:
    """The k values of the largest estimates, largest first.

    Intervals share the error among all values, so that with the stated confidence all of them hold (by the union
    bound, whatever the reports of different values have to do with each other). A value is certain if, as long as they
    hold, fewer than k others can have as many people or more.
    """
    size = len(estimate.values)
    most = integer(k, "k", least=1, most=size)
    low, high = estimate.interval(1 - (1 - read_confidence(confidence)) / size)
    reaching, counts = np.sort(high), estimate.counts
    listed = []
    for place in np.argsort(-counts, kind="stable")[:most].tolist():
        as_high = size - int(np.searchsorted(reaching, low[place], side="left"))  # itself among them
        value, count = estimate.values[place], float(counts[place])
        listed.append(Leader(value, count, float(low[place]), float(high[place]), as_high - 1 < most))
    return listed

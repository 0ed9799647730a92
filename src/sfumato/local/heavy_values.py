"""Values that were found because many people have them, and the walk along common prefixes that finds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.exact import Number
from sfumato.local.frequency import support_variance
from sfumato.local.intervals import deviations_within, least_support, read_confidence
from sfumato.local.reports import NONE_REJECTED, Rejected
from sfumato.local.spelled import Spelling
from sfumato.local.text_counts import TextCounts

MOST_CANDIDATES = 1 << 20
"""So many prefixes of one length are looked at, at most."""

MOST_KEPT = 1024
"""So many prefixes of one length go on, at most: those with the largest counts."""


@final
@dataclass(frozen=True)
class HeavyValue:
    """A value that many people have: the estimated share of people, and its standard deviation."""

    value: str | int
    share: float
    deviation: float

    def interval(self, confidence: Number = Fraction(95, 100)) -> tuple[float, float]:
        """The shares within so many standard deviations, by the normal law."""
        width = deviations_within(read_confidence(confidence)) * self.deviation
        return min(max(self.share - width, 0.0), 1.0), max(min(self.share + width, 1.0), 0.0)


@final
@dataclass(frozen=True)
class HeavyValues:
    """All values that were found, most frequent first.

    A value was found because its estimates were large: those of values near ``least`` are too large in the mean.
    """

    values: tuple[HeavyValue, ...]
    users: int
    least: float
    """The share that an estimate had to reach in every round."""
    loss: Pure
    rejected: Rejected = NONE_REJECTED

    def top(self, k: int) -> list[tuple[str | int, float]]:
        """The k values with the largest shares, largest first."""
        return [(one.value, one.share) for one in self.values[:k]]

    def rows(self, confidence: Number = Fraction(95, 100)) -> list[dict[str, Any]]:
        """One row for each value: its share with the ends of its interval."""
        ends = [(one, *one.interval(confidence)) for one in self.values]
        return [{"value": one.value, "share": one.share, "low": low, "high": high} for one, low, high in ends]

    def __str__(self) -> str:
        first = ", ".join(f"{one.value}: {one.share:.3g}" for one in self.values[:3])
        people = f"{len(self.values)} values of {self.users} people"
        return f"{people}, with shares from {self.least:.3g} on, {self.loss}; {first}"


def sorted_values(values: Sequence[HeavyValue]) -> tuple[HeavyValue, ...]:
    """The most frequent first, alike ones by their value."""
    return tuple(sorted(values, key=lambda one: (-one.share, str(one.value))))


@final
@dataclass(frozen=True, eq=False)
class Level:
    """What was asked of prefixes of one length: their sketch."""

    length: int
    counts: TextCounts

    def noise(self) -> float:
        """The variance of the count of a prefix that nobody has, but for collisions."""
        return float(support_variance(self.counts.same, self.counts.supports_other, self.counts.users, Fraction(0)))

    def kept(self, candidates: Sequence[str], known: Sequence[str], alarm: Fraction) -> tuple[list[str], Known]:
        """Which candidates stand out of noise and collisions, and the counts of these and of what is known already."""
        if not self.counts.users:
            return [], Known({}, 0.0, 0.0)
        chance = float(self.counts.supports_other)
        support = least_support(self.counts.users, chance, float(alarm / max(len(candidates), 1)))
        deviation = (self.counts.users * chance * (1 - chance)) ** 0.5
        high = (support - self.counts.users * chance) / deviation  # collisions make what is likely wider alike
        counts = self.counts.counts(candidates)
        order = np.argsort(-counts, kind="stable")[:MOST_KEPT]
        order = order[counts[order] >= high * self.noise() ** 0.5]
        seen = [candidates[place] for place in order.tolist()]
        asked = [*seen, *known]
        apart = self.counts.counts_apart(asked) if asked else np.zeros(0)
        collisions = self._collisions(apart)
        least = high * (self.noise() + collisions) ** 0.5
        kept = [text for text, count in zip(seen, apart.tolist(), strict=False) if count >= least]
        return kept, Known(dict(zip(asked, apart.tolist(), strict=True)), collisions, least / self.counts.users)

    def _collisions(self, apart: NDArray[np.float64]) -> float:
        """The variance that collisions add to a count, of texts other than those that were told apart."""
        hashing = self.counts.hashing
        among = float((apart * np.maximum(apart - 1, 0)).sum())
        return max(self.counts.pairs - among, 0.0) / (hashing.rows * (hashing.buckets - 1))


@final
@dataclass(frozen=True)
class Known:
    """Counts of a level: of what stands out there, with the variance that collisions add, and the least share kept."""

    counts: dict[str, float]
    collisions: float
    least: float


def walk(spelling: Spelling, levels: Sequence[Level], alarm: Fraction) -> tuple[list[str], list[Known]]:
    """Goes from short prefixes to long ones, and on from those only that stand out: what is whole at last.

    Each level may raise a false alarm with an equal part of the chance for all.
    """
    ongoing, whole, seen = [""], list[str](), list[Known]()
    for level in levels:
        candidates = spelling.extended(ongoing, level.length) if ongoing else []
        kept, known = level.kept(candidates[:MOST_CANDIDATES], whole, alarm / len(levels))
        whole += [text for text in kept if spelling.whole(text)]
        ongoing = [text for text in kept if not spelling.whole(text)]
        room = MOST_CANDIDATES // spelling.endings(max(_step(levels, level), 1))
        ongoing = ongoing[: max(room, 1)]
        seen.append(known)
    return whole, seen


def _step(levels: Sequence[Level], level: Level) -> int:
    return next((one.length - level.length for one in levels if one.length > level.length), 0)


def found(spelling: Spelling, levels: Sequence[Level], alarm: Fraction) -> tuple[list[HeavyValue], float]:
    """The values that stand out, with shares from all levels that showed them whole; and the least share kept."""
    whole, seen = walk(spelling, levels, alarm)
    users = sum(level.counts.users for level in levels)
    values = []
    for text in whole:
        own = [number for number, known in enumerate(seen) if text in known.counts]
        times = len(levels) / len(own)
        count = times * sum(seen[number].counts[text] for number in own)
        variance = _variance(levels[0].counts, users, min(max(count, 0.0), users), times)
        variance += times * times * sum(seen[number].collisions for number in own)
        values.append(HeavyValue(spelling.read(text), count / users, variance**0.5 / users))
    return values, max((known.least for known in seen), default=0.0)


def _variance(counts: TextCounts, users: int, count: float, times: float) -> float:
    """The variance of a count over reports of which one in so many ``times`` is on a level that shows it."""
    same, other = float(counts.same), float(counts.supports_other)
    gain = (same - other) ** 2
    return times * ((users - count) * other * (1 - other) / gain + count * (same * (1 - same) / gain + 1 - 1 / times))

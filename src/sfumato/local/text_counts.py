"""How many people have a text, read from the rows of a sketch: for any text that is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.exact import Number, integer
from sfumato.local.frequency import support_variance
from sfumato.local.intervals import read_confidence, score_interval
from sfumato.local.reports import NONE_REJECTED, Rejected
from sfumato.local.text_rows import Rows, Texts

MOST_APART = 4096
"""So many texts at most are told apart at once: their collisions make a matrix."""


@final
@dataclass(frozen=True, eq=False)
class TextCounts:
    """Estimated counts of texts, with the errors that chance has made: of reports and of collisions.

    Counts are unbiased over the reports and over the choice of the hash functions, and may be negative. For a text that
    was chosen because its estimate is large, that estimate is too large in the mean.
    """

    hashing: Rows
    people: NDArray[np.int64]
    """How many reports came in each row of the sketch."""
    supports: NDArray[np.int64]
    """How many of them support each bucket of the row."""
    same: Fraction
    """The chance that a report supports the bucket of its sender's text."""
    apart: Fraction
    """The chance that it supports some one other bucket of its row."""
    loss: Pure
    rejected: Rejected = NONE_REJECTED

    @property
    def users(self) -> int:
        """How many people reported."""
        return int(self.people.sum())

    @property
    def supports_other(self) -> Fraction:
        """The chance that a report supports another text: the two collide once in so many buckets."""
        return self.apart + (self.same - self.apart) / self.hashing.buckets

    def count(self, text: str) -> float:
        """The unbiased estimate of how many people have a text."""
        return float(self.counts([text])[0])

    def counts(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """The unbiased estimates of how many people have each of some texts."""
        other = self.supports_other
        above = self._support(_asked(texts)).astype(np.float64) - float(self.users * other)
        counts: NDArray[np.float64] = above / float(self.same - other)
        return counts

    def _support(self, texts: list[str]) -> NDArray[np.int64]:
        each = np.arange(self.hashing.rows)
        support: NDArray[np.int64] = self.supports[each, self.hashing.buckets_of(texts)].sum(axis=1, dtype=np.int64)
        return support

    def deviations(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """The standard deviation of each count, at the counts and the collisions that were estimated."""
        at = np.clip(self.counts(texts), 0, self.users)
        chances = self._chances
        nobodys = float(support_variance(*chances, self.users, Fraction(0)))
        everybodys = float(support_variance(*chances, self.users, Fraction(self.users)))
        level = nobodys + (everybodys - nobodys) * at / max(self.users, 1)
        spread: NDArray[np.float64] = np.sqrt(level + self._collisions(at))
        return spread

    @property
    def _chances(self) -> tuple[Fraction, Fraction]:
        return self.same, self.supports_other

    @cached_property
    def pairs(self) -> float:
        """An unbiased estimate of how many ordered pairs of people have the same text; 0 if that were negative.

        Read from the rows: people of one row share a bucket if they have the same text, or if their texts collide.
        """
        same, apart, buckets = float(self.same), float(self.apart), self.hashing.buckets
        people = self.people[:, None]
        held = (self.supports - people * apart) / (same - apart)
        noise = (held * same * (1 - same) + (people - held) * apart * (1 - apart)) / (same - apart) ** 2
        together = float(self.hashing.rows * (held * held - held - noise).sum())
        return max((together - self.users * (self.users - 1) / buckets) / (1 - 1 / buckets), 0.0)

    def _collisions(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        others = np.maximum(self.pairs - counts * np.maximum(counts - 1, 0), 0)
        variance: NDArray[np.float64] = others / (self.hashing.rows * (self.hashing.buckets - 1))
        return variance

    def interval(
        self, texts: Iterable[str], confidence: Number = Fraction(95, 100)
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The counts that the reports do not speak against, for each text by itself: lower and upper ends."""
        asked = _asked(texts)
        counts = np.clip(self.counts(asked), 0, self.users)
        level = read_confidence(confidence)
        return score_interval(self._support(asked), self.users, self._chances, level, self._collisions(counts))

    def counts_apart(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Counts of different texts, with what each owes to collisions with the others of them taken out.

        The key is public, so it is known which of them collide where; what other texts add remains, unbiased.
        """
        asked = list(dict.fromkeys(_asked(texts)))
        integer(len(asked), "the number of texts", most=MOST_APART)
        buckets, agree = self.hashing.buckets_of(asked), np.zeros((len(asked), len(asked)))
        for row in buckets.T:
            agree += row[:, None] == row[None, :]
        chance = 1 / self.hashing.buckets
        mixed = (agree / self.hashing.rows - chance) / (1 - chance)
        counts: NDArray[np.float64] = np.linalg.solve(mixed, self.counts(asked)).astype(np.float64)
        return counts

    def top(self, candidates: Iterable[str], k: int) -> list[tuple[str, float]]:
        """The k of some candidates with the largest counts, largest first."""
        asked = list(dict.fromkeys(_asked(candidates)))
        counts = self.counts(asked)
        order = np.argsort(-counts, kind="stable")[: integer(k, "k", least=0)]
        return [(asked[place], float(counts[place])) for place in order.tolist()]

    def rows(self, texts: Iterable[str], confidence: Number = Fraction(95, 100)) -> list[dict[str, Any]]:
        """One row for each text: its count with the ends of its interval."""
        asked = _asked(texts)
        ends = zip(asked, self.counts(asked), *self.interval(asked, confidence), strict=True)
        return [
            {"text": text, "count": float(count), "low": float(low), "high": float(high)}
            for text, count, low, high in ends
        ]

    def __str__(self) -> str:
        width = 1.96 * float(self.deviations([""])[0])
        return f"a sketch of {self.users} people's texts, each count ± {width:.0f} (95%), {self.loss}"


def _asked(texts: Iterable[str]) -> list[str]:
    asked = list(texts) if not isinstance(texts, str) else texts
    Texts.of(asked)  # refuses what is no text
    return list(asked)

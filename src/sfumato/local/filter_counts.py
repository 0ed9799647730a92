"""What reports of Bloom filters tell: counts of bits, and of candidate texts by least squares.

A person with a text adds the bits of its filter in a cohort drawn at random. So the unbiased counts of all bits, times
the number of cohorts, have a mean that is linear in the numbers of people with each text, and least squares are
unbiased for these. What nobody thought of as a candidate fills bits by chance, all alike: that is one more column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Pure
from sfumato.errors import BadArgument
from sfumato.exact import Number, probability
from sfumato.local.linear_counts import normal_quantile
from sfumato.local.reports import NONE_REJECTED, Rejected

Filled = Callable[[str, int], list[int]]
"""The bits that a text has in a cohort."""

SINGULAR = 1e-9
"""Texts whose columns' products have an eigenvalue below this share of the largest are not told apart."""


@final
@dataclass(frozen=True, eq=False)
class FilterCounts:
    """How often each bit of each cohort is in the filters of people: unbiased, and what it says of candidate texts."""

    filled: Filled
    hashes: int
    chances: tuple[Fraction, Fraction]
    sums: NDArray[np.int64]
    loss: Pure
    rejected: Rejected = NONE_REJECTED

    @property
    def users(self) -> int:
        """How many reports were counted."""
        return int(self.sums[:, 0].sum())

    @property
    def bits(self) -> NDArray[np.float64]:
        """The unbiased count of people of each cohort whose filters have each bit: a row for each cohort."""
        one, zero = self.chances
        counts: NDArray[np.float64] = (self.sums[:, 1:] - float(zero) * self.sums[:, :1]) / float(one - zero)
        return counts

    @property
    def bit_deviations(self) -> NDArray[np.float64]:
        """The standard deviation of each of them, at the count that was estimated (moved into what is possible)."""
        one, zero = (float(chance) for chance in self.chances)
        people = self.sums[:, :1]
        at = np.clip(self.bits, 0, people)
        spread: NDArray[np.float64] = np.sqrt(at * one * (1 - one) + (people - at) * zero * (1 - zero)) / (one - zero)
        return spread

    def decode(self, candidates: Iterable[str]) -> DecodedTexts:
        """Counts of people with each candidate text, by least squares over all bits of all cohorts.

        Unbiased where every text that people have is a candidate, or fills bits by chance alone. Needs fewer candidates
        than there are bits in all cohorts: see `screen` for longer lists.
        """
        texts = _different(candidates)
        cohorts, width = self.bits.shape
        columns = self._columns(texts)
        background = np.full((cohorts * width, 1), 1 - (1 - 1 / width) ** self.hashes)
        design = np.hstack([columns, background])
        inverse = _left_inverse(design)
        if inverse is None:
            raise BadArgument(
                "candidates",
                "texts that the bits of all cohorts tell apart: fewer of them (screen() keeps those that stand out), "
                "or a protocol with more bits and cohorts",
                len(texts),
            )
        seen = cohorts * self.bits.reshape(-1)
        counts = inverse @ seen
        parts = self._variances(inverse[:-1], design, cohorts)
        plausible = _lasso(design, seen, np.zeros(design.shape[1]))
        return DecodedTexts(tuple(texts), self.users, counts[:-1], float(counts[-1]), parts, plausible[:-1], self.loss)

    def screen(self, candidates: Iterable[str], *, most: int | None = None) -> list[str]:
        """The candidates whose bits stand out, by a non-negative lasso; at most a quarter as many as there are bits.

        The lasso is set so that a list on which nobody's text is keeps none of it, mostly. What `decode` says of texts
        that were chosen by the same reports is somewhat too sure of them.
        """
        texts = _different(candidates)
        cohorts, width = self.bits.shape
        room = cohorts * width // 4 if most is None else most
        columns = self._columns(texts)
        centred = columns - columns.mean(axis=0)
        noise = float(np.sqrt(np.mean(self.bit_deviations**2))) * cohorts
        slack = noise * math.sqrt(2 * math.log(max(len(texts), 2))) * np.sqrt((centred**2).sum(axis=0))
        seen = cohorts * self.bits.reshape(-1)
        weights = _lasso(centred, seen - seen.mean(), slack)
        order = np.argsort(-weights, kind="stable")[:room]
        return [texts[int(place)] for place in np.sort(order) if weights[place] > 0]

    def _columns(self, texts: list[str]) -> NDArray[np.float64]:
        """A column for each text: 1 for the bits of its filters, in all cohorts."""
        cohorts, width = self.bits.shape
        columns = np.zeros((cohorts, width, len(texts)))
        for place, text in enumerate(texts):
            for cohort in range(cohorts):
                columns[cohort, self.filled(text, cohort), place] = 1
        return columns.reshape(cohorts * width, len(texts))

    def _variances(self, rows: NDArray[np.float64], design: NDArray[np.float64], cohorts: int) -> NDArray[np.float64]:
        """What a person with each text (and, last, with none of them) adds to the variance of each count.

        The person's cohort is drawn, then its bits: the variance of the mean over cohorts is added to the mean of that
        of the bits.
        """
        one, zero = (float(chance) for chance in self.chances)
        ones = zero + design * (one - zero)
        coins = cohorts * (rows**2 @ (ones * (1 - ones))) / (one - zero) ** 2
        width = design.shape[0] // cohorts
        squares, means = np.zeros_like(coins), np.zeros_like(coins)
        for cohort in range(cohorts):
            own = slice(cohort * width, (cohort + 1) * width)
            part = rows[:, own] @ design[own]
            squares += part**2
            means += part
        parts: NDArray[np.float64] = coins + cohorts * squares - means**2
        return parts


@final
@dataclass(frozen=True, eq=False)
class DecodedTexts:
    """Estimated counts of candidate texts: unbiased, with intervals; ``plausible`` ones are not negative.

    ``unlisted`` is the estimated number of people with any other text. ``parts`` holds what a person with each text
    (the last column: with none of them) adds to the variance of each count.
    """

    texts: tuple[str, ...]
    users: int
    counts: NDArray[np.float64]
    unlisted: float
    parts: NDArray[np.float64]
    plausible: NDArray[np.float64]
    loss: Pure

    @property
    def deviations(self) -> NDArray[np.float64]:
        """The standard deviation of each count, at counts that are not negative."""
        people = np.maximum(np.append(self.counts, 0), 0)
        people[-1] = max(self.users - people.sum(), 0)
        spread: NDArray[np.float64] = np.sqrt(self.parts @ people)
        return spread

    def variance(self, counts: dict[str, int], *, unlisted: int = 0) -> NDArray[np.float64]:
        """The variance of each count, if so many people had each of the texts: exact, but for rounding of floats."""
        people = np.array([*(counts.get(text, 0) for text in self.texts), unlisted], dtype=np.float64)
        exact: NDArray[np.float64] = self.parts @ people
        return exact

    def interval(self, confidence: Number = Fraction(95, 100)) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper ends for each count by itself, cut at what is possible."""
        width = normal_quantile(confidence) * self.deviations
        return np.clip(self.counts - width, 0, self.users), np.clip(self.counts + width, 0, self.users)

    def found(self, confidence: Number = Fraction(95, 100)) -> list[tuple[str, float]]:
        """The texts that somebody has, with a confidence for all of them together (Bonferroni); most frequent first."""
        level = probability(confidence, "confidence")
        if not 0 < level < 1:
            raise BadArgument("confidence", "greater than 0 and less than 1", confidence)
        limit = NormalDist().inv_cdf(1 - float(1 - level) / max(len(self.texts), 1))
        sure = np.flatnonzero(self.counts > limit * self.deviations)
        order = sure[np.argsort(-self.counts[sure], kind="stable")]
        return [(self.texts[int(place)], float(self.counts[place])) for place in order]

    def __str__(self) -> str:
        first = ", ".join(f"{text}: {count:.0f}" for text, count in self.found()[:3])
        return f"{len(self.texts)} texts of {self.users} people, {len(self.found())} found, {self.loss}; {first}, …"


def _different(candidates: Iterable[str]) -> list[str]:
    texts = [] if isinstance(candidates, str) else list(candidates)
    if not texts or not all(isinstance(one, str) for one in texts) or len(set(texts)) < len(texts):
        raise BadArgument("candidates", "a list of different texts", len(texts))
    return texts


def _left_inverse(design: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The inverse of least squares; None where columns depend on each other."""
    if design.shape[1] > design.shape[0]:
        return None
    spectrum, axes = np.linalg.eigh(design.T @ design)
    if spectrum[0] < SINGULAR * spectrum[-1]:
        return None
    inverse: NDArray[np.float64] = (axes / spectrum) @ (axes.T @ design.T)
    return inverse


def _lasso(
    columns: NDArray[np.float64], seen: NDArray[np.float64], slack: NDArray[np.float64], rounds: int = 500
) -> NDArray[np.float64]:
    """Least squares with weights that are not negative and cost their slack each, by one coordinate after another.

    Each round looks at the weights that are above 0 or would rise from it.
    """
    squares = np.maximum((columns**2).sum(axis=0), 1e-12)
    weights, rest = np.zeros(columns.shape[1]), seen.copy()
    for _ in range(rounds):
        gain = columns.T @ rest
        active = np.flatnonzero((weights > 0) | (gain > slack))
        moved = 0.0
        for place in active:
            column = columns[:, place]
            new = max(0.0, weights[place] + (column @ rest - slack[place]) / squares[place])
            step = new - weights[place]
            if step:
                rest -= step * column
                weights[place] = new
                moved = max(moved, abs(step))
        if moved <= 1e-6 * max(float(weights.max(initial=0)), 1):
            break
    return weights

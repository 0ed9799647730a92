"""Histograms over keys that nobody listed: a key is named only where its noisy count clears a threshold set by δ."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import prod
from typing import final

import numpy as np
from flint import arb

from sfumato.accounting.losses.measures import Approx
from sfumato.accounting.plans.search import least_integer
from sfumato.core.domains import Data
from sfumato.core.law import Law
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Several
from sfumato.exact import BITS, Extended, Number, integer, positive, precision, probability, up, upper
from sfumato.guarantee import guarantee
from sfumato.mechanisms.gridding import exact_add
from sfumato.mechanisms.per_person import counting_metric, public_key, rows_on_one_side
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.distribution import Noise
from sfumato.release.record import Failure, How
from sfumato.transforms.mode_gap import key_order, tally

LOSS_PROOF = "proofs/stability_histogram.md#loss"

LISTED_ROWS = 500
"""Up to this many rows the worst way to spread them over keys is found exactly; beyond, it is bounded."""

MOST_ROWS = 100_000
"""For units with more rows δ is stated as 1."""

Histogram = tuple[tuple[Hashable, int], ...]
"""The released keys with their noisy counts, in the order of the keys."""


@guarantee(
    claim="δ = the largest chance, rounded up, that any of some keys shows whose counts add up to the rows; a key "
    "shows if count + noise > threshold",
    proof="proofs/stability_histogram.md#appearance",
    reviewed="30bcd9fe29ed",
)
def appearance_delta(noise: Noise, *, threshold: int, rows: int) -> Fraction:
    """The chance that rows which only one of two data sets has make a key appear, however they are spread."""
    if rows == 0:
        return Fraction(0)
    if rows > MOST_ROWS:
        return Fraction(1)
    with precision(BITS):
        shows = [noise.upper_tail(threshold - count + 1).upper() for count in range(rows + 1)]
        if rows > LISTED_ROWS:
            return _bounded_appearance(shows, rows)
        most = [arb(0)]
        for total in range(1, rows + 1):
            spread = (shows[first] + (1 - shows[first]) * most[total - first] for first in range(1, total + 1))
            most.append(max(chance.upper() for chance in spread))
        return _probability_up(most[rows])


def _bounded_appearance(shows: list[arb], rows: int) -> Fraction:
    if not all(chance < 1 for chance in shows[1:]):
        return Fraction(1)
    fastest = max((-(-chance).log1p() / count).upper() for count, chance in enumerate(shows[1:], start=1))
    return _probability_up(-(-fastest * rows).expm1())


def _probability_up(value: arb) -> Fraction:
    return min(Fraction(1), max(Fraction(0), Fraction(upper(lambda: value))))


@guarantee(
    claim="(moved / scale, appearance δ): moved is the L1 distance of the counts, rows what only one side has",
    proof=LOSS_PROOF,
    reviewed="e097bd545a74",
)
def histogram_loss(noise: DiscreteLaplace, threshold: int, rows: Extended, *, exchanged: bool) -> Approx:
    """The loss of a histogram over unknown keys."""
    if rows == math.inf:
        return Approx(math.inf, 1)
    moved = 2 * Fraction(rows) if exchanged else Fraction(rows)
    return Approx(moved / noise.scale, _appearance(noise, threshold, math.floor(rows)))


@lru_cache(maxsize=256)
def _appearance(noise: DiscreteLaplace, threshold: int, rows: int) -> Fraction:
    return appearance_delta(noise, threshold=threshold, rows=rows)


def stability_threshold(scale: Number, *, delta: Number, rows: int = 1) -> int:
    """The least threshold that keeps the chance of a new key within δ, for units with ``rows`` rows.

    >>> stability_threshold(1, delta=1e-6)
    14
    """
    noise, allowed = DiscreteLaplace(positive(scale, "scale")), probability(delta, "delta")
    count = integer(rows, "rows", least=1)
    if not 0 < allowed < 1:
        raise BadArgument("delta", "greater than 0 and less than 1", delta)
    if count > MOST_ROWS:
        raise BadArgument("rows", f"at most {MOST_ROWS}", rows)
    # A union bound over the rows is enough at this threshold, so the search ends there at the latest.
    enough = count + noise.quantile(1 - allowed / count)
    return least_integer(
        lambda threshold: appearance_delta(noise, threshold=threshold, rows=count) <= allowed,
        low=0,
        high=enough,
        what="threshold",
    )


@constructor
def stability_histogram(
    scale: Number, *, delta: Number | None = None, threshold: int | None = None, rows: int = 1
) -> Partial[Measurement]:
    """Counts the rows of every value that occurs, adds noise, and lists the values whose count clears a threshold.

    Takes:      a column of texts, categories or whole numbers, under a distance that counts rows; either the threshold,
                or the δ to keep for units of ``rows`` rows
    Gives:      pairs (value, noisy count), in the order of the values, each count above the threshold
    Guarantee:  Approx(d_in / scale, δ) for rows added or removed, Approx(2 d_in / scale, δ) for rows changed; δ is the
                chance that a value appears which only one of two neighbours has  (proofs/stability_histogram.md#loss)
    Cost:       one pass, and some 20 ns a value

    >>> from sfumato.core.space import vector
    >>> (vector(str) >> stability_histogram(scale=1, delta=1e-6)).map(1)
    Approx(epsilon=1.0, delta=6.078...e-07…)
    """
    if (delta is None) == (threshold is None):
        raise BadArgument("stability_histogram()", "given either delta or threshold", Several(delta, threshold))
    noise = DiscreteLaplace(positive(scale, "scale"))
    if threshold is not None:
        limit = integer(threshold, "threshold", least=0)
    else:
        limit = stability_threshold(scale, delta=delta if delta is not None else 0, rows=rows)

    def build(space: Space) -> Measurement:
        domain, metric = counting_metric(space, "stability_histogram")
        order = key_order(domain.element, "stability_histogram")
        public = public_key(domain.element, order)
        exchanged = domain.size is not None
        return Measurement(
            source=space,
            measure=Approx,
            function=lambda data, entropy: noisy_counts_above(tally(data), public, order, noise, limit, entropy),
            privacy_map=lambda d_in: histogram_loss(
                noise, limit, rows_on_one_side(metric, domain.size, d_in), exchanged=exchanged
            ),
            how=How(
                "stability histogram",
                (("scale", f"{up(noise.scale):.6g}"), ("threshold", str(limit))),
                proofs=(LOSS_PROOF,),
                failure=Failure.DISTINGUISHING,
            ),
            law=lambda data: HistogramLaw(tuple(tally(data).items()), order, noise, limit),
        ).recorded()

    return Partial(f"stability_histogram(scale={scale})", build)


def noisy_counts_above(
    tallied: Counter[Hashable],
    public: Callable[[Hashable], Hashable],
    order: Callable[[Hashable], int | str],
    noise: Noise,
    threshold: int,
    entropy: Entropy,
) -> Histogram:
    """Adds noise to every count and lists, in the order of the keys, those that exceed a threshold."""
    counts = sorted(tallied.items(), key=lambda pair: order(pair[0]))
    exact = np.array([count for _, count in counts], dtype=np.int64)
    noisy = exact_add(exact, noise.samples(len(exact), entropy)).tolist()
    return tuple((public(key), value) for (key, _), value in zip(counts, noisy, strict=True) if value > threshold)


@final
@dataclass(frozen=True)
class HistogramLaw(Law):
    """The joint distribution of the released pairs."""

    counts: tuple[tuple[Hashable, int], ...]
    order: Callable[[Hashable], int | str]
    noise: Noise
    threshold: int

    def probability(self, outcome: Data) -> arb:
        shown = dict(outcome)
        with precision(BITS):
            if any(value <= self.threshold for value in shown.values()) or not shown.keys() <= dict(self.counts).keys():
                return arb(0)
            return prod((self._chance(count, shown.get(key)) for key, count in self.counts), start=arb(1))

    def _chance(self, count: int, value: int | None) -> arb:
        return self.noise.cdf(self.threshold - count) if value is None else self.noise.pmf(value - count)

    def outcomes(self, missed: Fraction) -> Iterable[Data]:
        share = missed / max(1, len(self.counts))
        listed = sorted(self.counts, key=lambda pair: self.order(pair[0]))
        choices = [
            [None, *((key, value) for value in range(self.threshold + 1, count + self.noise.quantile(1 - share) + 1))]
            for key, count in listed
        ]
        return (tuple(pair for pair in chosen if pair is not None) for chosen in product(*choices))

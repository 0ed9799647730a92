"""Rank tests: two or more samples, or differences around 0, from noisy counts in public bins."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias, Unpack

import numpy as np

from sfumato.entropy import Entropy
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer
from sfumato.learn.columns import Bins, Floats
from sfumato.learn.significance.asking import Bounds, Paying, Terms, number_column, one_array, samples
from sfumato.learn.significance.draws import NoiseLaw, multinomials
from sfumato.learn.significance.finding import Finding, concluded, read_alternative, unknown
from sfumato.learn.significance.means import paired_differences
from sfumato.query.frame import Frame

BINS = 20
"""Bins between the bounds, unless it is said: finer ones tell more of ranks, and add more noise."""

Edges: TypeAlias = int | Sequence[AnyNumber]
"""Public bins: so many of one width, or the edges between them."""


def rank_test(
    data: object,
    *others: object,
    column: str | None = None,
    by: object = None,
    between: Bounds = None,
    groups: Sequence[Hashable] | None = None,
    bins: Edges = BINS,
    alternative: str = "two-sided",
    **paying: Unpack[Paying],
) -> Finding:
    """Tests whether groups have one distribution, by ranks, privately: Mann and Whitney's, or Kruskal and Wallis's.

    ``rank_test(x, y, between=(0, 10), epsilon=1)`` on samples that one holds, or ``rank_test(table, column="score",
    by="arm", …)`` behind the ledger. The counts of all groups in public ``bins`` are released with noise: a row is in
    one of them, so they cost what one count costs. Rows of one bin are ties. The null is simulated with the noise. For
    two groups ``estimate`` is P(first > second), ties counted half (proofs/significance.md#ranks).
    """
    terms, side = Terms.read(paying), read_alternative(alternative)
    source, number, category = samples(data, others, column=column, by=by, between=between, groups=groups, terms=terms)
    binned = Bins.read(number, bins)
    release, sums, law = terms.released(source.chosen([(0, binned), (1, category)]), [(1, 2)])
    counts = sums.reshape(binned.kind, category.kind)
    rows, asked = float(sums.sum()), f"has {number.name} one distribution in {category.kind} groups?"
    if category.kind < 2 or counts.sum(axis=0).min() < 1:
        return unknown(asked, release, rows)
    statistic, under = rank_statistic(counts, law, terms.simulations, terms.drawing)
    if category.kind > 2:
        return concluded(asked, release, statistic, under, rows=rows)
    return concluded(asked, release, statistic, under, side, value=statistic + 0.5, rows=rows)


def rank_statistic(counts: Floats, law: NoiseLaw, count: int, entropy: Entropy) -> tuple[float, Floats]:
    """P(first > second) − ½, or H of more groups, and draws of it where every group falls into bins as all rows do."""
    shares = np.clip(counts.sum(axis=1), 0.0, None)
    shares = shares / shares.sum()
    drawn = np.stack(
        [multinomials(size, shares, count, entropy, together=law.together) for size in counts.sum(axis=0)], axis=2
    )
    drawn += law.draw(count, entropy).reshape(drawn.shape)
    if counts.shape[1] > 2:
        return float(kruskal(counts[None])[0]), kruskal(drawn)
    return float(superiority(counts[None])[0]) - 0.5, superiority(drawn) - 0.5


def superiority(counts: Floats) -> Floats:
    """P(first > second), ties counted half, of counts by bin of two groups."""
    first, second = counts[:, :, 0], counts[:, :, 1]
    below = np.cumsum(second, axis=1) - second / 2
    sizes = np.clip(first.sum(axis=1), 1.0, None) * np.clip(second.sum(axis=1), 1.0, None)
    return np.asarray(np.clip((first * below).sum(axis=1) / sizes, 0.0, 1.0))


def kruskal(counts: Floats) -> Floats:
    """Kruskal and Wallis's H of counts by bin, with its correction for ties."""
    tied = np.clip(counts.sum(axis=2), 0.0, None)
    total = np.clip(tied.sum(axis=1), 2.0, None)
    ranks = np.cumsum(tied, axis=1) - tied / 2 + 0.5
    sizes = np.clip(counts.sum(axis=1), 1.0, None)
    means = (counts * ranks[:, :, None]).sum(axis=1) / sizes
    apart = (sizes * (means - (total[:, None] + 1) / 2) ** 2).sum(axis=1)
    correction = 1 - (tied**3 - tied).sum(axis=1) / (total**3 - total)
    return np.asarray(12 * apart / (total * (total + 1)) / np.clip(correction, 1e-9, None))


def signed_rank_test(
    data: object,
    other: object = None,
    *,
    column: str | None = None,
    between: Bounds = None,
    bins: int = BINS,
    alternative: str = "two-sided",
    **paying: Unpack[Paying],
) -> Finding:
    """Tests whether numbers, or the differences of pairs, are symmetric around 0 (Wilcoxon's), privately.

    ``signed_rank_test(before, after, between=(-10, 10), epsilon=1)``: ``between`` are the bounds of the differences;
    of a table, ``column`` holds them. Counts in ``bins`` that mirror each other around 0 are released; those nearest 0,
    within half a bin, count as 0 and are left out (proofs/significance.md#ranks).
    """
    terms, side = Terms.read(paying), read_alternative(alternative)
    given = data if other is None else paired_differences(data, other)
    number = number_column(given, column, between, "x")
    source = terms.source(given, (number,), () if isinstance(given, Frame) else (one_array(given),))
    half = integer(bins, "bins", least=2) // 2
    width = max(abs(float(number.lower)), abs(float(number.upper))) / (half + 0.5) or 1.0
    right = [width * (place + 0.5) for place in range(half)]
    left = [float(np.nextafter(-edge, 0.0)) for edge in reversed(right)]
    release, counts, law = terms.released(source.chosen([(0, Bins(number, (*left, *right)))]), [(0, 1)])
    asked, rows = f"is {number.name} symmetric around 0?", float(counts.sum())
    if rows < 1:
        return unknown(asked, release, rows)
    return concluded(
        asked, release, *symmetry_statistic(counts, law, terms.simulations, terms.drawing), side, rows=rows
    )


def symmetry_statistic(counts: Floats, law: NoiseLaw, count: int, entropy: Entropy) -> tuple[float, Floats]:
    """The sum of signed ranks over its deviation, and its draws where bins on both sides of 0 have one share."""
    shares = np.clip(counts + counts[::-1], 0.0, None)
    drawn = multinomials(float(counts.sum()), shares / shares.sum(), count, entropy, together=law.together)
    drawn += law.draw(count, entropy)
    return float(signed_ranks(counts[None], law)[0]), signed_ranks(drawn, law)


def signed_ranks(counts: Floats, law: NoiseLaw) -> Floats:
    """The sum of signed ranks over its deviation, by drawing signs and by the noise; Wilcoxon's without noise."""
    half = counts.shape[1] // 2
    left, right = counts[:, :half][:, ::-1], counts[:, half + 1 :]
    tied = np.clip(left + right, 0.0, None)
    ranks = np.cumsum(tied, axis=1) - tied / 2 + 0.5
    # Not clipped here: what noise adds to counts below 0 would count twice in draws, which begin with noisy counts.
    spread, least = (ranks**2 * (left + right + 2 * law.variance)).sum(axis=1), (ranks**2).sum(axis=1) * law.variance
    return np.asarray(((right - left) * ranks).sum(axis=1) / np.sqrt(np.maximum(spread, np.maximum(least, 1e-12))))

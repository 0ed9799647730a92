"""Tests of counts: χ² of independence and of fit, from one noisy count of every cell."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Unpack

import numpy as np

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import non_negative
from sfumato.learn.columns import Category, Floats
from sfumato.learn.significance.asking import Paying, Terms, aligned, category_column
from sfumato.learn.significance.draws import NoiseLaw, multinomials
from sfumato.learn.significance.finding import Finding, concluded, unknown
from sfumato.query.frame import Frame


def chi_square_test(
    data: object,
    other: object = None,
    *,
    column: str | None = None,
    by: object = None,
    categories: Sequence[Hashable] | None = None,
    groups: Sequence[Hashable] | None = None,
    expected: Mapping[Hashable, AnyNumber] | Sequence[AnyNumber] | None = None,
    **paying: Unpack[Paying],
) -> Finding:
    """Tests whether two columns are independent, or whether one has ``expected`` shares (χ²), privately.

    ``chi_square_test(answer, region, categories=[…], groups=[…], epsilon=1)`` on values that one holds, or of a table
    ``column="answer", by="region"``, where lists come from the codebook too. With ``expected`` shares, by category or
    in the order of ``categories``, it is a test of fit of one column.

    One noisy count of every cell is released. The statistic is Pearson's, with the variance of the noise beside each
    expected count, and its law under the null hypothesis is simulated with the noise (Gaboardi, Lim, Rogers and Vadhan
    2016; proofs/significance.md#counts). Rows are taken to be independent.

    >>> found = chi_square_test(["a", "b"] * 500, ["x", "y"] * 500, categories=["a", "b"], groups=["x", "y"], epsilon=1)
    >>> found.p_value < 0.001
    True
    """
    terms = Terms.read(paying)
    table = isinstance(data, Frame)
    first = category_column(data, column if table else None, categories, "x")
    if expected is not None:
        if (by, other, groups) != (None, None, None):
            raise BadArgument("expected", "given for one column alone", "two columns")
        return _fit(data, first, expected, terms)
    labels = by if table or other is None else other
    second = category_column(data, labels if table else None, groups, "y")
    source = terms.source(data, (first, second), () if table else aligned(data, labels))
    release, sums, law = terms.released(source, [(1, 2)])
    asked, rows = f"are {first.name} and {second.name} independent?", float(sums.sum())
    if rows < 1:
        return unknown(asked, release, rows)
    counts = sums.reshape(first.kind, second.kind)
    return concluded(asked, release, *independence_statistic(counts, law, terms.simulations, terms.drawing), rows=rows)


def independence_statistic(counts: Floats, law: NoiseLaw, count: int, entropy: Entropy) -> tuple[float, Floats]:
    """χ² of a noisy table, and its draws where rows and columns are independent with the shares that they have."""
    shares = np.outer(_shares(counts.sum(axis=1)), _shares(counts.sum(axis=0)))
    drawn = multinomials(float(counts.sum()), shares.ravel(), count, entropy, together=law.together)
    drawn += law.draw(count, entropy)
    return float(_independence(counts[None], law)[0]), _independence(drawn.reshape(-1, *counts.shape), law)


def _shares(counts: Floats) -> Floats:
    """Shares of noisy counts; those below 0 are 0, and all alike where nothing is left."""
    there = np.clip(counts, 0.0, None)
    total = float(there.sum())
    return np.asarray(there / total) if total > 0 else np.full(len(counts), 1 / len(counts))


def _independence(counts: Floats, law: NoiseLaw) -> Floats:
    """Pearson's statistic of tables, with the variance of the noise beside expected counts."""
    rows = np.clip(counts.sum(axis=2, keepdims=True), 0.0, None)
    columns = np.clip(counts.sum(axis=1, keepdims=True), 0.0, None)
    awaited = rows * columns / np.clip(counts.sum(axis=(1, 2), keepdims=True), 1.0, None)
    return np.asarray(_pearson(counts, awaited, law).sum(axis=(1, 2)))


def _pearson(counts: Floats, awaited: Floats, law: NoiseLaw) -> Floats:
    below = awaited + law.variance
    return np.asarray(np.where(below > 0, (counts - awaited) ** 2 / np.where(below > 0, below, 1.0), 0.0))


def _fit(
    data: object, column: Category, expected: Mapping[Hashable, AnyNumber] | Sequence[AnyNumber], terms: Terms
) -> Finding:
    """Compares the counts of a column with stated shares of all of them."""
    if isinstance(expected, Mapping) and set(expected) != set(column.values):
        raise BadArgument("expected", f"a share for each of {list(column.values)}", list(expected))
    listed = [expected[one] for one in column.values] if isinstance(expected, Mapping) else list(expected)
    wanted = np.array([float(non_negative(one, "a share")) for one in listed])
    if len(wanted) != column.kind or not wanted.sum() > 0:
        raise BadArgument("expected", f"{column.kind} shares, not all 0", listed)
    wanted = wanted / wanted.sum()
    release, counts, law = terms.released(terms.source(data, (column,), (data,)), [(0, 1)])
    asked, rows = f"has {column.name} the expected shares?", float(counts.sum())
    if rows < 1:
        return unknown(asked, release, rows)
    return concluded(asked, release, *fit_statistic(counts, wanted, law, terms.simulations, terms.drawing), rows=rows)


def fit_statistic(counts: Floats, wanted: Floats, law: NoiseLaw, count: int, entropy: Entropy) -> tuple[float, Floats]:
    """χ² of noisy counts, and its draws where the shares are the stated ones."""

    def statistics(given: Floats) -> Floats:
        total = np.clip(given.sum(axis=1, keepdims=True), 1.0, None)
        return np.asarray(_pearson(given, wanted * total, law).sum(axis=1))

    drawn = multinomials(float(counts.sum()), wanted, count, entropy, together=law.together)
    drawn += law.draw(count, entropy)
    return float(statistics(counts[None])[0]), statistics(drawn)

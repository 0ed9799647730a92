"""Tests of shares: one by the most powerful private test where the number of rows is public, and two compared."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, sqrt
from typing import Any, Unpack

import numpy as np
from scipy import stats

from sfumato.core.metrics import L1, L2, VectorMetric
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer, probability
from sfumato.guarantee import guarantee
from sfumato.learn.columns import Floats, Match
from sfumato.learn.noising import least_noise
from sfumato.learn.significance.asking import Paying, Terms, aligned, category_column, column_name, rows_together
from sfumato.learn.significance.draws import NoiseLaw, binomial_quantiles, binomials, uniforms
from sfumato.learn.significance.finding import Ends, Finding, IntervalEstimate, concluded, read_alternative, unknown
from sfumato.learn.sources import Source
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.distribution import Noise
from sfumato.query.frame import Frame
from sfumato.transforms.gram import gram

UNSURE = Fraction(1, 1000)
"""The probability, added to p-values, that an unknown number of rows is above its bound (Berger and Boos)."""


def proportion_test(
    data: object,
    *,
    p: AnyNumber = Fraction(1, 2),
    success: Any = True,
    size: int | None = None,
    column: str | None = None,
    by: object = None,
    groups: Sequence[Hashable] | None = None,
    alternative: str = "two-sided",
    **paying: Unpack[Paying],
) -> Finding:
    """Tests whether a share is ``p``, or whether two groups have the same share, privately.

    ``proportion_test(answers, p=0.5, success="yes", epsilon=1)`` on values that one holds, or of a table
    ``column="answer"``; ``by`` compares the shares of two groups. If the number of rows is public, say so: with
    ``size=1000`` only successes are counted, and pure ε makes it the most powerful of all private tests of a share
    (Awan and Slavković 2018, one-sided; proofs/significance.md#tulap). Rows are taken to be independent.

    >>> found = proportion_test([True] * 800 + [False] * 200, p=0.7, size=1000, epsilon=1)
    >>> found.p_value < 1e-6, found.interval()[0] > 0.7
    (True, True)
    """
    terms, side = Terms.read(paying), read_alternative(alternative)
    null = float(probability(p, "p"))
    if by is not None:
        return _two_shares(data, success, column, by, groups, side, terms)
    if groups is not None:
        raise BadArgument("groups", "left out, where no groups are compared", groups)
    source, name = matched(data, success, size, column, terms)
    asked = f"is the share of {name} = {success} {null:g}?"
    if size is not None:
        return _known_size(asked, source, null, integer(size, "size", least=1), side, terms)
    return _unknown_size(asked, source, null, side, terms)


def matched(data: object, success: Any, size: int | None, column: object, terms: Terms) -> tuple[Source, str]:
    """Where successes are counted; failures too, unless the number of rows is public."""
    name = column_name(column, "column") if isinstance(data, Frame) else "x"
    source = terms.source(data, (Match(name, success, alone=size is not None),), (data,))
    if size is not None and rows_together(source) > 1:
        must = "left out, where a person may have several rows: they are not independent (or max_rows=1)"
        raise BadArgument("size", must, size)
    return source, name


def proportion_interval(
    data: object,
    *,
    success: Any = True,
    size: int | None = None,
    column: str | None = None,
    **paying: Unpack[Paying],
) -> IntervalEstimate:
    """Estimates a share of the population, with an interval that counts the noise and the drawing of rows, privately.

    ``proportion_interval(answers, success="yes", epsilon=1)`` on values that one holds, or of a table
    ``column="answer"``. The interval is what `proportion_test` would not reject: Clopper and Pearson's with the noise
    in it. If the number of rows is public, ``size=1000`` says so, and only successes are counted
    (proofs/significance.md#share-intervals).

    >>> found = proportion_interval([True] * 800 + [False] * 200, size=1000, epsilon=1)
    >>> low, high = found.interval()
    >>> 0.7 < low < 0.8 < high < 0.9
    True
    """
    terms = Terms.read(paying)
    source, name = matched(data, success, size, column, terms)
    if size is not None:
        tested = _known_size("", source, 0.5, integer(size, "size", least=1), "two-sided", terms)
    else:
        tested = _unknown_size("", source, 0.5, "two-sided", terms)
    asked = f"which share of {name} is {success}?"
    return IntervalEstimate(asked, tested.estimate, tested.interval, tested.release_, tested.rows)


def _known_size(asked: str, source: Source, null: float, size: int, side: str, terms: Terms) -> Finding:
    """Counts successes in whole numbers, with whole noise, and works p-values out without simulation."""

    def counted(metric: VectorMetric) -> Transformation:
        whole = gram([1], pairs=[(0, 1)], metric=L1() if not isinstance(metric, L2) else metric, whole=True)
        return source.rows() >> whole

    sums = least_noise(counted, terms.paid, source.unit)
    release = source.run(sums.measurement, loss=terms.paid)
    if sums.measurement.noise is None:
        raise TypeError(sums.measurement)
    noise = sums.measurement.noise.noise
    seen = float(release.value[0]) + float(uniforms(1, terms.drawing)[0]) - 0.5
    value, error = min(max(seen / size, 0.0), 1.0), sqrt(null * (1 - null) / size + (sums.deviation / size) ** 2)
    factor = 2.8 if side == "two-sided" else 2.49  # normal quantiles of 97.5 % (or 95 %) and of 80 %
    return Finding(
        asked,
        (seen / size - null) / error if error else 0.0,
        _p_value(seen, null, size, noise, side),
        release,
        value,
        factor * error,
        float(size),
        _share_ends(seen, size, noise, side),
    )


@guarantee(
    claim="P(X + N >= t), X binomial, N whole noise plus a uniform number within ½ of 0: Tulap for discrete Laplace",
    proof="proofs/significance.md#tulap",
    reviewed="0ea900c05be0",
)
def upper_tail(t: float, share: float, size: int, noise: Noise) -> float:
    """P(X + N ≥ t), X binomial, N whole noise plus a uniform number within ½ of 0 (proofs/significance.md#tulap).

    What is left out of the binomial law is less than 10⁻³⁰; the lower tail is the upper one of failures.
    """
    far = 12 * sqrt(size * share * (1 - share)) + 70
    successes = np.arange(max(0, int(size * share - far)), min(size, int(size * share + far) + 1) + 1.0)
    mass = stats.binom.pmf(successes, size, share)
    gap = t - successes
    whole = np.floor(gap + 0.5)
    above, at = whole_tails(noise, whole + 1), whole_tails(noise, whole)
    return float(min(mass @ (above + (at - above) * (whole + 0.5 - gap)), 1.0))


def whole_tails(noise: Noise, points: Floats) -> Floats:
    """P(noise ≥ k) at whole numbers k, in floats."""
    if isinstance(noise, DiscreteLaplace):
        rate = 1 / float(noise.scale)
        tail = np.exp(-rate * np.where(points >= 1, points, 1 - points)) / (1 + np.exp(-rate))
        return np.asarray(np.where(points >= 1, tail, 1 - tail))
    spread = sqrt(float(noise.variance().upper()))
    reach = int(40 * spread) + 2
    mass = np.exp(-0.5 * (np.arange(-reach, reach + 1) / spread) ** 2)
    tails = np.append(np.cumsum(mass[::-1])[::-1] / mass.sum(), 0.0)
    return np.asarray(tails[np.clip(points + reach, 0, len(tails) - 1).astype(np.intp)])


def _p_value(seen: float, null: float, size: int, noise: Noise, side: str) -> float:
    def above(t: float) -> float:
        return upper_tail(t, null, size, noise)

    def below(t: float) -> float:
        return upper_tail(size - t, 1 - null, size, noise)

    if side != "two-sided":
        return above(seen) if side == "greater" else below(seen)
    apart = abs(seen - size * null)
    return min(above(size * null + apart) + below(size * null - apart), 1.0)


def _share_ends(seen: float, size: int, noise: Noise, side: str) -> Ends:
    """The shares that one-sided tests would not reject, each at half of what may be missed; one alone at all of it."""

    def least(count: float, missed: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (low, middle) if upper_tail(count, middle, size, noise) > missed else (middle, high)
        return low

    def ends(confidence: float) -> tuple[float, float]:
        missed = (1 - confidence) / (2 if side == "two-sided" else 1)
        return (
            0.0 if side == "less" else least(seen, missed),
            1.0 if side == "greater" else 1 - least(size - seen, missed),
        )

    return ends


def _unknown_size(asked: str, source: Source, null: float, side: str, terms: Terms) -> Finding:
    """Counts successes and failures, each with its noise, and bounds the number of rows from above by their sum."""
    release, sums, law = terms.released(source, [(0, 1)])
    rows = float(sums.sum())
    if rows < 1:
        return unknown(asked, release, rows, (0.0, 1.0))
    statistic, under = share_statistic(sums, law, null, terms.simulations, terms.drawing)
    value = min(max(float(sums[0]) / rows, 0.0), 1.0)
    error = sqrt(value * (1 - value) * rows + law.variance * (value**2 + (1 - value) ** 2)) / rows
    tested = concluded(asked, release, statistic, under, side, value=value, error=error, rows=rows)
    ends = ends_of_counts(sums, law, side, terms.simulations, terms.drawing)
    return replace(tested, p_value=min(tested.p_value + float(UNSURE), 1.0), ends=ends)


def ends_of_counts(sums: Floats, law: NoiseLaw, side: str, count: int, entropy: Entropy) -> Ends:
    """Where a share is, of noisy counts of successes and failures: what one-sided tests would not reject.

    Under a share θ and n rows, (1 − θ)Y − θF is a binomial number less nθ, plus noise of which the law is known.
    """
    noise = law.draw(count, entropy)
    people = max(ceil((float(sums.sum()) + law.reach(Fraction(1, 20))) / law.together), 1)

    def tail(first: int, share: float) -> float:
        """The chance of at least so many successes (or failures), if their share is this."""
        other = 1 - first
        apart = (1 - share) * (sums[first] - noise[:, first]) - share * (sums[other] - noise[:, other])
        return float(stats.binom.sf(np.ceil(apart / law.together + people * share) - 1, people, share).mean())

    def least(first: int, missed: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(30):
            middle = (low + high) / 2
            low, high = (low, middle) if tail(first, middle) > missed else (middle, high)
        return low

    def ends(confidence: float) -> tuple[float, float]:
        missed = (1 - confidence) / (2 if side == "two-sided" else 1)
        low = 0.0 if side == "less" else least(0, missed)
        return low, 1.0 if side == "greater" else 1 - least(1, missed)

    return ends


def share_statistic(sums: Floats, law: NoiseLaw, null: float, count: int, entropy: Entropy) -> tuple[float, Floats]:
    """How far noisy counts are from a share, over its deviation, and draws of that with the most rows that may be.

    The deviation is one number for all of them, so that more rows can only spread the draws.
    """
    rows = float(sums.sum())
    people = np.ceil((rows + 2 * law.reach(UNSURE / 2)) / law.together)
    spread = max(rows, 1.0) * law.together * null * (1 - null) + law.variance * (null**2 + (1 - null) ** 2)

    def statistics(counts: Floats) -> Floats:
        return np.asarray(((1 - null) * counts[:, 0] - null * counts[:, 1]) / np.sqrt(spread + 1e-12))

    drawn = binomials(np.full(count, people), null, entropy)
    noisy = law.together * np.stack([drawn, people - drawn], axis=1) + law.draw(count, entropy)
    return float(statistics(sums[None])[0]), statistics(noisy)


def _two_shares(
    data: object, success: Any, column: object, by: object, groups: Sequence[Hashable] | None, side: str, terms: Terms
) -> Finding:
    """Counts successes and failures of two groups."""
    category = category_column(data, by, groups, "by")
    if category.kind != 2:
        raise BadArgument("groups", "two; chi_square_test() compares more", category.kind)
    name = column_name(column, "column") if isinstance(data, Frame) else "x"
    values = () if isinstance(data, Frame) else aligned(data, by)
    source = terms.source(data, (Match(name, success), category), values)
    release, sums, law = terms.released(source, [(1, 2)])
    asked = f"is the share of {name} = {success} the same for {' and '.join(category.names)}?"
    counts = sums.reshape(2, 2)
    rows = float(sums.sum())
    if counts.sum(axis=0).min() < 1:
        return unknown(asked, release, rows, (-1.0, 1.0))
    statistic, under, error = shares_statistic(counts, law, terms.simulations, terms.drawing)
    return concluded(asked, release, statistic, under, side, value=statistic * error, error=error, rows=rows)


def shares_statistic(counts: Floats, law: NoiseLaw, count: int, entropy: Entropy) -> tuple[float, Floats, float]:
    """The difference of two shares over its deviation, its draws if both are one, and the deviation.

    The one share is that of all rows, or a deviation of it less or more: p-values are the largest of three.
    """
    people = np.rint(np.maximum(counts.sum(axis=0) / law.together, 1.0))
    chances, noise = uniforms(2 * count, entropy).reshape(2, count), law.draw(count, entropy).reshape(count, 2, 2)
    under = []
    for share in _likely_shares(counts, law):
        drawn = np.empty((count, 2, 2))
        for place, size in enumerate(people):
            hits = binomial_quantiles(chances[place], np.full(count, size), share)
            drawn[:, 0, place], drawn[:, 1, place] = law.together * hits, law.together * (size - hits)
        gaps, errors, _ = apart_and_error(drawn + noise, law)
        under.append(gaps / errors)
    (apart,), (error,), (scale,) = apart_and_error(counts[None], law)
    return float(apart / error), np.stack(under), float(error / scale)


def _likely_shares(counts: Floats, law: NoiseLaw) -> tuple[float, float, float]:
    """The share of all rows, and what is a deviation less and more: by the drawing of rows, and by the noise."""
    rows = max(float(counts.sum()), 1.0)
    pooled = min(max(float(counts[0].sum()) / rows, 0.0), 1.0)
    spread = (law.together * pooled * (1 - pooled) + 2 * law.variance * (pooled**2 + (1 - pooled) ** 2) / rows) / rows
    return pooled, max(pooled - sqrt(spread), 0.0), min(pooled + sqrt(spread), 1.0)


def apart_and_error(counts: Floats, law: NoiseLaw) -> tuple[Floats, Floats, Floats]:
    """The first share minus the second times a scale, its deviation if both are one, and the scale.

    Scaled by n₁n₂/(n₁ + n₂) it is a sum of counts with weights, of which no noisy number divides another.
    """
    rows = np.maximum(counts.sum(axis=1), 1.0)
    pooled = np.clip(counts[:, 0].sum(axis=1) / rows.sum(axis=1), 0.0, 1.0)[:, None]
    weights = rows[:, ::-1] / rows.sum(axis=1, keepdims=True)
    apart = weights * (counts[:, 0] - pooled * rows)
    spread = np.maximum(pooled * (1 - pooled) * rows, law.deviation)
    errors = weights**2 * (spread + law.variance * (pooled**2 + (1 - pooled) ** 2))
    return np.asarray(apart[:, 0] - apart[:, 1]), np.sqrt(errors.sum(axis=1)), (weights * rows)[:, 0]

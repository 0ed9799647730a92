"""Tests of shares: one by the most powerful private test where the number of rows is public, and two compared."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import nan, sqrt
from typing import Any, Unpack

import numpy as np
from scipy import stats

from sfumato.core.metrics import L1, L2, VectorMetric
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer, probability
from sfumato.learn.columns import Floats, Match
from sfumato.learn.noising import least_noise
from sfumato.learn.significance.asking import (
    Paying,
    Terms,
    aligned,
    category_column,
    column_name,
)
from sfumato.learn.significance.draws import NoiseLaw, binomials, uniforms
from sfumato.learn.significance.finding import (
    Ends,
    Finding,
    around,
    detectable_effect,
    monte_carlo,
    read_alternative,
    sided,
)
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
    name = column_name(column, "column") if isinstance(data, Frame) else "x"
    source = terms.source(data, (Match(name, success, alone=size is not None),), (data,))
    asked = f"is the share of {name} = {success} {null:g}?"
    if size is not None:
        return _known_size(asked, source, null, integer(size, "size", least=1), side, terms)
    return _unknown_size(asked, source, null, side, terms)


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
    """The shares that one-sided tests would not reject, each at half of what may be missed (at all of it, one-sided)."""

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
    rows, entropy = float(sums.sum()), terms.drawing
    if rows < 1 or law.added is None:
        return Finding(asked, nan, 1.0, release, rows=rows, ends=lambda _: (0.0, 1.0))
    reach = float(law.added.step * law.added.noise.half_width(1 - UNSURE / 2))
    most = np.full(terms.simulations, float(np.ceil(max(rows + 2 * reach, 1.0))))

    def statistics(counts: Floats, share: float) -> Floats:
        apart = (1 - share) * counts[:, 0] - share * counts[:, 1]
        spread = np.clip(counts.sum(axis=1), 1.0, None) * share * (1 - share)
        return np.asarray(apart / np.sqrt(spread + law.variance * (share**2 + (1 - share) ** 2) + 1e-12))

    def under(share: float) -> Floats:
        drawn = binomials(most, share, entropy)
        return statistics(np.stack([drawn, most - drawn], axis=1) + noise, share)

    noise = law.draw(terms.simulations, entropy)
    statistic, drawn = float(statistics(sums[None], null)[0]), under(null)
    chance = monte_carlo(float(sided(np.array([statistic]), side)[0]), sided(drawn, side)) + float(UNSURE)
    value = min(max(float(sums[0]) / rows, 0.0), 1.0)
    error = sqrt(value * (1 - value) * rows + law.variance * (value**2 + (1 - value) ** 2)) / rows
    found = around(value, error, under(value), side)

    def ends(confidence: float) -> tuple[float, float]:
        low, high = found(min(confidence + float(UNSURE), 1.0))
        return max(low, 0.0), min(high, 1.0)

    effect = detectable_effect(drawn, side) * error
    return Finding(asked, statistic, min(chance, 1.0), release, value, effect, rows, ends)


def _two_shares(
    data: object, success: Any, column: object, by: object, groups: Sequence[Hashable] | None, side: str, terms: Terms
) -> Finding:
    """Counts successes and failures of two groups; under the null hypothesis they have one share, that of both."""
    category = category_column(data, by, groups, "by")
    if category.kind != 2:
        raise BadArgument("groups", "two; chi_square_test() compares more", category.kind)
    name = column_name(column, "column") if isinstance(data, Frame) else "x"
    values = () if isinstance(data, Frame) else aligned(data, by)
    source = terms.source(data, (Match(name, success), category), values)
    release, sums, law = terms.released(source, [(1, 2)])
    asked = f"is the share of {name} = {success} the same for {' and '.join(category.names)}?"
    counts = sums.reshape(1, 2, 2)
    rows = counts[0].sum(axis=0)
    if rows.min() < 1:
        return Finding(asked, nan, 1.0, release, rows=float(rows.sum()), ends=lambda _: (-1.0, 1.0))
    pooled = min(max(float(counts[0, 0].sum() / rows.sum()), 0.0), 1.0)
    drawn = np.empty((terms.simulations, 2, 2))
    for place, size in enumerate(np.rint(rows)):
        drawn[:, 0, place] = binomials(np.full(terms.simulations, size), pooled, terms.drawing)
        drawn[:, 1, place] = size - drawn[:, 0, place]
    drawn += law.draw(terms.simulations, terms.drawing).reshape(drawn.shape)
    (value,), (error,) = apart_and_error(counts, law)
    gaps, errors = apart_and_error(drawn, law)
    under, statistic = np.asarray(gaps / errors), float(value / error)
    chance = monte_carlo(float(sided(np.array([statistic]), side)[0]), sided(under, side))
    effect = detectable_effect(under, side) * float(error)
    ends = around(float(value), float(error), under, side)
    return Finding(asked, statistic, chance, release, float(value), effect, float(rows.sum()), ends)


def apart_and_error(counts: Floats, law: NoiseLaw) -> tuple[Floats, Floats]:
    """The first share minus the second, and its deviation if both are one, by drawing rows and by the noise."""
    rows = np.maximum(counts.sum(axis=1), 1.0)
    shares = np.clip(counts[:, 0] / rows, 0.0, 1.0)
    pooled = np.clip(counts[:, 0].sum(axis=1) / rows.sum(axis=1), 0.0, 1.0)[:, None]
    spread = np.maximum(pooled * (1 - pooled) * rows, law.deviation)
    errors = (spread + law.variance * (pooled**2 + (1 - pooled) ** 2)) / rows**2
    return np.asarray(shares[:, 0] - shares[:, 1]), np.sqrt(errors.sum(axis=1))

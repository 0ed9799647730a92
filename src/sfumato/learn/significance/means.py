"""Tests of means: one sample, two, pairs, and several groups, from noisy counts, sums and sums of squares."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Unpack, final

import numpy as np
from scipy.special import ndtri

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer, positive, probability, rational
from sfumato.learn.columns import Category, Floats, Made, Number, Square
from sfumato.learn.significance.asking import Bounds, Paying, Terms, number_column, one_array, samples
from sfumato.learn.significance.draws import NoiseLaw, binomial_quantiles, chi_squares, uniforms
from sfumato.learn.significance.finding import Ends, Finding, concluded, reach_of, read_alternative, sided, unknown
from sfumato.learn.sources import Held, Source
from sfumato.query.frame import Frame
from sfumato.release.record import Release
from sfumato.transforms.gram import Cell

FLOOR = 2.0
"""A scatter is taken for at least so many deviations of the noise: below, it cannot be told from none."""


UNSEEN = 3.0
"""Rows of a kind that has a chance of 3/n are absent from one sample in twenty: so many are drawn beside those seen."""

SKEW = 2.5
"""Draws of skewed rows have this skewness, where bounds allow it: that of waiting times is 2."""

RARE = (1 - SKEW / sqrt(4 + SKEW**2)) / 2
"""The chance of the rarer of two values with that skewness."""

LEANS = {
    1: ((0,), (1,), (-1,)),
    2: ((0, 0), (1, 1), (-1, -1), (1, -1), (-1, 1)),
}
"""The nulls that p-values are the largest of: no group is skewed, or each is, to the right (1) or to the left (−1)."""


@final
@dataclass(frozen=True, eq=False)
class Groups:
    """Noisy counts, sums, means and variances of groups in scaled numbers: rows are draws, columns are groups."""

    counts: Floats
    totals: Floats
    means: Floats
    variances: Floats
    errors: Floats
    """The variance of each mean, by the drawing of rows and by the noise."""
    most: Floats
    """Variances that are more by a deviation of the noise, and by `UNSEEN` rows at the farther bound."""

    @classmethod
    def of(cls, sums: Floats, law: NoiseLaw) -> Groups:
        """Reads released sums: of each draw the counts, then the sums, then the sums of 2s² − 1, of all groups."""
        counts, totals, doubled = np.moveaxis(sums.reshape(len(sums), 3, -1), 1, 0)
        rows = np.maximum(counts, 2.0)
        means = np.clip(totals / rows, -1.0, 1.0)
        scatter = np.maximum((rows + doubled) / 2 - rows * means**2, FLOOR * law.deviation)
        unseen = UNSEEN * (1 + np.abs(means)) ** 2
        variances, most = scatter / (rows - 1), (scatter + law.deviation + unseen) / (rows - 1)
        return cls(rows, totals, means, variances, variances / rows + law.variance * (1 + means**2) / rows**2, most)

    def under(self, means: Floats, law: NoiseLaw, count: int, entropy: Entropy) -> list[Groups]:
        """Draws of what would be released with these counts, the most variances, and other means, under each null.

        All nulls have the same noise, and rows that go up and down together: p-values are the largest of several, which
        would else be more than each for no reason.
        """
        groups = self.counts.shape[1]
        leans = LEANS.get(groups, ((0,) * groups, (1,) * groups, (-1,) * groups))
        chances, noise = uniforms(count * groups, entropy).reshape(count, groups), law.draw(count, entropy)
        squares = chi_squares(self._people(law) - 1, count, entropy)
        return [Groups.of(self._drawn(means, law, chances, squares, lean) + noise, law) for lean in leans]

    def _people(self, law: NoiseLaw) -> Floats:
        """How many people there are at least, if each has as many rows as may be."""
        return np.asarray(np.maximum(self.counts[0] / law.together, 2.0))

    def _drawn(self, means: Floats, law: NoiseLaw, chances: Floats, squares: Floats, lean: Sequence[int]) -> Floats:
        """Sums of rows: normal numbers, or of groups that lean two values, the rarer to that side.

        Rows that may be of one person are alike.
        """
        rows, people = self.counts[0], self._people(law)
        each = rows / people
        variances = self.most[0] * (rows - 1) / (rows - each)
        if any(lean):
            centres, scatter = _leaning(np.rint(people), means, variances, np.asarray(lean), chances)
        else:
            centres, scatter = means + np.sqrt(variances / people) * ndtri(chances), variances * squares
        summed = each * scatter + rows * centres**2
        sums = np.stack([np.broadcast_to(rows, centres.shape), rows * centres, 2 * summed - rows], axis=1)
        return np.asarray(sums.reshape(len(chances), -1))


def _leaning(people: Floats, means: Floats, variances: Floats, lean: Floats, chances: Floats) -> tuple[Floats, Floats]:
    """Means, and sums of squares around them, of rows with two values: as skewed as `RARE` and bounds allow.

    With the rarer value of chance p, a far bound is kept where p ≥ 1/(1 + (far/spread)²), the near one where p ≤
    1/(1 + (spread/near)²); both can be, as no variance is above far · near.
    """
    far, near = np.maximum(1 - lean * means, 1e-9), np.maximum(1 + lean * means, 1e-9)
    variances = np.minimum(variances, far * near)
    spread = np.sqrt(variances)
    shares = np.maximum(RARE, 1 / (1 + (far / spread) ** 2))
    shares = np.minimum(shares, np.minimum(0.5, 1 / (1 + (spread / near) ** 2)))
    rare = np.empty_like(chances)
    for place, share in enumerate(shares.tolist()):
        drawn = chances[:, place] if lean[place] > 0 else 1 - chances[:, place]
        rare[:, place] = binomial_quantiles(drawn, np.full(len(chances), people[place]), share)
    both = shares * (1 - shares)
    centres = means + lean * spread * (rare / people - shares) / np.sqrt(both)
    return np.asarray(centres), np.asarray(variances * rare * (people - rare) / people / both)


def t_test(
    data: object,
    other: object = None,
    *,
    mu: AnyNumber = 0,
    paired: bool = False,
    column: str | None = None,
    by: object = None,
    between: Bounds = None,
    groups: Sequence[Hashable] | None = None,
    alternative: str = "two-sided",
    **paying: Unpack[Paying],
) -> Finding:
    """Tests whether a mean is ``mu``, or whether the means of two groups differ by ``mu`` (Welch's test), privately.

    ``t_test(x, mu=5, between=(0, 10), epsilon=1)`` on numbers that one holds; ``t_test(x, y, …)`` compares two samples
    and ``paired=True`` their differences, of which ``between`` then are the bounds. ``t_test(session.table("trial"),
    column="score", by="arm", loss=sf.Pure(1), max_rows=1)`` behind the ledger; groups are compared in the order of
    ``groups``, or of the codebook: the first minus the second.

    Counts, sums and sums of squares are released with noise, once; the p-value is that of the released statistic with
    its noise, by drawing releases of normal numbers under the null hypothesis. Without noise it is Student's, or
    Welch's. Rows are taken to be independent: of each person, one (proofs/significance.md#means).

    >>> import numpy as np
    >>> found = t_test(np.arange(1000.0) % 10, mu=7, between=(0, 9), epsilon=1)
    >>> found.p_value < 0.01, found.release_.loss
    (True, Pure(epsilon=1.0))
    """
    terms, side = Terms.read(paying), read_alternative(alternative)
    if paired and other is not None:
        data, other = paired_differences(data, other), None
    if other is None and by is None:
        number = number_column(data, column, between, "x")
        source = terms.source(data, (number,), () if isinstance(data, Frame) else (one_array(data),))
        return _one_mean(source, number, float(rational(mu, "mu")), side, terms)
    shift = float(rational(mu, "mu"))
    source, number, category = samples(
        data, [] if other is None else [other], column=column, by=by, between=between, groups=groups, terms=terms
    )
    if category.kind != 2:
        raise BadArgument("groups", "two; anova() compares more", category.kind)
    release, sums, law = _released(source, number, terms)
    asked = f"do the means of {number.name} differ between {' and '.join(category.names)}, but for {shift:g}?"
    return _two_means(asked, release, sums, law, number, shift, side, terms)


def _released(source: Source, number: Number, terms: Terms) -> tuple[Release, Floats, NoiseLaw]:
    """Pays for counts, sums and sums of squares: by the groups of the second column, where there is one."""
    return terms.released(*_asked(source, number), by_class=len(source.columns) > 1)


def _asked(source: Source, number: Number) -> tuple[Source, list[Cell]]:
    """The columns of which products are added up, and which products."""
    columns: list[tuple[int, Made]] = [(0, number), (0, Square(number)), *((1, group) for group in source.columns[1:])]
    last = len(columns) if len(source.columns) > 1 else 0
    return source.chosen(columns), [(min(place, last), max(place, last)) for place in range(3)]


def paired_differences(data: object, other: object) -> Floats:
    """The differences of two samples of one length."""
    if isinstance(data, Frame):
        must = "a column of the table: table.with_columns(change=sf.col('after') - sf.col('before')), column='change'"
        raise BadArgument("pairs", must, "arrays")
    first, second = one_array(data), one_array(other)
    if len(first) != len(second):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[len(first), len(second)]}")
    return np.asarray(first - second)


def _one_mean(source: Source, number: Number, mu: float, side: str, terms: Terms) -> Finding:
    release, sums, law = _released(source, number, terms)
    asked, null, rows = f"is the mean of {number.name} {mu:g}?", (mu - number.middle) / number.half, float(sums[0])
    if rows < 2:
        return unknown(asked, release, rows, (-np.inf, np.inf))
    statistic, under, error = mean_statistic(sums, law, null, terms.simulations, terms.drawing)
    centre, ends = mean_ends(sums, law, side, terms.simulations, terms.drawing)
    tested = concluded(asked, release, statistic, under, side, value=0.0, error=error * number.half, rows=rows)

    def decoded(confidence: float) -> tuple[float, float]:
        low, high = (number.middle + number.half * end for end in ends(confidence))
        return low, high

    return replace(tested, estimate=number.middle + number.half * centre, ends=decoded)


def mean_statistic(
    sums: Floats, law: NoiseLaw, null: float, count: int, entropy: Entropy
) -> tuple[float, Floats, float]:
    """Student's statistic of released sums, its draws under null hypotheses, and the deviation of the mean."""
    seen = Groups.of(sums[None], law)
    under = [from_null(drawn, null, law) for drawn in seen.under(np.array([null]), law, count, entropy)]
    return float(from_null(seen, null, law)[0]), np.stack(under), float(np.sqrt(seen.errors[0, 0]))


def from_null(groups: Groups, null: float, law: NoiseLaw) -> Floats:
    """The sum of distances from a mean, over its deviation: by the rows, and by the noise on the sum and the count."""
    apart = groups.totals - null * groups.counts
    return np.asarray((apart / np.sqrt(groups.variances * groups.counts + law.variance * (1 + null**2)))[:, 0])


def mean_ends(sums: Floats, law: NoiseLaw, side: str, count: int, entropy: Entropy) -> tuple[float, Ends]:
    """The mean, and where it is: what the test would not reject, with draws around the mean that was seen (Fieller)."""
    seen = Groups.of(sums[None], law)
    centre = seen.means[0, 0]
    likely = replace(seen, totals=seen.counts * seen.means)
    around = [from_null(drawn, centre, law) for drawn in seen.under(np.array([centre]), law, count, entropy)]

    def least(reach: float, low: float, high: float) -> float:
        """Where the statistic, which falls as the mean rises, comes down to a number."""
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if from_null(likely, middle, law)[0] > reach else (low, middle)
        return high

    def ends(confidence: float) -> tuple[float, float]:
        reach = reach_of(np.stack(around), side, confidence)
        low = -1.0 if side == "less" else least(reach, -1.0, float(centre))
        return low, 1.0 if side == "greater" else least(-reach, float(centre), 1.0)

    return float(centre), ends


def _two_means(
    asked: str, release: Release, sums: Floats, law: NoiseLaw, number: Number, mu: float, side: str, terms: Terms
) -> Finding:
    rows, shift = float(sums[:2].sum()), mu / number.half
    if sums[:2].min() < 2:
        return unknown(asked, release, rows, (-np.inf, np.inf))
    statistic, under, error = difference_statistic(sums, law, shift, terms.simulations, terms.drawing)
    value = (shift + statistic * error) * number.half
    return concluded(asked, release, statistic, under, side, value=value, error=error * number.half, rows=rows)


def difference_statistic(
    sums: Floats, law: NoiseLaw, shift: float, count: int, entropy: Entropy
) -> tuple[float, Floats, float]:
    """Welch's statistic of released sums, its draws under the null hypothesis, and the deviation of the difference."""
    seen = Groups.of(sums[None], law)
    middle = np.average(seen.means[0] - [shift, 0.0], weights=seen.counts[0])
    (apart,), (error,) = _differences(seen)
    under = map(_differences, seen.under(np.array([middle + shift, middle]), law, count, entropy))
    return float((apart - shift) / error), np.stack([(gaps - shift) / errors for gaps, errors in under]), float(error)


def _differences(groups: Groups) -> tuple[Floats, Floats]:
    """The first mean minus the second, and the deviation of that."""
    return np.asarray(groups.means[:, 0] - groups.means[:, 1]), np.sqrt(groups.errors.sum(axis=1))


def anova(
    data: object,
    *others: object,
    column: str | None = None,
    by: object = None,
    between: Bounds = None,
    groups: Sequence[Hashable] | None = None,
    **paying: Unpack[Paying],
) -> Finding:
    """Tests whether several groups have one mean (analysis of variance), privately.

    ``anova(x, y, z, between=(0, 10), epsilon=1)`` on samples that one holds, or ``anova(table, column="score",
    by="school", …)`` behind the ledger. What is released is what `t_test` releases, of every group; the statistic is
    Welch's F, with the noise in its denominators: groups need not have one variance (proofs/significance.md#means).
    """
    terms = Terms.read(paying)
    source, number, category = samples(data, others, column=column, by=by, between=between, groups=groups, terms=terms)
    release, sums, law = _released(source, number, terms)
    counts, asked = sums[: category.kind], f"is the mean of {number.name} the same in {category.kind} groups?"
    rows = float(counts.sum())
    if category.kind < 2 or counts.min() < 2:
        return unknown(asked, release, rows)
    return concluded(asked, release, *spread_statistic(sums, law, terms.simulations, terms.drawing), rows=rows)


def spread_statistic(sums: Floats, law: NoiseLaw, count: int, entropy: Entropy) -> tuple[float, Floats]:
    """F of released sums, and its draws under the null hypothesis that all groups have one mean."""
    seen = Groups.of(sums[None], law)
    null = np.full(seen.counts.shape[1], np.average(seen.means[0], weights=1 / seen.errors[0]))
    under = [_f_statistics(drawn) for drawn in seen.under(null, law, count, entropy)]
    return float(_f_statistics(seen)[0]), np.stack(under)


def _f_statistics(groups: Groups) -> Floats:
    """The spread of means over the variance that rows and noise give each: Welch's, but for a factor."""
    weights = 1 / groups.errors
    centre = (weights * groups.means).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
    return np.asarray((weights * (groups.means - centre) ** 2).sum(axis=1) / (weights.shape[1] - 1))


def power_of_t_test(
    *,
    effect: AnyNumber,
    n: int,
    spread: AnyNumber,
    between: tuple[AnyNumber, AnyNumber],
    samples: int = 1,
    alternative: str = "two-sided",
    level: AnyNumber = 0.05,
    **paying: Unpack[Paying],
) -> float:
    """How often `t_test` would find an effect, by simulation: for planning, before any data is asked.

    ``effect`` is the difference of a mean from ``mu``, or of two means; ``n`` the rows of each of ``samples`` groups
    (one or two), ``spread`` their standard deviation, ``between`` the bounds. It uses no data and costs nothing; the
    noise is that of one row for each person.

    >>> power_of_t_test(effect=3, n=400, spread=15, between=(0, 100), epsilon=1, samples=2) < 0.9
    True
    """
    terms, side, groups = Terms.read(paying), read_alternative(alternative), integer(samples, "samples", least=1)
    if groups > 2:
        raise BadArgument("samples", "1 or 2", samples)
    number = Number.read("x", between)
    planned = Held((number, Category("sample", (1, 2)))[:groups], ((), ())[:groups])
    _, law = terms.measured(*_asked(planned, number), by_class=groups > 1)
    half, rows = number.half, float(integer(n, "n", least=2))
    size, variance = float(rational(effect, "effect")) / half, (float(positive(spread, "spread")) / half) ** 2
    known = Groups(*(np.full((1, groups), one) for one in (rows, 0.0, 0.0, variance, 0.0, variance)))
    shift = np.array([size, 0.0])[:groups]

    def statistics(made: Groups) -> Floats:
        if groups == 1:
            return from_null(made, 0.0, law)
        apart, errors = _differences(made)
        return np.asarray(apart / errors)

    under = np.stack([statistics(one) for one in known.under(0 * shift, law, terms.simulations, terms.drawing)])
    critical = reach_of(under, side, 1 - float(probability(level, "level")))
    drawn = known.under(shift, law, terms.simulations, terms.drawing)[0]
    return float(np.mean(sided(statistics(drawn), side) > critical))

"""Tests of means: one sample, two, pairs, and several groups, from noisy counts, sums and sums of squares."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Unpack, final

import numpy as np

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number as AnyNumber
from sfumato.exact import integer, positive, probability, rational
from sfumato.learn.columns import Category, Floats, Made, Number, Square
from sfumato.learn.significance.asking import Bounds, Paying, Terms, number_column, one_array, samples
from sfumato.learn.significance.draws import NoiseLaw, chi_squares, normals
from sfumato.learn.significance.finding import Finding, concluded, read_alternative, sided, unknown
from sfumato.learn.sources import Held, Source
from sfumato.query.frame import Frame
from sfumato.release.record import Release
from sfumato.transforms.gram import Cell

FLOOR = 2.0
"""A scatter is taken for at least so many deviations of the noise: below, it cannot be told from none."""


@final
@dataclass(frozen=True, eq=False)
class Groups:
    """Noisy counts, means and variances of groups in scaled numbers: rows are draws, columns are groups."""

    counts: Floats
    means: Floats
    variances: Floats
    errors: Floats
    """The variance of each mean, by the drawing of rows and by the noise."""
    most: Floats
    """Variances that are more by a deviation of the noise: draws with them reject a little less (by simulation)."""

    @classmethod
    def of(cls, sums: Floats, law: NoiseLaw) -> Groups:
        """Reads released sums: of each draw the counts, then the sums, then the sums of 2s² − 1, of all groups."""
        counts, totals, doubled = np.moveaxis(sums.reshape(len(sums), 3, -1), 1, 0)
        rows = np.maximum(counts, 2.0)
        means = np.clip(totals / rows, -1.0, 1.0)
        scatter = np.maximum((rows + doubled) / 2 - rows * means**2, FLOOR * law.deviation)
        variances, most = scatter / (rows - 1), (scatter + law.deviation) / (rows - 1)
        return cls(rows, means, variances, variances / rows + law.variance * (1 + means**2) / rows**2, most)

    def drawn(self, means: Floats, law: NoiseLaw, count: int, entropy: Entropy) -> Floats:
        """Draws what would be released of normal numbers with these counts, the most variances, and other means."""
        rows, variances = self.counts[0], self.most[0]
        drawn = means + np.sqrt(variances / rows) * normals((count, len(rows)), entropy)
        squares = variances * chi_squares(rows - 1, count, entropy) + rows * drawn**2
        sums = np.stack([np.broadcast_to(rows, drawn.shape), rows * drawn, 2 * squares - rows], axis=1)
        return np.asarray(sums.reshape(count, -1) + law.draw(count, entropy))


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
    value = float(number.decode(np.array([null + statistic * error]))[0])
    return concluded(asked, release, statistic, under, side, value=value, error=error * number.half, rows=rows)


def mean_statistic(
    sums: Floats, law: NoiseLaw, null: float, count: int, entropy: Entropy
) -> tuple[float, Floats, float]:
    """Student's statistic of released sums, its draws under the null hypothesis, and the deviation of the mean."""
    seen = Groups.of(sums[None], law)
    drawn = Groups.of(seen.drawn(np.array([null]), law, count, entropy), law)
    error = float(np.sqrt(seen.errors[0, 0]))
    return (
        (float(seen.means[0, 0]) - null) / error,
        np.asarray(((drawn.means - null) / np.sqrt(drawn.errors))[:, 0]),
        error,
    )


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
    drawn = Groups.of(seen.drawn(np.array([middle + shift, middle]), law, count, entropy), law)
    (apart,), (error,) = _differences(seen)
    gaps, errors = _differences(drawn)
    return float((apart - shift) / error), np.asarray((gaps - shift) / errors), float(error)


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
    by="school", …)`` behind the ledger. What is released is what `t_test` releases, of every group; the statistic is F,
    with the noise in its denominator, and under the null hypothesis every group keeps a variance of its own
    (proofs/significance.md#means).
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
    """F of released sums, and its draws under the null hypothesis that all groups have the mean of all rows."""
    seen = Groups.of(sums[None], law)
    null = np.full(seen.counts.shape[1], np.average(seen.means[0], weights=seen.counts[0]))
    drawn = Groups.of(seen.drawn(null, law, count, entropy), law)
    return float(_f_statistics(seen, law)[0]), _f_statistics(drawn, law)


def _f_statistics(groups: Groups, law: NoiseLaw) -> Floats:
    """The spread of means over what rows and noise make of it; F without noise."""
    rows, means = groups.counts, groups.means
    total = rows.sum(axis=1, keepdims=True)
    centre = (rows * means).sum(axis=1, keepdims=True) / total
    apart = (rows * (means - centre) ** 2).sum(axis=1) / (rows.shape[1] - 1)
    within = (groups.variances * (rows - 1)).sum(axis=1) / (total[:, 0] - rows.shape[1]).clip(1.0)
    return np.asarray(apart / (within + law.variance * ((1 + means**2) / rows).mean(axis=1)))


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
    known = Groups(*(np.full((1, groups), one) for one in (rows, 0.0, variance, 0.0, variance)))
    shift = np.array([size, 0.0])[:groups]

    def statistics(means: Floats) -> Floats:
        drawn = Groups.of(known.drawn(means, law, terms.simulations, terms.drawing), law)
        if groups == 1:
            return np.asarray((drawn.means / np.sqrt(drawn.errors))[:, 0])
        apart, errors = _differences(drawn)
        return np.asarray(apart / errors)

    critical = np.quantile(sided(statistics(0 * shift), side), 1 - float(probability(level, "level")))
    return float(np.mean(sided(statistics(shift), side) > critical))

"""Scores: how well each of a public list of candidates fits the data, as exact vectors for private selection.

A score is a whole number of public steps. The distance between score vectors is the largest change of one score (L∞,
which may add that all scores of neighbours move one way), or the range distance, which is what a choice feels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

import numpy as np

from sfumato.core.domains import Array, Categories, Data, Frame, Integers, Texts, Vector, categories
from sfumato.core.metrics import AddRemove, DatasetMetric, LInf, Metric, Range
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, UnknownSize
from sfumato.exact import Number, common_step, probability
from sfumato.transforms.rows import column_space, row_space, shown_of
from sfumato.transforms.score_moves import (
    Moves,
    accuracy_moves,
    mode_moves,
    quantile_moves,
    range_map,
    revenue_moves,
    rows_map,
)
from sfumato.transforms.thresholds import Cutoffs, read_points

SMALL = 1 << 20
"""Numbers that stay below 2⁶² when multiplied by any number of rows that a machine can hold."""


@constructor
def quantile_scores(
    candidates: Sequence[Number], *, alpha: Number, metric: LInf | Range | None = None
) -> Partial[Transformation]:
    """Scores candidates by how close they split the data at a quantile: −|(1 − alpha) #(x < c) − alpha #(x > c)|.

    Takes:      a column of numbers without NaN; distinct public candidates; alpha in [0, 1] (½ is the median)
    Gives:      one exact score to each candidate, best 0, under L∞ (monotonic at alpha 0 and 1) or, on request, range
    Guarantee:  one row added or removed: max(alpha, 1 − alpha); one row exchanged: 1; range: twice that; at alpha 0
                and 1 always 1  (proofs/scores.md#quantile)
    Cost:       one binary search among the candidates for each row

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> quantile_scores([15, 25, 35], alpha=0.25)).map(1)
    Fraction(3, 4)
    """
    points, level = read_points(candidates, "candidates"), probability(alpha, "alpha")
    usual = LInf(monotonic=level in (0, 1))

    def build(space: Space) -> Transformation:
        cutoffs = Cutoffs.of(points, column_space(space, "quantile_scores")[0].element, verb="quantile_scores")
        target = metric or usual
        _require_monotonic(target, holds=level in (0, 1), when="at alpha 0 or 1")
        return _scoring(
            space,
            (len(points), Fraction(1, level.denominator), target),
            lambda data: _quantile_scores(data, cutoffs, level),
            quantile_moves(level, target),
            (f"scores of {len(points)} candidates for the quantile {level}", "proofs/scores.md#quantile"),
        )

    return Partial(f"quantile_scores({len(points)} candidates, alpha={alpha})", build)


@constructor
def mode_scores(
    categories: Sequence[Hashable] | None = None, *, metric: LInf | Range | None = None
) -> Partial[Transformation]:
    """Scores each category by the number of rows that have it.

    Takes:      a column of categories (which are then the candidates), or of texts or integers and a list of categories
    Gives:      one count to each category under L∞ (monotonic where rows are added or removed) or, on request, range
    Guarantee:  one row added, removed or exchanged: 1; range: 1 added or removed, 2 exchanged  (proofs/scores.md#mode)
    Cost:       one pass

    >>> from sfumato.core.space import vector
    >>> (vector(["red", "blue"]) >> mode_scores()).map(1)
    Fraction(1, 1)
    """

    def build(space: Space) -> Transformation:
        domain, _ = column_space(space, "mode_scores")
        listed = _categories(domain, categories)
        one_way = isinstance(space.metric, AddRemove) and domain.size is None
        target = metric or LInf(monotonic=one_way)
        _require_monotonic(target, holds=one_way, when="where rows are added or removed, at an unknown size")
        return _scoring(
            space,
            (len(listed), Fraction(1), target),
            lambda data: _counts(data, domain, listed),
            mode_moves(target),
            (f"counts of {len(listed)} categories", "proofs/scores.md#mode"),
        )

    return Partial("mode_scores()", build)


@constructor
def revenue_scores(prices: Sequence[Number], *, metric: LInf | Range | None = None) -> Partial[Transformation]:
    """Scores each price by what it would earn: the price times the number of rows that value the good at least as much.

    Takes:      a column of valuations, numbers without NaN; distinct public prices of at least 0
    Gives:      one exact revenue to each price under monotonic L∞ or, on request, L∞ or range
    Guarantee:  the highest price, for one row added, removed or exchanged; range, added or removed:
                max(highest − lowest, second highest)  (proofs/scores.md#revenue)
    Cost:       one binary search among the prices for each row

    >>> from sfumato.core.space import vector
    >>> (vector(float) >> revenue_scores([1, 2, 3, 4])).map(1)
    Fraction(4, 1)
    >>> (vector(float) >> revenue_scores([1, 2, 3, 4], metric=Range())).map(1)
    Fraction(3, 1)
    """
    points = read_points(prices, "prices")
    if min(points) < 0:
        raise BadArgument("prices", "at least 0", prices)
    step = common_step(*points)

    def build(space: Space) -> Transformation:
        cutoffs = Cutoffs.of(points, column_space(space, "revenue_scores")[0].element, verb="revenue_scores")
        target = metric or LInf(monotonic=True)
        steps = [int(point / step) for point in points]
        return _scoring(
            space,
            (len(points), step, target),
            lambda data: _times(cutoffs.reached(cutoffs.values(data)), steps),
            revenue_moves(points, target),
            (f"revenues at {len(points)} prices", "proofs/scores.md#revenue"),
        )

    return Partial(f"revenue_scores({len(points)} prices)", build)


@constructor
def accuracy_scores(
    predictions: Sequence[str], *, label: str, metric: LInf | Range | None = None
) -> Partial[Transformation]:
    """Scores columns of predictions by their share of right answers.

    Takes:      a table with a public number of rows; the names of prediction columns and of the label column. A
                prediction must depend on its own row and on public facts only
    Gives:      one exact share to each column of predictions under L∞ or, on request, range
    Guarantee:  1 / n for one of n rows exchanged; range: 2 / n  (proofs/scores.md#accuracy)
    Cost:       one pass for each column

    >>> from sfumato.core.space import frame
    >>> (frame({"guess": bool, "truth": bool}, size=5) >> accuracy_scores(["guess"], label="truth")).map(1)
    Fraction(1, 5)
    """
    names = tuple(predictions)
    if isinstance(predictions, str) or not names or len(set(names)) < len(names):
        raise BadArgument("predictions", "a list of distinct column names", predictions)

    def build(space: Space) -> Transformation:
        table, size = _table(space, "accuracy_scores")
        for name in (*names, label):
            table[name]  # refuses a name that is no column

        def agreements(data: Data) -> Array:
            truth = _objects(data[label])
            return np.array([int((_objects(data[name]) == truth).sum()) for name in names], dtype=np.int64)

        return _accuracy(space, len(names), size, metric, agreements)

    return Partial(f"accuracy_scores({len(names)} predictions)", build)


@constructor
def threshold_accuracy_scores(
    thresholds: Sequence[Number],
    *,
    feature: str,
    label: str,
    positive: Hashable = True,
    strict: bool = False,
    metric: LInf | Range | None = None,
) -> Partial[Transformation]:
    """Scores thresholds by their share of right answers: "positive" for rows whose feature is at least the threshold.

    Takes:      a table with a public number of rows, a numeric feature without NaN, a label; ``strict`` asks for more
                than the threshold
    Gives:      one exact share to each threshold under L∞ or, on request, range
    Guarantee:  1 / n for one of n rows exchanged; range: 2 / n  (proofs/scores.md#accuracy)
    Cost:       one binary search among the thresholds for each row

    >>> from sfumato.core.space import frame
    >>> rows = frame({"cholesterol": float, "ill": bool}, size=5)
    >>> (rows >> threshold_accuracy_scores([100, 200], feature="cholesterol", label="ill")).map(1)
    Fraction(1, 5)
    """
    points = read_points(thresholds, "thresholds")

    def build(space: Space) -> Transformation:
        table, size = _table(space, "threshold_accuracy_scores")
        cutoffs = Cutoffs.of(points, table[feature], verb="threshold_accuracy_scores")
        table[label]  # refuses a name that is no column

        def agreements(data: Data) -> Array:
            values = cutoffs.values(data[feature])
            # A list and no array on the left: an array would match a tuple against itself place by place.
            actual = np.array([bool(answer == positive) for answer in _objects(data[label]).tolist()], dtype=bool)
            called = cutoffs.passed if strict else cutoffs.reached
            scores: Array = called(values[actual]) + (int((~actual).sum()) - called(values[~actual]))
            return scores

        return _accuracy(space, len(points), size, metric, agreements)

    return Partial(f"threshold_accuracy_scores({len(points)} thresholds)", build)


@constructor
def as_range() -> Partial[Transformation]:
    """Measures the distance between score vectors by their range: a constant added to all scores does not count.

    Takes:      a vector of scores under L∞ or monotonic L∞
    Gives:      the same vector under the range distance
    Guarantee:  d_out = 2 d_in; monotonic: d_in  (proofs/scores.md#range)
    Cost:       nothing

    >>> from sfumato.core.space import vector
    >>> (vector(int, size=3, metric=LInf()) >> as_range()).map(1)
    Fraction(2, 1)
    """

    def build(space: Space) -> Transformation:
        if not isinstance(space.metric, LInf) or not isinstance(space.domain, Vector):
            raise BadArgument("what as_range() works on", "a vector of scores under the L∞ distance", str(space))
        metric = space.metric
        return Transformation(
            space,
            Space(space.domain, Range()),
            lambda data, _: data,
            lambda d_in: range_map(d_in, metric),
            ("range of scores",),
            ("proofs/scores.md#range",),
        )

    return Partial("as_range()", build)


def _scoring(
    space: Space,
    target: tuple[int, Fraction, Metric],
    function: Callable[[Data], Array],
    moves: Moves,
    described: tuple[str, str],
) -> Transformation:
    candidates, step, metric = target
    if not isinstance(metric, LInf | Range):
        raise BadArgument("metric", "LInf(), LInf(monotonic=True) or Range()", metric)
    domain, rows = row_space(space, "a score")
    size = domain.size
    return Transformation(
        space,
        Space(Vector(Integers(step=step), size=candidates), metric),
        lambda data, _: function(data),
        lambda d_in: rows_map(d_in, moves=moves, rows=rows, size=size),
        (described[0],),
        (described[1], "proofs/scores.md#rows"),
    )


def _accuracy(
    space: Space, candidates: int, size: int, metric: LInf | Range | None, agreements: Callable[[Data], Array]
) -> Transformation:
    target = metric or LInf()
    _require_monotonic(target, holds=False, when="never: a better row for one rule is a worse one for another")
    described = (f"shares of right answers of {candidates} rules", "proofs/scores.md#accuracy")
    return _scoring(space, (candidates, Fraction(1, size), target), agreements, accuracy_moves(size, target), described)


def _require_monotonic(metric: Metric, *, holds: bool, when: str) -> None:
    if isinstance(metric, LInf) and metric.monotonic and not holds:
        raise BadArgument("metric", f"LInf() or Range(); scores move one way only {when}", metric)


def _quantile_scores(data: Data, cutoffs: Cutoffs, alpha: Fraction) -> Array:
    values = cutoffs.values(data)
    below, above = len(values) - cutoffs.reached(values), cutoffs.passed(values)
    part, whole = alpha.numerator, alpha.denominator
    if whole > SMALL:
        below, above = below.astype(object), above.astype(object)
    scores: Array = -np.abs((whole - part) * below - part * above)
    return scores


def _times(counts: Array, steps: list[int]) -> Array:
    kind = np.int64 if max(steps) <= SMALL else object
    scores: Array = counts.astype(kind) * np.array(steps, dtype=kind)
    return scores


def _counts(data: Data, domain: Vector, categories: tuple[Hashable, ...]) -> Array:
    seen = Counter(shown_of(data, domain, None).tolist())
    return np.array([seen[category] for category in categories], dtype=np.int64)


def _categories(domain: Vector, listed: Sequence[Hashable] | None) -> tuple[Hashable, ...]:
    if listed is not None and isinstance(domain.element, Categories | Texts | Integers):
        return categories(listed).values
    if isinstance(domain.element, Categories):
        return domain.element.values
    wanted = "categories, or texts or integers and a list of categories"
    raise BadArgument("what mode_scores() works on", wanted, str(domain))


def _table(space: Space, verb: str) -> tuple[Frame, int]:
    if not isinstance(space.domain, Frame) or not isinstance(space.metric, DatasetMetric):
        raise BadArgument(f"what {verb}() works on", "a table under a distance that counts rows", str(space))
    if not space.domain.size:
        raise UnknownSize(verb, "Give the size of the table (size=…, at least 1), or resize(…) first.")
    return space.domain, space.domain.size


def _objects(values: Data) -> Array:
    entries = values.tolist() if isinstance(values, np.ndarray) else list(values)
    objects = np.empty(len(entries), dtype=object)
    objects[:] = entries
    return objects

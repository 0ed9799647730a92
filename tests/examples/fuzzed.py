"""What is fuzzed: small uses of everything that the package exports, on spaces whose members can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from tests.examples.measurements import EXAMPLES
from tests.examples.transformations import CASES, CODED, VOTED

import sfumato as sf
from sfumato import stats
from sfumato.core.domains import Floats, Integers, Matrix
from sfumato.core.grouped_distance import DistanceLike, GroupedDistance
from sfumato.mechanisms.joint_quantiles import joint_quantiles
from sfumato.mechanisms.recursive_quantiles import recursive_quantiles
from sfumato.transforms.split_parts import split_parts

VOUCHED = sf.claim("for this test")
ANY = Floats(nan=True, infinite=True)
INFINITE = Floats(infinite=True)
BOX = Floats((-2, 3))
LETTERS = ["a", "b", "\0", ""]
PEOPLE = sf.frame({"who": int, "place": ["a", "b", "c"], "pay": Floats((-1, 2))}, metric=sf.Identifiers("who"))
TABLE = {"sex": ["f", "m", None], "pay": Floats((-1, 2)), "name": str}


@dataclass(frozen=True)
class Subject:
    """Names an exported constructor, and a small use of it."""

    name: str
    build: Callable[[], sf.Transformation | sf.Measurement]
    d_in: DistanceLike | None = None


def both(row: object) -> Iterator[sf.Space]:
    """Gives spaces of rows: unsized, of a public size, and in order."""
    yield sf.vector(row)  # type: ignore[arg-type]
    yield sf.vector(row, size=3)  # type: ignore[arg-type]
    yield sf.vector(row, size=3, metric=sf.AddRemove())  # type: ignore[arg-type]
    yield sf.vector(row, size=3, metric=sf.metrics.Hamming())  # type: ignore[arg-type]


def on(name: str, space: sf.Space, made: Callable[[], sf.Partial], d_in: DistanceLike | None = None) -> Subject:  # type: ignore[type-arg]
    return Subject(name, lambda: space >> made(), d_in)


PARTED = (sf.frame(TABLE) >> sf.group_by("sex")).target
PARTED_NUMBERS = (sf.vector(int) >> sf.group_by(keys=[0, 1, 2**63], other=True)).target


def further_transformations() -> Iterator[Subject]:
    """Gives uses of the transformations whose laws stand in files of their own."""
    for numbers in (INFINITE, int):
        for space in both(numbers):
            for metric in (sf.LInf(), sf.metrics.Range()):
                yield on(
                    "quantile_scores",
                    space,
                    lambda m=metric: sf.transforms.quantile_scores([0, "0.1", 2**60], alpha="0.3", metric=m),
                )
                yield on(
                    "revenue_scores", space, lambda m=metric: sf.transforms.revenue_scores([0, "0.1", 7], metric=m)
                )
    for words in (LETTERS, str, int):
        for space in both(words):
            yield on(
                "mode_scores",
                space,
                lambda w=words: sf.transforms.mode_scores(None if w is LETTERS else [0, 1] if w is int else LETTERS),
            )
            yield on("mode_gap", space, sf.transforms.mode_gap)
            yield on(
                "group_by",
                space,
                lambda w=words: sf.group_by(keys=None if w is LETTERS else [0, 1] if w is int else LETTERS),
            )
    for metric in (None, sf.AddRemove(), sf.metrics.Hamming()):
        guesses = sf.frame({"x": bool, "y": bool, "truth": bool}, size=4, metric=metric)
        yield on("accuracy_scores", guesses, lambda: sf.transforms.accuracy_scores(["x", "y"], label="truth"))
        feature = sf.frame({"x": INFINITE, "ill": bool}, size=4, metric=metric)
        yield on(
            "threshold_accuracy_scores",
            feature,
            lambda: sf.transforms.threshold_accuracy_scores([0, "0.1"], feature="x", label="ill"),
        )
    for monotonic in (False, True):
        scores = sf.vector(int, size=3, metric=sf.LInf(monotonic=monotonic))
        yield on("as_range", scores, sf.transforms.as_range, 3)
        stream = sf.Space(sf.domains.Stream(Integers(step=Fraction(1, 3))), sf.LInf(monotonic=monotonic))
        yield on("negated", stream, sf.transforms.negated, 2)
    yield on("sum_stream", sf.batches(INFINITE), lambda: sf.transforms.sum_stream("-0.1", 2**60))
    yield on("sum_stream", sf.batches(int, size=3), lambda: sf.transforms.sum_stream(0, 2**70))
    yield on("query_stream", sf.vector(int), sf.query_stream)
    for space in both(ANY):
        yield on("random_parts", space, lambda: sf.transforms.random_parts(3))
    yield on("split_parts", sf.matrix(2), lambda: split_parts(VOTED, CODED))
    for size in (None, 6):
        yield on("pair_slopes", sf.matrix(2, size=size), lambda: sf.transforms.pair_slopes(between=(-2, 3)), 2)
    yield on("equal_parts", sf.vector(ANY, size=6), lambda: sf.transforms.equal_parts(2))
    yield on("sample_and_aggregate", sf.vector(ANY), median_of_parts)
    yield on("group_by", sf.frame(TABLE), lambda: sf.group_by("sex", "name", keys=[("f", ""), (None, "a")], other=True))
    yield on("truncate_groups", PEOPLE, lambda: sf.truncate_groups("place", max_groups=1, max_rows_per_group=2))
    for d_in in (None, GroupedDistance(2, 3, 2)):
        for norm in (None, sf.L2(), sf.LInf()):
            yield on("sizes", PARTED, lambda n=norm: sf.transforms.sizes(metric=n), d_in)
            yield on("sums", PARTED, lambda n=norm: sf.transforms.sums("-0.1", 2, column="pay", metric=n), d_in)
            yield on("sums", PARTED_NUMBERS, lambda n=norm: sf.transforms.sums(-(2**65), 5, metric=n), d_in)


def median_of_parts() -> sf.Partial[sf.Transformation]:
    return sf.sample_and_aggregate(np.median, parts=3, between=(0, 10), default=5, claim=VOUCHED)


TRANSFORMATIONS = [
    *(Subject(label.partition(" ")[0], lambda c=case: c.space >> c.transform) for label, case in CASES.items()),
    *further_transformations(),
]


def algorithms() -> Iterator[Subject]:
    """Gives uses of the algorithms of `sfumato.stats`, and of mechanisms that only they use."""
    for numbers in (INFINITE, int):
        for space in both(numbers):
            yield on("bounds_by_histogram", space, lambda: stats.bounds_by_histogram(scale=3))
            yield on("mean_without_bounds", space, lambda: stats.mean_without_bounds(loss=sf.Pure(1)))
            yield on("quantiles", space, lambda: stats.quantiles([0.25, 0.5], between=(0, 7), loss=sf.Pure(1)))
            yield on("bounds_by_quantiles", space, lambda: stats.bounds_by_quantiles(between=(-9, 9), loss=sf.Pure(1)))
            yield on("tree", space, lambda: stats.tree([0, 1, 2, 4, 2**60], loss=sf.Pure(1)))
            yield on(
                "recursive_quantiles", space, lambda: recursive_quantiles([0.3, 0.6], between=(0, 7), temperature=9)
            )
            yield on(
                "joint_quantiles", space, lambda: joint_quantiles([0.3, 0.6], total=9, between=(0, 7), temperature=4)
            )
    for numbers in (INFINITE, int):
        known = sf.vector(numbers, size=5)  # type: ignore[arg-type]
        yield on("trimmed_mean", known, lambda: stats.trimmed_mean("0.2", between=(-9, 9), loss=sf.Pure(1)))
        yield on("smooth_median", known, lambda: stats.smooth_median(between=(-9, 9), loss=sf.Pure(1)))
    for words in (LETTERS, str, int):
        space, keys = sf.vector(words), [0, 1, 2**63] if words is int else LETTERS  # type: ignore[list-item]
        yield on("histogram", space, lambda: stats.histogram(loss=sf.Approx(1, 1e-3)))
        yield on("select_keys", space, lambda: stats.select_keys(loss=sf.Approx(1, 1e-3)))
        yield on("top_keys", space, lambda k=keys: stats.top_keys(2, keys=k, temperature=4))
    places = sf.frame({"state": ["A", None], "county": [1, 2, 3]})
    levels: list[list[str]] = [[], ["state"], ["state", "county"]]
    yield on("hierarchical_counts", places, lambda: stats.hierarchical_counts(levels, loss=sf.ZCDP(1)))
    points = sf.Space(Matrix(2, BOX), sf.AddRemove())
    yield on("k_means", points, lambda: stats.k_means(2, loss=sf.Pure(1), rounds=1))
    yield on("scored_k_means", points, lambda: stats.scored_k_means([2, 3], loss=sf.ZCDP(1), rounds=1))
    yield on("running_counts", sf.vector(int, size=5, metric=sf.L1()), lambda: stats.running_counts(loss=sf.ZCDP(1)), 3)


MEASUREMENTS = [*(Subject(example.name, example.build) for example in EXAMPLES), *algorithms()]

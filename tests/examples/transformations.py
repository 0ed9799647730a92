"""At least one case for every public transformation of the package: a space, and how to draw its rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np

from sfumato.core.domains import Data, Floats, Frame, Integers, Matrix, Vector
from sfumato.core.identifiers import Identifiers
from sfumato.core.metrics import L1, L2, Absolute, AddRemove, ChangeOne, DatasetMetric, Hamming, LInf, Range, Windows
from sfumato.core.partial import Partial
from sfumato.core.pieces import LargestL1, PiecewiseLInf
from sfumato.core.space import Space, frame, scalar, vector
from sfumato.core.transformation import Transformation
from sfumato.release.claim import claim
from sfumato.transforms.aggregate import count, count_distinct, mean, sum
from sfumato.transforms.bands import log_bands
from sfumato.transforms.bernstein import bernstein_counts
from sfumato.transforms.casts import absolute, bin_by, cast, log
from sfumato.transforms.cells import cell_at, cell_misfits
from sfumato.transforms.clusters import cluster_totals, squared_distances
from sfumato.transforms.columns import project, select
from sfumato.transforms.conditions import between, is_in, is_nan, satisfies
from sfumato.transforms.confusion import positives, true_positives
from sfumato.transforms.contingency import contingency, misfits, tables_at
from sfumato.transforms.dependence import SharedBits, Sides, dependence_scores
from sfumato.transforms.deviations import clamped_deviations, deviations
from sfumato.transforms.filters import drop_nan, keep, mark
from sfumato.transforms.gradients import Squares, Tangent, gradient_sums, gradients
from sfumato.transforms.gram import Coordinates, gram
from sfumato.transforms.histogram import count_by, count_each, rows_from_counts
from sfumato.transforms.identifiers import count_identifiers, one_each
from sfumato.transforms.linear import linear
from sfumato.transforms.moments import standard_deviation, variance, vector_variance
from sfumato.transforms.norms import norm_clamp
from sfumato.transforms.radius_scores import moved_up, radius_scores
from sfumato.transforms.reshape import repeat, resize
from sfumato.transforms.residuals import Additive, residual_sums
from sfumato.transforms.rowwise import clamp, impute_nan, map_rows
from sfumato.transforms.scalars import lipschitz, round_to, scale_by, shift_by, square
from sfumato.transforms.split_criteria import Information
from sfumato.transforms.splits import Coded, Tree, leaf_sums, split_scores
from sfumato.transforms.summaries import summarize
from sfumato.transforms.truncate import truncate
from sfumato.transforms.vectors import vector_mean, vector_sum
from sfumato.transforms.weighted_counts import weighted_counts

VOUCHED = claim("for this test")

LARGE = [1.7e308, -1.7e308, 2.0**53 + 2, 1e300]
finite = st.one_of(st.sampled_from([0.0, -0.0, 1.0, 0.1, 5e-324, *LARGE]), st.floats(-4, 4), st.integers(-3, 3))
any_float = st.one_of(finite, st.sampled_from([math.nan, math.inf, -math.inf]))
with_nan = st.one_of(finite, st.just(math.nan))
whole = st.one_of(st.sampled_from([0, 1, 2**53 + 1, 2**63 - 1, -(2**63), 2**64, -(10**30)]), st.integers(-5, 5))
small = st.integers(-2, 3)
unit = st.floats(0, 1)
letters = st.sampled_from(["a", "b", "c", "", "ä"])
two_floats = st.tuples(finite, finite)
people = st.tuples(whole, letters)

ANY = Floats(nan=True, infinite=True)
CODED, VOTED = Coded((3,), (True,), 2), Tree(((1,),), ((900, -900), (-5000, 5000)))
UNSIZED, SIZED, EVEN, ORDERED, WINDOWS = "unsized", "sized", "sized, add/remove", "ordered", "in stretches"
METRICS = {
    UNSIZED: AddRemove(),
    SIZED: ChangeOne(),
    EVEN: AddRemove(),
    ORDERED: Hamming(),
    WINDOWS: Windows(length=2),
}
SIZE = 4


@dataclass(frozen=True)
class Case:
    """Is a transformation, the space it is tried on, and how to draw a row (or a member, where there are no rows)."""

    space: Space
    transform: Partial[Transformation]
    row: st.SearchStrategy[Any]
    drawn: bool = False  # uses randomness, so images of neighbours have no distance of their own


def sized(domain: Data, adjacency: str) -> Space:
    """Gives rows of a domain under one of the five adjacencies."""
    size = None if adjacency == UNSIZED else SIZE
    metric: DatasetMetric = METRICS[adjacency]
    if isinstance(domain, Frame):
        return frame(dict(domain.columns), size=size, metric=metric)
    if isinstance(domain, Matrix):
        return Space(Matrix(domain.columns, domain.element, domain.norm, size), metric)
    return Space(Vector(domain, size), metric)


BOX = Integers(between=(-2, 3))
TABLE = frame({"age": int, "name": str}).domain
ROWS: list[tuple[str, Data, Callable[[], Partial[Transformation]], st.SearchStrategy[Any]]] = [
    ("clamp", Floats(infinite=True), lambda: clamp("-0.1", "0.3"), finite),
    ("clamp", Integers(), lambda: clamp(-(2**70), 5), whole),
    ("clamp", Matrix(2), lambda: clamp(-1, 1), two_floats),
    ("impute_nan", ANY, lambda: impute_nan(0.5), any_float),
    ("map_rows", Integers(), lambda: map_rows(lambda x: 6 / x, float, default=0, claim=VOUCHED), whole),
    ("map_rows", TABLE, lambda: map_rows(lambda r: r["name"] * 2, str, default="", claim=VOUCHED), people),
    ("cast", ANY, lambda: cast(int, default=7), any_float),
    ("cast", Integers(), lambda: cast(float), whole),
    ("absolute", ANY, absolute, any_float),
    ("absolute", Integers(), absolute, whole),
    ("log", Floats(("0.001", 4)), log, st.floats(0.001, 4)),
    ("bin_by", Floats(infinite=True), lambda: bin_by([-1, "0.1", 10**9]), finite),
    ("bin_by", Integers(), lambda: bin_by([-1, "0.5", 2**65]), whole),
    ("log_bands", Floats(infinite=True), log_bands, finite),
    ("log_bands", Integers(), log_bands, whole),
    ("select", TABLE, lambda: select("age"), people),
    ("project", TABLE, lambda: project("name"), people),
    ("keep", ANY, lambda: keep(between(-1, "0.1") | is_nan()), any_float),
    ("keep", Integers(), lambda: keep(between(0, 2**64)), whole),
    ("keep", TABLE, lambda: keep(is_in(["a", "b"], column="name") & ~between(0, 9, column="age")), people),
    ("keep", TABLE, lambda: keep(satisfies(lambda row: 1 / row["age"] > 0, claim=VOUCHED)), people),
    ("drop_nan", Floats(nan=True), drop_nan, with_nan),
    ("mark", ANY, lambda: mark(between(0, 1)), any_float),
    ("resize", BOX, lambda: resize(50, 0), small),
    ("resize", TABLE, lambda: resize(50, {"age": 0, "name": ""}), people),
    ("repeat", TABLE, lambda: repeat(3), people),
    ("count", ANY, count, any_float),
    ("count", TABLE, lambda: count(is_in(["a"], column="name")), people),
    ("count_distinct", ANY, count_distinct, any_float),
    ("count_distinct", Integers(), count_distinct, whole),
    ("count_distinct", TABLE, count_distinct, people),
    ("sum", Floats(("-0.1", "0.3")), sum, st.floats(-0.1, 0.3)),
    ("sum", Floats((-(10**300), 10**308)), sum, st.floats(-1e300, 1e308)),
    ("sum", Integers(between=(-(10**30), 2**64)), sum, whole),
    ("vector_sum", Matrix(2, Floats((-1, 2))), lambda: vector_sum(metric=L2()), st.tuples(st.floats(-1, 2), unit)),
    ("vector_sum", Matrix(2), lambda: norm_clamp(1, order=2, origin=["0.1", 3]) >> vector_sum(), two_floats),
    ("gram", Matrix(2, ANY), lambda: gram([0, 3], metric=L2()), st.tuples(any_float, any_float)),
    ("gram", Matrix(2), lambda: gram(metric=LInf()), two_floats),
    ("contingency", Matrix(2, ANY), lambda: contingency([2, 3], [[0], [0, 1]]), st.tuples(any_float, any_float)),
    ("tables_at", Matrix(2), lambda: contingency([2, 3], [[0], [1]]) >> tables_at([1, 0]), two_floats),
    (
        "misfits",
        Matrix(2),
        lambda: contingency([2, 3], [[0], [1]]) >> misfits(np.array([9, 0, 3, 1, 0]), penalties=[0, 5]),
        two_floats,
    ),
    ("gradients", Matrix(2, ANY), lambda: gradients(["0.5", -3]), st.tuples(any_float, any_float)),
    (
        "gradient_sums",
        Matrix(2, ANY),
        lambda: gradient_sums(Tangent.read(Squares(), Coordinates((0,)), [0.5, -3.0], [[1.0, 0.3], [0.2, -7.0]])),
        st.tuples(any_float, any_float),
    ),
    ("residual_sums", Matrix(2), lambda: residual_sums(Additive(5, ((1, -2),), classes=True), 0), two_floats),
    ("split_scores", Matrix(2, ANY), lambda: split_scores(CODED, model=(VOTED,)), st.tuples(any_float, any_float)),
    ("split_scores", Matrix(2), lambda: split_scores(CODED, criterion=Information(3)), two_floats),
    ("leaf_sums", Matrix(2, ANY), lambda: leaf_sums(VOTED, CODED, metric=L2()), st.tuples(any_float, any_float)),
    ("norm_clamp", Matrix(2), lambda: norm_clamp("0.7", order=1), two_floats),
    ("norm_clamp", Matrix(2), lambda: norm_clamp("0.7", order=2, origin=["-0.3", 0]), two_floats),
    ("count_by", Integers(), lambda: count_by([0, 1, 2**53 + 1], metric=L2()), whole),
    ("count_by", TABLE, lambda: count_by([(0, "a"), (1, "b")], other=True), people),
    ("count_each", ANY, lambda: count_each([between(0, 1), is_nan(), between(-9, 9)], metric=L2()), any_float),
    ("bernstein_counts", Floats(("-0.1", 4)), lambda: bernstein_counts(1), st.floats(-0.1, 4)),
    (
        "bernstein_counts",
        Integers(between=(-(10**30), 10**30)),
        lambda: bernstein_counts(2),
        st.integers(-(10**30), 10**30),
    ),
    ("bernstein_counts", Floats((0, 1)), lambda: bernstein_counts(2, metric=L2()), unit),
    ("deviations", Floats(infinite=True), lambda: deviations(1000.0), finite),
    ("clamped_deviations", Floats(infinite=True), lambda: clamped_deviations(1.5, 4.0), finite),
    ("moved_up", Floats(infinite=True), lambda: moved_up([0.5, 1.0, 4.0]), finite),
    (
        "radius_scores",
        Floats(infinite=True),
        lambda: radius_scores([0.5, 1.0, 4.0], alpha="0.75", penalties=[0, 1, "2.5"]),
        finite,
    ),
    (
        "squared_distances",
        Matrix(2, Floats((-1, 2))),
        lambda: squared_distances([(0, 0), (1, 1)], most=3),
        st.tuples(st.floats(-1, 2), unit),
    ),
    (
        "cluster_totals",
        Matrix(2, Floats((-1, 2))),
        lambda: cluster_totals([(0, 0), (1, 1)], metric=L2()),
        st.tuples(st.floats(-1, 2), unit),
    ),
    (
        "cluster_totals",
        Matrix(2, Floats((-1, 2))),
        lambda: cluster_totals([(0, 0), (1, 1)], metric=PiecewiseLInf(2)),
        st.tuples(st.floats(-1, 2), unit),
    ),
    ("rows_from_counts", Integers(), lambda: count_by([0, 1]) >> rows_from_counts([0, 1], most=99), whole),
]
SIZED_ROWS: list[tuple[str, Data, Callable[[], Partial[Transformation]], st.SearchStrategy[Any]]] = [
    ("mean", Floats(("-0.1", "0.3")), mean, st.floats(-0.1, 0.3)),
    ("mean", BOX, mean, small),
    ("variance", Floats(("-0.1", 4)), lambda: variance(ddof=0), st.floats(-0.1, 4)),
    ("variance", Integers(between=(-(10**30), 10**30)), variance, st.integers(-(10**30), 10**30)),
    ("standard_deviation", Floats((-1, 4)), standard_deviation, st.floats(-1, 4)),
    ("standard_deviation", BOX, lambda: standard_deviation(ddof=0), small),
    ("vector_mean", Matrix(2, Floats((0, 1))), vector_mean, st.tuples(unit, unit)),
    ("vector_variance", Matrix(2, Floats((0, 1))), lambda: vector_variance(metric=L2()), st.tuples(unit, unit)),
]
exact_pair = st.lists(whole, min_size=2, max_size=2)
PIECES = Space(Vector(Integers(), size=10), LargestL1((4, 6)))
ten_counts = st.lists(st.one_of(whole, small), min_size=10, max_size=10)
WEIGHTS = np.array([[3, -(2**24) + 1], [4, 0], [0, 1]], dtype=np.int32)
MEMBERS: list[tuple[str, Space, Callable[[], Partial[Transformation]], st.SearchStrategy[Any]]] = [
    ("scale_by", scalar(int), lambda: scale_by("-0.3"), whole),
    ("scale_by", vector(int, size=2, metric=Range()), lambda: scale_by(0), exact_pair),
    ("shift_by", Space(Integers(step=Fraction(1, 6)), Absolute()), lambda: shift_by("0.25"), whole),
    ("shift_by", vector(int, size=2, metric=L2()), lambda: shift_by(-3), exact_pair),
    ("square", scalar(int, between=(-3, 5)), square, st.integers(-3, 5)),
    ("lipschitz", scalar(int), lambda: lipschitz(lambda x: abs(x) / 3, "0.34", step="0.01", claim=VOUCHED), whole),
    ("round_to", scalar(float), lambda: round_to("0.3"), finite),
    ("round_to", Space(Integers(step=Fraction(1, 7)), Absolute()), lambda: round_to(2), whole),
    ("linear", vector(int, size=2, metric=L1()), lambda: linear([["0.5", -1], [3, 0], [1, 1]]), exact_pair),
    ("linear", vector(int, size=2, metric=L2()), lambda: linear([["0.5", -1], [3, 0], [1, 1]]), exact_pair),
    ("linear", vector(int, size=2, metric=LInf()), lambda: linear([["1/3", -1]]), exact_pair),
    ("weighted_counts", vector(int, size=2, metric=L1()), lambda: weighted_counts(WEIGHTS, metric=L2()), exact_pair),
    (
        "weighted_counts",
        vector(int, size=2, metric=L1()),
        lambda: weighted_counts(WEIGHTS, own=7, metric=L1()),
        exact_pair,
    ),
    ("cell_misfits", PIECES, lambda: cell_misfits(np.array([0, 3, -5, 2**62, 16, 1, 2, 3, 4, 5])), ten_counts),
    ("cell_at", PIECES, lambda: cell_at(3, metric=L2()), ten_counts),
    ("dependence_scores", PIECES, lambda: dependence_scores([Sides(0, 2, 2), Sides(1, 1, 3, 2)]), ten_counts),
    (
        "dependence_scores",
        PIECES,
        lambda: dependence_scores([Sides(0, 2, 2), Sides(1, 1, 3, 2)], criterion=SharedBits(3), metric=Range()),
        ten_counts,
    ),
]

OWNED = frame(
    {"who": [1, 0, "x"], "at": Floats(nan=True, infinite=True), "much": Floats((-1, 2)), "name": str, "n": int},
    metric=Identifiers("who"),
)
owned = st.tuples(st.sampled_from([1, True, 0, False, "x"]), any_float, st.floats(-1, 2), letters, whole)
OWNED_ROWS: list[tuple[str, Callable[[], Partial[Transformation]]]] = [
    ("truncate", lambda: truncate(1, keep="first", by="at")),
    ("truncate", lambda: truncate(2, keep="last", by="n")),
    ("truncate", lambda: truncate(2, keep="last", by="name")),
    ("count_identifiers", count_identifiers),
    ("count_identifiers", lambda: count_identifiers("who")),
    ("count_identifiers", lambda: count_identifiers("name", keys=["a", "b"], metric=L2())),
    ("count_identifiers", lambda: count_identifiers("name", "n", keys=[("a", 1), ("b", 2)], metric=LInf())),
    ("one_each", lambda: one_each("rows")),
    ("one_each", lambda: one_each("sum", "n")),
    ("one_each", lambda: one_each("sum", "much")),
    ("one_each", lambda: one_each("first", "who", by="at")),
    ("one_each", lambda: one_each("last", "name", by="n")),
    ("one_each", lambda: one_each("min", "at")),
    ("one_each", lambda: one_each("max", "n")),
    ("one_each", lambda: one_each("mean", "n")),
    ("one_each", lambda: one_each("mean", "much")),
    ("one_each", lambda: one_each("quantile", "at", alpha="0.4")),
    ("one_each", lambda: one_each("mode", "name")),
    ("one_each", lambda: one_each("mode", "at")),
    ("summarize", lambda: summarize(lambda rows: rows[1:] * 3, {"name": str, "n": int}, rows=2, claim=VOUCHED)),
    ("summarize", lambda: summarize(lambda rows: [{"x": 1 / rows[0]["n"]}], {"x": float}, claim=VOUCHED)),
    ("keep", lambda: keep(between(0, 2**64, column="n"))),
    ("keep", lambda: keep(is_in([1, "x"], column="who")) >> truncate(1, keep="first", by="n")),
    ("project", lambda: project("n", "who")),
]


def every_case() -> Iterator[tuple[str, Case]]:
    for name, domain, make, row in ROWS:
        for adjacency in (UNSIZED, SIZED, EVEN, ORDERED, WINDOWS):
            yield f"{name} {domain} {adjacency}", Case(sized(domain, adjacency), make(), row)
    for name, domain, make, row in SIZED_ROWS:
        for adjacency in (SIZED, EVEN, ORDERED, WINDOWS):
            yield f"{name} {domain} {adjacency}", Case(sized(domain, adjacency), make(), row)
    least = Space(Vector(Floats((-1, 2)), least=2), AddRemove())
    yield "mean of at least two", Case(least, mean(), st.floats(-1, 2))
    for name, space, make, member in MEMBERS:
        yield f"{name} {space}", Case(space, make(), member)
    judged = vector(bool, size=SIZE, metric=Hamming())
    for name, make in (("true_positives", true_positives), ("positives", positives)):
        yield name, Case(judged, make([True, False, True, False]), st.booleans())
    for number, (name, make) in enumerate(OWNED_ROWS):
        yield f"{name} {number}", Case(OWNED, make(), owned)
    yield "truncate at random", Case(OWNED, truncate(2), owned, drawn=True)
    yield "one_each drawn", Case(OWNED, one_each("draw", "at"), owned, drawn=True)
    yield "resize to fewer", Case(vector(int), resize(2, 0), whole, drawn=True)


CASES = dict(every_case())

"""Query streams, sum streams and negation: what they answer, what they refuse, and how far they move."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from sfumato.accounting.losses.measures import Pure
from sfumato.core.calibrate import calibrate_parameter
from sfumato.core.custom import transformation
from sfumato.core.domains import Integers, Stream
from sfumato.core.metrics import Absolute, AddRemove, ChangeOne, LInf
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space, scalar, vector
from sfumato.errors import BadArgument, Exhausted, NoDistance, NotInDomain, QueryRefused, SpaceMismatch
from sfumato.mechanisms.above_threshold import above_threshold, below_threshold
from sfumato.mechanisms.additive import laplace
from sfumato.release.claim import claim
from sfumato.transforms.aggregate import count, count_distinct, mean, sum
from sfumato.transforms.query_stream import query_stream
from sfumato.transforms.rowwise import clamp
from sfumato.transforms.streams import PerBatch, batches, negated, reader, sum_stream

ROWS = [1, 2, 2, 2, 3]
SALES = [[9.27, 9.32], [1.34] * 3, [8.92] * 30, [12.73, 8.34, 7.32]]


def test_A1_112_stream_of_queries_answers_exactly() -> None:
    rows = vector(int)
    stream = (rows >> query_stream(1, d_out=1, step=1))(ROWS)
    assert stream(count_distinct()) == 3
    assert stream(rows >> count()) == 5
    assert (rows >> query_stream() >> above_threshold(4, scale=1)).map(1) == Pure(2)


def test_A1_113_too_sensitive_query_is_refused_and_the_stream_goes_on() -> None:
    rows = vector(int)
    stream = (rows >> query_stream(1, d_out=1, step=1))(ROWS)
    twice = rows >> clamp(0, 2) >> sum()
    assert twice.map(1) == 2
    with pytest.raises(QueryRefused, match="can move by 2 and the stream answers those that move by at most 1"):
        stream(twice)
    assert stream(count()) == 5


def test_A1_113_refusal_leaves_a_threshold_open() -> None:
    rows = vector(int)
    asked = (rows >> query_stream(1, d_out=1, step=1) >> above_threshold(10**6, scale=1))(ROWS).value
    with pytest.raises(QueryRefused):
        asked(rows >> clamp(0, 2) >> sum())
    assert asked(count()) is False


def test_P1_118_queries_are_asked_until_one_is_above() -> None:
    rows = vector(int)
    asked = (rows >> query_stream(1, d_out=1) >> above_threshold(500, scale=1))([1] * 1000 + [2] * 3).value
    assert isinstance(asked, Queryable)
    assert [asked(count_distinct()), asked(count())] == [False, True]
    with pytest.raises(Exhausted):
        asked(count())


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (vector(float) >> count(), "this is no query on"),
        (count, "this is no query on"),
        (None, "this is no query on"),
        (vector(int) >> count() >> laplace(scale=1), "a measurement has its own noise"),
        (clamp(0, 1), "must give one exact number"),
        (sum(), "this is no query on"),
    ],
)
def test_wrong_queries_are_refused(query: object, why: str) -> None:
    stream = (vector(int) >> query_stream(1, d_out=1))(ROWS)
    with pytest.raises(QueryRefused, match=why):
        stream(query)


def test_query_that_rests_on_a_claim_needs_one_on_the_stream() -> None:
    rows = vector(int)
    own = transformation(
        rows, scalar(int), function=len, map=lambda d: d, claim=claim("one row is one"), name="number of rows"
    )
    with pytest.raises(QueryRefused, match="rests on a claim"):
        (rows >> query_stream())(ROWS)(own)
    vouched = rows >> query_stream(claim=claim("queries are reviewed"))
    assert vouched(ROWS)(own) == 5
    assert [str(stated) for stated in vouched.claims] == ["queries are reviewed"]


def test_E1_17_map_takes_whole_multiples() -> None:
    stream = vector(int) >> query_stream(2, d_out=3, step=1)
    assert [stream.map(d) for d in range(6)] == [0, 3, 3, 6, 6, 9]
    assert stream.map(math.inf) == math.inf


def test_known_size_under_add_remove_moves_in_pairs() -> None:
    """A query may be constant at distance 1 there, and says nothing about distance 2: the map must not extrapolate."""
    space = vector(int, between=(0, 100), size=3, metric=AddRemove())
    assert (space >> sum()).map(1) == 0
    assert (space >> query_stream(1, d_out=1)).map(2) == math.inf
    in_pairs = space >> query_stream(2, d_out=100, step=1)
    assert [in_pairs.map(d) for d in range(6)] == [0, 100, 100, 100, 200, 200]
    assert (vector(int, size=3) >> query_stream(1, d_out=1, step=1)).map(4) == 4


def test_spaces_without_chains_get_no_further_than_checked() -> None:
    stream = scalar(int) >> query_stream("0.5", d_out=1, step=1)
    assert (stream.map("0.5"), stream.map("0.6")) == (1, math.inf)


def test_answers_are_rounded_to_the_step_and_so_is_the_map() -> None:
    rows = vector(int, between=(0, 10), size=4)
    stream = rows >> query_stream(1, d_out="2.5", step=1)
    assert stream.map(1) == 3
    assert stream([1, 2, 3, 4])(mean()) == 3
    assert (vector(int) >> query_stream(1, d_out="0.3")).map(1) - Fraction(3, 10) < Fraction(1, 2**20)


@pytest.mark.parametrize("step", [1, 2, "0.75", "1.1"])
def test_rounding_is_sound_on_all_pairs_of_small_data(step: object) -> None:
    rows = vector(int, between=(0, 3), size=3)
    stream, asked = rows >> query_stream(1, d_out=1, step=step), rows >> mean()
    members = list(product(range(4), repeat=3))
    for left, right in product(members, repeat=2):
        moved = abs(Fraction(stream(left)(asked)) - Fraction(stream(right)(asked)))
        assert moved <= stream.map(rows.distance(left, right))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: query_stream(1, d_out=0), "d_out"),
        (lambda: query_stream(1, d_out=math.nan), "d_out"),
        (lambda: query_stream(1, step=-1), "step"),
        (lambda: vector(int) >> query_stream(0), "d_in"),
        (lambda: vector(int) >> query_stream(math.inf), "d_in"),
        (lambda: vector(int) >> query_stream("0.5"), "the distance"),
        (lambda: vector(int) >> sum_stream(0, 1), "what sum_stream"),
        (lambda: batches(float) >> sum_stream(1, 0), "bounds"),
        (lambda: batches(float) >> negated(), "what negated"),
        (lambda: vector(int) >> above_threshold(1, scale=1), "what sparse_vector"),
    ],
)
def test_bad_parameters(make: object, name: str) -> None:
    with pytest.raises(BadArgument, match=name):
        make()


def test_A1_114_sales_are_clamped_summed_and_monotonic() -> None:
    sums = batches(float) >> sum_stream(0, 10)
    assert sums.map(1) == 10
    assert sums.target.metric == LInf(monotonic=True)
    assert list(sums(SALES)) == pytest.approx([18.59, 4.02, 267.6, 25.66], abs=1e-9)


def test_A1_114_scale_for_epsilon_one_is_15_and_neither_10_nor_20() -> None:
    sums = batches(float) >> sum_stream(0, 10)
    scale = calibrate_parameter(lambda s: sums >> above_threshold(100, scale=s), d_in=1, loss=Pure(1))
    assert scale == 15
    assert (sums >> above_threshold(100, scale=10)).map(1) == Pure(Fraction(3, 2))
    general = batches(float) >> sum_stream(-10, 10)
    assert (general >> above_threshold(100, scale=20)).map(1) == Pure(1)


def test_A1_116_low_sales_cost_the_same() -> None:
    sums = batches(float) >> sum_stream(0, 10)
    low = sums >> below_threshold(5, scale=15)
    assert low.map(1) == Pure(1)
    assert (sums >> negated()).target.metric == LInf(monotonic=True)
    assert [-a for a in (sums >> negated())(SALES)] == list(sums(SALES))


@pytest.mark.parametrize(
    ("space", "bounds", "monotonic", "moves"),
    [
        (batches(int), (0, 5), True, 5),
        (batches(int), (-5, 0), True, 5),
        (batches(int), (-2, 5), False, 5),
        (batches(int, size=4), (1, 5), False, 4),
        (batches(int, size=4), (-2, 5), False, 7),
    ],
)
def test_P1_062_sum_stream_map(space: Space, bounds: tuple[int, int], monotonic: bool, moves: int) -> None:
    sums = space >> sum_stream(*bounds)
    assert (sums.target.metric, sums.map(1)) == (LInf(monotonic=monotonic), moves)


def test_sums_of_neighbouring_streams_are_as_close_as_the_map_says() -> None:
    """All streams of two batches of at most two values, both ways of being neighbours; the bound is reached."""
    sums = batches(int) >> sum_stream(0, 2)
    some = [[], [0], [2], [1, 2], [2, 2]]
    members = [[list(a), list(b)] for a, b in product(some, repeat=2)]
    reached = Fraction(0)
    for left, right in product(members, repeat=2):
        distance = sums.source.distance(left, right)
        moves = [a - b for a, b in zip(sums(left), sums(right), strict=True)]
        up, down = max(0, *moves), max(0, *(-move for move in moves))
        assert up + down <= sums.map(distance)
        if distance == 1:
            assert up == 0 or down == 0
            reached = max(reached, up)
    assert reached == sums.map(1)


def test_per_batch_distance() -> None:
    metric = PerBatch()
    assert metric.distance([[1], [2]], [[1, 1], [2, 3]]) == 1
    assert metric.distance([[1], [2]], [[], [2, 3]]) == 2
    assert PerBatch(ChangeOne()).distance([[1, 2], [3, 4]], [[1, 5], [4, 4]]) == 1
    assert metric.unit(Fraction(1)) == "one row added or removed in every batch"
    with pytest.raises(NoDistance):
        metric.distance([[1]], [[1], [2]])
    with pytest.raises(SpaceMismatch):
        Space(Integers(), metric)
    with pytest.raises(SpaceMismatch):
        Space(batches(int).domain, PerBatch(ChangeOne()))


def test_seed_shape_a_function_that_is_told_each_batch() -> None:
    sums = batches(float) >> sum_stream(0, 10) >> above_threshold(10**6, scale=15)
    alert = sums(lambda batch: batch).value
    assert [alert(batch) for batch in SALES] == [False] * 4


def test_elements_outside_the_declared_domain_are_refused_without_showing_them() -> None:
    sums = batches(float) >> sum_stream(0, 10)
    with pytest.raises(NotInDomain) as caught:
        list(sums([[1.0], [math.nan, 123456.0]]))
    assert "123456" not in str(caught.value)
    numbers = Space(Stream(Integers(between=(0, 5))), LInf()) >> above_threshold(3, scale=1)
    with pytest.raises(NotInDomain):
        numbers([77]).value()


def test_streams_that_end() -> None:
    following = reader(iter([1, 2]))
    assert [following(None), following(None)] == [1, 2]
    with pytest.raises(Exhausted, match="ended"):
        following(None)
    with pytest.raises(QueryRefused, match="takes no queries"):
        following("more")


def test_numpy_values_and_large_ones_are_whole_numbers() -> None:
    space = Space(Stream(Integers()), LInf())
    watch = (space >> negated() >> above_threshold(0, scale=1))([np.int64(10**12), 10**30]).value
    assert [watch(), watch()] == [False, False]


def test_queries_must_give_a_number_under_the_absolute_distance() -> None:
    rows = vector(int)
    odd = transformation(rows, scalar(float), function=len, map=lambda d: d, claim=claim("x"))
    assert isinstance(odd.target.metric, Absolute)
    with pytest.raises(QueryRefused, match="one exact number"):
        (rows >> query_stream(claim=claim("y")))(ROWS)(odd)

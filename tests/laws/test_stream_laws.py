"""Laws of streams: what every stream transformation keeps, on random neighbours."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from sfumato.core.domains import Integers, Stream
from sfumato.core.metrics import AddRemove, ChangeOne, LInf
from sfumato.core.space import Space, vector
from sfumato.core.transformation import Transformation
from sfumato.transforms.aggregate import count, count_distinct, sum
from sfumato.transforms.query_stream import nearest, query_stream, query_stream_map, rounded_distance
from sfumato.transforms.rowwise import clamp
from sfumato.transforms.streams import PerBatch, batches, negated, sum_stream

values = st.one_of(st.sampled_from([0.0, -0.0, 0.1, 5e-324, 1.7e308, -1.7e308, 2.0**53 + 2]), st.floats(-20, 20))
rows = st.lists(values, max_size=4)
fractions = st.fractions(min_value=-50, max_value=50, max_denominator=40)
positive = st.fractions(min_value=Fraction(1, 40), max_value=20, max_denominator=40)

EVERY = {
    "sums": batches(float) >> sum_stream(-1, 10),
    "sums of one sign": batches(float) >> sum_stream(0, 10),
    "sums of batches of a public size": batches(float, size=2) >> sum_stream(-3, 10),
    "negated sums": batches(float) >> sum_stream(0, 10) >> negated(),
    "negated numbers": Space(Stream(Integers()), LInf()) >> negated(),
    "queries": vector(float) >> query_stream(2, d_out="1.3"),
    "queries of a public size": vector(float, size=3) >> query_stream(1, d_out=2, step=1),
    "queries of a public size, in pairs": vector(float, size=4, metric=AddRemove()) >> query_stream(2, d_out=2, step=1),
}
every = pytest.mark.parametrize("made", EVERY.values(), ids=EVERY.keys())


@every
def test_maps_are_monotone_and_start_at_zero(made: Transformation) -> None:
    ladder = [made.map(d_in) for d_in in (0, 1, 2, 3, 4, 5, 10, 10**6, 10**30, math.inf)]
    assert ladder[0] == 0
    assert all(low <= high for low, high in pairwise(ladder))


@every
def test_every_map_names_its_proof(made: Transformation) -> None:
    assert made.steps
    assert made.proofs
    assert all(proof.startswith("proofs/") and "#" in proof for proof in made.proofs)


@st.composite
def neighbouring_streams(draw: st.DrawFn) -> tuple[list[list[float]], list[list[float]]]:
    """Draws two streams of batches that share most of their rows."""
    common = draw(st.lists(rows, min_size=1, max_size=3))
    left = [batch + draw(st.lists(values, max_size=1)) for batch in common]
    right = [draw(st.permutations(batch)) + draw(st.lists(values, max_size=1)) for batch in common]
    return left, right


@pytest.mark.parametrize("name", ["sums", "sums of one sign", "negated sums"])
@given(pair=neighbouring_streams())
def test_sums_of_neighbours_stay_close(name: str, pair: tuple[list[list[float]], list[list[float]]]) -> None:
    made = EVERY[name]
    ours, theirs = list(made.image(pair[0])), list(made.image(pair[1]))
    element = made.target.domain.element
    assert all(element.member(value) for value in ours + theirs)
    moves = [(a - b) * element.step for a, b in zip(ours, theirs, strict=True)]
    allowed = made.map(made.source.distance(*pair))
    assert max(abs(move) for move in moves) <= allowed
    if made.target.metric.monotonic:
        assert max(0, *moves) - min(0, *moves) <= allowed


@given(st.lists(st.tuples(values, values), min_size=1, max_size=3), st.lists(st.tuples(values, values), min_size=3))
def test_sums_of_sized_batches_stay_close(left: list[Any], right: list[Any]) -> None:
    made = EVERY["sums of batches of a public size"]
    ours, theirs = [list(batch) for batch in left], [list(batch) for batch in right[: len(left)]]
    step = made.target.domain.element.step
    allowed = made.map(made.source.distance(ours, theirs))
    assert all(abs(a - b) * step <= allowed for a, b in zip(made.image(ours), made.image(theirs), strict=True))


@given(common=rows, ours=rows, theirs=rows)
def test_answers_about_neighbours_stay_close(common: list[float], ours: list[float], theirs: list[float]) -> None:
    made = EVERY["queries"]
    left, right = made.image(common + ours), made.image(common + theirs)
    allowed = made.map(made.source.distance(common + ours, common + theirs))
    step = made.target.domain.element.step
    for query in (clamp(0, "0.65") >> sum(), clamp("-0.3", "0.1") >> sum()):
        assert abs(left(query) - right(query)) * step <= allowed
    counts = vector(float) >> query_stream(1, d_out=1, step=1)
    for query in (count(), count_distinct()):
        assert abs(counts(common + ours)(query) - counts(common + theirs)(query)) <= counts.map(len(ours + theirs))


@given(fractions, fractions, positive)
def test_rounding_moves_numbers_apart_by_no_more_than_said(a: Fraction, b: Fraction, step: Fraction) -> None:
    places = [nearest(x.numerator, Integers(step=Fraction(1, x.denominator)), step) for x in (a, b)]
    assert abs(places[0] - places[1]) * step <= rounded_distance(abs(a - b), step=step)
    assert all(abs(place * step - x) <= step / 2 for place, x in zip(places, (a, b), strict=True))
    assert rounded_distance(abs(a - b), step=step) - abs(a - b) < step


@given(st.integers(0, 60), st.integers(1, 9), positive, st.sampled_from([1, 2, None]))
def test_query_map_covers_the_walk(d_in: int, each_in: int, each_out: Fraction, link: int | None) -> None:
    found = query_stream_map(Fraction(d_in), each_in=Fraction(each_in), each_out=each_out, link=link)
    if link is not None and each_in >= link and d_in > each_in:
        pieces, walked = 0, 0
        while walked < d_in // link:
            pieces, walked = pieces + 1, walked + each_in // link
        assert found == pieces * each_out
    elif d_in > each_in:
        assert found == math.inf


batch_lists = st.lists(st.lists(st.integers(0, 2), max_size=3), min_size=2, max_size=2)


@given(batch_lists, batch_lists, batch_lists)
def test_per_batch_is_a_metric(a: list[list[int]], b: list[list[int]], c: list[list[int]]) -> None:
    metric = PerBatch()
    assert metric.distance(a, a) == 0
    assert metric.distance(a, b) == metric.distance(b, a)
    assert metric.distance(a, c) <= metric.distance(a, b) + metric.distance(b, c)
    assert (metric.distance(a, b) == 0) == all(sorted(x) == sorted(y) for x, y in zip(a, b, strict=True))
    sized = PerBatch(ChangeOne())
    even = [[[*batch, 0][:1] for batch in stream] for stream in (a, b, c)]
    assert sized.distance(even[0], even[2]) <= sized.distance(even[0], even[1]) + sized.distance(even[1], even[2])

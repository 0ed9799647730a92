"""Grid steps never show: whoever calls a transformation gives and gets numbers in the unit of the data."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.domains import Data, Frame, Integers, Stream, Vector
from sfumato.core.metrics import Absolute, LInf, Range
from sfumato.core.parts import Parts
from sfumato.core.space import Space
from sfumato.core.steps import to_steps, to_values
from sfumato.core.transformation import Transformation
from sfumato.errors import NotInDomain

ROWS = sf.vector(float, between=(0, 4))
FOUR = sf.vector(float, between=(0, 4), size=4)
POINTS = sf.matrix(2, between=(-8, 8))
DATA = [0.5, 1.0, 2.0, 2.5]

CASES: dict[str, tuple[Callable[[], Transformation], Data, Data]] = {
    "sum": (lambda: ROWS >> sf.sum(), DATA, 6.0),
    "mean": (lambda: FOUR >> sf.mean(), DATA, 1.5),
    "mean of some": (lambda: sf.vector(float, between=(0, 4), least=1) >> sf.mean(), DATA, 1.5),
    "mean in thirds": (lambda: sf.vector(int, between=(0, 9), size=3) >> sf.mean(), [1, 1, 2], Fraction(4, 3)),
    "variance": (lambda: FOUR >> sf.variance(ddof=0), DATA, 0.625),
    "standard deviation": (lambda: sf.vector(int, between=(0, 4), size=2) >> sf.standard_deviation(ddof=0), [0, 4], 2),
    "norm_clamp": (lambda: sf.matrix(2) >> sf.norm_clamp(5), np.array([[3.0, 4.0]]), [[3.0, 4.0]]),
    "vector_sum": (lambda: POINTS >> sf.transforms.vector_sum(), np.array([[3.0, 4.0], [1, -1.5]]), [4.0, 2.5]),
    "revenue_scores": (lambda: sf.vector(float) >> sf.transforms.revenue_scores([0.5, 2]), DATA, [2.0, 4.0]),
    "revenue_scores in tens": (lambda: sf.vector(int) >> sf.transforms.revenue_scores([10, 20]), [10, 25], [20, 20]),
    "quantile_scores": (
        lambda: sf.vector(float) >> sf.transforms.quantile_scores([1, 9], alpha=0.25),
        DATA,
        [-0.25, -3.0],
    ),
    "linear": (lambda: sf.vector(int, size=2, metric=sf.L1()) >> sf.linear([["0.5", 1]]), [3, 1], [2.5]),
    "round_to": (lambda: sf.scalar(int) >> sf.transforms.round_to(4), 7, 8),
    "one_each": (
        lambda: sf.frame({"id": int, "x": sf.Floats((0, 4))}, metric=sf.Identifiers("id")) >> sf.one_each("sum", "x"),
        {"id": [1, 1], "x": [0.5, 2.0]},
        [2.5],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_results_are_in_the_unit_of_the_data(name: str) -> None:
    build, data, expected = CASES[name]
    given = build()(data)
    shown = given.tolist() if isinstance(given, np.ndarray) else given
    assert shown == expected
    assert not isinstance(shown, int)  # a whole number would be read as steps


def test_rows_in_a_ball_are_taken_as_they_are_given() -> None:
    ball = sf.matrix(2) >> sf.norm_clamp(5)
    total = ball.target >> sf.transforms.vector_sum()
    rows = ball(np.array([[3.0, 4.0], [30.0, 40.0]]))
    assert total(rows).tolist() == [6.0, 8.0] == total(ball.image(np.array([[3.0, 4.0], [30.0, 40.0]]))).tolist()


def test_streams_answer_in_the_unit_of_the_data() -> None:
    stream = (ROWS >> sf.query_stream(1, d_out=4))(DATA)
    assert stream(sf.sum()) == 6.0 and stream(sf.count()) == 4
    assert list((sf.batches(float) >> sf.transforms.sum_stream(0, 4))([[1.0, 9.0], [0.25]])) == [5.0, 0.25]


def test_what_one_step_gives_the_next_takes() -> None:
    first = ROWS >> sf.sum()
    second = first.target >> sf.transforms.scale_by(2)
    assert second(first(DATA)) == 12.0 == (first >> sf.transforms.scale_by(2))(DATA)
    assert first.target.distance(first(DATA), first(DATA[1:])) == Fraction(1, 2)
    assert (first.target >> sf.laplace(scale=1))(first(DATA)).loss == sf.Pure(1)


def test_values_that_are_no_whole_steps_are_refused() -> None:
    quarters = Space(Integers(step=Fraction(1, 4)), Absolute()) >> sf.transforms.shift_by(1)
    assert quarters(0.75) == 1.75 == quarters(3)
    for wrong in (0.3, float("nan"), float("inf"), Fraction(1, 3)):
        with pytest.raises(NotInDomain):
            quarters(wrong)


def test_exact_numbers_are_floats_only_where_those_are_exact() -> None:
    fine = Integers(step=Fraction(1, 2**40))
    assert to_values(fine, 2**60 + 1) == Fraction(2**60 + 1, 2**40)
    assert isinstance(to_values(fine, 2**60 + 1), Fraction)
    assert to_values(Integers(step=Fraction(2**1000)), 2**100) == Fraction(2**1100)
    wide = to_values(Vector(fine), np.array([1, 2**60 + 1]))
    assert wide.tolist() == [Fraction(1, 2**40), Fraction(2**60 + 1, 2**40)]
    assert to_steps(Vector(fine), wide).tolist() == [1, 2**60 + 1]
    assert [type(value) for value in wide.tolist()] == [float, Fraction]  # each by itself, whatever the others are


def test_tables_parts_and_streams_are_read_column_by_column() -> None:
    halves = Integers(step=Fraction(1, 2))
    table = Frame((("x", halves), ("n", Integers())))
    assert {name: list(column) for name, column in to_values(table, {"x": [1, 2], "n": [1, 2]}).items()} == {
        "x": [0.5, 1.0],
        "n": [1, 2],
    }
    assert list(to_steps(table, {"x": [0.5, 1.0], "n": [1, 2]})["x"]) == [1, 2]
    with pytest.raises(NotInDomain):  # a column too many is not dropped in silence
        (Space(table, sf.AddRemove()) >> sf.count())({"x": [0.5], "n": [1], "who": ["?"]})
    parts = Parts(("a", "b"), (Vector(halves), Vector(halves)))
    assert [list(part) for part in to_values(parts, ([1], [2, 3]))] == [[0.5], [1.0, 1.5]]
    assert list(to_values(Stream(halves), [1, 3])) == [0.5, 1.5]
    assert list(to_steps(Stream(halves), [0.5, 3])) == [1, 3] and to_steps(Stream(halves), lambda query: 0.5)() == 1


def test_functions_and_keys_of_your_own_see_values() -> None:
    halves, vouched = Space(Vector(Integers(step=Fraction(1, 2))), sf.AddRemove()), sf.claim("for this test")
    data, low = [0.5, 1.0, 4.5], sf.satisfies(lambda value: value < 2, claim=vouched)
    assert (halves >> sf.map_rows(lambda value: float(value), float, default=0, claim=vouched))(data).tolist() == data
    assert (halves >> sf.keep(low))(data).tolist() == (halves >> sf.keep(sf.is_in([0.5, 1])))(data).tolist() == [0.5, 1]
    assert (halves >> sf.count_by([0.5, 2]))(data).tolist() == (halves >> sf.transforms.mode_scores([0.5, 2]))(
        data
    ).tolist()
    assert [part.tolist() for part in (halves >> sf.group_by(keys=[4.5]))(data)] == [[4.5]]
    largest = sf.sample_and_aggregate(max, parts=1, between=(0, 9), default=0, claim=vouched)
    assert (halves >> largest)(data).tolist() == [4.5]
    target = Space(Integers(step=Fraction(1, 4)), Absolute())
    own = sf.transformation(halves, target, function=lambda rows: rows[0] / 2, map=lambda d: d, claim=vouched)
    assert own(data) == 0.25 and own.image([1, 2]) == 1


@pytest.mark.parametrize("metric", [LInf(), Range()])
def test_distances_read_both_ways_of_writing(metric: LInf | Range) -> None:
    scores = Space(Vector(Integers(step=Fraction(1, 4)), size=2), metric)
    assert scores.distance([1, 2], [3, 2]) == scores.distance([0.25, 0.5], [0.75, 0.5]) == Fraction(1, 2)

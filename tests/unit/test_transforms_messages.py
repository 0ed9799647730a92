"""What beginners write first, and what they are told; and frames as people have them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from sfumato.core.domains import Categories, Floats, Integers
from sfumato.core.space import frame, scalar, vector
from sfumato.errors import BadArgument, ClaimRequired, SfumatoError
from sfumato.release.claim import claim
from sfumato.transforms.aggregate import count, count_distinct, mean, sum
from sfumato.transforms.casts import bin_by, cast, log
from sfumato.transforms.columns import project, select
from sfumato.transforms.conditions import between, is_in, is_nan, satisfies
from sfumato.transforms.filters import drop_nan, keep, mark
from sfumato.transforms.histogram import count_by, count_each, rows_from_counts
from sfumato.transforms.moments import standard_deviation, variance
from sfumato.transforms.reshape import repeat
from sfumato.transforms.rowwise import clamp, impute_nan, map_rows
from sfumato.transforms.scalars import lipschitz, round_to, scale_by, square

PEOPLE = frame({"age": int, "city": str})


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (
            lambda: vector(float) >> sum(),
            "sum() has no bounds on its values, so one unit could move it without limit. Put clamp(lower, upper) "
            "before sum(), with bounds from public knowledge and never from the data.",
        ),
        (
            lambda: vector(float) >> clamp(0, 1) >> mean(),
            "mean() is not stable when the number of rows is unknown. Release sum() and count() and divide, or fix the "
            "number of rows with resize(size, constant), or declare a public size=… or least=… if every possible data "
            "set has it.",
        ),
        (
            lambda: vector(float) >> clamp(0, 1) >> variance(),
            "variance() is not stable when the number of rows is unknown. Fix the number of rows with resize(size, "
            "constant), or declare a public size=….",
        ),
        (
            lambda: vector(Floats(nan=True)) >> clamp(0, 1),
            "what clamp() works on must be numbers without NaN (impute_nan or drop_nan first); got 'floats or NaN'.",
        ),
        (lambda: clamp(1, 0), "bounds must be in order: the lower bound first; got (1, 0)."),
        (lambda: clamp(math.nan, 1), "the lower bound must be finite; got nan."),
        (
            lambda: PEOPLE >> sum(),
            "what sum() works on must be one column of values; take one column of a frame with select(name); got",
        ),
        (lambda: PEOPLE >> select("salary"), "column must be one of age, city; got 'salary'."),
        (
            lambda: vector(str) >> map_rows(len, int, default=0),
            "that a function of your own depends on one row at a time cannot be checked by sfumato.",
        ),
        (
            lambda: vector(int) >> keep(lambda x: x > 3),
            "the condition must be between(…), is_in(…), is_nan() or satisfies(function, claim=…); got",
        ),
        (
            lambda: vector(int, size=1) >> clamp(0, 1) >> variance(),
            "size must be more than ddof = 1 for variance(); got 1.",
        ),
        (lambda: variance(ddof=2), "ddof must be 0 or 1; got 2."),
        (
            lambda: bin_by([3, 1]),
            "edges must be at least one number, in rising order and without repeats; got a list of 2.",
        ),
        (
            lambda: count_by(["a", "a"]),
            "categories must be distinct: a value listed twice would be counted as two; got a tuple of 2.",
        ),
        (
            lambda: scalar(float) >> scale_by(2),
            "what scale_by() works on must be an exact number or vector: an aggregate, an integer, or round_to(step) "
            "first; got 'floats under the absolute distance'.",
        ),
        (lambda: vector(float) >> log(), "what log() works on must be floats within bounds above 0: clamp them first;"),
        (lambda: vector(float) >> cast(str), "the kind to cast to must be int or float; got str."),
        (lambda: repeat(0), "copies must be a whole number of at least 1; got 0."),
    ],
)
def test_first_mistakes(write: Callable[[], object], told: str) -> None:
    with pytest.raises(SfumatoError) as caught:
        write()
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "write",
    [
        lambda: vector(float, size=0) >> clamp(0, 1) >> mean(),
        lambda: vector(str) >> clamp(0, 1),
        lambda: vector(int) >> clamp("0.2", "0.8"),
        lambda: vector(int) >> impute_nan(0),
        lambda: vector(float, metric=None) >> select("age"),
        lambda: PEOPLE >> clamp(0, 1),
        lambda: PEOPLE >> project(),
        lambda: PEOPLE >> mark(between(0, 1, column="city")),
        lambda: PEOPLE >> keep(is_nan(column="age")),
        lambda: vector(int) >> count_each([]),
        lambda: vector(int) >> count_by([1], cells=1, claim=claim("x")),
        lambda: vector(int) >> rows_from_counts(["a"], most=3),
        lambda: vector(int) >> square(),
        lambda: vector(int) >> round_to(1),
        lambda: vector(str) >> map_rows(len, int, default=-1, between=(0, 9), claim=claim("x")),
        lambda: vector(str) >> cast(int),
        lambda: round_to(0),
        lambda: vector(float) >> standard_deviation(),
    ],
)
def test_more_refusals(write: Callable[[], object]) -> None:
    with pytest.raises(SfumatoError):
        write()


def test_claims_travel_with_the_transformation() -> None:
    vouched = claim("a pure function")
    made = vector(str) >> keep(satisfies(str.isupper, claim=vouched) | ~is_in(["x"])) >> count()
    assert made.claims == (vouched,)
    assert made(["A", "b", "x"]) == 2
    for make in (lambda: satisfies(str.isupper), lambda: lipschitz(abs, 1, step=1)):
        with pytest.raises(ClaimRequired):
            make()


def test_a_function_that_fails_is_not_heard() -> None:
    vouched = claim("for this test")
    made = vector(int) >> map_rows(lambda x: 1 // x, int, default=-1, between=(-1, 9), claim=vouched)
    assert made([0, 1, 5]).tolist() == [-1, 1, 0]
    wrong_kind = vector(int) >> map_rows(lambda x: "text", int, default=7, claim=vouched)
    assert wrong_kind([1, 2]).tolist() == [7, 7]
    asked = vector(int) >> keep(satisfies(lambda x: 1 // x > 0, claim=vouched))
    assert asked([0, 1, 5]).tolist() == [1]
    number = scalar(int) >> lipschitz(lambda x: 1 / x, 1, step=1, claim=vouched)
    assert number(0) == 0


def test_functions_cannot_tell_nan_apart() -> None:
    negative = np.copysign(np.nan, -1.0)
    made = vector(Floats(nan=True)) >> map_rows(
        lambda x: math.copysign(1, x), float, default=0, claim=claim("looks at the sign of NaN")
    )
    assert len(set(made(np.array([np.nan, negative])).tolist())) == 1
    assert (vector(Floats(nan=True)) >> count_distinct())(np.array([np.nan, negative, 0.0, -0.0])) == 3


@pytest.mark.parametrize(
    "value", [0.75, np.float32(0.75), np.float16(0.75), np.float64(0.75)], ids=lambda v: type(v).__name__
)
def test_numbers_of_every_width_are_rounded_alike(value: float) -> None:
    assert (scalar(float) >> round_to("0.25"))(value) == 0.75
    assert (scalar(float) >> round_to(1))(np.int8(-3)) == -3


def test_filters_narrow_the_domain() -> None:
    kept = vector(Floats(nan=True, infinite=True)) >> keep(between(0, 10))
    assert kept.target.domain.element == Floats((0, 10))
    assert (kept >> sum()).map(1) == 10
    tighter = vector(float) >> clamp(0, 1) >> keep(between(-5, "0.5"))
    assert tighter.target.domain.element == Floats((0, "0.5"))
    assert (vector(int) >> keep(between("0.2", "0.8"))).target.domain.element == Integers()
    assert (vector(str) >> keep(is_in(["a"]))).target.domain.element == Categories(("a",))
    assert (vector(float) >> drop_nan()).target.domain.element == Floats()
    cities = PEOPLE >> keep(is_in(["Rome", "Oslo"], column="city")) >> select("city")
    assert cities.target.domain.element == Categories(("Rome", "Oslo"))


def test_pandas_frames_are_frames() -> None:
    people = pd.DataFrame({"age": [30, 41, 7], "city": ["Rome", "Oslo", "Rome"]})
    grown = PEOPLE >> keep(between(18, 120, column="age"))
    assert {name: list(values) for name, values in grown(people).items()} == {"age": [30, 41], "city": ["Rome", "Oslo"]}
    assert (grown >> count())(people) == 2
    assert (PEOPLE >> count_distinct())(people) == 3
    assert (PEOPLE >> count_by([(30, "Rome"), (9, "Rome")]))(people).tolist() == [1, 0]
    assert (PEOPLE >> select("age") >> clamp(0, 40) >> sum())(people) == 77
    assert (PEOPLE >> project("city"))(people)["city"].tolist() == ["Rome", "Oslo", "Rome"]


def test_a_public_description_never_shows_data() -> None:
    made = vector(int, size=3) >> clamp(0, 10) >> mean()
    made([1, 2, 9])
    assert repr(made) == (
        "Transformation(clamp to [0, 10] → mean: 3 integers under the change-one distance ⟶ "
        "multiples of 1/3 in [0, 10] under the absolute distance)"
    )
    with pytest.raises(BadArgument):
        made.map(-1)

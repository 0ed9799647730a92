"""What a member is stored in changes nothing: lists, arrays of any type and layout, and pandas columns answer alike."""

from __future__ import annotations

import array
import math
from collections import deque
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from sfumato.core.domains import Categories, Data, Domain, Floats, Frame, Integers, Matrix, Norm, Texts, Vector
from sfumato.core.metrics import L2, AddRemove
from sfumato.core.partial import Partial
from sfumato.core.rows import canonical, rows_of
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.release.claim import claim
from sfumato.transforms.aggregate import count, count_distinct, sum
from sfumato.transforms.casts import absolute, bin_by, cast
from sfumato.transforms.conditions import between, is_in, satisfies
from sfumato.transforms.filters import keep, mark
from sfumato.transforms.histogram import count_by, count_each
from sfumato.transforms.mode_gap import mode_gap
from sfumato.transforms.norms import norm_clamp
from sfumato.transforms.reshape import repeat, resize
from sfumato.transforms.rowwise import clamp, impute_nan, map_rows
from sfumato.transforms.scores import mode_scores, revenue_scores
from sfumato.transforms.vectors import vector_sum

VOUCHED = claim("for this test")
ANY = Floats(nan=True, infinite=True)
PAYLOAD = float(np.array([0xFFF8000000000123], dtype=np.uint64).view(np.float64)[0])
STEP = Fraction(1, 2**30)

floats = st.sampled_from([0.0, -0.0, 5e-324, 0.1, 2.0**53, -1.7e308, math.nan, PAYLOAD, math.inf]) | st.floats(-5, 5)
whole = st.sampled_from([0, 1, 200, -129, 2**31, 2**53 + 1, 2**63, 2**64 - 1, -(2**63), 10**25]) | st.integers(-3, 3)
texts = st.sampled_from(["a", "b", "", "xy", "ä", "a\u0308", "ß", "SS", "\U0001f600", "0"])
mixed = st.sampled_from([True, 1, 1.0, 0, -0.0, "x", ("a", 1), ("b",), None])
steps = st.sampled_from([(2**30, 0), (0, -(2**30)), (7, -9), (0, 0)])
wide = st.sampled_from([(2**64 - 1,), (2**63,), (2**53 + 1,), (0,)])
points = st.tuples(st.floats(-4, 4), st.sampled_from([0.0, -0.0, 1e300, 0.1, 3.0]))

Make = Callable[[], Partial[Transformation]]
CASES: list[tuple[Domain, st.SearchStrategy[Any], list[Make]]] = [
    (
        Vector(ANY),
        floats,
        [
            count_distinct,
            lambda: cast(int),
            lambda: absolute() >> count_distinct(),
            lambda: count_by([0, 0.1], other=True),
            lambda: impute_nan(1) >> clamp("-0.1", "0.3") >> sum(),
            lambda: map_rows(lambda v: math.copysign(1, v), int, default=0, claim=VOUCHED),
            lambda: count(satisfies(lambda v: 1 / v > 0, claim=VOUCHED)),
        ],
    ),
    (
        Vector(Integers()),
        whole,
        [
            count_distinct,
            mode_gap,
            lambda: clamp(-3, 2**64) >> sum(),
            lambda: cast(float),
            lambda: bin_by([0, 2**63, 2**64]),
            lambda: keep(between(0, 2**63)),
            lambda: resize(9, 2**64),
            lambda: revenue_scores([0, 2**63, 2**70]),
        ],
    ),
    (Vector(Texts()), texts, [count_distinct, mode_gap, lambda: count_by(["a", "ä"], other=True), lambda: repeat(2)]),
    (
        Vector(Categories((True, 0, "x", ("a", 1), ("b",), None))),
        mixed,
        [count_distinct, mode_gap, mode_scores, lambda: mark(is_in([1, ("a", 1)])), lambda: resize(9, ("b",))],
    ),
    (
        Matrix(2),
        points,
        [count_distinct, lambda: norm_clamp("0.7") >> vector_sum(), lambda: resize(9, [0, 1]), lambda: clamp(-1, 1)],
    ),
    (
        Matrix(2, Integers(None, STEP), Norm(Fraction(1), 2, (Fraction(0),) * 2)),
        steps,
        [vector_sum, lambda: resize(9, [0, 2**30]) >> vector_sum(), count_distinct],
    ),
    (Matrix(1, Integers((0, 2**64 - 1))), wide, [vector_sum, lambda: resize(9, [1]) >> vector_sum(), count_distinct]),
    (
        Frame((("i", Integers()), ("f", ANY), ("t", Texts()))),
        st.tuples(whole, floats, texts),
        [
            count_distinct,
            lambda: count_each([is_in(["a"], column="t"), between(0, 1, column="f")], metric=L2()),
            lambda: map_rows(lambda row: row["i"] / row["f"], float, default=0.0, claim=VOUCHED),
        ],
    ),
]
TRIED = [
    pytest.param(domain, row, make, id=f"{domain} {number}")
    for domain, row, makes in CASES
    for number, make in enumerate(makes)
]


def read_only(values: Data) -> Data:
    values.flags.writeable = False
    return values


def float_columns(values: list[Any]) -> list[Data]:
    made = np.array(values, dtype=np.float64)
    return [
        tuple(values),
        deque(values),
        array.array("d", values),
        memoryview(made),
        made,
        np.repeat(made, 3)[::3],
        made[::-1].copy()[::-1],
        read_only(made.astype(">f8")),
        made.astype(np.longdouble),
        [np.float64(value) for value in values],
    ]


def integer_columns(values: list[Any]) -> list[Data]:
    kinds = [np.dtype(kind) for kind in ("i1", "u1", ">i2", "i4", "u4", "i8", "u8")]
    fitting = [kind for kind in kinds if all(np.iinfo(kind).min <= value <= np.iinfo(kind).max for value in values)]
    arrays = [np.array(values, dtype=kind) for kind in fitting]
    return [tuple(values), np.array(values, dtype=object), *arrays, *(np.repeat(made, 2)[::2] for made in arrays)]


def other_columns(values: list[Any]) -> list[Data]:
    stored = np.empty(len(values), dtype=object)
    stored[:] = values
    words = [np.array(values), np.array(values, dtype="U9")] if all(isinstance(value, str) for value in values) else []
    return [tuple(values), deque(values), stored, *(words if values else [])]


def pandas_columns(values: list[Any]) -> list[Data]:
    stored = np.empty(len(values), dtype=object)
    stored[:] = values
    labels = [7 * place % 31 for place in range(len(values))]
    return [pd.Series(stored, dtype=object), pd.Series(stored, index=labels, dtype=object)]


def columns_of(values: list[Any], element: object) -> list[Data]:
    match element:
        case Floats():
            kept = float_columns(values)
        case Integers():
            kept = integer_columns(values)
        case _:
            kept = other_columns(values)
    return [*kept, *pandas_columns(values)]


def matrices(rows: Sequence[Sequence[Any]], domain: Matrix) -> list[Data]:
    flat = [value for row in rows for value in row]
    listed = float_columns(flat) if isinstance(domain.element, Floats) else integer_columns(flat)
    arrays = [
        made.reshape(-1, domain.columns) for made in listed if isinstance(made, np.ndarray) and made.dtype != object
    ]
    twins = [pd.DataFrame(made, columns=["z"] * domain.columns) for made in arrays if made.dtype.isnative]
    return [*arrays, *map(np.asfortranarray, arrays), *twins]


def storages(rows: list[Any], domain: Domain) -> list[Data]:
    """Gives one data set in many kinds of storage, the plainest first."""
    match domain:
        case Vector():
            return [rows, *columns_of(rows, domain.element)]
        case Matrix():
            return matrices(rows, domain)
        case Frame():
            plain = {name: [row[place] for row in rows] for place, (name, _) in enumerate(domain.columns)}
            by_name = {name: columns_of(plain[name], element) for name, element in domain.columns}
            mixed = [{name: made[turn % len(made)] for name, made in by_name.items()} for turn in range(12)]
            return [plain, *mixed, pd.DataFrame(plain, dtype=object)]
    raise AssertionError(domain)


def image(value: Data) -> object:
    return rows_of(value) if isinstance(value, np.ndarray | dict) else canonical(value)


@pytest.mark.parametrize(("domain", "row", "make"), TRIED)
@settings(max_examples=15)
@given(data=st.data())
def test_storage_does_not_matter(domain: Domain, row: st.SearchStrategy[Any], make: Make, data: st.DataObject) -> None:
    made = Space(domain, AddRemove()) >> make()
    rows = data.draw(st.lists(row, max_size=5))
    images = []
    for stored in storages(rows, domain):
        assert domain.member(stored)
        images.append(made.image(stored))
        assert made.target.domain.member(images[-1])
        assert made.target.distance(made(stored), images[-1]) == 0
    assert [image(one) for one in images] == [image(images[0])] * len(images)

"""Codes of columns: the same code in Python and in the engine, and back again to a value with that code."""

from __future__ import annotations

import datetime
import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.metrics import L1
from sfumato.entropy import ReplayEntropy
from sfumato.query.nodes.kinds import Kind
from sfumato.stats.shares import noise_of, parameter_for
from sfumato.synth.asking import coded_rows
from sfumato.synth.columns import BinnedColumn, CodedColumn, ListedColumn, even_edges
from sfumato.transforms.contingency import tables_at

DAY, MOMENT = datetime.date, datetime.datetime
ZONE = datetime.timezone(datetime.timedelta(hours=5))
LARGE = 2**63 - 1

COLUMNS: dict[str, CodedColumn] = {
    "texts": ListedColumn("texts", Kind.TEXT, ("a", "b", "other", "", "ü")),
    "texts and others": ListedColumn("x", Kind.TEXT, ("a", "other"), may_miss=True, other=True),
    "numbers that may not miss": ListedColumn("x", Kind.INT, (3, 1, 2), may_miss=False),
    "truths": ListedColumn("x", Kind.BOOL, (False, True)),
    "floats": ListedColumn("x", Kind.FLOAT, (0.0, 0.1, 1e300)),
    "listed days": ListedColumn("x", Kind.DATE, (DAY(2020, 2, 29), DAY(1900, 1, 1))),
    "listed moments": ListedColumn("x", Kind.TIME, (MOMENT(2020, 2, 29, 1, 2, 3, 4),)),
    "whole numbers": BinnedColumn("x", Kind.INT, (-5, 0, 1, 100)),
    "all whole numbers": BinnedColumn("x", Kind.INT, (-(2**63), LARGE)),
    "large whole numbers": BinnedColumn("x", Kind.INT, (2**53, 2**53 + 1, 2**53 + 2, LARGE - 1, LARGE)),
    "bins of floats": BinnedColumn("x", Kind.FLOAT, (Fraction(1, 10), Fraction(1, 3), Fraction(2))),
    "huge floats": BinnedColumn("x", Kind.FLOAT, (-1.7e308, 0.0, 1.7e308)),
    "tiny floats": BinnedColumn("x", Kind.FLOAT, (0.0, 5e-324, 1.5e-323)),
    "days": BinnedColumn("x", Kind.DATE, (DAY(1, 1, 1), DAY(1969, 12, 31), DAY(1970, 1, 1), DAY(9999, 12, 31))),
    "moments": BinnedColumn(
        "x", Kind.TIME, (MOMENT(1, 1, 1), MOMENT(1970, 1, 1, 0, 0, 0, 1), MOMENT(9999, 12, 31, 23, 59, 59, 999999))
    ),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS.keys())
def test_what_a_code_stands_for_has_that_code(column: CodedColumn) -> None:
    codes = np.repeat(np.arange(column.size), 200)
    values = column.decode(codes.astype(np.uint16), ReplayEntropy(b"codes")).to_pylist()
    assert column.encode(values).tolist() == codes.tolist()
    assert len(set(column.labels)) == column.size


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=20, unique=True),
    st.binary(min_size=1, max_size=8),
    st.booleans(),
)
def test_bins_of_any_whole_numbers_come_back(edges: list[int], seed: bytes, may_miss: bool) -> None:
    column = BinnedColumn("x", Kind.INT, tuple(sorted(edges)), may_miss)
    codes = np.tile(np.arange(column.size), 20)
    values = column.decode(codes, ReplayEntropy(seed)).to_pylist()
    assert column.encode(values).tolist() == codes.tolist()
    held = [value for value in values if value is not None]
    assert all(min(edges) <= value <= max(edges) for value in held)


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=20, unique=True),
    st.binary(min_size=1, max_size=8),
)
def test_bins_of_any_floats_come_back(edges: list[float], seed: bytes) -> None:
    rising = tuple(sorted({edge + 0.0 for edge in edges}))
    if len(rising) < 2:
        return
    column = BinnedColumn("x", Kind.FLOAT, rising)
    codes = np.tile(np.arange(column.size), 20)
    values = column.decode(codes, ReplayEntropy(seed)).to_pylist()
    assert column.encode(values).tolist() == codes.tolist()


@given(st.lists(st.datetimes(), min_size=2, max_size=10, unique=True), st.binary(min_size=1, max_size=8))
def test_bins_of_any_moments_and_days_come_back(edges: list[datetime.datetime], seed: bytes) -> None:
    days = sorted({edge.date() for edge in edges})
    made: list[CodedColumn] = [BinnedColumn("x", Kind.TIME, tuple(sorted(edges)))]
    made += [BinnedColumn("x", Kind.DATE, tuple(days))] if len(days) > 1 else []
    for column in made:
        codes = np.tile(np.arange(column.size), 20)
        assert column.encode(column.decode(codes, ReplayEntropy(seed)).to_pylist()).tolist() == codes.tolist()


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6), st.integers(1, 40))
def test_even_bins_hold_about_as_many_whole_numbers_each(low: int, width: int, bins: int) -> None:
    edges = even_edges(Fraction(low), Fraction(low + width), bins, Kind.INT)
    assert edges[0] == low and edges[-1] == low + width
    assert all(one < other for one, other in itertools.pairwise(edges))
    assert len(edges) - 1 <= bins


def test_values_are_spread_over_their_bin() -> None:
    column = BinnedColumn("x", Kind.INT, (0, 10, 13))
    values = column.decode(np.ones(30_000, dtype=np.int64), ReplayEntropy(b"spread")).to_pylist()
    counts = [values.count(value) for value in range(10, 14)]
    assert sum(counts) == 30_000 and min(counts) > 7_000  # 13 is in it: the last bin is closed


def test_types_of_arrow() -> None:
    codes = np.array([0, 0])
    for kind, edges, made in (
        (Kind.INT, (0, 5), pa.int64()),
        (Kind.FLOAT, (0.0, 5.0), pa.float64()),
        (Kind.DATE, (DAY(2020, 1, 1), DAY(2021, 1, 1)), pa.date32()),
        (Kind.TIME, (MOMENT(2020, 1, 1), MOMENT(2021, 1, 1)), pa.timestamp("us")),
    ):
        assert BinnedColumn("x", kind, edges).decode(codes, ReplayEntropy(b"x")).type == made


def test_odd_values_in_python() -> None:
    floats = BinnedColumn("x", Kind.FLOAT, (0.0, 1.0, 2.0))
    values: list[Any] = [-0.0, math.nan, math.inf, -math.inf, None, "1.5", Decimal("1.5"), Fraction(3, 2), 10**400]
    assert floats.encode(values).tolist() == [0, 2, 2, 2, 2, 2, 1, 1, 2]
    whole = BinnedColumn("x", Kind.INT, (0, 2, 4))
    assert whole.encode([True, 1.9, 2.0, math.inf, -(10**30), math.nan, "3", [1]]).tolist() == [0, 0, 1, 2, 0, 2, 2, 2]
    days = ListedColumn("x", Kind.DATE, (DAY(2020, 1, 1),))
    assert days.encode([MOMENT(2020, 1, 1, 5), np.datetime64("2020-01-01"), np.datetime64("NaT"), 3]).tolist() == [
        0,
        0,
        1,
        1,
    ]
    moments = ListedColumn("x", Kind.TIME, (MOMENT(2020, 1, 1),))
    assert moments.encode([MOMENT(2020, 1, 1, 5, tzinfo=ZONE), np.datetime64("2020-01-01T00:00:00.000000000")]).tolist()
    assert moments.place(MOMENT(2020, 1, 1, 5, tzinfo=ZONE)) == 0
    texts = ListedColumn("x", Kind.TEXT, ("a",), may_miss=False)
    assert texts.encode(["a", "A", None, ["a"], 1]).tolist() == [0, -1, -1, -1, -1]
    with pytest.raises(sf.errors.BadArgument):
        texts.place("b")


@pytest.mark.parametrize("edges", [(1,), (), (2, 1), (1, 1), (0.5, 3)])
def test_edges_that_are_refused(edges: tuple[float, ...]) -> None:
    with pytest.raises(sf.errors.BadArgument):
        BinnedColumn("x", Kind.INT, edges)


def test_edges_that_floats_cannot_tell_apart_are_refused() -> None:
    with pytest.raises(sf.errors.BadArgument, match="further apart"):
        BinnedColumn("x", Kind.FLOAT, (Fraction(1), 1 + Fraction(1, 10**30)))


def test_bins_are_cut_where_ranges_end() -> None:
    column = BinnedColumn("x", Kind.INT, (0, 10, 20)).cut([(3, 7), (15, 99)])
    assert column.edges == (0, 3, 8, 10, 15, 20)  # type: ignore[attr-defined]
    assert column.within([(3, 7), (15, 99)]).tolist() == [False, True, False, False, True, False]
    floats = BinnedColumn("x", Kind.FLOAT, (0.0, 1.0)).cut([(0.0, 0.5)])
    assert floats.within([(0.0, 0.5)]).tolist() == [True, False, False]
    assert floats.encode([0.5, math.nextafter(0.5, 1)]).tolist() == [0, 1]
    listed = ListedColumn("x", Kind.TEXT, ("a", "b"), other=True)
    assert listed.cut([("a", "a")]) is listed and listed.within([("a", "a")]).tolist() == [True, False, False, False]  # type: ignore[list-item]


DAYS = ((1, 1, 1), (9999, 12, 31), (1970, 1, 1), (1969, 12, 31), (2020, 2, 29), (1900, 1, 1), (2000, 1, 1))
FRAME = pl.DataFrame(
    {
        "whole": [None, -(2**63), 2**63 - 1, 2**53, 2**53 + 1, 2**53 + 2, 0, -1],
        "float": [None, math.nan, math.inf, -math.inf, -0.0, 0.1, 1 / 3, 1e308],
        "text": [None, "", "a", "A", "ü", "other", "a" * 2000, "'; --"],
        "truth": [None, True, False, True, False, None, True, True],
        "day": [None, *(DAY(*day) for day in DAYS)],
        "moment": [
            None,
            MOMENT(1970, 1, 1),
            MOMENT(1970, 1, 1, 0, 0, 0, 1),
            MOMENT(1969, 12, 31, 23, 59, 59, 999999),
            MOMENT(2020, 2, 29, 12),
            MOMENT(1900, 1, 1),
            MOMENT(2000, 1, 1),
            MOMENT(2199, 12, 31),
        ],
    },
    schema_overrides={"whole": pl.Int64, "moment": pl.Datetime("us", "UTC")},
)

CODED = [
    BinnedColumn("whole", Kind.INT, (-(2**63), 0, 2**53, 2**53 + 1, 2**53 + 2, LARGE)),
    BinnedColumn("float", Kind.FLOAT, (-1.0, 0.0, Fraction(1, 10), Fraction(1, 3), 2.0)),
    ListedColumn("text", Kind.TEXT, ("a", "ü", "", "a" * 1000, "'; --"), other=True),
    ListedColumn("truth", Kind.BOOL, (False, True)),
    BinnedColumn("day", Kind.DATE, (DAY(1900, 1, 1), DAY(1970, 1, 1), DAY(2020, 2, 29), DAY(2100, 1, 1))),
    BinnedColumn(
        "moment",
        Kind.TIME,
        (MOMENT(1900, 1, 1), MOMENT(1970, 1, 1), MOMENT(1970, 1, 1, 0, 0, 0, 1), MOMENT(2100, 1, 1)),
    ),
]


@pytest.mark.parametrize("column", CODED, ids=lambda one: one.name)
def test_the_engine_gives_the_codes_that_python_gives(column: CodedColumn) -> None:
    """One row after another, at a loss so large that counts are exact."""
    held = FRAME[column.name].to_list()
    expected = np.bincount(column.encode(held), minlength=column.size)
    data = sf.Dataset(FRAME.select(column.name), unit=sf.Unit("a row", sf.AddRemove(), bound=1), name="odd")
    table = data.session(limit=sf.Pure(10**9), ledger="memory:").table("odd")
    exact = coded_rows(table, [column], None).tables([(0,)]) >> tables_at([0], metric=L1())
    scale = parameter_for(lambda one: exact >> noise_of(sf.Pure, one), sf.Pure(10**6), table.asker.unit)
    counts = table.asker.run(exact >> noise_of(sf.Pure, scale), loss=None, key=None).value
    assert np.rint(np.asarray(counts)).tolist() == expected.tolist()

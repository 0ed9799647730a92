"""Sets of public keys: the laws of their algebra, against sets of Python; what they refuse; their speed."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import BadArgument
from sfumato.query.nodes.keysets import MOST_KEYS, KeySet
from sfumato.query.nodes.kinds import Kind

SITES = st.sampled_from([None, "", "north", "south", "σ", "Zürich"])
YEARS = st.sampled_from([None, -(2**63), -1, 0, 1, 2024, 2**63 - 1])
DAYS = st.sampled_from([None, datetime.date(1, 1, 1), datetime.date(2024, 2, 29), datetime.date(9999, 12, 31)])


def rows_of(*columns: st.SearchStrategy[Any]) -> st.SearchStrategy[set[tuple[Any, ...]]]:
    return st.sets(st.tuples(*columns), max_size=12)


def keys(names: str, rows: Any) -> KeySet:
    return KeySet.rows(list(names), rows)


def none_first(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple((value is not None, value or 0 if value is None else value) for value in row)


@given(rows_of(SITES, YEARS))
def test_rows_are_a_set_in_order(rows: set[tuple[Any, ...]]) -> None:
    found = keys("sy", [*rows, *rows])
    assert list(found) == sorted(rows, key=none_first)
    assert len(found) == len(rows)


@given(rows_of(SITES, YEARS), rows_of(SITES, YEARS))
def test_union_and_difference(left: set[tuple[Any, ...]], right: set[tuple[Any, ...]]) -> None:
    assert set(keys("sy", left) | keys("sy", right)) == left | right
    assert set(keys("sy", left) - keys("sy", right)) == left - right
    assert (keys("sy", left) == keys("sy", right)) == (left == right)


@given(rows_of(SITES, YEARS), rows_of(SITES, YEARS))
def test_laws_of_union_and_difference(left: set[tuple[Any, ...]], right: set[tuple[Any, ...]]) -> None:
    a, b = keys("sy", left), keys("sy", right)
    assert a | b == b | a
    assert (a - b) | b == a | b
    assert len((a - b).join(b)) == 0
    assert a.join(b) == a - (a - b)


@given(rows_of(SITES, YEARS), rows_of(DAYS))
def test_product(left: set[tuple[Any, ...]], right: set[tuple[Any, ...]]) -> None:
    found = keys("sy", left) * keys("d", right)
    assert list(found) == sorted({a + b for a in left for b in right}, key=none_first)
    assert found == keys("d", right) * keys("sy", left)
    if right:
        assert found.select(["s", "y"]) == keys("sy", left)


@given(rows_of(SITES, YEARS), rows_of(YEARS, DAYS))
def test_natural_join(left: set[tuple[Any, ...]], right: set[tuple[Any, ...]]) -> None:
    found = keys("sy", left).join(keys("yd", right))
    assert found.names == ("s", "y", "d")
    assert set(found) == {(s, y, d) for s, y in left for other, d in right if other == y}
    assert list(found) == sorted(found, key=none_first)
    assert found == keys("yd", right).join(keys("sy", left))


@given(rows_of(SITES, YEARS), st.sets(SITES))
def test_filter_and_select(rows: set[tuple[Any, ...]], sites: set[Any]) -> None:
    found = keys("sy", rows)
    kept = {row for row in rows if row[0] in sites}
    assert set(found.filter(s=sites)) == kept
    assert found.filter(lambda key: key["s"] in sites) == found.filter(s=sites) == keys("sy", kept)
    assert set(found.select(["y"])) == {(row[1],) for row in rows}
    assert set(found.select(["y", "s"])) == {(y, s) for s, y in rows}
    assert found.select(["y", "s"]) == found


@given(rows_of(SITES, YEARS), rows_of(SITES, YEARS))
def test_digests_are_equal_exactly_when_keys_are(left: set[tuple[Any, ...]], right: set[tuple[Any, ...]]) -> None:
    swapped = keys("ys", [(y, s) for s, y in right])
    assert (keys("sy", left).digest == swapped.digest) == (left == right)
    assert hash(keys("sy", right)) == hash(swapped)


@given(rows_of(SITES, YEARS))
def test_listed_has_a_column_for_each_name(rows: set[tuple[Any, ...]]) -> None:
    listed = keys("sy", rows).listed(["y", "s"])
    assert len(listed) == len(rows)
    assert set(zip(*listed.columns, strict=True)) == {(y, s) for s, y in rows}
    assert not listed.certain


def test_rows_with_many_columns_keep_their_order_beyond_64_bits() -> None:
    rows = [tuple((place * step) % 97 for step in range(1, 13)) for place in range(97)]
    assert list(KeySet.rows([f"c{place}" for place in range(12)], rows)) == sorted(rows)


def test_of_is_every_combination() -> None:
    found = KeySet.of(site=["south", "north", "north"], year=range(2023, 2025))
    assert list(found) == [("north", 2023), ("north", 2024), ("south", 2023), ("south", 2024)]
    assert repr(found) == "KeySet(site, year: 4 keys)"
    assert found.kinds == (Kind.TEXT, Kind.INT)


def test_a_digest_never_changes() -> None:
    # It is written into ledgers: a question that was asked before must be known again.
    found = KeySet.of(site=["north", None], day=[datetime.date(2024, 1, 31)])
    assert found.digest == "a4044a743cde919e63f05f27ad4529d809dd213dffe8df8c024e38ce7387c330"


def test_values_of_other_libraries_become_pythons() -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    assert list(KeySet.of(x=np.array([2, 1]))) == [(1,), (2,)]
    assert list(KeySet.of(x=[-0.0, np.float64(1.5)])) == [(0.0,), (1.5,)]
    assert str(next(iter(KeySet.of(x=[-0.0])))[0]) == "0.0"
    assert list(KeySet.of(x=[Decimal(3)])) == [(3,)]
    assert list(KeySet.of(x=[datetime.datetime(2024, 1, 1, 1, tzinfo=zone)])) == [
        (datetime.datetime(2023, 12, 31, 23),)
    ]
    assert type(next(iter(KeySet.of(x=[pd.Timestamp("2024-01-01")])))[0]) is datetime.datetime
    assert type(next(iter(KeySet.of(x=[np.int64(1)])))[0]) is int


@pytest.mark.parametrize(
    "frame",
    [
        {"site": ["b", None, "a"], "year": [1, 2, 3]},
        pd.DataFrame({"site": ["b", None, "a"], "year": [1, 2, 3]}),
        pl.DataFrame({"site": ["b", None, "a"], "year": [1, 2, 3]}),
        pa.table({"site": ["b", None, "a"], "year": [1, 2, 3]}),
    ],
    ids=["dict", "pandas", "polars", "arrow"],
)
def test_of_frame(frame: object) -> None:
    assert list(KeySet.of_frame(frame)) == [(None, 2), ("a", 3), ("b", 1)]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: KeySet.of(), "over at least one column"),
        (lambda: KeySet.of(x="abc"), "keys of 'x' must be a list of values"),
        (lambda: KeySet.of(x=3), "keys of 'x' must be a list of values"),
        (lambda: KeySet.of(x=[1, "a"]), "keys of 'x' must be all of one kind; got 'int, text'"),
        (lambda: KeySet.of(x=[1, True]), "all of one kind; got 'bool, int'"),
        (lambda: KeySet.of(x=[1, 2.0]), "all of one kind; got 'float, int'"),
        (lambda: KeySet.of(x=[1, 1.0]), "all of one kind; got 'float, int'"),
        (lambda: KeySet.of(x=[datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1)]), "got 'date, time'"),
        (lambda: KeySet.of(x=[float("nan")]), "a key of 'x' must be"),
        (lambda: KeySet.of(x=[float("inf")]), "a key of 'x' must be"),
        (lambda: KeySet.of(x=[2**63]), "a whole number of 64 bits"),
        (lambda: KeySet.of(x=["a" * 1001]), "at most 1,000 characters"),
        (lambda: KeySet.of(x=[[1]]), "a plain value"),
        (lambda: KeySet.of(x=[(1, 2)]), "a key of 'x' must be"),
        (lambda: KeySet.rows(["a", "b"], [(1, 2), (1,)]), "each row of keys must be of 2 values"),
        (lambda: KeySet.rows(["a"], ["x"]), "each row of keys must be of 1 values"),
        (lambda: KeySet.rows("ab", [(1, 2)]), "each row of keys"),
        (lambda: KeySet.rows(["a", "a"], [(1, 2)]), "named by different texts"),
        (lambda: KeySet.rows([], []), "named by different texts"),
        (lambda: KeySet.of_frame(3), "a dict of lists; got 'int'"),
        (lambda: KeySet.of_frame({"a": [1], "b": [1, 2]}), "all of one length"),
        (lambda: KeySet.of(x=[1]) * KeySet.of(x=[1]), "different; join(…) matches shared ones"),
        (lambda: KeySet.of(x=[1]).join(KeySet.of(y=[1])), "* gives all combinations"),
        (lambda: KeySet.of(x=[1]) | KeySet.of(y=[1]), "over the same columns: x"),
        (lambda: KeySet.of(x=[1]) - KeySet.of(x=[1], y=[1]), "over the same columns: x"),
        (lambda: KeySet.of(x=[1]) | KeySet.of(x=["a"]), "keys of 'x' must be of one kind, int; got 'text'"),
        (lambda: KeySet.of(x=[1]).join(KeySet.of(x=["a"])), "of one kind, int; got 'text'"),
        (lambda: KeySet.of(x=[1]).filter(x=["a"]), "of one kind, int; got 'text'"),
        (lambda: KeySet.of(x=[1]).filter(y=[1]), "among x"),
        (lambda: KeySet.of(x=[1]).select(["y"]), "among x"),
        (lambda: KeySet.of(x=[1]).select([]), "named by different texts"),
        (lambda: KeySet.of(x=[1]).listed(["x", "day"]), "keys must be over what is grouped by: x, day; got ('x')"),
        (lambda: KeySet.of(x=[1], y=[1]).listed(["x"]), "over what is grouped by: x; got ('x', 'y')"),
        (lambda: KeySet.of(x=range(4000), y=range(4000)), f"at most {MOST_KEYS:,} keys; got 16000000"),
    ],
)
def test_refusals(make: Any, said: str) -> None:
    with pytest.raises(BadArgument) as caught:
        make()
    assert said in str(caught.value)


def test_a_join_that_would_be_too_large_is_refused_before_it_is_made() -> None:
    many = KeySet.of(k=[1], x=range(4000))
    with pytest.raises(BadArgument, match="at most 10,000,000 keys; got 16000000"):
        many.join(KeySet.of(k=[1], y=range(4000)))


def test_missing_keys_go_with_every_kind() -> None:
    missing = KeySet.of(x=[None])
    assert missing.kinds == (None,)
    assert list(missing | KeySet.of(x=["a"])) == [(None,), ("a",)]
    assert list(missing | KeySet.of(x=[1])) == [(None,), (1,)]
    assert (KeySet.of(x=[None, 1]) - KeySet.of(x=[1])).kinds == (None,)


def test_keys_go_with_keys_only() -> None:
    for operate in (lambda: KeySet.of(x=[1]) * 3, lambda: KeySet.of(x=[1]) | {1}, lambda: KeySet.of(x=[1]) - [1]):
        with pytest.raises(TypeError, match="unsupported operand"):
            operate()  # type: ignore[operator]


def test_a_key_set_is_never_equal_to_something_else() -> None:
    assert KeySet.of(x=[1]) != [(1,)]
    assert KeySet.of(x=[1]) != KeySet.of(y=[1])
    assert KeySet.of(x=[1]) != KeySet.of(x=[1.0])
    assert KeySet.of(x=[1]) != KeySet.of(x=[True])


def test_a_million_keys_are_worked_with() -> None:
    """A quadratic step would take hours."""
    grid = KeySet.of(site=[f"site {place}" for place in range(1000)], hour=range(1000))
    odd = grid.filter(hour=range(1, 1000, 2))
    assert len(grid - odd) == 500_000
    assert ((grid - odd) | odd).digest == grid.digest
    assert len(grid.join(KeySet.of(hour=range(10)))) == 10_000
    assert len(grid.listed(["hour", "site"])) == 1_000_000
    assert len(KeySet.rows(["site", "hour"], list(grid))) == 1_000_000

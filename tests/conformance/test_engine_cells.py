"""Cells, in every engine: what one unit may add is bounded, whatever the data, the order of rows and the threads."""

from __future__ import annotations

import datetime
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples.engines import Opening

from sfumato.errors import QueryRefused
from sfumato.query.engines.protocol import Engine
from sfumato.query.nodes.expressions import Column, Literal
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import (
    Fold,
    Folded,
    Hop,
    Join,
    Keep,
    Match,
    Meet,
    Owner,
    PerUnit,
    Scan,
    Select,
    Union,
    Where,
)
from sfumato.query.plan.engine_plan import (
    Bound,
    Cells,
    Computed,
    Distinct,
    ExactAggregate,
    PublicKeys,
    Rows,
    Term,
    Total,
    Units,
)
from sfumato.query.plan.grids import Grid
from sfumato.query.plan.kept_counts import without_picking

pa = pytest.importorskip("pyarrow")

DAY = datetime.date
USER = Column("user", Kind.INT, Facts(), "t.user", 0)
SITE = Column("site", Kind.TEXT, Facts(), "t.site")
X = Column("x", Kind.FLOAT, Facts((Fraction(-8), Fraction(8))), "t.x")
N = Column("n", Kind.INT, Facts((Fraction(0), Fraction(9))), "t.n")
T = Scan("t", (USER, SITE, X, N), Owner("user"))
GRID = Grid(-8.0, 8.0, 0.0, 4)
ENDS = max(map(abs, GRID.ends))
SMALL = call("lt", X, Literal(2.0, Kind.FLOAT))
TALLIES = (Rows(), Total((Term(X, GRID),)), Rows(X), Units(), Rows(X, SMALL), Total((Term(X, GRID),), SMALL))
DIFFERENT = (Distinct(N), Distinct(N, SMALL, (SITE,)), Distinct(X, grid=GRID, summed=True))
TYPES = pa.schema({"user": pa.int64(), "site": pa.string(), "x": pa.float64(), "n": pa.int64()})


def opened(opening: Opening, rows: Sequence[tuple[Any, ...]], scan: Scan = T, threads: int = 1) -> Engine:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(TYPES)
    made = pa.table(
        {name: pa.array(column, TYPES.field(name).type) for name, column in zip(TYPES.names, columns, strict=True)}
    )
    return opening({scan.table: made}, {scan.table: scan}, threads=threads)


def cells_of(found: Computed) -> dict[tuple[Value, ...], tuple[int, ...]]:
    """Gives the numbers of each cell by its key or place, and its inner keys."""
    keys = found.keys if found.places is None else ([int(place) for place in found.places],)
    many = len(found.numbers[0])
    return {
        tuple(column[place] for column in (*keys, *found.inner)): tuple(int(one[place]) for one in found.numbers)
        for place in range(many)
    }


def asked(
    opening: Opening, rows: Sequence[tuple[Any, ...]], cells: Cells, threads: int = 1
) -> dict[tuple[Value, ...], tuple[int, ...]]:
    engine = opened(opening, rows, threads=threads)
    found = cells_of(engine.run(cells))
    engine.close()
    return found


USERS, SITES = st.sampled_from([1, 2, 3, None]), st.sampled_from(["a", "b", "c", "d", None])
VALUES = st.sampled_from([0.0, -0.0, 1.5, -7.9, 8.5, float("inf"), float("nan"), None])
DATA = st.lists(st.tuples(USERS, SITES, VALUES, st.integers(0, 3)), max_size=40)
LISTED = PublicKeys((("a", "c", None),))
BOUNDS = [Bound(2, 2), Bound(1, None), Bound(None, 3), Bound(2, 1, cut=True), Bound(3, 2, cut=True), Bound(1, 1)]


def influence(tally: ExactAggregate, bound: Bound) -> float:
    """Gives how far one unit moves a cell at most."""
    rows = float("inf") if bound.rows is None else bound.rows
    summed = isinstance(tally, Total) or (isinstance(tally, Distinct) and tally.summed)
    return 1 if isinstance(tally, Units) else rows * ENDS if summed else rows


@pytest.mark.parametrize("listed", [None, LISTED, replace(LISTED, certain=True)], ids=["selected", "listed", "certain"])
@pytest.mark.parametrize("bound", BOUNDS, ids=str)
@given(rows=DATA)
@settings(max_examples=4, deadline=None)
def test_without_a_unit_cells_move_no_more_than_its_bounds(
    opening: Opening, rows: list[tuple[Any, ...]], bound: Bound, listed: PublicKeys | None
) -> None:
    tallies = (*TALLIES, *DIFFERENT)
    cells = Cells(T, (SITE,), tallies, bound, listed)
    whole = asked(opening, rows, cells)
    for user in {row[0] for row in rows} - {None}:
        less = asked(opening, [row for row in rows if row[0] != user], cells)
        nothing = (0,) * len(tallies)
        moved = {key for key in whole if whole[key] != less.get(key, nothing)}
        assert set(less) <= set(whole)
        assert bound.groups is None or len(moved) <= bound.groups
        for key in moved:
            for place, tally in enumerate(tallies):
                assert abs(whole[key][place] - less.get(key, nothing)[place]) <= influence(tally, bound)


COUNTED = [(Rows(),), (Units(),), (Units(), Rows())]


@pytest.mark.parametrize("tallies", COUNTED, ids=str)
@given(rows=DATA, most=st.integers(1, 4), bound=st.sampled_from([Bound(), Bound(rows=2), Bound(rows=9)]))
@settings(max_examples=6, deadline=None)
def test_counts_of_kept_rows_are_the_same_without_picking_them(
    opening: Opening, tallies: tuple[ExactAggregate, ...], rows: list[tuple[Any, ...]], most: int, bound: Bound
) -> None:
    cells = Cells(Keep(Where(T, SMALL), most), (), tallies, bound)
    instead = without_picking(cells)
    assert instead.source == Where(T, SMALL)
    assert asked(opening, rows, instead) == asked(opening, rows, cells)


@pytest.mark.parametrize(
    "tally", [tally for tally in (*TALLIES, *DIFFERENT) if tally not in (Rows(), Units())], ids=str
)
def test_rows_are_picked_where_it_matters_which(tally: ExactAggregate) -> None:
    for cells in (
        Cells(Keep(T, 2), (), (Rows(), tally)),
        Cells(Keep(T, 2), (SITE,), (Rows(),)),
        Cells(Keep(T, 2), (), (Rows(),), inner=(SITE,)),
        Cells(Keep(T, 2), (), (Rows(),), Bound(rows=2, cut=True)),
    ):
        assert without_picking(cells) is cells


@given(rows=DATA, seed=st.integers(0, 2**32))
@settings(max_examples=8, deadline=None)
def test_neither_order_nor_threads_nor_other_units_change_what_is_kept(
    opening: Opening, rows: list[tuple[Any, ...]], seed: int
) -> None:
    mixed = list(rows)
    random.Random(seed).shuffle(mixed)
    tallies = (*TALLIES, *DIFFERENT)
    for bound in (Bound(2, 2), Bound(1, 2, cut=True)):
        cells = Cells(T, (SITE,), tallies, bound)
        assert asked(opening, rows, cells) == asked(opening, mixed, cells, threads=2)
        alone: dict[tuple[Value, ...], list[int]] = defaultdict(lambda: [0] * len(TALLIES))
        for user in {row[0] for row in rows} - {None}:
            for key, numbers in asked(
                opening, [row for row in rows if row[0] == user], replace(cells, tallies=TALLIES)
            ).items():
                alone[key] = [one + other for one, other in zip(alone[key], numbers, strict=True)]
        assert asked(opening, rows, replace(cells, tallies=TALLIES)) == {
            key: tuple(numbers) for key, numbers in alone.items()
        }


NAME, REGION = Column("name", Kind.TEXT, Facts(), "p.name"), Column("region", Kind.TEXT, Facts(), "p.region")
PUBLIC = Scan("p", (NAME, REGION))
REGIONS = {"name": ["a", "a", "b", "c", "d", "e", None], "region": ["x", "y", "x", None, "X", "z", "x"]}


@pytest.mark.parametrize("bound", [Bound(2, 2), Bound(2, 1, cut=True)], ids=str)
@given(rows=DATA)
@settings(max_examples=3, deadline=None)
def test_keys_of_a_public_table_count_as_if_the_rows_had_them(
    opening: Opening, rows: list[tuple[Any, ...]], bound: Bound
) -> None:
    columns = zip(*rows, strict=True) if rows else [()] * 4
    made = pa.table([pa.array(one, kind) for one, kind in zip(columns, TYPES.types, strict=True)], schema=TYPES)
    engine = opening({"t": made, "p": pa.table(REGIONS)}, {"t": T, "p": PUBLIC})
    joined = Join(T, PUBLIC, (("site", "name"),))
    kept = Where(joined, call("lt", N, Literal(3, Kind.INT)))
    for source in (joined, kept, replace(joined, match=Match.LEFT)):
        copied = Select(source, tuple((one.name, one) for one in source.fields))  # hides where the keys come from
        for keys, tallies in (
            ((REGION,), (Rows(), Units())),
            ((REGION, NAME), TALLIES),
            ((call("lower", REGION),), TALLIES),
            ((REGION, SITE), (Rows(), Units())),
        ):
            found, same = (cells_of(engine.run(Cells(one, keys, tallies, bound))) for one in (source, copied))
            assert found == same
    engine.close()


@given(rows=DATA)
@settings(max_examples=8, deadline=None)
def test_counts_are_the_same_alone_and_beside_sums(opening: Opening, rows: list[tuple[Any, ...]]) -> None:
    counts = (Rows(), Units(), Rows(bits=3))
    for bound in (Bound(2, 2), Bound(1, 1), Bound(9, 1)):
        beside = asked(opening, rows, Cells(T, (SITE,), (*counts, Total((Term(X, GRID),))), bound))
        assert asked(opening, rows, Cells(T, (SITE,), counts, bound)) == {
            key: numbers[:-1] for key, numbers in beside.items()
        }


def test_sums_beyond_the_rows_are_scaled_towards_zero(opening: Opening) -> None:
    rows = [(1, "a", -1.0, 0)] * 3 + [(1, "a", 0.5, 0)] + [(1, "a", None, 0)] * 5 + [(2, "a", 7.0, 0)]
    found = asked(opening, rows, Cells(T, (SITE,), TALLIES, Bound(4, 3)))
    steps = -3 * 16 + 8
    sums = -(-steps * 3 // 9)  # of nine rows, three are kept, whatever is in them
    assert found == {("a",): (3 + 1, sums + 112, 4 * 3 // 9 + 1, 2, 4 * 3 // 9, sums)}
    found = asked(opening, rows[1:], Cells(T, (SITE,), TALLIES[1:2], Bound(4, 2)))
    assert found == {("a",): (-6 + 112,)}  # (-32 + 8) * 2 / 8 = -6
    found = asked(
        opening, [(1, "a", -0.0625, 0)] * 2 + [(1, "a", 0.0, 0)], Cells(T, (SITE,), TALLIES[1:2], Bound(4, 2))
    )
    assert found == {("a",): (-1,)}  # -2 * 2 / 3 = -1.33, towards 0


def test_all_shapes_agree_where_nothing_is_cut(opening: Opening) -> None:
    source = random.Random(1)
    rows = [(source.randrange(9), source.choice("abc"), source.uniform(-9, 9), source.randrange(4)) for _ in range(300)]
    tallies = (*TALLIES, *DIFFERENT)
    plain = asked(opening, rows, Cells(T, (SITE,), tallies))
    for bound in (Bound(5, None), Bound(None, 500), Bound(5, 500), Bound(5, 500, cut=True), Bound(None, 500, cut=True)):
        assert asked(opening, rows, Cells(T, (SITE,), tallies, bound)) == plain
        some = asked(opening, rows, Cells(T, (SITE,), TALLIES, bound))
        assert some == {key: numbers[:6] for key, numbers in plain.items()}
        fewer = asked(opening, rows, Cells(T, (SITE,), TALLIES[:3], bound))
        assert fewer == {key: numbers[:3] for key, numbers in plain.items()}
    by_rows = asked(opening, rows, Cells(replace(T, owner=Owner()), (SITE,), TALLIES[:3]))
    assert by_rows == {key: numbers[:3] for key, numbers in plain.items()}


def test_combinations_count_where_nothing_is_missing_and_numbers_add_up_once(opening: Opening) -> None:
    rows = [(1, "a", 1.0, 1), (2, "a", 1.0, 1), (2, "b", 2.0, 1), (3, None, None, 1)]
    rows += [(3, "b", -2.0, None), (3, "b", 2.0, 2)]
    pairs, both = Distinct(SITE, None, (N,)), Distinct(SITE, SMALL, (N, X))
    steps = [Distinct(X, grid=GRID), Distinct(X, grid=GRID, summed=True)]
    for bound in (Bound(), Bound(None, 3), Bound(None, 9, cut=True)):
        assert asked(opening, rows, Cells(T, (), (pairs, both, *steps), bound)) == {(): (3, 1, 3, 16)}
    for bound, most in ((Bound(None, 1), 3), (Bound(None, 1, cut=True), 3)):
        counted = asked(opening, rows, Cells(T, (), (pairs, *steps[:1]), bound))[()]
        assert counted <= (most, most) and min(counted) >= 1
    assert asked(opening, rows, Cells(replace(T, owner=Owner()), (), (pairs, *steps)))[()] == (3, 3, 16)


def test_without_keys_there_is_one_cell_even_without_rows(opening: Opening) -> None:
    for bound in (Bound(), *BOUNDS):
        assert asked(opening, [], Cells(T, (), (*TALLIES, *DIFFERENT), bound)) == {(): (0,) * 9}
        assert asked(opening, [], Cells(T, (), (Distinct(N),), bound)) == {(): (0,)}
        assert asked(opening, [], Cells(T, (SITE,), TALLIES, bound)) == {}
    assert asked(opening, [(1, "a", 1.0, 0)] * 5, Cells(T, (), TALLIES[:2], Bound(7, 2))) == {(): (2, 32)}


def test_listed_keys_are_places_and_others_are_left_out_before_bounding(opening: Opening) -> None:
    rows = [(1, site, 1.0, 0) for site in ("a", "b", "c", "d", None, "z" * 2000)]
    found = opened(opening, rows).run(Cells(T, (SITE,), (Rows(),), Bound(2, 1), PublicKeys((("c", None),))))
    assert (found.keys, [int(one) for one in found.places], found.numbers[0].tolist()) == ((), [0, 1], [1, 1])  # type: ignore[attr-defined]
    twice = PublicKeys((("a", "a", "b"), (0, 1, 0)))
    assert asked(opening, rows, Cells(T, (SITE, N), (Rows(),), Bound(2, 1), twice)) == {(0,): (1,), (2,): (1,)}
    numbers = PublicKeys((tuple(range(5)),), certain=True)
    assert asked(opening, [(1, "a", 1.0, 3), (2, "a", 1.0, 0)], Cells(T, (N,), (Rows(),), Bound(2, 1), numbers)) == {
        (0,): (1,),
        (3,): (1,),
    }


def test_keys_come_in_order_with_missing_ones_first_and_zero_without_a_sign(opening: Opening) -> None:
    rows = [(1, "b", 0.0, 0), (2, None, -0.0, 0), (3, "a", 1.0, 0), (4, "B", -1.0, 0), (5, "é", None, 0)]
    engine = opened(opening, rows)
    found = engine.run(Cells(T, (SITE,), (Rows(),), Bound(9, 9)))
    assert list(found.keys[0]) == [None, "B", "a", "b", "é"]
    for bound in (Bound(), Bound(9, 9), Bound(9, 9, cut=True)):
        assert repr(list(engine.run(Cells(T, (X,), (Rows(),), bound)).keys[0])) == "[None, -1.0, 0.0, 1.0]"
    assert engine.run(Cells(T, (N,), (Rows(),), Bound(9, 9))).keys[0] == [0]


def test_inner_keys_make_cells_inside_groups(opening: Opening) -> None:
    rows = [(1, "a", 1.0, n) for n in range(4)] * 2 + [(1, "b", 1.0, 0)]
    cells = Cells(T, (SITE,), (Rows(), Units()), Bound(1, 3, cut=True), inner=(N,))
    found = asked(opening, rows, cells)
    assert len({key[0] for key in found}) == 1
    assert sum(numbers[0] for numbers in found.values()) <= 3
    assert all(numbers[1] == 1 for numbers in found.values())
    whole = asked(opening, rows, replace(cells, bound=Bound(2, None)))
    assert whole == {("a", n): (2, 1) for n in range(4)} | {("b", 0): (1, 1)}
    assert asked(opening, rows, replace(cells, keys=(), bound=Bound())) == {
        (0,): (3, 1),
        (1,): (2, 1),
        (2,): (2, 1),
        (3,): (2, 1),
    }


def test_sums_beyond_64_bits_are_exact(opening: Opening) -> None:
    big = Grid(-(2**62), 2**62, 0)
    scan = Scan("t", (USER, Column("n", Kind.INT)), Owner("user"))
    column = Column("n", Kind.INT)
    rows = [(user, "a", 0.0, 2**62 - user) for user in range(8)]
    engine = opened(opening, rows, scan)
    for bound in (Bound(), Bound(rows=3)):
        found = engine.run(Cells(scan, (), (Total((Term(column, big),)),), bound)).numbers[0]
        assert found.tolist() == [8 * 2**62 - 28]  # type: ignore[attr-defined]
    squares = Total((Term(column, big),) * 3)
    with pytest.raises(QueryRefused, match="too large for exact sums"):
        engine.run(Cells(scan, (), (squares,)))


def test_products_and_whole_numbers_on_a_grid(opening: Opening) -> None:
    grid = Grid(0, 9, 4)
    rows = [(1, "a", 2.0, 9), (2, "a", None, 3), (3, "a", -1.0, 1)]
    product = Total((Term(X, GRID), Term(N, grid)))
    assert asked(opening, rows, Cells(T, (), (product, Total((Term(N, grid),))))) == {
        (): (32 * 5 + -16 * -3, 5 - 1 - 3)
    }
    narrow = Total((Term(X, Grid(-1.0, 1.0, 0.5, 2)),))
    assert asked(opening, rows, Cells(T, (), (narrow,))) == {(): (2 - 6,)}


def test_per_unit_folds_are_exact_and_total(opening: Opening) -> None:
    grid = Grid(-8.0, 8.0, 0.0, 40)
    rows = [(1, "a", 0.1, 1), (1, "a", 0.2, 2), (1, None, None, 2), (2, "b", None, 5), (None, "a", 1.0, 1)]
    folds = tuple(
        Folded(fold, of, Column(name, kind), grid if of is X and fold in (Fold.SUM, Fold.MEAN) else None)
        for name, fold, of, kind in [
            ("rows", Fold.COUNT, None, Kind.INT),
            ("count", Fold.COUNT, X, Kind.INT),
            ("sum", Fold.SUM, X, Kind.FLOAT),
            ("mean", Fold.MEAN, X, Kind.FLOAT),
            ("least", Fold.MIN, SITE, Kind.TEXT),
            ("most", Fold.MAX, X, Kind.FLOAT),
            ("different", Fold.DISTINCT, N, Kind.INT),
            ("whole", Fold.SUM, N, Kind.INT),
            ("average", Fold.MEAN, N, Kind.FLOAT),
        ]
    )
    per = PerUnit(T, (("user", USER),), folds)
    engine = opened(opening, rows)
    steps = round(0.1 * 2**40) + round(0.2 * 2**40)
    expected = {
        "user": (1, 2),
        "rows": (3, 1),
        "count": (2, 0),
        "sum": (steps / 2**40, 0.0),
        "mean": (steps / 2**40 / 2, None),
        "least": ("a", "b"),
        "most": (0.2, None),
        "different": (2, 1),
        "whole": (5, 5),
        "average": (5 / 3, 5.0),
    }
    for column in per.fields:
        keys = engine.run(Cells(per, (USER, column), (Units(),), Bound(1, 1))).keys
        assert tuple(keys[1]) == expected[column.name], column.name


def test_relations_keep_units_apart(opening: Opening) -> None:
    rows = [(1, "a", 1.0, 1), (1, "b", 2.0, 2), (2, "a", 3.0, 1), (None, "a", 4.0, 1)]
    engine = opened(opening, rows)
    other = Select(T, (("his", USER), ("where", SITE), ("y", X)))
    pairs = Join(T, other, (("site", "where"),))
    assert cells_of(engine.run(Cells(pairs, (SITE,), (Rows(), Units()), Bound(9, 9)))) == {
        ("a",): (2, 2),
        ("b",): (1, 1),
    }
    crossed = Join(T, other, ())
    assert cells_of(engine.run(Cells(crossed, (), (Rows(), Units()), Bound(9, 9)))) == {(): (5, 2)}
    kept = Where(T, call("gt", X, Literal(1.5, Kind.FLOAT)))
    left = Join(T, Select(kept, (("y", X), ("where", SITE))), (("site", "where"),), Match.LEFT)
    y = Column("y", Kind.FLOAT)
    assert cells_of(engine.run(Cells(left, (SITE,), (Rows(), Rows(y)), Bound(9, 9)))) == {
        ("a",): (2, 1),
        ("b",): (1, 1),
    }
    both = Union((T, kept))
    assert cells_of(engine.run(Cells(both, (), (Rows(), Units()), Bound(9, 9)))) == {(): (5, 2)}
    unknown = Where(T, call("lt", call("nullif", X, X), Literal(1.0, Kind.FLOAT)))
    assert cells_of(engine.run(Cells(unknown, (), (Rows(),)))) == {(): (0,)}
    for wrong in (
        Join(replace(T, owner=Owner()), replace(T, owner=Owner()), ()),
        PerUnit(replace(T, owner=Owner()), (), ()),
    ):
        with pytest.raises(TypeError):
            engine.run(Cells(wrong, (), (Rows(),)))


def test_rows_of_different_units_meet_so_many_of_each_key(opening: Opening) -> None:
    """Which rows are kept an engine decides, how many it does not; a whole number beside a float is one."""
    rows = [
        (1, "a", 1.0, 1),
        (1, "a", -0.0, 0),
        (2, "a", 3.0, 1),
        (3, "b", 0.0, 3),
        (4, None, 4.0, 1),
        (None, "a", 1.0, 1),
    ]
    engine = opened(opening, rows)
    other = Select(T, (("his", USER), ("where", SITE), ("y", X), ("m", N)))
    for most, expected in ((1, {"a": 1, "b": 1}), (2, {"a": 4, "b": 1}), (9, {"a": 9, "b": 1})):
        met = Meet(T, other, (("site", "where"),), most)
        assert cells_of(engine.run(Cells(met, (SITE,), (Rows(),)))) == {(key,): (n,) for key, n in expected.items()}
    assert cells_of(engine.run(Cells(Meet(T, other, (("n", "y"),), 9), (), (Rows(),)))) == {(): (3 * 1 + 1 * 2 + 1,)}
    assert cells_of(engine.run(Cells(Meet(T, other, (("x", "y"),), 1), (), (Rows(),)))) == {(): (4,)}, "zeros are one"
    with pytest.raises(TypeError):
        engine.run(Cells(Meet(T, other, (("site", "where"),)), (), (Rows(),)))


def test_ids_are_found_through_foreign_keys_and_windows_divide_them(opening: Opening) -> None:
    day = Column("day", Kind.DATE)
    items = Scan(
        "items", (Column("order", Kind.TEXT), day), Owner("id", (Hop("order", "orders", "key"),), ("day", "month"))
    )
    orders = Scan("orders", (Column("key", Kind.TEXT), Column("id", Kind.TEXT, unit=0)), Owner("id"))
    long = "k" * 1500
    data = {
        "items": {
            "order": ["a", "a", "b", long + "1", None, "lost", "a"],
            "day": [
                DAY(2024, 1, 1),
                DAY(2024, 1, 31),
                DAY(2024, 1, 5),
                DAY(2024, 1, 1),
                DAY(2024, 1, 1),
                DAY(2024, 1, 1),
                None,
            ],
        },
        "orders": {"key": ["a", "b", long + "1", long + "2", "c"], "id": ["p", "p", "q", "r", None]},
    }
    engine = opening(data, {"items": items, "orders": orders})
    assert cells_of(engine.run(Cells(items, (), (Rows(), Units()), Bound(None, 9)))) == {(): (4, 2)}
    assert cells_of(engine.run(Cells(items, (), (Rows(),), Bound(None, 1)))) == {(): (2,)}
    without = replace(items, owner=replace(items.owner, window=None))  # type: ignore[type-var]
    assert cells_of(engine.run(Cells(without, (), (Rows(), Units()), Bound(None, 9)))) == {(): (5, 2)}
    months = (call("date_trunc", day, Literal("month", Kind.TEXT)),)
    found = engine.run(Cells(items, months, (Rows(), Units(), Units(call("is_null", day))), Bound(1, 2)))
    assert (found.keys, [list(one) for one in found.numbers]) == (([DAY(2024, 1, 1)],), [[3], [2], [0]])


def test_a_missing_value_where_none_can_be_makes_nothing_fail(opening: Opening) -> None:
    """Bounds of greatest(x, y) may rest on x never being missing; one row in which it is must not be seen."""
    bounded = Column("x", Kind.INT, Facts((Fraction(0), Fraction(9)), nullable=False))
    free = Column("n", Kind.INT)
    scan = Scan("t", (bounded, free), Owner())
    least = call("least", bounded, free)
    made = call("mul", call("add", least, Literal(2**62, Kind.INT)), Literal(2, Kind.INT))
    engine = opening({"t": {"x": [None, 1], "n": [2**63 - 1, 3]}}, {"t": scan})
    assert cells_of(engine.run(Cells(scan, (made,), (Rows(),)))) == {(None,): (2,)}
    assert cells_of(engine.run(Cells(scan, (least,), (Rows(), Total((Term(least, Grid(0, 9, 0)),)))))) == {
        (1,): (1, 1),
        (2**63 - 1,): (1, 9),
    }


def test_a_million_groups_come_back_fast_enough_to_be_whole(opening: Opening) -> None:
    scan = Scan("t", (Column("n", Kind.INT),), Owner())
    engine = opening({"t": {"n": range(200_000)}}, {"t": scan})
    found = engine.run(
        Cells(scan, (Column("n", Kind.INT),), (Rows(), Total((Term(Column("n", Kind.INT), Grid(0, 2**40, 0)),))))
    )
    assert found.keys[0] == list(range(200_000))
    assert found.numbers[1].dtype == "int64"  # type: ignore[attr-defined]
    assert found.numbers[1].tolist() == found.keys[0]  # type: ignore[attr-defined]

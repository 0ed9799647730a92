"""What no test noticed until sfumato was broken on purpose (tests/mutants): one test for each such hole."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.exact.scripted_entropy import ScriptedEntropy

import sfumato as sf
from sfumato.codebook import Codebook
from sfumato.core.domains import Floats, Integers, Stream
from sfumato.core.metrics import L1, L2, AddRemove
from sfumato.core.space import Space
from sfumato.entropy import ReplayEntropy, below
from sfumato.errors import BadArgument, Exhausted, LimitReached
from sfumato.exact import squared
from sfumato.mechanisms.gridding import nearest_float, nearest_steps
from sfumato.query.nodes.expressions import Column, Expression, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Select, Union
from sfumato.query.plan.contribution_facts import Reach, reach_of
from sfumato.query.plan.engine_plan import Bound, Cells, Rows, Term, Total
from sfumato.query.plan.grids import Grid
from sfumato.query.plan.sensitivity import largest_product
from sfumato.session.open_data import open_tables


def test_numbers_beyond_a_bound_are_drawn_again() -> None:
    """A draw beyond the bound is thrown away: a remainder, or a second try for the last one only, would be biased."""
    for first in range(4):
        octets = bytes(place << 6 for place in (3, 3, first, 1))
        drawn = below(3, ScriptedEntropy(octets))
        assert drawn == (first if first < 3 else 1)


def test_noise_is_added_to_whole_numbers_of_steps_and_not_to_floats() -> None:
    """Mironov 2012, Haney et al. 2022: float(value) + float(noise) has last bits that tell the value."""
    tenths = Space(Integers(step=Fraction(1, 10)), sf.scalar(int).metric)
    noisy, entropy = tenths >> sf.laplace(scale=2), ReplayEntropy(1)
    for exact in (1, 3, 7, 10**6 + 1):
        for _ in range(50):
            value = noisy(exact, entropy=entropy).value
            assert value == nearest_float(round(Fraction(value) * 10), Fraction(1, 10))


def test_rounding_vectors_l2_is_within_its_map() -> None:
    """Casacuberta et al. 2022: rounding to the grid moves neighbours apart, and the map of Gaussian noise says so."""
    measurement = sf.vector(float, size=2, metric=L2()) >> sf.gaussian(scale=1, step=1)
    offsets, moves = (-0.5, -0.25, 0.0, 0.25), (-0.75, -0.5, 0.0, 0.5, 0.75)
    for x in itertools.product(offsets, repeat=2):
        for move in itertools.product(moves, repeat=2):
            distance = L2().distance(move, (0, 0))
            apart = nearest_steps(np.array(x), Fraction(1)) - nearest_steps(np.array(x) + np.array(move), Fraction(1))
            claimed = 2 * measurement.map(distance).rho  # type: ignore[attr-defined]
            assert int(np.dot(apart, apart)) <= claimed
            assert not any(move) or claimed > squared(distance)


def raising(error: BaseException) -> Callable[[float], float]:
    def function(value: float) -> float:
        if value == 1:
            raise error
        return value

    return function


@pytest.mark.parametrize(
    "error",
    [ValueError("1"), KeyError(1), OverflowError(), RecursionError(), AssertionError(), StopIteration()],
    ids=lambda error: type(error).__name__,
)
def test_a_row_on_which_a_function_fails_gets_the_default_whatever_it_raises(error: Exception) -> None:
    """diffprivlib #107: whether one row makes a function fail is private, so it must not be seen."""
    pure = sf.claim("raises for 1, and is pure")
    mapped = sf.vector(float) >> sf.map_rows(raising(error), float, default=-1.0, claim=pure)
    assert mapped([0.5, 1.0, 2.0]).tolist() == [0.5, -1.0, 2.0]


def test_functions_of_a_row_cannot_tell_one_nan_from_another() -> None:
    """All NaN are one value to the distance, so a function that reads their sign would move neighbours apart."""
    pure = sf.claim("the sign of a float, and pure")
    sign = sf.map_rows(lambda value: math.copysign(1.0, value), float, default=0.0, claim=pure)
    signs = sf.vector(Floats(nan=True)) >> sign
    assert signs([math.nan]).tolist() == signs([-math.nan]).tolist()
    rows = sf.frame({"x": Floats(nan=True)}) >> sf.map_rows(
        lambda row: math.copysign(1.0, row["x"]), float, default=0.0, claim=pure
    )
    assert rows({"x": [math.nan]}).tolist() == rows({"x": [-math.nan]}).tolist()


def test_floats_just_beyond_64_bits_are_cast_exactly() -> None:
    """OpenDP #2937, Tumult 0.18: a cast that wraps turns the largest value into the smallest."""
    edges = [sign * 2.0**power for power in (61, 62, 63, 64, 65, 70) for sign in (1, -1)]
    made = sf.vector(float) >> sf.cast(int)
    assert list(made(edges)) == [int(edge) for edge in edges]
    assert [made([edge])[0] for edge in edges] == [int(edge) for edge in edges]


def test_the_size_of_a_poisson_sample_is_random() -> None:
    """Chua et al. 2024: batches of a fixed size are not Poisson samples, and leak more."""
    counted = sf.on_poisson_sample(sf.count() >> sf.laplace(scale="1/1000"), rate=0.5)
    measurement, entropy = sf.vector(int) >> counted, ReplayEntropy(2)
    sizes = [measurement([1, 2, 3, 4], entropy=entropy).value for _ in range(800)]
    found = [sizes.count(size) / 800 for size in range(5)]
    for share, expected in zip(found, (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16), strict=True):
        assert abs(share - expected) < 0.06


def test_accounts_whose_names_begin_alike_are_not_above_one_another() -> None:
    """Anna has paid for a release, and Ann sees it only if she pays too: her name is no account above Anna's."""
    data = sf.Dataset([1, 2, 3], name="visits", space=sf.vector(int))
    session = data.session(limit=sf.Pure(1), ledger="memory:")
    question = sf.count() >> sf.laplace(scale=10)
    anna, ann = session.part("anna", limit=sf.Pure(0.5)), session.part("ann", limit=sf.Pure(0.05))
    anna.run(question)
    with pytest.raises(LimitReached):
        ann.run(question)
    paid = session.part("an", limit=sf.Pure(0.5))
    paid.run(question)
    assert paid.spent == sf.Pure(0.1) == session.spent


@pytest.mark.parametrize("known", [{"size": 3}, {"least": 1}], ids=str)
def test_members_are_not_left_out_of_data_whose_size_is_public(known: dict[str, int]) -> None:
    """Who has nothing left is left out; a public number of rows would tell."""
    register = sf.ledger.Register(":memory:", key=sf.ledger.Register.new_key(), limit=sf.Pure(1))
    space = sf.vector(int, metric=AddRemove(), **known)
    with pytest.raises(BadArgument, match="size is not public"):
        sf.Dataset([1, 2, 3], name="visits", space=space, members=sf.Members(register, ["a", "b", "c"]))


def test_a_product_is_bounded_by_the_end_that_is_further_from_zero() -> None:
    """A sum of values in [-100, 5] moves by up to 100, not 5."""
    ends = ((-100, 5), (-3, 2), (0, 7), (-4, -1))
    for count in (1, 2, 3):
        for chosen in itertools.product(ends, repeat=count):
            corners = itertools.product(*chosen)
            assert largest_product(chosen) == max(abs(math.prod(corner)) for corner in corners)


def opened(columns: dict[str, object], rows: dict[str, list[object]]) -> tuple[Any, Codebook]:
    """Gives a table of people with some columns, and its codebook."""
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    pytest.importorskip("duckdb", reason="needs duckdb")
    tables = {"t": {"columns": {"u": {"type": "int"}, **columns}}}
    book = {"codebook": 1, "title": "Visits", "unit": {"protects": "a person", "id": "u"}, "tables": tables}
    many = len(next(iter(rows.values())))
    return pa.table({"u": list(range(many)), **rows}), Codebook.read(book)


def test_groups_that_nobody_is_in_get_noise_of_their_own() -> None:
    """OpenDP #2344: groups without rows shared one draw, or had none; both tell them from the others."""
    day = {"type": "int", "between": [0, 99], "nullable": False, "source": "the calendar"}
    table, book = opened({"day": day}, {"day": [3, 3]})
    session = sf.Dataset(table, codebook=book).session(limit=sf.Pure(1), ledger="memory:")
    text = "SELECT day, COUNT(*) AS n FROM t GROUP BY day"
    counts = session.sql(text, loss=sf.Pure("0.01"), max_groups=1, max_rows_per_group=1).value["n"].values
    assert len(counts) == 100
    assert len(set(counts.tolist())) > 40


@pytest.mark.parametrize("value", [math.nan, -math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_missing_from_a_column_with_bounds(value: float) -> None:
    """NaN injection (arXiv 2602.17454): one NaN must neither reach a sum nor stop the engine."""
    table, book = opened(
        {"x": {"type": "float", "between": [0, 10], "nullable": True, "source": "the scale"}}, {"x": [1.0, value]}
    )
    _, tables = open_tables({"t": table}, book)
    column = Column("x", Kind.FLOAT)
    tallies = (Rows(column), Total((Term(column, Grid(0.0, 10.0, 0.0)),)))
    found = tables.engine.run(Cells(tables.catalog.table("t"), (), tallies)).numbers
    assert [int(numbers[0]) for numbers in found] == [1, 1]


def test_sums_of_groups_that_nobody_listed_do_not_wrap() -> None:
    """OpenDP #2925, in what the engine hands over column by column."""
    most = 2**62
    table, book = opened(
        {"k": {"type": "str"}, "x": {"type": "int", "between": [-most, most], "source": "the scale"}},
        {"k": ["a"] * 3 + ["b"], "x": [most, most, most, -most]},
    )
    _, tables = open_tables({"t": table}, book)
    total = Total((Term(Column("x", Kind.INT), Grid(-most, most, 0)),))
    (sums,) = tables.engine.run(Cells(tables.catalog.table("t"), (Column("k", Kind.TEXT),), (total,))).numbers
    assert [int(one) for one in sums] == [3 * most, -most]


def test_a_column_defined_anew_is_clamped_again() -> None:
    """OpenDP #2949: what was enforced for a column does not hold for another one of the same name."""
    bounded = {"type": "float", "between": [0, 10], "source": "the scale"}
    table, book = opened({"x": bounded}, {"x": [5.0, 1.0]})
    _, tables = open_tables({"t": table}, book)
    scan = tables.catalog.table("t")
    held = next(column for column in scan.fields if column.name == "x")
    anew = Select(scan, (("x", call("mul", held, Literal(100.0, Kind.FLOAT))),))
    total = Total((Term(Column("x", Kind.FLOAT), Grid(0.0, 10.0, 0.0)),))
    (sums,) = tables.engine.run(Cells(anew, (), (total,))).numbers
    assert int(sums[0]) == 20


def test_bounds_follow_what_is_done_to_a_column() -> None:
    """What was moved into bounds is moved there again unless it is sure to be there, whatever was done to it."""
    x, values = Column("x", Kind.FLOAT), [0.0, 1.5, 10.0]

    def number(held: float) -> Literal:
        return Literal(held, Kind.FLOAT)

    made: dict[Expression, Callable[[float], float]] = {
        call("sub", x, number(2.0)): lambda held: held - 2,
        call("div", x, number(2.0)): lambda held: held / 2,
        call("div", x, number(-2.0)): lambda held: held / -2,
        call("clamp", x, number(1.0), number(3.0)): lambda held: min(max(held, 1.0), 3.0),
    }
    table, book = opened({"x": {"type": "float", "between": [0, 10], "source": "the scale"}}, {"x": values})
    _, tables = open_tables({"t": table}, book)
    for low, high in ((0.0, 4.0), (-5.0, 0.0), (-1.0, 1.0), (-2.0, 8.0), (-3.0, 0.0)):
        grid = Grid(low, high, 0.0, 4)
        for expression, alike in made.items():
            source = Select(tables.catalog.table("t"), (("y", expression),))
            (sums,) = tables.engine.run(Cells(source, (), (Total((Term(Column("y", Kind.FLOAT), grid),)),))).numbers
            assert int(sums[0]) == sum(grid.steps(alike(value)) for value in values), (expression, low, high)


def test_which_groups_of_a_unit_are_kept_does_not_depend_on_the_keys_of_others() -> None:
    """Keys that nobody listed are numbered among those that occur, which others may change; the choice must not."""
    people, keys = range(20), [f"key {place}" for place in range(8)]

    def kept(others: list[str]) -> dict[str, int]:
        whose = [one for one in people for _ in keys] + [100 + place for place in range(len(others))]
        table, book = opened({"k": {"type": "str"}}, {"u": whose, "k": keys * len(people) + others})
        _, tables = open_tables({"t": table}, book)
        cells = Cells(tables.catalog.table("t"), (Column("k", Kind.TEXT),), (Rows(),), Bound(2, None))
        found = tables.engine.run(cells)
        return {str(key): int(n) for key, n in zip(found.keys[0], found.numbers[0], strict=True) if key in keys}

    alone = kept([])
    assert sum(alone.values()) == 2 * len(people)
    assert kept(["a"]) == alone == kept(["a", "b", "c"])


def test_rows_of_a_union_add_up() -> None:
    """A unit with three rows in each of two parts has six in both."""
    table, book = opened({"k": {"type": "str"}}, {"k": ["a"]})
    scan = open_tables({"t": table}, book)[0].catalog.table("t")
    found = reach_of(Union((scan, scan)), {"t": Reach(rows=3)}, lambda join: math.inf)
    assert found.rows == 6


def test_a_stream_ends_after_the_steps_that_were_paid_for() -> None:
    stream = Space(Stream(Integers()), L1()) >> sf.stats.running_counts(loss=sf.Pure(1), steps=3)
    totals = stream([1] * 10).value
    for _ in range(3):
        totals()
    with pytest.raises(Exhausted, match="steps that were paid for"):
        totals()

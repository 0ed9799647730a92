"""Mistakes that other private data frames and SQL engines have made, as regression tests (traps C.2 and C.4).

Each question is put to DuckDB and to the reference interpreter; `asked` fails where they differ.
"""

from __future__ import annotations

import datetime
import math
import random
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from tests.reference.duck import by_rank, computed, computed_by_value
from tests.reference.interpreter import Answers
from tests.reference.laws import close, plainly
from tests.reference.worlds import PERSON, Held, World

from sfumato.query.nodes.expressions import Column, Expression, Literal
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Join, Owner, Scan, Select, Union, Where
from sfumato.query.plan.engine_plan import Bound, Cells, Distinct, PublicKeys, Rows, Term, Total, Units
from sfumato.query.plan.grids import Grid

DAY = datetime.date
USER = Column("user", Kind.INT, Facts(), "t.user", 0)
EXTREMES = (0.0, -0.0, 0.1, 1.5, 2.5, -2.5, math.nan, math.inf, -math.inf, 5e-324, 1.7e308, -1.7e308, None)


def table(held: pa.DataType, rows: list[tuple[Any, Any]]) -> World:
    """Gives a table ``t`` with an id and one column ``x``."""
    types = {"user": pa.int64(), "x": held}
    return World({}, {"t": Held(types, [{"user": user, "x": x} for user, x in rows])}, PERSON)


def scan(kind: Kind, facts: Facts | None = None, owner: Owner | None = None) -> Scan:
    """Gives the table ``t`` as a codebook describes it."""
    return Scan("t", (USER, Column("x", kind, facts or Facts(), "t.x")), owner or Owner("user"))


def x(kind: Kind) -> Column:
    """Gives the column ``x``."""
    return Column("x", kind)


def number(value: float) -> Literal:
    """Gives a constant."""
    return Literal(value, Kind.INT if isinstance(value, int) else Kind.FLOAT)


def asked(world: World, cells: Cells) -> Answers:
    """Gives what both engine and interpreter answer."""
    one, other = computed_by_value(world, cells), by_rank(world, cells)
    assert plainly(one, cells) == plainly(other, cells)
    return other if cells.listed is not None else one


def whole(world: World, cells: Cells) -> tuple[int, ...]:
    """Gives the numbers of cells without keys."""
    return asked(world, cells)[(), ()]


@pytest.mark.parametrize("seed", range(20))
def test_2923_the_ends_of_a_grid_bound_every_step(seed: int) -> None:
    """#2923: the sensitivity of squares must know how numbers were rounded before they are squared."""
    source = random.Random(seed)
    low, high = sorted(source.uniform(-1000, 1000) for _ in range(2))
    grid = Grid(low, high, source.choice((0.0, low, (low + high) / 2)), source.randint(-3, 20))
    most = max(map(abs, grid.ends))
    values = [value for value in (*EXTREMES, low, high, *(source.uniform(low, high) for _ in range(50))) if value]
    finite = [value for value in values if math.isfinite(value)]
    assert all(abs(grid.steps(value)) <= most for value in finite)
    world = table(pa.float64(), [(n, value) for n, value in enumerate(values)])
    squares = Total((Term(x(Kind.FLOAT), grid),) * 2)
    assert whole(world, Cells(scan(Kind.FLOAT), (), (squares,)))[0] == sum(grid.steps(value) ** 2 for value in finite)


@pytest.mark.parametrize("many", [4, 1000])
def test_2925_sums_beyond_64_bits_do_not_wrap(many: int) -> None:
    """#2925: integers wrapped where nodes of a tree were added up."""
    largest = 2**62
    world = table(pa.int64(), [(n, largest) for n in range(many)])
    total = Total((Term(x(Kind.INT), Grid(-largest, largest, 0)),))
    assert whole(world, Cells(scan(Kind.INT), (), (total,)))[0] == many * largest


def test_2925_a_sum_is_scaled_before_it_can_wrap() -> None:
    """#2925: s·m of one unit is beyond 64 bits, though its result is not."""
    largest = 2**61
    world = table(pa.int64(), [(1, -largest)] * 9)
    total = Total((Term(x(Kind.INT), Grid(-largest, largest, 0)),))
    assert whole(world, Cells(scan(Kind.INT), (), (total,), Bound(1, 7)))[0] == -7 * largest


@pytest.mark.parametrize("operator", ["add", "sub", "mul", "neg", "abs"])
@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), 2**62, -(2**62) - 1])
def test_2925_whole_numbers_that_do_not_fit_are_missing(operator: str, value: int) -> None:
    """#2925: no wrapping in the expressions either, and no error."""
    world = table(pa.int64(), [(1, value)])
    parts = (x(Kind.INT),) if operator in ("neg", "abs") else (x(Kind.INT), number(value))
    exact = {"add": 2 * value, "sub": 0, "mul": value**2, "neg": -value, "abs": abs(value)}[operator]
    expected = exact if -(2**63) <= exact < 2**63 else None
    assert asked(world, Cells(scan(Kind.INT), (call(operator, *parts),), (Rows(),))) == {((expected,), ()): (1,)}


@pytest.mark.parametrize("value", EXTREMES)
def test_2929_no_value_stops_the_engine(value: float | None) -> None:
    """#2929: one NaN ended the process, where a bound was infinite."""
    world = table(pa.float64(), [(1, value), (2, 1.0)])
    one_sided = call("greatest", x(Kind.FLOAT), number(0.0))
    assert math.inf in (one_sided.facts.between or ())
    total = Total((Term(one_sided, Grid(0.0, 5.0, 0.0)),))
    held = value is not None and math.isfinite(value)
    expected = 1 + (min(max(round(value), 0), 5) if held else 0)  # type: ignore[arg-type]
    assert whole(world, Cells(scan(Kind.FLOAT), (), (total, Rows(x(Kind.FLOAT))))) == (expected, 1 + held)


FAR_DAYS = (DAY(1, 1, 1), DAY(1677, 9, 20), DAY(1969, 12, 31), DAY(1970, 1, 1), DAY(2038, 1, 20), DAY(9999, 12, 31))


@pytest.mark.parametrize("day", FAR_DAYS)
def test_2937_days_are_signed_and_wide(day: datetime.date) -> None:
    """#2937: days were counted in unsigned numbers of 32 bits: one row moved a mean from 19 700 to −22 900."""
    world = table(pa.date32(), [(1, day)])
    since = call("sub", x(Kind.DATE), Literal(DAY(1970, 1, 1), Kind.DATE))
    squared = call("mul", since, since)
    asked_for = (since, squared, *(call(part, x(Kind.DATE)) for part in ("year", "quarter", "month", "day", "weekday")))
    days = (day - DAY(1970, 1, 1)).days
    key = (days, days**2, day.year, (day.month + 2) // 3, day.month, day.day, day.isoweekday())
    assert asked(world, Cells(scan(Kind.DATE), asked_for, (Rows(),))) == {(key, ()): (1,)}


@pytest.mark.parametrize("held", [pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")], ids=str)
def test_2937_days_beyond_the_calendar_are_missing(held: pa.DataType) -> None:
    """#2937: engines hold days that no calendar of ours has, before the year 1 and after 9999, and infinite ones."""
    wide, far = (pa.int32(), 10**6) if held == pa.date32() else (pa.int64(), 10**17)
    most = 2 ** (wide.bit_width - 1) - 1
    raw = pa.table({"user": pa.array(range(5)), "x": pa.array([-most, -far, 3 * far, most, 0], wide).cast(held)})
    kind = Kind.DATE if held == pa.date32() else Kind.TIME
    world = World({}, {"t": SimpleNamespace(arrow=lambda: raw)}, PERSON)  # type: ignore[dict-item]
    first = call("date_trunc", x(kind), Literal("week", Kind.TEXT))
    cells = Cells(scan(kind), (x(kind), call("year", x(kind)), first), (Rows(),))
    epoch, monday = DAY(1970, 1, 1), DAY(1969, 12, 29)
    if kind is Kind.TIME:
        epoch, monday = (datetime.datetime.combine(day, datetime.time()) for day in (epoch, monday))
    assert computed(world, cells) == {((None,) * 3, ()): (4,), ((epoch, 1970, monday), ()): (1,)}
    window = replace(scan(kind), owner=Owner("user", (), ("x", "month")))
    assert computed(world, Cells(window, (), (Rows(), Units()))) == {((), ()): (1, 1)}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, None])
def test_2939_what_is_no_number_is_in_the_missing_group(value: float | None) -> None:
    """#2939: cutting into bins turned NaN into null, a group that nobody had counted on, and released it exactly."""
    world = table(pa.float64(), [(1, value), (2, 0.5), (3, 1.5)])
    bins = call("floor", x(Kind.FLOAT))
    cells = Cells(scan(Kind.FLOAT), (bins,), (Rows(),))
    assert asked(world, cells) == {((None,), ()): (1,), ((0,), ()): (1,), ((1,), ()): (1,)}
    assert bins.facts.nullable
    public = replace(cells, listed=PublicKeys(((0, 1),)))
    assert asked(world, public) == {((0,), ()): (1,), ((1,), ()): (1,)}


def test_2939_every_bin_of_a_unit_counts_towards_its_groups() -> None:
    """#2939: the group of missing values is one of the groups that a unit may be in."""
    world = table(pa.float64(), [(1, math.nan), (1, 0.5), (1, 1.5), (1, None)])
    found = asked(world, Cells(scan(Kind.FLOAT), (call("floor", x(Kind.FLOAT)),), (Units(),), Bound(2)))
    assert len(found) == 2


@pytest.mark.parametrize("certain", [True, False])
def test_2939_a_missing_key_that_should_not_be_there_moves_little(certain: bool) -> None:
    """#2939: where a codebook is wrong, and a key is missing that never should be, bounds hold all the same."""
    never = scan(Kind.INT, Facts(keys=(0, 1, 2), nullable=False))
    cells = Cells(never, (x(Kind.INT),), (Rows(), Units()), Bound(1, 1), PublicKeys(((0, 1, 2),), certain=certain))
    others = [(user, value) for user in range(2, 9) for value in (0, 1, None)]
    for mine in ([(1, None)] * 3, [(1, 0), (1, None)], [(1, 0), (1, 1), (1, 2)]):
        before, after = (computed(table(pa.int64(), rows), cells) for rows in (others, others + mine))
        close(before, after, cells, cells.bound)


@pytest.mark.parametrize("value", [0.1, 16777217.0, 3.4e38, 1e-45])
def test_2941_single_floats_are_read_as_doubles(value: float) -> None:
    """#2941: a cast to 32 bits was taken for one of 64, and sums of it lost their bound."""
    single = pa.array([value], pa.float32())[0].as_py()
    world = table(pa.float32(), [(1, single)])
    assert asked(world, Cells(scan(Kind.FLOAT), (x(Kind.FLOAT),), (Rows(),))) == {((single,), ()): (1,)}
    bounded = scan(Kind.FLOAT, Facts(between=(Fraction(0), Fraction(1, 10))))
    assert asked(world, Cells(bounded, (x(Kind.FLOAT),), (Rows(),))) == {((min(single, 0.1),), ()): (1,)}


def test_2941_sums_of_single_floats_are_exact() -> None:
    """#2941: 2²⁴ + 1 is no 32-bit float: adding ones to it would change nothing."""
    world = table(pa.float32(), [(1, 16777216.0), *((n, 1.0) for n in range(2, 50))])
    total = Total((Term(x(Kind.FLOAT), Grid(0.0, 2.0**25, 0.0)),))
    assert whole(world, Cells(scan(Kind.FLOAT), (), (total,)))[0] == 16777216 + 48


def dictionary(rows: list[str]) -> World:
    """Gives a table whose texts are held as codes, in the order in which they came."""
    return table(pa.dictionary(pa.int8(), pa.string()), list(enumerate(rows)))


def test_2944_codes_of_categories_are_never_seen() -> None:
    """#2944: codes of categories depend on other rows; a new first row renumbered all others."""
    categories = scan(Kind.TEXT, Facts(keys=("low", "high")))
    cells = Cells(categories, (x(Kind.TEXT),), (Rows(),), listed=PublicKeys((("high", "low", None),), certain=True))
    one, other = ["low", "low", "high"], ["surprise", "high", "low", "low"]
    assert asked(dictionary(one), cells) == {(("high",), ()): (1,), (("low",), ()): (2,), ((None,), ()): (0,)}
    assert asked(dictionary(other), cells) == {(("high",), ()): (1,), (("low",), ()): (2,), ((None,), ()): (1,)}
    compared = call("lt", x(Kind.TEXT), Literal("low", Kind.TEXT))
    assert whole(dictionary(one), Cells(categories, (), (Rows(where=compared),))) == (1,)


@pytest.mark.parametrize("many", [1, 3, 40])
@pytest.mark.parametrize("groups, rows", [(1, 1), (2, 3), (3, 1)])
def test_2945_the_change_is_bounded_not_the_length(many: int, groups: int, rows: int) -> None:
    """#2945: the greatest length of a group was taken for the greatest change: at distance 6 the loss was doubled."""
    others = [(n, value) for n in range(2, 6) for value in range(n)]
    heavy = [(1, n % 7) for n in range(many)]
    grid = Grid(-3, 9, 0)
    tallies = (Rows(), Total((Term(x(Kind.INT), grid),)), Units(), Distinct(x(Kind.INT)))
    cells = Cells(scan(Kind.INT), (call("mod", x(Kind.INT), number(3)),), tallies, Bound(groups, rows))
    close(asked(table(pa.int64(), others), cells), asked(table(pa.int64(), others + heavy), cells), cells, cells.bound)


def test_2949_a_column_defined_anew_has_new_facts() -> None:
    """#2949: a column that was defined anew kept the bounds of the old one: one id moved a count by 100."""
    old = scan(Kind.INT, Facts(between=(Fraction(0), Fraction(9)), keys=None, nullable=False))
    made = Select(old, (("x", call("mul", old.columns[1], number(1000))),))
    again = made.fields[0]
    assert again.facts.between == (0, 9000)
    assert (again.origin, again.unit, again.facts.keys) == ("", None, None)
    total = Total((Term(again, Grid(0, 9000, 0)),))
    assert whole(table(pa.int64(), [(1, 9), (2, 50)]), Cells(made, (), (total,)))[0] == 18_000


def test_2949_an_id_defined_anew_does_not_hide_the_unit() -> None:
    """#2949: units stay who they are, whatever becomes of the column that named them."""
    source = scan(Kind.INT)
    for anew in (Literal(7, Kind.INT), x(Kind.INT), call("add", USER, x(Kind.INT))):
        made = Select(source, (("user", anew), ("x", x(Kind.INT))))
        assert made.fields[0].unit is None
        world = table(pa.int64(), [(1, n) for n in range(100)])
        assert whole(world, Cells(made, (), (Rows(), Units()), Bound(1, 1))) == (1, 1)
        kept = asked(world, Cells(made, (Column("user", Kind.INT), Column("x", Kind.INT)), (Rows(),), Bound(2, 1)))
        assert len(kept) == 2


def test_2949_a_union_keeps_only_what_both_parts_have() -> None:
    """#2949: facts of one part are none of the union."""
    bounded, free = scan(Kind.INT, Facts(between=(Fraction(0), Fraction(9)))), scan(Kind.INT)
    assert Union((bounded, free)).fields[1].facts.between is None
    assert Union((bounded, bounded)).fields[1].facts.between == (0, 9)


def paired(source: Scan) -> Join:
    """Gives all pairs of rows of one unit."""
    return Join(source, Select(source, (("other", x(Kind.INT)), ("again", USER))), (("user", "again"),))


def test_2950_pairs_are_made_inside_units() -> None:
    """#2950: pairing rows by their place let one row move all pairs after it."""
    cells = Cells(paired(scan(Kind.INT)), (x(Kind.INT), Column("other", Kind.INT)), (Rows(), Units()), Bound(2, 1))
    rows = [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1)]
    for unit in (1, 2, 3):
        fewer = [row for row in rows if row[0] != unit]
        close(asked(table(pa.int64(), rows), cells), asked(table(pa.int64(), fewer), cells), cells, cells.bound)


# C.4, stability


def test_what_is_kept_of_a_unit_does_not_depend_on_others() -> None:
    """C.4: truncation is independent of other people's data."""
    mine = [(1, n) for n in range(30)]
    cells = Cells(scan(Kind.INT), (x(Kind.INT),), (Rows(),), Bound(3, 1))
    alone = asked(table(pa.int64(), mine), cells)
    for others in ([(2, n) for n in range(50)], [(n, n % 30) for n in range(2, 300)]):
        together, without = (asked(table(pa.int64(), rows), cells) for rows in (mine + others, others))
        gained = {key: together[key][0] - without.get(key, (0,))[0] for key in together}
        assert {key for key, change in gained.items() if change} == set(alone)


def test_replacing_a_unit_is_at_most_twice_removing_it() -> None:
    """C.4: replace-one is twice add-or-remove-one."""
    others = [(n, n % 5) for n in range(2, 30)]
    cells = Cells(scan(Kind.INT), (x(Kind.INT),), (Rows(), Units()), Bound(2, 3))
    for seed in range(20):
        source = random.Random(seed)
        one, other = ([(1, source.randint(0, 8)) for _ in range(20)] for _ in range(2))
        before, after = (asked(table(pa.int64(), others + rows), cells) for rows in (one, other))
        moved = [abs(before.get(key, (0, 0))[0] - after.get(key, (0, 0))[0]) for key in before.keys() | after.keys()]
        assert sum(change > 0 for change in moved) <= 4
        assert max(moved) <= 3


def test_keys_come_in_the_order_of_their_values() -> None:
    """C.4: no order of keys or rows is taken from the data."""
    values = ["b", "a", None, "", "B", "é", "🙂", "a\0", "Z", "\uffff"]
    for seed in range(5):
        rows = list(enumerate(random.Random(seed).sample(values, len(values))))
        found = computed_by_value(table(pa.string(), rows), Cells(scan(Kind.TEXT), (x(Kind.TEXT),), (Rows(),)))
        assert [key[0] for key, _ in found] == [None, *sorted(value for value in values if value is not None)]


def test_float_sums_do_not_depend_on_the_order() -> None:
    """C.4: floats become steps of a grid before they are added up."""
    values = [1e16, 1.0, -1e16, 0.1, 3.3, 1e-9] * 20
    total = Total((Term(x(Kind.FLOAT), Grid(-1e16, 1e16, 0.0, 10)),))
    expected = sum(round(value * 1024) for value in values)
    for seed in range(5):
        rows = list(enumerate(random.Random(seed).sample(values, len(values))))
        assert whole(table(pa.float64(), rows), Cells(scan(Kind.FLOAT), (), (total,)))[0] == expected


FAILING: list[tuple[str, Expression]] = [
    ("divide by 0", call("div", x(Kind.FLOAT), number(0.0))),
    ("divide by 0 of whole numbers", call("mod", call("to_int", x(Kind.FLOAT)), number(0))),
    ("root of a negative number", call("sqrt", call("sub", x(Kind.FLOAT), number(1e9)))),
    ("logarithm of 0", call("ln", call("mul", x(Kind.FLOAT), number(0.0)))),
    ("power too large", call("exp", number(1e4))),
    ("float too large for a whole number", call("to_int", call("mul", x(Kind.FLOAT), number(1e300)))),
    ("product too large", call("mul", x(Kind.FLOAT), number(1.7e308))),
]


@pytest.mark.parametrize("made", [made for _, made in FAILING], ids=[name for name, _ in FAILING])
def test_no_operation_fails(made: Expression) -> None:
    """C.4: every operation has a value for every input, and no error depends on data."""
    world = table(pa.float64(), [(1, 2.5), (2, math.nan), (3, -7.5), (4, None), (5, math.inf)])
    assert asked(world, Cells(scan(Kind.FLOAT), (made,), (Rows(),))) == {((None,), ()): (5,)}


def test_a_failing_branch_is_not_an_error_where_it_is_not_taken() -> None:
    """C.4: engines may evaluate branches that are not chosen, and conditions in any order."""
    safe = call("ne", x(Kind.INT), number(0))
    inverse = call("case", safe, call("div", number(1), x(Kind.INT)), number(0.0))
    rows = [(1, 0), (2, 2), (3, -(2**63))]
    found = asked(table(pa.int64(), rows), Cells(Where(scan(Kind.INT), safe), (inverse,), (Rows(),)))
    assert found == {((0.5,), ()): (1,), ((1 / -(2**63),), ()): (1,)}


def test_an_empty_table_has_no_groups_and_zeros() -> None:
    """C.4: nothing is taken from the data, so nothing need be there."""
    tallies = (Rows(), Total((Term(x(Kind.INT), Grid(0, 9, 0)),)), Units(), Distinct(x(Kind.INT)))
    empty = table(pa.int64(), [])
    assert whole(empty, Cells(scan(Kind.INT), (), tallies, Bound(2, 2))) == (0, 0, 0, 0)
    assert asked(empty, Cells(scan(Kind.INT), (x(Kind.INT),), tallies, Bound(2, 2))) == {}
    listed = Cells(scan(Kind.INT), (x(Kind.INT),), tallies, Bound(2, 2), PublicKeys(((3, 1),)))
    assert asked(empty, listed) == {((1,), ()): (0,) * 4, ((3,), ()): (0,) * 4}


def test_rows_of_nobody_are_nobodys() -> None:
    """C.4: rows without an id are left out; they are not one person's, and not one each."""
    world = table(pa.int64(), [(None, 1), (None, 2), (1, 3)])
    assert whole(world, Cells(scan(Kind.INT), (), (Rows(), Units()), Bound(9, 9))) == (1, 1)

"""Random plans: expressions, relations and cells that are well formed, over the tables of a world."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st
from tests.reference.choices import Choices, Drawn
from tests.reference.worlds import POOLS, ROW, World, world

from sfumato.query.nodes.expressions import Call, Column, Expression, Literal
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.operators.time import BY_CALENDAR, DAYS_FROM, PERIODS, SHIFTS, TIME_UNITS
from sfumato.query.nodes.relations import (
    COMPARISONS,
    Fold,
    Folded,
    Join,
    Keep,
    Listed,
    Match,
    Meet,
    PerUnit,
    Placed,
    Placing,
    Relation,
    Select,
    Union,
    Where,
    Windowed,
)
from sfumato.query.nodes.walks import meetings
from sfumato.query.plan.engine_plan import Bound, Cells, Distinct, ExactAggregate, PublicKeys, Rows, Term, Total, Units
from sfumato.query.plan.grids import Grid

B, I, F, T, D, M = Kind.BOOL, Kind.INT, Kind.FLOAT, Kind.TEXT, Kind.DATE, Kind.TIME  # noqa: E741
KINDS = (I, F, T, B, D, M)

SHAPES: dict[Kind, tuple[tuple[Any, ...], ...]] = {
    I: (
        ("add", I, I), ("sub", I, I), ("mul", I, I), ("neg", I), ("abs", I), ("mod", I, I), ("sign", I), ("sign", F),
        ("floor", F), ("ceil", F), ("round", F), ("floor", I), ("round", I), ("ceil", I), ("to_int", F), ("to_int", B),
        ("to_int", I), ("sub", D, D), ("least", I, I), ("greatest", I, I, I), ("clamp", I), ("case", I),
        ("nullif", I, I), ("coalesce", I, I), ("length", T), ("year", D), ("year", M), ("quarter", D), ("quarter", M),
        ("month", D), ("month", M), ("day", D), ("day", M), ("weekday", D), ("weekday", M), ("hour", M), ("minute", M),
        ("second", M), ("isoyear", D), ("week", M), ("week", D), ("dayofyear", D), ("periods", D), ("periods", M),
        ("int_div", I, I), ("trunc", F), ("trunc", I), ("strpos", T, T), ("to_int", T),
    ),
    F: (
        ("add", F, F), ("sub", F, F), ("mul", F, F), ("add", I, F), ("mul", F, I), ("sub", I, F), ("div", F, F),
        ("div", I, I), ("div", F, I), ("neg", F), ("abs", F), ("sqrt", F), ("sqrt", I), ("to_float", I),
        ("to_float", B), ("to_float", F), ("least", F, F), ("least", I, F), ("greatest", F, I), ("clamp", F),
        ("case", F), ("coalesce", F, I), ("coalesce", F, F), ("nullif", F, F), ("nullif", I, F), ("greatest", F),
        ("mod", F, F), ("mod", I, F), ("to_float", T),
    ),
    T: (
        ("lower", T), ("upper", T), ("trim", T), ("substring", T), ("concat", T, T), ("concat", T), ("case", T),
        ("coalesce", T, T), ("nullif", T, T), ("reverse", T), ("ltrim", T), ("rtrim", T), ("lpad", T), ("rpad", T),
        ("right", T), ("replace", T), ("split_part", T), ("regexp_extract", T), ("regexp_replace", T), ("to_text", I),
        ("to_text", B), ("to_text", D), ("to_text", M), ("to_text", T), ("strftime", D), ("strftime", M),
    ),
    B: (
        *((name, kind, kind) for name in ("eq", "ne", "lt", "le", "gt", "ge") for kind in KINDS),
        *((name, *kinds) for name in ("eq", "lt", "ge") for kinds in ((I, F), (F, I))),
        *(("is_null", kind) for kind in KINDS), *(("in", kind) for kind in KINDS),
        *[("and", B, B), ("or", B, B), ("not", B), ("like", T), ("and", B, B, B), ("or", B)] * 2,
        ("case", B), ("coalesce", B, B), ("nullif", B, B), ("starts_with", T, T), ("ends_with", T, T),
        ("contains", T, T), ("regexp_matches", T), ("regexp_full_match", T), ("to_bool", I), ("to_bool", F),
        ("to_bool", B), ("to_bool", T),
    ),
    D: (
        ("date_trunc", D), ("to_date", M), ("to_date", D), ("least", D, D), ("greatest", D, D), ("case", D),
        ("coalesce", D, D), ("nullif", D, D), ("shift", D, I), ("to_date", T),
    ),
    M: (
        ("date_trunc", M), ("to_time", D), ("to_time", M), ("least", M, M), ("greatest", M, M), ("case", M),
        ("coalesce", M, M), ("nullif", M, M), ("shift", M, I), ("to_time", T),
    ),
}  # fmt: skip
"""For each kind the operations that give it, with kinds of operands; constants are added where they are needed."""

PATTERNS = ("%", "a%", "_", "%b", "", "%\0%", "__", "\\%", "%e_%", "a_b", "%🙂%", ".*", "[a]")


REGULAR = (
    "a",
    "^$",
    ".",
    "[a-z]+",
    "(a|b)c?",
    "\\s",
    "^.{2,3}$",
    "(?i)AB",
    "[^e-]",
    "\\bx\\b",
    "(?s).b",
    "\\d+$",
    "(.)e",
)
FORMATS = ("%Y-%m-%d", "%B %d, %A", "%H:%M:%S.%f %p %I", "%j %G-W%V-%u %w %y %b %a", "%%%Y%%", "plain")


def finite(kind: Kind) -> list[Any]:
    """Gives constants of a kind: what somebody can write."""
    return [value for value in POOLS[kind] if value is not None and value - value == 0] if kind is F else [
        value for value in POOLS[kind] if value is not None and not (kind is T and len(value) > 1000)
    ]  # fmt: skip


CONSTANTS = {kind: finite(kind) for kind in KINDS}


def expression(choices: Choices, fields: Sequence[Column], kind: Kind, depth: int) -> Expression:
    """Makes an expression of a kind."""
    if depth <= 0 or not choices.often(4):
        return leaf(choices, fields, kind)
    name, *operands = choices.of(SHAPES[kind])
    if name == "case":
        return branches(choices, fields, kind, depth)
    parts = [expression(choices, fields, operand, depth - 1) for operand in operands]
    if name not in ("case", "is_null", *WITH_CONSTANTS) and not choices.often(12):
        parts[choices.whole(0, len(parts) - 1)] = Literal(None, choices.of(operands))
    made = call(name, *parts, *constants(choices, name, parts[0].kind))
    return made if made.kind is kind else leaf(choices, fields, kind)  # a NULL may have made it another kind


def branches(choices: Choices, fields: Sequence[Column], kind: Kind, depth: int) -> Expression:
    """Makes a choice between values."""
    parts: list[Expression] = []
    for _ in range(choices.whole(1, 2)):
        parts += [expression(choices, fields, B, depth - 1), expression(choices, fields, kind, depth - 1)]
    last = expression(choices, fields, kind, depth - 1) if choices.often(3) else Literal(None, kind)
    return call("case", *parts, last)


PATTERNED = ("regexp_matches", "regexp_full_match", "regexp_extract", "regexp_replace")
WITH_CONSTANTS = (
    "in",
    "like",
    "substring",
    "date_trunc",
    "clamp",
    "periods",
    "shift",
    "strftime",
    "lpad",
    "rpad",
    "right",
)
WITH_CONSTANTS += ("replace", "split_part", *PATTERNED)


def constants(choices: Choices, name: str, kind: Kind) -> list[Literal]:
    """Makes the constants that an operation needs."""
    if name in PATTERNED:
        new = [Literal(choices.of(("", "x", "🙂" * 20)), T), Literal(choices.of(("", "g")), T)]
        pattern = Literal(choices.of([one for one in REGULAR if name != "regexp_replace" or one != "^$"]), T)
        return [pattern, *{"regexp_extract": [Literal(0, I)], "regexp_replace": new}.get(name, [])]
    match name:
        case "periods":
            return [Literal(choices.of((*PERIODS, *BY_CALENDAR)), T)]
        case "shift":
            return [Literal(choices.of(tuple(SHIFTS) if kind is M else ("month", "day")), T)]
        case "strftime":
            return [Literal(choices.of(FORMATS), T)]
        case "lpad" | "rpad":
            return [Literal(choices.of((0, 1, 3, 1000)), I), Literal(choices.of((" ", "ab", "🙂")), T)]
        case "right":
            return [Literal(choices.of((0, 1, 3, 1000)), I)]
        case "replace":
            return [Literal(choices.of(("a", "e", "\0", "ab")), T), Literal(choices.of(("", "b", "xyz" * 6)), T)]
        case "split_part":
            return [Literal(choices.of(("a", " ", "ab")), T), Literal(choices.of((1, 2, 1000)), I)]
        case "clamp":
            return [
                Literal(value, kind) for value in sorted((choices.of(CONSTANTS[kind]), choices.of(CONSTANTS[kind])))
            ]
        case "in":
            return [Literal(value, kind) for value in choices.some(CONSTANTS[kind], 1, 3)]
        case "like":
            return [Literal(choices.of(PATTERNS), T)]
        case "substring":
            return [Literal(choices.of((1, 2, 5, 1000, 2**62)), I), Literal(choices.of((1, 0, 3, 1000, 2**62)), I)]
        case "date_trunc":
            return [Literal(choices.of(TIME_UNITS if kind is M else TIME_UNITS[DAYS_FROM:]), T)]
    return []


def leaf(choices: Choices, fields: Sequence[Column], kind: Kind) -> Expression:
    """Makes a column, or a constant."""
    known = [column for column in fields if column.kind is kind]
    if known and choices.often(5):
        return choices.of(known)
    return Literal(choices.of(CONSTANTS[kind]), kind) if choices.often(8) else Literal(None, kind)


def any_expression(choices: Choices, fields: Sequence[Column], depth: int = 2) -> Expression:
    """Makes an expression of any kind."""
    return expression(choices, fields, choices.of(KINDS), choices.whole(0, depth))


# Relations


def relation(choices: Choices, here: World, depth: int = 2) -> Relation:
    """Makes a private relation; of those whose rows belong to two units, every eighth."""
    made = plain(choices, here)
    for _ in range(choices.whole(0, depth)):
        made = choices.of(STEPS)(choices, here, made)
    return made if choices.often(8) else meet(choices, here, made)


def meet(choices: Choices, here: World, source: Relation) -> Relation:
    """Joins rows of different units, and sometimes keeps some of these or makes new columns."""
    right = prefixed(plain(choices, here), f"m{len(source.fields)}_")
    pairs = [(a.name, b.name) for a in source.fields for b in right.fields if alike(a.kind, b.kind)]
    if not pairs:
        return source
    made: Relation = Meet(source, right, tuple(dict.fromkeys(choices.some(pairs, 1, 2))), choices.whole(1, 3))
    return choices.of((where, select))(choices, here, made) if choices.often(2) else made


def alike(one: Kind, other: Kind) -> bool:
    """Tells whether values of two kinds can be equal."""
    return one is other or (one.numeric and other.numeric)


def plain(choices: Choices, here: World) -> Relation:
    """Makes a table, sometimes with a part of its columns."""
    scan = here.scans[choices.of(("visits", "visits", "visits", "people", "orders", "items"))]
    if choices.often(4):
        return scan
    return replace(scan, columns=scan.columns[:: choices.whole(1, 2)])


def where(choices: Choices, here: World, source: Relation) -> Relation:
    """Keeps some rows."""
    return Where(source, expression(choices, source.fields, B, 2))


def keep(choices: Choices, here: World, source: Relation) -> Relation:
    """Keeps so many rows of each unit, where units are not rows."""
    if here.unit == ROW:
        return source
    most = choices.whole(1, 4)
    return Keep(source, most, work=most % 2 == 0)  # the two kinds mean the same, and are computed in other ways


def select(choices: Choices, here: World, source: Relation) -> Relation:
    """Makes new columns, and keeps some old ones under their names or others."""
    kept = [(column.name, column) for column in source.fields if choices.often(2)]
    names = {name for name, _ in kept}
    made = [(name, any_expression(choices, source.fields)) for name in ("one", "two", "minutes") if name not in names]
    return Select(source, (*kept, *made[: choices.whole(1, 3)])) if made else source


def prefixed(source: Relation, prefix: str) -> Relation:
    """Gives a relation whose names begin otherwise."""
    return Select(source, tuple((prefix + column.name, column) for column in source.fields))


def join(choices: Choices, here: World, source: Relation) -> Relation:
    """Joins with the public table, or with another private one."""
    public = here.unit == ROW or not choices.often(2)
    other = public_rows(choices, here) if public else plain(choices, here)
    right = prefixed(other, f"o{len(source.fields)}_")
    pairs = [(a.name, b.name) for a in source.fields for b in right.fields if a.kind is b.kind]
    if not pairs:
        return source
    on = tuple(dict.fromkeys(choices.some(pairs, 1 if public else 0, 2)))
    compared = [(a, how, b) for a, b in choices.some(pairs, 0, 1) for how in choices.some(tuple(COMPARISONS), 1, 1)]
    return Join(source, right, on, choices.of(tuple(Match)), tuple(compared))


def public_rows(choices: Choices, here: World) -> Relation:
    """Makes the public table, what it is summed up to, or rows that the question states itself."""
    wards = here.scans["wards"]
    match choices.whole(0, 5):
        case 0:
            kinds = choices.some(KINDS, 1, 3)
            columns = tuple(Column(f"v{place}", kind) for place, kind in enumerate(kinds))
            cells = [[choices.of(CONSTANTS[kind]) if choices.often(6) else None for kind in kinds] for _ in range(3)]
            return Listed(columns, tuple(map(tuple, cells)))
        case 1:
            by = tuple((f"by{place}", any_expression(choices, wards.fields, 1)) for place in range(choices.whole(0, 2)))
            return PerUnit(wards, by, tuple(folded(choices, wards, f"fold{n}") for n in range(choices.whole(1, 2))))
    return wards


def union(choices: Choices, here: World, source: Relation) -> Relation:
    """Puts a second relation below, with columns of the same names and kinds."""
    other = plain(choices, here)
    kinds = [(column.name, column.kind) for column in source.fields]
    below = Select(other, tuple((name, expression(choices, other.fields, kind, 1)) for name, kind in kinds))
    return Union((source, below) if choices.often(2) else (below, source))


def per_unit(choices: Choices, here: World, source: Relation) -> Relation:
    """Makes one row of each unit's rows."""
    if here.unit == ROW:
        return source
    by = [(f"by{place}", any_expression(choices, source.fields, 1)) for place in range(choices.whole(0, 2))]
    return PerUnit(source, tuple(by), tuple(folded(choices, source, f"fold{n}") for n in range(choices.whole(1, 3))))


def folded(choices: Choices, source: Relation, name: str) -> Folded:
    """Makes one value for each unit and group."""
    fold = choices.of(tuple(Fold))
    if fold is Fold.COUNT and choices.often(2):
        return Folded(fold, None, Column(name, I))
    if fold in (Fold.SUM, Fold.MEAN):
        kind = choices.of((I, F))
        grid = replace(one_grid(choices, kind), centre=0 if kind is I else 0.0)
        made = expression(choices, source.fields, kind, 1)
        return Folded(fold, made, Column(name, kind if fold is Fold.SUM else F), grid)
    made = any_expression(choices, source.fields, 1)
    return Folded(fold, made, Column(name, I if fold in (Fold.COUNT, Fold.DISTINCT) else made.kind))


def windowed(choices: Choices, here: World, source: Relation) -> Relation:
    """Adds columns by the other rows of a unit."""
    if here.unit == ROW:
        return source
    by = tuple(any_expression(choices, source.fields, 1) for _ in range(choices.whole(0, 1)))
    order = tuple((any_expression(choices, source.fields, 1), choices.often(2)) for _ in range(choices.whole(0, 2)))
    places = range(choices.whole(1, 2))
    added = tuple(placed(choices, source, f"w{len(source.fields)}{place}") for place in places)
    return Windowed(source, by, order, added)


def placed(choices: Choices, source: Relation, name: str) -> Placed | Folded:
    """Makes one column by the place of a row, or of the rows up to it."""
    if choices.often(3):
        placing = choices.of(tuple(Placing))
        if placing.numbers:
            return Placed(placing, None, Column(name, I))
        made = any_expression(choices, source.fields, 1)
        return Placed(placing, made, Column(name, made.kind), choices.whole(1, 2))
    made_fold = folded(choices, source, name)
    return made_fold if made_fold.fold is not Fold.DISTINCT else Folded(Fold.COUNT, None, Column(name, I))


STEPS: tuple[Callable[[Choices, World, Relation], Relation], ...] = (
    where,
    select,
    join,
    union,
    per_unit,
    keep,
    windowed,
)


# Cells


def one_grid(choices: Choices, kind: Kind, *, small: bool = False) -> Grid:
    """Makes a grid."""
    if kind is I:
        low, high = choices.of(((0, 90), (-3, 3), (7, 7), (-(2**31), 2**31), (0, 1)))
        return Grid(low, high, choices.of((0, low, high, (low + high) // 2)))
    low, high = choices.of(((0.0, 90.0), (-1000.5, 1000.5), (-0.25, 0.75), (0.1, 0.3), (2.5, 2.5), (-1e9, 1e9)))
    centre = choices.of((0.0, low, high, (low + high) / 2))
    return Grid(low, high, centre, choices.of((0, 1, 4, -2, 10) if small else (0, 1, 4, -2, 10, 30)))


def term(choices: Choices, fields: Sequence[Column], *, small: bool) -> Term:
    """Makes a numeric expression on a grid."""
    numeric = [column for column in fields if column.kind.numeric]
    made = choices.of(numeric) if numeric and choices.often(3) else expression(choices, fields, choices.of((I, F)), 1)
    return Term(made, one_grid(choices, made.kind, small=small))


def tally(choices: Choices, fields: Sequence[Column], *, units: bool) -> ExactAggregate:
    """Makes what is added up; ``units``: where rows are the units, there is nothing to count but rows."""
    asked = None if choices.often(3) else expression(choices, fields, B, 1)
    match choices.whole(0, 5):
        case 0:
            return Rows(None, asked, choices.of((0, 0, 3, 20)))
        case 1:
            return Rows(any_expression(choices, fields, 1), asked, choices.of((0, 0, 3, 20)))
        case 2 | 5:
            many = choices.of((1, 1, 2))
            return Total(tuple(term(choices, fields, small=many > 1) for _ in range(many)), asked)
        case 3:
            return Units(asked) if units else Rows(None, asked)
    if not choices.often(3):
        made = term(choices, fields, small=False)
        return Distinct(made.of, asked, grid=made.grid, summed=choices.often(2))
    others = tuple(any_expression(choices, fields, 1) for _ in range(choices.of((0, 0, 1, 2))))
    return Distinct(any_expression(choices, fields, 1), asked, others)


def bound(choices: Choices) -> Bound:
    """Makes a bound of what is kept of each unit."""
    rows = choices.of((1, 1, 2, 5, None))
    return Bound(choices.of((1, 1, 2, 3, None)), rows, cut=rows is not None and not choices.often(3))


def listed(choices: Choices, keys: Sequence[Expression]) -> PublicKeys | None:
    """Makes a list of public keys: certain ones where facts allow it, else some."""
    if not keys or not choices.often(2):
        return None
    known = [key.facts.listed(key.kind) for key in keys]
    columns = [list(found)[:50] if found is not None else choices.some(CONSTANTS[key.kind], 2, 12) for key, found in
               zip(keys, known, strict=True)]  # fmt: skip
    certain = all(found is not None and len(found) <= 4 for found in known)
    for column in columns:
        if certain or not choices.often(2):  # missing values may be anywhere, whatever facts say
            column.append(None)  # type: ignore[arg-type]
    return PublicKeys(grid_of(columns), certain=certain) if all(columns) else None


def grid_of(columns: Sequence[Sequence[Value]]) -> tuple[tuple[Value, ...], ...]:
    """Gives all combinations of some values, as columns, without repetitions."""
    combinations: list[tuple[Value, ...]] = [()]
    for column in columns:
        combinations = [(*one, value) for one in combinations for value in dict.fromkeys(column)]
    return tuple(zip(*combinations[:200], strict=True))


def key(choices: Choices, fields: Sequence[Column]) -> Expression:
    """Makes what is grouped by: a column, more often than not."""
    return choices.of(fields) if fields and choices.often(3) else any_expression(choices, fields, 1)


def cells(choices: Choices, here: World) -> Cells:
    """Makes cells over a world's tables."""
    source = relation(choices, here)
    units = here.unit != ROW and not any(True for _ in meetings(source))
    keys = tuple(key(choices, source.fields) for _ in range(choices.whole(0, 2)))
    public = listed(choices, keys)
    if public is not None and public.certain and len(public) == 200:
        public = None
    return Cells(
        source,
        keys,
        tuple(tally(choices, source.fields, units=units) for _ in range(choices.whole(1, 3))),
        bound(choices),
        public,
        () if choices.often(5) else (any_expression(choices, source.fields, 1),),
    )


@dataclass(frozen=True)
class Case:
    """Is a plan and the data to run it on."""

    world: World
    cells: Cells


def case(choices: Choices, **how: Any) -> Case:
    """Makes a plan and data."""
    here = world(choices, **how)
    return Case(here, cells(choices, here))


@st.composite
def cases(draw: Any, **how: Any) -> Case:
    """Makes plans and data."""
    return case(Drawn(draw), **how)


def operators_of(made: Expression) -> set[str]:
    """Gives the operators in an expression."""
    own = {made.operator} if isinstance(made, Call) else set()
    return own.union(*(operators_of(part) for part in made.parts))


def by_row(choices: Choices, here: World, *, many: int, depth: int) -> Cells:
    """Makes cells that show the values of many expressions in each row of a table."""
    source = here.scans["visits"]
    number = source.field("row")
    assert number is not None
    made = (any_expression(choices, source.fields, depth) for _ in range(many))
    return Cells(source, (number, *made), (Rows(),))

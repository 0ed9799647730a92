"""Stable functions of tables: sums of products, or the rows themselves, exact and bounded, for mechanisms to follow.

A question adds noise to its own numbers. What is made here ends before the noise: a transformation from the tables to
an exact vector or matrix, with how far one unit can move it. Any mechanism of the core can stand behind it, and the
whole is asked and paid for like any other question. Nothing is computed before that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import inf
from typing import TypeAlias, final

import numpy as np

from sfumato.accounting.losses.measures import Approx
from sfumato.core.domains import Array, Data, Floats, Integers, Matrix, Vector
from sfumato.core.grouped_distance import AnyDistance, GroupedDistance
from sfumato.core.metrics import L1, L2, AddRemove, VectorMetric
from sfumato.core.pieces import PiecewiseLInf
from sfumato.core.plan import Plan, planned, record_of
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, QueryRefused
from sfumato.exact import Distance, Extended, rational_up, root, squared
from sfumato.guarantee import guarantee
from sfumato.plain import Plain
from sfumato.query.answer.normal_text import rows_text
from sfumato.query.build.prune import pruned, used
from sfumato.query.build.relation import all_of, kept, selected, shared
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.questions import Count, Question, StatisticValue
from sfumato.query.nodes.relations import Keep, Relation
from sfumato.query.plan.bound_joins import bound_joins
from sfumato.query.plan.bound_units import bound_units
from sfumato.query.plan.decomposition import Recipe, step_of
from sfumato.query.plan.engine_plan import Bound, Cells, ExactAggregate, Rows, Term, Total
from sfumato.query.plan.exclusive import exclusive, exclusive_sets
from sfumato.query.plan.find_keys import find_keys
from sfumato.query.plan.grids import COUNT_BITS, float_grid
from sfumato.query.plan.grounding import conjuncts
from sfumato.query.plan.grouping_sets import Level
from sfumato.query.plan.keep_rows import keep_rows
from sfumato.query.plan.open_tables import OpenTables
from sfumato.query.plan.query_plan import QueryPlan
from sfumato.query.plan.read_facts import read_facts
from sfumato.query.plan.refuse_impossible import refuse_impossible
from sfumato.query.plan.sensitivity import Influence
from sfumato.query.plan.taken_rows import check_ids, units_apart
from sfumato.transforms.distances import times
from sfumato.transforms.gram import BITS, STEP, Cell, Coordinates, read_gram_norm
from sfumato.transforms.keyed import keyed_map


@final
@dataclass(frozen=True)
class Scaled:
    """A number of each row, moved into public bounds and from there to [−1, 1]; s, or 2s² − 1 where ``squared``."""

    of: Expression
    lower: Fraction
    upper: Fraction
    squared: bool = False

    @property
    def kind(self) -> int:
        """The kind of a column of numbers (`Coordinates`)."""
        return 0

    def made(self) -> Expression:
        """The number between −1 and 1; missing where it is missing."""
        scaled = call("clamp", self.moved(), literal(-1.0), literal(1.0))
        if not self.squared:
            return scaled
        return call("sub", call("mul", call("mul", scaled, scaled), literal(2.0)), literal(1.0))

    def moved(self) -> Expression:
        """The scaled number up to rounding, for who moves it into [−1, 1] again."""
        low, high = float(self.lower), float(self.upper)
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        moved = call("sub", self.inside(), literal(middle)) if middle else self.inside()
        return moved if half in (0.0, 1.0) else call("div", moved, literal(half))

    def inside(self) -> Expression:
        """The number within its bounds."""
        if not (self.of.kind.numeric or self.of.kind is Kind.BOOL):
            raise QueryRefused(f"a column of numbers is needed here; got {self.of.kind.value}.")
        number = call("to_int", self.of) if self.of.kind is Kind.BOOL else self.of
        return call("clamp", call("to_float", number), literal(float(self.lower)), literal(float(self.upper)))


@final
@dataclass(frozen=True)
class Coded:
    """A value of each row that is one of a public list, as its place in it; −1 for any other."""

    of: Expression
    values: tuple[Value, ...]

    @property
    def kind(self) -> int:
        """The kind of a column of categories (`Coordinates`)."""
        return len(self.values)

    def made(self) -> Expression:
        """The place of the value in the list, as a float; missing where it is missing."""
        cases = [part for place, value in enumerate(self.values) for part in (self.holds(value), literal(float(place)))]
        return call("case", call("is_null", self.of), literal(None), *cases, literal(-1.0))

    def holds(self, value: Value) -> Expression:
        """The condition that a row has a value."""
        return call("eq", self.of, literal(value))


@final
@dataclass(frozen=True)
class Binned:
    """A number of each row as the place of its bin: how many of some public edges, in order, it is not below."""

    of: Expression
    edges: tuple[float, ...]

    @property
    def kind(self) -> int:
        """The kind of a column of categories (`Coordinates`)."""
        return len(self.edges) + 1

    @property
    def values(self) -> tuple[Value, ...]:
        """The places of all bins."""
        return tuple(float(place) for place in range(self.kind))

    def made(self) -> Expression:
        """The place of the bin, as a float; missing where the number is missing."""
        if not (self.of.kind.numeric or self.of.kind is Kind.BOOL):
            raise QueryRefused(f"a column of numbers is needed here; got {self.of.kind.value}.")
        number = call("to_float", call("to_int", self.of) if self.of.kind is Kind.BOOL else self.of)
        below = [(call("lt", number, literal(edge)), literal(float(place))) for place, edge in enumerate(self.edges)]
        cases = [part for pair in below for part in pair]
        return call("case", call("is_null", self.of), literal(None), *cases, literal(float(len(self.edges))))

    def holds(self, value: Value) -> Expression:
        """The condition that a row, of which this is the place by now, is in a bin."""
        return call("eq", self.of, literal(value))


Entry: TypeAlias = Scaled | Coded | Binned
"""What a column of rows is: a number between bounds, one of a list of values, or the bin of a number."""


def gram_of_tables(
    source: Relation,
    entries: Sequence[Entry],
    opened: OpenTables,
    *,
    max_rows: int | None,
    metric: VectorMetric,
    pairs: Sequence[Cell] | None = None,
) -> Transformation:
    """The Gram matrix of rows (`transforms.gram`), added up by the engine, under a distance of vectors.

    Rows in which an entry is missing are left out. A unit with more than ``max_rows`` rows counts as that many rows
    which are like its own on average. ``pairs`` are the products that are added up, if not all.
    """
    layout = Coordinates(tuple(entry.kind for entry in entries), None if pairs is None else tuple(pairs))
    read_gram_norm(metric, layout)
    named = entries_named(source, entries, made=False)
    plan = rows_planned(named, opened, Settings(max_rows_per_group=None if opened.catalog.by_rows else max_rows))
    held = [replace(entry, of=plan.question.source.fields[place]) for place, entry in enumerate(entries)]
    blocks = _tallies(layout, held)
    flat = tuple(dict.fromkeys(tally for block in blocks for tally in block))
    count = next(iter(plan.recipes))
    plan = bound_units(find_keys(replace(plan, recipes={count: Recipe(flat, lambda noisy: noisy[flat[0]])})))
    level = plan.levels[0]
    opened.engine.prepare(level.cells)
    classes = [held[-1].holds(value) for value in held[-1].values] if not isinstance(held[-1], Scaled) else []
    reach = gram_distance(level, blocks, metric, classes)
    made = Transformation(
        opened.space,
        Space(Vector(Integers(None, STEP), len(layout.cells)), metric),
        lambda data, _: _in_steps(data, level, flat, blocks),
        lambda d_in: units_moved(d_in, reach),
        (words_of(source, entries, opened), *map(str, level.placed.cuts), f"{len(layout.cells)} sums of products"),
        ("proofs/query.md#gram", "proofs/gram.md#blocks"),
    )
    asked: dict[str, Plain] = {"max_rows": max_rows, "metric": type(metric).__name__}
    if isinstance(metric, PiecewiseLInf):
        asked["pieces"] = metric.pieces
    if pairs is not None:
        asked["pairs"] = [list(pair) for pair in pairs]
    return planned(made, _plan("gram", opened, plan.question.source, entries, asked))


def rows_of_tables(
    source: Relation, entries: Sequence[Entry], opened: OpenTables, *, max_rows: int | None
) -> Transformation:
    """The rows themselves, as a matrix with a column for each entry, of which a unit has at most ``max_rows``.

    Numbers are between −1 and 1, categories are their places in the list. It is for mechanisms that must see rows again
    and again: what sums can do, `gram_of_tables` does without moving rows.
    """
    settings = Settings(max_rows=None if opened.catalog.by_rows else max_rows)
    plan = rows_planned(entries_named(source, entries, made=True), opened, settings)
    most = plan.reach.rows
    if most == inf:
        raise QueryRefused(endless(opened.catalog.codebook.protects))
    cells = Cells(plan.question.source, plan.question.source.fields[: len(entries)], (Rows(),), Bound())
    opened.engine.prepare(cells)
    cuts = plan.question.source.rows if isinstance(plan.question.source, Keep) else None
    steps = () if cuts is None else (f"at most {cuts:,} row{'s' * (cuts > 1)} of {opened.catalog.codebook.protects}",)
    made = Transformation(
        opened.space,
        Space(Matrix(len(entries), Floats()), AddRemove()),
        lambda data, _: _rows_of(data, cells),
        lambda d_in: units_moved(d_in, Fraction(most)),
        (words_of(source, entries, opened), *steps, f"rows of {len(entries)} columns"),
        ("proofs/query.md#gram",),
    )
    return planned(made, _plan("rows", opened, plan.question.source, entries, {"max_rows": max_rows, "metric": ""}))


@guarantee(
    claim="databases that far apart are so many units of the first kind apart, which are added or removed",
    proof="proofs/query.md#kinds",
    reviewed="534a0bb4404d",
)
def units_between(d_in: AnyDistance) -> Extended:
    """How many units lie between databases: as many as said, or those of which a unit of another kind takes rows."""
    return Fraction(units_apart(d_in)) if isinstance(d_in, GroupedDistance) else rational_up(d_in)


def units_moved(d_in: AnyDistance, each: Distance) -> Distance:
    """How far apart the images of databases are, of which each unit between them moves so much."""
    units = units_between(d_in)
    return inf if units == inf else times(each, Fraction(units))


def words_of(source: Relation, entries: Sequence[Entry], opened: OpenTables) -> str:
    """What is asked of the tables, in SQL."""
    shown = selected(source, [(f"column {place}", entry.of) for place, entry in enumerate(entries, start=1)])
    return rows_text(shown, opened.catalog.tables)


def endless(who: str) -> str:
    """Says what to do where a unit may have any number of rows."""
    return (
        f"{who} could have any number of rows here, and no noise hides that. Say how many of each to keep, "
        "max_rows=10; or state in the codebook what is so in every possible table (contributions: …)."
    )


def _within(entry: Entry) -> Expression:
    """What is added up of an entry, whose grid moves it into [−1, 1]; of a category, the value that conditions name."""
    if isinstance(entry, Coded):
        return entry.of
    return entry.moved() if isinstance(entry, Scaled) and not entry.squared else entry.made()


def entries_named(
    source: Relation, entries: Sequence[Entry], *, made: bool, beside: Sequence[Expression] = ()
) -> Relation:
    """The columns of entries under names of their own, in the rows where none is missing, and others beside them."""
    shown = [entry.made() if made else _within(entry) for entry in entries]
    if not shown:
        raise BadArgument("the columns", "one or more", "none")
    there = all_of([call("not", call("is_null", entry.of)) for entry in entries])
    names = [f"entry {place}" for place in range(len(shown) + len(beside))]
    return selected(kept(source, there), list(zip(names, [*shown, *beside], strict=True)))


def rows_planned(source: Relation, opened: OpenTables, settings: Settings) -> QueryPlan:
    """Runs the passes that decide how much of each unit is kept."""
    if not source.private:
        raise QueryRefused("this asks only public tables, which need no privacy: read them directly.")
    check_ids(source, opened.catalog.codebook)
    if shared(source):
        raise QueryRefused("rows of a join of private tables off the id belong to two units each: join on the id here.")
    count = Count()
    question = Question(pruned(source, used(source.fields)), (), (("n", StatisticValue(count)),), ((),))
    begun = QueryPlan(question, question, settings, opened, Approx, recipes={count: Recipe.of(Rows())})
    ready = reduce(lambda plan, step: step(plan), (bound_joins, refuse_impossible, keep_rows, read_facts), begun)
    if not opened.catalog.by_rows and ready.reach.rows == inf and settings.max_rows_per_group is None:
        raise QueryRefused(endless(opened.catalog.codebook.protects))
    return ready


def _tallies(layout: Coordinates, held: Sequence[Entry]) -> list[tuple[ExactAggregate, ...]]:
    """What the engine adds up for each cell, block by block."""
    factors: list[Term | Expression | None] = [None]
    for entry in held:
        if isinstance(entry, Scaled):
            factors.append(Term(entry.of, float_grid((Fraction(-1), Fraction(1)), centred=False, bits=BITS + 1)))
        else:
            factors += [entry.holds(value) for value in entry.values]
    return [tuple(_tally(cell, factors) for cell in block) for block in layout.blocks]


def _tally(cell: Cell, factors: Sequence[Term | Expression | None]) -> ExactAggregate:
    chosen = [factors[place] for place in cell]
    terms = tuple(one for one in chosen if isinstance(one, Term))
    conditions = [one for one in chosen if isinstance(one, Expression)]
    where = all_of(conditions) if conditions else None
    return Total(terms, where) if terms else Rows(None, where, COUNT_BITS if where is not None else 0)


@guarantee(
    claim="the norm of a vector of blocks: of each, one for every set of cells of which a row moves one, the most that "
    "one of them moves; sets are added up, in L2 their squares, and in L∞ the largest counts; in pieces under "
    "conditions of which no row meets two, the most that all rows of a unit move one cell, else as in L1",
    proof="proofs/query.md#gram",
    reviewed="11e4918173b2",
)
def gram_distance(
    level: Level,
    blocks: Sequence[Sequence[ExactAggregate]],
    metric: VectorMetric,
    classes: Sequence[Expression] = (),
) -> Distance:
    """How far one unit moves the cells of a Gram matrix; ``classes`` are the conditions of its pieces, if any."""
    if isinstance(metric, PiecewiseLInf) and classes:
        apart = all(exclusive(one, other) for one, other in combinations(classes, 2))
        dealt = all(
            _under(tally, classes[place % len(classes)]) for block in blocks for place, tally in enumerate(block)
        )
        if apart and dealt:
            tallies = [tally for block in blocks for tally in block]
            return max((_moved(level.influence(tally), step_of(tally), L1()) for tally in tallies), key=squared)
        return gram_distance(level, blocks, L1())
    most = [
        max((_moved(level.influence(tally), step_of(tally), metric) for tally in members), key=squared)
        for block in blocks
        for members in exclusive_sets(tuple(block))
    ]
    if isinstance(metric, L1):
        return sum((Fraction(rational_up(one)) for one in most), Fraction(0))
    if isinstance(metric, L2):
        return root(sum((Fraction(squared(one)) for one in most), Fraction(0)))
    return max(most, key=squared)


def _under(tally: ExactAggregate, condition: Expression) -> bool:
    """Tells whether only rows that meet a condition move a tally."""
    return tally.where is not None and condition in conjuncts(tally.where)


def _moved(influence: Influence, step: Fraction, metric: VectorMetric) -> Distance:
    return times(keyed_map(influence.spread, norm=metric, each=Fraction(influence.most)), step)


def _in_steps(
    data: Data, level: Level, flat: Sequence[ExactAggregate], blocks: Sequence[Sequence[ExactAggregate]]
) -> Array:
    """What the engine adds up, cell by cell, in steps of a Gram matrix."""
    computed = data.engine.run(level.cells)
    totals = dict(zip(level.cells.tallies, (int(numbers[0]) for numbers in computed.numbers), strict=True))
    made = {tally: totals[tally] * int(step_of(tally) / STEP) for tally in flat}
    return np.array([made[tally] for block in blocks for tally in block], dtype=object)


def _rows_of(data: Data, cells: Cells) -> Array:
    """The rows, as often as they occur, in the order of their values."""
    computed = data.engine.run(cells)
    columns = [np.asarray(values, dtype=np.float64) for values in computed.keys]
    return np.repeat(np.stack(columns, axis=1), np.asarray(computed.numbers[0], dtype=np.int64), axis=0)


def _plan(
    name: str, opened: OpenTables, source: Relation, entries: Sequence[Entry], asked: Mapping[str, Plain]
) -> Plan | None:
    begun, said = opened.space.plan, record_of(source)
    kinds: list[Plain] = [record_of(entry) for entry in entries]
    if begun is None or said is None or None in kinds:
        return None
    arguments: dict[str, Plain] = {"source": said, "entries": kinds, **asked}
    return {"space": begun["space"], "steps": [{"make": name, "with": arguments}]}

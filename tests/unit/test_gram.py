"""Gram matrices: exact sums of products, alike in the core and in the engine, and how far a person moves them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import inf, nan
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.core.domains import Floats, Matrix
from sfumato.core.metrics import L1, L2, AddRemove, LInf, VectorMetric
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.errors import BadArgument, QueryRefused
from sfumato.exact import squared
from sfumato.learn.columns import Category, Column, Number
from sfumato.query.frame import Frame
from sfumato.query.plan.stable import gram_of_tables, rows_of_tables
from sfumato.transforms.gram import Coordinates, gram

ANY = Floats(nan=True, infinite=True)
METRICS: tuple[VectorMetric, ...] = (L1(), L2(), LInf())


def length(cells: Any, metric: VectorMetric) -> Fraction:
    """The length of a vector of exact cells (squared in L2), worked out here."""
    sizes = [abs(Fraction(cell)) for cell in cells]
    if isinstance(metric, L1):
        return sum(sizes, Fraction(0))
    return sum((size**2 for size in sizes), Fraction(0)) if isinstance(metric, L2) else max(sizes)


@pytest.mark.parametrize("kinds", [(0,), (0, 0), (3,), (2, 3), (0, 2), (0, 3, 0)])
def test_no_row_moves_cells_further_than_stated_and_one_moves_them_as_far(kinds: tuple[int, ...]) -> None:
    """P2-092: every row of a small domain, in every norm; the bound is reached."""
    space = Space(Matrix(len(kinds), ANY), AddRemove())
    values = [[-inf, -1.0, -0.3, 0.0, 1.0, nan] if not kind else [-1.0, *range(kind), 0.5, nan] for kind in kinds]
    for metric in METRICS:
        exact = space >> gram(kinds, metric=metric)
        stated = exact.map(1)
        bound = squared(stated) if isinstance(metric, L2) else stated
        moved = [
            length(exact.image(np.array([row])), metric) / (2**80 if isinstance(metric, L2) else 2**40)
            for row in product(*values)
        ]
        assert max(moved) == bound


def test_cells_are_the_exact_sums_whatever_the_order_of_rows() -> None:
    kinds, rng = (0, 3, 0), np.random.default_rng(1)
    rows = np.stack([rng.uniform(-2, 2, 9000), rng.integers(-1, 4, 9000), rng.normal(size=9000)], axis=1)
    rows[::97, 2] = nan
    exact = Space(Matrix(3, ANY), AddRemove()) >> gram(kinds)
    cells = exact.image(rows)
    assert list(cells) == list(exact.image(rows[::-1]))
    whole = [[int(one) for one in np.rint(row * 2**20)] for row in Coordinates(kinds).rows(rows)]
    for (a, b), cell in list(zip(Coordinates(kinds).cells, cells, strict=True)):
        assert cell == sum(row[a] * row[b] for row in whole)


def test_A2_058_and_A2_059_least_squares_without_noise() -> None:
    x, y = np.array([0.0, 1, 2, 3]), np.array([1.0, 3, 5, 7])
    scaled = np.stack([x / 4, y / 8], axis=1)  # powers of two, so that nothing is rounded
    layout = Coordinates((0, 0))
    made = layout.matrix((sf.matrix(2) >> gram())(scaled))
    unscale = np.diag([1.0, 4.0, 8.0])
    whole = unscale @ made @ unscale
    assert whole.tolist() == [[4, 6, 16], [6, 14, 34], [16, 34, 84]]
    assert np.allclose(np.linalg.solve(whole[:2, :2], whole[:2, 2]), [1, 2])


def test_a_gram_matrix_refuses_what_it_cannot_be() -> None:
    with pytest.raises(BadArgument, match="one for each of 2 columns"):
        sf.matrix(2) >> gram([0])
    with pytest.raises(BadArgument, match="at most 2,000,000 products"):
        sf.matrix(1) >> gram([10_000])
    with pytest.raises(BadArgument, match="a matrix of floats"):
        sf.vector(float) >> gram()


def test_counts_alone_can_be_whole_numbers() -> None:
    space = Space(Matrix(2, ANY), AddRemove())
    counts = space >> gram([2, 3], pairs=[(0, 1), (1, 2)], metric=L1(), whole=True)
    rows = np.array([[0.0, 2.0], [1.0, 0.0], [1.0, 0.0], [7.0, 1.0], [nan, 1.0]])
    assert counts.image(rows).tolist() == [1, 2, 0, 0, 1, 2, 0, 0] and counts.map(1) == 2
    with pytest.raises(BadArgument, match="only counts are whole"):
        sf.matrix(2) >> gram([2, 0], pairs=[(1, 2)], whole=True)


COLUMNS: tuple[Column, ...] = (
    Number("x", Fraction(0), Fraction(4)),
    Category("c", ("a", "b")),
    Number("y", Fraction(-1), Fraction(1)),
)


Row = tuple[float | None, str | None, float]


def table(rows: list[tuple[int, float | None, str | None, float]]) -> Frame:
    data = pl.DataFrame(rows, schema={"id": pl.Int64, "x": pl.Float64, "c": pl.String, "y": pl.Float64}, orient="row")
    opened = sf.Dataset(
        data, unit=sf.Person("id"), between={"x": (0, 4), "y": (-1, 1)}, categories={"c": ["a", "b", "z"]}
    )
    return opened.session(limit=sf.Pure(10**9), ledger="memory:").table()


def exact_of(frame: Frame, made: Transformation) -> Any:
    """What a transformation of tables gives, taken out by a measurement that claims whatever it likes."""
    taken = sf.measurement(
        made.target, sf.Pure, function=lambda held, _: held, map=lambda d_in: sf.Pure(d_in), claim=sf.claim("a test")
    )
    return frame.asker.run(made >> taken, loss=None, key=None).value


def engine(frame: Frame, metric: VectorMetric, max_rows: int | None) -> Transformation:
    entries = [column.entry(frame.relation) for column in COLUMNS]
    return gram_of_tables(frame.relation, entries, frame.asker.opened, max_rows=max_rows, metric=metric)


ROWS: list[Row] = [(4.0, "a", 1.0), (0.0, "b", -1.0), (9.0, "z", 0.3)]


def test_no_person_moves_the_cells_of_the_engine_further_than_stated_and_one_moves_them_as_far() -> None:
    """All people of a small domain with up to three rows, of which two count; each alone, since others add the same."""
    furthest: dict[VectorMetric, list[Fraction]] = {metric: [] for metric in METRICS}
    for count in (1, 2, 3):
        for chosen in combinations_with_replacement(ROWS, count):
            frame = table([(7, *row) for row in chosen])
            cells = exact_of(frame, engine(frame, L1(), 2))
            for metric in METRICS:
                furthest[metric].append(length([Fraction(float(cell)) for cell in cells], metric))
    for metric, moved in furthest.items():
        stated = engine(table([]), metric, 2).map(1)
        assert max(moved) == (squared(stated) if isinstance(metric, L2) else stated)


WIDE = [(0, 4), (-1, 1), (0, 0.3), (-5, 12), (0.001, 7e5), (-1e-9, 1e-9), (-1, 3), (-2.5, -2.25)]
"""Bounds of many columns: so many that products are made in the quick way, and units with many rows are looked for."""


def test_many_columns_of_people_with_many_rows_add_up_to_the_integer() -> None:
    """Of people with n > 3 rows that lack nothing each sum is s · 3 / n, towards 0; infinities and NaN are missing."""
    rng, most = np.random.default_rng(3), 3
    columns = [Number(f"x{place}", Fraction(low), Fraction(high)) for place, (low, high) in enumerate(WIDE)]
    whose = np.repeat(np.arange(40), rng.integers(1, 9, 40))
    rows = np.stack([rng.uniform(low - (high - low), high + (high - low), len(whose)) for low, high in WIDE], axis=1)
    rows[rng.random(rows.shape) < 0.02] = nan
    rows[0, 0], rows[3, 1], rows[5, 4], rows[6, :] = inf, -inf, 1e300, [high for _, high in WIDE]
    data = pl.DataFrame({"id": whose, **{one.name: rows[:, place] for place, one in enumerate(columns)}})
    bounds = {one.name: WIDE[place] for place, one in enumerate(columns) if place % 2}
    opened = sf.Dataset(data, unit=sf.Person("id"), between=bounds | {"x0": (-100, 100)})
    frame = opened.session(limit=sf.Pure(10**9), ledger="memory:").table()
    entries = [column.entry(frame.relation) for column in columns]
    made = gram_of_tables(frame.relation, entries, frame.asker.opened, max_rows=most, metric=L1())
    layout = Coordinates((0,) * len(WIDE))
    expected = [0] * len(layout.cells)
    for person in range(40):
        held = rows[(whose == person) & np.isfinite(rows).all(axis=1)]
        encoded = np.stack([column.encode(held[:, place]) for place, column in enumerate(columns)], axis=1)
        whole = [[int(one) for one in np.rint(row * 2**20)] for row in layout.rows(encoded)]
        for place, (a, b) in enumerate(layout.cells):
            step = 2**20 if a == 0 else 1  # a sum of numbers is scaled in their own steps, and a count in rows
            step = 2**40 if b == 0 else step
            total = sum(row[a] * row[b] for row in whole) // step
            scaled = abs(total) * most // len(held) * (1 if total > 0 else -1) if len(held) > most else total
            expected[place] += scaled * step
    assert [int(Fraction(float(cell)) * 2**40) for cell in exact_of(frame, made)] == expected


def test_engine_and_core_add_up_the_same_cells() -> None:
    rng = np.random.default_rng(2)
    rows: list[tuple[int, float | None, str | None, float]] = [
        (person, float(rng.uniform(-1, 5)), str(rng.choice(["a", "b", "z"])), float(rng.uniform(-2, 2)))
        for person in range(300)
    ]
    rows += [(900, None, "a", 0.5), (901, 1.0, None, 0.5), (902, nan, "a", 0.5)]
    frame, held = table(rows), list(zip(*rows, strict=True))[1:]
    columns = [column.encode(list(values)) for column, values in zip(COLUMNS, held, strict=True)]
    core = (Space(Matrix(3, ANY), AddRemove()) >> gram([column.kind for column in COLUMNS]))(np.stack(columns, axis=1))
    assert exact_of(frame, engine(frame, L2(), 1)).tolist() == core.tolist()


def test_rows_of_a_table_are_those_of_arrays_and_a_person_has_so_many() -> None:
    rows: list[tuple[int, float | None, str | None, float]] = [
        (1, 4.0, "a", 1.0), (1, 4.0, "a", 1.0), (1, 0.0, "b", 0.0), (2, 9.0, "z", 7.0), (3, None, "a", 0.0)
    ]  # fmt: skip
    frame = table(rows)
    entries = [column.entry(frame.relation) for column in COLUMNS]
    two = rows_of_tables(frame.relation, entries, frame.asker.opened, max_rows=2)
    assert two.map(1) == 2 and two.map(3) == 6
    held = exact_of(frame, two).tolist()
    assert (
        len(held) == 3
        and [1.0, -1.0, 1.0] in held
        and all(row in ([1.0, 0.0, 1.0], [-1.0, 1.0, 0.0], [1.0, -1.0, 1.0]) for row in held)
    )
    assert len(exact_of(frame, rows_of_tables(frame.relation, entries, frame.asker.opened, max_rows=3))) == 4


def test_tables_refuse_people_without_a_bound_before_anything_is_charged() -> None:
    frame = table([(1, 1.0, "a", 0.0)])
    entries = [column.entry(frame.relation) for column in COLUMNS]
    for build in (
        lambda: engine(frame, L2(), None),
        lambda: rows_of_tables(frame.relation, entries, frame.asker.opened, max_rows=None),
    ):
        with pytest.raises(QueryRefused, match="max_rows=10"):
            build()


def test_a_release_says_what_was_asked_of_the_table() -> None:
    frame = table([(1, 1.0, "a", 0.0)])
    chosen = frame.filter(frame.x > 1)
    made = gram_of_tables(
        chosen.relation, [COLUMNS[0].entry(chosen.relation)], frame.asker.opened, max_rows=1, metric=L1()
    )
    said = frame.asker.run((made >> sf.laplace()).with_loss(sf.Pure(1)), loss=None, key=None)
    assert "x > 1" in str(said) and "at most 1 row" in str(said)

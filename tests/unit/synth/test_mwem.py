"""MWEM: the book's tables, multiplicative weights, cubes, groups of columns, and what is refused before payment."""

from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.accounting.losses.measures import ZCDP, Pure
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.synth import cube
from sfumato.synth.cube import MOST_CELLS, Cube, require_room
from sfumato.synth.graph.domain import Domain
from sfumato.synth.independent import Independent
from sfumato.synth.multiplicative import Cell, cells_of_marginals, multiplicative_weights
from sfumato.synth.mwem import MWEM, MWEMPlan, groups_of
from sfumato.synth.synthetic import Synthetic

TOY = Domain(("C1", "C2"), (3, 2))
ROWS = np.array([[0, 0], [0, 0], [0, 1], [1, 0]])
CATEGORIES = {"C1": ["A", "B", "C"], "C2": ["D", "E"]}
BOOK = pl.DataFrame({"C1": ["A", "A", "A", "B"], "C2": ["D", "D", "E", "D"]})


def people(rows: int = 4000) -> pl.DataFrame:
    """Made-up rows: b follows a nine times in ten, c is like b or drawn anew, d has nothing to do with them."""
    draw = np.random.default_rng(7)
    a = draw.integers(0, 4, rows)
    b = np.where(draw.random(rows) < 0.9, a, draw.integers(0, 4, rows))
    c = np.where(draw.random(rows) < 0.5, b % 3, draw.integers(0, 3, rows))
    return pl.DataFrame({"a": a, "b": b, "c": c, "d": draw.integers(0, 2, rows)})


KEYS = {"a": [0, 1, 2, 3], "b": [0, 1, 2, 3], "c": [0, 1, 2], "d": [0, 1]}


def apart(model: object, data: pl.DataFrame, columns: list[str]) -> float:
    """Total variation between what a model expects of columns and what rows have; codes of nothing come last."""
    expected = model.marginal(columns)  # type: ignore[attr-defined]
    counts = np.zeros_like(expected)
    np.add.at(counts, tuple(data[name].to_numpy() for name in columns), 1)
    return float(0.5 * np.abs(expected / expected.sum() - counts / len(data)).sum())


def spent(made: Synthetic) -> Fraction:
    """What all questions cost, added up."""
    return sum((Fraction(one.amounts[0]) for _, one in made.spent if isinstance(one, Pure | ZCDP)), Fraction(0))


def test_A3_037_the_toy_rows_as_a_frequency_table() -> None:
    table = Cube.of_codes(TOY, ROWS)
    assert table.counts.T.tolist() == [[2, 1, 0], [1, 0, 0]]  # D: 2, 1, 0; E: 1, 0, 0, as in Table 10-2
    assert table.total == 4 and table.marginal(["C1"]).tolist() == [3, 1, 0]
    assert table.codes().tolist() == sorted(ROWS.tolist())


def test_A3_038_the_first_table_is_uniform() -> None:
    first = Cube.uniform(TOY, 4)
    assert first.counts == pytest.approx(np.full((3, 2), 2 / 3)) and first.total == pytest.approx(4)


def test_A3_039_one_step_of_multiplicative_weights() -> None:
    first = Cube.uniform(TOY, 4).counts
    place = Cell(("C1",), (0,)).within(TOY)
    assert 3 - first[place].sum() == pytest.approx(5 / 3)
    moved = multiplicative_weights(first, [place], [3.0], most_sweeps=1).table
    assert moved[0] == pytest.approx([0.762232] * 2, abs=1e-6)
    assert moved[1:].ravel() == pytest.approx([0.618884] * 4, abs=1e-6)
    assert moved[place].sum() == pytest.approx(1.524464, abs=1e-6) and moved.sum() == pytest.approx(4)


def test_A3_040_sweeps_go_on_until_the_table_stands_still_E3_09() -> None:
    """As printed, the loop compares the table with itself and stops after one sweep."""
    first = Cube.uniform(TOY, 4).counts
    done = multiplicative_weights(first, [Cell(("C1",), (0,)).within(TOY)], [3.0])
    assert done.sweeps == 94 and done.settled
    assert done.table[0] == pytest.approx([1.5] * 2, abs=1e-3) and done.table[1:] == pytest.approx(0.25, abs=1e-3)
    assert first == pytest.approx(2 / 3)  # what was handed in stays as it was


def test_answers_that_contradict_each_other_come_to_an_end_with_all_cells_above_nothing() -> None:
    place = Cell(("C1",), (0,)).within(TOY)
    done = multiplicative_weights(Cube.uniform(TOY, 4).counts, [place, place], [50.0, -50.0], most_sweeps=30)
    assert done.sweeps <= 30 and (done.table > 0).all() and done.table.sum() == pytest.approx(4)
    wild = multiplicative_weights(Cube.uniform(TOY, 4).counts, [place], [1e12], most_sweeps=3)
    assert np.isfinite(wild.table).all() and (wild.table > 0).all()


def test_a_mask_and_a_cell_are_the_same_query() -> None:
    mask = np.zeros((3, 2), dtype=bool)
    mask[0] = True
    one = multiplicative_weights(Cube.uniform(TOY, 4).counts, [mask], [3.0])
    other = multiplicative_weights(Cube.uniform(TOY, 4).counts, [(0,)], [3.0])
    assert one.table == pytest.approx(other.table) and one.sweeps == other.sweeps


def test_cells_of_marginals_are_counting_queries() -> None:
    cells = cells_of_marginals(TOY, [("C2",), ("C1", "C2")])
    assert [one.codes for one in cells] == [(0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert Cube.of_codes(TOY, ROWS).counts[cells[1].within(TOY)].sum() == 1
    with pytest.raises(BadArgument, match="at most 1"):
        Cell(("C2",), (2,)).within(TOY)
    with pytest.raises(BadArgument, match="different columns"):
        Cell(("C2", "C2"), (0, 0)).within(TOY)


def test_A3_042_a_fifth_is_spent_before_the_first_round() -> None:
    plan = MWEMPlan(Pure("1.0"), rounds=10, before=Fraction("0.2"))
    assert plan.preprocessing == Pure("0.2") and plan.model == Pure("0.8") and plan.total == Pure(1)
    made = MWEM(epsilon=1, rounds=2, preprocessing="0.2").fit(people(), categories=KEYS, entropy=ReplayEntropy(3))
    assert made.spent[0] == ("tables", Pure("0.2"))
    assert spent(made) == 1


def test_A3_049_a_cube_that_is_too_large_is_refused_before_it_exists() -> None:
    wide = Domain(tuple(f"column {place}" for place in range(40)), (10,) * 39 + (10**6,))
    with pytest.raises(BadArgument, match=r"column 39 \(1,000,000 codes\).*fewer codes") as refused:
        Cube.uniform(wide, 10)
    assert "1e+45 cells" in str(refused.value)
    with pytest.raises(BadArgument, match=r"column 39 \(1,000,000 codes\)"):
        Cube.of_codes(wide, np.zeros((1, 40), dtype=int))
    assert require_room(Domain(("a",), (MOST_CELLS,))) == MOST_CELLS
    with pytest.raises(BadArgument, match="at most 5"):
        require_room(TOY, most_cells=5)
    frame = pl.DataFrame({f"c{place}": [0] for place in range(30)})
    keys = {name: [0, 1, 2, 3] for name in frame.columns}
    with pytest.raises(BadArgument, match="split the columns"):
        MWEM(epsilon=1, queries="cells", rounds=1).fit(frame, categories=keys, rows=1)


def test_rows_of_a_cube_are_its_counts_rounded() -> None:
    cube = Cube(TOY, np.array([[5.5, 0.0], [1.25, 1.25], [1.0, 1.0]]))
    drawn = Cube.of_codes(TOY, cube.sample(1000, ReplayEntropy(1))).counts
    assert np.abs(drawn - cube.counts * 100).max() < 1 and drawn.sum() == 1000 and drawn[0, 1] == 0
    assert cube.sample(0, ReplayEntropy(1)).shape == (0, 2)
    assert cube.graphical().marginal(["C2"]) == pytest.approx(cube.marginal(["C2"]))


def test_conditional_draws_fix_axes_and_renormalise_the_slice() -> None:
    cube = Cube(TOY, np.array([[3.0, 1.0], [0.0, 5.0], [0.0, 0.0]]))
    given = np.repeat([0, 1, 2], 100)
    drawn = cube.sample(300, ReplayEntropy(2), {"C1": given})
    assert (drawn[:, 0] == given).all()
    assert np.bincount(drawn[:100, 1]).tolist() == [75, 25] and (drawn[100:200, 1] == 1).all()
    assert np.bincount(drawn[200:, 1]).tolist() == [50, 50]  # a slice without mass: every cell as likely as another
    assert (cube.sample(4, ReplayEntropy(2), {"C1": 0, "C2": 1}) == [0, 1]).all()
    for wrong in ({"C1": 3}, {"C1": [0, 1]}, {"C1": 0.5}, {"nothing": 0}):
        with pytest.raises(BadArgument):
            cube.sample(4, ReplayEntropy(2), wrong)  # type: ignore[arg-type]


def test_cubes_that_are_none_are_refused() -> None:
    for codes in ([[0, 2]], [[-1, 0]], [[0]], [[0.5, 0]]):
        with pytest.raises(BadArgument, match="codes"):
            Cube.of_codes(TOY, np.array(codes))
    with pytest.raises(BadArgument, match="at least 0"):
        Cube(TOY, np.full((3, 2), -1.0))
    with pytest.raises(BadArgument, match="positive"):
        Cube.uniform(TOY, 0)
    with pytest.raises(BadArgument, match="whole numbers"):
        Cube.uniform(TOY, 4).codes()


def test_the_book_runs_end_to_end_in_cells() -> None:
    """At a large loss, ten answers about the toy rows are nearly exact, and the model learns them."""
    made = MWEM(epsilon=2000, queries="cells", rounds=10).fit(
        BOOK, categories=CATEGORIES, rows=4, entropy=ReplayEntropy(5)
    )
    assert made.marginal(["C1", "C2"])[:3, :2] == pytest.approx(Cube.of_codes(TOY, ROWS).counts, abs=0.35)
    assert [what for what, _ in made.spent] == ["a choice", "a cell"] * 10
    assert {loss for _, loss in made.spent} == {Pure(100)}
    assert made.sample(6, entropy=ReplayEntropy(1)).columns == ["C1", "C2"]


@pytest.mark.parametrize("loss", [Pure(3), ZCDP("0.5")], ids=str)
def test_whole_marginals_find_what_hangs_together(loss: Pure | ZCDP) -> None:
    data = people()
    made = MWEM(loss=loss).fit(data, categories=KEYS, entropy=ReplayEntropy(4))
    assert apart(made, data, ["a", "b"]) < 0.05 and apart(made, data, ["b", "c"]) < 0.05
    assert "a × b" in made.notes[0]
    assert spent(made) <= loss.amounts[0] and float(spent(made)) == pytest.approx(float(loss.amounts[0]))


def test_a_workload_says_which_tables_matter() -> None:
    made = MWEM(epsilon=5, workload=[("b", "c")]).fit(people(), categories=KEYS, entropy=ReplayEntropy(4))
    assert {one.columns for one in made.measured} == {("a",), ("b",), ("c",), ("d",), ("b", "c")}


def test_too_small_a_loss_buys_columns_alone() -> None:
    made = MWEM(epsilon="0.01").fit(people(500), categories=KEYS, entropy=ReplayEntropy(4))
    assert "by itself" in made.notes[0] and made.sample(10).shape == (10, 4)


@pytest.mark.parametrize("queries", ["marginals", "cells"])
def test_groups_of_columns_share_the_loss_and_lose_what_is_across(queries: str) -> None:
    data = people()
    recipe = MWEM(epsilon=20, split=[("b", "c"), ("a", "d")], queries=queries)  # type: ignore[arg-type]
    made = recipe.fit(data, categories=KEYS, rows=4000, entropy=ReplayEntropy(6))
    assert any("no correlation across groups is kept" in note for note in made.notes)
    across = made.marginal(["a", "b"])
    product = np.outer(made.marginal(["a"]), made.marginal(["b"])) / made.model.total
    assert across == pytest.approx(product, rel=1e-6)
    assert spent(made) <= 20
    if queries == "marginals":
        assert apart(made, data, ["b", "c"]) < 0.05


def test_groups_are_all_columns_once() -> None:
    domain = Domain(tuple("abcde"), (2,) * 5)
    assert groups_of(None, domain) == [domain.names]
    assert [len(group) for group in groups_of(2, domain)] == [2, 3] and groups_of(5, domain)[4] == ("e",)
    assert groups_of([("c", "a"), ("b", "e", "d")], domain) == [("a", "c"), ("b", "d", "e")]
    for wrong in (0, 6, [("a",)], [("a", "b"), ("b", "c", "d", "e")], [tuple("abcde"), ()], ["ab", "cde"], "abcde"):
        with pytest.raises(BadArgument):
            groups_of(wrong, domain)


@pytest.mark.parametrize(
    ("recipe", "told"),
    [
        (MWEM(epsilon=1, rounds=0), "at least 1"),
        (MWEM(epsilon=1, workload=[("a", "nothing")]), "nothing"),
        (MWEM(epsilon=1, split=9), "at most 4"),
        (MWEM(epsilon=1, preprocessing=1), "below 1"),
        (MWEM(epsilon=1, preprocessing=0), "above 0"),
        (MWEM(epsilon=1, queries="rows"), "'marginals' or 'cells'"),  # type: ignore[arg-type]
        (MWEM(epsilon=1, most_cells=0), "at least 1"),
        (MWEM(), "loss"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_cannot_be_done_is_refused_before_anything_is_asked(recipe: MWEM, told: str) -> None:
    with pytest.raises(BadArgument, match=told):
        recipe.fit(people(10), categories=KEYS)


@pytest.mark.parametrize(
    "recipe", [MWEM(epsilon=1), MWEM(epsilon=1, queries="cells", rounds=3)], ids=["whole", "cells"]
)
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows_and_constant_columns_are_data_like_any_other(recipe: MWEM, rows: int) -> None:
    data = pl.DataFrame({"a": [1] * rows, "b": ["x"] * rows}, schema={"a": pl.Int64, "b": pl.String})
    made = recipe.fit(data, categories={"a": [1], "b": ["x", "y"]})
    assert made.sample(7).shape == (7, 2)


def test_a_column_of_many_categories_is_no_obstacle_for_marginals() -> None:
    data = pl.DataFrame({"a": [5, 6, 7], "b": [0, 1, 1]})
    made = MWEM(epsilon=1).fit(data, categories={"a": list(range(3_000)), "b": [0, 1]})
    assert made.sample(5).shape == (5, 2)


def test_plans_that_are_none_are_refused() -> None:
    with pytest.raises(BadArgument, match="at least 1"):
        MWEMPlan(Pure(1), rounds=0)
    with pytest.raises(BadArgument, match="below 1"):
        MWEMPlan(Pure(1), rounds=1, before=Fraction(1))
    with pytest.raises(BadArgument, match="Pure"):
        _ = MWEMPlan(ZCDP(1), rounds=1).laplace_scale
    with pytest.raises(BadArgument, match="rounds alone"):
        _ = MWEMPlan(Pure(1), rounds=1, before=Fraction(1, 2)).zcdp
    assert MWEMPlan(ZCDP(1), rounds=5).each == ZCDP("0.1")


def test_what_moves_and_draws_from_tables_sees_no_data_and_no_noise() -> None:
    allowed = ("sfumato.entropy", "sfumato.errors", "sfumato.exact", "sfumato.synth.graph.")
    for module in ("cube", "multiplicative", "bayesian_network"):
        tree = ast.parse((Path(cube.__file__).parent / f"{module}.py").read_text())
        named = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        ours = [name for name in named if name.startswith("sfumato")]
        assert ours and all(name.startswith(allowed) for name in ours)


@pytest.mark.parametrize(
    "recipe", [MWEM(loss=Pure(5), rounds=2), MWEM(loss=Pure(5), queries="cells", rounds=3)], ids=["whole", "cells"]
)
def test_a_table_behind_a_ledger_is_charged_once_for_all_rounds(recipe: MWEM) -> None:
    """People have up to three rows, so noise is three times what it is for rows that are held."""
    data = people(3000).with_columns(id=pl.Series(np.arange(3000) // 3))
    opened = sf.Dataset(data, unit="id", categories=KEYS)
    session = opened.session(limit=Pure(12), ledger="memory:")
    made = recipe.fit(session.table(), max_rows=3, key="one run")
    assert session.spent == Pure(5) and made.release is not None and spent(made) <= 5
    held = recipe.fit(people(3000), categories=KEYS, rows=3000 if recipe.queries == "cells" else None)
    again = recipe.fit(session.table(), max_rows=3, key="one run")
    assert session.spent == Pure(5)
    assert (again.measured[-1].counts == made.measured[-1].counts).all()
    if recipe.queries == "marginals":
        assert made.measured[0].deviation == pytest.approx(3 * held.measured[0].deviation, rel=1e-6)


@pytest.mark.slow
def test_A3_048_errors_fall_as_epsilon_grows_and_coarser_tables_are_smaller() -> None:
    data = people()
    coarse = data.select(pl.col("a", "b") // 2, "c", "d")
    keys = KEYS | {"a": [0, 1], "b": [0, 1]}
    errors = {
        epsilon: apart(MWEM(epsilon=epsilon).fit(data, categories=KEYS, entropy=ReplayEntropy(1)), data, ["a", "b"])
        for epsilon in ("0.01", "0.1", "1", "10")
    }
    assert errors["10"] < errors["1"] < errors["0.1"] and errors["1"] < errors["0.01"]
    fine = MWEM(epsilon=1).fit(data, categories=KEYS, entropy=ReplayEntropy(1))
    cut = MWEM(epsilon=1).fit(coarse, categories=keys, entropy=ReplayEntropy(1))
    assert cut.schema.domain.size() < fine.schema.domain.size()
    assert min(cut.sample(500)[name].n_unique() for name in cut.columns) > 1  # no column has collapsed


@pytest.mark.slow
def test_pairs_are_nearer_than_those_of_columns_alone_where_there_is_something_to_find() -> None:
    data = people(10_000)
    pairs = [["a", "b"], ["b", "c"], ["a", "c"], ["a", "d"]]
    whole = MWEM(epsilon=1).fit(data, categories=KEYS, entropy=ReplayEntropy(2))
    alone = Independent(epsilon=1).fit(data, categories=KEYS, entropy=ReplayEntropy(2))
    ours, theirs = (sum(apart(made, data, pair) for pair in pairs) for made in (whole, alone))
    assert ours < theirs / 5

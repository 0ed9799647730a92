"""PrivBayes: networks, rows in their order, structures that are given or chosen, shares, and what is refused."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.accounting.losses.measures import ZCDP, Pure
from sfumato.core.domains import Array
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.synth.bayesian_network import BayesianNetwork, Network, Part
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.measured import Measured
from sfumato.synth.privbayes import PrivBayes, fitted_network
from sfumato.synth.synthetic import Synthetic

NAMES = ("Sex", "Vet", "Region", "Age", "Educ", "Occupation", "Income")
BOOK = (
    Part(("Sex", "Vet")),
    Part(("Region", "Age", "Educ")),
    Part(("Occupation",), ("Educ",)),
    Part(("Income",), ("Region", "Educ", "Occupation")),
)
KEYS = {"a": [0, 1, 2, 3], "b": [0, 1, 2, 3], "c": [0, 1, 2], "d": [0, 1]}


def people(rows: int = 4000) -> pl.DataFrame:
    """Made-up rows: b follows a nine times in ten, c is like b or drawn anew, d has nothing to do with them."""
    draw = np.random.default_rng(7)
    a = draw.integers(0, 4, rows)
    b = np.where(draw.random(rows) < 0.9, a, draw.integers(0, 4, rows))
    c = np.where(draw.random(rows) < 0.5, b % 3, draw.integers(0, 3, rows))
    return pl.DataFrame({"a": a, "b": b, "c": c, "d": draw.integers(0, 2, rows)})


def apart(model: object, data: pl.DataFrame, columns: list[str]) -> float:
    """Total variation between what a model expects of columns and what rows have; codes of nothing come last."""
    expected = model.marginal(columns)  # type: ignore[attr-defined]
    counts = np.zeros_like(expected)
    np.add.at(counts, tuple(data[name].to_numpy() for name in columns), 1)
    return float(0.5 * np.abs(expected / expected.sum() - counts / len(data)).sum())


def spent(made: Synthetic) -> Fraction:
    """What all questions cost, added up."""
    return sum((Fraction(one.amounts[0]) for _, one in made.spent if isinstance(one, Pure | ZCDP)), Fraction(0))


def network_of(domain: Domain, parts: tuple[Part, ...]) -> BayesianNetwork:
    """A network with made-up tables."""
    draw, network = np.random.default_rng(3), Network(domain, parts)
    tables = [draw.dirichlet(np.ones(domain.size(part.columns))) for part in parts]
    shaped = [table.reshape(domain.shape(part.columns)) for table, part in zip(tables, parts, strict=True)]
    return BayesianNetwork(network, tuple(shaped), 1000.0)


def whole_table(model: BayesianNetwork) -> Array:
    """What the product of the conditional tables is, worked out cell by cell."""
    table = np.zeros(model.domain.sizes)
    for cell in np.ndindex(*model.domain.sizes):
        codes, chance = dict(zip(model.domain.names, cell, strict=True)), 1.0
        for part, weights in zip(model.network.parts, model.tables, strict=True):
            given = weights[tuple(codes[name] for name in part.given)]
            chance *= given[tuple(codes[name] for name in part.new)] / given.sum()
        table[cell] = chance
    return table


def test_A3_043_the_largest_part_has_16_cells_instead_of_128() -> None:
    domain = Domain(NAMES, (2,) * 7)
    assert domain.size() == 128 and Network(domain, BOOK).largest == 16


def test_A3_044_a_row_is_filled_part_by_part_as_in_table_10_4() -> None:
    """Sex and Vet; then Region, Age and Educ; then Occupation given Educ; then Income given three of them."""
    domain = Domain(NAMES, (2, 2, 4, 9, 5, 6, 8))
    model = network_of(domain, BOOK)
    filled, pattern = set[str](), []
    for part in model.network.parts:
        assert set(part.given) <= filled
        filled |= set(part.new)
        pattern.append([name in filled for name in NAMES])
    assert [sum(row) for row in pattern] == [2, 5, 6, 7]
    assert model.network.order == NAMES
    drawn = model.sample(200_000, ReplayEntropy(1))
    assert drawn.shape == (200_000, 7) and drawn.dtype == np.uint8
    for part in BOOK:
        counts = np.zeros(domain.shape(part.columns))
        np.add.at(counts, tuple(drawn[:, axis] for axis in domain.axes(part.columns)), 1)
        expected = model.marginal(part.columns)
        assert 0.5 * np.abs(counts / counts.sum() - expected / expected.sum()).sum() < 0.03


def test_marginals_and_conditions_of_a_network_are_those_of_its_whole_table() -> None:
    domain = Domain(("a", "b", "c", "d"), (3, 2, 4, 2))
    model = network_of(domain, (Part(("c",)), Part(("a",), ("c",)), Part(("b", "d"), ("a", "c"))))
    whole = 1000 * whole_table(model)
    assert model.marginal(["d", "a"]) == pytest.approx(whole.sum(axis=(1, 2)).T)
    assert model.marginal(["c"]) == pytest.approx(whole.sum(axis=(0, 1, 3))) and model.marginal(()) == pytest.approx(
        1000
    )
    assert model.graphical().marginal(domain.names) == pytest.approx(whole)
    drawn = model.sample(50_000, ReplayEntropy(2), {"d": 1})
    assert (drawn[:, 3] == 1).all()
    shares = whole[..., 1].sum(axis=(1, 2)) / whole[..., 1].sum()
    assert np.bincount(drawn[:, 0], minlength=3) / 50_000 == pytest.approx(shares, abs=0.01)


def test_columns_of_one_parent_are_independent_given_it() -> None:
    """Values are dealt out in an order of their own for every column: none follows another by the order of rows."""
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    even = np.full((2, 2), 0.5)
    network = Network.of(domain, {"b": ["a"], "c": ["a"]})
    drawn = BayesianNetwork(network, (np.ones(2), even, even), 10.0).sample(40_000, ReplayEntropy(5))
    counts = np.bincount(drawn[:, 1] * 2 + drawn[:, 2], minlength=4)
    assert np.abs(counts - 10_000).max() < 6 * 100


def test_weights_of_nothing_are_even() -> None:
    domain = Domain(("a", "b"), (2, 4))
    network = Network.of(domain, {"b": ["a"]})
    tables = (np.array([1.0, 1.0]), np.array([[0.0] * 4, [0, 0, 3, 1]]))
    drawn = BayesianNetwork(network, tables, 8.0).sample(800, ReplayEntropy(1))
    assert np.bincount(drawn[drawn[:, 0] == 0, 1]).tolist() == [100] * 4
    assert np.bincount(drawn[drawn[:, 0] == 1, 1], minlength=4).tolist() == [0, 0, 300, 100]


def test_a_network_comes_back_from_plain_numbers() -> None:
    model = network_of(Domain(NAMES, (2,) * 7), BOOK)
    again = BayesianNetwork.from_plain(model.plain())
    assert again.network == model.network and again.total == model.total
    assert all((one == other).all() for one, other in zip(model.tables, again.tables, strict=True))
    with pytest.raises(BadArgument, match="plain"):
        BayesianNetwork.from_plain({"names": ["a"]})


def test_networks_with_circles_or_unknown_columns_are_refused() -> None:
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    assert [part.new[0] for part in Network.of(domain, {"a": ["c"], "c": ["b"]}).parts] == ["b", "c", "a"]
    for parents, told in (
        ({"a": ["b"], "b": ["c"], "c": ["a"]}, "circles.*a, b, c"),
        ({"a": ["a"]}, "circles"),
        ({"a": ["z"]}, "a, b, c"),
        ({"z": ["a"]}, "a, b, c"),
        ({"a": "b"}, "a list of columns"),
    ):
        with pytest.raises(BadArgument, match=told):
            Network.of(domain, parents)
    for parts, told in (
        ((Part(("a",)),), "also b, c"),
        ((Part(("a",), ("b",)), Part(("b", "c"))), "draw b earlier"),
        ((Part(("a", "b", "c")), Part(("a",))), "new in one"),
        ((Part(("a", "b", "c")), Part(())), "new in one"),
    ):
        with pytest.raises(BadArgument, match=told):
            Network(domain, parts)
    network = Network(domain, (Part(("a", "b", "c")),))
    for tables, total in (((np.ones(8),), 1.0), ((np.full((2, 2, 2), -1.0),), 1.0), ((np.ones((2, 2, 2)),), 0.0)):
        with pytest.raises(BadArgument):
            BayesianNetwork(network, tables, total)


@pytest.mark.parametrize("score", ["departure", "information"])
@pytest.mark.parametrize("loss", [Pure(6), ZCDP(2)], ids=str)
def test_a_chosen_structure_finds_what_hangs_together(loss: Pure | ZCDP, score: str) -> None:
    data = people()
    made = PrivBayes(loss=loss, score=score).fit(data, categories=KEYS, entropy=ReplayEntropy(4))  # type: ignore[arg-type]
    assert apart(made, data, ["a", "b"]) < 0.05 and apart(made, data, ["b", "c"]) < 0.08
    assert "b given a" in made.notes[0]
    assert made.sample(100, given={"d": 1}, entropy=ReplayEntropy(1))["d"].to_list() == [1] * 100


@pytest.mark.parametrize("loss", [Pure(1), ZCDP("0.1")], ids=str)
def test_structure_and_tables_share_the_loss_as_stated(loss: Pure | ZCDP) -> None:
    made = PrivBayes(loss=loss, share="0.3").fit(people(), categories=KEYS, entropy=ReplayEntropy(4))
    chosen = [one for what, one in made.spent if what == "a choice"]
    assert chosen == [type(loss)(loss.amounts[0] / 10)] * 3
    assert spent(made) == loss.amounts[0]


def test_a_structure_that_is_given_costs_nothing() -> None:
    data = people()
    for structure in ({"b": ["a"], "c": ["b"]}, [Part(("a", "b")), Part(("c",), ("b",)), Part(("d",))]):
        made = PrivBayes(epsilon=3, structure=structure).fit(data, categories=KEYS, entropy=ReplayEntropy(4))
        assert made.spent == (("tables", Pure(3)),)
        assert {one.columns for one in made.measured} == {("a", "b"), ("b", "c"), ("d",)}
        assert apart(made, data, ["a", "b"]) < 0.05 and apart(made, data, ["a", "c"]) < 0.05


def test_few_rows_have_few_parents_and_too_few_have_none() -> None:
    """Which tables are useful follows from the number of rows and the noise; what is not spent on choices is left."""
    made = PrivBayes(epsilon="0.05").fit(people(300), categories=KEYS, entropy=ReplayEntropy(4))
    assert "given" not in made.notes[0] and "a choice" not in [what for what, _ in made.spent]
    assert spent(made) == Pure("0.05").amounts[0]
    rich = PrivBayes(epsilon=50).fit(people(), categories=KEYS, entropy=ReplayEntropy(4))
    assert max(len(one.columns) for one in rich.measured) == 4
    poor = PrivBayes(epsilon=50, parents=1).fit(people(), categories=KEYS, entropy=ReplayEntropy(4))
    assert max(len(one.columns) for one in poor.measured) == 2


def test_a_model_that_is_too_large_for_one_fit_is_fitted_part_by_part() -> None:
    """Two parents of d hang together in the moral graph: 16 cells for all, 8 for the largest part."""
    domain = Domain(("a", "b", "c", "d"), (2, 2, 2, 2))
    network = Network.of(domain, {"b": ["a"], "c": ["a"], "d": ["b", "c"]})
    whole = np.arange(1.0, 17.0).reshape(2, 2, 2, 2)
    cliques = [("a", "b"), ("a", "c"), ("b", "c", "d")]
    measured = [
        Measured(one, whole.sum(axis=tuple(axis for axis in range(4) if domain.names[axis] not in one)), 0.1)
        for one in cliques
    ]
    expected = [whole.sum(axis=(1, 2, 3)), whole.sum(axis=(2, 3)), whole.sum(axis=(1, 3)), whole.sum(axis=0)]
    for most in (100, 10):
        made = fitted_network(network, measured, whole.sum(), most)
        for table, wanted in zip(made.tables, expected, strict=True):
            assert table == pytest.approx(wanted, abs=0.2)
        assert made.sample(10, ReplayEntropy(1)).shape == (10, 4)
    with pytest.raises(BadArgument, match="at most 10 cells"):
        fitted_network(network, measured, whole.sum(), 10).marginal(["a", "d"])


def test_a_table_behind_a_ledger_is_charged_once_for_structure_and_tables() -> None:
    data = people(3000).with_columns(id=pl.Series(np.arange(3000) // 3))
    session = sf.Dataset(data, unit="id", categories=KEYS).session(limit=ZCDP(2), ledger="memory:")
    made = PrivBayes(loss=ZCDP(1)).fit(session.table(), max_rows=3, key="a network")
    assert session.spent == ZCDP(1) and spent(made) == 1 and "given" in made.notes[0]
    again = PrivBayes(loss=ZCDP(1)).fit(session.table(), max_rows=3, key="a network")
    assert session.spent == ZCDP(1) and again.notes == made.notes
    with pytest.raises(BadArgument, match="circles"):
        PrivBayes(loss=ZCDP(1), structure={"a": ["b"], "b": ["a"]}).fit(session.table(), max_rows=3)
    assert session.spent == ZCDP(1)


@pytest.mark.parametrize(
    ("recipe", "told"),
    [
        (PrivBayes(epsilon=1, share=0), "above 0"),
        (PrivBayes(epsilon=1, share=1), "below"),
        (PrivBayes(epsilon=1, parents=0), "at least 1"),
        (PrivBayes(epsilon=1, score="entropy"), "'departure' or 'information'"),  # type: ignore[arg-type]
        (PrivBayes(epsilon=1, useful=-1), "at least 0"),
        (PrivBayes(epsilon=1, structure={"a": ["z"]}), "a, b, c, d"),
        (PrivBayes(epsilon=1, structure={"a": ["b"], "b": ["a"]}), "circles"),
        (PrivBayes(epsilon=1, structure="a"), "parents by column"),  # type: ignore[arg-type]
        (PrivBayes(epsilon=1, structure={"a": ["b", "c"]}, most_cells=50), "at most 50 cells"),
        (PrivBayes(), "loss"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_cannot_be_done_is_refused_before_anything_is_asked(recipe: PrivBayes, told: str) -> None:
    with pytest.raises(BadArgument, match=told):
        recipe.fit(people(10), categories=KEYS)


@pytest.mark.parametrize("rows", [0, 1, 2])
@pytest.mark.parametrize("columns", [("a",), ("a", "b")])
def test_few_rows_and_constant_columns_are_data_like_any_other(rows: int, columns: tuple[str, ...]) -> None:
    held = {"a": pl.Series("a", [1] * rows, pl.Int64), "b": pl.Series("b", ["x"] * rows, pl.String)}
    data = pl.DataFrame([held[name] for name in columns])
    keys: dict[str, list[Hashable]] = {"a": [1], "b": ["x", "y"]}
    made = PrivBayes(epsilon=1).fit(data, categories={name: keys[name] for name in columns})
    assert made.sample(7).shape == (7, len(columns))


def test_a_column_of_many_categories_stands_alone() -> None:
    data = pl.DataFrame({"a": [5, 6, 7], "b": [0, 1, 1]})
    made = PrivBayes(epsilon=1).fit(data, categories={"a": list(range(3_000)), "b": [0, 1]})
    assert made.sample(5).shape == (5, 2)

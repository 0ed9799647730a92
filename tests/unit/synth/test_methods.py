"""Methods on tables behind a ledger and on rows that one holds: what they cost, what they keep, what they refuse."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import AccountRefused, BadArgument, LimitReached
from sfumato.synth.asking import held_questions, spendable_of
from sfumato.synth.graph.domain import Domain
from sfumato.synth.workloads import read_workload, subsets_of

SIZES = {"a": 3, "b": 4, "c": 2, "d": 5}
LISTS = {name: list(range(size)) for name, size in SIZES.items()}
LIMIT = sf.Approx(100, 1e-6)
METHODS = [sf.synth.Independent, sf.synth.MST, sf.synth.AIM]


def people(rows: int = 6000) -> pl.DataFrame:
    """Columns of which b follows a, d follows b, and c goes with nothing."""
    rng = np.random.default_rng(7)
    a = rng.integers(0, 3, rows)
    b = np.where(rng.random(rows) < 0.8, a, rng.integers(0, 4, rows))
    d = np.where(rng.random(rows) < 0.7, b + 1, rng.integers(0, 5, rows))
    return pl.DataFrame({"id": np.arange(rows), "a": a, "b": b, "c": rng.integers(0, 2, rows), "d": d})


def session(rows: int = 6000, limit: sf.Loss = LIMIT) -> sf.Session:
    data = sf.Dataset(people(rows), unit=sf.Person("id"), categories=LISTS, name="people")
    return data.session(limit=limit, ledger="memory:")


def error(made: pl.DataFrame, real: pl.DataFrame) -> float:
    """The mean total variation distance of all pairs of columns."""
    found = []
    for pair in combinations(SIZES, 2):
        tables = []
        for table in (made, real):
            counts = np.zeros((SIZES[pair[0]], SIZES[pair[1]]))
            np.add.at(counts, tuple(table[name].to_numpy() for name in pair), 1)
            tables.append(counts / len(table))
        found.append(np.abs(tables[0] - tables[1]).sum() / 2)
    return float(np.mean(found))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loss", [sf.Pure(1), sf.ZCDP("0.05"), sf.Approx(1, "1e-9")])
def test_a_fit_costs_what_is_stated_and_not_a_bit_more(method: type[sf.synth.Synthesizer], loss: sf.Loss) -> None:
    asked = session(limit=loss)
    made = method(loss=loss).fit(asked.table(), max_rows=1)
    assert made.release is not None and made.release.loss == loss
    spent = sum((one.amounts[0] for _, one in made.spent), sf.Pure(0).amounts[0])
    assert spent == spendable_of(loss).amounts[0]
    with pytest.raises(LimitReached):
        method(loss=loss).fit(asked.table(), max_rows=1)


@pytest.mark.parametrize("method", METHODS)
def test_rows_are_like_those_of_the_table_in_types_and_values(method: type[sf.synth.Synthesizer]) -> None:
    made = method(epsilon=20, delta=1e-9).fit(session().table(), max_rows=1)
    rows = made.sample(500)
    assert rows.columns == list(SIZES) and len(rows) == 500 and rows.schema == people(1).drop("id").schema
    assert all(set(rows[name].drop_nulls()) <= set(LISTS[name]) for name in SIZES)
    assert abs(made.rows - 6000) < 100


@pytest.mark.parametrize("method", [sf.synth.MST, sf.synth.AIM])
def test_what_columns_have_to_do_with_each_other_is_kept(method: type[sf.synth.Synthesizer]) -> None:
    real = people().drop("id")
    alone = sf.synth.Independent(epsilon=5, delta=1e-9).fit(session().table(), max_rows=1).sample(6000).drop_nulls()
    made = method(epsilon=5, delta=1e-9).fit(session().table(), max_rows=1).sample(6000).drop_nulls()
    assert error(made, real) < 0.04 < 0.1 < error(alone, real)


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_one_holds_are_fitted_uncharged(method: type[sf.synth.Synthesizer]) -> None:
    made = method(loss=sf.ZCDP(1)).fit(people().drop("id"), categories=LISTS, entropy=ReplayEntropy(3))
    assert made.release is None and "[uncharged]" in str(made)
    again = method(loss=sf.ZCDP(1)).fit(people().drop("id"), categories=LISTS, entropy=ReplayEntropy(3))
    assert all(np.array_equal(one.counts, two.counts) for one, two in zip(made.measured, again.measured, strict=True))


def test_a_condition_fixes_values_and_what_goes_with_them() -> None:
    made = sf.synth.MST(epsilon=20, delta=1e-9).fit(session().table(), max_rows=1)
    rows = made.sample(4000, given={"a": 2})
    assert set(rows["a"]) == {2} and 0.7 < (rows["b"] == 2).mean() < 0.95
    each = made.sample(3, given={"c": [0, 1, 1]}, form="arrow")
    assert each["c"].to_pylist() == [0, 1, 1]
    for wrong in (9, [0, 9, 1]):
        with pytest.raises(BadArgument, match="a value of a"):
            made.sample(3, given={"a": wrong})
    assert made.sample(3, given={"a": None})["a"].null_count() == 3


def test_a_key_answers_from_the_book_and_another_recipe_is_refused() -> None:
    asked = session()
    first = sf.synth.MST(epsilon=1, delta=1e-9).fit(asked.table(), max_rows=1, key="spring")
    left = asked.left
    again = sf.synth.MST(epsilon=1, delta=1e-9).fit(asked.table(), max_rows=1, key="spring")
    assert asked.left == left
    assert all(np.array_equal(one.counts, two.counts) for one, two in zip(first.measured, again.measured, strict=True))
    with pytest.raises(AccountRefused, match="key"):
        sf.synth.AIM(epsilon=1, delta=1e-9).fit(asked.table(), max_rows=1, key="spring")


def test_people_with_any_number_of_rows_need_a_bound() -> None:
    with pytest.raises(sf.errors.QueryRefused, match="max_rows"):
        sf.synth.MST(epsilon=1).fit(session().table())


def test_an_explanation_tells_the_price_and_spends_nothing() -> None:
    asked = session()
    explained = sf.synth.AIM(loss=sf.Approx(1, 1e-9)).explain(asked.table(), max_rows=1)
    assert explained.price == sf.Approx(1, 1e-9) and asked.spent == sf.Approx(0, 0)


def test_questions_stop_where_the_loss_ends() -> None:
    domain = Domain(("a", "b"), (2, 3))
    codes = np.zeros((10, 2))
    asked = held_questions(codes, domain, sf.ZCDP(1), rows=None, entropy=ReplayEntropy(1))
    [one] = asked.noisy([("a", "b")], asked.share(1))
    assert one.counts.shape == (2, 3) and asked.left == sf.ZCDP(0)
    with pytest.raises(BadArgument, match="what is left"):
        asked.noisy([("a",)], sf.ZCDP("0.001"))
    with pytest.raises(BadArgument, match="order of the domain"):
        held_questions(codes, domain, sf.Pure(1), rows=None, entropy=None).noisy([("b", "a")], sf.Pure(1))


def test_noise_on_tables_has_the_deviation_that_is_stated() -> None:
    domain = Domain(("a", "b"), (40, 50))
    for loss in (sf.Pure(1), sf.ZCDP("0.125")):
        asked = held_questions(np.zeros((0, 2)), domain, loss, rows=None, entropy=ReplayEntropy(5))
        measured = asked.noisy([("a",), ("a", "b")], loss)
        noise = measured[1].counts.ravel()
        assert abs(noise.std() / measured[1].deviation - 1) < 0.08  # 4 standard errors of 2,000 draws; 25 % off fails
        assert measured[1].deviation == pytest.approx(2 * np.sqrt(2))  # √2 · 2 / 1, and √2 / √(2 · 0.125)


def test_workloads_are_read_as_sets_in_the_order_of_the_domain() -> None:
    domain = Domain(("a", "b", "c"), (2, 3, 4))
    assert list(read_workload(None, domain)) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert read_workload({("c", "a"): 2.0, ("b",): 1.0}, domain) == {("a", "c"): 2.0, ("b",): 1.0}
    assert subsets_of({("a", "b"): 1.0}, domain) == {("a",): 1.0, ("b",): 1.0, ("a", "b"): 2.0}
    for wrong in ([("z",)], ["ab"], [], {("a",): -1.0}, [()]):
        with pytest.raises(BadArgument, match="workload"):
            read_workload(wrong, domain)  # type: ignore[arg-type]


def test_a_workload_of_ones_own_is_what_aim_looks_at() -> None:
    made = sf.synth.AIM(epsilon=3, delta=1e-9, workload=[("a", "d")]).fit(session().table(), max_rows=1)
    assert {one.columns for one in made.measured if len(one.columns) > 1} == {("a", "d")}
    with pytest.raises(BadArgument, match="workload"):
        sf.synth.AIM(epsilon=1, workload=[("a", "z")]).fit(session().table(), max_rows=1)


def test_one_person_with_very_many_rows_moves_no_more_than_the_bound() -> None:
    rows = pl.concat([people(500), people(500).with_columns(id=pl.lit(10**6), a=pl.lit(0)).cast(people(1).schema)])
    data = sf.Dataset(rows, unit=sf.Person("id"), categories=LISTS, name="people")
    asked = data.session(limit=sf.Approx(10**9, 1e-6), ledger="memory:")
    made = sf.synth.Independent(loss=sf.Pure(10**8)).fit(asked.table(), max_rows=2)
    assert made.rows == 502


def test_noise_grows_with_the_rows_of_a_person() -> None:
    asked = session()
    deviations = [
        sf.synth.Independent(loss=sf.ZCDP(1)).fit(asked.table(), max_rows=rows).measured[0].deviation for rows in (1, 3)
    ]
    assert deviations[1] == pytest.approx(3 * deviations[0])

"""Columns with fewer keys: stated or bought, the same in memory and in the engine, and values again after sampling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato import synth
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.synth.reducing import ReducedColumn, bought_reduction, reduced
from sfumato.synth.saving import load, save
from sfumato.synth.schema import Schema, schema_of_rows, schema_of_table

CITIES = ["Vinci", "Milan", "Rome", "Florence", "Siena", "Pisa"]
KNOWN: dict[str, Any] = {"between": {"age": (0, 80)}, "categories": {"city": CITIES}, "bins": {"age": 8}}


def people(rows: int = 900) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    city = rng.choice([*CITIES, None], rows, p=[0.4, 0.05, 0.3, 0.05, 0.1, 0.05, 0.05])
    return pl.DataFrame({"age": rng.uniform(0, 80, rows), "city": city})


def schema() -> Schema:
    return schema_of_rows(people(), **KNOWN)


def one(found: Schema, name: str) -> ReducedColumn:
    column = found[name]
    assert isinstance(column, ReducedColumn)
    return column


def test_P3_070_every_column_has_at_most_four_keys() -> None:
    found = reduced(schema(), shares={"city": np.array([5, 1, 4, 2, 3, 0, 0.5])})
    assert found.schema.domain.sizes == (4, 4)
    assert one(found.schema, "city").labels == ["Vinci", "Rome", "Siena", "other"]
    assert one(found.schema, "age").labels == ["0 … 30", "30 … 50", "50 … 80", "missing"]
    assert "stated, and free" in found.to_text()


def test_values_are_stated_and_all_others_are_one() -> None:
    found = one(reduced(schema(), keep={"city": ["Rome"]}).schema, "city")
    assert found.labels == ["Rome", "other"]
    assert found.encode(["Rome", "Vinci", None, "Paris"]).tolist() == [0, 1, 1, 1]
    strict = schema_of_rows(people().drop_nulls(), **KNOWN)
    assert one(reduced(strict, most=3).schema, "city").encode(["Vinci", "Milan", "Pisa"]).tolist() == [0, 1, 2]


def test_columns_with_few_codes_stay_as_they_are() -> None:
    assert reduced(schema(), most=20).schema == schema()


def test_values_come_back_after_sampling_and_the_rest_as_common_as_it_is() -> None:
    weights = np.array([40.0, 0.0, 30.0, 0.0, 20.0, 10.0, 0.0])
    column = one(reduced(schema(), most=3, shares={"city": weights}).schema, "city")
    values = column.decode(np.repeat([0, 1, 2], 3000), ReplayEntropy(1)).to_pylist()
    assert set(values[:3000]) == {"Vinci"} and set(values[3000:6000]) == {"Rome"}
    assert set(values[6000:]) == {"Siena", "Pisa"}
    assert abs(values[6000:].count("Siena") / 3000 - 2 / 3) < 0.04
    again = column.encode(values)
    assert again.tolist() == np.repeat([0, 1, 2], 3000).tolist()


def test_ranges_part_groups_and_bins_that_are_partly_in_them() -> None:
    column = one(reduced(schema()).schema, "age")
    assert column.labels == ["0 … 30", "30 … 50", "50 … 80", "missing"]
    assert column.within([(0, 35)]).tolist() == [True, False, False, False]
    finer = column.cut([(0, 35)])
    assert finer.within([(0, 35)]).any() and finer.size > column.size
    for age in (12.0, 33.0, 36.0, 70.0):
        assert bool(finer.within([(0, 35)])[finer.place(age)]) == (age < 35)


def test_keys_are_bought_and_the_fit_is_of_fewer_cells(tmp_path: Path) -> None:
    bought = bought_reduction(people(), schema(), loss=sf.ZCDP(1), entropy=ReplayEntropy(3))
    assert one(bought.schema, "city").labels == ["Vinci", "Rome", "Siena", "other"]
    assert "[uncharged]" in bought.to_text()
    fitted = synth.MST(loss=sf.ZCDP(1)).fit(people(), schema=bought.schema, entropy=ReplayEntropy(4))
    assert fitted.schema.domain.sizes == (4, 4)
    drawn = fitted.sample(2000, entropy=ReplayEntropy(5))
    assert set(drawn["city"].drop_nulls()) <= set(CITIES) and len(set(drawn["city"])) > 4
    assert abs((drawn["city"] == "Vinci").mean() - 0.4) < 0.05
    save(fitted, tmp_path / "people.json")
    again = load(tmp_path / "people.json")
    assert again.schema == fitted.schema and again.sample(2000, entropy=ReplayEntropy(5)).equals(drawn)


def test_the_engine_counts_groups_as_memory_does_and_charges_for_keys() -> None:
    frame = people(500).with_row_index("id")
    data = sf.Dataset(frame, unit="id", between=KNOWN["between"], categories=KNOWN["categories"])
    session = data.session(limit=sf.ZCDP(10**9), ledger="memory:")
    whole = schema_of_table(session.table(), bins={"age": 8})
    bought = bought_reduction(session.table(), whole, loss=sf.ZCDP(10**8), max_rows=1, key="keys")
    assert session.spent == sf.ZCDP(10**8) and "[uncharged]" not in bought.to_text()
    fitted = synth.Independent(loss=sf.ZCDP(10**8)).fit(session.table(), schema=bought.schema, max_rows=1, key="fit")
    for measured in fitted.measured:
        column = bought.schema[measured.columns[0]]
        codes = column.encode(frame[column.name].to_list())
        assert np.rint(measured.counts).tolist() == np.bincount(codes, minlength=column.size).tolist()


@pytest.mark.parametrize(
    "wrong",
    [
        {"most": 1},
        {"keep": {"town": ["Rome"]}},
        {"keep": {"city": CITIES}},
        {"keep": {"city": ["Rome", "Rome"]}},
        {"shares": {"city": np.ones(3)}},
    ],
)
def test_bad_input_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadArgument):
        reduced(schema(), **wrong)

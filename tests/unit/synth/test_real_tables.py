"""Tables that nobody here made, through every kind of source: at a huge loss, marginals are those of the data."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from tests.examples.real_tables import FLIGHTS, PENGUINS

import sfumato as sf
from sfumato.synth.columns import BinnedColumn

AIM = sf.synth.AIM
METHODS = [sf.synth.Independent, sf.synth.MST, AIM]
HUGE = 10**6


def parquet(table: pa.Table, folder: Path) -> str:
    pyarrow.parquet.write_table(table, folder / "held.parquet")
    return str(folder / "held.parquet")


def comma_separated(table: pa.Table, folder: Path) -> str:
    plain = table.cast(pa.schema([(one.name, _plain(one.type)) for one in table.schema]))
    pyarrow.csv.write_csv(plain, folder / "held.csv")
    return str(folder / "held.csv")


def _plain(kind: pa.DataType) -> pa.DataType:
    return pa.string() if pa.types.is_dictionary(kind) else kind


def in_duckdb(table: pa.Table, folder: Path) -> str:
    path = folder / "held.duckdb"
    with duckdb.connect(str(path)) as engine:
        engine.register("given", table)
        engine.execute("CREATE TABLE penguins AS SELECT * FROM given")
    return str(path)


def pandas_frame(table: pa.Table, _: Path) -> pd.DataFrame:
    frame = table.to_pandas()
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        if pa.types.is_integer(kind):
            frame[name] = frame[name].astype("Int64")
        if pa.types.is_string(kind):
            frame[name] = frame[name].astype("category")
    return frame


SOURCES: dict[str, Callable[[pa.Table, Path], Any]] = {
    "polars": lambda table, _: pl.from_arrow(table),
    "pandas": pandas_frame,
    "arrow": lambda table, _: table,
    "parquet": parquet,
    "csv": comma_separated,
    "duckdb": in_duckdb,
}


def check_marginals(made: Any, frame: pl.DataFrame) -> None:
    """Every column by itself is as it is in the data, once values are moved into what is public of them."""
    codes = made.schema.encode(frame.select(made.columns))
    for place, column in enumerate(made.schema.columns):
        expected = np.bincount(codes[codes[:, place] >= 0, place], minlength=column.size)
        assert np.abs(made.marginal([column.name]) - expected).max() < 0.02 * len(frame) + 1, column.name
    drawn = made.sample(len(frame))
    for column in made.schema.columns:
        if isinstance(column, BinnedColumn):
            held = drawn[column.name].drop_nulls()
            assert held.is_empty() or (held.min() >= column.edges[0] and held.max() <= column.edges[-1])


def moved(frame: pl.DataFrame, between: dict[str, Any]) -> pl.DataFrame:
    """Rows as they are read: days and times beyond their bounds are missing."""
    for name, (low, high) in between.items():
        if isinstance(low, datetime.date):
            inside = pl.col(name).is_between(low, high)
            frame = frame.with_columns(pl.when(inside).then(pl.col(name)).alias(name))
    return frame


@pytest.mark.parametrize("source", SOURCES)
def test_penguins_from_every_source(source: str, tmp_path: Path) -> None:
    held = SOURCES[source](PENGUINS.table, tmp_path)
    session = sf.Dataset(held, **PENGUINS.stated).session(limit=sf.Pure(10**9), ledger="memory:")
    made = sf.synth.Independent(epsilon=HUGE).fit(session.table())
    frame = pl.from_arrow(PENGUINS.table)
    assert isinstance(frame, pl.DataFrame)
    check_marginals(made, frame.with_columns(pl.col("species").cast(pl.String)))
    assert made.rows == 344
    drawn = made.sample(3000)
    assert drawn.schema["year"] == pl.Int64 and drawn.schema["bill_depth_mm"] == pl.Float64
    assert set(drawn["species"]) <= {"Adelie", "Gentoo", "Chinstrap", None}
    assert drawn["island"].null_count() > 0  # an island that is not in the list is read as missing


@pytest.mark.parametrize("method", METHODS)
def test_penguins_and_flights_by_every_method(method: Any) -> None:
    columns = ["species", "island", "sex", "year", "body_mass_g"]
    session = sf.Dataset(PENGUINS.table, **PENGUINS.stated).session(limit=sf.Pure(10**9), ledger="memory:")
    made = method(epsilon=HUGE).fit(session.table(PENGUINS.name), columns=columns, bins=6)
    frame = pl.from_arrow(PENGUINS.table)
    assert isinstance(frame, pl.DataFrame)
    check_marginals(made, frame.with_columns(pl.col("species").cast(pl.String)))
    session = sf.Dataset(FLIGHTS.table, **FLIGHTS.stated).session(limit=sf.Pure(10**9), ledger="memory:")
    columns = ["carrier", "origin", "day", "time_hour", "dep_delay", "distance"]
    made = method(epsilon=HUGE).fit(session.table(FLIGHTS.name), columns=columns, bins=6, max_rows=400)
    flights = pl.from_arrow(FLIGHTS.table)
    assert isinstance(flights, pl.DataFrame)
    owned = flights.filter(pl.col("tailnum").is_not_null()).with_columns(
        pl.col("origin").cast(pl.String), pl.col("time_hour").dt.replace_time_zone(None)
    )
    check_marginals(made, moved(owned, FLIGHTS.between))
    drawn = made.sample(200)
    assert drawn.schema["day"] == pl.Date and drawn.schema["time_hour"] == pl.Datetime("us")


@pytest.mark.parametrize(
    ("load", "method"),
    [
        pytest.param(load, method, marks=pytest.mark.nightly if (load, method) == (load_diabetes, AIM) else ())
        for load in (load_wine, load_iris, load_breast_cancer, load_diabetes)
        for method in METHODS
    ],
)
def test_tables_of_scikit_learn(method: Any, load: Any) -> None:
    frame = pl.from_pandas(load(as_frame=True).frame.iloc[:, -5:])
    whole = {name for name in frame.columns if frame[name].dtype.is_integer()}
    between: dict[str, Any] = {name: (-1, 2500) if name not in whole else (0, 3) for name in frame.columns}
    session = sf.Dataset(frame, name="held", unit=sf.Unit("a row", sf.AddRemove(), bound=1), between=between).session(
        limit=sf.Pure(10**9), ledger="memory:"
    )
    edges = {name: [0, 0.1, 1, 2, 5, 20, 100, 400] for name in frame.columns if name not in whole}
    made = method(epsilon=HUGE).fit(session.table(), bins=edges)
    check_marginals(made, frame)

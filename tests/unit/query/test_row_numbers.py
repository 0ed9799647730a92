"""A condition on ROW_NUMBER bounds the rows of a unit: what the plan says is held against every order of small data."""

from __future__ import annotations

import math

import duckdb
import pytest
from tests.examples.sql import catalog, question

from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.contribution_facts import Reach, reach_of

NUMBERED = (
    "SELECT {columns} FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY age) AS r FROM visits) "
    "WHERE {where}"
)


def rows_of(sql: str) -> float:
    def most(relation: Relation) -> float:
        return reach_of(relation, {name: Reach() for name in catalog().tables}, lambda _: math.inf).rows

    return most(question(sql).source)


CASES = {
    "r = 1": 1,
    "r <= 3": 3,
    "r < 3 AND age < 10": 2,
    "r BETWEEN 2 AND 4": 3,
    "r IN (2, 3)": 2,
    "3 > r": 2,
    "r <= 2.5": 2,
    "r > 1": math.inf,
    "r <= 3 OR age > 1": math.inf,
    "r + 1 <= 3": math.inf,
    "NOT r > 3": 3,
}


@pytest.mark.parametrize(("where", "most"), CASES.items())
def test_the_bound_is_the_most_that_any_unit_can_have(where: str, most: float) -> None:
    said = rows_of(NUMBERED.format(columns="COUNT(*)", by="user_id", where=where))
    assert said == most
    with duckdb.connect() as engine:
        engine.execute("CREATE TABLE visits (user_id INT, age INT)")
        engine.execute("INSERT INTO visits SELECT u, a FROM range(3) t(u), range(12) s(a) WHERE a <= 4 * u + 2")
        inner = NUMBERED.format(columns="user_id, COUNT(*) AS n", by="user_id", where=where) + " GROUP BY user_id"
        [[seen]] = engine.execute(f"SELECT MAX(n) FROM ({inner})").fetchall()
    assert seen <= said and (said == math.inf or seen == said)


def test_what_could_repeat_or_mix_numbers_bounds_nothing() -> None:
    inner = "(SELECT user_id, site, age, {made} AS r FROM visits)"
    number = "ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY age)"
    for made in ("RANK() OVER (PARTITION BY user_id ORDER BY age)", f"{number} // 2", "age"):
        assert rows_of(f"SELECT COUNT(*) FROM {inner.format(made=made)} WHERE r = 1") == math.inf
    part = f"SELECT * FROM {inner.format(made=number)}"
    assert rows_of(f"SELECT COUNT(*) FROM ({part} UNION ALL {part}) WHERE r = 1") == math.inf
    joined = f"SELECT COUNT(*) FROM {inner.format(made=number)} AS v JOIN sites ON v.site = sites.site WHERE r = 1"
    assert rows_of(joined) == math.inf


def test_by_further_columns_it_holds_for_each_of_their_groups() -> None:
    assert rows_of(NUMBERED.format(columns="COUNT(*)", by="user_id, site", where="r <= 2")) == math.inf
    renamed = "SELECT COUNT(*) FROM (SELECT user_id, r AS place FROM (SELECT *, {} AS r FROM visits)) WHERE place <= 2"
    assert rows_of(renamed.format("ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY age)")) == 2
    groups = {frozenset({"visits.site"}): 3}
    text = NUMBERED.format(columns="COUNT(*)", by="user_id, site", where="r <= 2")
    tables = {name: Reach(groups=groups) for name in catalog().tables}
    assert reach_of(question(text).source, tables, lambda _: math.inf).rows == 6

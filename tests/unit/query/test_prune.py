"""Pruning leaves out columns that nothing looks at, and nothing else."""

from __future__ import annotations

import pytest
from tests.examples.sql import shown

from sfumato.query.build.prune import pruned
from sfumato.query.nodes.expressions import Column, Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import (
    Fold,
    Folded,
    Join,
    Match,
    Owner,
    PerUnit,
    Relation,
    Scan,
    Select,
    Union,
    Where,
)

WHO, AGE, SITE = Column("who", Kind.TEXT, unit=0), Column("age", Kind.INT), Column("site", Kind.TEXT)
VISITS = Scan("visits", (WHO, AGE, SITE), Owner("who"))
REGION = Column("region", Kind.TEXT)
SITES = Scan("sites", (Column("place", Kind.TEXT), REGION, Column("beds", Kind.INT)))
OLD = call("gt", AGE, Literal(3, Kind.INT))
TWICE = call("mul", AGE, Literal(2, Kind.INT))
FOLDS = (Folded(Fold.COUNT, None, Column("n", Kind.INT)), Folded(Fold.MAX, AGE, Column("most", Kind.INT)))


@pytest.mark.parametrize(
    ("relation", "needed", "left"),
    [
        (VISITS, {"site", "who"}, "visits[who site]"),
        (VISITS, set(), "visits[]"),
        (Where(VISITS, OLD), {"site"}, "where(visits[age site], gt(age, 3))"),
        (Select(VISITS, (("a", TWICE), ("b", SITE))), {"a"}, "select(visits[age], a=mul(age, 2))"),
        (Select(VISITS, (("age", AGE), ("site", SITE))), {"age", "site"}, "visits[age site]"),
        (Select(VISITS, (("site", SITE), ("age", AGE))), {"age", "site"}, "visits[age site]"),
        (Select(VISITS, (("age", SITE),)), {"age"}, "select(visits[site], age=site)"),
        (Join(VISITS, SITES, (("site", "place"),)), {"age"}, "inner(visits[age site], sites[place], site=place)"),
        (
            Join(VISITS, SITES, (("site", "place"),), Match.LEFT),
            {"region"},
            "left(visits[site], sites[place region], site=place)",
        ),
        (
            Union((VISITS, Where(VISITS, OLD))),
            {"site"},
            "union(visits[site], select(where(visits[age site], gt(age, 3)), site))",
        ),
        (
            PerUnit(VISITS, (("who", WHO), ("k", SITE)), FOLDS),
            {"n"},
            "perunit(visits[who site], who, k=site, n=count())",
        ),
        (PerUnit(VISITS, (("who", WHO),), FOLDS), {"most"}, "perunit(visits[who age], who, most=max(age))"),
    ],
)
def test_what_is_not_needed_is_left_out(relation: Relation, needed: set[str], left: str) -> None:
    found = pruned(relation, needed)
    assert shown(found) == left
    assert {column.name for column in found.fields} >= needed
    assert found.private == relation.private
    assert pruned(found, needed) == found


def test_where_fields_may_not_be_spare_there_are_none_and_their_order_stays() -> None:
    turned = Select(Where(VISITS, OLD), (("site", SITE), ("who", WHO)))
    assert shown(pruned(turned, {"site", "who"})) == "where(visits[who age site], gt(age, 3))"
    exact = pruned(turned, {"site", "who"}, spare=False)
    assert shown(exact) == "select(where(visits[who age site], gt(age, 3)), site, who)"


def test_parts_of_a_union_keep_the_same_columns_in_the_same_order() -> None:
    both = Union((Select(VISITS, (("b", SITE), ("a", AGE))), Select(Where(VISITS, OLD), (("b", SITE), ("a", TWICE)))))
    found = pruned(both, {"a"})
    assert [[column.name for column in part.fields] for part in found.sources] == [["a"], ["a"]]


def test_facts_and_units_of_what_stays_are_those_it_had() -> None:
    (who,) = pruned(Select(VISITS, (("me", WHO), ("age", AGE))), {"me"}).fields
    assert (who.name, who.unit) == ("me", 0)

"""Contingency tables, in every engine: the counts of each combination of codes, whichever way an engine counts them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples.engines import Opening
from tests.profiles import examples

from sfumato.query.engines.protocol import PrivateTables
from sfumato.query.engines.sql import marginals as in_sql
from sfumato.query.nodes.expressions import Column, Literal
from sfumato.query.nodes.facts import Facts
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.relations import Keep, Owner, Scan, Select
from sfumato.query.plan.engine_plan import Marginals

pa = pytest.importorskip("pyarrow")

USER = Column("user", Kind.INT, Facts(), "t.user", 0)
SITE = Column("site", Kind.TEXT, Facts(), "t.site")
N = Column("n", Kind.INT, Facts((Fraction(-5), Fraction(99))), "t.n")
T = Scan("t", (USER, SITE, N), Owner("user"))
SITES = ["a", "b", "", "ä"]

rows = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from([*SITES, "z", None]), st.none() | st.integers(-5, 99)), max_size=25
)


def number(value: int) -> Literal:
    return Literal(value, Kind.INT)


def coded() -> Select:
    """Four columns of codes: the site, five for what is no site; two and eight bins; and one code."""
    cases = [
        part for place, site in enumerate(SITES) for part in (call("eq", SITE, Literal(site, Kind.TEXT)), number(place))
    ]
    half = call("case", call("is_null", N), number(0), call("lt", N, number(9)), number(1), number(2))
    fine = [part for place in range(6) for part in (call("lt", N, number(place)), number(place))]
    made = (
        ("site", call("case", *cases, number(4))),
        ("half", half),
        ("fine", call("case", *fine, number(7))),
        ("one", call("case", call("is_null", N), number(0), number(0))),
    )
    return Select(T, made)


def codes_of(site: str | None, n: int | None) -> tuple[int, int, int, int]:
    fine = 7 if n is None else next((place for place in range(6) if n < place), 7)
    return SITES.index(site) if site in SITES else 4, 0 if n is None else 1 if n < 9 else 2, fine, 0


SIZES = (5, 3, 8, 1)
CLIQUES = tuple(clique for order in range(4) for clique in combinations(range(4), order))


def expected(codes: list[tuple[int, ...]]) -> list[int]:
    made: list[int] = []
    for clique in CLIQUES:
        counts = Counter(tuple(row[place] for place in clique) for row in codes)
        made += [counts[tuple(map(int, cell))] for cell in np.ndindex(*(SIZES[place] for place in clique))]
    return made


def table(given_rows: list[tuple[int, str | None, int | None]]) -> pa.Table:
    columns = list(zip(*given_rows, strict=True)) if given_rows else [(), (), ()]
    types = (pa.int64(), pa.string(), pa.int64())
    return pa.table(
        {name: pa.array(one, kind) for name, one, kind in zip(("user", "site", "n"), columns, types, strict=True)}
    )


@settings(max_examples=examples(12))
@given(given_rows=rows)
def test_every_way_counts_every_combination(
    opening: Opening, given_rows: list[tuple[int, str | None, int | None]]
) -> None:
    engine = opening({"t": table(given_rows)}, {"t": T})
    asked = Marginals(coded(), SIZES, CLIQUES)
    wanted = expected([codes_of(site, n) for _, site, n in given_rows])
    assert engine.marginals(asked).tolist() == wanted
    assert PrivateTables.marginals(engine, asked).tolist() == wanted
    engine.prepare_marginals(asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_sql, "FEW", 0)  # as where there are many tables
        assert engine.marginals(asked).tolist() == wanted


@settings(max_examples=examples(12))
@given(given_rows=rows, most=st.integers(1, 3))
def test_a_unit_is_in_no_table_more_often_than_its_bound(
    opening: Opening, given_rows: list[tuple[int, str | None, int | None]], most: int
) -> None:
    engine = opening({"t": table(given_rows)}, {"t": T})
    asked = Marginals(Keep(coded(), most), SIZES, CLIQUES)
    whole = engine.marginals(asked)
    parts = np.split(whole, np.cumsum(asked.sizes)[:-1])
    kept = sum(min(most, many) for many in Counter(user for user, _, _ in given_rows).values())
    assert {int(part.sum()) for part in parts} == {kept}
    fewer = opening({"t": table([row for row in given_rows if row[0] != 1])}, {"t": T}).marginals(asked)
    gaps = np.split(np.abs(whole - fewer), np.cumsum(asked.sizes)[:-1])
    assert max(int(gap.sum()) for gap in gaps) <= most

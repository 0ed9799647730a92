"""The work that one unit makes: rows multiply in joins of private tables, so each side keeps at most so many."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.codebook import Codebook
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.relations import Keep, Relation
from sfumato.query.plan.bound_joins import MOST_JOINED, _each, _root
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Computed
from sfumato.session.dataset import Dataset
from sfumato.session.open_data import open_tables

MANY = 30
COLUMNS = {"id": {"type": "int"}, "k": {"type": "int", "between": [0, 5], "nullable": False, "source": "made up"}}


def tables(*, many: int = MANY, more: int = 0, few: int = 2) -> dict[str, pa.Table]:
    """Gives a table in which one person has many rows, another few, and a third more."""
    held = [(person, place % 6) for person, own in ((1, many), (2, few), (3, more)) for place in range(own)]
    table = pa.table({"id": [person for person, _ in held], "k": [k for _, k in held]})
    kinds = pa.table({"k": [0, 0, 1, 1], "name": ["a", "b", "c", "d"]})
    return {"t": table, "other": table, "kinds": kinds}


def book(rows: int | None = None) -> Codebook:
    stated: Any = {} if rows is None else {"contributions": {"rows": rows, "source": "made up"}}
    said = {
        "codebook": 1,
        "title": "T",
        "unit": {"protects": "a person", "id": "id"},
        "tables": {
            "t": {"columns": COLUMNS, **stated},
            "other": {"columns": COLUMNS},
            "kinds": {"public": True, "columns": {"k": {"type": "int"}, "name": {"type": "str"}}},
        },
    }
    return Codebook.read(said)


def data(*, rows: int | None = None, **people: int) -> Dataset:
    return Dataset(tables(**people), name="d", codebook=book(rows))


def computed(made: CompiledQuery, **people: int) -> Computed:
    """Gives the exact cells of a question, of tables that are not behind a ledger."""
    _, held = open_tables(tables(**people), book())
    return held.engine.run(made.levels[0].cells)


def counted(made: CompiledQuery, **people: int) -> list[int]:
    found: list[int] = computed(made, **people).numbers[0].tolist()
    return found


def ready(of: Dataset, text: str, **settings: Any) -> CompiledQuery:
    planner = of.session(limit=sf.Approx(100, "1e-3"), ledger="memory:")._planner
    question = planner._read(text, ()).question
    assert question is not None
    return planner._planned(question, Settings.read(**{"loss": sf.Pure(1), **settings}))


def cuts(relation: Relation) -> Iterator[int]:
    if isinstance(relation, Keep) and relation.work:
        yield relation.rows
    for source in relation.sources:
        yield from cuts(source)


def joined(sides: int, table: str = "t") -> str:
    others = " ".join(f"JOIN {table} a{place} ON a0.id = a{place}.id" for place in range(1, sides))
    return f"SELECT COUNT(*) AS n FROM {table} a0 {others}"


@pytest.mark.parametrize("sides, most", [(2, 1000), (3, 100), (4, 31), (6, 10)])
def test_each_side_keeps_what_makes_a_million_together(sides: int, most: int) -> None:
    assert list(cuts(ready(data(), joined(sides), max_rows_per_group=5).question.source)) == [most] * sides


def test_a_join_of_six_is_short() -> None:
    made = ready(data(), joined(6), max_rows_per_group=2 * MOST_JOINED)
    assert counted(made) == [10**6 + 2**6]  # 30⁶, the rows of one person, would be 729 million


def test_who_has_few_rows_loses_none() -> None:
    made = ready(data(), joined(3), max_rows_per_group=10**4)
    assert counted(made, many=7, more=10) == [7**3 + 2**3 + 10**3]


def test_what_is_kept_of_somebody_is_decided_by_their_rows_alone() -> None:
    text = "SELECT a.k, COUNT(*) AS n FROM t a JOIN t b ON a.id = b.id GROUP BY a.k"

    def counts(**people: int) -> list[int]:
        found = computed(ready(data(), text, max_groups=6, max_rows_per_group=10**6), **people)
        assert found.places is not None
        known = dict(zip(found.places.tolist(), found.numbers[0].tolist(), strict=True))
        return [known.get(place, 0) for place in range(6)]

    others, alone = counts(many=1500), counts(many=0, few=0, more=2000)
    assert sum(alone) == 1000**2
    together = counts(many=1500, more=2000)
    assert [one - other for one, other in zip(together, others, strict=True)] == alone


def test_facts_make_it_needless() -> None:
    assert not list(cuts(ready(data(rows=10), joined(6), max_rows_per_group=5).question.source))
    mixed = joined(3) + " JOIN other b ON a0.id = b.id"
    assert list(cuts(ready(data(rows=10), mixed, max_rows_per_group=5).question.source)) == [1000]
    wide = ready(data(rows=100), joined(6), max_rows_per_group=5)
    assert list(cuts(wide.question.source)) == [10] * 6


def test_one_row_for_each_unit_is_not_cut() -> None:
    text = "SELECT COUNT(*) AS n FROM t JOIN (SELECT id, COUNT(*) AS many FROM t GROUP BY id) s ON t.id = s.id"
    assert list(cuts(ready(data(), f"{text} WHERE s.many > 1", max_rows_per_group=5).question.source)) == [MOST_JOINED]


def test_rows_that_a_public_table_repeats_count() -> None:
    text = "SELECT COUNT(*) AS n FROM (SELECT a.id, a.k FROM t a JOIN t b ON a.id = b.id) s JOIN kinds ON s.k = kinds.k"
    assert list(cuts(ready(data(), text, max_rows_per_group=5).question.source)) == [707, 707]


def test_joins_without_private_tables_on_both_sides_are_as_they_were() -> None:
    assert not list(
        cuts(
            ready(
                data(), "SELECT COUNT(*) AS n FROM t JOIN kinds ON t.k = kinds.k", max_rows_per_group=5
            ).question.source
        )
    )


@pytest.mark.parametrize("kind", ["JOIN", "LEFT JOIN"])
def test_one_row_does_not_become_more_than_a_million(kind: str) -> None:
    """Each of these joins makes two rows of one. That is public, so it is known before anything is charged."""
    of = data()

    def text(many: int) -> str:
        return "SELECT COUNT(*) AS n FROM t " + " ".join(f"{kind} kinds k{n} ON t.k = k{n}.k" for n in range(many))

    assert counted(ready(of, text(3), max_rows_per_group=100), many=6, few=0) == [
        2 * 2**3 + (4 if kind == "LEFT JOIN" else 0)
    ]
    assert not list(cuts(ready(of, text(19), max_rows_per_group=5).question.source))
    with pytest.raises(sf.errors.QueryRefused, match="one row becomes 1,048,576 here"):
        ready(of, text(20), max_rows_per_group=5)
    one = "SELECT id, COUNT(*) AS k FROM ({}) s GROUP BY id".format(text(19).replace("COUNT(*) AS n", "t.id, t.k"))
    again = ready(of, f"SELECT COUNT(*) AS n FROM ({one}) p JOIN kinds ON p.k = kinds.k", max_rows_per_group=5)
    assert not list(cuts(again.question.source))


def test_the_cut_is_said_and_prices_do_not_rest_on_it() -> None:
    made = ready(data(), joined(2), max_rows_per_group=5)
    said = "at most 1,000 rows of a unit are kept on each of 2 sides of joins"
    assert said in [cut.what for cut in made.how.cuts]
    shown = data().session(limit=sf.Pure(1), ledger="memory:").explain(joined(2), loss=sf.Pure(1), max_rows_per_group=5)
    assert said in str(shown) and "so that joins stay small" in str(shown)
    with pytest.raises(sf.errors.QueryRefused, match="any number of rows"):
        ready(data(), joined(2))


@given(st.lists(st.integers(1, 10**7) | st.just(math.inf), min_size=1, max_size=7), st.integers(1, 1000))
def test_sides_together_make_at_most_a_million(known: list[float], copies: int) -> None:
    most = _each(known, copies)
    kept = [min(one, most) for one in known]
    assert math.prod(kept) * copies <= MOST_JOINED or most == 1
    if most < math.inf:
        assert any(one > most for one in known)
        assert math.prod(min(one, most + 1) for one in known) * copies > MOST_JOINED // 2 or most == 1


@given(st.integers(0, 10**7), st.integers(1, 9))
def test_roots_are_whole(number: int, degree: int) -> None:
    found = _root(number, degree)
    assert found**degree <= max(1, number) < (found + 1) ** degree


@pytest.mark.parametrize("word", ["IN", "NOT IN"])
def test_a_side_that_only_filters_is_not_cut(word: str) -> None:
    """Rows do not multiply there: what looks for a match looks at all rows of the person."""
    text = f"SELECT COUNT(*) FROM t WHERE id {word} (SELECT id FROM other WHERE k = 5)"
    made = ready(data(), text, max_rows=10_000)
    assert list(cuts(made.question.source)) == []
    inside = 2_400 if word == "IN" else 3
    assert counted(made, many=2_400, few=3) == [inside]


def test_rows_that_are_compared_one_by_one_are_cut() -> None:
    text = "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM other o WHERE o.id = t.id AND o.k > t.k)"
    assert list(cuts(ready(data(), text, max_rows=10_000).question.source)) == [1000, 1000]


def test_sides_below_a_filter_are_cut_by_themselves() -> None:
    inner = "SELECT a.id FROM other a JOIN other b ON a.id = b.id"
    text = f"SELECT COUNT(*) FROM t WHERE id IN ({inner})"
    assert list(cuts(ready(data(), text, max_rows=10).question.source)) == [1000, 1000]
    text = "SELECT COUNT(*) FROM t a JOIN t b ON a.id = b.id SEMI JOIN other c ON a.id = c.id"
    assert list(cuts(ready(data(), text, max_rows=10).question.source)) == [1000, 1000]

"""Real tables, from every kind of source: answers are those of plain SQL, and nobody moves them beyond the declared."""

from __future__ import annotations

import datetime
import random
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest
from tests.examples.postgres_tables import open_in_postgres
from tests.examples.real_tables import STRANGERS
from tests.fuzz.plans import as_declared
from tests.fuzz.sources import KINDS, parted
from tests.fuzz.strangers import asked, cut, run_all, without
from tests.reference.duck import answers
from tests.reference.interpreter import Answers

import sfumato as sf
from sfumato.query.engines.needs import needs_of_cells
from sfumato.query.engines.postgres.engine import LACKS
from sfumato.query.plan.engine_plan import Bound

SOME = 5
"""How many of the questions each kind of source is asked, others each."""


def alike(found: Any, wanted: Any) -> bool:
    if isinstance(found, datetime.datetime) and type(wanted) is datetime.date:
        found = found.date()
    if isinstance(found, int | float) and wanted is not None:
        return bool(float(found) == pytest.approx(float(wanted), rel=1e-3, abs=1e-3))
    return bool(found == wanted)


@pytest.mark.parametrize("name", STRANGERS)
def test_every_question_is_answered_as_plain_sql_answers_it(name: str) -> None:
    """Row by row under their keys; public keys that nobody has count nothing."""
    _, found, _ = asked(name)
    for question, answer in found.items():
        wanted = STRANGERS[name].plain.execute(question).fetchall()
        if "AS k" not in question:
            assert all(map(alike, answer.row(0), wanted[0])), (question, answer.row(0), wanted)
            continue
        rows = {row[0]: row for row in answer.rows()}
        assert len(rows) == len(answer), question
        for row in wanted:
            assert all(map(alike, rows.pop(row[0]), row)), (question, row)
        assert not any(row[answer.columns.index("n")] for row in rows.values() if "n" in answer.columns), question


@pytest.mark.parametrize("name", STRANGERS)
def test_engines_give_the_same_cells_where_nothing_is_left_out(name: str) -> None:
    table, (catalog, _, cells) = STRANGERS[name], asked(name)
    whole = [replace(one, bound=Bound()) for one in cells]
    found = run_all("Arrow, in Polars", name, table.table, catalog, whole)
    assert found == run_all("Arrow", name, table.table, catalog, whole)


@lru_cache(None)
def of_arrow(name: str, kind: str = "Arrow") -> list[Answers]:
    """The cells of all questions with little kept of each unit, of a frame of Arrow in one engine."""
    table, (catalog, _, cells) = STRANGERS[name], asked(name)
    return run_all(kind, name, table.table, catalog, [cut(one, isinstance(table.unit, sf.Unit)) for one in cells])


@pytest.mark.parametrize("kind", [one for one in parted(KINDS) if one != "Arrow"])
def test_every_kind_of_source_gives_the_same_cells_and_nobody_moves_them_further_than_declared(kind: str) -> None:
    drawn = random.Random(kind)
    name = list(STRANGERS)[list(KINDS).index(kind) % 2]
    table, (catalog, _, cells) = STRANGERS[name], asked(name)
    by_rows = isinstance(table.unit, sf.Unit)
    some = drawn.sample(range(len(cells)), SOME)
    few = [cut(cells[place], by_rows) for place in some]
    found = run_all(kind, name, table.table, catalog, few)
    frame = "Arrow, in Polars" if KINDS[kind].opens == "Polars" else "Arrow"  # engines keep other rows of a unit
    assert found == [of_arrow(name, frame)[place] for place in some]
    rest = run_all(kind, name, without(table, drawn), catalog, few)
    for one, before, after in zip(few, found, rest, strict=True):
        as_declared(before, after, one, Bound(1, 1) if by_rows else one.bound)


@pytest.mark.parametrize("name", STRANGERS)
def test_a_server_gives_the_same_cells_and_nobody_moves_them_further_than_declared(name: str) -> None:
    """Nothing is cut as people ask; and with little kept of each unit, one who leaves moves little."""
    table, (catalog, _, cells) = STRANGERS[name], asked(name)
    known = [one for one in cells if not LACKS & set(needs_of_cells(one))]
    assert len(known) > len(cells) // 2
    by_rows, drawn = isinstance(table.unit, sf.Unit), random.Random(name)
    few = [cut(one, by_rows) for one in drawn.sample(known, SOME)]
    with closing(open_in_postgres({name: table.table}, catalog.tables)) as engine:
        assert [answers(engine.run(one), one) for one in known] == run_all("Arrow", name, table.table, catalog, known)
        before = [answers(engine.run(one), one) for one in few]
    with closing(open_in_postgres({name: without(table, drawn)}, catalog.tables)) as engine:
        for one, found in zip(few, before, strict=True):
            as_declared(found, answers(engine.run(one), one), one, Bound(1, 1) if by_rows else one.bound)

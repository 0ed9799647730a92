"""What is remembered: bounded, shared by all sessions on a data set, and never one thing taken for another."""

from __future__ import annotations

import json
import threading
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.ledger.stored_release import kept_text, read_kept
from sfumato.query.plan.remembered import Remembered, exactly
from sfumato.session.dataset import Dataset

VISITS = {"who": ["a", "b", "c", "d"] * 20, "minutes": [10, 20, 30, 40] * 20}


@pytest.fixture
def data() -> Dataset:
    return Dataset(VISITS, name="visits", unit="who", between={"minutes": (0, 60)}, version="1")


def test_so_many_are_kept_and_those_asked_for_last() -> None:
    kept, made = Remembered[int](2), list[int]()

    def make(number: int) -> int:
        made.append(number)
        return number

    for number in (1, 2, 1, 3, 1, 2):
        assert kept.get(number, lambda one=number: make(one)) == number
    assert made == [1, 2, 3, 2]
    assert len(kept) == 2


def test_what_cannot_be_made_is_not_kept() -> None:
    kept = Remembered[int](2)
    with pytest.raises(ZeroDivisionError):
        kept.get("x", lambda: 1 // 0)
    assert kept.get("x", lambda: 7) == 7


def test_threads_share_it() -> None:
    kept, faults = Remembered[int](8), list[BaseException]()

    def ask() -> None:
        try:
            for turn in range(2_000):
                assert kept.get(turn % 13, lambda one=turn: one % 13) == turn % 13
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert len(kept) == 8


def test_values_that_are_equal_and_not_the_same_have_other_keys() -> None:
    values = [1, 1.0, True, Decimal(1), Decimal("1.0"), "1", b"1", None, [1], (1,), {"a": 1}, {"b": 1}, 0.0, -0.0]
    keys = [exactly(value) for value in values]
    assert len(set(keys)) == len(values)
    assert exactly([1, {"a": [2]}]) == exactly([1, {"a": [2]}])
    assert exactly([{1, 2}]) is None
    assert exactly(np.array([1])) is None


def test_parameters_of_other_types_are_other_questions(data: Dataset) -> None:
    session = data.session(limit=sf.Pure(10), ledger="memory:")
    text = "SELECT COUNT(*) AS n FROM visits WHERE minutes >= ?"
    asked = {session.explain(text, [value], epsilon="0.1", max_rows_per_group=4).how.asked for value in (15, 15.5, 25)}
    assert len(asked) == 3


def test_sessions_share_what_was_planned_and_not_where_they_stand(data: Dataset) -> None:
    session = data.session(limit=sf.Pure(10), ledger="memory:")
    ada, ben = session.part("ada", limit=sf.Pure(1)), session.part("ben", limit=sf.Pure(2))
    text = "SELECT COUNT(*) AS n FROM visits"
    first = ada.explain(text, epsilon="0.5", max_rows_per_group=4)
    planned = len(session.dataset.tables.worked.planned)
    second = ben.explain(text, epsilon="0.5", max_rows_per_group=4)
    assert len(session.dataset.tables.worked.planned) == planned
    assert (first.left, second.left) == (sf.Pure(1), sf.Pure(2))
    assert first.errors == second.errors
    release = ada.sql(text, epsilon="0.5", max_rows_per_group=4)
    assert ada.explain(text, epsilon="0.5", max_rows_per_group=4).known
    assert ben.explain(text, epsilon="0.5", max_rows_per_group=4).costs
    assert ben.sql(text, epsilon="0.5", max_rows_per_group=4).receipt == release.receipt


CONDITIONS = ["who <> 'a'", "who IN ('b', 'c')", "NOT (who = 'd')"]


def test_errors_are_worked_out_once_whichever_rows_are_asked_about(data: Dataset) -> None:
    session = data.session(limit=sf.Approx(10, "1e-6"), ledger="memory:")
    worked, asked = session.dataset.tables.worked, "SELECT AVG(minutes) AS m, COUNT(*) AS n FROM visits WHERE "
    said = [session.explain(asked + one, epsilon="0.1", max_rows_per_group=4) for one in CONDITIONS]
    assert (len(worked.expected), len(worked.finished), len(worked.planned)) == (1, 1, 3)
    assert len({(one.errors, one.others) for one in said}) == 1
    assert len({one.how.asked for one in said}) == 3
    alone = Dataset(VISITS, name="visits", unit="who", between={"minutes": (0, 60)}, version="1")
    anew = alone.session(limit=sf.Approx(10, "1e-6"), ledger="memory:")
    assert anew.explain(asked + CONDITIONS[2], epsilon="0.1", max_rows_per_group=4) == said[2]


OTHERWISE: list[tuple[str, dict[str, object]]] = [
    ("AVG(minutes) AS m", {"epsilon": "0.2"}),
    ("AVG(minutes) AS m", {"max_rows_per_group": 3}),
    ("AVG(minutes) AS m", {"confidence": "0.5"}),
    ("AVG(minutes) AS m", {"noise": "gaussian", "delta": "1e-7"}),
    ("AVG(minutes / 2) AS m", {}),
    ("SUM(minutes) AS m", {}),
    ("MEDIAN(minutes) AS m", {}),
    ("AVG(minutes) AS other", {}),
    ("AVG(minutes) AS m, COUNT(*) AS n", {}),
    ("AVG(minutes) AS m, COUNT(*) AS n", {"weights": {"m": 3}}),
]


@pytest.mark.parametrize(("shown", "said"), OTHERWISE, ids=str)
def test_errors_of_another_question_are_its_own(data: Dataset, shown: str, said: dict[str, Any]) -> None:
    """What is remembered of one question is not told of another: as if nothing had been asked before."""
    paying: dict[str, Any] = {"epsilon": "0.1", "max_rows_per_group": 4} | said
    session = data.session(limit=sf.Approx(10, "1e-6"), ledger="memory:")
    first = session.explain("SELECT AVG(minutes) AS m FROM visits", epsilon="0.1", max_rows_per_group=4)
    after = session.explain(f"SELECT {shown} FROM visits", **paying)
    alone = Dataset(VISITS, name="visits", unit="who", between={"minutes": (0, 60)}, version="1")
    anew = alone.session(limit=sf.Approx(10, "1e-6"), ledger="memory:")
    assert after == anew.explain(f"SELECT {shown} FROM visits", **paying)
    assert (after.errors, after.others) != (first.errors, first.others)


def test_a_price_that_buys_noise_beyond_all_numbers_is_refused_whatever_ran_before(data: Dataset) -> None:
    session = data.session(limit=sf.Pure(10), ledger="memory:")
    asked = "SELECT COUNT(*) AS n FROM visits WHERE "
    session.explain(asked + CONDITIONS[0], epsilon="0.1", max_rows_per_group=4)
    for _ in range(2):
        for one in CONDITIONS:
            with pytest.raises(sf.errors.QueryRefused, match="noise beyond all numbers"):
                session.sql(asked + one, epsilon="1e-320", max_rows_per_group=4)
    assert session.spent == sf.Pure(0)
    session.sql(asked + CONDITIONS[0], epsilon="0.1", max_rows_per_group=4)


def test_other_prices_are_worked_out_when_they_are_looked_at_and_once(data: Dataset) -> None:
    session = data.session(limit=sf.Pure(10), ledger="memory:")
    worked, text = session.dataset.tables.worked, "SELECT COUNT(*) AS n FROM visits WHERE "
    first, second = (session.explain(text + one, epsilon="0.1", max_rows_per_group=4) for one in CONDITIONS[:2])
    assert len(worked.others) == 0
    dearer = dict(first.others)[str(sf.Pure("0.2"))]
    assert len(worked.others) == 1
    assert first.others == second.others
    assert hash(first.others) == hash(second.others) == hash(tuple(first.others))
    assert (len(worked.others), len(first.others), repr(first.others)) == (1, 4, repr(tuple(first.others)))
    asked = session.explain(text + CONDITIONS[0], epsilon="0.2", max_rows_per_group=4)
    assert asked.errors[0][-1] == dearer


def test_a_statement_that_cannot_run_is_refused_though_an_answer_of_its_form_was_made(data: Dataset) -> None:
    """Conditions are tried for themselves: only what is made of released numbers is known to work by its form."""
    session = data.session(limit=sf.Pure(10), ledger="memory:")
    asked, deep = "SELECT COUNT(*) AS n FROM visits WHERE ", "minutes" + " + minutes" * 3000 + " > 7"
    session.explain(asked + "minutes > 7", epsilon="0.1", max_rows_per_group=4)
    with pytest.raises(sf.errors.QueryRefused):
        session.sql(asked + deep, epsilon="0.1", max_rows_per_group=4)
    assert session.spent == sf.Pure(0)


def test_the_price_does_not_stick(data: Dataset) -> None:
    session = data.session(limit=sf.Approx(10, "1e-6"), ledger="memory:")
    text = "SELECT AVG(minutes) AS m FROM visits"
    prices = [session.explain(text, epsilon=one, max_rows_per_group=4).price for one in ("0.1", "0.2", "0.1")]
    assert prices == [sf.Pure("0.1"), sf.Pure("0.2"), sf.Pure("0.1")]
    widths = [session.explain(text, epsilon=one, max_rows_per_group=4).errors for one in ("0.1", "0.2", "0.1")]
    assert widths[0] == widths[2] != widths[1]
    assert session.explain(text, epsilon="0.1", confidence="0.5", max_rows_per_group=4).errors != widths[0]
    count = "SELECT COUNT(*) AS n FROM visits"
    aimed = session.explain(count, accuracy=(5, "0.95"), max_rows_per_group=4).price
    assert aimed != session.explain(count, epsilon="0.1", max_rows_per_group=4).price


def test_an_answer_that_was_read_before_cannot_be_written_to(data: Dataset) -> None:
    session = data.session(limit=sf.Pure(10), ledger="memory:")
    release = session.sql("SELECT COUNT(*) AS n FROM visits", epsilon="0.5", max_rows_per_group=4)
    row = next(iter(session.ledger.store.rows(kinds=("released",))))
    assert row.value is not None
    assert row.value == kept_text(release, bytes.fromhex(json.loads(row.value)["salt"]))
    again = read_kept(row)
    assert again is read_kept(row)
    assert again is not None
    with pytest.raises(ValueError, match="read-only"):
        again.value.columns[0].values[0] = 0
    with pytest.raises(AttributeError):
        again.value = 7  # type: ignore[misc]
    with pytest.raises(sf.errors.LedgerDamaged):
        read_kept(row._replace(value=row.value.replace("visits", "visitz")))

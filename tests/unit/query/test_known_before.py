"""What can be known of a question without data is known before it is charged: then it is refused, and costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.profiles import examples

import sfumato as sf
from sfumato.errors import BadArgument, QueryRefused, SfumatoError
from sfumato.query.nodes.relations import Owner, Scan
from sfumato.query.plan.engine_plan import Cells, Rows
from sfumato.query.plan.open_tables import OpenTables
from sfumato.session.dataset import Dataset
from sfumato.session.session import Session

SOURCE = {"source": "made up"}
TABLES = {
    "t": {
        "columns": {
            "id": {"type": "int"},
            "k": {"type": "int", "between": [0, 5], **SOURCE},
            "x": {"type": "float", "between": [0, 1], **SOURCE},
            "s": {"type": "str"},
        }
    },
    "none": {"public": True, "columns": {"k": {"type": "int"}, "w": {"type": "str"}}},
}
DATA = {
    "t": pa.table({"id": [1, 1, 2], "k": [0, 1, 2], "x": [0.1, 0.2, 0.3], "s": ["a", "b", "c"]}),
    "none": pa.table({"k": pa.array([], pa.int64()), "w": pa.array([], pa.string())}),
}
LIMIT, KEPT = sf.Approx(1000, "1e-3"), {"max_groups": 2, "max_rows_per_group": 2}
COUNT = "SELECT COUNT(*) AS n FROM t"
HALF = "\ud800"


@cache
def data() -> Dataset:
    book = {"codebook": 1, "title": "T", "unit": {"protects": "a person", "id": "id"}, "tables": TABLES}
    return Dataset(DATA, name="d", codebook=book)


def session() -> Session:
    return data().session(limit=LIMIT, ledger="memory:")


def refused(ask: Callable[[Session], object], kind: type[SfumatoError] = QueryRefused) -> str:
    """Asks something that must be refused, at no cost."""
    asking = session()
    with pytest.raises(kind) as caught:
        ask(asking)
    assert asking.left == LIMIT
    assert caught.value.__context__ is None or isinstance(caught.value.__context__, SfumatoError)
    return str(caught.value)


@pytest.mark.parametrize("many", [2**40 + 1, 2**62, 2**63 - 1, 2**63, 2**64, 10**30, 10**300], ids=lambda n: f"{n:.0e}")
@pytest.mark.parametrize(
    "text, settings",
    [
        (COUNT, ("max_rows_per_group",)),
        ("SELECT SUM(x) AS s FROM t", ("max_rows_per_group",)),
        ("SELECT COUNT(DISTINCT s) AS n FROM t", ("max_rows_per_group",)),
        ("SELECT MEDIAN(x) AS m FROM t", ("max_rows_per_group",)),
        (COUNT, ("max_rows",)),
        ("SELECT s, COUNT(*) AS n FROM t GROUP BY s", ("max_groups", "max_rows_per_group")),
    ],
)
def test_bounds_beyond_all_tables(text: str, settings: tuple[str, ...], many: int) -> None:
    said = dict.fromkeys(settings, many)
    assert "more than there are in any table" in refused(lambda s: s.sql(text, loss=sf.Approx(1, "1e-6"), **said))


def test_bounds_that_facts_make_idle_may_be_as_large_as_one_likes() -> None:
    assert session().sql(
        "SELECT k, COUNT(*) AS n FROM t GROUP BY k", max_groups=10**30, max_rows_per_group=2, loss=sf.Pure(1)
    )


def test_half_characters() -> None:
    ask: dict[str, Callable[[Session], object]] = {
        "literal": lambda s: s.sql(f"{COUNT} WHERE s = '{HALF}'", loss=sf.Pure(1), **KEPT),
        "pattern": lambda s: s.sql(f"{COUNT} WHERE s LIKE '{HALF}%'", loss=sf.Pure(1), **KEPT),
        "name": lambda s: s.sql(f'SELECT COUNT(*) AS "{HALF}" FROM t', loss=sf.Pure(1), **KEPT),
        "name in a frame": lambda s: s.table("t").agg(**{HALF: sf.count_rows()}).release(loss=sf.Pure(1), **KEPT),
    }
    for one in ask.values():
        assert "half a character" in refused(one)
    given: dict[str, Callable[[Session], object]] = {
        "parameter": lambda s: s.sql(f"{COUNT} WHERE s = ?", [HALF], loss=sf.Pure(1), **KEPT),
        "frame": lambda s: s.table("t").filter(s.table("t").s == HALF).len(),
        "keys": lambda _: sf.KeySet.of(s=[HALF, "a"]),
    }
    for one in given.values():
        assert "half a character" in refused(one, BadArgument)


@pytest.mark.parametrize(
    "text",
    [
        f"{COUNT} JOIN none ON t.k = none.k",
        "SELECT MEDIAN(x) AS m FROM t JOIN none ON t.k = none.k",
        "SELECT TOP_K(t.k, 2) AS m FROM t JOIN none ON t.k = none.k",
        "SELECT t.k, AVG(x) AS a FROM t JOIN none ON t.k = none.k GROUP BY t.k",
        "SELECT COUNT(DISTINCT t.id) AS n FROM t JOIN none ON t.k = none.k",
    ],
)
def test_joins_in_which_nothing_can_match(text: str) -> None:
    assert "no row can match" in refused(lambda s: s.sql(text, loss=sf.Pure(1), **KEPT))


def test_a_left_join_with_nothing_to_match_keeps_its_rows() -> None:
    assert session().sql(f"{COUNT} LEFT JOIN none ON t.k = none.k", loss=sf.Pure(1), **KEPT)


@pytest.mark.parametrize("depth", [100, 200, 900, 3000])
def test_deep_questions_are_answered_or_refused(depth: int) -> None:
    def rows(asking: Session) -> object:
        table = asking.table("t")
        made = table.x
        for _ in range(depth):
            made = made + table.x
        return table.filter(made > 1).agg(n=sf.count_rows()).release(loss=sf.Pure(1), **KEPT)

    def released(asking: Session) -> object:
        made = sf.count_rows()
        for _ in range(depth):
            made = made + 1
        return asking.table("t").agg(n=made).release(loss=sf.Pure(1), **KEPT)

    def steps(asking: Session) -> object:
        table = asking.table("t")
        for _ in range(depth):
            table = table.filter(table.x > 0.1)
        return table.agg(n=sf.count_rows()).release(loss=sf.Pure(1), **KEPT)

    def sums(asking: Session) -> object:
        return asking.sql(f"SELECT SUM({'+'.join(['x'] * depth)}) AS s FROM t", loss=sf.Pure(1), **KEPT)

    for ask in (rows, released, steps, sums):
        answered_or_free(ask)


def answered_or_free(ask: Callable[[Session], object]) -> None:
    """Asks something that is answered and paid, or refused in our words and free."""
    asking = session()
    try:
        ask(asking)
    except SfumatoError as error:
        assert asking.left == LIMIT, f"charged: {error}"


NUMBERS = st.sampled_from((0, 1, 5, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 10**30)) | st.integers()
FLOATS = st.sampled_from((0.0, 1e308, -1e308, 5e-324, 1e-300, 0.5, 2.0**63))
TEXTS = st.text(max_size=6) | st.sampled_from(("\0", "'", "%" * 50, "_%" * 30, "x" * 1001, HALF, "\U0010ffff"))
ASKED = (
    "SELECT COUNT(*) AS n FROM t WHERE k {symbol} ?",
    "SELECT SUM(x) AS n FROM t WHERE x * ? {symbol} 1",
    "SELECT SUM(k + ?) AS n FROM t",
    "SELECT AVG(CLAMP(k * ?, 0, 9)) AS n FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE s {symbol} ?",
    "SELECT COUNT(*) AS n FROM t WHERE s LIKE ?",
    "SELECT k, COUNT(*) + ? AS n FROM t GROUP BY k HAVING COUNT(*) {symbol} 1",
    "SELECT MEDIAN(CLAMP(x * ?, 0, 1)) AS n FROM t",
    "SELECT COUNT(*) * ? AS n FROM t ORDER BY 1",
)


@settings(max_examples=examples(120), deadline=None)
@given(
    text=st.sampled_from(ASKED),
    symbol=st.sampled_from(("=", "<", ">=", "<>")),
    value=NUMBERS | FLOATS | TEXTS | st.none() | st.booleans(),
    said=st.fixed_dictionaries(
        {},
        optional={
            "max_groups": st.sampled_from((1, 3, 2**31, 2**40, 2**63)),
            "max_rows_per_group": st.sampled_from((1, 3, 2**31, 2**40, 2**63)),
            "max_rows": st.sampled_from((1, 2**31, 2**40, 2**64)),
            "weights": st.sampled_from(({"n": 1}, {"n": 10**300}, {"n": "1e-300"}, {"m": 1})),
        },
    ),
    loss=st.sampled_from(("1", "1e-9", "1e-300", "1e-320", "900")),
)
def test_whatever_is_asked_is_answered_or_free(
    text: str, symbol: str, value: object, said: dict[str, Any], loss: str
) -> None:
    answered_or_free(lambda s: s.sql(text.format(symbol=symbol), [value], loss=sf.Pure(loss), **said))


def test_a_rehearsal_looks_at_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs in a database of its own, whose tables are empty."""
    opened: OpenTables = data().tables
    engine: Any = opened.engine._engine  # type: ignore[attr-defined]
    scan = Scan("t", opened.catalog.tables["t"].fields, Owner("id"))
    assert engine.empty._connection is not engine._connection
    assert engine.empty.run(Cells(scan, (), (Rows(),))).numbers[0].tolist() == [0]
    monkeypatch.setattr(engine, "_tried", None)
    asking = session()
    assert asking.explain(COUNT, loss=sf.Pure(1), **KEPT)


@pytest.mark.parametrize(
    ("asked", "times"),
    [
        (("x > 0.25", "x > 0.5", "x > 1e-300"), 1),
        (("k = 1", "k = 2"), 1),
        (("x > 0.25", "x < 0.25"), 2),
        (("s = 'a'", "s = 'b'", "s = 'a'"), 2),
    ],
    ids=str,
)
def test_what_ran_on_no_rows_is_not_run_so_again_with_other_numbers(
    monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...], times: int
) -> None:
    """Texts are tried one by one: some are words of the engine, such as the part of a date that is taken."""
    engine: Any = data().tables.engine._engine  # type: ignore[attr-defined]
    engine.rehearsed.clear()
    vars(data().tables).pop("worked", None)  # what other sessions have planned
    twin, ran = engine.empty, []
    tried = twin._tried
    monkeypatch.setattr(twin, "_tried", lambda *given, few: ran.append(given) or tried(*given, few=few))
    for condition in asked:
        assert session().sql(f"{COUNT} WHERE {condition}", loss=sf.Pure(1), **KEPT).charged
    assert len(ran) == times

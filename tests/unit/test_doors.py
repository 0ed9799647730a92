"""No door around the ledger: whatever can be reached from what users hold leads to no private value.

The walk follows everything that Python gives for the asking: attributes under every name, properties, slots, items of
containers, what a bound method or a partial is bound to, the cells of closures, weak references, and the frames of the
errors that were raised. It asks neither the garbage collector nor the frames of what is running; SECURITY.md says so.
"""

from __future__ import annotations

import copy
import functools
import pickle
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.accounting.adaptive.costs import Cost
from sfumato.core.domains import Held
from sfumato.core.sealed import sealed
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.plan.engine_plan import Cells, Rows
from sfumato.session.open_data import open_tables
from sfumato.session.session import Session
from sfumato.session.vault import Holding

MARKER, NUMBER = "zz-marker-7351", 735_173_517.0
"""A text and a number that stand in the private data and nowhere else."""

PLAIN = (str, bytes, bytearray, int, float, complex, bool, type(None), types.ModuleType, type)
EVERYBODYS = {*dir(object), *dir(type), "__annotations__"}
MOST, DEEPEST = 200_000, 14

COLUMNS = {
    "user_id": {"type": "str"},
    "site": {"categories": ["north", "south"], "source": "the map"},
    "minutes": {"type": "float", "between": [0, 60], "source": "the clock"},
}
BOOK = {
    "codebook": 1,
    "title": "Visits",
    "unit": {"protects": "a person", "id": "user_id"},
    "tables": {
        "visits": {"columns": COLUMNS},
        "sites": {"public": True, "columns": {"site": {"type": "str"}, "region": {"type": "str"}}},
    },
}
VISITS = {"user_id": [MARKER, "b", "b", "c"], "site": ["north", "south"] * 2, "minutes": [NUMBER, 1.0, 2.0, 3.0]}
SCAN = Catalog(sf.Codebook.read(BOOK)).table("visits")
SITES = {"site": ["north", "south"], "region": ["n", "s"]}


def attributes(thing: object) -> Iterator[tuple[str, object]]:
    """Gives what a thing has under any name, properties as well; a property that raises has nothing, but its error."""
    for name in set(dir(thing)) - EVERYBODYS:
        try:
            yield f".{name}", getattr(thing, name)
        except Exception as error:
            yield f".{name} raises", error


def parts(thing: object) -> Iterator[tuple[str, object]]:
    """Gives everything that a thing leads to without being called."""
    if isinstance(thing, Mapping):
        yield from ((f"[{place}]", part) for place, pair in enumerate(list(thing.items())) for part in pair)
    elif isinstance(thing, Sequence | AbstractSet | deque) and len(thing) < 5_000:
        yield from ((f"[{place}]", part) for place, part in enumerate(list(thing)))
    if isinstance(thing, weakref.ReferenceType):
        yield "()", thing()
    if isinstance(thing, types.MethodType | types.BuiltinMethodType):
        yield ".__self__", thing.__self__
        return
    if isinstance(thing, functools.partial):
        yield from ((".args", thing.args), (".keywords", thing.keywords))
    if isinstance(thing, types.TracebackType):
        yield from ((".tb_frame.f_locals", dict(thing.tb_frame.f_locals)), (".tb_next", thing.tb_next))
        return
    if isinstance(thing, types.FunctionType):  # its globals are those of a module
        yield from ((".__defaults__", thing.__defaults__), (".__kwdefaults__", thing.__kwdefaults__))
        yield from ((".__dict__", vars(thing)), (".__closure__", thing.__closure__))
        return
    if isinstance(thing, types.CellType):
        yield ".cell_contents", getattr(thing, "cell_contents", None)
        return
    if isinstance(thing, np.ndarray | pa.Table | pa.ChunkedArray):
        return
    if not isinstance(thing, types.FrameType | types.CodeType):
        yield from attributes(thing)


def ours(thing: object) -> bool:
    """Tells whether to go into a thing: not into classes and modules, nor into what only Python itself is made of."""
    if isinstance(thing, PLAIN):
        return False
    kind = type(thing)
    holds = isinstance(thing, Mapping | Sequence | AbstractSet | deque | weakref.ReferenceType | functools.partial)
    made = kind.__module__.split(".")[0] in ("sfumato", "weakref", "duckdb", "_duckdb", "pyarrow", "numpy", "tests")
    called = isinstance(thing, types.MethodType | types.BuiltinMethodType | types.FunctionType | types.CellType)
    called |= isinstance(thing, functools._lru_cache_wrapper)
    return holds or made or called or isinstance(thing, BaseException | types.TracebackType)


def reached(start: object) -> Iterator[tuple[str, object]]:
    """Walks all that can be reached, each thing once, the nearest first."""
    waiting: deque[tuple[str, object]] = deque([(type(start).__name__, start)])
    seen: dict[int, object] = {}
    while waiting:
        path, thing = waiting.popleft()
        if id(thing) in seen:
            continue
        seen[id(thing)] = thing
        assert len(seen) < MOST, path
        yield path, thing
        if ours(thing) and path.count(".") + path.count("[") < DEEPEST:
            waiting.extend((path + step, part) for step, part in parts(thing))


def shows(thing: object) -> bool:
    """Tells whether a thing is, prints or holds a private value."""
    if isinstance(thing, str):
        return MARKER in thing or str(int(NUMBER)) in thing
    if isinstance(thing, bytes | bytearray | memoryview):
        return MARKER.encode() in bytes(thing)
    if isinstance(thing, float | int):
        return thing == NUMBER
    if isinstance(thing, np.ndarray):
        return MARKER in map(str, thing.reshape(-1)[:1000]) or bool(
            thing.dtype.kind in "fi" and (thing == NUMBER).any()
        )
    if isinstance(thing, pa.Table | pa.ChunkedArray | pa.Array):
        return MARKER in str(thing.to_pylist() if not isinstance(thing, pa.Table) else thing.to_pydict())
    return False


def computes(thing: object) -> bool:
    """Tells whether a thing computes a private value: by running cells, or by the statements of a connection."""
    if isinstance(thing, Held):
        return True
    if isinstance(thing, duckdb.DuckDBPyConnection):
        found = thing.execute(
            "SELECT database_name, schema_name, table_name FROM duckdb_tables() UNION ALL "
            "SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT internal"
        ).fetchall()
        return any(MARKER in str(thing.execute(f'SELECT * FROM "{a}"."{b}"."{c}"').fetchall()) for a, b, c in found)
    run = getattr(thing, "run", None)
    if not isinstance(run, types.MethodType) or isinstance(thing, sf.Session | sf.ledger.Permit):
        return False
    try:
        found = run(Cells(SCAN, (), (Rows(),)))
    except Exception:
        return False
    return any(map(int, found.numbers[0]))  # a twin of the tables that has no rows shows nothing


def doors(start: object) -> list[str]:
    """Names every way from a thing to something private."""
    return [path for path, thing in reached(start) if shows(thing) or computes(thing)]


def opened(tmp_path: Path, form: str) -> sf.Dataset:
    """Opens the visits in one form or another; what is private is in the data and nowhere else."""
    visits = pa.table(VISITS)
    if form == "csv":
        path = tmp_path / "visits.csv"
        path.write_text(
            "\n".join([",".join(VISITS), *(",".join(map(str, row)) for row in zip(*VISITS.values(), strict=True))])
        )
        return sf.Dataset({"visits": path, "sites": pa.table(SITES)}, codebook=BOOK, name="visits")
    if form == "duckdb":
        path = tmp_path / "both.duckdb"
        with duckdb.connect(str(path)) as made:
            made.register("v", visits)
            made.register("s", pa.table(SITES))
            made.execute("CREATE TABLE visits AS FROM v; CREATE TABLE sites AS FROM s")
        return sf.Dataset(path, codebook=BOOK, name="visits")
    if form == "frames":
        return sf.Dataset({"visits": visits.to_pandas(), "sites": pa.table(SITES)}, codebook=BOOK, name="visits")
    return sf.Dataset({"visits": visits, "sites": pa.table(SITES)}, codebook=BOOK, name="visits")


def session_of(data: sf.Dataset) -> sf.Session:
    return data.session(limit=sf.Approx(10**6, "0.1"), ledger="memory:")


QUESTION = "SELECT region, COUNT(*) AS n FROM visits JOIN sites ON visits.site = sites.site GROUP BY region"
KEPT = {"max_groups": 2, "max_rows_per_group": 2}


def refusals(session: sf.Session) -> Iterator[BaseException]:
    """Gives errors as they come out of a session: refused before anything ran, and broken off while it looked."""
    asked: list[Callable[[], object]] = [
        lambda: session.sql("SELECT * FROM visits", loss=sf.Pure(1)),
        lambda: session.sql("SELECT COUNT(*) AS n FROM visits", loss=sf.Pure(10**9), max_rows_per_group=1),
        lambda: session.run(session.table("visits"), loss=sf.Pure(1)),  # type: ignore[arg-type]
    ]
    for ask in asked:
        with pytest.raises(sf.errors.SfumatoError) as refused:
            ask()
        yield refused.value


@pytest.mark.parametrize("form", ["arrow", "frames", "csv", "duckdb"])
def test_nothing_that_users_hold_leads_to_private_tables(tmp_path: Path, form: str) -> None:
    data = opened(tmp_path, form)
    session = session_of(data)
    table = session.table("visits")
    grouped = table.group_by("site")
    query = grouped.agg(n=sf.count_rows())
    release = session.sql(QUESTION, loss=sf.Approx(1, "1e-3"), **KEPT)
    held = {
        "a session": session,
        "a data set": data,
        "a frame": table,
        "a grouped frame": grouped,
        "a query": query,
        "an explanation": session.explain(QUESTION, loss=sf.Approx(1, "1e-3"), **KEPT),
        "a release": release,
        "an answer": release.value,
        "a ledger": session.ledger,
        "a permit": session.ledger.charge("visits", sf.Pure(1)),
        "a run": session.start(sf.events.Laplace(scale=1), loss=sf.Pure(1), key="run", claim=sf.claim("a test")),
        "errors": [*refusals(session)],
    }
    assert {name: doors(thing) for name, thing in held.items()} == {name: [] for name in held}


@pytest.mark.parametrize("place", ["memory:", "sqlite:///other.db"])
def test_no_ledger_leads_to_another_book_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    session, others = (
        sf.Dataset([1], name=name, space=sf.vector(int)).session(limit=sf.Pure(1), ledger=book)
        for name, book in (("x", place.replace("other", "own")), ("y", place))
    )
    others.ledger.note("y", "said", MARKER)
    assert doors(session) == [] and doors(others) != []


def test_nothing_leads_to_values_in_memory_or_to_whose_they_are() -> None:
    register = sf.ledger.Register(":memory:", key=sf.ledger.Register.new_key(), limit=sf.Pure(10))
    ids = [MARKER, "b", "c"]
    data = sf.Dataset([NUMBER, 1.0, 2.0], name="x", space=sf.vector(float), members=sf.Members(register, ids))
    session = data.session(limit=sf.Pure(10), ledger="memory:")
    question = sf.count() >> sf.laplace(scale=1)
    release = session.run(question)
    permit = session.ledger.charge("x", sf.Pure(1))
    held = (data, session, session.explain(question), release, permit)
    assert [doors(thing) for thing in held] == [[]] * len(held)
    del data, session
    book = {**BOOK, "unit": {"protects": "a visit"}, "tables": {"visits": {"columns": COLUMNS}}}
    book["tables"] = {"visits": {"columns": COLUMNS, "contributions": {"rows": 1, "source": "each is one"}}}
    columns = {name: np.array(values) for name, values in VISITS.items()}
    columns["minutes"] = np.clip(columns["minutes"], 0, 60)
    both = sf.Dataset(columns, name="columns", codebook=book).session(limit=sf.Pure(10), ledger="memory:")
    both.sql("SELECT COUNT(*) AS n FROM visits", loss=sf.Pure(1))
    assert doors(both) == []


def test_no_digest_of_the_data_lies_about(tmp_path: Path) -> None:
    """With its key, a digest lets whoever knows all but one row try out that one."""
    from sfumato.session.fingerprint import version_of

    values = [1.0, 2.0, NUMBER]
    session = sf.Dataset(values, name="x", space=sf.vector(float), version="v").session(
        limit=sf.Pure(1), ledger="memory:"
    )
    session.run(sf.count() >> sf.laplace(scale=1))
    digest = version_of(values, session.ledger.secret("versions of data"))
    texts = [(path, thing) for path, thing in reached(session) if isinstance(thing, str | bytes)]
    assert len(texts) > 50
    assert [path for path, thing in texts if digest in str(thing)] == []


def test_an_audit_hands_on_nothing_that_it_opened() -> None:
    fewer = {name: column[1:] for name, column in VISITS.items()}
    sites = pa.table(SITES)
    left, right = ({"visits": pa.table(rows), "sites": sites} for rows in (VISITS, fewer))
    audit = sf.audit.grey_box_query(QUESTION, left, right, codebook=BOOK, loss=sf.Approx(1, "1e-3"), **KEPT)
    assert audit.verdict in ("sound", "open") and doors(audit) == []


def test_what_breaks_off_takes_nothing_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.query.engines.duckdb.engine import DuckDBEngine

    def broken(self: object, cells: object) -> None:
        raise RuntimeError(f"row of {MARKER}")

    session = session_of(opened(tmp_path, "arrow"))
    monkeypatch.setattr(DuckDBEngine, "run", broken)
    with pytest.raises(sf.errors.RunFailed) as failed:
        session.sql("SELECT COUNT(*) AS n FROM visits", loss=sf.Pure(1), max_rows_per_group=1)
    assert doors(failed.value) == []
    data = sf.Dataset([NUMBER], name="x", space=sf.vector(float))
    alone = data.session(limit=sf.Pure(10), ledger="memory:")
    with pytest.raises(sf.errors.RunFailed) as failed:
        alone.run(sf.count() >> sf.laplace(scale=1) >> (lambda value: 1 / 0))
    assert doors(failed.value) == []


def test_what_cannot_be_put_behind_an_engine_takes_nothing_along(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object, **said: object) -> None:
        raise sf.errors.BadArgument("data", "a source that can be read", "something else")

    table = {"columns": {"x": {"type": "float"}}, "contributions": {"rows": 1, "source": "each is one"}}
    book = {**BOOK, "unit": {"protects": "a visit"}, "tables": {"visits": table}}
    data = sf.Dataset({"x": np.array([NUMBER])}, name="x", codebook=book)
    session = data.session(limit=sf.Pure(1), ledger="memory:")
    monkeypatch.setattr("sfumato.query.engines.duckdb.opening.open_source", broken)
    with pytest.raises(sf.errors.BadArgument) as refused:
        session.sql("SELECT COUNT(*) AS n FROM visits", loss=sf.Pure(1))
    assert doors(refused.value) == []


def test_a_permit_is_not_to_be_made_up() -> None:
    data = sf.Dataset([NUMBER], name="x", space=sf.vector(float))
    data.session(limit=sf.Pure(1), ledger="memory:")
    other = sf.Ledger.open("memory:")
    other.open_account("x", limit=sf.Pure(10**9), unit=data.unit)
    counted = sf.vector(float) >> sf.count() >> sf.laplace(scale=1)
    with pytest.raises(sf.errors.BadArgument, match="in a ledger that the holder of the data let in"):
        data.release(other.charge("x", sf.Pure(1)), counted, confidence=0.95)

    class Greedy:
        account = other["x"]
        book = ""

        def run(self, measurement: object, data: object, **_: object) -> object:
            return data

    with pytest.raises(sf.errors.BadArgument, match="permit"):
        data.release(Greedy(), counted, confidence=0.95)  # type: ignore[arg-type]
    found = data._vault.run(Greedy(), counted, None)  # type: ignore[arg-type]
    assert isinstance(found, sf.errors.BadArgument)


def test_a_permit_that_no_charge_stands_behind_is_worth_nothing(tmp_path: Path) -> None:
    """One that is made by hand, and one of a copy of the book: what it was charged, the true one never sees."""
    session = sf.Dataset([NUMBER], name="x", space=sf.vector(float)).session(limit=sf.Pure(10), ledger="memory:")
    counted = sf.vector(float) >> sf.count() >> sf.laplace(scale=1)
    true = session.ledger.charge("x", sf.Pure(1))
    made = sf.ledger.Permit(
        true.receipt,
        Cost.of(sf.Pure(10**9)),
        true.account,
        keep=lambda release: release,
        fail=lambda: None,
        stored=lambda: None,
        interleaves=lambda: False,
    )
    session.ledger.export(tmp_path / "book.jsonl")
    copied = sf.Ledger.imported(tmp_path / "book.jsonl", "memory:")
    assert copied.book == session.ledger.book
    for permit in (made, copied.charge("x", sf.Pure(1))):
        with pytest.raises(sf.errors.BadArgument, match="permit"):
            session.dataset.release(permit, counted, confidence=0.95)
    with pytest.raises(sf.errors.BadArgument, match="permit"):
        Session(session.dataset, copied, copied["x"], by="somebody").run(counted)


@pytest.mark.parametrize("way", ["a new ledger", "the same ledger", "another name"])
def test_who_may_ask_sets_no_new_limit(tmp_path: Path, way: str) -> None:
    """A session has its data set, to be asked; if that opened sessions, there would be no limit at all."""
    session = session_of(opened(tmp_path, "arrow"))
    if way == "another name":
        session.dataset.name = "other"
    ledger = "memory:" if way == "a new ledger" else session.ledger
    with pytest.raises(sf.errors.AccountRefused, match="by whoever holds the data"):
        session.dataset.session(limit=sf.Approx(10**9, "0.1"), ledger=ledger, claim=sf.claim("for me"))
    assert not [path for path, thing in reached(session) if isinstance(thing, Holding)]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps], ids=["copy", "deepcopy", "pickle"])
def test_no_copy_of_a_data_set_is_made(tmp_path: Path, copied: Callable[[object], object]) -> None:
    data = opened(tmp_path, "arrow")
    with pytest.raises(sf.errors.BadArgument):
        copied(data)
    assert MARKER not in repr(data) + str(data) + repr(vars(data)) + repr(session_of(data)) + repr(data._vault)


def test_the_walk_finds_what_there_is_to_find(tmp_path: Path) -> None:
    """A test that could not fail would be none."""
    _, held = open_tables({"visits": pa.table(VISITS), "sites": pa.table(SITES)}, sf.Codebook.read(BOOK))
    engine = held.engine
    for hidden in (
        types.SimpleNamespace(a=1),
        functools.partial(engine.run),
        [weakref.ref(engine)],
        {"deep": {"er": (engine.run,)}},
    ):
        holder = types.SimpleNamespace(engine=engine) if isinstance(hidden, types.SimpleNamespace) else hidden
        assert doors([vars(holder)] if isinstance(holder, types.SimpleNamespace) else [holder]), hidden
    assert doors([lambda: engine.run]) and not doors([sealed(lambda: engine.run)])
    assert doors([{"x": np.array([1.0, NUMBER])}]) and doors([VISITS]) and doors([pa.table(VISITS)])

"""Records keep the same promises everywhere: in memory, in an SQLite file, on a PostgreSQL server."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.profiles import examples

from sfumato.errors import BadArgument, ChangedMeanwhile, ServiceUnavailable
from sfumato.service.records import NEW, Records, records_at

if TYPE_CHECKING:
    from side_by_side.postgres_server import PostgresServer


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_address"))
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'records.db'}"


@pytest.fixture
def records(address: str) -> Iterator[Records]:
    opened = records_at(address)
    yield opened
    opened.close()


@pytest.fixture(params=["sqlite", "postgres"])
def lasting(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of records that several processes can share."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_address"))
    return f"sqlite:///{tmp_path / 'records.db'}"


def test_what_is_put_is_found(records: Records) -> None:
    said = {"text": "ä 'quoted' \"twice\" %s {schema} \\", "number": 1.5, "list": [None, True, {"a": []}]}
    kept = records.put("thing", "a/b", said, expecting=NEW)
    assert kept.version == 1
    assert records.get("thing", "a/b") == kept
    assert kept.said == said
    assert records.get("other", "a/b") is None
    assert records.get("thing", "a") is None
    with pytest.raises(BadArgument):
        records.need("thing", "a")


def test_a_record_is_found_with_the_one_that_it_names(records: Records) -> None:
    """Also after either was changed, by whomever: nothing of both is remembered."""
    assert records.with_named("token", "t", "person", "of") is None
    token = records.put("token", "t", {"of": "ada", "called": "a \u00e4 b"}, expecting=NEW)
    assert records.with_named("token", "t", "person", "of") == (token, None)
    other = records.put("thing", "ada", {"grants": []}, expecting=NEW)
    assert records.with_named("token", "t", "person", "of") == (token, None)
    person = records.put("person", "ada", {"grants": [1]}, expecting=NEW)
    assert records.with_named("token", "t", "person", "of") == (token, person)
    assert records.with_named("token", "t", "thing", "of") == (token, other)
    changed = records.put("person", "ada", {"grants": []}, expecting=person.version)
    assert records.with_named("token", "t", "person", "of") == (token, changed)
    records.remove("token", "t", expecting=token.version)
    assert records.with_named("token", "t", "person", "of") is None


def test_the_order_of_entries_is_kept(records: Records) -> None:
    records.put("thing", "a", {"z": {"b": 1, "a": 2}, "y": 3}, expecting=NEW)
    said = records.need("thing", "a").said
    assert (list(said), list(said["z"])) == (["z", "y"], ["b", "a"])  # columns of a codebook have an order


def test_versions_count_and_a_stale_writer_is_told(records: Records) -> None:
    first = records.put("thing", "a", {"n": 1}, expecting=NEW)
    with pytest.raises(ChangedMeanwhile):
        records.put("thing", "a", {"n": 2}, expecting=NEW)
    second = records.put("thing", "a", {"n": 2}, expecting=first.version)
    assert second.version == 2
    for stale in (first.version, 3, NEW):
        with pytest.raises(ChangedMeanwhile):
            records.put("thing", "a", {"n": 3}, expecting=stale)
        with pytest.raises(ChangedMeanwhile):
            records.remove("thing", "a", expecting=stale)
    assert records.get("thing", "a") == second
    records.remove("thing", "a", expecting=second.version)
    assert records.get("thing", "a") is None
    with pytest.raises(ChangedMeanwhile):
        records.remove("thing", "a", expecting=second.version)
    with pytest.raises(ChangedMeanwhile):
        records.put("thing", "a", {"n": 3}, expecting=second.version)


def test_all_are_in_order_and_prefixes_are_no_patterns(records: Records) -> None:
    for name in ("b", "a/1", "a/2", "A", "a%", "a_", "ä", "a"):
        records.put("thing", name, {}, expecting=NEW)
    records.put("other", "a/3", {}, expecting=NEW)
    names = [kept.name for kept in records.all("thing")]
    assert names == sorted(names)
    assert len(names) == 8
    assert [kept.name for kept in records.all("thing", "a/")] == ["a/1", "a/2"]
    assert [kept.name for kept in records.all("thing", "a%")] == ["a%"]
    assert [kept.name for kept in records.all("thing", "a_")] == ["a_"]
    assert records.all("nothing") == []


@pytest.mark.parametrize("name", ["", "two\nlines", "nul\0", "x" * 301, 7, None, "\ud800"])
def test_names_that_no_store_could_hold_are_refused(records: Records, name: object) -> None:
    with pytest.raises((BadArgument, ServiceUnavailable)):
        records.put("thing", name, {}, expecting=NEW)  # type: ignore[arg-type]
    assert records.all("thing") == []


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(25))
@given(st.dictionaries(st.text("abc", max_size=4), plain, max_size=4))
def test_whatever_is_plain_comes_back(records: Records, said: dict[str, object]) -> None:
    known = records.get("drawn", "x")
    kept = records.put("drawn", "x", said, expecting=NEW if known is None else known.version)
    assert records.get("drawn", "x") == kept
    assert kept.said == said


def test_of_threads_that_race_each_write_is_counted_once(records: Records) -> None:
    records.put("thing", "count", {"n": 0}, expecting=NEW)
    won: list[int] = []

    def add() -> None:
        for _ in range(20):
            while True:
                kept = records.need("thing", "count")
                try:
                    records.put("thing", "count", {"n": kept.said["n"] + 1}, expecting=kept.version)
                except ChangedMeanwhile:
                    continue
                won.append(1)
                break

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = records.need("thing", "count")
    assert (kept.said["n"], kept.version, len(won)) == (80, 81, 80)


def test_two_openings_see_each_other_and_one_of_two_writers_wins(lasting: str) -> None:
    one, two = records_at(lasting), records_at(lasting)
    outcomes: list[str] = []
    barrier = threading.Barrier(2)

    def write(records: Records, name: str) -> None:
        for turn in range(20):
            barrier.wait()
            try:
                records.put("thing", f"t{turn}", {"by": name}, expecting=NEW)
                outcomes.append(name)
            except ChangedMeanwhile:
                pass

    threads = [threading.Thread(target=write, args=pair) for pair in ((one, "one"), (two, "two"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 20
    assert one.all("thing") == two.all("thing")
    assert sorted(kept.said["by"] for kept in one.all("thing")) == sorted(outcomes)
    one.close()
    two.close()


def test_a_child_that_is_forked_off_has_a_connection_of_its_own(lasting: str) -> None:
    records = records_at(lasting)
    records.put("thing", "parent", {}, expecting=NEW)
    child = os.fork()
    if child == 0:
        try:
            records.put("thing", "child", {}, expecting=NEW)
            os._exit(0 if records.get("thing", "parent") is not None else 3)
        except BaseException:
            os._exit(4)
    records.put("thing", "meanwhile", {}, expecting=NEW)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [kept.name for kept in records.all("thing")] == ["child", "meanwhile", "parent"]
    records.close()


def test_closed_records_open_again_when_they_are_needed(lasting: str) -> None:
    records = records_at(lasting)
    records.put("thing", "a", {}, expecting=NEW)
    records.close()
    assert records.get("thing", "a") is not None
    records.close()
    records.close()


def test_a_file_that_cannot_be_opened_is_said_in_our_words(tmp_path: Path) -> None:
    place = tmp_path / "no folder" / "records.db"
    with pytest.raises(ServiceUnavailable) as refusal:
        records_at(f"sqlite:///{place}")
    assert "no folder" not in str(refusal.value)
    (tmp_path / "broken.db").write_bytes(b"this is no database, and it says something: 555-0199" * 40)
    with pytest.raises(ServiceUnavailable) as refusal:
        records_at(f"sqlite:///{tmp_path / 'broken.db'}")
    assert "555" not in str(refusal.value)


def test_the_file_of_records_is_for_its_owner_alone(tmp_path: Path) -> None:
    records_at(f"sqlite:///{tmp_path / 'records.db'}").close()
    assert (tmp_path / "records.db").stat().st_mode & 0o077 == 0


def test_a_full_disk_loses_nothing_that_was_written(tmp_path: Path) -> None:
    import sqlite3

    records = records_at(f"sqlite:///{tmp_path / 'records.db'}")
    records.put("thing", "kept", {"n": 1}, expecting=NEW)
    connection = records._connection  # type: ignore[attr-defined]
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(ServiceUnavailable, match="the disk is full"):
        records.put("thing", "large", {"text": "x" * 100_000}, expecting=NEW)
    assert records.get("thing", "large") is None
    assert records.need("thing", "kept").said == {"n": 1}
    connection.execute("PRAGMA max_page_count = 1000000")
    records.put("thing", "large", {"text": "x" * 100_000}, expecting=NEW)
    records.close()
    assert isinstance(connection, sqlite3.Connection)


def test_a_server_that_cuts_connections_is_asked_again(postgres_server: PostgresServer, postgres_address: str) -> None:
    psycopg = pytest.importorskip("psycopg", reason="needs psycopg")
    records = records_at(postgres_address)
    records.put("thing", "a", {"n": 1}, expecting=NEW)
    with psycopg.connect(postgres_server.url(), autocommit=True) as other:
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'book'"
        other.execute(cut)
        kept = records.put("thing", "a", {"n": 2}, expecting=1)
        assert kept.version == 2
        other.execute(cut)
        assert records.need("thing", "a").said == {"n": 2}
    records.close()


def begin_all(paths: list[Path]) -> list[str]:
    """Opens new files, each at the same time as other processes do; names what went wrong."""
    wrong = []
    for path in paths:
        try:
            records_at(f"sqlite:///{path}").close()
        except ServiceUnavailable as refusal:
            wrong.append(str(refusal))
    return wrong


@pytest.mark.slow
def test_processes_begin_one_file_of_records_at_once(tmp_path: Path) -> None:
    """SQLite refuses at once where two turn on the write-ahead log of a new file."""
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        wrong = pool.map(begin_all, [[tmp_path / f"{at}.db" for at in range(40)]] * 3, chunksize=1)
    assert wrong == [[], [], []]

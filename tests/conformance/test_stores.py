"""Every store keeps the same promises: one suite for the book in memory, in an SQLite file, on a PostgreSQL server."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.examples.stores import add, authors, race, row

from sfumato.errors import BadArgument, LedgerDamaged, LedgerUnavailable
from sfumato.ledger.addresses import store_at
from sfumato.ledger.entry import digest_of
from sfumato.ledger.store import LONGEST_KEY, Pen, Row, Store


class Place:
    """Is where a book is; gives handles on it, and closes them."""

    def __init__(self, kind: str, address: str) -> None:
        self.kind, self.address = kind, address
        self._handles: list[Store] = []

    @property
    def lasts(self) -> bool:
        return self.kind != "memory"

    def open(self) -> Store:
        if not self.lasts and self._handles:
            return self._handles[0]
        self._handles.append(store_at(self.address))
        return self._handles[-1]

    def close(self) -> None:
        for handle in self._handles:
            handle.close()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    kind = request.param
    if kind == "postgres":
        address = request.getfixturevalue("postgres_address")
    else:
        address = "memory:" if kind == "memory" else str(tmp_path / "book.db")
    made = Place(kind, address)
    yield made
    made.close()


@pytest.fixture
def store(place: Place) -> Store:
    return place.open()


def fill(store: Store, many: int) -> None:
    store.append(0, lambda pen: [row(number, f"entry {number}") for number in range(1, many + 1)])


def refuse(pen: Pen) -> Sequence[Row]:
    raise BadArgument("this", "refused", "it")


def test_rows_come_back_in_order_and_whole(store: Store) -> None:
    first = row(1, "one", kind="begun")
    second = row(2, "two", key="k", question="q")
    third = row(3, "three", kind="released", question="q", settles=2, value="the release")
    add(store, 0, first)
    add(store, 1, second, third)
    assert list(store.rows()) == [first, second, third]
    assert list(store.rows(1)) == [second, third]
    assert list(store.rows(kinds=("begun", "released"))) == [first, third]
    assert list(store.rows(1, kinds=("begun",))) == []
    assert [store.get(number) for number in range(5)] == [None, first, second, third, None]
    assert list(store.rows(3)) == []


def test_a_row_is_found_by_key_question_and_charge(store: Store) -> None:
    charge = row(1, key="k", question="q")
    release = row(2, kind="released", question="q", settles=1, value="v")
    later = row(3, kind="released", question="q", settles=7, value="w")
    add(store, 0, charge, release)
    assert store.by_key("k") == charge
    assert store.by_question("q") == release
    assert store.settled(1) == release
    add(store, 2, later)
    assert store.by_question("q") == later, "the last one answers"
    assert (store.by_key("q"), store.by_question("k"), store.settled(2)) == (None, None, None)


def test_the_last_of_a_kind_is_found(store: Store) -> None:
    add(store, 0, row(1, kind="opened"), row(2, kind="balance"), row(3, kind="balance"), row(4))
    found = store.last("balance")
    assert found is not None
    assert found.number == 3
    assert store.last("charged") is not None
    assert store.last("closed") is None


def test_news_are_what_others_wrote(place: Place) -> None:
    ours, other = place.open(), place.open()
    add(ours, 0, row(1))
    add(other, 1, row(2, key="k", value="kept"), row(3))
    seen: list[Row] = []

    def decide(pen: Pen) -> Sequence[Row]:
        seen[:] = pen.news
        return [row(2 + len(pen.news))]

    news = ours.append(1, decide)
    assert [found.number for found in news] == [2, 3] == [found.number for found in seen]
    assert all(found.value is None for found in news), "values are not read where nobody asks for them"
    assert news[0]._replace(value="kept") == ours.get(2)
    assert [found.number for found in other.rows()] == [1, 2, 3, 4]
    assert list(ours.append(4, lambda pen: [row(5)])) == []


def test_a_decision_sees_what_is_there(place: Place) -> None:
    store, other = place.open(), place.open()
    add(other, 0, row(1, key="k"), row(2, kind="released", settles=1, value="v"))
    found: dict[str, Row | None] = {}

    def decide(pen: Pen) -> Sequence[Row]:
        found.update(key=pen.by_key("k"), none=pen.by_key("other"), settled=pen.settled(1), open=pen.settled(2))
        return []

    store.append(2, decide)
    assert found == {
        "key": row(1, key="k"),
        "none": None,
        "settled": row(2, kind="released", settles=1),
        "open": None,
    }


def test_a_decision_without_news_is_not_misled_by_what_is_old(place: Place) -> None:
    """The writer knows the end of the book, but not its keys: an answer that hopes must not be believed."""
    add(place.open(), 0, row(1, key="k"), row(2, kind="released", settles=1))
    decisions: list[Callable[[Pen], Sequence[Row]]] = [
        lambda pen: [] if pen.by_key("k") else [row(3, key="k")],
        lambda pen: [] if pen.by_key("k") else [row(3, key="another")],
        lambda pen: [] if pen.settled(1) else [row(3, "asks without writing")],
    ]
    for decide in decisions:  # each by a writer that has no reason yet to be careful
        assert list(place.open().append(2, decide)) == []
    assert len(list(place.open().rows())) == 2


def test_all_rows_or_none(store: Store) -> None:
    add(store, 0, row(1, key="k"))
    with pytest.raises(LedgerDamaged):
        add(store, 1, row(2, value="kept"), row(3), row(4, key="k"))
    with pytest.raises(LedgerDamaged):
        add(store, 1, row(2, key="same"), row(3, key="same"))
    assert list(store.rows()) == [row(1, key="k")]
    kept = row(2, value="kept again")
    add(store, 1, kept)
    assert store.get(2) == kept, "nothing is left of the first attempt"


def test_nothing_is_appended_when_the_decision_fails(store: Store) -> None:
    add(store, 0, row(1))
    with pytest.raises(BadArgument):
        store.append(1, refuse)
    with pytest.raises(ZeroDivisionError):
        store.append(1, lambda pen: [row(1 // 0)])
    with pytest.raises(KeyboardInterrupt):
        store.append(1, interrupted)
    assert list(store.rows()) == [row(1)]
    add(store, 1, row(2))
    assert len(list(store.rows())) == 2


def interrupted(pen: Pen) -> Sequence[Row]:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "wrong",
    [
        row(1),
        row(3),
        row(5),
        row(4, key="k"),
        row(4, settles=1),
    ],
    ids=["first again", "last again", "gap", "key", "settles"],
)
def test_what_is_there_is_not_written_again_and_no_number_left_out(store: Store, wrong: Row) -> None:
    before = [row(1, key="k"), row(2, kind="released", settles=1), row(3)]
    add(store, 0, *before)
    with pytest.raises(LedgerDamaged, match="twice"):
        add(store, 3, wrong)
    assert list(store.rows()) == before
    add(store, 3, row(4))


def test_a_book_that_lost_its_end_is_not_written_to(store: Store) -> None:
    """An older copy was put back under a writer that has seen more."""
    fill(store, 3)
    with pytest.raises(LedgerDamaged, match="no longer in it"):
        add(store, 5, row(6))
    assert len(list(store.rows())) == 3


CONTROL = "".join(map(chr, range(1, 32))) + "\x7f\x80\u2028\ufeff\uffff"
TEXTS = {
    "unicode": "ε ≤ δ — ½ 漢字 🐘 é é \U0010ffff",
    "control": CONTROL,
    "quotes": "'; DROP TABLE entries; -- \" \\ \\' $$ %s %(a)s ? :name {} \\x00 \\000",
    "spaces": "  \t\r\n lines \r end \n",
    "empty": "",
    "large": "5 MB: é" + "x" * 5_000_000,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_texts_come_back_byte_for_byte(place: Place, text: str) -> None:
    short = text[:500]
    written = row(1, text, key=short, question=short, value=text)
    add(place.open(), 0, written)
    store = place.open()
    assert list(store.rows()) == [written]
    assert store.by_key(short) == written == store.by_question(short)


@pytest.mark.parametrize("hostile", ["' OR '1'='1", "k'; DELETE FROM entries; --", "%", "_", "k\\", "K", "k ", "ｋ"])
def test_a_lookup_finds_only_what_is_equal(store: Store, hostile: str) -> None:
    add(store, 0, row(1, key="k", question="k"))
    assert store.by_key(hostile) is None
    assert store.by_question(hostile) is None
    assert store.last(hostile) is None
    assert list(store.rows(kinds=(hostile,))) == []
    add(store, 1, row(2, hostile, key=hostile, question=hostile))
    assert store.by_key(hostile) == row(2, hostile, key=hostile, question=hostile)
    assert store.by_key("k") == row(1, key="k", question="k")


@pytest.mark.parametrize("broken", ["half \ud83d of a character", "a NUL \0 in it"])
@pytest.mark.parametrize("field", ["text", "key", "question", "value"])
def test_what_not_every_store_could_keep_is_refused_by_all(store: Store, field: str, broken: str) -> None:
    add(store, 0, row(1))
    with pytest.raises(BadArgument, match="lone surrogates") as raised:
        add(store, 1, row(2)._replace(**{field: broken}))
    assert broken not in str(raised.value)
    assert list(store.rows()) == [row(1)]
    assert store.by_key(broken) is None
    assert store.by_question(broken) is None
    assert list(store.append(1, lambda pen: [row(2)] if pen.by_key(broken) is None else [])) == []


@pytest.mark.parametrize("field", ["key", "question"])
def test_a_key_has_a_longest_length(store: Store, field: str) -> None:
    # Random letters, which no index can shorten.
    letters = "".join(digest_of(str(number)) for number in range(LONGEST_KEY // 64 + 1))
    written = row(1)._replace(**{field: letters[:LONGEST_KEY]})
    add(store, 0, written)
    assert list(store.rows()) == [written]
    with pytest.raises(BadArgument, match="at most 2000 bytes"):
        add(store, 1, row(2)._replace(**{field: letters[: LONGEST_KEY + 1]}))


def test_three_thousand_rows_stream(store: Store) -> None:
    fill(store, 3000)
    found = store.rows(500)
    assert next(found).number == 501
    assert [one.number for one in found] == list(range(502, 3001))
    assert [one.number for one in store.rows(2998)] == [2999, 3000]


def test_many_rows_go_in_at_once(store: Store) -> None:
    rows = [row(number, key=f"{number}", value="v" * (number % 2) or None) for number in range(1, 10_001)]
    add(store, 0, *rows)
    assert list(store.rows()) == rows


def test_rows_can_be_read_while_others_write(place: Place) -> None:
    store = place.open()
    fill(store, 1500)
    found = store.rows()
    next(found)
    add(place.open(), 1500, row(1501))
    assert [one.number for one in found][:1499] == list(range(2, 1501))


def test_a_secret_is_made_once(place: Place) -> None:
    first, second = place.open(), place.open()
    made = first.secret("seal", lambda: b"\x00\xff first")
    assert made == b"\x00\xff first"
    assert second.secret("seal", lambda: pytest.fail("made a second time")) == made
    assert second.secret("other", lambda: b"2") == b"2"
    assert list(first.rows()) == []


def test_it_goes_on_after_it_was_closed(place: Place) -> None:
    store = place.open()
    add(store, 0, row(1, key="k", value="v"))
    secret = store.secret("seal", lambda: b"kept")
    store.close()
    store.close()
    again = place.open()
    assert list(again.rows()) == [row(1, key="k", value="v")]
    assert again.secret("seal", lambda: b"another") == secret
    assert store.by_key("k") == row(1, key="k", value="v")
    assert store.lasts == place.lasts


@pytest.mark.parametrize("shared", [True, False], ids=["one handle", "own handles"])
def test_threads_race(place: Place, shared: bool) -> None:
    faults: list[BaseException] = []

    def run(name: str, store: Store) -> None:
        try:
            race(store, name, 200)
        except BaseException as fault:
            faults.append(fault)

    one = place.open()
    handles = [one if shared else place.open() for _ in range(4)]
    threads = [threading.Thread(target=run, args=(f"t{i}", handle)) for i, handle in enumerate(handles)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert authors(one) == {f"t{i}": 200 for i in range(4)}


RACER = """
import sys
from sfumato.ledger.addresses import store_at
from tests.examples.stores import race
store = store_at(sys.argv[1])
race(store, sys.argv[2], int(sys.argv[3]))
store.close()
"""


def test_processes_race(place: Place) -> None:
    if not place.lasts:
        return
    root = Path(__file__).parents[2]
    racers = [
        subprocess.Popen([sys.executable, "-c", RACER, place.address, f"p{i}", "250"], cwd=root) for i in range(4)
    ]
    assert [racer.wait() for racer in racers] == [0, 0, 0, 0]
    assert authors(place.open()) == {f"p{i}": 250 for i in range(4)}


def in_child(work: Callable[[], object]) -> object:
    """Gives what some work gives in a forked process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            told = json.dumps(work())
        except BaseException as fault:
            told = json.dumps(f"{type(fault).__name__}: {fault}")
        os.write(writing, told.encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as answer:
        return json.loads(answer.read())


def test_a_fork_has_a_handle_of_its_own(place: Place) -> None:
    store = place.open()
    add(store, 0, row(1))

    def work() -> object:
        add(store, 1, row(2, "child"))
        store.close()
        return [one.text for one in store.rows()]

    told = in_child(work)
    if place.lasts:
        assert told == ["text", "child"]
        news = store.append(1, lambda pen: [row(2 + len(pen.news), "parent")])
        assert [one.text for one in news] == ["child"]
        assert [one.text for one in store.rows()] == ["text", "child", "parent"]
    else:
        assert str(told).startswith(LedgerUnavailable.__name__)
        assert list(store.rows()) == [row(1)]


def test_a_fork_while_a_thread_writes_does_not_hang(place: Place) -> None:
    """The lock that another thread held at the fork is held for ever in the child."""
    if place.kind != "postgres":
        return  # while something is decided, SQLite keeps every other writer waiting
    store, deciding, go_on = place.open(), threading.Event(), threading.Event()

    def decide(pen: Pen) -> Sequence[Row]:
        deciding.set()
        go_on.wait(60)
        return [row(len(pen.news) + 1, "thread")]

    thread = threading.Thread(target=store.append, args=(0, decide))
    thread.start()
    deciding.wait(60)
    told = in_child(lambda: [len(list(store.rows())), len(store.append(0, lambda pen: [row(1, "child")]))])
    go_on.set()
    thread.join()
    assert told == [0, 0]
    assert [one.text for one in store.rows()] == ["child", "thread"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET text = 'x'",
        "DELETE FROM entries",
        "DELETE FROM entries WHERE number = 99",
        "TRUNCATE entries",
    ],
)
def test_what_is_written_cannot_be_changed_by_hand(place: Place, statement: str) -> None:
    if not place.lasts or (place.kind == "sqlite" and ("TRUNCATE" in statement or "99" in statement)):
        return
    store = place.open()
    fill(store, 2)
    before = list(store.rows())
    if place.kind == "sqlite":
        connection = sqlite3.connect(place.address)
        with pytest.raises(sqlite3.IntegrityError, match="append only"):
            connection.execute(statement)
        connection.close()
    else:
        psycopg = pytest.importorskip("psycopg")
        with psycopg.connect(place.address, autocommit=True, options="-csearch_path=sfumato") as connection:
            connection.execute("SET session_replication_role = replica")  # switches ordinary triggers off
            with pytest.raises(psycopg.errors.RaiseException, match="append only"):
                connection.execute(statement)
    assert list(store.rows()) == before


def test_a_handle_shows_nothing_of_where_it_is_but_its_name(place: Place) -> None:
    assert len(repr(place.open())) < 120

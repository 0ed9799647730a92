"""Reports in a store: the sums of the messages, each batch once, senders within their limit, and clear refusals."""

from __future__ import annotations

import datetime
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from tests.examples.local_protocols import EXAMPLES, SMALL
from tests.examples.local_vectors import Stream
from tests.unit.local.javascript import in_javascript

from sfumato import local
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, MissingExtra
from sfumato.local import device
from sfumato.local.collecting import senders, sql_sums
from sfumato.local.collecting.collector import Collector, order_of_content
from sfumato.local.collecting.faults import StoreUnavailable
from sfumato.local.frequency import FrequencyProtocol
from sfumato.local.protocol import LocalProtocol, Tally
from sfumato.local.reports import Rejected

KEY = bytes(range(32))
PLACES = ("reports.duckdb", "reports")
PROTOCOL = local.frequencies(range(5), loss=1, users=100, method="response")
UNARY = local.frequencies(range(70), loss=1, users=100, method="optimized unary encoding")


def sent(protocol: LocalProtocol[Any] = PROTOCOL, people: int = 60, seed: int = 1) -> list[bytes]:
    return protocol.randomize_many(np.arange(people) % 5, entropy=ReplayEntropy(seed)).messages()


def same(one: Tally, other: Tally) -> bool:
    return one.head == other.head and np.array_equal(one.sums, other.sums) and one.rejected == other.rejected


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / str(request.param)


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("name", SMALL)
def test_a_store_has_the_sums_of_the_messages(name: str, kind: str, tmp_path: Path) -> None:
    example, protocol = EXAMPLES[name], EXAMPLES[name].build()
    values = [example.values[at % len(example.values)] for at in range(90)]
    messages = protocol.randomize_many(example.column(values), entropy=ReplayEntropy(2)).messages()
    messages[7:7] = [messages[0][:-1], b"", b"\x02" + messages[1][1:], b"another"]
    with Collector(protocol, tmp_path / kind) as collector:
        for batch, part in (("a", messages[:30]), ("b", messages[30:31]), ("c", messages[31:])):
            added = collector.add(part, batch=batch)
            assert added.received == len(part)
        assert same(collector.tally(), protocol.tally(messages))
        assert same(collector.tally(batches=["a", "c"]), protocol.tally(messages[:30] + messages[31:]))
        assert same(collector.tally(batches="a") + collector.tally(batches=["b", "c"]), collector.tally())
    with Collector(protocol, tmp_path / kind) as again:
        assert same(again.tally(), protocol.tally(messages))
        again.aggregate()


def test_periods_and_batches_choose(place: Path) -> None:
    first, second, third = sent(seed=1), sent(seed=2), sent(people=7, seed=3)
    with Collector(PROTOCOL, place) as collector:
        collector.add(first, batch="1", period=datetime.date(2026, 11, 1))
        collector.add(second, batch="2", period="2026-11-02")
        collector.add(third, period="2026-11-02")
        assert same(collector.tally(periods="2026-11-01"), PROTOCOL.tally(first))
        assert same(collector.tally(periods=datetime.date(2026, 11, 2)), PROTOCOL.tally(second + third))
        assert same(collector.tally(periods=["2026-11-02"], batches=["1", "2"]), PROTOCOL.tally(second))
        assert collector.tally(periods=[]).users == collector.tally(batches="none").users == 0
        assert collector.aggregate(periods="2026-11-02").users == 67
        assert [one.accepted for one in collector.batches()] == [60, 60, 7]
        with pytest.raises(BadArgument, match="periods"):
            collector.tally(periods=3)  # type: ignore[arg-type]


def test_a_batch_counts_once(place: Path) -> None:
    messages = [*sent(), b"short"]
    with Collector(PROTOCOL, place) as collector:
        first = collector.add(iter(messages), batch="monday", period="1")
        again = collector.add(messages[::-1], batch="monday", period="1")
        assert again.repeated and not first.repeated and again.accepted == first.accepted == 60
        assert "it was there already" in str(again) and "1 foreign" in str(first)
        for other, period in ((sent(seed=9), "1"), (messages[1:], "1"), (messages, "2")):
            with pytest.raises(BadArgument, match="a key of its own"):
                collector.add(other, batch="monday", period=period)
        assert same(collector.tally(), PROTOCOL.tally(messages))
        collector.add(messages), collector.add(messages)  # without a key nobody knows that it is the same
        assert collector.tally().users == 180


def test_an_empty_batch_is_one(place: Path) -> None:
    with Collector(PROTOCOL, place) as collector:
        assert collector.tally().users == 0 and np.isnan(collector.aggregate().shares).all()
        assert collector.add([], batch="nothing").received == 0
        assert collector.add([], batch="nothing").repeated
        assert collector.tally().users == 0
        with Collector(UNARY, place, question="bits") as bits:
            bits.add([])
            assert bits.tally().users == 0


def test_arrays_are_collected_like_their_messages(place: Path) -> None:
    reports = UNARY.randomize_many(np.arange(300) % 70, entropy=ReplayEntropy(4))
    with Collector(UNARY, place) as collector:
        collector.add(reports, batch="a")
        assert collector.add(reports.messages(), batch="a").repeated
        assert same(collector.tally(), UNARY.tally(reports))
        with pytest.raises(BadArgument, match="of the same protocol"):
            collector.add(PROTOCOL.randomize_many([1]))


def test_several_questions_in_one_store(place: Path) -> None:
    with (
        Collector(PROTOCOL, place, question="colour") as colour,
        Collector(PROTOCOL, place, question="taste") as taste,
        Collector(UNARY, place, question="town") as town,
    ):
        colour.add(sent(), batch="1"), taste.add(sent(people=9), batch="1"), town.add(sent(UNARY), batch="1")
        assert [one.tally().users for one in (colour, taste, town)] == [60, 9, 60]
        assert same(town.tally(), UNARY.tally(sent(UNARY)))
        with pytest.raises(BadArgument, match="those of the question 'town'"):
            colour.add(sent(UNARY), batch="2")
        mixed = colour.add([*sent(UNARY), *sent(people=3)], batch="2")
        assert mixed.accepted == 3 and mixed.rejected == Rejected(foreign=60)
    assert repr(colour).startswith("Collector of 'colour' at ")


def test_another_protocol_is_refused_by_name(place: Path) -> None:
    with Collector(PROTOCOL, place) as collector:
        collector.add(sent())
    other_loss = local.frequencies(range(5), loss=2, users=100, method="response")
    with pytest.raises(BadArgument) as refused:
        Collector(other_loss, place)
    assert PROTOCOL.head.hex() in str(refused.value) and other_loss.head.hex() in str(refused.value)
    other_values = local.frequencies(range(1, 6), loss=1, users=100, method="response")
    assert other_values.randomizer() == PROTOCOL.randomizer()  # reports look the same, and are about something else
    with pytest.raises(BadArgument, match=other_values.head.hex()):
        Collector(other_values, place)
    with pytest.raises(BadArgument, match="which begin with") as strange, Collector(PROTOCOL, place) as collector:
        collector.add([b"secret-of-somebody", other_loss.randomize(1)])
    assert "secret" not in str(strange.value)


@pytest.mark.parametrize("each_period", [False, True])
def test_senders_are_limited(place: Path, *, each_period: bool) -> None:
    """Two of each sender are kept, over batches and pieces of them, or in each period."""
    messages = sent(people=50)
    who = ["ada"] * 3 + ["bea"] + [f"person {at}" for at in range(46)]
    with Collector(PROTOCOL, place, max_reports=2, key=KEY, each_period=each_period) as collector:
        first = collector.add(messages, batch="1", period="mon", senders=iter(who))
        assert first.rejected == Rejected(excess=1) and first.accepted == 49
        again = collector.add(messages, batch="1", period="mon", senders=who)
        assert again.repeated and again.accepted == 49
        same_day = collector.add(messages[:4], batch="2", period="mon", senders=["ada", "bea", "bea", "new"])
        assert same_day.accepted == 2
        next_day = collector.add(messages[:4], batch="3", period="tue", senders=["ada", "ada", "ada", b"ada"])
        assert next_day.accepted == (3 if each_period else 1)
        assert collector.tally().rejected.excess == sum(one.rejected.excess for one in collector.batches())
        kept = [messages[at] for at in range(50) if at != 2]
        assert np.array_equal(collector.tally(batches="1").sums, PROTOCOL.tally(kept).sums)
    with Collector(PROTOCOL, place, max_reports=2, key=KEY, each_period=each_period) as collector:
        assert collector.add(messages[:1], period="mon", senders=["ada"]).accepted == 0
    with pytest.raises(BadArgument, match="the one that senders of this store are known by"):
        Collector(PROTOCOL, place, max_reports=2, key=KEY[::-1])


def test_the_first_reports_of_a_sender_count_over_pieces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sfumato.local.collecting.collector.AT_ONCE", 4)
    messages = sent(people=30)
    with Collector(PROTOCOL, tmp_path / "a.duckdb", max_reports=3, key=KEY) as collector:
        added = collector.add(messages, senders=[at % 2 for at in range(30)])
        assert added.accepted == 6 and np.array_equal(collector.tally().sums, PROTOCOL.tally(messages[:6]).sums)


def test_invalid_messages_are_nobodys_reports(place: Path) -> None:
    with Collector(PROTOCOL, place, max_reports=1, key=KEY) as collector:
        added = collector.add([b"", sent()[0], b"x"], senders=["ada", "ada", "ada"])
        assert added.accepted == 1 and added.rejected == Rejected(truncated=1, foreign=1)


def test_senders_are_not_in_the_store(place: Path) -> None:
    with Collector(PROTOCOL, place, max_reports=1, key=KEY) as collector:
        collector.add(sent(), period="1", senders=[f"somebody-{at}" for at in range(60)])
    files = [place] if place.is_file() else [file for file in place.rglob("*") if file.is_file()]
    stored = b"".join(file.read_bytes() for file in files)
    assert b"somebody" not in stored and KEY not in stored and len(stored) > 1000
    with duckdb.connect(str(place if place.is_file() else place / "index.duckdb")) as base:
        columns = base.execute("SELECT table_name, column_name FROM duckdb_columns()").fetchall()
        assert base.execute("SELECT count(DISTINCT (high, low)) FROM sfumato_senders").fetchone() == (60,)
    assert not {name for table, name in columns if "reports" in table} & {"high", "low", "period"}
    limit = senders.SenderLimit(1, KEY)
    names = [limit.pseudonyms(["ada"], question=question, period="1").tolist() for question in ("a", "b")]
    assert (
        names[0] != names[1]
        and names[0] != senders.SenderLimit(1, KEY[::-1]).pseudonyms(["ada"], question="a", period="1").tolist()
    )
    kinds = limit.pseudonyms(["1", b"1", 1], question="a", period="")
    assert len(np.unique(kinds, axis=0)) == 3


def test_the_order_of_arrival_is_not_in_the_store(tmp_path: Path) -> None:
    for protocol in (PROTOCOL, UNARY):
        rows = []
        for at, messages in enumerate((sent(protocol), sent(protocol)[::-1])):
            path = tmp_path / f"{protocol.layout.bits}-{at}.duckdb"
            with Collector(protocol, path) as collector:
                collector.add(messages, batch="a")
            with duckdb.connect(str(path)) as base:
                rows.append(base.execute("SELECT * FROM sfumato_reports_1").fetchall())
                rows.append(base.execute("SELECT digest FROM sfumato_batches").fetchall())
        assert rows[:2] == rows[2:] and len(rows[0]) == 60


@pytest.mark.parametrize("rows", [[[3, 1, 9], [3, 1, 2], [3, 0, 5]], [[1, 2, 3], [1, 1, 9], [0, 9, 9]]])
def test_the_order_is_that_of_all_words(rows: list[list[int]]) -> None:
    bits, cells = np.array(rows, dtype=np.uint64), np.zeros(3, dtype=np.int64)
    assert bits[order_of_content(cells, bits)].tolist() == sorted(rows)
    cells[:] = [2, 1, 0]
    assert order_of_content(cells, bits).tolist() == [2, 1, 0]


def test_without_duckdb_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtra, match=r"collecting reports needs optional packages: pip install 'sfumato\[sql\]'"):
        Collector(PROTOCOL, tmp_path / "a.duckdb")


def test_strange_places(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match="read as a pattern"):
        Collector(PROTOCOL, tmp_path / "all[1]")
    with Collector(PROTOCOL, tmp_path / "it's mine") as collector:
        collector.add(sent())
        assert same(collector.tally(), PROTOCOL.tally(sent()))
    with pytest.raises(StoreUnavailable, match="its folder is not there"):
        Collector(PROTOCOL, tmp_path / "none" / "a.duckdb")


def test_what_breaks_off_leaves_nothing(place: Path) -> None:
    def breaking(count: int, fault: BaseException) -> Iterator[bytes]:
        yield from sent(people=count)
        raise fault

    with Collector(PROTOCOL, place, max_reports=1, key=KEY) as collector:
        collector.add(sent(people=5), batch="before", senders=range(5))
        for fault in (OSError("of the caller"), KeyboardInterrupt(), ValueError()):
            with pytest.raises(type(fault)) as passed:
                collector.add(breaking(70_000, fault), batch="broken", senders=range(10, 100_000))
            assert passed.value is fault
        assert [one.key for one in collector.batches()] == ["before"] and collector.tally().users == 5
        added = collector.add(sent(people=20), batch="broken", senders=range(10, 30))
        assert added.accepted == 20 and collector.tally().users == 25
    assert not list(place.parent.rglob("*.half"))


def test_what_cannot_be_added_is_refused(place: Path) -> None:
    with Collector(PROTOCOL, place) as collector:
        for messages in ("text", b"bytes", 3, None):
            with pytest.raises(BadArgument, match="messages"):
                collector.add(messages)  # type: ignore[arg-type]
        with pytest.raises(BadArgument, match="messages"):
            collector.add([1, 2])  # type: ignore[list-item]
        for settings in ({"batch": ""}, {"batch": "x" * 201}, {"period": 3}, {"batch": "a\nb"}):
            with pytest.raises(BadArgument):
                collector.add(sent(), **settings)
        with pytest.raises(BadArgument, match="max_reports="):
            collector.add(sent(), senders=range(60))
        assert collector.batches() == ()
    with Collector(PROTOCOL, place, max_reports=1, key=KEY) as limited:
        for many in (59, 61):
            with pytest.raises(BadArgument, match="as many as messages"):
                limited.add(sent(), senders=range(many))
        with pytest.raises(BadArgument, match="if, and only if"):
            limited.add(sent())
        with pytest.raises(BadArgument, match="a sender"):
            limited.add(sent(people=1), senders=[1.5])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"max_reports": 0, "key": KEY}, "max_reports"),
        ({"max_reports": 1}, "secret random bytes"),
        ({"max_reports": 1, "key": b"short"}, "16 to 64"),
        ({"key": KEY}, "max_reports"),
        ({"each_period": True}, "max_reports"),
        ({"question": ""}, "question"),
    ],
)
def test_what_no_collector_can_be_is_refused(settings: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match=said):
        Collector(PROTOCOL, tmp_path / "a.duckdb", **settings)
    with pytest.raises(BadArgument, match="a local protocol"):
        Collector("response", tmp_path / "a.duckdb")  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="ends in"):
        Collector(PROTOCOL, "")


@pytest.mark.parametrize(("run", "right"), [(sql_sums.RUN, True), (17, False)])
def test_lanes_do_not_run_over(run: int, *, right: bool, monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """70,000 reports with 16 bits set, twice; runs of 2^17 rows would carry into the next lane."""
    monkeypatch.setattr(sql_sums, "RUN", run)
    with Collector(UNARY, place) as collector:
        for batch in ("a", "b"):
            collector.add([UNARY.head + b"\xff\xff" + bytes(7)] * 70_000, batch=batch)
        assert (collector.tally().sums[0].tolist() == [140_000] * 17 + [0] * 54) == right


def test_runs_of_several_files_are_not_one(tmp_path: Path) -> None:
    """Three files of 30,000 rows each: together they would not fit into a lane."""
    with Collector(UNARY, tmp_path / "reports") as collector:
        for batch in ("a", "b", "c"):
            collector.add([UNARY.head + b"\xff\xff" + bytes(7)] * 30_000, batch=batch)
        assert collector.tally().sums[0].tolist() == [90_000] * 17 + [0] * 54


def test_lanes_count_every_bit_by_itself(place: Path) -> None:
    messages = [UNARY.head + (1 << bit).to_bytes(9, "little") for bit in range(70) for _ in range(bit + 1)]
    with Collector(UNARY, place) as collector:
        collector.add(messages)
        assert collector.tally().sums[0, 1:].tolist() == list(range(1, 71))


def test_many_cells_with_bits_are_summed_up_too(place: Path) -> None:
    parts = (local.frequencies(range(40), loss=1, users=9, method="response"), UNARY)
    both = local.OneOf(parts)
    values = [np.arange(900) % 40, np.arange(900) % 70]
    messages = both.randomize_many(values, entropy=ReplayEntropy(5)).messages()
    assert both.layout.cells > sql_sums.FEW_CELLS
    with Collector(both, place) as collector:
        collector.add(messages)
        assert same(collector.tally(), both.tally(messages))


def test_many_messages_need_little_memory(tmp_path: Path) -> None:
    """A generator of three pieces takes about as much as one piece does."""
    peaks = []
    report = sent(people=5)
    with Collector(PROTOCOL, tmp_path / "a.duckdb") as collector:
        for count in (65_536, 200_000):
            tracemalloc.start()
            collector.add(bytes(report[at % 5]) for at in range(count))
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]


def test_threads_take_turns(tmp_path: Path) -> None:
    with Collector(PROTOCOL, tmp_path / "a.duckdb", max_reports=1, key=KEY) as collector:

        def work(number: int) -> None:
            collector.add(sent(people=20), batch=str(number), senders=range(20))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(collector.batches()) == 6 and collector.tally().users == 20
        assert collector.tally().rejected.excess == 100


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with Collector(PROTOCOL, tmp_path / "a.duckdb") as collector:
        collector.add(sent() * 2000, progress=lambda done, steps: told.append((done, steps)))
    assert told == [(65_536, 120_000), (120_000, 120_000)]


def test_a_store_of_another_format_is_refused(place: Path) -> None:
    with Collector(PROTOCOL, place) as collector:
        collector.add(sent())
    with duckdb.connect(str(place if place.is_file() else place / "index.duckdb")) as base:
        base.execute("UPDATE sfumato_store SET format = 2")
    with pytest.raises(StoreUnavailable, match="it has format 2, and this version of sfumato reads format 1"):
        Collector(PROTOCOL, place)


def test_reports_that_are_gone_or_strange_are_noticed(tmp_path: Path) -> None:
    for number, change in enumerate(
        ("DELETE FROM sfumato_reports_1 WHERE cell = 0", "UPDATE sfumato_reports_1 SET cell = 5")
    ):
        path = tmp_path / f"{number}.duckdb"
        with Collector(PROTOCOL, path) as collector:
            collector.add(sent())
        with duckdb.connect(str(path)) as base:
            base.execute(change)
        with Collector(PROTOCOL, path) as collector, pytest.raises(StoreUnavailable, match="damaged"):
            collector.tally()


def test_a_database_of_one_s_own_can_hold_reports(tmp_path: Path) -> None:
    path = tmp_path / "own.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute("CREATE TABLE mine AS SELECT 1 AS one")
    with Collector(PROTOCOL, path) as collector:
        collector.add(sent())
    with duckdb.connect(str(path)) as base:
        counted = base.execute("SELECT cell, count(*) FROM sfumato_reports_1 GROUP BY cell ORDER BY cell").fetchall()
        assert base.execute("SELECT one FROM mine").fetchall() == [(1,)]
    assert [many for _, many in counted] == PROTOCOL.tally(sent()).sums[:, 0].tolist()


def test_frequencies_come_out_of_a_store(place: Path) -> None:
    protocol: FrequencyProtocol = local.frequencies(["a", "b", "c"], loss=4, users=900)
    values = ["a"] * 600 + ["b"] * 300
    with local.Collector(protocol, place) as collector:
        collector.add(protocol.randomize(value, entropy=ReplayEntropy(at)) for at, value in enumerate(values))
        estimate = collector.aggregate()
    assert np.all(np.abs(estimate.counts - [600, 300, 0]) < 6 * estimate.deviations) and estimate.users == 900


def test_from_javascript_to_a_table(tmp_path: Path) -> None:
    """Two devices with the published text alone, one of each language, send the same messages into one store."""
    protocol = local.frequencies(["a", "b", "c"], loss=2, users=90, method="local hashing")
    client, made = device.Client.read(protocol.publish()), []
    for at in range(90):
        stream = Stream(f"device {at}")
        message = client.randomize("abc"[at % 3], octets=stream)
        octets = stream.taken.hex()
        made.append(
            {"published": protocol.publish(), "value": "abc"[at % 3], "octets": octets, "message": message.hex()}
        )
    sent = [bytes.fromhex(one["message"]) for one in in_javascript(made, [])["made"]]
    with Collector(protocol, tmp_path / "a.duckdb") as collector:
        collector.add(sent)
        assert same(collector.tally(), protocol.tally(bytes.fromhex(one["message"]) for one in made))

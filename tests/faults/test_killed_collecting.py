"""A collector whose process is killed, whose disk is full or whose file is broken: batches are whole, or not there."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.profiles import examples

from sfumato import local
from sfumato.local.collecting.collector import Collector
from sfumato.local.collecting.faults import StoreUnavailable
from sfumato.local.collecting.keeping import FileWriter
from sfumato.local.collecting.store import Draft

PROTOCOL = local.frequencies(range(5), loss=1, users=100, method="response")
KEY = b"0123456789abcdef"
PLACES = ("reports.duckdb", "reports")


def messages(count: int) -> list[bytes]:
    return [PROTOCOL.head + bytes([at % 5]) for at in range(count)]


def opened(place: Path) -> Collector[local.Frequencies]:
    return Collector(PROTOCOL, place, max_reports=1, key=KEY)


def forked(work: Callable[[], object]) -> int:
    """Runs something in a child process; gives how it ended, 0 for well."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def check_whole(place: Path, confirmed: list[str]) -> int:
    """Every batch that was confirmed is there, and each that is there is whole; gives how many there are."""
    with opened(place) as collector:
        kept = {one.key: one for one in collector.batches()}
        assert set(confirmed) <= set(kept)
        for key, batch in kept.items():
            assert batch.accepted == 300
            assert (collector.tally(batches=key).sums[:, 0] == 60).all()
        assert collector.tally().users == 300 * len(kept)
        number = max((int(key) for key in kept), default=-1) + 1
        again = collector.add(messages(300), batch=str(number), senders=range(300 * number, 300 * number + 300))
        assert again.accepted == 300 and not again.repeated  # what was lost had counted nobody either
        return len(kept)


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("deadly", [0, 65_900])
def test_a_batch_that_is_killed_while_it_is_read_is_not_there(kind: str, deadly: int, quick_folder: Path) -> None:
    place = quick_folder / kind
    with opened(place) as collector:
        collector.add(messages(300), batch="0", senders=range(300))

    def reading() -> Iterator[bytes]:
        for at, message in enumerate(messages(140_000)):
            if at == deadly:
                os.kill(os.getpid(), signal.SIGKILL)
            yield message

    def work() -> None:
        opened(place).add(reading(), batch="1", senders=range(300, 140_300))

    assert forked(work) == -signal.SIGKILL
    assert check_whole(place, ["0"]) == 1


STEPS = (
    (Draft, "append"),
    (Draft, "count_senders"),
    (Draft, "finish"),
    (FileWriter, "finish"),
)


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize(("owner", "step"), STEPS, ids=lambda one: getattr(one, "__name__", one))
@pytest.mark.parametrize("after", [False, True])
def test_a_batch_that_is_killed_at_a_step_is_not_there(
    kind: str, owner: type, step: str, *, after: bool, quick_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if owner is FileWriter and kind != "reports":
        return
    place, real = quick_folder / kind, getattr(owner, step)

    def deadly(self: object, *words: object) -> object:
        if after:
            real(self, *words)
        os.kill(os.getpid(), signal.SIGKILL)
        return None

    with opened(place) as collector:
        collector.add(messages(300), batch="0", senders=range(300))
    with monkeypatch.context() as patched:
        patched.setattr(owner, step, deadly)
        ended = forked(lambda: opened(place).add(messages(300), batch="1", senders=range(300, 600)))
    assert ended == -signal.SIGKILL
    assert check_whole(place, ["0"]) == 1


@pytest.mark.parametrize("kind", PLACES)
def test_batches_that_were_confirmed_outlive_a_kill_at_any_time(kind: str, quick_folder: Path) -> None:
    delays, seen = random.Random(7), []
    for attempt in range(max(4, examples(20) // 5)):
        folder = quick_folder / f"{attempt}"
        folder.mkdir()
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            collector = opened(folder / kind)
            for number in range(10_000):
                who = range(300 * number, 300 * number + 300)
                collector.add(messages(300), batch=str(number), senders=who)
                os.write(writes, f"{number}\n".encode())
            os._exit(0)
        os.close(writes)
        with os.fdopen(reads) as pipe:
            first = pipe.readline()
            time.sleep(delays.uniform(0, 0.05))
            os.kill(child, signal.SIGKILL)
            confirmed = [first.strip(), *(line.strip() for line in pipe if line.endswith("\n"))]
        os.waitpid(child, 0)
        seen.append(check_whole(folder / kind, confirmed))
    assert min(seen) >= 1


FULL = """
import json, resource, sys
from sfumato import local
from sfumato.local.collecting.collector import Collector
from sfumato.local.collecting.faults import StoreUnavailable
protocol = local.frequencies(range(5), loss=1, users=100, method="response")
wide = local.frequencies(range(640), loss=1, users=100, method="optimized unary encoding")
place, most = sys.argv[1], int(sys.argv[2])
collector = Collector(wide, place)
collector.add([], batch="0")
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
reports = wide.randomize_many([at % 640 for at in range(100_000)])
try:
    collector.add(reports, batch="1")
    print(json.dumps("added"))
except StoreUnavailable as fault:
    print(json.dumps(str(fault)))
"""


@pytest.mark.parametrize("kind", PLACES)
def test_a_full_disk_keeps_nothing_of_a_batch(kind: str, tmp_path: Path) -> None:
    """A file may not grow over a megabyte, of the eight that the batch would take."""
    place = tmp_path / kind
    ran = subprocess.run(
        [sys.executable, "-c", FULL, str(place), str(1 << 20)], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "the store of reports cannot be used" in json.loads(ran.stdout.splitlines()[-1])
    wide = local.frequencies(range(640), loss=1, users=100, method="optimized unary encoding")
    with Collector(wide, place) as collector:
        assert [one.key for one in collector.batches()] == ["0"] and collector.tally().users == 0
        assert collector.add([wide.randomize(3)], batch="1").accepted == 1
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] in (resource.RLIM_INFINITY, -1)


OPENS = """
import sys
from sfumato import local
try:
    local.Collector(local.frequencies(range(5), loss=1, users=100, method="response"), sys.argv[1])
except local.StoreUnavailable as fault:
    print(fault)
"""


@pytest.mark.parametrize("kind", PLACES)
def test_another_process_has_it(kind: str, tmp_path: Path) -> None:
    place = tmp_path / kind

    def told() -> str:
        command = [sys.executable, "-c", OPENS, str(place)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout

    with opened(place):
        assert "another process has it open, and one at a time can" in told()
    assert told() == ""


@pytest.mark.parametrize("kind", PLACES)
def test_a_forked_process_cannot_use_what_its_parent_has_open(kind: str, tmp_path: Path) -> None:
    """DuckDB's lock is one of processes: what is in memory already would be past it."""
    place = tmp_path / kind

    def work(use: Callable[[], object]) -> None:
        try:
            use()
        except StoreUnavailable:
            os._exit(7)

    with opened(place) as collector:
        adding = partial(collector.add, messages(1), senders=[1])
        uses: tuple[Callable[[], object], ...] = (partial(opened, place), collector.tally, adding)
        assert [forked(partial(work, use)) for use in uses] == [7, 7, 7]
    assert forked(partial(work, partial(opened, place))) == 0


def broken(place: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    file = place if place.is_file() else place / "index.duckdb"
    whole = file.read_bytes()
    yield "no database", lambda: file.write_bytes(b"name,age\nsecret,3\n" * 1000)
    yield "zeros in its head", lambda: file.write_bytes(bytes(4096) + whole[4096:])
    yield "cut", lambda: file.write_bytes(whole[: len(whole) // 2])
    yield "whole", lambda: file.write_bytes(whole)


@pytest.mark.parametrize("kind", PLACES)
def test_a_broken_file_is_refused_without_its_content(kind: str, tmp_path: Path) -> None:
    place = tmp_path / kind
    with opened(place) as collector:
        collector.add(messages(3000), batch="0", senders=range(3000))
    for name, damage in broken(place):
        damage()
        if name == "whole":
            assert opened(place).tally().users == 3000
            continue
        with pytest.raises(StoreUnavailable) as refused, opened(place) as collector:
            collector.tally()
        assert "secret" not in str(refused.value) and refused.value.__cause__ is None, name


def test_a_parquet_file_that_is_gone_or_cut_is_noticed(tmp_path: Path) -> None:
    with opened(tmp_path / "reports") as collector:
        collector.add(messages(3000), batch="0", senders=range(3000))
        [file] = (tmp_path / "reports").rglob("*.parquet")
        whole = file.read_bytes()
        for content in (whole[:-20], b"", None):
            file.write_bytes(content) if content is not None else file.unlink()
            with pytest.raises(StoreUnavailable):
                collector.tally()
        file.write_bytes(whole)
        assert collector.tally().users == 3000

"""The source of randomness: never the same twice, across threads and forks; the same again only on purpose."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import threading
from typing import cast

import numpy as np
import pytest

from sfumato import entropy as module
from sfumato.entropy import PIECE, REKEY_BYTES, Entropy, ReplayEntropy, SystemEntropy, system
from sfumato.errors import BadArgument

BOTH = pytest.mark.parametrize("make", [SystemEntropy, lambda: ReplayEntropy(5)], ids=["system", "replay"])


@BOTH
def test_shapes_ranges_and_count_of_bytes(make: object) -> None:
    assert callable(make)
    source = cast(Entropy, make())
    assert source.bits(0) == 0
    assert {source.bits(1) for _ in range(200)} == {0, 1}
    assert 0 <= source.bits(1000) < 1 << 1000
    assert source.below(1) == 0
    assert {source.below(3) for _ in range(200)} == {0, 1, 2}
    assert source.below(10**40) < 10**40
    before = source.drawn
    assert (source.words(7).dtype, len(source.words(7))) == (np.uint64, 7)
    assert (source.halves(9).dtype, len(source.halves(9))) == (np.uint16, 9)
    assert source.drawn - before == 2 * 56 + 2 * 18
    for count in (0, 1, 1023, 1024, 1025, PIECE, PIECE + 1, 3 * PIECE + 7):
        assert len(source.octets(count)) == count


@BOTH
@pytest.mark.parametrize("bound", [0, -1])
def test_a_bound_below_one_is_refused(make: object, bound: int) -> None:
    assert callable(make)
    with pytest.raises(BadArgument):
        make().below(bound)


def test_replay_gives_the_same_stream_however_it_is_cut() -> None:
    whole = ReplayEntropy(b"seed").octets(4096)
    source = ReplayEntropy(b"seed")
    assert b"".join(source.octets(count) for count in (1, 0, 7, 1000, 3088)) == whole
    assert ReplayEntropy(b"other").octets(4096) != whole
    assert ReplayEntropy(1).octets(8) == ReplayEntropy(b"1").octets(8)


def test_replay_is_the_same_on_every_platform() -> None:
    assert ReplayEntropy(0).words(2).tolist() == [
        int.from_bytes(ReplayEntropy(0).octets(16)[i : i + 8], "little") for i in (0, 8)
    ]
    assert ReplayEntropy(0).octets(8).hex() == "e5ae33364d8c4fad"


@pytest.mark.parametrize("seed", [1.5, True, None, "text"])
def test_seeds_are_bytes_or_whole_numbers(seed: object) -> None:
    with pytest.raises(BadArgument):
        ReplayEntropy(seed)  # type: ignore[arg-type]


def test_replayable_says_so() -> None:
    assert ReplayEntropy(0).replayable
    assert not SystemEntropy().replayable


def test_no_two_streams_or_draws_are_equal() -> None:
    sources = [SystemEntropy() for _ in range(20)]
    drawn = [source.octets(16) for source in sources for _ in range(500)]
    assert len(set(drawn)) == len(drawn)


def test_large_and_small_draws_never_overlap() -> None:
    """Over many refreshes no aligned 16-byte block of the output occurs twice."""
    source = SystemEntropy()
    pieces = [source.octets(count) for count in [16, 48, 4096, 64, PIECE, 16, REKEY_BYTES + 32] * 2]
    blocks = b"".join(pieces)
    assert len({blocks[i : i + 16] for i in range(0, len(blocks), 16)}) == len(blocks) // 16


def test_keys_are_replaced_after_some_bytes_and_some_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    source = SystemEntropy()
    source.octets(10)
    first, block = source._key, source._block
    source.octets(10)
    assert source._key == first
    now[0] += 1.5
    source.octets(10)
    second = source._key
    assert second != first
    assert source._block != block
    for _ in range(REKEY_BYTES // PIECE + 1):
        source.octets(PIECE)
    assert source._key != second


def test_a_new_key_needs_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two copies of one state go separate ways at the next refresh."""
    source = SystemEntropy()
    state = source._key
    source._rekey()
    one = source._key
    source._key = state
    source._rekey()
    assert source._key != one


def test_each_thread_has_its_own_source() -> None:
    found: list[tuple[int, bytes]] = []

    def work() -> None:
        found.append((id(system()), system().octets(32)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert system() is system()
    assert len({drawn for _, drawn in found}) == 8


def test_one_source_shared_by_threads_gives_nothing_twice() -> None:
    source, found = SystemEntropy(), list[list[bytes]]()

    def work() -> None:
        found.append([source.octets(12) for _ in range(4000)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    drawn = [piece for part in found for piece in part]
    assert len(set(drawn)) == len(drawn) == 16_000


def test_a_copy_of_a_source_is_a_new_source() -> None:
    source = SystemEntropy()
    source.octets(8)  # there is a buffer now, of which a copy would give the same bytes
    copies = [copy.copy(source), copy.deepcopy(source), pickle.loads(pickle.dumps(source))]
    assert len({made.octets(32) for made in [source, *copies]}) == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_parent_and_child_draw_different_bytes() -> None:
    source = SystemEntropy()
    source.octets(10)
    assert len(source._block) - source._next >= 64  # what a child would repeat if it kept the buffer
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(into, source.octets(64))
        os._exit(0)
    mine = source.octets(64)
    os.waitpid(child, 0)
    theirs = os.read(out, 64)
    os.close(out)
    os.close(into)
    assert len(theirs) == 64
    assert mine != theirs


def test_a_changed_process_id_alone_drops_the_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second guard: a fork that Python was not told about."""
    source = SystemEntropy()
    source.octets(10)
    key = source._key
    process = os.getpid()
    monkeypatch.setattr(module.os, "getpid", lambda: process + 1)
    source.octets(10)
    assert source._key != key


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_is_not_stopped_by_a_lock_its_parent_held() -> None:
    source = SystemEntropy()
    with source._lock:
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # a child that waits for the lock would wait for ever
            os._exit(0 if len(source.octets(8)) == 8 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

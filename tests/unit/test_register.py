"""The register: what it records, whom it leaves out, what its file gives away, and what it refuses."""

from __future__ import annotations

import copy
import math
import multiprocessing
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.errors import (
    BadArgument,
    LedgerDamaged,
    LedgerUnavailable,
    NoProvenRoute,
    QueryRefused,
)
from sfumato.ledger.register import store as register_store
from sfumato.ledger.register.names import distinct, name_of

KEY = bytes(range(32))
SECRET = "Ariadne-Unmistakable"


@pytest.fixture
def register() -> sf.ledger.Register:
    return sf.ledger.Register(":memory:", key=KEY, limit=sf.Pure(1))


def begun(path: Path, limit: sf.Loss | None = None) -> sf.ledger.Register:
    return sf.ledger.Register(path, key=KEY, limit=sf.Pure(1) if limit is None else limit)


# --- what it records ---------------------------------------------------------------------------------------------


def test_P3_128_releases_and_cumulative_loss_of_each_unit(register: sf.ledger.Register) -> None:
    register.admit(["ann", "bob"], sf.Pure(0.5), release="ages")
    register.admit(["ann", "eve"], sf.Pure(0.3), release="incomes")
    assert register.took_part("ann") == ("ages", "incomes")
    assert register.took_part("bob") == ("ages",)
    assert register.spent("ann") == sf.Pure(0.8)
    assert register.left("ann") == sf.Pure(0.2)
    assert register.spent("nobody") == sf.Pure(0)
    assert register.took_part("nobody") == ()
    assert register.left("nobody") == sf.Pure(1)


def test_P3_128_releases_that_a_member_of_the_audience_accessed(register: sf.ledger.Register) -> None:
    for name in ("ages", "incomes", "ages"):
        register.admit([1], sf.Pure(0.1), release=name)
    register.accessed("press", "incomes")
    register.accessed("press", "incomes")
    register.accessed("council", "ages")
    register.accessed("press", "ages")
    assert register.accesses("press") == ("ages", "incomes")
    assert register.accesses("council") == ("ages",)
    assert register.accesses("nobody") == ()
    with pytest.raises(BadArgument, match="the name of a release of this register"):
        register.accessed("press", "heights")


def test_P3_125_a_small_overlap_is_dropped_from_all_but_one_partition() -> None:
    """3 % of the students are at both universities; each counts at the first one only, and both cost ε once."""
    register = sf.ledger.Register(":memory:", key=KEY, limit=sf.Pure(0.5))
    north, south = np.arange(1000), np.arange(970, 1970)
    assert register.admit(north, sf.Pure(0.5), release="north").all()
    assert (register.admit(south, sf.Pure(0.5), release="south") == (south >= 1000)).all()
    assert {register.spent(unit) for unit in (0, 980, 1500)} == {sf.Pure(0.5)}


def test_all_rows_of_a_unit_get_the_same_answer(register: sf.ledger.Register) -> None:
    register.admit(["ann"], sf.Pure(1), release="first")
    mask = register.admit(["ann", "bob", "ann", "bob", "bob"], sf.Pure(0.5), release="second")
    assert mask.dtype == np.bool_
    assert mask.tolist() == [False, True, False, True, True]
    assert register.spent("bob") == sf.Pure(0.5)  # once, not once for each row


def test_who_is_left_out_pays_nothing_and_may_take_part_in_something_cheaper(register: sf.ledger.Register) -> None:
    register.admit(["ann"], sf.Pure(0.9), release="first")
    assert register.admit(["ann", "bob"], sf.Pure(0.2), release="second").tolist() == [False, True]
    assert register.spent("ann") == sf.Pure(0.9)
    assert register.admit(["ann"], sf.Pure(0.1), release="third").tolist() == [True]
    assert register.took_part("ann") == ("first", "third")
    assert register.left("ann") == sf.Pure(0)


def test_ten_tenths_are_one(register: sf.ledger.Register) -> None:
    assert all(register.admit(["ann"], sf.Pure(0.1), release=f"r{i}").all() for i in range(10))
    assert not register.admit(["ann"], sf.Pure(Fraction(1, 10**30)), release="more").any()
    assert register.admit(["ann"], sf.Pure(0), release="free").all()


@pytest.mark.parametrize(
    ("limit", "loss", "times"),
    [
        (sf.Pure(1), sf.Pure(0.25), 4),
        (sf.Approx(1, 1e-6), sf.Approx(0.3, 0), 3),
        (sf.ZCDP(0.5), sf.ZCDP(0.1), 5),
        (sf.GDP(2), sf.GDP(1), 4),
        (sf.ApproxZCDP(1, Fraction(1, 4)), sf.ApproxZCDP(0, Fraction(1, 10)), 2),
        (sf.Renyi({2: 0.5, 8: 2}), sf.Renyi({2: 0.2, 8: 0.4}), 2),
        (sf.Approx(1, 1), sf.Approx(5, 0.5), 6),  # a limit that promises nothing
        (sf.Pure(math.inf), sf.Pure(math.inf), 6),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, sf.Loss) else str(value),
)
def test_every_kind_of_loss_that_adds_up(limit: sf.Loss, loss: sf.Loss, times: int) -> None:
    register = sf.ledger.Register(":memory:", key=KEY, limit=limit)
    answers = [bool(register.admit(["ann"], loss, release=f"r{i}")[0]) for i in range(6)]
    assert answers == [True] * times + [False] * (6 - times)
    rule = sf.accounting.SumFilter(limit)
    for _ in range(times):
        rule = rule.after(loss)
    assert register.spent("ann") == rule.spent
    assert register.left("ann") == rule.left


def test_a_release_may_be_admitted_in_several_steps_and_each_is_paid(register: sf.ledger.Register) -> None:
    register.admit(["ann"], sf.Pure(0.2), release="report")
    register.admit(["ann"], sf.Pure(0.3), release="report")
    assert register.took_part("ann") == ("report",)
    assert register.spent("ann") == sf.Pure(0.5)
    assert register.report().releases == 1


def test_forgetting_keeps_what_protects(register: sf.ledger.Register) -> None:
    register.admit(["ann", "bob"], sf.Pure(0.7), release="first")
    register.forget("ann")
    register.forget("ann")
    register.forget("nobody")
    assert register.took_part("ann") == ()
    assert register.spent("ann") == sf.Pure(0.7)
    assert register.took_part("bob") == ("first",)
    assert register.admit(["ann"], sf.Pure(0.4), release="second").tolist() == [False]
    assert register.admit(["ann"], sf.Pure(0.3), release="third").tolist() == [True]
    assert register.took_part("ann") == ("third",)


def test_the_report_says_nothing_of_units(register: sf.ledger.Register) -> None:
    empty = register.report()
    register.admit(range(1000), sf.Pure(0.1), release="first")
    full = register.report()
    assert (full.limit, full.kind, full.releases) == (sf.Pure(1), "Pure", 1)
    assert str(full) == str(empty).replace("so far: 0", "so far: 1")
    assert "1000" not in str(full)
    assert "proofs/register.md#individual" in full.guarantee
    assert repr(register) == "Register(limit=Pure(epsilon=1.0))"


def test_a_changed_unit_is_promised_the_limit_of_a_pair() -> None:
    made = [sf.ledger.Register(":memory:", key=KEY, limit=limit) for limit in (sf.Pure(1), sf.ZCDP(1), sf.GDP(1))]
    assert [one.limit_if_changed for one in made] == [sf.Pure(2), sf.ZCDP(4), sf.GDP(2)]
    with pytest.raises(NoProvenRoute):
        _ = sf.ledger.Register(":memory:", key=KEY, limit=sf.ApproxZCDP(1, 0.1)).limit_if_changed


# --- ids ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ids",
    [
        ["7", "8", "7"],
        [7, 8, 7],
        [b"7", b"8", b"7"],
        [7, "8", b"7"],
        (7, 8, 7),
        np.array([7, 8, 7]),
        np.array([7, 8, 7], dtype=np.uint8),
        np.array([7.0, 8.0, 7.0]),
        np.array(["7", "8", "7"]),
        np.array([b"7", b"8", b"7"]),
        np.array(["7", 8, 7.0], dtype=object),
        pd.Series([7, 8, 7]),
        pd.Series(["7", "8", "7"], dtype="category"),
        iter([7, 8, 7]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_one_unit_has_one_name_however_its_column_was_read(register: sf.ledger.Register, ids: object) -> None:
    register.admit(["7"], sf.Pure(1), release="before")
    assert register.admit(ids, sf.Pure(1), release="now").tolist() == [False, True, False]


MISSING: list[object] = [
    None,
    math.nan,
    math.inf,
    "",
    b"",
    (),
    ("a", None),
    0.5,
    2.0**53,
    True,
    [1],
    {},
    object(),
    pd.NaT,
    np.datetime64("NaT"),
    Decimal("NaN"),
    np.float32(2**24),
    pd.NA,
]


@pytest.mark.parametrize("nobody", MISSING, ids=lambda value: type(value).__name__)
def test_a_row_without_an_id_belongs_to_no_unit_and_is_left_out(register: sf.ledger.Register, nobody: object) -> None:
    for ids in ([nobody, "ann", nobody], [nobody]):
        assert register.admit(ids, sf.Pure(0), release="r").tolist() == [one is not nobody for one in ids]


def test_missing_ids_in_arrays() -> None:
    gone = np.ma.masked_array([1, 2, 1], mask=[True, False, False])
    assert distinct(gone).place.tolist() == [-1, 0, 1]
    assert distinct(np.array([math.nan, 3.0, -math.inf, 2.5, -0.0])).place.tolist() == [-1, 1, -1, -1, 0]
    assert distinct(pd.Series([1, None, 3], dtype="Int64")).place.tolist() == [0, -1, 1]
    assert distinct(np.array(["a", "", "b"])).place.tolist() == [0, -1, 1]


@pytest.mark.parametrize("empty", [[], (), np.array([], dtype=np.int64), np.array([], dtype=object), [None, None]])
def test_nobody_may_be_there(register: sf.ledger.Register, empty: object) -> None:
    mask = register.admit(empty, sf.Pure(1), release="nobody")
    assert mask.dtype == np.bool_
    assert not mask.any()
    assert register.report().releases == 1


def test_unequal_ids_have_unequal_names() -> None:
    huge = 10**5000
    units: list[object] = [
        "a", "A", "ab", ("a",), ("a", "b"), ("ab",), (("a",), "b"), ("a", ("b",)), ("", "a"), "\x00", "\ud800", "é",
        "1", "-1", 10, huge, huge + 1, -huge, b"\xff", UUID(int=5), date(2024, 2, 29), ("a", date(2024, 2, 29)),
        ("t", 1), "ta", np.int64(4), np.str_("q"),
    ]  # fmt: skip
    names = [name_of(unit) for unit in units]
    assert names.count(None) == 1  # a tuple with an empty part
    assert len(set(names)) == len(names)
    deep: object = "a"
    for _ in range(10**4):
        deep = (deep,)
    assert name_of(deep) is None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("kind", "bits"), [(np.float16, 11), (np.float32, 24), (np.float64, 53)], ids=["half", "single", "double"]
)
def test_floats_are_ids_only_where_their_type_tells_neighbours_apart(kind: type[np.floating], bits: int) -> None:
    """The float next to the bound stands for two people, who must not become one."""
    column = np.array([2**bits - 1, 2**bits, -(2**bits), 1 - 2**bits, 3, math.nan, math.inf, 0.5]).astype(kind)
    place = [2, -1, -1, 0, 1, -1, -1, -1]
    assert distinct(column).place.tolist() == place
    assert [name is not None for name in map(name_of, column)] == [at >= 0 for at in place]
    series = [pd.Series(column), np.ma.masked_array(column, mask=np.isnan(column))]
    series += [] if bits == 11 else [pd.Series(column, dtype=f"Float{32 if bits == 24 else 64}")]
    for other in series:
        found = distinct(other)
        assert [found.names[at] if at >= 0 else None for at in found.place] == list(map(name_of, column))
    assert distinct(column).names == [b"a%d" % (1 - 2**bits), b"a3", b"a%d" % (2**bits - 1)]


def test_a_day_has_one_name() -> None:
    midnight = datetime(2024, 5, 1)
    days: list[object] = [date(2024, 5, 1), midnight, pd.Timestamp(midnight), "2024-05-01"]
    days += [np.array("2024-05-01", dtype=f"M8[{unit}]")[()] for unit in ("D", "h", "m", "s", "ms", "us", "ns")]
    days += [np.datetime64("2024-05", "M"), np.datetime64("2024-05-01", ("h", 12))]
    assert {name_of(day) for day in days} == {b"a2024-05-01"}
    assert name_of(np.datetime64("2024", "Y")) == name_of(date(2024, 1, 1))
    assert name_of(("ann", midnight)) == name_of(("ann", date(2024, 5, 1)))
    assert name_of(midnight.replace(tzinfo=UTC)) == b"a2024-05-01 00:00:00+00:00"
    for unit in ("D", "h", "s", "ms", "us", "ns"):
        column = np.array(["2024-05-01", "NaT", "2024-05-02", "2024-05-01"], dtype=f"datetime64[{unit}]")
        for ids in (column, pd.Series(column), column.tolist() if unit == "D" else list(column)):
            assert distinct(ids).names == [b"a2024-05-01", b"a2024-05-02"]
            assert distinct(ids).place.tolist() == [0, -1, 1, 0]
    gone = np.ma.masked_array(np.array(["2024-05-01", "2024-05-02"], dtype="M8[ns]"), mask=[True, False])
    assert distinct(gone).names == [b"a2024-05-02"]


@pytest.mark.parametrize("later", [1, 1000, 500_000, 3_600_000_000, 43_200_000_001], ids=str)
def test_a_moment_has_one_name(later: int) -> None:
    moment = datetime(2024, 5, 1) + timedelta(microseconds=later)
    stamp = np.datetime64(moment, "us")
    names = {name_of(one) for one in (moment, pd.Timestamp(moment), stamp, stamp.astype("M8[ns]"), str(moment))}
    assert names == {b"a" + str(moment).encode()}
    assert name_of(stamp.astype("M8[ns]") + 1) == name_of(pd.Timestamp(moment) + pd.Timedelta(1, "ns")) not in names
    if later % 1000 == 0:
        assert name_of(stamp.astype("M8[ms]")) in names


def test_whole_decimals_are_named_like_integers() -> None:
    """Decimals are what SQL gives for its numbers."""
    assert {name_of(Decimal(text)) for text in ("17", "17.00", "1.7E+1")} == {name_of(17)}
    assert name_of(Decimal("-0")) == name_of(0)
    assert name_of(Decimal(2**80 + 1)) == name_of(2**80 + 1)
    nobody = ["0.5", "NaN", "sNaN", "Infinity", "-Infinity", "1E+999999999999", "1E-999999999999"]
    assert [name_of(Decimal(text)) for text in nobody] == [None] * len(nobody)
    assert distinct([Decimal(17), "17", Decimal("1.5")]).place.tolist() == [0, 0, -1]


@pytest.mark.parametrize(
    ("ids", "got"),
    [
        (SECRET, "type str"),
        (SECRET.encode(), "type bytes"),
        ({SECRET}, "type set"),
        ({SECRET: 1}, "type dict"),
        (None, "type NoneType"),
        (7, "type int"),
        (np.array([[SECRET]]), "a table"),
        (pd.DataFrame({SECRET: [1]}), "a table"),
        (np.array([True, False]), "bool"),
        (pd.Series([True, False]), "bool"),
        (pd.Series([True, None], dtype="boolean"), "boolean"),
        (np.array([1], dtype="timedelta64[D]"), "timedelta64"),
        (np.array([1]).view("datetime64"), "datetime64"),
        (np.array(7), "a table"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_column_is_refused_by_its_type(register: sf.ledger.Register, ids: object, got: str) -> None:
    with pytest.raises(BadArgument, match=got) as refusal:
        register.admit(ids, sf.Pure(0.1), release="r")
    assert SECRET not in "".join(traceback.format_exception_only(refusal.value))
    assert register.report().releases == 0


# --- refusals ----------------------------------------------------------------------------------------------------


def test_refusals_depend_on_public_numbers_only(register: sf.ledger.Register) -> None:
    with pytest.raises(QueryRefused, match="nobody could ever take part"):
        register.admit([SECRET], sf.Pure(2), release="dear")
    with pytest.raises(NoProvenRoute, match="what is counted here is Pure"):
        register.admit([SECRET], sf.ZCDP(0.1), release="other")
    with pytest.raises(BadArgument, match="a privacy loss"):
        register.admit([SECRET], 0.1, release="number")  # type: ignore[arg-type]
    for name in ("", " ", "a\nb", None):
        with pytest.raises(BadArgument, match="a name"):
            register.admit([SECRET], sf.Pure(0.1), release=name)  # type: ignore[arg-type]
    assert register.report().releases == 0
    assert register.spent(SECRET) == sf.Pure(0)


@pytest.mark.parametrize("ask", ["spent", "left", "took_part", "forget", "accesses"])
@pytest.mark.parametrize(
    "unit", [[SECRET], None, math.nan, (SECRET, None), {SECRET: 1}, True], ids=lambda value: type(value).__name__
)
def test_one_id_that_is_none_is_refused_without_being_shown(
    register: sf.ledger.Register, ask: str, unit: object
) -> None:
    with pytest.raises(BadArgument, match="a text, a whole number, bytes") as refusal:
        getattr(register, ask)(unit)
    assert SECRET not in str(refusal.value)


@pytest.mark.parametrize(
    "limit",
    [sf.accounting.BoundedRange(1), sf.Renyi({2: 1}).nothing(), 1.0, sf.Profile([(1, 0)])],
    ids=lambda v: type(v).__name__,
)
def test_limits_without_a_rule_are_refused(tmp_path: Path, limit: sf.Loss) -> None:
    with pytest.raises((BadArgument, NoProvenRoute)):
        sf.ledger.Register(tmp_path / "new.db", key=KEY, limit=limit)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("key", [b"", b"short", "x" * 32, None, bytes(33), bytearray(32)])
def test_keys_are_32_bytes_and_never_shown(key: object) -> None:
    with pytest.raises(BadArgument, match="32 bytes") as refusal:
        sf.ledger.Register(":memory:", key=key, limit=sf.Pure(1))  # type: ignore[arg-type]
    assert "xxx" not in str(refusal.value)


def test_new_keys_differ() -> None:
    keys = {sf.ledger.Register.new_key() for _ in range(50)}
    assert len(keys) == 50
    assert {len(key) for key in keys} == {32}


def test_a_register_does_not_travel(register: sf.ledger.Register) -> None:
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(BadArgument, match="opened where it is used"):
            way(register)


# --- the file ----------------------------------------------------------------------------------------------------


def test_it_goes_on_where_it_stood(tmp_path: Path) -> None:
    path = tmp_path / "register.db"
    begun(path).admit(["ann"], sf.Pure(0.7), release="first")
    again = sf.ledger.Register(path, key=KEY)
    assert again.limit == sf.Pure(1)
    assert again.spent("ann") == sf.Pure(0.7)
    assert begun(path).admit(["ann", "bob"], sf.Pure(0.7), release="second").tolist() == [False, True]


def test_another_key_or_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "register.db"
    begun(path).admit([SECRET], sf.Pure(0.7), release="first")
    with pytest.raises(BadArgument, match="key must be the one with which this register was begun"):
        sf.ledger.Register(path, key=sf.ledger.Register.new_key())
    with pytest.raises(BadArgument, match="the one of this register, which is ε = 1"):
        begun(path, sf.Pure(2))
    with closing_file(path) as file:
        file.execute("UPDATE head SET limited = replace(limited, '\"1\"', '\"9\"')")
    with pytest.raises(BadArgument, match="or its head was changed"):
        sf.ledger.Register(path, key=KEY)


def test_only_a_limit_begins_a_new_register(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailable, match="a new one begins with a limit"):
        sf.ledger.Register(tmp_path / "none.db", key=KEY)
    with pytest.raises(BadArgument, match="limit must be given"):
        sf.ledger.Register(":memory:", key=KEY)
    (tmp_path / "empty.db").touch(mode=0o600)
    with pytest.raises(BadArgument, match="limit must be given"):
        sf.ledger.Register(tmp_path / "empty.db", key=KEY)


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_the_file_is_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "register.db"
    old = os.umask(0)
    try:
        register = begun(path)
        with register._store.writing() as pages:
            pages.enter("open")
            modes = {file.name: file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}
    finally:
        os.umask(old)
    assert len(modes) == 3  # with the write-ahead log
    assert set(modes.values()) == {0o600}
    path.chmod(0o640)
    with pytest.raises(LedgerUnavailable, match="chmod 600"):
        sf.ledger.Register(path, key=KEY)


def test_what_is_written_is_synced(tmp_path: Path) -> None:
    begun(tmp_path / "register.db")
    connection = register_store._connected(tmp_path / "register.db")
    settings = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")}
    connection.close()
    assert settings == {"journal_mode": "wal", "synchronous": 2}


def bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()))


def closing_file(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None)


def test_the_file_holds_neither_ids_nor_the_key(tmp_path: Path) -> None:
    register = begun(tmp_path / "register.db")
    register.admit([SECRET, 123456789012345, b"blob-of-an-id"], sf.Pure(0.25), release="first")
    register.accessed("the-press-office", "first")
    held = bytes_of(tmp_path)
    for needle in (SECRET.encode(), b"123456789012345", b"blob-of-an-id", b"the-press-office", KEY):
        assert needle not in held
    assert b"first" in held  # names of releases are public


def test_the_file_tells_neither_histories_nor_who_was_left_out(tmp_path: Path) -> None:
    """Units with the same history look different, and everybody asked is written anew, admitted or not."""
    path = tmp_path / "register.db"
    register = begun(path)
    register.admit(range(200), sf.Pure(0.9), release="first")

    def units() -> dict[bytes, bytes]:
        with closing_file(path) as file:
            return dict(file.execute("SELECT tag, hidden FROM units").fetchall())

    before = units()
    register.admit(range(100, 300), sf.Pure(0.9), release="second")
    after = units()
    assert len(set(before.values())) == 200
    assert len(set(after.values())) == 300
    assert sum(after[tag] != before[tag] for tag in before) == 100  # those asked; none of them could take part
    with closing_file(path) as file:
        sizes = {size for (size,) in file.execute("SELECT length(sealed) FROM histories")}
    assert len(sizes) == 1


def test_two_files_share_no_tags(tmp_path: Path) -> None:
    found = []
    for name in ("one.db", "two.db"):
        begun(tmp_path / name).admit(range(50), sf.Pure(0.1), release="r")
        with closing_file(tmp_path / name) as file:
            found.append({tag for (tag,) in file.execute("SELECT tag FROM units")})
    assert len(found[0]) == len(found[1]) == 50
    assert not found[0] & found[1]


def test_histories_are_shared_by_the_units_that_have_them(tmp_path: Path) -> None:
    path = tmp_path / "register.db"
    register = begun(path)
    for turn in range(5):
        register.admit(range(2000), sf.Pure(0.1), release=f"r{turn}")
    with closing_file(path) as file:
        assert file.execute("SELECT count(*) FROM histories").fetchone() == (5,)


def damage_bytes(path: Path) -> None:
    path.write_bytes(b"no database at all" * 500)


def damage_middle(path: Path) -> None:
    held = bytearray(path.read_bytes())
    for place in range(len(held) // 2, len(held)):
        held[place] ^= 0x5A
    path.write_bytes(bytes(held))


def statement(text: str) -> Callable[[Path], None]:
    def run(path: Path) -> None:
        with closing_file(path) as file:
            file.execute(text)

    return run


@pytest.mark.parametrize(
    "damage",
    [
        damage_bytes,
        damage_middle,
        statement("DROP TABLE units"),
        statement("CREATE TABLE more (x)"),
        statement("DELETE FROM head"),
        statement("UPDATE head SET version = 2"),
        statement("UPDATE histories SET sealed = x'00'"),
        statement("DELETE FROM histories"),
        statement("UPDATE histories SET sealed = (SELECT sealed FROM histories WHERE number = 1)"),
        statement("UPDATE units SET hidden = randomblob(16)"),
        statement("UPDATE units SET hidden = x'00'"),
        statement("UPDATE units SET hidden = (SELECT max(hidden) FROM units)"),
        statement("ALTER TABLE units RENAME COLUMN hidden TO gone"),
    ],
)
def test_a_damaged_file_is_refused_without_showing_anything(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    path = tmp_path / "register.db"
    register = begun(path)
    register.admit([SECRET, *range(1000)], sf.Pure(0.1), release="first")
    register.admit([SECRET, *range(500)], sf.Pure(0.1), release="second")
    damage(path)
    with pytest.raises(LedgerDamaged) as refusal:
        register.admit([SECRET, *range(1000)], sf.Pure(0.1), release="third")
    assert SECRET not in "".join(traceback.format_exception(refusal.value, limit=0))
    assert refusal.value.__cause__ is None


def test_a_file_that_was_taken_away_or_exchanged_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "register.db"
    register = begun(path)
    path.unlink()
    with pytest.raises(LedgerUnavailable, match="is it still there"):
        register.spent("ann")
    assert not path.exists()
    begun(path)
    with pytest.raises(LedgerDamaged, match="another one than it was"):
        register.admit(["ann"], sf.Pure(0.1), release="r")


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no folder" / "register.db"):
        with pytest.raises(LedgerUnavailable):
            begun(path)
    with pytest.raises(BadArgument, match="the path of a file"):
        sf.ledger.Register(7, key=KEY, limit=sf.Pure(1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (sqlite3.SQLITE_READONLY, "cannot be written"),
        (sqlite3.SQLITE_FULL, "disk of the register is full"),
        (sqlite3.SQLITE_BUSY, "other writers"),
        (sqlite3.SQLITE_INTERRUPT, "SQLite reports error 9"),
    ],
)
def test_what_sqlite_says_is_not_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, says: str
) -> None:
    register = begun(tmp_path / "register.db")

    def fail(pages: register_store.Pages, tags: bytes, hidden: bytes) -> None:
        fault = sqlite3.OperationalError(SECRET)
        fault.sqlite_errorcode = code
        raise fault

    with monkeypatch.context() as patch:
        patch.setattr(register_store.Pages, "put", fail)
        with pytest.raises(LedgerUnavailable, match=says) as refusal:
            register.admit([SECRET], sf.Pure(0.5), release="r")
    assert SECRET not in "".join(traceback.format_exception(refusal.value))
    assert register.report().releases == 0  # nothing is half written


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    begun(tmp_path / "register.db")
    (tmp_path / "register.db").chmod(0o400)
    with pytest.raises(LedgerUnavailable, match="cannot be written"):
        sf.ledger.Register(tmp_path / "register.db", key=KEY)


# --- many at once, crashes, size -----------------------------------------------------------------------------------


def spend(path: Path, gate: threading.Barrier, counts: list[int]) -> None:
    gate.wait()
    register = begun(path)
    for turn in range(10):
        counts.append(int(register.admit(["ann"], sf.Pure(0.1), release=f"r{turn}").sum()))


def test_threads_never_spend_more_than_the_limit(tmp_path: Path) -> None:
    gate, counts = threading.Barrier(4), list[int]()
    threads = [threading.Thread(target=spend, args=(tmp_path / "r.db", gate, counts)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(counts), sum(counts)) == (40, 10)


def spend_alone(path: Path) -> int:
    register = begun(path)
    return sum(int(register.admit(["ann"], sf.Pure(0.1), release=f"r{turn}").sum()) for turn in range(8))


def begin_all(paths: list[Path]) -> int:
    return sum(begun(path) is not None for path in paths)


@pytest.mark.slow
def test_processes_begin_one_register_at_once(tmp_path: Path) -> None:
    """SQLite refuses at once where two turn on the write-ahead log of a new file."""
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert sum(pool.map(begin_all, [[tmp_path / f"{at}.db" for at in range(30)]] * 4)) == 120


@pytest.mark.slow
def test_processes_never_spend_more_than_the_limit(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert sum(pool.map(spend_alone, [tmp_path / "r.db"] * 3)) == 10


def test_killed_at_any_step_it_never_counts_too_little(tmp_path: Path) -> None:
    """More than 80 processes die by SIGKILL: at each SQLite statement, before and after it, and at odd moments."""
    script = Path(__file__).with_name("register_crash.py")
    ran = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr
    inside = [line.split(maxsplit=3) for line in ran.stdout.splitlines() if not line.startswith("outside")]
    outside = [line for line in ran.stdout.splitlines() if line.startswith("outside")]
    assert len(inside) + len(outside) > 80
    assert set(outside) == {"outside counted"}
    ends = {(where, how, rest) for _, where, how, rest in inside}
    assert ends == {
        ("early", "killed", "no answer unpaid 300"),
        ("late", "killed", "no answer unpaid 300"),
        ("late", "killed", "no answer paid 0"),  # right after the commit: counted, though nobody got an answer
        ("early", "lived", "all paid 0"),
        ("late", "lived", "all paid 0"),
    }


def test_many_units_in_pieces(monkeypatch: pytest.MonkeyPatch, register: sf.ledger.Register) -> None:
    monkeypatch.setattr(register_store, "MANY", 7)
    ids = np.arange(1000) % 333
    assert register.admit(ids[ids % 2 == 0], sf.Pure(1), release="even").all()
    assert (register.admit(ids, sf.Pure(1), release="all") == (ids % 2 == 1)).all()
    assert register.spent(332) == register.spent(1) == sf.Pure(1)


def test_histories_that_differ_are_told_apart(register: sf.ledger.Register) -> None:
    """Against a plain model: random releases on random units."""
    model: dict[int, sf.accounting.SumFilter] = {}
    parts: dict[int, list[str]] = {}
    bits = np.random.default_rng(5)
    for turn in range(25):
        ids = bits.integers(0, 40, size=bits.integers(0, 60))
        loss, name = sf.Pure(Fraction(int(bits.integers(1, 20)), 100)), f"r{turn % 17}"
        expected = {unit: model.get(unit, sf.accounting.SumFilter(sf.Pure(1))).admits(loss) for unit in ids.tolist()}
        assert register.admit(ids, loss, release=name).tolist() == [expected[unit] for unit in ids.tolist()]
        for unit, takes in expected.items():
            if takes:
                model[unit] = model.get(unit, sf.accounting.SumFilter(sf.Pure(1))).after(loss)
                parts.setdefault(unit, []).append(name)
    for unit, rule in model.items():
        assert register.spent(unit) == rule.spent
        assert register.left(unit) == rule.left
        assert set(register.took_part(unit)) == set(parts[unit])
    assert any(not rule.admits(sf.Pure(0.2)) for rule in model.values())

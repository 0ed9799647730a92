"""Whose a row is, by codebook: an id, an id through foreign keys, a window of time; keys, times and sources."""

from __future__ import annotations

import copy
import datetime
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.codebook.columns import Place
from sfumato.codebook.entries import source_tree
from sfumato.codebook.units import MOST_HOPS, Hop, Window
from sfumato.core.domains import Bounds
from sfumato.release.record import Fact

BANK: dict[str, Any] = {
    "codebook": 1,
    "title": "A bank",
    "unit": {"protects": "a customer in a month", "id": "customer", "window": {"column": "day", "every": "month"}},
    "tables": {
        "accounts": {
            "key": ["account"],
            "columns": {"account": {"type": "int"}, "customer": {"type": "str"}, "day": {"type": "date"}},
        },
        "orders": {
            "id": {"through": "account_id", "of": "accounts"},
            "key": ["order"],
            "columns": {"order": {"type": "str"}, "account_id": {"type": "int"}, "day": {"type": "time"}},
        },
        "lines": {
            "id": {"through": "order", "of": "orders"},
            "columns": {
                "order": {"type": "str"},
                "shop": {"type": "str", "keys": {"table": "shops", "column": "name"}},
                "amount": {"type": "float", "between": [0, 100], "source": {"release": "entry 12 of orders"}},
            },
        },
        "shops": {"public": True, "columns": {"name": {"type": "str"}, "number": {"type": "int"}}},
        "weather": {"columns": {"wind": {"type": "float"}}},
    },
}


def bank(**at: object) -> dict[str, Any]:
    """The example with entries changed, by a path in words joined by double underscores; None leaves one out."""
    made = copy.deepcopy(BANK)
    for path, value in at.items():
        *outer, last = path.split("__")
        place = made
        for word in outer:
            place = place[word]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return made


def refusal(given: object) -> str:
    with pytest.raises(sf.errors.BadCodebook) as caught:
        sf.Codebook.read(given)  # type: ignore[arg-type]
    return str(caught.value)


# Ids and windows.


def test_P2_057_the_way_to_the_id_goes_along_foreign_keys() -> None:
    book = sf.Codebook.read(BANK)
    assert book.window == Window("day", "month")
    near = book.unit_path("accounts")
    assert near is not None and near.hops == ()
    assert near.id == Place("accounts", "customer") and near.window == Place("accounts", "day")
    far = book.unit_path("lines")
    assert far is not None
    assert far.hops == (
        Hop(Place("lines", "order"), Place("orders", "order")),
        Hop(Place("orders", "account_id"), Place("accounts", "account")),
    )
    assert far.id == Place("accounts", "customer")
    assert far.window == Place("orders", "day")  # the nearest on the way


def test_rows_have_no_way_to_an_id() -> None:
    rows = sf.datasets.CLASSROOM.codebook
    assert rows.unit_path() is None and rows.window is None and rows.id == ""


def test_tables_that_belong_to_nobody_are_said_to() -> None:
    book = sf.Codebook.read(BANK)
    with pytest.raises(sf.errors.BadCodebook, match=r"'weather': no column says whose a row is: name it"):
        book.unit_path("weather")
    with pytest.raises(sf.errors.BadCodebook, match=r"'shops': it is public: nothing in it is of a customer"):
        book.unit_path("shops")


def test_what_was_read_is_given_back() -> None:
    book = sf.Codebook.read(bank(unit__window__reason="pay is monthly"))
    ways = [book.to_yaml(), book.to_plain(), json.dumps(book.to_plain())]
    assert [sf.Codebook.read(way) for way in ways] == [book] * 3
    assert len({sf.Codebook.read(way).digest for way in ways} | {book.digest}) == 1
    assert sf.Codebook.read(BANK).digest != book.digest


def test_P2_062_an_id_without_a_bound_can_be_read_and_used_but_is_no_number_of_rows() -> None:
    book = sf.Codebook.read(BANK)
    assert book.table("orders").contributions is None
    assert book.facts("lines") and len(book.digest) == 64 and book.space("weather")
    with pytest.raises(sf.errors.BadCodebook, match="how many rows may a customer in a month have"):
        book.unit_in("orders")


def test_P2_059_a_window_asks_for_its_reason() -> None:
    assert any("one month at a time and does not say why" in flag for flag in sf.Codebook.read(BANK).flags)
    told = sf.Codebook.read(bank(unit__window__reason="accounts cannot be linked over months"))
    assert not any("at a time" in flag for flag in told.flags)


@pytest.mark.parametrize(
    ("book", "message"),
    [
        (
            bank(unit__window__every="decade"),
            "unit, window: every must be one of hour, day, week, month, quarter, year",
        ),
        (bank(unit__window__every=None), "every must be one of hour, day"),
        (bank(unit__window__column=None), "column is missing: name the column of dates or times"),
        (bank(unit__window__since="x"), "there is no entry 'since'"),
        (bank(unit__id=None), "unit: a window is of somebody: name the column that says of whom (id)"),
        (bank(unit__window__column="when"), "table 'accounts': the unit has a window by 'when', and there is no such"),
        (
            bank(tables__orders__columns__day=None, tables__accounts__columns__day=None),
            "the unit has a window by 'day', and there is no such column here",
        ),
        (
            bank(tables__orders__columns__day={"type": "str"}),
            "table 'orders': day is str, and windows by the month need date or time",
        ),
        (bank(unit__window__every="hour"), "table 'accounts': day is date, and windows by the hour need time"),
        (bank(tables__orders__id={"through": "account_id"}), "table 'orders', id: of is missing"),
        (bank(tables__orders__id={"through": "konto", "of": "accounts"}), "through names 'konto', which is no column"),
        (bank(tables__orders__id={"through": "account_id", "of": "konten"}), "'konten', which there is not: accounts"),
        (bank(tables__orders__id={"through": "account_id", "of": "shops"}), "leads to shops, which is public"),
        (bank(tables__orders__id={"through": "account_id", "of": "accounts", "by": "x"}), "there is no entry 'by'"),
        (bank(tables__accounts__key=None), "table 'accounts': orders.account_id refers to its key, which must be one"),
        (bank(tables__accounts__key=["account", "day"]), "refers to its key, which must be one column"),
        (
            bank(tables__orders__columns__account_id={"type": "str"}),
            "is str and refers to accounts.account, which is int",
        ),
        (
            bank(tables__orders__id={"through": "order", "of": "orders"}),
            "table 'orders': more than 8 foreign keys lie between its rows and an id, if there is any: a cycle?",
        ),
        (
            bank(tables__lines__id={"through": "shop", "of": "weather"}, tables__weather__key=["wind"]),
            "lines.shop is str and refers to weather.wind, which is float",
        ),
        (
            bank(tables__orders__columns__customer={"type": "str"}),
            "table 'orders': id leads to accounts, and it has the column 'customer' of its own",
        ),
        (bank(tables__shops__id={"through": "name", "of": "accounts"}), "a public table holds nothing of any unit"),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else "book",
)
def test_ways_that_lead_nowhere_are_refused(book: dict[str, Any], message: str) -> None:
    assert message in refusal(book)


def test_a_way_that_ends_without_an_id_is_refused() -> None:
    book = bank(unit={"protects": "a customer"}, tables__accounts__columns__customer=None)
    assert "table 'accounts': no column says whose a row is" in refusal(book)


@pytest.mark.parametrize("hops", [1, MOST_HOPS, MOST_HOPS + 1])
def test_at_most_eight_hops(hops: int) -> None:
    tables: dict[str, Any] = {"t0": {"key": ["k"], "columns": {"k": {"type": "int"}, "who": {"type": "str"}}}}
    for place in range(1, hops + 1):
        way = {"through": "k", "of": f"t{place - 1}"}
        tables[f"t{place}"] = {"id": way, "key": ["k"], "columns": {"k": {"type": "int"}}}
    given = {"codebook": 1, "title": "A chain", "unit": {"protects": "x", "id": "who"}, "tables": tables}
    if hops > MOST_HOPS:
        assert "more than 8 foreign keys" in refusal(given)
    else:
        path = sf.Codebook.read(given).unit_path(f"t{hops}")
        assert path is not None and len(path.hops) == hops and path.id == Place("t0", "who")


# Keys that a public table lists.


def test_P2_080_keys_of_a_public_table() -> None:
    book = sf.Codebook.read(BANK)
    assert book.table("lines")["shop"].keys == Place("shops", "name")
    assert Fact("lines.shop is one of those in shops.name", "the public table shops") in book.facts("lines")
    numbered = bank(
        tables__lines__columns__shop={
            "type": "int", "between": [0, 9], "source": "a digit", "keys": {"table": "shops", "column": "number"},
        }
    )  # fmt: skip
    assert [str(fact) for fact in sf.Codebook.read(numbered).table("lines")["shop"].facts()] == [
        "lines.shop is in [0, 9] (a digit)",
        "lines.shop is one of those in shops.number (the public table shops)",
    ]
    listed = bank(tables__shops__columns__name={"categories": ["north", "south"], "source": "the map"})
    assert sf.Codebook.read(listed).table("lines")["shop"].keys == Place("shops", "name")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"type": "str", "keys": {"table": "shop", "column": "name"}}, "keys: there is no table 'shop': accounts"),
        ({"type": "str", "keys": {"table": "shops", "column": "nam"}}, "has no column 'nam'; it has name, number"),
        ({"type": "str", "keys": {"table": "orders", "column": "order"}}, "orders is not public, and so neither"),
        ({"type": "str", "keys": {"table": "shops", "column": "number"}}, "is int, and this column is str"),
        ({"type": "float", "keys": {"table": "shops", "column": "number"}}, "keys is for str and int columns, and"),
        ({"type": "str", "keys": {"table": "shops"}}, "column is missing: name the column of that table"),
        ({"type": "str", "keys": "shops"}, "keys: this must be a mapping"),
        ({"categories": ["a"], "source": "x", "keys": {"table": "shops", "column": "name"}}, "this is categories"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "column",
)
def test_keys_that_are_refused(column: dict[str, Any], message: str) -> None:
    assert message in refusal(bank(tables__lines__columns__shop=column))


# Times.


def timed(*between: object) -> dict[str, Any]:
    return bank(tables__orders__columns__day={"type": "time", "between": list(between), "source": "the month"})


def test_times_are_moments_without_a_zone() -> None:
    book = sf.Codebook.read(timed("2026-02-01 00:00", "2026-02-28T23:59:59.999999"))
    first, last = datetime.datetime(2026, 2, 1), datetime.datetime(2026, 2, 28, 23, 59, 59, 999999)
    assert book.table("orders")["day"].between == (first, last)
    assert sf.Codebook.read(timed(first, last)) == sf.Codebook.read(book.to_yaml()) == book
    assert [str(fact) for fact in book.table("orders")["day"].facts()] == [
        "orders.day is in [2026-02-01T00:00:00, 2026-02-28T23:59:59.999999] (the month)"
    ]
    with pytest.raises(sf.errors.BadCodebook, match="moments have no domain in memory"):
        book.space("orders")
    assert book.space("orders", columns=["order"])


@pytest.mark.parametrize(
    ("between", "message"),
    [
        (
            ("2026-02-01", "2026-02-28"),
            "between must be a moment without a zone, such as 2026-01-31T23:59:59; got '2026",
        ),
        (("2026-02-01T00:00Z", "2026-02-28T00:00Z"), "a moment without a zone"),
        (("2026-02-01T00:00+01:00", "2026-02-28T00:00"), "a moment without a zone"),
        (("2026-02-01T25:00", "2026-02-28T00:00"), "a moment without a zone"),
        (("2026-02-01T00:00:00.1234567", "2026-02-28T00:00"), "a moment without a zone"),
        ((datetime.date(2026, 2, 1), datetime.date(2026, 2, 2)), "a moment without a zone"),
        ((datetime.datetime(2026, 2, 1, tzinfo=datetime.UTC), "2026-02-28T00:00"), "a moment without a zone"),
        (("2026-02-28T00:00", "2026-02-28T00:00"), "first moment first: 2026-02-28 00:00:00 is not before"),
        ((0, 1), "a moment without a zone"),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) else "between",
)
def test_times_that_are_refused(between: tuple[object, ...], message: str) -> None:
    assert message in refusal(timed(*between))


@given(st.datetimes())
def test_every_moment_round_trips(moment: datetime.datetime) -> None:
    end = datetime.datetime.max if moment < datetime.datetime.max else moment + datetime.timedelta.resolution
    book = sf.Codebook.read(timed(moment, end))
    assert sf.Codebook.read(book.to_plain()) == book


# Where a fact is from.


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("the law", "the law"),
        ({"public": "the law"}, "the law"),
        ({"release": "entry 12 of visits"}, "release: entry 12 of visits"),
        ({"preprocessing": "clamped on import"}, "preprocessing: clamped on import"),
        ("release: entry 12", "release: entry 12"),
    ],
    ids=["text", "public", "release", "preprocessing", "text of a release"],
)
def test_sources_have_kinds(source: object, printed: str) -> None:
    given = bank(
        tables__lines__columns__amount={"type": "float", "between": [0, 1], "source": source},
        tables__lines__contributions={"rows": 3, "source": source},
        tables__lines__size={"at_least": 2, "source": source},
        invariants=[{"what": "lines have orders", "source": source}],
    )
    book = sf.Codebook.read(given)
    facts = [fact for fact in book.facts("lines") if "shop" not in fact.what]
    assert [fact.source for fact in facts] == [printed] * 4
    assert sf.Codebook.read(book.to_yaml()) == book == sf.Codebook.read(book.to_plain())
    written = sf.Codebook.read(bank(invariants=[{"what": "a", "source": source}])).to_plain()["invariants"]
    kind, mark, text = printed.partition(": ")
    assert written == [{"what": "a", "source": {kind: text} if mark else printed}]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"public": "observed"}, "the source must not be 'observed', the private data itself"),
        ({"preprocessing": "the data"}, "the source must not be 'the data'"),
        ({"release": ""}, "source must be a text; got ''"),
        ({"release": None}, "source must be a text; got None"),
        ({"release": "a", "public": "b"}, "or have one entry of public, release, preprocessing"),
        ({"rumour": "a"}, "or have one entry of public, release, preprocessing"),
        ({}, "or have one entry of public, release, preprocessing"),
        (["a"], "source must be a text; got a list of 1"),
        (3, "source must be a text; got 3"),
    ],
    ids=repr,
)
def test_sources_that_are_refused(source: object, message: str) -> None:
    assert message in refusal(
        bank(tables__lines__columns__amount={"type": "float", "between": [0, 1], "source": source})
    )
    assert message in refusal(bank(tables__lines__columns__amount={"type": "float", "source": source}))


@given(st.text(max_size=12) | st.builds("{}: {}".format, st.sampled_from(["release", "public"]), st.text(max_size=5)))
def test_every_source_is_written_so_that_it_is_read_back(text: str) -> None:
    text = text.strip()
    tree = source_tree(text)
    assert text == (tree if isinstance(tree, str) else "{}: {}".format(*next(iter(tree.items()))))


def test_a_source_of_nothing_is_no_fact() -> None:
    """A column that says where it is from, and not what it holds, states nothing that a release could rest on."""
    book = sf.Codebook.read(bank(tables__lines__columns__shop={"type": "str", "source": "the register"}))
    assert book.table("lines")["shop"].facts() == ()
    assert book.table("lines")["amount"].between == Bounds(0, 100)  # type: ignore[arg-type]

"""PostgreSQL without a server: addresses and settings, patterns and formats, and what is said of errors."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
import typer

import sfumato as sf
from sfumato.cli.inputs import Source, shown
from sfumato.core.outages import Outage
from sfumato.errors import BadArgument, QueryRefused, RunFailed
from sfumato.query.engines.postgres.dialect import dialect_of
from sfumato.query.engines.postgres.opening import Postgres
from sfumato.query.engines.postgres.patterns import format_of, pattern_of
from sfumato.query.engines.postgres.reaching import addresses_in, is_address, server_of
from sfumato.query.engines.postgres.server import SETTINGS, Limits, outage, read_address
from sfumato.query.engines.registry import ENGINES, opener_of

pytest.importorskip("psycopg", reason="needs psycopg")

ADDRESS = "postgresql://ada:topsecret@host:5433/clinic?table=ward.visits&schema=odd%20one&sslmode=require"


def test_an_address_says_which_table_and_shows_no_password() -> None:
    address = read_address(ADDRESS)
    assert (address.table, address.schema) == ("ward.visits", "odd one")
    assert address.settings["password"] == "topsecret" and address.settings["sslmode"] == "require"
    assert "table" not in address.settings
    assert "topsecret" not in repr(address) + address.shown and "ada" not in repr(address) + address.shown
    assert address.shown == "postgresql://host/clinic" == shown(ADDRESS)


@pytest.mark.parametrize("given", ["postgresql://a:topsecret%zz@h/x", "postgresql://a:topsecret@h/x?nothing=1"])
def test_an_address_that_is_none_is_refused_without_a_word_of_it(given: str) -> None:
    with pytest.raises(BadArgument, match="an address that PostgreSQL understands") as raised:
        read_address(given)
    assert "topsecret" not in str(raised.value) and raised.value.__context__ is None


def test_addresses_are_claimed_alone_and_by_table() -> None:
    assert isinstance(opener_of(ADDRESS), Postgres) and isinstance(opener_of({"t": "postgres://h/d"}), Postgres)
    assert isinstance(opener_of(ADDRESS, "postgres"), Postgres)
    assert not isinstance(opener_of("visits.csv"), Postgres)
    assert is_address("postgres://h/d") and not is_address("postgresql:h") and not is_address(7)
    assert set(addresses_in({"a": "postgres://h/d", "b": "postgres://h/d"})) == {"a", "b"}
    with pytest.raises(BadArgument, match="an address such as"):
        addresses_in({"a": "visits.csv"})
    with pytest.raises(BadArgument, match="in one database of one server"):
        server_of(addresses_in({"a": "postgres://h/d", "b": "postgres://h/other"}))


@pytest.mark.parametrize(
    "settings",
    [
        {"work_mem": "4"}, {"work_mem": "0MB"}, {"work_mem": "1GB'; DROP"}, {"statement_timeout": 0},
        {"statement_timeout": True}, {"lock_timeout": "5"}, {"role": ""}, {"role": 7}, {"parallel_workers": -1},
        {"parallel_workers": 1.5}, {"vouched": ["a"]}, {"vouched": (1,)}, {"planner": "host"},
    ],
)  # fmt: skip
def test_settings_that_are_none_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(BadArgument, match=f"{next(iter(settings))} must be"):
        sf.engines.Postgres(**settings)


def test_a_transaction_begins_with_all_that_could_change_an_answer() -> None:
    text = Limits("64MB", 1.5, None, "odd\"; DROP ROLE x; '", 0).transaction()
    assert text.startswith("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL ROLE 'odd\"; DROP ROLE x; '''; ")
    for name in SETTINGS:
        assert f"; SET LOCAL {name} = '" in text
    assert "SET LOCAL search_path = 'pg_catalog', 'pg_temp'" in text
    assert "SET LOCAL statement_timeout = '1500ms'" in text and "SET LOCAL lock_timeout = '0'" in text
    assert "SET LOCAL work_mem = '64MB'" in text and "SET LOCAL max_parallel_workers_per_gather = '0'" in text


@pytest.mark.parametrize(("pattern", "written"), [
    ("a.b", "a[^\n]b"),
    ("(?s)a.b", "a.b"),
    ("(?is)a.", "(?i)a."),
    (r"\d\w\s", "[0-9][A-Za-z0-9_][ \t\n\f\r]"),
    (r"\D\W\S", "[^0-9][^A-Za-z0-9_][^ \t\n\f\r]"),
    (r"[\d.]\b\B", r"[0-9.]\y\Y"),
    ("[^(.]", "[^(.]"),
    ("(a|b)(?:c)", "(?:a|b)(?:c)"),
    (r"\.\(a\{2", r"\.\(a\{2"),
    ("a{2,255}?", "a{2,255}?"),
    (r"\t", "\t"),
])  # fmt: skip
def test_patterns_mean_the_same_there(pattern: str, written: str) -> None:
    assert pattern_of(pattern) == written
    assert pattern_of(pattern, whole=True).replace("(?i)", "").startswith("^(?:")
    assert re.fullmatch(r"(\(\?i\))?\^\(\?:.*\)\$", pattern_of(pattern, whole=True), re.DOTALL)


def test_what_is_repeated_too_often_is_refused() -> None:
    with pytest.raises(QueryRefused, match="more than 255 times"):
        pattern_of("a{2,256}")


def test_formats_are_quoted() -> None:
    assert format_of("%Y") == 'YYYY""'
    assert format_of('a"\\b') == '"a\\"\\\\b"'
    assert format_of("%%%w") == '"%""\ue000"'


@pytest.mark.parametrize(("state", "expected"), [
    ("57014", Outage.TIME), ("57P01", Outage.LOST), ("08006", Outage.LOST), (None, Outage.LOST),
    ("42501", Outage.DENIED),
    ("42P01", Outage.CHANGED), ("53400", Outage.SPACE), ("53300", Outage.BUSY), ("55P03", Outage.BUSY),
    ("40001", Outage.CONFLICT), ("22003", None), ("XX001", None), ("54001", None),
])  # fmt: skip
def test_an_error_of_the_server_is_told_by_its_code_alone(state: str | None, expected: Outage | None) -> None:
    fault: Any = SimpleNamespace(sqlstate=state)
    assert outage(fault) is expected


def test_an_outage_is_told_and_nothing_else() -> None:
    assert "why it failed is not shown" in str(RunFailed("noise"))
    assert "statement_timeout" in str(RunFailed("noise", Outage.TIME))
    assert "a retry with the same key costs nothing more" in str(RunFailed("noise", Outage.TIME))
    for kept_from in (None, Outage.LOST):
        assert "For an answer ask under another key, or none, and pay again" in str(RunFailed("noise", kept_from))


def test_servers_before_14_hash_texts() -> None:
    old, new = dialect_of(130012, ""), dialect_of(140000, 'pg_catalog."und-x-icu"')
    assert "record" not in old.hashed + old.rank_hash + old.key_hash and "hashtextextended" in old.hashed
    assert "hash_record_extended" in new.hashed
    assert "und-x-icu" in new.operators["lower"] and "und-x-icu" not in old.operators["lower"]


def test_commands_show_no_password(capsys: pytest.CaptureFixture[str]) -> None:
    source = Source(ADDRESS, None)
    with pytest.raises(typer.Exit):
        _ = source.book
    assert "topsecret" not in "".join(capsys.readouterr())
    assert source.ledger(None).endswith("sfumato-ledger.db") and "topsecret" not in source.ledger(None)


def test_the_entry_of_the_engine_claims_both_schemes() -> None:
    entry = next(entry for entry in ENGINES if entry.name == "postgres")
    assert entry.schemes == {"postgresql", "postgres"} and not entry.suffixes and not entry.packages

"""Drivers and tools as people have them: psycopg, asyncpg, pg8000, SQLAlchemy, pandas and psql over a real socket."""

from __future__ import annotations

import asyncio
import datetime
import os
import re
import shutil
import subprocess
from decimal import Decimal
from typing import Any

import pandas
import psycopg
import pytest
from tests.unit.server.postgres.ports import COUNT, SAID, OpenPort

import sfumato as sf
from sfumato.release.codec import release_from_plain
from sfumato.remote.wire import RELEASE

SITES = "SELECT site, COUNT(*) AS n, SUM(minutes) AS m FROM visits WHERE minutes < %s GROUP BY site ORDER BY site"


def spent(port: OpenPort, who: str = "ada") -> sf.Loss:
    return port.world.house.data_sets.share("visits", who).spent


def test_an_answer_is_the_release_in_the_book_and_the_same_question_again_is_free(port: OpenPort) -> None:
    with port.connect() as connection:
        first = connection.execute(COUNT).fetchall()
        before = spent(port)
        again = connection.execute("select  count(*) as n from visits.visits").fetchall()
    releases = port.world.house.data_sets.share("visits", "ada").releases()
    assert first == again
    assert first[0][0] in [one.value.to_dict().get("n", [None])[0] for one in releases]
    assert spent(port) == before
    exact = {"accept": RELEASE}
    http = release_from_plain(
        port.world.ask("ada", {"sql": COUNT, "epsilon": "0.1", "max_rows": 5}, headers=exact).json()
    )
    assert first[0][0] == http.value.only()
    assert spent(port) == before


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_with_parameters_in_both_forms(port: OpenPort, binary: bool) -> None:
    with port.connect() as connection:
        cursor = connection.execute(SITES, (30,), binary=binary)
        rows = cursor.fetchall()
        assert [column.name for column in cursor.description or ()] == ["site", "n", "m"]
        assert [type(cell) for cell in rows[0]] == [str, int, float]
        assert rows == connection.execute(SITES, (30,), binary=not binary).fetchall()


@pytest.mark.parametrize(
    ("value", "written"),
    [(30, "30"), (30.5, "30.5"), (Decimal("30.0"), "30"), (Decimal("30.5"), "30.5"), ("30.5", "30.5")],
)
def test_a_value_is_the_literal_of_its_type(port: OpenPort, value: object, written: str) -> None:
    with port.connect() as connection:
        rows = connection.execute("SELECT COUNT(*) AS n FROM visits WHERE minutes < %s", (value,)).fetchall()
        kept = connection.execute(f"SELECT COUNT(*) AS n FROM visits WHERE minutes < {written}").fetchall()
    assert rows == kept


def test_a_text_that_looks_like_sql_is_a_text(port: OpenPort) -> None:
    """Parameters become literals of the tree: none is ever pasted into a text."""
    with port.connect() as connection:
        asked = "SELECT COUNT(*) AS n FROM visits WHERE site = %s"
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="can be true for no row"):
            connection.execute(asked, ("north' OR '1'='1",))


def test_prepared_statements_pipelines_and_server_side_cursors(port: OpenPort) -> None:
    with port.connect(autocommit=False) as connection:
        alone = connection.execute(COUNT).fetchall()
        for _ in range(3):
            assert connection.execute(COUNT, prepare=True).fetchall() == alone
        with connection.pipeline():
            cursors = [connection.execute(COUNT), connection.execute(SITES, (30,)), connection.execute("SHOW TimeZone")]
        assert [len(cursor.fetchall()) for cursor in cursors] == [1, 3, 1]
        with connection.cursor("rows") as cursor:
            cursor.itersize = 1
            cursor.execute(SITES, (30,))
            assert len(list(cursor)) == 3


def test_bounds_are_columns_on_request(port: OpenPort) -> None:
    with port.connect() as connection:
        plain = connection.execute(SITES, (30,)).fetchall()
        connection.execute("SET sfumato.bounds = on")
        cursor = connection.execute(SITES, (30,))
        names = [column.name for column in cursor.description or ()]
        rows = cursor.fetchall()
    assert names == ["site", "n", "n_low", "n_high", "m", "m_low", "m_high"]
    assert [(row[0], row[1], row[4]) for row in rows] == plain
    assert all(row[2] <= row[1] <= row[3] for row in rows)


def test_explain_gives_the_price_and_spends_nothing(port: OpenPort) -> None:
    with port.connect("ben") as connection:
        before = spent(port, "ben")
        lines = [line for (line,) in connection.execute(f"EXPLAIN {COUNT} WHERE minutes > 41").fetchall()]
    assert any("ε = 0.1 for a person" in line for line in lines)
    assert any("± 150" in line for line in lines)
    assert spent(port, "ben") == before


def test_copy_to_stdout(port: OpenPort) -> None:
    with port.connect() as connection, connection.cursor() as cursor:
        rows = cursor.execute(SITES.replace("%s", "30")).fetchall()
        with cursor.copy(f"COPY ({SITES.replace('%s', '30')}) TO STDOUT (FORMAT csv, HEADER)") as copy:
            lines = b"".join(map(bytes, copy)).decode().splitlines()
        with cursor.copy(f"COPY ({SITES.replace('%s', '30')}) TO STDOUT") as copy:
            texts = list(copy.rows())
    assert lines[0] == "site,n,m"
    assert [int(line.split(",")[1]) for line in lines[1:]] == [row[1] for row in rows]
    assert [row[0] for row in texts] == [row[0] for row in rows]


def test_transactions_mean_nothing_and_fail_as_they_should(port: OpenPort) -> None:
    with port.connect(autocommit=False) as connection:
        connection.execute("SET sfumato.bounds = on")
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT COUNT(*) FROM nowhere")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute(COUNT)
        connection.rollback()
        assert connection.execute("SHOW sfumato.bounds").fetchone() == ("off",)
        with connection.transaction(), pytest.raises(psycopg.errors.SyntaxError), connection.transaction():
            connection.execute("SELEC 1")
        assert len(connection.execute(COUNT).fetchall()) == 1


def test_several_statements_in_one_text(port: OpenPort) -> None:
    with port.connect() as connection:
        cursor = connection.execute(f"SET application_name = 'x'; {COUNT}; SHOW application_name;")
        tags = [cursor.statusmessage]
        while cursor.nextset():
            tags.append(cursor.statusmessage)
        assert tags == ["SET", "SELECT 1", "SHOW"]
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute(f"SELECT COUNT(*) FROM nowhere; {COUNT}")


def test_asyncpg(port: OpenPort) -> None:
    asyncpg = pytest.importorskip("asyncpg", reason="needs asyncpg")

    async def ask() -> tuple[Any, Any, Any]:
        settings = {"sfumato.epsilon": "0.1", "sfumato.max_rows": "5"}
        connection = await asyncpg.connect(port.address(), server_settings=settings, ssl=False)
        one = await connection.fetch(COUNT)
        two = await connection.fetch(SITES.replace("%s", "$1"), 30.0)
        prepared = await connection.prepare("SELECT COUNT(*) AS n FROM visits WHERE site = $1")
        three = await prepared.fetch("north")
        async with connection.transaction():
            pages = [row async for row in connection.cursor(SITES.replace("%s", "30"), prefetch=1)]
        await connection.close()
        return one, two, (three, pages)

    one, two, (three, pages) = asyncio.run(ask())
    assert (len(one), len(two), len(three), len(pages)) == (1, 3, 1, 3)
    assert isinstance(one[0]["n"], int)
    assert {type(row["m"]) for row in two} <= {float, type(None)}


def test_pg8000(port: OpenPort) -> None:
    native = pytest.importorskip("pg8000.native", reason="needs pg8000")
    connection = native.Connection("ada", "127.0.0.1", "sfumato", port.number, port.world.tokens["ada"])
    connection.run("SET sfumato.epsilon = 0.1")
    connection.run("SET sfumato.max_rows = 5")
    rows = connection.run("SELECT COUNT(*) AS n FROM visits WHERE minutes < :most", most=30)
    assert [column["name"] for column in connection.columns] == ["n"]
    assert isinstance(rows[0][0], int)
    connection.close()


def test_pandas_reads_an_answer(port: OpenPort) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy")
    address = port.address(scheme="postgresql+psycopg")
    engine = sqlalchemy.create_engine(address, connect_args={"options": SAID}, poolclass=sqlalchemy.pool.NullPool)
    try:
        with engine.connect() as connection:
            frame = pandas.read_sql(sqlalchemy.text(SITES.replace("%s", ":most")), connection, params={"most": 30})
    finally:
        engine.dispose()
    assert list(frame.columns) == ["site", "n", "m"]
    assert frame["n"].dtype.kind == "i"
    assert frame["m"].dtype.kind == "f"


def psql(port: OpenPort, *commands: str, who: str = "ada", **more: str) -> subprocess.CompletedProcess[str]:
    found = shutil.which("psql")
    if found is None:
        pytest.skip("needs psql")
    said = {"PGPASSWORD": port.world.tokens[who], "PGOPTIONS": SAID, "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    words = [
        found,
        "-X",
        "-h",
        "127.0.0.1",
        "-p",
        str(port.number),
        "-U",
        who,
        "-d",
        "sfumato",
        "-v",
        "VERBOSITY=verbose",
    ]
    for command in commands:
        words += ["-c", command]
    return subprocess.run(words, capture_output=True, text=True, env=said | more, timeout=60, check=False)


def test_psql(port: OpenPort) -> None:
    said = psql(port, r"\conninfo", COUNT, "SET sfumato.bounds TO on", COUNT, "SELECT COUNT(*) FROM nowhere")
    assert said.stdout.startswith('You are connected to database "sfumato" as user "ada"')
    assert re.search(r" n +\| +n_low +\| +n_high", said.stdout)
    assert "42P01" in said.stderr
    assert "LINE 1: SELECT COUNT(*) FROM nowhere" in said.stderr


def test_psql_with_a_wrong_token(port: OpenPort) -> None:
    said = psql(port, COUNT, PGPASSWORD="sfumato_0123456789abcdef_" + "A" * 43)
    assert said.returncode == 2
    assert "nobody is let in" in said.stderr


def test_dates_and_times_come_as_they_are(port: OpenPort) -> None:
    with port.connect() as connection:
        rows = connection.execute("SELECT %s::date AS d", (datetime.date(2026, 1, 2),)).fetchall()
    assert rows == [(datetime.date(2026, 1, 2),)]

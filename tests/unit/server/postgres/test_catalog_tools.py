"""Tools look the service over through its port: psql's backslash commands, reflection, drivers' own questions."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import uuid
from typing import Any

import pytest
from tests.examples.catalog import SETUP, as_literals, asked
from tests.unit.server.postgres.ports import OpenPort

from side_by_side.postgres_server import PostgresServer

COMMANDS = [
    r"\d",
    r"\dt",
    r"\dt+",
    r"\dn",
    r"\dn+",
    r"\l",
    r"\l+",
    r"\du",
    r"\du+",
    r"\dg",
    r"\dv",
    r"\dm",
    r"\ds",
    r"\di",
    r"\di+",
    r"\df",
    r"\dT",
    r"\dx",
    r"\dp",
    r"\z",
    r"\dd",
    r"\dD",
    r"\db",
    r"\dc",
    r"\dC",
    r"\do",
    r"\dO",
    r"\dL",
    r"\dA",
    r"\des",
    r"\dew",
    r"\det",
    r"\drds",
    r"\ddp",
    r"\dE",
    r"\dF",
    r"\dP",
    r"\dRp",
    r"\dRs",
    r"\dX",
    r"\dy",
    r"\dconfig",
    r"\dS",
    r"\dtS",
    r"\dAc",
    r"\dAf",
    r"\sf",
]


def psql(port: OpenPort, *commands: str) -> subprocess.CompletedProcess[str]:
    found = shutil.which("psql")
    if found is None:
        pytest.skip("needs psql")
    said = {"PGPASSWORD": port.world.tokens["ada"], "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    words = [found, "-X", "-h", "127.0.0.1", "-p", str(port.number), "-U", "ada", "-d", "sfumato"]
    for command in commands:
        words += ["-c", command]
    return subprocess.run(words, capture_output=True, text=True, env=said, timeout=120, check=False)


def test_psql_describes_a_table(port: OpenPort) -> None:
    said = psql(port, r"\d visits.visits", r"\d+ visits", r"\dn+", r"\dt")
    assert said.stderr == ""
    assert 'Table "visits.visits"' in said.stdout
    assert " minutes | double precision |" in said.stdout
    assert "north, south" in said.stdout
    assert " visits | visits | table | sfumato" in said.stdout


def test_all_of_psqls_backslash_commands_are_answered(port: OpenPort) -> None:
    """P3-122: nothing that psql asks is refused, but that it finds nothing where there is nothing."""
    said = psql(port, *(command for command in COMMANDS if command != r"\sf"))
    complaints = [line for line in said.stderr.splitlines() if line and not line.startswith("Did not find any ")]
    assert not complaints


def test_sqlalchemy_reflects(port: OpenPort) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="needs sqlalchemy")
    engine = sqlalchemy.create_engine(port.address(scheme="postgresql+psycopg"))
    found = sqlalchemy.inspect(engine)
    assert "visits" in found.get_schema_names()
    assert found.default_schema_name == "visits"
    assert found.get_table_names(schema="visits") == ["visits"]
    columns = found.get_columns("visits", schema="visits")
    assert [(one["name"], str(one["type"]), one["nullable"], one["comment"]) for one in columns] == [
        ("user_id", "TEXT", True, None),
        ("site", "TEXT", True, "north, south"),
        ("minutes", "DOUBLE PRECISION", True, "[0, 60]"),
    ]
    for what in ("get_foreign_keys", "get_indexes", "get_unique_constraints", "get_check_constraints"):
        assert getattr(found, what)("visits", schema="visits") == []
    reflected = sqlalchemy.MetaData()
    reflected.reflect(engine)
    assert list(reflected.tables) == ["visits"]
    assert found.has_table("visits") and not found.has_table("nosuch")
    engine.dispose()


def test_asyncpg_sends_numbers_and_lists_in_binary(port: OpenPort) -> None:
    asyncpg: Any = pytest.importorskip("asyncpg", reason="needs asyncpg")

    async def ask() -> list[Any]:
        said = {"host": "127.0.0.1", "port": port.number, "user": "ada", "database": "sfumato"}
        connection = await asyncpg.connect(**said, password=port.world.tokens["ada"])
        try:
            sql = (
                "SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = $1 AND atttypid = ANY($2) LIMIT 1"
            )
            return list(await connection.fetch(sql, 1259, [19, 20]))
        finally:
            await connection.close()

    (row,) = asyncio.run(ask())
    assert tuple(row) == ("relname", "name")


def test_psycopg_knows_types_and_gets_values_in_binary(port: OpenPort) -> None:
    from psycopg.types import TypeInfo

    with port.connect() as connection:
        known = TypeInfo.fetch(connection, "int8")
        assert known is not None and (known.oid, known.array_oid) == (20, 1016)
        sql = "SELECT relname, oid, relkind, relnatts, relhasindex, ARRAY['a'] FROM pg_class WHERE oid = %s"
        row = connection.cursor(binary=True).execute(sql, (1259,)).fetchone()
    assert row is not None and row[:2] == ("pg_class", 1259) and row[3:] == (33, False, ["a"])


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.nightly), 16])
def test_postgresql_itself_gives_the_columns_that_are_written_down(postgres_server: PostgresServer, every: int) -> None:
    """What `asked` holds the catalog against is what PostgreSQL says, where there is one of the same version."""
    import psycopg

    name = f"catalog_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(postgres_server.url(), autocommit=True) as outer:
        outer.execute(f"CREATE DATABASE {name}".encode())
    with psycopg.connect(postgres_server.url(name), autocommit=True) as connection:
        if connection.info.server_version // 10_000 != 15:
            pytest.skip("needs PostgreSQL 15")
        connection.execute(SETUP.encode())
        wrong = []
        for one in asked()[::every]:
            cursor = connection.cursor()
            cursor.execute(as_literals(one).encode())
            gives = tuple((column.name, column.type_code) for column in cursor.description or ())
            if gives != one.gives:
                wrong.append(f"{one.source}: {gives}, not {one.gives}")
    assert not wrong, "\n".join(wrong)

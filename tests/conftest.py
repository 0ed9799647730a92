"""Settings that hold for every test."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from tests import profiles

if TYPE_CHECKING:
    from side_by_side.postgres_server import PostgresServer

pytest.register_assert_rewrite("tests.examples", "tests.reference")  # what tests share says why it fails, as they do

IN_CI = os.environ.get("CI") == "true"

profiles.register()
settings.load_profile("ci" if IN_CI else "desk")  # `--hypothesis-profile` on the command line comes after this


def refuse_in_ci(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turns a skip whose reason is "needs …" into a failure: in CI everything must be installed."""
    if IN_CI and report.skipped and isinstance(report.longrepr, tuple):
        reason = str(report.longrepr[2]).removeprefix("Skipped: ")
        if reason.startswith("needs "):
            report.outcome = "failed"
            report.longrepr = f"skipped in CI: {reason}. CI must install it."


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Looks at the report of every test."""
    report = yield
    refuse_in_ci(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Looks at files that are skipped as a whole."""
    report = yield
    refuse_in_ci(report)
    return report


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Gives a PostgreSQL server of this worker's own: a `PostgresServer`."""
    from side_by_side.postgres_server import running

    with running() as server:
        if server is None:
            pytest.skip("needs PostgreSQL (scripts/debian-packages)")
        yield server


@pytest.fixture
def postgres_address(postgres_server: PostgresServer) -> str:
    """Gives the address of a database in which there is nothing yet."""
    psycopg = pytest.importorskip("psycopg", reason="needs psycopg")
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = 'book'").fetchone():
            connection.execute("CREATE DATABASE book")
        connection.execute("ALTER DATABASE book RESET ALL")
    with psycopg.connect(postgres_server.url("book"), autocommit=True) as connection:
        made = connection.execute("SELECT quote_ident(nspname) FROM pg_namespace WHERE oid >= 16384").fetchall()
        for (schema,) in made:
            connection.execute(f"DROP SCHEMA {schema} CASCADE")
    return postgres_server.url("book")

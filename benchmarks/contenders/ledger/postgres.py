"""Charges on a PostgreSQL server, next to bare rows of the same durability on the same server."""

from __future__ import annotations

from itertools import count

import psycopg

from contenders.ledger.blocks import in_turns
from contenders.ledger.books import BARE, charging
from sfumato.ledger.ledger import Ledger
from side_by_side.postgres_server import running
from side_by_side.stopwatch import report_version


def main() -> None:
    """Times a charge and a bare row in turns."""
    report_version("psycopg")
    with running() as server:
        if server is None:
            raise SystemExit("PostgreSQL is not installed (scripts/debian-packages)")
        ledger = Ledger.open(server.url())
        with psycopg.connect(server.url(), autocommit=True) as bare:
            bare.execute("SET synchronous_commit = on")
            bare.execute("CREATE TABLE bare (number bigint PRIMARY KEY, text text)")
            numbers = count(1)
            in_turns(
                "PostgreSQL",
                kind="speed",
                first=charging(ledger),
                second=lambda: bare.execute("INSERT INTO bare VALUES (%s, %s)", (next(numbers), BARE)),
            )
        ledger.close()


main()

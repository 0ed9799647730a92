"""Where a ledger is: what an address names."""

from __future__ import annotations

import os
from pathlib import Path

from sfumato.errors import BadArgument
from sfumato.ledger.store import Store

SQLITE, MEMORY, SERVERS = "sqlite:///", "memory:", ("postgresql://", "postgres://")


def store_at(address: str | Path) -> Store:
    """Opens the store that an address names; a new one where there is none."""
    if isinstance(address, str) and address == MEMORY:
        from sfumato.ledger.stores.memory import MemoryStore

        return MemoryStore()
    if isinstance(address, str) and address.startswith(SERVERS):
        from sfumato.ledger.stores.postgres import PostgresStore

        return PostgresStore(address)
    path = address.removeprefix(SQLITE) if isinstance(address, str) else address
    must = "a path, 'sqlite:///path', 'postgresql://…' or 'memory:'"
    if not isinstance(path, str | Path) or not str(path) or "://" in str(path):
        raise BadArgument(
            "the address of a ledger", must, address.partition("://")[0] if isinstance(address, str) else address
        )
    if str(path).strip(":") == "memory":
        raise BadArgument("the address of a ledger", f"{must}: this would be a file", str(path))
    if os.path.isdir(path):
        raise BadArgument("the address of a ledger", "the path of a file: this is a folder", Path(path).name)
    from sfumato.ledger.stores.sqlite import SqliteStore

    return SqliteStore(Path(path).resolve())  # one file is one ledger, by whatever links or spelling it is reached

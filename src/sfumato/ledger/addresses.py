"""Where a ledger is: what an address names."""

from __future__ import annotations

import os
from pathlib import Path

from sfumato.errors import BadArgument, Unseen
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
    file = file_at(path, "the address of a ledger", must)
    if os.path.isdir(file):  # which says no, and raises nothing, where one may not look
        raise BadArgument("the address of a ledger", "the path of a file: this is a folder", file.name)
    from sfumato.ledger.stores.sqlite import SqliteStore

    return SqliteStore(file.resolve())  # one file is one ledger, by whatever links or spelling it is reached


def file_at(path: str | Path, what: str, must: str = "the path of a file") -> Path:
    """The path of a file that may be made; refuses control characters, which are in no path, but in data.

    >>> file_at("name,number\\nada,7\\n", "path")
    Traceback (most recent call last):
    sfumato.errors.BadArgument: path must be the path of a file, one line without tabs; got something else.
    """
    if any(sign < " " or sign == "\x7f" for sign in str(path)):
        raise BadArgument(what, f"{must}, one line without tabs", Unseen())
    return Path(path)

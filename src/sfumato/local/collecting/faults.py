"""What can go wrong with a store, in words of our own: what an engine says may quote rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

from sfumato.errors import MissingExtra, SfumatoError

HELD = "another process has it open, and one at a time can"
DAMAGED = "it is damaged, or no store, its folder is not there, it may not be written, or the disk is full"


@final
class StoreUnavailable(SfumatoError, RuntimeError):
    """Reports a store of reports that cannot be read or written now, or that is damaged."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(
            f"the store of reports cannot be used: {why}. Batches that were confirmed are kept whole, others not at "
            "all: add one again under its key when the store is back."
        )


def duckdb_module() -> Any:
    """The package, or says how to install it."""
    try:
        import duckdb
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise MissingExtra("collecting reports", "sql") from None
    return duckdb


@contextmanager
def in_words(doing: str) -> Iterator[None]:
    """Turns what the engine or the system raises into a `StoreUnavailable`, without its text."""
    engine = duckdb_module()
    try:
        yield
    except engine.IOException as fault:
        why = HELD if "set lock on file" in str(fault) else f"{doing} it failed: {DAMAGED}"
    except (engine.Error, OSError) as fault:
        why = f"{doing} it failed ({type(fault).__name__})"
    else:
        return
    raise StoreUnavailable(why) from None

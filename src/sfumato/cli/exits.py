"""Exit codes: what the command tells the program that called it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import typer
from rich.console import Console

from sfumato.errors import (
    ClockWentBack,
    LedgerDamaged,
    LedgerUnavailable,
    LimitReached,
    MissingExtra,
    NotKept,
    NotPublished,
    NotWorkedOut,
    RunFailed,
    SfumatoError,
)
from sfumato.local.collecting.faults import StoreUnavailable

FAILED, USAGE, REFUSED, LIMIT, BROKE_OFF, VIOLATED, INTERRUPTED = 1, 2, 3, 4, 5, 6, 130

CODES: tuple[tuple[tuple[type[SfumatoError], ...], int], ...] = (
    ((LimitReached,), LIMIT),
    ((RunFailed, NotKept, NotPublished, NotWorkedOut), BROKE_OFF),
    ((LedgerUnavailable, LedgerDamaged, ClockWentBack, MissingExtra, StoreUnavailable), FAILED),
)
"""Whatever is not named here was refused, from public facts alone."""


def code_of(error: SfumatoError) -> int:
    """The exit code of an error: that of the first kind in `CODES` that fits, else `REFUSED`."""
    return next((code for kinds, code in CODES if isinstance(error, kinds)), REFUSED)


def tell(words: object) -> None:
    """Prints a message where it does not get into what is read by machines: on standard error."""
    Console(stderr=True, soft_wrap=True).print(f"{words}", markup=False, highlight=False)


def misused(words: str) -> NoReturn:
    """Says what is missing or too much on the command line, and leaves."""
    tell(f"sfumato: {words}")
    raise typer.Exit(USAGE)


@contextmanager
def interruptible(ledger: str) -> Iterator[None]:
    """Leaves with the code of an interruption when the user breaks off, whatever an engine makes of the signal."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    except (KeyboardInterrupt, RunFailed):
        if not pressed:
            raise
        tell(f"sfumato: interrupted. What was charged before that stays charged: sfumato ledger show {ledger}")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        signal.signal(signal.SIGINT, before)

"""Kills writers of a register at every step, for `test_register`: each child dies by SIGKILL inside one SQLite call.

Prints one line for each child: where it was killed, whether it had its answer by then, and what the file says after.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from pathlib import Path

from sfumato.accounting.losses.measures import Pure
from sfumato.ledger.register import store as register_store
from sfumato.ledger.register.register import Register

KEY = bytes(range(32))
UNITS = [f"unit {number}" for number in range(300)]


def kill_at(step: int, *, late: bool) -> None:
    """Makes the process kill itself before, or right after, one of its SQLite statements."""
    seen = 0

    class Deadly(sqlite3.Connection):
        def execute(self, *words: object) -> sqlite3.Cursor:
            nonlocal seen
            seen += 1
            if seen == step and not late:
                os.kill(os.getpid(), signal.SIGKILL)
            found = super().execute(*words)  # type: ignore[arg-type]
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return found

    true_connect = sqlite3.connect

    def connect(address: str, **settings: object) -> sqlite3.Connection:
        return true_connect(address, factory=Deadly, **settings)  # type: ignore[call-overload, no-any-return]

    register_store.sqlite3.connect = connect  # type: ignore[attr-defined]


def child(path: Path, answered: int, step: int, *, late: bool) -> None:
    kill_at(step, late=late)
    mask = Register(path, key=KEY, limit=Pure(1)).admit(UNITS, Pure(1), release="killed")
    os.write(answered, b"all" if mask.all() else b"some")
    os._exit(0)


def attempt(path: Path, step: int, *, late: bool) -> bool:
    """Runs one child; tells whether it came to its end."""
    reads, writes = os.pipe()
    sys.stdout.flush()  # a child would print it again
    if (pid := os.fork()) == 0:
        child(path, writes, step, late=late)
    os.close(writes)
    answer = os.read(reads, 10).decode()
    os.close(reads)
    _, status = os.waitpid(pid, 0)
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    register = Register(path, key=KEY, limit=Pure(1))
    spent = {register.spent(unit) for unit in UNITS[::50]}
    paid = "mixed" if len(spent) > 1 else "paid" if spent == {Pure(1)} else "unpaid"
    again = register.admit(UNITS, Pure(1), release="again").sum()
    words = (step, "late" if late else "early", "killed" if killed else "lived", answer or "no answer", paid, again)
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    return not killed


def spend_on(path: Path, answered: int) -> None:
    register = Register(path, key=KEY, limit=Pure(10**9))  # more than can be spent until the parent wakes up
    while True:
        register.admit(UNITS, Pure(1), release="one more")
        os.write(answered, b".")


def interrupted(path: Path, seconds: float) -> None:
    """Kills a child from outside, at any moment, while it admits one release after another."""
    reads, writes = os.pipe()
    sys.stdout.flush()  # a child would print it again
    if (pid := os.fork()) == 0:
        spend_on(path, writes)
    os.close(writes)
    os.read(reads, 1)  # it has begun
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    answers = 1 + len(os.read(reads, 1 << 16))
    os.close(reads)
    register = Register(path, key=KEY)
    spent = {register.spent(unit) for unit in UNITS[::50]}
    fits = spent in ({Pure(answers)}, {Pure(answers + 1)})
    sys.stdout.write("outside counted\n" if fits else f"outside {answers} answers and {spent}\n")


def main(folder: Path) -> None:
    for turn in range(20):
        interrupted(folder / f"outside {turn}.db", turn * 0.0017)
    for late in (False, True):
        step, over = 0, False
        while not over:
            step += 1
            over = attempt(folder / f"{step}{late}.db", step, late=late)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

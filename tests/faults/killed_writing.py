"""Kills a writer by SIGKILL at every step of charge → draw → keep → book → publish, for `test_killed_writing`.

Run as a program with a folder: a warm process forks writers, each of which dies one step later than the one before.
After each kill the same is asked again with the same key, twice, in processes of their own. Prints one line of JSON for
each kill. With ``publish_first`` the writer is a wrong one, that publishes before the book has the release.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset

import sfumato as sf
from sfumato.errors import PermitUsed
from sfumato.ledger import ledger as ledgers
from sfumato.query.engines import protocol
from sfumato.query.engines.written_tables import LocalTables
from sfumato.query.plan.spreading import Finish
from sfumato.release.written import document_of
from sfumato.session.session import Session

ROWS = {"u": [str(at // 3) for at in range(900)], "page": [f"p{at % 3}" for at in range(900)]}
ASKED = "SELECT page, COUNT(*) AS n FROM visits GROUP BY page"
WARM = ("duckdb", "sqlglot.dialects.duckdb", "sfumato.query.sql.reading", "sfumato.query.engines.duckdb.engine",
        "sfumato.query.engines.duckdb.sources", "sfumato.session.planner", "sfumato.query.plan.spreading",
        "sfumato.ledger.stores.sqlite", "sfumato.query.plan.compile", "sfumato.query.answer.explain",
        "sfumato.release.codec", "sfumato.accounting.plans.account")  # fmt: skip
"""What every process would load by itself: it takes longer than all else that it does."""

PAID: dict[str, Any] = {"epsilon": 2, "delta": "1e-6", "max_groups": 3, "max_rows_per_group": 1, "key": "monday"}


def opened(folder: Path) -> Session:
    data = sf.Dataset({"visits": pa.table(ROWS)}, unit="u", name="visits", version="spring")
    return data.session(limit=sf.Approx(20, "1e-4"), ledger=folder / "book.db")


def in_a_process(work: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """What some work gives in a process of its own; None where that was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        with os.fdopen(writing, "w") as told:
            json.dump(work(), told)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        text = told.read()
    os.waitpid(child, 0)
    return None if not text else json.loads(text)


def deadly(folder: Path, step: int, *, wrong: bool) -> dict[str, Any]:
    """Writes, and dies at a step; notes before that which steps there were."""
    count = 0

    def at(name: str) -> None:
        nonlocal count
        count += 1
        if count == step:
            (folder / "died").write_text(name)
            os.kill(os.getpid(), signal.SIGKILL)

    def around(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        def call(*given: Any, **named: Any) -> Any:
            at(f"before {name}")
            done = real(*given, **named)
            at(f"after {name}")
            return done

        setattr(owner, name, call)

    protocol.BATCH = 1
    for owner, name in (
        (LocalTables, "stage"),
        (LocalTables, "keep"),
        (LocalTables, "publish"),
        (LocalTables, "discard"),
        (Finish, "__call__"),
        (os, "rename"),
        (os, "fsync"),
        (ledgers, "keep_release"),
    ):
        around(owner, name)
    if wrong:
        keep_release = vars(ledgers)["keep_release"]

        def published_first(replica: Any, release: Any, entry: Any) -> Any:
            table = release.value
            LocalTables().publish(table.staged, table.place, table.form, table.rows, document_of(release))
            return keep_release(replica, release, entry)

        vars(ledgers)["keep_release"] = published_first
    return told(folder)


def told(folder: Path) -> dict[str, Any]:
    """Asks, and says what came of it."""
    session = opened(folder)
    try:
        release = session.write(ASKED, to=str(folder / "out"), **PAID)
    except PermitUsed:
        return {"rows": None, "spent": int(session.spent.epsilon)}
    return {"rows": release.value.open().to_table().to_pydict(), "spent": int(session.spent.epsilon)}


def left_by(folder: Path) -> dict[str, Any]:
    """What stands in the book and in the folder after a kill; no data is opened for it."""
    book = sf.Ledger.open(folder / "book.db")
    found: Any = book["visits"].spent if "visits" in book.accounts else sf.Approx(0, 0)
    spent = int(found.epsilon)
    book.close()
    rows = None
    if (folder / "out").exists():
        rows = sf.release.read_release(folder / "out").value.open().to_table().to_pydict()
    others = [name for name in os.listdir(folder) if not name.startswith("book.db") and name not in ("out", "died")]
    readable = [name for name in others if os.stat(folder / name).st_mode & 0o077]
    return {"rows": rows, "spent": spent, "readable": readable, "others": len(others)}


def faults(looked: bool, left: dict[str, Any], retries: list[dict[str, Any] | None]) -> list[str]:
    """Says what is wrong after a kill."""
    found = []
    if left["readable"]:
        found.append("what was kept can be read by others")
    if looked and left["spent"] != 2:
        found.append("looked, and not charged")
    first, second = retries
    if first is None or second is None or first != second:
        return [*found, "two retries are not alike"]
    if first["spent"] != 2:
        found.append("a retry was charged again, or not at all")
    if left["rows"] is not None and first["rows"] != left["rows"]:
        found.append("another answer to one charge, or none where there was one")
    return found


def main(folder: Path, stride: int, wrong: bool) -> None:
    """Kills writers, so many steps later each time, until one is through."""
    for name in WARM:
        import_module(name)
    step = 1 - stride
    while True:
        step += stride
        own = folder / f"{step}"
        own.mkdir()
        done = in_a_process(lambda own=own, step=step: deadly(own, step, wrong=wrong))  # type: ignore[misc]
        point = (own / "died").read_text() if (own / "died").exists() else ""
        left = in_a_process(lambda own=own: left_by(own))  # type: ignore[misc]
        if left is None:
            raise RuntimeError("the harness broke")
        retries = [in_a_process(lambda own=own: told(own)) for _ in range(2)]  # type: ignore[misc]
        again = retries[0] is not None and retries[0]["rows"] is not None
        looked = "__call__" in point
        found = {"point": point, "again": again, "faults": faults(looked, left, retries)}
        sys.stdout.write(json.dumps(found) + "\n")
        if done is not None:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["publish_first"])

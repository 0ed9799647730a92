"""`sfumato doctor`: what is installed, what is missing, and whether chance, clock, disk and ledger are fit for use."""

from __future__ import annotations

import math
import os
import platform
import re
import shutil
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, metadata, requires
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Annotated, final

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sfumato.cli.exits import FAILED
from sfumato.cli.ledger import there
from sfumato.entropy import system
from sfumato.errors import SfumatoError
from sfumato.ledger.addresses import store_at
from sfumato.ledger.verify import verified

DRAWN = 1 << 16
"""Bits of chance that are looked at."""

REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?(?:>=([0-9.]+))?")
EXTRA = re.compile(r"""extra == ['"]([\w-]+)['"]""")
FOR_BUILDERS = frozenset({"test", "dev", "all"})


class State(StrEnum):
    """How something is."""

    GOOD = "good"
    MISSING = "missing"
    BAD = "bad"


MARKS = {State.GOOD: "[green]✓[/]", State.MISSING: "[dim]–[/]", State.BAD: "[red]✗[/]"}


@final
@dataclass(frozen=True)
class Finding:
    """What was looked at, how it is, and what to do."""

    what: str
    state: State
    said: str


def doctor(
    ledger: Annotated[str | None, typer.Argument(help="A ledger to look at: its address, or its file.")] = None,
) -> None:
    """Looks at this installation: what is there, what is missing, entropy, the clock, and a ledger if one is named.

    Nothing is installed, sent or changed. The exit code is 0 unless something is bad.
    """
    found = [*_python(), *_extras(), *_chance(), *_clock(), *_disk(), *_programs()]
    if ledger is not None:
        found += _ledger(ledger)
    table = Table(box=None, show_header=False, pad_edge=False)
    for finding in found:
        table.add_row(MARKS[finding.state], escape(finding.what), escape(finding.said))
    Console().print(table, highlight=False)
    if any(finding.state is State.BAD for finding in found):
        raise typer.Exit(FAILED)


def _python() -> Iterator[Finding]:
    yield Finding("Python", State.GOOD, f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield Finding("sfumato", State.GOOD, installed_version("sfumato"))
    for name, least in _needed().get("", []):
        yield from (one for one in [_package(name, least)] if one.state is not State.GOOD)


def _needed() -> dict[str, list[tuple[str, str]]]:
    """What each extra needs, and under the empty name what everything needs."""
    wanted: dict[str, list[tuple[str, str]]] = {
        extra: [] for extra in ["", *(metadata("sfumato").get_all("Provides-Extra") or [])]
    }
    for line in requires("sfumato") or []:
        found, extra = REQUIREMENT.match(line), EXTRA.search(line)
        if found is not None and "sys_platform" not in line:
            wanted[extra.group(1) if extra else ""].append((found.group(1), found.group(2) or ""))
    return wanted


def _package(name: str, least: str) -> Finding:
    try:
        number = installed_version(name)
    except PackageNotFoundError:
        return Finding(name, State.MISSING, "not installed")
    old = least and _numbers(number) < _numbers(least)
    return Finding(
        name, State.BAD if old else State.GOOD, f"{number}, but {least} or newer is needed" if old else number
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _extras() -> Iterator[Finding]:
    """One line for each extra: the versions that are there, or what to install."""
    for extra, packages in _needed().items():
        if not extra or extra in FOR_BUILDERS:
            continue
        found = [_package(name, least) for name, least in packages if name != "sfumato"]
        worst = max((one.state for one in found), key=list(State).index, default=State.GOOD)
        lacking = [f"{one.what} {one.said}" for one in found if one.state is worst]
        if worst is State.GOOD:
            said = ", ".join(f"{one.what} {one.said}" for one in found)
        else:
            said = f"{', '.join(lacking)}: pip install 'sfumato[{extra}]'"
        yield Finding(f"extra {extra}", worst, said)


def _chance() -> Iterator[Finding]:
    """Draws bits and counts them: a broken source shows, a good one is off by more than 6 deviations once in 10⁹."""
    entropy = system()
    ones, again = (int.from_bytes(entropy.octets(DRAWN // 8), "big") for _ in range(2))
    away = abs(ones.bit_count() - DRAWN / 2) / (math.sqrt(DRAWN) / 2)
    fit = away < 6 and ones != again
    said = "from the operating system" if fit else "the operating system's bits are not random: do not use this machine"
    yield Finding("entropy", State.GOOD if fit else State.BAD, said)


def _clock() -> Iterator[Finding]:
    now, first = datetime.now(UTC), time.monotonic()
    released = datetime.fromtimestamp(Path(__file__).stat().st_mtime, UTC)
    if now < released:
        said = f"{now:%Y-%m-%d %H:%M} UTC is before sfumato was installed: limits that renew need a right clock"
        yield Finding("clock", State.BAD, said)
    elif time.monotonic() < first:
        yield Finding("clock", State.BAD, "runs backwards")
    else:
        yield Finding("clock", State.GOOD, f"{now:%Y-%m-%d %H:%M} UTC")


def _disk() -> Iterator[Finding]:
    free = shutil.disk_usage(Path.cwd()).free / 1e9
    said = f"{free:.0f} GB free in this folder" + ("" if free > 1 else "; a ledger that cannot grow answers nothing")
    yield Finding("disk", State.GOOD if free > 1 else State.BAD, said)
    yield Finding("SQLite", State.GOOD, f"{sqlite3.sqlite_version}, for ledgers in files")


def _programs() -> Iterator[Finding]:
    java = shutil.which("java") or os.environ.get("JAVA_HOME")
    said = "for Spark" if java else "not found; Spark needs Java 17"
    yield Finding("Java", State.GOOD if java else State.MISSING, said)


def _ledger(address: str) -> Iterator[Finding]:
    """Reads a ledger from the first entry to the last, as `sfumato ledger verify` does."""
    try:
        verdict = verified(store_at(there(address)))
    except SfumatoError as fault:
        yield Finding("ledger", State.BAD, str(fault))
        return
    yield Finding("ledger", State.GOOD if verdict else State.BAD, str(verdict).splitlines()[0])

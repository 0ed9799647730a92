"""A PostgreSQL server of one's own, for tests and benchmarks: in a temporary folder, on a socket, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import final

SECONDS = 60.0
"""How long the server may take to start."""

DISK = "/var/tmp"
"""Where it keeps its data: in many systems /tmp is memory, on which nothing is durable."""

SETTINGS = {
    "listen_addresses": "",
    "fsync": "on",
    "max_connections": "50",
    "shared_buffers": "64MB",
    "recovery_init_sync_method": "syncfs",  # so that a restart after a crash takes no time
    "log_min_messages": "panic",
}
SINCE_14 = "recovery_init_sync_method"


def programs() -> Path | None:
    """Finds the folder with the programs of the newest PostgreSQL that is installed."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


@final
class PostgresServer:
    """Is a server that can be stopped, killed and started again; `url` is the address of a database on it."""

    def __init__(self, folder: Path, tools: Path) -> None:
        self._folder, self._tools = folder, tools
        self._user = _someone() if os.getuid() == 0 else None  # PostgreSQL refuses to run as root
        self._process: subprocess.Popen[bytes] | None = None
        if self._user is not None:
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)
        self._start("initdb", "--pgdata", str(folder / "data"), "--username=postgres", *_FRESH).wait()

    def url(self, database: str = "postgres") -> str:
        """Gives the address of a database."""
        return f"postgresql://postgres@/{database}?host={self._folder}"

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        known = SETTINGS if self._major() >= 14 else {name: SETTINGS[name] for name in SETTINGS if name != SINCE_14}
        settings = [part for name, value in known.items() for part in ("-c", f"{name}={value}")]
        command = ["postgres", "-D", str(self._folder / "data"), "-k", str(self._folder), *settings]
        self._process = self._start(*command)
        begun = time.monotonic()
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() - begun > SECONDS:
                raise RuntimeError("PostgreSQL does not start")
            time.sleep(0.05)

    def stop(self, *, kill: bool = False) -> None:
        """Stops the server: connections end at once; with ``kill``, as a crash does."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT if kill else signal.SIGINT)
            self._process.wait()
        self._process = None

    def crash(self, *, first_alone: bool) -> None:
        """Kills the server, its first process alone (which takes the others along) or as a crash does; it is gone."""
        if first_alone and self._process is not None:
            self._process.kill()
            self._process.wait()
        else:
            self.stop(kill=True)

    def come_back(self) -> None:
        """Starts the server after a crash; again, as long as what is left of the killed one is in its way."""
        begun = time.monotonic()
        while True:
            try:
                self.start()
                return
            except RuntimeError:
                if time.monotonic() - begun > SECONDS:
                    raise
                time.sleep(0.05)

    def _major(self) -> int:
        return int((self._folder / "data" / "PG_VERSION").read_text())

    def _answers(self) -> bool:
        """Reads the last line of the file in which the server tells its state."""
        file = self._folder / "data" / "postmaster.pid"
        return file.exists() and file.read_text().rstrip().endswith("ready")

    def _start(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Starts a program that ends with this process, even if that is killed."""
        bound = ["setpriv", "--pdeathsig", "QUIT", "--"] if shutil.which("setpriv") else []
        return subprocess.Popen(
            [*bound, str(self._tools / program), *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            user=None if self._user is None else self._user.pw_uid,
            group=None if self._user is None else self._user.pw_gid,
            extra_groups=None if self._user is None else [],
        )


_FRESH = ("--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")


def _someone() -> pwd.struct_passwd:
    """Gives a user that is not root."""
    users = {user.pw_name: user for user in pwd.getpwall()}
    return users["postgres"] if "postgres" in users else users["nobody"]


@contextmanager
def running() -> Iterator[PostgresServer | None]:
    """Gives a running server; None where PostgreSQL is not installed."""
    tools = programs()
    if tools is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="sfumato-", dir=DISK, ignore_cleanup_errors=True) as folder:
        server = PostgresServer(Path(folder), tools)
        try:
            server.start()
            yield server
        finally:
            server.stop(kill=True)  # nothing is kept, so that nothing need be written

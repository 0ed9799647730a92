"""Starts a server: from settings to listening sockets, with one process or several."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from sfumato.errors import BadArgument, LedgerUnavailable, MissingExtra, ServiceUnavailable
from sfumato.server.settings import ServerSettings
from sfumato.service.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI
    from uvicorn import Config

    from sfumato.service.house import House

SAID = "SFUMATO_SERVE"
"""The variable of the environment by which workers are told what the command line said. It holds no secrets."""

GRACE_SECONDS, PATIENCE_SECONDS = 30, 60
HEALTHY_SECONDS = 30
"""How long a worker may say nothing before it counts as hung, and is killed. One that begins says nothing until it has
loaded the program: on a busy machine that takes longer than the five seconds of the web server, again and again."""

FACTORY = "sfumato.server.starting:worker_app"
MOST_WAITING = 1_024


def serve(app: FastAPI, settings: ServerSettings) -> None:
    """Serves an app in this process until it is told to stop; what runs then is brought to its end."""
    from uvicorn import Server

    Server(config(app, settings)).run()


def serve_with_workers(
    settings: ServerSettings, workers: int, said: dict[str, Any], beside: Callable[[], object] = lambda: None
) -> None:
    """Serves with several processes, which share nothing but ledger and records; one that dies is replaced.

    What is to be done ``beside`` is done while the workers load what they need; if it fails, nothing is served.
    """
    from uvicorn.supervisors import Multiprocess

    @final
    class Workers(Multiprocess):
        def init_processes(self) -> None:
            super().init_processes()
            try:
                beside()
            except BaseException:
                for process in self.processes:
                    process.kill()
                raise

    os.environ[SAID] = json.dumps(said)
    made = config(FACTORY, settings, workers=workers)
    socket = made.bind_socket()
    Workers(made, [socket]).run()


def worker_app() -> FastAPI:
    """Makes the app of one of several workers."""
    from sfumato.server.app import make_app

    said = json.loads(os.environ[SAID])
    over = {name: _typed(name, value) for name, value in said["server"].items()}
    settings = settings_of(said["file"], said["service"])
    return make_app(
        opened(settings),
        ServerSettings.of(settings, several=True, **over),
        log=None if said.get("silent") else sys.stderr,
    )


def opened(settings: Settings, *, patience: float = PATIENCE_SECONDS, pause: float = 0.25) -> House:
    """Opens the house of a worker; waits, where ledger or records cannot be reached yet.

    A worker is started in place of one that died, perhaps while the database starts again too: to die of that, and be
    started once more, takes seconds each time.
    """
    from sfumato.service.house import House

    until = time.monotonic() + patience
    while True:
        try:
            return House.of(settings)
        except (LedgerUnavailable, ServiceUnavailable):
            if time.monotonic() > until:
                raise
        time.sleep(pause)


def _typed(name: str, value: Any) -> Any:
    return Path(value) if name == "uploads" and value else tuple(value) if isinstance(value, list) else value


def settings_of(file: str | None, said: dict[str, Any]) -> Settings:
    """Reads settings as the command line names them."""
    return Settings.read(file, **said)


def config(app: FastAPI | str, settings: ServerSettings, *, workers: int = 1) -> Config:
    """What the web server is told: nothing of requests gets into its own log, and it believes no proxy's headers."""
    try:
        from uvicorn import Config as Made
    except ImportError:
        raise MissingExtra("sfumato serve", "server") from None
    if (settings.certificate is None) != (settings.private_key is None):
        raise BadArgument("certificate_file", "said together with certificate_key_file", settings.certificate)
    return Made(
        app,
        factory=isinstance(app, str),
        host=settings.host,
        port=settings.port,
        workers=workers,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_worker_healthcheck=HEALTHY_SECONDS,
        backlog=MOST_WAITING,
        ws="none",
        ssl_certfile=None if settings.certificate is None else str(settings.certificate),
        ssl_keyfile=None if settings.private_key is None else str(settings.private_key),
    )

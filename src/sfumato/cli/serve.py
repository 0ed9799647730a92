"""The command ``sfumato serve``: the service, embedded in a folder or as settings say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from sfumato.cli.exits import misused
from sfumato.errors import MissingExtra

if TYPE_CHECKING:
    from sfumato.server.settings import ServerSettings
    from sfumato.service.house import House
    from sfumato.service.settings import Settings

FOLDER = Path("sfumato-service")
STARTING_SECONDS = 3.0
"""How long the command waits for a ledger that cannot be reached, before it says so."""

File = Annotated[Path | None, typer.Option("--settings", "-s", help="A file of settings (TOML); see docs/server.md.")]
Folder = Annotated[Path, typer.Option(help="Where book, records and data are kept, where settings do not say it.")]
Host = Annotated[str | None, typer.Option(help="Where to listen; anywhere but here only with TLS or a proxy.")]
Port = Annotated[int | None, typer.Option(help="… and on which port.", min=0, max=65535)]
Address = Annotated[str | None, typer.Option("--public-address", help="How browsers call it: https://dp.example.org .")]
Proxy = Annotated[bool, typer.Option("--behind-proxy", help="States that a proxy in front of it terminates TLS.")]
Workers = Annotated[int, typer.Option(help="Processes; more than one only with a PostgreSQL ledger.", min=1, max=64)]
Check = Annotated[bool, typer.Option("--check", help="Checks the settings, says what is wrong, and ends.")]
Demo = Annotated[bool, typer.Option("--demo", help="With made-up visits, and somebody of each role.")]
Pg = Annotated[int | None, typer.Option("--pg", help="A port for the PostgreSQL protocol.", min=1, max=65535)]
Metrics = Annotated[int | None, typer.Option("--metrics", help="A port of its own, here alone, for Prometheus.")]


def serve(
    *,
    file: File = None,
    folder: Folder = FOLDER,
    host: Host = None,
    port: Port = None,
    public_address: Address = None,
    behind_proxy: Proxy = False,
    workers: Workers = 1,
    check: Check = False,
    demo: Demo = False,
    pg: Pg = None,
    metrics: Metrics = None,
) -> None:
    """Serves data sets to several people under one limit: an HTTP API, and pages for browsers.

    With nothing said, everything is kept in a folder: the book and records in SQLite files, data in DuckDB's reach.
    """
    starting = _loaded()
    said: dict[str, Any] = {
        "host": host,
        "port": port,
        "public_address": public_address,
        "behind_proxy": behind_proxy or None,
        "pg_port": pg,
    }
    given = {name: value for name, value in said.items() if value is not None}
    settings = starting.settings_of(None if file is None else str(file), given)
    over: dict[str, Any] = {"metrics_port": metrics}
    if not _says_where(settings):
        given |= _embedded(folder)
        over["uploads"] = str(folder.resolve() / "data" / "uploads")
        settings = starting.settings_of(None if file is None else str(file), given)
    if check:
        _check(settings, over)
        return
    if workers > 1 and settings.one_worker:
        misused("--workers takes a PostgreSQL ledger: an SQLite file serves one process well, and no more")
    if workers > 1 and (demo or metrics is not None):
        misused("--demo and --metrics go with one worker")
    _run(settings, over, workers, demo=demo, told={"file": None if file is None else str(file), "service": given})


def _run(settings: Settings, over: dict[str, Any], workers: int, *, demo: bool, told: dict[str, Any]) -> None:
    from sfumato.server.settings import ServerSettings

    starting = _loaded()
    typed = {name: Path(value) if name == "uploads" else value for name, value in over.items()}
    server = ServerSettings.of(settings, **typed)
    if workers > 1:

        def greet() -> None:
            house = starting.opened(settings, patience=STARTING_SECONDS)
            _greet(house, server, demo=demo)
            house.close()

        plain = {name: _plain(value) for name, value in told["service"].items()}
        starting.serve_with_workers(server, workers, {**told, "service": plain, "server": over}, greet)
        return
    from sfumato.server.app import make_app
    from sfumato.service.house import House

    house = House.of(settings)
    _greet(house, server, demo=demo)
    starting.serve(make_app(house, server, log=sys.stderr), server)


def _greet(house: House, server: ServerSettings, *, demo: bool) -> None:
    """Says where it is, and how the first administrator gets in."""
    console = Console(soft_wrap=True)

    def tell(words: str) -> None:
        console.print(words, markup=False, highlight=False)

    tell(f"sfumato serves at {server.address}")
    link = house.people.start()
    if link is not None:
        tell("Nobody administers it yet. Whoever opens this link first chooses the administrator's password (a day):")
        tell(f"  {server.address}/welcome?link={link.text}")
    if demo:
        from sfumato.server.demonstration import prepared

        for name, role, text in prepared(house):
            tell(f"  {role:14} {name:8} {server.address}/welcome?link={text}")


def _embedded(folder: Path) -> dict[str, Any]:
    """Where everything is, in a folder that its owner alone can read."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / "data").mkdir(mode=0o700, parents=True, exist_ok=True)
    whole = folder.resolve()
    return {
        "ledger": f"sqlite:///{whole / 'ledger.db'}",
        "records": f"sqlite:///{whole / 'records.db'}",
        "data_folders": (whole / "data",),
    }


def _says_where(settings: Settings) -> bool:
    """Tells whether settings say where the book is."""
    return "ledger" in settings.model_fields_set


def _check(settings: Settings, over: dict[str, Any]) -> None:
    """Says everything that is wrong with settings; exit code 1 where the service must not start so."""
    from sfumato.server.settings import ServerSettings

    faults = settings.check()
    for fault in faults:
        Console(soft_wrap=True).print(str(fault), markup=False, highlight=False)
    ServerSettings.of(settings, metrics_port=over["metrics_port"])
    if any(fault.fatal for fault in faults):
        raise typer.Exit(1)
    Console().print("the settings are right", markup=False, highlight=False)


def _plain(value: object) -> Any:
    return [str(one) for one in value] if isinstance(value, tuple) else value


def _loaded() -> Any:
    try:
        from sfumato.server import starting
    except ModuleNotFoundError:
        raise MissingExtra("sfumato serve", "server") from None
    return starting

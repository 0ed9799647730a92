"""The command ``sfumato``."""

from __future__ import annotations

import io
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from sfumato.cli.ledger import app as ledger_app
from sfumato.errors import SfumatoError

WIDEST = 100
"""Longer lines are hard to read."""

app = typer.Typer(
    help="Differential privacy, exact and explained.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(*, asked: bool) -> None:
    if asked:
        version()
        raise typer.Exit


@app.callback()
def sfumato(
    *,
    asked: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Prints the version and exits.",
            callback=lambda asked: _version(asked=asked),
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Differential privacy, exact and explained."""


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the charts.")] = Path("sfumato-demo"),
) -> None:
    """Tells how a class leaks a grade, and how a private mean does not; prints it and draws it."""
    from sfumato.cli.demo import tell

    console = Console()
    tell(Console(width=min(WIDEST, console.width)), output=output)


app.add_typer(ledger_app, name="ledger")


@app.command()
def version() -> None:
    """Prints the version."""
    Console().print(installed_version("sfumato"), highlight=False)


def main() -> None:
    """Runs the command; what sfumato refuses becomes one line on standard error and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console without ε gets a question mark, not a traceback
    try:
        app(prog_name="sfumato")
    except SfumatoError as refusal:
        Console(stderr=True, soft_wrap=True).print(f"sfumato: {refusal}", markup=False, highlight=False)
        sys.exit(1)

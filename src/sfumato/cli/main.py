"""The command ``sfumato``."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from enum import StrEnum
from importlib import import_module
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from sfumato.cli.audit import audit
from sfumato.cli.codebook import app as codebook_app
from sfumato.cli.compile import compile_question
from sfumato.cli.doctor import doctor
from sfumato.cli.exits import code_of, misused, tell
from sfumato.cli.learn import app as learn_app
from sfumato.cli.ledger import app as ledger_app
from sfumato.cli.local import app as local_app
from sfumato.cli.plan import plan_statistics
from sfumato.cli.query import explain, query
from sfumato.cli.serve import serve
from sfumato.cli.synth import app as synth_app
from sfumato.errors import SfumatoError

WIDEST = 100
"""Longer lines are hard to read."""

app = typer.Typer(
    help="Differential privacy, exact and explained.",
    no_args_is_help=True,
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


class Story(StrEnum):
    """The stories that the demonstration can tell."""

    VISITS = "visits"
    CLASSROOM = "classroom"
    MONA_LISA = "mona-lisa"
    SURVEY = "survey"


@app.command()
def demo(
    story: Annotated[Story, typer.Argument(help="Which story to tell.")] = Story.VISITS,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for files and charts.")] = Path("sfumato-demo"),
    ask: Annotated[bool, typer.Option("--ask", help="With survey: asks you, and tosses the coins in sight.")] = False,
) -> None:
    """Shows sfumato at work.

    visits: private SQL on made-up visits.

    classroom: a class that leaks a grade, and a mean that does not.

    mona-lisa: a portrait in which every pixel is uncertain.

    survey: a question with two coins, and what a thousand answers say.
    """
    if ask and story is not Story.SURVEY:
        misused("--ask goes with a survey: sfumato demo survey --ask")
    console = Console(width=min(WIDEST, Console().width))
    if ask:
        from sfumato.demo.survey_story import ask as asked

        asked(console)
        return
    teller(story)(console, output=output)


def teller(story: Story) -> Callable[..., None]:
    """Loads what tells a story."""
    told: Callable[..., None] = import_module(f"sfumato.demo.{story.replace('-', '_')}_story").tell
    return told


app.command()(query)
app.command()(explain)
app.command("compile")(compile_question)
app.command("plan")(plan_statistics)
app.command()(audit)
app.command()(serve)
app.command()(doctor)
app.add_typer(learn_app, name="learn")
app.add_typer(synth_app, name="synth")
app.add_typer(codebook_app, name="codebook")
app.add_typer(ledger_app, name="ledger")
app.add_typer(local_app, name="local")


@app.command()
def version() -> None:
    """Prints the version."""
    Console().print(installed_version("sfumato"), highlight=False)


def main() -> None:
    """Runs the command; what sfumato refuses becomes one line on standard error, and an exit code that says which."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console without ε gets a question mark, not a traceback
    try:
        app(prog_name="sfumato")
    except SfumatoError as refusal:
        tell(f"sfumato: {refusal}")
        sys.exit(code_of(refusal))

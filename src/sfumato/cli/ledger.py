"""The command ``sfumato ledger``: shows a book, checks it, writes it out. Reads only; spending is for sessions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from sfumato.cli.inputs import is_there
from sfumato.errors import LedgerUnavailable
from sfumato.ledger.addresses import store_at
from sfumato.ledger.entry import KINDS, Entry
from sfumato.ledger.ledger import Ledger
from sfumato.ledger.published import release_table
from sfumato.ledger.rules import read_loss
from sfumato.ledger.verify import Progress as Told
from sfumato.ledger.verify import verified
from sfumato.release.render.words import clean

app = typer.Typer(help="Shows, checks and writes out a ledger.", no_args_is_help=True)

Address = Annotated[str, typer.Argument(help="A file, or postgresql://… .", show_default=False)]


@app.command()
def show(
    address: Address,
    *,
    last: Annotated[int, typer.Option("--last", "-n", help="How many of the last entries to show.", min=0)] = 10,
) -> None:
    """Shows the accounts with what was spent and is left, and the last entries."""
    ledger, console = _opened(address), Console()
    accounts = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    for heading in ("account", "protects", "limit", "spent", "held", "left", ""):
        accounts.add_column(heading)
    for name in ledger.accounts:
        account = ledger[name]
        held = "" if account.held is None else str(account.held)
        period = "" if account.terms.period is None else f"each {account.terms.period.value} {account.now}"
        state = "closed" if account.closed else period
        left = "" if account.closed else ledger.left(name).str_down()
        cells = (name, account.terms.unit, str(account.limit), str(account.spent), held, left, state)
        accounts.add_row(*map(_cell, cells))
    console.print(accounts)
    if last:
        console.print("", _entries(ledger, last))


def _entries(ledger: Ledger, last: int) -> Table:
    shown = Table(box=None, pad_edge=False, padding=(0, 2), header_style="bold")
    for heading in ("entry", "time", "who", "what", "account", ""):
        shown.add_column(heading, no_wrap=bool(heading))
    for entry in ledger.entries(max(0, ledger.head.entry - last)):
        cells = (str(entry.number), entry.time[:19], entry.by, entry.kind, entry.account, _said(entry))
        shown.add_row(*map(_cell, cells))
    return shown


def _cell(said: str) -> Text:
    """Shows what the book says as it stands there: brackets in a question are no markup."""
    return Text(clean(said))


def _said(entry: Entry) -> str:
    match entry.kind, entry.body:
        case "charged", {"loss": loss, "what": str(what)}:
            return f"{read_loss(loss)}  {what}"
        case "released" | "failed", {"charge": int(number)}:
            return f"charge {number}"
        case "noted", {"topic": str(topic)}:
            return topic
        case "balance", {"signer": str(signer)}:
            return f"signed by {signer[:12]}…"
    return ""


@app.command()
def verify(
    address: Address,
    *,
    signer: Annotated[str | None, typer.Option(help="The public key of all checkpoints, in hexadecimal.")] = None,
) -> None:
    """Reads the whole book again; says which entries were changed, removed or moved. Exit code 1 if any were."""
    store = store_at(there(address))
    last = max((row.number for kind in KINDS if (row := store.last(kind)) is not None), default=0)
    with _progress(last) as told:
        verdict = verified(store, signer=None if signer is None else _key(signer), progress=told)
    Console(soft_wrap=True).print(str(verdict), markup=False, highlight=False)
    if not verdict:
        raise typer.Exit(1)


@app.command()
def export(
    address: Address,
    path: Annotated[Path, typer.Argument(help="The file to write, an entry to a line of JSON.")],
    *,
    values: Annotated[bool, typer.Option(help="With the releases that are kept in it.")] = True,
) -> None:
    """Writes the book to a file."""
    ledger = _opened(address)
    with _progress(ledger.head.entry) as told:
        count = ledger.export(path, values=values, progress=told)
    Console().print(f"{count:,} entries → {path}", markup=False, highlight=False)


@app.command()
def table(
    address: Address,
    account: Annotated[str, typer.Argument(help="The data set, or an account under it.")],
    *,
    delta: Annotated[str | None, typer.Option(help="The δ at which to state ε, where the limit is not (ε, δ).")] = None,
    form: Annotated[str, typer.Option("--format", "-f", help="text, markdown, html, latex, json or csv.")] = "text",
    steps: Annotated[bool, typer.Option(help="With one row for each step on the way.")] = False,
) -> None:
    """Prints the release table of a data set."""
    ledger = _opened(address)
    made = release_table(ledger, account, delta=delta)
    writers = {
        "text": made.to_text,
        "markdown": made.to_markdown,
        "html": made.to_html,
        "latex": made.to_latex,
        "json": made.to_json,
        "csv": made.to_csv,
    }
    if form not in writers:
        raise typer.BadParameter(f"one of {', '.join(writers)}", param_hint="--format")
    sys.stdout.write(writers[form](steps=steps).rstrip("\n") + "\n")


def _opened(address: str) -> Ledger:
    """Opens a ledger that is there: a command that only looks must not make one."""
    return Ledger.open(there(address))


def there(address: str) -> str:
    """The address of a ledger that exists; a file that does not is refused."""
    if not is_there(address):
        raise LedgerUnavailable("there is none at this address")
    return address


def _key(signer: str) -> bytes:
    try:
        return bytes.fromhex(signer)
    except ValueError:
        raise typer.BadParameter("a public key in hexadecimal", param_hint="--signer") from None


@contextmanager
def _progress(total: int) -> Iterator[Told | None]:
    """Shows how far a long look at a book is, on a terminal; elsewhere nothing."""
    console = Console(stderr=True)
    if not console.is_terminal or total < 10_000:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as shown:
        task = shown.add_task("entries", total=total)
        yield lambda done: shown.update(task, completed=done)
